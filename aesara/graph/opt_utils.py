"""Older path of `aesara.graph.rewriting.utils`."""

from aesara.compat.moved_modules import moved_module
from aesara.graph.rewriting import utils as _moved

__getattr__ = moved_module("aesara.graph.opt_utils", _moved)
