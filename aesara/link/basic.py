"""Linkers: they turn a rewritten graph into a callable."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, cast, runtime_checkable

from aesara.configdefaults import config
from aesara.graph.container import Container, StorageCell, StorageMap
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import ThunkType
from aesara.link.originals import keep_inputs_on_failure, run_on_copies
from aesara.link.utils import (
    Thunk,
    clear_after_each,
    map_storage,
    raise_with_op,
    streamline,
)
from aesara.records import dataclass

Scheduler = Callable[[FunctionGraph], list[Apply]]


@dataclass(frozen=True)
class InputCell:
    """Source of one input of a native function.

    Attributes
    ----------
    variable
        The graph's input.
    cell
        The one-element list of its container.
    implicit
        True: the value is read from the cell at call time (shared variables). False: it is a positional argument of the
        call.
    overwritable
        Whether the caller gives the argument away, so that a result may take over its memory.
    """

    variable: Variable
    cell: StorageCell
    implicit: bool
    overwritable: bool = False


class Declined(Exception):
    """Raised by a native linker for a graph without native form; the text is the reason."""


class CompiledGraph(Protocol):
    """A compiled graph, called with the user's arguments.

    Its attribute ``entry``, if it has one, is a builtin that callers may call instead, without a Python frame.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def careful(self, values: Sequence[Any]) -> Any:
        """Run on one value per explicit input, of the input's type but with any memory layout."""


@runtime_checkable
class NativeLinker(Protocol):
    """A linker that compiles whole callables.

    Their outputs are fresh buffers, also where an output is an input, a constant or another output, unless they are
    lent. New values of updated inputs are stored together, after everything has succeeded.
    """

    def make_callable(
        self,
        fgraph: FunctionGraph,
        inputs: Sequence[InputCell],
        n_outputs: int,
        updates: dict[int, int],
        unpack_single: bool,
        fallback: Callable[..., Any],
        lent: Sequence[int] = (),
    ) -> CompiledGraph:
        """Compile `fgraph`, or raise `Declined`; then `make_thunk` is used.

        Parameters
        ----------
        inputs
            One cell for each input of `fgraph`.
        n_outputs
            Number of outputs that are returned, from the first.
        updates
            Index of an output -> index of the input whose cell it is stored to.
        unpack_single
            Return a single output itself instead of a list, and None without outputs.
        fallback
            Called with the user's arguments when they are not exactly what the native code expects; its result is
            returned.
        lent
            Numbers of the outputs with ``borrow=True``: later calls may return their buffers again.
        """


class Linker(ABC):
    """Base of all linkers.

    Parameters
    ----------
    allow_gc
        Whether temporaries are freed after their last use.  Default: ``config.allow_gc``.
    scheduler
        Returns the nodes of a graph in the order in which they run.  Default: a topological order.
    """

    #: tags of the rewrites that modes with this linker exclude
    incompatible_rewrites: tuple[str, ...] = ()
    #: whether it passes whole graphs to another compiler instead of running nodes
    compiles_graphs = False

    def __init__(self, *, allow_gc: bool | None = None, scheduler: Scheduler | None = None) -> None:
        self._allow_gc = allow_gc
        self._scheduler = scheduler

    @property
    def allow_gc(self) -> bool:
        """True if temporaries are freed after their last use."""
        return config.allow_gc if self._allow_gc is None else self._allow_gc

    def clone(self, allow_gc: bool | None = None) -> Self:
        """Return a linker like this one that has accepted no graph yet."""
        new = copy.copy(self)
        if hasattr(new, "fgraph"):
            new.fgraph = None
        if allow_gc is not None:
            new._allow_gc = allow_gc
        return new

    @abstractmethod
    def make_thunk(self, **kwargs: Any) -> tuple[Callable[[], Any], list[Container], list[Container]]:
        """Return a function without arguments, and the containers it reads from and writes to."""

    def expect(self, fgraph: FunctionGraph) -> None:
        """Start work that does not depend on how the graph will be rewritten; called before rewriting."""

    def schedule(self, fgraph: FunctionGraph) -> list[Apply]:
        """Return the nodes of a graph in the order in which they run."""
        if self._scheduler is not None:
            return self._scheduler(fgraph)
        return list(fgraph.toposort())


