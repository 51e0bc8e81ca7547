"""Graphs as ops: `OpFromGraph`."""

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
    """Return a graph on nominal variables, which replace the inputs and the shared variables of the given graph.

    Returns
    -------
    tuple
        The graph, whose inputs are `inputs` followed by one for each shared variable; and the shared variables.

    Raises
    ------
    MissingInputError
        If the outputs depend on other variables.

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
    nominal_outputs = clone_replace(list(outputs), dict(zip([*inputs, *shared], nominal)))
    return FunctionGraph(nominal, nominal_outputs, clone=False), shared


def _updates_in_terms_of(
    shared: Sequence[Variable], inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> dict[int, Variable]:
    """Return default updates of shared variables that depend on the inputs of a graph, by position."""
    updates = {}
    with_update = {v: u for v in shared if (u := getattr(v, "default_update", None)) is not None}
    if with_update:
        for node in io_toposort(inputs, outputs):
            if isinstance(node.op, OpFromGraph):
                with_update.update({v: node.op.update_in_terms_of(node, v) or u for v, u in with_update.items()})
    for position, variable in enumerate(shared):
        if variable in with_update:
            update = with_update[variable]
            dependencies = set(ancestors([update], inputs))
            is_closed = all(v.owner or v in inputs or isinstance(v, (Constant, SharedVariable)) for v in dependencies)
            if is_closed and not dependencies.isdisjoint(inputs):
                updates[position] = update
    return updates


def infer_shape(
    outs: Sequence[Variable], inputs: Sequence[Variable], input_shapes: Sequence[Any]
) -> list[tuple[Variable, ...] | None]:
    """Return the shapes of the outputs of a graph, given those of its inputs (None for types other than tensors).

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
    converted = iter(clone_replace(lengths, dict(zip(fgraph.inputs, inputs))) if lengths else [])
    return [None if shape is None else tuple([next(converted) for _ in shape]) for shape in shapes]


