"""Patterns of graphs: matching a variable against one, and building a graph from one.

A pattern is

* a string: a logic variable. It stands for any variable, the same wherever it occurs;
* a `LogicVariable`, or ``{"pattern": "x", "constraint": f}``: the same, for variables that
  satisfy ``f``;
* a number or an array: a constant of this value;
* a variable: this variable (or an equal constant);
* a tuple ``(op, pattern, ...)``: the output of ``op`` on inputs that match. `op` is an `Op`, a
  class of ops, a function of an op that says whether it will do, or `one_of`, for several of these and for attributes.
  The last of the patterns may be ``"*x"``: all inputs that the others did not take, put together by the same op;
  ``"**x"``: a list of them, which may be empty; ``...``: any further inputs;
* `extract`: a variable in which a function finds what matches.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op

#: The variables that names of a pattern stand for; of names in `one_of`, the op, its node or the value of an attribute.
Bindings = dict[str, Any]


class LogicVariable:
    """A variable of a pattern: a name, and what must hold of what it stands for.

    Parameters
    ----------
    name
        The name.
    constraint
        A function that says whether a variable will do; None if any will.
    operands
        Ops, and classes of ops and of variables, one of which the variable comes from. A hint, which saves trying it.
    """

    __slots__ = ("constraint", "name", "operands")

    def __init__(
        self, name: str, constraint: Callable[[Variable], bool] | None = None, operands: Sequence[Any] | None = None
    ):
        self.name = name
        self.constraint = constraint
        self.operands = operands

    def __str__(self) -> str:
        return self.name


class Ops:
    """Ops of a pattern, with their attributes. Made by `one_of`, which says what the parts mean."""

    __slots__ = ("_named", "_tested", "attributes", "classes", "members", "name", "node")

    #: Whether nodes of several outputs match; the replacement has one variable for each.
    several_outputs = False

    def __init__(self, members: tuple[Any, ...], name: str | None, node: str | None, attributes: dict[str, Any]):
        self.members = [op for op in members if not isinstance(op, type)]
        self.classes = tuple(op for op in members if isinstance(op, type))
        self.name = name
        self.node = node
        self.attributes = attributes
        self._named = [(attribute, wanted) for attribute, wanted in attributes.items() if isinstance(wanted, str)]
        self._tested = [(attribute, wanted) for attribute, wanted in attributes.items() if not isinstance(wanted, str)]

    @property
    def alternatives(self) -> list[Any]:
        """The ops and classes of ops, one of which the op is."""
        return [*self.members, *self.classes]

    def __call__(self, op: Op) -> bool:
        """Return whether an op is one of these, whatever its attributes are."""
        return isinstance(op, self.classes) or any(op == member for member in self.members)

    def op_of(self, node: Apply) -> Op:
        """Return the op of a node that has the name and the attributes."""
        return node.op

    def fits(self, node: Apply) -> bool:
        """Return whether the attributes of the op of a node are as wanted, but for those that have names."""
        if not self._tested:
            return True
        op = self.op_of(node)
        for attribute, wanted in self._tested:
            value = getattr(op, attribute)
            if callable(wanted):
                if not wanted(value):
                    return False
            elif not (value in wanted if isinstance(wanted, set) else value == wanted):
                return False
        return True

    def bind(self, node: Apply, bindings: Bindings) -> Bindings | None:
        """Return the bindings with the op of a node that fits and its attributes, or None if they do not agree."""
        if self.node is None and self.name is None and not self._named:
            return bindings
        found, op = dict(bindings), self.op_of(node)
        if self.node is not None and found.setdefault(self.node, node) is not node:
            return None
        if self.name is not None and found.setdefault(self.name, op) != op:
            return None
        for attribute, name in self._named:
            value = getattr(op, attribute)
            if found.setdefault(name, value) != value:
                return None
        return found

    def __str__(self) -> str:
        return " | ".join(op.__name__ if isinstance(op, type) else str(op) for op in self.alternatives)


def one_of(*members: Any, name: str | None = None, node: str | None = None, **attributes: Any) -> Ops:
    """Return the op of a pattern that is one of several, or whose attributes matter.

    Parameters
    ----------
    *members
        Ops and classes of ops.
    name
        The name that stands for the op, in conditions and replacements (there also as an op: ``("f", "x")``), and
        wherever else it is used in the pattern.
    node
        The name that stands for the node, in conditions and replacements: for its index, say, or all of its inputs.
    **attributes
        Attributes of the op: a string is a name that stands for the value, a function says whether the value will
        do, a set has the values that will do (``{"gen"}`` for a string), anything else is the value that it must have.

    Examples
    --------
    >>> from aesara.tensor.shapes.dimshuffle import DimShuffle
    >>> a = at.dmatrix("a")
    >>> unify((one_of(DimShuffle, new_order="order"), "x"), a.T)
    {'order': (1, 0), 'x': a}
    """
    return Ops(members, name, node, attributes)


class Extractor:
    """A pattern of variables in which a function finds others. Made by `extract`, which says what the parts mean."""

    __slots__ = ("function", "inputs", "operands")

    def __init__(self, function: Callable[[Variable], Any], inputs: tuple[Any, ...], operands: Sequence[Any] | None):
        self.function = function
        self.inputs = inputs
        self.operands = operands


def extract(function: Callable[[Variable], Any], *patterns: Any, operands: Sequence[Any] | None = None) -> Extractor:
    """Return a pattern of variables in which a function finds something.

    Parameters
    ----------
    function
        A function of a variable that returns what it finds, as a tuple if there are several patterns; None for other
        variables.
    *patterns
        The patterns of what is found, which need not be variables of a graph.
    operands
        As in `LogicVariable`.

    Examples
    --------
    >>> opposite_of = lambda var: var.owner.inputs[0] if var.owner and var.owner.op == at.neg else None
    >>> a = at.dvector("a")
    >>> unify((at.cos, extract(opposite_of, "x")), at.cos(-a))
    {'x': a}
    """
    return Extractor(function, tuple(as_pattern(pattern) for pattern in patterns), operands)


class OpPattern:
    """An op and the patterns of its inputs.

    All further inputs are named together by `rest`, or as a list by `others`: "" for any that no name stands for.
    `operands` are those of the inputs that start with an op themselves.
    """

    __slots__ = ("inputs", "op", "operands", "others", "rest")

    def __init__(self, op: Any, inputs: tuple[Any, ...], rest: LogicVariable | None = None, others: str | None = None):
        self.op = op
        self.inputs = inputs
        self.rest = rest
        self.others = others
        self.operands = [pattern for pattern in inputs if isinstance(pattern, OpPattern)]

    def accepts(self, op: Op) -> bool:
        if isinstance(self.op, Op):
            return op is self.op or op == self.op
        if isinstance(self.op, type):
            return isinstance(op, self.op)
        return isinstance(self.op, str) or bool(self.op(op))

    @property
    def alternatives(self) -> list[Any] | None:
        """The ops and classes of ops, one of which the op is; None if a function, or another op, decides."""
        if isinstance(self.op, (Op, type)):
            return [self.op]
        return self.op.alternatives if isinstance(self.op, Ops) else None

    def bind(self, node: Apply, bindings: Bindings) -> Bindings | None:
        """Return the bindings with what the pattern says of the op, or None if they do not agree."""
        if isinstance(self.op, Ops):
            return self.op.bind(node, bindings) if self.op.fits(node) else None
        if isinstance(self.op, str):
            bound = bindings.get(self.op)
            return {**bindings, self.op: node.op} if bound is None else bindings if bound == node.op else None
        return bindings


class ValuePattern:
    """A constant of one element (or an array that is equal element by element)."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


