"""Functions for neural networks. Importing this package registers the rules about them."""

from aesara.tensor.nnet.activations import *
from aesara.tensor.nnet.batchnorm import batch_normalization
from aesara.tensor.nnet.batchnorm import rules as _rules_of_batches
from aesara.tensor.nnet.blocksparse_rules import rules as _rules_of_blocks
from aesara.tensor.nnet.conv_composed import *
from aesara.tensor.nnet.conv_functions import *
from aesara.tensor.nnet.conv_gradients import *
from aesara.tensor.nnet.conv_rules import rules as _rules_of_convolutions
from aesara.tensor.nnet.crossentropy import *
from aesara.tensor.nnet.ctc import rules as _rules_of_sequences
from aesara.tensor.nnet.hierarchical import *
from aesara.tensor.nnet.prepend import *
from aesara.tensor.nnet.rules import (
    crossentropy_to_crossentropy_with_softmax,
    crossentropy_to_crossentropy_with_softmax_with_bias,
    graph_merge_softmax_with_crossentropy_softmax,
)
from aesara.tensor.nnet.rules import rules as _rules_of_networks
from aesara.tensor.nnet.softmax import *
from aesara.tensor.reductions.softmax import log_softmax as logsoftmax
from aesara.tensor.reductions.softmax import softmax
from aesara.tensor.rewriting.special import softmax_simplifier

#: The rules of this package, in the order in which they are tried, after those of tensors.
RULES = (_rules_of_batches, _rules_of_blocks, _rules_of_convolutions, _rules_of_networks, _rules_of_sequences)
for _rules in RULES:
    _rules.register()
