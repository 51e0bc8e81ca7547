"""Random programs of functions and memory: what a user holds after compiling, step by step, beside a model in NumPy.

A program is a list of steps, each with a seed of its own, so that any part of it is a program, too.  Steps make shared
variables and functions, set and get values, call, copy, pickle and free.  After each step every value is what the model
says, nothing that the user holds has changed, and no result lies in memory that it must not share.
"""

from __future__ import annotations

import copy
import gc
import io
import pickle
import random
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.io import In, Out
from aesara.compile.mode import Mode, get_mode
from aesara.compile.profiling import ProfileStats
from aesara.configdefaults import config
from aesara.graph.nodes import Variable
from aesara.link.vm import VMLinker
from tests.fuzz.whole_numbers import LONGEST, Expression, Operation, Refused, clipped, draw_expression

DTYPES = ("float64", "float64", "float32", "int64", "int32", "int8")
#: what the model's states may grow to before they are set again
LARGE = 2**10


class Fault(AssertionError):
    """Something is not as it must be."""


# -- values ----------------------------------------------------------------------------------------------------


def draw_values(rng: random.Random, dtype: str, shape: tuple[int, ...], most: int = 8) -> np.ndarray:
    """Small whole numbers."""
    return np.random.default_rng(rng.randint(0, 10**6)).integers(-most, most + 1, shape).astype(dtype)


LAYOUTS = ("plain", "plain", "plain", "fortran", "strided", "negative", "read-only", "swapped", "misaligned", "offset")


def laid_out(values: np.ndarray, layout: str) -> np.ndarray:
    """The same values in memory of their own that is laid out in one way or another."""
    values = np.array(values)
    if layout == "fortran":
        return np.array(values, order="F")
    if layout == "strided" and values.ndim:
        return np.repeat(values, 2, axis=-1)[..., ::2]
    if layout == "negative" and values.ndim:
        return np.array(values[::-1])[::-1]
    if layout == "offset":
        return np.concatenate([values.ravel()[:0], np.zeros(3, values.dtype), values.ravel()])[3:].reshape(values.shape)
    if layout == "read-only":
        values.flags.writeable = False
    if layout == "swapped":
        return values.astype(values.dtype.newbyteorder(">"))
    if layout == "misaligned":
        raw = np.zeros(values.nbytes + 1, "uint8")
        moved = raw[1:].view(values.dtype).reshape(values.shape)
        moved[...] = values
        return moved
    return values


def same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


# -- what there is ---------------------------------------------------------------------------------------------


@dataclass(eq=False)
class State:
    """A shared variable and what the model says that it holds."""

    name: str
    variable: Any
    model: np.ndarray


@dataclass(eq=False)
class Argument:
    """An explicit input of a function, and the value that it has without being given."""

    name: str
    spec: In
    default: np.ndarray | None = None
    update: Expression | None = None

    @property
    def rank(self) -> int:
        return self.spec.variable.type.ndim

    @property
    def dtype(self) -> str:
        return self.spec.variable.type.dtype

    @property
    def static(self) -> tuple:
        return self.spec.variable.type.shape


@dataclass(eq=False)
class Compiled:
    """A function with the model of it.

    Attributes
    ----------
    states
        The state that stands behind each name of a shared variable in the expressions.
    fixed
        Values of inputs that are given by ``givens``.
    """

    name: str
    function: Any
    arguments: list[Argument]
    outputs: list[tuple[Expression, bool]]
    updates: dict[str, Expression]
    states: dict[str, State]
    native: bool
    form: str
    mode: str

    @property
    def lends(self) -> bool:
        return any(borrow for _, borrow in self.outputs) or any(a.spec.borrow for a in self.arguments)


@dataclass(eq=False)
class Kept:
    """An array that the user holds, and a copy of what it must stay."""

    array: np.ndarray
    copy: np.ndarray
    what: str
    own: bool = True  # the user may write to it


