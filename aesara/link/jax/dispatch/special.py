"""Table of special functions: those of `jax.scipy.special` that are as accurate as SciPy, else routines."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as jss

from aesara.scalar.routine import FloatRoutine
from aesara.scalar.routines.bessel import BESSEL
from aesara.scalar.routines.special_of_jax import ROUTINES

__all__ = ["SPECIAL"]


def _erfi(x: Any) -> Any:
    return jnp.where(jnp.isinf(x), x, 2 / math.sqrt(math.pi) * jnp.exp(x * x) * jss.dawsn(x))


def _owens_t(h: Any, a: Any) -> Any:
    far = jnp.copysign(0.25 * jss.erfc(abs(h) * math.sqrt(0.5)), a)
    return jnp.where(jnp.isinf(a) & ~jnp.isnan(h), far, jss.owens_t(h, a))


#: functions of float64 arrays, or routines, by name in SciPy; routines call functions of JAX as ``jax.NAME``
SPECIAL: dict[str, Callable[..., Any] | FloatRoutine] = {
    **{
        f"jax.{name}": getattr(jss, name) for name in ("gammaln", "digamma", "gammainc", "gammaincc", "erfinv", "ndtri")
    },
    **{name: getattr(jss, name) for name in ("betainc", "gamma", "i0", "i0e", "i1", "i1e", "ndtr", "ndtri")},
    **BESSEL,
    **ROUTINES,
}
if hasattr(jss, "dawsn"):  # since JAX 0.9
    SPECIAL.update(dawsn=jss.dawsn, erfi=_erfi, owens_t=_owens_t)
