"""Rules about matrices in one row, and expressions that their replacements share.

The rules apply to one matrix, and to each of a batch (`Blockwise`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.matching import LogicVariable, Ops, one_of
from aesara.graph.rewriting.pattern import Rule
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
from aesara.tensor.rewriting.helpers import outputs_in_place_of
from aesara.tensor.rewriting.matrices.facts import core_of, diagonal_in, facts_of, is_square, swaps_last
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.vectorization.blockwise import Blockwise


def is_real(x: Variable) -> bool:
    """Return whether a tensor is of real floating point numbers."""
    return x.type.dtype.startswith("float")


def minus_one(x: Variable) -> Any:
    """Return -1 in the dtype of a matrix."""
    return np.asarray(-1, x.type.dtype)


def matrix_transpose(x: Any) -> TensorVariable:
    """Return the transpose of a matrix, or of each matrix of a batch."""
    n = x.type.ndim
    return x.dimshuffle(*range(n - 2), n - 1, n - 2)


def with_vectors(node: Apply) -> bool:
    """Return whether the right-hand sides of a system of equations are vectors."""
    if isinstance(node.op, Blockwise):
        return len(node.op.inputs_signature[-1]) == 1
    return node.inputs[-1].type.ndim == 1


def apply_like(node: Apply, op: MatrixOp, *inputs: Variable, signature: str | None = None) -> TensorVariable:
    """Return the result of an op in the place of a node: of vectors or matrices, batched or not, like that."""
    if not isinstance(node.op, Blockwise):
        return op(*inputs)
    return Blockwise(op, signature or node.op.signature)(*inputs)


def fits_as_columns(x: Variable, b: Variable) -> bool:
    """Return whether right-hand sides of the dtype of a matrix are a vector, or columns, and not of length one."""
    return b.type.ndim <= 2 and not b.type.broadcastable[0] and b.type.dtype == x.type.dtype


def as_rows(d: Any, vectors: bool) -> TensorVariable:
    """Return one number for each row of right-hand sides, to multiply or divide them by."""
    return d if vectors else d.dimshuffle(*range(d.type.ndim), "x")


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
    """Return numbers none of which is zero; else an error as of a singular matrix."""
    message = "Singular matrix: a zero stands on its diagonal."
    return CheckAndRaise(np.linalg.LinAlgError, message)(d, all_of(neq(d, 0)))


def product_of(d: Variable) -> Variable:
    """Return the product along the last dimension, by logarithms where it leaves the range on the way."""
    product = prod(d, axis=-1, dtype=d.type.dtype)
    lost = or_(isinf(product), eq(product, 0))
    return switch(lost, prod(sgn(d), axis=-1, dtype=d.type.dtype) * exp(log_of_product(d)), product)


def log_of_product(d: Variable) -> Variable:
    """Return the logarithm of the size of the product along the last dimension."""
    return sum(log(absolute(d)), axis=-1, dtype=d.type.dtype)


def log_of_square(factor: Variable) -> Variable:
    """Return the logarithms of the determinants of ``L @ L.T`` for triangular matrices L."""
    d = diagonal_of(factor)
    return mul(np.asarray(2, d.type.dtype), log_of_product(d))


def two_terms(x: Variable, *ops: Op) -> Iterator[tuple[Any, Any]]:
    """Yield the terms of a sum of two real matrices in both orders; `ops` are those that make one."""
    node = x.owner
    if node is None or node.op not in ops or len(node.inputs) != 2 or x.type.ndim != 2 or not is_real(x):
        return
    if all(v.type.dtype == x.type.dtype for v in node.inputs):
        first, second = node.inputs
        yield first, second
        yield second, first


def ones_like_batch(x: Any) -> TensorVariable:
    """Return a one for each matrix of a batch."""
    one = np.asarray(1, x.type.dtype)
    sizes = [x.shape[k] for k in range(x.type.ndim - 2)]
    return alloc(one, *sizes)


class MatrixOps(Ops):
    """A pattern of ops of a matrix, or of each in a batch; name and attributes are those of the core op."""

    several_outputs = True

    @property
    def alternatives(self) -> list[TensorVariable]:
        return [*super().alternatives, Blockwise]

    def __call__(self, op: Op) -> bool:
        return super().__call__(core_of(op))

    def op_of(self, node: Apply) -> Op:
        return core_of(node.op)


def of_matrices(*kinds: type[Op], name: str | None = None, **attributes: Any) -> MatrixOps:
    """Return a pattern for an op of one of several classes, for one matrix or for a batch; otherwise as `one_of`."""
    return MatrixOps(kinds, name, None, attributes)


#: The transpose of a matrix, or of each in a batch.
transpose = one_of(DimShuffle, new_order=lambda order: swaps_last(order), drop=[])


def matrix_with_fact(name: str, *facts: str, but: str | None = None) -> LogicVariable:
    """Return a variable of a pattern that is a matrix with one of some facts at least, and without another one."""

    def holds(x: Variable) -> bool:
        found = facts_of(x)
        return not found.isdisjoint(facts) and but not in found

    return LogicVariable(name, holds)


def matrix_row(name: str, pattern: Any, replacement: Any, when: Callable[..., bool] | None = None, *, why: str) -> Rule:
    """Return a rule about matrices of any dtype; the replacement has one variable for each output of the op."""
    return Rule(name, pattern, replacement, when, why=why, fit=_in_place)


def _in_place(out: Variable, new: Any, inputs: Sequence[Variable]) -> list[Variable] | None:
    assert out.owner is not None
    return outputs_in_place_of(out.owner, new if isinstance(new, (list, tuple)) else (new,))
