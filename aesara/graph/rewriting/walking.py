"""Graph rewriters that make one walk over the nodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal

from aesara.graph.features import NodeFinder, attach_once
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.node_rewriters import SequentialNodeRewriter, is_tracked
from aesara.graph.rewriting.processing import (
    FailureCallback,
    NodeProcessingGraphRewriter,
)
from aesara.graph.rewriting.rewriter import NodeRewriter
from aesara.graph.rewriting.tracker import OpToRewriterTracker
from aesara.graph.traversal import io_toposort


class WalkingGraphRewriter(NodeProcessingGraphRewriter):
    """Applies a node rewriter to every node once, in topological order or against it.

    Nodes that the walk brings in are visited too, unless `ignore_newtrees`.

    Parameters
    ----------
    node_rewriter
        What is applied.
    order
        ``"in_to_out"`` or ``"out_to_in"``.
    ignore_newtrees, failure_callback
        See `NodeProcessingGraphRewriter`.
    """

    def __init__(
        self,
        node_rewriter: NodeRewriter,
        order: Literal["out_to_in", "in_to_out"] = "in_to_out",
        ignore_newtrees: bool = False,
        failure_callback: FailureCallback | None = None,
    ):
        if order not in ("out_to_in", "in_to_out"):
            raise ValueError(f"`order` must be 'out_to_in' or 'in_to_out'; got {order!r}.")
        self.order = order
        super().__init__(node_rewriter, ignore_newtrees, failure_callback)
        self._tracker: OpToRewriterTracker | None = None
        if getattr(node_rewriter, "only_tracked", False):
            self._tracker = OpToRewriterTracker()
            self._tracker.add_tracker(node_rewriter)

    @property
    def description(self) -> str:
        """Description of the node rewriter."""
        return self.node_rewriter.description if self.node_rewriter is not None else super().description

    def apply(self, fgraph: FunctionGraph, start_from: Iterable[Variable] | None = None) -> int:
        """Walk; the number of nodes at which something was replaced."""
        tracker = self._tracker
        if tracker is not None and not any(tracker.get_trackers(node.op) for node in fgraph.apply_nodes):
            return 0
        # Not in an order in which values are read before they are overwritten: a graph that has none may be one that
        # these rewriters repair.
        nodes = io_toposort(fgraph.inputs, fgraph.outputs if start_from is None else list(start_from))
        forward = self.order == "in_to_out"
        queue: deque[Apply] = deque(nodes if forward else reversed(nodes))
        fresh: list[Apply] = []
        updater = self.attach_updater(fgraph, fresh.append, None, name=self.name)
        alive = fgraph.apply_nodes
        replaced = 0
        try:
            while queue:
                node = queue.popleft()
                if node not in alive or (tracker is not None and not tracker.get_node_trackers(node)):
                    continue
                if self.process_node(fgraph, node):
                    replaced += 1
                else:
                    fresh.clear()  # a replacement that was taken back brings nodes in again that had their turn
                if fresh:
                    # They enter the graph inputs first; the next to visit stands on the left.
                    queue.extendleft(reversed(fresh) if forward else fresh)
                    fresh.clear()
        finally:
            self.detach_updater(fgraph, updater)
        return replaced


def walking_rewriter(
    order: Literal["out_to_in", "in_to_out"],
    *node_rewriters: NodeRewriter,
    name: str | None = None,
    failure_callback: FailureCallback | None = WalkingGraphRewriter.warn_inplace,
    **kwargs: Any,
) -> WalkingGraphRewriter:
    """One walk in the given order with one or more node rewriters.

    Examples
    --------
    >>> from aesara.graph.rewriting.basic import in2out, rule
    >>> log1p_everywhere = in2out(rule("log1p", (at.log, (at.add, 1, "*x")), (at.log1p, "x")), name="log1p everywhere")
    """
    if not node_rewriters:
        raise ValueError("At least one node rewriter is needed.")
    if len(node_rewriters) > 1:
        combined: NodeRewriter = SequentialNodeRewriter(*node_rewriters)
        if name:
            combined.name = name
    else:
        combined = node_rewriters[0]
        name = name or combined.name
    walk = WalkingGraphRewriter(combined, order=order, failure_callback=failure_callback, **kwargs)
    walk.name = name
    return walk


in2out = partial(walking_rewriter, "in_to_out")
out2in = partial(walking_rewriter, "out_to_in")


class OpKeyGraphRewriter(NodeProcessingGraphRewriter):
    """Applies a node rewriter to the nodes that have its `op_key`, found by index."""

    def __init__(
        self,
        node_rewriter: NodeRewriter,
        ignore_newtrees: bool = False,
        failure_callback: FailureCallback | None = None,
    ):
        self._op_key: Callable[[], Op | Sequence[Op]] | None = getattr(node_rewriter, "op_key", None)
        if self._op_key is None:
            raise TypeError(f"{node_rewriter} must have an op_key method.")
        super().__init__(node_rewriter, ignore_newtrees, failure_callback)

    def apply(self, fgraph: FunctionGraph) -> None:
        assert self._op_key is not None
        op = self._op_key()
        ops = op if isinstance(op, (list, tuple)) else [op]
        queue = deque(node for key in ops for node in fgraph.get_nodes(key))

        def importer(node: Apply) -> None:
            if node.op in ops:
                queue.append(node)

        updater = self.attach_updater(fgraph, importer, None, name=self.name)
        try:
            while queue:
                node = queue.popleft()
                waiting = len(queue)
                if node in fgraph.apply_nodes and not self.process_node(fgraph, node):
                    while len(queue) > waiting:  # what was taken back enters the graph again
                        queue.pop()
        finally:
            self.detach_updater(fgraph, updater)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        super().add_requirements(fgraph)
        attach_once(fgraph, NodeFinder)


def pre_greedy_node_rewriter(fgraph: FunctionGraph, rewrites: Sequence[NodeRewriter], out: Variable) -> Variable:
    """Apply node rewriters to the graph of a variable that is not in a `FunctionGraph` yet.

    The nodes between what `fgraph` holds already and `out` are visited once, inputs first, and
    the rewriters are applied to each until none applies. The nodes themselves are not changed:
    where something is replaced, the nodes above are cloned.

    Parameters
    ----------
    fgraph
        The graph whose variables are taken as given; also handed to the rewriters.
    rewrites
        The rewriters; those of one output only.
    out
        The variable.

    Returns
    -------
    Variable
        The rewritten variable.
    """
    known = list(fgraph.clients) if fgraph is not None else []
    replaced: dict[Variable, Variable] = {}
    for node in io_toposort(known, [out]):
        inputs = [replaced.get(var, var) for var in node.inputs]
        if any(new is not old for new, old in zip(inputs, node.inputs)):
            new_node = node.clone_with_new_inputs(inputs)
            replaced.update(zip(node.outputs, new_node.outputs))
        for output in node.outputs:
            settled = _apply_until_settled(fgraph, rewrites, replaced.get(output, output))
            if settled is not output:
                replaced[output] = settled
    return replaced.get(out, out)


def _apply_until_settled(fgraph: FunctionGraph, rewrites: Sequence[NodeRewriter], var: Variable) -> Variable:
    for _ in range(100):
        node = var.owner
        if node is None or len(node.outputs) != 1:
            return var
        for rewriter in rewrites:
            if not is_tracked(rewriter.tracks(), node.op):
                continue
            result = rewriter.transform(fgraph, node)
            if result and not isinstance(result, dict) and result[0] is not var:
                var = result[0]
                break
        else:
            return var
    return var
