"""Alias analysis of a function's inputs and outputs, and copies of outputs that must not alias."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aesara.compile.io import SymbolicInput, SymbolicOutput
from aesara.compile.ops import deep_copy_op
from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.utils import InconsistencyError


class AliasedMemoryError(Exception):
    """Memory is shared where that is not allowed."""


class Supervisor(Feature):
    """Refuses changes of a graph that would overwrite protected inputs.

    Parameters
    ----------
    protected
        Inputs of the graph that no operation may overwrite. Where a graph has several supervisors, all that any of
        them names is protected.
    """

    shows = ("_supervisor_protected",)

    def __init__(self, protected: Iterable[Variable]) -> None:
        self.fgraph: FunctionGraph | None = None
        self.protected = list(protected)

    def clone(self) -> Supervisor:
        return type(self)(self.protected)

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph

    def on_detach(self, fgraph: FunctionGraph) -> None:
        self.fgraph = None

    def attribute_of(self, fgraph: FunctionGraph, name: str) -> set[Variable]:
        """Return what the supervisors of the graph protect."""
        supervisors = [feature for feature in fgraph._features if isinstance(feature, Supervisor)]
        return {variable for supervisor in supervisors for variable in supervisor.protected}

    def validate(self, fgraph: FunctionGraph) -> bool:
        # Only a graph with a destroy handler can have operations that overwrite something.
        has_destroyers = getattr(fgraph, "has_destroyers", None)
        if has_destroyers is not None and has_destroyers(self.protected):
            destroyed = ", ".join(str(variable) for variable in self.protected if has_destroyers([variable]))
            raise InconsistencyError(f"Trying to destroy protected variables: {destroyed}.")
        return True


def _aliased_inputs(variable: Variable, overwritten: bool = False) -> Sequence[Variable]:
    """The variables whose memory `variable` may be a view of, one step up; or that it has been written over."""
    node = variable.owner
    if node is None or not (node.op.view_map or (overwritten and node.op.destroy_map)):
        return ()
    index = node.outputs.index(variable)
    positions = [*node.op.view_map.get(index, ()), *(node.op.destroy_map.get(index, ()) if overwritten else ())]
    return [node.inputs[position] for position in positions]


def alias_root(v: Variable) -> Variable:
    """Return the variable that owns the memory of `v`: itself, or the end of its chain of views."""
    viewed = _aliased_inputs(v)
    while viewed:
        if len(viewed) > 1:
            raise NotImplementedError(f"{v.owner} is a view of more than one input: {list(viewed)}")
        v = viewed[0]
        viewed = _aliased_inputs(v)
    return v


def memory_owners(variable: Variable, overwritten: bool = False) -> set[Variable]:
    """Like `alias_root`, for operations whose output may be a view of one of several inputs.

    With `overwritten`, what an operation in place has overwritten counts as the owner of its result, too.
    """
    owners: set[Variable] = set()
    seen = {variable}
    pending = [variable]
    while pending:
        current = pending.pop()
        viewed = _aliased_inputs(current, overwritten)
        if not viewed:
            owners.add(current)
        for source in viewed:
            if source not in seen:
                seen.add(source)
                pending.append(source)
    return owners


def view_tree_set(fgraph: FunctionGraph, v: Variable, treeset: set[Variable]) -> None:
    """Add to `treeset` the variable `v` and everything in the graph that may be a view of it."""
    pending = [v]
    treeset.add(v)
    while pending:
        current = pending.pop()
        for client, position in fgraph.clients.get(current, ()):
            if not isinstance(client, Apply):
                continue
            view_map = getattr(client.op, "view_map", None)
            for output_index, positions in (view_map or {}).items():
                view = client.outputs[output_index]
                if position in positions and view not in treeset:
                    treeset.add(view)
                    pending.append(view)


def infer_reuse_pattern(fgraph: FunctionGraph, outputs_to_disown: Iterable[Variable]) -> list[Variable]:
    """Return the computed variables whose memory leaves the function with the given outputs."""
    leaving: set[Variable] = set()
    for output in outputs_to_disown:
        for owner in memory_owners(output):
            view_tree_set(fgraph, owner, leaving)
    return [variable for variable in leaving if variable.owner is not None]


def insert_deepcopy(
    fgraph: FunctionGraph,
    wrapped_inputs: Sequence[SymbolicInput],
    wrapped_outputs: Sequence[SymbolicOutput],
) -> None:
    """Put copies in front of outputs that would share memory with something they must not.

    After it, what a function returns shares no memory with its arguments, with shared variables,
    with constants of the graph, or with another output; the new value of a shared variable shares
    none with other values either.

    Parameters
    ----------
    fgraph
        The graph, changed in place.
    wrapped_inputs, wrapped_outputs
        The descriptions of its inputs and outputs.  Outputs that are lent with ``borrow=True`` may
        be views of inputs that are lent too, of shared variables and of one another.
    """
    described = dict(zip(fgraph.inputs, wrapped_inputs))
    updates = fgraph.update_mapping or {}
    claimed: dict[Variable, bool] = {}  # memory owner -> whether whoever took it has lent it
    copies: dict[int, Variable] = {}
    for index, (output, spec) in enumerate(zip(fgraph.outputs, wrapped_outputs)):
        updated = fgraph.inputs[updates[index]] if index in updates else None
        if not _may_keep(output, spec.borrow and updated is None, updated, described, claimed):
            copies[index] = deep_copy_op(output)
    for index, copied in copies.items():
        fgraph.change_node_input("output", index, copied, reason="insert_deepcopy")


def keep_inputs(fgraph: FunctionGraph, inputs: Iterable[Variable]) -> None:
    """Let operations that would overwrite inputs of a graph, or views of them, overwrite copies."""
    showing: set[Variable] = set()
    for variable in inputs:
        view_tree_set(fgraph, variable, showing)
    for node in fgraph.toposort():
        for positions in (node.op.destroy_map or {}).values():
            for position in positions:
                if node.inputs[position] in showing:
                    copied = deep_copy_op(node.inputs[position])
                    fgraph.change_node_input(node, position, copied, reason="keep_inputs")


def _may_keep(
    output: Variable,
    borrow: bool,
    updated: Variable | None,
    described: dict[Variable, SymbolicInput],
    claimed: dict[Variable, bool],
) -> bool:
    """Return whether an output may be returned without a copy."""
    owners = memory_owners(output)
    if updated is not None and output is not updated:
        taken = described.keys() & memory_owners(output, True)
        # A result may lie in an argument that was given to be overwritten; a state may not: callers may fill it anew.
        if taken and not (updated.type.restorable and taken == {updated}):
            return False
    for owner in owners:
        if owner in claimed and not (borrow and claimed[owner]):
            return False
        if isinstance(owner, Constant):
            return False
        if owner in described and updated is None:  # the new value of a state may be the old one, untouched
            spec = described[owner]
            if not (borrow and (spec.borrow or spec.shared)):
                return False
    for owner in owners:
        claimed[owner] = borrow
    return True
