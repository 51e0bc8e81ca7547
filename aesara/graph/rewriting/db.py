"""Databases of rewriters, queried by tags.

A database holds rewriters under a name and under tags; a `RewriteDatabaseQuery` says which of
them are wanted; the answer is one rewriter. Databases nest: what is registered may itself be a
database, and is then queried with the same query (or with a subquery under its name).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from types import FrameType
from typing import IO, Any, Literal

from aesara.configdefaults import config
from aesara.graph.digest import NoDigest
from aesara.graph.rewriting.equilibrium import EquilibriumGraphRewriter
from aesara.graph.rewriting.node_rewriters import SequentialNodeRewriter
from aesara.graph.rewriting.older_names import older_names
from aesara.graph.rewriting.ordered_set import OrderedSet
from aesara.graph.rewriting.rewriter import GraphRewriter, NodeRewriter, Rewriter, SequentialGraphRewriter
from aesara.graph.rewriting.walking import WalkingGraphRewriter

RewritesType = GraphRewriter | NodeRewriter

#: How many answers an `EquilibriumDB` remembers.
_ANSWERS_KEPT = 16


class RewriteDatabaseQuery:
    """Query that selects rewriters of a database by their tags.

    Parameters
    ----------
    include
        Tags: rewriters that have one of them are taken.
    require
        Tags: of those, only rewriters that have all of these are kept.
    exclude
        Tags: rewriters that have one of them are dropped.
    subquery
        Queries for databases inside the database, by their names.
    position_cutoff
        Only rewriters at positions below it (in a `SequenceDB`).
    extra_rewrites
        Pairs of a rewriter and its position, added to the answer.
    name
        A name for the query.

    Examples
    --------
    >>> query = RewriteDatabaseQuery(include=["fast_run"]).excluding("inplace")
    """

    def __init__(
        self,
        include: Iterable[str | None],
        require: OrderedSet | Sequence[str] | None = None,
        exclude: OrderedSet | Sequence[str] | None = None,
        subquery: dict[str, RewriteDatabaseQuery] | None = None,
        position_cutoff: float = math.inf,
        extra_rewrites: Sequence[tuple[Any, int | float]] | None = None,
        name: str | None = None,
    ):
        self.include = OrderedSet(include)
        self.require = OrderedSet(require)
        self.exclude = OrderedSet(exclude)
        self.subquery = dict(subquery or {})
        self.position_cutoff = math.inf if position_cutoff is None else float(position_cutoff)
        self.extra_rewrites = list(extra_rewrites or ())
        self.name = name

    def __str__(self) -> str:
        return (
            f"RewriteDatabaseQuery(inc={list(self.include)},ex={list(self.exclude)},"
            f"require={list(self.require)},subquery={self.subquery},"
            f"position_cutoff={self.position_cutoff},extra_rewrites={self.extra_rewrites})"
        )

    __repr__ = __str__

    def key(self) -> tuple[Any, ...]:
        """Return a hashable key; equal keys select the same rewriters."""
        return (
            tuple(self.include),
            tuple(self.require),
            tuple(self.exclude),
            tuple((name, query.key()) for name, query in self.subquery.items()),
            self.position_cutoff,
            tuple((id(rewriter), position) for rewriter, position in self.extra_rewrites),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RewriteDatabaseQuery):
            return NotImplemented
        return self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __setstate__(self, state: dict[Any, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("extra_rewrites", [])

    def _copy(self, **changes: Any) -> RewriteDatabaseQuery:
        fields: dict[str, Any] = {
            "include": self.include,
            "require": self.require,
            "exclude": self.exclude,
            "subquery": self.subquery,
            "position_cutoff": self.position_cutoff,
            "extra_rewrites": self.extra_rewrites,
            "name": self.name,
        }
        fields.update(changes)
        return type(self)(**fields)

    def including(self, *tags: str) -> RewriteDatabaseQuery:
        """The query with these tags included too."""
        return self._copy(include=[*self.include, *tags])

    def excluding(self, *tags: str) -> RewriteDatabaseQuery:
        """The query with these tags excluded too."""
        return self._copy(exclude=[*self.exclude, *tags])

    def requiring(self, *tags: str) -> RewriteDatabaseQuery:
        """The query with these tags required too."""
        return self._copy(require=[*self.require, *tags])

    def register(self, *rewrites: tuple[Any, int | float]) -> RewriteDatabaseQuery:
        """The query with these pairs of rewriter and position added to its answer."""
        for rewriter, _ in rewrites:
            if isinstance(rewriter, NodeRewriter):
                raise TypeError(f"{rewriter} is a rule for nodes: register in2out(rule), which applies it to a graph.")
        return self._copy(extra_rewrites=[*self.extra_rewrites, *rewrites])


#: Whether registrations are looked at: the package registers its own when it is imported.
_notes_foreign_modules = False
_PACKAGE = __name__.partition(".")[0]


def note_foreign_modules() -> None:
    """Note from now on which modules outside of this package register something; called when it has been imported."""
    global _notes_foreign_modules
    _notes_foreign_modules = True


def _foreign_module() -> str | None:
    """Return the module on whose behalf something is registered; None for one of this package that is imported."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] != _PACKAGE:
            return module
        if frame.f_code.co_name == "<module>":
            return None
        frame = frame.f_back
    return None


