"""Common parts of the ops of linear algebra: batches, dtypes, checks of shapes, and parts of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_type import TensorType, tensor_type
from aesara.tensor.creation.eye_tri import eye, tril, triu
from aesara.tensor.derivatives.gradient_operators import disconnected_grad
from aesara.tensor.elementwise import ops
from aesara.tensor.reductions.sum_prod_max import max as largest
from aesara.tensor.vectorization.blockwise import Blockwise, vectorize
from aesara.tensor.vectorization.gufunc_signature import parse_signature

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable


SINGULAR_VALUES_OF_INFINITIES = "a matrix with infinities or NaN has no singular values."


def scipy_linalg() -> Any:
    """`scipy.linalg`, imported when it is first needed, since SciPy is slow to import."""
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
        """A matrix in the place of one that the op fails for."""
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
    """The value of a function whose inputs have the core dimensions of a signature, or those of a batch before them.

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
    """Of matrices with infinities some versions of LAPACK find singular values that are NaN, from which
    pseudoinverses and factors without NaN would be made."""
    if np.isinf(x).any():
        raise np.linalg.LinAlgError(f"{op}: {SINGULAR_VALUES_OF_INFINITIES}")


def as_matrix(op: Op, value: Any, name: str = "a") -> TensorVariable:
    """The value as a matrix.

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
    """Return whether the matrix may be square, as far as its type says."""
    rows, columns = x.type.shape
    return rows is None or columns is None or rows == columns


def as_square(op: Op, value: Any, name: str = "a") -> TensorVariable:
    """The value as a matrix that may be square."""
    x = as_matrix(op, value, name)
    if not is_square(x):
        raise ValueError(
            f"{op}: `{name}` must be a square matrix; {describe(x)} has {x.type.shape[0]} rows and "
            f"{x.type.shape[1]} columns."
        )
    return x


def as_right_hand_side(op: Op, value: Any, name: str = "b") -> TensorVariable:
    """The value as a vector or a matrix."""
    x = as_tensor_variable(value)
    if x.type.ndim not in (1, 2):
        raise ValueError(f"{op}: `{name}` must be a matrix or a vector; got {describe(x)} of type {x.type}.")
    return x


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> Any:
    """The value of a parameter, if it is one of some choices."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
    return value


def lapack_dtype(op: Op, *inputs: TensorVariable) -> str:
    """The dtype in which LAPACK computes with these inputs: whole numbers and truth values become float64."""
    for x in inputs:
        if x.type.dtype == "float16":
            raise TypeError(
                f"{op}: there is no linear algebra in float16, the dtype of {describe(x)}. Cast it to float32."
            )
    dtypes = [np.dtype("float64") if x.type.dtype[0] in "biu" else np.dtype(x.type.dtype) for x in inputs]
    return str(np.result_type(*dtypes))


def cast_together(op: Any, *inputs: TensorVariable) -> list[TensorVariable]:
    """The inputs in the one dtype that LAPACK computes in."""
    dtype = lapack_dtype(op, *inputs)
    return [x if x.type.dtype == dtype else x.astype(dtype) for x in inputs]


