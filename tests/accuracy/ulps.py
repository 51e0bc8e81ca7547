"""Errors of floating-point results in units in the last place."""

from __future__ import annotations

import math

import mpmath
import numpy as np

#: digits that tell apart numbers whose difference is a thousandth of an ulp of a double, after much cancellation
DIGITS = 60


def spacing(exact: mpmath.mpf, dtype: str) -> mpmath.mpf:
    """The distance of neighbouring numbers of the dtype at `exact`."""
    facts = np.finfo(dtype)
    exponent = mpmath.frexp(exact)[1] - 1 if exact else facts.minexp
    return mpmath.mpf(2) ** (max(exponent, facts.minexp) - facts.nmant)


def ulps(got: float, exact: mpmath.mpf, dtype: str) -> float:
    """The distance of `got` from `exact`, a real number, an infinity or NaN, in units of the last place there.

    What is beyond the largest number of the dtype counts as infinite.
    """
    if mpmath.isnan(exact) or np.isnan(got):
        return 0.0 if mpmath.isnan(exact) and np.isnan(got) else math.inf
    beyond = mpmath.mpf(2) ** np.finfo(dtype).maxexp
    value = mpmath.sign(got) * beyond if np.isinf(got) else mpmath.mpf(float(got))
    if abs(exact) > beyond:
        exact = mpmath.sign(exact) * beyond
    return float(abs(value - exact) / spacing(min(exact, beyond / 2, key=abs), dtype))


def every_exponent(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of both signs whose exponents are spread over the whole range, subnormal ones included."""
    facts = np.finfo(dtype)
    exponents = rng.uniform(facts.minexp - facts.nmant, facts.maxexp, count)
    signs = rng.choice([-1.0, 1.0], count)
    with np.errstate(all="ignore"):
        return (signs * np.exp2(exponents)).astype(dtype)


def neighbours(points: object, dtype: str) -> np.ndarray:
    """Each point, the numbers of the dtype next to it, and some a little further away."""
    x = np.asarray(points, dtype)
    with np.errstate(all="ignore"):
        around = [np.nextafter(x, x.dtype.type(end)) for end in (-np.inf, np.inf)]
        around += [x * x.dtype.type(1 + s * d) for s in (-1, 1) for d in (1e-6, 1e-3)]
    return np.concatenate([x, *around])


def extremes(dtype: str) -> np.ndarray:
    """Zeros, the smallest and largest numbers of their kinds, and what is no number."""
    facts = np.finfo(dtype)
    positive = [0.0, facts.smallest_subnormal, facts.smallest_normal, facts.eps, 1.0, facts.max, np.inf]
    return np.array([*positive, *[-x for x in positive], np.nan], dtype)
