"""Aesara's base of types with C code, and the type of any Python object, under Aesara's path."""

from aesara.graph.generic import Generic, generic
from aesara.graph.type import CType, Type

__all__ = ["CType", "Generic", "Type", "generic"]
