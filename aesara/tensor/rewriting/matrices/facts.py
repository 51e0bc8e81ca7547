"""Facts about matrices, derived from the ops that compute them, from `assume`, and from tags of variables.

All rules about the structure of matrices call `facts_of`. Facts are the parameters of `assume`, and ``identity``,
``positive_semidefinite`` and ``positive_diagonal``. They hold for finite numbers, up to rounding (``A @ A.T`` is
symmetric), and for each matrix of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara import scalar as aes
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.view import ViewOp
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import AllocDiag
from aesara.tensor.creation.eye_tri import Eye, Tri
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import mul
from aesara.tensor.linear_algebra.assume import Assume, with_consequences
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.eigen import Eigh
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.linear_algebra.svd import SVD
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.matmul import MatMul
from aesara.tensor.rewriting.helpers import common_value, without_shuffles
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape
from aesara.tensor.vectorization.blockwise import Blockwise

TRIANGLES = ("lower_triangular", "upper_triangular")

#: Constants with more rows are not examined.
LARGEST_CONSTANT = 1024
#: The largest number of factors of a product that are examined.
LONGEST = 8
#: The largest number of variables that one query visits.
BUDGET = 300

#: Functions that map zero to zero: their results keep triangles and diagonals.
_ZERO_AT_ZERO = (
    aes.Neg, aes.Abs, aes.Sqr, aes.Sqrt, aes.Sgn, aes.Sin, aes.Sinh, aes.Tan, aes.Tanh, aes.ArcSin, aes.ArcSinh,
    aes.ArcTan, aes.ArcTanh, aes.Expm1, aes.Log1p, aes.Cast, aes.Conj, aes.Identity,
)  # fmt: skip
_EVEN = (aes.Abs, aes.Sqr, aes.Cos, aes.Cosh)
_ODD = (aes.Neg, aes.Sin, aes.Sinh, aes.Tan, aes.Tanh, aes.ArcSin, aes.ArcSinh, aes.ArcTan, aes.ArcTanh, aes.Sgn)
_COMMUTATIVE = (aes.Add, aes.Mul, aes.ScalarMaximum, aes.ScalarMinimum, aes.EQ, aes.NEQ)

_PATTERNS = frozenset((*TRIANGLES, "diagonal"))
_SWAPPED = dict(zip(TRIANGLES, reversed(TRIANGLES), strict=True))
#: Facts that hold of the inverse if they hold of the matrix.
_KEPT_BY_INVERSE = _PATTERNS | {
    "symmetric", "hermitian", "positive_definite", "orthogonal", "permutation", "identity", "positive_diagonal",
}  # fmt: skip
#: Facts that hold of a product if they hold of both factors.
_KEPT_BY_PRODUCT = _PATTERNS | {"orthogonal", "permutation", "identity"}
#: Facts that only square matrices may have; a diagonal or triangular one may have any shape.
_ONLY_OF_SQUARES = frozenset(("symmetric", "hermitian", "positive_definite", "permutation"))
_SEMIDEFINITE = frozenset(("positive_definite", "positive_semidefinite"))
_NONE: frozenset[str] = frozenset()


def facts_of(x: Variable, budget: int = BUDGET) -> frozenset[str]:
    """Return the known facts about a matrix, or the matrices of a batch; `budget` bounds the search."""
    return _Query(budget).facts(x)


def core_of(op: Op) -> Op:
    """Return the core op of a `Blockwise`; other ops as they are."""
    return op.core_op if isinstance(op, Blockwise) else op


def core_op(node: Apply | None) -> Op | None:
    """Return the op of a node, or its core op if that is a `Blockwise`; None without a node."""
    return None if node is None else core_of(node.op)


def is_square(x: Variable) -> bool:
    """Return whether a matrix is known to have as many rows as columns."""
    return _Query().square(x)


def triangle_in(x: Variable) -> tuple[Variable, bool] | None:
    """Return ``(A, is_lower)`` for ``tril(A)`` and ``triu(A)``, else None."""
    if x.owner is None or not isinstance(x.owner.op, Elemwise) or not isinstance(x.owner.op.scalar_op, aes.Switch):
        return None
    mask, chosen, other = x.owner.inputs
    k = _diagonal_of_mask(mask)
    for inner, rest, wanted in ((chosen, other, 0), (other, chosen, -1)):
        if k == wanted and _is_zero(rest) and inner.type.shape == x.type.shape and inner.type.dtype == x.type.dtype:
            return inner, wanted == 0
    return None


def transposed_of(x: Variable) -> Variable | None:
    """Return the variable of which this is the transpose in the last two dimensions; None for others."""
    node = x.owner
    if node is None or not isinstance(node.op, DimShuffle) or node.op.drop or not swaps_last(node.op.new_order):
        return None
    return node.inputs[0]


def swaps_last(order: Sequence[int | str]) -> bool:
    """Return whether an order of dimensions differs from the usual one in the last two."""
    n = len(order)
    return n >= 2 and tuple(order) == (*range(n - 2), n - 1, n - 2)


def diagonal_in(x: Variable) -> Variable | None:
    """Return the vector of a diagonal matrix, or the vectors of a batch of these, else None."""
    n, node = x.type.ndim, x.owner
    if node is None or not isinstance(node.op, AllocDiag) or node.op.offset != 0:
        return None
    return node.inputs[0] if {node.op.axis1 % n, node.op.axis2 % n} == {n - 2, n - 1} else None


def are_transposes(x: Variable, y: Variable) -> bool:
    """Return whether one of two variables is computed as the transpose of the other."""
    return transposed_of(x) is y or transposed_of(y) is x


def split_numbers(factors: Sequence[Any]) -> tuple[list[TensorVariable], list[TensorVariable]]:
    """Split factors into those with one element and the others."""
    numbers = [v for v in factors if all(v.type.broadcastable)]
    return numbers, [v for v in factors if not all(v.type.broadcastable)]


def product_of_factors(factors: Sequence[Any]) -> Any:
    """Return the elementwise product of one or more variables."""
    return factors[0] if len(factors) == 1 else mul(*factors)


def kronecker_factors(x: Variable) -> tuple[Variable, Variable] | None:
    """Return the square matrices of a Kronecker product in the form that `kron` writes, else None."""
    if x.owner is None or x.type.ndim != 2:
        return None
    if x.owner.op == mul:
        numbers, rest = split_numbers(x.owner.inputs)
        inner = kronecker_factors(rest[0]) if len(rest) == 1 and rest[0].type.dtype == x.type.dtype else None
        return None if inner is None else (mul(inner[0], *numbers), inner[1])
    if not isinstance(x.owner.op, Reshape):
        return None
    product, shape = x.owner.inputs
    if not isinstance(shape, Constant) and (shape.owner is None or not _are_products(shape.owner)):
        return None
    sides = _sides_of_kronecker(product, x.type.dtype)
    if sides is None:
        return None
    first, second = (
        product_of_factors([_with_dimensions(v, kept) for v in side]) for side, kept in zip(sides, ((0, 2), (1, 3)))
    )
    if any(None not in v.type.shape and v.type.shape[0] != v.type.shape[1] for v in (first, second)):
        return None  # the product has no inverse
    if isinstance(shape, Constant):
        sizes = [(a, b) for a, b in zip(first.type.shape, second.type.shape)]
        if [None if None in pair else pair[0] * pair[1] for pair in sizes] != shape.data.tolist():
            return None
    return first, second


def _sides_of_kronecker(product: Variable, dtype: str) -> tuple[list[Variable], list[Variable]] | None:
    """Return the factors of a product that vary along dimensions 0 and 2, and those along 1 and 3; else None."""
    if product.owner is None or product.owner.op != mul:
        return None
    sides: tuple[list[Variable], list[Variable]] = ([], [])
    for v in product.owner.inputs:
        if v.type.ndim != 4 or v.type.dtype != dtype:
            return None
        singles = (v.type.broadcastable[1::2], v.type.broadcastable[::2])
        side = next((side for side, single in zip(sides, singles) if all(single)), None)
        if side is None:
            return None
        side.append(v)
    first, second = sides
    numbers, _ = split_numbers(first)
    if not second and numbers:
        # A factor of one element may be on either side.
        first.remove(numbers[-1])
        second.append(numbers[-1])
    return sides if first and second else None


def _with_dimensions(v: Any, kept: tuple[int, ...], depth: int = 8) -> Variable:
    """Return a tensor without its dimensions of length 1 other than `kept`, built from its operands."""
    node = v.owner
    if isinstance(v, Constant):
        return constant(v.data.reshape([v.data.shape[k] for k in kept]))
    if node is not None and isinstance(node.op, DimShuffle):
        order = [node.op.new_order[k] for k in kept]
        inner: Any = node.inputs[0]
        return inner if order == list(range(inner.type.ndim)) else inner.dimshuffle(order)
    if node is not None and isinstance(node.op, Elemwise) and len(node.outputs) == 1 and depth:
        rebuilt: Variable = node.op(*(_with_dimensions(i, kept, depth - 1) for i in node.inputs))
        return rebuilt
    return v.dimshuffle(kept)


def _are_products(shape: Apply) -> bool:
    """Return whether the elements of a shape are products of two lengths each."""
    if not isinstance(shape.op, MakeVector):
        return False
    return all(
        v.owner is not None
        and isinstance(v.owner.op, Elemwise)
        and isinstance(v.owner.op.scalar_op, aes.Mul)
        and len(v.owner.inputs) == 2
        for v in shape.inputs
    )


class _Query:
    """One query about a matrix; it keeps intermediate results until it ends."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self.known: dict[Variable, frozenset[str]] = {}
        self.signs: dict[tuple[Variable, Variable], int] = {}
        self.visited = 0

    def facts(self, x: Variable) -> frozenset[str]:
        """Return the facts about a variable."""
        known = self.known.get(x)
        if known is not None:
            return known
        self.known[x] = _NONE  # for queries about it that arise meanwhile
        self.visited += 1
        if self.visited > self.budget or not isinstance(x.type, TensorType) or x.type.ndim < 2:
            return _NONE
        facts = _tag_facts(x)
        if isinstance(x, Constant):
            facts |= _constant_facts(x)
        elif x.owner is not None:
            facts_of_op = next(
                (_FACTS_OF_OPS[kind] for kind in type(core_of(x.owner.op)).__mro__ if kind in _FACTS_OF_OPS), None
            )
            facts |= _NONE if facts_of_op is None else facts_of_op(self, core_of(x.owner.op), x.owner, x)
        self.known[x] = with_consequences(facts, x.type.dtype)
        if "symmetric" not in self.known[x] and x.owner is not None and self.transpose_sign(x, x) > 0:
            self.known[x] = with_consequences(self.known[x] | {"symmetric"}, x.type.dtype)
        return self.known[x]

    # Symmetry

    def transpose_sign(self, x: Variable, y: Variable) -> int:
        """Return 1 if `y` is known to be the transpose of `x`, -1 if minus the transpose, else 0."""
        key = (x, y)
        sign = self.signs.get(key)
        if sign is None:
            self.signs[key] = 0
            self.visited += 1
            sign = 0 if self.visited > self.budget else self._transpose_sign(x, y)
            self.signs[key] = sign
        return sign

    def _transpose_sign(self, x: Variable, y: Variable) -> int:
        if x.type.ndim != y.type.ndim or x.type.ndim < 2:
            return 0
        if are_transposes(x, y) or (x is y and all(x.type.broadcastable[-2:])):
            return 1
        sign = self._sign_by_ops(x, y)
        return sign or int(x is y and "symmetric" in self.facts(x))

    def _sign_by_ops(self, x: Variable, y: Variable) -> int:
        """Return `transpose_sign` from the ops that compute both."""
        if x.owner is None or y.owner is None:
            return int(isinstance(x, Constant) and isinstance(y, Constant) and _are_transposes(x.data, y.data))
        if isinstance(x.owner.op, DimShuffle) and isinstance(y.owner.op, DimShuffle):
            # A column and a row of one vector, or the same matrices transposed.
            *lead, row, column = x.owner.op.new_order
            return int(x.owner.inputs[0] is y.owner.inputs[0] and y.owner.op.new_order == (*lead, column, row))
        if x.owner.op != y.owner.op:
            return 0
        if isinstance(x.owner.op, Elemwise):
            return self._sign_of_elementwise(x.owner.op.scalar_op, x.owner.inputs, y.owner.inputs)
        if isinstance(x.owner.op, (Dot, MatMul)):
            return self._sign_of_products(_factors(x), _factors(y))
        return 0

    def _sign_of_products(self, xs: Sequence[Variable], ys: Sequence[Variable]) -> int:
        if len(xs) != len(ys) or any(v.type.ndim < 2 for v in (*xs, *ys)):
            return 0
        sign = 1
        for a, b in zip(xs, reversed(ys)):
            sign = sign and sign * self.transpose_sign(a, b)
        return sign

    def _sign_of_elementwise(self, scalar_op: Any, xs: Sequence[Variable], ys: Sequence[Variable]) -> int:
        if isinstance(scalar_op, aes.Sub):
            if self.transpose_sign(xs[0], ys[1]) > 0 and self.transpose_sign(xs[1], ys[0]) > 0:
                return -1
        signs = [self.transpose_sign(a, b) for a, b in zip(xs, ys)]
        if isinstance(scalar_op, aes.Pow) and signs[0] < 0:
            exponent = common_value(xs[1])
            if exponent is None or exponent != int(exponent) or common_value(ys[1]) != exponent:
                return 0
            return 1 if exponent % 2 == 0 else -1
        if isinstance(scalar_op, _COMMUTATIVE) and 0 in signs:
            signs = self._match_signs(xs, ys)
        if 0 in signs:
            return 0
        if isinstance(scalar_op, _EVEN) or min(signs) > 0:
            return 1
        if isinstance(scalar_op, (*_ODD, aes.Cast)):
            return -1
        if isinstance(scalar_op, (aes.Mul, aes.TrueDivide)):
            return int(np.prod(signs))
        if isinstance(scalar_op, (aes.Add, aes.Sub)):
            return -1 if max(signs) < 0 else 0
        return 0

    def _match_signs(self, xs: Sequence[Variable], ys: Sequence[Variable]) -> list[int]:
        """Pair each operand with its transpose among the others, and return the signs; [0] if there is no pairing."""
        remaining = list(ys)
        signs = []
        for x in xs:
            match = next((k for k, y in enumerate(remaining) if self.transpose_sign(x, y)), None)
            if match is None:
                return [0]
            signs.append(self.transpose_sign(x, remaining.pop(match)))
        return signs

    # Sizes

    def square(self, x: Variable) -> bool:
        """Return whether a matrix is known to have as many rows as columns."""
        if _is_square(x):
            return True
        node = x.owner
        if node is None:
            return False
        op = core_op(node)
        if isinstance(op, (Cholesky, MatrixInverse, Eigh, AllocDiag)):
            return True
        if isinstance(op, Assume) and not _ONLY_OF_SQUARES.isdisjoint(op.facts):
            return True
        if isinstance(op, Eye):
            n, m = node.inputs[:2]
            return n is m or (known_integer(n) is not None and known_integer(n) == known_integer(m))
        if isinstance(op, Reshape):
            factors = kronecker_factors(x)
            return factors is not None and all(map(self.square, factors))
        if isinstance(op, (Assume, CheckAndRaise)) or transposed_of(x) is not None:
            return x.type.ndim == node.inputs[0].type.ndim and self.square(node.inputs[0])
        if isinstance(op, Elemwise):
            matrices = [i for i in node.inputs if i.type.broadcastable[-2:] == x.type.broadcastable[-2:]]
            return any(self.square(i) for i in matrices) or "symmetric" in self.facts(x)
        if isinstance(op, (Dot, MatMul)) and x.type.ndim >= 2:
            a, b = node.inputs
            return min(a.type.ndim, b.type.ndim) >= 2 and (
                (self.square(a) and self.square(b)) or self.transpose_sign(a, b) != 0
            )
        return False


