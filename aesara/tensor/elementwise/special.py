"""Special functions of each element of tensors: scalar ops, as in `ops`, and functions that are composed of them."""

from __future__ import annotations

import math

import numpy as np

from aesara import scalar as aes
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import complex_dtypes, discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.elemwise import tensor_function
from aesara.tensor.elementwise.ops import log, log1p, neg, softplus

__all__ = [
    "erf", "erfc", "erfcx", "erfinv", "erfcinv", "erfi", "dawsn", "exp1", "expi", "ndtr", "log_ndtr", "ndtri",
    "xlogy", "xlog1py", "entr", "rel_entr", "kl_div", "owens_t", "gamma", "gammaln", "psi", "tri_gamma", "polygamma",
    "gammainc", "gammaincc", "gammaincinv", "gammainccinv", "gammau", "gammal", "chi2sf", "betainc", "betaincinv",
    "betainccinv", "beta", "betaln", "binom", "zeta", "hyp2f1", "hyp2f1_der", "j0", "j1", "jv", "i0", "i1", "iv",
    "ive", "yv", "kv", "kve", "y0", "y1", "k0", "k1", "i0e", "i1e", "k0e", "k1e", "digamma", "kn", "logit",
    "log_expit", "poch", "factorial", "multigammaln",
]  # fmt: skip

erf = tensor_function(aes.erf, "erf")
erfc = tensor_function(aes.erfc, "erfc")
erfcx = tensor_function(aes.erfcx, "erfcx")
erfcx_reciprocal = tensor_function(aes.erfcx_reciprocal, "erfcx_reciprocal")
exprel = tensor_function(aes.exprel, "exprel")
exprel_reciprocal = tensor_function(aes.exprel_reciprocal, "exprel_reciprocal")
log_exprel = tensor_function(aes.log_exprel, "log_exprel")
log1p_ratio = tensor_function(aes.log1p_ratio, "log1p_ratio")
log_sinhc = tensor_function(aes.log_sinhc, "log_sinhc")
spherical_bessel_of_square = tensor_function(aes.spherical_bessel_of_square, "spherical_bessel_of_square")
spherical_ratio = tensor_function(aes.spherical_ratio, "spherical_ratio")
boys = tensor_function(aes.boys, "boys")
erfinv = tensor_function(aes.erfinv, "erfinv")
erfcinv = tensor_function(aes.erfcinv, "erfcinv")
erfi = tensor_function(aes.erfi, "erfi")
dawsn = tensor_function(aes.dawsn, "dawsn")
exp1 = tensor_function(aes.exp1, "exp1")
expi = tensor_function(aes.expi, "expi")
ndtr = tensor_function(aes.ndtr, "ndtr")
log_ndtr = tensor_function(aes.log_ndtr, "log_ndtr")
ndtri = tensor_function(aes.ndtri, "ndtri")
logit_ = tensor_function(aes.logit, "logit")
xlogy = tensor_function(aes.xlogy, "xlogy")
xlog1py = tensor_function(aes.xlog1py, "xlog1py")
entr = tensor_function(aes.entr, "entr")
rel_entr = tensor_function(aes.rel_entr, "rel_entr")
kl_div = tensor_function(aes.kl_div, "kl_div")
owens_t = tensor_function(aes.owens_t, "owens_t")
gamma = tensor_function(aes.gamma, "gamma")
gammaln = tensor_function(aes.gammaln, "gammaln")
psi = tensor_function(aes.psi, "psi")
tri_gamma = tensor_function(aes.tri_gamma, "tri_gamma")
polygamma = tensor_function(aes.polygamma, "polygamma")
gammainc = tensor_function(aes.gammainc, "gammainc")
gammaincc = tensor_function(aes.gammaincc, "gammaincc")
gammaincinv = tensor_function(aes.gammaincinv, "gammaincinv")
gammainccinv = tensor_function(aes.gammainccinv, "gammainccinv")
gammau = tensor_function(aes.gammau, "gammau")
gammal = tensor_function(aes.gammal, "gammal")
chi2sf = tensor_function(aes.chi2sf, "chi2sf")
betainc = tensor_function(aes.betainc, "betainc")
betaincinv = tensor_function(aes.betaincinv, "betaincinv")
betainccinv = tensor_function(aes.betainccinv, "betainccinv")
beta = tensor_function(aes.beta, "beta")
betaln = tensor_function(aes.betaln, "betaln")
binom = tensor_function(aes.binom, "binom")
poch_ = tensor_function(aes.poch, "poch")
zeta = tensor_function(aes.zeta, "zeta")
hyp2f1 = tensor_function(aes.hyp2f1, "hyp2f1")
hyp2f1_der = tensor_function(aes.hyp2f1_der, "hyp2f1_der")
j0 = tensor_function(aes.j0, "j0")
j1 = tensor_function(aes.j1, "j1")
jv = tensor_function(aes.jv, "jv")
i0 = tensor_function(aes.i0, "i0")
i1 = tensor_function(aes.i1, "i1")
iv = tensor_function(aes.iv, "iv")
ive = tensor_function(aes.ive, "ive")
yv = tensor_function(aes.yv, "yv")
kv = tensor_function(aes.kv, "kv")
kve = tensor_function(aes.kve, "kve")
y0 = tensor_function(aes.y0, "y0")
y1 = tensor_function(aes.y1, "y1")
k0 = tensor_function(aes.k0, "k0")
k1 = tensor_function(aes.k1, "k1")
i0e = tensor_function(aes.i0e, "i0e")
i1e = tensor_function(aes.i1e, "i1e")
k0e = tensor_function(aes.k0e, "k0e")
k1e = tensor_function(aes.k1e, "k1e")

# Other names of the same functions
digamma = psi
kn = kv


def as_floats(x: TensorLike) -> TensorVariable:
    x = as_tensor_variable(x)
    return x.astype("float64") if x.type.dtype in discrete_dtypes else x


def logit(x: TensorLike) -> TensorVariable:
    """The logarithm of the odds ``x / (1 - x)``: the inverse of the logistic sigmoid."""
    x = as_tensor_variable(x)
    return log(x) - log1p(neg(x)) if x.type.dtype in complex_dtypes else logit_(x)


def log_expit(x: TensorLike) -> TensorVariable:
    """The logarithm of the logistic sigmoid, accurate where that underflows.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.special.log_expit([-1000.0, 0.0]).eval()
    array([-1.00000000e+03, -6.93147181e-01])
    """
    return neg(softplus(neg(x)))


def poch(z: TensorLike, m: TensorLike) -> TensorVariable:
    """The Pochhammer symbol ``gamma(z + m) / gamma(z)``: the rising factorial."""
    z, m = as_tensor_variable(z), as_tensor_variable(m)
    if z.type.dtype in complex_dtypes or m.type.dtype in complex_dtypes:
        return gamma(z + m) / gamma(z)
    return poch_(z, m)


def factorial(n: TensorLike) -> TensorVariable:
    """The factorial of `n`, extended to real numbers by the gamma function."""
    return gamma(as_tensor_variable(n) + 1)


def multigammaln(a: TensorLike, d: int) -> TensorVariable:
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
    a = as_floats(a)
    total = gammaln(a)
    for k in range(1, int(d)):
        total = total + gammaln(a - np.asarray(k / 2, dtype=a.type.dtype))
    return total + np.asarray(d * (d - 1) / 4 * math.log(math.pi), dtype=a.type.dtype)
