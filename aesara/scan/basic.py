"""`scan`: loops over sequences and states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.cloning import clone_replace
from aesara.graph.nodes import Constant, Variable
from aesara.graph.shared import SharedVariable
from aesara.graph.traversal import io_toposort, walk
from aesara.records import dataclass
from aesara.scan.op import Scan
from aesara.scan.parts import LoopParts, State, expand_empty
from aesara.scan.utils import until
from aesara.tensor.constant_value import get_scalar_constant_value
from aesara.tensor.conversion import as_tensor_variable, constant
from aesara.tensor.elementwise_ops import minimum
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.shape_facts import specify_shape, unbroadcast
from aesara.tensor.tensor_type import TensorType
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
    """What is known of an output before the first step: nothing, or first values and taps."""

    first: Any = None
    taps: tuple[int, ...] = ()


@dataclass
class _Returned:
    """What a step has returned."""

    outputs: list[Any] = field(default_factory=list)
    updates: OrderedUpdates = field(default_factory=OrderedUpdates)
    condition: Any = None


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
    """Whether this is a mapping, or a list of pairs, from shared variables to expressions."""
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


def _sorted_results(returned: Any) -> _Returned:
    if returned is None:
        raise ValueError("scan: the step returned None: does it lack a return statement?")
    if isinstance(returned, until):
        return _Returned(condition=returned.condition)
    if _is_updates(returned):
        return _Returned(updates=OrderedUpdates(returned))
    if not isinstance(returned, (list, tuple)):
        return _Returned([as_tensor_variable(returned)])
    parts = list(returned)
    found = _Returned()
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
    return list(value) if isinstance(value, (list, tuple)) else [value]


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
            raise ValueError(f"scan: a sequence needs at least one dimension, got {variable} of type {variable.type}.")
        found.append(_Sequence(variable, tuple(int(t) for t in _as_list(taps))))
    return found


def _read_outputs(outputs_info: Any) -> list[_Output] | None:
    if outputs_info is None:
        return None
    found = []
    for entry in _as_list(outputs_info):
        if isinstance(entry, Mapping):
            if entry.get("initial") is None:
                if entry.get("taps"):
                    raise ValueError("scan: an output that is read by taps needs 'initial', its first values.")
                found.append(_Output())
                continue
            taps = tuple(int(t) for t in _as_list(entry.get("taps", [-1]) or []))
            entry = entry["initial"]
            if any(t >= 0 for t in taps):
                raise ValueError(f"scan: taps of outputs must be negative, got {list(taps)}.")
            if not taps:
                found.append(_Output())
                continue
        elif entry is None:
            found.append(_Output())
            continue
        else:
            taps = (-1,)
        first = entry if isinstance(entry, Variable) else as_tensor_variable(entry)
        if taps != (-1,) and first.type.ndim < 1:
            raise ValueError(
                f"scan: an output with taps {list(taps)} needs {-min(taps)} first values along a leading dimension, got"
                f" {first} of type {first.type}."
            )
        found.append(_Output(first, taps))
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
        self.rows = [(s, self._shifted(s)) for s in self.sequences]
        self.n_steps = self._number_of_steps(n_steps)

    # -- how many steps --------------------------------------------------------------------------------------

    def _shifted(self, sequence: _Sequence) -> list[Any]:
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
                raise ValueError(f"scan: n_steps must be an integer, got {given} of type {steps.type}.")
            return steps.astype("int64")
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

    def call_step(self, entry: Callable[[Any, int], Any]) -> _Returned:
        """Call the user's function; `entry(rows, tap)` makes the arguments for sequences."""
        arguments = [entry(rows, tap) for s, shifted in self.rows for rows, tap in zip(shifted, s.taps)]
        self.entries = list(arguments)
        self.taps: list[list[Any]] = []
        for output in self.outputs or []:
            arguments += self._tap_arguments(output)
        self.inner_constants = [v if isinstance(v, Constant) else v.type(name=v.name) for v in self.non_sequences]
        arguments += self.inner_constants
        try:
            returned = self.fn(*arguments)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # from inside of the step
            counts = (
                (len(self.entries), "sequences"),
                (sum(map(len, self.taps)), "outputs_info"),
                (len(self.inner_constants), "non_sequences"),
            )
            given = ", then ".join(f"{count} from {kind}" for count, kind in counts if count)
            raise TypeError(f"scan calls the step with {len(arguments)} arguments ({given}): {error}") from None
        return _sorted_results(returned)

    def _tap_arguments(self, output: _Output) -> list[Any]:
        variables = []
        if output.first is not None:
            kind = output.first.type if output.taps == (-1,) else _row_type(output.first.type)
            for tap in output.taps:
                name = f"{output.first.name}[t{tap}]" if output.first.name else None
                variables.append(kind(name=name))
        self.taps.append(variables)
        return variables

    def check_outputs(self, returned: _Returned) -> list[_Output]:
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
) -> tuple[Any, OrderedUpdates]:
    """Compute a function again and again, over the entries of sequences and on its own results.

    Parameters
    ----------
    fn
        The step: it takes entries of `sequences`, former values of the outputs (as `outputs_info` says) and
        `non_sequences`, in this order, and returns outputs, updates of shared variables, and `until`, each of which
        may be missing.
    sequences
        Tensors whose entries along the first dimension are passed, one a step; or dictionaries with ``input`` and
        ``taps``, a list of which entries relative to the step are passed.
    outputs_info
        For each output None if no step reads it; or its value before the first step, of which each step gets the
        last value; or a dictionary with ``initial`` and ``taps``: the first values along a leading dimension, and
        which former values are passed (-1 is the last).
    non_sequences
        Variables that are passed to every step. Others that the step uses are found.
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
        Raise if the step uses variables that are not among its arguments.
    return_list
        Whether a single output is returned in a list.

    Returns
    -------
    tuple
        The outputs of all steps, stacked along a new first dimension (a variable, or a list if there are several),
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
        }  # fmt: skip
        outputs, updates = _many_steps(loop, options)
    if len(outputs) == 1 and not return_list:
        return outputs[0], updates
    return outputs if outputs else None, updates


def _one_step(loop: _Loop) -> tuple[list[Any], OrderedUpdates]:
    """A single step needs no loop."""
    returned = loop.call_step(lambda rows, tap: rows[0])
    described = loop.check_outputs(returned)
    replace: dict[Variable, Any] = {
        inner: outer for inner, outer in zip(loop.inner_constants, loop.non_sequences) if inner is not outer
    }
    for output, variables in zip(described, loop.taps):
        for tap, variable in zip(output.taps, variables):
            replace[variable] = output.first if output.taps == (-1,) else output.first[tap - min(output.taps)]
    named = [*returned.outputs, *returned.updates.values()]
    replaced = clone_replace(named, replace) if named else []
    values = [v[None] for v in replaced[: len(returned.outputs)]]
    updates = OrderedUpdates(zip(returned.updates, replaced[len(returned.outputs) :]))
    return [unbroadcast(v, 0) for v in values], updates


def _many_steps(loop: _Loop, options: dict[str, Any]) -> tuple[list[Any], OrderedUpdates]:
    def entry(rows: Any, tap: int) -> Any:
        return _row_type(rows.type)(name=f"{rows.name}[t]" if rows.name else None)

    returned = loop.call_step(entry)
    described = loop.check_outputs(returned)
    parts = LoopParts(loop.n_steps, until=returned.condition)
    shifted = [rows for _, taps in loop.rows for rows in taps]
    parts.sequences += list(zip(shifted, loop.entries))
    made: list[State | int] = []
    for output, variables, new in zip(described, [*loop.taps, *[[]] * len(described)], returned.outputs):
        if output.taps:
            parts.states.append(_state(output, variables, new, loop.n_steps))
            made.append(parts.states[-1])
        else:
            made.append(len(parts.results))
            parts.results.append(new)
    parts.constants += [
        (outer, inner) for outer, inner in zip(loop.non_sequences, loop.inner_constants) if outer is not inner
    ]
    of_update = _shared_states(parts, returned.updates, loop.n_steps)
    _close(parts, loop.strict)
    buffers, results, shared = parts.split(Scan.of_parts(parts, **options))
    outputs = [results[place] if isinstance(place, int) else buffers[place][-min(place.taps) :] for place in made]
    updates = OrderedUpdates()
    for variable, place in of_update.items():
        updates[variable] = shared[place] if isinstance(place, int) else buffers[place][-1]
    return outputs, updates


def _state(output: _Output, variables: Sequence[Any], new: Any, n_steps: Any) -> State:
    """A state of the loop. What is known of the sizes of its first value holds for all."""
    first = output.first[None] if output.taps == (-1,) else output.first[: -min(output.taps)]
    row = variables[0].type
    sizes = list(zip(row.shape, new.type.shape))
    if new.type.ndim != row.ndim or new.type.dtype != row.dtype or any(None not in p and p[0] != p[1] for p in sizes):
        raise ValueError(
            f"scan: the output {new} of the step has type {new.type}, but its first value {output.first} has type "
            f"{output.first.type}: the step must return {row.ndim} dimensions of dtype {row.dtype} and of the same "
            "sizes. Cast one of them, as in at.cast(value, dtype), or start with a value of the right shape."
        )
    if any(known is not None and found is None for known, found in sizes):
        new = specify_shape(new, row.shape)
    return State(expand_empty(unbroadcast(first, 0), n_steps), output.taps, tuple(variables), new)


def _shared_states(parts: LoopParts, updates: OrderedUpdates, n_steps: Any) -> dict[Any, State | int]:
    """Shared variables that the step updates: tensors become states, others are handed from step to step."""
    places: dict[Any, State | int] = {}
    for variable, new in updates.items():
        new = variable.type.filter_variable(new) if not isinstance(new, Variable) else new
        inner = variable.type(name=variable.name)
        if isinstance(variable.type, TensorType):
            state = _state(_Output(variable, (-1,)), [inner], new.astype(variable.type.dtype), n_steps)
            inner = state.inner[0]
            parts.states.append(state)
            places[variable] = state
        else:
            places[variable] = len(parts.shared)
            parts.shared.append((variable, inner, new))
        _put_for(parts, variable, inner)
    return places


def _put_for(parts: LoopParts, shared: Any, inner: Any) -> None:
    """Let the step read its own copy of a shared variable."""
    (parts.results, news, parts.shared, parts.until) = _replaced(parts, {shared: inner})
    for state, new in zip(parts.states, news):
        state.new = new


def _replaced(parts: LoopParts, replace: Mapping[Variable, Variable]) -> tuple[Any, ...]:
    outputs = [*parts.results, *[s.new for s in parts.states], *[new for _, _, new in parts.shared]]
    outputs += [] if parts.until is None else [parts.until]
    made = clone_replace(outputs, replace) if outputs else []
    first, second = len(parts.results), len(parts.results) + len(parts.states)
    third = second + len(parts.shared)
    shared = [(outer, inner, new) for (outer, inner, _), new in zip(parts.shared, made[second:third])]
    return made[:first], made[first:second], shared, made[third] if parts.until is not None else None


def _close(parts: LoopParts, strict: bool) -> None:
    """Make inputs of all that the step uses and that does not change from step to step.

    What is computed from such variables alone is computed once, before the loop.
    """
    known = set(parts.inner_inputs())
    outputs = parts.inner_outputs()
    changing = set(known)
    for node in io_toposort(_leaves(outputs), outputs):
        if any(v in changing for v in node.inputs):
            changing.update(node.outputs)
    outside: dict[Variable, None] = {}
    stack = list(outputs)
    seen = set(stack)
    while stack:
        variable = stack.pop()
        if variable not in changing:
            if not isinstance(variable, Constant):
                outside[variable] = None
            continue
        for v in variable.owner.inputs if variable.owner is not None and variable not in known else ():
            if v not in seen:
                seen.add(v)
                stack.append(v)
    if not outside:
        return
    if strict:
        missing = [v for v in _leaves(list(outside)) if not isinstance(v, Constant)]
        if missing:
            listed = ", ".join(map(str, missing))
            raise ValueError(f"scan: with strict=True the step may use its arguments only, but it uses {listed} too.")
    replace = {v: v.type(name=v.name) for v in outside}
    parts.constants += list(replace.items())
    parts.results, news, parts.shared, parts.until = _replaced(parts, replace)
    for state, new in zip(parts.states, news):
        state.new = new


def _leaves(outputs: Sequence[Any]) -> list[Any]:
    """Variables without owner that the outputs depend on."""

    def behind(variable: Any) -> Any:
        return variable.owner.inputs if variable.owner is not None else None

    return [v for v in walk(outputs, behind) if v.owner is None]
