"""What becomes a buffer, what is recomputed where it is read, and which computations share a loop nest.

Fusion lives here and nowhere else.  The steps:

1. *Uses*: from the results and the checks back, how often each array is read.
2. *Storage*: an array is stored if it has to be (results, operands of library calls), or if recomputing it in
   every place that reads it would cost more than a store and a load.
3. *Tracing*: each stored array becomes tasks, loop bodies over an iteration space whose expressions load only
   stored arrays.
4. *Grouping*: tasks over the same space join one nest if what they read of each other is the element of the same
   iteration.  A stored array that is only read inside its own nest then never touches memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from aesara.ir.expr import Expr, cast, const, cost, is_size, linear_offset, load, op, substitute, var, walk
from aesara.ir.kernel import Statement, Store, expressions_of, map_expressions, walk_statements
from aesara.lower.arrays import (
    ONE,
    Alias,
    Array,
    Assembled,
    External,
    Index,
    Interleaved,
    LoopNode,
    LoopResult,
    Pointwise,
    Product,
    PythonNode,
    Reduction,
    Sequential,
    Source,
    Write,
)
from aesara.lower.context import Context, Definition, Guard
from aesara.records import dataclass

__all__ = ["Group", "Schedule", "Task", "schedule"]

#: an expression of more operations than this is stored, which bounds kernels and recursion
_MAX_INLINE = 48
#: up to this weight, recomputing is cheaper than memory traffic
_CHEAP = 3
_CHEAP_SCALAR = 12
_CHEAP_EXPANDED = 5
#: bound on the work in one nest, which bounds LLVM's time
_MAX_GROUP_WEIGHT = 300
_MAX_GROUP_TASKS = 48


@dataclass(eq=False)
class Task:
    """One stored array's share of a loop nest.

    kind ``map``: buffer[offset] = value; ``reduce``: over the loops in `axes`; ``write``: stores to computed places.
    Expressions use the loop variables ``v0``, ``v1``, ... of `domain`.  A `prologue` fills the target before the
    nest starts.
    """

    kind: str
    target: Array
    domain: tuple[Expr, ...]
    value: Expr
    offset: Expr
    axes: tuple[int, ...] = ()
    primitive: str = ""
    identity: Expr | None = None
    accumulate: bool = False
    parallel: bool = True
    prologue: Task | None = None


@dataclass(eq=False)
class Group:
    """Tasks that share one loop nest."""

    domain: tuple[Expr, ...]
    tasks: list[Task] = field(default_factory=list)
    weight: int = 0
    closed: bool = False
    known: set[Expr] = field(default_factory=set)

    def added_weight(self, work: Sequence[Expr]) -> int:
        """What a body of these expressions adds to the work of the nest, which computes equal ones once."""
        return sum(cost(e) for e in work if e not in self.known) + 1


@dataclass(eq=False)
class Accumulation:
    """A product added to an input, such as the old value of a shared variable: result = old + factor * product."""

    result: Array
    old: str
    product: Product
    factor: float


@dataclass(eq=False)
class Recurrence:
    """The kernel of a `Sequential` array."""

    target: Array
    body: tuple[Statement, ...]

    def expressions(self) -> list[Expr]:
        return [e for s in walk_statements(self.body) for e in expressions_of(s)]


@dataclass
class Schedule:
    """Steps in order, and names of arrays.

    A step is a group, a recurrence, a product, an accumulation, a Python node, a guard or a definition.
    """

    steps: list[object]
    prelude: list[Guard]
    names: dict[Array, str]
    definitions: dict[Definition, Expr]
    scales: dict[Product, Expr]


LOOP = tuple(var(f"v{d}") for d in range(64))


class _Scheduler:
    def __init__(self, context: Context, results: Sequence[Array], replaced: dict[Array, str]) -> None:
        self.context = context
        self.replaced = replaced
        self.results = list(results)
        self.items = context.items
        self.uses: dict[Array, list[tuple[object, bool]]] = {}
        self.forced: set[Array] = set()
        self.kept: set[Array] = set()
        self.stored: set[Array] = set()
        self.weight: dict[Array, int] = {}
        self.size: dict[Array, int] = {}
        self.names: dict[Array, str] = {}
        self.memo: dict[tuple[Array, Index], Expr] = {}
        self.requires: dict[Array, frozenset[object]] = {}
        self.steps: list[object] = []
        self.position: dict[object, int] = {}
        self.by_buffer: dict[str, Array] = {}
        self.definition_of: dict[str, object] = {}
        self.definitions: dict[Definition, Expr] = {}
        self.scales: dict[Product, Expr] = {}
        self.ready: dict[Array, int] = {}
        self.groups: dict[tuple[Expr, ...], list[int]] = {}
        self.replaced_buffers = set(replaced.values())
        self.last_read: dict[str, int] = {}

    # -- 1. uses ---------------------------------------------------------------------------------------------

    def find_uses(self) -> None:
        needed: set[object] = set(self.results)
        for array in self.results:
            self.forced.add(array)
        for item in reversed(self.items):
            if isinstance(item, (Guard, Definition)):
                if isinstance(item, Definition):
                    needed.add(item.array)
                    self.uses.setdefault(item.array, []).append((item, False))
                continue
            if isinstance(item, (PythonNode, LoopNode)):
                if self._is_needed(item, needed):
                    needed.add(item)
                    for operand in item.operands:
                        needed.add(operand)
                        self.forced.add(operand)
                        self.uses.setdefault(operand, []).append((item, False))
                continue
            if item not in needed:
                continue
            for operand, expands in item.reads():
                needed.add(operand)
                self.uses.setdefault(operand, []).append((item, expands))
            if isinstance(item, Product):
                self.forced.update(matrix_memory(operand) for operand in (item.left, item.right))
            elif isinstance(item, Alias):
                self.forced.add(item.operand)
        self.needed = needed

    @staticmethod
    def _is_needed(item: PythonNode | LoopNode, needed: set[object]) -> bool:
        """Sizes that a node gives may be asked for where its values are not."""
        if isinstance(item, LoopNode):
            gives_sizes = item.body is not None and item.body.until is not None
        else:
            gives_sizes = any(n.op == "var" for r in item.results for n in r.shape)
        return gives_sizes or any(r in needed for r in item.results)

    # -- 2. storage ------------------------------------------------------------------------------------------

    def _keep_values_to_write(self) -> None:
        """Store what is computed from an old value to be written over it, so that this can be done in its memory."""
        for array, old in self.replaced.items():
            chain = self._chain(array)
            base = chain[-1].base if chain else None
            if not isinstance(base, Source) or base.buffer != old:
                continue
            for operand in (a for piece in chain for write in piece.writes for a in write.operands):
                if isinstance(operand, Pointwise) and self._reads_buffer(operand, old):
                    self.forced.add(operand)
                    self.kept.add(operand)

    def _chain(self, array: Array) -> list[Assembled]:
        """An assembled array, and those before it whose memory it takes over."""
        found: list[Assembled] = []
        while isinstance(array, Assembled):
            found.append(array)
            base = self._taken_over(array)
            if base is None:
                break
            array = base
        return found

    @staticmethod
    def _reads_buffer(array: Array, buffer: str) -> bool:
        stack, seen = [array], {array}
        while stack:
            a = stack.pop()
            if isinstance(a, Source) and a.buffer == buffer:
                return True
            new = [operand for operand, _ in a.reads() if operand not in seen]
            seen.update(new)
            stack.extend(new)
        return False

    def choose_storage(self) -> None:
        self._keep_values_to_write()
        for item in self.items:
            if not isinstance(item, Array) or item not in self.needed:
                continue
            if isinstance(item, Pointwise):
                self._weigh(item)
            elif isinstance(item, Alias):
                self.weight[item], self.size[item] = 1, 1
            else:
                if not isinstance(item, Source):
                    self.stored.add(item)
                self.weight[item], self.size[item] = 1, 1

    def _weigh(self, array: Pointwise) -> None:
        weight = array.cost + sum(self.weight[a] for a in array.operands)
        size = 1 + sum(self.size[a] for a in array.operands)
        uses = self.uses.get(array, [])
        expanded = any(expands for _, expands in uses)
        if array in self.forced or size > _MAX_INLINE or weight > _MAX_GROUP_WEIGHT:
            store = True
        elif array.ndim == 0:
            store = len(uses) > 1 and weight > _CHEAP_SCALAR
        elif expanded:
            store = weight > _CHEAP_EXPANDED
        else:
            store = len(uses) > 1 and weight > _CHEAP
        if not store and weight > _CHEAP_EXPANDED and any(self._is_sequential(user) for user, _ in uses):
            store = True  # its own nest vectorises, a scatter does not
        if store:
            self.stored.add(array)
            weight, size = 1, 1
        self.weight[array], self.size[array] = weight, size

    @staticmethod
    def _is_sequential(user: object) -> bool:
        return isinstance(user, Sequential) or (
            isinstance(user, Assembled) and any(w.accumulate and not w.parallel for w in user.writes)
        )

    # -- 3. tracing ------------------------------------------------------------------------------------------

    def name(self, array: Array) -> str:
        """Buffer that holds a stored array (an alias shares its operand's, a writer that of the base it takes over)."""
        sharing: list[Array] = []
        while array not in self.names:
            if isinstance(array, Source):
                return array.buffer
            if isinstance(array, Alias):
                array = array.operand
            elif (base := self._taken_over(array)) is not None:
                sharing.append(array)
                array = base
            else:
                self.names[array] = f"{self.context.prefix}t{len(self.names)}"
                self.by_buffer[self.names[array]] = array
        found = self.names[array]
        for other in reversed(sharing):
            self.names[other] = found
        return found

    def in_memory(self, array: Array) -> bool:
        return isinstance(array, (Source, Alias)) or array in self.stored

    def shape(self, array: Array) -> tuple[Expr, ...]:
        return tuple(self.context.canonical(n) for n in array.shape)

    def read(self, array: Array, index: Index) -> Expr:
        """The element of an array at an index, in loads of stored arrays."""
        if self.in_memory(array):
            return load(self.name(array), array.dtype, linear_offset(index, self.shape(array)))
        return self.trace(array, index)

    def trace(self, array: Array, index: Index) -> Expr:
        """The rule of an array at an index."""
        key = (array, index)
        found = self.memo.get(key)
        if found is None:
            assert isinstance(array, Pointwise), array
            readers = [lambda i, a=a: self.read(a, tuple(i)) for a in array.operands]
            found = self.memo[key] = array.body(index, readers)
        return found

    def needs(self, array: Array) -> frozenset[object]:
        """Guards that protect reading an array, through everything that is recomputed with it."""
        found = self.requires.get(array)
        if found is None:
            collected = set(array.requires)
            stack = [a for a, _ in array.reads()]
            seen = set(stack)
            while stack:
                a = stack.pop()
                collected.update(a.requires)
                if not self.in_memory(a) or isinstance(a, Alias):
                    for operand, _ in a.reads():
                        if operand not in seen:
                            seen.add(operand)
                            stack.append(operand)
            found = self.requires[array] = frozenset(collected)
        return found

    def canonical(self, roots: Sequence[Expr]) -> list[Expr]:
        """Sizes inside expressions, replaced by their representatives."""
        equal = self.context.canonical
        return substitute(list(roots), lambda e: equal(e) if e.op == "var" and e.attr[0] != "v" else None, {})

    def tasks_of(self, array: Array) -> list[Task]:
        """The loop bodies that compute a stored array."""
        shape = self.shape(array)
        loops = LOOP[: len(shape)]
        if isinstance(array, Pointwise):
            (value,) = self.canonical([self.trace(array, loops)])
            return [Task("map", array, shape, value, linear_offset(loops, shape))]
        if isinstance(array, Reduction):
            return self._reduction_tasks(array)
        if isinstance(array, Interleaved):
            return [self._part_task(array, k, part) for k, part in enumerate((array.real, array.imag))]
        assert isinstance(array, Assembled), array
        tasks = [self._write_task(array, write, shape) for write in array.writes]
        taken = self._taken_over(array)
        if taken is not None:
            self.by_buffer[self.name(array)] = array
            self.ready[array] = self.ready[taken]
        elif array.base is not None:
            (value,) = self.canonical([self.read(array.base, loops)])
            tasks[0].prologue = Task("map", array, shape, value, linear_offset(loops, shape))
        return tasks

    def _taken_over(self, array: Array) -> Array | None:
        """The base in whose memory an array is made, if nobody else reads the base and nobody owns it."""
        base = array.base if isinstance(array, Assembled) else None
        if not isinstance(base, Assembled) or base in self.forced or len(self.uses[base]) != 1:
            return None
        assert isinstance(array, Assembled)
        return None if any(base in w.operands for w in array.writes) else base

    def _reduction_tasks(self, array: Reduction) -> list[Task]:
        domain = self.shape(array.operand)
        loops = LOOP[: len(domain)]
        kept = [d for d in range(len(domain)) if d not in array.axes]
        (value,) = self.canonical([self.read(array.operand, loops)])
        shape = tuple(domain[d] for d in kept)
        offset = linear_offset([loops[d] for d in kept], shape)
        task = Task("reduce", array, domain, value, offset, array.axes, primitive=array.kind, identity=array.identity)
        if not is_trailing_run(array.axes, len(domain)):
            task.prologue = Task("map", array, shape, array.identity, linear_offset(LOOP[: len(shape)], shape))
        return [task]

    def _part_task(self, array: Interleaved, k: int, part: Array) -> Task:
        domain = self.shape(array)[:-1]
        loops = LOOP[: len(domain)]
        (value,) = self.canonical([self.read(part, loops)])
        return Task("map", array, domain, value, linear_offset((*loops, const(k)), self.shape(array)))

    def _write_task(self, array: Assembled, write: Write, shape: tuple[Expr, ...]) -> Task:
        domain = tuple(self.context.canonical(n) for n in write.domain)
        loops = LOOP[: len(domain)]
        readers = [lambda i, a=a: self.read(a, tuple(i)) for a in write.operands]
        place = linear_offset(write.place(loops, readers), shape)
        value, place = self.canonical([write.value(loops, readers), place])
        parallel = write.parallel and bool(domain)
        return Task("write", array, domain, value, place, accumulate=write.accumulate, parallel=parallel)

    # -- 4. grouping -----------------------------------------------------------------------------------------

    def run(self) -> Schedule:
        self.find_uses()
        self.choose_storage()
        prelude = []
        accumulations = self._find_accumulations()
        absorbed = {a.product for a in accumulations.values()}
        late = {a for a in self.replaced if isinstance(a, (Assembled, Pointwise, Interleaved)) and not self.uses.get(a)}
        for array in list(late):
            late.update(self._chain(array))
        # New values of shared variables come last, so that they can be written over the old ones.
        for item in [i for i in self.items if i not in late] + [i for i in self.items if i in late]:
            if isinstance(item, Guard):
                if self._is_prelude(item):
                    prelude.append(item)
                    self.position[item] = -1
                else:
                    self._append(item)
            elif isinstance(item, Definition):
                if item.array in self.needed:
                    self.definition_of[item.name] = item
                    value = cast(self.read(item.array, ()), "int64")
                    (self.definitions[item],) = self.canonical([value])
                    self._append(item)
            elif isinstance(item, PythonNode):
                if item in self.needed:
                    self._append_python(item)
            elif isinstance(item, LoopNode):
                if item in self.needed:
                    self._append_loop(item)
            elif item in accumulations:
                self._append_product(item, accumulations[item])
            elif item in self.stored and item not in absorbed:
                if isinstance(item, Product):
                    self._append_product(item)
                elif isinstance(item, Sequential):
                    self._append_recurrence(item)
                elif not isinstance(item, (External, LoopResult)):
                    for task in self.tasks_of(item):
                        self._place(task)
        return Schedule(self.steps, prelude, self.names, self.definitions, self.scales)

    def _is_prelude(self, guard: Guard) -> bool:
        return all(self._is_early(e) for e in (guard.condition, *guard.values)) and all(
            self.position.get(g, 0) == -1 for g in guard.requires
        )

    @staticmethod
    def _is_early(root: Expr) -> bool:
        return not any(
            (e.op == "var" and e.attr[0] == "h") or (e.op == "load" and e.attr[0] not in "ac") for e in walk([root])
        )

    def dependencies(self, expressions: Sequence[Expr], requires: Iterable[object] = ()) -> int:
        """First position at which everything in the expressions exists."""
        start = 0
        for e in walk(expressions):
            if e.op == "load":
                array = self.by_buffer.get(e.attr)
                if array is not None:
                    start = max(start, self.ready[array] + 1)
            elif e.op == "var" and e.attr[0] == "h":
                start = max(start, self._defined_at(e.attr) + 1)
        for guard in requires:
            start = max(start, self.position[guard] + 1)
        return start

    def _append(self, step: object) -> None:
        self.position[step] = len(self.steps)
        self.steps.append(step)

    def _append_python(self, node: PythonNode) -> None:
        self.position[node] = len(self.steps)
        self.steps.append(node)
        for result in node.results:
            self.stored.add(result)
            self.name(result)
            self.ready[result] = self.position[node]
            for n in result.shape:
                if n.op == "var":
                    self.definition_of[n.attr] = node

    def _append_loop(self, node: LoopNode) -> None:
        assert node.body is not None
        self.position[node] = len(self.steps)
        for result in node.results:
            self.stored.add(result)
            self.name(result)
            self.ready[result] = self.position[node]
        self.definition_of[node.body.count] = node
        for name in self.replaced_buffers.intersection(self.name(a) for a in node.operands):
            self.last_read[name] = len(self.steps) + 1
        self.steps.append(node)

    def _defined_at(self, size: str) -> int:
        """Position of the step that defines a size; -1 if that is outside of this loop."""
        step = self.definition_of.get(size)
        return -1 if step is None else self.position[step]

    def _append_product(self, made: Array, accumulation: Accumulation | None = None) -> None:
        product = made if accumulation is None else accumulation.product
        assert isinstance(product, Product)
        self.name(made)
        self.ready[made] = len(self.steps)
        read = [self.name(matrix_memory(operand)) for operand in (product.left, product.right)]
        if accumulation is not None:
            read.append(accumulation.old)
        if product.scale is not None:
            (scale,) = self.canonical([self.read(product.scale, ())])
            self.scales[product] = scale
            read += [e.attr for e in walk([scale]) if e.op == "load"]
        for name in self.replaced_buffers.intersection(read):
            self.last_read[name] = len(self.steps) + 1
        self.steps.append(product if accumulation is None else accumulation)

    def _append_recurrence(self, array: Sequential) -> None:
        name, shape = self.name(array), self.shape(array)
        readers = [lambda i, a=a: self.read(a, tuple(i)) for a in array.operands]

        def read(index: Index) -> Expr:
            return load(name, array.dtype, linear_offset(index, shape))

        def write(index: Index, value: Expr) -> Store:
            return Store(name, linear_offset(index, shape), value)

        body = array.body(readers, read, write)
        step = Recurrence(array, tuple(map_expressions(s, lambda e: self.canonical([e])[0]) for s in body))
        for e in walk(step.expressions()):
            if e.op == "load" and e.attr in self.replaced_buffers:
                self.last_read[e.attr] = len(self.steps) + 1
        self.ready[array] = len(self.steps)
        self.steps.append(step)

    def _find_accumulations(self) -> dict[Array, Accumulation]:
        """Results of the form old + factor * (a @ b), where nobody else wants the product, and old is an input.

        BLAS adds to the old value of a shared variable in its place, to other inputs in a copy.
        """
        found: dict[Array, Accumulation] = {}
        for result in self.results:
            if not isinstance(result, Pointwise) or result.ndim < 2 or self.uses.get(result):
                continue
            for old in [self.replaced[result]] if result in self.replaced else self._inputs_added(result):
                matched = self._match_accumulation(result, old)
                if matched is not None:
                    found[result] = matched
                    break
        return found

    def _inputs_added(self, result: Pointwise) -> list[str]:
        """Inputs that are terms of a sum with a product: BLAS can add to a copy."""
        if not any(isinstance(a, Product) for term in (result, *result.operands) for a, _ in term.reads()):
            return []
        value = self.trace(result, LOOP[: result.ndim])
        names = {item.buffer.name for item in self.context.inputs}
        return [e.attr for e in value.args if e.op == "load" and e.attr in names]

    def _match_accumulation(self, result: Pointwise, old: str) -> Accumulation | None:
        shape = self.shape(result)
        loops = LOOP[: result.ndim]
        (value,) = self.canonical([self.trace(result, loops)])
        same = linear_offset(loops, shape)
        if value.op not in ("add", "sub") or not any(e.op == "load" and e.attr == old for e in value.args):
            return None
        first, second = value.args
        if value.op == "add" and not (first.op == "load" and first.attr == old):
            first, second = second, first
        factor = 1.0 if value.op == "add" else -1.0
        if second.op == "neg":
            factor, second = -factor, second.args[0]
        if second.op == "mul" and (second.args[0].is_const or second.args[1].is_const):
            constant, second = second.args if second.args[0].is_const else reversed(second.args)
            factor *= constant.attr
        product = self.by_buffer.get(second.attr) if second.op == "load" else None
        if (
            not isinstance(product, Product)
            or product in self.forced
            or len(self.uses[product]) != 1
            or first.args[0] is not same
            or second.args[0] is not same
            or self.shape(product) != shape
            or old in [self.name(matrix_memory(operand)) for operand in (product.left, product.right)]
        ):
            return None
        return Accumulation(result, old, product, factor)

    def _place(self, task: Task) -> None:
        """Put a task into the first group that may run it, or into a new one at the end."""
        array = task.target
        self.name(array)
        placed = self.ready.get(array, -1)
        second_part = task.kind == "map" and placed >= 0  # of an interleaved array; it may share the nest of the first
        first = max(placed, 0) if task.kind == "map" else placed + 1
        same = linear_offset(LOOP[: len(task.domain)], task.domain)
        strict = [task.offset] if task.kind == "write" else []
        if task.prologue is not None:
            strict += [*task.prologue.domain, task.prologue.value]
        start = max(first, self.dependencies([*task.domain, *self.shape(array), *strict], self.needs(array)))
        joint: list[Array] = []
        for e in walk([task.value]):
            if e.op == "var" and e.attr[0] == "h":
                start = max(start, self._defined_at(e.attr) + 1)
            elif e.op == "load":
                source = self.by_buffer.get(e.attr)
                if source is None:
                    continue
                # the element of this very iteration can be taken from the register of the nest that makes it
                taken = e.args[0] is same and source is not array and source not in self.kept
                if taken and self._is_mapped(source, task.domain):
                    start = max(start, self.ready[source])
                    joint.append(source)
                else:
                    start = max(start, self.ready[source] + 1)
        old = self.replaced.get(array)
        if old is not None and not second_part:
            start = max(start, self.last_read.get(old, 0))
        for e in walk([task.value, *strict]):
            if e.op == "load" and e.attr in self.replaced_buffers:
                self.last_read[e.attr] = len(self.steps)
        work = list(walk([task.value]))
        group_at = self._find_group(task, start, work, joint)
        if group_at is None:
            group_at = len(self.steps)
            self.steps.append(Group(task.domain))
            self.groups.setdefault(task.domain, []).append(group_at)
        group = self.steps[group_at]
        assert isinstance(group, Group)
        group.tasks.append(task)
        group.weight += group.added_weight(work)
        group.known.update(work)
        if task.kind == "write" and not task.parallel:
            group.closed = True
        self.ready[array] = max(self.ready.get(array, -1), group_at)

    def _is_mapped(self, source: Array, domain: tuple[Expr, ...]) -> bool:
        """Whether the source is made by one plain map over this space."""
        at = self.ready[source]
        group = self.steps[at]
        if not isinstance(group, Group) or group.domain != domain:
            return False
        mine = [t for t in group.tasks if t.target is source]
        return len(mine) == 1 and mine[0].kind == "map"

    def _find_group(self, task: Task, start: int, work: Sequence[Expr], joint: list[Array]) -> int | None:
        for at in self.groups.get(task.domain, ()):
            if at < start:
                continue
            group = self.steps[at]
            assert isinstance(group, Group)
            sequential = task.kind == "write" and not task.parallel
            if group.tasks and group.closed != sequential:
                continue
            if any(self.ready[source] == at for source in joint) and sequential:
                continue
            if len(group.tasks) >= _MAX_GROUP_TASKS or group.weight + group.added_weight(work) > _MAX_GROUP_WEIGHT:
                continue
            if task.kind == "write" and any(t.kind == "write" and t.target is task.target for t in group.tasks):
                continue
            return at
        return None


def is_trailing_run(axes: Sequence[int], rank: int) -> bool:
    """Whether the reduced axes are exactly the last ones, so that a register can accumulate."""
    return tuple(sorted(axes)) == tuple(range(rank - len(axes), rank))


def matrix_memory(operand: Array) -> Array:
    """What must be in memory so that a matrix product can read the operand: what it is a view of, or itself."""
    base, _, strides = strided_view(operand, lambda array: array.shape)
    own = row_major_strides(base.shape)
    return base if ONE in strides[-2:] and all(s in own or is_size(s) for s in strides) else operand


def row_major_strides(shape: Sequence[Expr]) -> tuple[Expr, ...]:
    """How far apart, in elements, neighbours along each dimension are."""
    strides: list[Expr] = []
    step = const(1)
    for n in reversed(shape):
        strides.insert(0, step)
        step = op("mul", step, n)
    return tuple(strides)


def strided_view(array: Array, shape: Callable[[Array], tuple[Expr, ...]]) -> tuple[Array, Expr, tuple[Expr, ...]]:
    """The memory behind an array, with the offset and the strides (in elements) to read it in place."""
    chain = []
    while isinstance(array, Pointwise) and array.strided is not None:
        chain.append(array)
        array = array.operands[0]
    offset: Expr = const(0)
    view = row_major_strides(shape(array))
    for link in reversed(chain):
        assert link.strided is not None
        offset, view = link.strided(offset, view)
    return array, offset, view


def schedule(context: Context, results: Sequence[Array], replaced: dict[Array, str]) -> Schedule:
    """Decide storage and loop nests for everything that the results and checks need.

    `replaced` names, for results that are new values of shared variables, the buffer of the old value.
    """
    return _Scheduler(context, results, replaced).run()