def _facts(hold: bool, *facts: str) -> frozenset[str]:
    return frozenset(facts) if hold else _NONE


def _is_at_most_zero(number: Variable) -> bool:
    value = known_integer(number)
    return value is not None and value <= 0


def _is_square(x: Variable) -> bool:
    """Return whether a matrix has as many rows as columns by its type."""
    rows, columns = x.type.shape[-2:]
    return rows is not None and rows == columns


def _qr_facts(query: _Query, op: QRFull, node: Apply, x: Variable) -> frozenset[str]:
    if x is node.outputs[-1]:
        return _facts(op._form in ("reduced", "r", "complete"), "upper_triangular")
    return _facts(op._form in ("reduced", "complete") and _is_square(x), "orthogonal")


def _dimshuffle_facts(query: _Query, op: DimShuffle, node: Apply, x: Variable) -> frozenset[str]:
    (inner,) = node.inputs
    if transposed_of(x) is not None:
        return frozenset(_SWAPPED.get(fact, fact) for fact in query.facts(inner))
    return query.facts(inner) if inner.type.ndim >= 2 and _keeps_matrices(node) else _NONE


def _product_facts(query: _Query, op: Op, node: Apply, x: Variable) -> frozenset[str]:
    left, right = node.inputs
    if left.type.ndim < 2 or right.type.ndim < 2:
        return _NONE
    of_left = query.facts(left)
    facts = of_left & query.facts(right) & _KEPT_BY_PRODUCT if of_left else _NONE
    if not left.type.dtype.startswith("complex") and query.transpose_sign(left, right) > 0:
        facts |= {"symmetric", "positive_semidefinite"}
    return facts


