"""Identity and triangular matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.tensor.core.casting import resolve_dtype
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import switch
from aesara.tensor.indexing.nonzero import nonzero
from aesara.tensor.shapes.specify_shape import specify_shape

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = [
    "eye",
    "identity_like",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "triu",
    "triu_indices",
    "triu_indices_from",
]


#: elements of a `Tri` that may become a constant
LARGEST_FOLDED = 256


class Eye(Op):
    """A matrix with ones on a diagonal and zeros elsewhere.

    Inputs are the numbers of rows and of columns, and which diagonal.

    Parameters
    ----------
    dtype
        ``floatX`` by default.

    Examples
    --------
    >>> Eye("int8")(2, 3, 0).type.shape
    (2, 3)
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: str | None = None):
        self.dtype = config.floatX if dtype is None else resolve_dtype(dtype)

    def make_node(self, n: Any, m: Any, k: IntegerLike) -> Apply:
        inputs = _integer_scalars(self, n=n, m=m, k=k)
        shape = tuple(_static_size(size) for size in inputs[:2])
        return Apply(self, inputs, [tensor_type(self.dtype, shape)()])

    def perform(self, node, inputs, output_storage):
        n, m, k = (int(value) for value in inputs)
        output_storage[0][0] = np.eye(n, m, k, dtype=self.dtype)

    def infer_shape(self, fgraph, node, input_shapes):
        return [tuple(node.inputs[:2])]

    def grad(self, inputs, output_gradients):
        return [grad_undefined(self, i, value) for i, value in enumerate(inputs)]


def _integer_scalars(op: Op, **values: Any) -> list[TensorVariable]:
    scalars = []
    for name, value in values.items():
        value = as_tensor_variable(value)
        if value.type.ndim != 0 or value.type.dtype not in discrete_dtypes:
            raise TypeError(f"{type(op).__name__}: `{name}` must be an integer scalar; got {value.type}.")
        scalars.append(value)
    return scalars


def _static_size(size: TensorVariable) -> int | None:
    known = known_integer(size)
    if known is not None and known < 0:
        raise ValueError(f"Sizes cannot be negative; got {known}.")
    return known


def eye(n: Any, m: Any = None, k: Any = 0, dtype: Any = None) -> TensorVariable:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n
        The number of rows.
    m
        The number of columns; `n` by default.
    k
        Which diagonal: 0 is the main one, positive ones are above it.
    dtype
        ``floatX`` by default.

    Examples
    --------
    >>> eye(3).type.shape
    (3, 3)
    """
    return Eye(dtype)(n, n if m is None else m, k)


def identity_like(x: TensorLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return a matrix of the shape of `x` with ones on the main diagonal.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> identity_like(at.matrix("x")).ndim
    2
    """
    x = as_tensor_variable(x)
    if x.type.ndim < 2:
        raise TypeError(f"`identity_like` needs a matrix; got {x.type}.")
    return eye(x.shape[0], x.shape[1], k=0, dtype=x.type.dtype if dtype is None else dtype)


