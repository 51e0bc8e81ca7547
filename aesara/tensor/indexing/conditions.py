"""Selection by conditions and positions: functions of NumPy besides `switch` and `choose`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara import scalar as aes
from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import neq, switch
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.shapes.rearranging import flatten, normalize_axes
from aesara.tensor.shapes.repeating import compress
from aesara.tensor.shapes.reshape import reshape

__all__ = ["extract", "piecewise", "put_along_axis", "select"]


def _conditions(name: str, condlist: Sequence[TensorLike]) -> list[TensorVariable]:
    conditions = [as_tensor_variable(c) for c in condlist]
    for c in conditions:
        if c.type.dtype != "bool":
            raise TypeError(f"{name}: conditions must be Boolean; got {describe(c)} of type {c.type}.")
    return conditions


def select(condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0) -> TensorVariable:
    """Take each element from the choice of the first condition that holds there.

    Parameters
    ----------
    condlist
        The conditions: Boolean tensors.
    choicelist
        A tensor for each condition; all broadcast.
    default
        The value where no condition holds.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.arange(5)
    >>> at.select([x < 2, x > 3], [-x, x**2], 7).eval()
    array([ 0, -1,  7,  7, 16])
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(
            f"select needs as many choices as conditions, at least one; got {len(choicelist)} and {len(condlist)}."
        )
    conditions = _conditions("select", condlist)
    choices = [as_tensor_variable(c) for c in choicelist]
    dtype = aes.upcast(*[c.type.dtype for c in choices])
    result = as_tensor_variable(default)
    result = result.astype(dtype if not isinstance(default, Variable) else aes.upcast(dtype, result.type.dtype))
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = switch(condition, choice, result)
    return result


def piecewise(x: TensorLike, condlist: Any, funclist: Sequence[Any], *args: Any, **kwargs: Any) -> TensorVariable:
    """A function that is defined in pieces; the last condition that holds decides.

    Parameters
    ----------
    x
        The tensor.
    condlist
        For each piece the condition under which it holds.
    funclist
        For each piece a function, or a number; one more for where no condition
        holds, 0 by default. Every function is applied to the whole of `x`.
    args, kwargs
        Further arguments of the functions.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.as_tensor([-2.0, 0.5, 3.0])
    >>> at.piecewise(x, [x < 0, x > 1], [lambda v: -v, 9.0, lambda v: v]).eval()
    array([2. , 0.5, 9. ])
    """
    x = as_tensor_variable(x)
    if isinstance(condlist, Variable) or not isinstance(condlist, (list, tuple)):
        condlist = [condlist]
    conditions = _conditions("piecewise", condlist)
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"piecewise: with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
            f"functions are expected; got {len(funclist)}."
        )

    def value(piece: Any) -> TensorVariable:
        result = piece(x, *args, **kwargs) if callable(piece) else piece
        return as_tensor_variable(result).astype(x.type.dtype)

    result = value(funclist[-1]) if len(funclist) > len(conditions) else x.zeros_like()
    for condition, piece in zip(conditions, funclist):
        result = switch(condition, value(piece), result)
    return result


def extract(condition: TensorLike, arr: TensorLike) -> TensorVariable:
    """The elements of a tensor for which a condition of the same shape holds, as a vector.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.extract([[True, False], [False, True]], [[1, 2], [3, 4]]).eval()
    array([1, 4])
    """
    condition = flatten(as_tensor_variable(condition))
    return compress(
        condition if condition.type.dtype == "bool" else neq(condition, 0), flatten(as_tensor_variable(arr))
    )


def put_along_axis(arr: Any, indices: Any, values: TensorLike, axis: int | None) -> TensorVariable:
    """A copy of a tensor with values put at positions along an axis, by indices of their own for each line.

    Parameters
    ----------
    arr
        The tensor.
    indices
        Integers, with as many dimensions as `arr`; the other dimensions broadcast.
    values
        What is put there; it broadcasts to the shape of `indices`.
    axis
        The axis; None for the flattened tensor.

    Returns
    -------
    TensorVariable
        The changed tensor; NumPy's function of this name changes the array itself.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.put_along_axis([[10, 30, 20], [60, 40, 50]], [[1], [0]], 99, axis=1).eval()
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    arr, indices = as_tensor_variable(arr), as_tensor_variable(indices)
    if indices.type.dtype not in integer_dtypes:
        raise IndexError(f"put_along_axis: indices must be integers; got {describe(indices)} of type {indices.type}.")
    if axis is None:
        return reshape(put_along_axis(flatten(arr), indices, values, 0), arr.shape, ndim=arr.type.ndim)
    ndim = arr.type.ndim
    if indices.type.ndim != ndim:
        raise ValueError(
            f"put_along_axis: indices and tensor must have equally many dimensions; got {indices.type.ndim} and {ndim}."
        )
    (axis,) = normalize_axes(axis, ndim)
    index = [
        indices if k == axis else arange(arr.shape[k]).dimshuffle([0 if i == k else "x" for i in range(ndim)])
        for k in range(ndim)
    ]
    return set_subtensor(arr[tuple(index)], as_tensor_variable(values).astype(arr.type.dtype))
