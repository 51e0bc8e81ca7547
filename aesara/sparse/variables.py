"""Sparse variables and constants, with operators and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.graph.nodes import Variable
from aesara.scalar.types import ScalarType
from aesara.sparse.arithmetic import add, mul, sub
from aesara.sparse.arrangement import neg, transpose
from aesara.sparse.comparison import ge, gt, le, lt
from aesara.sparse.construction import as_sparse_or_tensor_variable
from aesara.sparse.conversion import Cast, dense, dense_from_sparse, sp_zeros_like
from aesara.sparse.parts import csm_data
from aesara.sparse.products import dot, structured_dot
from aesara.sparse.reductions import sp_sum
from aesara.sparse.slicing import getitem
from aesara.sparse.structured import conjugate
from aesara.sparse.type import SparseLike, SparseTensorType
from aesara.sparse.utils import hash_from_sparse
from aesara.tensor.core.tensor_constant import TensorConstant
from aesara.tensor.core.variable import TensorVariable, _tensor_py_operators
from aesara.tensor.shapes.shape import shape
from aesara.tensor.shapes.specify_shape import specify_shape
from aesara.user_code import warn_user

__all__ = ["SparseConstant", "SparseConstantSignature", "SparseVariable", "_sparse_py_operators", "override_dense"]


def _operand(other: SparseLike) -> Any:
    """Convert the other operand of an operator to a variable, or return NotImplemented if its own operator applies."""
    if isinstance(other, Variable) and not isinstance(other.type, (ScalarType, SparseTensorType)):
        return other if hasattr(other.type, "numpy_dtype") else NotImplemented
    try:
        return as_sparse_or_tensor_variable(other)
    except NotImplementedError:
        return NotImplemented


def _operator(name: str, function: Callable[[Any, Any], TensorVariable], reflected: bool = False) -> Callable[..., Any]:
    def method(self: object, other: SparseLike) -> TensorVariable:
        other = _operand(other)
        if other is NotImplemented:
            return other
        return function(other, self) if reflected else function(self, other)

    method.__name__ = name
    method.__doc__ = f"`aesara.sparse.{function.__name__}` of this matrix and another operand."
    return method


def _method_of_dense(name: str) -> Callable[..., Any]:
    """Return a method that converts the matrix to a dense one, and calls its method of this name."""
    dense_method = getattr(_tensor_py_operators, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        warn_user(
            f"Method {name} is not implemented for sparse variables. The variable will be converted to dense.",
        )
        return getattr(self.toarray(), name)(*map(dense, args), **kwargs)

    method.__name__ = name
    method.__doc__ = dense_method.__doc__
    return method


def override_dense(*methods: str) -> Callable[[type], type]:
    """Return a class decorator that implements the named methods by those of the dense matrix, with a warning.

    Parameters
    ----------
    *methods
        Names of methods or properties of dense tensors.
    """

    def decorate(cls: type) -> type:
        for name in methods:
            method: object = _method_of_dense(name)
            if isinstance(getattr(_tensor_py_operators, name), property):
                method = property(_property_of_dense(name), doc=getattr(_tensor_py_operators, name).__doc__)
            setattr(cls, name, method)
        return cls

    return decorate


def _property_of_dense(name: str) -> Callable[[Any], Any]:
    def get(self: Any) -> Any:
        warn_user(
            f"Method {name} is not implemented for sparse variables. The variable will be converted to dense.",
        )
        return getattr(self.toarray(), name)

    return get


def _matrix_product(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """Return the product of two matrices, by `structured_dot`, or of a matrix and a vector, by `dot`."""
    return structured_dot(x, y) if x.type.ndim == y.type.ndim == 2 else dot(x, y)


#: names of methods that are implemented by those of dense tensors
_OF_DENSE_TENSORS = [
    *"__truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __divmod__ __rdivmod__".split(),
    *"__pow__ __rpow__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__".split(),
    *"__lshift__ __rlshift__ __rshift__ __rrshift__".split(),
    *"__abs__ __invert__ __ceil__ __floor__ __trunc__ __round__".split(),
    *"exp exp2 expm1 log log1p log2 log10 sqrt sin cos tan arcsin arccos arctan sinh cosh tanh".split(),
    *"arcsinh arccosh arctanh ceil floor trunc deg2rad rad2deg real imag mT".split(),
    *"transpose ones_like copy dimshuffle reshape flatten ravel swapaxes squeeze diagonal trace".split(),
    *"fill clip round nonzero".split(),
    *"nonzero_values take choose compress searchsorted repeat sort argsort prod mean var std min max".split(),
    *"argmin argmax ptp any all cumsum cumprod norm".split(),
]


@override_dense(*_OF_DENSE_TENSORS)
class _sparse_py_operators(_tensor_py_operators):
    """Operators and methods of sparse variables, including shared variables."""

    T = property(lambda self: transpose(self), doc="The transpose, a csc matrix if this is a csr matrix.")

    __neg__ = lambda self: neg(self)
    __pos__: Callable[..., TensorVariable] = lambda self: self

    __add__ = _operator("__add__", add)
    __radd__ = _operator("__radd__", add, reflected=True)
    __sub__ = _operator("__sub__", sub)
    __rsub__ = _operator("__rsub__", sub, reflected=True)
    __mul__ = _operator("__mul__", mul)
    __rmul__ = _operator("__rmul__", mul, reflected=True)
    __lt__ = _operator("__lt__", lt)
    __le__ = _operator("__le__", le)
    __gt__ = _operator("__gt__", gt)
    __ge__ = _operator("__ge__", ge)
    __dot__ = _operator("__dot__", structured_dot)
    __rdot__ = _operator("__rdot__", structured_dot, reflected=True)
    __matmul__ = _operator("__matmul__", _matrix_product)
    __rmatmul__ = _operator("__rmatmul__", _matrix_product, reflected=True)

    # A class that defines comparisons must define the hash too.
    __hash__ = Variable.__hash__

    def __str__(self: Any) -> str:
        return str(self.name) if getattr(self, "name", None) else f"SparseVariable{{{self.format},{self.dtype}}}"

    __repr__ = __str__

    @property
    def format(self: Any) -> str:
        """Storage format: ``"csr"``, ``"csc"`` or ``"bsr"``."""
        return self.type.format

    @property
    def shape(self) -> TensorVariable:
        """The lengths of the dimensions, as a vector of int64."""
        return shape(self)

    @property
    def size(self) -> TensorVariable:
        """The number of stored values, as in `scipy.sparse`; for dense tensors it is the number of all elements."""
        return csm_data(self).shape[0]

    def __getitem__(self: Any, args: object) -> TensorVariable:
        """Return an element, a rectangle by slices, rows by a list, or elements by two lists."""
        return getitem(self, args)

    def toarray(self) -> TensorVariable:
        """Return the dense matrix."""
        return dense_from_sparse(self)

    def dot(self, right: Any) -> TensorVariable:
        """Return the product with another matrix; see `structured_dot`."""
        return structured_dot(self, right)

    def sum(self, axis: int | None = None, sparse_grad: bool = False) -> TensorVariable:  # type: ignore[override]  # no other parameter has a meaning
        """Return the sum of all elements, of columns (axis 0) or of rows (axis 1); see `sp_sum`."""
        return sp_sum(self, axis=axis, sparse_grad=sparse_grad)

    def astype(self, dtype: Any) -> TensorVariable:
        """Return the matrix in another dtype."""
        return Cast(dtype)(self)

    def conj(self) -> TensorVariable:
        """Return the complex conjugate."""
        return conjugate(self)

    conjugate = conj

    def zeros_like(self, dtype: Any = None) -> TensorVariable:
        """Return a matrix of this shape without stored values."""
        return sp_zeros_like(self, dtype)

    def with_static_shape(self, static_shape: tuple[int | None, ...]) -> TensorVariable:
        """Return the matrix with a static shape, and a run-time check of it."""
        return specify_shape(self, static_shape)


class SparseVariable(_sparse_py_operators, TensorVariable):
    """A symbolic sparse matrix."""


class SparseConstantSignature(tuple):
    """Merge key of a sparse constant: its type and all stored arrays."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or self[0] != other[0]:
            return False
        (a, x), (b, y) = self, other
        pairs = ((getattr(x, name), getattr(y, name)) for name in ("indptr", "indices", "data"))
        # Bits are compared: NaN equals itself, and zero differs from negative zero.
        return a == b and all(
            p.dtype == q.dtype and p.shape == q.shape and p.tobytes() == q.tobytes() for p, q in pairs
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        kind, x = self
        return hash((type(self), kind, x.shape, x.nnz))

    def aesara_hash(self) -> str:
        """Return a hash of the value that is the same in every process."""
        return hash_from_sparse(self[1])


class SparseConstant(_sparse_py_operators, TensorConstant):
    """A constant sparse matrix."""

    #: None, because elements that are not stored are zero
    unique_value = None

    def signature(self) -> SparseConstantSignature:  # type: ignore[override]  # of another kind of value
        """Return the merge key of the constant; equal constants have equal keys."""
        return SparseConstantSignature((self.type, self.data))

    def equals(self, other: object) -> bool:
        """Return whether `other`, a constant or a value, has the same type and value."""
        if not isinstance(other, Variable):
            other = as_sparse_or_tensor_variable(other)
        return super().equals(other)

    def __str__(self) -> str:
        text = f"{type(self).__name__}{{{self.format},{self.dtype},shape={self.data.shape},nnz={self.data.nnz}}}"
        return f"{self.name}{text[len(type(self).__name__) :]}" if self.name else text

    __repr__ = __str__


SparseTensorType.variable_type = SparseVariable
SparseTensorType.constant_type = SparseConstant
