"""From a scheduled graph to a `Program`: kernels, memory plan, order of steps."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, const, linear_offset, load, op, var, walk
from aesara.ir.kernel import For, Store
from aesara.ir.program import (
    BATCH,
    ITEM_SIZES,
    Allocate,
    Buffer,
    Check,
    Define,
    Loop,
    MatMul,
    Operand,
    Program,
    PythonCall,
    Slot,
    Step,
    View,
)
from aesara.lower.arrays import (
    ONE,
    ZERO,
    Alias,
    Array,
    Assembled,
    External,
    Interleaved,
    LoopBody,
    LoopNode,
    LoopResult,
    Pointwise,
    Product,
    PythonNode,
    Reduction,
    Sequential,
    Source,
)
from aesara.lower.context import Context, Definition, ErrorInfo, Guard
from aesara.lower.nests import build_launch, launch_of
from aesara.lower.schedule import (
    Accumulation,
    Group,
    Recurrence,
    Schedule,
    matrix_memory,
    row_major_strides,
    schedule,
    strided_view,
)
from aesara.records import dataclass

__all__ = ["Lowered", "assemble", "own_memory", "planned", "planned_body"]


@dataclass(frozen=True)
class Lowered:
    """A program, and what it needs at run time that is not code."""

    program: Program
    constants: tuple[np.ndarray, ...]
    errors: tuple[ErrorInfo, ...]
    python_nodes: tuple[tuple[Apply, tuple[Variable, ...]], ...]
    reasons: dict[Apply, str]


def assemble(
    context: Context, outputs: Sequence[Variable], updates: dict[int, int], returned: int, unpack_single: bool
) -> Lowered:
    """The program that computes `outputs` from the context's inputs."""
    results, plan = planned(context, outputs, updates)
    program = _Assembler(context, plan, results, _Slots(), updates).program(returned, unpack_single)
    return Lowered(
        program,
        tuple(data for _, data in context.constants),
        tuple(context.errors),
        tuple(context.python_nodes),
        dict(context.reasons),
    )


def planned(context: Context, outputs: Sequence[Variable], updates: dict[int, int]) -> tuple[list[Array], Schedule]:
    """The arrays of the results, each in memory of its own, and the schedule that computes them."""
    results = own_memory(context, [context.in_memory(v) for v in outputs], set(updates))
    replaced = {results[k]: context.inputs[number].buffer.name for k, number in updates.items()}
    return results, schedule(context, results, replaced)


def planned_body(body: LoopBody) -> tuple[list[Array], Schedule]:
    """The same for the body of a loop; what is written in the place of what the step before has written replaces it."""
    results = own_memory(body.context, [array for array, _, _ in body.writes], set(range(len(body.writes))))
    replaced = {
        array: row.name
        for array, (_, result, first) in zip(results, body.writes, strict=True)
        for row in body.reads
        if first is None and row.array is result
    }
    return results, schedule(body.context, results, replaced)


def own_memory(context: Context, arrays: Sequence[Array], replacing: set[int]) -> list[Array]:
    """Give every result an array of its own: inputs, constants, views and repeated results are copied.

    A view of what is computed here stays one, unless it is among those `replacing` something: the memory that the
    result gets is where its elements are computed.
    """
    taken: set[Array] = set()
    own = []
    for k, array in enumerate(arrays):
        if k not in replacing:
            array = _as_alias(array, context)
        memory = array if k in replacing else _computed_memory(array)
        if memory in taken or memory is None or isinstance(memory, (Source, Alias, External)):
            copied = Pointwise(array.dtype, array.shape, (array,), lambda index, readers: readers[0](index), cost=0)
            copied.is_complex = array.is_complex
            array = memory = context.add(copied)
        taken.add(memory)
        own.append(array)
    return own


def _as_alias(array: Array, context: Context) -> Array:
    """A view that has all elements of what is computed as a whole in the same order, as an alias of that."""
    if not isinstance(array, Pointwise) or array.strided is None:
        return array
    base, offset, strides = strided_view(array, lambda a: a.shape)
    own = row_major_strides(array.shape)
    in_order = offset is ZERO and all(n is ONE or a is b for n, a, b in zip(array.shape, strides, own, strict=True))
    all_of_it = _count(base.shape) is _count(array.shape)
    if isinstance(base, (Pointwise, Source)) or not (in_order and all_of_it):
        return array
    return context.add(Alias(base, array.shape))


