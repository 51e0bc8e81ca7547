"""Reductions of tensors whose elements are repeated along some axes, without the repetitions."""

from __future__ import annotations

import functools
import typing
from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.matching import ops
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import constant
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.elementwise.ops import and_, eq, ge, invert, mul, or_, switch
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.reductions.all_any import All, Any
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum
from aesara.tensor.rewriting.helpers import as_dtype, common_value, is_complex, is_float
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.reductions import reduced_axes, with_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import replacing
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.dimshuffle import dimshuffle

rules = Rules()


@rules.canonicalize
@rules.specialize
@replacing(
    (
        ops(Sum, Prod, Max, Min, All, Any, node="node"),
        (ops(Alloc, BroadcastTo, node="inner"), "value", "**sizes"),
    ),
    each=None,
)
def local_opt_alloc(node, inner, value, sizes):
    """sum(alloc(x, n)) -> n * x; products become powers, and other reductions x."""
    repeated = _repeated_axes(value, len(sizes))
    axes = reduced_axes(node)
    dropped = [axis for axis in axes if axis in repeated]
    if not dropped:
        return None
    once = _without_repetitions(inner, repeated)
    kept = [axis for axis in range(len(sizes)) if axis not in repeated]
    left = [k for k, axis in enumerate(kept) if axis in axes]
    lengths = [(_checked(sizes[axis]), inner.outputs[0].type.shape[axis]) for axis in dropped]
    if isinstance(node.op, (Sum, Prod)):
        result = _total(node, once, left, lengths)
    elif isinstance(node.op, (All, Any)):
        result = _decision(node, once, left, lengths)
    elif any(known in (None, 0) for _, known in lengths):
        return None  # of nothing there is no largest element: the error is to be raised
    else:
        result = with_axes(node.op, left)(once) if left else once
    if result is None:
        return None
    remaining = [axis for axis in range(len(sizes)) if axis not in axes]
    if any(axis in repeated for axis in remaining):
        dimensions = iter(range(result.type.ndim))
        order: list[typing.Any] = ["x" if axis in repeated else next(dimensions) for axis in remaining]
        while order and order[0] == "x":
            order.pop(0)  # dimensions in front need no room
        result = inner.op(dimshuffle(result, order), *(sizes[axis] for axis in remaining))
    return result


_check_length = CheckAndRaise(ValueError, "negative dimensions are not allowed")


def _checked(length: Variable) -> Variable:
    """A length to which something is broadcast, with a check that it can be one."""
    if isinstance(length, Constant) or dimension_measured_by(length) is not None:
        return length
    return _check_length(length, ge(length, 0))


def _repeated_axes(value: Variable, ndim: int) -> list[int]:
    """The axes of what a tensor is broadcast to along which its elements are known to be repeated."""
    new = ndim - value.type.ndim
    return [axis for axis in range(ndim) if axis < new or value.type.shape[axis - new] == 1]


def _without_repetitions(broadcast: Apply, repeated: Sequence[int]) -> Variable:
    """What is broadcast, without dimensions for repetitions; its other lengths are still checked."""
    value: typing.Any
    value, *sizes = broadcast.inputs
    new = len(sizes) - value.type.ndim
    kept = [axis for axis in range(len(sizes)) if axis not in repeated]
    if len(kept) != value.type.ndim:
        value = value.dimshuffle(*(axis - new for axis in kept))
    return broadcast.op(value, *(sizes[axis] for axis in kept)) if kept else value


def _total(node: Apply, once: Variable, left: list[int], lengths: list[tuple[Variable, int | None]]) -> Variable | None:
    """The sum or product of a tensor along axes, and of repetitions of it."""
    out = node.outputs[0]
    # In the dtype of the sum: a narrower one might not hold the number of elements.
    dtype = node.op.acc_dtype or out.type.dtype
    if dtype in ("bool", "float16") or out.type.dtype == "bool" or is_complex(once):
        # Neither do these hold it, and a number times a complex infinity is NaN.
        return None
    kind = type(node.op)
    total = kind(tuple(left), dtype=dtype, acc_dtype=dtype)(once) if left else as_dtype(once, dtype)
    if kind is Prod:
        # An exponent must not wrap around, as products of integers do.
        exact = "float64" if is_float(total) else "int64"
        for count, _ in lengths:
            total = at_pow(as_dtype(total, exact), as_dtype(count, exact))
        return as_dtype(total, out.type.dtype)
    counts = [length for length, _ in lengths]
    for count in [mul(*counts)] if _are_of_one_array(counts) else counts:
        total = mul(total, as_dtype(count, dtype))
    may_be_none = [length for length, known in lengths if known in (None, 0)]
    if may_be_none and is_float(once) and not _is_finite_and_positive(once):
        # No times infinity is NaN, and no times a negative number -0: the sum of nothing is 0.
        total = switch(_is_none(may_be_none), constant(0, dtype=dtype), total)
    return as_dtype(total, out.type.dtype)


def _decision(
    node: Apply, once: Variable, left: list[int], lengths: list[tuple[Variable, int | None]]
) -> Variable | None:
    """Whether all or any of a tensor along axes, and of repetitions of it, are true."""
    if once.type.dtype != "bool":
        return None
    decision = with_axes(node.op, left)(once) if left else once
    may_be_none = [length for length, known in lengths if known in (None, 0)]
    if may_be_none:
        none = _is_none(may_be_none)
        decision = or_(decision, none) if isinstance(node.op, All) else and_(decision, invert(none))
    return decision


def _is_none(lengths: Sequence[Variable]) -> Variable:
    """Whether one of the lengths is 0."""
    return functools.reduce(or_, [eq(length, 0) for length in lengths])


def _are_of_one_array(lengths: Sequence[Variable]) -> bool:
    """Whether lengths are of different dimensions of one array: it has so many elements, and counts do not wrap around.

    What is computed inside of the graph may have more elements than could ever be stored.
    """
    dimensions = [dimension_measured_by(length) for length in lengths]
    arrays = {dimension and dimension[0] for dimension in dimensions}
    return len(lengths) == len(set(dimensions)) > len(arrays) == 1 and all(
        array is not None and array.owner is None for array in arrays
    )


def _is_finite_and_positive(var: Variable) -> bool:
    """Whether the elements of a tensor are known to be a number that is neither infinite nor NaN, and has no sign."""
    value = common_value(var)
    return value is not None and bool(np.isfinite(value)) and not np.signbit(value)