class RewriteDatabase:
    """Rewriters (and databases of them) under names and tags."""

    def __init__(self) -> None:
        self.__db__: dict[str, OrderedSet] = {}
        self._names: set[str] = set()
        self.name: str | None = None
        self.version = 0
        #: Modules outside of this package that have registered something, or changed tags.
        self.foreign_modules: set[str] = set()
        #: the databases that are registered in this one
        self.inner_databases: list[RewriteDatabase] = []
        # By the number of registrations when it last gave a `kept_answer`, what it has answered since.
        self._kept: dict[int, dict[tuple[Any, ...], tuple[RewriteDatabaseQuery, Any]]] = {}
        #: From the name of a rule to rules, or parts of rules, that do its work among more: excluded with it.
        self.excluded_with: Mapping[str, Sequence[str]] = {}
        #: From the name of a rule to rules that do more than it: included where a query includes this name.
        self.included_with: Mapping[str, Sequence[str]] = {}

    def register(
        self,
        name: str,
        rewriter: RewriteDatabase | RewritesType,
        *tags: str,
        use_db_name_as_tag: bool = True,
        **kwargs: Any,
    ) -> None:
        """Add a rewriter.

        Parameters
        ----------
        name
            Its name; must not be in use in this database, as a name or as a tag.
        rewriter
            A rewriter or a database.
        tags
            Its tags. The name and the name of the class are tags as well.
        use_db_name_as_tag
            The name of this database is a tag as well, so that including it takes everything.
        """
        if not isinstance(rewriter, (RewriteDatabase, GraphRewriter, NodeRewriter)):
            raise TypeError(
                f"{rewriter!r}, of type {type(rewriter).__name__}, is not a valid entry under the name {name!r}: a "
                "database holds rewriters and databases."
            )
        if name in self.__db__:
            raise ValueError(f"The tag or name {name!r} is in use in this database already.")
        if kwargs:
            raise TypeError(f"Unknown arguments for register: {sorted(kwargs)}.")
        if use_db_name_as_tag and self.name is not None:
            tags = (*tags, self.name)
        rewriter.name = name
        if isinstance(rewriter, RewriteDatabase):
            self.inner_databases.append(rewriter)
        self._names.add(name)
        self._note_change()
        self.__db__[name] = OrderedSet([rewriter])
        self.add_tags(name, type(rewriter).__name__, *tags)

    def add_tags(self, name: str, *tags: str) -> None:
        """Give the rewriter of this name more tags."""
        rewriter = self._rewriter_named(name)
        for tag in tags:
            if tag in self._names and tag != name:
                raise ValueError(f"The tag {tag!r} is the name of a rewriter in this database.")
            if tag != name:
                self.__db__.setdefault(tag, OrderedSet()).add(rewriter)
        self._note_change()

    def remove_tags(self, name: str, *tags: str) -> None:
        """Take tags from the rewriter of this name; one that it does not have raises a `KeyError`."""
        rewriter = self._rewriter_named(name)
        for tag in tags:
            if tag in self._names:
                raise ValueError(f"The tag {tag!r} is the name of a rewriter in this database.")
            if rewriter not in self.__db__.get(tag, ()):
                raise KeyError(f"The rewriter {name!r} does not have the tag {tag!r}.")
            self.__db__[tag].discard(rewriter)
        self._note_change()

    def _note_change(self) -> None:
        self.version += 1
        module = _foreign_module() if _notes_foreign_modules else None
        if module is not None:
            self.foreign_modules.add(module)

    def _rewriter_named(self, name: str) -> Any:
        if name not in self._names:
            raise ValueError(f"There is no rewriter named {name!r} in this database.")
        return next(iter(self.__db__[name]))

    def __getitem__(self, name: str) -> Any:
        """The only rewriter that has this name or tag."""
        found = self.__db__.get(name)
        if not found:
            raise KeyError(f"Nothing is registered as {name!r}.")
        if len(found) > 1:
            raise ValueError(f"More than one rewriter has the tag {name!r}; use query.")
        return next(iter(found))

    def __contains__(self, name: object) -> bool:
        return name in self.__db__

    def _select(self, query: RewriteDatabaseQuery) -> list[Any]:
        """Return the entries that match the query; nested databases are not queried."""
        # Rules that do more than others come before these.
        more = [name for tag in query.include for name in self.included_with.get(tag, ()) if name in self._names]
        chosen = dict.fromkeys(map(self._rewriter_named, more))
        for tag in query.include:
            chosen.update(dict.fromkeys(self.__db__.get(tag, ())))
        for tag in query.require:
            wanted = self.__db__.get(tag, ())
            chosen = dict.fromkeys(rewriter for rewriter in chosen if rewriter in wanted)
        for tag in query.exclude:
            for rewriter in self.__db__.get(tag, ()):
                chosen.pop(rewriter, None)
        if not query.exclude:
            return list(chosen)
        others = {name for tag in query.exclude for name in self.excluded_with.get(tag, ())}
        for name in others & self._names:
            chosen.pop(self._rewriter_named(name), None)
        names = others.union(query.exclude)
        return [entry if isinstance(entry, RewriteDatabase) else entry.without(names) for entry in chosen]

    def __query__(self, query: RewriteDatabaseQuery) -> list[Rewriter]:
        answer: list[Rewriter] = []
        selected = self._select(query)
        if query.extra_rewrites or query.position_cutoff != math.inf:
            # Positions are those of this database, not of databases inside it.
            query = query._copy(extra_rewrites=(), position_cutoff=math.inf)
        for entry in selected:
            if isinstance(entry, RewriteDatabase):
                inner = entry.query(query.subquery.get(entry.name or "", query))
                if inner is None or does_nothing(inner):
                    continue
                if entry.name is not None:
                    inner.name = entry.name
                entry = inner
            answer.append(entry)
        return answer

    def query(self, *tags: RewriteDatabaseQuery | str, **kwtags: Any) -> Any:
        """The rewriters that a query, or tags such as ``"+a"``, ``"&b"``, ``"-c"``, ask for."""
        return OrderedSet(self.__query__(as_query(tags, kwtags)))

    def kept_answer(self, query: RewriteDatabaseQuery) -> Any:
        """Return the result of `query`, cached until a rewriter is registered or the configuration changes."""
        registrations = self._registrations()
        answers = self._kept.get(registrations)
        if answers is None:
            answers = {}
            self._kept = {registrations: answers}
        key = (query.key(), config.optdb__max_use_ratio, config.optdb__position_cutoff)
        answer = answers.get(key)
        if answer is None:
            # The query is kept beside the answer: its key names rewriters by their addresses.
            answer = answers[key] = (query, self.query(query))
        return answer[1]

    def _registrations(self) -> int:
        """Return a number that grows whenever something is registered here, or in a database inside."""
        return sum(database.version for database in self._with_inner())

    def _with_inner(self) -> list[RewriteDatabase]:
        """Return the database and all databases inside."""
        found: dict[int, RewriteDatabase] = {}
        pending = [self]
        while pending:
            current = pending.pop()
            if id(current) not in found:
                found[id(current)] = current
                pending += current.inner_databases
                inner = getattr(current, "db", None)
                if isinstance(inner, RewriteDatabase):
                    pending.append(inner)
        return list(found.values())

    def registrations_of_package(self) -> int:
        """Return the number of registrations, all by modules of this package.

        It tells how many of the modules of rules are loaded, which are always loaded with the ops that they are about.

        Raises
        ------
        NoDigest
            If somebody else has registered something, or changed tags: nobody knows then what it is.
        """
        foreign = sorted(set().union(*(database.foreign_modules for database in self._with_inner())))
        if foreign:
            raise NoDigest(f"{foreign[0]} has registered rewrites, or changed their tags")
        return self._registrations()

    def print_summary(self, stream: IO[str] | None = None) -> None:
        print(f"{type(self).__name__} (id {id(self)})", file=stream)
        print(f"  names {{{', '.join(repr(name) for name in sorted(self._names))}}}", file=stream)
        print(f"  db {self.__db__}", file=stream)


