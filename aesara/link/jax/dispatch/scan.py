"""Conversion of `Scan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import (
    NEVER_FOLDED,
    ConvertedGraph,
    SizeUnknown,
    as_strong,
    is_known,
    jax_funcify,
    known_ints,
    require,
    require_known,
)
from aesara.records import dataclass
from aesara.scan.op import Scan

NEVER_FOLDED.add(Scan)

#: states with at most this many live rows are carried as separate values, so that XLA reuses the memory of rows;
#: rows of others are stacked
LONGEST_WINDOW = 8


@jax_funcify.register(Scan)
def jax_funcify_Scan(op: Scan, node: Apply | None = None, checks: Any = None, **kwargs: Any) -> Callable[..., Any]:
    """Convert to `lax.scan`, which is differentiable, if the number of steps is known, else to `lax.while_loop`."""
    assert node is not None
    step = ConvertedGraph(op.inner_inputs, op.inner_outputs, None, checks=checks, **kwargs)
    return lambda *inputs: _Loop(op, node, step, checks, inputs).run()


@dataclass(frozen=True)
class _Rows:
    """The rows of a state or result, which each step appends to.

    Attributes
    ----------
    first
        Number of rows before the first step.
    length
        Number of rows of the result, which are the last ones.
    kind
        Type of a row.
    rows
        Initial rows, or None.
    """

    first: int
    length: int
    kind: Any
    rows: Any

    @property
    def window(self) -> int:
        """The number of rows that the loop carries."""
        return max(self.first, self.length)


class _Loop:
    """A loop with given inputs."""

    def __init__(self, op: Scan, node: Apply, step: ConvertedGraph, checks: Any, inputs: Sequence[Any]) -> None:
        self.op, self.info, self.node, self.step, self.checks = op, op.info, node, step, checks
        self.n_steps = int(inputs[0]) if is_known(inputs[0]) else inputs[0]
        require(checks, self.n_steps >= 0, ValueError, f"{op.title}: the number of steps must not be negative.", node)
        self.sequences = [jnp.asarray(sequence) for sequence in op.outer_seqs(inputs)]
        for k, sequence in enumerate(self.sequences):
            message = f"{op.title}: sequence {k} has {len(sequence)} entries, and there are more steps."
            require(checks, self.n_steps <= len(sequence), ValueError, message, node)
        taps = op.info.tap_array
        self.mit_mot = [jnp.asarray(buffer) for buffer in op.outer_mitmot(inputs)]
        self.mit_mot_offsets = [
            max(0, -min((*reads, *writes))) for reads, writes in zip(taps, op.info.mit_mot_out_slices)
        ]
        buffers = op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
        new_outputs = op.inner_mitsot_outs(op.inner_outputs) + op.inner_sitsot_outs(op.inner_outputs)
        self.states = []
        for k, (buffer, new, reads) in enumerate(zip(buffers, new_outputs, taps[self.info.n_mit_mot :])):
            first = max(0, -min(reads))
            if len(buffer) < max(first, min(self.n_steps, 1) if is_known(self.n_steps) else 1):
                number = self.info.n_mit_mot + k
                raise ValueError(f"{op.title}: state {number} needs {first} first values, got {len(buffer)}.")
            self.states.append(_Rows(first, len(buffer), new.type, as_strong(buffer, new.type)))
        lengths = known_ints(op.outer_nitsot(inputs), "The number of rows of the result of scan")
        outs = op.inner_nitsot_outs(op.inner_outputs)
        self.results = [_Rows(0, length, out.type, None) for length, out in zip(lengths, outs)]
        shared = op.inner_shared_outs(op.inner_outputs)
        self.shared = [as_strong(value, out.type) for value, out in zip(op.outer_shared(inputs), shared)]
        self.constants = op.outer_non_seqs(inputs)

        for k, result in enumerate(self.results):
            message = f"{op.title}: output {k} has no room."
            require(checks, (self.n_steps <= 0) | (result.length > 0), ValueError, message, node)

    def run(self) -> tuple[Any, ...]:
        """Return the outputs of the loop."""
        if self.info.as_while or not is_known(self.n_steps):
            return self._run_while()
        return self._run_counted()

    # -- one step ------------------------------------------------------------------------------------------

    def _arguments(self, t: Any, entries: Sequence[Any], buffers: Sequence[Any], windows: Sequence[Any]) -> list[Any]:
        arguments = list(entries)
        taps = self.info.tap_array
        for buffer, reads, offset in zip(buffers, taps, self.mit_mot_offsets):
            arguments += [_row(buffer, (t + offset + tap) % len(buffer)) for tap in reads]
        for window, reads in zip(windows, taps[self.info.n_mit_mot :]):
            arguments += [window[len(window) + tap] for tap in reads]
        return arguments

    def _step(
        self, t: Any, entries: Sequence[Any], buffers: Sequence[Any], windows: Sequence[Any], shared: Sequence[Any]
    ) -> tuple[list[Any], list[Any], list[Any], Any]:
        """Run a step; return buffers, new rows of states and results, shared values, and whether to stop."""
        arguments = self._arguments(t, entries, buffers, windows)
        outputs = self.step.run([*arguments, *shared, *self.constants])
        outputs = [as_strong(value, out.type) for value, out in zip(outputs, self.op.inner_outputs)]
        stop = outputs.pop() if self.info.as_while else False
        position = 0
        new_buffers: list[Any] = []
        for buffer, writes, offset in zip(buffers, self.info.mit_mot_out_slices, self.mit_mot_offsets):
            for tap in writes:
                self._check_shape(len(new_buffers), buffer.shape[1:], outputs[position], position)
                at = (t + offset + tap) % len(buffer)
                buffer = lax.dynamic_update_index_in_dim(buffer, outputs[position], at, 0)
                position += 1
            new_buffers.append(buffer)
        count = len(self.states)
        rows = outputs[position : position + count + len(self.results)]
        for k, (window, row) in enumerate(zip(windows, rows[:count])):
            self._check_shape(self.info.n_mit_mot + k, window[0].shape, row, position + k)
        return new_buffers, rows, outputs[position + len(rows) :], stop

    def _check_shape(self, number: int, shape: tuple[int, ...], value: Any, position: int) -> None:
        if value.shape != shape:
            raise ValueError(
                f"{self.op.title}: {self.op.state_text(number)} has shape {shape}, and its new value has shape "
                f"{value.shape}{self.op.where_computed(position)}. The shape must be the same in every step."
            )

    # -- a known number of steps ---------------------------------------------------------------------------

    def _run_counted(self) -> tuple[Any, ...]:
        n = self.n_steps
        if n == 0:
            return self._no_steps()
        written = [*self.states, *self.results]
        carried = [rows.window <= LONGEST_WINDOW and rows.length < rows.first + n for rows in written]
        windows = [
            _first_window(state)[0 if keeps else state.window - state.first :]
            for state, keeps in zip(self.states, carried)
        ]
        count = len(self.states)
        kept = [
            rows if keeps else None for rows, keeps in zip(self._empty_rows(self._row_shapes(windows)), carried[count:])
        ]
        start = self.mit_mot, windows, kept, self.shared

        def body(carry: Any, entries: Any) -> Any:
            buffers, windows, kept, shared = carry
            t, *entries = entries
            buffers, rows, shared, _ = self._step(t, entries, buffers, windows, shared)
            windows = [[*window, row][1:] for window, row in zip(windows, rows)]
            kept = [None if one is None else [*one, row][1:] for one, row in zip(kept, rows[count:])]
            stacked = [None if keeps else row for row, keeps in zip(rows, carried)]
            return (buffers, windows, kept, shared), stacked

        steps = jnp.arange(n), *(sequence[:n] for sequence in self.sequences)
        (buffers, windows, kept, shared), stacked = lax.scan(body, start, steps, length=n)
        found = []
        for rows, keeps, window, ys in zip(written, carried, [*windows, *kept], stacked):
            found.append(_last(rows, window) if keeps else _all_rows(rows, ys, n))
        return *buffers, *found, *shared

    def _row_shapes(self, windows: Sequence[Any]) -> list[tuple[int, ...]]:
        """Return the shapes of the rows of results."""
        if not self.results:
            return []

        def first_step() -> list[Any]:
            entries = [jnp.zeros(sequence.shape[1:], sequence.dtype) for sequence in self.sequences]
            _, rows, _, _ = self._step(jnp.int64(0), entries, self.mit_mot, windows, self.shared)
            return rows[len(self.states) :]

        return [row.shape for row in jax.eval_shape(first_step)]

    # -- an unknown number of steps ------------------------------------------------------------------------

    def _run_while(self) -> tuple[Any, ...]:
        written = [*self.states, *self.results]
        if any(rows.length > rows.first + 1 for rows in written):
            if self.info.as_while:
                raise SizeUnknown("How many rows a loop with `until` has, of which more than the last one is read,", [])
            require_known(self.n_steps, "The number of steps of scan")
        # Without steps, a loop with a condition has fewer rows.
        if self.info.as_while and int(require_known(self.n_steps, "The number of steps of scan")) == 0:
            return self._no_steps()
        count = len(self.states)
        windows = [_first_window(state) for state in self.states]
        shapes = self._row_shapes(windows)
        kept = self._empty_rows(shapes)
        start = jnp.int64(0), jnp.bool_(False), self.mit_mot, windows, kept, self.shared

        def is_running(carry: Any) -> Any:
            t, stop, *_ = carry
            return (t < self.n_steps) & ~stop

        def body(carry: Any) -> Any:
            t, _, buffers, windows, kept, shared = carry
            entries = [_row(sequence, t) for sequence in self.sequences]
            buffers, rows, shared, stop = self._step(t, entries, buffers, windows, shared)
            windows = [[*window, row][1:] for window, row in zip(windows, rows)]
            kept = [[*one, row][1:] for one, row in zip(kept, rows[count:])]
            return t + 1, jnp.asarray(stop != 0), buffers, windows, kept, shared

        _, _, buffers, windows, kept, shared = lax.while_loop(is_running, body, start)
        has_steps = self.n_steps > 0
        states = [jnp.where(has_steps, _last(state, window), state.rows) for state, window in zip(self.states, windows)]
        results = [_last(result, rows) for result, rows in zip(self.results, kept)]
        return *buffers, *states, *results, *shared

    def _empty_rows(self, shapes: Sequence[tuple[int, ...]]) -> list[list[Any]]:
        """Return the initial values of the last rows of results."""
        pairs = zip(self.results, shapes)
        return [[jnp.zeros(shape, result.kind.dtype)] * result.length for result, shape in pairs]

    def _no_steps(self) -> tuple[Any, ...]:
        """Return the outputs without any step; a loop with a condition has only rows that steps have written."""
        shapes = self._row_shapes([_first_window(state) for state in self.states])
        lengths = [0 if self.info.as_while else result.length for result in self.results]
        results = [jnp.zeros((n, *shape), r.kind.dtype) for n, shape, r in zip(lengths, shapes, self.results)]
        states = [state.rows[: state.first] if self.info.as_while else state.rows for state in self.states]
        return *self.mit_mot, *states, *results, *self.shared


def _row(rows: Any, at: Any) -> Any:
    return lax.dynamic_index_in_dim(rows, at, 0, keepdims=False)


def _last(state: _Rows, rows: Sequence[Any]) -> Any:
    """Stack the last rows, as many as the result has."""
    return jnp.stack(rows[len(rows) - state.length :])


def _first_window(state: _Rows) -> list[Any]:
    """Return the initial rows, after padding to the number of rows that the loop carries."""
    padding = jnp.zeros(state.rows.shape[1:], state.rows.dtype)
    return [padding] * (state.window - state.first) + [state.rows[k] for k in range(state.first)]


def _all_rows(state: _Rows, stacked: Any, n_steps: int) -> Any:
    """Return the rows of a result from the stacked new rows."""
    if state.rows is None:
        rest = jnp.zeros((max(0, state.length - n_steps), *stacked.shape[1:]), stacked.dtype)
        return jnp.concatenate([stacked, rest])[-state.length or len(stacked) :]
    before, after = state.rows[: state.first], state.rows[state.first + n_steps :]
    rows = jnp.concatenate([before, stacked, after])
    return rows[len(rows) - state.length :]
