"""Common parts of the ops of linear algebra: batches, dtypes, checks of shapes, and parts of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import TensorType, tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.eye_tri import eye, tril, triu
from aesara.tensor.derivatives.gradient_operators import disconnected_grad
from aesara.tensor.elementwise import ops
from aesara.tensor.reductions.sum_prod_max import max as largest
from aesara.tensor.vectorization.blockwise import Blockwise, vectorize
from aesara.tensor.vectorization.gufunc_signature import parse_signature

SINGULAR_VALUES_OF_INFINITIES = "a matrix with infinities or NaN has no singular values."


def scipy_linalg() -> Any:
    """Return `scipy.linalg`, which is imported at first use because this is slow."""
    import scipy.linalg

    return scipy.linalg


class MatrixOp(Op):
    """An op of matrices. Applied to tensors with more dimensions it becomes a `Blockwise` of itself.

    Subclasses have `gufunc_signature`, or choose one by the inputs in `signature_for`.
    """

    gufunc_signature: str
    __props__: tuple[str, ...]

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        """Return the gufunc signature for these inputs: the core dimensions of one application."""
        return self.gufunc_signature

    def read_of(self, a: np.ndarray) -> np.ndarray:
        """Return the entries of `a` that the op reads, zeros elsewhere; `NanOnError` checks that they are finite."""
        raise TypeError(
            f"NanOnError takes Solve, SolveTriangular, MatrixInverse, Eigh and SVD, not {self}. Cholesky has an option "
            "of its own, on_error."
        )

    def harmless(self, a: TensorVariable) -> TensorVariable:
        """Return a matrix for which the op does not fail, in place of one for which it does."""
        return identity_like(a)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        tensors = [as_tensor_variable(x) for x in inputs]
        signature = self.signature_for(tensors)
        core = parse_signature(signature)[0]
        if len(core) == len(tensors) and any(x.type.ndim > len(dims) for x, dims in zip(tensors, core)):
            return Blockwise(self, signature)(*tensors, **kwargs)
        return super().__call__(*tensors, **kwargs)


def for_batches(
    name: str, function: Callable[..., TensorVariable], signature: str, *inputs: TensorVariable
) -> TensorVariable:
    """Apply a function with the given signature of core dimensions, vectorized if the inputs have batch dimensions.

    Raises
    ------
    ValueError
        If an input has fewer dimensions; `name` is what the function is called.
    """
    core = parse_signature(signature)[0]
    for x, dims in zip(inputs, core, strict=True):
        if x.type.ndim < len(dims):
            raise ValueError(
                f"{name}: {describe(x)} has {x.type.ndim} dimension(s), but the signature {signature} needs "
                f"{len(dims)} and those of a batch before them."
            )
    if all(x.type.ndim == len(dims) for x, dims in zip(inputs, core)):
        return function(*inputs)
    return vectorize(function, signature)(*inputs)


# -- inputs -----------------------------------------------------------------------


def refuse_infinities(op: Op, x: np.ndarray) -> None:
    """Raise an error for infinities, for which some versions of LAPACK return NaN as singular values.

    Pseudoinverses and factors without NaN would be computed from these.
    """
    if np.isinf(x).any():
        raise np.linalg.LinAlgError(f"{op}: {SINGULAR_VALUES_OF_INFINITIES}")


def as_matrix(op: Op, value: Any, name: str = "a") -> TensorVariable:
    """Convert a value to a matrix.

    Raises
    ------
    ValueError
        If it has another number of dimensions.
    """
    x = as_tensor_variable(value)
    if x.type.ndim != 2:
        raise ValueError(f"{op}: `{name}` must be a matrix; got {describe(x)} of type {x.type}.")
    return x


def is_square(x: TensorVariable) -> bool:
    """Return whether the static shape of a matrix may be square."""
    rows, columns = x.type.shape
    return rows is None or columns is None or rows == columns


def as_square(op: Op, value: Any, name: str = "a") -> TensorVariable:
    """Convert a value to a matrix whose static shape may be square."""
    x = as_matrix(op, value, name)
    if not is_square(x):
        raise ValueError(
            f"{op}: `{name}` must be a square matrix; {describe(x)} has {x.type.shape[0]} rows and "
            f"{x.type.shape[1]} columns."
        )
    return x


def as_right_hand_side(op: Op, value: Any, name: str = "b") -> TensorVariable:
    """Convert a value to a vector or matrix."""
    x = as_tensor_variable(value)
    if x.type.ndim not in (1, 2):
        raise ValueError(f"{op}: `{name}` must be a matrix or a vector; got {describe(x)} of type {x.type}.")
    return x


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> Any:
    """Return the value of a parameter; raise an error unless it is one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
    return value


