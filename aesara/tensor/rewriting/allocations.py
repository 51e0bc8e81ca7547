"""Rules about fills and allocations: tensors that repeat a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.scalar import eq, int64, or_
from aesara.scalar.composite import composite_of
from aesara.scalar.native import Primitive
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import constant
from aesara.tensor.creation.allocation import Alloc, alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import second
from aesara.tensor.rewriting.helpers import common_value, in_place_of, same_elements
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.broadcasting import broadcast_to_
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape_i

rules = Rules()

#: the length of a dimension along which nothing is repeated
one = constant(1, dtype="int64")


def broadcast_like(value: Variable, template: Variable, fgraph: Any, dtype: str | None = None) -> Variable:
    """`value` in the shape of `template`, allocated.

    Parameters
    ----------
    value
        What is broadcast.
    template
        A variable of `fgraph` (or made of its variables).
    fgraph
        The graph; if it keeps track of shapes, what it knows is used.
    dtype
        The dtype of the result; that of `template` by default.
    """
    value = cast(value, dtype or template.type.dtype)
    if template.type.ndim == 0:
        return value
    return alloc(value, *lengths_of(template, fgraph))


def lengths_of(var: Variable, fgraph: Any) -> list[Variable]:
    """The lengths of a tensor's dimensions, in the best form that is known."""
    static = var.type.shape
    feature = getattr(fgraph, "shape_feature", None)
    lengths: list[Variable] = []
    for i, n in enumerate(static):
        if n is not None:
            lengths.append(constant(n, dtype="int64"))
        elif feature is not None:
            lengths.append(feature.get_shape(fgraph, var, i))
        else:
            lengths.append(Shape_i(i)(var))
    return lengths


def merge_broadcastables(broadcastables: Any) -> list[bool]:
    """For each dimension, whether it is broadcastable in all of the patterns."""
    return [all(pattern) for pattern in zip(*broadcastables)]


def encompasses_broadcastable(b1: Sequence[bool], b2: Sequence[bool]) -> bool:
    """Whether a tensor of pattern `b2` fits where one of pattern `b1` stands.

    Examples
    --------
    >>> encompasses_broadcastable((False,), (True,)), encompasses_broadcastable((True,), (False,))
    (True, False)
    """
    if len(b1) < len(b2):
        return False
    b1 = b1[-len(b2) :] if b2 else ()
    return not any(v1 and not v2 for v1, v2 in zip(b1, b2))


# Fills


@rules.useless("shape_unsafe")
@rules.canonicalize("shape_unsafe")
@node_rewriter([second])
def local_useless_fill(fgraph: FunctionGraph, node: Apply) -> Any:
    """A fill of what has the shape already."""
    template, value = node.inputs
    out = node.outputs[0]
    if value.type.broadcastable == out.type.broadcastable:
        return in_place_of(out, value, (template,))
    return False


@rules.canonicalize("shape_unsafe")
@node_rewriter([Elemwise], operands=[second])
def local_fill_sink(fgraph: FunctionGraph, node: Apply) -> Any:
    """Elementwise operations on what is filled with, then the fill: it may not be needed."""
    if node.op == second or len(node.outputs) != 1:
        return False
    templates = []
    inputs = []
    for var in node.inputs:
        inner = var.owner
        if inner is not None and inner.op == second and inner.inputs[1].type.dtype == var.type.dtype:
            templates.append(inner.inputs[0])
            inputs.append(inner.inputs[1])
        else:
            inputs.append(var)
    if not templates:
        return False
    return in_place_of(node.outputs[0], node.op(*inputs), templates)


@rules.specialize("shape_unsafe")
@rules.stabilize("shape_unsafe")
@node_rewriter([second])
def local_fill_to_alloc(fgraph: FunctionGraph, node: Apply) -> Any:
    """A fill as an allocation: the elements of what gives the shape are not needed."""
    template, value = node.inputs
    out = node.outputs[0]
    if value.type.broadcastable == out.type.broadcastable:
        return in_place_of(out, value, (template,))
    # Of a dimension that the value has, its own length is as good.
    lengths = [
        of_value if value.type.shape[i] != 1 else of_template
        for i, (of_value, of_template) in enumerate(zip(lengths_of(value, fgraph), lengths_of(template, fgraph)))
    ]
    if isinstance(value, Constant) and value.data.size == 1:
        value = constant(value.data.reshape(()))
    return in_place_of(out, alloc(cast(value, out.type.dtype), *lengths))


