"""Every row of the op table: shapes are inferred, where they can be without computing the values."""

import pytest

import tests.optable.rows  # noqa: F401
from aesara.graph.traversal import io_toposort
from aesara.tensor.shape_values import Shape, Shape_i
from tests.optable.faults import rows_for
from tests.optable.running import MODES, Graphs, called, compiled, drawn, flat
from tests.optable.table import ROWS


def shape_only(node):
    """Whether a node is arithmetic on sizes, or asks for one."""
    return isinstance(node.op, (Shape, Shape_i)) or all(
        v.type.dtype in ("int64", "bool") and v.type.ndim <= 1 for v in node.outputs
    )


@rows_for("shapes", ROWS.values())
def test_inferred_shapes(row):
    """The shape of a result is the one it has, and the function of the shape alone does not compute the result."""
    graphs = Graphs.of(row, row.cases)
    values = drawn(row, row.cases)
    outputs = [o.shape for o in graphs.flat_outputs()]
    function = compiled(graphs.flat_inputs(), outputs, MODES["native"])
    got = called(function, flat(values))
    wanted = [w.shape for case, given in zip(graphs.cases, values) for w in row.expect(case, given)]
    found = [f"got {tuple(g)}, expected {w}" for g, w in zip(got, wanted, strict=True) if tuple(g) != w]
    if not row.needs_values:
        nodes = io_toposort(function.maker.fgraph.inputs, function.maker.fgraph.outputs)
        found += [f"the shape needs {node}" for node in nodes if not shape_only(node)]
    if found:
        pytest.fail("\n".join(found[:8]), pytrace=False)
