"""Reductions of joined, divided, squared or reduced tensors in fewer steps, and transposed products.

See `reductions` for rules about reductions as such.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.matching import ops
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.ops import add, maximum, minimum, mul, square, true_divide
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.joining.join_split import Join
from aesara.tensor.products.dot import Dot, dot
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum
from aesara.tensor.rewriting.helpers import as_dtype, as_float, common_value, is_float, is_read_once
from aesara.tensor.rewriting.reductions import as_number, axes_of, is_number, local_reduce_broadcastable, with_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import number, row
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape_i

rules = Rules()

#: A reduction without axes is left out by the rule that leaves out axes of length one.
local_useless_reduce = local_reduce_broadcastable

#: More tensors than these are not reduced one with another.
MOST_JOINED = 32

PAIRWISE = {Sum: add, Prod: mul, Max: maximum, Min: minimum}


def _are_few(parts: list[Variable]) -> bool:
    return 2 <= len(parts) <= MOST_JOINED and all(v.type.dtype != "bool" for v in parts)


def _is_stacked(f: Any, axis: Variable, parts: list[Variable]) -> bool:
    """Return whether tensors have length one along the axis that they are joined, and the result reduced, along.

    Lengths that only a join checks must not be broadcast instead: they have the same dimensions of length one.
    """
    broadcastable = parts[0].type.broadcastable
    axes = axes_of(f, len(broadcastable))
    if len(axes) != 1 or common_value(axis) not in (axes[0], axes[0] - len(broadcastable)):
        return False
    return broadcastable[axes[0]] and all(v.type.broadcastable == broadcastable for v in parts)


def _pairwise(f: Any, stack: Apply, parts: list[Variable], out: Variable) -> Variable:
    """the parts of the stack, one with another"""
    op = PAIRWISE[type(f)]
    dtype = getattr(f, "acc_dtype", None) or out.type.dtype
    # An element is first given the dtype of the stack, which may be unable to hold it.
    parts = [as_dtype(as_dtype(v, stack.outputs[0].type.dtype), dtype) for v in parts]
    return op(*parts) if op in (add, mul) else reduce(op, parts)


def _without_axes(var: Any, axes: Any) -> Variable:
    """Return a variable without some of its dimensions, which have length one."""
    order: list = [i for i in range(var.type.ndim) if i not in axes]
    if var.owner is not None and isinstance(var.owner.op, DimShuffle):
        order = [var.owner.op.new_order[i] for i in order]
        (var,) = var.owner.inputs
    return var if order == list(range(var.type.ndim)) else var.dimshuffle(*order)


local_reduce_join = rules.group(
    "local_reduce_join",
    row(
        "local_reduce_stack",
        (ops(*PAIRWISE, name="f"), (ops(Join, node="stack"), number("axis"), "**parts")),
        lambda f, stack, parts, out: _pairwise(
            f, stack, [_without_axes(v, axes_of(f, v.type.ndim)) for v in parts], out
        ),
        lambda f, axis, parts: _are_few(parts) and _is_stacked(f, axis, parts),
        each=None,
        why="sum(stack([x, y]), axis=0) -> x + y, and so for other reductions",
    ),
    row(
        "local_reduce_make_vector",
        (ops(*PAIRWISE, name="f"), (ops(MakeVector, node="stack"), "**parts")),
        _pairwise,
        lambda parts, out: _are_few(parts) and out.type.ndim == 0,
        each=None,
    ),
    to=(rules.canonicalize, rules.uncanonicalize),
)


def _axes_of_one_divisor(f: Any, x: Variable, y: Variable) -> list[int]:
    """Return the axes of a reduction of ``x / y`` along which only `x` changes."""
    return [i for i in axes_of(f, x.type.ndim) if y.type.shape[i] == 1 and x.type.shape[i] != 1]


def _has_one_divisor(f: Any, x: Variable, y: Variable, quotient: Apply, out: Variable) -> bool:
    """Return whether a reduction of ``x / y`` has axes along which only `x` changes."""
    # In float16 the result for what is not divided yet would often be infinite.
    of_dtype = is_float(out) and quotient.outputs[0].type.dtype == out.type.dtype != "float16"
    return of_dtype and bool(_axes_of_one_divisor(f, x, y))


def _divided_after(f: Any, x: Variable, y: Variable, divisor: Variable) -> Variable:
    """Return a reduction of `x` along the axes along which `y` is the same, divided; then reduced along the others."""
    first = _axes_of_one_divisor(f, x, y)
    new = true_divide(with_axes(f, first)(x), _without_axes(divisor, first))
    left = [i - sum(axis < i for axis in first) for i in axes_of(f, x.type.ndim) if i not in first]
    return with_axes(f, left)(new) if left else new


def _power_of_divisor(f: Any, x: Variable, y: Variable, out: Variable) -> Variable:
    """Return ``y ** n`` for a product of `n` quotients ``x / y``; an exponent in float32 may be rounded."""
    lengths = [Shape_i(i)(x) for i in _axes_of_one_divisor(f, x, y)]
    count = as_dtype(lengths[0] if len(lengths) == 1 else mul(*lengths), "float64")
    return as_dtype(at_pow(as_dtype(y, "float64"), as_number(count, y)), out.type.dtype)


local_sum_prod_div_dimshuffle = row(
    "local_sum_prod_div_dimshuffle",
    (ops(Sum, name="f"), (ops(true_divide, node="quotient"), "x", "y")),
    lambda f, x, y, out: _divided_after(f, as_float(x, out), y, y),
    lambda f, x, y, quotient, out: _has_one_divisor(f, x, y, quotient, out) and not is_number(y),
    each=None,
    single_client=True,
    why="sum(x / y, axis) -> sum(x, axis) / y where y is the same all along the axis. "
    "Where there is nothing to sum, y is assumed not to be zero, and the sum of x to be finite where that of x / y is",
)
rules.add(local_sum_prod_div_dimshuffle, to=(rules.canonicalize, rules.specialize))
local_prod_div_dimshuffle = row(
    "local_prod_div_dimshuffle",
    (ops(Prod, name="f"), (ops(true_divide, node="quotient"), "x", "y")),
    lambda f, x, y, out: _divided_after(f, as_float(x, out), y, _power_of_divisor(f, as_float(x, out), y, out)),
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
        ops(Sum, name="f", axis=(1, 2)),
        (
            ops(square, node="squares"),
            (
                ops(mul, node="products"),
                (ops(DimShuffle, new_order=("x", 0, 1)), "w"),
                (ops(DimShuffle, new_order=(0, "x", 1)), "g"),
            ),
        ),
    ),
    lambda f, w, g: dot(square(g), with_axes(f, [0])(square(w))),
    lambda w, g, squares, products, fgraph: (
        w.type.broadcastable[1] == g.type.broadcastable[1]  # or the inner dimension would have to be repeated
        and is_read_once(squares, fgraph)
        and is_read_once(products, fgraph)
    ),
    why="sum(sqr(w * g[:, None]), axis=(1, 2)) -> dot(sqr(g), sum(sqr(w), axis=0)): no tensor of three dimensions",
)
rules.add(local_sumsqr2dot, to=(rules.canonicalize, rules.specialize))
local_lift_transpose_through_dot = rules.canonicalize(
    row(
        "local_lift_transpose_through_dot",
        (ops(DimShuffle, new_order=(1, 0)), (ops(Dot, name="f"), "x", "y")),
        lambda f, x, y: f(y.T, x.T),
        lambda x, y: x.type.ndim == 2 == y.type.ndim,
        each=None,
        single_client=True,
        why="dot(x, y).T -> dot(y.T, x.T), for matrices",
    )
)
