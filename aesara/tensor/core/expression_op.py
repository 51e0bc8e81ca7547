"""Operations that compute in one step what an expression of other operations stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aesara.graph.autodiff import Lop
from aesara.graph.cloning import graph_replace
from aesara.graph.forward_mode import Rop
from aesara.graph.nodes import Variable
from aesara.graph.op import Op, stand_in

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable


class ExpressionOp(Op):
    """An operation that is the same as an expression, which derivatives, batches and native code are made from.

    Rewriting makes these where the reference machine gains by it. Subclasses say what they compute by `expression`.
    """

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        """The result in elementary operations; smooth in all inputs."""
        raise NotImplementedError(f"{type(self).__name__}.expression")

    def definition(self, *inputs: TensorVariable) -> TensorVariable:
        """The result in elementary operations, exactly: what a factor zero keeps from being read is not there."""
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
    """An operation whose result may be put into the memory of its first input.

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
