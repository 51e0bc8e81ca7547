"""Copies, views, and operations made from Python functions."""

import copy
import pickle

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.ops import (
    DeepCopyOp,
    UpdatePlaceholder,
    ViewOp,
    as_op,
    deep_copy_op,
    register_deep_copy_op_c_code,
    register_view_op_c_code,
    update_placeholder,
    view_op,
)

MODES = ["FAST_COMPILE", "FAST_RUN"]


@as_op([at.dvector, at.dscalar], [at.dvector])
def scaled(x, factor):
    return x * factor


@as_op(at.dvector, [at.dvector, at.dscalar], infer_shape=lambda fgraph, node, shapes: [shapes[0], ()])
def reversed_and_sum(x):
    return x[::-1], x.sum()


@pytest.mark.parametrize("mode", MODES)
class TestAsOp:
    def test_values(self, mode):
        x, a = at.dvector("x"), at.dscalar("a")
        f = aesara.function([x, a], scaled(x + 1, a) + 1, mode=mode)
        assert f([1.0, 2.0], 3.0).tolist() == [7.0, 10.0]

    def test_several_outputs(self, mode):
        x = at.dvector("x")
        one, two = aesara.function([x], reversed_and_sum(x), mode=mode)([1.0, 2.0])
        assert one.tolist() == [2.0, 1.0] and two == 3.0

    def test_infer_shape(self, mode):
        x = at.dvector("x")
        f = aesara.function([x], reversed_and_sum(x)[0].shape, mode=mode)
        # FAST_COMPILE takes shapes from values, which shows mistakes that shapes alone would hide.
        computed = any(node.op is reversed_and_sum for node in f.maker.fgraph.apply_nodes)
        assert computed == (mode == "FAST_COMPILE")
        assert f([1.0, 2.0]).tolist() == [2]

    def test_wrong_result(self, mode):
        @as_op([at.dvector], [at.dvector])
        def wrong(x):
            return np.ones((2, 2))

        x = at.dvector("x")
        with pytest.raises(TypeError, match="FromFunctionOp{wrong}"):
            aesara.function([x], wrong(x) + 1, mode=mode)([1.0])

        @as_op([at.dvector], [at.dvector])
        def too_many(x):
            return x, x

        with pytest.raises(ValueError, match="returned 2 results; its operation has 1 outputs"):
            aesara.function([x], too_many(x) + 1, mode=mode)([1.0])


def test_as_op_arguments():
    with pytest.raises(TypeError, match="itypes"):
        as_op([3], [at.dvector])
    with pytest.raises(TypeError, match="callable"):
        as_op([at.dvector], [at.dvector], infer_shape=3)
    with pytest.raises(ValueError, match="takes 2 inputs, got 1"):
        scaled(at.dvector())
    with pytest.raises(TypeError, match="Input 0 of FromFunctionOp{scaled}"):
        scaled(at.dmatrix(), at.dscalar())


@as_op([at.dvector, at.dscalar, at.dvector], [at.dvector, at.dscalar])
def scaled_back(x, factor, gradient):
    return gradient * factor, np.asarray((gradient * x).sum())


@as_op([at.dvector, at.dscalar], [at.dvector], grad=scaled_back)
def scaled_with_op(x, factor):
    return x * factor


@as_op([at.dvector, at.dscalar], [at.dvector], grad=lambda inputs, g: [g[0] * inputs[1], (g[0] * inputs[0]).sum()])
def scaled_with_expression(x, factor):
    return x * factor


@pytest.mark.parametrize("mode", MODES)
class TestGradientOfAsOp:
    @pytest.mark.parametrize("op", [scaled_with_op, scaled_with_expression])
    def test_values(self, mode, op):
        x, a = at.dvector("x"), at.dscalar("a")
        f = aesara.function([x, a], aesara.grad((op(x, a) ** 2).sum(), [x, a]), mode=mode)
        slope, of_factor = f([1.0, 2.0], 3.0)
        assert slope.tolist() == [18.0, 36.0] and of_factor == 30.0

    def test_second_derivative(self, mode):
        x, a = at.dvector("x"), at.dscalar("a")
        gradient = aesara.grad((scaled_with_expression(x, a) ** 2).sum(), a)
        assert aesara.function([x, a], aesara.grad(gradient, a), mode=mode)([1.0, 2.0], 3.0) == 10

    @pytest.mark.parametrize("op", [scaled_with_op, scaled_with_expression])
    def test_jacobian(self, mode, op):
        x, a = at.dvector("x"), at.dscalar("a")
        rows = aesara.gradient.jacobian(op(x, a), x)
        assert aesara.function([x, a], rows, mode=mode)([1.0, 2.0], 3.0).tolist() == [[3, 0], [0, 3]]

    def test_results_that_are_not_used_have_zero_gradients(self, mode):
        @as_op([at.dvector], [at.dvector, at.dscalar], grad=lambda inputs, gradients: [gradients[0] + gradients[1]])
        def same_and_sum(x):
            return x, np.asarray(x.sum())

        x = at.dvector("x")
        for cost, want in ((same_and_sum(x)[0].sum(), 1), (same_and_sum(x)[1] * 2, 2)):
            assert aesara.function([x], aesara.grad(cost, x), mode=mode)([1.0, 2.0]).tolist() == [want, want]


