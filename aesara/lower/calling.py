"""Calls of library routines from lowerings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, NoComplexForm, const
from aesara.ir.expr import op as primitive
from aesara.ir.routine import Routine
from aesara.lower.arrays import Array, ComplexView, RoutineCall
from aesara.lower.context import Context
from aesara.lower.errors import escape_braces
from aesara.lower.reductions.careduce import reduce_array

__all__ = ["call_routine", "require_success"]

#: least length that does not fit into the 32-bit integers of LAPACK
_TOO_LARGE = const(2**31)


def call_routine(
    context: Context,
    node: Apply,
    routine: Routine,
    sizes: Mapping[str, Expr],
    arguments: Mapping[str, Array],
    lead: Sequence[Expr] = (),
    requires: Sequence[object] = (),
) -> dict[str, Array]:
    """Call a routine for a node; return the arrays that it writes, by the names of parameters.

    Parameters
    ----------
    sizes, arguments
        Sizes, and arrays that the routine reads, by the names of parameters.
    lead
        Batch dimensions, with a call for each index.  Arrays that are only read may have size 1 there.
    requires
        Checks that must pass first.
    """
    guards = list(requires)
    label = escape_braces(node.op)
    message = f"{label}: the library takes lengths of arrays and workspaces below 2**31 only; one is {{0}}."
    for value in routine.narrow(sizes):
        guards += context.guard(value < _TOO_LARGE, ValueError, message, node, [value])
    complex_numbers = {p.name for p in routine.parameters if p.is_complex}
    if any(array.is_complex and name not in complex_numbers for name, array in arguments.items()):
        raise NoComplexForm(routine.title)
    memory = {name: context.ensure_added(array.memory) for name, array in arguments.items()}
    call = RoutineCall(routine, sizes, memory, lead, guards)
    context.add(call)
    return {
        name: ComplexView(context.add(result)) if name in complex_numbers else context.add(result)
        for name, result in call.results.items()
    }


def require_success(
    context: Context, node: Apply, status: Array, kind: type[Exception], message: str
) -> tuple[object, ...]:
    """Check that the status of every call is zero; for a single call ``{0}`` in `message` is the status."""
    failure = context.size_from(reduce_array(context, status, tuple(range(status.ndim)), "or"))
    return context.guard(primitive("eq", failure, const(0)), kind, message, node, [failure])
