"""Times of nodes of profiled functions, as `debugprint` prints them."""

from __future__ import annotations

from aesara.compile.function.function import Function
from aesara.graph.nodes import Apply

__all__ = ["LEGEND", "times_of"]

_MOST_NODES = 1000  # maximum number of nodes of a graph whose cumulative times are computed

LEGEND = """\
Times behind nodes: --> <own> <% of the whole> <with all that it needs> <% of the whole>
Nodes that native code computes in one step share its time in equal parts. What several nodes
need counts in the second number of each of them.

"""


def times_of(function: Function) -> dict[Apply, str]:
    """Return the text behind each node; the result is empty if the function has no profile or was never called.

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
    seconds_of = {node: seconds for (fgraph, node), seconds in profile.apply_time.items() if fgraph is graph}
    totals = profile.compute_total_times() if len(seconds_of) <= _MOST_NODES else {}
    total = sum(seconds_of.values()) or 1.0
    return {
        node: f"--> {_part(seconds, total)}" + (f" {_part(totals[node], total)}" if node in totals else "")
        for node, seconds in seconds_of.items()
    }


def _part(seconds: float, total: float) -> str:
    return f"{seconds:.2e}s {100 * seconds / total:.1f}%"
