"""Sigmoid functions and their approximations, under Aesara's path."""

from aesara.tensor.elementwise.ops import clip, sigmoid
from aesara.tensor.nnet.activations import hard_sigmoid, ultra_fast_sigmoid

__all__ = ["clip", "hard_sigmoid", "sigmoid", "ultra_fast_sigmoid"]
