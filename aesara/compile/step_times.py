"""Run times of a native function, per step and divided among the nodes that a step computes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.lower.placement import PlacedStep, Placement, nodes_of_buffers, place_nodes
from aesara.records import dataclass


@dataclass(frozen=True)
class StepTime:
    """One step of a native function.

    Attributes
    ----------
    kind
        ``"nest"``: one nest of loops; ``"product"``: a product of matrices; ``"routine"``: a call of a
        library; ``"loop"``: steps that are repeated; ``"python"``: a call of Python.
    seconds
        The time that it has taken in all calls.
    calls
        How often it has run; a side of a choice counts also where the other one was chosen.
    nodes
        The nodes that it computes; none if it only copies a result.
    bytes
        The memory that it read or wrote when it last ran: the sizes of its operands and results.
    """

    kind: str
    seconds: float
    calls: int
    nodes: tuple[Apply, ...]
    bytes: int = 0


class NativeTimes:
    """The timers of a native function, and which nodes they belong to.

    Parameters
    ----------
    graph
        Returns the function's graph; called when somebody asks for nodes.
    implicit
        Of each input, whether it is implicit.
    native
        The native callable, which has ``timers``.
    """

    def __init__(self, graph: Callable[[], FunctionGraph], implicit: Sequence[bool], native: Any) -> None:
        self._graph = graph
        self._implicit = implicit
        self.timers = native.timers
        self._native = weakref.ref(native)

    @cached_property
    def fgraph(self) -> FunctionGraph:
        """The function's graph."""
        return self._graph()

    @cached_property
    def _arguments(self) -> tuple[list[tuple[Variable, bool]], Sequence[Variable], dict[int, int]]:
        """Arguments of the lowering: inputs (each with whether it is implicit), outputs, and updates."""
        graph = self.fgraph
        return list(zip(graph.inputs, self._implicit)), graph.outputs, dict(graph.update_mapping or {})

    @cached_property
    def _placement(self) -> Placement:
        return place_nodes(*self._arguments)

    @property
    def python_nodes(self) -> Collection[Apply]:
        """The nodes that run in Python."""
        return self._placement.reasons

    @property
    def workspace(self) -> int | None:
        """Bytes of the memory that the function keeps for intermediate results; None after the function is gone."""
        native = self._native()
        return None if native is None else native.workspace_bytes

    def steps(self) -> list[StepTime]:
        """Measurements so far, in the order in which the steps run."""
        timers = self.timers
        if timers is None:
            return []
        by_name, products = self._nodes_of_steps()
        others = {kind: iter(nodes) for kind, nodes in products.items()}
        found = []
        measured = zip(timers.kinds, timers.names, timers.seconds(), timers.counts(), timers.bytes_of_steps())
        for kind, name, seconds, calls, size in measured:
            # What a loop needs before its first step, and the like, has the name of the step with a letter.
            nodes = by_name.get(name, ()) if name else next(others.get(kind, iter(())), ())
            found.append(StepTime(kind, seconds, calls, nodes, size))
        return found

    def nodes(self) -> dict[Apply, tuple[float, int]]:
        """Seconds and calls of each node; nodes of one step share its time in equal parts."""
        found: dict[Apply, tuple[float, int]] = {}
        for step in self.steps():
            for node in step.nodes:
                seconds, calls = found.get(node, (0.0, 0))
                found[node] = seconds + step.seconds / len(step.nodes), max(calls, step.calls)
        return found

    def bytes_of_nodes(self) -> dict[Apply, int]:
        """Bytes of the results of nodes that were stored in the last call; others exist element by element only."""
        sizes = {} if self.timers is None else self.timers.bytes_of_buffers()
        found: dict[Apply, int] = {}
        if any(sizes.values()):
            for name, nodes in nodes_of_buffers(*self._arguments).items():
                for node in nodes if name in sizes else ():
                    found[node] = found.get(node, 0) + sizes[name]
        return found

    def _nodes_of_steps(self) -> tuple[dict[str, tuple[Apply, ...]], dict[str, list[tuple[Apply, ...]]]]:
        """The nodes of steps by the names of their kernels, and of what has none, in order, for each kind."""
        by_name: dict[str, tuple[Apply, ...]] = {}
        others: dict[str, list[tuple[Apply, ...]]] = {}
        for step in self._placement.steps:
            nodes = tuple(self._nodes_in(step))
            by_name[step.kernel] = nodes
            if step.kind != "nest":
                others.setdefault(step.kind, []).append(nodes)
        return by_name, others

    def _nodes_in(self, step: PlacedStep) -> Iterator[Apply]:
        """The nodes of the function's graph that a step computes; the sides of choices are steps within a step."""
        yield from (node for node in step.nodes if node in self.fgraph.apply_nodes)
        for inner in step.steps:
            yield from self._nodes_in(inner)
