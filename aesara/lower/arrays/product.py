"""Matrix products."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from aesara.ir.buffers import Operand
from aesara.ir.expr import Expr, const, is_size, linear_offset
from aesara.ir.routines import products
from aesara.ir.steps import BATCH, Call
from aesara.lower.arrays.base import ONE, ZERO, Array, row_major_strides, strided_view
from aesara.lower.shape_arithmetic import batch_offset, count_of
from aesara.lower.steps import NameOf, ScheduledStep, loads_of
from aesara.lower.tasks import LOOP
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.steps import Step
    from aesara.lower.assemble.assembler import Assembler
    from aesara.lower.schedule.scheduler import Scheduler
    from aesara.lower.schedule.tracing import Tracer

__all__ = ["Multiplication", "MatrixProduct", "match_accumulation", "matrix_memory"]


class MatrixProduct(Array):
    """A matrix product, batched over leading dimensions; batch dimensions of size 1 broadcast.

    Operands that are strided views are read in place.  `scale`, a 0-d array, multiplies each element.
    """

    __slots__ = ("left", "right", "scale")
    may_be_result = True

    def __init__(
        self, left: Array, right: Array, requires: Sequence[object] = (), scale: Array | None = None
    ) -> None:  # fmt: skip
        batch = [b if a is ONE else a for a, b in zip(left.shape[:-2], right.shape[:-2], strict=True)]
        super().__init__(left.dtype, (*batch, left.shape[-2], right.shape[-1]), requires)
        self.left, self.right, self.scale = left, right, scale

    def reads(self) -> list[tuple[Array, bool]]:
        scale = [] if self.scale is None else [(self.scale, False)]
        return [(self.left, True), (self.right, True), *scale]

    def reads_in_memory(self) -> Iterable[Array]:
        return matrix_memory(self.left), matrix_memory(self.right)

    def plan(self, scheduler: Scheduler) -> None:
        if self in scheduler.stored:
            scheduler.append(Multiplication(self, self, self._scale(scheduler.tracer)))

    def _scale(self, tracer: Tracer) -> Expr | None:
        return None if self.scale is None else tracer.canonical([tracer.read(self.scale, ())])[0]

    def accumulate(self, result: Array, old: str, factor: float, tracer: Tracer) -> Multiplication:
        """Return the step for `result = old + factor * product`."""
        return Multiplication(self, result, self._scale(tracer), old, factor)


@dataclass(frozen=True, eq=False)
class Multiplication(ScheduledStep):
    """The step `result = product`, or `result = old + factor * product` if `old` names the buffer of an input."""

    product: MatrixProduct
    result: Array
    scale: Expr | None
    old: str | None = None
    factor: float = 1.0
    kind = "product"

    def writes(self) -> Iterator[Array]:
        yield self.result

    def computes(self) -> Iterator[Array]:
        if self.result is not self.product:
            yield self.product
        yield self.result

    def loads(self, name_of: NameOf) -> Iterator[tuple[str, bool]]:
        for operand in (self.product.left, self.product.right):
            yield name_of(matrix_memory(operand)), False
        if self.scale is not None:
            yield from loads_of([self.scale])
        if self.old is not None:
            yield self.old, True

    def initial_buffer(self) -> str | None:
        return self.old

    def reads_own_element_only(self, buffer: str, array: Array) -> bool:
        return self.old is not None  # the operands are other buffers

    def program_steps(self, assembler: Assembler, at: int) -> Iterator[Step]:
        product = self.product
        *lead, rows, columns = assembler.shape(product)
        inner = assembler.context.canonical(product.left.shape[-1])
        left, right = (self._operand(a, lead, assembler) for a in (product.left, product.right))
        offset = BATCH * (rows * columns) if lead else ZERO
        out = Operand(assembler.buffer_name(self.result), offset, (columns,))
        routine = (products.product if self.old is None else products.accumulated_product)(product.dtype)
        batch = count_of(lead) if lead else None
        yield Call(routine, (rows, inner, columns), (left, right, out), (self._alpha(),), batch)

    def _alpha(self) -> Expr:
        scale, dtype = self.scale, self.product.dtype
        if scale is None or scale.is_const:
            return const(self.factor * (1.0 if scale is None else scale.attr), dtype)
        return scale if self.factor == 1.0 else const(self.factor, dtype) * scale

    @staticmethod
    def _operand(array: Array, lead: Sequence[Expr], assembler: Assembler) -> Operand:
        """Return the operand for the product number `BATCH`: buffer, offset and strides of its matrix."""
        memory = matrix_memory(array)
        if memory is array:
            base, offset, strides = array, ZERO, row_major_strides(assembler.shape(array))
        else:
            base, offset, strides = strided_view(array, assembler.shape)
        offset = offset + batch_offset(lead, assembler.shape(array)[:-2], strides[:-2])
        return Operand(assembler.buffer_name(base), offset, strides[-2:])


def matrix_memory(operand: Array) -> Array:
    """Return the array to materialize for a matrix product: the base of a view that BLAS can read, or the operand."""
    base, _, strides = strided_view(operand, lambda array: array.shape)
    own = row_major_strides(base.shape)
    return base if ONE in strides[-2:] and all(s in own or is_size(s) for s in strides) else operand


def match_accumulation(result: Array, old: str, tracer: Tracer) -> tuple[MatrixProduct, float] | None:
    """Match `result = old + factor * product`, where only `result` reads the product; return product and factor."""
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
        or not tracer.uses.is_only(product)
        or first.args[0] is not same
        or second.args[0] is not same
        or tracer.shape(product) != shape
        or old in [tracer.name(matrix_memory(operand)) for operand in (product.left, product.right)]
    ):
        return None
    return product, factor
