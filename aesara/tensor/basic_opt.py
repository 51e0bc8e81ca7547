"""Older path of `basic`, `elemwise`, `shape` and `extra_ops` in `aesara.tensor.rewriting`."""

from aesara.compat.moved_modules import moved_module
from aesara.tensor.rewriting import basic as _basic
from aesara.tensor.rewriting import elemwise as _elemwise
from aesara.tensor.rewriting import extra_ops as _extra_ops
from aesara.tensor.rewriting import shape as _shape

__getattr__ = moved_module("aesara.tensor.basic_opt", _basic, _elemwise, _shape, _extra_ops)
