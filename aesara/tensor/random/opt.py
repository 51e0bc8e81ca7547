"""Older path of `aesara.tensor.random.rewriting`."""

from aesara.graph.rewriting.older_names import moved_module
from aesara.tensor.random import rewriting as _moved

__getattr__ = moved_module("aesara.tensor.random.opt", _moved)
