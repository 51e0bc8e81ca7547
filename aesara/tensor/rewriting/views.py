"""Rules about operations that hand their input on: they matter to gradients, not to values."""

from __future__ import annotations

from aesara.graph.rewriting.matching import ops
from aesara.graph.rewriting.pattern import rule
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

local_view_op = rule(
    "local_view_op",
    (ops(*_HANDED_ON, name="f"), "x"),
    "x",
    lambda f: type(f) in _HANDED_ON,  # not what is derived from these: a class of a user may do more
    why="zero_grad(x) -> x: the gradients have been taken",
)
rules.canonicalize(local_view_op)
rules.useless(local_view_op, "fast_compile")
