"""The section about loops of a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from aesara.graph.inner import HasInnerGraph

__all__ = ["profile_printer"]


def profile_printer(
    message: str, compile_time: float, fct_call_time: float, apply_time: Mapping[Any, float],
    apply_cimpl: Mapping[Any, bool], outputs_size: Mapping[Any, Any], file: TextIO,
) -> None:  # fmt: skip
    """Print the share of the time of a function that its loops have taken, by loop.

    Parameters
    ----------
    message, compile_time, apply_cimpl, outputs_size
        Accepted for compatibility; have no effect.
    fct_call_time
        The total time of calls of the function, in seconds.
    apply_time
        Time in seconds by node, or by function graph and node.
    file
        The file to print to.
    """
    by_node = {(key[1] if isinstance(key, tuple) else key): seconds for key, seconds in apply_time.items()}
    loops = [
        (seconds, node)
        for node, seconds in by_node.items()
        if isinstance(node.op, HasInnerGraph) and hasattr(node.op, "info")
    ]
    if not loops:
        return
    print("Loops:", file=file)
    for seconds, node in sorted(loops, key=lambda entry: -entry[0]):
        share = 100 * seconds / fct_call_time if fct_call_time else 0.0
        print(f"  {seconds:.3e} s ({share:.1f} % of the calls): {node.op}", file=file)
