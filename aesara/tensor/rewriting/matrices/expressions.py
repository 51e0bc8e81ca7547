"""Expressions that replacements of several rules about matrices consist of.

They are for one matrix, and for each of a batch (`Blockwise`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.diagonals import ExtractDiag
from aesara.tensor.creation.eye_tri import Eye
from aesara.tensor.elementwise.ops import abs as absolute
from aesara.tensor.elementwise.ops import eq, exp, isinf, log, mul, neq, or_, sgn, switch
from aesara.tensor.linear_algebra.core import MatrixOp
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.reductions.sum_prod_max import prod, sum
from aesara.tensor.rewriting.matrices.facts import diagonal_in, facts_of, is_square
from aesara.tensor.vectorization.blockwise import Blockwise


def minus_one(x: Variable) -> Any:
    """Return -1 in the dtype of a matrix."""
    return np.asarray(-1, x.type.dtype)


def matrix_transpose(x: Any) -> TensorVariable:
    """Return the transpose of a matrix, or of each matrix of a batch."""
    n = x.type.ndim
    return x.dimshuffle(*range(n - 2), n - 1, n - 2)


def as_rows(d: Any, vectors: bool) -> TensorVariable:
    """Return a vector in a shape that multiplies the rows of right-hand sides: a column unless they are vectors."""
    return d if vectors else d.dimshuffle(*range(d.type.ndim), "x")


def apply_like(node: Apply, op: MatrixOp, *inputs: Variable, signature: str | None = None) -> TensorVariable:
    """Apply an op as `node` applies its own: to each member of a batch if that is a `Blockwise`."""
    if not isinstance(node.op, Blockwise):
        return op(*inputs)
    return Blockwise(op, signature or node.op.signature)(*inputs)


def diagonal_of(x: Variable) -> Variable:
    """Return the diagonal of a matrix, or of each matrix of a batch."""
    d = diagonal_in(x)
    if d is not None:
        return d
    n, node = x.type.ndim, x.owner
    if isinstance(x, Constant):
        return constant(np.diagonal(x.data, axis1=-2, axis2=-1).copy())
    if node is not None and isinstance(node.op, Eye) and "identity" in facts_of(x):
        return alloc(np.asarray(1, x.type.dtype), node.inputs[0])
    return ExtractDiag(0, n - 2, n - 1)(x)


def diagonal_of_square(x: Any) -> Variable:
    """Return the diagonal of a matrix; raise an error at run time if it is not square."""
    d = diagonal_of(x)
    if is_square(x):
        return d
    check = CheckAndRaise(np.linalg.LinAlgError, "The matrix must be square.")
    return check(d, eq(x.shape[-2], x.shape[-1]))


def unless_singular(d: Variable) -> Variable:
    """Return the diagonal `d`; raise the error of a singular matrix at run time if it has a zero."""
    message = "Singular matrix: its diagonal has a zero."
    return CheckAndRaise(np.linalg.LinAlgError, message)(d, all_of(neq(d, 0)))


def product_of(d: Variable) -> Variable:
    """Return the product along the last dimension, by logarithms where the direct product overflows or underflows."""
    product = prod(d, axis=-1, dtype=d.type.dtype)
    out_of_range = or_(isinf(product), eq(product, 0))
    return switch(out_of_range, prod(sgn(d), axis=-1, dtype=d.type.dtype) * exp(log_of_product(d)), product)


def log_of_product(d: Variable) -> Variable:
    """Return the logarithm of the absolute value of the product along the last dimension."""
    return sum(log(absolute(d)), axis=-1, dtype=d.type.dtype)


def log_of_square(factor: Variable) -> Variable:
    """Return the logarithms of the determinants of ``L @ L.T`` for triangular matrices L."""
    d = diagonal_of(factor)
    return mul(np.asarray(2, d.type.dtype), log_of_product(d))


def ones_like_batch(x: Any) -> TensorVariable:
    """Return a one for each matrix of a batch."""
    one = np.asarray(1, x.type.dtype)
    batch_shape = [x.shape[k] for k in range(x.type.ndim - 2)]
    return alloc(one, *batch_shape)
