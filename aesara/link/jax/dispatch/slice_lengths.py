"""Lengths of slices whose start and stop are unknown, but whose difference is constant."""

from __future__ import annotations

from collections.abc import Mapping

from aesara.graph.nodes import Variable
from aesara.graph.op import Op
from aesara.scalar import Add, Cast, Identity, Mul, Neg, Sub
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.shapes.dimshuffle import DimShuffle

__all__ = ["distance"]

#: a linear combination: from variables to factors, with None for the constant term
Sum = Mapping[Variable | None, int]


def distance(start: Variable | None, stop: Variable | None) -> int | None:
    """Return ``stop - start`` if it does not depend on the values of variables, else None.

    Overflow is not taken into account.

    Examples
    --------
    >>> i = at.lscalar("i")
    >>> distance(20 * i, 20 * (i + 1))
    20
    """
    if start is None or stop is None:
        return None
    seen: dict[Variable, Sum] = {}
    total = _sum([_linear(stop, seen), _linear(start, seen)], [1, -1])
    return total.get(None, 0) if all(v is None or not factor for v, factor in total.items()) else None


def _linear(variable: Variable, seen: dict[Variable, Sum]) -> Sum:
    if variable not in seen:
        seen[variable] = _linear_form(variable, seen)
    return seen[variable]


def _linear_form(variable: Variable, seen: dict[Variable, Sum]) -> Sum:
    value = known_integer(variable)
    if value is not None:
        return {None: value}
    node = variable.owner
    if node is None:
        return {variable: 1}
    op: Op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    if isinstance(op, Add | Sub | Neg | Cast | Identity | ScalarFromTensor | TensorFromScalar | DimShuffle):
        factors = [1, -1] if isinstance(op, Sub) else [-1] if isinstance(op, Neg) else [1] * len(node.inputs)
        return _sum([_linear(v, seen) for v in node.inputs], factors)
    if isinstance(op, Mul):
        values = [known_integer(v) for v in node.inputs]
        rest = [v for v, value in zip(node.inputs, values) if value is None]
        if len(rest) == 1:
            factor = 1
            for value in values:
                factor *= 1 if value is None else value
            return _sum([_linear(rest[0], seen)], [factor])
    return {variable: 1}


def _sum(terms: list[Sum], factors: list[int]) -> Sum:
    total: dict[Variable | None, int] = {}
    for term, factor in zip(terms, factors, strict=True):
        for variable, coefficient in term.items():
            total[variable] = total.get(variable, 0) + factor * coefficient
    return total
