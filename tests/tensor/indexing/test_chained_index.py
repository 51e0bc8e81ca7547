"""Parts of parts are one part at the end of rewriting, with the entries of both as one."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import FAST_RUN, Mode
from aesara.scalar import int32, int64
from aesara.tensor.indexing.chained_index import ChainedIndex
from aesara.tensor.subtensor import Subtensor

NATIVE, REFERENCE = FAST_RUN, Mode("py", "fast_run")
MODES = pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])

x = at.dmatrix("x")
i, j, k, m, n, o = at.lscalars("ijkmno")
SHAPES = [(0, 2), (1, 3), (2, 2), (5, 3)]


def ops_of(function, cls):
    return [node.op for node in function.maker.fgraph.apply_nodes if isinstance(node.op, cls)]


def check(function, inputs, expected):
    """The result, or the kind of error, is that of NumPy."""
    try:
        wanted = expected(*inputs)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            function(*inputs)
    else:
        result = function(*inputs)
        assert result.shape == wanted.shape
        np.testing.assert_array_equal(result, wanted)


CASES = {
    "slices": ([x, i, j], lambda x, i, j: x[i:][:j]),
    "steps": ([x, i, j], lambda x, i, j: x[::i][::j]),
    "backwards": ([x, i, j], lambda x, i, j: x[i::-1][:j]),
    "entry": ([x, i, j], lambda x, i, j: x[i:][j]),
    "of reversed": ([x, i], lambda x, i: x[::-1][i]),
    "known": ([x], lambda x: x[-3:][1:-1]),
    "known entry": ([x], lambda x: x[1:][-1]),
    "other axes": ([x, i, j], lambda x, i, j: x[i:, 1:][:, :j]),
    "both axes": ([x, i, j], lambda x, i, j: x[i:, :j][j, :i]),
    "after an entry": ([x, i, j], lambda x, i, j: x[0, i:][j:]),
    "three": ([x, i, j], lambda x, i, j: x[i:][:j][-1]),
}


@MODES
@pytest.mark.parametrize("name", CASES)
def test_successive_slices_become_one(mode, name):
    inputs, index = CASES[name]
    f = aesara.function(inputs, index(*inputs), mode=mode)
    assert len(ops_of(f, Subtensor)) == 1
    for shape in SHAPES:
        value = np.arange(shape[0] * shape[1], dtype="float64").reshape(shape)
        for scalars in itertools.product(range(-6, 7, 1 if len(inputs) < 3 else 2), repeat=len(inputs) - 1):
            check(f, (value, *scalars), index)


@MODES
def test_slices_with_all_bounds_become_one(mode, rng=np.random.default_rng(5)):
    f = aesara.function([x, i, j, k, m, n, o], x[i:j:k][m:n:o], mode=mode)
    assert len(ops_of(f, Subtensor)) == len(ops_of(f, ChainedIndex)) == 1
    for shape in SHAPES:
        value = rng.normal(size=shape)
        for scalars in rng.integers(-8, 9, size=(200, 6)).tolist():
            check(f, (value, *scalars), lambda x, i, j, k, m, n, o: x[i:j:k][m:n:o])


@MODES
def test_the_entry_as_scalars(mode):
    """As outputs, start, stop and step select the same part as the two slices."""
    entries = [slice(int64, int64, int64), slice(int64, int64, int64)]
    f = aesara.function([x, i, j, k, m, n, o], ChainedIndex(entries, 1)(x, i, j, k, m, n, o), mode=mode)
    rng = np.random.default_rng(6)
    for length in (0, 1, 5):
        for scalars in rng.integers(-7, 8, size=(200, 6)).tolist():
            a, b, c, d, e, g = scalars
            if not c or not g:
                continue
            taken = np.arange(length)[slice(*map(int, f(np.zeros((2, length)), *scalars)))]
            assert taken.tolist() == list(range(length)[a:b:c][d:e:g])
    huge = 2**62
    assert len(range(5)[slice(*map(int, f(np.zeros((2, 5)), 1, 5, huge, 0, 5, huge)))]) == 1


def test_entries_of_empty_parts_too_are_those_of_the_reference():
    entries = [slice(int64, int64, int64), slice(int64, int64, int64)]
    out = ChainedIndex(entries, 0)(x, i, j, k, m, n, o)
    native, reference = (aesara.function([x, i, j, k, m, n, o], out, mode=mode) for mode in (NATIVE, REFERENCE))
    rng = np.random.default_rng(7)
    for length in (0, 1, 5):
        for scalars in rng.integers(-7, 8, size=(150, 6)).tolist():
            if scalars[2] and scalars[5]:
                arguments = np.zeros((length, 2)), *scalars
                assert [int(v) for v in native(*arguments)] == [int(v) for v in reference(*arguments)]


def test_slopes_do_not_go_through_entries():
    """They are taken of graphs that are done, too, as by who differentiates a compiled function."""
    start, stop, step = ChainedIndex([slice(int64, None, None)], 0)(x, i)
    assert start.owner.op.connection_pattern(start.owner) == [[False] * 3] * 2
    slope = aesara.grad(x[start:stop:step].sum(), x)
    np.testing.assert_array_equal(slope.eval({x: np.ones((3, 2)), i: 1}), [[0, 0], [1, 1], [1, 1]])
    with pytest.raises(aesara.gradient.DisconnectedInputError):
        aesara.grad(at.as_tensor(start).astype("float64"), x)


@MODES
def test_errors_name_what_was_written(mode):
    f = aesara.function([x, i], x[3:, 1:][:, i], mode=mode)
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 1 with size 2"):
        f(np.zeros((5, 3)), 7)
    f = aesara.function([x, i], x[::i][1:], mode=mode)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        f(np.zeros((5, 3)), 0)


def test_what_is_read_elsewhere_stays():
    part = x[i:]
    assert len(ops_of(aesara.function([x, i, j], [part[:j], part * 2], mode=NATIVE), Subtensor)) == 2


def test_excluded_and_fast_compile():
    for mode in (NATIVE.excluding("local_subtensor_merge"), "FAST_COMPILE"):
        assert len(ops_of(aesara.function([x, i, j], x[i:][:j], mode=mode), Subtensor)) == 2


def test_a_long_chain():
    part = x
    for _ in range(40):
        part = part[i:]
    f = aesara.function([x, i], part, mode=NATIVE)
    assert len(ops_of(f, Subtensor)) == 3
    value = np.arange(90.0).reshape(45, 2)
    np.testing.assert_array_equal(f(value, 1), value[40:])


def test_inside_a_loop():
    rows, _ = aesara.scan(lambda row, i: row[i:][-1], sequences=[x], non_sequences=[i])
    value = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(aesara.function([x, i], rows, mode=NATIVE)(value, 1), value[:, -1])


def test_chained_index_types_and_text():
    parts = ChainedIndex([slice(int32, None), slice(None, int64)], 1)
    assert parts == ChainedIndex([slice(int32, None), slice(None, int64)], 1) != ChainedIndex([int32], 1)
    assert parts != ChainedIndex([slice(int32, None), slice(None, int64)])
    assert str(parts) == "ChainedIndex{int32::, :int64:; 1}"
    with pytest.raises(TypeError, match="take scalars of types"):
        parts(x, i, j)
    static = at.specify_shape(x, (5, None))[i:]
    f = aesara.function([x, i], at.specify_shape(static[:2], (2, None)), mode=NATIVE)
    assert f(np.ones((5, 1)), 1).shape == (2, 1)
