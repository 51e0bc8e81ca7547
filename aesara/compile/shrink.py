"""From a graph that a rewrite gets wrong to the smallest part of it that the rewrite gets wrong as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aesara.compile.debug_checks import CheckedNode, Failed, may_replace, order_of
from aesara.compile.debug_errors import DebugModeError
from aesara.compile.program_text import ProgramText, array_text
from aesara.graph.cloning import clone_replace
from aesara.graph.features import ReplaceValidate
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.rewriter import GraphRewriter, NodeRewriter
from aesara.graph.rewriting.walking import WalkingGraphRewriter
from aesara.graph.traversal import graph_inputs
from aesara.records import dataclass
from aesara.tensor.rewriting.shape import ShapeOptimizer

_MOST_TRIALS = 300
_MOST_ELEMENTS = 50  # how many single elements are tried

Values = dict[Variable, Any]


def compute(targets: Sequence[Variable], values: Values) -> None:
    """Add to `values` those of the targets and of all that they need; a `Failed` where computing raises an error."""
    for target in targets:
        if isinstance(target, Constant):
            values.setdefault(target, target.data)
    for node in order_of([one for one in targets if one not in values], set(values)):
        for variable in node.inputs:
            if variable not in values:
                error = DebugModeError(f"The variable {describe(variable)} has no value.")
                values[variable] = variable.data if isinstance(variable, Constant) else Failed(error, node, ())
        try:
            values.update(zip(node.outputs, CheckedNode(node, check=False)(values), strict=True))
        except DebugModeError as error:  # a value that does not fit its static type
            values.update((out, Failed(error, node, ())) for out in node.outputs)


def difference(old: Variable, before: object, after: object) -> str | None:
    """Describe why `after` is not a valid replacement of the value `before`; None if it is."""
    if isinstance(before, Failed):
        return None
    if isinstance(after, Failed):
        return f"computing it raises {type(after.error).__name__}: {after.error}".split("\n")[0]
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        for attribute in ("dtype", "shape"):
            one, other = getattr(before, attribute), getattr(after, attribute)
            if one != other:
                return f"its {attribute} is {other}, not {one}"
    if may_replace(old, before, after):
        return None
    fine = isinstance(after, np.ndarray) and (after.dtype.kind not in "fc" or bool(np.isfinite(after).all()))
    return "its values differ" if fine else "it has NaN or infinity where there was none"


@dataclass(frozen=True)
class SmallestCase:
    """An expression that a rewrite gets wrong, with values of its inputs.

    Attributes
    ----------
    before, after
        The expression, and what the rewrite makes of it.
    values
        Inputs and their values.
    rule
        The rewrite.
    what
        In which way it is wrong.
    """

    before: Variable
    after: Variable
    values: Mapping[Variable, Any]
    rule: Any
    what: str

    def program(self) -> str:
        """A program that shows it."""
        text = ProgramText(self.values)
        before, after = text.name_of(self.before), text.name_of(self.after)
        names = ", ".join(text.names[one] for one in self.values)
        values = ", ".join(array_text(value) for value in self.values.values())
        body = [f"# the rewrite {getattr(self.rule, 'name', None) or self.rule} puts {after} in the place of {before}"]
        body.append(f"f = aesara.function([{names}], [{before}, {after}], mode=aesara.Mode('py', None))")
        body.append(f"for value in f({values}):")
        body.append("    print(value.dtype, value.shape, value.tolist())")
        return "\n".join([*text.lines, *body])


class _Trial:
    """Applies the rewrite to candidates."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule
        self.left = _MOST_TRIALS
        self.rewriter = rule
        if isinstance(rule, NodeRewriter):
            # New nodes are left alone: a rule may apply to what it has made.
            self.rewriter = WalkingGraphRewriter(
                rule, ignore_newtrees=True, failure_callback=WalkingGraphRewriter.warn_ignore
            )

    def __call__(self, expression: Variable, values: Values) -> SmallestCase | None:
        if self.left <= 0:
            return None
        self.left -= 1
        # Static facts and errors of candidates that make no sense are no news.
        try:
            return self._apply(expression, values)
        except Exception:
            return None

    def _apply(self, expression: Variable, values: Values) -> SmallestCase | None:
        inputs = [one for one in graph_inputs([expression]) if not isinstance(one, Constant)]
        known = {one: values[one] for one in inputs}
        results = dict(known)
        compute([expression], results)
        fgraph = FunctionGraph(inputs, clone_replace([expression], {}), clone=False)
        fgraph.attach_feature(ReplaceValidate())
        ShapeOptimizer().rewrite(fgraph)
        self.rewriter.rewrite(fgraph)
        after = fgraph.outputs[0]
        compute([after], results)
        fault = difference(expression, results[expression], results[after])
        return None if fault is None else SmallestCase(expression, after, known, self.rule, fault)


