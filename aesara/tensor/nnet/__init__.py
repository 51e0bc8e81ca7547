"""Functions for neural networks. Importing this package registers the rules about them."""

from aesara.tensor.nnet.activations import elu, hard_sigmoid, relu, selu, softsign, ultra_fast_sigmoid
from aesara.tensor.nnet.batchnorm import batch_normalization
from aesara.tensor.nnet.batchnorm import rules as _rules_of_batches
from aesara.tensor.nnet.blocksparse_rules import rules as _rules_of_blocks
from aesara.tensor.nnet.conv_composed import separable_conv2d
from aesara.tensor.nnet.conv_functions import abstract_conv2d, conv2d, conv3d
from aesara.tensor.nnet.conv_gradients import conv2d_grad_wrt_inputs, conv2d_transpose
from aesara.tensor.nnet.conv_rules import rules as _rules_of_convolutions
from aesara.tensor.nnet.crossentropy import (
    binary_crossentropy,
    categorical_crossentropy,
    confusion_matrix,
    crossentropy_categorical_1hot,
    crossentropy_categorical_1hot_grad,
    crossentropy_softmax_1hot,
    crossentropy_softmax_1hot_with_bias,
    crossentropy_softmax_1hot_with_bias_dx,
    crossentropy_softmax_argmax_1hot_with_bias,
    crossentropy_softmax_max_and_argmax_1hot,
    crossentropy_softmax_max_and_argmax_1hot_with_bias,
    sigmoid_binary_crossentropy,
)
from aesara.tensor.nnet.ctc import rules as _rules_of_sequences
from aesara.tensor.nnet.hierarchical import h_softmax
from aesara.tensor.nnet.prepend import prepend_0_to_each_row, prepend_1_to_each_row, prepend_scalar_to_each_row
from aesara.tensor.nnet.rules import (
    crossentropy_to_crossentropy_with_softmax,
    crossentropy_to_crossentropy_with_softmax_with_bias,
    graph_merge_softmax_with_crossentropy_softmax,
)
from aesara.tensor.nnet.rules import rules as _rules_of_networks
from aesara.tensor.nnet.softmax import softmax_grad_legacy, softmax_legacy, softmax_with_bias
from aesara.tensor.reductions.softmax import log_softmax as logsoftmax
from aesara.tensor.reductions.softmax import softmax
from aesara.tensor.rewriting.special import softmax_simplifier

#: The rules of this package, in the order in which they are tried, after those of tensors.
RULES = (_rules_of_batches, _rules_of_blocks, _rules_of_convolutions, _rules_of_networks, _rules_of_sequences)
for _rules in RULES:
    _rules.register()

__all__ = [
    "abstract_conv2d",
    "batch_normalization",
    "binary_crossentropy",
    "categorical_crossentropy",
    "confusion_matrix",
    "conv2d",
    "conv2d_grad_wrt_inputs",
    "conv2d_transpose",
    "conv3d",
    "crossentropy_categorical_1hot",
    "crossentropy_categorical_1hot_grad",
    "crossentropy_softmax_1hot",
    "crossentropy_softmax_1hot_with_bias",
    "crossentropy_softmax_1hot_with_bias_dx",
    "crossentropy_softmax_argmax_1hot_with_bias",
    "crossentropy_softmax_max_and_argmax_1hot",
    "crossentropy_softmax_max_and_argmax_1hot_with_bias",
    "crossentropy_to_crossentropy_with_softmax",
    "crossentropy_to_crossentropy_with_softmax_with_bias",
    "elu",
    "graph_merge_softmax_with_crossentropy_softmax",
    "h_softmax",
    "hard_sigmoid",
    "logsoftmax",
    "prepend_0_to_each_row",
    "prepend_1_to_each_row",
    "prepend_scalar_to_each_row",
    "relu",
    "selu",
    "separable_conv2d",
    "sigmoid_binary_crossentropy",
    "softmax",
    "softmax_grad_legacy",
    "softmax_legacy",
    "softmax_simplifier",
    "softmax_with_bias",
    "softsign",
    "ultra_fast_sigmoid",
]
