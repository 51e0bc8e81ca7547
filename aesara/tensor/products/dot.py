"""Products of vectors and matrices, and the sums of products that reduce to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import add, conj, gradient_as, mul, real

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


__all__ = ["batched_dot", "batched_tensordot", "dense_dot", "dot", "outer", "tensordot"]


class Dot(Op):
    """The product of two tensors that have one or two dimensions each.

    The last dimension of the first is summed with the first dimension of the
    second, as `numpy.dot` does.
    """

    __props__ = ()

    def __str__(self) -> str:
        return "dot"

    def make_node(self, *inputs: Any) -> Apply:
        if len(inputs) != 2:
            raise TypeError(f"dot takes two tensors; got {len(inputs)} arguments.")
        x, y = [as_tensor_variable(value) for value in inputs]
        for position, t in enumerate((x, y)):
            if t.type.ndim not in (1, 2):
                raise TypeError(
                    f"Dot needs tensors with 1 or 2 dimensions; input {position} ({describe(t)}) has {t.type.ndim}. "
                    "Use aesara.tensor.dot, tensordot or matmul for others."
                )
        _check_lengths("dot", x, y, x.type.shape[-1], y.type.shape[0])
        shape = x.type.shape[:-1] + y.type.shape[1:]
        dtype = aes.upcast(x.type.dtype, y.type.dtype)
        return Apply(self, [x, y], [tensor_type(dtype, shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x, y = inputs
        if x.shape[-1] != y.shape[0]:
            raise ValueError(f"dot: shapes {x.shape} and {y.shape} not aligned: {x.shape[-1]} != {y.shape[0]}.")
        dtype = node.outputs[0].type.numpy_dtype
        with np.errstate(all="ignore"):
            product = np.dot(x.astype(dtype, copy=False), y.astype(dtype, copy=False))
        output_storage[0][0] = np.asarray(product, dtype=dtype)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        x_shape, y_shape = shapes
        return [tuple(x_shape[:-1]) + tuple(y_shape[1:])]

    def grad(self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable]) -> list[TensorVariable]:
        if is_discrete_product(inputs):
            return [t.zeros_like(dtype=config.floatX) for t in inputs]
        a, b = map(conj, inputs)
        gz = as_tensor_variable(output_grads[0])
        if gz.type.ndim == 0:
            a_grad, b_grad = gz * b, gz * a
        elif a.type.ndim == 1:
            a_grad, b_grad = dot(gz, b.T), outer(a, gz)
        elif b.type.ndim == 1:
            a_grad, b_grad = outer(gz, b), dot(a.T, gz)
        else:
            a_grad, b_grad = dot(gz, b.T), dot(a.T, gz)
        return [gradient_of(t, gradient) for t, gradient in zip(inputs, (a_grad, b_grad))]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        x, y = inputs
        x_tangent, y_tangent = eval_points
        terms = []
        if x_tangent is not None:
            terms.append(self(x_tangent, y))
        if y_tangent is not None:
            terms.append(self(x, y_tangent))
        return [None if not terms else terms[0] if len(terms) == 1 else add(*terms)]


_dot = Dot()


def _check_lengths(name: str, x: TensorVariable, y: TensorVariable, of_x: int | None, of_y: int | None) -> None:
    """Report now, if they are known, that the lengths to be summed over differ."""
    if of_x is not None and of_y is not None and of_x != of_y:
        raise ValueError(
            f"{name}: the dimensions to be summed over must have equal lengths; "
            f"{describe(x)} of type {x.type} has {of_x}, {describe(y)} of type {y.type} has {of_y}. Transpose or "
            "reshape one of them."
        )


def is_discrete_product(inputs: Sequence[TensorVariable]) -> bool:
    """Return whether a product has only integers or Booleans to multiply, so that its gradient is zero."""
    return all(t.type.dtype in discrete_dtypes for t in inputs)


def gradient_of(x: TensorVariable, gradient: TensorVariable) -> TensorVariable:
    """Return a gradient with the dtype of its operand, and with its static dimensions of length 1.

    The gradient for integers has a floating-point dtype, as for real numbers.
    """
    if x.type.dtype not in discrete_dtypes:
        gradient = gradient_as(gradient, x.type.dtype)
    elif gradient.type.dtype in complex_dtypes:
        gradient = real(gradient)
    return gradient.with_static_shape(tuple([1 if length == 1 else None for length in x.type.shape]))


def dense_dot(a: Any, b: Any) -> TensorVariable:
    """Return the sum of products over the last dimension of `a` and the second to last of `b`; see `dot`."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    for t in (a, b):
        if not t.type.is_dense:
            raise TypeError(
                f"The dense dot product is only supported for dense types; {describe(t)} is a {t.type}. Use "
                "aesara.tensor.dot, aesara.sparse.dot or @."
            )
    if a.type.ndim == 0 or b.type.ndim == 0:
        return mul(a, b)
    if a.type.ndim > 2 or b.type.ndim > 2:
        return tensordot(a, b, [[a.type.ndim - 1], [max(0, b.type.ndim - 2)]])
    return _dot(a, b)


