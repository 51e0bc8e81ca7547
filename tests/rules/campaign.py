"""All rules together on random programs: rewriting ends, and comes to a graph that it leaves as it is.

``python -m tests.rules.campaign [COUNT [FIRST [FAMILY]]]`` goes through the graphs of `COUNT` seeds (1,000 unless
given, from `FIRST`, or 0) and prints each kind of complaint. The families are `programs` (those of ``tests.fuzz``;
unless given), their `gradients`, and `products`, `indexes` and `networks` of ``tests.rules.random_graphs``.

Passes run one after the other, and look again at what later ones have changed. A graph in which a second time finds
something more is *late*; there should be none. A third time must change nothing. The passes that work in place must
leave the same computation.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

import aesara.compile.pipeline  # noqa: F401 - fills the list of passes
from aesara.graph.cloning import clone
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.equilibrium import EquilibriumGraphRewriter
from aesara.graph.rewriting.merge import MergeOptimizer
from aesara.printing import debugprint
from aesara.tensor.elemwise import Elemwise
from tests.fuzz.campaign import kind_of
from tests.rules.random_graphs import Graph, graph_of

FAST_RUN = RewriteDatabaseQuery(include=["fast_run"], exclude=["inplace"])
IN_PLACE_ATTRIBUTES = (
    "inplace", "destructive", "destroy_map", "destroyhandler_tolerate_aliased", "as_view", "view_map", "_hash"
)  # fmt: skip
IN_PLACE = RewriteDatabaseQuery(include=["fast_run"])


class Complaint(AssertionError):
    """Rewriting does not settle, or computes something else in place."""


def rewritten(
    inputs: list[Variable], outputs: list[Variable], query: RewriteDatabaseQuery = FAST_RUN
) -> tuple[FunctionGraph, set[str]]:
    """The graph after all passes (but those that work in place), and the names of all rules that fired."""
    fgraph = FunctionGraph(*clone(inputs, outputs), clone=False)
    fired: set[str] = set()
    sequence = optdb.query(query)
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


def computation(op: Op) -> Any:
    """An op without what it overwrites or shows."""
    if isinstance(op, Elemwise):
        return (Elemwise, op.scalar_op)
    if not any(hasattr(op, name) for name in ("inplace", "destructive", "as_view")):
        return op
    others = {k: str(v) for k, v in vars(op).items() if k not in IN_PLACE_ATTRIBUTES}
    return (type(op), *sorted(others.items()))


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
                known[var] = numbers.setdefault((computation(node.op), k, *operands), len(numbers))
        return [number_of(var) for var in fgraph.outputs]

    return [a == b for a, b in zip(numbered(first), numbered(second), strict=True)]


def check(graph: Graph) -> bool:
    """Return whether a second rewriting changes nothing; raise `Complaint` if a third one still changes the graph."""
    first, _ = rewritten(*graph)
    in_place, _ = rewritten(*graph, IN_PLACE)
    if not all(same_graphs(first, in_place)):
        raise Complaint(f"in place something else is computed:\n{difference(first, in_place)}")
    second, _ = rewritten(first.inputs, first.outputs)
    if all(same_graphs(first, second)):
        return True
    third, fired = rewritten(second.inputs, second.outputs)
    if all(same_graphs(second, third)):
        return False
    raise Complaint(f"a third time {sorted(fired)} change the result:\n{difference(second, third)}")


def difference(first: FunctionGraph, second: FunctionGraph) -> str:
    """The first result that differs, of one graph and of another."""
    k = same_graphs(first, second).index(False)
    return "\n------\n".join(debugprint(graph.outputs[k], file="str", id_type="") for graph in (first, second))


def main(count: int = 1000, first: int = 0, family: str = "programs", examples: int = 2) -> int:
    """Go through the graphs of `count` seeds; how many are late or give rise to complaints."""
    start, graphs, late, kinds = time.monotonic(), 0, [], Counter()
    for seed in range(first, first + count):
        graph = graph_of(family, seed)
        if graph is None:
            continue
        graphs += 1
        try:
            if not check(graph):
                late.append(seed)
            continue
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        kind = kind_of(text.splitlines()[0])
        kinds[kind] += 1
        if kinds[kind] <= examples:
            print(f"--- {family}, seed {seed}\n{text}\n", flush=True)
    seconds = time.monotonic() - start
    print(f"{graphs} {family}, {seconds:.0f} s, {len(late)} late {late[:20]}, complaints: {dict(kinds)}")
    return len(late) + sum(kinds.values())


if __name__ == "__main__":
    numbers, families = sys.argv[1:3], sys.argv[3:4]
    sys.exit(bool(main(*map(int, numbers), *families)))
