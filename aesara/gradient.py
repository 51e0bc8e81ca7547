"""Driver for gradient calculations: symbolic gradients, and operators that change them.

The algorithm is in `aesara.graph.pullback` and `aesara.graph.forward_mode`. Here are the functions that need
tensors (`jacobian`, `hessian`), the operators that are the identity in the forward direction only, and the
check of symbolic gradients against finite differences.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.compile.ops import ViewOp
from aesara.configdefaults import config
from aesara.finite_differences import GradientError, mode_not_slow, numeric_grad, verify_grad
from aesara.graph.autodiff import (
    DisconnectedInputError,
    DisconnectedType,
    Lop,
    NullTypeGradError,
    OnDisconnected,
    as_list_or_tuple,
    disconnected_type,
    grad,
    grad_not_implemented,
    grad_undefined,
    subgraph_grad,
)
from aesara.graph.forward_mode import Rop
from aesara.graph.nodes import Apply, Variable
from aesara.graph.null_type import NullType, null_type
from aesara.graph.pullback import sum_gradients
from aesara.tensor.conversion import as_tensor_variable, constant
from aesara.tensor.elementwise_ops import add, clip
from aesara.tensor.joining import stack
from aesara.tensor.type import TensorType

__all__ = [
    "ConsiderConstant",
    "DisconnectedGrad",
    "DisconnectedInputError",
    "DisconnectedType",
    "GradClip",
    "GradScale",
    "GradientError",
    "Lop",
    "NullType",
    "NullTypeGradError",
    "Rop",
    "UndefinedGrad",
    "ZeroGrad",
    "as_list_or_tuple",
    "config",
    "consider_constant",
    "consider_constant_",
    "disconnected_grad",
    "disconnected_grad_",
    "disconnected_type",
    "grad",
    "grad_clip",
    "grad_not_implemented",
    "grad_scale",
    "grad_undefined",
    "hessian",
    "jacobian",
    "mode_not_slow",
    "null_type",
    "numeric_grad",
    "subgraph_grad",
    "undefined_grad",
    "undefined_grad_",
    "verify_grad",
    "zero_grad",
    "zero_grad_",
]

# NumPy calls the reference of one node with at most 32 arrays.
TERMS_IN_ONE_SUM = 24


@sum_gradients.register(TensorType)
def sum_tensor_gradients(gradient_type: TensorType, terms: Sequence[Any]) -> Variable:
    """Add gradients of one tensor with as few nodes as possible."""
    terms = list(terms)
    while len(terms) > 1:
        groups = [terms[k : k + TERMS_IN_ONE_SUM] for k in range(0, len(terms), TERMS_IN_ONE_SUM)]
        terms = [add(*group) if len(group) > 1 else group[0] for group in groups]
    return terms[0]


# Jacobian and Hessian


def jacobian(
    expression: Variable,
    wrt: Variable | Sequence[Variable],
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> Any:
    """Return the full Jacobian of a vector.

    Parameters
    ----------
    expression
        The vector that is differentiated. A scalar gives its gradient.
    wrt
        The variable or variables to differentiate with respect to.
    consider_constant, disconnected_inputs
        As in `grad`.

    Returns
    -------
    Variable, list or tuple
        For each of `wrt` a tensor of shape ``expression.shape + wrt.shape``, in the form `wrt` was given in.

    Notes
    -----
    The length of `expression` must be known when the graph is built; say it with `specify_shape` where it is
    not.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.tensor("float64", shape=(2,), name="x")
    >>> aesara.function([x], aesara.gradient.jacobian(x**2, x))([1.0, 3.0])
    array([[2., 0.],
           [0., 6.]])
    """
    if not isinstance(expression, Variable):
        raise TypeError(f"jacobian expects a Variable as `expression`; got {type(expression).__name__}.")
    ndim = expression.type.ndim
    if ndim > 1:
        raise ValueError(
            "jacobian expects a 1 dimensional variable as `expression`. If not use flatten to make it a"
            " vector;"
            f" got {ndim} dimensions."
        )
    variables = list(wrt) if isinstance(wrt, list | tuple) else [wrt]
    if ndim == 0:
        jacobians = grad(expression, variables, consider_constant, disconnected_inputs)
    else:
        length = static_length(expression, "jacobian", "expression")
        jacobians = rows_of_jacobian(expression, length, variables, consider_constant, disconnected_inputs)
    return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), jacobians)


def static_length(vector: Variable, function: str, argument: str) -> int:
    """Return the length of `vector`, which must be known statically."""
    length = vector.type.shape[0]
    if length is None:
        raise NotImplementedError(
            f"{function} needs to know the length of `{argument}` when the graph is built, but {vector} has"
            " type"
            f" {vector.type}. Give the variables it is made of a static shape, as in"
            " at.tensor('float64', shape=(3,)), or use at.specify_shape."
        )
    return length


def rows_of_jacobian(
    expression: Any,
    length: int,
    variables: Sequence[Any],
    consider_constant: Sequence[Variable] | None,
    disconnected_inputs: OnDisconnected,
) -> list[Variable]:
    """Return the Jacobians of a vector of known length, one gradient a row."""
    identity = np.eye(length, dtype=floating_dtype(expression))
    rows = [
        Lop([expression], variables, [constant(direction)], consider_constant, disconnected_inputs)
        for direction in identity
    ]
    if not rows:
        checked = grad(expression.sum(), variables, consider_constant, disconnected_inputs)
        return [stack([gradient])[:0] for gradient in checked]
    return [stack([row[k] for row in rows]) for k in range(len(variables))]


def floating_dtype(variable: Any) -> str:
    """Return the dtype of `variable` if that is continuous, else float64."""
    dtype = variable.type.dtype
    return dtype if dtype.startswith(("float", "complex")) else "float64"


def hessian(
    cost: Variable,
    wrt: Variable | Sequence[Variable],
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
) -> Any:
    """Return the matrix of second derivatives of a scalar.

    Parameters
    ----------
    cost
        The scalar that is differentiated.
    wrt
        The vector or vectors to differentiate with respect to, of statically known length.
    consider_constant, disconnected_inputs
        As in `grad`.

    Returns
    -------
    Variable, list or tuple
        For each of `wrt` a matrix, in the form `wrt` was given in.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.tensor("float64", shape=(2,), name="x")
    >>> aesara.function([x], aesara.gradient.hessian((x**3).sum(), x))([1.0, 2.0])
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    if not isinstance(cost, Variable) or cost.type.ndim != 0:
        raise ValueError("hessian expects a 0 dimensional variable as `cost`")
    variables = list(wrt) if isinstance(wrt, list | tuple) else [wrt]
    hessians = []
    for variable in variables:
        if not isinstance(variable, Variable) or getattr(variable.type, "ndim", None) != 1:
            raise ValueError("hessian expects a (list of) 1 dimensional variable as `wrt`")
        length = static_length(variable, "hessian", "wrt")
        gradient = grad(cost, variable, consider_constant, disconnected_inputs)
        # A linear cost has a constant gradient: its second derivatives are zero, not an error.
        hessians += rows_of_jacobian(gradient, length, [variable], consider_constant, "ignore")
    return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), hessians)


