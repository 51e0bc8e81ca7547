"""Horizontal fusion of loops: independent loops over the same steps become one."""

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

#: modes that differ only in how a step is rewritten
_PLAIN = (None, "FAST_RUN", "FAST_COMPILE", "Mode")


class ScanMerge(GraphRewriter):
    """Merges independent loops with the same number of steps."""

    def apply(self, fgraph: FunctionGraph) -> int:
        """Return the number of loops that were merged into another one."""
        count = 0
        while True:
            group = self._find_group(fgraph)
            if group is None:
                return count
            replacements = self.merge(group)
            fgraph.replace_all_validate(list(replacements.items()), reason="scan_merge")
            count += len(group) - 1

    def _find_group(self, fgraph: FunctionGraph) -> list[Apply] | None:
        """Return loops that can be merged, or None."""
        loops = loops_of(fgraph)
        if not any(_alike(a, b) for k, a in enumerate(loops) for b in loops[:k]):
            return None
        groups: list[list[Apply]] = []
        dependencies = _loop_dependencies(fgraph.toposort())
        for node in loops:
            for group in groups:
                if _may_join(node, group, dependencies):
                    group.append(node)
                    break
            else:
                groups.append([node])
        return next((group for group in groups if len(group) > 1), None)

    def belongs_to_set(self, node: Apply, set_nodes: Sequence[Apply]) -> bool:
        """Return whether a loop can be merged with all loops of a set."""
        order = io_toposort([], [out for each in (node, *set_nodes) for out in each.outputs])
        return _may_join(node, set_nodes, _loop_dependencies(order))

    def merge(self, nodes: Sequence[Apply]) -> dict[Variable, Variable]:
        """Apply the merged loop, and return the replacements of the outputs."""
        args = ScanArgs.from_node(nodes[0])
        for node in nodes[1:]:
            other = ScanArgs.from_node(node, clone=True)  # it may have the same operation
            other.cond = args.cond
            args = args.merge(other)
        names = [node.op.name for node in nodes if node.op.name]
        return apply_edited(args, nodes[0], name="&".join(dict.fromkeys(names)) or None)


def _may_join(node: Apply, others: Sequence[Apply], dependencies: Mapping[Apply, frozenset[Apply]]) -> bool:
    if not _alike(node, others[0]):
        return False
    return all(
        other not in dependencies[node] and node not in dependencies[other] for other in others if other in dependencies
    )


def _alike(a: Apply, b: Apply) -> bool:
    """Return whether two loops have the same number of steps, and are run and differentiated in the same way."""
    first, second = a.op, b.op
    if not same_length(a.inputs[0], b.inputs[0]) or first.truncate_gradient != second.truncate_gradient:
        return False
    if first.info.as_while != second.info.as_while or (first.profile or None) != (second.profile or None):
        return False
    if first.mode != second.mode and not all(m in _PLAIN for m in (first.mode, second.mode)):
        return False
    return not first.info.as_while or _same_condition(a, b)


def _same_condition(a: Apply, b: Apply) -> bool:
    """Return whether two loops have the same condition, as a function of shared inputs."""
    inner: list[list[Any]] = [[], []]
    shared = set(a.inputs)
    for node, inputs_by_outer in zip((a, b), inner):
        mapping = node.op.get_oinp_iinp_iout_oout_mappings()
        by_outer: dict[Any, Variable] = {}
        non_seqs = range(len(node.inputs) - node.op.info.n_non_seqs, len(node.inputs))
        for k in [*range(1, 1 + node.op.info.n_seqs), *non_seqs]:
            if node.inputs[k] in shared:
                for j in mapping["inner_inp_from_outer_inp"][k]:
                    by_outer.setdefault((node.inputs[k], k in non_seqs), node.op.inner_inputs[j])
        inputs_by_outer.append(by_outer)
    keys = [key for key in inner[0][0] if key in inner[1][0] and inner[0][0][key].type == inner[1][0][key].type]
    mine, theirs = ([inputs_by_outer[0][key] for key in keys] for inputs_by_outer in inner)
    return equal_computations([a.op.inner_outputs[-1]], [b.op.inner_outputs[-1]], mine, theirs)


def _loop_dependencies(order: Sequence[Apply]) -> dict[Apply, frozenset[Apply]]:
    """Return the set of loops that each node depends on; `order` is a topological order."""
    dependencies: dict[Apply, frozenset[Apply]] = {}
    for node in order:
        loops: frozenset[Apply] = frozenset()
        for owner in {v.owner for v in node.inputs}:
            if owner in dependencies:
                loops = (
                    loops | dependencies[owner]
                    if not isinstance(owner.op, Scan)
                    else loops | dependencies[owner] | {owner}
                )
        dependencies[node] = loops
    return dependencies
