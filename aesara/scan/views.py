"""Special cases of `scan`: map, reduce and folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.scan.basic import scan
from aesara.scan.parts import last_value
from aesara.updates import OrderedUpdates

__all__ = ["foldl", "foldr", "map", "reduce"]


def map(
    fn: Callable, sequences: Any, non_sequences: Any = None, truncate_gradient: int = -1, go_backwards: bool = False,
    mode: Any = None, name: str | None = None,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """Apply a function to each entry of sequences; the parameters are those of `scan`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dmatrix("x")
    >>> lengths, _ = aesara.map(lambda row: at.sqrt((row**2).sum()), x)
    >>> aesara.function([x], lengths)([[3.0, 4.0], [0.0, 2.0]])
    array([5., 2.])
    """
    return scan(
        fn, sequences, None, non_sequences, truncate_gradient=truncate_gradient, go_backwards=go_backwards, mode=mode,
        name=name,
    )  # fmt: skip


def reduce(
    fn: Callable, sequences: object, outputs_info: object, non_sequences: object = None, go_backwards: bool = False,
    mode: object = None, name: str | None = None,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """Combine the entries of sequences with a state, and return its last value; the parameters are those of `scan`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dvector("x")
    >>> product, _ = aesara.reduce(lambda entry, total: entry * total, x, at.constant(1.0, dtype="float64"))
    >>> aesara.function([x], product)([2.0, 3.0, 4.0])
    array(24.)
    """
    outputs, updates = scan(fn, sequences, outputs_info, non_sequences, go_backwards=go_backwards, mode=mode, name=name)
    if isinstance(outputs, (list, tuple)):
        return [last_value(rows) for rows in outputs], updates
    return last_value(outputs), updates


def foldl(
    fn: Callable, sequences: object, outputs_info: object, non_sequences: object = None, mode: object = None,
    name: str | None = None,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """`reduce` from the first entry to the last.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> digits = at.lvector("digits")
    >>> number, _ = aesara.foldl(lambda digit, value: 10 * value + digit, digits, at.constant(0, dtype="int64"))
    >>> aesara.function([digits], number)([1, 2, 3])
    array(123)
    """
    return reduce(fn, sequences, outputs_info, non_sequences, go_backwards=False, mode=mode, name=name)


def foldr(
    fn: Callable, sequences: object, outputs_info: object, non_sequences: object = None, mode: object = None,
    name: str | None = None,
) -> tuple[Any, OrderedUpdates]:  # fmt: skip
    """`reduce` from the last entry to the first.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> digits = at.lvector("digits")
    >>> number, _ = aesara.foldr(lambda digit, value: 10 * value + digit, digits, at.constant(0, dtype="int64"))
    >>> aesara.function([digits], number)([1, 2, 3])
    array(321)
    """
    return reduce(fn, sequences, outputs_info, non_sequences, go_backwards=True, mode=mode, name=name)
