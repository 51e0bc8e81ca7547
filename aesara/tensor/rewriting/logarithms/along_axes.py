"""Logarithms of products along axes, which overflow or underflow, as sums of logarithms."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import and_, exp, le, log, lt, ndtr, sgn, sigmoid, switch
from aesara.tensor.reductions.softmax import Softmax
from aesara.tensor.reductions.sum_prod_max import Prod, Sum
from aesara.tensor.rewriting.helpers import constant_like, in_place_of, is_float
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

#: Functions with values from 0 to 1, the logarithms of which are all of one sign.
PROBABILITIES = (sigmoid, ndtr)


@rules.stabilize("local_log_prod_sqr")
@rules.specialize("local_log_prod_sqr")
@node_rewriter([log])
def local_log_prod(fgraph, node):
    """``log(prod(x))`` as ``sum(log(x))`` where the product is out of range, or `x` are exponentials or probabilities.

    The sum of logarithms of any numbers may cancel; a product in the range does not.
    """
    out = node.outputs[0]
    (product,) = node.inputs
    shuffle = None
    if product.owner is not None and isinstance(product.owner.op, DimShuffle):
        shuffle = product.owner.op
        (product,) = product.owner.inputs
    inner = product.owner
    if inner is None or not isinstance(inner.op, Prod) or not is_float(out):
        return False
    (x,) = inner.inputs
    dtype = out.type.dtype
    if product.type.dtype != dtype or x.type.dtype != dtype or len(fgraph.clients[product]) != 1:
        return False
    if x.owner is not None and x.owner.op == exp and x.owner.inputs[0].type.dtype == dtype:
        result = _sum_along(inner.op, x.owner.inputs[0])
    elif x.owner is not None and (x.owner.op in PROBABILITIES or isinstance(x.owner.op, Softmax)):
        result = _sum_along(inner.op, log(x))
    else:
        result = _log_of_product(inner.op, x, product)
    return in_place_of(out, result if shuffle is None else shuffle(result))


def _sum_along(product: Prod, x: Variable) -> Variable:
    """The sum along the axes of a product, in the dtypes of it."""
    return Sum(product.axis, dtype=product.dtype, acc_dtype=product.acc_dtype)(x)


def _log_of_product(op: Prod, x: Variable, product: Variable) -> Variable:
    """The logarithm of a product if it is in the range of normal numbers, and the sum of logarithms else."""
    facts = np.finfo(x.type.dtype)
    size = at_abs(product)
    usable = and_(le(np.asarray(facts.tiny, dtype=x.type.dtype), size), lt(size, np.inf))
    logarithm = log(switch(usable, product, constant_like(1, product)))
    # Where a factor is zero, so is the product of signs.
    negative = lt(op(sgn(x)), 0)
    total = _sum_along(op, log(at_abs(x)))
    return switch(usable, logarithm, switch(negative, constant_like(np.nan, product), total))
