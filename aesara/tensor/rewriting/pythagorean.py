"""Squares of functions whose sum or difference is one: ``sin(x)**2 + cos(x)**2`` and ``cosh(x)**2 - sinh(x)**2``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import add, cos, cosh, lt, sin, sinh, sub
from aesara.tensor.rewriting.algebra import PRODUCTS, Product
from aesara.tensor.rewriting.complements import terms_with
from aesara.tensor.rewriting.helpers import constant_like, in_place_of, same_floats, where_or_nan
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: ``f(x)**2 + sign * g(x)**2`` is 1: the functions `f`, `g` and the sign.
PAIRS: dict[Op, tuple[Op, int]] = {sin: (cos, 1), cosh: (sinh, -1)}
PARTNERS = frozenset(op for op, _ in PAIRS.values())


@rules.canonicalize
@rules.stabilize
@node_rewriter([add, sub], operands=list(PRODUCTS))
def local_pythagorean_pair(fgraph, node):
    """``t*sin(x)**2 + t*cos(x)**2`` and ``t*cosh(x)**2 - t*sinh(x)**2`` -> `t`, and NaN where `x` is infinite."""
    out = node.outputs[0]
    total, products = terms_with(node, PAIRS, PARTNERS)
    for i, one in products:
        for f in dict.fromkeys(one.factors):
            if f.owner is None or f.owner.op not in PAIRS or not same_floats(f, f.owner.inputs[0], out):
                continue
            rest = one.without(f, 2)
            k = None if rest is None else _partner(one.number, f.owner.op, f.owner.inputs[0], rest, products)
            if k is None:
                continue
            (x,) = f.owner.inputs
            whole = where_or_nan(lt(at_abs(x), np.inf), constant_like(1, x), out)
            product = Product([*rest.factors, whole], rest.divisors, one.number)
            new = total.without((i, k)).plus(product.build(out))
            return in_place_of(out, new.build(out.type.dtype), node.inputs)
    return False


def _partner(number: float, f: Op, x: Variable, rest: Product, products: Sequence[tuple[int, Product]]) -> int | None:
    """Return the position of the term that makes ``number * f(x)**2 * rest`` a multiple of `rest`."""
    g, sign = PAIRS[f]
    for k, other in products:
        for factor in dict.fromkeys(other.factors):
            if factor.owner is None or factor.owner.op != g or factor.owner.inputs[0] is not x:
                continue
            left = other.without(factor, 2)
            if left is not None and left.number == sign * number and left.has_operands_of(rest):
                return k
    return None
