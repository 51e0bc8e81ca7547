"""Ops that compute an expression of other ops in one step."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.autodiff import Lop
from aesara.graph.cloning import graph_replace
from aesara.graph.forward_mode import Rop
from aesara.graph.nodes import Variable
from aesara.graph.op import Op, stand_in
from aesara.tensor.core.variable import TensorVariable


class ExpressionOp(Op):
    """An op that is equivalent to an expression, from which derivatives, vectorization and native code are derived.

    Rewriting creates these ops where the reference machine becomes faster. Subclasses define `expression`.
    """

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        """Return the result in terms of elementary ops; it must be differentiable in all inputs."""
        raise NotImplementedError(f"{type(self).__name__}.expression")

    def definition(self, *inputs: TensorVariable) -> TensorVariable:
        """Return the exact result in terms of elementary ops, which does not read operands that are
        multiplied by zero.
        """
        return self.expression(*inputs)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> Sequence[Variable]:
        # Inputs may depend on one another: derivatives are taken with respect to variables that do not.
        free = [stand_in(v) for v in inputs]
        gradients = Lop(self.expression(*free), free, output_grads[0], disconnected_inputs="ignore")
        return graph_replace(gradients, dict(zip(free, inputs)), strict=False)

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        free = [stand_in(v) for v in inputs]
        moving = [(v, point) for v, point in zip(free, eval_points) if point is not None]
        if not moving:
            return [None]
        wrt, points = zip(*moving)
        tangent = Rop(self.expression(*free), list(wrt), list(points), disconnected_outputs="ignore")
        return [graph_replace(tangent, dict(zip(free, inputs)), strict=False)]


class MayOverwriteFirst(Op):
    """An op whose result may be stored in the memory of its first input.

    Parameters
    ----------
    inplace
        Whether it is.
    """

    __props__: tuple[str, ...] = ("inplace",)

    def __init__(self, inplace: bool = False):
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'inplace' if self.inplace else 'no_inplace'}}}"
