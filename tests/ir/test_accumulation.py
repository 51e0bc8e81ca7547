"""Accumulating kernels in two parts: the same results, and partial results that are independent."""

import numpy as np
import pytest

from aesara.ir.accumulation import split_accumulation
from aesara.ir.interpret import IllegalAccess, run_kernel
from aesara.ir.text import parse_kernel
from aesara.ir.verify import verify_kernel

SUM = """
kernel k(b0: float64[], b1: float64[] written, n0: int64):
    let r0 = 0.0
    let r0c = 0.0
    independent for vb < (n0 + 3) // 4:
        let r0b = 0.0
        for vi < minimum(4, n0 - vb * 4):
            r0b = r0b + b0[vb * 4 + vi], reassociate
        r0c = r0c + (r0 - r0)
        r0 = r0 + r0b
    r0 = r0 + r0c
    b1[0] = r0
"""
COLUMNS = """
kernel k(b0: float64[] written, b1: float64[], n0: int64, n1: int64):
    for v0 < n0:
        b0[v0] = {initial}
    for v0 < n1:
        for v1 < n0:
            let r0 = 0.0
            r0 = b1[v0 * n0 + v1]
            b0[v1] = {combined}
"""


def run(split, kernel, arguments, sizes):
    """Return what both kernels store to the written arguments."""
    scalars = {p.name: n for p, n in zip(kernel.params[len(arguments) :], sizes, strict=True)}
    whole = [a.copy() for a in arguments]
    elements = evaluate(split.elements, scalars)
    buffers = [np.full(elements, np.nan) for _ in range(split.buffers)]
    run_kernel(split.partials, [*whole, *sizes, *buffers])
    run_kernel(split.combination, [*whole, *sizes, *buffers])
    return whole


def evaluate(e, scalars):
    operations = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "intdiv": lambda a, b: a // b,
        "maximum": max,
        "minimum": min,
    }
    if e.is_const:
        return int(e.attr)
    if e.op == "var":
        return scalars[e.attr]
    return operations[e.op](*(evaluate(a, scalars) for a in e.args))


@pytest.mark.parametrize("n", [0, 1, 4, 5, 23])
def test_sums_have_the_same_bits_in_two_parts(n):
    kernel = parse_kernel(SUM)
    split = split_accumulation(kernel)
    verify_kernel(split.partials)
    verify_kernel(split.combination)
    values = np.random.default_rng(n).standard_normal(n)
    whole = [values, np.zeros(1)]
    expected = [a.copy() for a in whole]
    run_kernel(kernel, [*expected, n])
    assert run(split, kernel, whole, [n])[1].tobytes() == expected[1].tobytes()
    assert split.buffers == 1 and split.results == ()


@pytest.mark.parametrize(
    "initial, combined, reduce",
    [("0.0", "b0[v1] + r0", np.sum), ("1.0", "b0[v1] * r0", np.prod), ("-inf", "maximum(b0[v1], r0)", np.max)],
)
@pytest.mark.parametrize("rows, columns", [(0, 3), (1, 1), (5, 0), (256, 3), (257, 2), (600, 2), (3, 4100)])
def test_columns_are_accumulated_in_blocks_of_rows(initial, combined, reduce, rows, columns):
    kernel = parse_kernel(COLUMNS.format(initial=initial, combined=combined))
    split = split_accumulation(kernel)
    verify_kernel(split.partials)
    verify_kernel(split.combination)
    values = np.random.default_rng(rows).uniform(0.9, 1.1, (rows, columns))
    result, _ = run(split, kernel, [np.zeros(columns), values.ravel()], [columns, rows])
    expected = reduce(values, axis=0, initial=-np.inf) if reduce is np.max else reduce(values, axis=0)
    np.testing.assert_allclose(result, expected, rtol=1e-13)
    blocks = evaluate(split.blocks, {"n0": columns, "n1": rows})
    assert blocks == max(1, -(-rows // 256))
    if blocks == 1:
        assert split.results == ("b0",)
        direct = np.zeros(columns)
        run_kernel(split.partials, [np.zeros(columns), values.ravel(), columns, rows, direct])
        np.testing.assert_array_equal(direct, result)


@pytest.mark.parametrize(
    "change",
    [
        ("independent for", "for"),
        ("let r0b = 0.0", "let r0b = r0"),
        ("r0 = r0 + r0b", "r0 = r0 + r0b + b0[vb]"),
        ("r0 = r0 + r0b", "r0 = r0 + r0b * float64(vb)"),
        ("for vb < (n0 + 3) // 4", "for vb < int64(b0[0])"),
    ],
)
def test_other_loops_are_not_split(change):
    assert split_accumulation(parse_kernel(SUM.replace(*change))) is None


@pytest.mark.parametrize(
    "change",
    [
        ("b0[v0] = 0.0", "b0[v0] = b1[v0]"),
        ("b0[v1] + r0", "b0[v1] - r0"),
        ("b0[v1] + r0", "b0[0] + r0"),
        ("b0[v1] + r0", "b0[v1] + (r0 + b0[v1])"),
        ("for v0 < n1:", "for v0 < int64(b1[0]):"),
        ("        for v1 < n0:", "        for v1 < n0 - 1:"),
    ],
)
def test_other_nests_are_not_split(change):
    text = COLUMNS.format(initial="0.0", combined="b0[v1] + r0")
    assert split_accumulation(parse_kernel(text)) is not None
    assert split_accumulation(parse_kernel(text.replace(*change))) is None


def test_the_interpreter_finds_iterations_that_are_not_independent():
    kernel = parse_kernel("""
    kernel k(b0: float64[] written, n0: int64, n1: int64):
        independent for v0 < n0:
            for v1 < n1:
                b0[v0 + v1] = 1.0
    """)
    run_kernel(kernel, [np.zeros(6), 5, 1])
    with pytest.raises(IllegalAccess, match="written in one iteration of a parallel loop and used in another"):
        run_kernel(kernel, [np.zeros(6), 5, 2])