def _kronecker_facts(query: _Query, op: Reshape, node: Apply, x: Variable) -> frozenset[str]:
    factors = kronecker_factors(x)
    if factors is None or not all(map(query.square, factors)):
        return _NONE
    return query.facts(factors[0]) & query.facts(factors[1])


def _elementwise_facts(query: _Query, op: Elemwise, node: Apply, x: Variable) -> frozenset[str]:
    scalar_op, first = op.scalar_op, node.inputs[0]
    matrices = [v for v in node.inputs if v.type.broadcastable[-2:] == x.type.broadcastable[-2:]]
    if isinstance(scalar_op, _ZERO_AT_ZERO):
        return query.facts(first) & _PATTERNS
    if isinstance(scalar_op, aes.Mul):
        return frozenset().union(*(query.facts(v) & _PATTERNS for v in matrices))
    if isinstance(scalar_op, aes.TrueDivide):
        return query.facts(first) & _PATTERNS if all(node.inputs[1].type.broadcastable[-2:]) else _NONE
    if isinstance(scalar_op, (aes.Add, aes.Sub)) and len(matrices) == len(node.inputs):
        facts_of_terms = [query.facts(v) for v in matrices]
        facts = frozenset.intersection(*facts_of_terms) & _PATTERNS
        if isinstance(scalar_op, aes.Add) and all(_SEMIDEFINITE & term_facts for term_facts in facts_of_terms):
            # A diagonal matrix may be lost to rounding: it does not make the sum definite.
            definite = any(
                "positive_definite" in term_facts and "diagonal" not in term_facts for term_facts in facts_of_terms
            )
            facts |= {"positive_definite" if definite else "positive_semidefinite"}
        return facts
    return _triangle_facts(query, *node.inputs) if isinstance(scalar_op, aes.Switch) else _NONE


