"""Rows of one pass that match the same expression: which they are, and that the more specific one is tried first.

A row is more specific than another that applies to what is made from its pattern, if it does not apply to what is made
from the pattern of the other. All such pairs stand in ``overlaps.txt``: the row that is tried first, and the other.
After a change that is meant, run ``python -m tests.rules.test_overlaps`` and read the difference.
"""

from pathlib import Path

import pytest

import aesara.tensor as at
from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.ordered_set import OrderedSet
from aesara.graph.rewriting.pattern import Rule
from tests.rules.framework import examples_of_row, exceptions_of_rows
from tests.rules.registered import node_rewriters

PASSES = ("local_useless", "canonicalize", "stabilize", "specialize", "uncanonicalize")
RECORD = Path(__file__).with_name("overlaps.txt")
#: Rows that are tried before more specific ones, and why that is right.
GENERAL_FIRST = {
    ("local_log1p_sub", "log1msigm_to_softplus"): "of log1p(-sigmoid(x)), which it makes, there is a row as well",
}


def rows_of(pass_):
    """Return the rows of a pass that default modes use, in the order in which they are tried."""
    node_rewriters()  # loads all rules
    database = getattr(databases, pass_)
    used = database.__db__["fast_run"] | database.__db__.get("fast_compile", OrderedSet())
    registered = [database[name] for name in database.__db__ if name in database._names]
    return [row for row in dict.fromkeys(registered) if isinstance(row, Rule) and row in used]


def made_from(row):
    """Expressions made from the pattern of a row, of vectors of real numbers, or of integers where there are none."""
    for one in examples_of_row(row, exceptions_of_rows().get(row.name, {})):
        for vector in (at.dvector, at.lvector):
            leaves = [vector(f"x{k}") for k in range(len(one.leaves))]
            try:
                expression = one.build(*leaves)
            except TypeError:
                continue
            yield leaves, expression
            break


def applies(row, leaves, expression):
    node = expression.owner
    if node is None or not any(node.op == op if not isinstance(op, type) else isinstance(node.op, op)
                               for op in row.tracks() or ()):  # fmt: skip
        return False
    return bool(row.transform(FunctionGraph(leaves, [expression], clone=False), node))


def overlaps(pass_):
    """Pairs of rows, the one that is tried first in front, and whether the second one is more specific."""
    rows = rows_of(pass_)
    made = {row.name: list(made_from(row)) for row in rows}
    fires = {
        (row.name, other.name): any(applies(row, *one) for one in made[other.name]) for row in rows for other in rows
    }
    for k, first in enumerate(rows):
        for second in rows[k + 1 :]:
            on_second, on_first = fires[first.name, second.name], fires[second.name, first.name]
            if on_first or on_second:
                yield first.name, second.name, on_second and fires[second.name, second.name] and not on_first


def text():
    lines = []
    for pass_ in PASSES:
        lines += [f"{pass_}: {first} before {second}\n" for first, second, _ in overlaps(pass_)]
    return "".join(lines)


@pytest.mark.parametrize("pass_", PASSES)
def test_the_more_specific_row_is_tried_first(pass_):
    wrong = {(first, second) for first, second, is_general in overlaps(pass_) if is_general}
    assert wrong <= set(GENERAL_FIRST), "these rows hide more specific ones behind them"


def test_rows_that_overlap_are_recorded():
    assert text() == RECORD.read_text(encoding="utf-8"), "if that is meant: python -m tests.rules.test_overlaps"


def test_pairs_that_are_excused_overlap():
    found = {(first, second) for pass_ in PASSES for first, second, _ in overlaps(pass_)}
    assert set(GENERAL_FIRST) <= found


if __name__ == "__main__":
    RECORD.write_text(text(), encoding="utf-8", newline="\n")
