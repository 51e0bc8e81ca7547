"""Arguments that are given away (``In(mutable=True)``), and results in their memory (``Out(borrow=True)``)."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.function import compile_step
from aesara.compile.function.types import FunctionMaker
from aesara.compile.io import SymbolicInput
from aesara.compile.mode import Mode
from aesara.link.llvm.nan_where import NanWhereLinker

a, b, m, s = at.dvector("a"), at.dvector("b"), at.dmatrix("m"), at.dscalar("s")
X, Y, M = np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0, 11.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
IN_PLACE = Mode("py", "fast_compile").including("inplace")


def given_away(*variables):
    return [aesara.In(variable, mutable=True) for variable in variables]


def lent(outputs):
    if isinstance(outputs, list):
        return [aesara.Out(output, borrow=True) for output in outputs]
    return aesara.Out(outputs, borrow=True)


def called(inputs, outputs, *values):
    """What a function of arguments that are given away does to them, after a look at its results."""
    f = aesara.function(given_away(*inputs), lent(outputs))
    values = [value.copy() for value in values]
    expected = aesara.function(inputs, outputs)(*(value.copy() for value in values))
    found = f(*values)
    for result, wanted in zip(*(r if isinstance(r, list) else [r] for r in (found, expected))):
        np.testing.assert_array_equal(result, wanted)
    return found, values


@pytest.mark.parametrize(
    ("inputs", "output", "values"),
    [
        ([a], a * 2, [X]), ([a], at.exp(a) + a, [X]), ([a], a.sum() + a, [X]), ([m], m / m.sum(0), [M]),
        ([a, b], b.sum() + a, [X, Y]),
    ],
)  # fmt: skip
def test_a_result_is_written_over_an_argument(inputs, output, values):
    result, after = called(inputs, output, *values)
    assert result is after[0]
    # without one of the promises the argument stays as it is
    for given, returned in [(inputs, lent(output)), (given_away(*inputs), output), (inputs, output)]:
        before = [value.copy() for value in values]
        result = aesara.function(given, returned)(*before)
        assert all(map(np.array_equal, before, values)) and not np.shares_memory(result, before[0])


@pytest.mark.parametrize(
    ("inputs", "outputs", "values"),
    [
        ([a], a[::-1] * 2, [X]), ([a], at.cumsum(a), [X]), ([m], m.T * 2, [M]), ([a], at.outer(a, a), [X]),
        ([a], (a * 2).astype("float32"), [X]), ([a], a * 2 + a[::-1], [X]), ([a], [a.sum()], [X]),
        # the other argument may be the same memory
        ([a, b], a + b, [X, Y]), ([a, b], [a * 2, b[::-1].copy()], [X, Y]),
        ([a, b], [at.sort(b)[0] + a, at.sort(at.sort(a)[0] * b)], [X, Y]),
    ],
)  # fmt: skip
def test_arguments_that_are_read_otherwise_stay_as_they_are(inputs, outputs, values):
    _, after = called(inputs, outputs, *values)
    assert all(map(np.array_equal, after, values))


def test_the_same_array_twice():
    f = aesara.function(given_away(a, b), lent([b.sum() + a, a * b]))
    x = X.copy()
    total, product = f(x, x)
    np.testing.assert_array_equal(total, X.sum() + X)
    np.testing.assert_array_equal(product, X * X)


def test_of_several_results_one_takes_the_memory():
    (double, more), (after,) = called([a], [a * 2, a + 1], X)
    assert (double is after) != (more is after)
    (one, other), _ = called([a], [a * 2, a * 2], X)
    assert not np.shares_memory(one, other)


def test_only_whole_arrays_of_their_own_that_may_be_written_to_are_taken():
    f = aesara.function(given_away(a), lent(a * 2))
    whole = np.arange(6.0)
    for part in (whole[:3], whole[::2], whole[::-1]):
        before = part.copy()
        np.testing.assert_array_equal(f(part), 2 * before)
    np.testing.assert_array_equal(whole, np.arange(6.0))
    whole.flags.writeable = False
    np.testing.assert_array_equal(f(whole), 2 * whole)
    assert f([1.0, 2.0]).tolist() == [2.0, 4.0] and f(np.arange(3)).tolist() == [0.0, 2.0, 4.0]


def test_numbers():
    f = aesara.function(given_away(s), lent(s * 2))
    value = np.array(3.0)
    assert f(3.0) == 6.0 and f(value) == 6.0 and value == 3.0


def test_shared_variables_beside_them_keep_their_values():
    state = aesara.shared(np.ones(3))
    f = aesara.function(given_away(a), lent(a * 2), updates={state: state + 1})
    x = X.copy()
    np.testing.assert_array_equal(f(x), 2 * X)
    np.testing.assert_array_equal(state.get_value(), [2.0, 2.0, 2.0])
    g = aesara.function(given_away(a), lent(a * state))
    x = X.copy()
    np.testing.assert_array_equal(g(x), 2 * X)


@pytest.mark.parametrize("mode", [None, Mode(NanWhereLinker(), "fast_run")])
def test_new_values_of_shared_variables_are_not_written_over_arguments(mode):
    n, state = at.lvector("n"), aesara.shared(np.zeros(3, dtype="int64"))
    f = aesara.function(given_away(n), [], updates={state: n * 2}, mode=mode)
    given = np.array([1, 2, 3])
    f(given)
    assert given.tolist() == [1, 2, 3] and not np.shares_memory(state.get_value(borrow=True), given)


def test_an_argument_survives_a_call_that_fails():
    f = aesara.function(given_away(a, b), lent([a * 2, at.slinalg.cholesky(at.diag(b))]))
    x = X.copy()
    with pytest.raises(np.linalg.LinAlgError):
        f(x, -Y)
    np.testing.assert_array_equal(x, X)


def test_pickled_functions_do_the_same():
    f = pickle.loads(pickle.dumps(aesara.function(given_away(a), lent(a * 2))))
    x = X.copy()
    assert f(x) is x
    assert f._native.report.lowering.program.overwritten_arguments() == [0]


@pytest.mark.parametrize("description", [aesara.In, SymbolicInput])
def test_the_same_array_twice_node_by_node(description):
    """Whatever describes the inputs, an argument that is overwritten shares no memory with one that is read later."""
    inputs = [description(a, mutable=True), description(b)]
    f = FunctionMaker(inputs, [aesara.Out(a * 2, borrow=True), b + 1], IN_PLACE).create()
    nodes = f.maker.fgraph.toposort()
    assert [node.op.destroy_map for node in nodes if node.op.destroy_map] == [{0: [1]}]
    for arguments in ([x := X.copy(), x], [x := X.copy(), x[::-1]]):
        expected = [arguments[0] * 2, arguments[1] + 1]
        for found, wanted in zip(f(*arguments), expected):
            np.testing.assert_array_equal(found, wanted)


def test_what_a_step_of_an_operation_may_overwrite():
    """Of the inputs only those that are named; and its results may be arrays that it keeps using."""
    f = compile_step([a, b], [a * 2, b * 2], mode=IN_PLACE, overwritten=[a])
    x, y = X.copy(), Y.copy()
    results = f(x, y)
    np.testing.assert_array_equal(x, 2 * X)
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(results, [2 * X, 2 * Y])
    assert results[0] is x and all(out.borrow for out in f.outputs)
