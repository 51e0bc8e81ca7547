"""Arrays that would be recomputed for each row are stored; others are fused with their readers."""

from collections import Counter

import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.ir.interpret import kernels, run_program
from aesara.ir.interpret.scalars import primitive
from aesara.ir.kernel import BufferParam
from aesara.ir.steps import Launch
from aesara.ir.text import print_program
from aesara.tensor import linalg


def computing(f):
    """Return the number of loop nests that write floats; others compute ranges of indices."""
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


@pytest.mark.parametrize(
    "reader",
    [
        at.sort,
        at.argsort,
        linalg.inv,
        lambda value: linalg.lu_factor(value)[0],
        lambda value: linalg.eigh(value)[0],
        lambda value: linalg.solve(matrix, value),
        lambda value: at.cumsum(value, axis=0),
        lambda value: matrix.dot(value),
        lambda value: at.set_subtensor(value[2:], 0.0),
        lambda value: at.concatenate([value, value]),
        at.fft.rfft,
    ],
)
def test_a_few_operations_for_several_readers(reader):
    """A sum and what needs the sum are two loops: both read what the first one has stored, and so do others."""
    value = abs(matrix) * 3 + matrix
    f = aesara.function([matrix], [reader(value), value - value.sum()])
    assert print_program(f._native.program).count("abs(") == 1


@pytest.fixture
def evaluated(monkeypatch):
    """Return the number of evaluations of each primitive in the interpreter."""
    counts: Counter[str] = Counter()

    def counting(name, dtype):
        compute = primitive(name, dtype)

        def counted(*operands):
            counts[name] += 1
            return compute(*operands)

        return counted

    monkeypatch.setattr(kernels, "primitive", counting)
    return counts


def interpret(f, values):
    """Run the program of a function in the interpreter."""
    lowered = f._native.report.lowering
    return run_program(lowered.program, values, lowered.constants, [])


MATRICES = [((3, 4), (4, 2)), ((3, 1), (1, 2)), ((1, 3), (3, 1)), ((3, 4), (4,)), ((3,), (3, 4)), ((3,), (3,))]
BATCHES = [((3, 3, 4), (3, 4, 2)), ((3, 2, 1), (3, 1, 2)), ((3, 3, 4), (4, 2)), ((3, 4), (3, 4, 2))]


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64"])
@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize(
    ("product", "shapes"),
    [
        *[(product, shapes) for product in (at.dot, at.matmul) for shapes in MATRICES],
        *[(at.matmul, shapes) for shapes in BATCHES],
        *[(at.batched_dot, shapes) for shapes in (*BATCHES[:2], ((3, 4), (3, 4, 2)), ((3, 2, 4), (3, 4)))],
    ],
)
def test_factors_of_products_are_computed_once(product, shapes, in_loop, dtype, rng, evaluated):
    name, costly = ("mod", lambda x: x % 7) if dtype == "int64" else ("exp", at.exp)
    values = [rng.integers(-5, 5, (2, *shape) if in_loop else shape).astype(dtype) for shape in shapes]
    x, y = (at.tensor(dtype, value.shape) for value in values)

    def result(a, b):
        return product(costly(a), costly(b))

    built = aesara.scan(result, [x, y])[0] if in_loop else result(x, y)
    interpret(aesara.function([x, y], built, mode=Mode("llvm", None)), values)
    assert evaluated[name] == sum(value.size for value in values)


@pytest.mark.parametrize("write", [at.set_subtensor, at.inc_subtensor])
@pytest.mark.parametrize(
    ("before", "mask", "value"), [(0, (3,), (4,)), (1, (4,), (3, 1)), (1, (4,), (1, 1)), (0, (3, 4), (1,))]
)
def test_masks_and_what_is_written_under_them_are_computed_once(before, mask, value, write, rng, evaluated):
    x, m, v = (at.tensor("float64", shape) for shape in ((3, 4), mask, value))
    output = write(x[(slice(None),) * before + (at.exp(m) > 1,)], at.exp(v))
    values = [rng.normal(size=shape) for shape in ((3, 4), mask, value)]
    interpret(aesara.function([x, m, v], output, mode=Mode("llvm", None)), values)
    assert evaluated["exp"] == values[1].size + values[2].size
