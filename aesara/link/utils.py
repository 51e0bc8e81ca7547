"""Utilities of linkers: storage maps, lifetimes, running thunks, and error reports."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, NoReturn

import numpy as np

from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.container import StorageCell, StorageMap
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe, formula_of
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import ThunkType

Thunk = ThunkType

_LARGEST_SHOWN_VALUE = 20  # elements
_DEEPEST_SHOWN_LEVEL = 50
_LONGEST_SHOWN_TEXT = 300  # characters of one value or one list in an error message


def map_storage(
    fgraph: FunctionGraph,
    order: Iterable[Apply],
    input_storage: Sequence[StorageCell] | None = None,
    output_storage: Sequence[StorageCell] | None = None,
    storage_map: StorageMap | None = None,
) -> tuple[list[StorageCell], list[StorageCell], StorageMap]:
    """Allocate a storage cell for every variable of a graph.

    Parameters
    ----------
    fgraph
        The graph.
    order
        Its nodes.
    input_storage, output_storage
        Cells of the graph's inputs and outputs. Default: new ones.
    storage_map
        Existing cells; it is extended in place.

    Returns
    -------
    The cells of the inputs, the cells of the outputs, and the map from variables to cells.
    """
    if storage_map is None:
        storage_map = {}
    if input_storage is None:
        input_storage = [storage_map.get(variable, [None]) for variable in fgraph.inputs]
    elif len(input_storage) != len(fgraph.inputs):
        raise ValueError(f"The graph has {len(fgraph.inputs)} inputs, but {len(input_storage)} cells were given.")
    for variable, cell in zip(fgraph.inputs, input_storage):
        if storage_map.setdefault(variable, cell) is not cell:
            raise ValueError(f"Two different storage cells were given for the input {describe(variable)}.")

    if output_storage is not None:
        if len(output_storage) != len(fgraph.outputs):
            raise ValueError(
                f"The graph has {len(fgraph.outputs)} outputs, but {len(output_storage)} cells were given."
            )
        for variable, cell in zip(fgraph.outputs, output_storage):
            storage_map.setdefault(variable, cell)

    for node in order:
        for variable in node.inputs:
            if variable not in storage_map:
                storage_map[variable] = [variable.data if isinstance(variable, Constant) else None]
        for variable in node.outputs:
            if variable not in storage_map:
                storage_map[variable] = [None]
    for variable in fgraph.outputs:
        if variable not in storage_map:
            storage_map[variable] = [variable.data if isinstance(variable, Constant) else None]
    return list(input_storage), [storage_map[variable] for variable in fgraph.outputs], storage_map


def gc_helper(node_list: Sequence[Apply]) -> tuple[set[Variable], dict[Variable, Apply]]:
    """Return the variables that nodes compute, and for each variable the last node that reads it."""
    last_user: dict[Variable, Apply] = {}
    computed: set[Variable] = set()
    for node in node_list:
        for variable in node.inputs:
            last_user[variable] = node
        computed.update(node.outputs)
    return computed, last_user


def clear_after_each(
    fgraph: FunctionGraph,
    order: Sequence[Apply],
    storage_map: StorageMap,
    also_keep: Iterable[StorageCell] = (),
) -> list[list[StorageCell]]:
    """Return for each node in `order` the cells that are dead after it.

    Cells of inputs, outputs and constants, and those in `also_keep`, are never listed.
    """
    computed, last_user = gc_helper(order)
    keep = {id(storage_map[variable]) for variable in (*fgraph.inputs, *fgraph.outputs)}
    keep.update(id(cell) for cell in also_keep)
    cells: list[list[StorageCell]] = []
    for node in order:
        dead: list[StorageCell] = []
        for variable in dict.fromkeys((*node.inputs, *node.outputs)):
            # Outputs without readers are dead at once.
            if variable in computed and last_user.get(variable, variable.owner) is node:
                cell = storage_map[variable]
                if id(cell) not in keep:
                    dead.append(cell)
        cells.append(dead)
    return cells


def streamline(
    fgraph: FunctionGraph,
    thunks: Sequence[Thunk],
    order: Sequence[Apply],
    post_thunk_old_storage: Sequence[Sequence[StorageCell]] | None = None,
    no_recycling: Sequence[StorageCell] = (),
) -> Callable[[], None]:
    """Return a callable without arguments that runs the thunks in order.

    Parameters
    ----------
    fgraph
        The graph, for error messages.
    thunks, order
        The thunks and their nodes.
    post_thunk_old_storage
        For each thunk, the cells to empty after it ran.
    no_recycling
        Cells to empty before the first thunk.
    """
    if len(thunks) != len(order):
        raise ValueError(f"Got {len(thunks)} thunks for {len(order)} nodes.")
    clear = post_thunk_old_storage if post_thunk_old_storage is not None else [()] * len(order)
    steps = list(zip(thunks, order, clear))

    def run() -> None:
        for cell in no_recycling:
            cell[0] = None
        try:
            for thunk, node, dead in steps:  # noqa: B007
                thunk()
                for cell in dead:
                    cell[0] = None
        except Exception:
            raise_with_op(fgraph, node, thunk)

    return run


# Error reports


def describe_source(source: Any) -> str:
    """Return two lines that show a line of the user's program; an empty string if it is not known."""
    if source is None:
        return ""
    location = f"  {source.traceback_text()}"
    text = linecache.getline(source.filename, source.lineno).strip()
    return f"{location}\n    {text}" if text else location