def as_query(tags: Sequence[Any], kwtags: dict[str, Any]) -> RewriteDatabaseQuery:
    """One query out of the arguments of `RewriteDatabase.query`."""
    if len(tags) == 1 and isinstance(tags[0], RewriteDatabaseQuery):
        if kwtags:
            raise TypeError(f"A query comes alone; got the keywords {sorted(kwtags)} too.")
        return tags[0]
    by_sign: dict[str, list[str]] = {"+": [], "&": [], "-": []}
    for tag in tags:
        if not isinstance(tag, str) or tag[:1] not in by_sign or len(tag) < 2:
            raise ValueError(
                f"A tag of a query starts with '+' (include), '&' (require) or '-' (exclude); got {tag!r}."
            )
        by_sign[tag[0]].append(tag[1:])
    return RewriteDatabaseQuery(include=by_sign["+"], require=by_sign["&"], exclude=by_sign["-"], subquery=kwtags)


def does_nothing(rewriter: Any) -> bool:
    """Return whether a rewriter is a composition of rewriters, and empty."""
    if isinstance(rewriter, EquilibriumGraphRewriter):
        parts = (rewriter.global_rewriters, rewriter.final_rewriters, rewriter.cleanup_rewriters)
        return not any(parts) and not rewriter.node_tracker.get_rewriters()
    if isinstance(rewriter, WalkingGraphRewriter):
        rewriter = rewriter.node_rewriter
    return isinstance(rewriter, SequentialNodeRewriter) and not rewriter.rewrites


