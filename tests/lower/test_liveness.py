"""Dead arrays are not computed, unless a size depends on them."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.compile.ops import as_op
from aesara.ir.steps import Allocate, Call, Iterate, Launch, PythonCall
from aesara.scan import until
from aesara.tensor.random import RandomStream
from tests.closeness import assert_close

#: no rule is there that would ask for the lengths of operands instead
AS_WRITTEN = Mode("llvm", None)
x, A = at.dvector("x"), at.dmatrix("A")
three = at.tensor("float64", shape=(3,))


@as_op([at.dvector], [three.type])
def three_numbers(value):
    return np.arange(3.0)


@as_op([at.dvector], [at.dvector])
def positive(value):
    return value[value > 0]


@as_op([at.dvector], [three.type, at.dvector])
def both(value):
    return np.arange(3.0), value[value > 0]


@as_op([at.dvector], [three.type, three.type])
def two(value):
    return np.arange(3.0), np.arange(3.0) + value[0]


def running(until_length):
    def step(e, s):
        new = s + e
        return (new, until(new > 3)) if until_length else new

    return aesara.scan(step, x, at.zeros_like(x[0]))[0]


#: what is built, the steps that compute it, and whether they are needed for its shape alone
BUILT = {
    "a routine that may fail": (lambda: at.linalg.cholesky(A), Call, True),
    "one of several results of such a routine": (lambda: at.linalg.svd(A)[1], Call, True),
    "the pivots of a computed matrix": (lambda: at.linalg.lu_factor(at.exp(A))[1], Call, False),
    "draws": (lambda: RandomStream(1).gamma(2.0, 1.0, size=(4,)), Call, False),
    "a loop": (lambda: running(False), Iterate, False),
    "one of two results of a loop": (
        lambda: aesara.scan(lambda e, s: [s + e, at.exp(e)], x, [at.zeros_like(x[0]), None])[0][1], Iterate, False,
    ),
    "a loop that may end early": (lambda: running(True), Iterate, True),
    "a node in Python whose lengths are known": (lambda: three_numbers(x), PythonCall, False),
    "a node in Python whose lengths are not known": (lambda: positive(x), PythonCall, True),
    "the known one of two results": (lambda: both(x)[0], PythonCall, False),
    "one of two results whose lengths are known": (lambda: two(x)[1], PythonCall, False),
}  # fmt: skip
VALUES = np.array([2.0, -0.5, 3.0, 4.0]), np.diag([4.0, 9.0])


def steps_and_results(output):
    f = aesara.function([x, A], output, mode=AS_WRITTEN, on_unused_input="ignore")
    return f._native.program.steps, f(*VALUES)


@pytest.mark.parametrize("name", BUILT)
def test_values_that_only_their_shape_is_asked_of(name):
    build, kind, for_shape = BUILT[name]
    out = build()
    steps, value = steps_and_results(out)
    assert any(isinstance(step, kind) for step in steps)
    assert_close(value, aesara.function([x, A], build(), mode=Mode("py", None), on_unused_input="ignore")(*VALUES))
    steps, shape = steps_and_results(out.shape)
    assert any(isinstance(step, kind) for step in steps) == for_shape
    assert tuple(shape) == value.shape


def test_a_routine_overwrites_what_it_reads_also_where_only_another_result_is_read():
    factors, pivots = at.linalg.lu_factor(at.dot(A, A))
    counts = []
    for outputs in ([factors, pivots], [pivots]):
        steps, results = steps_and_results(outputs)
        counts.append(sum(isinstance(step, (Allocate, Launch)) for step in steps))
        assert results[-1].tolist() == [0, 1]
    assert counts[1] <= counts[0]
