"""The type of sparse matrices, whose values are matrices of `scipy.sparse`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse

from aesara.graph.messages import lengths_text
from aesara.graph.nodes import Variable
from aesara.graph.type import HasDataType
from aesara.scalar import upcast
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import TensorType, tensor_type
from aesara.tensor.core.variable import TensorVariable

__all__ = ["SparseTensorType", "SparseType", "has_sparse_type", "is_sparse_value"]

#: classes of values by format
MATRIX_CLASSES = {"csr": scipy.sparse.csr_matrix, "csc": scipy.sparse.csc_matrix, "bsr": scipy.sparse.bsr_matrix}

#: formats that consist of three vectors: stored values, column or row numbers, and pointers to rows or columns
COMPRESSED = ("csr", "csc")


#: operands of functions of sparse matrices: variables, matrices of SciPy, arrays and numbers
SparseLike: TypeAlias = "TensorLike | scipy.sparse.spmatrix | scipy.sparse.sparray"


def is_sparse_value(x: object) -> bool:
    """Return whether a value is a sparse matrix or sparse array of SciPy."""
    return bool(scipy.sparse.issparse(x))


def has_sparse_type(x: object) -> bool:
    """Return whether `x` is a variable of a sparse type."""
    return isinstance(x, Variable) and isinstance(x.type, SparseTensorType)


class SparseTensorType(TensorType, HasDataType):
    """Type of matrices of `scipy.sparse` with a format, a dtype and a static shape.

    Parameters
    ----------
    format
        The storage format: ``"csr"`` (by rows), ``"csc"`` (by columns) or ``"bsr"`` (by rows of blocks).
    dtype
        A NumPy dtype or its name, or "floatX" for ``config.floatX``.
    shape
        The lengths of both dimensions, None if unknown.
    name
        The name of the type in printed output.
    broadcastable
        Dimensions of length 1; an older alternative to `shape`.

    Examples
    --------
    >>> from aesara.sparse import SparseTensorType
    >>> SparseTensorType("csr", "float64", (3, None))
    Sparse(float64, (3, None), csr)
    """

    __props__ = ("dtype", "format", "shape")
    is_dense = False

    #: class of the op that converts dense matrices; its parameter is the format
    from_dense: ClassVar[Any]

    format_cls = MATRIX_CLASSES

    def __init__(
        self,
        format: str,
        dtype: str | np.dtype | type,
        shape: Iterable[bool | int | None] | None = None,
        name: str | None = None,
        broadcastable: Iterable[bool] | None = None,
    ):
        if not isinstance(format, str) or format not in MATRIX_CLASSES:
            raise ValueError(f'unsupported format "{format}" not in list {", ".join(MATRIX_CLASSES)}')
        if shape is None and broadcastable is None:
            shape = (None, None)
        self.format = format
        super().__init__(dtype, shape, name=name, broadcastable=broadcastable)
        if self.ndim != 2:
            raise TypeError(f"A sparse variable is a matrix: its shape has two lengths; got {self.shape}.")
        self._hash = hash((type(self), self.format, self.dtype, self.shape))

    # -- identity ---------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        equal = super().__eq__(other)
        if equal is not True or self is other:
            return equal
        return isinstance(other, SparseTensorType) and self.format == other.format

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.format, self.dtype, self.shape, self.name)

    def __repr__(self) -> str:
        return self.name or f"Sparse({self.dtype}, {self.shape}, {self.format})"

    def __str__(self) -> str:
        return self.name or f"Sparse({self.dtype}, {lengths_text(self.shape)}, {self.format})"

    def clone(  # type: ignore[override]  # the format stands first, as in the constructor
        self,
        format: str | None = None,
        dtype: str | np.dtype | None = None,
        shape: Iterable[bool | int | None] | None = None,
        broadcastable: Iterable[bool] | None = None,
        **kwargs: Any,
    ) -> SparseTensorType:
        """Return a copy of the type with another format, dtype or shape."""
        if shape is None and broadcastable is None:
            shape = self.shape
        return type(self)(
            self.format if format is None else format,
            self.dtype if dtype is None else dtype,
            shape,
            kwargs.get("name", self.name),
            broadcastable,
        )

    # -- relations to other types ------------------------------------------

    def in_same_class(self, otype: object) -> bool:
        """Return whether the other type has the same format and dtype, and broadcasts along the same dimensions."""
        return isinstance(otype, SparseTensorType) and otype.format == self.format and super().in_same_class(otype)

    def is_super(self, otype: object) -> bool:
        """Return whether every value of the other type is also a value of this one."""
        return isinstance(otype, SparseTensorType) and otype.format == self.format and super().is_super(otype)

    def convert_variable(self, var: Any) -> TensorVariable | None:
        """Convert a variable to this type; dense matrices are converted to sparse ones."""
        if isinstance(var.type, SparseTensorType):
            return super().convert_variable(var) if var.type.format == self.format else None
        if not isinstance(var.type, TensorType) or var.type.ndim != 2 or var.type.dtype != self.dtype:
            return None
        return super().convert_variable(self.from_dense(self.format)(var))

    # -- values -------------------------------------------------------------

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Convert a value to a matrix of this type.

        Parameters
        ----------
        value
            A sparse matrix; unless `strict`, also a matrix of another format, a sparse array or a dense matrix.
        strict
            Accept only matrices with this format and dtype.
        allow_downcast
            Whether values may be rounded to the dtype.

        Raises
        ------
        TypeError
            If the value does not fit.
        """
        if isinstance(value, Variable):
            raise TypeError(
                "Expected an array-like object, but found a Variable: maybe you are trying to call a function on a "
                "(possibly shared) variable instead of a numeric array?"
            )
        kind = MATRIX_CLASSES[self.format]
        if not (isinstance(value, kind) and value.dtype == self.numpy_dtype):
            value = self._convert(value, kind, strict, allow_downcast)
        if any(known is not None and known != length for known, length in zip(self.shape, value.shape)):
            raise TypeError(f"The type's shape ({self.shape}) is not compatible with the data's ({value.shape})")
        return value

    def _convert(
        self, value: Any, kind: Any, strict: bool, allow_downcast: bool | None
    ) -> scipy.sparse.spmatrix | None:
        if strict:
            have = f"{value.format} matrix of {value.dtype}" if is_sparse_value(value) else type(value).__name__
            raise TypeError(f"{self} expected a sparse {self.format} matrix of {self.dtype}; got a {have}.")
        if not is_sparse_value(value):
            dense = np.asarray(value)
            if dense.ndim != 2 or dense.dtype.kind not in "biufc":
                raise TypeError(f"{self} expected a matrix; got {value!r} of type {type(value).__name__}.")
            value = dense
        if value.ndim != 2:
            raise TypeError(f"{self} expected a matrix; got a sparse array with {value.ndim} dimension(s).")
        if not allow_downcast and upcast(self.dtype, value.dtype.name) != self.dtype:
            raise TypeError(
                f"Expected {self.dtype} dtype but got {value.dtype}: {self} cannot store that without risking loss of "
                "precision. Convert it with astype, or allow downcasting."
            )
        return kind(value, dtype=self.dtype)

    @staticmethod
    def may_share_memory(a: object, b: object) -> bool:
        """Return whether two values could share memory."""
        return any(np.may_share_memory(p, q) for p in _memory_of(a) for q in _memory_of(b))

    @staticmethod
    def values_eq(a: scipy.sparse.spmatrix, b: scipy.sparse.spmatrix, force_same_dtype: bool = True) -> bool:
        """Return whether two matrices are equal element by element; NaN equals NaN."""
        if not _comparable(a, b) or (force_same_dtype and a.dtype != b.dtype):
            return False
        return TensorType.values_eq(*_on_union(a, b), force_same_dtype=force_same_dtype)

    @staticmethod
    def values_eq_approx(
        a: TensorLike | scipy.sparse.spmatrix,
        b: TensorLike | scipy.sparse.spmatrix,
        allow_remove_inf: bool = False,
        allow_remove_nan: bool = False,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> bool:
        """Return whether two matrices are equal up to rounding errors."""
        if not _comparable(a, b):
            return False
        return TensorType.values_eq_approx(*_on_union(a, b), allow_remove_inf, allow_remove_nan, rtol, atol)

    def get_shape_info(self, obj: Any) -> Any:
        """Return the information that `get_size` takes."""
        obj = self.filter(obj)
        return obj.shape, obj.data.size, obj.indices.size, obj.indptr.size, obj.nnz

    def get_size(self, shape_info: Any) -> int:
        """Return the number of bytes of a value, with indices of 32 bits."""
        _, data, indices, indptr, _ = shape_info
        return int(data * self.numpy_dtype.itemsize + (indices + indptr) * np.dtype("int32").itemsize)

    # -- values as vectors ---------------------------------------------------

    def part_types(self) -> tuple[TensorType, ...] | None:
        """Return the types of the parts of a value, or None for the format bsr."""
        if self.format not in COMPRESSED:
            return None
        return tensor_type(self.dtype, (None,)), *(tensor_type("int32", (length,)) for length in (None, None, 2))

    def take_apart(self, value: Any) -> list[np.ndarray]:
        """Return stored values, indices, pointers to the beginnings of rows or columns, and shape."""
        return [value.data[: value.indices.size], *map(as_indices, (value.indices, value.indptr, value.shape))]

    def put_together(self, parts: Sequence[np.ndarray]) -> scipy.sparse.spmatrix:
        """Return the matrix with the given parts; the inverse of `take_apart`."""
        data, indices, indptr, shape = parts
        return MATRIX_CLASSES[self.format]((data, indices, indptr), shape=tuple(map(int, shape)), copy=False)


#: old name
SparseType = SparseTensorType

_LARGEST = np.iinfo(np.int32).max


def as_indices(values: object) -> np.ndarray:
    """Convert integers of a sparse matrix to int32."""
    array = np.asarray(values)
    if array.dtype == np.int32:
        return array
    if array.size and array.max() > _LARGEST:
        raise OverflowError(f"The lengths and indices of sparse matrices have 32 bits; got {array.max()}.")
    return array.astype(np.int32)


def _memory_of(value: Any) -> tuple[np.ndarray, ...]:
    if isinstance(value, np.ndarray):
        return (value,)
    if is_sparse_value(value):
        return tuple(getattr(value, name) for name in ("data", "indices", "indptr") if hasattr(value, name))
    return ()


def _comparable(a: Any, b: Any) -> bool:
    return is_sparse_value(a) and is_sparse_value(b) and a.shape == b.shape and a.format == b.format


def _on_union(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the elements of two matrices at the positions stored in either."""
    a, b = (scipy.sparse.csr_matrix(matrix) for matrix in (a, b))
    patterns = [
        scipy.sparse.csr_matrix((np.ones(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape) for matrix in (a, b)
    ]
    rows, columns = (patterns[0] + patterns[1]).nonzero()
    if not rows.size:
        return np.zeros(0, a.dtype), np.zeros(0, b.dtype)
    return np.asarray(a[rows, columns]).ravel(), np.asarray(b[rows, columns]).ravel()
