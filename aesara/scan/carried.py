"""Loops that carry a state of any form from step to step, and of which only the last state is wanted."""

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

#: The number of steps of a loop that ends by its condition only: more than any computer takes.
_NO_END = 2**62


def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    *,
    name: str | None = None,
    checkpoint_memory: int | None = None,
) -> Any:
    """Compute a state from itself while a condition holds.

    The condition is asked before each step, so that there may be no step at all; the loop gives `init` then.

    Parameters
    ----------
    cond
        A function of the state that returns a truth value: a tensor without dimensions.
    body
        The step: a function of the state that returns the next one, of the same form, dtypes and shapes. It may
        return ``(state, until(condition))`` as well, to end the loop after this step. Draws from random streams go on
        from step to step and from call to call; what else it uses of the graph around it is the same in every step.
    init
        The first state: a value, or tuples, lists and dictionaries of values, nested as one likes. Numbers and
        arrays take the dtype that `body` returns, by the rules of `scan`; variables keep theirs.
    name
        A name of the loop for messages.
    checkpoint_memory
        How many bytes of states the gradient of this loop may keep, as in `scan`.

    Returns
    -------
    Any
        The last state alone, in the form of `init`: for a tuple of two values, a tuple of two values. Unlike `scan`,
        the loop returns no updates; random streams that `body` draws from have theirs by default.

    Notes
    -----
    Only the last state is kept. Derivatives in both modes are those of the steps that are taken. For that in reverse
    mode, the loop runs once to count its steps, and once more to keep the states of all of them, or of some, as
    `checkpoint_memory` says.

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
    return state.after_loop(parts, last, few_rows=True, name=name or "while_loop", checkpoint_memory=checkpoint_memory)


def fori_loop(
    lower: Any,
    upper: Any,
    body: Callable[[Any, Any], Any],
    init: Any,
    *,
    name: str | None = None,
    checkpoint_memory: int | None = None,
) -> Any:
    """Compute a state from itself for each of some integers: ``for i in range(lower, upper): state = body(i, state)``.

    Parameters
    ----------
    lower, upper
        The first integer, and the one behind the last. If there is none between, the loop gives `init`.
    body
        The step: a function of the integer, which is of dtype int64, and of the state. It returns the next state, as
        the body of a `while_loop` does, or ``(state, until(condition))`` to end the loop after this step.
    init
        The first state, as that of a `while_loop`.
    name
        A name of the loop for messages.
    checkpoint_memory
        How many bytes of states the gradient of this loop may keep, as in `scan`.

    Returns
    -------
    Any
        The last state alone, in the form of `init`, as that of a `while_loop`.

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
    made = state.call([index])
    steps = maximum(sub(last, first), constant(0, dtype="int64"))
    parts = LoopParts(steps, until=made.condition)
    counter = FirstValue(first)
    counter.inner = [index]
    parts.states.append(make_state(counter, (-1,), add(index, constant(1, dtype="int64")), steps))
    return state.after_loop(parts, made, few_rows=False, name=name or "fori_loop", checkpoint_memory=checkpoint_memory)


@dataclass(eq=False)
class _Leaf:
    """A value in a state: how it is reached, its first value, and the step's variable for it."""

    path: str
    first: FirstValue | None
    variable: Any
    inner: Any = None


