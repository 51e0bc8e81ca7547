"""Products of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from aesara.ir.buffers import Operand
from aesara.ir.expr import Expr, var
from aesara.ir.steps.base import Step
from aesara.ir.work import Work
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.interpret.programs import ProgramMachine
    from aesara.ir.text.parsing import ProgramReader
    from aesara.ir.text.printing import ProgramWriter
    from aesara.ir.text.reading import Line
    from aesara.ir.verify import Scope

__all__ = ["BATCH", "MatMul"]

#: number of the product within a batch
BATCH = var("batch")
#: nanoseconds for beginning a product, and for a multiply-add of it
_PRODUCT, _MULTIPLY_ADD = 50.0, 0.1


@dataclass(frozen=True)
class MatMul(Step):
    """out[rows, columns] = alpha * left[rows, inner] @ right[inner, columns] + beta * out, for float32 and float64.

    If `beta` is zero, what was in `out` does not matter.
    With `batch`, that many products, one after another: offsets of the operands may count with the variable `BATCH`.
    """

    keyword = "matmul"
    words = ("rows", "inner", "columns", "of", "alpha", "beta", "for")
    kind = "product"

    dtype: str
    rows: Expr
    inner: Expr
    columns: Expr
    left: Operand
    right: Operand
    out: Operand
    alpha: float | Expr = 1.0
    beta: float = 0.0
    batch: Expr | None = None

    def _operands(self) -> tuple[Operand, Operand, Operand]:
        return self.left, self.right, self.out

    def expressions(self) -> Iterator[Expr]:
        for operand in self._operands():
            yield from operand.expressions()
        yield from (self.rows, self.inner, self.columns)
        if isinstance(self.alpha, Expr):
            yield self.alpha
        if self.batch is not None:
            yield self.batch

    def reads(self) -> Iterator[str]:
        yield self.left.buffer
        yield self.right.buffer
        if self.beta:
            yield self.out.buffer

    def writes(self) -> Iterator[str]:
        yield self.out.buffer

    def products(self) -> Iterator[str]:
        yield self.dtype

    @property
    def runs_rounds(self) -> bool:
        return self.batch is not None

    def one_work(self) -> Work:
        """The work of one product of the batch."""
        product = Work({(): _MULTIPLY_ADD}).times(self.rows).times(self.inner).times(self.columns)
        return product + Work({(): _PRODUCT})

    def work(self) -> Work:
        return self.one_work() if self.batch is None else self.one_work().times(self.batch)

    def verify(self, scope: Scope) -> None:
        inside = scope
        if self.batch is not None:
            scope.expressions(self.batch)
            inside = scope.inside(BATCH.attr)
        for operand in self._operands():
            if scope.buffers.get(operand.buffer) != self.dtype:
                scope.fail(f"matmul of {self.dtype} on {operand.buffer}")
            inside.expressions(*operand.expressions())
        inside.expressions(self.rows, self.inner, self.columns)
        if isinstance(self.alpha, Expr):
            inside.expressions(self.alpha)
            if self.alpha.dtype != self.dtype:
                scope.fail(f"matmul of {self.dtype} times a {self.alpha.dtype}")

    def run(self, machine: ProgramMachine) -> None:
        for number in range(1 if self.batch is None else machine.integer(self.batch)):
            machine.scalars[BATCH.attr] = machine.index(number)
            self._run_one(machine)

    def _run_one(self, machine: ProgramMachine) -> None:
        rows, inner, columns = (machine.integer(e) for e in (self.rows, self.inner, self.columns))
        left, right = machine.matrix(self.left, rows, inner), machine.matrix(self.right, inner, columns)
        for operand in (self.left, self.right):
            if machine.memory(operand.buffer).block is machine.memory(self.out.buffer).block:
                machine.refuse(f"a product is written to {self.out.buffer} while it reads {operand.buffer} there")
        alpha = machine.value(self.alpha) if isinstance(self.alpha, Expr) else self.alpha
        with np.errstate(all="ignore"):
            product = (alpha * (left @ right)).astype(self.dtype)
            if self.beta:
                product += self.beta * machine.matrix(self.out, rows, columns)
        machine.set_matrix(self.out, product)

    def write(self, writer: ProgramWriter) -> None:
        operands = (self.out, self.left, self.right)
        roots = [e for o in operands for e in o.expressions()]
        batch = [] if self.batch is None else [self.batch]
        alpha = [self.alpha] if isinstance(self.alpha, Expr) else []
        texts = writer.texts([*roots, self.rows, self.inner, self.columns, *batch, *alpha])
        out, left, right = (
            f"{writer.name(o.buffer)}({', '.join(texts[3 * k : 3 * k + 3])})" for k, o in enumerate(operands)
        )
        rows, inner, columns = texts[9:12]
        factor = f"({texts[-1]})" if alpha else repr(self.alpha)
        scale = f" alpha {factor}" * (factor != "1.0") + f" beta {self.beta!r}" * (repr(self.beta) != "0.0")
        batched = f" for {BATCH.attr} < {texts[12]}" if batch else ""
        sizes = f"rows {rows} inner {inner} columns {columns} of {self.dtype}"
        writer.line(f"{self.keyword} {out} = {left} @ {right} {sizes}{scale}{batched}")
        writer.changed([self.out.buffer, BATCH.attr])

    @classmethod
    def read(cls, reader: ProgramReader, line: Line) -> MatMul:
        out = reader.operand(line)
        line.expect("=")
        left = reader.operand(line)
        line.expect("@")
        right = reader.operand(line)
        sizes = []
        for word in ("rows", "inner", "columns"):
            line.expect(word)
            sizes.append(reader.expression(line))
        line.expect("of")
        dtype = line.dtype()
        alpha: float | Expr = 1.0
        if line.has("alpha"):
            alpha = reader.expression(line) if line.peek() == ("sign", "(") else line.number_value()
        beta = line.number_value() if line.has("beta") else 0.0
        return cls(dtype, sizes[0], sizes[1], sizes[2], left, right, out, alpha, beta, reader.batch(line))
