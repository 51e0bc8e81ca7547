"""Sums of exponentials with the largest exponent factored out, so that nothing overflows.

``sum(w * exp(x))`` -> ``sum(w * exp(x - m)) * exp(m)``. A switch replaces `m` by zero where it is infinite, or small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.elementwise import ops
from aesara.tensor.reductions.careduce import with_kept_dims
from aesara.tensor.reductions.sum_prod_max import Sum, supremum
from aesara.tensor.rewriting.helpers import common_value, is_float, output_of, without_shuffles
from aesara.tensor.rewriting.indices import READERS
from aesara.tensor.rewriting.reductions import reduced_axes
from aesara.tensor.rewriting.wide_products import is_wide
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape

#: Sums of more terms are left as they are.
MOST_TERMS = 16


def finite_or_zero(x: Variable) -> Variable:
    """Return `x`, and zero where it is infinite."""
    return ops.switch(ops.isinf_(x), 0, x)


def largest_safe_exponent(x: Variable) -> np.ndarray:
    """Return an exponent up to which squares of weighted exponentials stay in range, in the dtype of `x`."""
    return np.asarray(np.log(np.finfo(x.type.dtype).max) / 3, dtype=x.type.dtype)


def large_or_zero(x: Variable) -> Variable:
    """Return `x` where it is finite and its exponential may leave the range, and zero elsewhere."""
    return ops.switch(ops.le(ops.abs(x), largest_safe_exponent(x)), 0, finite_or_zero(x))


def is_stabilized(x: Variable) -> bool:
    """Return whether an exponent is the difference from a guarded largest exponent."""
    return bool(guards_in(x))


def is_shifted(x: Variable, weighted: bool) -> bool:
    """Return whether the largest exponent was factored out of a sum, weighted or not, with exponent `x`."""
    return (ops.le if weighted else ops.isinf_) in guards_in(x)


def guards_in(x: Variable) -> set[Op]:
    """Return the conditions of guards (of `finite_or_zero` and `large_or_zero`) among the terms of an exponent."""
    conditions = set()
    stack = [(x, 5)]
    while stack:
        var, depth = stack.pop()
        node = without_shuffles(var, Reshape, *READERS).owner
        if node is None or depth == 0:
            continue
        if node.op == ops.switch:
            condition = node.inputs[0].owner
            if condition is not None and condition.op in (ops.isinf_, ops.le):
                conditions.add(condition.op)
            else:
                stack.extend((v, depth - 1) for v in node.inputs[1:])
        elif node.op in (ops.add, ops.sub, ops.neg, ops.minimum):
            stack.extend((v, depth - 1) for v in node.inputs)
    return conditions


def exponent_of(var: Variable) -> Variable | None:
    """Return ``x`` of ``exp(x)``, also behind indexing and rearranged dimensions, else None."""
    order = None
    node = var.owner
    if node is not None and isinstance(node.op, READERS):
        x = exponent_of(node.inputs[0])
        return None if x is None else node.op(x, *node.inputs[1:])
    if node is not None and isinstance(node.op, DimShuffle):
        order, node = node.op, node.inputs[0].owner
    if node is None or node.op != ops.exp or not is_float(var) or node.inputs[0].type.dtype != var.type.dtype:
        return None
    x = node.inputs[0]
    return x if order is None else order(x)


def leaves_range(exponent: Variable) -> bool:
    """Return whether an exponential may leave the range, which that of a logarithm of a number in range does not."""
    node = output_of(exponent, ops.log)
    return node is None or is_wide(node.inputs[0])


def may_be_zero(weight: Variable | None) -> bool:
    """Return whether a weight, None for 1, may be zero."""
    return weight is not None and common_value(weight) in (None, 0)


def mask_zero_weight(exponent: Variable, weight: Variable | None) -> Variable:
    """Return an exponent, and minus infinity where its weight is zero."""
    if not may_be_zero(weight):
        return exponent
    return ops.switch(ops.eq(weight, 0), np.asarray(-np.inf, dtype=exponent.type.dtype), exponent)


def power(exponent: Variable, largest: Variable, weight: Variable | None) -> Variable:
    """Return ``exp(exponent - largest)`` as the cofactor of a weight, bounded where the weight is zero.

    A zero weight does not take part in the maximum, so the exponential could overflow there. It is the derivative of
    the product by the weight, so it is exact as long as its square is in the range.
    """
    difference = ops.sub(exponent, largest)
    if may_be_zero(weight):
        difference = ops.switch(
            ops.eq(weight, 0), ops.minimum(difference, largest_safe_exponent(difference)), difference
        )
    return ops.exp(difference)


def shifted_term(exponent: Variable, largest: Variable, weight: Variable | None) -> Variable:
    """Return ``weight * exp(exponent - largest)``."""
    cofactor = power(exponent, largest, weight)
    return cofactor if weight is None else ops.mul(weight, cofactor)


def largest_of(
    exponents: Sequence[Variable],
    weights: Sequence[Variable | None],
    constant: Callable[[Variable], Variable] = lambda largest: largest,
) -> Variable:
    """Return the guarded maximum of exponents; `constant` is applied before the guard."""
    largest = reduce(ops.maximum, (mask_zero_weight(exponent, weight) for exponent, weight in zip(exponents, weights)))
    return _guard(weights)(constant(largest))


def _guard(weights: Sequence[Variable | None]) -> Callable[[Variable], Variable]:
    return finite_or_zero if all(weight is None for weight in weights) else large_or_zero


def can_be_shifted(node: Apply) -> bool:
    """Return whether the largest exponent can be factored out of a sum along axes."""
    (summed,), (out,) = node.inputs, node.outputs
    axes = reduced_axes(node)
    return summed.type.dtype == out.type.dtype and bool(axes) and all(summed.type.shape[axis] != 0 for axis in axes)


def shifted_along_axes(
    node: Apply,
    exponent: Variable,
    weight: Variable | None,
    constant: Callable[[Variable], Variable] = lambda largest: largest,
) -> tuple[Variable, Variable]:
    """Return a sum of exponentials along axes over the largest of them, and the exponent of that; see `largest_of`."""
    (summed,) = node.inputs
    axes = reduced_axes(node)
    largest = _guard([weight])(constant(supremum(mask_zero_weight(exponent, weight), axes)))
    return node.op(shifted_term(exponent, with_kept_dims(summed, largest, axes), weight)), largest


def product_as_sum(node: Apply) -> Apply | None:
    """Return the node of ``sum(w * exp(x))`` for ``dot(exp(x), w)`` with a vector, else None."""
    x: Any
    y: Any
    (x, y), (var,) = node.inputs, node.outputs
    if x.type.dtype != var.type.dtype or y.type.dtype != var.type.dtype:
        return None
    if y.type.ndim == 1 and exponent_of(x) is not None:
        powers, weights, axis = x, y, x.type.ndim - 1
    elif x.type.ndim == 1 and exponent_of(y) is not None:
        powers, weights, axis = y, x.dimshuffle(0, *["x"] * (y.type.ndim - 1)), 0
    else:
        return None
    if x.type.broadcastable[-1] != y.type.broadcastable[0]:
        return None
    (total,) = Sum((axis,), dtype=var.type.dtype)(ops.mul(powers, weights)).get_parents()
    return total
