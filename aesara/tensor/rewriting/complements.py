"""Differences that cancel, ``k - f(x)``, as functions of their own.

``1 - sigmoid(x)`` has no digits left for large `x`; ``sigmoid(-x)``, the same number, has all of them. The table says
for which numbers `k` and functions `f` there is such a function. The difference need not stand there as such: it is
found in ``t - t*f(x)`` for any product `t`, which is what gradients consist of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.records import dataclass
from aesara.tensor.elementwise_ops import (
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
    true_divide,
)
from aesara.tensor.elementwise_ops import pow as at_pow
from aesara.tensor.rewriting.helpers import (
    common_value,
    computed_in,
    constant_like,
    has_value,
    in_place_of,
    is_float,
)
from aesara.tensor.rewriting.logistic import negated
from aesara.tensor.rewriting.registration import register_canonicalize, register_stabilize


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
        Complement(1, lambda x: sigmoid(negated(x))),
        Complement(0.5, lambda x: mul(-0.5, tanh(mul(0.5, x)))),
    ),
    tanh: (
        Complement(1, lambda x: mul(2, sigmoid(mul(-2, x)))),
        Complement(-1, lambda x: mul(-2, sigmoid(mul(2, x)))),
        Complement(1, lambda x: reciprocal(square(cosh(x))), power=2, shared=False),
    ),
    erf: (Complement(1, lambda x: erfc(x)), Complement(-1, lambda x: neg(erfc(negated(x))))),
    erfc: (Complement(1, lambda x: erf(x)), Complement(2, lambda x: erfc(negated(x)))),
    ndtr: (Complement(1, lambda x: ndtr(negated(x))),),
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


@dataclass
class Term:
    """A term of a sum: a number times a product of factors over a product of others."""

    var: Variable
    coefficient: float
    factors: Counter[Variable]
    divisors: Counter[Variable]


@register_canonicalize
@register_stabilize
@node_rewriter([add, sub])
def local_complement(fgraph, node):
    """``t - t*f(x)`` as `t` times the complement of ``f(x)``; see the table for the functions."""
    out = node.outputs[0]
    if not is_float(out):
        return False
    signed = [(1, v) for v in node.inputs] if node.op == add else [(1, node.inputs[0]), (-1, node.inputs[1])]
    if len(signed) > MOST_TERMS or not any(may_have_complement(v) for _, v in signed):
        return False
    dtype = out.type.dtype
    terms = [term for sign, var in signed if (term := term_of(sign, var, dtype)) is not None]
    for one in terms:
        for f, complement in _complements(fgraph, one, dtype):
            rest = one.factors.copy()
            rest[f] -= complement.power
            rest = +rest
            wanted = -complement.number * one.coefficient
            for other in terms:
                if other is one or other.coefficient != wanted or other.factors != rest:
                    continue
                if other.divisors != one.divisors:
                    continue
                difference = product_of_factors(
                    -one.coefficient, complement.form(*f.owner.inputs), rest, one.divisors, out
                )
                left = [(s, v) for s, v in signed if v is not one.var and v is not other.var]
                if len(left) != len(signed) - 2:
                    continue  # a term that occurs twice
                return in_place_of(out, sum_of_terms(difference, left, dtype), node.inputs)
    return False


def may_have_complement(var: Variable) -> bool:
    """Whether a term has a function of the table among its factors, at first sight."""
    node = var.owner
    if node is None or node.op in COMPLEMENTS:
        return node is not None
    if node.op in (mul, true_divide, neg, square, at_pow):
        return any(v.owner is not None and (v.owner.op in COMPLEMENTS or v.owner.op in (mul, square, at_pow))
                   for v in node.inputs)  # fmt: skip
    return False


def term_of(sign: int, var: Variable, dtype: str) -> Term | None:
    """A term with its products, quotients, squares and signs in a dtype taken apart; None if there are too many."""
    coefficient = float(sign)
    factors: Counter[Variable] = Counter()
    divisors: Counter[Variable] = Counter()
    stack = [(var, 1, False)]
    for _ in range(MOST_FACTORS):
        if not stack:
            return Term(var, coefficient, factors, divisors)
        part, times, inverted = stack.pop()
        node = part.owner if part.type.dtype == dtype else None
        value = common_value(part)
        if value is not None and np.isfinite(value) and not inverted:
            coefficient *= float(value) ** times
        elif node is None:
            (divisors if inverted else factors)[part] += times
        elif node.op == mul:
            stack.extend((v, times, inverted) for v in node.inputs)
        elif node.op == neg:
            coefficient *= (-1) ** times
            stack.append((node.inputs[0], times, inverted))
        elif node.op == true_divide:
            stack.append((node.inputs[0], times, inverted))
            stack.append((node.inputs[1], times, not inverted))
        elif _is_square(node):
            stack.append((node.inputs[0], 2 * times, inverted))
        else:
            (divisors if inverted else factors)[part] += times
    return None


def _is_square(node: Apply) -> bool:
    return node.op == square or (node.op == at_pow and has_value(node.inputs[1], 2))


def _complements(fgraph: Any, term: Term, dtype: str) -> Iterator[tuple[Variable, Complement]]:
    """The factors of a term that have complements."""
    for f, times in term.factors.items():
        if f.owner is None or f.owner.op not in COMPLEMENTS:
            continue
        if f.type.dtype != dtype or any(x.type.dtype != dtype for x in f.owner.inputs):
            continue
        for complement in COMPLEMENTS[f.owner.op]:
            if times >= complement.power and (complement.shared or len(fgraph.clients[f]) == 1):
                yield f, complement


def product_of_factors(
    coefficient: float, difference: Variable, factors: Counter[Variable], divisors: Counter[Variable], out: Variable
) -> Variable:
    """A number times a difference times factors, over divisors."""
    dtype = out.type.dtype
    top = [*factors.elements(), difference]
    if abs(coefficient) != 1:
        top.insert(0, constant_like(coefficient, out))
    result = top[0] if len(top) == 1 else computed_in(dtype, mul, top)
    if divisors:
        bottom = list(divisors.elements())
        result = true_divide(result, bottom[0] if len(bottom) == 1 else computed_in(dtype, mul, bottom))
    return neg(result) if coefficient == -1 else result


def sum_of_terms(first: Variable, left: list[tuple[int, Variable]], dtype: str) -> Variable:
    """A term and others with their signs."""
    added = [first, *(v for sign, v in left if sign > 0)]
    total = added[0] if len(added) == 1 else computed_in(dtype, add, added)
    for sign, var in left:
        if sign < 0:
            total = computed_in(dtype, sub, [total, var])
    return total