class LocalLinker(Linker):
    """Base of linkers whose `make_all` also returns the thunk of each node."""

    # Fused ops have no advantage when nodes run one by one.
    incompatible_rewrites: tuple[str, ...] = ("cxx_only",)
    no_recycling: Sequence[Variable] = ()

    def accept(
        self, fgraph: FunctionGraph, no_recycling: Sequence[Variable] | None = None, profile: Any = None
    ) -> Self:
        """Set the graph to link; return the linker itself, or a clone if it has a graph already.

        Parameters
        ----------
        fgraph
            The graph.
        no_recycling
            Variables whose old values must not be passed to `perform` as memory to write to.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define accept.")

    def make_thunk(
        self,
        input_storage: Sequence[StorageCell] | None = None,
        output_storage: Sequence[StorageCell] | None = None,
        storage_map: StorageMap | None = None,
        **kwargs: Any,
    ) -> tuple[Callable[[], Any], list[Container], list[Container]]:
        return self.make_all(input_storage=input_storage, output_storage=output_storage, storage_map=storage_map)[:3]

    @abstractmethod
    def make_all(
        self,
        input_storage: Sequence[StorageCell] | None,
        output_storage: Sequence[StorageCell] | None,
        storage_map: StorageMap | None = None,
    ) -> tuple[Callable[[], Any], list[Container], list[Container], list[Thunk], list[Apply]]:
        """Return the function, containers of inputs and outputs, the thunks, and the nodes in order."""


def containers_of(variables: Sequence[Variable], cells: Sequence[StorageCell]) -> list[Container]:
    """Wrap cells in containers of the variables' types."""
    return [Container(variable, cell) for variable, cell in zip(variables, cells)]


class PerformLinker(LocalLinker):
    """Runs each node's `perform` in order."""

    def __init__(self, allow_gc: bool | None = None, schedule: Scheduler | None = None) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=schedule)
        self.fgraph: FunctionGraph | None = None
        self.no_recycling: Sequence[Variable] = ()

    def accept(
        self, fgraph: FunctionGraph, no_recycling: Sequence[Variable] | None = None, profile: Any = None
    ) -> Self:
        if self.fgraph is not None and self.fgraph is not fgraph:
            return self.clone().accept(fgraph, no_recycling, profile)
        self.fgraph = fgraph
        self.no_recycling = () if no_recycling is None else no_recycling
        return self

    def make_all(self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None) -> Any:
        fgraph = self.fgraph
        if fgraph is None:
            raise ValueError("The linker has no graph; call accept(fgraph) first.")
        order = self.schedule(fgraph)
        no_recycling = self.no_recycling
        inputs, outputs, storage_map = map_storage(fgraph, order, input_storage, output_storage, storage_map)
        compute_map = {variable: [variable.owner is None] for variable in storage_map}
        thunks = []
        for node in order:
            thunk = node.op.make_thunk(node, storage_map, compute_map, no_recycling, "py")
            thunk.inputs = [storage_map[variable] for variable in node.inputs]
            thunk.outputs = [storage_map[variable] for variable in node.outputs]
            thunks.append(keep_inputs_on_failure(node, thunk))
        clear = clear_after_each(fgraph, order, storage_map) if self.allow_gc else None
        recycled = [storage_map[variable] for variable in no_recycling if variable not in fgraph.inputs]
        return (
            streamline(fgraph, thunks, order, clear, recycled),
            containers_of(fgraph.inputs, inputs),
            containers_of(fgraph.outputs, outputs),
            thunks,
            order,
        )


