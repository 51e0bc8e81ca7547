"""Structure of matrices that the user asserts: `assume`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Apply, Variable
from aesara.graph.view import ViewOp
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.eye_tri import eye, tril, triu
from aesara.tensor.elementwise.ops import abs as absolute
from aesara.tensor.elementwise.ops import conj, eq, invert, isnan, le, or_
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.products.matmul import matmul
from aesara.tensor.reductions.all_any import all as all_of
from aesara.tensor.reductions.sum_prod_max import max as largest
from aesara.tensor.reductions.sum_prod_max import sum as sum_of

__all__ = ["Assume", "assume"]

#: The facts about matrices, each with its immediate consequences.
FACTS: dict[str, tuple[str, ...]] = {
    "symmetric": (),
    "hermitian": (),
    "positive_definite": ("hermitian",),
    "lower_triangular": (),
    "upper_triangular": (),
    "diagonal": ("lower_triangular", "upper_triangular", "symmetric"),
    "orthogonal": (),
    "permutation": ("orthogonal",),
}

#: Further facts that only come from ops.
_FROM_OPS = {
    "identity": ("diagonal", "permutation", "positive_definite"),
    "positive_semidefinite": ("hermitian",),
}
_FOLLOWS = FACTS | _FROM_OPS


def with_consequences(facts: Iterable[str], dtype: str) -> frozenset[str]:
    """Return facts about a matrix with all facts that they imply for matrices of this dtype.

    Examples
    --------
    >>> sorted(with_consequences(["positive_definite"], "float64"))
    ['hermitian', 'positive_definite', 'symmetric']
    """
    known: set[str] = set()
    pending = list(facts)
    while pending:
        fact = pending.pop()
        if fact not in known:
            known.add(fact)
            pending += _FOLLOWS.get(fact, ())
            if not dtype.startswith("complex"):
                pending += {"symmetric": ["hermitian"], "hermitian": ["symmetric"]}.get(fact, [])
            if {"lower_triangular", "upper_triangular"} <= known:
                pending.append("diagonal")
    return frozenset(known)


class Assume(ViewOp):
    """A matrix, or a batch of matrices, with facts about it.

    Rewrite rules use the facts; then the op is removed. Gradients are those of the formula without the op.

    Parameters
    ----------
    facts
        Names of `assume`'s parameters.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Assume(["diagonal"])(at.matrix("x")).ndim
    2
    """

    __module__ = "aesara.tensor.linear_algebra.assume"
    __props__ = ("facts",)

    def __init__(self, facts: Iterable[str]):
        facts = tuple(sorted(set(facts)))
        unknown = [fact for fact in facts if fact not in FACTS]
        if unknown:
            raise ValueError(f"Facts about matrices are {', '.join(FACTS)}; got {', '.join(unknown)}.")
        self.facts = facts

    def make_node(self, x: Any) -> Apply:  # any value
        x = as_tensor_variable(x)
        if x.type.ndim < 2:
            raise ValueError(f"assume is about matrices and batches of them; got {x.type}.")
        return Apply(self, [x], [x.type()])


def assume(
    x: Any,
    *,
    symmetric: bool = False,
    hermitian: bool = False,
    positive_definite: bool = False,
    lower_triangular: bool = False,
    upper_triangular: bool = False,
    diagonal: bool = False,
    orthogonal: bool = False,
    permutation: bool = False,
    check: bool | None = None,
) -> Variable:
    """Declare facts about a matrix, or a batch of matrices, for rewrite rules.

    Results are wrong if a fact does not hold for a value, unless it is checked.

    Parameters
    ----------
    x
        The matrix.
    symmetric
        It is its transpose.
    hermitian
        It is its conjugate transpose; for real numbers the same.
    positive_definite
        It is Hermitian and has positive eigenvalues.
    lower_triangular, upper_triangular, diagonal
        It is zero elsewhere.
    orthogonal
        Its conjugate transpose is its inverse.
    permutation
        Each row and each column has a single one, and zeros.
    check
        Whether what is said is checked in each call, within rounding, and a ValueError is raised where it does not
        hold. By default as the option ``config.assume__check`` says, which is off.

    Examples
    --------
    >>> import aesara
    >>> import aesara.tensor as at
    >>> A, b = at.dmatrix("A"), at.dvector("b")
    >>> f = aesara.function([A, b], at.linalg.solve(at.assume(A, lower_triangular=True), b))
    >>> [type(node.op).__name__ for node in f.maker.fgraph.toposort()]
    ['SolveTriangular']
    """
    facts_by_name = {
        "symmetric": symmetric,
        "hermitian": hermitian,
        "positive_definite": positive_definite,
        "lower_triangular": lower_triangular,
        "upper_triangular": upper_triangular,
        "diagonal": diagonal,
        "orthogonal": orthogonal,
        "permutation": permutation,
    }
    facts = [fact for fact, holds in facts_by_name.items() if holds]
    op = Assume(facts)
    x = as_tensor_variable(x)
    result = op(x)
    if not facts or not (config.assume__check if check is None else check):
        return result
    for fact in facts:
        message = f"assume: the matrix is not {fact.replace('_', ' ')}."
        x = CheckAndRaise(ValueError, message)(x, _holds(fact, x))
    return op(x)


def _holds(fact: str, x: TensorVariable) -> TensorVariable:
    """Return whether a fact holds for all matrices of a batch, within rounding."""
    turned = x.dimshuffle(*range(x.type.ndim - 2), x.type.ndim - 1, x.type.ndim - 2)
    if fact == "lower_triangular":
        return all_of(eq(triu(x, 1), 0))
    if fact == "upper_triangular":
        return all_of(eq(tril(x, -1), 0))
    if fact == "diagonal":
        return all_of(eq(triu(x, 1), 0)) & all_of(eq(tril(x, -1), 0))
    if fact == "permutation":
        ones = [all_of(eq(sum_of(x, axis=axis), 1)) for axis in (-1, -2)]
        return all_of(or_(eq(x, 0), eq(x, 1))) & ones[0] & ones[1]
    unit = np.finfo(x.type.dtype).eps if x.type.dtype[0] in "fc" else 0.0
    rounding = 100 * unit * x.shape[-1].astype("float64")
    if fact == "orthogonal":
        return all_of(le(absolute(matmul(conj(turned), x) - eye(x.shape[-1], dtype=x.type.dtype)), rounding))
    other = turned if fact == "symmetric" else conj(turned)
    same = all_of(le(absolute(x - other), rounding * largest(absolute(x), initial=0)))
    if fact == "positive_definite":
        return same & invert(isnan(sum_of(absolute(Cholesky(on_error="nan")(x)))))
    return same