class _State:
    """The state of a loop while the loop is put together."""

    def __init__(self, who: str, body: Callable[..., Any], init: Any) -> None:
        self.who, self.body, self.init = who, body, init
        self.leaves: list[_Leaf] = []
        for path, leaf in flatten(init):
            if isinstance(leaf, Variable) and not isinstance(leaf.type, DenseTensorType):
                self.leaves.append(_Leaf(path, None, leaf))
            else:
                self.leaves.append(_Leaf(path, FirstValue(leaf), None))
        if not self.leaves:
            raise ValueError(f"{who}: the state has no values: init is {init!r}.")

    @property
    def first(self) -> list[Any]:
        return [leaf.variable if leaf.first is None else leaf.first.variable for leaf in self.leaves]

    # -- the step --------------------------------------------------------------------------------------------

    def call(self, arguments: list[Any]) -> Returned:
        """Call the body with variables for the state, behind other arguments."""

        def call() -> Returned:
            for leaf, first in zip(self.leaves, self.first):
                leaf.inner = first.type(name=first.name)
                if leaf.first is not None:
                    leaf.first.inner = [leaf.inner]
            with collect_new_shareds() as created:
                returned = self.body(*arguments, rebuild(self.init, [leaf.inner for leaf in self.leaves]))
            found = self._read(returned)
            found.take_default_updates(created)
            return found

        made = settle([leaf.first for leaf in self.leaves], call)
        for leaf, new in zip(self.leaves, made.outputs):
            self._check(leaf, new)
        return made

    def _read(self, returned: Any) -> Returned:
        condition = None
        if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], until):
            returned, condition = returned[0], returned[1].condition
        leaves = leaves_as_in(self.init, returned)
        if leaves is None:
            raise TypeError(
                f"{self.who}: the body must return a state of the form of init, {outline(self.init)}, got "
                f"{outline(returned)}."
            )
        return Returned([v if isinstance(v, Variable) else as_tensor_variable(v) for v in leaves], condition=condition)

    def _check(self, leaf: _Leaf, new: Any) -> None:
        kind = leaf.variable.type if leaf.first is None else leaf.first.variable.type
        require_type(f"{self.who}: state{leaf.path} starts as", kind, "the body", new)

    # -- the loop --------------------------------------------------------------------------------------------

    def after_loop(self, parts: LoopParts, made: Returned, few_rows: bool, **options: Any) -> Any:
        """The state after the last step; the loop keeps `few_rows` from the start, or leaves that to rewrites.

        `options` are those of the loop.
        """
        places: list[State | int] = []
        for leaf, new in zip(self.leaves, made.outputs):
            if leaf.first is None:
                places.append(len(parts.shared))
                parts.shared.append((leaf.variable, leaf.inner, new))
                continue
            state = make_state(leaf.first, (-1,), new, parts.n_steps)
            parts.states.append(state)
            places.append(state)
        updated = shared_states(parts, made.updates, parts.n_steps)
        inner = {v: parts.shared[p][1] if isinstance(p, int) else p.inner[0] for v, p in updated.items()}
        if few_rows:
            for state in parts.states:
                state.buffer = _first_values(state.buffer)
        close(parts, [], inner, False)
        buffers, _, shared = parts.split(Scan.of_parts(parts, **options))

        def last(place: State | int) -> Any:
            return shared[place] if isinstance(place, int) else getitem(buffers[place], -1)

        for variable in made.made:
            variable.default_update = last(updated[variable])
        return rebuild(self.init, [last(place) for place in places])


def require_type(begins: str, wanted: Any, function: str, new: Any) -> None:
    """Raise unless what a step returns has a type, as far as sizes are known; `begins` is how the message begins."""
    own = new.type
    if isinstance(wanted, DenseTensorType):
        fits = isinstance(own, DenseTensorType) and own.dtype == wanted.dtype and own.ndim == wanted.ndim
        fits = fits and all(None in p or p[0] == p[1] for p in zip(own.shape, wanted.shape))
    else:
        fits = own == wanted
    if fits:
        return
    owner = new.owner
    line = "" if owner is None or owner.source is None else f", computed by {owner.source}"
    raise TypeError(
        f"{begins} {type_text(wanted)}, but {function} returns {type_text(own)} for it, namely {describe(new)}{line}. "
        "Dtype and shape must be the same in every step: start with a value of the right shape, as in "
        "at.zeros_like(row), or cast, as in at.cast(value, dtype)."
    )


def _first_values(buffer: Any) -> Any:
    """The row that a buffer begins with: a buffer without room, so that each step writes over the last one's state."""
    made_of = expansion_of(buffer)
    assert made_of is not None
    return specify_shape(made_of[0], (1, *buffer.type.shape[1:]))


def _condition_of(who: str, cond: Callable[[Any], Any], state: Any) -> Any:
    """Return the condition on which the loop goes on from a state."""
    truth = as_tensor_variable(cond(state))
    if not isinstance(truth.type, TensorType) or truth.type.ndim:
        raise TypeError(
            f"{who}: the condition must be a single truth value, got {type_text(truth.type)}, namely "
            f"{describe(truth)}. Take at.all or at.any of it."
        )
    return truth


def _not(truth: Any) -> Any:
    return invert(truth) if truth.type.dtype == "bool" else eq(truth, constant(0))


def _integer(given: Any, which: str) -> Any:
    value = as_tensor_variable(given)
    kind = value.type
    if kind.ndim or np.dtype(kind.dtype).kind not in "iu" or kind.dtype == "uint64":
        raise TypeError(
            f"fori_loop: {which} must be a single integer that fits into int64, got {type_text(kind)}, namely "
            f"{describe(given)}."
        )
    return cast(value, "int64")
