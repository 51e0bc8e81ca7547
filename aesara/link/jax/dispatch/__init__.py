"""Conversions of Ops to functions of JAX, a module for each family."""

from aesara.link.jax.dispatch import (
    blockwise,
    control,
    elemwise,
    fourier,
    indexing,
    nlinalg,
    nnet,
    ordering,
    products,
    random,
    reductions,
    scalar,
    scan,
    sequences,
    shape,
    slinalg,
    subtensor,
    tensor_basic,
)
from aesara.link.jax.dispatch.basic import jax_funcify, jax_typify

__all__ = ["jax_funcify", "jax_typify"]
