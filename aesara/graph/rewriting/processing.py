"""Common base of graph rewriters that work node by node, and the feature that notifies them of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, Literal

from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.rewriter import GraphRewriter, NodeRewriter, Rewriter, report_rewrite_failure
from aesara.graph.source import inherit_source
from aesara.graph.utils import InconsistencyError

#: Variables and their replacements.
Replacements = list[tuple[Variable, Variable | None]]
FailureCallback = Callable[[Exception, "NodeProcessingGraphRewriter", Replacements, Rewriter, Apply | None], None]


class DispatchingFeature(Feature):
    """Hands the events of a graph to functions.

    Parameters
    ----------
    importer, pruner
        Called with a node that enters, or leaves, the graph.
    chin
        Called with ``(node, i, old, new, reason)`` when an input of a node changes.
    """

    def __init__(
        self,
        importer: Callable[..., Any] | None,
        pruner: Callable[..., Any] | None,
        chin: Callable[..., Any] | None,
        name: str | None = None,
    ):
        self.importer = importer
        self.pruner = pruner
        self.chin = chin
        self.name = name

    def __str__(self) -> str:
        return f"DispatchingFeature({self.name})"

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        if self.importer:
            self.importer(node)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        if self.pruner:
            self.pruner(node)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        if self.chin:
            self.chin(node, i, r, new_r, reason)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Nothing to undo: the functions belong to whoever made the feature."""


class NodeProcessingGraphRewriter(GraphRewriter):
    """A graph rewriter that applies a node rewriter to nodes of its choice.

    Parameters
    ----------
    node_rewriter
        What is applied (None if the subclass has its own).
    ignore_newtrees
        Leave nodes alone that rewriting brought in.
    failure_callback
        Called with ``(exception, self, replacements, node_rewriter, node)`` when a node
        rewriter, or a replacement that it asked for, fails. Without it the exception goes on.
    """

    def __init__(
        self,
        node_rewriter: NodeRewriter | None,
        ignore_newtrees: Literal[True, False, "auto"] = False,
        failure_callback: FailureCallback | None = None,
    ):
        self.node_rewriter = node_rewriter
        if ignore_newtrees == "auto":
            self.ignore_newtrees = not getattr(node_rewriter, "reentrant", True)
        else:
            self.ignore_newtrees = bool(ignore_newtrees)
        self.failure_callback = failure_callback

    @classmethod
    def warn(cls, exc: Exception, nav: object, repl_pairs: object, node_rewriter: Rewriter, node: Apply | None) -> None:
        """Failure callback: `config.on_opt_error` decides."""
        if node is None:
            report_rewrite_failure(exc, str(node_rewriter))
            return
        created = "" if node.source is None else f", which was created at {node.source}"
        report_rewrite_failure(exc, f"{node_rewriter} on the node {node}{created}")

    @classmethod
    def warn_inplace(
        cls, exc: Exception, nav: object, repl_pairs: object, node_rewriter: Rewriter, node: Apply | None
    ) -> None:
        """Failure callback: a replacement that the graph refuses is no failure."""
        if not isinstance(exc, InconsistencyError):
            cls.warn(exc, nav, repl_pairs, node_rewriter, node)

    @classmethod
    def warn_ignore(
        cls, exc: Exception, nav: object, repl_pairs: object, node_rewriter: Rewriter, node: Apply | None
    ) -> None:
        """Failure callback: every exception is passed over."""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        if self.node_rewriter is not None:
            self.node_rewriter.add_requirements(fgraph)

    def attach_updater(
        self,
        fgraph: FunctionGraph,
        importer: Callable[..., Any] | None,
        pruner: Callable[..., Any] | None,
        chin: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> DispatchingFeature | None:
        """Attach a feature that reports changes of the graph to these functions."""
        if self.ignore_newtrees:
            importer = None
        if importer is None and pruner is None and chin is None:
            return None
        updater = DispatchingFeature(importer, pruner, chin, name=name)
        fgraph.attach_feature(updater)
        return updater

    def detach_updater(self, fgraph: FunctionGraph, updater: DispatchingFeature | None) -> None:
        if updater is not None:
            fgraph.remove_feature(updater)

    def process_node(self, fgraph: FunctionGraph, node: Apply, node_rewriter: NodeRewriter | None = None) -> bool:
        """Apply the node rewriter to `node` and do the replacements; whether there were any."""
        node_rewriter = node_rewriter or self.node_rewriter
        assert node_rewriter is not None
        pairs: list[tuple[Variable, Any]] = []
        try:
            with inherit_source(node):
                result = node_rewriter.transform(fgraph, node)
            if result is None or result is False:
                return False
            pairs, remove = replacements_of(node, result, node_rewriter)
            if not pairs:
                return False
            replace_in_graph(fgraph, pairs, remove, node_rewriter)
            return True
        except Exception as exc:
            if self.failure_callback is None:
                raise
            self.failure_callback(exc, self, pairs or [(old, None) for old in node.outputs], node_rewriter, node)
            return False

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{type(self).__name__} ({self.name}) id={id(self)}", file=stream)
        if depth != 0 and self.node_rewriter is not None:
            self.node_rewriter.print_summary(stream, level=level + 2, depth=depth - 1)


def replacements_of(
    node: Apply, result: Any, node_rewriter: NodeRewriter
) -> tuple[list[tuple[Variable, Variable]], list[Apply]]:
    """The pairs (old, new), and the nodes to be removed, that a transform's result stands for."""
    remove: list[Apply] = []
    if isinstance(result, dict):
        remove = list(result.get("remove", ()))
        items: Iterable[Any] = ((old, new) for old, new in result.items() if old != "remove")
    else:
        if type(result) is not list and (not isinstance(result, Sequence) or isinstance(result, str)):
            raise TypeError(
                f"The node rewriter {node_rewriter} returned {result!r}; expected False, None, a "
                "list with one replacement for each output, or a dict from variables to their "
                "replacements."
            )
        if len(result) != len(node.outputs):
            raise ValueError(
                f"The node rewriter {node_rewriter} returned {len(result)} replacements for the "
                f"{len(node.outputs)} outputs of {node}."
            )
        items = zip(node.outputs, result)
    return [(old, new) for old, new in items if new is not None and new is not old], remove


def replace_in_graph(
    fgraph: FunctionGraph,
    pairs: list[tuple[Variable, Variable]],
    remove: list[Apply],
    reason: object,
) -> None:
    """Replace variables of the graph, with validation."""
    if remove:
        fgraph.replace_all_validate_remove(pairs, remove, reason)
    else:
        fgraph.replace_all_validate(pairs, reason)