class WrapLinker(Linker):
    """Runs the thunks of several linkers side by side, through a wrapper.

    Parameters
    ----------
    linkers
        Linkers with `make_all` that order the nodes in the same way.
    wrapper
        Called for each node as ``wrapper(fgraph, index, node, thunk_of_linker_0, thunk_of_linker_1, ...)``.
        It has to call the thunks it wants to run.

    Examples
    --------
    >>> def show(fgraph, index, node, thunk):
    ...     thunk()
    ...     print(index, node, [cell[0] for cell in thunk.outputs])
    >>> mode = aesara.compile.Mode(WrapLinker([PerformLinker()], show), "fast_compile")
    """

    def __init__(self, linkers: Sequence[LocalLinker], wrapper: Callable[..., object]) -> None:
        super().__init__(allow_gc=linkers[0]._allow_gc if linkers else None)
        self.fgraph: FunctionGraph | None = None
        self.linkers = list(linkers)
        self.wrapper = wrapper

    def clone(self, allow_gc: bool | None = None) -> Self:
        return type(self)([linker.clone(allow_gc=allow_gc) for linker in self.linkers], self.wrapper)

    def accept(
        self, fgraph: FunctionGraph, no_recycling: Sequence[Variable] | None = None, profile: Any = None
    ) -> Self:
        """Set the graph to link."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            return self.clone().accept(fgraph, no_recycling, profile)
        self.fgraph = fgraph
        self.linkers = [linker.accept(fgraph, no_recycling) for linker in self.linkers]
        return self

    def pre(self, f: Any, inputs: list[Any], order: Sequence[Apply], thunk_groups: Sequence[tuple[Thunk, ...]]) -> None:
        """Hook for subclasses, called with the inputs before the first node of each call."""

    def make_thunk(
        self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None, **kwargs: Any
    ) -> Any:
        results = [self.linkers[0].make_all(input_storage, output_storage, storage_map)]
        results += [linker.make_all(None, None) for linker in self.linkers[1:]]
        order = results[0][4]
        for linker, parts in zip(self.linkers, results):
            if parts[4] != order:
                raise ValueError(f"The linker {linker} runs the nodes in another order than {self.linkers[0]}.")
        input_lists = [[container.storage for container in parts[1]] for parts in results]
        # The wrapper inspects the inputs of a node after it has run.
        groups = list(zip(*([run_on_copies(node, thunk) for node, thunk in zip(order, parts[3])] for parts in results)))
        fgraph, wrapper = self.fgraph, self.wrapper
        released = [
            thunk_cell
            for linker, parts in zip(self.linkers, results)
            for thunk_cell in _cells_of(linker.no_recycling, parts[3], parts[4])
        ]

        def run() -> None:
            for cell in released:  # the old values belong to the caller
                cell[0] = None
            for first, *others in zip(*input_lists):
                for cell in others:
                    cell[0] = copy.deepcopy(first[0])
            self.pre(self, [cell[0] for cell in input_lists[0]], order, groups)
            for index, (node, thunks) in enumerate(zip(order, groups)):
                try:
                    wrapper(fgraph, index, node, *thunks)
                except Exception:
                    raise_with_op(fgraph, node, thunks[0])

        return run, results[0][1], results[0][2]


def _cells_of(variables: Sequence[Variable], thunks: Sequence[Thunk], order: Sequence[Apply]) -> list[StorageCell]:
    """Return the cells of those variables that nodes compute."""
    wanted = set(variables)
    pairs = [pair for thunk, node in zip(thunks, order) for pair in zip(node.outputs, thunk.outputs)]
    return [cell for variable, cell in pairs if variable in wanted]


def WrapLinkerMany(linkers: Sequence[LocalLinker], wrappers: Sequence[Callable[..., object]]) -> WrapLinker:
    """Return a `WrapLinker` that calls several wrappers in order."""

    def wrapper(*args: Any) -> None:
        for one in wrappers:
            one(*args)

    return WrapLinker(linkers, wrapper)


class JITThunk(ThunkType, Protocol):
    """A thunk of a whole graph, with the result of `JITLinker.jit_compile` for inspection."""

    jit_fn: Callable[..., object]


class JITLinker(PerformLinker):
    """Base of linkers that pass the whole graph to another compiler.

    A subclass converts the graph to a Python function of its inputs and compiles that function.
    """

    compiles_graphs = True

    @abstractmethod
    def fgraph_convert(
        self,
        fgraph: FunctionGraph,
        order: list[Apply],
        input_storage: list[StorageCell],
        output_storage: list[StorageCell],
        storage_map: StorageMap,
        **kwargs: Any,
    ) -> Callable[..., Any]:
        """Return a Python function that computes the graph's outputs from its inputs."""

    @abstractmethod
    def create_thunk_inputs(self, storage_map: StorageMap) -> list[StorageCell]:
        """Return the cells of the arguments of the converted function."""

    @abstractmethod
    def jit_compile(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Compile the converted function."""

    def output_filter(self, var: Variable, out: Any) -> Any:
        """Convert one result to a value of the variable's type."""
        return out

    def create_jitable_thunk(
        self, compute_map: Any, order: Any, input_storage: Any, output_storage: Any, storage_map: Any
    ) -> Any:
        """Return the containers, one thunk for the whole graph, and its last nodes."""
        fgraph = self.fgraph
        assert fgraph is not None
        converted = self.fgraph_convert(
            fgraph,
            order=order,
            input_storage=input_storage,
            output_storage=output_storage,
            storage_map=storage_map,
        )
        thunk_inputs = self.create_thunk_inputs(storage_map)
        compiled = self.jit_compile(converted)
        thunk_outputs = [storage_map[variable] for variable in fgraph.outputs]

        def compute() -> Any:
            outputs = compiled(*(cell[0] for cell in thunk_inputs))
            for variable, cell, output in zip(fgraph.outputs, thunk_outputs, outputs):
                cell[0] = self.output_filter(variable, output)
            return outputs

        thunk = cast(JITThunk, compute)
        thunk.inputs = thunk_inputs
        thunk.outputs = thunk_outputs
        thunk.lazy = False
        thunk.jit_fn = compiled
        nodes = [output.owner for output in fgraph.outputs if output.owner is not None]
        return (
            containers_of(fgraph.inputs, input_storage),
            containers_of(fgraph.outputs, output_storage),
            [thunk],
            nodes[:1],
        )

    def make_all(self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None) -> Any:
        fgraph = self.fgraph
        if fgraph is None:
            raise ValueError("The linker has no graph; call accept(fgraph) first.")
        nodes = self.schedule(fgraph)
        inputs, outputs, storage_map = map_storage(fgraph, nodes, input_storage, output_storage, storage_map)
        compute_map = {variable: [variable.owner is None] for variable in storage_map}
        input_containers, output_containers, thunks, _ = self.create_jitable_thunk(
            compute_map, nodes, inputs, outputs, storage_map
        )

        def run() -> None:
            for thunk in thunks:
                thunk()

        cast(JITThunk, run).jit_fn = thunks[0].jit_fn
        return run, input_containers, output_containers, thunks, nodes
