"""Splines of SciPy inside of Ops, which PyMC interpolates densities with."""

from __future__ import annotations

from typing import Any

import aesara.tensor as at
from aesara.pytensor.conversion import convert_op_named, perform_in_python

#: what SciPy does outside of the knots: go on, give zeros, raise, stay
_GO_ON, _ZEROS, _RAISE, _STAY = range(4)


@convert_op_named("pymc.distributions.dist_math.SplineWrapper")
def _spline(op: Any, node: Any, x: Any) -> Any:
    """B-splines that are not zero at a point are computed by the recurrence of de Boor and Cox.

    As FITPACK's ``fpbspl`` does (P. Dierckx, Curve and Surface Fitting with Splines, 1993, section 1.3): it only adds
    numbers of one sign, so that densities near zero keep their digits.
    """
    knots, coefficients, degree = op.spline._eval_args
    outside = op.spline.ext
    if outside == _RAISE:
        return perform_in_python(node, (x,))
    given = at.cast(x, "float64")
    last = len(knots) - degree - 1
    lowest, highest = knots[degree], knots[last]
    place = at.clip(given, lowest, highest) if outside == _STAY else given
    interval = degree + at.searchsorted(knots[degree + 1 : last], place, side="right")
    table, weights = at.constant(knots), at.constant(coefficients)

    basis = [at.ones_like(place)]
    for d in range(1, degree + 1):
        higher = [at.zeros_like(place)] * (d + 1)
        for i, part in enumerate(basis):
            right, left = table[interval + (i + 1)], table[interval + (i + 1 - d)]
            share = part / (right - left)
            higher[i] = higher[i] + share * (right - place)
            higher[i + 1] = share * (place - left)
        basis = higher
    value = sum(weights[interval + (i - degree)] * part for i, part in enumerate(basis))
    if outside == _ZEROS:
        value = at.switch((given < lowest) | (given > highest), 0.0, value)
    return at.cast(value, node.outputs[0].type.dtype)