# Allocations


@rules.useless
@rules.canonicalize
@rules.stabilize
@rules.specialize
@node_rewriter([Alloc])
def local_useless_alloc(fgraph: FunctionGraph, node: Apply) -> Any:
    """An allocation of what is known to have the shape already."""
    out = node.outputs[0]
    value, *lengths = node.inputs
    if value.type.ndim != out.type.ndim:
        return False
    for axis, (length, known) in enumerate(zip(lengths, value.type.shape)):
        if dimension_measured_by(length) != (value, axis) and (known is None or known_integer(length) != known):
            return False
    return in_place_of(out, value)


@rules.canonicalize
@rules.stabilize
@rules.specialize
@node_rewriter([Alloc])
def local_alloc_sink_dimshuffle(fgraph: FunctionGraph, node: Apply) -> Any:
    """Dimensions of length one in front are not allocated, but added to what is."""
    (value, *lengths), (out,) = node.inputs, node.outputs
    n_new = len(lengths) - value.type.ndim
    n_ones = next((k for k in range(n_new) if out.type.shape[k] != 1), n_new)
    if not n_ones:
        return False
    rest: Any = alloc(value, *lengths[n_ones:]) if n_ones < len(lengths) else value
    return in_place_of(out, rest.dimshuffle(*["x"] * n_ones, *range(rest.type.ndim)))


@rules.useless
@rules.canonicalize
@rules.stabilize
@rules.specialize
@rules.uncanonicalize
@node_rewriter([Alloc], operands=[Alloc])
def local_merge_alloc(fgraph: FunctionGraph, node: Apply) -> Any:
    """An allocation of an allocation as one, which checks that both agree on the lengths where this is not known."""
    out = node.outputs[0]
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    (value, *inner_lengths), lengths = inner.inputs, node.inputs[1:]
    # An inner length is not needed if it is one and no check: if there is one element, or a new dimension.
    of_value = (1,) * (len(inner_lengths) - value.type.ndim) + value.type.shape
    n_new = len(lengths) - len(inner_lengths)
    for axis, (own, length) in enumerate(zip(of_value, inner_lengths), start=n_new):
        if own == node.inputs[0].type.shape[axis - n_new] == 1 or same_elements(length, lengths[axis]):
            continue
        if own != 1:
            # The inner allocation may be what repeats the value, or not.
            return False
        lengths[axis] = _check_lengths(lengths[axis], _fits(length, lengths[axis]))
    return in_place_of(out, alloc(value, *lengths))


class _AssertLengths(Assert):
    """A length, if what is allocated can be allocated again with it."""

    def __init__(self) -> None:
        super().__init__("An allocation of an allocation has other lengths than this.")
        self.exc_type = ValueError


_check_lengths = _AssertLengths()
#: Whether a dimension of one length can have another, by being repeated if it has to be.
_fits = Elemwise(composite_of([int64, int64], lambda length, of_result: or_(eq(length, of_result), eq(length, 1))))


@rules.canonicalize("shape_unsafe", "local_alloc_elemwise")
@rules.specialize("shape_unsafe", "local_alloc_elemwise")
@node_rewriter([Elemwise], operands=[Alloc])
def local_elemwise_alloc(fgraph: FunctionGraph, node: Apply) -> Any:
    """Elementwise operations broadcast by themselves: an operand need not be allocated."""
    if len(node.inputs) < 2 or len(node.outputs) != 1 or node.op == second:
        return False
    if not config.experimental__local_alloc_elemwise:
        return False
    out = node.outputs[0]
    feature = getattr(fgraph, "shape_feature", None)
    inputs = list(node.inputs)
    changed = False
    for i, var in enumerate(inputs):
        if var.owner is None or not isinstance(var.owner.op, Alloc):
            continue
        value: Any = var.owner.inputs[0]
        n_new = var.type.ndim - value.type.ndim
        small = value.dimshuffle(*["x"] * n_new, *range(value.type.ndim)) if n_new else value
        others = [v for k, v in enumerate(inputs) if k != i]
        # Every dimension that the allocation lends must be there in another operand. It may also repeat what is not
        # known to be of length one: elementwise operations do not.
        for axis, (of_value, of_alloc) in enumerate(zip(small.type.shape, var.type.shape)):
            if of_value == 1:
                is_needed = of_alloc != 1 and all(v.type.shape[axis] == 1 for v in others)
            else:
                is_needed = of_value is None and (
                    of_alloc == 1 or feature is None or not feature.same_shape(small, var, axis, axis, with_checks=True)
                )
            if is_needed:
                break
        else:
            inputs[i] = small
            changed = True
    if not changed:
        return False
    return in_place_of(out, node.op(*inputs), node.inputs)


