"""Updates at repeated indices, with known and unknown lengths of the other dimensions.

A dimension known to be 1 has no loop, so that the loop over the indices may be the innermost one.
"""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.ir.interpret import run_program
from aesara.ir.verify_program import verify_program

REFERENCE = Mode(linker="py", optimizer=None)
#: indices with many repeats
VECTOR = np.array([0, 1, 0, 0, -1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0])
MATRIX = VECTOR[:18].reshape(6, 3)
COLUMN = VECTOR[:14].reshape(14, 1)

#: how `x` of each type is indexed
TYPES = {
    (None, 1): (4, 1), (5, 1): (5, 1), (None, 1, 1): (3, 1, 1), (5, 1, 1): (5, 1, 1), (1, None, 1): (1, 3, 1),
    (None, None): (4, 1), (1, 5): (1, 5), (1, None): (1, 5), (2, None, 1): (2, 3, 1), (None, 2, 1): (3, 2, 1),
    (None, 1, 2): (3, 1, 2), (None,): (3,), (2, 2): (2, 2),
}  # fmt: skip
INDICES = {
    "x[i]": lambda x, i, j: x[i],
    "x[:, i]": lambda x, i, j: x[:, i],
    "x[i, j]": lambda x, i, j: x[i, j],
    "x[i, :1]": lambda x, i, j: x[i, :1],
    "x[::-1][i]": lambda x, i, j: x[::-1, ...][i],
    "x.T[i]": lambda x, i, j: x.T[i],
    "x[i, None]": lambda x, i, j: x[i, None],
    "x[..., i]": lambda x, i, j: x[..., i],
    "x[i][j]": lambda x, i, j: x[i][j],
    "x[0, i]": lambda x, i, j: x[0, i],
    "x[i, 0]": lambda x, i, j: x[i, 0],
    "x[0, :, i]": lambda x, i, j: x[0, :, i],
    "x[i, :, j]": lambda x, i, j: x[i, :, j],
    "x[:, i, j]": lambda x, i, j: x[:, i, j],
}


def cases():
    """Iterate over types, indices and shapes that fit each other."""
    for (static, shape), (name, index) in itertools.product(TYPES.items(), INDICES.items()):
        for i in (VECTOR, MATRIX, COLUMN)[: 3 if name in ("x[i]", "x[i, j]") else 1]:
            x = np.zeros(shape)
            i = i % min(2, *shape) if shape else i
            try:
                index(x, i, i * 0)
            except IndexError:
                continue
            yield pytest.param(static, shape, name, i, id=f"{static}-{name}-{i.shape}".replace(" ", ""))


def interpreted(function, arguments):
    program = function._native.program
    verify_program(program)
    return run_program(program, arguments).returned


@pytest.mark.parametrize(("static", "shape", "name", "i"), list(cases()))
def test_updates(static, shape, name, i):
    rng = np.random.default_rng(0)
    index, x = INDICES[name], rng.normal(size=shape)
    tensor = at.tensor("float64", shape=static)
    p, q = (at.tensor("int64", shape=(None,) * i.ndim) for _ in range(2))
    j = i * 0 if name != "x[i][j]" else i % len(i)
    numbers = np.arange(x.size).reshape(shape)
    places = index(numbers, i, j)
    w = rng.normal(size=places.shape)
    value = at.tensor("float64", shape=(None,) * w.ndim)
    region = index(tensor, p, q)
    graphs, wanted = {}, {}
    if name not in ("x.T[i]", "x[i][j]", "x[::-1][i]"):
        graphs["added"], wanted["added"] = at.inc_subtensor(region, value), added(x, places, w)
        graphs["number added"], wanted["number added"] = at.inc_subtensor(region, 1.0), added(x, places, 1.0)
        put = x.copy().ravel()
        for place, number in zip(places.ravel(), w.ravel(), strict=True):
            put[place] = number
        graphs["set"], wanted["set"] = at.set_subtensor(region, value), put.reshape(shape)
    graphs["gradient"] = at.grad((region * value).sum(), tensor)
    wanted["gradient"] = added(np.zeros(shape), places, w)
    graphs["gradient of square"] = at.grad((region**2 * value).sum(), tensor)
    wanted["gradient of square"] = added(np.zeros(shape), places, w) * 2 * x
    inputs, arguments = [tensor, p, q, value], [x, i, j, w]
    functions = [
        aesara.function(inputs, list(graphs.values()), mode=m, on_unused_input="ignore") for m in (None, REFERENCE)
    ]
    assert not functions[0]._native.report.python_nodes
    verify_program(functions[0]._native.program)
    for function in functions:
        for what, got in zip(graphs, function(*arguments), strict=True):
            np.testing.assert_allclose(got, wanted[what], rtol=1e-12, atol=1e-12, err_msg=what)


