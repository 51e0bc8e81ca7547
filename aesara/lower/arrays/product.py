"""Matrix products."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from aesara.ir.buffers import Operand
from aesara.ir.expr import Expr, const, is_size
from aesara.ir.routines import products
from aesara.ir.steps import BATCH, Call, Step
from aesara.lower.arrays.base import (
    ONE,
    ZERO,
    Array,
    ElementTracer,
    NameOf,
    Planner,
    ProgramBuilder,
    ScheduledStep,
    loads_of,
)
from aesara.lower.arrays.pointwise import row_major_strides, strided_view
from aesara.lower.shape_arithmetic import batch_offset, count_of
from aesara.records import dataclass

__all__ = ["MatrixProduct", "Multiplication", "matrix_memory"]


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

    def plan(self, planner: Planner) -> None:
        planner.append(Multiplication(self, self, self._scale(planner.tracer)))

    def _scale(self, tracer: ElementTracer) -> Expr | None:
        return None if self.scale is None else tracer.canonical([tracer.read(self.scale, ())])[0]

    def accumulate(self, result: Array, old: str, factor: float, tracer: ElementTracer) -> Multiplication:
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

    def program_steps(self, builder: ProgramBuilder, at: int) -> Iterator[Step]:
        product = self.product
        *lead, rows, columns = builder.shape(product)
        inner = builder.sizes.canonical(product.left.shape[-1])
        left, right = (self._operand(a, lead, builder) for a in (product.left, product.right))
        offset = BATCH * (rows * columns) if lead else ZERO
        out = Operand(builder.buffer_name(self.result), offset, (columns,))
        routine = (products.product if self.old is None else products.accumulated_product)(product.dtype)
        batch = count_of(lead) if lead else None
        yield Call(routine, (rows, inner, columns), (left, right, out), (self._alpha(),), batch)

    def _alpha(self) -> Expr:
        scale, dtype = self.scale, self.product.dtype
        if scale is None or scale.is_const:
            return const(self.factor * (1.0 if scale is None else scale.attr), dtype)
        return scale if self.factor == 1.0 else const(self.factor, dtype) * scale

    @staticmethod
    def _operand(array: Array, lead: Sequence[Expr], builder: ProgramBuilder) -> Operand:
        """Return the operand for the product number `BATCH`: buffer, offset and strides of its matrix."""
        memory = matrix_memory(array)
        if memory is array:
            base, offset, strides = array, ZERO, row_major_strides(builder.shape(array))
        else:
            base, offset, strides = strided_view(array, builder.shape)
        offset = offset + batch_offset(lead, builder.shape(array)[:-2], strides[:-2])
        return Operand(builder.buffer_name(base), offset, strides[-2:])


def matrix_memory(operand: Array) -> Array:
    """Return the array to materialize for a matrix product: the base of a view that BLAS can read, or the operand."""
    base, _, strides = strided_view(operand, lambda array: array.shape)
    contiguous = row_major_strides(base.shape)
    return base if ONE in strides[-2:] and all(s in contiguous or is_size(s) for s in strides) else operand
