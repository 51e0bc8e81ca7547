"""Scalar variables and constants, with operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from aesara.graph import hooks
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.scalar.types import ScalarType, get_scalar_type

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["ScalarConstant", "ScalarVariable"]

#: scalar variables, tensor variables without dimensions, nodes with one output, and numbers: what `as_scalar` converts
ScalarLike: TypeAlias = Variable | Apply | np.ndarray | np.generic | complex

#: Functions behind the operators and methods of variables, by name. `aesara.scalar.operators` fills this table, as ops
#: are defined in terms of variables.
OPERATIONS: dict[str, Callable[..., ScalarVariable]] = {}


class _scalar_py_operators:
    """Operators of scalar variables. ``==`` compares identity; for values see `aesara.scalar.eq`."""

    ndim = 0
    type: ScalarType

    # NumPy's scalars delegate operators to these; functions of NumPy raise an error.
    __array_ufunc__ = None
    __pandas_priority__ = 5000

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            f"NumPy needs an array, but {self} of type {self.type} is a variable, which has no value yet. "
            "Use functions of aesara.scalar or, for tensors, of aesara.tensor."
        )

    @property
    def shape(self) -> Variable:
        """An empty vector, as a tensor variable."""
        return hooks.empty_shape()

    @property
    def dtype(self) -> str:
        """The dtype of the values."""
        return self.type.dtype

    def __abs__(self) -> ScalarVariable:
        return OPERATIONS["abs"](self)

    def __neg__(self) -> ScalarVariable:
        return OPERATIONS["neg"](self)

    def __invert__(self) -> ScalarVariable:
        return OPERATIONS["invert"](self)

    def __lt__(self, other: object) -> ScalarVariable:
        return OPERATIONS["lt"](self, other)

    def __le__(self, other: object) -> ScalarVariable:
        return OPERATIONS["le"](self, other)

    def __gt__(self, other: object) -> ScalarVariable:
        return OPERATIONS["gt"](self, other)

    def __ge__(self, other: object) -> ScalarVariable:
        return OPERATIONS["ge"](self, other)

    def __and__(self, other: object) -> ScalarVariable:
        return OPERATIONS["and_"](self, other)

    def __rand__(self, other: object) -> ScalarVariable:
        return OPERATIONS["and_"](other, self)

    def __or__(self, other: object) -> ScalarVariable:
        return OPERATIONS["or_"](self, other)

    def __ror__(self, other: object) -> ScalarVariable:
        return OPERATIONS["or_"](other, self)

    def __xor__(self, other: object) -> ScalarVariable:
        return OPERATIONS["xor"](self, other)

    def __rxor__(self, other: object) -> ScalarVariable:
        return OPERATIONS["xor"](other, self)

    def __add__(self, other: object) -> ScalarVariable:
        return OPERATIONS["add"](self, other)

    def __radd__(self, other: object) -> ScalarVariable:
        return OPERATIONS["add"](other, self)

    def __sub__(self, other: object) -> ScalarVariable:
        return OPERATIONS["sub"](self, other)

    def __rsub__(self, other: object) -> ScalarVariable:
        return OPERATIONS["sub"](other, self)

    def __mul__(self, other: object) -> ScalarVariable:
        return OPERATIONS["mul"](self, other)

    def __rmul__(self, other: object) -> ScalarVariable:
        return OPERATIONS["mul"](other, self)

    def __truediv__(self, other: object) -> ScalarVariable:
        return OPERATIONS["true_divide"](self, other)

    def __rtruediv__(self, other: object) -> ScalarVariable:
        return OPERATIONS["true_divide"](other, self)

    def __floordiv__(self, other: object) -> ScalarVariable:
        return OPERATIONS["floor_divide"](self, other)

    def __rfloordiv__(self, other: object) -> ScalarVariable:
        return OPERATIONS["floor_divide"](other, self)

    def __mod__(self, other: object) -> ScalarVariable:
        return OPERATIONS["mod"](self, other)

    def __rmod__(self, other: object) -> ScalarVariable:
        return OPERATIONS["mod"](other, self)

    def __pow__(self, other: object) -> ScalarVariable:
        return OPERATIONS["pow"](self, other)

    def __rpow__(self, other: object) -> ScalarVariable:
        return OPERATIONS["pow"](other, self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"The scalar variable {self} has no truth value: it is only known when its graph is computed. "
            "Use aesara.scalar.switch to choose between values"
        )

    @property
    def real(self) -> ScalarVariable:
        """The real part."""
        return OPERATIONS["real"](self)

    @property
    def imag(self) -> ScalarVariable:
        """The imaginary part."""
        return OPERATIONS["imag"](self)

    def conj(self) -> ScalarVariable:
        """Return the complex conjugate."""
        return OPERATIONS["conj"](self)

    def astype(self, dtype: str | np.dtype) -> ScalarVariable:
        """Return the value cast to a dtype."""
        return OPERATIONS["cast"](self, dtype)

    def zeros_like(self, dtype: str | None = None) -> ScalarVariable:
        """Return zero, of the dtype of this variable or another one, as a function of this variable."""
        return self._fill(0, dtype)

    def ones_like(self, dtype: str | None = None) -> ScalarVariable:
        """Return one, of the dtype of this variable or another one, as a function of this variable."""
        return self._fill(1, dtype)

    def _fill(self, value: int, dtype: str | None) -> ScalarVariable:
        target = get_scalar_type(dtype or self.type.dtype)
        return OPERATIONS["second"](self, ScalarConstant(target, target.numpy_type(value)))


class ScalarVariable(_scalar_py_operators, Variable):
    """A variable whose values are numbers.

    Examples
    --------
    >>> from aesara.scalar import float64
    >>> x, y = float64("x"), float64("y")
    >>> (x + y).dtype
    'float64'
    """


class ScalarConstant(ScalarVariable, Constant):
    """A constant number.

    Examples
    --------
    >>> from aesara.scalar import constant
    >>> constant(3)
    ScalarConstant{3}
    """

    def signature(self) -> tuple:
        """Return the type and the bytes of the value: NaN equals itself, 0.0 differs from -0.0."""
        return self.type, self.data.tobytes()


ScalarType.variable_type = ScalarVariable
ScalarType.constant_type = ScalarConstant
