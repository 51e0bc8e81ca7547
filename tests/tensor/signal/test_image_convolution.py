"""Convolutions of images without channels, against SciPy; and the older Fourier transform, against NumPy."""

import numpy as np
import pytest
import scipy.signal

import aesara
import aesara.tensor as at
from aesara.gradient import verify_grad
from aesara.tensor.fourier import fft
from aesara.tensor.nnet.conv import gen_conv_code_unroll_batch_kern
from aesara.tensor.signal.conv import conv2d


@pytest.mark.parametrize("border_mode", ["valid", "full"])
@pytest.mark.parametrize("of_filters", [(2, 3), (4, 2, 3)], ids=str)
@pytest.mark.parametrize("of_images", [(5, 6), (3, 5, 6)], ids=str)
def test_each_image_with_each_filter(of_images, of_filters, border_mode):
    rng = np.random.default_rng(0)
    images, filters = rng.normal(size=of_images), rng.normal(size=of_filters)
    pairs = [
        [scipy.signal.convolve2d(image, kernel, border_mode) for kernel in filters.reshape(-1, 2, 3)]
        for image in images.reshape(-1, 5, 6)
    ]
    want = np.array(pairs).reshape(*of_images[:-2], *of_filters[:-2], *pairs[0][0].shape)
    x, w = (at.tensor("float64", shape=(None,) * v.ndim) for v in (images, filters))
    for shapes in ({}, {"image_shape": of_images, "filter_shape": of_filters}):
        f = aesara.function([x, w], conv2d(x, w, border_mode=border_mode, **shapes))
        assert aesara.explain(f).python == []
        np.testing.assert_allclose(f(images, filters), want, rtol=1e-12, atol=1e-12)


def test_strides_and_gradients():
    rng = np.random.default_rng(1)
    image, kernel = rng.normal(size=(5, 6)), rng.normal(size=(2, 2, 2))
    got = conv2d(image, kernel, subsample=(2, 3)).eval()
    want = [scipy.signal.convolve2d(image, k, "valid")[::2, ::3] for k in kernel]
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    verify_grad(lambda x, w: conv2d(x, w), [image, kernel], rng=rng, mode="FAST_COMPILE")


def test_what_wrote_c_code_says_that_it_does_not():
    with pytest.raises(NotImplementedError, match="no C code is written"):
        gen_conv_code_unroll_batch_kern({})


def test_what_is_refused():
    for x, w in ((at.dtensor4(), at.dmatrix()), (at.dmatrix(), at.dvector())):
        with pytest.raises(TypeError, match="must have 2 or 3 dimensions"):
            conv2d(x, w)
    for shapes in ({"image_shape": (3, 4, 5)}, {"filter_shape": (3,)}):
        with pytest.raises(ValueError, match="must have 2 entries"):
            conv2d(at.dmatrix(), at.dmatrix(), **shapes)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex128"])
def test_older_fourier_transform(dtype):
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=(3, 4)) * 4 + 1j * rng.normal(size=(3, 4))
    values = numbers.astype(dtype) if dtype == "complex128" else numbers.real.astype(dtype)
    x, n = at.tensor(dtype=dtype, shape=(None, None)), at.lscalar("n")
    results = [fft(x, 5, 0), fft(x, None, 1), fft(x, n, None)]
    assert {v.type.dtype for v in results} == {"complex128"}
    got = aesara.function([x, n], results)(values, 2)
    wide = values.astype("complex128")
    for value, want in zip(got, [np.fft.fft(wide, 5, 0), np.fft.fft(wide), np.fft.fft(wide, 2)]):
        np.testing.assert_allclose(value, want, rtol=1e-12, atol=1e-12)


def test_gradient_of_the_older_fourier_transform():
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(2, 4))
    cost = lambda x: (at.abs(fft(x, 4, 1)) ** 2 * weights).sum()
    verify_grad(cost, [rng.normal(size=(2, 3))], rng=rng, mode="FAST_COMPILE")


@pytest.mark.parametrize(
    "message, arguments",
    [
        ("must be an array, not a scalar", (1.0, 3, 0)),
        ("Index of the transformed axis must be a scalar", ([1.0], 3, 1)),
        ("Index of the transformed axis must be a scalar", ([1.0], 3, -1)),
        ("Index of the transformed axis must be of type integer", ([1.0], 3, 0.5)),
        ("Length of the transformed axis must be of type integer", ([1.0], 3.5, 0)),
        ("known when the graph is built", ([1.0], 3, at.lscalar())),
    ],
)
def test_what_the_older_fourier_transform_refuses(message, arguments):
    with pytest.raises(TypeError, match=message):
        fft(*arguments)