@node_rewriter([Alloc])
def local_alloc_to_broadcast(fgraph: FunctionGraph, node: Apply) -> Any:
    """What only elementwise operations of several operands read need not be allocated: it is broadcast.

    This is for operands that `local_elemwise_alloc` cannot leave as they are, once no other rule is to come.
    """
    (out,) = node.outputs
    if not config.experimental__local_alloc_elemwise or not _is_only_an_operand(fgraph, out):
        return False
    broadcast = broadcast_to_(*node.inputs)
    return [broadcast] if broadcast.type == out.type else False


def _is_only_an_operand(fgraph: FunctionGraph, var: Variable) -> bool:
    """Whether a variable is read by nothing but elementwise operations of several operands, through views too."""
    for client, _ in fgraph.clients[var]:
        if not isinstance(client, Apply):
            return False
        if isinstance(client.op, DimShuffle):
            if not _is_only_an_operand(fgraph, client.outputs[0]):
                return False
        elif not isinstance(client.op, Elemwise) or len(client.inputs) < 2 or client.op == second:
            return False
    return True


@rules.canonicalize
@rules.specialize
@node_rewriter([Elemwise], operands=[Alloc])
def local_alloc_unary(fgraph: FunctionGraph, node: Apply) -> Any:
    """A function of a repeated number is the repeated function of the number."""
    if len(node.inputs) != 1 or len(node.outputs) != 1:
        return False
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    value, *lengths = inner.inputs
    return in_place_of(node.outputs[0], alloc(node.op(value), *lengths))


@rules.specialize
@node_rewriter([Elemwise])
def local_alloc_elementwise(fgraph: FunctionGraph, node: Apply) -> Any:
    """A function that costs a call, of numbers that are all repeated, is computed once and then repeated.

    Constants repeat a number too, and so do elementwise operations on what repeats one.
    """
    native = getattr(node.op.scalar_op, "native", None)
    if native is None or isinstance(native, Primitive) or len(node.outputs) != 1:
        return False
    out = node.outputs[0]
    if all(known == 1 for known in out.type.shape) or all(isinstance(var, Constant) for var in node.inputs):
        return False
    lengths: list[Variable] = [one] * out.type.ndim
    number = _repeated_number(out, lengths, DEEPEST)
    return None if number is None else in_place_of(out, alloc(number, *lengths))


#: how many elementwise operations, one in another, are searched for numbers that are repeated
DEEPEST = 4


def _repeated_number(var: Any, lengths: list[Variable], depth: int) -> Variable | None:
    """The number, without dimensions, that a variable repeats; `lengths` gets how often, if all agree on it."""
    if all(known == 1 for known in var.type.shape):
        return var.dimshuffle() if var.type.ndim else var
    node = var.owner
    found: Variable | None
    if isinstance(var, Constant):
        value = common_value(var)
        found = None if value is None else constant(np.asarray(value))
        repeated = [constant(known) for known in var.type.shape]
    elif node is None:
        return None
    elif isinstance(node.op, Alloc):
        value, *repeated = node.inputs
        found = _repeated_number(value, [], 0) if all(known == 1 for known in value.type.shape) else None
    elif isinstance(node.op, Elemwise) and depth and len(node.outputs) == 1 and node.op != second:
        numbers = [_repeated_number(operand, lengths, depth - 1) for operand in node.inputs]
        return None if any(number is None for number in numbers) else node.op(*numbers)
    else:
        return None
    for axis, (known, length) in enumerate(zip(var.type.shape, repeated)):
        if known != 1:
            if lengths[axis] is not one and not same_elements(lengths[axis], length):
                return None
            lengths[axis] = length
    return found
