"""Older path of `aesara.graph.rewriting.unify`."""

from aesara.compat.moved_modules import moved_module
from aesara.graph.rewriting import unify as _moved

__getattr__ = moved_module("aesara.graph.unify", _moved)
