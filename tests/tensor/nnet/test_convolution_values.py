"""Values and gradients of convolutions against plain loops, on both machines."""

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.gradient import Rop, verify_grad
from aesara.tensor.nnet.abstract_conv import (
    conv2d,
    conv2d_grad_wrt_inputs,
    conv2d_grad_wrt_weights,
    conv3d,
    conv3d_grad_wrt_inputs,
    conv3d_grad_wrt_weights,
)
from aesara.tensor.nnet.corr import CorrMM_gradInputs, CorrMM_gradWeights
from aesara.tensor.nnet.corr3d import Corr3dMMGradInputs, Corr3dMMGradWeights
from tests.tensor.nnet.convolution_loops import Loops

NATIVE, REFERENCE = None, "FAST_COMPILE"


def data(rng, *shapes, dtype="float64"):
    made = [rng.normal(size=shape) * 4 for shape in shapes]
    if dtype.startswith("complex"):
        made = [a + 1j * rng.normal(size=a.shape) for a in made]
    return [a.astype(dtype) for a in made]


def inputs_like(*arrays):
    return [at.tensor(dtype=str(a.dtype), shape=(None,) * a.ndim) for a in arrays]


def close(got, want, rtol=1e-12):
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * max(1.0, np.abs(want).max(initial=0)))


# border mode, its numbers of zeros for filters (3, 2), and the other settings
SETTINGS_2D = {
    "plain": ("valid", [(0, 0), (0, 0)], {}),
    "correlation": ("valid", [(0, 0), (0, 0)], {"filter_flip": False}),
    "full": ("full", [(2, 2), (1, 1)], {}),
    "half": ("half", [(1, 1), (1, 1)], {"filter_flip": False}),
    "one integer": (2, [(2, 2), (2, 2)], {}),
    "integers": ((1, 2), [(1, 1), (2, 2)], {"subsample": (2, 1)}),
    "pairs": (((0, 1), (2, 1)), [(0, 1), (2, 1)], {"subsample": (1, 2)}),
    "apart": ("valid", [(0, 0), (0, 0)], {"subsample": (2, 3)}),
    "full, apart": ("full", [(2, 2), (1, 1)], {"subsample": (3, 2), "filter_flip": False}),
    "half, apart": ("half", [(1, 1), (1, 1)], {"subsample": (2, 2)}),
    "dilated": ("valid", [(0, 0), (0, 0)], {"filter_dilation": (2, 3)}),
    "full, dilated": ("full", [(4, 4), (3, 3)], {"filter_dilation": (2, 3), "filter_flip": False}),
    "half, dilated, apart": ("half", [(2, 2), (1, 1)], {"filter_dilation": (2, 2), "subsample": (1, 2)}),
    "groups": ("half", [(1, 1), (1, 1)], {"num_groups": 2}),
    "groups, all": (((1, 0), 0), [(1, 0), (0, 0)], {"num_groups": 2, "subsample": (2, 1), "filter_dilation": (1, 2)}),
    "each channel": ("valid", [(0, 0), (0, 0)], {"num_groups": 4, "filter_flip": False}),
    "unshared": ("valid", [(0, 0), (0, 0)], {"unshared": True}),
    "unshared, all": (
        ((1, 0), (0, 2)),
        [(1, 0), (0, 2)],
        {"unshared": True, "num_groups": 2, "subsample": (2, 1), "filter_dilation": (1, 2), "filter_flip": False},
    ),
}


def loops_of(pads, settings):
    n = len(pads)
    return Loops(
        pads,
        settings.get("subsample", (1,) * n),
        settings.get("filter_dilation", (1,) * n),
        settings.get("num_groups", 1),
        settings.get("filter_flip", True),
        settings.get("unshared", False),
    )


def check_all_directions(conv, loops, image_shape, kernel, settings, border, outputs=4):
    rng = np.random.default_rng(1)
    per_group = image_shape[1] // loops.groups
    positions = loops.output_sizes(image_shape[2:], kernel)
    x, w = data(rng, image_shape, (outputs, *(positions if loops.unshared else ()), per_group, *kernel))
    (dy,) = data(rng, (image_shape[0], outputs, *positions))
    variables = inputs_like(x, w, dy)
    result = conv(*variables[:2], border_mode=border, **settings)
    gradients = aesara.grad(None, variables[:2], known_grads={result: variables[2]})
    wanted = [loops.forward(x, w), *loops.gradients(x, w, dy)]
    for mode in (NATIVE, REFERENCE):
        f = aesara.function(variables, [result, *gradients], mode=mode)
        for got, want in zip(f(x, w, dy), wanted):
            close(got, want)
        if mode is NATIVE:
            assert "nothing in Python" in str(aesara.explain(f))


