"""Expressions beside those that rules are about: each with one thing changed, so that conditions of rules matter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import aesara.tensor as at
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.traversal import io_toposort
from aesara.tensor.elemwise import CAReduce, Elemwise
from tests.rules.framework import Example

#: Operations that stand for one another, in turn.
SIBLINGS = (
    (at.add, at.sub, at.mul, at.true_divide, at.maximum),
    (at.exp, at.expm1, at.sin),
    (at.log, at.log1p, at.log2),
    (at.neg, at.abs, at.square),
    (at.sigmoid, at.softplus, at.tanh),
    (at.eq, at.neq, at.lt, at.ge),
    (at.cosh, at.sinh, at.cos),
)
_NEXT = {op: group[(k + 1) % len(group)] for group in SIBLINGS for k, op in enumerate(group)}

WHY = "conditions of the rule are what is tried, on usual numbers"


def near_misses(of: Example) -> Iterator[Example]:
    """Examples like one, but for one change in each: as many as `CHANGES` in the graph, spread over it."""
    lenient = {name: getattr(of, name) or WHY for name in ("assumes_finite", "limits", "zeros", "regroups")}
    for number in range(CHANGES):
        changed = _built_with(of.build, number)
        changed.__signature__ = inspect.signature(of.build)  # type: ignore[attr-defined]
        yield replace(of, build=changed, moderate=of.moderate or WHY, drops_checks=of.drops_checks or WHY, **lenient)


#: How many changes of an expression are tried.
CHANGES = 16


def _built_with(build: Callable[..., Any], number: int) -> Callable[..., Any]:
    def changed(*leaves: Variable) -> list[Variable]:
        built = build(*leaves)
        outputs = list(built) if isinstance(built, (list, tuple)) else [built]
        nodes = list(io_toposort([leaf for leaf in leaves if not isinstance(leaf, Constant)], outputs))
        places = [(node, change) for node in nodes for change in changes(node, leaves)]
        chosen = sorted({k * len(places) // CHANGES for k in range(CHANGES)}) if places else []
        if number >= len(chosen):
            raise ValueError("there are fewer changes")
        return _with_change(nodes, outputs, *places[chosen[number]])

    return changed


def changes(node: Apply, leaves: tuple[Variable, ...]) -> Iterator[Callable[[list[Variable]], Any]]:
    """Functions of the inputs of a node that give what takes its place."""
    op = node.op
    for k, variable in enumerate(node.inputs):
        if isinstance(variable, Constant) and isinstance(variable.data, np.ndarray) and variable.data.size:
            for other in _other_values(variable.data):
                yield lambda inputs, k=k, other=other: op(*inputs[:k], at.constant(other), *inputs[k + 1 :])
        elif not isinstance(variable, Constant):
            for leaf in leaves:
                if leaf is not variable and leaf.type == variable.type and not isinstance(leaf, Constant):
                    yield lambda inputs, k=k, leaf=leaf: op(*inputs[:k], leaf, *inputs[k + 1 :])
            if variable.type.dtype in ("float64", "float32"):
                yield lambda inputs, k=k: op(*inputs[:k], inputs[k] * 0.5, *inputs[k + 1 :])
    if len(node.inputs) == 2 and isinstance(op, Elemwise):
        yield lambda inputs: op(*inputs[::-1])
    if op in _NEXT and len(node.inputs) <= 2:
        yield lambda inputs: _NEXT[op](*inputs)
    if isinstance(op, CAReduce):
        for axis in range(node.inputs[0].type.ndim):
            if tuple(op.axis or ()) != (axis,):
                yield lambda inputs, axis=axis: type(op)(axis=(axis,))(*inputs)


def _other_values(data: np.ndarray) -> Iterator[np.ndarray]:
    if data.dtype.kind == "b":
        yield ~data
        return
    yield (data + 1).astype(data.dtype)
    if data.dtype.kind in "if":
        yield (data - 1).astype(data.dtype)
        if (data != 0).any():
            yield -data
    if data.size > 1:
        yield data[::-1].copy()


def _with_change(nodes: list[Apply], outputs: list[Variable], target: Apply, change: Any) -> list[Variable]:
    """The outputs, with a change at one node and all others as they are."""
    new: dict[Variable, Variable] = {}
    for node in nodes:
        inputs = [new.get(v, v) for v in node.inputs]
        if node is target:
            made = change(inputs)
            made = list(made) if isinstance(made, (list, tuple)) else [made]
        elif inputs == node.inputs:
            continue
        else:
            made = node.op.make_node(*inputs).outputs
        new.update(zip(node.outputs, made))
    return [new.get(v, v) for v in outputs]
