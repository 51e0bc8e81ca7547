"""Translation of loop nests to LLVM IR text.

Text is written directly: it is the key of the object cache, so a hit needs nothing of LLVM. Expressions are
value-numbered, and each is computed in the outermost loop in which its operands are known: loop-invariant code is
hoisted here and not by a pass. Loops are rotated (guard, then test at the end), mutable scalars are phi nodes, and
parallel innermost loops have access groups, so that the vectorizer needs no run-time checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from aesara.ir.definitions import FunctionDefinition, FunctionParameter
from aesara.ir.expr import Expr, const, walk
from aesara.ir.function import ScalarFunction
from aesara.ir.instructions import Value
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
from aesara.ir.lanes import identity_of
from aesara.ir.work import UNKNOWN, Work, has_heavy_loops, iteration_work
from aesara.link.llvm.chunks import ELEMENTS, assigned_scalars, is_watched_in_parts
from aesara.link.llvm.emit_expressions import ExpressionEmitter, store_element
from aesara.link.llvm.emit_lanes import Lanes
from aesara.link.llvm.emit_signals import UNLIKELY, SignalPlan, check_signals, check_signals_every, is_watched
from aesara.link.llvm.metadata import Metadata
from aesara.link.llvm.module import Module
from aesara.link.llvm.target import HAS_EXTREMA_OF_NUMBERS
from aesara.link.llvm.types import LLVM_TYPES, memory_type
from aesara.link.llvm.values import Scope, Values

__all__ = ["Cut", "FunctionEmitter", "emit_kernel"]

#: how loops of a kernel are split; see `emit_kernel`
Cut = Literal["no", "inside", "in parts", "one by one", "once"]

#: emits the body of a loop; may return the name of a condition to end the loop
LoopBody: TypeAlias = "Callable[[], str | None]"

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_.]")


class FunctionEmitter:
    """Emits the statements of one function.

    Attributes
    ----------
    values
        The known values, and the open scopes.
    expressions
        Emits expressions.
    allocas
        Allocations on the stack.
    signals
        The loops in which signals are checked.
    """

    def __init__(self, module: Module, metadata: Metadata, written: frozenset[str]) -> None:
        self.module, self.metadata = module, metadata
        self.values = Values(written)
        self.expressions = ExpressionEmitter(
            module, metadata, self.values, lambda function: _function_symbol(function, module, metadata)
        )
        self.allocas: list[str] = []
        self.signals = SignalPlan()

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
                self.values.mutable[statement.name] = self.expressions.value_of(statement.value)
            elif isinstance(statement, Assign):
                self._assign(statement)
            elif isinstance(statement, While):
                self._while(statement)
            else:
                self._branch(statement)
        self._stores(pending)

    def _stores(self, stores: list[Store]) -> None:
        """Emit consecutive stores: all values are computed before the first is written."""
        expressions = self.expressions
        ready = [(s, expressions.value_of(s.value), expressions.name_of(s.offset)) for s in stores]
        for statement, value, offset in ready:
            scope, dtype = self.values.innermost, statement.value.dtype
            pointer = expressions.pointer_to(statement.buffer)
            store_element(dtype, value, scope.at(pointer, offset, memory_type(dtype), "inbounds "), scope)
        if stores:
            self.values.forget_volatile()

    def _assign(self, statement: Assign) -> None:
        e, values = statement.value, self.values
        old = values.mutable[statement.name]
        number = _nan_ignoring_operand(e, statement.name) if statement.reassociate else None
        if number is None:
            new = self.expressions.value_of(e)
        else:
            self.module.intrinsic(f"{e.op}num", old.kind, 2)
            operand = self.expressions.value_of(number)
            new = operand.intrinsic(f"{e.op}num", values.innermost.value(old.kind, old.name))
        values.mutable[statement.name] = new
        values.forget_volatile()

    def _while(self, loop: While) -> None:
        """Emit a loop with its test on top, which LLVM rotates.

        Nothing is hoisted out of it: the condition guards its body.
        """
        values = self.values
        outer = values.innermost
        head, round_, end = map(values.names.label, ("while", "round", "end"))
        before, entered = dict(values.mutable), outer.block
        carried = self._rename_assigned(loop.body)
        inner = values.new_scope(head)

        def test_and_round() -> None:
            condition = self.expressions.name_of(loop.condition)
            inner.branch(condition, round_, end)
            inner.begin(round_)
            self.statements(loop.body)

        values.inside(inner, test_and_round, pinned=True)
        outer.jump(head)
        outer.begin(head)
        outer.add(*_phis(carried, before, entered, values.mutable, inner.block), *inner.lines)
        outer.jump(head)
        outer.begin(end)
        values.mutable = before | carried

    def _branch(self, branch: If) -> None:
        values = self.values
        condition = self.expressions.name_of(branch.condition)
        outer = values.innermost
        inside, end = map(values.names.label, ("if", "end"))
        before = dict(values.mutable)
        inner = values.new_scope(inside)
        values.inside(inner, lambda: self.statements(branch.body), pinned=True)
        outer.branch(condition, inside, end)
        otherwise = outer.block
        outer.begin(inside)
        outer.add(*inner.lines)
        outer.jump(end)
        outer.begin(end)
        after, values.mutable = values.mutable, before
        for name in sorted(assigned_scalars(branch.body) & before.keys()):
            values.mutable[name] = outer.phi(before[name].kind, (before[name], otherwise), (after[name], inner.block))

    # -- loops -----------------------------------------------------------------------------------------------

    def loop(self, loop: For, body: LoopBody | None = None) -> str:
        """Emit a counted loop; return the name of its trip count.

        `body`, if given, emits the body; it may return the name of a condition to end the loop.
        """
        depth = self.values.innermost.depth
        extent = self.expressions.name_of(loop.extent)
        if loop.lanes:
            first = "0"
            for lanes in loop.lanes:
                first = self._in_lanes(loop, lanes, first, extent)
            return self.range(loop, first, extent, body)
        if self.signals.splits(depth) and body is None:
            return self._in_timed_chunks(loop, extent)
        if self.signals.splits_elements(loop, depth):
            return self._in_chunks_of_elements(loop, extent)
        return self.range(loop, "0", extent, body)

    def range(self, loop: For, first: str, last: str, body: LoopBody | None = None) -> str:
        """Emit the iterations of a loop from `first` to `last`, exclusive."""
        values = self.values
        outer = values.innermost
        head, before_loop, exit_, end = map(values.names.label, ("loop", "pre", "exit", "end"))
        index, following = values.names.fresh("v"), values.names.fresh("next")
        innermost = not any(isinstance(s, (For, If, While)) for s in loop.body)
        before = dict(values.mutable)
        carried = self._rename_assigned(loop.body)
        inner = self._body_scope(loop, head, index, in_group=loop.parallel and innermost)
        stop = values.inside(inner, body or (lambda: self.statements(loop.body)))
        if loop.until:
            stop = values.mutable[loop.until].name
        after, values.mutable = values.mutable, before
        interval = self.signals.interval(loop, outer.depth)
        if interval:
            check_signals_every(interval, index, inner)

        nonempty = outer.value("i64", last) > outer.value("i64", first)
        outer.branch(nonempty, before_loop, end)
        skipped = outer.block
        outer.begin(before_loop)
        outer.jump(head)
        outer.begin(head)
        outer.add(f"{index} = phi i64 [{first}, %{before_loop}], [{following}, %{inner.block}]")
        outer.add(*_phis(carried, before, before_loop, after, inner.block))
        note = self.metadata.rest() if loop.lanes else self.metadata.loop(inner.group, loop.interleave)
        outer.add(*inner.lines, f"{following} = add nuw nsw i64 {index}, 1")
        again = outer.value("i64", following) < outer.value("i64", last)
        if stop is not None:
            again = outer.value("i1", stop).select(outer.constant("i1", False), again)
        outer.branch(again, head, exit_, note)
        outer.begin(exit_)
        outer.jump(end)
        outer.begin(end)
        for name in carried:
            values.mutable[name] = outer.phi(before[name].kind, (before[name], skipped), (after[name], exit_))
        if body is None:
            return ""
        return outer.phi("i64", ("0", skipped), (following, exit_)).name

    def _in_lanes(self, loop: For, count: int, first: str, extent: str) -> str:
        """Emit whole runs of iterations with `count` partial results; return the index of the remaining ones.

        Partial results are on the stack. LLVM vectorizes the loop over lanes, and promotes them to registers when it
        unrolls that loop.
        """
        values = self.values
        outer = values.innermost
        labels = ("pre", "run", "lanes", "next", "exit", "end")
        before_loop, run, inside, following, exit_, after = map(values.names.label, labels)
        index, start, lane, next_lane, next_run = map(values.names.fresh, ("v", "start", "lane", "next", "next"))
        lanes, before = Lanes(loop, count), dict(values.mutable)
        inner = self._body_scope(loop, inside, index, in_group=loop.parallel)
        inner.add(f"{index} = add nuw nsw i64 {start}, {lane}")
        values.mutable.update(lanes.load(lane, inner))
        self.allocas += lanes.allocas
        values.inside(inner, lambda: self.statements(loop.body))
        lanes.store(values.mutable, inner)
        values.mutable = before

        end = outer.value("i64", extent) & -count
        outer.branch(end > outer.value("i64", first), before_loop, after)
        skipped = outer.block
        outer.begin(before_loop)
        outer.add(*lanes.initialize())
        outer.jump(run)
        outer.begin(run)
        outer.add(f"{start} = phi i64 [{first}, %{before_loop}], [{next_run}, %{following}]")
        outer.jump(inside)
        outer.begin(inside)
        outer.add(f"{lane} = phi i64 [0, %{run}], [{next_lane}, %{inner.block}]")
        outer.add(*inner.lines, f"{next_lane} = add nuw nsw i64 {lane}, 1")
        note = self.metadata.lanes(inner.group, len(loop.lanes) > 1)
        outer.branch(outer.value("i64", next_lane) < count, inside, following, note)
        outer.begin(following)
        outer.add(f"{next_run} = add nuw nsw i64 {start}, {count}")
        outer.branch(outer.value("i64", next_run) < end, run, exit_)
        outer.begin(exit_)
        joined = lanes.join(before, self.module, outer)
        outer.jump(after)
        outer.begin(after)
        for name, total in joined.items():
            values.mutable[name] = outer.phi(before[name].kind, (before[name], skipped), (total, exit_))
        return outer.phi("i64", (first, skipped), (end, exit_)).name

    def _body_scope(self, loop: For, block: str, index: str, in_group: bool) -> Scope:
        """Return the scope of a loop's body, in which its variable has this name."""
        inner = self.values.new_scope(block)
        self.values.define_index(loop.var, index, inner.depth)
        if in_group:
            inner.group = self.metadata.access_group()
        return inner

    # -- loops in chunks -------------------------------------------------------------------------------------

    def _in_timed_chunks(self, loop: For, extent: str) -> str:
        """Emit a loop in chunks with checks for signals in between; the kernel returns if a handler raises."""
        values = self.values
        outer = values.innermost
        head, cut, stopped, chunk, done = map(values.names.label, ("head", "cut", "stopped", "chunk", "done"))
        first, entered = values.names.fresh("first"), outer.block
        outer.jump(head)
        outer.begin(head)
        phis_at = len(outer.lines)
        code, part = self._ask_for_chunk(loop, first, extent)
        outer.branch(is_watched(outer), cut, chunk, UNLIKELY)
        outer.begin(cut)
        outer.add(*code)
        outer.branch(outer.value("i64", part) < 0, stopped, chunk, UNLIKELY)
        outer.begin(stopped)
        outer.add("ret i1 true")
        outer.begin(chunk)
        last = outer.phi("i64", (extent, head), (part, cut))
        before = dict(values.mutable)
        carried = self._rename_assigned(loop.body)
        plan, self.signals = self.signals, self.signals.within(loop)
        count = self.range(loop, first, last.name)
        self.signals = plan
        outer.lines[phis_at:phis_at] = [
            f"{first} = phi i64 [0, %{entered}], [{last}, %{outer.block}]",
            *_phis(carried, before, entered, values.mutable, outer.block),
        ]
        again = last < outer.value("i64", extent)
        if loop.until:
            stop = outer.value("i1", values.mutable[loop.until].name)
            again = stop.select(outer.constant("i1", False), again)
        outer.branch(again, head, done, UNLIKELY)
        outer.begin(done)
        return count

    def _in_chunks_of_elements(self, loop: For, extent: str) -> str:
        """Emit a nested loop over elements in chunks of `ELEMENTS`, with checks for signals in between.

        There is no check before the first chunk. Rows read from memory need none: another loop around them takes LLVM
        20% longer to compile, and they take a second only with some hundred million elements.
        """
        values = self.values
        outer = values.innermost
        head, look, again, done = map(values.names.label, ("head", "look", "again", "done"))
        first, entered = values.names.fresh("first"), outer.block
        outer.jump(head)
        outer.begin(head)
        phis_at = len(outer.lines)
        end, all_ = outer.emit("i64", f"add nsw i64 {first}, {ELEMENTS}"), outer.value("i64", extent)
        last = (end < all_).select(end, all_)
        before = dict(values.mutable)
        carried = self._rename_assigned(loop.body)
        count = self.range(loop, first, last.name)
        outer.branch(last < all_, look, done, UNLIKELY)
        outer.begin(look)
        check_signals(outer, again)
        outer.jump(head)
        outer.begin(done)
        outer.lines[phis_at:phis_at] = [
            f"{first} = phi i64 [0, %{entered}], [{last}, %{again}]",
            *_phis(carried, before, entered, values.mutable, again),
        ]
        return count

    def _ask_for_chunk(self, loop: For, first: str, extent: str) -> tuple[list[str], str]:
        """Return code that asks the watcher for the end of a chunk, or -1, and the name of the answer."""
        code, work = self.estimate(iteration_work(loop))
        ask, part = self.values.names.fresh("ask"), self.values.names.fresh("part")
        arguments = f"ptr %ae.watcher, i64 {first}, i64 {extent}, double {work}"
        return [*code, f"{ask} = load ptr, ptr %ae.watcher", f"{part} = call i64 {ask}({arguments})"], part

    def estimate(self, work: Work) -> tuple[list[str], str]:
        """Return code for an estimate of work in a block of its own, and the name of its value."""
        variables = self.values.variables

        def replace_unknown(size: Expr) -> Expr:
            leaves = [e for e in walk([size]) if e.op in ("load", "var")]
            return size if all(e.op == "var" and e.attr in variables for e in leaves) else const(UNKNOWN)

        return self.values.aside(lambda: self.expressions.name_of(work.replace(replace_unknown).expression()))

    def _rename_assigned(self, body: tuple[Statement, ...]) -> dict[str, Value]:
        """Rename the scalars that statements assign to new phi nodes, and return these."""
        values = self.values
        carried = sorted(assigned_scalars(body) & values.mutable.keys())
        phis = {name: values.innermost.value(values.mutable[name].kind, values.names.fresh("phi")) for name in carried}
        values.mutable.update(phis)
        return phis


