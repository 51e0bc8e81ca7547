"""Library routines on arrays: what lowerings need to call one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.ir.routine import Routine
from aesara.lower.arrays import Array, RoutineCall
from aesara.lower.context import Context
from aesara.lower.reductions.careduce import reduce_array

__all__ = ["call_routine", "require_success"]

#: lengths from here on do not fit into the 32-bit integers of LAPACK
_TOO_LARGE = const(2**31)


def call_routine(
    context: Context,
    node: Apply,
    routine: Routine,
    sizes: Mapping[str, Expr],
    given: Mapping[str, Array],
    lead: Sequence[Expr] = (),
    requires: Sequence[object] = (),
) -> dict[str, Array]:
    """Call a routine for a node; gives the arrays that it writes, by the names of its parameters.

    Parameters
    ----------
    context, node
        What is lowered.
    routine
        What to call.
    sizes
        The sizes that it takes.
    given
        The arrays that it reads.
    lead
        Leading dimensions: a call for each index of them.  An array that is only read may have size 1 there.
    requires
        The checks that must have passed before.
    """
    guards = list(requires)
    label = str(node.op).replace("{", "{{").replace("}", "}}")
    message = f"{label}: the library takes lengths of arrays and workspaces below 2**31 only; one is {{0}}."
    for value in routine.narrow(sizes):
        guards += context.guard(value < _TOO_LARGE, ValueError, message, node, [value])
    call = RoutineCall(routine, sizes, given, lead, guards)
    for array in given.values():
        if array.stamp < 0:
            context.add(array)
    context.add(call)
    return {name: context.add(result) for name, result in call.results.items()}


def require_success(
    context: Context, node: Apply, status: Array, kind: type[Exception], message: str
) -> tuple[object, ...]:
    """Raise an exception unless the status of every call is zero; of a single call `message` may show it as ``{0}``."""
    found = context.size_from(reduce_array(context, status, tuple(range(status.ndim)), "or"))
    return context.guard(primitive("eq", found, const(0)), kind, message, node, [found])
