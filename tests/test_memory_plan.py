"""`memory_plan`: what a call takes, against what it really allocates, and what the table says."""

import io
import re
import tracemalloc

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import as_op
from aesara.scan import while_loop


def kinds(plan):
    return [buffer.kind for buffer in plan.buffers]


@pytest.fixture(scope="module")
def chain():
    """Products one after the other: the first result is dead when the third is computed."""
    x = at.dmatrix("x")
    y = x
    for _ in range(4):
        y = at.tanh(y @ x)
    return aesara.function([x], y, name="chain")


def test_places_are_taken_again(chain):
    plan = aesara.memory_plan(chain)
    workspace = [b for b in plan.buffers if b.kind == "workspace"]
    again = [b for b in workspace if b.before]
    assert again
    by_name = {b.name: b for b in plan.buffers}
    for b in again:
        former = by_name[b.before[-1]]
        assert b.name in former.after and former.slot == b.slot
        assert former.last < b.first
    assert len({b.slot for b in workspace}) < len(workspace)


def test_lives_are_steps(chain):
    plan = aesara.memory_plan(chain)
    assert plan.steps == len(aesara.explain(chain).steps)
    for b in plan.buffers:
        assert 1 <= b.first <= b.last <= plan.steps
    assert plan.buffers[-1].kind == "result" and plan.buffers[-1].last == plan.steps


def test_nodes_and_lines(chain):
    plan = aesara.memory_plan(chain)
    for b in plan.buffers:
        assert b.nodes
        assert all(one.source.filename == __file__ for one in b.nodes)
    assert "Dot22" in str(plan.buffers[0])


def test_workspace_is_what_a_call_leaves(chain):
    value = np.eye(30)
    plan = aesara.memory_plan(chain, value)
    chain.free()
    chain(value)
    need = plan.workspace()
    assert need <= chain._native.workspace_bytes <= need + need // 4 + 64
    assert plan.workspace(np.eye(2)) < need


def test_peak_is_what_a_call_allocates(chain):
    value = np.eye(100)
    chain(value)
    chain.free()
    tracemalloc.start()
    try:
        result = chain(value)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    plan = aesara.memory_plan(chain)
    assert plan.peak(value) == plan.workspace(value) + result.nbytes
    assert plan.peak(value) <= peak <= 1.25 * plan.peak(value) + 4096


def test_only_shapes_of_examples_matter(chain):
    plan = aesara.memory_plan(chain)
    large = np.broadcast_to(0.0, (10**5, 10**5))
    assert plan.peak(large) > 10**11
    assert aesara.memory_plan(chain, large).peak() == plan.peak(large)


def test_text(chain):
    file = io.StringIO()
    plan = aesara.memory_plan(chain, file=file)
    text = str(plan)
    assert file.getvalue() == text + "\n"
    head, peak, *rows = text.split("\n")
    assert head.startswith("chain: ") and "steps" in head
    assert "8 * x.shape[1] * x.shape[1]" in peak
    assert len(rows) == len(plan.buffers)
    assert "returned" in rows[-1] and "test_memory_plan.py" in rows[-1]
    with_bytes = str(aesara.memory_plan(chain, np.eye(100)))
    assert "80,000 bytes" in with_bytes


def test_shared_variables_are_known_and_updated_in_place():
    x = at.dvector("x")
    w = aesara.shared(np.ones(7), name="w")
    f = aesara.function([x], (x * w.sum()).sum(), updates=[(w, w + 1)])
    plan = aesara.memory_plan(f)
    (update,) = [b for b in plan.buffers if b.kind == "update"]
    assert update.updates == "w" and update.in_place
    assert plan.bytes()[update.name] == 56
    assert "new value of w, in place" in str(update)
    assert plan.peak(np.ones(3)) < 56 + 64 + 64
    g = aesara.function([x], (x * w.sum()).sum(), updates=[(w, w[::-1])])
    (update,) = [b for b in aesara.memory_plan(g).buffers if b.kind == "update"]
    assert not update.in_place
    assert aesara.memory_plan(g).peak(np.ones(3)) >= 56


def test_new_values_have_the_nodes_that_make_them():
    """Also where the order of the writes follows from what is updated in place."""
    row, sums = aesara.shared(np.ones((7, 7)), name="row"), aesara.shared(np.ones(7), name="sums")
    x = at.dvector("x")
    f = aesara.function([x], [], updates=[(row, at.set_subtensor(row[0], x)), (sums, at.cumsum(sums))])
    updates = [b for b in aesara.memory_plan(f).buffers if b.kind == "update"]
    makers = {b.updates: [type(one.node.op).__name__ for one in b.nodes] for b in updates}
    assert makers == {"row": ["IncSubtensor"], "sums": ["CumOp"]}


