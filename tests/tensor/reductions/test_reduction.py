"""Reductions along axes: values, dtypes, empty arrays, derivatives."""

import pickle

import numpy as np
import pytest
import scipy.special

import aesara
import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.autodiff import grad
from aesara.tensor.elemwise import CAReduce
from aesara.tensor.math import (
    All,
    Any,
    Argmax,
    Max,
    MaxAndArgmax,
    Min,
    Prod,
    ProdWithoutZeros,
    Sum,
    check_and_normalize_axes,
    makeKeepDims,
)
from aesara.tensor.type import TensorType
from tests.closeness import assert_close
from tests.tensor.evaluate import evaluate

AXES = [None, 0, -1, (0, 2), (2, 0), [1], (), (0, 1, 2), np.array(1)]


def numeric_gradient(function, value, step=1e-6):
    result = np.zeros_like(value)
    for index in np.ndindex(*value.shape):
        shift = np.zeros_like(value)
        shift[index] = step
        result[index] = (function(value + shift) - function(value - shift)) / (2 * step)
    return result


def numpy_axis(axis):
    return tuple(axis) if isinstance(axis, list) else int(axis) if isinstance(axis, np.ndarray) else axis


@pytest.mark.parametrize("axis", AXES, ids=repr)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all"])
def test_values(name, axis, keepdims, rng):
    x = at.tensor("float64", (2, None, 4))
    value = rng.normal(size=(2, 3, 4)).round(1)
    expected = getattr(np, name)(value, axis=numpy_axis(axis), keepdims=keepdims)
    for y in (
        getattr(at, name)(x, axis=axis, keepdims=keepdims),
        getattr(x, name)(axis=axis, keepdims=keepdims),
    ):
        result = evaluate(y, {x: value})
        np.testing.assert_allclose(result, expected, rtol=1e-13)
        assert result.shape == expected.shape and y.type.ndim == expected.ndim


def test_static_shape():
    x = at.tensor("float64", (2, None, 4))
    assert x.sum(axis=0).type.shape == (None, 4)
    assert x.sum(axis=1, keepdims=True).type.shape == (2, 1, 4)
    assert x.max(axis=(0, 2)).type.shape == (None,)
    assert x.argmax(axis=2).type.shape == (2, None)


@pytest.mark.parametrize(
    "dtype, total, accumulator",
    [
        ("bool", "int64", "int64"),
        ("int8", "int64", "int64"),
        ("int32", "int64", "int64"),
        ("uint8", "uint64", "uint64"),
        ("uint64", "uint64", "uint64"),
        ("float16", "float16", "float32"),
        ("float32", "float32", "float64"),
        ("float64", "float64", "float64"),
        ("complex64", "complex64", "complex128"),
    ],
)
def test_dtypes_of_sums(dtype, total, accumulator):
    x = at.vector("x", dtype=dtype)
    for function in (at.sum, at.prod):
        y = function(x)
        assert y.type.dtype == total and y.owner.op.acc_dtype == accumulator
    assert at.max(x).type.dtype == dtype and at.min(x).type.dtype == dtype
    assert at.any(x).type.dtype == "bool"


def test_given_dtypes():
    x, i = at.fvector(), at.ivector()
    assert at.sum(x, dtype="float64").owner.op.acc_dtype == "float64"
    assert at.sum(i, dtype="int8").owner.op.acc_dtype == "int64" and at.sum(i, dtype="int8").dtype == "int8"
    assert evaluate(at.sum(i, dtype="int8"), {i: [100, 100]}) == np.int8(-56)
    with pytest.raises(TypeError, match="precision would be lost"):
        at.sum(at.dvector(), acc_dtype="float32")
    with pytest.raises(TypeError, match="complex"):
        at.sum(at.zvector(), dtype="float64")


def test_dtypes_of_averages():
    for dtype, expected in [
        ("bool", "float64"),
        ("int8", "float64"),
        ("float16", "float16"),
        ("float32", "float32"),
    ]:
        x = at.vector(dtype=dtype)
        assert [at.mean(x).dtype, at.var(x).dtype, at.std(x).dtype] == [expected] * 3
    assert at.mean(at.zvector()).dtype == "complex128"
    assert at.mean(at.dvector(), dtype="float32").dtype == "float32"


