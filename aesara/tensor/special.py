"""Softmax, factorials and all special functions, under their documented names."""

from aesara.tensor.elementwise.ops import expit, log1mexp, log1pexp, neg, sigmoid, softplus
from aesara.tensor.elementwise.special import *
from aesara.tensor.reductions.softmax import UNSET_AXIS, LogSoftmax, Softmax, SoftmaxGrad, log_softmax, softmax
