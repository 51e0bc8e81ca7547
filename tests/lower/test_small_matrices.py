"""Kernels for batches of small matrices agree with the routines of LAPACK, interpreted and compiled."""

from __future__ import annotations

import re

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.buffers import Operand
from aesara.ir.expr import const, op
from aesara.ir.interpret import run_kernel
from aesara.ir.routines import routine_named
from aesara.ir.steps import BATCH, Call
from aesara.ir.verify import verify_kernel
from aesara.link.llvm.emit_program import emit_program
from aesara.lower.small_matrices import small_kernel
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.determinant import SLogDet
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular

DTYPES = ["float32", "float64"]


@pytest.fixture(params=DTYPES)
def dtype(request):
    return request.param


def members(count, n, dtype):
    """Matrices, of which some need exchanges of rows, some are singular, and half are positive definite."""
    rng = np.random.default_rng(n)
    a = rng.normal(size=(count, n, n))
    a[::2] = a[::2] @ a[::2].swapaxes(1, 2) + n * np.eye(n)
    if n > 1:
        a[3, :, 1] = 0
        a[5, 0, 0] = 0
        a[7] = np.ones((n, n))
    return a.astype(dtype)


def both(name, sizes, count, **given):
    """Return the results of the reference of a routine, and of its kernel, by parameter."""
    routine = routine_named(name)
    kernel = small_kernel(routine)
    values = {key: const(n) for key, n in sizes.items()}
    wanted, memory, operands = {}, {}, {}
    for parameter in routine.parameters:
        shape = tuple(n.attr for n in routine.shape_of(parameter, values))
        array = given.get(parameter.name, np.zeros((count, *shape)))
        memory[parameter.name] = np.array(array, parameter.dtype, order="C")
        assert memory[parameter.name].shape == (count, *shape)
        wanted[parameter.name] = memory[parameter.name].copy()
        operands[parameter.name] = Operand(parameter.name, op("mul", BATCH, const(int(np.prod(shape)))))
    for k in range(count):
        routine.reference(sizes, *(array[k, ...] for array in wanted.values()))
    launch = kernel.launch("k", values, operands, ("numbers", "whole"), const(count))
    verify_kernel(launch.kernel)
    for workspace, (kind, length) in zip(("numbers", "whole"), kernel.workspaces(), strict=True):
        memory[workspace] = np.zeros(length.attr, kind)
    run_kernel(launch.kernel, [memory[a].reshape(-1) if isinstance(a, str) else a.attr for a in launch.arguments])
    return {p.name: (memory[p.name], wanted[p.name]) for p in routine.parameters if p.is_written}


def assert_close(pair, where=slice(None)):
    got, wanted = (x[where] for x in pair)
    np.testing.assert_allclose(
        got, wanted, rtol=0, atol=200 * np.finfo(wanted.dtype).eps * np.max(np.abs(wanted), initial=0)
    )


@pytest.mark.parametrize(
    ("n", "count", "dtype"), [(0, 8, "float32"), (1, 8, "float64"), (2, 17, "float32"), (4, 9, "float64")]
)
def test_factors_and_solutions(n, count, dtype):
    a = members(count, n, dtype)
    for triangle in ("lower", "upper"):
        made = both(f"cholesky.{triangle}.{dtype}", {"n": n}, count, a=a)
        np.testing.assert_array_equal(*made["status"])
        assert_close(made["a"], made["status"][1] == 0)
    factors = both(f"lu.{dtype}", {"n": n}, count, a=a)
    np.testing.assert_array_equal(*factors["status"])
    regular = factors["status"][1] == 0
    assert (n > 1) == bool((~regular).any())
    np.testing.assert_array_equal(*(x[regular] for x in factors["pivots"]))
    assert_close(factors["a"], regular)
    given = {"a": factors["a"][1][regular], "pivots": factors["pivots"][1][regular]}
    b = np.random.default_rng(1).normal(size=(regular.sum(), 3, n)).astype(dtype)
    for turned in ("plain", "transposed"):
        solved = both(f"solve_lu.{turned}.{dtype}", {"n": n, "k": 3}, len(b), b=b, **given)
        if n:
            assert_close(solved["b"])
        assert not solved["status"][0].any()
    if n:
        assert_close(both(f"inverse_of_lu.{dtype}", {"n": n}, len(b), **given)["a"])


@pytest.mark.parametrize("unit", ["unit", "general"])
@pytest.mark.parametrize("turned", ["plain", "transposed"])
@pytest.mark.parametrize("triangle", ["lower", "upper"])
def test_triangular_systems(triangle, turned, unit, dtype):
    for m, n in ((1, 1), (3, 2)) if dtype == "float64" else ((2, 1),):
        a = members(9, m, dtype) / 9 + np.eye(m, dtype=dtype)
        b = np.random.default_rng(1).normal(size=(9, m, n)).astype(dtype)
        assert_close(both(f"solve_triangular.{triangle}.{turned}.{unit}.{dtype}", {"m": m, "n": n}, 9, a=a, b=b)["b"])


