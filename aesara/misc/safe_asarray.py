"""Documented path of `aesara.compat.safe_asarray`."""

from aesara.compat.safe_asarray import _asarray

__all__ = ["_asarray"]
