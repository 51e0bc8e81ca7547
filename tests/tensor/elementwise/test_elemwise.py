"""DimShuffle and Elemwise: shapes, dtypes, values and derivatives."""

import pickle

import numpy as np
import pytest
import scipy.special

import aesara.scalar as aes
import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.autodiff import grad
from aesara.graph.basic import Apply, equal_computations
from aesara.tensor.elemwise import DimShuffle, Elemwise, scalar_elemwise
from aesara.tensor.type import TensorType
from tests.closeness import assert_close
from tests.tensor.evaluate import evaluate


def tensor(shape, dtype="float64", name=None):
    return TensorType(dtype, shape)(name)


class TestDimShuffle:
    @pytest.mark.parametrize(
        "shape, order, expected",
        [
            ((2, 3), (1, 0), (3, 2)),
            ((2, 3), (1, "x", 0), (3, 1, 2)),
            ((2, 3), ("x", 0, 1, "x"), (1, 2, 3, 1)),
            ((1, 3), (1,), (3,)),
            ((2, 1, 4), (2, 0), (4, 2)),
            ((1, 1), (), ()),
            ((), ("x", "x"), (1, 1)),
            ((0, 3), (1, 0), (3, 0)),
        ],
    )
    def test_shape_and_values(self, shape, order, expected):
        x = tensor(shape)
        y = x.dimshuffle(*order)
        assert y.type.shape == expected
        value = np.arange(np.prod(shape, dtype=int), dtype="float64").reshape(shape)
        result = evaluate(y, {x: value})
        assert result.shape == expected and (result.size == 0 or np.shares_memory(result, value))
        kept = [k for k in order if k != "x"]
        reference = value.transpose(kept + [k for k in range(value.ndim) if k not in kept]).reshape(expected)
        np.testing.assert_array_equal(result, reference)

    @pytest.mark.parametrize(
        "order, message",
        [((0,), "drop a non-broadcastable"), ((2, 0), "only has 2 axes"), ((0, 0), "appear twice")],
    )
    def test_bad_orders(self, order, message):
        with pytest.raises(ValueError, match=message):
            at.matrix().dimshuffle(*order)

    @pytest.mark.parametrize("entry", [1.0, "y", True, None])
    def test_entries_are_integers_or_x(self, entry):
        with pytest.raises(TypeError, match="new_order"):
            at.matrix().dimshuffle(0, entry)

    def test_input_must_fit(self):
        op = DimShuffle((True, False), (1,))
        assert op(at.row()).type.shape == (None,)
        with pytest.raises(TypeError, match="broadcast pattern"):
            op(at.matrix())
        with pytest.raises(TypeError, match="number of dimensions"):
            op(at.vector())

    def test_identity_str_and_view(self):
        op = DimShuffle((False, False), (1, "x", 0))
        assert op == DimShuffle([False, False], [1, "x", 0]) and hash(op) == hash(
            DimShuffle((False, False), (1, "x", 0))
        )
        assert op != DimShuffle((False, False), (0, "x", 1))
        assert str(op) == "InplaceDimShuffle{1,x,0}" and op.view_map == {0: [0]}
        assert at.matrix("x").dimshuffle([1, 0]).owner.op.is_transpose
        assert pickle.loads(pickle.dumps(op)) == op

    def test_gradient_and_tangent(self):
        x = tensor((None, 1, None), name="x")
        y = x.dimshuffle(2, "x", 0)
        weights = np.arange(6.0).reshape(3, 1, 2)
        g = grad((y * weights).sum(), x)
        value = np.ones((2, 1, 3))
        np.testing.assert_array_equal(evaluate(g, {x: value}), weights.transpose(2, 1, 0))
        assert g.type.shape[1] == 1
        tangent = tensor((None, 1, None))
        assert equal_computations(y.owner.op.R_op([x], [tangent]), [tangent.dimshuffle(2, "x", 0)])

    def test_dropped_dimension_is_checked_at_run_time(self):
        x = at.row()
        node = x.dimshuffle(1).owner
        with pytest.raises(ValueError, match="must have length 1"):
            node.op.perform(node, [np.zeros((2, 3))], [[None]])

    def test_infer_shape(self):
        x = at.matrix()
        node = x.dimshuffle(1, "x", 0).owner
        m, n = at.lscalars("mn")
        (shape,) = node.op.infer_shape(None, node, [(m, n)])
        assert shape[0] is n and shape[2] is m and shape[1].data == 1


