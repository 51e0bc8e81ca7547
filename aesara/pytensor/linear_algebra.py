"""Conversion of products, linear algebra, and Blockwise Ops."""

from __future__ import annotations

from typing import Any

import pytensor.tensor.blas as ptblas
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot
from pytensor.tensor.type import TensorType as PyTensorTensorType

import aesara.tensor as at
from aesara.graph.traversal import io_toposort
from aesara.graph.vectorization import vectorize_graph
from aesara.pytensor.conversion import as_list, convert_op, convert_type, perform_in_python
from aesara.pytensor.perform import PerformOp
from aesara.pytensor.versions import classes, linear_algebra
from aesara.tensor.linear_algebra.cholesky import Cholesky, cho_solve
from aesara.tensor.linear_algebra.determinant import det, slogdet
from aesara.tensor.linear_algebra.eigen import EighGrad, EigvalshGrad, eig, eigh, eigvalsh
from aesara.tensor.linear_algebra.failures import NanOnError
from aesara.tensor.linear_algebra.inverse import matrix_inverse, pinv, tensorinv, tensorsolve
from aesara.tensor.linear_algebra.least_squares import lstsq
from aesara.tensor.linear_algebra.lu import PivotsToPermutation, lu, lu_factor
from aesara.tensor.linear_algebra.matrix_equations import solve_sylvester
from aesara.tensor.linear_algebra.matrix_functions import expm
from aesara.tensor.linear_algebra.qr import qr
from aesara.tensor.linear_algebra.schur import qz, schur
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular
from aesara.tensor.linear_algebra.structured import block_diag
from aesara.tensor.linear_algebra.svd import svd
from aesara.tensor.products.vectors import kron

_pytensor_ops = linear_algebra()


@convert_op.register(Blockwise)
def _blockwise(op: Blockwise, node: PyTensorApply, *inputs: Any) -> Any:
    ndims = [len(core) for core in op.inputs_sig]
    if all(x.type.ndim == ndim for x, ndim in zip(inputs, ndims)):
        return convert_op(op.core_op, node, *inputs)
    # Inputs without batch dimensions are not replaced, since they may be constants.
    their_inputs, our_inputs, batches = [], [], {}
    for variable, x, ndim in zip(node.inputs, inputs, ndims):
        if x.type.ndim > ndim:
            core_type = PyTensorTensorType(x.type.dtype, x.type.shape[x.type.ndim - ndim :])
            variable, core = core_type(), convert_type(core_type)()
            batches[core] = x
            x = core
        their_inputs.append(variable)
        our_inputs.append(x)
    outputs = as_list(convert_op(op.core_op, op.core_op.make_node(*their_inputs), *our_inputs))
    if any(isinstance(inner_node.op, PerformOp) for inner_node in io_toposort(our_inputs, outputs)):
        return perform_in_python(node, inputs)  # one call for the whole batch
    return vectorize_graph(outputs, batches)


@convert_op.register(Dot)
@convert_op.register(ptblas.Dot22)
def _dot(op: Any, node: PyTensorApply, x: Any, y: Any) -> Any:
    return at.dot(x, y)


@convert_op.register(ptblas.Dot22Scalar)
def _dot22_scalar(op: Any, node: PyTensorApply, x: Any, y: Any, a: Any) -> Any:
    return a * at.dot(x, y)


@convert_op.register(ptblas.BatchedDot)
def _batched_dot(op: Any, node: PyTensorApply, x: Any, y: Any) -> Any:
    return at.batched_dot(x, y)


@convert_op.register(ptblas.Gemv)
@convert_op.register(ptblas.Gemm)
def _gemm(op: Any, node: PyTensorApply, z: Any, a: Any, x: Any, y: Any, b: Any) -> Any:
    return b * z + a * at.dot(x, y)


def _ger(op: Any, node: PyTensorApply, z: Any, a: Any, x: Any, y: Any) -> Any:
    return z + a * at.outer(x, y)


