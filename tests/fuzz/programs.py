"""Random programs: a hypothesis strategy that draws inputs, then operations on what is there, then results."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

import aesara
import aesara.tensor as at
from aesara.compile.builders import OpFromGraph
from aesara.graph.nodes import Variable
from aesara.ifelse import ifelse
from aesara.tensor.special import log_softmax, softmax
from tests.fuzz.evaluation import Trace, evaluate
from tests.fuzz.operations import FLOATS, MAX_RANK, TABLE, broadcasts
from tests.fuzz.table import Applied, bounded, elementwise, fitted, other

SIZES = (2, 3, 1, 0, 7, 17, 3, 5, 40, 1100)
DTYPES = ("float64", "float32", "int64", "float64", "float32", "int32", "int8", "uint8", "bool", "float16")
DTYPES += DTYPES[:8] + ("int16", "uint16", "uint32", "uint64")
#: sizes of the third call of a function: what was unknown when it was compiled changes
OTHER_SIZES = {0: 2, 2: 6, 3: 4, 5: 33, 7: 2, 17: 0, 40: 8, 1100: 2000, 1: 1}
MAX_ELEMENTS = 5000
SCOPE = {
    "at": at, "np": np, "aesara": aesara, "softmax": softmax, "log_softmax": log_softmax, "fitted": fitted,
    "bounded": bounded, "ifelse": ifelse, "OpFromGraph": OpFromGraph,
}  # fmt: skip


def make_values(seed: int, profile: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Reproducible values: 0 small and exact, with ties; 1 arbitrary; 2 with special values among them."""
    rng = np.random.default_rng([seed, *shape])
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.startswith("float"):
        values = rng.integers(-12, 13, shape) / 4 if profile == 0 else rng.normal(size=shape) * 1.5
        if profile == 2:
            special = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e30, -1e-30, 700.0]
            with np.errstate(over="ignore"):
                return np.where(rng.random(shape) < 0.15, rng.choice(special, shape), values).astype(dtype)
        return np.asarray(values).astype(dtype)
    limits = np.iinfo(dtype)
    if profile == 2:
        return rng.choice(np.array([limits.min, limits.max, 0, 1, 2, 5], dtype=dtype), shape)
    return np.asarray(rng.integers(max(limits.min, -5), 7, shape)).astype(dtype)


def laid_out(values: np.ndarray, layout: int) -> np.ndarray:
    """The same values in memory that is contiguous (0), in Fortran order, strided or running backwards."""
    if layout == 1 and values.ndim:
        return np.asfortranarray(values)
    if layout == 2 and values.ndim:
        wide = np.repeat(values, 2, axis=-1)
        return wide[..., ::2]
    if layout == 3 and values.ndim:
        return np.ascontiguousarray(values[::-1])[::-1]
    return values.copy()


@dataclass(frozen=True)
class InputSpec:
    """An argument, or a shared variable, and the seed of its values."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    static: tuple[int | None, ...]
    shared: bool
    seed: int
    profile: int
    layout: int

    def values(self, call: int = 0) -> np.ndarray:
        shape = self.shape
        if call == 2:
            shape = tuple(OTHER_SIZES[n] if s is None else n for n, s in zip(shape, self.static))
        return laid_out(make_values(self.seed + call, self.profile, self.dtype, shape), self.layout)

    def expression(self) -> str:
        """Text that makes the values."""
        if np.prod(self.shape) <= 20:
            return f"np.array({self.values().tolist()}, dtype={self.dtype!r}).reshape({self.shape})"
        return f"make_values({self.seed}, {self.profile}, {self.dtype!r}, {self.shape})"

    def declaration(self) -> str:
        if self.shared:
            return f"aesara.shared(VALUES[{self.name!r}], {self.name!r}, shape={self.static})"
        return f"at.tensor({self.dtype!r}, shape={self.static}, name={self.name!r})"


@dataclass(frozen=True)
class Entry:
    """A value of the program: its variable and what it is for the inputs' values."""

    name: str
    variable: Variable
    value: np.ndarray

    def __str__(self) -> str:
        return self.name

    @property
    def dtype(self) -> str:
        return self.variable.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def dims(self) -> list[tuple[int, int | None]]:
        """Sizes, each with what is known of it statically."""
        return list(zip(self.shape, self.variable.type.shape))


