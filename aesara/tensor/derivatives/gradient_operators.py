"""Operators that change gradients. Forward they are the identity, and disappear from compiled functions."""

from collections.abc import Sequence
from typing import Any

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.nodes import Apply, Variable
from aesara.graph.pullback import grad_undefined
from aesara.graph.view import ViewOp
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.elementwise.ops import clip
from aesara.user_code import warn_user

__all__ = ["consider_constant"]


class ConsiderConstant(ViewOp):
    """The identity, with a gradient of zero."""

    __module__ = "aesara.gradient"  # where users find it

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [g.zeros_like() for g in output_gradients]


consider_constant_ = ConsiderConstant()


def consider_constant(x: TensorLike) -> Variable:
    """Return `x`, with a gradient of zero.

    .. deprecated:: 2.0
       Use `zero_grad` or `disconnected_grad`.
    """
    warn_user(
        "`consider_constant` is deprecated; use `zero_grad` or `disconnected_grad` instead.",
        DeprecationWarning,
    )
    return consider_constant_(as_tensor_variable(x))


class ZeroGrad(ViewOp):
    """The identity, with a gradient of zero."""

    __module__ = "aesara.gradient"  # where users find it

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [g.zeros_like() for g in output_gradients]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Variable | None]:
        return [None if point is None else point.zeros_like() for point in eval_points]


zero_grad_ = ZeroGrad()


def zero_grad(x: TensorLike) -> Variable:
    """Return `x`, with a gradient of zero.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dscalar("x")
    >>> float(aesara.grad(x * aesara.gradient.zero_grad(x), x).eval({x: 3.0}))
    3.0
    """
    return zero_grad_(as_tensor_variable(x))


class UndefinedGrad(ViewOp):
    """The identity, with a gradient that does not exist."""

    __module__ = "aesara.gradient"  # where users find it

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [grad_undefined(self, k, x) for k, x in enumerate(inputs)]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Variable | None]:
        return [None if point is None else grad_undefined(self, 0, inputs[0]) for point in eval_points]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True]]


undefined_grad_ = UndefinedGrad()


def undefined_grad(x: TensorLike) -> Variable:
    """Return `x`, so that asking for a gradient that flows through it raises `NullTypeGradError`."""
    return undefined_grad_(as_tensor_variable(x))


class DisconnectedGrad(ViewOp):
    """The identity, which disconnects its input for differentiation."""

    __module__ = "aesara.gradient"  # where users find it

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [disconnected_type() for _ in inputs]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Variable | None]:
        return [None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]


disconnected_grad_ = DisconnectedGrad()


def disconnected_grad(x: TensorLike) -> Variable:
    """Return `x`, disconnected from its inputs for differentiation.

    Unlike for `zero_grad`, a gradient that would flow only through it raises `DisconnectedInputError`.
    """
    return disconnected_grad_(as_tensor_variable(x))


class GradClip(ViewOp):
    """The identity, with its gradient clipped to an interval."""

    __module__ = "aesara.gradient"  # where users find it
    __props__ = ("clip_lower_bound", "clip_upper_bound")

    def __init__(self, clip_lower_bound: float, clip_upper_bound: float) -> None:
        if not clip_upper_bound >= clip_lower_bound:
            raise ValueError(
                f"`clip_upper_bound` should be >= `clip_lower_bound`; got {clip_upper_bound} and {clip_lower_bound}."
            )
        self.clip_lower_bound = clip_lower_bound
        self.clip_upper_bound = clip_upper_bound

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [clip(g, self.clip_lower_bound, self.clip_upper_bound) for g in output_gradients]


def grad_clip(x: TensorLike, lower_bound: float, upper_bound: float) -> Variable:
    """Return `x`, with its gradient clipped to ``[lower_bound, upper_bound]``.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dscalar("x")
    >>> z = aesara.gradient.grad_clip(x, -1, 1) ** 2
    >>> float(aesara.grad(z, x).eval({x: 2.0}))
    1.0
    """
    return GradClip(lower_bound, upper_bound)(as_tensor_variable(x))


class GradScale(ViewOp):
    """The identity, with its gradient multiplied by a number."""

    __module__ = "aesara.gradient"  # where users find it
    __props__ = ("multiplier",)

    def __init__(self, multiplier: float) -> None:
        self.multiplier = multiplier

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [self.multiplier * g for g in output_gradients]


def grad_scale(x: TensorLike, multiplier: float) -> Variable:
    """Return `x`, with its gradient multiplied by `multiplier`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dscalar("x")
    >>> float(aesara.grad(aesara.gradient.grad_scale(x, -2.0), x).eval({x: 1.0}))
    -2.0
    """
    return GradScale(multiplier)(as_tensor_variable(x))