def as_pattern(pattern: Any) -> Any:
    """The pattern in its parsed form; see the module for what can be written."""
    if isinstance(pattern, (LogicVariable, OpPattern, ValuePattern, Extractor, Variable)):
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
        rest = others = None
        last = inputs[-1] if inputs else None
        if last is ... or (isinstance(last, str) and last.startswith("*")):
            inputs.pop()
        if last is ...:
            others = ""
        elif isinstance(last, str) and last.startswith("**"):
            others = last[2:]
        elif isinstance(last, str) and last.startswith("*"):
            rest = LogicVariable(last[1:])
        return OpPattern(op, tuple(as_pattern(p) for p in inputs), rest, others)
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
    """Return whether a variable is a constant of this value, with dimensions of length 1 added or not."""
    while var.owner is not None and hasattr(var.owner.op, "new_order"):
        var = var.owner.inputs[0]  # a rearrangement of dimensions keeps the elements
    if not isinstance(var, Constant):
        return False
    if isinstance(wanted, np.ndarray) and wanted.size != 1:
        return isinstance(var.data, np.ndarray) and np.array_equal(var.data, wanted)
    return bool(constant_value(var) == wanted)


def is_commutative(op: Op) -> bool:
    """Return whether an op gives the same for its inputs in any order."""
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
        named = _bind(pattern, var, bindings)
        if named is not None:
            yield named
    elif isinstance(pattern, OpPattern):
        node = var.owner
        if node is None or not pattern.accepts(node.op):
            return
        if len(node.outputs) != 1 and not (isinstance(pattern.op, Ops) and pattern.op.several_outputs):
            return
        further = len(node.inputs) - len(pattern.inputs)
        if further < 0 or (pattern.others is None and bool(further) != (pattern.rest is not None)):
            return
        bound_op = pattern.bind(node, bindings)
        if bound_op is None:
            return
        any_order = commutative and is_commutative(node.op)
        for taken, found in _match_inputs(pattern.inputs, node.inputs, bound_op, any_order, commutative, may_enter):
            if pattern.rest is None and not pattern.others:
                yield found
                continue
            others = [v for i, v in enumerate(node.inputs) if i not in taken]
            if pattern.others:
                yield {**found, pattern.others: others}
            else:
                yield from matches(pattern.rest, others[0] if further == 1 else node.op(*others), found)
    elif isinstance(pattern, ValuePattern):
        if is_value(var, pattern.value):
            yield bindings
    elif isinstance(pattern, Extractor):
        extracted = pattern.function(var)
        if extracted is not None:
            parts = [extracted] if len(pattern.inputs) == 1 else extracted
            for _, found in _match_inputs(pattern.inputs, parts, bindings, False, commutative, may_enter):
                yield found
    elif pattern is var or (isinstance(pattern, Constant) and pattern.equals(var)):
        yield bindings


