"""Several loops over the same steps become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aesara.graph.equality import equal_computations
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.traversal import io_toposort
from aesara.scan.arguments import ScanArgs
from aesara.scan.editing import apply_edited, loops_of, same_length
from aesara.scan.op import Scan

__all__ = ["ScanMerge"]

#: Modes that say how much a step is rewritten, and nothing about what a run of it does besides.
_PLAIN = (None, "FAST_RUN", "FAST_COMPILE", "Mode")


class ScanMerge(GraphRewriter):
    """Makes one loop of several that have the same number of steps and of which none needs another's results."""

    def apply(self, fgraph: FunctionGraph) -> int:
        """The number of loops that have become part of another one."""
        done = 0
        while True:
            group = self._find(fgraph)
            if group is None:
                return done
            made = self.merge(group)
            fgraph.replace_all_validate(list(made.items()), reason="scan_merge")
            done += len(group) - 1

    def _find(self, fgraph: FunctionGraph) -> list[Apply] | None:
        """Loops that can become one."""
        loops = loops_of(fgraph)
        if not any(_alike(a, b) for k, a in enumerate(loops) for b in loops[:k]):
            return None
        groups: list[list[Apply]] = []
        behind = _loops_behind(fgraph.toposort())
        for node in loops:
            for group in groups:
                if _may_join(node, group, behind):
                    group.append(node)
                    break
            else:
                groups.append([node])
        return next((group for group in groups if len(group) > 1), None)

    def belongs_to_set(self, node: Apply, set_nodes: Sequence[Apply]) -> bool:
        """Return whether a loop can become one with those of a set, which can become one."""
        order = io_toposort([], [out for each in (node, *set_nodes) for out in each.outputs])
        return _may_join(node, set_nodes, _loops_behind(order))

    def merge(self, nodes: Sequence[Apply]) -> dict[Variable, Variable]:
        """Apply the loop that does what all of these do; returns the replacements of their outputs."""
        args = ScanArgs.from_node(nodes[0])
        for node in nodes[1:]:
            other = ScanArgs.from_node(node, clone=True)  # it may have the same operation
            other.cond = args.cond
            args = args.merge(other)
        names = [node.op.name for node in nodes if node.op.name]
        return apply_edited(args, nodes[0], name="&".join(dict.fromkeys(names)) or None)


def _may_join(node: Apply, others: Sequence[Apply], behind: Mapping[Apply, frozenset[Apply]]) -> bool:
    if not _alike(node, others[0]):
        return False
    return all(other not in behind[node] and node not in behind[other] for other in others if other in behind)


def _alike(a: Apply, b: Apply) -> bool:
    """Return whether two loops go on for the same steps, and are run and differentiated in the same way."""
    one, two = a.op, b.op
    if not same_length(a.inputs[0], b.inputs[0]) or one.truncate_gradient != two.truncate_gradient:
        return False
    if one.info.as_while != two.info.as_while or (one.profile or None) != (two.profile or None):
        return False
    if one.mode != two.mode and not all(m in _PLAIN for m in (one.mode, two.mode)):
        return False
    return not one.info.as_while or _same_condition(a, b)


def _same_condition(a: Apply, b: Apply) -> bool:
    """Return whether two loops end after the same step: their conditions do the same with inputs that are the same."""
    inner: list[list[Any]] = [[], []]
    shared = set(a.inputs)
    for node, found in zip((a, b), inner):
        mapping = node.op.get_oinp_iinp_iout_oout_mappings()
        by_outer: dict[Any, Variable] = {}
        steady = range(len(node.inputs) - node.op.info.n_non_seqs, len(node.inputs))
        for k in [*range(1, 1 + node.op.info.n_seqs), *steady]:
            if node.inputs[k] in shared:
                for j in mapping["inner_inp_from_outer_inp"][k]:
                    by_outer.setdefault((node.inputs[k], k in steady), node.op.inner_inputs[j])
        found.append(by_outer)
    keys = [key for key in inner[0][0] if key in inner[1][0] and inner[0][0][key].type == inner[1][0][key].type]
    mine, theirs = ([found[0][key] for key in keys] for found in inner)
    return equal_computations([a.op.inner_outputs[-1]], [b.op.inner_outputs[-1]], mine, theirs)


def _loops_behind(order: Sequence[Apply]) -> dict[Apply, frozenset[Apply]]:
    """For each loop those that it needs the results of; `order` is that in which nodes can run."""
    behind: dict[Apply, frozenset[Apply]] = {}
    for node in order:
        found: frozenset[Apply] = frozenset()
        for owner in {v.owner for v in node.inputs}:
            if owner in behind:
                found = found | behind[owner] if not isinstance(owner.op, Scan) else found | behind[owner] | {owner}
        behind[node] = found
    return behind