def graph_rewriters(rewriters: Sequence[Rewriter], names: Collection[str | None]) -> list[GraphRewriter]:
    """Return the rewriters with these names, which must be graph rewriters."""
    chosen = []
    for rewriter in rewriters:
        if rewriter.name in names:
            if not isinstance(rewriter, GraphRewriter):
                raise TypeError(f"A final or cleanup rewriter must be a graph rewriter; {rewriter.name!r} is none.")
            chosen.append(rewriter)
    return chosen


class EquilibriumDB(RewriteDatabase):
    """Rewriters that are applied together until none of them changes the graph.

    Parameters
    ----------
    ignore_newtrees, tracks_on_change_inputs
        Accepted as `EquilibriumGraphRewriter` does.
    """

    def __init__(self, ignore_newtrees: bool = True, tracks_on_change_inputs: bool = False):
        super().__init__()
        self.ignore_newtrees = ignore_newtrees
        self.tracks_on_change_inputs = tracks_on_change_inputs
        self.__final__: set[str | None] = set()
        self.__cleanup__: set[str | None] = set()
        #: Answers to queries, by the rewriters in them: to index hundreds by what they track takes a millisecond.
        self._answers: dict[tuple[Any, ...], EquilibriumGraphRewriter] = {}

    def register(
        self,
        name: str,
        rewriter: RewriteDatabase | RewritesType,
        *tags: str,
        final_rewriter: bool = False,
        cleanup: bool = False,
        **kwargs: Any,
    ) -> None:
        """Add a rewriter; see `RewriteDatabase.register`.

        Parameters
        ----------
        final_rewriter
            Apply this graph rewriter only when the others have reached an equilibrium.
        cleanup
            Apply this graph rewriter after every round of the others.
        """
        if final_rewriter and cleanup:
            raise ValueError("`final_rewriter` and `cleanup` exclude each other: a rewriter is one of them.")
        super().register(name, rewriter, *tags, **kwargs)
        if final_rewriter:
            self.__final__.add(name)
        if cleanup:
            self.__cleanup__.add(name)

    def query(self, *tags: Any, **kwtags: Any) -> EquilibriumGraphRewriter:
        rewriters = self.__query__(as_query(tags, kwtags))
        final, cleanup = (graph_rewriters(rewriters, names) for names in (self.__final__, self.__cleanup__))
        others = self.__final__ | self.__cleanup__
        plain = [rw for rw in rewriters if rw.name not in others]
        max_use_ratio = config.optdb__max_use_ratio
        groups = (plain, final, cleanup)
        key = (max_use_ratio, *(tuple(map(id, group)) for group in groups))
        answer = self._answers.get(key)
        if answer is None:
            if len(self._answers) >= _ANSWERS_KEPT:
                self._answers.clear()
            answer = self._answers[key] = EquilibriumGraphRewriter(
                plain,
                max_use_ratio=max_use_ratio,
                ignore_newtrees=self.ignore_newtrees,
                tracks_on_change_inputs=self.tracks_on_change_inputs,
                failure_callback=EquilibriumGraphRewriter.warn_inplace,
                final_rewriters=final,
                cleanup_rewriters=cleanup,
            )
        return copy(answer)  # who asks gives it a name


