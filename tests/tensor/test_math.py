"""Products, comparisons and other functions of `aesara.tensor.math`."""

import numpy as np
import pytest

import aesara.scalar as aes
import aesara.tensor as at
from aesara.graph.autodiff import grad
from aesara.tensor.math import Dot, MatMul
from aesara.tensor.products.dot import BatchedDot, batched_tensordot
from aesara.tensor.type import TensorType
from tests.closeness import assert_close
from tests.tensor.evaluate import evaluate
from tests.tensor.reductions.test_reduction import numeric_gradient


def unknown(shape, dtype="float64"):
    return TensorType(dtype, (None,) * len(shape))()


def check_gradient(function, *values, rtol=1e-5):
    """Compare the gradients of a weighted sum of a function's values with finite differences."""
    inputs = [unknown(np.shape(v)) for v in values]
    y = function(*inputs)
    weights = np.random.default_rng(5).normal(size=evaluate(y, dict(zip(inputs, values))).shape)
    cost = (y * weights).sum()
    gradients = evaluate(grad(cost, inputs), dict(zip(inputs, values)))
    for position, gradient in enumerate(gradients):

        def at_value(v, position=position):
            shifted = list(values)
            shifted[position] = v
            return evaluate(cost, dict(zip(inputs, shifted)))

        np.testing.assert_allclose(gradient, numeric_gradient(at_value, values[position]), rtol=rtol, atol=1e-6)


class TestDot:
    @pytest.mark.parametrize(
        "a, b",
        [((3,), (3,)), ((2, 3), (3,)), ((2,), (2, 3)), ((2, 3), (3, 4)), ((2, 0), (0, 4)), ((0, 3), (3, 2))],
    )
    def test_values(self, a, b, rng):
        x, y = unknown(a), unknown(b)
        X, Y = rng.normal(size=a), rng.normal(size=b)
        for product in (at.dot(x, y), x @ y, x.dot(y), Dot()(x, y)):
            np.testing.assert_allclose(evaluate(product, {x: X, y: Y}), np.dot(X, Y), rtol=1e-13)

    @pytest.mark.parametrize("a, b", [((2, 2, 3), (3, 4)), ((2, 2, 3), (2, 3, 4)), ((3,), (2, 3, 4)), ((), (2, 2))])
    def test_other_ranks(self, a, b, rng):
        x, y = unknown(a), unknown(b)
        X, Y = rng.normal(size=a), rng.normal(size=b)
        np.testing.assert_allclose(evaluate(at.dot(x, y), {x: X, y: Y}), np.dot(X, Y), rtol=1e-13)

    @pytest.mark.parametrize("a, b", [((3,), (3,)), ((2, 3), (3,)), ((2,), (2, 3)), ((2, 3), (3, 4))])
    def test_gradients(self, a, b, rng):
        check_gradient(at.dot, rng.normal(size=a), rng.normal(size=b))

    @pytest.mark.parametrize(
        "dtypes, expected",
        [
            (("int8", "int8"), "int8"),
            (("int32", "float32"), "float64"),
            (("float32", "float64"), "float64"),
            (("bool", "bool"), "bool"),
            (("float32", "complex64"), "complex64"),
        ],
    )
    def test_dtypes(self, dtypes, expected):
        x, y = at.matrix(dtype=dtypes[0]), at.matrix(dtype=dtypes[1])
        value = np.eye(2)
        product = at.dot(x, y)
        assert product.type.dtype == expected
        assert evaluate(product, {x: value, y: value}).dtype == expected

    def test_static_shapes(self):
        a = at.tensor("float64", (2, 3))
        assert at.dot(a, at.tensor("float64", (None, 1))).type.shape == (2, 1)
        with pytest.raises(ValueError, match="equal lengths"):
            at.dot(a, at.tensor("float64", (4, 3)))

    def test_errors(self):
        x, y = at.matrix(), at.matrix()
        with pytest.raises(ValueError, match="not aligned"):
            evaluate(at.dot(x, y), {x: np.ones((2, 3)), y: np.ones((2, 3))})
        with pytest.raises(TypeError, match="1 or 2"):
            Dot()(at.tensor3(), x)
        with pytest.raises(TypeError, match="two tensors"):
            Dot()(x)

    def test_integers_have_zero_gradient(self):
        i, x = at.imatrix("i"), at.matrix("x")
        (gi, gx) = at.dot(i, x).owner.op.grad([i, x], [at.matrix()])
        assert gi.type.dtype == "float64" and gx.type.dtype == "float64"

    def test_tangent(self, rng):
        x, y, dx = at.matrix(), at.matrix(), at.matrix()
        (t,) = Dot().R_op([x, y], [dx, None])
        Y, V = rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
        assert_close(evaluate(t, {dx: V, y: Y}), V @ Y)

    def test_outer(self):
        x, m = at.vector(), at.matrix()
        np.testing.assert_array_equal(evaluate(at.outer(x, m), {x: [1.0, 2.0], m: np.ones((2, 2))}).shape, (2, 4))


