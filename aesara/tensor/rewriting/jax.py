"""Rules for programs compiled for fixed shapes: operations on masked entries become operations on all entries.

The number of entries that a mask selects is not known when such a program is compiled. The rules are part of the mode
``JAX``, and of others that include the tag ``"jax"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.matching import extract, one_of
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.graph.rewriting.walking import in2out
from aesara.graph.traversal import io_toposort
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.constant_value import known_entries
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, eq, neq, or_, switch
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.indexing.index_forms import is_mask
from aesara.tensor.indexing.nonzero import Nonzero
from aesara.tensor.indexing.subtensor_advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from aesara.tensor.reductions.all_any import All
from aesara.tensor.reductions.all_any import Any as AnyOp
from aesara.tensor.reductions.sum_prod_max import Prod, Sum
from aesara.tensor.rewriting.helpers import as_dtype, in_place_of
from aesara.tensor.rewriting.reductions import reduced_axes, with_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.rewriting.shape_feature import ShapeFeature
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.shapes.shape import Shape_i

rules = Rules()

READERS = (AdvancedSubtensor, AdvancedSubtensor1)

#: The neutral element of each reduction.
NEUTRAL = {Sum: 0, Prod: 1, All: True, AnyOp: False}


@node_rewriter([AdvancedIncSubtensor, AdvancedIncSubtensor1])
def boolean_indexing_set_or_inc(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """set(x[mask], y) -> switch(mask, y, x), inc(x[mask], y) -> switch(mask, x + y, x)

    The value y is a number or, if the mask has all dimensions, an elementwise expression of entries read by the mask.
    """
    x, y, *index = node.inputs
    masked = _Masked.of(fgraph, index)
    whole = None if masked is None else masked.fit(x)
    if masked is None or whole is None:
        return False
    if all(y.type.broadcastable):
        value: Variable | None = _number(y, x.type.ndim)
    elif y.type.ndim == 1 and x.type.ndim == masked.mask.type.ndim:
        value = masked.everywhere(y)
    else:
        return False
    if value is None:
        return False
    value = as_dtype(value, x.type.dtype)
    written = value if node.op.set_instead_of_inc else add(whole, value)
    changed = switch(masked.mask_for(x), written, whole)
    if whole is not x:
        changed = set_subtensor(whole, as_dtype(changed, x.type.dtype))  # type: ignore[arg-type]
    return in_place_of(node.outputs[0], changed)


@node_rewriter(list(NEUTRAL))
def boolean_indexing_sum(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """x[mask].sum() -> switch(mask, x, 0).sum(), and so for products, `all` and `any`, and elementwise expressions"""
    (part,) = node.inputs
    axes = reduced_axes(node)
    index = _index_in(part) if 0 in axes else None
    masked = None if index is None else _Masked.of(fgraph, index)
    whole = None if masked is None else masked.everywhere(part)
    if masked is None or whole is None:
        return False
    neutral = constant(np.asarray(NEUTRAL[type(node.op)], dtype=whole.type.dtype))
    n_more = whole.type.ndim - part.type.ndim
    along = [*range(n_more + 1), *(axis + n_more for axis in axes if axis)]
    chosen = switch(masked.mask_for(whole), whole, _number(neutral, whole.type.ndim))
    return in_place_of(node.outputs[0], with_axes(node.op, along)(chosen))


def _index_in(part: Variable) -> list[Variable] | None:
    """Return the index of a subtensor in an elementwise expression, else None."""
    pending, seen = [part], set()
    while pending:
        node = pending.pop().owner
        if node is None or node in seen:
            continue
        seen.add(node)
        if isinstance(node.op, READERS):
            return node.inputs[1:]
        if isinstance(node.op, Elemwise):
            pending += node.inputs
    return None


class _Masked:
    """An index that is a mask, or the positions of its true entries.

    Parameters
    ----------
    fgraph
        The graph.
    index
        The index.
    mask
        The mask.
    may_check
        Whether lengths that differ from those of the mask are an error.
    """

    def __init__(self, fgraph: FunctionGraph, index: Sequence[Variable], mask: Any, may_check: bool) -> None:
        self.fgraph = fgraph
        self.index = index
        self.mask = mask
        self.may_check = may_check

    @classmethod
    def of(cls, fgraph: FunctionGraph, index: Sequence[Variable]) -> _Masked | None:
        if len(index) == 1 and is_mask(index[0]):
            return cls(fgraph, index, index[0], True) if index[0].type.ndim else None
        node = index[0].owner
        if node is None or not isinstance(node.op, Nonzero) or node.outputs != index:
            return None
        # Positions do not determine the lengths of the mask.
        return cls(fgraph, index, node.inputs[0], False)

    def mask_for(self, x: Variable) -> Variable:
        """Return the mask as a condition with as many dimensions as a tensor."""
        holds = self.mask if is_mask(self.mask) else neq(self.mask, 0)
        return holds.dimshuffle(*range(holds.type.ndim), *["x"] * (x.type.ndim - holds.type.ndim))

    def fit(self, x: Variable) -> Variable | None:
        """Return the part of a tensor with the lengths of the mask; None if these are not known to agree.

        Lengths of the mask are those of the tensor, or 0.
        """
        mask = self.mask
        part: list[Any] = []
        for axis, lengths in enumerate(zip(mask.type.shape, x.type.shape)):
            # A dimension of length one by its type would be broadcast.
            if lengths.count(1) == 1:
                return None
            part.append(slice(None))
            if not self._same_length(x, axis):
                if not self.may_check:
                    return None
                text = f"boolean index did not match indexed array along axis {axis}"
                length = Shape_i(axis)(mask)
                x = CheckAndRaise(IndexError, text)(x, or_(eq(Shape_i(axis)(x), length), eq(length, 0)))
                part[axis] = slice(None, length)
        return getitem(x, tuple(part)) if any(entry != slice(None) for entry in part) else x

    def _same_length(self, x: Variable, axis: int) -> bool:
        known = self.mask.type.shape[axis]
        if known is not None and known == x.type.shape[axis]:
            return True
        feature: ShapeFeature | None = getattr(self.fgraph, "shape_feature", None)
        if feature is None or x not in feature.shape_of or self.mask not in feature.shape_of:
            return False
        return feature.same_shape(x, self.mask, axis, axis)

    def everywhere(self, part: Variable) -> Variable | None:
        """Return an elementwise expression of masked entries for all entries; None if it has other operands."""
        unmasked: dict[Variable, Variable | None] = {}

        def without_mask(variable: Variable) -> Variable | None:
            if variable.type.ndim and all(variable.type.broadcastable):
                return _number(variable, variable.type.ndim + self.mask.type.ndim - 1)
            return unmasked.get(variable)

        for node in io_toposort([], [part]):
            if isinstance(node.op, READERS):
                unmasked[node.outputs[0]] = self.fit(node.inputs[0]) if node.inputs[1:] == list(self.index) else None
            elif isinstance(node.op, Elemwise) and len(node.outputs) == 1:
                values = [without_mask(v) for v in node.inputs]
                unmasked[node.outputs[0]] = None if None in values else node.op.make_node(*values).outputs[0]
        return without_mask(part)


def _number(value: Variable, ndim: int) -> Variable:
    """Return a tensor of one element with `ndim` dimensions."""
    return DimShuffle(value.type.broadcastable, ["x"] * ndim)(value)


def _constant_shape(shape: Variable) -> Variable | None:
    """Return a shape with known elements as a constant; None for others, and for constants."""
    entries = None if isinstance(shape, Constant) else known_entries(shape)
    return None if entries is None or None in entries else constant(entries, dtype="int64")


shape_parameter_as_tuple = row(
    "shape_parameter_as_tuple",
    (one_of(Reshape, name="reshape"), "x", extract(_constant_shape, "shape")),
    ("reshape", "x", "shape"),
    each=None,
    why="reshape(x, shape) -> reshape(x, constant) of a shape whose elements are known",
)
for _rule in (boolean_indexing_set_or_inc, boolean_indexing_sum, shape_parameter_as_tuple):
    # After canonicalization, equal masks are the same variable.
    rules.into(optdb, in2out(_rule), "jax", name=f"jax_{_rule.name}", position=1.2)
