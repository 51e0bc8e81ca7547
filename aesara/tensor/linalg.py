"""Linear algebra: all functions and ops, under the names of `numpy.linalg` and `scipy.linalg`.

They live in `aesara.tensor.linear_algebra`.
"""

from aesara.tensor.linear_algebra.assume import *
from aesara.tensor.linear_algebra.banded import *
from aesara.tensor.linear_algebra.cholesky import *
from aesara.tensor.linear_algebra.determinant import *
from aesara.tensor.linear_algebra.eigen import *
from aesara.tensor.linear_algebra.failures import *
from aesara.tensor.linear_algebra.inverse import *
from aesara.tensor.linear_algebra.least_squares import *
from aesara.tensor.linear_algebra.lu import *
from aesara.tensor.linear_algebra.matrix_equations import *
from aesara.tensor.linear_algebra.matrix_functions import *
from aesara.tensor.linear_algebra.matrix_functions import matrix_trace as trace
from aesara.tensor.linear_algebra.qr import *
from aesara.tensor.linear_algebra.ranks import *
from aesara.tensor.linear_algebra.schur import *
from aesara.tensor.linear_algebra.solve import *
from aesara.tensor.linear_algebra.structured import *
from aesara.tensor.linear_algebra.svd import *
from aesara.tensor.products.norms import *
from aesara.tensor.products.vectors import kron
from aesara.tensor.sequences.windows import vander
