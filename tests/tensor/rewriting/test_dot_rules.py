"""Which products rules about chains and sums of products leave, and which they do not touch."""

from itertools import pairwise

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.graph.features import ReplaceValidate
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.gemm import Dot22
from aesara.tensor.rewriting.blas import GemmOptimizer
from aesara.tensor.rewriting.dots import LONGEST, _best_order
from aesara.tensor.subtensor import Subtensor

REWRITTEN = Mode("py", "fast_run").excluding("BlasOpt")
PYTHON = Mode("py", None)
A, B, C = at.dmatrices("A", "B", "C")
v, w = at.dvectors("v", "w")
s = at.dscalar("s")


def sized(*shape):
    return at.tensor("float64", shape=shape)


def products(rng, inputs, output):
    """The numbers of dimensions of the operands of all products that are left, after a comparison of values."""
    outputs = output if isinstance(output, list) else [output]
    f = aesara.function(inputs, outputs, mode=REWRITTEN, on_unused_input="ignore")
    g = aesara.function(inputs, outputs, mode=PYTHON, on_unused_input="ignore")
    values = [rng.normal(size=[n or 4 for n in i.type.shape]) for i in inputs]
    for found, expected in zip(f(*values), g(*values)):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    nodes = [node for node in f.maker.fgraph.toposort() if isinstance(node.op, Dot)]
    return [tuple(i.type.ndim for i in node.inputs) for node in nodes]


@pytest.mark.parametrize(
    ("inputs", "output", "expected"),
    [
        ([A, B, v], A.dot(B).dot(v), [(2, 1)] * 2),
        ([A, B, C, v], A.dot(B).dot(C).dot(v), [(2, 1)] * 3),
        ([A, B, C, v], v.dot(A.dot(B.dot(C))), [(1, 2)] * 3),
        ([A, B, v, w], at.dot(v, A.dot(B).dot(w)), None),
        ([A, B, C], A.dot(B).dot(C), [(2, 2)] * 2),
        ([A, B], A.dot(B).sum(), [(1, 1)]),
        ([A, B], A.dot(B).sum(axis=0), [(1, 2)]),
        ([A, B], A.dot(B).sum(axis=1), [(2, 1)]),
        ([A, B], at.trace(A.dot(B)), []),
        ([A, B], at.diagonal(A.dot(B)), []),
        ([v, w], at.outer(v, w).sum(), None),
        ([A, B, C], A.dot(B) + A.dot(C), [(2, 2)]),
        ([A, B, C], B.dot(A) - C.dot(A), [(2, 2)]),
        ([A, v, w], A.dot(v) + A.dot(w), [(2, 1)]),
        ([A, B, v], v.dot(A) + v.dot(B), [(1, 2)] * 2),
        ([A, v], at.diag(v).dot(A), []),
        ([A, v], A.dot(at.diag(v)), []),
        ([v, w], at.diag(v).dot(w), []),
    ],
)
def test_remaining_products(inputs, output, expected, rng):
    left = products(rng, inputs, output)
    assert expected is None or left == expected
    assert (2, 2) not in left or expected is not None


def test_known_lengths_give_the_order():
    x, y, z = sized(10, 100), sized(100, 5), sized(5, 50)
    f = aesara.function([x, y, z], x.dot(y.dot(z)), mode=REWRITTEN)
    (output,) = f.maker.fgraph.outputs
    assert output.owner.inputs[0].owner is not None and output.owner.inputs[0].type.shape == (10, 5)


@pytest.mark.parametrize("seed", range(6))
def test_order_of_random_chains_is_the_best(seed):
    """Compared with all orders there are."""
    lengths = [int(n) for n in np.random.default_rng(seed).integers(1, 60, 6)]
    chain = [sized(a, b) for a, b in pairwise(lengths)]
    product = chain[0]
    for x in chain[1:]:
        product = product.dot(x)
    f = aesara.function(
        chain, product, mode=REWRITTEN.including("canonicalize").excluding("local_dot22_to_ger_or_gemv")
    )

    def cost(a, b):
        return min((cost(a, k) + cost(k, b) + lengths[a] * lengths[k] * lengths[b] for k in range(a + 1, b)), default=0)

    def rows_columns(i):
        return i.type.shape if i.type.ndim == 2 else None

    taken = 0
    for node in f.maker.fgraph.toposort():
        if isinstance(node.op, Dot):
            shapes = [rows_columns(i) for i in node.inputs]
            taken += shapes[0][0] * shapes[0][1] * shapes[1][1]
    assert taken <= cost(0, len(lengths) - 1)