def _modes() -> dict[str, Any]:
    return {
        "FAST_RUN": lambda: get_mode("FAST_RUN"),
        "FAST_COMPILE": lambda: get_mode("FAST_COMPILE"),
        "NanWhere": lambda: get_mode("NanWhere"),
        "DebugMode": lambda: get_mode("DebugMode"),
        "not in place": lambda: get_mode("FAST_RUN").excluding("inplace"),
        "not fused": lambda: get_mode("FAST_RUN").excluding("fusion"),
        "fused": lambda: get_mode("FAST_RUN").including("fusion"),
        "no rewrites": lambda: Mode("llvm", None),
        "kept": lambda: Mode(VMLinker(allow_gc=False), "fast_run"),
        "dropped": lambda: Mode(VMLinker(allow_gc=True), "fast_run"),
        "lazy": lambda: Mode(VMLinker(allow_gc=False, lazy=True), "fast_run"),
        "py": lambda: Mode("py", "fast_run"),
    }


MODES = _modes()
USUAL_MODES = ["FAST_RUN"] * 8 + ["FAST_COMPILE"] * 3 + ["kept", "dropped", "lazy", "py"] + ["not in place", "fused"]
USUAL_MODES += ["NanWhere", "no rewrites", "not fused"]


@dataclass
class Machine:
    """Runs the steps of a program."""

    seed: int
    modes: list[str] = field(default_factory=lambda: USUAL_MODES)
    states: list[State] = field(default_factory=list)
    functions: list[Compiled] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    calls: int = 0
    refused: int = 0

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        self.length = rng.choice([0, 1, 2, 2, 3, 3, 3, 4, 5, 17, 200])
        self.other = rng.choice([0, 1, 2, 4])
        self.count = 0

    # -- steps

    def run(self, steps: list[tuple[str, int]]) -> None:
        with warnings.catch_warnings(), config.change_flags(on_opt_error="raise", native_verify=True):
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*older_names.*")
            for kind, seed in steps:
                getattr(self, f"step_{kind}")(random.Random(seed))
                self.check(f"after {kind}")

    def say(self, text: str) -> None:
        self.trace.append(text)

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def shape(self, rng: random.Random, rank: int, static: tuple = ()) -> tuple[int, ...]:
        usual = self.length if rng.random() < 0.93 else self.other
        return tuple(usual if s is None else s for s in (static or (None,) * rank))

    def step_shared(self, rng: random.Random) -> None:
        rank, dtype = rng.choice([0, 1, 1, 2, 2]), rng.choice(DTYPES)
        value = draw_values(rng, dtype, self.shape(rng, rank))
        static = tuple(n if rng.random() < 0.3 else None for n in value.shape)
        borrow = rng.random() < 0.3
        given = laid_out(value, "plain" if borrow else rng.choice(["plain", "strided", "fortran"]))
        name = self.fresh("s")
        self.say(f"{name} = shared({dtype}{value.tolist() if value.size < 12 else value.shape}, {static=}, {borrow=})")
        variable = aesara.shared(given, name=name, borrow=borrow, shape=static)
        self.states.append(State(name, variable, value))
        if not borrow:
            _scribble(given, rng)
        else:
            self.keep(given, f"what {name} was made of", own=False, rng=rng)

    def step_set(self, rng: random.Random) -> None:
        if not self.states:
            return
        state = rng.choice(self.states)
        kind = state.variable.type
        shape = self.shape(rng, kind.ndim, kind.shape)
        value = draw_values(rng, kind.dtype, shape)
        borrow = rng.random() < 0.5
        layout = rng.choice(LAYOUTS)
        given = laid_out(value, layout)
        others = [k.array for k in self.kept if k.array.dtype == kind.dtype and k.array.shape == shape]
        if borrow and others and rng.random() < 0.4:  # the same array as somewhere else
            given = rng.choice(others)
            value, layout = np.array(given), "held"
        if rng.random() < 0.1:
            self.say(f"{state.name}.set_value(wrong rank)")
            try:
                state.variable.set_value(np.zeros((2,) * (kind.ndim + 1), kind.dtype), borrow=borrow)
            except TypeError:
                return
            raise Fault("a value of another rank was taken")
        self.say(f"{state.name}.set_value({_short(value)}, {layout}, {borrow=})")
        state.variable.set_value(given, borrow=borrow)
        state.model = value
        if borrow:
            for k in self.kept:
                if np.shares_memory(k.array, given):
                    k.own = False
            self.keep(given, f"what {state.name} was set to", own=False, rng=rng)
        else:
            if layout != "held":
                _scribble(given, rng)

    def step_get(self, rng: random.Random) -> None:
        if not self.states:
            return
        state = rng.choice(self.states)
        borrow, internal = rng.random() < 0.5, rng.random() < 0.3
        self.say(f"{state.name}.get_value({borrow=}, return_internal_type={internal})")
        value = state.variable.get_value(borrow=borrow, return_internal_type=internal)
        if not same(value, state.model):
            raise Fault(f"{state.name} is {_short(value)}, expected {_short(state.model)}")
        if borrow:
            self.keep(value, f"borrowed value of {state.name}", own=False, rng=rng)
        else:
            _scribble(value, rng)

    def step_zero(self, rng: random.Random) -> None:
        if not self.states:
            return
        state = rng.choice(self.states)
        self.say(f"{state.name}.zero()")
        state.variable.zero()
        state.model = np.zeros_like(state.model)

    def step_function(self, rng: random.Random) -> None:
        while not self.states:
            self.step_shared(rng)
        self.functions.append(draw_function(self, rng))

    def step_call(self, rng: random.Random) -> None:
        if self.functions:
            call(self, rng.choice(self.functions[-3:]), rng)

    def step_free(self, rng: random.Random) -> None:
        if self.functions:
            f = rng.choice(self.functions)
            self.say(f"{f.name}.free()")
            f.function.free()

    def step_forget(self, rng: random.Random) -> None:
        self.say("forget kept arrays")
        self.kept = [k for k in self.kept if rng.random() < 0.3]
        gc.collect()

    def step_copy(self, rng: random.Random) -> None:
        if not self.functions:
            return
        f = rng.choice(self.functions)
        inside = list(f.states.items())
        swap, states = {}, dict(f.states)
        for name, state in inside:
            others = [s for s in self.states if s is not state and state.variable.type.is_super(s.variable.type)]
            if others and rng.random() < 0.5:
                states[name] = rng.choice(others)
        chosen = list(states.values())
        if len(set(chosen)) < len(chosen):  # two names for one variable: left to pfunc's own errors
            states = dict(f.states)
        in_function = {id(v): v for v in f.function.get_shared()}
        swap = {f.states[n].variable: s.variable for n, s in states.items() if s is not f.states[n]}
        swap = {old: new for old, new in swap.items() if id(old) in in_function}
        states = {n: (s if f.states[n].variable in swap else f.states[n]) for n, s in states.items()}
        delete = rng.random() < 0.3
        name = self.fresh("f")
        self.say(f"{name} = {f.name}.copy(swap={[(str(a), str(b)) for a, b in swap.items()]}, delete_updates={delete})")
        function = f.function.copy(swap=swap, delete_updates=delete, share_memory=rng.random() < 0.3)
        arguments = [copy.copy(a) for a in f.arguments]
        if delete:
            for a in arguments:
                a.update = None
        updates = {} if delete else f.updates
        self.functions.append(Compiled(name, function, arguments, f.outputs, updates, states, f.native, f.form, f.mode))

    def step_pickle(self, rng: random.Random) -> None:
        if not self.functions:
            return
        f = rng.choice(self.functions)
        used = list(f.states.items())
        way = rng.choice(["pickle", "pickle", "deepcopy"])
        self.say(f"{way} {f.name} with {[s.name for _, s in used]}")
        content = (f.function, [s.variable for _, s in used])
        if way == "pickle":
            file = io.BytesIO()
            pickle.dump(content, file, protocol=rng.choice([2, 5]))
            function, variables = pickle.loads(file.getvalue())
        else:
            function, variables = copy.deepcopy(content)
        states = {}
        for (name, state), variable in zip(used, variables, strict=True):
            known = [s for s in states.values() if s.variable is variable]
            states[name] = known[0] if known else State(self.fresh("s"), variable, state.model.copy())
            self.states += [] if known else [states[name]]
        name = self.fresh("f")
        self.say(f"  which makes {name} and {[s.name for s in states.values()]}")
        arguments = [copy.copy(a) for a in f.arguments]
        self.functions.append(
            Compiled(name, function, arguments, f.outputs, f.updates, states, f.native, f.form, f.mode)
        )

    # -- invariants

    def keep(self, array: np.ndarray, what: str, own: bool, rng: random.Random) -> None:
        if len(self.kept) >= 12:
            self.kept.pop(rng.randrange(len(self.kept)))
        self.kept.append(Kept(array, np.array(array), what, own))

    def check(self, when: str) -> None:
        for k in self.kept:
            if not same(k.array.astype(k.copy.dtype), k.copy):
                raise Fault(f"{when}: {k.what} has changed from {_short(k.copy)} to {_short(k.array)}")
        for state in self.states:
            value = state.variable.get_value(borrow=True)
            if not isinstance(value, np.ndarray):
                raise Fault(f"{when}: {state.name} holds a {type(value)}")
            if not same(value.astype(state.model.dtype), state.model) or value.dtype != state.model.dtype:
                raise Fault(f"{when}: {state.name} is {_short(value)}, expected {_short(state.model)}")


