"""Assignment of nodes to the sides of lazy choices (`IfElse`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ifelse import IfElse

__all__ = ["Branch", "branches_of_choices", "nodes_of_sides"]

#: an `IfElse` node, and 0 or 1 for its first or second side
Branch = tuple[Apply, int]


def branches_of_choices(order: Sequence[Apply], outputs: Iterable[Variable]) -> dict[Branch, list[Apply]]:
    """Return the nodes to compute on each side of the lazy choices of a graph, in order.

    A node that sides of several choices need is duplicated on each of them.  A node that both sides of a choice need
    is computed where the choice is.
    """
    if not any(isinstance(node.op, IfElse) for node in order):
        return {}
    uses: dict[Apply, set[Branch | None]] = {v.owner: {None} for v in outputs if v.owner is not None}
    sides: dict[Apply, frozenset[Branch | None]] = {}
    for node in reversed(order):
        sides[node] = placement = _placement(uses.get(node, {None}), sides)
        for k, variable in enumerate(node.inputs):
            if variable.owner is not None:
                lazy = isinstance(node.op, IfElse) and k > 0
                used_in = {(node, int(k > node.op.n_outs))} if lazy else placement
                uses.setdefault(variable.owner, set()).update(used_in)
    branches: dict[Branch, list[Apply]] = {}
    for node in order:
        for place in sides[node]:
            if place is not None:
                branches.setdefault(place, []).append(node)
    return branches


def _placement(uses: set[Branch | None], sides: dict[Apply, frozenset[Branch | None]]) -> frozenset[Branch | None]:
    """Return the sides on which a node with these uses is computed; {None}: unconditionally."""
    branches = set(uses)
    while None not in branches:
        both = next((place for place in branches if place is not None and (place[0], 1 - place[1]) in branches), None)
        if both is None:
            return frozenset(branches)
        branches -= {both, (both[0], 1 - both[1])}
        branches |= sides[both[0]]
    return frozenset({None})


def nodes_of_sides(choice: Apply, branches: Mapping[Branch, Sequence[Apply]]) -> set[Apply]:
    """Return the nodes that only the sides of a choice need, including those of nested choices."""
    nodes: set[Apply] = set()
    pending = [choice]
    while pending:
        node = pending.pop()
        for side in (0, 1):
            inside = branches.get((node, side), ())
            nodes.update(inside)
            pending.extend(inside)
    return nodes
