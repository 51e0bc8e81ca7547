"""Older path of `aesara.graph.rewriting.db`."""

from aesara.compat.moved_modules import moved_module
from aesara.graph.rewriting import db as _moved

__getattr__ = moved_module("aesara.graph.optdb", _moved)
