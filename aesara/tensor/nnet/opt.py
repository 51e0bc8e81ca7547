"""Older path of `aesara.tensor.nnet.rewriting`."""

from aesara.compat.moved_modules import moved_module
from aesara.tensor.nnet import rewriting as _moved

__getattr__ = moved_module("aesara.tensor.nnet.opt", _moved)
