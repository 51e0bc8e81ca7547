"""Mathematical functions of tensors, under their documented names."""

from typing import Any as _Any

from aesara.configdefaults import config
from aesara.graph.hooks import pprint
from aesara.tensor.core.deprecations import DEPRECATED_NAMES
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import *
from aesara.tensor.elementwise.ops import conj_ as _conj
from aesara.tensor.elementwise.ops import identity, isinf_, isnan_, mod_check
from aesara.tensor.elementwise.special import *
from aesara.tensor.products.dot import *
from aesara.tensor.products.dot import BatchedDot, Dot, _dot
from aesara.tensor.products.matmul import *
from aesara.tensor.products.matmul import MatMul
from aesara.tensor.reductions.all_any import *
from aesara.tensor.reductions.all_any import All, Any
from aesara.tensor.reductions.argmax import *
from aesara.tensor.reductions.argmax import Argmax, MaxAndArgmax
from aesara.tensor.reductions.logsumexp import *
from aesara.tensor.reductions.sum_prod_max import *
from aesara.tensor.reductions.sum_prod_max import (
    Max,
    Min,
    MulWithoutZeros,
    NonZeroCAReduce,
    Prod,
    ProdWithoutZeros,
    Sum,
    check_and_normalize_axes,
    makeKeepDims,
    mul_without_zeros,
)
from aesara.tensor.sequences.convolve import *
from aesara.tensor.sequences.convolve import Convolve
from aesara.tensor.statistics.covariance import *
from aesara.tensor.statistics.mean_var import *
from aesara.tensor.statistics.mean_var import Mean
from aesara.tensor.type_other import NoneConst
from aesara.utils import deprecated_attribute as _deprecated_attribute

#: functions; classes of ops, settings and helpers are there by name
__all__ = [name for name, x in globals().items() if callable(x) and not isinstance(x, type) and name[0] != "_"]


def __getattr__(name: str) -> _Any:
    return _deprecated_attribute(DEPRECATED_NAMES, __name__, name)
