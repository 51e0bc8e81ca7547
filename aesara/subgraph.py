"""Graphs as operations: `OpFromGraph`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.autodiff import Lop
from aesara.graph.cloning import clone_replace
from aesara.graph.digest import InnerGraph
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.equality import equal_computations
from aesara.graph.fg import FunctionGraph
from aesara.graph.forward_mode import Rop
from aesara.graph.inner import HasInnerGraph
from aesara.graph.messages import describe, namesake_note
from aesara.graph.nodes import Apply, Constant, NominalVariable, Variable
from aesara.graph.null_type import NullType
from aesara.graph.op import Op, stand_in
from aesara.graph.pullback import cotangents_of_inputs, is_disconnected, pulled_cotangents
from aesara.graph.rewriting.node_rewriters import node_rewriter
from aesara.graph.shared import SharedVariable
from aesara.graph.support import EMPTY, Support, Supported, union
from aesara.graph.traversal import ancestors, graph_inputs, io_connection_pattern, io_toposort
from aesara.graph.utils import MissingInputError
from aesara.graph.vectorization import vectorize_graph, vectorize_node
from aesara.tensor.core.constant_value import with_open_lengths
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.vectorization.fallback import vectorize_by_blockwise

__all__ = ["OpFromGraph", "construct_nominal_fgraph", "infer_shape", "inline_ofg_expansion"]

Override = Any  # "default", a function, an OpFromGraph, a variable of NullType or DisconnectedType, or a list of these


def construct_nominal_fgraph(
    inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> tuple[FunctionGraph, Sequence[Variable]]:
    """Return a graph in which nominal variables stand for the inputs and for the shared variables that it uses.

    Returns
    -------
    tuple
        The graph, whose inputs are those given and then one for each shared variable; and the shared variables.

    Raises
    ------
    MissingInputError
        If the outputs depend on anything else.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.dvector("x")
    >>> fgraph, shared = construct_nominal_fgraph([x], [x + 1])
    >>> len(fgraph.inputs), shared
    (1, [])
    """
    shared: list[Variable] = []
    for variable in graph_inputs(outputs, inputs):
        if variable in inputs or isinstance(variable, Constant):
            continue
        if not isinstance(variable, SharedVariable):
            note = namesake_note(variable, inputs, "is an input")
            text = f"OpFromGraph is missing an input: {describe(variable)}."
            raise MissingInputError(f"{text} {note}" if note else text, variable=variable)
        if variable not in shared:
            shared.append(variable)
    nominal = [NominalVariable(k, v.type) for k, v in enumerate([*inputs, *shared])]
    replaced = clone_replace(list(outputs), dict(zip([*inputs, *shared], nominal)))
    return FunctionGraph(nominal, replaced, clone=False), shared


def _updates_within(
    shared: Sequence[Variable], inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> dict[int, Variable]:
    """The default updates of shared variables that depend on the inputs of a graph, by position."""
    found = {}
    with_update = {v: u for v in shared if (u := getattr(v, "default_update", None)) is not None}
    if with_update:
        for node in io_toposort(inputs, outputs):
            if isinstance(node.op, OpFromGraph):
                with_update.update({v: node.op.update_within(node, v) or u for v, u in with_update.items()})
    for position, variable in enumerate(shared):
        if variable in with_update:
            update = with_update[variable]
            above = set(ancestors([update], inputs))
            known = all(v.owner or v in inputs or isinstance(v, (Constant, SharedVariable)) for v in above)
            if known and not above.isdisjoint(inputs):
                found[position] = update
    return found


def infer_shape(
    outs: Sequence[Variable], inputs: Sequence[Variable], input_shapes: Sequence[Any]
) -> list[tuple[Variable, ...] | None]:
    """Return the shapes of a graph's outputs, given those of its inputs (None for what is no tensor).

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.dmatrix("x")
    >>> n = at.lscalar("n")
    >>> infer_shape([x.T], [x], [(n, n + 1)])
    [(Elemwise{add,no_inplace}.0, n)]
    """
    fgraph = FunctionGraph(list(inputs), list(outs), clone=True)
    feature = ShapeFeature()
    fgraph.attach_feature(feature)
    for inner, shape in zip(fgraph.inputs, input_shapes):
        if shape is not None:
            feature.shape_of[inner] = tuple([as_tensor_variable(n) for n in shape])
    shapes = [feature.shape_of[out] for out in fgraph.outputs]
    lengths = [n for shape in shapes if shape is not None for n in shape]
    given = iter(clone_replace(lengths, dict(zip(fgraph.inputs, inputs))) if lengths else [])
    return [None if shape is None else tuple([next(given) for _ in shape]) for shape in shapes]


class OpFromGraph(Op, HasInnerGraph):
    """An operation that is a graph.

    Compiled, it costs what its graph costs. It is good for naming a part of a model, and for giving it another
    gradient than that of its parts.

    Parameters
    ----------
    inputs, outputs
        The graph. Shared variables that it uses become further inputs by themselves.
    inline
        Whether rewriting puts the graph in the operation's place first, so that rules see through it.
    lop_overrides
        The gradient: ``"default"`` for that of the graph; a function ``f(inputs, outputs, output_gradients)`` that
        returns a list of gradients, one for each input; an `OpFromGraph` with these arguments; a variable of
        `NullType` or `DisconnectedType` for all inputs; or a list with one of these for each input, where a function
        returns one gradient.
    grad_overrides
        The same with functions ``f(inputs, output_gradients)``. Only one of the two may be given.
    rop_overrides
        The forward derivative: ``"default"``, a function ``f(inputs, eval_points)`` that returns a list with one
        variable for each output, an `OpFromGraph`, or a list with one for each output.
    connection_pattern
        Which outputs depend on which inputs (rows are inputs), if that is not to be found from the graph.
    name
        A name for messages.
    **kwargs
        Passed to `aesara.function` when the graph is compiled for itself.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> from aesara.compile.builders import OpFromGraph
    >>> x, y = at.dscalars("x", "y")
    >>> clipped_gradient = OpFromGraph(
    ...     [x, y], [x * y], lop_overrides=lambda inputs, outputs, grads: [at.clip(g, -1, 1) for g in grads * 2]
    ... )
    >>> aesara.function([x, y], aesara.grad(clipped_gradient(x, y) * 5, x))(2.0, 3.0)
    array(1.)
    """

    #: For a subclass that is a random variable, how many dimensions one draw has, which is the output that the
    #: operation returns by default. Its type leaves open how long they are; see `RandomVariable.open_support`.
    ndim_supp: int | None = None

    def __init__(
        self, inputs: list[Variable], outputs: list[Variable], inline: bool = False,
        lop_overrides: Override = "default", grad_overrides: Override = "default", rop_overrides: Override = "default",
        connection_pattern: list[list[bool]] | None = None, name: str | None = None, **kwargs: Any,
    ):  # fmt: skip
        if not isinstance(inputs, (list, tuple)) or not isinstance(outputs, (list, tuple)):
            raise TypeError(f"Inputs and outputs must be lists; got {type(inputs).__name__}, {type(outputs).__name__}.")
        for variable in (*inputs, *outputs):
            if not isinstance(variable, Variable):
                raise TypeError(f"Inputs and outputs must be variables; got {variable!r}.")
        if "updates" in kwargs or "givens" in kwargs:
            raise NotImplementedError("OpFromGraph: updates and givens belong to functions, not to operations.")
        if lop_overrides != "default" and grad_overrides != "default":
            raise ValueError("OpFromGraph: lop_overrides and grad_overrides are mutually exclusive; give one of them.")
        self.is_inline = inline
        self.name = name
        self.fgraph, self.shared_inputs = construct_nominal_fgraph(inputs, outputs)
        self._given = list(inputs)
        self._updates = _updates_within(self.shared_inputs, self._given, outputs)
        self.kwargs = kwargs
        self.input_types = [v.type for v in inputs]
        self.output_types = [v.type for v in outputs]
        self.lop_overrides, self.grad_overrides = lop_overrides, grad_overrides
        self.rop_overrides = rop_overrides
        self._connection_pattern = connection_pattern
        self._lop_op: Callable | None = None
        self._rop_op: Callable | None = None

    # -- identity --------------------------------------------------------------------------------------------

    @property
    def inner_inputs(self) -> list[Variable]:
        return self.fgraph.inputs

    @property
    def inner_outputs(self) -> list[Variable]:
        return self.fgraph.outputs

    def clone(self) -> OpFromGraph:
        return self.with_step(self.inner_inputs, self.inner_outputs)

    def with_step(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> OpFromGraph:
        """The same operation with another graph of the same inputs and outputs."""
        other = object.__new__(type(self))
        other.__dict__.update({key: value for key, value in self.__dict__.items() if key != "fn"})
        nominal = [NominalVariable(k, v.type) for k, v in enumerate(inputs)]
        replaced = clone_replace(list(outputs), dict(zip(inputs, nominal)))
        other.fgraph = FunctionGraph(nominal, replaced, clone=False)
        return other

    def _facts(self) -> tuple[Any, ...]:
        overrides = (self.lop_overrides, self.grad_overrides, self.rop_overrides)
        return (
            self.is_inline, tuple(map(_key, overrides)), _key(self._connection_pattern), tuple(self.input_types),
            tuple(self.shared_inputs), tuple(self.output_types), self.ndim_supp,
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or self._facts() != other._facts():
            return False
        assert isinstance(other, OpFromGraph)
        return equal_computations(self.inner_outputs, other.inner_outputs, self.inner_inputs, other.inner_inputs)

    def __hash__(self) -> int:
        return hash((type(self), self.is_inline, tuple(self.input_types), tuple(self.output_types)))

    def digest_facts(self) -> tuple[Any, ...]:
        # What replaces its gradients has played its part when a graph is compiled.
        graph = InnerGraph(self.inner_inputs, self.inner_outputs)
        return self.is_inline, self.input_types, self.output_types, self.ndim_supp, graph

    def __str__(self) -> str:
        return f"{self.name or type(self).__name__}{{inline={self.is_inline}}}"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "fn"}

    def update_within(self, node: Apply, variable: Variable) -> Variable | None:
        """The default update of a shared variable that the graph reads, in terms of a node's inputs.

        None if it has none, or one that has nothing to do with the graph.
        """
        places = [k for k, shared in enumerate(self.shared_inputs) if shared is variable and k in self._updates]
        if not places:
            return None
        return clone_replace([self._updates[places[0]]], dict(zip(self._given, node.inputs)))[0]

    # -- types -----------------------------------------------------------------------------------------------

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the operation to inputs, and to what takes the places of `shared_inputs`, if that is given too.

        Where these are other variables, the operation is another one, which has them.
        """
        expected, n_shared = len(self.input_types), len(self.shared_inputs)
        given = list(inputs)
        if len(given) not in (expected, expected + n_shared):
            raise ValueError(f"Expected at least {expected} input(s) for {self}, got {len(given)}.")
        converted = [kind.filter_variable(value) for kind, value in zip(self.input_types, given)]
        shared = given[expected:] or list(self.shared_inputs)
        shared = [own.type.filter_variable(value) for own, value in zip(self.shared_inputs, shared)]
        kinds = [v.type for v in self.inner_outputs]
        if self.ndim_supp and self.default_output is not None:
            draw = kinds[self.default_output]
            kinds[self.default_output] = draw.clone(shape=with_open_lengths(draw.shape, self.ndim_supp))
        return Apply(self._with_shared(shared), [*converted, *shared], [kind() for kind in kinds])

    def _with_shared(self, shared: Sequence[Variable]) -> OpFromGraph:
        """The operation with other variables in the places of its shared inputs.

        All up to the last that is no shared variable are ordinary inputs.
        """
        if all(new is old for new, old in zip(shared, self.shared_inputs)):
            return self
        ordinary = max((k + 1 for k, one in enumerate(shared) if not isinstance(one, SharedVariable)), default=0)
        overrides = (self.lop_overrides, self.grad_overrides, self.rop_overrides)
        if ordinary and not all(isinstance(one, str) for one in overrides):
            return self  # they are about the inputs that there were
        other = self.with_step(self.inner_inputs, self.inner_outputs)
        other.shared_inputs = list(shared[ordinary:])
        other.input_types = [*self.input_types, *(one.type for one in shared[:ordinary])]
        kept = {k: u for k, u in self._updates.items() if shared[k] is self.shared_inputs[k]}
        other._updates = {k - ordinary: update for k, update in kept.items() if k >= ordinary}
        other._given = [*self._given, *self.shared_inputs[:ordinary]]
        other._lop_op = other._rop_op = None
        return other

    def connection_pattern(self, node: Apply | None) -> list[list[bool]]:
        """Return, for each input and output, whether a gradient can flow between them."""
        if self._connection_pattern is not None:
            return self._connection_pattern
        pattern = io_connection_pattern(self.inner_inputs, self.inner_outputs)
        for override in (self.lop_overrides, self.grad_overrides):
            if isinstance(override, list):
                for row, one in zip(pattern, override):
                    if one is not None and one != "default" and not _is_variable_of(one, DisconnectedType):
                        row[:] = [True] * len(row)
            elif override != "default":
                pattern = [[True] * len(row) for row in pattern]
        return pattern

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        shapes = infer_shape(self.inner_outputs, self.inner_inputs, input_shapes)
        lengths = [n for shape in shapes if shape is not None for n in shape]
        # What depends on values of inputs takes those of the node.
        given = iter(clone_replace(lengths, dict(zip(self.inner_inputs, node.inputs))) if lengths else [])
        return [None if shape is None else tuple([next(given) for _ in shape]) for shape in shapes]

    # -- derivatives -----------------------------------------------------------------------------------------

    def set_grad_overrides(self, grad_overrides: Override) -> None:
        """Replace the gradient; see the class."""
        self.grad_overrides, self.lop_overrides, self._lop_op = grad_overrides, "default", None

    def set_lop_overrides(self, lop_overrides: Override) -> None:
        """Replace the gradient; see the class."""
        self.lop_overrides, self.grad_overrides, self._lop_op = lop_overrides, "default", None

    def set_rop_overrides(self, rop_overrides: Override) -> None:
        """Replace the forward derivative; see the class."""
        self.rop_overrides, self._rop_op = rop_overrides, None

    def get_lop_op(self) -> Callable[..., list[Any]]:
        """Return the function from inputs, outputs and gradients of outputs to gradients of inputs."""
        if self._lop_op is None:
            with config.change_flags(compute_test_value="off"):  # the inner graph stands for any values
                self._lop_op = self._make_lop()
        return self._lop_op

    def get_rop_op(self) -> Callable[..., list[Any]]:
        """Return the function from inputs and evaluation points to forward derivatives of outputs; each may be None."""
        if self._rop_op is None:
            with config.change_flags(compute_test_value="off"):
                self._rop_op = self._make_rop()
        return self._rop_op

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        gradients = [
            out.zeros_like() if is_disconnected(g) and hasattr(out, "zeros_like") else g
            for g, out in zip(output_gradients, outputs)
        ]
        return list(self.get_lop_op()(*inputs, *outputs, *gradients))

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        return list(self.get_rop_op()(*inputs, *eval_points))

    def _make_lop(self) -> Callable[..., list[Any]]:
        count, n_outputs = len(self.inner_inputs), len(self.inner_outputs)
        override, with_outputs = self.lop_overrides, True
        if self.grad_overrides != "default":
            override, with_outputs = self.grad_overrides, False

        def call(function: Callable, arguments: Sequence[Any]) -> Any:
            inputs, rest = list(arguments[: len(self.input_types)]), arguments[count:]
            outputs, gradients = list(rest[:n_outputs]), list(rest[n_outputs:])
            if isinstance(function, OpFromGraph):
                given = [*inputs, *outputs, *gradients] if with_outputs else [*inputs, *gradients]
                return function(*given, return_list=True)
            return function(inputs, outputs, gradients) if with_outputs else function(inputs, gradients)

        missing = [disconnected_type() for _ in self.shared_inputs]
        if isinstance(override, str):
            return self._default_lop(range(count))
        if isinstance(override, Variable):
            return lambda *arguments: [override for _ in self.input_types] + missing
        if callable(override):  # also an operation
            return lambda *arguments: [_as_gradient(g) for g in call(override, arguments)] + missing
        if len(override) != len(self.input_types):
            raise ValueError(f"{self}: expected {len(self.input_types)} overrides of gradients, got {len(override)}.")
        # Overridden inputs are not differentiated with respect to: the graph need not have such a gradient.
        of_graph = [k for k, one in enumerate(override) if isinstance(one, str)]
        default = self._default_lop([*of_graph, *range(len(override), count)]) if of_graph else None

        def one_by_one(*arguments: Any) -> list[Any]:
            own = default(*arguments) if default is not None else []
            found = []
            for k, one in enumerate(override):
                if isinstance(one, str):
                    found.append(own[k])
                elif one is None or isinstance(one, Variable):
                    found.append(_as_gradient(one))
                else:
                    made = call(one, arguments)
                    found.append(_as_gradient(made[0] if isinstance(made, (list, tuple)) else made))
            return found + (own[len(override) :] if default is not None else missing)

        return one_by_one

    def _default_lop(self, positions: Sequence[int]) -> Callable[..., list[Any]]:
        """The gradient of the graph with respect to the inputs at `positions`, as an operation as well."""
        smooth = [k for k, v in enumerate(self.inner_outputs) if _is_smooth(v)]
        inputs = [stand_in(v) for v in self.inner_inputs]
        outputs = clone_replace(self.inner_outputs, dict(zip(self.inner_inputs, inputs)))
        gradients = [stand_in(v) for v in outputs]
        pattern = self.connection_pattern(None)
        wanted = [k for k in positions if any(pattern[k][o] for o in smooth)]
        if not wanted:
            return lambda *arguments: [disconnected_type() for _ in inputs]
        chosen = [outputs[o] for o in smooth]
        terms = Lop(chosen, [inputs[k] for k in wanted], [gradients[o] for o in smooth], disconnected_inputs="ignore")
        name = f"gradient of {self.name}" if self.name else None
        node = OpFromGraph([*inputs, *[gradients[o] for o in smooth]], terms, inline=self.is_inline, name=name)
        unconnected = {k for k, row in enumerate(pattern) if not any(row)}
        count, total = len(inputs), len(self.inner_outputs)

        def apply(*arguments: Any) -> list[Any]:
            given = [*arguments[:count], *[arguments[count + total + o] for o in smooth]]
            made = dict(zip(wanted, node(*given, return_list=True)))
            return [
                made[k] if k in made else disconnected_type() if k in unconnected else v.zeros_like(dtype="floatX")
                for k, v in enumerate(arguments[:count])
            ]

        return apply

    def _make_rop(self) -> Callable[..., list[Any]]:
        count, override = len(self.inner_inputs), self.rop_overrides

        def call(function: Callable, arguments: Sequence[Any]) -> Any:
            own = len(self.input_types)
            inputs = list(arguments[:own])
            points = [v.zeros_like() if p is None else p for v, p in zip(inputs, arguments[count : count + own])]
            if isinstance(function, OpFromGraph):
                return function(*inputs, *points, return_list=True)
            return function(inputs, points)

        if isinstance(override, str):
            return self._default_rop()
        if callable(override):  # also an operation
            return lambda *arguments: call(override, arguments)
        if len(override) != len(self.inner_outputs):
            raise ValueError(f"{self}: expected {len(self.inner_outputs)} overrides of R_op, got {len(override)}.")
        default = self._default_rop() if "default" in [o for o in override if isinstance(o, str)] else None

        def one_by_one(*arguments: Any) -> list[Any]:
            own = default(*arguments) if default is not None else []
            found = []
            for k, one in enumerate(override):
                made = own[k] if isinstance(one, str) else one if one is None else call(one, arguments)
                found.append(made[0] if isinstance(made, (list, tuple)) else made)
            return found

        return one_by_one

    def _default_rop(self) -> Callable[..., list[Any]]:
        """The forward derivative along the points that are given, as an operation as well."""
        count = len(self.inner_inputs)

        @cache
        def along(types: tuple[Any, ...]) -> tuple[OpFromGraph | None, list[bool]]:
            """The operation for points of these types, and which outputs it gives the derivatives of."""
            inputs = [stand_in(v) for v in self.inner_inputs]
            outputs = clone_replace(self.inner_outputs, dict(zip(self.inner_inputs, inputs)))
            points = {v: kind() for v, kind in zip(inputs, types) if kind is not None}
            with config.change_flags(compute_test_value="off"):
                tangents = Rop(outputs, list(points), list(points.values()), "ignore", "none")
            made = [t for t in tangents if t is not None]
            node = OpFromGraph([*inputs, *points.values()], made, inline=self.is_inline) if made else None
            return node, [t is not None for t in tangents]

        def apply(*arguments: Any) -> list[Any]:
            points = arguments[count:]
            node, is_made = along(tuple([None if p is None else p.type for p in points]))
            if node is None:
                return [None for _ in is_made]
            made = iter(node(*arguments[:count], *[p for p in points if p is not None], return_list=True))
            return [next(made) if one else None for one in is_made]

        return apply

    # -- values ----------------------------------------------------------------------------------------------

    @cached_property
    def fn(self) -> Callable[..., Any]:
        """The compiled graph."""
        return hooks.compile_step(self.inner_inputs, self.inner_outputs, name=self.name, **self.kwargs)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list], params: object = None
    ) -> None:
        for out, storage, value in zip(node.outputs, output_storage, self.fn(*inputs)):
            # The function's memory is used again by its next call, and by another result.
            storage[0] = out.type.copy_value(value)


