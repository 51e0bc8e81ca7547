"""Canonizers of sums and of products, and the distribution of factors over sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from aesara.graph.clients import ClientType
from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.elementwise import ops
from aesara.tensor.rewriting.algebra import Product, SignedSum, of_lists, power_of
from aesara.tensor.rewriting.algebraic_canonizer import AlgebraicCanonizer, get_constant
from aesara.tensor.rewriting.constant_arithmetic import add_calculate, mul_calculate
from aesara.tensor.rewriting.helpers import computed_in, in_place_of, is_float, output_of
from aesara.tensor.rewriting.wide_products import in_pairs, may_leave_range
from aesara.tensor.rewriting.written_order import in_written_order, is_written_like, same_factors, sum_in_written_order


class MulCanonizer(AlgebraicCanonizer):
    """The canonical form of products: equal factors cancel, constants are multiplied, and the sign is in front.

    ``neg(x) * y``, ``-1 * x * y`` and ``x / neg(y)`` become ``neg`` of a product; a constant factor takes the sign. In
    the lists of factors, the sign is a leading factor -1.
    """

    sign = ops.neg

    def simplify(
        self, num: list[Variable], denum: list[Variable], out_type: TensorType
    ) -> tuple[list[Variable], list[Variable]]:
        num, top_negative = self._without_signs(num, out_type)
        denum, bottom_negative = self._without_signs(denum, out_type)
        num, denum = super().simplify(num, denum, out_type)
        if top_negative == bottom_negative:
            return num, denum
        value = get_constant(num[0]) if num else None
        if value is None:
            return [self._constant(-1, out_type, ()), *num], denum
        if value == -1:
            return num[1:], denum
        return [self._constant(-np.asarray(value), out_type, ()), *num[1:]], denum

    @staticmethod
    def _without_signs(side: list[Variable], out_type: TensorType) -> tuple[list[Variable], bool]:
        """Return the factors with ``neg(x)`` replaced by ``x``, and whether the number of replacements is odd."""
        negative = False
        plain = []
        for var in side:
            node = var.owner
            while node is not None and node.op == ops.neg and var.type.dtype == out_type.dtype:
                var = node.inputs[0]
                node = var.owner
                negative = not negative
            plain.append(var)
        return plain, negative

    @staticmethod
    def _is_signed(num: Sequence[Variable], denum: Sequence[Variable]) -> bool:
        """Return whether the canonical form is ``neg`` of a product."""
        if not num or len(num) + len(denum) < 2:
            return False
        value = get_constant(num[0])
        return value is not None and bool(value == -1)

    def _is_merged(self, out: Variable, num: Sequence[Variable], denum: Sequence[Variable]) -> bool:
        return not self._is_signed(num, denum) and super()._is_merged(out, num, denum)

    def _rewrite(
        self, out: Variable, flat: tuple[list[Variable], list[Variable]], num: list[Variable], denum: list[Variable]
    ) -> list[Variable] | None:
        if not is_float(out) or not may_leave_range(*flat):
            return super()._rewrite(out, flat, num, denum)
        written = Product(*flat)
        if same_factors(written, Product(num, denum)):
            return None
        negative = self._is_signed(num, denum)
        new = in_written_order(out, written, Product(num[negative:], denum))
        if new is None:
            new = self.rebuild(num, denum, out.type)
        elif negative:
            new = computed_in(out.type.dtype, ops.neg, [new])
        if is_written_like(out, new):
            return None
        return in_place_of(out, new, [*flat[0], *flat[1]])

    def rebuild(self, num: list[Variable], denum: list[Variable], out_type: TensorType) -> Variable:
        if self._is_signed(num, denum):
            return computed_in(out_type.dtype, ops.neg, [self.rebuild(num[1:], denum, out_type)])
        if out_type.dtype[:5] == "float" and may_leave_range(num, denum):
            return in_pairs(num, denum, lambda tops, bottoms: self.merge_num_denum(tops, bottoms, out_type.dtype))
        return super().rebuild(num, denum, out_type)


def check_for_x_over_absX(
    numerators: list[Variable], denominators: list[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """``x / abs(x) -> sgn(x)`` among the factors of a product of floats; the smallest integer has no absolute value."""
    numerators, denominators = list(numerators), list(denominators)
    for denominator in list(denominators):
        node = output_of(denominator, ops.abs)
        x = None if node is None or not is_float(denominator) else node.inputs[0]
        if x is not None and x.type.dtype == denominator.type.dtype and x in numerators:
            numerators[numerators.index(x)] = ops.sgn(x)
            denominators.remove(denominator)
    return numerators, denominators


def powers_of_one_base(product: Product) -> Product:
    """``x**2 * x / x**4 -> 1 / x``, for floats and integer exponents, since powers overflow and underflow."""
    sides = [[power_of(v) for v in side] for side in (product.factors, product.divisors)]
    common = {base for base, _ in sides[0]} & {base for base, _ in sides[1]}
    if not common or may_leave_range(product.factors, product.divisors):
        return product
    exponents = {base: 0 for base, _ in (*sides[0], *sides[1]) if base in common}
    for sign, side in zip((1, -1), sides):
        for base, exponent in side:
            if base in common:
                exponents[base] += sign * exponent
    kept = [
        [v for v, (base, _) in zip(side, powers) if base not in common]
        for side, powers in zip((product.factors, product.divisors), sides)
    ]
    for base, exponent in exponents.items():
        if exponent:
            power = base if abs(exponent) == 1 else ops.pow(base, np.asarray(abs(exponent), base.type.dtype))
            kept[exponent < 0].append(power)
    return Product(kept[0], kept[1])


class AddCanonizer(AlgebraicCanonizer):
    """The canonical form of sums: equal terms cancel, and constants are added.

    Sums of floats with differences among the terms keep their written order, since differences may cancel digits.
    """

    def _rewrite(
        self, out: Variable, flat: tuple[list[Variable], list[Variable]], num: list[Variable], denum: list[Variable]
    ) -> list[Variable] | None:
        if out.type.dtype[:5] not in ("float", "compl") or not flat[1] or len(flat[0]) + len(flat[1]) < 3:
            return super()._rewrite(out, flat, num, denum)
        new = sum_in_written_order(out, flat, num, denum)
        if new is None:
            return super()._rewrite(out, flat, num, denum)
        return None if is_written_like(out, new) else in_place_of(out, new, [*flat[0], *flat[1]])


local_add_canonizer = AddCanonizer(ops.add, ops.sub, ops.neg, add_calculate)
local_add_canonizer.name = "local_add_canonizer"
local_mul_canonizer = MulCanonizer(ops.mul, ops.true_divide, ops.reciprocal, mul_calculate, False)
local_mul_canonizer.name = "local_mul_canonizer"
local_mul_canonizer.add_simplifier(check_for_x_over_absX, "X_over_absX", operands=[ops.abs])
local_mul_canonizer.add_simplifier(of_lists(powers_of_one_base), "powers_of_one_base", operands=[ops.square, ops.pow])


#: Sums of more terms are not considered.
MOST_TERMS = 20

#: The terms of a sum, with their signs.
Terms = list[tuple[int, Product]]


def multiplied_terms(terms: Terms, by: Product, out_type: TensorType, least_saved: int = 0) -> Terms | None:
    """Return the terms of a sum multiplied by factors, if more factors cancel than are added to other terms.

    A term in which nothing cancels may be multiplied but not divided: ``x / (1 - x)`` does not become
    ``1 / (1 / x - 1)``.

    Parameters
    ----------
    terms
        The terms.
    by
        The factors and divisors.
    out_type
        The type of the result.
    least_saved
        The number of factors that must cancel in excess of those added.
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
    """Return the number of factors and divisors that are not constant."""
    return sum(get_constant(var) is None for var in (*product.factors, *product.divisors))


