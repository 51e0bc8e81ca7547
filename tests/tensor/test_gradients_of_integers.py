"""Gradients with respect to integers: those of real numbers of the same value."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at

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
