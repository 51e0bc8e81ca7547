"""Removal of constant, duplicate and unused inputs and outputs of loops."""

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
    """Remove unused and duplicate inputs of a loop, and move constants into the step.

    Sequences with equal entries become non-sequences.
    """
    args = ScanArgs.from_node(node)
    used = set(ancestors(args.inner_outputs))
    replacements: dict[Variable, Variable] = {}
    sequences: dict[Variable, Variable] = {}
    non_seqs: dict[Variable, Variable] = {}
    for outer, inner in zip(args.outer_in_seqs, args.inner_in_seqs):
        if inner not in used:
            continue
        row = _only_row(outer)
        if outer in sequences:
            replacements[inner] = sequences[outer]
        elif isinstance(row, Constant):
            replacements[inner] = row
        elif row is not None:
            non_seqs[row] = inner
        else:
            sequences[outer] = inner
    for outer, inner in zip(args.outer_in_non_seqs, args.inner_in_non_seqs):
        if inner not in used:
            continue
        if isinstance(outer, Constant) and outer.type == inner.type:
            replacements[inner] = outer
        elif outer in non_seqs and non_seqs[outer].type == inner.type:
            replacements[inner] = non_seqs[outer]
        else:
            non_seqs.setdefault(outer, inner)
            if non_seqs[outer] is not inner:
                return False
    old_counts = (len(args.outer_in_seqs), len(args.outer_in_non_seqs))
    if not replacements and old_counts == (len(sequences), len(non_seqs)):
        return False
    args.outer_in_seqs, args.inner_in_seqs = list(sequences), list(sequences.values())
    args.outer_in_non_seqs, args.inner_in_non_seqs = list(non_seqs), list(non_seqs.values())
    args.replace_inner({v: _convert_to_type_of(new, v) for v, new in replacements.items()})
    return apply_edited(args, node)


def _convert_to_type_of(new: Variable, old: Variable) -> Variable:
    return old.type.filter_variable(new)


def _only_row(rows: Any) -> Variable | None:
    """Return the entry that a sequence repeats, or None if it is not known to repeat one."""
    if isinstance(rows, Constant):
        data = rows.data
        is_repeated = len(data) > 0 and bool((data == data[:1]).all())
        return constant(data[0], dtype=rows.type.dtype) if is_repeated else None
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
    """Remove outputs and states of a loop that are neither read nor needed by others."""
    unused = [k for k, out in enumerate(node.outputs) if not fgraph.clients[out]]
    if not unused or len(unused) == len(node.outputs):
        return False
    removable = set(scan_can_remove_outs(node.op, unused)[1])
    if not removable:
        return False
    op = node.op
    inner_inputs, inner_outputs, info, inputs, _ = compress_outs(op, removable, node.inputs)
    args = ScanArgs(
        inputs,
        [v for k, v in enumerate(node.outputs) if k not in removable],
        inner_inputs,
        inner_outputs,
        info,
        clone=False,
    )
    return apply_edited(args, node)


@node_rewriter([Scan])
def scan_merge_inouts(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Merge states of a loop that are equal in each step, and equal outputs."""
    args = ScanArgs.from_node(node)
    duplicates = _duplicates(args)
    if not duplicates:
        return False
    merged: dict[Variable, Variable] = {}
    for kind, k, first in duplicates:
        if kind != "nit_sot":
            inner = getattr(args, f"inner_in_{kind}")
            pairs = zip(inner[k], inner[first]) if kind == "mit_sot" else [(inner[k], inner[first])]
            merged.update(pairs)
    args.replace_inner(merged)
    outputs = {kind: list(getattr(args, f"outer_out_{kind}")) for kind, _, _ in duplicates}
    for kind, k, _ in sorted(duplicates, key=lambda duplicate: -duplicate[1]):
        for name in (f"inner_in_{kind}", f"inner_out_{kind}", f"outer_in_{kind}", f"outer_out_{kind}",
                     f"{kind}_in_slices"):  # fmt: skip
            if hasattr(args, name):
                del getattr(args, name)[k]
    replacements = apply_edited(args, node)
    for kind, k, first in duplicates:
        replacements[outputs[kind][k]] = replacements[outputs[kind][first]]
    return replacements


def _duplicates(args: ScanArgs) -> list[tuple[str, int, int]]:
    """Return kind and number of states and outputs that equal an earlier one, and the number of the earlier one.

    This is partition refinement: states with equal first values are assumed to be equal, until their steps differ.
    """
    states: list[tuple[str, int, Any, Any]] = []  # kind, number, first values, and variables of the step
    for k, (outer, inner, taps) in enumerate(zip(args.outer_in_mit_sot, args.inner_in_mit_sot, args.mit_sot_in_slices)):
        states.append(("mit_sot", k, (outer, taps, inner[0].type), inner))
    for k, (outer, variable) in enumerate(zip(args.outer_in_sit_sot, args.inner_in_sit_sot)):
        states.append(("sit_sot", k, (outer, (-1,), variable.type), [variable]))
    classes: dict[object, list[int]] = {}
    for position, (_, _, start, _) in enumerate(states):
        classes.setdefault(start, []).append(position)
    if len(classes) == len(states) and len(args.inner_out_nit_sot) < 2:
        return []
    groups = list(classes.values())
    order = list(io_toposort(args.inner_inputs, args.inner_outputs))
    results = args.inner_outputs[sum(map(len, args.inner_out_mit_mot)) :]
    while True:
        same = {v: w for group in groups for p in group[1:] for v, w in zip(states[p][3], states[group[0]][3])}
        representatives = _representatives(order, results, same)
        finer: dict[object, list[int]] = {}
        for number, group in enumerate(groups):
            for p in group:
                finer.setdefault((number, representatives[p]), []).append(p)
        if len(finer) == len(groups):
            break
        groups = list(finer.values())
    duplicates = [(states[p][0], states[p][1], states[group[0]][1]) for group in groups for p in group[1:]]
    first_of: dict[object, int] = {}
    for k, (new, length) in enumerate(zip(representatives[len(states) :], args.outer_in_nit_sot)):
        size: object = int(length.data) if isinstance(length, Constant) else length
        first = first_of.setdefault((new, size), k)
        if first != k:
            duplicates.append(("nit_sot", k, first))
    return duplicates


def _representatives(
    order: Sequence[Apply], outputs: Sequence[Variable], same: dict[Variable, Variable]
) -> list[Variable]:
    """Return the first equal variable for each output, given inputs that are the `same` as others."""
    table = HashConsTable()
    table.representative.update(same)
    for node in order:
        table.add_node(node)
    for variable in outputs:
        if isinstance(variable, AtomicVariable):
            table.add_atom(variable)
    return [table.representative.get(variable, variable) for variable in outputs]
