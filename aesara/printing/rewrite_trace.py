"""`rewrite_trace`: the rules that change an expression; `rewrite_profile`: their times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aesara.compile.function.function import Function
from aesara.compile.mode import get_mode
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.graph.rewriting.rewriter import SequentialGraphRewriter
from aesara.graph.rewriting.rule_profile import RuleProfile
from aesara.graph.rewriting.watching import Pair, Watcher, name_of, watching
from aesara.graph.source import SourceLine
from aesara.printing.html import code, prose
from aesara.printing.operations import formula_in_python
from aesara.printing.tree import debugprint
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.compile.mode import Mode


__all__ = ["RewriteStep", "RewriteTrace", "rewrite_profile", "rewrite_trace"]

_LARGEST = 12  # maximum number of ops in a formula; subexpressions below them are replaced by numbers


@dataclass(frozen=True)
class RewriteStep:
    """A replacement of an expression by a rule.

    Attributes
    ----------
    rule
        The name of the rule.
    stage
        The pass that the rule was part of, such as ``"canonicalize"``.
    before, after
        The expression and its replacement, as formulas. In large expressions, ``#1`` stands for the same subexpression
        on both sides.
    why
        The effect of the rule, in one sentence.
    source
        The source line of the expression, if it is known.
    level
        The nesting level of the graph: 0 for the outermost graph, 1 for the step of a loop in it.
    """

    rule: str
    stage: str
    before: str
    after: str
    why: str
    source: SourceLine | None
    level: int = 0

    def __str__(self) -> str:
        place = f"  [{self.source.place}]" if self.source is not None else ""
        inside = "in a loop, " if self.level else ""
        why = self.why.replace("``", "")
        return f"{self.rule} ({inside}{self.stage}){place}\n    {self.before}\n -> {self.after}\n    {why}"

    @property
    def shows(self) -> bool:
        """Return whether the formulas differ, apart from dtypes and dimensions of constants."""
        return _without_types(self.before) != _without_types(self.after)


def _without_types(text: str) -> str:
    """Return a formula in which constants such as ``[1.]``, ``[1]`` and ``1.0`` are replaced by ``1``."""
    return re.sub(r"\[*(-?\d+)(?:\.0*)?(?![\d.])\]*", r"\1", text)


class RewriteTrace(Sequence[RewriteStep]):
    """The steps by which an expression was rewritten; a sequence of `RewriteStep`.

    It prints the steps that change the formula, and the names of the rules of other steps.

    Attributes
    ----------
    steps
        The steps.
    before, after
        The expressions before and after rewriting, as variables.
    """

    def __init__(
        self,
        steps: Sequence[RewriteStep],
        before: Sequence[Variable],
        after: Sequence[Variable],
        all_shown: bool = False,
    ) -> None:
        self.steps = list(steps)
        self.before = list(before)
        self.after = list(after)
        self._shown_steps = [step for step in self.steps if all_shown or step.shows]

    def __getitem__(self, index: Any) -> Any:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[RewriteStep]:
        return iter(self.steps)

    @property
    def rules(self) -> list[str]:
        """The names of the applied rules in order, without repetitions."""
        return list(dict.fromkeys(step.rule for step in self.steps))

    def only(self, *rules: str) -> RewriteTrace:
        """Return a trace with only the steps of the given rules, all of which are printed."""
        return RewriteTrace([step for step in self.steps if step.rule in rules], self.before, self.after, True)

    def _other_rules(self) -> str:
        """Return the rules of the steps that are not printed, with their counts."""
        counts = Counter(step.rule for step in self.steps)
        counts.subtract(step.rule for step in self._shown_steps)
        rules = ", ".join(f"{rule} ({count})" for rule, count in counts.items() if count)
        return f"The formula stays as it is: {rules}" if rules else ""

    def dprint(self, **options: Any) -> None:
        """Print the expressions before and after rewriting as trees; see `aesara.dprint` for options."""
        for label, outputs in (("Before", self.before), ("After", self.after)):
            print(f"{label}:")
            debugprint(outputs, **options)

    def __str__(self) -> str:
        lines = [f"{number}. {step}" for number, step in enumerate(self._shown_steps, 1)]
        if others := self._other_rules():
            lines.append(others)
        lines = lines or ["No rule applies."]
        for label, outputs in (("Before", self.before), ("After", self.after)):
            names: dict[Variable, str] = {}
            lines.append("\n".join(f"{label}: {formula(out, names)}" for out in outputs))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        cells = [
            f"<tr><td>{number}</td><td><b>{prose(step.rule)}</b><br>{prose(step.stage)}</td>"
            f"<td>{code(step.before)}<br>&rarr; {code(step.after)}</td>"
            f"<td>{prose(step.why)}</td></tr>"
            for number, step in enumerate(self._shown_steps, 1)
        ]
        ends = [
            f"<p>{label}: {code('; '.join(formula(out, {}) for out in outputs))}</p>"
            for label, outputs in (("Before", self.before), ("After", self.after))
        ]
        others = f"<p>{prose(self._other_rules())}</p>" if self._other_rules() else ""
        return f"{ends[0]}<table>{''.join(cells)}</table>{others}{ends[1]}"


def formula(variable: Variable, names: dict[Variable, str]) -> str:
    """Return a formula of at most a dozen ops; deeper subexpressions are replaced by numbers, which are kept in
    `names`.
    """
    visible: dict[Variable, None] = {}
    queue = [variable]
    budget = _LARGEST
    for part in queue:  # it grows during the iteration
        if part.owner is None or budget <= 0:
            continue
        budget -= 1
        visible[part] = None
        queue.extend(part.owner.inputs)
    copies: dict[Variable, Variable] = {}
    stack = [variable]
    while stack:
        part = stack[-1]
        if part in copies:
            stack.pop()
        elif part.owner is None:
            copies[part] = part
        elif part not in visible:
            name = names.setdefault(part, f"#{len(names) + 1}")
            copies[part] = part.type.make_variable(name)
        else:
            missing = [operand for operand in part.owner.inputs if operand not in copies]
            if missing:
                stack.extend(missing)
                continue
            node = part.owner.clone_with_new_inputs([copies[operand] for operand in part.owner.inputs], strict=False)
            copies.update((old, copies.get(old, new)) for old, new in zip(part.owner.outputs, node.outputs))
    return formula_in_python(copies[variable])


class _Tracer(Watcher):
    """Records the steps of rewriting."""

    level: int  # nesting level of the graph that is being rewritten

    def __init__(self, inner: bool) -> None:
        self.inner = inner
        self.stages: list[str] = []
        self.steps: list[RewriteStep] = []

    def begin(self, fgraph: FunctionGraph, level: int) -> None:
        self.level = level

    def end(self, fgraph: FunctionGraph, level: int) -> None:
        self.level = level - 1

    def enter(self, fgraph: FunctionGraph, rewriter: object) -> None:
        self.stages.append(name_of(rewriter))

    def leave(self, fgraph: FunctionGraph, rewriter: object, seconds: float) -> None:
        self.stages.pop()

    def on_replace(self, fgraph: FunctionGraph, pairs: Sequence[Pair], rules: Sequence[object]) -> None:
        if self.level and not self.inner:
            return
        why = "; ".join(getattr(rule, "description", _REASONS.get(str(rule), "")) for rule in rules)
        for old, new in pairs:
            names: dict[Variable, str] = {}
            before, after = formula(old, names), formula(new, names)
            node = old.owner
            source = node.source if node is not None else None
            rule = ", ".join(name_of(rule) for rule in rules)
            self.steps.append(
                RewriteStep(rule, self.stages[-1] if self.stages else "", before, after, why, source, self.level)
            )


#: descriptions of graph rewriters that give a string as their reason
_REASONS = {
    "MergeOptimizer": "Equal computations are done once",
    "rewrite_steps": "The step of a loop was rewritten as a graph of its own",
}


def rewrite_trace(
    expr: Variable | Sequence[Variable] | Function,
    mode: Mode | str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    inner: bool = True,
) -> RewriteTrace:
    """Return the rules that rewrite an expression, step by step, with explanations.

    Parameters
    ----------
    expr
        A variable, a list of variables, or a compiled function, whose expressions are rewritten again.
    mode
        The mode that determines the rewrites.  Default: that of the function, or ``config.mode``.
    include, exclude
        Tags of rewrites to include or exclude; names of rules are tags.
    inner
        Whether to include rewrites of inner graphs of loops.

    Returns
    -------
    RewriteTrace
        A sequence of `RewriteStep`, which prints as a list.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> trace = aesara.rewrite_trace(at.log(at.exp(x)))
    >>> trace.rules
    ['local_log_exp']
    >>> print(trace[0].before, "->", trace[0].after, "in", trace[0].stage)
    log(exp(x)) -> x in canonicalize
    """
    tracer = _Tracer(inner)
    before, after = _rewrite(expr, mode, include, exclude, tracer)
    return RewriteTrace(tracer.steps, before, after)


def rewrite_profile(
    expr: Variable | Sequence[Variable] | Function,
    mode: Mode | str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> RuleProfile:
    """Rewrite an expression, and return the time that each rule takes and how often it applies.

    Parameters
    ----------
    expr, mode, include, exclude
        See `rewrite_trace`.

    Returns
    -------
    RuleProfile
        It prints as a table; ``as_dict()`` returns the numbers.

    Notes
    -----
    With ``config.profile_optimizer``, the profile of a function that is compiled with ``profile=True`` has this table.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> aesara.rewrite_profile(at.log(at.exp(x))).rules["local_log_exp"].hits
    1
    """
    profile = RuleProfile()
    _rewrite(expr, mode, include, exclude, profile)
    return profile


def _rewrite(
    expr: Any, mode: object, include: Sequence[str], exclude: Sequence[str], watcher: Watcher
) -> tuple[list[Variable], list[Variable]]:
    """Rewrite a copy of an expression under a watcher, and return the outputs before and after."""
    if isinstance(expr, Function):
        mode = expr.maker.mode if mode is None else mode
        updates = [spec.update for spec in expr.maker.inputs if spec.update is not None]
        outputs = [spec.variable for spec in expr.maker.outputs] + updates
    else:
        outputs = [expr] if isinstance(expr, Variable) else list(expr)
    for output in outputs:
        if not isinstance(output, Variable):
            raise TypeError(f"Expected a variable, a list of variables or a compiled function; got {describe(output)}.")
    mode = get_mode(mode)
    mode = mode.including(*include) if include else mode
    mode = mode.excluding(*exclude) if exclude else mode
    before = FunctionGraph(outputs=outputs, clone=True)
    fgraph = before.clone()
    rewriter = mode.optimizer
    if not isinstance(rewriter, SequentialGraphRewriter):
        rewriter = SequentialGraphRewriter([rewriter])
    with watching(watcher):
        rewriter.rewrite(fgraph)
    return before.outputs, fgraph.outputs
