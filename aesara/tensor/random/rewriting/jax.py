"""Rules about draws for programs that are compiled for one shape, under their documented path.

They are defined in `sizes`.
"""

from aesara.graph.rewriting.databases import optdb
from aesara.tensor.random.rewriting.sizes import size_parameter_as_tuple

__all__ = [name for name in dir() if not name.startswith("_")]