# Operators that change gradients. Forward they are the identity, and disappear from compiled functions.


class ConsiderConstant(ViewOp):
    """The identity, with a gradient of zero."""

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [g.zeros_like() for g in output_gradients]


consider_constant_ = ConsiderConstant()


def consider_constant(x: Any) -> Variable:
    """Return `x`, with a gradient of zero.

    .. deprecated:: 2.0
       Use `zero_grad` or `disconnected_grad`.
    """
    warnings.warn(
        "`consider_constant` is deprecated; use `zero_grad` or `disconnected_grad` instead.",
        DeprecationWarning,
        stacklevel=2,
    )
    return consider_constant_(as_tensor_variable(x))


class ZeroGrad(ViewOp):
    """The identity, with a gradient of zero."""

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [g.zeros_like() for g in output_gradients]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Variable | None]:
        return [None if point is None else point.zeros_like() for point in eval_points]


zero_grad_ = ZeroGrad()


def zero_grad(x: Any) -> Variable:
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

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [grad_undefined(self, k, x) for k, x in enumerate(inputs)]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Variable | None]:
        return [None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True]]


undefined_grad_ = UndefinedGrad()


def undefined_grad(x: Any) -> Variable:
    """Return `x`, so that asking for a gradient that flows through it raises `NullTypeGradError`."""
    return undefined_grad_(as_tensor_variable(x))


class DisconnectedGrad(ViewOp):
    """The identity, through which nothing is connected in the sense of differentiation."""

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [disconnected_type() for _ in inputs]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Variable | None]:
        return [None]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]


disconnected_grad_ = DisconnectedGrad()


def disconnected_grad(x: Any) -> Variable:
    """Return `x`, disconnected from what it is made of.

    Unlike with `zero_grad`, asking for a gradient that flows through it alone raises
    `DisconnectedInputError`.
    """
    return disconnected_grad_(as_tensor_variable(x))


class GradClip(ViewOp):
    """The identity, with its gradient clipped to an interval."""

    __props__ = ("clip_lower_bound", "clip_upper_bound")

    def __init__(self, clip_lower_bound: float, clip_upper_bound: float) -> None:
        if not clip_upper_bound >= clip_lower_bound:
            raise ValueError(
                "`clip_upper_bound` should be >= `clip_lower_bound`;"
                f" got {clip_upper_bound} and {clip_lower_bound}."
            )
        self.clip_lower_bound = clip_lower_bound
        self.clip_upper_bound = clip_upper_bound

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [clip(g, self.clip_lower_bound, self.clip_upper_bound) for g in output_gradients]


def grad_clip(x: Any, lower_bound: float, upper_bound: float) -> Variable:
    """Return `x`, with what flows back through it clipped to ``[lower_bound, upper_bound]``.

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

    __props__ = ("multiplier",)

    def __init__(self, multiplier: float) -> None:
        self.multiplier = multiplier

    def grad(self, inputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Variable]:
        return [self.multiplier * g for g in output_gradients]


def grad_scale(x: Any, multiplier: float) -> Variable:
    """Return `x`, with what flows back through it multiplied by `multiplier`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dscalar("x")
    >>> float(aesara.grad(aesara.gradient.grad_scale(x, -2.0), x).eval({x: 1.0}))
    -2.0
    """
    return GradScale(multiplier)(as_tensor_variable(x))