class OpFromGraph(Op, HasInnerGraph):
    """An op whose outputs are computed by a graph.

    Compiled, it has the cost of the graph. It serves to name a part of a model, or to define a custom gradient.

    Parameters
    ----------
    inputs, outputs
        The graph. The shared variables that it uses become additional inputs.
    inline
        Whether rewriting replaces the op by the graph first, so that rules can match parts of the graph.
    lop_overrides
        The gradient: ``"default"`` for that of the graph; a function ``f(inputs, outputs, output_gradients)`` that
        returns a list of gradients, one for each input; an `OpFromGraph` with these arguments; a variable of
        `NullType` or `DisconnectedType` for all inputs; or a list with one of these for each input, in which functions
        return one gradient.
    grad_overrides
        Like `lop_overrides`, but with functions ``f(inputs, output_gradients)``. Only one of both may be given.
    rop_overrides
        The forward derivative: ``"default"``, a function ``f(inputs, eval_points)`` that returns a list with one
        variable for each output, an `OpFromGraph`, or a list with one for each output.
    connection_pattern
        Whether each output depends on each input (rows are inputs); by default it is deduced from the graph.
    name
        A name for messages.
    **kwargs
        Arguments of `aesara.function` for compiling the graph on its own.

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

    #: for subclasses that are random variables, the number of dimensions of a draw, which is the default output; the
    #: lengths of these dimensions are unknown in its type, see `RandomVariable.open_support`
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
        self._graph_inputs = list(inputs)
        self._updates = _updates_in_terms_of(self.shared_inputs, self._graph_inputs, outputs)
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
        """Return the op with another graph that has the same types of inputs and outputs."""
        other = object.__new__(type(self))
        other.__dict__.update({key: value for key, value in self.__dict__.items() if key != "fn"})
        nominal = [NominalVariable(k, v.type) for k, v in enumerate(inputs)]
        nominal_outputs = clone_replace(list(outputs), dict(zip(inputs, nominal)))
        other.fgraph = FunctionGraph(nominal, nominal_outputs, clone=False)
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
        # Overrides of gradients are not needed any more when a graph is compiled.
        graph = InnerGraph(self.inner_inputs, self.inner_outputs)
        return self.is_inline, self.input_types, self.output_types, self.ndim_supp, graph

    def __str__(self) -> str:
        return f"{self.name or type(self).__name__}{{inline={self.is_inline}}}"

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in self.__dict__.items() if key != "fn"}

    def update_in_terms_of(self, node: Apply, variable: Variable) -> Variable | None:
        """Return the default update of a shared variable that the graph reads, in terms of the inputs of a node.

        The result is None if there is no update, or if it does not depend on the inputs of the graph.
        """
        positions = [k for k, shared in enumerate(self.shared_inputs) if shared is variable and k in self._updates]
        if not positions:
            return None
        return clone_replace([self._updates[positions[0]]], dict(zip(self._graph_inputs, node.inputs)))[0]

    # -- types -----------------------------------------------------------------------------------------------

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op to inputs, optionally followed by replacements of `shared_inputs`.

        With replacements, the op of the node is a copy that has these as shared inputs.
        """
        expected, n_shared = len(self.input_types), len(self.shared_inputs)
        arguments = list(inputs)
        if len(arguments) not in (expected, expected + n_shared):
            raise ValueError(f"Expected at least {expected} input(s) for {self}, got {len(arguments)}.")
        converted = [kind.filter_variable(value) for kind, value in zip(self.input_types, arguments)]
        shared = arguments[expected:] or list(self.shared_inputs)
        shared = [old.type.filter_variable(value) for old, value in zip(self.shared_inputs, shared)]
        output_types = [v.type for v in self.inner_outputs]
        if self.ndim_supp and self.default_output is not None:
            draw = output_types[self.default_output]
            output_types[self.default_output] = draw.clone(shape=with_open_lengths(draw.shape, self.ndim_supp))
        return Apply(self._with_shared(shared), [*converted, *shared], [kind() for kind in output_types])

    def _with_shared(self, shared: Sequence[Variable]) -> OpFromGraph:
        """Return the op with other shared inputs.

        Replacements up to the last one that is not a shared variable become ordinary inputs.
        """
        if all(new is old for new, old in zip(shared, self.shared_inputs)):
            return self
        n_ordinary = max(
            (k + 1 for k, variable in enumerate(shared) if not isinstance(variable, SharedVariable)), default=0
        )
        overrides = (self.lop_overrides, self.grad_overrides, self.rop_overrides)
        if n_ordinary and not all(isinstance(variable, str) for variable in overrides):
            return self  # overrides apply to the original inputs
        other = self.with_step(self.inner_inputs, self.inner_outputs)
        other.shared_inputs = list(shared[n_ordinary:])
        other.input_types = [*self.input_types, *(variable.type for variable in shared[:n_ordinary])]
        kept_updates = {k: u for k, u in self._updates.items() if shared[k] is self.shared_inputs[k]}
        other._updates = {k - n_ordinary: update for k, update in kept_updates.items() if k >= n_ordinary}
        other._graph_inputs = [*self._graph_inputs, *self.shared_inputs[:n_ordinary]]
        other._lop_op = other._rop_op = None
        return other

    def connection_pattern(self, node: Apply | None) -> list[list[bool]]:
        """Return, for each input and output, whether a gradient can flow between them."""
        if self._connection_pattern is not None:
            return self._connection_pattern
        pattern = io_connection_pattern(self.inner_inputs, self.inner_outputs)
        for override in (self.lop_overrides, self.grad_overrides):
            if isinstance(override, list):
                for row, override_of_input in zip(pattern, override):
                    if (
                        override_of_input is not None
                        and override_of_input != "default"
                        and not _is_variable_of(override_of_input, DisconnectedType)
                    ):
                        row[:] = [True] * len(row)
            elif override != "default":
                pattern = [[True] * len(row) for row in pattern]
        return pattern

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[object]) -> list[Any]:
        shapes = infer_shape(self.inner_outputs, self.inner_inputs, input_shapes)
        lengths = [n for shape in shapes if shape is not None for n in shape]
        # Sizes that depend on values of inputs are expressed by the inputs of the node.
        converted = iter(clone_replace(lengths, dict(zip(self.inner_inputs, node.inputs))) if lengths else [])
        return [None if shape is None else tuple([next(converted) for _ in shape]) for shape in shapes]

    # -- derivatives -----------------------------------------------------------------------------------------

    def set_grad_overrides(self, grad_overrides: Override) -> None:
        """Override the gradient; see the class."""
        self.grad_overrides, self.lop_overrides, self._lop_op = grad_overrides, "default", None

    def set_lop_overrides(self, lop_overrides: Override) -> None:
        """Override the gradient; see the class."""
        self.lop_overrides, self.grad_overrides, self._lop_op = lop_overrides, "default", None

    def set_rop_overrides(self, rop_overrides: Override) -> None:
        """Override the forward derivative; see the class."""
        self.rop_overrides, self._rop_op = rop_overrides, None

    def get_lop_op(self) -> Callable[..., list[Any]]:
        """Return the function from inputs, outputs and output gradients to gradients for the inputs."""
        if self._lop_op is None:
            with config.change_flags(compute_test_value="off"):  # inner variables have no test values
                self._lop_op = self._make_lop()
        return self._lop_op

    def get_rop_op(self) -> Callable[..., list[Any]]:
        """Return the function from inputs and evaluation points to forward derivatives, which may be None, of the
        outputs.
        """
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

    def R_op(self, inputs: Sequence[object], eval_points: Sequence[object]) -> list[Any]:
        return list(self.get_rop_op()(*inputs, *eval_points))

    def _make_lop(self) -> Callable[..., list[Any]]:
        count, n_outputs = len(self.inner_inputs), len(self.inner_outputs)
        override, with_outputs = self.lop_overrides, True
        if self.grad_overrides != "default":
            override, with_outputs = self.grad_overrides, False

        def call(function: Callable, arguments: Sequence[object]) -> Any:
            inputs, rest = list(arguments[: len(self.input_types)]), arguments[count:]
            outputs, gradients = list(rest[:n_outputs]), list(rest[n_outputs:])
            if isinstance(function, OpFromGraph):
                operands = [*inputs, *outputs, *gradients] if with_outputs else [*inputs, *gradients]
                return function(*operands, return_list=True)
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
        # The graph need not have gradients for inputs with overrides.
        default_positions = [k for k, override_of_input in enumerate(override) if isinstance(override_of_input, str)]
        default = self._default_lop([*default_positions, *range(len(override), count)]) if default_positions else None

        def gradients_by_input(*arguments: object) -> list[Any]:
            default_gradients = default(*arguments) if default is not None else []
            result = []
            for k, override_of_input in enumerate(override):
                if isinstance(override_of_input, str):
                    result.append(default_gradients[k])
                elif override_of_input is None or isinstance(override_of_input, Variable):
                    result.append(_as_gradient(override_of_input))
                else:
                    override_result = call(override_of_input, arguments)
                    result.append(
                        _as_gradient(
                            override_result[0] if isinstance(override_result, (list, tuple)) else override_result
                        )
                    )
            return result + (default_gradients[len(override) :] if default is not None else missing)

        return gradients_by_input

    def _default_lop(self, positions: Sequence[int]) -> Callable[..., list[Any]]:
        """Return the gradient of the graph for the inputs at `positions`, as a function that applies another
        `OpFromGraph`.
        """
        smooth = [k for k, v in enumerate(self.inner_outputs) if _is_smooth(v)]
        inputs = [stand_in(v) for v in self.inner_inputs]
        outputs = clone_replace(self.inner_outputs, dict(zip(self.inner_inputs, inputs)))
        gradients = [stand_in(v) for v in outputs]
        pattern = self.connection_pattern(None)
        connected = [k for k in positions if any(pattern[k][o] for o in smooth)]
        if not connected:
            return lambda *arguments: [disconnected_type() for _ in inputs]
        smooth_outputs = [outputs[o] for o in smooth]
        terms = Lop(
            smooth_outputs, [inputs[k] for k in connected], [gradients[o] for o in smooth], disconnected_inputs="ignore"
        )
        name = f"gradient of {self.name}" if self.name else None
        node = OpFromGraph([*inputs, *[gradients[o] for o in smooth]], terms, inline=self.is_inline, name=name)
        unconnected = {k for k, row in enumerate(pattern) if not any(row)}
        count, total = len(inputs), len(self.inner_outputs)

        def apply(*arguments: Any) -> list[Any]:
            operands = [*arguments[:count], *[arguments[count + total + o] for o in smooth]]
            gradient_of = dict(zip(connected, node(*operands, return_list=True)))
            return [
                gradient_of[k]
                if k in gradient_of
                else disconnected_type()
                if k in unconnected
                else v.zeros_like(dtype="floatX")
                for k, v in enumerate(arguments[:count])
            ]

        return apply

    def _make_rop(self) -> Callable[..., list[Any]]:
        count, override = len(self.inner_inputs), self.rop_overrides

        def call(function: Callable, arguments: Sequence[Any]) -> Any:
            own_derivatives = len(self.input_types)
            inputs = list(arguments[:own_derivatives])
            points = [
                v.zeros_like() if p is None else p for v, p in zip(inputs, arguments[count : count + own_derivatives])
            ]
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

        def derivatives_by_output(*arguments: object) -> list[Any]:
            own_derivatives = default(*arguments) if default is not None else []
            result = []
            for k, override_of_output in enumerate(override):
                derivative = (
                    own_derivatives[k]
                    if isinstance(override_of_output, str)
                    else override_of_output
                    if override_of_output is None
                    else call(override_of_output, arguments)
                )
                result.append(derivative[0] if isinstance(derivative, (list, tuple)) else derivative)
            return result

        return derivatives_by_output

    def _default_rop(self) -> Callable[..., list[Any]]:
        """Return the forward derivative of the graph, as a function that applies another `OpFromGraph`."""
        count = len(self.inner_inputs)

        @cache
        def derivative_op(types: tuple[Any, ...]) -> tuple[OpFromGraph | None, list[bool]]:
            """The operation for points of these types, and which outputs it gives the derivatives of."""
            inputs = [stand_in(v) for v in self.inner_inputs]
            outputs = clone_replace(self.inner_outputs, dict(zip(self.inner_inputs, inputs)))
            points = {v: kind() for v, kind in zip(inputs, types) if kind is not None}
            with config.change_flags(compute_test_value="off"):
                tangents = Rop(outputs, list(points), list(points.values()), "ignore", "none")
            nonzero_tangents = [t for t in tangents if t is not None]
            node = (
                OpFromGraph([*inputs, *points.values()], nonzero_tangents, inline=self.is_inline)
                if nonzero_tangents
                else None
            )
            return node, [t is not None for t in tangents]

        def apply(*arguments: Any) -> list[Any]:
            points = arguments[count:]
            node, has_tangent = derivative_op(tuple([None if p is None else p.type for p in points]))
            if node is None:
                return [None for _ in has_tangent]
            nonzero_tangents = iter(node(*arguments[:count], *[p for p in points if p is not None], return_list=True))
            return [next(nonzero_tangents) if connected else None for connected in has_tangent]

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
            # The memory of results is reused by the next call, and may be shared between results.
            storage[0] = out.type.copy_value(value)


