"""Nests of tuples, lists and dictionaries (pytrees), as states of loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aesara.graph.nodes import Variable


__all__ = ["flatten", "leaves_as_in", "outline", "rebuild"]


def flatten(value: object) -> list[tuple[str, Any]]:
    """List the leaves of a nest of tuples, lists and dictionaries, with their paths.

    All other values are leaves, except None, which is part of the structure.

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


def rebuild(like: Any, leaves: Sequence[Variable | None]) -> Any:
    """Return a nest with the structure of `like` and other leaves.

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
    remaining = iter(leaves)
    return _map_leaves(like, lambda _: next(remaining))


def leaves_as_in(like: object, value: object) -> list[Any] | None:
    """List the leaves of a nest in the order of those of `like`, or return None if the structures differ.

    Lists and tuples are interchangeable, and the order of the keys of dictionaries is ignored.

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
    parts = dict(_parts(value))
    if parts.keys() != {key for key, _ in _parts(like)}:
        return None
    result: list[Any] = []
    for key, part in _parts(like):
        leaves = leaves_as_in(part, parts[key])
        if leaves is None:
            return None
        result += leaves
    return result


def outline(value: object) -> str:
    """Describe the structure of a nest, with a star for each leaf.

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


def _is_nest(value: object) -> bool:
    return isinstance(value, (tuple, list, Mapping))


def _parts(nest: Any) -> list[tuple[Any, Any]]:
    """Return keys and parts of a nest, dictionaries in their own order."""
    return list(nest.items()) if isinstance(nest, Mapping) else list(enumerate(nest))


def _map_leaves(value: object, function: Callable[[object], object]) -> Any:
    if value is None:
        return None
    if not _is_nest(value):
        return function(value)
    parts = [(key, _map_leaves(part, function)) for key, part in _parts(value)]
    if isinstance(value, Mapping):
        return dict(parts)
    entries = [part for _, part in parts]
    if isinstance(value, list):
        return entries
    return type(value)(*entries) if hasattr(value, "_fields") else tuple(entries)
