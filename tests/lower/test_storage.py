"""What would be computed again for each row is stored; all else is computed in the loop that reads it."""

import pytest

import aesara
import aesara.tensor as at
from aesara.ir.steps import Launch

row, column, matrix = at.drow("row"), at.dcol("column"), at.dmatrix("matrix")


@pytest.mark.parametrize(
    ("operand", "loops"), [(at.exp(row), 2), (at.exp(column), 1), (at.exp(matrix.T), 1), (row + 1, 1)]
)
def test_expensive_operands(operand, loops):
    f = aesara.function([row, column, matrix], operand + matrix, on_unused_input="ignore")
    assert sum(isinstance(step, Launch) for step in f._native.program.steps) == loops
