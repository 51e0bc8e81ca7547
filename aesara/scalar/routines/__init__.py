"""Special functions that no library offers, as routines: derivatives with respect to parameters, Hurwitz' zeta."""

from aesara.scalar.routines.beta import beta_density, betainc_derivative
from aesara.scalar.routines.error_function import erfc_ratio
from aesara.scalar.routines.gamma import gamma_density, gammainc_derivative, gammaincc_derivative
from aesara.scalar.routines.hypergeometric import hyp2f1_derivative
from aesara.scalar.routines.vanishing_ratios import (
    boys,
    exprel_log_slope,
    log1p_ratio,
    log_exprel,
    log_sinhc,
    spherical_bessel_of_square,
    spherical_ratio,
)
from aesara.scalar.routines.zeta import hurwitz_zeta, polygamma_function, trigamma_function

__all__ = [
    "beta_density",
    "betainc_derivative",
    "boys",
    "erfc_ratio",
    "exprel_log_slope",
    "gamma_density",
    "gammainc_derivative",
    "gammaincc_derivative",
    "hurwitz_zeta",
    "hyp2f1_derivative",
    "log1p_ratio",
    "log_exprel",
    "log_sinhc",
    "polygamma_function",
    "spherical_bessel_of_square",
    "spherical_ratio",
    "trigamma_function",
]
