"""Older path of `aesara.graph.features`."""

from aesara.graph import features as _moved
from aesara.graph.rewriting.older_names import moved_module

__getattr__ = moved_module("aesara.graph.toolbox", _moved)
