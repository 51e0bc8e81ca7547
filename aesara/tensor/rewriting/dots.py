"""Products of matrices, chains of them, and sums of them along axes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import one_of
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.diagonals import AllocDiag, ExtractDiag
from aesara.tensor.elementwise.ops import add, mul, neg, sub
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.reductions import as_number, axes_of, is_number, with_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

#: Dtypes in which products may be reordered: integers are exact, and half precision has no digits to spare.
FLOATS = ("float32", "float64", "complex64", "complex128")
#: The longest chain of which all orders are compared.
LONGEST = 24
#: The value that stands for unknown lengths in the search of an order.
ASSUMED_LENGTH = 32

_dot = Dot()


def dot_operands(fgraph: FunctionGraph, var: Variable, dtype: str) -> tuple[Variable, Variable] | None:
    """Return the operands of a product of one dtype with a single client, else None."""
    node = var.owner
    if node is None or not isinstance(node.op, Dot) or var.type.dtype != dtype or len(fgraph.clients[var]) != 1:
        return None
    x, y = node.inputs
    return (x, y) if x.type.dtype == dtype == y.type.dtype else None


def of_one_float(var: Variable, out: Variable) -> bool:
    """Return whether a variable has the dtype of the result, one in which products may be reordered."""
    return var.type.dtype == out.type.dtype and out.type.dtype in FLOATS


# The order of products

#: A product ``(start, split, end)`` in an order: of the operands from `start` to `split`, and from `split` to `end`.
Step = tuple[int, int, int]


def _continues(fgraph: FunctionGraph, var: Variable, position: int, dtype: str) -> bool:
    """Return whether the left (0) or right (1) operand of a product is a product of the same chain.

    A vector ends a chain: in ``dot(A, dot(u, B))`` u is a row, but A is multiplied by a column.
    """
    operands = dot_operands(fgraph, var, dtype)
    return operands is not None and (var.type.ndim == 2 or operands[position].type.ndim == 1)


def _chain(fgraph: FunctionGraph, out: Variable) -> tuple[list[Variable], list[Step]]:
    """Return the operands of nested products, from left to right, and the order of the products."""
    operands: list[Variable] = []
    order: list[Step] = []
    bounds: list[list[int]] = []
    pending: list[tuple[Variable | None, int]] = [(out, -1)]
    while pending:
        var, position = pending.pop()
        if var is None:
            bounds[-1].append(len(operands))
            if len(bounds[-1]) == 3:
                start, split, end = bounds.pop()
                order.append((start, split, end))
        elif position < 0 or _continues(fgraph, var, position, out.type.dtype):
            bounds.append([len(operands)])
            left, right = var.owner.inputs  # type: ignore[union-attr]
            pending += [(None, 0), (right, 1), (None, 0), (left, 0)]
        else:
            operands.append(var)
    return operands, order


def _lengths(chain: list[Variable]) -> list[int | None]:
    """Return the number of rows of each operand and of columns of the last; 1 for a vector at an end."""
    first, last = chain[0], chain[-1]
    lengths: list[int | None] = [first.type.shape[0] if first.type.ndim == 2 else 1]
    for before, after in pairwise(chain):
        columns, rows = before.type.shape[-1], after.type.shape[0]
        lengths.append(columns if columns is not None else rows)
    lengths.append(last.type.shape[1] if last.type.ndim == 2 else 1)
    return lengths


def _best_order(lengths: list[int]) -> list[Step]:
    """Return the order with the fewest multiplications; for a long chain, the better one from either end."""
    n = len(lengths) - 1
    if n > LONGEST:
        from_left = [(0, k, k + 1) for k in range(1, n)]
        from_right = [(k, k + 1, n) for k in reversed(range(n - 1))]
        return min(
            from_left, from_right, key=lambda order: sum(lengths[i] * lengths[j] * lengths[k] for i, j, k in order)
        )
    # Dynamic programming over the ranges of the chain: the cost of each, and the position of its split.
    best: dict[tuple[int, int], tuple[int, int]] = {(k, k + 1): (0, k) for k in range(n)}
    for size in range(2, n + 1):
        for start in range(n - size + 1):
            end = start + size
            outer = lengths[start] * lengths[end]
            best[start, end] = min(
                (best[start, split][0] + best[split, end][0] + outer * lengths[split], split)
                for split in range(start + 1, end)
            )
    order: list[Step] = []
    ranges = [(0, n)]
    while ranges:
        start, end = ranges.pop()
        if end - start > 1:
            split = best[start, end][1]
            order.append((start, split, end))
            ranges += [(start, split), (split, end)]
    return order[::-1]


def _saves(old: list[Step], new: list[Step], lengths: list[int | None]) -> bool:
    """Return whether an order takes at most as many multiplications for all unknown lengths from 2 on, fewer for some.

    The difference is a polynomial in the unknown lengths. Written in t for lengths ``2 + t``, it is negative somewhere
    if one of its coefficients is: where only the t of that term are large.
    """
    saved: Counter[tuple[int, ...]] = Counter()
    for sign, order in ((1, old), (-1, new)):
        for step in order:
            terms: dict[tuple[int, ...], int] = {(): sign}
            for k in step:
                n = lengths[k]
                if n is not None:
                    terms = {unknown: n * c for unknown, c in terms.items()}
                else:
                    terms = {**{u: 2 * c for u, c in terms.items()}, **{(*u, k): c for u, c in terms.items()}}
            saved.update(terms)
    return min(saved.values()) >= 0 < max(saved.values())


@rules.canonicalize
@node_rewriter([Dot], operands=[Dot])
def local_dot_chain(fgraph, node):
    """dot(dot(A, B), v) -> dot(A, dot(B, v)): products in the order with the fewest multiplications.

    Unknown lengths are assumed to be equal, but the new order must not be worse for any lengths from 2 on. A function,
    since it searches the order of a whole chain.
    """
    (out,) = node.outputs
    dtype = out.type.dtype
    if not all(of_one_float(v, out) for v in node.inputs):
        return False
    if not any(_continues(fgraph, v, position, dtype) for position, v in enumerate(node.inputs)):
        return False
    clients = fgraph.clients[out]
    if len(clients) == 1 and clients[0][0] != "output":
        outer, position = clients[0]
        if isinstance(outer.op, Dot) and all(v.type.dtype == dtype for v in (*outer.inputs, *outer.outputs)):
            if _continues(fgraph, out, position, dtype):
                return False  # the rule handles it with the whole chain
    chain, order = _chain(fgraph, out)
    lengths = _lengths(chain)
    better = _best_order([ASSUMED_LENGTH if n is None else n for n in lengths])
    if not _saves(order, better, lengths):
        return False
    products = {(k, k + 1): v for k, v in enumerate(chain)}
    for start, split, end in better:
        products[start, end] = _dot(products[start, split], products[split, end])
    return in_place_of(out, products[0, len(chain)])


# Factors and terms that are moved out of products


@rules.canonicalize
@node_rewriter([Dot], operands=[neg, mul])
def local_scalar_out_of_dot(fgraph, node):
    """dot(c * x, y) -> c * dot(x, y) for a number c or a sign, since BLAS can scale the product.

    A function, since both operands may have such factors.
    """
    (out,) = node.outputs
    if out.type.ndim == 0 or not all(of_one_float(v, out) for v in node.inputs):
        return False
    if node.inputs[0].type.shape[-1] == 1:
        return False  # the result is larger than the operands
    numbers: list[Variable] = []
    negative = False
    operands = []
    for var in node.inputs:
        inner = var.owner
        if inner is not None and len(fgraph.clients[var]) == 1:
            if inner.op == neg:
                negative = not negative
                (var,) = inner.inputs
            elif inner.op == mul:
                rest = [v for v in inner.inputs if not is_number(v)]
                # The number must not determine the dtype or shape of the product.
                if len(rest) == 1 and rest[0].type.dtype == var.type.dtype and rest[0].type.shape == var.type.shape:
                    numbers += [v for v in inner.inputs if v is not rest[0]]
                    (var,) = rest
        operands.append(var)
    if not numbers and not negative:
        return False
    product = _dot(*operands)
    if numbers:
        product = mul(*(as_number(v, product) for v in numbers), product)
    return in_place_of(out, neg(product) if negative else product)


@rules.canonicalize
@node_rewriter([add, sub], operands=[Dot])
def local_add_of_dots(fgraph, node):
    """dot(A, B) + dot(A, C) -> dot(A, B + C): one product instead of two.

    A function, since it compares all pairs of products, in sums of few terms.
    """
    (out,) = node.outputs
    dtype = out.type.dtype
    if dtype not in FLOATS or len(node.inputs) > 16:
        return False
    products = [(k, dot_operands(fgraph, v, dtype)) for k, v in enumerate(node.inputs)]
    candidates = [(k, operands) for k, operands in products if operands is not None]
    for i, (first, (x, y)) in enumerate(candidates):
        for second, (u, w) in candidates[i + 1 :]:
            if x is u and y is not w and _pays(x, y, w):
                merged = _dot(x, node.op(y, w))
            elif y is w and x is not u and _pays(y, x, u):
                merged = _dot(node.op(x, u), y)
            else:
                continue
            rest = [v for k, v in enumerate(node.inputs) if k not in (first, second)]
            return in_place_of(out, node.op(merged, *rest) if rest else merged)
    return False


def _pays(shared: Variable, x: Variable, y: Variable) -> bool:
    """Return whether operands are added without broadcasting, and in less time than a product takes."""
    return x.type.broadcastable == y.type.broadcastable and x.type.ndim <= shared.type.ndim


local_dot_of_diagonal = rules.group(
    "local_dot_of_diagonal",
    row(
        "local_dot_of_diagonal_and_other",
        (Dot, (one_of(AllocDiag, offset=0), "d"), "x"),
        lambda d, x: mul(d if x.type.ndim == 1 else d.dimshuffle(0, "x"), x),
        lambda d, x: d.type.ndim == 1 and d.type.broadcastable[0] == x.type.broadcastable[0],
        each=of_one_float,
    ),
    row(
        "local_dot_of_other_and_diagonal",
        (Dot, "x", (one_of(AllocDiag, offset=0), "d")),
        lambda x, d: mul(x, d if x.type.ndim == 1 else d.dimshuffle("x", 0)),
        lambda x, d: d.type.ndim == 1 and d.type.broadcastable[0] == x.type.broadcastable[-1],
        each=of_one_float,
    ),
    to=(rules.canonicalize,),
)


def _sum_along(f: Any, axis: int, x: Variable) -> Variable:
    """Return the sum of a matrix along an axis if that is one of the axes of `f`; else the matrix."""
    return with_axes(f, [axis])(x) if axis in axes_of(f, 2) else x


local_sum_of_dot = rules.canonicalize(
    row(
        "local_sum_of_dot",
        (one_of(Sum, name="f"), (Dot, "x", "y")),
        lambda f, x, y: _dot(_sum_along(f, 0, x), _sum_along(f, 1, y)),
        lambda f, x, y: x.type.ndim == 2 == y.type.ndim and axes_of(f, 2) != (),
        each=of_one_float,
        single_client=True,
        why="sum(dot(x, y), axis=0) -> dot(sum(x, axis=0), y), a product with a vector instead of a matrix",
    )
)


def _sums_of_rows(x: TensorVariable, y: TensorVariable, product: Apply, out: Variable) -> Variable:
    """Return the diagonal of a product of matrices without computing the product."""
    rows, columns = product.outputs[0].type.shape
    if rows is None or rows != columns:
        # The diagonal has the smaller of the numbers of rows and columns.
        x, y = x[: y.shape[1]], y[:, : x.shape[0]]
    return Sum(axis=(1,), dtype=out.type.dtype)(mul(x, y.T))


local_diagonal_of_dot = rules.canonicalize(
    row(
        "local_diagonal_of_dot",
        (one_of(ExtractDiag, offset=0), (one_of(Dot, node="product"), "x", "y")),
        _sums_of_rows,
        lambda x, y: x.type.ndim == 2 == y.type.ndim and 1 not in (*x.type.shape, *y.type.shape),
        each=of_one_float,
        single_client=True,
        why="diagonal(dot(x, y)) -> sum(x * y.T, axis=1); so a trace needs no product",
    )
)


def _sum_of_products(f: Any, factors: list[Any], product: Apply) -> Variable | None:
    """Return the sum with factors moved out along its first axis for which that pays, else None."""
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
            remaining = [d - (d > axis) for d in axes if d != axis]
            return with_axes(f, remaining)(scaled) if remaining else scaled
    return None


local_sum_of_outer = rules.canonicalize(
    row(
        "local_sum_of_outer",
        (one_of(Sum, name="f"), (one_of(mul, node="product"), "**factors")),
        _sum_of_products,
        lambda factors, out: all(of_one_float(v, out) for v in factors),
        each=None,
        single_client=True,
        why="sum(u[:, None] * v) -> sum(u) * sum(v), and so for factors that are the same along an axis of the sum, "
        "if what is left has fewer elements than the product",
    )
)
local_lift_transpose_through_dot = rules.canonicalize(
    row(
        "local_lift_transpose_through_dot",
        (one_of(DimShuffle, new_order=(1, 0)), (one_of(Dot, name="f"), "x", "y")),
        lambda f, x, y: f(y.T, x.T),
        lambda x, y: x.type.ndim == 2 == y.type.ndim,
        each=None,
        single_client=True,
        why="dot(x, y).T -> dot(y.T, x.T), for matrices",
    )
)


__all__ = [
    "local_add_of_dots",
    "local_diagonal_of_dot",
    "local_dot_chain",
    "local_dot_of_diagonal",
    "local_lift_transpose_through_dot",
    "local_scalar_out_of_dot",
    "local_sum_of_dot",
    "local_sum_of_outer",
]