def added(x, places, w):
    result = x.copy().ravel()
    np.add.at(result, places.ravel(), np.broadcast_to(w, places.shape).ravel())
    return result.reshape(x.shape)


@pytest.mark.parametrize("static", [(None, 1), (5, 1), (None, 1, 1), (5, None, 1)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "complex128", "bool"])
def test_values_that_are_broadcast(static, dtype):
    rank = len(static)
    x, i = at.tensor(dtype, shape=static), at.lvector()
    start, places = np.zeros((5, *(1,) * (rank - 1)), dtype), np.array([3, 0] + [3] * 10)
    values = [np.ones((12, *(1,) * (rank - 1)), dtype), np.ones(1, dtype), np.ones((), dtype)]
    variables = [at.tensor(dtype, shape=tuple(n if n == 1 else None for n in v.shape)) for v in values]
    graphs = [at.inc_subtensor(x[i], y) for y in (*variables, *values)]
    expected = start.copy()
    np.add.at(expected, places, np.ones((), dtype))
    for mode in (None, REFERENCE):
        for got in aesara.function([x, i, *variables], graphs, mode=mode)(start, places, *values):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("static", [(None, 1), (5, 1), (None, 1, 1)])
def test_in_steps_of_a_scan(static):
    x, i, w = at.tensor("float64", shape=static), at.lmatrix(), at.tensor("float64", shape=(None, *static[1:]))

    def step(row, state):
        return at.inc_subtensor(state[row], w), (state[row] ** 2).sum()

    (states, sums), _ = aesara.scan(step, [i], [at.specify_shape(x, static), None])
    gradient = at.grad(sums.sum() + states[-1].sum(), x)
    rng = np.random.default_rng(0)
    rest = static[1:]
    x_value, w_value = rng.normal(size=(5, *rest)), rng.normal(size=(13, *rest))
    rows = rng.integers(0, 2, (4, 13))
    native = aesara.function([x, i, w], [states[-1], gradient])
    expected = aesara.function([x, i, w], [states[-1], gradient], mode=REFERENCE)(x_value, rows, w_value)
    state = x_value.copy()
    for row in rows:
        np.add.at(state, row, w_value)
    np.testing.assert_allclose(expected[0], state, rtol=1e-12)
    for got, want in zip(native(x_value, rows, w_value), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_column_of_effects():
    """The gradient of a regression with one effect for each group."""
    mu, group, y = at.tensor("float64", shape=(None, 1)), at.lvector(), at.dmatrix()
    loss = ((y - mu[group]) ** 2).sum()
    rng = np.random.default_rng(0)
    values = rng.normal(size=(7, 1)), rng.integers(0, 7, 500), rng.normal(size=(500, 1))
    expected = np.zeros((7, 1))
    np.add.at(expected, values[1], -2 * (values[2] - values[0][values[1]]))
    f = aesara.function([mu, group, y], at.grad(loss, mu))
    np.testing.assert_allclose(f(*values), expected, rtol=1e-12)


def test_the_interpreter_agrees():
    x, i = at.tensor("float64", shape=(None, 1)), at.lvector()
    f = aesara.function([x, i], [at.inc_subtensor(x[i], 1.0), at.set_subtensor(x[:, 0], 2.0)])
    added_to, put = interpreted(f, [np.zeros((2, 1)), np.zeros(12, "int64")])
    np.testing.assert_array_equal(added_to, [[12.0], [0.0]])
    np.testing.assert_array_equal(put, [[2.0], [2.0]])
