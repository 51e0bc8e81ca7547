"""`rewrite_trace`: which rules change an expression, step by step, and why; `rewrite_profile`: what they cost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

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

__all__ = ["RewriteStep", "RewriteTrace", "rewrite_profile", "rewrite_trace"]

_LARGEST = 12  # operations that a formula shows; what is below them is named by a number


@dataclass(frozen=True)
class RewriteStep:
    """One replacement.

    Attributes
    ----------
    rule
        The name of the rule.
    stage
        The pass that the rule was part of, such as ``"canonicalize"``.
    before, after
        The expression and what has taken its place, as formulas. Large expressions are cut: ``#1`` stands for the same
        part on both sides.
    why
        What the rule does, in one sentence.
    source
        The line of the user's program that the expression comes from, if it is known.
    level
        0 for the graph itself, 1 for the step of a loop in it, and so on.
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
        """Return whether the formulas differ in more than the dtypes and dimensions of numbers."""
        return _without_types(self.before) != _without_types(self.after)


def _without_types(text: str) -> str:
    """A formula in which ``[1.]``, ``[1]`` and ``1.0`` are all ``1``."""
    return re.sub(r"\[*(-?\d+)(?:\.0*)?(?![\d.])\]*", r"\1", text)


class RewriteTrace(Sequence[RewriteStep]):
    """The steps by which an expression was rewritten; a sequence of `RewriteStep`.

    Printed, it lists the steps that change the formula, and names the rules of the others.

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
        self._shown = [step for step in self.steps if all_shown or step.shows]

    def __getitem__(self, index: Any) -> Any:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[RewriteStep]:
        return iter(self.steps)

    @property
    def rules(self) -> list[str]:
        """The names of the rules that have applied, each once, in order."""
        return list(dict.fromkeys(step.rule for step in self.steps))

    def only(self, *rules: str) -> RewriteTrace:
        """The trace with the steps of these rules only, all of which are printed."""
        return RewriteTrace([step for step in self.steps if step.rule in rules], self.before, self.after, True)

    def _others(self) -> str:
        """The rules of the steps that are not shown, and how often each has applied."""
        counts = Counter(step.rule for step in self.steps)
        counts.subtract(step.rule for step in self._shown)
        rules = ", ".join(f"{rule} ({count})" for rule, count in counts.items() if count)
        return f"The formula stays as it is: {rules}" if rules else ""

    def dprint(self, **options: Any) -> None:
        """Print the expressions before and after, as trees; see `aesara.dprint` for options."""
        for label, outputs in (("Before", self.before), ("After", self.after)):
            print(f"{label}:")
            debugprint(outputs, **options)

    def __str__(self) -> str:
        lines = [f"{number}. {step}" for number, step in enumerate(self._shown, 1)]
        if others := self._others():
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
            for number, step in enumerate(self._shown, 1)
        ]
        ends = [
            f"<p>{label}: {code('; '.join(formula(out, {}) for out in outputs))}</p>"
            for label, outputs in (("Before", self.before), ("After", self.after))
        ]
        others = f"<p>{prose(self._others())}</p>" if self._others() else ""
        return f"{ends[0]}<table>{''.join(cells)}</table>{others}{ends[1]}"


def formula(variable: Variable, names: dict[Variable, str]) -> str:
    """A variable as a formula of at most a dozen operations; parts below them are named by numbers, kept in `names`."""
    shown: dict[Variable, None] = {}
    waiting = [variable]
    budget = _LARGEST
    for part in waiting:  # grows while it is walked over
        if part.owner is None or budget <= 0:
            continue
        budget -= 1
        shown[part] = None
        waiting.extend(part.owner.inputs)
    copies: dict[Variable, Variable] = {}
    stack = [variable]
    while stack:
        part = stack[-1]
        if part in copies:
            stack.pop()
        elif part.owner is None:
            copies[part] = part
        elif part not in shown:
            name = names.setdefault(part, f"#{len(names) + 1}")
            copies[part] = part.type.make_variable(name)
        else:
            missing = [one for one in part.owner.inputs if one not in copies]
            if missing:
                stack.extend(missing)
                continue
            node = part.owner.clone_with_new_inputs([copies[one] for one in part.owner.inputs], strict=False)
            copies.update((old, copies.get(old, new)) for old, new in zip(part.owner.outputs, node.outputs))
    return formula_in_python(copies[variable])


class _Tracer(Watcher):
    """Writes down the steps."""

    level: int  # of the graph that is being rewritten

    def __init__(self, inner: bool) -> None:
        self.inner = inner
        self.stages: list[str] = []
        self.steps: list[RewriteStep] = []

    def begin(self, fgraph: FunctionGraph, level: int) -> None:
        self.level = level

    def end(self, fgraph: FunctionGraph, level: int) -> None:
        self.level = level - 1

    def enter(self, fgraph: FunctionGraph, rewriter: Any) -> None:
        self.stages.append(name_of(rewriter))

    def leave(self, fgraph: FunctionGraph, rewriter: Any, seconds: float) -> None:
        self.stages.pop()

    def on_replace(self, fgraph: FunctionGraph, pairs: Sequence[Pair], rules: Sequence[Any]) -> None:
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


#: Rewriters of whole graphs that give a string as their reason.
_REASONS = {
    "MergeOptimizer": "Equal computations are done once",
    "rewrite_steps": "The step of a loop was rewritten as a graph of its own",
}


def rewrite_trace(
    expr: Variable | Sequence[Variable] | Function,
    mode: Any = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    inner: bool = True,
) -> RewriteTrace:
    """Which rules change an expression, step by step, and why.

    Parameters
    ----------
    expr
        A variable, a list of variables, or a compiled function, whose expressions are rewritten once more.
    mode
        Which rewrites.  Default: those of the function, or of ``config.mode``.
    include, exclude
        Tags of rewrites to take too, or to leave out; names of rules are tags.
    inner
        Whether the steps inside of loops are listed too.

    Returns
    -------
    RewriteTrace
        Prints as a list of steps; a sequence of `RewriteStep`.

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
    mode: Any = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> RuleProfile:
    """Rewrite an expression; return the time that each rule takes and how often it applies.

    Parameters
    ----------
    expr, mode, include, exclude
        See `rewrite_trace`.

    Returns
    -------
    RuleProfile
        Prints as a table; ``as_dict()`` has the figures.

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
    expr: Any, mode: Any, include: Sequence[str], exclude: Sequence[str], watcher: Watcher
) -> tuple[list[Variable], list[Variable]]:
    """Rewrite a copy of an expression, watched; the expressions before and after."""
    if isinstance(expr, Function):
        mode = expr.maker.mode if mode is None else mode
        updates = [spec.update for spec in expr.maker.inputs if spec.update is not None]
        outputs = [spec.variable for spec in expr.maker.outputs] + updates
    else:
        outputs = [expr] if isinstance(expr, Variable) else list(expr)
    for one in outputs:
        if not isinstance(one, Variable):
            raise TypeError(f"Expected a variable, a list of variables or a compiled function; got {describe(one)}.")
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
