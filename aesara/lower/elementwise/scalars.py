"""Expressions for scalar ops: primitives, C functions, and decompositions into these."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import io_toposort
from aesara.ir.expr import PART_OF, Expr, cast, complex_number, const, op, parts_of
from aesara.ir.function import ExternalFunction, ScalarFunction
from aesara.ir.routines.special import special
from aesara.lower.errors import Unsupported, check_dtype
from aesara.lower.routines import scalar_function
from aesara.primitives import PRIMITIVES
from aesara.records import dataclass
from aesara.scalar import complex_functions  # noqa: F401  # registers complex decompositions
from aesara.scalar.arithmetic import Add, Mul
from aesara.scalar.complex_forms import Parts, complex_decomposition
from aesara.scalar.native import Primitive, Special
from aesara.scalar.op import ScalarOp
from aesara.scalar.routine import FloatRoutine
from aesara.scalar.types import ScalarType, get_scalar_type
from aesara.scalar.var import ScalarVariable

__all__ = ["Recipe", "cost_of", "costs_of_outputs", "folded_primitive", "evaluate", "record", "scalar_expressions"]

_COMPLEX_FOLDED: dict[type[ScalarOp], str] = {Add: "add", Mul: "mul"}
_FOLDED = frozenset({"add", "mul", "and", "or", "xor", "minimum", "maximum"})


@dataclass(frozen=True)
class _Step:
    """One scalar op of a decomposition; `operands` are positions among inputs, constants and results."""

    scalar_op: ScalarOp
    input_types: tuple[ScalarType, ...]
    output_types: tuple[ScalarType, ...]
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Recipe:
    """A recorded decomposition; `results` are positions among inputs, constants and results of steps."""

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
    return record(inputs, outputs)


def record(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Recipe:
    """Record a graph of scalar ops."""
    number: dict[Variable, int] = {v: k for k, v in enumerate(inputs)}
    constants: list[tuple[Any, str]] = []
    order = io_toposort(inputs, outputs)
    for leaf in [v for node in order for v in node.inputs] + list(outputs):
        if isinstance(leaf, Constant) and leaf not in number:
            number[leaf] = len(inputs) + len(constants)
            constants.append((leaf.data, leaf.type.dtype))
    steps, position, total = [], len(number), 0
    for node in order:
        types = tuple(v.type for v in node.inputs)
        steps.append(_Step(node.op, types, tuple(v.type for v in node.outputs), tuple(number[v] for v in node.inputs)))
        total += cost_of(node.op, types)
        for out in node.outputs:
            number[out] = position
            position += 1
    return Recipe(tuple(constants), tuple(steps), tuple(number[v] for v in outputs), total)


@functools.lru_cache(maxsize=4096)
def _complex_recipe(
    scalar_op: ScalarOp, input_types: tuple[ScalarType, ...]
) -> tuple[Recipe, tuple[int | tuple[int, ...], ...]]:
    """Return the recipe for the parts of all outputs from the parts of all inputs, and the costs of outputs."""
    inputs: list[ScalarVariable | Parts] = []
    leaves: list[Variable] = []
    for t in input_types:
        variables = [
            get_scalar_type(dtype=PART_OF.get(t.dtype, t.dtype)).make_variable() for _ in range(1 + t.is_complex)
        ]
        leaves += variables
        inputs.append(Parts(*variables) if t.is_complex else variables[0])
    try:
        outputs = complex_decomposition(scalar_op, inputs, input_types)
    except NotImplementedError as reason:
        raise Unsupported(str(reason)) from None
    parts_of_outputs = [out if isinstance(out, Parts) else (out,) for out in outputs]
    costs = [tuple(record(leaves, [part]).cost for part in parts) for parts in parts_of_outputs]
    recipe = record(leaves, [part for parts in parts_of_outputs for part in parts])
    return recipe, tuple(cost if len(cost) == 2 else cost[0] for cost in costs)


def has_complex(types: Iterable[ScalarType]) -> bool:
    return any(t.dtype in PART_OF for t in types)


def costs_of_outputs(
    scalar_op: ScalarOp, input_types: tuple[ScalarType, ...], output_types: Sequence[ScalarType]
) -> Sequence[int | tuple[int, ...]]:
    """Return the relative cost of each output; for each part if it is complex."""
    if has_complex((*input_types, *output_types)):
        return _complex_recipe(scalar_op, input_types)[1]
    return [cost_of(scalar_op, input_types)] * len(output_types)


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
    """Return the primitive of a variadic op that is a left fold over operands of its output dtype, or None."""
    if has_complex(input_types):
        return _COMPLEX_FOLDED.get(type(scalar_op))
    fact = _fact(scalar_op, input_types)
    if isinstance(fact, Primitive) and fact.name in _FOLDED and scalar_op.operands == "output":
        return fact.name
    return None


def scalar_expressions(
    scalar_op: ScalarOp, args: Sequence[Expr], input_types: tuple[ScalarType, ...], output_types: Sequence[ScalarType]
) -> list[Expr]:
    """Return the outputs of a scalar op on expressions of dtypes `input_types`."""
    if has_complex((*input_types, *output_types)):
        parts = iter(evaluate(_complex_recipe(scalar_op, input_types)[0], [p for a in args for p in parts_of(a)]))
        return [complex_number(next(parts), next(parts)) if t.is_complex else next(parts) for t in output_types]
    return _real_expressions(scalar_op, args, input_types, output_types)


def _real_expressions(
    scalar_op: ScalarOp, args: Sequence[Expr], input_types: tuple[ScalarType, ...], output_types: Sequence[ScalarType]
) -> list[Expr]:
    """Return the outputs of a scalar op on real expressions."""
    fact = _fact(scalar_op, input_types)
    if fact is None:
        return _decompose(scalar_op, args, input_types, output_types)
    out = output_types[0].dtype
    check_dtype(out)
    dtypes = scalar_op.operand_dtypes(list(input_types), list(output_types))
    for dtype in dtypes:
        check_dtype(dtype)
    if isinstance(fact, (Special, FloatRoutine)):
        # Functions take float64; operands are rounded to their own dtype first.
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


def _decompose(
    scalar_op: ScalarOp, args: Sequence[Expr], input_types: tuple[ScalarType, ...], output_types: Sequence[ScalarType]
) -> list[Expr]:
    if scalar_op.decompose is None or output_types[0].dtype != "float16":
        return evaluate(_recipe(scalar_op, input_types), args)
    # Half precision is rounded once, at the end.
    single = get_scalar_type("float32")
    wide = tuple(single if t.dtype == "float16" else t for t in input_types)
    results = evaluate(_recipe(scalar_op, wide), [cast(a, t.dtype) for a, t in zip(args, wide, strict=True)])
    return [cast(result, t.dtype) for result, t in zip(results, output_types, strict=True)]


def evaluate(recipe: Recipe, args: Sequence[Expr]) -> list[Expr]:
    """Evaluate a recipe on real expressions."""
    values = [
        *args,
        *[const(value.item() if hasattr(value, "item") else value, dtype) for value, dtype in recipe.constants],
    ]
    for step in recipe.steps:
        operands = [values[k] for k in step.operands]
        values += _real_expressions(step.scalar_op, operands, step.input_types, step.output_types)
    return [values[k] for k in recipe.results]
