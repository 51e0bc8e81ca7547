"""Sorting along an axis, and the k largest or smallest elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import AxisLike, IntegerLike, OutputCells, SortKind, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros_like
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import abs, minimum
from aesara.tensor.indexing.distinct_positions import differ_along
from aesara.tensor.indexing.inc_subtensor import set_subtensor

__all__ = ["argsort", "argtopk", "sort", "topk", "topk_and_argtopk"]

_KINDS = get_args(SortKind)


def _checked_axis(axis: int, ndim: int, name: str) -> int:
    """Return an axis, counted from the front."""
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(f"{name}: axis {axis} is out of bounds for a tensor of {ndim} dimensions")
    return axis % ndim


class _SortingOp(Op):
    """Common parts of the ops that sort: the input, and the axis as a second input."""

    __props__: tuple[str, ...] = ("kind", "order")

    def __init__(self, kind: SortKind, order: Any = None):
        if kind not in _KINDS:
            raise ValueError(f"The kind of a sort is one of {', '.join(_KINDS)}; got {kind!r}.")
        if order is not None and len(order):
            raise ValueError(f"order is for arrays with named fields, which tensors do not have; got {order!r}.")
        self.kind = kind
        self.order = order

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.kind}, {self.order}}}"

    def _node(self, input: Any, axis: Any, dtype: str | None) -> Apply:
        input, axis = as_tensor_variable(input), as_tensor_variable(axis)
        if axis.type.ndim != 0 or axis.type.dtype not in integer_dtypes:
            raise TypeError(f"The axis of a sort is an integer; got {describe(axis)} of type {axis.type}.")
        return Apply(self, [input, axis], [tensor_type(dtype or input.type.dtype, input.type.shape)()])

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [shapes[0]]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False]]

    def _axis_gradient(self) -> Variable:
        return DisconnectedType()()


class SortOp(_SortingOp):
    """The elements of a tensor in ascending order along an axis; NaN comes last."""

    def make_node(self, input: Any, axis: Any = -1) -> Apply:
        return self._node(input, axis, None)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        a, axis = inputs
        output_storage[0][0] = np.sort(a, int(axis), self.kind)

    def grad(self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable]) -> list[Variable]:
        """Return the gradient: that of the output, in the order of the input."""
        a, axis = inputs
        if a.type.dtype in discrete_dtypes:
            return [a.zeros_like(dtype=config.floatX), self._axis_gradient()]
        axis_value = axis.get_scalar_constant_value()
        positions = argsort(a, int(axis_value), self.kind)
        where = _index_along(positions, int(axis_value) % a.type.ndim)
        return [set_subtensor(zeros_like(a)[where], output_grads[0]), self._axis_gradient()]


class ArgSortOp(_SortingOp):
    """The positions of the elements of a tensor in ascending order along an axis."""

    def make_node(self, input: Any, axis: Any = -1) -> Apply:
        return self._node(input, axis, "int64")

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        a, axis = inputs
        output_storage[0][0] = np.asarray(np.argsort(a, int(axis), self.kind), dtype="int64")

    def grad(self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable]) -> list[Variable]:
        dtype = config.floatX if inputs[0].type.dtype in discrete_dtypes else inputs[0].type.dtype
        return [inputs[0].zeros_like(dtype=dtype), self._axis_gradient()]


@differ_along.register(ArgSortOp)
def _differ_in_permutation(op, node, output, axis):
    along = known_integer(node.inputs[1])
    return along is not None and along % output.type.ndim == axis


def _index_along(positions: TensorVariable, axis: int) -> tuple[TensorVariable, ...]:
    """Return an index that selects elements at the given positions along one axis."""
    ndim = positions.type.ndim
    index = []
    for k in range(ndim):
        if k == axis:
            index.append(positions)
        else:
            order: list[int | str] = ["x"] * ndim
            order[k] = 0
            index.append(arange(positions.shape[k]).dimshuffle(order))
    return tuple(index)


def sort(a: TensorLike, axis: int | None = -1, kind: SortKind = "quicksort", order: object = None) -> TensorVariable:
    """The elements in ascending order along an axis; NaN comes last.

    Parameters
    ----------
    a
        The tensor.
    axis
        The axis; None sorts all elements as a vector.
    kind
        The algorithm: "quicksort", "mergesort", "heapsort" or "stable".
    order
        Not used; for the signature of NumPy.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.sort([3.0, 1.0, 2.0]).eval()
    array([1., 2., 3.])
    """
    a, axis = _input_and_axis(a, axis, "sort")
    return SortOp(kind, order)(a, axis)


def argsort(a: TensorLike, axis: int | None = -1, kind: SortKind = "quicksort", order: object = None) -> TensorVariable:
    """The positions of the elements in ascending order along an axis; see `sort` for the parameters."""
    a, axis = _input_and_axis(a, axis, "argsort")
    return ArgSortOp(kind, order)(a, axis)


def _input_and_axis(a: TensorLike, axis: AxisLike, name: str) -> tuple[TensorVariable, Any]:
    a = as_tensor_variable(a)
    if axis is None:
        return a.flatten(), 0
    if isinstance(axis, (int, np.integer)):
        _checked_axis(int(axis), a.type.ndim, name)
    return a, axis


class TopKOp(Op):
    """The k largest elements along an axis (or, for negative k, the smallest), and their positions.

    Parameters
    ----------
    axis
        The axis.
    sorted
        Whether the elements come in descending order (for negative k, in
        ascending order); else in no particular order.
    idx_dtype
        The integer dtype of positions.
    return_values, return_indices
        Which outputs there are.
    """

    __props__ = ("axis", "sorted", "idx_dtype", "return_values", "return_indices")

    def __init__(
        self,
        axis: int = -1,
        sorted: bool = True,
        idx_dtype: str = "int64",
        return_values: bool = True,
        return_indices: bool = True,
    ):
        if not isinstance(axis, (int, np.integer)):
            raise TypeError(f'"axis" parameter must be an integer, got "{type(axis)}"')
        if idx_dtype not in integer_dtypes:
            raise TypeError(f'"idx_dtype" parameter must be an integer dtype, got "{idx_dtype}"')
        if not (return_values or return_indices):
            raise ValueError("Neither return_values nor return_indices is True, this isn't allowed: nothing to return.")
        self.axis = int(axis)
        self.sorted = bool(sorted)
        self.idx_dtype = idx_dtype
        self.return_values = bool(return_values)
        self.return_indices = bool(return_indices)

    def __str__(self) -> str:
        return f"TopKOp{{axis={self.axis}, sorted={self.sorted}}}"

    def make_node(self, inp: Any, kth: Any) -> Apply:
        inp, kth = as_tensor_variable(inp), as_tensor_variable(kth)
        if inp.type.ndim == 0:
            raise ValueError("Cannot take the largest elements of a tensor without dimensions.")
        axis = _checked_axis(self.axis, inp.type.ndim, "topk")
        if kth.type.ndim != 0 or kth.type.dtype not in integer_dtypes:
            raise TypeError(f"The number of elements is an integer; got {describe(kth)} of type {kth.type}.")
        count = known_integer(kth)
        length, available = None if count is None else max(count, -count), inp.type.shape[axis]
        if length == 0:
            raise ValueError("kth must not be zero.")
        if length is not None and available is not None and length > available:
            raise ValueError(f"Cannot take {length} elements of {available} along axis {axis}; got type {inp.type}.")
        shape = tuple([length if k == axis else n for k, n in enumerate(inp.type.shape)])
        outputs = []
        if self.return_values:
            outputs.append(tensor_type(inp.type.dtype, shape)())
        if self.return_indices:
            outputs.append(tensor_type(self.idx_dtype, shape)())
        return Apply(self, [inp, kth], outputs)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x, k = inputs[0], int(inputs[1])
        axis = self.axis % x.ndim
        if k == 0 or max(k, -k) > x.shape[axis]:
            raise ValueError(
                f"topk: kth cannot be zero or larger than the length of the axis; got {k} for length {x.shape[axis]}."
            )
        ascending = np.argsort(x, axis=axis, kind="stable")
        chosen = np.arange(-1, -k - 1, -1) if k > 0 else np.arange(-k)
        positions = np.take(ascending, chosen, axis=axis)
        outputs = []
        if self.return_values:
            outputs.append(np.take_along_axis(x, positions, axis))
        if self.return_indices:
            outputs.append(positions.astype(self.idx_dtype))
        for storage, value in zip(output_storage, outputs):
            storage[0] = value

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        axis = self.axis % node.inputs[0].type.ndim
        shape = list(shapes[0])
        kth: Any = node.inputs[1]
        shape[axis] = minimum(abs(kth.astype("int64")), shape[axis])
        return [tuple(shape) for _ in node.outputs]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        connected = [True] if self.return_values else []
        return [connected + [False] * self.return_indices, [False] * len(node.outputs)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, _ = inputs
        missing = DisconnectedType()()
        if not self.return_values:
            return [missing, missing]
        if x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX), missing]
        positions = outputs[-1]
        if not self.return_indices:
            positions = TopKOp(self.axis, self.sorted, self.idx_dtype, return_values=False)(*inputs)
        where = _index_along(positions, self.axis % x.type.ndim)
        return [set_subtensor(zeros_like(x)[where], output_grads[0]), missing]


@differ_along.register(TopKOp)
def _differ_among_largest(op, node, output, axis):
    # Numbers of a narrower dtype may wrap around.
    is_index = op.return_indices and output is node.outputs[-1] and op.idx_dtype == "int64"
    return is_index and op.axis % output.type.ndim == axis


def _topk(
    x: TensorLike, kth: IntegerLike, axis: int | None, sorted: bool, idx_dtype: str, **returned: bool
) -> list[TensorVariable]:
    x = as_tensor_variable(x)
    if axis is None:
        x, axis = x.flatten(), 0
    return TopKOp(axis=axis, sorted=sorted, idx_dtype=idx_dtype, **returned)(x, kth, return_list=True)


def topk(
    x: TensorLike, kth: IntegerLike, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """The k largest elements along an axis; the smallest for negative k.

    Parameters
    ----------
    x
        The tensor.
    kth
        How many elements; not zero.
    axis
        The axis; None takes all elements as a vector.
    sorted
        Whether they come in order, the most extreme first.
    idx_dtype
        The integer dtype of positions.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.topk([4.0, 9.0, 7.0], 2).eval()
    array([9., 7.])
    """
    return _topk(x, kth, axis, sorted, idx_dtype)[0]


def argtopk(
    x: TensorLike, kth: IntegerLike, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """The positions of the k largest elements along an axis; see `topk` for the parameters."""
    return _topk(x, kth, axis, sorted, idx_dtype, return_values=False)[0]


def topk_and_argtopk(
    x: TensorLike, kth: IntegerLike, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> list[TensorVariable]:
    """The k largest elements along an axis and their positions; see `topk` for the parameters."""
    return _topk(x, kth, axis, sorted, idx_dtype)
