"""Loop nests: kernels for tasks over one iteration space.

Reductions over trailing axes accumulate in registers, others in the memory of the result, with the innermost loop along
contiguous memory.  A nest that accesses elements in storage order is collapsed to one loop.  Long sums of floats are
computed in blocks: rounding errors are bounded as in pairwise summation, and each block vectorizes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from aesara.ir.expr import Expr, const, cost, load, op, substitute, var, walk
from aesara.ir.independence import is_distinct_offset, mark_parallel
from aesara.ir.kernel import Assign, Declare, For, Statement, Store, expressions_of, map_expressions
from aesara.ir.lanes import accumulations
from aesara.ir.steps import Launch
from aesara.lower.arrays import ONE, ZERO, Array, Task, is_trailing_run
from aesara.lower.iteration_space import LOOP, own_element
from aesara.lower.kernels import launch_of
from aesara.records import dataclass

__all__ = ["BLOCK", "Launched", "Rows", "build_launch"]

#: length of the blocks of long sums, and the number of elements of a block that each lane accumulates
BLOCK, _CHAIN = 1024, 32
#: accumulating loops with less work than this per element are interleaved
_LIGHT = 24
_INTERLEAVE = 4
#: length of the blocks in which extrema of all elements are found
_LONG_BLOCK = 1 << 14
#: bytes of the lanes of an accumulation; `_INTERLEAVE` times as many in loops with less work than the second
_LANE_BYTES, _BARE = 64, 12
#: operations with long latency
_LONG = frozenset({"pow", "asinh", "acosh", "atanh"})


@dataclass
class _Nest:
    """The tasks of one nest after fusion, collapsed to `domain`."""

    domain: tuple[Expr, ...]
    tasks: list[Task]
    values: dict[Task, Expr]
    offsets: dict[Task, Expr]
    axes: dict[Task, tuple[int, ...]]
    #: the loops along which a write goes to distinct positions, and those of which this holds whatever the others are
    distinct: dict[Task, frozenset[int]]
    separate: dict[Task, frozenset[int]]


@dataclass(frozen=True)
class Rows:
    """Strip-mining of the outermost loop of a nest.

    Attributes
    ----------
    number
        The variable with the number of the strip.
    elements
        The number of innermost iterations of a strip, which has at least one of the outermost loop.
    parts
        The buffers that hold only the elements that this strip reads.
    """

    number: str
    elements: int
    parts: frozenset[str]


@dataclass(frozen=True)
class Launched:
    """A launch, the trip count of the outermost loop, that of a strip (`rows`), and the iterations in each row."""

    launch: Launch
    length: Expr
    rows: Expr
    width: Expr


def build_launch(
    domain: tuple[Expr, ...],
    tasks: Sequence[Task],
    name: str,
    buffer_of: Callable[[Array], str],
    elided: set[Array],
    aliased: set[str],
    rows: Rows | None = None,
) -> Launched:
    """Build the launch of tasks over one iteration space.

    `elided` are results that live in registers only; `aliased` are buffers that may share memory with an input that is
    read at the same offsets.  With `rows`, the launch is for one strip.
    """
    body: tuple[Statement, ...] = ()
    for task in tasks:
        if task.prologue is not None:
            fill = _collapse(_fuse(task.prologue.domain, [task.prologue], buffer_of, set()))
            body += _Builder(fill, buffer_of).loops(0)
    nest = _fuse(domain, tasks, buffer_of, elided)
    nest = _collapse(_drop_single_iterations(nest) if rows is None else nest)
    body += _Builder(nest, buffer_of).loops(0)
    length, width = (nest.domain[0], _product(nest.domain[1:])) if nest.domain else (const(1), const(1))
    part = length
    if rows is not None:
        part = op("maximum", op("intdiv", const(rows.elements), width), const(1))
        body = _strip(body, rows, part)
    return Launched(launch_of(name, body, aliased), length, part, width)


def _strip(body: tuple[Statement, ...], rows: Rows, count: Expr) -> tuple[Statement, ...]:
    """Restrict the outermost loop to the iterations of one strip."""
    (loop,) = body
    assert isinstance(loop, For)
    first, index = var(rows.number) * count, var(loop.var)

    def change(e: Expr) -> Expr | None:
        if e.op == "load" and e.attr in rows.parts:
            return e
        return first + index if e is index else None

    memo: dict[Expr, Expr] = {}
    inside = tuple(map_expressions(s, lambda e: substitute([e], change, memo)[0]) for s in loop.body)
    return (dataclasses.replace(loop, extent=op("minimum", count, loop.extent - first), body=inside),)


def _fuse(
    domain: tuple[Expr, ...], tasks_in_order: Sequence[Task], buffer_of: Callable[[Array], str], elided: set[Array]
) -> _Nest:
    """Forward values that the nest stores to its loads of them."""
    same = own_element(domain)
    stored: dict[str, Expr] = {}

    def forward(e: Expr) -> Expr | None:
        if e.op == "load" and e.args[0] is same:
            return stored.get(e.attr)
        return None

    values: dict[Task, Expr] = {}
    tasks = []
    memo: dict[Expr, Expr] = {}
    for task in tasks_in_order:
        (values[task],) = substitute([task.value], forward, memo)
        if task.kind == "map" and task.offset is same:
            stored[buffer_of(task.target)] = values[task]
            memo.clear()
            if task.target in elided:
                continue
        tasks.append(task)
    offsets, axes = {t: t.offset for t in tasks}, {t: t.axes for t in tasks}
    distinct, separate = {t: t.distinct for t in tasks}, {t: t.separate for t in tasks}
    return _Nest(domain, tasks, values, offsets, axes, distinct, separate)


def _drop_single_iterations(nest: _Nest) -> _Nest:
    """Remove loops of one iteration that are not reduced, so that the innermost loop is a long one."""
    reduced_axes = {axis for task in nest.tasks for axis in nest.axes[task]}
    kept = [d for d, n in enumerate(nest.domain) if n is not ONE or d in reduced_axes]
    if len(kept) == len(nest.domain) or not kept:
        return nest
    index_of = {LOOP[d]: ZERO for d in range(len(nest.domain))} | {LOOP[d]: LOOP[k] for k, d in enumerate(kept)}
    axes = {task: tuple(kept.index(d) for d in nest.axes[task]) for task in nest.tasks}
    result = _reindex(nest, index_of.get, tuple(nest.domain[d] for d in kept), axes)

    def renumber(axes_of: dict[Task, frozenset[int]]) -> dict[Task, frozenset[int]]:
        return {t: frozenset(k for k, d in enumerate(kept) if d in axes_of[t]) for t in nest.tasks}

    return dataclasses.replace(result, distinct=renumber(nest.distinct), separate=renumber(nest.separate))


def _collapse(nest: _Nest) -> _Nest:
    """Collapse a nest to one loop if accesses are in storage order or invariant, or to none for one element."""
    rank = len(nest.domain)
    if rank == 1 and nest.domain[0] is ONE and all(t.kind == "map" for t in nest.tasks):
        return _reindex(nest, lambda e: ZERO if e is LOOP[0] else None, (), dict.fromkeys(nest.tasks, ()))
    if rank < 2:
        return nest
    loops = LOOP[:rank]
    same = own_element(nest.domain)
    for task in nest.tasks:
        if (task.kind == "reduce" and len(task.axes) < rank) or task.kind == "write":
            return nest
    flat_index = var("flat")  # a temporary variable: the loop variable occurs in the old expressions
    axes: dict[Task, tuple[int, ...]] = {t: (0,) if t.kind == "reduce" else () for t in nest.tasks}
    flat = _reindex(nest, lambda e: flat_index if e is same else None, (_product(nest.domain),), axes)
    offsets = (flat.offsets[t] for t in flat.tasks if t.kind == "map")
    if any(e.op == "var" and e in loops for e in walk([*flat.values.values(), *offsets])):
        return nest
    return _reindex(flat, lambda e: LOOP[0] if e is flat_index else None, flat.domain, axes)


def _reindex(
    nest: _Nest, change: Callable[[Expr], Expr | None], domain: tuple[Expr, ...], axes: dict[Task, tuple[int, ...]]
) -> _Nest:
    """Rewrite the expressions of a nest for another domain, with the given axes of reductions.

    Nothing is known of distinct positions of writes there.
    """
    mapped = substitute([*(nest.values[t] for t in nest.tasks), *(nest.offsets[t] for t in nest.tasks)], change, {})
    values = dict(zip(nest.tasks, mapped[: len(nest.tasks)], strict=True))
    offsets = dict(zip(nest.tasks, mapped[len(nest.tasks) :], strict=True))
    nothing: dict[Task, frozenset[int]] = dict.fromkeys(nest.tasks, frozenset())
    return _Nest(domain, nest.tasks, values, offsets, axes, nothing, nothing)


def _product(sizes: Sequence[Expr]) -> Expr:
    total: Expr = const(1)
    for n in sizes:
        total = total * n
    return total


class _Builder:
    def __init__(self, nest: _Nest, buffer_of: Callable[[Array], str]) -> None:
        self.nest, self.buffer_of = nest, buffer_of
        self.rank = len(nest.domain)
        self.register: dict[Task, str] = {}
        #: depth at which the accumulator of a task is initialized and stored
        self.level: dict[Task, int] = {}
        for k, task in enumerate(nest.tasks):
            if task.kind == "reduce":
                self.register[task] = f"r{k}"
                self.level[task] = _first_of_trailing_run(nest.axes[task], self.rank)

    def loops(self, depth: int) -> tuple[Statement, ...]:
        """Return the statements from the loop at `depth` inwards."""
        before: list[Statement] = []
        after: list[Statement] = []
        for task in self.nest.tasks:
            if self.level.get(task) == depth:
                before += self._open(task)
                after += self._close(task)
        if depth == self.rank:
            return (*before, *self._leaf(), *after)
        inner = self.loops(depth + 1)
        extent = self.nest.domain[depth]
        if depth < self.rank - 1:
            return (*before, For(f"v{depth}", extent, inner, independent=depth == 0 and self._has_own_rows()), *after)
        if not _accumulates_floats(inner):
            if self.rank == 1 and _finds_extrema(inner) and not (extent.is_const and extent.attr <= _LONG_BLOCK):
                return (*before, *self._accumulate_in_blocks(depth, extent, inner, (), _LONG_BLOCK), *after)
            loop = mark_parallel(For(f"v{depth}", extent, inner))
            if loop.parallel:
                loop = dataclasses.replace(loop, interleave=_interleave(inner))
            return (*before, loop, *after)
        lanes = _lanes(inner)
        size = min(BLOCK, _CHAIN * max(lanes, default=1))
        if not (extent.is_const and extent.attr <= size):
            return (*before, *self._accumulate_in_blocks(depth, extent, inner, lanes, size), *after)
        lanes = tuple(n for n in lanes if n <= extent.attr)
        return (*before, mark_parallel(For(f"v{depth}", extent, inner, lanes=lanes)), *after)

    def _has_own_rows(self) -> bool:
        """Return whether each iteration of the outermost loop writes to elements of its own."""
        return all(
            0 in self.nest.separate[task] if task.kind == "write" else 0 not in self.nest.axes[task]
            for task in self.nest.tasks
        )

    # -- innermost statements ----------------------------------------------------------------------------------

    def _leaf(self) -> list[Statement]:
        # Stores come last: this iteration must read the old values that an update in place overwrites.
        statements: list[Statement] = []
        stores: list[Statement] = []
        for task in self.nest.tasks:
            value, buffer = self.nest.values[task], self.buffer_of(task.target)
            offset = self.nest.offsets[task]
            if task.kind == "map":
                stores.append(Store(buffer, offset, value))
            elif task.kind == "write":
                if task.accumulate:
                    value = load(buffer, value.dtype, offset) + value
                stores.append(Store(buffer, offset, value, self._is_distinct(task)))
            else:
                register = var(self.register[task], value.dtype)
                if self.level[task] < self.rank:
                    combined = op(task.primitive, register, value)
                    statements.append(Assign(self.register[task], combined, reassociate=True))
                else:
                    statements.append(Assign(self.register[task], value))
        return statements + stores

    def _is_distinct(self, task: Task) -> bool:
        """Return whether the innermost loop writes to distinct positions that the offset alone does not prove."""
        last = self.rank - 1
        return last in self.nest.distinct[task] and not is_distinct_offset(self.nest.offsets[task], f"v{last}")

    def _open(self, task: Task) -> list[Statement]:
        name = self.register[task]
        assert task.identity is not None
        return [Declare(name, task.identity)]

    def _close(self, task: Task) -> list[Statement]:
        buffer, offset = self.buffer_of(task.target), self.nest.offsets[task]
        value = var(self.register[task], self.nest.values[task].dtype)
        if not is_trailing_run(self.nest.axes[task], self.rank):
            value = op(task.primitive, load(buffer, value.dtype, offset), value)
        return [Store(buffer, offset, value)]

    # -- sums in blocks ----------------------------------------------------------------------------------------

    def _accumulate_in_blocks(
        self,
        depth: int,
        extent: Expr,
        body: tuple[Statement, ...],
        lanes: tuple[int, ...],
        block_size: int,
    ) -> tuple[Statement, ...]:
        """Build ``for each block: part = sum(block); total += part``."""
        index, size = var(f"v{depth}"), const(block_size)
        start = var("vb") * size
        element = start + var("vi")
        partial: dict[str, str] = {}
        for s in body:
            if isinstance(s, Assign) and s.reassociate:
                partial[s.name] = f"{s.name}b"

        def change(e: Expr) -> Expr | None:
            if e is index:
                return element
            if e.op == "var" and e.attr in partial:
                return var(partial[e.attr], e.dtype)
            return None

        memo: dict[Expr, Expr] = {}

        def rename(name: str) -> str:
            return partial.get(name, name)

        inner = tuple(map_expressions(s, lambda e: substitute([e], change, memo)[0], rename) for s in body)
        identities = {self.register[t]: t for t in self.nest.tasks if t in self.register}
        initial: list[Statement] = []
        outer: list[Statement] = []
        combine: list[Statement] = []
        final: list[Statement] = []
        for name, part in partial.items():
            task = identities[name]
            assert task.identity is not None
            dtype = task.identity.dtype
            initial.append(Declare(part, task.identity))
            total, block = var(name, dtype), var(part, dtype)
            if task.primitive == "add" and dtype.startswith("float"):
                outer.append(Declare(f"{name}c", const(0, dtype)))
                combine += _compensated_sum(name, total, block, var(f"{name}c", dtype))
                final.append(Assign(name, total + var(f"{name}c", dtype)))
            else:
                combine.append(Assign(name, op(task.primitive, total, block)))
        blocks = (extent + (block_size - 1)) // size
        length = op("minimum", size, extent - start)
        loop = mark_parallel(For("vi", length, inner, lanes=lanes))
        if loop.parallel and not lanes:
            loop = dataclasses.replace(loop, interleave=_interleave(inner))
        return (*outer, For("vb", blocks, (*initial, loop, *combine), independent=depth == 0), *final)


def _interleave(body: tuple[Statement, ...]) -> int:
    """Return the interleave count of an innermost loop, which hides the latency of its operations."""
    if any(isinstance(s, Assign) for s in body) and _work(body) < _LIGHT:
        return _INTERLEAVE
    return 2 if any(e.op in _LONG for s in body for e in walk(expressions_of(s))) else 1


def _work(body: tuple[Statement, ...]) -> int:
    """Return the cost of an iteration."""
    return sum(map(cost, walk([e for s in body for e in expressions_of(s)])))


def _accumulates_floats(body: tuple[Statement, ...]) -> bool:
    """Return whether a loop accumulates floats, so that the order matters."""
    return any(
        isinstance(s, Assign) and s.reassociate and s.value.op in ("add", "mul") and s.value.dtype.startswith("float")
        for s in body
    )


def _finds_extrema(body: tuple[Statement, ...]) -> bool:
    """Return whether a loop accumulates floats in any order, as extrema are.

    Loops over integers, such as those that check indices, are not worth the compile time of blocks.
    """
    accumulators = accumulations(body) or {}
    return bool(accumulators) and all(s.value.dtype.startswith("float") for s in accumulators.values())


def _lanes(body: tuple[Statement, ...]) -> tuple[int, ...]:
    """Return the numbers of lanes for accumulations: one full vector, and several in loops with little work.

    Remainders of these run with a single vector.  A loop with other mutable scalars has no lanes.
    """
    accumulators = accumulations(body)
    if not accumulators:
        return ()
    size = max(4, *(int(s.value.dtype.lstrip("float")) // 8 for s in accumulators.values() if s.value.dtype[0] == "f"))
    single = _LANE_BYTES // size
    return (_INTERLEAVE * single, single) if _work(body) < _BARE else (single,)


def _compensated_sum(name: str, total: Expr, block: Expr, error: Expr) -> list[Statement]:
    """Return ``total += block`` with rounding errors accumulated separately.

    TwoSum: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B.  If the sum is infinite or NaN
    its error is NaN, and dropped.
    """
    result = total + block
    rounded = result - total
    difference = total - (result - rounded) + (block - rounded)
    difference = op("select", op("isnan", difference), const(0, total.dtype), difference)
    return [Assign(f"{name}c", error + difference), Assign(name, result)]


def _first_of_trailing_run(axes: tuple[int, ...], rank: int) -> int:
    """Return the depth of the first trailing reduced axis (`rank` if the last axis is kept)."""
    first = rank
    while first - 1 in axes:
        first -= 1
    return first
