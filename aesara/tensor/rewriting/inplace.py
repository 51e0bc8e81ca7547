"""Rules that let operations write over inputs that are not read afterwards.

One walk over the nodes, in an order in which they can run, decides for the whole graph what is overwritten; a
`DestroyHandler` then validates the result. Native programs are not affected: they plan their memory themselves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from aesara.configdefaults import config
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.node_rewriters import is_tracked
from aesara.graph.rewriting.processing import replacements_of
from aesara.graph.rewriting.rewriter import GraphRewriter, NodeRewriter
from aesara.graph.utils import InconsistencyError
from aesara.tensor.indexing.subtensor_advanced import AdvancedIncSubtensor, AdvancedIncSubtensor1
from aesara.tensor.indexing.subtensor_basic import IncSubtensor
from aesara.utils import collection_paused

#: Garbage collection is paused if this many nodes are replaced, since nearly all new objects stay alive.
MANY = 1_000


class FreeMemory:
    """The memory that is not read any more at each node of a graph.

    Variables that show the same memory have the same root. A node may write over an input if it is the last one in
    `order` that reads its root, and the root does not have to outlive the call.

    Parameters
    ----------
    fgraph
        The graph.
    order
        The nodes, in an order in which they can run.
    """

    def __init__(self, fgraph: FunctionGraph, order: Sequence[Apply]):
        self.root: dict[Variable, Variable] = {}
        self.last_reader: dict[Variable, Apply] = {}
        self.kept: set[Variable] = set()
        self._readers: dict[Variable, set[Apply]] | None = None
        self._clients = fgraph.clients
        if any(getattr(node.op, "is_lazy", False) for node in order):
            # A lazy machine runs nodes in another order, so a node that overwrites must be the only reader.
            self._readers = {}
        for node in order:
            self._walk(node)
        for feature in fgraph._features:
            self.kept.update(self._root_of(variable) for variable in getattr(feature, "protected", ()))
        self.kept.update(self._root_of(variable) for variable in fgraph.outputs)

    def _root_of(self, variable: Variable) -> Variable:
        return self.root.get(variable, variable)

    def _walk(self, node: Apply) -> None:
        root, op = self.root, node.op
        for variable in node.inputs:
            self.last_reader[root.get(variable, variable)] = node
        if op.view_map:
            for output, positions in op.view_map.items():
                if positions:
                    shown = node.inputs[positions[0]]
                    root[node.outputs[output]] = root.get(shown, shown)
        elif self._readers is not None:
            for variable in node.inputs:
                self._readers.setdefault(self._root_of(variable), set()).add(node)
        if op.destroy_map:
            for positions in op.destroy_map.values():
                self.kept.update(self._root_of(node.inputs[position]) for position in positions)
        if getattr(op, "is_lazy", False):
            # Each output may be one of the inputs.
            self.kept.update(map(self._root_of, (*node.inputs, *node.outputs)))

    def may_be_taken(self, node: Apply, position: int) -> bool:
        """Return whether `node` may write over its input at `position`."""
        variable = node.inputs[position]
        root = self._root_of(variable)
        if root in self.kept or self.last_reader[root] is not node or isinstance(root, Constant):
            return False
        if root._tag is not None and getattr(root._tag, "indestructible", False):
            return False
        if self._readers is not None and len(self._readers[root]) > 1:
            return False
        if config.cycle_detection == "fast" and (root is not variable or len(self._clients[root]) > 1):
            return False
        for other, another in enumerate(node.inputs):
            if other != position and self.root.get(another, another) is root:
                return False
        return True

    def take(self, node: Apply, position: int) -> None:
        """Record that `node` writes over an input."""
        self.kept.add(self._root_of(node.inputs[position]))


def _writers_last(fgraph: FunctionGraph, concerns: Callable[[Op], bool]) -> list[Apply]:
    """Return the nodes in an order in which nodes that may overwrite come as reordered as possible.

    Nodes whose results the graph returns come last. They need memory of their own, for which that of a temporary is
    as good as newly allocated memory.
    """
    order = fgraph.toposort()
    clients = fgraph.clients
    priorities: dict[Apply, int] = {}  # higher for later
    most: dict[Variable, int] = {}
    last: dict[Variable, int] = {}
    for node in order:
        priority = 0
        if concerns(node.op):
            priority = 2 if any(c == "output" for out in node.outputs for c, _ in clients[out]) else 1
        priorities[node] = priority
        for variable in node.inputs:
            if len(clients[variable]) > 1:
                last[variable] = priority
                most[variable] = max(most.get(variable, 0), priority)
    if last == most:
        return order
    before = fgraph.orderings()
    missing: dict[Apply, int] = {}
    followers: dict[Apply, list[Apply]] = {}
    for node in order:
        needed = {variable.owner for variable in node.inputs if variable.owner is not None} | {*before.get(node, ())}
        missing[node] = len(needed)
        for other in needed:
            followers.setdefault(other, []).append(node)
    key = {node: (priorities[node], position) for position, node in enumerate(order)}
    ready = [(key[node], node) for node in order if not missing[node]]
    heapify(ready)
    reordered = []
    while ready:
        _, node = heappop(ready)
        reordered.append(node)
        for follower in followers.get(node, ()):
            missing[follower] -= 1
            if not missing[follower]:
                heappush(ready, (key[follower], follower))
    return reordered


class InplaceRewriter(GraphRewriter):
    """Replaces all possible nodes by forms that write over inputs, in one step.

    Subclasses define the nodes that have such a form, and the inputs that it overwrites.
    """

    @abstractmethod
    def concerns(self, op: Op) -> bool:
        """Return whether nodes of this op have a form that writes over an input."""

    @abstractmethod
    def in_place(self, fgraph: FunctionGraph, node: Apply, memory: FreeMemory) -> Op | None:
        """Take inputs that are free, and return the op that writes over them; None if none is free."""

    def apply(self, fgraph: FunctionGraph) -> int:
        """Replace nodes, and return the number of nodes that now write over an input."""
        if not any(self.concerns(node.op) for node in fgraph.apply_nodes):
            return 0
        order = _writers_last(fgraph, self.concerns)
        memory = FreeMemory(fgraph, order)
        chosen = []
        for node in order:
            if self.concerns(node.op):
                op = self.in_place(fgraph, node, memory)
                if op is not None:
                    chosen.append((node, op))
        if not chosen:
            return 0
        # Attached this late because it follows every change of a graph.
        if not any(isinstance(feature, DestroyHandler) for feature in fgraph._features):
            fgraph.attach_feature(DestroyHandler())
        # From the outputs on, so that the inputs of a new node are final when it is imported.
        chosen.reverse()
        if len(chosen) < MANY:
            return self._replace(fgraph, chosen)
        with collection_paused():
            return self._replace(fgraph, chosen)

    def _replace(self, fgraph: FunctionGraph, chosen: Sequence[tuple[Apply, Op]]) -> int:
        """Replace nodes, except for replacements that a feature of the graph refuses; return their number."""
        pairs: list[Any] = []
        for node, op in chosen:
            new = node.clone()
            new.op = op
            pairs.extend(zip(node.outputs, new.outputs))
        try:
            fgraph.replace_all_validate(pairs, reason=self)
            return len(chosen)
        except InconsistencyError:
            if len(chosen) == 1:
                return 0
            half = len(chosen) // 2
            return self._replace(fgraph, chosen[:half]) + self._replace(fgraph, chosen[half:])


class InplaceWriter(InplaceRewriter):
    """Lets operations that change or add to their first input overwrite it.

    Parameters
    ----------
    rule
        The node rewriter that returns the in-place form.
    """

    def __init__(self, rule: NodeRewriter):
        self.rule = rule
        self.name = rule.name
        self._tracks = rule.tracks() or ()
        self._classes = tuple({key if isinstance(key, type) else type(key) for key in self._tracks})

    def concerns(self, op: Op) -> bool:
        return isinstance(op, self._classes) and is_tracked(self._tracks, op) and not op.destroy_map

    def in_place(self, fgraph: FunctionGraph, node: Apply, memory: FreeMemory) -> Op | None:
        if not memory.may_be_taken(node, 0):
            return None
        pairs, _ = replacements_of(node, self.rule.transform(fgraph, node) or [None], self.rule)
        if not pairs:
            return None
        memory.take(node, 0)
        (new,) = pairs[0][1].get_parents()
        return new.op


def _with_op(node: Apply, op: Op) -> list[Variable]:
    """Apply another op of the same kind to the inputs of a node, without checking them again."""
    return Apply(op, list(node.inputs), [out.type() for out in node.outputs]).outputs


def _writing_in_place(name: str, kind: type[Op], in_place: Callable[[Any], Op]) -> NodeRewriter:
    """Return the rule that makes ops of a class overwrite part of a tensor; `in_place` returns the new op."""

    def rewrite(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
        return False if node.op.inplace else _with_op(node, in_place(node.op))

    rewrite.__name__ = name
    rewrite.__doc__ = "Write to a part of a tensor in the memory of the tensor."
    return node_rewriter([kind])(rewrite)


local_inplace_setsubtensor = _writing_in_place(
    "local_inplace_setsubtensor",
    IncSubtensor,
    lambda op: IncSubtensor(op.idx_list, True, op.set_instead_of_inc, op.destroyhandler_tolerate_aliased),
)
local_inplace_AdvancedIncSubtensor1 = _writing_in_place(
    "local_inplace_AdvancedIncSubtensor1", AdvancedIncSubtensor1, lambda op: op.clone_inplace()
)
local_inplace_AdvancedIncSubtensor = _writing_in_place(
    "local_inplace_AdvancedIncSubtensor",
    AdvancedIncSubtensor,
    lambda op: AdvancedIncSubtensor(True, op.set_instead_of_inc, op.ignore_duplicates),
)