def _bind(pattern: LogicVariable, var: Variable, bindings: Bindings) -> Bindings | None:
    """Return the bindings with a variable of a pattern, or None if it does not stand for `var`."""
    if pattern.constraint is not None and not pattern.constraint(var):
        return None
    bound = bindings.get(pattern.name)
    if bound is None:
        return {**bindings, pattern.name: var}
    return bindings if bound is var or (isinstance(bound, Constant) and bound.equals(var)) else None


def _match_inputs(
    patterns: tuple[Any, ...],
    variables: Sequence[Any],
    bindings: Bindings,
    any_order: bool,
    commutative: bool,
    may_enter: Any,
    taken: tuple[int, ...] = (),
) -> Iterator[tuple[tuple[int, ...], Bindings]]:
    """Yield the positions of inputs that match patterns, in their order, with the bindings.

    An input is tried for a pattern only if others match the patterns before it: a sum of 1,000 terms has a million
    pairs of them.
    """
    if not any_order:
        # Logic variables match in one way: no generator is needed for each.
        while len(taken) < len(patterns) and isinstance(pattern := patterns[len(taken)], LogicVariable):
            named = _bind(pattern, variables[len(taken)], bindings)
            if named is None:
                return
            bindings, taken = named, (*taken, len(taken))
    if len(taken) == len(patterns):
        yield taken, bindings
        return
    pattern = patterns[len(taken)]
    for i in range(len(variables)) if any_order else (len(taken),):
        if i in taken:
            continue
        ways: Any
        if isinstance(pattern, LogicVariable):
            named = _bind(pattern, variables[i], bindings)
            ways = () if named is None else (named,)
        elif isinstance(pattern, (OpPattern, Extractor)) and may_enter is not None and not may_enter(variables[i]):
            continue
        else:
            ways = matches(pattern, variables[i], bindings, commutative, may_enter)
        for found in ways:
            yield from _match_inputs(patterns, variables, found, any_order, commutative, may_enter, (*taken, i))


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
        op = bindings[pattern.op] if isinstance(pattern.op, str) else pattern.op
        further = bindings[pattern.others] if pattern.others else ()
        return op(*(reify(p, bindings) for p in pattern.inputs), *further)
    if isinstance(pattern, ValuePattern):
        return pattern.value
    return pattern
