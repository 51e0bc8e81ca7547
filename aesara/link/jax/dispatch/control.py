"""Conversions of checks, subgraphs and `Print`; lazy choices are converted by `ConvertedGraph`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aesara.graph.nodes import Apply
from aesara.ifelse import IfElse
from aesara.link.jax.dispatch.basic import NEVER_FOLDED, ConvertedGraph, is_known, jax_funcify, require
from aesara.printing.print_op import Print
from aesara.subgraph import OpFromGraph
from aesara.tensor.core.check_and_raise import CheckAndRaise

NEVER_FOLDED |= {CheckAndRaise, OpFromGraph, Print}


@jax_funcify.register(CheckAndRaise)
def jax_funcify_CheckAndRaise(op: CheckAndRaise, node: Apply | None = None, checks: Any = None, **kwargs: Any) -> Any:
    """Return the value after checks of conditions; without `checks`, only known ones are checked."""

    def check(*values: Any) -> Any:
        for condition in op.conditions(values):
            holds = np.all(condition) if is_known(condition) else jnp.all(condition)
            require(checks, holds, op.exc_type, op.msg, node)
        return values[0]

    return check


@jax_funcify.register(OpFromGraph)
def jax_funcify_OpFromGraph(op: OpFromGraph, node: Apply | None = None, **kwargs: Any) -> Callable[..., Any]:
    """Convert the inner graph."""
    graph = ConvertedGraph(op.inner_inputs, op.inner_outputs, None, **kwargs)
    return lambda *values: tuple(graph.run(values))


@jax_funcify.register(Print)
def jax_funcify_Print(op: Print, **kwargs: Any) -> Callable[..., Any]:
    """Return the value, which the host prints."""

    def show(value: Any) -> Any:
        jax.debug.callback(lambda array: op.global_fn(op, np.asarray(array)), value, ordered=False)
        return value

    return show


@jax_funcify.register(IfElse)
def jax_funcify_IfElse(op: IfElse, **kwargs: Any) -> Callable[..., Any]:
    """Select the values of one side, where both are computed."""

    def choose(condition: Any, *values: Any) -> Any:
        pairs = zip(values[: op.n_outs], values[op.n_outs :])
        results = tuple(jax.lax.cond(condition != 0, lambda a, b: a, lambda a, b: b, *pair) for pair in pairs)
        return results[0] if len(results) == 1 else results

    return choose
