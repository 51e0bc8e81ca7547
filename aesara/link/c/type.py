"""The type of values that are any Python object, under Aesara's path."""

from aesara.graph.generic import Generic, generic

__all__ = ["Generic", "generic"]
