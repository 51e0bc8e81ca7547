"""Lengths and indices that rules could take for others: programs give what they give as written, errors too."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.configdefaults import config

AS_WRITTEN = Mode("py", None)
MODES = {
    "rewritten": Mode("py", "fast_run"),
    "checked": Mode("py", "fast_run").excluding("shape_unsafe"),
    "native": Mode("llvm", "fast_run"),
}
V = np.arange(5.0)
M = np.arange(6.0).reshape(2, 3)

v, w, m, n = at.dvector("v"), at.dvector("w"), at.dmatrix("m"), at.lscalar("n")
small, z, far = at.bscalar("small"), at.zscalar("z"), at.scalar("far", dtype="uint64")
INPUTS = [v, w, m, n, small, z, far]


def outcome(output, mode, values):
    """Return the results of a program, or "an error"."""
    with config.change_flags(on_opt_error="raise"):
        function = aesara.function(INPUTS, output, mode=mode, on_unused_input="ignore")
    try:
        return function(*values)
    except (ValueError, IndexError, AssertionError):
        return "an error"


def check(output, modes=MODES, **given):
    values = [given.get(x.name, default) for x, default in zip(INPUTS, (V, V, M, 0, 0, 0j, np.uint64(2**64 - 1)))]
    expected = outcome(output, AS_WRITTEN, values)
    for name in modes:
        got = outcome(output, MODES[name], values)
        np.testing.assert_array_equal(got, expected, err_msg=name, strict=not isinstance(expected, str))
        if getattr(got, "dtype", None) == "float64":
            np.testing.assert_array_equal(np.signbit(got), np.signbit(expected), err_msg=name)
    return expected


# Functions of a length are not the length

LENGTHS = {
    "opposite": (-v.shape[0], V),
    "narrow": (v.shape[0].astype("int8"), np.arange(200.0)),
    "root": (at.sqrt(v.shape[0]).astype("int64"), V),
    "number of positions": (v.argmax(), V),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_slices_up_to_a_function_of_the_length(name):
    length, value = LENGTHS[name]
    check(v[:length], v=value)


def test_numbers_that_wrap_around_are_no_positions_of_all_rows():
    long = np.arange(200.0)
    positions = at.arange(v.shape[0], dtype="int8")
    check(v[positions], v=long)
    check(at.set_subtensor(v[positions], w)[positions], v=long, w=np.sqrt(long))
    check(at.set_subtensor(v[positions], v[positions] + w), modes=["checked"], v=long, w=long)


# One entry may be repeated though the type does not say that it is one

REPEATED = {
    "written and read": at.set_subtensor(v[:3], w)[:3],
    "all written": at.set_subtensor(v[:], w),
    "row written everywhere": at.set_subtensor(m[:], w),
    "added to zeros": at.inc_subtensor(at.zeros_like(v)[:], w),
    "sum with allocation": at.alloc(w, n) + v,
    "sum with allocation of one": at.alloc(w, 1) + v,
    "product with allocations": at.alloc(w, n) * at.alloc(w, v.shape[0]) * 2,
}


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("name", REPEATED)
def test_one_entry_that_is_repeated(name, length):
    # What does not fit fails, or not, if rules may drop checks.
    modes = MODES if length == 1 else ["checked"]
    check(REPEATED[name], modes, n=5, w=np.arange(length) + 0.5)


# Lengths that fit by chance only

FITTING = {
    "constant": at.alloc(at.constant(V), n),
    "of one element": at.alloc(at.alloc(v, 1), n),
    "written": at.set_subtensor(v[:], at.alloc(w, 1)),
    "added": at.inc_subtensor(v[1:], at.alloc(w[1:], 1)),
    "different entries": at.unique(at.broadcast_to(v, (1,))),
}


@pytest.mark.parametrize("name", FITTING)
def test_allocations_check_what_they_repeat(name):
    assert check(FITTING[name], ["checked"], n=3) == "an error"
    check(FITTING[name], n=5, v=V[:1], w=V[:1])


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (3, 0), (1, 1)])
def test_reshapes_to_a_shape_in_part_unknown(shape):
    value = np.ones(shape)
    for lengths in ((m.shape[0], -1), (-1, m.shape[1]), (-m.shape[0], m.shape[1])):
        check(m.reshape(lengths), MODES if value.size else ["checked"], m=value)


# Nothing, and less than nothing, of a number

REDUCED = {
    "sum": at.alloc(w[0], n).sum(),
    "sum of rows": at.broadcast_to(v, (n, 5)).sum(),
    "sum of some rows": at.broadcast_to(v, (n, 5)).sum(axis=0),
    "product": at.alloc(w[0], n, 2).prod(),
    "all": at.alloc(w[0] > 0, n).all(),
    "any": at.alloc(w[0] > 0, n).any(),
    "wrapped product": at.alloc(small, n).prod(dtype="int8", acc_dtype="int8"),
    "wrapped sum": at.alloc(small, n).sum(dtype="int8", acc_dtype="int8"),
    "complex sum": at.alloc(z, n).sum(),
    "product in half precision": at.alloc(small.astype("float16"), n).prod(dtype="float16", acc_dtype="float16"),
}


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("count", [-1, 0, 1, 3, 200, 256])
def test_reductions_of_repetitions(name, count):
    expected = check(REDUCED[name], n=count, w=np.array([-2.0]), small=-1, z=complex(np.inf, 1))
    assert count >= 0 or expected == "an error"


HUGE = {
    "sum": (lambda n, k: at.alloc(w[0], n, k).sum(), -(2.0**65), 0),
    "any": (lambda n, k: at.alloc(w[0] < 0, n, k).any(), True, False),
    "all": (lambda n, k: at.alloc(w[0] > 0, n, k).all(), False, True),
}


@pytest.mark.parametrize("name", HUGE)
def test_reductions_of_more_repetitions_than_can_be_counted(name):
    k = at.lscalar("k")
    build, expected, of_nothing = HUGE[name]
    f = aesara.function([w, n, k], build(n, k), mode="FAST_RUN")
    assert f([-2.0], 2**32, 2**32) == expected
    assert f([-2.0], 0, 2**32) == of_nothing


# Slices

LONG = 2**63 - 1
SLICES = {
    "far end": v[2:][:LONG],
    "far start": v[1:][LONG:],
    "long steps": v[:: 2**40][:: 2**40],
    "long steps, known length": at.specify_shape(v, (5,))[:: 2**40][:: 2**40],
    "far element": v[LONG:][LONG],
    "far element of some": v[1::LONG][LONG],
    "length up to a far end": v[:far].shape[0] + v[far:].shape[0] * 10,
    "from a far end": v[far::-2],
    "repeated from a far end on": at.alloc(1.0, v[far:3].shape[0]),
    "length from the first integer": v[-LONG - 1 :].shape[0] + v[: -LONG - 1].shape[0] * 10,
    "integers added to Booleans": at.inc_subtensor((v > 0)[1:], (w - 2).astype("int8")[1:]),
    "no positions": v[at.arange(7, n)][:2],
    "no positions, backwards": m[:, at.arange(n - 1, n, -1)],
    "rows from a sum on": m[n - 1 :, [0, 1]],
    "row that there is not": at.eye(1)[at.zeros(1, dtype="int64") + 2],
    "joined parts": at.join(0, v[n:3], v[3:5]),
    "joined parts at unknown places": at.join(0, v[1:n], v[n:4]),
}


one, second = at.eye(1), at.zeros(1, dtype="int64") + 1
NOT_THERE = {
    "read": one[second],
    "written twice": at.set_subtensor(at.set_subtensor(one[second], 1.0)[second], 2.0),
    "added twice": at.inc_subtensor(at.inc_subtensor(at.zeros((1, 1))[second], 1.0)[second], v[0]),
    "repeated": at.set_subtensor(one[second, 0], at.alloc(v[0], n)),
    "written in part": at.set_subtensor(at.zeros((1, 1))[at.eye(1, dtype="int64")[0, 0]], v[0]),
}


@pytest.mark.parametrize("name", NOT_THERE)
def test_positions_that_turn_out_to_be_out_of_range(name):
    """It is the function that fails, when it runs."""
    assert check(NOT_THERE[name], ["checked"], n=1) == "an error"


@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("k", [-2, 0, 4])
def test_parts_of_parts(name, k):
    check(SLICES[name], n=k)


def test_allocations_of_allocations_check_each_dimension():
    """A length of 1 in one dimension tells nothing about another dimension."""
    n = at.lscalar("n")
    element = at.tensor("element", dtype="float64", shape=(1, 1, 1))
    for lengths, again in (((2, n, 1), (2, 5, 1)), ((n, 2, 1), (5, 2, 1)), ((1, n, 3), (4, 5, 3))):
        f = aesara.function([element, n], at.alloc(at.alloc(element, *lengths), *again))
        value = np.ones((1, 1, 1))
        assert f(value, 5).shape == f(value, 1).shape == again
        with pytest.raises(ValueError):
            f(value, 3)


@pytest.mark.parametrize("lengths", [(0, 2, 3), (2, 0, 3), (2, 3, 0), (2, 3, 4)])
def test_decisions_over_repetitions_along_three_dimensions(lengths):
    sizes = at.lscalars("a", "b", "c")
    element = at.dscalar("element")
    repeated, positive = at.alloc(element, *sizes), at.alloc(element > 0, *sizes)
    outputs = [positive.any(), positive.all(), repeated.sum()]
    f = aesara.function([element, *sizes], outputs)
    for value in (1.0, -1.0):
        given = np.full(lengths, value)
        found = f(value, *lengths)
        assert [bool(found[0]), bool(found[1]), float(found[2])] == [(given > 0).any(), (given > 0).all(), given.sum()]
