"""Loops against the same loops in Python."""

import copy
import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import NullTypeGradError, Rop, verify_grad
from aesara.graph.equality import equal_computations
from aesara.scan import scan
from aesara.scan.basic import isNaN_or_Inf_or_None
from aesara.scan.info import ScanInfo
from aesara.scan.op import Scan
from aesara.scan.utils import until
from tests.closeness import assert_close

MODES = ["FAST_COMPILE", "FAST_RUN"]


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def zero(dtype="float64"):
    return at.constant(0, dtype=dtype)


# -- values --------------------------------------------------------------------------------------------------------


def test_a_state_and_a_sequence(mode, rng):
    x = at.dvector("x")
    y, updates = scan(lambda x_t, s: 0.5 * s + x_t, sequences=x, outputs_info=zero())
    assert not updates and y.type.ndim == 1
    f = aesara.function([x], y, mode=mode)
    for n in (5, 1, 0, 100):
        value, state, want = rng.normal(size=n), 0.0, []
        for entry in value:
            state = 0.5 * state + entry
            want.append(state)
        np.testing.assert_allclose(f(value), np.array(want).reshape(n), rtol=1e-14)


def test_many_kinds_at_once(mode, rng):
    x, w, h0, m0 = at.dmatrix("x"), at.dmatrix("w"), at.dvector("h0"), at.dmatrix("m0")

    def step(now, later, h, m2, m1, w):
        new = at.tanh(now + h @ w)
        return new, m2 + 0.5 * m1 + later, new.sum()

    (h, m, total), _ = scan(
        step,
        sequences={"input": x, "taps": [0, 1]},
        outputs_info=[h0, {"initial": m0, "taps": [-2, -1]}, None],
        non_sequences=w,
    )
    f = aesara.function([x, w, h0, m0], [h, m, total], mode=mode)
    values = [rng.normal(size=s) for s in ((6, 3), (3, 3), (3,), (2, 3))]
    x_, w_, state, pair = values[0], values[1], values[2], list(values[3])
    hs, ms, totals = [], [], []
    for t in range(5):
        state = np.tanh(x_[t] + state @ w_)
        pair.append(pair[-2] + 0.5 * pair[-1] + x_[t + 1])
        hs.append(state), ms.append(pair[-1]), totals.append(state.sum())
    for got, want in zip(f(*values), (hs, ms, totals)):
        np.testing.assert_allclose(got, np.array(want), rtol=1e-13)


@pytest.mark.parametrize("taps", [[-1], [0, 1], [-2, 0], [1, 2], [-1, 1], [2]])
def test_taps_of_sequences(taps, mode, rng):
    x = at.dvector("x")
    y, _ = scan(lambda *entries: sum((k + 1) * e for k, e in enumerate(entries)), {"input": x, "taps": taps})
    value = rng.normal(size=9)
    low, high = min(0, *taps), max(0, *taps)
    want = [sum((k + 1) * value[t + tap] for k, tap in enumerate(taps)) for t in range(-low, 9 - high)]
    assert_close(aesara.function([x], y, mode=mode)(value), want)


def test_going_backwards(mode):
    x = at.dvector("x")
    y, _ = scan(lambda x_t, s: s * 2 + x_t, x, zero(), go_backwards=True)
    assert aesara.function([x], y, mode=mode)([1.0, 2, 3]).tolist() == [3, 8, 17]


def test_until_ends_the_loop(mode):
    limit = at.dscalar("limit")

    def double(value):
        return value * 2, until(value * 2 > limit)

    powers, _ = scan(double, outputs_info=at.constant(1.0, dtype="float64"), n_steps=100)
    f = aesara.function([limit], [powers, powers[-1]], mode=mode)
    assert f(10.0)[0].tolist() == [2, 4, 8, 16]
    assert f(0.0)[0].tolist() == [2]
    assert f(1e9)[1] == 2**30


def test_updates_of_shared_variables(mode):
    total, count = aesara.shared(np.float64(1), "total"), aesara.shared(np.int64(0), "count")
    x = at.dvector("x")
    y, updates = scan(lambda x_t: (total * x_t, {total: total + x_t, count: count + 1}), x)
    f = aesara.function([x], y, updates=updates, mode=mode)
    assert f([1.0, 2.0, 3.0]).tolist() == [1, 4, 12]
    assert total.get_value() == 7 and count.get_value() == 3