def _short(value: Any) -> str:
    value = np.asarray(value)
    return f"{value.dtype}{value.tolist()}" if value.size <= 25 else f"{value.dtype}{value.shape}"


def _scribble(array: Any, rng: random.Random) -> None:
    """Write something else into an array that nobody else may look at."""
    if isinstance(array, np.ndarray) and array.flags.writeable:
        array[...] = 99


# -- functions -------------------------------------------------------------------------------------------------


def draw_function(m: Machine, rng: random.Random) -> Compiled:
    name = m.fresh("f")
    used = rng.sample(m.states, min(len(m.states), rng.randint(1, 4)))
    states = {s.name: s for s in used}
    variables: dict[str, Variable] = {s.name: s.variable for s in used}
    leaves = [Expression(s.variable.type.ndim, LARGE, name=s.name) for s in used] * 2
    plain: list[tuple[str, Variable]] = []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        rank, dtype = rng.choice([0, 1, 1, 2]), rng.choice(DTYPES)
        static = tuple(rng.choice([None, None, m.length]) for _ in range(rank))
        plain.append((m.fresh("x"), at.tensor(dtype, shape=static)))
    if rng.random() < 0.5:
        plain.append((m.fresh("i"), at.lscalar()))
    for n, v in plain:
        v.name = n
        variables[n] = v
        leaves.append(Expression(v.type.ndim, LARGE, name=n))
    for rank in range(3):
        value = draw_values(rng, rng.choice(DTYPES), (m.length,) * rank)
        leaves.append(Expression(rank, 8, constant=value))
    made: dict[Expression, Variable] = {}

    def expression(rank: int, depth: int) -> Expression:
        for _ in range(20):
            e = draw_expression(rng, rank, leaves, depth)
            try:
                e.variable(variables, made)
            except (TypeError, ValueError, IndexError):  # lengths known not to fit
                leaves[:] = [x for x in leaves if x in made or x.operation is None]
                continue
            return e
        return next(x for x in leaves if x.rank == rank and x.operation is None)

    outputs = [
        (expression(rng.choice([0, 1, 1, 2]), rng.randint(0, 5)), rng.random() < 0.25)
        for _ in range(rng.choice([0, 1, 1, 2, 3]))
    ]
    if outputs and rng.random() < 0.2:
        outputs.append((rng.choice(outputs)[0], rng.random() < 0.3))

    updates: dict[str, Expression] = {}
    symbolic_updates = {}
    for s in used:
        if rng.random() < 0.6:
            found = _new_value(rng, s.variable, leaves, variables, made, expression)
            if found is not None:
                updates[s.name], symbolic_updates[s.variable] = found
    arguments = []
    for n, v in plain:
        options: dict[str, Any] = {"borrow": rng.random() < 0.3}
        if rng.random() < 0.3:
            options = {"mutable": True}
        if rng.random() < 0.15:
            options["strict"] = True
        elif rng.random() < 0.3:
            options["allow_downcast"] = True
        default = update = None
        if rng.random() < 0.3:
            default = draw_values(rng, v.type.dtype, m.shape(rng, v.type.ndim, v.type.shape))
            options["value"] = default.copy()
            if rng.random() < 0.5:
                found = _new_value(rng, v, leaves, variables, made, expression)
                if found is not None:
                    update, options["update"] = found
        arguments.append(Argument(n, In(v, **options), default, update))
    mode = rng.choice(m.modes)
    form = rng.choice(["list", "list", "list", "dict", "single", "none"])
    symbolic: Any = [Out(made[e] if e in made else e.variable(variables, made), borrow=b) for e, b in outputs]
    if form == "dict":
        symbolic = {f"k{k}": v for k, v in enumerate(symbolic)}
    elif form == "single" and len(outputs) == 1:
        symbolic = symbolic[0]
    elif form == "none":
        symbolic, outputs = None, []
    else:
        form = "list"
    options = {"profile": ProfileStats(atexit_print=False)} if rng.random() < 0.07 else {}
    m.say(
        f"{name} = function([{', '.join(_describe(a) for a in arguments)}], "
        f"[{', '.join(f'Out({e}, {b})' for e, b in outputs)}], {form}, "
        f"updates={{{', '.join(f'{k}: {e}' for k, e in updates.items())}}}, {mode=}, {options})"
    )
    function = aesara.function(
        [a.spec for a in arguments],
        symbolic,
        updates=list(symbolic_updates.items()),
        mode=MODES[mode](),
        on_unused_input="ignore",
        name=name,
        **options,
    )
    for a in arguments:
        if not a.spec.borrow:
            _scribble(a.spec.value, rng)
    if rng.random() < 0.1:
        function.trust_input = True
    native = getattr(function, "_native", None) is not None
    return Compiled(name, function, arguments, outputs, updates, states, native, form, mode)


