"""The driver that applies rewriters until none of them changes the graph."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from typing import IO, Any

from aesara import clock
from aesara.graph.features import Feature, attach_once
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.node_rewriters import FromFunctionNodeRewriter
from aesara.graph.rewriting.processing import (
    FailureCallback,
    NodeProcessingGraphRewriter,
    replace_in_graph,
    replacements_of,
)
from aesara.graph.rewriting.rewriter import GraphRewriter, NodeRewriter, Rewriter
from aesara.graph.rewriting.tracker import OpToRewriterTracker
from aesara.graph.source import Sources

#: How far above a change nodes are looked at again: patterns are rarely deeper.
RECHECK_DEPTH = 3

#: At most this many nodes are looked at again because of one change.
RECHECK_LIMIT = 200

#: Nodes with more inputs than this wait until all others have settled, and so does what uses them: each look at them
#: takes long, and a change of one input after the other would ask for as many looks.
MANY_INPUTS = 16


class WorkList(Feature):
    """The nodes still to be looked at, inputs first.

    While attached to a graph it takes in nodes that enter it, nodes whose inputs change with the
    nodes that use them, and nodes that lose a client.
    """

    def __init__(self, nodes: Iterable[Apply]):
        self.queue: deque[Apply] = deque(nodes)
        self.waiting: set[Apply] = set(self.queue)
        self.imported: list[Apply] = []
        self.changed: list[Apply] = []
        self.lost_client: list[Apply] = []
        self.any_change = False

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        self.imported.append(node)
        self.any_change = True

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        self.any_change = True
        if isinstance(node, Apply):
            self.changed.append(node)
        if r.owner is not None:
            self.lost_client.append(r.owner)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        clients = fgraph.clients
        many = len(node.inputs) > MANY_INPUTS
        for var in node.inputs:
            # What replaces a long sum or product keeps most of its operands: these have lost nothing.
            if var.owner is not None and not (many and clients.get(var)):
                self.lost_client.append(var.owner)

    def settle(self, fgraph: FunctionGraph) -> None:
        """Put the nodes that the last replacement concerns in front, in a useful order."""
        alive = fgraph.apply_nodes
        waiting = self.waiting
        users, patient = self._users(fgraph)
        again = [*self.lost_client, *self.imported, *self._last_users(fgraph), *users]
        self.imported.clear()
        self.changed.clear()
        self.lost_client.clear()
        front: list[Apply] = []
        for node in again:
            if node not in waiting and node in alive:
                waiting.add(node)
                if node in patient or len(node.inputs) > MANY_INPUTS:
                    self.queue.append(node)
                else:
                    front.append(node)
        self.queue.extendleft(reversed(front))

    def _last_users(self, fgraph: FunctionGraph) -> list[Apply]:
        """The only users left of variables that lost others: they may now take them apart."""
        found = []
        clients = fgraph.clients
        for node in self.lost_client:
            for output in node.outputs:
                users = clients.get(output, ())
                if len(users) == 1 and isinstance(users[0][0], Apply):
                    found.append(users[0][0])
        return found

    def _users(self, fgraph: FunctionGraph) -> tuple[list[Apply], set[Apply]]:
        """The changed nodes and what uses their outputs, level by level; and which of them use nodes of many inputs."""
        found = dict.fromkeys(self.changed)
        patient: set[Apply] = set()
        level = list(found)
        clients = fgraph.clients
        for _ in range(RECHECK_DEPTH - 1):
            above: dict[Apply, None] = {}
            for node in level:
                waits = len(node.inputs) > MANY_INPUTS or node in patient
                for output in node.outputs:
                    for client, _index in clients.get(output, ()):
                        if isinstance(client, Apply) and client not in found:
                            found[client] = above[client] = None
                            if waits:
                                patient.add(client)
                if len(found) > RECHECK_LIMIT:
                    return list(found), patient
            level = list(above)
        return list(found), patient


class EquilibriumGraphRewriter(NodeProcessingGraphRewriter):
    """Applies rewriters until none of them changes the graph.

    Node rewriters are found by the op of a node (`OpToRewriterTracker`) and applied from a work
    list: every node is looked at once, and again when something near it changes. Graph rewriters
    are applied before each such round.

    Parameters
    ----------
    rewriters
        Node rewriters and graph rewriters.
    failure_callback, ignore_newtrees
        See `NodeProcessingGraphRewriter`. New nodes always take part: an equilibrium includes
        them.
    tracks_on_change_inputs
        Accepted for compatibility: nodes whose inputs change are always looked at again.
    max_use_ratio
        A rewriter that was applied more than this times the number of nodes is taken to be
        going round in circles: it is stopped, and an error is printed.
    final_rewriters
        Graph rewriters applied when the others have settled; if they change the graph, all
        start again.
    cleanup_rewriters
        Graph rewriters applied after every round of the node rewriters.
    """

    def __init__(
        self,
        rewriters: Sequence[Rewriter],
        failure_callback: FailureCallback | None = None,
        ignore_newtrees: bool = True,
        tracks_on_change_inputs: bool = False,
        max_use_ratio: float | None = None,
        final_rewriters: Sequence[GraphRewriter] | None = None,
        cleanup_rewriters: Sequence[GraphRewriter] | None = None,
    ):
        super().__init__(None, ignore_newtrees, failure_callback)
        if max_use_ratio is None:
            raise ValueError("`max_use_ratio` is needed: how often a rewriter may apply, per node.")
        self.max_use_ratio = max_use_ratio
        self.tracks_on_change_inputs = tracks_on_change_inputs
        self.node_tracker = OpToRewriterTracker()
        self.global_rewriters: list[GraphRewriter] = []
        self.final_rewriters = list(final_rewriters or ())
        self.cleanup_rewriters = list(cleanup_rewriters or ())
        for rewriter in rewriters:
            if isinstance(rewriter, NodeRewriter):
                self.node_tracker.add_tracker(rewriter)
            elif isinstance(rewriter, GraphRewriter):
                self.global_rewriters.append(rewriter)
            else:
                raise TypeError(f"Expected a node or graph rewriter; got {rewriter!r}.")
        graph_rewriters = [*self.global_rewriters, *self.final_rewriters, *self.cleanup_rewriters]
        demanding = [rw for rw in (*self.get_node_rewriters(), *graph_rewriters) if rw.has_requirements]
        # Most only ask for features, and many for the same.
        functions = [rw for rw in demanding if type(rw) is FromFunctionNodeRewriter]
        self._required_features = tuple(dict.fromkeys(kind for rw in functions for kind in rw.requirements))
        self._with_requirements = [rw for rw in demanding if type(rw) is not FromFunctionNodeRewriter]

    def get_node_rewriters(self) -> Iterable[NodeRewriter]:
        """The node rewriters, each once."""
        return self.node_tracker.get_rewriters()

    def get_local_optimizers(self) -> Iterable[NodeRewriter]:
        """Old name of `get_node_rewriters`."""
        return self.get_node_rewriters()

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for kind in self._required_features:
            attach_once(fgraph, kind)
        for rewriter in self._with_requirements:
            rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph, start_from: Iterable[Variable] | None = None) -> Any:
        """Apply all rewriters until nothing changes; profile data of the run.

        With `start_from` only the nodes that compute these variables are looked at, and what changes with them.
        """
        profile = EquilibriumProfile(self)
        profile.nodes_before = len(fgraph.apply_nodes)
        begin = clock.now()
        due = dict.fromkeys(self.global_rewriters, True)
        todo = fgraph.toposort() if start_from is None else [var.owner for var in start_from if var.owner is not None]
        while True:
            profile.rounds += 1
            work = WorkList(todo)
            fgraph.attach_feature(work)
            try:
                self._apply_global_rewriters(fgraph, work, due, profile)
                work.settle(fgraph)
                work.any_change = False
                self._apply_node_rewriters(fgraph, work, profile)
                if work.any_change:
                    due = dict.fromkeys(due, True)
                work.any_change = False
                self._apply_graph_rewriters(fgraph, self.cleanup_rewriters, profile)
                if not work.any_change:
                    self._apply_graph_rewriters(fgraph, self.final_rewriters, profile)
                again = work.any_change or any(due.values())
                work.settle(fgraph)
                todo = list(work.queue)
            finally:
                fgraph.remove_feature(work)
            if not again or profile.rounds > 50:
                break
        profile.seconds = clock.now() - begin
        profile.nodes_after = len(fgraph.apply_nodes)
        return profile

    def _apply_global_rewriters(
        self, fgraph: FunctionGraph, work: WorkList, due: dict[GraphRewriter, bool], profile: EquilibriumProfile
    ) -> None:
        """Apply those that are due: they are again when the graph has changed since their last turn."""
        for rewriter in self.global_rewriters:
            if due[rewriter]:
                work.any_change = False
                self._apply_graph_rewriters(fgraph, [rewriter], profile)
                if work.any_change:
                    due.update(dict.fromkeys(due, True))
                due[rewriter] = work.any_change and not rewriter.idempotent

    def _apply_graph_rewriters(
        self, fgraph: FunctionGraph, rewriters: Sequence[GraphRewriter], profile: EquilibriumProfile
    ) -> None:
        for rewriter in rewriters:
            start = clock.now()
            try:
                rewriter.apply(fgraph)
            except Exception as exc:
                if self.failure_callback is None:
                    raise
                self.failure_callback(exc, self, [], rewriter, None)
            profile.global_seconds[rewriter] = profile.global_seconds.get(rewriter, 0.0) + clock.now() - start

    def _apply_node_rewriters(self, fgraph: FunctionGraph, work: WorkList, profile: EquilibriumProfile) -> None:
        alive, waiting, queue = fgraph.apply_nodes, work.waiting, work.queue
        trackers = self.node_tracker.get_node_trackers
        with Sources() as sources:
            while queue:
                node = queue.popleft()
                waiting.discard(node)
                if node not in alive:
                    continue
                rewriters = trackers(node)
                if not rewriters:
                    continue
                sources.follow(node)
                if self._process(fgraph, node, rewriters, profile):
                    if node in alive and node not in waiting:
                        work.lost_client.append(node)
                    work.settle(fgraph)

    def _process(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        rewriters: Sequence[NodeRewriter],
        profile: EquilibriumProfile,
    ) -> bool:
        """Apply the first of the rewriters that has something to say about the node."""
        for rewriter in rewriters:
            pairs: list[Any] = []
            try:
                result = rewriter.transform_tracked(fgraph, node)
                if result is None or result is False:
                    continue
                pairs, remove = replacements_of(node, result, rewriter)
                if not pairs or not self._may_apply(rewriter, fgraph, profile):
                    continue
                replace_in_graph(fgraph, pairs, remove, rewriter)
                return True
            except Exception as exc:
                if self.failure_callback is None:
                    raise
                self.failure_callback(exc, self, pairs or [(old, None) for old in node.outputs], rewriter, node)
        return False

    def _may_apply(self, rewriter: NodeRewriter, fgraph: FunctionGraph, profile: EquilibriumProfile) -> bool:
        used = profile.applied.get(rewriter, 0)
        most = max(profile.nodes_before, len(fgraph.apply_nodes), 1) * self.max_use_ratio
        if used >= most:
            if rewriter not in profile.stopped:
                profile.stopped.add(rewriter)
                print(
                    f"ERROR (aesara.graph): the rewrite {rewriter} was stopped after {used} "
                    "applications: it does not come to an end on this graph. Raise "
                    "config.optdb__max_use_ratio if the graph needs them.",
                    file=sys.stderr,
                )
            return False
        profile.applied[rewriter] = used + 1
        return True

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{type(self).__name__} {self.name or ''} id={id(self)}", file=stream)
        if depth != 0:
            for rewriter in [*self.global_rewriters, *self.get_node_rewriters()]:
                rewriter.print_summary(stream, level=level + 2, depth=depth - 1)

    @staticmethod
    def print_profile(stream: IO[str], prof: Any, level: int = 0) -> None:
        indent = "    " * level
        print(
            f"{indent}EquilibriumGraphRewriter {prof.rewriter.name} time {prof.seconds:.3f}s, "
            f"rounds {prof.rounds}, nodes {prof.nodes_before} -> {prof.nodes_after}",
            file=stream,
        )
        for rewriter, seconds in prof.global_seconds.items():
            print(f"{indent}    {seconds:.6f}s  {rewriter}", file=stream)
        for rewriter, times in sorted(prof.applied.items(), key=lambda item: -item[1]):
            print(f"{indent}    {times:>8} times  {rewriter}", file=stream)

    @staticmethod
    def merge_profile(prof1: Any, prof2: Any) -> Any:
        """One profile out of two: the numbers are added."""
        merged = EquilibriumProfile(prof1.rewriter)
        for prof in (prof1, prof2):
            merged.rounds = max(merged.rounds, prof.rounds)
            merged.seconds += prof.seconds
            merged.nodes_before += prof.nodes_before
            merged.nodes_after += prof.nodes_after
            for rewriter, times in prof.applied.items():
                merged.applied[rewriter] = merged.applied.get(rewriter, 0) + times
            for rewriter, seconds in prof.global_seconds.items():
                merged.global_seconds[rewriter] = merged.global_seconds.get(rewriter, 0.0) + seconds
        return merged


class EquilibriumProfile:
    """Counts and times of one run of an `EquilibriumGraphRewriter`."""

    def __init__(self, rewriter: EquilibriumGraphRewriter):
        self.rewriter = rewriter
        self.rounds = 0
        self.seconds = 0.0
        self.nodes_before = 0
        self.nodes_after = 0
        self.applied: dict[NodeRewriter, int] = {}
        self.stopped: set[NodeRewriter] = set()
        self.global_seconds: dict[GraphRewriter, float] = {}
