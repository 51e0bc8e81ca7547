"""Entry points with loops of short iterations are optimized by LLVM's passes, others are not."""

import re

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.scan.op import Scan
from tests.closeness import assert_close

x, W, n = at.dvector("x"), at.dmatrix("W"), at.lscalar("n")
rows = at.tensor("float64", (200, 200))


def shrunk(step, first):
    return aesara.scan(step, outputs_info=first, n_steps=n)[0][-1]


def nested():
    def halve(row):
        halves, _ = aesara.scan(lambda s: s * 0.5, outputs_info=row[0, 0], n_steps=n)
        return at.tanh(row @ row) + halves[-1]

    return shrunk(halve, rows)


@pytest.mark.parametrize(
    "out, inputs, has_passes",
    [
        (lambda: shrunk(lambda s: s * 0.5, x[0]), [x, n], False),  # one kernel, which has passes of its own
        (lambda: shrunk(lambda s: s * 0.5, x), [x, n], True),
        (lambda: shrunk(lambda s: at.tanh(W @ s), W), [W, n], True),  # may be small
        (lambda: shrunk(lambda s: at.tanh(s @ s), rows), [rows, n], False),
        (nested, [rows, n], True),
        (lambda: x.sum(), [x], False),
    ],
)
def test_long_iterations_need_no_passes(out, inputs, has_passes):
    f = aesara.function(inputs, out())
    assert aesara.explain(f).python == []
    entry = re.search(r"^define ptr @aesara_entry\(.*$", f._native.report.text, re.M)[0]
    assert ("optnone" not in entry) == has_passes
    if n in inputs:
        assert any(isinstance(node.op, Scan) for node in f.maker.fgraph.apply_nodes)
        values = [np.full([m or 3 for m in v.type.shape], 0.01) for v in inputs[:-1]]
        assert_close(f(*values, 3), aesara.function(inputs, out(), mode="FAST_COMPILE")(*values, 3))