def _triangle_facts(query: _Query, mask: Variable, chosen: Variable, other: Variable) -> frozenset[str]:
    """Return the facts about `tril` and `triu` of a matrix."""
    k = _diagonal_of_mask(mask)
    if k is not None and k <= 0 and _is_zero(other):
        return query.facts(chosen) & _PATTERNS | {"lower_triangular"}
    if k is not None and k >= -1 and _is_zero(chosen):
        return query.facts(other) & _PATTERNS | {"upper_triangular"}
    return _NONE


def _view_facts(query: _Query, op: Op, node: Apply, x: Variable) -> frozenset[str]:
    return query.facts(node.inputs[0]) if type(op).__name__ not in ("GradClip", "GradScale") else _NONE


#: The facts about an output `x` of a node whose op, or core op, is of a class.
_FACTS_OF_OPS: dict[type, Callable[[_Query, Any, Apply, Variable], frozenset[str]]] = {
    Assume: lambda query, op, node, x: query.facts(node.inputs[0]).union(op.facts),
    ViewOp: _view_facts,
    CheckAndRaise: _view_facts,
    # Unless a failure is an error, the factor may be NaN.
    Cholesky: lambda query, op, node, x: _facts(op.on_error == "raise", TRIANGLES[not op.lower], "positive_diagonal"),
    MatrixInverse: lambda query, op, node, x: query.facts(node.inputs[0]) & _KEPT_BY_INVERSE,
    QRFull: _qr_facts,
    Eigh: lambda query, op, node, x: _facts(x in node.outputs[1:], "orthogonal"),
    SVD: lambda query, op, node, x: _facts(
        len(node.outputs) > 1 and x not in node.outputs[1:2] and (op.full_matrices or _is_square(x)), "orthogonal"
    ),
    Eye: lambda query, op, node, x: _facts(known_integer(node.inputs[2]) == 0 and query.square(x), "identity"),
    Tri: lambda query, op, node, x: _facts(_is_at_most_zero(node.inputs[2]), "lower_triangular"),
    AllocDiag: lambda query, op, node, x: _facts(diagonal_in(x) is not None, "diagonal"),
    DimShuffle: _dimshuffle_facts,
    Dot: _product_facts,
    MatMul: _product_facts,
    Reshape: _kronecker_facts,
    Elemwise: _elementwise_facts,
}


