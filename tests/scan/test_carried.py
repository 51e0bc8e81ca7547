"""`while_loop` and `fori_loop`, against Python's own loops and against graphs in which the steps stand one by one."""

import sys
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aesara
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.gradient import Rop
from aesara.graph.basic import ancestors
from aesara.scan import fori_loop, until, while_loop
from aesara.scan.op import Scan, ScanInfo
from aesara.scan.parts import LoopParts, State, expand_empty, with_rows
from aesara.tensor.random.utils import RandomStream
from tests.closeness import assert_close

a, b, limit = at.dscalars("a", "b", "limit")
x, v = at.dvector("x"), at.dvector("v")
m, n = at.lscalars("m", "n")
MODES = ["FAST_RUN", "FAST_COMPILE"]


def test_names_of_the_package_are_found_on_its_function():
    package = sys.modules["aesara.scan"]
    assert callable(aesara.scan) and aesara.scan is package.scan
    assert {name: getattr(aesara.scan, name) for name in package.__all__} == {
        name: getattr(package, name) for name in package.__all__
    }


def compiled(inputs, outputs, mode="FAST_RUN"):
    """A function; in native mode nothing of it may run in Python."""
    f = aesara.function(inputs, outputs, mode=mode)
    if mode == "FAST_RUN":
        assert aesara.explain(f).python == []
    return f


# -- values --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_while_loop_is_pythons(mode):
    last = while_loop(lambda s: s[1] > 0, lambda s: (s[1], s[0] % s[1]), (m, n))
    assert type(last) is tuple and [w.type for w in last] == [at.lscalar, at.lscalar]
    f = compiled([m, n], list(last), mode)
    for one, two in [(84, 36), (17, 5), (5, 0), (0, 7), (1, 1)]:
        wanted = (one, two)
        while wanted[1] > 0:
            wanted = (wanted[1], wanted[0] % wanted[1])
        assert tuple(map(int, f(one, two))) == wanted


@pytest.mark.parametrize("mode", MODES)
def test_fori_loop_is_pythons(mode):
    last = fori_loop(m, n, lambda i, s: {"sum": s["sum"] + i * s["row"], "row": s["row"] + 1}, {"row": x, "sum": x * 0})
    assert list(last) == ["row", "sum"]
    f = compiled([m, n, x], [last["row"], last["sum"]], mode)
    for lower, upper in [(0, 4), (-2, 1), (3, 4), (2, 2), (5, -5)]:
        row, total = np.array([0.5, -1.0]), np.zeros(2)
        got = f(lower, upper, row)
        for i in range(lower, upper):
            row, total = row + 1, total + i * row
        np.testing.assert_array_equal(got, [row, total])


def test_the_gradient_of_a_fori_loop_does_not_run_it_again():
    last = fori_loop(0, n, lambda i, s: at.sin(s) * a, a)
    f = compiled([n, a], [last, aesara.grad(last, a)], "FAST_COMPILE")
    assert sum(isinstance(node.op, Scan) for node in f.maker.fgraph.apply_nodes) == 2


@pytest.mark.parametrize("lower, upper", [(0, 0), (0, 1), (2, 1), (0, 3)])
def test_constant_bounds(lower, upper):
    got = compiled([a], fori_loop(lower, upper, lambda i, s: s * a + i, 1.0))(3.0)
    wanted = 1.0
    for i in range(lower, upper):
        wanted = wanted * 3.0 + i
    assert got == wanted


class Pair(NamedTuple):
    first: object
    second: object


def test_states_of_any_form():
    def body(state):
        one, rest = state["one"], state["rest"]
        return {"rest": [rest[0] * 2, (rest[1][0] + 1,)], "nothing": None, "one": Pair(one.second, one.first)}

    first = {"one": Pair(a, b), "nothing": None, "rest": [np.float64(1.0), (0,)]}
    last = while_loop(lambda state: state["rest"][1][0] < 3, body, first)
    assert isinstance(last["one"], Pair) and last["nothing"] is None and list(last) == list(first)
    f = compiled([a, b], [last["one"].first, last["one"].second, last["rest"][0], last["rest"][1][0]])
    assert [float(value) for value in f(1.0, 2.0)] == [2.0, 1.0, 8.0, 3.0]


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "bool", "complex64"])
def test_dtypes_stay(dtype):
    first = at.vector("first", dtype=dtype)
    last, _ = while_loop(lambda s: s[1] < 3, lambda s: (s[0][::-1], s[1] + 1), (first, 0))
    assert last.type.dtype == dtype
    value = np.array([1, 0, 1, 1]).astype(dtype)
    np.testing.assert_array_equal(compiled([first], last)(value), value[::-1])


