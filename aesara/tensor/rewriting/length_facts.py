"""Dimensions of a graph's variables that have the same length because a node would raise an error otherwise.

A fact holds in every call in which the graph as written raises no error. Rewriting does not change the values of such
calls, so facts remain true when the nodes that they come from are replaced, or their checks removed by rules tagged
"shape_unsafe". Rules without that tag must not use a fact to remove a check, since the fact may come from that check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.scalar import AND, EQ, Cast
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.joining.join_split import Join
from aesara.tensor.products.dot import BatchedDot, Dot
from aesara.tensor.products.gemm import Dot22, Dot22Scalar, Gemm
from aesara.tensor.reductions.all_any import All
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape_i
from aesara.tensor.shapes.specify_shape import SpecifyShape

#: A dimension of a variable.
Dimension = tuple[Variable, int]


class LengthFacts:
    """Equivalence classes of dimensions of the same length.

    The facts of a node are read once: with those of the whole graph, or when one of its results is first looked up.
    Nodes behind a lazy operation have no facts, since they may not run.

    Examples
    --------
    >>> x, y = at.dvectors("x", "y")
    >>> facts = LengthFacts(FunctionGraph([x, y], [x + y], clone=False))
    >>> facts.are_equal((x, 0), (y, 0))
    True
    """

    def __init__(self, fgraph: FunctionGraph):
        self._parent: dict[Dimension, Dimension] = {}
        self._length: dict[Dimension, int] = {}
        self._seen: set[Apply] = set()
        self._may_be_lazy = any(getattr(node.op, "is_lazy", False) for node in fgraph.apply_nodes)
        self._read(fgraph.outputs)

    def are_equal(self, first: Dimension, second: Dimension) -> bool:
        """Return whether two dimensions are known to have the same length."""
        first, second = self._current_representative(first), self._current_representative(second)
        if first == second:
            return True
        length = self._length.get(first)
        return length is not None and length == self._length.get(second)

    def _current_representative(self, dimension: Dimension) -> Dimension:
        if not self._may_be_lazy:
            # The variable may be new since the facts of the graph were read.
            self._read([dimension[0]])
        return self._representative(dimension)

    def _read(self, variables: Iterable[Variable]) -> None:
        """Read the facts of all nodes that these variables depend on."""
        stack = [v.owner for v in variables]
        while stack:
            node = stack.pop()
            if node is None or node in self._seen or getattr(node.op, "is_lazy", False):
                continue
            self._seen.add(node)
            stack.extend([v.owner for v in node.inputs])
            for dimension, *others in equal_dimensions(node.op, node):
                for other in others:
                    self._unite(dimension, other)

    def _representative(self, dimension: Dimension) -> Dimension:
        parent = self._parent
        if dimension not in parent:
            parent[dimension] = dimension
            variable, axis = dimension
            known = variable.data.shape[axis] if isinstance(variable, Constant) else variable.type.shape[axis]
            if known is not None:
                self._length[dimension] = known
            return dimension
        while parent[dimension] != dimension:
            parent[dimension] = dimension = parent[parent[dimension]]
        return dimension

    def _unite(self, first: Dimension, second: Dimension) -> None:
        first, second = self._representative(first), self._representative(second)
        if first == second:
            return
        self._parent[second] = first
        known = self._length.get(second)
        if known is not None:
            self._length.setdefault(first, known)


def dimension_measured_by(length: Variable) -> Dimension | None:
    """Return the dimension whose length a scalar is, as `Shape_i` or a conversion of it, else None."""
    node = length.owner
    # In a narrower dtype, different lengths may be equal.
    while node is not None and _converts(node) and length.type.dtype == "int64":
        (length,) = node.inputs
        node = length.owner
    if node is None or not isinstance(node.op, Shape_i) or not hasattr(node.inputs[0].type, "shape"):
        return None
    return node.inputs[0], node.op.i


def _converts(node: Apply) -> bool:
    if isinstance(node.op, Elemwise):
        return isinstance(node.op.scalar_op, Cast)
    return isinstance(node.op, (ScalarFromTensor, TensorFromScalar))


# Facts of the nodes of each op: lists of dimensions of the same length


@singledispatch
def equal_dimensions(op: Op, node: Apply) -> Iterator[list[Dimension]]:
    """Yield lists of dimensions that have the same length if the node raises no error."""
    yield from ()


@equal_dimensions.register
def _(op: Elemwise, node: Apply) -> Iterator[list[Dimension]]:
    # Only dimensions whose type says that they are of length one are broadcast.
    for axis, length in enumerate(node.outputs[0].type.shape):
        if length != 1:
            yield [(v, axis) for v in (*node.outputs, *node.inputs) if v.type.shape[axis] != 1]


@equal_dimensions.register
def _(op: DimShuffle, node: Apply) -> Iterator[list[Dimension]]:
    for axis, from_axis in enumerate(op.new_order):
        if isinstance(from_axis, int):
            yield [(node.outputs[0], axis), (node.inputs[0], from_axis)]


@equal_dimensions.register
def _(op: CAReduce, node: Apply) -> Iterator[list[Dimension]]:
    (x,) = node.inputs
    reduced = range(x.type.ndim) if op.axis is None else op.axis
    kept = [axis for axis in range(x.type.ndim) if axis not in reduced]
    for axis, from_axis in enumerate(kept):
        yield [(node.outputs[0], axis), (x, from_axis)]


@equal_dimensions.register(Dot)
@equal_dimensions.register(Dot22)
@equal_dimensions.register(Dot22Scalar)
def _(op: Op, node: Apply) -> Iterator[list[Dimension]]:
    yield from _of_product(node.inputs[0], node.inputs[1], node.outputs[0])


@equal_dimensions.register
def _(op: Gemm, node: Apply) -> Iterator[list[Dimension]]:
    yield from _of_product(node.inputs[2], node.inputs[3], node.outputs[0])


def _of_product(x: Variable, y: Variable, out: Variable) -> Iterator[list[Dimension]]:
    if x.type.ndim not in (1, 2) or y.type.ndim not in (1, 2):
        return
    yield [(x, x.type.ndim - 1), (y, 0)]
    if x.type.ndim == 2:
        yield [(x, 0), (out, 0)]
    if y.type.ndim == 2:
        yield [(y, 1), (out, out.type.ndim - 1)]


@equal_dimensions.register
def _(op: BatchedDot, node: Apply) -> Iterator[list[Dimension]]:
    x, y = node.inputs
    yield [(x, 0), (y, 0), (node.outputs[0], 0)]
    yield [(x, x.type.ndim - 1), (y, 1)]


@equal_dimensions.register
def _(op: Join, node: Apply) -> Iterator[list[Dimension]]:
    axis, *tensors = node.inputs
    if isinstance(axis, Constant):
        ndim = tensors[0].type.ndim
        along = int(axis.data) % ndim
        yield from ([(v, d) for v in (*node.outputs, *tensors)] for d in range(ndim) if d != along)


@equal_dimensions.register(IncSubtensor)
@equal_dimensions.register(AdvancedIncSubtensor)
@equal_dimensions.register(AdvancedIncSubtensor1)
def _(op: Op, node: Apply) -> Iterator[list[Dimension]]:
    # The written value may be broadcast, even if its type does not tell.
    (out,) = node.outputs
    yield from ([(out, axis), (node.inputs[0], axis)] for axis in range(out.type.ndim))


@equal_dimensions.register
def _(op: SpecifyShape, node: Apply) -> Iterator[list[Dimension]]:
    x, *lengths = node.inputs
    for axis, length in enumerate(lengths):
        measured = dimension_measured_by(length)
        yield [(node.outputs[0], axis), (x, axis), *([] if measured is None else [measured])]


@equal_dimensions.register
def _(op: CheckAndRaise, node: Apply) -> Iterator[list[Dimension]]:
    checked, conditions = node.inputs[0], list(op.conditions(node.inputs))
    (out,) = node.outputs
    yield from ([(out, axis), (checked, axis)] for axis in range(getattr(out.type, "ndim", 0)))
    while conditions:
        inner = conditions.pop().owner
        if inner is None:
            continue
        if _converts(inner) or isinstance(inner.op, All):
            conditions.append(inner.inputs[0])
        elif isinstance(inner.op, Elemwise) and isinstance(inner.op.scalar_op, AND):
            conditions.extend(inner.inputs)
        elif isinstance(inner.op, Elemwise) and isinstance(inner.op.scalar_op, EQ):
            first, second = map(dimension_measured_by, inner.inputs)
            if first is not None and second is not None:
                yield [first, second]
