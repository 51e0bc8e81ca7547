"""Complex numbers in lowering: pairs of real arrays, in memory one after the other."""

from __future__ import annotations

import operator
import sys
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.steps import Launch
from aesara.ir.text import print_program
from aesara.tensor.sequences.recurrence import LinearRecurrence

sys.path.insert(0, str(Path(__file__).parent))
from agreement import assert_both_raise, assert_native

RNG = np.random.default_rng(11)


def numbers(rng, *shape, dtype="complex128"):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def kernels(function):
    return [step for step in function._native.report.lowering.program.steps if isinstance(step, Launch)]


# -- fusion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build",
    [lambda z, w: at.exp(z * w), lambda z, w: [z * w + at.conj(z), abs(z)], lambda z, w: at.sin(z) / (1 + w * w)],
)
def test_expressions_are_one_loop_without_memory_of_their_own(build):
    z, w = at.zmatrix(), at.zmatrix()
    function = aesara.function([z, w], build(z, w))
    program = function._native.report.lowering.program
    assert len(kernels(function)) == 1
    assert program.slots == ()
    (launch,) = kernels(function)
    assert len(launch.kernel.body) == 1 and not any(hasattr(s, "extent") for s in launch.kernel.body[0].body)


def test_a_sum_of_a_function_computes_it_once():
    z = at.zvector()
    function = aesara.function([z], at.exp(z).sum())
    assert print_program(function._native.report.lowering.program).count("exp(") == 1
    assert all(slot.size.is_const for slot in function._native.report.lowering.program.slots)


def test_what_is_not_used_is_not_computed():
    z = at.zvector()
    function = aesara.function([z], at.exp(z * 2j).real)
    text = function._native.report.llvm()
    assert "call double @ae.cos.float64" in text and "call double @ae.sin.float64" not in text


def test_conditions_are_checked_once():
    z, w, i = at.zmatrix(), at.zvector(), at.lvector()
    function = aesara.function([z, w, i], (z * w)[i])
    assert len(function._native.report.lowering.errors) == 2


# -- ops that act on the parts -------------------------------------------------------------------------------------

Z, W, V, U = numbers(RNG, 4, 5), numbers(RNG, 4, 5), numbers(RNG, 5), numbers(RNG, 5)
R, X = RNG.normal(size=(4, 5)), RNG.normal(size=5)
T, S = numbers(RNG, 2, 3, 4), numbers(RNG, 2, 4, 3)
I, K, B = np.array([0, 2, -1]), np.int64(2), np.array([True, False, True, True, False])

STRUCTURAL = {
    "transpose": (lambda z: z.T, Z),
    "dimshuffle": (lambda z: z.dimshuffle(1, "x", 0), Z),
    "reshape": (lambda z: z.reshape((2, -1)), Z),
    "flatten": (lambda z: z.flatten(), Z),
    "slice": (lambda z: z[1:3, ::-2], Z),
    "element": (lambda z, k: z[k, 1], Z, K),
    "gather": (lambda z, i: z[i], Z, I),
    "gather of both": (lambda z, i: z[i, i + 1], Z, I),
    "mask": (lambda v, b: v[b], V, B),
    "set": (lambda z, v: at.set_subtensor(z[1], v), Z, V),
    "set to real": (lambda z, x: at.set_subtensor(z[1], x), Z, X),
    "add to": (lambda z, k: at.inc_subtensor(z[:, k], 2 + 1j), Z, K),
    "add to gathered": (lambda v, i: at.inc_subtensor(v[i], 1j), V, I),
    "join": (lambda z, w: at.concatenate([z, w * 1j], axis=1), Z, W),
    "join with real": (lambda z, r: at.concatenate([r, z]), Z, R),
    "stack": (lambda v, u: at.stack([v, u]), V, U),
    "vector": (lambda v, x: at.stack([v[0], x[1], v[2]]), V, X),
    "split": (lambda v: at.split(v, [2, 3], 2), V),
    "alloc": (lambda v, k: at.alloc(v[0], 3, k), V, K),
    "broadcast": (lambda v: at.broadcast_to(v, (3, 5)), V),
    "repeat": (lambda v: at.repeat(v, 2), V),
    "tile": (lambda v: at.tile(v, (2, 2)), V),
    "roll": (lambda v: at.roll(v, 2), V),
    "eye": (lambda k: at.eye(k, dtype="complex128") * 1j, K),
    "tril": (lambda z: at.tril(z), Z),
    "diagonal": (lambda z: at.diagonal(z), Z),
    "diagonal matrix": (lambda v: at.diag(v), V),
    "fill": (lambda z: at.zeros_like(z) + 1, Z),
    "shape": (lambda z: [z.shape, z.shape[0] * 2], Z),
    "nonzero": (lambda v: at.nonzero(v * at.eq(v.real, v.real[0])), V),
    "sum": (lambda z: [z.sum(0), z.sum(1), z.sum()], Z),
    "mean": (lambda z: z.mean(1), Z),
    "running sum": (lambda z: at.cumsum(z, axis=1), Z),
    "product": (lambda z: [z.prod(0), z.prod(1), z.prod()], Z),
    "running product": (lambda z: [at.cumprod(z, axis=0), at.cumprod(z)], Z),
    "largest": (lambda z: [at.max(z, axis=0), at.min(z)], Z),
    "recurrence": (lambda z, w: [LinearRecurrence(1)(z, w), LinearRecurrence(0, True)(z, w)], Z, W),
    "matrix product": (lambda z, w: at.dot(z, w.T), Z, W),
    "conjugate product": (lambda z, w: at.dot(z.conj().T, w), Z, W),
    "with a real matrix": (lambda z, r: [at.dot(z, r.T), at.dot(r.T, z)], Z, R),
    "with a vector": (lambda z, v: [at.dot(z, v), at.dot(v, z.T), at.dot(z.conj(), v * 2)], Z, V),
    "with a real vector": (lambda z, x: [at.dot(z, x), at.dot(x, z.T)], Z, X),
    "real matrix with a vector": (lambda r, v: [at.dot(r, v), at.dot(v, r.T)], R, V),
    "inner product": (lambda v, u: at.dot(v.conj(), u), V, U),
    "outer product": (lambda v, u: at.outer(v, u), V, U),
    "products in a batch": (lambda t, s: [at.matmul(t, s), at.batched_dot(t, s)], T, S),
    "tensordot": (lambda t, s: at.tensordot(t, s, [[2], [1]]), T, S),
    "square of the modulus": (lambda z: (z * z.conj()).real.sum(), Z),
}