@dataclass
class Program:
    """Inputs, lines of text that compute on them, names of results, and new values of shared variables."""

    inputs: list[InputSpec]
    lines: list[tuple[str, str]] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    updates: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    applied: Applied = field(default_factory=Applied)
    #: of how many calls all results were compared, by `checking.check`
    compared: int = 0

    def source(self) -> str:
        text = [
            "import numpy as np, aesara, aesara.tensor as at",
            "from aesara.tensor.special import softmax, log_softmax",
            "from aesara.ifelse import ifelse; from aesara.compile.builders import OpFromGraph",
            "from tests.fuzz.programs import make_values",
            "from tests.fuzz.table import Applied, bounded, fitted; row = Applied()",
        ]
        used = " ".join([e for _, e in self.lines] + self.outputs + [k + " " + v for k, v in self.updates.items()])
        inputs = [i for i in self.inputs if i.name in used.replace("(", " ")] or self.inputs
        text.append("VALUES = {}")
        for i in inputs:
            text.append(f"VALUES[{i.name!r}] = {i.expression()}  # layout {i.layout}")
            text.append(f"{i.name} = {i.declaration()}")
        text += [f"{name} = {expression}" for name, expression in self.lines]
        explicit = [i.name for i in inputs if not i.shared]
        updates = ", ".join(f"({k}, {v})" for k, v in self.updates.items())
        text.append(
            f"f = aesara.function([{', '.join(explicit)}], [{', '.join(self.outputs)}], updates=[{updates}], "
            "on_unused_input='ignore', mode=MODE)"
        )
        text.append(f"print(f({', '.join(f'VALUES[{n!r}]' for n in explicit)}))")
        return "\n".join(text)

    __repr__ = source


