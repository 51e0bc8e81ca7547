"""Gradients at the points where they are easily wrong."""

import numpy as np
import pytest

import aesara
import aesara.scalar as aes
from aesara.configdefaults import config
from aesara.graph.basic import Apply
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.null_type import NullType
from aesara.graph.utils import MethodNotDefined
from aesara.scalar import (
    Composite,
    ScalarOp,
    UnaryScalarOp,
    float32,
    float64,
    get_scalar_type,
    int8,
    scalar_gradient_graph,
)
from aesara.scalar.op import zero_gradient
from tests.closeness import assert_close

INF, NAN = np.inf, np.nan


def gradients(op, *values, g=1.0):
    """Return the gradient of `op` with respect to each input, as NumPy scalars."""
    values = [value if isinstance(value, np.generic) else np.float64(value) for value in values]
    types = [get_scalar_type(value.dtype.name) for value in values]
    graph = scalar_gradient_graph(op, types)
    outputs = op.evaluate(values, types, op.output_types(types))
    leaves = [*graph.inputs, *graph.outputs, *graph.output_grads]
    return Composite(leaves, graph.grads).evaluate(
        [*values, *outputs, np.float64(g)], [leaf.type for leaf in leaves], [v.type for v in graph.grads]
    )


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        (aes.abs, [0.0], [0]),
        (aes.abs, [-0.0], [0]),
        (aes.abs, [NAN], [NAN]),
        (aes.abs, [np.complex128(0)], [0]),
        (aes.abs, [np.complex128(3 + 4j)], [0.6 + 0.8j]),
        (aes.scalar_maximum, [1.5, 1.5], [1, 0]),
        (aes.scalar_minimum, [1.5, 1.5], [1, 0]),
        (aes.scalar_maximum, [1.5, NAN], [0, 1]),
        (aes.scalar_minimum, [1.0, 2.0], [1, 0]),
        (aes.scalar_maximum, [-INF, INF], [0, 1]),
        (aes.clip, [1.0, 1.0, 2.0], [1, 0, 0]),
        (aes.clip, [2.0, 1.0, 2.0], [1, 0, 0]),
        (aes.clip, [0.5, 1.0, 2.0], [0, 1, 0]),
        (aes.clip, [3.0, 1.0, 2.0], [0, 0, 1]),
        (aes.clip, [1.5, 2.0, 1.0], [0, 1, 0]),
        (aes.switch, [np.int8(1), 2.0, 3.0], [0, 1, 0]),
        (aes.switch, [0.0, 2.0, 3.0], [0, 0, 1]),
        (aes.mul, [0.0, 1.5, 1.5], [2.25, 0, 0]),
        (aes.mod, [7.0, 2.5], [1, -2]),
        (aes.mod, [-7.0, 2.5], [1, 3]),
        (aes.floor_divide, [7.0, 2.5], [0, 0]),
        (aes.square, [0.0], [0]),
        (aes.sqrt, [0.0], [INF]),
        (aes.sgn, [0.0], [0]),
        (aes.floor, [1.5], [0]),
        (aes.pow, [0.0, 1.5], [0, 0]),
        (aes.pow, [0.0, 0.0], [0, 0]),
        (aes.pow, [0.0, 1.0], [1, 0]),
        (aes.pow, [0.0, 2.0], [0, 0]),
        (aes.pow, [0.0, 0.5], [INF, 0]),
        (aes.pow, [-2.0, 3.0], [12, NAN]),
        (aes.pow, [-2.0, 0.0], [0, NAN]),
        (aes.i1, [0.0], [0.5]),
        (aes.j1, [0.0], [0.5]),
        (aes.arccosh, [1.0], [INF]),
        (aes.mean, [1.0, 2.0], [0.5, 0.5]),
        (aes.real, [2.0], [1]),
        (aes.imag, [2.0], [0]),
        (aes.angle, [-2.0], [0]),
    ],
)
def test_values_at_special_points(op, values, expected):
    assert_close(gradients(op, *values), expected)


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        (aes.sigmoid, -800.0, 0),
        (aes.sigmoid, 800.0, 0),
        (aes.softplus, -50.0, 1.928749847963918e-22),
        (aes.softplus, 800.0, 1),
        (aes.softplus, -INF, 0),
        (aes.softplus, INF, 1),
        (aes.tanh, 1000.0, 0),
        (aes.tanh, -INF, 0),
        (aes.log1mexp, -1e-3, -999.5000833333332),
        (aes.log1mexp, -800.0, 0),
        (aes.log1mexp, -1e-300, -1e300),
        (aes.log1mexp, 0.0, -INF),
        (aes.log1mexp, -0.0, -INF),
        (aes.expm1, -40.0, 4.248354255291589e-18),
        (aes.log1p, 1e-20, 1),
        (aes.erfc, 20.0, -2 / np.sqrt(np.pi) * np.exp(-400)),
        (aes.arcsin, 1 - 2.0**-53, 67108864.00000001),
        (aes.arccosh, 1e200, 1e-200),
    ],
)
def test_stable_at_extremes(op, x, expected):
    np.testing.assert_allclose(gradients(op, x), [expected], rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        (aes.sigmoid, -1000.0, 0),
        (aes.sigmoid, -INF, 0),
        (aes.sigmoid, INF, 1),
        (aes.sigmoid, -40.0, 4.248354255291589e-18),
        (aes.softplus, 1000.0, 1000),
        (aes.softplus, -50.0, 1.928749847963918e-22),
        (aes.softplus, -INF, 0),
        (aes.softplus, INF, INF),
        (aes.log1mexp, -1e-300, -690.7755278982137),
        (aes.log1mexp, -50.0, -1.928749847963918e-22),
        (aes.log1mexp, 0.0, -INF),
        (aes.log1mexp, -INF, 0),
    ],
)
def test_values_at_extremes(op, x, expected):
    x = np.float64(x)
    np.testing.assert_allclose(op.impl(x), expected, rtol=1e-14)
    variable = float64()
    decomposed = Composite([variable], op.decomposition(variable))
    np.testing.assert_allclose(decomposed.impl(x), expected, rtol=1e-14)


