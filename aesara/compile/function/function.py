"""The compiled function: what the user calls."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aesara import clock
from aesara.compile.function.aliasing import infer_reuse_pattern
from aesara.compile.function.arguments import (
    DUPLICATE,
    Argument,
    ContainerAttribute,
    QuickConversion,
    ValueAttribute,
    make_finder,
    overwritable,
    quick_conversion,
)
from aesara.compile.function.text import text_of_function
from aesara.compile.io import SymbolicInput
from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.container import Container, OwnContainer
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.graph.shared import SharedVariable
from aesara.graph.type import Type
from aesara.link.basic import InputCell
from aesara.link.guards import EVERYTHING, Held, UpdateGuard, guard_of, store_together

if TYPE_CHECKING:
    from aesara.compile.profile_stats import ProfileStats


class _Running:
    """The call that runs on the cells of a machine: whose it is, and what its argument cells had in them before."""

    function: Function | None = None
    before: Sequence[Any] = ()


_Operator = Callable[[Any, Any], Any]


def _no_operator(symbol: str) -> tuple[_Operator, _Operator]:
    """Return the methods of an operator, and of the reflected one, whose errors say that functions are called."""

    def make_error(function: Function, other: object, first: object, second: object) -> TypeError:
        text = (
            f"unsupported operand type(s) for {symbol}: {type(first).__name__!r} and {type(second).__name__!r}. "
            f"{function} is a function, not a value."
        )
        if isinstance(other, Variable):
            return TypeError(
                f"{text} It takes and returns numbers and arrays: to go on with variables, use its expression."
            )
        name = function.name if function.name is not None and function.name.isidentifier() else "f"
        call = f"{name}({', '.join(argument.name or 'value' for argument in function._arguments)})"
        example = f"{call} {symbol} ..." if function is first else f"... {symbol} {call}"
        return TypeError(f"{text} Call it: `{example}`.")

    def operator(self: Function, other: object) -> Any:
        raise make_error(self, other, self, other)

    def reflected_operator(self: Function, other: object) -> Any:
        raise make_error(self, other, other, self)

    return operator, reflected_operator


class _Stopwatch:
    """A virtual machine whose last run has taken `seconds`."""

    def __init__(self, vm: Any) -> None:
        self.vm = vm
        self.seconds = 0.0

    def __call__(self) -> Any:
        started = clock.now()
        result = self.vm()
        self.seconds = clock.now() - started
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.vm, name)


def _restorable(fgraph: FunctionGraph, containers: Sequence[Container]) -> list[tuple[Type, list[Any]]]:
    """Types and cells of the inputs whose state nodes of a graph may change."""
    found = [(v.type, c.storage) for v, c in zip(fgraph.inputs, containers) if v.type.restorable]
    if not found:
        return []
    overwritten = [
        node.inputs[position]
        for node in fgraph.apply_nodes
        for positions in (node.op.destroy_map or {}).values()
        for position in positions
    ]
    return found if any(variable.type.restorable for variable in overwritten) else []


class Function:
    """A compiled function; made by `aesara.function`, not directly.

    Attributes
    ----------
    maker
        What has made it; ``maker.fgraph`` is the rewritten graph.
    name
        A name for error messages.
    vm
        The linked graph: a virtual machine, or a native callable.
    input_storage, output_storage
        Containers of inputs and outputs.
    trust_input
        Set it to True to skip the checks of arguments in the virtual machine.  Native code checks what it
        must in any case, at no cost, and arguments that it does not take are converted all the same.
    value, container
        Values and containers of the inputs, by name, position or variable.
    compile_seconds
        How long it took to compile; None for a copy, and for a function that was read from a file.

    Examples
    --------
    >>> x = aesara.tensor.dvector("x")
    >>> f = aesara.function([x], 2 * x, name="double")
    >>> f([1.0, 2.0])
    array([2., 4.])
    """

    compile_seconds: float | None = None
    #: the outputs as the user has written them, as long as they are there
    written: Sequence[Callable[[], Variable | None]] = ()

    def __init__(
        self,
        vm: Any,
        input_storage: Sequence[Container],
        output_storage: Sequence[Container],
        indices: Sequence[Any],
        outputs: Sequence[Any] | None,
        defaults: Sequence[tuple[bool, bool, Any]],
        unpack_single: bool,
        return_none: bool,
        output_keys: Sequence[str] | None,
        maker: Any,
        name: str | None = None,
    ) -> None:
        self.vm = vm
        self.input_storage = list(input_storage)
        self.output_storage = list(output_storage)
        self.indices = list(indices)
        self.defaults = list(defaults)
        self.unpack_single = unpack_single
        self.return_none = return_none
        self.output_keys = None if output_keys is None else list(output_keys)
        self.maker = maker
        self.name = name
        self.profile: Any = getattr(maker, "profile", None)
        self.trust_input = False
        self.n_returned_outputs: int = maker.n_returned if outputs is None else len(outputs)
        self.nodes_with_inner_function: list[Any] = []

        specs = [entry[0] for entry in self.indices]
        updates: dict[int, int] = maker.update_mapping
        self._updated_cells = {id(self.input_storage[position].storage) for position in updates.values()}
        self._updates = [(self.input_storage[position].storage, index) for index, position in updates.items()]
        self._output_cells = [container.storage for container in self.output_storage]
        input_cells = {id(container.storage) for container in self.input_storage}
        # The user or a shared variable owns the outputs after a call; these cells must not keep them.
        outputs_of_graph = () if vm is None else maker.fgraph.outputs  # native code leaves nothing there
        self._cells_to_clear = [
            container.storage
            for container, variable in zip(self.output_storage, outputs_of_graph)
            if variable.owner is not None and id(container.storage) not in input_cells
        ]
        self._arguments = [
            Argument(container, spec, required, getattr(maker.linker, "on_devices", None))
            for container, spec, (required, *_) in zip(self.input_storage, specs, self.defaults)
            if not spec.implicit
        ]
        self._position = {
            argument.name: index for index, argument in enumerate(self._arguments) if argument.name is not None
        }
        # Values of arguments that the graph may overwrite must not share memory with other arguments.
        self._overwritable = overwritable(self._arguments, specs)
        self.finder, self.inv_finder = make_finder(specs, self.input_storage)
        # One call of a virtual machine at a time: it has one set of cells.  Calls that read or update shared variables
        # may meet others there.
        states = [c.storage for c, spec in zip(self.input_storage, specs) if spec.implicit or self._is_updated(c)]
        self._guards = (UpdateGuard(), *(guard_of(cell) for cell in states), *([EVERYTHING] if states else []))
        updated = [c.storage for c, spec in zip(self.input_storage, specs) if self._is_updated(c) and not spec.implicit]
        self._updated_arguments = tuple(guard_of(cell) for cell in updated)
        # What nodes may do to the state of a generator is undone if the call fails.
        self._restorable = [] if vm is None else _restorable(maker.fgraph, self.input_storage)
        #: of this function, or of a copy that shares its memory
        self._running = _Running()
        self._native: Any = None
        #: converts arguments, if nothing else is done to them before native code gets them
        self._quick: QuickConversion | None = None
        if self.profile is not None:
            self.vm = _Stopwatch(vm)
            self._set_call(Function._call_measured)
        self._declined: str | None = None  # why a native linker has left the function to the virtual machine

    # Calling

    def __call__(self, /, *args: object, **kwargs: object) -> Any:
        """Compute the outputs.

        Parameters
        ----------
        *args, **kwargs
            Values of the inputs, by position or by name.
        output_subset
            Names (of a function with named outputs) or positions of the outputs to return.

        Returns
        -------
        A list of values, a single value, a dict, or None, as the function's outputs were given.

        Raises
        ------
        TypeError
            When a value is missing, unknown, or not of its input's type.
        """
        subset = self._take_subset(kwargs) if kwargs else None
        with Held(self._guards):
            waiting = self._running.function
            if waiting is not None:
                with waiting._set_aside():
                    return self._present(self._run(self._values(args, kwargs, self.trust_input)), subset)
            try:
                return self._present(self._run(self._values(args, kwargs, self.trust_input)), subset)
            finally:
                self._running.function = None

    @contextmanager
    def _set_aside(self) -> Iterator[None]:
        """Keep what this function's call, which is waiting for another one, has in the machine's cells."""
        before = self._running.before
        machine = getattr(self.vm, "storage_map", None)
        if machine is None:
            raise RuntimeError(f"A call of a function{self._quoted_name()} of this mode cannot call it again.")
        own = [cell for variable, cell in machine.items() if variable.owner is not None]
        flags = list(getattr(self.vm, "compute_map", {}).values())
        arguments = [argument.cell for argument in self._arguments]
        kept = [(cell, cell[0]) for cell in (*own, *flags, *arguments)]
        try:
            for cell in own:
                cell[0] = None
            for cell, value in zip(arguments, before):
                cell[0] = value
            yield
        finally:
            self._running.function, self._running.before = self, before
            for cell, value in kept:
                cell[0] = value

    def _take_subset(self, kwargs: dict[str, Any]) -> list[int] | None:
        if "output_subset" not in kwargs or "output_subset" in self._position:
            return None
        subset = kwargs.pop("output_subset")
        if subset is None:
            return None
        keys = self.output_keys
        positions = []
        for item in subset:
            if keys is not None and item in keys:
                positions.append(keys.index(item))
            elif isinstance(item, int) and 0 <= item < self.n_returned_outputs:
                positions.append(item)
            else:
                known = keys if keys is not None else list(range(self.n_returned_outputs))
                raise ValueError(f"output_subset has the unknown output {item!r}; the outputs are {known}")
        return positions

    def _present(self, results: list[Any], subset: list[int] | None = None) -> Any:
        """Convert the list of results to the structure that the caller expects."""
        if self.return_none:
            return None
        if subset is not None:
            if self.output_keys is not None:
                return {self.output_keys[index]: results[index] for index in subset}
            return [results[index] for index in subset]
        if self.output_keys is not None:
            return dict(zip(self.output_keys, results))
        if self.unpack_single:
            return results[0]
        return results

    def _values(self, args: Sequence[object], kwargs: dict[str, object], trust_input: bool = False) -> list[Any]:
        """One value of its input's type for each explicit input."""
        arguments = self._arguments
        if len(args) > len(arguments):
            raise TypeError(
                f"Too many parameters passed to aesara function{self._quoted_name()}: "
                f"it takes {len(arguments)}, got {len(args)}. {self._describe_inputs()}"
            )
        values = list(args)
        given = [True] * len(arguments)
        if kwargs or len(args) < len(arguments):
            values, given = self._complete(values, kwargs)
        if not trust_input:
            for index, (argument, value) in enumerate(zip(arguments, values)):
                if given[index]:
                    values[index] = argument.convert(value, index, self.name)
        return values

    def _complete(self, values: list[object], kwargs: dict[str, object]) -> tuple[list[Any], list[bool]]:
        """Add the values given by name and the defaults to those given by position."""
        arguments = self._arguments
        is_set = [index < len(values) for index in range(len(arguments))]
        values = values + [None] * (len(arguments) - len(values))
        for name, value in kwargs.items():
            index = self._position.get(name)
            if index is None:
                if name in self.finder:
                    raise TypeError(
                        f"Tried to provide value for implicit input: {name}{self._of_function()}. "
                        "Set its container or shared variable instead."
                    )
                raise TypeError(f"Unknown input or state: {name}. {self._describe_inputs()}")
            if self.finder.get(name) is DUPLICATE:
                raise TypeError(f"Ambiguous name: {name}: more than one input of the function has it.")
            if is_set[index]:
                raise TypeError(f"Multiple values for input: {name}")
            values[index] = value
            is_set[index] = True
        for index, argument in enumerate(arguments):
            if not is_set[index]:
                if argument.required:
                    label = argument.name or f"number {index} ({argument.variable})"
                    raise TypeError(f"Missing required input: {label}{self._of_function()}. {self._describe_inputs()}")
                values[index] = argument.cell[0]
        return values, is_set

    def _run(self, values: list[Any]) -> list[Any]:
        """Run the virtual machine on checked values, and store the updates if everything has succeeded."""
        arguments = self._arguments
        if self._overwritable:
            self._separate(values)
        before = [argument.cell[0] for argument in arguments]
        self._running.function, self._running.before = self, before
        states: list[tuple[Type, Any, Any]] = []
        try:
            for argument, value in zip(arguments, values):
                argument.cell[0] = value
            for kind, cell in self._restorable:
                states.append((kind, cell[0], kind.state_of_value(cell[0])))
            self.vm()
            results = [cell[0] for cell in self._output_cells]
        except BaseException:
            for kind, value, state in states:
                kind.restore_value(value, state)
            raise
        finally:
            # What a call is given serves this call only.
            for argument, value in zip(arguments, before):
                argument.cell[0] = value
            for cell in self._cells_to_clear:
                cell[0] = None
        store_together([cell for cell, _ in self._updates], [results[index] for _, index in self._updates])
        return results[: self.n_returned_outputs]

    def _separate(self, values: list[object]) -> None:
        """Copy values that may be overwritten where they share memory with another argument."""
        for index in self._overwritable:
            value = values[index]
            kind: Any = self._arguments[index].container.type
            shares = kind.may_share_memory
            if any(other != index and shares(value, values[other]) for other in range(len(values))):
                values[index] = copy.deepcopy(value)

    # The same through a native callable, which does the ordinary calls without Python

    def _attach_native(self, native: Any) -> None:
        """Let calls go to a native callable.

        Functions that return what native code returns get a class of their own whose ``__call__`` is
        the native entry point itself, so that a call runs no Python code of this class.
        """
        self.vm = self._native = native
        entry = getattr(native, "entry", native)
        if hasattr(native, "entry") and not self._overwritable and not self._updated_arguments:
            self._quick = quick_conversion(self._arguments)
        if self.profile is not None:
            self._set_call(_time_calls(entry, self.profile, self.output_keys is not None))
        else:
            self._set_call(entry if self.output_keys is None else Function._call_native)

    def _set_call(self, call: Any) -> None:
        """Give the function a subclass of its own that overrides ``__call__``."""
        namespace = {"__call__": call, "__module__": Function.__module__, "__doc__": Function.__doc__}
        self.__class__ = type("Function", (Function,), {**namespace, "__qualname__": "Function"})

    def _call_native(self, /, *args: Any, **kwargs: Any) -> Any:
        results = self._native(*args, **kwargs)
        # The fallback has presented its results already.
        return results if isinstance(results, dict) else self._present(results)

    # The same for functions that are profiled

    def _call_measured(self, /, *args: object, **kwargs: object) -> Any:
        started = clock.now()
        result = Function.__call__(self, *args, **kwargs)
        self.profile.record_call(started, clock.now() - started, self.vm.seconds)
        return result

    def _compiled_graph(self) -> tuple[FunctionGraph, list[InputCell]]:
        """The graph that native code was made of, and its inputs.

        It is that of the maker, but for arguments and results that consist of several arrays.
        """
        marshalling = getattr(self._native, "marshalling", None)
        if marshalling is not None:
            return marshalling.graph, list(marshalling.inputs)
        graph: FunctionGraph = self.maker.fgraph
        cells = zip(graph.inputs, self.input_storage, self.maker.inputs)
        return graph, [InputCell(variable, one.storage, bool(spec.implicit)) for variable, one, spec in cells]

    def _native_fallback(self, /, *args: object, **kwargs: object) -> Any:
        """Run a call whose arguments native code does not accept as they are: convert them, or take the slow path."""
        if not kwargs and self._quick is not None:
            converted = self._quick(args)
            # If the code takes these no more than those before, it comes back, and there is nothing left to convert.
            if converted is not None:
                return self._native.entry(*converted)
        subset = self._take_subset(kwargs) if kwargs else None
        if self._updated_arguments:
            with Held(self._updated_arguments):  # from before their values are read
                result = self._careful(args, kwargs)
        else:
            result = self._careful(args, kwargs)
        return self._present([result] if self.unpack_single else result, subset)

    def _careful(self, args: Sequence[object], kwargs: dict[str, object]) -> Any:
        values = self._values(args, kwargs)
        if self._overwritable:
            self._separate(values)
        return self._native.careful(values)

    def _repr_html_(self) -> str:
        return hooks.html(self)

    # Inputs and states

    @property
    def outputs(self) -> list[Any]:
        """Descriptions of the outputs."""
        return list(self.maker.outputs)

    @property
    def _check_for_aliased_inputs(self) -> bool:
        """Return whether any argument is borrowed or mutable, so that arguments may not share memory."""
        return any(not spec.implicit and (spec.mutable or spec.borrow) for spec in self.maker.inputs)

    @property
    def _backend(self) -> str:
        """Description of the back end that runs the function."""
        if self._native is not None:
            return "native code"
        linker = self.maker.linker
        return f"compiled by {type(linker).__name__}" if linker.compiles_graphs else "Python, node by node"

    @property
    def _why_in_python(self) -> str | None:
        """Why the function runs in Python, node by node; None if it does not."""
        linker = self.maker.linker
        if self._native is not None or linker.compiles_graphs:
            return None
        return self._declined or f"the linker {type(linker).__name__} of the mode runs the nodes' Python code"

    def _is_updated(self, container: Container) -> bool:
        return id(container.storage) in self._updated_cells

    def __repr__(self) -> str:
        return text_of_function(self)

    def _quoted_name(self) -> str:
        return f' "{self.name}"' if self.name else ""

    def _of_function(self) -> str:
        return f" of aesara function{self._quoted_name()}"

    def _describe_inputs(self) -> str:
        names = [argument.name if argument.name is not None else "(unnamed)" for argument in self._arguments]
        inputs = f"{len(names)} input{'s' * (len(names) != 1)}"
        return f"The function has {inputs}: {', '.join(names)}." if names else "The function has no inputs."

    @property
    def value(self) -> ValueAttribute:
        """Values of the inputs between calls, by name, position or variable."""
        return ValueAttribute(self)

    @property
    def container(self) -> ContainerAttribute:
        """Containers of the inputs, by name, position or variable."""
        return ContainerAttribute(self)

    # A function is no operand: it is called.
    __add__, __radd__ = _no_operator("+")
    __sub__, __rsub__ = _no_operator("-")
    __mul__, __rmul__ = _no_operator("*")
    __truediv__, __rtruediv__ = _no_operator("/")
    __floordiv__, __rfloordiv__ = _no_operator("//")
    __mod__, __rmod__ = _no_operator("%")
    __pow__, __rpow__ = _no_operator("**")
    __matmul__, __rmatmul__ = _no_operator("@")

    def __contains__(self, item: object) -> bool:
        return item in self.value

    def __getitem__(self, item: object) -> Any:
        return self.value[item]

    def __setitem__(self, item: object, value: object) -> None:
        self.value[item] = value

    def get_shared(self) -> list[SharedVariable]:
        """Return the shared variables that the function reads or updates."""
        return [spec.variable for spec in self.maker.inputs if isinstance(spec.variable, SharedVariable)]

    def sync_shared(self) -> None:
        """Wait until shared variables have their new values; on the host they always have."""

    def free(self) -> None:
        """Drop what calls have left for the next ones: temporaries, workspace, and arrays of lent results."""
        clear = getattr(self.vm, "clear_storage", None)
        if clear is None:
            return
        # Native code keeps what a call uses apart; the cells of a virtual machine belong to the call that runs.
        with Held([] if self._native is not None else self._guards[:1]):
            clear()

    # Copies

    def copy(
        self,
        share_memory: bool = False,
        swap: dict[SharedVariable, SharedVariable] | None = None,
        delete_updates: bool = False,
        name: str | None = None,
        profile: ProfileStats | bool | str | None = None,
    ) -> Function:
        """Return another function with the same graph, without rewriting it again.

        Parameters
        ----------
        share_memory
            Let both functions have the same cells for temporaries and constants.  Where nodes run one by one, the
            temporaries that stay between calls (``allow_gc=False``) are then there once, and the functions cannot
            run at the same time in two threads.  In native code temporaries belong to a call in any case.
        swap
            Shared variables of this function -> those to use instead.
        delete_updates
            Leave the updates out.
        name
            Name of the copy.  Default: this function's name with `` copy`` added.
        profile
            See `aesara.function`.
        """
        swap = dict(swap or {})
        shared = {id(spec.variable): spec.variable for spec in self.maker.inputs if spec.implicit}
        for old, new in swap.items():
            if id(old) not in shared:
                raise ValueError(f"SharedVariable: {describe(old)} not found in the function. {self.get_shared()}")
            if not old.type.is_super(new.type):
                raise TypeError(
                    f"Cannot swap {describe(old)} of type {old.type} with {describe(new)} of type {new.type}."
                )
        maker, copies = self.maker.copy_with(swap, delete_updates, name or f"{self.name} copy", profile)
        values: list[Any] = []
        for spec, container in zip(self.maker.inputs, self.input_storage):
            if spec.variable in swap:
                values.append(swap[spec.variable].container)
            elif _is_shared(spec):
                values.append(container)
            elif self._is_updated(container) or spec.mutable:
                values.append(copy.deepcopy(container.value))
            else:
                # Nothing writes to a default value: both functions take the same.
                values.append(OwnContainer(_copy_container(container)))
        cells = self._cells_to_share() if share_memory else {}
        function = maker.create(values, {copies.get(v, v): cell for v, cell in cells.items()} or None)
        function.trust_input = self.trust_input
        if cells:
            function._running = self._running
            function._guards = (self._guards[0], *function._guards[1:])
        return function

    def _cells_to_share(self) -> dict[Variable, list[Any]]:
        """The cells in which a copy may have its temporaries and constants.

        What may be memory of a result stays apart: the copy may have other results, and write there.
        """
        graph: FunctionGraph = self.maker.fgraph
        apart = {*graph.inputs, *(infer_reuse_pattern(graph, graph.outputs) if self._native is None else graph.outputs)}
        return {v: cell for v, cell in getattr(self.vm, "storage_map", {}).items() if v not in apart}

    def __copy__(self) -> Function:
        return self.copy(name=self.name)

    def __deepcopy__(self, memo: dict[int, object]) -> Function | None:
        # Shared variables are copied too, once for everything that is copied together.
        return _rebuild_function(*copy.deepcopy(self.__reduce__()[1], memo))

    def __reduce__(self) -> tuple:
        # The containers themselves: functions that are copied together go on sharing those that they share.
        values = [
            None if spec.implicit else container if _is_shared(spec) else OwnContainer(container)
            for spec, container in zip(self.maker.inputs, self.input_storage)
        ]
        return _rebuild_function, (self.maker, values, self.trust_input)


