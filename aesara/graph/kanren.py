"""Older path of `aesara.graph.rewriting.kanren`."""

from aesara.graph.rewriting import kanren as _moved
from aesara.graph.rewriting.older_names import moved_module

__getattr__ = moved_module("aesara.graph.kanren", _moved)
