"""Rewriters: the base classes, functions as rewriters of whole graphs, sequences of these."""

from __future__ import annotations

import sys
import traceback
from abc import ABC, abstractmethod
from collections import UserList
from collections.abc import Callable, Collection, Sequence
from typing import IO, Any

from aesara import clock
from aesara.configdefaults import config
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.features import AlreadyThere, Feature, attach_once
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.describe import first_sentence
from aesara.graph.rewriting.rule_profile import RuleProfile
from aesara.graph.rewriting.watching import Watch, active_watch, watching


def report_rewrite_failure(exc: Exception, what: object) -> None:
    """Handle an exception that a rewriter raised, as ``config.on_opt_error`` says.

    ``"raise"`` re-raises it, ``"pdb"`` opens the debugger where it happened, ``"ignore"`` says
    nothing and ``"warn"`` prints it with the end of its traceback, or all of it if ``config.exception_verbosity`` is
    ``"high"``; in the last two the graph is left as it is.
    """
    choice = config.on_opt_error
    if choice == "raise":
        exc.add_note(f"Raised by the rewrite {what}.")
        raise exc
    if choice == "ignore":
        return
    print(f"Rewrite failure due to: {what}", file=sys.stderr)
    everything = config.exception_verbosity == "high"
    traceback.print_exception(exc, limit=None if everything else -3, chain=everything)
    print(
        "The graph is compiled without it. HINT: config.on_opt_error = 'raise' makes it an error"
        + ("." if everything else ", config.exception_verbosity = 'high' shows the whole traceback."),
        file=sys.stderr,
    )
    if choice == "pdb":
        import pdb

        pdb.post_mortem(exc.__traceback__)


class Rewriter(ABC):
    """Base class of node rewriters and graph rewriters."""

    name: str | None = None

    @property
    def description(self) -> str:
        """Description in one sentence: the first one of the docstring, unless a subclass overrides it."""
        return first_sentence(self.__doc__)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach to `fgraph` the features that this rewriter needs."""

    @property
    def has_requirements(self) -> bool:
        """True if `add_requirements` attaches any feature."""
        return type(self).add_requirements is not Rewriter.add_requirements

    def without(self, names: Collection[str]) -> Rewriter:
        """The rewriter without the parts of its work that have these names, where parts have names."""
        return self

    @abstractmethod
    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        """Print a one-line description, and those of the parts down to `depth`."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})" if self.name else f"{type(self).__name__}()"


class NodeRewriter(Rewriter):
    """A rewriter that is applied to one node at a time."""

    #: Whether `transform` leaves all nodes alone that `tracks` does not name, so that they need not be asked about.
    only_tracked = False

    def tracks(self) -> Sequence[Any] | None:
        """The ops, or classes of ops, that this rewriter starts from; None means all."""
        return None

    def operands(self) -> Sequence[Any] | None:
        """Producers (ops, classes of ops, `Constant`) one of which must have computed an input of a node that this
        rewriter changes; None means any."""
        return None

    @abstractmethod
    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """Say what `node` is to be replaced with.

        Returns
        -------
        False or None
            Nothing to do.
        list of Variable
            One replacement for each output of `node` (None keeps an output).
        dict
            From variables of the graph to their replacements; the key ``"remove"`` may hold a
            list of nodes that must have left the graph afterwards.
        """

    def transform_tracked(self, fgraph: FunctionGraph, node: Apply) -> Any:
        """`transform` for a node that is known to be tracked."""
        return self.transform(fgraph, node)

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{type(self).__name__} {self.name or ''} id={id(self)}", file=stream)


