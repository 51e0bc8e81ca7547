"""Documented path of `aesara.compat.rng_mrg`."""

from aesara.compat.rng_mrg import *
