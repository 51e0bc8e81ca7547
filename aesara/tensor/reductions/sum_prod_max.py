"""Reductions along axes: sum, product, largest and smallest element."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scalar.complex_forms import Parts, choose, complex_form, is_nonzero, multiply
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import AxisLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.elementwise.ops import abs, conj, eq, lt, maximum, minimum, second, switch
from aesara.tensor.joining.join_split import join
from aesara.tensor.reductions.careduce import Axes, CAReduce, as_axes, normalize_axes, with_kept_dims

__all__ = ["max", "min", "prod", "sum"]


def _restore_axes(x: TensorVariable, reduced: TensorVariable, axis: Axes) -> TensorVariable:
    """Insert the reduced axes into a reduction of `x`, so that it broadcasts with `x`."""
    return with_kept_dims(x, as_tensor_variable(reduced), axis)


class Sum(CAReduce):
    """The sum of the elements along axes.

    Integers narrower than 64 bits are added, and returned, in 64 bits;
    floating-point numbers are added in the next wider dtype.
    """

    __props__ = ("scalar_op", "axis", "dtype", "acc_dtype", "upcast_discrete_output")
    nfunc_spec = ("sum", 1, 1)

    def __init__(self, axis: AxisLike = None, dtype: str | None = None, acc_dtype: str | None = None):
        super().__init__(aes.add, axis=axis, dtype=dtype, acc_dtype=acc_dtype, upcast_discrete_output=True)

    def __str__(self) -> str:
        parts = [] if self.axis is None else [f"axis={list(self.axis)}"]
        if self.acc_dtype is not None:
            parts.append(f"acc_dtype={self.acc_dtype}")
        return f"Sum{{{', '.join(parts)}}}" if parts else "Sum"

    def clone(  # type: ignore[override]  # what a class fixes is no parameter
        self, axis: AxisLike = None, dtype: str | None = None, acc_dtype: str | None = None, **kwargs: Any
    ) -> Sum:
        return type(self)(
            axis=self.axis if axis is None else axis,
            dtype=dtype or self.dtype,
            acc_dtype=acc_dtype or self.acc_dtype,
        )

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (x,) = inputs
        if outputs[0].type.dtype in discrete_dtypes or x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX)]
        gradient = second(x, _restore_axes(x, output_grads[0], self.axis))
        return [gradient.astype(x.type.dtype)]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        return [None if point is None else self(point) for point in eval_points]


class Prod(CAReduce):
    """The product of the elements along axes.

    Parameters
    ----------
    no_zeros_in_input
        A promise that no element is zero; gradients are simpler then.
    """

    __props__ = ("scalar_op", "axis", "dtype", "acc_dtype", "no_zeros_in_input")
    nfunc_spec = ("prod", 1, 1)

    def __init__(
        self,
        axis: AxisLike = None,
        dtype: str | None = None,
        acc_dtype: str | None = None,
        no_zeros_in_input: bool = False,
    ):
        super().__init__(aes.mul, axis=axis, dtype=dtype, acc_dtype=acc_dtype, upcast_discrete_output=True)
        self.no_zeros_in_input = no_zeros_in_input

    def __str__(self) -> str:
        return f"Prod{{axis={self.axis}, dtype={self.dtype!r}, acc_dtype={self.acc_dtype!r}}}"

    def clone(  # type: ignore[override]  # what a class fixes is no parameter
        self,
        axis: AxisLike = None,
        dtype: str | None = None,
        acc_dtype: str | None = None,
        no_zeros_in_input: bool | None = None,
        **kwargs: Any,
    ) -> Prod:
        return type(self)(
            axis=self.axis if axis is None else axis,
            dtype=dtype or self.dtype,
            acc_dtype=acc_dtype or self.acc_dtype,
            no_zeros_in_input=self.no_zeros_in_input if no_zeros_in_input is None else no_zeros_in_input,
        )

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the gradient: for each element, the product of the others.

        This is the product divided by the element; if the element is zero, it is the product of the others; if exactly
        one other element is zero, it is zero.
        """
        (x,) = inputs
        if outputs[0].type.dtype in discrete_dtypes or x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX)]
        gz = _restore_axes(x, output_grads[0], self.axis)
        if self.no_zeros_in_input:
            others = _restore_axes(x, outputs[0], self.axis) / x
        else:
            zero, unit = (np.asarray(value, dtype=x.type.dtype) for value in (0, 1))
            is_zero = eq(x, 0)
            zeros = _restore_axes(x, Sum(self.axis)(is_zero), self.axis)
            of_nonzero = _restore_axes(x, ProdWithoutZeros(self.axis, self.dtype, self.acc_dtype)(x), self.axis)
            # The value of this sum is 0, but its derivatives are the second derivatives of the product at zeros.
            nothing = _restore_axes(x, Sum(self.axis)(switch(is_zero, x, zero)), self.axis)
            # Dividing by 1 in place of 0 keeps derivatives of this expression finite.
            over_x = of_nonzero / switch(is_zero, unit, x)
            others = switch(
                is_zero,
                switch(eq(zeros, 1), of_nonzero, switch(eq(zeros, 2), zero_times(of_nonzero, nothing - x), zero)),
                switch(eq(zeros, 0), over_x, switch(eq(zeros, 1), zero_times(over_x, nothing), zero)),
            )
        return [(gz * conj(others)).astype(x.type.dtype)]


