"""Older path of `aesara.graph.rewriting.kanren`."""

from aesara.compat.moved_modules import moved_module
from aesara.graph.rewriting import kanren as _moved

__getattr__ = moved_module("aesara.graph.kanren", _moved)
