"""HTML representations of variables and functions for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from aesara.compile.function.function import Function
from aesara.graph import hooks
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import formula_of, type_text
from aesara.graph.nodes import Constant, Variable
from aesara.graph.shared import SharedVariable
from aesara.printing.html import code, table
from aesara.printing.operations import formula_in_python
from aesara.printing.tree import debugprint
from aesara.utils import escaped_html

__all__ = ["html_of"]

_MOST_NODES = 200  # maximum for a complete tree
_MOST_NODES_OF_FORMULA = 40
_DEPTH = 4  # depth of the tree of a larger graph
_MOST_LINES = 60
_MOST_ROWS = 20
_LONGEST = 300


@singledispatch
def html_of(thing: object) -> str:
    """Return a short description of a variable, a `FunctionGraph` or a function as HTML.

    Examples
    --------
    >>> html_of(at.dvector("x<1>"))
    '<div><b>x&lt;1&gt;</b>: <code>float64[?]</code></div>'
    """
    return f"<code>{_text(repr(thing))}</code>"


@html_of.register
def _variable(variable: Variable) -> str:
    name = "" if variable.name is None else f"<b>{_text(variable.name)}</b>: "
    head = f"{name}{_code(type_text(variable.type))}"
    if isinstance(variable, Constant):
        return f"<div>{head} = {_content(variable.data)}</div>"
    if isinstance(variable, SharedVariable):
        return f"<div>{head}, shared{_value(variable.get_value(borrow=True, return_internal_type=True))}</div>"
    if variable.owner is None:
        return f"<div>{head}</div>"
    count = _count([variable])
    formula = formula_in_python(variable) if count <= _MOST_NODES_OF_FORMULA else formula_of(variable)
    head += f"<br>{_code(formula)} <small>by {_text(variable.owner.op)}</small>"
    if variable.owner.source is not None:
        head += f"<br><small>{_text(variable.owner.source)}</small>"
    return f"<div>{head}{_tree(variable, count)}</div>"


@html_of.register
def _graph(graph: FunctionGraph) -> str:
    rows = [("input", variable, "") for variable in graph.inputs]
    rows += [("result", variable, formula_of(variable) or "") for variable in graph.outputs]
    return f"<div><b>graph</b>{_table(rows)}{_tree(graph, len(graph.apply_nodes))}</div>"


@html_of.register
def _function(function: Function) -> str:
    graph = function.maker.fgraph
    name = "function" if function.name is None else function.name
    updated = {output: graph.inputs[k] for output, k in (graph.update_mapping or {}).items()}
    shared = [spec.implicit for spec in function.maker.inputs]
    rows = [
        ("shared" if k < len(shared) and shared[k] else "input", variable, "")
        for k, variable in enumerate(graph.inputs)
    ]
    original_outputs = [reference() for reference in function.written]
    for k, variable in enumerate(graph.outputs):
        kind = "result" if k not in updated else f"new value of {updated[k].name or 'a shared variable'}"
        original = original_outputs[k] if k < len(original_outputs) and original_outputs[k] is not None else variable
        rows.append((kind, variable, formula_of(original) or ""))
    tree = _tree(function, len(graph.apply_nodes))
    backend = function._backend
    if function.compile_seconds is not None:
        backend += f", compiled in {1000 * function.compile_seconds:.1f} ms"
    return f"<div><b>{_text(name)}</b> ({backend}){_table(rows)}{tree}</div>"


def _value(value: object) -> str:
    """Return shape, memory and abbreviated values of a shared variable."""
    if not isinstance(value, np.ndarray):
        return f"<br>{_content(value)}"
    numbers = np.array2string(value, threshold=20, edgeitems=2)
    return f", of shape {_text(value.shape)}, {value.nbytes:,} bytes<pre>{_text(numbers)}</pre>"


def _text(thing: object) -> str:
    return escaped_html(_shorten(thing))


def _code(thing: object) -> str:
    return code(_shorten(thing))


def _content(value: object) -> str:
    """Return a value; an empty text is quoted."""
    return code(_shorten(value) or repr(value))


def _shorten(thing: object) -> str:
    text = str(thing)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _table(rows: Sequence[tuple[str, Variable, str]]) -> str:
    """Return a table of kinds, names, types and formulas."""
    cells = [
        [
            _text(kind),
            "" if variable.name is None else _text(variable.name),
            _code(type_text(variable.type)),
            _code(formula),
        ]
        for kind, variable, formula in rows
    ]
    return table(["", "name", "type", "formula"], cells, _MOST_ROWS)


def _tree(thing: object, count: int) -> str:
    """Return the tree of a graph, collapsed; of a large graph only the levels near the results."""
    depth = -1 if count <= _MOST_NODES else _DEPTH
    lines = str(debugprint(thing, depth=depth, file="str")).rstrip("\n").split("\n")
    text = "\n".join(_text(line) for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES or depth != -1:
        text += "\n…"
    title = f"more than {_MOST_NODES} nodes" if count > _MOST_NODES else f"{count} node{'s' * (count != 1)}"
    return f"<details><summary>{title}</summary><pre>{text}</pre></details>"


def _count(outputs: Sequence[Variable]) -> int:
    """Return the number of nodes that compute variables; counting stops after the maximum that is shown."""
    seen: set[object] = set()
    pending = list(outputs)
    while pending and len(seen) <= _MOST_NODES:
        node = pending.pop().owner
        if node is not None and node not in seen:
            seen.add(node)
            pending.extend(node.inputs)
    return len(seen)


hooks.html.set(html_of)
