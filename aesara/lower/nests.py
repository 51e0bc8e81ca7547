"""Loop nests: a group of tasks over one iteration space becomes a kernel.

Reductions over the last axes accumulate in registers; over others, in the result's memory, with the innermost loop
still along memory.  A nest that only touches elements in storage order collapses to one loop.  Long sums of floats
are taken in blocks, which bounds the rounding error as pairwise summation does while the block itself vectorises.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from aesara.ir.expr import Expr, const, cost, load, op, substitute, var, walk
from aesara.ir.independence import is_distinct_offset, mark_parallel
from aesara.ir.kernel import Assign, Declare, For, Statement, Store, expressions_of, map_expressions
from aesara.ir.lanes import accumulations
from aesara.ir.steps import Launch
from aesara.lower.arrays import ONE, ZERO, Array, is_trailing_run
from aesara.lower.kernels import launch_of
from aesara.lower.tasks import LOOP, Task, own_element
from aesara.records import dataclass

__all__ = ["BLOCK", "Launched", "Rows", "build_launch"]

#: length of the blocks of long sums, and how many numbers of a block are added up one after the other
BLOCK, _CHAIN = 1024, 32
#: loops that accumulate and do less work than this per element take several vectors at once
_LIGHT = 24
_INTERLEAVE = 4
#: bytes of the partial results of an accumulation; `_INTERLEAVE` times as many in loops that do less than this
_LANE_BYTES, _BARE = 64, 12
_LONG = frozenset({"pow", "asinh", "acosh", "atanh"})


@dataclass
class _Nest:
    """The tasks of one nest after fusion, collapsed to `domain`."""

    domain: tuple[Expr, ...]
    tasks: list[Task]
    values: dict[Task, Expr]
    offsets: dict[Task, Expr]
    axes: dict[Task, tuple[int, ...]]
    #: the loops along which a task that writes goes to different places
    distinct: dict[Task, frozenset[int]]


@dataclass(frozen=True)
class Rows:
    """How a nest is cut along its outermost loop.

    Attributes
    ----------
    number
        The variable that has the number of the part.
    elements
        So many iterations a part has, at least one of the outermost loop.
    parts
        The buffers that hold only what this part reads, element by element.
    """

    number: str
    elements: int
    parts: frozenset[str]


@dataclass(frozen=True)
class Launched:
    """A launch; how long the outermost loop is, how much of that a part has, and how many iterations a round has."""

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
    """The kernel of tasks over one iteration space, and the arguments to launch it with.

    `elided` are the arrays made here that live in registers only; `aliased` the buffers that may share memory
    with an input read at the same offsets.  With `rows`, for one part.
    """
    body: tuple[Statement, ...] = ()
    for task in tasks:
        if task.prologue is not None:
            fill = _collapse(_fuse(task.prologue.domain, [task.prologue], buffer_of, set()))
            body += _Builder(fill, buffer_of).loops(0)
    nest = _fuse(domain, tasks, buffer_of, elided)
    nest = _collapse(_without_ones(nest) if rows is None else nest)
    body += _Builder(nest, buffer_of).loops(0)
    length, width = (nest.domain[0], _product(nest.domain[1:])) if nest.domain else (const(1), const(1))
    part = length
    if rows is not None:
        part = op("maximum", op("intdiv", const(rows.elements), width), const(1))
        body = _part(body, rows, part)
    return Launched(launch_of(name, body, aliased), length, part, width)


def _part(body: tuple[Statement, ...], rows: Rows, count: Expr) -> tuple[Statement, ...]:
    """Some rounds of the loop that is all of a nest."""
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
    domain: tuple[Expr, ...], given: Sequence[Task], buffer_of: Callable[[Array], str], elided: set[Array]
) -> _Nest:
    """Substitute loads of what the nest itself computes by the computed value."""
    same = own_element(domain)
    made: dict[str, Expr] = {}

    def forward(e: Expr) -> Expr | None:
        if e.op == "load" and e.args[0] is same:
            return made.get(e.attr)
        return None

    values: dict[Task, Expr] = {}
    tasks = []
    memo: dict[Expr, Expr] = {}
    for task in given:
        (values[task],) = substitute([task.value], forward, memo)
        if task.kind == "map" and task.offset is same:
            made[buffer_of(task.target)] = values[task]
            memo.clear()
            if task.target in elided:
                continue
        tasks.append(task)
    offsets, axes = {t: t.offset for t in tasks}, {t: t.axes for t in tasks}
    return _Nest(domain, tasks, values, offsets, axes, {t: t.distinct for t in tasks})


def _without_ones(nest: _Nest) -> _Nest:
    """Without the loops of one round over which nothing is reduced: the innermost loop of those left is long."""
    reduced = {axis for task in nest.tasks for axis in nest.axes[task]}
    left = [d for d, n in enumerate(nest.domain) if n is not ONE or d in reduced]
    if len(left) == len(nest.domain) or not left:
        return nest
    place_of = {LOOP[d]: ZERO for d in range(len(nest.domain))} | {LOOP[d]: LOOP[k] for k, d in enumerate(left)}
    axes = {task: tuple(left.index(d) for d in nest.axes[task]) for task in nest.tasks}
    distinct = {t: frozenset(k for k, d in enumerate(left) if d in nest.distinct[t]) for t in nest.tasks}
    moved = _moved(nest, place_of.get, tuple(nest.domain[d] for d in left), axes)
    return dataclasses.replace(moved, distinct=distinct)


def _collapse(nest: _Nest) -> _Nest:
    """One loop instead of several, if every access follows storage order or does not move at all; none for one
    element."""
    rank = len(nest.domain)
    if rank == 1 and nest.domain[0] is ONE and all(t.kind == "map" for t in nest.tasks):
        return _moved(nest, lambda e: ZERO if e is LOOP[0] else None, (), dict.fromkeys(nest.tasks, ()))
    if rank < 2:
        return nest
    loops = LOOP[:rank]
    same = own_element(nest.domain)
    for task in nest.tasks:
        if (task.kind == "reduce" and len(task.axes) < rank) or task.kind == "write":
            return nest
    place = var("flat")  # no variable of the loops, one of which the place becomes
    axes: dict[Task, tuple[int, ...]] = {t: (0,) if t.kind == "reduce" else () for t in nest.tasks}
    flat = _moved(nest, lambda e: place if e is same else None, (_product(nest.domain),), axes)
    places = (flat.offsets[t] for t in flat.tasks if t.kind == "map")
    if any(e.op == "var" and e in loops for e in walk([*flat.values.values(), *places])):
        return nest
    return _moved(flat, lambda e: LOOP[0] if e is place else None, flat.domain, axes)


def _moved(
    nest: _Nest, change: Callable[[Expr], Expr | None], domain: tuple[Expr, ...], axes: dict[Task, tuple[int, ...]]
) -> _Nest:
    """The nest over another domain: what its expressions become there, and over which axes its reductions run.

    Of places that tasks write to nothing is known there.
    """
    moved = substitute([*(nest.values[t] for t in nest.tasks), *(nest.offsets[t] for t in nest.tasks)], change, {})
    values = dict(zip(nest.tasks, moved[: len(nest.tasks)], strict=True))
    offsets = dict(zip(nest.tasks, moved[len(nest.tasks) :], strict=True))
    return _Nest(domain, nest.tasks, values, offsets, axes, dict.fromkeys(nest.tasks, frozenset()))


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
        #: depth at which a task's accumulator starts and ends
        self.level: dict[Task, int] = {}
        for k, task in enumerate(nest.tasks):
            if task.kind == "reduce":
                self.register[task] = f"r{k}"
                self.level[task] = _first_of_trailing_run(nest.axes[task], self.rank)

    def loops(self, depth: int) -> tuple[Statement, ...]:
        """The statements from the loop at `depth` inwards."""
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
            return (*before, For(f"v{depth}", extent, inner), *after)
        if not _accumulates_floats(inner):
            loop = mark_parallel(For(f"v{depth}", extent, inner))
            if loop.parallel:
                loop = dataclasses.replace(loop, interleave=_interleave(inner))
            return (*before, loop, *after)
        lanes = _lanes(inner)
        size = min(BLOCK, _CHAIN * max(lanes, default=1))
        if not (extent.is_const and extent.attr <= size):
            return (*before, *self._blocked(depth, extent, inner, lanes, size), *after)
        lanes = tuple(n for n in lanes if n <= extent.attr)
        return (*before, mark_parallel(For(f"v{depth}", extent, inner, lanes=lanes)), *after)

    # -- innermost statements ----------------------------------------------------------------------------------

    def _leaf(self) -> list[Statement]:
        # Stores come last: an update in place must not be seen by what reads the old value in this iteration.
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
        """Return whether iterations of the innermost loop write to different places, which the offset does not show."""
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

    def _blocked(
        self,
        depth: int,
        extent: Expr,
        body: tuple[Statement, ...],
        lanes: tuple[int, ...],
        block_size: int,
    ) -> tuple[Statement, ...]:
        """for each block: part = sum of the block; total += part."""
        index, size = var(f"v{depth}"), const(block_size)
        start = var("vb") * size
        moved = start + var("vi")
        partial: dict[str, str] = {}
        for s in body:
            if isinstance(s, Assign) and s.reassociate:
                partial[s.name] = f"{s.name}b"

        def change(e: Expr) -> Expr | None:
            if e is index:
                return moved
            if e.op == "var" and e.attr in partial:
                return var(partial[e.attr], e.dtype)
            return None

        memo: dict[Expr, Expr] = {}

        def rename(name: str) -> str:
            return partial.get(name, name)

        inner = tuple(map_expressions(s, lambda e: substitute([e], change, memo)[0], rename) for s in body)
        identities = {self.register[t]: t for t in self.nest.tasks if t in self.register}
        opened: list[Statement] = []
        outer: list[Statement] = []
        added: list[Statement] = []
        last: list[Statement] = []
        for name, part in partial.items():
            task = identities[name]
            assert task.identity is not None
            dtype = task.identity.dtype
            opened.append(Declare(part, task.identity))
            total, block = var(name, dtype), var(part, dtype)
            if task.primitive == "add" and dtype.startswith("float"):
                outer.append(Declare(f"{name}c", const(0, dtype)))
                added += _compensated(name, total, block, var(f"{name}c", dtype))
                last.append(Assign(name, total + var(f"{name}c", dtype)))
            else:
                added.append(Assign(name, op(task.primitive, total, block)))
        blocks = (extent + (block_size - 1)) // size
        length = op("minimum", size, extent - start)
        loop = mark_parallel(For("vi", length, inner, lanes=lanes))
        return (*outer, For("vb", blocks, (*opened, loop, *added)), *last)


def _interleave(body: tuple[Statement, ...]) -> int:
    """How many vectors at once an innermost loop should take, to hide the latency of what it does."""
    if any(isinstance(s, Assign) for s in body) and _work(body) < _LIGHT:
        return _INTERLEAVE
    return 2 if any(e.op in _LONG for s in body for e in walk(expressions_of(s))) else 1


def _work(body: tuple[Statement, ...]) -> int:
    """The cost of an iteration."""
    return sum(map(cost, walk([e for s in body for e in expressions_of(s)])))


def _accumulates_floats(body: tuple[Statement, ...]) -> bool:
    """Whether the order matters in which a loop accumulates."""
    return any(
        isinstance(s, Assign) and s.reassociate and s.value.op in ("add", "mul") and s.value.dtype.startswith("float")
        for s in body
    )


def _lanes(body: tuple[Statement, ...]) -> tuple[int, ...]:
    """How many partial results accumulations have: full vectors of any processor, and several of them in bare loops.

    What is left over in bare loops goes through single vectors.  A loop that has other mutable scalars has none.
    """
    found = accumulations(body)
    if not found:
        return ()
    size = max(4, *(int(s.value.dtype.lstrip("float")) // 8 for s in found.values() if s.value.dtype[0] == "f"))
    single = _LANE_BYTES // size
    return (_INTERLEAVE * single, single) if _work(body) < _BARE else (single,)


def _compensated(name: str, total: Expr, block: Expr, lost: Expr) -> list[Statement]:
    """total += block, with what the rounding loses kept apart.

    TwoSum: Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B.  Where the sum is infinite or
    NaN the difference is NaN and is dropped.
    """
    together = total + block
    shown = together - total
    rest = total - (together - shown) + (block - shown)
    error = op("select", op("isnan", rest), const(0, total.dtype), rest)
    return [Assign(f"{name}c", lost + error), Assign(name, together)]


def _first_of_trailing_run(axes: tuple[int, ...], rank: int) -> int:
    """Depth of the loop where the reduced axes at the end begin (`rank` if the last axis is kept)."""
    first = rank
    while first - 1 in axes:
        first -= 1
    return first
