"""Older path of `aesara.graph.rewriting.basic`."""

from aesara.graph.rewriting import basic as _moved
from aesara.graph.rewriting.older_names import moved_module

__getattr__ = moved_module("aesara.graph.opt", _moved)
