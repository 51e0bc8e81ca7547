"""Scalar variables and constants, with operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aesara.graph import hooks
from aesara.graph.nodes import Constant, Variable
from aesara.scalar.arithmetic import abs as abs_op
from aesara.scalar.arithmetic import add, floor_divide, mod_check, mul, neg, sub, true_divide
from aesara.scalar.casting import cast
from aesara.scalar.comparison import ge, gt, le, lt
from aesara.scalar.complex import conj, imag, real
from aesara.scalar.conditional import second
from aesara.scalar.constants import literal
from aesara.scalar.logic import and_, invert, or_, xor
from aesara.scalar.power import pow
from aesara.scalar.types import ScalarType, get_scalar_type

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["ScalarConstant", "ScalarVariable"]


class _scalar_py_operators:
    """Operators of scalar variables. ``==`` compares identity; for values see `aesara.scalar.eq`."""

    ndim = 0
    type: ScalarType

    # NumPy's scalars delegate operators to these; functions of NumPy raise an error.
    __array_ufunc__ = None
    __pandas_priority__ = 5000

    def __array__(self, dtype: DTypeLike | None = None, copy: Any = None) -> Any:
        raise TypeError(
            f"NumPy needs an array, but {self} of type {self.type} is a variable, which has no value yet. "
            "Use functions of aesara.scalar or, for tensors, of aesara.tensor."
        )

    @property
    def shape(self) -> Any:
        """An empty vector, as a tensor variable."""
        return hooks.empty_shape()

    @property
    def dtype(self) -> str:
        """The dtype of the values."""
        return self.type.dtype

    def __abs__(self) -> Any:
        return abs_op(self)

    def __neg__(self) -> Any:
        return neg(self)

    def __invert__(self) -> Any:
        return invert(self)

    def __lt__(self, other: object) -> Any:
        return lt(self, other)

    def __le__(self, other: object) -> Any:
        return le(self, other)

    def __gt__(self, other: object) -> Any:
        return gt(self, other)

    def __ge__(self, other: object) -> Any:
        return ge(self, other)

    def __and__(self, other: object) -> Any:
        return and_(self, other)

    def __rand__(self, other: object) -> Any:
        return and_(other, self)

    def __or__(self, other: object) -> Any:
        return or_(self, other)

    def __ror__(self, other: object) -> Any:
        return or_(other, self)

    def __xor__(self, other: object) -> Any:
        return xor(self, other)

    def __rxor__(self, other: object) -> Any:
        return xor(other, self)

    def __add__(self, other: object) -> Any:
        return add(self, other)

    def __radd__(self, other: object) -> Any:
        return add(other, self)

    def __sub__(self, other: object) -> Any:
        return sub(self, other)

    def __rsub__(self, other: object) -> Any:
        return sub(other, self)

    def __mul__(self, other: object) -> Any:
        return mul(self, other)

    def __rmul__(self, other: object) -> Any:
        return mul(other, self)

    def __truediv__(self, other: object) -> Any:
        return true_divide(self, other)

    def __rtruediv__(self, other: object) -> Any:
        return true_divide(other, self)

    def __floordiv__(self, other: object) -> Any:
        return floor_divide(self, other)

    def __rfloordiv__(self, other: object) -> Any:
        return floor_divide(other, self)

    def __mod__(self, other: object) -> Any:
        return mod_check(self, other)

    def __rmod__(self, other: object) -> Any:
        return mod_check(other, self)

    def __pow__(self, other: object) -> Any:
        return pow(self, other)

    def __rpow__(self, other: object) -> Any:
        return pow(other, self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"The scalar variable {self} has no truth value: it is only known when its graph is computed. "
            "Use aesara.scalar.switch to choose between values"
        )

    @property
    def real(self) -> Any:
        """The real part."""
        return real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return imag(self)

    def conj(self) -> Any:
        """Return the complex conjugate."""
        return conj(self)

    def astype(self, dtype: Any) -> Any:
        """Return the value cast to a dtype."""
        return cast(self, dtype)

    def zeros_like(self, dtype: str | None = None) -> Any:
        """Return zero, of the dtype of this variable or another one, as a function of this variable."""
        return self._fill(0, dtype)

    def ones_like(self, dtype: str | None = None) -> Any:
        """Return one, of the dtype of this variable or another one, as a function of this variable."""
        return self._fill(1, dtype)

    def _fill(self, value: int, dtype: str | None) -> Any:
        return second(self, literal(value, self if dtype is None else get_scalar_type(dtype)()))


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
