"""Text trees of graphs: `debugprint`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import field
from functools import singledispatch
from io import StringIO
from typing import Any, Literal, TextIO

from aesara.compile.function.function import Function
from aesara.graph import hooks
from aesara.graph.fg import FunctionGraph
from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply, NominalVariable, Variable
from aesara.graph.op import Op
from aesara.graph.shared import SharedVariable
from aesara.printing.graph_parts import outer_positions
from aesara.printing.identifiers import ID_TYPES, IDTypesType, identifier, owner_or_self
from aesara.printing.node_times import LEGEND, times_of
from aesara.records import dataclass
from aesara.user_code import warn_user


@singledispatch
def op_debug_information(op: Op, node: Apply) -> dict[Apply, dict[Variable, str]]:
    """Return remarks on the inputs and outputs of a node for ``debugprint(print_op_info=True)``.

    Functions for classes of ops are registered with ``op_debug_information.register``.
    """
    return {}


@dataclass
class _Options:
    """Options of `debugprint`."""

    depth: int
    print_type: bool
    id_type: str
    stop_on_name: bool
    print_op_info: bool
    print_destroy_map: bool
    print_view_map: bool
    print_default_updates: bool
    python: dict[Apply, str]
    times: dict[Apply, str]


@dataclass
class _Root:
    """A variable at the root of a tree."""

    variable: Variable
    storage_map: dict[Variable, list[object]] | None = None
    order: dict[Apply, int] | None = None


@dataclass
class _Printer:
    """Prints trees with common identifiers, and collects the graphs to print after them."""

    options: _Options
    file: TextIO
    used_ids: dict[object, str]
    done: dict[object, str]
    inner_nodes: list[Variable] = field(default_factory=list)
    default_updates: list[Variable] = field(default_factory=list)
    information: dict[Any, dict[Variable, str]] = field(default_factory=dict)

    def tree(
        self,
        root: Variable,
        marker: str = " |",
        first: str = "",
        storage_map: dict[Variable, list[object]] | None = None,
        order: dict[Apply, int] | None = None,
        inner: _Inner | None = None,
        reader: Apply | None = None,
    ) -> None:
        """Print a variable and, below it, its expression.

        Parameters
        ----------
        marker
            The prefix of the lines below the root.
        first
            The prefix of the line of the root.
        """
        options = self.options
        # Entries: variable, prefix of its line, prefix of the lines below it, level, node that reads it.
        pending: list[tuple[Variable, str, str, int, Apply | None]] = [(root, first, marker[:-1], 1, reader)]
        while pending:
            variable, prefix, below, level, reader = pending.pop()
            if options.depth != -1 and level > options.depth:
                continue
            node = variable.owner
            if node is None:
                self._write(prefix + self._leaf_line(variable, storage_map, inner, reader))
                continue
            expanded = node in self.done
            self._write(prefix + self._node_line(variable, storage_map, order, reader))
            if expanded:
                continue
            self.done[node] = self.used_ids.get(node, "")
            if isinstance(node.op, HasInnerGraph) and not any(one.owner is node for one in self.inner_nodes):
                self.inner_nodes.append(variable)
            if options.stop_on_name and variable.name is not None:
                continue
            last = len(node.inputs) - 1
            for position in range(last, -1, -1):
                beneath = below + ("| " if position < last else "  ")
                pending.append((node.inputs[position], f"{below}|", beneath, level + 1, node))

    def _write(self, line: str) -> None:
        self.file.write(line.rstrip() + "\n")

    def _node_line(
        self,
        variable: Variable,
        storage_map: dict[Variable, list[object]] | None,
        order: dict[Apply, int] | None,
        reader: Apply | None,
    ) -> str:
        options = self.options
        node = variable.owner
        assert node is not None
        label = str(node.op) if len(node.outputs) == 1 else f"{node.op}.{variable.index}"
        parts = [label, identifier(node, variable, options.id_type, self.used_ids)]
        if options.print_type:
            parts.append(f"<{variable.type}>")
        if variable.name is not None:
            parts.append(f"'{variable.name}'")
        if options.print_destroy_map and node.op.destroy_map:
            parts.append(f"d={node.op.destroy_map}")
        if options.print_view_map and node.op.view_map:
            parts.append(f"v={node.op.view_map}")
        if order is not None and node in order:
            parts.append(str(order[node]))
        if options.print_op_info and node not in self.information:
            self.information.update(op_debug_information(node.op, node))
            self.information.setdefault(node, {})
        if node in options.python:
            parts.append(f"(Python: {options.python[node]})")
        parts.append(self._remark(node, variable) or self._remark(reader, variable))
        parts.append(options.times.get(node, ""))
        if storage_map is not None:
            parts.append(str(storage_map.get(variable, "<not in storage_map>")))
        return " ".join(part for part in parts if part)

    def _leaf_line(
        self,
        variable: Variable,
        storage_map: dict[Variable, list[Any]] | None,
        inner: _Inner | None,
        reader: Apply | None,
    ) -> str:
        options = self.options
        parts = [str(variable), identifier(variable, variable, options.id_type, self.used_ids)]
        if options.print_type:
            parts.append(f"<{variable.type}>")
        if inner is not None and variable in inner.outer:
            outer = inner.outer[variable]
            parts.append(f"-> {identifier(owner_or_self(outer), outer, options.id_type, self.used_ids)}")
        if options.print_default_updates and isinstance(variable, SharedVariable):
            update = getattr(variable, "default_update", None)
            if update is not None:
                if not any(one is update for one in self.default_updates):
                    self.default_updates.append(update)
                parts.append(f"<- {identifier(owner_or_self(update), update, options.id_type, self.used_ids)}")
        if options.print_op_info:
            within = None if inner is None else inner.node
            parts.append(self._remark(reader, variable) or self._remark(within, variable))
        if storage_map is not None:
            parts.append(str(storage_map.get(variable, "<not in storage_map>")))
        return " ".join(part for part in parts if part)

    def _remark(self, node: Apply | None, variable: Variable) -> str:
        """Return the remark of the op of `node` on one of its inputs or outputs."""
        if node is None or not self.options.print_op_info:
            return ""
        text = self.information.get(node, {}).get(variable, "")
        return f"({text})" if text and not text.startswith("(") else text

    def inner_graphs(self, print_fgraph_inputs: bool) -> None:
        """Print the inner graphs of ops, and those nested in them."""
        printed = 0
        while printed < len(self.inner_nodes):
            if printed == 0:
                self.file.write("\nInner graphs:\n")
            outer = self.inner_nodes[printed]
            printed += 1
            self.file.write("\n")
            self._inner_graph(outer, print_fgraph_inputs)

    def _inner_graph(self, outer: Variable, print_fgraph_inputs: bool) -> None:
        node = outer.owner
        assert node is not None
        op: Any = node.op
        self._write(self._node_line(outer, None, None, None))
        graph = getattr(op, "fgraph", None)
        inputs = list(graph.inputs) if graph is not None else list(op.inner_inputs)
        outputs = list(graph.outputs) if graph is not None else list(op.inner_outputs)
        positions = outer_positions(node, inputs)
        if all(isinstance(v, NominalVariable) and v.id == k for v, k in positions.items()):
            positions = {}  # the names of nominal variables contain the positions of the inputs
        inner = _Inner(node, {v: node.inputs[k] for v, k in positions.items()})
        if print_fgraph_inputs:
            for variable in inputs:
                self._write("-" + self._leaf_line(variable, None, inner, node))
        for variable in outputs:
            self.tree(variable, marker=" > |", first=" >", inner=inner, reader=node)


@dataclass
class _Inner:
    """Context of an inner graph: its node, and the inputs of the node by inner inputs."""

    node: Apply
    outer: dict[Variable, Variable]


def _roots_of(
    graph: Any, print_storage: bool, inputs: list[tuple[object, object]], print_topo_order: bool = True
) -> list[_Root]:
    """Return the roots of a graph given to `debugprint`, and append its inputs to `inputs`."""
    if isinstance(graph, Variable):
        return [_Root(graph)]
    if isinstance(graph, Apply):
        return [_Root(variable) for variable in graph.outputs]
    storage_map = None
    if isinstance(graph, Function):
        if print_storage:
            storage_map = getattr(graph.vm, "storage_map", None)
        graph = graph.maker.fgraph
    if isinstance(graph, FunctionGraph):
        nodes = list(graph.toposort())
        order = {node: index for index, node in enumerate(nodes)} if print_topo_order else None
        inputs.extend((variable, storage_map) for variable in graph.inputs)
        return [_Root(variable, storage_map, order) for variable in graph.outputs]
    raise TypeError(
        f"debugprint cannot print an object of type {type(graph).__name__}: {graph!r}. "
        "It prints variables, Apply nodes, functions, FunctionGraphs, and lists of them."
    )


def _python_nodes(graph: Any) -> Iterator[tuple[Apply, str]]:
    """Iterate over the nodes of a compiled function that run in Python, with reasons."""
    if not isinstance(graph, Function):
        return
    if graph._native is not None:
        yield from graph._native.report.python_nodes.items()
        return
    if graph._why_in_python is not None:
        reason = graph._declined or "the mode's linker"
        for node in graph.maker.fgraph.apply_nodes:
            yield node, reason


def debugprint(
    graph_like: object,
    depth: int = -1,
    print_type: bool = False,
    file: Literal["str"] | TextIO | None = None,
    id_type: IDTypesType = "CHAR",
    stop_on_name: bool = False,
    done: dict[object, str] | None = None,
    print_storage: bool = False,
    used_ids: dict[object, str] | None = None,
    print_op_info: bool = False,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_fgraph_inputs: bool = False,
    print_default_updates: bool = False,
    ids: IDTypesType | None = None,
    print_topo_order: bool = True,
    print_native: bool = False,
) -> str | TextIO:
    """Print a graph as a tree, one line per variable, with operands below it.

    A node that occurs again is printed as one line with the same identifier.  Outputs of nodes with several outputs
    have their position after a dot.  For functions, the number at the end of a line is the position of the node in
    the order of execution, followed by times if the function has a profile.

    Parameters
    ----------
    graph_like
        A variable, an Apply, a function, a `FunctionGraph`, or a list of them.
    depth
        Number of levels to print; -1 for all.
    print_type
        Print the types of variables.
    file
        A file to print to, ``"str"`` to get a string, or None for the standard output.
    id_type
        The kind of identifiers: ``"CHAR"`` for letters, ``"int"`` for numbers, ``"id"`` for Python's ids, ``"auto"``
        for automatic names of variables, ``""`` for none.
    stop_on_name
        Print nothing below named variables.
    done
        Nodes that are not expanded again; new ones are added, so that several calls can share it.
    print_storage
        Print the values in the storage of a function.
    used_ids
        Identifiers of nodes; new ones are added, so that several calls can share them.
    print_op_info
        Print remarks of ops on their inputs and outputs.
    print_destroy_map, print_view_map
        Print the inputs that ops overwrite, and the outputs that are views.
    print_fgraph_inputs
        Print the inputs of graphs first.
    print_default_updates
        Print the default updates of shared variables.
    ids
        Old name of `id_type`.
    print_topo_order
        Print positions in the order of execution.
    print_native
        Print the reasons why nodes of compiled functions run in Python; see `explain`.

    Returns
    -------
    str or file
        The string, if ``file="str"``, otherwise the file.

    Examples
    --------
    >>> x = aesara.tensor.dvector("x")
    >>> _ = debugprint((x + x) * x)
    Elemwise{mul,no_inplace} [id A]
     |Elemwise{add,no_inplace} [id B]
     | |x [id C]
     | |x [id C]
     |x [id C]
    """
    if ids is not None:
        warn_user("`ids` is deprecated; use `id_type` instead.", DeprecationWarning)
        id_type = ids
    if not isinstance(depth, int):
        raise TypeError(f"depth parameter must be an int, got {depth!r}")
    if id_type not in ID_TYPES:
        raise ValueError(f"Unknown id_type {id_type!r}; choose one of {ID_TYPES}.")
    target: TextIO = sys.stdout if file is None else StringIO() if file == "str" else file

    graphs = list(graph_like) if isinstance(graph_like, (list, tuple, set)) else [graph_like]
    inputs: list[tuple[Any, Any]] = []
    roots = [root for graph in graphs for root in _roots_of(graph, print_storage, inputs, print_topo_order)]
    options = _Options(
        depth,
        print_type,
        id_type,
        stop_on_name,
        print_op_info,
        print_destroy_map,
        print_view_map,
        print_default_updates,
        {node: reason for graph in graphs for node, reason in _python_nodes(graph)} if print_native else {},
        {node: text for graph in graphs if isinstance(graph, Function) for node, text in times_of(graph).items()},
    )
    printer = _Printer(options, target, {} if used_ids is None else used_ids, {} if done is None else done)
    if options.times:
        target.write(LEGEND)
    if print_fgraph_inputs:
        for variable, storage_map in inputs:
            printer._write("-" + printer._leaf_line(variable, storage_map, None, None))
    for root in roots:
        printer.tree(root.variable, storage_map=root.storage_map, order=root.order)
    printer.inner_graphs(print_fgraph_inputs)
    if printer.default_updates:
        target.write("\nDefault updates:\n")
        printed = 0
        while printed < len(printer.default_updates):
            target.write("\n")
            printer.tree(printer.default_updates[printed])
            printed += 1
    if isinstance(target, StringIO) and file == "str":
        return target.getvalue()
    target.flush()
    return target


def get_node_by_id(
    graphs: Any, target_var_id: str, id_types: IDTypesType = "CHAR"
) -> Literal["output"] | Variable | Apply | None:
    """Return the node that `debugprint` prints with an identifier, or None.

    Parameters
    ----------
    graphs
        The printed graphs.
    target_var_id
        The identifier, without brackets: ``"C"``.
    id_types
        The `id_type` it was printed with.
    """
    used_ids: dict[Any, str] = {}
    debugprint(graphs, file="str", id_type=id_types, used_ids=used_ids)
    wanted = f"[id {target_var_id}]"
    for node, text in used_ids.items():
        if text == wanted:
            return node
    return None


hooks.debugprint.set(debugprint)
