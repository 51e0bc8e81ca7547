"""Short loops over steps as one kernel: bitwise the same results as step by step."""

import dataclasses

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.buffers import Buffer, Slot
from aesara.ir.expr import const, load
from aesara.ir.expr import op as primitive
from aesara.ir.interpret import CheckFailed, run_program
from aesara.ir.kernel import For, Store
from aesara.ir.loop_kernels import checks_after, failure_buffer, failure_size, loop_as_launch, rounds_buffer
from aesara.ir.steps import Allocate, Define, Iterate
from aesara.ir.text import parse_program
from aesara.ir.verify_program import verify_program
from aesara.raise_op import Assert
from aesara.scan import until

x, y, m = at.dvector("x"), at.fvector("y"), at.tensor("float64", shape=(None, 3), name="m")
a, b = at.dscalars("a", "b")


def two_taps():
    states, _ = aesara.scan(
        lambda e, h2, h1, a: a * h1 - 0.3 * h2 + e, x, [{"initial": at.stack([a, b]), "taps": [-2, -1]}], [a]
    )
    return [states, states[-1:]]


def far_taps():
    states, _ = aesara.scan(
        lambda e, h3, h1: 0.2 * h1 + h3 * e, x, [{"initial": at.stack([a, b, a * b]), "taps": [-3, -1]}]
    )
    return [states[-2:]]


def swapped():
    (p, q), _ = aesara.scan(lambda e, p, q: (q + e, p * 0.5), x, [a, b])
    return [p[-1:], q]


def backwards():
    states, _ = aesara.scan(lambda e, s: s * 0.9 + e, x, [a], go_backwards=True)
    return [states]


def gradients():
    states, _ = aesara.scan(lambda e, s, a: at.tanh(a * s + e), x, [b], [a])
    cost = (states**2).sum()
    return [cost, *aesara.grad(cost, [x, a, b])]


def rows_of_two():
    state, _ = aesara.scan(lambda e, s: at.stack([s[1] + e, s[0] * 0.5]), x, [at.stack([a, b])])
    return [state, state[-1:]]


def planes():
    turn = at.constant(np.array([[0.6, -0.8], [0.8, 0.6]]))
    state, _ = aesara.scan(lambda e, s: 0.5 * (s * turn + s.T) + e, x, [turn * a])
    return [state[-1:]]


def filter_of_two():
    """Means and covariances of a Kalman filter."""
    turn, noise = at.constant(np.array([[1.0, 0.1], [0.0, 0.9]])), at.constant(np.eye(2) * 0.1)
    look = at.constant(np.array([1.0, 0.5]))

    def step(e, mean, cov):
        mean, cov = turn @ mean, turn @ cov @ turn.T + noise
        size = look @ cov @ look + 0.5
        gain = cov @ look / size
        return mean + gain * (e - look @ mean), cov - at.outer(gain, look @ cov), at.log(size)

    (means, covs, sizes), _ = aesara.scan(step, x, [at.stack([a, b]), at.eye(2), None])
    return [means, covs[-1:], sizes.sum()]


def single():
    states, _ = aesara.scan(lambda e, s: s * np.float32(0.7) + e, y, [at.constant(np.float32(0.5))])
    return [states]


def counted():
    (c, s), _ = aesara.scan(
        lambda e, c, s: (c + (e > 0), s | (e > 1)), x, [at.constant(0), at.constant(np.array(False))]
    )
    return [c, s[-1:]]


def sums_of_rows():
    total, _ = aesara.scan(lambda e, s: s + e[0] * e[2], m, [a])
    return [total[-3:]]


def ring_buffers():
    """Ring buffers of several lengths, one of which is read in each iteration."""
    (p, q, r), _ = aesara.scan(lambda e, p, q: (q + e, p * 0.5, p * e), x, [a, b, None])
    return [p[-3:], q[-1:], r[-2:]]


def until_small():
    """A loop that may end early: its last state, and its trip count."""
    states, _ = aesara.scan(lambda e, s: (s * 0.5 + e, until(abs(s) < 0.3)), x, [a])
    return [states[-1:], states.shape[0]]


def until_with_rows():
    (p, q), _ = aesara.scan(lambda e, p, q: ([p * q + e, p - q], until((p - q) * e > 0.5)), x, [a, b])
    return [p, q[-2:]]


def until_another_output():
    """A loop whose condition depends on a count of previous iterations."""
    (c, s, t), _ = aesara.scan(
        lambda e, c, s: ([c + 1, s + e, at.sqrt(abs(s))], until(c >= 2)), x, [at.constant(0), a, None]
    )
    return [c[-1:], s, t[-1:]]


def until_the_first():
    states, _ = aesara.scan(lambda e, s: (s + e, until(at.constant(True))), x, [a])
    return [states]


