"""Gradients with respect to integers: those of real numbers of the same value."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.creation.diagonals import AllocDiag

PRODUCTS = {
    "dot": (at.dot, (3, 4), (4, 2)),
    "vectors": (at.dot, (4,), (4,)),
    "matmul": (at.matmul, (2, 3, 4), (4, 2)),
    "batched": (at.batched_dot, (2, 3, 4), (2, 4, 2)),
    "tensordot": (lambda x, y: at.tensordot(x, y, 1), (2, 3, 4), (4, 2)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_integers_with_real_numbers(name):
    product, left, right = PRODUCTS[name]
    rng = np.random.default_rng(7)
    x, y = rng.integers(-3, 4, left), rng.normal(size=right)
    results = []
    for dtype in ("int32", "float64"):
        a, b = at.TensorType(dtype, (None,) * len(left))("a"), at.TensorType("float64", (None,) * len(right))("b")
        gradients = aesara.grad(at.sigmoid(product(a, b)).sum(), [a, b])
        assert gradients[0].type.dtype == "float64"
        results.append(aesara.function([a, b], gradients)(x.astype(dtype), y))
    assert np.any(results[0][0] != 0)
    for of_integers, of_floats in zip(*results, strict=True):
        np.testing.assert_allclose(of_integers, of_floats, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "bool"])
@pytest.mark.parametrize(
    "ordered",
    [
        at.sort,
        at.argsort,
        lambda x: at.sort(x, None),
        lambda x: at.topk(x, 2),
        lambda x: at.argtopk(x, 2),
        lambda x: at.topk_and_argtopk(x, 2)[0],
    ],
    ids=["sort", "argsort", "flat", "topk", "argtopk", "topk_and_argtopk"],
)
def test_integers_in_order_do_not_change_with_them(ordered, dtype):
    a = at.TensorType(dtype, (None, None))("a")
    gradient = aesara.grad((ordered(a) * 0.5).sum(), a, disconnected_inputs="ignore")
    assert gradient.type.dtype == "float64"
    np.testing.assert_array_equal(aesara.function([a], gradient)(np.ones((2, 3), dtype)), np.zeros((2, 3)))


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_integers_alone_do_not_change_with_them(name):
    product, left, right = PRODUCTS[name]
    a, b = at.TensorType("int32", (None,) * len(left))("a"), at.TensorType("int8", (None,) * len(right))("b")
    gradient = aesara.grad((product(a, b) * 0.5).sum(), a)
    value = aesara.function([a, b], gradient, on_unused_input="ignore")(np.ones(left, "int32"), np.ones(right, "int8"))
    np.testing.assert_array_equal(value, np.zeros(left))


#: of two or three dimensions, with as many as the matrix of integers has, or fewer
RESULTS = {
    "AllocDiag": AllocDiag(),
    "AllocDiag, other axes": AllocDiag(-1, 0, 2),
    "diagonal": at.diagonal,
    "diag": lambda a: at.diag(a[0]),
    "fill_diagonal": lambda a: at.fill_diagonal(a, 3),
    "fill_diagonal, value": lambda a: at.fill_diagonal(a.zeros_like(), a[0, 0]),
    "fill_diagonal_offset": lambda a: at.fill_diagonal_offset(a, 3, 1),
    "fill_diagonal_offset, value": lambda a: at.fill_diagonal_offset(a.zeros_like(), a[0, 0], 1),
    "max_and_argmax": lambda a: at.max_and_argmax(a, 0)[0],
    "max_and_argmax of all": lambda a: at.max_and_argmax(a)[0],
    "max": lambda a: at.max(a, 0),
    "min": lambda a: at.min(a, 1),
    "ptp": lambda a: at.ptp(a, 0),
    "sum": lambda a: at.sum(a, 0),
    "prod": lambda a: at.prod(a, 0),
    "cumsum": lambda a: at.cumsum(a, 0),
    "cumprod": lambda a: at.cumprod(a, 1),
    "repeat": lambda a: at.repeat(a, 2, 0),
    "dimshuffle": lambda a: a.dimshuffle(1, "x", 0),
    "reshape": lambda a: a.reshape((3, 2)),
    "broadcast_to": lambda a: at.broadcast_to(a, (4, 2, 3)),
    "alloc": lambda a: at.alloc(a[0], 2, 3),
    "second": lambda a: at.second(at.zeros((2, 3)), a),
    "join": lambda a: at.join(0, a, a),
    "stack": lambda a: at.stack([a[0, 0], a[0, 1]]),
    "split": lambda a: at.split(a, [1, 1], 2)[0],
    "index": lambda a: a[0],
    "index, advanced": lambda a: a[[0, 1, 1]],
    "take": lambda a: at.take(a, [0, 1], 1),
    "set_subtensor": lambda a: at.set_subtensor(a[0], 1),
    "set_subtensor, value": lambda a: at.set_subtensor(a.zeros_like()[0], a[0]),
    "inc_subtensor": lambda a: at.inc_subtensor(a[0], a[1]),
    "set_subtensor, advanced": lambda a: at.set_subtensor(a[[0, 1]], a[[1, 0]]),
    "inc_subtensor, advanced": lambda a: at.inc_subtensor(a[[0, 1]], a[[1, 0]]),
    "choose": lambda a: at.choose([0, 1, 0], a),
    "compress": lambda a: at.compress([True, False], a, 0),
    "switch": lambda a: at.switch(a > 0, a, a.zeros_like()),
    "clip": lambda a: at.clip(a, a[0, 0], a[1, 0]),
    "arithmetic": lambda a: abs(a * a - 3 * a),
    "arange": lambda a: at.arange(a[0, 0]),
    "pad": lambda a: at.pad(a, 1, mode="edge"),
    "roll": lambda a: at.roll(a, 1),
    "diff": at.diff,
    "unique": at.unique,
    "specify_shape": lambda a: at.specify_shape(a, (2, 3)),
    "scalar": lambda a: at.tensor_from_scalar(at.scalar_from_tensor(a[0, 0])),
    "cast": lambda a: a.astype("uint8"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_that_are_integers_do_not_change_with_integers(name):
    """They are steps: the gradient is zero, and a number of the default dtype."""
    a = at.imatrix("a")
    for floatX in ("float64", "float32"):
        with aesara.config.change_flags(floatX=floatX):
            result = RESULTS[name](a)
            assert result.type.dtype in at.type.integer_dtypes
            gradient = aesara.grad((result * np.float32(0.5)).sum(), a, disconnected_inputs="ignore")
        assert gradient.type.dtype == floatX and gradient.type.ndim == 2
        value = gradient.eval({a: np.array([[1, 2, 3], [4, 0, 1]], "int32")}, mode="FAST_COMPILE")
        np.testing.assert_array_equal(value, np.zeros((2, 3)))
