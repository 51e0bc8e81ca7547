"""Compiled functions for programs that are not written in Python."""

from aesara.export.pointers import LogpPointer, VectorPointer, logp_pointer, vector_pointer

__all__ = ["LogpPointer", "VectorPointer", "logp_pointer", "vector_pointer"]