class Builder:
    """State that the table's rows build on: the values so far, and ways to draw.

    Parameters
    ----------
    integer
        Draws an integer between two bounds; everything else is drawn by it.
    """

    def __init__(self, integer: Callable[[int, int], int], inputs: list[InputSpec] | None = None) -> None:
        self.draw_integer = integer
        self.broadcasts = broadcasts
        self.entries: list[Entry] = []
        self.known: dict[Variable, np.ndarray] = {}
        self.program = Program(input_specs(self) if inputs is None else inputs)
        self.scope = {**SCOPE, "row": self.program.applied}
        for spec in self.program.inputs:
            self.scope["VALUES"] = {spec.name: spec.values()}
            variable = eval(spec.declaration(), self.scope)
            self.program.variables[spec.name] = self.scope[spec.name] = variable
            self.known[variable] = spec.values()
            self.entries.append(Entry(spec.name, variable, self.known[variable]))

    def integer(self, low: int, high: int) -> int:
        return self.draw_integer(low, max(low, high))

    def flag(self) -> bool:
        return bool(self.integer(0, 1))

    def choice(self, options):
        options = list(options)
        return options[self.integer(0, len(options) - 1)]

    def permutation(self, items):
        items = list(items)
        return [items.pop(self.integer(0, len(items) - 1)) for _ in range(len(items))]

    def subset(self, items):
        return [i for i in items if self.flag()]

    def pick(self, fits=lambda e: True) -> Entry | None:
        found = [e for e in self.entries if fits(e)]
        return self.choice(found) if found else None

    def compute(self, expression: str) -> tuple[Variable, np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            variable = eval(expression, self.scope)
        if not isinstance(variable, Variable):
            raise TypeError(expression)
        trace = Trace()
        (value,) = evaluate([variable], self.known, trace=trace)
        if trace.undefined:
            raise TypeError("undefined conversion")
        return variable, np.asarray(value)

    def shape_of(self, expression: str) -> tuple[int, ...] | None:
        try:
            return self.compute(expression)[1].shape
        except Exception:
            return None

    def add(self, expression: str, name: str | None = None) -> None:
        """Append a line; expressions that are no graph, fail or grow too large are left out."""
        made = len(self.program.applied.calls)
        try:
            variable, value = self.compute(expression)
        except Exception:
            del self.program.applied.calls[made:]
            return
        if value.size > MAX_ELEMENTS or value.ndim > MAX_RANK or str(value.dtype).startswith("complex"):
            del self.program.applied.calls[made:]
            return
        name = name or f"v{len(self.program.lines)}"
        self.program.lines.append((name, expression))
        self.scope[name] = self.program.variables[name] = variable
        self.known[variable] = value
        self.entries.append(Entry(name, variable, value))


def input_specs(b: Builder) -> list[InputSpec]:
    profile = b.choice([0, 1, 0, 1, 2])
    sizes = [b.choice(SIZES) for _ in range(3)]
    specs = []
    for k in range(b.integer(1, 4)):
        shape = tuple(b.choice(sizes) for _ in range(b.choice([2, 1, 0, 3, 1, 2])))
        while np.prod(shape) > MAX_ELEMENTS:
            shape = tuple(min(n, 3) if n == max(shape) else n for n in shape)
        static = tuple(n if n == 1 or b.choice([False, False, True]) else None for n in shape)
        specs.append(
            InputSpec(
                name=f"x{k}", dtype=b.choice(DTYPES), shape=shape, static=static,
                shared=b.choice([False, False, True]), seed=b.integer(0, 1000),
                profile=profile, layout=b.choice([0, 0, 0, 1, 2, 3]),
            )
        )  # fmt: skip
    return specs


ROWS = [row for row, weight in [*TABLE, (elementwise, 8), (other, 12)] for _ in range(weight)]


def draw_program(integer: Callable[[int, int], int], max_lines: int = 20) -> Program:
    """A program, from a function that draws integers."""
    b = Builder(integer)
    for _ in range(b.integer(1, max_lines)):
        expression = b.choice(ROWS)(b)
        if expression is not None:
            b.add(expression)
    _results(b)
    _updates(b)
    if b.flag():
        _gradients(b)
    return b.program


@st.composite
def programs(draw, max_lines: int = 20) -> Program:
    """The strategy."""
    return draw_program(lambda low, high: draw(st.integers(low, high)), max_lines)


def rebuild(program: Program, lines, outputs, updates) -> Program:
    """The program with other lines (those that miss what they need are left out), results and updates."""
    b = Builder(lambda low, high: low, program.inputs)
    for name, expression in lines:
        b.add(expression, name)
    b.program.outputs = [n for n in outputs if n in b.program.variables]
    b.program.updates = {k: v for k, v in updates.items() if v in b.program.variables}
    return b.program


def _results(b: Builder) -> None:
    count = b.integer(1, 4)
    made = (b.entries[len(b.program.inputs) :] or b.entries)[::-1]
    latest = [str(b.choice(made[:4])) for _ in range(count)]
    b.program.outputs = [name if b.integer(0, 2) else str(b.pick()) for name in latest]


#: new values that read the old one at the same element, at others, or in a row with other operations
STEPS = (
    "{x}[::-1]", "{x} + {x}[::-1]", "{x} + 1", "{x} * {x}", "{x} - {x}[0]", "at.roll({x}, 1, axis=0)",
    "-{x} + {x}.sum()",
    "at.set_subtensor({x}[1:], {x}[:-1])", "at.inc_subtensor({x}[:1], 2)", "at.maximum({x}, {x}[::-1])",
)  # fmt: skip


def _updates(b: Builder) -> None:
    """New values of shared variables: of the same type, so that swaps and crossed reads come about."""
    for spec in b.program.inputs:
        if not spec.shared or not b.integer(0, 3):
            continue
        if spec.shape and spec.dtype != "bool" and b.flag():
            b.add(f"at.cast({b.choice(STEPS).format(x=spec.name)}, {spec.dtype!r})")
        kind = b.program.variables[spec.name].type
        same = [e for e in b.entries if e.variable.type == kind]
        made = [e for e in same if e.variable.owner is not None]
        b.program.updates[spec.name] = str(b.choice(made[-3:] if made and b.integer(0, 3) else same))


def _gradients(b: Builder) -> None:
    """The gradient of a weighted sum of the floating-point results."""
    costs = [n for n in dict.fromkeys(b.program.outputs) if b.scope[n].type.dtype in FLOATS]
    wrt = [s.name for s in b.program.inputs if s.dtype in FLOATS]
    if not costs or not wrt:
        return
    terms = " + ".join(f"({n} * {k + 1}.5).sum()" for k, n in enumerate(costs))
    before = len(b.entries)
    for name in wrt:
        b.add(f"aesara.grad({terms}, {name}, disconnected_inputs='ignore')")
    b.program.outputs += [str(e) for e in b.entries[before:]]
