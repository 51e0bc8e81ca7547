"""Names that rewriters had in older versions: using one warns, and gives what it is called today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aesara.user_code import warn_user


def older_names(namespace: Mapping[str, Any], new_names: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a module that had other names.

    Parameters
    ----------
    namespace
        The module's ``globals()``.
    new_names
        From old names to new ones.

    Examples
    --------
    >>> find = older_names({"__name__": "example", "double": lambda x: 2 * x}, {"twice": "double"})
    >>> find("thrice")
    Traceback (most recent call last):
    AttributeError: module 'example' has no attribute 'thrice'
    """

    def find(name: str) -> Any:
        if name not in new_names:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        new = new_names[name]
        warn_user(f"`{name}` is deprecated: use `{new}` instead.", DeprecationWarning)
        return namespace[new]

    return find