class TestTensordot:
    @pytest.mark.parametrize(
        "a, b, axes",
        [
            ((2, 3, 4), (3, 4, 5), 2),
            ((2, 3), (3, 4), 1),
            ((2, 3), (4, 2), [[0], [1]]),
            ((2, 3, 4), (4, 3), [[1, 2], [1, 0]]),
            ((2, 3, 4), (4, 2, 3), [[-1, 0], [0, 1]]),
            ((2, 3), (4,), 0),
            ((2, 3), (2, 3), 2),
            ((2, 3, 4), (3, 2), [1, 0]),
        ],
    )
    def test_values_and_gradients(self, a, b, axes, rng):
        X, Y = rng.normal(size=a), rng.normal(size=b)
        x, y = unknown(a), unknown(b)
        product = at.tensordot(x, y, axes)
        expected = np.tensordot(X, Y, axes)
        assert product.type.ndim == expected.ndim
        np.testing.assert_allclose(evaluate(product, {x: X, y: Y}), expected, rtol=1e-12, atol=1e-14)
        check_gradient(lambda u, v: at.tensordot(u, v, axes), X, Y)

    def test_static_shape(self):
        a, b = at.tensor("float64", (2, 3, None)), at.tensor("float64", (3, 4, 5))
        assert at.tensordot(a, b, [[1], [0]]).type.shape == (2, None, 4, 5)

    @pytest.mark.parametrize(
        "axes, message",
        [
            (3, "can not be larger"),
            ([[0, 1], [1]], "same length"),
            ([[5], [0]], "out of bounds"),
            ([[0, 0], [0, 1]], "twice"),
            ("ab", "axes"),
            (-1, "negative"),
        ],
    )
    def test_bad_axes(self, axes, message):
        with pytest.raises(ValueError, match=message):
            at.tensordot(at.matrix(), at.matrix(), axes)


class TestBatched:
    @pytest.mark.parametrize(
        "a, b", [((2, 3, 4), (2, 4, 5)), ((2, 3), (2, 3, 4)), ((2, 4, 3), (2, 3)), ((2, 3), (2, 3))]
    )
    def test_values_and_gradients(self, a, b, rng):
        X, Y = rng.normal(size=a), rng.normal(size=b)
        x, y = unknown(a), unknown(b)
        expected = np.stack([np.dot(p, q) for p, q in zip(X, Y)])
        assert_close(evaluate(at.batched_dot(x, y), {x: X, y: Y}), expected)
        check_gradient(at.batched_dot, X, Y)

    def test_other_ranks(self, rng):
        x, y = at.vector(), at.matrix()
        X, Y = rng.normal(size=2), rng.normal(size=(2, 3))
        assert_close(evaluate(at.batched_dot(x, y), {x: X, y: Y}), X[:, None] * Y)
        a, b = unknown((2, 3, 4, 5)), unknown((2, 5, 3))
        A, B = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 5, 3))
        product = batched_tensordot(a, b, [[3, 1], [1, 2]])
        assert_close(evaluate(product, {a: A, b: B}), np.einsum("nijk,nki->nj", A, B))

    def test_errors(self):
        x, y = at.tensor3(), at.tensor3()
        with pytest.raises(ValueError, match="do not match"):
            evaluate(BatchedDot()(x, y), {x: np.ones((2, 3, 4)), y: np.ones((3, 4, 5))})
        with pytest.raises(TypeError, match="at least one dimension"):
            at.batched_dot(at.scalar(), x)
        with pytest.raises(ValueError, match="axis 0"):
            batched_tensordot(x, y, [[0], [1]])


