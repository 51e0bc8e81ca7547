"""Compiled functions for programs in other languages."""

from aesara.export.pointers import LogpPointer, VectorPointer, logp_pointer, vector_pointer

__all__ = ["LogpPointer", "VectorPointer", "logp_pointer", "vector_pointer"]
