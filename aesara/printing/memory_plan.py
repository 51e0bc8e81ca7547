"""`memory_plan`: what memory a call of a compiled function takes, and which buffer lives there from when to when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

import numpy as np

from aesara.compile.function.function import Function
from aesara.graph.nodes import Apply
from aesara.ir.buffers import ITEM_SIZES, Buffer
from aesara.ir.generators import words_of
from aesara.ir.program import Program
from aesara.lower.placement import nodes_of_buffers
from aesara.printing.call_sizes import MOST_ELEMENTS, CallSizes
from aesara.printing.explain import ExplainedNode
from aesara.printing.labels import function_name, input_name, size_text
from aesara.printing.report_pages import plan_page
from aesara.records import dataclass

__all__ = ["MemoryPlan", "PlannedBuffer", "memory_plan"]

_ALIGNMENT = 64


@dataclass(frozen=True, repr=False)
class PlannedBuffer:
    """A piece of memory that a call computes something in.

    Attributes
    ----------
    name
        Its name in the program.
    kind
        ``"workspace"``: a place in the function's workspace; ``"late"``: a block of its own, because its size is
        known only in the course of the call; ``"result"``: an array that is returned; ``"update"``: the new value of
        a shared variable; ``"python"``: the result of a node that runs in Python.
    dtype
        The dtype of the array.
    shape, size
        Its shape, and its size in bytes, in terms of the inputs; a question mark for what only a call can know.
    first, last
        The first step that writes it and the last that reads it, numbered as `explain` does; what is returned or
        kept lives until the end.
    slot
        Number of the place in the workspace.
    before, after
        The buffers that have that place before and after it.
    updates
        The name of the shared variable whose new value it is.
    in_place
        Whether that is written over the old value, as long as nobody else holds it.
    lent
        Whether the array is kept after the call, and returned again as soon as nobody else holds it.
    nodes
        The nodes whose value it holds, with the lines of the program that they come from.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[str, ...]
    size: str
    first: int
    last: int
    slot: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    updates: str | None
    in_place: bool
    lent: bool
    nodes: tuple[ExplainedNode, ...]

    def __repr__(self) -> str:
        return f"PlannedBuffer({self})"

    def __str__(self) -> str:
        return "  ".join(part for part in self._cells() if part)

    def _cells(self) -> tuple[str, ...]:
        array = f"{self.dtype}[{', '.join(self.shape)}]"
        life = f"step {self.first}" if self.first == self.last else f"steps {self.first} to {self.last}"
        return self.name, array, life, self._place(), "; ".join(map(str, self.nodes))

    def _place(self) -> str:
        if self.kind == "workspace":
            return f"slot {self.slot}" + (f" after {self.before[-1]}" if self.before else "")
        if self.kind == "update":
            return f"new value of {self.updates}" + (", in place" if self.in_place else "")
        if self.lent:
            return "returned, lent"
        return {"late": "block of its own", "result": "returned", "python": "made in Python"}[self.kind]


