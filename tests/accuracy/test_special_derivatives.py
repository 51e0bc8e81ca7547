"""Derivatives of functions of one number over the whole of their domain, extremes included, against mpmath.

Each is differentiated once and twice: the formulas that ops give must not cancel, and not overflow where the derivative
does not.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.tensor import special
from tests.accuracy.campaign import RULES, errors, with_derivatives
from tests.accuracy.written import truth

SIZES = np.array([1e-300, 1e-100, 1e-20, 1e-8, 0.1, 0.7, 1.0, 3.0, 8.0, 26.0, 100.0, 700.0, 1e4, 1e8, 1e15])
ANYWHERE = np.concatenate([-SIZES, SIZES])
PROBABILITIES = np.array([1e-300, 1e-100, 1e-10, 0.01, 0.4, 0.5, 0.7, 0.99, 1 - 1e-8])
MODERATE = ANYWHERE[np.abs(ANYWHERE) < 1e4]

#: Functions, and where they are differentiated. Where a second derivative changes its sign, its terms cancel.
FUNCTIONS = {
    "exp": (at.exp, ANYWHERE),
    "expm1": (at.expm1, ANYWHERE),
    "log": (at.log, SIZES),
    "log1p": (at.log1p, ANYWHERE[ANYWHERE > -1]),
    "log1mexp": (at.log1mexp, -SIZES),
    "sqrt": (at.sqrt, SIZES),
    "square": (at.square, ANYWHERE),
    "reciprocal": (at.reciprocal, ANYWHERE),
    "sinh": (at.sinh, ANYWHERE),
    "cosh": (at.cosh, ANYWHERE),
    "sigmoid": (at.sigmoid, ANYWHERE),
    "softplus": (at.softplus, ANYWHERE),
    "arcsinh": (at.arcsinh, ANYWHERE),
    "arctan": (at.arctan, ANYWHERE),
    "arctanh": (at.arctanh, ANYWHERE[(np.abs(ANYWHERE) < 1) & (np.abs(ANYWHERE) > 0.01)]),
    "erf": (at.erf, ANYWHERE),
    "erfc": (at.erfc, ANYWHERE),
    "erfcx": (at.erfcx, ANYWHERE),
    "erfinv": (at.erfinv, np.concatenate([PROBABILITIES, -PROBABILITIES])),
    "ndtr": (special.ndtr, ANYWHERE),
    "log_ndtr": (special.log_ndtr, ANYWHERE),
    "ndtri": (special.ndtri, PROBABILITIES),
    "logit": (special.logit, PROBABILITIES),
    "entr": (special.entr, SIZES),
    "gamma": (at.gamma, MODERATE),
    "gammaln": (at.gammaln, np.concatenate([SIZES, [-0.3, -7.7]])),
    "psi": (at.psi, np.concatenate([SIZES, [-0.3, -7.7]])),
    "tri_gamma": (at.tri_gamma, SIZES),
    "i0": (at.i0, MODERATE),
    "i1": (at.i1, MODERATE[np.abs(MODERATE) > 1e-200]),
    "i0e": (special.i0e, MODERATE[np.abs(MODERATE) < 30]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_over_the_whole_domain(name):
    function, points = FUNCTIONS[name]
    x = at.dvector("x")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        out = function(x)
        found = np.array(aesara.function([x], with_derivatives(x, out), mode=RULES)(points))
        wanted, _ = truth([x], out, [points])
        far = errors(found, wanted) / np.maximum(np.abs(wanted), 1e-290)
    known = ~np.isnan(wanted)
    assert known.mean() > 0.7, points[~known.all(0)]
    for order in (0, 1, 2):
        bad = known[order] & (far[order] > 1e-12)
        assert not bad.any(), (order, points[bad], found[order][bad], wanted[order][bad])
