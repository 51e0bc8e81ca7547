"""`scan`: loops over sequences and states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Constant, Variable
from aesara.graph.shared import SharedVariable, collect_new_shareds
from aesara.graph.source import inherit_source
from aesara.graph.traversal import graph_inputs
from aesara.records import dataclass
from aesara.scalar.types import ScalarType
from aesara.scan.closing import close
from aesara.scan.first_values import FirstValue, settle
from aesara.scan.op import Scan
from aesara.scan.parts import LoopParts, State, expand_empty, take_first_row, take_test_value
from aesara.scan.stopping import until
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import get_scalar_constant_value
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_type import DenseTensorType, TensorType
from aesara.tensor.elementwise.ops import minimum
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.shapes.specify_shape import specify_shape, unbroadcast
from aesara.updates import OrderedUpdates

__all__ = ["config", "get_updates_and_outputs", "isNaN_or_Inf_or_None", "minimum", "scan"]


def isNaN_or_Inf_or_None(x: Any) -> bool:
    """Return whether `x` is None, or a number (or constant) that is NaN or infinite.

    Examples
    --------
    >>> isNaN_or_Inf_or_None(None), isNaN_or_Inf_or_None(float("inf")), isNaN_or_Inf_or_None(3)
    (True, True, False)
    """
    if x is None:
        return True
    if isinstance(x, Variable) and not isinstance(x, Constant):
        return False
    value = x.data if isinstance(x, Constant) else x
    try:
        return not bool(np.isfinite(value))
    except TypeError:
        return False


@dataclass
class _Sequence:
    """A sequence and its taps."""

    variable: Any
    taps: tuple[int, ...]


@dataclass
class _Output:
    """First values and taps of an output; no first value if no step reads the output."""

    value: FirstValue | None = None
    taps: tuple[int, ...] = ()


@dataclass
class Returned:
    """Outputs, updates and condition returned by a step."""

    outputs: list[Any] = field(default_factory=list)
    updates: OrderedUpdates = field(default_factory=OrderedUpdates)
    condition: Any = None
    #: shared variables that the step has created and updates by their ``default_update``
    created: list[SharedVariable] = field(default_factory=list)

    def take_default_updates(self, created: Sequence[SharedVariable]) -> None:
        """Update shared variables that the step has created and uses by their ``default_update``, unless the step
        updates them.
        """
        defaults = {v: getattr(v, "default_update", None) for v in created}
        pending = {v: update for v, update in defaults.items() if update is not None and v not in self.updates}
        roots = [*self.outputs, *self.updates.values(), *([] if self.condition is None else [self.condition])]
        while pending:
            leaves = set(graph_inputs(roots))
            used = [v for v in pending if v in leaves]
            if not used:
                return
            roots = [pending.pop(v) for v in used]
            self.updates.update(zip(used, roots))
            self.created += used


def get_updates_and_outputs(ls: Any) -> tuple[Any, list[Any], OrderedUpdates]:
    """Sort values returned by a step into a condition, outputs and updates.

    A step returns outputs, updates (a mapping or list of pairs) and an `until`, in this order; each may be missing.

    Returns
    -------
    tuple
        The condition or None, the list of outputs, and the updates.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.dscalar("x")
    >>> get_updates_and_outputs((x + 1, until(x > 3)))[1:]
    ([Elemwise{add,no_inplace}.0], OrderedUpdates())
    """
    results = _sort_results(ls)
    return results.condition, results.outputs, results.updates


def _is_updates(value: Any) -> bool:
    """Return whether this is a mapping, or a list of pairs, from shared variables to expressions."""
    if isinstance(value, Mapping):
        return True
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(p, (list, tuple)) and len(p) == 2 and isinstance(p[0], SharedVariable) for p in value)
    )


def _is_outputs(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(not isinstance(v, (until, Mapping, list, tuple)) for v in value)
    return not isinstance(value, (until, Mapping))


def _sort_results(returned: Any) -> Returned:
    if returned is None:
        raise ValueError("scan: the step returned None: does it lack a return statement?")
    if isinstance(returned, until):
        return Returned(condition=returned.condition)
    if _is_updates(returned):
        return Returned(updates=OrderedUpdates(returned))
    if not isinstance(returned, (list, tuple)):
        is_other = isinstance(returned, Variable) and not isinstance(returned.type, (TensorType, ScalarType))
        return Returned([returned if is_other else as_tensor_variable(returned)])
    parts = list(returned)
    result = Returned()
    if parts and isinstance(parts[-1], until):
        result.condition = parts.pop().condition
    if parts and (_is_updates(parts[-1]) or (len(parts) == 2 and parts[-1] in ([], ()))):
        result.updates = OrderedUpdates(parts.pop())
    if len(parts) == 1 and isinstance(parts[0], (list, tuple)):
        parts = list(parts[0])
    if not _is_outputs(parts):
        raise ValueError(
            "scan: the step must return outputs, then updates, then until(...), each of which may be missing; got "
            f"{returned!r}."
        )
    result.outputs = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in parts]
    return result


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple, range)) else [value]


def _read_sequences(sequences: Any) -> list[_Sequence]:
    result = []
    for entry in _as_list(sequences):
        taps: Any = [0]
        if isinstance(entry, Mapping):
            if "input" not in entry:
                raise ValueError(f"scan: a sequence given as a dictionary needs the key 'input', got {entry!r}.")
            taps = entry.get("taps", [0])
            entry = entry["input"]
            taps = [0] if taps is None else taps
        variable = entry if isinstance(entry, Variable) else as_tensor_variable(entry)
        if getattr(variable.type, "ndim", 0) < 1:
            raise ValueError(
                f"scan: a sequence needs at least one dimension, got {describe(variable)} of type {variable.type}."
            )
        if not isinstance(variable.type, DenseTensorType):
            raise TypeError(
                f"scan: a sequence must be a dense tensor, got {describe(variable)} of type {variable.type}: use its "
                "dense form, as in matrix.toarray(), or give it as a non-sequence."
            )
        result.append(_Sequence(variable, tuple(int(t) for t in _as_list(taps))))
    return result


def _read_outputs(outputs_info: Any) -> list[_Output] | None:
    if outputs_info is None or (isinstance(outputs_info, (list, tuple)) and not outputs_info):
        return None
    result = []
    for entry in _as_list(outputs_info):
        if isinstance(entry, Mapping):
            if entry.get("initial") is None:
                if entry.get("taps"):
                    raise ValueError("scan: an output that is read by taps needs 'initial', its first values.")
                result.append(_Output())
                continue
            taps_entry = entry.get("taps", [-1])
            taps = tuple(int(t) for t in _as_list(taps_entry or []))
            entry = entry["initial"]
            if taps == (-1,) and not isinstance(taps_entry, (list, int, np.integer)):
                entry = as_tensor_variable(entry)[0]  # any other sequence says that there is a leading dimension
            if any(t >= 0 for t in taps):
                raise ValueError(f"scan: taps of outputs must be negative, got {list(taps)}.")
            if len(set(taps)) < len(taps):
                raise ValueError(f"scan: taps of outputs must differ from each other, got {list(taps)}.")
            if not taps:
                result.append(_Output())
                continue
        elif entry is None:
            result.append(_Output())
            continue
        else:
            taps = (-1,)
        value = FirstValue(entry)
        first = value.variable
        if taps != (-1,) and not value.has_rows:
            raise TypeError(
                f"scan: {describe(first)} of type {first.type} is no dense tensor, so that a loop keeps its last "
                f"value only: the step cannot read it by the taps {list(taps)}."
            )
        if taps != (-1,) and first.type.ndim < 1:
            raise ValueError(
                f"scan: an output with taps {list(taps)} needs {-min(taps)} first values along a leading dimension, got"
                f" {describe(first)} of type {first.type}."
            )
        result.append(_Output(value, taps))
    return result


class _Loop:
    """State of a call of `scan`: inputs, outputs and number of steps."""

    def __init__(
        self, fn: Callable, sequences: Any, outputs_info: Any, non_sequences: Any, n_steps: object, go_backwards: bool,
        strict: bool,
    ):  # fmt: skip
        self.fn, self.strict, self.go_backwards = fn, strict, go_backwards
        self.sequences = _read_sequences(sequences)
        self.outputs = _read_outputs(outputs_info)
        self.non_sequences = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in _as_list(non_sequences)]
        self.rows = [(s, self._shift_by_taps(s)) for s in self.sequences]
        self.n_steps = self._number_of_steps(n_steps)

    # -- number of steps -------------------------------------------------------------------------------------

    def _shift_by_taps(self, sequence: _Sequence) -> list[Any]:
        """Return a sequence once per tap, sliced such that its first entry is that of the first step."""
        low, high = min(0, *sequence.taps), max(0, *sequence.taps)
        result = []
        for tap in sequence.taps:
            rows = sequence.variable[tap - low :] if tap == high else sequence.variable[tap - low : tap - high]
            result.append(rows[::-1] if self.go_backwards else rows)
        return result

    def _number_of_steps(self, n_steps: object) -> Any:
        if isinstance(n_steps, (float, np.floating)):
            raise ValueError(f"scan: n_steps must be an integer, got {n_steps!r}.")
        lengths = [rows[0].shape[0] if rows[0].type.shape[0] is None else constant(rows[0].type.shape[0], dtype="int64")
                   for _, rows in self.rows]  # fmt: skip
        if not isNaN_or_Inf_or_None(n_steps):
            steps = as_tensor_variable(n_steps)
            if steps.type.ndim or steps.type.dtype.startswith(("float", "complex")):
                raise ValueError(f"scan: n_steps must be an integer, got {describe(n_steps)} of type {steps.type}.")
            return steps if steps.type.dtype == "int32" else steps.astype("int64")
        if not lengths:
            raise ValueError("scan: give n_steps, or a sequence whose length says how many steps there are.")
        known = [n.data.item() for n in lengths if isinstance(n, Constant)]
        unknown = [n for n in lengths if not isinstance(n, Constant)]
        steps = constant(min(known), dtype="int64") if known else unknown.pop(0)
        for n in unknown:
            steps = minimum(steps, n)
        return steps

    def known_steps(self) -> int | None:
        try:
            return int(get_scalar_constant_value(self.n_steps))
        except NotScalarConstantError:
            return None

    # -- the step --------------------------------------------------------------------------------------------

    def call_step(self, entries: list[Any], taps: Callable[[FirstValue, tuple[int, ...]], list[Any]]) -> Returned:
        """Call the function of the user; `taps(value, taps)` returns the arguments for former values of an output."""
        self.entries = entries

        def call() -> Returned:
            for output in self.outputs or []:
                if output.value is not None:
                    output.value.inner = taps(output.value, output.taps)
            return self._call_fn()

        return settle([output.value for output in self.outputs or []], call)

    def _call_fn(self) -> Returned:
        taps = [v for output in self.outputs or [] if output.value is not None for v in output.value.inner]
        arguments = [*self.entries, *taps, *self.non_sequences]
        try:
            with collect_new_shareds() as created:
                returned = self.fn(*arguments)
        except TypeError as error:
            if getattr(error.__traceback__, "tb_next", None) is not None:
                raise  # from inside of the step
            counts = (
                (len(self.entries), "sequences"),
                (len(taps), "outputs_info"),
                (len(self.non_sequences), "non_sequences"),
            )
            received = ", then ".join(f"{count} from {kind}" for count, kind in counts if count)
            raise TypeError(f"scan calls the step with {len(arguments)} arguments ({received}): {error}") from None
        results = _sort_results(returned)
        results.take_default_updates(created)
        return results

    def check_outputs(self, returned: Returned) -> list[_Output]:
        """Return the description of each output; raise if their number differs from that of `outputs_info`."""
        outputs = self.outputs
        if outputs is None:
            return [_Output() for _ in returned.outputs]
        if len(outputs) != len(returned.outputs):
            raise ValueError(
                f"scan: the step returns {len(returned.outputs)} outputs, but outputs_info has {len(outputs)} "
                "entries. Give one for each, None where no former value is read."
            )
        return outputs


def _row_type(kind: Any) -> Any:
    return TensorType(kind.dtype, kind.shape[1:])


def scan(
    fn: Callable,
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: Any = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
    checkpoint_memory: int | None = None,
) -> tuple[Any, OrderedUpdates]:
    """Apply a function repeatedly to entries of sequences and to its own results.

    Parameters
    ----------
    fn
        The step: it takes entries of `sequences`, former values of the outputs (as `outputs_info` says) and
        `non_sequences`, in this order, and returns outputs, updates of shared variables, and `until`, each of which
        may be missing. Shared variables that the step makes, such as the generators of a `RandomStream`, are updated
        in each step by their ``default_update``, which becomes that of the loop.
    sequences
        Tensors; each step gets one entry along the first dimension. A dictionary with ``input`` and ``taps`` passes
        several entries, at the given offsets from the step.
    outputs_info
        One entry per output. None if no step reads the output; the value before the first step if each step reads the
        last value; or a dictionary with ``initial``, the first values along a leading dimension, and ``taps``, the
        offsets of the former values that each step reads (-1 is the last one). A first value has the dtype and the
        number of dimensions of the output. Python numbers are converted to this dtype, and arrays if it is wider than
        their own; then the step is called again. A first value may also be the state of a random generator; the output
        is then its last state.
    non_sequences
        Variables that are passed to each step unchanged, so that the step may take gradients with respect to them.
        Other variables that the step uses need not be listed.
    n_steps
        The number of steps; by default the length of the shortest sequence.
    truncate_gradient
        The number of last steps that gradients flow through; -1 for all.
    go_backwards
        Whether to read sequences from their end.
    mode
        The mode in which the step is compiled.
    name
        A name for messages.
    profile, allow_gc
        Accepted for compatibility; have no effect.
    strict
        Raise an error if the step uses shared variables that are neither listed in `non_sequences` nor updated.
    return_list
        Whether to return a single output in a list.
    checkpoint_memory
        The number of bytes of states that the gradient of this loop may keep. If the states of all steps take more,
        the gradient keeps as many as the square root of the number of steps and recomputes the others. 0 for no limit;
        None for ``config.scan__checkpoint_memory`` at the time when the gradient is taken.

    Returns
    -------
    tuple
        The outputs of all steps, stacked along a new first dimension (a variable, or a list of several; for a
        generator its last state), and an `OrderedUpdates` of shared variables to pass to `aesara.function`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> rates = at.dvector("rates")
    >>> start = at.constant(100.0, dtype="float64")
    >>> capital, _ = aesara.scan(lambda rate, c: c * (1 + rate), sequences=rates, outputs_info=start)
    >>> aesara.function([rates], capital)([0.5, 0.1])
    array([150., 165.])
    """
    loop = _Loop(fn, sequences, outputs_info, non_sequences, n_steps, go_backwards, strict)
    if loop.known_steps() == 1:
        outputs, updates = _one_step(loop)
    else:
        options = {
            "mode": mode, "name": name, "truncate_gradient": truncate_gradient, "profile": profile,
            "allow_gc": True if allow_gc is None else allow_gc, "strict": strict,
            "checkpoint_memory": checkpoint_memory,
        }  # fmt: skip
        outputs, updates = _many_steps(loop, options)
    if len(outputs) == 1 and not return_list:
        return outputs[0], updates
    return outputs if outputs else None, updates


def _one_step(loop: _Loop) -> tuple[list[Any], OrderedUpdates]:
    """Return the outputs and updates of a single step, applied to the first values without a loop."""

    def values(value: FirstValue, taps: tuple[int, ...]) -> list[Any]:
        first = value.variable
        return [first] if taps == (-1,) else [first[tap - min(taps)] for tap in taps]

    returned = loop.call_step([rows[0] for _, shifted in loop.rows for rows in shifted], values)
    loop.check_outputs(returned)
    outputs = [unbroadcast(v[None], 0) if isinstance(v.type, DenseTensorType) else v for v in returned.outputs]
    return outputs, returned.updates


def _many_steps(loop: _Loop, options: dict[str, Any]) -> tuple[list[Any], OrderedUpdates]:
    shifted = [rows for _, taps in loop.rows for rows in taps]
    entries = [_row_type(rows.type)(name=f"{rows.name}[t]" if rows.name else None) for rows in shifted]
    for entry, rows in zip(entries, shifted):
        take_first_row(entry, rows)
    returned = loop.call_step(entries, _tap_variables)
    outputs_read = loop.check_outputs(returned)
    parts = LoopParts(loop.n_steps, until=returned.condition)
    parts.sequences += list(zip(shifted, loop.entries))
    sources: list[State | int] = []
    last_only: set[int] = set()
    for number, (output, new) in enumerate(zip(outputs_read, returned.outputs)):
        if output.value is not None and not output.value.has_rows:
            last_only.add(number)
            sources.append(len(parts.shared))
            parts.shared.append(_whole_state(output.value, new))
        elif not isinstance(new.type, DenseTensorType):
            raise TypeError(
                f"scan: the step returns {describe(new)} of type {new.type}, which is no dense tensor, so that its "
                "values cannot be stacked. Give its value before the first step in outputs_info to get the last one."
            )
        elif output.value is not None:
            parts.states.append(make_state(output.value, output.taps, new, loop.n_steps))
            sources.append(parts.states[-1])
        else:
            sources.append(len(parts.results))
            parts.results.append(new)
    of_update = shared_states(parts, returned.updates, loop.n_steps)
    inner = {v: parts.shared[p][1] if isinstance(p, int) else p.inner[0] for v, p in of_update.items()}
    close(parts, loop.non_sequences, inner, loop.strict)
    buffers, results, shared = parts.split(Scan.of_parts(parts, **options))
    outputs = []
    for number, source in enumerate(sources):
        if isinstance(source, int):
            outputs.append(shared[source] if number in last_only else results[source])
        else:
            outputs.append(getitem(buffers[source], slice(-min(source.taps), None)))
    updates = OrderedUpdates()
    for variable, source in of_update.items():
        updates[variable] = shared[source] if isinstance(source, int) else getitem(buffers[source], -1)
    for variable in returned.created:
        variable.default_update = updates[variable]
    return outputs, updates


def _tap_variables(value: FirstValue, taps: tuple[int, ...]) -> list[Any]:
    """Return the variables of the step for former values of an output."""
    first = value.variable
    kind = first.type if taps == (-1,) else _row_type(first.type)
    variables = [kind(name=f"{first.name}[t{tap}]" if first.name else None) for tap in taps]
    for variable, tap in zip(variables, taps):
        take_test_value(variable, first, None if taps == (-1,) else tap - min(taps))
    return variables


def _whole_state(value: FirstValue, new: Any) -> tuple[Any, Any, Any]:
    """Return first value, inner variable and new value of a state that is no dense tensor, such as a generator."""
    initial = value.variable
    if new.type != initial.type:
        raise TypeError(
            f"scan: the output {describe(new)} of the step has type {new.type}, but its first value "
            f"{describe(initial)} has type {initial.type}."
        )
    return initial, value.inner[0], new


def make_state(value: FirstValue, taps: tuple[int, ...], new: Any, n_steps: Any) -> State:
    """Return a state of the loop; static sizes of its first value hold for all values."""
    initial = value.variable
    depth = -min(taps)
    first = initial[None] if taps == (-1,) else specify_shape(initial[:depth], (depth, *initial.type.shape[1:]))
    row = value.inner[0].type
    sizes = list(zip(row.shape, new.type.shape))
    if new.type.ndim != row.ndim or new.type.dtype != row.dtype or any(None not in p and p[0] != p[1] for p in sizes):
        raise ValueError(
            f"scan: the output {describe(new)} of the step has type {new.type}, but its first value "
            f"{describe(initial)} has type "
            f"{initial.type}: the step must return {row.ndim} dimensions of dtype {row.dtype} and of the same "
            "sizes. Cast one of them, as in at.cast(value, dtype), or start with a value of the right shape, as in "
            "at.full(shape, value) or at.zeros_like(row)."
        )
    if any(known is not None and found is None for known, found in sizes):
        with inherit_source(new.owner):
            new = specify_shape(new, row.shape)
    return State(expand_empty(unbroadcast(first, 0), n_steps), taps, tuple(value.inner), new)


def shared_states(parts: LoopParts, updates: OrderedUpdates, n_steps: object) -> dict[Any, State | int]:
    """Add the shared variables that the step updates to the states of a loop.

    Tensors become states, which are returned; for others, the number in `parts.shared` is returned.
    """
    sources: dict[Any, State | int] = {}
    for variable, new in updates.items():
        new = variable.type.filter_variable(new) if not isinstance(new, Variable) else new
        inner = variable.type(name=variable.name)
        take_test_value(inner, variable)
        if isinstance(variable.type, DenseTensorType):
            first = FirstValue(variable)
            first.inner = [inner]
            state = make_state(first, (-1,), cast(new, variable.type.dtype), n_steps)
            parts.states.append(state)
            sources[variable] = state
        else:
            sources[variable] = len(parts.shared)
            parts.shared.append((variable, inner, new))
    return sources
