"""Every row of the op table: what its functions compile to, kept as text so that a change of them is seen in review.

A line says for values, shapes and derivatives in both modes how many nodes the rewritten graph has, how many steps of
each kind the program, and how many different expressions its kernels.  Native code itself is recorded for few graphs
(`tests/link/llvm/test_emitted_code.py`).  After a change that is meant, run
``AESARA_REGENERATE_GOLDEN=1 pytest tests/optable/test_table_work.py`` and read the difference.
"""

import warnings
from collections import Counter
from pathlib import Path

import pytest

import aesara
import tests.optable.rows  # noqa: F401
from aesara.gradient import Lop, Rop
from aesara.ir.expr import walk
from aesara.ir.kernel import expressions_of, walk_statements
from aesara.link.llvm import linker
from tests.optable.derivatives import differentiable
from tests.optable.running import MODES, Graphs, compiled
from tests.optable.table import ROWS
from tests.recorded import assert_recorded, needs_newest_llvm_and_numpy

FILE = Path(__file__).with_name("work.txt")

pytestmark = needs_newest_llvm_and_numpy


def tangents(variables):
    return [v.type(f"d{k}") for k, v in enumerate(variables)]


def derivatives(row):
    """Inputs, and the derivatives of the smooth cases: along directions, and of outputs weighted with others."""
    graphs = Graphs.of(row, differentiable(row))
    for case, inputs, outputs in zip(graphs.cases, graphs.inputs, graphs.outputs):
        wanted = [v for v, arg in zip(inputs, case.args) if arg.gradient_wanted]
        outputs = [o for o in outputs if o.type.dtype.startswith(("float", "complex"))]
        directions, weights = tangents(wanted), tangents(outputs)
        forward = Rop(outputs, wanted, directions, disconnected_outputs="ignore")
        reverse = Lop(outputs, wanted, weights, disconnected_inputs="ignore")
        yield [*inputs, *directions, *weights], forward, reverse


#: keywords of the steps that take time
STEPS = ("allocate", "launch", "call", "loop", "python")


@pytest.fixture
def described(monkeypatch):
    """Give a function that describes compiled programs. LLVM compiles nothing, for speed: they are never called."""
    build, codes = linker.build, []
    monkeypatch.setattr(linker, "build", lambda *given: codes.append(build(*given)) or codes[0])
    aesara.function([], [])
    monkeypatch.setattr(linker, "build", lambda *given: codes[0])

    def described(inputs, outputs):
        function = compiled(inputs, outputs, MODES["native"])
        steps = list(function._native.report.lowering.program.all_steps())
        kernels = [launch.kernel for step in steps for launch in step.launches()]
        expressions = [e for k in kernels for s in walk_statements(k.body) for e in expressions_of(s)]
        count = Counter(step.keyword for step in steps)
        found = {"node": len(function.maker.fgraph.apply_nodes), **{kind: count[kind] for kind in STEPS},
                 "expression": len(list(walk(expressions)))}  # fmt: skip
        return " ".join(f"{kind} {count}" for kind, count in found.items() if count)

    return described


def work(row, described):
    graphs = Graphs.of(row, [*row.cases, *row.complex_cases])
    inputs, outputs = graphs.flat_inputs(), graphs.flat_outputs()
    yield f"values {described(inputs, outputs)}"
    yield f"shapes {described(inputs, [o.shape for o in outputs])}"
    found = list(derivatives(row))
    if found:
        inputs = [v for given, _, _ in found for v in given]
        yield f"Rop {described(inputs, [o for _, forward, _ in found for o in forward])}"
        yield f"Lop {described(inputs, [o for _, _, reverse in found for o in reverse])}"


@pytest.mark.parametrize("name", ROWS)
def test_functions_are_as_recorded(name, described):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = ", ".join(work(ROWS[name], described))
    assert_recorded(FILE, ROWS, name, text)