def _describe(a: Argument) -> str:
    spec = a.spec
    text = f"In({a.name}: {spec.variable.type}, borrow={spec.borrow}, mutable={spec.mutable}, strict={spec.strict}"
    if a.default is not None:
        text += f", value={_short(a.default)}"
    return text + (f", update={a.update})" if a.update is not None else ")")


def _new_value(rng, variable, leaves, variables, made, expression) -> tuple[Expression, Variable] | None:
    """An expression of the type of a variable: another state as it is, or something computed."""
    kind = variable.type
    for _ in range(4):
        if rng.random() < 0.35:
            same = [e for e in leaves if e.rank == kind.ndim and e.operation is None]
            e = rng.choice(same)
        else:
            e = expression(kind.ndim, rng.randint(1, 4))
        e = clipped(e, LARGE)
        v = e.variable(variables, made)
        if v.type.dtype != kind.dtype:
            e = Expression(e.rank, e.bound, _cast_to(kind.ndim, kind.dtype), (e,))
            v = e.variable(variables, made)
        if kind.is_super(v.type):
            return e, v
    return None


def _cast_to(rank: int, dtype: str) -> Any:
    return Operation(f"as_{dtype}", rank, (rank,), lambda x: at.cast(x, dtype), lambda x: x, lambda b: b)


