"""Older path of `aesara.link.jax.dispatch`."""

from aesara.graph.rewriting.older_names import moved_module
from aesara.link.jax import dispatch as _moved

__getattr__ = moved_module("aesara.link.jax.jax_dispatch", _moved)
