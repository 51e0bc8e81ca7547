"""Older path of `aesara.scan.rewriting`."""

from aesara.compat.moved_modules import moved_module
from aesara.scan import rewriting as _moved

__getattr__ = moved_module("aesara.scan.opt", _moved)
