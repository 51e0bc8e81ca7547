"""In the steps of loops, sums and products of several terms take those last that come last.

A step waits for the state of the step before.  In ``c + a * state + b * entry`` all but one term is known long before
that; summed up first, it leaves one addition for the wait instead of two.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.source import inherit_source
from aesara.scan.op import Scan
from aesara.tensor.elementwise.ops import add, mul

__all__ = ["take_late_terms_last"]

#: how late the state of the step before comes; what is older is there, but may wait for the same memory
_NEWEST, _OLDER = 1000, 1


@node_rewriter([Scan])
def take_late_terms_last(fgraph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | bool:
    """Sort the terms of sums and products in the step of a loop by when they are known."""
    op = node.op
    step = FunctionGraph(op.inner_inputs, op.inner_outputs, clone=True)
    if not _sort_terms(step, _lateness_of_inputs(op, step.inputs)):
        return False
    with inherit_source(node):
        made = op.with_step(step.inputs, step.outputs)(*node.inputs, return_list=True)
    return dict(zip(node.outputs, made, strict=True))


def _lateness_of_inputs(op: Scan, inputs: list[Variable]) -> dict[Variable, int]:
    found = {v: _NEWEST for taps in op.inner_mitmot(inputs) for v in taps}
    states = [*op.inner_mitsot(inputs), *[[v] for v in op.inner_sitsot(inputs)]]
    for taps, variables in zip(op.info.tap_array[op.info.n_mit_mot :], states, strict=True):
        found.update({v: _NEWEST if tap == -1 else _OLDER for tap, v in zip(taps, variables, strict=True)})
    return found


def _sort_terms(step: FunctionGraph, late: dict[Variable, int]) -> bool:
    """Sort the terms of a step, given how late its inputs come; returns whether their order has changed."""
    changed = False
    for node in step.toposort():
        latest = max((late.get(v, 0) for v in node.inputs), default=0)
        outputs: list[Any] = node.outputs
        if _is_long(node):
            terms = sorted(node.inputs, key=lambda v: late.get(v, 0))
            if terms != node.inputs:
                with inherit_source(node):
                    outputs = [node.op(*terms)]
                step.replace_all(list(zip(node.outputs, outputs, strict=True)), reason="scan_late_terms")
                changed = True
        if latest:
            late.update(dict.fromkeys(outputs, latest + 1))
    return changed


def _is_long(node: Apply) -> bool:
    is_float = node.outputs[0].type.dtype.startswith("float") if node.op in (add, mul) else False
    return is_float and len(node.inputs) > 2
