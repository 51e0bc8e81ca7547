"""Rules about `unique`, whose result does not depend on repetitions, and about broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.graph.rewriting.matching import one_of
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import constant
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.elementwise.ops import minimum, second
from aesara.tensor.ordering.searching import Unique
from aesara.tensor.rewriting.constants import lengths_of_fill
from aesara.tensor.rewriting.helpers import has_value, output_of, outputs_in_place_of
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import replacing
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.repeating import Repeat
from aesara.tensor.shapes.reshape import Reshape

rules = Rules()


@rules.useless
@rules.canonicalize
@node_rewriter([Unique])
def local_Unique_scalar(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """unique(number) -> [number], first at position 0, once. A function: the op has up to four outputs."""
    x: Any
    (x,), op = node.inputs, node.op
    if x.type.ndim:
        return False
    results = (0, op.return_index), (0, op.return_inverse), (1, op.return_counts)
    numbers = [constant(np.array([k])) for k, is_returned in results if is_returned]
    return outputs_in_place_of(node, [x.dimshuffle("x"), *numbers])


#: The distinct entries of a whole tensor.
ENTRIES = one_of(Unique, name="unique", axis=None)


def _unique_of_repeated(unique: Unique, x: Variable, n: Sequence[Variable]) -> Variable | None:
    """Return the distinct entries of a tensor that is repeated at most once in each dimension, else None."""
    own_lengths = (1,) * (len(n) - x.type.ndim) + x.type.shape
    lengths = [_at_most_one(length) if own == 1 else length for own, length in zip(own_lengths, n)]
    if all(own is not None and own == known_integer(length) for own, length in zip(own_lengths, lengths)):
        return unique(x)
    return unique(alloc(x, *lengths)) if any(new is not old for new, old in zip(lengths, n)) else None


def _at_most_one(length: Variable) -> Variable:
    known = known_integer(length)
    if known is not None:
        return constant(1, dtype="int64") if known > 1 else length
    return length if _is_at_most_one(length) else minimum(length, constant(1, dtype="int64"))


def _is_at_most_one(count: Variable) -> bool:
    """Return whether a variable is the minimum of something and 1."""
    node = output_of(count, minimum)
    return node is not None and any(has_value(bound, 1) for bound in node.inputs)


local_Unique_Alloc_lift = rule(
    "local_Unique_Alloc_lift",
    (ENTRIES, (Alloc, "x", "**n")),
    _unique_of_repeated,
    why="unique(alloc(x, n)) -> unique(x)",
)
local_Unique_BroadcastTo_lift = rule(
    "local_Unique_BroadcastTo_lift",
    (ENTRIES, (BroadcastTo, "x", "**n")),
    _unique_of_repeated,
    why="unique(broadcast_to(x, n)) -> unique(x), or of no elements",
)
local_Unique_second = rule(
    "local_Unique_second",
    (ENTRIES, (second, "x", "y")),
    lambda unique, x, y, fgraph: _unique_of_repeated(unique, y, lengths_of_fill(x, y, fgraph)),
    lambda y, out: y.type.dtype == out.type.dtype,
    why="unique(second(x, y)) -> unique(y), if x has elements",
)
local_remove_scalar_BroadcastTo = rule(
    "local_remove_scalar_BroadcastTo", (BroadcastTo, "x"), "x", why="broadcast_to(x, ()) -> x"
)
SIMPLIFY = (rules.canonicalize, rules.useless)
rules.add(local_Unique_Alloc_lift, local_Unique_BroadcastTo_lift, local_remove_scalar_BroadcastTo, to=SIMPLIFY)
rules.add(local_Unique_second, to=SIMPLIFY, tags=("shape_unsafe",))


@rules.useless
@rules.canonicalize
@replacing((ENTRIES, (one_of(Repeat, name="repeat"), "x", "repeats")), each=None)
def local_Unique_Repeat_lift(unique: Unique, repeat: Repeat, x: Variable, repeats: Variable) -> Variable | None:
    """unique(repeat(x, n)) -> unique(x), of the entries for which n is not 0."""
    if _is_at_most_one(repeats):
        return None
    if not isinstance(repeats, Constant):
        return unique(repeat(x, minimum(repeats, constant(np.ones((), dtype=repeats.type.dtype)))))
    counts = np.minimum(repeats.data, 1)
    if np.all(counts == 1) and _has_count_for_each(repeat.axis, x, repeats):
        return unique(x)
    return None if np.array_equal(counts, repeats.data) else unique(repeat(x, constant(counts)))


def _has_count_for_each(axis: int | None, x: Variable, counts: Variable) -> bool:
    """Return whether the number of counts is known to be one, or that of the entries."""
    if counts.type.shape in ((), (1,)):
        return True
    if axis is None:
        return None not in x.type.shape and int(np.prod(x.type.shape)) == counts.type.shape[0]
    return x.type.shape[axis] == counts.type.shape[0]


@rules.canonicalize("shape_unsafe")
@node_rewriter([Unique], operands=[Reshape])
def local_Unique_Reshape_lift(fgraph: FunctionGraph, node: Apply) -> Any:
    """unique(reshape(x, n)) -> unique(x), with positions and counts. A function: the op has up to four outputs."""
    inner = output_of(node.inputs[0], Reshape)
    if inner is None or node.op.axis is not None:
        return None
    return outputs_in_place_of(node, node.op.make_node(inner.inputs[0]).outputs)
