"""Times of nodes of profiled functions, for the lines of `debugprint`."""

from __future__ import annotations

from aesara.compile.function.function import Function
from aesara.graph.nodes import Apply

__all__ = ["LEGEND", "times_of"]

_MOST_NODES = 1000  # of a graph for whose nodes the times of everything below them are added up

LEGEND = """\
Times behind nodes: --> <own> <% of the whole> <with all that it needs> <% of the whole>
Nodes that native code computes in one step share its time in equal parts. What several nodes
need counts in the second number of each of them.

"""


def times_of(function: Function) -> dict[Apply, str]:
    """Node -> what stands behind it; empty if the function has no profile, or has not been called.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> times_of(aesara.function([x], at.exp(x)))
    {}
    """
    profile = function.profile
    if profile is None or not profile.fct_callcount:
        return {}
    graph = function.maker.fgraph
    own = {node: seconds for (fgraph, node), seconds in profile.apply_time.items() if fgraph is graph}
    totals = profile.compute_total_times() if len(own) <= _MOST_NODES else {}
    whole = sum(own.values()) or 1.0
    return {
        node: f"--> {_part(seconds, whole)}" + (f" {_part(totals[node], whole)}" if node in totals else "")
        for node, seconds in own.items()
    }


def _part(seconds: float, whole: float) -> str:
    return f"{seconds:.2e}s {100 * seconds / whole:.1f}%"
