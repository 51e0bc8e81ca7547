"""Vectorization of scalar functions of the loop IR to functions of JAX on arrays.

All elements execute the same statements under masks; a loop runs while any element is active.  So routines
(`aesara.scalar.routine`) run on the same device as the rest of a graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from aesara.ir.expr import Expr, walk
from aesara.ir.function import ScalarFunction
from aesara.ir.kernel import Assign, Declare, If, Statement, While, walk_statements

__all__ = ["function_on_arrays"]


@functools.lru_cache(maxsize=1024)
def function_on_arrays(function: ScalarFunction, evaluate: Callable[[Expr, Sequence[Any]], Any]) -> Callable[..., Any]:
    """Vectorize a scalar function over arrays of equal shape.

    Parameters
    ----------
    function
        The function.
    evaluate
        Computes an operation on arrays, except for calls of scalar functions.
    """

    def on_arrays(active: Any, *values: Any) -> Any:
        scalars = dict(zip((p.name for p in function.parameters), values, strict=True))
        elements = _Elements(scalars, evaluate)
        elements.run(function.body, active)
        return jnp.broadcast_to(elements.value(function.result, active), active.shape)

    return jax.jit(on_arrays)


class _Elements:
    """The scalars of a running function, as arrays with a value for each element."""

    def __init__(self, scalars: dict[Any, Any], evaluate: Callable[[Expr, Sequence[Any]], Any]) -> None:
        self.scalars, self.evaluate = scalars, evaluate

    def run(self, body: Sequence[Statement], active: Any) -> None:
        """Run statements for the active elements."""
        for statement in body:
            if isinstance(statement, If):
                self.run(statement.body, active & self.value(statement.condition, active))
            elif isinstance(statement, While):
                self._loop(statement, active)
            elif isinstance(statement, Declare):
                self.scalars[statement.name] = jnp.broadcast_to(self.value(statement.value, active), active.shape)
            else:
                assert isinstance(statement, Assign)
                value, old = self.value(statement.value, active), self.scalars[statement.name]
                self.scalars[statement.name] = jnp.where(active, value, old)

    def _loop(self, loop: While, active: Any) -> None:
        changed = _assigned_names(loop.body)

        def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
            running, *values = state
            elements = self._with(changed, values)
            elements.run(loop.body, running)
            return running & elements.value(loop.condition, running), *(elements.scalars[name] for name in changed)

        start = active & self.value(loop.condition, active), *(self.scalars[name] for name in changed)
        _, *values = jax.lax.while_loop(lambda state: jnp.any(state[0]), step, start)
        self.scalars = self._with(changed, values).scalars

    def _with(self, names: Sequence[Any], values: Sequence[Any]) -> _Elements:
        """Return a copy with other values for some scalars."""
        return _Elements({**self.scalars, **dict(zip(names, values, strict=True))}, self.evaluate)

    def value(self, root: Expr, active: Any) -> Any:
        """Return the value of an expression, which is valid for active elements."""
        values: dict[Expr, Any] = {}
        for e in walk([root]):
            operands = [values[a] for a in e.args]
            if e.op == "const":
                values[e] = np.asarray(e.attr, dtype=e.dtype)
            elif e.op == "var":
                values[e] = self.scalars[e.attr]
            elif e.op == "call" and isinstance(e.attr, ScalarFunction):
                wide = [jnp.broadcast_to(operand, active.shape) for operand in operands]
                values[e] = function_on_arrays(e.attr, self.evaluate)(active, *wide)
            else:
                values[e] = self.evaluate(e, operands)
        return values[root]


def _assigned_names(body: Sequence[Statement]) -> list[Any]:
    """Return the names that statements assign but do not declare."""
    inside = list(walk_statements(tuple(body)))
    local = {s.name for s in inside if isinstance(s, Declare)}
    return sorted({s.name for s in inside if isinstance(s, Assign)} - local)
