"""Lowering of elementwise ops and dimension shuffles."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.ir.expr import Expr, cast, const, op
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import expands_along
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.elementwise.scalars import costs_of_outputs, folded_primitive, has_complex, scalar_expressions
from aesara.lower.ranges import range_of
from aesara.scalar.native import Primitive
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import ScalarType, get_scalar_type
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.length_one import MessageAboutLengths

#: sums and products of more operands than this are computed in chunks
LONGEST_FOLD = 12


@lower_op.register
def _elemwise(elemwise: Elemwise, node: Apply, context: Context) -> Sequence[Array]:
    return elementwise(elemwise.scalar_op, node, context)


@lower_op.register
def _scalar_op(scalar_op: ScalarOp, node: Apply, context: Context) -> Sequence[Array]:
    return elementwise(scalar_op, node, context)


@lower_op.register(TensorFromScalar)
@lower_op.register(ScalarFromTensor)
def _same_value(conversion: object, node: Apply, context: Context) -> Sequence[Array]:
    return [context.array(node.inputs[0])]


def is_broadcast(variable: Variable, axis: int) -> bool:
    return bool(variable.type.shape[axis] == 1)


def elementwise(scalar_op: ScalarOp, node: Apply, context: Context) -> Sequence[Array]:
    """Lower an elementwise op; return an array for each output."""
    arrays = [context.array(v) for v in node.inputs]
    input_types = tuple(get_scalar_type(dtype=v.type.dtype) for v in node.inputs)
    output_types = [get_scalar_type(dtype=v.type.dtype) for v in node.outputs]
    costs = costs_of_outputs(scalar_op, input_types, output_types)
    rank = len(getattr(node.outputs[0].type, "shape", ()))
    shape, guards = common_shape(node, arrays, rank, context)
    guards += _require_nonnegative_exponents(scalar_op, input_types, arrays, node, context)
    broadcast = [broadcast_axes(v, rank) for v in node.inputs]
    expands = [expands_along(flags) for flags in broadcast]
    fold = folded_primitive(scalar_op, input_types) if len(arrays) > LONGEST_FOLD else None
    if fold is not None:
        return [_long_fold(fold, arrays, broadcast, expands, output_types[0].dtype, shape, guards, context)]
    memo: dict[tuple[Expr, ...], list[Expr]] = {}

    def outputs_at(index: Index, readers: Sequence[Reader]) -> list[Expr]:
        args = [
            read(tuple(ZERO if flag else i for flag, i in zip(flags, index, strict=True)))
            for read, flags in zip(readers, broadcast, strict=True)
        ]
        outputs = memo.get(tuple(args))
        if outputs is None:
            outputs = memo[tuple(args)] = scalar_expressions(scalar_op, args, input_types, output_types)
        return outputs

    def output_at(k: int) -> Callable[[Index, Sequence[Reader]], Expr]:
        return lambda index, readers: outputs_at(index, readers)[k]

    if not has_complex((*input_types, *output_types)):
        # Raise `Unsupported` now rather than during scheduling. Complex arrays are split when they are created.
        probe = [const(1, v.type.dtype) for v in node.inputs]
        scalar_expressions(scalar_op, probe, input_types, output_types)
    return [
        Pointwise(t.dtype, shape, arrays, output_at(k), costs[k], expands, guards) for k, t in enumerate(output_types)
    ]


def _require_nonnegative_exponents(
    scalar_op: ScalarOp, input_types: Sequence[ScalarType], arrays: Sequence[Array], node: Apply, context: Context
) -> tuple[object, ...]:
    """Check that no exponent of an integer power is negative."""
    fact = scalar_op.native_fact(list(input_types))
    if not (isinstance(fact, Primitive) and fact.name == "pow"):
        return ()
    if "int" not in node.outputs[0].type.dtype or not input_types[1].dtype.startswith("int"):
        return ()
    exponents = node.inputs[1]
    if isinstance(exponents, Constant):
        lowest: Expr = const(int(np.min(exponents.data, initial=0)))
    else:
        lowest, _ = range_of(arrays[1], context)
    empty = [op("eq", n, ZERO) for n in arrays[0].shape]
    holds = functools.reduce(lambda a, b: a | b, empty, lowest >= ZERO)
    message = "Integers to negative integer powers are not allowed; an exponent is {0}. Cast the base to a float dtype."
    return context.guard(holds, ValueError, message, node, [lowest])


def _long_fold(
    primitive: str, arrays: Sequence[Array], broadcast: Sequence[tuple[bool, ...]], expands: Sequence[bool], dtype: str,
    shape: Sequence[Expr], guards: Sequence[object], context: Context,
) -> Array:  # fmt: skip
    """Fold many arrays from left to right in chunks, so that no expression gets large."""
    total: Array | None = None
    for start in range(0, len(arrays), LONGEST_FOLD):
        part = slice(start, start + LONGEST_FOLD)
        lead = [] if total is None else [total]
        flags = [(False,) * len(shape)] * len(lead) + list(broadcast[part])

        def body(index: Index, readers: Sequence[Reader], flags: Sequence[tuple[bool, ...]] = flags) -> Expr:
            values = [
                cast(read(tuple(ZERO if flag else i for flag, i in zip(axes, index, strict=True))), dtype)
                for read, axes in zip(readers, flags, strict=True)
            ]
            return functools.reduce(lambda a, b: op(primitive, a, b), values)

        operands = [*lead, *arrays[part]]
        expanding = [False] * len(lead) + list(expands[part])
        total = context.add(Pointwise(dtype, shape, operands, body, len(operands) - 1, expanding, guards))
    assert total is not None
    return total


def common_shape(
    node: Apply, arrays: Sequence[Array], rank: int, context: Context
) -> tuple[list[Expr], tuple[object, ...]]:
    """Return the shape of an elementwise result, and the checks that sizes of inputs agree."""
    shape: list[Expr] = []
    guards: list[object] = []
    for axis in range(rank):
        not_broadcast = [k for k, variable in enumerate(node.inputs) if not is_broadcast(variable, axis)]
        if not not_broadcast:
            shape.append(ONE)
            continue
        first, *others = not_broadcast
        shape.append(arrays[first].shape[axis])
        for k in others:
            message = (
                f"Input dimension mismatch: input {first} has size {{0}} and input {k} has size {{1}} along "
                f"dimension {axis} of an elementwise operation. Only dimensions whose length is statically known "
                "to be 1 are broadcast (see specify_broadcastable)."
            )
            error = MessageAboutLengths(message, ((node.inputs[first], axis), (node.inputs[k], axis)))
            guards += context.require_equal(shape[axis], arrays[k].shape[axis], ValueError, error, node)
    return shape, tuple(guards)


def broadcast_axes(variable: Variable, rank: int) -> tuple[bool, ...]:
    """Return for each dimension whether the variable is broadcast along it."""
    return tuple(is_broadcast(variable, axis) for axis in range(rank))


@lower_op.register
def _dimshuffle(shuffle: DimShuffle, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    order = shuffle.new_order
    guards: list[object] = []
    for axis in shuffle.drop:
        if array.shape[axis] is not ONE:
            message = f"Dimension {axis} is dropped, so its length must be 1; it is {{0}}."
            guards += context.require_equal(array.shape[axis], ONE, ValueError, message, node)
    shape = [ONE if isinstance(d, str) else array.shape[d] for d in order]
    back = {d: k for k, d in enumerate(order) if d != "x"}

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return readers[0](tuple(index[back[d]] if d in back else ZERO for d in range(array.ndim)))

    def restride(offset: Expr, strides: tuple[Expr, ...]) -> tuple[Expr, tuple[Expr, ...]]:
        return offset, tuple(ZERO if isinstance(d, str) else strides[d] for d in order)

    return [Pointwise(array.dtype, shape, (array,), body, 0, requires=guards, strided=restride)]
