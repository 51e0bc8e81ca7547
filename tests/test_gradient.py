"""Gradients: values against NumPy, and what is said where there is no gradient."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile import UnusedInputError
from aesara.gradient import (
    DisconnectedInputError,
    DisconnectedType,
    GradientError,
    Lop,
    NullTypeGradError,
    Rop,
    as_list_or_tuple,
    consider_constant_,
    disconnected_grad,
    disconnected_type,
    grad,
    grad_clip,
    grad_not_implemented,
    grad_scale,
    grad_undefined,
    hessian,
    jacobian,
    mode_not_slow,
    numeric_grad,
    subgraph_grad,
    undefined_grad,
    verify_grad,
    zero_grad,
)
from aesara.graph.basic import Apply
from aesara.graph.null_type import NullType
from aesara.graph.op import Op

sys.path.insert(0, str(Path(__file__).parent))
from counting import calls_in

from tests.closeness import assert_close


def evaluate(outputs, values):
    """Values of `outputs` for ``{variable: value}``, by the reference; rewritten native code must agree."""
    options = {"on_unused_input": "ignore"}
    reference = aesara.function(list(values), outputs, mode="FAST_COMPILE", **options)(*values.values())
    native = aesara.function(list(values), outputs, **options)(*values.values())
    for a, b in zip(reference, native) if isinstance(outputs, list | tuple) else [(reference, native)]:
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12)
        assert np.asarray(a).dtype == np.asarray(b).dtype
    return reference


class Reciprocal(Op):
    """An op of the test's own, whose gradient is what `terms` makes of the inputs and output gradients."""

    __props__ = ("terms",)

    def __init__(self, terms=lambda op, inputs, g: [-g[0] / inputs[0] ** 2]):
        self.terms = terms

    def make_node(self, x):
        x = at.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(1 / inputs[0])

    def grad(self, inputs, output_gradients):
        return self.terms(self, inputs, output_gradients)


