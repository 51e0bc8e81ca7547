"""Access to inputs and outputs of loops by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from aesara.scan.info import ScanInfo

__all__ = ["ScanMethodsMixin"]

#: variables, or their values
T = TypeVar("T")


def _section(values: Sequence[T], counts: Sequence[int], which: int) -> list[T]:
    """Return section `which` of a list of consecutive sections with the given lengths."""
    start = sum(counts[:which])
    return list(values[start : start + counts[which]])


class ScanMethodsMixin:
    """Selects inputs and outputs of a loop (outer) and of its step (inner) by kind."""

    info: ScanInfo

    def _inner_inputs(self, values: Sequence[T], which: int) -> list[T]:
        i = self.info
        taps = [sum(map(len, part)) for part in (i.mit_mot_in_slices, i.mit_sot_in_slices, i.sit_sot_in_slices)]
        return _section(values, [i.n_seqs, *taps, i.n_shared_outs, i.n_non_seqs], which)

    def _inner_outputs(self, values: Sequence[T], which: int) -> list[T]:
        i = self.info
        counts = [i.n_mit_mot_outs, i.n_mit_sot, i.n_sit_sot, i.n_nit_sot, i.n_shared_outs, int(i.as_while)]
        return _section(values, counts, which)

    def _outer_inputs(self, values: Sequence[T], which: int) -> list[T]:
        i = self.info
        counts = [1, i.n_seqs, i.n_mit_mot, i.n_mit_sot, i.n_sit_sot, i.n_shared_outs, i.n_nit_sot, i.n_non_seqs]
        return _section(values, counts, which)

    def _outer_outputs(self, values: Sequence[T], which: int) -> list[T]:
        i = self.info
        return _section(values, [i.n_mit_mot, i.n_mit_sot, i.n_sit_sot, i.n_nit_sot, i.n_shared_outs], which)

    @staticmethod
    def _by_state(values: Sequence[T], taps: Sequence[Sequence[int]]) -> list[list[T]]:
        return [_section(values, [len(t) for t in taps], k) for k in range(len(taps))]

    # inputs of the step

    def inner_seqs(self, inner_inputs: Sequence[Any]) -> list[Any]:
        return self._inner_inputs(inner_inputs, 0)

    def inner_mitmot(self, inner_inputs: Sequence[T]) -> list[list[T]]:
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

    def inner_mitmot_outs(self, inner_outputs: Sequence[T]) -> list[list[T]]:
        return self._by_state(self._inner_outputs(inner_outputs, 0), self.info.mit_mot_out_slices)

    def inner_mitsot_outs(self, inner_outputs: Sequence[Any]) -> list[Any]:
        return self._inner_outputs(inner_outputs, 1)

    def inner_sitsot_outs(self, inner_outputs: Sequence[Any]) -> list[Any]:
        return self._inner_outputs(inner_outputs, 2)

    def inner_nitsot_outs(self, inner_outputs: Sequence[Any]) -> list[Any]:
        return self._inner_outputs(inner_outputs, 3)

    def inner_shared_outs(self, inner_outputs: Sequence[T]) -> list[T]:
        return self._inner_outputs(inner_outputs, 4)

    # inputs of the loop

    def outer_seqs(self, outer_inputs: Sequence[Any]) -> list[Any]:
        return self._outer_inputs(outer_inputs, 1)

    def outer_mitmot(self, outer_inputs: Sequence[T]) -> list[T]:
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

    def outer_mitmot_outs(self, outer_outputs: Sequence[T]) -> list[T]:
        return self._outer_outputs(outer_outputs, 0)

    def outer_mitsot_outs(self, outer_outputs: Sequence[T]) -> list[T]:
        return self._outer_outputs(outer_outputs, 1)

    def outer_sitsot_outs(self, outer_outputs: Sequence[Any]) -> list[Any]:
        return self._outer_outputs(outer_outputs, 2)

    def outer_nitsot_outs(self, outer_outputs: Sequence[T]) -> list[T]:
        return self._outer_outputs(outer_outputs, 3)

    def outer_shared_outs(self, outer_outputs: Sequence[T]) -> list[T]:
        return self._outer_outputs(outer_outputs, 4)

    def outer_positions(self) -> tuple[list[int], list[int]]:
        """Return, for each input of the step, the position of the loop's input, and the same for outputs."""
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

    def get_oinp_iinp_iout_oout_mappings(self) -> dict[str, dict[int, Any]]:
        """Return the correspondence of inputs and outputs of the loop (outer) and of its step (inner), by positions.

        Returns
        -------
        dict
            A dictionary for each direction.  Values are lists of positions in ``inner_inp_from_outer_inp``,
            ``inner_out_from_outer_inp``, ``inner_out_from_inner_inp``, ``inner_inp_from_inner_out``,
            ``inner_inp_from_outer_out`` and ``inner_out_from_outer_out``, and single positions in the others, -1 if
            there is none.

        Examples
        --------
        >>> import aesara, aesara.tensor as at
        >>> sums, _ = aesara.scan(lambda entry, total: entry + total, at.dvector("x"), 0.0)
        >>> mappings = sums.owner.inputs[0].owner.op.get_oinp_iinp_iout_oout_mappings()
        >>> mappings["inner_inp_from_outer_inp"], mappings["outer_inp_from_outer_out"]
        ({0: [], 1: [0], 2: [1]}, {0: 2})
        """
        outer_of_inner_inp, outer_of_inner_out = self.outer_positions()
        i = self.info
        states = i.n_mit_mot + i.n_mit_sot + i.n_sit_sot
        first = 1 + i.n_seqs
        of_results = range(first + states + i.n_shared_outs, first + states + i.n_shared_outs + i.n_nit_sot)
        of_shared = range(first + states, first + states + i.n_shared_outs)
        outer_inp_of_out = dict(enumerate([*range(first, first + states), *of_results, *of_shared]))
        outer_out_of_inp = {inp: out for out, inp in outer_inp_of_out.items()}
        outer_inputs = range(i.n_outer_inputs)
        inner_inp_of_inp = {k: [j for j, o in enumerate(outer_of_inner_inp) if o == k] for k in outer_inputs}
        inner_out_of_out = {k: [j for j, o in enumerate(outer_of_inner_out) if o == k] for k in outer_inp_of_out}
        out_of_inp = {k: outer_out_of_inp.get(k, -1) for k in outer_inputs}
        inner_inp_of_out = {k: inner_inp_of_inp[inp] for k, inp in outer_inp_of_out.items()}
        return {
            "outer_inp_from_outer_out": outer_inp_of_out,
            "inner_inp_from_outer_out": inner_inp_of_out,
            "inner_out_from_outer_out": inner_out_of_out,
            "inner_inp_from_outer_inp": inner_inp_of_inp,
            "inner_out_from_outer_inp": {k: inner_out_of_out.get(out, []) for k, out in out_of_inp.items()},
            "outer_out_from_outer_inp": out_of_inp,
            "outer_inp_from_inner_inp": dict(enumerate(outer_of_inner_inp)),
            "inner_out_from_inner_inp": {
                j: inner_out_of_out.get(out_of_inp[o], []) for j, o in enumerate(outer_of_inner_inp)
            },
            "outer_out_from_inner_inp": {j: out_of_inp[o] for j, o in enumerate(outer_of_inner_inp)},
            "outer_inp_from_inner_out": {j: outer_inp_of_out[o] for j, o in enumerate(outer_of_inner_out)},
            "inner_inp_from_inner_out": {j: inner_inp_of_out[o] for j, o in enumerate(outer_of_inner_out)},
            "outer_out_from_inner_out": dict(enumerate(outer_of_inner_out)),
        }