def indices():
    """A step that checks its own indices."""
    states, _ = aesara.scan(lambda e, s, m: 0.5 * s + m[at.cast(abs(e), "int64"), 1], x, [a], [m])
    return [states[-1:]]


def indices_of_states():
    (p, q), _ = aesara.scan(
        lambda e, p, q, m: ((p + 1) % m.shape[0], q + m[p, 2] * e), x, [at.constant(0, dtype="int64"), a], [m]
    )
    return [p[-2:], q]


def until_or_wrong():
    """A loop that may end early, or fail, with two conditions in each iteration."""

    def step(e, s):
        s = Assert("too small")(s * 0.5 + e, s > -8.0)
        return Assert("too large")(s, s < 8.0, e < 5.0), until(s < -0.2)

    states, _ = aesara.scan(step, x, [a])
    return [states, states[-2:]]


#: the graph, and how many of its loops are one kernel
LOOPS = {
    two_taps: 1, far_taps: 1, swapped: 1, backwards: 1, gradients: 2, rows_of_two: 1, planes: 1, single: 1, counted: 1,
    sums_of_rows: 1, filter_of_two: 1, until_small: 1, until_with_rows: 1, until_another_output: 1,
    until_the_first: 1, ring_buffers: 1, indices: 1, indices_of_states: 1, until_or_wrong: 1,
}  # fmt: skip