class SumAndLength(Op):
    """Two outputs, the second of which is not connected to the values of the input."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [at.dscalar(), at.dscalar()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(inputs[0].sum())
        output_storage[1][0] = np.asarray(float(inputs[0].size))

    def connection_pattern(self, node):
        return [[True, False]]

    def L_op(self, inputs, outputs, output_gradients):
        total, length = output_gradients
        assert isinstance(length.type, DisconnectedType)
        return [at.ones_like(inputs[0]) * total]


x, y = at.dscalar("x"), at.dscalar("y")
v, w = at.dvector("v"), at.dvector("w")
m = at.dmatrix("m")
i, k = at.iscalar("i"), at.ivector("k")
POINT = np.array([0.3, -1.2, 2.0])


class TestValues:
    def test_polynomial(self):
        assert evaluate(grad(x**3 - 2 * x, x), {x: 2.0}) == pytest.approx(10.0, rel=1e-12)

    def test_several_uses_are_added(self):
        cost = sum(x * (n + 1) for n in range(70))
        assert evaluate(grad(cost, x), {x: 2.0}) == 70 * 71 / 2

    def test_many_uses_give_few_nodes(self):
        gradient = grad(sum(at.exp(v).sum() for _ in range(20)), v)
        sums = [
            node
            for node in aesara.graph.basic.io_toposort([v], [gradient])
            if isinstance(getattr(node.op, "scalar_op", None), aesara.scalar.Add) and len(node.inputs) == 20
        ]
        assert len(sums) == 1

    def test_elementwise_and_reduction(self):
        cost = (at.exp(v) * at.tanh(w)).sum()
        other = np.array([1.0, 2.0, -3.0])
        d_v, d_w = evaluate(grad(cost, [v, w]), {v: POINT, w: other})
        assert_close(d_v, np.exp(POINT) * np.tanh(other))
        assert_close(d_w, np.exp(POINT) / np.cosh(other) ** 2)

    def test_broadcast_dimensions_are_summed(self):
        d_m, d_v, d_x = evaluate(grad((m * v + x).sum(), [m, v, x]), {m: np.ones((2, 3)), v: POINT, x: 1.0})
        assert_close(d_m, np.broadcast_to(POINT, (2, 3)))
        assert_close(d_v, [2, 2, 2])
        assert d_x == 6

    def test_matrix_product(self):
        a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
        n = at.dmatrix("n")
        d_m, d_n = evaluate(grad((m @ n).sum(), [m, n]), {m: a, n: b})
        assert_close(d_m, np.ones((2, 4)) @ b.T)
        assert_close(d_n, a.T @ np.ones((2, 4)))

    def test_gather_scatters_back(self):
        index = np.array([0, 2, 2, 2])
        gradient = grad((v[index] * np.arange(1.0, 5.0)).sum(), v)
        assert_close(evaluate(gradient, {v: POINT}), [1, 0, 2 + 3 + 4])

    def test_empty_array(self):
        assert evaluate(grad((v**2).sum(), v), {v: np.empty(0)}).shape == (0,)

    def test_second_derivative(self):
        assert evaluate(grad(grad(at.sin(x), x), x), {x: 0.7}) == pytest.approx(-np.sin(0.7), rel=1e-12)

    def test_with_respect_to_intermediate_variables(self):
        middle = x**2
        d_middle, d_x = evaluate(grad(middle * x, [middle, x]), {x: 3.0})
        assert (d_middle, d_x) == (3.0, 27.0)

    def test_float32_stays_float32(self):
        z = at.fvector("z")
        gradient = grad((at.cast(z, "float64") * v).sum(), z)
        assert gradient.dtype == "float32"
        ones = np.ones(3, "float32")
        np.testing.assert_array_equal(evaluate(gradient, {z: ones, v: POINT}), POINT.astype("float32"))

    def test_cost_itself(self):
        assert evaluate(grad(x, x), {x: 5.0}) == 1.0


class TestForms:
    def test_list_tuple_and_single(self):
        assert isinstance(grad(x * y, [x]), list)
        assert isinstance(grad(x * y, (x, y)), tuple)
        assert grad(x * y, x).type == x.type
        assert grad(x * y, []) == []

    def test_names(self):
        cost = x**2
        assert grad(cost, x).name is None
        cost.name = "cost"
        assert grad(cost, x).name == "(dcost/dx)"
        assert grad(cost, x, add_names=False).name is None

    def test_as_list_or_tuple(self):
        assert as_list_or_tuple(True, False, x) == [x]
        assert as_list_or_tuple(False, True, [x]) == (x,)
        assert as_list_or_tuple(False, False, [x]) is x
        with pytest.raises(ValueError, match="Both flags"):
            as_list_or_tuple(True, True, x)

    def test_known_grads(self):
        middle = x**2
        g = at.dscalar("g")
        assert evaluate(grad(None, x, known_grads={middle: g}), {x: 3.0, g: 10.0}) == 60.0
        # A known gradient takes the place of what flows from the cost.
        assert evaluate(grad(middle * y + x, x, known_grads={middle: g}), {x: 3.0, y: 7.0, g: 10.0}) == 61.0

    def test_consider_constant(self):
        middle = x**2
        assert evaluate(grad(middle * x, x, consider_constant=[middle]), {x: 3.0}) == 9.0
        assert evaluate(grad(middle * x, middle, consider_constant=[middle]), {x: 3.0}) == 3.0
        with pytest.raises(TypeError, match="consider_constant"):
            grad(middle, x, consider_constant=middle)


class TestIntegers:
    def test_gradients_are_floating_point(self):
        gradient = grad((k * x).sum(), k)
        assert gradient.dtype == "float64"
        assert evaluate(gradient, {k: np.array([1, 2], "int32"), x: 3.0}).shape == (2,)

    def test_integer_cost_is_constant(self):
        gradient = grad(at.cast(x, "int64") * 3, x)
        assert gradient.dtype == "float64"
        assert evaluate(gradient, {x: 2.5}) == 0.0

    @pytest.mark.parametrize("function", [at.floor, at.ceil, at.round, at.sgn])
    def test_piecewise_constant(self, function):
        assert evaluate(grad(function(x) * x, x), {x: 2.3}) == pytest.approx(function(2.3).eval(), rel=1e-12)

    def test_nothing_flows_through_integer_outputs(self):
        class Truncate(Reciprocal):
            def make_node(self, x):
                return Apply(self, [x], [at.lscalar()])

        cost = at.cast(Truncate(lambda op, inputs, g: [inputs[0] * 5.0])(x), "float64") * x
        gradient = grad(cost, x, consider_constant=[])
        assert "Truncate" in aesara.dprint(gradient, file="str")
        zero = grad(at.cast(Truncate(lambda op, inputs, g: [inputs[0] * 5.0])(x), "float64"), x)
        assert evaluate(zero, {x: 2.0}) == 0.0

    def test_argmax(self):
        gradient = grad(at.cast(at.argmax(v), "float64") + v.sum(), v)
        np.testing.assert_array_equal(evaluate(gradient, {v: POINT}), np.ones(3))


class TestErrors:
    def test_cost_must_be_scalar(self):
        with pytest.raises(TypeError, match="Cost must be a scalar"):
            grad(v, v)

    def test_cost_and_wrt_must_be_variables(self):
        with pytest.raises(TypeError, match="Expected Variable as `cost`"):
            grad(3.0, x)
        with pytest.raises(TypeError, match="Expected Variable in `wrt`"):
            grad(x, [3.0])
        with pytest.raises(TypeError, match="`wrt` must be"):
            grad(x, {x})

    def test_nothing_to_differentiate(self):
        with pytest.raises(ValueError, match="can't both be None"):
            grad(None, x)

    def test_nan_cost(self):
        with pytest.raises(ValueError, match=r"NaN cost.*because of a reason"):
            grad(NullType("of a reason")(), x)

    @pytest.mark.parametrize("keyword", ["disconnected_inputs", "return_disconnected", "null_gradients"])
    def test_bad_choices(self, keyword):
        with pytest.raises(ValueError, match=f"Invalid value for keyword '{keyword}'"):
            grad(x, x, **{keyword: "maybe"})

    def test_a_cost_can_be_said_to_be_disconnected(self):
        x, y = at.iscalars("x", "y")
        cost = x + y
        with pytest.raises(DisconnectedInputError):
            grad(cost, [x, y], known_grads={cost: disconnected_type()})

    def test_bad_known_grads(self):
        middle = x**2
        with pytest.raises(TypeError, match="output grads must be aesara variables"):
            grad(None, x, known_grads={middle: 1.0})
        with pytest.raises(TypeError, match="must always be NullType, DisconnectedType, or continuous"):
            grad(None, x, known_grads={middle: i})
        with pytest.raises(ValueError, match="dimensions"):
            grad(None, x, known_grads={middle: v})

    @pytest.mark.parametrize(
        ("terms", "error", "message"),
        [
            (lambda op, inputs, g: [None], TypeError, "returned None for a gradient term"),
            (lambda op, inputs, g: [2.0], TypeError, "returned 2.0 of type float"),
            (lambda op, inputs, g: [g[0], g[0]], ValueError, "wrong number of gradient terms"),
            (
                lambda op, inputs, g: [at.constant(1)],
                TypeError,
                "illegally returned an integer-valued variable",
            ),
            (lambda op, inputs, g: [v], ValueError, "a term with 1 dimensions, but 0 are required"),
        ],
    )
    def test_ops_with_wrong_gradients(self, terms, error, message):
        with pytest.raises(error, match=message):
            grad(Reciprocal(terms)(x), x)

    @pytest.mark.parametrize("pattern", [[], [[True]], [[True, True], [True, True]]])
    def test_wrong_connection_pattern(self, pattern):
        class Wrong(SumAndLength):
            def connection_pattern(self, node):
                return pattern

        with pytest.raises(ValueError, match="connection_pattern must have one row"):
            grad(Wrong()(v)[0], v)

    def test_op_without_gradient(self):
        class Opaque(Op):
            __props__ = ()

            def make_node(self, x):
                return Apply(self, [x], [x.type()])

            def perform(self, node, inputs, output_storage):
                output_storage[0][0] = inputs[0]

        with pytest.raises(NotImplementedError):
            grad(Opaque()(x), x)


class TestDisconnected:
    def test_raise_is_the_default(self):
        with pytest.raises(DisconnectedInputError, match=r"not part of the computational graph.*: v "):
            grad(x, v)
        assert issubclass(DisconnectedInputError, ValueError)

    def test_the_message_names_the_line(self):
        middle = v * 2
        with pytest.raises(DisconnectedInputError, match=r"test_gradient\.py:\d+"):
            grad(x, middle)

    def test_warn(self):
        with pytest.warns(UserWarning, match="not part of the computational graph"):
            gradient = grad(x, v, disconnected_inputs="warn")
        np.testing.assert_array_equal(evaluate(gradient, {v: POINT}), np.zeros(3))

    def test_ignore(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gradient = grad(x, v, disconnected_inputs="ignore")
        np.testing.assert_array_equal(evaluate(gradient, {v: POINT}), np.zeros(3))
        assert grad(x, v, disconnected_inputs="ignore", return_disconnected="none") is None
        kept = grad(x, v, disconnected_inputs="ignore", return_disconnected="disconnected")
        assert isinstance(kept.type, DisconnectedType)

    def test_integer_zeros_are_floats(self):
        assert grad(x, k, disconnected_inputs="ignore").dtype == "float64"

    def test_shape_is_disconnected(self):
        with pytest.raises(DisconnectedInputError):
            grad(at.cast(v.shape[0], "float64") * x, v)
        assert_close(evaluate(grad((v.shape[0] * v).sum(), v), {v: POINT}), [3, 3, 3])

    def test_index_is_disconnected(self):
        with pytest.raises(DisconnectedInputError):
            grad(v[i], i)

    def test_connection_pattern(self):
        total, length = SumAndLength()(v)
        np.testing.assert_array_equal(evaluate(grad(total * length, v), {v: POINT}), [3, 3, 3])
        with pytest.raises(DisconnectedInputError):
            grad(length, v)

    def test_op_that_returns_disconnected(self):
        cost = Reciprocal(lambda op, inputs, g: [disconnected_type()])(x)
        with pytest.raises(DisconnectedInputError):
            grad(cost, x)
        assert evaluate(grad(cost * x, x), {x: 4.0}) == 0.25


def test_older_spelling_of_none():
    cost, other = (x**2).sum(), at.dscalar()
    assert grad(cost, other, disconnected_inputs="ignore", return_disconnected="None") is None
    assert Rop(cost, other, other, disconnected_outputs="ignore", return_disconnected="None") is None


class TestNull:
    @pytest.mark.parametrize(("make", "word"), [(grad_undefined, "undefined"), (grad_not_implemented, "implemented")])
    def test_raise(self, make, word):
        cost = Reciprocal(lambda op, inputs, g: [make(op, 0, inputs[0], "Use another one.")])(x)
        with pytest.raises(NullTypeGradError, match=f"{word}.*Use another one."):
            grad(cost, x)
        # Added to something that exists it still does not exist.
        with pytest.raises(NullTypeGradError):
            grad(cost + x, x)

    def test_return(self):
        cost = Reciprocal(lambda op, inputs, g: [grad_undefined(op, 0, inputs[0])])(x**2)
        gradient = grad(cost, x, null_gradients="return")
        assert isinstance(gradient.type, NullType)
        assert isinstance(grad(cost + x, x, null_gradients="return").type, NullType)

    def test_only_what_was_asked_for_matters(self):
        cost = Reciprocal(lambda op, inputs, g: [grad_undefined(op, 0, inputs[0])])(x) * y
        assert evaluate(grad(cost, y), {x: 4.0, y: 1.0}) == 0.25


class TestOperators:
    """Operators that are the identity in the forward direction."""

    @pytest.mark.parametrize(
        ("operator", "expected"),
        [
            (zero_grad, 3.0),
            (disconnected_grad, 3.0),
            (consider_constant_, 3.0),
            (lambda z: grad_clip(z, -1, 1), 3.0 + 1.0),
            (lambda z: grad_clip(z, 5, 10), 3.0 + 5.0),
            (lambda z: grad_scale(z, -2), 3.0 - 6.0),
        ],
    )
    def test_gradient(self, operator, expected):
        z = operator(x)
        assert evaluate(z, {x: 3.0}) == 3.0
        assert evaluate(grad(z * x, x), {x: 3.0}) == expected

    def test_zero_is_connected_and_disconnected_is_not(self):
        assert evaluate(grad(zero_grad(x), x), {x: 3.0}) == 0.0
        with pytest.raises(DisconnectedInputError):
            grad(disconnected_grad(x), x)

    def test_undefined(self):
        with pytest.raises(NullTypeGradError):
            grad(undefined_grad(x), x)

    def test_consider_constant_is_deprecated(self):
        with pytest.warns(DeprecationWarning, match="zero_grad"):
            z = aesara.gradient.consider_constant(x)
        assert evaluate(grad(z * x, x), {x: 3.0}) == 3.0

    def test_clip_bounds(self):
        with pytest.raises(ValueError, match="should be >="):
            grad_clip(x, 1, -1)

    def test_in_compiled_functions(self):
        f = aesara.function([x], [grad_clip(x, -1, 1) ** 2, grad(grad_clip(x, -1, 1) ** 2, x)])
        assert [float(value) for value in f(2.0)] == [4.0, 1.0]


A = np.array([[1.0, 2.0, 0.5], [-1.0, 0.0, 3.0]])


@pytest.mark.parametrize(
    "of",
    [
        lambda x, W: at.dot(x, W),
        lambda x, W: at.tensordot(W, x, 1),
        lambda x, W: W.T + x.sum() * 0,
        lambda x, W: at.concatenate([W, W]).sum(axis=0) * x,
        lambda x, W: at.set_subtensor(W[0], x),
    ],
)
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_functions_of_tangents_take_what_was_differentiated(of, mode):
    """A linear function's tangent does not need the variable any more, yet it is an input of it."""
    W, V, x = at.dmatrix("W"), at.dmatrix("V"), at.dvector("x")
    ones, twos, point = np.ones((2, 2)), np.full((2, 2), 2.0), np.array([0.0, 1.0])
    y = of(x, W)
    f = aesara.function([W, V, x], Rop(y, W, V) * 1, mode=mode)
    step = 1e-3
    numeric = (y.eval({W: ones + step * twos, x: point}) - y.eval({W: ones, x: point})) / step
    np.testing.assert_allclose(f(ones, twos, point), numeric, rtol=1e-9, atol=1e-12)
    with pytest.raises(UnusedInputError):
        aesara.function([W, V, x, at.dvector("other")], Rop(y, W, V), mode=mode)
    assert Rop(W, W, V) is V  # which tells nothing of W
    with pytest.raises(UnusedInputError):
        aesara.function([W, V, x], V.sum() + x.sum(), mode=mode)


