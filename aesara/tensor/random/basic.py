"""Distributions under their documented path.

They are defined in the modules of `distributions`.
"""

from numpy import broadcast_shapes

from aesara.tensor.random.distributions import *
from aesara.tensor.random.random_variable import RandomVariable
