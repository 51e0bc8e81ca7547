"""Text representation of a compiled function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aesara.graph.messages import formula_of, type_text

if TYPE_CHECKING:
    from aesara.graph.nodes import Variable

__all__ = ["text_of_function"]

_MOST = 6  # inputs, and outputs, that are listed


def text_of_function(function: Any) -> str:
    """Return a function's name, inputs, outputs and updates, how it runs, and how long it took to compile.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> y = 2 * x + 1
    >>> text_of_function(aesara.function([x], y, name="line")).partition(", compiled in")[0]
    "<function 'line': x: float64[?] -> 2 * x + 1: float64[?]; native code"
    """
    maker = function.maker
    specs = list(zip(maker.inputs, function.input_storage))
    explicit = [_input_text(spec) for spec, _ in specs if not spec.implicit]
    shared = [f"shared {_input_text(spec)}" for spec, _ in specs if spec.implicit]
    keys = function.output_keys or [None] * len(maker.outputs)
    written = [reference() for reference in function.written] or [None] * len(maker.outputs)
    outputs = [_output_text(spec.variable, one, key) for spec, one, key in zip(maker.outputs, written, keys)]
    updated = [_name(spec.variable) for spec, container in specs if function._is_updated(container)]
    name = "" if function.name is None else f" {function.name!r}"
    text = f"<function{name}: {_join_first([*explicit, *shared])} -> {_join_first(outputs)}"
    if updated:
        text += f"; updates {_join_first(updated)}"
    text += f"; {function._backend}"
    if function.compile_seconds is not None:
        text += f", compiled in {1000 * function.compile_seconds:.1f} ms"
    return f"{text}>"


def _join_first(texts: Sequence[str]) -> str:
    more = f", and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return (", ".join(texts[:_MOST]) or "nothing") + more


def _name(variable: Variable) -> str:
    return variable.name if variable.name is not None else f"<{type_text(variable.type)}>"


def _input_text(spec: Any) -> str:
    name = spec.name if spec.name is not None else spec.variable.name
    kind = type_text(spec.variable.type)
    return kind if name is None else f"{name}: {kind}"


def _output_text(variable: Variable, written: object, key: str | None) -> str:
    # The graph that was compiled is no longer what the user has written.
    parts = [key, variable.name or (None if written is None else formula_of(written))]
    label, kind = " = ".join(part for part in parts if part is not None), type_text(variable.type)
    return f"{label}: {kind}" if label else kind
