"""Conversions of sorting, searching and `unique`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import jax_funcify, known_ints, perform_node, require, require_known
from aesara.link.jax.dispatch.scalar import cast
from aesara.tensor.ordering.searching import SearchsortedOp, Unique
from aesara.tensor.ordering.sorting import ArgSortOp, SortOp, TopKOp


def _axis(axis: Any, ndim: int) -> int:
    (number,) = known_ints([axis], "The axis of a sort")
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim)
    return number


@jax_funcify.register(SortOp)
def jax_funcify_SortOp(op: SortOp, **kwargs: Any) -> Callable[..., Any]:
    """Sort elements, NaN last; every kind of sort is stable."""
    return lambda x, axis: jnp.sort(x, axis=_axis(axis, x.ndim), stable=True)


@jax_funcify.register(ArgSortOp)
def jax_funcify_ArgSortOp(op: ArgSortOp, **kwargs: Any) -> Callable[..., Any]:
    """Return the positions that sort elements by a stable sort."""
    return lambda x, axis: cast(jnp.argsort(x, axis=_axis(axis, x.ndim), stable=True), "int64")


@jax_funcify.register(TopKOp)
def jax_funcify_TopKOp(op: TopKOp, **kwargs: Any) -> Callable[..., Any]:
    """Return the last or first elements of a stable sort, and their positions."""

    def topk(x: Any, kth: Any) -> list[Any]:
        (k,) = known_ints([kth], "The number of elements that topk takes")
        axis = op.axis % x.ndim
        length = x.shape[axis]
        if k == 0 or abs(k) > length:
            raise ValueError(
                f"topk: kth cannot be zero or larger than the length of the axis; got {k} for length {length}."
            )
        ascending = jnp.moveaxis(jnp.argsort(x, axis=axis, stable=True), axis, -1)
        chosen = ascending[..., : -k - 1 : -1] if k > 0 else ascending[..., :-k]
        positions = jnp.moveaxis(chosen, -1, axis)
        values = [jnp.take_along_axis(x, positions, axis)] if op.return_values else []
        return values + ([cast(positions, op.idx_dtype)] if op.return_indices else [])

    return topk


@jax_funcify.register(SearchsortedOp)
def jax_funcify_SearchsortedOp(
    op: SearchsortedOp, node: Apply | None = None, checks: Any = None, **kwargs: Any
) -> Callable[..., Any]:
    """Return the insertion positions of values in a vector, sorted by `sorter` if given."""
    assert node is not None
    dtype = np.result_type(*(variable.type.dtype for variable in node.inputs[:2])).name

    def searchsorted(x: Any, values: Any, sorter: Any = None) -> Any:
        x, values = (jnp.asarray(cast(value, dtype)) for value in (x, values))
        if sorter is not None:
            if sorter.size != x.size:
                raise ValueError("sorter.size must equal a.size")
            inside = (sorter >= 0) & (sorter < x.size)
            require(checks, inside, ValueError, "Sorter index out of range.", node)
            x = x[sorter]
        return cast(jnp.searchsorted(x, values, side=op.side), "int64")

    return searchsorted


@jax_funcify.register(Unique)
def jax_funcify_Unique(op: Unique, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Compute `unique` of a known array by NumPy."""
    assert node is not None
    return lambda x: perform_node(node, [require_known(x, "The number of different entries")])
