"""Rules about reductions along axes."""

from __future__ import annotations

import functools
import typing
from collections.abc import Sequence
from functools import reduce

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import constant
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise import ops
from aesara.tensor.joining.join_split import Join
from aesara.tensor.products.dot import dot
from aesara.tensor.reductions.all_any import All, Any
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    as_float,
    combined_in,
    common_value,
    in_place_of,
    is_complex,
    is_float,
    is_read_once,
    same_dtype,
)
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import number, replacing, row
from aesara.tensor.shapes.broadcasting import BroadcastTo
from aesara.tensor.shapes.dimshuffle import DimShuffle, dimshuffle
from aesara.tensor.shapes.shape import Shape_i

rules = Rules()

REDUCTIONS = (Sum, Prod, Max, Min, All, Any)


def axes_of(op: typing.Any, ndim: int) -> tuple[int, ...]:
    """Return the axes of a reduction of a tensor with `ndim` dimensions."""
    return tuple(range(ndim)) if op.axis is None else tuple(op.axis)


def reduced_axes(node) -> tuple[int, ...]:
    """Return the axes of the reduction of a node."""
    return axes_of(node.op, node.inputs[0].type.ndim)


def with_axes(op, axes: Sequence[int] | None):
    """Return a reduction of the same kind along other axes."""
    if axes is not None:
        return op.clone(axis=tuple(axes))
    if isinstance(op, (Sum, Prod)):
        return type(op)(axis=None, dtype=op.dtype, acc_dtype=op.acc_dtype)
    return type(op)(axis=None)


def is_number(var: Variable) -> bool:
    """Return whether a tensor has one element, whatever its number of dimensions."""
    return all(var.type.broadcastable)


def as_number(var: typing.Any, like: Variable) -> Variable:
    """Return a tensor of one element with as many dimensions as another tensor."""
    if var.type.ndim:
        var = var.dimshuffle()
    return var.dimshuffle(*["x"] * like.type.ndim) if like.type.ndim else var


def _keeps_numbers(node: Apply, out: Variable) -> bool:
    """Return whether a node has the dtype of `out`, and that is not boolean, which loses the numbers."""
    return node.outputs[0].type.dtype == out.type.dtype != "bool"


def _is_scalable(product: Apply, out: Variable) -> bool:
    """Return whether a sum may be scaled instead of its terms.

    A sum that widens integers could wrap around differently, and a sum in float16 of terms that are not yet scaled down
    is often infinite.
    """
    return _keeps_numbers(product, out) and out.type.dtype != "float16"


local_sum_prod_mul_by_scalar = rules.group(
    "local_sum_prod_mul_by_scalar",
    row("local_sum_of_opposite", (one_of(Sum, name="f"), (ops.neg, "x")), (ops.neg, ("f", "x")), same_dtype, each=None),
    row(
        "local_sum_of_multiple",
        (one_of(Sum, name="f"), (one_of(ops.mul, node="product"), "**x")),
        lambda f, x, out: ops.mul(
            *(as_number(v, out) for v in x if is_number(v)),
            f(combined_in(out.type.dtype, ops.mul, [v for v in x if not is_number(v)])),
        ),
        lambda product, x, out: _is_scalable(product, out) and 0 < sum(map(is_number, x)) < len(x),
        each=None,
        why="sum(c * x) -> c * sum(x), for numbers c",
    ),
    row(
        "local_sum_of_fraction",
        (one_of(Sum, name="f"), (one_of(ops.true_divide, node="quotient"), "x", "c")),
        lambda f, x, c, out: ops.true_divide(f(as_float(x, out)), as_number(c, out)),
        lambda quotient, x, c, out: is_float(out) and _is_scalable(quotient, out) and is_number(c) and not is_number(x),
        each=None,
        why="sum(x / c) -> sum(x) / c, for a number c",
    ),
    to=(rules.canonicalize, rules.specialize),
)
local_sum_prod_all_to_none = rules.canonicalize(
    row(
        "local_sum_prod_all_to_none",
        (one_of(*REDUCTIONS, name="f", axis=lambda axis: axis), "x"),
        lambda f, x: with_axes(f, None)(x),
        lambda f, x: len(f.axis) == x.type.ndim,
        each=None,
        why="sum(x, axis=(0, 1)) -> sum(x, axis=None) for a matrix, and so for all axes, and other reductions",
    )
)


