"""Products and convolutions, compiled by JAX."""

import itertools
import re

import jax
import numpy as np
import pytest

import aesara.tensor as at
from aesara.tensor.nnet.conv_ops import AbstractConv2d, AbstractConv3d
from aesara.tensor.random.type import random_generator_type
from tests.link.jax_mode.matching import fail_alike, function_of, on_both


def numbers(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iub":
        return rng.integers(0, 2 if dtype == "bool" else 100, size=shape).astype(dtype)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if dtype.startswith("complex") else values).astype(dtype)


DTYPES = ["float64", "float32", "int8", "int64", "bool", "complex64", "complex128"]


@pytest.mark.parametrize("dtypes", list(itertools.product(DTYPES, DTYPES)), ids="-".join)
def test_products_of_dtypes(dtypes):
    x, y = (at.tensor(dtype=dtype, shape=(None, None)) for dtype in dtypes)
    values = numbers((3, 4), dtypes[0]), numbers((4, 2), dtypes[1], 1)
    on_both([x, y], [at.dot(x, y), at.dot(x[0], y), at.dot(x, y[:, 0]), at.dot(x[0], y[:, 0])], *values, rtol=1e-5)


def test_products_in_half_precision():
    x = at.tensor(dtype="float16", shape=(None, None))
    on_both([x], x @ x, numbers((5, 5), "float16"), rtol=2e-3)


@pytest.mark.parametrize("shapes", [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0))])
def test_empty_products(shapes):
    x, y = at.dmatrices("x", "y")
    on_both([x, y], [at.dot(x, y), at.matmul(x, y)], *map(numbers, shapes))


def test_batches():
    x, y = at.dtensor3("x"), at.dtensor3("y")
    on_both([x, y], [at.batched_dot(x, y), at.matmul(x, y)], numbers((4, 2, 3)), numbers((4, 3, 5), seed=1))
    one = at.tensor(dtype="float64", shape=(1, None, None))
    on_both([one, y], at.matmul(one, y), numbers((1, 2, 3)), numbers((4, 3, 5)))


def test_what_does_not_fit():
    x, y = at.dmatrices("x", "y")
    fail_alike(ValueError, [x, y], at.dot(x, y), np.ones((2, 3)), np.ones((2, 3)), match="not aligned")
    a, b = at.dtensor3("a"), at.dtensor3("b")
    fail_alike(ValueError, [a, b], at.batched_dot(a, b), np.ones((2, 3, 3)), np.ones((1, 3, 3)))
    fail_alike(ValueError, [a, b], at.matmul(a, b), np.ones((2, 3, 3)), np.ones((1, 3, 3)), match="static")


CONVOLUTIONS = [
    {},
    {"border_mode": "half", "filter_flip": False},
    {"border_mode": "full", "subsample": (2, 1)},
    {"border_mode": ((1, 0), (2, 3)), "filter_dilation": (2, 1)},
    {"num_groups": 2, "subsample": (2, 3)},
    {"border_mode": (1, 2), "unshared": True, "num_groups": 2},
    {"unshared": True, "filter_dilation": (1, 2), "filter_flip": False},
]


