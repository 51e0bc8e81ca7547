"""Loop variables with and without gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.pullback import grad_not_implemented, grad_undefined
from aesara.tensor.core.tensor_type import DenseTensorType, TensorType
from aesara.tensor.creation.allocation import zeros_like

if TYPE_CHECKING:
    from aesara.graph.nodes import Variable


__all__ = [
    "SHARED_STATE",
    "gradients_in_order",
    "is_continuous",
    "is_sparse",
    "no_gradient",
    "shares_continuous_state",
]

SHARED_STATE = "A shared state of floating-point numbers, of which only the last value is kept: give it a tap instead."


def is_continuous(variable: Any) -> bool:
    """Return whether this is a dense tensor of floating-point numbers."""
    return _is_floating(variable) and isinstance(variable.type, DenseTensorType)


def is_sparse(variable: Variable) -> bool:
    """Return whether this is a sparse tensor of floating-point numbers; its gradient may be dense."""
    return _is_floating(variable) and not isinstance(variable.type, DenseTensorType)


def _is_floating(variable: Variable) -> bool:
    return isinstance(variable.type, TensorType) and variable.type.dtype.startswith(("float", "complex"))


def shares_continuous_state(op: Any) -> bool:
    """Return whether a shared state is a floating-point tensor; derivatives through it are not supported."""
    return any(map(_is_floating, op.inner_shared(op.inner_inputs)))


def no_gradient(op: Any, k: int, outer: Any) -> Variable:
    """Return the gradient of input `k` of a loop that does not depend on it.

    It is zero for dense tensors, not implemented for sparse ones, and disconnected for other types.
    """
    if not isinstance(outer.type, TensorType):
        return disconnected_type()
    if not isinstance(outer.type, DenseTensorType):
        return grad_not_implemented(op, k, outer, "A sparse matrix, of whose gradient each step gives a sparse part.")
    return zeros_like(outer) if is_continuous(outer) else zeros_like(outer, dtype="floatX")


def gradients_in_order(
    op: Any,
    inputs: Sequence[object],
    of_seqs: Sequence[object],
    of_buffers: Sequence[object],
    of_constants: Sequence[object],
) -> list[Any]:
    """Return the gradients of all inputs of a loop in order.

    `of_seqs`, `of_buffers` and `of_constants` are gradients of sequences, buffers and non-sequences, None where there
    is none.
    """
    result: list[Any] = [disconnected_type()]
    own = [*op.outer_seqs(inputs), *op.outer_mitsot(inputs), *op.outer_sitsot(inputs)]
    for v, g in zip(own, [*of_seqs, *of_buffers], strict=True):
        result.append(no_gradient(op, len(result), v) if g is None else g)
    for outer in op.outer_shared(inputs):
        result.append(grad_undefined(op, len(result), outer, "A state of no tensor."))
    result += [disconnected_type() for _ in range(op.info.n_nit_sot)]
    for v, g in zip(op.outer_non_seqs(inputs), of_constants, strict=True):
        result.append(no_gradient(op, len(result), v) if g is None else g)
    return result
