"""Derivatives that need tensors: Jacobians, Hessians, and the sum of many gradients.

A Jacobian is the product of a tensor with it, for all rows of an identity matrix at once: the graph of one product,
vectorized. There is no loop, and no size has to be known when the graph is built.
"""

import math
from collections.abc import Sequence
from typing import Any

from aesara.graph.autodiff import Lop, OnDisconnected, as_list_or_tuple, constants, grad, settle
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.graph.op import stand_in
from aesara.graph.pullback import pull_back, sum_gradients
from aesara.graph.support import Condition
from aesara.graph.vectorization import vectorize_graph
from aesara.tensor.core.casting import cast
from aesara.tensor.core.tensor_type import DenseTensorType, TensorType
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.eye_tri import eye
from aesara.tensor.elementwise.ops import add
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.reshape import reshape

__all__ = ["hessian", "jacobian"]

# `np.frompyfunc` and ufuncs take at most 32 arrays.
TERMS_IN_ONE_SUM = 24


@sum_gradients.register(TensorType)
def sum_tensor_gradients(gradient_type: TensorType, terms: Sequence[Any]) -> Variable:
    """Add gradients of one tensor with as few nodes as possible."""
    terms = list(terms)
    if not all(term.type.is_dense for term in terms):
        return sum_gradients.dispatch(object)(gradient_type, terms)  # sparse matrices know how to add themselves
    while len(terms) > 1:
        groups = [terms[k : k + TERMS_IN_ONE_SUM] for k in range(0, len(terms), TERMS_IN_ONE_SUM)]
        terms = [add(*group) if len(group) > 1 else group[0] for group in groups]
    return terms[0]


def jacobian(
    expression: Variable,
    wrt: Variable | Sequence[Variable],
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: OnDisconnected = "raise",
    vectorize: bool = True,
) -> Any:
    """Return the full Jacobian of a tensor.

    Parameters
    ----------
    expression
        The tensor that is differentiated, of any number of dimensions. A scalar gives its gradient.
    wrt
        The variable or variables to differentiate with respect to.
    consider_constant, disconnected_inputs
        As in `grad`.
    vectorize
        Accepted for compatibility; has no effect, since there is never a loop.

    Returns
    -------
    Variable, list or tuple
        For each of `wrt` a tensor of shape ``expression.shape + wrt.shape``, in the form `wrt` was given in.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dvector("x")
    >>> aesara.function([x], aesara.gradient.jacobian(x**2, x))([1.0, 3.0])
    array([[2., 0.],
           [0., 6.]])
    >>> m = at.dmatrix("m")
    >>> aesara.function([m], aesara.gradient.jacobian(m.T, m))([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).shape
    (3, 2, 2, 3)
    """
    if not isinstance(expression, Variable):
        raise TypeError(f"jacobian expects a Variable as `expression`; got {type(expression).__name__}.")
    ndim = getattr(expression.type, "ndim", None)
    if ndim is None or (ndim and not isinstance(expression.type, DenseTensorType)):
        raise TypeError(
            f"jacobian expects a dense tensor as `expression`; got {describe(expression)} of type {expression.type}."
        )
    variables: list[Any] = list(wrt) if isinstance(wrt, list | tuple) else [wrt]
    if ndim == 0:
        jacobians = grad(expression, variables, consider_constant, disconnected_inputs)
    else:
        jacobians = rows_of_jacobian(expression, variables, consider_constant, disconnected_inputs)
    return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), jacobians)


