"""Differences that cancel, ``k - f(x)``, as functions of their own.

``1 - sigmoid(x)`` has no digits left for large `x`; ``sigmoid(-x)``, the same number, has all of them. The table says
for which numbers `k` and functions `f` there is such a function. The difference need not stand there as such: it is
found in ``t - t*f(x)`` for any product `t`, which is what gradients consist of.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.records import dataclass
from aesara.tensor.elementwise.ops import (
    add,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    expm1,
    gammainc,
    gammaincc,
    mul,
    ndtr,
    neg,
    reciprocal,
    sigmoid,
    sin,
    sinh,
    square,
    sub,
    tanh,
)
from aesara.tensor.rewriting.algebra import PRODUCTS, TERM, Product, SignedSum, opposite
from aesara.tensor.rewriting.helpers import in_place_of, is_float
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


@dataclass(frozen=True)
class Complement:
    """``number - f(*x)**power`` computed as ``form(*x)``.

    `shared` says whether this pays where ``f(*x)`` is needed for something else as well.
    """

    number: float
    form: Callable[..., Variable]
    power: int = 1
    shared: bool = True


COMPLEMENTS: dict[Op, tuple[Complement, ...]] = {
    exp: (Complement(1, lambda x: neg(expm1(x))),),
    expm1: (Complement(-1, lambda x: neg(exp(x))),),
    sigmoid: (
        Complement(1, lambda x: sigmoid(opposite(x))),
        Complement(0.5, lambda x: mul(-0.5, tanh(mul(0.5, x)))),
    ),
    tanh: (
        Complement(1, lambda x: mul(2, sigmoid(mul(-2, x)))),
        Complement(-1, lambda x: mul(-2, sigmoid(mul(2, x)))),
        Complement(1, lambda x: reciprocal(square(cosh(x))), power=2, shared=False),
    ),
    erf: (Complement(1, lambda x: erfc(x)), Complement(-1, lambda x: neg(erfc(opposite(x))))),
    erfc: (Complement(1, lambda x: erf(x)), Complement(2, lambda x: erfc(opposite(x)))),
    ndtr: (Complement(1, lambda x: ndtr(opposite(x))),),
    cos: (
        Complement(1, lambda x: mul(2, square(sin(mul(0.5, x))))),
        Complement(-1, lambda x: mul(-2, square(cos(mul(0.5, x))))),
        Complement(1, lambda x: square(sin(x)), power=2, shared=False),
    ),
    sin: (Complement(1, lambda x: square(cos(x)), power=2, shared=False),),
    cosh: (
        Complement(1, lambda x: mul(-2, square(sinh(mul(0.5, x))))),
        Complement(1, lambda x: neg(square(sinh(x))), power=2, shared=False),
    ),
    gammainc: (Complement(1, lambda k, x: gammaincc(k, x)),),
    gammaincc: (Complement(1, lambda k, x: gammainc(k, x)),),
}


#: Sums of more terms, and terms of more factors, are not looked through: each look at them would take long.
MOST_TERMS = 16
MOST_FACTORS = 64


@rules.canonicalize
@rules.stabilize
@node_rewriter([add, sub], operands=[*COMPLEMENTS, *PRODUCTS])
def local_complement(fgraph, node):
    """``t - t*f(x) -> t * complement(x)``; see the table for the functions."""
    out = node.outputs[0]
    total, products = terms_with(node, COMPLEMENTS)
    for i, one in products:
        for f, complement in _complements(fgraph, one, out.type.dtype):
            number, size = -complement.number * one.number, len(one.factors) - complement.power
            for k, other in products:
                if k == i or other.number != number or len(other.factors) != size:
                    continue
                rest = one.without(f, complement.power)
                if not other.has_operands_of(rest):
                    continue
                difference = Product([*rest.factors, complement.form(*f.owner.inputs)], rest.divisors, -one.number)
                new = total.without((i, k)).plus(difference.build(out))
                return in_place_of(out, new.build(out.type.dtype), node.inputs)
    return False


def terms_with(node: Apply, *functions: Container[Op]) -> tuple[SignedSum, list[tuple[int, Product]]]:
    """Return the terms of a sum, and their positions and products if some have one of each of the functions.

    Of integers, of longer sums, and where a function is missing, there are no products.
    """
    (out,) = node.outputs
    if (
        not 2 <= len(node.inputs) <= MOST_TERMS
        or not is_float(out)
        or not all(any(_has_factor(v, some) for v in node.inputs) for some in functions)
    ):
        return SignedSum([]), []
    total = SignedSum.read(out)
    products = [(k, Product.read(var, TERM, dtype=out.type.dtype)) for k, (_, var) in enumerate(total.terms)]
    for (sign, _), (_, product) in zip(total.terms, products, strict=True):
        product.number *= sign
    return total, products


def _has_factor(var: Variable, functions: Container[Op]) -> bool:
    """Return whether a term has one of the functions among its factors, at first sight."""
    stack = [var]
    for _ in range(MOST_FACTORS):
        if not stack:
            break
        node = stack.pop().owner
        if node is None:
            continue
        if node.op in functions:
            return True
        if node.op in PRODUCTS:
            stack.extend(node.inputs)
    return False


def _complements(fgraph: Any, term: Product, dtype: str) -> Iterator[tuple[Variable, Complement]]:
    """Yield the factors of a term that have complements."""
    for f in dict.fromkeys(term.factors):
        if f.owner is None or f.owner.op not in COMPLEMENTS:
            continue
        if f.type.dtype != dtype or any(x.type.dtype != dtype for x in f.owner.inputs):
            continue
        for complement in COMPLEMENTS[f.owner.op]:
            if term.factors.count(f) >= complement.power and (complement.shared or len(fgraph.clients[f]) == 1):
                yield f, complement
