"""Where the kinds of a loop's inputs and outputs stand, by the names that the documentation gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.scan.info import ScanInfo

__all__ = ["Layout"]


def _cut(values: Sequence[Any], counts: Sequence[int], which: int) -> list[Any]:
    """Part number `which` of values that follow each other in parts of these lengths."""
    start = sum(counts[:which])
    return list(values[start : start + counts[which]])


class Layout:
    """Parts of the inputs and outputs of a loop (outer) and of its step (inner), given all of them."""

    info: ScanInfo

    def _inner_inputs(self, values: Sequence[Any], which: int) -> list[Any]:
        i = self.info
        taps = [sum(map(len, part)) for part in (i.mit_mot_in_slices, i.mit_sot_in_slices, i.sit_sot_in_slices)]
        return _cut(values, [i.n_seqs, *taps, i.n_shared_outs, i.n_non_seqs], which)

    def _inner_outputs(self, values: Sequence[Any], which: int) -> list[Any]:
        i = self.info
        counts = [i.n_mit_mot_outs, i.n_mit_sot, i.n_sit_sot, i.n_nit_sot, i.n_shared_outs, int(i.as_while)]
        return _cut(values, counts, which)

    def _outer_inputs(self, values: Sequence[Any], which: int) -> list[Any]:
        i = self.info
        counts = [1, i.n_seqs, i.n_mit_mot, i.n_mit_sot, i.n_sit_sot, i.n_shared_outs, i.n_nit_sot, i.n_non_seqs]
        return _cut(values, counts, which)

    def _outer_outputs(self, values: Sequence[Any], which: int) -> list[Any]:
        i = self.info
        return _cut(values, [i.n_mit_mot, i.n_mit_sot, i.n_sit_sot, i.n_nit_sot, i.n_shared_outs], which)

    @staticmethod
    def _by_state(values: Sequence[Any], taps: Sequence[Sequence[int]]) -> list[list[Any]]:
        return [_cut(values, [len(t) for t in taps], k) for k in range(len(taps))]

    # inputs of the step

    def inner_seqs(self, inner_inputs: Sequence[Any]) -> list[Any]:
        return self._inner_inputs(inner_inputs, 0)

    def inner_mitmot(self, inner_inputs: Sequence[Any]) -> list[list[Any]]:
        return self._by_state(self._inner_inputs(inner_inputs, 1), self.info.mit_mot_in_slices)

    def inner_mitsot(self, inner_inputs: Sequence[Any]) -> list[list[Any]]:
        return self._by_state(self._inner_inputs(inner_inputs, 2), self.info.mit_sot_in_slices)

    def inner_sitsot(self, inner_inputs: Sequence[Any]) -> list[Any]:
        return self._inner_inputs(inner_inputs, 3)

    def inner_shared(self, inner_inputs: Sequence[Any]) -> list[Any]:
        return self._inner_inputs(inner_inputs, 4)

    def inner_non_seqs(self, inner_inputs: Sequence[Any]) -> list[Any]:
        return self._inner_inputs(inner_inputs, 5)

    # outputs of the step

    def inner_mitmot_outs(self, inner_outputs: Sequence[Any]) -> list[list[Any]]:
        return self._by_state(self._inner_outputs(inner_outputs, 0), self.info.mit_mot_out_slices)

    def inner_mitsot_outs(self, inner_outputs: Sequence[Any]) -> list[Any]:
        return self._inner_outputs(inner_outputs, 1)

    def inner_sitsot_outs(self, inner_outputs: Sequence[Any]) -> list[Any]:
        return self._inner_outputs(inner_outputs, 2)

    def inner_nitsot_outs(self, inner_outputs: Sequence[Any]) -> list[Any]:
        return self._inner_outputs(inner_outputs, 3)

    def inner_shared_outs(self, inner_outputs: Sequence[Any]) -> list[Any]:
        return self._inner_outputs(inner_outputs, 4)

    # inputs of the loop

    def outer_seqs(self, outer_inputs: Sequence[Any]) -> list[Any]:
        return self._outer_inputs(outer_inputs, 1)

    def outer_mitmot(self, outer_inputs: Sequence[Any]) -> list[Any]:
        return self._outer_inputs(outer_inputs, 2)

    def outer_mitsot(self, outer_inputs: Sequence[Any]) -> list[Any]:
        return self._outer_inputs(outer_inputs, 3)

    def outer_sitsot(self, outer_inputs: Sequence[Any]) -> list[Any]:
        return self._outer_inputs(outer_inputs, 4)

    def outer_shared(self, outer_inputs: Sequence[Any]) -> list[Any]:
        return self._outer_inputs(outer_inputs, 5)

    def outer_nitsot(self, outer_inputs: Sequence[Any]) -> list[Any]:
        return self._outer_inputs(outer_inputs, 6)

    def outer_non_seqs(self, outer_inputs: Sequence[Any]) -> list[Any]:
        return self._outer_inputs(outer_inputs, 7)

    # outputs of the loop

    def outer_mitmot_outs(self, outer_outputs: Sequence[Any]) -> list[Any]:
        return self._outer_outputs(outer_outputs, 0)

    def outer_mitsot_outs(self, outer_outputs: Sequence[Any]) -> list[Any]:
        return self._outer_outputs(outer_outputs, 1)

    def outer_sitsot_outs(self, outer_outputs: Sequence[Any]) -> list[Any]:
        return self._outer_outputs(outer_outputs, 2)

    def outer_nitsot_outs(self, outer_outputs: Sequence[Any]) -> list[Any]:
        return self._outer_outputs(outer_outputs, 3)

    def outer_shared_outs(self, outer_outputs: Sequence[Any]) -> list[Any]:
        return self._outer_outputs(outer_outputs, 4)

    def outer_positions(self) -> tuple[list[int], list[int]]:
        """For each input of the step the loop's input that it is an entry of, and for each output the loop's output."""
        i = self.info
        inputs = list(range(1, 1 + i.n_seqs))
        for k, taps in enumerate(i.tap_array):
            inputs += [1 + i.n_seqs + k] * len(taps)
        after = 1 + i.n_seqs + len(i.tap_array)
        inputs += range(after, after + i.n_shared_outs)
        inputs += range(i.n_outer_inputs - i.n_non_seqs, i.n_outer_inputs)
        outputs = [k for k, taps in enumerate(i.mit_mot_out_slices) for _ in taps]
        outputs += range(i.n_mit_mot, i.n_outer_outputs)
        return inputs, outputs
