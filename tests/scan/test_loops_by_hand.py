"""Loops that are put together by hand: which are refused, the types of what they give, and what is known of rows."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.nodes import Constant
from aesara.graph.traversal import applys_between
from aesara.scan.op import Scan, ScanInfo
from aesara.scan.parts import expand_empty, expansion_of, is_exact, is_for_each_step
from aesara.scan.row_counts import first_rows, is_length
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.creation.allocation import AllocEmpty
from aesara.tensor.shapes.shape import Shape_i

x, v, M, n, one = at.dvector("x"), at.dvector("v"), at.dmatrix("M"), at.lscalar("n"), at.dscalar("one")
STATE = ScanInfo(0, (), (), (), ((-1,),), 0, 0, 0, False)
SEVERAL = ScanInfo(0, (), (), ((-2, -1),), (), 0, 0, 0, False)
MAP = ScanInfo(1, (), (), (), (), 1, 0, 0, False)


# -- steps and their inputs ----------------------------------------------------------------------------------------

s, t = at.dscalar("s"), at.dscalar("t")
STEPS_THAT_DO_NOT_FIT = {
    "no input": ([], [s], STATE, "0 inputs and 1 outputs; info says 1 and 1"),
    "two inputs": ([s, t], [s], STATE, "2 inputs and 1 outputs; info says 1 and 1"),
    "no output": ([s], [], STATE, "1 inputs and 0 outputs; info says 1 and 1"),
    "two outputs": ([s], [s, s], STATE, "1 inputs and 2 outputs; info says 1 and 1"),
    "another dtype": ([s], [s.astype("float32")], STATE, "must have the same dtype and number of dimensions"),
    "more dimensions": ([s], [s[None]], STATE, "must have the same dtype and number of dimensions"),
    "another dtype of several": ([s, t], [s.astype("int64")], SEVERAL, "must have the same dtype"),
    "another rank of several": ([s, t], [at.stack([s, t])], SEVERAL, "must have the same dtype"),
    "a former value of another dtype": ([at.fscalar(), t], [t], SEVERAL, "must have the same dtype"),
}


@pytest.mark.parametrize("case", STEPS_THAT_DO_NOT_FIT)
def test_steps_that_do_not_fit(case):
    inputs, outputs, info, message = STEPS_THAT_DO_NOT_FIT[case]
    with pytest.raises(ValueError, match=message):
        Scan(inputs, outputs, info)


INPUTS_THAT_DO_NOT_FIT = {
    "too few": (MAP, [3, x], ValueError, "takes 3 inputs, got 2"),
    "too many": (MAP, [3, x, 3, x], ValueError, "takes 3 inputs, got 4"),
    "half a step": (MAP, [3.5, x, 3], TypeError, "the number of steps must be an integer"),
    "several numbers of steps": (MAP, [at.lvector(), x, 3], TypeError, "the number of steps must be an integer"),
    "a number for a sequence": (MAP, [3, s, 3], TypeError, "expected one more dimension and the same dtype"),
    "a matrix for a sequence": (MAP, [3, M, 3], TypeError, "expected one more dimension and the same dtype"),
    "another dtype": (MAP, [3, at.fvector(), 3], TypeError, "expected one more dimension and the same dtype"),
    "a number for a buffer": (STATE, [3, s], TypeError, "expected one more dimension and the same dtype"),
    "a buffer of another dtype": (STATE, [3, at.lvector()], TypeError, "one more dimension and the same dtype"),
    "a matrix for a buffer": (SEVERAL, [3, M], TypeError, "expected one more dimension and the same dtype"),
}


@pytest.mark.parametrize("case", INPUTS_THAT_DO_NOT_FIT)
def test_inputs_that_do_not_fit(case):
    info, inputs, error, message = INPUTS_THAT_DO_NOT_FIT[case]
    loop = Scan([s] if info is not SEVERAL else [s, t], [s * 2], info)
    with pytest.raises(error, match=message.replace(" ", r"\s+")):
        loop(*inputs)


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, None])
@pytest.mark.parametrize("depth", [1, 2])
def test_types_say_how_many_rows_there_are(ends, rows, depth):
    """All rows of the buffer, unless the loop may end before they are written: then only a full one is known."""
    taps = ((-depth,),)
    info = ScanInfo(1, (), (), taps if depth > 1 else (), taps if depth == 1 else (), 1, 0, 0, ends)
    row, entry = at.TensorType("float64", (2,))(), at.dscalar()
    loop = Scan([entry, row], [row * entry, row + 1, *([entry > 1] if ends else [])], info)
    states, results = loop(3, x, at.TensorType("float64", (rows, 2))(), at.constant(3))
    assert states.type.shape == (rows if not ends or rows == depth else None, 2)
    assert results.type.shape == (None if ends else 3, 2)
    assert loop(3, x, at.TensorType("float64", (rows, 2))(), n)[1].type.shape == (None, 2)


def test_shapes_of_states_of_which_the_last_value_is_kept():
    total, entry = at.dvector("total"), at.dscalar("entry")
    info = ScanInfo(1, (), (), (), (), 1, 1, 0, False)
    rows, last = Scan([entry, total], [total * entry, total + entry], info)(n, x, v, n)
    f = aesara.function([n, x, v], [rows.shape, last.shape, rows, last])
    for steps in (0, 1, 2):
        shape, of_last, values, value = f(steps, [2.0, 3.0], [1.0, -1.0, 0.5])
        assert shape.tolist() == [steps, 3] == list(values.shape) and of_last.tolist() == [3] == list(value.shape)
        np.testing.assert_array_equal(value, np.array([1.0, -1.0, 0.5]) + [0.0, 2.0, 5.0][steps])


# -- buffers and numbers of rows -----------------------------------------------------------------------------------


def buffer(rows, part=lambda b: b[:2], base=lambda k: AllocEmpty("float64")(k), value=v[:2]):
    return at.set_subtensor(part(base(rows)), value)


NO_BUFFERS = {
    "other rows": lambda: buffer(n, lambda b: b[1:3]),
    "from a row on": lambda: buffer(n, lambda b: b[1:]),
    "every second row": lambda: buffer(n, lambda b: b[:4:2]),
    "backwards": lambda: buffer(n, lambda b: b[::-1]),
    "one row": lambda: buffer(n, lambda b: b[0], value=one),
    "rows at places": lambda: buffer(n, lambda b: b[[0, 1]]),
    "a value for all rows": lambda: buffer(n, value=one),
    "zeros": lambda: buffer(n, base=lambda k: at.zeros(k)),
    "a variable": lambda: buffer(n, base=lambda k: x),
    "what is added": lambda: at.inc_subtensor(AllocEmpty("float64")(n)[:2], v[:2]),
    "parts of rows": lambda: at.set_subtensor(AllocEmpty("float64")(n, 3)[:2, :1], M[:2, :1]),
    "another operation": lambda: at.exp(x),
    "an input": lambda: x,
}


def test_what_is_known_of_buffers():
    made = expand_empty(v, n)
    first, length = expansion_of(made)
    assert first is v and length.eval({v: [1.0, 2.0], n: 3}) == 5
    first, length = expansion_of(buffer(n))
    assert length is n
    for why, build in NO_BUFFERS.items():
        assert expansion_of(build()) is None, why


def test_what_is_a_row_for_each_step():
    known = at.TensorType("float64", (2,))("known")
    five, three, two = (at.constant(k) for k in (5, 3, 2))
    exact = {
        "sum": (expand_empty(known, n), 2, n),
        "numbers": (buffer(five, value=known), 2, three),
        "a number more": (buffer(n + 2, value=known), 2, n),
    }
    for why, (made, depth, steps) in exact.items():
        assert is_exact(made, depth, steps), why
        assert not is_exact(made, depth + 1, steps) and not is_exact(made, depth - 1, steps), why
        assert not is_exact(made, depth, at.lscalar()) and not is_exact(made, depth, five), why
    assert not is_exact(x, 1, n) and not is_exact(buffer(n), 2, n) and not is_exact(buffer(n * 2), 2, n)
    assert not is_exact(buffer(n + x.shape[0], value=known), 2, n)
    assert not is_exact(expand_empty(v, n), 2, n)  # nothing says that there are two
    lengths = {"steps": (n, 0), "one more": (n + 1, 1), "one more, in front": (1 + n, 1), "numbers": (five, 2)}
    for why, (length, depth) in lengths.items():
        steps = three if why == "numbers" else n
        assert [is_for_each_step(length, k, steps) for k in range(4)] == [k == depth for k in range(4)], why
    assert not is_for_each_step(n + n, 1, n) and not is_for_each_step(n + 1 + at.lscalar(), 1, n)
    assert not is_for_each_step(five, 2, n) and not is_for_each_step(n, 0, three) and not is_for_each_step(two, 0, n)


def lengths_of(rows):
    """Numbers of steps over a sequence: whether they are its length, and whether they are known to be no more."""
    other, k = at.dvector("other"), at.constant
    yield "length", rows.shape[0], True, True
    yield "its node", Shape_i(0)(rows), True, True
    yield "of another", other.shape[0], False, False
    yield "of another's node", Shape_i(0)(other), False, False
    yield "a variable", n, False, False
    yield "the least", at.minimum(rows.shape[0], n), False, True
    yield "the least, behind", at.minimum(n, Shape_i(0)(rows)), False, True
    yield "the least of three", at.minimum(at.minimum(n, rows.shape[0]), other.shape[0]), False, True
    yield "the least of others", at.minimum(n, other.shape[0]), False, False
    yield "the greatest", at.maximum(n, rows.shape[0]), False, False
    yield "one more", rows.shape[0] + 1, False, False
    if rows.type.ndim > 1:
        yield "columns", rows.shape[1], False, False
        yield "columns' node", Shape_i(1)(rows), False, False
    size = rows.type.shape[0]
    for number in (2, 3, 4):
        yield f"{number}", k(number), number == size, size is not None and number <= size


@pytest.mark.parametrize(
    "rows", [x, M, at.TensorType("float64", (3,))("y"), at.TensorType("float64", (3, 4))("N")], ids=str
)
def test_entries_of_the_steps(rows):
    """Checks are only made where there may be too few entries."""
    for why, steps, is_whole, is_enough in lengths_of(rows):
        if rows.type.shape[0] is not None and not isinstance(steps, Constant):
            continue
        assert is_length(steps, rows) == is_whole, why
        found = first_rows(rows, steps)
        assert (found is rows) == is_whole, why
        checks = [node for node in applys_between([rows], [found]) if isinstance(node.op, CheckAndRaise)]
        assert len(checks) == (not is_enough), why


def test_entries_that_are_too_few():
    for steps, name in [(n, "the steps"), (at.constant(3), "the 3 steps")]:
        f = aesara.function([x, n], first_rows(x, steps), on_unused_input="ignore")
        assert f([1.0, 2.0, 3.0, 4.0], 3).tolist() == [1, 2, 3]
        assert f([1.0, 2.0, 3.0], 3).tolist() == [1, 2, 3]
        with pytest.raises(ValueError, match=f"fewer entries than {name}\\."):
            f([1.0, 2.0], 3)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_number_of_steps_that_is_known(steps):
    """Loops of numbers become their steps, if there is one."""
    loop = Scan([s], [s * 2 + 1], STATE)
    rows = loop(at.constant(steps), expand_empty(one[None], at.constant(steps)))
    f = aesara.function([one], rows)
    assert any(isinstance(node.op, Scan) for node in f.maker.fgraph.apply_nodes) == (steps == 0)
    np.testing.assert_array_equal(f(3.0), [3.0, 7.0, 15.0][: steps + 1])


@pytest.mark.parametrize("more", [0, 1, 3])
def test_products_of_states_in_buffers_with_more_rows_than_steps(more):
    """They are computed behind the loop, of the rows that the steps have written."""
    row, state, weights, W, rows = at.dvector(), at.dvector(), at.dmatrix(), at.dmatrix("W"), at.dmatrix("rows")
    new = at.tanh(state * 0.5 + row)
    info = ScanInfo(1, (), (), (), ((-1,),), 1, 0, 1, False)
    outputs = Scan([row, state, weights], [new, at.dot(new, weights)], info)(n, M, rows, n, W)
    draw = np.random.default_rng(3)
    given = 3, draw.normal(size=(4, 2)), draw.normal(size=(4 + more, 2)), draw.normal(size=(2, 2))
    f, plain = (aesara.function([n, M, rows, W], outputs, mode=mode) for mode in ("FAST_RUN", "FAST_COMPILE"))
    (loop,) = [node.op for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    assert loop.info.n_nit_sot == 0
    for got, want in zip(f(*given), plain(*given), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-14)
