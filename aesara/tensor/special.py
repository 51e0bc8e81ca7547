"""Softmax and other functions that combine the elements along an axis, factorials, and all special functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.messages import described
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.conversion import as_tensor_variable
from aesara.tensor.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.elementwise_ops import (
    beta,
    betainc,
    betainccinv,
    betaincinv,
    betaln,
    binom,
    chi2sf,
    dawsn,
    digamma,
    entr,
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfi,
    erfinv,
    exp,
    exp1,
    expi,
    expit,
    gamma,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammal,
    gammaln,
    gammau,
    hyp2f1,
    i0,
    i0e,
    i1,
    i1e,
    iv,
    ive,
    j0,
    j1,
    jv,
    k0,
    k0e,
    k1,
    k1e,
    kl_div,
    kn,
    kv,
    kve,
    log,
    log1mexp,
    log1p,
    log1pexp,
    log_ndtr,
    ndtr,
    ndtri,
    neg,
    owens_t,
    polygamma,
    psi,
    rel_entr,
    sigmoid,
    softplus,
    tri_gamma,
    xlog1py,
    xlogy,
    y0,
    y1,
    yv,
    zeta,
)
from aesara.tensor.elementwise_ops import logit as _logit
from aesara.tensor.elementwise_ops import poch as _poch
from aesara.tensor.reduction import sum
from aesara.tensor.tensor_type import tensor_type

#: Stands for an axis that was not given.
UNSET_AXIS = object()


def _checked_axis(name: str, axis: int | None, x: Variable) -> None:
    ndim = x.type.ndim
    if axis is not None and not -ndim <= axis < ndim:
        raise ValueError(f"{name} axis(={axis}) out of bounds for {ndim}D array {described(x)}")


def _as_floats(x: Any) -> Variable:
    x = as_tensor_variable(x)
    return x.astype("float64") if x.type.dtype in discrete_dtypes else x


class _AlongAxis(Op):
    """Common parts: an axis (None for all elements), and an output like the (last) input."""

    __props__: tuple[str, ...] = ("axis",)

    def __init__(self, axis: int | None):
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, (int, np.integer))):
            raise TypeError(
                f"{type(self).__name__} requires its parameter `axis` to be an integer or None; got {axis!r}."
            )
        self.axis = None if axis is None else int(axis)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{axis={self.axis}}}"

    def infer_shape(self, fgraph: Any, node: Apply, shapes: Sequence[Any]) -> list[Any]:
        return [shapes[-1]]


class Softmax(_AlongAxis):
    """Exponentials, divided by their sum along an axis: positive numbers that add up to 1."""

    def make_node(self, x: Any) -> Apply:
        x = _as_floats(x)
        _checked_axis("Softmax", self.axis, x)
        return Apply(self, [x], [tensor_type(x.type.dtype, x.type.shape)()])

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[list[Any]], params: Any = None) -> None:
        x = np.asarray(inputs[0])
        with np.errstate(all="ignore"):
            powers = np.exp(x - np.max(x, axis=self.axis, keepdims=True, initial=-np.inf))
            powers /= np.sum(powers, axis=self.axis, keepdims=True)
        output_storage[0][0] = np.asarray(powers, dtype=x.dtype)

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], output_grads: Sequence[Variable]
    ) -> list[Variable]:
        return [SoftmaxGrad(self.axis)(output_grads[0], outputs[0])]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> list[Variable | None]:
        # The Jacobian matrix is symmetric.
        if eval_points[0] is None:
            return [None]
        return self.L_op(inputs, [self(*inputs)], eval_points)


class SoftmaxGrad(_AlongAxis):
    """The gradient of a cost with respect to the input of `Softmax`.

    The inputs are the gradient with respect to the output, and the output.
    """

    def make_node(self, dy: Any, sm: Any) -> Apply:
        dy, sm = _as_floats(dy), _as_floats(sm)
        _checked_axis("SoftmaxGrad", self.axis, sm)
        if dy.type.ndim != sm.type.ndim:
            raise ValueError(
                f"SoftmaxGrad needs tensors with equally many dimensions; got types {dy.type} and {sm.type}."
            )
        if dy.type.dtype != sm.type.dtype:
            dy = dy.astype(sm.type.dtype)
        return Apply(self, [dy, sm], [tensor_type(sm.type.dtype, sm.type.shape)()])

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[list[Any]], params: Any = None) -> None:
        dy, sm = inputs
        with np.errstate(all="ignore"):
            weighted = dy * sm
            result = weighted - np.sum(weighted, axis=self.axis, keepdims=True) * sm
        output_storage[0][0] = np.asarray(result, dtype=node.outputs[0].type.numpy_dtype)

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> list[Variable]:
        dy, sm = inputs
        (g,) = output_grads
        along = self.axis
        g_dot_sm = sum(g * sm, axis=along, keepdims=True)
        dy_dot_sm = sum(dy * sm, axis=along, keepdims=True)
        return [g * sm - g_dot_sm * sm, g * dy - g * dy_dot_sm - g_dot_sm * dy]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> list[Variable | None]:
        (dy, sm), (dy_tangent, sm_tangent) = inputs, eval_points
        tangent = None
        if dy_tangent is not None:
            tangent = self(dy_tangent, sm)
        if sm_tangent is not None:
            total = sum(dy * sm, axis=self.axis, keepdims=True)
            of_total = sum(dy * sm_tangent, axis=self.axis, keepdims=True)
            term = dy * sm_tangent - of_total * sm - total * sm_tangent
            tangent = term if tangent is None else tangent + term
        return [tangent]


class LogSoftmax(_AlongAxis):
    """The logarithm of `Softmax`, accurate where that underflows."""

    def make_node(self, x: Any) -> Apply:
        x = _as_floats(x)
        _checked_axis("LogSoftmax", self.axis, x)
        return Apply(self, [x], [tensor_type(x.type.dtype, x.type.shape)()])

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[list[Any]], params: Any = None) -> None:
        x = np.asarray(inputs[0])
        with np.errstate(all="ignore"):
            shifted = x - np.max(x, axis=self.axis, keepdims=True, initial=-np.inf)
            result = shifted - np.log(np.sum(np.exp(shifted), axis=self.axis, keepdims=True))
        output_storage[0][0] = np.asarray(result, dtype=x.dtype)

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], output_grads: Sequence[Variable]
    ) -> list[Variable]:
        (g,) = output_grads
        return [g - sum(g, axis=self.axis, keepdims=True) * exp(outputs[0])]

    def grad(self, inputs: Sequence[Variable], output_grads: Sequence[Variable]) -> list[Variable]:
        return self.L_op(inputs, [self(*inputs)], output_grads)

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable | None]) -> list[Variable | None]:
        (tangent,) = eval_points
        if tangent is None:
            return [None]
        return [tangent - sum(tangent * exp(self(*inputs)), axis=self.axis, keepdims=True)]


def softmax(c: Any, axis: Any = UNSET_AXIS) -> Variable:
    """Exponentials, divided by their sum along an axis: positive numbers that add up to 1.

    Parameters
    ----------
    c
        The tensor; integers are taken as float64.
    axis
        The axis, the last one by default; None for the sum of all elements.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.special.softmax([1000.0, 1000.0]).eval()
    array([0.5, 0.5])
    """
    return Softmax(-1 if axis is UNSET_AXIS else axis)(c)


def log_softmax(c: Any, axis: Any = UNSET_AXIS) -> Variable:
    """The logarithm of `softmax`, accurate where that underflows; see there for the parameters."""
    return LogSoftmax(-1 if axis is UNSET_AXIS else axis)(c)


def logit(x: Any) -> Variable:
    """The logarithm of the odds ``x / (1 - x)``: the inverse of the logistic sigmoid."""
    x = as_tensor_variable(x)
    return log(x) - log1p(neg(x)) if x.type.dtype in complex_dtypes else _logit(x)


def log_expit(x: Any) -> Variable:
    """The logarithm of the logistic sigmoid, accurate where that underflows.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.special.log_expit([-1000.0, 0.0]).eval()
    array([-1.00000000e+03, -6.93147181e-01])
    """
    return neg(softplus(neg(x)))


def poch(z: Any, m: Any) -> Variable:
    """The Pochhammer symbol ``gamma(z + m) / gamma(z)``: the rising factorial."""
    z, m = as_tensor_variable(z), as_tensor_variable(m)
    if z.type.dtype in complex_dtypes or m.type.dtype in complex_dtypes:
        return gamma(z + m) / gamma(z)
    return _poch(z, m)


def factorial(n: Any) -> Variable:
    """The factorial of `n`, extended to real numbers by the gamma function."""
    return gamma(as_tensor_variable(n) + 1)


def multigammaln(a: Any, d: int) -> Variable:
    """The logarithm of the multivariate gamma function, for a > (d - 1) / 2.

    Parameters
    ----------
    a
        The argument, element by element.
    d
        The dimension, a positive whole number.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.special.multigammaln(at.constant([2.5, 4.0]), 2).eval()
    array([0.85704781, 3.56509801])
    """
    if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or d < 1:
        raise ValueError(f"multigammaln needs a positive whole number as its dimension d; got {d!r}.")
    a = _as_floats(a)
    total = gammaln(a)
    for k in range(1, int(d)):
        total = total + gammaln(a - np.asarray(k / 2, dtype=a.type.dtype))
    return total + np.asarray(d * (d - 1) / 4 * math.log(math.pi), dtype=a.type.dtype)


__all__ = [
    "LogSoftmax",
    "Softmax",
    "SoftmaxGrad",
    "UNSET_AXIS",
    "beta",
    "betainc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "binom",
    "chi2sf",
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "factorial",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammal",
    "gammaln",
    "gammau",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iv",
    "ive",
    "j0",
    "j1",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "kn",
    "kv",
    "kve",
    "log1mexp",
    "log1pexp",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "logit",
    "multigammaln",
    "ndtr",
    "ndtri",
    "neg",
    "owens_t",
    "poch",
    "polygamma",
    "psi",
    "rel_entr",
    "sigmoid",
    "softmax",
    "softplus",
    "tri_gamma",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yv",
    "zeta",
]
