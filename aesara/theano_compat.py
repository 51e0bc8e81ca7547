"""Documented path of `aesara.compat.theano`."""

from aesara.compat.theano import TheanoFinder

__all__ = ["TheanoFinder"]
