"""From a description of inputs and outputs to a compiled function: graph, rewrites, linking."""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aesara import clock
from aesara.compile.function import cache
from aesara.compile.function.aliasing import infer_reuse_pattern, insert_deepcopy, keep_inputs
from aesara.compile.function.function import Function
from aesara.compile.function.graph import overwrites_arguments, std_fgraph
from aesara.compile.function.inputs import complain_about_unused_input, convert_function_input
from aesara.compile.function.stored import StoredGraph, facts_of, without_graph
from aesara.compile.io import SymbolicInput, SymbolicOutput
from aesara.compile.mode import get_mode
from aesara.configdefaults import config
from aesara.graph.checksums import checksum_of, confirm
from aesara.graph.cloning import clone_get_equiv
from aesara.graph.container import Container, OwnContainer, StorageMap
from aesara.graph.destroyhandler import DestroyHandler
from aesara.graph.digest import NoDigest
from aesara.graph.fg import FunctionGraph
from aesara.graph.integrity import refuse_repeated_inputs
from aesara.graph.nodes import Variable
from aesara.graph.traversal import ancestors
from aesara.link.basic import Declined, InputCell, NativeLinker
from aesara.progress import begin_stage, compiling
from aesara.utils import found_at, free_in_children

if TYPE_CHECKING:
    from aesara.compile.mode import Mode
    from aesara.compile.profile_stats import ProfileStats


_logger = logging.getLogger("aesara.compile.function")
#: held while a graph is taken out of its nested pickle
_opening = free_in_children(threading.RLock())
#: what a stored maker makes again
_DERIVED = ("fgraph", "outputs", "linker", "indices", "expanded_inputs", "_unconfirmed", "_kept", "_key")
_StoredGraph = StoredGraph  # as older pickles call it