def test_terms_of_gradients_of_as_op():
    x, n = at.dvector("x"), at.lscalar("n")
    make = as_op(
        [at.dvector, at.lscalar], [at.dvector], grad=lambda inputs, gradients: [gradients[0] * inputs[1], None]
    )
    op = make(lambda x, n: x * n)
    gradient, none = aesara.grad(op(x, n).sum(), [x, n], disconnected_inputs="ignore", return_disconnected="none")
    assert none is None and aesara.function([x, n], gradient)([1.0], 5).tolist() == [5]
    too_few = as_op([at.dvector, at.dvector], [at.dvector], grad=lambda inputs, gradients: gradients)(np.add)
    with pytest.raises(ValueError, match="returned 1 terms; it must return one for each of the 2 inputs"):
        aesara.grad(too_few(x, x).sum(), x)
    with pytest.raises(TypeError, match="`grad` must be an operation"):
        as_op([at.dvector], [at.dvector], grad=3)
    with pytest.raises(NotImplementedError, match=r"as_op\(..., grad=...\)"):
        aesara.grad(scaled(x, x.sum()).sum(), x)


def test_from_function_op_equality_and_pickle():
    def plain(x):
        return x

    make = as_op([at.dvector], [at.dvector])
    assert make(plain) == make(plain) and hash(make(plain)) == hash(make(plain))
    assert make(plain) != as_op([at.dvector], [at.dscalar])(plain)
    assert make(plain) != as_op([at.dvector], [at.dvector], grad=plain)(plain)
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    negated = pickle.loads(pickle.dumps(as_op([at.dvector], [at.dvector], grad=scaled_back)(np.negative)))
    assert negated._fn is np.negative and negated._grad is scaled_back
    assert pickle.loads(pickle.dumps(as_op([at.dvector], [at.dvector])(np.sin)))._fn is np.sin


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_as_op_in_the_place_of_its_function(protocol):
    for op in (scaled, reversed_and_sum, scaled_with_op, scaled_with_expression):
        assert pickle.loads(pickle.dumps(op, protocol)) is op
        assert copy.deepcopy(op) is op


@pytest.mark.parametrize("mode", MODES)
def test_view_and_copy(mode):
    x = at.dvector("x")
    for op in (view_op, deep_copy_op):
        f = aesara.function([x], op(x) + 1, mode=mode)
        assert f([1.0]).tolist() == [2.0]
        assert aesara.function([x], op(x).shape, mode=mode)([1.0]).tolist() == [1]
        assert aesara.grad(op(x).sum(), x).eval({x: [1.0]}).tolist() == [1.0]


def test_copies_are_copies():
    value, cell = np.ones(2), [None]
    deep_copy_op.perform(None, [value], [cell])
    assert cell[0].tolist() == [1, 1] and not np.shares_memory(cell[0], value)
    deep_copy_op.perform(None, [[value]], [cell])
    assert not np.shares_memory(cell[0][0], value)
    view_op.perform(None, [value], [cell])
    assert cell[0] is value
    assert DeepCopyOp() == deep_copy_op and ViewOp() == view_op


def test_update_placeholder():
    x = at.dvector("x")
    assert update_placeholder == UpdatePlaceholder()
    with pytest.raises(NotImplementedError):
        aesara.function([x], update_placeholder(x, x + 1), mode="FAST_COMPILE")([1.0])


def test_c_code_is_accepted():
    x = at.dvector("x")
    register_view_op_c_code(at.TensorType, "code", 1)
    register_deep_copy_op_c_code(at.TensorType, "code", version=1)
    for op in (view_op, deep_copy_op):
        assert aesara.function([x], op(x))([1.5]) == [1.5]
