"""Rules about tensors. Importing the package registers them."""

from aesara.tensor.rewriting import (
    basic,
    batches,
    blas,
    complements,
    elemwise,
    erf_tails,
    extra_ops,
    math,
    scattered,
    shape,
    softmax_entries,
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
    "extra_ops",
    "erf_tails",
    "math",
    "scattered",
    "shape",
    "softmax_entries",
    "special",
    "subtensor",
    "uncanonicalize",
    "views",
]
