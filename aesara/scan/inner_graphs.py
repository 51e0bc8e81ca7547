"""The graphs of loops' steps are rewritten as those of functions."""

from __future__ import annotations

from dataclasses import replace

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.db import RewriteDatabaseQuery
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.source import inherit_source
from aesara.scan.op import Scan

__all__ = ["RewriteSteps"]


class RewriteSteps(GraphRewriter):
    """Drops results of loops that nobody uses, and rewrites the graphs of their steps as those of functions."""

    query = RewriteDatabaseQuery(include=["fast_run"], exclude=["inplace"])

    def apply(self, fgraph: FunctionGraph) -> None:
        loops = [node for node in fgraph.toposort() if isinstance(node.op, Scan)]
        if not loops:
            return
        rewriter = optdb.query(self.query)
        for node in loops:
            op, kept, inputs = without_unused_results(fgraph, node)
            step = FunctionGraph(op.inner_inputs, op.inner_outputs, clone=True)
            rewriter.rewrite(step)
            with inherit_source(node):
                made = op.with_step(step.inputs, step.outputs)(*inputs, return_list=True)
            pairs = [(node.outputs[k], new) for k, new in zip(kept, made, strict=True)]
            fgraph.replace_all_validate(pairs, reason="rewrite_steps")


def without_unused_results(fgraph: FunctionGraph, node: Apply) -> tuple[Scan, list[int], list[Variable]]:
    """The loop without outputs that only it knows; which outputs are left, and its inputs."""
    op, info = node.op, node.op.info
    states = info.n_mit_mot + info.n_mit_sot + info.n_sit_sot
    unused = {k for k in range(info.n_nit_sot) if not fgraph.clients[node.outputs[states + k]]}
    if not unused:
        return op, list(range(len(node.outputs))), list(node.inputs)
    before = len(op.inner_outputs) - info.n_nit_sot - info.n_shared_outs - info.as_while
    outputs = [v for k, v in enumerate(op.inner_outputs) if k - before not in unused]
    lengths = 1 + info.n_seqs + states + info.n_shared_outs
    inputs = [v for k, v in enumerate(node.inputs) if k - lengths not in unused]
    smaller = Scan(
        op.inner_inputs, outputs, replace(info, n_nit_sot=info.n_nit_sot - len(unused)), op.mode, None,
        op.truncate_gradient, op.name, profile=op.profile, allow_gc=op.allow_gc, strict=op.strict,
    )  # fmt: skip
    return smaller, [k for k in range(len(node.outputs)) if k - states not in unused], inputs