def test_variables_of_outside_are_found_and_what_does_not_change_is_computed_once(mode):
    x, w = at.dvector("x"), at.dvector("w")
    outside = at.exp(w).sum()
    y, _ = scan(lambda x_t: x_t * outside * at.exp(w)[0], x)
    (node,) = [n for n in aesara.graph.basic.io_toposort([x, w], [y]) if isinstance(n.op, Scan)]
    inside = aesara.graph.basic.applys_between(node.op.inner_inputs, node.op.inner_outputs)
    assert not any("exp" in str(n.op) for n in inside)
    got = aesara.function([x, w], y, mode=mode)([1.0, 2.0], [0.5, 1.0])
    assert_close(got, np.array([1, 2]) * np.exp([0.5, 1]).sum() * np.exp(0.5))


def test_a_single_step_is_no_loop(mode):
    x = at.dvector("x")
    y, _ = scan(lambda s: s + x, outputs_info=at.zeros(3), n_steps=1)
    assert not any(isinstance(n.op, Scan) for n in aesara.graph.basic.io_toposort([x], [y]))
    assert aesara.function([x], y, mode=mode)([1.0, 2, 3]).tolist() == [[1, 2, 3]]


def test_symbolic_number_of_steps(mode):
    n = at.lscalar("n")
    y, _ = scan(lambda s: s * 2, outputs_info=at.constant(1, dtype="int64"), n_steps=n)
    f = aesara.function([n], [y, y.shape[0]], mode=mode)
    assert f(4)[0].tolist() == [2, 4, 8, 16] and f(4)[1] == 4
    assert f(0)[0].tolist() == []
    with pytest.raises(ValueError):
        f(-1)


def test_loops_in_loops(mode, rng):
    x = at.dmatrix("x")

    def row_sum(row):
        sums, _ = scan(lambda entry, s: s + entry, row, zero())
        return sums[-1]

    y, _ = aesara.map(row_sum, x)
    value = rng.normal(size=(3, 4))
    assert_close(aesara.function([x], y, mode=mode)(value), value.sum(axis=1))


def test_views(mode):
    x = at.dvector("x")
    outputs = [
        aesara.map(lambda v: v**2, x)[0],
        aesara.reduce(lambda v, s: s + v, x, zero())[0],
        aesara.foldl(lambda v, s: s - v, x, zero())[0],
        aesara.foldr(lambda v, s: v - s, x, zero())[0],
    ]
    squares, total, left, right = aesara.function([x], outputs, mode=mode)([1.0, 2.0, 3.0])
    assert squares.tolist() == [1, 4, 9] and total == 6 and left == -6 and right == 1 - (2 - (3 - 0))


# -- gradients -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_gradient_of_many_kinds(rng):
    def cost(x, w, h0, m0):
        def step(now, later, h, m2, m1, w):
            new = at.tanh(now + h @ w)
            return new, m2 * 0.3 + 0.5 * m1 * later, (new**2).sum()

        (h, m, total), _ = scan(
            step,
            {"input": x, "taps": [0, 1]},
            [h0, {"initial": m0, "taps": [-2, -1]}, None],
            non_sequences=w,
        )
        return (h * 0.1).sum() + (m**2).sum() + (total[2:] * total[-1]).sum()

    values = [rng.normal(size=s) for s in ((6, 3), (3, 3), (3,), (2, 3))]
    verify_grad(cost, values, rng=rng)


@pytest.mark.parametrize("taps", [[-1], [-3], [-3, -1], [-4, -2]])
def test_gradient_through_taps(taps, rng):
    def cost(x, first, a):
        def step(x_t, *rest):
            *states, a = rest
            return a * sum((k + 1) * s for k, s in enumerate(states)) + at.sin(x_t)

        y, _ = scan(step, x, {"initial": first, "taps": taps}, non_sequences=a)
        return (y**2).sum() + y[-1]

    first = rng.normal(size=-min(taps)) if taps != [-1] else np.float64(0.3)
    verify_grad(cost, [rng.normal(size=7), first, np.float64(0.4)], rng=rng)


