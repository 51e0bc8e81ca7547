"""Small helpers without a better home."""

from __future__ import annotations

import gc
import importlib
import os
import struct
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from aesara.digests import blake2b
from aesara.user_code import warn_user

T = TypeVar("T")

#: bits of an address on this machine
LOCAL_BITWIDTH = 8 * struct.calcsize("P")
#: bits of the integers that C calls ``long``
PYTHON_INT_BITWIDTH = 8 * struct.calcsize("l")


def exc_message(e: BaseException) -> Any:
    """The first argument of an exception; the exception if it has none.

    Examples
    --------
    >>> exc_message(ValueError("too long", 3))
    'too long'
    """
    return e.args[0] if e.args else e


@contextmanager
def collection_paused() -> Iterator[None]:
    """Look for no cyclic garbage while many objects are made that stay; reference counts work as ever.

    Examples
    --------
    >>> with collection_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                # All grows old at once, without the look at each object that the next collection would begin with.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def require_gil(version: str) -> None:
    """Raise an ImportError if a version of Python, as ``sys.version`` says it, is a build without the GIL.

    Examples
    --------
    >>> require_gil("3.14.0 (main, Oct  7 2025, 11:11:11) [GCC 13.3.0]")
    """
    if "free-threading build" in version:
        raise ImportError(
            f"Aesara does not support free-threaded builds of Python, and this is Python {version.split(' (')[0]}: "
            "compiled functions read and write the reference counts of Python's objects under the GIL, in the layout "
            "of builds that have it. Use the build of the same version with the GIL (python3.14 instead of "
            "python3.14t)."
        )


def uniq(items: Iterable[T]) -> list[T]:
    """Return the items without repetitions, in the order of their first occurrence.

    Examples
    --------
    >>> uniq([3, 1, 3, 2, 1])
    [3, 1, 2]
    """
    try:
        return list(dict.fromkeys(items))
    except TypeError:
        kept: list[T] = []
        for item in items:
            if item not in kept:
                kept.append(item)
        return kept


def difference(seq1: Iterable[Hashable], seq2: Iterable[Hashable]) -> list:
    """Return the items of `seq1` that are not in `seq2`, in order.

    Examples
    --------
    >>> difference([1, 2, 3], [2])
    [1, 3]
    """
    excluded = set(seq2)
    return [item for item in seq1 if item not in excluded]


def flatten(items: object) -> list:
    """Return the leaves of nested lists, tuples and sets, from left to right.

    Examples
    --------
    >>> flatten([1, (2, [3])])
    [1, 2, 3]
    """
    leaves: list = []
    stack = [items]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple, set)):
            stack.extend(reversed(list(item)))
        else:
            leaves.append(item)
    return leaves


def to_return_values(values: list) -> Any:
    """Return the only element of a list of one, and other lists unchanged."""
    return values[0] if len(values) == 1 else values


def from_return_values(values: object) -> list:
    """Return a list of values from a value or a sequence of values."""
    return list(values) if isinstance(values, (list, tuple)) else [values]


def hash_from_code(code: str | bytes) -> str:
    """Return a name derived from the content of `code`, the same in every process.

    Examples
    --------
    >>> hash_from_code("a") == hash_from_code(b"a")
    True
    """
    if isinstance(code, str):
        code = code.encode("utf-8")
    return "m" + blake2b(code, digest_size=32).hexdigest()


def did_you_mean(name: str, known: Iterable[object]) -> str:
    """The end of a message about a name that is not known: the one that was probably meant, if there is one.

    Examples
    --------
    >>> did_you_mean("fast_run", ["FAST_COMPILE", "FAST_RUN"])
    " Did you mean 'FAST_RUN'?"
    """
    import difflib  # only for messages

    texts = [one for one in known if isinstance(one, str)]
    same = [one for one in texts if one.lower() == name.lower()]
    close = same or difflib.get_close_matches(name, texts, 1)
    return f" Did you mean '{close[0]}'?" if close else ""


def deprecated_attribute(names: Iterable[tuple[str, str, object]], module: str, name: str) -> Any:
    """The object of an old name of a module, with a warning; AttributeError for any other name.

    Parameters
    ----------
    names
        For each old name itself, a message and the object.
    module, name
        The name of the module and what is looked for in it, as its ``__getattr__`` is asked for it.
    """
    for old_name, message, value in names:
        if old_name == name:
            warn_user(message, DeprecationWarning)
            return value
    raise NoSuchName(module, name)


class NoSuchName(AttributeError):
    """A module has no attribute of a name; says which similar ones it has, once somebody reads the message."""

    def __init__(self, module: str, name: str, elsewhere: Iterable[str] = (), instead: str | None = None) -> None:
        super().__init__(module, name, tuple(elsewhere), instead)

    def __str__(self) -> str:
        module, name, elsewhere, instead = self.args
        text = f"module {module!r} has no attribute {name!r}"
        if instead is not None:
            return f"{text}. {instead}"
        if name.startswith("_"):
            return text
        import difflib  # only for messages

        names = [known for known in (*vars(sys.modules[module]), *elsewhere) if not known.startswith("_")]
        close = list(dict.fromkeys(difflib.get_close_matches(name, names, 3, 0.75)))
        return f"{text}. Did you mean {' or '.join(close)}?" if close else text


def found_at(place: str, name: str = "") -> Any:
    """Import a module and return what it has: `name`, unless the place says another one, as ``module:name``.

    Examples
    --------
    >>> found_at("aesara.graph.null_type:NullType").__name__
    'NullType'
    """
    module, _, there = place.partition(":")
    return getattr(importlib.import_module(module), there or name)


def modules_on_demand(
    package: str,
    older_names: Iterable[tuple[str, str, object]] = (),
    elsewhere: Mapping[str, str] | None = None,
    other_libraries: Mapping[str, str] | None = None,
) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a package that imports its modules on first access.

    Parameters
    ----------
    package
        The name of the package.
    older_names
        Old names of things in the package, as `deprecated_attribute` takes them.
    elsewhere
        For functions that are looked for in the package, the module that has them; as ``module:name`` where that
        calls them something else.
    other_libraries
        For names of other libraries, a sentence that says what to use here.

    Examples
    --------
    >>> modules_on_demand("aesara.graph")("null_type").__name__
    'aesara.graph.null_type'
    """

    def __getattr__(name: str) -> Any:
        if elsewhere is not None and name in elsewhere:
            return found_at(elsewhere[name], name)
        if not name.startswith("_") and all(name != old for old, _, _ in older_names):
            try:
                return importlib.import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise AttributeError(f"{package}.{name} cannot be imported: {error}") from error
        try:
            return deprecated_attribute(older_names, package, name)
        except NoSuchName:
            instead = None if other_libraries is None else other_libraries.get(name)
            raise NoSuchName(package, name, elsewhere or (), instead) from None

    return __getattr__


def cmp(x: Any, y: Any) -> int:
    """Return -1, 0 or 1 as `x` is smaller than, equal to, or greater than `y`.

    Examples
    --------
    >>> cmp(1, 2)
    -1
    """
    return (x > y) - (x < y)


def escaped_html(text: str) -> str:
    """Return a text as content of an HTML element.

    Examples
    --------
    >>> escaped_html("<b>")
    '&lt;b&gt;'
    """
    return text.translate({ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"})


def free_in_children(lock: Any) -> Any:
    """Return a lock that a thread takes while it forks, so that the child process finds it free.

    Examples
    --------
    >>> import threading
    >>> with free_in_children(threading.Lock()):
    ...     pass
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock
