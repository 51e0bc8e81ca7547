"""In-place operations: validation, and an order of nodes in which values are read before they are overwritten.

An op declares ``view_map`` (an output shows the memory of an input) and ``destroy_map`` (an output is written over an
input). Variables that share memory have the same *root* (`aesara.graph.aliases`). A node that overwrites a variable
destroys its root: all other nodes that read a variable of that root have to run before.

A graph is valid if each root is destroyed by one node at most; if constants, protected variables, and roots that
outputs of the graph show, are not destroyed; if no node reads what it overwrites by another of its inputs, unless its
op tolerates that; and if the nodes have an order that satisfies the dependencies and the orderings above.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from aesara.configdefaults import config
from aesara.graph.aliases import Aliases, destroyed_inputs, viewed_inputs
from aesara.graph.features import AlreadyThere, Bookkeeper
from aesara.graph.incremental_order import CycleError, IncrementalOrder
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.traversal import io_toposort
from aesara.graph.utils import InconsistencyError


class ProtocolError(Exception):
    """The callbacks of a feature came in an order that makes no sense."""


def fast_inplace_check(fgraph: Any, inputs: list[Variable]) -> list[Variable]:
    """Return those of `inputs` that an in-place operation might overwrite.

    Constants, outputs of the graph, variables that a feature protects, and destroyed ones are excluded.

    Parameters
    ----------
    fgraph
        The graph, with a `DestroyHandler`.
    inputs
        The candidates.
    """
    protected = set(fgraph.outputs)
    for feature in fgraph._features:
        protected.update(getattr(feature, "protected", ()))
    return [
        variable
        for variable in inputs
        if not isinstance(variable, Constant) and variable not in protected and not fgraph.has_destroyers([variable])
    ]


class DestroyHandler(Aliases, Bookkeeper):
    """A feature that validates in-place operations, and orders the nodes of the graph accordingly.

    It adds ``fgraph.destroyers(variable)``, ``fgraph.has_destroyers(variables)`` and ``fgraph.destroy_handler``.

    The time to validate a change is proportional to the size of the part of the graph that it affects. For that, the
    handler records which nodes and outputs have changed since the last validation, and maintains a topological order.

    Parameters
    ----------
    do_imports_on_attach
        Whether to read the nodes that the graph has when the handler is attached.
    algo
        "regular", or "fast", which also refuses to overwrite variables with other clients, views, and results of
        in-place operations. By default it is the option ``cycle_detection``.

    Examples
    --------
    ::

        fgraph.attach_feature(DestroyHandler())
        fgraph.attach_feature(ReplaceValidate())
        fgraph.replace_validate(out, in_place_version)  # raises InconsistencyError where that is wrong
    """

    exports = ("destroyers", "has_destroyers")
    shows = ("_destroyhandler_destroyers",)
    orderings_follow_graph = True

    def __init__(self, do_imports_on_attach: bool = True, algo: str | None = None):
        self.do_imports_on_attach = do_imports_on_attach
        self.algo = algo
        self.fgraph: Any = None
        self._clear()

    def _clear(self) -> None:
        Aliases.__init__(self)
        self.destroyers: dict[Apply, None] = {}
        # The roots that each node destroys, and the inverse; outdated for the nodes in `_stale`.
        self._roots_of: dict[Apply, list[Variable]] = {}
        self._destroyers_of: dict[Variable, dict[Apply, None]] = {}
        self._stale: dict[Apply, None] = {}
        self._views_changed = False
        # Nodes and outputs that have changed since the last validation.
        self._changed: dict[Apply, None] = {}
        self._changed_outputs: dict[Variable, None] = {}
        self._was_valid = False
        # A topological order, and nodes that it may contradict because changes to their neighbours were undone.
        self._order: IncrementalOrder[Apply] | None = None
        self._unordered: dict[Apply, None] = {}

    def clone(self) -> Any:
        """Return a new handler with the same parameters."""
        return type(self)(self.do_imports_on_attach, self.algo)

    def attribute_of(self, fgraph: Any, name: str) -> Any:
        """Return the nodes that overwrite something."""
        return self.destroyers

    # Attaching

    def on_attach(self, fgraph: Any) -> None:
        """Attach the handler, and read the nodes of the graph."""
        if fgraph.has_method("destroyers"):
            raise AlreadyThere("DestroyHandler feature is already present or in conflict with another plugin.")
        if self.fgraph is not None and self.fgraph is not fgraph:
            raise Exception("A DestroyHandler instance can only serve one FunctionGraph.")
        self.fgraph = fgraph
        fgraph.destroy_handler = self
        if self.do_imports_on_attach:
            super().on_attach(fgraph)

    def on_detach(self, fgraph: Any) -> None:
        """Forget the graph."""
        if self.fgraph is not fgraph:
            raise Exception("This DestroyHandler is not attached to the given FunctionGraph.")
        self._clear()
        self.fgraph = None
        del fgraph.destroy_handler

    def on_unpickle(self, fgraph: Any) -> None:
        """Read the nodes of a graph that was just unpickled."""
        self.fgraph = fgraph
        Bookkeeper.on_attach(self, fgraph)

    def __getstate__(self) -> Any:
        return {"do_imports_on_attach": self.do_imports_on_attach, "algo": self.algo}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        self.fgraph = None
        self._clear()

    # Following the graph

    def on_import(self, fgraph: Any, node: Apply, reason: object) -> None:
        """Record a new node."""
        for output, index in viewed_inputs(node):
            self.link(node.outputs[output], node.inputs[index])
        if node.op.destroy_map:
            self.destroyers[node] = None
            self._stale[node] = None
        self._changed[node] = None

    def on_prune(self, fgraph: Any, node: Apply, reason: object) -> None:
        """Forget a node."""
        for output, index in viewed_inputs(node):
            self.unlink(node.outputs[output], node.inputs[index])
        if node in self.destroyers:
            del self.destroyers[node]
            self._forget_roots(node)
            self._stale.pop(node, None)
        self._changed.pop(node, None)
        self._unordered.pop(node, None)
        if self._order is not None:
            self._order.discard(node)

    def on_change_input(
        self,
        fgraph: Any,
        node: Apply | Literal["output"],
        i: int,
        old_r: Variable,
        new_r: Variable,
        reason: object = None,
    ) -> None:
        """Record a changed input."""
        if node == "output":
            self._changed_outputs[new_r] = None
            return
        for output, index in viewed_inputs(node):
            if index == i:
                self.unlink(node.outputs[output], old_r)
                self.link(node.outputs[output], new_r)
                # All variables that are reached through the view have another root now.
                self._views_changed = True
        if node in self.destroyers:
            self._stale[node] = None
        self._changed[node] = None

    def _forget_roots(self, node: Apply) -> None:
        for root in self._roots_of.pop(node, ()):
            destroyers = self._destroyers_of[root]
            del destroyers[node]
            if not destroyers:
                del self._destroyers_of[root]

    def _refresh(self) -> None:
        """Update the roots that nodes destroy."""
        if self._views_changed:
            self._roots_of = {}
            self._destroyers_of = {}
            stale: Iterable[Apply] = self.destroyers
        elif self._stale:
            stale = self._stale
        else:
            return
        for node in stale:
            self._forget_roots(node)
            roots = list(dict.fromkeys(self.root_of(node.inputs[index]) for _, index in destroyed_inputs(node)))
            self._roots_of[node] = roots
            for root in roots:
                self._destroyers_of.setdefault(root, {})[node] = None
        self._stale = {}
        self._views_changed = False

    def refresh_droot_impact(self) -> Any:
        """Return the destroyed roots of the whole graph.

        Returns
        -------
        droot, impact, root_destroyer : dict
            The destroyed root of each variable; the variables of each destroyed root; the node that destroys it.
        """
        self._refresh()
        droot: dict[Variable, Variable] = {}
        impact: dict[Variable, dict[Variable, None]] = {}
        root_destroyer: dict[Variable, Apply] = {}
        for root, nodes in self._destroyers_of.items():
            if len(nodes) > 1:
                raise InconsistencyError(_several_destroyers(root, nodes))
            impact[root] = self.impact_of(root)
            root_destroyer[root] = next(iter(nodes))
            for variable in impact[root]:
                droot[variable] = root
        return droot, impact, root_destroyer

    def get_destroyers_of(self, fgraph: Any, r: Variable) -> list[Apply]:
        """Return the nodes that destroy `r` or an alias of it."""
        self._refresh()
        return list(self._destroyers_of.get(self.root_of(r), ()))

    def has_destroyers(self, fgraph: Any, protected_list: Iterable[Variable]) -> bool:
        """Return whether any of the variables is destroyed."""
        self._refresh()
        return any(self.root_of(variable) in self._destroyers_of for variable in protected_list)

    def function_of(self, name: str) -> Any:
        """Return the function behind an exported name."""
        return self.get_destroyers_of if name == "destroyers" else self.has_destroyers

    # Validation

    def fast_destroy(self, fgraph: Any, app: Apply, reason: object) -> None:
        """Raise `InconsistencyError` if `app` overwrites a variable that ``cycle_detection="fast"`` protects.

        These are variables with other clients, views, and results of in-place operations.
        """
        for _, index in destroyed_inputs(app):
            variable = app.inputs[index]
            clients = fgraph.clients.get(variable, ())
            if isinstance(variable, Constant):
                raise InconsistencyError(f"{app.op} would overwrite the constant {variable}.")
            if any(client is not app for client, _ in clients):
                raise InconsistencyError(
                    f"{app.op} would overwrite {variable}, which has other clients (refused by cycle_detection='fast')."
                )
            if variable in self.view_i:
                raise InconsistencyError(
                    f"{app.op} would overwrite {variable}, which is a view (refused by cycle_detection='fast')."
                )
            if variable.owner in self.destroyers:
                raise InconsistencyError(
                    f"{app.op} would overwrite {variable}, which was written over another variable (refused by "
                    "cycle_detection='fast')."
                )

    def validate(self, fgraph: Any) -> bool:
        """Raise `InconsistencyError` if in-place operations of the graph contradict each other."""
        if self.destroyers:
            self._refresh()
            if (self.algo or config.cycle_detection) == "fast":
                for node in self._changed:
                    if node in self.destroyers:
                        self.fast_destroy(fgraph, node, "validate")
            roots = self._affected_roots()
            for root in roots:
                self._check_root(fgraph, root)
            self._check_order(fgraph, roots)
        else:
            self._order = None
        self._changed = {}
        self._changed_outputs = {}
        return True

    def on_transaction(self, fgraph: Any) -> None:
        """Remember whether the graph is known to be valid."""
        self._was_valid = not self._changed and not self._changed_outputs

    def on_rollback(self, fgraph: Any) -> None:
        """Forget changes that were undone, except for their effect on the order."""
        if self._was_valid:
            self._unordered.update(self._changed)
            self._changed = {}
            self._changed_outputs = {}

    def _affected_roots(self) -> dict[Variable, None]:
        """Return the destroyed roots that changes since the last validation affect."""
        roots: dict[Variable, None] = {}
        for node in (*self._changed, *self._unordered):
            for variable in node.inputs:
                root = self.root_of(variable)
                if root in self._destroyers_of:
                    roots[root] = None
        for variable in self._changed_outputs:
            root = self.root_of(variable)
            if root in self._destroyers_of:
                roots[root] = None
        return roots

    def _check_root(self, fgraph: Any, root: Variable) -> None:
        """Raise `InconsistencyError` if nodes that use a destroyed root contradict each other in any order."""
        nodes = self._destroyers_of[root]
        if len(nodes) > 1:
            raise InconsistencyError(_several_destroyers(root, nodes))
        (node,) = nodes
        if isinstance(root, Constant) or getattr(root._tag, "indestructible", False):
            raise InconsistencyError(f"Attempting to destroy indestructible variables: {node.op} overwrites {root}.")
        impact = self.impact_of(root)
        for variable in impact:
            if any(client == "output" for client, _ in fgraph.clients.get(variable, ())):
                raise InconsistencyError(
                    f"{node.op} overwrites {root}, whose memory the output {variable} of the graph shows."
                )
        for _, index in destroyed_inputs(node):
            if self.root_of(node.inputs[index]) is root:
                _check_aliases(node, index, impact)

    def _readers(self, fgraph: Any, root: Variable) -> dict[Apply, None]:
        """Return the nodes that read the memory of `root`."""
        return {
            client: None
            for variable in self.impact_of(root)
            for client, _ in fgraph.clients.get(variable, ())
            if client != "output"
        }

    def _check_order(self, fgraph: Any, roots: Iterable[Variable]) -> None:
        """Raise `InconsistencyError` if dependencies and orderings form a cycle."""
        try:
            if 4 * len(self._changed) > len(fgraph.apply_nodes):
                # A graph that can be sorted has no cycle. Maintaining an order is faster only for small changes.
                self._order = None
                fgraph.toposort()
                return
            if self._order is None:
                order = io_toposort(fgraph.inputs, fgraph.outputs, self.orderings(fgraph))
                self._order, self._unordered = IncrementalOrder(self._successors, self._predecessors, order), {}
                return
            self._add_changed_edges(fgraph, roots, self._order)
        except (CycleError, ValueError):
            raise InconsistencyError(
                "Dependency graph contains cycles: a value would have to be read after it was overwritten."
            ) from None

    def _add_changed_edges(self, fgraph: Any, roots: Iterable[Variable], order: IncrementalOrder[Apply]) -> None:
        """Add the edges of changed nodes, and of nodes that use affected roots, to the order."""
        changed = {**self._changed, **self._unordered}
        for node in changed:
            if node not in order:
                order.insert(node, _parents(node), self._children(node))
        for node in changed:
            for parent in _parents(node):
                order.add_edge(parent, node)
        for root in roots:
            for destroyer in self._destroyers_of[root]:
                for reader in self._readers(fgraph, root):
                    if reader is not destroyer:
                        order.add_edge(reader, destroyer)
        self._unordered = {}

    def _children(self, node: Apply) -> list[Apply]:
        clients = self.fgraph.clients
        return [client for output in node.outputs for client, _ in clients.get(output, ()) if client != "output"]

    def _successors(self, node: Apply) -> list[Apply]:
        after = self._children(node)
        for variable in node.inputs:
            destroyers = self._destroyers_of.get(self.root_of(variable))
            if destroyers:
                after.extend(destroyer for destroyer in destroyers if destroyer is not node)
        return after

    def _predecessors(self, node: Apply) -> list[Apply]:
        before = _parents(node)
        for root in self._roots_of.get(node, ()):
            before.extend(reader for reader in self._readers(self.fgraph, root) if reader is not node)
        return before

    def orderings(self, fgraph: Any, ordered: bool = True) -> dict[Apply, list[Apply]]:
        """Return the nodes that have to run before each node that overwrites a root: all others that read it."""
        self._refresh()
        orderings: dict[Apply, list[Apply]] = {}
        for node, roots in self._roots_of.items():
            before: dict[Apply, None] = {}
            for root in roots:
                before.update(self._readers(fgraph, root))
            before.pop(node, None)
            if before:
                orderings[node] = list(before)
        return orderings


def _parents(node: Apply) -> list[Apply]:
    return [variable.owner for variable in node.inputs if variable.owner is not None]


def _several_destroyers(root: Variable, nodes: Iterable[Apply]) -> str:
    names = ", ".join(str(node.op) for node in nodes)
    return f"Multiple destroyers of {root}: {names}. A value can be overwritten by one operation only."


def _check_aliases(node: Apply, destroyed: int, impact: dict[Variable, None]) -> None:
    """Raise an error if another input of `node` shares the memory of the one it destroys.

    Ops declare the pairs of inputs for which they tolerate that.
    """
    op = node.op
    same = {b for a, b in getattr(op, "destroyhandler_tolerate_same", ()) if a == destroyed} | {destroyed}
    aliased = {b for a, b in getattr(op, "destroyhandler_tolerate_aliased", ()) if a == destroyed}
    variable = node.inputs[destroyed]
    for index, other in enumerate(node.inputs):
        if index in aliased or other not in impact:
            continue
        if index not in same or other is not variable:
            raise InconsistencyError(
                f"Input aliasing: input {index} of {op} shares the memory of input {destroyed}, which it overwrites."
            )
