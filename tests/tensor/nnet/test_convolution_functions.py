"""Functions built on convolutions, shapes of convolutions, and errors."""

import numpy as np
import pytest
from scipy import signal

import aesara
import aesara.tensor as at
from aesara.tensor import nnet
from aesara.tensor.nnet.abstract_conv import (
    AbstractConv,
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    assert_conv_shape,
    assert_shape,
    bilinear_kernel_1D,
    bilinear_upsampling,
    border_mode_to_pad,
    causal_conv1d,
    check_conv_gradinputs_shape,
    conv2d,
    conv2d_grad_wrt_inputs,
    conv2d_grad_wrt_weights,
    conv2d_transpose,
    conv3d,
    conv3d_grad_wrt_inputs,
    conv3d_grad_wrt_weights,
    frac_bilinear_upsampling,
    get_conv_gradinputs_shape,
    get_conv_gradinputs_shape_1axis,
    get_conv_gradweights_shape,
    get_conv_gradweights_shape_1axis,
    get_conv_output_shape,
    get_conv_shape_1axis,
    separable_conv2d,
    separable_conv3d,
)
from aesara.tensor.shape import Shape_i
from tests.closeness import assert_close
from tests.tensor.nnet.convolution_loops import Loops

NATIVE, REFERENCE = None, "FAST_COMPILE"
MODES = pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])


def tensor(*shape, dtype="float64"):
    return at.tensor(dtype=dtype, shape=shape)


def evaluated(expression, mode=REFERENCE, **values):
    """The value of an expression for values of variables, by name."""
    variables = {v.name: v for v in aesara.graph.basic.graph_inputs([expression]) if v.name in values}
    return aesara.function([variables[name] for name in values], expression, mode=mode)(*values.values())


# -- against SciPy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("border", ["valid", "full"])
def test_a_single_channel_is_that_of_scipy(border):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(9, 8)), rng.normal(size=(3, 4))
    got = conv2d(x[None, None], w[None, None], border_mode=border).eval()
    assert_close(got[0, 0], signal.convolve2d(x, w, border), size=1.0)
    got = conv2d(x[None, None], w[None, None], border_mode=border, filter_flip=False).eval()
    assert_close(got[0, 0], signal.correlate2d(x, w, border), size=1.0)
    x, w = rng.normal(size=(5, 6, 4)), rng.normal(size=(2, 3, 2))
    got = conv3d(x[None, None], w[None, None], border_mode=border).eval()
    assert_close(got[0, 0], signal.convolve(x, w, border), size=1.0)


# -- made of convolutions ------------------------------------------------------------------------------------------


@MODES
def test_transposed(mode):
    rng = np.random.default_rng(1)
    y, w = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(3, 2, 3, 3))
    loops = Loops([(1, 1), (1, 1)], (2, 2), (1, 1))
    rows = at.lscalar("rows")
    result = conv2d_transpose(at.constant(y), w, (None, 2, rows, 9), border_mode=(1, 1), input_dilation=(2, 2))
    want, _ = loops.gradients(np.zeros((2, 2, 7, 9)), w, y)
    assert_close(evaluated(result, mode, rows=7), want, size=1.0)
    with pytest.raises(ValueError, match="positions|give"):
        evaluated(result, mode, rows=11)


@pytest.mark.parametrize("step, dilation, groups", [(1, 1, 1), (2, 1, 1), (1, 3, 2), (2, 2, 1)])
def test_causal(step, dilation, groups):
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(2, 4, 9)), rng.normal(size=(2, 4 // groups, 3))
    got = causal_conv1d(x, w, w.shape, x.shape, step, True, dilation, groups).eval()
    loops = Loops([(2 * dilation, 0)], (step,), (dilation,), groups)
    assert_close(got, loops.forward(x, w), size=1.0)


def test_causal_with_filters_for_each_place():
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, 2, 5)), rng.normal(size=(3, 5, 2, 2))
    got = causal_conv1d(x, w, (3, 2, 2), unshared=True).eval()
    assert_close(got, Loops([(1, 0)], (1,), (1,), unshared=True).forward(x, w), size=1.0)
    with pytest.raises(ValueError, match="3D"):
        causal_conv1d(x, w, (3, 2, 2))
    with pytest.raises(ValueError, match="3D"):
        causal_conv1d(x[0], w[0], (3, 2, 2))
    with pytest.raises(ValueError, match="length"):
        causal_conv1d(x, w[0], (3, 2, None))


