"""Random variables, as draws from the same generators."""

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

#: distributions whose numbers are those of PyTensor, bit for bit, by the name of PyTensor's class; those of a Cauchy
#: distribution, which have a conversion of their own, agree within rounding
_SAME = (
    "BernoulliRV", "BetaBinomialRV", "BetaRV", "BinomialRV", "DirichletRV",
    "ExponentialRV", "GammaRV", "GenGammaRV", "GeometricRV", "GumbelRV", "HalfCauchyRV", "HalfNormalRV",
    "HyperGeometricRV", "IntegersRV", "LaplaceRV", "LogNormalRV", "LogisticRV", "MultinomialRV",
    "NegBinomialRV", "NormalRV", "ParetoRV", "PoissonRV", "StudentTRV", "TriangularRV", "TruncExponentialRV",
    "UniformRV", "VonMisesRV", "WaldRV", "WeibullRV",
)  # fmt: skip
DISTRIBUTIONS: dict[type, Any] = {cls: getattr(atr, name) for name, cls in classes(ptr.__name__, _SAME).items()}


def _outputs(kind: Any, *inputs: Any) -> Any:
    """The next state and the draw."""
    return kind.make_node(*inputs).outputs


@convert_op.register(PyTensorRandomVariable)
def _draw(op: PyTensorRandomVariable, node: PyTensorApply, rng: Any, size: Any, *parameters: Any) -> Any:
    kind = DISTRIBUTIONS.get(type(op))
    if kind is None:
        return perform_in_python(node, [rng, size, *parameters])
    dtype = node.outputs[1].type.dtype
    if dtype != "bool" or kind is atr.BernoulliRV:
        return _outputs(kind(), rng, size, dtype, *parameters)
    following, draw = _outputs(kind(), rng, size, kind.dtype, *parameters)
    return [following, at.cast(draw, dtype)]


@convert_op.register(ptr.PermutationRV)
def _permutation(op: ptr.PermutationRV, node: PyTensorApply, rng: Any, size: Any, x: Any) -> Any:
    if size is not None or x.type.ndim != op.ndims_params[0]:
        return perform_in_python(node, [rng, size, x])
    return _outputs(atr.PermutationRV(), rng, size, node.outputs[1].type.dtype, x)


@convert_op.register(ptr.ChoiceWithoutReplacement)
def _choice(op: ptr.ChoiceWithoutReplacement, node: PyTensorApply, rng: Any, size: Any, *given: Any) -> Any:
    x, *probabilities, shape = given
    if size is not None or any(v.type.ndim != ndim for v, ndim in zip(given, op.ndims_params)):
        return perform_in_python(node, [rng, size, *given])
    x = x if x.type.ndim else at.arange(x)
    p = probabilities[0] if probabilities else at.NoneConst
    return _outputs(atr.ChoiceRV(), rng, shape, node.outputs[1].type.dtype, x, p, at.constant(False))


@convert_op.register(ptr.InvGammaRV)
def _inverse_gamma(op: ptr.InvGammaRV, node: PyTensorApply, rng: Any, size: Any, shape: Any, scale: Any) -> Any:
    following, draw = _outputs(atr.GammaRV(), rng, size, node.outputs[1].type.dtype, shape, 1 / scale)
    return [following, 1 / draw]


def _by_singular_values(covariance: Any) -> Any:
    vectors, variances, _ = svd(covariance)
    return vectors * at.sqrt(variances)[..., None, :]


#: a matrix whose product with its transpose is the covariance, by the method; those of "eigh" have other signs here
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
    following, numbers = _outputs(atr.NormalRV(), rng, shape, "float64", 0.0, 1.0)
    factor = _FACTORS[op.method](covariance)
    if factor.type.ndim == 2:
        turned = at.dot(numbers, factor.T)
    else:
        turned = at.matmul(factor, numbers[..., None])[..., 0]
    return [following, at.cast(at.broadcast_to(mean, turned.shape) + turned, node.outputs[1].type.dtype)]


@convert_op.register(ptr.CategoricalRV)
def _categorical(op: ptr.CategoricalRV, node: PyTensorApply, rng: Any, size: Any, p: Any) -> Any:
    # PyTensor takes probabilities as they come: those of float32 do not sum to 1 exactly.
    shape = p.shape[:-1] if size is None else size
    following, u = _outputs(atr.UniformRV(), rng, shape, "float64", 0.0, 1.0)
    if p.type.ndim > 1:
        p = at.broadcast_to(p, at.concatenate([shape, p.shape[-1:]]))
    passed = at.lt(at.cumsum(p, axis=-1), u[..., None])
    return [following, at.cast(at.sum(passed, axis=-1), node.outputs[1].type.dtype)]


@convert_op.register(ptr.CauchyRV)
def _cauchy(op: ptr.CauchyRV, node: PyTensorApply, rng: Any, size: Any, loc: Any, scale: Any) -> Any:
    # Parameters of unknown length 1 are repeated, as by all draws.
    following, u = _outputs(atr.UniformRV(), rng, size, "float64", at.zeros_like(loc), at.ones_like(scale))
    loc, scale = at.broadcast_to(loc, u.shape), at.broadcast_to(scale, u.shape)
    # Where the tangent is large it is found from the distance of the pole, which has more digits.
    far = -1 / at.tan(np.pi * at.switch(u > 0.5, u - 1, u))
    number = at.switch(abs(u - 0.5) < 0.25, at.tan(np.pi * (u - 0.5)), far)
    return [following, at.cast(loc + scale * number, node.outputs[1].type.dtype)]