class WithoutGradient(Op):
    """Says that the gradient of its first input does not exist, and of its second one that it is the given one."""

    __props__ = ()

    def make_node(self, a, b):
        return Apply(self, [a, b], [b.type()])

    def L_op(self, inputs, outputs, output_grads):
        return [grad_not_implemented(self, 0, inputs[0]), output_grads[0]]


class Plus(Op):
    """Has no `R_op`, and one gradient for both inputs."""

    __props__ = ()

    def make_node(self, a, b):
        return Apply(self, [a, b], [b.type()])

    def L_op(self, inputs, outputs, output_grads):
        return [output_grads[0], output_grads[0]]


class TestLopRop:
    def test_what_has_no_gradient_has_no_change_along_a_direction(self):
        x, y, u = at.dvectors("x", "y", "u")
        out = WithoutGradient()(x, y)
        assert evaluate(Rop(out, y, u), {u: POINT}).tolist() == POINT.tolist()
        with pytest.raises(NullTypeGradError):
            Rop(out, x, u)

    def test_inputs_with_one_and_the_same_gradient(self):
        x, y, u, t = at.dvectors("x", "y", "u", "t")
        changes = [Rop(Plus()(x, y), [x, y], [u, t]), Rop(Plus()(x, y), [x], [u]), Rop(Plus()(x, y), [y], [t])]
        given = {u: POINT, t: 2 * POINT}
        for change, factor in zip(changes, (3, 1, 2)):
            assert evaluate(change, given).tolist() == (factor * POINT).tolist()

    def test_a_function_that_stands_twice(self):
        square = v**2
        assert_close(evaluate(Lop([square, square], v, [w, 2 * w]), {v: POINT, w: np.ones(3)}), 6 * POINT)

    def test_gradients_have_the_dtype_that_they_are_given_in(self):
        x, g = at.fvectors("x", "g")
        assert Lop(x * 2, x, g).type.dtype == "float32"
        assert Lop(v * 2, v, at.lvector()).type.dtype == "float64"

    def test_what_is_done_about_disconnected_inputs(self):
        with pytest.raises(ValueError, match="disconnected_inputs"):
            Lop(v * 2, v, w, disconnected_inputs="never mind")
        for call in (
            lambda: grad(v.sum(), [w], disconnected_inputs="warn"),
            lambda: Lop(v * 2, w, v, disconnected_inputs="warn"),
            lambda: Rop(v * 2, w, w, disconnected_outputs="warn"),
        ):
            with pytest.warns(UserWarning, match="not part of the computational graph|depends on none of") as caught:
                call()
            assert caught[0].filename == __file__

    @pytest.mark.parametrize("wrong", ["text", {"x": 1}, {1}, iter([1]), range(3)], ids=type)
    def test_one_variable_or_a_list_of_them_is_wanted(self, wrong):
        for call in (lambda: Lop(wrong, v, w), lambda: Lop(v * 2, wrong, w), lambda: Lop(v * 2, v, wrong)):
            with pytest.raises(TypeError, match="must be a variable, or a list or tuple of variables; got a"):
                call()

    def test_only_variables_are_differentiated_and_only_by_variables(self):
        for call, name in ((lambda: Lop([1.0], v, [w]), "f"), (lambda: Lop(v * 2, [1.0], w), "wrt")):
            with pytest.raises(TypeError, match=f"Expected Variable in `{name}`, got 1.0"):
                call()

    def test_scalars_have_no_dimensions_to_compare(self):
        a, b = aesara.scalar.float64("a"), aesara.scalar.float64("b")
        assert Lop(a * 3.0, a, b).type == a.type

    def test_a_variable_made_at_no_known_place(self):
        x = at.dvector("x")
        made = at.exp(x)
        made.owner._source = None
        with pytest.raises(DisconnectedInputError) as caught:
            grad(x.sum(), made)
        assert "It was made at" not in str(caught.value)
        with pytest.raises(DisconnectedInputError, match="It was made at .*test_gradient.py:"):
            grad(x.sum(), at.exp(x))

    def test_lop(self):
        u = at.dvector("u")
        value = evaluate(Lop(at.dot(A, v**2), v, u), {v: POINT, u: np.array([1.0, -2.0])})
        assert_close(value, np.array([1.0, -2.0]) @ (A * 2 * POINT))

    def test_lop_of_several(self):
        u, t = at.dvectors("u", "t")
        square = v**2
        # The second function is a function of the first one: both count.
        value = evaluate(Lop([square, square * v], v, [u, t]), {v: POINT, u: np.ones(3), t: np.ones(3)})
        assert_close(value, 2 * POINT + 3 * POINT**2)
        assert isinstance(Lop([square], (v,), [u]), tuple)

    def test_rop(self):
        u = at.dvector("u")
        direction = np.array([1.0, -2.0, 0.5])
        value = evaluate(Rop(at.dot(A, at.exp(v)), v, u), {v: POINT, u: direction})
        assert_close(value, (A * np.exp(POINT)) @ direction)

    def test_rop_looks_at_the_dimensions_of_points_first(self):
        with pytest.raises(ValueError, match="mismatched dimensionalities"):
            aesara.Rop(0.0, [at.dmatrix()], [at.dvector()])

    def test_rop_takes_values(self):
        value = evaluate(Rop((v**2).sum(), v, np.array([1.0, 0.0, 2.0])), {v: POINT})
        assert_close(value, 2 * POINT[0] + 4 * POINT[2])

    def test_rop_without_R_op(self):
        # Its L_op uses its gradient twice, and the second time not directly.
        double = Reciprocal(lambda op, inputs, g: [-g[0] / inputs[0] ** 2])
        value = evaluate(Rop(at.sin(double(v)), v, w), {v: POINT, w: np.ones(3)})
        assert_close(value, -np.cos(1 / POINT) / POINT**2)

    def test_rop_without_R_op_and_several_inputs(self):
        class Muladd(Op):
            __props__ = ()

            def make_node(self, *inputs):
                return Apply(self, list(inputs), [inputs[0].type()])

            def perform(self, node, inputs, output_storage):
                output_storage[0][0] = inputs[0] + inputs[1] * inputs[2]

            def grad(self, inputs, output_gradients):
                (g,) = output_gradients
                return [g, g * inputs[2], g * inputs[1]]

        z = at.dvector("z")
        points = [at.dvector() for _ in range(3)]
        values = [np.random.default_rng(n).normal(size=3) for n in range(6)]
        _, b, c, da, db, dc = values
        value = evaluate(Rop(Muladd()(v, w, z), [v, w, z], points), dict(zip([v, w, z, *points], values)))
        assert_close(value, da + db * c + b * dc)

    def test_rop_form_and_errors(self):
        assert isinstance(Rop([v * 2], v, w), list)
        assert isinstance(Rop((v * 2,), [v], [w]), tuple)
        assert Rop(v, v, w) is w
        with pytest.raises(ValueError, match="same length"):
            Rop(v * 2, [v], [w, w])
        with pytest.raises(ValueError, match="mismatched dimensionalities: 1 and 0"):
            Rop(v * 2, v, x)
        with pytest.raises(ValueError, match="mismatched dimensionalities: 1 and 0"):
            Lop(v * 2, v, x)
        with pytest.raises(DisconnectedInputError):
            Rop(x * 2, v, w)
        assert evaluate(Rop(x * 2, v, w, disconnected_outputs="ignore"), {x: 1.0}) == 0.0
        assert Rop(x, v, w, disconnected_outputs="ignore", return_disconnected="none") is None

    def test_rop_of_what_is_constant_along_a_direction(self):
        for constant in (grad((v * 2).sum(), v), at.zeros_like(v) * v.shape[0]):
            assert evaluate(Rop(constant, v, w), {v: POINT, w: np.ones(3)}).tolist() == [0.0] * 3
        for by_integers in (at.cast(at.cast(v, "int64"), "float64"), at.ones(at.argmax(v))):
            with pytest.raises(DisconnectedInputError):
                Rop(by_integers, v, w)

    def test_rop_of_disconnected_operators(self):
        with pytest.raises(DisconnectedInputError):
            Rop(disconnected_grad(v), v, w)
        np.testing.assert_array_equal(evaluate(Rop(zero_grad(v), v, w), {v: POINT, w: POINT}), np.zeros(3))

    def test_rop_of_what_does_not_change(self):
        """The gradient of something linear needs the variables for their shapes only: its derivative is zero."""
        m = at.dmatrix("m")
        slope = grad((m @ v).sum(), v)
        got = evaluate(Rop([slope, v * 2], v, w), {m: np.ones((2, 3)), v: POINT, w: POINT})
        np.testing.assert_array_equal(got, [np.zeros(3), 2 * POINT])
        assert Rop(at.zeros_like(v), v, w, return_disconnected="none") is None
        for function in (at.ones(v.shape), at.ones_like(v.shape[0]) * x, at.floor(m).argmax(axis=0)):
            with pytest.raises(DisconnectedInputError):
                Rop(function, v, w)

    @pytest.mark.parametrize(
        "build",
        [
            lambda z: z[1:] * 2,
            lambda z: z.dimshuffle("x", 0).sum(axis=0),
            lambda z: at.concatenate([z, z**2]),
            lambda z: z.reshape((3, 1)) @ z.reshape((1, 3)),
            lambda z: at.set_subtensor(z[1:], at.exp(z[:2])),
            lambda z: at.inc_subtensor(z[np.array([0, 0, 1])], at.sin(z)),
            lambda z: at.special.softmax(z),
            lambda z: at.cumsum(z * z),
            lambda z: z.max() * z.prod() + z.mean(),
            lambda z: at.switch(at.gt(z, 0), z**3, at.abs(z)),
        ],
    )
    def test_rop_is_the_transpose_of_lop(self, build):
        z = at.dvector("z")
        out = build(z)
        t = out.type("t")
        s = at.dvector("s")
        rng = np.random.default_rng(3)
        direction = rng.normal(size=3)
        shape = np.shape(evaluate(out, {z: POINT}))
        cotangent = np.asarray(rng.normal(size=shape))
        forward = evaluate(Rop(out, z, s), {z: POINT, s: direction})
        backward = evaluate(Lop(out, z, t), {z: POINT, t: cotangent})
        np.testing.assert_allclose((forward * cotangent).sum(), (direction * backward).sum(), rtol=1e-10)


