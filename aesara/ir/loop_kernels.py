"""Loops over steps that are short enough to be one kernel, whose states are in registers.

A step of such a loop computes a few numbers: its kernels have loops of small constant lengths only, which are written
out.  What a round writes and the next ones read is a mutable scalar of the kernel, handed on from round to round, so
that nothing waits for memory; what is left of memory are the entries of sequences and the rows that are kept.  A loop
that may end early writes to a buffer of one number how many rounds there were.  One with checks writes to a buffer
which of them has failed, if any, with the values that go into the message, and ends; what follows a check in a round is
inside of a branch.

Both forms of a loop do the same operations in the same order, so that their results are the same to the last bit.
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

__all__ = ["checks_behind", "failure_buffer", "failure_words", "loop_as_launch", "rounds_buffer"]

#: the longest loop of a step that is written out
_LONGEST = 8
#: loops of this length that call functions are left to LLVM, which makes vectors of them
_VECTOR = 4
#: relative cost from which on something is a function
_FUNCTION = 20
#: how many numbers a step may compute, and how many operations it may have
_NUMBERS, _OPERATIONS = 128, 1500

#: rings of so many rows, and of so many numbers in all, are written behind the loop
_RING, _LAST = 4, 32

#: so many moves of registers a round may have that nobody needs: twice as many make loops up to twice as slow
_FEW_MOVES = 8

_ROUND = var("t")
#: of a loop that may end early: whether this round is the last one, and how many rounds there were
_DONE, _COUNT = var("done", "bool"), var("n")


def rounds_buffer(step: Iterate) -> str:
    """The name of the buffer that gets the number of rounds of a loop that may end early."""
    return f"rounds_{step.count}"


def failure_buffer(step: Iterate) -> str:
    """The name of the buffer that gets the number of the check of a loop that has failed, from 1 on, and its values."""
    return f"failure_{step.count}"


def failure_words(step: Iterate) -> int:
    """How many numbers the failure of a loop takes; 0 if it has no checks."""
    return max((1 + len(check.values) for check in _checks_of(step)), default=0)


def checks_behind(step: Iterate) -> list[Check]:
    """The checks that fail, behind the kernel of a loop, if one has failed in the loop."""
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
    """The launch of one kernel that does what a loop does; None if the step is none of the short loops.

    Parameters
    ----------
    step
        The loop.
    bases
        For buffers that are part of the memory of others: those (see `Program.bases`).
    taken
        Buffers that may be the memory of other ones, too.
    """
    return None


@loop_as_launch.register
def _iterate_as_launch(step: Iterate, bases: Mapping[str, str], taken: frozenset[str] = frozenset()) -> Launch | None:
    try:
        return _Round(step, bases, taken).launch()
    except _Stays:
        return None


class _Stays(Exception):
    """The loop stays as it is."""


@dataclass(frozen=True)
class _Place:
    """An element of a buffer that the loop writes: number `element` of the row that comes `ahead` of the round's.

    `rows` is the size of a row (0: the buffer has one, whatever the round), and `ring` after how many rows the first
    one comes again (None: never).
    """

    root: str
    rows: int
    ring: Expr | None
    ahead: int
    element: int

    @property
    def column(self) -> tuple[str, int]:
        return self.root, self.element

    def offset(self, number: Expr) -> Expr:
        """Where it is in the round of this number."""
        row = number + self.ahead
        if self.ring is not None:
            return row % self.ring * self.rows + self.element
        return number * self.rows + (self.ahead * self.rows + self.element)


class _Round:
    """One round of a loop, written out."""

    def __init__(self, step: Iterate, bases: Mapping[str, str], taken: frozenset[str]) -> None:
        self.step, self.bases = step, bases
        #: where buffers of the body are: in which other buffer, from which element on
        self.views: dict[str, tuple[str, Expr]] = {}
        self.defined: dict[Expr, Expr] = {}
        self.local: dict[tuple[str, int], Expr] = {}
        self.is_local: set[str] = set()
        self.written = self._written_roots()
        if any(root in taken for root in self.written):
            raise _Stays
        self.params: dict[str, BufferParam] = {}
        self.scalars: dict[Expr, ScalarParam] = {}
        self.forms: dict[str, tuple[int, Expr | None]] = {}
        #: what has been written in this round, and what rounds before have written
        self.stored: dict[_Place, Expr] = {}
        self.read: dict[_Place, Expr] = {}
        self.operations = 0
        #: conditions of checks, each with the values of its message
        self.checks: list[tuple[Expr, ...]] = []

    def _written_roots(self) -> set[str]:
        """The buffers outside of the loop that it writes."""
        self.reached: dict[str, str] = {}  # by views
        wrote: set[str] = set()
        read: set[str] = set()
        for step in self.step.body:
            self._look_at(step)
            wrote.update(self.reached.get(name, name) for name in step.writes())
            read.update(self.reached.get(name, name) for name in step.reads())
        outside = {name for name in wrote if name not in self.is_local}
        # One memory under two names would be written under one and read under the other.
        for name in outside:
            if any(other != name and self._base(other) == self._base(name) for other in wrote | read):
                raise _Stays
        return outside

    @singledispatchmethod
    def _look_at(self, step: Step) -> None:
        """Note what a step makes of buffers; no other steps than those below are written out."""
        raise _Stays

    @_look_at.register
    def _(self, step: View) -> None:
        self.reached[step.buffer.name] = self.reached.get(step.base, step.base)

    @_look_at.register
    def _(self, step: Allocate) -> None:
        if step.slot is None or step.reuse is not None or step.initial is not None:
            raise _Stays
        self.is_local.add(step.buffer.name)

    @_look_at.register(Check)
    @_look_at.register(Define)
    def _(self, step: Step) -> None:
        pass

    @_look_at.register
    def _(self, step: Launch) -> None:
        if any(isinstance(p, BufferParam) and p.aliased for p in step.kernel.params):
            raise _Stays

    def _base(self, name: str) -> str:
        return self.bases.get(name, name)

    # -- the kernel ------------------------------------------------------------------------------------------

    def launch(self) -> Launch:
        for step in self.step.body:
            self._step(step)
        until = None if self.step.until is None else self._from_outside(self.step.until)
        chains = self._chains()
        rooms = self._only_last_rows()
        replaced = self._registers()
        before: list[Statement] = []
        declared: list[Declare] = []
        stores: list[Statement] = []
        rotations: list[Statement] = []
        rare: list[Statement] = []
        last: list[Statement] = []
        extent = self._scalar(self.step.extent)
        values = substitute(self.stored.values(), replaced.get, {})
        checks = [substitute(check, replaced.get, {}) for check in self.checks]
        may_end = until is not None or bool(checks)
        count = extent if until is None else _COUNT
        awaited = self._how_awaited()
        for k, (place, value) in enumerate(zip(self.stored, values, strict=True)):
            name, param = var(f"x{k}", value.dtype), self._param(place.root)
            declared.append(Declare(f"x{k}", value))
            room = rooms.get(place.root, 0)
            handed_on = max(chains.get(place, 0), room if may_end else min(room, 1))
            registers = [var(f"x{k}_{m}", value.dtype) for m in range(1, max(handed_on, room) + 1)]
            for m, register in enumerate(registers, 1):
                row = place.ahead - m if place.rows else 0
                first = load(param.name, param.dtype, const(row * place.rows + place.element))
                is_read = row >= 0 and m <= handed_on
                before.append(Declare(register.attr, first if is_read else const(0, value.dtype)))
            moves = [Assign(new.attr, old) for new, old in zip(registers, [name, *registers])]
            rotations += reversed(moves[:handed_on])
            rare += reversed(moves[handed_on:])
            if not room:
                stores.append(Store(param.name, place.offset(_ROUND), name))
                continue
            for m, register in enumerate(registers, 1):
                store = Store(param.name, place.offset(count - m), register)
                last.append(If(count >= m, (store,)))
        # A processor begins with what stands first of that which is ready: that for which others wait.
        declared = [declared[k] for k in sorted(range(len(values)), key=lambda k: -awaited[k])]
        if may_end:
            body: tuple[Statement, ...] = (*declared, *stores, *rotations)
            before.append(Declare(_DONE.attr, const(False, "bool")))
            if until is not None:
                before.append(Declare(_COUNT.attr, const(0)))
                ends = Declare("ends", substitute([until], replaced.get, {})[0])
                counting = (Assign(_DONE.attr, var("ends", "bool")), Assign(_COUNT.attr, _ROUND + 1))
                body = (*declared, ends, *stores, *rotations, *counting)
                number = self._result(rounds_buffer(self.step))
                last.append(Store(number.name, const(0), _COUNT))
            if checks:
                failure = self._result(failure_buffer(self.step))
                before += [Store(failure.name, const(j), const(0)) for j in range(failure_words(self.step))]
                body = _checked(checks, failure.name, body)
            loop = For(_ROUND.attr, extent, body, interleave=0, until=_DONE.attr)
        else:
            final = max((room - 1 for room in rooms.values()), default=0)
            loop = _rounds(extent, (*declared, *stores, *rotations), rare, final)
        params: tuple[BufferParam | ScalarParam, ...] = (*self.params.values(), *self.scalars.values())
        kernel = Kernel(f"loop_{self.step.var}", params, (*before, loop, *last))
        return Launch(kernel, (*self.params, *self.scalars))

    def _only_last_rows(self) -> dict[str, int]:
        """The buffers of which a loop needs to write the last rows only, with how many these are.

        A ring has no others in the end, and neither has a buffer with one row.
        """
        found = {}
        for root in self.written:
            places = [place for place in self.stored if place.root == root]
            rooms = {_rows_of(place) for place in places}
            room = rooms.pop() if len(rooms) == 1 else None
            if room is not None and room <= _RING and len(places) * room <= _LAST:
                found[root] = room
        return found

    def _chains(self) -> dict[_Place, int]:
        """For each place whose values later rounds read: through how many rounds they are handed on."""
        columns: dict[tuple[str, int], _Place] = {}
        for place in self.stored:
            if columns.setdefault(place.column, place) != place:
                raise _Stays
        self.written_at = columns
        chains: dict[_Place, int] = {}
        for place in self.read:
            stored = columns.get(place.column)
            if stored is None:
                raise _Stays
            rounds = 1 if place.rows == 0 else stored.ahead - place.ahead
            if rounds < 1 or place.ahead < 0 or not _is_longer(place.ring, stored.ahead):
                raise _Stays
            chains[stored] = max(chains.get(stored, 0), rounds)
        return chains

    def _registers(self) -> dict[Expr, Expr]:
        """What stands for values of rounds before, where they are read."""
        numbers = {place: k for k, place in enumerate(self.stored)}
        found = {}
        for place, stand_in in self.read.items():
            stored = self.written_at[place.column]
            rounds = 1 if place.rows == 0 else stored.ahead - place.ahead
            found[stand_in] = var(f"x{numbers[stored]}_{rounds}", stand_in.dtype)
        return found

    def _how_awaited(self) -> list[int]:
        """For each value of a round, how many others read what rounds before have made of it."""
        numbers = {place: k for k, place in enumerate(self.stored)}
        read = {stand_in: numbers[self.written_at[place.column]] for place, stand_in in self.read.items()}
        awaited = [0] * len(numbers)
        for k, value in enumerate(self.stored.values()):
            for number in {read[e] for e in walk([value]) if e in read} - {k}:
                awaited[number] += 1
        return awaited

    def _param(self, root: str, dtype: str = "") -> BufferParam:
        found = self.params.get(root)
        if found is None:
            found = self.params[root] = BufferParam(f"b{len(self.params)}", dtype, root in self.written)
        return found

    def _result(self, name: str) -> BufferParam:
        """The parameter of a buffer that tells how the loop has ended."""
        self.params[name] = BufferParam(f"b{len(self.params)}", "int64", True)
        return self.params[name]

    def _scalar(self, value: Expr) -> Expr:
        """A value that is known before the loop, as a parameter."""
        if value.is_const:
            return value
        found = self.scalars.setdefault(value, ScalarParam(f"n{len(self.scalars)}", value.dtype))
        return var(found.name, found.dtype)

    def _from_outside(self, value: Expr) -> Expr:
        """An expression of the program in terms of the kernel's round and parameters."""
        number = var(self.step.var)
        changing = {number, *self.defined}
        for e in walk([value]):
            is_own = e.op == "load" and (e.attr in self.is_local or e.attr in self.written or e.attr in self.reached)
            if is_own or any(a in changing for a in e.args):
                changing.add(e)

        def change(e: Expr) -> Expr | None:
            if e is number:
                return _ROUND
            if e not in changing:
                return self._scalar(e)
            if e.op == "load":
                return self._load(e.attr, e.dtype, self._from_outside(e.args[0]))
            return self.defined.get(e)

        return substitute([value], change, {})[0]

    # -- steps -----------------------------------------------------------------------------------------------

    @singledispatchmethod
    def _step(self, step: Step) -> None:
        """Do what a step does; memory is there as it is written."""

    @_step.register
    def _(self, step: View) -> None:
        base, offset = self.views.get(step.base, (step.base, const(0)))
        self.views[step.buffer.name] = base, offset + self._from_outside(step.offset)

    @_step.register
    def _(self, step: Define) -> None:
        self.defined[var(step.name, step.value.dtype)] = self._from_outside(step.value)

    @_step.register
    def _(self, step: Check) -> None:
        self.checks.append(tuple(map(self._from_outside, (step.condition, *step.values))))
        self._count(self.checks[-1])

    @_step.register
    def _(self, step: Launch) -> None:
        given: dict[str, Any] = {}
        for param, argument in zip(step.kernel.params, step.arguments, strict=True):
            given[param.name] = argument if isinstance(argument, str) else self._from_outside(argument)
        buffers = {p.name: given[p.name] for p in step.kernel.params if isinstance(p, BufferParam)}
        dtypes = {p.name: p.dtype for p in step.kernel.params if isinstance(p, BufferParam)}
        for name, buffer in buffers.items():
            root = self.views.get(buffer, (buffer, const(0)))[0]
            if root not in self.is_local:
                self._param(root, dtypes[name])
        self._statements(step.kernel.body, buffers, {n: v for n, v in given.items() if n not in buffers})

    def _statements(self, body: tuple[Statement, ...], buffers: dict[str, str], known: dict[str, Expr]) -> None:
        """Do what statements do; `known` are the values of sizes, indices and mutable scalars."""
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
                raise _Stays
        self._store(pending, buffers, known)

    def _loop(self, loop: For, buffers: dict[str, str], known: dict[str, Expr]) -> None:
        extent = self._value(loop.extent, buffers, known)
        if not extent.is_const or extent.attr > _LONGEST or any(extent.attr >= lanes for lanes in loop.lanes):
            raise _Stays
        if extent.attr >= _VECTOR and any(_calls_functions(s) for s in loop.body):
            raise _Stays
        for k in range(extent.attr):
            known[loop.var] = const(k)
            self._statements(loop.body, buffers, known)

    def _store(self, stores: list[Store], buffers: dict[str, str], known: dict[str, Expr]) -> None:
        ready = []
        for s in stores:
            ready.append((s.buffer, self._value(s.offset, buffers, known), self._value(s.value, buffers, known)))
        for name, offset, value in ready:
            root, place = self._where(buffers[name], offset)
            if root in self.is_local:
                self.local[root, _known_offset(place)] = value
            else:
                self.stored[self._place(root, place)] = value
        if len(self.stored) + len(self.local) > _NUMBERS:
            raise _Stays

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
        if self.operations > _OPERATIONS:
            raise _Stays

    def _load(self, buffer: str, dtype: str, offset: Expr) -> Expr:
        root, place = self._where(buffer, offset)
        if root in self.is_local:
            found = self.local.get((root, _known_offset(place)))
            if found is None:
                raise _Stays
            return found
        if root not in self.written:
            return load(self._param(root, dtype).name, dtype, place)
        where = self._place(root, place)
        found = self.stored.get(where)
        if found is not None:
            return found
        return self.read.setdefault(where, var(f"r{len(self.read)}", dtype))

    def _where(self, buffer: str, offset: Expr) -> tuple[str, Expr]:
        root, start = self.views.get(buffer, (buffer, const(0)))
        return root, start + offset

    # -- places ----------------------------------------------------------------------------------------------

    def _place(self, root: str, offset: Expr) -> _Place:
        """The place of an element of a buffer that the loop writes."""
        factors, shift = linear_form(offset)
        if len(factors) > 1:
            raise _Stays
        ((atom, rows),) = factors.items() or [(_ROUND, 0)]
        ring, ahead, element = None, 0, shift
        if rows < 0:
            raise _Stays
        if atom.op == "mod":
            inside, ahead = linear_form(atom.args[0])
            ring = atom.args[1]
            if inside != {_ROUND: 1} or not 0 <= element < rows:
                raise _Stays
        elif atom is not _ROUND:
            raise _Stays
        elif rows:
            ahead, element = divmod(shift, rows)
        if self.forms.setdefault(root, (rows, ring)) != (rows, ring):
            raise _Stays
        return _Place(root, rows, ring, ahead, element)


