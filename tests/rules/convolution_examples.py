"""Examples of rules that choose how convolutions are computed."""

from aesara.tensor.nnet.abstract_conv import (
    conv2d,
    conv2d_grad_wrt_inputs,
    conv2d_grad_wrt_weights,
    conv3d,
    conv3d_grad_wrt_inputs,
    conv3d_grad_wrt_weights,
)
from tests.rules.framework import example

# Sums over mirrored filters are taken in another order: with integers this makes no difference, and complex numbers are
# compared with a tolerance.
CONV = {"dtypes": ("int64", "int8", "uint8", "complex128"), "moderate": "sums of huge numbers depend on their order"}
SETTINGS = {"border_mode": ((1, 0), 1), "subsample": (1, 2), "filter_dilation": (2, 1), "filter_flip": False}


def images(t):
    return t.dimshuffle(0, "x", 1, 2)


def filters(m):
    return m[:2, :3].dimshuffle("x", "x", 0, 1)


def of_image(t, **settings):
    return conv2d_grad_wrt_inputs(images(t), images(t)[:1, :, :2], (None, None, t.shape[1] + 1, 9), **settings)


def of_filters(t, **settings):
    return conv2d_grad_wrt_weights(images(t), images(t)[:, :, :3, 2:], (1, 1, t.shape[1] - 2, 3), **settings)


def in_three(t):
    return t.dimshuffle("x", "x", 0, 1, 2)


EXAMPLES = {
    "local_abstractconv_gemm": [
        example(lambda t, m: conv2d(images(t), filters(m)), **CONV),
        example(lambda t, m: conv2d(images(t), filters(m), **SETTINGS), **CONV),
    ],
    "local_abstractconv_gradinputs_gemm": [
        example(lambda t: of_image(t), **CONV),
        example(
            lambda t: conv2d_grad_wrt_inputs(images(t), images(t)[:1, :, :2, :3], (3, 1, 5, 10), **SETTINGS), **CONV
        ),
    ],
    "local_abstractconv_gradweight_gemm": [
        example(lambda t: of_filters(t), **CONV),
        example(
            lambda t: conv2d_grad_wrt_weights(images(t), images(t)[:, :, :3, 2:], (1, 1, 2, 2), **SETTINGS), **CONV
        ),
    ],
    "local_abstractconv3d_gemm": [
        example(lambda t: conv3d(in_three(t), in_three(t)[:, :, :2, :3, :1], border_mode="half"), **CONV),
    ],
    "local_abstractconv3d_gradinputs_gemm": [
        example(lambda t: conv3d_grad_wrt_inputs(in_three(t), in_three(t)[:, :, :2], (1, 1, 4, 7, 9)), **CONV),
    ],
    "local_abstractconv3d_gradweight_gemm": [
        example(lambda t: conv3d_grad_wrt_weights(in_three(t), in_three(t)[:, :, :2], (1, 1, 2, 1, 1)), **CONV),
    ],
    "local_conv2d_cpu": [
        example(lambda t, m: conv2d(images(t), filters(m), subsample=(2, 1)), **CONV),
        example(lambda t, m: conv2d(images(t), filters(m), border_mode="full", filter_flip=False), **CONV),
    ],
    "local_conv2d_gradinputs_cpu": [
        example(lambda t: of_image(t), **CONV),
        example(lambda t: of_image(t, filter_flip=False), **CONV),
        example(
            lambda t: conv2d_grad_wrt_inputs(images(t), images(t)[:1, :, :2, :3], (3, 1, 3, 3), border_mode="full"),
            **CONV,
        ),
    ],
    "local_conv2d_gradweight_cpu": [
        example(lambda t: of_filters(t), **CONV),
        example(lambda t: of_filters(t, filter_flip=False), **CONV),
        example(
            lambda t: conv2d_grad_wrt_weights(images(t)[:, :, :3, :2], images(t), (1, 1, 2, 4), border_mode="full"),
            **CONV,
        ),
    ],
}
