"""Pictures of graphs, drawn by Graphviz."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from aesara.configdefaults import config
from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.shared import SharedVariable
from aesara.printing.graph_parts import GraphParts, parts_of
from aesara.utils import NoSuchName

_DEFAULT_COLORS = {
    "GpuFromHost": "red",
    "HostFromGpu": "red",
    "Scan": "yellow",
    "Shape": "brown",
    "IfElse": "magenta",
    "Elemwise": "#FFAABB",
    "Subtensor": "#FFAAFF",
    "Alloc": "#FFAA22",
}


def load_pydot(wanted_by: str, error: type[Exception] = ImportError) -> Any:
    """Import pydot; the error message of a failure names the function that needs it."""
    for name in ("pydot", "pydot_ng"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise error(
        f"{wanted_by} needs pydot (`pip install pydot`) and Graphviz, whose program `dot` must be on the PATH. "
        "Without them, aesara.d3viz.d3viz draws graphs in a page for a browser, and debugprint prints them."
    )


def drawing_facts(module: str, name: str) -> Any:
    """Return module attributes `pydot_imported` and `pydot_imported_msg`, the reason why pydot cannot be imported.

    Pydot is searched for at first use, and not imported.
    """
    if name not in ("pydot_imported", "pydot_imported_msg"):
        raise NoSuchName(module, name)
    missing = []
    if not any(find_spec(package) for package in ("pydot", "pydot_ng")):
        missing.append("Install the Python package pydot.")
    if shutil.which("dot") is None:
        missing.append("Install Graphviz.")
    return not missing if name == "pydot_imported" else " ".join(missing)


@contextlib.contextmanager
def _require_graphviz() -> Iterator[None]:
    """Raise an error with instructions if the program of Graphviz is missing."""
    try:
        yield
    except FileNotFoundError as error:
        if shutil.which("dot") is not None:
            raise
        raise RuntimeError(
            "pydotprint needs Graphviz (graphviz.org, or `apt install graphviz`): its program `dot` "
            "is not on the PATH. Only format='dot' does without it."
        ) from error


def quote(text: str) -> str:
    """Return text as a quoted string of Graphviz's DOT language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


class _Labels:
    """Labels of nodes and variables."""

    def __init__(self, max_label_size: int, with_ids: bool, name_only: bool) -> None:
        self.limit = max_label_size
        self.with_ids = with_ids
        self.name_only = name_only

    def shorten(self, text: str) -> str:
        return text if len(text) <= self.limit else text[: max(self.limit - 3, 1)] + "..."

    def variable(self, variable: Variable) -> str:
        if isinstance(variable, Constant):
            text = str(variable).replace("\n", "")
            return self.shorten(text)
        if variable.name is not None:
            text = f"name={variable.name}" if self.name_only else f"name={variable.name} {variable.type}"
        else:
            text = str(variable.type)
        return self.shorten(text)

    def node(self, node: Apply, number: int) -> str:
        text = str(node.op).replace(":", "_")
        return self.shorten(f"{text} id={number}" if self.with_ids else text)


