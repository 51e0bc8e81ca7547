"""Rules about zeros of which both parts are written, as by the gradient of ``at.roll`` and of other joins of slices.

One term writes to the part before a border, another one to the part behind it: their sum is the two parts side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.records import dataclass
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import add
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.tensor.joining.join_split import join
from aesara.tensor.rewriting.helpers import as_dtype, computed_in, has_value, in_place_of, same_elements
from aesara.tensor.rewriting.indices import basic_lengths, is_full_slice, symbolic_index_of
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


@dataclass(frozen=True, eq=False)
class _Part:
    """A value written to a tensor before a border along one axis, or behind it."""

    x: Any
    index: Any
    value: Any
    axis: int
    border: Any
    is_first: bool


@rules.canonicalize("shape_unsafe")
@node_rewriter([add], operands=[IncSubtensor])
def local_add_both_parts_of_zeros(fgraph: FunctionGraph, node: Apply) -> Any:
    """Zeros with x before a border, added to zeros with y behind it, are x and y side by side.

    ``add(set(0[:n], x), set(0[n:], y)) -> join(x, y)``
    """
    terms = _with_joined_parts(fgraph, node.inputs, node.outputs[0])
    return False if terms is None else in_place_of(node.outputs[0], _sum(terms, node.outputs[0]), node.inputs)


@rules.canonicalize("shape_unsafe")
@node_rewriter([IncSubtensor], operands=[add, IncSubtensor])
def local_write_other_part_of_zeros(fgraph: FunctionGraph, node: Apply) -> Any:
    """Adding to the part behind a border of a sum, of which a term is zero there, puts the two parts side by side.

    ``inc(add(z, set(0[:n], x))[n:], y) -> add(z, join(x, y))``
    """
    whole, out = node.inputs[0], node.outputs[0]
    part = _part_of(node, out)
    if part is None:
        return False
    terms: list[Any] = [whole]
    if whole.owner is not None and whole.owner.op == add and len(fgraph.clients[whole]) == 1:
        if node.op.set_instead_of_inc:
            return False
        terms = list(whole.owner.inputs)
    for k, term in enumerate(terms):
        other = _part_in_zeros(term, out)
        if other is not None and _are_both(part, other):
            return in_place_of(out, _sum([*terms[:k], _joined(fgraph, part, other, out), *terms[k + 1 :]], out), terms)
    return False


def _sum(terms: Sequence[Any], out: Variable) -> Any:
    return as_dtype(terms[0], out.type.dtype) if len(terms) == 1 else computed_in(out.type.dtype, add, list(terms))


def _with_joined_parts(fgraph: FunctionGraph, inputs: Sequence[Any], out: Any) -> list[Any] | None:
    """Return terms of which pairs that write both parts of zeros are one; None if there are no such pairs."""
    terms: list[Any] = []
    pending: list[tuple[int, _Part]] = []
    for term in inputs:
        part = _part_in_zeros(term, out)
        mate = next((k for k, (_, other) in enumerate(pending) if part is not None and _are_both(part, other)), None)
        if part is None or mate is None:
            if part is not None:
                pending.append((len(terms), part))
            terms.append(term)
        else:
            place, other = pending.pop(mate)
            terms[place] = _joined(fgraph, part, other, out)
    return terms if len(terms) < len(inputs) else None


def _part_in_zeros(term: Any, out: Any) -> _Part | None:
    node = term.owner
    if node is None or not isinstance(node.op, IncSubtensor) or not has_value(node.inputs[0], 0):
        return None
    return _part_of(node, out)


def _part_of(node: Apply, out: Any) -> _Part | None:
    """Return the part that a node writes to, as one of two along an axis; None if it writes to something else."""
    x, value = node.inputs[:2]
    if value.type.ndim != x.type.ndim or (x.type.dtype, x.type.broadcastable) != (
        out.type.dtype,
        out.type.broadcastable,
    ):
        return None
    index = symbolic_index_of(node)
    axes = [axis for axis, entry in enumerate(index) if not is_full_slice(entry)]
    if len(axes) != 1 or not isinstance(index[axes[0]], slice):
        return None
    (axis,) = axes
    start, stop, step = (_number(v) for v in (index[axis].start, index[axis].stop, index[axis].step))
    if step not in (None, 1) or (start in (None, 0)) == (stop is None):
        return None
    is_first = stop is not None
    border = stop if is_first else start
    lengths = [pair for k, pair in enumerate(zip(value.type.shape, x.type.shape)) if k != axis]
    if border is None or any((n == 1) != (m == 1) for n, m in lengths):
        return None
    return _Part(x, index, value, axis, border, is_first)


def _number(entry: Any) -> Any:
    return int(entry.data) if isinstance(entry, Constant) else entry


def _are_both(one: _Part, other: _Part) -> bool:
    """Return whether two parts are all of a tensor, without an entry in common."""
    if one.axis != other.axis or one.is_first == other.is_first:
        return False
    if isinstance(one.border, Variable) and isinstance(other.border, Variable):
        return same_elements(one.border, other.border)
    return not isinstance(one.border, Variable) and one.border == other.border


def _joined(fgraph: FunctionGraph, one: _Part, other: _Part, out: Any) -> Any:
    first, second = (one, other) if one.is_first else (other, one)
    return join(one.axis, *(_as_written(fgraph, part, out) for part in (first, second)))


def _as_written(fgraph: FunctionGraph, part: _Part, out: Any) -> Any:
    """Return the value of a part, repeated where it has fewer elements than the part."""
    length, border, is_known = part.x.type.shape[part.axis], part.border, isinstance(part.border, int)
    entry = slice(None, border) if part.is_first else slice(border, None)
    if length is None or not is_known or part.value.type.shape[part.axis] != len(range(length)[entry]):
        value = alloc(part.value, *basic_lengths(fgraph, part.x, part.index))
    else:
        value = part.value
    return as_dtype(value, out.type.dtype)
