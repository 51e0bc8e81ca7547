"""Names in emitted code are unique, whatever the number of inputs, loops and steps."""

import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.link.llvm.emit_program import emit_program

sys.path.insert(0, str(Path(__file__).parents[2] / "ir"))
from representative_graphs import GRAPHS, Runs

KINDS = {
    "dscalar": [at.dscalar],
    "lscalar": [at.lscalar],
    "fscalar": [at.fscalar],
    "zscalar": [at.zscalar],
    "dvector": [at.dvector],
    "imatrix": [at.imatrix],
    "mixed": [at.dscalar, at.lscalar, at.dvector, at.fscalar, at.imatrix],
}


def test_write_only_buffers_are_noalias():
    """Write-only buffers are `noalias`, which saves run-time checks, except for in-place updates."""
    x, y = at.dvectors("x", "y")
    state = aesara.shared(np.zeros(3))
    for f, is_alone in (
        (aesara.function([x, y], at.exp(x) + y), True),
        (aesara.function([x], updates=[(state, state[::-1] + x)]), True),
        (aesara.function([x], updates=[(state, state * 2 + x)]), False),
    ):
        text = emit_program(f._native.report.lowering.program).text()
        (kernel,) = re.findall(r"^define internal .*? @k\d[^{]*", text, re.M)
        buffers = [p for p in kernel.partition("(")[2].split(", ") if p.startswith("ptr") and "%ae.watcher" not in p]
        written = [p for p in buffers if "readonly" not in p]
        assert [("noalias" in p) for p in written] == [is_alone]


@pytest.mark.parametrize("name", GRAPHS)
def test_values_and_labels_have_numbers_of_their_own(name):
    text = emit_program(Runs(name).program).text()
    for function in re.findall(
        r"^define internal [^\n]* @k\d+\(.*?^}|^define ptr @aesara_entry.*?^}", text, re.M | re.S
    ):
        defined = re.findall(r"^\s*(?:%([^\s=]+) =|([^\s:]+):$)", function, re.M)
        names = [value or label for value, label in defined]
        names += re.findall(r"%([^\s,)]+)[,)]", function.split("{", 1)[0])  # parameters
        assert len(names) > 2 and [name for name, count in Counter(names).items() if count > 1] == []
        numbers = Counter(number for name in names for number in re.findall(r"\.(\d+)$", name))
        assert numbers and set(numbers.values()) == {1}


def value_of(variable, k):
    return np.full((2,) * variable.type.ndim, k % 7, variable.type.dtype)


@pytest.mark.parametrize("count", [1, 17, 18, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_many_inputs(kind, count):
    variables = [KINDS[kind][k % len(KINDS[kind])](f"x{k}") for k in range(count)]
    totals = [v.sum() if v.ndim else v for v in variables]
    f = aesara.function(variables, sum(totals[1:], totals[0]) * 2)
    values = [value_of(v, k) for k, v in enumerate(variables)]
    assert f(*values) == 2 * sum(value.sum() for value in values)
    numbers = [v.item() if v.ndim == 0 else v for v in values]
    assert f(*numbers) == 2 * sum(value.sum() for value in values)


@pytest.mark.parametrize("count", [1, 17, 18, 100])
def test_functions_of_many_shared_variables(count):
    shared = [aesara.shared(np.full((2,) * (k % 2), k % 7, ["float64", "int64"][k // 2 % 2])) for k in range(count)]
    inputs = [[at.dscalar, at.dvector, at.lscalar][k % 3](f"x{k}") for k in range(count)]
    totals = [v.sum() if v.ndim else v for v in (*shared, *inputs)]
    f = aesara.function(inputs, sum(totals), updates=[(s, s + 1) for s in shared])
    for call in range(2):
        expected = sum(s.get_value().sum() for s in shared) + sum(value_of(x, k).sum() for k, x in enumerate(inputs))
        assert f(*[value_of(x, k) for k, x in enumerate(inputs)]) == expected
        for k, s in enumerate(shared):
            np.testing.assert_array_equal(s.get_value(), np.full((2,) * (k % 2), k % 7 + call + 1))
