"""Graphs of expressions as they are written, and their formulas."""

from aesara import pprint
from aesara.graph.fg import FunctionGraph


def graph(*outputs, **options):
    """The graph of some outputs itself, not of copies."""
    return FunctionGraph(outputs=list(outputs), clone=False, **options)


def text(fgraph):
    """The formulas of the outputs."""
    return ", ".join(pprint(output) for output in fgraph.outputs)
