"""Sums with tensors that are zero but for a part."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.rewriting.helpers import has_value
from aesara.tensor.subtensor import inc_subtensor, set_subtensor

REWRITTEN = Mode("py", "fast_run")
WRITERS = (IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1)
X = np.arange(20.0).reshape(5, 4)
Y = np.array([[0.5, -1.0, 2.0, 3.0], [1.5, 4.0, -2.0, 8.0], [0.25, 1.0, 1.0, -3.0]])
J = np.array([1, 4, 1])
INDICES = {
    "slice": lambda j: slice(1, 4),
    "steps": lambda j: slice(None, None, -2),
    "positions": lambda j: j,
    "two positions": lambda j: (j, slice(None, None, -1)),
    "mask": lambda j: np.array([True, False, True, True, False]),
}
SUMS = {
    "added": lambda x, part, c: x + part,
    "added before": lambda x, part, c: part + x,
    "subtracted": lambda x, part, c: x - part,
    "scaled": lambda x, part, c: x - 0.5 * part,
    "scaled by a variable": lambda x, part, c: x + c * part,
    "negated": lambda x, part, c: x + -(c * part),
    "among others": lambda x, part, c: x + 2.0 + part + x**2,
    "decayed": lambda x, part, c: c * x + part,
    "through a gradient": lambda x, part, c: x - c * aesara.grad((x**2).sum() + (part * 2.0).sum(), x),
}


def variables():
    return at.dmatrix("x"), at.dmatrix("y"), at.lvector("j"), at.dscalar("c")


@pytest.mark.parametrize("summed", SUMS)
@pytest.mark.parametrize("index", INDICES)
def test_sums_with_scattered_terms_keep_values(index, summed):
    x, y, j, c = variables()
    part = inc_subtensor(at.zeros_like(x)[INDICES[index](j)], y)
    out = SUMS[summed](x, part, c)
    f = aesara.function([x, y, j, c], out, mode=REWRITTEN, on_unused_input="ignore")
    reference = aesara.function([x, y, j, c], out, mode="FAST_COMPILE", on_unused_input="ignore")
    native = aesara.function([x, y, j, c], out, on_unused_input="ignore")
    expected = reference(X, Y, J, 0.25)
    np.testing.assert_array_equal(f(X, Y, J, 0.25), expected)
    np.testing.assert_array_equal(native(X, Y, J, 0.25), expected)
    if summed == "through a gradient":
        return
    writers = [n for n in f.maker.fgraph.apply_nodes if isinstance(n.op, WRITERS)]
    (writer,) = writers
    assert f.maker.fgraph.outputs[0].owner is writer or f.maker.fgraph.outputs[0].owner.inputs[0].owner is writer


def test_updates_touch_what_is_used():
    table = aesara.shared(X.copy())
    j, y = at.lvector("j"), at.dmatrix("y")
    loss = ((table[j] - y) ** 2).sum()
    f = aesara.function([j, y], loss, updates={table: table - 0.1 * aesara.grad(loss, table)})
    expected = X.copy()
    for _ in range(3):
        gradient = np.zeros_like(X)
        np.add.at(gradient, J, 2 * (expected[J] - Y))
        np.testing.assert_allclose(f(J, Y), ((expected[J] - Y) ** 2).sum(), rtol=1e-13)
        expected -= 0.1 * gradient
        np.testing.assert_allclose(table.get_value(), expected, rtol=1e-13)
    outputs = f.maker.fgraph.outputs
    assert any(isinstance(out.owner.op, AdvancedIncSubtensor1) for out in outputs)


@pytest.mark.parametrize(
    "build",
    [
        lambda x, y, j, z: z + inc_subtensor(at.zeros_like(x)[j], y),  # of unknown shape
        lambda x, y, j, z: (lambda part: (x + part) * part)(inc_subtensor(at.zeros_like(x)[j], y)),  # used twice
        lambda x, y, j, z: x + set_subtensor(at.zeros_like(x)[j], y),  # positions may repeat
        lambda x, y, j, z: x + inc_subtensor(at.ones_like(x)[j], y),
        lambda x, y, j, z: z[0] + inc_subtensor(at.zeros_like(x)[j], y),  # broadcast
        lambda x, y, j, z: x + z * inc_subtensor(at.zeros_like(x)[j], y),  # by more than a number
    ],
)
def test_what_is_left(build):
    x, y, j, _ = variables()
    z = at.dmatrix("z")
    out = build(x, y, j, z)
    f = aesara.function([x, y, j, z], out, mode=REWRITTEN, on_unused_input="ignore")
    reference = aesara.function([x, y, j, z], out, mode="FAST_COMPILE", on_unused_input="ignore")
    np.testing.assert_array_equal(f(X, Y, J, X[::-1]), reference(X, Y, J, X[::-1]))
    assert not isinstance(f.maker.fgraph.outputs[0].owner.op, WRITERS[1:])


SHAPES = [(None, None), (5, 4), (1, None), (1, 4), (None, 1), (5, 1), (1, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_broadcast_terms(shape, other):
    """A term that is broadcast is not written to, and no term is written into one that is broadcast."""
    a, b, c = (at.tensor("float64", shape=s, name=n) for s, n in zip([(None, None), shape, other], "abc"))
    v, j = at.dscalar("v"), at.lvector("j")
    row = set_subtensor(at.zeros_like(b)[0], v)
    columns = inc_subtensor(at.zeros_like(c)[:, j], v)
    outs = [a + b + row, a + c - 2.0 * columns, a - row, row + columns, b + columns, a + b + row + c + columns]
    outs += aesara.grad((outs[-1] ** 2).sum(), [a, b, c])
    given = [X, *(np.ones([1 if n == 1 else m for n, m in zip(s, (5, 4))]) for s in (shape, other)), 3.0, [0, 0, -1]]
    for out in outs:  # one by one: a term that others read is left
        f = aesara.function([a, b, c, v, j], out, mode=REWRITTEN, on_unused_input="ignore")
        reference = aesara.function([a, b, c, v, j], out, mode=Mode("py", None), on_unused_input="ignore")
        np.testing.assert_allclose(f(*given), reference(*given), rtol=1e-14)


def test_gradient_of_differences_of_a_broadcast_sum():
    a = at.dmatrix("a")
    gradient = aesara.grad((a**2).sum() + at.diff(a.sum(axis=0, keepdims=True), axis=0).sum(), a)
    for mode in (None, "FAST_COMPILE"):
        np.testing.assert_array_equal(aesara.function([a], gradient, mode=mode)(X), 2 * X)


def test_known_errors_are_left_to_the_call():
    """Of a position that turns out to be out of range while rewriting, the call tells, and the rule does not fail."""
    x, y = at.tensor("float64", shape=(None, 2)), at.tensor("float64", shape=(2, 2))
    out = x + y + inc_subtensor(at.zeros_like(x)[np.array([0, 5, 0])], 1.0)
    f = aesara.function([x, y], out, mode=REWRITTEN)
    with pytest.raises(IndexError, match="out of bounds"):
        f(np.ones((2, 2)), np.ones((2, 2)))


def test_sizes_that_differ_are_still_reported():
    x, y, j, _ = variables()
    z = at.dmatrix("z")
    f = aesara.function([x, y, j, z], z + inc_subtensor(at.zeros_like(x)[j], y))
    with pytest.raises(ValueError):
        f(X, Y, J, X[:3])


@pytest.mark.parametrize("others", [0, 1, 2])
def test_many_parts_are_added_at_once(others):
    x = at.dvector("x")
    parts = [inc_subtensor(at.zeros_like(x)[i], x[i] * x[2 * i]) for i in range(10)]
    scaled = [-3.0 * inc_subtensor(at.zeros_like(x)[2:5], x[:3])]
    total = at.add(*[at.exp(x), at.sin(x)][:others], *parts, *scaled)
    f = aesara.function([x], total, mode=REWRITTEN)
    reference = aesara.function([x], total, mode="FAST_COMPILE")
    values = np.random.default_rng(0).normal(size=20)
    np.testing.assert_allclose(f(values), reference(values), rtol=1e-15, atol=1e-15)
    assert sum(has_zeros(node) for node in f.maker.fgraph.apply_nodes) <= (others == 0)


def has_zeros(node):
    """Return whether a node writes into a tensor of zeros."""
    return isinstance(node.op, IncSubtensor) and has_value(node.inputs[0], 0)