def _rounds(extent: Expr, body: tuple[Statement, ...], rare: list[Statement], final: int) -> For:
    """All rounds; in front of each of the `final` last ones come also those moves that only these have to do.

    Few moves are made in every round, which costs nothing.  Many would take registers from the values of the round:
    then the loop around has a first pass for all rounds but the last ones, and one for each of these.
    """
    if len(rare) <= _FEW_MOVES:
        return For(_ROUND.attr, extent, (*rare, *body), interleave=0)
    stage = var("s")
    final_ones = primitive("minimum", extent, const(final))
    is_first = primitive("eq", stage, const(0))
    start = primitive("select", is_first, const(0), extent - final_ones + stage - 1)
    inside = [map_expressions(s, lambda e: substitute([e], {_ROUND: start + _ROUND}.get, {})[0]) for s in body]
    rounds = For(_ROUND.attr, primitive("select", is_first, extent - final_ones, const(1)), tuple(inside), interleave=0)
    return For(stage.attr, final_ones + 1, (*rare, rounds), interleave=0)


def _checked(checks: list[Any], failure: str, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """What a round does, each check around what comes behind it; one that fails writes its number and its values."""
    for k, (condition, *values) in reversed(list(enumerate(checks, 1))):
        stores = [Store(failure, const(j), value) for j, value in enumerate([const(k), *values])]
        fails = If(primitive("eq", condition, const(False, "bool")), (*stores, Assign(_DONE.attr, const(True, "bool"))))
        body = (fails, If(condition, body))
    return body


def _known_offset(offset: Expr) -> int:
    if not offset.is_const:
        raise _Stays
    return int(offset.attr)


def _is_longer(ring: Expr | None, ahead: int) -> bool:
    """Whether a ring has room for the row of a round beside so many before it."""
    return ring is None or ring.least > ahead


def _rows_of(place: _Place) -> int | None:
    """How many rows a buffer has, if it has few whatever the number of rounds."""
    if not place.rows:
        return 1
    return int(place.ring.attr) if place.ring is not None and place.ring.is_const else None


def _calls_functions(statement: Statement) -> bool:
    if isinstance(statement, For):
        return any(map(_calls_functions, statement.body))
    return any(e.op == "call" or cost(e) >= _FUNCTION for e in walk(expressions_of(statement)))
