"""Verifier of kernels and of parts of steps: names are bound where they are read, dtypes agree, offsets are int64."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NoReturn
from weakref import WeakSet

from aesara.ir.buffers import Buffer, Slot
from aesara.ir.expr import COMPARISONS, INDEX, TESTS, Expr, walk
from aesara.ir.function import ExternalFunction, ScalarFunction
from aesara.ir.independence import conflict
from aesara.ir.kernel import (
    Assign,
    BufferParam,
    Declare,
    For,
    If,
    Kernel,
    ScalarParam,
    Statement,
    Store,
    While,
    expressions_of,
)
from aesara.ir.lanes import accumulations
from aesara.primitives import PRIMITIVES

__all__ = ["IRError", "Bindings", "verify_function", "verify_kernel"]


class IRError(Exception):
    """A malformed kernel or program: a bug of the code that built it."""


def verify_expression(e: Expr, scalars: dict[str, str], buffers: dict[str, str]) -> None:
    """Check one operation, without its operands."""
    kinds = [a.dtype for a in e.args]
    if e.op == "const":
        return
    if e.op == "var":
        if e.attr not in scalars:
            raise IRError(f"{e.attr} is read, but nothing of that name is bound here")
        if scalars[e.attr] != e.dtype:
            raise IRError(f"{e.attr} is {scalars[e.attr]}, read as {e.dtype}")
    elif e.op == "load":
        if e.attr not in buffers:
            raise IRError(f"load from {e.attr}, which is no buffer here")
        if buffers[e.attr] != e.dtype:
            raise IRError(f"buffer {e.attr} holds {buffers[e.attr]}, loaded as {e.dtype}")
        if kinds != [INDEX]:
            raise IRError(f"the offset of a load is {kinds}, not {INDEX}")
    elif e.op == "cast":
        if len(kinds) != 1:
            raise IRError("cast takes one operand")
    elif e.op == "call":
        _verify_call(e, e.attr, kinds)
    else:
        _verify_primitive(e, kinds)


def _verify_call(e: Expr, function: ScalarFunction | ExternalFunction, kinds: list[str]) -> None:
    if isinstance(function, ScalarFunction):
        expected, result = [p.dtype for p in function.parameters], function.result.dtype
    else:
        expected, result = [*function.operands], function.result
    if kinds != expected:
        raise IRError(f"function {function} takes {expected}, called with {kinds}")
    if e.dtype != result:
        raise IRError(f"function {function} gives {result}, not {e.dtype}")
    if isinstance(function, ScalarFunction):
        verify_function(function)


def _verify_primitive(e: Expr, kinds: list[str]) -> None:
    if e.op not in PRIMITIVES or len(kinds) != PRIMITIVES[e.op].operands:
        raise IRError(f"{e.op} is no primitive of {len(kinds)} operands")
    if e.op == "select":
        if kinds[0] != "bool" or kinds[1] != kinds[2] or e.dtype != kinds[1]:
            raise IRError(f"select of {kinds} gives {e.dtype}")
        return
    if len(set(kinds)) != 1:
        raise IRError(f"{e.op} of operands with different dtypes {kinds}")
    expected = "bool" if e.op in COMPARISONS or e.op in TESTS else kinds[0]
    if e.dtype != expected:
        raise IRError(f"{e.op} of {kinds[0]} gives {expected}, not {e.dtype}")


def verify_kernel(kernel: Kernel) -> None:
    """Raise `IRError` unless the kernel is well-formed."""
    buffers = {p.name: p.dtype for p in kernel.params if isinstance(p, BufferParam)}
    written = {p.name for p in kernel.params if isinstance(p, BufferParam) and p.written}
    scalars = {p.name: p.dtype for p in kernel.params if isinstance(p, ScalarParam)}
    if len(buffers.keys() | scalars.keys()) != len(kernel.params):
        raise IRError(f"kernel {kernel.name} has two parameters of one name")
    _verify_body(kernel.body, scalars, buffers, written, set())


def verify_function(function: ScalarFunction) -> None:
    """Raise `IRError` unless the scalar function is well-formed; verified functions are skipped."""
    if function in _verified:
        return
    scalars = {p.name: p.dtype for p in function.parameters}
    if len(scalars) != len(function.parameters):
        raise IRError(f"function {function.name} has two parameters of one name")
    known = _verify_body(function.body, scalars, {}, set(), set())
    _verify_expressions([function.result], known, {})
    _verified.add(function)


_verified: WeakSet[ScalarFunction] = WeakSet()


def _verify_body(
    body: Iterable[Statement], scalars: dict[str, str], buffers: dict[str, str], written: set[str], loops: set[str]
) -> dict[str, str]:
    """Check statements in order and return the scalars bound after them."""
    scalars = dict(scalars)
    for s in body:
        if isinstance(s, For):
            _verify_expressions([s.extent], scalars, buffers)
            if s.extent.dtype != INDEX:
                raise IRError(f"the extent of loop {s.var} is {s.extent.dtype}")
            if s.var in loops:
                raise IRError(f"loop {s.var} inside a loop of the same variable")
            _verify_body(s.body, scalars | {s.var: INDEX}, buffers, written, loops | {s.var})
            if s.until and (scalars.get(s.until) != "bool" or s.runs_in_any_order or s.lanes):
                raise IRError(f"loop {s.var} until {s.until}, which is {scalars.get(s.until)}")
            if s.lanes:
                _verify_lanes(s)
            if s.parallel or s.lanes or s.interleave > 1:
                shared = conflict(s)
                if shared is not None:
                    raise IRError(
                        f"loop {s.var} runs several iterations at once, and two of them may store to one element of "
                        f"{shared}"
                    )
        elif isinstance(s, (If, While)):
            _verify_expressions([s.condition], scalars, buffers)
            if s.condition.dtype != "bool":
                raise IRError(f"the condition of {'an if' if isinstance(s, If) else 'a while'} is {s.condition.dtype}")
            _verify_body(s.body, scalars, buffers, written, loops)
        elif isinstance(s, Store):
            _verify_expressions([s.offset, s.value], scalars, buffers)
            if s.buffer not in written:
                raise IRError(f"store to {s.buffer}, which is not a buffer to write to")
            if buffers[s.buffer] != s.value.dtype or s.offset.dtype != INDEX:
                raise IRError(f"store of {s.value.dtype} at {s.offset.dtype} to {s.buffer} of {buffers[s.buffer]}")
        elif isinstance(s, Declare):
            _verify_expressions([s.value], scalars, buffers)
            scalars[s.name] = s.value.dtype
        else:
            assert isinstance(s, Assign)
            _verify_expressions([s.value], scalars, buffers)
            if scalars.get(s.name) != s.value.dtype:
                raise IRError(f"assignment of {s.value.dtype} to {s.name}, declared as {scalars.get(s.name)}")
    return scalars


def _verify_lanes(loop: For) -> None:
    sizes = (*loop.lanes, 1)
    if any(a <= b or a % b or a & (a - 1) for a, b in itertools.pairwise(sizes)):
        raise IRError(f"loop {loop.var} has lanes {loop.lanes}, which are not falling powers of two")
    found = accumulations(loop.body)
    if not found:
        raise IRError(f"loop {loop.var} has lanes, and something else than accumulators")
    for s in loop.body:
        roots = expressions_of(s)
        if isinstance(s, Assign) and found.get(s.name) is s:
            roots = tuple(a for a in s.value.args if a.op != "var" or a.attr != s.name)
        if any(e.op == "var" and e.attr in found for e in walk(roots)):
            raise IRError(f"loop {loop.var} has lanes, and reads an accumulator")


def _verify_expressions(roots: Iterable[Expr], scalars: dict[str, str], buffers: dict[str, str]) -> None:
    for e in walk(roots):
        verify_expression(e, scalars, buffers)


class Bindings:
    """Scalars and buffers bound at a point of a program.

    Attributes
    ----------
    scalars, buffers
        Dtypes by name.
    slots
        Slots of the workspace.
    """

    def __init__(self, scalars: dict[str, str], buffers: dict[str, str], slots: Sequence[Slot]) -> None:
        self.scalars, self.buffers, self.slots = scalars, buffers, slots

    def inside(self, counter: str) -> Bindings:
        """Return the scope inside a loop over `counter`; bindings made there are not visible outside."""
        return Bindings({**self.scalars, counter: INDEX}, dict(self.buffers), self.slots)

    def expressions(self, *roots: Expr) -> None:
        """Check expressions."""
        _verify_expressions(roots, self.scalars, self.buffers)

    def kernel(self, kernel: Kernel) -> None:
        """Check a kernel."""
        verify_kernel(kernel)

    def define(self, size: str) -> None:
        """Bind a size."""
        if size in self.scalars:
            raise IRError(f"{size} is defined again")
        self.scalars[size] = INDEX

    def make(self, buffer: Buffer) -> None:
        """Bind a buffer."""
        self.buffers[buffer.name] = buffer.dtype

    def fail(self, message: str) -> NoReturn:
        """Raise `IRError`."""
        raise IRError(message)
