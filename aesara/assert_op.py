"""Older path of `aesara.raise_op`."""

from aesara.raise_op import Assert, assert_op

__all__ = ["Assert", "assert_op"]
