"""Scalar ops that functions of `jax.scipy.special` compute as accurately as ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.scipy.special as jss
from aesara import scalar as aes

__all__ = ["SPECIAL"]

#: For the class of a scalar op, a function of arrays that have the dtype it computes in.
SPECIAL: dict[type, Callable[..., Any]] = {
    type(aes.gammaln): jss.gammaln,
    type(aes.psi): jss.digamma,
}
