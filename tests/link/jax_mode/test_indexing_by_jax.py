"""`nonzero`, permutations, `choose` and index conversions, compiled by JAX."""

import jax
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.indexing.selection import Default
from tests.link.jax_mode.matching import fail_alike, function_of, on_both

X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("inverse", [0, 1])
def test_permutations(inverse):
    x, p, which = at.dmatrix("x"), at.lmatrix("p"), at.lscalar("which")
    rng = np.random.default_rng(0)
    orders = np.stack([rng.permutation(4) for _ in range(3)])
    permute = at.basic.permute_row_elements
    outputs = [
        permute(x, p, inverse),
        permute(x, p, which),
        permute(x[0], p[0], inverse),
        permute(x, p[0], inverse),
        permute(x[0], p, inverse),
        permute(x, p - 4, inverse),
        permute(x, at.zeros_like(p), inverse),
        at.inverse_permutation(p),
    ]
    on_both([x, p, which], outputs, X, orders, inverse)
    on_both([x, p], permute(x, p, inverse), np.zeros((0, 4)), np.zeros((0, 4), int))
    fail_alike(IndexError, [x, p], permute(x, p, inverse), X, np.full((3, 4), 4), match="out of bounds")


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_choices(mode):
    a, choices = at.lmatrix("a"), at.dtensor3("choices")
    values = np.arange(24.0).reshape(2, 3, 4)
    which = np.arange(12).reshape(3, 4) % 2
    on_both([a, choices], [at.choose(a, choices, mode), at.choose(a[0], choices, mode)], which, values)
    on_both([a, choices], at.choose(a > 0, choices[:, 0], mode), which, values)
    on_both([a, choices], at.choose(a, choices, mode), which[:0], values[:, :0])
    outside = which * 7 - 3
    if mode == "raise":
        fail_alike(ValueError, [a, choices], at.choose(a, choices), outside, values, match="there are 2 choices")
    else:
        on_both([a, choices], at.choose(a, choices, mode), outside, values)
    fail_alike((IndexError, ValueError), [a, choices], at.choose(a, choices, mode), which, values[:0])


@pytest.mark.parametrize("order", ["C", "F"])
def test_conversion_of_positions(order):
    k, dims = at.lmatrix("k"), at.lvector("dims")
    known = at.unravel_index(k, (3, 4), order=order)
    unknown = at.unravel_index(k, at.stack([dims[0], dims[1]]), order=order)
    values = np.arange(12)[::-1].reshape(2, 6), np.array([3, 4])
    back = at.ravel_multi_index(known, dims, order=order)
    on_both([k, dims], [*known, *unknown, back], *values)
    on_both([k, dims], list(known), values[0][:0], values[1])
    for wrong in (12, -1):
        fail_alike(ValueError, [k], list(known), np.array([[wrong]]), match="is out of bounds for")


@pytest.mark.parametrize("mode", ["wrap", "clip", ("clip", "wrap"), ("raise", "clip")])
def test_positions_out_of_range(mode):
    i, j = at.lvector("i"), at.bmatrix("j")
    values = np.array([0, 1, 2]), np.array([[-1, 4, 9], [-120, 2, 127]], "int8")
    outputs = [at.ravel_multi_index((i, j), (3, 4), mode=mode, order=order) for order in "CF"]
    on_both([i, j], outputs, *values)
    fail_alike(ValueError, [i, j], at.ravel_multi_index((i, j), (3, 4)), *values, match="invalid entry in coordinates")


def test_what_is_not_zero():
    x = at.dmatrix("x")
    known = at.constant(np.array([[0.0, np.nan, -0.0], [2.0, 0.0, np.inf]]))
    on_both([x], [*at.nonzero(known), at.flatnonzero(known), *at.nonzero(at.eye(x.shape[0]))], X)
    with pytest.raises(TypeError, match="The number of the entries that are not zero has to be known"):
        aesara.function([x], at.nonzero(x), mode="JAX")(X)


def test_defaults():
    x, y = at.dvectors("x", "y")
    on_both([x, y], Default()(x, y), np.ones(3), np.zeros(2))


def test_what_jax_does_with_them():
    x, p, a = at.dvector("x"), at.lvector("p"), at.lvector("a")
    f = function_of([x, p, a], at.basic.permute_row_elements(x, p, 1) * at.choose(a, x**2 * [[1.0], [-3.0]]))
    values = np.arange(1.0, 4.0), np.array([2, 0, 1]), np.array([0, 1, 1])

    def of_numpy(x, p, a):
        return x[np.argsort(p)] * np.where(a == 0, x**2, -3 * x**2)

    many = [np.stack([v, v[::-1]]) for v in values]
    found = jax.jit(jax.vmap(f))(*many)[0]
    np.testing.assert_allclose(found, [of_numpy(*rows) for rows in zip(*many)], rtol=1e-12)
    slope = jax.grad(lambda x: f(x, *values[1:])[0].sum())(values[0])
    step = 1e-6
    for k, number in enumerate(slope):
        change = np.eye(3)[k] * step
        difference = of_numpy(values[0] + change, *values[1:]) - of_numpy(values[0] - change, *values[1:])
        np.testing.assert_allclose(number, difference.sum() / (2 * step), rtol=1e-6)
