"""Conversions of the Ops of `aesara.tensor.extra_ops`: the documented names."""

from __future__ import annotations

from aesara.link.jax.dispatch.indexing import jax_funcify_RavelMultiIndex, jax_funcify_UnravelIndex
from aesara.link.jax.dispatch.ordering import jax_funcify_SearchsortedOp, jax_funcify_Unique
from aesara.link.jax.dispatch.sequences import jax_funcify_CumOp, jax_funcify_Repeat
from aesara.link.jax.dispatch.shape import jax_funcify_BroadcastTo
from aesara.link.jax.dispatch.tensor_basic import (
    jax_funcify_Bartlett,
    jax_funcify_FillDiagonal,
    jax_funcify_FillDiagonalOffset,
)

__all__ = [
    "jax_funcify_Bartlett",
    "jax_funcify_BroadcastTo",
    "jax_funcify_CumOp",
    "jax_funcify_FillDiagonal",
    "jax_funcify_FillDiagonalOffset",
    "jax_funcify_RavelMultiIndex",
    "jax_funcify_Repeat",
    "jax_funcify_SearchsortedOp",
    "jax_funcify_Unique",
    "jax_funcify_UnravelIndex",
]
