"""Factors of a product multiplied into a sum, where this saves operations."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import add, mul, sub, true_divide
from aesara.tensor.rewriting.algebra import Product, SignedSum
from aesara.tensor.rewriting.algebraic_canonizer import get_constant
from aesara.tensor.rewriting.canonizer import local_mul_canonizer
from aesara.tensor.rewriting.helpers import in_place_of, is_float, output_of

#: Sums of more terms than this are left alone.
MOST_TERMS = 20

#: The terms of a sum, with their signs.
Terms = list[tuple[int, Product]]


def multiplied_terms(terms: Terms, by: Product, out_type: Any, least_saved: int = 0) -> Terms | None:
    """Return the terms of a sum multiplied by factors, if more of them cancel than are needed in other terms.

    A term in which nothing cancels is multiplied, but never divided: ``x / (1 - x)`` is not ``1 / (1 / x - 1)``.

    Parameters
    ----------
    terms
        The terms.
    by
        The factors, and those that are divided by.
    out_type
        The type of the result.
    least_saved
        How many factors have to be saved, and one more.
    """
    count = len(by.factors) + len(by.divisors)
    saved = count
    new = []
    for sign, term in terms:
        factors, divisors = local_mul_canonizer.simplify(
            [*term.factors, *by.factors], [*term.divisors, *by.divisors], out_type
        )
        before, after = _unknowns(term), _unknowns(Product(factors, divisors))
        if by.divisors and after >= before + count:
            return None
        saved += before - after
        new.append((sign, Product(factors, divisors)))
    return new if saved > least_saved else None


def _unknowns(product: Product) -> int:
    """Return how many of the factors and divisors are no constants."""
    return sum(get_constant(var) is None for var in (*product.factors, *product.divisors))


def distributed(factor: Variable, others: Product, out: Variable) -> tuple[Variable, Product] | None:
    """Return a factor that is a sum, multiplied by others, and the others that stay outside; None if that does not pay.

    Parameters
    ----------
    factor
        The sum.
    others
        The other factors, and those that are divided by.
    out
        The whole product.
    """
    terms = _terms(factor, out)
    if terms is None:
        return None
    # Only what cancels somewhere is worth a try.
    above, below = _factors_of_terms(terms)
    into = Product(
        [var for var in others.factors if var in below and get_constant(var) is None],
        [var for var in others.divisors if var in above and get_constant(var) is None],
    )
    multiplied = None if into.is_number else multiplied_terms(terms, into, out.type)
    if multiplied is None:
        return None
    total = SignedSum([(sign, term.build(out)) for sign, term in multiplied]).build(out.type.dtype)
    return total, Product(
        [var for var in others.factors if var not in into.factors],
        [var for var in others.divisors if var not in into.divisors],
    )


def _terms(factor: Variable, out: Variable) -> Terms | None:
    """Return the terms of a sum as products; None if there are too many, or one only."""
    total = SignedSum.read(factor, most=MOST_TERMS + 1)
    if not 2 <= len(total.terms) <= MOST_TERMS:
        return None
    return [(sign, Product.read(term, dtype=out.type.dtype)) for sign, term in total.terms]


def _factors_of_terms(terms: Terms) -> tuple[set[Variable], set[Variable]]:
    """Return what the terms of a sum are multiplied with, and what they are divided by."""
    return {v for _, term in terms for v in term.factors}, {v for _, term in terms for v in term.divisors}


@node_rewriter([mul, true_divide], operands=[add, sub, mul])
def local_greedy_distributor(fgraph, node):
    """``(a / x + b) * x -> a + b * x``: factors go into a sum if fewer are multiplied then."""
    out = node.outputs[0]
    if not is_float(out):
        return False
    clients = fgraph.clients
    divides = node.op == true_divide
    sides = [node.inputs[:1], node.inputs[1:]] if divides else [node.inputs, []]
    product = Product(*(_factors(side, clients, out.type.dtype) for side in sides))
    multiplied, divided = set(product.factors), set(product.divisors)
    for candidate in (*product.factors, *product.divisors):
        inner = candidate.owner
        if inner is None or inner.op not in (add, sub) or len(clients[candidate]) != 1:
            continue
        above = candidate in multiplied
        # The product may be long: what cannot cancel is seen before all of it is looked through.
        terms = _terms(candidate, out) if candidate.type.dtype == out.type.dtype else None
        if terms is None:
            continue
        tops, bottoms = _factors_of_terms(terms)
        same, across = (multiplied, divided) if above else (divided, multiplied)
        if across.isdisjoint(tops) and same.isdisjoint(bottoms):
            continue
        own, other = (product.factors, product.divisors) if above else (product.divisors, product.factors)
        found = distributed(candidate, Product([v for v in own if v is not candidate], other), out)
        if found is not None:
            total, left = found
            parts = ([total, *left.factors], left.divisors)
            new = Product(*parts) if above else Product(*parts[::-1])
            return in_place_of(out, new.build(out), [*product.factors, *product.divisors])
    return False


def _factors(variables: list[Variable], clients: Any, dtype: str) -> list[Variable]:
    """Return the variables, with products of a dtype that only this one uses taken apart."""
    found: list[Variable] = []
    for var in variables:
        inner = output_of(var, mul)
        if inner is not None and len(clients[var]) == 1 and var.type.dtype == dtype:
            found.extend(inner.inputs)
        else:
            found.append(var)
    return found


__all__ = ["distributed", "local_greedy_distributor", "multiplied_terms"]
