"""Scalar ops as expressions: primitives, C functions, and decompositions into them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import io_toposort
from aesara.ir.expr import Expr, cast, const, op
from aesara.ir.function import ExternalFunction, ScalarFunction
from aesara.ir.routines.special import special
from aesara.lower.context import Unsupported, check_dtype
from aesara.lower.routines import scalar_function
from aesara.primitives import PRIMITIVES
from aesara.records import dataclass
from aesara.scalar.native import Primitive, Special
from aesara.scalar.op import ScalarOp
from aesara.scalar.routine import FloatRoutine
from aesara.scalar.types import ScalarType, get_scalar_type

__all__ = ["Recipe", "cost_of", "folded_primitive", "follow", "recorded", "scalar_expressions"]

_FOLDED = frozenset({"add", "mul", "and", "or", "xor", "minimum", "maximum"})


@dataclass(frozen=True)
class _Step:
    """One scalar op of a decomposition: where its operands and results stand among the values."""

    scalar_op: ScalarOp
    input_types: tuple[ScalarType, ...]
    output_types: tuple[ScalarType, ...]
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Recipe:
    """A decomposition as data: constants, then steps; `results` are positions among inputs, constants and results."""

    constants: tuple[tuple[Any, str], ...]
    steps: tuple[_Step, ...]
    results: tuple[int, ...]
    cost: int


def _fact(scalar_op: ScalarOp, input_types: Sequence[ScalarType]) -> Primitive | Special | FloatRoutine | None:
    fact = scalar_op.native_fact(list(input_types))
    if (
        fact is None
        and getattr(scalar_op, "decompose", None) is None
        and type(scalar_op).decomposition is ScalarOp.decomposition
    ):
        raise Unsupported(f"scalar op {scalar_op}")
    return fact


@functools.lru_cache(maxsize=4096)
def _recipe(scalar_op: ScalarOp, input_types: tuple[ScalarType, ...]) -> Recipe:
    """Record the decomposition of a scalar op once for each combination of input types."""
    inputs = [t.make_variable() for t in input_types]
    outputs = scalar_op.decomposition(*inputs)
    if outputs is None:
        raise Unsupported(f"scalar op {scalar_op} on {', '.join(t.dtype for t in input_types)}")
    return recorded(inputs, outputs)


def recorded(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Recipe:
    """A graph of scalar ops as data."""
    place: dict[Variable, int] = {v: k for k, v in enumerate(inputs)}
    constants: list[tuple[Any, str]] = []
    order = io_toposort(inputs, outputs)
    for leaf in [v for node in order for v in node.inputs] + list(outputs):
        if isinstance(leaf, Constant) and leaf not in place:
            place[leaf] = len(inputs) + len(constants)
            constants.append((leaf.data, leaf.type.dtype))
    steps, position, total = [], len(place), 0
    for node in order:
        types = tuple(v.type for v in node.inputs)
        steps.append(_Step(node.op, types, tuple(v.type for v in node.outputs), tuple(place[v] for v in node.inputs)))
        total += cost_of(node.op, types)
        for out in node.outputs:
            place[out] = position
            position += 1
    return Recipe(tuple(constants), tuple(steps), tuple(place[v] for v in outputs), total)


def cost_of(scalar_op: ScalarOp, input_types: tuple[ScalarType, ...]) -> int:
    """Relative cost of a scalar op on inputs of these types."""
    fact = _fact(scalar_op, input_types)
    if isinstance(fact, Primitive):
        return 1 if fact.name == "cast" else PRIMITIVES[fact.name].cost * max(1, len(input_types) - 1)
    if isinstance(fact, Special):
        return ExternalFunction.cost
    if isinstance(fact, FloatRoutine):
        return ScalarFunction.cost
    return _recipe(scalar_op, input_types).cost


def folded_primitive(scalar_op: ScalarOp, input_types: tuple[ScalarType, ...]) -> str | None:
    """The primitive that a variadic op applies from left to right to operands of its output's dtype."""
    fact = _fact(scalar_op, input_types)
    if isinstance(fact, Primitive) and fact.name in _FOLDED and scalar_op.operands == "output":
        return fact.name
    return None


def scalar_expressions(
    scalar_op: ScalarOp, args: Sequence[Expr], input_types: tuple[ScalarType, ...], output_types: Sequence[ScalarType]
) -> list[Expr]:
    """The outputs of a scalar op on expressions whose dtypes are those of `input_types`."""
    fact = _fact(scalar_op, input_types)
    if fact is None:
        return _decomposed(scalar_op, args, input_types, output_types)
    out = output_types[0].dtype
    check_dtype(out)
    dtypes = scalar_op.operand_dtypes(list(input_types), list(output_types))
    for dtype in dtypes:
        check_dtype(dtype)
    if isinstance(fact, (Special, FloatRoutine)):
        # Functions of float64; what was cast to a narrower dtype on the way has its values.
        values = [cast(cast(a, d), "float64") for a, d in zip(args, dtypes, strict=True)]
        if isinstance(fact, FloatRoutine):
            return [cast(scalar_function(fact)(*values), out)]
        return [cast(special(fact.name, len(args))(*values), out)]
    if fact.name == "cast":
        return [cast(args[0], out)]
    operands = [cast(a, d) for a, d in zip(args, dtypes, strict=True)]
    if fact.name == "select":
        operands[0] = cast(operands[0], "bool")
    if fact.name in _FOLDED and len(operands) != 2:
        result = functools.reduce(lambda a, b: op(fact.name, a, b), operands)
    else:
        result = op(fact.name, *operands)
    return [cast(result, out)]


def _decomposed(
    scalar_op: ScalarOp, args: Sequence[Expr], input_types: tuple[ScalarType, ...], output_types: Sequence[ScalarType]
) -> list[Expr]:
    if scalar_op.decompose is None or output_types[0].dtype != "float16":
        return follow(_recipe(scalar_op, input_types), args)
    # Half precision is rounded once, at the end.
    single = get_scalar_type("float32")
    wide = tuple(single if t.dtype == "float16" else t for t in input_types)
    results = follow(_recipe(scalar_op, wide), [cast(a, t.dtype) for a, t in zip(args, wide, strict=True)])
    return [cast(result, t.dtype) for result, t in zip(results, output_types, strict=True)]


def follow(recipe: Recipe, args: Sequence[Expr]) -> list[Expr]:
    """The results of a recipe on expressions of the dtypes of its inputs."""
    values = [
        *args,
        *[const(value.item() if hasattr(value, "item") else value, dtype) for value, dtype in recipe.constants],
    ]
    for step in recipe.steps:
        operands = [values[k] for k in step.operands]
        values += scalar_expressions(step.scalar_op, operands, step.input_types, step.output_types)
    return [values[k] for k in recipe.results]
