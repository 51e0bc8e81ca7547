"""Older path of `aesara.tensor.rewriting.subtensor`."""

from aesara.compat.moved_modules import moved_module
from aesara.tensor.rewriting import subtensor as _subtensor

__getattr__ = moved_module("aesara.tensor.subtensor_opt", _subtensor)
