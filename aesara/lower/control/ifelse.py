"""Lowering of lazy choices: each side is a loop of at most one iteration around the nodes that only it needs."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ifelse import IfElse
from aesara.ir.expr import Expr
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import ONE, ZERO, Alias, Array
from aesara.lower.context import Context, array_in_memory
from aesara.lower.control.branches import Branch
from aesara.lower.control.loop import LoopBody, LoopNode, LoopResult, add_loop
from aesara.lower.control.scan import sizes_outside
from aesara.lower.dispatch import lower_node, lower_op
from aesara.lower.errors import Unsupported


@lower_op.register
def _ifelse(op: IfElse, node: Apply, context: Context) -> Sequence[Array]:
    truth = _truth(node.inputs[0], context)
    sides = [_Side(node, side, context) for side in (0, 1)]
    values_of = [side.lower() for side in sides]
    results: list[LoopResult] = []
    for first, second in zip(*values_of, strict=True):
        sizes = [
            _either(truth, a, b, context)
            for a, b in zip(sizes_outside(sides[0].inner, first), sizes_outside(sides[1].inner, second), strict=True)
        ]
        results.append(LoopResult(sides[0].loop, first.dtype, (ONE, *sizes)))
    for side, values, extent in zip(sides, values_of, (truth, ONE - truth), strict=True):
        writes = tuple((value, result, 0) for value, result in zip(values, results, strict=True))
        side.finish(extent, tuple(results), writes)
    arrays = [context.add(Alias(result, result.shape[1:])) for result in results]
    return [array_in_memory(out, array) for out, array in zip(node.outputs, arrays, strict=True)]


def _truth(condition: Variable, context: Context) -> Expr:
    """Return 1 if the condition is not zero, else 0."""
    array = context.array(condition)
    if array.dtype.startswith("float"):
        raise Unsupported("a choice by a floating-point number")
    holds = primitive("ne", context.size_from(array), ZERO)
    return primitive("select", holds, ONE, ZERO)


def _either(truth: Expr, first: Expr, second: Expr, context: Context) -> Expr:
    if context.same_size(first, second):
        return first
    return primitive("select", primitive("ne", truth, ZERO), first, second)


class _Side:
    """One side of a choice, lowered in an inner context that captures arrays of the outer one."""

    def __init__(self, node: Apply, side: int, context: Context) -> None:
        self.branch: Branch = (node, side)
        count = node.op.n_outs
        self.values = node.inputs[1 + side * count : 1 + (side + 1) * count]
        self.context, self.inner = context, context.inside_branch()
        self.loop = LoopNode(())

    def lower(self) -> list[Array]:
        """Return the values of this side."""
        for node in self.context.branches.get(self.branch, ()):
            if not all(self.context.has(out) for out in node.outputs):
                lower_node(node, self.inner)
        return [self.inner.in_memory(value) for value in self.values]

    def finish(
        self, extent: Expr, results: tuple[LoopResult, ...], writes: tuple[tuple[Array, LoopResult, int], ...]
    ) -> None:
        context, inner = self.context, self.inner
        assert inner.captured is not None
        self.loop.operands = tuple(row.array for row in inner.captured)
        body = LoopBody(
            inner, context.fresh("i"), extent, context.fresh_size(), tuple(inner.captured), (), writes, None
        )
        add_loop(context, self.loop, body, results)