# -- calls -----------------------------------------------------------------------------------------------------


def call(m: Machine, f: Compiled, rng: random.Random) -> None:
    m.calls += 1
    given: dict[str, np.ndarray] = {}
    passed: dict[str, Any] = {}
    texts = []
    trusted = f.function.trust_input
    for a in f.arguments:
        if a.default is not None and rng.random() < 0.5:
            given[a.name] = a.default
            continue
        value, argument, text = _draw_argument(m, a, rng, passed, trusted)
        given[a.name], passed[a.name] = value, argument
        texts.append(f"{a.name}={text}")
    m.say(f"{f.name}({', '.join(texts)})")
    before = {n: np.array(v) for n, v in passed.items()}
    expected = _expected(f, given)
    by_name = rng.random() < 0.3 or any(n not in passed for n in [a.name for a in f.arguments])
    try:
        if by_name:
            results = f.function(**passed)
        else:
            results = f.function(*passed.values())
    except Exception as error:
        if expected is not None:
            raise Fault(f"{f.name} failed: {type(error).__name__}: {error}") from error
        m.refused += 1
        _check_arguments(f, passed, before)
        return
    if expected is None:
        # A rule may drop a step that would have failed: nothing is known then of what came out.
        for state in f.states.values():
            state.model = np.array(state.variable.get_value(borrow=True))
        for a in f.arguments:
            if a.update is not None:
                a.default = np.array(f.function.value[f.arguments.index(a)])
        m.check("after a call that could have failed")
        return
    values, states, defaults = expected
    results = _as_list(f, results)
    if len(results) != len(values):
        raise Fault(f"{f.name} returned {len(results)} values, expected {len(values)}")
    for state, value in states.items():
        state.model = value
    for a, value in defaults.items():
        a.default = value
    for k, (got, want) in enumerate(zip(results, values, strict=True)):
        if not isinstance(got, np.ndarray) or type(got) is not np.ndarray:
            raise Fault(f"output {k} of {f.name} is a {type(got)}")
        if not same(got, want):
            raise Fault(f"output {k} of {f.name} is {_short(got)}, expected {_short(want)}")
    _check_arguments(f, passed, before)
    _check_memory(m, f, passed, results)
    for a in f.arguments:
        if a.update is not None:
            now = f.function.value[f.arguments.index(a)]
            if not same(now, a.default):
                raise Fault(f"the state {a.name} of {f.name} is {_short(now)}, expected {_short(a.default)}")
    m.check(f"after {f.name}")
    _afterwards(m, f, passed, results, rng)
    for state in m.states:
        if _has_grown(state.model):
            kind = state.variable.type
            state.model = draw_values(rng, kind.dtype, m.shape(rng, kind.ndim, kind.shape))
            state.variable.set_value(state.model)
    for k, a in enumerate(f.arguments):
        if a.update is not None and _has_grown(a.default):
            a.default = draw_values(rng, a.dtype, m.shape(rng, a.rank, a.static))
            f.function.value[k] = a.default.copy()


