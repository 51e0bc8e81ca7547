"""Functions of images and signals: pooling and convolutions."""

from aesara.tensor.signal import pool
from aesara.tensor.signal.batches import vectorize_pooling as _batches

__all__ = ["pool"]