def zero_times(x: TensorVariable, zero: TensorVariable) -> TensorVariable:
    """Return ``x * zero``, but 0 where `x` is infinite or NaN; `zero` is 0 and carries a derivative."""
    return switch(lt(abs(x), np.inf), x * zero, np.zeros((), dtype=zero.type.dtype))


class ProdWithoutZeros(CAReduce):
    """The product of the nonzero elements along axes; 1 if there are none."""

    __props__ = ("scalar_op", "axis", "dtype", "acc_dtype", "upcast_discrete_output")

    def __init__(self, axis: AxisLike = None, dtype: str | None = None, acc_dtype: str | None = None):
        super().__init__(mul_without_zeros, axis=axis, dtype=dtype, acc_dtype=acc_dtype, upcast_discrete_output=True)

    def clone(  # type: ignore[override]  # what a class fixes is no parameter
        self, axis: AxisLike = None, dtype: str | None = None, acc_dtype: str | None = None, **kwargs: Any
    ) -> ProdWithoutZeros:
        return type(self)(
            axis=self.axis if axis is None else axis,
            dtype=dtype or self.dtype,
            acc_dtype=acc_dtype or self.acc_dtype,
        )

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], acc_dtype: np.dtype) -> Any:
        return np.multiply.reduce(np.where(x == 0, 1, x), axis=axis, dtype=acc_dtype)

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        (x,) = inputs
        if x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX)]
        product = _restore_axes(x, self(x), self.axis)
        gz = _restore_axes(x, output_gradients[0], self.axis)
        is_zero = eq(x, 0)
        return [switch(is_zero, 0.0, gz * conj(product / switch(is_zero, 1.0, x))).astype(x.type.dtype)]


class MulWithoutZeros(aes.BinaryScalarOp):
    """The product of two numbers, in which zeros count as 1."""

    commutative = True
    associative = True
    identity = 1.0
    dtype = aes.upcast_out

    def numpy(x: Any, y: Any) -> Any:
        return np.where(x == 0, y, np.where(y == 0, x, x * y))

    def decompose(self, x: Any, y: Any) -> Any:
        return aes.switch(aes.eq(x, 0), y, aes.switch(aes.eq(y, 0), x, x * y))


@complex_form(MulWithoutZeros)
def _mul_without_zeros(op: MulWithoutZeros, z: Parts, w: Parts) -> Parts:
    return choose(is_nonzero(z), choose(is_nonzero(w), multiply(z, w), z), w)


mul_without_zeros = MulWithoutZeros(name="mul_without_zeros")


class NonZeroCAReduce(CAReduce):
    """A reduction by an op without an identity: it needs at least one element."""


class _Extremum(NonZeroCAReduce):
    """Common parts of `Max` and `Min`."""

    __props__ = ("scalar_op", "axis", "dtype", "acc_dtype", "upcast_discrete_output")
    extremum_of: aes.ScalarOp
    #: whether there must be an element along the axes
    needs_elements = True

    def __init__(self, axis: AxisLike = None):
        super().__init__(self.extremum_of, axis)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{'all' if self.axis is None else ','.join(map(str, self.axis))}}}"

    def output_dtype(self, input_dtype: str) -> str:
        return input_dtype

    accumulator_dtype = output_dtype

    def _resolve(self, inp: Any) -> _Extremum:
        axis = normalize_axes(self.axis, inp.type.ndim, inp)
        return self if axis == self.axis else type(self)(axis)

    def make_node(self, inp: Any) -> Apply:
        inp = as_tensor_variable(inp)
        op = self._resolve(inp)
        shape = inp.type.shape
        if op.needs_elements:
            _refuse_empty(op, inp, range(len(shape)) if op.axis is None else op.axis)
        out_shape = () if op.axis is None else tuple([n for i, n in enumerate(shape) if i not in op.axis])
        return Apply(op, [inp], [tensor_type(inp.type.dtype, out_shape)()])

    def clone(self, **kwargs: Any) -> _Extremum:  # type: ignore[override]  # what a class fixes is no parameter
        axis = kwargs.get("axis")
        return type(self)(self.axis if axis is None else axis)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (x,) = inputs
        if x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX)]
        chosen = eq(_restore_axes(x, outputs[0], self.axis), x)
        gradient = _restore_axes(x, output_grads[0], self.axis)
        return [switch(chosen, gradient, np.zeros((), gradient.type.dtype)).astype(x.type.dtype)]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        if eval_points[0] is None:
            return [None]
        (x,) = inputs
        chosen = eq(_restore_axes(x, self(x), self.axis), x)
        # Average the tangents of equal extrema.
        weight = chosen / _restore_axes(x, Sum(self.axis)(chosen), self.axis)
        return [Sum(self.axis)(weight * eval_points[0]).astype(x.type.dtype)]


