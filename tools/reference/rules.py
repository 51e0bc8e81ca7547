"""The page of rewriting rules: each with its formula, its condition and its reason, from the rules themselves."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence

import aesara.tensor.rewriting
from aesara.graph.rewriting.describe import function_text, pattern_text
from aesara.graph.rewriting.matching import as_pattern
from aesara.graph.rewriting.pattern import Rule
from aesara.graph.rewriting.rewriter import NodeRewriter
from aesara.tensor.rewriting import matrices
from aesara.tensor.rewriting.registration import Rules

INTRODUCTION = """\
# Rewriting rules

Made from the rules, by `python -m tools.reference`. [How expressions are rewritten](../rewriting.md) says when each
pass runs, and [Adding a rewriting rule](../adding_a_rule.md) how a rule is written. `mode.excluding(name)` leaves one
out. A rule that is a row has its pattern on the left and its replacement on the right. Unless another condition is
given, variables are real tensors of the dtype of the result.
"""


def rules_page() -> str:
    """Return the page: a table of rules for each module, in the order in which they are tried."""
    lines = [INTRODUCTION]
    own = [module for name, module in sorted(sys.modules.items()) if name.startswith("aesara.tensor.rewriting.")]
    modules = {id(module.rules): module for module in own if hasattr(module, "rules")}
    for rules in _of_modules((*aesara.tensor.rewriting.RULES, *matrices.RULES)):
        module = modules[id(rules)]
        found = list(_rows(rules))
        if found:
            title = (inspect.getdoc(module) or module.__name__).split("\n\n")[0].replace("\n", " ")
            lines += [f"## `{module.__name__.removeprefix('aesara.tensor.rewriting.')}`\n", title + "\n"]
            lines += ["| rule | formula | condition, reason | passes |", "|---|---|---|---|", *found, ""]
    return "\n".join(lines)


def _of_modules(found: Sequence[Rules]) -> Iterator[Rules]:
    """Yield the rules of each module, those of the modules of a subpackage in its place."""
    for rules in found:
        if rules.parts:
            yield from _of_modules(rules.parts)
        else:
            yield rules


def _rows(rules: Rules) -> Iterator[str]:
    for rule, passes in rules.passes.items():
        if isinstance(rule, NodeRewriter):
            formula, remark = _described(rule)
            yield f"| `{rule.name}` | {_cell(formula)} | {_cell(remark)} | {', '.join(passes)} |"


def _described(rule: NodeRewriter) -> tuple[str, str]:
    """Return the formula of a rule, and its condition and reason."""
    if not isinstance(rule, Rule):
        return rule.description, ""
    is_function = rule._replacement_names is not None
    new = function_text(rule.replacement) if is_function else pattern_text(as_pattern(rule.replacement))
    is_formula = not is_function or rule.replacement.__name__ == "<lambda>"
    formula = f"`{pattern_text(rule.pattern)}` -> " + (f"`{new}`" if is_formula else str(new))
    condition = None if rule.condition is None else function_text(rule.condition)
    return formula, ". ".join(part.rstrip(".") for part in (condition, rule.why) if part)


def _cell(text: str) -> str:
    # An index before a call is no link.
    return " ".join(text.replace("``", "`").replace("|", "\\|").replace("](", "] (").split())


if __name__ == "__main__":
    sys.stdout.write(rules_page())
