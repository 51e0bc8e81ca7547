"""`Scaled`, a product with an exponential among its factors, and `Search`, which finds such forms in a graph.

The logarithm of a form neither overflows nor underflows. The table in `analysis` lists the forms of each op.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.scalar.types import upcast
from aesara.tensor.derivatives.gradient_operators import disconnected_grad
from aesara.tensor.elementwise import ops
from aesara.tensor.rewriting.algebra import Product, combine
from aesara.tensor.rewriting.helpers import as_dtype, common_value, is_float
from aesara.tensor.rewriting.hyperbolic import with_bounded_exponentials

#: The largest depth of a search.
DEEPEST = 12


class Scaled(Product):
    """A product with an exponential among its factors, as logarithms and gradients read it.

    Attributes
    ----------
    exponent
        The exponent.
    factors, divisors
        The other factors, and the divisors, which may be numbers. Often there are none.
    probability
        Whether the product is known to be between 0 and 1.
    in_sums
        Whether sums with the product as a term use this form.
    wide
        Factors and divisors whose product with others may leave the range although the whole product does not.
    """

    def __init__(
        self,
        exponent: Variable,
        factors: Sequence[Variable] = (),
        divisors: Sequence[Variable] = (),
        probability: bool = False,
        in_sums: bool = True,
        wide: Sequence[Variable] = (),
    ):
        super().__init__(list(factors), list(divisors), exponent=exponent)
        self.probability = probability
        self.in_sums = in_sums
        self.wide = list(wide)

    @property
    def operands(self) -> list[Variable]:
        """The exponent, the factors and the divisors."""
        return [self.exponent, *self.factors, *self.divisors]

    @property
    def is_exponential(self) -> bool:
        """True without factors and divisors: ``exp(exponent)``."""
        return not self.factors and not self.divisors

    def logarithm(self, dtype: str) -> Variable:
        """Return the logarithm of the product."""
        if self.is_exponential:
            return self.exponent
        if self.wide and sum(not isinstance(v, Constant) for v in (*self.factors, *self.divisors)) > 1:
            return self._with_sizes_in_exponent().logarithm(dtype)
        if not self.factors:
            return ops.sub(self.exponent, ops.log(combine(ops.mul, self.divisors, dtype)))
        return ops.add(ops.log(self.mantissa(dtype)), self.exponent)

    def _with_sizes_in_exponent(self) -> Scaled:
        """Return the form with the absolute values of wide operands in the exponent, and their signs as factors."""
        exponent = self.exponent
        for op, side in ((ops.add, self.factors), (ops.sub, self.divisors)):
            for var in side:
                exponent = op(exponent, ops.log(ops.abs(var))) if var in self.wide else exponent
        factors, divisors = (
            [ops.sgn(v) if v in self.wide else v for v in side] for side in (self.factors, self.divisors)
        )
        return Scaled(exponent, factors, divisors, self.probability, self.in_sums)


class Search:
    """A search for the forms of variables, which visits each variable once.

    Parameters
    ----------
    kept
        Variables whose operations are not visited.
    differentiated
        Whether the forms are differentiated. The exponent that is factored out of a sum is then a constant: the sum
        does not depend on it.
    smooth
        Whether the forms must have all derivatives of the expressions that they replace, also at zeros, where
        logarithms have none.
    """

    def __init__(self, kept: Collection[Variable] = (), differentiated: bool = False, smooth: bool = False):
        self.kept = kept
        self.differentiated = differentiated
        self.smooth = smooth
        self.known: dict[Variable, Scaled | None] = {}

    def form_of_node(self, node: Apply, depth: int) -> Scaled | None:
        """Return the form of the result of a node by a search of some depth."""
        raise NotImplementedError(f"{type(self).__name__} has no table of forms.")

    def form_of(self, var: Variable, depth: int = DEEPEST) -> Scaled | None:
        """Return the form of a variable; None if it has no exponential among its factors."""
        if var not in self.known:
            node = var.owner
            plain = depth == 0 or var in self.kept or not is_float(var)
            self.known[var] = None if node is None or plain else self.form_of_node(node, depth)
        return self.known[var]

    def scaled_in(self, var: Variable, dtype: str, depth: int = DEEPEST) -> Scaled | None:
        """Return the form of a variable in a dtype that is not narrower than its own."""
        form = self.form_of(var, depth)
        if form is None or var.type.dtype == dtype:
            return form
        if upcast(var.type.dtype, dtype) != dtype or dtype[:5] != "float":
            return None
        factors, divisors = ([as_dtype(v, dtype) for v in side] for side in (form.factors, form.divisors))
        return Scaled(as_dtype(form.exponent, dtype), factors, divisors, form.probability, form.in_sums)

    def summand(self, var: Variable, dtype: str, depth: int) -> Scaled | None:
        """Return the form of a term of a sum."""
        form = self.scaled_in(var, dtype, depth)
        return form if form is not None and form.in_sums else None

    def bound(self, exponent: Variable) -> Variable:
        """Return an exponent of a sum; for differentiation, with the exponentials in it bounded."""
        return with_bounded_exponentials(exponent, self.kept) if self.differentiated else exponent

    def constant(self, largest: Variable) -> Variable:
        """Return the exponent that is factored out of a sum; for differentiation, without a gradient."""
        return disconnected_grad(largest) if self.differentiated else largest


#: A function of a search, a node and the remaining depth that returns the form of the result. It returns None to try
#: the next function of the op, and False if the node has no form.
Form = Callable[[Search, Apply, int], Scaled | Literal[False] | None]


def has_one_dtype(node: Apply) -> bool:
    """Return whether all operands have the dtype of the result."""
    return all(v.type.dtype == node.outputs[0].type.dtype for v in node.inputs)


def fits(var: Variable, node: Apply) -> bool:
    """Return whether a variable has the dtype of the result of a node."""
    return var.type.dtype == node.outputs[0].type.dtype


def fill_like(operand: Any, whole: Variable, templates: Sequence[Variable]) -> Variable:
    """Broadcast one operand of a form to the shape of the whole, by the others."""
    if operand.type.ndim < whole.type.ndim:
        operand = operand.dimshuffle(*["x"] * (whole.type.ndim - operand.type.ndim), *range(operand.type.ndim))
    for template in (*templates, whole):
        missing = [
            i for i, single in enumerate(operand.type.broadcastable) if single and not whole.type.broadcastable[i]
        ]
        if not missing:
            break
        if template.type.ndim == whole.type.ndim and any(not template.type.broadcastable[i] for i in missing):
            operand = ops.second(template, operand)
    return operand


def times_logarithm(number: Variable, logarithm: Variable) -> Variable:
    """Return ``number * logarithm``, and 0 for a zero `number` even if the logarithm is infinite."""
    return ops.mul(number, ops.switch(ops.and_(ops.eq(number, 0), ops.isinf_(logarithm)), 0, logarithm))


def logarithm_of_power(number: Variable, logarithm: Variable, analysis: Search) -> Variable:
    """Return the logarithm of a power from that of its base: ``b**0`` and ``1**n`` are 1."""
    value = common_value(number)
    if value is not None and value != 0:
        return ops.mul(number, logarithm)
    if not analysis.differentiated:
        return ops.switch(ops.or_(ops.eq(number, 0), ops.eq(logarithm, 0)), 0, ops.mul(number, logarithm))
    # The product keeps its derivatives where both factors are finite.
    return ops.mul(_or_zero(number, beside=logarithm), _or_zero(logarithm, beside=number))


def _or_zero(x: Variable, beside: Variable) -> Variable:
    """Return `x`, and zero where it is not finite and its cofactor `beside` is zero."""
    return ops.switch(ops.or_(ops.lt(ops.abs(x), np.inf), ops.neq(beside, 0)), x, 0)