class FunctionMaker:
    """Holds the rewritten graph of a function and makes `Function` objects from it.

    Parameters
    ----------
    inputs, outputs
        Descriptions (`In`, `Out`) or variables; a single output that is not in a list makes the
        function return a single value, and None makes it return nothing.
    mode
        The mode.
    accept_inplace
        Whether the graph may hold operations that overwrite their inputs.
    function_builder
        Class of the functions.
    profile
        See `aesara.function`.
    on_unused_input
        ``'raise'``, ``'warn'`` or ``'ignore'``.  Default: ``config.on_unused_input``.
    fgraph
        An existing graph, whose inputs stand in the order of `inputs`, and whose outputs are
        `outputs` followed by the updates of its ``update_mapping``.
    output_keys
        Names of the outputs of a function that returns a dict.
    name
        Name of the functions.
    no_fgraph_prep
        Use `fgraph` as it is, without rewrites.

    Attributes
    ----------
    fgraph
        The graph.
    rewrite_seconds
        How long it took to rewrite it.
    """

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        mode: object = None,
        accept_inplace: bool = False,
        function_builder: type[Function] = Function,
        profile: ProfileStats | bool | str | None = None,
        on_unused_input: str | None = None,
        fgraph: FunctionGraph | None = None,
        output_keys: Sequence[str] | None = None,
        name: str | None = None,
        no_fgraph_prep: bool = False,
    ) -> None:
        self.mode = get_mode(mode)
        self.accept_inplace = accept_inplace
        self.function_builder = function_builder
        wanted = config.profile if profile is None else profile
        self.profile = None if wanted is False else found_at("aesara.compile.profiling:as_profile")(wanted, name)
        self.on_unused_input = on_unused_input
        self.output_keys = None if output_keys is None else list(output_keys)
        self.name = name
        self.return_none = outputs is None
        self.unpack_single = not self.return_none and not isinstance(outputs, (list, tuple))
        if outputs is None:
            outputs = []
        elif self.unpack_single:
            outputs = [outputs]
        if not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        self.inputs = [self.wrap_in(one) for one in inputs]
        self.outputs = [self.wrap_out(one) for one in outputs]
        self.expanded_inputs = self.inputs
        self.indices = [[spec, None, [spec]] for spec in self.inputs]
        if fgraph is None:
            self.check_unused_inputs(self.inputs, self.outputs, self.on_unused_input)
        self._set_graph(fgraph, no_fgraph_prep)

    #: whether operations of the graph as it was given overwrite arguments: somebody counts on it
    overwrites_arguments = False
    #: why the outcome of compiling the graph is not kept for equal ones; None if it is
    not_cached: str | None = None
    _key: str | None = None

    def _set_graph(self, fgraph: FunctionGraph | None, no_fgraph_prep: bool) -> None:
        self.rewrite_seconds = 0.0
        if no_fgraph_prep:
            if fgraph is None:
                raise ValueError("no_fgraph_prep=True needs an fgraph.")
            written = fgraph
        else:
            written, additional = std_fgraph(self.inputs, self.outputs, self.accept_inplace, fgraph)
            self.overwrites_arguments = overwrites_arguments(written, self.inputs)
        refuse_repeated_inputs(written.inputs)
        written.name = self.name
        self.update_mapping: dict[int, int] = dict(written.update_mapping or {})
        self.n_returned = len(self.outputs)
        self.linker: Any = self.mode.linker
        self._form: Any = None  # what the linker has made of the graph, if that can be pickled
        if no_fgraph_prep:
            self.fgraph = self._finish_graph(written)
        else:
            self._key, kept = self._find_kept(written)
            if kept is None:
                self.fgraph = self._rewrite(written, additional)
            else:
                self._form = kept.form.without_symbols()
                self._kept = kept, written, additional, config.values()
        # Inserting twice does no more than once, so a graph that is given may have its copies already.
        self._copies_inserted = False
        self.required = [spec.value is None for spec in self.inputs]
        self.refeed = [
            spec.value is not None and not isinstance(spec.value, Container) and not self._is_updated(index)
            for index, spec in enumerate(self.inputs)
        ]

    def _find_kept(self, written: FunctionGraph) -> tuple[str | None, Any]:
        """Return the key of a graph as written, if it has one, and the outcome of a compilation that is kept under it.

        The reason why it has none is kept in `not_cached`.
        """
        if type(self) is not FunctionMaker:
            self.not_cached = f"its maker is a {type(self).__name__}"
            return None, None
        try:
            key = cache.key_of(self, written)
        except NoDigest as reason:
            self.not_cached = str(reason)
            return None, None
        return key, cache.find(key)

    def _rewrite(self, written: FunctionGraph, additional: Sequence[SymbolicOutput]) -> FunctionGraph:
        """Rewrite the graph in place, and return it."""
        started = clock.now()
        self.mode.linker.expect(written)
        self.prepare_fgraph(self.inputs, self.outputs, additional, written, self.mode, self.profile)
        self.rewrite_seconds = clock.now() - started
        if self.profile is not None:
            self.profile.add_rewriting(self.rewrite_seconds)
        return self._finish_graph(written)

    def _finish_graph(self, graph: FunctionGraph) -> FunctionGraph:
        """Attach what a graph needs that will not be rewritten any more, and return it."""
        if any(node.op.destroy_map for node in graph.apply_nodes):
            # It says in which order the nodes may run.
            graph.attach_feature(DestroyHandler())
        if self.profile is not None:
            self.profile.nb_nodes = len(graph.apply_nodes)
        return graph

    def _insert_copies(self, graph: FunctionGraph) -> None:
        additional = [SymbolicOutput(one) for one in graph.outputs[len(self.outputs) :]]
        insert_deepcopy(graph, self.inputs, [*self.outputs, *additional])
        self._copies_inserted = True

    def _is_updated(self, position: int) -> bool:
        return position in self.update_mapping.values()

    @staticmethod
    def wrap_in(input: object) -> SymbolicInput:
        """Return the description of an input; see `convert_function_input`."""
        return convert_function_input(input)

    @staticmethod
    def wrap_out(output: object) -> SymbolicOutput:
        """Return the description of an output."""
        if isinstance(output, SymbolicOutput):
            return output
        if isinstance(output, Variable):
            return SymbolicOutput(output)
        raise TypeError(f"Unknown output type: {type(output)} ({output})")

    @staticmethod
    def prepare_fgraph(
        inputs: Sequence[SymbolicInput],
        outputs: Sequence[SymbolicOutput],
        additional_outputs: Sequence[SymbolicOutput],
        fgraph: FunctionGraph,
        mode: Any,
        profile: ProfileStats | None = None,
    ) -> None:
        """Rewrite a graph as the mode wants it."""
        with config.change_flags(compute_test_value=config.compute_test_value_opt):
            rewriter = mode.optimizer
            measured = rewriter(fgraph)
        if profile is not None and config.profile_optimizer:
            profile.rewriter_profile = rewriter, measured

    @staticmethod
    def check_unused_inputs(
        inputs: Sequence[SymbolicInput], outputs: Sequence[SymbolicOutput], on_unused_input: str | None = None
    ) -> None:
        """Complain about inputs that no output and no update needs."""
        action = config.on_unused_input if on_unused_input is None else on_unused_input
        if action not in ("raise", "warn", "ignore"):
            raise ValueError(f"on_unused_input must be 'raise', 'warn' or 'ignore', got {action!r}")
        if action == "ignore":
            return
        roots = [spec.variable for spec in outputs]
        roots += [spec.update for spec in inputs if spec.update is not None]
        used = set(ancestors(roots, [spec.variable for spec in inputs]))
        for index, spec in enumerate(inputs):
            if spec.variable not in used and spec.update is None and not spec.implicit:
                complain_about_unused_input(index, spec.variable, action, used)

    def create(self, input_storage: Sequence[Any] | None = None, storage_map: Any = None) -> Function:
        """Make a function.

        Parameters
        ----------
        input_storage
            For each input a container, a default value, or None.  Default: the values of the
            descriptions.
        storage_map
            Cells of variables to use in the virtual machine, and to show for native code.
        """
        if input_storage is None:
            input_storage = [spec.value for spec in self.inputs]
        if len(input_storage) != len(self.inputs):
            raise ValueError(f"The function has {len(self.inputs)} inputs, but {len(input_storage)} values were given.")
        containers, defaults = [], []
        for index, (spec, value) in enumerate(zip(self.inputs, input_storage)):
            container, default = self._container(index, spec, value)
            containers.append(container)
            defaults.append(default)
        with config.change_flags(compute_test_value="off"):  # what linking builds is no graph of the user's
            return self._link(containers, defaults, storage_map)

    def _link(self, containers: list[Container], defaults: list[Any], storage_map: StorageMap) -> Function:
        """Make a function of the graph, with the values in these containers."""
        function = self._create_restored(containers, defaults, storage_map)
        if function is not None:
            return function
        if not self._copies_inserted:
            # Native functions return fresh buffers by themselves, but their graphs are not to look different.
            self._insert_copies(self.fgraph)
        declined = "its graph was given with operations that overwrite arguments" if self.overwrites_arguments else None
        if isinstance(self.linker, NativeLinker) and declined is None:
            try:
                return self._create_native(containers, defaults, storage_map)
            except Declined as reason:
                declined = str(reason)
        function = self._create_vm(containers, defaults, storage_map)
        function._declined = declined
        return function

    def _container(self, index: int, spec: SymbolicInput, value: object) -> tuple[Container, tuple[bool, bool, Any]]:
        """The container of an input, and whether it is required, is reset after each call, and to what."""
        if isinstance(value, Container):
            return value, (False, False, None)
        if isinstance(value, OwnContainer):
            container = value.container
            if container.value is None:
                return container, (True, False, None)
            return container, (False, not self._is_updated(index), container.value)
        if spec.implicit and value is None:
            raise TypeError(f"The implicit input {spec} has no value.")
        container = Container(
            spec.variable, [None], strict=spec.strict, allow_downcast=spec.allow_downcast, name=spec.name
        )
        if value is None:
            return container, (True, False, None)
        container.value = value if spec.borrow else copy.deepcopy(value)
        return container, (False, not self._is_updated(index), container.value)

    def _build(self, vm: Any, containers: Any, output_storage: Any, defaults: Any) -> Function:
        return self.function_builder(
            vm,
            containers,
            output_storage,
            self.indices,
            self.__dict__.get("outputs"),  # None: not out of the nested pickle yet
            defaults,
            self.unpack_single,
            self.return_none,
            self.output_keys,
            self,
            name=self.name,
        )

    def _create_native(
        self, containers: list[Container], defaults: list[Any], storage_map: StorageMap | None
    ) -> Function:
        """A function that runs natively; raises `Declined` where the linker has no native form of the graph."""
        output_storage = [Container(variable, [None]) for variable in self.fgraph.outputs]
        function = self._build(None, containers, output_storage, defaults)
        updated = set(self.update_mapping.values())
        given_away = [s.mutable and not s.implicit and k not in updated for k, s in enumerate(self.inputs)]
        implicit = [bool(spec.implicit) for spec in self.inputs]
        storage = [container.storage for container in containers]
        cells = list(map(InputCell, self.fgraph.inputs, storage, implicit, given_away))
        lent = [k for k, spec in enumerate(self.outputs) if spec.borrow]
        native = self.linker.make_callable(
            self.fgraph,
            cells,
            self.n_returned,
            dict(self.update_mapping),
            self.unpack_single or self.return_none,
            function._native_fallback,
            **self._timing(),
            **({"lent": lent} if lent else {}),
        )
        self._attach(native, function, storage_map)
        self._form = getattr(native, "form", None)
        if self._key is not None and self._form is not None:
            cache.keep(self._key, native, tuple(v.type for v in self.fgraph.outputs))
        return function

    def _timing(self) -> dict[str, bool]:
        """Return the arguments with which a native linker measures each step."""
        return {"timed": True} if self.profile is not None and self.profile.flag_time_thunks else {}

    def _attach(self, native: Any, function: Function, storage_map: StorageMap | None) -> None:
        """Let a function call what a native linker has made."""
        if self.profile is not None and hasattr(native, "report"):
            implicit = getattr(native, "implicit", [bool(spec.implicit) for spec in self.inputs])
            self.profile.add_native(lambda: getattr(native, "graph", self.fgraph), implicit, native)
        if any(spec.strict and not spec.implicit for spec in self.inputs) and hasattr(native, "refuse_numbers"):
            native.refuse_numbers()
        cells = [container.storage for container in function.input_storage]
        known: dict[Variable, list[object]] = dict(storage_map or {})

        def cells_by_variable() -> dict[Variable, list[Any]]:
            computed = [variable for node in self.fgraph.toposort() for variable in node.outputs]
            return dict(zip(self.fgraph.inputs, cells)) | {v: known.setdefault(v, [None]) for v in computed}

        native.cells_by_variable = cells_by_variable
        function._attach_native(native)

    def _create_restored(
        self, containers: list[Container], defaults: list[Any], storage_map: StorageMap | None
    ) -> Function | None:
        """A function that runs natively, from what the linker has made of the graph before; None if it cannot."""
        if self._form is None:
            return None
        output_storage = [Container(type, [None], name=name) for type, name in self._output_types()]
        function = self._build(None, containers, output_storage, defaults)
        native = self.linker.restore(
            self._form,
            lambda: self.fgraph,
            [container.storage for container in containers],
            self.n_returned,
            dict(self.update_mapping),
            self.unpack_single or self.return_none,
            function._native_fallback,
            **self._timing(),
        )
        if native is None:
            return None
        self._attach(native, function, storage_map)
        return function

    def _create_vm(
        self, containers: list[Container], defaults: list[object], storage_map: StorageMap | None
    ) -> Function:
        """A function that runs the nodes' thunks."""
        fgraph = self.fgraph
        started = clock.now()
        measuring = {} if self.profile is None else {"profile": self.profile}
        linker = self.linker.clone().accept(fgraph, infer_reuse_pattern(fgraph, fgraph.outputs), **measuring)
        vm, _, output_storage = linker.make_thunk(
            input_storage=[container.storage for container in containers], storage_map=storage_map
        )
        if self.profile is not None:
            self.profile.linker_node_make_thunks += clock.now() - started
            self.profile.add_linking({"link": clock.now() - started})
        return self._build(vm, containers, output_storage, defaults)

    def copy_with(
        self, swap: dict[Any, Any], delete_updates: bool, name: str | None, profile: ProfileStats | None
    ) -> tuple[FunctionMaker, dict[Any, Any]]:
        """Return a maker for a copy of the rewritten graph, and the copies of its variables; see `Function.copy`."""
        old = self.fgraph
        n_outputs = len(self.outputs) if delete_updates else len(old.outputs)
        outputs = old.outputs[:n_outputs]
        copies = clone_get_equiv(old.inputs, outputs)
        inputs, outputs = [copies[one] for one in old.inputs], [copies[one] for one in outputs]
        mapping = {} if delete_updates else dict(old.update_mapping or {})
        graph = FunctionGraph(inputs, outputs, clone=False, update_mapping=mapping)
        if delete_updates:
            keep_inputs(graph, [v for k, v in enumerate(inputs) if k in (old.update_mapping or {}).values()])
        specs = []
        for spec in self.inputs:
            spec = copy.copy(spec)
            if spec.variable in swap:
                shared = swap[spec.variable]
                spec.variable, spec.value, spec.name = shared, shared.container, shared.name
            specs.append(spec)
        return self._like(specs, graph, name, profile), copies

    def _like(
        self,
        inputs: list[SymbolicInput],
        fgraph: FunctionGraph,
        name: str | None,
        profile: ProfileStats | None,
    ) -> FunctionMaker:
        """A maker with the same options for a graph that is rewritten already."""
        outputs: Any = self.outputs
        if self.return_none:
            outputs = None
        elif self.unpack_single:
            outputs = self.outputs[0]
        maker = type(self)(
            inputs,
            outputs,
            mode=self.mode,
            accept_inplace=self.accept_inplace,
            function_builder=self.function_builder,
            profile=profile,
            on_unused_input="ignore",
            fgraph=fgraph,
            output_keys=self.output_keys,
            name=name,
            no_fgraph_prep=True,
        )
        maker.overwrites_arguments = self.overwrites_arguments
        return maker

    def _make_kept_graph(self) -> None:
        """Rewrite the graph of a function that was compiled before, with the options of then.

        Other threads see the graph when all is done.
        """
        kept, written, additional, options = self._kept
        with config.change_flags({name: value for name, value in options.items() if getattr(config, name) != value}):
            graph = self._rewrite(written, additional)
            self.rewrite_seconds = 0.0  # it was not needed for the function
            self._insert_copies(graph)
            unpack_single = self.unpack_single or self.return_none
            updates = dict(self.update_mapping)
            symbols, text = self.linker.symbols_of(self._form, graph, self.n_returned, updates, unpack_single)
        if not kept.has_text(text):
            # Rules were registered since, perhaps.
            _logger.warning("The graph of a compiled function has changed: errors of the function do not name nodes.")
            symbols = replace(symbols, errors=kept.errors)
        self._form.symbols = symbols
        self.fgraph = graph
        del self._kept

    def __getstate__(self) -> dict[str, object]:
        state = {key: value for key, value in dict(self.__dict__).items() if key not in _DERIVED}
        state["inputs"] = [without_graph(spec) for spec in self.inputs]
        if "_stored" not in state:
            symbols = None if self._form is None else self._form.symbols
            state["_stored"] = StoredGraph.pack(self.fgraph, self.inputs, self.outputs, symbols)
        if self._form is not None:
            state["_form"] = self._form.without_symbols()
        state["_checksum"] = checksum_of(facts_of(state))
        return state

    def confirm(self) -> None:
        """Raise an `UnpicklingError` if this is not what was pickled.

        It is called when all that belongs to the maker has been read.
        """
        checksum, state = self._unconfirmed
        del self._unconfirmed
        confirm(checksum, checksum_of(facts_of(state)), "description of inputs and results")

    def _output_types(self) -> list[tuple[Any, str | None]]:
        stored, found = self.__dict__.get("_stored"), self.__dict__.get("_kept")
        if stored is not None:
            return stored.types
        if found is not None:
            kept, written, *_ = found
            return [(type, v.name) for type, v in zip(kept.types, written.outputs)]
        return [(v.type, v.name) for v in self.fgraph.outputs]

    def __setstate__(self, state: dict[str, object]) -> None:
        state = dict(state)
        self._unconfirmed = state.pop("_checksum", None), state
        self.__dict__.update(state)
        self.expanded_inputs = self.inputs
        self.indices = [[spec, None, [spec]] for spec in self.inputs]
        self.accept_inplace = True
        self.linker = self.mode.linker
        if config.reoptimize_unpickled_function:
            self._set_graph(self.fgraph, no_fgraph_prep=False)

    def __getattr__(self, name: str) -> Any:
        # The graph of a maker that was loaded, as soon as somebody asks for it.
        if name not in ("fgraph", "outputs"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        with _opening:
            if "_stored" in self.__dict__:
                graph, outputs, symbols = self._stored.unpack(self.update_mapping)
                if self._form is not None:
                    self._form.symbols = symbols
                graph.name = self.name
                self.outputs, self.fgraph = outputs, graph
                del self._stored
            elif "_kept" in self.__dict__:
                self._make_kept_graph()
        return object.__getattribute__(self, name)


def orig_function(
    inputs: object,
    outputs: object,
    mode: Mode | str | None = None,
    accept_inplace: bool = False,
    name: str | None = None,
    profile: ProfileStats | bool | str | None = None,
    on_unused_input: str | None = None,
    output_keys: Sequence[str] | None = None,
    fgraph: FunctionGraph | None = None,
) -> Function:
    """Compile a function from descriptions of its inputs and outputs.

    `aesara.function` is the front door: it also finds shared variables and default updates.

    Parameters
    ----------
    inputs, outputs
        See `FunctionMaker`.
    mode, accept_inplace, name, profile, on_unused_input
        See `aesara.function`.
    output_keys, fgraph
        See `FunctionMaker`.
    """
    started = clock.now()
    mode = get_mode(mode)
    make = getattr(mode, "function_maker", FunctionMaker)
    with compiling(name):
        begin_stage("rewriting the graph")
        maker = make(
            inputs,
            outputs,
            mode,
            accept_inplace=accept_inplace,
            profile=profile,
            on_unused_input=on_unused_input,
            output_keys=output_keys,
            fgraph=fgraph,
            name=name,
        )
        begin_stage("linking")
        function = maker.create()
    function.compile_seconds = clock.now() - started
    if maker.profile is not None:
        maker.profile.add_compiling(function.compile_seconds)
    return function
