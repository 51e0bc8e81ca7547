"""Conversions of ops that create, join and split arrays, and of diagonals."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.link.jax.dispatch.basic import (
    NEVER_FOLDED,
    jax_funcify,
    known_ints,
    module_for,
    perform_node,
    require_known,
)
from aesara.link.jax.dispatch.scalar import cast
from aesara.tensor.creation.allocation import Alloc, AllocEmpty
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag, FillDiagonal, FillDiagonalOffset
from aesara.tensor.creation.eye_tri import Eye, Tri
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.joining.join_split import Join, Split
from aesara.tensor.sequences.windows import Bartlett

NEVER_FOLDED |= {Alloc, AllocDiag, AllocEmpty, ARange, Bartlett, Eye, Tri}


def _shape(sizes: Sequence[Any], op: Any) -> tuple[int, ...]:
    shape = known_ints(sizes, f"The shape of the result of {op}")
    if min(shape, default=0) < 0:
        raise ValueError("negative dimensions are not allowed")
    return shape


@jax_funcify.register(Alloc)
def jax_funcify_Alloc(op: Alloc, **kwargs: Any) -> Callable[..., Any]:
    """Broadcast the value to the shape."""

    def alloc(value: Any, *sizes: Any) -> Any:
        shape = _shape(sizes, "alloc")
        return module_for(math.prod(shape), value).broadcast_to(value, shape)

    return alloc


@jax_funcify.register(AllocEmpty)
def jax_funcify_AllocEmpty(op: AllocEmpty, **kwargs: Any) -> Callable[..., Any]:
    """Return zeros, since XLA has no uninitialized arrays."""

    def empty(*sizes: Any) -> Any:
        shape = _shape(sizes, op)
        return module_for(math.prod(shape)).zeros(shape, op.dtype)

    return empty


@jax_funcify.register(ARange)
def jax_funcify_ARange(op: ARange, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Return a range as NumPy computes it; XLA extends long ones from the first two entries."""
    assert node is not None
    dtype = np.dtype(op.dtype)
    wide = "int64" if dtype.kind in "iu" else np.promote_types(dtype, "float32")

    def arange(*bounds: Any) -> Any:
        (numbers,) = perform_node(
            node, [require_known(bound, "The length of the result of arange") for bound in bounds]
        )
        if module_for(numbers.size) is np:
            return numbers
        first, second = numbers[:2].astype(wide)
        return (first + jnp.arange(numbers.size, dtype=wide) * (second - first)).astype(dtype)

    return arange


def _diagonal(shape: Sequence[int], offset: Any, compare: Callable[[Any, Any], Any] = operator.eq) -> Any:
    """Return a boolean matrix that compares each column with that of the diagonal."""
    rows, columns = shape
    module = module_for(rows * columns, offset)
    return compare(module.arange(columns), module.arange(rows)[:, None] + cast(offset, "int64"))


@jax_funcify.register(Eye)
def jax_funcify_Eye(op: Eye, **kwargs: Any) -> Callable[..., Any]:
    """Return ones on a diagonal, whose offset may be unknown."""
    return lambda n, m, k: _diagonal(_shape([n, m], op), k).astype(op.dtype)


@jax_funcify.register(Tri)
def jax_funcify_Tri(op: Tri, **kwargs: Any) -> Callable[..., Any]:
    """Return ones up to a diagonal, whose offset may be unknown; negative sizes are 0, as in NumPy."""

    def tri(n: Any, m: Any, k: Any) -> Any:
        sizes = known_ints([n, m], f"The shape of the result of {op}")
        return _diagonal([max(size, 0) for size in sizes], k, operator.le).astype(op.dtype)

    return tri


@jax_funcify.register(Bartlett)
def jax_funcify_Bartlett(op: Bartlett, **kwargs: Any) -> Callable[..., Any]:
    """Return the window of a known length."""

    def bartlett(n: Any) -> Any:
        (length,) = known_ints([n], "The length of the result of bartlett")
        return module_for(length).bartlett(max(length, 0))

    return bartlett


