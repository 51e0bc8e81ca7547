"""Older path of `aesara.graph.rewriting.unify`."""

from aesara.graph.rewriting import unify as _moved
from aesara.graph.rewriting.older_names import moved_module

__getattr__ = moved_module("aesara.graph.unify", _moved)