@pytest.mark.parametrize("border, pads, settings", SETTINGS_2D.values(), ids=SETTINGS_2D)
def test_two_dimensions(border, pads, settings):
    check_all_directions(conv2d, loops_of(pads, settings), (2, 4, 6, 7), (3, 2), settings, border)


SETTINGS_3D = {
    "plain": ("valid", [(0, 0)] * 3, {}),
    "full, apart": ("full", [(1, 1), (2, 2), (1, 1)], {"subsample": (2, 1, 2), "filter_flip": False}),
    "half, dilated": ("half", [(1, 1), (1, 1), (1, 1)], {"filter_dilation": (1, 1, 2)}),
    "groups, pairs": (((1, 0), 1, (0, 2)), [(1, 0), (1, 1), (0, 2)], {"num_groups": 2, "subsample": (1, 2, 1)}),
}


@pytest.mark.parametrize("border, pads, settings", SETTINGS_3D.values(), ids=SETTINGS_3D)
def test_three_dimensions(border, pads, settings):
    check_all_directions(conv3d, loops_of(pads, settings), (2, 2, 4, 5, 4), (2, 3, 2), settings, border, outputs=2)


DTYPES = [("float32", 1e-5), ("float16", 2e-2), ("int32", 0), ("int8", 0), ("complex128", 1e-12), ("complex64", 1e-5)]


@pytest.mark.parametrize("dtype, rtol", DTYPES)
def test_dtypes(dtype, rtol):
    """Half precision is computed in single; sums of integers wrap."""
    rng = np.random.default_rng(3)
    loops = Loops([(1, 1), (0, 0)], (1, 2), (1, 1))
    x, w, dy = data(rng, (2, 2, 5, 6), (3, 2, 3, 2), (2, 3, 5, 3), dtype=dtype)
    X, W, Y = inputs_like(x, w, dy)
    settings = {"border_mode": (1, 0), "subsample": (1, 2)}
    results = [
        conv2d(X, W, **settings),
        conv2d_grad_wrt_inputs(Y, W, (2, 2, 5, 6), **settings),
        conv2d_grad_wrt_weights(X, Y, (3, 2, 3, 2), **settings),
    ]
    wide = [a.astype({"float16": "float64", "float32": "float64"}.get(dtype, dtype)) for a in (x, w, dy)]
    # These functions are linear in both operands, while gradients have conjugates.
    with np.errstate(over="ignore"):
        wanted = [loops.forward(*wide[:2]), *loops.gradients(*map(np.conj, wide[:2]), wide[2])]
    for mode in (NATIVE, REFERENCE):
        f = aesara.function([X, W, Y], results, mode=mode)
        for got, want in zip(f(x, w, dy), wanted):
            assert got.dtype == dtype
            close(got.astype(want.dtype), want, rtol)


def test_operands_of_two_dtypes_are_computed_in_the_wider_one():
    x, w = np.arange(9, dtype="int8").reshape(1, 1, 3, 3), np.full((1, 1, 2, 2), 0.5, dtype="float32")
    result = conv2d(*inputs_like(x, w))
    assert result.dtype == "float32"
    assert conv2d(at.tensor4(dtype="float32"), at.tensor4(dtype="float64")).dtype == "float64"
    with pytest.raises(TypeError, match="booleans"):
        conv2d(at.tensor4(dtype="bool"), at.tensor4(dtype="bool"))


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
def test_memory_that_is_not_contiguous(mode):
    rng = np.random.default_rng(4)
    x, w = data(rng, (5, 7, 2, 2), (2, 3, 3, 4))
    x, w = x.transpose(3, 2, 0, 1)[:, :, ::-1], w.transpose(0, 3, 1, 2)[:, 1:3][::-1]
    loops = Loops([(1, 1), (1, 1)], (1, 1), (1, 1))
    variables = inputs_like(x, w)
    f = aesara.function(variables, conv2d(*variables, border_mode="half"), mode=mode)
    close(f(x, w), loops.forward(x, w))
    close(f(x[:, :, ::2, ::3], w), loops.forward(x[:, :, ::2, ::3], w))


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
def test_nothing_to_convolve(mode):
    X, W = at.dtensor4(), at.dtensor4()
    y = conv2d(X, W, border_mode="half")
    f = aesara.function([X, W], [y, *aesara.grad(y.sum(), [X, W])], mode=mode)
    for batch, channels, outputs in [(0, 2, 3), (2, 0, 3), (2, 2, 0)]:
        x, w = np.ones((batch, channels, 5, 4)), np.ones((outputs, channels, 3, 3))
        y, dx, dw = f(x, w)
        assert y.shape == (batch, outputs, 5, 4)
        assert dx.shape == x.shape and dw.shape == w.shape
        assert not y.any() and not dx.any() and not dw.any()


