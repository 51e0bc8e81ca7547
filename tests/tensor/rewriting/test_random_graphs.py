"""Random graphs: rewriting ends, a second run finds nothing more, and values stay."""

import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.cloning import clone
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.tensor.special import softmax
from tests.rules.framework import evaluated, example, unequal
from tests.tensor.evaluate import evaluate
from tests.tensor.rewriting.passes import DATABASES, rewrite, rewrite_fgraph

UNARY = [
    at.exp,
    at.tanh,
    at.neg,
    at.square,
    abs,
    at.sigmoid,
    at.softplus,
    at.cos,
    at.log1p,
    at.expm1,
    at.sgn,
    lambda x: x * 2,
    lambda x: x + 1,
    lambda x: 1 - x,
    lambda x: x / 4,
    lambda x: 1 / (3 + abs(x)),
    lambda x: x**2,
    lambda x: x**3,
    lambda x: at.sqrt(abs(x)),
    lambda x: at.log(1 + at.exp(x)),
    lambda x: -1 * x,
    lambda x: x * 1,
    lambda x: x + 0,
    lambda x: at.ones_like(x) * x,
    lambda x: at.fill(x, at.constant(2.0, dtype="float64")),
    lambda x: x.sum(axis=0, keepdims=True) + 0 * x,
    lambda x: at.switch(x > 0, x, 0),
    lambda x: x.T.T,
    lambda x: softmax(x, axis=-1),
    lambda x: at.log(softmax(x, axis=-1)),
    lambda x: at.set_subtensor(x[:1], 0),
    lambda x: at.inc_subtensor(x[1:], x[:-1]),
    lambda x: x[::-1][::-1],
    lambda x: x[:],
    lambda x: x.reshape((x.shape[0], x.shape[1])),
    lambda x: at.join(0, x[:1], x[1:]),
    lambda x: x.astype("float32").astype("float64"),
    lambda x: x - x.max(axis=1, keepdims=True),
    lambda x: x / x.shape[0],
    lambda x: at.clip(x, -1, 1),
]
BINARY = [
    at.add,
    at.sub,
    at.mul,
    at.maximum,
    at.minimum,
    lambda x, y: x / (1 + abs(y)),
    lambda x, y: x * y / (2 + at.square(y)),
    lambda x, y: x + y - x,
    lambda x, y: at.switch(x > y, x, y),
    lambda x, y: x * y[0],
    lambda x, y: x + y.sum(axis=0),
    lambda x, y: at.dot(x, y.T)[:, 0].dimshuffle(0, "x") + y,
    lambda x, y: at.fill(x, y[0, 0]),
    lambda x, y: at.log(at.exp(x) + at.exp(y)),
]


def random_graph(seed, size=25, dtype="float64"):
    rng = np.random.default_rng(seed)
    inputs = [at.matrix(name, dtype=dtype) for name in "abc"]
    pool = list(inputs)
    for _ in range(size):
        recent = pool[-6:]
        if rng.random() < 0.5:
            pool.append(UNARY[rng.integers(len(UNARY))](recent[rng.integers(len(recent))]))
        else:
            x, y = (recent[i] for i in rng.integers(len(recent), size=2))
            pool.append(BINARY[rng.integers(len(BINARY))](x, y))
    values = {var: rng.normal(size=(3, 4)).astype(dtype) for var in inputs}
    return inputs, pool[-3:], values


