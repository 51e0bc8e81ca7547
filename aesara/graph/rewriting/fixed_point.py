"""A last look of early passes at what late passes have changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, AtomicVariable, Variable
from aesara.graph.rewriting.db import RewriteDatabase, does_nothing
from aesara.graph.rewriting.equilibrium import EquilibriumGraphRewriter, WorkList
from aesara.graph.rewriting.merge import HashConsTable
from aesara.graph.rewriting.rewriter import GraphRewriter

#: Settling ends after so many rounds, whatever they still change.
MOST_ROUNDS = 8


class Changes(WorkList):
    """The nodes that are new, or have changed, and how many of them each pass has seen."""

    def __init__(self) -> None:
        super().__init__(())
        self._seen: dict[str, tuple[int, int, int]] = {}

    def mark(self, name: str) -> None:
        """Record the end of a pass: `since_mark` returns later changes."""
        self._seen[name] = (len(self.imported), len(self.changed), len(self.lost_client))

    def since_mark(self, name: str) -> WorkList | None:
        """Return the changes since a pass was last marked; None if it never was."""
        if name not in self._seen:
            return None
        imported, changed, lost_client = self._seen[name]
        work = WorkList(())
        work.imported = self.imported[imported:]
        work.changed = self.changed[changed:]
        work.lost_client = self.lost_client[lost_client:]
        return work

    @classmethod
    def of(cls, fgraph: FunctionGraph) -> Changes | None:
        """Return the `Changes` attached to a graph, or None."""
        return next((feature for feature in fgraph._features if isinstance(feature, cls)), None)


class ChangesSincePass(GraphRewriter):
    """Records which nodes are new, or have changed, since the pass that has just ended.

    Parameters
    ----------
    after
        The name of that pass.
    """

    def __init__(self, after: str):
        self.after = after

    def apply(self, fgraph: FunctionGraph) -> None:
        changes = Changes.of(fgraph)
        if changes is None:
            changes = Changes()
            fgraph.attach_feature(changes)
        changes.mark(self.after)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Nothing: the list is attached when the pass is reached."""


class Effect(Feature):
    """Net change of a graph since `begin`, over any number of replacements."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget the recorded changes."""
        self.is_new: dict[Apply, bool] = {}
        self.first_inputs: dict[tuple[Apply | str, int], Variable] = {}

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        self.is_new.setdefault(node, True)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        self.is_new.setdefault(node, False)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        self.first_inputs.setdefault((node, i), r)

    def is_identity(self, fgraph: FunctionGraph) -> bool:
        """Return whether the outputs are still computed by the same operations, if perhaps by other nodes."""
        numbers = Numbers(self, fgraph)
        for (node, i), before in self.first_inputs.items():
            if isinstance(node, str):
                now = fgraph.outputs[i]
            elif node in fgraph.apply_nodes and not self.is_new.get(node):
                now = node.inputs[i]
            else:
                continue
            if now is not before and numbers[now] != numbers[before]:
                return False
        return True


class Numbers:
    """Gives equal computations equal numbers, those that have left a graph and those that have come into it."""

    def __init__(self, effect: Effect, fgraph: FunctionGraph):
        self.effect = effect
        self.fgraph = fgraph
        self.of_variable: dict[Variable, int] = {}
        self.of_computation: dict[Any, int] = {}
        self.atoms = HashConsTable()

    def __getitem__(self, wanted: Variable) -> int:
        known = self.of_variable
        stack = [wanted]
        while stack:
            var = stack[-1]
            inputs = None if var in known else self._inputs(var)
            missing = [v for v in inputs or () if v not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if var not in known:
                known[var] = self.of_computation.setdefault(self._key(var, inputs), len(self.of_computation))
        return known[wanted]

    def _inputs(self, var: Variable) -> Sequence[Variable] | None:
        """Return the inputs of a variable's node if the node was added or removed since the beginning, else None."""
        node = var.owner
        if node is None:
            return None
        new = self.effect.is_new.get(node)
        if new is None or new != (node in self.fgraph.apply_nodes):
            return None
        if new:
            return node.inputs
        return [self.effect.first_inputs.get((node, i), v) for i, v in enumerate(node.inputs)]

    def _key(self, var: Variable, inputs: Sequence[Variable] | None) -> Any:
        if inputs is not None and var.owner is not None:
            return (var.owner.op, var.index, *(self.of_variable[v] for v in inputs))
        if isinstance(var, AtomicVariable):
            self.atoms.add_atom(var)
            return self.atoms.representative[var]
        return var


class Settling(GraphRewriter):
    """Applies each of several passes again to what has changed since it ended, and so on while that has an effect.

    Passes run one after the other. A late one may leave an expression that an early one has rules for; looking only
    at the nodes that changed costs little, and the graph that comes out is one that the passes leave as it is.
    Canonical and fast forms of an expression take turns in each round, which is no effect: it ends like this.

    What rules learn from features may also be better now than when they asked (`ask_again`).

    Parameters
    ----------
    rewriters
        The passes by their names. One that is not watched is left out.
    """

    def __init__(self, rewriters: Mapping[str, GraphRewriter]):
        self.rewriters = dict(rewriters)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        for rewriter in self.rewriters.values():
            rewriter.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> None:
        changes = Changes.of(fgraph)
        if changes is None:
            return
        effect = Effect()
        fgraph.attach_feature(effect)
        for _ in range(MOST_ROUNDS):
            effect.begin()
            for answered in fgraph.collect_callbacks("ask_again", fgraph).values():
                users = [node for var in answered for node, _ in fgraph.clients[var] if isinstance(node, Apply)]
                changes.changed += users
            for name, rewriter in self.rewriters.items():
                work = changes.since_mark(name)
                if work is not None:
                    self._rerun(fgraph, rewriter, work)
                    # A pass does not run again because of its own changes.
                    changes.mark(name)
            if effect.is_identity(fgraph):
                break
        fgraph.remove_feature(effect)
        fgraph.remove_feature(changes)

    @staticmethod
    def _rerun(fgraph: FunctionGraph, rewriter: GraphRewriter, work: WorkList) -> None:
        if not isinstance(rewriter, EquilibriumGraphRewriter):
            alive = fgraph.apply_nodes
            found = dict.fromkeys([*work.imported, *work.changed, *work.lost_client])
            if rewriter.is_worth_repeating(fgraph, [node for node in found if node in alive]):
                rewriter.apply(fgraph)
            return
        work.settle(fgraph)
        outputs = [output for node in work.queue for output in node.outputs]
        if outputs:
            rewriter.apply(fgraph, start_from=outputs)


class SettlingDB(RewriteDatabase):
    """Makes a `Settling` of what databases of passes answer to a query."""

    def __init__(self, *databases: RewriteDatabase):
        super().__init__()
        self.databases = databases

    def query(self, *tags: Any, **kwtags: Any) -> Settling:
        answers = {str(database.name): database.query(*tags, **kwtags) for database in self.databases}
        return Settling({name: rewriter for name, rewriter in answers.items() if not does_nothing(rewriter)})