@pytest.mark.parametrize("mode", [NATIVE, REFERENCE], ids=["native", "reference"])
def test_infinite_and_missing_numbers(mode):
    """Elements outside a window do not reach its sum, but a zero of the filter times infinity is NaN."""
    x = np.ones((1, 1, 4, 4))
    x[0, 0, 0, 0], x[0, 0, 3, 3] = np.nan, np.inf
    w = np.array([[[[1.0, 1.0], [1.0, 0.0]]]])
    variables = inputs_like(x, w)
    got = aesara.function(variables, conv2d(*variables, filter_flip=False), mode=mode)(x, w)
    np.testing.assert_array_equal(got[0, 0], [[np.nan, 3, 3], [3, 3, 3], [3, 3, np.nan]])


def test_sizes_known_when_compiled_and_results_that_are_used_again():
    """Constants as operands, images of the kernel's own size, and convolutions of convolutions."""
    rng = np.random.default_rng(5)
    x, v, w = data(rng, (2, 3, 6, 6), (4, 3, 3, 3), (2, 4, 4, 4))
    loops = Loops([(0, 0), (0, 0)], (1, 1), (1, 1))
    X = at.tensor(dtype="float64", shape=(2, 3, 6, 6))
    inner = at.tanh(conv2d(X, v))
    y = conv2d(inner, w)
    assert y.type.shape == (2, 2, 1, 1)
    want = np.tanh(loops.forward(x, v))
    for mode in (NATIVE, REFERENCE):
        got = aesara.function([X], [y, inner], mode=mode)(x)
        close(got[0], loops.forward(want, w))
        close(got[1], want)


def test_filters_of_a_single_entry():
    rng = np.random.default_rng(6)
    x, w, dy = data(rng, (3, 4, 5, 6), (2, 4, 1, 1), (3, 2, 5, 6))
    loops = Loops([(0, 0), (0, 0)], (1, 1), (1, 1))
    X, W, Y = inputs_like(x, w, dy)
    W = at.specify_shape(W, (None, None, 1, 1))
    results = [
        conv2d(X, W),
        conv2d_grad_wrt_inputs(Y, W, (None, None, 5, 6)),
        conv2d_grad_wrt_weights(X, Y, (2, 4, 1, 1)),
    ]
    f = aesara.function([X, W.owner.inputs[0], Y], results)
    for got, want in zip(f(x, w, dy), [loops.forward(x, w), *loops.gradients(x, w, dy)]):
        close(got, want)


def test_in_the_step_of_a_loop():
    rng = np.random.default_rng(7)
    xs, w = data(rng, (3, 2, 1, 4, 4), (1, 1, 3, 3))
    X, W = inputs_like(xs, w)
    result, _ = aesara.scan(lambda x, w: conv2d(x, w, border_mode="half"), sequences=[X], non_sequences=[W])
    f = aesara.function([X, W], result)
    assert "nothing in Python" in str(aesara.explain(f))
    loops = Loops([(1, 1), (1, 1)], (1, 1), (1, 1))
    close(f(xs, w), np.stack([loops.forward(x, w) for x in xs]))


def test_filters_that_are_updated():
    """The gradient is added to filters in a shared variable."""
    rng = np.random.default_rng(8)
    x, w = data(rng, (2, 2, 5, 5), (3, 2, 3, 3))
    shared = aesara.shared(w.copy())
    X = at.dtensor4()
    gradient = aesara.grad((conv2d(X, shared, filter_flip=False) ** 2).sum(), shared)
    step = aesara.function([X], [], updates={shared: shared - 0.125 * gradient})
    step(x)
    loops = Loops([(0, 0), (0, 0)], (1, 1), (1, 1), flip=False)
    close(shared.get_value(), w - 0.125 * loops.gradients(x, w, 2 * loops.forward(x, w))[1])


# -- derivatives of derivatives ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_second_derivatives():
    rng = np.random.default_rng(9)
    x, w, dy = data(rng, (1, 2, 4, 4), (2, 1, 2, 3), (1, 2, 2, 3))
    settings = {"subsample": (2, 1), "num_groups": 2, "border_mode": ((0, 1), (1, 0))}
    verify_grad(lambda x, w: at.tanh(conv2d(x, w, **settings)), [x, w], rng=rng)
    verify_grad(lambda w, y: conv2d_grad_wrt_inputs(y, w, (1, 2, 4, 4), **settings), [w, dy], rng=rng)
    verify_grad(lambda x, y: conv2d_grad_wrt_weights(x, y, (2, 1, 2, 3), **settings), [x, dy], rng=rng)