def test_numbers_take_the_dtype_of_the_body():
    y = at.fvector("y")
    last = fori_loop(0, 3, lambda i, s: (s[0] + y.sum(), s[1] + 1), (0.0, 0))
    assert [w.type.dtype for w in last] == ["float32", "int64"]


@pytest.mark.parametrize("mode", MODES)
def test_until_ends_the_loop_after_its_step(mode):
    summed = fori_loop(0, n, lambda i, s: (s + i, until(s + i > 10)), 0)
    counted = while_loop(lambda s: s < 100, lambda s: (s + 1, until(at.eq(s + 1, n))), 0)
    f = compiled([n], [summed, counted], mode)
    assert [[int(w) for w in f(k)] for k in (0, 3, 50, 1000)] == [[0, 100], [3, 3], [15, 50], [15, 100]]


def test_what_is_around_the_loop_is_used_as_it_is():
    scaled = at.exp(x)
    outer = fori_loop(0, 3, lambda i, s: fori_loop(0, i, lambda j, t: t + scaled * j, s), at.zeros_like(x))
    value = np.array([0.1, 0.2])
    wanted = sum(np.exp(value) * j for i in range(3) for j in range(i))
    np.testing.assert_allclose(compiled([x], outer)(value), wanted, rtol=1e-15)


def test_a_loop_in_the_step_of_a_scan():
    rows = at.dmatrix("rows")
    halvings, _ = aesara.map(lambda row: while_loop(lambda r: (r**2).sum() > 1, lambda r: r / 2, row), rows)
    value = np.array([[3.0, 4.0], [0.1, 0.1], [100.0, 0.0]])
    f = compiled([rows], [halvings, aesara.grad(halvings.sum(), rows)])
    wanted = [8, 1, 128]
    np.testing.assert_array_equal(f(value)[0], value / np.array(wanted)[:, None])
    np.testing.assert_array_equal(f(value)[1], np.ones((3, 2)) / np.array(wanted)[:, None])


def test_memory_does_not_grow_with_the_steps():
    last = fori_loop(0, n, lambda i, s: at.tanh(s) + i, x)
    until_small, _ = while_loop(lambda s: s[1] < n, lambda s: (at.tanh(s[0]), s[1] + 1), (x, 0))
    for out in (last, until_small):
        f = compiled([x, n], out)
        few, many = (aesara.memory_plan(f, np.ones(1000), steps).peak() for steps in (100, 100_000))
        assert few == many < 40_000


def test_batches_of_states():
    """Members take different numbers of steps; one takes none."""
    doubled = at.vectorize(lambda start: while_loop(lambda s: s < 10, lambda s: s * 2, start), "()->()")(x)
    np.testing.assert_array_equal(aesara.function([x], doubled)([1.0, 3.0, 70.0]), [16.0, 12.0, 70.0])
    with pytest.raises(NotImplementedError, match="differs from member to member of the batch"):
        aesara.grad(doubled.sum(), x)


# -- random numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_the_condition_may_be_any_number(mode):
    for dtype in ("int8", "uint64", "float32", "bool"):
        left = while_loop(lambda s: at.cast(s[1], dtype), lambda s: (s[0] * 2, s[1] - 1), (1, n))[0]
        f = aesara.function([n], left, mode=mode)
        assert [int(f(steps)) for steps in (0, 1, 2, 5)] == [1, 2, 4, 32]


@pytest.mark.parametrize("mode", MODES)
def test_shared_variables_that_a_body_makes_are_updated_in_each_step(mode):
    def body(i, s):
        counted = aesara.shared(np.float64(2.0))
        counted.default_update = counted * 3
        return s + counted * i

    f = aesara.function([n], fori_loop(1, n, body, 0.0), mode=mode)
    assert f(4) == 2 * 1 + 6 * 2 + 18 * 3
    assert f(3) == 54 * 1 + 162 * 2


def test_draws_of_a_stream_go_on():
    stream = RandomStream(seed=7)
    drawn = fori_loop(0, n, lambda i, s: s + stream.normal(size=(2,)), at.zeros(2))
    alone = RandomStream(seed=7).normal(size=(2,))
    f, g = aesara.function([n], drawn), aesara.function([], alone)
    for count in (3, 0, 2):
        np.testing.assert_allclose(f(count), sum((g() for _ in range(count)), np.zeros(2)), rtol=1e-15)