@pytest.mark.parametrize("dtype", ["float64", "int16", "complex128", "float16"])
@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
def test_convolutions(options, dtype):
    op = AbstractConv2d(**options)
    of_x, of_k = (2, 4, 9, 8), (3, 2)
    sizes = op.windows.output_sizes(of_x[2:], of_k)
    x = at.tensor(dtype=dtype, shape=(None,) * 4)
    positions = sizes if op.unshared else []
    w = at.tensor(dtype=dtype, shape=(None,) * (4 + len(positions)))
    y = at.tensor(dtype=dtype, shape=(None,) * 4)
    given = at.lvector("image"), at.lvector("kernel")
    outputs = [op(x, w), op.in_direction("weights")(x, y, given[1]), op.in_direction("inputs")(w, y, given[0])]
    values = (
        numbers(of_x, dtype),
        numbers((6, *positions, 4 // op.num_groups, *of_k), dtype, 1),
        numbers((2, 6, *sizes), dtype, 2),
    )
    on_both([x, w, y, *given], outputs, *values, of_x[2:], of_k, rtol=5e-3 if dtype == "float16" else 1e-9)


def test_convolution_of_volumes():
    op = AbstractConv3d(border_mode="half", subsample=(1, 2, 1))
    x, w = at.dtensor5("x"), at.dtensor5("w")
    cost = op(x, w).sum()
    on_both([x, w], [cost, *at.grad(cost, [x, w])], numbers((2, 3, 4, 5, 6)), numbers((2, 3, 2, 3, 3)))


def test_convolutions_that_do_not_fit():
    x, w = at.dtensor4("x"), at.dtensor4("w")
    y = AbstractConv2d()(x, w)
    fail_alike(ValueError, [x, w], y, numbers((2, 3, 5, 5)), numbers((2, 2, 3, 3)), match="channels")
    fail_alike(ValueError, [x, w], y, numbers((2, 3, 5, 5)), numbers((2, 3, 6, 3)), match="fit into|give")


def test_transformations_by_jax():
    x, w = at.dtensor4("x"), at.dtensor4("w")
    y = AbstractConv2d()(x, w)
    cost = at.dot(y.flatten(), y.flatten())
    function = function_of([x, w], [cost, *at.grad(cost, [x, w])])
    values = numbers((2, 3, 5, 5)), numbers((2, 3, 3, 3))
    found = jax.grad(lambda *v: function(*v)[0], (0, 1))(*values)
    for got, want in zip(found, jax.jit(function)(*values)[1:]):
        np.testing.assert_allclose(got, want, rtol=1e-9)
    batch = jax.vmap(function, (0, None))(np.stack([values[0]] * 2), values[1])
    np.testing.assert_allclose(batch[0][1], function(*values)[0], rtol=1e-9)


X, Y, KEY = at.fmatrix("X"), at.fmatrix("Y"), random_generator_type("KEY")
IMAGES, FILTERS, OF_POSITIONS = (at.tensor(dtype="float32", shape=(None,) * ndim) for ndim in (4, 4, 6))
OF_FLOAT32 = {
    "dot": ([X, Y], at.dot(X, Y)),
    "batched_dot": ([X, Y], at.batched_dot(X[None], Y[None])),
    "matmul": ([X, Y], at.matmul(X[None], Y)),
    "convolution": ([IMAGES, FILTERS], AbstractConv2d()(IMAGES, FILTERS)),
    "unshared convolution": ([IMAGES, OF_POSITIONS], AbstractConv2d(unshared=True)(IMAGES, OF_POSITIONS)),
    "draw": ([KEY, X], at.random.multivariate_normal(X[0], X, dtype="float32", rng=KEY)),
}


@pytest.mark.parametrize("name", OF_FLOAT32)
def test_products_of_float32_have_all_digits_unless_jax_is_told_otherwise(name):
    """A GPU would take numbers of 19 bits."""
    inputs, result = OF_FLOAT32[name]
    shapes = [(2, 3, 4, 4), (5, 1, 1, 3, 4, 4) if "unshared" in name else (5, 3, 4, 4)]
    values = [np.ones(shape if "conv" in name else (3, 3), "float32") for _, shape in zip(inputs, shapes)]
    if inputs[0] is KEY:
        values[0] = jax.random.PRNGKey(0)

    def precisions():
        lowered = jax.jit(function_of(inputs, result)).lower(*values).as_text()
        return set(re.findall(r"precision.*?(HIGHEST|HIGH|DEFAULT)", lowered))

    assert precisions() == {"HIGHEST"}
    with jax.default_matmul_precision("high"):
        assert precisions() == {"HIGH"}
