"""Products with an exponential among their factors: `Scaled`, and `Search`, which finds it behind operations.

The logarithm of such a form neither overflows nor underflows. The table of `analysis` says which op has which forms.
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

#: Operations that a search follows, one after the other.
DEEPEST = 12


class Scaled(Product):
    """A product with an exponential among its factors, as logarithms and gradients read it.

    Attributes
    ----------
    exponent
        The exponent.
    factors, divisors
        The factors and divisors, which may be numbers; often there are none.
    probability
        Whether it is known to be between 0 and 1.
    in_sums
        Whether sums of such forms are computed from these, too.
    wide
        Factors and divisors whose product with others may leave the range although the whole does not.
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
    def pieces(self) -> list[Variable]:
        """The exponent, the factors and the divisors."""
        return [self.exponent, *self.factors, *self.divisors]

    def logarithm(self, dtype: str) -> Variable:
        """Return the logarithm of the product."""
        if not self.factors and not self.divisors:
            return self.exponent
        if self.wide and sum(not isinstance(v, Constant) for v in (*self.factors, *self.divisors)) > 1:
            return self._with_sizes_in_exponent().logarithm(dtype)
        if not self.factors:
            return ops.sub(self.exponent, ops.log(combine(ops.mul, self.divisors, dtype)))
        return ops.add(ops.log(self.mantissa(dtype)), self.exponent)

    def _with_sizes_in_exponent(self) -> Scaled:
        """Return the form with the sizes of wide factors and divisors in the exponent; their signs remain."""
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
        Whether the forms are differentiated: the exponent factored out of a sum then counts as a constant, since
        the sum does not depend on it.
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
        """Return the form of the result of a node, visiting at most `depth` operations before it."""
        raise NotImplementedError(f"{type(self).__name__} has no table of forms.")

    def form_of(self, var: Variable, depth: int = DEEPEST) -> Scaled | None:
        """Return the form of a variable; None without an exponential among its factors."""
        if var not in self.known:
            node = var.owner
            plain = depth == 0 or var in self.kept or not is_float(var)
            self.known[var] = None if node is None or plain else self.form_of_node(node, depth)
        return self.known[var]

    def scaled_in(self, var: Variable, dtype: str, depth: int = DEEPEST) -> Scaled | None:
        """Return the form of a variable in a dtype that is not narrower than its own."""
        found = self.form_of(var, depth)
        if found is None or var.type.dtype == dtype:
            return found
        if upcast(var.type.dtype, dtype) != dtype or dtype[:5] != "float":
            return None
        factors, divisors = ([as_dtype(v, dtype) for v in side] for side in (found.factors, found.divisors))
        return Scaled(as_dtype(found.exponent, dtype), factors, divisors, found.probability, found.in_sums)

    def summand(self, var: Variable, dtype: str, depth: int) -> Scaled | None:
        """Return the form of a term of a sum."""
        found = self.scaled_in(var, dtype, depth)
        return found if found is not None and found.in_sums else None

    def bound(self, exponent: Variable) -> Variable:
        """Return an exponent of a sum; for differentiation, with exponentials in it kept finite."""
        return with_bounded_exponentials(exponent, self.kept) if self.differentiated else exponent

    def constant(self, largest: Variable) -> Variable:
        """Return the term that is factored out of a sum, without a gradient for differentiation."""
        return disconnected_grad(largest) if self.differentiated else largest


#: A function of a search, a node and the operations left to visit: the form of its result; None to try the next form of
#: the op, False if the node has none.
Form = Callable[[Search, Apply, int], Scaled | Literal[False] | None]


def has_one_dtype(node: Apply) -> bool:
    """Return whether all operands have the dtype of the result."""
    return all(v.type.dtype == node.outputs[0].type.dtype for v in node.inputs)


def fits(var: Variable, node: Apply) -> bool:
    """Return whether a variable has the dtype of the result of a node."""
    return var.type.dtype == node.outputs[0].type.dtype


def fill_like(piece: Any, whole: Variable, pieces: Sequence[Variable]) -> Variable:
    """Return a piece of a form broadcast to the shape of the whole."""
    if piece.type.ndim < whole.type.ndim:
        piece = piece.dimshuffle(*["x"] * (whole.type.ndim - piece.type.ndim), *range(piece.type.ndim))
    for template in (*pieces, whole):
        wanted = [i for i, one in enumerate(piece.type.broadcastable) if one and not whole.type.broadcastable[i]]
        if not wanted:
            break
        if template.type.ndim == whole.type.ndim and any(not template.type.broadcastable[i] for i in wanted):
            piece = ops.second(template, piece)
    return piece


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