def test_second_derivatives_in_three_dimensions():
    rng = np.random.default_rng(10)
    x, w, dy = data(rng, (1, 1, 3, 3, 3), (1, 1, 2, 2, 2), (1, 1, 2, 2, 2))
    verify_grad(conv3d, [x, w], rng=rng)
    verify_grad(lambda w, y: conv3d_grad_wrt_inputs(y, w, (1, 1, 3, 3, 3)), [w, dy], rng=rng)
    verify_grad(lambda x, y: conv3d_grad_wrt_weights(x, y, (1, 1, 2, 2, 2)), [x, dy], rng=rng)


def test_forward_mode():
    rng = np.random.default_rng(11)
    x, w, dx, dw = data(rng, (1, 2, 4, 4), (3, 2, 2, 2), (1, 2, 4, 4), (3, 2, 2, 2))
    X, W, DX, DW = inputs_like(x, w, dx, dw)
    f = aesara.function([X, W, DX, DW], Rop(conv2d(X, W), [X, W], [DX, DW]), mode=REFERENCE)
    loops = Loops([(0, 0), (0, 0)], (1, 1), (1, 1))
    close(f(x, w, dx, dw), loops.forward(dx, w) + loops.forward(x, dw))


@pytest.mark.parametrize(
    "op, shapes, sizes",
    [
        (CorrMM_gradWeights("half", num_groups=2), [(2, 4, 6, 5), (2, 2, 6, 5)], (3, 3)),
        (CorrMM_gradWeights(), [(2, 4, 6, 5), (2, 3, 5, 3)], None),
        (CorrMM_gradInputs("half", num_groups=2), [(4, 2, 3, 3), (2, 4, 6, 5)], (6, 5)),
        (Corr3dMMGradWeights(), [(2, 2, 4, 5, 3), (2, 3, 3, 5, 1)], (2, 1, 3)),
        (Corr3dMMGradInputs(), [(3, 2, 2, 1, 3), (2, 3, 3, 5, 1)], (4, 5, 3)),
    ],
    ids=str,
)
def test_forward_mode_of_matrix_forms(op, shapes, sizes):
    """The gradients of a convolution are linear in each operand, whatever their sizes follow from."""
    values = data(np.random.default_rng(13), *shapes, *shapes)
    x, y, dx, dy = inputs_like(*values)
    terms = [Rop(op(x, y, sizes), *moved) for moved in ((x, dx), (y, dy), ([x, y], [dx, dy]))]
    got = aesara.function([x, y, dx, dy], [*terms, op(dx, y, sizes), op(x, dy, sizes)], mode=REFERENCE)(*values)
    for found, expected in zip(got, [got[3], got[4], got[3] + got[4]]):
        close(found, expected)


def test_debug_mode_agrees():
    rng = np.random.default_rng(12)
    x, w = data(rng, (2, 2, 4, 5), (2, 1, 3, 2))
    X, W = inputs_like(x, w)
    y = conv2d(X, W, border_mode="full", num_groups=2, subsample=(1, 2))
    f = aesara.function([X, W], aesara.grad((y**2).sum(), [X, W]), mode="DebugMode")
    for got, want in zip(f(x, w), aesara.function([X, W], aesara.grad((y**2).sum(), [X, W]), mode=REFERENCE)(x, w)):
        close(got, want)


@pytest.mark.parametrize(
    "op, shapes",
    [
        (CorrMM_gradInputs((1, 2)), [(4, 2, 3, 5), (2, 4, 3, 2)]),
        (CorrMM_gradInputs(filter_dilation=(1, 2), num_groups=2), [(4, 2, 3, 5), (2, 4, 3, 2)]),
        (CorrMM_gradInputs(unshared=True), [(4, 3, 2, 2, 5, 1), (2, 4, 3, 2)]),
        (Corr3dMMGradInputs((1, 0, 2), filter_dilation=(1, 2, 3)), [(3, 2, 3, 1, 5), (2, 3, 3, 4, 2)]),
    ],
    ids=str,
)
def test_sizes_that_follow_from_both_operands(op, shapes):
    """Of the smallest image that gives so many positions: known without a value, and those of the values."""
    values = data(np.random.default_rng(14), *shapes)
    variables = inputs_like(*values)
    image = op(*variables)
    shape = aesara.function(variables, image.shape)
    assert not any(node.op == op for node in shape.maker.fgraph.apply_nodes)
    for mode in (NATIVE, REFERENCE):
        assert tuple(shape(*values)) == aesara.function(variables, image, mode=mode)(*values).shape