def test_accumulation_in_a_wider_dtype():
    x = at.fvector("x")
    value = np.full(100_000, 0.1, dtype="float32")
    assert evaluate(at.sum(x), {x: value}) == np.float32(value.astype("float64").sum())


@pytest.mark.parametrize("axis", [2, -3, (0, 2)])
def test_axes_out_of_range(axis):
    for function in (at.sum, at.max, at.all, at.argmax, at.mean):
        with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
            function(at.matrix(), axis=axis)


def test_bad_axes():
    with pytest.raises(ValueError, match="repeated axis"):
        at.sum(at.matrix(), axis=(0, -2))
    for axis in (1.0, "0", True):
        with pytest.raises(TypeError, match="axis"):
            at.sum(at.matrix(), axis=axis)


def test_axes_are_resolved_in_the_node():
    assert at.sum(at.matrix(), axis=-1).owner.op.axis == (1,)
    assert at.sum(at.matrix()).owner.op.axis is None
    assert at.sum(at.matrix(), axis=at.constant(1)).owner.op.axis == (1,)
    assert check_and_normalize_axes(at.matrix(), -1) == [1]
    assert check_and_normalize_axes(at.matrix(), None) == []
    x = at.matrix()
    assert makeKeepDims(x, x.sum(axis=0), 0).type.shape == (1, None)


def test_names_and_equality():
    assert str(at.sum(at.vector(), axis=0).owner.op) == "Sum{axis=[0], acc_dtype=float64}"
    assert str(CAReduce(aes.add, axis=0)) == "CAReduce{add}{axis=[0]}"
    assert Sum(axis=0) == Sum(axis=(0,)) and Sum(0) != Sum(1) and hash(Sum(0)) == hash(Sum((0,)))
    assert Max(0) != Min(0) and All() == All() and All() != Any()
    for op in (Sum(0), Prod(1), Max(None), Any(0), Argmax((0,)), MaxAndArgmax((0,))):
        assert pickle.loads(pickle.dumps(op)) == op
    assert Sum(0).clone(dtype="float32").axis == (0,)


def test_empty_arrays():
    x = at.matrix("x")
    empty = {x: np.zeros((0, 3))}
    assert evaluate(x.sum(), empty) == 0 and evaluate(x.prod(), empty) == 1
    np.testing.assert_array_equal(evaluate(x.sum(axis=0), empty), np.zeros(3))
    assert evaluate(x.all(), empty) and not evaluate(x.any(), empty)
    assert np.isnan(evaluate(x.mean(), empty))
    assert evaluate(x.max(axis=1), empty).shape == (0,)
    for y in (x.max(), x.min(axis=0), x.argmax(axis=0)):
        with pytest.raises(ValueError):
            evaluate(y, empty)
    with pytest.raises(ValueError, match="no identity"):
        at.max(at.tensor("float64", (0, 3)), axis=0)


def test_nan_and_infinities():
    x = at.matrix("x")
    value = np.array([[1.0, np.nan, 3.0], [np.inf, 2.0, -np.inf]])
    for name in ("max", "min", "argmax", "argmin", "sum"):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(value, axis=1)
        np.testing.assert_array_equal(evaluate(getattr(at, name)(x, axis=1), {x: value}), expected)
    assert evaluate(at.all([[np.nan]])) and evaluate(at.any([[np.nan]]))


def test_integers_at_their_limits():
    for dtype in ("int8", "uint8", "int64", "bool"):
        low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        x = at.vector("x", dtype=dtype)
        value = np.array([high, low, high], dtype=dtype)
        assert evaluate(x.min(), {x: value}) == low and evaluate(x.max(), {x: value}) == high
        assert evaluate(x.argmin(), {x: value}) == 1 and evaluate(x.argmax(), {x: value}) == 0


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (0, 1, 2)], ids=repr)
def test_positions(axis, rng):
    x = at.tensor3("x")
    value = rng.integers(0, 3, size=(3, 4, 2)).astype("float64")
    largest, position = at.max_and_argmax(x, axis=axis)
    got_value, got_position = evaluate([largest, position], {x: value})
    axes = tuple(range(3)) if axis is None else (axis,) if isinstance(axis, int) else axis
    kept = [a for a in range(3) if a not in axes]
    rows = value.transpose(*kept, *axes).reshape([value.shape[a] for a in kept] + [-1])
    np.testing.assert_array_equal(got_value, rows.max(axis=-1))
    np.testing.assert_array_equal(got_position, rows.argmax(axis=-1))
    np.testing.assert_array_equal(evaluate(at.argmax(x, axis), {x: value}), rows.argmax(axis=-1))
    np.testing.assert_array_equal(evaluate(at.argmin(x, axis), {x: value}), rows.argmin(axis=-1))
    assert position.type.dtype == "int64" and largest.owner is position.owner
    kept_dims = evaluate(at.argmax(x, axis, keepdims=True), {x: value})
    assert kept_dims.shape == tuple(1 if a in axes else n for a, n in enumerate(value.shape))


