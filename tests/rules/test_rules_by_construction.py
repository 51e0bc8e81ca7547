"""Every registered rule on every kind of operands: it computes what the expression as written computes.

On how many kinds of operands a rule fires stands in ``rule_firings.txt``, so that one which fires less often is
noticed. After a change that is meant, run ``python -m tests.rules.test_rules_by_construction`` and read the difference.
"""

import sys
from pathlib import Path

import pytest

from aesara.graph.rewriting.pattern import Rule
from tests.rules.framework import check, examples, examples_of_row, exceptions_of_rows, rounds_until_still
from tests.rules.registered import node_rewriters

EXAMPLES = examples()
EXCEPTIONS = exceptions_of_rows()
REWRITERS = node_rewriters()


def instances():
    for name, (rewriter, _) in sorted(REWRITERS.items()):
        made = examples_of_row(rewriter, EXCEPTIONS.get(name, {})) if isinstance(rewriter, Rule) else []
        for k, one in enumerate([*made, *EXAMPLES.get(name, [])]):
            yield pytest.param(name, one, f"{name}-{k}", id=f"{name}-{k}")


INSTANCES = list(instances())
FIRINGS = Path(__file__).with_name("rule_firings.txt")
#: the rounds in which no rule finds anything more to do in an expression of its examples
ROUNDS = 4
HINT = "if that is meant: python -m tests.rules.test_rules_by_construction"


def recorded():
    lines = FIRINGS.read_text(encoding="utf-8").splitlines()
    return {key: int(count) for key, count in (line.rsplit(" ", 1) for line in lines)}


RECORDED = recorded() if FIRINGS.exists() else {}


@pytest.mark.parametrize("name, of, key", INSTANCES)
def test_rule(name, of, key):
    """Values, dtypes, shapes and errors are those of the expression; it fires as often as before."""
    rewriter, tags = REWRITERS[name]
    fired = check(rewriter, tags, of)
    assert fired > 0, f"{name} does not fire on this example, whatever the operands"
    assert fired == RECORDED.get(key), f"{key} fires on {fired} kinds of operands, not on {RECORDED.get(key)}; {HINT}"


@pytest.mark.parametrize("name, of, key", INSTANCES)
def test_a_rule_leaves_in_the_end_what_it_has_made(name, of, key):
    """A pass that tries it on new nodes too would not end otherwise."""
    rewriter, tags = REWRITERS[name]
    assert 0 < rounds_until_still(rewriter, tags, of, ROUNDS) < ROUNDS


def test_every_count_has_an_example():
    assert sorted(set(RECORDED) - {parameters.values[2] for parameters in INSTANCES}) == [], HINT


def test_every_rule_has_examples():
    covered = {parameters.values[0] for parameters in INSTANCES}
    missing = {name for name, (rewriter, _) in REWRITERS.items() if not _is_tried_elsewhere(rewriter)} - covered
    assert sorted(missing) == []


def _is_tried_elsewhere(rewriter):
    """Return whether a rule belongs to a package with tests of its own, or is about draws or choices.

    These are tried with their packages: what is drawn changes with each call, sparse matrices are no arrays, and
    choices give arrays of their branches.
    """
    packages = (
        "aesara.ifelse", "aesara.compat", "aesara.sparse", "aesara.tensor.nnet", "aesara.tensor.random",
        "aesara.typed_list",
    )  # fmt: skip
    return getattr(rewriter, "fn", rewriter).__module__.startswith(packages)


def test_every_example_has_a_rule():
    assert sorted(set(EXAMPLES) - set(REWRITERS)) == []
    assert sorted(name for name in EXCEPTIONS if not isinstance(REWRITERS[name][0], Rule)) == []


if __name__ == "__main__":
    found = {key: check(*REWRITERS[name], of) for name, of, key in (parameters.values for parameters in INSTANCES)}
    FIRINGS.write_text("".join(f"{key} {count}\n" for key, count in sorted(found.items())), encoding="utf-8")
    changed = {key: count for key, count in found.items() if RECORDED.get(key) != count}
    sys.stdout.write("".join(f"{key}: {RECORDED.get(key)} -> {count}\n" for key, count in changed.items()))
