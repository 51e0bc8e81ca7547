"""Rules about tensors. Importing the package registers them."""

from aesara.tensor.rewriting import (
    basic,
    elemwise,
    math,
    shape,
    special,
    subtensor,
    uncanonicalize,
)

__all__ = ["basic", "elemwise", "math", "shape", "special", "subtensor", "uncanonicalize"]
