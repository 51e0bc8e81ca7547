"""Conversions of elementwise Ops and `DimShuffle`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.link.jax.dispatch.basic import is_known, jax_funcify
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.length_one import declare_length_one


@jax_funcify.register(Elemwise)
def jax_funcify_Elemwise(op: Elemwise, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Apply the scalar op; only dimensions of static length 1 broadcast."""
    assert node is not None
    function = jax_funcify(op.scalar_op, node=node, **kwargs)

    def elementwise(*values: Any) -> Any:
        common = _common_shape(node.inputs, values)
        result = function(*values)
        results = result if isinstance(result, tuple) else (result,)
        results = tuple(r if np.shape(r) == common else jnp.broadcast_to(r, common) for r in results)
        return results if len(results) > 1 else results[0]

    return elementwise


def _common_shape(variables: Sequence[Variable], values: Sequence[Any]) -> tuple[int, ...]:
    shape: list[int] = []
    static = [variable.type.shape for variable in variables]
    for axis in range(len(static[0]) if static else 0):
        lengths = {np.shape(value)[axis]: k for k, value in enumerate(values) if static[k][axis] != 1}
        if len(lengths) > 1:
            (size, first), (other, second) = list(lengths.items())[:2]
            hint = declare_length_one([(variables[k], axis, length) for length, k in lengths.items()])
            raise ValueError(
                f"Input dimension mismatch: input {first} has size {size} and input {second} has size {other} along "
                f"dimension {axis} of an elementwise operation. Only dimensions whose length is statically known to be "
                f"1 are broadcast (see specify_broadcastable).{hint}"
            )
        shape.append(next(iter(lengths), 1))
    return tuple(shape)


@jax_funcify.register(DimShuffle)
def jax_funcify_DimShuffle(op: DimShuffle, **kwargs: Any) -> Callable[..., Any]:
    """Squeeze, transpose, and insert dimensions of length 1."""
    kept = [axis for axis in op.new_order if isinstance(axis, int)]

    def shuffle(x: Any) -> Any:
        for axis in op.drop:
            if x.shape[axis] != 1:
                raise ValueError(f"Dimension {axis} is dropped, so its length must be 1; it is {x.shape[axis]}.")
        module = np if is_known(x) else jnp
        transposed = module.transpose(module.squeeze(x, axis=tuple(op.drop)), _ranks(kept))
        return module.expand_dims(transposed, [k for k, axis in enumerate(op.new_order) if axis == "x"])

    return shuffle


def _ranks(kept: Sequence[int]) -> list[int]:
    ordered = sorted(kept)
    return [ordered.index(axis) for axis in kept]


@jax_funcify.register(TensorFromScalar)
@jax_funcify.register(ScalarFromTensor)
def _same_value(op: Any, **kwargs: Any) -> Callable[..., Any]:
    return lambda value: value
