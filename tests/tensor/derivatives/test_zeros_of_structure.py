"""Gradients are zero where nothing is read, whatever the slopes are there.

Each choice reads entries of ``f(x)`` outside of the last column, where ``f`` has a slope that is infinite or NaN.
Gradients are compared with finite differences of what is read, and with zero in the last column.
"""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ifelse import ifelse
from aesara.scan.utils import until
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.vectorization.blockwise import Blockwise

VALUES = np.array([[0.31, 0.52, 0.83, 0.0], [0.44, 0.25, 0.66, 0.0], [0.77, 0.58, 0.39, 0.0]])
IS_READ = np.array([True, True, True, False])
MATRIX = np.array([[1.0, -2.0, 0.5], [0.3, 1.5, -1.0], [2.0, 0.1, 0.7]])

#: function -> (expression, the point at which its slope is infinite or NaN)
FUNCTIONS = {
    "sqrt": (at.sqrt, 0.0),
    "log": (at.log, 0.0),
    "power": (lambda x: x**0.3, 0.0),
    "negative power": (lambda x: x**-1.5, 0.0),
    "reciprocal": (at.reciprocal, 0.0),
    "arccos": (at.arccos, 1.0),
    "log1p": (lambda x: at.log1p(-x), 1.0),
    "norm": (lambda x: at.sqrt(x**2 + (2 * x) ** 2), 0.0),
    "arctan2": (lambda x: at.arctan2(x, x**2), 0.0),
    "gammaln": (at.gammaln, 0.0),
    "entropy": (lambda x: x * at.log(x), 0.0),
    "quotient": (lambda x: at.sin(x) / x, 0.0),
    "logaddexp": (lambda x: at.logaddexp(x, 2 * x), -np.inf),
}


def extremum(y, low):
    """Return the largest entry of each row, or the smallest where `low` is false."""
    return y.max(axis=1) if low else y.min(axis=1)


def bounded(y, low, level):
    return at.maximum(y, level) if low else at.minimum(y, level)


def of_columns(y, low):
    """Return the rows sorted, without the entries that come from the last column."""
    return at.sort(y, axis=1)[:, 1:] if low else at.sort(y, axis=1)[:, :3]


def states(y):
    sums, _ = aesara.scan(lambda row, total: total + row, sequences=y.T, outputs_info=at.zeros_like(y.T[0]))
    return sums[:3]


def products(y):
    found, _ = aesara.scan(lambda row, state: state * row, sequences=y.T, outputs_info=at.ones_like(y.T[0]))
    return found[1]


def rows_of_loop(y):
    rows, _ = aesara.scan(lambda row: at.sqrt(row**2 + 1), sequences=y.T)
    return rows[:3]


CONDITION = np.broadcast_to(IS_READ, VALUES.shape)

