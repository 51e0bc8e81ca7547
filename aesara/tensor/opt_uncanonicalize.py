"""Older path of `aesara.tensor.rewriting.uncanonicalize`."""

from aesara.compat.moved_modules import moved_module
from aesara.tensor.rewriting import uncanonicalize as _uncanonicalize

__getattr__ = moved_module("aesara.tensor.opt_uncanonicalize", _uncanonicalize)