class SequenceDB(RewriteDatabase):
    """Rewriters that are applied one after the other, by their positions.

    Parameters
    ----------
    failure_callback
        See `SequentialGraphRewriter`.

    Examples
    --------
    >>> db = SequenceDB()
    >>> db.register("first", aesara.graph.rewriting.basic.MergeOptimizer(), "fast_run", position=0)
    >>> "first" in db
    True
    """

    seq_rewriter_type: type = SequentialGraphRewriter

    def __init__(self, failure_callback: Callable[..., Any] | None = SequentialGraphRewriter.warn):
        super().__init__()
        self.__position__: dict[str, float] = {}
        self.failure_callback = failure_callback

    def register(
        self,
        name: str,
        rewriter: RewriteDatabase | RewritesType,
        *tags: str,
        position: Literal["last"] | int | float = "last",
        **kwargs: Any,
    ) -> None:
        """Add a rewriter at a position (a number, or ``"last"``); see `RewriteDatabase.register`."""
        if not (isinstance(position, (int, float)) or position == "last"):
            raise TypeError(f"`position` must be a number or 'last'; got {position!r}.")
        super().register(name, rewriter, *tags, **kwargs)
        if position == "last":
            position = max(self.__position__.values(), default=-1) + 1
        self.__position__[name] = position

    def _order(self, query: RewriteDatabaseQuery) -> list[Rewriter]:
        answer = self.__query__(query)
        position = {id(rw): self.__position__[rw.name or ""] for rw in answer}
        tags_alone = query._copy(extra_rewrites=(), position_cutoff=math.inf)
        for extra, place in query.extra_rewrites:
            # An extra database is asked for the tags of the query, as one inside would be.
            if isinstance(extra, RewriteDatabase):
                extra = extra.query(tags_alone)
                if not extra:
                    continue
            answer.append(extra)
            position[id(extra)] = place
        kept = [rw for rw in answer if position[id(rw)] < query.position_cutoff]
        return sorted(kept, key=lambda rw: (position[id(rw)], rw.name or ""))

    def query(
        self,
        *tags: Any,
        position_cutoff: int | float | None = None,
        extra_rewrites: Sequence[tuple[Any, int | float]] | None = None,
        **kwtags: Any,
    ) -> Any:
        """The sequence of what a query asks for; see `RewriteDatabaseQuery` for the arguments."""
        query = as_query(tags, kwtags)
        if position_cutoff is not None:
            query = query._copy(position_cutoff=position_cutoff)
        elif query.position_cutoff == math.inf:
            query = query._copy(position_cutoff=config.optdb__position_cutoff)
        if extra_rewrites:
            query = query.register(*extra_rewrites)
        answer = self.seq_rewriter_type(self._order(query), failure_callback=self.failure_callback)
        answer.name = query.name
        return answer

    def print_summary(self, stream: IO[str] | None = None) -> None:
        super().print_summary(stream)
        for name, position in sorted(self.__position__.items(), key=lambda item: item[1]):
            print(f"  {position:>8}  {name}", file=stream)


