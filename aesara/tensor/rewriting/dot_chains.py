"""Products of several matrices in the order that takes the fewest multiplications; what can be taken out of them."""

from __future__ import annotations

from itertools import pairwise

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.records import dataclass
from aesara.tensor.diagonals import AllocDiag
from aesara.tensor.dot import Dot
from aesara.tensor.elementwise_ops import add, mul, neg, sub
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.registration import register_canonicalize

__all__ = ["local_add_of_dots", "local_dot_chain", "local_dot_of_diagonal", "local_scalar_out_of_dot"]

#: dtypes in which other roundings are as good; those of whole numbers and half precision have none to spare
FLOATS = ("float32", "float64", "complex64", "complex128")
#: longer chains are taken in parts
LONGEST = 24
#: what a length that is not known may be; an order must be as good for each of these
SUPPOSED_LENGTHS = (2, 32, 1024, 100_000)

_dot = Dot()


def dot_operands(fgraph: FunctionGraph, var: Variable, dtype: str) -> tuple[Variable, Variable] | None:
    """The operands of a product that nobody else uses, all of one dtype."""
    node = var.owner
    if node is None or not isinstance(node.op, Dot) or var.type.dtype != dtype or len(fgraph.clients[var]) != 1:
        return None
    x, y = node.inputs
    return (x, y) if x.type.dtype == dtype == y.type.dtype else None


# The order of products


@dataclass(frozen=True)
class Order:
    """How a part of a chain is multiplied: its operand, or where it is split and how the two parts are."""

    start: int
    split: int = -1
    left: Order | None = None
    right: Order | None = None


def _chain(fgraph: FunctionGraph, var: Variable, operands: tuple[Variable, Variable]) -> tuple[list[Variable], Order]:
    """The operands of products of products, from left to right, and the order in which they are multiplied now."""
    found: list[Variable] = []

    def collect(v: Variable, parts: tuple[Variable, Variable] | None) -> Order:
        if parts is None or len(found) > LONGEST:
            found.append(v)
            return Order(len(found) - 1)
        start = len(found)
        left = collect(parts[0], dot_operands(fgraph, parts[0], v.type.dtype))
        split = len(found)
        right = collect(parts[1], dot_operands(fgraph, parts[1], v.type.dtype))
        return Order(start, split, left, right)

    order = collect(var, operands)
    return found, order


def _lengths(chain: list[Variable], supposed: int) -> list[int]:
    """Rows of each operand, and at the end the columns of the last; of a vector at an end one."""
    first, last = chain[0], chain[-1]
    known: list[int | None] = [first.type.shape[0] if first.type.ndim == 2 else 1]
    for before, after in pairwise(chain):
        of_before, of_after = before.type.shape[-1], after.type.shape[0]
        known.append(of_before if of_before is not None else of_after)
    known.append(last.type.shape[1] if last.type.ndim == 2 else 1)
    return [supposed if n is None else n for n in known]


def _multiplications(order: Order, end: int, lengths: list[int]) -> int:
    """How many multiplications an order of a part of the chain, up to the operand before `end`, takes."""
    if order.left is None or order.right is None:
        return 0
    own = lengths[order.start] * lengths[order.split] * lengths[end]
    left = _multiplications(order.left, order.split, lengths)
    return own + left + _multiplications(order.right, end, lengths)


def _best_order(lengths: list[int]) -> Order:
    """The order with the fewest multiplications, by dynamic programming over the parts of the chain."""
    n = len(lengths) - 1
    best: dict[tuple[int, int], tuple[int, Order]] = {(k, k + 1): (0, Order(k)) for k in range(n)}
    for size in range(2, n + 1):
        for start in range(n - size + 1):
            end = start + size
            choices = []
            for split in range(start + 1, end):
                of_left, left = best[start, split]
                of_right, right = best[split, end]
                total = of_left + of_right + lengths[start] * lengths[split] * lengths[end]
                choices.append((total, Order(start, split, left, right)))
            best[start, end] = min(choices, key=lambda choice: choice[0])
    return best[0, n][1]


def _multiplied(chain: list[Variable], order: Order) -> Variable:
    if order.left is None or order.right is None:
        return chain[order.start]
    return _dot(_multiplied(chain, order.left), _multiplied(chain, order.right))