def test_lent_results():
    x = at.dvector("x")
    own, lent = aesara.memory_plan(aesara.function([x], [x + 1, aesara.Out(x * 2, borrow=True)])).buffers
    assert not own.lent and lent.lent
    assert "returned, lent" in str(lent) and "lent" not in str(own)


def test_loops():
    xs = at.dmatrix("xs")
    w = aesara.shared(np.eye(3))
    states, _ = aesara.scan(lambda row, state: at.tanh(state @ w + row), sequences=xs, outputs_info=at.zeros(3))
    f = aesara.function([xs], states)
    plan, steps = aesara.memory_plan(f), aesara.explain(f).steps
    assert plan.steps == len(steps)
    (loop,) = [k for k, step in enumerate(steps, 1) if step.kind == "loop"]
    assert any(b.first <= loop <= b.last and b.kind == "workspace" for b in plan.buffers)
    assert plan.peak(np.ones((10, 3))) >= f(np.ones((10, 3))).nbytes


def test_sizes_that_depend_on_values():
    v = at.dvector("v")
    plan = aesara.memory_plan(aesara.function([v], at.exp(v[v > 0])))
    assert plan.unknown
    assert set(plan.unknown) < {b.name for b in plan.buffers}
    assert plan.bytes(np.broadcast_to(1.0, 10**6))[plan.unknown[0]] is None
    assert "at least" in str(plan)
    assert plan.bytes(np.array([1.0, -1.0, 2.0]))[plan.unknown[0]] == 16
    (result,) = [b for b in plan.buffers if b.kind == "result"]
    assert plan.bytes(np.array([1.0, -1.0, 2.0]))[result.name] == 16


def test_a_peak_that_does_not_follow_from_the_examples_is_refused():
    """The error names the buffer and its node."""
    v = at.dvector("v")
    plan = aesara.memory_plan(aesara.function([v], at.exp(v[v > 0]), name="positive"))
    for unknown in (np.ones(10**5), aesara.memory_plan):
        with pytest.raises((ValueError, TypeError)) as caught:
            plan.peak(unknown)
        if not callable(unknown):
            assert "positive" in str(caught.value)
            assert any(name in str(caught.value) for name in plan.unknown)
            assert "test_memory_plan.py" in str(caught.value)


x, w, n = at.dmatrix("x"), at.dscalar("w"), at.lscalar("n")


def states_of(x, w, n):
    return aesara.scan(lambda s, w: at.tanh(s * w) + 0.1, outputs_info=x, non_sequences=w, n_steps=n)[0]


def of_all(n):
    return states_of(x, w, n)


def of_last(n):
    return states_of(x, w, n)[-1]


def of_gradient(n):
    return aesara.grad(of_last(n).sum(), w)


def of_blocks(n):
    with aesara.config.change_flags(scan__checkpoint_memory=1):
        return aesara.grad(of_last(n).sum(), w)


def of_while_loop(n):
    last = while_loop(lambda s: s[1] < n, lambda s: [at.tanh(s[0] * w), s[1] + 1], [x, 0])[0]
    return aesara.grad(last.sum(), w)


@pytest.mark.parametrize("kind", [of_all, of_last, of_gradient, of_blocks, of_while_loop])
def test_peak_counts_what_depends_on_the_number_of_steps(kind):
    """Against what a call allocates; a number of steps is a value and no shape."""
    f = aesara.function([x, w, n], kind(n), on_unused_input="ignore")
    plan, given = aesara.memory_plan(f), np.ones((50, 40))
    for steps in (3, 40):
        f(given, 0.5, steps)
        f.free()
        tracemalloc.start()
        try:
            f(given, 0.5, steps)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        planned = plan.peak(given, 0.5, steps)
        assert planned <= peak <= 1.25 * planned + 4096
    few, many = (plan.peak(given, 0.5, steps) for steps in (10, 1000))
    assert many > (0.9 if kind is of_last else 4 if kind is of_blocks else 50) * few