def test_a_generator_in_the_state():
    generator = aesara.shared(np.random.default_rng(3))

    def body(state):
        generator, total = state
        new, draw = at.random.normal(rng=generator).owner.outputs
        return new, total + draw

    _, total = while_loop(lambda s: s[1] < 5, body, (generator, 0.0))
    same, wanted = np.random.default_rng(3), 0.0
    while wanted < 5:
        wanted += same.normal()
    assert compiled([], total)() == pytest.approx(wanted, rel=1e-14)


# -- derivatives ---------------------------------------------------------------------------------------------------


def twist(s, w):
    """A step with state of two parts."""
    return [at.tanh(s[0] * w + s[1].sum()), s[1] * 0.9 + at.sin(s[0]) * w]


@cache
def loops_and_derivatives(kind, budget=0):
    """The cost after the loop, its gradients, its tangent and a second derivative; all from `a`, `v` and `limit`."""
    first = [a, v]
    if kind == "while":
        last = while_loop(lambda s: s[2] < limit, lambda s: [*twist(s[:2], b), s[2] + 1], [*first, 0.0])[:2]
    else:
        last = fori_loop(0, limit.astype("int64"), lambda i, s: twist(s, b), first)
    with config.change_flags(scan__checkpoint_memory=budget):
        return compiled([a, b, v, limit], derivatives(last, second=not budget))


@cache
def unrolled_and_derivatives(steps):
    last = [a, v]
    for _ in range(steps):
        last = twist(last, b)
    return aesara.function([a, b, v], derivatives(last), mode="FAST_COMPILE")


def derivatives(last, second=True):
    cost = last[0] ** 2 + (last[1] ** 3).sum()
    *slopes, slope = aesara.grad(cost, [a, v, b], disconnected_inputs="ignore")
    tangent = Rop(cost, [a, b, v], [at.constant(0.5), at.constant(-2.0), at.cos(v)])
    more = [aesara.grad(slope, a, disconnected_inputs="ignore")] if second else []
    return [cost, *slopes, slope, tangent, *more]


@pytest.mark.slow
@pytest.mark.parametrize("kind, budget", [("while", 0), ("fori", 0), ("while", 8)])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    steps=st.integers(0, 4),
    numbers=st.lists(st.floats(-2, 2), min_size=2, max_size=2),
    row=st.lists(st.floats(-1, 1), max_size=3),
)
def test_derivatives_are_those_of_the_steps_taken(kind, budget, steps, numbers, row):
    got = loops_and_derivatives(kind, budget)(*numbers, row, steps)
    wanted = unrolled_and_derivatives(steps)(*numbers, row)
    for one, two in zip(got, wanted, strict=not budget):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13)


def test_derivatives_without_rewrites():
    last = while_loop(lambda s: s[2] < limit, lambda s: [*twist(s[:2], b), s[2] + 1], [a, v, 0.0])[:2]
    f = aesara.function([a, b, v, limit], derivatives(last), mode="FAST_COMPILE")
    for steps in (0, 1, 4):
        for one, two in zip(f(0.3, 0.7, [0.1, -0.2], steps), unrolled_and_derivatives(steps)(0.3, 0.7, [0.1, -0.2])):
            np.testing.assert_allclose(one, two, rtol=1e-12)


def test_rows_that_were_overwritten_have_gradients():
    """A loop over its steps with three rows for states of two taps: the last rows are read, and those alone."""
    parts = LoopParts(n)
    two, one = at.dscalars("two", "one")
    first = at.stack([a, b])
    parts.states.append(State(with_rows(expand_empty(first, n), 3), (-2, -1), (two, one), at.sin(two) * one + limit))
    inner = at.dscalar("inner")
    parts.constants.append((limit, inner))
    parts.replace({limit: inner})
    rows = Scan.of_parts(parts)[0]
    cost = rows[-1] * rows[0] + rows[1] ** 2
    f = compiled([a, b, limit, n], [cost, *aesara.grad(cost, [a, b, limit])])
    for steps in (1, 2, 5):
        all_rows = [a, b]
        for _ in range(steps):
            all_rows.append(at.sin(all_rows[-2]) * all_rows[-1] + limit)
        kept = all_rows[-3:]
        wanted = kept[-1] * kept[0] + kept[1] ** 2
        g = aesara.function([a, b, limit], [wanted, *aesara.grad(wanted, [a, b, limit])], mode="FAST_COMPILE")
        np.testing.assert_allclose(f(0.4, 1.2, -0.3, steps), g(0.4, 1.2, -0.3), rtol=1e-12)


