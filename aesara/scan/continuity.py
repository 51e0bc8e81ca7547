"""Which variables of loops have gradients."""

from __future__ import annotations

from typing import Any

from aesara.graph.disconnected_type import disconnected_type
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import zeros_like

__all__ = ["is_continuous", "no_gradient"]


def is_continuous(variable: Any) -> bool:
    return isinstance(variable.type, TensorType) and variable.type.dtype.startswith(("float", "complex"))


def no_gradient(outer: Any) -> Any:
    """Zeros for a tensor, in floating point; what else there is has no gradient."""
    if not isinstance(outer.type, TensorType):
        return disconnected_type()
    return zeros_like(outer) if is_continuous(outer) else zeros_like(outer, dtype="floatX")
