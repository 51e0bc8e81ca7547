"""Measurements of a profile: `ProfileStats`, which ``aesara.function(..., profile=True)`` fills."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np

from aesara import clock
from aesara.compile import profile_text, profile_trace
from aesara.compile.profile_html import profile_html
from aesara.compile.step_times import NativeTimes, StepTime
from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import ThunkType, is_thunk_type

#: profiles whose summaries are printed when the program ends
PRINTED_AT_EXIT: list[ProfileStats] = []
#: what else prints something at the end of each summary
PRINTERS: list[Callable[..., Any]] = []

Key = tuple[FunctionGraph, Apply]


class ProfileStats:
    """Measurements of one function, or of several together.

    Parameters
    ----------
    atexit_print
        Whether the summary is printed when the program ends, to ``config.profiling__destination``.
    flag_time_thunks
        Whether each node, and each step of native code, is measured.  Default: ``config.profiling__time_thunks``.
    **kwargs
        Initial values of attributes, such as ``message``.

    Attributes
    ----------
    message
        A line at the top of the summary.
    fct_callcount, fct_call_time
        How often the function has been called, and seconds in all calls.
    vm_call_time
        Seconds of them in compiled code or in the virtual machine.
    compile_time, rewriting_time, linker_time
        Seconds of compiling as a whole, of rewriting the graph, and of making code.
    stages
        Seconds of the parts of `linker_time`: ``lower``, ``emit``, ``build``, ``link``.
    nb_nodes
        How many nodes the rewritten graph has.
    variable_shape, variable_strides, variable_offset
        With ``config.profile_memory`` when the function is compiled, what the last call has computed, node by node.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> profile = ProfileStats(atexit_print=False)
    >>> f = aesara.function([x], at.exp(x).sum(), profile=profile)
    >>> _ = f([1.0]), f([2.0])
    >>> profile.fct_callcount, sorted(op.__name__ for op in profile.class_time())
    (2, ['Elemwise', 'Sum'])
    """

    show_sum = True
    message: str | None = None
    compile_time = 0.0
    fct_call_time = 0.0
    fct_callcount = 0
    vm_call_time = 0.0
    rewriting_time = 0.0
    validate_time = 0.0
    linker_time = 0.0
    import_time = 0.0
    linker_node_make_thunks = 0.0
    nb_nodes = -1
    rewriter_profile: Any = None

    def __init__(self, atexit_print: bool = True, flag_time_thunks: bool | None = None, **kwargs: Any) -> None:
        self.stages: dict[str, float] = {}
        self.linker_make_thunk_time: dict[Apply, float] = {}
        self.output_size: dict[Variable, int] = {}
        self.line_width: int = config.profiling__output_line_width
        self.ignore_first_call: bool = config.profiling__ignore_first_call
        self.flag_time_thunks = config.profiling__time_thunks if flag_time_thunks is None else flag_time_thunks
        self._natives: list[NativeTimes] = []
        self._ticks: list[np.ndarray] = []
        self._timeline = profile_trace.Timeline()
        self.reset()
        kwargs.pop("gpu_checks", None)  # there is no GPU that could be measured wrongly
        for name, value in kwargs.items():
            if not hasattr(self, name) or name.startswith("_"):
                raise TypeError(f"ProfileStats has no attribute {name!r} to give a value.")
            setattr(self, name, value)
        if atexit_print:
            PRINTED_AT_EXIT.append(self)

    def reset(self) -> None:
        """Reset the measurements of calls; those of compilation are kept."""
        self.fct_callcount = 0
        self.fct_call_time = 0.0
        self.vm_call_time = 0.0
        self._thunks: dict[Key, list] = {}
        self._cimpl: dict[Apply, bool] = {}
        self.variable_shape: dict[Variable, tuple[int, ...]] = {}
        self.variable_strides: dict[Variable, tuple[int, ...]] = {}
        self.variable_offset: dict[Variable, int] = {}
        self.output_size.clear()
        self._timeline.forget_calls()
        for native in self._natives:
            if native.timers is not None:
                native.timers.ticks[:] = 0
                native.timers.sizes[:] = 0

    # What is measured

    def record_call(self, started: float, seconds: float, vm_seconds: float) -> None:
        """Add a call of the function: by `clock.now`, when it started, and how long it took."""
        if self.ignore_first_call:
            self.ignore_first_call = False
            self.reset()
            return
        self.fct_callcount += 1
        self.fct_call_time += seconds
        self.vm_call_time += vm_seconds
        self._timeline.add_call(started, seconds, self._ticks)

    def add_native(self, graph: Callable[[], FunctionGraph], implicit: Sequence[bool], native: Any) -> None:
        """Add a native function, and how long making it has taken; the parameters are those of `NativeTimes`."""
        self._natives.append(NativeTimes(graph, implicit, native))
        self._ticks = [one.timers.ticks for one in self._natives if one.timers is not None]
        self.add_linking(native.report.seconds)

    def add_linking(self, seconds: dict[str, float]) -> None:
        """Add the seconds of stages of linking."""
        self._timeline.add_phases(seconds)
        for stage, duration in seconds.items():
            self.stages[stage] = self.stages.get(stage, 0.0) + duration
            self.linker_time += duration

    def add_rewriting(self, seconds: float) -> None:
        """Add the seconds in which the graph of a function was rewritten; they have just passed."""
        self._timeline.add_phases({"rewrite": seconds})
        self.rewriting_time += seconds

    def add_compiling(self, seconds: float) -> None:
        """Add the seconds of making a function as a whole; they have just passed."""
        self._timeline.add_phases({"compile": seconds})
        self.compile_time += seconds

    def measured_thunk(self, fgraph: FunctionGraph, node: Apply, thunk: ThunkType) -> ThunkType:
        """Return a thunk that does the same and adds up its time; machines of single nodes call it."""
        if not self.flag_time_thunks:
            return thunk
        key = (fgraph, node)
        with_memory = config.profile_memory

        def measure() -> Any:
            started = clock.now()
            result = thunk()
            spent = clock.now() - started
            entry = self._thunks.get(key)
            if entry is None:
                entry = self._thunks[key] = [0.0, 0]
                self._cimpl[node] = False
            entry[0] += spent
            self._timeline.add_node_run(started, spent, node)
            if not result:  # a lazy node that asks for inputs has not run yet
                entry[1] += 1
                if with_memory:
                    self._note_memory(node, run.outputs)
            return result

        run = is_thunk_type(measure)
        vars(run).update(vars(thunk))
        return run

    def _note_memory(self, node: Apply, cells: Sequence[list[object]]) -> None:
        for variable, (value,) in zip(node.outputs, cells):
            if isinstance(value, np.ndarray):
                self.variable_shape[variable] = value.shape
                self.variable_strides[variable] = value.strides
                base = value.base if isinstance(value.base, np.ndarray) else value
                self.variable_offset[variable] = value.ctypes.data - base.ctypes.data
                self.output_size[variable] = value.nbytes

    # What has been measured, by node, operation and class

    def steps(self) -> list[StepTime]:
        """The steps of native functions, with their nodes, times and numbers of calls."""
        return [step for native in self._natives for step in native.steps()]

    def _entries(self) -> dict[Key, tuple[float, int]]:
        found = {key: (entry[0], entry[1]) for key, entry in self._thunks.items()}
        for native in self._natives:
            for node, entry in native.nodes().items():
                found[native.fgraph, node] = entry
        return found

    def bytes_of_nodes(self) -> dict[Key, int]:
        """(graph, node) -> bytes of its results in the last call, for nodes whose results are known to be in memory."""
        found: dict[Key, int] = {}
        for key in self._thunks:
            sizes = [self.output_size[out] for out in key[1].outputs if out in self.output_size]
            if sizes:
                found[key] = sum(sizes)
        for native in self._natives:
            found.update({(native.fgraph, node): size for node, size in native.bytes_of_nodes().items()})
        return found

    @property
    def apply_time(self) -> dict[Key, float]:
        """(graph, node) -> seconds.  Nodes that native code computes in one step share its time in equal parts."""
        return {key: seconds for key, (seconds, _) in self._entries().items()}

    @property
    def apply_callcount(self) -> dict[Key, int]:
        """(graph, node) -> how often it has run."""
        return {key: calls for key, (_, calls) in self._entries().items()}

    @property
    def apply_cimpl(self) -> dict[Apply, bool]:
        """Node -> whether it runs natively."""
        found = dict(self._cimpl)
        for native in self._natives:
            for step in native.steps():
                found.update({node: node not in native.python_nodes for node in step.nodes})
        return found

    def op_time(self) -> dict[Any, float]:
        """Operation -> seconds."""
        return _sums(self.apply_time, lambda node: node.op)

    def op_callcount(self) -> dict[Any, int]:
        """Operation -> how often its nodes have run."""
        return _sums(self.apply_callcount, lambda node: node.op)

    def op_nodes(self) -> dict[Any, int]:
        """Operation -> how many nodes have run."""
        return _sums(dict.fromkeys(self._entries(), 1), lambda node: node.op)

    def op_impl(self) -> dict[Any, str]:
        """Operation -> ``'C '`` (native code), ``'Py'`` or ``'C/Py'``."""
        return _languages(self.apply_cimpl, lambda node: node.op)

    def class_time(self) -> dict[type, float]:
        """Class of operations -> seconds."""
        return _sums(self.apply_time, lambda node: type(node.op))

    def class_callcount(self) -> dict[type, int]:
        """Class of operations -> how often its nodes have run."""
        return _sums(self.apply_callcount, lambda node: type(node.op))

    def class_nodes(self) -> dict[type, int]:
        """Class of operations -> how many nodes have run."""
        return _sums(dict.fromkeys(self._entries(), 1), lambda node: type(node.op))

    def class_impl(self) -> dict[type, str]:
        """Class of operations -> ``'C '`` (native code), ``'Py'`` or ``'C/Py'``."""
        return _languages(self.apply_cimpl, lambda node: type(node.op))

    def fill_node_total_time(self, fgraph: FunctionGraph, node: Apply, total_times: dict[Apply, float]) -> None:
        """Set ``total_times[node]`` to the seconds of a node and of all nodes that it depends on."""
        self._fill_total(fgraph, node, total_times, self.apply_time)

    def _fill_total(
        self, fgraph: FunctionGraph, node: Apply, total_times: dict[Apply, float], times: dict[Key, float]
    ) -> None:
        seen, pending, total = {node}, [node], 0.0
        while pending:
            current = pending.pop()
            total += times.get((fgraph, current), 0.0)
            for variable in current.inputs:
                if variable.owner is not None and variable.owner not in seen:
                    seen.add(variable.owner)
                    pending.append(variable.owner)
        total_times[node] = total

    def compute_total_times(self) -> dict[Apply, float]:
        """Node -> seconds of the node and of all nodes that it depends on."""
        times = self.apply_time
        totals: dict[Apply, float] = {}
        for fgraph, node in times:
            self._fill_total(fgraph, node, totals, times)
        return totals

    def as_dict(self) -> dict[str, Any]:
        """The numbers as a dict of texts and numbers, to be stored or compared.

        ``"nodes"`` and ``"steps"`` have the seconds, calls and lines of the user's program of each node and of each
        step of native code. ``"bytes"`` of a step is the memory that it read or wrote in the last call; that of a node
        is the size of its results, if native code stores them, or if ``config.profile_memory`` was on.
        ``"workspace_bytes"`` is what native code keeps for intermediate results.
        """
        nodes = []
        stored = self.bytes_of_nodes()
        for key, (seconds, calls) in self._entries().items():
            node = key[1]
            size = {"bytes": stored[key]} if key in stored else {}
            known = {"node": str(node), "op": str(node.op), "source": profile_text.place_of(node)}
            nodes.append({**known, "seconds": seconds, "calls": calls, **size})
        steps = [
            {
                "kind": step.kind, "seconds": step.seconds, "calls": step.calls, "bytes": step.bytes,
                "nodes": [str(n) for n in step.nodes], "lines": profile_trace.lines_of(step.nodes),
            }
            for step in self.steps()
        ]  # fmt: skip
        names = ("message", "fct_callcount", "fct_call_time", "vm_call_time", "compile_time", "rewriting_time")
        found = {name: getattr(self, name) for name in (*names, "linker_time", "nb_nodes")}
        workspace = sum(native.workspace or 0 for native in self._natives)
        return {**found, "stages": dict(self.stages), "workspace_bytes": workspace, "nodes": nodes, "steps": steps}

    def to_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a file for Perfetto or Chrome: when functions were compiled and called, and what calls consist of.

        Parameters
        ----------
        path
            The file to write, in the trace event format (JSON).  Open it at ``ui.perfetto.dev`` or ``chrome://tracing``.

        Notes
        -----
        Only the last 1,000 calls are in it, and the last 20,000 runs of single nodes.  Of the steps of native code the
        durations are measured, not the moments at which they begin: they are drawn one after the other.

        Examples
        --------
        >>> import json, os, tempfile
        >>> x = at.dvector("x")
        >>> f = aesara.function([x], at.exp(x).sum(), profile=ProfileStats(atexit_print=False))
        >>> _ = f([1.0])
        >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
        >>> f.profile.to_trace(path)
        >>> [event["cat"] for event in json.load(open(path))["traceEvents"] if event["ph"] == "X"][-2:]
        ['call', 'nest']
        """
        profile_trace.write_trace(path, self._timeline, self._natives, self.message)

    def __reduce__(self) -> tuple:
        # What was measured belongs to functions of this process: elsewhere it begins at zero.
        return profile_at_zero, (self.message, self.flag_time_thunks, self.line_width)

    # Text

    def _repr_html_(self) -> str:
        return profile_html(self)

    def summary(
        self, file: IO[str] | None = None, n_ops_to_print: int | None = None, n_apply_to_print: int | None = None
    ) -> None:
        """Print everything.

        Parameters
        ----------
        file
            Where to.  Default: the standard error stream.
        n_ops_to_print, n_apply_to_print
            How many classes, operations and nodes to list at most.
            Default: ``config.profiling__n_ops`` and ``config.profiling__n_apply``.
        """
        file = _stream(file)
        self.summary_function(file)
        self.summary_globals(file)
        if self.fct_callcount:
            if self._entries():
                self.summary_class(file, n_ops_to_print)
                self.summary_ops(file, n_ops_to_print)
                self.summary_nodes(file, n_apply_to_print)
            self.summary_steps(file, n_apply_to_print)
        if self.variable_shape or any(native.workspace for native in self._natives):
            self.summary_memory(file, n_apply_to_print)
        if self.rewriter_profile is not None:
            rewriter, measured = self.rewriter_profile
            print("Rewriter Profile\n----------------", file=file)
            rewriter.print_profile(file, measured)
        self.print_extra(file)
        self.print_tips(file)

    def summary_function(self, file: IO[str]) -> None:
        """Print the times of calls and of compiling."""
        profile_text.write_function(self, _stream(file))

    def summary_globals(self, file: IO[str]) -> None:
        """Print the time since the package was imported."""
        print(f"Time since aesara import {clock.now() - clock.IMPORTED_AT:.3f}s", file=_stream(file))

    def summary_class(self, file: IO[str] | None = None, N: int | None = None) -> None:
        """Print the times of classes of operations, the longest `N` of them."""
        profile_text.write_classes(self, _stream(file), config.profiling__n_ops if N is None else N)

    def summary_ops(self, file: IO[str] | None = None, N: int | None = None) -> None:
        """Print the times of operations, the longest `N` of them."""
        profile_text.write_ops(self, _stream(file), config.profiling__n_ops if N is None else N)

    def summary_nodes(self, file: IO[str] | None = None, N: int | None = None) -> None:
        """Print the times of nodes, the longest `N` of them, with the lines of the program they come from."""
        profile_text.write_nodes(self, _stream(file), config.profiling__n_apply if N is None else N)

    def summary_steps(self, file: IO[str] | None = None, N: int | None = None) -> None:
        """Print the times of the steps of native code, the longest `N` of them, with the nodes that they compute."""
        profile_text.write_steps(self, _stream(file), config.profiling__n_apply if N is None else N)

    def summary_memory(self, file: IO[str], N: int | None = None) -> None:
        """Print the sizes of results, the largest `N` of them, and the memory that was in use at once."""
        limit = config.profiling__n_apply if N is None else N
        graphs = list(dict.fromkeys(fgraph for fgraph, _ in self._thunks))
        workspaces = [native.workspace for native in self._natives if native.workspace]
        profile_text.write_memory(self.output_size, graphs, workspaces, limit, _stream(file))

    def print_tips(self, file: IO[str]) -> None:
        """Print suggestions for making the function faster."""
        profile_text.write_tips(self.apply_cimpl, bool(self._thunks), _stream(file))

    def print_extra(self, file: IO[str]) -> None:
        """Print the graphs if ``config.profiling__debugprint``; call the functions of `register_profiler_printer`."""
        if config.profiling__debugprint:
            graphs = [fgraph for fgraph, _ in self._thunks] + [native.fgraph for native in self._natives]
            for fgraph in dict.fromkeys(graphs):
                hooks.debugprint(fgraph, file=_stream(file))
        for printer in PRINTERS:
            printer(
                self.message, self.compile_time, self.fct_call_time, self.apply_time, self.apply_cimpl,
                self.output_size, file=_stream(file),
            )  # fmt: skip

    def absorb(self, other: ProfileStats) -> None:
        """Add the numbers of another profile."""
        for name in _ADDED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.nb_nodes = max(self.nb_nodes, 0) + max(other.nb_nodes, 0)
        self._timeline.phases += other._timeline.phases
        for stage, seconds in other.stages.items():
            self.stages[stage] = self.stages.get(stage, 0.0) + seconds
        self._natives += [native for native in other._natives if native not in self._natives]
        for key, (seconds, calls) in other._thunks.items():
            entry = self._thunks.setdefault(key, [0.0, 0])
            entry[0] += seconds
            entry[1] += calls
        self._cimpl.update(other._cimpl)
        self.output_size.update(other.output_size)
        self.variable_shape.update(other.variable_shape)


def profile_at_zero(message: str | None, flag_time_thunks: bool, line_width: int) -> ProfileStats:
    """The profile of a function that is read from a file."""
    return ProfileStats(False, flag_time_thunks, message=message, line_width=line_width)


_ADDED = (
    "compile_time", "fct_call_time", "fct_callcount", "vm_call_time", "rewriting_time", "validate_time", "linker_time",
    "import_time", "linker_node_make_thunks",
)  # fmt: skip


def _sums(values: dict[Key, Any], group: Callable[[Apply], Any]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for (_, node), value in values.items():
        key = group(node)
        found[key] = found.get(key, 0) + value
    return found


def _languages(native: dict[Apply, bool], group: Callable[[Apply], object]) -> dict[Any, str]:
    found: dict[Any, set[bool]] = {}
    for node, is_native in native.items():
        found.setdefault(group(node), set()).add(is_native)
    return {key: "C/Py" if len(kinds) > 1 else "C " if True in kinds else "Py" for key, kinds in found.items()}


def _stream(file: IO[str] | None) -> IO[str]:
    return sys.stderr if file is None else file
