"""Every op that occurs in the op table: equality, copies, pickles, text."""

import copy
import io
import pickle
import re

import numpy as np
import pytest

import tests.optable.rows  # noqa: F401
from aesara import scalar as aes
from aesara.graph.traversal import ancestors, io_toposort
from aesara.printing import debugprint, pprint
from tests.optable.derivatives import Derivatives, differentiable
from tests.optable.faults import rows_for
from tests.optable.running import MODES, Graphs, called, drawn, flat
from tests.optable.table import ROWS

ADDRESS = re.compile(r"\bat 0x[0-9a-f]+|object at")


def nodes_of(outputs):
    """The applications in the graphs."""
    return list({v.owner: None for v in ancestors(outputs) if v.owner is not None})


def with_gradients(row):
    """The results of all cases, and their gradients."""
    results = Graphs.of(row, row.cases).flat_outputs()
    return results + Derivatives(row).outputs if differentiable(row) else results


def faults_of(op):
    """Yield faults of an op by itself: of copies, hashes, texts."""
    for name, same in (
        ("pickled", pickle.loads(pickle.dumps(op))),
        ("copied", copy.copy(op)),
        ("deeply copied", copy.deepcopy(op)),
    ):
        if same != op or hash(same) != hash(op):
            yield f"{op!r} {name} is not equal to itself, or has another hash"
        if str(same) != str(op):
            yield f"{op!r} {name} prints as {same}"
    for text in (str(op), repr(op)):
        if not text or ADDRESS.search(text):
            yield f"{type(op).__name__} prints as {text!r}"
    props = getattr(op, "__props__", None)
    if props is not None and not all(hasattr(op, name) for name in props):
        yield f"{op} lacks some of its properties {props}"


@rows_for("ops", ROWS.values())
def test_ops(row):
    """Equal ops are made twice; they pickle, copy and print."""
    nodes, others = nodes_of(with_gradients(row)), nodes_of(with_gradients(row))
    found = [
        f"{a.op!r} made twice is not equal to itself"
        for a, b in zip(nodes, others, strict=True)
        if a.op != b.op or hash(a.op) != hash(b.op)
    ]
    for op in {node.op: node.op for node in nodes}:
        found += faults_of(op)
        if not isinstance(op, aes.ScalarOp) and hasattr(op, "scalar_op"):
            found += faults_of(op.scalar_op)
    if found:
        pytest.fail("\n".join(found[:8]), pytrace=False)


@rows_for("printing", ROWS.values())
def test_printing(row):
    """Graphs print as a tree, as a formula and as their variables."""
    graphs = Graphs.of(row, row.cases)
    outputs = graphs.flat_outputs()
    tree = io.StringIO()
    debugprint(outputs, file=tree, print_type=True)
    texts = [tree.getvalue(), *[pprint(o) for o in outputs], *[str(o) for o in outputs], *[repr(o) for o in outputs]]
    texts += [str(node) for node in nodes_of(outputs)]
    found = [text for text in texts if not text or ADDRESS.search(text)]
    if found:
        pytest.fail("\n".join(found[:8]), pytrace=False)


@rows_for("pickles", ROWS.values())
def test_pickled_graphs(row):
    """A graph that has been pickled computes the same."""
    graphs = Graphs.of(row, row.cases[:3])
    values = drawn(row, graphs.cases)
    inputs, outputs = pickle.loads(pickle.dumps((graphs.inputs, graphs.outputs)))
    copied = Graphs(row, graphs.cases, inputs, outputs)
    assert len(list(io_toposort(flat(inputs), flat(outputs)))) == len(
        list(io_toposort(flat(graphs.inputs), flat(graphs.outputs)))
    )
    want = called(graphs.compile(MODES["reference"]), flat(values))
    got = called(copied.compile(MODES["reference"]), flat(values))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
