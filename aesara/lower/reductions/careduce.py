"""Lowering of reductions: sums, products, extrema, logical reductions, means."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply
from aesara.ir.expr import PART_OF, Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.ir.lanes import ACCUMULATIONS, identity_of
from aesara.lower.arrays import ONE, Array, Index, Pointwise, Reader, Reduction
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.elementwise.scalars import scalar_expressions
from aesara.lower.errors import Unsupported, escape_braces
from aesara.lower.folds import fold
from aesara.scalar.arithmetic import Add
from aesara.scalar.conditional import ScalarMaximum, ScalarMinimum
from aesara.scalar.native import Primitive
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import get_scalar_type
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.sum_prod_max import Prod, ProdWithoutZeros, Supremum
from aesara.tensor.statistics.mean_var import Mean


def convert(array: Array, dtype: str) -> Array:
    """Cast an array."""
    if array.dtype == dtype:
        return array
    return Pointwise(dtype, array.shape, (array,), lambda index, readers: cast(readers[0](index), dtype), cost=1)


def reduce_array(
    context: Context, array: Array, axes: Sequence[int], kind: str, requires: Sequence[object] = ()
) -> Array:
    """Reduce an array over axes; return it unchanged if there are none."""
    if not axes:
        return array
    key = (kind, array, tuple(sorted(axes)), tuple(requires))
    reduction = context.parts.get(key)
    if reduction is None:
        reduction = context.add(Reduction(array, key[2], kind, identity_of(kind, array.dtype), requires))
        context.parts[key] = reduction
    return reduction


def _accumulation(scalar_op: ScalarOp, dtype: str) -> str | None:
    """Return the primitive that a reduction by a scalar op accumulates, or None if it is sequential."""
    if dtype in PART_OF:
        return "add" if isinstance(scalar_op, Add) else None
    fact = scalar_op.native_fact([get_scalar_type(dtype=dtype)] * 2)
    return fact.name if isinstance(fact, Primitive) and fact.name in ACCUMULATIONS else None


@lower_op.register
def _careduce(op: CAReduce, node: Apply, context: Context) -> Sequence[Array]:
    (x,) = node.inputs
    accumulate = op.acc_dtype or node.outputs[0].type.dtype
    array = context.array(x)
    axes = tuple(range(array.ndim)) if op.axis is None else tuple(op.axis)
    array = convert(array, accumulate)
    if isinstance(op, ProdWithoutZeros):
        # A product that has underflowed is no zero to leave out: leave out zeros before they are multiplied.
        array = _zeros_as_ones(array)
        op = Prod(op.axis, op.dtype, op.acc_dtype)
    kind = _accumulation(op.scalar_op, accumulate)
    if kind is not None:
        if not axes:
            return [convert(array, node.outputs[0].type.dtype)]
        guards: list[object] = []
        # For booleans these are `or` and `and`, which have identities.
        if isinstance(op.scalar_op, (ScalarMaximum, ScalarMinimum)) and not isinstance(op, Supremum):
            failure = f"zero-size array to reduction operation {op.ufunc.__name__}"
            guards = require_nonempty(context, array, axes, node, failure)
        result = reduce_array(context, array, axes, kind, guards)
    else:
        result = _reduce_sequentially(op, array, axes, node, context)
    return [convert(result, node.outputs[0].type.dtype)]


def _zeros_as_ones(array: Array) -> Array:
    """Replace zeros by ones."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        x = readers[0](index)
        return primitive("select", primitive("eq", x, const(0, array.dtype)), const(1, array.dtype), x)

    return Pointwise(array.dtype, array.shape, (array,), body, cost=1)


@lower_op.register
def _mean(op: Mean, node: Apply, context: Context) -> Sequence[Array]:
    """Lower a mean to a sum over the number of elements."""
    array = convert(context.array(node.inputs[0]), "float64")
    axes = tuple(range(array.ndim)) if op.axis is None else tuple(op.axis)
    total = reduce_array(context, array, axes, "add")
    count = functools.reduce(lambda a, b: a * b, [array.shape[a] for a in axes], ONE)

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](index) / cast(count, "float64")

    return [Pointwise("float64", total.shape, (total,), body, 5)]


def _reduce_sequentially(op: CAReduce, array: Array, axes: Sequence[int], node: Apply, context: Context) -> Array:
    """Reduce sequentially by a scalar op that is no accumulation primitive."""
    scalar_op, scalar_type = op.scalar_op, get_scalar_type(dtype=array.dtype)
    types = (scalar_type, scalar_type)
    (result,) = scalar_op.output_types(types)
    if result != scalar_type:
        raise Unsupported(f"reduction with {scalar_op}, which makes {result.dtype} of {array.dtype}")

    def combine(total: Expr, element: Expr) -> Expr:
        return scalar_expressions(scalar_op, [total, element], types, [scalar_type])[0]

    probe = const(1, array.dtype)
    combine(probe, probe)  # raise `Unsupported` now rather than during scheduling
    function: Any = op.ufunc
    has_own = function.types == ["OO->O"] or isinstance(op, Supremum)
    start = getattr(scalar_op, "identity", None) if has_own else function.identity
    if not axes:
        if start is None:
            return array
        identity = const(start, array.dtype)
        return Pointwise(
            array.dtype, array.shape, (array,), lambda index, readers: combine(identity, readers[0](index))
        )
    if start is not None:
        return fold(array, axes, combine, const(start, array.dtype))
    name = escape_braces(scalar_op)
    guards = require_nonempty(context, array, axes, node, f"zero-size array to reduction operation {name}")
    return fold(array, axes, combine, None, guards)


def require_nonempty(context: Context, array: Array, axes: Sequence[int], node: Apply, failure: str) -> list[object]:
    """Check that axes are not empty."""
    guards: list[object] = []
    for axis in axes:
        message = f"{failure}: dimension {axis} has size {{0}} and there is no identity."
        positive = array.shape[axis] > 0
        guards += context.guard(positive, ValueError, message, node, [array.shape[axis]])
    return guards
