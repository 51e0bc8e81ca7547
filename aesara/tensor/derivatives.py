"""Derivatives that need tensors: Jacobians, Hessians, and the sum of many gradients."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.autodiff import Lop, OnDisconnected, as_list_or_tuple, grad
from aesara.graph.nodes import Variable
from aesara.graph.pullback import sum_gradients
from aesara.tensor.conversion import constant
from aesara.tensor.elementwise_ops import add
from aesara.tensor.joining import stack
from aesara.tensor.type import TensorType

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
            "jacobian expects a 1 dimensional variable as `expression`. If not use flatten to make it a vector;"
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
            f"{function} needs to know the length of `{argument}` when the graph is built, but {vector} has type"
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
