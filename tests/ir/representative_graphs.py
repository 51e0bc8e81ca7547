"""Graphs that between them use every form of the loop IR, each with arguments to call it with.

A graph is a function that makes inputs, outputs, updates of shared variables, and lists of arguments.  Its
docstring heads its golden file, if it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import aesara
import aesara.tensor as at
from aesara.compile.mode import Mode
from aesara.compile.ops import as_op
from aesara.ifelse import ifelse
from aesara.ir.interpret import run_program
from aesara.link.llvm.python_nodes import make_callback
from aesara.scan.utils import until
from aesara.tensor.special import log_softmax, softmax


@dataclass
class Graph:
    inputs: list[Any]
    outputs: list[Any]
    arguments: list[tuple[Any, ...]]
    updates: list[tuple[Any, Any]] = field(default_factory=list)
    shared: list[Any] = field(default_factory=list)


GRAPHS: dict[str, Callable[[], Graph]] = {}


def graph(make: Callable[[], Graph]) -> Callable[[], Graph]:
    GRAPHS[make.__name__] = make
    return make


def noise(*shape: int, dtype: str = "float64", seed: int = 0) -> np.ndarray:
    return (np.random.default_rng([seed, *shape]).normal(size=shape) * 3).astype(dtype)


def integers(*values: int) -> np.ndarray:
    return np.array(values, dtype="int64")


def tensor(name: str, rank: int, dtype: str = "float64") -> Any:
    return at.TensorType(dtype, (None,) * rank)(name)


MATRICES = [(noise(3, 4),), (noise(0, 4),), (noise(3, 0),), (noise(0, 0),), (noise(1, 1),)]
CUBES = [(noise(2, 3, 4),), (noise(0, 3, 4),), (noise(2, 0, 4),), (noise(2, 3, 0),), (noise(1, 1, 1),)]


@graph
def elementwise_fusion() -> Graph:
    """Elementwise operations in one pass over memory."""
    x, y = tensor("x", 2), tensor("y", 2)
    z = at.tanh(x) * y
    return Graph([x, y], [z, at.exp(-z) + x], [(a, a + 1) for (a,) in MATRICES])


@graph
def complex_numbers() -> Graph:
    """Complex numbers: real and imaginary parts in turn in memory, and a shared value updated in place."""
    z, s = tensor("z", 1, "complex128"), aesara.shared(noise(3) + 1j * noise(3, seed=1), name="s")
    arguments = [(noise(3, seed=k) + 1j * noise(3, seed=k + 1),) for k in range(2)]
    return Graph([z], [at.exp(z * s), abs(z), z.sum()], arguments, [(s, s * z.conj())], [s])


@graph
def broadcasting() -> Graph:
    """A vector, a row, a column and a scalar against a matrix."""
    x, v, s = tensor("x", 2), tensor("v", 1), tensor("s", 0)
    column = v.dimshuffle(0, "x")
    outer = column - v
    arguments = [(noise(n, n), noise(n), np.float64(1.5)) for n in (3, 0, 1)]
    return Graph([x, v, s], [x + v, x * column + s, outer * outer], arguments)


@graph
def sums_over_axes() -> Graph:
    """Sums over the last axes stay in registers, others accumulate in memory."""
    t = tensor("t", 3)
    axes = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), None]
    return Graph([t], [t.sum(axis=a) for a in axes], CUBES)


@graph
def other_reductions() -> Graph:
    """Products, means, logical reductions and variances."""
    t = tensor("t", 3)
    outputs = [
        at.prod(t, axis=1),
        at.any(t > 0, axis=0),
        at.all(t > 0, axis=(1, 2)),
        (t - t.mean(axis=1, keepdims=True)),
    ]
    return Graph([t], outputs, CUBES)


@graph
def long_sums() -> Graph:
    """Sums that are longer than a block."""
    x = tensor("x", 2)
    centred = x - x.mean(axis=1, keepdims=True)
    return Graph([x], [x.sum(), centred.sum(axis=1), x.sum(axis=0)], [(noise(2, 1500),), (noise(1100, 1),)])


@graph
def extrema() -> Graph:
    """Maximum, minimum and their positions, over each axis; NaN counts as the largest."""
    t = tensor("t", 3)
    outputs = [t.max(axis=0), t.min(axis=(1, 2)), at.argmax(t, axis=1), at.argmin(t, axis=2), at.argmax(t)]
    with_nan = noise(2, 3, 4)
    with_nan[0, 1, 2] = with_nan[1, 1, 2] = np.nan
    return Graph([t], outputs, [(with_nan,), (np.zeros((2, 2, 2)),), *CUBES[:1], *CUBES[-1:]])


@graph
def maximum_with_position() -> Graph:
    """Maximum and its position together."""
    x = tensor("x", 2)
    return Graph([x], [*at.max_and_argmax(x, axis=1), *at.max_and_argmax(x, axis=0)], [(noise(3, 4),), (noise(1, 1),)])


@graph
def softmax_gradient() -> Graph:
    """Softmax over each axis, and gradients through it."""
    x, y = tensor("x", 2), tensor("y", 2)
    rows = softmax(x, axis=1)
    outputs = [rows, aesara.grad((rows * y).sum(), x), log_softmax(x, axis=0)]
    return Graph([x, y], outputs, [(a, a + 1) for (a,) in MATRICES])


@graph
def gather() -> Graph:
    """Reading by index arrays, whose bounds are checked in front of the loops."""
    x, rows = tensor("x", 2), tensor("rows", 1, "int64")
    arguments = [
        (noise(4, 4), integers(0, 3, -1, 2)), (noise(4, 4), integers()), (noise(0, 0), integers()),
        (noise(1, 1), integers(0)),
    ]  # fmt: skip
    return Graph([x, rows], [x[rows], x[:, rows].sum(axis=0), x[rows, rows]], arguments)


@graph
def scatter() -> Graph:
    """Setting and adding by index arrays; an index that occurs twice adds twice."""
    x, y, rows = tensor("x", 2), tensor("y", 2), tensor("rows", 1, "int64")
    outputs = [at.inc_subtensor(x[rows], y), at.set_subtensor(x[rows], y), at.inc_subtensor(x[:, rows], 1.5)]
    arguments = [
        (noise(4, 4), noise(3, 4), integers(0, 0, -2)), (noise(4, 4), noise(0, 4), integers()),
        (noise(1, 1), noise(1, 1), integers(0)),
    ]  # fmt: skip
    return Graph([x, y, rows], outputs, arguments)


@graph
def slices() -> Graph:
    """Reading by slices of any step."""
    v = tensor("v", 1)
    cuts = [slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), slice(5, 0, -2), slice(5, 2)]
    return Graph([v], [v[c] for c in cuts], [(noise(7),), (noise(1),), (noise(0),)])


@graph
def set_slices() -> Graph:
    """Setting and adding through slices of any step."""
    v, s = tensor("v", 1), tensor("s", 0)
    outputs = [
        at.set_subtensor(v[1:-1], s), at.inc_subtensor(v[::-2], 2 * v[::-2]),
        at.set_subtensor(at.set_subtensor(v[:2], 0.0)[-2:], s),
    ]  # fmt: skip
    return Graph([v, s], outputs, [(noise(n), np.float64(1.5)) for n in (7, 2, 1, 0)])


@graph
def slices_with_computed_bounds() -> Graph:
    """Bounds and steps of slices that are only known when the function runs."""
    v = tensor("v", 1)
    i, j, k = (tensor(name, 0, "int64") for name in "ijk")
    bounds = [(a, b, c) for a in (-9, -2, 3) for b in (-2, 3, 9) for c in (-2, 1)]
    arguments = [(noise(6), *map(np.int64, b)) for b in bounds] + [(noise(0), *map(np.int64, (0, 1, 1)))]
    return Graph([v, i, j, k], [v[i:j:k], at.set_subtensor(v[i:j:k], 1.5)], arguments)


@graph
def join() -> Graph:
    """Arrays put together along each axis."""
    x, y = tensor("x", 2), tensor("y", 2)
    outputs = [at.concatenate([x, 2 * y], axis=0), at.concatenate([x, y, x], axis=1), at.stack([x, y], axis=1)]
    return Graph([x, y], outputs, [(a, a + 1) for (a,) in MATRICES])


@graph
def split() -> Graph:
    """An array taken apart, by lengths that are constant and that are not."""
    x, lengths = tensor("x", 2), tensor("lengths", 1, "int64")
    outputs = [*at.split(x, lengths, 2, axis=1), *at.split(x, [1, 0, 2], 3, axis=0)]
    return Graph([x, lengths], outputs, [(noise(3, 5), integers(2, 3)), (noise(3, 0), integers(0, 0))])


@graph
def reshape() -> Graph:
    """Shapes that are constant, computed, and unknown in one dimension."""
    x, n = tensor("x", 2), tensor("n", 0, "int64")
    outputs = [x.reshape((n, -1)).sum(axis=0), x.T.flatten(), x.reshape((1, -1, 1))]
    return Graph([x, n], outputs, [(noise(3, 4), np.int64(2)), (noise(0, 4), np.int64(2)), (noise(1, 1), np.int64(1))])


@graph
def dot_forms() -> Graph:
    """Products of matrices and vectors; transposes and slices are read in place."""
    x, y, v = tensor("x", 2), tensor("y", 2), tensor("v", 1)
    outputs = [x @ y, x @ v, v @ y, v @ v, x.T @ x, (2 * x) @ y[:, 1:], x[::2] @ y]
    return Graph([x, y, v], outputs, [(noise(n, n), noise(n, n + 1), noise(n)) for n in (4, 1, 0)])


@graph
def dot_of_integers() -> Graph:
    """Products that no library has."""
    x, y, t = tensor("x", 2, "int32"), tensor("y", 2, "int32"), tensor("t", 3)
    arguments = [
        (np.arange(6, dtype="int32").reshape(2, 3), np.arange(6, dtype="int32").reshape(3, 2), noise(2, 3, 4)),
        (np.zeros((0, 0), "int32"), np.zeros((0, 0), "int32"), noise(0, 3, 4)),
    ]
    return Graph([x, y, t], [x @ y, at.batched_dot(t, t.dimshuffle(0, 2, 1))], arguments)


@graph
def gradient_step() -> Graph:
    """A step of gradient descent with momentum, written over the old values."""
    x = tensor("x", 2)
    w, m = aesara.shared(noise(4, 3), "w"), aesara.shared(np.zeros((4, 3)), "m")
    loss = ((x @ w) ** 2).mean()
    step = 0.9 * m + aesara.grad(loss, w)
    return Graph([x], [loss], [(noise(5, 4),), (noise(1, 4),)], [(m, step), (w, w - 0.1 * step)], [w, m])


@graph
def products_added_to_shared() -> Graph:
    """Products that are added to shared matrices, one of which the product itself reads."""
    x = tensor("x", 2)
    w, u = aesara.shared(noise(4, 4), "w"), aesara.shared(noise(4, 4, seed=1), "u")
    return Graph([x], [w.sum()], [(noise(5, 4),), (noise(0, 4),)], [(w, w - 0.5 * x.T @ x), (u, u + w @ u)], [w, u])


@graph
def shared_exchange() -> Graph:
    """Updates that read each other's old values, element by element and across elements."""
    a, b, c = (aesara.shared(noise(5, seed=k), name) for k, name in enumerate("abc"))
    updates = [(a, b), (b, a + b), (c, c[::-1] + a.sum())]
    return Graph([], [a + c], [()], updates, [a, b, c])