def distribute(factor: Variable, others: Product, out: Variable) -> tuple[Variable, Product] | None:
    """Return a sum multiplied by some of the other factors, and the remaining ones; None if no factors are saved.

    Parameters
    ----------
    factor
        The sum.
    others
        The other factors and divisors.
    out
        The whole product.
    """
    terms = _terms(factor, out)
    if terms is None:
        return None
    # Only factors that cancel in some term are multiplied.
    numerators, denominators = _factors_of_terms(terms)
    moved = Product(
        [var for var in others.factors if var in denominators and get_constant(var) is None],
        [var for var in others.divisors if var in numerators and get_constant(var) is None],
    )
    multiplied = None if moved.is_number else multiplied_terms(terms, moved, out.type)
    if multiplied is None:
        return None
    total = SignedSum([(sign, term.build(out)) for sign, term in multiplied]).build(out.type.dtype)
    return total, Product(
        [var for var in others.factors if var not in moved.factors],
        [var for var in others.divisors if var not in moved.divisors],
    )


def _terms(factor: Variable, out: Variable) -> Terms | None:
    """Return the terms of a sum as products; None for a single term, or too many."""
    total = SignedSum.read(factor, most=MOST_TERMS + 1)
    if not 2 <= len(total.terms) <= MOST_TERMS:
        return None
    return [(sign, Product.read(term, dtype=out.type.dtype)) for sign, term in total.terms]