def _factors(product: Variable) -> list[Variable]:
    """Return the operands of a product of products, from left to right."""
    factors: list[Variable] = []
    pending = [product]
    while pending:
        x = pending.pop()
        if x.owner is not None and isinstance(x.owner.op, (Dot, MatMul)) and len(factors) + len(pending) < LONGEST:
            pending += reversed(x.owner.inputs)
        else:
            factors.append(x)
    return factors


def _tag_facts(x: Variable) -> frozenset[str]:
    """Return the facts that tags of a variable state, which programs for Aesara set."""
    names = {"symmetric": "symmetric", "psd": "positive_definite", "orthogonal": "orthogonal"}
    return frozenset(fact for tag, fact in names.items() if getattr(x.tag, tag, None) is True)


def _diagonal_of_mask(mask: Variable) -> int | None:
    """Return k if a mask is ``tri(n, m, k)``, with any leading dimensions of length 1; else None."""
    while mask.owner is not None and isinstance(mask.owner.op, DimShuffle):
        if not _keeps_matrices(mask.owner):
            return None
        (mask,) = mask.owner.inputs
    if isinstance(mask, Constant) and mask.type.ndim == 2:
        if max(mask.data.shape) > LARGEST_CONSTANT:
            return None
        rows, columns = mask.data.shape
        return next((k for k in (0, -1) if np.array_equal(mask.data, np.tri(rows, columns, k, dtype=bool))), None)
    if mask.owner is None or not isinstance(mask.owner.op, Tri):
        return None
    return known_integer(mask.owner.inputs[2])


