"""Numbers that NumPy has a name for, and the index that adds a dimension."""

import math

import numpy as np

__all__ = ["e", "euler_gamma", "inf", "nan", "newaxis", "pi"]

pi: float = math.pi
e: float = math.e
euler_gamma: float = float(np.euler_gamma)
inf: float = math.inf
nan: float = math.nan
newaxis: None = None
