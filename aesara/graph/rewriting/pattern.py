"""Rewriters given by a pattern and what takes its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.describe import function_text, pattern_text
from aesara.graph.rewriting.matching import (
    Bindings,
    Extractor,
    LogicVariable,
    OpPattern,
    Ops,
    ValuePattern,
    as_pattern,
    is_commutative,
    matches,
    reify,
)
from aesara.graph.rewriting.rewriter import NodeRewriter, RequiringFeatures
from aesara.graph.type import HasDataType


def fits_in_place(old: Variable, new: Any) -> Variable | None:
    """`new` as a replacement for `old`, or None where its type rules that out.

    The replacement never promises less than what it replaces: static facts that it lost are
    stated again (`Type.filter_variable`).
    """
    if not isinstance(new, Variable):
        return None
    if new.type == old.type or old.type.is_super(new.type):
        return new
    try:
        return old.type.filter_variable(new, allow_convert=True)
    except (TypeError, ValueError, NotImplementedError):
        return None


class PatternNodeRewriter(NodeRewriter):
    """Replaces what matches a pattern.

    Parameters
    ----------
    in_pattern
        A tuple ``(op, pattern, ...)``; see `aesara.graph.rewriting.matching` for patterns.
    out_pattern
        A pattern of the same variables.
    allow_multiple_clients
        Whether inner parts of what matches may be used elsewhere as well.
    skip_identities_fn
        Accepted for compatibility; has no effect.
    name
        A name.
    tracks
        What to start from, together with `get_nodes`.
    get_nodes
        ``f(fgraph, node)``: the nodes to try when a tracked node is met, where a tracked op is
        not the root of the pattern.
    values_eq_approx
        Put on the tag of the replacement, for modes that compare values.

    Examples
    --------
    >>> PatternNodeRewriter((at.log, (at.exp, "x")), "x")
    Elemwise{log,no_inplace}(Elemwise{exp,no_inplace}(x)) -> x
    """

    def __init__(
        self,
        in_pattern: Any,
        out_pattern: Any,
        allow_multiple_clients: bool = False,
        skip_identities_fn: Callable[..., Any] | None = None,
        name: str | None = None,
        tracks: Sequence[Any] = (),
        get_nodes: Callable[..., Any] | None = None,
        values_eq_approx: Callable[..., Any] | None = None,
    ):
        self.in_pattern = in_pattern
        self.out_pattern = out_pattern
        self._in = as_pattern(in_pattern)
        self._out = as_pattern(out_pattern)
        if not isinstance(self._in, OpPattern):
            raise TypeError(f"The pattern to search for must start with an op; got {in_pattern!r}.")
        self.op = self._in.op
        self.allow_multiple_clients = allow_multiple_clients
        self.skip_identities_fn = skip_identities_fn
        self.values_eq_approx = values_eq_approx
        self._tracks = list(tracks)
        self.get_nodes = get_nodes
        if self._tracks and get_nodes is None:
            raise ValueError("`tracks` needs `get_nodes`, which finds the root from a tracked node.")
        self.name = name or None
        self.retains_inputs = False

    @property
    def description(self) -> str:
        return f"{pattern_text(self._in)} becomes {pattern_text(self._out)}"

    def op_key(self) -> Any:
        return self.op

    def tracks(self) -> Sequence[Any] | None:
        if self._tracks:
            return self._tracks
        return [self.op] if isinstance(self.op, (Op, type)) else None

    def transform(self, fgraph: FunctionGraph, node: Apply, get_nodes: bool = True, *args: Any, **kwargs: Any) -> Any:
        if get_nodes and self.get_nodes is not None:
            for root in self.get_nodes(fgraph, node):
                if root == "output" or root is None:
                    continue
                result = self.transform(fgraph, root, get_nodes=False)
                if result:
                    return dict(zip(root.outputs, result)) if root is not node else result
            return False
        old = node.outputs[0]
        clients = fgraph.clients if fgraph is not None else {}

        def may_enter(var: Variable) -> bool:
            return self.allow_multiple_clients or len(clients.get(var, ())) <= 1

        found = next(matches(self._in, old, may_enter=may_enter), None)
        if found is None:
            return False
        new = reify(self._out, found)
        if not isinstance(new, Variable):
            new = _as_variable_like(old, new)
        fitting = fits_in_place(old, new)
        if fitting is None:
            return False
        if self.values_eq_approx is not None:
            fitting.tag.values_eq_approx = self.values_eq_approx
        return [fitting]

    def __str__(self) -> str:
        return self.name or f"{_pattern_text(self._in)} -> {_pattern_text(self._out)}"

    def __repr__(self) -> str:
        return str(self)

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        name = self.name or ""
        text = f"{_pattern_text(self._in)} -> {_pattern_text(self._out)}"
        print(f"{' ' * level}{type(self).__name__} {name} {text} id={id(self)}", file=stream)


def _as_variable_like(old: Variable, value: Any) -> Any:
    """A number as a constant of the type of `old`, where that is a type of numbers."""
    is_of_numbers = isinstance(old.type, HasDataType)
    if not is_of_numbers:
        return None
    try:
        return old.type.make_constant(old.type.filter(value, strict=False))
    except (TypeError, ValueError, NotImplementedError, AttributeError):
        return None


def _pattern_text(pattern: Any) -> str:
    if isinstance(pattern, LogicVariable):
        return pattern.name if pattern.constraint is None else f"{pattern.name} subject to {pattern.constraint}"
    if isinstance(pattern, ValuePattern):
        return repr(pattern.value)
    if isinstance(pattern, OpPattern):
        inner = [_pattern_text(p) for p in pattern.inputs]
        if pattern.rest is not None:
            inner.append(f"*{pattern.rest.name}")
        if pattern.others is not None:
            inner.append(f"**{pattern.others}" if pattern.others else "...")
        name = pattern.op.__name__ if isinstance(pattern.op, type) else str(pattern.op)
        return f"{name}({', '.join(inner)})"
    return str(pattern)


def _fitting(old: Variable, new: Variable, inputs: Sequence[Variable]) -> list[Variable] | None:
    """Return what takes the place of a variable by its type alone."""
    fitting = fits_in_place(old, new)
    return None if fitting is None else [fitting]


class Rule(RequiringFeatures, NodeRewriter):
    """A rewrite in one row: a pattern, what takes its place, and when.

    Made by `rule`, which says what the parts mean.
    """

    only_tracked = True

    def __init__(
        self,
        name: str,
        pattern: Any,
        replacement: Any,
        condition: Any = None,
        single_client: bool = False,
        why: str | None = None,
        each: Callable[[Variable, Variable], bool] | None = None,
        fit: Callable[[Variable, Any, Sequence[Variable]], list[Variable] | None] = _fitting,
        requirements: Sequence[type[Feature]] = (),
    ):
        self.name = name
        self.why = why
        self.each = each
        self.fit = fit
        self.requirements = tuple(requirements)
        self.source_pattern = pattern
        self.pattern = as_pattern(pattern)
        if not isinstance(self.pattern, OpPattern):
            raise TypeError(f"The pattern of the rule {name!r} must start with an op.")
        self.variables = _variables_of(self.pattern)
        names = [*self.variables, *_names_of_ops(self.pattern)]
        part = self.pattern
        self._operands = part.operands
        self._count = len(part.inputs)
        self._is_closed = part.rest is None and part.others is None
        alternatives = part.alternatives
        # Ops that are all that `tracks` names need not be tested again.
        self._accepts_tracked = isinstance(part.op, (Op, type)) or type(part.op) is Ops
        self._ops = part.op if isinstance(part.op, Ops) else None
        self._has_order = alternatives is not None and not any(
            isinstance(op, type) or is_commutative(op) for op in alternatives
        )
        direct = [(k, inner) for k, inner in enumerate(part.inputs) if isinstance(inner, LogicVariable)]
        self._constraints = [(k, inner.constraint) for k, inner in direct if inner.constraint is not None]
        # Logic variables in their order match in one way, which needs no search.
        self._is_flat = len(direct) == self._count and part.rest is None and not single_client
        self._repeats = len({inner.name for _, inner in direct}) < len(direct)
        self.replacement = replacement
        self.condition = condition
        self.single_client = single_client
        self._replacement_names = _argument_names(replacement, names, name)
        self._condition_names = _argument_names(condition, names, name)
        self.__name__ = name

    @property
    def description(self) -> str:
        """Why it applies, if that was said; the pattern and what takes its place otherwise."""
        if self.why is not None:
            return self.why
        new = self.replacement
        text = pattern_text(as_pattern(new)) if self._replacement_names is None else function_text(new)
        return f"{pattern_text(self.pattern)} becomes {'something equal' if text is None else text}"

    def tracks(self) -> Sequence[Any] | None:
        return self.pattern.alternatives

    def operands(self) -> Sequence[Any] | None:
        for operand in self._operands:
            alternatives = operand.alternatives
            if alternatives is not None:
                return alternatives
        for part in self.pattern.inputs:
            if isinstance(part, (LogicVariable, Extractor)) and part.operands is not None:
                return part.operands
        return [Constant] if any(isinstance(part, ValuePattern) for part in self.pattern.inputs) else None

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        return self.transform_tracked(fgraph, node) if self.pattern.accepts(node.op) else False

    def transform_tracked(self, fgraph: FunctionGraph, node: Apply) -> Any:
        if not self._may_match(node):
            return False
        old = node.outputs[0]
        ways: Iterable[Bindings]
        if self._is_flat and len(node.outputs) == 1 and (self._has_order or not is_commutative(node.op)):
            way = self._bind_inputs(node)
            if way is None:
                return False
            ways = (way,)
        else:
            ways = matches(self.pattern, old, commutative=True, may_enter=self._may_enter(fgraph))
        each, condition = self.each, self.condition
        for found in ways:
            if each is not None and not all(each(found[name], old) for name in self.variables):
                continue
            found["out"] = old
            found["fgraph"] = fgraph
            if condition is not None and not condition(*[found[name] for name in self._condition_names or ()]):
                continue
            if self._replacement_names is None:
                new = reify(self.replacement, found)
            else:
                new = self.replacement(*[found[name] for name in self._replacement_names])
            if new is None:
                continue
            fitting = self.fit(old, new, node.inputs)
            if fitting is not None:
                return fitting
        return False

    def _may_match(self, node: Apply) -> bool:
        """Return whether a node may match, for all that can be said of its inputs one by one: most are ruled out."""
        if not self._accepts_tracked and not self.pattern.accepts(node.op):
            return False
        inputs = node.inputs
        if len(inputs) != self._count and (self._is_closed or len(inputs) < self._count):
            return False
        if self._operands and not _has_operands(node, self._operands):
            return False
        ops = self._ops
        if ops is not None and not ops.fits(node):
            return False
        for k, constraint in self._constraints:
            if not (constraint(inputs[k]) if self._has_order else any(map(constraint, inputs))):
                return False
        if not self._repeats or len(set(map(id, inputs))) < len(inputs):
            return True
        # Constants may be equal though they are not the same.
        return any(isinstance(var, Constant) for var in inputs)

    def _bind_inputs(self, node: Apply) -> Bindings | None:
        """Return the one way in which a node matches logic variables in their order, or None.

        The node may match, for all that `_may_match` says.
        """
        pattern = self.pattern
        bindings: Bindings = {}
        for part, var in zip(pattern.inputs, node.inputs):
            if part.constraint is not None and not self._has_order and not part.constraint(var):
                return None
            bound = bindings.setdefault(part.name, var)
            if bound is not var and not (isinstance(bound, Constant) and bound.equals(var)):
                return None
        if pattern.others:
            bindings[pattern.others] = node.inputs[self._count :]
        return bindings if self._ops is None else self._ops.bind(node, bindings)

    def _may_enter(self, fgraph: FunctionGraph) -> Callable[[Variable], bool] | None:
        """Return the function that says whether the graph above a variable may be looked into; None for all."""
        if not self.single_client:
            return None
        clients = fgraph.clients
        return lambda var: len(clients.get(var, ())) <= 1

    def __str__(self) -> str:
        return str(self.name)


def _has_operands(node: Apply, patterns: Sequence[OpPattern]) -> bool:
    """Return whether each of some patterns could be that of an input of a node, for all that ops say."""
    for pattern in patterns:
        for var in node.inputs:
            inner = var.owner
            if inner is None or not pattern.accepts(inner.op):
                continue
            if not pattern.operands or _has_operands(inner, pattern.operands):
                break
        else:
            return False
    return True


def rule(
    name: str,
    pattern: Any,
    replacement: Any,
    condition: Callable[..., bool] | None = None,
    single_client: bool = False,
    why: str | None = None,
    each: Callable[[Variable, Variable], bool] | None = None,
) -> Rule:
    """Return a rewrite rule in one row.

    Parameters
    ----------
    name
        Its name, under which it is registered.
    pattern
        What to search for; see `aesara.graph.rewriting.matching`. Inputs of commutative ops match
        in every order.
    replacement
        A pattern, or a function whose parameters are named after variables of the pattern, and after ops, nodes and
        attributes that `one_of` names (``out`` is what is to be replaced, ``fgraph`` the graph). It may return None:
        then nothing is replaced.
    condition
        A function with parameters of the same kind that says whether the rule applies.
    single_client
        Only where the inner parts of what matches are not used elsewhere.
    why
        One sentence on what the rule is good for, for those who read a trace. Default: its pattern and its replacement.
    each
        A function of a variable of the pattern and of what is to be replaced, that must hold of each of the variables.

    Examples
    --------
    >>> rule("local_log1p", (at.log, (at.add, 1, "*x")), (at.log1p, "x")).name
    'local_log1p'
    >>> rule("local_exp_log", (at.exp, (at.log, "x")), lambda x: x, condition=lambda x: x.dtype == "float64").name
    'local_exp_log'
    """
    return Rule(name, pattern, replacement, condition, single_client, why, each)


def _variables_of(pattern: Any) -> list[str]:
    found: list[str] = []
    stack = [pattern]
    while stack:
        part = stack.pop()
        if isinstance(part, LogicVariable):
            found.append(part.name)
        elif isinstance(part, (OpPattern, Extractor)):
            stack.extend(part.inputs)
            if isinstance(part, OpPattern) and part.rest is not None:
                stack.append(part.rest)
    return found


def _names_of_ops(pattern: OpPattern) -> list[str]:
    """Return the names that stand for ops of a pattern, their nodes, attributes and lists of inputs."""
    found: list[str] = []
    stack: list[Any] = [pattern]
    while stack:
        part = stack.pop()
        stack.extend(inner for inner in part.inputs if isinstance(inner, (OpPattern, Extractor)))
        if isinstance(part, Extractor):
            continue
        found.extend([part.others] if part.others else ())
        if isinstance(part.op, str):
            found.append(part.op)
        elif isinstance(part.op, Ops):
            found.extend(name for name in (part.op.name, part.op.node) if name is not None)
            found.extend(wanted for wanted in part.op.attributes.values() if isinstance(wanted, str))
    return found


def _argument_names(function: Any, variables: Sequence[str], name: str) -> list[str] | None:
    """The parameters of a function of a rule; None for what is no function."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    names = list(code.co_varnames[: code.co_argcount])
    unknown = [n for n in names if n not in ("out", "fgraph") and n not in variables]
    if unknown:
        raise ValueError(
            f"In the rule {name!r} a function takes {unknown}, but the pattern has the variables "
            f"{sorted(set(variables))} (and 'out', 'fgraph')."
        )
    return names
