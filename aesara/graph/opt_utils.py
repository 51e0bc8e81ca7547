"""Older path of `aesara.graph.rewriting.utils`."""

from aesara.graph.rewriting import utils as _moved
from aesara.graph.rewriting.older_names import moved_module

__getattr__ = moved_module("aesara.graph.opt_utils", _moved)
