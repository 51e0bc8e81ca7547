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
    """A sequence with the taps by which it is read."""

    variable: Any
    taps: tuple[int, ...]


@dataclass
class _Output:
    """The description of an output: nothing, or its first values and taps."""

    value: FirstValue | None = None
    taps: tuple[int, ...] = ()


@dataclass
class Returned:
    """The outputs, updates and condition that a step has returned."""

    outputs: list[Any] = field(default_factory=list)
    updates: OrderedUpdates = field(default_factory=OrderedUpdates)
    condition: Any = None
    #: shared variables that the step has made, and that it updates because of their ``default_update``
    made: list[SharedVariable] = field(default_factory=list)

    def take_default_updates(self, created: Sequence[SharedVariable]) -> None:
        """Let the step update the shared variables that it has made, uses and does not update itself."""
        defaults = {v: getattr(v, "default_update", None) for v in created}
        waiting = {v: update for v, update in defaults.items() if update is not None and v not in self.updates}
        roots = [*self.outputs, *self.updates.values(), *([] if self.condition is None else [self.condition])]
        while waiting:
            found = set(graph_inputs(roots))
            used = [v for v in waiting if v in found]
            if not used:
                return
            roots = [waiting.pop(v) for v in used]
            self.updates.update(zip(used, roots))
            self.made += used


