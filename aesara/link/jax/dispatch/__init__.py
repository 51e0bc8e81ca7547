"""How Ops are computed by JAX: a module for each family."""

from aesara.link.jax.dispatch import (
    blockwise,
    control,
    elemwise,
    indexing,
    ordering,
    nlinalg,
    products,
    reductions,
    scalar,
    scan,
    sequences,
    shape,
    subtensor,
    tensor_basic,
    slinalg,
)
from aesara.link.jax.dispatch.basic import jax_funcify, jax_typify

__all__ = ["jax_funcify", "jax_typify"]
