"""Gradient calculations: symbolic gradients, and operators that modify them.

The algorithms are in `aesara.graph.pullback` and `aesara.graph.forward_mode`, Jacobians in
`aesara.tensor.derivatives.jacobian`, operators that are the identity except for their gradient in
`aesara.tensor.derivatives.gradient_operators`, and checks against finite differences in `aesara.finite_differences`.
"""

from aesara.configdefaults import config
from aesara.finite_differences import GradientError, mode_not_slow, numeric_grad, verify_grad
from aesara.graph.autodiff import (
    DisconnectedInputError,
    DisconnectedType,
    Lop,
    NullTypeGradError,
    as_list_or_tuple,
    disconnected_type,
    grad,
    grad_not_implemented,
    grad_undefined,
    subgraph_grad,
)
from aesara.graph.forward_mode import Rop
from aesara.graph.null_type import NullType, null_type
from aesara.tensor.derivatives.gradient_operators import (
    ConsiderConstant,
    DisconnectedGrad,
    GradClip,
    GradScale,
    UndefinedGrad,
    ZeroGrad,
    consider_constant,
    consider_constant_,
    disconnected_grad,
    disconnected_grad_,
    grad_clip,
    grad_scale,
    undefined_grad,
    undefined_grad_,
    zero_grad,
    zero_grad_,
)
from aesara.tensor.derivatives.jacobian import hessian, hessian_vector_product, jacobian

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
    "hessian_vector_product",
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
