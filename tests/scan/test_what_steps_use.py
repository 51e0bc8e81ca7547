"""What a step uses of the graph around it: variables it is given, others, shared ones, and gradients in the step."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.builders import OpFromGraph
from aesara.gradient import grad
from aesara.graph.basic import applys_between
from aesara.graph.utils import MissingInputError
from aesara.ifelse import ifelse
from aesara.scan import foldl, foldr, map, reduce, scan, scan_checkpoints, until
from aesara.scan.op import Scan
from tests.closeness import assert_close


@pytest.fixture(params=["FAST_COMPILE", "FAST_RUN"])
def mode(request):
    return request.param


def value_of(outputs, inputs, values, mode, **options):
    return aesara.function(inputs, outputs, mode=mode, **options)(*values)


def loop_of(inputs, output):
    (node,) = [n for n in applys_between(inputs, [output]) if isinstance(n.op, Scan)]
    return node


x = at.dvector("x")


@pytest.mark.parametrize("taps, wanted", [([-1], [[1.0, 5.0], [2.0, 6.0]]), ((-1,), [1, 2]), (range(-1, 0), [1, 2])])
def test_taps_that_are_no_list_have_a_leading_dimension(taps, wanted):
    states, _ = scan(lambda before: before + 1, outputs_info=[{"initial": x, "taps": taps}], n_steps=2)
    np.testing.assert_array_equal(aesara.function([x], states)([0.0, 4.0][: np.ndim(wanted)]), wanted)


y = x**2
ENTRIES = at.arange(x.shape[0])


# -- gradients in a step -------------------------------------------------------------------------------------------


def test_the_step_gets_the_variables_themselves():
    seen = []

    def step(i, y, x):
        seen.append((y, x))
        return y[i] + x[i]

    scan(step, ENTRIES, non_sequences=[y, x])
    assert seen == [(y, x)]


@pytest.mark.parametrize("listed", [[y, x], [y], [x], []], ids=["both", "computed", "input", "none"])
@pytest.mark.parametrize("strict", [False, True])
def test_a_gradient_leads_to_the_variables_outside(listed, strict, mode):
    rows, _ = scan(lambda i, *_: grad(y[i] + x[i], x), ENTRIES, non_sequences=listed, strict=strict)
    assert value_of(rows, [x], [[3.0, 4.0]], mode).tolist() == [[7, 0], [0, 9]]


def test_jacobian_and_hessian(mode):
    jacobian, _ = scan(lambda i, y, x: grad(y[i], x), ENTRIES, non_sequences=[y, x])
    slope = grad((x**3).sum() * x[0], x)
    hessian, _ = scan(lambda i, slope, x: grad(slope[i], x), ENTRIES, non_sequences=[slope, x])
    third = grad(hessian.sum(), x)
    got = value_of([jacobian, hessian, third], [x], [[1.0, 2.0]], mode)
    # x0**4 + x1**3 * x0
    assert [a.tolist() for a in got] == [[[2, 0], [0, 4]], [[12, 12], [12, 12]], [24 + 6 * 2, 6 * 2 + 6 * 2 - 6 + 12]]


def test_gradients_for_each_example(mode):
    X, w = at.dmatrix("X"), at.dvector("w")
    values = np.arange(6.0).reshape(2, 3), np.array([1.0, -2.0, 3.0])
    rows, _ = scan(lambda row, w: grad(((row * w) ** 2).sum(), w), X, non_sequences=w)
    np.testing.assert_array_equal(value_of(rows, [X, w], values, mode), 2 * values[0] ** 2 * values[1])


def test_gradients_of_what_is_computed_outside_with_respect_to_what_is_computed_outside(mode):
    z = y * 3
    rows, _ = scan(lambda i, z, y: grad(z[i] * y[0], y), ENTRIES, non_sequences=[z, y])
    assert value_of(rows, [x], [[3.0, 4.0]], mode).tolist() == [[3 * 9 + 27, 0], [48, 27]]


def test_gradients_with_respect_to_arguments_of_the_step(mode):
    first = at.dvector("first")

    def step(entry, two_ago, last):
        cost = two_ago**2 * last * entry
        return grad(cost, last) + grad(cost, two_ago) + grad(cost, entry)

    rows, _ = scan(step, x, {"initial": first, "taps": [-2, -1]})
    want, a, b = [], 1.0, 2.0
    for entry in (3.0, 4.0):
        a, b = b, a**2 * entry + 2 * a * b * entry + a**2 * b
        want.append(b)
    assert_close(value_of(rows, [x, first], [[3.0, 4.0], [1.0, 2.0]], mode), want)


def test_gradients_in_a_single_step(mode):
    first = at.dscalar("first")
    of_input, _ = scan(lambda y, x: grad(y.sum(), x), non_sequences=[y, x], n_steps=1)
    of_first, _ = scan(lambda s: grad(s**2, first), outputs_info=first, n_steps=1)
    of_argument, _ = scan(lambda e, s: grad(s**2 * e, s), x, first, n_steps=1)
    got = value_of([of_input, of_first, of_argument], [x, first], [[3.0, 4.0], 5.0], mode)
    assert [a.tolist() for a in got] == [[[6, 8]], [10], [30]]


def test_gradients_in_loops_in_loops(mode):
    X, v = at.dmatrix("X"), at.dvector("v")

    def outer(row, v):
        products = (row * v) ** 2
        rows, _ = scan(lambda i, p, v: grad(p[i], v), at.arange(row.shape[0]), non_sequences=[products, v])
        return rows

    found, _ = scan(outer, X, non_sequences=v)
    data, weights = np.array([[1.0, 2.0], [1.0, 1.0]]), np.array([1.0, 3.0])
    got, slope = value_of([found, grad(found.sum(), v)], [X, v], [data, weights], mode)
    assert_close(got, [np.diag(2 * row**2 * weights) for row in data])
    assert_close(slope, 2 * (data**2).sum(axis=0))


def test_gradients_in_choices_and_graphs_as_operations(mode):
    v, k = at.dvector("v"), at.dscalar("k")
    scaled = OpFromGraph([v, k], [v**2 * k])
    chosen, _ = scan(
        lambda i, x: ifelse(x[i] > 3.5, grad((x**3).sum(), x), grad((x**2).sum(), x)), ENTRIES, non_sequences=x
    )
    of_operation, _ = scan(lambda i, x, k: grad(scaled(x, k)[i], k), ENTRIES, non_sequences=[x, k])
    got = value_of([chosen, of_operation], [x, k], [[3.0, 4.0], 2.0], mode, on_unused_input="ignore")
    assert [a.tolist() for a in got] == [[[6, 8], [27, 48]], [9, 16]]


@pytest.mark.parametrize("loop, want", [(reduce, [27, 48]), (foldl, [27, 48]), (foldr, [27, 48])])
def test_gradients_in_reductions(loop, want, mode):
    total, _ = loop(lambda i, total, x: total + grad((x**3)[i], x), ENTRIES, at.zeros_like(x), non_sequences=x)
    assert value_of(total, [x], [[3.0, 4.0]], mode).tolist() == want


def test_gradients_in_maps_checkpoints_and_loops_that_go_backwards(mode):
    w = at.dscalar("w")
    rows, _ = map(lambda e, x: grad(e * (x**2).sum(), x), x, non_sequences=x)
    back, _ = scan(lambda e, i, y, x: grad(y[i] * e, x), [x, ENTRIES], non_sequences=[y, x], go_backwards=True)
    kept, _ = scan_checkpoints(
        lambda e, s, w: s + grad((e * w) ** 2, w), x, at.constant(0.0, dtype="float64"), w, save_every_N=2
    )
    got = value_of([rows, back, kept, grad(kept[-1], w)], [x, w], [[3.0, 4.0, 1.0, 2.0], 0.5], mode)
    v = np.array([3.0, 4.0, 1.0, 2.0])
    assert_close(got[0], 2 * np.outer(v, v))
    assert_close(got[1], np.diag(2 * v**2)[::-1])
    assert_close(got[2], np.cumsum(v**2)[1::2])
    assert_close(got[3], 2 * (v**2).sum())


def test_descent_with_updates_from_the_step(mode):
    w = aesara.shared(np.float64(1), "w")
    _, updates = scan(lambda e: {w: w - 0.1 * grad((e * w) ** 2, w)}, x)
    value_of([], [x], [[1.0, 2.0]], mode, updates=updates)
    assert_close(w.get_value(), (1 - 0.2) * (1 - 0.8))


def test_gradients_and_an_early_end(mode):
    total = x.sum()

    def step(e, s, total, x):
        new = s + e * grad(total**2, x)[0]
        return new, until(new > total)

    sums, _ = scan(step, x, at.constant(0.0, dtype="float64"), [total, x])
    got = value_of(sums, [x], [[0.1, 0.2, 3.0, 4.0]], mode)  # the total is 7.3
    assert_close(got, np.array([0.1, 0.1 + 0.2, 3.3]) * 14.6)


# -- listed variables ----------------------------------------------------------------------------------------------


def test_listed_variables_are_inputs_of_the_loop_in_their_order():
    w = at.dvector("w")
    rows, _ = scan(lambda e, w, y: e * y[0], x, non_sequences=[w, y])
    node = loop_of([x, w], rows)
    assert node.op.outer_non_seqs(node.inputs)[:2] == [w, y]
    got = aesara.function([x, w], rows)([2.0, 3.0], [1.0])  # w is used, as far as functions are concerned
    assert got.tolist() == [8, 12]


def test_a_variable_that_is_listed_twice(mode):
    first = at.dscalar("first")
    rows, _ = scan(lambda s, c, d: s + c * d, None, first, [first, first], n_steps=3)
    assert value_of(rows, [first], [3.0], mode).tolist() == [12, 21, 30]


def test_what_does_not_change_is_computed_before_the_loop_and_constants_are_seen(mode):
    w = at.dvector("w")
    rows, _ = scan(lambda e, w: e**2 * at.exp(w).sum(), x, non_sequences=w)
    node = loop_of([x, w], rows)
    inside = [str(n.op) for n in applys_between(node.op.inner_inputs, node.op.inner_outputs)]
    assert not any("exp" in name for name in inside)
    assert not any(v.owner and "DimShuffle" in str(v.owner.op) for v in node.inputs)  # the exponent is in the step
    got = value_of(rows, [x, w], [[2.0, 3.0], [0.0, 1.0]], mode)
    assert_close(got, np.array([4, 9]) * (1 + np.e))


def test_a_step_may_return_what_it_is_given(mode):
    outputs = [
        scan(lambda x: x, non_sequences=x, n_steps=2)[0],
        scan(lambda: x, n_steps=2)[0],
        scan(lambda e, x: x, x, non_sequences=x)[0],
        *scan(lambda e, a, b: (b, e), x, [0.5, 1.5])[0],
    ]
    got = value_of(outputs, [x], [[3.0, 4.0]], mode)
    assert [a.tolist() for a in got] == [[[3, 4]] * 2] * 3 + [[1.5, 3], [3, 4]]


# -- shared variables ----------------------------------------------------------------------------------------------


def test_strict_demands_that_shared_variables_are_listed():
    w = aesara.shared(np.ones(2), "w")
    outside = w * 2
    for step in (lambda e: e * w[0], lambda e: e * outside[0]):
        with pytest.raises(MissingInputError, match="the step uses w, but with strict=True"):
            scan(step, x, strict=True)
    for step, listed in [
        (lambda e, w: e * w[0], w),
        (lambda e, o: e * o[0], outside),
        (lambda e, *_: e * outside[0], w),
    ]:
        scan(step, x, non_sequences=listed, strict=True)
    scan(lambda e: (e * w[0], {w: w + e}), x, strict=True)
    scan(lambda e: e * x[0], x, strict=True)


@pytest.mark.parametrize("n_steps, want, last", [(None, [1, 4, 12], 7), (1, [1], 2)])
def test_a_listed_variable_that_the_step_updates_changes(n_steps, want, last, mode):
    w = aesara.shared(np.float64(1), "w")
    rows, updates = scan(lambda e, w: (w * e, {w: w + e}), x, non_sequences=w, n_steps=n_steps)
    assert value_of(rows, [x], [[1.0, 2.0, 3.0]], mode, updates=updates).tolist() == want
    assert w.get_value() == last


def test_what_was_computed_before_the_loop_stays_and_what_the_step_uses_changes(mode):
    w = aesara.shared(np.float64(1), "w")
    double = w * 2
    listed, _ = scan(lambda e, d: (d * e, {w: w + e}), x, non_sequences=double)
    found, updates = scan(lambda e: (double * e, {w: w + e}), x)
    got = value_of([listed, found], [x], [[1.0, 2.0, 3.0]], mode, updates=updates)
    assert [a.tolist() for a in got] == [[2, 4, 6], [2, 8, 24]]


def test_a_shared_variable_as_sequence_state_and_update(mode):
    w, v = aesara.shared(np.arange(3.0), "w"), aesara.shared(np.float64(1), "v")
    rows, updates = scan(lambda e: (w * e, {w: w + e}), w)
    states, more = scan(lambda e, s: (s * e, {v: v + e}), x, v)
    got = value_of([rows, states], [x], [[1.0, 2.0, 3.0]], mode, updates={**updates, **more})
    assert got[0].tolist() == [[0, 0, 0], [0, 1, 2], [2, 4, 6]] and w.get_value().tolist() == [3, 4, 5]
    assert got[1].tolist() == [1, 2, 6] and v.get_value() == 7


@pytest.mark.parametrize("listed", [True, False])
def test_a_default_update_is_made_once(listed, mode):
    count = aesara.shared(np.float64(0), "count")
    count.default_update = count + 1
    rows, updates = scan(lambda e, *_: e + count, x, non_sequences=[count] if listed else None)
    f = aesara.function([x], rows, updates=updates, mode=mode)
    assert not updates
    assert f([3.0, 4.0]).tolist() == [3, 4] and f([3.0, 4.0]).tolist() == [4, 5] and count.get_value() == 2


def test_a_loop_in_a_step_that_makes_a_stream():
    """The generators of the inner step are new in the outer one as well."""

    def outer(i):
        stream = at.random.RandomStream(3)
        inner, updates = scan(lambda j: stream.uniform() + j, at.arange(3))
        return inner.sum() + i, updates

    sums, updates = scan(outer, at.arange(3))
    assert len(updates) == 1
    first, second = (aesara.function([], sums, updates=updates)() for _ in range(2))
    assert len({*first, *second}) == 2 * len(first)


def test_outputs_without_first_values():
    rows, _ = scan(lambda i: i * 2, at.arange(3), outputs_info=[])
    assert rows.eval().tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match="taps of outputs must differ"):
        scan(lambda i, a, b: a + b, at.arange(3), outputs_info={"initial": at.dvector(), "taps": [-1, -1]})


def test_slices_are_part_of_the_step(mode):
    """Native code has no values for them, even if their bounds do not change."""
    cube, lengths, n = at.dtensor3("cube"), at.lvector("lengths"), at.lscalar("n")
    last = n + 1

    def step(i, s):
        return at.tanh(s) + cube[(lengths > i).nonzero()[0], 0, :last].sum()

    states, _ = scan(step, at.arange(5), outputs_info=at.constant(np.float64(0)))
    assert not any("slice" in str(v.type) for v in loop_of([cube, lengths, n], states).inputs)
    f = aesara.function([cube, lengths, n], states, mode=mode)
    assert mode == "FAST_COMPILE" or f._native.report.python_nodes == {}
    values, sizes, wanted, s = np.arange(24.0).reshape(3, 2, 4), np.array([0, 1, 6]), [], 0.0
    for i in range(5):
        s = np.tanh(s) + values[sizes > i, 0, :2].sum()
        wanted.append(s)
    assert_close(f(values, sizes, 1), wanted)
