"""Loops are parallel only if no two iterations provably store to one address."""

import ast
from pathlib import Path

import pytest

import aesara
from aesara.ir.expr import const, load, op, var
from aesara.ir.independence import conflict, is_distinct_index, is_distinct_offset, linear_form, mark_parallel
from aesara.ir.kernel import For
from aesara.ir.text import parse_kernel, print_kernel
from aesara.ir.verify import IRError, verify_kernel

HEAD = "kernel k(b0: float64[] written, b1: int64[], b2: float64[] written, n0: int64, n1: int64):\n"
V, W, N = var("v0"), var("v1"), var("n0")

APART = [
    "for v0 < n0:\n    b0[v0] = 1.0",
    "for v0 < n0:\n    b0[n1 - v0] = 1.0",
    "for v0 < n0:\n    b0[v0 * 3 + b1[n1]] = 1.0",
    "for v0 < n0:\n    b0[v0] = b0[v0] + 1.0",
    "for v0 < n0:\n    b0[v0 * 2] = 1.0\n    b0[v0 * 2 + 1] = 2.0",
    "for v0 < 8:\n    b0[v0] = 1.0\n    b0[v0 + 8] = 2.0",
    "for v0 < 8:\n    b0[b1[0] * 16 + v0] = 1.0\n    b0[n1 * 8 + v0 + 24] = 2.0",
    "for v0 < 8:\n    for v1 < n1:\n        b0[v1 * 8 + v0] = 1.0",
    "for v0 < 8:\n    b0[b1[v0] * 8 + v0] = 1.0",
    "for v0 < n0:\n    b0[v0] = 1.0\n    b2[v0] = 2.0",
    "for v0 < 1:\n    b0[b1[v0]] = 1.0",
    "for v0 < n0:\n    distinct b0[v0 * n1] = 1.0",
    "for v0 < n0:\n    distinct b0[b1[v0]] = 1.0",
]
TOGETHER = [
    "for v0 < n0:\n    b0[0] = 1.0",
    "for v0 < n0:\n    b0[b1[v0]] = 1.0",
    "for v0 < n0:\n    b0[b1[v0]] = b0[b1[v0]] + 1.0",
    "for v0 < n0:\n    b0[v0 + b1[v0]] = 1.0",
    "for v0 < n0:\n    b0[v0 * n1] = 1.0",
    "for v0 < n0:\n    b0[mod(v0, 3)] = 1.0",
    "for v0 < n0:\n    b0[v0] = 1.0\n    b0[v0 + 1] = 2.0",
    "for v0 < n0:\n    b0[v0 * 2] = 1.0\n    b0[v0 * 2 + 2] = 2.0",
    "for v0 < n0:\n    b0[v0] = 1.0\n    b0[v0 + n1] = 2.0",
    "for v0 < n0:\n    b0[v0] = 1.0\n    b0[v0 * 2] = 2.0",
    "for v0 < 9:\n    b0[v0] = 1.0\n    b0[v0 + 8] = 2.0",
    "for v0 < 9:\n    b0[b1[v0] * 8 + v0] = 1.0",
    "for v0 < n0:\n    for v1 < n1:\n        b0[v1 + v0] = 1.0",
    "for v0 < n0:\n    for v1 < n1:\n        distinct b0[v1 * n1] = 1.0",
    "for v0 < n0:\n    let r0 = b1[v0]\n    b0[v0 + r0] = 1.0",
    "for v0 < n0:\n    b0[v0] = 1.0\n    b2[b1[v0]] = 2.0",
    "for v0 < n0:\n    distinct b0[b1[v0]] = 1.0\n    b0[v0] = 2.0",
]


def kernel_of(text):
    return parse_kernel(HEAD + "".join(f"    {line}\n" for line in text.split("\n")))


@pytest.mark.parametrize("text", APART)
def test_iterations_that_store_at_different_addresses(text):
    (loop,) = kernel_of(text).body
    assert conflict(loop) is None
    assert mark_parallel(loop).parallel
    verify_kernel(kernel_of("parallel " + text))


@pytest.mark.parametrize("text", TOGETHER)
def test_iterations_that_may_store_at_one_address(text):
    (loop,) = kernel_of(text).body
    assert conflict(loop) is not None
    assert not mark_parallel(loop).parallel
    verify_kernel(kernel_of(text))
    first, rest = text.split(":\n", 1)
    for marked in (f"parallel {first}", f"{first} interleave 2"):
        with pytest.raises(IRError, match="two of them may store to one element of b"):
            verify_kernel(kernel_of(f"{marked}:\n{rest}"))


def test_lanes_need_the_proof_too():
    text = "let r0 = 0.0\nfor v0 < n0 lanes 8:\n    r0 = r0 + float64(b1[v0]), reassociate\n    {}b0[{}] = 1.0"
    verify_kernel(kernel_of(text.format("", "v0")))
    verify_kernel(kernel_of(text.format("distinct ", "b1[v0]")))
    with pytest.raises(IRError, match="two of them may store to one element of b0"):
        verify_kernel(kernel_of(text.format("", "b1[v0]")))


def test_a_distinct_store_prints_and_reads_back():
    kernel = kernel_of("parallel for v0 < n0:\n    distinct b0[v0 * n1] = 1.0")
    text = print_kernel(kernel)
    assert "        distinct b0[v0 * n1] = 1.0\n" in text
    assert parse_kernel(text) == kernel


def test_a_loop_that_may_end_early_stays_as_it_is():
    loop = For("v0", N, (), until="r0")
    assert mark_parallel(loop) is loop


def test_linear_forms():
    n, m = var("n0"), var("n1")
    assert linear_form((V * 3 + n) * 2 - (V - m) + 7) == ({V: 5, n: 2, m: 1}, 7)
    assert linear_form(V - V + 3) == ({}, 3)
    assert linear_form((V + n) * 0) == ({}, 0)
    assert linear_form(V * n) == ({V * n: 1}, 0)


def test_indices_prove_more_than_offsets():
    entry = load("b1", "int64", V)
    assert not is_distinct_offset(V * N + W, "v0")
    assert is_distinct_offset(V * N + W, "v1")
    assert is_distinct_index((V, W), "v0")
    assert is_distinct_index((entry, W), "v1")
    assert not is_distinct_index((entry, W), "v0")
    assert not is_distinct_index((N + V * W,), "v0")
    assert not is_distinct_index((N + V * N,), "v0")
    assert is_distinct_index((N + V * N,), "v0", [N])
    assert is_distinct_index((N + V * op("maximum", N, const(1)),), "v0")
    assert not is_distinct_index((V - op("minimum", V, N),), "v0")
    assert is_distinct_index((op("select", N > W, V + 1, V),), "v0")
    assert not is_distinct_index((op("select", V > W, V, V + 1),), "v0")
    assert not is_distinct_index((), "v0")


def test_only_the_proof_marks_loops():
    """No other code sets `parallel`; the text form reads it, and is verified."""
    package = Path(aesara.__file__).parent
    at = list(For.__dataclass_fields__).index("parallel")
    found = []
    for layer in ("ir", "lower", "link"):
        for path in sorted((package / layer).rglob("*.py")):
            name = path.relative_to(package).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call):
                    continue
                called = ast.unparse(node.func)
                replaces = called in ("replace", "dataclasses.replace")
                gives = any(k.arg == "parallel" for k in node.keywords)
                if (called == "For" and (len(node.args) > at or gives)) or (replaces and gives):
                    found.append(name)
    assert found == ["ir/independence.py", "ir/text/parsing.py"]
