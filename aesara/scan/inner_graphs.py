"""Rewriting of the graphs of steps."""

from __future__ import annotations

from aesara.graph.fg import FunctionGraph
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.source import inherit_source
from aesara.scan.editing import OverLoops, loops_of
from aesara.scan.pruning import remove_unused_outputs_scan

__all__ = ["RewriteSteps"]


class RewriteSteps(GraphRewriter):
    """Removes unused outputs of loops, and rewrites the graphs of their steps like those of functions."""

    query = RewriteDatabaseQuery(include=["fast_run"], exclude=["inplace"])

    def apply(self, fgraph: FunctionGraph) -> None:
        OverLoops(remove_unused_outputs_scan).apply(fgraph)
        loops = loops_of(fgraph)
        if not loops:
            return
        rewriter = optdb.kept_answer(self.query)
        for node in loops:
            step = FunctionGraph(node.op.inner_inputs, node.op.inner_outputs, clone=True)
            rewriter.rewrite(step)
            with inherit_source(node):
                new_outputs = node.op.with_step(step.inputs, step.outputs)(*node.inputs, return_list=True)
            fgraph.replace_all_validate(list(zip(node.outputs, new_outputs, strict=True)), reason="rewrite_steps")