def _phis(
    values: dict[str, Value], old: dict[str, Value], entered: str, new: dict[str, Value], block: str
) -> list[str]:
    """Return the phi nodes of loop-carried values."""
    return [
        f"{value} = phi {value.kind} [{old[name]}, %{entered}], [{new[name]}, %{block}]"
        for name, value in values.items()
    ]


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
        callers run ``in parts`` take the bounds of their `only_loop` and a watcher first, and return the same if nested
        loops may be long. Those that run ``one by one`` take the same, and run one iteration: the first bound
        is its number, the second that of an inner independent loop. Those that run ``once`` take them and run all.
    """
    written = frozenset(p.name for p in kernel.params if isinstance(p, BufferParam) and p.written)
    read = {e.attr for s in walk_statements(kernel.body) for e in walk(expressions_of(s)) if e.op == "load"}
    emitter = FunctionEmitter(module, metadata, written)
    params = []
    for p in kernel.params:
        if isinstance(p, BufferParam):
            unaliased = p.written and p.name not in read and not p.aliased
            pointer = emitter.expressions.pointers[p.name] = emitter.values.names.fresh("b")
            described = ("noalias",) * unaliased + ("readonly",) * (not p.written)
            params.append(FunctionParameter("ptr", pointer, described))
        else:
            params.append(emitter.values.define_parameter(p.name, p.dtype))
    if cut == "one by one":
        (loop,) = kernel.body
        assert isinstance(loop, For)
        emitter.values.define_index(loop.var, "%ae.first", 0)
        (inner, *others) = loop.body
        if not others and isinstance(inner, For) and inner.independent:
            emitter.values.define_index(inner.var, "%ae.last", 0)
            loop = inner
        emitter.statements(loop.body)
    elif cut == "in parts":
        (loop,) = kernel.body
        assert isinstance(loop, For)
        emitter.signals = SignalPlan(is_watched_in_parts(kernel), 1 if has_heavy_loops(loop) else -1)
        emitter.range(loop, "%ae.first", "%ae.last")
    else:
        if cut == "inside":
            emitter.signals = SignalPlan(True, 0)
        emitter.statements(kernel.body)
    watcher = FunctionParameter("ptr", "%ae.watcher")
    if cut in ("in parts", "one by one", "once"):
        params = [FunctionParameter("i64", "%ae.first"), FunctionParameter("i64", "%ae.last"), watcher, *params]
    elif emitter.signals.watched:
        params.append(watcher)
    kind, result = ("i1", "ret i1 false") if emitter.signals.watched else ("void", "ret void")
    lines = ["entry:", *emitter.allocas, *emitter.values.scopes[0].lines, result]
    return FunctionDefinition(f"@{kernel.name}", kind, params, attributes, lines)


def _function_symbol(function: ScalarFunction, module: Module, metadata: Metadata) -> str:
    """Return the symbol of a scalar function, which is emitted on first use."""
    symbol = module.functions.get(function)
    if symbol is None:
        symbol = module.functions[function] = f"@f{len(module.functions)}.{_NOT_PLAIN.sub('_', function.name)}"
        module.helper(symbol, _emit_function(function, symbol, module, metadata))
    return symbol


def _emit_function(function: ScalarFunction, symbol: str, module: Module, metadata: Metadata) -> FunctionDefinition:
    emitter = FunctionEmitter(module, metadata, frozenset())
    parameters = [emitter.values.define_parameter(one.name, one.dtype) for one in function.parameters]
    emitter.statements(function.body)
    result = emitter.expressions.name_of(function.result)
    kind = LLVM_TYPES[function.result.dtype]
    lines = ["entry:", *emitter.values.scopes[0].lines, f"ret {kind} {result}"]
    return FunctionDefinition(symbol, kind, parameters, "noinline nounwind memory(none)", lines)
