"""Deduction of the static length of symbolic vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from aesara.graph.messages import describe
from aesara.graph.nodes import Constant
from aesara.graph.op import Op
from aesara.graph.shared import SharedVariable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.variable import TensorVariable

__all__ = ["get_vector_length"]


def get_vector_length(v: TensorVariable | Sequence[Any] | Any) -> int:
    """Return the number of entries of a vector as a Python integer.

    Parameters
    ----------
    v
        A symbolic vector, or anything that converts to one.

    Returns
    -------
    int
        The length that the type or the expression of `v` tells, or the present value of a shared variable.

    Raises
    ------
    TypeError
        If `v` is not a vector.
    ValueError
        If the length depends on values that are only known at run time.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> get_vector_length(at.matrix("x").shape)
    2
    """
    v = as_tensor_variable(v)
    if getattr(v.type, "ndim", None) != 1:
        raise TypeError(f"Expected a vector (one dimension), got {describe(v)} of type {v.type}.")
    static_length = v.type.shape[0]
    if static_length is not None:
        return static_length
    if isinstance(v, Constant):
        return len(v.data)
    if isinstance(v, SharedVariable):
        return len(v.get_value(borrow=True))
    if v.owner is not None:
        length = vector_length_of_output(v.owner.op, v)
        if length is not None:
            return length
    raise ValueError(
        f"Length of {describe(v)} cannot be determined: it depends on values that are known "
        "at run time only. Give it a static shape with `specify_shape`, or build it "
        "from a tuple of scalars."
    )


@singledispatch
def vector_length_of_output(op: Op, v: TensorVariable) -> int | None:
    """Return the length of `v`, a vector that `op` computes; None if unknown.

    Ops whose output length follows from more than the output's static shape
    register a rule here.
    """
    return None


def entries_of(tensor: Any, count: int) -> list[TensorVariable]:
    """Return the first `count` entries of a tensor along its first dimension."""
    return [tensor[i] for i in range(count)]