def test_constant_exponent():
    """A constant exponent is known when the gradient is built."""
    x = float64("x")
    for exponent, expected in ((0.0, 0), (1.0, 1), (2, 0), (0.5, INF)):
        power = aes.pow(x, exponent)
        (term, _) = power.owner.op.L_op(power.owner.inputs, [power], [aes.constant(1.0, dtype="float64")])
        assert Composite([x], [term]).impl(np.float64(0)) == expected
        assert not any(isinstance(node.op, aes.Switch) for node in Composite([x], [term])._order)


@pytest.mark.parametrize(
    ("op", "values", "dtypes", "expected"),
    [
        (aes.exp, [np.int8(2)], ["float32"], [np.exp(2)]),
        (aes.mul, [np.int8(2), np.float64(1.5)], ["float64", "float64"], [1.5, 2]),
        (aes.mul, [np.float16(2), np.float32(3)], ["float16", "float32"], [3, 2]),
        (aes.mul, [np.int8(2), np.int8(3)], ["float64", "float64"], [0, 0]),
        (aes.true_divide, [np.int8(2), np.int8(4)], ["float64", "float64"], [0.25, -0.125]),
        (
            aes.pow,
            [np.int8(2), np.float64(1.5)],
            ["float64", "float64"],
            [2.121320343559643, 1.9605162923242705],
        ),
        (aes.arctan2, [np.int8(100), np.int8(100)], ["float32", "float32"], [0.005, -0.005]),
        (aes.reciprocal, [np.int8(2)], ["float32"], [-0.25]),
        (aes.lt, [np.float32(1), np.int8(2)], ["float32", "float64"], [0, 0]),
        (aes.cast(float32(), "float64").owner.op, [np.float32(2)], ["float32"], [1]),
        (aes.convert_to_int32, [np.float32(2)], ["float32"], [0]),
        (aes.switch, [np.int8(1), np.int8(3), np.float64(2)], ["float64"] * 3, [0, 1, 0]),
    ],
)
def test_dtypes(op, values, dtypes, expected):
    """Discrete inputs count as real numbers; discrete outputs have zero gradients."""
    with config.change_flags(floatX="float64"):
        results = gradients(op, *values)
    assert [result.dtype for result in results] == dtypes
    np.testing.assert_allclose(results, expected, rtol=1e-6)


def test_neither_cast_policy_nor_floatX_changes_the_dtype_inside():
    for policy in ("custom", "numpy+floatX"):
        for floatX in ("float32", "float64"):
            with config.change_flags(cast_policy=policy, floatX=floatX):
                for op in (
                    aes.exp2,
                    aes.sqrt,
                    aes.log1p,
                    aes.softplus,
                    aes.arcsin,
                    aes.erf,
                    aes.log10,
                    aes.tan,
                ):
                    graph = scalar_gradient_graph(op, [float32])
                    stack = [graph.grads[0]]
                    while stack:
                        variable = stack.pop()
                        assert variable.type.dtype == "float32", (op, policy, floatX)
                        stack.extend(variable.owner.inputs if variable.owner else ())


def test_second_is_disconnected_from_its_first_input():
    graph = scalar_gradient_graph(aes.second, [float64, float64])
    assert isinstance(graph.grads[0].type, DisconnectedType)
    assert graph.grads[1] is graph.output_grads[0]
    assert aes.second.connection_pattern(None) == [[False], [True]]


def test_missing_derivatives_say_so():
    graph = scalar_gradient_graph(aes.jv, [float64, float64])
    assert isinstance(graph.grads[0].type, NullType)
    assert "jv" in graph.grads[0].type.why_null
    by_parameter, by_argument = scalar_gradient_graph(aes.gammainc_der, [float64, float64]).grads
    assert isinstance(by_parameter.type, NullType) and "gammainc_der" in by_parameter.type.why_null
    assert by_argument.type == float64

    class WithoutGradient(aes.UnaryScalarOp):
        dtype = aes.upgrade_to_float
        numpy = np.cbrt

    with pytest.raises(MethodNotDefined, match="grad"):
        scalar_gradient_graph(WithoutGradient(), [float64])


