"""Distributions, by subject."""

from aesara.tensor.random.distributions.bounded import *
from aesara.tensor.random.distributions.bounded import (
    BetaRV,
    PowerRV,
    TriangularRV,
    TruncExponentialRV,
    UniformRV,
    VonMisesRV,
)
from aesara.tensor.random.distributions.choosing import *
from aesara.tensor.random.distributions.choosing import (
    CategoricalRV,
    ChoiceRV,
    IntegersRV,
    PermutationRV,
    PermutedRV,
    RandIntRV,
)
from aesara.tensor.random.distributions.counts import *
from aesara.tensor.random.distributions.counts import (
    BernoulliRV,
    BetaBinomialRV,
    BinomialRV,
    GeometricRV,
    HyperGeometricRV,
    LogSeriesRV,
    NegBinomialRV,
    PoissonRV,
    ZipfRV,
)
from aesara.tensor.random.distributions.formulas import ScipyRandomVariable
from aesara.tensor.random.distributions.location_scale import *
from aesara.tensor.random.distributions.location_scale import (
    CauchyRV,
    GumbelRV,
    LaplaceRV,
    LogisticRV,
    NormalRV,
    StudentTRV,
)
from aesara.tensor.random.distributions.positive import *
from aesara.tensor.random.distributions.positive import (
    FRV,
    ChiSquareRV,
    ExponentialRV,
    GammaRV,
    GenGammaRV,
    HalfCauchyRV,
    HalfNormalRV,
    InvGammaRV,
    LogNormalRV,
    NoncentralChiSquareRV,
    NoncentralFRV,
    ParetoRV,
    RayleighRV,
    WaldRV,
    WeibullRV,
)
from aesara.tensor.random.distributions.standard import *
from aesara.tensor.random.distributions.standard import get_partial_wrapper
from aesara.tensor.random.distributions.vectors import *
from aesara.tensor.random.distributions.vectors import (
    DirichletRV,
    MultinomialRV,
    MultivariateHypergeometricRV,
    MvNormalRV,
    safe_multivariate_normal,
)
