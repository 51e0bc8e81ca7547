"""Loops under construction: the parts of a loop by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from aesara.configdefaults import config
from aesara.graph.cloning import clone_replace
from aesara.graph.equality import equal_computations
from aesara.graph.nodes import Constant, Variable
from aesara.graph.utils import TestValueError
from aesara.records import dataclass
from aesara.scan.info import ScanInfo
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.tensor_type import DenseTensorType
from aesara.tensor.creation.allocation import AllocEmpty
from aesara.tensor.elementwise.ops import add
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.specify_shape import Unbroadcast

__all__ = [
    "LoopParts",
    "State",
    "expand_empty",
    "expansion_of",
    "is_exact",
    "is_for_each_step",
    "last_value",
    "take_first_row",
    "take_test_value",
    "with_known_rows",
    "with_rows",
]


def expand_empty(tensor_var: Any, size: object) -> Variable:
    """Append `size` uninitialized rows to a tensor.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> expand_empty(at.matrix("first"), 3).type.ndim
    2
    """
    # One `shape` per size, as in Aesara 2.9.4; they are merged later.
    rows, *rest = [tensor_var.shape[k] if known is None else known for k, known in enumerate(tensor_var.type.shape)]
    longer = AllocEmpty(tensor_var.type.dtype)(add(size, rows), *rest)
    return set_subtensor(longer[:rows], tensor_var)


def take_test_value(variable: Variable, outer: Any, row: int | None = None) -> None:
    """Set the test value of a variable of the step to that of a variable of the loop, or to a row of it.

    Does nothing if test values are not in use or if there is none; the op that needs the value raises the error.
    """
    if config.compute_test_value == "off":
        return
    try:
        value = outer.get_test_value()
        variable.tag.test_value = value if row is None else value[row]
    except (TestValueError, IndexError):
        pass


def take_first_row(variable: Variable, rows: object) -> None:
    """Set the test value of a variable of the step to the first row of that of a sequence; see `take_test_value`."""
    take_test_value(variable, rows, 0)


def expansion_of(buffer: Any) -> tuple[Any, Any] | None:
    """Return the tensor and the total number of rows if `buffer` is a result of `expand_empty`, else None."""
    node = buffer.owner
    if node is None or not isinstance(node.op, IncSubtensor) or not node.op.set_instead_of_inc:
        return None
    base, value = node.inputs[:2]
    if base.owner is None or not isinstance(base.owner.op, AllocEmpty) or value.type.ndim != buffer.type.ndim:
        return None
    (index, *rest) = node.op.idx_list
    is_leading = not rest and isinstance(index, slice) and index.start is None and index.step is None
    return (value, base.owner.inputs[0]) if is_leading else None


def with_known_rows(first: Variable) -> Variable:
    """Return first values without `unbroadcast`, which hides that there is a single row."""
    node = first.owner
    return node.inputs[0] if node is not None and isinstance(node.op, Unbroadcast) else first


def last_value(output: Any) -> Variable:
    """Return the last row of an output of `scan`; outputs that are no dense tensors are last values themselves."""
    return output[-1] if isinstance(output.type, DenseTensorType) else output


def with_rows(buffer: Any, rows: Any) -> Variable:
    """Return a buffer built by `expand_empty` with another number of rows."""
    node = buffer.owner
    empty, *rest = node.inputs
    return node.op(empty.owner.op(rows, *empty.owner.inputs[1:]), *rest)


def is_for_each_step(length: Any, depth: int, n_steps: object) -> bool:
    """Return whether a length is known to equal ``depth + n_steps``."""
    if isinstance(length, Constant) and isinstance(n_steps, Constant):
        return int(length.data) == depth + int(n_steps.data)
    node = length.owner
    if node is None or node.op != add or len(node.inputs) != 2:
        return length is n_steps and not depth
    return n_steps in node.inputs and any(known_integer(v) == depth for v in node.inputs if v is not n_steps)


def is_exact(buffer: Any, depth: int, n_steps: object) -> bool:
    """Return whether a buffer is known to have ``depth + n_steps`` rows."""
    expansion = expansion_of(buffer)
    if expansion is None:
        return False
    value, length = expansion
    if is_for_each_step(length, depth, n_steps):
        return True
    rows = with_known_rows(value).type.shape[0]
    return rows == depth and equal_computations([length], [add(n_steps, sizes_of(value)[0])])


@dataclass(eq=False)
class State:
    """A value that the step computes from its former values.

    Attributes
    ----------
    buffer
        A tensor with the first values and room for later ones.
    taps
        The former values that are read; -1 is the last one.
    inner
        The inputs of the step for these values.
    new
        The output of the step.
    """

    buffer: Variable
    taps: tuple[int, ...]
    inner: tuple[Variable, ...]
    new: Variable


@dataclass(eq=False)
class LoopParts:
    """The parts of a loop by kind. Pairs consist of a variable of the loop and one of the step."""

    n_steps: Variable
    sequences: list[tuple[Variable, Variable]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)
    shared: list[tuple[Variable, Variable, Variable]] = field(default_factory=list)
    constants: list[tuple[Variable, Variable]] = field(default_factory=list)
    until: Variable | None = None

    def _ordered_states(self) -> list[State]:
        several = [s for s in self.states if s.taps != (-1,)]
        return several + [s for s in self.states if s.taps == (-1,)]

    def info(self) -> ScanInfo:
        taps = [s.taps for s in self._ordered_states()]
        return ScanInfo(
            n_seqs=len(self.sequences),
            mit_mot_in_slices=(),
            mit_mot_out_slices=(),
            mit_sot_in_slices=tuple(t for t in taps if t != (-1,)),
            sit_sot_in_slices=tuple(t for t in taps if t == (-1,)),
            n_nit_sot=len(self.results),
            n_shared_outs=len(self.shared),
            n_non_seqs=len(self.constants),
            as_while=self.until is not None,
        )

    def inner_inputs(self) -> list[Variable]:
        return [
            *[inner for _, inner in self.sequences],
            *[v for s in self._ordered_states() for v in s.inner],
            *[inner for _, inner, _ in self.shared],
            *[inner for _, inner in self.constants],
        ]

    def inner_outputs(self) -> list[Variable]:
        return [
            *[s.new for s in self._ordered_states()],
            *self.results,
            *[new for _, _, new in self.shared],
            *([] if self.until is None else [self.until]),
        ]

    def replace(self, replacements: dict[Variable, Variable]) -> None:
        """Replace variables in the graph of the step."""
        ordered = self._ordered_states()
        new_outputs = iter(clone_replace(self.inner_outputs(), replacements))
        for state in ordered:
            state.new = next(new_outputs)
        self.results = [next(new_outputs) for _ in self.results]
        self.shared = [(outer, inner, next(new_outputs)) for outer, inner, _ in self.shared]
        if self.until is not None:
            self.until = next(new_outputs)

    def outer_inputs(self) -> list[Variable]:
        return [
            self.n_steps,
            *[outer for outer, _ in self.sequences],
            *[s.buffer for s in self._ordered_states()],
            *[outer for outer, _, _ in self.shared],
            *[self.n_steps] * len(self.results),
            *[outer for outer, _ in self.constants],
        ]

    def split(self, outputs: Sequence[Variable]) -> tuple[dict[State, Variable], list[Variable], list[Variable]]:
        """Split the outputs of the loop into buffers of states, results, and last values of shared states."""
        ordered = self._ordered_states()
        after = len(ordered) + len(self.results)
        return dict(zip(ordered, outputs)), list(outputs[len(ordered) : after]), list(outputs[after:])