def multiplications(fgraph, values):
    """Count the multiplications of all products of a graph, for given inputs."""
    shapes = {i: value.shape for i, value in zip(fgraph.inputs, values)}
    taken = 0
    for node in fgraph.toposort():
        x, y = (shapes[v] for v in node.inputs)
        shapes[node.outputs[0]] = x[:-1] + y[1:]
        taken += int(np.prod(x)) * int(np.prod(y[1:], dtype=int))
    return taken


def test_order_of_a_long_chain_is_the_better_one_of_those_from_its_ends():
    rng = np.random.default_rng(0)
    for _ in range(50):
        lengths = [int(n) for n in rng.choice([1, 2, 3, 50], LONGEST + 2)]
        first, last = lengths[0], lengths[-1]
        from_left = sum(first * n * m for n, m in pairwise(lengths[1:]))
        from_right = sum(n * m * last for n, m in pairwise(lengths[:-1]))
        found = sum(lengths[i] * lengths[j] * lengths[k] for i, j, k in _best_order(lengths))
        assert found == min(from_left, from_right)


@pytest.mark.parametrize("seed", range(40))
def test_no_order_is_worse_than_the_one_written(seed):
    """Chains of products with lengths not known statically, some with a vector at the end."""
    random = np.random.default_rng(seed)
    chain_length = int(random.integers(3, 6))
    static = [[None, None, 2, 40][k] for k in random.integers(0, 4, chain_length + 1)]
    chain = [sized(a, b) for a, b in pairwise(static)]
    if seed % 3 == 0:
        chain[-1] = sized(static[-2])
    terms = list(chain)
    while len(terms) > 1:
        k = int(random.integers(0, len(terms) - 1))
        terms[k : k + 2] = [at.dot(*terms[k : k + 2])]
    (product,) = terms
    written, rewritten = (
        aesara.function(chain, product, mode=mode).maker.fgraph
        for mode in (PYTHON, Mode("py", RewriteDatabaseQuery(["local_dot_chain"])))
    )
    for _ in range(20):
        lengths = [int(random.choice([2, 3, 1000])) if n is None else n for n in static]
        values = [np.broadcast_to(1.0, lengths[k : k + x.type.ndim]) for k, x in enumerate(chain)]
        assert multiplications(rewritten, values) <= multiplications(written, values)


def test_lengths_that_differ_may_make_another_order_worse():
    x, y = sized(None, 2), sized(2, None)
    f = aesara.function([x, y, A], x.dot(y).dot(A), mode=REWRITTEN)
    (output,) = f.maker.fgraph.outputs
    assert output.owner.inputs[1].owner is None


@pytest.mark.parametrize("rows", [2, None])
def test_a_vector_in_the_middle_ends_a_chain(rows, rng):
    x = sized(rows, None)
    rest = at.dvector("u")
    for output in (
        x.dot(v.dot(A)),
        x.dot(v.dot(A)).dot(w),
        w.dot(x.dot(v.dot(A))),
        x.dot(A).dot(v).dot(B),
        rest.dot(x.dot(A).dot(v).dot(B)),
    ):
        values = [rng.normal(size=(2,) * i.type.ndim) for i in (x, A, B, v, w, rest)]
        f, g = (
            aesara.function([x, A, B, v, w, rest], output, mode=mode, on_unused_input="ignore")
            for mode in (REWRITTEN, PYTHON)
        )
        np.testing.assert_allclose(f(*values), g(*values), rtol=1e-12)