for _class in classes(ptblas.__name__, ["Ger"]).values():  # up to 3.0
    convert_op.register(_class, _ger)


def _nan_on_error(op: Any, *inputs: Any) -> Any:
    """Return NaN instead of raising an error if a system has no solution, as PyTensor does."""
    return NanOnError(op)(*inputs)


@convert_op.register(_pytensor_ops.Cholesky)
def _cholesky(op: Any, node: PyTensorApply, x: Any) -> Any:
    return Cholesky(lower=op.lower, on_error="nan")(x)


@convert_op.register(_pytensor_ops.SolveTriangular)
def _solve_triangular(op: Any, node: PyTensorApply, a: Any, b: Any) -> Any:
    return _nan_on_error(SolveTriangular(lower=op.lower, unit_diagonal=op.unit_diagonal), a, b)


@convert_op.register(_pytensor_ops.Solve)
def _solve(op: Any, node: PyTensorApply, a: Any, b: Any) -> Any:
    assume_a = op.assume_a if op.assume_a in ("sym", "her", "pos") else "gen"  # bands are a matter of speed
    return _nan_on_error(Solve(assume_a=assume_a, lower=op.lower), a, b)


@convert_op.register(_pytensor_ops.CholeskySolve)
def _cholesky_solve(op: Any, node: PyTensorApply, c: Any, b: Any) -> Any:
    return cho_solve((c, op.lower), b)


@convert_op.register(_pytensor_ops.Expm)
def _expm(op: Any, node: PyTensorApply, x: Any) -> Any:
    return expm(x)


@convert_op.register(_pytensor_ops.Eigvalsh)
def _eigvalsh(op: Any, node: PyTensorApply, x: Any, b: Any = None) -> Any:
    if b is None:
        return eigvalsh(x, lower=op.lower)
    # The eigenvalues of x v = w b v, with b = L L', are those of L^-1 x L'^-1.
    triangle = at.tril(x) if op.lower else at.triu(x)
    whole = triangle + triangle.T - at.diag(at.diag(x))
    factor = Cholesky(lower=True, on_error="nan")(b if op.lower else b.T)
    half = _nan_on_error(SolveTriangular(lower=True), factor, whole)
    return eigvalsh(_nan_on_error(SolveTriangular(lower=True), factor, half.T))


def _eigh_grad(op: Any, node: PyTensorApply, *inputs: Any) -> Any:
    return EighGrad(op.UPLO)(*inputs)


def _eigvalsh_grad(op: Any, node: PyTensorApply, *inputs: Any) -> Any:
    return EigvalshGrad(op.lower)(*inputs)


for _module, _name, _function in (
    ("pytensor.tensor.nlinalg", "EighGrad", _eigh_grad),
    ("pytensor.tensor.slinalg", "EigvalshGrad", _eigvalsh_grad),
):
    for _class in classes(_module, [_name]).values():  # 2.38
        convert_op.register(_class, _function)


@convert_op.register(_pytensor_ops.BlockDiagonal)
def _block_diagonal(op: Any, node: PyTensorApply, *matrices: Any) -> Any:
    return block_diag(*matrices)


@convert_op.register(_pytensor_ops.MatrixInverse)
def _inverse(op: Any, node: PyTensorApply, x: Any) -> Any:
    return matrix_inverse(x)


@convert_op.register(_pytensor_ops.MatrixPinv)
def _pinv(op: Any, node: PyTensorApply, x: Any) -> Any:
    return pinv(x, hermitian=op.hermitian)


@convert_op.register(_pytensor_ops.Det)
def _det(op: Any, node: PyTensorApply, x: Any) -> Any:
    return det(x)


@convert_op.register(_pytensor_ops.SLogDet)
def _slogdet(op: Any, node: PyTensorApply, x: Any) -> Any:
    return list(slogdet(x))


@convert_op.register(_pytensor_ops.Eigh)
def _eigh(op: Any, node: PyTensorApply, x: Any, b: Any = None) -> Any:
    lower = op.lower if hasattr(op, "lower") else op.UPLO == "L"  # 3.0, and 2.38
    return list(eigh(x, b, UPLO="L" if lower else "U"))


