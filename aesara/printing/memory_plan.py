"""`memory_plan`: the buffers of a call of a compiled function, with their sizes and lifetimes."""

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
    """A buffer of a call.

    Attributes
    ----------
    name
        Its name in the program.
    kind
        ``"workspace"``: a slot of the workspace of the function; ``"late"``: a block allocated during the call, when
        its size is known; ``"result"``: an array that is returned; ``"update"``: the new value of a shared variable;
        ``"python"``: the result of a node that runs in Python.
    dtype
        The dtype of the array.
    shape, size
        Its shape, and its size in bytes, in terms of the inputs; a question mark stands for values that are known only
        at run time.
    first, last
        The first step that writes it and the last step that reads it, numbered as by `explain`. Results and updates
        live until the end.
    slot
        The number of its slot in the workspace.
    before, after
        The buffers that use this slot before and after it.
    updates
        The name of the shared variable whose new value it is.
    in_place
        Whether it overwrites the old value of the shared variable, if there is no other reference to that.
    lent
        Whether the array is kept after the call, and returned again when there is no other reference to it.
    nodes
        The nodes whose value it contains, with their source lines.
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
    """Result of `memory_plan`; it prints as a table.

    Attributes
    ----------
    name
        The function's name.
    buffers
        The buffers in the order of their allocation.
    steps
        The number of steps of a call.
    """

    name: str
    buffers: tuple[PlannedBuffer, ...]
    steps: int
    _program: Program
    _inputs: tuple[tuple[str, Any], ...]  # name; for a shared variable its cell
    _constants: tuple[np.ndarray, ...]
    _example: tuple[Any, ...] | None

    def peak(self, *args: object) -> int:
        """Return the maximum memory of a call in bytes, without arguments, constants and old values of shared
        variables.

        Parameters
        ----------
        *args
            An example of each argument: an array, a number, or any object with a ``shape``.  They may be omitted if
            all shapes are static.  Values are used if sizes depend on them, such as a number of steps.

        Raises
        ------
        ValueError
            If the size of a buffer does not follow from the arguments; the message names the buffer.

        Notes
        -----
        New values of shared variables that are written in place are not counted, nor is temporary memory of nodes
        that run in Python.
        """
        total, unknown = self._count_bytes(self._sizes(args))
        if unknown:
            nodes = "; ".join(f"{b.name}, which holds {', '.join(map(str, b.nodes)) or 'no node'}" for b in unknown[:3])
            more = f"; and {len(unknown) - 3} more" if len(unknown) > 3 else ""
            raise ValueError(
                f"The peak of {self.name} is not known before a call: the examples do not say how large these buffers "
                f"become: {nodes}{more}. Give values for the arguments that sizes depend on; `bytes` says what is "
                "known of the others."
            )
        return total

    def workspace(self, *args: object) -> int:
        """Return the number of bytes of the workspace, which is reused from call to call; for parameters see `peak`.

        Notes
        -----
        The function allocates a quarter more, so that slightly longer arguments fit.
        """
        return self._workspace(self._sizes(args))

    def bytes(self, *args: object) -> dict[str, int | None]:
        """Return the bytes of each buffer by name, None for those known only at run time; for parameters see `peak`."""
        sizes = self._sizes(args)
        return {buffer.name: sizes.bytes(buffer) for buffer in _memory(self._program)}

    def _workspace(self, sizes: CallSizes) -> int:
        sizes_of_slots = [sizes.number(slot.size) for slot in self._program.slots if not slot.late]
        return sum(-(-max(n, 1) // _ALIGNMENT) * _ALIGNMENT for n in sizes_of_slots if n is not None)

    def _count_bytes(self, sizes: CallSizes) -> tuple[int, list[PlannedBuffer]]:
        """Return the bytes of a call, and the buffers of unknown size, which are not counted."""
        bytes_of = {buffer.name: sizes.bytes(buffer) for buffer in _memory(self._program)}
        allocations = self._program.allocations()
        shared: dict[int, list[PlannedBuffer]] = {}  # by slot
        total, unknown = self._workspace(sizes), list[PlannedBuffer]()
        for b in self.buffers:
            if b.kind == "workspace":
                slot = self._program.slots[b.slot or 0]
                unknown += [b] if sizes.number(slot.size) is None else []
            elif b.kind == "late":
                shared.setdefault(allocations[b.name].slot or 0, []).append(b)
            elif not b.in_place:
                total += bytes_of[b.name] or 0
                unknown += [b] if bytes_of[b.name] is None else []
        for slot_number, tenants in shared.items():
            size = sizes.number(self._program.slots[slot_number].size)
            known = [n for n in (bytes_of[b.name] for b in tenants) if n is not None]
            if size is None and len(known) < len(tenants):
                unknown += [b for b in tenants if bytes_of[b.name] is None]
            total += max([*known, size or 0])
        return total, unknown

    @property
    def unknown(self) -> list[str]:
        """Names of the buffers whose size is known only at run time, because it depends on values."""
        return [buffer.name for buffer in self.buffers if buffer.size == "?"]

    def _sizes(self, args: Sequence[Any]) -> CallSizes:
        """Return the sizes that are known before a call."""
        explicit = [name for name, cell in self._inputs if cell is None]
        if not args and self._example is not None:
            args = self._example
        if args and len(args) != len(explicit):
            raise TypeError(
                f"memory_plan of {self.name} takes an example for each of {', '.join(explicit)}, or none at all; "
                f"got {len(args)}."
            )
        examples = iter(args)
        sizes: dict[str, int] = {}
        values = {buffer.name: a for buffer, a in zip(self._program.constants, self._constants, strict=True)}
        for (name, cell), item in zip(self._inputs, self._program.inputs, strict=True):
            example = cell[0] if cell is not None else next(examples, None)
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
        call_sizes = self._sizes(())
        sizes = {buffer.name: call_sizes.bytes(buffer) for buffer in _memory(self._program)}
        total, unknown = self._count_bytes(call_sizes)
        if all(b.size == "?" for b in unknown):
            least = "at least " if unknown else ""
            yield f"peak: {least}{total:,} bytes, of which workspace {self._workspace(call_sizes):,}"
        else:
            least = "at least " if self.unknown else ""
            others = [b.size for b in self.buffers if b.kind != "workspace" and not b.in_place and b.size != "?"]
            slot_sizes = {b.slot: b.size for b in self.buffers if b.kind == "workspace" and b.size != "?"}
            workspace = _sum(slot_sizes.values())
            yield f"peak: {least}{_sum([*slot_sizes.values(), *others])} bytes, of which workspace {workspace}"
        rows = [b._cells() for b in self.buffers]
        rows = [
            (cells[0], cells[1], f"{b.size if sizes[b.name] is None else format(sizes[b.name], ',')} bytes", *cells[2:])
            for b, cells in zip(self.buffers, rows)
        ]
        widths = [max(map(len, column)) for column in zip(*rows)]
        for row in rows:
            yield "  ".join(["", *(cell.ljust(width) for cell, width in zip(row, widths))]).rstrip()


def memory_plan(f: Function, *args: object, file: TextIO | None = None) -> MemoryPlan:
    """Report the memory of a call of a native function: its buffers, their sizes and lifetimes.

    Parameters
    ----------
    f
        The function.
    *args
        An example of each argument, to report bytes instead of expressions: an array, a number, or any object with a
        ``shape``.
    file
        A file to print the plan to; it is returned in any case.

    Returns
    -------
    MemoryPlan
        It prints the peak, and for each buffer its size, the steps in which it is live, its kind or slot, and the
        nodes and source lines whose value it contains.  Nodes without a buffer are kept in registers.

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
    inputs = [(argument.variable, argument.implicit) for argument in arguments]
    names = [input_name(variable, k) for k, variable in enumerate(graph.inputs)]
    nodes = nodes_of_buffers(inputs, graph.outputs, dict(graph.update_mapping or {}))
    cells = [argument.cell if argument.implicit else None for argument in arguments]
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
    """Iterate over the buffers that a program allocates, in order."""
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
    for name, other in allocations.items():
        if other.slot is not None:
            tenants.setdefault(other.slot, []).append(name)
    updated = dict(program.updates)
    for buffer in _memory(program):
        allocation = allocations.get(buffer.name)
        slot = None if allocation is None else allocation.slot
        output = None if allocation is None else allocation.output
        if allocation is None:
            kind = "python"
        elif slot is not None:
            kind = "late" if program.slots[slot].late else "workspace"
        else:
            kind = "update" if output in updated and output >= program.returned else "result"
        sharing = tenants[slot] if slot is not None else [buffer.name]
        position = sharing.index(buffer.name)
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
            before=tuple(sharing[:position]),
            after=tuple(sharing[position + 1 :]),
            updates=None if output not in updated else names[updated[output]],
            in_place=allocation is not None and allocation.reuse is not None,
            lent=output in program.lent,
            nodes=tuple(ExplainedNode(node, None, node.source) for node in nodes.get(buffer.name, ())),
        )


def _lives(program: Program) -> tuple[dict[str, tuple[int, int]], int]:
    """Return the first and last step that access each buffer, and the number of steps."""
    base = program.bases()
    lives: dict[str, tuple[int, int]] = {}
    number = 0
    starting = False  # kernels that write first rows belong to the following loop
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
