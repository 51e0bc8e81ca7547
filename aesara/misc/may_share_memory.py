"""Documented path of `aesara.compat.may_share_memory`."""

from aesara.compat.may_share_memory import may_share_memory

__all__ = ["may_share_memory"]
