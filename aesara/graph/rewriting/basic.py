"""Rewriters: the names of this package's public parts.

==========================  =====================================================
``rewriter``                rewriters of whole graphs, sequences of them
``node_rewriters``          rewriters of single nodes, groups of them
``tracker``                 from an op to the rewriters that start at it
``processing``              what graph rewriters that go node by node share
``walking``                 one walk over a graph
``equilibrium``             until nothing changes
``merge``                   merging of equal computations
``unify``, ``pattern``      patterns, and rules made of them
``stack_trace``             the user's lines, across rewriting
``db``, ``databases``       databases of rewriters, and the ones that are used
``older_names``             what these parts were called before
==========================  =====================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.configdefaults import config
from aesara.graph.nodes import Variable
from aesara.graph.rewriting.equilibrium import EquilibriumGraphRewriter
from aesara.graph.rewriting.kanren_packages import watch_imports
from aesara.graph.rewriting.merge import MergeFeature, MergeOptimizer, pre_constant_merge
from aesara.graph.rewriting.node_rewriters import (
    FromFunctionNodeRewriter,
    MetaNodeRewriter,
    MetaNodeRewriterSkip,
    RemovalNodeRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    node_rewriter,
)
from aesara.graph.rewriting.older_names import older_names
from aesara.graph.rewriting.pattern import PatternNodeRewriter, Rule, rule
from aesara.graph.rewriting.processing import DispatchingFeature, NodeProcessingGraphRewriter
from aesara.graph.rewriting.rewriter import (
    ChangeTracker,
    FromFunctionGraphRewriter,
    GraphRewriter,
    NodeRewriter,
    Rewriter,
    SequentialGraphRewriter,
    graph_rewriter,
    inplace_graph_rewriter,
)
from aesara.graph.rewriting.stack_trace import (
    CheckStackTraceFeature,
    CheckStackTraceRewriter,
    check_stack_trace,
    copy_stack_trace,
    inherit_stack_trace,
)
from aesara.graph.rewriting.tracker import OpToRewriterTracker
from aesara.graph.rewriting.walking import (
    OpKeyGraphRewriter,
    WalkingGraphRewriter,
    in2out,
    out2in,
    pre_greedy_node_rewriter,
    walking_rewriter,
)


def merge_dict(d1: dict[Any, Any], d2: dict[Any, Any]) -> dict[Any, Any]:
    """A dict with the numbers of both: those under the same key are added."""
    merged = dict(d1)
    for key, value in d2.items():
        merged[key] = merged[key] + value if key in merged else value
    return merged


def check_chain(r: Any, *chain: Any) -> bool:
    """Return whether a variable is computed by a chain of ops, each applied to the output of the next.

    Parameters
    ----------
    r
        A variable or a node.
    chain
        Ops, classes of ops or functions of an op, the outermost first. An integer in between
        says which input to follow (the first otherwise).

    Examples
    --------
    >>> x = at.dvector("x")
    >>> check_chain(at.exp(at.log(x)), at.exp, at.log)
    True
    """
    if not isinstance(r, Variable):
        r = r.outputs[0]
    which = 0
    first = True
    for link in chain:
        if isinstance(link, int):
            which = link
            continue
        if not first:
            r = r.owner.inputs[which]
        first, which = False, 0
        if r.owner is None:
            return False
        op = r.owner.op
        if isinstance(link, type):
            good = isinstance(op, link)
        elif callable(link) and not hasattr(link, "make_node"):
            good = link(op)
        else:
            good = op == link
        if not good:
            return False
    return True


#: Old names, and what they are called today.
DEPRECATED_NAMES = {
    "EquilibriumOptimizer": "EquilibriumGraphRewriter",
    "FromFunctionLocalOptimizer": "FromFunctionNodeRewriter",
    "FromFunctionOptimizer": "FromFunctionGraphRewriter",
    "GlobalOptimizer": "GraphRewriter",
    "LocalMetaOptimizer": "MetaNodeRewriter",
    "LocalMetaOptimizerSkipAssertionError": "MetaNodeRewriterSkip",
    "LocalOptGroup": "SequentialNodeRewriter",
    "LocalOptTracker": "OpToRewriterTracker",
    "LocalOptimizer": "NodeRewriter",
    "NavigatorOptimizer": "NodeProcessingGraphRewriter",
    "OpKeyOptimizer": "OpKeyGraphRewriter",
    "OpRemove": "RemovalNodeRewriter",
    "OpSub": "SubstitutionNodeRewriter",
    "PatternSub": "PatternNodeRewriter",
    "SeqOptimizer": "SequentialGraphRewriter",
    "TopoOptimizer": "WalkingGraphRewriter",
    "inplace_optimizer": "inplace_graph_rewriter",
    "local_optimizer": "node_rewriter",
    "optimizer": "graph_rewriter",
    "pre_greedy_local_optimizer": "pre_greedy_node_rewriter",
    "topogroup_optimizer": "walking_rewriter",
}
__getattr__ = older_names(globals(), DEPRECATED_NAMES)

watch_imports()

__all__ = [
    "ChangeTracker",
    "CheckStackTraceFeature",
    "CheckStackTraceRewriter",
    "DispatchingFeature",
    "EquilibriumGraphRewriter",
    "FromFunctionGraphRewriter",
    "FromFunctionNodeRewriter",
    "GraphRewriter",
    "MergeFeature",
    "MergeOptimizer",
    "MetaNodeRewriter",
    "MetaNodeRewriterSkip",
    "NodeProcessingGraphRewriter",
    "NodeRewriter",
    "OpKeyGraphRewriter",
    "OpToRewriterTracker",
    "PatternNodeRewriter",
    "RemovalNodeRewriter",
    "Rewriter",
    "Rule",
    "SequentialGraphRewriter",
    "SequentialNodeRewriter",
    "SubstitutionNodeRewriter",
    "WalkingGraphRewriter",
    "check_chain",
    "check_stack_trace",
    "config",
    "copy_stack_trace",
    "graph_rewriter",
    "in2out",
    "inherit_stack_trace",
    "inplace_graph_rewriter",
    "merge_dict",
    "node_rewriter",
    "out2in",
    "pre_constant_merge",
    "pre_greedy_node_rewriter",
    "rule",
    "walking_rewriter",
]
