"""Matrix products in the forms of BLAS, under their documented names.

Ops are in ``products.gemm`` and ``products.gemv`` (`BatchedDot` in ``products.dot``), rules in ``rewriting.blas``, and
properties of the library in ``aesara.compat.blas_library``.
"""

from aesara.compat.blas_library import check_init_y, ldflags
from aesara.configdefaults import config
from aesara.graph.hooks import pprint
from aesara.graph.rewriting.databases import optdb
from aesara.scalar.types import bool as bool_t
from aesara.tensor.elementwise.ops import add, mul, neg, sub
from aesara.tensor.products.dot import *
from aesara.tensor.products.dot import BatchedDot
from aesara.tensor.products.gemm import *
from aesara.tensor.products.gemv import *
from aesara.tensor.rewriting.blas import (
    GemmOptimizer,
    _dot22,
    _dot22scalar,
    blas_opt_inplace,
    blas_optdb,
    local_dot22_to_dot22scalar,
    local_dot22_to_ger_or_gemv,
    local_dot_to_dot22,
    local_gemm_to_gemv,
    local_gemm_to_ger,
    local_inplace_gemm,
    local_inplace_gemv,
    local_inplace_ger,
    local_print_as_we_go_along,
    res_is_a,
)
from aesara.tensor.rewriting.elemwise import local_dimshuffle_lift
