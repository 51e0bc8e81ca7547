"""Theano's random streams: their methods take the size first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aesara.tensor as at
from aesara.configdefaults import config
from aesara.tensor.random.stream import RandomStream

__all__ = ["RandomStreams"]


class RandomStreams:
    """Random variables whose generators are shared variables that functions update.

    The numbers are those of NumPy's generators and not those that Theano drew.

    Parameters
    ----------
    seed
        An integer; None for one that differs from run to run.

    Examples
    --------
    >>> stream = RandomStreams(seed=234)
    >>> aesara.function([], stream.uniform((2, 3)))().shape
    (2, 3)
    """

    def __init__(self, seed: int | None = None) -> None:
        self._stream = RandomStream(seed)

    def seed(self, seed: int | None = None) -> None:
        """Give every generator of the stream another seed."""
        self._stream.seed(seed)

    def updates(self) -> list[tuple[Any, Any]]:
        """The updates of the generators, which functions do by themselves."""
        return self._stream.updates()

    @property
    def state_updates(self) -> list[tuple[Any, Any]]:
        return self._stream.state_updates

    def uniform(self, size: Any = None, low: Any = 0.0, high: Any = 1.0, ndim: object = None, dtype: Any = None) -> Any:
        """Numbers between `low` and `high`."""
        return at.cast(self._stream.uniform(low, high, size=size), dtype or config.floatX)

    def normal(self, size: Any = None, avg: Any = 0.0, std: Any = 1.0, ndim: object = None, dtype: Any = None) -> Any:
        """Numbers of mean `avg` and standard deviation `std`."""
        return at.cast(self._stream.normal(avg, std, size=size), dtype or config.floatX)

    def binomial(
        self,
        size: object = None,
        n: object = 1,
        p: object = 0.5,
        ndim: object = None,
        dtype: str = "int64",
        prob: object = None,
    ) -> Any:
        """Draw the number of successes in `n` trials of probability `p`."""
        return at.cast(self._stream.binomial(n, p if prob is None else prob, size=size), dtype)

    def poisson(self, size: object = None, lam: object = None, ndim: object = None, dtype: str = "int64") -> Any:
        """Counts of mean `lam` (1 if it is None)."""
        return at.cast(self._stream.poisson(1.0 if lam is None else lam, size=size), dtype)

    def random_integers(
        self, size: object = None, low: object = 0, high: object = 1, ndim: object = None, dtype: str = "int64"
    ) -> Any:
        """Integers from `low` to `high`, both included."""
        return at.cast(self._stream.integers(low, at.as_tensor_variable(high) + 1, size=size), dtype)

    def choice(
        self,
        size: object = None,
        a: object = 2,
        replace: bool = True,
        p: object = None,
        ndim: object = None,
        dtype: str = "int64",
    ) -> Any:
        """Entries of `a`, or integers below it."""
        return at.cast(self._stream.choice(a, size=size, replace=replace, p=p), dtype)

    def permutation(self, size: object = None, n: object = 1, ndim: object = None, dtype: str = "int64") -> Any:
        """The integers below `n` in random order."""
        if size is not None and (not isinstance(size, Sequence) or len(size)):
            raise NotImplementedError("RandomStreams.permutation draws one permutation: size must be None or ().")
        return at.cast(self._stream.permutation(n), dtype)

    def multinomial(
        self, size: object = None, n: object = 1, pvals: object = (0.5, 0.5), ndim: object = None, dtype: str = "int64"
    ) -> Any:
        """Draw the numbers of outcomes of each kind in `n` trials."""
        return at.cast(self._stream.multinomial(n, pvals, size=size), dtype)

    def shuffle_row_elements(self, input: object) -> Any:
        """The vector's elements, or those of each row alike, in random order."""
        input = at.as_tensor_variable(input)
        return input[..., self._stream.permutation(input.shape[-1])]
