"""Older path of `aesara.tensor.random.rewriting`."""

from aesara.compat.moved_modules import moved_module
from aesara.tensor.random import rewriting as _moved

__getattr__ = moved_module("aesara.tensor.random.opt", _moved)
