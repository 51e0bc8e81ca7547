"""Every row of the op table: the vectorized graph computes for each member of a batch what the graph does."""

import warnings

import numpy as np
import pytest

import tests.optable.rows  # noqa: F401
from aesara.graph.replace import vectorize_graph
from aesara.tensor.type import TensorType
from tests.optable.faults import rows_for
from tests.optable.running import MODES, Graphs, called, compiled, drawn, flat
from tests.optable.table import ROWS

MEMBERS = 3
#: Which inputs of a case have batch dimensions.
CHOICES = {
    "all": lambda position: True,
    "first": lambda position: position == 0,
    "others": lambda position: position > 0,
}


def batched_type(variable):
    return TensorType(variable.type.dtype, shape=(None, *variable.type.shape))


def members_of(graphs, values):
    """For each member and each case what the graph computes."""
    function = graphs.compile(MODES["reference"])
    return [graphs.grouped(called(function, flat(group))) for group in values]


def same_shapes(members, position):
    shapes = [[np.shape(r) for r in member[position]] for member in members]
    return all(group == shapes[0] for group in shapes)


@rows_for("batches", [r for r in ROWS.values() if not r.needs_values])
@pytest.mark.parametrize("choice", CHOICES)
def test_batches(row, choice):
    values = [drawn(row, row.cases, salt) for salt in range(MEMBERS)]
    graphs = Graphs.of(row, row.cases)
    replace, inputs, given, expected_groups = {}, [], [], [[] for _ in range(MEMBERS)]
    for k, variables in enumerate(graphs.inputs):
        for member in expected_groups:
            member.append([])
        for position, variable in enumerate(variables):
            stacked = [group[k][position] for group in values]
            is_batched = CHOICES[choice](position) and len({v.shape for v in stacked}) == 1
            new = batched_type(variable)(variable.name) if is_batched else variable
            replace[variable] = new
            inputs.append(new)
            given.append(np.array(stacked) if is_batched else stacked[0])
            for number, member in enumerate(expected_groups):
                member[k].append(stacked[number] if is_batched else stacked[0])
    members = members_of(graphs, expected_groups)
    outputs, wanted, refused = [], [], 0
    for k, case in enumerate(graphs.cases):
        if not same_shapes(members, k):
            continue
        for position, old in enumerate(graphs.outputs[k]):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    new = vectorize_graph(old, replace)
            except NotImplementedError as error:
                assert "slice" in str(error)
                refused += 1
                continue
            assert new.type.dtype == old.type.dtype
            assert new.type.ndim - old.type.ndim in (0, 1)
            outputs.append(new)
            wanted.append((f"{case}, output {position}", old, [member[k][position] for member in members]))
    assert outputs or refused, f"{row}: nothing to compare"
    for mode in MODES:
        results = called(compiled(inputs, outputs, MODES[mode]), given)
        for (what, old, expected), new, result in zip(wanted, outputs, results):
            expected = np.array(expected) if new.type.ndim > old.type.ndim else np.asarray(expected[0])
            unit = np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
            assert result.shape == expected.shape, (mode, what)
            finite = np.abs(expected[np.isfinite(expected)]) if unit else np.zeros(1)
            largest = float(finite.max()) if finite.size else 1.0
            np.testing.assert_allclose(
                result, expected, rtol=500 * unit, atol=500 * unit * largest, err_msg=f"{mode}: {what}"
            )
