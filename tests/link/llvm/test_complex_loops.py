"""Loops over complex numbers: states and sequences are pairs in memory."""

from __future__ import annotations

import numpy as np
import pytest

import aesara
import aesara.tensor as at

RNG = np.random.default_rng(23)


def numbers(rng, *shape, dtype="complex128"):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


Z, V, X = numbers(RNG, 4, 5), numbers(RNG, 5), RNG.normal(size=4)

CASES = {
    "recurrence": (lambda v: aesara.scan(lambda a, s: s * a + 1j, [v], [at.zeros((), dtype="complex128")])[0], V),
    "last value": (lambda v: aesara.scan(lambda a, s: s + a * 1j, [v], [at.constant(0j)])[0][-1], V),
    "vector state": (lambda v: aesara.scan(lambda s: s * v * 0.5, outputs_info=[v], n_steps=4)[0], V),
    "two taps": (
        lambda z: aesara.scan(
            lambda s, t: s * z[0] + t.conj(), None, [{"initial": z[:2], "taps": [-2, -1]}], n_steps=4
        )[0],
        Z,
    ),
    "no state": (lambda z: aesara.scan(lambda a: at.exp(a).sum() * 1j, [z])[0], Z),
    "real sequence": (lambda z, x, v: aesara.scan(lambda a, b, s: s * a + b, [z, x], [v])[0], Z, X, V),
    "real results": (lambda z: aesara.scan(lambda a: abs(a), [z])[0], Z),
    "made in the loop": (lambda x: aesara.scan(lambda a: at.complex(a, 2 * a), [x])[0], X),
    "constants": (lambda z, v: aesara.scan(lambda a, w: at.dot(a, w) * 2, [z], non_sequences=[v * 1j])[0], Z, V),
    "matrix state": (
        lambda z: aesara.scan(lambda s: at.dot(s, s) / abs(s).sum(), outputs_info=[z[:, :4]], n_steps=3)[0],
        Z,
    ),
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", CASES)
def test_loops_run_natively(name, dtype):
    build, *values = CASES[name]
    values = [
        v.astype(dtype if np.iscomplexobj(v) else "float32" if dtype == "complex64" else "float64") for v in values
    ]
    if name in ("recurrence", "last value") and dtype == "complex64":
        values = [v.astype("complex128") for v in values]  # the dtype of the state
    inputs = [at.TensorType(str(v.dtype), (None,) * v.ndim)() for v in values]
    output = build(*inputs)
    function = aesara.function(inputs, output)
    assert function._native.report.python_nodes == {}
    expected = aesara.function(inputs, output, mode="FAST_COMPILE")(*values)
    got = function(*values)
    assert got.dtype == expected.dtype
    tolerance = 1e-5 if dtype == "complex64" else 1e-12
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_gradient_of_a_loop():
    v = at.zvector()
    states, _ = aesara.scan(lambda s: at.sin(s * v), outputs_info=[v], n_steps=3)
    cost = (abs(states[-1]) ** 2).sum()
    evaluate, gradient = aesara.function([v], cost), aesara.function([v], aesara.grad(cost, v))
    values = V * 0.4
    found, expected = gradient(values), np.zeros(5, complex)
    for k in range(5):
        for step in (1e-6, 1e-6j):
            moved = np.zeros(5, complex)
            moved[k] = step
            expected[k] += (evaluate(values + moved) - evaluate(values - moved)) / 2e-6 * (step / 1e-6)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_nodes_in_python_inside_of_a_loop():
    z = at.zmatrix()
    output, _ = aesara.scan(lambda a: at.sort(a) * 2, [z])
    np.testing.assert_array_equal(aesara.function([z], output)(Z), np.sort(Z, axis=1) * 2)
