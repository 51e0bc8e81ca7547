"""Native results compared with the reference linker, op by op, over dtypes, shapes and memory layouts."""

import math

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor.special import log_softmax, softmax
from tests.closeness import assert_close


def normal(rng, *shape, dtype="float64"):
    return rng.normal(size=shape).astype(dtype)


def integers(rng, low, high, *shape, dtype="int64"):
    return rng.integers(low, high, size=shape).astype(dtype)


def tensor_like(value, name=None):
    value = np.asarray(value)
    return at.TensorType(str(value.dtype), (None,) * value.ndim)(name)


def evaluate(build, values, mode):
    inputs = [tensor_like(v, f"x{k}") for k, v in enumerate(values)]
    outputs = build(*inputs)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    function = aesara.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    return function, function(*values)


def assert_agree(build, values, rtol=None, native=True):
    """Both linkers give the same dtypes, shapes and, up to a few units in the last place, values."""
    function, got = evaluate(build, values, "FAST_RUN")
    _, want = evaluate(build, values, aesara.compile.mode.Mode("py", "fast_run"))
    if native:
        assert not function._native.report.python_nodes
    for g, w in zip(got, want, strict=True):
        w = np.asarray(w)
        assert g.dtype == w.dtype
        assert g.shape == w.shape
        if w.dtype.kind == "f":
            eps = np.finfo(w.dtype).eps
            scale = np.max(np.abs(w[np.isfinite(w)]), initial=1.0)
            np.testing.assert_allclose(g, w, rtol=rtol or 16 * eps, atol=8 * eps * scale)
        else:
            np.testing.assert_array_equal(g, w)
    return got


UNARY = """neg abs exp expm1 log1p square sqrt sin cos tanh sinh cosh arctan erf erfc sigmoid softplus floor ceil trunc
    round_half_to_even sgn reciprocal exp2 arcsinh isnan isinf""".split()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint16", "bool"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype, rng):
    function = getattr(at, name)
    x = np.abs(normal(rng, 3, 7)) + 0.25 if name in ("sqrt", "log1p", "reciprocal") else 2 * normal(rng, 3, 7)
    if dtype == "bool" and name in ("neg", "sgn"):
        pytest.skip("NumPy has no negative and no sign of booleans")
    if name == "round_half_to_even" and np.dtype(dtype).kind != "f":
        pytest.skip("defined for floating-point numbers only")
    x = (x * 3).astype(dtype) if dtype != "bool" else x > 0
    if name == "reciprocal" and np.dtype(dtype).kind in "iub":
        x = np.maximum(x, np.ones((), dtype))
    assert_agree(lambda v: function(v), [x], rtol=2e-3 if dtype == "float16" else None)


BINARY = """add sub mul true_divide floor_divide mod pow maximum minimum lt le gt ge eq neq arctan2""".split()


@pytest.mark.parametrize("dtypes", [("float64",) * 2, ("float32",) * 2, ("int64", "int64"), ("int8", "float32"),
                                    ("uint8", "int16"), ("bool", "float64"), ("float16", "float16")])  # fmt: skip
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtypes, rng):
    function = getattr(at, name)
    values = []
    for dtype in dtypes:
        v = 3 * normal(rng, 4, 5)
        if name == "pow":
            v = np.abs(v) + 0.5
        values.append((v > 0) if dtype == "bool" else np.abs(v).astype(dtype) if dtype[0] == "u" else v.astype(dtype))
    if name in ("floor_divide", "mod") and values[1].dtype.kind in "iu":
        values[1] = values[1] + (values[1] == 0).astype(values[1].dtype)
    assert_agree(lambda a, b: function(a, b), values, rtol=2e-3 if "float16" in dtypes else None)


SPECIAL_VALUES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e308, -1e308, 5e-324, 800.0, -800.0])


@pytest.mark.parametrize("name", UNARY)
def test_unary_at_special_values(name):
    function = getattr(at, name)
    x = SPECIAL_VALUES
    if name in ("sin", "cos"):
        x = x[np.abs(x) < 1e300]
    got = assert_agree(lambda v: function(v), [x])[0]
    if got.dtype.kind == "f":
        _, want = evaluate(lambda v: function(v), [x], "FAST_COMPILE")
        zero = want[0] == 0
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[0][zero]))


