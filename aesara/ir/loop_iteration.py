"""Symbolic execution of one iteration of a loop over steps, for `loop_kernels`.

The values that an iteration stores become expressions of what it reads: entries of buffers that the loop only reads,
loop-invariant scalars, and values of earlier iterations, for which variables stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatchmethod
from typing import Any

from aesara.ir.expr import Expr, const, cost, load, substitute, var, walk
from aesara.ir.independence import linear_form
from aesara.ir.kernel import (
    Assign,
    BufferParam,
    Declare,
    For,
    ScalarParam,
    Statement,
    Store,
    expressions_of,
    must_follow,
)
from aesara.ir.steps import Allocate, Check, Define, Iterate, Launch, Step, View
from aesara.records import dataclass

__all__ = ["ITERATION", "RowElement", "LoopIteration", "KernelParameters", "NotConvertible"]

#: largest trip count of a nested loop that is unrolled
_MAX_UNROLLED = 8
#: nested loops of this trip count that call functions are left to LLVM, which vectorizes them
_MIN_VECTORIZED = 4
#: relative cost of a primitive that counts as a function call
_FUNCTION_COST = 20
#: limits of the scalars and operations of one iteration
_MAX_SCALARS, _MAX_OPERATIONS = 128, 1500

#: the number of the iteration
ITERATION = var("t")


class NotConvertible(Exception):
    """Raised for a loop whose iterations cannot be executed symbolically, with the reason."""


@dataclass(frozen=True)
class RowElement:
    """Element `index` of the row that is `ahead` rows after that of the iteration, in a buffer that the loop writes.

    `rows` is the length of a row (0: the buffer has one row), and `ring` the number of rows of a ring buffer (None: no
    ring).
    """

    root: str
    rows: int
    ring: Expr | None
    ahead: int
    index: int

    @property
    def column(self) -> tuple[str, int]:
        return self.root, self.index

    def offset(self, number: Expr) -> Expr:
        """Return the element offset in iteration `number`."""
        row = number + self.ahead
        if self.ring is not None:
            return row % self.ring * self.rows + self.index
        return number * self.rows + (self.ahead * self.rows + self.index)

    @classmethod
    def at(cls, root: str, offset: Expr) -> RowElement:
        """Return the element of a buffer at an offset, which is linear in the iteration."""
        factors, shift = linear_form(offset)
        if len(factors) > 1:
            raise NotConvertible("an offset in several variables")
        ((atom, rows),) = factors.items() or [(ITERATION, 0)]
        ring, ahead, index = None, 0, shift
        if rows < 0:
            raise NotConvertible("rows in descending order")
        if atom.op == "mod":
            inside, ahead = linear_form(atom.args[0])
            ring = atom.args[1]
            if inside != {ITERATION: 1} or not 0 <= index < rows:
                raise NotConvertible("a ring buffer whose rows are not those of the iterations")
        elif atom is not ITERATION:
            raise NotConvertible("an offset that depends on data")
        elif rows:
            ahead, index = divmod(shift, rows)
        return cls(root, rows, ring, ahead, index)


class KernelParameters:
    """Parameters of the kernel of a loop.

    Attributes
    ----------
    buffers
        Parameters of buffers, by the buffers' names in the program.
    scalars
        Parameters of loop-invariant values.
    """

    def __init__(self) -> None:
        self.buffers: dict[str, BufferParam] = {}
        self.scalars: dict[Expr, ScalarParam] = {}

    def buffer(self, name: str, dtype: str, written: bool) -> BufferParam:
        """Return the parameter of a buffer."""
        found = self.buffers.get(name)
        if found is None:
            found = self.buffers[name] = BufferParam(f"b{len(self.buffers)}", dtype, written)
        return found

    def scalar(self, value: Expr) -> Expr:
        """Return the variable of the parameter for a loop-invariant value; constants are returned unchanged."""
        if value.is_const:
            return value
        found = self.scalars.setdefault(value, ScalarParam(f"n{len(self.scalars)}", value.dtype))
        return var(found.name, found.dtype)


class _LoopBuffers:
    """The buffers that the body of a loop uses.

    Attributes
    ----------
    local
        Buffers that only the body uses.
    written
        Buffers outside of the loop that it writes.
    view_base
        The base of each view that the body makes.
    """

    def __init__(self, body: Sequence[Step], bases: Mapping[str, str]) -> None:
        self.local: set[str] = set()
        self.view_base: dict[str, str] = {}
        wrote: set[str] = set()
        read: set[str] = set()
        for step in body:
            self._inspect(step)
            wrote.update(self.view_base.get(name, name) for name in step.writes())
            read.update(self.view_base.get(name, name) for name in step.reads())
        self.written = wrote - self.local
        # A write under one name would be missed by a read of the same memory under another.
        for name in self.written:
            if any(other != name and bases.get(other, other) == bases.get(name, name) for other in wrote | read):
                raise NotConvertible("a buffer with two names")

    @singledispatchmethod
    def _inspect(self, step: Step) -> None:
        """Record the buffers of a step; other classes of steps than those below are not supported."""
        raise NotConvertible("a step that no kernel can do")

    @_inspect.register
    def _(self, step: View) -> None:
        self.view_base[step.buffer.name] = self.view_base.get(step.base, step.base)

    @_inspect.register
    def _(self, step: Allocate) -> None:
        if step.slot is None or step.reuse is not None or step.initial is not None:
            raise NotConvertible("an array that is a result")
        self.local.add(step.buffer.name)

    @_inspect.register(Check)
    @_inspect.register(Define)
    def _(self, step: Step) -> None:
        pass

    @_inspect.register
    def _(self, step: Launch) -> None:
        if any(isinstance(p, BufferParam) and p.aliased for p in step.kernel.params):
            raise NotConvertible("a kernel whose buffers are aliases")


class LoopIteration:
    """Symbolic execution of an iteration.

    Attributes
    ----------
    stored
        Values that the iteration stores in buffers outside of the loop.
    read
        Variables that stand for values of earlier iterations.
    checks
        Condition of each check, followed by the values of its message.
    until
        Whether the iteration is the last one; None if the loop does not end early.
    written
        Buffers outside of the loop that it writes.
    parameters
        Parameters of the kernel.
    """

    def __init__(self, step: Iterate, bases: Mapping[str, str], taken: frozenset[str]) -> None:
        buffers = _LoopBuffers(step.body, bases)
        if buffers.written & taken:
            raise NotConvertible("a buffer that may share its memory")
        self._number = var(step.var)
        self._local, self._view_base = buffers.local, buffers.view_base
        self.written = buffers.written
        self.parameters = KernelParameters()
        self.stored: dict[RowElement, Expr] = {}
        self.read: dict[RowElement, Expr] = {}
        self.checks: list[tuple[Expr, ...]] = []
        #: base and element offset of each view, and values of definitions
        self._views: dict[str, tuple[str, Expr]] = {}
        self._defined: dict[Expr, Expr] = {}
        #: values of the elements of local buffers
        self._local_values: dict[tuple[str, int], Expr] = {}
        #: row length and ring of each buffer that is written; all accesses have the same
        self._forms: dict[str, tuple[int, Expr | None]] = {}
        self._operations = 0
        for one in step.body:
            self._execute(one)
        self.until = None if step.until is None else self._translate(step.until)

    def parameter(self, root: str, dtype: str = "") -> BufferParam:
        """Return the parameter of a buffer outside of the loop."""
        return self.parameters.buffer(root, dtype, root in self.written)

    # -- steps -----------------------------------------------------------------------------------------------

    @singledispatchmethod
    def _execute(self, step: Step) -> None:
        """Execute a step symbolically."""

    @_execute.register
    def _(self, step: View) -> None:
        base, offset = self._views.get(step.base, (step.base, const(0)))
        self._views[step.buffer.name] = base, offset + self._translate(step.offset)

    @_execute.register
    def _(self, step: Define) -> None:
        self._defined[var(step.name, step.value.dtype)] = self._translate(step.value)

    @_execute.register
    def _(self, step: Check) -> None:
        self.checks.append(tuple(map(self._translate, (step.condition, *step.values))))
        self._count(self.checks[-1])

    @_execute.register
    def _(self, step: Launch) -> None:
        arguments: dict[str, Any] = {}
        for param, argument in zip(step.kernel.params, step.arguments, strict=True):
            arguments[param.name] = argument if isinstance(argument, str) else self._translate(argument)
        buffers = {p.name: arguments[p.name] for p in step.kernel.params if isinstance(p, BufferParam)}
        dtypes = {p.name: p.dtype for p in step.kernel.params if isinstance(p, BufferParam)}
        for name, buffer in buffers.items():
            root = self._views.get(buffer, (buffer, const(0)))[0]
            if root not in self._local:
                self.parameter(root, dtypes[name])
        self._statements(step.kernel.body, buffers, {n: v for n, v in arguments.items() if n not in buffers})

    def _statements(self, body: tuple[Statement, ...], buffers: dict[str, str], known: dict[str, Expr]) -> None:
        """Execute statements; `known` has the values of sizes, indices and mutable scalars."""
        pending: list[Store] = []
        for statement in body:
            if isinstance(statement, Store):
                if any(must_follow(statement, other) for other in pending):
                    self._store(pending, buffers, known)
                    pending = []
                pending.append(statement)
                continue
            self._store(pending, buffers, known)
            pending = []
            if isinstance(statement, (Declare, Assign)):
                known[statement.name] = self._value(statement.value, buffers, known)
            elif isinstance(statement, For):
                self._loop(statement, buffers, known)
            else:
                raise NotConvertible("a branch")
        self._store(pending, buffers, known)

    def _loop(self, loop: For, buffers: dict[str, str], known: dict[str, Expr]) -> None:
        extent = self._value(loop.extent, buffers, known)
        if not extent.is_const or extent.attr > _MAX_UNROLLED or any(extent.attr >= lanes for lanes in loop.lanes):
            raise NotConvertible("a long nested loop")
        if extent.attr >= _MIN_VECTORIZED and any(_calls_functions(s) for s in loop.body):
            raise NotConvertible("a nested loop that LLVM vectorizes")
        for k in range(extent.attr):
            known[loop.var] = const(k)
            self._statements(loop.body, buffers, known)

    def _store(self, stores: list[Store], buffers: dict[str, str], known: dict[str, Expr]) -> None:
        ready = []
        for s in stores:
            ready.append((s.buffer, self._value(s.offset, buffers, known), self._value(s.value, buffers, known)))
        for name, offset, value in ready:
            root, position = self._resolve(buffers[name], offset)
            if root in self._local:
                self._local_values[root, _known_offset(position)] = value
            else:
                self.stored[self._element_at(root, position)] = value
        if len(self.stored) + len(self._local_values) > _MAX_SCALARS:
            raise NotConvertible("many scalars")

    def _value(self, value: Expr, buffers: dict[str, str], known: dict[str, Expr]) -> Expr:
        def change(e: Expr) -> Expr | None:
            if e.op == "var":
                return known[e.attr]
            if e.op == "load":
                return self._load(buffers[e.attr], e.dtype, self._value(e.args[0], buffers, known))
            return None

        self._count([value])
        return substitute([value], change, {})[0]

    def _count(self, values: Sequence[Expr]) -> None:
        self._operations += sum(1 for _ in walk(values))
        if self._operations > _MAX_OPERATIONS:
            raise NotConvertible("many operations")

    def _load(self, buffer: str, dtype: str, offset: Expr) -> Expr:
        root, position = self._resolve(buffer, offset)
        if root in self._local:
            found = self._local_values.get((root, _known_offset(position)))
            if found is None:
                raise NotConvertible("an element that has not been computed")
            return found
        if root not in self.written:
            return load(self.parameter(root, dtype).name, dtype, position)
        element = self._element_at(root, position)
        found = self.stored.get(element)
        if found is not None:
            return found
        return self.read.setdefault(element, var(f"r{len(self.read)}", dtype))

    def _resolve(self, buffer: str, offset: Expr) -> tuple[str, Expr]:
        root, start = self._views.get(buffer, (buffer, const(0)))
        return root, start + offset

    # -- expressions -----------------------------------------------------------------------------------------

    def _translate(self, value: Expr) -> Expr:
        """Rewrite an expression of the program in terms of the kernel's iteration and parameters."""
        number = self._number
        changing = {number, *self._defined}
        for e in walk([value]):
            is_own = e.op == "load" and (e.attr in self._local or e.attr in self.written or e.attr in self._view_base)
            if is_own or any(a in changing for a in e.args):
                changing.add(e)

        def change(e: Expr) -> Expr | None:
            if e is number:
                return ITERATION
            if e not in changing:
                return self.parameters.scalar(e)
            if e.op == "load":
                return self._load(e.attr, e.dtype, self._translate(e.args[0]))
            return self._defined.get(e)

        return substitute([value], change, {})[0]

    def _element_at(self, root: str, offset: Expr) -> RowElement:
        """Return an element of a buffer that the loop writes."""
        element = RowElement.at(root, offset)
        form = element.rows, element.ring
        if self._forms.setdefault(root, form) != form:
            raise NotConvertible("a buffer with rows of two lengths")
        return element


def _known_offset(offset: Expr) -> int:
    if not offset.is_const:
        raise NotConvertible("an offset that is not constant")
    return int(offset.attr)


def _calls_functions(statement: Statement) -> bool:
    if isinstance(statement, For):
        return any(map(_calls_functions, statement.body))
    return any(e.op == "call" or cost(e) >= _FUNCTION_COST for e in walk(expressions_of(statement)))
