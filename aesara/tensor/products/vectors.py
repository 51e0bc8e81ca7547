"""Products of vectors and matrices, over the last dimensions of tensors; traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aesara import scalar as aes
from aesara.graph.messages import describe
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import diagonal
from aesara.tensor.elementwise.ops import and_, conj, mul
from aesara.tensor.joining.join_split import stack
from aesara.tensor.products.dot import dense_dot, tensordot
from aesara.tensor.products.matmul import matmul
from aesara.tensor.reductions.all_any import any as any_true
from aesara.tensor.reductions.sum_prod_max import sum as sum_along
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.shapes.rearranging import flatten, moveaxis, normalize_axes, sizes_of
from aesara.tensor.shapes.reshape import reshape, shape_padleft

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["cross", "inner", "kron", "matrix_transpose", "matvec", "trace", "vdot", "vecdot", "vecmat"]


def _operands(name: str, dtype: Any, **values: tuple[Any, int]) -> list[TensorVariable]:
    tensors = []
    for label, (value, ndim) in values.items():
        x = as_tensor_variable(value)
        if x.type.ndim < ndim:
            raise ValueError(f"{name}: {label} needs {ndim} or more dimensions; got {describe(x)} of type {x.type}.")
        tensors.append(x if dtype is None else x.astype(dtype))
    return tensors


def _sum_of_products(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """Return the sum of products over the last dimension of two tensors that broadcast."""
    dtype = aes.upcast(x.type.dtype, y.type.dtype)
    if dtype == "bool":
        return any_true(and_(x, y), axis=-1)
    return sum_along(mul(x, y), axis=-1, dtype=dtype)


def vecdot(x1: TensorLike, x2: TensorLike, axis: int = -1, dtype: DTypeLike | None = None) -> TensorVariable:
    """The inner products of vectors along an axis; of complex ones with the conjugate of the first.

    Parameters
    ----------
    x1, x2
        The tensors; other dimensions broadcast.
    axis
        The axis of the vectors.
    dtype
        The dtype of the result; by default the one both promote to.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).eval()
    array([3., 7.])
    """
    x1, x2 = _operands("vecdot", dtype, x1=(x1, 1), x2=(x2, 1))
    if axis != -1:
        x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    return _sum_of_products(conj(x1), x2)


def matvec(x1: Any, x2: Any, dtype: Any = None) -> TensorVariable:
    """The products of matrices and vectors; all but the last dimensions broadcast.

    Parameters
    ----------
    x1
        Matrices: ``(..., m, n)``.
    x2
        Vectors: ``(..., n)``.
    dtype
        The dtype of the result; by default the one both promote to.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.matvec(at.tensor("float64", (5, 2, 3)), at.vector()).type.shape
    (5, 2)
    """
    x1, x2 = _operands("matvec", dtype, x1=(x1, 2), x2=(x2, 1))
    if x1.type.ndim == 2 and x2.type.ndim == 1:
        return dense_dot(x1, x2)
    return _sum_of_products(x1, dimshuffle(x2, [*range(x2.type.ndim - 1), "x", x2.type.ndim - 1]))


def vecmat(x1: Any, x2: Any, dtype: Any = None) -> TensorVariable:
    """The products of vectors, conjugated if they are complex, and matrices; see `matvec`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.vecmat([1.0, 1.0], [[1.0, 2.0], [3.0, 4.0]]).eval()
    array([4., 6.])
    """
    x1, x2 = _operands("vecmat", dtype, x1=(x1, 1), x2=(x2, 2))
    if x1.type.ndim == 1 and x2.type.ndim == 2:
        return dense_dot(conj(x1), x2)
    row = dimshuffle(conj(x1), [*range(x1.type.ndim - 1), "x", x1.type.ndim - 1])
    return matmul(row, x2)[..., 0, :]


def matrix_transpose(x: Any) -> TensorVariable:
    """Every matrix of a batch transposed: the last two dimensions exchanged.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.matrix_transpose(at.tensor("float64", (5, 2, 3))).type.shape
    (5, 3, 2)
    """
    (x,) = _operands("matrix_transpose", None, x=(x, 2))
    ndim = x.type.ndim
    return dimshuffle(x, [*range(ndim - 2), ndim - 1, ndim - 2])


def inner(a: TensorLike, b: TensorLike) -> TensorVariable:
    """The sums of products over the last dimensions of both tensors.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.inner([1, 2, 3], [0, 1, 0]).eval()
    array(2)
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.type.ndim == 0 or b.type.ndim == 0:
        return mul(a, b)
    if a.type.ndim == 1 and b.type.ndim == 1:
        return dense_dot(a, b)
    return tensordot(a, b, axes=[[a.type.ndim - 1], [b.type.ndim - 1]])


