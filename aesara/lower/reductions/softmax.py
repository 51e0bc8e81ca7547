"""Lowering of softmax, log_softmax and the gradient of softmax, with the maximum subtracted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Index, Pointwise
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import check_dtype
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad


def _axes(axis: int | None, rank: int) -> tuple[int, ...]:
    return tuple(range(rank)) if axis is None else (axis % rank,)


def _drop_axes(index: Index, axes: Sequence[int]) -> Index:
    return tuple(i for d, i in enumerate(index) if d not in axes)


def _pointwise(
    shape: Sequence[Expr], dtype: str, operands: Sequence[Array], rule: Callable[..., Expr], cost: int,
    axes: Sequence[int], reduced: Sequence[bool], context: Context,
) -> Array:  # fmt: skip
    """Combine arrays with `reduced` ones, which broadcast along `axes`."""

    def body(index: Index, readers: Sequence[Callable[[Index], Expr]]) -> Expr:
        pairs = zip(readers, reduced, strict=True)
        return rule(*(read(_drop_axes(index, axes) if is_reduced else index) for read, is_reduced in pairs))

    trailing = tuple(axes) == tuple(range(len(shape) - len(axes), len(shape)))
    expands = [is_reduced and not trailing for is_reduced in reduced]
    return context.add(Pointwise(dtype, shape, operands, body, cost, expands))


def _subtract_max(x: Array, axes: Sequence[int], context: Context) -> Array:
    key = ("shifted", x, tuple(axes))
    if key not in context.parts:
        largest = reduce_array(context, x, axes, "maximum")
        context.parts[key] = _pointwise(
            x.shape, x.dtype, [x, largest], lambda a, m: a - m, 1, axes, [False, True], context
        )
    return context.parts[key]


def _exponentials(x: Array, context: Context) -> Array:
    key = ("exp", x)
    if key not in context.parts:
        context.parts[key] = context.add(
            Pointwise(x.dtype, x.shape, (x,), lambda index, readers: primitive("exp", readers[0](index)), 20)
        )
    return context.parts[key]


def _total(x: Array, axes: Sequence[int], context: Context) -> Array:
    """Sum with accumulation in float64."""
    wide = context.parts.setdefault(("float64", x), convert(x, "float64"))
    return convert(reduce_array(context, wide, axes, "add"), x.dtype)


@lower_op.register
def _softmax(op: Softmax, node: Apply, context: Context) -> Sequence[Array]:
    x = _to_working_dtype(context.array(node.inputs[0]), node, context)
    axes = _axes(op.axis, x.ndim)
    powers = _exponentials(_subtract_max(x, axes, context), context)
    total = _total(powers, axes, context)
    result = _pointwise(x.shape, x.dtype, [powers, total], lambda p, t: p / t, 5, axes, [False, True], context)
    return [convert(result, node.outputs[0].type.dtype)]


@lower_op.register
def _log_softmax(op: LogSoftmax, node: Apply, context: Context) -> Sequence[Array]:
    x = _to_working_dtype(context.array(node.inputs[0]), node, context)
    axes = _axes(op.axis, x.ndim)
    shifted = _subtract_max(x, axes, context)
    total = _total(_exponentials(shifted, context), axes, context)
    logarithm = Pointwise(
        x.dtype, total.shape, (total,), lambda index, readers: primitive("log", readers[0](index)), 20
    )
    result = _pointwise(x.shape, x.dtype, [shifted, logarithm], lambda a, t: a - t, 1, axes, [False, True], context)
    return [convert(result, node.outputs[0].type.dtype)]


@lower_op.register
def _softmax_grad(op: SoftmaxGrad, node: Apply, context: Context) -> Sequence[Array]:
    """Lower ``(dy - sum(dy * sm)) * sm``."""
    dy, sm = (_to_working_dtype(context.array(v), node, context) for v in node.inputs)
    axes = _axes(op.axis, sm.ndim)
    guards: list[object] = []
    for d, (a, b) in enumerate(zip(dy.shape, sm.shape, strict=True)):
        message = f"SoftmaxGrad: along dimension {d} the gradient has size {{0}} and the softmax {{1}}."
        guards += context.require_equal(a, b, ValueError, message, node)
    weighted = Pointwise(sm.dtype, sm.shape, (dy, sm), lambda index, r: r[0](index) * r[1](index), 1, requires=guards)
    total = _total(context.add(weighted), axes, context)
    result = _pointwise(
        sm.shape, sm.dtype, [weighted, total, sm],
        lambda w, t, s: w - t * s, 2, axes, [False, True, False], context,
    )  # fmt: skip
    return [convert(result, node.outputs[0].type.dtype)]


def _to_working_dtype(x: Array, node: Apply, context: Context) -> Array:
    """Cast an operand to the dtype of the computation, single precision for half."""
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    return convert(x, "float32" if dtype == "float16" else dtype)
