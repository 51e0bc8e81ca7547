"""Loops without inputs and outputs that they need not have: constants, duplicates, and what nobody uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, AtomicVariable, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.merge import HashConsTable
from aesara.graph.traversal import ancestors, io_toposort
from aesara.scan.arguments import ScanArgs
from aesara.scan.editing import apply_edited
from aesara.scan.op import Scan
from aesara.scan.removing import compress_outs, scan_can_remove_outs
from aesara.tensor.core.conversion import constant
from aesara.tensor.creation.allocation import Alloc, alloc

__all__ = ["remove_constants_and_unused_inputs_scan", "remove_unused_outputs_scan", "scan_merge_inouts"]


@node_rewriter([Scan])
def remove_constants_and_unused_inputs_scan(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Take out inputs of a loop that its step does not use, those that it has twice, and constants.

    Constants become constants of the step, and sequences whose entries are all the same are no sequences.
    """
    args = ScanArgs.from_node(node)
    used = set(ancestors(args.inner_outputs))
    replaced: dict[Variable, Variable] = {}
    sequences: dict[Variable, Variable] = {}
    steady: dict[Variable, Variable] = {}
    for outer, inner in zip(args.outer_in_seqs, args.inner_in_seqs):
        if inner not in used:
            continue
        row = _only_row(outer)
        if outer in sequences:
            replaced[inner] = sequences[outer]
        elif isinstance(row, Constant):
            replaced[inner] = row
        elif row is not None:
            steady[row] = inner
        else:
            sequences[outer] = inner
    for outer, inner in zip(args.outer_in_non_seqs, args.inner_in_non_seqs):
        if inner not in used:
            continue
        if isinstance(outer, Constant) and outer.type == inner.type:
            replaced[inner] = outer
        elif outer in steady and steady[outer].type == inner.type:
            replaced[inner] = steady[outer]
        else:
            steady.setdefault(outer, inner)
            if steady[outer] is not inner:
                return False
    before = (len(args.outer_in_seqs), len(args.outer_in_non_seqs))
    if not replaced and before == (len(sequences), len(steady)):
        return False
    args.outer_in_seqs, args.inner_in_seqs = list(sequences), list(sequences.values())
    args.outer_in_non_seqs, args.inner_in_non_seqs = list(steady), list(steady.values())
    args.replace_inner({v: _of_type(new, v) for v, new in replaced.items()})
    return apply_edited(args, node)


def _of_type(new: Variable, old: Variable) -> Variable:
    return old.type.filter_variable(new)


def _only_row(rows: Any) -> Any:
    """Return the entry that a sequence repeats; None if entries differ, or are not known to be equal."""
    if isinstance(rows, Constant):
        data = rows.data
        is_steady = len(data) > 0 and bool((data == data[:1]).all())
        return constant(data[0], dtype=rows.type.dtype) if is_steady else None
    if rows.owner is None or not isinstance(rows.owner.op, Alloc):
        return None
    value, _, *sizes = rows.owner.inputs
    if value.type.ndim == rows.type.ndim:
        if value.type.shape[0] != 1:
            return None
        value = value[0]
    return alloc(value, *sizes) if sizes else value


@node_rewriter([Scan])
def remove_unused_outputs_scan(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Take out outputs and states of a loop that nobody reads and that nothing else depends on."""
    unused = [k for k, out in enumerate(node.outputs) if not fgraph.clients[out]]
    if not unused or len(unused) == len(node.outputs):
        return False
    gone = set(scan_can_remove_outs(node.op, unused)[1])
    if not gone:
        return False
    op = node.op
    inner, outer, info, inputs, _ = compress_outs(op, gone, node.inputs)
    args = ScanArgs(inputs, [v for k, v in enumerate(node.outputs) if k not in gone], inner, outer, info, clone=False)
    return apply_edited(args, node)


@node_rewriter([Scan])
def scan_merge_inouts(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Compute once what a loop computes twice: states that are equal in each step, and equal outputs."""
    args = ScanArgs.from_node(node)
    twins = _twins(args)
    if not twins:
        return False
    replaced: dict[Variable, Variable] = {}
    for kind, k, first in twins:
        if kind != "nit_sot":
            inner = getattr(args, f"inner_in_{kind}")
            pairs = zip(inner[k], inner[first]) if kind == "mit_sot" else [(inner[k], inner[first])]
            replaced.update(pairs)
    args.replace_inner(replaced)
    outputs = {kind: list(getattr(args, f"outer_out_{kind}")) for kind, _, _ in twins}
    for kind, k, _ in sorted(twins, key=lambda twin: -twin[1]):
        for name in (f"inner_in_{kind}", f"inner_out_{kind}", f"outer_in_{kind}", f"outer_out_{kind}",
                     f"{kind}_in_slices"):  # fmt: skip
            if hasattr(args, name):
                del getattr(args, name)[k]
    made = apply_edited(args, node)
    for kind, k, first in twins:
        made[outputs[kind][k]] = made[outputs[kind][first]]
    return made


def _twins(args: ScanArgs) -> list[tuple[str, int, int]]:
    """Kind and number of states and outputs that are always equal to another one, and the number of that one.

    States that start alike are taken to be equal until their steps differ; what remains is equal in each step.
    """
    states: list[tuple[str, int, Any, Any]] = []  # kind, number, what it starts with, and the step's variables
    for k, (outer, inner, taps) in enumerate(zip(args.outer_in_mit_sot, args.inner_in_mit_sot, args.mit_sot_in_slices)):
        states.append(("mit_sot", k, (outer, taps, inner[0].type), inner))
    for k, (outer, one) in enumerate(zip(args.outer_in_sit_sot, args.inner_in_sit_sot)):
        states.append(("sit_sot", k, (outer, (-1,), one.type), [one]))
    classes: dict[Any, list[int]] = {}
    for position, (_, _, start, _) in enumerate(states):
        classes.setdefault(start, []).append(position)
    if len(classes) == len(states) and len(args.inner_out_nit_sot) < 2:
        return []
    groups = list(classes.values())
    order = list(io_toposort(args.inner_inputs, args.inner_outputs))
    results = args.inner_outputs[sum(map(len, args.inner_out_mit_mot)) :]
    while True:
        same = {v: w for group in groups for p in group[1:] for v, w in zip(states[p][3], states[group[0]][3])}
        news = _representatives(order, results, same)
        finer: dict[Any, list[int]] = {}
        for number, group in enumerate(groups):
            for p in group:
                finer.setdefault((number, news[p]), []).append(p)
        if len(finer) == len(groups):
            break
        groups = list(finer.values())
    found = [(states[p][0], states[p][1], states[group[0]][1]) for group in groups for p in group[1:]]
    first_of: dict[Any, int] = {}
    for k, (new, length) in enumerate(zip(news[len(states) :], args.outer_in_nit_sot)):
        size: Any = int(length.data) if isinstance(length, Constant) else length
        first = first_of.setdefault((new, size), k)
        if first != k:
            found.append(("nit_sot", k, first))
    return found


def _representatives(order: Sequence[Apply], outputs: Sequence[Variable], same: dict[Variable, Variable]) -> list[Any]:
    """For each output of the nodes the first one that is computed alike, if some inputs are the `same` as others."""
    table = HashConsTable()
    table.representative.update(same)
    for node in order:
        table.add_node(node)
    for variable in outputs:
        if isinstance(variable, AtomicVariable):
            table.add_atom(variable)
    return [table.representative.get(variable, variable) for variable in outputs]