def rows_of_jacobian(
    expression: Any,
    variables: Sequence[Any],
    consider_constant: Sequence[Variable] | None,
    disconnected_inputs: OnDisconnected,
) -> list[Variable]:
    """Return the Jacobians of a tensor of at least one dimension: its products with the rows of an identity matrix."""
    dtype = floating_dtype(expression)
    sizes = sizes_of(expression)
    length = math.prod(sizes[1:], start=sizes[0])
    direction = stand_in(cast(expression, dtype), "direction")
    chosen = stand_in(cast(expression, "bool"), "chosen")
    # Zeros of the identity matrix are structural: their product with an infinite derivative is zero.
    support = Condition(("chosen", chosen), lambda: chosen, is_of_row=True)
    flowing = pull_back(
        {expression: direction}, variables, constants(consider_constant), supports={expression: support}
    )
    products = settle(variables, flowing, disconnected_inputs, roots=[expression])
    # One basis vector for each entry of the expression, in the expression's shape.
    rows, masks = eye(length, dtype=dtype), eye(length, dtype="bool")
    if len(sizes) > 1:
        rows, masks = reshape(rows, [length, *sizes]), reshape(masks, [length, *sizes])
    jacobians = []
    for product, batch in zip(products, vectorize_graph(products, {direction: rows, chosen: masks})):
        if batch.type.ndim == product.type.ndim:
            # The product is linear in the direction, so that terms independent of it are zero.
            jacobians.append(alloc(batch, *sizes, *sizes_of(product)))
        else:
            jacobians.append(batch if len(sizes) == 1 else reshape(batch, [*sizes, *sizes_of(batch)[1:]]))
    return jacobians


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
        The vector or vectors to differentiate with respect to.
    consider_constant, disconnected_inputs
        As in `grad`.

    Returns
    -------
    Variable, list or tuple
        For each of `wrt` a matrix, in the form `wrt` was given in.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dvector("x")
    >>> aesara.function([x], aesara.gradient.hessian((x**3).sum(), x))([1.0, 2.0])
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    if not isinstance(cost, Variable) or getattr(cost.type, "ndim", None) != 0:
        got = f"{describe(cost)} of type {cost.type}" if isinstance(cost, Variable) else type(cost).__name__
        raise ValueError(f"hessian expects a 0 dimensional variable as `cost`; got {got}.")
    variables: list[Any] = list(wrt) if isinstance(wrt, list | tuple) else [wrt]
    for variable in variables:
        if not isinstance(variable, Variable) or getattr(variable.type, "ndim", None) != 1:
            raise ValueError("hessian expects a (list of) 1 dimensional variable as `wrt`")
    hessians = []
    gradients = grad(cost, variables, consider_constant, disconnected_inputs)
    for variable, gradient in zip(variables, gradients):
        # The gradient of a linear cost is constant, and its second derivatives are zero.
        hessians += rows_of_jacobian(gradient, [variable], consider_constant, "ignore")
    return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), hessians)


def hessian_vector_product(
    cost: Variable, wrt: Variable | Sequence[Variable], p: Variable | Sequence[Variable], **grad_kwargs: Any
) -> Any:
    """Return the matrix of second derivatives of a scalar, multiplied by a vector.

    The matrix is never computed: the cost is that of a few gradients.

    Parameters
    ----------
    cost
        The scalar that is differentiated.
    wrt
        The variable or variables to differentiate with respect to, of any number of dimensions.
    p
        For each of `wrt`, a tensor of its shape by which second derivatives are multiplied.
    **grad_kwargs
        Passed to `grad`.

    Returns
    -------
    Variable, list or tuple
        For each of `wrt` a tensor of its shape, in the form `wrt` was given in: the sum over all of `wrt` of the
        second derivatives times `p`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x, p = at.dvectors("x", "p")
    >>> product = aesara.gradient.hessian_vector_product((x**3).sum(), x, p)
    >>> aesara.function([x, p], product)([1.0, 2.0], [1.0, 10.0])
    array([  6., 120.])
    """
    variables: list[Any] = list(wrt) if isinstance(wrt, list | tuple) else [wrt]
    points: list[Any] = list(p) if isinstance(p, list | tuple) else [p]
    if len(variables) != len(points):
        raise ValueError(f"`wrt` must be the same length as `p`; got {len(variables)} and {len(points)}.")
    gradients = grad(cost, variables, **grad_kwargs)
    # The Hessian matrix is symmetric: p H = H p.
    products = Lop(gradients, variables, points, grad_kwargs.get("consider_constant"), "ignore")
    return as_list_or_tuple(isinstance(wrt, list), isinstance(wrt, tuple), products)
