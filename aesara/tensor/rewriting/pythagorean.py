"""Squares of functions whose sum or difference is one: ``sin(x)**2 + cos(x)**2`` and ``cosh(x)**2 - sinh(x)**2``."""

from __future__ import annotations

from collections import Counter

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import add, cos, cosh, lt, sin, sinh, sub
from aesara.tensor.rewriting.complements import (
    MOST_TERMS,
    PRODUCTS,
    SumTerm,
    has_factor,
    product_of_factors,
    sum_of_terms,
    term_of,
)
from aesara.tensor.rewriting.helpers import constant_like, in_place_of, is_float, where_or_nan
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: ``f(x)**2 + sign * g(x)**2`` is 1: the functions `f`, `g` and the sign.
PAIRS: dict[Op, tuple[Op, int]] = {sin: (cos, 1), cosh: (sinh, -1)}
PARTNERS = frozenset(op for op, _ in PAIRS.values())


@rules.canonicalize
@rules.stabilize
@node_rewriter([add, sub], operands=list(PRODUCTS))
def local_pythagorean_pair(fgraph, node):
    """``t*sin(x)**2 + t*cos(x)**2`` and ``t*cosh(x)**2 - t*sinh(x)**2`` as `t`, and NaN where `x` is infinite."""
    out = node.outputs[0]
    if not is_float(out) or not 2 <= len(node.inputs) <= MOST_TERMS:
        return False
    signed = [(1, v) for v in node.inputs] if node.op == add else [(1, node.inputs[0]), (-1, node.inputs[1])]
    if not (any(has_factor(v, PAIRS) for v in node.inputs) and any(has_factor(v, PARTNERS) for v in node.inputs)):
        return False
    dtype = out.type.dtype
    terms = [term for sign, var in signed if (term := term_of(sign, var, dtype)) is not None]
    for one in terms:
        for f, times in Counter(one.factors).items():
            if times < 2 or f.owner is None or f.owner.op not in PAIRS or f.type.dtype != dtype:
                continue
            (x,) = f.owner.inputs
            if x.type.dtype != dtype:
                continue
            rest = Counter(one.factors)
            rest[f] -= 2
            other = _partner(one, f.owner.op, x, +rest, terms)
            if other is None:
                continue
            left = [(s, v) for s, v in signed if v is not one.var and v is not other.var]
            if len(left) != len(signed) - 2:
                continue  # a term that occurs twice
            whole = where_or_nan(lt(at_abs(x), np.inf), constant_like(1, x), out)
            product = product_of_factors(one.coefficient, whole, +rest, one.divisors, out)
            return in_place_of(out, sum_of_terms(product, left, dtype), node.inputs)
    return False


def _partner(one: SumTerm, f: Op, x: Variable, rest: Counter[Variable], terms: list[SumTerm]) -> SumTerm | None:
    """The term that makes a term with the square of `f` a multiple of one."""
    g, sign = PAIRS[f]
    for other in terms:
        if (
            other is one
            or other.coefficient != sign * one.coefficient
            or Counter(other.divisors) != Counter(one.divisors)
        ):
            continue
        factors = Counter(other.factors)
        added = factors - rest
        if factors - added != rest or len(added) != 1:
            continue
        ((var, times),) = added.items()
        if times == 2 and var.owner is not None and var.owner.op == g and var.owner.inputs[0] is x:
            return other
    return None
