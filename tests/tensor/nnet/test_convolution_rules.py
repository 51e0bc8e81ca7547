"""Which implementations convolutions get, and these implementations by themselves."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.compile.mode import get_mode
from aesara.graph.rewriting.basic import MetaNodeRewriterSkip
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.nnet import conv
from aesara.tensor.nnet.abstract_conv import AbstractConv, BaseAbstractConv, conv2d, conv3d
from aesara.tensor.nnet.conv import ConvOp
from aesara.tensor.nnet.corr import CorrMM, CorrMM_gradInputs, CorrMM_gradWeights
from aesara.tensor.nnet.corr3d import Corr3dMM, Corr3dMMGradInputs, Corr3dMMGradWeights
from tests.closeness import assert_close
from tests.tensor.nnet.convolution_loops import Loops

FAST_RUN = get_mode("FAST_RUN")


def classes(function):
    return {type(node.op) for node in function.maker.fgraph.apply_nodes}


def compiled(mode, conv=conv2d, ndim=4, **settings):
    x, w = (at.tensor(dtype="float64", shape=(None,) * ndim) for _ in range(2))
    y = conv(x, w, **settings)
    return aesara.function([x, w], [y, *aesara.grad((y**2).sum(), [x, w])], mode=mode)


@pytest.mark.parametrize("settings", [{}, {"filter_flip": False, "num_groups": 2, "border_mode": "half"}])
def test_products_of_matrices_are_the_first_choice(settings):
    f = compiled(FAST_RUN, **settings)
    assert {CorrMM, CorrMM_gradInputs, CorrMM_gradWeights} <= classes(f)
    assert not any(issubclass(op, BaseAbstractConv) for op in classes(f))
    settings = {k: v for k, v in settings.items() if k != "border_mode"}
    f = compiled(FAST_RUN, conv3d, 5, **settings)
    assert {Corr3dMM, Corr3dMMGradInputs, Corr3dMMGradWeights} <= classes(f)


def test_in_fast_compile_they_stay():
    assert AbstractConv in {cls for op in classes(compiled("FAST_COMPILE")) for cls in op.__mro__}


@pytest.mark.parametrize("border", ["valid", "full"])
@pytest.mark.parametrize("flip", [True, False])
def test_conv_op_is_the_second_choice(border, flip):
    f = compiled(FAST_RUN.excluding("conv_gemm"), border_mode=border, filter_flip=flip)
    assert ConvOp in classes(f) and CorrMM not in classes(f)
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 5, 6)), rng.normal(size=(2, 3, 3, 2))
    for got, want in zip(f(x, w), compiled("FAST_COMPILE", border_mode=border, filter_flip=flip)(x, w)):
        assert_close(got, want, size=abs(want).max())


@pytest.mark.parametrize("mode, settings", [("conv_gemm", {"num_groups": 2}), ("conv_opts", {})])
def test_no_choice_left(mode, settings):
    with pytest.raises(MetaNodeRewriterSkip, match="AbstractConv2d.*: no implementation"):
        compiled(FAST_RUN.excluding(mode), **settings)


def test_sizes_that_do_not_fit_are_found_by_conv_op_too():
    x, y = at.dtensor4(), at.dtensor4()
    mode = FAST_RUN.excluding("conv_gemm")
    from_values = aesara.tensor.nnet.abstract_conv.conv2d_grad_wrt_weights(x, y, (1, 1, at.lscalar("n"), 2))
    n = from_values.owner.inputs[2].owner.inputs[0]
    f = aesara.function([x, y, n], from_values, mode=mode)
    images, outputs = np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3))
    assert f(images, outputs, 2).shape == (1, 1, 2, 2)
    with pytest.raises((AssertionError, ValueError)):
        f(images, outputs, 3)


# -- the implementations -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"], ids=["native", "reference"])
@pytest.mark.parametrize(
    "forward, weights, inputs, n",
    [(CorrMM, CorrMM_gradWeights, CorrMM_gradInputs, 2), (Corr3dMM, Corr3dMMGradWeights, Corr3dMMGradInputs, 3)],
)
def test_sizes_may_be_left_out_where_they_follow(forward, weights, inputs, n, mode):
    rng = np.random.default_rng(1)
    dilation = (2, 1, 1)[:n]
    loops = Loops([(1, 1)] * n, (1,) * n, dilation, flip=False)
    x, w = rng.normal(size=(2, 3, *(5, 4, 3)[:n])), rng.normal(size=(2, 3, *(3, 2, 2)[:n]))
    y = loops.forward(x, w)
    variables = [at.tensor(dtype="float64", shape=(None,) * (n + 2)) for _ in range(3)]
    X, W, Y = variables
    settings = {"border_mode": 1, "filter_dilation": dilation}
    results = [forward(**settings)(X, W), inputs(**settings)(W, Y), weights(**settings)(X, Y)]
    shapes = [result.shape for result in results]
    f = aesara.function(variables, [*results, *shapes], mode=mode)
    *got, of_y, of_x, of_w = f(x, w, y)
    for value, want in zip(got, [y, *loops.gradients(x, w, y)]):
        assert_close(value, want, size=abs(want).max())
    assert (tuple(of_y), tuple(of_x), tuple(of_w)) == (y.shape, x.shape, w.shape)


def test_full_borders_without_sizes():
    rng = np.random.default_rng(2)
    loops = Loops([(2, 2), (1, 1)], (1, 1), (1, 1), flip=False)
    x, w = rng.normal(size=(1, 2, 4, 3)), rng.normal(size=(3, 2, 3, 2))
    y = loops.forward(x, w)
    for got, want in zip((CorrMM_gradInputs("full")(w, y), CorrMM_gradWeights("full")(x, y)), loops.gradients(x, w, y)):
        assert_close(got.eval(), want, size=abs(want).max())


def test_where_sizes_must_be_given():
    x, w, n = at.dtensor4(), at.dtensor4(), at.lscalar()
    for op in (CorrMM_gradWeights("half"), CorrMM_gradWeights(subsample=(2, 1)), CorrMM_gradInputs(subsample=(1, 2))):
        with pytest.raises(ValueError, match="shape must be given"):
            op(x, w)
        assert op(x, w, (n, 3)).owner.inputs[2] is n
        assert op(x, w, np.array([4, 3])).type.shape[2:] == (4, 3)
        for wrong in ((n,), (n, 2.5), (n, at.lvector())):
            with pytest.raises(TypeError, match="2 integers"):
                op(x, w, wrong)
    with pytest.raises(ValueError, match="groups"):
        CorrMM(num_groups=0)
    assert str(CorrMM()) == "CorrMM{valid, (1, 1), (1, 1), 1 False}"
    assert str(Corr3dMM()) == "Corr3dMM{valid, (1, 1, 1), (1, 1, 1), 1}"
    assert CorrMM((1, 2)).pad == ((1, 1), (2, 2)) and CorrMM().pad == ((0, 0), (0, 0))


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"], ids=["native", "reference"])
@pytest.mark.parametrize("border, steps", [("valid", (1, 1)), ("full", (2, 1))])
def test_conv_op(border, steps, mode):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, 3, 5, 6)), rng.normal(size=(4, 3, 3, 2))
    pads = [(0, 0), (0, 0)] if border == "valid" else [(2, 2), (1, 1)]
    loops = Loops(pads, steps, (1, 1))
    X, W = at.dtensor4(), at.dtensor4()
    with pytest.warns(DeprecationWarning, match="use aesara.tensor.nnet.conv2d"):
        y = conv.conv2d(X, W, (2, 3, 5, 6), (4, 3, 3, 2), border, steps)
    assert y.owner.op.imshp == (3, 5, 6) and y.owner.op.kshp == (3, 2)
    value = loops.forward(x, w)
    f = aesara.function([X, W], [y, *aesara.grad((y**2).sum(), [X, W])], mode=mode)
    for got, want in zip(f(x, w), [value, *loops.gradients(x, w, 2 * value)]):
        assert_close(got, want, size=abs(want).max())
    assert ConvOp.getOutputShape((5, 6), (3, 2), steps, border) == value.shape[2:]


@pytest.mark.filterwarnings("ignore:aesara.tensor.nnet.conv.conv2d is deprecated")
@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"], ids=["native", "reference"])
def test_shapes_that_are_declared_for_conv_op_are_checked(mode):
    x, w = at.dtensor4("x"), at.dtensor4("w")
    y = conv.conv2d(x, w, at.constant([2, 3, 5, 6]), (at.constant(4), None, 3, 2))
    assert y.owner.op == conv.conv2d(x, w, (2, 3, 5, 6), (4, 3, 3, 2)).owner.op
    f = aesara.function([x, w], y, mode=mode)
    images, filters = np.ones((2, 3, 5, 6)), np.ones((4, 3, 3, 2))
    np.testing.assert_array_equal(f(images, filters), np.full((2, 4, 3, 5), 18.0))
    with pytest.raises(ValueError, match="images have not the declared shape"):
        f(images[:1], filters)
    with pytest.raises(ValueError, match="filters have not the declared shape"):
        f(images, filters[:3])
    with pytest.raises(NotScalarConstantError):
        conv.conv2d(x, w, (2, 3, 5, at.lscalar()), None)


@pytest.mark.filterwarnings("ignore:aesara.tensor.nnet.conv.conv2d is deprecated")
def test_what_conv_op_refuses():
    x, w = at.dtensor4(), at.dtensor4()
    for build, message in [
        (lambda: ConvOp(output_mode="half"), "output_mode"),
        (lambda: ConvOp(dx=0), "positive"),
        (lambda: ConvOp((1, 4, 4), imshp_logical=(1, 8, 8)), "imshp_logical"),
        (lambda: conv.conv2d(x, w, (1, 2, 3), None), "4 entries"),
        (lambda: conv.conv2d(x, w, (1, 2, 3, 4), (1, 3, 2, 2)), "2 channels; the filters are for 3"),
    ]:
        with pytest.raises(ValueError, match=message):
            build()
    assert ConvOp.has_all_shape((1, 2, 3), (2, 2), 4, 5)
    for unknown in ((None, (2, 2)), ((1, 2, 3), None), ((1, None, 3), (2, 2)), ((1, 2, 3), (2, None))):
        assert not ConvOp.has_all_shape(*unknown)
    assert not ConvOp.has_all_shape((1, 2, 3), (2, 2), None, 5) and not ConvOp.has_all_shape((1, 2, 3), (2, 2), 4, None)
