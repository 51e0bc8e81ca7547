"""Move indexed accumulation out of loops.

The gradient of a loop that reads ``table[index]`` in its steps accumulates, in each step, a tensor of the size of the
table that is zero except at the index. Computed in the loop, each step costs a pass over the table. After the loop, one
`inc_subtensor` adds the entries of all steps.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.scan.arguments import ScanArgs
from aesara.scan.op import Scan
from aesara.scan.push_out import added_terms, inner_sitsot_only_last_step_used, sum_outside
from aesara.tensor.core.constant_value import extract_constant
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, tensor_from_scalar
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.indexing.inc_subtensor import inc_subtensor
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.shapes.rearranging import sizes_of

__all__ = ["push_out_inc_scan"]


@node_rewriter([Scan])
def push_out_inc_scan(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """``state = inc_subtensor(zeros, value, index) + state`` in the loop -> one `inc_subtensor` after the loop.

    This applies to states of which only the last value is read.
    """
    args = ScanArgs.from_node(node)
    if args.as_while or args.n_mit_mot:
        return False
    invariant = dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs, strict=True))
    for k, (old, new) in enumerate(zip(args.inner_in_sit_sot, args.inner_out_sit_sot, strict=True)):
        terms = added_terms(old, new, args)
        if terms is None or not inner_sitsot_only_last_step_used(fgraph, new, args):
            continue
        entries = [_Entry.from_term(term, invariant) for term in terms]
        if any(entry is None or term.type.dtype != new.type.dtype for entry, term in zip(entries, terms, strict=True)):
            continue
        return _add_outside(fgraph, node, args, k, entries)
    return False


class _Entry:
    """A term `inc_subtensor(zeros, value, indices)` of a sum: the values that are added, and the indices of the leading
    dimensions.
    """

    def __init__(self, value: object, indices: list[Variable], rank: int) -> None:
        self.value, self.indices = value, indices
        #: number of dimensions of `zeros[indices]`
        self.rank = rank

    @classmethod
    def from_term(cls, term: Any, invariant: dict[Variable, Variable]) -> _Entry | None:
        """Return the entry that a term consists of, or None if it is another expression."""
        node = term.owner
        if node is None or not isinstance(
            node.op, (IncSubtensor, AdvancedIncSubtensor1, AdvancedIncSubtensor)
        ):  # fmt: skip
            return None
        base, value, *indices = node.inputs
        if isinstance(node.op, IncSubtensor):
            if not indices or any(isinstance(index, slice) for index in node.op.idx_list):
                return None
            indices = [v if _is_invariant(v, invariant) else _as_tensor(v) for v in indices]
        elif any(not _is_positions(v) or v.type.ndim != indices[0].type.ndim for v in indices):
            return None
        base_value = extract_constant(invariant.get(base, base))
        if getattr(node.op, "ignore_duplicates", False):
            return None
        if node.op.set_instead_of_inc or isinstance(base_value, Variable) or base_value != 0:
            return None
        return cls(value, indices, term.type.ndim - len(indices) + getattr(indices[0].type, "ndim", 0))


def _add_outside(
    fgraph: FunctionGraph, node: Apply, args: ScanArgs, k: int, entries: list[Any]
) -> dict[Variable, Variable]:
    invariant = dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs, strict=True))
    variables = [v for entry in entries for v in (entry.value, *entry.indices) if not _is_invariant(v, invariant)]

    def last_value(first: Any, rows: dict[Variable, Any]) -> Variable:
        for entry in entries:
            indices = [
                rows[v] if v in rows else _repeat_for_steps(invariant.get(v, v), args.n_steps) for v in entry.indices
            ]
            value = rows.get(entry.value)
            if value is None:
                value = invariant.get(entry.value, entry.value)
            else:
                missing = ["x"] * (entry.rank - entry.value.type.ndim)
                value = value.dimshuffle(0, *missing, *range(1, value.type.ndim))
            first = inc_subtensor(first[tuple(indices)], value)
        return first

    return sum_outside(fgraph, node, args, k, variables, last_value)


def _as_tensor(scalar: Any) -> Variable:
    is_made = scalar.owner is not None and isinstance(scalar.owner.op, ScalarFromTensor)
    return scalar.owner.inputs[0] if is_made else tensor_from_scalar(scalar)


def _is_positions(index: Variable) -> bool:
    return isinstance(index.type, TensorType) and index.type.dtype in integer_dtypes


def _repeat_for_steps(index: Any, n_steps: Any) -> Variable:
    """Repeat an index, or a vector of indices, for each step."""
    if not isinstance(index.type, TensorType):
        index = tensor_from_scalar(index)
    return alloc(index, n_steps, *sizes_of(index))


def _is_invariant(variable: Variable, invariant: dict[Variable, Variable]) -> bool:
    return variable in invariant or hasattr(variable, "data")
