"""Facade: the special functions under an older module path; use `aesara.scalar.math`."""

import warnings

from aesara.configdefaults import config
from aesara.scalar.arithmetic import true_divide
from aesara.scalar.bessel import (
    i0,
    i1,
    iv,
    j0,
    j1,
    jv,
)
from aesara.scalar.comparison import isinf
from aesara.scalar.conditional import switch
from aesara.scalar.exponential import (
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    sigmoid,
    softplus,
)
from aesara.scalar.special import (
    betainc,
    betainc_der,
    chi2sf,
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfinv,
    gamma,
    gammainc,
    gammainc_der,
    gammaincc,
    gammaincc_der,
    gammal,
    gammaln,
    gammau,
    hyp2f1,
    hyp2f1_der,
    owens_t,
    psi,
    tri_gamma,
)
from aesara.scalar.types import float64

warnings.warn(
    "aesara.scalar.basic_scipy is deprecated; import from aesara.scalar.math instead.",
    DeprecationWarning,
    stacklevel=2,
)

__all__ = [
    "betainc",
    "betainc_der",
    "chi2sf",
    "config",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp",
    "expm1",
    "float64",
    "gamma",
    "gammainc",
    "gammainc_der",
    "gammaincc",
    "gammaincc_der",
    "gammal",
    "gammaln",
    "gammau",
    "hyp2f1",
    "hyp2f1_der",
    "i0",
    "i1",
    "isinf",
    "iv",
    "j0",
    "j1",
    "jv",
    "log",
    "log1mexp",
    "log1p",
    "owens_t",
    "psi",
    "sigmoid",
    "softplus",
    "switch",
    "tri_gamma",
    "true_divide",
]
