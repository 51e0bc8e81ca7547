"""Inverses and pseudoinverses of matrices, and of tensors that act as matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import and_, eq
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_matrix,
    as_square,
    cast_together,
    common_size,
    hermitian_of_triangle,
    matrix_type,
    nan_like,
    of_triangle,
    refuse_infinities,
)
from aesara.tensor.linear_algebra.failures import with_on_error
from aesara.tensor.linear_algebra.solve import Solve
from aesara.tensor.products.dot import dot
from aesara.tensor.reductions.sum_prod_max import prod
from aesara.tensor.shapes.rearranging import normalize_axes
from aesara.tensor.shapes.reshape import reshape

__all__ = [
    "Inv",
    "MatrixInverse",
    "MatrixPinv",
    "TensorInv",
    "TensorSolve",
    "inv",
    "matrix_inverse",
    "pinv",
    "tensorinv",
    "tensorsolve",
]


class MatrixInverse(MatrixOp):
    """The inverse of a square matrix.

    Singular matrices raise `numpy.linalg.LinAlgError`, or give NaN with ``on_error="nan"``. If the matrix contains NaN,
    all elements of the inverse are NaN. For ``inv(A) @ b`` use `solve`.

    Examples
    --------
    >>> MatrixInverse()([[2.0, 0.0], [0.0, 4.0]]).eval()
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """

    __props__: tuple[str, ...] = ()
    gufunc_signature = "(n,n)->(n,n)"

    def __call__(self, x: Any, on_error: str = "raise", **kwargs: Any) -> Any:  # type: ignore[override]  # no input
        op = with_on_error(self, on_error)
        return super().__call__(x, **kwargs) if op is self else op(x, **kwargs)

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_square(self, x, "x"))
        size = common_size(self, *x.type.shape)
        return Apply(self, [x], [matrix_type(x.type.dtype, size, size)()])

    def read_of(self, a: np.ndarray) -> np.ndarray:
        return a

    def perform(self, node, inputs, output_storage, params=None):
        output_storage[0][0] = _inverse_of(inputs[0])

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        back = adjoint(outputs[0])
        return [-dot(dot(back, output_grads[0]), back)]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (point,) = eval_points
        if point is None:
            return [None]
        inverse = self(inputs[0])
        return [-dot(dot(inverse, point), inverse)]


def _inverse_of(x: np.ndarray) -> np.ndarray:
    """Return the inverse; all elements are NaN if the matrix contains NaN."""
    return nan_like(x) if np.isnan(x).any() and x.shape[0] == x.shape[1] else np.linalg.inv(x)


matrix_inverse = MatrixInverse()


class Inv(MatrixInverse):
    """The inverse of a square matrix, like `numpy.linalg.inv`; see `MatrixInverse`."""

    __props__ = ()


inv = Inv()


class MatrixPinv(MatrixOp):
    """The Moore-Penrose pseudoinverse of a matrix.

    Singular values are taken for zero up to the precision of the dtype times the larger dimension times the largest of
    them, as by `scipy.linalg.pinv`. Gradients hold where no singular value is about to become zero, or no longer is.

    Parameters
    ----------
    hermitian
        Whether the matrix is Hermitian; then only its lower triangle is read.

    Examples
    --------
    >>> MatrixPinv(False)([[2.0], [0.0]]).eval()
    array([[0.5, 0. ]])
    """

    __props__ = ("hermitian",)
    gufunc_signature = "(m,n)->(n,m)"

    def __init__(self, hermitian: bool):
        self.hermitian = hermitian

    def make_node(self, x: Any) -> Apply:
        x = as_square(self, x, "x") if self.hermitian else as_matrix(self, x, "x")
        (x,) = cast_together(self, x)
        return Apply(self, [x], [matrix_type(x.type.dtype, *x.type.shape[::-1])()])

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        cutoff = np.finfo(x.dtype).eps * max(x.shape)
        refuse_infinities(self, np.tril(x) if self.hermitian else x)
        result = np.linalg.pinv(x, rcond=cutoff, hermitian=bool(self.hermitian))
        output_storage[0][0] = np.asarray(result, dtype=x.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0][::-1]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Golub and Pereyra (1973), "The differentiation of pseudo-inverses ...", for constant rank."""
        (x,), (p,), (g,) = inputs, outputs, output_grads
        if self.hermitian:
            x = hermitian_of_triangle(x)
        whole = pinv_gradient(x, p, g)
        return [of_triangle(whole, True) if self.hermitian else whole]


