"""Older path of `aesara.graph.features`."""

from aesara.compat.moved_modules import moved_module
from aesara.graph import features as _moved

__getattr__ = moved_module("aesara.graph.toolbox", _moved)