@pytest.mark.parametrize("count", [30, 1200])
def test_long_chains(count):
    """No recursion, and no time that grows with the third power of the length."""
    left, right = A, v
    for _ in range(count):
        left, right = left.dot(A), A.dot(right)
    f = aesara.function([A, v], [left.dot(v), right], mode=REWRITTEN)
    nodes = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Dot)]
    assert {node.inputs[1].type.ndim for node in nodes} == {1} and len(nodes) == count + 1


def test_products_that_others_use_stay(rng):
    product = A.dot(B)
    assert len(products(rng, [A, B, v], [product.dot(v), product])) == 2
    assert (2, 2) in products(rng, [A, B, v], [product.dot(v), product])
    assert products(rng, [A, B], [product.sum(), product * 2]) == [(2, 2)]


def test_other_dtypes_stay():
    m, n = at.lmatrices("m", "n")
    f = aesara.function([m, n], m.dot(n).sum(), mode=REWRITTEN)
    assert any(isinstance(node.op, Dot) and node.inputs[0].type.ndim == 2 for node in f.maker.fgraph.apply_nodes)
    half = at.matrix(dtype="float32")
    f = aesara.function([half, B, v], half.dot(B).dot(v), mode=REWRITTEN)
    assert f.maker.fgraph.outputs[0].type.dtype == "float64"


def test_empty_matrices():
    f = aesara.function([A, B], [A.dot(B).sum(), A.dot(B).sum(axis=0), at.trace(A.dot(B))])
    for rows, inner, columns in [(0, 3, 2), (2, 0, 3), (2, 3, 0)]:
        total, along, trace = f(np.ones((rows, inner)), np.ones((inner, columns)))
        assert total == rows * inner * columns and trace == min(rows, columns) * inner
        np.testing.assert_array_equal(along, np.full(columns, rows * inner))


def test_numbers_are_taken_out():
    f = aesara.function([A, B, s], at.dot(s * A, -B), mode=REWRITTEN)
    (node,) = [node for node in f.maker.fgraph.apply_nodes if isinstance(node.op, Dot)]
    assert all(i.owner is None for i in node.inputs)


def test_matrices_that_are_not_square_have_diagonals_too(rng):
    f = aesara.function([A, B], at.diagonal(A.dot(B)))
    for rows, columns in [(2, 4), (4, 2), (3, 3)]:
        x, y = rng.normal(size=(rows, 5)), rng.normal(size=(5, columns))
        np.testing.assert_allclose(f(x, y), np.diagonal(x @ y), rtol=1e-12)
    with pytest.raises(ValueError):
        f(np.ones((2, 3)), np.ones((4, 2)))


@pytest.mark.parametrize("output", [A.dot(B).sum(), A.dot(B).dot(v), at.dot(s * A, B), A.dot(at.diag(v))])
def test_shapes_that_do_not_match_are_still_refused(output):
    inputs = [A, B, v, s]
    f = aesara.function(inputs, output, on_unused_input="ignore")
    with pytest.raises(ValueError):
        f(np.ones((2, 3)), np.ones((4, 2)), np.ones(5), 1.0)


def test_diagonals_of_products_whose_lengths_are_known():
    """Only what may have more rows than columns, or fewer, is cut."""
    for x, y, cut in (
        (sized(4, 5), sized(5, 4), False),
        (sized(4, None), sized(None, 4), False),
        (sized(4, 5), sized(5, 3), True),
        (A, B, True),
    ):
        f = aesara.function([x, y], at.trace(x.dot(y)), mode=REWRITTEN)
        nodes = f.maker.fgraph.toposort()
        assert not any(isinstance(node.op, Dot) for node in nodes)
        assert any(isinstance(node.op, Subtensor) and node.inputs[0].type.ndim == 2 for node in nodes) == cut


def test_the_walk_over_products_says_how_much_it_has_changed():
    for output, changes in ((at.exp(A), 0), (A.dot(B), 0), (C + Dot22()(A, B), 1)):
        fgraph = FunctionGraph(outputs=[output], clone=True, features=[ReplaceValidate()])
        assert GemmOptimizer().apply(fgraph) == changes
        assert any("Gemm" in type(node.op).__name__ for node in fgraph.apply_nodes) == bool(changes)
