"""Reductions, positions of largest elements and softmax, compiled by JAX."""

import jax
import numpy as np
import pytest

import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.autodiff import grad
from aesara.tensor.reductions.argmax import Argmax, MaxAndArgmax
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.softmax import SoftmaxGrad
from aesara.tensor.reductions.sum_prod_max import ProdWithoutZeros, Supremum, mul_without_zeros
from aesara.tensor.statistics.mean_var import Mean
from tests.link.jax_mode.matching import fail_alike, function_of, on_both
from tests.tensor.reductions.test_reductions_of_nothing import SHAPES, reductions_of_nothing

DTYPES = ["float64", "float32", "float16", "int8", "uint8", "int64", "uint64", "bool", "complex64", "complex128"]
TOLERANCES = {"float16": 2e-3, "float32": 1e-6, "complex64": 1e-6}
NAN, INF = np.nan, np.inf


def numbers(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) * 3
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return np.abs(values).astype(dtype) if np.dtype(dtype).kind == "u" else values.astype(dtype)


def tensor(dtype, ndim):
    return at.tensor(dtype=dtype, shape=(None,) * ndim)


AXES = [None, 0, 2, (0, 2), (2, 1), ()]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_and_axes(dtype, axis):
    x = tensor(dtype, 3)
    results = [f(x, axis=axis) for f in (at.sum, at.prod, at.max, at.min, at.all, at.any)]
    results += [ProdWithoutZeros(axis)(x), Mean(axis)(x), CAReduce(aes.add, axis)(x), CAReduce(aes.mul, axis)(x)]
    on_both([x], results, numbers((2, 3, 4), dtype), rtol=TOLERANCES.get(dtype, 1e-9))


@pytest.mark.parametrize("dtype, acc_dtype", [("float32", "float64"), ("int8", "float32"), ("int16", "int16")])
def test_dtypes_that_are_asked_for(dtype, acc_dtype):
    x = tensor("int8", 2)
    results = [at.sum(x, 0, dtype=dtype, acc_dtype=acc_dtype), at.prod(x, dtype=dtype, acc_dtype=acc_dtype)]
    on_both([x], results, numbers((5, 4), "int8"), rtol=1e-6)


def test_accumulators_are_wide():
    x = at.fvector("x")
    on_both([x], at.sum(x), np.array([1e8] + [1.0] * 100, "float32"), rtol=0)


def test_integers_wrap_around():
    x = tensor("int8", 1)
    results = [CAReduce(aes.add)(x), CAReduce(aes.mul)(x), at.sum(x), at.prod(x.astype("int64") * 2**40)]
    on_both([x], results, np.array([100, 100, 7, -3], "int8"))


@pytest.mark.parametrize("op", [aes.and_, aes.or_, aes.xor], ids=str)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16"])
@pytest.mark.parametrize("axis", [None, 0, (1, 0)])
def test_other_scalar_ops(op, dtype, axis):
    x = tensor(dtype, 2)
    given = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, size=(5, 7)).astype(dtype)
    on_both([x], CAReduce(op, axis)(x), given)
    on_both([x], CAReduce(op, axis)(x), given[:0])
    on_both([x], CAReduce(op, axis)(x), given[:1])


@pytest.mark.parametrize("axis", [None, 0, (1, 0)])
def test_scalar_ops_that_are_no_reductions_of_jax(axis):
    x = at.dmatrix("x")
    results = [CAReduce(op, axis)(x) for op in (mul_without_zeros, aes.logaddexp)]
    for given in (numbers((5, 7)).round(0), numbers((0, 3))):
        on_both([x], results, given)
    f = function_of([x], CAReduce(aes.logaddexp)(x))
    given = numbers((2, 5))
    np.testing.assert_allclose(jax.grad(lambda v: f(v)[0])(given), jax.nn.softmax(given, axis=None), rtol=1e-13)


def test_an_op_without_identity():
    x = at.dvector("x")
    fail_alike(ValueError, [x], CAReduce(aes.arctan2)(x), np.ones(0), match="which has no identity")
    on_both([x], CAReduce(aes.arctan2)(x), np.arange(2.0))


@pytest.mark.parametrize("dtype", ["float64", "float16", "complex128", "int64"])
def test_sums_of_nothing(dtype):
    x = tensor(dtype, 2)
    results = [f(x, axis) for f in (at.sum, at.prod, at.all, at.any) for axis in (0, 1, None)]
    on_both([x], [*results, Mean()(x), Mean(0)(x)], np.ones((0, 3), dtype))
    on_both([x], at.max(x, 0), np.ones((2, 0), dtype))


@pytest.mark.parametrize("f", [at.max, at.min, at.argmax, lambda x, axis: MaxAndArgmax(axis)(x)[0]])
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
def test_extrema_of_nothing(f, dtype):
    x = tensor(dtype, 2)
    fail_alike(ValueError, [x], f(x, 0), np.ones((0, 3), dtype))
    fail_alike(ValueError, [x], f(x, None), np.ones((3, 0), dtype))


