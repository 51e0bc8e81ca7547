"""Orders of nodes that follow what they depend on and, where that leaves a choice, comparisons."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.traversal import io_toposort
from aesara.utils import cmp

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph

Comparison = Callable[[Any, Any], int]


def key_to_cmp(key: Callable[[Any], Any]) -> Comparison:
    """Return the comparison of two objects by their keys: -1, 0 or 1.

    Examples
    --------
    >>> key_to_cmp(len)("a", "bb")
    -1
    """

    def compare(a: Any, b: Any) -> int:
        return cmp(key(a), key(b))

    return compare


def reverse_dict(d: Mapping[Any, Iterable[Any]]) -> dict[Any, tuple[Any, ...]]:
    """Return a mapping from each element of the values to the keys that have it.

    Examples
    --------
    >>> reverse_dict({"a": (1, 2), "b": (2,), "c": ()})
    {1: ('a',), 2: ('a', 'b')}
    """
    result: dict[Any, tuple[Any, ...]] = {}
    for key, values in d.items():
        for value in values:
            result[value] = (*result.get(value, ()), key)
    return result


def _toposort(edges: Mapping[Any, Iterable[Any]]) -> list[Any]:
    """Return an order of the keys and elements of a graph, with each key before the elements of its value.

    Examples
    --------
    >>> _toposort({1: {2, 3}, 3: {2}})
    [1, 3, 2]
    """
    return list(TopologicalSorter(reverse_dict(edges)).static_order())


def make_depends() -> Callable[[tuple[Any, Any]], bool]:
    """Return a predicate of two objects that holds if the first depends on the second, directly or not.

    Things are nodes or variables. What was asked once is remembered.
    """
    above: dict[Any, frozenset[Any]] = {}

    def parents(a: Any) -> Sequence[Any]:
        return a.inputs if isinstance(a, Apply) else [] if a.owner is None else [a.owner]

    def ancestors_of(a: Any) -> frozenset[Any]:
        pending = [a]
        while pending:
            current = pending[-1]
            missing = [p for p in parents(current) if p not in above]
            if current in above or not missing:
                pending.pop()
                above[current] = frozenset(parents(current)).union(*[above[p] for p in parents(current)])
            else:
                pending += missing
        return above[a]

    def depends(pair: tuple[Any, Any]) -> bool:
        a, b = pair
        return b in ancestors_of(a)

    return depends


def make_dependence_cmp() -> Comparison:
    """Return a comparison that orders nodes after the nodes that they depend on."""
    depends = make_depends()

    def dependence(a: Any, b: Any) -> int:
        if depends((a, b)):
            return 1
        return -1 if depends((b, a)) else 0

    return dependence


def posort(nodes: Iterable[Any], *cmps: Comparison) -> list[Any]:
    """Sort by several comparison functions; if these contradict each other, earlier ones take precedence.

    Each comparison may leave pairs in no order (0); what none of them orders stays as it was given.

    Examples
    --------
    >>> posort([3, 1, 4, 2], key_to_cmp(lambda n: n % 2), key_to_cmp(lambda n: n))
    [2, 4, 1, 3]
    """
    nodes = list(nodes)
    # All predecessors and successors of each object.
    before: dict[Any, set[Any]] = {node: set() for node in nodes}
    after: dict[Any, set[Any]] = {node: set() for node in nodes}
    for compare in cmps:
        for k, a in enumerate(nodes):
            for b in nodes[k + 1 :]:
                order = 0 if b in before[a] or b in after[a] else compare(a, b)
                if order:
                    first, last = (a, b) if order < 0 else (b, a)
                    earlier, later = before[first] | {first}, after[last] | {last}
                    for node in earlier:
                        after[node] |= later
                    for node in later:
                        before[node] |= earlier
    place = {node: k for k, node in enumerate(nodes)}
    ready = [place[node] for node in nodes if not before[node]]  # in order, and so a heap
    result = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        result.append(node)
        for other in after[node]:
            before[other].discard(node)
            if not before[other]:
                heapq.heappush(ready, place[other])
    return result


def sort_apply_nodes(
    inputs: Sequence[Variable], outputs: Sequence[Variable], cmps: Sequence[Comparison]
) -> list[Apply]:
    """The nodes between inputs and outputs, in an order that they can run in and that follows the comparisons."""
    return posort(io_toposort(inputs, outputs), make_dependence_cmp(), *cmps)


def sort_schedule_fn(*cmps: Comparison) -> Callable[[Any], list[Apply]]:
    """A schedule for linkers: from a function graph to its nodes in an order that follows the comparisons."""
    dependence = make_dependence_cmp()

    def schedule(fgraph: FunctionGraph) -> list[Apply]:
        return posort(fgraph.toposort(), dependence, *cmps)

    return schedule
