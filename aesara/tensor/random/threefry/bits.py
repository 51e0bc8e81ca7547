"""Random bits from a key and a counter: Threefry-2x32 with 20 rounds, and keys made of keys.

The function is that of J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
How keys are made, split and counted is as in JAX with ``jax_threefry_partitionable``: element number ``n`` of a draw
depends on the key and on ``n`` alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import infer_static_shape
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import integer_dtypes, uint_dtypes
from aesara.tensor.core.tensor_like import IntegerLike, ShapeLike, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.joining.join_split import stack
from aesara.tensor.random.parameters import SizeLike, normalize_size_param

__all__ = ["bits", "fold_in", "key", "split", "threefry2x32"]

#: How far the second word is rotated in each round; two lists that take turns.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
#: Of the key schedule of Skein, cut to 32 bits.
PARITY = 0x1BD11BDA
#: Four rounds each, after which words of the key are added.
GROUPS = 5


def threefry2x32(
    k0: TensorLike, k1: TensorLike, x0: TensorLike, x1: TensorLike
) -> tuple[TensorVariable, TensorVariable]:
    """Return two words of random bits, given two words of a key and two words of a counter.

    Parameters
    ----------
    k0, k1
        The words of the key, of dtype uint32.
    x0, x1
        The words of the counter, of dtype uint32; all four broadcast.

    Returns
    -------
    tuple of TensorVariable
        Two words of dtype uint32, a permutation of the counter's for each key.

    Examples
    --------
    >>> import numpy as np
    >>> zero = np.uint32(0)
    >>> [hex(word.eval()) for word in threefry2x32(zero, zero, zero, zero)]
    ['0x6b200159', '0x99ba4efe']
    """
    first, second, y0, y1 = (_as_word(word) for word in (k0, k1, x0, x1))
    keys = (first, second, first ^ second ^ np.uint32(PARITY))
    y0, y1 = y0 + keys[0], y1 + keys[1]
    for group in range(GROUPS):
        for distance in ROTATIONS[group % 2]:
            y0 = y0 + y1
            y1 = ((y1 << np.uint32(distance)) | (y1 >> np.uint32(32 - distance))) ^ y0
        y0 = y0 + keys[(group + 1) % 3]
        y1 = y1 + (keys[(group + 2) % 3] + np.uint32(group + 1))
    return y0, y1


def key(seed: TensorLike) -> TensorVariable:
    """Return the key for a seed.

    Parameters
    ----------
    seed
        An integer, also a symbolic one, of 64 bits; all that differ give keys that differ.

    Returns
    -------
    TensorVariable
        A vector of two numbers of dtype uint32: the upper and the lower half of the seed.

    Examples
    --------
    >>> key(2**40 + 5).eval()
    array([256,   5], dtype=uint32)
    """
    if isinstance(seed, bool | np.bool_):
        raise TypeError(f"A seed must be an integer, got {seed!r}.")
    if isinstance(seed, int | np.integer):
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"A seed has 64 bits, but {seed} needs more.")
        word = int(seed) % 2**64
        return constant(np.array([word >> 32, word % 2**32], dtype="uint32"))
    seed = as_tensor_variable(seed)
    if seed.type.ndim or seed.type.dtype not in integer_dtypes:
        raise TypeError(f"A seed must be an integer, got {seed} of type {seed.type}.")
    seed = cast(seed, "uint64")
    return stack([cast(seed >> np.uint64(32), "uint32"), cast(seed, "uint32")])


def split(key: TensorLike, n: ShapeLike = 2) -> TensorVariable:
    """Return several independent keys derived from a key.

    The key itself must not be used afterwards, neither for draws nor for another split.

    Parameters
    ----------
    key
        The key.
    n
        How many; or the shape of an array of keys.

    Returns
    -------
    TensorVariable
        The keys, along a last dimension of length 2.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> first, second = threefry.split(threefry.key(0))
    >>> threefry.split(threefry.key(0), (5, 3)).type.shape
    (5, 3, 2)
    """
    k0, k1 = words_of_key(key)
    return stack(threefry2x32(k0, k1, *numbers_of_elements(normalize_size_param(n))), axis=-1)


def fold_in(key: TensorLike, data: TensorLike) -> TensorVariable:
    """Return a key derived from a key and an integer, such as the number of a step or of an observation.

    Parameters
    ----------
    key
        The key.
    data
        An integer, of which the lower 32 bits count; of an array of them, one key for each element.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> threefry.fold_in(threefry.key(0), 7).eval()
    array([2716826189,  292468403], dtype=uint32)
    """
    k0, k1 = words_of_key(key)
    data = as_tensor_variable(data)
    if data.type.dtype not in integer_dtypes:
        raise TypeError(f"What is folded into a key must be an integer, got {data} of type {data.type}.")
    return stack(threefry2x32(k0, k1, np.uint32(0), cast(data, "uint32")), axis=-1)


def bits(key: TensorLike, size: SizeLike = None, dtype: str = "uint32") -> TensorVariable:
    """Random bits.

    Parameters
    ----------
    key
        The key.
    size
        The shape; one number without it.
    dtype
        An unsigned integer dtype.

    Examples
    --------
    >>> from aesara.tensor.random import threefry
    >>> threefry.bits(threefry.key(0), size=3, dtype="uint8").type
    TensorType(uint8, (3,))
    """
    return bits_of_shape(key, normalize_size_param(size), dtype)


def bits_of_shape(key: TensorLike, shape: Variable | Sequence[IntegerLike], dtype: str) -> TensorVariable:
    """Random bits; `shape` is a symbolic vector of known length, empty for one number."""
    if dtype not in uint_dtypes:
        raise TypeError(f"Bits are of an unsigned integer dtype, not of {dtype!r}.")
    high, low = threefry2x32(*words_of_key(key), *numbers_of_elements(shape))
    if dtype == "uint64":
        return (cast(high, "uint64") << np.uint64(32)) | cast(low, "uint64")
    return cast(high ^ low, dtype)


def words_of_key(key: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """Return the two words of a key."""
    key = as_tensor_variable(key)
    if key.type.ndim != 1 or key.type.dtype != "uint32" or key.type.shape[0] not in (None, 2):
        raise TypeError(
            f"A key is a vector of two numbers of dtype uint32, as `key`, `split` and `fold_in` make them; got {key} "
            f"of type {key.type}. Draws for many keys at once are those of a function made by `at.vectorize`."
        )
    return key[0], key[1]


def numbers_of_elements(shape: Variable | Sequence[IntegerLike]) -> tuple[TensorVariable, TensorVariable]:
    """Return the positions of the elements of an array in C order, in two words of dtype uint32.

    Parameters
    ----------
    shape
        A symbolic vector of known length.
    """
    sizes, static = infer_static_shape(shape)
    ndim = len(sizes)
    total: TensorVariable = constant(np.int64(0))
    stride: Any = 1
    for axis in reversed(range(ndim)):
        size: Any = sizes[axis] if static[axis] is None else static[axis]
        pattern = ["x"] * axis + [0] + ["x"] * (ndim - axis - 1)
        numbers = arange(size, dtype="int64").dimshuffle(pattern)
        total = numbers * stride + total if axis < ndim - 1 else numbers
        stride = stride * size
    few = None not in static and math.prod(n for n in static if n is not None) <= 2**32
    high = constant(np.uint32(0)) if few else cast(total >> 32, "uint32")
    return high, cast(total, "uint32")


def _as_word(word: TensorLike) -> TensorVariable:
    word = as_tensor_variable(word)
    if word.type.dtype != "uint32":
        raise TypeError(f"Words are of dtype uint32, got {word} of type {word.type}.")
    return word
