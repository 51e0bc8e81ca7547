"""Rules on expressions that differ in one thing from those they are about: where they fire, values stay the same."""

from dataclasses import replace

import numpy as np
import pytest

import aesara.tensor as at
from aesara.graph.nodes import Constant
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.pattern import Rule
from aesara.graph.utils import InconsistencyError
from aesara.tensor.creation.ranges import ARange
from aesara.tensor.indexing.subtensor_advanced import AdvancedSubtensor1, advanced_subtensor1
from tests.rules.framework import (
    Example,
    WrongRule,
    apply_once,
    compare,
    compare_types,
    examples,
    examples_of_row,
    exceptions_of_rows,
)
from tests.rules.leaves import variations
from tests.rules.near_misses import near_dtypes, near_misses
from tests.rules.registered import node_rewriters

EXAMPLES = examples()
EXCEPTIONS = exceptions_of_rows()
REWRITERS = node_rewriters()
#: Beside the first kind of operands every so-manieth is tried, for each change of an expression from another one on.
STEP = 10


#: Rules that are about what has no values.
WITHOUT_VALUES = {"local_alloc_empty_to_zeros"}


#: Rules that rely on programs for what does not hold beside their examples.
RELYING = {"local_rows_written_once"}

#: Inverses of matrices that are ill-conditioned in single precision.
ILL_CONDITIONED = {"local_cofactors_of_definite", "local_inverse_of_definite"}


def kinds_of_operands(of, change):
    """The first kind, and some of the others: of a change other ones than of the next, so that all have their turn."""
    first, *others = variations(of.leaves, of.dtypes, of.domain, True)
    return [first, *others[3 * change % max(min(STEP, len(others)), 1) :: STEP]]


def tried(rewriter, tags, of, change=0):
    """On how many expressions a rule fires, all of which keep their values."""
    fired = 0
    for variation in kinds_of_operands(of, change):
        if not all(np.isfinite(leaf.data).all() for leaf in variation.leaves if isinstance(leaf, Constant)):
            continue
        try:
            applied = apply_once(rewriter, tags, of, variation)
        except InconsistencyError:
            continue  # what would write over something that is needed is taken back
        if applied is None:
            continue
        fired += 1
        try:
            compare_types(*applied)
            for values in variation.data(False):
                compare(*applied, values, of, tags)
        except WrongRule as error:
            raise WrongRule(f"{error}\nwith {variation}") from None
    return fired


def try_near(rewriter, tags, of, examples_near=near_misses):
    """On how many expressions beside an example a rule fires."""
    fired = 0
    for change, near in enumerate(examples_near(of)):
        try:
            fired += tried(rewriter, tags, near, change)
        except WrongRule as error:
            raise WrongRule(f"change {change} of an example: {error}") from None
    return fired


def examples_of(name):
    rewriter, _ = REWRITERS[name]
    made = examples_of_row(rewriter, EXCEPTIONS.get(name, {})) if isinstance(rewriter, Rule) else []
    return [*made, *EXAMPLES.get(name, [])]


@pytest.mark.parametrize("name", sorted(set(REWRITERS) - WITHOUT_VALUES - RELYING))
def test_near_misses(name):
    for of in examples_of(name):
        try_near(*REWRITERS[name], replace(of, dtypes=("float64",)) if name in ILL_CONDITIONED else of)


#: Rules that look through casts: where these round, the results differ by that.
THROUGH_CASTS = {"local_entropy_of_scaled", "local_log_mul_exp"}
#: Sums over windows, whose rounding errors are not estimated.
OF_WINDOWS = {name for name in REWRITERS if "conv" in name}

EXCEPTED = WITHOUT_VALUES | RELYING | THROUGH_CASTS | ILL_CONDITIONED | OF_WINDOWS


@pytest.mark.parametrize("name", sorted(set(REWRITERS) - EXCEPTED))
def test_near_dtypes(name):
    for of in examples_of(name):
        try_near(*REWRITERS[name], of, near_dtypes)


@node_rewriter([AdvancedSubtensor1])
def any_rows(fgraph, node):
    """Wrong: it does not look which rows are counted."""
    rows = node.inputs[1].owner
    return [node.inputs[0]] if rows is not None and isinstance(rows.op, ARange) else None


@node_rewriter([at.sub])
def any_difference(fgraph, node):
    """Wrong: it does not look whether both terms are the same."""
    return [at.zeros_like(node.inputs[0])]


@node_rewriter([at.pow])
def any_exponent(fgraph, node):
    """Wrong: it does not look at the exponent."""
    return [at.square(node.inputs[0])]


@pytest.mark.parametrize(
    "rewriter, build",
    [
        (any_rows, lambda m: advanced_subtensor1(m, at.arange(m.shape[0]))),
        (any_difference, lambda x, y: (x + y) - (x + y)),
        (any_exponent, lambda x: x**2),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_conditions_that_lack_are_found(rewriter, build):
    of = Example(build, dtypes=("float64", "float32"))
    assert tried(rewriter, set(), of) > 0
    with pytest.raises(WrongRule):
        try_near(rewriter, set(), of)
