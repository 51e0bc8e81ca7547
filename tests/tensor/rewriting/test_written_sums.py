"""Sums with differences keep the order in which they are written, and so their digits."""

import random

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode

RULES = Mode(linker="py", optimizer="fast_run")


def written(rng, leaves):
    """A random sum of all leaves, by name, and its operation; what is added is no sum: additions are joined."""
    if len(leaves) == 1:
        return leaves[0], ""
    k = rng.randrange(1, len(leaves))
    (left, _), (right, of_right) = written(rng, leaves[:k]), written(rng, leaves[k:])
    op = "-" if of_right == "+" else rng.choice("+-")
    return f"({left} {op} {right})", op


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("mode", [RULES, None], ids=["rules", "native"])
def test_random_sums_have_the_digits_of_the_formula_as_written(dtype, mode, rng):
    names = "abcdef"
    variables = dict(zip(names, (at.vector(name, dtype=dtype) for name in names)))
    # Numbers of a few sizes, nearly the same ones among them.
    sizes = rng.choice([1e8, -1e8, 1.0, 1e-3], (6, 200))
    values = (sizes * (1 + 1e-6 * rng.normal(size=sizes.shape))).astype(dtype)
    seeds = random.Random(dtype)
    formulas = {written(seeds, list(names)[: seeds.randrange(3, 7)])[0] for _ in range(40)}
    formulas = sorted(formula for formula in formulas if "-" in formula)
    assert len(formulas) > 20
    outs = [eval(formula, dict(variables)) for formula in formulas]
    function = aesara.function(list(variables.values()), outs, mode=mode, on_unused_input="ignore")
    for formula, found in zip(formulas, function(*values), strict=True):
        np.testing.assert_array_equal(found, eval(formula, dict(zip(names, values))), formula)


CANCELLING = {
    "(-(x - y)) - z": "(y - x) - z",
    "(-(x - y)) + z": "(y - x) + z",
    "z - (-(x - y))": "z + (x - y)",
    "(-x) + y - z": "(y - x) - z",
    "(-x) - y + z": "z - (x + y)",
    "(-x) - y - (z - w)": "(w - z) - (x + y)",
    "(x - y) - z - x": "(-y) - z",
    "(x - y) + (z - x)": "z - y",
    "(x - y) - (z - y) + w": "(x - z) + w",
    "(x - y) - (x - y) - z": "-z",
    "((x - y) + w) - (z + w)": "(x - y) - z",
    "(x - (y - z)) - (z - w)": "(x - y) + w",
    "(x - 1) - y + 3": "(x + 2) - y",
    "(x - y) - 1 - z + 1": "(x - y) - z",
    "2 - (x - (y - 2))": "-(x - y)",
    "(x - y) - z + (y - w) + z": "x - w",
}


@pytest.mark.parametrize("formula", CANCELLING)
def test_what_is_left_when_signs_and_terms_cancel_keeps_its_order(formula, rng):
    variables = dict(zip("xyzw", at.dvectors("xyzw")))
    values = dict(zip("xyzw", 1e8 * (1 + 1e-8 * rng.normal(size=(4, 100)))))
    function = aesara.function(
        list(variables.values()), eval(formula, dict(variables)), mode=RULES, on_unused_input="ignore"
    )
    np.testing.assert_array_equal(function(*values.values()), eval(CANCELLING[formula], values))


def test_integers_are_sorted_into_two_sides():
    x, y, z = at.lvectors("xyz")
    function = aesara.function([x, y, z], (x - y) - (z - y), mode=RULES.excluding("inplace"))
    (node,) = function.maker.fgraph.apply_nodes
    assert node.inputs == [function.maker.fgraph.inputs[0], function.maker.fgraph.inputs[2]]


def test_a_long_sum_of_differences():
    x = at.dvectors(400)
    out = x[0]
    for k, term in enumerate(x[1:]):
        out = out - term if k % 2 else out + term
    values = np.random.default_rng(3).normal(size=(400, 5)) * 1e8
    wanted = values[0]
    for k, term in enumerate(values[1:]):
        wanted = wanted - term if k % 2 else wanted + term
    np.testing.assert_array_equal(aesara.function(x, out)(*values), wanted)


def test_differences_within_logarithms():
    x, y = at.dvectors("xy")
    function = aesara.function([x, y], at.log(at.exp(x - y) / x**2))
    a = np.array([1e8, 1e12])
    np.testing.assert_array_max_ulp(function(a, a + 0.5), -0.5 - 2 * np.log(a), 2)


@pytest.mark.parametrize("axes", [(0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2), (1, 3), (0,), (2,)])
def test_sums_over_axes_along_which_factors_are_constant(axes, rng):
    shapes = [(3, 1, 1, 2), (1, 4, 1, 1), (1, 4, 5, 2), (3, 1, 5, 1)]
    inputs = [at.tensor("float64", tuple(n if n == 1 else None for n in shape)) for shape in shapes]
    values = [rng.normal(size=shape) for shape in shapes]
    pairs = [(a, b) for a in range(4) for b in range(a)]
    f = aesara.function(inputs, [(inputs[a] * inputs[b]).sum(axes) for a, b in pairs], mode=RULES)
    for found, (a, b) in zip(f(*values), pairs, strict=True):
        np.testing.assert_allclose(found, (values[a] * values[b]).sum(axes), rtol=1e-12, atol=1e-13)