def loop_of_products(taps, as_while):
    """A loop whose state is multiplied by two, and by the square root of the state before if it is read, too."""
    former = [at.dscalar() for _ in taps]
    new = 2 * former[0] * at.sqrt(former[-1])
    kinds = ((taps,), ()) if len(taps) > 1 else ((), (taps,))
    return Scan(former, [new, new > 1e9][: 1 + as_while], ScanInfo(0, (), (), *kinds, 0, 0, 0, as_while))


@pytest.mark.parametrize("taps", [(-1,), (-2, -1), (-3, -1)], ids=str)
def test_rows_that_are_missing_are_no_zeros(taps):
    """Nothing is known of the buffer of a loop that may end early: it is checked in the call."""
    buffer, depth, steps = at.dvector("buffer"), -min(taps), 4
    last = loop_of_products(taps, True)(n, buffer)[-1]
    slope, value = compiled([n, buffer], aesara.grad(last, buffer)), compiled([n, buffer], last)
    for rows in (depth + steps, depth + steps + 2):
        point = np.linspace(1, 2, rows)
        for k, found in enumerate(slope(steps, point)):
            step = 1e-6 * (np.arange(rows) == k)
            wanted = (value(steps, point + step) - value(steps, point - step)) / 2e-6
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="reads the states of all steps, but the loop keeps only the last ones"):
        slope(steps, np.ones(depth + steps - 1))


@pytest.mark.parametrize("as_while", [False, True])
@pytest.mark.parametrize("taps", [(-1,), (-2, -1), (-3, -1)], ids=str)
def test_a_loop_runs_again_only_if_it_keeps_too_few_rows(taps, as_while):
    """Of a buffer of which nothing is known this is checked in the call, where it has to be."""
    depth, steps = -min(taps), 4
    of, unknown = at.tensor("float64", shape=(depth,)), at.dvector()
    for buffer, number, again in (
        (at.tensor("float64", shape=(depth + steps,)), steps, False),
        (at.tensor("float64", shape=(depth + steps + 1,)), steps, False),
        (at.tensor("float64", shape=(depth + steps - 1,)), steps, True),
        (at.tensor("float64", shape=(depth + steps,)), n, True),
        (at.dvector(), n, False),
        (at.dvector(), steps, False),
        (expand_empty(of, at.constant(steps)), steps, False),
        (expand_empty(of, n), n, False),
        (expand_empty(unknown, n), n, False),
        (with_rows(expand_empty(of, n), depth + 1), n, True),
        (with_rows(expand_empty(of, n), depth + steps), steps, False),
        (with_rows(expand_empty(of, n), depth + steps - 1), steps, True),
        (with_rows(expand_empty(of, n), at.add(depth, n)), n, False),
        (with_rows(expand_empty(of, n), at.add(n, depth - 1)), n, True),
        (with_rows(expand_empty(of, n), at.add(n, m)), n, True),
        (with_rows(expand_empty(of, n), at.add(m, depth)), n, True),
        (with_rows(expand_empty(of, n), at.add(depth, m)), n, True),
        (with_rows(expand_empty(of, n), at.sub(n, depth)), n, True),
        (with_rows(expand_empty(of, n), m), steps, True),
        (with_rows(expand_empty(unknown, n), depth + steps), steps, True),
        (with_rows(expand_empty(of, n), at.add(n, depth, m)), n, True),
        (with_rows(expand_empty(unknown, n), at.add(n, depth)), n, True),
        (with_rows(expand_empty(unknown, n), n), n, True),
    ):
        rows = loop_of_products(taps, as_while)(number, buffer)
        wrt = [v for v in ancestors([buffer]) if v.owner is None and v in (buffer, of, unknown)]
        nodes = {v.owner for v in ancestors(aesara.grad(rows[-1], wrt)) if v.owner is not None}
        forward = [node for node in nodes if isinstance(node.op, Scan) and "grad_of" not in str(node.op.name)]
        assert (len(forward) > 1) == again
        checks = [node for node in nodes if "keeps only the last ones" in getattr(node.op, "msg", "")]
        assert bool(checks) == (as_while and buffer.type.shape == (None,) and buffer.owner is None)


