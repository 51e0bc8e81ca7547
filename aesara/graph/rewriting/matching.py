"""Patterns of graphs: matching a variable against one, and building a graph from one.

A pattern is

* a string: a logic variable. It stands for any variable, the same wherever it occurs;
* a `LogicVariable`, or ``{"pattern": "x", "constraint": f}``: the same, for variables that
  satisfy ``f``;
* a number or an array: a constant of this value;
* a variable: this variable (or an equal constant);
* a tuple ``(op, pattern, ...)``: the output of ``op`` on inputs that match. `op` is an `Op`, a
  class of ops, or a function of an op that says whether it will do. The last of the patterns may
  be ``"*x"``: all inputs that the others did not take, put together by the same op.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.op import Op

Bindings = dict[str, Variable]


class LogicVariable:
    """A variable of a pattern: a name, and what must hold of what it stands for."""

    __slots__ = ("constraint", "name")

    def __init__(self, name: str, constraint: Callable[[Variable], bool] | None = None):
        self.name = name
        self.constraint = constraint


class OpPattern:
    """An op and the patterns of its inputs; `rest` names all further inputs together.

    `operands` are those of the inputs that start with an op themselves.
    """

    __slots__ = ("inputs", "op", "operands", "rest")

    def __init__(self, op: Any, inputs: tuple[Any, ...], rest: LogicVariable | None = None):
        self.op = op
        self.inputs = inputs
        self.rest = rest
        self.operands = [pattern for pattern in inputs if isinstance(pattern, OpPattern)]

    def accepts(self, op: Op) -> bool:
        if isinstance(self.op, Op):
            return op == self.op
        if isinstance(self.op, type):
            return isinstance(op, self.op)
        return bool(self.op(op))


class ValuePattern:
    """A constant of one element (or an array that is equal element by element)."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


def as_pattern(pattern: Any) -> Any:
    """The pattern in its parsed form; see the module for what can be written."""
    if isinstance(pattern, (LogicVariable, OpPattern, ValuePattern, Variable)):
        return pattern
    if isinstance(pattern, str):
        return LogicVariable(pattern)
    if isinstance(pattern, dict):
        inner = as_pattern(pattern["pattern"])
        constraint = pattern.get("constraint")
        if isinstance(inner, LogicVariable):
            return LogicVariable(inner.name, constraint)
        if constraint is not None:
            raise TypeError("A constraint can be put on a logic variable only.")
        return inner
    if isinstance(pattern, (list, tuple)):
        if not pattern:
            raise ValueError("An empty tuple is no pattern: it starts with an op.")
        op, *inputs = pattern
        rest = None
        if inputs and isinstance(inputs[-1], str) and inputs[-1].startswith("*"):
            rest = LogicVariable(inputs.pop()[1:])
        return OpPattern(op, tuple(as_pattern(p) for p in inputs), rest)
    if isinstance(pattern, (numbers.Number, np.ndarray, np.generic)):
        return ValuePattern(pattern)
    raise TypeError(f"Expected a pattern (string, number, variable, dict or tuple); got {pattern!r}.")


def constant_value(var: Variable) -> Any:
    """The number that a constant of one element holds, else None."""
    if not isinstance(var, Constant):
        return None
    data = var.data
    if isinstance(data, np.ndarray):
        return data.item() if data.size == 1 else None
    return data.item() if isinstance(data, np.generic) else data if isinstance(data, numbers.Number) else None


def is_value(var: Variable, wanted: Any) -> bool:
    """Whether a variable is a constant of this value, with dimensions of length 1 added or not."""
    while var.owner is not None and hasattr(var.owner.op, "new_order"):
        var = var.owner.inputs[0]  # a rearrangement of dimensions keeps the elements
    if not isinstance(var, Constant):
        return False
    if isinstance(wanted, np.ndarray) and wanted.size != 1:
        return isinstance(var.data, np.ndarray) and np.array_equal(var.data, wanted)
    return bool(constant_value(var) == wanted)


