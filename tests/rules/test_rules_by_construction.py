"""Every registered rule on every kind of operands: it computes what the expression as written computes."""

import pytest

from aesara.graph.rewriting.pattern import Rule
from tests.rules.framework import check, examples, examples_of_row, exceptions_of_rows
from tests.rules.registered import node_rewriters

EXAMPLES = examples()
EXCEPTIONS = exceptions_of_rows()
REWRITERS = node_rewriters()


def instances():
    for name, (rewriter, _) in sorted(REWRITERS.items()):
        made = examples_of_row(rewriter, EXCEPTIONS.get(name, {})) if isinstance(rewriter, Rule) else []
        for k, one in enumerate([*made, *EXAMPLES.get(name, [])]):
            yield pytest.param(name, one, id=f"{name}-{k}")


INSTANCES = list(instances())


@pytest.mark.parametrize("name, of", INSTANCES)
def test_rule(name, of):
    rewriter, tags = REWRITERS[name]
    assert check(rewriter, tags, of) > 0, f"{name} does not fire on this example, whatever the operands"


def test_every_rule_has_examples():
    covered = {parameters.values[0] for parameters in INSTANCES}
    missing = {name for name, (rewriter, _) in REWRITERS.items() if not _is_of_networks(rewriter)} - covered
    assert sorted(missing) == []


def _is_of_networks(rewriter):
    """Whether a rule comes with `aesara.tensor.nnet`, which another test may have imported: see tests/tensor/nnet."""
    return getattr(rewriter, "fn", rewriter).__module__.startswith("aesara.tensor.nnet")


def test_every_example_has_a_rule():
    assert sorted(set(EXAMPLES) - set(REWRITERS)) == []
    assert sorted(name for name in EXCEPTIONS if not isinstance(REWRITERS[name][0], Rule)) == []