def raise_with_op(
    fgraph: FunctionGraph | None,
    node: Apply,
    thunk: Any = None,
    exc_info: tuple[type, BaseException, TracebackType | None] | None = None,
    storage_map: StorageMap | None = None,
) -> NoReturn:
    """Reraise the present exception with the node that caused it and the line that created the node.

    Parameters
    ----------
    fgraph
        The graph.
    node
        The node that failed.
    thunk
        Its thunk, with the cells of the node's inputs as attribute ``inputs``; ``inputs_before``, if present, has their
        values from before the node overwrote them.
    exc_info
        The exception as returned by `sys.exc_info`. Default: the one being handled.
    storage_map
        Cells of all variables, shown with ``config.exception_verbosity=high``.
    """
    _, error, trace = exc_info if exc_info is not None else sys.exc_info()
    assert error is not None
    if getattr(error, "_names_node", False):  # an inner function has added it already
        raise error
    details = error_report(fgraph, node, thunk, storage_map)
    raise with_details(error, details).with_traceback(trace) from error.__cause__


def with_details(error: BaseException, details: str) -> BaseException:
    """Return an exception of the same class whose text is extended by `details`.

    Classes that cannot be created from one string, or that format it differently, get the details as a note.
    """
    text = f"{error}\n{details}"
    try:
        detailed = type(error)(text)
        faithful = str(detailed) == text
    except Exception:
        faithful = False
    if not faithful:
        error.add_note(details)
        detailed = error
    else:
        detailed.__dict__.update(error.__dict__)
    detailed.__dict__.update(_names_node=True, _details=details)
    return detailed


def error_report(
    fgraph: FunctionGraph | None,
    node: Apply,
    thunk: Any = None,
    storage_map: StorageMap | None = None,
) -> str:
    """Return the lines that are added to an error raised while `node` was computed.

    By default eleven lines: the node, its formula, its inputs, and the line that created it. With
    ``config.exception_verbosity=high`` also the clients, the graph and the content of all cells.
    """
    high = config.exception_verbosity == "high"
    lines = [f"Apply node that caused the error: {_shorten(str(node), high)}", *_formula_line(node)]
    if high and fgraph is not None:
        lines.append(f"Toposort index: {_position(fgraph, node)}")
    lines.append(f"Inputs types: {_shorten(str([variable.type for variable in node.inputs]), high)}")
    cells = getattr(thunk, "inputs_before", None) or getattr(thunk, "inputs", None)
    if cells is None and storage_map is not None:
        cells = [storage_map.get(variable, [None]) for variable in node.inputs]
    if cells is not None:
        values = [cell[0] for cell in cells]
        lines.append(f"Inputs shapes: {_shorten(str([_attribute(v, 'shape') for v in values]), high)}")
        lines.append(f"Inputs strides: {_shorten(str([_attribute(v, 'strides') for v in values]), high)}")
        shown = node.op.shown_inputs(values)
        lines.append(f"Inputs values: [{', '.join(_show_value(value, high) for value in shown)}]")
    if high and fgraph is not None:
        lines.append(f"Outputs clients: {_clients(fgraph, node)}")
    source = describe_source(getattr(node, "source", None))
    if source:
        lines.append("The node was created by:")
        lines.append(source)
    if not high:
        lines.append("HINT: set config.exception_verbosity to 'high' to see the graph and all stored values.")
        return "\n".join(lines)
    lines += ["", "The graph up to this node:", _graph_above(node)]
    if storage_map is not None:
        lines += ["", "Storage map:", *_storage_lines(storage_map)]
    return "\n".join(lines)


def _formula_line(node: Apply) -> list[str]:
    """Return the node as a formula; nothing if its own text says as much."""
    formula = formula_of(node.outputs[0]) if len(node.outputs) == 1 else None
    return [] if formula in (None, str(node)) else [f"It computes: {formula}"]


def _graph_above(node: Apply) -> str:
    # With indentation, the text of a deep graph is quadratic in its depth.
    return hooks.debugprint(node, depth=_DEEPEST_SHOWN_LEVEL, print_type=True, file="str").rstrip()


def _position(fgraph: FunctionGraph, node: Apply) -> int | None:
    try:
        return fgraph.toposort().index(node)
    except ValueError:
        return None


def _attribute(value: Any, name: str) -> Any:
    if isinstance(value, (bool, int, float, complex)):
        return ()
    return getattr(value, name, f"no {name}")


def _shorten(text: str, high: bool) -> str:
    text = text if high else " ".join(text.split())
    return text if high or len(text) <= _LONGEST_SHOWN_TEXT else text[:_LONGEST_SHOWN_TEXT] + " ..."


def is_shown(value: Any, high: bool) -> bool:
    """Return whether an error message shows a value; with high verbosity it shows all."""
    return high or not isinstance(value, np.ndarray) or value.size <= _LARGEST_SHOWN_VALUE


def _show_value(value: Any, high: bool) -> str:
    return _shorten(repr(value), high) if is_shown(value, high) else "not shown"


def _clients(fgraph: FunctionGraph, node: Apply) -> list[list[str]]:
    return [[str(client) for client, _ in fgraph.clients.get(output, ())] for output in node.outputs]


def _storage_lines(storage_map: StorageMap) -> list[str]:
    lines = []
    for variable, cell in storage_map.items():
        value = cell[0]
        size = f", {value.nbytes} bytes" if isinstance(value, np.ndarray) else ""
        lines.append(f" - {variable}: shape {_attribute(value, 'shape')}{size}, type {type(value).__name__}")
    return lines
