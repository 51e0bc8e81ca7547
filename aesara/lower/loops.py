"""Lowering of loops: the step is lowered by itself, and reads and writes rows of memory in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, const, var, walk
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, LoopBody, LoopNode, LoopResult, Pointwise, Row, Source
from aesara.lower.complex import ComplexArray, split
from aesara.lower.context import Context, Definition, Unsupported
from aesara.lower.dispatch import is_complex, lower_all, lower_complex_op, lower_op
from aesara.lower.reductions import converted
from aesara.records import dataclass
from aesara.scan.op import Scan
from aesara.tensor.allocation import AllocEmpty
from aesara.tensor.subtensor_basic import IncSubtensor


@lower_op.register  # type: ignore[arg-type]  # of real numbers it gives arrays
@lower_complex_op.register
def _scan(op: Scan, node: Apply, context: Context) -> Sequence[Array | ComplexArray]:
    """Complex numbers are pairs in memory, here as elsewhere: rows are read and written whole."""
    if op.info.n_mit_mot or op.info.n_shared_outs:
        raise Unsupported("a loop with a state that is no tensor, or that writes to many taps")
    results = _Lowering(op, node, context).results()
    return [split(array) if is_complex(v) else array for v, array in zip(node.outputs, results, strict=True)]


@dataclass(eq=False)
class _State:
    """A state: the array with its first rows, how many these are, how long its buffer is, and its taps."""

    first: Array
    depth: int
    length: Expr
    taps: tuple[int, ...]
    inner: list[Any] = field(default_factory=list)


class _Lowering:
    def __init__(self, op: Scan, node: Apply, context: Context) -> None:
        self.op, self.node, self.context = op, node, context
        self.label = str(op).replace("{", "{{").replace("}", "}}")
        self.inner = context.inside_loop()
        self.steps = context.size_from(context.array(node.inputs[0]))
        self.guards: list[object] = []
        message = "the number of steps must not be negative; it is {0}."
        self._require("ge", self.steps, const(0), message, [self.steps])
        self.reads: list[Row] = []
        self.operands: list[Array] = []
        self.placed: list[tuple[Variable, Row | Array]] = []

    def _require(self, relation: str, a: Expr, b: Expr, message: str, values: Sequence[Expr]) -> None:
        condition = primitive(relation, a, b)
        self.guards += self.context.guard(condition, ValueError, f"{self.label}: {message}", self.node, values)

    # -- what comes from outside -----------------------------------------------------------------------------

    def _sequences(self) -> None:
        pairs = zip(self.op.outer_seqs(self.node.inputs), self.op.inner_seqs(self.op.inner_inputs), strict=True)
        for k, (outer, inner) in enumerate(pairs):
            array = self.context.in_memory(outer)
            message = f"sequence {k} has {{0}} entries, but there are {{1}} steps."
            self._require("ge", array.shape[0], self.steps, message, [array.shape[0], self.steps])
            self.operands.append(array)
            self._row(inner, array, 0)

    def _row(self, inner: Variable, array: Array, first: int | None) -> None:
        """A buffer of the body for an input of the step."""
        shape = array.shape if first is None else array.shape[1:]
        self.reads.append(Row(self.context.fresh("w"), array, first, tuple(shape)))
        self.placed.append((inner, self.reads[-1]))

    def _constants(self) -> None:
        op = self.op
        pairs = zip(op.outer_non_seqs(self.node.inputs), op.inner_non_seqs(op.inner_inputs), strict=True)
        for outer, inner in pairs:
            array = self.context.in_memory(outer)
            if isinstance(array, Source):
                self.placed.append((inner, Source(array.buffer, array.dtype, array.shape)))
            elif isinstance(array, Pointwise) and not array.operands and not array.requires:
                self.placed.append((inner, Pointwise(array.dtype, array.shape, (), array.body, array.cost)))
            else:
                self.operands.append(array)
                self._row(inner, array, None)

    def _states(self) -> list[_State]:
        op, info = self.op, self.op.info
        buffers = op.outer_mitsot(self.node.inputs) + op.outer_sitsot(self.node.inputs)
        inner = op.inner_mitsot(op.inner_inputs) + [[v] for v in op.inner_sitsot(op.inner_inputs)]
        found = []
        for k, (buffer, taps, variables) in enumerate(zip(buffers, info.tap_array, inner, strict=True)):
            depth = -min(taps)
            first, length = self._first_rows(buffer, depth)
            needed = primitive("add", self.steps, const(depth))
            message = f"state {k} has room for {{0}} values, {{1}} are needed."
            self._require("ge", length, needed, message, [length, needed])
            self.operands.append(first)
            found.append(_State(first, depth, length, taps, variables))
        return found

    def _first_rows(self, buffer: Variable, depth: int) -> tuple[Array, Expr]:
        """The array that holds a state's first values, and the length of its buffer.

        Where the first values are written into empty memory, the memory is left alone.
        """
        whole = self.context.in_memory(buffer)
        owner = buffer.owner
        if owner is not None and isinstance(owner.op, IncSubtensor) and owner.op.set_instead_of_inc:
            base, value = owner.inputs[:2]
            array = self.context.in_memory(value)
            if (
                base.owner is not None
                and isinstance(base.owner.op, AllocEmpty)
                and len(owner.op.idx_list) == 1
                and isinstance(owner.op.idx_list[0], slice)
                and owner.op.idx_list[0].start in (None, 0)
                and value.type.ndim == buffer.type.ndim
                and array.shape[0] is const(depth)
                and all(map(self.context.same_size, array.shape[1:], whole.shape[1:]))
            ):
                return array, whole.shape[0]
        return whole, whole.shape[0]

    # -- the loop --------------------------------------------------------------------------------------------

    def results(self) -> list[Array]:
        self._sequences()
        states = self._states()
        self._constants()
        context, op = self.context, self.op
        node = LoopNode(self.operands, self.guards)
        made = [LoopResult(node, s.first.dtype, (s.length, *s.first.shape[1:])) for s in states]
        for state, result in zip(states, made, strict=True):
            for tap, inner in zip(state.taps, state.inner, strict=True):
                self._row(inner, result, state.depth + tap)
        new = self._lower_step()
        writes: list[tuple[Array, LoopResult, int]] = []
        for k, (state, result) in enumerate(zip(states, made, strict=True)):
            self._require_same_row(new[k], result, f"state {k}")
            writes.append((new[k], result, state.depth))
        for array in new[len(states) : len(states) + op.info.n_nit_sot]:
            result = LoopResult(node, array.dtype, (self.steps, *sizes_outside(self.inner, array)))
            made.append(result)
            writes.append((array, result, 0))
        until = self._until(new[-1]) if op.info.as_while else None
        starts = tuple((r, s.first, s.depth) for s, r in zip(states, made, strict=False))
        count = context.fresh("h")
        node.body = LoopBody(
            self.inner, context.fresh("i"), self.steps, count, tuple(self.reads), starts, tuple(writes), until
        )
        context.add(node)
        node.results = tuple(made)
        for result in made:
            context.add(result)
        if until is None:
            return list(made)
        depths = [s.depth for s in states] + [0] * op.info.n_nit_sot
        return [_leading(r, primitive("add", var(count), const(depth))) for r, depth in zip(made, depths, strict=True)]

    def _lower_step(self) -> list[Array]:
        inner = self.inner
        for variable, place in self.placed:
            array = Source(place.name, place.array.dtype, place.shape) if isinstance(place, Row) else place
            inner.set(variable, split(array) if is_complex(variable) else array)
        lower_all(self.op.inner_inputs, self.op.inner_outputs, inner)
        return [inner.in_memory(v) for v in self.op.inner_outputs]

    def _require_same_row(self, array: Array, result: LoopResult, what: str) -> None:
        for d, (own, wanted) in enumerate(zip(array.shape, result.shape[1:], strict=True)):
            message = f"{self.label}: {what} has size {{1}} in dimension {d}, and its new value has size {{0}}."
            self.inner.require_equal(own, wanted, ValueError, message, self.node)

    def _until(self, array: Array) -> Expr:
        truth = self.inner.add(converted(array, "bool")) if array.dtype != "bool" else array
        return primitive("ne", self.inner.size_from(truth), const(0))


def _leading(array: Array, length: Expr) -> Array:
    """The first rows of an array."""
    return Pointwise(
        array.dtype, (length, *array.shape[1:]), (array,), lambda index, readers: readers[0](index), 0,
        strided=lambda offset, strides: (offset, strides),
    )  # fmt: skip


def sizes_outside(inner: Context, array: Array) -> list[Expr]:
    """The sizes of an array of a loop's body, which must be known before the loop."""
    sizes = [inner.canonical(n) for n in array.shape]
    own = {item.name for item in inner.items if isinstance(item, Definition)}
    own |= {item.body.count for item in inner.items if isinstance(item, LoopNode) and item.body is not None}
    for e in walk(sizes):
        # Buffers of the body are rows (w) or have its prefix.
        if e.op in ("var", "load") and (e.attr in own or str(e.attr).startswith((inner.prefix, "w"))):
            raise Unsupported("a result of a loop whose size depends on values in the loop")
    return sizes
