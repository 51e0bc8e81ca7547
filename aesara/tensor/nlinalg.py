"""Linear algebra by NumPy, under the documented path; see `aesara.tensor.linear_algebra`."""

from aesara.tensor.creation.diagonals import diag, extract_diag
from aesara.tensor.linear_algebra.determinant import Det, SLogDet, det, slogdet
from aesara.tensor.linear_algebra.eigen import Eig, Eigh, EighGrad, eig, eigh
from aesara.tensor.linear_algebra.inverse import (
    Inv,
    MatrixInverse,
    MatrixPinv,
    TensorInv,
    TensorSolve,
    inv,
    matrix_inverse,
    pinv,
    tensorinv,
    tensorsolve,
)
from aesara.tensor.linear_algebra.least_squares import Lstsq, lstsq
from aesara.tensor.linear_algebra.matrix_functions import matrix_dot, matrix_power
from aesara.tensor.linear_algebra.matrix_functions import matrix_trace as trace
from aesara.tensor.linear_algebra.qr import QRFull, QRIncomplete, qr
from aesara.tensor.linear_algebra.svd import SVD, svd
from aesara.tensor.products.norms import norm
from aesara.tensor.type import dvector, lscalar

__all__ = [
    "Det",
    "Eig",
    "Eigh",
    "EighGrad",
    "Inv",
    "Lstsq",
    "MatrixInverse",
    "MatrixPinv",
    "QRFull",
    "QRIncomplete",
    "SLogDet",
    "SVD",
    "TensorInv",
    "TensorSolve",
    "det",
    "diag",
    "dvector",
    "eig",
    "eigh",
    "extract_diag",
    "inv",
    "lscalar",
    "lstsq",
    "matrix_dot",
    "matrix_inverse",
    "matrix_power",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "svd",
    "tensorinv",
    "tensorsolve",
    "trace",
]
