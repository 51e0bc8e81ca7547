"""Closure conversion: variables of the graph around a step become inputs of the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aesara.graph.nodes import Constant
from aesara.graph.shared import SharedVariable
from aesara.graph.traversal import io_toposort, walk
from aesara.graph.utils import MissingInputError
from aesara.scan.parts import LoopParts, take_test_value
from aesara.tensor.type_other import SliceType

if TYPE_CHECKING:
    from aesara.graph.nodes import Variable

__all__ = ["close"]


def close(parts: LoopParts, listed: Sequence[Variable], updated: Mapping[Any, Any], strict: bool) -> None:
    """Make the loop-invariant variables that the step uses inputs of the loop.

    The step was built on variables of the outer graph. The `listed` ones become non-sequences. Of the others,
    expressions that depend on no input of the step are computed once, before the loop, and become non-sequences.

    `updated` maps shared variables that the step updates to the variables of the step for them.

    A listed variable becomes an input whatever it depends on: in the step it has its value from before the loop.
    """
    listed = [v for v in dict.fromkeys(listed) if not isinstance(v, Constant) and v not in updated]
    invariants = _invariants(parts.inner_outputs(), {*parts.inner_inputs(), *updated}, set(listed))
    if strict:
        missing = [v for v in _leaves(invariants, set(listed)) if isinstance(v, SharedVariable)]
        if missing:
            raise MissingInputError(
                f"scan: the step uses {', '.join(map(str, missing))}, but with strict=True it may use only those "
                "shared variables that are listed in non_sequences."
            )
    constants = {v: v.type(name=v.name) for v in [*listed, *invariants]}
    for outer, inner in constants.items():
        take_test_value(inner, outer)
    parts.constants += list(constants.items())
    parts.replace({**constants, **updated})


def _invariants(outputs: Sequence[Any], changing: set[object], listed: set[Any]) -> list[Variable]:
    """Return the outermost subexpressions of `outputs` that depend on variables, but on none of those `changing`.

    Expressions of constants stay in the step, where rules can see their values, and so do slices, whose bounds native
    code must know.
    """
    varying = listed | {v for v in _leaves(outputs, listed) if not isinstance(v, Constant)}
    for node in io_toposort(listed, outputs):
        for dependents in (changing, varying):
            if any(v in dependents for v in node.inputs):
                dependents.update(node.outputs)

    def is_computed(variable: Variable) -> bool:
        return variable.owner is not None and (variable in changing or isinstance(variable.type, SliceType))

    def operands(variable: Any) -> Sequence[Variable]:
        return variable.owner.inputs if is_computed(variable) else ()

    return [v for v in walk(outputs, operands) if v in varying and v not in changing and not is_computed(v)]


def _leaves(outputs: Sequence[Variable | None], listed: set[Any]) -> list[Variable]:
    """Return variables without an owner that the outputs depend on, other than through `listed` ones."""

    def operands(variable: Any) -> Sequence[Variable]:
        return variable.owner.inputs if variable.owner is not None and variable not in listed else ()

    return [v for v in walk(outputs, operands) if v.owner is None and v not in listed]
