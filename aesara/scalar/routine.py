"""Routines: functions of numbers with loops and branches, written once, in a small part of Python.

Series and continued fractions cannot be graphs of scalar ops.  A routine is a Python function of floats that the
reference calls as it is, and that lowering translates to machine code from its source.  It may hold

* assignments (also to several names), ``while``, ``if`` with ``elif`` and ``else``, and ``return`` outside of loops;
* numbers, arithmetic, comparisons (chained, too), ``and``, ``or``, ``not``, and ``a if condition else b``;
* calls of the functions of this module, of `abs`, `min` and `max`, of other routines, and of ordinary Python
  functions that only calculate: those are traced, so they may use all of Python that does not depend on values;
* names of numbers of its module.

All numbers are float64.  Arithmetic never raises: dividing by zero gives infinity or NaN.  Both sides of ``and``,
``or`` and conditional expressions are evaluated.  A routine must end for all arguments, NaN included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from aesara.scalar.native import Primitive, Special

__all__ = [
    "Known",
    "FloatRoutine",
    "SciPyFunction",
    "cos",
    "exp",
    "expm1",
    "floor",
    "horner",
    "isnan",
    "lgamma",
    "log",
    "log1p",
    "psi",
    "routine",
    "sin",
    "sqrt",
    "too_old_for",
    "where",
]


class SciPyFunction:
    """A function of `scipy.special` that is imported when it is first called, since SciPy is slow to import.

    Examples
    --------
    >>> print(SciPyFunction("expit")(0.0))
    0.5
    """

    def __init__(self, name: str):
        self.name = name
        self.__name__ = f"scipy.special.{name}"

    @cached_property
    def function(self) -> Callable:
        import scipy.special

        if not hasattr(scipy.special, self.name):
            raise too_old_for(self.name)
        return getattr(scipy.special, self.name)

    def __call__(self, *values: float | np.ndarray) -> Any:
        return self.function(*values)


def too_old_for(name: str) -> NotImplementedError:
    """The error where the installed SciPy lacks a function."""
    import scipy

    return NotImplementedError(f"SciPy {scipy.__version__} has no {name}: install a newer one.")


def _tracer(values: tuple[object, ...]) -> Callable | None:
    """Return the method `traced_call` of the first value that has one, or None."""
    return next((value.traced_call for value in values if hasattr(value, "traced_call")), None)


class Known:
    """A function that routines may call: how the reference computes it, and how native code does."""

    def __init__(self, reference: Callable, native: Primitive | Special):
        self.reference, self.native = reference, native

    def __call__(self, *values: float | np.ndarray) -> Any:
        traced_call = _tracer(values)
        return self.reference(*values) if traced_call is None else traced_call(self, *values)


class FloatRoutine:
    """A function of floats that is also the native fact of a scalar op; made by `routine`.

    Called with arrays, it broadcasts them and gives float64.
    """

    def __init__(self, function: Callable[..., float]):
        self.function = function
        self.name = self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    @property
    def parameters(self) -> tuple[str, ...]:
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount]

    @cached_property
    def _on_arrays(self) -> Callable:
        return np.frompyfunc(lambda *values: self.function(*map(np.float64, values)), len(self.parameters), 1)

    def __call__(self, *values: float | np.ndarray) -> Any:
        if all(isinstance(value, float) for value in values):
            return self.function(*map(np.float64, values))  # Python's floats would raise
        traced_call = _tracer(values)
        if traced_call is not None:
            return traced_call(self, *values)
        with np.errstate(all="ignore"):
            found = self._on_arrays(*[np.asarray(value, dtype="float64") for value in values])
        return np.asarray(found).astype("float64")[()]

    def __repr__(self) -> str:
        return f"FloatRoutine({self.name})"


def routine(function: Callable[..., float]) -> FloatRoutine:
    """Make a Python function a `FloatRoutine`; see the module for what it may hold.

    Examples
    --------
    >>> @routine
    ... def harmonic(n):
    ...     total = 0.0
    ...     while n >= 1.0:
    ...         total += 1.0 / n
    ...         n -= 1.0
    ...     return total
    >>> harmonic([1, 2, 4])
    array([1.        , 1.5       , 2.08333333])
    """
    return FloatRoutine(function)


exp = Known(np.exp, Primitive("exp"))
expm1 = Known(np.expm1, Primitive("expm1"))
log = Known(np.log, Primitive("log"))
log1p = Known(np.log1p, Primitive("log1p"))
sqrt = Known(np.sqrt, Primitive("sqrt"))
sin = Known(np.sin, Primitive("sin"))
cos = Known(np.cos, Primitive("cos"))
floor = Known(np.floor, Primitive("floor"))
isnan = Known(np.isnan, Primitive("isnan"))
where = Known(lambda condition, yes, no: yes if condition else no, Primitive("select"))
lgamma = Known(SciPyFunction("gammaln"), Special("gammaln"))
psi = Known(SciPyFunction("psi"), Special("psi"))


def horner(x: Any, coefficients: Iterable[float]) -> Any:
    """Evaluate a polynomial with the given coefficients, in order of increasing powers."""
    *lower, total = coefficients
    for coefficient in reversed(lower):
        total = total * x + coefficient
    return total
