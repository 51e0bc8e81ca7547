"""Merging of equal computations."""

from __future__ import annotations

from collections.abc import Sequence
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
    """

    def __init__(self) -> None:
        self.nodes: dict[tuple[Any, ...], Apply] = {}
        self.atoms: dict[Any, Variable] = {}
        self.representative: dict[Variable, Variable] = {}

    def add_atom(self, var: Variable) -> None:
        """Look at a constant (or another variable whose value is its identity)."""
        if var in self.representative:
            return
        try:
            # The class stands first: an equal signature of another kind is no match.
            key = (type(var), var.merge_signature())  # type: ignore[attr-defined]
            first = self.atoms.setdefault(key, var)
        except TypeError:
            first = var  # a value that cannot be hashed is equal to itself only
        self.representative[var] = first

    def add_node(self, node: Apply) -> None:
        """Look at a node whose inputs have been looked at."""
        known = self.representative
        key: list[Any] = [node.op]
        for var in node.inputs:
            first_of_var = known.get(var)
            if first_of_var is None:
                if isinstance(var, AtomicVariable):
                    self.add_atom(var)
                    first_of_var = known[var]
                else:
                    first_of_var = var
            key.append(id(first_of_var))
        first = self.nodes.setdefault(tuple(key), node)
        if first is node:
            return
        for old, new in zip(node.outputs, first.outputs):
            # A representative must promise at least as much as what it stands for.
            if old.type == new.type or old.type.is_super(new.type):
                known[old] = known.get(new, new)


class MergeFeature(Feature):
    """Marks a graph whose equal computations a `MergeOptimizer` keeps merged."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if hasattr(fgraph, "merge_feature"):
            raise AlreadyThere()
        fgraph.merge_feature = self  # type: ignore[attr-defined]
        self.dirty = True

    def clone(self) -> MergeFeature:
        return type(self)()

    def on_change_input(
        self, fgraph: FunctionGraph, node: Any, i: int, r: Variable, new_r: Variable, reason: Any = None
    ) -> None:
        self.dirty = True

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.dirty = True

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Nothing left behind: each run of the optimizer starts from the graph as it is."""


class MergeOptimizer(GraphRewriter):
    """Merges equal constants, and nodes that apply equal ops to the same inputs.

    One pass, inputs first, by hash-consing: the time is linear in the size of the graph. A graph
    that has not changed since the last pass is not looked at again.

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
        feature = getattr(fgraph, "merge_feature", None)
        merged = 0
        if feature is None or feature.dirty:
            merged = self._merge(fgraph)
            if feature is not None:
                feature.dirty = False
        return (clock.now() - start, merged, before, len(fgraph.apply_nodes))

    def _merge(self, fgraph: FunctionGraph) -> int:
        table = HashConsTable()
        for var in fgraph.inputs:
            if not isinstance(var, AtomicVariable):
                table.representative[var] = var
        order = fgraph.toposort()
        for node in order:
            table.add_node(node)
        for var in fgraph.outputs:
            if isinstance(var, AtomicVariable):
                table.add_atom(var)
        pairs = [(old, new) for old, new in table.representative.items() if old is not new]
        if not pairs:
            return 0
        # Users first: what only a merged node used has left the graph by its turn.
        pairs.reverse()
        try:
            return self._replace(fgraph, pairs)
        except InconsistencyError:
            # Nothing was changed. Some merge is forbidden (an input that is destroyed): find out.
            return sum(self._replace_allowed(fgraph, pair) for pair in pairs)

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

    def merged(var: Variable) -> Variable:
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
                node.inputs = [merged(var) for var in node.inputs]
        else:
            entered.add(node)
            parents = [var.owner for var in reversed(node.inputs) if var.owner is not None]
            stack += [parent for parent in parents if parent not in entered]
    return [merged(var) for var in variables]
