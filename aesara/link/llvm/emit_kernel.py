"""Translation of loop nests to LLVM IR text.

Text is written directly: it is the key of the object cache, so a hit needs nothing of LLVM. Expressions are
value-numbered, and each is computed in the outermost loop in which its operands are known: loop-invariant code is
hoisted here and not by a pass. Loops are rotated (guard, then test at the end), mutable scalars are phi nodes, and
parallel innermost loops have access groups, so that the vectorizer needs no run-time checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from aesara.ir.definitions import FunctionDefinition, FunctionParameter
from aesara.ir.expr import Expr, const, walk
from aesara.ir.function import ScalarFunction
from aesara.ir.instructions import InstructionWriter, Names, Value
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
    must_follow,
    walk_statements,
)
from aesara.ir.lanes import accumulations, identity_of
from aesara.ir.work import UNKNOWN, Work, has_heavy_loops, iteration_work
from aesara.link.llvm.chunks import (
    ELEMENTS,
    assigned_scalars,
    has_long_rows,
    is_long_row,
    is_over_blocks,
    is_over_loops,
)
from aesara.link.llvm.emit_lanes import join_lanes, start_lanes
from aesara.link.llvm.metadata import Metadata
from aesara.link.llvm.module import Module
from aesara.link.llvm.primitives import convert_dtype, primitive
from aesara.link.llvm.spills import Spilled
from aesara.link.llvm.target import HAS_EXTREMA_OF_NUMBERS
from aesara.link.llvm.types import LLVM_TYPES, literal, memory_type

__all__ = ["Cut", "Emitter", "Scope", "emit_kernel"]

#: how loops of a kernel are split; see `emit_kernel`
Cut = Literal["no", "inside", "in parts"]

#: numbers of iterations, powers of two, between checks for signals in nested loops that accumulate: over blocks of a
#: thousand elements or more, and over other loops
_BLOCKS, _LOOPS = 1024, 64

#: metadata of a branch that is rarely taken
_UNLIKELY = ", !prof !1"

#: number of instructions from which a value that several steps compute is kept in the frame
_COST_TO_KEEP = 8

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.]")


class Scope(InstructionWriter):
    """Writes one loop body (or the function's top level); has the values computed in it.

    Attributes
    ----------
    depth
        The nesting depth.
    group
        The access group of its loads and stores, if iterations are independent.
    """

    def __init__(self, names: Names, depth: int, block: str) -> None:
        super().__init__(names, block)
        self.depth = depth
        self.values: dict[Expr, str] = {}
        self.group: str | None = None


class Emitter:
    """Emits expressions and statements of one function."""

    def __init__(self, module: Module, metadata: Metadata, written: frozenset[str]) -> None:
        self.module, self.metadata, self.written = module, metadata, written
        self.names = Names()
        self.scopes = [Scope(self.names, 0, "entry")]
        self.depths: dict[Expr, int] = {}
        self.variables: dict[str, tuple[str, int]] = {}
        self.mutable: dict[str, Value] = {}
        self.volatile: dict[Expr, str] = {}
        #: stack allocations
        self.allocas: list[str] = []
        #: pointers to buffers
        self.pointers: dict[str, str] = {}
        #: depth down to which loops are split into chunks, with checks for signals in between
        self.cut_to = -1
        #: whether there is a watcher, which nested loops may ask for signals
        self.watched = False
        #: bounds of the next loop, if it is a part of a kernel's only loop
        self.part: tuple[str, str] | None = None
        #: maximum number of values in a block of the top level (0: no maximum), and the number in the current block
        self.block_values, self._in_block = 0, 0
        #: stores a value of the top level in the frame and returns its spilled form; None if values are never forgotten
        self.keep: Callable[[str, str], str] | None = None
        #: values stored in the frame
        self.kept: dict[Expr, str] = {}
        #: expressions computed at the top level before `forget`, and since then, with their numbers of instructions
        self._before: set[Expr] = set()
        self._costs: dict[Expr, int] = {}
        self.pinned = 0  # depth of the innermost `if`, out of which nothing may be hoisted

    def define_parameter(self, parameter: ScalarParam) -> FunctionParameter:
        """Return a parameter of the function, for a scalar."""
        name = self.fresh("n")
        self.variables[parameter.name] = (name, 0)
        return FunctionParameter(LLVM_TYPES[parameter.dtype], name)

    def fresh(self, stem: str = "t") -> str:
        """Return a new name for a value."""
        return self.names.fresh(stem)

    def label(self, stem: str) -> str:
        """Return a new name for a block."""
        return self.names.label(stem)

    # -- expressions -----------------------------------------------------------------------------------------

    def value(self, root: Expr) -> str:
        """Return the name (or literal) of the value of `root` here."""
        stack = [root]
        while stack:
            e = stack[-1]
            if self._known_value(e) is not None:
                stack.pop()
                continue
            missing = [a for a in e.args if self._known_value(a) is None]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._emit(e)
        if self.keep is not None:
            self._keep_if_repeated(root)
        replace_unknown = self._known_value(root)
        assert replace_unknown is not None
        return self.here(replace_unknown)

    def _known_value(self, e: Expr) -> str | None:
        if e.op == "const":
            return literal(e.attr, e.dtype)
        if e.op == "var":
            if e.attr in self.mutable:
                return self.mutable[e.attr].name
            return self.variables[e.attr][0]
        found = self.volatile.get(e)
        if found is not None:
            return found
        for scope in self.scopes:
            found = scope.values.get(e)
            if found is not None:
                return found
        return self.kept.get(e)

    def _depth_of(self, e: Expr) -> int:
        """Return the depth of the outermost scope where `e` can be computed; -1 if its value changes with time."""
        if e.op == "const":
            return 0
        if e.op == "var":
            return -1 if e.attr in self.mutable else self.variables[e.attr][1]
        if e.op == "load" and e.attr in self.written:
            return -1
        found = self.depths.get(e)
        if found is None:
            depths = [self._depth_of(a) for a in e.args]
            found = -1 if -1 in depths else max(depths, default=0)
            self.depths[e] = found
        return found

    def _emit(self, e: Expr) -> None:
        depth = self._depth_of(e)
        scope = self.scopes[-1] if depth < 0 else self.scopes[max(depth, self.pinned)]
        if self.keep is not None and scope is self.scopes[0]:
            self._limit_block(scope)
            if depth == 0:
                self._record_cost(e)
        args = [self.here(self._known_value(a), scope) for a in e.args]  # type: ignore[arg-type]
        out = self._compute(e, args, scope).name
        if depth < 0:
            self.volatile[e] = out
        else:
            scope.values[e] = out

    def _record_cost(self, e: Expr) -> None:
        """Record that `e` is computed at the top level; if it is new, its operands may be common subexpressions."""
        self._costs[e] = min(1 + sum(self._costs.get(a, 0) for a in e.args), _COST_TO_KEEP)
        if e not in self._before:
            for a in e.args:
                self._keep_if_repeated(a)

    def _keep_if_repeated(self, e: Expr) -> None:
        """Keep a value in the frame if it takes many instructions and an earlier step has computed it, too."""
        if self._costs.get(e) == _COST_TO_KEEP and e in self._before and e not in self.kept:
            assert self.keep is not None
            self.kept[e] = self.keep(self.scopes[0].values[e], LLVM_TYPES[e.dtype])

    def forget(self) -> None:
        """Discard the values of the top level, except for those that are kept."""
        self._before.update(self._costs)
        self._costs.clear()
        self.scopes[0].values.clear()

    def _limit_block(self, scope: Scope) -> None:
        """Begin another block if the current one has become long."""
        self._in_block += 1
        if self._in_block > self.block_values:
            self._in_block = 0
            following = self.label("next")
            scope.jump(following)
            scope.begin(following)

    def _compute(self, e: Expr, args: Sequence[str], scope: Scope) -> Value:
        """Emit the operation of an expression whose operands are computed."""
        if e.op == "load":
            address = scope.at(self.buffer(e.attr, scope), args[0], memory_type(e.dtype), "inbounds ")
            return self._load_value(e.dtype, address, scope)
        operands = [scope.value(LLVM_TYPES[a.dtype], name) for a, name in zip(e.args, args, strict=True)]
        if e.op == "cast":
            return convert_dtype(operands[0], e.args[0].dtype, e.dtype)
        if e.op == "call":
            if isinstance(e.attr, ScalarFunction):
                symbol = _function_symbol(e.attr, self.module, self.metadata)
            else:
                symbol = self.module.external(e.attr.symbol, e.dtype, [a.dtype for a in e.args], e.attr.zeros)
                operands += [scope.constant("i32", 0)] * e.attr.zeros
            return scope.call(LLVM_TYPES[e.dtype], symbol, *operands)
        dtype = e.args[1].dtype if e.op == "select" else e.args[0].dtype
        value = primitive(self.module, e.op, dtype, *operands)
        if e.op == "select" and self.pinned:
            # a loop that halves a range, such as a binary search, must not branch unpredictably
            scope.lines[-1] += f", !unpredictable {self.metadata.unpredictable()}"
        return value

    def _load_value(self, dtype: str, address: Value, scope: Scope) -> Value:
        value = scope.load(memory_type(dtype), address, self._access(scope))
        return value.differs(0) if dtype == "bool" else value

    def _store_value(self, dtype: str, value: Value, address: Value, scope: Scope) -> None:
        scope.store(value.widen("i8") if dtype == "bool" else value, address, self._access(scope))

    def buffer(self, name: str, scope: Scope | None = None) -> str:
        """Return the pointer to a buffer."""
        return self.here(self.pointers[name], scope)

    def here(self, value: str, scope: Scope | None = None) -> str:
        """Return the name of a value; a spilled value is loaded in the scope (the innermost one)."""
        if not isinstance(value, Spilled):
            return value
        w = scope or self.scopes[-1]
        return w.load(value.kind, w.at("%frame", value.offset)).name

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
                self.mutable[statement.name] = self._typed_value(statement.value)
            elif isinstance(statement, Assign):
                self._assign(statement)
            elif isinstance(statement, While):
                self._while(statement)
            else:
                self._branch(statement)
        self._stores(pending)

    def _typed_value(self, e: Expr) -> Value:
        """Return the value of an expression as a `Value` of the current scope."""
        return self.scopes[-1].value(LLVM_TYPES[e.dtype], self.value(e))

    def _stores(self, stores: list[Store]) -> None:
        """Emit consecutive stores: all values are computed before the first is written."""
        ready = [(s, self._typed_value(s.value), self.value(s.offset)) for s in stores]
        for statement, value, offset in ready:
            scope, dtype = self.scopes[-1], statement.value.dtype
            address = scope.at(self.buffer(statement.buffer), offset, memory_type(dtype), "inbounds ")
            self._store_value(dtype, value, address, scope)
        if stores:
            self.volatile.clear()

    def _assign(self, statement: Assign) -> None:
        e = statement.value
        old = self.mutable[statement.name]
        number = _nan_ignoring_operand(e, statement.name) if statement.reassociate else None
        if number is None:
            new = self._typed_value(e)
        else:
            self.module.intrinsic(f"{e.op}num", old.kind, 2)
            new = self._typed_value(number).intrinsic(f"{e.op}num", self.scopes[-1].value(old.kind, old.name))
        self.mutable[statement.name] = new
        self.volatile.clear()

    def loop(self, loop: For, body: Callable[[], str | None] | None = None) -> str:
        """Emit a counted loop; return the name of its trip count.

        `body`, if given, emits the body; it may return the name of a condition to end the loop.
        """
        if self.part is not None:
            (first, last), self.part = self.part, None
            return self._counted_loop(loop, first, last, body)
        extent = self.value(loop.extent)
        if loop.lanes:
            first = "0"
            for lanes in loop.lanes:
                first = self._in_lanes(loop, lanes, first, extent)
            return self._counted_loop(loop, first, extent, body)
        if len(self.scopes) - 1 <= self.cut_to and body is None:
            return self._split_loop(loop, extent)
        if self.watched and len(self.scopes) > 1 and is_long_row(loop):
            return self._in_chunks(loop, extent)
        return self._counted_loop(loop, "0", extent, body)

    def _in_lanes(self, loop: For, lanes: int, first: str, extent: str) -> str:
        """Emit whole runs of iterations with `lanes` partial results; return the index of the remaining ones.

        Partial results are on the stack. LLVM vectorizes the loop over lanes, and promotes them to registers when it
        unrolls that loop.
        """
        outer = self.scopes[-1]
        labels = ("pre", "run", "lanes", "next", "exit", "end")
        before_loop, run, inside, following, exit_, after = map(self.label, labels)
        index, start, lane, next_lane, next_run = map(self.fresh, ("v", "start", "lane", "next", "next"))
        inner = self._inner(loop, inside, index)
        if loop.parallel:
            inner.group = self.metadata.access_group()
        inner.add(f"{index} = add nuw nsw i64 {start}, {lane}")
        accumulators = {name: s.value for name, s in (accumulations(loop.body) or {}).items()}
        before = dict(self.mutable)
        slots, addresses = {}, {}
        for name, e in accumulators.items():
            kind = memory_type(e.dtype)
            slots[name] = self.fresh("lanes")
            self.allocas.append(f"{slots[name]} = alloca [{lanes} x {kind}], align 64")
            addresses[name] = inner.at(slots[name], lane, kind, "inbounds ")
            self.mutable[name] = self._load_value(e.dtype, addresses[name], inner)
        self._emit_in(inner, loop.body)
        for name, e in accumulators.items():
            self._store_value(e.dtype, self.mutable[name], addresses[name], inner)
        self.mutable = before

        end = outer.value("i64", extent) & -lanes
        outer.branch(end > outer.value("i64", first), before_loop, after)
        skipped = outer.block
        outer.begin(before_loop)
        outer.add(*(start_lanes(e.op, e.dtype, lanes, slots[name]) for name, e in accumulators.items()))
        outer.jump(run)
        outer.begin(run)
        outer.add(f"{start} = phi i64 [{first}, %{before_loop}], [{next_run}, %{following}]")
        outer.jump(inside)
        outer.begin(inside)
        outer.add(f"{lane} = phi i64 [0, %{run}], [{next_lane}, %{inner.block}]")
        outer.add(*inner.lines, f"{next_lane} = add nuw nsw i64 {lane}, 1")
        note = self.metadata.lanes(inner.group, len(loop.lanes) > 1)
        outer.branch(outer.value("i64", next_lane) < lanes, inside, following, note)
        outer.begin(following)
        outer.add(f"{next_run} = add nuw nsw i64 {start}, {lanes}")
        outer.branch(outer.value("i64", next_run) < end, run, exit_)
        outer.begin(exit_)
        joined = {}
        for name, e in accumulators.items():
            total = join_lanes(e.op, e.dtype, lanes, slots[name], self.module, outer)
            joined[name] = primitive(self.module, e.op, e.dtype, outer.value(total.kind, before[name].name), total)
        outer.jump(after)
        outer.begin(after)
        for name in accumulators:
            self.mutable[name] = outer.phi(before[name].kind, (before[name], skipped), (joined[name], exit_))
        return outer.phi("i64", (first, skipped), (end, exit_)).name

    def _inner(self, loop: For, block: str, index: str) -> Scope:
        """Return the scope of a loop's body, in which its variable has this name."""
        inner = Scope(self.names, len(self.scopes), block)
        if self.variables.get(loop.var, ("", inner.depth))[1] != inner.depth:
            self.depths.clear()
        self.variables[loop.var] = (index, inner.depth)
        self.volatile.clear()
        return inner

    def _emit_in(
        self, inner: Scope, body: tuple[Statement, ...] | Callable[[], str | None], pinned: bool = False
    ) -> str | None:
        """Emit statements, or call a function, in a scope; return the result of the function.

        If the scope is `pinned`, nothing is hoisted out of it.
        """
        before = self.pinned
        self.scopes.append(inner)
        if pinned:
            self.pinned = inner.depth
        result = None
        if isinstance(body, tuple):
            self.statements(body)
        else:
            result = body()
        self.scopes.pop()
        self.pinned = before
        self.volatile.clear()
        return result

    def _split_loop(self, loop: For, extent: str) -> str:
        """Emit a loop in chunks with checks for signals in between; the kernel returns if a handler raises."""
        outer = self.scopes[-1]
        head, cut, stopped, chunk, done = map(self.label, ("head", "cut", "stopped", "chunk", "done"))
        first, entered = self.fresh("first"), outer.block
        outer.jump(head)
        outer.begin(head)
        phi_line = len(outer.lines)
        code, part = self._chunk_end(loop, first, extent)
        outer.branch(_is_watched(outer), cut, chunk, _UNLIKELY)
        outer.begin(cut)
        outer.add(*code)
        outer.branch(outer.value("i64", part) < 0, stopped, chunk, _UNLIKELY)
        outer.begin(stopped)
        outer.add("ret i1 true")
        outer.begin(chunk)
        last = outer.phi("i64", (extent, head), (part, cut))
        make_phis = self._carry_over_chunks(loop, entered)
        deepest = self.cut_to
        if has_heavy_loops(loop):
            self.cut_to = 1
        count = self._counted_loop(loop, first, last.name, None)
        self.cut_to = deepest
        outer.lines[phi_line:phi_line] = make_phis(first, last.name, outer.block)
        again = last < outer.value("i64", extent)
        if loop.until:
            again = outer.value("i1", self.mutable[loop.until].name).select(outer.constant("i1", False), again)
        outer.branch(again, head, done, _UNLIKELY)
        outer.begin(done)
        return count

    def _carry_over_chunks(self, loop: For, entered: str) -> Callable[[str, str, str], list[str]]:
        """Make what a loop assigns loop-carried values of the loop over its chunks.

        Return a function that makes their phi nodes from the first index of a chunk (0 when entered from the block
        `entered`), the end of a chunk, and the block before the next one.
        """
        before = dict(self.mutable)
        carried_values = self._rename_assigned(loop.body)

        def phis(first: str, last: str, block: str) -> list[str]:
            lines = [f"{first} = phi i64 [0, %{entered}], [{last}, %{block}]"]
            return lines + _phis(carried_values, before, entered, self.mutable, block)

        return phis

    def _rename_assigned(self, body: tuple[Statement, ...]) -> dict[str, Value]:
        """Rename the scalars that statements assign to new phi nodes, and return these."""
        carried = sorted(assigned_scalars(body) & self.mutable.keys())
        values = {name: self.scopes[-1].value(self.mutable[name].kind, self.fresh("phi")) for name in carried}
        self.mutable.update(values)
        return values

    def emit_estimate(self, work: Work) -> tuple[list[str], str]:
        """Return code for an estimate of work, in a scope of its own, and the name of its value."""

        def replace_unknown(size: Expr) -> Expr:
            leaves = [e for e in walk([size]) if e.op in ("load", "var")]
            return size if all(e.op == "var" and e.attr in self.variables for e in leaves) else const(UNKNOWN)

        cold, pinned, volatile = Scope(self.names, len(self.scopes), ""), self.pinned, dict(self.volatile)
        self.scopes.append(cold)
        self.pinned = cold.depth
        value = self.value(work.replace(replace_unknown).expression())
        self.scopes.pop()
        self.pinned, self.volatile = pinned, volatile
        return cold.lines, value

    def _chunk_end(self, loop: For, first: str, extent: str) -> tuple[list[str], str]:
        """Return code that computes the end of a chunk, or -1, and its name."""
        code, value = self.emit_estimate(iteration_work(loop))
        ask, part = self.fresh("ask"), self.fresh("part")
        arguments = f"ptr %ae.watcher, i64 {first}, i64 {extent}, double {value}"
        return [*code, f"{ask} = load ptr, ptr %ae.watcher", f"{part} = call i64 {ask}({arguments})"], part

    def _counted_loop(self, loop: For, first: str, last: str, body: Callable[[], str | None] | None) -> str:
        """Emit a loop from `first` to `last`, exclusive."""
        outer = self.scopes[-1]
        head, before_loop, exit_, end = map(self.label, ("loop", "pre", "exit", "end"))
        index, following = self.fresh("v"), self.fresh("next")
        innermost = not any(isinstance(s, (For, If, While)) for s in loop.body)
        before = dict(self.mutable)
        carried_values = self._rename_assigned(loop.body)
        inner = self._inner(loop, head, index)
        if loop.parallel and innermost:
            inner.group = self.metadata.access_group()
        stop = self._emit_in(inner, loop.body if body is None else body)
        if loop.until:
            stop = self.mutable[loop.until].name
        after, self.mutable = self.mutable, before
        if self.watched and inner.depth > 1 and is_over_loops(loop):
            self._check_signals_every(inner, index, _BLOCKS if is_over_blocks(loop) else _LOOPS)

        nonempty = outer.value("i64", last) > outer.value("i64", first)
        outer.branch(nonempty, before_loop, end)
        skipped = outer.block
        outer.begin(before_loop)
        outer.jump(head)
        outer.begin(head)
        outer.add(f"{index} = phi i64 [{first}, %{before_loop}], [{following}, %{inner.block}]")
        outer.add(*_phis(carried_values, before, before_loop, after, inner.block))
        note = self.metadata.rest() if loop.lanes else self.metadata.loop(inner.group, loop.interleave)
        outer.add(*inner.lines, f"{following} = add nuw nsw i64 {index}, 1")
        again = outer.value("i64", following) < outer.value("i64", last)
        if stop is not None:
            again = outer.value("i1", stop).select(outer.constant("i1", False), again)
        outer.branch(again, head, exit_, note)
        outer.begin(exit_)
        outer.jump(end)
        outer.begin(end)
        for name in carried_values:
            self.mutable[name] = outer.phi(before[name].kind, (before[name], skipped), (after[name], exit_))
        if body is None:
            return ""
        return outer.phi("i64", ("0", skipped), (following, exit_)).name

    def _in_chunks(self, loop: For, extent: str) -> str:
        """Emit a nested loop over elements in chunks of `ELEMENTS`, with checks for signals in between.

        There is no check before the first chunk. Rows read from memory need none: another loop around them takes LLVM
        20% longer to compile, and they take a second only with some hundred million elements.
        """
        outer = self.scopes[-1]
        head, look, again, done = map(self.label, ("head", "look", "again", "done"))
        first, entered = self.fresh("first"), outer.block
        outer.jump(head)
        outer.begin(head)
        phi_line = len(outer.lines)
        end, all_ = outer.emit("i64", f"add nsw i64 {first}, {ELEMENTS}"), outer.value("i64", extent)
        last = (end < all_).select(end, all_)
        make_phis = self._carry_over_chunks(loop, entered)
        count = self._counted_loop(loop, first, last.name, None)
        outer.branch(last < all_, look, done, _UNLIKELY)
        outer.begin(look)
        self._check_signals(outer, again)
        outer.jump(head)
        outer.begin(done)
        outer.lines[phi_line:phi_line] = make_phis(first, last.name, again)
        return count

    def _check_signals_every(self, inner: Scope, index: str, interval: int) -> None:
        """Check for signals after some iterations of a loop over other loops."""
        look, on = self.label("look"), self.label("on")
        position = inner.value("i64", index) & interval - 1
        inner.branch(position.equals(interval - 1), look, on, _UNLIKELY)
        inner.begin(look)
        self._check_signals(inner, on)

    def _check_signals(self, w: Scope, on: str) -> None:
        """Ask the watcher, if there is one, for signals; the kernel returns if a handler raises."""
        ask, stopped = self.label("ask"), self.label("stopped")
        w.branch(_is_watched(w), ask, on)
        w.begin(ask)
        function = w.load("ptr", "%ae.watcher")
        end = w.emit("i64", f"call i64 {function}(ptr %ae.watcher, i64 1, i64 2, double 1.0)")
        w.branch(end < 0, stopped, on, _UNLIKELY)
        w.begin(stopped)
        w.add("ret i1 true")
        w.begin(on)

    def _while(self, loop: While) -> None:
        """Emit a loop with its test on top, which LLVM rotates.

        Nothing is hoisted out of it: the condition guards its body.
        """
        outer = self.scopes[-1]
        head, round_, end = map(self.label, ("while", "round", "end"))
        before, entered = dict(self.mutable), outer.block
        carried_values = self._rename_assigned(loop.body)
        inner = Scope(self.names, len(self.scopes), head)
        self.volatile.clear()

        def test_and_round() -> None:
            condition = self.value(loop.condition)
            inner.branch(condition, round_, end)
            inner.begin(round_)
            self.statements(loop.body)

        self._emit_in(inner, test_and_round, pinned=True)
        outer.jump(head)
        outer.begin(head)
        outer.add(*_phis(carried_values, before, entered, self.mutable, inner.block), *inner.lines)
        outer.jump(head)
        outer.begin(end)
        self.mutable = before | carried_values

    def _branch(self, branch: If) -> None:
        condition = self.value(branch.condition)
        outer = self.scopes[-1]
        inside, end = self.label("if"), self.label("end")
        before = dict(self.mutable)
        inner = Scope(self.names, len(self.scopes), inside)
        self.volatile.clear()
        self._emit_in(inner, branch.body, pinned=True)
        outer.branch(condition, inside, end)
        otherwise = outer.block
        outer.begin(inside)
        outer.add(*inner.lines)
        outer.jump(end)
        outer.begin(end)
        after, self.mutable = self.mutable, before
        for name in sorted(assigned_scalars(branch.body) & before.keys()):
            self.mutable[name] = outer.phi(before[name].kind, (before[name], otherwise), (after[name], inner.block))


def _phis(
    values: dict[str, Value], old: dict[str, Value], entered: str, new: dict[str, Value], block: str
) -> list[str]:
    """Return the phi nodes of loop-carried values."""
    return [
        f"{value} = phi {value.kind} [{old[name]}, %{entered}], [{new[name]}, %{block}]"
        for name, value in values.items()
    ]


def _is_watched(w: Scope) -> Value:
    return w.value("ptr", "%ae.watcher").compare("ne", w.value("ptr", "null"))


def _nan_ignoring_operand(e: Expr, accumulator: str) -> Expr | None:
    """Return the operand of an extremum that ignores NaN (replaces it by the identity); None for other values.

    LLVM has an instruction for it, which it vectorizes; a selection would become a branch for each element.
    """
    if not HAS_EXTREMA_OF_NUMBERS or e.op not in ("minimum", "maximum") or e.dtype not in ("float32", "float64"):
        return None
    register, term = e.args
    if register.op != "var" or register.attr != accumulator or term.op != "select":
        return None
    condition, instead, number = term.args
    replaces_nan = condition.op == "isnan" and condition.args[0] is number and instead is identity_of(e.op, e.dtype)
    return number if replaces_nan else None


def emit_kernel(kernel: Kernel, module: Module, metadata: Metadata, attributes: str, cut: Cut) -> FunctionDefinition:
    """Return the kernel as an internal LLVM function.

    Parameters
    ----------
    cut
        How its loops are split into chunks to check for signals. Kernels that are cut ``inside`` take one more
        argument: null, or a watcher (see `emit_threads`); they return whether a handler has raised. Kernels that
        callers run ``in parts`` take two more: the bounds of their `only_loop`. If they have long rows they also take a
        watcher, and return the same.
    """
    written = frozenset(p.name for p in kernel.params if isinstance(p, BufferParam) and p.written)
    read = {e.attr for s in walk_statements(kernel.body) for e in walk(expressions_of(s)) if e.op == "load"}
    emitter = Emitter(module, metadata, written)
    params = []
    for p in kernel.params:
        if isinstance(p, BufferParam):
            unaliased = p.written and p.name not in read and not p.aliased
            pointer = emitter.pointers[p.name] = emitter.fresh("b")
            described = ("noalias",) * unaliased + ("readonly",) * (not p.written)
            params.append(FunctionParameter("ptr", pointer, described))
        else:
            params.append(emitter.define_parameter(p))
    if cut == "in parts":
        emitter.part = ("%ae.first", "%ae.last")
        params += [FunctionParameter("i64", name) for name in emitter.part]
        emitter.watched = has_long_rows(kernel)
    elif cut == "inside":
        emitter.watched = True
        emitter.cut_to = 0
    if emitter.watched:
        params.append(FunctionParameter("ptr", "%ae.watcher"))
    emitter.statements(kernel.body)
    kind, result = ("i1", "ret i1 false") if emitter.watched else ("void", "ret void")
    lines = ["entry:", *emitter.allocas, *emitter.scopes[0].lines, result]
    return FunctionDefinition(f"@{kernel.name}", kind, params, attributes, lines)


def _function_symbol(function: ScalarFunction, module: Module, metadata: Metadata) -> str:
    """Return the symbol of a scalar function, which is emitted on first use."""
    symbol = module.functions.get(function)
    if symbol is None:
        symbol = module.functions[function] = f"@f{len(module.functions)}.{_NOT_PLAIN.sub('_', function.name)}"
        module.helper(symbol, _emit_function(function, symbol, module, metadata))
    return symbol


def _emit_function(function: ScalarFunction, symbol: str, module: Module, metadata: Metadata) -> FunctionDefinition:
    emitter = Emitter(module, metadata, frozenset())
    parameters = [emitter.define_parameter(parameter) for parameter in function.parameters]
    emitter.statements(function.body)
    result = emitter.value(function.result)
    kind = LLVM_TYPES[function.result.dtype]
    lines = ["entry:", *emitter.scopes[0].lines, f"ret {kind} {result}"]
    return FunctionDefinition(symbol, kind, parameters, "noinline nounwind memory(none)", lines)
