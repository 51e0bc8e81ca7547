"""Products, quotients and sums of exponentials as a number times one exponential, which can be taken a logarithm of.

``exp(x)``, ``softmax(x)`` and what is made of them by products, quotients, powers, sums, products of matrices, choices,
and by moving or reading entries, are `Scaled`: a mantissa, in the range of the dtype, times the exponential of an
exponent. The logarithm of that neither overflows nor underflows. The same form is what gradients of logarithms are
taken of (`gradient_form`): as written they divide by what may have underflowed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from functools import reduce

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.records import dataclass
from aesara.scalar.casting import Cast
from aesara.scalar.exponential import Log, Log2, Log10
from aesara.scalar.types import upcast
from aesara.tensor.derivatives.gradient_operators import disconnected_grad
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import (
    add,
    and_,
    cosh,
    eq,
    erf,
    erfc,
    exp,
    expm1,
    isinf_,
    le,
    log,
    log1mexp,
    log1p,
    log2,
    log10,
    log_ndtr,
    lt,
    maximum,
    minimum,
    mul,
    ndtr,
    neg,
    reciprocal,
    second,
    sigmoid,
    sinh,
    softplus,
    sqrt,
    square,
    sub,
    switch,
    true_divide,
)
from aesara.tensor.elementwise.ops import pow as at_pow
from aesara.tensor.products.dot import Dot
from aesara.tensor.reductions.careduce import with_kept_dims
from aesara.tensor.reductions.logsumexp import logaddexp_
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum, Supremum
from aesara.tensor.rewriting.bounded_exponentials import with_bounded_exponentials
from aesara.tensor.rewriting.helpers import (
    as_dtype,
    common_value,
    computed_in,
    constant_like,
    has_value,
    in_place_of,
    is_float,
)
from aesara.tensor.rewriting.logistic import negated
from aesara.tensor.rewriting.logsumexp import (
    MOST_TERMS,
    READERS,
    finite_or_zero,
    is_shifted,
    large_or_zero,
    largest_safe_exponent,
    product_as_sum,
)
from aesara.tensor.rewriting.reductions import reduced_axes
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.reshape import Reshape

rules = Rules()

#: So many operations are looked through, one behind the other.
DEEPEST = 12


@dataclass
class Scaled:
    """A product of `factors` over `divisors`, times ``exp(exponent)``.

    Attributes
    ----------
    factors, divisors
        They are multiplied and divided by; often there are none.
    exponent
        The exponent.
    probability
        Whether it is known to be between 0 and 1.
    in_sums
        Whether sums of such forms are computed from these, too.
    """

    exponent: Variable
    factors: list[Variable] = field(default_factory=list)
    divisors: list[Variable] = field(default_factory=list)
    probability: bool = False
    in_sums: bool = True

    @property
    def pieces(self) -> list[Variable]:
        return [self.exponent, *self.factors, *self.divisors]

    def mantissa(self, dtype: str) -> Variable | None:
        """The product of factors over divisors; None for 1."""
        if not self.factors and not self.divisors:
            return None
        top = _combined(mul, self.factors, dtype)
        if not self.divisors:
            return top
        bottom = _combined(mul, self.divisors, dtype)
        return reciprocal(bottom) if top is None else true_divide(top, bottom)

    def logarithm(self, dtype: str) -> Variable:
        """The logarithm of the whole."""
        if not self.factors and not self.divisors:
            return self.exponent
        if not self.factors:
            return sub(self.exponent, log(_combined(mul, self.divisors, dtype)))
        return add(log(self.mantissa(dtype)), self.exponent)


def _combined(op: Callable[..., Variable], parts: Sequence[Variable], dtype: str) -> Variable | None:
    if not parts:
        return None
    return as_dtype(parts[0], dtype) if len(parts) == 1 else computed_in(dtype, op, parts)


class Analysis:
    """Finds `Scaled` forms; each variable is looked at once.

    Parameters
    ----------
    kept
        Variables that are not looked behind.
    differentiated
        Whether the forms are differentiated: what is taken out of sums then counts as constant, since they do not
        depend on it.
    smooth
        Whether the forms must have derivatives of any order wherever what they stand for has them, at zeros too, where
        logarithms have none.
    """

    def __init__(self, kept: Collection[Variable] = (), differentiated: bool = False, smooth: bool = False):
        self.kept = kept
        self.differentiated = differentiated
        self.smooth = smooth
        self.known: dict[Variable, Scaled | None] = {}

    def scaled(self, var: Variable, depth: int = DEEPEST) -> Scaled | None:
        """The form of a variable; None where it has no exponential among its factors."""
        if var not in self.known:
            node = var.owner
            plain = node is None or depth == 0 or var in self.kept or not is_float(var)
            self.known[var] = None if plain else self._form(var, node, depth)
        return self.known[var]

    def scaled_in(self, var: Variable, dtype: str, depth: int = DEEPEST) -> Scaled | None:
        """The form of a variable in a dtype that is not narrower than its own."""
        found = self.scaled(var, depth)
        if found is None or var.type.dtype == dtype:
            return found
        if upcast(var.type.dtype, dtype) != dtype or dtype[:5] != "float":
            return None
        factors, divisors = ([as_dtype(v, dtype) for v in side] for side in (found.factors, found.divisors))
        return Scaled(as_dtype(found.exponent, dtype), factors, divisors, found.probability, found.in_sums)

    def summand(self, var: Variable, dtype: str, depth: int) -> Scaled | None:
        """The form of a term of a sum."""
        found = self.scaled_in(var, dtype, depth)
        return found if found is not None and found.in_sums else None

    def _form(self, var: Variable, node: Apply, depth: int) -> Scaled | None:
        op = node.op
        if isinstance(op, Elemwise):
            if isinstance(op.scalar_op, Cast):
                return self.scaled_in(node.inputs[0], var.type.dtype, depth - 1)
            form = ELEMENTWISE.get(op)
            return None if form is None else form(self, node, depth - 1)
        if isinstance(op, Softmax):
            return Scaled(LogSoftmax(op.axis)(node.inputs[0]), probability=True)
        if isinstance(op, DimShuffle) or isinstance(op, (*READERS, Reshape)):
            return self._moved(node, depth - 1)
        if isinstance(op, (Max, Min, Supremum)):
            inner = self.summand(node.inputs[0], var.type.dtype, depth - 1)
            return Scaled(op(inner.exponent)) if inner is not None and len(inner.pieces) == 1 else None
        if isinstance(op, Sum):
            return self._sum(node, depth - 1)
        if isinstance(op, Prod):
            return self._product_along_axes(node, depth - 1)
        return self._matrix_product(node, depth - 1) if isinstance(op, Dot) else None

    # Elementwise operations

    def exponential(self, node: Apply, depth: int) -> Scaled | None:
        return Scaled(node.inputs[0]) if _one_dtype(node) else None

    def logistic(self, node: Apply, depth: int) -> Scaled | None:
        if not _one_dtype(node):
            return None
        return Scaled(neg(softplus(negated(node.inputs[0]))), probability=True)

    def normal(self, node: Apply, depth: int) -> Scaled | None:
        return Scaled(log_ndtr(node.inputs[0]), probability=True) if _one_dtype(node) else None

    def complementary_error(self, node: Apply, depth: int) -> Scaled | None:
        return self._tail(node.inputs[0]) if _one_dtype(node) else None

    def _tail(self, x: Variable) -> Scaled | None:
        """``erfc(x)``. In narrower floats the argument would lose too many digits for values."""
        if not self.differentiated and x.type.dtype != "float64":
            return None
        exponent = log_ndtr(mul(constant_like(-np.sqrt(2), x), x))
        return Scaled(exponent, [constant_like(2, x)], in_sums=self.differentiated)

    def product(self, node: Apply, depth: int) -> Scaled | None:
        return self._quotient(node, node.inputs, (), depth)

    def quotient(self, node: Apply, depth: int) -> Scaled | None:
        return self._quotient(node, node.inputs[:1], node.inputs[1:], depth)

    def inverse(self, node: Apply, depth: int) -> Scaled | None:
        return self._quotient(node, (), node.inputs, depth)

    def _quotient(
        self, node: Apply, tops: Sequence[Variable], bottoms: Sequence[Variable], depth: int
    ) -> Scaled | None:
        dtype = node.outputs[0].type.dtype
        exponent, probability, in_sums = None, not bottoms, True
        parts: tuple[list[Variable], list[Variable]] = ([], [])
        for k, side in enumerate((tops, bottoms)):
            for var in side:
                found = self.scaled_in(var, dtype, depth)
                probability = probability and found is not None and found.probability
                if found is None:
                    value = common_value(var)
                    if value == 1:
                        continue
                    plain = value is None or var.type.dtype == dtype
                    parts[k].append(as_dtype(var, dtype) if plain else constant_like(value, node.outputs[0]))
                    continue
                in_sums = in_sums and found.in_sums
                parts[k].extend(found.factors)
                parts[1 - k].extend(found.divisors)
                if exponent is None:
                    exponent = neg(found.exponent) if k else found.exponent
                else:
                    exponent = (sub if k else add)(exponent, found.exponent)
        return None if exponent is None else Scaled(exponent, *parts, probability, in_sums)

    def opposite(self, node: Apply, depth: int) -> Scaled | None:
        inner = self.scaled(node.inputs[0], depth)
        if inner is None:
            return None
        minus = neg(inner.factors[0]) if inner.factors else constant_like(-1, node.outputs[0])
        return Scaled(inner.exponent, [minus, *inner.factors[1:]], inner.divisors, in_sums=inner.in_sums)

    def power(self, node: Apply, depth: int) -> Scaled | None:
        base, dtype = node.inputs[0], node.outputs[0].type.dtype
        inner = self.scaled_in(base, dtype, depth)
        if inner is None:
            return None
        number: Variable | float = {sqrt: 0.5, square: 2.0}.get(node.op) or node.inputs[1]
        value = number if isinstance(number, float) else common_value(number)
        if value is None:
            if len(inner.pieces) > 1:
                return None
            return Scaled(times_logarithm(as_dtype(number, dtype), inner.exponent), in_sums=inner.in_sums)
        if not np.isfinite(value):
            return None
        mantissa = inner.mantissa(dtype)
        exponent = mul(constant_like(value, inner.exponent), inner.exponent)
        if value == -1 and mantissa is not None:
            return Scaled(exponent, inner.divisors, inner.factors, in_sums=inner.in_sums)
        factors = [] if mantissa is None else [node.op(mantissa, *node.inputs[1:])]
        return Scaled(exponent, factors, in_sums=inner.in_sums)

    def difference(self, node: Apply, depth: int) -> Scaled | None:
        """What is left of 1 if a probability is taken away."""
        one, var = node.inputs
        if var.owner is not None and var.owner.op == erf and var not in self.kept and has_value(one, 1):
            return self._tail(var.owner.inputs[0]) if _same_dtype(var.owner.inputs[0], node) else None
        inner = self.scaled_in(var, node.outputs[0].type.dtype, depth) if has_value(one, 1) else None
        if inner is None or not inner.probability or len(inner.pieces) > 1:
            return None
        if var.owner.op == sigmoid:
            return Scaled(neg(softplus(var.owner.inputs[0])), probability=True)
        if var.owner.op == ndtr:
            return Scaled(log_ndtr(negated(var.owner.inputs[0])), probability=True)
        return Scaled(log1mexp(inner.exponent), probability=True)

    def choice(self, node: Apply, depth: int) -> Scaled | None:
        condition, *sides = node.inputs
        found = [self._with_constants(v, node.outputs[0], depth) for v in sides]
        if all(self.known.get(v) is None for v in sides):
            return None
        zero = constant_like(0, node.outputs[0])
        plain = [Scaled(zero, [as_dtype(v, node.outputs[0].type.dtype)], in_sums=False) for v in sides]
        found = [one or other for one, other in zip(found, plain)]
        dtype = node.outputs[0].type.dtype
        exponents = [one.exponent for one in found]
        mantissas = [one.mantissa(dtype) for one in found]
        for k in (0, 1):
            if mantissas[k] is not None and mantissas[1 - k] is None and common_value(sides[k]) == 0:
                exponents[k], mantissas[k] = constant_like(-np.inf, node.outputs[0]), None
        exponent = switch(condition, *exponents)
        factors = []
        if mantissas != [None, None]:
            factors = [switch(condition, *(np.ones((), dtype) if m is None else m for m in mantissas))]
        return Scaled(exponent, factors, in_sums=all(one.in_sums for one in found))

    def total(self, node: Apply, depth: int) -> Scaled | None:
        if not 2 <= len(node.inputs) <= MOST_TERMS:
            return None
        if len(node.inputs) == 2 and any(has_value(v, 1) for v in node.inputs):
            error = next((v.owner for v in node.inputs if v.owner is not None and v.owner.op == erf), None)
            if error is not None and error.outputs[0] not in self.kept:
                return self._tail(neg(error.inputs[0])) if _same_dtype(error.inputs[0], node) else None
        found = [self._with_constants(v, node.outputs[0], depth) for v in node.inputs]
        if None in found or all(self.known.get(v) is None for v in node.inputs):
            return None
        if not all(one.in_sums for one in found):
            return None
        if any((common_value(factor) or 0) < 0 for one in found for factor in one.factors):
            return None  # a difference, which other rules are for
        if len(found) == 2:
            exponents = [_with_constant_weight(one) for one in found]
            if None not in exponents:
                return Scaled(_of_two(*(self._bounded(v) for v in exponents)))
        weights = [one.mantissa(node.outputs[0].type.dtype) for one in found]
        if all(is_shifted(one.exponent, weights != [None] * len(weights)) for one in found):
            return None
        for one in found:
            one.exponent = self._bounded(one.exponent)
        exponents = [_guarded(one.exponent, weight) for one, weight in zip(found, weights)]
        largest = self._taken_out(reduce(maximum, exponents), weights)
        return Scaled(largest, [add(*(_shifted(one.exponent, largest, w) for one, w in zip(found, weights)))])

    def _with_constants(self, var: Variable, out: Variable, depth: int) -> Scaled | None:
        """The form of a term or side of `out`, which may be a number."""
        value = common_value(var)
        if value is not None:
            return Scaled(constant_like(0, out), [constant_like(value, out)]) if value >= 0 else None
        return self.scaled_in(var, out.type.dtype, depth)

    def _taken_out(self, largest: Variable, weights: Sequence[Variable | None]) -> Variable:
        guard = finite_or_zero if all(weight is None for weight in weights) else large_or_zero
        return guard(self._constant(largest))

    def _bounded(self, exponent: Variable) -> Variable:
        return with_bounded_exponentials(exponent, self.kept) if self.differentiated else exponent

    def _constant(self, largest: Variable) -> Variable:
        return disconnected_grad(largest) if self.differentiated else largest

    # Operations along axes

    def _moved(self, node: Apply, depth: int) -> Scaled | None:
        var, *rest = node.inputs
        inner = self.scaled(var, depth)
        if inner is None:
            return None

        def moved(piece: Variable) -> Variable:
            return node.op(_filled(piece, var, inner.pieces), *rest)

        factors, divisors = ([moved(v) for v in side] for side in (inner.factors, inner.divisors))
        return Scaled(moved(inner.exponent), factors, divisors, inner.probability, inner.in_sums)

    def _sum(self, node: Apply, depth: int) -> Scaled | None:
        (summed,), (out,) = node.inputs, node.outputs
        axes = reduced_axes(node)
        if summed.type.dtype != out.type.dtype or not axes or any(summed.type.shape[axis] == 0 for axis in axes):
            return None
        term = self.summand(summed, out.type.dtype, depth)
        if term is None:
            return None
        weight = term.mantissa(out.type.dtype)
        number = None if weight is None else common_value(weight)
        if number is not None and number > 0:
            weight = None
        if is_shifted(term.exponent, weight is not None):
            return None
        exponent = _filled(self._bounded(term.exponent), summed, term.pieces)
        extremum = Supremum if any(summed.type.shape[axis] is None for axis in axes) else Max
        largest = self._taken_out(extremum(axes)(_guarded(exponent, weight)), [weight])
        total = node.op(_shifted(exponent, with_kept_dims(summed, largest, axes), weight))
        return Scaled(largest, [total] if number is None or weight is not None else [constant_like(number, out), total])

    def _product_along_axes(self, node: Apply, depth: int) -> Scaled | None:
        (x,), (out,) = node.inputs, node.outputs
        inner = self.scaled_in(x, out.type.dtype, depth)
        if inner is None:
            return None
        op, (exponent, *_) = node.op, (_filled(v, x, inner.pieces) for v in inner.pieces)
        along = Sum(op.axis, dtype=op.dtype, acc_dtype=op.acc_dtype)
        mantissa = inner.mantissa(out.type.dtype)
        factors = [] if mantissa is None else [op(_filled(mantissa, x, inner.pieces))]
        return Scaled(along(exponent), factors, in_sums=inner.in_sums)

    def _matrix_product(self, node: Apply, depth: int) -> Scaled | None:
        """The product of exponentials with a matrix or vector: each row, or column, with its largest taken out."""
        (out,) = node.outputs
        x, y = node.inputs
        if min(x.type.ndim, y.type.ndim) == 1 and x not in self.kept and y not in self.kept:
            total = product_as_sum(out)
            if total is not None:
                return self._sum(total.owner, depth)
        shifts: list[Variable] = []
        rows = self._shifted_operand(x, x.type.ndim - 1, out, depth)
        if rows is not None:
            x, shift = rows
            shifts.append(shift.dimshuffle(0, "x") if out.type.ndim == 2 else shift)
        columns = self._shifted_operand(y, 0, out, depth)
        if columns is not None:
            y, shift = columns
            shifts.append(shift.dimshuffle("x", 0) if out.type.ndim == 2 else shift)
        return Scaled(_combined(add, shifts, out.type.dtype), [node.op(x, y)]) if shifts else None

    def _shifted_operand(self, var: Variable, axis: int, out: Variable, depth: int) -> tuple[Variable, Variable] | None:
        """An operand without what its largest exponents along an axis have too much, and this; None without any."""
        inner = self.summand(var, out.type.dtype, depth)
        if inner is None or 0 in var.type.shape or is_shifted(inner.exponent, weighted=True):
            return None
        exponent = _filled(inner.exponent, var, inner.pieces)
        shift = _excess(self._constant(Supremum((axis,))(exponent)))
        power = exp(sub(exponent, with_kept_dims(var, shift, [axis])))
        mantissa = inner.mantissa(out.type.dtype)
        return power if mantissa is None else mul(mantissa, power), shift


ELEMENTWISE: dict[Elemwise, Callable[[Analysis, Apply, int], Scaled | None]] = {
    exp: Analysis.exponential,
    sigmoid: Analysis.logistic,
    ndtr: Analysis.normal,
    erfc: Analysis.complementary_error,
    mul: Analysis.product,
    true_divide: Analysis.quotient,
    reciprocal: Analysis.inverse,
    neg: Analysis.opposite,
    sqrt: Analysis.power,
    square: Analysis.power,
    at_pow: Analysis.power,
    switch: Analysis.choice,
    add: Analysis.total,
    sub: Analysis.difference,
}


def _one_dtype(node: Apply) -> bool:
    """Whether the operands have the dtype of the result."""
    return all(v.type.dtype == node.outputs[0].type.dtype for v in node.inputs)


def _same_dtype(var: Variable, node: Apply) -> bool:
    """Whether a variable has the dtype of the result of a node."""
    return var.type.dtype == node.outputs[0].type.dtype


def _filled(piece: Variable, whole: Variable, pieces: Sequence[Variable]) -> Variable:
    """A piece of a form broadcast to the shape of the whole."""
    if piece.type.ndim < whole.type.ndim:
        piece = piece.dimshuffle(*["x"] * (whole.type.ndim - piece.type.ndim), *range(piece.type.ndim))
    for template in (*pieces, whole):
        wanted = [i for i, one in enumerate(piece.type.broadcastable) if one and not whole.type.broadcastable[i]]
        if not wanted:
            break
        if template.type.ndim == whole.type.ndim and any(not template.type.broadcastable[i] for i in wanted):
            piece = second(template, piece)
    return piece


def times_logarithm(number: Variable, logarithm: Variable) -> Variable:
    """``number * logarithm``, which is 0 for a zero `number` also where the logarithm is infinite."""
    return mul(number, switch(and_(eq(number, 0), isinf_(logarithm)), 0, logarithm))


def _with_constant_weight(term: Scaled) -> Variable | None:
    """The exponent of a term whose mantissa is a positive number, which becomes a part of it."""
    if len(term.pieces) == 1:
        return term.exponent
    value = common_value(term.factors[0]) if len(term.pieces) == 2 and term.factors else None
    if value is None or not 0 < value < np.inf:
        return None
    logarithm = constant_like(np.log(np.float64(value)), term.exponent)
    return logarithm if common_value(term.exponent) == 0 else add(term.exponent, logarithm)


def _of_two(x: Variable, y: Variable) -> Variable:
    """``log(exp(x) + exp(y))``."""
    for one, other in ((x, y), (y, x)):
        if has_value(one, 0):
            return softplus(other)
    return logaddexp_(x, y)


def _guarded(exponent: Variable, weight: Variable | None) -> Variable:
    """An exponent, and minus infinity where its weight is zero."""
    if weight is None or common_value(weight) not in (None, 0):
        return exponent
    return switch(eq(weight, 0), np.asarray(-np.inf, dtype=exponent.type.dtype), exponent)


def _shifted(exponent: Variable, largest: Variable, weight: Variable | None) -> Variable:
    """``weight * exp(exponent - largest)``, finite where the weight is zero."""
    difference = sub(exponent, largest)
    if weight is None:
        return exp(difference)
    if common_value(weight) in (None, 0):
        difference = switch(eq(weight, 0), minimum(difference, 0), difference)
    return mul(weight, exp(difference))


def _excess(largest: Variable) -> Variable:
    """By how much a largest exponent leaves the inner third of the range, in which products stay in the range."""
    limit = largest_safe_exponent(largest)
    outside = sub(largest, switch(lt(largest, 0), neg(limit), limit))
    return switch(le(at_abs(largest), limit), 0, finite_or_zero(outside))


# Logarithms


def logarithm(node: Apply, analysis: Analysis) -> Variable | None:
    """The logarithm that a node is, to any base, of the form of its argument."""
    (x,), (out,) = node.inputs, node.outputs
    found = analysis.scaled_in(x, out.type.dtype)
    if found is None:
        return None
    number = BASES[type(node.op.scalar_op)]
    natural = found.logarithm(out.type.dtype)
    return natural if number is None else mul(constant_like(1 / np.log(number), natural), natural)


#: Classes of logarithms, and their bases.
BASES: dict[type, float | None] = {Log: None, Log2: 2.0, Log10: 10.0}


#: Functions whose logarithms have rules of their own, as those of 1 minus them.
WITH_RULES = (exp, sigmoid, ndtr, cosh, sinh, expm1, erfc)


def _is_simple_difference(node: Apply) -> bool:
    """Whether there are other rules for the logarithm of a difference."""
    if node.op != sub:
        return False
    rest = [v.owner for v in node.inputs if not has_value(v, 1)]
    if len(rest) < 2:
        return any(inner is None or inner.op in (*WITH_RULES, erf) for inner in rest)
    return all(inner is not None and inner.op == exp for inner in rest)


@rules.stabilize
@rules.specialize
@node_rewriter([log, log2, log10])
def local_log_of_scaled(fgraph, node):
    """The logarithm of what is made of exponentials or softmaxes, without computing them; see `Scaled`."""
    (x,), (out,) = node.inputs, node.outputs
    inner = x.owner
    if inner is None or not is_float(x):
        return False
    if node.op == log and (inner.op in WITH_RULES or isinstance(inner.op, Softmax) or _is_simple_difference(inner)):
        return False
    if inner.op == add and any(has_value(v, 1) for v in inner.inputs):
        return False  # the function log1p does better
    new = logarithm(node, Analysis())
    return False if new is None else in_place_of(out, new, [x])


@rules.stabilize
@rules.specialize
@node_rewriter([log1p])
def local_log1p_of_scaled(fgraph, node):
    """``log(1 - p)`` from the logarithm of a probability, a product of some, or the normal distribution function."""
    (x,), (out,) = node.inputs, node.outputs
    if x.owner is None or x.owner.op not in (neg, mul) or x.type.dtype != out.type.dtype:
        return False
    new = log_of_complement(x, Analysis())
    return False if new is None else in_place_of(out, new, [x])


def log_of_complement(var: Variable, analysis: Analysis) -> Variable | None:
    """``log1p(var)`` where `var` is the opposite of a probability, or of an exponential."""
    node = var.owner
    if node is not None and node.op == neg and var not in analysis.kept:
        (p,) = node.inputs
        if not analysis.differentiated and (p.owner is None or p.owner.op in (exp, sigmoid, erf)):
            return None  # there are rules for these
        found = ELEMENTWISE[sub](analysis, sub(constant_like(1, p), p).owner, DEEPEST)
        if found is not None and len(found.pieces) == 1:
            return found.exponent
    found = analysis.scaled(var)
    if found is None or found.divisors or len(found.factors) != 1 or common_value(found.factors[0]) != -1:
        return None
    return log1mexp(found.exponent)
