"""Logical reductions: tests whether all, or any, elements along axes are true."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.nodes import Apply
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import AxisLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import isclose, neq
from aesara.tensor.reductions.careduce import Axes, CAReduce, as_axes, normalize_axes, with_kept_dims
from aesara.tensor.reductions.sum_prod_max import select_where

__all__ = ["all", "allclose", "any"]


class _Logical(CAReduce):
    """Common parts of `All` and `Any`."""

    __props__ = ("scalar_op", "axis", "dtype", "acc_dtype", "upcast_discrete_output")
    combined_by: aes.ScalarOp

    def __init__(self, axis: AxisLike = None):
        super().__init__(self.combined_by, axis)

    def __str__(self) -> str:
        name = type(self).__name__
        return name if self.axis is None else f"{name}{{{', '.join(map(str, self.axis))}}}"

    def output_dtype(self, input_dtype: str) -> str:
        return "bool"

    def accumulator_dtype(self, input_dtype: str) -> str:
        return "bool"

    def _resolve(self, inp: typing.Any) -> _Logical:
        axis = normalize_axes(self.axis, inp.type.ndim, inp)
        return self if axis == self.axis else type(self)(axis)

    def make_node(self, inp: typing.Any) -> Apply:
        inp = as_tensor_variable(inp)
        op = self._resolve(inp)
        if inp.type.dtype != "bool":
            inp = neq(inp, 0)
        shape = () if op.axis is None else tuple([n for i, n in enumerate(inp.type.shape) if i not in op.axis])
        return Apply(op, [inp], [tensor_type("bool", shape)()])

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], acc_dtype: np.dtype) -> typing.Any:
        return self.ufunc.reduce(x, axis=axis)

    def clone(self, **kwargs: typing.Any) -> _Logical:  # type: ignore[override]  # what a class fixes is no parameter
        axis = kwargs.get("axis")
        return type(self)(self.axis if axis is None else axis)

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        return [inputs[0].zeros_like(dtype=config.floatX)]


class All(_Logical):
    """Test whether all elements along axes are true."""

    nfunc_spec = ("all", 1, 1)
    combined_by = aes.and_


class Any(_Logical):
    """Test whether any element along axes is true."""

    nfunc_spec = ("any", 1, 1)
    combined_by = aes.or_


@lru_cache(maxsize=4096)
def _logical_op(cls: type[_Logical], axis: Axes) -> _Logical:
    return cls(axis)


def _select_where(x: TensorVariable, where: TensorLike, otherwise: bool) -> TensorVariable:
    return x if where is None else select_where(x if x.type.dtype == "bool" else neq(x, 0), where, np.array(otherwise))


def all(x: typing.Any, axis: AxisLike = None, keepdims: bool = False, *, where: typing.Any = None) -> TensorVariable:
    """Return whether all elements along axes are true (not zero). See `sum` for the parameters."""
    x = _select_where(as_tensor_variable(x), where, True)
    axis = as_axes(axis)
    out = _logical_op(All, axis)(x)
    return with_kept_dims(x, out, axis) if keepdims else out


def any(x: typing.Any, axis: AxisLike = None, keepdims: bool = False, *, where: typing.Any = None) -> TensorVariable:
    """Return whether any element along axes is true (not zero). See `sum` for the parameters."""
    x = _select_where(as_tensor_variable(x), where, False)
    axis = as_axes(axis)
    out = _logical_op(Any, axis)(x)
    return with_kept_dims(x, out, axis) if keepdims else out


def allclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> TensorVariable:
    """Return whether all pairs of elements are equal within a tolerance; see `isclose`."""
    return all(isclose(a, b, rtol, atol, equal_nan))
