"""Rules about operations that hand their input on: they matter to gradients, not to values."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.node_rewriters import node_rewriter
from aesara.graph.view import ViewOp
from aesara.tensor.derivatives.gradient_operators import (
    ConsiderConstant,
    DisconnectedGrad,
    GradClip,
    GradScale,
    UndefinedGrad,
    ZeroGrad,
)
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

_HANDED_ON = (ViewOp, ConsiderConstant, DisconnectedGrad, GradClip, GradScale, UndefinedGrad, ZeroGrad)


@rules.useless("fast_compile")
@rules.canonicalize
@node_rewriter(list(_HANDED_ON))
def local_view_op(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``zero_grad(x) -> x``: the gradients have been taken."""
    # Not what is derived from these: a class of a user may do more.
    return [node.inputs[0]] if type(node.op) in _HANDED_ON else None