def _factors_of_terms(terms: Terms) -> tuple[set[Variable], set[Variable]]:
    """Return the factors, and the divisors, of all terms of a sum."""
    return {v for _, term in terms for v in term.factors}, {v for _, term in terms for v in term.divisors}


@node_rewriter([ops.mul, ops.true_divide], operands=[ops.add, ops.sub, ops.mul])
def local_greedy_distributor(fgraph, node):
    """``(a / x + b) * x -> a + b * x``: factors are multiplied into a sum if that saves factors."""
    out = node.outputs[0]
    if not is_float(out):
        return False
    clients = fgraph.clients
    divides = node.op == ops.true_divide
    sides = [node.inputs[:1], node.inputs[1:]] if divides else [node.inputs, []]
    product = Product(*(_factors(side, clients, out.type.dtype) for side in sides))
    multiplied, divided = set(product.factors), set(product.divisors)
    for candidate in (*product.factors, *product.divisors):
        inner = candidate.owner
        if inner is None or inner.op not in (ops.add, ops.sub) or len(clients[candidate]) != 1:
            continue
        is_factor = candidate in multiplied
        # The product may be long, so a quick check that a factor can cancel comes first.
        terms = _terms(candidate, out) if candidate.type.dtype == out.type.dtype else None
        if terms is None:
            continue
        tops, bottoms = _factors_of_terms(terms)
        same, across = (multiplied, divided) if is_factor else (divided, multiplied)
        if across.isdisjoint(tops) and same.isdisjoint(bottoms):
            continue
        own, other = (product.factors, product.divisors) if is_factor else (product.divisors, product.factors)
        distributed = distribute(candidate, Product([v for v in own if v is not candidate], other), out)
        if distributed is not None:
            total, remaining = distributed
            operands = ([total, *remaining.factors], remaining.divisors)
            new = Product(*operands) if is_factor else Product(*operands[::-1])
            return in_place_of(out, new.build(out), [*product.factors, *product.divisors])
    return False


def _factors(variables: list[Variable], clients: Mapping[Variable, Sequence[ClientType]], dtype: str) -> list[Variable]:
    """Return factors, with products of a dtype that have no other client expanded."""
    factors: list[Variable] = []
    for var in variables:
        inner = output_of(var, ops.mul)
        if inner is not None and len(clients[var]) == 1 and var.type.dtype == dtype:
            factors.extend(inner.inputs)
        else:
            factors.append(var)
    return factors
