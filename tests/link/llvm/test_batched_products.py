"""Products of matrices over leading dimensions, natively."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

#: shapes of both operands, and which dimensions are statically of length 1
CASES = [
    ((3, 4), (4, 5), (), ()),
    ((2, 3, 4), (2, 4, 5), (), ()),
    ((2, 3, 4), (4, 5), (), ()),
    ((3, 4), (2, 4, 5), (), ()),
    ((4,), (2, 4, 5), (), ()),
    ((2, 3, 4), (4,), (), ()),
    ((4,), (4,), (), ()),
    ((1, 3, 4), (6, 4, 5), (0,), ()),
    ((7, 1, 3, 4), (1, 6, 4, 5), (1,), (0,)),
    ((7, 6, 3, 4), (6, 4, 5), (), ()),
    ((2, 3, 0), (2, 0, 5), (), ()),
    ((0, 3, 4), (0, 4, 5), (), ()),
    ((2, 0, 4), (2, 4, 5), (), ()),
    ((2, 30, 40), (2, 40, 50), (), ()),
    ((2, 1, 40), (2, 40, 1), (), ()),
]


def tensor_of(dtype, shape, ones):
    return at.TensorType(dtype, tuple(1 if d in ones else None for d in range(len(shape))))()


def transposed(x):
    return x.dimshuffle(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("left, right, left_ones, right_ones", CASES)
def test_matmul(left, right, left_ones, right_ones, dtype):
    x, y = tensor_of(dtype, left, left_ones), tensor_of(dtype, right, right_ones)
    outputs = [at.matmul(x, y)]
    if x.ndim > 1:
        outputs.append(at.matmul(transposed(transposed(x) * np.ones((), dtype)), y))
    f = aesara.function([x, y], outputs)
    assert f._native.report.python_nodes == {}
    rng = np.random.default_rng(0)
    top = 2 if dtype == "bool" else 4
    x_value, y_value = rng.integers(0, top, left).astype(dtype), rng.integers(0, top, right).astype(dtype)
    want = np.matmul(x_value, y_value)
    for got in f(x_value, y_value):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_operands_are_read_through_strides(order):
    x, y = at.dtensor3("x"), at.dtensor3("y")
    f = aesara.function([x, y], at.batched_dot(x.dimshuffle(order)[::-1, :, 1:], y[:, 1:]))
    rng = np.random.default_rng(0)
    x_value, y_value = rng.normal(size=(5, 5, 5)), rng.normal(size=(5, 5, 7))
    want = np.matmul(x_value.transpose(order)[::-1, :, 1:], y_value[:, 1:])
    np.testing.assert_allclose(f(x_value, y_value), want, rtol=1e-13, atol=1e-14)


def test_sizes_that_do_not_fit_are_named():
    x, y = at.dtensor3("x"), at.dtensor3("y")
    f = aesara.function([x, y], at.matmul(x, y))
    with pytest.raises(ValueError, match="inner dimensions have sizes 4 and 3"):
        f(np.ones((2, 3, 4)), np.ones((2, 3, 4)))
    with pytest.raises(ValueError, match="sizes 2 and 5 in dimension -3"):
        f(np.ones((2, 3, 4)), np.ones((5, 4, 3)))


def test_gradient_of_a_batch():
    x, y = at.dtensor3("x"), at.dmatrix("y")
    f = aesara.function([x, y], aesara.grad(at.tanh(at.matmul(x, y)).sum(), [x, y]))
    assert f._native.report.python_nodes == {}
    rng = np.random.default_rng(0)
    aesara.gradient.verify_grad(
        lambda a, b: at.tanh(at.matmul(a, b)), [rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 2))], rng=rng
    )