def get_updates_and_outputs(ls: Any) -> tuple[Any, list[Any], OrderedUpdates]:
    """Sort what a step has returned into a condition, outputs and updates.

    A step returns outputs, updates (a mapping or list of pairs) and an `until`, in this order, each of which may be
    missing.

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
    found = _sorted_results(ls)
    return found.condition, found.outputs, found.updates


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


def _sorted_results(returned: Any) -> Returned:
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
    found = Returned()
    if parts and isinstance(parts[-1], until):
        found.condition = parts.pop().condition
    if parts and (_is_updates(parts[-1]) or (len(parts) == 2 and parts[-1] in ([], ()))):
        found.updates = OrderedUpdates(parts.pop())
    if len(parts) == 1 and isinstance(parts[0], (list, tuple)):
        parts = list(parts[0])
    if not _is_outputs(parts):
        raise ValueError(
            "scan: the step must return outputs, then updates, then until(...), each of which may be missing; got "
            f"{returned!r}."
        )
    found.outputs = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in parts]
    return found


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple, range)) else [value]


def _read_sequences(sequences: Any) -> list[_Sequence]:
    found = []
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
        found.append(_Sequence(variable, tuple(int(t) for t in _as_list(taps))))
    return found


def _read_outputs(outputs_info: Any) -> list[_Output] | None:
    if outputs_info is None or (isinstance(outputs_info, (list, tuple)) and not outputs_info):
        return None
    found = []
    for entry in _as_list(outputs_info):
        if isinstance(entry, Mapping):
            if entry.get("initial") is None:
                if entry.get("taps"):
                    raise ValueError("scan: an output that is read by taps needs 'initial', its first values.")
                found.append(_Output())
                continue
            given = entry.get("taps", [-1])
            taps = tuple(int(t) for t in _as_list(given or []))
            entry = entry["initial"]
            if taps == (-1,) and not isinstance(given, (list, int, np.integer)):
                entry = as_tensor_variable(entry)[0]  # any other sequence says that there is a leading dimension
            if any(t >= 0 for t in taps):
                raise ValueError(f"scan: taps of outputs must be negative, got {list(taps)}.")
            if len(set(taps)) < len(taps):
                raise ValueError(f"scan: taps of outputs must differ from each other, got {list(taps)}.")
            if not taps:
                found.append(_Output())
                continue
        elif entry is None:
            found.append(_Output())
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
        found.append(_Output(value, taps))
    return found


class _Loop:
    """A call of `scan` while it is put together."""

    def __init__(
        self, fn: Callable, sequences: Any, outputs_info: Any, non_sequences: Any, n_steps: Any, go_backwards: bool,
        strict: bool,
    ):  # fmt: skip
        self.fn, self.strict, self.go_backwards = fn, strict, go_backwards
        self.sequences = _read_sequences(sequences)
        self.outputs = _read_outputs(outputs_info)
        self.non_sequences = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in _as_list(non_sequences)]
        self.rows = [(s, self._shift_by_taps(s)) for s in self.sequences]
        self.n_steps = self._number_of_steps(n_steps)

    # -- how many steps --------------------------------------------------------------------------------------

    def _shift_by_taps(self, sequence: _Sequence) -> list[Any]:
        """For each tap the sequence from where the first step reads it."""
        low, high = min(0, *sequence.taps), max(0, *sequence.taps)
        found = []
        for tap in sequence.taps:
            rows = sequence.variable[tap - low :] if tap == high else sequence.variable[tap - low : tap - high]
            found.append(rows[::-1] if self.go_backwards else rows)
        return found

    def _number_of_steps(self, given: Any) -> Any:
        if isinstance(given, (float, np.floating)):
            raise ValueError(f"scan: n_steps must be an integer, got {given!r}.")
        lengths = [rows[0].shape[0] if rows[0].type.shape[0] is None else constant(rows[0].type.shape[0], dtype="int64")
                   for _, rows in self.rows]  # fmt: skip
        if not isNaN_or_Inf_or_None(given):
            steps = as_tensor_variable(given)
            if steps.type.ndim or steps.type.dtype.startswith(("float", "complex")):
                raise ValueError(f"scan: n_steps must be an integer, got {describe(given)} of type {steps.type}.")
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
        """Call the user's function; `taps(value, taps)` makes the arguments for former values of an output."""
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
            given = ", then ".join(f"{count} from {kind}" for count, kind in counts if count)
            raise TypeError(f"scan calls the step with {len(arguments)} arguments ({given}): {error}") from None
        results = _sorted_results(returned)
        results.take_default_updates(created)
        return results

    def check_outputs(self, returned: Returned) -> list[_Output]:
        """One description for each output."""
        described = self.outputs
        if described is None:
            return [_Output() for _ in returned.outputs]
        if len(described) != len(returned.outputs):
            raise ValueError(
                f"scan: the step returns {len(returned.outputs)} outputs, but outputs_info has {len(described)} "
                "entries. Give one for each, None where no former value is read."
            )
        return described


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
    """Compute a function again and again, over the entries of sequences and on its own results.

    Parameters
    ----------
    fn
        The step: it takes entries of `sequences`, former values of the outputs (as `outputs_info` says) and
        `non_sequences`, in this order, and returns outputs, updates of shared variables, and `until`, each of which
        may be missing. Shared variables that the step makes, such as the generators of a `RandomStream`, are updated
        in each step by their ``default_update``, which becomes that of the loop.
    sequences
        Tensors whose entries along the first dimension are passed, one a step; or dictionaries with ``input`` and
        ``taps``, a list of which entries relative to the step are passed.
    outputs_info
        For each output None if no step reads it; or its value before the first step, of which each step gets the
        last value; or a dictionary with ``initial`` and ``taps``: the first values along a leading dimension, and
        which former values are passed (-1 is the last). A value has the dtype and the number of dimensions of what the
        step returns. A Python number takes this dtype, and arrays take it if it is wider than theirs; the step is
        called again then. The state of a random generator may be such a value, too; then the output is the last one.
    non_sequences
        Variables that are passed to every step, themselves, so that the step may take gradients with respect to them.
        Others that the step uses are found.
    n_steps
        How many steps; by default as many as the shortest sequence has entries.
    truncate_gradient
        Through how many of the last steps gradients flow; -1 for all.
    go_backwards
        Take the sequences from their ends.
    mode
        The mode in which the step is compiled.
    name
        A name for messages.
    profile, allow_gc
        Accepted.
    strict
        Raise if the step uses shared variables that are not listed in `non_sequences` and that it does not update.
    return_list
        Whether a single output is returned in a list.
    checkpoint_memory
        How many bytes of states the gradient of this loop may keep: of a longer loop it keeps as many states as the
        square root of the number of steps, and computes the others again. 0 for no limit; None for what
        ``config.scan__checkpoint_memory`` says when the gradient is taken.

    Returns
    -------
    tuple
        The outputs of all steps, stacked along a new first dimension (a variable, or a list if there are several; of a
        generator the last state),
        and an `OrderedUpdates` of shared variables to pass to `aesara.function`.

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
    """A single step needs no loop: it gets the first values themselves."""

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
    made: list[State | int] = []
    whole: set[int] = set()
    for number, (output, new) in enumerate(zip(outputs_read, returned.outputs)):
        if output.value is not None and not output.value.has_rows:
            whole.add(number)
            made.append(len(parts.shared))
            parts.shared.append(_whole_state(output.value, new))
        elif not isinstance(new.type, DenseTensorType):
            raise TypeError(
                f"scan: the step returns {describe(new)} of type {new.type}, which is no dense tensor, so that its "
                "values cannot be stacked. Give its value before the first step in outputs_info to get the last one."
            )
        elif output.value is not None:
            parts.states.append(make_state(output.value, output.taps, new, loop.n_steps))
            made.append(parts.states[-1])
        else:
            made.append(len(parts.results))
            parts.results.append(new)
    of_update = shared_states(parts, returned.updates, loop.n_steps)
    inner = {v: parts.shared[p][1] if isinstance(p, int) else p.inner[0] for v, p in of_update.items()}
    close(parts, loop.non_sequences, inner, loop.strict)
    buffers, results, shared = parts.split(Scan.of_parts(parts, **options))
    outputs = []
    for number, place in enumerate(made):
        if isinstance(place, int):
            outputs.append(shared[place] if number in whole else results[place])
        else:
            outputs.append(getitem(buffers[place], slice(-min(place.taps), None)))
    updates = OrderedUpdates()
    for variable, place in of_update.items():
        updates[variable] = shared[place] if isinstance(place, int) else getitem(buffers[place], -1)
    for variable in returned.made:
        variable.default_update = updates[variable]
    return outputs, updates


def _tap_variables(value: FirstValue, taps: tuple[int, ...]) -> list[Any]:
    """The step's variables for former values of an output."""
    first = value.variable
    kind = first.type if taps == (-1,) else _row_type(first.type)
    variables = [kind(name=f"{first.name}[t{tap}]" if first.name else None) for tap in taps]
    for variable, tap in zip(variables, taps):
        take_test_value(variable, first, None if taps == (-1,) else tap - min(taps))
    return variables