class TestJacobianHessian:
    def test_names_in_tensor(self):
        assert (at.jacobian, at.hessian, at.grad) == (jacobian, hessian, aesara.grad)
        assert at.consider_constant is aesara.gradient.consider_constant

    def test_jacobian(self):
        z = at.tensor("float64", shape=(3,), name="z")
        value = evaluate(jacobian(at.sin(z) * z[0], z), {z: POINT})
        expected = np.diag(np.cos(POINT) * POINT[0])
        expected[:, 0] += np.sin(POINT)
        assert_close(value, expected)

    def test_jacobian_forms(self):
        z = at.tensor("float64", shape=(2,), name="z")
        a, b = jacobian(x * z, [x, z])
        assert (a.ndim, b.ndim) == (1, 2)
        assert isinstance(jacobian(z, (z,)), tuple)
        assert evaluate(jacobian(x**2, x), {x: 3.0}) == 6.0

    def test_jacobian_of_a_matrix_argument(self):
        z = at.specify_shape(m @ np.array([1.0, 2.0]), (2,))
        value = evaluate(jacobian(z, m), {m: np.eye(2)})
        np.testing.assert_array_equal(value, [[[1, 2], [0, 0]], [[0, 0], [1, 2]]])

    def test_jacobian_errors(self):
        z = at.tensor("float64", shape=(2,), name="z")
        with pytest.raises(DisconnectedInputError):
            jacobian(z, x)

    def test_hessian(self):
        z = at.tensor("float64", shape=(3,), name="z")
        value = evaluate(hessian(z[0] * z[1] ** 2 + at.exp(z[2]), z), {z: POINT})
        a, b, c = POINT
        assert_close(value, [[0, 2 * b, 0], [2 * b, 2 * a, 0], [0, 0, np.exp(c)]], size=1.0)

    def test_hessian_of_linear_cost(self):
        z = at.tensor("float64", shape=(2,), name="z")
        np.testing.assert_array_equal(evaluate(hessian(z.sum(), z), {z: np.ones(2)}), np.zeros((2, 2)))

    def test_hessian_errors(self):
        with pytest.raises(ValueError, match="0 dimensional variable as `cost`"):
            hessian(v, v)
        with pytest.raises(ValueError, match="1 dimensional variable as `wrt`"):
            hessian(x**2, x)