#: name -> expression of y, which reads no entry of the last column
CHOICES = {
    "entry": lambda y: y[0, 0],
    "two entries": lambda y: y[0, 0] * y[2, 1],
    "slice": lambda y: y[:, :3],
    "column": lambda y: y[:, 0],
    "steps": lambda y: y[::2, :3:2],
    "backwards": lambda y: y[:, -2::-1],
    "slices that overlap": lambda y: y[:, :2].sum() + (y[:, 1:3] ** 2).sum(),
    "slice of a slice": lambda y: y[1:][:, :3][0],
    "index arrays": lambda y: y[[0, 0, 2], [1, 1, 0]],
    "columns by index": lambda y: y[:, [0, 1, 1]],
    "index of variables": lambda y: y[:, at.arange(3)],
    "take": lambda y: y.take([0, 2], axis=1),
    "take_along_axis": lambda y: at.take_along_axis(y, at.as_tensor([[0], [1], [2]]), axis=1),
    "mask": lambda y: y[CONDITION],
    "mask of columns": lambda y: y[:, IS_READ],
    "compress": lambda y: at.compress(IS_READ, y, axis=1),
    "diagonal": lambda y: at.diagonal(y),
    "tril": lambda y: at.tril(y),
    "triu of flipped": lambda y: at.triu(y[:, ::-1], 1),
    "switch": lambda y: at.switch(CONDITION, y, 0),
    "switch, other side": lambda y: at.switch(~CONDITION, 0, y),
    "switch of three": lambda y: at.switch(CONDITION, at.switch(y > 0, y, y**2), 1),
    "where of a column": lambda y: at.where(IS_READ[None], y, 2.0),
    "ifelse": lambda y: ifelse(at.lt(y[0, 0], 1e9), y[:, :3].sum(), y.sum()),
    "ifelse of wholes": lambda y: ifelse(at.lt(y[0, 0], -1e9), y, at.ones_like(y)) + y[0, 0],
    "choose": lambda y: at.choose(at.as_tensor(CONDITION.astype("int64")), [at.zeros_like(y), y]),
    "select": lambda y: at.select([CONDITION], [y], 0.0),
    "join": lambda y: at.concatenate([y, y**2], axis=1)[:, [0, 1, 4, 5]],
    "split": lambda y: at.split(y, [3, 1], 2, axis=1)[0],
    "stack": lambda y: at.stack([y, 2 * y])[1, :, :3],
    "what is overwritten": lambda y: at.set_subtensor(y[:, 3], 1.0),
    "what is overwritten by index": lambda y: at.set_subtensor(y[:, [3]], at.ones((3, 1))),
    "what is added": lambda y: at.inc_subtensor(at.zeros((3, 3))[:, 1:], y[:, :2]),
    "pad": lambda y: at.pad(y[:, :3], 1),
    "roll": lambda y: at.roll(y, 1, axis=1)[:, 1:],
    "flip": lambda y: at.flip(y, 1)[:, 1:],
    "repeat": lambda y: at.repeat(y, 2, axis=1)[:, :6],
    "reshape": lambda y: y.reshape((-1,))[[0, 1, 2, 4]],
    "transpose": lambda y: y.T[:3],
    "broadcast": lambda y: at.broadcast_to(y[None], (2, 3, 4))[1, :, :3],
    "cumsum": lambda y: at.cumsum(y.T, axis=1)[:3],
    "sums of columns": lambda y: at.sqrt((y**2).sum(axis=0))[:3],
    "means of columns": lambda y: y.mean(axis=0)[:3],
    "products of columns": lambda y: y.prod(axis=0)[:3],
    "logsumexp of columns": lambda y: at.logsumexp(y, axis=0)[:3],
    "softmax of columns": lambda y: at.special.softmax(y, axis=0)[1, :3],
    "product with a matrix": lambda y: (y.T @ MATRIX)[:3],
    "product from the left": lambda y: (MATRIX @ y)[:, :2],
    "product with itself": lambda y: (y.T @ y)[:3, :3],
    "rows of a loop": rows_of_loop,
    "states of a loop": states,
    "state in the middle": products,
}
SCALAR_CHOICES = ("max", "maximum", "clip", "sort", "topk")


def point(name):
    x = VALUES.copy()
    x[:, 3] = FUNCTIONS[name][1]
    return x


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("choice", CHOICES)
def test_gradient_is_zero_where_nothing_is_read(choice, mode):
    xs = [at.matrix() for _ in FUNCTIONS]
    costs = [CHOICES[choice](f(x)).sum() for x, (f, _) in zip(xs, FUNCTIONS.values())]
    check(dict(zip(FUNCTIONS, zip(xs, costs))), mode)


def check(costs, mode):
    xs, values = zip(*costs.values())
    gradients = aesara.grad(sum(values), list(xs))
    f = aesara.function(list(xs), [*gradients, *values], mode=mode, on_unused_input="ignore")
    points = [point(name) for name in costs]
    found = f(*points)[: len(xs)]
    # All functions at once: entry by entry they do not depend on each other.
    expected = finite_differences_of_all(f, points)
    for name, got, wanted in zip(costs, found, expected):
        np.testing.assert_allclose(got, wanted, rtol=2e-6, atol=2e-6, err_msg=name)
        assert not got[~CONDITION].any(), name


def finite_differences_of_all(f, points):
    n = len(points)
    expected = [np.zeros_like(x) for x in points]
    for place in map(tuple, np.argwhere(CONDITION)):
        values = []
        for step in (1e-5, -1e-5):
            moved = [x.copy() for x in points]
            for x in moved:
                x[place] += step
            values.append(f(*moved)[n:])
        for k in range(n):
            expected[k][place] = (values[0][k] - values[1][k]) / 2e-5
    return expected


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("choice", SCALAR_CHOICES)
def test_what_an_extremum_does_not_pick(choice, mode):
    costs = {}
    for name, (f, _) in FUNCTIONS.items():
        x = at.matrix()
        y = f(x)
        with np.errstate(all="ignore"):
            values = y.eval({x: point(name)})
        edge = values[0, 3]
        low = edge < values[:, :3].min()
        if np.isnan(edge) or not (low or edge > values[:, :3].max()):
            continue
        level = values[:, :3].min() - 1e-3 if low else values[:, :3].max() + 1e-3
        if choice == "max":
            cost = extremum(y, low)
        elif choice == "maximum":
            cost = bounded(y, low, level)
        elif choice == "clip":
            cost = at.clip(y, level, 1e9) if low else at.clip(y, -1e9, level)
        elif choice == "sort":
            cost = of_columns(y, low)
        else:
            cost = at.topk(y, 3 if low else -3, axis=1)
        costs[name] = x, cost.sum()
    assert len(costs) > 6
    check(costs, mode)


