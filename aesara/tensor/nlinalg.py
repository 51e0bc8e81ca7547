"""Linear algebra by NumPy, under the documented path; see `aesara.tensor.linear_algebra`."""

from aesara.tensor.creation.diagonals import diag, extract_diag
from aesara.tensor.linalg import *
from aesara.tensor.type import dvector, lscalar
