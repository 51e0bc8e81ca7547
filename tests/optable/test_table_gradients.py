"""Every row of the op table: gradients against differences of the oracle, and forward mode against reverse mode."""

import warnings
import zlib

import numpy as np
import pytest

import aesara
import tests.optable.rows  # noqa: F401
from aesara.tensor.core.conversion import constant
from tests.optable.derivatives import Derivatives, differentiable, direction
from tests.optable.differences import real_parts, slopes, weighted
from tests.optable.faults import rows_for
from tests.optable.running import MODES, called, compiled, flat
from tests.optable.table import ROWS


@rows_for("gradients", [r for r in ROWS.values() if differentiable(r)])
def test_gradients(row):
    """Symbolic gradients are the oracle's slopes; the derivative along a direction is what they say."""
    complaints = list(Derivatives(row).complaints())
    if complaints:
        pytest.fail("\n".join(complaints[:6]), pytrace=False)


@rows_for("curvature", [r for r in ROWS.values() if differentiable(r) and r.second])
def test_second_derivatives(row):
    """The gradient of a weighted gradient is what differences of the gradient say."""
    first = Derivatives(row, second=True)
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    wanted = [[k for k, a in enumerate(case.args) if a.gradient_wanted] for case in first.cases]
    gradients = [
        [o for o, (n, k) in zip(first.outputs, first.wanted) if n == i and k is not None][: len(places)]
        for i, places in enumerate(wanted)
    ]
    gradient = compiled(first.graphs.flat_inputs(), flat(gradients), MODES["native"])
    flat_values = flat(first.values)
    outputs, expected = [], []
    start = first_result = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, (case, places) in enumerate(zip(first.cases, wanted)):
            weights = real_parts([direction(rng, first.values[i][k]) for k in places])
            cost = sum((p * constant(w)).sum() for p, w in zip(real_parts(gradients[i]), weights, strict=True))
            outputs += aesara.grad(cost, [first.graphs.inputs[i][k] for k in places], disconnected_inputs="ignore")
            results = slice(first_result, first_result + len(places))

            def along(moved, start=start, results=results, weights=weights):
                given = [*flat_values[:start], *moved, *flat_values[start + len(moved) :]]
                return weighted(called(gradient, given)[results], weights)

            expected += [(case, k, slopes(along, first.values[i], k)) for k in places]
            start += len(case.args)
            first_result += len(places)
    complaints = []
    got = called(compiled(first.graphs.flat_inputs(), outputs, MODES["native"]), flat_values)
    for (case, k, want), result in zip(expected, got):
        # errors of differences follow the largest entry
        if not np.allclose(result, want, rtol=1e-6, atol=1e-7 + 1e-8 * np.max(np.abs(want), initial=0)):
            complaints.append(f"{case}, input {k}: got\n{result}\nexpected\n{want}")
    if complaints:
        pytest.fail("\n".join(complaints[:6]), pytrace=False)
