"""Examples of rules about identity matrices and zeros in products, batches, and operations that are graphs."""

import numpy as np

import aesara.tensor as at
from aesara.subgraph import OpFromGraph
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.sequences.cumulative import CumOp
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.sort import SortOp
from aesara.tensor.vectorization.blockwise import Blockwise
from tests.rules.framework import example

UNUSED = "what is not computed is not checked"
ZERO = {
    "assumes_finite": "zero times infinity is taken for zero",
    "zeros": "a sum of zeros is 0, whatever their signs",
}


def _subgraph(*inputs):
    """An operation that is a graph of two inputs."""
    x, y = (variable.type() for variable in inputs)
    return OpFromGraph([x, y], [x * y - x], inline=True)


EXAMPLES = {
    "local_blockwise_of_rule": [
        lambda t: Blockwise(SortOp("quicksort"), "(n),()->(n)")(t, 0),
        lambda m: Blockwise(Sum(axis=(0,)), "(n)->()")(m),
        lambda m: Blockwise(DimShuffle((False,), (0, "x")), "(n)->(n,k)")(m),
        lambda v: Blockwise(CumOp(0, "add"), "(n)->(n)")(v),
    ],
    "inline_ofg_expansion": [
        lambda x, y: _subgraph(x, y)(x, y),
        lambda m: _subgraph(m[0], m[1])(m[0], m[1])[1:],
    ],
    "local_zeros_dot": [
        example(lambda m: at.dot(at.zeros((3, 4)), m), **ZERO),
        example(lambda v: at.dot(np.zeros(5), v), **ZERO),
    ],
    "local_dot_zeros": [
        example(lambda m: at.dot(m, at.zeros_like(m).T), **ZERO),
        example(lambda m: at.dot(m, np.zeros(5)), **ZERO),
    ],
    "local_dot_of_identity": [
        example(lambda m: at.dot(at.eye(4), m), **ZERO),
        example(lambda m: at.dot(m, np.eye(5)), **ZERO),
        example(lambda v: at.dot(at.eye(5), v), **ZERO),
        example(lambda v: at.dot(v, np.eye(5, dtype="int8")), **ZERO),
        example(lambda v, n1: at.dot(at.eye(n1), v), **ZERO),
    ],
}