class LocalGroupDB(SequenceDB):
    """Node rewriters that are tried one after the other on each node, by their positions.

    Parameters
    ----------
    apply_all_rewrites, profile
        See `SequentialNodeRewriter`.
    node_rewriter
        The class of the answer of `query`.
    """

    def __init__(
        self,
        apply_all_rewrites: bool = False,
        profile: bool = False,
        node_rewriter: type = SequentialNodeRewriter,
    ):
        super().__init__(failure_callback=None)
        self.apply_all_rewrites = apply_all_rewrites
        self.profile = profile
        self.node_rewriter = node_rewriter
        self.__name__ = ""

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        rewriters = self._order(as_query(tags, kwtags))
        for one in rewriters:
            if isinstance(one, GraphRewriter):
                raise TypeError(f"A LocalGroupDB makes one of node rewriters; it has the graph rewriter {one.name!r}.")
        return self.node_rewriter(*rewriters, apply_all_rewrites=self.apply_all_rewrites, profile=self.profile)


class TopoDB(RewriteDatabase):
    """Makes one walk over the graph of the node rewriters of another database.

    Parameters
    ----------
    db
        A database whose queries give one node rewriter (a `LocalGroupDB`).
    order
        ``"in_to_out"`` or ``"out_to_in"``.
    ignore_newtrees, failure_callback
        See `WalkingGraphRewriter`.
    """

    def __init__(
        self,
        db: RewriteDatabase,
        order: Literal["in_to_out", "out_to_in"] = "in_to_out",
        ignore_newtrees: bool = False,
        failure_callback: Callable[..., Any] | None = None,
    ):
        super().__init__()
        self.db = db
        self.order = order
        self.ignore_newtrees = ignore_newtrees
        self.failure_callback = failure_callback

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        return WalkingGraphRewriter(
            self.db.query(*tags, **kwtags),
            order=self.order,
            ignore_newtrees=self.ignore_newtrees,
            failure_callback=self.failure_callback,
        )


class ProxyDB(RewriteDatabase):
    """Another database under a name of its own, for registering it more than once."""

    def __init__(self, db: RewriteDatabase):
        if not isinstance(db, RewriteDatabase):
            raise TypeError(f"`db` must be a RewriteDatabase, which the ProxyDB stands for; got {db!r}.")
        super().__init__()
        self.db = db

    def query(self, *tags: Any, **kwtags: Any) -> Any:
        return self.db.query(*tags, **kwtags)


#: Old names, and what they are called today.
DEPRECATED_NAMES = {
    "DB": "RewriteDatabase",
    "OptimizationDatabase": "RewriteDatabase",
    "OptimizationQuery": "RewriteDatabaseQuery",
    "Query": "RewriteDatabaseQuery",
}
__getattr__ = older_names(globals(), DEPRECATED_NAMES)
