"""The operation that returns its input, and whose subclasses are the identity with another gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op


class ViewOp(Op):
    """Returns its input itself: another variable for the same memory."""

    __module__ = "aesara.compile.ops"  # where users find it

    view_map = {0: [0]}
    __props__: tuple[str, ...] = ()
    passes_value_on = True

    def make_node(self, x: Variable) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]], params: object = None
    ) -> None:
        output_storage[0][0] = inputs[0]

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return input_shapes

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> list[Variable]:
        return list(output_grads)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return eval_points