@convert_op.register(_pytensor_ops.Eig)
def _eig(op: Any, node: PyTensorApply, x: Any) -> Any:
    if not x.type.dtype.startswith("complex"):  # PyTensor has its own dtypes for eigenvalues of real matrices
        return perform_in_python(node, [x])
    return list(eig(x))


@convert_op.register(_pytensor_ops.SVD)
def _svd(op: Any, node: PyTensorApply, x: Any) -> Any:
    return svd(x, op.full_matrices, op.compute_uv)


@convert_op.register(_pytensor_ops.KroneckerProduct)
def _kron(op: Any, node: PyTensorApply, *matrices: Any) -> Any:
    return kron(*matrices)


def _cast_outputs(node: PyTensorApply, outputs: Any) -> list[Any]:
    """Cast outputs to the dtypes of the outputs of a node, which has other integers for row numbers."""
    return [at.cast(x, output.type.dtype) for x, output in zip(as_list(outputs), node.outputs, strict=True)]


@convert_op.register(_pytensor_ops.LU)
def _lu(op: Any, node: PyTensorApply, x: Any) -> Any:
    return _cast_outputs(node, lu(x, permute_l=op.permute_l, p_indices=op.p_indices))


@convert_op.register(_pytensor_ops.LUFactor)
def _lu_factor(op: Any, node: PyTensorApply, x: Any) -> Any:
    return lu_factor(x)


@convert_op.register(_pytensor_ops.PivotToPermutations)
def _pivots_to_permutation(op: Any, node: PyTensorApply, pivots: Any) -> Any:
    rows = PivotsToPermutation()(pivots)
    return rows if op.inverse else at.argsort(rows)


@convert_op.register(_pytensor_ops.QR)
def _qr(op: Any, node: PyTensorApply, x: Any) -> Any:
    if op.mode not in ("full", "economic", "r"):
        return perform_in_python(node, [x])
    mode = {"full": "complete", "economic": "reduced"}.get(op.mode, op.mode)
    return _cast_outputs(node, qr(x, mode=mode, pivoting=op.pivoting))


@convert_op.register(_pytensor_ops.Schur)
def _schur(op: Any, node: PyTensorApply, x: Any) -> Any:
    return perform_in_python(node, [x]) if op.sort is not None else schur(x, output=op.output)


@convert_op.register(_pytensor_ops.QZ)
def _qz(op: Any, node: PyTensorApply, a: Any, b: Any) -> Any:
    if op.sort is not None or op.return_eigenvalues:
        return perform_in_python(node, [a, b])
    return qz(a, b, output="complex" if op.complex_output else "real")


def _trsyl(op: Any, node: PyTensorApply, a: Any, b: Any, c: Any) -> Any:
    # The matrices are quasi-triangular: real Schur forms have blocks of two by two.
    return solve_sylvester(at.triu(a, -1), at.triu(b, -1), c)


for _module in ("pytensor.tensor.linalg.solvers.linear_control", "pytensor.tensor._linalg.solve.linear_control"):
    for _class in classes(_module, ["TRSYL"]).values():  # 3.0, and 2.38
        convert_op.register(_class, _trsyl)


@convert_op.register(_pytensor_ops.Lstsq)
def _lstsq(op: Any, node: PyTensorApply, x: Any, y: Any, rcond: Any) -> Any:
    return _cast_outputs(node, lstsq(x, y, rcond, return_list=True))


@convert_op.register(_pytensor_ops.TensorInv)
def _tensorinv(op: Any, node: PyTensorApply, x: Any) -> Any:
    return tensorinv(x, op.ind)


@convert_op.register(_pytensor_ops.TensorSolve)
def _tensorsolve(op: Any, node: PyTensorApply, a: Any, b: Any) -> Any:
    return tensorsolve(a, b, op.axes)
