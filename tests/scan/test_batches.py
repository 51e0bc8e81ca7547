"""Loops and graphs as operations for batches, against one call for each member."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.builders import OpFromGraph
from aesara.graph.replace import vectorize_graph
from aesara.graph.traversal import io_toposort
from aesara.scan import scan
from aesara.scan.op import Scan
from aesara.scan.utils import until
from aesara.tensor.vectorization.blockwise import Blockwise

x, w, h0 = at.dmatrix("x"), at.dmatrix("w"), at.dvector("h0")


def many_kinds():
    def step(row, h, m2, m1, w):
        new = at.tanh(row + h @ w)
        return new, m2 + 0.5 * m1 + row, new.sum(), row.sum()

    first = at.stack([h0, h0 * 2])
    outputs, _ = scan(step, x, [h0, {"initial": first, "taps": [-2, -1]}, None, None], w)
    return outputs


@pytest.mark.parametrize("batched", [("x",), ("w",), ("h0",), ("x", "h0"), ("x", "w", "h0")])
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_loops(batched, mode, rng):
    core = {"x": x, "w": w, "h0": h0}
    values = {"x": rng.normal(size=(5, 3)), "w": rng.normal(size=(3, 3)), "h0": rng.normal(size=3)}
    outputs = many_kinds()
    replace = {core[n]: at.TensorType("float64", (None,) * (core[n].type.ndim + 1))(n) for n in batched}
    made = vectorize_graph(outputs, replace)
    names = list(core)
    f = aesara.function([replace.get(core[n], core[n]) for n in names], made, mode=mode)
    one = aesara.function([core[n] for n in names], outputs, mode=mode)
    stacked = {n: np.stack([values[n], values[n] * 0.5 - 1]) if n in batched else values[n] for n in names}
    got = f(*[stacked[n] for n in names])
    members = [one(*[stacked[n][k] if n in batched else stacked[n] for n in names]) for k in range(2)]
    for k, result in enumerate(got):
        want = np.stack([member[k] for member in members])
        np.testing.assert_allclose(np.broadcast_to(result, want.shape), want, rtol=1e-12)
    if mode == "FAST_RUN":
        assert f._native.report.python_nodes == {}


def test_two_batch_dimensions_that_broadcast(rng):
    outputs = many_kinds()
    many_x = at.TensorType("float64", (None, 1, None, None))("x")
    many_h = at.dmatrix("h")
    f = aesara.function([many_x, w, many_h], vectorize_graph(outputs, {x: many_x, h0: many_h}))
    one = aesara.function([x, w, h0], outputs)
    xs, ws, hs = rng.normal(size=(2, 1, 4, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    got = f(xs, ws, hs)
    for a in range(2):
        for b in range(3):
            for result, want in zip(got, one(xs[a, 0], ws, hs[b])):
                member = np.broadcast_to(result, (2, 3, *want.shape))[a, b]
                np.testing.assert_allclose(member, want, rtol=1e-12)


@pytest.mark.parametrize("batched", ["steps", "kept"])
def test_each_member_has_its_number_of_steps_or_rows(batched):
    steps, kept, many = at.lscalar("steps"), at.lscalar("kept"), at.lvector("many")
    squares, _ = scan(lambda e: e * e, at.arange(5.0), n_steps=steps)
    *given, _ = squares.owner.inputs
    last = squares.owner.op(*given, kept)  # the rows of the last steps
    outcome = vectorize_graph(last.sum(), {steps if batched == "steps" else kept: many})
    if batched == "steps":
        np.testing.assert_array_equal(aesara.function([many, kept], outcome)([3, 5], 2), [1 + 4, 9 + 16])
    else:
        np.testing.assert_array_equal(aesara.function([steps, many], outcome)(4, [3, 3]), [1 + 4 + 9] * 2)


def test_loops_that_end_by_what_all_members_share_are_one_loop():
    start, starts, v = at.dscalar("start"), at.dvector("starts"), at.dvector("v")
    outputs, _ = scan(lambda e, s: ([s * e + 1, s * 2, e], until(e > 3)), v, [start, None, None])
    made = vectorize_graph(outputs, {start: starts})
    (loop,) = [node for node in io_toposort([starts, v], made) if isinstance(node.op, (Scan, Blockwise))]
    assert isinstance(loop.op, Scan)
    f, one = aesara.function([starts, v], made), aesara.function([start, v], outputs)
    values = np.array([0.5, -1.0, 2.0]), np.array([1.0, 2.0, 4.0, 3.0])
    assert f(*values)[0].shape == (3, 3)
    for k, value in enumerate(values[0]):
        for got, want in zip(f(*values), one(value, values[1]), strict=True):
            np.testing.assert_allclose(got[k] if got.ndim > 1 else got, want, rtol=1e-14)


def test_loops_that_end_early_must_end_together():
    start, starts = at.dscalar("start"), at.dvector("starts")
    y, _ = scan(lambda v: (v * 2, until(v * 2 > 10)), outputs_info=start, n_steps=20)
    f = aesara.function([starts], vectorize_graph(y[-1], {start: starts}))
    np.testing.assert_array_equal(f([3.0, 4.0, 5.0]), [12, 16, 20])
    with pytest.raises(ValueError, match="all must have the same"):
        f([1.0, 7.0])


def test_jacobian_and_hessian_of_a_loop(rng):
    v = at.dvector("v")
    y, _ = scan(lambda e, s: at.sin(s + e), v, at.constant(0, dtype="float64"))
    f = aesara.function([v], [aesara.jacobian(y, v), aesara.hessian(y[-1], v)])
    assert f._native.report.python_nodes == {}
    value, h = rng.normal(size=4), 1e-6
    jacobian, hessian = f(value)

    def states(e):
        s, found = 0.0, []
        for entry in e:
            s = np.sin(s + entry)
            found.append(s)
        return np.array(found)

    shifts = np.eye(4) * h
    want = np.stack([(states(value + d) - states(value - d)) / (2 * h) for d in shifts], axis=1)
    np.testing.assert_allclose(jacobian, want, rtol=0, atol=1e-8)
    slopes = np.stack([(f(value + d)[0][-1] - f(value - d)[0][-1]) / (2 * h) for d in shifts])
    np.testing.assert_allclose(hessian, slopes, rtol=0, atol=1e-8)


@pytest.mark.parametrize("override", ["default", lambda inputs, outputs, gradients: [gradients[0] * 3]])
def test_graphs_as_operations(override, rng):
    v, rows = at.dvector("v"), at.dmatrix("rows")
    op = OpFromGraph([v], [at.exp(v) / at.exp(v).sum()], lop_overrides=override)
    out = vectorize_graph(op(v), {v: rows})
    f = aesara.function([rows], [out, aesara.grad((out * rows).sum(), rows)])
    one = aesara.function([v], [op(v), aesara.grad((op(v) * v).sum(), v)])
    value = rng.normal(size=(3, 4))
    got, members = f(value), [one(row) for row in value]
    for k in range(2):
        np.testing.assert_allclose(got[k], np.stack([m[k] for m in members]), rtol=1e-12)