class Max(_Extremum):
    """The largest element along axes; NaN if there is one."""

    nfunc_spec = ("max", 1, 1)
    extremum_of = aes.scalar_maximum


class Min(_Extremum):
    """The smallest element along axes; NaN if there is one."""

    nfunc_spec = ("min", 1, 1)
    extremum_of = aes.scalar_minimum


class Supremum(_Extremum):
    """The maximum of floats along axes, with minus infinity for no elements; NaN is propagated.

    Rules use it for expressions that are defined for empty tensors.
    """

    nfunc_spec = ("max", 1, 1)
    extremum_of = aes.scalar_maximum
    needs_elements = False

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], acc_dtype: np.dtype) -> Any:
        return np.maximum.reduce(x, axis=axis, dtype=acc_dtype, initial=-np.inf)


def supremum(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
    """Return the maximum of floats along axes, with minus infinity for no elements; `Max` if there are elements for
    certain.

    Rewriting and `logsumexp` factor it out of sums of exponentials, which are defined for empty tensors.
    """
    x = as_tensor_variable(x)
    axes = as_axes(axis)
    cls: type[_Extremum] = Max if _has_elements(x, axes) else Supremum
    return _finish(x, _extremum_op(cls, axes)(x), axes, keepdims)  # type: ignore[arg-type]  # classes are hashable


def largest_size(sizes: TensorVariable, axis: AxisLike = None, keepdims: bool = False) -> TensorVariable:
    """Return the maximum along axes of nonnegative numbers, such as absolute values; 0 for no elements."""
    if _has_elements(sizes, as_axes(axis)):
        return max(sizes, axis, keepdims)
    if sizes.type.dtype in discrete_dtypes:
        return max(sizes, axis, keepdims, initial=0)
    largest = supremum(sizes, axis, keepdims)
    return switch(lt(largest, 0), np.asarray(0, dtype=largest.type.dtype), largest)


def _has_elements(x: TensorVariable, axes: Axes) -> bool:
    """Return whether there are elements along axes for certain."""
    along = range(x.type.ndim) if axes is None else normalize_axes(axes, x.type.ndim, x)
    return all(x.type.shape[k] for k in along or ())


def _refuse_empty(op: Op, x: TensorVariable, axes: Any) -> None:
    """Raise the error of an extremum of no elements now, if the length is known to be zero."""
    shape = x.type.shape
    if 0 in [shape[a] for a in axes]:
        raise ValueError(
            f"zero-size array to reduction operation {op}, which has no identity; {describe(x)} has type {x.type}."
        )


@lru_cache(maxsize=4096)
def _sum_op(axis: Axes, dtype: str | None, acc_dtype: str | None) -> Sum:
    return Sum(axis, dtype, acc_dtype)


@lru_cache(maxsize=4096)
def _extremum_op(cls: type[_Extremum], axis: Axes) -> _Extremum:
    return cls(axis)


def _finish(x: TensorVariable, out: TensorVariable, axis: AxisLike, keepdims: bool) -> TensorVariable:
    return with_kept_dims(x, out, axis) if keepdims else out


def select_where(x: TensorVariable, where: TensorLike, otherwise: Any) -> TensorVariable:
    """Return `x`, with elements that do not take part in a reduction replaced by a number."""
    if where is None:
        return x
    where = as_tensor_variable(where)
    if where.type.dtype != "bool":
        raise TypeError(f"`where` must be Boolean; got {describe(where)} of type {where.type}.")
    if where.type.ndim > x.type.ndim:
        raise ValueError(f"`where` must broadcast to the tensor; got types {where.type} and {x.type}.")
    return switch(where, x, as_tensor_variable(otherwise).astype(x.type.dtype))


def sum(
    input: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
    *,
    where: Any = None,
    initial: Any = None,
) -> TensorVariable:
    """The sum of the elements along axes.

    Parameters
    ----------
    input
        The tensor.
    axis
        An axis or several; None for all.
    dtype
        The dtype of the result. By default that of the input, but 64 bits
        for narrower integers and Booleans.
    keepdims
        Keep the axes, with length 1.
    acc_dtype
        The dtype in which elements are added; at least as wide as the input.
    where
        Which elements take part: a Boolean tensor that broadcasts.
    initial
        A number that is added.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.sum([[1.0, 2.0], [3.0, 4.0]], axis=0).eval()
    array([4., 6.])
    """
    x = select_where(as_tensor_variable(input), where, 0)
    axis = as_axes(axis)
    out = _finish(x, _sum_op(axis, dtype, acc_dtype)(x), axis, keepdims)
    return out if initial is None else out + as_tensor_variable(initial).astype(out.type.dtype)


def prod(
    input: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
    no_zeros_in_input: bool = False,
    *,
    where: Any = None,
    initial: TensorLike | None = None,
) -> TensorVariable:
    """Return the product of the elements along axes; see `sum` for the parameters.

    `no_zeros_in_input` promises that no element is zero, which makes the gradient cheaper.
    """
    x = select_where(as_tensor_variable(input), where, 1)
    axis = as_axes(axis)
    out = _finish(x, Prod(axis, dtype, acc_dtype, no_zeros_in_input)(x), axis, keepdims)
    return out if initial is None else out * as_tensor_variable(initial).astype(out.type.dtype)


def max(x: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> TensorVariable:
    """The largest element along axes; NaN if there is one.

    Parameters
    ----------
    x
        The tensor.
    axis
        An axis or several; None for all.
    keepdims
        Keep the axes, with length 1.
    initial
        A number that takes part, so that there need not be any element.
    where
        Which elements take part: a Boolean tensor that broadcasts. Needs `initial`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.max([[1.0, 5.0], [3.0, 4.0]], axis=1).eval()
    array([5., 4.])
    """
    return _extremum(Max, x, axis, keepdims, initial, where)


def min(x: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> TensorVariable:
    """The smallest element along axes; NaN if there is one. See `max` for the parameters."""
    return _extremum(Min, x, axis, keepdims, initial, where)


def _extremum(
    cls: type[_Extremum], x: TensorLike, axis: AxisLike, keepdims: bool, initial: TensorLike, where: TensorLike
) -> TensorVariable:
    x = as_tensor_variable(x)
    axes = as_axes(axis)
    name = cls.__name__.lower()
    if where is not None and initial is None:
        raise ValueError(f"{name} of selected elements needs `initial`, because there may be none.")
    if initial is not None:
        initial = as_tensor_variable(initial).astype(x.type.dtype)
        out = _with_initial(cls, select_where(x, where, initial), axes, initial)
    else:
        out = _extremum_op(cls, axes)(x)  # type: ignore[arg-type]  # classes are hashable
    out = _finish(x, out, axes, keepdims)
    out.name = name
    return out


def _with_initial(cls: type[_Extremum], x: TensorVariable, axis: Axes, initial: TensorVariable) -> TensorVariable:
    """Return an extremum that includes an initial value, so that it is defined for no elements."""
    combined = maximum if cls is Max else minimum
    axes = tuple(range(x.type.ndim)) if axis is None else normalize_axes(axis, x.type.ndim, x)
    if all(x.type.shape[k] for k in axes):
        extremum = _extremum_op(cls, axis)(x)  # type: ignore[arg-type]  # classes are hashable
        return combined(extremum, initial)
    for k in sorted(axes, reverse=True):
        shape = [1 if k == other else x.shape[other] for other in range(x.type.ndim)]
        x = join(k, x, alloc(initial, *shape))
        x = _extremum_op(cls, (k,))(x)  # type: ignore[arg-type]  # classes are hashable
    return combined(x, initial)


def check_and_normalize_axes(x: TensorLike, axis: AxisLike) -> list[int]:
    """Return axes of a tensor as a list of nonnegative ints, empty for None."""
    x = as_tensor_variable(x)
    return list(normalize_axes(as_axes(axis), x.type.ndim, x) or ())


def makeKeepDims(x: TensorLike, y: TensorLike, axis: AxisLike) -> TensorVariable:
    """Insert the axes of a reduction of `x` into its result `y`, with length 1."""
    return with_kept_dims(as_tensor_variable(x), as_tensor_variable(y), axis)
