"""Whole numbers, truth values, categories and orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import infer_static_shape
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import all_dtypes, discrete_dtypes, float_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import eq, gt, log, lt, switch
from aesara.tensor.indexing.inc_subtensor import take
from aesara.tensor.joining.join_split import join, stack
from aesara.tensor.ordering.searching import searchsorted
from aesara.tensor.ordering.sorting import argsort
from aesara.tensor.random.parameters import SizeLike, normalize_size_param, sizes_of_shape
from aesara.tensor.random.threefry.bits import bits_of_shape, split
from aesara.tensor.random.threefry.continuous import standard_gumbel, standard_uniform
from aesara.tensor.random.threefry.parameters import convert, float_dtype, refuse, shape_and_params
from aesara.tensor.reductions.argmax import argmax
from aesara.tensor.reductions.sum_prod_max import prod
from aesara.tensor.sequences.cumulative import cumsum
from aesara.tensor.shapes.broadcasting import broadcast_to
from aesara.tensor.shapes.shape import shape_tuple

#: The lengths up to which this many rounds of sorting suffice: powers of the third root of 2^32 - 1.
ENOUGH_ROUNDS = (1, 1625, 2642245, 4294967295)

__all__ = ["bernoulli", "categorical", "choice", "permutation", "randint"]


def randint(
    key: TensorLike, low: TensorLike, high: TensorLike, size: SizeLike = None, dtype: str = "int64"
) -> TensorVariable:
    """Whole numbers from `low` to `high` - 1, equally likely but for the last bits of very long ranges.

    Parameters
    ----------
    key
        The key.
    low, high
        Integers; they broadcast to `size`.
    size
        Shape of the draws; that of the bounds without it.
    dtype
        An integer dtype that holds all the numbers. Two words of 32 bits are drawn for each, or of 64 for int64 and
        uint64.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> threefry.randint(threefry.key(42), 0, 100, size=4).type
    TensorType(int64, (4,))
    """
    if dtype not in integer_dtypes:
        raise TypeError(f"These draws are whole numbers; their dtype cannot be {dtype}.")
    info = np.iinfo(dtype)
    wide = "uint64" if dtype == "uint64" else "int64"
    bounds = [as_tensor_variable(bound) for bound in (low, high)]
    for bound in bounds:
        if bound.type.dtype not in discrete_dtypes or (bound.type.dtype == "uint64" and wide != "uint64"):
            raise TypeError(f"The bounds of draws of {dtype} are integers, got {bound} of type {bound.type}.")
    if wide == "uint64":
        bounds = [refuse(bound, lambda bound: bound < 0, "low and high cannot be negative") for bound in bounds]
    lowest, highest = (convert(bound, wide) for bound in bounds)
    highest = refuse(highest, lambda high, low: low >= high, "low >= high", lowest)
    if info.bits < 64:
        lowest = refuse(lowest, lambda low: low < info.min, f"low is out of bounds for {dtype}")
        highest = refuse(highest, lambda high: high > info.max + 1, f"high is out of bounds for {dtype}")
    shape, (lowest, highest) = shape_and_params(size, lowest, highest)
    # Use unsigned integers, because the difference may need all bits.
    unsigned = f"uint{max(info.bits, 32)}"
    first = convert(lowest, unsigned)
    return cast(first + _below(key, convert(highest, unsigned) - first, shape, unsigned), dtype)


def _below(key: TensorLike, length: TensorVariable, shape: Sequence[IntegerLike], dtype: str) -> TensorVariable:
    """Draw numbers of an unsigned dtype below `length`; 0 stands for 2 to the power of the number of bits."""
    keys = split(key)
    upper, lower = (bits_of_shape(keys[i], shape, dtype) for i in range(2))
    all_numbers = eq(length, 0)
    length = switch(all_numbers, np.array(1, dtype=dtype), length)
    # (upper * 2 ** bits + lower) % length
    half = np.array(2 ** (np.iinfo(dtype).bits // 2), dtype=dtype) % length
    remainder = (upper % length * (half * half % length) + lower % length) % length
    return switch(all_numbers, lower, remainder)


def bernoulli(key: TensorLike, p: TensorLike = 0.5, size: SizeLike = None, dtype: str = "int64") -> TensorVariable:
    """Ones with probability `p`, and zeros.

    Parameters
    ----------
    key
        The key.
    p
        The probability; it broadcasts to `size`.
    size
        Shape of the draws; that of `p` without it.
    dtype
        Any dtype, such as ``"bool"``.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> threefry.bernoulli(threefry.key(42), [0.0, 1.0]).eval()
    array([0, 1])
    """
    if dtype not in all_dtypes:
        raise TypeError(f"Draws cannot have the dtype {dtype}.")
    p = as_tensor_variable(p)
    probability = convert(p, p.type.dtype if p.type.dtype in float_dtypes else config.floatX)
    probability = refuse(probability, lambda p: (p < 0) | (p > 1), "p < 0 or p > 1")
    shape, (probability,) = shape_and_params(size, probability)
    return cast(lt(standard_uniform(key, shape, probability.type.dtype), probability), dtype)


def categorical(key: TensorLike, logits: TensorLike, axis: int = -1, size: SizeLike = None) -> TensorVariable:
    """Draw positions along an axis, with probabilities proportional to the exponentials of the logits.

    Parameters
    ----------
    key
        The key.
    logits
        Logarithms of probabilities, up to a constant for each distribution; minus infinity for impossible categories.
    axis
        The axis that has the categories.
    size
        Shape of the draws, to which the other axes broadcast; theirs without it.

    Returns
    -------
    TensorVariable
        The positions, of dtype int64.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara.tensor.random import threefry
    >>> threefry.categorical(threefry.key(42), at.log([[0.5, 0.5], [0.0, 1.0]])).type
    TensorType(int64, (2,))
    """
    logits = as_tensor_variable(logits)
    dtype = float_dtype(logits.type.dtype if logits.type.dtype in float_dtypes else None)
    logits = cast(logits, dtype)
    if logits.type.ndim == 0:
        raise ValueError("The logits of categories need at least one dimension.")
    axis = _checked_axis(axis, logits)
    sizes = sizes_of_shape(normalize_size_param(size))
    if sizes:
        if len(sizes) < logits.type.ndim - 1:
            raise ValueError(f"size has {len(sizes)} dimensions, fewer than those of logits that have no categories.")
        # Count the axis from the last dimension.
        axis_of_draws = len(sizes) - (logits.type.ndim - 1 - axis)
        shape = (*sizes[:axis_of_draws], logits.shape[axis], *sizes[axis_of_draws:])
        logits, axis = broadcast_to(logits, shape), axis_of_draws
    else:
        shape = shape_tuple(logits)
    return argmax(logits + standard_gumbel(key, shape, dtype), axis=axis)


def permutation(key: TensorLike, x: TensorLike, axis: int = 0) -> TensorVariable:
    """Return a random permutation along an axis.

    Parameters
    ----------
    key
        The key.
    x
        A tensor; or an integer ``n`` for the numbers from 0 to ``n - 1``.
    axis
        The axis.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> threefry.permutation(threefry.key(42), 5).eval()
    array([4, 2, 3, 0, 1])
    """
    x = as_tensor_variable(x)
    if x.type.ndim == 0:
        return _order(key, _checked_number(x))
    axis = _checked_axis(axis, x)
    return take(x, _order(key, shape_tuple(x)[axis]), axis=axis)


def choice(
    key: Any, a: TensorLike, size: SizeLike = None, replace: bool = True, p: Any = None, axis: int = 0
) -> TensorVariable:
    """Elements along an axis.

    Parameters
    ----------
    key
        The key.
    a
        A tensor; or an integer ``n`` for the numbers from 0 to ``n - 1``.
    size
        The shape that takes the place of the axis; one element without it.
    replace
        Whether an element may be drawn more than once.
    p
        A vector with the probability of each element, up to a factor; all are equally likely without it.
    axis
        The axis.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> threefry.choice(threefry.key(7), 10, size=6).eval()
    array([7, 9, 6, 9, 1, 2])
    """
    a = as_tensor_variable(a)
    if a.type.ndim:
        axis = _checked_axis(axis, a)
        n = shape_tuple(a)[axis]
    else:
        n = _checked_number(a)
    shape = sizes_of_shape(normalize_size_param(size))
    positions = _positions(key, n, shape, replace, p)
    return take(a, positions, axis=axis) if a.type.ndim else positions


def _positions(key: Any, n: Any, shape: tuple[Any, ...], replace: bool, p: Any) -> TensorVariable:
    """Numbers below `n`."""
    if p is not None:
        p = as_tensor_variable(p)
        if p.type.ndim != 1:
            raise ValueError(f"The probabilities of elements are a vector, got {p.type}.")
        p = convert(p, float_dtype(p.type.dtype if p.type.dtype in float_dtypes else None))
        p = refuse(p, lambda p, n: abs(p.shape[0] - n) > 0, "p and a differ in length", n)
        p = refuse(p, lambda p: p < 0, "Probabilities are not non-negative")
    if replace:
        if p is None:
            return randint(key, 0, n, shape)
        sums = cumsum(p)
        return searchsorted(sums, sums[-1] * (1 - standard_uniform(key, shape, p.type.dtype)))
    _, known = infer_static_shape(shape)
    total = math.prod(n for n in known if n is not None)
    count = prod(stack(shape)) if None in known else constant(np.int64(total))
    available = n if p is None else gt(p, 0).sum()
    message = "Cannot take more elements than there are without replacement"
    count = refuse(count, lambda count, available: count > available, message, available)
    order = (
        _order(key, n) if p is None else argsort(-(standard_gumbel(key, (n,), p.type.dtype) + log(p)), kind="stable")
    )
    return order[:count].reshape(shape)


def _checked_axis(axis: int, x: TensorVariable) -> int:
    """Return a nonnegative axis."""
    if not -x.type.ndim <= axis < x.type.ndim:
        raise ValueError(f"axis {axis} is out of bounds for a tensor with {x.type.ndim} dimensions.")
    return axis % x.type.ndim


def _checked_number(n: TensorVariable) -> TensorVariable:
    if n.type.dtype not in integer_dtypes:
        raise TypeError(f"A number of elements is an integer, got {n} of type {n.type}.")
    return n


def _order(key: TensorLike, n: IntegerLike) -> TensorVariable:
    """Return a random permutation of the numbers below `n`, by sorting random words.

    Equal words keep their order, so that a single sort is not uniform for large `n`. The number of rounds is JAX's:
    enough for the words of all rounds to number all triples.
    """
    (size,), (known,) = infer_static_shape([n])
    order = arange(size if known is None else known, dtype="int64")
    for longest in ENOUGH_ROUNDS:
        if known is not None and known <= longest:
            break
        # Skip the sort in unnecessary rounds.
        length = known if known is not None else switch(gt(size, longest), size, 0)
        key, ranking_key = split(key)
        ranks = argsort(bits_of_shape(ranking_key, (length,), "uint32"), kind="stable")
        order = order[ranks] if known is not None else join(0, order[:length][ranks], order[length:])
    return order
