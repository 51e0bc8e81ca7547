"""Rules about convolutions and products of chosen blocks, under their documented path.

They are defined in `conv_rules` and `blocksparse_rules`.
"""

from aesara.configdefaults import config
from aesara.graph.rewriting.databases import optdb
from aesara.tensor.nnet.blocksparse import sparse_block_gemv_inplace, sparse_block_outer_inplace
from aesara.tensor.nnet.blocksparse_rules import local_inplace_sparse_block_gemv, local_inplace_sparse_block_outer
from aesara.tensor.nnet.conv_rules import (
    conv_groupopt,
    local_abstractconv3d_gemm,
    local_abstractconv3d_gradinputs_gemm,
    local_abstractconv3d_gradweight_gemm,
    local_abstractconv_check,
    local_abstractconv_gemm,
    local_abstractconv_gradinputs_gemm,
    local_abstractconv_gradweight_gemm,
    local_conv2d_cpu,
    local_conv2d_gradinputs_cpu,
    local_conv2d_gradweight_cpu,
)

__all__ = [name for name in dir() if not name.startswith("_")]
