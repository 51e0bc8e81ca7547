"""Conversion of Ops with SciPy's splines, which PyMC uses to interpolate densities."""

from __future__ import annotations

from typing import Any

import aesara.tensor as at
from aesara.pytensor.conversion import convert_op_named, perform_in_python

#: SciPy's modes of extrapolation
_EXTRAPOLATE, _ZEROS, _RAISE, _BOUNDARY = range(4)


@convert_op_named("pymc.distributions.dist_math.SplineWrapper")
def _spline(op: Any, node: Any, x: Any) -> Any:
    """Evaluate a B-spline by the recurrence of de Boor and Cox.

    This is the algorithm of FITPACK's ``fpbspl`` (P. Dierckx, Curve and Surface Fitting with Splines, 1993, section
    1.3). It adds only numbers of one sign, so densities near zero are accurate.
    """
    knots, coefficients, degree = op.spline._eval_args
    extrapolation = op.spline.ext
    if extrapolation == _RAISE:
        return perform_in_python(node, (x,))
    points = at.cast(x, "float64")
    last = len(knots) - degree - 1
    lowest, highest = knots[degree], knots[last]
    clipped = at.clip(points, lowest, highest) if extrapolation == _BOUNDARY else points
    interval = degree + at.searchsorted(knots[degree + 1 : last], clipped, side="right")
    table, weights = at.constant(knots), at.constant(coefficients)

    basis = [at.ones_like(clipped)]
    for d in range(1, degree + 1):
        higher = [at.zeros_like(clipped)] * (d + 1)
        for i, part in enumerate(basis):
            right, left = table[interval + (i + 1)], table[interval + (i + 1 - d)]
            share = part / (right - left)
            higher[i] = higher[i] + share * (right - clipped)
            higher[i + 1] = share * (clipped - left)
        basis = higher
    value = sum(weights[interval + (i - degree)] * part for i, part in enumerate(basis))
    if extrapolation == _ZEROS:
        value = at.switch((points < lowest) | (points > highest), 0.0, value)
    return at.cast(value, node.outputs[0].type.dtype)