def real_dtype(dtype: str) -> str:
    """The dtype of the parts of a complex number; that of a real number itself."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


# -- types of results ---------------------------------------------------------------


def common_size(op: Op, *sizes: int | None, what: str = "sizes") -> int | None:
    """The one size that static sizes agree on, None if none is known.

    Raises
    ------
    ValueError
        If they do not agree.
    """
    known = {size for size in sizes if size is not None}
    if len(known) > 1:
        raise ValueError(f"{op}: the {what} {', '.join(map(str, sorted(known)))} must be the same.")
    return known.pop() if known else None


def matrix_type(dtype: str, rows: int | None, columns: int | None) -> TensorType:
    """The type of a matrix."""
    return tensor_type(dtype, (rows, columns))


def vector_type(dtype: str, length: int | None) -> TensorType:
    """The type of a vector."""
    return tensor_type(dtype, (length,))


# -- parts of gradients ---------------------------------------------------------------


def is_connected(gradient: Variable) -> bool:
    """Return whether a gradient was given for an output."""
    return not isinstance(gradient.type, DisconnectedType)


def adjoint(x: TensorVariable) -> TensorVariable:
    """The conjugate transpose of a matrix, or of each in a batch."""
    *lead, rows, columns = range(x.type.ndim)
    turned: TensorVariable = x.dimshuffle(*lead, columns, rows)
    return ops.conj(turned) if x.type.dtype.startswith("complex") else turned


def one_norm(x: TensorVariable) -> TensorVariable:
    """The largest sum of sizes in a column of a matrix, or of each in a batch."""
    return largest(ops.abs(x).sum(axis=-2), axis=-1, initial=0)


def rows_of(x: TensorVariable) -> TensorVariable:
    """Vectors of a batch, as matrices of one row."""
    row: TensorVariable = x.dimshuffle(*range(x.type.ndim - 1), "x", x.type.ndim - 1)
    return row


def column(x: TensorVariable) -> TensorVariable:
    """A vector as a matrix with one column; a matrix as it is."""
    return x.dimshuffle(0, "x") if x.type.ndim == 1 else x


def identity_like(x: TensorVariable) -> TensorVariable:
    """The identity matrix of the order and dtype of a square matrix."""
    return eye(x.shape[0], dtype=x.type.dtype)


def triangle(x: TensorVariable, lower: bool, k: int = 0) -> TensorVariable:
    """A triangle of a matrix, without `k` diagonals at its long side, and zeros elsewhere."""
    return tril(x, -k) if lower else triu(x, k)


def of_triangle(gradient: TensorVariable, lower: bool) -> TensorVariable:
    """The gradient for the triangle that stands for a Hermitian matrix, from the one for the whole matrix.

    An element next to the diagonal stands for two; of the diagonal only the real part counts.
    """
    both = triangle(gradient + adjoint(gradient), lower)
    halves = 1 - 0.5 * eye(gradient.shape[0], dtype=real_dtype(gradient.type.dtype))
    return both * halves.astype(real_dtype(gradient.type.dtype))


def hermitian_of_triangle(x: TensorVariable, lower: bool = True) -> TensorVariable:
    """The Hermitian matrix that a triangle of a matrix stands for."""
    beside = triangle(x, lower, k=1)
    diagonal = triangle(x, lower) - beside
    return beside + adjoint(beside) + 0.5 * (diagonal + adjoint(diagonal))


def divided_by_gaps(
    x: TensorVariable, gaps: TensorVariable, scale: TensorVariable, weights: TensorVariable
) -> TensorVariable:
    """The elements of a matrix next to its diagonal, divided by the gaps between eigenvalues; zeros on the diagonal.

    Where a gap is zero within rounding, `scale` being the size of the eigenvalues, the element of `weights` and its
    opposite must be, too: then the result is zero, as it is for functions that all eigenvectors of one eigenvalue enter
    in the same way. Else there is no derivative, and the result is NaN.
    """
    dtype = gaps.type.dtype
    eps = np.finfo(dtype).eps
    n = x.shape[0].astype(dtype)
    closed = are_closed(gaps, scale)
    size = ops.abs(weights)
    bound = n * largest(size, initial=0) * np.asarray(64 * eps, dtype)
    ends = ops.and_(closed, ops.le(ops.maximum(size, size.T), bound))
    left_out = ops.or_(ends, ops.eq(eye(x.shape[0], dtype="int8"), 1))
    one, nan = np.asarray(1, dtype), np.asarray(np.nan, dtype)
    divided = ops.switch(left_out, np.asarray(0, x.type.dtype), x) / ops.switch(
        left_out, one, ops.switch(closed, nan, gaps)
    )
    return divided + zeros_without_derivative(gaps, closed).astype(x.type.dtype)


def are_closed(gaps: TensorVariable, scale: TensorVariable) -> TensorVariable:
    """Test which gaps between eigenvalues of magnitude `scale` are zero within rounding."""
    dtype = gaps.type.dtype
    return ops.le(ops.abs(gaps), gaps.shape[0].astype(dtype) * scale * np.asarray(4 * np.finfo(dtype).eps, dtype))


def zeros_without_derivative(gaps: TensorVariable, closed: TensorVariable) -> TensorVariable:
    """Zeros, whose derivatives are not finite where the gap between two eigenvalues is closed.

    What is added to them is a gradient. It is right there, but it would take how vectors turn, which is not determined,
    to find how it changes: a second derivative must not leave that out.
    """
    beside = ops.and_(closed, ops.eq(eye(gaps.shape[0], dtype="int8"), 0))
    one, zero = np.asarray(1, gaps.type.dtype), np.asarray(0, gaps.type.dtype)
    return ops.switch(beside, ops.sqrt(ops.switch(beside, gaps - disconnected_grad(gaps), one)), zero)


def gaps_between(w: TensorVariable) -> TensorVariable:
    """The matrix of differences between values, of the one for its column and the one for its row."""
    return w.dimshuffle("x", 0) - w.dimshuffle(0, "x")


def nan_like(x: np.ndarray) -> np.ndarray:
    """NaN in the shape of a value."""
    return np.full(x.shape, np.nan, dtype=x.dtype)
