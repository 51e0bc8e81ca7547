"""`vectorize_graph`: what a graph becomes is a loop over the members of the batch."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aesara
import aesara.tensor as at
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.replace import vectorize_graph, vectorize_node
from aesara.graph.traversal import ancestors, applys_between
from aesara.raise_op import Assert
from aesara.tensor import fft
from aesara.tensor.discrete_fourier.transforms import InverseRealFourierTransform
from aesara.tensor.vectorization.batches import broadcast_batch
from aesara.tensor.vectorization.blockwise import Blockwise
from tests.closeness import assert_close

MODES = ["FAST_COMPILE", None]


def values_for(variables, seed=0):
    random = np.random.default_rng(seed)
    values = []
    for variable in variables:
        shape = [size or default for size, default in zip(variable.type.shape, (3, 4, 2))]
        if variable.type.dtype.startswith("int"):
            values.append(random.integers(0, 3, size=shape))
        elif variable.type.dtype == "bool":
            values.append(random.random(shape) < 0.5)
        else:
            values.append(random.normal(size=shape).astype(variable.type.dtype))
    return values


def check_vectorized(inputs, outputs, batched, batch=(5,), mode=None):
    """Compare the vectorized graph, for the inputs in `batched`, with a loop over the batch."""
    outputs = outputs if isinstance(outputs, list) else [outputs]
    replace, new_inputs, new_values, core_values = {}, [], [], []
    for position, variable in enumerate(inputs):
        if position not in batched:
            (value,) = values_for([variable], position)
            new_inputs.append(variable)
            new_values.append(value)
            core_values.append(lambda index, value=value: value)
            continue
        own = batched[position]
        new = at.tensor(variable.type.dtype, shape=tuple(1 if n == 1 else None for n in own) + variable.type.shape)
        members = [values_for([variable], 100 + 17 * position + k)[0] for k in range(int(np.prod(own)))]
        shape = values_for([variable])[0].shape
        value = np.array(members, dtype=variable.type.dtype).reshape((*own, *shape))
        replace[variable] = new
        new_inputs.append(new)
        new_values.append(value)
        core_values.append(lambda index, value=np.broadcast_to(value, (*batch, *shape)): value[index])
    core_function = aesara.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    vectorized = vectorize_graph(outputs, replace)
    found = aesara.function(new_inputs, vectorized, mode=mode, on_unused_input="ignore")(*new_values)
    expected = [core_function(*[value(index) for value in core_values]) for index in np.ndindex(*batch)]
    for k, (result, new, old) in enumerate(zip(found, vectorized, outputs)):
        assert new.type.dtype == old.type.dtype
        members = np.array([row[k] for row in expected])
        members = members.reshape((*batch, *members.shape[1:]))
        # Batch dimensions that an output does not depend on are of size one, or missing in front.
        assert result.ndim == new.type.ndim
        for size, known, wanted in zip(result.shape[::-1], new.type.shape[::-1], members.shape[::-1]):
            assert size == wanted or known == 1
        np.testing.assert_allclose(np.broadcast_to(result, members.shape), members, rtol=1e-10, atol=1e-12)


v, w = at.dvectors("v", "w")
m, n = at.dmatrices("m", "n")
s, r = at.dscalars("s", "r")
t = at.dtensor3("t")
i = at.lscalar("i")
iv = at.lvector("iv")
im = at.lmatrix("im")
mask = at.bvector("mask").astype("bool")
square = at.tensor("float64", shape=(4, 4), name="square")
row = at.tensor("float64", shape=(1, 4), name="row")
same_length = at.tensor("float64", shape=(3,), name="same_length")

ONE_INPUT = {
    "elementwise": ([v], at.exp(v) / (1 + v[0] ** 2)),
    "scalar": ([s], at.tanh(s) * 2),
    "cast": ([v], v.astype("float32").astype("float64")),
    "sum": ([m], [m.sum(), m.sum(0), m.sum(-1), m.sum((0, 1)), m.sum(0, keepdims=True)]),
    "extrema": ([m], [m.max(0), m.min(), at.argmax(m, 1), at.argmax(m), *at.max_and_argmax(m, 0)]),
    "prod": ([m], [m.prod(1), at.prod(m)]),
    "any": ([m], [(m > 0).any(0), (m > 0).all()]),
    "reduction of a scalar": ([s], [at.sum(s), at.max(s)]),
    "dimshuffle": ([m], [m.T, m.dimshuffle(1, "x", 0), m.dimshuffle("x", 0, "x", 1)]),
    "dropped dimension": ([row], row.dimshuffle(1)),
    "dot with a constant": ([v], at.dot(v, np.arange(6.0).reshape(3, 2))),
    "constant times matrix": ([m], at.dot(np.arange(6.0).reshape(2, 3), m)),
    "inner product": ([v], at.dot(v, v)),
    "square": ([square], [at.dot(square, square), at.dot(square, square[0]), square[0] @ square]),
    "outer": ([v], at.outer(v, v)),
    "tensordot": ([t], at.tensordot(t, np.arange(8.0).reshape(4, 2), [[1, 2], [0, 1]])),
    "batched dot": ([t], at.batched_dot(t, t.dimshuffle(0, 2, 1))),
    "batched dot of rows": ([m], at.batched_dot(m, m)),
    "softmax": ([m], [at.special.softmax(m, axis=0), at.special.log_softmax(m), at.special.softmax(m, axis=None)]),
    "softmax gradient": ([m], aesara.grad((at.special.softmax(m, axis=0) ** 2).sum(), m)),
    "softmax gradient of all": ([m], aesara.grad((at.special.softmax(m, axis=None) ** 2).sum(), m)),
    "reshape": ([m], [m.reshape((4, 3)), m.reshape((2, -1)), m.flatten(), m.reshape((m.shape[1], m.shape[0]))]),
    "reshape to a scalar": ([row], row.sum(1).reshape(())),
    "reshape by a symbolic vector": ([m], at.reshape(m, m.shape[::-1], ndim=2)),
    "shape": ([m], [m.shape, m.shape[0], m.size, at.shape(m)[1] * m]),
    "specify_shape": ([m], [at.specify_shape(m, (3, None)), at.specify_shape(m, (None, m.shape[1]))]),
    "alloc": ([v], [at.alloc(v, 2, v.shape[0]), at.alloc(v[0], 2, 2), at.zeros(v.shape[0]) + v]),
    "broadcast_to": ([v], at.broadcast_to(v, (2, 3))),
    "zeros_like": ([m], [at.zeros_like(m), at.ones_like(m)]),
    "join": ([m], [at.join(0, m, m * 2), at.join(1, m, at.ones((3, 2))), at.concatenate([m, -m], axis=-1)]),
    "stack": ([v], [at.stack([v, v + 1]), at.stack([v[0], 2.0, v[1]])]),
    "split": ([v], at.split(v, [1, 2], 2)),
    "split gradient": ([v], aesara.grad((at.concatenate([v, v**2]) ** 3).sum(), v)),
    "slices": ([m], [m[1:], m[::-1, ::2], m[0], m[:, 1], m[-1, -1], m[1:2, 1:]]),
    "newaxis": ([v], v[None, :]),
    "integer vector": ([m], [m[[0, 2, 2]], m[:, [1, 1]], m[[0, 1], [1, 2]], m[np.array([[0], [1]]), [0, 1]]]),
    "split index": ([t], [t[[0, 1], :, [0, 1]], t[:, [0, 1], [1, 0]], t[1:, [0, 2]]]),
    "constant mask": ([v], v[np.array([True, False, True])]),
    "set slice": (
        [m],
        [at.set_subtensor(m[1:], 7.0), at.set_subtensor(m[0], m[1]), at.inc_subtensor(m[:, 1], m[:, 0])],
    ),
    "set integers": ([m], [at.set_subtensor(m[[0, 2]], 1.5), at.inc_subtensor(m[[0, 0]], m[:2])]),
    "set split index": ([t], at.inc_subtensor(t[[0, 0], :, [0, 1]], t[:2, :, 0])),
    "set middle index": ([t], at.inc_subtensor(t[:, [0, 0], [1, 0]], t[:, :2, 0])),
    "fill constant": ([v], at.set_subtensor(at.zeros(5)[:3], v)),
    "cumulative": ([m], [at.cumsum(m), at.cumsum(m, axis=0), at.cumprod(m, axis=1)]),
    "sort": ([m], [at.sort(m), at.argsort(m, 0), at.sort(m, None)]),
    "topk": ([m], [*at.topk_and_argtopk(m, 2), at.topk(m, 2, axis=0)]),
    "diagonal": ([square], [at.diag(square), at.diagonal(square, 1), at.diag(square[0])]),
    "repeat": ([m], [at.repeat(m, 2), at.repeat(m, 2, axis=1), at.repeat(m, np.array([1, 2, 0]), axis=0)]),
    "switch": ([v], at.switch(v > 0, v, -v * 2)),
    "clip": ([v], at.clip(v, -0.5, 0.5)),
    "norm": ([m], [m.norm(2), m.std(), m.var(0), m.mean(1)]),
    "triangle": ([square], [at.tril(square), at.triu(square, 1)]),
    "roll": ([m], [at.roll(m, 1, axis=1), at.tile(m, (1, 2)), at.swapaxes(m, 0, 1)]),
    "check": ([v], Assert("sizes")(v, v.size > 0, at.ge(v, -1e9))),
    "gradient operators": ([v], aesara.gradient.grad_clip(v, -1, 1) + aesara.gradient.disconnected_grad(v)),
    "gradient": ([v], aesara.grad((at.tanh(at.dot(v, np.eye(3)[:, :2])) ** 2).sum() * v[0], v)),
    "convolve": ([v], at.convolve(v, np.array([1.0, 2.0]))),
    "searchsorted": ([v], at.searchsorted(at.sort(v), np.array([0.0, 0.1]))),
    "take": ([m], [at.take(m, [0, 1], axis=1), at.take(m, 0, axis=0)]),
    "search values": ([v], at.searchsorted(np.array([-1.0, 0.0, 1.0]), v)),
    "fill diagonal": ([square], [at.fill_diagonal(square, 1.0), at.fill_diagonal_offset(square, square[0, 0], -1)]),
    "fill diagonal of a rectangle": ([m], [at.fill_diagonal(m, 1.0), at.fill_diagonal(m.T, m[0, 0])]),
    "choose": ([m], at.choose(np.array([0, 2, 1, 1]), m)),
    "convolve modes": ([v], [at.convolve(v, np.array([1.0, 2.0]), mode) for mode in ("full", "same", "valid")]),
    "convolve with a longer one": ([v], [at.convolve(v, np.arange(5.0), mode) for mode in ("full", "same", "valid")]),
    "convolve gradient": ([v], aesara.grad((at.convolve(v, np.arange(4.0), "same") ** 2).sum(), v)),
    "does not depend": ([v], [at.arange(3), v]),
    "known shape": ([m], at.specify_shape(m, (3, 4)).shape),
    "stack of one": ([s], at.stack([s])),
    "fill diagonal of a cube": ([t], at.fill_diagonal(t[:2, :2], s.type.make_constant(2.0))),
}

TWO_INPUTS = {
    "elementwise": ([v, w], v * w + at.exp(w)),
    "scalar and vector": ([s, v], [s * v, at.maximum(s, v)]),
    "vector and matrix": ([w, n], w[:, None] * n),
    "inner product": ([v, w], at.dot(v, w)),
    "matrix times vector": ([square, square[0].type("x")], lambda a, x: [at.dot(a, x), at.dot(x, a)]),
    "matrix times matrix": ([square, square.type("b")], lambda a, b: [at.dot(a, b), a.T @ b, at.dot(a[0], b)]),
    "outer": ([v, w], at.outer(v, w)),
    "matmul": ([t, t.type("u")], lambda a, b: [at.matmul(a, b.dimshuffle(0, 2, 1)), at.matmul(a[0, 0], b[0].T)]),
    "matmul of vectors": ([v, w], [at.matmul(v, w), at.matmul(v, w[:, None]), at.matmul(v[None], w)]),
    "batched dot": (
        [t, t.type("u")],
        lambda a, b: [at.batched_dot(a, b.dimshuffle(0, 2, 1)), at.batched_dot(a[:, 0], b.dimshuffle(0, 2, 1))],
    ),
    "softmax gradient": ([v, w], lambda a, b: [aesara.grad((at.special.softmax(a) * b).sum(), a)]),
    "join": ([m, n], [at.join(0, m, n), at.join(-1, m, n, m)]),
    "stack": ([s, r], [at.stack([s, r, 1.0]), at.stack([s, r])]),
    "alloc": ([s, v], at.alloc(s, v.shape[0], 2)),
    "fill": ([m, s], at.fill(m, s)),
    "set slice": ([m, w], [at.set_subtensor(m[:, 1], w), at.inc_subtensor(m[:, 1:3], w[:, None])]),
    "set integers": ([m, w], [at.set_subtensor(m[[0, 2]], w[:2, None]), at.inc_subtensor(m[[0, 0], [1, 1]], w[:2])]),
    "set split index": ([t, s], at.inc_subtensor(t[[0, 0], :, [0, 1]], s)),
    "set split index by vectors": ([t, v], at.inc_subtensor(t[[0, 0, 1], :, [0, 1, 1]], v[:, None])),
    "batched integer": ([m, i], [m[i], m[:, i], m[i, i], m[i, 1:], m[i, 0], m[1:, i]]),
    "batched integer in tensor": ([t, i], [t[:, i], t[:, i, :1], t[i, :, i % 2], t[:, :, i % 2]]),
    "batched vector of integers": ([m, iv], [m[iv], m[:, iv], m[iv, iv], m[iv, 0], m[iv, 1:]]),
    "batched integers in tensor": ([t, iv], [t[iv, :, iv % 2], t[:, iv], t[:, iv, iv % 2], t[0, :, iv % 2]]),
    "batched matrix of integers": ([m, im], [m[im], m[:, im], m[im, 0]]),
    "take": ([v, iv], at.take(v, iv)),
    "set batched integer": (
        [m, i],
        [at.set_subtensor(m[i], 1.0), at.inc_subtensor(m[:, i], m[:, 0]), at.inc_subtensor(m[i, 1:], m[0, 1:])],
    ),
    "set batched integers": (
        [m, iv],
        [at.set_subtensor(m[iv], 2.0), at.inc_subtensor(m[iv], m), at.inc_subtensor(m[:, iv], 1.0)],
    ),
    "set batched integers in tensor": (
        [t, iv],
        [
            at.inc_subtensor(t[:, iv], t[:, :3]),
            at.inc_subtensor(t[:, iv, iv % 2], t[:, :3, 0]),
            at.inc_subtensor(t[iv, :, iv % 2], t[:, :, 0]),
        ],
    ),
    "set with batched integers and value": ([v, iv], at.inc_subtensor(at.zeros(3)[iv], v)),
    "gradient of indexing": ([v, iv], lambda a, k: [aesara.grad((a[k] ** 2).sum(), a)]),
    "scalar arithmetic in an index": ([v, i], v[(i + 1) % 3]),
    "searchsorted": ([same_length, s], at.searchsorted(at.sort(same_length), s)),
    "convolve": ([v, w], at.convolve(v, w)),
    "choose": ([iv, m], lambda k, choices: [at.choose(k % 3, choices[:, :3]), at.choose(k[0], choices)]),
    "unravel": ([iv, v], lambda k, x: [*at.unravel_index(k, (3, 2)), x]),
    "fill diagonal": ([m, s], [at.fill_diagonal(m, s), at.fill_diagonal_offset(m, s, 1)]),
    "switch": ([v, s], at.switch(s > 0, v, -v)),
    # What is usually the same for all members: axes, lengths, and numbers of elements.
    "sort along an axis": ([m, i], [at.sort(m, i % 2), at.argsort(m, i % 2 - 2)]),
    "topk of so many": ([v, i], at.sort(at.topk(v, 2 + 0 * i))),
    "repeat so often": ([v, iv], at.repeat(v, 2 + 0 * iv)),
    "join along an axis": ([same_length, i], at.join(0 * i, same_length, same_length)),
    "split into so many": ([v, i], at.split(v, at.stack([1 + 0 * i, 2]), 2)),
    "reshape to a shape": ([v, i], at.reshape(v, at.stack([1 + 0 * i, 3]))),
    "specify a length": ([v, i], at.specify_shape(v, (3 + 0 * i,))),
    "unravel in a shape": ([iv, i], [*at.unravel_index(iv, at.stack([3, 1 + i]))]),
    "ravel in a shape": ([iv, i], at.ravel_multi_index((iv, iv), at.stack([3, 3 + i]))),
    "fill a diagonal with an offset": ([m, i], at.fill_diagonal_offset(m, 1.0, i)),
    "mask": ([v, i], v[at.eq(at.arange(3), i)]),
    "power": ([v, s], abs(v) ** s),
}


def case(entry):
    inputs, outputs = entry
    return inputs, outputs(*inputs) if callable(outputs) and not hasattr(outputs, "type") else outputs


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ONE_INPUT)
def test_one_input(name, mode):
    inputs, outputs = case(ONE_INPUT[name])
    check_vectorized(inputs, outputs, {0: (5,)}, (5,), mode)
    if mode is None:
        check_vectorized(inputs, outputs, {0: (2, 3)}, (2, 3), mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "batched",
    [{0: (5,)}, {1: (5,)}, {0: (5,), 1: (5,)}, {0: (2, 5), 1: (5,)}, {0: (5,), 1: (2, 1)}, {0: (2, 1), 1: (5,)}],
)
@pytest.mark.parametrize("name", TWO_INPUTS)
def test_two_inputs(name, batched, mode):
    inputs, outputs = case(TWO_INPUTS[name])
    batch = np.broadcast_shapes(*batched.values())
    check_vectorized(inputs, outputs, batched, batch, mode)


def expressions_of_dtype(dtype):
    x, a = at.tensor(dtype, shape=(None,), name="x"), at.tensor(dtype, shape=(None, None), name="a")
    outputs = [
        at.dot(a, x[:2]),
        at.dot(x, x),
        at.dot(a[:2, :2], a[:2, :2]),
        at.outer(x, x),
        at.batched_dot(a, a),
        x.sum(),
        a.max(0),
        at.stack([x[0], x[1]]),
        at.concatenate([x, a[0]]),
        at.stack([x[0], np.int8(1)]),
        at.set_subtensor(x[:2], a[0, :2]),
        at.set_subtensor(x[[0, 1]], a[0, :2]),
        at.sort(x) if not dtype.startswith("complex") else x,
        at.diag(x),
        at.repeat(x, 2),
        at.alloc(x[0], 2, 2),
    ]
    if dtype != "bool":
        outputs += [at.cumsum(x), at.cumprod(x), at.inc_subtensor(x[[0, 0]], a[0, :2]), x**2, at.convolve(x, x[:2])]
    if dtype.startswith("float"):
        outputs += [at.special.softmax(a, axis=0), x.norm(2), x.mean(), aesara.grad((at.cumprod(x) * x).sum(), x)]
    return [x, a], outputs


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex128"])
def test_dtypes(dtype, mode):
    """Dtypes are those of the original graph."""
    inputs, outputs = expressions_of_dtype(dtype)
    rng = np.random.default_rng(5)
    x, a = ((rng.random(shape) * 3).astype(dtype) for shape in ((5, 3), (5, 2, 2)))
    rows, matrices = at.tensor(dtype, shape=(None, None)), at.tensor(dtype, shape=(None, None, None))
    core = aesara.function(inputs, outputs, mode="FAST_COMPILE")
    for replace, values in (({inputs[0]: rows}, [x, a[0]]), ({inputs[0]: rows, inputs[1]: matrices}, [x, a])):
        new = vectorize_graph(outputs, replace)
        assert [out.type.dtype for out in new] == [out.type.dtype for out in outputs]
        found = aesara.function([replace.get(v, v) for v in inputs], new, mode=mode, on_unused_input="ignore")(*values)
        expected = [core(x[k], a[k if len(replace) == 2 else 0]) for k in range(5)]
        for position, (result, out) in enumerate(zip(found, new)):
            members = np.array([row[position] for row in expected])
            if out.type.ndim == outputs[position].type.ndim:
                members = members[0]
            tolerance = {"float16": 5e-3, "float32": 1e-5}.get(dtype, 1e-12)
            np.testing.assert_allclose(result, members, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [k for k in ONE_INPUT if k != "searchsorted"])
def test_empty_batch(name):
    inputs, outputs = case(ONE_INPUT[name])
    outputs = outputs if isinstance(outputs, list) else [outputs]
    (x,) = inputs
    (value,) = values_for([x])
    core = aesara.function([x], outputs, on_unused_input="ignore", mode="FAST_COMPILE")(value)
    batch = at.tensor("float64", shape=(None, *x.type.shape))
    new = vectorize_graph(outputs, {x: batch})
    found = aesara.function([batch], new, on_unused_input="ignore")(np.empty((0, *value.shape)))
    for a, b, variable, old in zip(found, core, new, outputs):
        assert a.shape == (b.shape if variable.type.ndim == old.type.ndim else (0, *b.shape))


@st.composite
def graphs(draw):
    """A small graph of matrices of one shape, made of its two inputs."""
    known = [m, n]
    for _ in range(draw(st.integers(1, 6))):
        a, b = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        build = draw(
            st.sampled_from(
                [
                    lambda a, b: a * b,
                    lambda a, b: at.tanh(a) + b,
                    lambda a, b: a - b.sum(0),
                    lambda a, b: a.max(1, keepdims=True) + b,
                    lambda a, b: at.dot(a, b.T) @ a / 10,
                    lambda a, b: at.set_subtensor(a[1:], b[:-1]),
                    lambda a, b: at.concatenate([a, b])[::2],
                    lambda a, b: a[[2, 0, 1]] * b[0],
                    lambda a, b: a.T.reshape((3, 4)) + b,
                    lambda a, b: at.special.softmax(a, axis=0) - b,
                    lambda a, b: at.cumsum(a, axis=1) / 3 + b[:, ::-1],
                    lambda a, b: at.switch(a > b, a, b * 2),
                    lambda a, b: aesara.grad((at.sin(a) * b).sum(), a),
                ]
            )
        )
        known.append(build(a, b))
    return known[-1]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(graphs(), st.sampled_from([{0: (3,)}, {1: (3,)}, {0: (3,), 1: (3,)}, {0: (2, 3), 1: (3,)}, {0: (1,), 1: (3,)}]))
def test_random_graphs(output, batched):
    batch = np.broadcast_shapes(*batched.values())
    check_vectorized([m, n], output, batched, batch, "FAST_COMPILE")


class TestReplacements:
    def test_independent_parts_are_shared(self):
        y = at.exp(w)
        x = at.dmatrix()
        new = vectorize_graph(v * y, {v: x})
        assert y.owner in applys_between([], [new])

    def test_intermediate_variable(self):
        y = at.exp(v)
        rows = at.dmatrix("rows")
        new = vectorize_graph(y.sum(), {y: rows})
        assert_close(new.eval({rows: np.ones((2, 3))}), [3, 3])

    def test_replacements_may_contain_what_they_replace(self):
        new = vectorize_graph(v + 1, {v: at.stack([v, 2 * v])})
        assert_close(new.eval({v: [1.0, 2.0]}), [[2, 3], [3, 5]])

    def test_same_number_of_dimensions(self):
        new = vectorize_graph(v + 1, {v: w})
        assert new.type == v.type
        assert_close(new.eval({w: [1.0]}), [2])

    def test_forms(self):
        x = at.dmatrix()
        assert isinstance(vectorize_graph([v + 1], {v: x}), list)
        assert isinstance(vectorize_graph([v + 1], [(v, x)]), list)
        assert vectorize_graph(v + 1, {v: x}).ndim == 2
        assert vectorize_graph(v, {v: x}) is x
        assert vectorize_graph(w, {v: x}) is w

    def test_static_shapes(self):
        x = at.tensor("float64", shape=(3,))
        new = vectorize_graph(at.dot(x, np.ones((3, 2))) * 2, {x: at.tensor("float64", shape=(7, 3))})
        assert new.type.shape == (7, 2)
        new = vectorize_graph(x.sum() + x, {x: at.tensor("float64", shape=(7, None))})
        assert new.type.shape == (7, 3)

    @pytest.mark.slow
    def test_deep_graphs(self):
        y = v
        for _ in range(20_000):
            y = y + 1
        new = vectorize_graph(y, {v: at.dmatrix()})
        assert new.ndim == 2

    @pytest.mark.parametrize(
        "replace, error, message",
        [
            ({v: at.lmatrix()}, TypeError, "dtype"),
            ({m: at.dvector()}, ValueError, "2 dimension"),
            ({at.tensor("float64", shape=(3,)): at.tensor("float64", shape=(2, 4))}, ValueError, "size 3"),
            (7, TypeError, "must map"),
            ({"v": v}, TypeError, "Only variables"),
        ],
    )
    def test_errors(self, replace, error, message):
        with pytest.raises(error, match=message):
            vectorize_graph(v + 1, replace)

    def test_outputs_are_variables(self):
        with pytest.raises(TypeError, match="outputs"):
            vectorize_graph([3], {v: m})

    def test_slices_that_differ(self):
        with pytest.raises(NotImplementedError, match="slice"):
            vectorize_graph(v[i:], {i: iv})

    def test_broadcasting_needs_a_static_size(self):
        x, y = at.dmatrices("x", "y")
        function = aesara.function([x, y], vectorize_graph(v + w, {v: x, w: y}))
        with pytest.raises(ValueError):
            function(np.ones((1, 3)), np.ones((2, 3)))

    def test_own_rule(self):
        class Doubled(Op):
            __props__ = ()

            def make_node(self, x):
                return Apply(self, [x], [x.type()])

        @vectorize_node.register(Doubled)
        def _(op, node, x):
            return [x + x]

        x = at.dmatrix("x")
        new = vectorize_graph(Doubled()(v), {v: x})
        assert not any(isinstance(node.op, (Blockwise, Doubled)) for node in [new.owner])
        assert_close(new.eval({x: [[1.0]]}), [[2.0]])

    def test_wrong_rules(self):
        class Odd(Op):
            __props__ = ("results",)

            def __init__(self, results):
                self.results = results

            def make_node(self, x):
                return Apply(self, [x], [x.type()])

        @vectorize_node.register(Odd)
        def _(op, node, x):
            return list(op.results)

        with pytest.raises(ValueError, match="2 outputs"):
            vectorize_graph(Odd((m, m))(v), {v: m})
        with pytest.raises(ValueError, match="output of type"):
            vectorize_graph(Odd((s,))(v), {v: m})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("transform", "dtype"),
    [
        (fft.fft, "complex128"),
        (fft.ifft, "complex128"),
        (fft.fft2, "complex128"),
        (fft.rfft_complex, "float64"),
        (fft.irfft_complex, "complex128"),
        (lambda x: fft.irfft_complex(x, 5), "complex128"),
        (fft.rfftn, "float64"),
        (fft.irfftn, "complex128"),
    ],
)
def test_fourier_transforms_of_batches_are_single_nodes(transform, dtype):
    x, xs = at.tensor(dtype, shape=(None, None)), at.tensor(dtype, shape=(None, None, None))
    (out,) = vectorize_graph([transform(x)], {x: xs})
    assert not any(isinstance(v.owner.op, Blockwise) for v in ancestors([out]) if v.owner)
    values = np.random.default_rng(1).normal(size=(3, 4, 6)).astype(dtype)
    one = aesara.function([x], transform(x))
    np.testing.assert_allclose(aesara.function([xs], out)(values), [one(v) for v in values], rtol=1e-12, atol=1e-12)


def test_inverse_fourier_transforms_to_a_length_for_each_member():
    """The transform takes one length: each member is transformed for itself."""
    x, n, ns = at.zvector("x"), at.lscalar("n"), at.lvector("ns")
    (out,) = vectorize_graph([InverseRealFourierTransform()(x, n)], {n: ns})
    f, half = aesara.function([x, ns], out), np.array([1.0, 2 + 1j, 3 - 1j])
    np.testing.assert_allclose(f(half, [5, 5]), [np.fft.irfft(half, 5, norm="forward")] * 2, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError):
        f(half, [5, 4])


def test_subsets_of_many_inputs():
    """Sums of everything, with every choice of what is batched."""
    inputs = [v, m, s]
    output = at.dot(m.T, v).sum() * s + at.concatenate([v, m[:, 0]]).max() - m.sum()
    for chosen in itertools.product([False, True], repeat=3):
        if any(chosen):
            check_vectorized(inputs, output, {k: (2,) for k in range(3) if chosen[k]}, (2,))


one_row, three = at.tensor("float64", shape=(1, 2)), at.tensor("float64", shape=(3, 2))
unknown, size = at.tensor("float64", shape=(None, 2)), at.lscalar("size")


@pytest.mark.parametrize(
    "x, batch, sizes, length",
    [
        (three, 1, [3], None),
        (unknown, 1, [size], None),
        (three, 1, [size], None),
        (one_row, 1, [1], None),
        (one_row, 1, [4], (4, 2)),
        (one_row, 1, [size], (5, 2)),
        (unknown, 1, [3], (3, 2)),
        (three, 1, [size, 3], (5, 3, 2)),
        (three, 0, [size], (5, 3, 2)),
        (three, 0, [1], (1, 3, 2)),
        (three, 0, [], None),
        (three, 2, [3, 2], None),
        (one_row, 2, [3, 2], (3, 2)),
    ],
)
def test_batches_are_allocated_only_where_their_sizes_are_not_those_that_are_wanted(x, batch, sizes, length):
    out = broadcast_batch(x, batch, sizes)
    if length is None:
        assert out is x
    else:
        value = np.arange(2.0 * (x.type.shape[0] or 3)).reshape(-1, 2)
        assert_close(out.eval({x: value, size: 5}, on_unused_input="ignore"), np.broadcast_to(value, length))
