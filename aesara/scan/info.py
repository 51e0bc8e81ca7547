"""The layout of the inputs and outputs of a loop and of its step."""

from __future__ import annotations

from aesara.records import dataclass

__all__ = ["ScanInfo"]

Taps = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ScanInfo:
    """The numbers and taps of a loop's inputs and outputs, by kind.

    ========  =================================================================================
    seq       a sequence: each step gets its next entry
    mit_mot   multiple input taps, multiple output taps: a buffer of which each step reads and
              writes several rows
    mit_sot   multiple input taps, single output tap: a state of which each step reads several
              former values
    sit_sot   single input tap, single output tap: a state of which each step reads the last
              value
    nit_sot   no input tap, single output tap: an output that no step reads
    shared    a state of any type, of which only the last value is kept
    non_seq   a value that is the same in each step
    ========  =================================================================================

    Inputs of the step, in order: entries of sequences; taps of mit_mot, mit_sot and sit_sot; shared; non_seqs. Outputs
    of the step: mit_mot, mit_sot, sit_sot, nit_sot, shared, and, if `as_while`, the condition that ends the loop.
    Inputs of the loop: the number of steps; sequences; buffers of mit_mot, mit_sot and sit_sot; first values of shared;
    numbers of rows of nit_sot; non_seqs.

    Examples
    --------
    >>> info = ScanInfo(1, (), (), ((-2, -1),), ((-1,),), 1, 0, 2, False)
    >>> info.n_inner_inputs, info.n_outer_inputs, info.n_outer_outputs
    (6, 7, 3)
    """

    n_seqs: int
    mit_mot_in_slices: Taps
    mit_mot_out_slices: Taps
    mit_sot_in_slices: Taps
    sit_sot_in_slices: Taps
    n_nit_sot: int
    n_shared_outs: int
    n_non_seqs: int
    as_while: bool

    @property
    def n_mit_mot(self) -> int:
        return len(self.mit_mot_in_slices)

    @property
    def n_mit_mot_outs(self) -> int:
        return sum(map(len, self.mit_mot_out_slices))

    @property
    def n_mit_sot(self) -> int:
        return len(self.mit_sot_in_slices)

    @property
    def n_sit_sot(self) -> int:
        return len(self.sit_sot_in_slices)

    @property
    def tap_array(self) -> Taps:
        """The taps of each state that are read: mit_mot, mit_sot, then sit_sot."""
        return (*self.mit_mot_in_slices, *self.mit_sot_in_slices, *self.sit_sot_in_slices)

    @property
    def n_inner_inputs(self) -> int:
        return self.n_seqs + sum(map(len, self.tap_array)) + self.n_shared_outs + self.n_non_seqs

    @property
    def n_inner_outputs(self) -> int:
        states = self.n_mit_mot_outs + self.n_mit_sot + self.n_sit_sot
        return states + self.n_nit_sot + self.n_shared_outs + self.as_while

    @property
    def n_outer_inputs(self) -> int:
        return 1 + self.n_seqs + self.n_outer_outputs + self.n_non_seqs

    @property
    def n_outer_outputs(self) -> int:
        return self.n_mit_mot + self.n_mit_sot + self.n_sit_sot + self.n_nit_sot + self.n_shared_outs