def _merge_reductions(f: typing.Any, g: typing.Any, x: Variable) -> Variable:
    """Return ``f(g(x))``, for two reductions of one kind, as a reduction along the axes of both."""
    first = axes_of(g, x.type.ndim)
    kept = [i for i in range(x.type.ndim) if i not in first]
    axes = sorted([*first, *(kept[i] for i in axes_of(f, len(kept)))])
    return (g if len(axes) == len(first) else with_axes(g, axes))(x)


local_op_of_op = rules.canonicalize(
    row(
        "local_op_of_op",
        (one_of(*REDUCTIONS, name="f"), (one_of(*REDUCTIONS, name="g", node="inner"), "x")),
        _merge_reductions,
        lambda f, g, inner, out: (
            type(f) is type(g)
            and (not isinstance(f, (Sum, Prod)) or (f.acc_dtype == g.acc_dtype and _keeps_numbers(inner, out)))
        ),
        each=None,
        single_client=True,
        why="sum(sum(x, axis=0), axis=0) -> sum(x, axis=(0, 1)), and so for other reductions",
    )
)


@rules.useless("local_useless_reduce", "local_cut_useless_reduce")
@rules.canonicalize("local_useless_reduce", "local_cut_useless_reduce")
@rules.specialize("local_useless_reduce", "local_cut_useless_reduce")
@node_rewriter(REDUCTIONS)
def local_reduce_broadcastable(fgraph, node):
    """``sum(x, axis=(0, 1)) -> sum(x.dimshuffle(1))`` for an axis 0 of length one, and a cast if all axes are such

    A function, since the replacement depends on the remaining axes.
    """
    out = node.outputs[0]
    (x,) = node.inputs
    axes = reduced_axes(node)
    single = [axis for axis in axes if x.type.shape[axis] == 1]
    if axes and not single:
        return False
    if isinstance(node.op, (All, Any)) and x.type.dtype != "bool":
        return False
    kept = [i for i in range(x.type.ndim) if i not in single]
    smaller = x.dimshuffle(*kept) if single else x
    remaining = [kept.index(axis) for axis in axes if axis not in single]
    return in_place_of(out, with_axes(node.op, remaining)(smaller) if remaining else cast(smaller, out.type.dtype))


def _opposite(name: str, of: type[Max | Min], other: type[Max | Min]):
    """Return the rule ``-max(-x) -> min(x)``, or with both exchanged."""
    return row(
        name,
        (ops.neg, (one_of(of, axis="axis", node="extremum"), (ops.neg, "x"))),
        lambda x, axis: other(axis)(x),
        lambda extremum, fgraph: is_read_once(extremum, fgraph),
        why=f"-{of.__name__.lower()}(-x) -> {other.__name__.lower()}(x)",
    )


local_max_to_min = rules.uncanonicalize(_opposite("local_max_to_min", Max, Min))
local_min_to_max = rules.uncanonicalize(_opposite("local_min_to_max", Min, Max))


#: The same rule removes reductions without axes.
local_useless_reduce = local_reduce_broadcastable

#: The largest number of tensors whose join is reduced elementwise.
MOST_JOINED = 32

PAIRWISE = {Sum: ops.add, Prod: ops.mul, Max: ops.maximum, Min: ops.minimum}


def _are_few(parts: list[Variable]) -> bool:
    return 2 <= len(parts) <= MOST_JOINED and all(v.type.dtype != "bool" for v in parts)


def _is_stacked(f: typing.Any, axis: Variable, parts: list[Variable]) -> bool:
    """Return whether tensors of length one along an axis are joined, and the result is reduced, along this axis.

    Their other dimensions must have length one in all or none: a join raises an error where arithmetic broadcasts.
    """
    broadcastable = parts[0].type.broadcastable
    axes = axes_of(f, len(broadcastable))
    if len(axes) != 1 or common_value(axis) not in (axes[0], axes[0] - len(broadcastable)):
        return False
    return broadcastable[axes[0]] and all(v.type.broadcastable == broadcastable for v in parts)