class Tri(Op):
    """A matrix with ones at and below a diagonal and zeros above; see `Eye`.

    Examples
    --------
    >>> Tri("int8")(2, 3, 0).type.shape
    (2, 3)
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: str | None = None):
        self.dtype = config.floatX if dtype is None else resolve_dtype(dtype)

    def make_node(self, N: Any, M: Any, k: IntegerLike) -> Apply:
        inputs = _integer_scalars(self, N=N, M=M, k=k)
        shape = tuple(_static_size(size) for size in inputs[:2])
        return Apply(self, inputs, [tensor_type(self.dtype, shape)()])

    def perform(self, node, inputs, output_storage):
        n, m, k = (int(value) for value in inputs)
        output_storage[0][0] = np.tri(n, m, k, dtype=self.dtype)

    def do_constant_folding(self, fgraph, node):
        """Return False for large matrices; an element is a comparison of two indices, which is cheap."""
        shape = node.outputs[0].type.shape
        return None not in shape and shape[0] * shape[1] <= LARGEST_FOLDED

    def infer_shape(self, fgraph, node, input_shapes):
        return [tuple(node.inputs[:2])]

    def grad(self, inputs, output_gradients):
        return [grad_undefined(self, i, value) for i, value in enumerate(inputs)]


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> TensorVariable:
    """Return a matrix with ones at and below a diagonal; see `numpy.tri`.

    Examples
    --------
    >>> tri(3).type.shape
    (3, 3)
    """
    return Tri(dtype)(N, N if M is None else M, k)


def _lower_mask(m: TensorVariable, k: IntegerLike) -> TensorVariable:
    if m.type.ndim < 2:
        raise ValueError(f"Expected at least two dimensions; got {m.type}.")
    return tri(m.shape[m.type.ndim - 2], m.shape[m.type.ndim - 1], k=k, dtype="bool")


def tril(m: TensorLike, k: IntegerLike = 0) -> TensorVariable:
    """Return a matrix with the elements above a diagonal set to zero.

    Parameters
    ----------
    m
        A matrix, or a tensor of which the last two dimensions are matrices.
    k
        The diagonal: 0 is the main one, positive ones are above it.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> tril(at.matrix("m")).ndim
    2
    """
    m = as_tensor_variable(m)
    # Use `switch` instead of a product with a mask, because 0 * NaN and 0 * inf are NaN.
    return switch(_lower_mask(m, k), m, np.zeros((), m.type.dtype))


def triu(m: TensorLike, k: Any = 0) -> TensorVariable:
    """Return a matrix with the elements below a diagonal set to zero; see `tril`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> triu(at.matrix("m")).ndim
    2
    """
    m = as_tensor_variable(m)
    return switch(_lower_mask(m, k - 1), np.zeros((), m.type.dtype), m)


def _known_triangle(n: Any, k: IntegerLike, m: Any) -> int | None:
    """Return the number of entries on or below a diagonal of an n by m matrix, or None if it is unknown."""
    rows, diagonal, columns = known_integer(n), known_integer(k), known_integer(n if m is None else m)
    if rows is None or diagonal is None or columns is None or rows < 0 or columns < 0:
        return None

    def up_to(length: int) -> int:
        # The entries of rows of which the first has one, the next two, and so on, but no more than there are columns.
        whole = min(max(length, 0), columns)
        return whole * (whole + 1) // 2 + max(length - columns, 0) * columns

    return up_to(diagonal + rows) - up_to(diagonal)


def _positions(mask: TensorVariable, count: int | None) -> tuple[TensorVariable, TensorVariable]:
    """Return the row and column numbers of the true entries of a matrix with `count` true entries."""
    rows, columns = nonzero(mask)
    return (rows, columns) if count is None else (specify_shape(rows, count), specify_shape(columns, count))


def tril_indices(n: TensorLike, k: Any = 0, m: TensorLike | None = None) -> tuple[TensorVariable, TensorVariable]:
    """Return the positions at and below a diagonal of an n by m matrix.

    Examples
    --------
    >>> rows, columns = tril_indices(3)
    >>> rows.ndim
    1
    """
    return _positions(tri(n, m, k=k, dtype="bool"), _known_triangle(n, k, m))


def tril_indices_from(a: TensorLike, k: IntegerLike = 0) -> tuple[TensorVariable, TensorVariable]:
    """Return the positions at and below a diagonal of a matrix; see `tril_indices`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> len(tril_indices_from(at.matrix("a")))
    2
    """
    a = _matrix(a)
    return tril_indices(a.shape[0], k=k, m=a.shape[1])


def triu_indices(n: Any, k: Any = 0, m: Any = None) -> tuple[TensorVariable, TensorVariable]:
    """Return the positions at and above a diagonal of an n by m matrix.

    Examples
    --------
    >>> rows, columns = triu_indices(3)
    >>> columns.ndim
    1
    """
    below, rows, columns = _known_triangle(n, k - 1, m), known_integer(n), known_integer(n if m is None else m)
    known = None if below is None or rows is None or columns is None else rows * columns - below
    return _positions(~tri(n, m, k=k - 1, dtype="bool"), known)


def triu_indices_from(a: TensorLike, k: IntegerLike = 0) -> tuple[TensorVariable, TensorVariable]:
    """Return the positions at and above a diagonal of a matrix; see `triu_indices`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> len(triu_indices_from(at.matrix("a")))
    2
    """
    a = _matrix(a)
    return triu_indices(a.shape[0], k=k, m=a.shape[1])


def _matrix(a: TensorLike) -> TensorVariable:
    a = as_tensor_variable(a)
    if a.type.ndim != 2:
        raise ValueError(f"The input array must be two dimensional; got {a.type}.")
    return a
