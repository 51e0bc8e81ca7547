"""All rules together on random programs: rewriting ends, and comes to a graph that it leaves as it is.

``python -m tests.rules.campaign [COUNT [FIRST]]`` goes through the programs of `COUNT` seeds (1,000 unless given, from
`FIRST`, or 0) and prints each kind of complaint; the programs are those of ``tests.fuzz``.

Passes run one after the other, and the early ones look once more at what the late ones changed. In a few programs a
second time finds something more nevertheless. These are counted; a third time must change nothing.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter

import numpy as np

import aesara.compile.pipeline  # noqa: F401 - fills the list of passes
from aesara.graph.cloning import clone
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Constant, Variable
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.equilibrium import EquilibriumGraphRewriter
from aesara.graph.rewriting.merge import MergeOptimizer
from aesara.printing import debugprint
from tests.fuzz.campaign import kind_of, program_of
from tests.fuzz.programs import Program

FAST_RUN = RewriteDatabaseQuery(include=["fast_run"], exclude=["inplace"])


class Complaint(AssertionError):
    """Rewriting does not settle."""


def outputs_of(program: Program) -> tuple[list[Variable], list[Variable]]:
    """The inputs of a program, shared variables among them, and all that it computes."""
    inputs = [program.variables[i.name] for i in program.inputs]
    return inputs, [program.variables[name] for name in [*program.outputs, *program.updates.values()]]


def rewritten(inputs: list[Variable], outputs: list[Variable]) -> tuple[FunctionGraph, set[str]]:
    """The graph after all passes but those that work in place, and the names of all rules that fired."""
    fgraph = FunctionGraph(*clone(inputs, outputs), clone=False)
    fired: set[str] = set()
    sequence = optdb.query(FAST_RUN)
    sequence.add_requirements(fgraph)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in sequence:
            if hasattr(step, "failure_callback"):
                step.failure_callback = None
            profile = step.apply(fgraph)
            if isinstance(step, EquilibriumGraphRewriter):
                fired.update(str(rewriter) for rewriter in profile.applied)
                if profile.stopped:
                    raise Complaint(f"{step.name} stopped {sorted(map(str, profile.stopped))}")
    MergeOptimizer().rewrite(fgraph)
    return fgraph, fired


def same_graphs(first: FunctionGraph, second: FunctionGraph) -> list[bool]:
    """For each result, whether it is computed in the same way, in whatever order commuting operands stand."""
    numbers: dict[tuple, int] = {}

    def numbered(fgraph: FunctionGraph) -> list[int]:
        known = {var: numbers.setdefault(("input", i), len(numbers)) for i, var in enumerate(fgraph.inputs)}

        def number_of(var: Variable) -> int:
            if isinstance(var, Constant):
                return numbers.setdefault(("constant", var.signature()), len(numbers))
            return known[var]

        for node in fgraph.toposort():
            operands = [number_of(var) for var in node.inputs]
            if getattr(getattr(node.op, "scalar_op", None), "commutative", False):
                operands.sort()
            for k, var in enumerate(node.outputs):
                known[var] = numbers.setdefault((node.op, k, *operands), len(numbers))
        return [number_of(var) for var in fgraph.outputs]

    return [a == b for a, b in zip(numbered(first), numbered(second), strict=True)]


def check(program: Program) -> bool:
    """Whether rewriting leaves its own result as it is; raises `Complaint` where it does not end, or never does."""
    first, _ = rewritten(*outputs_of(program))
    second, _ = rewritten(first.inputs, first.outputs)
    if all(same_graphs(first, second)):
        return True
    third, fired = rewritten(second.inputs, second.outputs)
    same = same_graphs(second, third)
    if all(same):
        return False
    k = same.index(False)
    texts = [debugprint(fgraph.outputs[k], file="str", id_type="") for fgraph in (second, third)]
    raise Complaint(f"a third time {sorted(fired)} change the result:\n{texts[0]}\n------\n{texts[1]}")


def main(count: int = 1000, first: int = 0, examples: int = 2) -> int:
    """Go through the programs of `count` seeds; how many complaints there are."""
    start, late, kinds = time.monotonic(), 0, Counter()
    for seed in range(first, first + count):
        program = program_of(seed)
        try:
            late += not check(program)
            continue
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        kind = kind_of(text.splitlines()[0])
        kinds[kind] += 1
        if kinds[kind] <= examples:
            print(f"--- seed {seed}\n{text}\n{program.source()}\n", flush=True)
    seconds = time.monotonic() - start
    print(f"{count} programs, {seconds:.0f} s, {late} with more to find a second time, complaints: {dict(kinds)}")
    return sum(kinds.values())


if __name__ == "__main__":
    sys.exit(bool(main(*(int(argument) for argument in sys.argv[1:]))))