def smallest_case(expression: Variable, values: Mapping[Variable, object], rule: object) -> SmallestCase | None:
    """The smallest part of an expression that a rewrite gets wrong.

    Parameters
    ----------
    expression
        A variable that the rewrite replaces by a wrong one.
    values
        Values of the inputs of its graph (or of variables in it).
    rule
        The rewrite.

    Returns
    -------
    SmallestCase or None
        None where the rewrite alone does nothing wrong.
    """
    if not isinstance(rule, (NodeRewriter, GraphRewriter)):
        return None
    trial = _Trial(rule)
    results = dict(values)
    compute([expression], results)
    best = None
    for depth in range(1, 9):  # rules look at a few operations only
        best = trial(_replace_by_inputs(expression, _at_depth(expression, depth), results), results)
        if best is not None:
            break
    if best is None:
        best = trial(expression, results)
    if best is None:
        return None
    best = _with_inputs_for_parts(best, trial)
    return _with_simpler_values(best, trial)


def _at_depth(expression: Variable, depth: int) -> list[Variable]:
    level = [expression]
    for _ in range(depth):
        level = [one for part in level if part.owner is not None for one in part.owner.inputs]
    return [one for one in dict.fromkeys(level) if one.owner is not None and one is not expression]


def _replace_by_inputs(expression: Variable, parts: Sequence[Variable], results: Values) -> Variable:
    """Replace subexpressions by inputs, and add the values of these to `results`."""
    if not parts:
        return expression
    fresh = {part: part.type.make_variable() for part in parts}
    copies = clone_replace([expression], fresh, rebuild_strict=False)
    results.update((new, results[part]) for part, new in fresh.items())
    return copies[0]


def _with_inputs_for_parts(best: SmallestCase, trial: _Trial) -> SmallestCase:
    again = True
    while again:
        again = False
        results = dict(best.values)
        compute([best.before], results)
        stack = [best.before]
        parts: dict[Variable, None] = {}
        while stack:
            one = stack.pop()
            if one.owner is not None and one not in parts:
                parts[one] = None
                stack.extend(one.owner.inputs)
        for part in list(parts)[1:]:
            smaller = trial(_replace_by_inputs(best.before, [part], results), results)
            if smaller is not None:
                best, again = smaller, True
                break
    return best


def _with_simpler_values(best: SmallestCase, trial: _Trial) -> SmallestCase:
    """Arrays of one element, and round numbers, where they do as well."""

    largest = max((np.size(value) for value in best.values.values()), default=1)
    for position in range(min(largest, _MOST_ELEMENTS)):

        def one_of(value: np.ndarray, variable: Variable, position: int = position) -> np.ndarray:
            shape = getattr(variable.type, "shape", ())
            where = np.unravel_index(min(position, max(value.size - 1, 0)), value.shape) if value.size else ()
            index = [slice(None) if length is not None else slice(k, k + 1) for k, length in zip(where, shape)]
            return value[tuple(index)]

        found = _try_change(best, trial, one_of)
        if found is not None:
            best = found
            break
    for change in (lambda v, _: np.round(v, 1), lambda v, _: np.round(v), lambda v, _: np.sign(v)):
        found = _try_change(best, trial, change)
        best = best if found is None else found
    return best


def _try_change(best: SmallestCase, trial: _Trial, change: Any) -> SmallestCase | None:
    values = {
        one: np.asarray(change(value, one), dtype=value.dtype)
        if isinstance(value, np.ndarray) and value.dtype.kind in "iufc"
        else value
        for one, value in best.values.items()
    }
    return trial(best.before, values)
