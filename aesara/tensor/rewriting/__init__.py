"""Rules about tensors. Importing the package registers them."""

from aesara.tensor.rewriting import (
    basic,
    batches,
    blas,
    elemwise,
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
    "elemwise",
    "math",
    "scattered",
    "shape",
    "special",
    "subtensor",
    "uncanonicalize",
    "views",
]
