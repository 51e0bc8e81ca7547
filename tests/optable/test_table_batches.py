"""Every row of the op table: the vectorized graph computes for each member of a batch what the graph does."""

import warnings

import numpy as np

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


def choices(row):
    """Those that differ for some case of a row, and by which an input has batch dimensions."""
    found = {}
    for choice, is_batched in CHOICES.items():
        where = tuple(tuple(map(is_batched, range(len(case.args)))) for case in row.cases)
        if any(map(any, where)):
            found.setdefault(where, choice)
    return found.values()


class Batches:
    """The vectorized graphs of a row for one choice, what they are given, and what they should give."""

    def __init__(self, row, choice, graphs, reference):
        self.inputs, self.given, self.outputs, self.wanted, self.refused = [], [], [], [], 0
        values = [drawn(row, row.cases, salt) for salt in range(MEMBERS)]
        replace, of_members = {}, [[] for _ in range(MEMBERS)]
        for k, variables in enumerate(graphs.inputs):
            for member in of_members:
                member.append([])
            for position, variable in enumerate(variables):
                stacked = [group[k][position] for group in values]
                is_batched = CHOICES[choice](position) and len({v.shape for v in stacked}) == 1
                new = (batched_type(variable) if is_batched else variable.type)(variable.name)
                replace[variable] = new
                self.inputs.append(new)
                self.given.append(np.array(stacked) if is_batched else stacked[0])
                for number, member in enumerate(of_members):
                    member[k].append(stacked[number] if is_batched else stacked[0])
        members = [graphs.grouped(called(reference, flat(group))) for group in of_members]
        for k, case in enumerate(graphs.cases):
            if same_shapes(members, k):
                for position, old in enumerate(graphs.outputs[k]):
                    expected = [member[k][position] for member in members]
                    self._add(f"{choice} batched, {case}, output {position}", old, replace, expected)

    def _add(self, what, old, replace, expected):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                new = vectorize_graph(old, replace)
        except NotImplementedError as error:
            assert "slice" in str(error)
            self.refused += 1
            return
        assert new.type.dtype == old.type.dtype
        assert new.type.ndim - old.type.ndim in (0, 1)
        self.outputs.append(new)
        self.wanted.append((what, np.array(expected) if new.type.ndim > old.type.ndim else np.asarray(expected[0])))


def same_shapes(members, position):
    shapes = [[np.shape(r) for r in member[position]] for member in members]
    return all(group == shapes[0] for group in shapes)


@rows_for("batches", [r for r in ROWS.values() if not r.needs_values and any(choices(r))])
def test_batches(row):
    graphs = Graphs.of(row, row.cases)
    reference = graphs.compile(MODES["reference"])
    batches = [Batches(row, choice, graphs, reference) for choice in choices(row)]
    for choice, batch in zip(choices(row), batches, strict=True):
        assert batch.outputs or batch.refused, f"{row}, {choice} batched: nothing to compare"
    inputs, given, outputs, wanted = (
        flat([getattr(b, name) for b in batches]) for name in ("inputs", "given", "outputs", "wanted")
    )
    for mode in MODES:
        results = called(compiled(inputs, outputs, MODES[mode]), given)
        for (what, expected), result in zip(wanted, results, strict=True):
            unit = np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
            assert result.shape == expected.shape, (mode, what)
            finite = np.abs(expected[np.isfinite(expected)]) if unit else np.zeros(1)
            largest = float(finite.max()) if finite.size else 1.0
            np.testing.assert_allclose(
                result, expected, rtol=500 * unit, atol=500 * unit * largest, err_msg=f"{mode}: {what}"
            )