@pytest.mark.parametrize("name", STRUCTURAL)
def test_ops_on_parts(name):
    build, *values = STRUCTURAL[name]
    assert_native(build, *values, ulps=8)
    narrow = [v.astype("complex64") if np.iscomplexobj(v) else v.astype("float32") if v.dtype == float else v
              for v in map(np.asarray, values)]  # fmt: skip
    assert_native(build, *narrow, ulps=8, static=[False])


@pytest.mark.parametrize("build", [operator.mul, operator.add, lambda z, w: at.concatenate([z, w], axis=1)])
def test_sizes_are_checked(build, rng):
    assert_both_raise(build, numbers(rng, 2, 3), numbers(rng, 3, 3), kind=ValueError)


@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((2, 3), (2,)), ((2,), (3, 2)), ((2,), (3,))])
def test_inner_sizes_are_checked(shapes, rng):
    assert_both_raise(at.dot, *(numbers(rng, *shape) for shape in shapes), kind=ValueError)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (1, 4)])
def test_shapes(shape, rng):
    z = numbers(rng, *shape)
    assert_native(lambda z: [z * 2j, abs(z), z.sum(), at.exp(z).imag, z.real + 1], z, ulps=8)


def test_long_sums_of_broadcast_terms(rng):
    values = [numbers(rng, 1) if k < 20 else numbers(rng, 4) for k in range(25)]
    inputs = [at.TensorType("complex128", (1,) if k < 20 else (None,))() for k in range(25)]
    function = aesara.function(inputs, [at.add(*inputs), at.mul(*inputs)])
    assert function._native.report.python_nodes == {}
    total, product = function(*values)
    np.testing.assert_allclose(total, sum(values), rtol=1e-14)
    np.testing.assert_allclose(product, np.prod(np.broadcast_arrays(*values), axis=0), rtol=1e-13)


def test_empty_reductions(rng):
    assert_native(lambda z: [z.sum(0), z.prod(0), at.cumprod(z, axis=0)], numbers(rng, 0, 3))
    assert_both_raise(lambda z: at.max(z, axis=0), numbers(rng, 0, 3), kind=ValueError)


def test_operations_on_whole_arrays_need_no_lowering_of_their_own(rng):
    repeats = np.array([1, 2, 0])
    assert_native(lambda z: [at.repeat(z, repeats, axis=0), at.cumprod(z)], numbers(rng, 3, 4))


def test_what_has_no_form_runs_in_python_and_says_why(rng):
    z = at.zvector()
    function = aesara.function([z], [at.sort(z), at.gamma(z), z * 2, at.argmax(z)])
    assert sorted(function._native.report.python_nodes.values()) == [
        "no native lowering for Argmax of complex numbers",
        "no native lowering for SortOp of complex numbers",
        "scalar op gamma has no form for complex numbers",
    ]
    values = numbers(rng, 4)
    np.testing.assert_array_equal(function(values)[0], np.sort(values))
