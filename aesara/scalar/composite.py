"""`Composite`: a graph of scalar ops as a scalar op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aesara.configdefaults import config
from aesara.graph.digest import InnerGraph
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.fg import FunctionGraph
from aesara.graph.inner import HasInnerGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant
from aesara.graph.pullback import is_disconnected, pull_back
from aesara.graph.traversal import io_toposort
from aesara.scalar.arithmetic import add
from aesara.scalar.casting import Cast
from aesara.scalar.op import ScalarOp, to_dtype, zero_gradient
from aesara.scalar.types import ScalarType, float16, float32
from aesara.scalar.var import ScalarLike, ScalarVariable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from aesara.graph.nodes import Variable

__all__ = ["Composite", "Compositef32", "composite_f32", "composite_of", "handle_cast", "handle_composite"]

#: maximum length of printed expressions, in which shared subexpressions are repeated
_TEXT_LIMIT = 500

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "true_divide": "/",
    "floor_divide": "//",
    "mod": "%",
    "pow": "**",
    "LT": "<",
    "GT": ">",
    "LE": "<=",
    "GE": ">=",
    "AND": "&",
    "OR": "|",
    "XOR": "^",
}


class Composite(ScalarOp, HasInnerGraph):
    """A graph of scalar ops as a scalar op.

    Parameters
    ----------
    inputs
        The scalar inputs of the graph.
    outputs
        Scalar variables that scalar ops compute from `inputs` and constants. Nested composites are inlined.

    Examples
    --------
    >>> from aesara.scalar import Composite, exp, float64
    >>> x, y = float64("x"), float64("y")
    >>> op = Composite([x, y], [exp(x) + y])
    >>> op
    Composite{(exp(i0) + i1)}
    >>> float(op.impl(0.0, 2.0))
    3.0
    """

    def __init__(self, inputs: Sequence[Variable], outputs: Sequence[Variable]):
        leaves = [variable.type(variable.name) for variable in inputs]
        self.inputs = leaves
        self.outputs = _copy_graph(inputs, outputs, leaves)
        self.nin = len(self.inputs)
        self.nout = len(self.outputs)
        self.inputs_type = tuple(variable.type for variable in self.inputs)
        self.outputs_type = tuple(variable.type for variable in self.outputs)
        self.output_types_preference = None
        self._order = io_toposort(self.inputs, self.outputs)
        self._signature = self._make_signature()
        self._hash = hash((type(self), self._signature))
        self._name: str | None = None
        self._fgraph: FunctionGraph | None = None

    def _make_signature(self) -> tuple:
        """Return a description of the inner graph by positions, which is equal for equal graphs."""
        position: dict[Variable, int] = {variable: i for i, variable in enumerate(self.inputs)}
        steps: list[tuple] = []
        for node in self._order:
            arguments = tuple(_position_of(variable, position) for variable in node.inputs)
            steps.append((node.op, arguments))
            for output in node.outputs:
                position[output] = len(position)
        results = tuple(_position_of(variable, position) for variable in self.outputs)
        return self.inputs_type, tuple(steps), results, self.outputs_type

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(self) is type(other) and self._hash == other._hash and self._signature == other._signature
        )

    def __hash__(self) -> int:
        return self._hash

    def digest_facts(self) -> tuple[object, ...]:
        return (InnerGraph(self.inputs, self.outputs),)

    def __str__(self) -> str:
        return self.name

    def __getstate__(self) -> tuple:
        return self.inputs, self.outputs

    def __setstate__(self, state: tuple) -> None:
        self.__init__(*state)  # type: ignore[misc]  # what a subclass pickles is for its own

    @property
    def name(self) -> str:
        """The computed expressions, with ``i0``, ``i1``, ... for the inputs."""
        if self._name is None:
            self._name = f"Composite{{{self._text()}}}"
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name

    def _text(self) -> str:
        texts: dict[Variable, str] = {variable: f"i{i}" for i, variable in enumerate(self.inputs)}

        def text_of(variable: Variable) -> str:
            return str(variable.data) if isinstance(variable, Constant) else texts[variable]

        for node in self._order:
            arguments = [text_of(variable) for variable in node.inputs]
            infix = _INFIX.get(str(node.op))
            if infix:
                text = f"({f' {infix} '.join(arguments)})"
            elif str(node.op) == "neg":
                text = f"(-{arguments[0]})"
            else:
                text = f"{node.op}({', '.join(arguments)})"
            if len(text) > _TEXT_LIMIT:
                text = f"{node.op}(...)"
            for i, output in enumerate(node.outputs):
                texts[output] = text if len(node.outputs) == 1 else f"{text}.{i}"
        return ", ".join(text_of(variable) for variable in self.outputs)

    # Inner graph

    @property
    def inner_inputs(self) -> list:
        """The inputs of the inner graph."""
        return self.inputs

    @property
    def inner_outputs(self) -> list:
        """The outputs of the inner graph."""
        return self.outputs

    @property
    def fgraph(self) -> FunctionGraph:
        """A copy of the inner graph, whose changes do not affect this op."""
        if self._fgraph is None:
            self._fgraph = FunctionGraph(self.inputs, self.outputs, clone=True)
        return self._fgraph

    @property
    def fn(self) -> Any:
        """A function of numbers or arrays."""
        return self.impl

    def clone(self) -> Composite:
        """Return an equal op with a copy of the inner graph."""
        return type(self)(self.inputs, self.outputs)

    def clone_float32(self) -> Composite:
        """Return the op with float16 replaced by float32."""
        inputs, outputs = _replace_float16(self.fgraph)
        return type(self)(inputs, outputs)

    def unfold(self, inputs: Sequence[ScalarVariable]) -> list:
        """Return the outputs as a graph on the given scalar variables."""
        return _copy_graph(self.inputs, self.outputs, inputs)

    # The ScalarOp interface

    def output_types(self, types: Sequence[ScalarType]) -> list[ScalarType]:
        types = tuple(types)
        if types == self.inputs_type:
            return list(self.outputs_type)
        return [output.type for output in self.unfold([input_type() for input_type in types])]

    def make_node(self, *inputs: ScalarLike) -> Apply:
        node = super().make_node(*inputs)
        types = tuple(variable.type for variable in node.inputs)
        if types == self.inputs_type:
            return node
        leaves = [variable.type() for variable in node.inputs]
        return type(self)(leaves, self.unfold(leaves)).make_node(*node.inputs)

    def impl(self, *inputs: ArrayLike) -> Any:
        """Compute the inner graph on numbers or arrays."""
        results = self.evaluate(inputs, self.inputs_type, self.outputs_type)
        return results[0] if self.nout == 1 else results

    def evaluate(
        self, values: Sequence[ArrayLike], input_types: Sequence[ScalarType], output_types: Sequence[ScalarType]
    ) -> tuple:
        known = {variable: _convert(value, variable.type) for variable, value in zip(self.inputs, values, strict=True)}

        def value_of(variable: Variable) -> Any:
            return variable.data if isinstance(variable, Constant) else known[variable]

        for node in self._order:
            results = node.op.evaluate(
                [value_of(variable) for variable in node.inputs],
                [variable.type for variable in node.inputs],
                [variable.type for variable in node.outputs],
            )
            known.update(zip(node.outputs, results))
        return tuple(value_of(variable) for variable in self.outputs)

    def operand_dtypes(self, input_types: Sequence[ScalarType], output_types: Sequence[ScalarType]) -> list[str]:
        return [scalar_type.dtype for scalar_type in self.inputs_type]

    def decomposition(self, *inputs: ScalarVariable) -> list:
        return self.unfold(inputs)

    def connection_pattern(self, node: Apply | None) -> list[list[bool]]:
        reaches = {variable: 1 << i for i, variable in enumerate(self.inputs)}
        for inner in self._order:
            pattern = getattr(inner.op, "connection_pattern", None)
            connected = pattern(inner) if pattern is not None else None
            for j, output in enumerate(inner.outputs):
                reaches[output] = 0
                for i, variable in enumerate(inner.inputs):
                    if connected is None or connected[i][j]:
                        reaches[output] |= reaches.get(variable, 0)
        return [[bool(reaches.get(output, 0) >> i & 1) for output in self.outputs] for i in range(len(self.inputs))]

    def L_op(
        self, inputs: Sequence[ScalarVariable], outputs: Sequence[ScalarVariable], output_gradients: Sequence[Variable]
    ) -> list:
        leaves = [variable.type() for variable in inputs]
        inner_outputs = self.unfold(leaves)
        seeds: dict[Variable, Variable] = {}
        for inner, gradient in zip(inner_outputs, output_gradients):
            if isinstance(gradient.type, DisconnectedType) or isinstance(inner, Constant):
                continue
            seeds[inner] = add(seeds[inner], gradient) if inner in seeds else gradient
        gradients = pull_back(seeds, leaves)
        replacements = dict(zip(leaves, inputs))
        for inner, outer in zip(inner_outputs, outputs):
            # Forward values are reused; a leaf that is also an output remains an input.
            replacements.setdefault(inner, outer)
        for gradient in output_gradients:
            # Incoming gradients are not part of the inner graph.
            replacements.setdefault(gradient, gradient)
        scalars = [i for i, gradient in enumerate(gradients) if isinstance(gradient.type, ScalarType)]
        known = list(replacements)
        copies = iter(_copy_graph(known, [gradients[i] for i in scalars], list(replacements.values()), strict=False))
        terms = list(gradients)
        for i in scalars:
            terms[i] = next(copies)
        return [
            zero_gradient(variable) if is_disconnected(term) and self._is_connected(i) else term
            for i, (term, variable) in enumerate(zip(terms, inputs))
        ]

    def _is_connected(self, position: int) -> bool:
        return any(self.connection_pattern(None)[position])


def _convert(value: Any, scalar_type: ScalarType) -> Any:
    if getattr(value, "ndim", 0) == 0:
        return scalar_type.filter(value, allow_downcast=True)
    return value.astype(scalar_type.dtype, copy=False)


def _position_of(variable: Variable, position: dict) -> Any:
    if isinstance(variable, Constant):
        return variable.signature()
    return position[variable]


def _copy_graph(
    inputs: Sequence[Variable], outputs: Sequence[Variable], leaves: Sequence[Variable], strict: bool = True
) -> list:
    """Copy `outputs` with `inputs` replaced by `leaves`, and with composites inlined.

    If a leaf has another type than its input, the types of dependent variables change accordingly.
    """
    copies = dict(zip(inputs, leaves, strict=True))

    def copy_of(variable: Variable) -> Any:
        if variable in copies:
            return copies[variable]
        if strict and not isinstance(variable, Constant):
            raise ValueError(
                f"The inner graph of a Composite depends on {describe(variable)}, which is none of its inputs"
            )
        return variable

    for node in io_toposort(list(inputs), list(outputs)):
        if not isinstance(node.op, ScalarOp):
            raise TypeError(f"A Composite holds scalar ops only, got {node.op} of type {type(node.op).__name__}")
        arguments = [copy_of(variable) for variable in node.inputs]
        copies.update(zip(node.outputs, _apply_again(node, arguments)))
    return [copy_of(variable) for variable in outputs]


def _apply_again(node: Apply, arguments: list) -> list:
    if isinstance(node.op, Composite):
        return node.op.unfold(arguments)
    if all(a is b for a, b in zip(arguments, node.inputs)):
        return node.outputs
    if all(a.type == b.type for a, b in zip(arguments, node.inputs)):
        return Apply(node.op, arguments, [output.type(output.name) for output in node.outputs]).outputs
    return node.op.make_node(*arguments).outputs


# Replacement of float16 by float32


def _replace_float16(fgraph: FunctionGraph) -> tuple[list, list]:
    leaves = [(float32 if v.type == float16 else v.type)(v.name) for v in fgraph.inputs]
    mapping = dict(zip(fgraph.inputs, leaves))
    for node in fgraph.toposort():
        variable: Any
        for variable in node.inputs:
            if variable not in mapping:
                wide = isinstance(variable, Constant) and variable.type == float16
                mapping[variable] = to_dtype(variable, "float32") if wide else variable
        Compositef32.special.get(type(node.op), _handle_any)(node, mapping)
    return leaves, [mapping.get(variable, variable) for variable in fgraph.outputs]


def _handle_any(node: Apply, mapping: dict) -> None:
    outputs = node.op.make_node(*[mapping[variable] for variable in node.inputs]).outputs
    mapping.update(zip(node.outputs, outputs))


def composite_of(types: Sequence[ScalarType], function: Callable[..., Any]) -> Composite:
    """Return a function of scalars of the given types as a scalar op.

    The scalars have no test values.

    Examples
    --------
    >>> from aesara.scalar import float64
    >>> composite_of([float64, float64], lambda x, y: x * x + y)
    Composite{((i0 * i0) + i1)}
    """
    scalars = [scalar_type() for scalar_type in types]
    with config.change_flags(compute_test_value="off"):
        return Composite(scalars, [function(*scalars)])


def handle_cast(node: Apply, mapping: dict) -> None:
    """Add the output of a cast to `mapping`; casts to float16 become casts to float32."""
    variable = mapping[node.inputs[0]]
    target = float32 if node.op.o_type == float16 else node.op.o_type
    mapping[node.outputs[0]] = variable.astype(target.dtype)


def handle_composite(node: Apply, mapping: dict) -> None:
    """Add the outputs of a composite to `mapping`, with float16 replaced by float32."""
    op = node.op.clone_float32()
    mapping.update(zip(node.outputs, op.make_node(*[mapping[variable] for variable in node.inputs]).outputs))


class Compositef32:
    """A rewrite of inner graphs of composites that replaces float16 by float32."""

    special: dict[type, Any] = {Cast: handle_cast, Composite: handle_composite}

    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return a copy of the graph with float16 replaced by float32."""
        inputs, outputs = _replace_float16(fgraph)
        return FunctionGraph(inputs, outputs, clone=False)


composite_f32 = Compositef32()