def _whole_state(value: FirstValue, new: Any) -> tuple[Any, Any, Any]:
    """A state that is no dense tensor, such as a generator: its first value, the step's variable, and the next one."""
    given = value.variable
    if new.type != given.type:
        raise TypeError(
            f"scan: the output {describe(new)} of the step has type {new.type}, but its first value "
            f"{describe(given)} has type {given.type}."
        )
    return given, value.inner[0], new


def make_state(value: FirstValue, taps: tuple[int, ...], new: Any, n_steps: Any) -> State:
    """A state of the loop. What is known of the sizes of its first value holds for all."""
    given = value.variable
    depth = -min(taps)
    first = given[None] if taps == (-1,) else specify_shape(given[:depth], (depth, *given.type.shape[1:]))
    row = value.inner[0].type
    sizes = list(zip(row.shape, new.type.shape))
    if new.type.ndim != row.ndim or new.type.dtype != row.dtype or any(None not in p and p[0] != p[1] for p in sizes):
        raise ValueError(
            f"scan: the output {describe(new)} of the step has type {new.type}, but its first value "
            f"{describe(given)} has type "
            f"{given.type}: the step must return {row.ndim} dimensions of dtype {row.dtype} and of the same "
            "sizes. Cast one of them, as in at.cast(value, dtype), or start with a value of the right shape, as in "
            "at.full(shape, value) or at.zeros_like(row)."
        )
    if any(known is not None and found is None for known, found in sizes):
        with inherit_source(new.owner):
            new = specify_shape(new, row.shape)
    return State(expand_empty(unbroadcast(first, 0), n_steps), taps, tuple(value.inner), new)


def shared_states(parts: LoopParts, updates: OrderedUpdates, n_steps: Any) -> dict[Any, State | int]:
    """Shared variables that the step updates: tensors become states, others are handed from step to step."""
    places: dict[Any, State | int] = {}
    for variable, new in updates.items():
        new = variable.type.filter_variable(new) if not isinstance(new, Variable) else new
        inner = variable.type(name=variable.name)
        take_test_value(inner, variable)
        if isinstance(variable.type, DenseTensorType):
            first = FirstValue(variable)
            first.inner = [inner]
            state = make_state(first, (-1,), cast(new, variable.type.dtype), n_steps)
            parts.states.append(state)
            places[variable] = state
        else:
            places[variable] = len(parts.shared)
            parts.shared.append((variable, inner, new))
    return places
