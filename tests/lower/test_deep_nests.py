"""Arrays of many dimensions: nests of many loops become nests of few, with the same results in the same order."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.ir.expr import const, load, op, var
from aesara.ir.interpret import run_kernel
from aesara.ir.kernel import Assign, BufferParam, Declare, For, If, Kernel, ScalarParam, Store, walk_statements
from aesara.ir.steps import Launch
from aesara.ir.verify import verify_kernel
from aesara.ir.verify_program import verify_program
from aesara.lower.deep_nests import collapse_deep_nests

REFERENCE = Mode(linker="py", optimizer=None)
LENGTHS = (2, 1, 2, 3, 1, 2, 1, 1, 2, 1, 2, 1)


def transposed(x):
    return x.dimshuffle(*range(x.ndim)[::-1]) * 2


GRAPHS = {
    "transposed": transposed,
    "sum over the first": lambda x: x.sum(axis=0),
    "sum over the last": lambda x: transposed(x).sum(axis=-1),
    "sum over some": lambda x: x.sum(axis=tuple(range(0, x.ndim, 3))),
    "sum over the middle": lambda x: x.sum(axis=(3, 4, 5)),
    "largest": lambda x: at.max(transposed(x), axis=(0, 1, 5)),
    "sum of all": lambda x: (transposed(x) * x.dimshuffle(*range(x.ndim)[::-1])).sum(),
    "rows set": lambda x: at.set_subtensor(x[0], 1.0),
    "rows added to": lambda x: at.inc_subtensor(x[[0, 1, 0, 0]], x[[1, 1, 0, 1]]),
    "joined": lambda x: at.concatenate([x, x + 1], axis=5),
    "running sums": lambda x: at.cumsum(x, axis=3),
    "running sums along the last": lambda x: at.cumsum(transposed(x), axis=-1),
    "gradient": lambda x: at.grad((transposed(x)[0] ** 2).sum(), x),
    "positions": lambda x: at.argmax(x, axis=3),
    "reversed": lambda x: x[:, :, ::-1, ..., ::-1],
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("lengths", [LENGTHS, (2, 0, 2, 3, 1, 2, 1, 1, 2, 1, 2, 1)])
def test_as_the_reference(name, lengths):
    x = at.tensor("float64", shape=(None,) * len(lengths))
    if 0 in lengths and name in ("largest", "positions"):
        lengths = (*lengths[1::-1], *lengths[2:])  # what is reduced has elements
        lengths = tuple(1 if d in (0, 1, len(lengths) - 1) else n for d, n in enumerate(lengths))
    value = np.random.default_rng(0).normal(size=lengths)
    f = aesara.function([x], GRAPHS[name](x))
    verify_program(f._native.program)
    expected = aesara.function([x], GRAPHS[name](x), mode=REFERENCE)(value)
    np.testing.assert_allclose(f(value), expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["transposed", "sum over the first", "joined", "rows set", "running sums"])
def test_few_loops_are_left(name):
    x = at.tensor("float64", shape=(None,) * 32)
    program = aesara.function([x], GRAPHS[name](x))._native.program
    kernels = [step.kernel for step in program.all_steps() if isinstance(step, Launch)]
    assert kernels
    assert all(len([s for s in walk_statements(k.body) if isinstance(s, For)]) <= 12 for k in kernels)


def nest(extents, *body):
    statements = tuple(body)
    for d in reversed(range(len(extents))):
        statements = (For(f"v{d}", extents[d], statements),)
    return statements


def kernel_of(body):
    sizes = [ScalarParam(f"n{k}") for k in range(12)]
    return Kernel("k", (BufferParam("b0", "float64", True), BufferParam("b1", "int64", True), *sizes), body)


def offset(rank):
    total = const(0)
    for d in range(rank):
        total = total * var(f"n{d}") + var(f"v{d}")
    return total


def values_of(body):
    kernel = kernel_of(body)
    verify_kernel(kernel)
    numbers, counts = np.zeros(600), np.zeros(600, "int64")
    run_kernel(kernel, [numbers, counts, *LENGTHS])
    return numbers, counts


SIZES = [var(f"n{d}") for d in range(12)]
PLACE = offset(12)
TOTAL = var("r0", "float64")
NESTS = {
    "all directly inside": nest(SIZES, Store("b0", PLACE, load("b0", "float64", PLACE) + 1.0)),
    "accumulated inside": nest(
        SIZES[:6],
        Declare("r0", const(0.0, "float64")),
        For("w0", SIZES[3], (For("w1", SIZES[2], (For("w2", SIZES[0], (Assign("r0", TOTAL + 1.5, True),)),)),)),
        Store("b0", offset(6), TOTAL),
    ),
    "lengths that depend on the round": nest(
        [SIZES[0], SIZES[1], SIZES[2], SIZES[3], var("v3") + 1, *SIZES[5:]],
        Store("b0", const(5), load("b0", "float64", const(5)) + 1.0),
    ),
    "lengths that are written": nest(
        [*SIZES[:4], load("b1", "int64", const(0)) + 1, *SIZES[5:]],
        Store("b1", const(0), const(1)),
        Store("b0", const(5), load("b0", "float64", const(5)) + 1.0),
    ),
    "under a condition": nest(
        SIZES[:5],
        If(op("lt", var("v3"), const(2)), (Store("b0", offset(5), const(2.0, "float64")),)),
        Store("b1", offset(5), var("v0") + var("v3")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTS)
def test_statements_do_the_same(name):
    for got, expected in zip(values_of(collapse_deep_nests(NESTS[name])), values_of(NESTS[name]), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_few_loops_stay_as_they_are():
    body = nest(SIZES[:8], Store("b0", offset(8), const(1.0, "float64")))
    assert collapse_deep_nests(body) is body
