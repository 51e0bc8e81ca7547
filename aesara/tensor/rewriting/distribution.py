"""Factors of a product multiplied into a sum, where this saves operations."""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.elementwise.ops import add, mul, sub, true_divide
from aesara.tensor.rewriting.algebraic_canonizer import get_constant
from aesara.tensor.rewriting.canonizer import local_add_canonizer, local_mul_canonizer
from aesara.tensor.rewriting.helpers import in_place_of, is_float

#: Sums of more terms than this are left alone.
MOST_TERMS = 20

Pairs = list[tuple[list[Variable], list[Variable]]]


def distribute_greedy(
    pos_pairs: Pairs,
    neg_pairs: Pairs,
    num: list[Variable],
    denum: list[Variable],
    out_type: Any,
    minscore: int = 0,
) -> tuple[bool, Pairs, Pairs]:
    """Multiply factors into the terms of a sum if more of them cancel than are needed in other terms.

    A term in which nothing cancels is multiplied, but never divided: ``x / (1 - x)`` is not ``1 / (1 / x - 1)``.

    Parameters
    ----------
    pos_pairs, neg_pairs
        The numerators and denominators of the terms that are added, and subtracted.
    num, denum
        The factors, and those that are divided by.
    out_type
        The type of the result.
    minscore
        How many factors must be saved.

    Returns
    -------
    success, pos_pairs, neg_pairs
    """
    saved = len(num) + len(denum)
    new: list[Pairs] = []
    for pairs in (pos_pairs, neg_pairs):
        changed = []
        for top, bottom in pairs:
            before = _unknowns(top) + _unknowns(bottom)
            all_top, all_bottom = local_mul_canonizer.simplify([*top, *num], [*bottom, *denum], out_type)
            after = _unknowns(all_top) + _unknowns(all_bottom)
            if denum and after >= before + len(num) + len(denum):
                return False, pos_pairs, neg_pairs
            saved += before - after
            changed.append((all_top, all_bottom))
        new.append(changed)
    if saved <= minscore:
        return False, pos_pairs, neg_pairs
    return True, new[0], new[1]


def _unknowns(variables: list[Variable]) -> int:
    """How many of the variables are no constants."""
    return sum(get_constant(var) is None for var in variables)


def attempt_distribution(
    factor: Variable, num: list[Variable], denum: list[Variable], out_type: Any
) -> tuple[bool, Variable, list[Variable], list[Variable]]:
    """Try to multiply other factors of a product into one that is a sum.

    Parameters
    ----------
    factor
        The sum.
    num, denum
        The other factors, and those that are divided by.
    out_type
        The type of the result.

    Returns
    -------
    changed, new_factor, new_num, new_denum
        `new_num` and `new_denum` hold what stays outside.
    """
    terms = _terms(factor, out_type)
    if terms is None:
        return False, factor, num, denum
    pos_pairs, neg_pairs = terms
    # Only what cancels somewhere is worth a try.
    tops, bottoms = _factors_of_terms(terms)
    into_num = [var for var in num if var in bottoms and get_constant(var) is None]
    into_denum = [var for var in denum if var in tops and get_constant(var) is None]
    if not into_num and not into_denum:
        return False, factor, num, denum
    success, pos_pairs, neg_pairs = distribute_greedy(pos_pairs, neg_pairs, into_num, into_denum, out_type)
    if not success:
        return False, factor, num, denum
    new_factor = local_add_canonizer.merge_num_denum(
        [local_mul_canonizer.rebuild(top, bottom, out_type) for top, bottom in pos_pairs],
        [local_mul_canonizer.rebuild(top, bottom, out_type) for top, bottom in neg_pairs],
        out_type.dtype,
    )
    return (
        True,
        new_factor,
        [var for var in num if var not in into_num],
        [var for var in denum if var not in into_denum],
    )


def _terms(factor: Variable, out_type: Any) -> tuple[Pairs, Pairs] | None:
    """The terms of a sum that are added and subtracted, as products; None if there are too many, or one only."""
    positive, negative = local_add_canonizer.get_near_num_denum(factor)
    if not 2 <= len(positive) + len(negative) <= MOST_TERMS:
        return None
    pos_pairs, neg_pairs = ([_factors_of_term(term, out_type) for term in terms] for terms in (positive, negative))
    return pos_pairs, neg_pairs


def _factors_of_terms(terms: tuple[Pairs, Pairs]) -> tuple[set[Variable], set[Variable]]:
    """What the terms of a sum are multiplied with, and what they are divided by."""
    pairs = [*terms[0], *terms[1]]
    return {var for top, _ in pairs for var in top}, {var for _, bottom in pairs for var in bottom}


def _factors_of_term(term: Variable, out_type: Any) -> tuple[list[Variable], list[Variable]]:
    """The numerators and denominators of a term; one of another dtype was computed in that and is left whole."""
    if term.type.dtype != out_type.dtype:
        return [term], []
    return local_mul_canonizer.get_near_num_denum(term)


@node_rewriter([mul, true_divide], operands=[add, sub, mul])
def local_greedy_distributor(fgraph, node):
    """``(a / x + b) * x`` as ``a + b * x``: factors go into a sum if fewer are multiplied then."""
    out = node.outputs[0]
    if not is_float(out):
        return False
    clients = fgraph.clients

    def is_sum(var: Variable) -> bool:
        inner = var.owner
        return (
            inner is not None and inner.op in (add, sub) and len(clients[var]) == 1 and var.type.dtype == out.type.dtype
        )

    num, denum = node.inputs, []
    if node.op == true_divide:
        num, denum = [node.inputs[0]], [node.inputs[1]]
    num = _factors(num, clients, out.type.dtype)
    denum = _factors(denum, clients, out.type.dtype)
    multiplied, divided = set(num), set(denum)
    for side in (num, denum):
        others_of_side, across = (multiplied, divided) if side is num else (divided, multiplied)
        for candidate in side:
            if not is_sum(candidate):
                continue
            # The product may be long: what cannot cancel is seen before all of it is looked through.
            terms = _terms(candidate, out.type)
            if terms is None:
                continue
            tops, bottoms = _factors_of_terms(terms)
            if across.isdisjoint(tops) and others_of_side.isdisjoint(bottoms):
                continue
            others = [var for var in side if var is not candidate]
            first, second = (others, denum) if side is num else (others, num)
            changed, factor, first, second = attempt_distribution(candidate, first, second, out.type)
            if changed:
                first = [factor, *first]
                new_num, new_denum = (first, second) if side is num else (second, first)
                new = local_mul_canonizer.rebuild(new_num, new_denum, out.type)
                return in_place_of(out, new, [*num, *denum])
    return False


def _factors(variables: list[Variable], clients: Any, dtype: str) -> list[Variable]:
    """The variables, with products of a dtype that only this one uses taken apart."""
    found: list[Variable] = []
    for var in variables:
        inner = var.owner
        if inner is not None and inner.op == mul and len(clients[var]) == 1 and var.type.dtype == dtype:
            found.extend(inner.inputs)
        else:
            found.append(var)
    return found


__all__ = ["attempt_distribution", "distribute_greedy", "local_greedy_distributor"]
