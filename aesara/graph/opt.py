"""Older path of `aesara.graph.rewriting.basic`."""

from aesara.compat.moved_modules import moved_module
from aesara.graph.rewriting import basic as _moved

__getattr__ = moved_module("aesara.graph.opt", _moved)