class TestBroadcasting:
    @pytest.mark.parametrize(
        "shapes, expected",
        [
            ([(2, 3), (1, 3)], (2, 3)),
            ([(2, 3), (None, 3)], (2, 3)),
            ([(1, 3), (None, 3)], (None, 3)),
            ([(1, None), (None, 1)], (None, None)),
            ([(1, None), (1, None)], (1, None)),
            ([(2, 3), (3,)], (2, 3)),
            ([(), (None,)], (None,)),
            ([(0,), (1,)], (0,)),
            ([(None,), (None,), (4,)], (4,)),
        ],
    )
    def test_static_shape(self, shapes, expected):
        assert at.add(*[tensor(shape) for shape in shapes]).type.shape == expected

    @pytest.mark.parametrize("shapes", [[(2, 3), (4, 3)], [(2,), (0,)], [(None, 2), (None, 1), (None, 3)]])
    def test_lengths_that_differ_are_refused_at_once(self, shapes):
        with pytest.raises(ValueError, match="Incompatible Elemwise input shapes"):
            at.add(*[tensor(shape) for shape in shapes])

    def test_unknown_lengths_are_not_broadcast(self):
        x, y = at.matrix("x"), at.matrix("y")
        with pytest.raises(ValueError, match="Input dimension mismatch.*specify_broadcastable"):
            evaluate(x + y, {x: np.ones((1, 3)), y: np.ones((2, 3))})
        np.testing.assert_array_equal(evaluate(x + y, {x: np.ones((1, 3)), y: np.ones((1, 3))}), np.full((1, 3), 2.0))

    @pytest.mark.parametrize(
        "shapes", [[(2, 3), (3,)], [(2, 1), (1, 3)], [(), (2,)], [(0, 3), (1, 3)], [(4, 1, 2), (3, 1), (1,)]]
    )
    def test_values(self, shapes):
        rng = np.random.default_rng(1)
        inputs = [tensor(tuple(1 if n == 1 else None for n in shape)) for shape in shapes]
        values = [rng.normal(size=shape) for shape in shapes]
        expected = sum(values[1:], values[0])
        result = evaluate(at.add(*inputs), dict(zip(inputs, values)))
        assert_close(result, expected)
        assert result.shape == expected.shape

    def test_not_contiguous_and_fresh(self):
        x = at.matrix()
        value = np.arange(12.0).reshape(3, 4)[::2, ::-1]
        for function in (Elemwise(aes.identity), at.abs):
            result = evaluate(function(x), {x: value})
            np.testing.assert_array_equal(result, value)
            assert not np.shares_memory(result, value)

    def test_infer_shape(self):
        x, y = tensor((1, None)), tensor((None, 4))
        node = (x + y).owner
        (a, b), (c, d) = at.lscalars("ab"), at.lscalars("cd")
        (shape,) = node.op.infer_shape(None, node, [(a, b), (c, d)])
        assert shape[0] is c and shape[1].data == 4


class TestNodes:
    def test_names_and_equality(self):
        assert str(at.exp) == "Elemwise{exp,no_inplace}"
        assert at.exp == Elemwise(aes.exp) and hash(at.exp) == hash(Elemwise(aes.exp))
        assert at.exp != at.log and Elemwise(aes.add, {0: 0}) != at.add
        assert str(Elemwise(aes.add, {0: 1})) == "Elemwise{add}[(0, 1)]"
        copied = pickle.loads(pickle.dumps(Elemwise(aes.add, {0: 1})))
        assert copied == Elemwise(aes.add, {0: 1}) and copied.destroy_map == {0: [1]}

    def test_inplace(self):
        op = Elemwise(aes.add, {0: 0})
        assert op.destroy_map == {0: [0]}
        x, y = at.matrix(), at.row()
        value = np.ones((2, 3))
        result = evaluate(op(x, y), {x: value, y: np.ones((1, 3))})
        assert np.shares_memory(result, value) and (value == 2).all()
        with pytest.raises(ValueError, match="broadcast along dimension 0"):
            op(y, x)
        with pytest.raises(TypeError, match="dtype"):
            op(at.imatrix(), x)

    def test_wrong_arguments(self):
        with pytest.raises(TypeError):
            at.exp()
        with pytest.raises(TypeError):
            at.neg(at.matrix(), at.matrix())
        with pytest.raises(NotImplementedError, match="Cannot convert 'a'"):
            at.exp("a")

    def test_decorator(self):
        @scalar_elemwise
        def exp_inplace(a):
            """Overwrites its input."""

        assert exp_inplace.inplace_pattern == {0: 0} and exp_inplace.__doc__ == "Overwrites its input."
        assert str(exp_inplace) == "Elemwise{exp,inplace}"

    def test_scalar_op_without_numpy_function(self):
        class Twice(aes.UnaryScalarOp):
            def impl(self, x):
                return x + x

            def grad(self, inputs, output_gradients):
                return [output_gradients[0] * 2]

        op = Elemwise(Twice(aes.upgrade_to_float))
        x = at.vector("x")
        np.testing.assert_array_equal(evaluate(op(x), {x: [1.0, 2.0]}), [2.0, 4.0])
        np.testing.assert_array_equal(evaluate(grad(op(x).sum(), x), {x: [1.0, 2.0]}), [2.0, 2.0])


