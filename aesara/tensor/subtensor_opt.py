"""Older path of `aesara.tensor.rewriting.subtensor`."""

from aesara.graph.rewriting.older_names import moved_module
from aesara.tensor.rewriting import subtensor as _subtensor

__getattr__ = moved_module("aesara.tensor.subtensor_opt", _subtensor)
