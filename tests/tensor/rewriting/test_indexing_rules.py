"""Rewriting of indexed tensors: the operations left in compiled functions, and their results."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode, get_mode
from aesara.graph.basic import equal_computations
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.db import TopoDB
from aesara.tensor.indexing.distinct_positions import are_distinct
from aesara.tensor.rewriting.indexing.lifting import local_join_subtensors
from aesara.tensor.rewriting.indexing.positions import get_advsubtensor_axis, transform_take
from aesara.tensor.rewriting.indices import index_of
from aesara.tensor.shape import Shape_i
from aesara.tensor.special import softmax
from aesara.tensor.subtensor import advanced_set_subtensor1, advanced_subtensor1, inc_subtensor, set_subtensor
from aesara.tensor.type_other import make_slice
from tests.tensor.rewriting.passes import ops_of, rewrite

REWRITTEN = Mode("py", "fast_run")
X = np.linspace(-2.0, 3.0, 20).reshape(4, 5)
V = np.arange(5.0)
POSITIONS = np.array([2, 0, 2])


def case(build, *left):
    """A function of a matrix, a matrix whose shape is known, a vector, a number, positions, and the ops left of it."""
    return build, sorted(left)


CASES = {
    "reversed twice": case(lambda x, k, v, s, i: x[::-1][::-1]),
    "element of reversed": case(lambda x, k, v, s, i: x[::-1][1], "Subtensor"),
    "only row": case(lambda x, k, v, s, i: v.dimshuffle("x", 0)[0]),
    "rows of a product": case(lambda x, k, v, s, i: at.dot(x, k.T)[1:3], "DimShuffle", "Dot", "Subtensor"),
    "repeated rows": case(lambda x, k, v, s, i: at.alloc(k[0], 3, 5)[1:, 2], "Alloc", "Subtensor"),
    "joined parts": case(lambda x, k, v, s, i: at.concatenate([x[:2], x[2:]])),
    "parts joined at any place": case(lambda x, k, v, s, i: at.concatenate([x[: i[0]], x[i[0] :]], axis=0)),
    "joined parts that leave a gap": case(
        lambda x, k, v, s, i: at.concatenate([x[:1], x[2:]]), "Join", "Subtensor", "Subtensor"
    ),
    "joined parts of a row": case(lambda x, k, v, s, i: at.concatenate([x[1, :2], x[1, 2:]]), "Subtensor"),
    "joined parts of different columns": case(
        lambda x, k, v, s, i: at.concatenate([x[:2, 1:], x[2:, :-1]]), "Join", "Subtensor", "Subtensor"
    ),
    "joined parts of different rows": case(
        lambda x, k, v, s, i: at.concatenate([x[0, :2], x[1, 2:]]), "Join", "Subtensor", "Subtensor"
    ),
    "joined parts of different tensors": case(
        lambda x, k, v, s, i: at.concatenate([x[:2], k[2:]]), "Join", "Subtensor", "Subtensor"
    ),
    "parts joined along another axis": case(
        lambda x, k, v, s, i: at.concatenate([k[:2], k[2:]], axis=1), "Join", "Subtensor", "Subtensor"
    ),
    "all rows but in parts": case(
        lambda x, k, v, s, i: at.concatenate([x[:1], x[1:2], x[2:], v[None]]), "DimShuffle", "Join"
    ),
    "chosen scalars": case(lambda x, k, v, s, i: at.stack([s, s * 2, s * 3])[np.array([2, 0])], "MakeVector", "Mul"),
    "beside what was written": case(lambda x, k, v, s, i: set_subtensor(k[0], s)[1:], "Subtensor"),
    "written twice": case(lambda x, k, v, s, i: set_subtensor(set_subtensor(x[1], s)[1], 2.0), "IncSubtensor"),
    "added twice": case(
        lambda x, k, v, s, i: inc_subtensor(inc_subtensor(at.zeros((4, 5))[1], v)[1], v), "Add", "Alloc", "IncSubtensor"
    ),
    "rows as they stand": case(lambda x, k, v, s, i: k[np.arange(4)]),
    "all rows by their numbers": case(lambda x, k, v, s, i: advanced_subtensor1(x, at.arange(x.shape[0]))),
    "every second row": case(lambda x, k, v, s, i: k[np.array([0, 2])], "Subtensor"),
    "rows": case(lambda x, k, v, s, i: x[i], "AdvancedSubtensor1"),
    "columns": case(lambda x, k, v, s, i: x[:, i], "AdvancedSubtensor"),
    "rows added to": case(lambda x, k, v, s, i: inc_subtensor(x[i], v), "AdvancedIncSubtensor1"),
    "rows set to more": case(
        lambda x, k, v, s, i: set_subtensor(x[np.array([3, 0])], x[np.array([3, 0])] + v),
        "AdvancedIncSubtensor1",
        "DimShuffle",
    ),
    "row set to more": case(lambda x, k, v, s, i: set_subtensor(x[1], x[1] + v), "IncSubtensor"),
    "entries of a softmax": case(
        lambda x, k, v, s, i: at.log(softmax(x, axis=1)[at.arange(3), i]), "AdvancedSubtensor", "LogSoftmax"
    ),
}


def variables():
    return at.dmatrix("x"), at.tensor("float64", shape=(4, 5)), at.dvector("v"), at.dscalar("s"), at.lvector("i")


@pytest.mark.parametrize("name", CASES)
def test_what_is_left(name):
    build, left = CASES[name]
    inputs = variables()
    after, _ = rewrite(build(*inputs))
    assert [op for op in ops_of(after) if op not in ("Shape_i", "ScalarFromTensor")] == left


def test_values():
    inputs = variables()
    outputs = [build(*inputs) for build, _ in CASES.values()]
    values = (X, X + 1, V, np.array(0.5), POSITIONS)
    expected = aesara.function(inputs, outputs, mode="FAST_COMPILE")(*values)
    for mode in (REWRITTEN, None):
        for name, got, wanted in zip(CASES, aesara.function(inputs, outputs, mode=mode)(*values), expected):
            np.testing.assert_allclose(got, wanted, rtol=1e-13, err_msg=name)
            assert got.dtype == wanted.dtype


# Where rules would be wrong


def test_joined_parts_are_one_part_where_they_are_for_every_length():
    """All pairs of slices of which one ends where the other begins, at least in words."""
    v = at.dvector("v")
    ends = (None, 0, 2, 3, -1, -2)
    parts = [(s, v[s]) for s in itertools.starmap(slice, itertools.product(ends, ends, (None, 1, 2, -1)))]
    found = []
    for (one, first), (two, second) in itertools.product(parts, parts):
        made = one.stop == two.start and local_join_subtensors.transform(None, at.join(0, first, second).owner)
        if made:
            found.append((one, two))
            (merged,) = index_of(made[0].owner)
            for length in range(7):
                values = np.arange(length)
                assert values[merged].tolist() == [*values[one], *values[two]], (one, two, merged)
    for cut in (0, 2, 3, -1, -2):
        assert (slice(None, cut), slice(cut, None)) in found and (slice(0, cut, 1), slice(cut, None, 1)) in found
    assert (slice(0, 2), slice(2, 3)) in found and (slice(2, 2), slice(2, 3)) in found


def test_repeated_positions():
    """The last of several values for a position counts, and each of several terms."""
    x, y, i = at.dmatrix("x"), at.dmatrix("y"), at.lvector("i")
    outputs = [
        set_subtensor(x[i], y)[i],
        set_subtensor(x[i], x[i] + y),
        set_subtensor(inc_subtensor(x[i], y)[i], y * 2),
        inc_subtensor(set_subtensor(x[i], y)[i], y),
    ]
    values = (X, X[:3] * 10, POSITIONS)
    last = X.copy()
    last[POSITIONS] = values[1]
    added, doubled, both = X.copy(), X.copy(), last.copy()
    added[POSITIONS] = X[POSITIONS] + values[1]
    doubled[POSITIONS] = values[1] * 2
    np.add.at(both, POSITIONS, values[1])
    for mode in (REWRITTEN, None):
        got = aesara.function([x, y, i], outputs, mode=mode)(*values)
        for result, expected in zip(got, [last[POSITIONS], added, doubled, both]):
            np.testing.assert_allclose(result, expected, rtol=1e-14)


@pytest.mark.parametrize(
    "rows",
    [
        lambda x, y: at.arange(x.shape[0]),
        lambda x, y: at.arange(1, x.shape[0]),
        lambda x, y: at.arange(0, x.shape[0], 2),
        lambda x, y: at.arange(x.shape[0] - 1),
        lambda x, y: at.arange(x.shape[0] - 1, -1, -1),
        lambda x, y: at.arange(-1, x.shape[0]),
        lambda x, y: at.arange(x.shape[1] - 2),
        lambda x, y: at.arange(y.shape[0]),
        lambda x, y: at.arange(x.shape[0], dtype="int32"),
    ],
)
def test_rows_that_are_counted(rows):
    """All rows in their order are the tensor itself, others are not."""
    x, y = at.dmatrix("x"), at.dmatrix("y")
    numbers = rows(x, y)
    outputs = [advanced_subtensor1(x, numbers), x[numbers], set_subtensor(x[numbers], 1.0), numbers]
    for mode in (REWRITTEN, None):
        *got, chosen = aesara.function([x, y], outputs, mode=mode, on_unused_input="ignore")(X, X[:2])
        written = X.copy()
        written[chosen] = 1.0
        for value, expected in zip(got, (X[chosen], X[chosen], written)):
            np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("wrong", [4, -5])
@pytest.mark.parametrize("mode", [REWRITTEN, None], ids=["py", "native"])
def test_positions_out_of_range_are_reported(wrong, mode):
    x, i, s = at.dmatrix("x"), at.lvector("i"), at.dscalar("s")
    outputs = {
        "read back": set_subtensor(x[i], s)[i],
        "overwritten": set_subtensor(set_subtensor(x[i], s)[i], s * 2),
        "product": at.dot(x, x.T)[:, at.cast(i[0], "int64")],
    }
    for name, out in outputs.items():
        f = aesara.function([x, i, s], out, mode=mode, on_unused_input="ignore")
        f(X, np.array([3, -4]), 1.0)
        with pytest.raises((IndexError, ValueError)):
            f(X, np.array([wrong]), 1.0)
            pytest.fail(name)


def test_values_that_do_not_fit_are_reported():
    x, y, z = at.dmatrix("x"), at.dvector("y"), at.dvector("z")
    overwritten = aesara.function([x, y, z], set_subtensor(set_subtensor(x[1], y)[1], z), mode=REWRITTEN)
    overwritten(X, V, V)
    with pytest.raises(ValueError):
        overwritten(X, V[:3], V)
    n = at.lscalar("n")
    repeated = aesara.function([x, n], set_subtensor(x[1:], at.alloc(2.0, n, 5)), mode=REWRITTEN)
    for length in (1, 3):
        assert (repeated(X, length)[1:] == 2).all()
    with pytest.raises(ValueError):
        repeated(X, 2)


# Parts that rules ask for


def test_constant_indices_take_the_smallest_dtype():
    x = at.dmatrix("x")
    for index, dtype in ((3, "uint8"), (300, "uint16"), (np.array([0, 70_000]), "uint32"), (np.array([0, 3]), "uint8")):
        after, _ = rewrite(x[index])
        assert after.owner.inputs[1].type.dtype == dtype
    for index in (-1, np.array([1, -1])):
        after, _ = rewrite(x[index])
        assert after.owner.inputs[1].type.dtype == "int64"


def test_the_dimension_of_positions():
    i, everything = at.lvector("i"), make_slice(slice(None))
    assert get_advsubtensor_axis((i,)) == get_advsubtensor_axis((i, slice(None))) == 0
    assert get_advsubtensor_axis((everything, i)) == 1
    for index in ((1, i), (i, i), (slice(1, None), i), (slice(None),)):
        assert get_advsubtensor_axis(index) is None


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_transform_take(shape, axis):
    a = np.arange(24).reshape(2, 3, 4)
    indices = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2
    taken = transform_take(at.constant(a), at.constant(indices), axis)
    assert "AdvancedSubtensor1" in ops_of(taken)
    np.testing.assert_array_equal(taken.eval(mode="FAST_COMPILE"), np.take(a, indices, axis))


def test_which_positions_are_distinct():
    n = at.lscalar("n")

    def constant(*values):
        return at.constant(np.array(values, dtype="int64"))

    assert are_distinct(constant(3, 0, 1), None) and are_distinct(constant(-1, 0), 3)
    assert not are_distinct(constant(1, 1), None) and not are_distinct(constant(-1, 2), 3)
    assert not are_distinct(constant(-1, 0), None) and not are_distinct(constant(-1, 5), 3)
    assert are_distinct(at.arange(n), None) and are_distinct(at.arange(2, n, 3), None)
    assert not are_distinct(at.arange(-1, n), None) and not are_distinct(at.lvector(), None)


def test_no_rule_is_registered_twice():
    for database in (
        databases.canonicalize,
        databases.stabilize,
        databases.specialize,
        TopoDB(databases.local_useless),
    ):
        inner = getattr(database, "db", database)
        named = [inner._rewriter_named(name) for name in inner._names]
        assert len(named) == len({id(rewriter) for rewriter in named})


def test_lengths_of_parts_need_no_parts():
    x = at.dmatrix("x")
    after, _ = rewrite(Shape_i(0)(advanced_set_subtensor1(x, 0.0, [0])[1:]))
    assert "AdvancedIncSubtensor1" not in ops_of(after)


def leaves_alone(x, expression):
    """The kinds of operations in an expression after all passes, which a second time does not change."""
    first = FunctionGraph([x], [expression], clone=True)
    passes = get_mode("FAST_RUN").excluding("inplace").optimizer
    passes.rewrite(first)
    second = first.clone()
    passes.rewrite(second)
    assert equal_computations(second.outputs, first.outputs, second.inputs, first.inputs)
    return [type(node.op).__name__ for node in first.toposort()]


def test_the_order_of_one_entry_is_no_order():
    x = at.tensor("float64", shape=(1, None))
    assert leaves_alone(x, x[::-1]) == []
    assert "Subtensor" in leaves_alone(x, x[1:])
    assert "Subtensor" not in leaves_alone(x, x[-1::-2, ::])


def test_dimensions_dropped_late_are_indexed_as_others():
    x = at.dmatrix("x")
    column = at.exp(x).max(axis=1, keepdims=True)
    assert leaves_alone(x, column[1::-1][:, 0])


def test_what_is_written_has_no_leading_ones():
    x = at.dmatrix("x")
    filled = at.zeros((4, x.shape[1]))
    written = set_subtensor(filled[2:3], at.alloc(1.5, x.shape[1]).dimshuffle("x", 0))
    kinds = leaves_alone(x, written)
    assert kinds.count("Alloc") == 1 and "InplaceDimShuffle" not in kinds
    value = np.arange(6.0).reshape(2, 3)
    want = np.zeros((4, 3))
    want[2] = 1.5
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        np.testing.assert_array_equal(aesara.function([x], written, mode=mode)(value), want)


def test_allocations_in_allocations_leave_one():
    x = at.dmatrix("x")
    inner = at.alloc(at.exp(x.sum()), 40)
    kinds = leaves_alone(x, at.alloc(inner.dimshuffle("x", "x", 0), 1, x.shape[0], 40))
    assert kinds.count("Alloc") == 1
