"""Documented path of `aesara.compat.sparse_draws`."""

from aesara.compat.sparse_draws import *
