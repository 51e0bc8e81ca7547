"""Comparison of results with an oracle, within error bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def _position(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def _describe(
    got: np.ndarray, want: np.ndarray, wrong: np.ndarray, remark: str = "", inputs: Sequence[Any] = ()
) -> str:
    at = _position(wrong)
    text = f"at {at}: got {got[at]!r}, expected {want[at]!r}{remark} ({int(wrong.sum())} of {wrong.size} elements)"
    if inputs:
        shown = [np.broadcast_to(x, got.shape)[at] for x in inputs]
        text += f" for {shown}"
    return text


def unlike(got: Any, want: Any, dtype: str | None = None) -> str | None:
    """Describe a wrong dtype or shape; None if both are right."""
    dtype = str(want.dtype) if dtype is None else dtype
    if str(got.dtype) != dtype:
        return f"dtype {got.dtype}, expected {dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    return None


def unequal(got: np.ndarray, want: np.ndarray, inputs: Sequence[Any] = ()) -> str | None:
    """Describe elements not equal to the oracle's, or return None; NaN equals NaN, zeros have signs."""
    if got.dtype.kind == "c":
        return unequal(got.real, want.real, inputs) or unequal(got.imag, want.imag, inputs)
    wrong = np.asarray(got != want)
    if got.dtype.kind == "f":
        wrong &= ~(np.isnan(got) & np.isnan(want))
        wrong |= (want == 0) & (got == 0) & (np.signbit(got) != np.signbit(want))
    return _describe(got, want, wrong, inputs=inputs) if wrong.any() else None


def _kind_differs(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Return the mask of elements of which one is NaN or infinite and the other is not the same."""
    special = ~np.isfinite(want) | ~np.isfinite(got)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    return np.asarray(special & ~same)


def ulps(got: np.ndarray, high: np.ndarray, low: np.ndarray | float = 0.0) -> np.ndarray:
    """The distance from ``high + low`` in units of the last place of the dtype of `got`."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        magnitude = np.clip(np.abs(high), float(info.smallest_subnormal), float(info.max)).astype(got.dtype)
        unit = np.spacing(magnitude).astype("float64")
        unit = np.where(np.isfinite(unit), unit, float(info.max) * float(info.eps) / 2)
        distance = np.abs((got.astype("float64") - high) - low) / unit
    return np.where(np.isfinite(distance), distance, 0.0)


def beyond_ulps(
    got: np.ndarray,
    want: np.ndarray,
    allowed: float,
    truth: tuple[np.ndarray, np.ndarray | float] | None = None,
    inputs: Sequence[Any] = (),
) -> str | None:
    """Describe elements further from the truth than `want` by more than `allowed` ulps, or return None.

    Without a `truth`, `want` is taken for it. Zeros must have the same sign.
    """
    if got.dtype.kind == "c":
        return _complex_beyond_ulps(got, want, allowed, want if truth is None else truth[0], inputs)
    if got.dtype.kind != "f":
        return unequal(got, want, inputs)
    wrong = _kind_differs(got, want)
    if truth is not None:  # one beside the largest number: rounding decides whether that is infinite
        edge = np.abs(truth[0]) >= float(np.finfo(got.dtype).max) * (1 - 4 * float(np.finfo(got.dtype).eps))
        wrong &= ~(edge & ~np.isnan(got) & ~np.isnan(want) & (np.sign(got) == np.sign(want)))
    if wrong.any():
        return _describe(got, want, wrong, inputs=inputs)
    wrong = (want == 0) & (got == 0) & (np.signbit(got) != np.signbit(want))
    if wrong.any():
        return _describe(got, want, wrong, " with this sign", inputs)
    high, low = (want.astype("float64"), 0.0) if truth is None else truth
    error, reference = ulps(got, high, low), ulps(want, high, low)
    wrong = np.asarray(error > reference + allowed)
    if not wrong.any():
        return None
    at = _position(wrong)
    return _describe(got, want, wrong, f", {error[at]:.3g} ulp off; the oracle {reference[at]:.3g}", inputs)


def _complex_beyond_ulps(
    got: np.ndarray, want: np.ndarray, allowed: float, truth: np.ndarray, inputs: Sequence[Any]
) -> str | None:
    """Complex numbers: the error is relative to the absolute value, as cancellation between parts is nobody's fault."""
    for a, b in ((got.real, want.real), (got.imag, want.imag)):
        wrong = _kind_differs(a, b)
        if wrong.any():
            return _describe(got, want, wrong, inputs=inputs)
    with np.errstate(all="ignore"):
        size = np.abs(truth).astype(got.real.dtype)
        unit = np.spacing(np.where(np.isfinite(size), size, 1)).astype("float64")
        error, reference = np.abs(got - truth) / unit, np.abs(want - truth) / unit
    wrong = np.asarray(np.isfinite(size) & (error > reference + 2 * allowed))
    if not wrong.any():
        return None
    at = _position(wrong)
    return _describe(got, want, wrong, f", {error[at]:.3g} ulp off; the oracle {reference[at]:.3g}", inputs)


def beyond_bound(got: np.ndarray, want: np.ndarray, bound: np.ndarray) -> str | None:
    """Describe elements further than an absolute bound from `want`, of higher precision, or return None."""
    if got.dtype.kind not in "fc":
        return unequal(got, want.astype(got.dtype))
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        special = ~np.isfinite(rounded)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        wrong = np.where(special | ~np.isfinite(got), ~same, ~(np.abs(got - want) <= bound))
    if not wrong.any():
        return None
    at = _position(wrong)
    return _describe(got, want, wrong, f" within {np.broadcast_to(bound, wrong.shape)[at]:.3g}")
