"""Registering node rewriters in the databases that compilation uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import NodeRewriter, Rewriter, SequentialNodeRewriter
from aesara.graph.rewriting.db import RewriteDatabase
from aesara.records import dataclass
from aesara.tensor.rewriting.algebra import Product, of_lists


def _register(
    database: RewriteDatabase,
    rewriter: Any,
    tags: tuple[str, ...],
    default_tags: tuple[str, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Register a rewriter; for a string, return a decorator that registers with it as a tag."""
    if isinstance(rewriter, str):

        def decorate(inner: Rewriter) -> Any:
            return _register(database, inner, (rewriter, *tags), default_tags, kwargs)

        return decorate
    name = kwargs.pop("name", None) or rewriter.name
    if name is None:
        raise ValueError(f"{rewriter} has no name to be registered under; pass `name`.")
    database.register(name, rewriter, *default_tags, *tags, **kwargs)
    return rewriter


def register_useless(node_rewriter: RewriteDatabase | NodeRewriter | str, *tags: str, **kwargs: Any) -> Any:
    """Register a rewriter that removes operations without effect, in the first walk and in `canonicalize`."""
    if isinstance(node_rewriter, str):
        return lambda inner: register_useless(inner, node_rewriter, *tags, **kwargs)
    name: Any = kwargs.get("name") or node_rewriter.name
    if name not in databases.canonicalize:
        databases.canonicalize.register(name, node_rewriter, "fast_run", "fast_compile", *tags)
    return _register(databases.local_useless, node_rewriter, tags, ("fast_run",), kwargs)


def register_canonicalize(node_rewriter: RewriteDatabase | NodeRewriter | str, *tags: str, **kwargs: Any) -> Any:
    """Register a rewriter that brings expressions into a canonical form.

    Use this as a decorator, with or without tags, or as a function, like the other functions of this kind.

    Examples
    --------
    ::

        @register_canonicalize
        @node_rewriter([at.exp])
        def local_exp_of_zero(fgraph, node):
            ...
    """
    return _register(databases.canonicalize, node_rewriter, tags, ("fast_run", "fast_compile"), kwargs)


def register_stabilize(node_rewriter: RewriteDatabase | NodeRewriter | str, *tags: str, **kwargs: Any) -> Any:
    """Register a rewriter that makes a computation more accurate."""
    return _register(databases.stabilize, node_rewriter, tags, ("fast_run",), kwargs)


def register_specialize(node_rewriter: RewriteDatabase | NodeRewriter | str, *tags: str, **kwargs: Any) -> Any:
    """Register a rewriter that makes a computation faster."""
    return _register(databases.specialize, node_rewriter, tags, ("fast_run",), kwargs)


def register_specialize_device(node_rewriter: RewriteDatabase | Rewriter | str, *tags: str, **kwargs: Any) -> Any:
    """Register a rewriter that makes a computation faster on the device it runs on."""
    return _register(databases.specialize_device, node_rewriter, tags, ("fast_run",), kwargs)


def register_uncanonicalize(node_rewriter: RewriteDatabase | NodeRewriter | str, *tags: str, **kwargs: Any) -> Any:
    """Register a rewriter that undoes a canonical form that is slower."""
    return _register(databases.uncanonicalize, node_rewriter, tags, ("fast_run",), kwargs)


def _collecting(register: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of `Rules` that records a call of one of the functions above."""

    def collect(self: Rules, node_rewriter: Rewriter | str, *tags: str, **kwargs: Any) -> Any:
        if isinstance(node_rewriter, str):
            return lambda inner: collect(self, inner, node_rewriter, *tags, **kwargs)
        self._entries.append(_Entry(register, node_rewriter, tags, kwargs))
        return node_rewriter

    collect.__doc__ = register.__doc__
    return collect


@dataclass(frozen=True)
class _Entry:
    """A rule, and how it is registered."""

    register: Callable[..., Any]
    rewriter: Any
    tags: tuple[str, ...]
    kwargs: dict[str, Any]


class Rules:
    """The rules of a module or subpackage, in the order in which they are tried, with their databases.

    Its methods `useless`, `canonicalize`, ... are used like `register_useless`, `register_canonicalize`, ... They
    collect rules; the package then calls `register` for each module, in the order of `aesara.tensor.rewriting.RULES`.

    Parameters
    ----------
    parts
        The rules of the modules of a subpackage, which are tried in this order.
    """

    def __init__(self, *parts: Rules) -> None:
        #: The rules of the modules of a subpackage; none for a single module.
        self.parts = parts
        self._entries: list[_Entry] = []
        #: Whether they are registered.
        self.registered = False

    useless = _collecting(register_useless)
    canonicalize = _collecting(register_canonicalize)
    stabilize = _collecting(register_stabilize)
    specialize = _collecting(register_specialize)
    specialize_device = _collecting(register_specialize_device)
    uncanonicalize = _collecting(register_uncanonicalize)

    def add(self, *rules: NodeRewriter, to: tuple[Callable, ...], tags: tuple[str, ...] = ()) -> None:
        """Collect rules by each of the given methods."""
        for rewrite in rules:
            for collect in to:
                collect(rewrite, *tags)

    def group(
        self, name: str, *rules: NodeRewriter, to: tuple[Callable, ...], tags: tuple[str, ...] = ()
    ) -> SequentialNodeRewriter:
        """Collect rules by each of the given methods, with `name` as a further tag; return a rule that tries all.

        The tag includes or excludes the rules together.
        """
        self.add(*rules, to=to, tags=(name, *tags))
        group = SequentialNodeRewriter(*rules)
        group.name = name
        return group

    def by_name(self, rewriter: NodeRewriter, *databases_: RewriteDatabase, tags: tuple[str, ...] = ()) -> None:
        """Collect a rule for modes that include its name or one of the tags; `fast_run` does not include it."""
        for database in databases_:
            self.into(database, rewriter, *tags, use_db_name_as_tag=False)

    def into(self, database: RewriteDatabase, rewriter: Rewriter, *tags: str, **kwargs: Any) -> None:
        """Collect a rewriter for any database, with these tags only; `name` is that of the rewriter by default."""
        name = kwargs.pop("name", rewriter.name)
        self._entries.append(_Entry(partial(database.register, name), rewriter, tags, kwargs))

    def simplifier(
        self, canonizer: Any, simplifier: Callable[[Product], Product], name: str, operands: Sequence[Any]
    ) -> None:
        """Collect a function of products for the canonizer of products; see its `add_simplifier`."""
        self._entries.append(_Entry(canonizer.add_simplifier, of_lists(simplifier), (name,), {"operands": operands}))

    @property
    def passes(self) -> dict[Any, list[str]]:
        """The rules in the order in which they are tried, with the passes of each."""
        names: dict[Any, list[str]] = {}
        for entry in self._entries:
            function = getattr(entry.register, "func", entry.register)
            database = getattr(function, "__self__", None)
            name = function.__name__.removeprefix("register_") if database is None else getattr(database, "name", "")
            names.setdefault(entry.rewriter, []).append(name or "by name")
        return names

    def with_tag(self, tag: str) -> list[NodeRewriter]:
        """Return the rules that have this tag, each once."""
        return list(dict.fromkeys(entry.rewriter for entry in self._entries if tag in entry.tags))

    def register(self) -> None:
        """Register all rules, in their order; done once."""
        for part in self.parts:
            part.register()
        for entry in self._entries:
            entry.register(entry.rewriter, *entry.tags, **entry.kwargs)
        self.registered = True