def with_kernels(program):
    """Return the program with loops replaced by launches, and these launches."""
    bases, made, slots = program.bases(), [], list(program.slots)

    def changed(steps):
        for step in steps:
            launch = loop_as_launch(step, bases) if isinstance(step, Iterate) else None
            if launch is None:
                yield step
                continue
            made.append(launch)
            count = primitive("maximum", step.extent, const(0))
            if step.until is not None:
                yield Allocate(Buffer(rounds_buffer(step), "int64", ()), slot=len(slots))
                slots.append(Slot(const(8), late=False))
                count = load(rounds_buffer(step), "int64", const(0))
            if failure_size(step):
                size = const(failure_size(step))
                yield Allocate(Buffer(failure_buffer(step), "int64", (size,)), slot=len(slots))
                slots.append(Slot(size * 8, late=False))
            yield launch
            yield from checks_after(step)
            yield Define(step.count, count)

    steps = tuple(changed(program.steps))
    return dataclasses.replace(program, steps=steps, slots=tuple(slots)), made


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
@pytest.mark.parametrize("build", LOOPS, ids=lambda build: build.__name__)
def test_kernels_compute_what_loops_do(build, steps):
    rng = np.random.default_rng(steps)
    values = {x: rng.normal(size=steps), y: rng.normal(size=steps).astype("float32"), m: rng.normal(size=(steps, 3)),
              a: 0.7, b: -0.4}  # fmt: skip
    outputs = build()
    inputs = [v for v in values if v in set(aesara.graph.traversal.graph_inputs(outputs))]
    f = aesara.function(inputs, outputs)
    lowered = f._native.report.lowering
    program, made = with_kernels(lowered.program)
    assert len(made) == LOOPS[build]
    verify_program(program)
    given = [np.asarray(values[v], v.type.dtype) for v in inputs]
    found = [run_program(p, given, lowered.constants, [], True).returned for p in (program, lowered.program)]
    for one, two, native in zip(*found, f(*given), strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(native, one, rtol=1e-6 if one.dtype == "float32" else 1e-14)


@pytest.mark.parametrize(
    "build, values, message",
    [
        (indices, {x: [0.0, 1.0, 3.0, 5.0]}, "index 3 is out of bounds for axis 0 with size 3"),
        (indices, {x: [0.0], m: np.ones((0, 3))}, "index 0 is out of bounds for axis 0 with size 0"),
        (indices, {x: [3.5, 7.0]}, "index 3 is"),
        (until_or_wrong, {x: [1.0, 6.0]}, "too large"),
        (until_or_wrong, {x: [4.0, 4.0, 4.0, 4.0, 4.0, 4.5, 1.0]}, "too large"),
        (until_or_wrong, {x: [4.0], a: -9.0}, "too small"),
        (until_or_wrong, {x: [9.0], a: -9.0}, "too small"),
    ],
)
def test_kernels_fail_as_loops_do(build, values, message):
    values = {x: np.arange(3.0), m: np.ones((3, 3)), a: 0.5, **values}
    outputs = build()
    inputs = [v for v in values if v in set(aesara.graph.traversal.graph_inputs(outputs))]
    f = aesara.function(inputs, outputs)
    lowered = f._native.report.lowering
    program, made = with_kernels(lowered.program)
    assert len(made) == 1
    given = [np.asarray(values[v], v.type.dtype) for v in inputs]
    found = []
    for one in (program, lowered.program):
        with pytest.raises(CheckFailed) as failure:
            run_program(one, given, lowered.constants, [], True)
        found.append((failure.value.error, failure.value.values))
    assert found[0] == found[1]
    with pytest.raises((AssertionError, IndexError), match=f"{message}(.|\n)*(Assert|Subtensor)(.|\n)*loop_kernels"):
        f(*given)


def test_a_loop_that_has_failed_changes_nothing():
    total, count = aesara.shared(np.zeros(3), name="total"), aesara.shared(0, name="count")
    states, updates = aesara.scan(lambda e, s, m: (s + m[at.cast(e, "int64"), 0], {count: count + 1}), x, [a], [m])
    f = aesara.function([x, a, m], states, updates={**updates, total: total + states[-1]})
    with pytest.raises(IndexError):
        f([0.0, 1.0, 9.0], 0.5, np.ones((2, 3)))
    assert count.get_value() == 0 and not total.get_value().any()
    f([0.0, 1.0, 1.0], 0.5, np.ones((2, 3)))
    assert count.get_value() == 3 and (total.get_value() == 3.5).all()


LOOP = """\
program
    input a0: float64[]
    input a1: float64[9]
    slot 0: 80
    slot 1: 80
    allocate t0: float64[10] in slot 0
    launch first(a0, t0)
    loop i < 8 count h:
        view w0: float64[] in {read}
        view w1: float64[{size}] in {other}
        view w2: float64[] in t0 at {written}
        launch step(w0, w1, w2)
    allocate t1: float64[10] as output 0
    launch copy(t0, t1)
    output t1
    return 1

kernel first(b0: float64[], b1: float64[] written):
    parallel for v < 10:
        b1[v] = b0[0]

kernel copy(b0: float64[], b1: float64[] written):
    parallel for v < 10:
        b1[v] = b0[v]

kernel step(b0: float64[], b1: float64[], b2: float64[] written):
    {step}
"""

PLUS = "b2[0] = b0[0] * 0.5 + b1[0]"


@pytest.mark.parametrize(
    "read, other, written, step, is_one",
    [
        ("t0 at i", "a1 at i", "i + 1", PLUS, True),
        ("t0 at i", "t0 at i + 1", "i + 2", PLUS, True),
        ("t0 at 3", "a1 at i", "3", PLUS, True),
        ("t0 at mod(i, 2)", "a1 at i", "mod(i + 1, 2)", PLUS, True),
        ("t0 at mod(i, 3)", "t0 at mod(i + 1, 3)", "mod(i + 2, 3)", PLUS, True),
        ("a1 at 7 - i", "a1 at i", "i", PLUS, True),
        ("t0 at i", "a1 at i", "i + 1", "b2[0] = b0[0] * 0.5\n    b2[0] = b2[0] + b1[0]", True),
        # rows that are written later, or by nobody
        ("t0 at i + 1", "a1 at i", "i", PLUS, False),
        ("t0 at i", "a1 at i", "i", PLUS, False),
        ("t0 at i * 0 + 9", "a1 at i", "i", PLUS, False),
        ("t0 at 9", "t0 at i", "i + 1", PLUS, False),
        # rings that are too short, or of two lengths, and rows in another order
        ("t0 at mod(i, 2)", "a1 at i", "mod(i + 2, 2)", PLUS, False),
        ("t0 at mod(i, 3)", "a1 at i", "mod(i + 1, 2)", PLUS, False),
        ("t0 at 8 - i", "a1 at i", "9 - i", PLUS, False),
        ("t0 at i * 1", "a1 at i", "minimum(i, 3)", PLUS, False),
        ("t0 at i", "a1 at 0", "i + 1", "if b1[0] > 0.0:\n        b2[0] = b0[0]", False),
    ],
)
def test_which_loops_become_kernels(read, other, written, step, is_one):
    check_whether_a_kernel(LOOP.format(read=read, other=other, written=written, step=step, size=""), is_one)


@pytest.mark.parametrize(
    "loop, body, is_one",
    [
        ("8", ["r = r + b1[v]"], True),
        ("9", ["r = r + b1[v]"], False),  # too long to be written out
        # the order of additions in lanes is another one
        ("3 lanes 4", ["r = r + b1[v], reassociate"], True),
        ("4 lanes 4", ["r = r + b1[v], reassociate"], False),
        ("5 lanes 8, 4", ["r = r + b1[v], reassociate"], False),
        # functions of vectors are left to LLVM
        ("3", ["r = r + exp(b1[v])"], True),
        ("4", ["r = r + exp(b1[v])"], False),
        ("4", ["let e = exp(b1[v])", "r = r + e"], False),
        ("4", ["let e = b1[v] * 2.0", "r = r + exp(e)"], False),
        ("4", ["for w < 2:", "    let e = exp(b1[v])", "    r = r + e"], False),
        ("3", ["for w < 3:", "    r = r + exp(b1[v])"], True),
        ("3", ["for w < 4:", "    r = r + exp(b1[v])"], False),
    ],
)
def test_loops_in_steps(loop, body, is_one):
    step = "\n    ".join(["let r = 0.0", f"for v < {loop}:", *(f"    {line}" for line in body), "b2[0] = r + b0[0]"])
    text = LOOP.format(read="t0 at i", other="a1 at 0", written="i + 1", step=step, size=loop[0])
    check_whether_a_kernel(text, is_one)


@pytest.mark.parametrize("numbers, lines, is_one", [(128, 1, True), (129, 1, False), (1, 200, True), (1, 300, False)])
def test_limits_of_a_step(numbers, lines, is_one):
    """The numbers of results and operations are limited, and so is LLVM's time."""
    check_whether_a_kernel(text_of_rows(numbers, ["r = r * 0.5 + b1[0]"] * lines), is_one)


@pytest.mark.parametrize("rows, numbers, kept", [(2, 1, 0), (4, 1, 0), (5, 1, 1), (4, 8, 0), (4, 9, 9), (3, 11, 11)])
def test_rows_stored_after_the_loop(rows, numbers, kept):
    """A small ring buffer is in registers; others are stored in each iteration."""
    text = text_of_rows(numbers, ["r = b1[0]"], f"mod(i, {rows})", f"mod(i + 1, {rows})")
    launch = check_whether_a_kernel(text, True)
    stores = [s for loop in launch.kernel.body if isinstance(loop, For) for s in loop.body if isinstance(s, Store)]
    assert len(stores) == kept


def text_of_rows(numbers, lines, read="i", written="i + 1"):
    """Return the text of a loop whose step computes rows of this length from another row."""
    step = ["let r = 0.0", *lines, *(f"b2[{k}] = b0[{k}] + r" for k in range(numbers))]
    row, size = f"float64[{numbers}]", 9 * numbers
    text = LOOP.format(
        read=f"t0 at ({read}) * {numbers}", other="a1 at i", written=f"({written}) * {numbers}",
        step="\n    ".join(step), size="",
    )  # fmt: skip
    for old, new in [
        ("w0: float64[]", f"w0: {row}"), ("w2: float64[]", f"w2: {row}"), ("float64[10]", f"float64[{size}]"),
        ("v < 10", f"v < {size}"), (": 80", f": {8 * size}"),
    ]:  # fmt: skip
        text = text.replace(old, new)
    return text


def check_whether_a_kernel(text, is_one):
    program = parse_program(text)
    verify_program(program)
    changed, made = with_kernels(program)
    assert len(made) == is_one
    verify_program(changed)
    given = [np.array(0.3), np.linspace(-1.0, 1.0, 9)]
    found = [run_program(p, given, [], [], True).returned for p in (program, changed)]
    np.testing.assert_array_equal(*found)
    return made[0] if made else None


def test_aliased_buffers_are_not_in_registers():
    text = LOOP.format(read="u0 at i", other="a1 at i", written="i + 1", step=PLUS, size="")
    program = parse_program(text.replace("    loop i", "    view u0: float64[10] in t0 at 0\n    loop i"))
    assert with_kernels(program)[1] == []
    plain = parse_program(LOOP.format(read="t0 at i", other="a1 at i", written="i + 1", step=PLUS, size=""))
    (loop,) = [step for step in plain.steps if isinstance(step, Iterate)]
    assert loop_as_launch(loop, plain.bases()) is not None
    assert loop_as_launch(loop, plain.bases(), frozenset({"t0"})) is None


@pytest.mark.parametrize("changed", ["b0: float64[]", "b2: float64[] written"])
def test_a_step_that_may_write_where_it_reads_stays_a_loop(changed):
    text = LOOP.format(read="t0 at i", other="a1 at i", written="i + 1", step=PLUS, size="")
    head, step = text.split("kernel step")
    program = parse_program("kernel step".join([head, step.replace(changed, f"{changed} aliased")]))
    assert with_kernels(program)[1] == []


def test_the_first_failed_check_is_reported():
    def step(e, s):
        s = Assert("the first")(s + e, s < 2.0)
        s = Assert("the second")(s * 2.0, e > 0.0)
        return Assert("the third")(s, s < 3.0, e > -1.0)

    states, _ = aesara.scan(step, x, [a])
    f = aesara.function([x, a], states)
    (loop,) = [step for step in f._native.program.steps if isinstance(step, Iterate)]
    assert loop_as_launch(loop, f._native.program.bases()) is not None and len(checks_after(loop)) >= 3
    for values, first in {(0.5, -5.0): "the second", (1.0, -5.0): "the first", (0.5, 1.0): "the third"}.items():
        with pytest.raises(AssertionError, match=rf"\A{first}"):
            f(values, 0.25)
