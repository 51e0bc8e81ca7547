"""Loops over steps that are short enough to be one kernel, whose states are in registers.

The body of such a loop computes a few scalars: its kernels only have loops of small constant trip counts, which are
unrolled. A value that one iteration writes and later ones read is a mutable scalar of the kernel, shifted through
registers, so that no iteration waits for memory; only the entries of sequences and the rows that are kept stay in
memory. A loop that may end early stores its trip count to a buffer of one element. A loop with checks stores the number
of the check that has failed, with the values of its message, and ends; the rest of the iteration is in a branch.

Both forms of a loop do the same operations in the same order, with the same bits as results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch, singledispatchmethod
from typing import Any

from aesara.ir.expr import Expr, const, cost, load, substitute, var, walk
from aesara.ir.expr import op as primitive
from aesara.ir.independence import linear_form
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
    expressions_of,
    map_expressions,
    must_follow,
)
from aesara.ir.steps import Allocate, Check, Define, Iterate, Launch, Step, View
from aesara.records import dataclass

__all__ = ["checks_after", "failure_buffer", "failure_size", "loop_as_launch", "rounds_buffer"]

#: largest trip count of a nested loop that is unrolled
_MAX_UNROLLED = 8
#: nested loops of this trip count that call functions are left to LLVM, which vectorizes them
_MIN_VECTORIZED = 4
#: relative cost of a primitive that counts as a function call
_FUNCTION_COST = 20
#: limits of the scalars and operations of one iteration
_MAX_SCALARS, _MAX_OPERATIONS = 128, 1500

#: limits of the rows and the elements of a ring buffer that is stored after the loop
_MAX_RING_ROWS, _MAX_RING_ELEMENTS = 4, 32

#: limit of redundant register moves in each iteration: twice as many make loops up to twice as slow
_MAX_EXTRA_MOVES = 8

_ITERATION = var("t")
#: for a loop that may end early: whether this iteration is the last one, and the number of iterations
_DONE, _COUNT = var("done", "bool"), var("n")


def rounds_buffer(step: Iterate) -> str:
    """Return the name of the buffer for the trip count of a loop that may end early."""
    return f"rounds_{step.count}"


def failure_buffer(step: Iterate) -> str:
    """Return the name of the buffer for the number of the check that failed, from 1 on, and its values."""
    return f"failure_{step.count}"


def failure_size(step: Iterate) -> int:
    """Return the length of that buffer; 0 if the loop has no checks."""
    return max((1 + len(check.values) for check in _checks_of(step)), default=0)


def checks_after(step: Iterate) -> list[Check]:
    """Return the checks to insert after the kernel of a loop, which fail if one inside of it has failed."""
    name = failure_buffer(step)
    number = load(name, "int64", const(0))
    return [
        Check(
            primitive("ne", number, const(k)),
            check.error,
            tuple(load(name, "int64", const(1 + j)) for j in range(len(check.values))),
        )
        for k, check in enumerate(_checks_of(step), 1)
    ]


def _checks_of(step: Iterate) -> list[Check]:
    return [check for inner in step.body for check in inner.checks()]


@singledispatch
def loop_as_launch(step: Step, bases: Mapping[str, str], taken: frozenset[str] = frozenset()) -> Launch | None:
    """Return the launch of a kernel that runs the whole loop; None if the loop is not short enough.

    Parameters
    ----------
    step
        The loop.
    bases
        The owner of the memory of each view (see `Program.bases`).
    taken
        Buffers that may share their memory with others.
    """
    return None


@loop_as_launch.register
def _iterate_as_launch(step: Iterate, bases: Mapping[str, str], taken: frozenset[str] = frozenset()) -> Launch | None:
    try:
        return _IterationBuilder(step, bases, taken).launch()
    except _NotConvertible:
        return None


class _NotConvertible(Exception):
    """Raised for a loop that cannot become a kernel."""


@dataclass(frozen=True)
class _Element:
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


class _IterationBuilder:
    """Symbolic execution of one iteration of a loop."""

    def __init__(self, step: Iterate, bases: Mapping[str, str], taken: frozenset[str]) -> None:
        self.step, self.bases = step, bases
        #: base and element offset of each view
        self.views: dict[str, tuple[str, Expr]] = {}
        self.defined: dict[Expr, Expr] = {}
        self.local: dict[tuple[str, int], Expr] = {}
        self.is_local: set[str] = set()
        self.written = self._find_written_roots()
        if any(root in taken for root in self.written):
            raise _NotConvertible
        self.params: dict[str, BufferParam] = {}
        self.scalars: dict[Expr, ScalarParam] = {}
        self.forms: dict[str, tuple[int, Expr | None]] = {}
        #: values stored in this iteration, and those read from earlier iterations
        self.stored: dict[_Element, Expr] = {}
        self.read: dict[_Element, Expr] = {}
        self.operations = 0
        #: condition of each check, followed by the values of its message
        self.checks: list[tuple[Expr, ...]] = []

    def _find_written_roots(self) -> set[str]:
        """Return the buffers outside of the loop that it writes."""
        self.view_base: dict[str, str] = {}  # base of each view
        wrote: set[str] = set()
        read: set[str] = set()
        for step in self.step.body:
            self._inspect(step)
            wrote.update(self.view_base.get(name, name) for name in step.writes())
            read.update(self.view_base.get(name, name) for name in step.reads())
        outside = {name for name in wrote if name not in self.is_local}
        # A write under one name would be missed by a read of the same memory under another.
        for name in outside:
            if any(other != name and self._base(other) == self._base(name) for other in wrote | read):
                raise _NotConvertible
        return outside

    @singledispatchmethod
    def _inspect(self, step: Step) -> None:
        """Record the buffers of a step; other classes of steps than those below are not supported."""
        raise _NotConvertible

    @_inspect.register
    def _(self, step: View) -> None:
        self.view_base[step.buffer.name] = self.view_base.get(step.base, step.base)

    @_inspect.register
    def _(self, step: Allocate) -> None:
        if step.slot is None or step.reuse is not None or step.initial is not None:
            raise _NotConvertible
        self.is_local.add(step.buffer.name)

    @_inspect.register(Check)
    @_inspect.register(Define)
    def _(self, step: Step) -> None:
        pass

    @_inspect.register
    def _(self, step: Launch) -> None:
        if any(isinstance(p, BufferParam) and p.aliased for p in step.kernel.params):
            raise _NotConvertible

    def _base(self, name: str) -> str:
        return self.bases.get(name, name)

    # -- the kernel ------------------------------------------------------------------------------------------

    def launch(self) -> Launch:
        for step in self.step.body:
            self._execute(step)
        until = None if self.step.until is None else self._translate(self.step.until)
        depths = self._carried_depths()
        kept_rows = self._find_kept_rows()
        replaced = self._registers()
        before: list[Statement] = []
        declared: list[Declare] = []
        stores: list[Statement] = []
        shifts: list[Statement] = []
        final_shifts: list[Statement] = []
        last: list[Statement] = []
        extent = self._scalar(self.step.extent)
        values = substitute(self.stored.values(), replaced.get, {})
        checks = [substitute(check, replaced.get, {}) for check in self.checks]
        may_end = until is not None or bool(checks)
        count = extent if until is None else _COUNT
        dependents = self._count_dependents()
        for k, (element, value) in enumerate(zip(self.stored, values, strict=True)):
            name, param = var(f"x{k}", value.dtype), self._param(element.root)
            declared.append(Declare(f"x{k}", value))
            kept = kept_rows.get(element.root, 0)
            depth = max(depths.get(element, 0), kept if may_end else min(kept, 1))
            registers = [var(f"x{k}_{m}", value.dtype) for m in range(1, max(depth, kept) + 1)]
            for m, register in enumerate(registers, 1):
                row = element.ahead - m if element.rows else 0
                first = load(param.name, param.dtype, const(row * element.rows + element.index))
                is_read = row >= 0 and m <= depth
                before.append(Declare(register.attr, first if is_read else const(0, value.dtype)))
            moves = [Assign(new.attr, old) for new, old in zip(registers, [name, *registers])]
            shifts += reversed(moves[:depth])
            final_shifts += reversed(moves[depth:])
            if not kept:
                stores.append(Store(param.name, element.offset(_ITERATION), name))
                continue
            for m, register in enumerate(registers, 1):
                store = Store(param.name, element.offset(count - m), register)
                last.append(If(count >= m, (store,)))
        # Values that others depend on come first: a processor starts with the first instruction that is ready.
        declared = [declared[k] for k in sorted(range(len(values)), key=lambda k: -dependents[k])]
        if may_end:
            body: tuple[Statement, ...] = (*declared, *stores, *shifts)
            before.append(Declare(_DONE.attr, const(False, "bool")))
            if until is not None:
                before.append(Declare(_COUNT.attr, const(0)))
                ends = Declare("ends", substitute([until], replaced.get, {})[0])
                counting = (Assign(_DONE.attr, var("ends", "bool")), Assign(_COUNT.attr, _ITERATION + 1))
                body = (*declared, ends, *stores, *shifts, *counting)
                number = self._result(rounds_buffer(self.step))
                last.append(Store(number.name, const(0), _COUNT))
            if checks:
                failure = self._result(failure_buffer(self.step))
                before += [Store(failure.name, const(j), const(0)) for j in range(failure_size(self.step))]
                body = _guard_by_checks(checks, failure.name, body)
            loop = For(_ITERATION.attr, extent, body, interleave=0, until=_DONE.attr)
        else:
            final = max((kept - 1 for kept in kept_rows.values()), default=0)
            loop = _loop_over_iterations(extent, (*declared, *stores, *shifts), final_shifts, final)
        params: tuple[BufferParam | ScalarParam, ...] = (*self.params.values(), *self.scalars.values())
        kernel = Kernel(f"loop_{self.step.var}", params, (*before, loop, *last))
        return Launch(kernel, (*self.params, *self.scalars))

    def _find_kept_rows(self) -> dict[str, int]:
        """Return the buffers of which only the last rows need to be stored, with the number of these.

        These are ring buffers, and buffers with one row.
        """
        found = {}
        for root in self.written:
            elements = [element for element in self.stored if element.root == root]
            kept_rows = {_rows_of(element) for element in elements}
            kept = kept_rows.pop() if len(kept_rows) == 1 else None
            if kept is not None and kept <= _MAX_RING_ROWS and len(elements) * kept <= _MAX_RING_ELEMENTS:
                found[root] = kept
        return found

    def _carried_depths(self) -> dict[_Element, int]:
        """Return, for each value that later iterations read, how many iterations it is kept in registers."""
        columns: dict[tuple[str, int], _Element] = {}
        for element in self.stored:
            if columns.setdefault(element.column, element) != element:
                raise _NotConvertible
        self.written_at = columns
        depths: dict[_Element, int] = {}
        for element in self.read:
            stored = columns.get(element.column)
            if stored is None:
                raise _NotConvertible
            distance = 1 if element.rows == 0 else stored.ahead - element.ahead
            if distance < 1 or element.ahead < 0 or not _has_room(element.ring, stored.ahead):
                raise _NotConvertible
            depths[stored] = max(depths.get(stored, 0), distance)
        return depths

    def _registers(self) -> dict[Expr, Expr]:
        """Return the register for each value read from an earlier iteration."""
        numbers = {element: k for k, element in enumerate(self.stored)}
        found = {}
        for element, stand_in in self.read.items():
            stored = self.written_at[element.column]
            distance = 1 if element.rows == 0 else stored.ahead - element.ahead
            found[stand_in] = var(f"x{numbers[stored]}_{distance}", stand_in.dtype)
        return found

    def _count_dependents(self) -> list[int]:
        """Count, for each value of an iteration, the others that depend on its previous value."""
        numbers = {element: k for k, element in enumerate(self.stored)}
        read = {stand_in: numbers[self.written_at[element.column]] for element, stand_in in self.read.items()}
        dependents = [0] * len(numbers)
        for k, value in enumerate(self.stored.values()):
            for number in {read[e] for e in walk([value]) if e in read} - {k}:
                dependents[number] += 1
        return dependents

    def _param(self, root: str, dtype: str = "") -> BufferParam:
        found = self.params.get(root)
        if found is None:
            found = self.params[root] = BufferParam(f"b{len(self.params)}", dtype, root in self.written)
        return found

    def _result(self, name: str) -> BufferParam:
        """Add a parameter for a buffer that reports how the loop has ended."""
        self.params[name] = BufferParam(f"b{len(self.params)}", "int64", True)
        return self.params[name]

    def _scalar(self, value: Expr) -> Expr:
        """Return the parameter for a loop-invariant value."""
        if value.is_const:
            return value
        found = self.scalars.setdefault(value, ScalarParam(f"n{len(self.scalars)}", value.dtype))
        return var(found.name, found.dtype)

    def _translate(self, value: Expr) -> Expr:
        """Rewrite an expression of the program in terms of the kernel's iteration and parameters."""
        number = var(self.step.var)
        changing = {number, *self.defined}
        for e in walk([value]):
            is_own = e.op == "load" and (e.attr in self.is_local or e.attr in self.written or e.attr in self.view_base)
            if is_own or any(a in changing for a in e.args):
                changing.add(e)

        def change(e: Expr) -> Expr | None:
            if e is number:
                return _ITERATION
            if e not in changing:
                return self._scalar(e)
            if e.op == "load":
                return self._load(e.attr, e.dtype, self._translate(e.args[0]))
            return self.defined.get(e)

        return substitute([value], change, {})[0]

    # -- steps -----------------------------------------------------------------------------------------------

    @singledispatchmethod
    def _execute(self, step: Step) -> None:
        """Execute a step symbolically."""

    @_execute.register
    def _(self, step: View) -> None:
        base, offset = self.views.get(step.base, (step.base, const(0)))
        self.views[step.buffer.name] = base, offset + self._translate(step.offset)

    @_execute.register
    def _(self, step: Define) -> None:
        self.defined[var(step.name, step.value.dtype)] = self._translate(step.value)

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
            root = self.views.get(buffer, (buffer, const(0)))[0]
            if root not in self.is_local:
                self._param(root, dtypes[name])
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
                raise _NotConvertible
        self._store(pending, buffers, known)

    def _loop(self, loop: For, buffers: dict[str, str], known: dict[str, Expr]) -> None:
        extent = self._value(loop.extent, buffers, known)
        if not extent.is_const or extent.attr > _MAX_UNROLLED or any(extent.attr >= lanes for lanes in loop.lanes):
            raise _NotConvertible
        if extent.attr >= _MIN_VECTORIZED and any(_calls_functions(s) for s in loop.body):
            raise _NotConvertible
        for k in range(extent.attr):
            known[loop.var] = const(k)
            self._statements(loop.body, buffers, known)

    def _store(self, stores: list[Store], buffers: dict[str, str], known: dict[str, Expr]) -> None:
        ready = []
        for s in stores:
            ready.append((s.buffer, self._value(s.offset, buffers, known), self._value(s.value, buffers, known)))
        for name, offset, value in ready:
            root, position = self._resolve(buffers[name], offset)
            if root in self.is_local:
                self.local[root, _known_offset(position)] = value
            else:
                self.stored[self._element_at(root, position)] = value
        if len(self.stored) + len(self.local) > _MAX_SCALARS:
            raise _NotConvertible

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
        self.operations += sum(1 for _ in walk(values))
        if self.operations > _MAX_OPERATIONS:
            raise _NotConvertible

    def _load(self, buffer: str, dtype: str, offset: Expr) -> Expr:
        root, position = self._resolve(buffer, offset)
        if root in self.is_local:
            found = self.local.get((root, _known_offset(position)))
            if found is None:
                raise _NotConvertible
            return found
        if root not in self.written:
            return load(self._param(root, dtype).name, dtype, position)
        element = self._element_at(root, position)
        found = self.stored.get(element)
        if found is not None:
            return found
        return self.read.setdefault(element, var(f"r{len(self.read)}", dtype))

    def _resolve(self, buffer: str, offset: Expr) -> tuple[str, Expr]:
        root, start = self.views.get(buffer, (buffer, const(0)))
        return root, start + offset

    # -- places ----------------------------------------------------------------------------------------------

    def _element_at(self, root: str, offset: Expr) -> _Element:
        """Return an element of a buffer that the loop writes."""
        factors, shift = linear_form(offset)
        if len(factors) > 1:
            raise _NotConvertible
        ((atom, rows),) = factors.items() or [(_ITERATION, 0)]
        ring, ahead, index = None, 0, shift
        if rows < 0:
            raise _NotConvertible
        if atom.op == "mod":
            inside, ahead = linear_form(atom.args[0])
            ring = atom.args[1]
            if inside != {_ITERATION: 1} or not 0 <= index < rows:
                raise _NotConvertible
        elif atom is not _ITERATION:
            raise _NotConvertible
        elif rows:
            ahead, index = divmod(shift, rows)
        if self.forms.setdefault(root, (rows, ring)) != (rows, ring):
            raise _NotConvertible
        return _Element(root, rows, ring, ahead, index)