@pytest.mark.parametrize(
    "expression, dtype",
    [
        (lambda: at.fmatrix() + 1.5, "float32"),
        (lambda: at.imatrix() + 1.5, "float64"),
        (lambda: at.bmatrix() + 1, "int8"),
        (lambda: at.bmatrix() + 1000, "int16"),
        (lambda: at.fmatrix() + np.float64(1.5), "float64"),
        (lambda: at.imatrix() / 2, "float64"),
        (lambda: at.imatrix() // 2, "int32"),
        (lambda: at.imatrix() ** 2, "int32"),
        (lambda: at.imatrix() ** 2.0, "float64"),
        (lambda: at.sqrt(at.bmatrix()), "float32"),
        (lambda: at.sqrt(at.imatrix()), "float64"),
        (lambda: at.abs(at.zmatrix()), "float64"),
        (lambda: at.eq(at.imatrix(), 1), "bool"),
        (lambda: at.switch(at.vector(dtype="bool"), at.ivector(), at.fvector()), "float64"),
        (lambda: at.switch(at.vector(), 1, 2), "int8"),
        (lambda: at.vector(dtype="bool") & at.vector(dtype="bool"), "bool"),
        (lambda: at.maximum(at.imatrix(), at.fmatrix()), "float64"),
        (lambda: at.isnan(at.imatrix()), "bool"),
        (lambda: at.clip(at.bmatrix(), 0, 3), "int8"),
        (lambda: at.angle(at.cvector()), "float64"),
        (lambda: at.floor(at.imatrix()), "float64"),
        (lambda: at.real(at.zvector()), "float64"),
    ],
)
def test_dtypes(expression, dtype):
    assert expression().type.dtype == dtype


FLOAT_FUNCTIONS = {
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "arctan": np.arctan,
    "sigmoid": scipy.special.expit,
    "softplus": lambda x: np.logaddexp(x, 0),
    "erf": scipy.special.erf,
    "gammaln": scipy.special.gammaln,
    "psi": scipy.special.digamma,
    "square": np.square,
    "reciprocal": np.reciprocal,
    "neg": np.negative,
}


@pytest.mark.parametrize("name", FLOAT_FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_and_gradients(name, dtype):
    x = at.matrix("x", dtype=dtype)
    function, reference = getattr(at, name), FLOAT_FUNCTIONS[name]
    value = np.random.default_rng(0).uniform(0.3, 2.5, size=(3, 4)).astype(dtype)
    y = function(x)
    tolerance = 1e-12 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(evaluate(y, {x: value}), reference(value.astype("float64")), rtol=tolerance)
    g = grad(y.sum(), x)
    assert g.type == x.type
    step = 1e-6
    wide = value.astype("float64")
    numeric = (reference(wide + step) - reference(wide - step)) / (2 * step)
    np.testing.assert_allclose(evaluate(g, {x: value}), numeric, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "name, x, expected",
    [
        ("sigmoid", [800.0, -800.0], [1.0, 0.0]),
        ("softplus", [800.0, -800.0, -40.0], [800.0, 0.0, np.exp(-40.0)]),
        ("log1mexp", [-1e-20, -50.0], [np.log(1e-20), -np.exp(-50.0)]),
        ("sgn", [np.nan, -3.0, 0.0], [np.nan, -1.0, 0.0]),
        ("round", [0.5, 1.5, -0.5], [0.0, 2.0, -0.0]),
        ("trunc", [-1.5, 1.5], [-1.0, 1.0]),
        ("isnan", [np.nan, np.inf, 1.0], [True, False, False]),
        ("isinf", [np.nan, -np.inf, 1.0], [False, True, False]),
    ],
)
def test_special_values(name, x, expected):
    result = evaluate(getattr(at, name)(x))
    np.testing.assert_allclose(result, expected, rtol=1e-14)
    signs = np.signbit(np.asarray(expected, dtype="float64"))
    np.testing.assert_array_equal(np.signbit(result.astype("float64")), signs)


class TestGradients:
    def test_broadcast_inputs_get_sums(self):
        x, v, s = at.matrix("x"), at.vector("v"), at.scalar("s")
        X, V, S = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0]), np.array(2.0)
        gx, gv, gs = evaluate(grad((x * v * s).sum(), [x, v, s]), {x: X, v: V, s: S})
        assert_close(gx, np.broadcast_to(V * S, (2, 3)))
        assert_close(gv, (X * S).sum(axis=0))
        assert_close(gs, (X * V).sum())

    def test_column_keeps_its_type(self):
        x, c = at.matrix("x"), at.col("c")
        g = grad((x / c).sum(), c)
        assert g.type == c.type
        X, C = np.arange(1.0, 7).reshape(2, 3), np.array([[2.0], [4.0]])
        assert_close(evaluate(g, {x: X, c: C}), -(X / C**2).sum(axis=1, keepdims=True))

    def test_zero_gradients_have_the_shape_of_the_input(self):
        x = at.matrix("x")
        g = grad(at.floor(x).sum(), x)
        np.testing.assert_array_equal(evaluate(g, {x: np.ones((2, 3))}), np.zeros((2, 3)))

    def test_integers_have_zero_gradient(self):
        i, x = at.imatrix("i"), at.matrix("x")
        gradient = (i * x).owner.op.L_op([i, x], [i * x], [at.ones_like(x)])
        assert gradient[0].type.dtype in ("float64", "float32")

    def test_float32_stays(self):
        x = at.fmatrix("x")
        assert grad((at.exp(x) * 2 + 1).sum(), x).type.dtype == "float32"

    def test_switch_passes_the_gradient_of_the_branch_taken(self):
        x = at.vector("x")
        g = grad(at.switch(x > 0, x**2, -x).sum(), x)
        assert_close(evaluate(g, {x: [-2.0, 3.0]}), [-1.0, 6.0])

    def test_second_derivative(self):
        x = at.scalar("x")
        g = grad(grad(at.sin(x) * x, x), x)
        assert_close(evaluate(g, {x: 0.7}), 2 * np.cos(0.7) - 0.7 * np.sin(0.7))

    def test_tangent(self):
        x, y, dx = at.vector("x"), at.vector("y"), at.vector("dx")
        out = at.exp(x) * y
        (t,) = out.owner.inputs[0].owner.op.R_op([x], [dx])
        assert_close(evaluate(t, {x: [0.5], dx: [2.0]}), 2 * np.exp([0.5]))
        (t,) = at.mul.R_op([x, y], [dx, None])
        assert_close(evaluate(t, {x: [0.5], y: [3.0], dx: [2.0]}), [6.0])
        assert at.mul.R_op([x, y], [None, None]) == [None]

    def test_long_chains(self):
        x = at.vector("x")
        y = x
        for _ in range(3000):
            y = y + 1
        np.testing.assert_array_equal(evaluate(grad(y.sum(), x), {x: np.zeros(2)}), np.ones(2))


def test_connection_pattern():
    node = at.add(at.vector(), at.vector()).owner
    assert isinstance(node, Apply) and node.op.connection_pattern(node) == [[True], [True]]


class TestConfiguration:
    """Cached facts of an op hold for one configuration."""

    def test_dtypes_follow_floatX(self):
        x = tensor((3,), "int64")
        op = Elemwise(aes.true_divide)
        for dtype in ("float64", "float32", "float64"):
            with config.change_flags(floatX=dtype):
                assert op(x, x).type.dtype == dtype

    def test_gradient_dtypes_follow_floatX(self):
        x, y = tensor((3,), "int64"), tensor((3,))
        op = Elemwise(aes.mul)
        for dtype in ("float64", "float32", "float64"):
            with config.change_flags(floatX=dtype):
                assert op.L_op([x, x], [op(x, x)], [y])[0].type.dtype == dtype
