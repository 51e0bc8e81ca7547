"""Batches of calls of library routines as functions of a range of the batch, so that several threads can run parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from aesara.ir.definitions import FunctionDefinition, FunctionParameter
from aesara.ir.expr import Expr, substitute, var, walk
from aesara.ir.independence import linear_form
from aesara.ir.steps import BATCH, Call
from aesara.link.llvm.host_code import HostCode
from aesara.records import dataclass

__all__ = ["BatchPart", "PartCode", "batch_part"]


@dataclass(frozen=True)
class BatchPart:
    """A batch of calls in terms of parameters of its own.

    Attributes
    ----------
    step
        The calls; the buffers have the names of those of the program.
    buffers
        The buffers that they access.
    values
        The values that do not depend on the position in the batch, by the names of the parameters for them.
    """

    step: Call
    buffers: tuple[str, ...]
    values: dict[str, Expr]


def batch_part(step: Call) -> BatchPart | None:
    """Return a batch of calls in terms of parameters; None if its calls may depend on each other.

    Calls are independent if each writes to blocks of its own.
    """
    if step.batch is None or not all(
        _moves(operand.offset)
        for parameter, operand in zip(step.routine.parameters, step.operands, strict=True)
        if parameter.is_written
    ):
        return None
    values: dict[Expr, Expr] = {}

    def replace(e: Expr) -> Expr | None:
        if e.is_const or _depends_on_batch(e):
            return None
        return values.setdefault(e, var(f"n{len(values)}", e.dtype))

    def of(expressions: Iterable[Expr]) -> tuple[Expr, ...]:
        return tuple(substitute(list(expressions), replace, {}))

    operands = tuple(dataclasses.replace(o, offset=of([o.offset])[0], strides=of(o.strides)) for o in step.operands)
    inside = dataclasses.replace(step, sizes=of(step.sizes), operands=operands, scalars=of(step.scalars))
    loaded = [
        e.attr for e in walk([*inside.scalars, *(e for o in operands for e in o.expressions())]) if e.op == "load"
    ]
    buffers = dict.fromkeys([*(o.buffer for o in operands), *loaded])
    return BatchPart(inside, tuple(buffers), {parameter.attr: e for e, parameter in values.items()})


def _moves(offset: Expr) -> bool:
    """Return whether an offset is a multiple of the position in the batch, plus what does not depend on it."""
    varying = [atom for atom in linear_form(offset)[0] if _depends_on_batch(atom)]
    if len(varying) != 1:
        return False
    (atom,) = varying
    return atom is BATCH or (atom.op == "mul" and BATCH in atom.args and sum(map(_depends_on_batch, atom.args)) == 1)


def _depends_on_batch(e: Expr) -> bool:
    return any(inner is BATCH for inner in walk([e]))


class PartCode(HostCode):
    """Writes the text of a function that runs a part of a batch of calls, in the module of an entry point.

    Parameters
    ----------
    entry
        The code of the entry point.
    part
        The calls.
    """

    def __init__(self, entry: HostCode, part: BatchPart) -> None:
        written = frozenset(part.step.writes())
        super().__init__(entry.frame, written, spills=False, beside=entry)
        names = self.values.names
        pointers = [names.fresh("b") for _ in part.buffers]
        self.expressions.pointers.update(zip(part.buffers, pointers, strict=True))
        self.parameters = [
            FunctionParameter("i64", "%first"),
            FunctionParameter("i64", "%last"),
            FunctionParameter("ptr", "%watcher"),
            FunctionParameter("ptr", "%table"),
            *(FunctionParameter("ptr", pointer) for pointer in pointers),
            *(self.values.define_parameter(name, e.dtype) for name, e in part.values.items()),
        ]

    def stop_if(self, condition: str, on: str) -> None:
        out = self.label("out")
        self.branch(condition, out, on, likely=on)
        self.block(out)
        self.add("ret i1 true")

    @property
    def code(self) -> HostCode:
        """Itself: it emits calls."""
        return self

    def watcher(self) -> str:
        """Return the parameter for a watcher."""
        return "%watcher"

    def fail_if_stopped(self, stopped: str) -> None:
        """Return if a signal handler has raised, as `stopped` says."""
        on = self.label("on")
        self.stop_if(stopped, on)
        self.block(on)

    def definition(self, name: str) -> FunctionDefinition:
        """Return the function."""
        lines = ["entry:", *self.allocas, *self.lines, "ret i1 false"]
        return FunctionDefinition(name, "i1", self.parameters, "noinline nounwind", lines)