def test_the_supremum_of_nothing():
    x = at.fmatrix("x")
    on_both([x], [Supremum(0)(x), Supremum()(x)], np.ones((0, 2), "float32"))
    on_both([x], Supremum(1)(x), np.array([[1, NAN], [-INF, -INF]], "float32"))


@pytest.mark.parametrize("known", [False, True], ids=["unknown", "known"])
@pytest.mark.parametrize("shape, axes", SHAPES, ids=[str(shape) for shape, _ in SHAPES])
def test_reductions_of_nothing(shape, axes, known):
    x = at.tensor("float64", shape=shape if known else (None,) * len(shape))
    outputs = [y for _, y, _ in reductions_of_nothing(x, axes, np.zeros(shape))]
    on_both([x], [*outputs, *(grad(y.sum(), x) for y in outputs)], np.zeros(shape))


def test_numbers_without_dimensions():
    x = at.dscalar("x")
    on_both([x], [f(x) for f in (at.sum, at.prod, at.max, at.argmax, Mean(), at.all)], -2.5)
    on_both([x], [at.sum(x, 0), at.softmax(x, axis=None), at.log_softmax(x, axis=None)], -2.5)


SPECIAL = np.array([[1.0, NAN, 2.0, NAN], [-INF, -INF, -INF, -INF], [0.0, INF, INF, 1.0], [2.0, 2.0, 1.0, 2.0]])


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_special_values(dtype, axis):
    x = tensor(dtype, 2)
    results = [f(x, axis=axis) for f in (at.sum, at.prod, at.max, at.min, at.argmax, at.argmin, at.softmax)]
    on_both(
        [x],
        [*results, at.log_softmax(x, axis=axis), *MaxAndArgmax(axis)(x)],
        SPECIAL.astype(dtype),
        rtol=TOLERANCES.get(dtype, 1e-9),
    )


def complex_numbers():
    z = SPECIAL + 0j
    z.imag = [[0, 0, 3, 1], [1, 2, INF, -INF], [1, 1, NAN, 0], [-INF, 1, 5, 1]]
    return z


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_complex_numbers_are_ordered_by_their_parts(axis):
    z = at.zmatrix("z")
    results = [at.max(z, axis), at.min(z, axis), at.argmax(z, axis), at.argmin(z, axis), *MaxAndArgmax(axis)(z)]
    on_both([z], results, complex_numbers())
    on_both([z], results, numbers((4, 5), "complex128").round(0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 1, (0, 2), (2, 0)])
def test_positions(dtype, axis):
    x = tensor(dtype, 3)
    on_both([x], [Argmax(axis)(x), *MaxAndArgmax(axis)(x)], numbers((3, 4, 5), dtype).round(0).astype(dtype))


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_softmax(dtype, axis):
    x, g = tensor(dtype, 3), tensor(dtype, 3)
    results = [at.softmax(x, axis=axis), at.log_softmax(x, axis=axis), SoftmaxGrad(axis)(g, x)]
    for shape in [(2, 3, 4), (0, 3, 4), (2, 3, 0)]:
        on_both(
            [x, g], results, 100 * numbers(shape, dtype), numbers(shape, dtype, 1), rtol=TOLERANCES.get(dtype, 1e-9)
        )


@pytest.mark.parametrize("f", [at.softmax, at.log_softmax])
def test_gradients_of_softmax(f):
    x = at.dmatrix("x")
    cost = (f(x, axis=1) * np.arange(4.0)).sum()
    given = numbers((3, 4))
    ours = on_both([x], at.grad(cost, x), given)[0]
    function = function_of([x], cost)
    np.testing.assert_allclose(jax.grad(lambda v: function(v)[0])(given), ours, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("f", [at.sum, at.prod, at.max, lambda x, axis: ProdWithoutZeros(axis)(x)])
def test_gradients_agree_with_those_of_jax(f):
    x = at.dmatrix("x")
    cost = (f(x, axis=1) ** 2).sum()
    given = numbers((3, 4))
    ours = on_both([x], at.grad(cost, x), given)[0]
    function = function_of([x], cost)
    np.testing.assert_allclose(jax.grad(lambda v: function(v)[0])(given), ours, rtol=1e-12)


def test_functions_of_jax():
    x = at.dmatrix("x")
    results = [at.sum(x, 0), at.max(x), at.argmax(x, 1), at.all(x), Mean(1)(x), CAReduce(aes.xor)(x > 0)]
    f = function_of([x], results)
    batch = numbers((4, 3, 5))
    for got, *wanted in zip(jax.jit(jax.vmap(f))(batch), *map(f, batch)):
        np.testing.assert_allclose(got, np.stack(wanted), rtol=1e-13)


def test_sizes_that_are_reductions():
    x, n = at.dmatrix("x"), at.lvector("n")
    on_both([x, n], at.zeros((at.max(x.shape), at.prod(n))), np.ones((2, 3)), [2, 2])