def test_the_gradient_graph_is_cached_and_uses_the_outputs():
    graph = scalar_gradient_graph(aes.exp, [float64])
    assert scalar_gradient_graph(aes.exp, (float64,)) is graph
    assert scalar_gradient_graph(aes.Exp(), [float64]) is graph
    assert graph.grads[0].owner.inputs == [graph.output_grads[0], graph.outputs[0]]
    assert all(leaf.owner is None for leaf in (*graph.inputs, *graph.outputs, *graph.output_grads))
    with config.change_flags(floatX="float32"):
        assert scalar_gradient_graph(aes.lt, [int8, int8]).output_grads[0].dtype == "float32"


class OldStyle(UnaryScalarOp):
    """The older protocol: `impl` on numbers, `grad`, and a rule given to the constructor."""

    def impl(self, x):
        return x**3 if x > 0 else 0

    def grad(self, inputs, output_gradients):
        (x,) = inputs
        (g,) = output_gradients
        return [g * 3 * x * x]


class Sine(aes.Sin):
    """An op that overrides what it inherits."""

    def impl(self, x):
        return np.sin(x) + 1


def test_ops_in_the_older_protocol():
    op = OldStyle(aes.upgrade_to_float, name="old")
    x = float64("x")
    assert str(op(x)) == "old.0"
    (result,) = op.evaluate([np.array([-1.0, 2.0])], [float64], [float64])
    np.testing.assert_array_equal(result, [0, 8])
    assert result.dtype == "float64"
    assert gradients(op, 2.0) == (12,)
    assert op == OldStyle(aes.upgrade_to_float)
    with pytest.raises(NotImplementedError, match="states no rule"):
        OldStyle()(x)
    with pytest.raises(TypeError, match="output_types_preference"):
        OldStyle("float64")


class Split(UnaryScalarOp):
    """A whole number and the rest, in the older protocol."""

    nout = 2

    def make_node(self, x):
        return Apply(self, [x], [aes.int64(), x.type()])

    def impl(self, x):
        return np.int64(np.floor(x)), x - np.floor(x)

    def grad(self, inputs, output_gradients):
        return [output_gradients[1] * 3]


@pytest.mark.parametrize("first", [aes.int64, float64])
def test_only_ops_all_of_whose_outputs_are_discrete_have_no_slope(first):
    x, g = float64("x"), float64("g")
    node = Split().make_node(x)
    (term,) = node.op.L_op([x], node.outputs, [first(), g])
    assert term.owner.inputs[0] is g and term.eval({g: 2.0}) == 6
    assert aes.floor.L_op([x], [aes.int64()], [g])[0].data == 0


def test_a_declaration_overrules_what_is_inherited():
    op = Sine(name="shifted")
    assert op.native is None
    assert op.nfunc_spec is None
    assert op.numpy is None
    assert op.evaluate([np.zeros(2)], [float64], [float64])[0].tolist() == [1, 1]
    assert op != aes.sin
    assert aes.sin.native is not None


def test_an_op_without_reference_says_so():
    class Nothing(ScalarOp):
        """Declares no value."""

        dtype = aes.upcast_out

    with pytest.raises(MethodNotDefined, match="impl"):
        Nothing().impl(1.0)
    with pytest.raises(MethodNotDefined, match="grad"):
        Nothing().grad([float64()], [float64()])


@pytest.mark.parametrize("name", ["mean", "gt", "identity"])
def test_gradients_that_are_constant_are_functions_of_the_inputs(name):
    x, y = float64("x"), float64("y")
    cost = getattr(aes, name)(*([x] if name == "identity" else [x, y]))
    inputs = list(cost.owner.inputs)
    gradients = aesara.grad(cost, inputs)
    f = aesara.function(inputs, gradients)  # no input is unused
    expected = {"mean": [0.5, 0.5], "gt": [0.0, 0.0], "identity": [1.0]}[name]
    assert f(*[3.0, 5.0][: len(inputs)]) == expected


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_the_mean_of_nothing_is_zero(mode):
    assert aesara.function([], aes.mean(), mode=mode)() == 0.0
    with pytest.raises(TypeError, match="at least one input"):
        aes.add()


def test_zero_gradient():
    assert zero_gradient(float32()).dtype == "float32"
    with config.change_flags(floatX="float32"):
        assert zero_gradient(int8()).dtype == "float32"
    assert aes.exp.grad([float64("x")], [float64("g")])[0].dtype == "float64"


def test_what_selects_keeps_its_dtype_in_a_gradient():
    """The other operands have the dtype of the result, as they have in the op."""
    seen = []

    class Choice(aes.basic.Switch):
        def pullback(self, *arguments):
            seen.append([v.type.dtype for v in arguments])
            return super().pullback(*arguments)

    choice = Choice(name="choice")
    operands = [get_scalar_type(dtype)() for dtype in ("int8", "float32", "float64")]
    gradients = choice.L_op(operands, [choice(*operands)], [float64()])
    assert seen == [["int8", "float64", "float64", "float64", "float64"]]
    assert [g.type.dtype for g in gradients[1:]] == ["float32", "float64"]
