"""Nested tuples, lists and dictionaries of values, as the states of loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["flatten", "leaves_as_in", "outline", "rebuild"]


def flatten(value: Any) -> list[tuple[str, Any]]:
    """List the leaves of a nest of tuples, lists and dictionaries, each with how it is reached from the whole.

    What is none of these is a leaf. None is no leaf: it is part of the form, as an empty tuple is.

    Parameters
    ----------
    value
        A leaf, or a tuple, list or dictionary of such values.

    Examples
    --------
    >>> flatten({"a": 1, "b": (2, [3], None)})
    [("['a']", 1), ("['b'][0]", 2), ("['b'][1][0]", 3)]
    >>> flatten(5)
    [('', 5)]
    """
    if value is None:
        return []
    if not _is_nest(value):
        return [("", value)]
    return [(f"[{key!r}]{path}", leaf) for key, part in _parts(value) for path, leaf in flatten(part)]


def rebuild(like: Any, leaves: Sequence[Any]) -> Any:
    """Return a nest of the form of another one with other leaves.

    Parameters
    ----------
    like
        A nest.
    leaves
        The new leaves, in the order of `flatten`.

    Examples
    --------
    >>> rebuild({"a": 1, "b": (2, [3], None)}, "xyz")
    {'a': 'x', 'b': ('y', ['z'], None)}
    """
    left = iter(leaves)
    return _map_leaves(like, lambda _: next(left))


def leaves_as_in(like: Any, value: Any) -> list[Any] | None:
    """List the leaves of a nest in the order of those of another one; None if it has another form.

    Lists and tuples are alike, and so are dictionaries with the same keys in another order.

    Examples
    --------
    >>> leaves_as_in({"a": 1, "b": (2, 3)}, {"b": [20, 30], "a": 10})
    [10, 20, 30]
    >>> leaves_as_in((1, 2), (1, (2, 3))) is None
    True
    """
    if like is None or value is None:
        return [] if like is value else None
    if not _is_nest(like):
        return None if _is_nest(value) else [value]
    if not _is_nest(value) or isinstance(like, Mapping) != isinstance(value, Mapping):
        return None
    theirs = dict(_parts(value))
    if theirs.keys() != {key for key, _ in _parts(like)}:
        return None
    found: list[Any] = []
    for key, part in _parts(like):
        leaves = leaves_as_in(part, theirs[key])
        if leaves is None:
            return None
        found += leaves
    return found


def outline(value: Any) -> str:
    """Say what the form of a nest is, with a star for each leaf.

    Examples
    --------
    >>> outline({"a": 1, "b": (2, [3], None)})
    "{'a': *, 'b': (*, [*], None)}"
    """
    return repr(_map_leaves(value, lambda _: _STAR))


class _Star:
    def __repr__(self) -> str:
        return "*"


_STAR = _Star()


def _is_nest(value: Any) -> bool:
    return isinstance(value, (tuple, list, Mapping))


def _parts(nest: Any) -> list[tuple[Any, Any]]:
    """The parts of a nest with their keys. The keys of dictionaries are in the order in which they stand there."""
    return list(nest.items()) if isinstance(nest, Mapping) else list(enumerate(nest))


def _map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    if value is None:
        return None
    if not _is_nest(value):
        return change(value)
    made = [(key, _map_leaves(part, change)) for key, part in _parts(value)]
    if isinstance(value, Mapping):
        return dict(made)
    entries = [part for _, part in made]
    if isinstance(value, list):
        return entries
    return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