def is_commutative(op: Op) -> bool:
    """Whether an op gives the same for its inputs in any order."""
    return bool(getattr(getattr(op, "scalar_op", op), "commutative", False))


def matches(
    pattern: Any,
    var: Variable,
    bindings: Bindings | None = None,
    commutative: bool = False,
    may_enter: Callable[[Variable], bool] | None = None,
) -> Iterator[Bindings]:
    """The ways in which a variable matches a pattern (in its parsed form).

    Parameters
    ----------
    pattern
        What `as_pattern` gives.
    var
        The variable.
    bindings
        What logic variables stand for already; not changed.
    commutative
        Try the inputs of commutative ops in every order.
    may_enter
        Says of a variable below the root whether the graph above it may be looked into.

    Yields
    ------
    dict
        What each logic variable stands for.
    """
    bindings = {} if bindings is None else bindings
    if isinstance(pattern, LogicVariable):
        if pattern.constraint is not None and not pattern.constraint(var):
            return
        bound = bindings.get(pattern.name)
        if bound is None:
            yield {**bindings, pattern.name: var}
        elif bound is var or (isinstance(bound, Constant) and bound.equals(var)):
            yield bindings
    elif isinstance(pattern, OpPattern):
        node = var.owner
        if node is None or not pattern.accepts(node.op) or len(node.outputs) != 1:
            return
        count = len(pattern.inputs)
        if len(node.inputs) != count and (pattern.rest is None or len(node.inputs) <= count):
            return
        orders: Any = (tuple(range(len(node.inputs))),)
        if commutative and is_commutative(node.op):
            orders = permutations(range(len(node.inputs)), count)
        for order in orders:
            chosen = [node.inputs[i] for i in order[:count]]
            for found in _match_all(pattern.inputs, chosen, bindings, commutative, may_enter):
                if pattern.rest is not None:
                    others = [v for i, v in enumerate(node.inputs) if i not in order[:count]]
                    rest = others[0] if len(others) == 1 else node.op(*others)
                    yield from matches(pattern.rest, rest, found)
                else:
                    yield found
    elif isinstance(pattern, ValuePattern):
        if is_value(var, pattern.value):
            yield bindings
    elif pattern is var or (isinstance(pattern, Constant) and pattern.equals(var)):
        yield bindings


def _match_all(
    patterns: tuple[Any, ...], variables: list[Any], bindings: Bindings, commutative: bool, may_enter: Any
) -> Iterator[Bindings]:
    if not patterns:
        yield bindings
        return
    first, var = patterns[0], variables[0]
    if isinstance(first, OpPattern) and may_enter is not None and not may_enter(var):
        return
    for found in matches(first, var, bindings, commutative, may_enter):
        yield from _match_all(patterns[1:], variables[1:], found, commutative, may_enter)


def unify(pattern: Any, var: Variable, bindings: Bindings | None = None) -> Bindings | None:
    """The first way in which `var` matches `pattern`, or None.

    Examples
    --------
    >>> a = at.dvector("a")
    >>> unify((at.exp, "x"), at.exp(a))
    {'x': a}
    """
    return next(matches(as_pattern(pattern), var, bindings), None)


def reify(pattern: Any, bindings: Bindings) -> Any:
    """Build what a pattern describes, with the logic variables replaced.

    Examples
    --------
    >>> a = at.dvector("a")
    >>> aesara.pprint(reify((at.log1p, "x"), {"x": a}))
    'log1p(a)'
    """
    pattern = as_pattern(pattern)
    if isinstance(pattern, LogicVariable):
        try:
            return bindings[pattern.name]
        except KeyError:
            raise KeyError(f"The pattern variable {pattern.name!r} is not bound.") from None
    if isinstance(pattern, OpPattern):
        return pattern.op(*(reify(p, bindings) for p in pattern.inputs))
    if isinstance(pattern, ValuePattern):
        return pattern.value
    return pattern
