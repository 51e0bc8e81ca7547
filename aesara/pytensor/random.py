"""Random variables, as draws from the same generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor.random.basic as ptr
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.tensor.random.op import RandomVariable as PyTensorRandomVariable

import aesara.tensor as at
import aesara.tensor.random.distributions as atr
from aesara.pytensor.conversion import convert_op, perform_in_python
from aesara.pytensor.versions import classes

#: distributions whose numbers are those of PyTensor, bit for bit, by the name of PyTensor's class; those of a Cauchy
#: distribution, which have a conversion of their own, agree within rounding
_SAME = (
    "BernoulliRV", "BetaBinomialRV", "BetaRV", "BinomialRV", "CategoricalRV", "DirichletRV",
    "ExponentialRV", "GammaRV", "GenGammaRV", "GeometricRV", "GumbelRV", "HalfCauchyRV", "HalfNormalRV",
    "HyperGeometricRV", "IntegersRV", "LaplaceRV", "LogNormalRV", "LogisticRV", "MultinomialRV",
    "NegBinomialRV", "NormalRV", "ParetoRV", "PoissonRV", "StudentTRV", "TriangularRV", "TruncExponentialRV",
    "UniformRV", "VonMisesRV", "WaldRV", "WeibullRV",
)  # fmt: skip
_DISTRIBUTIONS: dict[type, Any] = {cls: getattr(atr, name) for name, cls in classes(ptr.__name__, _SAME).items()}



def _outputs(kind: Any, *inputs: Any) -> Any:
    """The next state and the draw."""
    return kind.make_node(*inputs).outputs


@convert_op.register(PyTensorRandomVariable)
def _draw(op: PyTensorRandomVariable, node: PyTensorApply, rng: Any, size: Any, *parameters: Any) -> Any:
    kind = _DISTRIBUTIONS.get(type(op))
    if kind is None:
        return perform_in_python(node, [rng, size, *parameters])
    return _outputs(kind(), rng, size, node.outputs[1].type.dtype, *parameters)


@convert_op.register(ptr.InvGammaRV)
def _inverse_gamma(op: ptr.InvGammaRV, node: PyTensorApply, rng: Any, size: Any, shape: Any, scale: Any) -> Any:
    following, draw = _outputs(atr.GammaRV(), rng, size, node.outputs[1].type.dtype, shape, 1 / scale)
    return [following, 1 / draw]


@convert_op.register(ptr.CauchyRV)
def _cauchy(op: ptr.CauchyRV, node: PyTensorApply, rng: Any, size: Any, loc: Any, scale: Any) -> Any:
    low = at.zeros_like(loc + scale) if size is None else 0.0
    following, u = _outputs(atr.UniformRV(), rng, size, "float64", low, 1.0)
    # Where the tangent is large it is found from the distance of the pole, which has more digits.
    far = -1 / at.tan(np.pi * at.switch(u > 0.5, u - 1, u))
    number = at.switch(abs(u - 0.5) < 0.25, at.tan(np.pi * (u - 0.5)), far)
    return [following, at.cast(loc + scale * number, node.outputs[1].type.dtype)]
