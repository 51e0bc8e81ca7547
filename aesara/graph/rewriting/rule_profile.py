"""Profile of rules: for each the numbers of trials and applications, the time, and the nodes added and removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from aesara import clock
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.watching import Pair, Watcher, name_of, rules_of
from aesara.records import dataclass

_METHODS = ("transform", "transform_tracked")


@dataclass
class RuleCounts:
    """The figures of one rule.

    Attributes
    ----------
    name
        Its name.
    tries
        How many nodes it was asked about.
    hits
        How often it has replaced something.
    seconds
        Time spent asking it.
    added, removed
        Nodes that entered and left the graph by it.
    """

    name: str
    tries: int = 0
    hits: int = 0
    seconds: float = 0.0
    added: int = 0
    removed: int = 0


class RuleProfile(Watcher):
    """Figures of rules and passes.

    Collected while ``with watching(profile)`` is active. Rules are measured by wrapping their methods for the length of
    a pass, so that nothing of it is there otherwise.

    Attributes
    ----------
    rules
        `RuleCounts` by name.
    passes
        Seconds by the name of the pass, for graphs of functions (graphs inside of loops count for their pass).

    Examples
    --------
    >>> from aesara.graph.rewriting.watching import watching
    >>> x = at.dvector("x")
    >>> profile = RuleProfile()
    >>> with watching(profile):
    ...     f = aesara.function([x], at.log(1 + at.exp(x)))
    >>> profile.rules["log1pexp_to_softplus"].hits
    1
    """

    def __init__(self) -> None:
        self.rules: dict[str, RuleCounts] = {}
        self.passes: dict[str, float] = {}
        self.graphs = 0
        self._wrapped: list[dict[int, Any]] = []
        self._asking: set[str] = set()

    def counts(self, name: str) -> RuleCounts:
        """The figures of the rule of this name; new ones if there are none."""
        found = self.rules.get(name)
        if found is None:
            found = self.rules[name] = RuleCounts(name)
        return found

    def begin(self, fgraph: FunctionGraph, level: int) -> None:
        self.graphs += 1

    def end(self, fgraph: FunctionGraph, level: int) -> None:
        while level == 0 and self._wrapped:  # passes that have raised an error
            self._unwrap(self._wrapped.pop())

    def enter(self, fgraph: FunctionGraph, rewriter: Any) -> None:
        rules = {id(rule): rule for rule in single_rules(rewriter)}
        fresh = {key: rule for key, rule in rules.items() if not any(key in outer for outer in self._wrapped)}
        for rule in fresh.values():
            self._wrap(rule)
        self._wrapped.append(fresh)

    def leave(self, fgraph: FunctionGraph, rewriter: Any, seconds: float) -> None:
        self._unwrap(self._wrapped.pop())
        if not self._wrapped:
            name = name_of(rewriter)
            self.passes[name] = self.passes.get(name, 0.0) + seconds

    def on_replace(self, fgraph: FunctionGraph, pairs: Sequence[Pair], rules: Sequence[Any]) -> None:
        for rule in rules:
            self.counts(name_of(rule)).hits += 1

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        self.counts(name_of(rules_of(reason)[-1])).added += 1

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        self.counts(name_of(rules_of(reason)[-1])).removed += 1

    def _wrap(self, rule: Any) -> None:
        counts = self.counts(name_of(rule))
        former = {method: rule.__dict__.get(method) for method in _METHODS}
        for method in _METHODS:
            rule.__dict__[method] = self._measure(counts, getattr(rule, method))
        rule.__dict__["_unmeasured"] = former

    @staticmethod
    def _unwrap(rules: dict[int, Any]) -> None:
        for rule in rules.values():
            for method, former in rule.__dict__.pop("_unmeasured").items():
                if former is None:
                    del rule.__dict__[method]
                else:
                    rule.__dict__[method] = former

    def _measure(self, counts: RuleCounts, transform: Any) -> Any:
        asking = self._asking

        def timed_transform(*args: Any, **kwargs: Any) -> Any:
            if counts.name in asking:  # one method by way of the other
                return transform(*args, **kwargs)
            asking.add(counts.name)
            counts.tries += 1
            start = clock.now()
            try:
                return transform(*args, **kwargs)
            finally:
                counts.seconds += clock.now() - start
                asking.discard(counts.name)

        return timed_transform

    @property
    def seconds(self) -> float:
        """Time of all passes."""
        return sum(self.passes.values())

    def as_dict(self) -> dict[str, Any]:
        """All figures: ``{"seconds", "passes": {name: seconds}, "rules": {name: {...}}}``."""
        rules = {name: asdict(counts) for name, counts in self.rules.items()}
        return {"seconds": self.seconds, "passes": dict(self.passes), "rules": rules}

    def table(self, limit: int | None = 30) -> str:
        """The figures as text, the slowest rules first; rules that were only asked in vain stand last."""
        lines = [f"Rewriting: {self.seconds:.4f} s, {self.graphs} graph{'' if self.graphs == 1 else 's'}", ""]
        lines += [f"{'seconds':>10}  pass"]
        lines += [f"{seconds:10.5f}  {name}" for name, seconds in self.passes.items()]
        lines += ["", f"{'seconds':>10} {'tries':>8} {'hits':>6} {'added':>6} {'removed':>8}  rule"]
        rows = sorted(self.rules.values(), key=lambda row: (not (row.hits or row.added), -row.seconds))
        lines += [
            f"{row.seconds:10.5f} {row.tries:8d} {row.hits:6d} {row.added:6d} {row.removed:8d}  {row.name}"
            for row in rows[:limit]
        ]
        if limit is not None and len(rows) > limit:
            left = rows[limit:]
            lines.append(
                f"{sum(row.seconds for row in left):10.5f} {sum(r.tries for r in left):8d}  {len(left)} others"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        hits = sum(row.hits for row in self.rules.values())
        return f"<RuleProfile: {hits} replacements, {self.seconds:.4f} s>"


def single_rules(rewriter: Any) -> Iterator[Any]:
    """The node rewriters that a rewriter applies, those of groups one by one."""
    inner: list[Any] = list(getattr(rewriter, "rewrites", ()))
    if hasattr(rewriter, "get_node_rewriters"):
        inner += rewriter.get_node_rewriters()
    if getattr(rewriter, "node_rewriter", None) is not None:
        inner.append(rewriter.node_rewriter)
    if not inner and hasattr(rewriter, "transform"):
        yield rewriter
    for one in inner:
        yield from single_rules(one)