def _pairwise(f: Apply, stack: Apply, parts: list[Variable], out: Variable) -> Variable:
    """Combine the operands of a stack elementwise."""
    op = PAIRWISE[type(f)]
    dtype = getattr(f, "acc_dtype", None) or out.type.dtype
    # The dtype of the stack may be narrower than that of an operand.
    parts = [as_dtype(as_dtype(v, stack.outputs[0].type.dtype), dtype) for v in parts]
    return op(*parts) if op in (ops.add, ops.mul) else reduce(op, parts)


def _without_axes(var: typing.Any, axes: typing.Any) -> Variable:
    """Return a variable without some dimensions of length one."""
    order: list = [i for i in range(var.type.ndim) if i not in axes]
    if var.owner is not None and isinstance(var.owner.op, DimShuffle):
        order = [var.owner.op.new_order[i] for i in order]
        (var,) = var.owner.inputs
    return var if order == list(range(var.type.ndim)) else var.dimshuffle(*order)


local_reduce_join = rules.group(
    "local_reduce_join",
    row(
        "local_reduce_stack",
        (one_of(*PAIRWISE, name="f"), (one_of(Join, node="stack"), number("axis"), "**parts")),
        lambda f, stack, parts, out: _pairwise(
            f, stack, [_without_axes(v, axes_of(f, v.type.ndim)) for v in parts], out
        ),
        lambda f, axis, parts: _are_few(parts) and _is_stacked(f, axis, parts),
        each=None,
        why="sum(stack([x, y]), axis=0) -> x + y, and so for other reductions",
    ),
    row(
        "local_reduce_make_vector",
        (one_of(*PAIRWISE, name="f"), (one_of(MakeVector, node="stack"), "**parts")),
        _pairwise,
        lambda parts, out: _are_few(parts) and out.type.ndim == 0,
        each=None,
    ),
    to=(rules.canonicalize, rules.uncanonicalize),
)


def _axes_of_one_divisor(f: typing.Any, x: Variable, y: Variable) -> list[int]:
    """Return the axes of a reduction of ``x / y`` along which only `x` varies."""
    return [i for i in axes_of(f, x.type.ndim) if y.type.shape[i] == 1 and x.type.shape[i] != 1]


def _has_one_divisor(f: Apply, x: Variable, y: Variable, quotient: Apply, out: Variable) -> bool:
    """Return whether a reduction of ``x / y`` has axes along which only `x` varies."""
    # In float16 the reduction of the undivided `x` is often infinite.
    has_dtype = is_float(out) and quotient.outputs[0].type.dtype == out.type.dtype != "float16"
    return has_dtype and bool(_axes_of_one_divisor(f, x, y))


def _divide_after_reduction(f: typing.Any, x: Variable, y: Variable, divisor: Variable) -> Variable:
    """Reduce `x` along the axes along which `y` is constant, divide, and reduce along the other axes."""
    first = _axes_of_one_divisor(f, x, y)
    new = ops.true_divide(with_axes(f, first)(x), _without_axes(divisor, first))
    remaining = [i - sum(axis < i for axis in first) for i in axes_of(f, x.type.ndim) if i not in first]
    return with_axes(f, remaining)(new) if remaining else new


def _power_of_divisor(f: typing.Any, x: Variable, y: Variable, out: Variable) -> Variable:
    """Return ``y ** n`` for a product of `n` quotients ``x / y``; `n` may not be exact in float32."""
    lengths = [Shape_i(i)(x) for i in _axes_of_one_divisor(f, x, y)]
    count = as_dtype(lengths[0] if len(lengths) == 1 else ops.mul(*lengths), "float64")
    return as_dtype(ops.pow(as_dtype(y, "float64"), as_number(count, y)), out.type.dtype)


