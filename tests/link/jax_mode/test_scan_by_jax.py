"""Loops and choices, compiled by JAX."""

import jax
import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.ifelse import ifelse
from aesara.link.jax.dispatch import jax_funcify
from aesara.raise_op import Assert
from aesara.scan import scan
from aesara.scan.utils import until
from tests.scan.test_random_loops import Program


def both(inputs, outputs, *values):
    """The results of JAX, after comparing them with those of the reference."""
    got = aesara.function(inputs, outputs, mode="JAX", on_unused_input="ignore")(*values)
    want = aesara.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")(*values)
    for one, other in zip(got, want, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    return got


def text_of(inputs, outputs, *values):
    """Return the jaxpr of a graph without rewriting."""
    return str(jax.make_jaxpr(jax_funcify(FunctionGraph(inputs, outputs)))(*values))


X, A, N = at.dvector("x"), at.dscalar("a"), at.iscalar("n")


def test_states_sequences_and_outputs():
    def step(one, two, back, before, a):
        return a * back + one * two, before + back, one - two

    (s, t, u), _ = scan(step, [X, X[::-1]], [{"initial": X[:2], "taps": [-2]}, at.zeros(()), None], non_sequences=A)
    both([X, A], [s, t, u, s[-1], t[-3:], u[::-2]], np.arange(6.0), 0.5)


@pytest.mark.parametrize("kept", [1, 2, 9, 12])
def test_the_last_rows(kept):
    s, _ = scan(lambda t, state: state * 0.9 + t, at.arange(20.0), at.zeros(3))
    assert both([A], [s[-kept:] * A], 2.0)[0].shape == (kept, 3)


def test_only_the_rows_that_are_read_are_kept():
    s, _ = scan(lambda state: state * 0.5, outputs_info=X, n_steps=1000)
    f = aesara.function([X], s[-1], mode="JAX")
    text = str(jax.make_jaxpr(lambda x: f.vm.jit_fn.graph.run([x]))(np.ones(3)))
    assert "1000,3]" not in text and "1001,3]" not in text
    np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 0.5**1000))


def test_a_number_of_steps_that_is_an_input():
    s, _ = scan(lambda state: state + 1, outputs_info=A, n_steps=N)
    f = aesara.function([A, N], [s, s[-1]], mode="JAX")
    for n in (3, 1):
        rows, last = f(0.5, n)
        np.testing.assert_array_equal(rows, 0.5 + np.arange(1, n + 1))
        assert float(last) == 0.5 + n


def test_no_steps():
    s, _ = scan(lambda x, state: state + x, X, at.zeros(()))
    t, _ = scan(lambda x: x * 2, X)
    both([X], [s, t], np.zeros(0))


def test_a_negative_number_of_steps():
    s, _ = scan(lambda state: state + 1, outputs_info=A, n_steps=N)
    with pytest.raises(ValueError, match="negative"):
        aesara.function([A, N], s.sum(), mode="JAX")(0.0, -1)


def test_backwards_truncated_and_with_gradients():
    s, _ = scan(lambda x, state, a: at.tanh(a * state + x), X, at.zeros(()), non_sequences=A, go_backwards=True)
    t, _ = scan(lambda x, state, a: a * state + x, X, at.zeros(()), non_sequences=A, truncate_gradient=2)
    cost = (s**2).sum() + t[-1]
    slopes = aesara.grad(cost, [X, A])
    both([X, A], [cost, *slopes, aesara.grad(slopes[1], A)], np.linspace(-1, 1, 7), 0.7)


def test_jax_differentiates_loops():
    s, _ = scan(lambda x, state, a: at.tanh(a * state + x), X, at.zeros(()), non_sequences=A)
    cost = (s**2).sum()
    given = np.linspace(-1, 1, 7), 0.7
    f = jax_funcify(FunctionGraph([X, A], [cost]))
    ours = aesara.function([X, A], aesara.grad(cost, [X, A]))(*given)
    for one, other in zip(jax.grad(lambda x, a: f(x, a)[0], (0, 1))(*given), ours):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_loop_that_ends_early():
    def step(total, x):
        return total + x, until(total + x > 3)

    s, _ = scan(step, outputs_info=at.zeros(()), non_sequences=A, n_steps=100)
    for a in (1.0, 0.25, 5.0, 0.01):
        both([A], [s[-1]], a)