def _keeps_matrices(shuffle: Apply) -> bool:
    """Return whether the last two dimensions stay the last, in their order."""
    n = shuffle.inputs[0].type.ndim
    return tuple(shuffle.op.new_order[-2:]) == (n - 2, n - 1)


def _is_zero(x: Variable) -> bool:
    x = without_shuffles(x)
    return isinstance(x, Constant) and isinstance(x.data, np.ndarray) and not x.data.any()


def _are_transposes(x: Any, y: Any) -> bool:
    return x.ndim == 2 and x.shape == y.T.shape and len(x) <= LARGEST_CONSTANT and np.array_equal(x, y.T)


def _constant_facts(x: Constant) -> frozenset[str]:
    """Return the facts that the numbers of a constant show; the result is stored in its tag."""
    known = getattr(x.tag, "matrix_facts", None)
    if known is None:
        known = x.tag.matrix_facts = _array_facts(x.data)
    return known


def _array_facts(data: Any) -> frozenset[str]:
    if data.ndim != 2 or data.shape[0] != data.shape[1] or not 0 < len(data) <= LARGEST_CONSTANT:
        return _NONE
    if data.dtype.kind not in "iufc" or not np.isfinite(data).all():
        return _NONE
    facts = set()
    if not np.triu(data, 1).any():
        facts.add("lower_triangular")
    if not np.tril(data, -1).any():
        facts.add("upper_triangular")
    if np.array_equal(data, data.T):
        facts.add("symmetric")
    if np.isin(data, (0, 1)).all() and (data.sum(axis=0) == 1).all() and (data.sum(axis=1) == 1).all():
        facts.add("identity" if np.diagonal(data).all() else "permutation")
    return frozenset(facts)