def vdot(a: TensorLike, b: TensorLike) -> TensorVariable:
    """The inner product of two tensors as vectors, with the conjugate of the first."""
    a, b = [x if x.type.ndim == 1 else flatten(x) for x in (as_tensor_variable(a), as_tensor_variable(b))]
    return dense_dot(conj(a), b)


def kron(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Return the Kronecker product: each element of `a` is replaced by its product with `b`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.kron([1, 10], [1, 2, 3]).eval()
    array([ 1,  2,  3, 10, 20, 30])
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    ndim = max(a.type.ndim, b.type.ndim)
    a, b = [shape_padleft(x, ndim - x.type.ndim) if x.type.ndim < ndim else x for x in (a, b)]
    if ndim == 0:
        return mul(a, b)
    first = dimshuffle(a, [entry for axis in range(ndim) for entry in (axis, "x")])
    second = dimshuffle(b, [entry for axis in range(ndim) for entry in ("x", axis)])
    sizes = [n * m for n, m in zip(sizes_of(a), sizes_of(b))]
    return reshape(mul(first, second), sizes, ndim=ndim)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> TensorVariable:
    """The cross products of vectors with 3 (or 2) elements.

    Parameters
    ----------
    a, b
        The tensors; other dimensions broadcast. The length of the axes of the
        vectors must be known.
    axisa, axisb, axisc
        The axes of the vectors in `a`, in `b` and in the result.
    axis
        All three at once.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).eval()
    array([0., 0., 1.])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _operands("cross", None, a=(a, 1), b=(b, 1))
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    lengths = a.type.shape[-1], b.type.shape[-1]
    if any(n not in (2, 3) for n in lengths):
        raise ValueError(
            "cross: the vectors must have 2 or 3 elements, and their length must be known; "
            f"got types {a.type} and {b.type}."
        )
    (a0, a1, a2), (b0, b1, b2) = _components(a), _components(b)
    last = _difference(a0, b1, a1, b0)
    if lengths == (2, 2):
        return last
    components = [_difference(a1, b2, a2, b1), _difference(a2, b0, a0, b2), last]
    (axisc,) = normalize_axes(axisc, last.type.ndim + 1, "axisc")
    return stack(components, axis=axisc)


def _components(x: TensorVariable) -> list[TensorVariable | None]:
    """Return the three components of vectors, with None for a missing third one, which counts as zero."""
    return [x[..., 0], x[..., 1], x[..., 2] if x.type.shape[-1] == 3 else None]


def _difference(
    a: TensorVariable | None, b: TensorVariable | None, c: TensorVariable | None, d: TensorVariable | None
) -> TensorVariable:
    """``a * b - c * d``, where a factor that is None is zero."""
    if a is not None and b is not None:
        return a * b if c is None or d is None else a * b - c * d
    assert c is not None and d is not None, "two factors that are zero stand in one product"
    return -(c * d)


def trace(
    a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None
) -> TensorVariable:
    """The sums of the diagonals of the matrices along two axes.

    Parameters
    ----------
    a
        A tensor of at least two dimensions.
    offset
        Which diagonal: 0 is the main one, positive ones are above it.
    axis1, axis2
        The axes of rows and columns.
    dtype
        The dtype of the result; see `sum`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.trace([[1.0, 2.0], [3.0, 4.0]]).eval()
    array(5.)
    """
    return sum_along(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)
