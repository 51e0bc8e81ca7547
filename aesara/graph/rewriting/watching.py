"""Watching rewrites while they run: which pass is at work, and what has been replaced by what.

A `Watcher` is told of every pass of every `SequentialGraphRewriter` that runs inside of ``with watching(watcher)``,
those on graphs inside of loops included, and of every replacement in the graphs that they work on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable

Pair = tuple[Variable, Variable]


class Watcher:
    """Observer of rewriting; subclasses override the events that they need."""

    def begin(self, fgraph: FunctionGraph, level: int) -> None:
        """A graph is going to be rewritten; graphs inside of loops have a level above 0."""

    def end(self, fgraph: FunctionGraph, level: int) -> None:
        """A graph has been rewritten."""

    def enter(self, fgraph: FunctionGraph, rewriter: Any) -> None:
        """A pass begins."""

    def leave(self, fgraph: FunctionGraph, rewriter: Any, seconds: float) -> None:
        """A pass has ended."""

    def on_replace(self, fgraph: FunctionGraph, pairs: Sequence[Pair], rules: Sequence[Any]) -> None:
        """Variables of a graph have been replaced, all together, by some rules (rewriters, or strings)."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """A node has entered the graph."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """A node has left the graph."""


def rules_of(reason: object) -> tuple[Any, ...]:
    """The rules that the reason of a replacement stands for: those of a group that have made its last result."""
    return tuple(getattr(reason, "applied_last", ())) or (reason,)


def name_of(rule: Any) -> str:
    """Name of the rule, or other reason, of a replacement."""
    return str(getattr(rule, "name", None) or rule)


class Report(Feature):
    """Reports what happens to a graph to a watcher; replacements that are taken back are not reported."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._pairs: dict[Pair, None] = {}
        self._reason: Any = None
        self._rules: Sequence[Any] = ()

    def clone(self) -> Report:
        return type(self)(self.watcher)

    def on_transaction(self, fgraph: FunctionGraph) -> None:
        self.finish(fgraph)

    def on_rollback(self, fgraph: FunctionGraph) -> None:
        self._pairs = {}

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        if type(reason) is tuple and reason[:1] == ("Revert",):
            return
        if reason is not self._reason:
            self.finish(fgraph)
            self._reason = reason
        if not self._pairs:
            self._rules = rules_of(reason)
        self._pairs[r, new_r] = None

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        self.watcher.on_import(fgraph, node, reason)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        self.watcher.on_prune(fgraph, node, reason)

    def finish(self, fgraph: FunctionGraph) -> None:
        """Report the replacement that has not been reported yet."""
        if self._pairs:
            pairs, self._pairs = list(self._pairs), {}
            self.watcher.on_replace(fgraph, pairs, self._rules)


class Watch:
    """A watcher at work: the graphs that it is looking at, the outermost first."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.reports: dict[FunctionGraph, Report] = {}

    @contextmanager
    def graph(self, fgraph: FunctionGraph) -> Iterator[None]:
        """While a sequence of passes works on a graph."""
        if fgraph in self.reports:  # a sequence inside of another one
            yield
            return
        level = len(self.reports)
        report = self.reports[fgraph] = Report(self.watcher)
        self.watcher.begin(fgraph, level)
        fgraph.attach_feature(report)
        try:
            yield
            report.finish(fgraph)
        finally:
            fgraph.remove_feature(report)
            del self.reports[fgraph]
            self.watcher.end(fgraph, level)

    def enter(self, fgraph: FunctionGraph, rewriter: Any) -> None:
        self.watcher.enter(fgraph, rewriter)

    def leave(self, fgraph: FunctionGraph, rewriter: Any, seconds: float) -> None:
        self.reports[fgraph].finish(fgraph)
        self.watcher.leave(fgraph, rewriter, seconds)


_active: ContextVar[Watch | None] = ContextVar("watch", default=None)


def active_watch() -> Watch | None:
    """The watch that is on, if one is."""
    return _active.get()


@contextmanager
def watching(watcher: Watcher) -> Iterator[Watch]:
    """While active, a watcher is told about all rewriting."""
    watch = Watch(watcher)
    token = _active.set(watch)
    try:
        yield watch
    finally:
        _active.reset(token)
