"""Loop nests to LLVM IR text.

Text is written directly: it is the key of the object cache, so on a hit nothing of LLVM is touched.  Expressions
are value-numbered; each is placed in the outermost loop in which its operands are known, so loop-invariant work
leaves the loop here and not in a pass.  Loops come out rotated (guard, then test at the end), mutable scalars as
phi nodes, and parallel innermost loops carry access groups, so that the vectoriser needs no run-time checks.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Literal

from aesara.ir.expr import Expr, const, walk
from aesara.ir.function import ScalarFunction
from aesara.ir.kernel import (
    Assign,
    BufferParam,
    Declare,
    For,
    If,
    Kernel,
    Statement,
    Store,
    While,
    expressions_of,
    must_follow,
    walk_statements,
)
from aesara.ir.lanes import accumulations, identity_of
from aesara.ir.work import UNKNOWN, Work, is_heavy, iteration_work
from aesara.link.llvm.emit_lanes import join_lanes, start_lanes
from aesara.link.llvm.primitives import (
    LLVM_TYPES,
    Module,
    conversion,
    instructions,
    literal,
    memory_type,
)
from aesara.link.llvm.spills import Spilled
from aesara.records import dataclass

__all__ = ["Cut", "Emitter", "Metadata", "emit_kernel", "has_long_rows", "only_loop"]

#: how loops of a kernel are cut; see `emit_kernel`
Cut = Literal["no", "inside", "in parts"]

#: what accumulates inside of another loop looks for signals after so many rounds (powers of two): loops over elements,
#: over blocks of a thousand elements or more, and over other loops
_ELEMENTS, _BLOCKS, _LOOPS = 1 << 20, 1024, 64

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.]")


@dataclass
class Scope:
    """One loop body (or the function's top): its text so far, its open block, and the values known in it."""

    depth: int
    block: str
    code: list[str] = field(default_factory=list)
    values: dict[Expr, str] = field(default_factory=dict)
    group: str | None = None


class Emitter:
    """Emits expressions and statements of one function."""

    def __init__(self, module: Module, metadata: Metadata, written: frozenset[str]) -> None:
        self.module, self.metadata, self.written = module, metadata, written
        self.scopes = [Scope(0, "entry")]
        self.home: dict[Expr, int] = {}
        self.variables: dict[str, tuple[str, int]] = {}
        self.mutable: dict[str, tuple[str, str]] = {}
        self.volatile: dict[Expr, str] = {}
        #: places on the stack
        self.allocas: list[str] = []
        #: where buffers are
        self.pointers: dict[str, str] = {}
        self._numbers = itertools.count(1)
        #: depth down to which loops are cut into pieces, to look for signals in between
        self.cut_to = -1
        #: whether there is a watcher, which loops inside of others may ask
        self.watched = False
        #: where the next loop begins and ends, if it is part of a kernel's only loop
        self.part: tuple[str, str] | None = None
        #: after so many values the function's top goes on in another block, if not 0; and how many there have been
        self.block_values, self._in_block = 0, 0
        self.pinned = 0  # innermost `if`: nothing that stands inside may be computed before its test

    def fresh(self, stem: str = "t") -> str:
        """A name for a value.

        Values and labels of a function share one name space; every number is given once, whatever stands before it.
        Names without a number (``%frame``, ``entry``) are written where they are fixed.
        """
        return f"%{stem}.{next(self._numbers)}"

    def label(self, stem: str) -> str:
        """A name for a block."""
        return f"{stem}.{next(self._numbers)}"

    # -- expressions -----------------------------------------------------------------------------------------

    def value(self, root: Expr) -> str:
        """The name (or literal) that holds the value of `root` here."""
        stack = [root]
        while stack:
            e = stack[-1]
            if self._known(e) is not None:
                stack.pop()
                continue
            missing = [a for a in e.args if self._known(a) is None]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._emit(e)
        known = self._known(root)
        assert known is not None
        return self.here(known)

    def _known(self, e: Expr) -> str | None:
        if e.op == "const":
            return literal(e.attr, e.dtype)
        if e.op == "var":
            if e.attr in self.mutable:
                return self.mutable[e.attr][0]
            return self.variables[e.attr][0]
        found = self.volatile.get(e)
        if found is not None:
            return found
        for scope in reversed(self.scopes):
            found = scope.values.get(e)
            if found is not None:
                return found
        return None

    def _place(self, e: Expr) -> int:
        """Depth of the outermost scope where `e` can be computed; -1 if its value changes with time."""
        if e.op == "const":
            return 0
        if e.op == "var":
            return -1 if e.attr in self.mutable else self.variables[e.attr][1]
        if e.op == "load" and e.attr in self.written:
            return -1
        found = self.home.get(e)
        if found is None:
            places = [self._place(a) for a in e.args]
            found = -1 if -1 in places else max(places, default=0)
            self.home[e] = found
        return found

    def _emit(self, e: Expr) -> None:
        place = self._place(e)
        scope = self.scopes[-1] if place < 0 else self.scopes[max(place, self.pinned)]
        if self.block_values and scope is self.scopes[0]:
            self._bound_block(scope)
        out = self.fresh()
        args = [self.here(self._known(a), scope) for a in e.args]  # type: ignore[arg-type]
        scope.code.extend(self._lines(e, args, out, scope))
        if place < 0:
            self.volatile[e] = out
        else:
            scope.values[e] = out

    def _bound_block(self, scope: Scope) -> None:
        """Begin another block if this one has become long."""
        self._in_block += 1
        if self._in_block > self.block_values:
            self._in_block = 0
            following = self.label("next")
            scope.code += [f"br label %{following}", f"{following}:"]
            scope.block = following

    def _lines(self, e: Expr, args: list[str], out: str, scope: Scope) -> list[str]:
        if e.op == "load":
            address = self.fresh("p")
            element = f"getelementptr inbounds {memory_type(e.dtype)}, ptr {self.buffer(e.attr, scope)}, i64 {args[0]}"
            return [f"{address} = {element}", *self._read(e.dtype, address, out, scope)]
        if e.op == "cast":
            return conversion(e.args[0].dtype, e.dtype, args[0], out, self.fresh)
        if e.op == "call":
            types = [a.dtype for a in e.args]
            operands = [f"{LLVM_TYPES[d]} {a}" for d, a in zip(types, args, strict=True)]
            if isinstance(e.attr, ScalarFunction):
                symbol = _function_symbol(e.attr, self.module, self.metadata)
                return [f"{out} = call {LLVM_TYPES[e.dtype]} {symbol}({', '.join(operands)})"]
            symbol = self.module.external(e.attr.symbol, e.dtype, types, e.attr.zeros)
            return [f"{out} = call {LLVM_TYPES[e.dtype]} {symbol}({', '.join(operands + ['i32 0'] * e.attr.zeros)})"]
        dtype = e.args[1].dtype if e.op == "select" else e.args[0].dtype
        lines = instructions(e.op, dtype, args, out, self.module, self.fresh)
        if e.op == "select" and self.pinned:
            # a loop that halves what is left, such as a search, has no use for a branch that goes either way
            lines[-1] += f", !unpredictable {self.metadata.unpredictable()}"
        return lines

    def _read(self, dtype: str, address: str, out: str, scope: Scope) -> list[str]:
        t = memory_type(dtype)
        if dtype == "bool":
            raw = self.fresh("b")
            return [f"{raw} = load i8, ptr {address}{self._access(scope)}", f"{out} = icmp ne i8 {raw}, 0"]
        return [f"{out} = load {t}, ptr {address}{self._access(scope)}"]

    def _write(self, dtype: str, value: str, address: str, scope: Scope) -> None:
        if dtype == "bool":
            byte = self.fresh("b")
            scope.code.append(f"{byte} = zext i1 {value} to i8")
            value = byte
        scope.code.append(f"store {memory_type(dtype)} {value}, ptr {address}{self._access(scope)}")

    def buffer(self, name: str, scope: Scope | None = None) -> str:
        """Where a buffer is."""
        return self.here(self.pointers[name], scope)

    def here(self, value: str, scope: Scope | None = None) -> str:
        """The name of a value, which is read in the scope (the innermost one) if it has been spilled."""
        if not isinstance(value, Spilled):
            return value
        address, out = self.fresh("f"), self.fresh("x")
        (scope or self.scopes[-1]).code += [
            f"{address} = getelementptr i8, ptr %frame, i64 {value.place}",
            f"{out} = load {value.kind}, ptr {address}",
        ]
        return out

    def _access(self, scope: Scope) -> str:
        return f", !llvm.access.group {scope.group}" if scope.group else ""

    # -- statements ------------------------------------------------------------------------------------------

    def statements(self, body: tuple[Statement, ...]) -> None:
        pending: list[Store] = []
        for statement in body:
            if isinstance(statement, Store):
                if any(must_follow(statement, other) for other in pending):
                    self._stores(pending)
                    pending = []
                pending.append(statement)
                continue
            self._stores(pending)
            pending = []
            if isinstance(statement, For):
                self.loop(statement)
            elif isinstance(statement, Declare):
                self.mutable[statement.name] = (self.value(statement.value), LLVM_TYPES[statement.value.dtype])
            elif isinstance(statement, Assign):
                self._assign(statement)
            elif isinstance(statement, While):
                self._while(statement)
            else:
                self._branch(statement)
        self._stores(pending)

    def _stores(self, stores: list[Store]) -> None:
        """Consecutive stores: all values are computed before the first is written."""
        ready = [(s, self.value(s.value), self.value(s.offset)) for s in stores]
        for statement, value, offset in ready:
            self._store(statement, value, offset)
        if stores:
            self.volatile.clear()

    def _store(self, statement: Store, value: str, offset: str) -> None:
        scope = self.scopes[-1]
        address, t = self.fresh("p"), memory_type(statement.value.dtype)
        base = self.buffer(statement.buffer)
        scope.code.append(f"{address} = getelementptr inbounds {t}, ptr {base}, i64 {offset}")
        self._write(statement.value.dtype, value, address, scope)

    def _assign(self, statement: Assign) -> None:
        e = statement.value
        old, kind = self.mutable[statement.name]
        number = _number_or_nothing(e, statement.name) if statement.reassociate else None
        if number is None:
            new = self.value(e)
        else:
            new, element = self.fresh("extremum"), self.value(number)
            ignoring = self.module.intrinsic(f"{e.op}num", e.dtype, 2)
            self.scopes[-1].code.append(f"{new} = call {kind} {ignoring}({kind} {element}, {kind} {old})")
        self.mutable[statement.name] = (new, kind)
        self.volatile.clear()

    def loop(self, loop: For, body: Callable[[], str | None] | None = None) -> str:
        """A counted loop; returns the name of how often it ran.

        `body` emits what is in it if that is not statements; it may return the name of a condition to end the loop.
        """
        if self.part is not None:
            (first, last), self.part = self.part, None
            return self._counted(loop, first, last, body)
        extent = self.value(loop.extent)
        if loop.lanes:
            first = "0"
            for lanes in loop.lanes:
                first = self._in_lanes(loop, lanes, first, extent)
            return self._counted(loop, first, extent, body)
        if len(self.scopes) - 1 <= self.cut_to and body is None:
            return self._cut_loop(loop, extent)
        if self.watched and len(self.scopes) > 1 and _is_long_row(loop):
            return self._in_pieces(loop, extent)
        return self._counted(loop, "0", extent, body)

    def _in_lanes(self, loop: For, lanes: int, first: str, extent: str) -> str:
        """Runs of iterations, with so many partial results of what they accumulate; returns where the rest begins.

        The partial results stand on the stack.  LLVM makes vectors of the loop over lanes, and takes them into
        registers where it unrolls that loop.
        """
        outer = self.scopes[-1]
        labels = ("pre", "run", "lanes", "next", "exit", "end")
        before_loop, run, inside, following, exit_, after = (self.label(stem) for stem in labels)
        end, index, lane, start = (self.fresh(stem) for stem in ("end", "v", "lane", "start"))
        inner = Scope(len(self.scopes), inside)
        if loop.parallel:
            inner.group = self.metadata.access_group()
        accumulators = {name: s.value for name, s in (accumulations(loop.body) or {}).items()}
        before = dict(self.mutable)
        places = {name: self.fresh("lanes") for name in accumulators}
        addresses = {name: self.fresh("p") for name in accumulators}
        for name, e in accumulators.items():
            kind, address, partial = memory_type(e.dtype), addresses[name], self.fresh("partial")
            self.allocas.append(f"{places[name]} = alloca [{lanes} x {kind}], align 64")
            inner.code.append(f"{address} = getelementptr inbounds {kind}, ptr {places[name]}, i64 {lane}")
            inner.code.extend(self._read(e.dtype, address, partial, inner))
            self.mutable[name] = (partial, before[name][1])
        if self.variables.get(loop.var, ("", inner.depth))[1] != inner.depth:
            self.home.clear()
        self.variables[loop.var] = (index, inner.depth)
        self.volatile.clear()
        self.scopes.append(inner)
        self.statements(loop.body)
        self.scopes.pop()
        self.volatile.clear()
        for name, e in accumulators.items():
            self._write(e.dtype, self.mutable[name][0], addresses[name], inner)
        self.mutable = before
        note = self.metadata.lanes(inner.group, len(loop.lanes) > 1)
        some, next_lane, next_run = (self.fresh(stem) for stem in ("some", "next", "next"))
        more_lanes, more_runs = self.fresh("more"), self.fresh("more")
        outer.code += [
            f"{end} = and i64 {extent}, -{lanes}",
            f"{some} = icmp sgt i64 {end}, {first}",
            f"br i1 {some}, label %{before_loop}, label %{after}",
            f"{before_loop}:",
            *(start_lanes(e.op, e.dtype, lanes, places[name]) for name, e in accumulators.items()),
            f"br label %{run}",
            f"{run}:",
            f"{start} = phi i64 [{first}, %{before_loop}], [{next_run}, %{following}]",
            f"br label %{inside}",
            f"{inside}:",
            f"{lane} = phi i64 [0, %{run}], [{next_lane}, %{inner.block}]",
            f"{index} = add nuw nsw i64 {start}, {lane}",
            *inner.code,
            f"{next_lane} = add nuw nsw i64 {lane}, 1",
            f"{more_lanes} = icmp slt i64 {next_lane}, {lanes}",
            f"br i1 {more_lanes}, label %{inside}, label %{following}{note}",
            f"{following}:",
            f"{next_run} = add nuw nsw i64 {start}, {lanes}",
            f"{more_runs} = icmp slt i64 {next_run}, {end}",
            f"br i1 {more_runs}, label %{run}, label %{exit_}",
            f"{exit_}:",
        ]
        joined = {}
        for name, e in accumulators.items():
            lines, total = join_lanes(e.op, e.dtype, lanes, places[name], self.module, self.fresh)
            joined[name] = self.fresh("joined")
            outer.code += lines
            operands = [before[name][0], total]
            outer.code += instructions(e.op, e.dtype, operands, joined[name], self.module, self.fresh)
        outer.code += [f"br label %{after}", f"{after}:"]
        for name, (old, kind) in ((name, before[name]) for name in accumulators):
            result = self.fresh("red")
            outer.code.append(f"{result} = phi {kind} [{old}, %{outer.block}], [{joined[name]}, %{exit_}]")
            self.mutable[name] = (result, kind)
        rest = self.fresh("rest")
        outer.code.append(f"{rest} = phi i64 [{first}, %{outer.block}], [{end}, %{exit_}]")
        outer.block = after
        return rest

    def _cut_loop(self, loop: For, extent: str) -> str:
        """A loop in pieces, between which signals are looked for; the kernel ends if a handler raises."""
        outer = self.scopes[-1]
        head, cut, stopped, piece, done = (self.label(stem) for stem in ("head", "cut", "stopped", "piece", "done"))
        first, last, watched, stop, more = (self.fresh(stem) for stem in ("first", "last", "watched", "stop", "more"))
        entered = outer.block
        outer.code += [f"br label %{head}", f"{head}:"]
        place = len(outer.code)
        code, part = self._end_of_piece(loop, first, extent)
        outer.code += [
            "",  # the phi nodes go here
            f"{watched} = icmp ne ptr %ae.watcher, null",
            f"br i1 {watched}, label %{cut}, label %{piece}, !prof !1",
            f"{cut}:",
            *code,
            f"{stop} = icmp slt i64 {part}, 0",
            f"br i1 {stop}, label %{stopped}, label %{piece}, !prof !1",
            f"{stopped}:",
            "ret i1 true",
            f"{piece}:",
            f"{last} = phi i64 [{extent}, %{head}], [{part}, %{cut}]",
        ]
        outer.block = piece
        handed_on = self._handed_on(loop, entered)
        deepest = self.cut_to
        if any(is_heavy(s.body) for s in loop.body if isinstance(s, For)):
            self.cut_to = 1
        count = self._counted(loop, first, last, None)
        self.cut_to = deepest
        outer.code[place] = handed_on(first, last, outer.block)
        outer.code.append(f"{more} = icmp slt i64 {last}, {extent}")
        if loop.until:
            left, more = more, self.fresh("more")
            outer.code.append(f"{more} = select i1 {self.mutable[loop.until][0]}, i1 false, i1 {left}")
        outer.code += [
            f"br i1 {more}, label %{head}, label %{done}, !prof !1",
            f"{done}:",
        ]
        outer.block = done
        return count

    def _handed_on(self, loop: For, entered: str) -> Callable[[str, str, str], str]:
        """Let what a loop assigns be values that its pieces hand on.

        What comes back makes their phi nodes: of the first index of a piece, which is 0 where the pieces are entered
        from the block `entered`, of where a piece ends, and of the block from which the next one follows.
        """
        before = dict(self.mutable)
        carried = sorted(_assigned(loop.body) & before.keys())
        entering = {name: self.fresh("phi") for name in carried}
        self.mutable.update((name, (entering[name], before[name][1])) for name in carried)

        def phis(first: str, last: str, block: str) -> str:
            lines = [f"{first} = phi i64 [0, %{entered}], [{last}, %{block}]"]
            for name, phi in entering.items():
                (old, kind), (new, _) = before[name], self.mutable[name]
                lines.append(f"{phi} = phi {kind} [{old}, %{entered}], [{new}, %{block}]")
            return "\n".join(lines)

        return phis

    def aside(self, work: Work) -> tuple[list[str], str]:
        """Code for an estimate of work, which is computed nowhere else, and its value."""

        def known(size: Expr) -> Expr:
            leaves = [e for e in walk([size]) if e.op in ("load", "var")]
            return size if all(e.op == "var" and e.attr in self.variables for e in leaves) else const(UNKNOWN)

        cold, pinned, volatile = Scope(len(self.scopes), ""), self.pinned, dict(self.volatile)
        self.scopes.append(cold)
        self.pinned = cold.depth
        value = self.value(work.replace(known).expression())
        self.scopes.pop()
        self.pinned, self.volatile = pinned, volatile
        return cold.code, value

    def _end_of_piece(self, loop: For, first: str, extent: str) -> tuple[list[str], str]:
        """Code for where a piece ends, or -1, and the name of that."""
        code, value = self.aside(iteration_work(loop))
        ask, part = self.fresh("ask"), self.fresh("part")
        arguments = f"ptr %ae.watcher, i64 {first}, i64 {extent}, double {value}"
        return [*code, f"{ask} = load ptr, ptr %ae.watcher", f"{part} = call i64 {ask}({arguments})"], part

    def _counted(self, loop: For, first: str, last: str, body: Callable[[], str | None] | None) -> str:
        """A loop from `first` to before `last`."""
        outer = self.scopes[-1]
        head, before_loop, exit_, end = (self.label(stem) for stem in ("loop", "pre", "exit", "end"))
        index, following, some, more = (self.fresh(stem) for stem in ("v", "next", "some", "more"))
        innermost = not any(isinstance(s, (For, If, While)) for s in loop.body)
        inner = Scope(len(self.scopes), head)
        if loop.parallel and innermost:
            inner.group = self.metadata.access_group()
        inner.code.append("")  # the phi nodes go here
        carried = sorted(_assigned(loop.body) & self.mutable.keys())
        before = dict(self.mutable)
        for name in carried:
            self.mutable[name] = (f"{self.fresh('phi')}", before[name][1])
        entering = {name: self.mutable[name][0] for name in carried}
        if self.variables.get(loop.var, ("", inner.depth))[1] != inner.depth:
            self.home.clear()
        self.variables[loop.var] = (index, inner.depth)
        self.volatile.clear()
        self.scopes.append(inner)
        stop = None
        if body is None:
            self.statements(loop.body)
            stop = self.mutable[loop.until][0] if loop.until else None
        else:
            stop = body()
        self.scopes.pop()
        self.volatile.clear()
        after = {name: self.mutable[name][0] for name in carried}
        self.mutable = before
        if self.watched and inner.depth > 1 and _is_over_loops(loop):
            self._look_between_loops(inner, index, _BLOCKS if _is_over_blocks(loop) else _LOOPS)

        outer.code += [
            f"{some} = icmp sgt i64 {last}, {first}",
            f"br i1 {some}, label %{before_loop}, label %{end}",
            f"{before_loop}:",
            f"br label %{head}",
            f"{head}:",
        ]
        phis = [f"{index} = phi i64 [{first}, %{before_loop}], [{following}, %{inner.block}]"]
        phis += [
            f"{entering[n]} = phi {before[n][1]} [{before[n][0]}, %{before_loop}], [{after[n]}, %{inner.block}]"
            for n in carried
        ]
        inner.code[0] = "\n".join(phis)
        note = self.metadata.rest() if loop.lanes else self.metadata.loop(inner.group, loop.interleave)
        outer.code += [
            *inner.code,
            f"{following} = add nuw nsw i64 {index}, 1",
            f"{more} = icmp slt i64 {following}, {last}",
        ]
        if stop is not None:
            steps, more = more, self.fresh("more")
            outer.code.append(f"{more} = select i1 {stop}, i1 false, i1 {steps}")
        outer.code += [
            f"br i1 {more}, label %{head}, label %{exit_}{note}",
            f"{exit_}:",
            f"br label %{end}",
            f"{end}:",
        ]
        for name in carried:
            result = self.fresh("red")
            kind = before[name][1]
            outer.code.append(f"{result} = phi {kind} [{before[name][0]}, %{outer.block}], [{after[name]}, %{exit_}]")
            self.mutable[name] = (result, kind)
        count = self.fresh("count")
        if body is not None:
            outer.code.append(f"{count} = phi i64 [0, %{outer.block}], [{following}, %{exit_}]")
        outer.block = end
        return count

    def _in_pieces(self, loop: For, extent: str) -> str:
        """A loop over elements inside of another loop, in pieces of `_ELEMENTS`, between which signals are looked for.

        Nobody is asked before the first piece.  Rows that are read from memory do without: another loop around theirs
        takes LLVM a fifth longer to compile, and they last a second where they have some hundred million elements.
        """
        outer = self.scopes[-1]
        head, look, done = (self.label(stem) for stem in ("head", "look", "done"))
        first, end, least, last, more = (self.fresh(stem) for stem in ("first", "end", "least", "last", "more"))
        entered = outer.block
        outer.code += [f"br label %{head}", f"{head}:"]
        place = len(outer.code)
        outer.code += [
            "",  # the phi nodes go here
            f"{end} = add nsw i64 {first}, {_ELEMENTS}",
            f"{least} = icmp slt i64 {end}, {extent}",
            f"{last} = select i1 {least}, i64 {end}, i64 {extent}",
        ]
        outer.block = head
        handed_on = self._handed_on(loop, entered)
        count = self._counted(loop, first, last, None)
        again = self.label("again")
        outer.code += [
            f"{more} = icmp slt i64 {last}, {extent}",
            f"br i1 {more}, label %{look}, label %{done}, !prof !1",
            f"{look}:",
            *self._ask(again),
            f"{again}:",
            f"br label %{head}",
            f"{done}:",
        ]
        outer.code[place] = handed_on(first, last, again)
        outer.block = done
        return count

    def _look_between_loops(self, inner: Scope, index: str, rounds: int) -> None:
        """After some rounds of a loop over other loops, look for signals."""
        look, on = self.label("look"), self.label("on")
        place, some = self.fresh("place"), self.fresh("some")
        inner.code += [
            f"{place} = and i64 {index}, {rounds - 1}",
            f"{some} = icmp eq i64 {place}, {rounds - 1}",
            f"br i1 {some}, label %{look}, label %{on}, !prof !1",
            f"{look}:",
            *self._ask(on),
            f"{on}:",
        ]
        inner.block = on

    def _ask(self, on: str) -> list[str]:
        """Code that asks the watcher if there is one, and goes on; the kernel ends if a handler raises."""
        ask, stopped = self.label("ask"), self.label("stopped")
        watched, piece, end, stop = (self.fresh(stem) for stem in ("watched", "piece", "end", "stop"))
        return [
            f"{watched} = icmp ne ptr %ae.watcher, null",
            f"br i1 {watched}, label %{ask}, label %{on}",
            f"{ask}:",
            f"{piece} = load ptr, ptr %ae.watcher",
            f"{end} = call i64 {piece}(ptr %ae.watcher, i64 1, i64 2, double 1.0)",
            f"{stop} = icmp slt i64 {end}, 0",
            f"br i1 {stop}, label %{stopped}, label %{on}, !prof !1",
            f"{stopped}:",
            "ret i1 true",
        ]

    def _while(self, loop: While) -> None:
        """A loop with its test on top; LLVM rotates it.

        Everything inside stays inside: nothing that the condition guards may be computed before it.
        """
        outer = self.scopes[-1]
        head, round_, end = (self.label(stem) for stem in ("while", "round", "end"))
        carried = sorted(_assigned(loop.body) & self.mutable.keys())
        before, entered_from = dict(self.mutable), outer.block
        for name in carried:
            self.mutable[name] = (self.fresh("phi"), before[name][1])
        entering = {name: self.mutable[name] for name in carried}
        inner, pinned = Scope(len(self.scopes), head), self.pinned
        self.volatile.clear()
        self.scopes.append(inner)
        self.pinned = inner.depth
        condition = self.value(loop.condition)
        inner.code += [f"br i1 {condition}, label %{round_}, label %{end}", f"{round_}:"]
        inner.block = round_
        self.statements(loop.body)
        self.pinned = pinned
        self.scopes.pop()
        self.volatile.clear()
        phis = [
            f"{value} = phi {kind} [{before[name][0]}, %{entered_from}], [{self.mutable[name][0]}, %{inner.block}]"
            for name, (value, kind) in entering.items()
        ]
        outer.code += [f"br label %{head}", f"{head}:", *phis, *inner.code, f"br label %{head}", f"{end}:"]
        self.mutable = before | entering
        outer.block = end

    def _branch(self, branch: If) -> None:
        condition = self.value(branch.condition)
        outer = self.scopes[-1]
        inside, end = self.label("if"), self.label("end")
        carried = sorted(_assigned(branch.body) & self.mutable.keys())
        before = dict(self.mutable)
        inner, pinned = Scope(len(self.scopes), inside), self.pinned
        self.volatile.clear()
        self.scopes.append(inner)
        self.pinned = inner.depth
        self.statements(branch.body)
        self.pinned = pinned
        self.scopes.pop()
        self.volatile.clear()
        outer.code += [
            f"br i1 {condition}, label %{inside}, label %{end}",
            f"{inside}:",
            *inner.code,
            f"br label %{end}",
            f"{end}:",
        ]
        after, self.mutable = self.mutable, before
        for name in carried:
            result, (old, kind) = self.fresh("sel"), before[name]
            outer.code.append(f"{result} = phi {kind} [{old}, %{outer.block}], [{after[name][0]}, %{inner.block}]")
            self.mutable[name] = (result, kind)
        outer.block = end


_NO_VECTORS = '!{!"llvm.loop.vectorize.enable", i1 false}'


class Metadata:
    """Numbered metadata of a module: access groups and loop notes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._unpredictable: str | None = None

    def _add(self, text: str) -> str:
        self.lines.append(text)
        return f"!{len(self.lines) - 1}"

    def access_group(self) -> str:
        return self._add("distinct !{}")

    def unpredictable(self) -> str:
        """The note of a selection of which LLVM is to make no branch."""
        if self._unpredictable is None:
            self._unpredictable = self._add("!{}")
        return self._unpredictable

    def loop(self, group: str | None, interleave: int) -> str:
        """The note of a loop: its accesses are independent; how many vectors to work on at once."""
        notes = self._parallel(group)
        if interleave == 0:
            notes += [_NO_VECTORS, '!{!"llvm.loop.unroll.disable"}']
        if interleave > 1:
            notes.append(f'!{{!"llvm.loop.interleave.count", i32 {interleave}}}')
        return self._note(notes)

    def lanes(self, group: str | None, unrolled: bool) -> str:
        """The note of a loop over lanes, of which nothing is to be left when it has been made of vectors."""
        notes = self._parallel(group)
        if unrolled:
            notes.append('!{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}')
        return self._note(notes)

    def rest(self) -> str:
        """The note of a loop over what is left, which is to stay as it is."""
        return self._note([_NO_VECTORS])

    def _parallel(self, group: str | None) -> list[str]:
        return [] if group is None else [f'!{{!"llvm.loop.parallel_accesses", {group}}}']

    def _note(self, notes: Sequence[str]) -> str:
        if not notes:
            return ""
        names = [self._add(note) for note in notes]
        name = f"!{len(self.lines)}"
        self.lines.append(f"distinct !{{{', '.join([name, *names])}}}")
        return f", !llvm.loop {name}"

    def text(self) -> str:
        return "\n".join(f"!{i} = {line}" for i, line in enumerate(self.lines))


def _number_or_nothing(e: Expr, accumulator: str) -> Expr | None:
    """What an extremum is taken of, if NaNs are replaced by what changes nothing.

    LLVM knows that extremum, and makes vectors of it; of the selection it makes a condition for each element.
    """
    if e.op not in ("minimum", "maximum") or e.dtype not in ("float32", "float64"):
        return None
    register, term = e.args
    if register.op != "var" or register.attr != accumulator or term.op != "select":
        return None
    condition, instead, number = term.args
    replaces_nan = condition.op == "isnan" and condition.args[0] is number and instead is identity_of(e.op, e.dtype)
    return number if replaces_nan else None


def _assigned(body: tuple[Statement, ...]) -> set[str]:
    return {s.name for s in walk_statements(body) if isinstance(s, Assign)}


def _is_over_blocks(statement: Statement) -> bool:
    """Whether a loop has a block of a long sum, or of something else that is accumulated, in each round."""
    return isinstance(statement, For) and any(isinstance(s, For) and s.lanes for s in statement.body)


def _accumulates(loop: For) -> bool:
    """Whether a loop changes what stands around it."""
    inside = {s.name for s in walk_statements(loop.body) if isinstance(s, Declare)}
    return not _assigned(loop.body) <= inside


def _is_long_row(statement: Statement) -> bool:
    """Whether a loop over elements accumulates, and memory does not bound its length: it reads no array along it."""
    return (
        isinstance(statement, For)
        and not statement.lanes
        and not (statement.extent.is_const and statement.extent.attr <= _ELEMENTS)
        and not any(isinstance(s, For) for s in statement.body)
        and _accumulates(statement)
        and not any(_reads_along(statement.var, s) for s in walk_statements(statement.body))
    )


def _reads_along(variable: str, statement: Statement) -> bool:
    loads = (e for e in walk(expressions_of(statement)) if e.op == "load")
    return any(e.op == "var" and e.attr == variable for e in walk(loads))


def _is_over_loops(statement: Statement) -> bool:
    """Whether a loop accumulates over other loops."""
    return isinstance(statement, For) and any(isinstance(s, For) for s in statement.body) and _accumulates(statement)


def has_long_rows(kernel: Kernel) -> bool:
    """Whether loops inside of other loops look for signals, because they accumulate and may take long."""
    inside = [s for one in kernel.body if isinstance(one, For) for s in walk_statements(one.body)]
    return any(_is_long_row(s) or _is_over_loops(s) for s in inside)


def only_loop(kernel: Kernel) -> For | None:
    """The loop that is all of a kernel, if callers may run it in parts: iterations are short, the length is no load."""
    if len(kernel.body) != 1 or not isinstance(kernel.body[0], For):
        return None
    (loop,) = kernel.body
    assert isinstance(loop, For)
    heavy = any(is_heavy(s.body) for s in loop.body if isinstance(s, For))
    return None if heavy or any(e.op == "load" for e in walk([loop.extent])) else loop


def emit_kernel(kernel: Kernel, module: Module, metadata: Metadata, attributes: str, cut: Cut) -> str:
    """The kernel as the text of an internal LLVM function.

    Parameters
    ----------
    cut
        How its loops are cut into pieces, to look for signals in between.  Kernels that are cut ``inside`` take one
        argument more: null, or a watcher (see `emit_threads`).  They return whether a handler has raised.  Those that
        callers run ``in parts`` take two more: where their `only_loop` is to begin and to end.  If they have long rows
        they also take a watcher, and return the same.
    """
    written = frozenset(p.name for p in kernel.params if isinstance(p, BufferParam) and p.written)
    read = {
        e.attr for statement in walk_statements(kernel.body) for root in expressions_of(statement) for e in _loads(root)
    }
    emitter = Emitter(module, metadata, written)
    params = []
    for p in kernel.params:
        if isinstance(p, BufferParam):
            alone = p.written and p.name not in read and not p.aliased
            pointer = emitter.pointers[p.name] = emitter.fresh("b")
            params.append(f"ptr {'noalias ' if alone else ''}{'' if p.written else 'readonly '}{pointer}")
        else:
            name = emitter.fresh("n")
            emitter.variables[p.name] = (name, 0)
            params.append(f"{LLVM_TYPES[p.dtype]} {name}")
    if cut == "in parts":
        emitter.part = ("%ae.first", "%ae.last")
        params += [f"i64 {name}" for name in emitter.part]
        emitter.watched = has_long_rows(kernel)
    elif cut == "inside":
        emitter.watched = True
        emitter.cut_to = 0
    if emitter.watched:
        params.append("ptr %ae.watcher")
    emitter.statements(kernel.body)
    code = "\n".join([*emitter.allocas, *emitter.scopes[0].code])
    kind, result = ("i1", "ret i1 false") if emitter.watched else ("void", "ret void")
    return f"define internal {kind} @{kernel.name}({', '.join(params)}) {attributes} {{\nentry:\n{code}\n{result}\n}}"


def _function_symbol(function: ScalarFunction, module: Module, metadata: Metadata) -> str:
    """The symbol of a scalar function, which is emitted when it is first asked for."""
    symbol = module.functions.get(function)
    if symbol is None:
        symbol = module.functions[function] = f"@f{len(module.functions)}.{_NOT_PLAIN.sub('_', function.name)}"
        module.helper(symbol, _emit_function(function, symbol, module, metadata))
    return symbol


def _emit_function(function: ScalarFunction, symbol: str, module: Module, metadata: Metadata) -> str:
    emitter = Emitter(module, metadata, frozenset())
    params = []
    for p in function.parameters:
        name = emitter.fresh("n")
        emitter.variables[p.name] = (name, 0)
        params.append(f"{LLVM_TYPES[p.dtype]} {name}")
    emitter.statements(function.body)
    result = emitter.value(function.result)
    code = "\n".join(emitter.scopes[0].code)
    kind = LLVM_TYPES[function.result.dtype]
    head = f"define internal {kind} {symbol}({', '.join(params)}) noinline nounwind memory(none)"
    return f"{head} {{\nentry:\n{code}\nret {kind} {result}\n}}"


def _loads(root: Expr) -> list[Expr]:
    found, stack, seen = [], [root], set()
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if e.op == "load":
            found.append(e)
        stack.extend(e.args)
    return found