def test_infer_shape():
    x = at.tensor3()
    a, b, c = at.lscalars("abc")
    for y, expected in [
        (x.sum(axis=1), (a, c)),
        (x.max(), ()),
        (x.all(axis=(0, 1)), (c,)),
        (x.argmax(axis=-1), (a, b)),
    ]:
        assert y.owner.op.infer_shape(None, y.owner, [(a, b, c)])[0] == expected
    node = at.max_and_argmax(x, 0)[0].owner
    assert node.op.infer_shape(None, node, [(a, b, c)]) == [(b, c), (b, c)]


GRADIENTS = {
    "sum": lambda x, axis: x.sum(axis=axis),
    "prod": lambda x, axis: x.prod(axis=axis),
    "prod of nonzeros": lambda x, axis: at.prod(x, axis=axis, no_zeros_in_input=True),
    "max": lambda x, axis: x.max(axis=axis),
    "min": lambda x, axis: x.min(axis=axis),
    "mean": lambda x, axis: x.mean(axis=axis),
    "mean op": lambda x, axis: at.mean(x, axis=axis, op=True),
    "var": lambda x, axis: x.var(axis=axis),
    "std": lambda x, axis: x.std(axis=axis, ddof=1 if axis is None else 0),
    "max_and_argmax": lambda x, axis: at.max_and_argmax(x, axis=axis)[0],
    "logsumexp": lambda x, axis: at.logsumexp(x, axis=axis),
    "norm": lambda x, axis: x.norm(3, axis=axis),
    "ptp": lambda x, axis: x.ptp(axis=axis),
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_gradients(name, axis, rng):
    x = at.matrix("x")
    value = rng.permutation(np.linspace(0.5, 3.0, 6)).reshape(2, 3)
    y = GRADIENTS[name](x, axis)
    weights = 1.0 + np.arange(3 if axis == 0 else 2 if axis == 1 else 1)
    cost = (y * (weights if axis is not None else 1.0)).sum()
    g = grad(cost, x)
    assert x.type.is_super(g.type)
    numeric = numeric_gradient(lambda v: evaluate(cost, {x: v}), value)
    np.testing.assert_allclose(evaluate(g, {x: value}), numeric, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("value", [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [2.0, 3.0, 4.0], [0.0]])
def test_gradient_of_products_with_zeros(value):
    x = at.vector("x")
    value = np.array(value)
    expected = [np.prod(np.delete(value, i)) for i in range(len(value))]
    assert_close(evaluate(grad(at.prod(x), x), {x: value}), expected)
    second = evaluate(grad(grad(at.prod(x), x).sum(), x), {x: value})
    assert np.isfinite(second).all()


@pytest.mark.parametrize(
    "of, dtype", [("int8", "float64"), ("float64", "int64"), ("bool", "float32"), ("int64", "int64")]
)
def test_products_of_or_as_integers_have_no_slope(of, dtype):
    x = at.vector("x", dtype=of)
    values = np.array([1, 2, 3]).astype(of)
    (g,) = Prod(dtype=dtype)(x).owner.op.L_op([x], [Prod(dtype=dtype)(x)], [at.ones((), dtype="float64")])
    assert g.type.dtype == "float64"
    np.testing.assert_array_equal(evaluate(g, {x: values}), [0.0, 0.0, 0.0])


def test_product_without_zeros():
    x = at.matrix("x")
    value = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    y = ProdWithoutZeros(axis=1)(x)
    np.testing.assert_array_equal(evaluate(y, {x: value}), [2.0, 1.0])
    np.testing.assert_array_equal(evaluate(grad(y.sum(), x), {x: value}), [[2.0, 0.0, 1.0], [0.0, 0.0, 0.0]])


def test_all_equal_extrema_get_the_gradient():
    x = at.vector("x")
    for y in (at.max(x), at.max_and_argmax(x)[0]):
        np.testing.assert_array_equal(evaluate(grad(y, x), {x: [1.0, 2.0, 2.0]}), [0.0, 1.0, 1.0])


def test_tangents():
    x, dx = at.matrix("x"), at.matrix("dx")
    values = {x: np.array([[1.0, 5.0], [2.0, 3.0]]), dx: np.array([[1.0, 2.0], [3.0, 4.0]])}
    (t,) = Sum(0).R_op([x], [dx])
    np.testing.assert_array_equal(evaluate(t, values), [4.0, 6.0])
    (t,) = Max(1).R_op([x], [dx])
    np.testing.assert_array_equal(evaluate(t, values), [2.0, 4.0])
    t, nothing = MaxAndArgmax((1,)).R_op([x], [dx])
    np.testing.assert_array_equal(evaluate(t, values), [2.0, 4.0])
    assert nothing is None and Sum(0).R_op([x], [None]) == [None]


def test_general_reduction():
    x = at.imatrix("x")
    value = np.array([[6, 3], [5, 1]])
    np.testing.assert_array_equal(evaluate(CAReduce(aes.and_, axis=0)(x), {x: value}), [4, 1])
    np.testing.assert_array_equal(evaluate(CAReduce(aes.add)(x), {x: value}), 15)
    np.testing.assert_array_equal(evaluate(CAReduce(aes.xor, axis=1)(x), {x: value}), [5, 4])
    with pytest.raises(NotImplementedError):
        CAReduce(aes.exp)


def test_logarithms_of_sums():
    x = at.matrix("x")
    value = np.array([[1000.0, 1000.0], [-np.inf, -np.inf], [np.inf, 1.0], [-1e3, np.nan], [1.0, -2.0]])
    expected = [1000 + np.log(2), -np.inf, np.inf, np.nan, np.logaddexp(1.0, -2.0)]
    assert_close(evaluate(at.logsumexp(x, axis=1), {x: value}), expected)
    assert_close(evaluate(at.logaddexp(x[:, 0], x[:, 1]), {x: value}), expected)
    assert_close(
        evaluate(at.logaddexp(x[:, 0], x[:, 1], x[:, 1] - 1), {x: value}),
        scipy.special.logsumexp(np.column_stack([value, value[:, 1] - 1]), axis=1),
    )
    assert at.logsumexp(x, axis=0, keepdims=True).type.shape == (1, None)
    g = grad(at.logaddexp(x[:, 0], x[:, 1])[4], x)
    assert_close(evaluate(g, {x: value})[4], scipy.special.softmax([1.0, -2.0]))
    with pytest.raises(TypeError, match="at least two"):
        at.logaddexp(x)


def test_variance_details():
    z = at.zvector("z")
    value = np.array([1 + 2j, 3 - 1j, 0.5j])
    assert_close(evaluate(at.var(z), {z: value}), np.var(value))
    x = at.vector("x")
    assert_close(evaluate(at.std(x, ddof=1), {x: [1.0, 2.0, 4.0]}), np.std([1.0, 2.0, 4.0], ddof=1))
    assert_close(evaluate(at.var(x, corrected=True), {x: [1.0, 2.0, 4.0]}), np.var([1.0, 2.0, 4.0]))
    assert at.mean(TensorType("float32", (2, 3))()).owner.inputs[0].owner.op == Sum(None, "float32", "float64")
    assert TensorType("float32", ())().mean().type.ndim == 0


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_products_that_underflow_are_no_zeros_to_leave_out(dtype, axis):
    x = at.matrix(dtype=dtype)
    value = np.full((40, 60), 0.01).astype(dtype)
    value[3, 5], value[7, 5] = 0, 1e30
    rtol = 100 * np.finfo(dtype).eps
    without_zeros = aesara.function([x], ProdWithoutZeros(axis)(x))
    with np.errstate(under="ignore"):
        np.testing.assert_allclose(without_zeros(value), np.where(value == 0, 1, value).prod(axis), rtol=rtol)
    gradient = aesara.function([x], aesara.grad(at.prod(abs(x), axis).sum(), x))
    assert not np.any(gradient(np.full((400, 500), 0.1).astype(dtype)))
