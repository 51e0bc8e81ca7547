"""Rules about different entries, which do not depend on how often something is repeated, and about broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import constant
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import minimum, second
from aesara.tensor.ordering.searching import Unique
from aesara.tensor.rewriting.allocations import lengths_of
from aesara.tensor.rewriting.helpers import common_value, in_place_of
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.repeating import Repeat
from aesara.tensor.shapes.reshape import Reshape

rules = Rules()


@rules.useless
@rules.canonicalize
@node_rewriter([Unique])
def local_Unique_scalar(fgraph: FunctionGraph, node: Apply) -> Any:
    """One number is different from no other: it is first, it occurs once."""
    x: Any
    (x,), op = node.inputs, node.op
    if x.type.ndim:
        return False
    vectors = [constant(np.array([k])) for k, is_asked in _vectors(op) if is_asked]
    replaced = [in_place_of(old, new) for old, new in zip(node.outputs, [x.dimshuffle("x"), *vectors])]
    found = [new[0] for new in replaced if new]
    return found if len(found) == len(replaced) else False


def _vectors(op: Unique) -> list[tuple[int, bool]]:
    """For one number: first position, position among the different ones, count; and which of these are asked for."""
    return [(0, op.return_index), (0, op.return_inverse), (1, op.return_counts)]


def _made_by(node: Apply, kind: type[Op]) -> Apply | None:
    """The node of an op of this kind whose different entries, and nothing else, are asked for."""
    inner = node.inputs[0].owner
    asks_for_entries_only = node.op.axis is None and len(node.outputs) == 1
    return inner if inner is not None and isinstance(inner.op, kind) and asks_for_entries_only else None


@rules.useless
@rules.canonicalize
@node_rewriter([Unique])
def local_Unique_Alloc_lift(fgraph: FunctionGraph, node: Apply) -> Any:
    """The different entries of what is repeated are those of it, if it is repeated at all."""
    inner = _made_by(node, Alloc)
    return _of_once(node, inner.inputs[0], inner.inputs[1:]) if inner is not None else False


@rules.useless
@rules.canonicalize
@node_rewriter([Unique])
def local_Unique_BroadcastTo_lift(fgraph: FunctionGraph, node: Apply) -> Any:
    """The different entries of what is broadcast are those of it, if there are any."""
    inner = _made_by(node, BroadcastTo)
    return _of_once(node, inner.inputs[0], inner.inputs[1:]) if inner is not None else False


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@node_rewriter([Unique])
def local_Unique_second(fgraph: FunctionGraph, node: Apply) -> Any:
    """The different entries of what is filled with a value are those of the value, if there are any."""
    inner = _made_by(node, Elemwise)
    if inner is None or inner.op != second:
        return False
    template, value = inner.inputs
    if value.type.dtype != node.inputs[0].type.dtype:
        return False
    lengths = [
        of_template if value.type.shape[axis] == 1 else of_value
        for axis, (of_template, of_value) in enumerate(zip(lengths_of(template, fgraph), lengths_of(value, fgraph)))
    ]
    return _of_once(node, value, lengths)


def _of_once(node: Apply, value: Variable, lengths: Sequence[Variable]) -> Any:
    """The op on a value repeated once in each dimension, where it is repeated at all; None if it is so already."""
    n_new = len(lengths) - value.type.ndim
    once: list[Variable] = []
    changed = False
    for axis, length in enumerate(lengths):
        if axis >= n_new and value.type.shape[axis - n_new] != 1:
            once.append(length)
            continue
        shorter = _at_most_one(length)
        changed |= shorter is not length
        once.append(shorter)
    if all(_is_one(length) for length in once[:n_new]) and all(
        n is not None and n == known_integer(length) for n, length in zip(value.type.shape, once[n_new:])
    ):
        return in_place_of(node.outputs[0], node.op(value))
    return in_place_of(node.outputs[0], node.op(alloc(value, *once))) if changed else False


def _at_most_one(length: Variable) -> Variable:
    known = known_integer(length)
    if known is not None:
        return constant(1, dtype="int64") if known > 1 else length
    node = length.owner
    if node is not None and node.op == minimum and any(_is_one(bound) for bound in node.inputs):
        return length
    return minimum(length, constant(1, dtype="int64"))


def _is_one(length: Variable) -> bool:
    return bool(common_value(length) == 1)


@rules.useless
@rules.canonicalize
@node_rewriter([Unique])
def local_Unique_Repeat_lift(fgraph: FunctionGraph, node: Apply) -> Any:
    """The different entries of what has its entries repeated are those of the entries that stay."""
    inner = _made_by(node, Repeat)
    if inner is None:
        return False
    x, repeats = inner.inputs
    if isinstance(repeats, Constant):
        counts = np.minimum(repeats.data, 1)
        if np.all(counts == 1) and _has_count_for_each(inner, x):
            return in_place_of(node.outputs[0], node.op(x))
        if np.array_equal(counts, repeats.data):
            return False
        once = constant(counts)
    elif repeats.owner is not None and repeats.owner.op == minimum and any(map(_is_one, repeats.owner.inputs)):
        return False
    else:
        once = minimum(repeats, constant(np.ones((), dtype=repeats.type.dtype)))
    return in_place_of(node.outputs[0], node.op(inner.op(x, once)))


def _has_count_for_each(node: Apply, x: Variable) -> bool:
    """Whether the number of counts is known to be one, or that of the entries."""
    counts = node.inputs[1]
    if counts.type.shape in ((), (1,)):
        return True
    if node.op.axis is None:
        return None not in x.type.shape and int(np.prod(x.type.shape)) == counts.type.shape[0]
    return x.type.shape[node.op.axis] == counts.type.shape[0]


@rules.canonicalize("shape_unsafe")
@node_rewriter([Unique])
def local_Unique_Reshape_lift(fgraph: FunctionGraph, node: Apply) -> Any:
    """The different entries of all of a tensor do not depend on its shape, and neither do their positions."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Reshape) or node.op.axis is not None:
        return False
    replaced = [in_place_of(old, new) for old, new in zip(node.outputs, node.op.make_node(inner.inputs[0]).outputs)]
    found = [new[0] for new in replaced if new]
    return found if len(found) == len(replaced) else False


@rules.useless
@rules.canonicalize
@node_rewriter([BroadcastTo])
def local_remove_scalar_BroadcastTo(fgraph: FunctionGraph, node: Apply) -> Any:
    """What is broadcast to no dimensions is the number itself."""
    x, *lengths = node.inputs
    return False if lengths else in_place_of(node.outputs[0], x)