def _has_grown(value: np.ndarray) -> bool:
    """Return whether values are too large for exact sums, or too many for memory."""
    return value.size > 0 and (max(value.shape, default=0) > LONGEST or abs(value.astype("float64")).max() > LARGE)


def _draw_argument(m: Machine, a: Argument, rng, passed, trusted) -> tuple[np.ndarray, Any, str]:
    """Draw an argument: the model's value, the passed object, and a description."""
    shape = m.shape(rng, a.rank, a.static)
    value = draw_values(rng, a.dtype, shape)
    if a.name.startswith("i"):
        value = np.array(rng.choice([0, 1, 2, -1, m.length, m.length - 1]))
    exact = a.spec.strict or trusted
    fits = lambda v: v.dtype == a.dtype and v.shape == shape and v.dtype.isnative and (v.flags.aligned or not exact)
    held = [k for k in m.kept if fits(k.array) and (k.own or not a.spec.mutable)]
    if held and not a.name.startswith("i") and rng.random() < 0.25:
        chosen = rng.choice(held)
        if a.spec.mutable or a.spec.borrow:
            m.kept = [k for k in m.kept if not np.shares_memory(k.array, chosen.array)]
        return np.array(chosen.array), chosen.array, f"held {chosen.what} {_short(chosen.array)}"
    others = [v for v in passed.values() if isinstance(v, np.ndarray) and fits(v)]
    if others and rng.random() < 0.3:
        chosen = rng.choice(others)
        return np.array(chosen), chosen, "same array as another"
    overlapping = [v for v in passed.values() if isinstance(v, np.ndarray) and v.ndim == 1 and fits(v) and v.size > 1]
    if a.rank == 1 and overlapping and rng.random() < 0.5:
        view = rng.choice(overlapping)[::-1]
        return np.array(view), view, "reversed view of another"
    layout = rng.choice(LAYOUTS)
    if exact and layout in ("swapped", "misaligned"):
        layout = "plain"
    if not exact and rng.random() < 0.2:
        kind = rng.choice(["list", "scalar", "narrow"])
        if kind == "list" and value.size:
            return value, value.tolist(), f"list {value.tolist()}"
        if kind == "scalar" and not a.rank:
            return value, value[()], f"scalar {value[()]!r}"
        if kind == "narrow" and a.dtype != "int8" and np.abs(value).max(initial=0) < 128:
            return value, value.astype("int8"), f"int8{_short(value)}"
    return value, laid_out(value, layout), f"{layout} {_short(value)}"


def _expected(f: Compiled, given: dict[str, np.ndarray]) -> Any:
    leaves = {**given, **{n: s.model for n, s in f.states.items()}}
    known: dict[Expression, np.ndarray] = {}
    try:
        values = [e.value(leaves, known) for e, _ in f.outputs]
        states = {f.states[n]: e.value(leaves, known) for n, e in f.updates.items()}
        defaults = {a: a.update.value(leaves, known) for a in f.arguments if a.update is not None}
    except Refused:
        return None
    return values, states, defaults


