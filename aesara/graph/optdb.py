"""Older path of `aesara.graph.rewriting.db`."""

from aesara.graph.rewriting import db as _moved
from aesara.graph.rewriting.older_names import moved_module

__getattr__ = moved_module("aesara.graph.optdb", _moved)