@dataclass(frozen=True, repr=False)
class MemoryPlan:
    """Result of `memory_plan`; printed, it is a table.

    Attributes
    ----------
    name
        The function's name.
    buffers
        The buffers in the order in which they get their memory.
    steps
        How many steps a call has.
    """

    name: str
    buffers: tuple[PlannedBuffer, ...]
    steps: int
    _program: Program
    _inputs: tuple[tuple[str, Any], ...]  # name; for a shared variable its cell
    _constants: tuple[np.ndarray, ...]
    _example: tuple[Any, ...] | None

    def peak(self, *args: Any) -> int:
        """Return the bytes that a call takes at most, besides arguments, constants and old values of shared variables.

        Parameters
        ----------
        *args
            An example for each argument: an array, a number, or anything that has a ``shape``.  Not needed where
            shapes are known when a function is compiled.  Values count where sizes depend on them, as on a number of
            steps.

        Raises
        ------
        ValueError
            If the size of a buffer does not follow from the arguments alone; the error names it.

        Notes
        -----
        New values of shared variables that are written in place count nothing.  What nodes that run in Python take for
        themselves is theirs.
        """
        found, unknown = self._count_bytes(self._sizes(args))
        if unknown:
            nodes = "; ".join(f"{b.name}, which holds {', '.join(map(str, b.nodes)) or 'no node'}" for b in unknown[:3])
            more = f"; and {len(unknown) - 3} more" if len(unknown) > 3 else ""
            raise ValueError(
                f"The peak of {self.name} is not known before a call: the examples do not say how large these buffers "
                f"become: {nodes}{more}. Give values for the arguments that sizes depend on; `bytes` says what is "
                "known of the others."
            )
        return found

    def workspace(self, *args: Any) -> int:
        """Bytes of the workspace, which stays with the function from call to call; the parameters are those of `peak`.

        Notes
        -----
        The function allocates a quarter more, so that slightly longer arguments find room.
        """
        return self._workspace(self._sizes(args))

    def bytes(self, *args: Any) -> dict[str, int | None]:
        """Bytes of each buffer by name, None for what only a call can know; the parameters are those of `peak`."""
        sizes = self._sizes(args)
        return {buffer.name: sizes.bytes(buffer) for buffer in _memory(self._program)}

    def _workspace(self, sizes: CallSizes) -> int:
        found = [sizes.number(slot.size) for slot in self._program.slots if not slot.late]
        return sum(-(-max(n, 1) // _ALIGNMENT) * _ALIGNMENT for n in found if n is not None)

    def _count_bytes(self, sizes: CallSizes) -> tuple[int, list[PlannedBuffer]]:
        """Return the bytes that a call takes, and the buffers that are not counted since their size is not known."""
        own = {buffer.name: sizes.bytes(buffer) for buffer in _memory(self._program)}
        places = self._program.allocations()
        shared: dict[int, list[PlannedBuffer]] = {}  # by their place
        total, unknown = self._workspace(sizes), list[PlannedBuffer]()
        for b in self.buffers:
            if b.kind == "workspace":
                slot = self._program.slots[b.slot or 0]
                unknown += [b] if sizes.number(slot.size) is None else []
            elif b.kind == "late":
                shared.setdefault(places[b.name].slot or 0, []).append(b)
            elif not b.in_place:
                total += own[b.name] or 0
                unknown += [b] if own[b.name] is None else []
        for place, tenants in shared.items():
            size = sizes.number(self._program.slots[place].size)
            known = [n for n in (own[b.name] for b in tenants) if n is not None]
            if size is None and len(known) < len(tenants):
                unknown += [b for b in tenants if own[b.name] is None]
            total += max([*known, size or 0])
        return total, unknown

    @property
    def unknown(self) -> list[str]:
        """Names of the buffers whose size only a call can know, because it depends on values."""
        return [buffer.name for buffer in self.buffers if buffer.size == "?"]

    def _sizes(self, args: Sequence[Any]) -> CallSizes:
        """Return the sizes that are known before a call starts."""
        explicit = [name for name, cell in self._inputs if cell is None]
        if not args and self._example is not None:
            args = self._example
        if args and len(args) != len(explicit):
            raise TypeError(
                f"memory_plan of {self.name} takes an example for each of {', '.join(explicit)}, or none at all; "
                f"got {len(args)}."
            )
        given = iter(args)
        sizes: dict[str, int] = {}
        values = {buffer.name: a for buffer, a in zip(self._program.constants, self._constants, strict=True)}
        for (name, cell), item in zip(self._inputs, self._program.inputs, strict=True):
            example = cell[0] if cell is not None else next(given, None)
            shape: Sequence[int | None] = item.static_shape
            if item.is_generator and cell is not None:
                shape = words_of(cell[0]).shape
            elif example is not None:
                shape = np.shape(example)
            if len(shape) != len(item.static_shape):
                raise TypeError(
                    f"The example for {name} has {len(shape)} dimensions; the input has {len(item.static_shape)}."
                )
            for n, actual in zip(item.buffer.shape, shape):
                if actual is not None and n.op == "var":
                    sizes[n.attr] = actual
            if isinstance(example, (int, float, np.generic, np.ndarray)) and not item.buffer.is_complex:
                values[item.buffer.name] = np.asarray(example)
        dtypes = {
            buffer.name: buffer.dtype
            for buffer in (*self._program.constants, *(i.buffer for i in self._program.inputs))
        }
        small = {name: array.astype(dtypes[name]) for name, array in values.items() if array.size <= MOST_ELEMENTS}
        return CallSizes(self._program, sizes, small)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return plan_page(self)

    def _lines(self) -> Iterator[str]:
        slots = sum(not slot.late for slot in self._program.slots)
        yield f"{self.name}: {_count(len(self.buffers), 'buffer')} in {_count(self.steps, 'step')}, " + (
            f"those in between in {_count(slots, 'place')} of the workspace" if slots else "no workspace"
        )
        found = self._sizes(())
        sizes = {buffer.name: found.bytes(buffer) for buffer in _memory(self._program)}
        total, unknown = self._count_bytes(found)
        if all(b.size == "?" for b in unknown):
            least = "at least " if unknown else ""
            yield f"peak: {least}{total:,} bytes, of which workspace {self._workspace(found):,}"
        else:
            least = "at least " if self.unknown else ""
            kept = [b.size for b in self.buffers if b.kind != "workspace" and not b.in_place and b.size != "?"]
            places = {b.slot: b.size for b in self.buffers if b.kind == "workspace" and b.size != "?"}
            yield f"peak: {least}{_sum([*places.values(), *kept])} bytes, of which workspace {_sum(places.values())}"
        rows = [b._cells() for b in self.buffers]
        rows = [
            (cells[0], cells[1], f"{b.size if sizes[b.name] is None else format(sizes[b.name], ',')} bytes", *cells[2:])
            for b, cells in zip(self.buffers, rows)
        ]
        widths = [max(map(len, column)) for column in zip(*rows)]
        for row in rows:
            yield "  ".join(["", *(cell.ljust(width) for cell, width in zip(row, widths))]).rstrip()


def memory_plan(f: Function, *args: Any, file: TextIO | None = None) -> MemoryPlan:
    """Say what memory a call of a native function takes, and what each piece of it is for.

    Parameters
    ----------
    f
        The function.
    *args
        An example for each argument, to say bytes instead of expressions: an array, a number, or anything that has a
        ``shape``.
    file
        Where to print the plan, besides returning it.

    Returns
    -------
    MemoryPlan
        Printing it shows the peak, and of each buffer its size, the steps in which it lives, its place, and the
        nodes and lines of the program whose value it holds.  Nodes without a buffer are computed on the way, in
        registers.

    Raises
    ------
    ValueError
        If the function is not native code.

    Examples
    --------
    >>> import aesara
    >>> import aesara.tensor as at
    >>> x = at.dmatrix("x")
    >>> f = aesara.function([x], x / x.sum())
    >>> plan = memory_plan(f)
    >>> [(buffer.kind, buffer.size) for buffer in plan.buffers]
    [('workspace', '8'), ('result', '8 * x.shape[0] * x.shape[1]')]
    >>> import numpy as np
    >>> plan.peak(np.ones((100, 10)))
    8064
    """
    if not isinstance(f, Function):
        raise TypeError(f"memory_plan takes a compiled function, got {f!r} of type {type(f).__name__}.")
    if f._native is None:
        reason = "" if f._why_in_python is None else f": {f._why_in_python}"
        raise ValueError(
            f"{function_name(f)} has no memory plan: it is not native code, but {f._backend}{reason}. "
            "`aesara.explain` says what runs how."
        )
    program, (graph, arguments) = f._native.program, f._compiled_graph()
    inputs = [(one.variable, one.implicit) for one in arguments]
    names = [input_name(variable, k) for k, variable in enumerate(graph.inputs)]
    nodes = nodes_of_buffers(inputs, graph.outputs, dict(graph.update_mapping or {}))
    cells = [one.cell if one.implicit else None for one in arguments]
    if args and hasattr(f._native, "arguments_of"):
        args = tuple(f._native.arguments_of(args))
    constants = f._native.report.lowering.constants
    lives, steps = _lives(program)
    buffers = tuple(_plan_buffers(program, lives, steps, nodes, names))
    plan = MemoryPlan(function_name(f), buffers, steps, program, tuple(zip(names, cells)), constants, args or None)
    plan._sizes(args)
    if file is not None:
        file.write(f"{plan}\n")
    return plan


def _memory(program: Program) -> Iterator[Buffer]:
    """The buffers that a program makes, in order."""
    for step in program.all_steps():
        if not step.bases():
            yield from step.makes()


def _plan_buffers(
    program: Program,
    lives: Mapping[str, tuple[int, int]],
    steps: int,
    nodes: Mapping[str, tuple[Apply, ...]],
    names: Sequence[str],
) -> Iterator[PlannedBuffer]:
    allocations = program.allocations()
    tenants: dict[int, list[str]] = {}
    for name, allocation in allocations.items():
        if allocation.slot is not None:
            tenants.setdefault(allocation.slot, []).append(name)
    updated = dict(program.updates)
    for buffer in _memory(program):
        made = allocations.get(buffer.name)
        slot = None if made is None else made.slot
        output = None if made is None else made.output
        if made is None:
            kind = "python"
        elif slot is not None:
            kind = "late" if program.slots[slot].late else "workspace"
        else:
            kind = "update" if output in updated and output >= program.returned else "result"
        others = tenants[slot] if slot is not None else [buffer.name]
        at = others.index(buffer.name)
        first, last = lives.get(buffer.name, (1, 1))
        yield PlannedBuffer(
            name=buffer.name,
            kind=kind,
            dtype=buffer.outer_dtype,
            shape=tuple(size_text(n, names) for n in buffer.outer_shape),
            size=_bytes_text(buffer, names),
            first=first,
            last=last if kind == "workspace" else max(steps, 1),
            slot=slot if kind == "workspace" else None,
            before=tuple(others[:at]),
            after=tuple(others[at + 1 :]),
            updates=None if output not in updated else names[updated[output]],
            in_place=made is not None and made.reuse is not None,
            lent=output in program.lent,
            nodes=tuple(ExplainedNode(node, None, node.source) for node in nodes.get(buffer.name, ())),
        )


def _lives(program: Program) -> tuple[dict[str, tuple[int, int]], int]:
    """For each buffer the first and the last step that touch it, and how many steps there are."""
    base = program.bases()
    lives: dict[str, tuple[int, int]] = {}
    number = 0
    starting = False  # first rows are written by kernels that belong to the loop that follows
    for step in program.steps:
        if step.kind is not None:
            number += not starting
            starting = step.begins_loop
        for inner in step.walk():
            for accesses in inner.accesses():
                name = base.get(accesses, accesses)
                first, _ = lives.get(name, (max(number, 1), 0))
                lives[name] = first, max(number, 1)
    return lives, number


def _bytes_text(buffer: Buffer, names: Sequence[str]) -> str:
    fixed = ITEM_SIZES[buffer.dtype]
    factors = []
    for n in buffer.shape:
        if n.is_const:
            fixed *= n.attr
        else:
            factors.append(size_text(n, names))
    return "?" if "?" in factors else " * ".join([str(fixed), *factors])


def _sum(sizes: Any) -> str:
    """A sum of sizes, equal ones together."""
    fixed = sum(int(size) for size in sizes if size.isdigit())
    counts = Counter(size for size in sizes if not size.isdigit())
    parts = [size if count == 1 else f"{count} * {size}" for size, count in counts.items()]
    return " + ".join([*parts, *([str(fixed)] if fixed or not parts else [])])


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"