def _is_shared(spec: SymbolicInput) -> bool:
    """Return whether an input's container belongs to the caller, so that copies of the function share it."""
    return spec.implicit or isinstance(spec.value, Container)


def _copy_container(container: Container) -> Container:
    strict, downcast = container.strict, container.allow_downcast
    return Container(container.type, [container.value], strict=strict, allow_downcast=downcast, name=container.name)


def _time_calls(entry: Callable[..., Any], profile: Any, by_name: bool) -> Callable[..., Any]:
    """The ``__call__`` of a native function that is profiled; `by_name`: it returns a dict."""
    record = profile.record_call

    def call(self: Function, /, *args: object, **kwargs: object) -> Any:
        started = clock.now()
        results = entry(*args, **kwargs)
        inside = seconds = clock.now() - started
        if by_name:
            if not isinstance(results, dict):
                results = self._present(results)
            seconds = clock.now() - started
        record(started, seconds, inside)
        return results

    return call


def _rebuild_function(maker: Any, values: list[Any], trust_input: bool = False) -> Function | None:
    """Make a function when it is read from a file; it is compiled again if its code does not suit this machine."""
    if not config.unpickle_function or maker is None:
        return None
    maker.confirm()
    function = maker.create([spec.value if spec.implicit else value for spec, value in zip(maker.inputs, values)])
    function.trust_input = trust_input
    return function