class TestMatmul:
    @pytest.mark.parametrize(
        "a, b",
        [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((4, 2, 3), (3, 5)),
            ((4, 2, 3), (4, 3, 5)),
            ((3,), (4, 3, 2)),
            ((4, 2, 3), (3,)),
            ((2, 3), (4, 3, 5)),
        ],
    )
    def test_values_and_gradients(self, a, b, rng):
        X, Y = rng.normal(size=a), rng.normal(size=b)
        x, y = unknown(a), unknown(b)
        assert_close(evaluate(at.matmul(x, y), {x: X, y: Y}), np.matmul(X, Y))
        check_gradient(at.matmul, X, Y)

    def test_broadcast_batches(self, rng):
        x, y = at.tensor("float64", (1, None, None)), at.tensor3()
        X, Y = rng.normal(size=(1, 2, 3)), rng.normal(size=(4, 3, 2))
        product = at.matmul(x, y)
        assert_close(evaluate(product, {x: X, y: Y}), np.matmul(X, Y))
        g = evaluate(grad(product.sum(), x), {x: X, y: Y})
        assert_close(g, np.broadcast_to(Y.sum(axis=(0, 2))[None, None], (1, 2, 3)))
        a, b, c, d, e, f = at.lscalars("abcdef")
        assert MatMul().infer_shape(None, product.owner, [(a, b, c), (d, e, f)]) == [(d, b, f)]

    def test_errors(self):
        with pytest.raises(ValueError, match="cannot be scalar"):
            at.matmul(at.scalar(), at.matrix())
        a = at.tensor("float64", (2, 3))
        with pytest.raises(ValueError, match="number of columns"):
            at.matmul(a, a)
        x, y = at.tensor3(), at.tensor3()
        with pytest.raises(ValueError, match="specify_broadcastable"):
            evaluate(at.matmul(x, y), {x: np.ones((1, 2, 2)), y: np.ones((3, 2, 2))})

    def test_dtype(self):
        assert at.matmul(at.fmatrix(), at.fmatrix(), dtype="float64").type.dtype == "float64"


class TestComparisons:
    def test_isclose(self):
        a = np.array([1.0, np.nan, np.inf, -np.inf, np.inf, 1e10, 0.0])
        b = np.array([1.0 + 1e-9, np.nan, np.inf, np.inf, 1.0, 1e10 + 1, 1e-7])
        for equal_nan in (False, True):
            result = evaluate(at.isclose(a, b, equal_nan=equal_nan))
            np.testing.assert_array_equal(result, np.isclose(a, b, equal_nan=equal_nan))
        assert result.dtype == bool

    def test_isclose_of_integers(self):
        a, b = np.array([0, 5, 200], "uint8"), np.array([1, 5, 100], "uint8")
        np.testing.assert_array_equal(evaluate(at.isclose(a, b)), np.isclose(a, b))
        assert evaluate(at.isclose(np.array([True]), np.array([True])))

    def test_allclose(self):
        assert evaluate(at.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9]))
        assert not evaluate(at.allclose([1.0, 2.0], [1.0, 2.1]))
        assert evaluate(at.allclose([1.0, 2.0], [1.0, 2.1], atol=0.2))

    def test_smallest_and_largest(self):
        x, y, z = np.array([1.0, 5.0]), np.array([3.0, 2.0]), np.array([2.0, np.nan])
        np.testing.assert_array_equal(evaluate(at.smallest(x, y)), np.minimum(x, y))
        np.testing.assert_array_equal(evaluate(at.largest(x, y, z)), np.maximum(np.maximum(x, y), z))

    def test_integers_are_neither_nan_nor_infinite(self):
        i = at.imatrix("i")
        for y in (at.isnan(i), at.isinf(i)):
            np.testing.assert_array_equal(evaluate(y, {i: np.ones((2, 3), "int32")}), np.zeros((2, 3), bool))