@vectorize_node.register(OpFromGraph)
def _vectorize(op: OpFromGraph, node: Apply, *inputs: Any) -> Apply | Sequence[Variable]:
    """The graph for batches; where the gradient is not that of the graph, the operation on each member."""
    if any(not isinstance(o, str) for o in (op.lop_overrides, op.grad_overrides, op.rop_overrides)):
        return vectorize_by_blockwise(op, node, *inputs)
    inner = [stand_in(v) for v in inputs]
    outputs = vectorize_graph(op.inner_outputs, dict(zip(op.inner_inputs, inner)))
    return OpFromGraph(inner, outputs, inline=op.is_inline, name=op.name, **op.kwargs).make_node(*inputs)


@node_rewriter([OpFromGraph])
def inline_ofg_expansion(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """Put the graph of an operation that asks for it in the operation's place."""
    if not node.op.is_inline:
        return False
    return clone_replace(node.op.inner_outputs, dict(zip(node.op.inner_inputs, node.inputs)))


@cotangents_of_inputs.register(OpFromGraph)
def _(op: OpFromGraph, node: Any, of_outputs: Sequence[Supported]) -> Sequence[Supported]:
    """Pull back through the graph itself where entries of outputs are not read, unless its gradient is overridden."""
    is_default = isinstance(op.lop_overrides, str) and isinstance(op.grad_overrides, str)
    if not is_default or not any(g.support.is_partial for g in of_outputs):
        return cotangents_of_inputs.dispatch(object)(op, node, of_outputs)
    inputs = [stand_in(v) for v in op.inner_inputs]
    outputs = clone_replace(op.inner_outputs, dict(zip(op.inner_inputs, inputs)))
    seeds: dict[Variable, Any] = {}
    supports: dict[Variable, Support] = {}
    for output, cotangent in zip(outputs, of_outputs):
        if _is_smooth(output) and not is_disconnected(cotangent.value):
            value, support = cotangent.apply_support(), cotangent.support
            seeds[output] = seeds[output] + value if output in seeds else value
            supports[output] = union(supports.get(output, EMPTY), support)
    pattern = op.connection_pattern(node)
    found = pulled_cotangents(seeds, inputs, supports=supports)
    terms = [
        Supported(disconnected_type() if not any(row) else v.zeros_like(dtype="floatX"))
        if is_disconnected(term.value)
        else Supported(*clone_replace([term.apply_support()], dict(zip(inputs, node.inputs))))
        for v, row, term in zip(node.inputs, pattern, found)
    ]
    return terms


def _key(override: Any) -> Any:
    return tuple(map(_key, override)) if isinstance(override, (list, tuple)) else override


def _is_variable_of(value: Any, kind: type) -> bool:
    return isinstance(value, Variable) and isinstance(value.type, kind)


def _as_gradient(value: Any) -> Any:
    return disconnected_type() if value is None else value


def _is_smooth(variable: Variable) -> bool:
    kind = variable.type
    if isinstance(kind, (NullType, DisconnectedType)):
        return False
    return isinstance(kind, TensorType) and kind.dtype.startswith(("float", "complex"))