@pytest.mark.parametrize("seed", range(60))
def test_values_stay(seed):
    inputs, outputs, values = random_graph(seed)
    reference = clone(inputs, outputs, copy_inputs=False)[1]
    after, _ = rewrite(outputs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = evaluate(reference, values)
        got = evaluate(after, values)
    for old, new, a, b in zip(reference, after, expected, got):
        assert old.type.is_super(new.type)
        assert a.dtype == b.dtype and a.shape == b.shape
        # Rewriting may save what overflowed or was undefined, never the reverse.
        defined = np.isfinite(a)
        np.testing.assert_allclose(b[defined], a[defined], rtol=1e-12, atol=1e-12)


#: What rules against cancellation, overflow and needless work look for, and what surrounds it.
PARTS = [
    lambda x: at.log(1 + x),
    lambda x: at.log(1 - x),
    lambda x: at.exp(x) - 1,
    lambda x: 1 - at.exp(x),
    lambda x: at.log(at.exp(x)),
    lambda x: at.exp(at.log(x)),
    lambda x: at.log(1 - at.exp(x)),
    lambda x: at.log1p(at.exp(-x)),
    lambda x: 1 / (1 + at.exp(x)),
    lambda x: at.exp(x) / (1 + at.exp(x)),
    lambda x: 1 - at.sigmoid(x),
    lambda x: at.log(at.sigmoid(x)),
    lambda x: at.log(1 - at.sigmoid(x)),
    lambda x: 1 - at.erf(x),
    lambda x: at.log(at.erfc(x)),
    lambda x: at.sqrt(at.square(x)),
    lambda x: at.square(at.sqrt(x)),
    lambda x: x**-2.0,
    lambda x: x**3 / x,
    lambda x: -(2 * x) / -3,
    lambda x: abs(x * -0.3) * abs(x),
    lambda x: at.log(3 * at.exp(x)),
    lambda x: x - 3,
    lambda x: x * 0.1 * 10,
]
PAIRS = [
    at.add,
    at.sub,
    at.mul,
    at.true_divide,
    at.maximum,
    lambda x, y: x + y - x,
    lambda x, y: x * y / x,
    lambda x, y: (x / 3 + y / 3) * 3,
    lambda x, y: at.log(at.exp(x) + at.exp(y)),
    lambda x, y: at.log(at.exp(x) - at.exp(y)),
    lambda x, y: at.switch(x > y, 0, x) * y,
    lambda x, y: x / (2 / y),
]


def random_formula(seed, dtypes):
    """A formula of vectors that hold small and large numbers, and values for them."""
    rng = np.random.default_rng([seed, 17])
    inputs = [at.vector(name, dtype=dtype) for name, dtype in zip("ab", dtypes)]
    pool = list(inputs)
    for _ in range(5):
        x, y = (pool[i] for i in rng.integers(len(pool), size=2))
        form = PARTS[rng.integers(len(PARTS))] if rng.random() < 0.6 else PAIRS[rng.integers(len(PAIRS))]
        pool.append(form(x) if form in PARTS else form(x, y))
    values = {}
    for var in inputs:
        spread = rng.choice([1e-9, 1e-3, 1.0, 1.0, 30.0], size=24) if var.type.dtype != "int8" else 10
        values[var] = (rng.normal(size=24) * spread).astype(var.type.dtype)
    return pool[-1], values


def check_formula(seed, dtypes):
    loose = example(None, regroups="terms are put together", zeros="no signs", assumes_finite="what is infinite")
    formula, values = random_formula(seed, dtypes)
    reference = clone(list(values), [formula], copy_inputs=False)[1]
    after, _ = rewrite(formula)
    (want,), (got,) = evaluated(reference, values), evaluated([after], values)
    assert want.dtype == got.dtype and want.shape == got.shape
    wrong = unequal(reference, 0, values, want, got, loose)
    places = [(v[wrong], want[wrong], got[wrong]) for v in values.values()]
    assert not wrong.any(), f"seed {seed}: {aesara.pprint(reference[0])} for {places}"


DTYPES = [("float64", "float64"), ("float32", "float32"), ("float32", "int8"), ("float64", "float32")]


@pytest.mark.parametrize("dtypes", DTYPES, ids="-".join)
@pytest.mark.parametrize("block", range(5))
def test_results_never_become_worse(block, dtypes):
    """Within rounding of what the graph as written gives, or else at least as near to the exact value."""
    for seed in range(block * 30, (block + 1) * 30):
        check_formula(seed, dtypes)


@pytest.mark.parametrize("seed", range(60, 90))
def test_a_second_run_finds_nothing(seed):
    _, outputs, _ = random_graph(seed)
    fgraph = FunctionGraph(outputs=outputs, clone=False)
    query = RewriteDatabaseQuery(include=["fast_run"])
    for name, database in DATABASES.items():
        rewrite_fgraph(fgraph, (name,))
        rewriter = database.query(query)
        rewriter.failure_callback = None
        again = rewriter.rewrite(fgraph)
        assert not again.applied, (name, again.applied)


@pytest.mark.parametrize("seed", range(90, 110))
def test_new_nodes_know_their_line(seed):
    from aesara.graph.rewriting.basic import check_stack_trace

    _, outputs, _ = random_graph(seed)
    fgraph = FunctionGraph(outputs=outputs, clone=False)
    rewrite_fgraph(fgraph)
    assert check_stack_trace(fgraph, ops_to_check="all")
    assert all(node.source.filename != rewrite_fgraph.__code__.co_filename for node in fgraph.apply_nodes)


@pytest.mark.slow
def test_deep_graphs_do_not_recurse():
    y = at.dvector("x")
    for _ in range(20_000):
        y = at.tanh(y)
    after, _ = rewrite(y)
    assert after.owner.op == at.tanh


def test_wide_sum_is_one_node():
    x = at.dvectors(300)
    total = x[0]
    for v in x[1:]:
        total = total + v
    after, profiles = rewrite(total)
    assert len(after.owner.inputs) == 300
    assert sum(sum(p.applied.values()) for p in profiles) == 1


def test_chain_of_squares_stays_a_chain():
    y = at.dvector("x")
    for _ in range(40):
        y = y * y
    after, _ = rewrite(y)
    assert len(FunctionGraph(outputs=[after], clone=False).apply_nodes) == 40