def test_second_derivative():
    a = at.dscalar("a")
    y, _ = scan(lambda s, a: s * a, outputs_info=at.constant(1.0, dtype="float64"), non_sequences=a, n_steps=5)
    second = aesara.grad(aesara.grad(y[-1], a), a)
    assert_close(aesara.function([a], second)(1.3), 5 * 4 * 1.3**3)


def test_gradient_of_a_loop_that_ends_early():
    a = at.dscalar("a")
    y, _ = scan(
        lambda s, a: (s * a, until(s * a > 20)), outputs_info=at.constant(1.0, dtype="float64"), non_sequences=a,
        n_steps=50,
    )  # fmt: skip
    f = aesara.function([a], [y[-1], aesara.grad(y.sum(), a)])
    last, slope = f(2.0)
    assert last == 32
    assert_close(slope, sum(k * 2.0 ** (k - 1) for k in range(1, 6)))


@pytest.mark.parametrize("taps", [(), (-1,), (-2,), (-3, -1)])
def test_gradients_of_loops_that_end_early_go_back_to_the_first_step(taps, mode):
    """The gradient is that of a loop over the steps that were done, whatever kind of output comes first."""
    x, first, w = at.dvector("x"), at.dvector("first"), at.dscalar("w")
    info = {"initial": first[0] if taps == (-1,) else first, "taps": list(taps)} if taps else None

    def step(e, *given):
        *states, w = given
        return at.tanh(sum(states, e * w))

    def loss(*loop, **options):
        rows, _ = scan(*loop, outputs_info=info, non_sequences=w, **options)
        return (rows * at.arange(1, 1 + rows.shape[0])).sum()

    early = loss(lambda *given: (step(*given), until(given[0] > 4)), x)
    whole = loss(step, x[:4])
    wrt = [x, w, *([first] if taps else [])]
    f, g = (
        aesara.function([x, first, w], aesara.grad(cost, wrt), mode=mode, on_unused_input="ignore")
        for cost in (early, whole)
    )
    given = [1.0, 2.0, 3.0, 5.0, 4.0, 0.5], [0.1, 0.2, 0.3][: -min(taps, default=0)], 0.3
    for got, want in zip(f(*given), g(*given), strict=True):
        assert_close(got, want)


@pytest.mark.parametrize("as_while", [False, True])
def test_shared_states_that_are_tensors_have_no_derivatives(as_while):
    first, w, s, factor = at.dscalars("first", "w", "s", "factor")
    condition = [s > 10] if as_while else []
    last = Scan([s, factor], [s * factor, *condition], ScanInfo(0, (), (), (), (), 0, 1, 1, as_while))(3, first, w)
    assert aesara.function([first, w], last)(2.0, 1.5) == 6.75
    for wrt in (first, w):
        with pytest.raises(NullTypeGradError, match="only the last value is kept"):
            aesara.grad(last, wrt)
    with pytest.raises(NullTypeGradError, match="only the last value is kept"):
        Rop(last, w, at.constant(1.0))


def test_truncated_gradient():
    x, first = at.dvector("x"), at.dscalar("first")
    y, _ = scan(lambda x_t, s: s + x_t, x, first, truncate_gradient=2)
    gx, gf = aesara.grad(y[-1], [x, first])
    got = aesara.function([x, first], [gx, gf])(np.ones(5), 1.0)
    assert got[0].tolist() == [0, 0, 0, 1, 1] and got[1] == 0


def test_a_truncated_gradient_reaches_first_values_that_the_last_steps_read(mode):
    first, x = at.dvector("first"), at.dvector("x")
    y, _ = scan(lambda e, a, b: e * a + b, x, {"initial": first, "taps": [-3, -1]}, truncate_gradient=2)
    slopes = aesara.grad(y.sum(), [first, x])
    f = aesara.function([first, x], slopes, mode=mode)
    # The last two of three steps: y1 = x1 * f1 + y0, y2 = x2 * f2 + y1, of which the gradient knows no y0.
    of_first, of_x = f([2.0, 3.0, 5.0], [0.1, 0.2, 0.3])
    assert_close(of_first, [0, 2 * 0.2, 0.3])
    assert_close(of_x, [0, 2 * 3.0, 5.0])
    all_steps, _ = scan(lambda e, a, b: e * a + b, x, {"initial": first, "taps": [-3, -1]}, truncate_gradient=3)
    g = aesara.function([first, x], aesara.grad(all_steps.sum(), first), mode=mode)
    assert_close(g([2.0, 3.0, 5.0], [0.1, 0.2, 0.3]), [3 * 0.1, 2 * 0.2, 0.3 + 3])


