"""Conversions of `nonzero`, `choose`, permutations of rows, and conversions of indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import Checks, is_known, jax_funcify, require, require_known
from aesara.link.jax.dispatch.subtensor import Indexing, integers
from aesara.tensor.indexing.choosing import Choose
from aesara.tensor.indexing.index_conversion import RavelMultiIndex, UnravelIndex
from aesara.tensor.indexing.nonzero import Nonzero
from aesara.tensor.indexing.permuting import PermuteRowElements
from aesara.tensor.indexing.selection import Default


@jax_funcify.register(Nonzero)
def jax_funcify_Nonzero(op: Nonzero, **kwargs: Any) -> Callable[..., Any]:
    """Return the positions of nonzero entries of a known array."""

    def nonzero(x: Any) -> tuple[np.ndarray, ...]:
        positions = np.nonzero(require_known(x, "The number of the entries that are not zero"))
        return tuple(along.astype("int64") for along in positions)

    return nonzero


@jax_funcify.register(Default)
def jax_funcify_Default(op: Default, **kwargs: Any) -> Callable[..., Any]:
    """Return the first value unless it is None."""
    return lambda x, otherwise: otherwise if x is None else x


@jax_funcify.register(Choose)
def jax_funcify_Choose(op: Choose, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Select each entry from the choice with the given number."""
    indexing = Indexing(node, checks)

    def choose(a: Any, choices: Any) -> Any:
        n_choices = len(choices)
        a = jnp.asarray(a).astype(int)
        if op.mode == "raise":
            message = f"Choose: an index is out of range; there are {n_choices} choices."
            require(checks, (a >= 0) & (a < n_choices), ValueError, message, node)
        a = a % max(n_choices, 1) if op.mode == "wrap" else jnp.clip(a, 0, n_choices - 1)
        shape = np.broadcast_shapes(a.shape, choices.shape[1:])
        new = (1,) * (len(shape) - choices.ndim + 1)
        stacked = jnp.broadcast_to(choices.reshape((n_choices, *new, *choices.shape[1:])), (n_choices, *shape))
        return indexing.read(stacked, (a, *np.indices(shape, sparse=True)))

    return choose


@jax_funcify.register(PermuteRowElements)
def jax_funcify_PermuteRowElements(op: Any, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Any:
    """Permute entries along the last dimension."""
    indexing = Indexing(node, checks)

    def permute(x: Any, y: Any, inverse: Any) -> Any:
        shape = np.broadcast_shapes(x.shape, y.shape)
        x, y = jnp.broadcast_to(x, shape), jnp.broadcast_to(y, shape)
        index = (*np.indices(shape, sparse=True)[:-1], y)
        if not is_known(inverse):
            return jnp.where(inverse != 0, scatter(x, index), indexing.read(x, index))
        return scatter(x, index) if inverse else indexing.read(x, index)

    def scatter(x: Any, index: Any) -> Any:
        return indexing.write(jnp.zeros_like(x), x, index, is_set=True)

    return permute


@jax_funcify.register(UnravelIndex)
def jax_funcify_UnravelIndex(op: UnravelIndex, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Any:
    """Convert flat indices to indices along each dimension."""

    def unravel(indices: Any, dims: Any) -> Any:
        rest, dims = integers(jnp.asarray(indices)), integers(jnp.asarray(dims))
        message = "index is out of bounds for the array with these dimensions"
        require(checks, (rest >= 0) & (rest < dims.prod()), ValueError, message, node)
        order = range(len(node.outputs))
        positions = {}
        for axis in reversed(order) if op.order == "C" else order:
            positions[axis] = rest % dims[axis]
            rest = rest // dims[axis]
        return tuple(positions[axis] for axis in order)

    return unravel


@jax_funcify.register(RavelMultiIndex)
def jax_funcify_RavelMultiIndex(op: RavelMultiIndex, node: Apply, checks: Checks | None = None, **kwargs: Any) -> Any:
    """Convert indices along each dimension to flat indices."""

    def ravel(*values: Any) -> Any:
        *positions, dims = (integers(jnp.asarray(value)) for value in values)
        if len(positions) != len(dims):
            raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
        modes = (op.mode,) * len(dims) if isinstance(op.mode, str) else op.mode
        axes = list(range(len(dims)))
        total: Any = jnp.zeros((), dtype=int)
        for axis in axes if op.order == "C" else reversed(axes):
            position, length = positions[axis], dims[axis]
            if modes[axis] == "raise":
                holds = (position >= 0) & (position < length)
                require(checks, holds, ValueError, "invalid entry in coordinates array", node)
            elif modes[axis] == "wrap":
                position = position % length
            else:
                position = jnp.clip(position, 0, length - 1)
            total = total * length + position
        return total

    return ravel