@graph
def update_beside_another_size() -> Graph:
    """An update that could run before memory of another size is asked for."""
    v, n = tensor("v", 1), tensor("n", 0, "int64")
    a = aesara.shared(noise(3), "a")
    arguments = [(noise(3), np.int64(2)), (noise(3), np.int64(0))]
    return Graph([v, n], [v * a.sum(), at.alloc(v[0], n, n)], arguments, [(a, a + v)], [a])


@graph
def shared_growth() -> Graph:
    """A shared vector that grows, and a counter of integers."""
    v = tensor("v", 1)
    a, n = aesara.shared(noise(2), "a"), aesara.shared(np.int64(3), "n")
    updates = [(a, at.concatenate([a, v])), (n, (n + 1) % 5)]
    return Graph([v], [n], [(noise(3),), (noise(0),)], updates, [a, n])


@graph
def scalar_graph() -> Graph:
    """Numbers only."""
    s, n = tensor("s", 0), tensor("n", 0, "int64")
    outputs = [s * 2 + n, at.switch(s > 0, s, -n), n // 3, n % 3, at.stack([s, s * n]).sum()]
    return Graph([s, n], outputs, [(np.float64(a), np.int64(b)) for a, b in ((1.5, 7), (-2.0, -7), (0.0, 0))])


@graph
def integer_dtypes() -> Graph:
    """Integers wrap, and dividing by zero gives zero."""
    a, b = tensor("a", 1, "int8"), tensor("b", 1, "uint8")
    outputs = [a + a, a // a, a % a, a.sum(), b.sum(), b * b, b.astype("int8"), a < b, -a, abs(a), b.max(), a.prod()]
    values = np.array([-128, 127, 0, -3], "int8"), np.array([0, 200, 255, 7], "uint8")
    return Graph([a, b], outputs, [values])


@graph
def bool_dtype() -> Graph:
    """Logic, and its sums."""
    a, b = tensor("a", 1, "bool"), tensor("b", 1, "bool")
    outputs = [a & ~b, a ^ b, a.sum(), at.any(a), at.all(a | b), at.switch(a, 1.5, 0.5), a * 2.5, a.mean()]
    return Graph(
        [a, b], outputs, [(np.array([True, False, True]), np.array([True, True, False])), (np.zeros(1, bool),) * 2]
    )


@graph
def float_dtypes() -> Graph:
    """Narrow floats: sums accumulate in float64, half precision computes in single."""
    a, b = tensor("a", 1, "float32"), tensor("b", 1, "float16")
    outputs = [a.sum(), a * b, at.exp(b), b.sum(), a.astype("int16"), b.astype("float64"), a // 0.7, a % 0.7]
    return Graph([a, b], outputs, [(noise(5, dtype="float32"), noise(5, dtype="float16"))])


@graph
def special_values() -> Graph:
    """NaN, infinities and negative zeros."""
    x = tensor("x", 1)
    outputs = [
        at.maximum(x, 0.0), at.minimum(x, x[::-1]), at.isnan(x), at.isinf(x), at.sgn(x), x // 0.0, x * -1,
        at.clip(x, -1, 1),
    ]  # fmt: skip
    return Graph([x], outputs, [(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 2.5]),)])


@graph
def special_functions() -> Graph:
    """Functions that are called from a library."""
    x = tensor("x", 1)
    return Graph([x], [at.gammaln(x), at.erf(x) + at.log1p(x), at.sigmoid(x)], [(np.array([0.3, 1.5, 4.0]),)])


@graph
def functions_with_loops() -> Graph:
    """Functions with loops and branches of their own."""
    x = tensor("x", 1)
    return Graph([x], [at.exp(at.tri_gamma(x))], [(np.array([0.3, 1.5, -4.3]),), (noise(0),)])


@graph
def derivatives_by_parameters() -> Graph:
    """Series and continued fractions that no library has."""
    k, x = tensor("k", 1), tensor("x", 1)
    outputs = aesara.grad(at.gammainc(k, x).sum(), [k, x])
    return Graph([k, x], outputs, [(np.array([0.5, 3.0, 20.0, 2e4]), np.array([2.0, 2.0, 22.0, 2e4]))])


@graph
def creation() -> Graph:
    """Arrays that are made from sizes."""
    n, m = tensor("n", 0, "int64"), tensor("m", 0, "int64")
    outputs = [at.eye(n, m), at.arange(n, 0, -2), at.alloc(at.arange(m), n, m), at.zeros((n, 2))]
    return Graph([n, m], outputs, [tuple(map(np.int64, a)) for a in ((3, 4), (0, 3), (1, 1))])


@graph
def loops() -> Graph:
    """Loops over rows: states, several taps, a product of matrices, an end that depends on the data, a loop inside."""
    x, w, limit = tensor("x", 2), tensor("w", 2), tensor("limit", 0)
    zero = at.constant(0, dtype="float64")
    h, _ = aesara.scan(lambda row, h, w: at.tanh(row + h @ w), x, x[0] * 0, w)
    pairs, _ = aesara.scan(lambda v, b, a: a * 0.5 - b + v, x[:, 0], {"initial": x[:2, 1], "taps": [-2, -1]})
    powers, _ = aesara.scan(
        lambda v: (v * 2, until(v * 2 > limit)), outputs_info=at.constant(1, dtype="float64"), n_steps=9
    )
    sums, _ = aesara.map(lambda row: aesara.reduce(lambda v, s: s + v, row, zero)[0], x)
    outputs = [h, aesara.grad((h**2).sum(), w), pairs, powers, powers.sum(), sums]
    arguments = [(noise(4, 3), noise(3, 3), np.float64(9)), (noise(3, 0), noise(0, 0), np.float64(0))][:1]
    return Graph([x, w, limit], outputs, arguments)


@graph
def choices() -> Graph:
    """Lazy choices, one inside of the other, of different sizes; a part that two of them need."""
    c, d, x = tensor("c", 0, "int32"), tensor("d", 0, "bool"), tensor("x", 1)
    shared = at.exp(x)
    inner = ifelse(d, shared.sum() * x, x[::-1])
    outer = ifelse(c, inner + shared, at.concatenate([inner, x]))
    arguments = [(np.int32(i), np.bool_(j), noise(3)) for i in (0, 1) for j in (0, 1)]
    return Graph([c, d, x], [outer, ifelse(d, shared[0], x[0]), aesara.grad(outer.sum(), x)], arguments)


@as_op([at.dvector], [at.dvector])
def keep_positive(v):
    """The positive entries, by an op that only Python knows."""
    return v[v > 0]


@graph
def node_in_python() -> Graph:
    """A node without native form in the middle: its sizes are known only when it has run."""
    v = tensor("v", 1)
    positive = keep_positive(v)
    outputs = [positive * 2, positive.sum(), at.exp(at.argsort(v, kind="heapsort"))]
    return Graph([v], outputs, [(noise(6),), (-np.ones(3),), (noise(0),)])


@graph
def library_routines() -> Graph:
    """Sorts of rows and of columns: calls of C functions, for one array and for a batch, with a status and without."""
    v, m = tensor("v", 1), tensor("m", 2)
    outputs = [at.sort(v * 2), at.argsort(m, axis=0, kind="stable"), at.sort(m @ m.T).sum(axis=0)]
    return Graph([v, m], outputs, [(noise(6), noise(3, 4)), (noise(0), noise(0, 4)), (-np.ones(1), noise(3, 0))])


@graph
def sequential() -> Graph:
    """Running sums and products, and positions of nonzeros, whose number depends on the data."""
    v, m = tensor("v", 1), tensor("m", 2)
    outputs = [at.cumsum(at.exp(v)), at.cumprod(m, axis=0), at.cumsum(m, axis=1), *at.nonzero(m > 0)]
    outputs += [at.flatnonzero(v).sum(), (v * 2)[at.flatnonzero(v > 0)]]
    return Graph([v, m], outputs, [(noise(6), noise(3, 4)), (noise(0), noise(0, 4)), (-np.ones(1), noise(3, 0))])


# -- three ways to run a graph -----------------------------------------------------------------------------------


class Runs:
    """A graph compiled natively, and for the reference; runs start from the same shared values each time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.graph = GRAPHS[name]()
        self.start = [s.get_value() for s in self.graph.shared]
        self.native = self._compile("FAST_RUN")
        lowered = self.native._native.report.lowering
        self.program, self.constants = lowered.program, lowered.constants
        self.callbacks = [make_callback(node, leaves) for node, leaves in lowered.python_nodes]
        self._reference: Any = None

    def _compile(self, mode: Any) -> Any:
        g = self.graph
        return aesara.function(g.inputs, g.outputs, updates=g.updates, mode=mode, on_unused_input="ignore")

    @property
    def reference(self) -> Any:
        if self._reference is None:
            self._reference = self._compile(Mode(linker="py", optimizer=None))
        return self._reference

    def call(self, function: Any, arguments: tuple[Any, ...]) -> list[np.ndarray]:
        """Outputs, and the shared values after them."""
        for variable, value in zip(self.graph.shared, self.start, strict=True):
            variable.set_value(value.copy())
        outputs = list(function(*arguments) or [])
        return [*outputs, *(s.get_value() for s in self.graph.shared)]

    def interpret(self, arguments: tuple[Any, ...], in_place: bool = True) -> list[np.ndarray]:
        for variable, value in zip(self.graph.shared, self.start, strict=True):
            variable.set_value(value.copy())
        cells = dict(zip(self.program.cells(), self.native._native.cells, strict=True))
        explicit = iter(arguments)
        inputs = [
            cells[k][0] if item.implicit else np.asarray(next(explicit), item.buffer.outer_dtype)
            for k, item in enumerate(self.program.inputs)
        ]
        results = run_program(self.program, inputs, self.constants, self.callbacks, in_place)
        for k, value in results.cells.items():
            cells[k][0] = value
        return [*results.returned, *(s.get_value() for s in self.graph.shared)]
