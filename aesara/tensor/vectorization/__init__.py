"""Vectorization rules of each family of ops; see `aesara.graph.vectorization`."""

from aesara.tensor.vectorization import (
    choices,
    convolution,
    correlation,
    diagonals,
    elementwise,
    expressions,
    fallback,
    fourier,
    indexing,
    products,
    reductions,
    shapes,
)

__all__ = [
    "choices",
    "convolution",
    "correlation",
    "diagonals",
    "elementwise",
    "expressions",
    "fallback",
    "fourier",
    "indexing",
    "products",
    "reductions",
    "shapes",
]
