"""The reference linker, which runs each node's `perform` in order. Slow and obvious."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

from aesara.configdefaults import config
from aesara.graph.container import StorageCell, StorageMap
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.link.basic import LocalLinker, Scheduler, containers_of
from aesara.link.guards import store_together
from aesara.link.originals import keep_inputs_on_failure, run_on_copies
from aesara.link.utils import (
    Thunk,
    clear_after_each,
    gc_helper,
    map_storage,
    raise_with_op,
)

ComputeMap = dict[Variable, list[bool]]


class VM(ABC):
    """A linked graph, which computes the outputs from the values in the cells of the inputs.

    Parameters
    ----------
    fgraph
        The graph.
    nodes, thunks
        Its nodes in order and their thunks.
    pre_call_clear
        Cells that are emptied at the beginning of each call.
    """

    def __init__(
        self,
        fgraph: FunctionGraph,
        nodes: Sequence[Apply],
        thunks: Sequence[Thunk],
        pre_call_clear: Sequence[StorageCell],
    ) -> None:
        if len(nodes) != len(thunks):
            raise ValueError(f"Got {len(thunks)} thunks for {len(nodes)} nodes.")
        self.fgraph = fgraph
        self.nodes = list(nodes)
        self.thunks = list(thunks)
        self.pre_call_clear = list(pre_call_clear)
        self.need_update_inputs = True

    @abstractmethod
    def __call__(self) -> Any:
        """Run the graph once."""

    def clear_storage(self) -> None:
        """Free the temporaries left by the last call."""

    def update_profile(self, profile: Any) -> None:
        """Add measurements to `profile`; the base measures nothing."""


class UpdatingVM(VM):
    """A VM that stores new values in the cells of updated inputs after each call."""

    compute_map: ComputeMap

    def __init__(
        self,
        fgraph: FunctionGraph,
        nodes: Sequence[Apply],
        thunks: Sequence[Thunk],
        pre_call_clear: Sequence[StorageCell],
        storage_map: StorageMap,
        input_storage: Sequence[StorageCell],
        output_storage: Sequence[StorageCell],
        update_vars: dict[Variable, Variable],
    ) -> None:
        super().__init__(fgraph, nodes, thunks, pre_call_clear)
        self.storage_map = storage_map
        self.input_storage = list(input_storage)
        self.output_storage = list(output_storage)
        self.inp_storage_and_out_idx = tuple(
            (storage_map[old], fgraph.outputs.index(new)) for old, new in update_vars.items()
        )
        inputs = set(fgraph.inputs)
        self._temporaries = [
            cell for variable, cell in storage_map.items() if variable.owner is not None and variable not in inputs
        ]

    def clear_storage(self) -> None:
        for cell in self._temporaries:
            cell[0] = None

    def perform_updates(self) -> list[Any]:
        """Store the new values of updated inputs and return the values of all outputs."""
        outputs = [cell[0] for cell in self.output_storage]
        pairs = self.inp_storage_and_out_idx
        store_together([cell for cell, _ in pairs], [outputs[index] for _, index in pairs])
        return outputs


class Loop(UpdatingVM):
    """Runs all nodes in a fixed order.

    Parameters
    ----------
    post_thunk_clear
        For each node, the cells to empty after it ran.
    callback
        Called after each node as ``callback(node=, thunk=, storage_map=, compute_map=None)``.
    """

    def __init__(
        self,
        fgraph: FunctionGraph,
        nodes: Sequence[Apply],
        thunks: Sequence[Thunk],
        pre_call_clear: Sequence[StorageCell],
        storage_map: StorageMap,
        input_storage: Sequence[StorageCell],
        output_storage: Sequence[StorageCell],
        update_vars: dict[Variable, Variable],
        post_thunk_clear: Sequence[Sequence[StorageCell]] | None = None,
        callback: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(fgraph, nodes, thunks, pre_call_clear, storage_map, input_storage, output_storage, update_vars)
        self.allow_gc = post_thunk_clear is not None
        self.post_thunk_clear = list(post_thunk_clear) if post_thunk_clear is not None else [()] * len(self.nodes)
        self.callback = callback
        self._steps = list(zip(self.thunks, self.nodes, self.post_thunk_clear))

    def __call__(self) -> list[Any]:
        callback = self.callback
        for cell in self.pre_call_clear:
            cell[0] = None
        try:
            for thunk, node, dead in self._steps:
                thunk()
                if callback is not None:
                    callback(node=node, thunk=thunk, storage_map=self.storage_map, compute_map=None)
                for cell in dead:
                    cell[0] = None
        except Exception:
            raise_with_op(self.fgraph, node, thunk, storage_map=self.storage_map)
        return self.perform_updates()


class Stack(UpdatingVM):
    """Lazy evaluation: lazy nodes choose at run time which inputs they need.

    The thunk of a lazy node has ``thunk.lazy = True``. It is called before its inputs are known and returns the
    positions of the inputs that it still needs, or nothing once its outputs are computed.

    Parameters
    ----------
    compute_map
        For each variable a cell that says whether it is computed.
    allow_gc
        Free temporaries after their last use.
    dependencies
        For each variable the variables that are computed from it.
    callback, callback_input
        Called after each node, and for each input at the beginning.
    """

    def __init__(
        self,
        fgraph: FunctionGraph,
        nodes: Sequence[Apply],
        thunks: Sequence[Thunk],
        pre_call_clear: Sequence[StorageCell],
        storage_map: StorageMap,
        input_storage: Sequence[StorageCell],
        output_storage: Sequence[StorageCell],
        update_vars: dict[Variable, Variable],
        compute_map: ComputeMap,
        allow_gc: bool,
        dependencies: dict[Variable, list[Variable]] | None = None,
        callback: Callable[..., Any] | None = None,
        callback_input: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(fgraph, nodes, thunks, pre_call_clear, storage_map, input_storage, output_storage, update_vars)
        if allow_gc and dependencies is None:
            raise ValueError("A Stack with allow_gc=True needs `dependencies`.")
        self.compute_map = compute_map
        self.allow_gc = allow_gc
        self.dependencies = dependencies or {}
        self.callback = callback
        self.callback_input = callback_input
        # Readers of a value run before the node that overwrites it.
        self.before = fgraph.orderings()
        self.base_apply_stack = [output.owner for output in fgraph.outputs if output.owner is not None]
        self.thunk_of = dict(zip(self.nodes, self.thunks))
        self._kept = {id(storage_map[variable]) for variable in (*fgraph.inputs, *fgraph.outputs)}

    def run_thunk_of_node(self, node: Apply) -> Any:
        """Run a node's thunk and return its result."""
        thunk = self.thunk_of[node]
        try:
            needed = thunk()
        except Exception:
            raise_with_op(self.fgraph, node, thunk, storage_map=self.storage_map)
        if self.callback is not None:
            self.callback(node=node, thunk=thunk, storage_map=self.storage_map, compute_map=self.compute_map)
        return needed

    def __call__(self, output_subset: Sequence[int] | None = None) -> list[Any]:
        compute_map = self.compute_map
        for cell in self.pre_call_clear:
            cell[0] = None
        for variable, computed in compute_map.items():
            computed[0] = variable.owner is None
        for variable, cell in zip(self.fgraph.inputs, self.input_storage):
            compute_map[variable][0] = True
            if self.callback_input is not None:
                self.callback_input(variable, cell[0])
        if self.callback_input is not None:
            for variable, cell in self.storage_map.items():
                if isinstance(variable, Constant):
                    self.callback_input(variable, cell[0])
        if output_subset is None:
            pending = list(self.base_apply_stack)
        else:
            owners = (self.fgraph.outputs[index].owner for index in output_subset)
            pending = [owner for owner in owners if owner is not None]
        while pending:
            node = pending[-1]
            if all(compute_map[output][0] for output in node.outputs):
                pending.pop()
                continue
            needed = self._missing_inputs(node)
            if needed:
                pending.extend(needed)
                continue
            for output in node.outputs:
                compute_map[output][0] = True
            pending.pop()
            if self.allow_gc:
                self._collect(node)
        return self.perform_updates()

    def _missing_inputs(self, node: Apply) -> list[Apply]:
        """Run `node` if its inputs are computed; otherwise return the nodes to run before it."""
        compute_map = self.compute_map
        if getattr(self.thunk_of[node], "lazy", False):
            positions = self.run_thunk_of_node(node)
            missing = [node.inputs[position] for position in positions or ()]
        else:
            missing = [variable for variable in node.inputs if not compute_map[variable][0]]
            readers = [
                reader
                for reader in self.before.get(node, ())
                if not all(compute_map[output][0] for output in reader.outputs)
            ]
            if not missing and not readers:
                self.run_thunk_of_node(node)
            return [*(variable.owner for variable in missing), *readers]
        return [variable.owner for variable in missing]

    def _collect(self, node: Apply) -> None:
        compute_map = self.compute_map
        for variable in node.inputs:
            if variable.owner is None:
                continue
            cell = self.storage_map[variable]
            if id(cell) not in self._kept and all(
                compute_map[dependent][0] for dependent in self.dependencies.get(variable, ())
            ):
                cell[0] = None


