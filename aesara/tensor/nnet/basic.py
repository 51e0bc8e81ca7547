"""Functions of neural networks under their documented path.

They are defined in `activations`, `crossentropy`, `hierarchical`, `prepend`, `softmax` and `rules`.
"""

from typing import Any as _Any

from aesara.graph.rewriting.databases import optdb
from aesara.tensor.elementwise.ops import (
    add,
    eq,
    exp,
    expm1,
    log,
    mul,
    neg,
    or_,
    sigmoid,
    softplus,
    tanh,
    true_divide,
)
from aesara.tensor.nnet.activations import ScalarSoftsign, elu, relu, scalar_softsign, selu, softsign
from aesara.tensor.nnet.crossentropy import (
    CrossentropyCategorical1Hot,
    CrossentropyCategorical1HotGrad,
    CrossentropySoftmax1HotWithBiasDx,
    CrossentropySoftmaxArgmax1HotWithBias,
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
from aesara.tensor.nnet.hierarchical import h_softmax
from aesara.tensor.nnet.prepend import (
    Prepend_scalar_constant_to_each_row,
    Prepend_scalar_to_each_row,
    prepend_0_to_each_row,
    prepend_1_to_each_row,
    prepend_scalar_to_each_row,
)
from aesara.tensor.nnet.rules import (
    crossentropy_to_crossentropy_with_softmax,
    crossentropy_to_crossentropy_with_softmax_with_bias,
    graph_merge_softmax_with_crossentropy_softmax,
    local_argmax_pushdown,
    local_softmax_grad_to_crossentropy_with_softmax_grad,
    local_softmax_with_bias,
    local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc,
)
from aesara.tensor.nnet.softmax import SoftmaxWithBias, softmax_grad_legacy, softmax_legacy, softmax_with_bias
from aesara.tensor.reductions.softmax import Softmax, SoftmaxGrad
from aesara.tensor.reductions.softmax import log_softmax as _log_softmax
from aesara.tensor.reductions.softmax import softmax as _softmax
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.special import (
    local_advanced_indexing_crossentropy_onehot,
    local_advanced_indexing_crossentropy_onehot_grad,
    softmax_simplifier,
)
from aesara.utils import deprecated_attribute as _deprecated_attribute

__all__ = [name for name in dir() if not name.startswith("_")]

DEPRECATED_NAMES = [
    (name, f"`aesara.tensor.nnet.basic.{name}` has moved: use `aesara.tensor.special.{new}`.", function)
    for name, new, function in (("softmax", "softmax", _softmax), ("logsoftmax", "log_softmax", _log_softmax))
]


def __getattr__(name: str) -> _Any:
    return _deprecated_attribute(DEPRECATED_NAMES, __name__, name)