@vectorize_node.register(OpFromGraph)
def _vectorize(op: OpFromGraph, node: Apply, *inputs: Any) -> Apply | Sequence[Variable]:
    """Vectorize the graph; with overridden gradients, apply the op to each member of the batch."""
    if any(not isinstance(o, str) for o in (op.lop_overrides, op.grad_overrides, op.rop_overrides)):
        return vectorize_by_blockwise(op, node, *inputs)
    inner = [stand_in(v) for v in inputs]
    outputs = vectorize_graph(op.inner_outputs, dict(zip(op.inner_inputs, inner)))
    return OpFromGraph(inner, outputs, inline=op.is_inline, name=op.name, **op.kwargs).make_node(*inputs)


@node_rewriter([OpFromGraph])
def inline_ofg_expansion(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
    """``OpFromGraph(inputs, outputs)(*x)`` -> ``outputs`` with ``x`` in place of ``inputs``, if it has the option
    `inline`
    """
    if not node.op.is_inline:
        return False
    return clone_replace(node.op.inner_outputs, dict(zip(node.op.inner_inputs, node.inputs)))


@cotangents_of_inputs.register(OpFromGraph)
def _(op: OpFromGraph, node: Any, of_outputs: Sequence[Supported]) -> Sequence[Supported]:
    """Pull back through the inner graph if not all entries of outputs are read, unless the gradient is overridden."""
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


def _key(override: object) -> Any:
    return tuple(map(_key, override)) if isinstance(override, (list, tuple)) else override


def _is_variable_of(value: object, kind: type) -> bool:
    return isinstance(value, Variable) and isinstance(value.type, kind)


def _as_gradient(value: object) -> Any:
    return disconnected_type() if value is None else value


def _is_smooth(variable: Variable) -> bool:
    kind = variable.type
    if isinstance(kind, (NullType, DisconnectedType)):
        return False
    return isinstance(kind, TensorType) and kind.dtype.startswith(("float", "complex"))