def _computed_memory(array: Array) -> Array | None:
    """The array that has the memory of a result; None if that cannot be made in the shape of the result.

    It is made before anything is computed, so the shape, and the checks that it has as many elements, come first.
    """
    memory = array
    while isinstance(memory, Alias):
        if not _is_early(memory.shape) or not all(map(_comes_first, memory.requires)):
            return None
        memory = memory.operand
    computed = isinstance(memory, (Pointwise, Reduction, Sequential, Assembled, Product))
    return memory if memory is array or (computed and memory.is_complex == array.is_complex) else None


def _comes_first(guard: object) -> bool:
    """Whether a check needs nothing that the program computes."""
    return (
        isinstance(guard, Guard)
        and _is_early((guard.condition, *guard.values))
        and all(map(_comes_first, guard.requires))
    )


class _Assembler:
    def __init__(
        self, context: Context, plan: Schedule, results: list[Array], slots: _Slots, updates: dict[int, int],
        rows: dict[Array, tuple[str, Expr]] | None = None,
    ) -> None:  # fmt: skip
        self.context, self.plan, self.results = context, plan, results
        self.slots, self.updates = slots, updates
        self.rows = rows or {}
        self.result_of = {array: k for k, array in enumerate(results)}
        self.array_of = {name: array for array, name in plan.names.items()}
        for array in results:
            self.array_of[self.buffer_name(array)] = array
        self.results_memory = {self.buffer_name(array) for array in results}
        self.readers: dict[str, set[int]] = {}
        self.writers: dict[str, list[int]] = {}
        self.same_offset_only: dict[str, bool] = {}

    def buffer_name(self, array: Array) -> str:
        while isinstance(array, Alias):
            array = array.operand
        return array.buffer if isinstance(array, Source) else self.plan.names[array]

    def shape(self, array: Array) -> tuple[Expr, ...]:
        return tuple(self.context.canonical(n) for n in array.shape)

    # -- who touches what ------------------------------------------------------------------------------------

    def find_accesses(self) -> None:
        for at, step in enumerate(self.plan.steps):
            if isinstance(step, Group):
                same = linear_offset([var(f"v{d}") for d in range(len(step.domain))], step.domain)
                for task in step.tasks:
                    made_at = self.writers.setdefault(self.buffer_name(task.target), [])
                    if at not in made_at[-1:]:
                        made_at.append(at)
                    for e in walk([task.value, task.offset, *task.domain]):
                        if e.op == "load":
                            self._read(e.attr, at, e.args[0] is same)
                    if task.prologue is not None:
                        for e in walk([task.prologue.value]):
                            if e.op == "load":
                                self._read(e.attr, at, False)
            elif isinstance(step, Recurrence):
                self.writers.setdefault(self.buffer_name(step.target), []).append(at)
                for e in walk(step.expressions()):
                    if e.op == "load":
                        self._read(e.attr, at, False)
            elif isinstance(step, (Product, Accumulation)):
                product = step if isinstance(step, Product) else step.product
                made = step if isinstance(step, Product) else step.result
                self.writers.setdefault(self.buffer_name(made), []).append(at)
                for operand in (product.left, product.right):
                    self._read(self.buffer_name(matrix_memory(operand)), at, False)
                if product.scale is not None:
                    for e in walk([self.plan.scales[product]]):
                        if e.op == "load":
                            self._read(e.attr, at, False)
                if isinstance(step, Accumulation):
                    self._read(step.old, at, True)
            elif isinstance(step, (PythonNode, LoopNode)):
                for result in step.results:
                    self.writers.setdefault(self.buffer_name(result), []).append(at)
                for operand in step.operands:
                    self._read(self.buffer_name(operand), at, False)
            elif isinstance(step, Definition):
                for e in walk([self._definition_value(step)]):
                    if e.op == "load":
                        self._read(e.attr, at, False)
            elif isinstance(step, Guard):
                for e in walk([step.condition, *step.values]):
                    if e.op == "load":
                        self._read(e.attr, at, False)

    def _read(self, buffer: str, at: int, same: bool) -> None:
        self.readers.setdefault(buffer, set()).add(at)
        if not same:
            self.same_offset_only[buffer] = False

    def _definition_value(self, definition: Definition) -> Expr:
        return self.plan.definitions[definition]

    # -- the program -----------------------------------------------------------------------------------------

    def program(self, returned: int, unpack_single: bool) -> Program:
        steps = self.steps()
        return Program(
            inputs=tuple(self.context.inputs),
            constants=tuple(buffer for buffer, _ in self.context.constants),
            slots=tuple(self.slots.slots),
            steps=tuple(steps),
            outputs=tuple(self.buffer_name(a) for a in self.results),
            updates=tuple(sorted(self.updates.items())),
            returned=returned,
            unpack_single=unpack_single,
        )

    def steps(self) -> list[Step]:
        """Checks, allocations and computations in order."""
        self.find_accesses()
        elided = self._elided()
        in_place = self._in_place()
        steps: list[Step] = [Check(g.condition, g.error, g.values) for g in self.plan.prelude]
        alive_until = {name: max([*self.readers.get(name, ()), *at]) for name, at in self.writers.items()}
        allocated: set[str] = set()
        first_in_place = min([self.writers[name][0] for name in in_place], default=-1)
        for at, step in enumerate(self.plan.steps):
            made = list(self._made_by(step))
            if at == first_in_place:
                # Nothing may fail once a shared value is overwritten, so all results get their memory now.
                made += [a for a in self.results if _is_early(self.shape(a))]
            for array in made:
                name = self.buffer_name(array)
                if array in elided or name in allocated or isinstance(array, External):
                    continue
                allocated.add(name)
                steps.append(self._allocate(name, in_place))
            steps.extend(self._step(at, step, elided, in_place))
            for name, last in alive_until.items():
                if last == at:
                    self.slots.release(name)
        return steps

    @staticmethod
    def _made_by(step: object) -> Iterator[Array]:
        if isinstance(step, Group):
            for task in step.tasks:
                yield task.target
        elif isinstance(step, Product):
            yield step
        elif isinstance(step, Recurrence):
            yield step.target
        elif isinstance(step, LoopNode):
            yield from step.results
        elif isinstance(step, Accumulation):
            yield step.result

    def _elided(self) -> set[Array]:
        """Arrays that only their own nest reads, element by element: they need no memory."""
        found = set()
        for at, step in enumerate(self.plan.steps):
            if not isinstance(step, Group):
                continue
            for task in step.tasks:
                name = self.buffer_name(task.target)
                if (
                    task.kind == "map"
                    and name not in self.results_memory
                    and self.writers[name] == [at]
                    and self.readers.get(name, set()) <= {at}
                    and self.same_offset_only.get(name, True)
                ):
                    found.add(task.target)
        return found

    def _in_place(self) -> dict[str, int]:
        """Updates that may be written over the value they replace: buffer -> number of the input.

        The value must be read last, and only at the element being written, by the nest that writes; and nothing
        that can fail may come after, which includes finding memory of a size that is known only then.
        """
        last_failure = max(
            [at for at, s in enumerate(self.plan.steps) if isinstance(s, (Guard, PythonNode, LoopNode))], default=-1
        )
        last_memory = max(
            [at[0] for name, at in self.writers.items() if not _is_early(self.shape(self.array_of[name]))], default=-1
        )
        found: dict[str, int] = {}
        for k, number in self.updates.items():
            array, source = self.results[k], self.context.inputs[number].buffer
            name = self.buffer_name(array)
            at = self.writers[name][0]
            step = self.plan.steps[at]
            if (
                self.context.inputs[number].implicit
                and at > last_failure
                and at >= last_memory
                and self._overwrites(array, source.name, at)
            ):
                found[name] = number
            elif (
                self.context.inputs[number].implicit
                and len(self.writers[name]) == 1
                and at > last_failure
                and at >= last_memory
                and isinstance(step, (Group, Accumulation))
                and isinstance(array, (Pointwise, Interleaved))
                and array.dtype == source.dtype
                and self.shape(array) == tuple(self.context.canonical(n) for n in source.shape)
                and all(reader <= at for reader in self.readers.get(source.name, ()))
                and (at not in self.readers.get(source.name, ()) or self._reads_in_step(source.name, at, name))
            ):
                found[name] = number
        return found

    def _overwrites(self, array: Array, old: str, first: int) -> bool:
        """Whether an array is an old value with pieces written over, which nobody reads once the writing has begun."""
        if not isinstance(array, Assembled) or any(reader > first for reader in self.readers.get(old, ())):
            return False
        steps = [self.plan.steps[at] for at in self.writers[self.buffer_name(array)]]
        groups = [step for step in steps if isinstance(step, Group)]
        name = self.buffer_name(array)
        starts = [t.prologue for g in groups for t in g.tasks if t.prologue and self.buffer_name(t.target) == name]
        if len(groups) < len(steps) or len(starts) != 1:
            return False
        (start,) = starts
        value, begin = start.value, self.plan.steps[first]
        if value.op != "load" or value.attr != old or value.args[0] is not start.offset or not isinstance(begin, Group):
            return False
        others = [e for t in begin.tasks for e in (t.value, t.offset)]
        others += [t.prologue.value for t in begin.tasks if t.prologue is not None and t.prologue is not start]
        return not any(e.op == "load" and e.attr == old for e in walk(others))

    def _reads_in_step(self, buffer: str, at: int, written: str) -> bool:
        """Whether the nest reads the buffer only at the element of the current iteration."""
        step = self.plan.steps[at]
        if isinstance(step, Accumulation):
            return True  # the operands are other buffers
        assert isinstance(step, Group)
        own = _own_offsets(step.domain, isinstance(self.array_of[written], Interleaved))
        elsewhere = [task.prologue.value for task in step.tasks if task.prologue is not None]
        return all(
            e.args[0] in own
            for task in step.tasks
            for e in walk([task.value, task.offset])
            if e.op == "load" and e.attr == buffer
        ) and not any(e.op == "load" and e.attr == buffer for e in walk(elsewhere))

    def _allocate(self, name: str, in_place: dict[str, int]) -> Allocate | View:
        array = self.array_of[name]
        if array in self.rows:
            return View(Buffer(name, array.dtype, self.shape(array)), *self.rows[array])
        buffer = Buffer(name, array.dtype, self.shape(array), array.is_complex)
        k = self.result_of.get(array)
        if k is not None:
            step = self.plan.steps[self.writers[name][0]]
            initial = None
            if isinstance(step, Accumulation):
                (initial,) = (n for n, item in enumerate(self.context.inputs) if item.buffer.name == step.old)
            elif isinstance(array, Assembled) and name in in_place:
                initial = self.updates[k]
            return Allocate(buffer, output=k, reuse=in_place.get(name), initial=initial)
        return Allocate(buffer, slot=self.slots.take(buffer))

    def _step(self, at: int, step: object, elided: set[Array], in_place: dict[str, int]) -> Iterator[Step]:
        if isinstance(step, Group):
            aliased: set[str] = set()
            for task in step.tasks:
                name = self.buffer_name(task.target)
                if name in in_place and not isinstance(task.target, Assembled):
                    aliased |= {name, self.context.inputs[in_place[name]].buffer.name}
            launch = build_launch(self._begun(step, in_place), f"k{at}", self.buffer_name, elided, aliased)
            if launch.kernel.body:
                yield launch
        elif isinstance(step, Recurrence):
            yield launch_of(f"k{at}", step.body)
        elif isinstance(step, Product):
            yield self._product(step, step)
        elif isinstance(step, Accumulation):
            product = self._product(step.product, step.result)
            yield dataclasses.replace(product, alpha=_scaled(product.alpha, step.factor, product.dtype), beta=1.0)
        elif isinstance(step, PythonNode):
            operands = tuple(Buffer(self.buffer_name(a), a.dtype, self.shape(a), a.is_complex) for a in step.operands)
            results = tuple(Buffer(self.buffer_name(a), a.dtype, a.shape, a.is_complex) for a in step.results)
            yield PythonCall(step.index, operands, results)
        elif isinstance(step, LoopNode):
            yield from self._loop(step, f"k{at}")
        elif isinstance(step, Definition):
            yield Define(step.name, self._definition_value(step))
        else:
            assert isinstance(step, Guard)
            yield Check(step.condition, step.error, step.values)

    def _begun(self, group: Group, in_place: dict[str, int]) -> Group:
        """The group without copies of old values into the memory that holds them already."""
        tasks = [
            dataclasses.replace(task, prologue=None)
            if isinstance(task.target, Assembled) and self.buffer_name(task.target) in in_place
            else task
            for task in group.tasks
        ]
        return dataclasses.replace(group, tasks=tasks)

    def _loop(self, node: LoopNode, name: str) -> Iterator[Step]:
        """First rows, then the loop; its body reads and writes rows in place."""
        body = node.body
        assert body is not None
        number = var(body.var)

        def offset(array: Array, first: int) -> Expr:
            length, *rest = self.shape(array)
            row = op("add", number, const(first))
            if isinstance(array, LoopResult) and array.is_ring:
                row = op("mod", row, length)
            return op("mul", row, _count(rest))

        for result, operand, rows in body.starts:
            value = load(self.buffer_name(operand), operand.dtype, var("v0"))
            shape = self.shape(result)
            length = _count(shape) if rows is None else op("mul", self.context.canonical(rows), _count(shape[1:]))
            copy = Store(self.buffer_name(result), var("v0"), value)
            yield launch_of(f"{name}s", (For("v0", length, (copy,), parallel=True),))
        views = [
            View(
                Buffer(row.name, row.array.dtype, tuple(map(self.context.canonical, row.shape))),
                self.buffer_name(row.array),
                ZERO if row.first is None else offset(row.array, row.first),
            )
            for row in body.reads
        ]
        results, plan = planned_body(body)
        places = {
            array: (self.buffer_name(result), ZERO if first is None else offset(result, first))
            for array, (_, result, first) in zip(results, body.writes, strict=True)
        }
        steps = _Assembler(body.context, plan, results, self.slots, {}, places).steps()
        yield Loop(body.var, self.context.canonical(body.extent), (*views, *steps), body.count, body.until)

    def _product(self, product: Product, target: Array) -> MatMul:
        *lead, rows, columns = self.shape(product)
        inner = self.context.canonical(product.left.shape[-1])
        left, right = self._operand(product.left, lead), self._operand(product.right, lead)
        offset = op("mul", BATCH, op("mul", rows, columns)) if lead else ZERO
        out = Operand(self.buffer_name(target), offset, columns, const(1))
        count = _count(lead) if lead else None
        alpha: float | Expr = 1.0
        if product.scale is not None:
            scale = self.plan.scales[product]
            alpha = scale.attr if scale.is_const else scale
        return MatMul(product.dtype, rows, inner, columns, left, right, out, alpha, batch=count)

    def _operand(self, array: Array, lead: Sequence[Expr]) -> Operand:
        """Where the matrix for product number `BATCH` of the leading dimensions starts, and its strides."""
        memory = matrix_memory(array)
        if memory is array:
            base, offset, strides = array, ZERO, row_major_strides(self.shape(array))
        else:
            base, offset, strides = strided_view(array, self.shape)
        moved = op("add", offset, _batch_offset(lead, self.shape(array)[:-2], strides[:-2]))
        return Operand(self.buffer_name(base), moved, *strides[-2:])


