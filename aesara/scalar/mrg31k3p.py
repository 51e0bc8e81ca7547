"""The generator MRG31k3p, for many streams at once.

It combines two linear recurrences of order three modulo primes below 2**31 [1]_. With states
``(x1, x2, x3, y1, y2, y3)``, of which ``x1`` and ``y1`` are the newest, a step is ::

    x = (2**22 x2 + (2**7 + 1) x3) mod (2**31 - 1)
    y = (2**15 y1 + (2**15 + 1) y3) mod (2**31 - 21069)

and gives ``(x - y) mod (2**31 - 1)``, where the modulus stands for zero.  Since a step is a product with a matrix, many
steps are a product with its power: so streams are put far apart, and a long one is computed in pieces side by side.

.. [1] P. L'Ecuyer and R. Touzin, "Fast combined multiple recursive generators with multipliers of the form
   a = +-2^q +- 2^r", Proceedings of the 2000 Winter Simulation Conference, 683-689.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["M1", "M2", "advance", "integers", "jump", "powers", "spread"]

M1 = 2**31 - 1
M2 = 2**31 - 21069
_STEP = (
    (((0, 2**22, 2**7 + 1), (1, 0, 0), (0, 1, 0)), M1),
    (((2**15, 0, 2**15 + 1), (1, 0, 0), (0, 1, 0)), M2),
)
#: maximum number of blocks of streams that are computed at the same time
_MAX_BLOCKS = 1024


def advance(state: tuple[Any, ...], select: Callable[[Any, Any, Any], Any]) -> tuple[tuple[Any, ...], Any]:
    """Return the next state of a stream and its number.

    The six words may be arrays of NumPy or JAX, or values of native code: every back end runs this function.

    Parameters
    ----------
    state
        Six integers of 64 bits.
    select
        Chooses one of two values by a condition, as `numpy.where` does.

    Examples
    --------
    >>> advance((1, 2, 3, 4, 5, 6), lambda condition, yes, no: yes if condition else no)
    ((8388995, 1, 2, 327686, 4, 5), 8061309)
    """
    x1, x2, x3, y1, y2, y3 = state
    x = (x2 * 2**22 + x3 * (2**7 + 1)) % M1
    y = (y1 * 2**15 + y3 * (2**15 + 1)) % M2
    difference = x - y
    return (x, x1, x2, y, y1, y2), select(x > y, difference, difference + M1)


@functools.lru_cache(maxsize=64)
def powers(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices of `steps` steps for both recurrences."""
    matrices = []
    for rows, modulus in _STEP:
        base = np.array(rows, dtype=object)  # Python's integers: exact
        result, rest = np.eye(3, dtype=object), steps
        while rest:
            if rest & 1:
                result = result @ base % modulus
            base, rest = base @ base % modulus, rest >> 1
        matrices.append(result.astype(np.int64))
    return matrices[0], matrices[1]


def jump(states: np.ndarray, steps: int) -> np.ndarray:
    """Return the states, of shape (..., 6), after `steps` steps."""
    parts = []
    for k, (matrix, (_, modulus)) in enumerate(zip(powers(steps), _STEP)):
        part = states[..., 3 * k : 3 * k + 3].astype(np.int64)
        # Products stay below 2**62; they are reduced before they are added.
        parts.append((part[..., None, :] * matrix % modulus).sum(-1) % modulus)
    return np.concatenate(parts, axis=-1)


def spread(states: np.ndarray, steps: int, count: int) -> np.ndarray:
    """Return the states after 0, `steps`, 2 `steps`, ... steps, of shape (count, ..., 6)."""
    result = np.asarray(states, dtype=np.int64)[None]
    while len(result) < count:
        result = np.concatenate([result, jump(result, steps * len(result))])
    return result[:count]


def integers(states: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the next numbers of several streams, one of each stream in turn, and the new states.

    Parameters
    ----------
    states
        Shape (streams, 6).
    count
        The total number of draws, which need not be a multiple of the number of streams.

    Returns
    -------
    tuple
        Integers from 1 to M1, of shape (count,), and states of the same shape as before.

    Examples
    --------
    >>> numbers, states = integers(np.full((1, 6), 12345), 2)
    >>> (numbers / 2**31).round(6).tolist(), states.shape
    ([0.735324, 0.614207], (1, 6))
    """
    streams = len(states)
    rounds, rest = divmod(count, streams)
    # Block p of a stream consists of its rounds p * length, p * length + 1, ...
    blocks = max(1, min(_MAX_BLOCKS // streams, rounds))
    length = -(-rounds // blocks)
    starts = spread(states, length, blocks)
    state = tuple(np.moveaxis(starts, -1, 0))
    numbers_of_blocks = np.empty((blocks, length, streams), dtype=np.int64)
    for k in range(length):
        state, numbers_of_blocks[:, k] = advance(state, np.where)
    ends = jump(np.asarray(states, dtype=np.int64), rounds)
    next_states, last_numbers = advance(tuple(np.moveaxis(ends[:rest], -1, 0)), np.where)
    numbers = np.concatenate([numbers_of_blocks.reshape(-1, streams)[:rounds].ravel(), last_numbers])
    return numbers, np.concatenate([np.stack(next_states, axis=-1), ends[rest:]])
