"""Gradients of scalar ops as graphs, which elementwise ops apply to tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from aesara.configdefaults import config
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import ScalarType, get_scalar_type
from aesara.scalar.var import ScalarVariable

__all__ = ["ScalarGradientGraph", "scalar_gradient_graph"]


class ScalarGradientGraph(NamedTuple):
    """The gradient of a scalar op for inputs of given types.

    ``inputs``, ``outputs`` and ``output_grads`` are leaves: outputs of the op are passed as inputs, so that values of
    the forward pass are reused. ``grads`` contains a variable for each input: a scalar variable, which may be a leaf or
    a constant, or a variable of `NullType` or `DisconnectedType`.
    """

    inputs: tuple
    outputs: tuple
    output_grads: tuple
    grads: tuple


def scalar_gradient_graph(op: ScalarOp, input_types: Sequence[ScalarType]) -> ScalarGradientGraph:
    """Return the gradient graph of `op` for inputs of the given types; the result is cached.

    The gradient of a discrete output has dtype ``floatX``, that of other outputs has the dtype of the output.

    Examples
    --------
    >>> from aesara.scalar import exp, float64
    >>> graph = scalar_gradient_graph(exp, [float64])
    >>> graph.grads[0].owner.inputs == [graph.output_grads[0], graph.outputs[0]]
    True
    """
    return _gradient_graph(op, tuple(input_types), config.floatX, config.cast_policy)


@lru_cache(maxsize=4096)
def _gradient_graph(
    op: ScalarOp, input_types: tuple[ScalarType, ...], floatX: str, cast_policy: str
) -> ScalarGradientGraph:
    inputs = tuple(input_type() for input_type in input_types)
    outputs = tuple(output_type() for output_type in op.output_types(input_types))
    output_grads = tuple(_gradient_leaf(output, floatX) for output in outputs)
    grads = tuple(op.L_op(inputs, outputs, output_grads))
    return ScalarGradientGraph(inputs, outputs, output_grads, grads)


def _gradient_leaf(output: ScalarVariable, floatX: str) -> ScalarVariable:
    return get_scalar_type(floatX if output.type.is_discrete else output.type.dtype)()
