"""Reports on compiled functions as HTML tables for notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from aesara.printing.html import code, prose, table

__all__ = ["explanation_page", "plan_page"]


def explanation_page(explanation: Any) -> str:
    """Return a report of `explain` as HTML: a title, a table of inputs and results, and a table of steps."""
    first, second, *_ = str(explanation).split("\n")
    name = explanation.name
    head = f"<b>{prose(name)}</b>{prose(first.removeprefix(name))}<br>{prose(second)}"
    values = [
        [kind, code(value.name), code(value.type_text), prose(", ".join(value.notes))]
        for kind, group in (("input", explanation.inputs), ("result", explanation.results))
        for value in group
    ]
    rows = [row for number, step in enumerate(explanation.steps, 1) for row in _step_rows(step, str(number))]
    if explanation.fallback is not None:  # the head says why
        rows = [["", "Python", *_node_cells(node)[:2], ""] for node in explanation.python]
    rows += _node_rows("", "no code of its own", explanation.without_code)
    steps = table(["step", "kind", "operation", "line", "why in Python"], rows)
    return f"<div>{head}{table(['', 'name', 'type', 'notes'], values)}{steps}</div>"


def plan_page(plan: Any) -> str:
    """Return a memory plan as HTML: a title and a table of buffers."""
    head = [prose(line) for line in str(plan).split("\n") if not line.startswith("  ")]
    head[0] = head[0].replace(prose(plan.name), f"<b>{prose(plan.name)}</b>", 1)
    sizes = plan.bytes()
    rows = []
    for buffer in plan.buffers:
        name, array, life, kind, _ = buffer._cells()
        size = buffer.size if sizes[buffer.name] is None else format(sizes[buffer.name], ",")
        nodes = [" ".join(filter(None, _node_cells(node)[:2])) for node in buffer.nodes]
        rows.append([code(name), code(array), prose(size), prose(life), prose(kind), "<br>".join(nodes)])
    return f"<div>{'<br>'.join(head)}{table(['buffer', 'array', 'bytes', 'lives in', 'kind', 'holds'], rows)}</div>"


def _step_rows(step: Any, number: str) -> Iterator[list[str]]:
    """Iterate over rows for the nodes of a step and its inner steps; the first row has the number and
    kind of the step.
    """
    yield from _node_rows(number, prose(step.head), step.nodes) or [[number, prose(step.head), "", "", ""]]
    for k, inner in enumerate(step.steps, 1):
        yield from _step_rows(inner, f"{number}.{k}")


def _node_rows(number: str, kind: str, nodes: Iterable[Any]) -> list[list[str]]:
    """Return a row for each distinct node."""
    rows = []
    for (operation, line, reason), count in Counter(map(_node_cells, nodes)).items():
        times = f" ({count} times)" if count > 1 else ""
        rows.append([number, kind, operation + times, line, reason])
        number = kind = ""
    return rows


def _node_cells(node: Any) -> tuple[str, str, str]:
    """Return the op of an explained node, its source line, and the reason why it runs in Python."""
    line = "" if node.source is None else f"<small>{prose(node.source.place)}</small>"
    return code(node.operation), line, "" if node.reason is None else prose(node.reason)
