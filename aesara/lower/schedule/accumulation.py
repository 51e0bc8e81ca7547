"""Products that are accumulated in the memory of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aesara.ir.expr import linear_offset
from aesara.ir.program import Input
from aesara.lower.arrays import Array, Item, MatrixProduct
from aesara.lower.arrays.product import Multiplication, matrix_memory
from aesara.lower.iteration_space import LOOP
from aesara.lower.schedule.tracing import Tracer

__all__ = ["find_accumulations"]


def find_accumulations(
    inputs: Sequence[Input], results: Sequence[Array], replaced: Mapping[Array, str], tracer: Tracer
) -> dict[Item, Multiplication]:
    """Find results `old + factor * (a @ b)`, where `old` is an input and only the result reads the product.

    BLAS accumulates in the memory of a shared variable, or in a copy of other inputs.
    """
    accumulations: dict[Item, Multiplication] = {}
    names = {item.buffer.name for item in inputs}
    for result in results:
        if result.is_stored is not None or result.ndim < 2 or tracer.uses.readers.get(result):
            continue
        addends = [replaced[result]] if result in replaced else _input_addends(result, names, tracer)
        for old in addends:
            product = _match(result, old, tracer)
            if product is not None:
                accumulations[result] = product
                break
    return accumulations


def _input_addends(result: Array, inputs: set[str], tracer: Tracer) -> list[str]:
    """Return the inputs that are addends of a product."""
    terms = (result, *(a for a, _ in result.reads()))
    if not any(isinstance(a, MatrixProduct) for term in terms for a, _ in term.reads()):
        return []
    value = tracer.trace(result, LOOP[: result.ndim])
    return [e.attr for e in value.args if e.op == "load" and e.attr in inputs]


def _match(result: Array, old: str, tracer: Tracer) -> Multiplication | None:
    """Match `result = old + factor * product`, where only `result` reads the product."""
    shape = tracer.shape(result)
    loops = LOOP[: result.ndim]
    (value,) = tracer.canonical([tracer.trace(result, loops)])
    same = linear_offset(loops, shape)
    if value.op not in ("add", "sub") or not any(e.op == "load" and e.attr == old for e in value.args):
        return None
    first, second = value.args
    if value.op == "add" and not (first.op == "load" and first.attr == old):
        first, second = second, first
    factor = 1.0 if value.op == "add" else -1.0
    if second.op == "neg":
        factor, second = -factor, second.args[0]
    if second.op == "mul" and (second.args[0].is_const or second.args[1].is_const):
        constant, second = second.args if second.args[0].is_const else reversed(second.args)
        factor *= constant.attr
    product = tracer.array_in(second.attr) if second.op == "load" else None
    if (
        not isinstance(product, MatrixProduct)
        or not tracer.uses.has_one_use(product)
        or first.args[0] is not same
        or second.args[0] is not same
        or tracer.shape(product) != shape
        or old in [tracer.name(matrix_memory(operand)) for operand in (product.left, product.right)]
    ):
        return None
    return product.accumulate(result, old, factor, tracer)