def lapack_dtype(op: Op, *inputs: TensorVariable) -> str:
    """Return the dtype in which LAPACK computes with these inputs; integers and Booleans become float64."""
    for x in inputs:
        if x.type.dtype == "float16":
            raise TypeError(
                f"{op}: there is no linear algebra in float16, the dtype of {describe(x)}. Cast it to float32."
            )
    dtypes = [np.dtype("float64") if x.type.dtype[0] in "biu" else np.dtype(x.type.dtype) for x in inputs]
    return str(np.result_type(*dtypes))


def cast_together(op: Any, *inputs: TensorVariable) -> list[TensorVariable]:
    """Cast the inputs to the dtype in which LAPACK computes."""
    dtype = lapack_dtype(op, *inputs)
    return [x if x.type.dtype == dtype else x.astype(dtype) for x in inputs]


def real_dtype(dtype: str) -> str:
    """Return the dtype of the real and imaginary parts of a complex dtype; real dtypes are returned unchanged."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


# -- types of results ---------------------------------------------------------------


def common_size(op: Op, *sizes: int | None, quantity: str = "sizes") -> int | None:
    """Return the common value of static sizes, or None if all are unknown.

    Raises
    ------
    ValueError
        If they do not agree.
    """
    known = {size for size in sizes if size is not None}
    if len(known) > 1:
        raise ValueError(f"{op}: the {quantity} {', '.join(map(str, sorted(known)))} must be the same.")
    return known.pop() if known else None


def matrix_type(dtype: str, rows: int | None, columns: int | None) -> TensorType:
    """The type of a matrix."""
    return tensor_type(dtype, (rows, columns))


def vector_type(dtype: str, length: int | None) -> TensorType:
    """The type of a vector."""
    return tensor_type(dtype, (length,))


# -- parts of gradients ---------------------------------------------------------------


def is_connected(gradient: Variable) -> bool:
    """Return whether an output has a gradient."""
    return not isinstance(gradient.type, DisconnectedType)


def adjoint(x: TensorVariable) -> TensorVariable:
    """Return the conjugate transpose of a matrix, or of each matrix of a batch."""
    *lead, rows, columns = range(x.type.ndim)
    turned: TensorVariable = x.dimshuffle(*lead, columns, rows)
    return ops.conj(turned) if x.type.dtype.startswith("complex") else turned


def one_norm(x: TensorVariable) -> TensorVariable:
    """Return the maximum column sum of absolute values of a matrix, or of each matrix of a batch."""
    return largest(ops.abs(x).sum(axis=-2), axis=-1, initial=0)


def rows_of(x: TensorVariable) -> TensorVariable:
    """Vectors of a batch, as matrices of one row."""
    row: TensorVariable = x.dimshuffle(*range(x.type.ndim - 1), "x", x.type.ndim - 1)
    return row


def column(x: TensorVariable) -> TensorVariable:
    """Return a vector as a matrix with one column; matrices are returned unchanged."""
    return x.dimshuffle(0, "x") if x.type.ndim == 1 else x


def identity_like(x: TensorVariable) -> TensorVariable:
    """The identity matrix of the order and dtype of a square matrix."""
    return eye(x.shape[0], dtype=x.type.dtype)


def triangle(x: TensorVariable, lower: bool, k: int = 0) -> TensorVariable:
    """Return a triangle of a matrix, without `k` diagonals at its long side, and zeros elsewhere."""
    return tril(x, -k) if lower else triu(x, k)


def of_triangle(gradient: TensorVariable, lower: bool) -> TensorVariable:
    """Return the gradient for a triangle of a Hermitian matrix, given that for the whole matrix.

    An off-diagonal element stands for two elements; only the real part of the diagonal counts.
    """
    both = triangle(gradient + adjoint(gradient), lower)
    halves = 1 - 0.5 * eye(gradient.shape[0], dtype=real_dtype(gradient.type.dtype))
    return both * halves.astype(real_dtype(gradient.type.dtype))


def hermitian_of_triangle(x: TensorVariable, lower: bool = True) -> TensorVariable:
    """Return the Hermitian matrix with the given triangle."""
    beside = triangle(x, lower, k=1)
    diagonal = triangle(x, lower) - beside
    return beside + adjoint(beside) + 0.5 * (diagonal + adjoint(diagonal))


def divided_by_gaps(
    x: TensorVariable, gaps: TensorVariable, scale: TensorVariable, weights: TensorVariable
) -> TensorVariable:
    """Divide off-diagonal elements of a matrix by gaps between eigenvalues; the diagonal becomes zero.

    If a gap is zero up to rounding (`scale` is the magnitude of eigenvalues), the element of `weights` and its mirror
    image must be zero too. Then the result is zero, as for functions that depend on all eigenvectors of an eigenvalue
    in the same way. Otherwise there is no derivative, and the result is NaN.
    """
    dtype = gaps.type.dtype
    eps = np.finfo(dtype).eps
    n = x.shape[0].astype(dtype)
    closed = are_closed(gaps, scale)
    size = ops.abs(weights)
    bound = n * largest(size, initial=0) * np.asarray(64 * eps, dtype)
    ends = ops.and_(closed, ops.le(ops.maximum(size, size.T), bound))
    left_out = ops.or_(ends, ops.eq(eye(x.shape[0], dtype="int8"), 1))
    unit, nan = np.asarray(1, dtype), np.asarray(np.nan, dtype)
    divided = ops.switch(left_out, np.asarray(0, x.type.dtype), x) / ops.switch(
        left_out, unit, ops.switch(closed, nan, gaps)
    )
    return divided + zeros_without_derivative(gaps, closed).astype(x.type.dtype)


def are_closed(gaps: TensorVariable, scale: TensorVariable) -> TensorVariable:
    """Return which gaps between eigenvalues of magnitude `scale` are zero up to rounding."""
    dtype = gaps.type.dtype
    return ops.le(ops.abs(gaps), gaps.shape[0].astype(dtype) * scale * np.asarray(4 * np.finfo(dtype).eps, dtype))


def zeros_without_derivative(gaps: TensorVariable, closed: TensorVariable) -> TensorVariable:
    """Return zeros whose derivatives are not finite where the gap between two eigenvalues is closed.

    They are added to a gradient that is correct at these points, but whose derivative depends on the undetermined
    rotation of eigenvectors; a second derivative must not ignore this.
    """
    beside = ops.and_(closed, ops.eq(eye(gaps.shape[0], dtype="int8"), 0))
    unit, zero = np.asarray(1, gaps.type.dtype), np.asarray(0, gaps.type.dtype)
    return ops.switch(beside, ops.sqrt(ops.switch(beside, gaps - disconnected_grad(gaps), unit)), zero)


def gaps_between(w: TensorVariable) -> TensorVariable:
    """Return the matrix of differences between the value of the column and that of the row."""
    return w.dimshuffle("x", 0) - w.dimshuffle(0, "x")


def nan_like(x: np.ndarray) -> np.ndarray:
    """NaN in the shape of a value."""
    return np.full(x.shape, np.nan, dtype=x.dtype)
