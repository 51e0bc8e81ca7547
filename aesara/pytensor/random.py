"""Conversion of random variables to draws from the same generators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor.tensor.random.basic as ptr
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.random.op import RandomVariable as PyTensorRandomVariable

import aesara.tensor as at
import aesara.tensor.random.distributions as atr
from aesara.pytensor.conversion import convert_op, perform_in_python
from aesara.pytensor.versions import classes
from aesara.tensor.linear_algebra.cholesky import Cholesky
from aesara.tensor.linear_algebra.svd import svd

__all__ = ["DISTRIBUTIONS"]

#: names of classes of distributions whose draws equal those of PyTensor bit for bit; draws of the Cauchy distribution,
#: which is converted by `_cauchy`, agree up to rounding errors
_SAME = (
    "BernoulliRV", "BetaBinomialRV", "BetaRV", "BinomialRV", "DirichletRV",
    "ExponentialRV", "GammaRV", "GenGammaRV", "GeometricRV", "GumbelRV", "HalfCauchyRV", "HalfNormalRV",
    "HyperGeometricRV", "IntegersRV", "LaplaceRV", "LogNormalRV", "LogisticRV", "MultinomialRV",
    "NegBinomialRV", "NormalRV", "ParetoRV", "PoissonRV", "StudentTRV", "TriangularRV", "TruncExponentialRV",
    "UniformRV", "VonMisesRV", "WaldRV", "WeibullRV",
)  # fmt: skip
DISTRIBUTIONS: dict[type, Any] = {cls: getattr(atr, name) for name, cls in classes(ptr.__name__, _SAME).items()}


def _outputs(distribution: Any, *inputs: Any) -> Any:
    """Return the next state of the generator and the draw."""
    return distribution.make_node(*inputs).outputs


@convert_op.register(PyTensorRandomVariable)
def _draw(op: PyTensorRandomVariable, node: PyTensorApply, rng: Any, size: Any, *parameters: Any) -> Any:
    distribution = DISTRIBUTIONS.get(type(op))
    if distribution is None:
        return perform_in_python(node, [rng, size, *parameters])
    dtype = node.outputs[1].type.dtype
    if dtype != "bool" or distribution is atr.BernoulliRV:
        return _outputs(distribution(), rng, size, dtype, *parameters)
    next_state, draw = _outputs(distribution(), rng, size, distribution.dtype, *parameters)
    return [next_state, at.cast(draw, dtype)]


@convert_op.register(ptr.PermutationRV)
def _permutation(op: ptr.PermutationRV, node: PyTensorApply, rng: Any, size: Any, x: Any) -> Any:
    if size is not None or x.type.ndim != op.ndims_params[0]:
        return perform_in_python(node, [rng, size, x])
    return _outputs(atr.PermutationRV(), rng, size, node.outputs[1].type.dtype, x)


@convert_op.register(ptr.ChoiceWithoutReplacement)
def _choice(op: ptr.ChoiceWithoutReplacement, node: PyTensorApply, rng: Any, size: Any, *parameters: Any) -> Any:
    x, *probabilities, shape = parameters
    if size is not None or any(v.type.ndim != ndim for v, ndim in zip(parameters, op.ndims_params)):
        return perform_in_python(node, [rng, size, *parameters])
    x = x if x.type.ndim else at.arange(x)
    p = probabilities[0] if probabilities else at.NoneConst
    return _outputs(atr.ChoiceRV(), rng, shape, node.outputs[1].type.dtype, x, p, at.constant(False))


@convert_op.register(ptr.InvGammaRV)
def _inverse_gamma(op: ptr.InvGammaRV, node: PyTensorApply, rng: Any, size: Any, shape: Any, scale: Any) -> Any:
    next_state, draw = _outputs(atr.GammaRV(), rng, size, node.outputs[1].type.dtype, shape, 1 / scale)
    return [next_state, 1 / draw]


def _by_singular_values(covariance: Any) -> Any:
    vectors, variances, _ = svd(covariance)
    return vectors * at.sqrt(variances)[..., None, :]


#: functions that return a factor L of the covariance L L', by method; factors of "eigh" have other signs here
_FACTORS: dict[str, Callable[[Any], Any]] = {"cholesky": Cholesky(lower=True), "svd": _by_singular_values}


@convert_op.register(ptr.MvNormalRV)
def _multivariate_normal(
    op: ptr.MvNormalRV, node: PyTensorApply, rng: Any, size: Any, mean: Any, covariance: Any
) -> Any:
    if op.method not in _FACTORS:
        return perform_in_python(node, [rng, size, mean, covariance])
    shape = at.stack(at.broadcast_shape(mean, at.diagonal(covariance, axis1=-2, axis2=-1)))
    if size is not None:
        shape = at.concatenate([size, shape[-1:]])
    next_state, numbers = _outputs(atr.NormalRV(), rng, shape, "float64", 0.0, 1.0)
    factor = _FACTORS[op.method](covariance)
    if factor.type.ndim == 2:
        correlated = at.dot(numbers, factor.T)
    else:
        correlated = at.matmul(factor, numbers[..., None])[..., 0]
    return [next_state, at.cast(at.broadcast_to(mean, correlated.shape) + correlated, node.outputs[1].type.dtype)]


@convert_op.register(ptr.CategoricalRV)
def _categorical(op: ptr.CategoricalRV, node: PyTensorApply, rng: Any, size: Any, p: Any) -> Any:
    # PyTensor does not require that probabilities sum to 1, which those of float32 do not do exactly.
    shape = p.shape[:-1] if size is None else size
    next_state, u = _outputs(atr.UniformRV(), rng, shape, "float64", 0.0, 1.0)
    if p.type.ndim > 1:
        p = at.broadcast_to(p, at.concatenate([shape, p.shape[-1:]]))
    passed = at.lt(at.cumsum(p, axis=-1), u[..., None])
    return [next_state, at.cast(at.sum(passed, axis=-1), node.outputs[1].type.dtype)]


@convert_op.register(ptr.CauchyRV)
def _cauchy(op: ptr.CauchyRV, node: PyTensorApply, rng: Any, size: Any, loc: Any, scale: Any) -> Any:
    # Parameters of static length 1 or unknown length are broadcast, as by all draws.
    next_state, u = _outputs(atr.UniformRV(), rng, size, "float64", at.zeros_like(loc), at.ones_like(scale))
    loc, scale = at.broadcast_to(loc, u.shape), at.broadcast_to(scale, u.shape)
    # Near its poles, the tangent is computed from the distance to the pole, which is more accurate.
    far = -1 / at.tan(np.pi * at.switch(u > 0.5, u - 1, u))
    number = at.switch(abs(u - 0.5) < 0.25, at.tan(np.pi * (u - 0.5)), far)
    return [next_state, at.cast(loc + scale * number, node.outputs[1].type.dtype)]
