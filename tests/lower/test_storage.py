"""What would be computed again for each row is stored; all else is computed in the loop that reads it."""

import pytest

import aesara
import aesara.tensor as at
from aesara.ir.kernel import BufferParam
from aesara.ir.steps import Launch


def computing(f):
    """How many loop nests write floating-point numbers; others look for the smallest and largest index."""
    launches = [step for step in f._native.program.steps if isinstance(step, Launch)]
    written = [[p.dtype for p in nest.kernel.params if isinstance(p, BufferParam) and p.written] for nest in launches]
    return sum("float64" in dtypes for dtypes in written)


row, column, matrix = at.drow("row"), at.dcol("column"), at.dmatrix("matrix")


@pytest.mark.parametrize(
    ("operand", "loops"), [(at.exp(row), 2), (at.exp(column), 1), (at.exp(matrix.T), 1), (row + 1, 1)]
)
def test_expensive_operands(operand, loops):
    f = aesara.function([row, column, matrix], operand + matrix, on_unused_input="ignore")
    assert computing(f) == loops


counted, some = at.arange(matrix.shape[0]), at.lvector("some")


@pytest.mark.parametrize(
    ("index", "loops"),
    [
        ((counted, some), 1),  # each row is read once
        ((some, counted), 1),
        ((some, some), 2),
        ((some,), 2),
        ((slice(None), some), 2),
        ((slice(1, None), 0), 1),
    ],
)
def test_expensive_values_of_which_some_are_read(index, loops):
    """They are stored if some may be read again and again."""
    f = aesara.function([matrix, some], at.exp(matrix)[index], on_unused_input="ignore")
    assert computing(f) == loops


n, m = matrix.shape


@pytest.mark.parametrize("broadcast", [at.broadcast_to, lambda value, shape: at.alloc(value, *shape)])
@pytest.mark.parametrize(
    ("operand", "shape", "loops"),
    [
        (at.exp(row), (n, m), 2),
        (at.exp(matrix[0]), (n, m), 2),
        (at.exp(matrix), (3, n, m), 2),
        (at.exp(matrix[:, None]), (n, 3, m), 2),
        (at.exp(column), (n, m), 1),
        (at.exp(matrix[:, :, None]), (n, m, 3), 1),
        (at.exp(row[0, 0]), (n, m), 1),
        (matrix[0] + 1, (n, m), 1),
    ],
)
def test_expensive_values_that_are_broadcast(operand, shape, loops, broadcast):
    f = aesara.function([row, column, matrix], broadcast(operand, shape), on_unused_input="ignore")
    assert computing(f) == loops