local_sum_prod_div_dimshuffle = row(
    "local_sum_prod_div_dimshuffle",
    (one_of(Sum, name="f"), (one_of(ops.true_divide, node="quotient"), "x", "y")),
    lambda f, x, y, out: _divide_after_reduction(f, as_float(x, out), y, y),
    lambda f, x, y, quotient, out: _has_one_divisor(f, x, y, quotient, out) and not is_number(y),
    each=None,
    single_client=True,
    why="sum(x / y, axis) -> sum(x, axis) / y where y is the same all along the axis. "
    "Where there is nothing to sum, y is assumed not to be zero, and the sum of x to be finite where that of x / y is",
)
rules.add(local_sum_prod_div_dimshuffle, to=(rules.canonicalize, rules.specialize))
local_prod_div_dimshuffle = row(
    "local_prod_div_dimshuffle",
    (one_of(Prod, name="f"), (one_of(ops.true_divide, node="quotient"), "x", "y")),
    lambda f, x, y, out: _divide_after_reduction(
        f, as_float(x, out), y, _power_of_divisor(f, as_float(x, out), y, out)
    ),
    _has_one_divisor,
    each=None,
    single_client=True,
    why="prod(x / y, axis) -> prod(x, axis) / y**n where y is the same for all n elements along the axis. "
    "Both are assumed to be in the range of numbers where the product of the quotients is",
)
rules.by_name(local_prod_div_dimshuffle, databases.canonicalize)

local_sumsqr2dot = row(
    "local_sumsqr2dot",
    (
        one_of(Sum, name="f", axis=(1, 2)),
        (
            one_of(ops.square, node="squares"),
            (
                one_of(ops.mul, node="products"),
                (one_of(DimShuffle, new_order=("x", 0, 1)), "w"),
                (one_of(DimShuffle, new_order=(0, "x", 1)), "g"),
            ),
        ),
    ),
    lambda f, w, g: dot(ops.square(g), with_axes(f, [0])(ops.square(w))),
    lambda w, g, squares, products, fgraph: (
        w.type.broadcastable[1] == g.type.broadcastable[1]  # or the inner dimension would have to be repeated
        and is_read_once(squares, fgraph)
        and is_read_once(products, fgraph)
    ),
    why="sum(sqr(w * g[:, None]), axis=(1, 2)) -> dot(sqr(g), sum(sqr(w), axis=0)): no tensor of three dimensions",
)
rules.add(local_sumsqr2dot, to=(rules.canonicalize, rules.specialize))


