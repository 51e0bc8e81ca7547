"""Special functions that no library offers, as routines: derivatives with respect to parameters, Hurwitz' zeta."""

from aesara.scalar.routines.beta import beta_density, betainc_derivative
from aesara.scalar.routines.error_function import erfc_ratio
from aesara.scalar.routines.gamma import gamma_density, gammainc_derivative, gammaincc_derivative
from aesara.scalar.routines.hypergeometric import hyp2f1_derivative
from aesara.scalar.routines.zeta import hurwitz_zeta, polygamma_function, trigamma_function

__all__ = [
    "beta_density",
    "betainc_derivative",
    "erfc_ratio",
    "gamma_density",
    "gammainc_derivative",
    "gammaincc_derivative",
    "hurwitz_zeta",
    "hyp2f1_derivative",
    "polygamma_function",
    "trigamma_function",
]