@pytest.mark.parametrize("n, conv", [(2, separable_conv2d), (3, separable_conv3d)])
def test_separable(n, conv):
    rng = np.random.default_rng(4)
    x, w = rng.normal(size=(2, 3, *(5, 4, 4)[:n])), rng.normal(size=(6, 1, *(3, 2, 2)[:n]))
    v = rng.normal(size=(4, 6, *(1,) * n))
    shapes = (x.shape, w.shape, v.shape)
    settings = {"border_mode": (1,) * n, "subsample": (2,) * n}
    got = conv(x, w, v, 3, *shapes, **settings)
    between = Loops([(1, 1)] * n, (2,) * n, (1,) * n, groups=3).forward(x, w)
    want = np.einsum("bc...,oc->bo...", between, v.reshape(4, 6))
    assert_close(got.eval(), want, size=abs(want).max())
    assert got.owner.op.imshp == between.shape
    assert_close(conv(x, w, v, 3, **settings).eval(), want, size=abs(want).max())


def interpolated(x, ratios, axis):
    """Images enlarged along an axis: between neighbours there are straight lines, beyond the last nothing changes."""
    numerator, denominator = ratios
    n = x.shape[axis]
    places = (np.arange(0, n * numerator, denominator) - (numerator - 1) // 2) / numerator
    places = np.clip(places, 0, n - 1)
    return np.apply_along_axis(lambda row: np.interp(places, np.arange(n), row), axis, x)


@MODES
@pytest.mark.parametrize("by_axis", [True, False])
def test_upsampling(mode, by_axis):
    x = np.random.default_rng(5).normal(size=(2, 3, 3, 4))
    X = tensor(None, None, None, None)
    results = [bilinear_upsampling(X, ratio, use_1D_kernel=by_axis) for ratio in (1, 2, 3, 4)]
    for ratio, got in zip((1, 2, 3, 4), aesara.function([X], results, mode=mode)(x)):
        assert_close(got, interpolated(interpolated(x, (ratio, 1), 2), (ratio, 1), 3), size=1.0)


@pytest.mark.parametrize("fraction", [(3, 2), (2, 3), (7, 3), (4, 2), ((1, 1), (5, 3)), ((2, 1), (3, 1))])
def test_upsampling_by_a_fraction(fraction):
    x = np.random.default_rng(6).normal(size=(1, 2, 4, 5))
    rows, columns = fraction if isinstance(fraction[0], tuple) else (fraction, fraction)
    want = interpolated(interpolated(x, rows, 2), columns, 3)
    assert_close(frac_bilinear_upsampling(x, fraction).eval(), want, size=1.0)
    assert_close(bilinear_upsampling(x, frac_ratio=fraction).eval(), want, size=1.0)


def test_what_upsampling_refuses():
    x = tensor(None, None, None, None)
    with pytest.raises(ValueError, match="together"):
        bilinear_upsampling(x, 2, (3, 2))
    with pytest.raises(ValueError, match="No ratio"):
        bilinear_upsampling(x)
    for ratio in (2.5, 0):
        with pytest.raises(ValueError, match="positive integer"):
            bilinear_upsampling(x, ratio)
    for fraction in (3, (3,), ((3, 2),), (3, 0), ((3, 2), (1, 1), (1, 1))):
        with pytest.raises(ValueError, match="frac_ratio"):
            frac_bilinear_upsampling(x, fraction)
    with pytest.raises(ValueError, match="4 dimensions"):
        bilinear_upsampling(at.matrix(), 2)
    np.testing.assert_array_equal(bilinear_kernel_1D(3, normalize=False).eval(), [1, 2, 3, 2, 1])


# -- shapes --------------------------------------------------------------------------------------------------------


def test_shapes_are_known_without_computing():
    x, w = tensor(None, None, None, None), tensor(None, None, None, None)
    for settings in (
        {"border_mode": "full", "subsample": (2, 1)},
        {"border_mode": ((1, 0), 2), "filter_dilation": (1, 2), "num_groups": 2},
    ):
        y = conv2d(x, w, **settings)
        f = aesara.function([x, w], [y.shape, *(g.shape for g in aesara.grad(y.sum(), [x, w]))])
        assert all(isinstance(n.op, Shape_i) or "onv" not in str(n.op) for n in f.maker.fgraph.apply_nodes)
        assert not any("Corr" in str(n.op) for n in f.maker.fgraph.apply_nodes)
        values = np.ones((3, 4, 8, 9)), np.ones((4, 4 // settings.get("num_groups", 1), 3, 2))
        shape = aesara.function([x, w], y, mode=REFERENCE)(*values).shape
        for got, want in zip(f(*values), (shape, values[0].shape, values[1].shape)):
            assert tuple(got) == want


STATIC = {
    "all": (lambda: conv2d(tensor(2, 3, 9, 8), tensor(4, 3, 3, 2)), (2, 4, 7, 7)),
    "some": (lambda: conv2d(tensor(None, 3, 9, None), tensor(4, 3, 3, 2)), (None, 4, 7, None)),
    "stride": (lambda: conv2d(tensor(2, 3, 9, 8), tensor(4, 3, 3, 2), subsample=(3, 2)), (2, 4, 3, 4)),
    "full": (lambda: conv2d(tensor(2, 3, 9, 8), tensor(4, 3, 3, 2), border_mode="full"), (2, 4, 11, 9)),
    "half": (lambda: conv2d(tensor(2, 3, 9, 8), tensor(4, 3, 3, 2), border_mode="half"), (2, 4, 9, 9)),
    "dilated": (lambda: conv2d(tensor(2, 3, 9, 8), tensor(4, 3, 3, 2), filter_dilation=(2, 3)), (2, 4, 5, 5)),
    "unshared": (
        lambda: conv2d(tensor(2, 3, None, 8), tensor(4, 7, 7, 3, 3, 2), unshared=True),
        (2, 4, 7, 7),
    ),
    "3d": (lambda: conv3d(tensor(2, 3, 9, 8, 7), tensor(4, 3, 3, 2, None)), (2, 4, 7, 7, None)),
    "weights": (
        lambda: conv2d_grad_wrt_weights(tensor(2, 4, 9, 8), tensor(2, 6, 7, 7), (6, 2, 3, 2), num_groups=2),
        (6, 2, 3, 2),
    ),
    "inputs": (
        lambda: conv2d_grad_wrt_inputs(tensor(5, 6, 7, 7), tensor(6, 2, 3, 2), (5, 4, 9, 8), num_groups=2),
        (5, 4, 9, 8),
    ),
    "inputs of unknown size": (
        lambda: conv2d_grad_wrt_inputs(tensor(5, 6, 7, 7), tensor(6, 2, 3, 2), (5, 2, at.lscalar(), 8)),
        (5, 2, None, 8),
    ),
}


@pytest.mark.parametrize("build, shape", STATIC.values(), ids=STATIC)
def test_static_shapes(build, shape):
    assert build().type.shape == shape


def test_shapes_of_integers():
    assert get_conv_output_shape((2, 3, 10, 11), (4, 3, 3, 2), ((1, 2), 0), (1, 2), (2, 3)) == (2, 4, 9, 4)
    assert get_conv_output_shape((2, 3, 10, 11), (4, 8, 9, 3, 3, 3), "valid", (1, 1)) == (2, 4, 8, 9)
    assert get_conv_output_shape((2, 3, 10, 11), (4, 3, 3, 2), "half", (None, 2)) == (2, 4, None, 6)
    assert get_conv_gradweights_shape((2, 4, 10, 11), (2, 6, 12, 14), "full", (1, 1), None, 2) == (6, 2, 3, 4)
    assert get_conv_gradweights_shape((2, 4, 10, 11), (2, 6, 5, 10), "valid", (2, 1)) == (6, 4, None, 2)
    assert get_conv_gradweights_shape((2, 3, 10, 11), (2, 4, 8, 10), (0, 1), (1, 1), (2, 1), unshared=True) == (
        4, 8, 10, 3, 2, 4,
    )  # fmt: skip
    assert get_conv_gradinputs_shape((4, 3, 3, 2), (2, 4, 8, 10), ((1, 2), 3), (1, 1), (2, 2), 2) == (2, 6, 9, 6)
    assert get_conv_gradinputs_shape((4, 3, 3, 2), (2, 4, 8, 10), "half", (2, 1)) == (2, 3, None, 9)
    assert get_conv_gradinputs_shape((4, 3, 3, 2, 5), (2, 4, 8, 10, 6), "valid", (1, 1, 1)) == (2, 3, 10, 11, 10)
    assert get_conv_gradinputs_shape((4, 8, 10, 3, 3, 2), (2, 4, 8, 10), "valid", (1, 1)) == (2, 3, 10, 11)
    fits = ((2, 3, 10, None), (4, 3, 3, 2), (2, 4, 8, 10), "valid", (1, 1))
    assert check_conv_gradinputs_shape(*fits)
    assert not check_conv_gradinputs_shape((2, 3, 11, None), *fits[1:])
    assert not check_conv_gradinputs_shape((2, 3, 10), *fits[1:])
    assert not check_conv_gradinputs_shape(*fits[:2], (2, 4, 8), *fits[3:])
    with pytest.raises(ValueError, match="must be >= 0"):
        get_conv_shape_1axis(10, 3, -1, 1)


@pytest.mark.parametrize(
    ("size", "of_one", "known"),
    [
        (get_conv_shape_1axis, (10, 3), 8),
        (get_conv_gradweights_shape_1axis, (10, 8), 3),
        (get_conv_gradinputs_shape_1axis, (3, 8), 10),
    ],
)
def test_a_size_is_known_if_all_that_it_depends_on_is(size, of_one, known):
    settings = (*of_one, "valid", 1, 1)
    assert size(*settings) == known
    for missing in range(5):
        assert size(*[None if k == missing else value for k, value in enumerate(settings)]) is None


def test_shapes_of_variables():
    n = at.lscalar("n")
    assert evaluated(get_conv_shape_1axis(n, 3, "half", 2), n=10) == 5
    checked = assert_conv_shape((0, 3, n, 4))
    assert checked[:2] == (0, 3) and evaluated(checked[2], n=1) == 1
    with pytest.raises(AssertionError, match=r"dim\[2\] < 1"):
        evaluated(checked[2], n=0)
    with pytest.raises(ValueError, match=r"dim\[3\]: 0 < 1"):
        assert_conv_shape((1, 1, 1, 0))


def test_declared_shapes_are_checked_where_this_is_asked_for():
    x, w = tensor(None, None, None, None), tensor(None, None, None, None)
    values = np.ones((2, 3, 5, 5)), np.ones((1, 3, 2, 2))
    shapes = {"input_shape": (2, None, 6, 5), "filter_shape": (1, 3, 2, 2)}
    assert aesara.function([x, w], conv2d(x, w, **shapes))(*values).shape == (2, 1, 4, 4)
    assert assert_shape(x, (1, None, None, None)) is x
    with aesara.config.change_flags(conv__assert_shape=True):
        y = conv2d(x, w, **shapes)
        assert assert_shape(x, (None,) * 4) is x
    for mode in (NATIVE, REFERENCE):
        with pytest.raises(AssertionError, match="declared shape"):
            aesara.function([x, w], y, mode=mode)(*values)


def test_flops():
    assert AbstractConv2d().flops([(2, 2, 6, 6), (3, 2, 3, 3)], [(2, 3, 4, 4)]) == 3456
    assert AbstractConv2d_gradWeights().flops([(2, 2, 6, 6), (2, 3, 4, 4)], [(3, 2, 3, 3)]) == 3456
    assert AbstractConv2d_gradInputs(num_groups=2).flops([(4, 1, 3, 3), (2, 4, 4, 4)], [(2, 2, 6, 6)]) == 2304


# -- errors --------------------------------------------------------------------------------------------------------


def test_border_modes():
    assert AbstractConv2d(border_mode=2).border_mode == (2, 2)
    assert AbstractConv2d(border_mode=(np.int64(1), (0, 2))).border_mode == (1, (0, 2))
    assert border_mode_to_pad("full", 3, (4, 1, 2, 3, 4)) == ((1, 1), (2, 2), (3, 3))
    assert border_mode_to_pad((1, (0, 2)), 2, (3, 3)) == ((1, 1), (0, 2))
    for wrong in ("same", -1, (-1, 0), (1,), 1.5, None, ((1, 2), (0, -3)), [1, 2], (1, 2, 3), (True, 1)):
        with pytest.raises(ValueError, match="invalid border"):
            AbstractConv2d(border_mode=wrong)
        with pytest.raises(ValueError, match="invalid border"):
            border_mode_to_pad(wrong, 2, (3, 3))


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"subsample": (1,)}, "subsample must have 2 elements"),
        ({"subsample": (0, 1)}, "subsample must have positive integers"),
        ({"filter_dilation": (1, 1, 1)}, "filter_dilation must have 2 elements"),
        ({"filter_dilation": (1.5, 1)}, "filter_dilation must have positive integers"),
        ({"num_groups": 0}, "num_groups"),
        ({"imshp": (1, 2, 3, "a")}, "imshp should be"),
        ({"imshp": at.tensor4().shape}, "imshp should be"),
        ({"imshp": at.lvector()}, "imshp should be"),
        ({"imshp": at.constant([1, 2, 3, 4])}, "imshp should be"),
        ({"kshp": (1, 2, 3, at.lscalar())}, "kshp should be"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        AbstractConv2d(**settings)


def test_wrong_operands():
    x, w, v = tensor(2, 4, 9, 9), tensor(3, 4, 2, 2), at.lvector()
    for build, message in [
        (lambda: conv2d(at.matrix(), w), "img must be 4D"),
        (lambda: conv2d(x, at.matrix()), "kern must be 4D"),
        (lambda: conv2d(x, w, unshared=True), "kern must be 6D tensor for unshared"),
        (lambda: conv3d(x, w), "img must be 5D"),
        (lambda: AbstractConv2d_gradWeights()(x, at.matrix(), v), "topgrad must be 4D"),
        (lambda: AbstractConv2d_gradInputs()(w, x, at.matrix()), "vector of integers"),
        (lambda: AbstractConv2d_gradInputs()(w, x, at.dvector()), "vector of integers"),
    ]:
        with pytest.raises(TypeError, match=message):
            build()
    for build, message in [
        (lambda: conv2d(x, tensor(3, 2, 2, 2)), "4 channels; the filters are for 2"),
        (lambda: conv2d(x, tensor(3, 2, 2, 2), num_groups=2), "3 filters cannot be split"),
        (lambda: conv2d(x, w, num_groups=3), "4 channels of the images cannot be split"),
        (lambda: conv2d_grad_wrt_inputs(tensor(2, 5, 8, 8), w, (2, 4, 9, 9)), "3 filters, but 5 channels"),
        (
            lambda: conv2d_grad_wrt_inputs(tensor(2, 3, 8, 8), w, (2, 8, 9, 9), num_groups=2),
            "3 filters cannot be split",
        ),
        (lambda: conv2d_grad_wrt_inputs(x, w, (9, 9)), "4 entries"),
        (lambda: conv2d_grad_wrt_inputs(x, w, None), "4 entries"),
        (lambda: conv2d_grad_wrt_inputs(x, w, (at.lscalar(), 4, 9, 9)), r"input_shape\[0\] must be a constant"),
        (lambda: conv2d_grad_wrt_inputs(x, w, (2, 4, None, 9)), r"input_shape\[2\] must be a symbolic"),
        (lambda: conv3d_grad_wrt_weights(x, w, (2, 4, 9, 9)), "5 entries"),
        (lambda: conv3d_grad_wrt_inputs(x, w, (2, 4, 9, 9)), "5 entries"),
        (lambda: conv2d(x, w, input_shape=(2, 4, 9, 9), image_shape=(2, 4, 9, 9)), "same time"),
        (lambda: conv2d(x, w, imshp_logical=(1, 2, 3)), "conv2d_transpose"),
        (lambda: AbstractConv(1), "dimension 1 is not supported"),
    ]:
        with pytest.raises(ValueError, match=message):
            build()
    with pytest.raises(NotImplementedError, match="two dimensions"):
        AbstractConv(3, unshared=True)
    with pytest.warns(UserWarning, match="ignores the arguments colour"):
        conv2d(x, w, colour="blue")
    assert conv2d(x, w, image_shape=(2, 4, 9, 9)).owner.op.imshp == (2, 4, 9, 9)


RUNTIME = {
    "channels": ({}, (2, 3, 5, 5), (4, 2, 3, 3), None, "channels"),
    "groups": ({"num_groups": 2}, (2, 3, 5, 5), (4, 2, 3, 3), None, "3 channels of the images cannot be split"),
    "filters of groups": ({"num_groups": 2}, (2, 4, 5, 5), (3, 2, 3, 3), None, "3 filters cannot be split"),
    "too large": ({}, (2, 2, 5, 2), (4, 2, 3, 3), None, "do not fit into the images"),
    "empty filters": ({}, (2, 2, 5, 5), (4, 2, 0, 3), None, "must not be empty"),
    "output": ({}, (2, 2, 5, 5), (4, 2, 3, 3), (2, 4, 3, 2), "positions|give"),
    "output's channels": ({}, (2, 2, 5, 5), (4, 2, 3, 3), (2, 3, 3, 3), "filters, but 3 channels|4 filters"),
    "output's batch": ({}, (2, 2, 5, 5), (4, 2, 3, 3), (1, 4, 3, 3), "2 images|batch"),
    "positions": ({"unshared": True}, (2, 2, 5, 5), (4, 3, 2, 2, 3, 3), None, "filters for"),
}


@MODES
@pytest.mark.parametrize("settings, image, filters, output, message", RUNTIME.values(), ids=RUNTIME)
def test_sizes_that_do_not_fit(settings, image, filters, output, message, mode):
    x, w, y = (tensor(*(None,) * n, dtype="float64") for n in (4, len(filters), 4))
    values = [np.ones(image), np.ones(filters)]
    if output is None:
        calls = [([x, w], conv2d(x, w, **settings), values)]
    elif output[0] != image[0]:
        calls = [([x, y], conv2d_grad_wrt_weights(x, y, filters, **settings), [values[0], np.ones(output)])]
    else:
        calls = [([w, y], conv2d_grad_wrt_inputs(y, w, image, **settings), [values[1], np.ones(output)])]
        if output[2:] != (3, 3):
            calls.append(([x, y], conv2d_grad_wrt_weights(x, y, filters, **settings), [values[0], np.ones(output)]))
    for inputs, result, given in calls:
        with pytest.raises(ValueError, match=message):
            aesara.function(inputs, result, mode=mode)(*given)


def test_names_of_the_package():
    assert nnet.conv2d is conv2d and nnet.conv3d is conv3d and nnet.conv2d_transpose is conv2d_transpose
    x, w = tensor(None, None, None, None), tensor(None, None, None, None)
    assert nnet.abstract_conv2d(x, w, num_groups=2).owner.op == AbstractConv2d(num_groups=2)
    assert AbstractConv3d().in_direction("weights").in_direction("forward") == AbstractConv3d()
