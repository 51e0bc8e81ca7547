"""Elementwise functions that overwrite their first input with the result.

Compiled functions work in place wherever possible, whatever ops are in the graph. These ops are for graphs that are
built by hand, and for rewrites.
"""

from __future__ import annotations

from typing import Any

from aesara import scalar as aes
from aesara.graph.nodes import Apply
from aesara.scalar.composite import composite_of
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise import ops, special
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.shapes.dimshuffle import dimshuffle_op

_NAMES = (
    "lt gt le ge eq neq and_ or_ xor invert abs exp exp2 expm1 neg reciprocal log log1p log2 log10 sgn ceil "
    "floor trunc round_half_to_even round_half_away_from_zero sqr sqrt deg2rad rad2deg cos arccos sin arcsin "
    "tan arctan arctan2 cosh arccosh sinh arcsinh tanh arctanh erf erfc erfcx owens_t gamma gammaln psi "
    "tri_gamma chi2sf gammainc gammaincc gammau gammal j0 j1 jv i0 i1 iv sigmoid softplus log1mexp betainc "
    "second fill maximum minimum add sub mul true_divide floor_divide mod pow conj hyp2f1 "
).split()

_OTHER_NAMES = {"sqr": "square", "fill": "second", "conj": "conj_"}


class OverwritingElemwise(Elemwise):
    """An elementwise operation whose result is converted to the dtype of its first input, and written over it.

    Examples
    --------
    >>> n, x = at.lvector("n"), at.dvector("x")
    >>> add_inplace(n, x).type.dtype
    'int64'
    """

    def __eq__(self, other: object) -> bool:
        # Equal to the Elemwise with the same scalar op and pattern: the conversion of operands happened in `make_node`.
        if not isinstance(other, Elemwise):
            return NotImplemented
        return self.scalar_op == other.scalar_op and self.inplace_pattern == other.inplace_pattern

    __hash__ = Elemwise.__hash__

    def make_node(self, *inputs: Any) -> Apply:
        variables = self.as_operands(inputs)
        dtypes = [v.type.dtype for v in variables]
        (natural,) = self._find_output_dtypes(tuple(dtypes)) if dtypes else (None,)
        if natural is None or natural == dtypes[0]:
            return super().make_node(*variables)
        types = [aes.get_scalar_type(dtype) for dtype in dtypes]
        converted = composite_of(types, lambda *scalars: aes.cast(self.scalar_op(*scalars), dtypes[0]))
        return Elemwise(converted, {0: 0}, name=self.name).make_node(*variables)


def _in_place(name: str) -> Elemwise:
    plain = _OTHER_NAMES.get(name, name)
    op = getattr(ops, plain, None) or getattr(special, plain)
    return OverwritingElemwise(op.scalar_op, {0: 0}, name=f"{name}_inplace")


globals().update({f"{name}_inplace": _in_place(name) for name in _NAMES})


def transpose_inplace(x: TensorVariable, **kwargs: Any) -> TensorVariable:
    """A view of a tensor with its dimensions reversed."""
    axes = tuple(reversed(range(x.type.ndim)))
    return dimshuffle_op(x.type.broadcastable, axes)(x)
