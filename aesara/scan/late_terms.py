"""In the steps of loops, sums and products of several terms take those last that come last.

A step waits for the state of the step before.  In ``c + a * state + b * entry`` all but one term is known long before
that; summed up first, it leaves one addition for the wait instead of two.  A state that is such a sum, and is read as
a term of sums only, as in the gradient of a recurrence with several taps, becomes two states: what is known early, and
the last term, so that the next step adds both to what it has, in one addition after the wait.
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

#: how late the state of the step before comes; what is older is there, but may wait for the same memory
_NEWEST, _OLDER = 1000, 1
#: states that keep no more rows than this are in registers where they are numbers
_FEW = 4


@node_rewriter([Scan])
def take_late_terms_last(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Sort the terms of sums and products in the step of a loop by when they are known."""
    op = node.op
    late = _lateness_of_inputs(op, op.inner_inputs)
    if not _late_orders(io_toposort(op.inner_inputs, op.inner_outputs), late):
        return False
    step = FunctionGraph(op.inner_inputs, op.inner_outputs, clone=True)
    _sort_terms(step, _lateness_of_inputs(op, step.inputs))
    with inherit_source(node):
        made = op.with_step(step.inputs, step.outputs)(*node.inputs, return_list=True)
    return dict(zip(node.outputs, made, strict=True))


@node_rewriter([Scan])
def split_late_sums(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Make two states of one number that is a sum and is read in sums only: its last term, and all others."""
    if not any(map(_is_few, node.op.outer_sitsot(node.inputs))):
        return False
    args = ScanArgs.from_node(node, clone=True)
    few = [k for k, buffer in enumerate(args.outer_in_sit_sot) if _is_few(buffer)]
    step = FunctionGraph(args.inner_inputs, args.inner_outputs, clone=False)
    late = _lateness_of_inputs(node.op, step.inputs)
    _sort_terms(step, late, 2)
    args.set_inner_outputs(step.outputs)
    for k in few:
        if _gains_by_two(step, args.inner_in_sit_sot[k], args.inner_out_sit_sot[k], late):
            _split(args, k, step)
            made = edited_node(args, node)
            found = {old: new for old, new in zip(args.outer_outputs, made.outputs, strict=True) if old is not None}
            whole, second = args.outer_out_sit_sot[k], made.op.outer_sitsot_outs(made.outputs)[-1]
            with inherit_source(node):
                return {**found, whole: add(found[whole], second)}
    return False


def _is_few(buffer: Variable) -> bool:
    """Return whether a state is a number that starts with one value, and of which few are kept."""
    made_of = expansion_of(buffer) if buffer.type.ndim == 1 else None
    if made_of is None or with_known_rows(made_of[0]).type.shape != (1,):
        return False
    return is_at_most(made_of[1], _FEW)


def _gains_by_two(step: FunctionGraph, state: Variable, new: Variable, late: dict[Variable, int]) -> bool:
    """Return whether the step waits for the sum of a state's terms, of which all but the last are known early."""
    if new.owner is None or not _is_sum(new.owner):
        return False
    if not all(user != "output" and _is_sum(user) for user, _ in step.clients[state]):
        return False
    *early, last = new.owner.inputs
    if any(late.get(v, 0) > (_NEWEST if v in step.inputs else _OLDER) or v is state for v in early):
        return False
    return late.get(last, 0) > _NEWEST and state in ancestors([last])


def _split(args: ScanArgs, k: int, step: FunctionGraph) -> None:
    """Make two states of state `k`.

    Nothing has been added to the first value of it: whatever -0 is added to stays what it is.
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
    found = {v: _NEWEST for taps in op.inner_mitmot(inputs) for v in taps}
    states = [*op.inner_mitsot(inputs), *[[v] for v in op.inner_sitsot(inputs)]]
    for taps, variables in zip(op.info.tap_array[op.info.n_mit_mot :], states, strict=True):
        found.update({v: _NEWEST if tap == -1 else _OLDER for tap, v in zip(taps, variables, strict=True)})
    return found


def _sort_terms(step: FunctionGraph, late: dict[Variable, int], least: int = 3) -> None:
    """Sort the terms of a step, given how late its inputs come; see `_late_orders`."""
    for node, positions in _late_orders(step.toposort(), late, least).items():
        with inherit_source(node):
            new = node.op(*(node.inputs[k] for k in positions))
        late[new] = late.get(node.outputs[0], 0)
        step.replace(node.outputs[0], new, reason="scan_late_terms")


def _late_orders(order: Iterable[Apply], late: dict[Variable, int], least: int = 3) -> dict[Apply, list[int]]:
    """The positions of terms, from early to late, of nodes that have them in another order.

    Nodes with fewer than `least` terms are left as they are.

    Parameters
    ----------
    order
        The nodes of the step, in an order in which they can run.
    late
        How late the inputs of the step come; how late what it computes comes is added.
    """
    found = {}
    for node in order:
        latest = max((late.get(v, 0) for v in node.inputs), default=0)
        if latest:
            if len(node.inputs) >= least and _has_terms(node):
                times = [late.get(v, 0) for v in node.inputs]
                if times != sorted(times):
                    found[node] = sorted(range(len(times)), key=times.__getitem__)
            late.update(dict.fromkeys(node.outputs, latest + 1))
    return found


def _has_terms(node: Apply) -> bool:
    return node.op in (add, mul) and node.outputs[0].type.dtype.startswith("float")


def _is_sum(node: Apply) -> bool:
    return node.op == add and _has_terms(node)
