"""Older path of `aesara.tensor.rewriting.uncanonicalize`."""

from aesara.graph.rewriting.older_names import moved_module
from aesara.tensor.rewriting import uncanonicalize as _uncanonicalize

__getattr__ = moved_module("aesara.tensor.opt_uncanonicalize", _uncanonicalize)