def pinv_gradient(x: TensorVariable, p: TensorVariable, g: TensorVariable) -> TensorVariable:
    """Return the gradient for a matrix `x`, given the gradient `g` for its pseudoinverse `p`."""
    back = adjoint(p)
    direct = -dot(dot(back, g), back)
    beside_columns = dot(dot(adjoint(g) - dot(x, dot(p, adjoint(g))), p), back)
    beside_rows = dot(dot(back, p), adjoint(g) - dot(dot(adjoint(g), p), x))
    return direct + beside_columns + beside_rows


def pinv(x: TensorLike, hermitian: bool = False) -> TensorVariable:
    """Return the Moore-Penrose pseudoinverse of a matrix, or of each matrix of a batch.

    Singular values are treated as zero up to the machine epsilon times the larger dimension times the largest of them.
    The cutoff of `numpy.linalg.pinv`, 1e-15, is smaller than the rounding errors of larger matrices, and of all
    matrices in float32.

    Parameters
    ----------
    x
        The matrix.
    hermitian
        Whether it is Hermitian; then only its lower triangle is read.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.linalg.pinv([[2.0], [0.0]]).eval()
    array([[0.5, 0. ]])
    """
    return MatrixPinv(hermitian=hermitian)(x)


class TensorInv(ExpressionOp):
    """The inverse of a tensor that acts as a matrix, from its last dimensions to its first ``ind``.

    Parameters
    ----------
    ind
        How many dimensions count as rows.
    """

    __props__ = ("ind",)

    def __init__(self, ind: int = 2):
        if ind < 1:
            raise ValueError(f"Invalid ind argument: it must be positive; got {ind}.")
        self.ind = ind

    def make_node(self, a: Any) -> Apply:
        (a,) = cast_together(self, as_tensor_variable(a))
        if a.type.ndim <= self.ind:
            raise ValueError(f"{self} needs a tensor with more than {self.ind} dimensions; got {a.type}.")
        shape = a.type.shape
        return Apply(self, [a], [tensor_type(a.type.dtype, (*shape[self.ind :], *shape[: self.ind]))()])

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        (a,) = inputs
        lengths = [a.shape[k] for k in range(a.type.ndim)]
        rows, columns = lengths[: self.ind], lengths[self.ind :]
        inverse = matrix_inverse(reshape(a, (prod(rows), prod(columns))))
        return reshape(inverse, (*columns, *rows), ndim=a.type.ndim)

    def perform(self, node, inputs, output_storage, params=None):
        (a,) = inputs
        rows, columns = a.shape[: self.ind], a.shape[self.ind :]
        matrix = a.reshape(math.prod(rows), math.prod(columns))
        output_storage[0][0] = _inverse_of(matrix).reshape(columns + rows)

    def infer_shape(self, fgraph, node, shapes):
        (shape,) = shapes
        return [(*shape[self.ind :], *shape[: self.ind])]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (a,), (inverse,), (g,) = inputs, outputs, output_grads
        n = prod(a.shape[: self.ind])
        back = adjoint(reshape(inverse, (n, n)))
        gradient = -dot(dot(back, reshape(g, (n, n))), back)
        return [reshape(gradient, a.shape, ndim=a.type.ndim)]


def tensorinv(a: TensorLike, ind: int = 2) -> TensorVariable:
    """The inverse of a tensor that acts as a matrix; see `numpy.linalg.tensorinv`.

    Parameters
    ----------
    a
        The tensor: the product of its first ``ind`` lengths is that of the others.
    ind
        How many dimensions count as rows.

    Returns
    -------
    Variable
        A tensor for which ``tensordot(result, a, ind)`` is the identity.

    Examples
    --------
    >>> import numpy as np
    >>> import aesara.tensor as at
    >>> at.linalg.tensorinv(np.eye(6).reshape(2, 3, 6)).eval().shape
    (6, 2, 3)
    """
    return TensorInv(ind)(a)


