"""Supports of gradients that consist of scalar ops; see `aesara.graph.support`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch

import numpy as np

from aesara.graph.nodes import Constant, Variable
from aesara.graph.support import (
    EMPTY,
    FULL,
    Condition,
    Support,
    Supported,
    complement,
    intersection,
    select,
    structure_of,
    union,
)
from aesara.scalar.arithmetic import Add, Mul, Neg, Sub, TrueDivide
from aesara.scalar.casting import Cast, Identity
from aesara.scalar.comparison import neq
from aesara.scalar.complex import Complex, Conj, Imag, Real
from aesara.scalar.conditional import Second, Switch, switch
from aesara.scalar.constants import literal
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import ScalarType


def condition_of(variable: Variable, build: Callable[[], Variable]) -> Support:
    """Return the support on which a variable, as a condition, is true."""
    if isinstance(variable, Constant) and variable.data.size == 1:
        return FULL if np.all(variable.data) else EMPTY
    return Condition(("holds", variable), build)


@singledispatch
def structure_of_scalar_op(
    scalar_op: ScalarOp, operands: Sequence[Supported], condition: Callable[[Variable], Support]
) -> tuple[Support, bool]:
    """Return the support of the result of a scalar op, and whether the result is zero elsewhere.

    Functions are registered by class of op; for other classes the result is the full support.

    Parameters
    ----------
    scalar_op
        The op.
    operands
        Its operands with their supports.
    condition
        A function that returns the support on which an operand is true.
    """
    return FULL, True


@structure_of_scalar_op.register(Switch)
def _(scalar_op, operands, condition):
    test, if_true, if_false = operands
    if if_true.support is FULL and if_false.support is FULL:
        return FULL, True
    holds = condition(test.value)
    support = union(intersection(holds, if_true.support), intersection(complement(holds), if_false.support))
    return support, if_true.is_clean and if_false.is_clean


@structure_of_scalar_op.register(Second)
def _(scalar_op, operands, condition):
    return operands[1].support, operands[1].is_clean


@structure_of_scalar_op.register(Neg)
@structure_of_scalar_op.register(Identity)
@structure_of_scalar_op.register(Cast)
@structure_of_scalar_op.register(Real)
@structure_of_scalar_op.register(Imag)
@structure_of_scalar_op.register(Conj)
def _(scalar_op, operands, condition):
    return operands[0].support, operands[0].is_clean


@structure_of_scalar_op.register(Add)
@structure_of_scalar_op.register(Sub)
@structure_of_scalar_op.register(Complex)
def _(scalar_op, operands, condition):
    return union(*(operand.support for operand in operands)), all(operand.is_clean for operand in operands)


@structure_of_scalar_op.register(Mul)
def _(scalar_op, operands, condition):
    partial = [operand for operand in operands if operand.support is not FULL]
    others = [operand for operand in operands if operand.support is FULL]
    is_clean = all(operand.is_clean for operand in partial) and all(map(_is_finite, others))
    return intersection(*(operand.support for operand in operands)), is_clean


@structure_of_scalar_op.register(TrueDivide)
def _(scalar_op, operands, condition):
    top, bottom = operands
    return top.support, top.is_clean and _is_finite(bottom) and bool(np.all(bottom.value.data))


def _is_finite(factor: Supported) -> bool:
    """Return whether a factor is a finite constant, so that its product with zero is zero."""
    return isinstance(factor.value, Constant) and bool(np.isfinite(factor.value.data).all())


@structure_of.register(ScalarType)
def structure_of_scalar(term_type: ScalarType, term: Variable, known: Mapping[Variable, Supported]) -> Supported:
    """Return a scalar term with its support; a choice between a value and zero is replaced by the value."""
    supported = dict(known)
    pending: list[Variable] = [term]
    while pending:
        variable = pending[-1]
        if variable in supported:
            pending.pop()
            continue
        if variable.owner is None or not isinstance(variable.owner.op, ScalarOp):
            zero = isinstance(variable, Constant) and not np.any(variable.data)
            supported[variable] = Supported(variable, EMPTY if zero else FULL)
            continue
        missing = [v for v in variable.owner.inputs if v not in supported]
        if missing:
            pending.extend(missing)
            continue
        operands = [supported[v] for v in variable.owner.inputs]
        supported[variable] = Supported(
            variable, *structure_of_scalar_op(variable.owner.op, operands, scalar_condition)
        )
    result = supported[term]
    return result if term in known else without_choice(result, supported)


def without_choice(result: Supported, supported: Mapping[Variable, Supported]) -> Supported:
    """Replace a choice by the value that it has inside of its support.

    The choice is applied again later, where the zeros are needed.
    """
    value = result.value
    while is_elementwise_choice(value) and result.support.is_partial:
        _, *sides = value.owner.inputs
        remaining = [side for side in sides if supported[side].support is not EMPTY]
        if len(remaining) != 1 or remaining[0].type != value.type:
            break
        value = remaining[0]
        result = Supported(value, result.support, False)
    return result


def is_elementwise_choice(variable: Variable) -> bool:
    """Return whether a variable is the result of a `Switch`, scalar or elementwise."""
    if variable.owner is None:
        return False
    op = variable.owner.op
    return isinstance(getattr(op, "scalar_op", op), Switch)


def scalar_condition(variable: Variable) -> Support:
    return condition_of(variable, lambda: variable if variable.type.dtype == "bool" else neq(variable, 0))


@select.register(ScalarType)
def _(value_type, value, support):
    if support is EMPTY:
        return value.zeros_like()
    return switch(support.mask(), value, literal(0, value))
