"""Construction of sparse variables: by type, from matrices of SciPy, and from operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.sparse

from aesara.configdefaults import config
from aesara.graph.conversion import _as_symbolic
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.sparse.type import MATRIX_CLASSES, SparseLike, SparseTensorType, has_sparse_type, is_sparse_value
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_constant import TensorConstant
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable

__all__ = [
    "as_sparse",
    "as_sparse_or_tensor_variable",
    "as_sparse_variable",
    "as_symbolic_sparse",
    "bsr_dmatrix",
    "bsr_fmatrix",
    "bsr_matrix",
    "constant",
    "csc_dmatrix",
    "csc_fmatrix",
    "csc_matrix",
    "csr_dmatrix",
    "csr_fmatrix",
    "csr_matrix",
    "matrix",
]


def constant(x: scipy.sparse.spmatrix, name: str | None = None) -> TensorConstant:
    """Return a constant sparse variable.

    Parameters
    ----------
    x
        A matrix of `scipy.sparse` in one of the formats csr, csc and bsr. It is copied.
    name
        The name of the constant.

    Examples
    --------
    >>> import scipy.sparse
    >>> import aesara.sparse
    >>> aesara.sparse.constant(scipy.sparse.eye(3, format="csr")).type
    Sparse(float64, (3, 3), csr)
    """
    if not is_sparse_value(x):
        raise TypeError(f"sparse.constant must be called on a matrix of scipy.sparse; got {describe(x)}.")
    if x.format not in MATRIX_CLASSES:
        raise TypeError(
            f"Could not convert a matrix of the format {x.format} to SparseTensorType: convert it with tocsr or tocsc."
        )
    kind = SparseTensorType(x.format, x.dtype.name, shape=x.shape)
    return kind.make_constant(MATRIX_CLASSES[x.format](x, copy=True), name=name)


def as_sparse_variable(
    x: SparseLike | Apply, name: str | None = None, ndim: int | None = None, **kwargs: object
) -> TensorVariable:
    """Convert an object to a sparse variable.

    Parameters
    ----------
    x
        A sparse variable (returned unchanged), a node with one sparse output, or a matrix of `scipy.sparse`.
    name
        The name of the constant, if `x` is a matrix.
    ndim
        Accepted for compatibility; sparse variables are matrices.

    Raises
    ------
    TypeError
        For other objects, including dense variables; see `csr_from_dense`.
    """
    if isinstance(x, Apply):
        if len(x.outputs) != 1:
            raise ValueError(f"It is ambiguous which output of a multi-output Op has to be fetched: {x.op}.")
        x = x.outputs[0]
    if isinstance(x, Variable):
        if not has_sparse_type(x):
            raise TypeError(
                f"Variable type field must be a SparseTensorType: {describe(x)} has type {x.type}. Make it sparse "
                "with aesara.sparse.csr_from_dense or csc_from_dense."
            )
        return x  # type: ignore[return-value]  # its class follows from its type
    if not is_sparse_value(x):
        raise TypeError(f"Cannot convert {describe(x)} to SparseTensorType: expected a matrix of scipy.sparse.")
    return constant(x, name=name)


as_sparse = as_sparse_variable


def as_sparse_or_tensor_variable(x: SparseLike, name: str | None = None, **kwargs: Any) -> TensorVariable:
    """Convert a sparse object to a sparse variable, and other objects to tensor variables."""
    if is_sparse_value(x):
        return as_sparse_variable(x, name=name)
    return as_tensor_variable(x, name=name, **kwargs)


def as_operands(x: SparseLike, y: SparseLike) -> tuple[Any, Any]:
    """Convert the operands of a binary operation to variables."""
    return as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)


@_as_symbolic.register(scipy.sparse.spmatrix)
@_as_symbolic.register(scipy.sparse.sparray)
def as_symbolic_sparse(x: SparseLike, **kwargs: Any) -> TensorVariable:
    """Convert a SciPy matrix to a sparse constant, for `aesara.as_symbolic`."""
    return as_sparse_variable(x, **kwargs)


def matrix(format: str, name: str | None = None, dtype: Any = None) -> TensorVariable:
    """Return a sparse variable.

    Parameters
    ----------
    format
        ``"csr"``, ``"csc"`` or ``"bsr"``.
    name
        Its name.
    dtype
        Its dtype; ``config.floatX`` by default.

    Examples
    --------
    >>> import aesara.sparse
    >>> aesara.sparse.matrix("csc", "A", "float32").type
    Sparse(float32, (None, None), csc)
    """
    return SparseTensorType(format, config.floatX if dtype is None else dtype)(name)


def _matrix_of(format: str) -> Callable[..., TensorVariable]:
    def make(name: str | None = None, dtype: object = None) -> TensorVariable:
        return matrix(format, name, dtype)

    make.__name__ = make.__qualname__ = f"{format}_matrix"
    make.__doc__ = f"Return a sparse variable in {format} format; see `matrix`."
    return make


csr_matrix, csc_matrix, bsr_matrix = map(_matrix_of, ("csr", "csc", "bsr"))

csr_dmatrix, csr_fmatrix = SparseTensorType("csr", "float64"), SparseTensorType("csr", "float32")
csc_dmatrix, csc_fmatrix = SparseTensorType("csc", "float64"), SparseTensorType("csc", "float32")
bsr_dmatrix, bsr_fmatrix = SparseTensorType("bsr", "float64"), SparseTensorType("bsr", "float32")


def sparse_operand(op: object, x: Any) -> TensorVariable:
    """Convert an operand to a csr or csc variable; bsr matrices can only be converted to other formats."""
    x = as_sparse_variable(x)
    if x.type.format not in ("csr", "csc"):
        raise NotImplementedError(f"{op} takes matrices of the formats csr and csc; {describe(x)} is a {x.type}.")
    return x


def dense_operand(op: object, x: TensorLike, ndim: int | None = None) -> TensorVariable:
    """Convert an operand to a dense variable with `ndim` dimensions."""
    x = as_tensor_variable(x)
    if has_sparse_type(x):
        raise TypeError(f"{op} takes a dense tensor here; {describe(x)} is a {x.type}: use toarray().")
    if ndim is not None and x.type.ndim != ndim:
        raise TypeError(f"{op} takes a tensor with {ndim} dimension(s) here; {describe(x)} is a {x.type}.")
    return x