@pytest.mark.parametrize(
    "name", ["add", "mul", "maximum", "minimum", "true_divide", "floor_divide", "mod", "lt", "eq", "neq", "pow"]
)
def test_binary_at_special_values(name):
    a, b = (v.reshape(-1) for v in np.meshgrid(SPECIAL_VALUES, SPECIAL_VALUES))
    assert_agree(lambda x, y: getattr(at, name)(x, y), [a, b])


@pytest.mark.parametrize("name", ["floor_divide", "mod"])
def test_integer_division_by_zero_and_overflow(name):
    a = np.array([7, -7, 0, np.iinfo("int64").min, 5], dtype="int64")
    b = np.array([0, 0, 0, -1, -2], dtype="int64")
    assert_agree(lambda x, y: getattr(at, name)(x, y), [a, b])


REDUCTIONS = {
    "sum": lambda x, axis: at.sum(x, axis=axis),
    "prod": lambda x, axis: at.prod(x, axis=axis),
    "max": lambda x, axis: at.max(x, axis=axis),
    "min": lambda x, axis: at.min(x, axis=axis),
    "mean": lambda x, axis: at.mean(x, axis=axis),
    "var": lambda x, axis: at.var(x, axis=axis),
    "all": lambda x, axis: at.all(x > 0, axis=axis),
    "any": lambda x, axis: at.any(x > 0, axis=axis),
    "logsumexp": lambda x, axis: at.logsumexp(x, axis=axis),
}


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, axis, rng):
    assert_agree(lambda x: REDUCTIONS[name](x, axis), [normal(rng, 3, 4, 5)], rtol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "bool", "int64", "float16"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
def test_reductions_of_other_dtypes(name, dtype, rng):
    x = integers(rng, 0, 3, 4, 6).astype(dtype)
    assert_agree(lambda v: REDUCTIONS[name](v, 1), [x])


def test_reductions_of_nothing():
    empty = np.zeros((0, 3))
    got = assert_agree(lambda x: [x.sum(), x.sum(axis=0), x.prod(axis=0), at.all(x > 0), x.sum(axis=1)], [empty])
    assert got[0] == 0 and got[4].shape == (0,)
    for name in ("max", "min"):
        with pytest.raises(ValueError):
            evaluate(lambda x, n=name: getattr(at, n)(x), [empty], "FAST_RUN")


def test_extrema_propagate_nan():
    x = np.array([[1.0, np.nan, 3.0], [np.nan, -np.inf, np.inf], [1, 2, 3]])
    got = assert_agree(lambda v: [v.max(axis=1), v.min(axis=0), v.max(), v.argmax(axis=1)], [x])
    np.testing.assert_array_equal(got[3], np.argmax(x, axis=1))


def test_long_sums_are_accurate():
    x = np.full(10**6 + 3, 0.1)
    _, (got,) = evaluate(lambda v: v.sum(), [x], "FAST_RUN")
    want = math.fsum(x)
    assert abs(got - want) <= 4 * np.spacing(want)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool"])
def test_argmax(axis, dtype, rng):
    x = integers(rng, 0, 4, 5, 7).astype(dtype)
    assert_agree(lambda v: [at.argmax(v, axis=axis), *at.max_and_argmax(v, axis=axis)], [x])


def test_broadcasting(rng):
    m, r, c, s = normal(rng, 4, 3), normal(rng, 1, 3), normal(rng, 4, 1), normal(rng)
    row, col = at.row("r"), at.col("c")
    x, k = at.matrix("x"), at.scalar("s")
    outputs = [x + row, x * col, row * col, x - k, at.exp(row) + at.exp(col) * x, (row + col).sum(axis=0)]
    native = aesara.function([x, row, col, k], outputs)(m, r, c, s)
    reference = aesara.function([x, row, col, k], outputs, mode="FAST_COMPILE")(m, r, c, s)
    for a, b in zip(native, reference, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-15)


MATRIX_PAIRS = [
    ((5, 4), (4, 3)),
    ((40, 30), (30, 50)),
    ((1, 7), (7, 1)),
    ((0, 3), (3, 2)),
    ((3, 0), (0, 2)),
    ((33, 65), (65, 1)),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("shapes", MATRIX_PAIRS)
def test_matrix_products(shapes, dtype, rng):
    a, b = (integers(rng, -4, 5, *s).astype(dtype) for s in shapes)
    assert_agree(
        lambda x, y: [x.dot(y), at.dot(y.T, x.T), at.dot(x, 2 * y), at.dot(x[:, ::1], y[::1]), x.dot(x.T), x.T.dot(x)],
        [a, b],
    )
    np.testing.assert_array_equal(evaluate(lambda x, y: x.dot(y), [a, b], "FAST_RUN")[1][0], a @ b)


@pytest.mark.parametrize("n,m", [(3, 4), (200, 300), (1, 1), (0, 4)])
def test_matrix_vector_products(n, m, rng):
    a, v, w = normal(rng, n, m), normal(rng, m), normal(rng, n)
    assert_agree(
        lambda x, y, z: [x.dot(y), z.dot(x), at.dot(x.T, z), at.dot(y, y), at.dot(x[:, 0] if m else z, z)],
        [a, v, w],
        rtol=1e-13,
    )


def test_products_of_views(rng):
    a, b = normal(rng, 60, 50), normal(rng, 50, 40)
    assert_agree(
        lambda x, y: [
            x[::2].dot(y),
            x[:, 5:30].dot(y[10:35]),
            x[::-1].dot(y),
            x[:, ::3].dot(y[::3]),
            x.T[3:].T.dot(y[3:]),
        ],
        [a, b],
        rtol=1e-12,
    )


def test_batched_dot(rng):
    assert_agree(lambda x, y: at.batched_dot(x, y), [normal(rng, 3, 4, 5), normal(rng, 3, 5, 2)], rtol=1e-13)


SLICES = [slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), slice(-2, None),
          slice(4, 1, -1), slice(10, 20), slice(5, 2), slice(-100, 100, 3), slice(None, None, -2)]  # fmt: skip


@pytest.mark.parametrize("s", SLICES, ids=str)
def test_basic_indexing(s, rng):
    x = normal(rng, 6, 5)
    got = assert_agree(lambda v: [v[s], v[:, s], v[s, s], v[2], v[-1, 3], v[s, None, 0], v[..., 1]], [x])
    for a, b in zip(got, [x[s], x[:, s], x[s, s], x[2], x[-1, 3], x[s, None, 0], x[..., 1]], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("bounds", [(1, 4, 1), (-3, -1, 1), (5, 0, -2), (0, 100, 3), (-100, 2, 1), (4, -100, -1)])
def test_symbolic_bounds(bounds, rng):
    x = normal(rng, 6)
    got = assert_agree(lambda v, a, b, c: v[a:b:c], [x, *map(np.int64, bounds)])
    np.testing.assert_array_equal(got[0], x[slice(*bounds)])


@pytest.mark.parametrize("s", SLICES, ids=str)
def test_writing_slices(s, rng):
    x = normal(rng, 6, 5)
    y = normal(rng, *x[s].shape)

    def build(v, u):
        return [
            at.set_subtensor(v[s], u),
            at.inc_subtensor(v[s], u),
            at.set_subtensor(v[s], 1.5),
            at.inc_subtensor(v[:, s], 2.0),
        ]

    got = assert_agree(build, [x, y])
    for k, value in enumerate((y, 1.5)):
        want = x.copy()
        want[s] = value
        np.testing.assert_array_equal(got[2 * k], want)


def test_integer_arrays_as_indices(rng):
    x, i, j = normal(rng, 6, 5, 4), integers(rng, -6, 6, 3), integers(rng, -5, 5, 2, 3)
    got = assert_agree(
        lambda v, a, b: [v[a], v[:, b], v[a, b], v[a, :, a % 4], v[:, a % 5, 1:3], v[a[:, None], b[0]], v[0, b]],
        [x, i, j],
    )
    want = [x[i], x[:, j], x[i, j], x[i, :, i % 4], x[:, i % 5, 1:3], x[i[:, None], j[0]], x[0, j]]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


def test_writing_to_integer_arrays(rng):
    x, i, u = normal(rng, 6, 3), np.array([0, 2, 2, -1, 5]), normal(rng, 5, 3)
    got = assert_agree(
        lambda v, a, b: [at.inc_subtensor(v[a], b), at.set_subtensor(v[a], b), at.inc_subtensor(v[a, 1], b[:, 0]),
                         at.inc_subtensor(v[a], 1.0), at.inc_subtensor(v[:, a % 3], 1.0)],
        [x, i, u],
    )  # fmt: skip
    want = x.copy()
    np.add.at(want, i, u)
    np.testing.assert_allclose(got[0], want, rtol=1e-15)
    want = x.copy()
    want[i] = u
    np.testing.assert_array_equal(got[1], want)


def test_boolean_masks_run_in_python(rng):
    x, m = normal(rng, 6, 3), np.array([True, False, True, True, False, False])
    got = assert_agree(lambda v, k: [v[k].sum(axis=0), at.set_subtensor(v[k], 0.0), v[v > 0]], [x, m], native=False)
    assert_close(got[0], x[m].sum(axis=0))
    np.testing.assert_array_equal(got[2], x[x > 0])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_joining_and_splitting(axis, rng):
    x, y = normal(rng, 4, 3), normal(rng, 4, 3)

    def build(a, b):
        return [
            at.join(axis, a, b),
            at.stack([a, b], axis=axis),
            at.concatenate([a[:1], b], axis=0),
            *at.split(a, [1, 2], 2, axis=1),
        ]

    assert_agree(build, [x, y])
    with pytest.raises(ValueError, match="Join along axis"):
        evaluate(lambda a, b: at.join(0, a, b), [normal(rng, 2, 3), normal(rng, 2, 4)], "FAST_RUN")


def test_shapes(rng):
    x, n = normal(rng, 4, 6), np.int64(8)
    assert_agree(
        lambda v, k: [
            v.reshape((8, 3)),
            v.reshape((k, -1)),
            v.reshape((2, 2, 6)).sum(axis=1),
            v.T.reshape((24,)),
            v.shape,
            v.shape[0] + k,
            v.flatten(),
            v.T,
            v.dimshuffle(1, "x", 0),
            (2 * v).T.reshape((4, 6)).reshape((-1,)),
        ],
        [x, n],
    )
    with pytest.raises(ValueError, match="reshape"):
        evaluate(lambda v: v.reshape((5, 5)), [x], "FAST_RUN")
    with pytest.raises(AssertionError):
        evaluate(lambda v: at.specify_shape(v, (4, 5)), [x], "FAST_RUN")


def test_creation():
    n = np.int64(5)
    assert_agree(
        lambda k: [
            at.arange(k),
            at.arange(k, 0, -2),
            at.arange(1, k + 3, 3, dtype="float64"),
            at.eye(k),
            at.eye(k, 4, 1),
            at.zeros((k, 2)),
            at.alloc(1.5, k, 3),
            at.ones_like(at.zeros((k,))),
            at.full((k,), 7),
        ],
        [n],
    )


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_softmax(axis, rng):
    x = np.array([[1000.0, 0, -1000], [1, 2, 3], [-np.inf, 0, 1], [-800, -801, -802]])
    got = assert_agree(lambda v: [softmax(v, axis=axis), log_softmax(v, axis=axis)], [x], rtol=1e-14)
    assert np.all(np.isfinite(got[0]))
    y = normal(rng, 4, 5)
    assert_agree(lambda v: aesara.grad((softmax(v, axis=axis)[:, 0] ** 2).sum(), v), [y], rtol=1e-13)
    assert_agree(lambda v: aesara.grad((log_softmax(v, axis=axis)[:, 0] ** 2).sum(), v), [y], rtol=1e-13)


CASTS = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("source", CASTS)
def test_casts(source):
    x = np.array([0, 1, 2, 100, -3, 127.6, -0.7]).astype("float64")
    x = np.abs(x).astype(source) if source[0] in "ub" else x.astype(source)
    assert_agree(
        lambda v: [at.cast(v, t) for t in CASTS if not (source[0] == "f" and t[0] == "u" and (x < 0).any())], [x]
    )


LAYOUTS = {
    "transposed": lambda x: np.asfortranarray(x),
    "strided": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda x: (lambda y: (y.setflags(write=False), y)[1])(x.copy()),
    "misaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), dtype=np.uint8)[1:].view(x.dtype).reshape(x.shape),
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
    "subclass": lambda x: x.view(type("Sub", (np.ndarray,), {})),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_layouts(layout, rng):
    x = normal(rng, 4, 6)
    v = at.matrix("v")
    f = aesara.function([v], [at.exp(v).sum(axis=0), v.T + 1, v.dot(v.T)])
    got, want = f(LAYOUTS[layout](x)), f(x)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("shape", [(0,), (1,), (0, 3), (3, 0), (1, 1), (2, 1, 0)])
def test_empty_and_single(shape, rng):
    x = normal(rng, *shape)
    assert_agree(
        lambda v: [v + v, at.exp(v).sum(), v.sum(axis=0), v[::-1], at.concatenate([v, v]), v.T, v.reshape((-1,))], [x]
    )


def test_one_compilation_serves_all_sizes(rng):
    v, w = at.matrix("v"), at.vector("w")
    f = aesara.function([v, w], [at.tanh(v) * w, (v * w).sum(axis=1), v.dot(w)])
    for n in (0, 1, 2, 7, 8, 9, 63, 100):
        for m in (0, 1, 3, 16, 33):
            a, b = normal(rng, n, m), normal(rng, m)
            got = f(a, b)
            for g, want in zip(got, [np.tanh(a) * b, (a * b).sum(axis=1), a @ b], strict=True):
                np.testing.assert_allclose(g, want, rtol=1e-12, atol=1e-13)


def test_rectangular_gradients_agree(rng):
    def build(x, w, b):
        h = at.tanh(x.dot(w) + b)
        cost = (at.softplus(h) * h).sum() + at.log(at.exp(h).sum(axis=0)).sum() + h[:, 0].max()
        return [cost, *aesara.grad(cost, [x, w, b])]

    assert_agree(build, [normal(rng, 5, 4), normal(rng, 4, 3), normal(rng, 3)], rtol=1e-12)


@pytest.mark.parametrize("step", [2**63 - 1, -(2**63), 2**62, -3])
def test_huge_steps(step, rng):
    x = normal(rng, 4)
    (got,) = assert_agree(lambda v, k: v[::k], [x, np.int64(step)])
    np.testing.assert_array_equal(got, x[::step])


def test_vectors_of_lengths_have_the_right_length(rng):
    x, lengths = normal(rng, 3, 4), np.array([3])
    with pytest.raises(ValueError):
        evaluate(lambda v, n: at.split(v, n, 2, axis=0), [x, lengths], "FAST_RUN")
    with pytest.raises(ValueError):
        evaluate(lambda v, n: at.reshape(v, n, ndim=2), [x, np.array([12])], "FAST_RUN")


def test_lengths_of_one_that_are_found_at_run_time(rng):
    x, i, j = normal(rng, 3, 4, 5), np.array([0, 2]), np.array([1])
    (got,) = assert_agree(lambda v, a, b: v[a, :, b], [x, i, j])
    np.testing.assert_array_equal(got, x[i, :, j])
    assert_agree(lambda v, n: at.alloc(v, 2, n), [normal(rng, 1), np.int64(4)])
    with pytest.raises(ValueError):
        evaluate(lambda v, n: v.reshape((n, -1)), [np.zeros((0, 4)), np.int64(0)], "FAST_RUN")


def test_equal_products_cancel_exactly(rng):
    a, b = normal(rng, 1000), normal(rng, 1000)
    (got,) = assert_agree(lambda x, y, z: at.sqrt(x * y - z * y), [a, b, a])
    np.testing.assert_array_equal(got, np.zeros(1000))
