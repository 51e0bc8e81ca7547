"""Convolutions under their documented path.

They are defined in `conv_shapes`, `conv_ops`, `conv_functions`, `conv_gradients`, `conv_composed` and `upsampling`.
"""

from aesara.configdefaults import config
from aesara.tensor.nnet.conv_composed import causal_conv1d, separable_conv2d, separable_conv3d
from aesara.tensor.nnet.conv_functions import abstract_conv2d, conv2d, conv3d
from aesara.tensor.nnet.conv_gradients import (
    conv2d_grad_wrt_inputs,
    conv2d_grad_wrt_weights,
    conv2d_transpose,
    conv3d_grad_wrt_inputs,
    conv3d_grad_wrt_weights,
)
from aesara.tensor.nnet.conv_ops import (
    AbstractConv,
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
    AbstractConv_gradInputs,
    AbstractConv_gradWeights,
    BaseAbstractConv,
)
from aesara.tensor.nnet.conv_shapes import (
    assert_conv_shape,
    assert_shape,
    border_mode_to_pad,
    check_conv_gradinputs_shape,
    get_conv_gradinputs_shape,
    get_conv_gradinputs_shape_1axis,
    get_conv_gradweights_shape,
    get_conv_gradweights_shape_1axis,
    get_conv_output_shape,
    get_conv_shape_1axis,
)
from aesara.tensor.nnet.upsampling import (
    bilinear_kernel_1D,
    bilinear_kernel_2D,
    bilinear_upsampling,
    frac_bilinear_upsampling,
)

__all__ = [name for name in dir() if not name.startswith("_")]
