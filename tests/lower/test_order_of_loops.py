"""Loops over dimensions are nested in the order of elements in memory."""

import pytest

import aesara
import aesara.tensor as at
from aesara.ir.kernel import For
from aesara.ir.steps import Launch
from aesara.tensor.linear_algebra.lu import PivotsToPermutation
from aesara.tensor.vectorization.blockwise import Blockwise

x, pivots, counts = at.tensor4("x", dtype="float64"), at.tensor4("pivots", dtype="int32"), at.lvector("counts")
ROWS = {
    "running sums": lambda: at.cumsum(x, axis=2),
    "running products of the last": lambda: at.cumprod(x, axis=3),
    "positions": lambda: at.argmax(x, axis=(2, 3)),
    "nonzero": lambda: at.nonzero(x)[0],
    "repeated": lambda: at.repeat(x, counts, axis=2),
    "permutations": lambda: Blockwise(PivotsToPermutation())(pivots),
}


def nests(statements, outer=()):
    """For each innermost loop over dimensions the names of those around it, and its own."""
    for statement in statements:
        if isinstance(statement, For):
            here = (*outer, statement.var) if statement.var.startswith("v") else outer
            inner = list(nests(statement.body, here))
            yield from inner or [here]


@pytest.mark.parametrize("name", ROWS)
def test_the_last_dimension_is_innermost(name):
    f = aesara.function([x, pivots, counts], ROWS[name](), on_unused_input="ignore")
    found = [n for step in f._native.program.all_steps() if isinstance(step, Launch) for n in nests(step.kernel.body)]
    assert any(len(names) > 2 for names in found)
    assert all(list(names) == sorted(names) for names in found)