@rules.canonicalize
@rules.specialize
@replacing(
    (
        one_of(Sum, Prod, Max, Min, All, Any, node="node"),
        (one_of(Alloc, BroadcastTo, node="inner"), "value", "**sizes"),
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
    lengths = [(_check_nonnegative(sizes[axis]), inner.outputs[0].type.shape[axis]) for axis in dropped]
    if isinstance(node.op, (Sum, Prod)):
        result = _total(node, once, left, lengths)
    elif isinstance(node.op, (All, Any)):
        result = _decision(node, once, left, lengths)
    elif any(known in (None, 0) for _, known in lengths):
        return None  # an extremum of no elements is an error
    else:
        result = with_axes(node.op, left)(once) if left else once
    if result is None:
        return None
    remaining = [axis for axis in range(len(sizes)) if axis not in axes]
    if any(axis in repeated for axis in remaining):
        dimensions = iter(range(result.type.ndim))
        order: list[typing.Any] = ["x" if axis in repeated else next(dimensions) for axis in remaining]
        while order and order[0] == "x":
            order.pop(0)  # a broadcast adds leading dimensions
        result = inner.op(dimshuffle(result, order), *(sizes[axis] for axis in remaining))
    return result


_check_length = CheckAndRaise(ValueError, "negative dimensions are not allowed")


def _check_nonnegative(length: Variable) -> Variable:
    """Return a length of a broadcast, with a run-time check that it is not negative."""
    if isinstance(length, Constant) or dimension_measured_by(length) is not None:
        return length
    return _check_length(length, ops.ge(length, 0))


def _repeated_axes(value: Variable, ndim: int) -> list[int]:
    """Return the axes along which a broadcast is known to repeat elements."""
    new = ndim - value.type.ndim
    return [axis for axis in range(ndim) if axis < new or value.type.shape[axis - new] == 1]


def _without_repetitions(broadcast: Apply, repeated: Sequence[int]) -> Variable:
    """Return a broadcast tensor without the axes of repetitions; the other lengths are still checked."""
    value: typing.Any
    value, *sizes = broadcast.inputs
    new = len(sizes) - value.type.ndim
    kept = [axis for axis in range(len(sizes)) if axis not in repeated]
    if len(kept) != value.type.ndim:
        value = value.dimshuffle(*(axis - new for axis in kept))
    return broadcast.op(value, *(sizes[axis] for axis in kept)) if kept else value


def _total(node: Apply, once: Variable, left: list[int], lengths: list[tuple[Variable, int | None]]) -> Variable | None:
    """Return the sum or product of a tensor along axes, and along axes of repetitions with some lengths."""
    out = node.outputs[0]
    # The dtype of the sum holds the number of elements, which a narrower one might not.
    dtype = node.op.acc_dtype or out.type.dtype
    if dtype in ("bool", "float16") or out.type.dtype == "bool" or is_complex(once):
        # These may not hold the number of elements, and a number times a complex infinity is NaN.
        return None
    kind = type(node.op)
    total = kind(tuple(left), dtype=dtype, acc_dtype=dtype)(once) if left else as_dtype(once, dtype)
    if kind is Prod:
        # An exponent must not wrap around, as products of integers do.
        exact = "float64" if is_float(total) else "int64"
        for count, _ in lengths:
            total = ops.pow(as_dtype(total, exact), as_dtype(count, exact))
        return as_dtype(total, out.type.dtype)
    counts = [length for length, _ in lengths]
    for count in [ops.mul(*counts)] if _are_of_one_array(counts) else counts:
        total = ops.mul(total, as_dtype(count, dtype))
    possibly_zero = [length for length, known in lengths if known in (None, 0)]
    if possibly_zero and is_float(once) and not _is_finite_and_positive(once):
        # A sum of no elements is 0, but 0 times infinity is NaN, and 0 times a negative number -0.
        total = ops.switch(_any_is_zero(possibly_zero), constant(0, dtype=dtype), total)
    return as_dtype(total, out.type.dtype)


def _decision(
    node: Apply, once: Variable, left: list[int], lengths: list[tuple[Variable, int | None]]
) -> Variable | None:
    """Return `all` or `any` of a tensor along axes, and along axes of repetitions with some lengths."""
    if once.type.dtype != "bool":
        return None
    decision = with_axes(node.op, left)(once) if left else once
    possibly_zero = [length for length, known in lengths if known in (None, 0)]
    if possibly_zero:
        is_empty = _any_is_zero(possibly_zero)
        decision = ops.or_(decision, is_empty) if isinstance(node.op, All) else ops.and_(decision, ops.invert(is_empty))
    return decision


def _any_is_zero(lengths: Sequence[Variable]) -> Variable:
    """Return a boolean variable that is true if one of the lengths is 0."""
    return functools.reduce(ops.or_, [ops.eq(length, 0) for length in lengths])


def _are_of_one_array(lengths: Sequence[Variable]) -> bool:
    """Return whether lengths are those of different dimensions of one input, so that their product cannot overflow.

    An intermediate result of a graph may have more elements than could be stored.
    """
    dimensions = [dimension_measured_by(length) for length in lengths]
    arrays = {dimension and dimension[0] for dimension in dimensions}
    return len(lengths) == len(set(dimensions)) > len(arrays) == 1 and all(
        array is not None and array.owner is None for array in arrays
    )


def _is_finite_and_positive(var: Variable) -> bool:
    """Return whether all elements of a tensor are known to be one finite nonnegative number."""
    value = common_value(var)
    return value is not None and bool(np.isfinite(value)) and not np.signbit(value)
