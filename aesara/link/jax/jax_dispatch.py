"""Older path of `aesara.link.jax.dispatch`."""

from aesara.compat.moved_modules import moved_module
from aesara.link.jax import dispatch as _moved

__getattr__ = moved_module("aesara.link.jax.jax_dispatch", _moved)
