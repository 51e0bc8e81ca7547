"""Conversion of `Blockwise`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import NEVER_FOLDED, jax_funcify
from aesara.tensor.vectorization.blockwise import Blockwise

NEVER_FOLDED.add(Blockwise)


@jax_funcify.register(Blockwise)
def jax_funcify_Blockwise(op: Blockwise, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Map the function of the core op over each dimension of the batch."""
    assert node is not None
    core = op.core_node(node.inputs)
    function = jax_funcify(op.core_op, node=core, **kwargs)
    # without checks for an empty batch, of which JAX would look for the first member that fails
    unchecked = jax_funcify(op.core_op, node=core, **kwargs | {"checks": None})

    def map_batch(*values: Any) -> Any:
        batch = op.batch_shape(node, values)
        axes: list[list[int | None]] = [[None] * len(values) for _ in batch]
        members = list(values)
        for position, (x, dims) in enumerate(zip(values, op.inputs_signature)):
            first = len(batch) - (x.ndim - len(dims))
            spread = tuple(k for k in range(x.ndim - len(dims)) if x.shape[k] != batch[first + k])
            for k in range(x.ndim - len(dims)):
                axes[first + k][position] = None if k in spread else 0
            members[position] = x.squeeze(spread)
        mapped = [k for k in range(len(values)) if any(of_axis[k] == 0 for of_axis in axes)]

        def of_member(*chosen: Any) -> Any:
            # arguments that are the same for all members may be known
            own = dict(zip(mapped, chosen))
            return (unchecked if 0 in batch else function)(*(own.get(k, value) for k, value in enumerate(members)))

        of_batch = of_member
        for of_axis in reversed(axes):
            of_batch = jax.vmap(of_batch, in_axes=tuple(of_axis[k] for k in mapped))
        return of_batch(*(jnp.asarray(members[k]) for k in mapped))

    return map_batch
