"""The reference implementation of loops, in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["Run"]


class Run:
    """One run of a loop."""

    def __init__(self, op: Any, inputs: Sequence[Any]):
        self.op, self.info = op, op.info
        self.n_steps = int(inputs[0])
        if self.n_steps < 0:
            raise ValueError(f"{op.title}: the number of steps must not be negative, got {self.n_steps}.")
        self.sequences = op.outer_seqs(inputs)
        for k, sequence in enumerate(self.sequences):
            if len(sequence) < self.n_steps:
                raise ValueError(
                    f"{op.title}: sequence {k} has {len(sequence)} entries, {self.n_steps} steps need as many."
                )
        buffers = op.outer_mitmot(inputs) + op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
        self.buffers = [buffer if k in op.destroy_map else np.array(buffer) for k, buffer in enumerate(buffers)]
        kinds = [variable.type for variable in op.inner_shared(op.inner_inputs)]
        self.shared = [
            kind.copy_value(value) if kind.restorable else value for kind, value in zip(kinds, op.outer_shared(inputs))
        ]
        self.lengths = [int(n) for n in op.outer_nitsot(inputs)]
        self.results: list[Any] = [None] * len(self.lengths)
        self.constants = op.outer_non_seqs(inputs)
        self.offsets = [max(0, -min(taps)) for taps in self._all_taps()]
        self.steps_done = 0

    def _all_taps(self) -> list[tuple[int, ...]]:
        info = self.info
        outs = [*info.mit_mot_out_slices, *[()] * (info.n_mit_sot + info.n_sit_sot)]
        return [(*taps, *out) for taps, out in zip(info.tap_array, outs)]

    def values(self) -> list[Any]:
        for k, (buffer, offset) in enumerate(zip(self.buffers, self.offsets)):
            if len(buffer) < max(offset, min(self.n_steps, 1)):
                raise ValueError(f"{self.op.title}: state {k} needs {offset} first values, got {len(buffer)}.")
        for k, length in enumerate(self.lengths):
            if length < min(self.n_steps, 1):
                raise ValueError(f"{self.op.title}: output {k} has room for {length} values.")
        done = False
        while self.steps_done < self.n_steps and not done:
            done = self._step(self.steps_done)
            self.steps_done += 1
        return self._states() + self._results() + self.shared

    def _step(self, t: int) -> bool:
        info = self.info
        arguments = [sequence[t, ...] for sequence in self.sequences]
        for buffer, taps, offset in zip(self.buffers, info.tap_array, self.offsets):
            arguments += [buffer[(t + offset + tap) % len(buffer), ...] for tap in taps]
        outputs = list(self.op.fn(*arguments, *self.shared, *self.constants))
        stop = bool(outputs.pop()) if info.as_while else False
        position = 0
        for k, (buffer, offset) in enumerate(zip(self.buffers, self.offsets)):
            for tap in info.mit_mot_out_slices[k] if k < info.n_mit_mot else (0,):
                self._put_state(k, (t + offset + tap) % len(buffer), outputs[position], position)
                position += 1
        for k, length in enumerate(self.lengths):
            self._put_result(k, t % length, np.asarray(outputs[position]), position)
            position += 1
        self.shared = outputs[position:]
        return stop

    def _put_state(self, k: int, at: int, value: Any, position: int) -> None:
        row = self.buffers[k].shape[1:]
        if np.shape(value) != row:
            raise ValueError(
                f"{self.op.title}: {self.op.state_text(k)} has shape {row}, and its new value has shape "
                f"{np.shape(value)}{self.op.where_computed(position)}. The shape must be the same in every step."
            )
        self.buffers[k][at] = value

    def _put_result(self, k: int, at: int, value: Any, position: int) -> None:
        if self.results[k] is None:
            self.results[k] = np.zeros((self.lengths[k], *value.shape), value.dtype)
        if value.shape != self.results[k].shape[1:]:
            raise ValueError(
                f"{self.op.title}: output {k} has shape {self.results[k].shape[1:]} in the first step, and shape "
                f"{value.shape} in a later one{self.op.where_computed(position)}. The shape must be the same in every "
                "step."
            )
        self.results[k][at] = value

    def _states(self) -> list[np.ndarray]:
        """Return buffers in order of time; short ones are ring buffers."""
        result = []
        for k, (buffer, offset) in enumerate(zip(self.buffers, self.offsets)):
            written = offset + self.steps_done
            if k < self.info.n_mit_mot:
                result.append(buffer)
            elif written > len(buffer):
                result.append(np.roll(buffer, -(written % len(buffer)), axis=0))
            else:
                result.append(buffer[:written] if self.info.as_while else buffer)
        return result

    def _empty_results(self) -> list[np.ndarray]:
        """Return results without rows for loops without steps; the shapes of rows are those of outputs of the step."""
        rows = [np.zeros(s.shape[1:], s.dtype) for s in self.sequences]
        for buffer, taps in zip(self.buffers, self.info.tap_array):
            rows += [np.zeros(buffer.shape[1:], buffer.dtype)] * len(taps)
        shapes = self.op.shapes_fn(*rows, *self.shared, *self.constants)
        types = self.op.inner_nitsot_outs([v.type for v in self.op.inner_outputs])
        lengths = [0] * len(shapes) if self.info.as_while else self.lengths
        return [np.zeros((n, *shape), kind.dtype) for n, shape, kind in zip(lengths, shapes, types)]

    def _results(self) -> list[np.ndarray]:
        if self.results and not self.steps_done:
            return self._empty_results()
        result = []
        for rows, length in zip(self.results, self.lengths):
            if self.steps_done > length:
                rows = np.roll(rows, -(self.steps_done % length), axis=0)
            result.append(rows[: self.steps_done] if self.info.as_while else rows)
        return result
