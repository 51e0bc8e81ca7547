"""Public names about shared variables."""

from aesara.graph.generic import generic
from aesara.graph.shared import SharedVariable, collect_new_shareds, shared, shared_constructor

__all__ = ["SharedVariable", "collect_new_shareds", "generic", "shared", "shared_constructor"]
