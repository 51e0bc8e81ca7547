"""Ratios of two functions that vanish at zero, such as ``(exp(x) - 1) / x``, and their logarithms.

The derivatives of such a quotient as written are differences of nearly equal numbers. Ratios are found among the
factors of a product, also of multiples: ``expm1(2 * x) / (3 * x)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.records import dataclass
from aesara.tensor.elementwise import ops, special
from aesara.tensor.rewriting.algebra import Product, Reading, SignedSum, multiple, opposite
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
    has_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
)
from aesara.tensor.rewriting.logarithms.powers import factors_of
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: Factors with products and small powers among them expanded.
WITH_POWERS = Reading(signs=True, powers=4, most=16)


@dataclass
class Vanishing:
    """A factor ``sign * f(x)`` with ``f(x) / x`` near 1 for small `x`; see `RATIOS` for the kinds."""

    kind: str
    x: Variable
    sign: int = 1


def _near_zero(
    ratio: Callable[[Variable], Variable], function: Callable[[Variable], Variable], x: Variable, inverse: bool
) -> Variable:
    """Return ``f(x) / x`` or its inverse, for small `x` by a function `ratio` with accurate derivatives.

    Far from zero, nothing cancels in the quotient, and derivatives of `ratio` may overflow or underflow.
    """
    is_near = ops.lt(ops.abs(x), constant_like(1, x))
    near = ratio(ops.switch(is_near, x, constant_like(0, x)))
    # With this argument, the quotient does not match, and is differentiated as written.
    far = function(ops.switch(is_near, constant_like(1, x), x))
    if inverse:
        return ops.switch(is_near, ops.reciprocal(near), ops.true_divide(x, far))
    return ops.switch(is_near, near, ops.true_divide(far, x))


def _near_zero_by(
    ratio: Callable[[Variable], Variable], function: Callable[[Variable], Variable]
) -> tuple[Callable[[Variable], Variable], Callable[[Variable], Variable]]:
    return (lambda x: _near_zero(ratio, function, x, False)), (lambda x: _near_zero(ratio, function, x, True))


def _of_order_zero(function: Callable[..., Variable], argument: Variable) -> Variable:
    return function(constant_like(0, argument), argument)


#: For each kind of function, ``f(x) / x`` and ``x / f(x)``.
RATIOS: dict[str, tuple[Callable[[Variable], Variable], Callable[[Variable], Variable]]] = {
    "expm1": (lambda x: special.exprel(x), lambda x: special.exprel_reciprocal(x)),
    "log1p": _near_zero_by(lambda x: _of_order_zero(special.log1p_ratio, x), ops.log1p),
    "sin": _near_zero_by(lambda x: _of_order_zero(special.spherical_bessel_of_square, ops.neg(ops.square(x))), ops.sin),
    "sinh": _near_zero_by(lambda x: _of_order_zero(special.spherical_bessel_of_square, ops.square(x)), ops.sinh),
    "tanh": _near_zero_by(lambda x: _of_order_zero(special.spherical_ratio, x), ops.tanh),
    "erf": _near_zero_by(
        lambda x: ops.mul(constant_like(2 / math.sqrt(math.pi), x), _of_order_zero(special.boys, ops.square(x))),
        special.erf,
    ),
}

#: ``log(f(x) / x)``, accurate near zero, where it is small.
LOGARITHMS: dict[str, Callable[[Variable], Variable]] = {"expm1": special.log_exprel, "sinh": special.log_sinhc}

#: The kinds of functions that are one op.
KINDS = {ops.expm1: "expm1", ops.log1p: "log1p", ops.sin: "sin", ops.sinh: "sinh", ops.tanh: "tanh", special.erf: "erf"}


def vanishing(var: Variable, kept: Collection[Variable]) -> Vanishing | None:
    """Return a factor as one of the functions in `RATIOS`, else None."""
    node = var.owner
    if node is None or var in kept:
        return None
    if node.op == ops.neg:
        inner = vanishing(node.inputs[0], kept)
        return None if inner is None else Vanishing(inner.kind, inner.x, -inner.sign)
    (x, *others) = node.inputs
    if not others:
        if not real_of_same_dtype(x, var):
            return None
        if node.op in KINDS:
            return Vanishing(KINDS[node.op], x)
        return _log1p(x) if node.op == ops.log and x not in kept else None
    if len(others) > 1 or node.op not in (ops.add, ops.sub):
        return None
    (y,) = others
    for number, term, sign in ((x, y, -1), (y, x, 1)):
        power = None if term in kept else output_of(term, ops.exp)
        if power is None or not real_of_same_dtype(power.inputs[0], var):
            continue
        if (node.op == ops.sub and has_value(number, 1)) or (node.op == ops.add and has_value(number, -1)):
            return Vanishing("expm1", power.inputs[0], sign if node.op == ops.sub else 1)
    return None


def _log1p(inside: Variable) -> Vanishing | None:
    """Return ``log(inside)`` as ``log1p(x)`` for ``1 + x`` and ``1 - x``, else None."""
    node = inside.owner
    if node is None or node.op not in (ops.add, ops.sub) or len(node.inputs) != 2:
        return None
    for k in (0, 1) if node.op == ops.add else (0,):
        x = node.inputs[1 - k]
        if has_value(node.inputs[k], 1) and x.type.dtype == inside.type.dtype:
            return Vanishing("log1p", x if node.op == ops.add else opposite(x))
    return None


#: Ratios ``f(x) / x`` in a product, and whether each is inverted.
Ratios = list[tuple[Vanishing, bool]]


def ratios_in(var: Variable, kept: Collection[Variable]) -> tuple[Product, Ratios] | None:
    """Return the product of the other factors, and the ratios, of a product; None without ratios."""
    product = factors_of(Product([var]), kept, WITH_POWERS)
    sides = (product.factors, product.divisors)
    if not product.divisors or all(vanishing(v, kept) is None for side in sides for v in side):
        return None
    number, ratios = 1.0, []
    for below in (0, 1):
        for factor in list(sides[below]):
            function = vanishing(factor, kept)
            if function is None:
                continue
            times, base = multiple(function.x)
            for other in sides[1 - below]:
                other_times, other_base = multiple(other)
                if other_base is base and other_times != 0 and common_value(base) is None:
                    sides[1 - below].remove(other)
                    sides[below].remove(factor)
                    ratio = function.sign * times / other_times
                    number *= 1 / ratio if below else ratio
                    ratios.append((function, bool(below)))
                    break
    if not ratios:
        return None
    rest = Product(*sides, number)
    return rest, _with_exponentials(ratios, rest)


def _with_exponentials(ratios: Ratios, rest: Product) -> Ratios:
    """``exp(x) * x / (exp(x) - 1)`` -> the ratio of ``-x``, without the exponential in `rest`"""
    merged = []
    for function, inverse in ratios:
        if function.kind == "expm1" and inverse:
            for var in rest.factors:
                power = output_of(var, ops.exp)
                if power is not None and power.inputs[0] is function.x:
                    rest.factors.remove(var)
                    function = Vanishing(function.kind, opposite(function.x))
                    break
        merged.append((function, inverse))
    return merged


def with_stable_slopes(out: Variable, kept: Collection[Variable]) -> Variable | None:
    """Return a product with ratios for quotients of functions that vanish at zero, for differentiation, else None."""
    # `out` is kept itself if the product is differentiated.
    split = ratios_in(out, {v for v in kept if v is not out})
    if split is None:
        return None
    rest, ratios = split
    factors = [RATIOS[function.kind][inverse](function.x) for function, inverse in ratios]
    return Product([*rest.factors, *factors], rest.divisors, rest.number).build(out)


def logarithm_of_ratios(x: Variable, kept: Collection[Variable]) -> Variable | None:
    """Return ``log(x)`` of a product with ratios in `LOGARITHMS`, accurate where these are near 1, else None."""
    split = ratios_in(x, kept)
    if split is None:
        return None
    rest, ratios = split
    with_logarithm = [(function, inverse) for function, inverse in ratios if function.kind in LOGARITHMS]
    if not with_logarithm:
        return None
    logarithms = [(-1 if inverse else 1, LOGARITHMS[function.kind](function.x)) for function, inverse in with_logarithm]
    others = [
        RATIOS[function.kind][inverse](function.x) for function, inverse in ratios if function.kind not in LOGARITHMS
    ]
    rest = Product([*rest.factors, *others], rest.divisors, rest.number)
    terms = logarithms if rest.is_number and rest.number == 1 else [(1, ops.log(rest.build(x))), *logarithms]
    return SignedSum(terms).build(x.type.dtype)


@rules.stabilize
@rules.specialize
@node_rewriter([ops.log], operands=[ops.mul, ops.true_divide, ops.reciprocal, ops.neg])
def local_log_of_exprel(fgraph, node):
    """``log((exp(x) - 1) / x)`` -> ``log_exprel(x)``, and so for ``sinh(x) / x`` and the inverses, accurate near 0"""
    (x,), (out,) = node.inputs, node.outputs
    if not is_float(out) or x.type.dtype != out.type.dtype:
        return False
    new = logarithm_of_ratios(x, ())
    return False if new is None else in_place_of(out, new, [x])
