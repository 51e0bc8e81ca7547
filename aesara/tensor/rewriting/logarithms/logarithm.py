"""Logarithms of forms, to any base, and of 1 minus a form."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.scalar.exponential import Log, Log2, Log10
from aesara.tensor.elementwise.ops import (
    add,
    erf,
    exp,
    log1mexp,
    lt,
    maximum,
    minimum,
    mul,
    neg,
    sigmoid,
    sub,
    switch,
)
from aesara.tensor.rewriting.algebra import Product
from aesara.tensor.rewriting.helpers import (
    common_value,
    constant_like,
)
from aesara.tensor.rewriting.logarithms.scaled import DEEPEST, Scaled, Search
from aesara.tensor.rewriting.logarithms.small_powers import without_powers
from aesara.tensor.rewriting.wide_products import is_wide

#: Classes of logarithms, and their bases.
BASES: dict[type, float | None] = {Log: None, Log2: 2.0, Log10: 10.0}


def logarithm(node: Apply, analysis: Search) -> Variable | None:
    """The logarithm that a node is, to any base, of the form of its argument."""
    (x,), (out,) = node.inputs, node.outputs
    natural = _natural_logarithm(x, out.type.dtype, analysis)
    if natural is None:
        return None
    number = BASES[type(node.op.scalar_op)]
    return natural if number is None else mul(constant_like(1 / np.log(number), natural), natural)


def _natural_logarithm(x: Variable, dtype: str, analysis: Search) -> Variable | None:
    found = analysis.scaled_in(x, dtype)
    if found is None:
        if x.type.dtype != dtype or x in analysis.kept:
            return None
        taken = without_powers(Product([x]), analysis.kept, all_of_them=analysis.differentiated)
        return None if taken is None else taken.logarithm(dtype)
    taken = without_powers(found, analysis.kept, all_of_them=True)
    if taken is None:
        return found.logarithm(dtype)
    wide = [v for v in (*taken.factors, *taken.divisors) if is_wide(v)]
    exponent = add(taken.exponent, found.exponent)
    return Scaled(exponent, taken.factors, taken.divisors, wide=wide).logarithm(dtype)


def log_of_complement(var: Variable, analysis: Search) -> Variable | None:
    """``log1p(var)`` where `var` is the opposite of a probability, or of an exponential."""
    node = var.owner
    if node is not None and node.op == neg and var not in analysis.kept:
        (p,) = node.inputs
        if not analysis.differentiated and (p.owner is None or p.owner.op in (exp, sigmoid, erf)):
            return None  # there are rules for these
        found = analysis.form_of_node(sub(constant_like(1, p), p).owner, DEEPEST + 1)
        if found is not None and len(found.pieces) == 1:
            return found.exponent
    found = analysis.scaled(var)
    if found is None or found.divisors or len(found.factors) != 1 or common_value(found.factors[0]) != -1:
        return None
    return log1mexp(found.exponent)


def log1mexp_of_exponential(x: Variable) -> Variable:
    """``log(1 - exp(-exp(x)))``, which is ``x - exp(x) / 2`` where ``exp(x)`` is small."""
    limit = constant_like(np.log(np.finfo(x.type.dtype).eps), x)
    return _log1mexp_of_exponential(x, maximum(x, limit), limit)


def smooth_log1mexp_of_exponential(x: Variable) -> Variable:
    """The same for differentiation: where it is zero, nothing in it overflows."""
    facts = np.finfo(x.type.dtype)
    limit = constant_like(np.log(facts.eps), x)
    largest = constant_like(np.log(-2 * np.log(facts.tiny)), x)
    return _log1mexp_of_exponential(minimum(x, largest), minimum(maximum(x, limit), largest), limit)


def _log1mexp_of_exponential(x: Variable, inside: Variable, limit: Variable) -> Variable:
    far = sub(x, mul(constant_like(0.5, x), exp(x)))
    return switch(lt(x, limit), far, log1mexp(neg(exp(inside))))