def pydotprint(
    fct: object,
    outfile: str | os.PathLike | None = None,
    compact: bool = True,
    format: str = "png",
    with_ids: bool = False,
    high_contrast: bool = True,
    cond_highlight: object = None,
    colorCodes: dict[str, str] | None = None,
    max_label_size: int = 70,
    scan_graphs: bool = False,
    var_with_name_simple: bool = False,
    print_output_file: bool = True,
    return_image: bool = False,
) -> Any:
    """Draw a graph with pydot and Graphviz.

    Boxes are inputs (green), constants (grey), shared variables (cyan) and outputs (blue); ellipses are nodes. Edges
    are labelled with positions of inputs and types.

    Parameters
    ----------
    fct
        A function, a `FunctionGraph`, a variable, an Apply, or a list of variables.
    outfile
        The file to write.  Default: ``aesara.pydotprint.cpu.png`` in the current folder, with the extension of
        `format`.
    compact
        Omit intermediate variables without a name.
    format
        A format of Graphviz: ``"png"``, ``"svg"``, ``"pdf"``, ``"dot"``, ...
    with_ids
        Add the number of each node to its label.
    high_contrast
        Colour the background of nodes instead of their border.
    cond_highlight
        Accepted for compatibility; has no effect.
    colorCodes
        Colours by names of classes of ops.
    max_label_size
        The maximum length of labels.
    scan_graphs
        Also draw inner graphs, to files with numbers in their names.
    var_with_name_simple
        Label named variables with their name only, without the type.
    print_output_file
        Print the name of the file.
    return_image
        Return the content of the picture instead of writing a file.
    """
    pydot = load_pydot("pydotprint", RuntimeError)
    parts = parts_of(fct)
    colors = _DEFAULT_COLORS if colorCodes is None else colorCodes
    labels = _Labels(max_label_size, with_ids, var_with_name_simple)
    graph = _draw(pydot, parts, labels, colors, compact, high_contrast)
    if return_image:
        with _require_graphviz():
            return graph.create(format=format)
    name = os.fspath(outfile) if outfile is not None else f"aesara.pydotprint.{config.device}.{format}"
    if not name.endswith(f".{format}"):
        name = f"{name}.{format}"
    with _require_graphviz():
        graph.write(name, format="raw" if format == "dot" else format, prog="dot")
    if print_output_file:
        print("The output file is available at", name)
    if scan_graphs:
        stem = name[: -len(format) - 1]
        for number, node in enumerate(one for one in parts.nodes if isinstance(one.op, HasInnerGraph)):
            pydotprint(
                list(node.op.inner_outputs),
                outfile=f"{stem}_{number}.{format}",
                compact=compact,
                format=format,
                with_ids=with_ids,
                high_contrast=high_contrast,
                colorCodes=colorCodes,
                max_label_size=max_label_size,
                scan_graphs=True,
                var_with_name_simple=var_with_name_simple,
                print_output_file=print_output_file,
            )
    return None


def _draw(
    pydot: Any,
    parts: GraphParts,
    labels: _Labels,
    colors: dict[str, str],
    compact: bool,
    high_contrast: bool,
) -> Any:
    graph = pydot.Dot("graph", graph_type="digraph")
    style = {"style": "filled"} if high_contrast else {}
    key = "fillcolor" if high_contrast else "color"
    names: dict[Any, str] = {}

    def box(variable: Variable, color: str) -> str:
        if variable not in names:
            names[variable] = f"v{len(names)}"
            graph.add_node(
                pydot.Node(
                    names[variable], label=quote(labels.variable(variable)), shape="box", **{key: color}, **style
                )
            )
        return names[variable]

    def source(variable: Variable) -> str:
        if variable.owner is not None and variable.owner in names:
            if compact and variable.name is None:
                return names[variable.owner]
            if variable not in names:
                box(variable, "white")
                graph.add_edge(pydot.Edge(names[variable.owner], names[variable]))
            return names[variable]
        if isinstance(variable, Constant):
            return box(variable, "grey")
        return box(variable, "cyan" if isinstance(variable, SharedVariable) else "limegreen")

    for variable in parts.inputs:
        source(variable)
    for number, node in enumerate(parts.nodes):
        color = next((c for name, c in colors.items() if name in type(node.op).__name__), "white")
        names[node] = f"n{number}"
        graph.add_node(
            pydot.Node(names[node], label=quote(labels.node(node, number)), shape="ellipse", **{key: color}, **style)
        )
        for position, variable in enumerate(node.inputs):
            text = str(variable.type) if len(node.inputs) == 1 else f"{position} {variable.type}"
            graph.add_edge(pydot.Edge(source(variable), names[node], label=quote(labels.shorten(text))))
    for number, variable in enumerate(parts.outputs):
        name = f"o{number}"
        graph.add_node(
            pydot.Node(name, label=quote(labels.variable(variable)), shape="box", **{key: "dodgerblue"}, **style)
        )
        graph.add_edge(pydot.Edge(source(variable), name, label=quote(labels.shorten(str(variable.type)))))
    return graph
