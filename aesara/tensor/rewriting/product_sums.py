"""Sums of products of matrices without the products: along axes, of diagonals, of outer products."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.matching import ops
from aesara.tensor.creation.diagonals import ExtractDiag
from aesara.tensor.elementwise.ops import mul
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.dot_chains import of_one_float
from aesara.tensor.rewriting.reductions import axes_of, with_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()

__all__ = ["local_diagonal_of_dot", "local_sum_of_dot", "local_sum_of_outer"]

_dot = Dot()


def _sum_along(f: Any, axis: int, x: Variable) -> Variable:
    """Return the sum of a matrix along an axis, if it is one of those of a sum; the matrix otherwise."""
    return with_axes(f, [axis])(x) if axis in axes_of(f, 2) else x


local_sum_of_dot = rules.canonicalize(
    row(
        "local_sum_of_dot",
        (ops(Sum, name="f"), (Dot, "x", "y")),
        lambda f, x, y: _dot(_sum_along(f, 0, x), _sum_along(f, 1, y)),
        lambda f, x, y: x.type.ndim == 2 == y.type.ndim and axes_of(f, 2) != (),
        each=of_one_float,
        single_client=True,
        why="sum(dot(x, y), axis=0) -> dot(sum(x, axis=0), y): one product less by as many rows",
    )
)


def _sums_of_rows(x: Any, y: Any, product: Apply, out: Variable) -> Variable:
    """Return the diagonal of a product of matrices without it."""
    rows, columns = product.outputs[0].type.shape
    if rows is None or rows != columns:
        # Only as many rows, and columns, as both have.
        x, y = x[: y.shape[1]], y[:, : x.shape[0]]
    return Sum(axis=(1,), dtype=out.type.dtype)(mul(x, y.T))


local_diagonal_of_dot = rules.canonicalize(
    row(
        "local_diagonal_of_dot",
        (ops(ExtractDiag, offset=0), (ops(Dot, node="product"), "x", "y")),
        _sums_of_rows,
        lambda x, y: x.type.ndim == 2 == y.type.ndim and 1 not in (*x.type.shape, *y.type.shape),
        each=of_one_float,
        single_client=True,
        why="diagonal(dot(x, y)) -> sum(x * y.T, axis=1); so a trace takes no product",
    )
)


def _sum_of_products(f: Any, factors: list[Any], product: Apply) -> Variable | None:
    """Return the sum with factors taken out along one of its axes, the first for which that pays."""
    shape = product.outputs[0].type.shape
    axes = axes_of(f, len(shape))
    for axis in axes:
        outside = [v for v in factors if v.type.shape[axis] == 1]
        inside = [v for v in factors if v.type.shape[axis] != 1]
        # Some dimension of the product comes from none of the factors that are summed.
        smaller = any(n != 1 and all(v.type.shape[d] == 1 for v in inside) for d, n in enumerate(shape))
        if outside and inside and smaller:
            total = with_axes(f, [axis])(mul(*inside) if len(inside) > 1 else inside[0])
            kept = [d for d in range(len(shape)) if d != axis]
            scaled = mul(*(v.dimshuffle(*kept) for v in outside), total)
            left = [d - (d > axis) for d in axes if d != axis]
            return with_axes(f, left)(scaled) if left else scaled
    return None


local_sum_of_outer = rules.canonicalize(
    row(
        "local_sum_of_outer",
        (ops(Sum, name="f"), (ops(mul, node="product"), "**factors")),
        _sum_of_products,
        lambda factors, out: all(of_one_float(v, out) for v in factors),
        each=None,
        single_client=True,
        why="sum(u[:, None] * v) -> sum(u) * sum(v), and so for factors that are the same along an axis of the sum, "
        "if what is left has fewer elements than the product",
    )
)
