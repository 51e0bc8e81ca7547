"""Lowering of `Scan`: the step has a context of its own, and accesses rows of sequences and outputs in place.

An output that may have fewer rows than steps is a ring buffer: each step overwrites the oldest row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, const, var, walk
from aesara.ir.expr import op as primitive
from aesara.ir.symbols import ArgumentName, ConstantName
from aesara.lower.arrays import (
    Array,
    Index,
    LoopRow,
    Pointwise,
    Reader,
    Source,
    row_major_strides,
    strided_view,
)
from aesara.lower.context import Context, array_in_memory
from aesara.lower.control.loop import LoopBody, LoopNode, LoopResult, add_loop
from aesara.lower.dispatch import lower_all, lower_definition, lower_op
from aesara.lower.errors import Unsupported, escape_braces
from aesara.lower.reductions.careduce import convert
from aesara.records import dataclass
from aesara.scan.op import Scan
from aesara.scan.parts import expansion_of, is_for_each_step
from aesara.scan.windows import with_rows_as_states

#: ring buffers of at most this many rows get a constant length
_LARGEST_CONSTANT_RING = 8


@lower_op.register
def _scan(op: Scan, node: Apply, context: Context) -> Sequence[Array]:
    """Lower a loop, with rows of sequences and states as they are in memory."""
    if not all(v.type.in_words for v in op.inner_shared(op.inner_inputs)):
        raise Unsupported("a loop with a state that is no tensor")
    if op.info.n_mit_mot:
        return _with_row_states(op, node, context)
    linker = getattr(op.mode, "linker", None)
    if linker is not None and not hasattr(linker, "make_callable"):
        raise Unsupported("a loop whose step has a mode that runs node by node")
    results = _ScanLowering(op, node, context).results()
    return [array_in_memory(v, array) for v, array in zip(node.outputs, results, strict=True)]


def _with_row_states(op: Scan, node: Apply, context: Context) -> Sequence[Array]:
    """Lower a loop that writes several rows of a buffer in each step, as a loop with a state for each row."""
    return lower_definition(node, lambda inner: with_rows_as_states(op, inner), context)


@dataclass(eq=False)
class _State:
    """A recurrent state.

    Attributes
    ----------
    first, rows
        The array that holds the initial rows, and their number.
    depth
        Number of steps that the taps reach back.
    length, is_ring
        Number of rows of the buffer; it is a ring unless it has a row for each step.
    taps, inner
        Taps, and the variable of the step for each.
    """

    first: Array
    rows: Expr
    depth: int
    length: Expr
    is_ring: bool
    taps: tuple[int, ...]
    inner: list[Any] = field(default_factory=list)


class _ScanLowering:
    def __init__(self, op: Scan, node: Apply, context: Context) -> None:
        self.op, self.node, self.context = op, node, context
        self.label = escape_braces(op.title)
        self.inner = context.inside_loop()
        self.steps = context.size_from(context.array(node.inputs[0]))
        self.guards: list[object] = []
        message = "the number of steps must not be negative; it is {0}."
        self._require("ge", self.steps, const(0), message, [self.steps])
        self.reads: list[LoopRow] = []
        self.operands: list[Array] = []
        self.views: list[Array] = []
        self.bindings: list[tuple[Variable, LoopRow | Array]] = []

    def _require(self, relation: str, a: Expr, b: Expr, message: str, values: Sequence[Expr]) -> None:
        condition = primitive(relation, a, b)
        self.guards += self.context.guard(condition, ValueError, f"{self.label}: {message}", self.node, values)

    # -- inputs of the step ----------------------------------------------------------------------------------

    def _bind_sequences(self) -> None:
        pairs = zip(self.op.outer_seqs(self.node.inputs), self.op.inner_seqs(self.op.inner_inputs), strict=True)
        for k, (outer, inner) in enumerate(pairs):
            array = self.context.in_memory(outer)
            message = f"sequence {k} has {{0}} entries, but there are {{1}} steps."
            self._require("ge", array.shape[0], self.steps, message, [array.shape[0], self.steps])
            self._bind_sequence(inner, array)

    def _bind_sequence(self, inner: Variable, array: Array) -> None:
        """Bind a sequence to a variable of the step; a strided view is read in the memory of its base."""
        base, start, strides = strided_view(array, lambda a: a.shape)
        row = tuple(array.shape[1:])
        if base is array or base.is_stored is None or strides[1:] != row_major_strides(row):
            self.operands.append(array)
            self._bind_row(inner, array, 0)
            return
        self.operands.append(base)
        self.views.append(array)
        self.reads.append(LoopRow(self.context.fresh("w"), base, 0, row, (start, strides[0])))
        self.bindings.append((inner, self.reads[-1]))

    def _bind_row(self, inner: Variable, array: Array, first: int | None) -> None:
        """Bind a row of an array, or all of it, to a variable of the step."""
        shape = array.shape if first is None else array.shape[1:]
        self.reads.append(LoopRow(self.context.fresh("w"), array, first, tuple(shape)))
        self.bindings.append((inner, self.reads[-1]))

    def _bind_constants(self) -> None:
        op = self.op
        pairs = zip(op.outer_non_seqs(self.node.inputs), op.inner_non_seqs(op.inner_inputs), strict=True)
        for outer, inner in pairs:
            array = self.context.in_memory(outer)
            local = array.for_other_context()
            if local is None:
                self.operands.append(array)
                self._bind_row(inner, array, None)
            else:
                self.bindings.append((inner, local))

    def _states(self) -> list[_State]:
        op, info = self.op, self.op.info
        buffers = op.outer_mitsot(self.node.inputs) + op.outer_sitsot(self.node.inputs)
        inner = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
        states = []
        for k, (buffer, taps, variables) in enumerate(zip(buffers, info.tap_array, inner, strict=True)):
            depth = -min(taps)
            state = self._state(buffer, depth, taps, variables)
            if state.is_ring:
                message = f"state {k} needs {depth} first values, got {{0}}."
                self._require("ge", state.length, const(depth), message, [state.length])
            self.operands.append(state.first)
            states.append(state)
        return states

    def _state(self, buffer: Variable, depth: int, taps: tuple[int, ...], inner: list[Any]) -> _State:
        """Describe a state; if its buffer is empty but for initial rows, only these are read."""
        whole = self.context.in_memory(buffer)
        length, first, rows = whole.shape[0], whole, whole.shape[0]
        is_ring = not self.context.same_size(length, self.steps + depth)
        parts = expansion_of(buffer)
        if parts is not None:
            value, size = parts
            is_ring = is_ring and not is_for_each_step(size, depth, self.node.inputs[0])
            array = self.context.in_memory(value)
            if array.shape[0] is const(depth) and all(map(self.context.same_size, array.shape[1:], whole.shape[1:])):
                first = array
        if first is not whole or not is_ring:
            rows = const(depth)
        return _State(first, rows, depth, length, is_ring, taps, inner)

    # -- the loop --------------------------------------------------------------------------------------------

    def results(self) -> list[Array]:
        """Return the arrays of the outputs: states, outputs that no step reads, generators."""
        self._bind_sequences()
        states = self._states()
        lengths = self._lengths_of_outputs()
        self._bind_constants()
        generators = [self.context.array(v) for v in self.op.outer_shared(self.node.inputs)]
        self.operands += generators
        loop = LoopNode(self.operands, self.guards, self.views)
        generator_results = self._bind_generators(loop, generators)
        state_results = self._bind_states(loop, states)

        new = self._lower_step()
        condition = new.pop() if self.op.info.as_while else None
        first, last = len(states), len(states) + len(lengths)
        state_writes = [
            (self._next_row(array, result, k), result, state.depth)
            for k, (state, array, result) in enumerate(zip(states, new[:first], state_results, strict=True))
        ]
        generator_writes = [
            (self._next_generator(array, result), result, None)
            for array, result in zip(new[last:], generator_results, strict=True)
        ]
        output_writes = [
            (array, self._output(loop, array, length), 0)
            for array, length in zip(new[first:last], lengths, strict=True)
        ]
        outputs = [result for _, result, _ in output_writes]

        until = None if condition is None else self._until(condition)
        count = self.context.fresh_size()
        body = LoopBody(
            self.inner, self.context.fresh("i"), self.steps, count, tuple(self.reads),
            (
                *((result, state.first, state.rows) for state, result in zip(states, state_results, strict=True)),
                *((result, array, None) for array, result in zip(generators, generator_results, strict=True)),
            ),
            (*state_writes, *generator_writes, *output_writes), until,
        )  # fmt: skip
        add_loop(self.context, loop, body, [*state_results, *outputs, *generator_results])
        done = self.steps if until is None else var(count)
        kept_states = [
            self._kept_rows(result, done, state.length, state.depth)
            for state, result in zip(states, state_results, strict=True)
        ]
        kept_outputs = [
            self._kept_rows(result, done, length, 0, True) for result, length in zip(outputs, lengths, strict=True)
        ]
        return [*kept_states, *kept_outputs, *generator_results]

    def _bind_generators(self, loop: LoopNode, generators: Sequence[Array]) -> list[LoopResult]:
        """Bind the next states of generators to variables of the step, and return them."""
        results = [LoopResult(loop, array.dtype, array.shape) for array in generators]
        for inner, result in zip(self.op.inner_shared(self.op.inner_inputs), results, strict=True):
            self._bind_row(inner, result, None)
        return results

    def _bind_states(self, loop: LoopNode, states: Sequence[_State]) -> list[LoopResult]:
        """Bind rows of the buffers of states to variables of the step, and return the buffers."""
        results = []
        for state in states:
            row = state.first.shape[1:]
            results.append(self._result(loop, state.first.dtype, row, state.length, state.depth, state.is_ring))
            for tap, inner in zip(state.taps, state.inner, strict=True):
                self._bind_row(inner, results[-1], state.depth + tap)
        return results

    def _next_generator(self, array: Array, result: LoopResult) -> Array:
        """Return the next state of a generator, after a check of its kind."""
        if not self.inner.same_size(*array.shape, *result.shape):
            raise Unsupported("a generator whose next state may be of another kind")
        return self.inner.add(_copy(array))

    def _output(self, loop: LoopNode, array: Array, length: Expr) -> LoopResult:
        """Return the buffer of an output that no step reads."""
        is_ring = not self.context.same_size(length, self.steps)
        return self._result(loop, array.dtype, sizes_outside(self.inner, array), length, 0, is_ring)

    def _lengths_of_outputs(self) -> list[Expr]:
        """Return the number of rows to keep of each output that is not a state."""
        lengths = []
        for k, outer in enumerate(self.op.outer_nitsot(self.node.inputs)):
            lengths.append(self.context.size_from(self.context.array(outer)))
            if not self.context.same_size(lengths[-1], self.steps):
                least = primitive("minimum", self.steps, const(1))
                self._require("ge", lengths[-1], least, f"output {k} has room for {{0}} values.", [lengths[-1]])
        return lengths

    def _result(
        self, node: LoopNode, dtype: str, row: Sequence[Expr], length: Expr, depth: int, is_ring: bool
    ) -> LoopResult:
        """Return a result; a ring has one more row than are read, or a small constant number of rows."""
        if is_ring:
            rows = const(length.most) if length.most <= _LARGEST_CONSTANT_RING else length
            length = primitive("maximum", rows, const(depth + 1))
        return LoopResult(node, dtype, (length, *row), is_ring)

    def _kept_rows(self, result: LoopResult, steps: Expr, length: Expr, depth: int, is_empty: bool = False) -> Array:
        """Return the last `length` rows of a result in the order of steps, or fewer if the loop ended early.

        Rows that no step has written are those of the buffer, or zero if it was empty.
        """
        written = steps + depth
        if not result.is_ring:
            return _first_rows(result, written) if self.op.info.as_while else result
        capacity = result.shape[0]
        start = primitive("maximum", written - length, const(0))
        zero = const(0, result.dtype)

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            row = start + index[0]
            value = readers[0]((row % capacity, *index[1:]))
            return primitive("select", row < written, value, zero) if is_empty else value

        rows = primitive("minimum", length, written) if self.op.info.as_while else length
        return Pointwise(result.dtype, (rows, *result.shape[1:]), (result,), body, 1)

    def _lower_step(self) -> list[Array]:
        inner = self.inner
        for variable, source in self.bindings:
            array = Source(source.name, source.array.dtype, source.shape) if isinstance(source, LoopRow) else source
            inner.set_memory(variable, array)
        lower_all(self.op.inner_inputs, self.op.inner_outputs, inner)
        return [inner.in_memory(v) for v in self.op.inner_outputs]

    def _next_row(self, array: Array, result: LoopResult, k: int) -> Array:
        """Return the next row of state k, after a check of its shape."""
        state, computed = escape_braces(self.op.state_text(k)), escape_braces(self.op.where_computed(k))
        for d, (size, wanted) in enumerate(zip(array.shape, result.shape[1:], strict=True)):
            message = (
                f"{self.label}: {state} has size {{1}} in dimension {d}, and its new value has size {{0}}{computed}. "
                "The shape must be the same in every step."
            )
            self.inner.require_equal(size, wanted, ValueError, message, self.node)
        return array

    def _until(self, array: Array) -> Expr:
        truth = self.inner.add(convert(array, "bool")) if array.dtype != "bool" else array
        return primitive("ne", self.inner.size_from(truth), const(0))


def _copy(array: Array) -> Array:
    return Pointwise(array.dtype, array.shape, (array,), lambda index, readers: readers[0](index), 0)


def _first_rows(array: Array, length: Expr) -> Array:
    """Return the first rows of an array."""
    return Pointwise(
        array.dtype, (length, *array.shape[1:]), (array,), lambda index, readers: readers[0](index), 0,
        strided=lambda offset, strides: (offset, strides),
    )  # fmt: skip


def sizes_outside(inner: Context, array: Array) -> list[Expr]:
    """Return the sizes of an array of an inner context, which must be defined outside of it."""
    sizes = [inner.canonical(n) for n in array.shape]
    defined_inside = {size for item in inner.items for size in item.defines()}
    for e in walk(sizes):
        inside = not isinstance(e.attr, (ArgumentName, ConstantName)) if e.op == "load" else e.attr in defined_inside
        if inside:
            raise Unsupported("a result of a loop or choice whose size depends on values inside of it")
    return sizes