X = np.array([0.0, 1.0, 4.0])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_second_derivatives(mode):
    x, v = at.dvectors("x", "v")
    cost = at.sqrt(x)[1:].sum()
    second = aesara.grad((aesara.grad(cost, x)[1:] * v[1:]).sum(), x)
    hessian = aesara.gradient.hessian(cost, x)
    f = aesara.function([x, v], [second, hessian, aesara.gradient.hessian_vector_product(cost, x, v)], mode=mode)
    of_x = np.array([0.0, -0.25, -0.25 / 8])
    found = f(X, np.array([5.0, 1.0, 2.0]))
    np.testing.assert_allclose(found[0], of_x * [0, 1, 2], rtol=1e-12)
    np.testing.assert_allclose(found[1], np.diag(of_x), rtol=1e-12)
    np.testing.assert_allclose(found[2], of_x * [5, 1, 2], rtol=1e-12)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_rows_of_a_jacobian(mode):
    """An element does not depend on others, where these have infinite slopes."""
    x = at.dvector()
    roots = at.sqrt(x)
    f = aesara.function([x], [aesara.gradient.jacobian(y, x) for y in (roots, roots[::-1])], mode=mode)
    slopes = np.diag([np.inf, 0.5, 0.25])
    one, two = f(X)
    np.testing.assert_array_equal(one, slopes)
    np.testing.assert_array_equal(two, slopes[::-1])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_jacobians_of_matrices(mode):
    """An entry does not depend on others, where these have infinite slopes."""
    m = at.dmatrix()
    roots = at.sqrt(m)
    outputs = [roots, roots.T, at.exp(roots), roots[:, 1:], roots.sum(axis=1, keepdims=True)]
    f = aesara.function([m], [aesara.gradient.jacobian(y, m) for y in outputs], mode=mode)
    value = np.array([[0.0, 1.0], [4.0, 0.0]])
    with np.errstate(divide="ignore"):
        slopes = 0.5 / np.sqrt(value)
    eye = np.eye(4).reshape(2, 2, 2, 2)
    wanted = np.where(eye, slopes, 0)
    found = f(value)
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1], wanted.swapaxes(0, 1))
    np.testing.assert_allclose(found[2], np.where(eye, slopes * np.exp(np.sqrt(value)), 0), rtol=1e-15)
    np.testing.assert_array_equal(found[3], wanted[:, 1:])
    np.testing.assert_array_equal(found[4][:, 0], np.where(np.eye(2)[:, :, None], slopes, 0))


