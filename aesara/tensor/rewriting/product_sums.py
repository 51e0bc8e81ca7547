"""Sums of products of matrices without the products: along axes, of diagonals, of outer products."""

from __future__ import annotations

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.creation.diagonals import ExtractDiag
from aesara.tensor.elementwise.ops import mul
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.sum_prod_max import Sum
from aesara.tensor.rewriting.dot_chains import FLOATS, dot_operands
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.reductions import reduced_axes, with_axes
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

__all__ = ["local_diagonal_of_dot", "local_sum_of_dot", "local_sum_of_outer"]

_dot = Dot()


@rules.canonicalize
@node_rewriter([Sum], operands=[Dot])
def local_sum_of_dot(fgraph, node):
    """``sum(dot(A, B), axis=0)`` as ``dot(sum(A, axis=0), B)``: one product less by as many rows."""
    out = node.outputs[0]
    (product,) = node.inputs
    dtype = out.type.dtype
    operands = dot_operands(fgraph, product, dtype) if dtype in FLOATS and product.type.ndim == 2 else None
    if operands is None:
        return False
    x, y = operands
    axes = reduced_axes(node)
    if 0 in axes:
        x = with_axes(node.op, [0])(x)
    if 1 in axes:
        y = with_axes(node.op, [1])(y)
    if x.type.dtype != dtype or y.type.dtype != dtype or not axes:
        return False
    return in_place_of(out, _dot(x, y))


@rules.canonicalize
@node_rewriter([ExtractDiag])
def local_diagonal_of_dot(fgraph, node):
    """The diagonal of ``dot(A, B)`` as the sums of the rows of ``A * B.T``; so its trace takes no product."""
    out = node.outputs[0]
    (product,) = node.inputs
    dtype = out.type.dtype
    if product.type.ndim != 2 or node.op.offset != 0 or dtype not in FLOATS:
        return False
    operands = dot_operands(fgraph, product, dtype)
    if operands is None:
        return False
    x, y = operands
    rows, columns = product.type.shape
    if 1 in (rows, columns, x.type.shape[1], y.type.shape[0]):
        return False
    if rows is None or rows != columns:
        # Only as many rows, and columns, as both have.
        x, y = x[: y.shape[1]], y[:, : x.shape[0]]
    return in_place_of(out, Sum(axis=(1,), dtype=dtype)(mul(x, y.T)))


@rules.canonicalize
@node_rewriter([Sum], operands=[mul])
def local_sum_of_outer(fgraph, node):
    """``sum(u * v)`` of a column and a row as ``sum(u) * sum(v)``: factors that are the same along an axis are taken
    out of the sum along it, if what is left has fewer elements than the product."""
    out = node.outputs[0]
    (x,) = node.inputs
    inner = x.owner
    dtype = out.type.dtype
    if inner is None or inner.op != mul or x.type.dtype != dtype or dtype not in FLOATS:
        return False
    if any(v.type.dtype != dtype for v in inner.inputs) or len(fgraph.clients[x]) != 1:
        return False
    axes = reduced_axes(node)
    for axis in axes:
        outside = [v for v in inner.inputs if v.type.shape[axis] == 1]
        inside = [v for v in inner.inputs if v.type.shape[axis] != 1]
        if not outside or not inside or not _is_smaller(inside, x):
            continue
        total = with_axes(node.op, [axis])(mul(*inside) if len(inside) > 1 else inside[0])
        factors = [v.dimshuffle(*[d for d in range(x.type.ndim) if d != axis]) for v in outside]
        scaled = mul(*factors, total)
        left = [d - (d > axis) for d in axes if d != axis]
        return in_place_of(out, with_axes(node.op, left)(scaled) if left else scaled)
    return False


def _is_smaller(factors: list[Variable], product: Variable) -> bool:
    """Whether some dimension of a product comes from none of these factors."""
    return any(n != 1 and all(v.type.shape[d] == 1 for v in factors) for d, n in enumerate(product.type.shape))
