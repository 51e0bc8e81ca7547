"""Graphs for Graphviz: `PyDotFormatter`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from aesara.compile.function.function import Function
from aesara.d3viz.drawing import Box, Diagram, drawing_of
from aesara.d3viz.labels import (
    apply_label,
    apply_profile,
    broadcastable_to_str,
    dtype_to_char,
    type_to_str,
    var_label,
    var_tag,
)
from aesara.printing.picture import drawing_facts, load_pydot, quote

__all__ = [
    "PyDotFormatter", "apply_label", "apply_profile", "broadcastable_to_str", "dict_to_pdnode", "dtype_to_char",
    "type_to_str", "var_label", "var_tag",
]  # fmt: skip

__getattr__ = partial(drawing_facts, __name__)

_KINDS = {"input": "input", "shared": "shared_input", "constant": "constant_input", "output": "output"}


def dict_to_pdnode(d: Mapping[str, object]) -> Any:
    """Return a node of pydot with these attributes; those that are None are left out, lists are joined by tabs.

    Parameters
    ----------
    d
        The attributes; ``"name"`` is the node's name.
    """
    texts = {
        key: "\t".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        for key, value in d.items()
        if value is not None
    }
    return load_pydot("dict_to_pdnode").Node(**texts)


class PyDotFormatter:
    """Makes graphs of pydot; needs pydot.

    Parameters
    ----------
    compact
        Leave out variables between operations that have no name.

    Attributes
    ----------
    node_colors
        Kind of variable -> colour.
    apply_colors
        Name of a class of operations, or a part of it -> colour.
    shapes
        Shapes of ``"input"``, ``"output"`` and ``"apply"``.
    """

    def __init__(self, compact: bool = True) -> None:
        self._pydot = load_pydot("PyDotFormatter")
        self.compact = compact
        self.node_colors = {
            "input": "limegreen",
            "constant_input": "SpringGreen",
            "shared_input": "YellowGreen",
            "output": "dodgerblue",
            "unused": "lightgrey",
        }
        self.apply_colors = {
            "Scan": "yellow",
            "Shape": "cyan",
            "IfElse": "magenta",
            "Elemwise": "#FFAABB",
            "Subtensor": "#FFAAFF",
            "Alloc": "#FFAA22",
        }
        self.shapes = {"input": "box", "output": "box", "apply": "ellipse"}

    def __call__(self, fct: object, graph: object = None) -> Any:
        """Return a graph of pydot.

        Parameters
        ----------
        fct
            A function, a `FunctionGraph`, a variable, an Apply, or a list of variables.
        graph
            The graph to add to.  Default: a new ``pydot.Dot``.
        """
        if graph is None:
            graph = self._pydot.Dot()
        self._add(drawing_of(fct, self.compact), graph, fct if isinstance(fct, Function) else None)
        return graph

    def _add(self, drawing: Diagram, graph: Any, function: Function | None) -> None:
        read = {line.source for line in drawing.lines}
        for box in drawing.boxes:
            attributes = self._of_op(box, function) if box.node is not None else self._of_variable(box, box.id in read)
            graph.add_node(dict_to_pdnode({"name": f"n{box.id}", **attributes}))
            if box.inner is not None:
                inside = self._pydot.Cluster(f"n{box.id}", label=quote(box.label))
                self._add(box.inner, inside, None)
                graph.add_subgraph(inside)
        for line in drawing.lines:
            color = {"destroy": {"color": "red"}, "view": {"color": "blue"}}.get(line.effect, {})
            graph.add_edge(self._pydot.Edge(f"n{line.source}", f"n{line.target}", label=quote(line.text), **color))

    def _of_op(self, box: Box, function: Function | None) -> dict[str, Any]:
        node = box.node
        assert node is not None
        name = apply_label(node)
        color = next((color for part, color in self.apply_colors.items() if part in name), None)
        profile = None
        if function is not None:
            profile = apply_profile(function.maker.fgraph, node, function.profile)
        return {
            "label": quote(box.label),
            "profile": profile,
            "node_type": "apply",
            "apply_op": quote(name),
            "shape": self.shapes["apply"],
            **({} if color is None else {"style": "filled", "fillcolor": color, "type": "colored"}),
        }

    def _of_variable(self, box: Box, is_read: bool) -> dict[str, Any]:
        variable = box.variable
        assert variable is not None
        kind = _KINDS.get(box.kind)
        shape = self.shapes["output" if kind == "output" else "input"]
        found = {
            "label": quote(box.label),
            "node_type": "variable" if kind is None else kind,
            "dtype": quote(type_to_str(variable.type)),
            "shape": shape,
        }
        if kind is not None:
            color = self.node_colors[kind if is_read or kind == "output" else "unused"]
            found.update(style="filled", fillcolor=color)
        return found
