"""Loops that keep every so many states, against the same loops in Python."""

import itertools

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.scan.checkpoints import scan_checkpoints

x, y, s, w, n = at.dmatrix("x"), at.dmatrix("y"), at.dvector("s"), at.dscalar("w"), at.lscalar("n")


def kept_in_python(rows, state, factor, steps, every, padding):
    """The states after every so many steps; rows behind the last one are zeros."""
    states = []
    if rows:
        rows = [v[:steps] for v in rows]
        steps = -(-steps // every) * every if padding else steps // every * every
    for t in range(steps):
        entries = [v[t] if t < len(v) else np.zeros(2) for v in rows]
        state = factor * state + sum(entries) + 1
        states.append(state)
    if not rows and steps % every:
        return np.array(states[every - 1 :: every] + states[-1:]).reshape(-1, 2)
    return np.array(states[every - 1 :: every]).reshape(-1, 2)


@pytest.mark.parametrize("sequences", [None, [], x, [x], (x, y)], ids=["none", "empty", "one", "list", "tuple"])
@pytest.mark.parametrize("padding", [True, False])
@pytest.mark.parametrize("gives_steps", [True, False])
def test_states_that_are_kept(sequences, padding, gives_steps):
    several = list(sequences) if isinstance(sequences, (list, tuple)) else [x] * (sequences is not None)
    if not several and not gives_steps:
        with pytest.raises(ValueError, match="give n_steps"):
            scan_checkpoints(lambda s, w: w * s + 1, sequences, s, w)
        return
    for every in (1, 2, 3, 10):
        kept, updates = scan_checkpoints(
            lambda *given: given[-1] * given[-2] + sum(given[:-2]) + 1, sequences, s, w,
            n_steps=n if gives_steps else None, save_every_N=every, padding=padding,
        )  # fmt: skip
        assert not updates
        f = aesara.function([x, y, s, w, n], [kept, aesara.grad(kept.sum(), s)], on_unused_input="ignore")
        for length, steps in itertools.product((0, 1, 4, 6), (0, 1, 3, 4, 6)):
            if (steps > length and several) or (steps and not gives_steps):
                continue
            taken = steps if gives_steps else length
            rows = [np.linspace(-1, 1, length * 2).reshape(length, 2) * k for k in (1, 3)]
            start = np.array([0.5, -2.0])
            got, slope = f(*rows, start, 0.5, steps)
            want = kept_in_python(rows[: len(several)], start, 0.5, taken, every, padding)
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-14)
            higher = kept_in_python(rows[: len(several)], start + 1, 0.5, taken, every, padding)
            np.testing.assert_allclose(slope, (higher - want).sum(axis=0), rtol=1e-12, atol=1e-13)


def test_several_states_and_constants():
    first = [s, s * 2]
    for constants in ([w, s], (w, s)):
        kept, _ = scan_checkpoints(
            lambda e, p, q, w, s: [p + w * e, q + p * s], x, first, constants, save_every_N=2, padding=False
        )
        got = aesara.function([x, s, w], kept)(np.arange(10.0).reshape(5, 2), [1.0, -1.0], 3.0)
        p, q, states = np.array([1.0, -1.0]), np.array([2.0, -2.0]), []
        for e in np.arange(10.0).reshape(5, 2):
            p, q = p + 3 * e, q + p * [1.0, -1.0]
            states.append([p, q])
        for k in range(2):
            np.testing.assert_allclose(got[k], [state[k] for state in states[1::2]], rtol=1e-14)


@pytest.mark.parametrize("first", [[None], [s, None], {"initial": s}, [{"initial": x, "taps": [-2, -1]}]], ids=str)
def test_every_output_needs_a_first_value(first):
    with pytest.raises(RuntimeError, match="needs a first value for every output, and takes no taps"):
        scan_checkpoints(lambda e, *given: given[0] + e, x, first)


@pytest.mark.parametrize("every", [0, -1])
def test_a_block_has_steps(every):
    with pytest.raises(ValueError, match=f"must be at least 1, got {every}"):
        scan_checkpoints(lambda e, s: s + e, x, s, save_every_N=every)
