"""Documented path of `aesara.tensor.random.from_uniform`."""

from aesara.tensor.random.from_uniform import *
