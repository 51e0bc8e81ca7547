"""Comparing arrays, exactly and up to rounding."""

from __future__ import annotations

import numpy as np

from aesara.configdefaults import config
from aesara.tensor.core.tensor_like import TensorLike


def same_values(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays of one shape have equal elements, NaN equal to NaN."""
    if a.dtype.kind in "iu" and b.dtype.kind in "fc":
        return same_integers(a, b)
    if a.dtype.kind in "fc" and b.dtype.kind in "iu":
        return same_integers(b, a)
    equal = a == b
    if np.all(equal):
        return True
    if a.dtype.kind not in "fc" or b.dtype.kind not in "fc":
        return False
    return bool(np.all(equal | ((a != a) & (b != b))))


def same_integers(integers: np.ndarray, floats: np.ndarray) -> bool:
    """Return whether floating-point numbers equal integers exactly.

    NumPy compares them as float64, in which ``2**53 + 1`` equals ``2**53``.
    """
    if not np.all(integers == floats):
        return False
    if all_exact_as_float64(integers):
        return True
    # The difference of the float and the upper half of the integer is exact.
    upper = (integers >> np.asarray(32, integers.dtype)).astype("float64") * 2.0**32
    lower = (integers & np.asarray(0xFFFFFFFF, integers.dtype)).astype("float64")
    return bool(np.all(floats.real.astype("float64") - upper == lower))


def all_exact_as_float64(integers: np.ndarray) -> bool:
    """Return whether integers are so small that each is a float64; larger ones may be or not."""
    if integers.dtype.itemsize < 8 or integers.size == 0:
        return True
    return bool(integers.max() <= 2**53 and integers.min() >= -(2**53))


_TOLERANCES = {"float16": (5e-3, 1e-3), "float32": (1e-5, 1e-5), "complex64": (1e-5, 1e-5)}


def tolerances(a: TensorLike, b: TensorLike) -> tuple[float, float]:
    """Return the relative and absolute tolerance for comparing values of two dtypes; the larger ones apply.

    ``config.tensor__cmp_sloppy`` increases both by a factor of a hundred or ten thousand.
    """
    names = {str(getattr(value, "dtype", None)) for value in (a, b)}
    pairs = [_TOLERANCES[name] for name in names if name in _TOLERANCES] or [(1e-5, 1e-8)]
    scale = 100.0**config.tensor__cmp_sloppy
    return scale * max(rtol for rtol, _ in pairs), scale * max(atol for _, atol in pairs)


def values_eq_approx(
    a: TensorLike,
    b: TensorLike,
    allow_remove_inf: bool = False,
    allow_remove_nan: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> bool:
    """Return whether two arrays have one dtype and shape, and values that differ by rounding at most.

    Parameters
    ----------
    a, b
        The arrays to compare.
    allow_remove_inf
        Where `a` is infinite, `b` may have any value.
    allow_remove_nan
        Where `a` is NaN, `b` may have any value.
    rtol, atol
        Relative and absolute tolerance; by default they depend on the dtype.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    default_rtol, default_atol = tolerances(a, b)
    rtol = default_rtol if rtol is None else rtol
    atol = default_atol if atol is None else atol
    close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if allow_remove_nan:
        close |= np.isnan(a)
    if allow_remove_inf:
        close |= np.isinf(a)
    return bool(np.all(close))


def values_eq_approx_remove_inf(a: TensorLike, b: TensorLike) -> bool:
    """Like `values_eq_approx`, with any value of `b` accepted where `a` is infinite."""
    return values_eq_approx(a, b, True)


def values_eq_approx_remove_nan(a: TensorLike, b: TensorLike) -> bool:
    """Like `values_eq_approx`, with any value of `b` accepted where `a` is NaN."""
    return values_eq_approx(a, b, False, True)


def values_eq_approx_remove_inf_nan(a: TensorLike, b: TensorLike) -> bool:
    """Like `values_eq_approx`, with any value of `b` accepted where `a` is not finite."""
    return values_eq_approx(a, b, True, True)


def values_eq_approx_always_true(a: TensorLike, b: TensorLike) -> bool:
    """Accept any two values: for outputs whose content is not defined."""
    return True