@jax_funcify.register(MakeVector)
def jax_funcify_MakeVector(op: MakeVector, **kwargs: Any) -> Callable[..., Any]:
    """Stack scalars to a vector."""
    return lambda *values: jnp.stack([cast(v, op.dtype) for v in values]) if values else np.empty(0, op.dtype)


def _axis(axis: Any, ndim: int, user: str) -> int:
    """Return the known, nonnegative axis of a join or split."""
    (number,) = known_ints([axis], f"The axis of {user}")
    if not -ndim <= number < ndim:
        raise IndexError(f"{user} axis {number} out of bounds [-{ndim}, {ndim})")
    return number % ndim


@jax_funcify.register(Join)
def jax_funcify_Join(op: Join, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Concatenate arrays along a known axis."""
    assert node is not None
    dtype = node.outputs[0].type.dtype

    def join(axis: Any, *arrays: Any) -> Any:
        along = _axis(axis, arrays[0].ndim, "Join")
        others = {(*x.shape[:along], *x.shape[along + 1 :]) for x in arrays}
        if len(others) > 1:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly; got shapes "
                f"{', '.join(str(x.shape) for x in arrays)} to join along axis {along}"
            )
        return jnp.concatenate([cast(x, dtype) for x in arrays], axis=along)

    return join


@jax_funcify.register(Split)
def jax_funcify_Split(op: Split, **kwargs: Any) -> Callable[..., Any]:
    """Split an array into parts of known sizes."""

    def split(x: Any, axis: Any, sizes: Any) -> list[Any]:
        along = _axis(axis, x.ndim, "Split")
        lengths = require_known(sizes, f"The sizes of the results of {op}").tolist()
        op.check_sizes(x.shape[along], lengths)
        return jnp.split(x, np.cumsum(lengths[:-1], dtype="int64"), axis=along)

    return split


@jax_funcify.register(ExtractDiag)
def jax_funcify_ExtractDiag(op: ExtractDiag, **kwargs: Any) -> Callable[..., Any]:
    """Return the diagonals of matrices."""
    return lambda x: jnp.diagonal(x, op.offset, op.axis1, op.axis2)


@jax_funcify.register(AllocDiag)
def jax_funcify_AllocDiag(op: AllocDiag, **kwargs: Any) -> Callable[..., Any]:
    """Return matrices with the given diagonals, by a `where` over columns."""

    def alloc_diag(x: Any) -> Any:
        size = x.shape[-1] + abs(op.offset)
        module = module_for(math.prod(x.shape[:-1]) * size**2, x)
        before, after = max(op.offset, 0), max(-op.offset, 0)
        columns = module.pad(x, [(0, 0)] * (x.ndim - 1) + [(before, after)])
        is_diagonal = _diagonal((size, size), op.offset)
        matrices = module.where(is_diagonal, columns[..., None, :], module.zeros((), x.dtype))
        return module.moveaxis(matrices, (-2, -1), (op.axis1, op.axis2))

    return alloc_diag


@jax_funcify.register(FillDiagonal)
def jax_funcify_FillDiagonal(op: FillDiagonal, **kwargs: Any) -> Callable[..., Any]:
    """Fill the entries whose indices are all equal."""

    def fill(x: Any, value: Any) -> Any:
        if x.ndim > 2 and len(set(x.shape)) > 1:
            raise ValueError("All dimensions of input must be of equal length")
        first, *others = jnp.indices(x.shape, sparse=True)
        return jnp.where(functools.reduce(operator.and_, [first == other for other in others]), value, x)

    return fill


@jax_funcify.register(FillDiagonalOffset)
def jax_funcify_FillDiagonalOffset(op: FillDiagonalOffset, **kwargs: Any) -> Callable[..., Any]:
    """Fill a diagonal, whose offset may be unknown."""
    return lambda x, value, offset: jnp.where(_diagonal(x.shape, offset), value, x)