def test_forward_mode_and_backward_mode_agree(rng):
    x, w, u, v = at.dvector("x"), at.dscalar("w"), at.dvector("u"), at.dscalar("v")
    y, _ = scan(lambda x_t, s, w: at.tanh(s * w + x_t), x, zero(), non_sequences=w)
    forward = aesara.Rop(y, [x, w], [u, v])
    c = at.dvector("c")
    gx, gw = aesara.Lop(y, [x, w], c)
    f = aesara.function([x, w, u, v, c], [(forward * c).sum(), (gx * u).sum() + gw * v])
    one, other = f(rng.normal(size=6), 0.7, rng.normal(size=6), 0.3, rng.normal(size=6))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_an_integer_state_carries_no_gradient():
    x = at.dvector("x")
    (_count, y), _ = scan(lambda x_t, n, s: (n + 1, s + x_t * n), x, [at.constant(0, dtype="int64"), zero()])
    assert_close(aesara.function([x], aesara.grad(y[-1], x))(np.ones(4)), [0, 1, 2, 3])


# -- errors and identity -------------------------------------------------------------------------------------------


def test_errors_say_what_is_wrong():
    x = at.dvector("x")
    with pytest.raises(ValueError, match="type TensorType\\(float64, \\(\\)\\), but its first value"):
        scan(lambda x_t, s: s + x_t, x, at.constant(0, dtype="int8"))
    with pytest.raises(ValueError, match="give n_steps"):
        scan(lambda s: s, outputs_info=zero())
    with pytest.raises(ValueError, match="returns 2 outputs, but outputs_info has 1"):
        scan(lambda x_t, s: (s, s), x, [zero()])
    with pytest.raises(ValueError, match="taps of outputs must be negative"):
        scan(lambda x_t, s: s, x, {"initial": x, "taps": [1]})
    with pytest.raises(ValueError, match="at least one dimension"):
        scan(lambda x_t: x_t, at.dscalar())
    with pytest.raises(ValueError, match="must be an integer"):
        scan(lambda: 1, n_steps=1.5)
    f = aesara.function([x], scan(lambda x_t: x_t, x, n_steps=5)[0])
    with pytest.raises(ValueError):
        f([1.0, 2.0])


@pytest.mark.parametrize("known", [False, True])
def test_a_state_that_changes_its_size(known, mode):
    rows, first = at.dmatrix("rows"), at.TensorType("float64", (4,) if known else (None,))("first")

    def shrink(row, state):
        return state[1 + row.shape[0] * 0 :] + row[0]  # no type knows how many are left

    states, _ = scan(shrink, rows, first, name="shrinking")
    with pytest.raises((ValueError, AssertionError)) as caught:
        aesara.function([rows, first], states, mode=mode)(np.ones((3, 2)), np.ones(4))
    message = str(caught.value)
    assert f"{__file__}:{shrink.__code__.co_firstlineno + 1} in shrink" in message or (
        known and f"line {shrink.__code__.co_firstlineno + 1}, in shrink" in message
    )
    if not known:
        assert "aesara.scan (shrinking): state 0 (first) has" in message
        assert "array([[1., 1., 1., 1.]])" in message  # the first value, and no empty room behind it


def test_a_result_that_changes_its_size(mode):
    def grow(i):
        return at.arange(i)

    rows, _ = scan(grow, at.arange(3))
    with pytest.raises(ValueError, match=rf"output 0 has shape \(0,\) in the first.*{__file__}:\d+ in grow"):
        aesara.function([], rows, mode=mode)()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_number_of_steps_of_each_dtype(dtype, mode):
    k, x, rows = at.scalar("k", dtype=dtype), at.dvector("x"), at.dmatrix("rows")
    states, _ = scan(lambda row, s, x: s * x + row, rows, at.ones_like(x), x, n_steps=k)
    doubled, _ = scan(lambda row: 2 * row, rows, n_steps=k)
    cost = states[-1].sum() + states.sum() + doubled.sum()
    f = aesara.function([k, x, rows], [states, doubled, *aesara.grad(cost, [x, rows])], mode=mode)
    base, given = np.array([2.0, -1.0, 0.5]), np.arange(18.0).reshape(6, 3)
    steps = 4
    got_states, got_doubled, by_x, by_rows = f(np.asarray(steps, dtype), base, given)
    want, slope = [np.ones(3)], [np.zeros(3)]
    for row in given[:steps]:
        slope.append(want[-1] + slope[-1] * base)
        want.append(want[-1] * base + row)
    assert_close(got_states, np.array(want[1:]))
    assert_close(got_doubled, 2 * given[:steps])
    assert_close(by_x, sum(slope[1:]) + slope[-1])
    later = [sum(base**j for j in range(steps - i)) + base ** (steps - 1 - i) + 2 for i in range(steps)]
    assert_close(by_rows, np.array([*later, *np.zeros((2, 3))]))


