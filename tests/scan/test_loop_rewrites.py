"""What each rewrite of loops does: which loops are left, what they have, and what comes out."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode, get_mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.basic import MergeOptimizer
from aesara.graph.traversal import applys_between
from aesara.scan import scan, until
from aesara.scan.op import Scan, ScanInfo
from aesara.scan.rewriting import ScanInplaceOptimizer, ScanMerge
from aesara.scan.utils import ScanArgs
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.gemm import BlasOp
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from tests.closeness import assert_close

x, y, v, M, n = at.dvector("x"), at.dvector("y"), at.dvector("v"), at.dmatrix("M"), at.lscalar("n")
IN_PYTHON = Mode("py", None)
ROWS = np.arange(12.0).reshape(4, 3) / 5 - 1


def compiled(inputs, outputs, *excluded):
    """A function, and its loops."""
    f = aesara.function(inputs, outputs, mode=get_mode("FAST_RUN").excluding(*excluded), on_unused_input="ignore")
    return f, [ScanArgs.from_node(node) for node in f.maker.fgraph.toposort() if isinstance(node.op, Scan)]


def without_rewrites(inputs, outputs, *values):
    return aesara.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")(*values)


def assert_same(inputs, outputs, f, *values):
    got, want = f(*values), without_rewrites(inputs, outputs, *values)
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_unused_duplicate_and_constant_inputs_go():
    def step(entry, same, unused, tens, s, k, again, number):
        return s * 0.5 + entry * same + k * again * number + tens

    given = [x, x, y, at.alloc(at.exp(v[0]), x.shape[0])]
    outputs = [scan(step, given, 0.0, [v[1], v[1], 3.0])[0]]
    f, (loop,) = compiled([x, y, v], outputs)
    assert len(loop.outer_in_seqs) == 1 and len(loop.outer_in_non_seqs) <= 3
    assert_same([x, y, v], outputs, f, [1.0, 2.0], [0.0, 0.0], [0.5, 0.25])


def test_states_that_nobody_reads_go():
    (a, b, _c), _ = scan(lambda a, b, c: [a + b, b * 1.5, a * c], outputs_info=[v, v + 1, v * 2], n_steps=n)
    assert len(compiled([v, n], [b[-1]])[1][0].outer_in_sit_sot) == 1
    f, (loop,) = compiled([v, n], [a[-1]])
    assert len(loop.outer_in_sit_sot) == 2
    assert_same([v, n], [a[-1]], f, [1.0, -2.0], 3)


def test_outputs_that_nobody_reads_go_without_the_passes_for_loops():
    outputs, _ = scan(lambda e, a, b: [a * e, b + e, a + 1, b + 2, at.sin(a)], x, [v[0], v[1], None, None, None])
    for kept, sizes in [((0,), (1, 0)), ((1, 3), (1, 1)), ((4,), (1, 1)), ((2, 3), (2, 2))]:
        read = [outputs[k] for k in kept]
        f, (loop,) = compiled([x, v], read, "scan")
        assert (len(loop.outer_in_sit_sot), len(loop.outer_in_nit_sot)) == sizes
        assert_same([x, v], read, f, [1.0, 2.0, -0.5], [0.5, 0.25])


def test_equal_constants_are_one_output():
    for values, count in [((1.0, 1.0, 2.0), 2), ((1.0, 2.0, 3.0), 3)]:
        results = [at.constant(value, dtype="float64") for value in values]
        outputs, _ = scan(lambda e, s, r=results: ([s * e, *r], until(s > 3)), x, [v[0], None, None, None])
        f, (loop,) = compiled([x, v], outputs)
        assert len(loop.outer_in_nit_sot) == count
        assert_same([x, v], outputs, f, [1.0, 2.0, -0.5], [0.5])


def test_sequences_of_equal_rows_are_no_sequences():
    row = at.TensorType("float64", (1, None))("row")
    for steady in (at.alloc(v, x.shape[0], v.shape[0]), at.alloc(row, x.shape[0], row.shape[1]), np.ones((3, 2))):
        states, _ = scan(lambda e, r, s: s * e + at.tanh(s * r), [x, steady], [at.zeros(2)])
        f, (loop,) = compiled([x, v, row], [states])
        assert len(loop.outer_in_seqs) == 1
        assert_same([x, v, row], [states], f, [1.0, 2.0, -0.5], [0.5, 0.25], [[2.0, 3.0]])
    changing = at.alloc(M, 3, v.shape[0]), np.arange(6.0).reshape(3, 2)
    for rows in changing:
        states, _ = scan(lambda e, r, s: s * e + at.tanh(s * r), [x, rows], [at.zeros(2)])
        f, (loop,) = compiled([x, v, M], [states])
        assert len(loop.outer_in_seqs) == 2
        assert_same([x, v, M], [states], f, [1.0, 2.0, -0.5], [0.5, 0.25], np.arange(6.0).reshape(3, 2))


def test_equal_states_and_outputs_are_one():
    def step(e, a, b, c):
        return [a + b * e, b + a * e, c * e, at.sin(a) + b, at.sin(b) + a]

    # `a` and `b` are equal in each step because they are before it; `c` starts as they do, and goes on otherwise.
    outputs, _ = scan(step, x, [at.zeros(()) + v[0]] * 3 + [None] * 2)
    f, (loop,) = compiled([x, v], outputs, "scan_return_rows")
    assert (len(loop.outer_in_sit_sot), len(loop.outer_in_nit_sot)) == (2, 1)
    assert_same([x, v], outputs, f, [1.0, 2.0, -0.5], [0.5])


@pytest.mark.parametrize("taps", [1, 2])
def test_equal_states_are_one_without_other_outputs(taps):
    first = at.zeros(()) + v[0] if taps == 1 else {"initial": v[:2], "taps": [-2, -1]}
    outputs, _ = scan(lambda e, *formers: [formers[0] * e + 1, formers[taps] * e + 1], x, [first] * 2)
    f, (loop,) = compiled([x, v], [rows[-1] for rows in outputs], "scan_return_rows")
    assert len(loop.outer_in_sit_sot) + len(loop.outer_in_mit_sot) == 1
    assert_same([x, v], [rows[-1] for rows in outputs], f, [1.0, 2.0, -0.5], [0.5, 0.25])


def test_several_equal_outputs_between_others_are_one():
    def step(e, a, b, c, d):
        return [a * e, a + e, b * e, c * e, d - e, at.cos(a), at.sin(a), at.sin(b), at.sin(c), at.exp(d)]

    first = at.zeros(()) + v[0]
    outputs, _ = scan(step, x, [first, None, first, first, v[1], *[None] * 5])
    outputs = [outputs[k] for k in (1, 9, 8, 7, 6, 5, 4, 3, 2, 0)]
    f, (loop,) = compiled([x, v], outputs, "scan_return_rows")
    assert (len(loop.outer_in_sit_sot), len(loop.outer_in_nit_sot)) == (2, 4)
    assert_same([x, v], outputs, f, [1.0, 2.0, -0.5], [0.5, 0.25])


def test_what_only_dropped_states_of_later_loops_read_is_dropped():
    (a, b), _ = scan(lambda e, s, t: [at.tanh(e + s), at.sin(e * t)], x, [at.constant(0.1)] * 2)
    (c, d), _ = scan(lambda a, b, s, t: [at.tanh(s) * a, b * 3 + at.sin(t)], [a, b], [at.constant(0.1)] * 2)
    for output in (c, d):
        f, loops = compiled([x], [output], "scan_return_rows")
        assert [(len(loop.outer_in_seqs), len(loop.outer_in_sit_sot)) for loop in loops] == [(1, 1), (1, 1)]
        assert_same([x], [output], f, [0.5, -2.0, 1.0])


def test_what_does_not_change_is_computed_before_the_loop():
    (states, steady), _ = scan(
        lambda s, v, M: [at.tanh(s + at.dot(v, at.exp(M))), at.exp(v)], None, [v, None], [v, M], n
    )
    f, (loop,) = compiled([v, M, n], [states, steady], "scan_return_rows")
    assert not loop.outer_in_nit_sot and not any(isinstance(node.op, Dot) for node in nodes_of(loop))
    for steps in (0, 3):
        assert_same([v, M, n], [states, steady], f, [0.5, 1.0], np.eye(2), steps)


def nodes_of(loop):
    return aesara.graph.basic.io_toposort(loop.inner_inputs, loop.inner_outputs)


def test_branches_that_are_not_taken_stay_in_the_loop():
    from_outside = at.linalg.inv(M)
    states, _ = scan(lambda s, M, v: s + aesara.ifelse.ifelse(v[0] > 0, at.linalg.inv(M)[0], v), None, v, [M, v], n)
    f, _ = compiled([v, M, n], [states, from_outside.sum() * 0][:1])
    assert_close(f([-1.0, 2.0], np.zeros((2, 2)), 2), [[[-2.0, 4.0], [-3.0, 6.0]]])


def test_loops_over_sequences_become_expressions():
    outputs, _ = scan(lambda e, row, k: [at.sin(e) * k, at.dot(row, M), row], [x, M], None, v[0])
    f, loops = compiled([x, v, M], outputs)
    assert not loops
    assert_same([x, v, M], outputs, f, [1.0, 2.0, 3.0], [0.5], np.arange(9.0).reshape(3, 3))
    g, loops = compiled([x, v, M], outputs, "scan_pushout_seqs_ops")
    assert len(loops) == 1
    assert_same([x, v, M], outputs, g, [1.0, 2.0, 3.0], [0.5], np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("reference", [False, True])
def test_a_sequence_that_is_too_short_for_an_expression(reference):
    mode = Mode("py", "fast_run") if reference else "FAST_RUN"
    rows, _ = scan(lambda a, b: at.sin(a) + b, [x, y], n_steps=n)
    f = aesara.function([x, y, n], rows, mode=mode)
    assert not any(isinstance(node.op, Scan) for node in f.maker.fgraph.apply_nodes)
    assert_close(f([1.0, 2.0, 3.0], [5.0, 6.0], 2), np.sin([1.0, 2.0]) + [5, 6])
    with pytest.raises(ValueError, match="fewer entries than the steps"):
        f([1.0, 2.0, 3.0], [5.0, 6.0], 3)


def test_costly_parts_without_states_go_out_and_cheap_ones_stay():
    costly, cheap = (scan(lambda e, s, g=g: s * 0.5 + g(e), x, 0.0)[0] for g in (at.sin, lambda e: e * 2))
    left, all_of_it = (len(list(nodes_of(compiled([x], states)[1][0]))) for states in (costly, cheap))
    assert (left, all_of_it) == (2, 3)
    large = scan(lambda e, s: s * 0.5 + at.sin(e * M), x, at.zeros_like(M))[0]
    f, (loop,) = compiled([x, M], [large[-1]])
    assert loop.outer_in_seqs[0].type.ndim == 1  # no row for each step that is as large as the matrix
    assert_same([x, M], [large[-1]], f, [1.0, 2.0], ROWS)


PRODUCTS = {
    "outer": lambda row, s: at.outer(row, row * 2),
    "of states": lambda row, s: at.outer(s, at.tanh(row + s)),
    "of matrices": lambda row, s: at.dot(at.outer(row, s).T, at.outer(s, at.cos(row))),
    "two": lambda row, s: at.outer(row, s) + at.outer(s, row),
}


@pytest.mark.parametrize("kind", PRODUCTS)
def test_sums_of_products_are_one_product(kind):
    def step(row, s, total):
        return [at.tanh(s * 0.5 + row), total + PRODUCTS[kind](row, s)]

    (states, totals), _ = scan(step, M, [v, at.ones((3, 3))])
    for outputs in ([totals[-1], states], [totals[-1]]):
        f, loops = compiled([M, v], outputs)
        g, (other,) = compiled([M, v], outputs, "scan_pushout_add", "scan_pushout_dot1")
        if kind == "outer" and len(outputs) == 1:
            assert not loops  # nothing is left that depends on the step before
        else:
            assert len(loops[0].outer_in_sit_sot) == len(other.outer_in_sit_sot) - 1 or kind == "two"
        assert_same([M, v], outputs, f, ROWS, ROWS[0])
        assert_same([M, v], outputs, g, ROWS, ROWS[0])
    with pytest.raises(IndexError):
        f(ROWS[:0], ROWS[0])


#: terms, what else the step does, and what is read of the sum, with which a sum of products stays in its loop
OTHER_SUMS = {
    "a steady factor": (lambda row, s, total: total + at.dot(M, at.outer(row, s)), lambda rows: rows[-1]),
    "two steady factors": (lambda row, s, total: total + at.outer(v, v) * 1.0 + at.outer(v, s), lambda rows: rows[-1]),
    "another term": (lambda row, s, total: total + at.outer(row, s) + at.sin(M), lambda rows: rows[-1]),
    "a factor for the state": (lambda row, s, total: total * 0.5 + at.outer(row, s), lambda rows: rows[-1]),
    "a difference": (lambda row, s, total: at.outer(row, s) - total, lambda rows: rows[-1]),
    "the state twice": (lambda row, s, total: total + total + at.outer(row, s), lambda rows: rows[-1]),
    "products of the state": (lambda row, s, total: total + at.dot(total, at.outer(row, s)), lambda rows: rows[-1]),
    "another precision": (
        lambda row, s, total: total + at.dot(row.astype("float32")[:, None], s.astype("float32")[None]),
        lambda rows: rows[-1],
    ),
    "a row for all": (lambda row, s, total: total + at.dot(at.ones((1, 1)), (s * row)[None]), lambda rows: rows[-1]),
    "the row before the last": (lambda row, s, total: total + at.outer(row, s), lambda rows: rows[-2]),
    "two rows": (lambda row, s, total: total + at.outer(row, s), lambda rows: rows[-2:]),
    "the first row": (lambda row, s, total: total + at.outer(row, s), lambda rows: rows[0]),
    "every row": (lambda row, s, total: total + at.outer(row, s), lambda rows: rows.sum(axis=0)),
    "behind rows": (lambda row, s, total: total + at.outer(row, s), lambda rows: rows[2:][-1]),
}


@pytest.mark.parametrize("kind", OTHER_SUMS)
def test_other_sums_stay(kind):
    term, read = OTHER_SUMS[kind]
    (states, totals), _ = scan(
        lambda row, s, total: [at.tanh(s * 0.5 + row), term(row, s, total)], M, [v, at.ones((3, 3))]
    )
    outputs = [read(totals), states[-1]]
    f, (loop,) = compiled([M, v], outputs)
    assert len(loop.outer_in_sit_sot) == 2
    assert all(rows.type.ndim < 3 for rows in loop.outer_out_nit_sot) or kind in ("every row", "the first row")
    assert_same([M, v], outputs, f, ROWS[:3], ROWS[0])


def test_products_that_are_read_step_by_step_stay():
    totals, _ = scan(lambda row, total: total + at.outer(row, row), M, at.zeros((3, 3)))
    f, (loop,) = compiled([M], [totals])
    assert len(loop.outer_in_sit_sot) == 1
    assert_same([M], [totals], f, ROWS)


RESULTS = {
    "of the state": lambda row, new, old: at.dot(new, M),
    "of the former state": lambda row, new, old: at.exp(at.dot(old, M)) * new,
    "of a sum": lambda row, new, old: at.dot(new + row, M.T) + v,
    "of the other side": lambda row, new, old: at.dot(M, new * row) if new.ndim == 1 else at.dot(new, M),
    "of a product": lambda row, new, old: at.dot(at.tanh(at.dot(new, M)), M),
}


@pytest.mark.parametrize("kind", RESULTS)
@pytest.mark.parametrize("first", [v, at.ones(3), at.ones((2, 3))])
def test_results_that_are_products_are_one_product_behind_the_loop(kind, first):
    def step(row, s):
        new = at.tanh(s * 0.5 + row)
        return [new, RESULTS[kind](row, new, s)]

    (states, results), _ = scan(step, M, [first, None])
    outputs = [states, results]
    f, (loop,) = compiled([M, v], outputs)
    assert not any(isinstance(node.op, (Dot, BlasOp)) for node in nodes_of(loop))
    # The states are read from their rows, not computed again.
    again = [node for node in f.maker.fgraph.apply_nodes if "tanh" in str(node.op).lower()]
    assert len(again) == (kind == "of a product")
    for rows in (ROWS[:3], -ROWS[1:]):
        assert_same([M, v], outputs, f, rows, rows[0])
    _, (other,) = compiled([M, v], outputs, "scan_pushout_dot")
    assert any(isinstance(node.op, (Dot, BlasOp)) for node in nodes_of(other))


def test_results_of_no_step():
    (states, results), _ = scan(lambda row, s: [s + row, at.dot(s, M.T)], M, [v, None])
    f, _ = compiled([M, v], [states, results])
    assert [value.shape for value in f(np.ones((0, 3)), np.ones(3))] == [(0, 3), (0, 0)]


def test_products_of_states_that_are_not_kept_or_that_the_step_reads_stay():
    def step(row, s):
        new = at.tanh(s * 0.5 + row)
        product = at.dot(new, M)
        return [new, product], {}

    (states, results), _ = scan(step, M, [v, None])
    f, (loop,) = compiled([M, v], [states[-1], results])  # its rows are more memory
    assert any(isinstance(node.op, (Dot, BlasOp)) for node in nodes_of(loop))
    assert_same([M, v], [states[-1], results], f, ROWS[:3], ROWS[0])

    def step_that_reads(row, s):
        product = at.dot(s, M)
        return at.tanh(product + row), product

    (states, results), _ = scan(step_that_reads, M, [v, None])
    f, (loop,) = compiled([M, v], [states, results])
    assert sum(isinstance(node.op, (Dot, BlasOp)) for node in nodes_of(loop)) == 1
    assert_same([M, v], [states, results], f, ROWS[:3], ROWS[0])

    (states, results), _ = scan(lambda row, s: ([s + row, at.dot(s, M)], until(s[0] > 1)), M, [v, None])
    f, (loop,) = compiled([M, v], [states, results])
    assert any(isinstance(node.op, (Dot, BlasOp)) for node in nodes_of(loop))
    assert_same([M, v], [states, results], f, ROWS[:3], ROWS[0])


def test_the_gradient_of_weights_is_one_product():
    W = at.dmatrix("W")
    states, _ = scan(lambda row, s, W: at.tanh(row + at.dot(W, s)), M, v, W)
    slope = aesara.grad((states[-1] ** 2).sum(), W)
    f, loops = compiled([M, v, W], [slope])
    assert len(loops) == 2 and not any(s.type.ndim == 3 for s in loops[1].outer_in_sit_sot)
    # Nothing has a matrix for each step: the buffer of the state is gone with it.
    assert not any(out.type.ndim == 3 for node in f.maker.fgraph.toposort() for out in node.outputs)
    # The states are read from their rows, not computed again.
    assert not any("tanh" in str(node.op).lower() or "cosh" in str(node.op).lower() for node in nodes_of(loops[1]))
    assert_same([M, v, W], [slope], f, ROWS, ROWS[1], ROWS[:3])


def test_loops_over_the_same_steps_are_merged():
    one, _ = scan(lambda e, s: s * 0.5 + e, x, 0.0)
    two, _ = scan(lambda e, s: at.sin(s) + e, x, 1.0)
    behind, _ = scan(lambda e, s: s - e, one, 2.0, n_steps=x.shape[0])
    cut, _ = scan(lambda e, s: s - e, x, 2.0, truncate_gradient=2)
    outputs = [one, two, behind, cut]
    f, loops = compiled([x], outputs)
    assert sorted(len(loop.outer_out_sit_sot) for loop in loops) == [1, 1, 2]
    assert_same([x], outputs, f, [1.0, 2.0, 3.0])
    assert len(compiled([x], outputs, "scan_merge")[1]) == 4


def test_how_many_loops_are_merged_away():
    terms = [scan(lambda e, s: s * c + e, x, 0.0)[0] for c in (0.5, 0.25, 0.125)]
    other, _ = scan(lambda e, s: s - e, x, 2.0, truncate_gradient=2)
    fgraph = FunctionGraph([x], [*terms, other], clone=True)
    MergeOptimizer().rewrite(fgraph)
    assert (ScanMerge().rewrite(fgraph), ScanMerge().rewrite(fgraph)) == (2, 0)


def test_loops_with_the_same_operation_are_merged():
    c = at.dscalar("c")
    first, _ = scan(lambda e, s, c: s * c + e, x, 0.5, non_sequences=c)
    loop = first.owner.inputs[0].owner
    steps, entries, buffer, factor = loop.inputs
    others = [loop.op(steps, entries, buffer * 3, factor), loop.op(steps, entries, buffer, factor + 1)]
    outputs = [first, *(rows[1:] for rows in others)]
    f, loops = compiled([x, c], outputs)
    assert [len(args.outer_out_sit_sot) for args in loops] == [3]
    assert_same([x, c], outputs, f, [1.0, 2.0, 3.0], 0.5)


@pytest.mark.parametrize(
    ("modes", "merged"),
    [((None, "FAST_RUN"), True), (("FAST_COMPILE", "Mode"), True), ((IN_PYTHON, IN_PYTHON), True),
     ((IN_PYTHON, None), False), (("DebugMode", None), False), ((IN_PYTHON, Mode("py", None)), False)],
)  # fmt: skip
def test_loops_that_ask_for_modes(modes, merged):
    """Those whose names say how fast they are to be are the same to a loop; others run steps in another way."""
    steps = (lambda e, s: s * 0.5 + e), (lambda e, s: at.sin(s) + e)
    outputs = [scan(step, x, 0.0, mode=mode)[0] for step, mode in zip(steps, modes, strict=True)]
    f, loops = compiled([x], outputs)
    assert len(loops) == (1 if merged else 2)
    assert_same([x], outputs, f, [1.0, 2.0, 3.0])


#: options of two loops over the same sequence that cannot be one
OTHER_LOOPS = {
    "steps": ({"n_steps": 2}, {"n_steps": 3}),
    "steps in a call": ({"n_steps": n}, {"n_steps": n + 1}),
    "direction": ({}, {"go_backwards": True, "truncate_gradient": 1}),
    "derivatives": ({}, {"truncate_gradient": 2}),
    "profile": ({}, {"profile": True}),
    "profiles": ({"profile": "one"}, {"profile": "two"}),
    "end": ({}, {"end": lambda e, s: e > 2}),
    "ends": ({"end": lambda e, s: e > 3}, {"end": lambda e, s: e > 2}),
}


@pytest.mark.parametrize("kind", OTHER_LOOPS)
@pytest.mark.parametrize("order", [1, -1], ids=["one way", "other way"])
def test_loops_that_differ_in_how_they_run_are_not_merged(kind, order):
    def loop(new, end=None, **options):
        return scan(lambda e, s: new(e, s) if end is None else (new(e, s), until(end(e, s))), x, 0.0, **options)[0]

    one, other = OTHER_LOOPS[kind][::order]
    outputs = [loop(lambda e, s: s * 0.5 + e, **one), loop(lambda e, s: at.sin(s) - e, **other)]
    f, loops = compiled([x, n], outputs, "scan_unroll")
    assert len(loops) == 2
    assert_same([x, n], outputs, f, [1.0, 2.0, 3.0, 4.0], 2)
    alike = [loop(lambda e, s: s * 0.5 + e, **one), loop(lambda e, s: at.sin(s) - e, **one)]
    f, loops = compiled([x, n], alike, "scan_unroll")
    assert len(loops) == 1
    assert_same([x, n], alike, f, [1.0, 2.0, 3.0, 4.0], 2)


def test_loops_with_the_same_condition_are_merged():
    def loops(first, second):
        one = scan(lambda e, s: (s * 0.5 + e, until(first(e, s))), x, 0.0)[0]
        return [one, scan(lambda e, s: (s - e, until(second(e, s))), x, 0.0)[0]]

    same = loops(lambda e, s: e > 2, lambda e, s: e > 2)
    f, found = compiled([x], same)
    assert len(found) == 1
    assert_same([x], same, f, [1.0, 2.0, 3.0, 4.0])
    # Equal formulas of states that differ, and different ones, are different conditions.
    for other in (loops(lambda e, s: s > 2, lambda e, s: s > 2), loops(lambda e, s: e > 2, lambda e, s: e > 1)):
        f, found = compiled([x], other)
        assert len(found) == 2
        assert_same([x], other, f, [1.0, 2.0, 3.0, 4.0])


def test_loops_that_need_each_other_in_turn_are_not_merged():
    """Two pairs could each be merged, but not both of them."""
    a = scan(lambda e, s: s * 0.5 + e, x, 0.0, n_steps=3)[0]
    b = scan(lambda e, s: at.sin(s) + e, y, 0.0, n_steps=3)[0]
    behind_a = scan(lambda e, s: s - e, a, 0.0, n_steps=3)[0]
    behind_b = scan(lambda e, s: s * e, b, 1.0, n_steps=3)[0]
    outputs = [behind_a, behind_b]
    f, loops = compiled([x, y], outputs, "scan_unroll")
    assert len(loops) == 2
    assert_same([x, y], outputs, f, [1.0, 2.0, 3.0], [3.0, 1.0, 2.0])
    assert not ScanMerge().belongs_to_set(a.owner.inputs[0].owner, [behind_a.owner.inputs[0].owner])


def test_states_are_written_over_buffers():
    states, _ = scan(lambda s, e: s * 2 + e, x, v, n_steps=2)
    graph = aesara.graph.fg.FunctionGraph(outputs=[states], clone=True)
    ScanInplaceOptimizer().apply(graph)
    (loop,) = [node for node in graph.apply_nodes if isinstance(node.op, Scan)]
    assert loop.op.destroy_map == {0: [2]}
    assert not states.owner.inputs[0].owner.op.destroy_map
    buffer, entry, s = at.dmatrix("buffer"), at.dscalar(), at.dvector()
    info = loop.op.info
    rows = Scan([entry, s], [s * 2 + entry], info)(x.shape[0], x, buffer)
    f = aesara.function([x, buffer], [rows, buffer * 1], mode=Mode("py", "fast_run"))
    given = np.ones((3, 2))
    got = f([1.0, 2.0], given)
    assert got[0].tolist() == [[1, 1], [3, 3], [8, 8]] and (given == 1).all() and (got[1] == 1).all()


def test_names_of_rules_exclude_them():
    states, _ = scan(lambda s, v: s + at.exp(v), None, v, [v], n)
    nodes = {
        name: len(list(nodes_of(compiled([v, n], states, *excluded)[1][0])))
        for name, excluded in {"all": (), "scan": ("scan",), "eqopt1": ("scan_eqopt1",)}.items()
    }
    assert nodes["all"] <= nodes["scan"] == nodes["eqopt1"]


def test_shapes_are_known_without_the_loop():
    def step(e, row, s, v, n):
        return [s + e, at.outer(row, v), v[: n + 1], at.arange(row[0].astype("int64"))]

    (states, products, parts, _), _ = scan(step, [x, M], [0.0, None, None, None], [v, n])
    f, loops = compiled([x, M, v, n], [states.shape, products.shape, parts.shape])
    assert not loops
    got = f(np.ones(4), ROWS, [1.0, 2.0], 0)
    assert [shape.tolist() for shape in got] == [[4], [4, 3, 2], [4, 1]]


@pytest.mark.parametrize(
    "step, size",
    [
        (lambda e, row, s, v, W: e * v, [3]),
        (lambda e, row, s, v, W: W * s, [3, 5]),
        (lambda e, row, s, v, W: row + e, [2]),
        (lambda e, row, s, v, W: at.dot(v, W) + s, [5]),
        (lambda e, row, s, v, W: at.outer(row, v), [2, 3]),
        (lambda e, row, s, v, W: at.concatenate([row, W[:, 0]]) * s[0], [5]),
        (lambda e, row, s, v, W: s + 1, [5]),
    ],
)
def test_sizes_of_rows_are_those_that_a_step_gives_its_inputs(step, size):
    W, s = at.dmatrix("W"), at.dvector("s")
    (_, rows), _ = scan(lambda e, row, s, v, W: [s * 2, step(e, row, s, v, W)], [x, M], [s, None], [v, W])
    with aesara.config.change_flags(on_shape_error="raise"):
        graph = aesara.graph.fg.FunctionGraph([x, M, s, v, W], [rows], clone=False, features=[ShapeFeature()])
        lengths = [graph.shape_feature.get_shape(graph, rows, d) for d in range(rows.ndim)]
    assert not any(isinstance(node.op, Scan) for node in applys_between([], lengths))
    given = {x: np.ones(4), M: np.ones((4, 2)), s: np.ones(5), v: np.ones(3), W: np.ones((3, 5))}
    found = aesara.function(list(given), lengths, on_unused_input="ignore")(*given.values())
    assert [int(n) for n in found] == [4, *size]


def test_shapes_that_values_decide_are_those_of_the_results():
    rows, _ = scan(lambda e, i: at.arange(i) + e, [x, at.ones(3, dtype="int64") * 2])
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        assert aesara.function([x], rows.shape, mode=mode)([1.0, 2.0, 3.0]).tolist() == [3, 2]


def test_loops_made_by_hand_compute_before_them_what_is_the_same_in_every_step():
    """What `scan` makes has this outside from the start: a step of its own variables need not."""
    e, s, c = at.dscalar("e"), at.dscalar("s"), at.dscalar("c")
    step = Scan([e, s, c], [s * at.exp(c * 2.0 + 1.0) + e], ScanInfo(1, (), (), (), ((-1,),), 0, 0, 1, False))
    a = at.dscalar("a")
    rows = step(x.shape[0], x, at.set_subtensor(at.empty(x.shape[0] + 1)[:1], 1.0), a)
    f, (loop,) = compiled([x, a], [rows[1:]])
    everywhere = nodes_of(loop), f.maker.fgraph.apply_nodes
    inside, outside = ([str(node.op).lower() for node in nodes] for nodes in everywhere)
    assert not any("exp" in op for op in inside) and any("exp" in op for op in outside)
    values, state = np.array([1.0, 2.0, 3.0]), 1.0
    for k, value in enumerate(values):
        state = state * np.exp(0.25 * 2 + 1) + value
        np.testing.assert_allclose(f(values, 0.25)[0][k], state, rtol=1e-14)
