"""Products of matrices in the forms of BLAS: the documented names.

Operations stand in ``products.gemm`` and ``products.gemv`` (`BatchedDot` in ``products.dot``), rules in
``rewriting.blas``, questions about the library in ``aesara.compat.blas_library``.
"""

from aesara.compat.blas_library import check_init_y, ldflags
from aesara.configdefaults import config
from aesara.graph.hooks import pprint
from aesara.graph.rewriting.databases import optdb
from aesara.scalar.types import bool as bool_t
from aesara.tensor.elementwise.ops import add, mul, neg, sub
from aesara.tensor.products.dot import BatchedDot, batched_dot, batched_tensordot
from aesara.tensor.products.gemm import (
    Dot22,
    Dot22Scalar,
    Gemm,
    GemmRelated,
    gemm,
    gemm_inplace,
    gemm_no_inplace,
)
from aesara.tensor.products.gemv import Gemv, Ger, gemv, gemv_inplace, gemv_no_inplace, ger, ger_destructive
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

__all__ = [
    "BatchedDot",
    "Dot22",
    "Dot22Scalar",
    "Gemm",
    "GemmOptimizer",
    "GemmRelated",
    "Gemv",
    "Ger",
    "_dot22",
    "_dot22scalar",
    "add",
    "batched_dot",
    "batched_tensordot",
    "blas_opt_inplace",
    "blas_optdb",
    "bool_t",
    "check_init_y",
    "config",
    "gemm",
    "gemm_inplace",
    "gemm_no_inplace",
    "gemv",
    "gemv_inplace",
    "gemv_no_inplace",
    "ger",
    "ger_destructive",
    "ldflags",
    "local_dimshuffle_lift",
    "local_dot22_to_dot22scalar",
    "local_dot22_to_ger_or_gemv",
    "local_dot_to_dot22",
    "local_gemm_to_gemv",
    "local_gemm_to_ger",
    "local_inplace_gemm",
    "local_inplace_gemv",
    "local_inplace_ger",
    "local_print_as_we_go_along",
    "mul",
    "neg",
    "optdb",
    "pprint",
    "res_is_a",
    "sub",
]