def _as_list(f: Compiled, results: Any) -> list:
    if f.form == "none":
        if results is not None:
            raise Fault(f"{f.name} returned {results!r} instead of None")
        return []
    if f.form == "single":
        return [results]
    return list(results.values()) if f.form == "dict" else list(results)


def _check_arguments(f: Compiled, passed: dict[str, Any], before: dict[str, np.ndarray]) -> None:
    specs = {a.name: a.spec for a in f.arguments}
    written = [passed[n] for n in passed if specs[n].mutable and getattr(passed[n], "flags", None) is not None]
    written = [v for v in written if isinstance(v, np.ndarray) and v.flags.writeable]
    for n, value in passed.items():
        array = np.asarray(value)
        if any(v is value or np.shares_memory(v, array) for v in written):
            continue  # given to be overwritten
        if not same(array.astype(before[n].dtype), before[n]):
            raise Fault(f"argument {n} of {f.name} has changed from {_short(before[n])} to {_short(array)}")


def _check_memory(m: Machine, f: Compiled, passed: dict[str, Any], results: list) -> None:
    """Results share no memory with anything, unless they are lent."""
    given = {a.name for a in f.arguments if a.spec.mutable}
    arguments = [v for n, v in passed.items() if isinstance(v, np.ndarray) and (f.native or n not in given)]
    states = [s.variable.get_value(borrow=True) for s in m.states]
    held = [k.array for k in m.kept]
    defaults = [v for v in (f.function.value[k] for k in range(len(f.arguments))) if isinstance(v, np.ndarray)]
    for k, (value, (_, lent)) in enumerate(zip(results, f.outputs, strict=True)):
        if lent or not value.size:
            continue
        if not value.flags.writeable:
            raise Fault(f"output {k} of {f.name} cannot be written to")
        groups = {"an argument": arguments, "a shared variable": states, "a default value": defaults,
                  "an array held": held, "another output": results[:k] + results[k + 1 :]}  # fmt: skip
        for what, others in groups.items():
            if any(np.shares_memory(value, other) for other in others):
                raise Fault(f"output {k} of {f.name} shares memory with {what}")
    if not f.native or not f.lends:
        for i, state in enumerate(states):
            for j, other in enumerate(states[:i]):
                shares = state is not other and np.shares_memory(state, other)
                if shares and {m.states[i], m.states[j]} & {f.states[n] for n in f.updates}:
                    raise Fault(f"{m.states[i].name} shares memory with {m.states[j].name} after {f.name}")


def _afterwards(m: Machine, f: Compiled, passed: dict[str, Any], results: list, rng: random.Random) -> None:
    """The user writes into what is his, and holds some of the results."""
    specs = {a.name: a.spec for a in f.arguments}
    for n, value in passed.items():
        alone = isinstance(value, np.ndarray) and not any(np.shares_memory(value, k.array) for k in m.kept)
        if alone and not specs[n].borrow and not specs[n].mutable and rng.random() < 0.7:
            lent = [v for k, v in passed.items() if k != n and (specs[k].borrow or specs[k].mutable)]
            if not any(isinstance(v, np.ndarray) and np.shares_memory(v, value) for v in lent):
                _scribble(value, rng)
    for k, (value, (_, lent)) in enumerate(zip(results, f.outputs, strict=True)):
        if rng.random() < 0.4:
            # Native code never writes to what somebody holds; the virtual machine may to what it has lent.
            if not lent:
                m.keep(value, f"output {k} of {f.name}", own=True, rng=rng)
            elif f.native and not any(s.borrow for s in specs.values()):
                m.keep(value, f"lent output {k} of {f.name}", own=False, rng=rng)
        elif not lent:
            _scribble(value, rng)


# -- programs --------------------------------------------------------------------------------------------------

KINDS = ["call"] * 14 + ["set"] * 3 + ["get"] * 3 + ["function"] * 2 + ["shared", "copy", "pickle", "forget"]
KINDS += ["free", "zero"]


def draw_steps(seed: int, count: int = 30) -> list[tuple[str, int]]:
    """The steps of a program."""
    rng = random.Random(seed)
    kinds = ["shared"] * rng.randint(1, 4) + ["function"] + rng.choices(KINDS, k=count)
    return [(kind, rng.randint(0, 10**9)) for kind in kinds]
