"""Closure conversion: variables of the graph around a step become inputs of the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aesara.graph.nodes import Constant
from aesara.graph.shared import SharedVariable
from aesara.graph.traversal import io_toposort, walk
from aesara.graph.utils import MissingInputError
from aesara.scan.parts import LoopParts, take_test_value
from aesara.tensor.type_other import SliceType

__all__ = ["close"]


def close(parts: LoopParts, listed: Sequence[Any], updated: Mapping[Any, Any], strict: bool) -> None:
    """Make inputs of all that the step uses and that does not change from step to step.

    The step was built with variables of the graph around it.  Those that are `listed` become inputs in any case; what
    is computed from them, or from others that do not change, is computed once, before the loop, and becomes an input.
    `updated` are shared variables that the step updates, with the step's variables for them.

    A listed variable is not computed again in the step, whatever it depends on: it is what it was before the loop.
    """
    listed = [v for v in dict.fromkeys(listed) if not isinstance(v, Constant) and v not in updated]
    steady = _steady(parts.inner_outputs(), {*parts.inner_inputs(), *updated}, set(listed))
    if strict:
        missing = [v for v in _leaves(steady, set(listed)) if isinstance(v, SharedVariable)]
        if missing:
            raise MissingInputError(
                f"scan: the step uses {', '.join(map(str, missing))}, but with strict=True it may use only those "
                "shared variables that are listed in non_sequences."
            )
    constants = {v: v.type(name=v.name) for v in [*listed, *steady]}
    for outer, inner in constants.items():
        take_test_value(inner, outer)
    parts.constants += list(constants.items())
    parts.replace({**constants, **updated})


def _steady(outputs: Sequence[Any], changing: set[Any], listed: set[Any]) -> list[Any]:
    """The last variables before the `outputs` that depend on variables, but not on those that are `changing`.

    What depends on constants alone is part of the step, where rules can see its value, and so are slices, whose bounds
    native code wants to see.
    """
    varying = listed | {v for v in _leaves(outputs, listed) if not isinstance(v, Constant)}
    for node in io_toposort(listed, outputs):
        for found in (changing, varying):
            if any(v in found for v in node.inputs):
                found.update(node.outputs)

    def is_computed(variable: Any) -> bool:
        return variable.owner is not None and (variable in changing or isinstance(variable.type, SliceType))

    def before(variable: Any) -> Sequence[Any]:
        return variable.owner.inputs if is_computed(variable) else ()

    return [v for v in walk(outputs, before) if v in varying and v not in changing and not is_computed(v)]


def _leaves(outputs: Sequence[Any], listed: set[Any]) -> list[Any]:
    """Variables without owner that the outputs depend on other than through those that are `listed`."""

    def before(variable: Any) -> Sequence[Any]:
        return variable.owner.inputs if variable.owner is not None and variable not in listed else ()

    return [v for v in walk(outputs, before) if v.owner is None and v not in listed]
