"""Lowering of uniform draws by the generator MRG31k3p."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const
from aesara.ir.expr import op as primitive
from aesara.ir.routines.mrg import mrg31k3p
from aesara.lower.arrays import ZERO, Alias, Array, Pointwise
from aesara.lower.calling import call_routine
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import Unsupported, escape_braces
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.products.blas import lower_expression
from aesara.lower.reductions.careduce import convert
from aesara.lower.shape_arithmetic import count_of
from aesara.tensor.random.from_uniform import MultinomialFromUniform
from aesara.tensor.random.mrg_uniform import SCALES, mrg_uniform

_WORDS = const(6)


@lower_op.register
def _multinomial(op: MultinomialFromUniform, node: Apply, context: Context) -> Sequence[Any]:
    pvals, unis, n = map(context.array, node.inputs)
    rows, count = pvals.shape[0], context.integer_from(convert(n, "int64"))
    fits = primitive("eq", unis.shape[0], count * rows)
    context.guard(fits, ValueError, op.wrong_count, node, (count, rows, count * rows, unis.shape[0]))
    return lower_expression(op, node, context)


@lower_op.register
def _uniform(op: mrg_uniform, node: Apply, context: Context) -> Sequence[Array]:
    states, size = context.array(node.inputs[0]), node.inputs[1]
    drawn = node.outputs[1].type
    if size.type.shape[0] != drawn.ndim:
        raise Unsupported("a size of unknown length")
    shape = tuple(integers_of_vector(size, drawn.ndim, node, context))
    requires: list[object] = []
    label = escape_braces(op)
    text = f"{label}: lengths must not be negative: [{' '.join(f'{{{k}}}' for k in range(len(shape)))}]."
    for n in shape:
        requires += context.guard(n >= ZERO, ValueError, text, node, shape)
    rows, columns = states.shape
    text = f"{label}: states have shape (streams, 6), not ({{0}}, {{1}})."
    requires += context.guard(primitive("eq", columns, _WORDS), ValueError, text, node, (rows, columns))
    count = count_of(shape)
    has_stream = primitive("eq", count, ZERO) | (rows > ZERO)
    text = f"{label}: {{0}} numbers cannot be drawn from a state without streams."
    requires += context.guard(has_stream, ValueError, text, node, (count,))
    results = call_routine(
        context, node, mrg31k3p(), {"count": count, "streams": rows}, {"states": states}, requires=requires
    )
    mask, offset, factor = SCALES[drawn.dtype]

    def fraction(number: Expr) -> Expr:
        if mask is not None:
            number = primitive("and", number, const(mask))
        return cast(number + const(offset), "float64") * const(factor, "float64")

    numbers = Pointwise("float64", (count,), (results["out"],), lambda index, readers: fraction(readers[0](index)), 1)
    return [results["states"], context.add(Alias(context.add(convert(numbers, drawn.dtype)), shape))]