class VMLinker(LocalLinker):
    """Runs each node's `perform`, in order, or lazily when the graph has lazy nodes.

    Parameters
    ----------
    allow_gc
        Free temporaries after their last use.  Default: ``config.allow_gc``.
    use_cloop, c_thunks
        Accepted for compatibility; there is no C code here.
    callback
        Called after each node as ``callback(node=, thunk=, storage_map=, compute_map=)``.
    callback_input
        Called for each input and each constant at the beginning of a call as ``callback_input(variable, value)``.
    lazy
        Whether the graph is evaluated lazily.  Default: when one of its nodes is lazy.
    schedule
        Returns the nodes of a graph in the order in which they run.
    allow_partial_eval
        Accepted for compatibility; has no effect.
    spare_inputs
        Run nodes that overwrite their inputs on copies of these, so that all values can be inspected afterwards; always
        so with a callback.
    """

    def __init__(
        self,
        allow_gc: bool | None = None,
        use_cloop: bool = False,
        callback: Callable[..., Any] | None = None,
        callback_input: Callable[..., Any] | None = None,
        lazy: bool | None = None,
        schedule: Scheduler | None = None,
        c_thunks: bool | None = None,
        allow_partial_eval: bool | None = None,
        spare_inputs: bool = False,
    ) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=schedule)
        self.fgraph: FunctionGraph | None = None
        self.use_cloop = use_cloop
        self.callback = callback
        self.callback_input = callback_input
        self.lazy = lazy
        self.c_thunks = c_thunks
        self.allow_partial_eval = allow_partial_eval
        self.spare_inputs = spare_inputs
        self.no_recycling: Sequence[Variable] = ()
        self.updated_vars: dict[Variable, Variable] = {}
        self.profile: Any = None

    def accept(
        self, fgraph: FunctionGraph, no_recycling: Sequence[Variable] | None = None, profile: Any = None
    ) -> Self:
        """Set the graph to link; return the linker itself, or a clone if it has a graph already."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            return self.clone().accept(fgraph, no_recycling, profile)
        self.fgraph = fgraph
        self.no_recycling = () if no_recycling is None else no_recycling
        self.profile = profile
        return self

    def accept_var_updates(self, updated_vars: dict[Variable, Variable]) -> None:
        """Set the updates: input -> output whose value it takes after each call."""
        self.updated_vars = dict(updated_vars)

    def compute_gc_dependencies(self, variables: Sequence[Variable] | StorageMap) -> dict[Variable, list[Variable]]:
        """Return for each variable the variables that are computed from it."""
        assert self.fgraph is not None
        dependencies: dict[Variable, list[Variable]] = {}
        for variable in variables:
            readers = self.fgraph.clients.get(variable, ()) if variable.owner is not None else ()
            dependencies[variable] = [
                output for client, _ in readers if isinstance(client, Apply) for output in client.outputs
            ]
        return dependencies

    def reduce_storage_allocations(self, storage_map: StorageMap, order: Sequence[Apply]) -> tuple[Variable, ...]:
        """Let temporaries with disjoint lifetimes share a cell; here they never do."""
        return ()

    def make_vm(
        self,
        nodes: Sequence[Apply],
        thunks: Sequence[Thunk],
        input_storage: Sequence[StorageCell],
        output_storage: Sequence[StorageCell],
        storage_map: StorageMap,
        post_thunk_clear: Sequence[Sequence[StorageCell]] | None,
        computed: set[Variable],
        compute_map: ComputeMap,
        updated_vars: dict[Variable, Variable],
    ) -> UpdatingVM:
        """Create the VM for a list of thunks."""
        assert self.fgraph is not None
        inputs = set(self.fgraph.inputs)
        pre_call_clear = [storage_map[variable] for variable in self.no_recycling if variable not in inputs]
        lazy = self.lazy
        if lazy is None:
            lazy = config.vm__lazy == "True" or any(getattr(thunk, "lazy", False) for thunk in thunks)
        if lazy or self.callback_input is not None:
            return Stack(
                self.fgraph,
                nodes,
                thunks,
                pre_call_clear,
                storage_map,
                input_storage,
                output_storage,
                updated_vars,
                compute_map,
                self.allow_gc,
                dependencies=self.compute_gc_dependencies(storage_map) if self.allow_gc else None,
                callback=self.callback,
                callback_input=self.callback_input,
            )
        return Loop(
            self.fgraph,
            nodes,
            thunks,
            pre_call_clear,
            storage_map,
            input_storage,
            output_storage,
            updated_vars,
            post_thunk_clear=post_thunk_clear,
            callback=self.callback,
        )

    def make_all(self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None) -> Any:
        fgraph = self.fgraph
        if fgraph is None:
            raise ValueError("The linker has no graph; call accept(fgraph) first.")
        order = self.schedule(fgraph)
        inputs, outputs, storage_map = map_storage(fgraph, order, input_storage, output_storage, storage_map)
        compute_map: ComputeMap = {variable: [variable.owner is None] for variable in storage_map}
        thunks = []
        measured = getattr(self.profile, "measured_thunk", None)
        wrap = run_on_copies if self.spare_inputs or self.callback is not None else keep_inputs_on_failure
        for node in order:
            thunk = node.op.make_thunk(node, storage_map, compute_map, self.no_recycling, "py")
            thunk.inputs = [storage_map[variable] for variable in node.inputs]
            thunk.outputs = [storage_map[variable] for variable in node.outputs]
            thunk = wrap(node, thunk)
            thunks.append(thunk if measured is None else measured(fgraph, node, thunk))
        computed, _ = gc_helper(order)
        clear = clear_after_each(fgraph, order, storage_map) if self.allow_gc else None
        vm = self.make_vm(order, thunks, inputs, outputs, storage_map, clear, computed, compute_map, self.updated_vars)
        vm.compute_map = compute_map
        return vm, containers_of(fgraph.inputs, inputs), containers_of(fgraph.outputs, outputs), thunks, order


def calculate_reallocate_info(
    order: Sequence[Apply],
    fgraph: FunctionGraph,
    storage_map: StorageMap,
    compute_map_re: ComputeMap,
    dependencies: dict[Variable, list[Variable]],
) -> dict[Variable, list[Variable]]:
    """Return which temporaries may take over the memory of others; here none."""
    return {}


__all__ = ["VM", "Loop", "Stack", "UpdatingVM", "VMLinker", "calculate_reallocate_info", "config"]
