"""Symbolic tensors: constructors, functions and the variables they make.

Each module below says in its ``__all__`` which of its names are found here: functions and constructors of variables.
Classes of ops are imported from the modules that define them.

Loading a module binds its name here: the modules `shape`, `sort` and `var`, whose names are also those of functions,
are loaded before the functions are bound, so that they do not replace them later.
"""

from typing import TYPE_CHECKING

from aesara.graph.autodiff import grad
from aesara.graph.nodes import Constant, Variable
from aesara.graph.op import Op
from aesara.tensor import exceptions, sharedvar, type, type_other, utils, vectorization
from aesara.tensor import var as _var
from aesara.tensor.core import operators as _operators  # gives variables their operators and methods
from aesara.tensor.core.casting import *
from aesara.tensor.core.constant_value import *
from aesara.tensor.core.constants import *
from aesara.tensor.core.conversion import *
from aesara.tensor.core.conversion import _as_tensor_variable
from aesara.tensor.core.deprecations import DEPRECATED_NAMES, MATH_DEPRECATED_NAMES
from aesara.tensor.core.scalar_conversion import *
from aesara.tensor.core.transfer import *
from aesara.tensor.core.value_comparison import values_eq_approx_always_true
from aesara.tensor.core.vector_length import *
from aesara.tensor.creation.allocation import *
from aesara.tensor.creation.diagonals import *
from aesara.tensor.creation.equal_steps import *
from aesara.tensor.creation.eye_tri import *
from aesara.tensor.creation.ranges import *
from aesara.tensor.derivatives import structure as _structure
from aesara.tensor.derivatives import structure_of_products as _structure_of_products
from aesara.tensor.derivatives.gradient_operators import *
from aesara.tensor.derivatives.jacobian import *
from aesara.tensor.elementwise.numpy_ops import *
from aesara.tensor.elementwise.ops import *
from aesara.tensor.elementwise.special import *
from aesara.tensor.indexing.choosing import *
from aesara.tensor.indexing.conditions import *
from aesara.tensor.indexing.inc_subtensor import *
from aesara.tensor.indexing.index_conversion import *
from aesara.tensor.indexing.nonzero import *
from aesara.tensor.indexing.permuting import *
from aesara.tensor.indexing.selection import *
from aesara.tensor.io import *
from aesara.tensor.joining.join_split import *
from aesara.tensor.joining.padding import *
from aesara.tensor.joining.stacking import *
from aesara.tensor.numpy_api.names import *
from aesara.tensor.numpy_api.protocol import offer as _offer_to_numpy
from aesara.tensor.ordering.searching import *
from aesara.tensor.ordering.sets import *
from aesara.tensor.ordering.sorting import *
from aesara.tensor.products.dot import *
from aesara.tensor.products.einsum import *
from aesara.tensor.products.matmul import *
from aesara.tensor.products.vectors import *
from aesara.tensor.reductions.all_any import *
from aesara.tensor.reductions.argmax import *
from aesara.tensor.reductions.logsumexp import *
from aesara.tensor.reductions.nan_reductions import *
from aesara.tensor.reductions.sum_prod_max import *
from aesara.tensor.sequences.convolve import *
from aesara.tensor.sequences.cumulative import *
from aesara.tensor.sequences.interpolation import *
from aesara.tensor.sequences.windows import *
from aesara.tensor.shape import shape as shape
from aesara.tensor.shapes.broadcasting import *
from aesara.tensor.shapes.dimensions import *
from aesara.tensor.shapes.flipping import *
from aesara.tensor.shapes.rearranging import *
from aesara.tensor.shapes.repeating import *
from aesara.tensor.shapes.reshape import *
from aesara.tensor.shapes.shape import *
from aesara.tensor.shapes.specify_shape import *
from aesara.tensor.sort import sort as sort
from aesara.tensor.statistics.covariance import *
from aesara.tensor.statistics.mean_var import *
from aesara.tensor.statistics.observations import *
from aesara.tensor.statistics.order_statistics import *
from aesara.tensor.type import *
from aesara.tensor.type_other import *
from aesara.tensor.var import *
from aesara.tensor.vectorization.blockwise import *
from aesara.utils import modules_on_demand as _modules_on_demand

_offer_to_numpy(globals())

# Load functions of neural networks, and register their rewrites, at the first access.
_ELSEWHERE = dict.fromkeys(
    "binary_crossentropy categorical_crossentropy confusion_matrix conv2d conv2d_transpose conv3d elu hard_sigmoid "
    "logsoftmax relu selu separable_conv2d sigmoid_binary_crossentropy softsign ultra_fast_sigmoid".split(),
    "aesara.tensor.nnet",
) | {"softmax": "aesara.tensor.special", "log_softmax": "aesara.tensor.special", "assume": "aesara.tensor.linalg"}

__getattr__ = _modules_on_demand(__name__, DEPRECATED_NAMES, _ELSEWHERE)
