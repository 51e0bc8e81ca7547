"""Derivatives of tensor ops: Jacobians, Hessians and directional derivatives against differences of values."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aesara
import aesara.tensor as at
from aesara.gradient import (
    DisconnectedInputError,
    NullTypeGradError,
    hessian,
    hessian_vector_product,
    jacobian,
    verify_grad,
)
from aesara.graph.traversal import applys_between
from aesara.tensor import nnet
from aesara.tensor.core.check_and_raise import assert_op
from aesara.tensor.creation.diagonals import AllocDiag
from aesara.tensor.fft import irfft_op, rfft_op
from aesara.tensor.indexing.subtensor_advanced import (
    advanced_inc_subtensor1,
    advanced_set_subtensor1,
    advanced_subtensor1,
)
from aesara.tensor.ordering.searching import Unique
from aesara.tensor.products.gemm import Dot22, Dot22Scalar, gemm_no_inplace
from aesara.tensor.products.gemv import gemv_no_inplace, ger
from aesara.tensor.reductions.argmax import max_and_argmax
from aesara.tensor.reductions.fused_reduction import FusedReduction
from aesara.tensor.reductions.sum_prod_max import ProdWithoutZeros, Sum, Supremum
from aesara.tensor.sequences.recurrence import LinearRecurrence
from aesara.tensor.shape import unbroadcast
from aesara.tensor.sort import TopKOp
from aesara.tensor.special import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.statistics.mean_var import Mean
from aesara.tensor.vectorization.blockwise import Blockwise
from tests.closeness import assert_close
from tests.op_classes import op_classes

RNG = np.random.default_rng(11)
M, N = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)) + 2
V, W, S, T = RNG.normal(size=4), RNG.normal(size=3) + 1.5, np.array(0.7), RNG.normal(size=(2, 3, 4))
ROW, SQUARE = RNG.normal(size=(1, 4)), RNG.normal(size=(3, 3))
ZEROS = np.where([[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]], 0, M)
TIES = np.array([[1.0, 2.0, 2.5], [2.0, -1.0, 0.5]])

# Name -> the expression, and where it is differentiated.
EXPRESSIONS = {
    "Elemwise": (lambda x, y: at.sin(x) * at.exp(y) + x / y, [M, N]),
    "Elemwise, broadcast": (lambda x, y: at.maximum(x, y) + x**2 * y, [M, ROW]),
    "Elemwise, two outputs": (lambda x: at.switch(x > 0, x, -2 * x), [M]),
    "FusedReduction": (lambda x, y: FusedReduction(Sum(1), at.mul)(x, y), [M, N]),
    "Dot22": (lambda x, y: Dot22()(x, y.T), [M, N]),
    "Dot22Scalar": (lambda x, y, a: Dot22Scalar()(x, y.T, a), [M, N, np.array(0.7)]),
    "Gemm": (lambda z, x, y, a, b: gemm_no_inplace(z, a, x, y.T, b), [M[:, :3], M, N, np.array(0.7), np.array(-2.0)]),
    "Gemv": (lambda y, x, z, a, b: gemv_no_inplace(y, a, x, z, b), [M[:, 0], M, N[0], np.array(0.7), np.array(-2.0)]),
    "Ger": (lambda z, x, y, a: ger(z, a, x, y), [M, N[:, 0], N[0], np.array(0.7)]),
    "Supremum": (lambda x: Supremum(axis=1)(x), [M]),
    "DimShuffle": (lambda x: x.dimshuffle(1, "x", 0) ** 2, [M]),
    "DimShuffle, dropped": (lambda x: x.dimshuffle(1) ** 2, [ROW]),
    "CAReduce": (lambda x: x.sum(0) * x.sum(), [M]),
    "Sum": (lambda x: x.sum(1, keepdims=True) * x, [M]),
    "Prod": (lambda x: x.prod(0), [M]),
    "Prod, zeros": (lambda x: x.prod(1), [ZEROS]),
    "Prod, one zero among all": (lambda x: x.prod(), [np.array([[2.0, 0.0], [3.0, -4.0]])]),
    "Prod, no zeros": (lambda x: at.prod(x, axis=0, no_zeros_in_input=True), [M]),
    "ProdWithoutZeros": (lambda x: ProdWithoutZeros(0)(x), [M]),
    "Max": (lambda x: x.max(0), [M]),
    "Min": (lambda x: x.min(1), [M]),
    "MaxAndArgmax": (lambda x: max_and_argmax(x, 1)[0], [M]),
    "Mean": (lambda x: Mean(0)(x) ** 2, [M]),
    "Dot": (at.dot, [M.T, N]),
    "Dot of vectors": (at.dot, [V, V + 1]),
    "Dot, vector and matrix": (at.dot, [W, N]),
    "Dot, matrix and vector": (at.dot, [N, V]),
    "BatchedDot": (at.batched_dot, [T, T.transpose(0, 2, 1)]),
    "BatchedDot of rows": (at.batched_dot, [T[:, 0], T.transpose(0, 2, 1)]),
    "MatMul": (at.matmul, [T, N.T]),
    "MatMul, broadcast": (at.matmul, [T[:1], T.transpose(0, 2, 1)]),
    "MatMul of vectors": (at.matmul, [V, V]),
    "MatMul, vector and batch": (at.matmul, [W, T]),
    "tensordot": (lambda x, y: at.tensordot(x, y, [[1, 2], [0, 1]]), [T, N]),
    "Softmax": (lambda x: Softmax(0)(x), [M]),
    "Softmax of all": (lambda x: Softmax(None)(x), [M]),
    "LogSoftmax": (lambda x: LogSoftmax(1)(x), [M]),
    "LogSoftmax of all": (lambda x: LogSoftmax(None)(x), [M]),
    "SoftmaxGrad": (lambda x, y: SoftmaxGrad(1)(x, y), [M, N]),
    "Reshape": (lambda x: x.reshape((4, 3)) ** 2, [M]),
    "SpecifyShape": (lambda x: at.specify_shape(x, (3, None)) ** 2, [M]),
    "Unbroadcast": (lambda x: unbroadcast(x, 0) ** 2, [ROW]),
    "Alloc": (lambda x: at.alloc(x, 2, 3, 4) ** 2, [ROW]),
    "BroadcastTo": (lambda x: at.broadcast_to(x, (2, 3, 4)) ** 2, [ROW]),
    "Join": (lambda x, y: at.join(0, x, y**2, x), [M, N]),
    "Split": (lambda x: (lambda a, b: a[:, :1] * b)(*at.split(x, [1, 3], 2, axis=1)), [M]),
    "MakeVector": (lambda x, y: at.stack([x * y, y, 2.0]), [S, np.array(1.7)]),
    "TensorFromScalar": (lambda x: at.tensor_from_scalar(at.scalar_from_tensor(x) * 2) ** 2, [S]),
    "Subtensor": (lambda x: x[::-1, 1:3] ** 2, [M]),
    "IncSubtensor": (lambda x, y: at.inc_subtensor(x[1:, 0], y) ** 2, [M, W[:2]]),
    "IncSubtensor, set": (lambda x, y: at.set_subtensor(x[:, 1:], y) ** 2, [M, W[:, None]]),
    "AdvancedSubtensor1": (lambda x: advanced_subtensor1(x, [0, 2, 0]) ** 2, [M]),
    "AdvancedIncSubtensor1": (lambda x, y: advanced_inc_subtensor1(x, y, [0, 2, 0]) ** 2, [M, N]),
    "AdvancedIncSubtensor1, set": (lambda x, y: advanced_set_subtensor1(x, y, [2, 0]) ** 2, [M, V]),
    "AdvancedSubtensor": (lambda x: x[[0, 2], :, [1, 1]] ** 2, [T.transpose(1, 2, 0)]),
    "AdvancedSubtensor, mask": (lambda x: x[M > 0] ** 2, [M]),
    "AdvancedIncSubtensor": (lambda x, y: at.inc_subtensor(x[[0, 0], [1, 1]], y) ** 2, [M, V[:2]]),
    "AdvancedIncSubtensor, set": (lambda x, y: at.set_subtensor(x[[0, 1], [1, 1]], y) ** 2, [M, S]),
    "CumOp": (lambda x: at.cumsum(x, axis=1) ** 2, [M]),
    "CumOp of all": (lambda x: at.cumsum(x) ** 2, [M]),
    "CumOp, products": (lambda x: at.cumprod(x, axis=0), [M]),
    "CumOp, products with zeros": (lambda x: at.cumprod(x, axis=1), [ZEROS]),
    "CumOp, products of all": (lambda x: at.cumprod(x), [M]),
    "LinearRecurrence": (LinearRecurrence(1), [M, N]),
    "LinearRecurrence, backwards": (LinearRecurrence(0, backwards=True), [M, N]),
    "SortOp": (lambda x: at.sort(x, axis=0) ** 2, [M]),
    "SortOp of all": (lambda x: at.sort(x, None) ** 2, [M]),
    "TopKOp": (lambda x: at.topk(x, 2, axis=0) ** 2, [M]),
    "TopKOp, values only": (lambda x: TopKOp(return_indices=False)(x, -2) ** 2, [M]),
    "Unique": (lambda x: Unique()(x) ** 2, [M]),
    "Unique, axis": (lambda x: Unique(axis=1)(x) ** 2, [M]),
    "RFFTOp, lengths": (lambda x: rfft_op(x, [3]) ** 2, [M]),
    "RFFTOp, two lengths": (lambda x: rfft_op(x, [2, 5]) ** 2, [T]),
    "IRFFTOp, odd length": (lambda x: irfft_op(x, [5]) ** 2, [T[..., :2]]),
    "ExtractDiag": (lambda x: at.diagonal(x, 1) ** 2, [M]),
    "ExtractDiag, other axes": (lambda x: at.diagonal(x, -1, 2, 0) ** 2, [T]),
    "AllocDiag": (lambda x: at.diag(x, -1) ** 2, [V]),
    "AllocDiag, other axes": (lambda x: AllocDiag(1, 2, 0)(x) ** 2, [M]),
    "FillDiagonal": (lambda x, y: at.fill_diagonal(x, y) ** 2, [SQUARE, S]),
    "FillDiagonalOffset": (lambda x, y: at.fill_diagonal_offset(x, y, 1) ** 2, [M, S]),
    "Repeat": (lambda x: at.repeat(x, np.array([2, 0, 1]), axis=0) ** 2, [M]),
    "ARange": (lambda x, y: at.arange(x, 3.0, y), [S, np.array(0.4)]),
    "Convolve": (at.convolve, [V, W]),
    "Correlation": (lambda x, w: nnet.conv2d(x[None, None], w[None, None], border_mode="half"), [M, SQUARE]),
    "PermuteRowElements": (lambda x: at.basic.permute_row_elements(x, np.array([2, 0, 3, 1])) ** 2, [M]),
    "Choose": (lambda x: at.choose(np.array([0, 2, 1, 0]), x) ** 2, [M]),
    "Choose, wrap": (lambda x: at.choose(np.array([-1, 2, 4, -3]), x, mode="wrap") ** 2, [M]),
    "Choose, clip": (lambda x: at.choose(np.array([-1, 2, 4, 1]), x, mode="clip") ** 2, [M]),
    "CheckAndRaise": (lambda x: assert_op(x, at.ge(x.size, 1)) ** 2, [M]),
    "CpuContiguous": (lambda x: at.extra_ops.cpu_contiguous(x) ** 2, [M]),
    "GradClip": (lambda x: aesara.gradient.grad_clip(x, -10, 10) ** 2, [M]),
    "Blockwise": (Blockwise(at.convolve(at.vector(), at.vector()).owner.op, "(n),(m)->(k)"), [M, W]),
    "statistics": (lambda x: at.var(x, 0) + at.std(x, 0, ddof=1), [M]),
    "norm": (lambda x: x.norm(2) + x.norm(1), [M]),
    "cov": (lambda x: at.cov(x), [M]),
    "softmax with bias": (nnet.softmax_with_bias, [M, V]),
    "cross entropy": (lambda x: nnet.categorical_crossentropy(at.special.softmax(x), np.array([0, 2, 1])), [M]),
    "powers": (lambda x, y: abs(x) ** y, [M, N]),
    "clip": (lambda x, y: at.clip(x, -0.5, y), [M, N / 4]),
}


def central_differences(function, values, position, step=1e-6):
    """The Jacobian of a function of arrays, flattened, with respect to one argument."""
    columns = []
    for index in np.ndindex(values[position].shape):
        results = []
        for sign in (1, -1):
            moved = [v.copy() for v in values]
            moved[position][index] += sign * step
            results.append(np.ravel(function(*moved)))
        columns.append((results[0] - results[1]) / (2 * step))
    return np.array(columns).T.reshape(-1, *values[position].shape)


def inputs_for(values):
    return [at.tensor("float64", shape=tuple(1 if n == 1 else None for n in v.shape)) for v in values]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_jacobian_and_directional_derivatives(name, rng):
    """The Jacobian is what differences are; Rop multiplies it from the right, Lop from the left."""
    build, values = EXPRESSIONS[name]
    inputs = inputs_for(values)
    output = build(*inputs)
    value = aesara.function(inputs, output, on_unused_input="ignore")
    jacobians = aesara.function(inputs, jacobian(output, inputs), on_unused_input="ignore")(*values)
    for position, (found, x) in enumerate(zip(jacobians, values)):
        assert found.shape == (*value(*values).shape, *x.shape)
    # A row for each entry of the result.
    jacobians = [j.reshape(-1, *x.shape) for j, x in zip(jacobians, values)]
    for position, found in enumerate(jacobians):
        np.testing.assert_allclose(found, central_differences(value, values, position), rtol=1e-5, atol=1e-7)

    directions = [rng.normal(size=v.shape) for v in values]
    weights = rng.normal(size=value(*values).shape)
    points, seed = inputs_for(values), output.type()
    along = [aesara.Rop(output, inputs, points)]
    # Where only one of the inputs moves.
    along += [aesara.Rop(output, x, point, disconnected_outputs="ignore") for x, point in zip(inputs, points)]
    against = aesara.Lop(output, inputs, seed)
    assert along[0].type.dtype == "float64"
    assert [g.type.ndim for g in against] == [x.type.ndim for x in inputs]
    function = aesara.function([*inputs, *points, seed], [*along, *against], on_unused_input="ignore")
    results = function(*values, *directions, weights)
    pushed, pulled = results[: len(along)], results[len(along) :]
    parts = [np.tensordot(j, d, d.ndim) for j, d in zip(jacobians, directions)]
    for found, expected in zip(pushed, [sum(parts), *parts], strict=True):
        assert found.shape == weights.shape
        np.testing.assert_allclose(found.ravel(), expected, rtol=1e-9, atol=1e-10)
    adjoint = sum((g * d).sum() for g, d in zip(pulled, directions))
    np.testing.assert_allclose((weights * pushed[0]).sum(), adjoint, rtol=1e-9, atol=1e-10)


# Ops without a numeric check above -> why.
WITHOUT_CHECK = {
    "Argmax": "positions are integers",
    "ArgSortOp": "positions are integers",
    "SearchsortedOp": "positions are integers",
    "UnravelIndex": "positions are integers",
    "RavelMultiIndex": "positions are integers",
    "Nonzero": "positions are integers",
    "ChainedIndex": "positions are integers",
    "Shape": "sizes do not depend on entries",
    "Shape_i": "sizes do not depend on entries",
    "MakeSlice": "no tensor",
    "Eye": "takes sizes only",
    "Tri": "takes sizes only",
    "Bartlett": "takes a size only",
    "AllocEmpty": "takes sizes only",
    "LoadFromDisk": "takes a path only",
    "All": "gives truth values",
    "Any": "gives truth values",
    "Default": "which input it is is known at run time only; the gradient says so",
    "NonZeroCAReduce": "base class",
    "CumprodOp": "another name of CumOp",
    "CumsumOp": "another name of CumOp",
    "CAReduce": "defines no gradient; its subclasses do",
    "ScalarFromTensor": "checked with TensorFromScalar",
    "ConsiderConstant": "not a derivative on purpose",
    "ZeroGrad": "not a derivative on purpose",
    "UndefinedGrad": "not a derivative on purpose",
    "DisconnectedGrad": "not a derivative on purpose",
    "GradScale": "not a derivative on purpose",
    "Assert": "CheckAndRaise",
    "MulWithoutZeros": "scalar op of ProdWithoutZeros",
    "OverwritingElemwise": "an Elemwise with another dtype",
}


def ops_of_tensors():
    return {c.__name__: c for c in op_classes("aesara.tensor", "aesara.gradient") if not c.__name__.startswith("_")}


def test_every_op_is_checked():
    """Every op of tensors is differentiated above, or there is a reason why not."""
    checked = set(WITHOUT_CHECK)
    for build, values in EXPRESSIONS.values():
        inputs = inputs_for(values)
        for node in applys_between(inputs, [build(*inputs)]):
            checked.update(cls.__name__ for cls in type(node.op).__mro__)
    # Rows of the op table try the gradients of matrices and transforms in both modes, and twice.
    elsewhere = (
        "aesara.tensor.nnet", "aesara.tensor.random", "aesara.tensor.linear_algebra", "aesara.tensor.discrete_fourier",
        "aesara.tensor.signal",
    )  # fmt: skip
    missing = [
        name
        for name, cls in ops_of_tensors().items()
        if name not in checked and not cls.__module__.startswith(elsewhere) and not inspect.isabstract(cls)
    ]
    assert not missing, f"Add these to EXPRESSIONS, or say in WITHOUT_CHECK why not: {missing}"


def gradient_at(build, *values, mode=None):
    inputs = inputs_for([np.asarray(v, dtype="float64") for v in values])
    gradients = aesara.grad(build(*inputs).sum(), inputs, disconnected_inputs="ignore")
    return aesara.function(inputs, gradients, mode=mode, on_unused_input="ignore")(*values)


class TestEdges:
    """Gradients where a function is not smooth, or where formulas divide by zero."""

    @pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
    @pytest.mark.parametrize(
        "build, values, expected",
        [
            (lambda x, y: x**y, ([0.0, 0, 0, -2, -2, 1], [0.0, 1, 2, 2, 3, 0]), [0, 1, 0, -4, 12, 0]),
            (lambda x: x**2, ([0.0, -3],), [0, -6]),
            (lambda x: x**3, ([0.0, -3],), [0, 27]),
            (lambda x: x**0, ([0.0, -3],), [0, 0]),
            (lambda x: x**1.5, ([0.0, 4],), [0, 3]),
            (lambda x: 0.0**x, ([0.0, 1],), [0, 0]),
            (lambda x: abs(x), ([0.0, -0.0, -2],), [0, 0, -1]),
            (lambda x: at.sqrt(x), ([0.0, 4],), [np.inf, 0.25]),
            (lambda x: at.sgn(x), ([0.0, 4],), [0, 0]),
            (lambda x, y: at.maximum(x, y), ([0.0, 1, 2], [0.0, 2, 1]), [1, 0, 1]),
            (lambda x, y: at.minimum(x, y), ([0.0, 1, 2], [0.0, 2, 1]), [1, 1, 0]),
            (lambda x: at.clip(x, 0, 1), ([0.0, 1, 0.5, -1, 2],), [1, 1, 1, 0, 0]),
            (lambda x: at.max(x), ([1.0, 2, 2],), [0, 1, 1]),
            (lambda x: at.min(x), ([1.0, 1, 2],), [1, 1, 0]),
            (lambda x: at.sort(x) * np.array([1.0, 2, 3]), ([2.0, 2, 1],), [2, 3, 1]),
            (lambda x: at.prod(x), ([2.0, 0, 3],), [0, 6, 0]),
            (lambda x: at.prod(x), ([2.0, 0, 0],), [0, 0, 0]),
            (lambda x: at.cumprod(x), ([2.0, 0, 3, 0],), [1, 8, 0, 0]),
            (lambda x: at.sigmoid(x), ([1000.0, -1000],), [0, 0]),
            (lambda x: at.softplus(x), ([1000.0, -1000],), [1, 0]),
            (lambda x: at.floor(x) + at.round(x), ([1.5, 2],), [0, 0]),
        ],
    )
    def test_values(self, build, values, expected, mode):
        np.testing.assert_array_equal(gradient_at(build, *values, mode=mode)[0], expected)

    def test_choice_keeps_the_other_branch_out(self):
        """NaN and infinities of the branch not taken do not reach the gradient."""
        of_x, of_y = gradient_at(lambda x, y: at.switch(at.neq(x, 0), y / x, 0), [1.0, -1, 0], [1.0, 1, 1])
        np.testing.assert_array_equal(of_x, [-1, -1, 0])
        np.testing.assert_array_equal(of_y, [1, -1, 0])
        (of_x,) = gradient_at(lambda x: at.where(x > 0, at.log(x), x), [1.0, -1, 0])
        np.testing.assert_array_equal(of_x, [1, 1, 1])

    def test_power_of_integers(self):
        x, k = at.dvector("x"), at.lvector("k")
        f = aesara.function([x, k], aesara.grad((x**k).sum(), x))
        np.testing.assert_array_equal(f([0.0, -1, 3, 0, 0], [2, 3, 2, 0, 1]), [0, 3, 6, 0, 1])

    def test_second_derivatives_at_zero(self):
        x = at.dvector("x")
        value = aesara.function([x], hessian((x**2).sum() + (x**3).sum() + x.sum(), x))([0.0, 1.0])
        np.testing.assert_array_equal(value, [[2, 0], [0, 8]])
        value = aesara.function([x], hessian(at.cumprod(x).sum(), x))([0.0, 0.0, 2.0])
        np.testing.assert_array_equal(value, [[0, 3, 0], [3, 0, 0], [0, 0, 0]])

    @pytest.mark.parametrize("values", [[2.0, 3, 4], [0.0, 3, 4], [0.0, 0, 4], [0.0, 0, 0], [1e-200, 0, 1e300]])
    def test_product_of_elements(self, values):
        """The derivatives of a product are products of the other factors."""
        x = at.dvector("x")
        first, second = aesara.function([x], [aesara.grad(x.prod(), x), hessian(x.prod(), x)])(values)
        others = [[np.prod(np.delete(values, [i, j])) for j in range(3)] for i in range(3)]
        np.testing.assert_array_equal(first, np.diag(others))
        np.testing.assert_array_equal(second, others * (1 - np.eye(3)))


class TestDtypes:
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_verify_grad(self, dtype):
        points = [np.array([4, 5.5], dtype=dtype)]
        verify_grad(lambda x: at.sqrt(x) + x * at.sin(1.0), points, rng=np.random.default_rng(0))

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_jacobian_keeps_dtype(self, dtype):
        x = at.vector("x", dtype=dtype)
        result = jacobian(x**2, x)
        assert result.type.dtype == dtype
        value = aesara.function([x], result)(np.array([1, 2], dtype=dtype))
        np.testing.assert_array_equal(value, [[2, 0], [0, 4]])
        assert hessian((x**3).sum(), x).type.dtype == dtype

    def test_through_complex_numbers(self):
        def modulus(x, y):
            z = at.complex(x, y)
            return at.real(z * at.conj(z)) + at.imag(z * z) + abs(z) ** 2

        verify_grad(modulus, [V, V + 1], rng=np.random.default_rng(0))

    def test_jacobian_with_respect_to_integers(self):
        k = at.lvector("k")
        with pytest.raises(DisconnectedInputError):
            jacobian(at.dvector() ** 2, k)
        value = aesara.function([k], jacobian(k * 1.5, k))([1, 2])
        np.testing.assert_array_equal(value, [[1.5, 0], [0, 1.5]])


x, y = at.dvectors("x", "y")
m = at.dmatrix("m")
s = at.dscalar("s")


class TestJacobian:
    def test_unknown_lengths(self):
        f = aesara.function([x, m], jacobian(at.dot(m, at.sin(x)), [x, m]))
        of_x, of_m = f(V, N)
        assert_close(of_x, N * np.cos(V))
        assert_close(of_m, np.eye(3)[:, :, None] * np.sin(V))

    def test_no_loop(self):
        f = aesara.function([x, m], jacobian(at.tanh(at.dot(m, at.exp(x))), x))
        names = {type(node.op).__name__ for node in f.maker.fgraph.apply_nodes}
        assert names <= {"Elemwise", "Dot", "Dot22", "DimShuffle", "Shape_i", "Eye", "SpecifyShape"}

    @pytest.mark.parametrize("n", [0, 1, 5])
    def test_jacobian_and_hessian_of_each_length(self, n):
        f = aesara.function([x], jacobian(x**2, x))
        value = np.arange(float(n))
        np.testing.assert_array_equal(f(value), np.diag(2 * value))
        g = aesara.function([x], hessian((x**3).sum(), x))
        np.testing.assert_array_equal(g(value), np.diag(6 * value))

    def test_static_shapes(self):
        z = at.tensor("float64", shape=(3,))
        a = at.tensor("float64", shape=(2, 3))
        of_z, of_a = jacobian(at.dot(a, z), [z, a])
        assert (of_z.type.shape, of_a.type.shape) == ((2, 3), (2, 2, 3))
        assert hessian((z**3).sum(), z).type.shape == (3, 3)
        one = at.tensor("float64", shape=(1,))
        assert jacobian(one**2, one).type.shape == (1, 1)

    @pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
    def test_jacobian_of_a_matrix_product(self, mode):
        """A matrix product in each of its factors, from sizes that are not known."""
        a, b = at.dmatrices("a", "b")
        first, second = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4) ** 2
        of_a, of_b = aesara.function([a, b], jacobian(a @ b, [a, b]), mode=mode)(first, second)
        np.testing.assert_array_equal(of_a, np.einsum("ik,lj->ijkl", np.eye(2), second))
        np.testing.assert_array_equal(of_b, np.einsum("jl,ik->ijkl", np.eye(4), first))

    @pytest.mark.parametrize("shape", [(0, 2), (2, 0, 1), (1, 1), (2, 1, 3)])
    @pytest.mark.parametrize("known", [True, False])
    def test_jacobian_of_each_shape(self, shape, known):
        z = at.tensor("float64", shape=shape if known else (None,) * len(shape))
        squares, constant = jacobian(z**2, z), jacobian(at.floor(z) + z, z)
        if known:
            assert squares.type.shape == constant.type.shape == (*shape, *shape)
        value = 1.0 + np.arange(np.prod(shape)).reshape(shape)
        eye = np.eye(value.size).reshape(*shape, *shape)
        found = aesara.function([z], [squares, constant, jacobian(at.floor(z), z)])(value)
        for one, wanted in zip(found, [eye * 2 * value, eye, eye * 0]):
            np.testing.assert_array_equal(one, wanted)

    def test_in_a_matrix_and_a_scalar_at_once(self):
        of_m, of_s = aesara.function([m, s], jacobian(m.T * s, (m, s)))(N, 2.0)
        np.testing.assert_array_equal(of_m, 2 * np.einsum("il,jk->ijkl", np.eye(N.shape[1]), np.eye(N.shape[0])))
        np.testing.assert_array_equal(of_s, N.T)

    def test_of_a_scalar(self):
        assert_close(aesara.function([x], jacobian((x**2).sum(), x))(V), 2 * V)

    def test_with_respect_to_a_scalar(self):
        f = aesara.function([s, x], jacobian(s * x, s))
        assert_close(f(2.0, V), V)

    def test_linear_parts(self):
        f = aesara.function([x, y], jacobian(at.concatenate([2 * x, y]), [x, y]))
        of_x, of_y = f(V, W)
        assert_close(of_x, np.vstack([2 * np.eye(4), np.zeros((3, 4))]))
        assert_close(of_y, np.vstack([np.zeros((4, 3)), np.eye(3)]))

    def test_zero_parts(self):
        f = aesara.function([x], jacobian(at.floor(x), x))
        np.testing.assert_array_equal(f(V), np.zeros((4, 4)))
        f = aesara.function([x, y], jacobian(x, [x, y], disconnected_inputs="ignore"))
        np.testing.assert_array_equal(f(V, W)[1], np.zeros((4, 3)))

    def test_jacobian_of_disconnected_inputs(self):
        with pytest.raises(DisconnectedInputError):
            jacobian(x, y)
        with pytest.warns(UserWarning):
            jacobian(x, y, disconnected_inputs="warn")

    def test_consider_constant(self):
        z = x**2
        f = aesara.function([x], jacobian(z * x, x, consider_constant=[z]))
        assert_close(f(V), np.diag(V**2))

    def test_null_gradients(self):
        with pytest.raises(NullTypeGradError):
            jacobian(aesara.gradient.undefined_grad(x), x)

    def test_jacobian_refuses_other_types(self):
        with pytest.raises(TypeError, match="expects a dense tensor"):
            jacobian(aesara.sparse.csc_matrix(), x)
        with pytest.raises(TypeError, match="expects a Variable"):
            jacobian([x], x)

    def test_of_intermediate_variables(self):
        z = at.exp(x)
        f = aesara.function([x], jacobian(z**2, z))
        assert_close(f(V), np.diag(2 * np.exp(V)))

    def test_accepts_the_choice_of_a_loop(self):
        assert jacobian(x, x, vectorize=False).ndim == 2

    def test_of_a_jacobian(self):
        third = jacobian(jacobian(jacobian((x**4).sum(), x), x).flatten(), x)
        value = aesara.function([x], third)(V).reshape(4, 4, 4)
        assert_close(value[range(4), range(4), range(4)], 24 * V)
        assert np.count_nonzero(value) == 4


class TestHessian:
    def logistic(self):
        z = at.dot(m, x)
        labels = (at.arange(m.shape[0]) % 2).astype("float64")
        return (at.softplus(z) - labels * z).sum() + (x**2).sum()

    def test_logistic_regression(self):
        f = aesara.function([x, m], hessian(self.logistic(), x))
        p = 1 / (1 + np.exp(-N @ V))
        assert_close(f(V, N), (N.T * (p * (1 - p))) @ N + 2 * np.eye(4))
        assert not f._native.report.python_nodes

    def test_hessian_with_respect_to_several(self):
        cost = (x**2).sum() * (y**3).sum()
        of_x, of_y = aesara.function([x, y], hessian(cost, [x, y]))(V, W)
        assert_close(of_x, 2 * np.eye(4) * (W**3).sum())
        assert_close(of_y, np.diag(6 * W) * (V**2).sum())
        assert isinstance(hessian(cost, (x, y)), tuple)

    @pytest.mark.parametrize("wrt", [m, 3.0, [x, None], np.ones(3)], ids=["matrix", "number", "None", "array"])
    def test_of_what_is_no_vector(self, wrt):
        with pytest.raises(ValueError, match="1 dimensional variable as `wrt`"):
            hessian((x**2).sum(), wrt)
        with pytest.raises(ValueError, match="0 dimensional variable as `cost`"):
            hessian(wrt, x)

    def test_of_indexed_groups(self):
        group = np.array([0, 1, 2, 1, 0, 0])
        data = np.arange(6.0)
        cost = ((data - at.exp(x[3]) * x[group]) ** 2).sum()
        f = aesara.function([x], hessian(cost, x))
        gradient = aesara.function([x], aesara.grad(cost, x))
        np.testing.assert_allclose(f(V), central_differences(gradient, [V], 0), rtol=1e-6, atol=1e-6)

    def test_product_with_a_vector(self):
        p = at.dvector("p")
        cost = self.logistic()
        f = aesara.function([x, m, p], hessian_vector_product(cost, x, p))
        g = aesara.function([x, m], hessian(cost, x))
        assert_close(f(V, N, V + 1), g(V, N) @ (V + 1))

    def test_product_for_several_variables(self):
        p, q = at.dvectors("p", "q")
        cost = (x**2).sum() * (y**3).sum()
        of_x, of_y = aesara.function([x, y, p, q], hessian_vector_product(cost, [x, y], [p, q]))(V, W, V, W)
        assert_close(of_x, 2 * V * (W**3).sum() + 2 * V * (3 * W**2 * W).sum())
        assert_close(of_y, 6 * W * W * (V**2).sum() + 3 * W**2 * (2 * V * V).sum())

    def test_product_of_a_linear_cost(self):
        p = at.dvector("p")
        f = aesara.function([x, p], hessian_vector_product(x.sum(), x, p), on_unused_input="ignore")
        np.testing.assert_array_equal(f(V, V), np.zeros(4))

    def test_product_with_constants(self):
        """Variables of `consider_constant` are constant in both derivatives, as in `hessian`."""
        p, z = at.dvector("p"), x**2
        product = hessian_vector_product((z * x).sum(), x, p, consider_constant=[z])
        matrix = hessian((z * x).sum(), x, consider_constant=[z])
        f = aesara.function([x, p], [product, at.dot(matrix, p)], on_unused_input="ignore")
        np.testing.assert_array_equal(*f(V, V))
        product = hessian_vector_product((aesara.gradient.grad_scale(x, 3.0) ** 2).sum(), x, p)
        matrix = hessian((aesara.gradient.grad_scale(x, 3.0) ** 2).sum(), x)
        np.testing.assert_array_equal(*aesara.function([x, p], [product, at.dot(matrix, p)])(V, V))

    def test_hessian_vector_product_checks_lengths(self):
        with pytest.raises(ValueError, match="same length"):
            hessian_vector_product(x.sum(), [x], [x, x])


@st.composite
def functions(draw):
    """A smooth function of a vector of length 4, returning a vector of any length."""
    steps = draw(
        st.lists(
            st.sampled_from(
                [
                    lambda v: at.sin(v),
                    lambda v: v * v[::-1],
                    lambda v: at.dot(np.arange(12.0).reshape(3, 4)[:, :1] / 10, v[:1]) + v[1],
                    lambda v: at.concatenate([v, at.cos(v[:2])]),
                    lambda v: at.cumsum(v) / 4,
                    lambda v: at.special.softmax(v) + v.sum(),
                    lambda v: at.outer(v, v).sum(0) / 3,
                    lambda v: v[[0, 1, 1, 0]],
                    lambda v: at.set_subtensor(v[0], v[1] ** 2),
                    lambda v: at.tanh(v - v.mean()),
                    lambda v: at.sqrt(1 + v**2),
                ]
            ),
            min_size=1,
            max_size=4,
        )
    )

    def composed(v):
        for step in steps:
            v = step(v)
        return v

    return composed


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(functions())
def test_random_functions(build):
    out = build(x)
    value = aesara.function([x], out, mode="FAST_COMPILE")
    f = aesara.function([x], jacobian(out, x))
    expected = central_differences(value, [V], 0)
    np.testing.assert_allclose(
        f(V), expected, rtol=1e-5, atol=1e-6 * max(1, np.abs(expected).max(), np.abs(value(V)).max())
    )
    seed, direction = at.dvectors("seed", "direction")
    g = aesara.function([x, seed, direction], [aesara.Lop(out, x, seed), aesara.Rop(out, x, direction)])
    weights, along = np.linspace(1, 2, len(value(V))), np.linspace(-1, 1, 4)
    pulled, pushed = g(V, weights, along)
    size = 1e-11 * max(1, np.abs(f(V)).max())
    np.testing.assert_allclose(pulled, weights @ f(V), rtol=1e-9, atol=10 * size)
    np.testing.assert_allclose(pushed, f(V) @ along, rtol=1e-9, atol=10 * size)
    np.testing.assert_allclose(weights @ pushed, pulled @ along, rtol=1e-9, atol=100 * size)