def test_a_jacobian_multiplies_one_matrix():
    """The factors of products are not copied for each row."""
    x, w = at.dvector(), at.dmatrix()
    f = aesara.function([x, w], aesara.gradient.jacobian(at.tanh(w @ x), x))
    assert all(v.type.ndim <= 2 for node in f.maker.fgraph.toposort() for v in node.outputs)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_forward_mode(mode):
    """Entries that a direction does not move have infinite slopes."""
    s = at.dscalar()
    parts = [
        at.sqrt(at.set_subtensor(at.zeros(3)[1], s)).sum(),
        at.log(at.concatenate([at.zeros(2), s[None]])).max(),
        at.sqrt(at.stack([s, at.zeros(())])).prod() + at.sqrt(at.switch([True, False], s, 0)).sum(),
    ]
    f = aesara.function([s], [aesara.Rop(y, s, at.ones_like(s)) for y in parts], mode=mode)
    np.testing.assert_allclose(f(4.0), [0.25, 0.25, 0.25], rtol=1e-12)
    x, v = at.dvectors(2)
    along = aesara.Rop(at.sqrt(x)[1:], x, v)
    g = aesara.function([x, v], along, mode=mode, on_unused_input="ignore")
    np.testing.assert_allclose(g(X, [1.0, 2.0, 4.0]), [1.0, 1.0], rtol=1e-12)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_members_of_a_batch(mode):
    """The factor of one matrix of a batch does not depend on the others, which have none."""
    b = at.dtensor3()
    factors = Blockwise(Cholesky(on_error="nan"))(b)
    gradient = aesara.function([b], aesara.grad(factors[0].sum(), b), mode=mode)
    found = gradient(np.stack([np.diag([4.0, 9.0]), np.zeros((2, 2))]))
    m = at.dmatrix()
    alone = aesara.function([m], aesara.grad(Cholesky(on_error="nan")(m).sum(), m), mode=mode)(np.diag([4.0, 9.0]))
    np.testing.assert_allclose(found[0], alone, rtol=1e-12)
    assert not found[1].any()


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_graphs_as_operations(mode):
    z = at.dvector()
    roots = aesara.compile.builders.OpFromGraph([z], [at.sqrt(z) * 2, at.log(z)])
    x = at.dvector()
    y, logs = roots(x)
    f = aesara.function([x], aesara.grad(y[1] + logs[2], x), mode=mode)
    np.testing.assert_allclose(f(X), [0.0, 1.0, 0.25], rtol=1e-12)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_steps_behind_the_last_row_that_is_read(mode):
    x = at.dvector()
    growing, _ = aesara.scan(lambda u: at.exp(u), outputs_info=x, n_steps=6)
    shrinking, _ = aesara.scan(lambda u: at.sqrt(u - 1), outputs_info=x, n_steps=3)
    two, _ = aesara.scan(
        lambda u, w: at.exp(u) + w, outputs_info=[{"initial": x[None] * [[1.0], [0.5]], "taps": [-1, -2]}], n_steps=6
    )
    costs = growing[0].sum(), growing[:2].sum(), shrinking[1].sum(), two[1].sum()
    f = aesara.function([x], [aesara.grad(cost, x) for cost in costs], mode=mode)
    start = np.array([1.0, 2.5])
    first, both, _, lagged = f(start)
    np.testing.assert_allclose(first, np.exp(start), rtol=1e-12)
    np.testing.assert_allclose(both, np.exp(start) * (1 + np.exp(np.exp(start))), rtol=1e-12)
    second = np.exp(start / 2) + start
    np.testing.assert_allclose(lagged, np.exp(second) * (np.exp(start / 2) / 2 + 1) + 0.5, rtol=1e-12)
    root = f(np.array([2.0, 5.0]))[2]
    np.testing.assert_allclose(root, [np.inf, 1 / 8], rtol=1e-12)


def test_loops_that_end_early():
    x = at.dscalar()
    growing, _ = aesara.scan(lambda u: (at.exp(u), until(u > 1e3)), outputs_info=x, n_steps=20)
    f = aesara.function([x], aesara.grad(growing[0], x))
    np.testing.assert_allclose(f(1.0), np.exp(1.0), rtol=1e-12)


def test_a_zero_that_is_a_value():
    """Zero times infinity stays NaN where the zero is no matter of structure."""
    x, c = at.dscalars(2)
    f = aesara.function([x, c], aesara.grad(c * at.log(x), x), mode="FAST_COMPILE")
    assert np.isnan(f(0.0, 0.0))
    y = at.dvector()
    g = aesara.function([y, c], aesara.grad((at.switch(y > 1, c, 0) * at.log(y)).sum(), y), mode="FAST_COMPILE")
    np.testing.assert_array_equal(g(X, 2.0), [np.nan, 0.0, 0.5])


def test_known_gradients_are_values():
    x, g = at.dvectors(2)
    f = aesara.function([x, g], aesara.grad(None, x, known_grads={at.sqrt(x): g}), mode="FAST_COMPILE")
    np.testing.assert_array_equal(f(X, [0.0, 0.0, 1.0]), [np.nan, 0.0, 0.25])


@pytest.mark.parametrize("choice", ["slice", "switch", "mask of columns", "tril"])
def test_gradients_of_a_choice_have_one_selection(choice):
    """Zeros are put back once at the end of a chain of functions, not at each of them."""
    x = at.dmatrix()
    y = at.sqrt(at.exp(at.sin(at.log(x) * 3)))
    gradient = aesara.grad(CHOICES[choice](y).sum(), x)
    nodes = aesara.graph.basic.io_toposort([x], [gradient])
    choices = [node for node in nodes if isinstance(getattr(node.op, "scalar_op", None), aesara.scalar.Switch)]
    plain = aesara.graph.basic.io_toposort([x], [CHOICES[choice](x).sum()])
    forward = [node for node in plain if isinstance(getattr(node.op, "scalar_op", None), aesara.scalar.Switch)]
    assert len(choices) - len(forward) == 1
