"""Loops that carry a nest of values and return only the last ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.graph.messages import describe, type_text
from aesara.graph.nodes import Variable
from aesara.graph.shared import collect_new_shareds
from aesara.records import dataclass
from aesara.scan.basic import Returned, make_state, shared_states
from aesara.scan.closing import close
from aesara.scan.first_values import FirstValue, settle
from aesara.scan.nested import flatten, leaves_as_in, outline, rebuild
from aesara.scan.op import Scan
from aesara.scan.parts import LoopParts, State, expansion_of
from aesara.scan.stopping import until
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_type import DenseTensorType, TensorType
from aesara.tensor.elementwise.ops import add, eq, invert, maximum, neq, or_, sub, switch
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = ["fori_loop", "while_loop"]

#: number of steps of a loop that ends by its condition only
_NO_END = 2**62


def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    *,
    name: str | None = None,
    checkpoint_memory: int | None = None,
) -> Any:
    """Repeat a function of a state while a condition holds.

    The condition is evaluated before each step. If it does not hold at first, the result is `init`.

    Parameters
    ----------
    cond
        A function of the state that returns a 0-d tensor.
    body
        A function of the state that returns the next state, with the same structure, dtypes and shapes. It may also
        return ``(state, until(condition))``, to end the loop after this step. Random streams advance from step to step
        and from call to call; all other variables of the outer graph are the same in each step.
    init
        The first state: a value, or a nest of tuples, lists and dictionaries of values. Numbers and arrays are
        converted to the dtype that `body` returns, by the rules of `scan`; variables keep their dtype.
    name
        A name of the loop for messages.
    checkpoint_memory
        The number of bytes of states that the gradient of this loop may keep, as in `scan`.

    Returns
    -------
    Any
        The last state, with the structure of `init`. Unlike `scan`, the loop returns no updates: random streams that
        `body` draws from are updated by default.

    Notes
    -----
    Only the last state is kept. Forward-mode derivatives are computed along with the state. For reverse-mode
    derivatives, the loop first runs to count its steps, and then again to keep the states of all steps, or of some of
    them (see `checkpoint_memory`).

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> from aesara.scan import while_loop
    >>> a = at.dscalar("a")
    >>> root = while_loop(lambda y: abs(y * y - a) > 1e-12 * a, lambda y: 0.5 * (y + a / y), a)
    >>> f = aesara.function([a], [root, aesara.grad(root, a)])
    >>> print(*(value.round(6) for value in f(2.0)))
    1.414214 0.353553

    The greatest common divisor:

    >>> m, n = at.lscalars("m", "n")
    >>> last_state = while_loop(lambda s: s[1] > 0, lambda s: (s[1], s[0] % s[1]), (m, n))
    >>> aesara.function([m, n], last_state[0])(84, 36)
    array(12)
    """
    state = _State("while_loop", body, init)
    last = state.call([])
    stop = _not(_condition_of("while_loop", cond, rebuild(init, last.outputs)))
    if last.condition is not None:
        stop = or_(stop, neq(last.condition, constant(0)))
    goes_on = _condition_of("while_loop", cond, rebuild(init, state.first))
    steps = switch(goes_on, constant(_NO_END, dtype="int64"), constant(0, dtype="int64"))
    parts = LoopParts(steps, until=stop)
    return state.add_loop(parts, last, few_rows=True, name=name or "while_loop", checkpoint_memory=checkpoint_memory)


def fori_loop(
    lower: Any,
    upper: Any,
    body: Callable[[Any, Any], Any],
    init: Any,
    *,
    name: str | None = None,
    checkpoint_memory: int | None = None,
) -> Any:
    """Repeat a function of a state for a range of integers: ``for i in range(lower, upper): state =
    body(i, state)``.

    Parameters
    ----------
    lower, upper
        Bounds of the range, as in Python. If the range is empty, the result is `init`.
    body
        A function of the integer, of dtype int64, and the state. It returns the next state, or
        ``(state, until(condition))`` to end the loop after this step; see `while_loop`.
    init
        The first state; see `while_loop`.
    name
        A name of the loop for messages.
    checkpoint_memory
        The number of bytes of states that the gradient of this loop may keep, as in `scan`.

    Returns
    -------
    Any
        The last state, with the structure of `init`.

    Notes
    -----
    Only the last state is kept, unless a gradient reads the others.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> from aesara.scan import fori_loop
    >>> x, n = at.dscalar("x"), at.lscalar("n")
    >>> def step(k, state):
    ...     return {"term": state["term"] * x / k, "sum": state["sum"] + state["term"]}
    >>> series = fori_loop(1, n, step, {"term": 1.0, "sum": 0.0})["sum"]
    >>> f = aesara.function([x, n], [series, aesara.grad(series, x)])
    >>> print(*(value.round(6) for value in [*f(1.0, 20), *f(1.0, 1)]))
    2.718282 2.718282 0.0 0.0
    """
    first, last = _integer(lower, "lower"), _integer(upper, "upper")
    state = _State("fori_loop", body, init)
    index: Any = TensorType("int64", ())(name="i")
    returned = state.call([index])
    steps = maximum(sub(last, first), constant(0, dtype="int64"))
    parts = LoopParts(steps, until=returned.condition)
    counter = FirstValue(first)
    counter.inner = [index]
    parts.states.append(make_state(counter, (-1,), add(index, constant(1, dtype="int64")), steps))
    return state.add_loop(
        parts, returned, few_rows=False, name=name or "fori_loop", checkpoint_memory=checkpoint_memory
    )


@dataclass(eq=False)
class _Leaf:
    """A value of a state: its path, its first value, and the variable of the step for it."""

    path: str
    first: FirstValue | None
    variable: Any
    inner: Any = None


class _State:
    """State of a loop under construction."""

    def __init__(self, caller: str, body: Callable[..., object], init: Variable) -> None:
        self.caller, self.body, self.init = caller, body, init
        self.leaves: list[_Leaf] = []
        for path, leaf in flatten(init):
            if isinstance(leaf, Variable) and not isinstance(leaf.type, DenseTensorType):
                self.leaves.append(_Leaf(path, None, leaf))
            else:
                self.leaves.append(_Leaf(path, FirstValue(leaf), None))
        if not self.leaves:
            raise ValueError(f"{caller}: the state has no values: init is {init!r}.")

    @property
    def first(self) -> list[Any]:
        return [leaf.variable if leaf.first is None else leaf.first.variable for leaf in self.leaves]

    # -- the step --------------------------------------------------------------------------------------------

    def call(self, arguments: list[object]) -> Returned:
        """Call the body with `arguments` and variables for the state."""

        def call() -> Returned:
            for leaf, first in zip(self.leaves, self.first):
                leaf.inner = first.type(name=first.name)
                if leaf.first is not None:
                    leaf.first.inner = [leaf.inner]
            with collect_new_shareds() as created:
                returned = self.body(*arguments, rebuild(self.init, [leaf.inner for leaf in self.leaves]))
            result = self._read(returned)
            result.take_default_updates(created)
            return result

        returned = settle([leaf.first for leaf in self.leaves], call)
        for leaf, new in zip(self.leaves, returned.outputs):
            self._check(leaf, new)
        return returned

    def _read(self, returned: Any) -> Returned:
        condition = None
        if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], until):
            returned, condition = returned[0], returned[1].condition
        leaves = leaves_as_in(self.init, returned)
        if leaves is None:
            raise TypeError(
                f"{self.caller}: the body must return a state of the form of init, {outline(self.init)}, got "
                f"{outline(returned)}."
            )
        return Returned([v if isinstance(v, Variable) else as_tensor_variable(v) for v in leaves], condition=condition)

    def _check(self, leaf: _Leaf, new: Variable) -> None:
        kind = leaf.variable.type if leaf.first is None else leaf.first.variable.type
        require_type(f"{self.caller}: state{leaf.path} starts as", kind, "the body", new)

    # -- the loop --------------------------------------------------------------------------------------------

    def add_loop(self, parts: LoopParts, returned: Returned, few_rows: bool, **options: object) -> Any:
        """Build the loop, and return the state after the last step.

        Parameters
        ----------
        parts
            The loop without the state.
        returned
            The values returned by the step.
        few_rows
            Whether buffers have a single row from the start; otherwise rewrites may shorten them.
        options
            Arguments of `Scan`.
        """
        sources: list[State | int] = []
        for leaf, new in zip(self.leaves, returned.outputs):
            if leaf.first is None:
                sources.append(len(parts.shared))
                parts.shared.append((leaf.variable, leaf.inner, new))
                continue
            state = make_state(leaf.first, (-1,), new, parts.n_steps)
            parts.states.append(state)
            sources.append(state)
        updated = shared_states(parts, returned.updates, parts.n_steps)
        inner = {v: parts.shared[p][1] if isinstance(p, int) else p.inner[0] for v, p in updated.items()}
        if few_rows:
            for state in parts.states:
                state.buffer = _first_values(state.buffer)
        close(parts, [], inner, False)
        buffers, _, shared = parts.split(Scan.of_parts(parts, **options))

        def last_value(source: State | int) -> Variable:
            return shared[source] if isinstance(source, int) else getitem(buffers[source], -1)

        for variable in returned.created:
            variable.default_update = last_value(updated[variable])
        return rebuild(self.init, [last_value(source) for source in sources])


def require_type(begins: str, wanted: object, function: str, new: Variable) -> None:
    """Raise an error unless a value returned by a step has the type of its state, as far as sizes are known.

    `begins` is the beginning of the message.
    """
    new_type = new.type
    if isinstance(wanted, DenseTensorType):
        fits = isinstance(new_type, DenseTensorType) and new_type.dtype == wanted.dtype and new_type.ndim == wanted.ndim
        fits = fits and all(None in p or p[0] == p[1] for p in zip(new_type.shape, wanted.shape))
    else:
        fits = new_type == wanted
    if fits:
        return
    owner = new.owner
    line = "" if owner is None or owner.source is None else f", computed by {owner.source}"
    raise TypeError(
        f"{begins} {type_text(wanted)}, but {function} returns {type_text(new_type)} for it, namely "
        f"{describe(new)}{line}. Dtype and shape must be the same in every step: start with a value of the right "
        "shape, as in at.zeros_like(row), or cast, as in at.cast(value, dtype)."
    )


def _first_values(buffer: Variable) -> Variable:
    """Return the first row of a buffer, as a buffer of one row that each step overwrites."""
    expansion = expansion_of(buffer)
    assert expansion is not None
    return specify_shape(expansion[0], (1, *buffer.type.shape[1:]))


def _condition_of(caller: str, cond: Callable[[object], object], state: object) -> Variable:
    """Return the condition for another step, after checking that it is a single truth value."""
    truth = as_tensor_variable(cond(state))
    if not isinstance(truth.type, TensorType) or truth.type.ndim:
        raise TypeError(
            f"{caller}: the condition must be a single truth value, got {type_text(truth.type)}, namely "
            f"{describe(truth)}. Take at.all or at.any of it."
        )
    return truth


def _not(truth: Any) -> Variable:
    return invert(truth) if truth.type.dtype == "bool" else eq(truth, constant(0))


def _integer(bound: object, which: str) -> Variable:
    value = as_tensor_variable(bound)
    kind = value.type
    if kind.ndim or np.dtype(kind.dtype).kind not in "iu" or kind.dtype == "uint64":
        raise TypeError(
            f"fori_loop: {which} must be a single integer that fits into int64, got {type_text(kind)}, namely "
            f"{describe(bound)}."
        )
    return cast(value, "int64")
