"""Lowering of searches in sorted vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.kernel import Assign, Declare, For, Statement, While
from aesara.lower.arrays import ONE, ZERO, Array, Reader, Sequential, Writer
from aesara.lower.context import Context, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.ranges import require_range
from aesara.lower.reductions import converted
from aesara.tensor.searching import SearchsortedOp


def sorts_before(a: Expr, b: Expr) -> Expr:
    """Whether a comes before b in NumPy's order, in which NaN is the largest number."""
    if not a.dtype.startswith("float"):
        return primitive("lt", a, b)
    only_b = primitive("and", primitive("isnan", b), primitive("invert", primitive("isnan", a)))
    return primitive("or", primitive("lt", a, b), only_b)


@lower_op.register
def _searchsorted(op: SearchsortedOp, node: Apply, context: Context) -> Sequence[Array]:
    vector, values, *rest = (context.array(v) for v in node.inputs)
    dtype = np.result_type(vector.dtype, values.dtype).name
    check_dtype(dtype)
    dtype = "int8" if dtype == "bool" else dtype
    operands = [converted(vector, dtype), converted(values, dtype), *rest]
    size = vector.shape[0]
    guards: list[object] = []
    if rest:
        (sorter,) = rest
        message = "sorter.size must equal a.size: they are {0} and {1}."
        guards += context.require_equal(sorter.shape[0], size, ValueError, message, node)
        message = "Sorter index out of range: {3} for a vector of {2} entries."
        guards += require_range(sorter, ZERO, size, ValueError, message, node, context)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        loops = tuple(var(f"v{d}") for d in range(values.ndim))
        first, count, value = var("r0"), var("r1"), var("r2", dtype)
        half = primitive("shr", count, ONE)
        middle = primitive("add", first, half)
        place = cast(readers[2]((middle,)), "int64") if rest else middle
        entry = readers[0]((place,))
        if op.side == "left":
            beyond = sorts_before(entry, value)
        else:
            beyond = primitive("invert", sorts_before(value, entry))
        further = var("r3", "bool")
        step = (
            Declare("r3", beyond),
            Assign("r0", primitive("select", further, primitive("add", middle, ONE), first)),
            Assign(
                "r1", primitive("select", further, primitive("sub", primitive("sub", count, half), ONE), half)
            ),
        )  # fmt: skip
        statements: tuple[Statement, ...] = (
            Declare("r2", readers[1](loops)), Declare("r0", ZERO), Declare("r1", size),
            While(primitive("gt", count, const(0)), step), write(loops, first),
        )  # fmt: skip
        for d in reversed(range(values.ndim)):
            statements = (For(f"v{d}", values.shape[d], statements),)
        return statements

    expands = [True, False, *[True] * len(rest)]
    return [Sequential("int64", values.shape, operands, body, expands, guards)]