def test_all_rows_of_a_loop_that_ends_early_are_refused():
    s, _ = scan(lambda t: (t + 1, until(t > 3)), outputs_info=at.zeros(()), n_steps=100)
    f = aesara.function([], s, mode="JAX")
    with pytest.raises(TypeError, match=r"How many rows a loop with `until` has(.|\n)*test_scan_by_jax.py"):
        f()


def test_loops_in_loops():
    def outer(row, total):
        s, _ = scan(lambda x, state: state * 0.5 + x, row, total)
        return s[-1]

    m = at.dmatrix("m")
    s, _ = scan(outer, m, at.zeros(()))
    both([m], [s, aesara.grad(s.sum(), m)], np.arange(12.0).reshape(3, 4))


def test_a_state_whose_shape_changes():
    s, _ = scan(lambda state: at.concatenate([state, state]), outputs_info=at.unbroadcast(X, 0), n_steps=2)
    with pytest.raises(
        ValueError, match=r"aesara.scan: state 0 \(x\) has shape \(2,\), and its new value has shape \(4,\)"
    ):
        aesara.function([X], s, mode="JAX")(np.ones(2))


def test_a_sequence_that_is_too_short():
    s, _ = scan(lambda x: x + 1, X, n_steps=N)
    with pytest.raises(ValueError, match="fewer entries|has 2 entries"):
        aesara.function([X, N], s, mode="JAX")(np.ones(2), 3)


def test_a_check_in_a_step():
    checked = Assert("x is negative")
    s, _ = scan(lambda x, state: state + checked(x, x >= 0), X, at.zeros(()))
    f = aesara.function([X], s[-1], mode="JAX")
    assert float(f([1.0, 2.0])) == 3.0
    with pytest.raises(AssertionError, match="x is negative"):
        f([1.0, -2.0])


def test_updates_of_shared_variables_in_a_loop():
    state = aesara.shared(1.0)
    s, updates = scan(lambda: (state * 2, {state: state + 1}), n_steps=3)
    f = aesara.function([], s, updates=updates, mode="JAX")
    np.testing.assert_array_equal(f(), [2.0, 4.0, 6.0])
    assert float(state.get_value()) == 4.0


def test_a_choice_computes_one_side():
    checked = Assert("not this side")(X, at.all(X > 0)).sum()
    f = aesara.function([N, X], ifelse(N, checked, X.min() * 2), mode="JAX")
    assert float(f(0, [-1.0, 2.0])) == -2.0
    assert float(f(1, [1.0, 2.0])) == 3.0
    with pytest.raises(AssertionError, match="not this side"):
        f(1, [-1.0, 2.0])
    assert "cond" in text_of([N, X], [ifelse(N, X.sum(), X.min())], 1, np.ones(2))


def test_a_choice_of_different_shapes():
    f = aesara.function([N, X], ifelse(N, X, X[:1]), mode="JAX")
    np.testing.assert_array_equal(f(1, np.arange(3.0)), np.arange(3.0))
    np.testing.assert_array_equal(f(0, np.arange(3.0)), [0.0])


def test_choices_in_choices_and_gradients():
    inner = ifelse(at.gt(A, 1), (X**2).sum(), X.sum())
    outer = ifelse(N, inner * 2, at.exp(X).sum())
    slope = aesara.grad(outer, X)
    for n in (0, 1):
        for a in (0.5, 2.0):
            both([N, X, A], [outer, slope], n, np.arange(3.0), a)


def test_a_choice_of_several_values():
    one, two = ifelse(at.lt(A, 0), [X, X.sum()], [X * 2, X.prod()])
    for a in (-1.0, 1.0):
        both([X, A], [one, two + one.sum()], np.arange(1.0, 4.0), a)


def test_printing(capsys):
    shown = aesara.printing.Print("here")(X * 2)
    assert float(aesara.function([X], shown.sum(), mode="JAX")(np.ones(2))) == 4.0
    jax.effects_barrier()
    assert "here __str__ = [2. 2.]" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(24))
def test_random_loops(seed):
    program = Program(seed)
    outputs = list(program.outputs)
    if program.ends_early:
        outputs = [out[-1] for out in outputs] if program.n_steps else []
    elif seed % 3:
        outputs += aesara.grad(program.cost(), program.inputs, disconnected_inputs="ignore")
    both(program.inputs, outputs, *program.values)