class RequiringFeatures:
    """Base of node rewriters that name the classes of features that they need, in `requirements`."""

    requirements: Sequence[type[Feature]]

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach to `fgraph` the features that this rewriter needs."""
        for requirement in self.requirements:
            attach_once(fgraph, requirement)

    @property
    def has_requirements(self) -> bool:
        """True if `add_requirements` attaches any feature."""
        return bool(self.requirements)


class GraphRewriter(Rewriter):
    """A rewriter that is applied to a whole `FunctionGraph`.

    Subclasses define `apply`. Call `rewrite`, which also sees to the requirements.

    Examples
    --------
    >>> class Report(GraphRewriter):
    ...     def apply(self, fgraph):
    ...         print(len(fgraph.apply_nodes))
    """

    #: whether it has nothing left to do in a graph right after it was applied
    idempotent = False

    @abstractmethod
    def apply(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        """Change `fgraph` in place."""

    def is_worth_repeating(self, fgraph: FunctionGraph, changed: Sequence[Apply]) -> bool:
        """Return whether another run may change the graph, after these nodes have changed."""
        return bool(changed)

    def rewrite(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        """Attach the requirements to `fgraph`, then apply."""
        self.add_requirements(fgraph)
        return self.apply(fgraph, *args, **kwargs)

    def optimize(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        """Old name of `rewrite`."""
        return self.rewrite(fgraph, *args, **kwargs)

    def __call__(self, fgraph: FunctionGraph) -> Any:
        return self.rewrite(fgraph)

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        name = getattr(self, "name", None)
        print(f"{' ' * level}{type(self).__name__} {name} id={id(self)}", file=stream)

    @staticmethod
    def print_profile(stream: IO[str], prof: Any, level: int = 0) -> None:
        if prof is not None:
            print(f"{'    ' * level}{prof}", file=stream)


class FromFunctionGraphRewriter(GraphRewriter):
    """A function of the `FunctionGraph` as a rewriter."""

    __name__: str

    def __init__(self, fn: Callable[[FunctionGraph], Any], requirements: Sequence[Any] = ()):
        self.fn = fn
        self.requirements = tuple(requirements)
        self.name = getattr(fn, "__name__", None)

    def apply(self, fgraph: FunctionGraph, *args: Any, **kwargs: Any) -> Any:
        return self.fn(fgraph, *args, **kwargs)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for requirement in self.requirements:
            requirement(fgraph)

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{self.fn} id={id(self)}", file=stream)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def __str__(self) -> str:
        return self.name or "FromFunctionGraphRewriter"


def graph_rewriter(f: Callable[[FunctionGraph], Any]) -> FromFunctionGraphRewriter:
    """Make a graph rewriter of a function (use as a decorator).

    Examples
    --------
    >>> @graph_rewriter
    ... def count_nodes(fgraph):
    ...     print(len(fgraph.apply_nodes))
    """
    rewriter = FromFunctionGraphRewriter(f)
    rewriter.__name__ = f.__name__
    rewriter.__doc__ = f.__doc__
    return rewriter


def inplace_graph_rewriter(f: Callable[[FunctionGraph], Any]) -> FromFunctionGraphRewriter:
    """Like `graph_rewriter`, for a function that makes operations destroy their inputs: the graph gets a
    `DestroyHandler`."""
    rewriter = graph_rewriter(f)
    rewriter.requirements = (lambda fgraph: fgraph.attach_feature(DestroyHandler()),)
    return rewriter


class ChangeTracker(Feature):
    """Says whether a graph has changed since `reset`; `fgraph.change_tracker` while attached."""

    shows = ("change_tracker",)

    def __init__(self) -> None:
        self.changed = False
        self.nb_imported = 0

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "change_tracker"):
            raise AlreadyThere()
        self.changed = False
        self.nb_imported = 0

    def attribute_of(self, fgraph: FunctionGraph, name: str) -> ChangeTracker:
        return self

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        self.nb_imported += 1
        self.changed = True

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply, i: int, r: Any, new_r: Any, reason: object = None
    ) -> None:
        self.changed = True

    def reset(self) -> None:
        self.changed = False

    def clone(self) -> ChangeTracker:
        return type(self)()


class SequentialGraphRewriter(GraphRewriter, UserList[Any]):
    """Graph rewriters applied one after the other.

    Parameters
    ----------
    rewrites
        The rewriters, or one sequence of them.
    failure_callback
        ``f(exception, sequence, rewriter)``; called when a rewriter raises. Without it the
        exception goes on.
    """

    @classmethod
    def warn(cls, exc: Exception, self: Any, rewriter: Rewriter) -> None:
        """Failure callback: `config.on_opt_error` decides."""
        report_rewrite_failure(exc, rewriter)

    def __init__(self, *rewrites: Any, failure_callback: Callable[..., Any] | None = None):
        if len(rewrites) == 1 and isinstance(rewrites[0], (list, tuple)):
            rewrites = tuple(rewrites[0])
        UserList.__init__(self, rewrites)
        self.failure_callback = failure_callback
        self.pre_profile: Any = None

    def apply(self, fgraph: FunctionGraph) -> tuple[Any, ...]:
        watch = active_watch()
        if watch is not None:
            with watch.graph(fgraph):
                return self._apply(fgraph, watch)
        if not config.profile_optimizer:
            return self._apply(fgraph, None)
        rules = RuleProfile()
        with watching(rules) as watch, watch.graph(fgraph):
            return (*self._apply(fgraph, watch)[:3], rules)

    def _apply(self, fgraph: FunctionGraph, watch: Watch | None) -> tuple[Any, ...]:
        timings = []
        sizes = [len(fgraph.apply_nodes)]
        for rewriter in list(self.data):
            if watch is not None:
                watch.enter(fgraph, rewriter)
            start = clock.now()
            try:
                rewriter.rewrite(fgraph)
            except AssertionError:
                raise
            except Exception as exc:
                if self.failure_callback is None:
                    raise
                self.failure_callback(exc, self, rewriter)
            seconds = clock.now() - start
            if watch is not None:
                watch.leave(fgraph, rewriter, seconds)
            timings.append((rewriter, seconds))
            sizes.append(len(fgraph.apply_nodes))
        return (self, timings, sizes, None)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rewriter in self.data:
            rewriter.add_requirements(fgraph)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def __str__(self) -> str:
        return f"SequentialGraphRewriter({self.data})"

    def __repr__(self) -> str:
        return f"SequentialGraphRewriter({self.data!r})"

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{type(self).__name__} {self.name} id={id(self)}", file=stream)
        if depth != 0:
            for rewriter in self.data:
                rewriter.print_summary(stream, level=level + 2, depth=depth - 1)

    @staticmethod
    def print_profile(stream: IO[str], prof: Any, level: int = 0) -> None:
        if prof is None:
            return
        sequence, timings, sizes, rules = prof
        indent = "    " * level
        total = sum(t for _, t in timings)
        print(
            f"{indent}SequentialGraphRewriter {sequence.name} time {total:.3f}s, nodes {sizes[0]} -> {sizes[-1]}",
            file=stream,
        )
        for (rewriter, seconds), before, after in zip(timings, sizes, sizes[1:]):
            label = getattr(rewriter, "name", None) or type(rewriter).__name__
            print(f"{indent}    {seconds:.6f}s  {label}  nodes {before} -> {after}", file=stream)
        if rules is not None:
            print(rules.table(), file=stream)

    @staticmethod
    def merge_profile(prof1: Any, prof2: Any) -> Any:
        """One profile out of two: times of the same rewriter are added."""
        seconds: dict[Any, float] = {}
        for _, timings, _, _ in (prof1, prof2):
            for rewriter, t in timings:
                seconds[rewriter] = seconds.get(rewriter, 0.0) + t
        sizes = [prof1[2][0] + prof2[2][0]] * len(seconds) + [prof1[2][-1] + prof2[2][-1]]
        return (prof1[0], list(seconds.items()), sizes, None)