_DO_NOT_FIT = (
    "tensorsolve: the first dimensions of `a`, as many as `b` has, and its other ones, must both have as many elements "
    "as `b`."
)
_tensors_fit = CheckAndRaise(np.linalg.LinAlgError, _DO_NOT_FIT)


class TensorSolve(ExpressionOp):
    """The solution x of ``tensordot(a, x, x.ndim) = b``.

    Parameters
    ----------
    axes
        Dimensions of `a` that are moved to the end first.
    """

    __props__ = ("axes",)

    def __init__(self, axes: Sequence[int] | None = None):
        self.axes = None if axes is None else tuple(axes)

    def _order(self, ndim: int) -> list[int]:
        """Return the order of the dimensions of `a`."""
        moved = normalize_axes(self.axes, ndim) if self.axes is not None else []
        return [axis for axis in range(ndim) if axis not in moved] + list(moved)

    def make_node(self, a: Any, b: Any) -> Apply:
        a, b = cast_together(self, as_tensor_variable(a), as_tensor_variable(b))
        if a.type.ndim < b.type.ndim:
            raise ValueError(f"{self}: `a` must have as many dimensions as `b` or more; got {a.type} and {b.type}.")
        shape = [a.type.shape[axis] for axis in self._order(a.type.ndim)]
        return Apply(self, [a, b], [tensor_type(a.type.dtype, tuple(shape[b.type.ndim :]))()])

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        a, b = inputs
        moved = a.dimshuffle(self._order(a.type.ndim))
        lengths = [moved.shape[k] for k in range(b.type.ndim, a.type.ndim)]
        rows, columns = prod([moved.shape[k] for k in range(b.type.ndim)]), prod(lengths)
        matrix = _tensors_fit(reshape(moved, (rows, columns)), and_(eq(rows, b.size), eq(columns, b.size)))
        solution = Solve(check_finite=False)(matrix, b.flatten())
        return reshape(solution, lengths, ndim=len(lengths))

    def perform(self, node, inputs, output_storage, params=None):
        a, b = inputs
        moved = a.transpose(self._order(a.ndim))
        lengths = moved.shape[b.ndim :]
        if not math.prod(moved.shape[: b.ndim]) == math.prod(lengths) == b.size:
            raise np.linalg.LinAlgError(_DO_NOT_FIT)
        solution = np.linalg.solve(moved.reshape(b.size, b.size), b.ravel())
        output_storage[0][0] = np.asarray(solution.reshape(lengths))

    def infer_shape(self, fgraph, node, shapes):
        return [tuple(shapes[0][axis] for axis in self._order(len(shapes[0]))[len(shapes[1]) :])]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (a, b), (x,), (g,) = inputs, outputs, output_grads
        order = self._order(a.type.ndim)
        moved = a.dimshuffle(order)
        n = b.size
        of_b = Solve(check_finite=False)(adjoint(reshape(moved, (n, n))), g.flatten())
        of_matrix = -(of_b.dimshuffle(0, "x") * adjoint(x.flatten().dimshuffle(0, "x")))
        of_a = reshape(of_matrix, moved.shape, ndim=a.type.ndim).dimshuffle([int(k) for k in np.argsort(order)])
        return [of_a, reshape(of_b, b.shape, ndim=b.type.ndim)]


def tensorsolve(a: TensorLike, b: TensorLike, axes: Sequence[int] | None = None) -> TensorVariable:
    """The solution x of ``tensordot(a, x, x.ndim) = b``; see `numpy.linalg.tensorsolve`.

    Parameters
    ----------
    a
        The coefficients: a tensor of shape ``b.shape + x.shape``, where both have the same number of elements.
    b
        The right-hand side.
    axes
        Dimensions of `a` that are moved to the end first.

    Examples
    --------
    >>> import numpy as np
    >>> import aesara.tensor as at
    >>> at.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), np.ones((2, 3))).eval()
    array([1., 1., 1., 1., 1., 1.])
    """
    return TensorSolve(axes)(a, b)
