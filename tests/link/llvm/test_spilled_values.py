"""Entries with many inputs and steps spill values to the frame, and read arguments by a routine."""

import ctypes
import gc
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.link.llvm import kept_values, spills
from aesara.link.llvm.emit_program import emit_program

sys.path.insert(0, str(Path(__file__).parents[2] / "ir"))
from representative_graphs import GRAPHS, Runs

MANY = spills.MANY


@pytest.fixture
def spilling(monkeypatch):
    """Make all functions spill values."""
    monkeypatch.setattr(spills, "MANY", -1)


def bits(values):
    return [(v.dtype, v.shape, v.tobytes()) for v in map(np.asarray, values)]


@pytest.mark.parametrize("length", [1, 100])
@pytest.mark.parametrize("name", GRAPHS)
def test_results_are_the_same(name, length, monkeypatch):
    """For any maximum number of values in a block."""
    runs = Runs(name)
    expected = [bits(runs.call(runs.native, arguments)) for arguments in runs.graph.arguments]
    monkeypatch.setattr(spills, "MANY", -1)
    monkeypatch.setattr(kept_values, "_MAX_VALUES", length)
    spilled = Runs(name)
    text = spilled.native._native.report.text
    assert ("ptr @explicit" in text) == bool(spilled.graph.inputs)
    assert [bits(spilled.call(spilled.native, arguments)) for arguments in spilled.graph.arguments] == expected


@pytest.mark.usefixtures("spilling")
def test_wrong_arguments():
    x, n, m = at.dscalar("x"), at.lscalar("n"), at.TensorType("float64", (None, 3))("m")
    f = aesara.function([x, n, m], m * x + n)
    np.testing.assert_array_equal(f(2.0, 3, np.ones((2, 3))), np.full((2, 3), 5.0))
    np.testing.assert_array_equal(f(2, np.int64(3), np.ones((3, 2)).T), np.full((2, 3), 5.0))  # the fallback converts
    for wrong in [("2", 3, np.ones((2, 3))), (2.0, 3.5, np.ones((2, 3))), (2.0, 3, np.ones((2, 2)))]:
        with pytest.raises(TypeError):
            f(*wrong)
    with pytest.raises(TypeError):
        f(2.0, 3)
    np.testing.assert_array_equal(f(m=np.ones((1, 3)), n=1, x=0.5), np.full((1, 3), 1.5))


def test_messages_of_all_failures():
    pairs = 2 * MANY
    a, b = ([at.dvector(f"{name}{k}") for k in range(pairs)] for name in "ab")
    f = aesara.function([*a, *b], [x + y for x, y in zip(a, b)])
    for wrong in (0, 1, 62, 63, 64, 65, pairs - 1):
        lengths = [3 + k for k in range(pairs)]
        lengths[wrong] = 5000 + wrong
        with pytest.raises(ValueError, match=str(5000 + wrong)) as failure:
            f(*[np.ones(3 + k) for k in range(pairs)], *map(np.ones, lengths))
        assert str(3 + wrong) in str(failure.value) and f"a{wrong}" in str(failure.value)
    ones = [np.ones(k + 2) for k in range(pairs)]
    for total, one in zip(f(*ones, *ones), ones):
        np.testing.assert_array_equal(total, 2 * one)


@pytest.mark.usefixtures("spilling")
def test_an_empty_container_is_found():
    state = aesara.shared(np.ones(2))
    f = aesara.function([], state * 2)
    state.container.storage.clear()
    with pytest.raises(ValueError, match="container of a shared variable is empty"):
        f()


@pytest.mark.slow
def test_frames_are_given_back():
    many = [aesara.shared(float(k)) for k in range(3 * MANY)]
    x = at.dvector("x")
    checked = at.dvector("y") + x
    f = aesara.function([x, checked.owner.inputs[0]], checked.sum() + sum(many), updates=[(s, s + 1) for s in many])
    before, calls = blocks_in_use(), 200
    for _ in range(calls):
        f(np.ones(2), np.ones(2))
        with pytest.raises(ValueError):
            f(np.ones(2), np.ones(3))
        with pytest.raises(TypeError):
            f(np.ones(2), "3")
        f([1.0, 2.0], np.ones(2))
    gc.collect()
    frame = 8 * len(many)
    assert blocks_in_use() - before < calls * frame / 2


def blocks_in_use():
    """Return the bytes allocated by the C library."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        pytest.skip("the C library does not say how much it has given out")

    class Info(ctypes.Structure):
        _fields_ = [(f"field{k}", ctypes.c_size_t) for k in range(10)]

    library.mallinfo2.restype = Info
    info = library.mallinfo2()
    return info.field7 + info.field4


@pytest.mark.usefixtures("spilling")
def test_a_size_is_not_computed_again_in_every_step():
    x, first, last, step = at.dvector("x"), at.lscalar("first"), at.lscalar("last"), at.lscalar("step")
    part = x[first:last:step]
    values = np.random.default_rng(1).normal(size=50)
    divisions = []
    for n_steps in (3, 12):
        f = aesara.function([x, first, last, step], [at.cumsum(k * part) for k in range(n_steps)])
        for index in [(3, 41, 5), (-3, 2, -4), (7, 3, 1)]:
            for k, found in enumerate(f(values, *index)):
                np.testing.assert_allclose(found, np.cumsum(k * values[slice(*index)]), rtol=1e-14)
        entry = f._native.report.text.partition("@aesara_entry(")[2]
        divisions.append(entry.count("@ae.intdiv"))
    assert 0 < divisions[0] == divisions[1]


@pytest.mark.slow
def test_blocks_are_bounded():
    variables = [at.dvector(f"x{k}") for k in range(5 * MANY)]
    f = aesara.function(variables, sum(v.sum() for v in variables))
    text = emit_program(f._native.report.lowering.program).text()
    entry = text[text.index("define ptr @aesara_entry") :]
    blocks = re.split(r"^\S+:$", entry, flags=re.M)
    assert len(blocks) > MANY and max(block.count("\n") for block in blocks) < 1000
    assert f(*[np.full(2, k) for k in range(len(variables))]) == 2 * sum(range(len(variables)))


@pytest.mark.slow
def test_recursion_is_counted():
    depth = 0

    @as_op([at.dscalar], [at.dscalar])
    def again(value):
        nonlocal depth
        depth += 1
        return np.asarray(f(*[value] * (40 * MANY)))

    variables = [at.dscalar(f"x{k}") for k in range(40 * MANY)]
    f = aesara.function(variables, sum(variables) + again(variables[0]))
    with pytest.raises(RecursionError):
        f(*[1.0] * len(variables))
    assert depth > 10


@pytest.mark.usefixtures("spilling")
def test_scalars_are_copied_at_the_beginning():
    given = np.array(1.0)

    @as_op([at.dscalar], [at.dscalar])
    def change(value):
        given[...] = 100.0
        return np.asarray(value + 1)

    x = at.dscalar("x")
    f = aesara.function([x], change(x) + 10 * x)
    assert f(given) == 12.0 and given == 100.0
