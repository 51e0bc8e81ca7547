"""States to which each step adds at an index are added up behind the loop.

The gradient of a loop that reads ``table[index]`` in its steps has such a state: zeros of the size of the table but for
one entry, in each step.  Added up step by step, these take a pass over the table for each step.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.scan.arguments import ScanArgs
from aesara.scan.op import Scan
from aesara.scan.push_out import added_terms, inner_sitsot_only_last_step_used, summed_outside
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
    """Add at indices behind the loop what the steps add to a state of which only the last value is read."""
    args = ScanArgs.from_node(node)
    if args.as_while or args.n_mit_mot:
        return False
    steady = dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs, strict=True))
    for k, (old, new) in enumerate(zip(args.inner_in_sit_sot, args.inner_out_sit_sot, strict=True)):
        terms = added_terms(old, new, args)
        if terms is None or not inner_sitsot_only_last_step_used(fgraph, new, args):
            continue
        added = [_Entry.from_term(term, steady) for term in terms]
        if any(entry is None or term.type.dtype != new.type.dtype for entry, term in zip(added, terms, strict=True)):
            continue
        return _added_outside(fgraph, node, args, k, added)
    return False


class _Entry:
    """A term of a sum of entries: the values that it adds, and their indices along the first dimensions."""

    def __init__(self, value: Any, indices: list[Any], rank: int) -> None:
        self.value, self.indices = value, indices
        #: the dimensions of what stands at the indices
        self.rank = rank

    @classmethod
    def from_term(cls, term: Any, steady: dict[Variable, Variable]) -> _Entry | None:
        """The entry that is all that a term has; None if it is something else."""
        node = term.owner
        if node is None or not isinstance(
            node.op, (IncSubtensor, AdvancedIncSubtensor1, AdvancedIncSubtensor)
        ):  # fmt: skip
            return None
        base, value, *indices = node.inputs
        if isinstance(node.op, IncSubtensor):
            if not indices or any(isinstance(index, slice) for index in node.op.idx_list):
                return None
            indices = [v if _is_steady(v, steady) else _as_tensor(v) for v in indices]
        elif any(not _is_positions(v) or v.type.ndim != indices[0].type.ndim for v in indices):
            return None
        zero = extract_constant(steady.get(base, base))
        if getattr(node.op, "ignore_duplicates", False):
            return None
        if node.op.set_instead_of_inc or isinstance(zero, Variable) or zero != 0:
            return None
        return cls(value, indices, term.type.ndim - len(indices) + getattr(indices[0].type, "ndim", 0))


def _added_outside(
    fgraph: FunctionGraph, node: Apply, args: ScanArgs, k: int, added: list[Any]
) -> dict[Variable, Variable]:
    steady = dict(zip(args.inner_in_non_seqs, args.outer_in_non_seqs, strict=True))
    wanted = [v for entry in added for v in (entry.value, *entry.indices) if not _is_steady(v, steady)]

    def total(first: Any, rows: dict[Variable, Any]) -> Any:
        for entry in added:
            indices = [
                rows[v] if v in rows else _repeat_for_steps(steady.get(v, v), args.n_steps) for v in entry.indices
            ]
            value = rows.get(entry.value)
            if value is None:
                value = steady.get(entry.value, entry.value)
            else:
                missing = ["x"] * (entry.rank - entry.value.type.ndim)
                value = value.dimshuffle(0, *missing, *range(1, value.type.ndim))
            first = inc_subtensor(first[tuple(indices)], value)
        return first

    return summed_outside(fgraph, node, args, k, wanted, total)


def _as_tensor(scalar: Any) -> Any:
    is_made = scalar.owner is not None and isinstance(scalar.owner.op, ScalarFromTensor)
    return scalar.owner.inputs[0] if is_made else tensor_from_scalar(scalar)


def _is_positions(index: Any) -> bool:
    return isinstance(index.type, TensorType) and index.type.dtype in integer_dtypes


def _repeat_for_steps(index: Any, n_steps: Any) -> Any:
    """An index, or a vector of them, for each step."""
    if not isinstance(index.type, TensorType):
        index = tensor_from_scalar(index)
    return alloc(index, n_steps, *sizes_of(index))


def _is_steady(variable: Any, steady: dict[Variable, Variable]) -> bool:
    return variable in steady or hasattr(variable, "data")