def test_a_record_without_loops():
    assert small_kernel(routine_named("svd.values.float64")) is None


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 8])
def test_native_code(n, dtype):
    x, b = at.tensor(dtype, (None, n, n)), at.tensor(dtype, (None, n, 2))
    factor = Cholesky()(x)
    solutions = [SolveTriangular(lower=True)(factor, b), Solve()(x, b), Solve(assume_a="pos")(x, b)]
    outputs = [factor, *solutions, MatrixInverse()(x), *SLogDet()(x)]
    f, reference = aesara.function([x, b], outputs), aesara.function([x, b], outputs, mode="FAST_COMPILE")
    assert f._native.report.python_nodes == {}
    values = members(38, n, dtype)[::2], np.random.default_rng(0).normal(size=(19, n, 2)).astype(dtype)
    for got, wanted in zip(f(*values), reference(*values), strict=True):
        assert got.dtype == wanted.dtype
        assert_close((got, wanted))


def test_sizes_decide_at_run_time():
    x = at.dtensor3("x")
    f = aesara.function([x], [Cholesky()(x), MatrixInverse()(x)])
    assert sum(isinstance(step, Call) for step in f._native.program.steps) == 3
    for shape in ((9, 8), (9, 9), (3, 4), (4, 4), (0, 3), (5, 0), (1, 20)):
        rng = np.random.default_rng(shape[0])
        given = rng.normal(size=(*shape, shape[1]))
        given = given @ given.swapaxes(1, 2) + np.eye(shape[1])
        factor, inverse = f(given)
        np.testing.assert_allclose(factor, np.linalg.cholesky(given), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(inverse, np.linalg.inv(given), rtol=1e-9, atol=1e-11)
    known = at.tensor("float64", (6, 3, 3))
    f = aesara.function([known], MatrixInverse()(known))
    assert not any(isinstance(step, Call) for step in f._native.program.steps)
    assert "library routine" not in str(aesara.explain(f))


def test_failures_of_members(dtype):
    x = at.tensor(dtype, (None, 3, 3))
    given = np.repeat(members(12, 3, dtype)[::2], 2, axis=0)
    given[1::2, 2, 2] *= -1
    failed = np.arange(12) % 2 == 1
    factor = aesara.function([x], Cholesky(on_error="nan")(x))(given)
    np.testing.assert_array_equal(np.isnan(factor).all(axis=(1, 2)), failed)
    np.testing.assert_array_equal(np.isnan(factor).any(axis=(1, 2)), failed)
    with pytest.raises(np.linalg.LinAlgError, match="a matrix of the batch is not positive definite"):
        aesara.function([x], Cholesky()(x))(given)
    given[9] = 1
    with pytest.raises(np.linalg.LinAlgError, match="a matrix of the batch is singular"):
        aesara.function([x], MatrixInverse()(x))(given)


def test_a_member_for_all_right_hand_sides_and_many_of_these(dtype):
    a, b = at.tensor(dtype, (1, 3, 3)), at.tensor(dtype, (7, 3, None))
    f = aesara.function([a, b], SolveTriangular(lower=True)(a, b))
    matrix = members(8, 3, dtype)[:1]
    for columns in (2, 8, 9):
        given = np.random.default_rng(0).normal(size=(7, 3, columns)).astype(dtype)
        bound = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(f(matrix, given), np.linalg.solve(np.tril(matrix), given), rtol=bound, atol=bound)


def test_in_the_steps_of_a_loop():
    xs = at.tensor("float64", (None, 6, 3, 3))
    states, _ = aesara.scan(lambda x, s: MatrixInverse()(x + 0.1 * s), sequences=xs, outputs_info=at.zeros((6, 3, 3)))
    f = aesara.function([xs], states[-1])
    assert f._native.report.python_nodes == {}
    given = members(24, 3, "float64").reshape(4, 6, 3, 3) + 4 * np.eye(3)
    wanted = np.zeros((6, 3, 3))
    for x in given:
        wanted = np.linalg.inv(x + 0.1 * wanted)
    np.testing.assert_allclose(f(given), wanted, rtol=1e-11)


def test_code_is_small():
    """Signals are looked for between blocks of members only, and copies are loops, whatever the width of vectors."""
    a, b = at.tensor("float64", (100_000, 4, 4)), at.tensor("float64", (100_000, 4, 1))
    f = aesara.function([a, b], at.linalg.solve_triangular(at.linalg.cholesky(a), b, lower=True))
    text = emit_program(f._native.report.lowering.program).text()
    kernels = re.findall(r"^define internal \w+ @k\d.*?^}", text, re.DOTALL | re.MULTILINE)
    assert any("call double @llvm.sqrt" in kernel for kernel in kernels)
    for kernel in kernels:
        assert "load ptr, ptr %ae.watcher" not in kernel
        assert kernel.count("= load double") < 20
