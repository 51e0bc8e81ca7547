"""Lowering of complex elementwise ops to real ops on real and imaginary parts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr
from aesara.lower.arrays import ZERO, Array, Index, Pointwise, Reader
from aesara.lower.broadcasting import expands_along
from aesara.lower.complex import ComplexArray, part_dtype
from aesara.lower.context import Context
from aesara.lower.dispatch import is_complex, lower_complex_op
from aesara.lower.elementwise.elemwise import LONGEST_FOLD, broadcast_axes, common_shape
from aesara.lower.elementwise.scalars import Recipe, evaluate, record
from aesara.lower.errors import Unsupported
from aesara.records import dataclass
from aesara.scalar import complex_functions  # noqa: F401  # registers complex decompositions
from aesara.scalar.arithmetic import Add, Mul
from aesara.scalar.complex_forms import Parts, complex_decomposition
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import ScalarType, get_scalar_type
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.elementwise.elemwise import Elemwise


@dataclass(frozen=True)
class _PartRecipe:
    """The recipe for one part of an output; `reads` are the positions of its operands among the parts of all inputs."""

    recipe: Recipe
    reads: tuple[int, ...]
    dtype: str


@functools.lru_cache(maxsize=4096)
def part_recipes(scalar_op: ScalarOp, input_types: tuple[ScalarType, ...]) -> tuple[tuple[_PartRecipe, ...], ...]:
    """Return for each output the recipes of its parts: two if it is complex, else one."""
    inputs: list[Variable | Parts] = []
    leaves: list[Variable] = []
    for t in input_types:
        if t.is_complex:
            inner = get_scalar_type(dtype=part_dtype(t.dtype))
            parts = Parts(inner.make_variable(), inner.make_variable())
            inputs.append(parts)
            leaves += parts
        else:
            leaves.append(t.make_variable())
            inputs.append(leaves[-1])
    try:
        outputs = complex_decomposition(scalar_op, inputs, input_types)
    except NotImplementedError as reason:
        raise Unsupported(str(reason)) from None
    return tuple(
        tuple(_part_recipe(leaves, part) for part in (out if isinstance(out, Parts) else [out])) for out in outputs
    )


def _part_recipe(leaves: Sequence[Variable], part: Variable) -> _PartRecipe:
    recipe = record(leaves, [part])
    reads = {k for step in recipe.steps for k in step.operands} | set(recipe.results)
    return _PartRecipe(recipe, tuple(k for k in range(len(leaves)) if k in reads), part.type.dtype)


@lower_complex_op.register
def _elemwise(elemwise: Elemwise, node: Apply, context: Context) -> Sequence[Array | ComplexArray]:
    return complex_elementwise(elemwise.scalar_op, node, context)


@lower_complex_op.register
def _scalar_op(scalar_op: ScalarOp, node: Apply, context: Context) -> Sequence[Array | ComplexArray]:
    return complex_elementwise(scalar_op, node, context)


@lower_complex_op.register(TensorFromScalar)
@lower_complex_op.register(ScalarFromTensor)
def _same_value(conversion: object, node: Apply, context: Context) -> Sequence[ComplexArray]:
    return [context.pair(node.inputs[0])]


def complex_elementwise(scalar_op: ScalarOp, node: Apply, context: Context) -> list[Array | ComplexArray]:
    """Lower an elementwise op; return an array or a pair for each output."""
    if isinstance(scalar_op, (Add, Mul)) and len(node.inputs) > LONGEST_FOLD:
        return _fold_in_chunks(scalar_op, node, context)
    recipes = part_recipes(scalar_op, tuple(get_scalar_type(dtype=v.type.dtype) for v in node.inputs))
    rank = len(getattr(node.outputs[0].type, "shape", ()))
    arrays: list[Array] = []
    flags: list[tuple[bool, ...]] = []
    expands: list[bool] = []
    first: list[Array] = []
    for variable in node.inputs:
        parts = context.pair(variable).parts if is_complex(variable) else (context.array(variable),)
        broadcast = broadcast_axes(variable, rank)
        arrays += parts
        first.append(parts[0])
        flags += [broadcast] * len(parts)
        expands += [expands_along(broadcast)] * len(parts)
    shape, guards = common_shape(node, first, rank, context)

    def build(part: _PartRecipe) -> Array:
        operands = [arrays[k] for k in part.reads]
        body = _body(part, len(arrays), [flags[k] for k in part.reads])
        return Pointwise(part.dtype, shape, operands, body, part.recipe.cost, [expands[k] for k in part.reads], guards)

    results = [[build(part) for part in parts] for parts in recipes]
    return [ComplexArray(*parts) if len(parts) == 2 else parts[0] for parts in results]


def _fold_in_chunks(scalar_op: ScalarOp, node: Apply, context: Context) -> list[Array | ComplexArray]:
    """Fold many inputs from left to right in chunks, so that no expression gets large."""
    out = node.outputs[0].type
    rest = list(node.inputs)
    while len(rest) > 1:
        chunk, rest = rest[:LONGEST_FOLD], rest[LONGEST_FOLD:]
        total = out() if isinstance(out, ScalarType) else tensor_type(out.dtype, _chunk_shape(chunk))()
        (result,) = complex_elementwise(scalar_op, Apply(node.op, chunk, [total]), context)
        context.set(total, result)
        rest.insert(0, total)
    return [context.pair(rest[0])]


def _chunk_shape(chunk: Sequence[Variable]) -> tuple[int | None, ...]:
    return tuple(1 if set(sizes) == {1} else None for sizes in zip(*(v.type.shape for v in chunk)))


def _body(
    part: _PartRecipe, count: int, flags: Sequence[tuple[bool, ...]]
) -> Callable[[Index, Sequence[Reader]], Expr]:
    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        args: list[Expr] = [ZERO] * count  # a recipe reads only `part.reads`
        for k, read, own in zip(part.reads, readers, flags, strict=True):
            args[k] = read(tuple(ZERO if flag else i for flag, i in zip(own, index, strict=True)))
        (value,) = evaluate(part.recipe, args)
        return value

    return body