@register_canonicalize
@node_rewriter([Dot])
def local_dot_chain(fgraph, node):
    """``dot(dot(A, B), v)`` as ``dot(A, dot(B, v))``: products in the order that takes the fewest multiplications.

    Lengths that are not known are supposed to be equal; an order must be no worse whatever they are.
    """
    (out,) = node.outputs
    x, y = node.inputs
    dtype = out.type.dtype
    if dtype not in FLOATS or x.type.dtype != dtype or y.type.dtype != dtype:
        return False
    if not any(dot_operands(fgraph, v, dtype) for v in (x, y)):
        return False
    clients = fgraph.clients[out]
    if len(clients) == 1 and clients[0][0] != "output":
        # It is seen to with the whole chain.
        outer = clients[0][0]
        if isinstance(outer.op, Dot) and all(v.type.dtype == dtype for v in (*outer.inputs, *outer.outputs)):
            return False
    chain, order = _chain(fgraph, out, (x, y))
    better = _best_order(_lengths(chain, SUPPOSED_LENGTHS[1]))
    gains = []
    for supposed in SUPPOSED_LENGTHS:
        lengths = _lengths(chain, supposed)
        n = len(chain)
        gains.append(_multiplications(order, n, lengths) - _multiplications(better, n, lengths))
    if min(gains) < 0 or max(gains) == 0:
        return False
    return in_place_of(out, _multiplied(chain, better))


# What can be taken out of a product


@register_canonicalize
@node_rewriter([Dot])
def local_scalar_out_of_dot(fgraph, node):
    """``dot(c * A, B)`` as ``c * dot(A, B)`` for a number c: BLAS scales while it multiplies."""
    (out,) = node.outputs
    dtype = out.type.dtype
    if dtype not in FLOATS or out.type.ndim == 0 or any(v.type.dtype != dtype for v in node.inputs):
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
                rest = [v for v in inner.inputs if not all(v.type.broadcastable)]
                # The number must not be what gives the product its dtype, or its shape.
                if len(rest) == 1 and rest[0].type.dtype == dtype and rest[0].type.shape == var.type.shape:
                    numbers += [v for v in inner.inputs if v is not rest[0]]
                    (var,) = rest
        operands.append(var)
    if not numbers and not negative:
        return False
    product = _dot(*operands)
    if numbers:
        factors = [v.dimshuffle() if v.type.ndim else v for v in numbers]
        product = mul(*(v.dimshuffle(*["x"] * product.type.ndim) for v in factors), product)
    return in_place_of(out, neg(product) if negative else product)


@register_canonicalize
@node_rewriter([add, sub])
def local_add_of_dots(fgraph, node):
    """``dot(A, B) + dot(A, C)`` as ``dot(A, B + C)``: one product instead of two."""
    (out,) = node.outputs
    dtype = out.type.dtype
    if dtype not in FLOATS or len(node.inputs) > 16:
        return False
    products = [(k, dot_operands(fgraph, v, dtype)) for k, v in enumerate(node.inputs)]
    found = [(k, operands) for k, operands in products if operands is not None]
    for i, (first, (x, y)) in enumerate(found):
        for second, (u, w) in found[i + 1 :]:
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
    """Whether two operands can be added without broadcasting, in less time than each is multiplied with the other."""
    return x.type.broadcastable == y.type.broadcastable and x.type.ndim <= shared.type.ndim


@register_canonicalize
@node_rewriter([Dot])
def local_dot_of_diagonal(fgraph, node):
    """The product with a diagonal matrix multiplies rows, or columns."""
    (out,) = node.outputs
    x, y = node.inputs
    dtype = out.type.dtype
    if dtype not in FLOATS or x.type.dtype != dtype or y.type.dtype != dtype:
        return False
    diagonal = _diagonal(x)
    if diagonal is not None and diagonal.type.broadcastable[0] == y.type.broadcastable[0]:
        return in_place_of(out, mul(diagonal if y.type.ndim == 1 else diagonal.dimshuffle(0, "x"), y))
    diagonal = _diagonal(y)
    if diagonal is not None and diagonal.type.broadcastable[0] == x.type.broadcastable[-1]:
        return in_place_of(out, mul(x, diagonal if x.type.ndim == 1 else diagonal.dimshuffle("x", 0)))
    return False


def _diagonal(matrix: Variable) -> Variable | None:
    """The vector that a diagonal matrix is made of."""
    node = matrix.owner
    if node is None or not isinstance(node.op, AllocDiag) or node.op.offset != 0 or node.inputs[0].type.ndim != 1:
        return None
    return node.inputs[0]
