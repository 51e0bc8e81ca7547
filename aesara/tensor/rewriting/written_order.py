"""Sums and products, taken apart and put together again in the order in which they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op

__all__ = ["put_together"]

Part = TypeVar("Part")


def put_together(
    out: Variable,
    leaves: Sequence[Counter[Variable]],
    inverting: Collection[Op],
    leaf: Callable[[Variable, int], Part],
    of_node: Callable[[Apply, list[Part]], Part],
) -> Part:
    """What becomes of a sum or a product; its operands are visited from left to right, without recursion.

    Parameters
    ----------
    out
        The sum or product.
    leaves
        How often each operand is on the first side, and how often on the second: what is subtracted, or divided by.
    inverting
        Ops whose last operand is on the other side than their result.
    leaf
        Gives the part for an operand on a side, 0 or 1.
    of_node
        Gives the part for a node from those of its operands.
    """
    left = [Counter(side) for side in leaves]
    found: list[Part] = []
    stack = [(out, 0, False)]  # what to visit, on which side it is, and whether its operands are the last parts
    while stack:
        var, side, is_visited = stack.pop()
        if not is_visited and left[side][var] > 0:
            left[side][var] -= 1
            found.append(leaf(var, side))
            continue
        node = var.owner
        assert node is not None, "the operands are those of the sum or product"
        count = len(node.inputs)
        if is_visited:
            found[-count:] = [of_node(node, found[-count:])]
            continue
        sides = [side] * count
        if node.op in inverting:
            sides[-1] = 1 - side
        stack.append((var, side, True))
        stack.extend((v, s, False) for v, s in reversed(list(zip(node.inputs, sides, strict=True))))
    (part,) = found
    return part