def _loop_over_iterations(extent: Expr, body: tuple[Statement, ...], final_shifts: list[Statement], final: int) -> For:
    """Return the loop over all iterations; `final_shifts` are register moves that only the last `final` ones need.

    A few moves are done in every iteration, at no cost. Many would occupy registers: then an outer loop has one pass
    for all iterations but the last ones, and one pass for each of these.
    """
    if len(final_shifts) <= _MAX_EXTRA_MOVES:
        return For(_ITERATION.attr, extent, (*final_shifts, *body), interleave=0)
    stage = var("s")
    final_ones = primitive("minimum", extent, const(final))
    is_first = primitive("eq", stage, const(0))
    start = primitive("select", is_first, const(0), extent - final_ones + stage - 1)
    inside = [map_expressions(s, lambda e: substitute([e], {_ITERATION: start + _ITERATION}.get, {})[0]) for s in body]
    inner_loop = For(
        _ITERATION.attr, primitive("select", is_first, extent - final_ones, const(1)), tuple(inside), interleave=0
    )
    return For(stage.attr, final_ones + 1, (*final_shifts, inner_loop), interleave=0)


def _guard_by_checks(checks: list[Any], failure: str, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Nest the body in its checks; a check that fails stores its number and its values."""
    for k, (condition, *values) in reversed(list(enumerate(checks, 1))):
        stores = [Store(failure, const(j), value) for j, value in enumerate([const(k), *values])]
        fails = If(primitive("eq", condition, const(False, "bool")), (*stores, Assign(_DONE.attr, const(True, "bool"))))
        body = (fails, If(condition, body))
    return body


def _known_offset(offset: Expr) -> int:
    if not offset.is_const:
        raise _NotConvertible
    return int(offset.attr)


def _has_room(ring: Expr | None, ahead: int) -> bool:
    """Return whether a ring buffer has room for the current row in addition to `ahead` earlier ones."""
    return ring is None or ring.least > ahead


def _rows_of(element: _Element) -> int | None:
    """Return the number of rows of a buffer, if it is constant."""
    if not element.rows:
        return 1
    return int(element.ring.attr) if element.ring is not None and element.ring.is_const else None


def _calls_functions(statement: Statement) -> bool:
    if isinstance(statement, For):
        return any(map(_calls_functions, statement.body))
    return any(e.op == "call" or cost(e) >= _FUNCTION_COST for e in walk(expressions_of(statement)))