class TestArithmetic:
    def test_quotients(self):
        i = np.array([7, -7, 8, 0])
        np.testing.assert_array_equal(evaluate(at.ceil_intdiv(i, 4)), [2, -1, 2, 0])
        quotient, remainder = at.divmod(i, 4)
        np.testing.assert_array_equal(evaluate(quotient), i // 4)
        np.testing.assert_array_equal(evaluate(remainder), i % 4)
        with pytest.raises(aes.ComplexError, match="complex"):
            at.mod_check(at.zvector(), 2) if hasattr(at, "mod_check") else at.zvector() % 2

    def test_rounding(self):
        x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, np.nan, np.inf])
        np.testing.assert_array_equal(evaluate(at.round(x)), np.round(x))
        np.testing.assert_array_equal(evaluate(at.round(x, "half_away_from_zero"))[:5], [1.0, 2.0, 3.0, -1.0, -2.0])
        assert at.iround(x[:5]).type.dtype == "int64"
        with pytest.raises(ValueError, match="round mode"):
            at.round(x, mode="up")

    def test_clip(self):
        x = np.array([-1.0, 0.5, 2.0, np.nan])
        np.testing.assert_array_equal(evaluate(at.clip(x, 0, 1)), np.clip(x, 0, 1))
        v = at.vector("v")
        g = grad(at.clip(v, 0.0, 1.0).sum(), v)
        np.testing.assert_array_equal(evaluate(g, {v: [-1.0, 0.5, 2.0]}), [0.0, 1.0, 0.0])

    def test_complex_numbers(self):
        z = np.array([1 + 2j, -3j])
        np.testing.assert_array_equal(evaluate(at.conj(z)), z.conj())
        x = at.vector()
        assert at.conj(x) is x
        assert_close(evaluate(at.complex_from_polar(np.abs(z), np.angle(z))), z)
        np.testing.assert_array_equal(evaluate(at.complex([1.0], [2.0])), [1 + 2j])

    def test_power(self):
        check_gradient(at.power, np.array([1.5, 2.0]), np.array([3.0, -0.5]))


class TestCovariance:
    @pytest.mark.parametrize("options", [{}, {"bias": True}, {"ddof": 0}, {"rowvar": False}])
    def test_values(self, options, rng):
        value = rng.normal(size=(3, 5))
        np.testing.assert_allclose(evaluate(at.cov(value, **options)), np.cov(value, **options), rtol=1e-12)

    def test_weights_and_more_variables(self, rng):
        value, other = rng.normal(size=(2, 4)), rng.normal(size=(1, 4))
        f, a = np.array([1, 2, 1, 3]), np.array([0.5, 1.0, 2.0, 1.0])
        for options in ({"fweights": f}, {"aweights": a}, {"fweights": f, "aweights": a, "ddof": 1}):
            expected = np.cov(value, other, **options)
            np.testing.assert_allclose(evaluate(at.cov(value, other, **options)), expected, rtol=1e-12)

    def test_one_variable(self, rng):
        value = rng.normal(size=6)
        result = evaluate(at.cov(value))
        assert result.shape == () and np.isclose(result, np.cov(value))

    def test_errors(self):
        with pytest.raises(ValueError, match="2 dimensions"):
            at.cov(at.tensor3())
        with pytest.raises(ValueError, match="ddof"):
            at.cov(at.matrix(), ddof=0.5)
        with pytest.raises(TypeError, match="fweights"):
            at.cov(at.matrix(), fweights=np.array([0.5]))

    def test_gradient(self, rng):
        check_gradient(at.cov, rng.normal(size=(2, 4)))


