"""Ops that run in Python are computed as often as PyTensor computes them: equal applications once."""

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")

import pytensor.tensor as pt
from pytensor.compile.ops import wrap_py
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.c.type import generic
from pytensor.scan import scan

import aesara.pytensor

X = np.array([1.0, 2.0, 3.0])


class Counting(Op):
    """Counts the calls of its ``perform``; subclasses say by what they are compared."""

    calls = 0
    outputs = 1

    def make_node(self, *inputs):
        inputs = [pt.as_tensor(x) for x in inputs]
        return Apply(self, inputs, [inputs[0].type() for _ in range(self.outputs)])

    def perform(self, node, inputs, outputs):
        Counting.calls += 1
        for place, cell in enumerate(outputs):
            cell[0] = np.asarray((place + 1) * sum(inputs) * getattr(self, "factor", 1.0))


class Scaled(Counting):
    __props__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor


class Unequal(Counting):
    """Without properties: equal to itself only."""


class Two(Counting):
    __props__ = ()
    outputs = 2


class Drawing(Counting):
    """Other numbers in each call, from a generator that nobody sees."""

    __props__ = ()
    hidden = np.random.default_rng(1)

    def perform(self, node, inputs, outputs):
        Counting.calls += 1
        outputs[0][0] = inputs[0] + self.hidden.normal(size=3)


def calls(outputs, inputs=(), values=(), mode="AESARA"):
    """Count the calls of ``perform`` in one call of a function; returns its results too."""
    f = pytensor.function(list(inputs), outputs, mode=mode)
    Counting.calls = 0
    return f(*values), Counting.calls


x = pt.vector("x")
same, other = Unequal(), Unequal()
CASES = {
    "the same Op": lambda: (same(x) ** 2).sum() + same(x).sum(),
    "equal Ops": lambda: (Scaled(2.0)(x) ** 2).sum() + Scaled(2.0)(x).sum(),
    "equal inputs": lambda: Scaled(2.0)(pt.exp(x)) + pt.sin(Scaled(2.0)(pt.exp(x))),
    "one after the other": lambda: Scaled(2.0)(Scaled(2.0)(x)) + Scaled(2.0)(Scaled(2.0)(x)) ** 2,
    "several outputs": lambda: Two()(x)[0] + Two()(x)[1] ** 2,
    "one of the outputs": lambda: Two()(x)[1] + Two()(x)[1] ** 2,
    "equal constants": lambda: Scaled(2.0)(x, X) + Scaled(2.0)(x, X.copy()) ** 2,
    "unequal properties": lambda: Scaled(2.0)(x) + Scaled(3.0)(x),
    "unequal Ops": lambda: same(x) + other(x) ** 2,
    "unequal classes": lambda: Scaled(2.0)(x) + Two()(x)[1],
    "unequal constants": lambda: Scaled(2.0)(x, X) + Scaled(2.0)(x, X + 1),
    "unequal inputs": lambda: Scaled(2.0)(x) + Scaled(2.0)(x + 1),
    "inputs the other way": lambda: Scaled(2.0)(x, x + 1) + Scaled(2.0)(x + 1, x),
    "what draws": lambda: Drawing()(x) + Drawing()(x),
}


@pytest.mark.parametrize("name", CASES)
def test_nodes_are_merged_as_by_pytensor(name):
    (found, ours), (expected, theirs) = (
        calls(CASES[name](), [x], [X.copy()], mode=mode) for mode in ("AESARA", pytensor.compile.mode.Mode("py"))
    )
    assert ours == theirs
    if name == "what draws":
        assert ours == 1
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_counts():
    """The numbers themselves, not only those of PyTensor."""
    counted = {name: calls(build(), [x], [X.copy()])[1] for name, build in CASES.items()}
    unequal = {"one after the other", *(name for name in CASES if name.startswith(("unequal", "inputs the")))}
    assert counted == {name: 2 if name in unequal else 1 for name in CASES}


def test_constants_without_a_hash_are_computed_each_time():
    class Chosen(Counting):
        __props__ = ()

        def make_node(self, x, places):
            return Apply(self, [x, generic.make_constant(places)], [x.type()])

        def perform(self, node, inputs, outputs):
            Counting.calls += 1
            outputs[0][0] = inputs[0][inputs[1]]

    found, number = calls([Chosen()(x, [0, 1]), Chosen()(x, [1, 2])], [x], [X])
    assert number == 2
    np.testing.assert_array_equal(found, [X[:2], X[1:]])


def test_functions_of_numpy():
    @wrap_py([pt.dvector, pt.lscalar], [pt.dvector])
    def repeated(x, n):
        Counting.calls += 1
        return n * x

    two, three = pt.constant(2, dtype="int64"), pt.constant(3, dtype="int64")
    found, number = calls([repeated(x, two) + repeated(x, two) ** 2, repeated(x, three)], [x], [X])
    assert number == 2
    np.testing.assert_allclose(found, [2 * X + 4 * X**2, 3 * X], rtol=1e-15)


def test_types_are_compared():
    """An Op may give other types for the same inputs."""

    class Cast(Counting):
        __props__ = ()

        def make_node(self, x, dtype="float64"):
            return Apply(self, [x], [pt.TensorType(dtype, (None,))()])

        def perform(self, node, inputs, outputs):
            Counting.calls += 1
            outputs[0][0] = inputs[0].astype(node.outputs[0].type.dtype)

    cast = Cast()
    (wide, narrow, again), number = calls([cast(x), cast(x, "int8"), cast(x, dtype="int8") + 1], [x], [X])
    assert (number, wide.dtype, narrow.dtype) == (2, "float64", "int8")
    np.testing.assert_array_equal(again, narrow + 1)


def test_in_a_loop():
    step = lambda u: Scaled(0.5)(u) + Scaled(0.5)(u) ** 2
    made = scan(step, outputs_info=[x], n_steps=4, return_updates=False)
    assert calls(made[-1], [x], [X])[1] == 4


def test_equal_differential_equations_are_solved_once(monkeypatch):
    pm = pytest.importorskip("pymc")
    solved = []
    equation = pm.ode.DifferentialEquation(
        func=lambda y, t, p: [-p[0] * y[0]], times=np.linspace(0.1, 1, 5), n_states=1, n_theta=1
    )
    simulate = type(equation)._simulate
    monkeypatch.setattr(type(equation), "_simulate", lambda *a, **k: solved.append(1) or simulate(*a, **k))
    with pm.Model() as model:
        rate = pm.LogNormal("rate", 0, 1)
        pm.Normal("y", equation(y0=[1.0], theta=[rate])[:, 0], 0.1, observed=np.ones(5))
    f = aesara.pytensor.compile_logp(model)
    solved.clear()
    f(np.array([0.3]))
    assert len(solved) == 1
