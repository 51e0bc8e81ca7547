"""Merging of equal computations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import IO, Any

from aesara import clock
from aesara.graph.features import AlreadyThere, Feature, attach_once
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, AtomicVariable, Variable
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.graph.utils import InconsistencyError


class HashConsTable:
    """Gives equal computations one representative.

    Two nodes are equal when their ops are equal and the representatives of their inputs are the
    same. Each node costs one look-up, so that a graph costs time linear in its size.

    Attributes
    ----------
    nodes
        Representatives of nodes, by their ops and the representatives of their inputs.
    atoms
        Representatives of constants, by their values.
    representative
        Representatives of constants, and of outputs of nodes that are not representatives.
    """

    def __init__(self) -> None:
        self.nodes: dict[tuple[Any, ...], Apply] = {}
        self.atoms: dict[Any, Variable] = {}
        self.representative: dict[Variable, Variable] = {}

    def add_atom(self, var: AtomicVariable) -> None:
        """Look at a constant (or another variable whose value is its identity)."""
        if var in self.representative:
            return
        try:
            # The class stands first: an equal signature of another kind is no match.
            key = (type(var), var.merge_signature())
            first = self.atoms.setdefault(key, var)
        except TypeError:
            first = var  # a value that cannot be hashed is equal to itself only
        self.representative[var] = first

    def add_node(self, node: Apply) -> tuple[Any, ...] | None:
        """Look at a node whose inputs have been looked at; return its key if it is a representative."""
        known = self.representative
        parts: list[Any] = [node.op]
        for var in node.inputs:
            first_of_var = known.get(var)
            if first_of_var is None:
                if isinstance(var, AtomicVariable):
                    self.add_atom(var)
                    first_of_var = known[var]
                else:
                    first_of_var = var
            parts.append(id(first_of_var))
        key = tuple(parts)
        first = self.nodes.setdefault(key, node)
        if first is node:
            return key
        for old, new in zip(node.outputs, first.outputs):
            # A representative must promise at least as much as what it stands for.
            if old.type == new.type or old.type.is_super(new.type):
                known[old] = known.get(new, new)
        return None


class MergeFeature(Feature):
    """The nodes of a graph whose equal computations a `MergeOptimizer` keeps merged.

    A node is known from when it is looked at until it changes or leaves the graph. Its key has the identities of its
    inputs: as long as it is known, no other variable can have them.
    """

    shows = ("merge_feature",)

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Have the whole graph looked at next time."""
        self._table = HashConsTable()
        self._keys: dict[Apply, tuple[Any, ...]] = {}
        self._unknown: dict[Apply, None] | None = None  # None: all nodes

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "merge_feature"):
            raise AlreadyThere()
        self.forget()

    def attribute_of(self, fgraph: FunctionGraph, name: str) -> MergeFeature:
        return self

    def clone(self) -> MergeFeature:
        return type(self)()

    @property
    def dirty(self) -> bool:
        """Return whether the graph has nodes to look at."""
        return self._unknown is None or bool(self._unknown)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        if self._unknown is None:
            return
        if not isinstance(node, Apply):
            if isinstance(new_r, AtomicVariable):
                self.forget()
            return
        key = self._keys.get(node)
        # The key of a user of what is merged has the representative already.
        if key is None or key[i + 1] != id(new_r):
            self._remove(node)
            self._unknown[node] = None

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        if self._unknown is not None:
            self._unknown[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        if self._unknown is not None:
            self._remove(node)
            self._unknown.pop(node, None)

    def _remove(self, node: Apply) -> None:
        key = self._keys.pop(node, None)
        if key is not None:
            del self._table.nodes[key]

    def find_equal(self, fgraph: FunctionGraph) -> list[tuple[Variable, Variable]]:
        """Look at the nodes that are not known.

        Returns
        -------
        list of pair of Variable
            Variables and their representatives, inputs before what is computed from them. All are to be replaced, or
            `forget` must be called.
        """
        table = self._table
        table.representative = {}
        if self._unknown is None:
            nodes = fgraph.toposort()
            for var in fgraph.outputs:
                if isinstance(var, AtomicVariable):
                    table.add_atom(var)
        else:
            nodes = _inputs_first(self._unknown)
            # A constant that has left the graph represents no others.
            table.atoms = {value: var for value, var in table.atoms.items() if var in fgraph.variables}
        self._unknown = {}
        for node in nodes:
            key = table.add_node(node)
            if key is not None:
                self._keys[node] = key
        return [(old, new) for old, new in table.representative.items() if old is not new]


def _inputs_first(nodes: Collection[Apply]) -> list[Apply]:
    """Return nodes in such an order that those that compute inputs of others come before these."""
    order: dict[Apply, None] = {}
    entered: set[Apply] = set()
    for start in nodes:
        stack = [start]
        while stack:
            node = stack[-1]
            before: list[Apply] = []
            if node not in entered:
                entered.add(node)
                parents = [v.owner for v in node.inputs if v.owner is not None]
                before = [parent for parent in parents if parent in nodes and parent not in entered]
            if before:
                stack += before
            else:
                stack.pop()
                order[node] = None
    return list(order)


class MergeOptimizer(GraphRewriter):
    """Merges equal constants, and nodes that apply equal ops to the same inputs.

    One pass, inputs first, by hash-consing: the time is linear in the size of the graph, and later in the number of
    nodes that came or changed since the last pass.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> fgraph = FunctionGraph([x], [at.exp(x) + at.exp(x)])
    >>> _ = MergeOptimizer().rewrite(fgraph)
    >>> len(fgraph.apply_nodes)
    2
    """

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        attach_once(fgraph, MergeFeature)

    def apply(self, fgraph: FunctionGraph) -> tuple[Any, ...]:
        start = clock.now()
        before = len(fgraph.apply_nodes)
        merged = self._merge(fgraph, getattr(fgraph, "merge_feature", None) or MergeFeature())
        return (clock.now() - start, merged, before, len(fgraph.apply_nodes))

    def _merge(self, fgraph: FunctionGraph, feature: MergeFeature) -> int:
        merged = 0
        while feature.dirty:
            pairs = feature.find_equal(fgraph)
            if not pairs:
                break
            if not all(new in fgraph.variables for _, new in pairs):
                feature.forget()
            # Users first: what only a merged node used has left the graph by its turn.
            pairs.reverse()
            try:
                merged += self._replace(fgraph, pairs)
            except InconsistencyError:
                # Nothing was changed. Some merge is forbidden (an input that is destroyed): find out.
                merged += sum(self._replace_allowed(fgraph, pair) for pair in pairs)
                feature.forget()
                break
        return merged

    @staticmethod
    def _replace(fgraph: FunctionGraph, pairs: Sequence[tuple[Variable, Variable]]) -> int:
        clients = fgraph.clients
        wanted = [pair for pair in pairs if clients.get(pair[0]) and pair[1] in fgraph.variables]
        fgraph.replace_all_validate(wanted, reason="MergeOptimizer")
        return len(wanted)

    def _replace_allowed(self, fgraph: FunctionGraph, pair: tuple[Variable, Variable]) -> int:
        try:
            return self._replace(fgraph, [pair])
        except InconsistencyError:
            return 0

    @staticmethod
    def print_profile(stream: IO[str] | None = None, prof: Any = None, level: int = 0) -> None:
        if prof is None:
            return
        seconds, merged, before, after = prof
        print(
            f"{'    ' * level}MergeOptimizer time {seconds:.6f}s merged {merged}, nodes {before} -> {after}",
            file=stream,
        )

    @staticmethod
    def merge_profile(prof1: Any, prof2: Any) -> Any:
        """One profile out of two: the numbers are added."""
        return tuple(a + b for a, b in zip(prof1, prof2))


def pre_constant_merge(fgraph: FunctionGraph, variables: Sequence[Variable]) -> Sequence[Variable]:
    """Merge equal constants in the graphs of variables that are not in a `FunctionGraph` yet.

    Parameters
    ----------
    fgraph
        A graph; its nodes are left alone.
    variables
        The variables, or one of them. Inputs of their nodes are changed in place; the first of equal constants,
        inputs before what they are inputs of, stands for the others.

    Returns
    -------
    list of Variable
        The variables, with constants replaced by their representatives.
    """
    if isinstance(variables, Variable):
        variables = [variables]
    table = HashConsTable()

    def representative(var: Variable) -> Variable:
        if isinstance(var, AtomicVariable):
            table.add_atom(var)
            return table.representative[var]
        return var

    known = fgraph.apply_nodes if fgraph is not None else ()
    entered: set[Apply] = set()
    stack = [var.owner for var in reversed(variables) if var.owner is not None]
    while stack:
        node = stack[-1]
        if node in entered or node in known:
            stack.pop()
            if node not in known:
                node.inputs = [representative(var) for var in node.inputs]
        else:
            entered.add(node)
            parents = [var.owner for var in reversed(node.inputs) if var.owner is not None]
            stack += [parent for parent in parents if parent not in entered]
    return [representative(var) for var in variables]