def dot(l: TensorLike, r: Any) -> TensorVariable:
    """Return the product of two tensors, as defined by `numpy.dot`.

    For vectors this is the inner product, for matrices the matrix product. A 0-d tensor is a factor. Otherwise it is
    the sum of products over the last dimension of `l` and the second to last of `r`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.dot(at.matrix("a"), at.vector("b")).type
    TensorType(float64, (None,))
    """
    for t, other, reflected in ((l, r, False), (r, l, True)):
        if isinstance(t, Variable) and hasattr(t, "__dot__") and not getattr(t.type, "is_dense", False):
            # Variables of other types have their own `__dot__`.
            product = t.__rdot__(other) if reflected and hasattr(t, "__rdot__") else t.__dot__(other)
            if product is not NotImplemented:
                return product
    return dense_dot(l, r)


def outer(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return the products of each element of one tensor and each element of another, as a matrix."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if x.type.ndim != 1:
        x = x.flatten()
    if y.type.ndim != 1:
        y = y.flatten()
    return _dot(x.dimshuffle(0, "x"), y.dimshuffle("x", 0))


def _summed_axes(
    a: TensorVariable, b: TensorVariable, axes: int | Sequence[int | Sequence[int]]
) -> tuple[list[int], list[int]]:
    """Return the axes that `tensordot` sums over, as two lists of equal length."""
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError(f"The number of axes to sum over must not be negative; got {axes}.")
        for name, t in (("a", a), ("b", b)):
            if axes > t.type.ndim:
                raise ValueError(
                    f"axes can not be larger than the dimension of {name} ({name}.ndim={t.type.ndim}, axes={axes})"
                )
        return list(range(a.type.ndim - axes, a.type.ndim)), list(range(axes))
    if not isinstance(axes, (list, tuple, np.ndarray)) or len(axes) != 2:
        raise ValueError(f"axes must be an integer or a pair of axes or lists of axes; got {axes!r}.")
    a_axes, b_axes = [[int(k) for k in np.atleast_1d(np.asarray(side, dtype=np.int64))] for side in axes]
    if len(a_axes) != len(b_axes):
        raise ValueError(f"Axes elements must have the same length; got {a_axes} and {b_axes}.")
    checked = []
    for name, t, side in (("a", a, a_axes), ("b", b, b_axes)):
        ndim = t.type.ndim
        if any(not -ndim <= k < ndim for k in side):
            raise ValueError(f"Axes {side} are out of bounds for {name}, which has {ndim} dimensions.")
        side = [k + ndim if k < 0 else k for k in side]
        if len(set(side)) != len(side):
            raise ValueError(f"An axis of {name} occurs twice in {side}.")
        checked.append(side)
    return checked[0], checked[1]


def tensordot(a: TensorLike, b: TensorLike, axes: Any = 2) -> TensorVariable:
    """Return the sum of products of two tensors over pairs of axes.

    Parameters
    ----------
    a, b
        The tensors.
    axes
        A number n, for the last n axes of `a` and the first n of `b`; or two
        lists of axes of equal length.

    Returns
    -------
    Variable
        A tensor with the other axes of `a`, then those of `b`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.tensordot(at.tensor3(), at.matrix(), [[2, 0], [0, 1]]).type
    TensorType(float64, (None,))
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    a_axes, b_axes = _summed_axes(a, b, axes)
    for i, j in zip(a_axes, b_axes):
        _check_lengths("tensordot", a, b, a.type.shape[i], b.type.shape[j])
    a_free = [k for k in range(a.type.ndim) if k not in a_axes]
    b_free = [k for k in range(b.type.ndim) if k not in b_axes]
    if a.type.ndim <= 2 and b.type.ndim <= 2 and len(a_axes) == 1:
        a = a if a_axes == [a.type.ndim - 1] else a.T
        b = b if b_axes == [0] else b.T
        return _dot(a, b)
    # Cast before rearranging, because integers have no gradient.
    dtype = aes.upcast(a.type.dtype, b.type.dtype)
    if dtype not in discrete_dtypes:
        a, b = (t.astype(dtype) if t.type.dtype in discrete_dtypes else t for t in (a, b))
    a_axes, b_axes = _least_moved(a_axes, b_axes, a_free, b_free)
    free_shape = [a.shape[k] for k in a_free] + [b.shape[k] for k in b_free]
    static_shape = tuple([a.type.shape[k] for k in a_free] + [b.type.shape[k] for k in b_free])
    rows = _as_matrix(a, a_free, a_axes)
    columns = _as_matrix(b, b_axes, b_free)
    product = _dot(rows, columns).reshape(free_shape, ndim=len(free_shape))
    return _narrow_type(product, static_shape)


def _narrow_type(x: TensorVariable, static_shape: tuple[int | None, ...]) -> TensorVariable:
    """Return a tensor with additional static lengths in its type."""
    if x.type.shape == static_shape or all(n is None for n in static_shape):
        return x
    merged = tuple([known if known is not None else own for known, own in zip(static_shape, x.type.shape)])
    return x if merged == x.type.shape else x.with_static_shape(merged)


def _least_moved(
    a_axes: list[int], b_axes: list[int], a_free: list[int], b_free: list[int]
) -> tuple[list[int], list[int]]:
    """Return the pairs of axes in the order for which the fewest tensors must be copied to become matrices."""

    def transpositions(pairs: list[tuple[int, int]]) -> int:
        summed = [list(side) for side in zip(*pairs)] or [[], []]
        return sum(not _in_order(x, y) and not _in_order(y, x) for x, y in zip(summed, (a_free, b_free), strict=True))

    pairs = list(zip(a_axes, b_axes, strict=True))
    best = min([pairs, sorted(pairs), sorted(pairs, key=lambda pair: pair[1])], key=transpositions)
    return [i for i, _ in best], [j for _, j in best]


def _in_order(first: list[int], last: list[int]) -> bool:
    """Return whether the given axes are all axes of a tensor, in ascending order."""
    return [*first, *last] == list(range(len(first) + len(last)))


def _as_matrix(x: TensorVariable, row_axes: list[int], column_axes: list[int]) -> TensorVariable:
    """Flatten a tensor to a matrix with the given row and column axes."""
    order = [*row_axes, *column_axes]
    rows, columns = (
        _product_of([x.shape[k] for k in row_axes]),
        _product_of([x.shape[k] for k in column_axes]),
    )
    if _in_order(column_axes, row_axes) and row_axes and column_axes:
        return x.reshape((columns, rows), ndim=2).T
    if order != list(range(x.type.ndim)):
        x = x.dimshuffle(order)
    return x.reshape((rows, columns), ndim=2)


def _product_of(lengths: list[TensorVariable]) -> TensorVariable:
    if not lengths:
        return as_tensor_variable(np.int64(1))
    return lengths[0] if len(lengths) == 1 else mul(*lengths)


class BatchedDot(Op):
    """The products of the matrices (or vectors) of two batches, pair by pair.

    The first dimension of both inputs counts the pairs.
    """

    __props__ = ()

    def make_node(self, *inputs: Any) -> Apply:
        if len(inputs) != 2:
            raise TypeError(f"BatchedDot takes two tensors; got {len(inputs)} arguments.")
        x, y = [as_tensor_variable(value) for value in inputs]
        for position, t in enumerate((x, y)):
            if t.type.ndim not in (2, 3):
                raise TypeError(
                    f"BatchedDot needs tensors with 2 or 3 dimensions; input {position} ({describe(t)}) has "
                    f"{t.type.ndim}."
                )
        if x.type.shape[0] is not None and y.type.shape[0] is not None and x.type.shape[0] != y.type.shape[0]:
            raise TypeError(f"BatchedDot needs batches of equal length; got types {x.type} and {y.type}.")
        _check_lengths("batched_dot", x, y, x.type.shape[-1], y.type.shape[1])
        batch = x.type.shape[0] if x.type.shape[0] is not None else y.type.shape[0]
        shape = (batch, *x.type.shape[1:-1], *y.type.shape[2:])
        return Apply(self, [x, y], [tensor_type(aes.upcast(x.type.dtype, y.type.dtype), shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x, y = inputs
        if x.shape[0] != y.shape[0] or x.shape[-1] != y.shape[1]:
            raise ValueError(f"batched_dot: shapes {x.shape} and {y.shape} do not match.")
        dtype = node.outputs[0].type.numpy_dtype
        rows = x if x.ndim == 3 else x[:, None, :]
        columns = y if y.ndim == 3 else y[:, :, None]
        with np.errstate(all="ignore"):
            product = np.matmul(rows.astype(dtype, copy=False), columns.astype(dtype, copy=False))
        output_storage[0][0] = product.reshape(x.shape[:-1] + y.shape[2:])

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        x_shape, y_shape = shapes
        return [tuple(x_shape[:-1]) + tuple(y_shape[2:])]

    def grad(self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable]) -> list[TensorVariable]:
        if is_discrete_product(inputs):
            return [t.zeros_like(dtype=config.floatX) for t in inputs]
        x, y = map(conj, inputs)
        gz = as_tensor_variable(output_grads[0])
        x3 = x if x.type.ndim == 3 else x.dimshuffle(0, "x", 1)
        y3 = y if y.type.ndim == 3 else y.dimshuffle(0, 1, "x")
        order: list[int | str] = [0]
        remaining_axes = iter(range(1, gz.type.ndim))
        order.append(next(remaining_axes) if x.type.ndim == 3 else "x")
        order.append(next(remaining_axes) if y.type.ndim == 3 else "x")
        g3 = gz.dimshuffle(order)
        x_grad = self(g3, y3.dimshuffle(0, 2, 1))
        y_grad = self(x3.dimshuffle(0, 2, 1), g3)
        if x.type.ndim == 2:
            x_grad = x_grad.dimshuffle(0, 2)
        if y.type.ndim == 2:
            y_grad = y_grad.dimshuffle(0, 1)
        return [gradient_of(t, gradient) for t, gradient in zip(inputs, (x_grad, y_grad))]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        return Dot.R_op(self, inputs, eval_points)  # type: ignore[arg-type]  # any product has these two terms


_batched_dot = BatchedDot()


def batched_dot(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Return the products of two batches of vectors or matrices, along the first dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.batched_dot(at.tensor3(), at.tensor3()).type
    TensorType(float64, (None, None, None))
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    for name, t in (("a", a), ("b", b)):
        if t.type.ndim == 0:
            raise TypeError(f"{name} (argument of batched_dot) must have at least one dimension.")
    if a.type.ndim == 1:
        return a.dimshuffle(0, *["x"] * (b.type.ndim - 1)) * b
    if b.type.ndim == 1:
        return a * b.dimshuffle(0, *["x"] * (a.type.ndim - 1))
    if a.type.ndim > 3 or b.type.ndim > 3:
        return batched_tensordot(a, b, [[a.type.ndim - 1], [max(1, b.type.ndim - 2)]])
    return _batched_dot(a, b)


def batched_tensordot(x: TensorLike, y: TensorLike, axes: Any = 2) -> TensorVariable:
    """Apply `tensordot` to each pair of entries along the first dimension of two batches.

    Axes are counted including the first dimension, which must not be among them.
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if isinstance(axes, (int, np.integer)):
        x_axes = list(range(x.type.ndim - axes, x.type.ndim))
        y_axes = list(range(1, axes + 1))
        x_axes, y_axes = _summed_axes(x, y, [x_axes, y_axes])
    else:
        x_axes, y_axes = _summed_axes(x, y, axes)
    if 0 in x_axes or 0 in y_axes:
        raise ValueError("batched_tensordot cannot sum over axis 0, which counts the pairs.")
    x_free = [k for k in range(1, x.type.ndim) if k not in x_axes]
    y_free = [k for k in range(1, y.type.ndim) if k not in y_axes]
    rows = x.dimshuffle([0, *x_free, *x_axes]).reshape(
        (x.shape[0], _product_of([x.shape[k] for k in x_free]), _product_of([x.shape[k] for k in x_axes])),
        ndim=3,
    )
    columns = y.dimshuffle([0, *y_axes, *y_free]).reshape(
        (y.shape[0], _product_of([y.shape[k] for k in y_axes]), _product_of([y.shape[k] for k in y_free])),
        ndim=3,
    )
    shape = [x.shape[0], *[x.shape[k] for k in x_free], *[y.shape[k] for k in y_free]]
    product = _batched_dot(rows, columns).reshape(shape, ndim=len(shape))
    batch = x.type.shape[0] if x.type.shape[0] is not None else y.type.shape[0]
    return _narrow_type(product, (batch, *[x.type.shape[k] for k in x_free], *[y.type.shape[k] for k in y_free]))
