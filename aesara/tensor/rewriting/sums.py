"""Sums and differences of functions in which terms cancel, or that are smooth although their terms are not.

``1 - sigmoid(x)`` loses all digits for large `x`; ``sigmoid(-x)``, the same number, loses none. A table lists the
numbers `k` and functions `f` for which the difference ``k - f(x)`` is another function. The rule also applies to
``t - t*f(x)`` with a product `t`, which occurs in gradients.

``max(x, 0) + log(1 + exp(-abs(x)))`` is ``softplus(x)``. Its terms have kinks at zero, and the derivatives that are
conventional there do not add up to that of the sum, so the sum is differentiated as the smooth function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator
from typing import TYPE_CHECKING

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.records import dataclass
from aesara.tensor.elementwise import ops, special
from aesara.tensor.reductions.logsumexp import logaddexp_
from aesara.tensor.rewriting.algebra import PRODUCTS, TERM, Product, SignedSum, are_opposite, multiple, opposite
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    has_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph

rules = Rules()


@dataclass(frozen=True)
class Complement:
    """``number - f(*x)**power`` computed as ``form(*x)``.

    `shared` says whether this pays if ``f(*x)`` has other clients.
    """

    number: float
    form: Callable[..., Variable]
    power: int = 1
    shared: bool = True


COMPLEMENTS: dict[Op, tuple[Complement, ...]] = {
    ops.exp: (Complement(1, lambda x: ops.neg(ops.expm1(x))),),
    ops.expm1: (Complement(-1, lambda x: ops.neg(ops.exp(x))),),
    ops.sigmoid: (
        Complement(1, lambda x: ops.sigmoid(opposite(x))),
        Complement(0.5, lambda x: ops.mul(-0.5, ops.tanh(ops.mul(0.5, x)))),
    ),
    ops.tanh: (
        Complement(1, lambda x: ops.mul(2, ops.sigmoid(ops.mul(-2, x)))),
        Complement(-1, lambda x: ops.mul(-2, ops.sigmoid(ops.mul(2, x)))),
        Complement(1, lambda x: ops.reciprocal(ops.square(ops.cosh(x))), power=2, shared=False),
    ),
    special.erf: (
        Complement(1, lambda x: special.erfc(x)),
        Complement(-1, lambda x: ops.neg(special.erfc(opposite(x)))),
    ),
    special.erfc: (Complement(1, lambda x: special.erf(x)), Complement(2, lambda x: special.erfc(opposite(x)))),
    special.ndtr: (Complement(1, lambda x: special.ndtr(opposite(x))),),
    ops.cos: (
        Complement(1, lambda x: ops.mul(2, ops.square(ops.sin(ops.mul(0.5, x))))),
        Complement(-1, lambda x: ops.mul(-2, ops.square(ops.cos(ops.mul(0.5, x))))),
        Complement(1, lambda x: ops.square(ops.sin(x)), power=2, shared=False),
    ),
    ops.sin: (Complement(1, lambda x: ops.square(ops.cos(x)), power=2, shared=False),),
    ops.cosh: (
        Complement(1, lambda x: ops.mul(-2, ops.square(ops.sinh(ops.mul(0.5, x))))),
        Complement(1, lambda x: ops.neg(ops.square(ops.sinh(x))), power=2, shared=False),
    ),
    special.gammainc: (Complement(1, lambda k, x: special.gammaincc(k, x)),),
    special.gammaincc: (Complement(1, lambda k, x: special.gammainc(k, x)),),
}


#: Sums of more terms, and terms of more factors, are not searched.
MOST_TERMS = 16
MOST_FACTORS = 64


@rules.canonicalize
@rules.stabilize
@node_rewriter([ops.add, ops.sub], operands=[*COMPLEMENTS, *PRODUCTS])
def local_complement(fgraph, node):
    """``t - t*f(x) -> t * complement(x)``; see the table for the functions."""
    out = node.outputs[0]
    total, products = terms_with(node, COMPLEMENTS)
    for i, term in products:
        for f, complement in _complements(fgraph, term, out.type.dtype):
            number, size = -complement.number * term.number, len(term.factors) - complement.power
            for k, other in products:
                if k == i or other.number != number or len(other.factors) != size:
                    continue
                rest = term.without(f, complement.power)
                if not other.has_operands_of(rest):
                    continue
                difference = Product([*rest.factors, complement.form(*f.owner.inputs)], rest.divisors, -term.number)
                new = total.without((i, k)).plus(difference.build(out))
                return in_place_of(out, new.build(out.type.dtype), node.inputs)
    return False


def terms_with(node: Apply, *functions: Container[Op]) -> tuple[SignedSum, list[tuple[int, Product]]]:
    """Return the terms of a sum, and their positions and products if each set of functions has a factor in some term.

    Otherwise, and for integers and long sums, there are no products.
    """
    (out,) = node.outputs
    if (
        not 2 <= len(node.inputs) <= MOST_TERMS
        or not is_float(out)
        or not all(any(_has_factor(v, choices) for v in node.inputs) for choices in functions)
    ):
        return SignedSum([]), []
    total = SignedSum.read(out)
    products = [(k, Product.read(var, TERM, dtype=out.type.dtype)) for k, (_, var) in enumerate(total.terms)]
    for (sign, _), (_, product) in zip(total.terms, products, strict=True):
        product.number *= sign
    return total, products


def _has_factor(var: Variable, functions: Container[Op]) -> bool:
    """Return whether a term has one of the functions among its first factors."""
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


def _complements(fgraph: FunctionGraph, term: Product, dtype: str) -> Iterator[tuple[Variable, Complement]]:
    """Yield the factors of a term that have complements."""
    for f in dict.fromkeys(term.factors):
        if f.owner is None or f.owner.op not in COMPLEMENTS:
            continue
        if f.type.dtype != dtype or any(x.type.dtype != dtype for x in f.owner.inputs):
            continue
        for complement in COMPLEMENTS[f.owner.op]:
            if term.factors.count(f) >= complement.power and (complement.shared or len(fgraph.clients[f]) == 1):
                yield f, complement


def difference_of_exponentials(x: Variable, y: Variable) -> Variable:
    """``exp(x) - exp(y)`` as the larger one times ``1 - exp(-|x - y|)``, with a sign."""
    distance = ops.switch(ops.eq(x, y), 0, ops.abs(ops.sub(x, y)))  # also for equal infinities
    missing = ops.expm1(ops.neg(distance))
    return ops.mul(ops.exp(ops.maximum(x, y)), ops.switch(ops.lt(x, y), missing, ops.neg(missing)))


def root_minus_one(x: Variable) -> Variable:
    """``sqrt(1 + x) - 1`` -> ``x / (1 + sqrt(1 + x))`` where the difference may cancel"""
    root = ops.sqrt(ops.add(1, x))
    return ops.switch(ops.le(x, 3), ops.true_divide(x, ops.add(1, root)), ops.sub(root, 1))


def one_minus_root(x: Variable) -> Variable:
    """``1 - sqrt(1 - x)`` -> ``x / (1 + sqrt(1 - x))`` where the difference may cancel

    No part of the result matches the pattern of a rule that uses it.
    """
    root = ops.sqrt(ops.sub(1, x))
    return ops.switch(ops.le(-3, x), ops.true_divide(x, ops.add(1, root)), ops.neg(ops.sub(root, 1)))


def difference_of_roots(c: Variable, x: Variable) -> Variable:
    """``sqrt(c + x) - sqrt(x)`` -> ``c / (sqrt(c + x) + sqrt(x))``"""
    return ops.true_divide(c, ops.add(ops.sqrt(ops.add(c, x)), ops.sqrt(x)))


def adds_to_root(c: Variable) -> bool:
    """Return whether `c` is a positive number, so that the sum of roots with and without it is not zero."""
    value = common_value(c)
    return value is not None and 0 < value < np.inf


def smooth_difference_of_roots(node: Apply) -> Variable | None:
    """Return a difference of roots as `difference_of_roots`, for differentiation; None for subtrahend differences."""
    (out,) = node.outputs
    first, second = (output_of(v, ops.sqrt) for v in node.inputs)
    if first is None or second is None:
        return None
    for longer, shorter, is_positive in ((first, second, True), (second, first, False)):
        total = output_of(longer.inputs[0], ops.add)
        x = shorter.inputs[0]
        if total is None or len(total.inputs) != 2 or x not in total.inputs:
            continue
        value = common_value(total.inputs[1 if total.inputs[0] is x else 0])
        if value is not None and real_of_same_dtype(x, out) and adds_to_root(c := constant_like(value, x)):
            new = difference_of_roots(c, x)
            return new if is_positive else ops.neg(new)
    return None


rules.add(
    # Late, since logarithms and quotients of differences have better forms.
    row(
        "local_difference_of_exponentials",
        (ops.sub, (ops.exp, "x"), (ops.exp, "y")),
        difference_of_exponentials,
        single_client=True,
    ),
    to=(rules.specialize,),
)
rules.add(
    row("local_root_minus_one", (ops.add, -1, (ops.sqrt, (ops.add, 1, "*x"))), root_minus_one),
    row(
        "local_root_of_difference_minus_one",
        (ops.add, -1, (ops.sqrt, (ops.sub, 1, "x"))),
        lambda x: ops.neg(one_minus_root(x)),
    ),
    row("local_one_minus_root", (ops.sub, 1, (ops.sqrt, (ops.add, 1, "*x"))), lambda x: ops.neg(root_minus_one(x))),
    row(
        "local_difference_of_roots",
        (ops.sub, (ops.sqrt, (ops.add, "c", "x")), (ops.sqrt, "x")),
        difference_of_roots,
        adds_to_root,
    ),
    row(
        "local_opposite_difference_of_roots",
        (ops.sub, (ops.sqrt, "x"), (ops.sqrt, (ops.add, "c", "x"))),
        lambda c, x: ops.neg(difference_of_roots(c, x)),
        adds_to_root,
    ),
    row("local_one_minus_root_of_difference", (ops.sub, 1, (ops.sqrt, (ops.sub, 1, "x"))), one_minus_root),
    to=(rules.stabilize,),
)

#: The largest number of terms of sums that are searched for kinks.
MOST_TERMS_WITH_KINKS = 16


def smooth_sum(node: Apply, kept: Collection[Variable]) -> Variable | None:
    """Return a sum with terms that have kinks combined to `softplus` or `logaddexp`; None without such terms.

    Parameters
    ----------
    node
        A sum or a difference.
    kept
        Variables whose operations are not visited.
    """
    (out,) = node.outputs
    total = SignedSum.read(out, kept, MOST_TERMS_WITH_KINKS)
    for i, (sign, var) in enumerate(total.terms):
        decay = _decay(var, kept)
        if decay is None:
            continue
        number, x = decay
        for k, (other_sign, other) in enumerate(total.terms):
            new = _without_kink(number, x, other, kept) if k != i and other_sign == sign else None
            if new is not None and new.type.dtype == out.type.dtype:
                return total.without((i, k)).plus(new, sign).build(out.type.dtype)
    return None


def _decay(var: Variable, kept: Collection[Variable]) -> tuple[float, Variable] | None:
    """Return `number` and `x` of ``log(1 + exp(number * abs(x)))`` with a negative number, else None."""
    node = var.owner
    if node is None or node.op not in (ops.softplus, ops.log1p, ops.log) or var in kept:
        return None
    (inner,) = node.inputs
    if node.op == ops.log:
        total = output_of(inner, ops.add)
        if total is None or len(total.inputs) != 2 or inner in kept or not any(has_value(v, 1) for v in total.inputs):
            return None
        inner = total.inputs[0] if has_value(total.inputs[1], 1) else total.inputs[1]
    if node.op != ops.softplus:
        power = output_of(inner, ops.exp)
        if power is None or inner in kept:
            return None
        (inner,) = power.inputs
    number, size = multiple(inner)
    absolute = output_of(size, ops.abs)
    if absolute is None or not number < 0 or any(v in kept for v in _until(inner, size)):
        return None
    return number, absolute.inputs[0]


def _until(var: Variable, last: Variable) -> Iterator[Variable]:
    """Yield the variables from `var` to `last`, through which `multiple` goes."""
    stack = [var]
    while stack:
        current = stack.pop()
        yield current
        if current is not last and current.owner is not None:
            stack.extend(current.owner.inputs)


def _without_kink(number: float, x: Variable, other: Variable, kept: Collection[Variable]) -> Variable | None:
    """Return the sum of a term and ``log(1 + exp(number * abs(x)))`` if it is a smooth function, else None."""
    node = other.owner
    if node is None or other in kept:
        return None
    if number == -2 and node.op == ops.abs and node.inputs[0] is x:
        return ops.sub(ops.softplus(ops.mul(2, x)), x)
    if number != -1:
        return None
    if node.op == ops.switch:
        condition, y, zero = node.inputs
        compared = condition.owner
        if compared is None or compared.op not in (ops.gt, ops.ge) or compared.inputs[0] is not y:
            return None
        if not has_value(compared.inputs[1], 0) or not has_value(zero, 0):
            return None
    elif node.op == ops.clip:
        y, zero, largest = node.inputs
        if not has_value(zero, 0) or not has_value(largest, np.inf):
            return None
    elif node.op == ops.maximum and len(node.inputs) == 2:
        y, zero = node.inputs
        if has_value(y, 0):
            y, zero = zero, y
        if not has_value(zero, 0):
            difference = output_of(x, ops.sub)
            if difference is None or x in kept or {*difference.inputs} != {y, zero}:
                return None
            return logaddexp_(y, zero)
    else:
        return None
    (first, base), (second, other_base) = multiple(x), multiple(y)
    same_size = base is other_base and abs(first) == abs(second)
    return ops.softplus(y) if same_size or are_opposite(x, y) else None
