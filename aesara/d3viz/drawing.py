"""Graphs as plain data, for pictures: boxes, the lines between them, and what is known about each."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from aesara.compile.function.function import Function
from aesara.d3viz.labels import operation_label, var_label
from aesara.graph.inner import HasInnerGraph
from aesara.graph.messages import type_text
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.shared import SharedVariable
from aesara.printing.explain import explain
from aesara.printing.graph_parts import GraphParts, graph_between, outer_positions, parts_of

__all__ = ["Box", "Diagram", "Edge", "drawing_of", "page_data"]

_LONGEST_TEXT = 2000


@dataclass
class Box:
    """One box: a node of a graph, or a variable.

    Attributes
    ----------
    id
        Unique in the whole drawing.
    kind
        ``"op"``, ``"input"``, ``"shared"``, ``"constant"``, ``"variable"`` (computed by an op) or ``"output"``.
    label
        What stands in it.
    rows
        What is known about it: pairs of a name and a text.
    node, variable
        What it stands for.
    inner
        The graph inside of the op.
    outer
        In such a graph, the box outside that an input stands for.
    """

    id: str
    kind: str
    label: str
    rows: list[tuple[str, str]]
    node: Apply | None = None
    variable: Variable | None = None
    inner: Diagram | None = None
    outer: str | None = None


@dataclass(frozen=True)
class Edge:
    """A line from one box to another.

    Attributes
    ----------
    source, target
        The ids of boxes.
    text
        Which input it is, and of what type.
    effect
        ``"destroy"`` if the reader overwrites the value, ``"view"`` if a result shares memory with it, or empty.
    """

    source: str
    target: str
    text: str
    effect: str = ""


@dataclass
class Diagram:
    """Boxes and lines."""

    boxes: list[Box] = field(default_factory=list)
    lines: list[Edge] = field(default_factory=list)

    def all_boxes(self) -> Iterable[Box]:
        """All boxes, those inside of others too."""
        for box in self.boxes:
            yield box
            if box.inner is not None:
                yield from box.inner.all_boxes()


def drawing_of(fct: object, compact: bool = True) -> Diagram:
    """Make a drawing of a graph, with the graphs inside of its nodes.

    Parameters
    ----------
    fct
        A function, a `FunctionGraph`, a variable, an Apply, or a list of variables.
    compact
        Leave out variables between nodes that have no name.
    """
    ids = count()
    return _Drawer(parts_of(fct), compact, ids).drawing


class _Drawer:
    """Draws one graph."""

    def __init__(self, parts: GraphParts, compact: bool, ids: Any, outer: Mapping[Variable, str] | None = None) -> None:
        self.drawing = Diagram()
        self.compact = compact
        self.ids = ids
        self.outer = {} if outer is None else outer
        self.of_variable: dict[Variable, str] = {}
        self.of_node: dict[Apply, str] = {}
        for variable in parts.inputs:
            self._leaf(variable)
        for number, node in enumerate(parts.nodes):
            self._node(node, number)
        for number, variable in enumerate(parts.outputs):
            updated = parts.updated.get(number)
            self._output(variable, number, updated)

    def _add(self, kind: str, label: str, rows: Sequence[tuple[str, str]], **of: Any) -> str:
        box = Box(str(next(self.ids)), kind, label, [(name, text[:_LONGEST_TEXT]) for name, text in rows], **of)
        self.drawing.boxes.append(box)
        return box.id

    def _line(self, source: str, target: str, text: str, effect: str = "") -> None:
        self.drawing.lines.append(Edge(source, target, text, effect))

    def _leaf(self, variable: Variable) -> str:
        if variable not in self.of_variable:
            kind = "constant" if isinstance(variable, Constant) else "input"
            if isinstance(variable, SharedVariable):
                kind = "shared"
            rows = [("type", type_text(variable.type))]
            if isinstance(variable, Constant):
                rows.append(("value", str(variable.data)))
            outer = self.outer.get(variable)
            label = var_label(variable)
            self.of_variable[variable] = self._add(kind, label, rows, variable=variable, outer=outer)
        return self.of_variable[variable]

    def _source(self, variable: Variable) -> str:
        """The box from which lines of a variable start."""
        node = variable.owner
        if node is None or node not in self.of_node:
            return self._leaf(variable)
        if self.compact and variable.name is None:
            return self.of_node[node]
        if variable not in self.of_variable:
            rows = [("type", type_text(variable.type))]
            self.of_variable[variable] = self._add("variable", var_label(variable), rows, variable=variable)
            self._line(self.of_node[node], self.of_variable[variable], type_text(variable.type))
        return self.of_variable[variable]

    def _node(self, node: Apply, number: int) -> None:
        rows = [("op", str(node.op)), ("class", type(node.op).__name__), ("order", str(number))]
        rows += [("result" if k == 0 else "", type_text(variable.type)) for k, variable in enumerate(node.outputs)]
        if node.source is not None:
            code = linecache.getline(node.source.filename, node.source.lineno).strip()
            rows.append(("line", f"{node.source}\n{code}".strip()))
        overwritten = {k for positions in (node.op.destroy_map or {}).values() for k in positions}
        viewed = {k for positions in (node.op.view_map or {}).values() for k in positions}
        sources = [self._source(variable) for variable in node.inputs]
        box = self._add("op", operation_label(node), rows, node=node)
        self.of_node[node] = box
        for k, (variable, source) in enumerate(zip(node.inputs, sources)):
            effect = "destroy" if k in overwritten else "view" if k in viewed else ""
            text = f"input {k}: {type_text(variable.type)}"
            if variable.owner is not None and len(variable.owner.outputs) > 1:
                text += f", result {variable.index} of {operation_label(variable.owner)}"
            self._line(source, box, text + {"destroy": ", overwritten", "view": ", shared", "": ""}[effect], effect)
        if isinstance(node.op, HasInnerGraph):
            inputs, outputs = list(node.op.inner_inputs), list(node.op.inner_outputs)
            outer = {inner: sources[k] for inner, k in outer_positions(node, inputs).items()}
            inner = _Drawer(graph_between(inputs, outputs), self.compact, self.ids, outer)
            self.drawing.boxes[-1].inner = inner.drawing

    def _output(self, variable: Variable, number: int, updated: Variable | None) -> None:
        name = f"result {number}" if updated is None else f"new value of {var_label(updated)}"
        label = variable.name if variable.name is not None and updated is None else name
        source = self._source(variable)
        box = self._add("output", label, [("type", type_text(variable.type)), ("is", name)], variable=variable)
        self._line(source, box, type_text(variable.type))


def page_data(fct: Any, compact: bool = True) -> dict[str, Any]:
    """Return the data of a page: the drawing, the steps of native code, and times from a profile."""
    drawing = drawing_of(fct, compact)
    data = _as_data(drawing)
    boxes = {box.node: box for box in drawing.boxes if box.node is not None}
    by_id = {one["id"]: one for one in data["nodes"]}
    steps: list[str] = []
    notice = f"{len(boxes)} operations"
    if isinstance(fct, Function):
        explanation = explain(fct)
        if explanation.fallback is None:
            for number, step in enumerate(explanation.steps):
                steps.append(str(step).split("\n", 1)[0])
                for one in step.nodes:
                    if one.node in boxes:
                        by_id[boxes[one.node].id].setdefault("step", number)
        for one in explanation.python:
            if explanation.fallback is None and one.node in boxes:
                shown = by_id[boxes[one.node].id]
                shown["python"] = True
                shown["rows"].append(["in Python", str(one.reason)])
        if fct.profile is not None:
            _add_profile(fct, boxes, by_id)
            notice += f", {fct.profile.fct_callcount} calls measured"
    return {"graph": data, "steps": steps, "notice": notice}


def _add_profile(fct: Function, boxes: Mapping[Apply, Box], by_id: Mapping[str, dict[str, Any]]) -> None:
    profile, fgraph = fct.profile, fct.maker.fgraph
    times, calls = profile.apply_time, profile.apply_callcount
    for node, box in boxes.items():
        shown = by_id[box.id]
        if (fgraph, node) in times:
            shown["seconds"], shown["calls"] = times[fgraph, node], calls[fgraph, node]
        for variable in node.outputs:
            if variable in profile.variable_shape:
                shown["rows"].append(["shape", str(profile.variable_shape[variable])])


def _as_data(drawing: Diagram) -> dict[str, Any]:
    nodes = []
    for box in drawing.boxes:
        one: dict[str, object] = {
            "id": box.id,
            "kind": box.kind,
            "label": box.label,
            "rows": [list(r) for r in box.rows],
        }
        if box.inner is not None:
            one["inner"] = _as_data(box.inner)
        if box.outer is not None:
            one["outer"] = box.outer
        nodes.append(one)
    edges = [
        {"from": line.source, "to": line.target, "text": line.text} | ({"effect": line.effect} if line.effect else {})
        for line in drawing.lines
    ]
    return {"nodes": nodes, "edges": edges}