def test_a_known_number_of_steps_and_a_short_buffer():
    state, buffer = at.dscalar("state"), at.tensor("float64", (2,), name="buffer")
    loop = Scan([state], [state**2], ScanInfo(0, (), (), (), ((-1,),), 0, 0, 0, False))
    last, former = loop(3, buffer)[-1], loop(3, buffer)[0]
    f = compiled([buffer], aesara.grad(last + former, buffer))
    np.testing.assert_allclose(f([1.1, 0.0]), [8 * 1.1**7 + 4 * 1.1**3, 0], rtol=1e-14)
    assert_close(compiled([buffer], aesara.grad(loop(1, buffer).sum(), buffer))([1.1, 0.0]), [3.2, 0])


@pytest.mark.parametrize("taps", [(-1,), (-2, -1), (-3, -1)], ids=str)
@pytest.mark.parametrize("known", [("rows", "steps"), ("rows",), ()], ids=str)
def test_buffers_of_every_length(taps, known):
    """Rows that were overwritten, and rows that no step writes, which are results as they are."""
    depth, steps = -min(taps), 2
    former = [at.dscalar() for _ in taps]
    kinds = ((), (), (taps,), ()) if len(taps) > 1 else ((), (), (), (taps,))
    loop = Scan(former, [former[0] ** 2 + 0.5 * former[-1]], ScanInfo(0, *kinds, 0, 0, 0, False))
    for rows in range(depth if known else depth + steps, depth + steps + 3):
        buffer = at.tensor("float64", (rows if known else None,), name="buffer")
        cost = (loop(at.constant(steps) if "steps" in known else n, buffer) * at.arange(1, rows + 1)).sum()
        f = aesara.function([buffer, n], [cost, aesara.grad(cost, buffer)], "FAST_COMPILE", on_unused_input="ignore")
        point = np.linspace(0.2, 1.1, rows)
        _, slope = f(point, steps)
        for k in range(rows):
            step = 1e-6 * (np.arange(rows) == k)
            wanted = (f(point + step, steps)[0] - f(point - step, steps)[0]) / 2e-6
            np.testing.assert_allclose(slope[k], wanted, rtol=1e-7, atol=1e-8)


# -- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, init, message",
    [
        (lambda s: (s[0], s[1].astype("float32")), (a, b), r"state\[1\] starts as float64, but .* float32 .*`.*`"),
        (lambda s: {"p": at.stack([s["p"], s["p"]])}, {"p": a}, r"state\['p'\] starts as float64, .* float64\[2\]"),
        (
            lambda s: at.concatenate([s, s]),
            at.zeros(3),
            r"state starts as float64\[3\], but the body returns float64\[6",
        ),
        (lambda s: (s, s), a, r"the form of init, \*, got \(\*, \*\)"),
        (lambda s: {"q": s["p"]}, {"p": a}, r"the form of init, \{'p': \*\}, got \{'q': \*\}"),
        (lambda s: None, [a], r"the form of init, \[\*\], got None"),
        (lambda s: n, a, r"state starts as float64, but the body returns int64 for it, namely n\. "),
    ],
)
def test_states_that_change_their_form(body, init, message):
    for loop in (lambda: while_loop(lambda s: a > 0, body, init), lambda: fori_loop(0, n, lambda i, s: body(s), init)):
        with pytest.raises(TypeError, match=message) as caught:
            loop()
        if "namely" in str(caught.value) and "computed by" in str(caught.value):
            assert "test_carried.py" in str(caught.value)


def test_messages_name_the_line():
    def doubled(s):
        return at.concatenate([s, s])

    with pytest.raises(TypeError, match=r"computed by .*test_carried.py:\d+ in doubled"):
        while_loop(lambda s: s.sum() < 3, doubled, at.zeros(3))
    f = aesara.function([x], while_loop(lambda s: s.sum() < 3, doubled, x))
    with pytest.raises(ValueError, match=r"while_loop.*state 0 .*size.*test_carried.py:\d+ in doubled"):
        f([1.0, 0.5])
    np.testing.assert_array_equal(f([2.0, 3.0]), [2.0, 3.0])


def test_other_mistakes():
    with pytest.raises(TypeError, match=r"single truth value, got bool\[\?\].*at.all"):
        while_loop(lambda s: s > 0, lambda s: s, x)
    with pytest.raises(TypeError, match="upper must be a single integer .* got float64"):
        fori_loop(0, a, lambda i, s: s, x)
    with pytest.raises(TypeError, match="lower must be a single integer .* got uint64"):
        fori_loop(at.scalar(dtype="uint64"), 3, lambda i, s: s, x)
    with pytest.raises(ValueError, match="no values"):
        fori_loop(0, 3, lambda i, s: s, ())
