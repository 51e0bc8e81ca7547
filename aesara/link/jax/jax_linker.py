"""Older path of `aesara.link.jax.linker`."""

from aesara.compat.moved_modules import moved_module
from aesara.link.jax import linker as _moved

__getattr__ = moved_module("aesara.link.jax.jax_linker", _moved)
