"""A topological order that is kept up to date while edges are added.

Nodes carry labels that grow along every edge. When a new edge runs against the labels, only the nodes whose
labels lie between its ends are searched and relabelled (the algorithm of Pearce and Kelly, "A dynamic
topological sort algorithm for directed acyclic graphs", 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import pairwise
from typing import Any, Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)


class CycleError(Exception):
    """An edge would close a cycle."""


class IncrementalOrder(Generic[Node]):
    """Labels for nodes of a graph that is described by two functions.

    Parameters
    ----------
    successors, predecessors
        Return the ends and the origins of a node's edges.
    nodes
        The nodes, in topological order.

    Examples
    --------
    >>> edges = {"a": ["b"], "b": [], "c": ["a"]}
    >>> def before(node):
    ...     return [origin for origin, ends in edges.items() if node in ends]
    >>> order = IncrementalOrder(edges.get, before, ["a", "b", "c"])
    >>> order.add_edge("c", "a")
    >>> sorted(edges, key=order.label)
    ['c', 'a', 'b']
    """

    def __init__(
        self,
        successors: Callable[[Node], Iterable[Node]],
        predecessors: Callable[[Node], Iterable[Node]],
        nodes: Iterable[Node],
    ):
        self._successors = successors
        self._predecessors = predecessors
        self._labels: dict[Node, float] = {node: float(label) for label, node in enumerate(nodes)}

    def __contains__(self, node: Node) -> bool:
        return node in self._labels

    def label(self, node: Node) -> float:
        """Return the label of a node."""
        return self._labels[node]

    def discard(self, node: Node) -> None:
        """Forget a node."""
        self._labels.pop(node, None)

    def insert(self, node: Node, before: Iterable[Node], after: Iterable[Node]) -> None:
        """Label a new node between its predecessors and successors if their labels leave room, or like one of them.

        Add its edges afterwards.
        """
        labels = self._labels
        low = max((labels[other] for other in before if other in labels), default=None)
        high = min((labels[other] for other in after if other in labels), default=None)
        if low is None:
            label = 0.0 if high is None else high - 1.0
        elif high is None:
            label = low + 1.0
        else:
            label = low + (high - low) / 2
        labels[node] = label

    def _renumber(self) -> None:
        """Replace the labels by consecutive integers in the same order."""
        ordered = sorted(self._labels, key=self._labels.__getitem__)
        self._labels = {node: float(label) for label, node in enumerate(ordered)}

    def add_edge(self, origin: Node, end: Node) -> None:
        """Make the label of `origin` smaller than that of `end`; raise `CycleError` if that is impossible."""
        labels = self._labels
        if origin is end:
            raise CycleError
        upper, lower = labels[origin], labels[end]
        if upper < lower:
            return
        ahead = self._reach(end, self._successors, lower, upper)
        if origin in ahead:
            raise CycleError
        behind = self._reach(origin, self._predecessors, lower, upper)
        moved = sorted(behind, key=labels.__getitem__) + sorted(ahead, key=labels.__getitem__)
        pool = sorted(labels[node] for node in moved)
        if any(a == b for a, b in pairwise(pool)):
            # Permuting equal labels would not separate them.
            self._renumber()
            self.add_edge(origin, end)
            return
        for node, label in zip(moved, pool):
            labels[node] = label

    def _reach(self, start: Node, neighbours: Callable[..., Any], lower: float, upper: float) -> dict[Node, None]:
        """Return the nodes that can be reached from `start` through labels between two bounds."""
        labels = self._labels
        reached = {start: None}
        stack = [start]
        while stack:
            for node in neighbours(stack.pop()):
                if node not in reached and lower <= labels[node] <= upper:
                    reached[node] = None
                    stack.append(node)
        return reached
