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
from tests.rules.leaves import DTYPES

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

REAL = tuple(dtype for dtype in DTYPES if not dtype.startswith("complex"))
#: What operands are cast to.
OTHER_DTYPES = {"float64": "float32", "float32": "float64", "int8": "float32", "bool": "int8"}

WHY = "conditions of the rule are what is tried, on usual numbers"


#: How many changes of an expression are tried.
CHANGES = 16


def near_misses(of: Example) -> Iterator[Example]:
    """Examples like one, but for one change in each: as many as `CHANGES` in the graph, spread over it."""
    yield from _changed(of, changes)


def near_dtypes(of: Example) -> Iterator[Example]:
    """An example with the real dtypes that it is not about, and ones in which an operand is cast to another dtype."""
    if of.dtypes is not None:
        yield replace(of, dtypes=REAL, **_lenient(of))
    for dtypes in (("float32", "float64"), ("int8", "float64")):
        yield from _changed(replace(of, dtypes=dtypes), casts)


def _lenient(of: Example) -> dict[str, str]:
    names = ("assumes_finite", "limits", "zeros", "regroups", "moderate", "drops_checks")
    return {name: getattr(of, name) or WHY for name in names}


def _changed(of: Example, choices: Callable[..., Iterator[Callable[[list[Variable]], Any]]]) -> Iterator[Example]:
    for number in range(CHANGES):
        changed = _built_with(of.build, number, choices)
        changed.__signature__ = inspect.signature(of.build)  # type: ignore[attr-defined]
        yield replace(of, build=changed, **_lenient(of))


def _built_with(build: Callable[..., Any], number: int, choices: Callable[..., Any]) -> Callable[..., Any]:
    def changed(*leaves: Variable) -> list[Variable]:
        built = build(*leaves)
        outputs = list(built) if isinstance(built, (list, tuple)) else [built]
        nodes = list(io_toposort([leaf for leaf in leaves if not isinstance(leaf, Constant)], outputs))
        places = [(node, change) for node in nodes for change in choices(node, leaves)]
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


def casts(node: Apply, leaves: tuple[Variable, ...]) -> Iterator[Callable[[list[Variable]], Any]]:
    """Functions of the inputs of a node that give it with one of them in another dtype."""
    for k, variable in enumerate(node.inputs):
        if getattr(variable.type, "dtype", None) in OTHER_DTYPES:
            other = OTHER_DTYPES[variable.type.dtype]
            yield lambda inputs, k=k, other=other: node.op(*inputs[:k], at.cast(inputs[k], other), *inputs[k + 1 :])


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