def test_buffers_in_loops_are_as_large_as_they_become():
    """Those of short loops are found by running them; of longer ones the error says that they are not known."""
    rows, _ = aesara.scan(lambda k, w: at.sort(at.arange(k % 7) * w).sum(), at.arange(n), non_sequences=w)
    plan = aesara.memory_plan(aesara.function([n, w], rows))
    inside = [b for b in plan.buffers if b.size == "?" and b.name.startswith("l")]
    assert inside
    sizes = plan.bytes(10, 2.0)
    assert [sizes[b.name] for b in inside] == [48] * len(inside)
    with pytest.raises(ValueError, match="not known before a call"):
        plan.peak(10**6, 2.0)


@pytest.mark.parametrize(
    "length, known",
    [
        (lambda n: n * n - 1, 24),
        (lambda n: at.maximum(n // 2, n % 3), 2),
        (lambda n: at.bitwise_xor(n, 1), 4),
        (lambda n: at.cast(at.sqrt(n), "int64"), 2),
    ],
)
def test_sizes_that_follow_from_shapes(length, known):
    """Those that kernels compute have numbers, too."""
    v = at.dvector("v")
    f = aesara.function([v], at.exp(at.arange(length(v.shape[0])) + v.sum()))
    plan = aesara.memory_plan(f)
    (result,) = (b for b in plan.buffers if b.kind == "result")
    assert plan.bytes(np.ones(5))[result.name] == 8 * known
    assert known == f(np.ones(5)).size


def test_nodes_in_python():
    @as_op([at.dvector], [at.dvector])
    def turned(value):
        return value[::-1].copy()

    v = at.dvector("v")
    f = aesara.function([v], at.exp(turned(at.exp(v))))
    plan = aesara.memory_plan(f)
    assert kinds(plan) == ["workspace", "python", "result"]
    assert "turned" in str(plan.buffers[1])


def test_complex_arrays():
    z = at.zvector("z")
    plan = aesara.memory_plan(aesara.function([z], at.exp(z)))
    (result,) = plan.buffers
    assert result.dtype == "complex128" and result.shape == ("z.shape[0]",)
    assert result.nodes
    assert plan.peak(np.ones(4, dtype="complex128")) == 64


def test_static_shapes_need_no_example():
    x = at.tensor("float32", (4, 5), name="x")
    assert aesara.memory_plan(aesara.function([x], x * 2)).peak() == 80
    assert aesara.memory_plan(aesara.function([], [])).peak() == 0


def test_empty_arrays(chain):
    assert aesara.memory_plan(chain).peak(np.empty((0, 0))) == aesara.memory_plan(chain).workspace(np.empty((0, 0)))


def test_refusals(chain):
    x = at.dvector("x")
    with pytest.raises(ValueError, match="node by node"):
        aesara.memory_plan(aesara.function([x], x + 1, mode="FAST_COMPILE"))
    with pytest.raises(TypeError, match="compiled function"):
        aesara.memory_plan(x)
    with pytest.raises(TypeError, match="example for each of x"):
        aesara.memory_plan(chain, np.eye(2), np.eye(2))
    with pytest.raises(TypeError, match="dimensions"):
        aesara.memory_plan(chain, np.ones(3))


def test_numbers_in_the_text():
    x = at.dmatrix("x")
    f = aesara.function([x], [at.exp(x), at.log(x), at.ones((2, 3)) * x.sum(), x[:1] * 2], name="f")
    area, row = "8 * x.shape[0] * x.shape[1]", "8 * min(x.shape[0], 1) * x.shape[1]"
    head, peak, *rows = str(aesara.memory_plan(f)).split("\n")
    assert head == "f: 5 buffers in 3 steps, those in between in 1 place of the workspace"
    assert peak == f"peak: 2 * {area} + {row} + 56 bytes, of which workspace 8"  # 56: the sum, and 2 * 3 numbers
    sizes = [area, area, "8", "48", row]
    assert [re.search(r"\]\s+(.*?) bytes ", one)[1] for one in rows] == sizes
    assert len({one.index(" bytes") - len(size) for one, size in zip(rows, sizes)}) == 1  # columns are aligned
    assert len({one.index("step") for one in rows}) == 1
    plan = aesara.memory_plan(f, np.ones((10, 3)))
    head, peak, *rows = str(plan).split("\n")
    assert peak == f"peak: {plan.peak()} bytes, of which workspace 64"
    assert plan.peak() == 240 + 240 + 48 + 24 + 64  # a workspace has whole cache lines
    assert [re.search(r"\]\s+(.*?) bytes ", one)[1] for one in rows] == ["240", "240", "8", "48", "24"]
    assert len({one.index("step") for one in rows}) == 1
