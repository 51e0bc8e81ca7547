"""Documented path of `aesara.compat.c_ops`."""

from aesara.compat.c_ops import COp, ExternalCOp, OpenMPOp

__all__ = ["COp", "ExternalCOp", "OpenMPOp"]
