"""Order the terms of sums and products in steps of loops by the time when they are available.

A step waits for the state of the step before. In ``c + a * state + b * entry`` all terms but one are available before
that; if they are added first, one addition depends on the state instead of two. A state that is such a sum, and is read
only as a term of sums (as in the gradient of a recurrence with several taps), becomes two states: the early terms and
the last term. The next step adds both to its own terms, with one addition that waits.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.source import inherit_source
from aesara.graph.traversal import ancestors, io_toposort
from aesara.scan.arguments import ScanArgs
from aesara.scan.editing import edited_node
from aesara.scan.op import Scan
from aesara.scan.parts import expansion_of, with_known_rows
from aesara.scan.saving_memory import is_at_most
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.ops import add, mul

__all__ = ["split_late_sums", "take_late_terms_last"]

#: lateness of the last value of a state, and of older ones, which are available but may wait for the same memory
_NEWEST, _OLDER = 1000, 1
#: scalar states with at most this number of rows are in registers
_FEW = 4


@node_rewriter([Scan])
def take_late_terms_last(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """``late + early_1 + early_2`` -> ``early_1 + early_2 + late`` in the step of a loop; likewise for products."""
    op = node.op
    lateness = _lateness_of_inputs(op, op.inner_inputs)
    if not _late_orders(io_toposort(op.inner_inputs, op.inner_outputs), lateness):
        return False
    step = FunctionGraph(op.inner_inputs, op.inner_outputs, clone=True)
    _sort_terms(step, _lateness_of_inputs(op, step.inputs))
    with inherit_source(node):
        outputs = op.with_step(step.inputs, step.outputs)(*node.inputs, return_list=True)
    return dict(zip(node.outputs, outputs, strict=True))


@node_rewriter([Scan])
def split_late_sums(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """``state = early + late`` -> two scalar states, `early` and `lateness`, if the state is read only in sums."""
    if not any(map(_is_in_registers, node.op.outer_sitsot(node.inputs))):
        return False
    args = ScanArgs.from_node(node, clone=True)
    few = [k for k, buffer in enumerate(args.outer_in_sit_sot) if _is_in_registers(buffer)]
    step = FunctionGraph(args.inner_inputs, args.inner_outputs, clone=False)
    lateness = _lateness_of_inputs(node.op, step.inputs)
    _sort_terms(step, lateness, 2)
    args.set_inner_outputs(step.outputs)
    for k in few:
        if _gains_by_split(step, args.inner_in_sit_sot[k], args.inner_out_sit_sot[k], lateness):
            _split(args, k, step)
            new_node = edited_node(args, node)
            replacements = {
                old: new for old, new in zip(args.outer_outputs, new_node.outputs, strict=True) if old is not None
            }
            whole, second = args.outer_out_sit_sot[k], new_node.op.outer_sitsot_outs(new_node.outputs)[-1]
            with inherit_source(node):
                return {**replacements, whole: add(replacements[whole], second)}
    return False


def _is_in_registers(buffer: Variable) -> bool:
    """Return whether a state is a scalar with one first value and few rows."""
    expansion = expansion_of(buffer) if buffer.type.ndim == 1 else None
    if expansion is None or with_known_rows(expansion[0]).type.shape != (1,):
        return False
    return is_at_most(expansion[1], _FEW)


def _gains_by_split(step: FunctionGraph, state: Variable, new: Variable, lateness: dict[Variable, int]) -> bool:
    """Return whether a state is a sum of which only the last term is late, and all its readers are sums."""
    if new.owner is None or not _is_sum(new.owner):
        return False
    if not all(user != "output" and _is_sum(user) for user, _ in step.clients[state]):
        return False
    *early, last = new.owner.inputs
    if any(lateness.get(v, 0) > (_NEWEST if v in step.inputs else _OLDER) or v is state for v in early):
        return False
    return lateness.get(last, 0) > _NEWEST and state in ancestors([last])


def _split(args: ScanArgs, k: int, step: FunctionGraph) -> None:
    """Replace state `k` by two states.

    The first value of the second one is -0.0, which leaves any number unchanged when it is added.
    """
    state, buffer = args.inner_in_sit_sot[k], args.outer_in_sit_sot[k]
    second = state.type(name=state.name)
    step.add_input(second)
    for reader in dict.fromkeys(user for user, _ in step.clients[state] if user != "output"):
        terms = [v for term in reader.inputs for v in ((state, second) if term is state else (term,))]
        step.replace(reader.outputs[0], add(*terms), reason="scan_split_late_sums")
    args.set_inner_outputs(step.outputs)
    *early, last = args.inner_out_sit_sot[k].owner.inputs
    args.inner_out_sit_sot[k] = add(*early) if len(early) > 1 else early[0]
    args.inner_in_sit_sot.append(second)
    args.inner_out_sit_sot.append(last)
    empty, _, *rest = buffer.owner.inputs
    args.outer_in_sit_sot.append(buffer.owner.op(empty, constant(np.full(1, -0.0, buffer.type.dtype)), *rest))
    args.outer_out_sit_sot.append(None)
    args.sit_sot_in_slices.append((-1,))


def _lateness_of_inputs(op: Scan, inputs: list[Variable]) -> dict[Variable, int]:
    lateness = {v: _NEWEST for taps in op.inner_mitmot(inputs) for v in taps}
    states = [*op.inner_mitsot(inputs), *[[v] for v in op.inner_sitsot(inputs)]]
    for taps, variables in zip(op.info.tap_array[op.info.n_mit_mot :], states, strict=True):
        lateness.update({v: _NEWEST if tap == -1 else _OLDER for tap, v in zip(taps, variables, strict=True)})
    return lateness


def _sort_terms(step: FunctionGraph, lateness: dict[Variable, int], least: int = 3) -> None:
    """Sort the terms of sums and products by lateness; see `_late_orders`."""
    for node, positions in _late_orders(step.toposort(), lateness, least).items():
        with inherit_source(node):
            new = node.op(*(node.inputs[k] for k in positions))
        lateness[new] = lateness.get(node.outputs[0], 0)
        step.replace(node.outputs[0], new, reason="scan_late_terms")


def _late_orders(order: Iterable[Apply], lateness: dict[Variable, int], least: int = 3) -> dict[Apply, list[int]]:
    """Return the new order of terms, as positions, of nodes whose terms are not sorted by lateness.

    Nodes with fewer than `least` terms are skipped.

    Parameters
    ----------
    order
        The nodes of the step in topological order.
    lateness
        The lateness of the inputs of the step; that of all other variables is added.
    """
    positions = {}
    for node in order:
        latest = max((lateness.get(v, 0) for v in node.inputs), default=0)
        if latest:
            if len(node.inputs) >= least and _is_float_sum_or_product(node):
                times = [lateness.get(v, 0) for v in node.inputs]
                if times != sorted(times):
                    positions[node] = sorted(range(len(times)), key=times.__getitem__)
            lateness.update(dict.fromkeys(node.outputs, latest + 1))
    return positions


def _is_float_sum_or_product(node: Apply) -> bool:
    return node.op in (add, mul) and node.outputs[0].type.dtype.startswith("float")


def _is_sum(node: Apply) -> bool:
    return node.op == add and _is_float_sum_or_product(node)