def test_the_graph_of_a_step_is_the_same_for_equal_steps():
    op = scan(lambda a, b, x: a + x * b, [at.dvector(), at.dvector()], non_sequences=at.dscalar("x"))[0].owner.op
    again = op.clone()
    assert again.fgraph is not op.fgraph and again.fgraph.outputs != op.fgraph.outputs
    assert equal_computations(again.fgraph.outputs, op.fgraph.outputs)
    assert [(v.id, v.type) for v in op.fgraph.inputs] == [(k, v.type) for k, v in enumerate(op.inner_inputs)]
    assert not set(op.fgraph.inputs) & set(op.inner_inputs)


def test_equal_loops_are_merged_and_loops_can_be_stored():
    x = at.dvector("x")
    first, second = (scan(lambda x_t, s: s + x_t, x, zero())[0] for _ in range(2))
    one, two = first.owner.inputs[0].owner.op, second.owner.inputs[0].owner.op
    assert (one == two) is True and (one == one) is True
    f = aesara.function([x], first + second)
    assert sum(isinstance(n.op, Scan) for n in f.maker.fgraph.toposort()) == 1
    again = pickle.loads(pickle.dumps(f))
    assert again([1.0, 2.0]).tolist() == f([1.0, 2.0]).tolist() == [2, 6]


@pytest.mark.parametrize(
    "value, is_none",
    [
        (None, True),
        (float("nan"), True),
        (-np.inf, True),
        (np.float32("nan"), True),
        (at.constant(np.inf), True),
        (0, False),
        (-(2**70), False),
        (np.int8(3), False),
        (at.constant(4), False),
        (at.dscalar(), False),
        ("text", False),
    ],
)
def test_what_stands_for_no_number_of_steps(value, is_none):
    assert isNaN_or_Inf_or_None(value) is is_none


@pytest.mark.parametrize("length", [1, 2, 3, None])
def test_what_is_known_of_how_many_rows_a_loop_with_an_end_returns(length):
    """Those before the first step are there however early it ends."""
    first = {"initial": at.dvector(), "taps": [-2, -1]}
    rows, _ = scan(lambda a, b: (a + b, until(a > 100)), outputs_info=[first], n_steps=50)
    (node,) = [v.owner for v in aesara.graph.traversal.ancestors([rows]) if v.owner and isinstance(v.owner.op, Scan)]
    (buffer,) = node.op.outer_mitsot(node.inputs)
    inputs = [at.tensor("float64", (length,)) if v is buffer else v for v in node.inputs]
    assert node.op.make_node(*inputs).outputs[0].type.shape == (2 if length == 2 else None,)


def test_derivatives_along_a_direction_of_a_loop_that_draws(mode):
    rng, a = aesara.shared(np.random.default_rng(3)), at.dscalar("a")

    def step(x, a):
        noise = at.random.normal(rng=rng)
        return a * x + noise, {rng: noise.owner.outputs[0]}

    states, updates = scan(step, outputs_info=zero() + 1.0, non_sequences=a, n_steps=4)
    last = states[-1]
    f = aesara.function([a], [last, aesara.grad(last, a), Rop(last, a, at.constant(2.0))], updates=updates, mode=mode)
    for _ in range(2):
        twin = copy.deepcopy(rng.get_value())
        value, slope, along = f(0.5)
        x, tangent = 1.0, 0.0
        for _ in range(4):
            x, tangent = 0.5 * x + twin.normal(), x + 0.5 * tangent
        np.testing.assert_allclose([value, slope, along], [x, tangent, 2 * tangent], rtol=1e-14)
