"""Every row of the op table: shapes are inferred, where they can be without computing the values."""

from dataclasses import replace

import numpy as np
import pytest

import tests.optable.rows  # noqa: F401
from aesara.compile.mode import Mode
from aesara.graph.traversal import io_toposort
from aesara.tensor.shapes.shape import Shape, Shape_i
from tests.optable.faults import rows_for
from tests.optable.running import MODES, Graphs, called, compiled, drawn, flat
from tests.optable.table import ROWS

#: rewritten, and computed node by node: nothing is compiled
SHAPES = Mode("py", "fast_run")


def shape_only(node):
    """Return whether a node computes with sizes, or reads one."""
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


#: lengths that are tried for every length of a case
LENGTHS = (0, 1, 2, 5)
#: rows without an input whose length could be another one, or whose results exist for no other lengths
FIXED = {
    "arange", "arange of bounds", "bartlett", "blackman", "ceil_intdiv", "comparisons that no common dtype holds",
    "conv2d_grad_wrt_inputs", "conv2d_transpose", "delete", "diag_indices", "empty", "eye", "eye of sizes", "fftfreq",
    "full", "geomspace", "hamming", "hanning", "inverse_permutation", "kaiser", "linspace", "logspace", "make_vector",
    "mgrid", "ogrid", "ones", "rfftfreq", "solve_tridiagonal", "tensor_from_scalar", "tensorsolve",
    "tri", "tril_indices", "triu_indices", "zeros",
}  # fmt: skip


def resized(arg, old, length):
    """An input with another length in the place of each `old` one; integers that are given may be indices and stay."""
    known = arg.static or (None,) * len(arg.shape)
    shape = tuple(length if n == old and k is None else n for n, k in zip(arg.shape, known))
    if shape == arg.shape or (arg.values is not None and np.dtype(arg.dtype).kind not in "fc"):
        return arg
    return replace(arg, shape=shape, values=None if arg.values is None else np.resize(arg.values, shape))


def with_other_lengths(case, length):
    """The case with one of its lengths replaced wherever it occurs, for each of them."""
    for old in sorted({n for a in case.args for n in a.shape if n > 1}):
        args = tuple(resized(a, old, length) for a in case.args)
        if any(a is not b for a, b in zip(args, case.args)):
            yield replace(case, args=args)


@rows_for("shapes of other lengths", ROWS.values())
def test_inferred_shapes_for_lengths_known_at_run_time(row):
    """A graph that was made without lengths infers the shapes that its results have for any lengths."""
    compared, found = 0, []
    for case in row.cases[:2]:
        graph = Graphs.of(row, [case])
        inputs, outputs = graph.flat_inputs(), graph.flat_outputs()
        values_of = compiled(inputs, outputs, MODES["reference"])
        shapes_of = compiled(inputs, [o.shape for o in outputs], SHAPES)
        for other in (c for length in LENGTHS for c in with_other_lengths(case, length)):
            values = flat(drawn(row, [other]))
            try:
                results = called(values_of, values)
            except Exception:  # what has no value has no shape
                continue
            compared += 1
            inferred = [tuple(map(int, s)) for s in called(shapes_of, values)]
            found += [f"{other}: {a}, expected {r.shape}" for a, r in zip(inferred, results) if a != r.shape]
    if found:
        pytest.fail("\n".join(found[:8]), pytrace=False)
    assert (compared == 0) == (row.name in FIXED), f"{compared} other lengths have a value"