class TestConvolve:
    @pytest.mark.parametrize("mode", ["full", "same", "valid"])
    @pytest.mark.parametrize("n, m", [(5, 3), (3, 5), (4, 4), (6, 2), (1, 3)])
    def test_values_and_gradients(self, mode, n, m, rng):
        a, v = rng.normal(size=n), rng.normal(size=m)
        x, y = at.vector(), at.vector()
        out = at.convolve(x, y, mode)
        expected = np.convolve(a, v, mode)
        assert_close(evaluate(out, {x: a, y: v}), expected)
        (length,) = out.owner.op.infer_shape(None, out.owner, [(at.constant(n),), (at.constant(m),)])[0]
        assert evaluate(length) == expected.size
        assert at.convolve(at.constant(a), at.constant(v), mode).type.shape == expected.shape
        check_gradient(lambda p, q: at.convolve(p, q, mode), a, v)

    def test_errors(self):
        with pytest.raises(ValueError, match="mode"):
            at.convolve(at.vector(), at.vector(), "other")
        for a, v in ((at.matrix(), at.vector()), (at.vector(), 4)):
            with pytest.raises(ValueError, match="must be 1-dimensional"):
                at.convolve(a, v)


class TestSort:
    @pytest.mark.parametrize("axis", [0, 1, -1, None])
    def test_sort(self, axis, rng):
        value = rng.permutation(12).astype("float64").reshape(3, 4)
        value[0, 0] = np.nan
        np.testing.assert_array_equal(evaluate(at.sort(value, axis)), np.sort(value, axis))
        np.testing.assert_array_equal(evaluate(at.argsort(value, axis)), np.argsort(value, axis))

    @pytest.mark.parametrize("axis", [0, 1, None])
    def test_gradients(self, axis, rng):
        value = rng.permutation(6).astype("float64").reshape(2, 3)
        check_gradient(lambda x: at.sort(x, axis), value)
        check_gradient(lambda x: at.topk(x, 2, axis), value)

    @pytest.mark.parametrize("k", [1, 3, -1, -2])
    def test_largest_elements(self, k, rng):
        value = rng.permutation(12).reshape(3, 4)
        order = np.sort(value, axis=1)
        expected = order[:, ::-1][:, :k] if k > 0 else order[:, :-k]
        values, positions = at.topk_and_argtopk(value, k, axis=1)
        np.testing.assert_array_equal(evaluate(values), expected)
        np.testing.assert_array_equal(np.take_along_axis(value, evaluate(positions), 1), expected)
        np.testing.assert_array_equal(evaluate(at.argtopk(value, k, axis=1)), evaluate(positions))
        assert values.type.shape == (3, abs(k))

    def test_errors(self):
        with pytest.raises(np.exceptions.AxisError):
            at.sort(at.matrix(), axis=2)
        with pytest.raises(ValueError, match="kind"):
            at.sort(at.matrix(), kind="bogosort")
        with pytest.raises(ValueError, match="zero"):
            at.topk(at.vector(), 0)
        x = at.vector()
        with pytest.raises(ValueError, match="kth"):
            evaluate(at.topk(x, 3), {x: [1.0, 2.0]})


@pytest.mark.parametrize("module", [at, at.math], ids=["tensor", "math"])
def test_old_names(module):
    for old, new in [("sqr", at.square), ("inv", at.reciprocal), ("true_div", at.true_divide), ("abs_", at.abs)]:
        with pytest.warns(DeprecationWarning, match=f"`{old}` is deprecated"):
            assert getattr(module, old) is new
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing


def test_star_import_gives_functions_only():
    names = {}
    exec("from aesara.tensor.math import *", names)
    assert names["exp"] is at.exp and names["sum"] is at.sum
    assert "config" not in names and "Any" not in names
