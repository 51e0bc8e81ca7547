"""Emitted code of graphs, recorded as the number of instructions of each kind.

After a change that is meant, run ``AESARA_REGENERATE_GOLDEN=1 pytest tests/link/llvm/test_emitted_code.py`` and read
the difference.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

import aesara
import aesara.tensor as at
from aesara.graph.traversal import graph_inputs
from aesara.ir import expr
from aesara.link.llvm import spills
from aesara.scan.utils import until
from tests.recorded import assert_recorded, needs_newest_llvm_and_numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "ir"))
from representative_graphs import GRAPHS

FILE = Path(__file__).with_name("emitted_code.txt")
INSTRUCTION = re.compile(r"(?:%\S+ = )?(?:tail )?([a-z]+) ")

pytestmark = needs_newest_llvm_and_numpy


x, y, z = at.dvectors("x", "y", "z")
a, b, f = at.dmatrix("a"), at.dmatrix("b"), at.fmatrix("f")
n, k = at.lscalar("n"), at.lvector("k")
cube, images, kernels = at.dtensor3("cube"), at.dtensor4("images"), at.dtensor4("kernels")


def many_steps():
    """More steps and live values than an entry keeps in registers."""
    values = [x]
    for i in range(spills.MANY + 20):
        values.append(at.sort(values[-1] + values[i // 2].sum()))
    return [x], [values[-1], values[-1].max()]


def draws():
    rng = at.random.RandomStream(0)
    size = (n,)
    return [n, x], [
        rng.normal(x, 2.0), rng.uniform(size=size), rng.gamma(2.5, 1.0, size=size), rng.beta(2.0, x),
        rng.poisson(4.0, size=size), rng.integers(0, 10, size=size), rng.categorical(at.softmax(x)),
        rng.permutation(x), rng.exponential(x),
        rng.binomial(n, 0.3), rng.choice(x), rng.standard_t(3.0, size=size), rng.dirichlet(at.exp(x)),
    ]  # fmt: skip


def steps_of(function, *outputs_info, **options):
    results, _ = aesara.scan(function, outputs_info=list(outputs_info), **options)
    return results


#: Of what the graphs of the table do not have much: inputs and outputs.
MORE = {
    "many steps": many_steps,
    "draws": draws,
    "factors": lambda: (
        [a, b],
        [at.linalg.cholesky(a), at.linalg.solve(a, b, assume_a="pos"), at.linalg.solve(a, b), at.linalg.det(a),
         at.linalg.inv(a), *at.linalg.qr(b), *at.linalg.eigh(a), *at.linalg.svd(b), at.linalg.expm(a),
         at.linalg.solve_triangular(a, b, lower=True), at.linalg.pinv(b), at.linalg.matrix_power(a, 5)],
    ),
    "gradients of factors": lambda: (
        [a, b],
        aesara.grad(at.log(at.diag(at.linalg.cholesky(a))).sum() + at.linalg.solve(a, b).sum()
                    + at.linalg.slogdet(a)[1], [a, b]),
    ),
    "batches of products": lambda: ([cube, a], [cube @ a, cube @ cube.transpose(0, 2, 1), at.tensordot(cube, a, 1)]),
    "small products": lambda: (
        [a, x], [at.specify_shape(a, (3, 3)) @ at.specify_shape(x, (3,)), at.specify_shape(a, (3, 3)) @ a[:3, :3]],
    ),
    "products of single precision": lambda: ([f], [f @ f.T, f.T @ f, f @ f[0], at.outer(f[0], f[1])]),
    "positions": lambda: (
        [a, cube, x], [*at.nonzero(a), *at.nonzero(cube > 0), a[a > 1], at.set_subtensor(a[a < 0], 0.0),
                       at.flatnonzero(a), *(x[at.nonzero(b)[i]] * y[at.nonzero(b)[i]] for i in (0, 1))],
    ),
    "orders": lambda: (
        [x, a, k], [at.sort(x), at.argsort(a, axis=0), *at.topk_and_argtopk(x, 3), at.unique(k), at.searchsorted(x, y),
                    at.bincount(k), at.median(a), at.cumsum(a, 1), at.cumprod(x), at.diff(x)],
    ),
    "orders of what is computed": lambda: (
        [x, a, k], [at.sort(at.exp(x)), at.argsort(a * 2, axis=0), at.unique(k // 2), at.bincount(k * k, x + 1),
                    at.searchsorted(at.exp(x), at.log(y)), at.searchsorted(x, at.exp(a), sorter=k + 1),
                    at.cumsum(at.exp(a), 1), at.cumprod(x + y), at.median(at.exp(a)),
                    *at.topk_and_argtopk(at.exp(x), 3)],
    ),
    "repetitions": lambda: (
        [x, a, k, n], [at.repeat(x, k), at.repeat(a, n, axis=1), at.tile(a, (2, n)), at.roll(x, n), at.eye(n, k=1),
                       at.tri(n), at.diag(x), at.arange(0, n, 2), at.linspace(0, 1, n), at.pad(a, 2)],
    ),
    "convolutions": lambda: (
        [images, kernels],
        [at.nnet.conv2d(images, kernels), *aesara.grad(at.nnet.conv2d(images, kernels, border_mode="half").sum(),
                                                      [images, kernels]),
         at.signal.pool.pool_2d(images, (2, 2), ignore_border=True)],
    ),
    "transforms": lambda: ([a, x], [at.fft.rfft(a), at.fft.fft(x), at.fft.irfft(at.fft.rfft(a))]),
    "shared sums": lambda: (
        [a, x], [at.exp(a).sum(0), at.exp(a).mean(1), at.log(at.exp(a).sum()), a.std(0), at.logsumexp(a, axis=1),
                 at.softmax(a, axis=0), (a * x).sum(1), at.square(a - x).sum(), a.norm(2), at.prod(x), a.argmax(1)],
    ),
    "functions of numbers": lambda: (
        [x, f], [at.tanh(x), at.log1p(x), at.expm1(x), at.sin(x), at.cbrt(x), x**2.5, at.arctan2(x, y), at.erf(x),
                 at.erfinv(x), at.gammaln(x), at.psi(x), at.sigmoid(x), at.softplus(x), at.exp(f), at.log(f),
                 at.sin(f), at.floor(x), at.round(x), x % y, x // y, at.clip(x, -1, 1), at.switch(x > 0, x, y)],
    ),
    "integers": lambda: (
        [k, n], [k // 7, k % 10, k // n, k << 2, k & 3, abs(k), k**3, at.minimum(k, n), k.astype("int8"), ~k, k.sum(),
                 k.prod(), k / 2, at.eq(k, n)],
    ),
    "a loop with a product": lambda: (
        [x, a, n], [steps_of(lambda s, w: at.tanh(w @ s), x, non_sequences=a, n_steps=n)],
    ),
    "a loop of many states": lambda: (
        [x, a], steps_of(lambda row, s, t: [at.tanh(s + row), t * 0.9 + s.sum(), row.max()], x, y[0], None,
                         sequences=a),
    ),
    "a gradient of a loop": lambda: (
        [x, a, n], aesara.grad(steps_of(lambda s, w: at.tanh(w @ s), x, non_sequences=a, n_steps=n)[-1].sum(), [x, a]),
    ),
    "a loop of numbers beside others": lambda: (
        [x], [steps_of(lambda e, s: s * 0.5 + e, y[0], sequences=x), at.exp(y), at.tanh(z).sum()],
    ),
    "a loop until": lambda: (
        [x], [steps_of(lambda s: (s / 2, until(s < 1.0)), x.max(), n_steps=1000)],
    ),
}  # fmt: skip
CASES = [*GRAPHS, *MORE]


def compiled(name):
    if name in GRAPHS:
        graph = GRAPHS[name]()
        return aesara.function(graph.inputs, graph.outputs, updates=graph.updates, mode="FAST_RUN")
    inputs, outputs = MORE[name]()
    others = [v for v in graph_inputs(outputs) if v in (b, y, z) and v not in inputs]
    return aesara.function([*inputs, *others], outputs, mode="FAST_RUN")


def described(text):
    found = Counter()
    for line in text.splitlines():
        if line.startswith(("define", "declare")):
            found[line.partition(" ")[0]] += 1
        elif not line.endswith(":") and (match := INSTRUCTION.match(line)):
            found[match[1]] += 1
    return " ".join(f"{kind} {count}" for kind, count in sorted(found.items()))


@pytest.mark.parametrize("name", CASES)
def test_code_is_as_recorded(name):
    text = described(compiled(name)._native.report.text)
    assert_recorded(FILE, CASES, name, text)


@pytest.mark.parametrize("name", ["gradient_step", "factors", "a gradient of a loop"])
def test_code_is_the_same_whatever_was_compiled_before(name, monkeypatch):
    """Also if the table of expressions is emptied as soon as nothing needs it any more."""
    texts = [compiled(name)._native.report.text]
    monkeypatch.setattr(expr, "_TABLE_LIMIT", 0)
    texts += [compiled(name)._native.report.text for _ in range(2)]
    restored = pickle.loads(pickle.dumps(compiled(name)))._native.report
    assert restored.cached
    assert {*texts, restored.text} == {texts[0]}