def test_subgraph_grad():
    square = v**2
    cost = (square * v).sum()
    g = at.dvector("g")
    (d_v,), (d_square,) = subgraph_grad([v], [square], cost=cost)
    values = evaluate([d_v, d_square], {v: POINT})
    assert_close(values, [POINT**2, POINT])

    # The next part goes on from there; together they are the whole gradient.
    (rest,), _ = subgraph_grad([v], [], start={square: d_square})
    assert_close(evaluate(d_v + rest, {v: POINT}), 3 * POINT**2)

    both = subgraph_grad([v], [square], start={square * v: g}, cost=cost, details=True)
    assert [len(part) for part in both] == [1, 1, 2, 2]
    assert subgraph_grad([v], [square], cost=cost, details=True)[2] is None
    with pytest.raises(ValueError, match="`cost` or `start`"):
        subgraph_grad([v], [square])
    with pytest.raises(TypeError, match="`wrt` must be a list"):
        subgraph_grad(v, [square], cost=cost)


class TestFiniteDifferences:
    def test_numeric_grad(self):
        result = numeric_grad(lambda a, b: (a**2).sum() * b, [POINT, np.array(2.0)])
        np.testing.assert_allclose(result.gf[0], 4 * POINT, rtol=0, atol=1e-5)
        np.testing.assert_allclose(result.gf[1], (POINT**2).sum(), rtol=0, atol=1e-5)
        single = numeric_grad(lambda a: (a**2).sum(), POINT)
        assert isinstance(single.gf, np.ndarray)
        assert single.max_err(2 * POINT + [0, 0.5, 0], 1e-4, 1e-4)[:2] == (0, 1)
        with pytest.raises(ValueError, match="wrong number of elements"):
            result.max_err([POINT], 1e-4, 1e-4)
        assert numeric_grad.type_eps["float64"] == 1e-7

    def test_max_err_notices_nan(self):
        single = numeric_grad(lambda a: (a**2).sum(), POINT)
        assert single.max_err(np.array([np.nan, 0.0, 0.0]), 1e-4, 1e-4)[1] == 0

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_verify_grad(self, dtype):
        verify_grad(lambda a: at.exp(a).sum() * a, [POINT.astype(dtype)], rng=np.random.default_rng(0))
        verify_grad(lambda a: at.inplace.exp_inplace(a * 2), [POINT.astype(dtype)], rng=np.random.default_rng(0))

    def test_verify_grad_finds_errors(self):
        wrong = Reciprocal(lambda op, inputs, g: [-g[0] * 1.1 / inputs[0] ** 2])
        with pytest.raises(GradientError, match="analytic gradient exceed tolerance") as info:
            verify_grad(wrong, [POINT], rng=np.random.default_rng(0))
        assert info.value.shape == (3,)
        assert info.value.arg == 0
        assert info.value.val1 == pytest.approx(1.1 * info.value.val2, rel=1e-3)
        verify_grad(Reciprocal(), [POINT], rng=np.random.default_rng(0))

    def test_verify_grad_arguments(self):
        rng = np.random.default_rng(0)
        with pytest.raises(TypeError, match="list or tuple"):
            verify_grad(at.exp, POINT, rng=rng)
        with pytest.raises(TypeError, match='input 0 has dtype "int64"'):
            verify_grad(at.exp, [np.arange(3)], rng=rng)
        with pytest.raises(TypeError, match="rng should be"):
            verify_grad(at.exp, [POINT])
        with pytest.raises(NotImplementedError, match="multiple outputs"):
            verify_grad(lambda a: [a, a], [POINT], rng=rng)

    def test_mode_not_slow(self):
        assert mode_not_slow("FAST_COMPILE") is mode_not_slow("FAST_RUN")


class TestLargeGraphs:
    @pytest.mark.slow
    def test_deep_graph(self):
        def deep(length):
            z = x
            for _ in range(length):
                z = z + x
            return z

        assert grad(deep(100_000), x).type == x.type
        short, long = (calls_in(lambda z=deep(length): grad(z, x)) for length in (1_000, 4_000))
        assert long < 4.2 * short

    def test_nodes_inherit_the_line_of_their_forward_node(self):
        marked = at.exp(v)
        line = marked.owner.source
        cost = (marked * 2).sum()
        gradient = grad(cost, v)
        last = gradient.owner
        assert last.source == line
        assert last.source.filename == __file__


@pytest.mark.parametrize("spelling", ["none", "None", "NONE"])
def test_the_case_of_a_choice_does_not_matter(spelling):
    x, y = at.dscalars("x", "y")
    assert grad(x * 2, y, return_disconnected=spelling, disconnected_inputs="ignore") is None


def test_a_known_gradient_without_dimensions_is_that_of_all_entries():
    x = at.dvector("x")
    middle = x * x
    gradient = grad(None, x, known_grads={middle: at.constant(3.0)})
    np.testing.assert_array_equal(evaluate(gradient, {x: np.array([1.0, 2.0])}), [6.0, 12.0])
