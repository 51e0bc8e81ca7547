"""The table of modules that lower Ops, which load when the first of their Ops is compiled, or with the package.

A module registers functions with `lower_op` (see `lower.dispatch`) or, for Ops of single matrices, with `adopt`; it has
a row here for each of these Op classes.  Subclasses are lowered too.
"""

from __future__ import annotations

import importlib
import weakref

__all__ = ["COMMON", "LOWERINGS", "load_common_lowerings", "load_lowering"]

#: modules under `aesara.lower`, with the Op classes that they lower, under `aesara`
LOWERINGS = {
    "control.checks": ["tensor.core.check_and_raise.CheckAndRaise"],
    "control.ifelse": ["ifelse.IfElse"],
    "control.scan": ["scan.op.Scan"],
    "control.subgraphs": ["subgraph.OpFromGraph"],
    "creation.creation": [
        "tensor.creation.allocation.Alloc",
        "tensor.creation.allocation.AllocEmpty",
        "tensor.creation.eye_tri.Eye",
        "tensor.creation.eye_tri.Tri",
        "tensor.creation.ranges.ARange",
        "tensor.sequences.windows.Bartlett",
        "tensor.shapes.broadcasting.BroadcastTo",
    ],
    "creation.diagonals": [
        "tensor.creation.diagonals.AllocDiag",
        "tensor.creation.diagonals.ExtractDiag",
        "tensor.creation.diagonals.FillDiagonal",
        "tensor.creation.diagonals.FillDiagonalOffset",
    ],
    "elementwise.elemwise": [
        "scalar.op.ScalarOp",
        "tensor.core.scalar_conversion.ScalarFromTensor",
        "tensor.core.scalar_conversion.TensorFromScalar",
        "tensor.elementwise.elemwise.Elemwise",
        "tensor.shapes.dimshuffle.DimShuffle",
    ],
    "indexing.conversion": [
        "tensor.indexing.index_conversion.RavelMultiIndex",
        "tensor.indexing.index_conversion.UnravelIndex",
    ],
    "indexing.selection": [
        "tensor.indexing.choosing.Choose",
        "tensor.indexing.permuting.PermuteRowElements",
        "tensor.indexing.selection.Default",
    ],
    "indexing.subtensor": [
        "tensor.indexing.chained_index.ChainedIndex",
        "tensor.indexing.subtensor_advanced.AdvancedIncSubtensor",
        "tensor.indexing.subtensor_advanced.AdvancedIncSubtensor1",
        "tensor.indexing.subtensor_advanced.AdvancedSubtensor",
        "tensor.indexing.subtensor_advanced.AdvancedSubtensor1",
        "tensor.indexing.subtensor_basic.IncSubtensor",
        "tensor.indexing.subtensor_basic.Subtensor",
    ],
    "joining.joining": [
        "tensor.creation.make_vector.MakeVector",
        "tensor.joining.join_split.Join",
        "tensor.joining.join_split.Split",
    ],
    "linear_algebra.banded": [
        "tensor.linear_algebra.banded.SolveBanded",
        "tensor.linear_algebra.banded.SolveHermitianBanded",
    ],
    "linear_algebra.determinants": [
        "tensor.linear_algebra.determinant.Det",
        "tensor.linear_algebra.determinant.SLogDet",
    ],
    "linear_algebra.equations": [
        "tensor.linear_algebra.by_factors.InverseByCholesky",
        "tensor.linear_algebra.cholesky.Cholesky",
        "tensor.linear_algebra.cholesky.CholeskySolve",
        "tensor.linear_algebra.failures.NanOnError",
        "tensor.linear_algebra.inverse.MatrixInverse",
        "tensor.linear_algebra.solve.Solve",
        "tensor.linear_algebra.solve.SolveTriangular",
    ],
    "linear_algebra.equations_of_matrices": [
        "tensor.linear_algebra.matrix_equations.BilinearSolveDiscreteLyapunov",
        "tensor.linear_algebra.matrix_equations.SolveContinuousLyapunov",
        "tensor.linear_algebra.matrix_equations.SolveContinuousRiccati",
        "tensor.linear_algebra.matrix_equations.SolveDiscreteRiccati",
        "tensor.linear_algebra.matrix_equations.SolveSylvester",
    ],
    "linear_algebra.expressions": [
        "tensor.linear_algebra.determinant.Cofactors",
        "tensor.linear_algebra.determinant.CofactorsGrad",
        "tensor.linear_algebra.eigen.EighGrad",
        "tensor.linear_algebra.eigen.EigvalshGrad",
        "tensor.linear_algebra.inverse.MatrixPinv",
        "tensor.linear_algebra.least_squares.PinvWithCutoff",
        "tensor.linear_algebra.matrix_functions.Expm",
        "tensor.linear_algebra.matrix_functions.ExpmGrad",
        "tensor.linear_algebra.matrix_functions.Polar",
    ],
    "linear_algebra.factors": [
        "tensor.linear_algebra.by_factors.InverseByLU",
        "tensor.linear_algebra.by_factors.SolveByLU",
        "tensor.linear_algebra.lu.LU",
        "tensor.linear_algebra.lu.LUFactor",
        "tensor.linear_algebra.lu.PivotsToPermutation",
    ],
    "linear_algebra.fourier": [
        "tensor.discrete_fourier.transforms.FourierTransform",
        "tensor.discrete_fourier.transforms.InverseRealFourierTransform",
        "tensor.discrete_fourier.transforms.RealFourierTransform",
    ],
    "linear_algebra.matrices": ["tensor.vectorization.blockwise.Blockwise"],
    "linear_algebra.orthogonal": [
        "tensor.linear_algebra.least_squares.Lstsq",
        "tensor.linear_algebra.qr.QRFull",
        "tensor.linear_algebra.qr.QRPivoted",
    ],
    "linear_algebra.roots": [
        "tensor.linear_algebra.matrix_functions.LogMatrix",
        "tensor.linear_algebra.matrix_functions.SqrtMatrix",
    ],
    "linear_algebra.spectra": [
        "tensor.linear_algebra.eigen.Eig",
        "tensor.linear_algebra.eigen.Eigh",
        "tensor.linear_algebra.eigen.Eigvalsh",
        "tensor.linear_algebra.eigen.GeneralizedEigh",
        "tensor.linear_algebra.schur.QZ",
        "tensor.linear_algebra.schur.Schur",
        "tensor.linear_algebra.svd.SVD",
    ],
    "ordering.searching": ["tensor.ordering.searching.SearchsortedOp"],
    "ordering.sorting": [
        "tensor.ordering.searching.Unique",
        "tensor.ordering.sorting.ArgSortOp",
        "tensor.ordering.sorting.SortOp",
        "tensor.ordering.sorting.TopKOp",
    ],
    "products.blas": ["tensor.core.expression_op.ExpressionOp", "tensor.products.gemm.Dot22Scalar"],
    "products.compressed": [
        "sparse.on_parts.CompressedDot",
        "sparse.on_parts.CompressedInner",
        "sparse.parts.CSMGrad",
        "sparse.products.StructuredDotGradCSC",
        "sparse.products.StructuredDotGradCSR",
    ],
    "products.correlation": ["tensor.products.correlation.Correlation"],
    "products.dot": [
        "tensor.products.dot.BatchedDot",
        "tensor.products.dot.Dot",
        "tensor.products.matmul.MatMul",
    ],
    "random.draws": ["tensor.random.random_variable.RandomVariable"],
    "random.mrg": ["tensor.random.from_uniform.MultinomialFromUniform", "tensor.random.mrg_uniform.mrg_uniform"],
    "reductions.careduce": ["tensor.reductions.careduce.CAReduce", "tensor.statistics.mean_var.Mean"],
    "reductions.pooling": [
        "tensor.signal.pooling.AveragePoolGrad",
        "tensor.signal.pooling.DownsampleFactorMaxGradGrad",
        "tensor.signal.pooling.MaxPoolGrad",
        "tensor.signal.pooling.MaxPoolRop",
        "tensor.signal.pooling.Pool",
    ],
    "reductions.positions": ["tensor.reductions.argmax.Argmax", "tensor.reductions.argmax.MaxAndArgmax"],
    "reductions.softmax": [
        "tensor.reductions.softmax.LogSoftmax",
        "tensor.reductions.softmax.Softmax",
        "tensor.reductions.softmax.SoftmaxGrad",
    ],
    "sequences.convolve": ["tensor.sequences.convolve.Convolve"],
    "sequences.recurrences": ["tensor.sequences.recurrence.LinearRecurrence"],
    "sequences.sequential": ["tensor.indexing.nonzero.Nonzero", "tensor.sequences.cumulative.CumOp"],
    "shapes.repeating": ["tensor.shapes.repeating.Repeat"],
    "shapes.shapes": [
        "tensor.shapes.cpu_contiguous.CpuContiguous",
        "tensor.shapes.reshape.Reshape",
        "tensor.shapes.shape.Shape",
        "tensor.shapes.shape.Shape_i",
        "tensor.shapes.specify_shape.SpecifyShape",
        "tensor.shapes.specify_shape.Unbroadcast",
    ],
}  # fmt: skip

#: modules that most programs need: loaded with the package, so that the first function does not wait
COMMON = (
    "elementwise.elemwise",
    "reductions.careduce",
    "indexing.subtensor",
    "creation.creation",
    "shapes.shapes",
    "joining.joining",
    "control.scan",
)

_MODULES = {f"aesara.{path}": module for module, paths in LOWERINGS.items() for path in paths}
_loaded: weakref.WeakSet[type] = weakref.WeakSet()


def load_lowering(kind: type) -> None:
    """Load the modules that lower Ops of this class."""
    if kind in _loaded:
        return
    for base in kind.__mro__:
        module = _MODULES.get(f"{base.__module__}.{base.__qualname__}")
        if module is not None:
            importlib.import_module(f"aesara.lower.{module}")
    _loaded.add(kind)


def load_common_lowerings() -> None:
    """Load the modules that most programs need."""
    for module in COMMON:
        importlib.import_module(f"aesara.lower.{module}")
