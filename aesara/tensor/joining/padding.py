"""Padding: more elements at the ends of dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Variable
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import entries_of
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import abs, eq, maximum, minimum, round_half_to_even, switch
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.joining.join_split import join
from aesara.tensor.reductions.sum_prod_max import max as max_along
from aesara.tensor.reductions.sum_prod_max import min as min_along
from aesara.tensor.shapes.broadcasting import broadcast_to
from aesara.tensor.shapes.rearranging import expand_dims, sizes_of
from aesara.tensor.statistics.mean_var import mean
from aesara.tensor.statistics.order_statistics import median

__all__ = ["pad"]

#: A length: a number, or a symbolic integer.
Length = Any

_PARAMETERS: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}


def pad(array: TensorLike, pad_width: Any, mode: str = "constant", **kwargs: Any) -> TensorVariable:
    """Pad a tensor at the ends of its dimensions; see `numpy.pad`.

    Parameters
    ----------
    array
        The tensor.
    pad_width
        How many elements are added: one number for all ends, a pair for the
        beginning and the end of every dimension, a pair for each dimension,
        or a dict from dimensions to numbers or pairs. Numbers may be symbolic.
    mode
        What is added: ``"constant"`` (`constant_values`), ``"edge"`` (the last
        element), ``"linear_ramp"`` (numbers on the way to `end_values`),
        ``"maximum"``, ``"mean"``, ``"median"`` or ``"minimum"`` (of the last
        `stat_length` elements, by default of all), ``"reflect"`` (mirrored at
        the last element), ``"symmetric"`` (mirrored behind it), ``"wrap"`` (from
        the other end), ``"empty"`` (anything).
    constant_values, end_values, stat_length
        In the forms of `pad_width`.
    reflect_type
        ``"even"``, or ``"odd"`` for twice the last element minus the mirror image.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.pad([1, 2, 3], (2, 1), mode="reflect").eval()
    array([3, 2, 1, 2, 3, 2])
    >>> at.pad(at.tensor("float64", (3, None)), 1).type.shape
    (5, None)
    """
    x = as_tensor_variable(array)
    if not isinstance(mode, str) or mode not in _PARAMETERS:
        raise ValueError(f"pad: mode {mode!r} is not one of {sorted(_PARAMETERS)}.")
    unknown = set(kwargs) - set(_PARAMETERS[mode])
    if unknown:
        raise ValueError(f"pad: unsupported keyword arguments for mode {mode!r}: {sorted(unknown)}.")
    settings = {**_PARAMETERS[mode], **kwargs}
    widths = [tuple([_checked_width(n) for n in pair]) for pair in _pairs(pad_width, x.type.ndim, "pad_width")]
    if mode in ("constant", "empty"):
        return _padded_with_constants(x, widths, settings.get("constant_values", 0))
    padded = _ALONG_AXIS[mode](x, settings)
    for axis, (before, after) in enumerate(widths):
        if isinstance(before, int) and isinstance(after, int) and before == after == 0:
            continue
        if x.type.shape[axis] == 0:
            raise ValueError(f"pad: can't extend empty axis {axis} using modes other than 'constant' or 'empty'.")
        x = padded(x, axis, before, after)
    return x


# -- arguments ----------------------------------------------------------------


def _pairs(values: TensorLike, ndim: int, name: str) -> list[tuple[Any, Any]]:
    """Return a pair for each dimension, given a number, a pair, a list of pairs or a dictionary."""
    if isinstance(values, Mapping):
        if name != "pad_width":
            raise TypeError(f"pad: {name} must be a number, a pair, or a list of pairs; got a dict.")
        pairs: list[tuple[Any, Any]] = [(0, 0)] * ndim
        for axis, value in values.items():
            if not -ndim <= axis < ndim:
                raise np.exceptions.AxisError(axis, ndim)
            (pairs[axis],) = _pairs(value, 1, name)
        return pairs
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, Variable) and values.type.ndim:
        values = _list_entries(values, name)
    if not isinstance(values, (list, tuple)):
        return [(values, values)] * ndim
    entries = [_entries(value, name) for value in values]
    if len(entries) == 2 and all(len(entry) == 1 for entry in entries):
        return [(entries[0][0], entries[1][0])] * ndim
    pairs = [(entry[0], entry[-1]) for entry in entries if len(entry) in (1, 2)]
    if len(pairs) != len(entries) or len(pairs) not in (1, ndim):
        raise ValueError(
            f"pad: {name} must be a number, a pair, or a pair for each of {ndim} dimension(s); got {values!r}."
        )
    return pairs * ndim if len(pairs) == 1 else pairs


def _entries(value: TensorLike, name: str) -> list[Any]:
    if isinstance(value, Variable) and value.type.ndim:
        value = _list_entries(value, name)
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]


def _list_entries(values: Variable, name: str) -> list[TensorVariable]:
    length = values.type.shape[0]
    if length is None:
        raise ValueError(f"pad: the length of {name} must be known; got {describe(values)} of type {values.type}.")
    return entries_of(values, length)


def _checked_width(width: TensorLike) -> Length:
    if isinstance(width, (int, np.integer)) and not isinstance(width, bool):
        if width < 0:
            raise ValueError(f"pad: pad_width can't contain negative values; got {width}.")
        return int(width)
    width = as_tensor_variable(width)
    if width.type.ndim or width.type.dtype not in integer_dtypes:
        raise TypeError(f"pad: pad_width must hold integers; got {describe(width)} of type {width.type}.")
    known = known_integer(width)
    return width if known is None else _checked_width(known)


def _slice(ndim: int, axis: int, start: Any, stop: Any) -> tuple[slice, ...]:
    """Return the index of a slice along one axis."""
    index = [slice(None)] * ndim
    index[axis] = slice(start, stop)
    return tuple(index)


def _element(x: TensorVariable, axis: int, position: int) -> TensorVariable:
    """Return the element at a position along an axis, which is kept with length 1."""
    return expand_dims(x[(*[slice(None)] * axis, position)], axis)


# -- constants ----------------------------------------------------------------


def _padded_with_constants(
    x: TensorVariable, widths: Sequence[tuple[Length, Length]], values: TensorLike
) -> TensorVariable:
    pairs = [
        [as_tensor_variable(v).astype(x.type.dtype) for v in pair]
        for pair in _pairs(values, x.type.ndim, "constant_values")
    ]
    if not pairs:
        return x
    if not isinstance(values, (list, tuple, np.ndarray)) and not (isinstance(values, Variable) and values.type.ndim):
        sizes = sizes_of(x)
        result = alloc(pairs[0][0], *[before + n + after for n, (before, after) in zip(sizes, widths)])
        inside = tuple([slice(before, before + n) for n, (before, _) in zip(sizes, widths)])
        return set_subtensor(result[inside], x)
    for axis, ((before, after), pair) in enumerate(zip(widths, pairs)):
        x = _between(x, axis, (before, after), pair)
    return x


def _between(
    x: TensorVariable, axis: int, widths: tuple[Length, Length], parts: Sequence[TensorVariable]
) -> TensorVariable:
    """Return a tensor between two parts, which are broadcast to the widths."""
    sizes = sizes_of(x)
    ends = []
    for width, part in zip(widths, parts):
        shape = [*sizes[:axis], width, *sizes[axis + 1 :]]
        ends.append(broadcast_to(part, shape) if part.type.ndim == x.type.ndim else alloc(part, *shape))
    return join(axis, ends[0], x, ends[1])


# -- copies of elements -------------------------------------------------------


def _positions(n: Length, before: Length, after: Length) -> Any:
    """Return the positions of the padded dimension relative to the first element; an array if all
    lengths are static.
    """
    if all(isinstance(length, int) for length in (n, before, after)):
        return np.arange(-before, n + after)
    return arange(-before, n + after)


def _at_most(a: Any, b: Any) -> Any:
    return np.minimum(a, b) if isinstance(a, np.ndarray) else minimum(a, b)


def _at_least(a: Any, b: Any) -> Any:
    if isinstance(a, Variable) or isinstance(b, Variable):
        return maximum(a, b)
    return np.maximum(a, b) if isinstance(a, np.ndarray) else max(a, b)


def _edge(position: Any, n: Length) -> Any:
    return _at_most(_at_least(position, 0), n - 1)


def _wrap(position: Any, n: Length) -> Any:
    return position % n


def _symmetric(position: Any, n: Length) -> Any:
    # 0, 1, ..., n - 1, n - 1, ..., 1, 0 repeated
    return (2 * n - 1 - _absolute(2 * (position % (2 * n)) - (2 * n - 1))) // 2


def _reflect(position: Any, n: Length) -> Any:
    # 0, 1, ..., n - 1, ..., 1 repeated; of a single element always 0
    last = _at_least(n - 1, 1)
    return _at_most(last - _absolute(position % (2 * last) - last), n - 1)


def _absolute(x: TensorLike) -> Any:
    return np.abs(x) if isinstance(x, np.ndarray) else abs(x)


def _copying(formula: Callable[[Any, Length], Any]) -> Callable[..., Any]:
    def with_settings(x: TensorVariable, settings: Mapping[str, Any]) -> Callable[..., TensorVariable]:
        kind = settings.get("reflect_type", "even")
        if kind not in ("even", "odd"):
            raise ValueError(f'pad: reflect_type must be "even" or "odd"; got {kind!r}.')
        if kind == "odd":
            return lambda x, axis, before, after: _odd_reflection(x, axis, before, after, formula)
        return lambda x, axis, before, after: _take_by_formula(x, axis, before, after, formula)

    return with_settings


def _take_by_formula(
    x: TensorVariable, axis: int, before: Length, after: Length, formula: Callable[[Any, Length], Any]
) -> TensorVariable:
    n = sizes_of(x)[axis]
    index = formula(_positions(n, before, after), n)
    return x[(*[slice(None)] * axis, index)]


def _odd_reflection(
    x: TensorVariable, axis: int, before: Length, after: Length, formula: Callable[[Any, Length], Any]
) -> TensorVariable:
    """Return the odd reflection of a tensor at both ends: reflected values are negated relative to the edge.

    Each period adds ``last - first``, and every other period is reversed.
    """
    n = sizes_of(x)[axis]
    period = _at_least(n - 1, 1) if formula is _reflect else n
    position = _positions(n, before, after)
    column = [0 if k == axis else "x" for k in range(x.type.ndim)]
    turn = as_tensor_variable(position // period)
    if formula is _reflect:
        # The last element itself is not yet mirrored.
        turn = switch(eq(as_tensor_variable(position), n - 1), 0, turn)
    turn = turn.dimshuffle(column)
    first, last = _element(x, axis, 0), _element(x, axis, -1)
    image = _take_by_formula(x, axis, before, after, formula)
    image = switch(eq(turn % 2, 0), image, first + last - image)
    return (image + turn.astype(x.type.dtype) * (last - first)).astype(x.type.dtype)


# -- numbers computed from elements -------------------------------------------


def _linear_ramp(x: TensorVariable, settings: Mapping[str, Any]) -> Callable[..., TensorVariable]:
    ends = _pairs(settings["end_values"], x.type.ndim, "end_values")

    def pad_axis(x: TensorVariable, axis: int, before: Length, after: Length) -> TensorVariable:
        low, high = [as_tensor_variable(end) for end in ends[axis]]
        front = _ramp(low, _element(x, axis, 0), axis, before, rising=True)
        back = _ramp(high, _element(x, axis, -1), axis, after, rising=False)
        return join(axis, front, x, back)

    return pad_axis


def _ramp(end: TensorVariable, edge: TensorVariable, axis: int, width: Length, rising: bool) -> TensorVariable:
    """Return numbers from `end` (inclusive) to `edge` (exclusive), or in reverse order."""
    dtype = edge.type.dtype
    # Integers are divided exactly; NumPy rounds a floating-point quotient down.
    working = "int64" if dtype in discrete_dtypes else dtype
    steps = arange(width) if rising else width - 1 - arange(width)
    steps = steps.astype(working).dimshuffle([0 if k == axis else "x" for k in range(edge.type.ndim)])
    divisor = as_tensor_variable(_at_least(width, 1)).astype(working)
    end, edge = end.astype(working), edge.astype(working)
    if dtype in discrete_dtypes:
        return (end + (steps * (edge - end)) // divisor).astype(dtype)
    return end + steps * ((edge - end) / divisor)


def _statistic(function: Callable[..., TensorVariable]) -> Callable[..., Any]:
    def with_settings(x: TensorVariable, settings: Mapping[str, Any]) -> Callable[..., TensorVariable]:
        lengths = _pairs(settings["stat_length"], x.type.ndim, "stat_length")
        for length in [length for pair in lengths for length in pair]:
            if isinstance(length, (int, np.integer)) and length < 1:
                raise ValueError(f"pad: stat_length must be positive; got {length}.")

        def pad_axis(x: TensorVariable, axis: int, before: Length, after: Length) -> TensorVariable:
            n = sizes_of(x)[axis]
            at_start, at_end = [n if length is None else _at_most_length(length, n) for length in lengths[axis]]
            ndim = x.type.ndim
            parts = [x[_slice(ndim, axis, None, at_start)], x[_slice(ndim, axis, n - at_end, None)]]
            return _between(
                x, axis, (before, after), [_in_dtype(function(part, axis=axis, keepdims=True), x) for part in parts]
            )

        return pad_axis

    return with_settings


def _at_most_length(length: Length, n: Length) -> Length:
    return min(length, n) if isinstance(length, int) and isinstance(n, int) else minimum(length, n)


def _in_dtype(value: TensorVariable, x: TensorVariable) -> TensorVariable:
    if x.type.dtype in discrete_dtypes and value.type.dtype not in discrete_dtypes:
        value = round_half_to_even(value)
    return value.astype(x.type.dtype)


_ALONG_AXIS: dict[str, Callable[..., Any]] = {
    "edge": _copying(_edge),
    "wrap": _copying(_wrap),
    "symmetric": _copying(_symmetric),
    "reflect": _copying(_reflect),
    "linear_ramp": _linear_ramp,
    "maximum": _statistic(max_along),
    "minimum": _statistic(min_along),
    "mean": _statistic(mean),
    "median": _statistic(median),
}