def _scaled(alpha: Expr | float, factor: float, dtype: str) -> Expr | float:
    """The factor of a product, times another."""
    if isinstance(alpha, float):
        return alpha * factor
    return alpha if factor == 1.0 else op("mul", const(factor, dtype), alpha)


def _count(shape: Sequence[Expr]) -> Expr:
    """How many elements an array of this shape has."""
    return functools.reduce(lambda a, b: op("mul", a, b), shape, ONE)


def _batch_offset(lead: Sequence[Expr], own: Sequence[Expr], strides: Sequence[Expr]) -> Expr:
    """Offset of matrix number `BATCH` in row-major order over the dimensions `lead`; sizes of 1 are broadcast."""
    steps = [ZERO if n is ONE else step for n, step in zip(own, strides, strict=True)]
    if all(step is op("mul", inner, n) for step, inner, n in zip(steps, steps[1:], lead[1:])):
        return op("mul", BATCH, steps[-1]) if steps else ZERO
    total: Expr = ZERO
    rest: Expr = BATCH
    for d in reversed(range(len(lead))):
        index = op("mod", rest, lead[d]) if d else rest
        total = op("add", total, op("mul", index, steps[d]))
        rest = op("intdiv", rest, lead[d])
    return total


def _own_offsets(domain: Sequence[Expr], is_complex: bool) -> tuple[Expr, ...]:
    """Where the current iteration over `domain` keeps its element, or both parts of it."""
    loops = [var(f"v{d}") for d in range(len(domain))]
    if not is_complex:
        return (linear_offset(loops, domain),)
    return tuple(linear_offset((*loops, const(k)), (*domain, const(2))) for k in (0, 1))


def _is_early(shape: Sequence[Expr]) -> bool:
    """Whether all sizes are known before the program starts."""
    return not any(e.op == "load" or (e.op == "var" and e.attr[0] == "h") for e in walk(shape))


class _Slots:
    """Places in the workspace; a freed one is taken again by a buffer of the same size."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.free: list[int] = []
        self.taken: dict[str, int] = {}

    def take(self, buffer: Buffer) -> int:
        size: Expr = const(ITEM_SIZES[buffer.dtype])
        for n in buffer.shape:
            size = op("mul", size, n)
        for k in self.free:
            if self.slots[k].size is size:
                self.free.remove(k)
                self.taken[buffer.name] = k
                return k
        late = not _is_early([size])
        self.slots.append(Slot(size, late))
        self.taken[buffer.name] = len(self.slots) - 1
        return len(self.slots) - 1

    def release(self, name: str) -> None:
        k = self.taken.pop(name, None)
        if k is not None and not self.slots[k].late:
            self.free.append(k)
