"""Rules about tensors. Importing the package registers them."""

from aesara.tensor.rewriting import (
    basic,
    batches,
    blas,
    complements,
    elemwise,
    erf_tails,
    math,
    scattered,
    shape,
    special,
    subtensor,
    uncanonicalize,
    views,
)

__all__ = [
    "basic",
    "batches",
    "blas",
    "complements",
    "elemwise",
    "erf_tails",
    "math",
    "scattered",
    "shape",
    "special",
    "subtensor",
    "uncanonicalize",
    "views",
]
