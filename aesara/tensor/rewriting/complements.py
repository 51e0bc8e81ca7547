"""Differences that cancel, ``k - f(x)``, as functions of their own.

``1 - sigmoid(x)`` has no digits left for large `x`; ``sigmoid(-x)``, the same number, has all of them. The table says
for which numbers `k` and functions `f` there is such a function. The difference need not stand there as such: it is
found in ``t - t*f(x)`` for any product `t`, which is what gradients consist of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Variable
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
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    common_value,
    computed_in,
    constant_like,
    has_value,
    in_place_of,
    is_float,
)
from aesara.tensor.rewriting.logistic import negated
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


#: What terms are taken apart at.
PRODUCTS = frozenset((mul, neg, true_divide, square, at_pow))


@dataclass
class SumTerm:
    """A term of a sum: a number times a product of factors over a product of others."""

    var: Variable
    coefficient: float
    factors: list[Variable]
    divisors: list[Variable]


@rules.canonicalize
@rules.stabilize
@node_rewriter([add, sub], operands=[*COMPLEMENTS, *PRODUCTS])
def local_complement(fgraph, node):
    """``t - t*f(x)`` as `t` times the complement of ``f(x)``; see the table for the functions."""
    out = node.outputs[0]
    if not is_float(out):
        return False
    signed = [(1, v) for v in node.inputs] if node.op == add else [(1, node.inputs[0]), (-1, node.inputs[1])]
    if len(signed) > MOST_TERMS or not any(has_factor(v, COMPLEMENTS) for _, v in signed):
        return False
    dtype = out.type.dtype
    terms = [term for sign, var in signed if (term := term_of(sign, var, dtype)) is not None]
    for one in terms:
        for f, complement in _complements(fgraph, one, dtype):
            size = len(one.factors) - complement.power
            wanted = -complement.number * one.coefficient
            for other in terms:
                if len(other.factors) != size or other.coefficient != wanted or other is one:
                    continue
                rest = Counter(one.factors)
                rest[f] -= complement.power
                if Counter(other.factors) != rest or Counter(other.divisors) != Counter(one.divisors):
                    continue
                difference = product_of_factors(
                    -one.coefficient, complement.form(*f.owner.inputs), rest, one.divisors, out
                )
                left = [(s, v) for s, v in signed if v is not one.var and v is not other.var]
                if len(left) != len(signed) - 2:
                    continue  # a term that occurs twice
                return in_place_of(out, sum_of_terms(difference, left, dtype), node.inputs)
    return False


def has_factor(var: Variable, ops: Container[Op]) -> bool:
    """Whether a term has a function of `ops` among its factors."""
    stack = [var]
    for _ in range(MOST_FACTORS):
        if not stack:
            break
        node = stack.pop().owner
        if node is None:
            continue
        if node.op in ops:
            return True
        if node.op in PRODUCTS:
            stack.extend(node.inputs)
    return False


def term_of(sign: int, var: Variable, dtype: str) -> SumTerm | None:
    """A term with its products, quotients, squares and signs in a dtype taken apart; None if there are too many."""
    coefficient = float(sign)
    factors: list[Variable] = []
    divisors: list[Variable] = []
    stack = [(var, 1, False)]
    for _ in range(MOST_FACTORS):
        if not stack:
            return SumTerm(var, coefficient, factors, divisors)
        part, times, inverted = stack.pop()
        node = part.owner
        if node is None or node.op not in PRODUCTS or part.type.dtype != dtype:
            value = None if inverted else common_value(part)
            if value is not None and np.isfinite(value):
                coefficient *= float(value) ** times
                continue
        elif node.op == mul:
            stack.extend((v, times, inverted) for v in node.inputs)
            continue
        elif node.op == neg:
            coefficient *= (-1) ** times
            stack.append((node.inputs[0], times, inverted))
            continue
        elif node.op == true_divide:
            stack.append((node.inputs[0], times, inverted))
            stack.append((node.inputs[1], times, not inverted))
            continue
        elif node.op == square or has_value(node.inputs[1], 2):
            stack.append((node.inputs[0], 2 * times, inverted))
            continue
        (divisors if inverted else factors).extend([part] * times)
    return None


def _complements(fgraph: Any, term: SumTerm, dtype: str) -> Iterator[tuple[Variable, Complement]]:
    """The factors of a term that have complements."""
    for f in dict.fromkeys(term.factors):
        if f.owner is None or f.owner.op not in COMPLEMENTS:
            continue
        if f.type.dtype != dtype or any(x.type.dtype != dtype for x in f.owner.inputs):
            continue
        for complement in COMPLEMENTS[f.owner.op]:
            if term.factors.count(f) >= complement.power and (complement.shared or len(fgraph.clients[f]) == 1):
                yield f, complement


def product_of_factors(
    coefficient: float, difference: Variable, factors: Counter[Variable], divisors: Sequence[Variable], out: Variable
) -> Variable:
    """A number times a difference times factors, over divisors."""
    top = [*factors.elements(), difference]
    if abs(coefficient) != 1:
        top.insert(0, constant_like(coefficient, out))
    result = local_mul_canonizer.rebuild(top, list(divisors), out.type)
    return neg(result) if coefficient == -1 else result


def sum_of_terms(first: Variable, left: list[tuple[int, Variable]], dtype: str) -> Variable:
    """A term and others with their signs."""
    added = [first, *(v for sign, v in left if sign > 0)]
    total = added[0] if len(added) == 1 else computed_in(dtype, add, added)
    for sign, var in left:
        if sign < 0:
            total = computed_in(dtype, sub, [total, var])
    return total
