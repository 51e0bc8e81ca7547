"""Gradients and directional derivatives of graphs with complex numbers, against differences of values.

The gradient of a real cost C with respect to a complex z is dC/dRe(z) + 1j * dC/dIm(z).
"""

from __future__ import annotations

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import Rop
from aesara.tensor.sequences.recurrence import LinearRecurrence

RNG = np.random.default_rng(17)


def numbers(rng, *shape):
    return 0.6 * (rng.normal(size=shape) + 1j * rng.normal(size=shape))


Z, W, V, U = numbers(RNG, 3, 4), numbers(RNG, 3, 4), numbers(RNG, 4), numbers(RNG, 4)
T, S = numbers(RNG, 2, 3, 2), numbers(RNG, 2, 2, 3)
R, X, M = RNG.normal(size=(4, 3)), RNG.uniform(0.5, 2, 4), RNG.normal(size=(2, 3, 2))
I = [0, 2, -1, 0]

CASES = {
    **{
        name: (getattr(at, name), V)
        for name in (
            "exp expm1 exp2 log log1p log2 log10 sqrt square sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh "
            "arccosh arctanh reciprocal abs neg conj real imag angle sigmoid softplus"
        ).split()
    },
    "add": (lambda v, u: v + u, V, U),
    "sub": (lambda v, u: v - u, V, U),
    "mul": (lambda v, u: v * u * v, V, U),
    "div": (lambda v, u: v / u, V, U),
    "pow": (lambda v, u: v**u, V, U),
    "whole powers": (lambda v: v**3 + v**-2, V),
    "with real numbers": (lambda v, x: v * x + x / v - v**x + x**v, V, X),
    "switch": (lambda v, x: at.switch(x > 1, v, x), V, X),
    "complex": (lambda x: at.complex(x, x**2) * at.complex_from_polar(x, x), X),
    "fill": (lambda v, u: at.fill(v, u[0]) * v, V, U),
    "cast": (lambda v, x: at.cast(x, "complex128") * v, V, X),
    "sum": (lambda z: z.sum(0), Z),
    "mean": (lambda z: z.mean(1), Z),
    "var": (lambda z: z.var(), Z),
    "prod": (lambda z: z.prod(1), Z),
    "prod with zeros": (lambda z: (z * np.array([1, 0, 1, 1])).prod(1), Z),
    "cumsum": (lambda z: at.cumsum(z, axis=1), Z),
    "cumprod": (lambda z: at.cumprod(z, axis=0), Z),
    "recurrence": (lambda v, u: LinearRecurrence(0)(v, u), V, U),
    "recurrence backwards": (lambda v, u: LinearRecurrence(0, backwards=True)(v, u), V, U),
    "dot": (lambda z, w: at.dot(z, w.T), Z, W),
    "dot with a real matrix": (lambda z, r: at.dot(z, r), Z, R),
    "dot of a real matrix": (lambda r, z: at.dot(r, z), R, Z),
    "dot with a vector": (lambda z, v: at.dot(z, v), Z, V),
    "dot of a vector": (lambda v, r: at.dot(v, r), V, R),
    "dot of vectors": (lambda v, u: at.dot(v, u), V, U),
    "matmul": (lambda t, s: at.matmul(t, s), T, S),
    "matmul of real tensors": (lambda m, s: at.matmul(m, s), M, S),
    "batched_dot": (lambda t, s: at.batched_dot(t, s), T, S),
    "tensordot": (lambda t, s: at.tensordot(t, s, [[2], [1]]), T, S),
    "outer": (lambda v, x: at.outer(v, x), V, X),
    "transpose": (lambda z: z.T * 2j, Z),
    "reshape": (lambda z: z.reshape((2, 6)) * 1j, Z),
    "slice": (lambda z: z[1:, ::2] ** 2, Z),
    "gather": (lambda v: v[I] ** 2, V),
    "set": (lambda z, v: at.set_subtensor(z[1], v) ** 2, Z, V),
    "set to real": (lambda z, x: at.set_subtensor(z[1], x) ** 2, Z, X),
    "add to": (lambda z, x: at.inc_subtensor(z[0], x * 1j) ** 2, Z, X),
    "add to gathered": (lambda v, x: at.inc_subtensor(v[I], x) ** 2, V, X),
    "join": (lambda v, x: at.concatenate([v, x]) ** 2, V, X),
    "stack": (lambda v, x: at.stack([v[0], x[1], v[2]]) ** 2, V, X),
    "split": (lambda v: at.split(v, [2, 2], 2)[1] ** 2, V),
    "alloc": (lambda v: at.alloc(v[0], 3), V),
    "diagonals": (lambda z, v: at.diagonal(at.dot(z.T, z) + at.diag(v)), Z, V),
    "modulus": (lambda v: at.sqrt((abs(v) ** 2).sum()), V),
}


def setup_case(name):
    build, *values = CASES[name]
    inputs = [at.TensorType(str(v.dtype), (None,) * v.ndim)() for v in values]
    return inputs, values, build(*inputs)


def compiled(inputs, outputs):
    return aesara.function(inputs, outputs, on_unused_input="ignore")


@pytest.mark.parametrize("name", CASES)
def test_gradients(name, rng):
    inputs, values, output = setup_case(name)
    size = compiled(inputs, output.size)(*values)
    first, second = rng.normal(size=(2, size))
    cost = (at.real(output).flatten() * first).sum()
    if output.type.dtype == "complex128":
        cost += (at.imag(output).flatten() * second).sum()
    gradients = aesara.grad(cost, inputs)
    assert [g.type.dtype for g in gradients] == [x.type.dtype for x in inputs]
    evaluate = compiled(inputs, cost)
    for k, found in enumerate(compiled(inputs, gradients)(*values)):
        expected = np.zeros_like(values[k])
        for place in np.ndindex(values[k].shape):
            for step in [1e-6, 1e-6j] if np.iscomplexobj(values[k]) else [1e-6]:
                moved = [[v.copy() for v in values] for _ in range(2)]
                moved[0][k][place] += step
                moved[1][k][place] -= step
                slope = (evaluate(*moved[0]) - evaluate(*moved[1])) / 2e-6
                expected[place] += slope * (step / 1e-6)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * (1 + abs(expected).max()))


@pytest.mark.parametrize("name", CASES)
def test_directional_derivatives(name, rng):
    inputs, values, output = setup_case(name)
    points = [x.type() for x in inputs]
    directions = [numbers(rng, *v.shape) if np.iscomplexobj(v) else rng.normal(size=v.shape) for v in values]
    derivative = Rop(output, inputs, points)
    assert derivative.type.dtype == output.type.dtype
    found = compiled([*inputs, *points], derivative)(*values, *directions)
    evaluate = compiled(inputs, output)
    ahead, behind = (
        evaluate(*[v + step * d for v, d in zip(values, directions, strict=True)]) for step in (1e-6, -1e-6)
    )
    expected = (ahead - behind) / 2e-6
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * (1 + abs(expected).max()))
