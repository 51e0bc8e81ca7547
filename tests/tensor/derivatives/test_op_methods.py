"""Consistency of `connection_pattern`, `L_op` and `R_op` of every op of the tables."""

import warnings
from functools import cache

import numpy as np
import pytest

import aesara
import aesara.tensor as at
import tests.optable.rows  # noqa: F401
from aesara.gradient import NullTypeGradError, undefined_grad
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.null_type import NullType
from aesara.graph.op import Op
from aesara.graph.pullback import connections
from aesara.graph.traversal import ancestors, io_connection_pattern
from aesara.tensor.type import TensorType, discrete_dtypes
from tests.optable import table
from tests.optable.running import Graphs, drawn
from tests.tensor.shapes import shape_rows


@cache
def graphs():
    """The name, inputs, their values, and outputs of each case of the tables."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in table.ROWS.values():
            for case, values in zip(row.cases, drawn(row, row.cases)):
                graph = Graphs.of(row, [case])
                found.append((row.name, graph.flat_inputs(), values, graph.flat_outputs()))
        for row in shape_rows.ROWS.values():
            shapes = [tuple(1 if n == 1 else None for n in v.shape) for v in row.values]
            variables = [TensorType(str(v.dtype), shape=s)() for v, s in zip(row.values, shapes)]
            found.append((row.name, variables, list(row.values), row.outputs(variables)))
    return found


@cache
def nodes():
    """A node of each op and types of inputs in the tables, with the name of the row."""
    found = {}
    for name, _, _, outputs in graphs():
        for variable in ancestors(outputs):
            node = variable.owner
            if node is not None:
                found.setdefault((node.op, tuple(v.type for v in node.inputs)), (name, node))
    return list(found.values())


def tensors(variables):
    """The positions of the variables that are tensors."""
    return [k for k, v in enumerate(variables) if isinstance(v.type, TensorType)]


def continuous(variables):
    """The positions of the variables that have derivatives."""
    return [k for k in tensors(variables) if variables[k].type.dtype not in discrete_dtypes]


def pattern_of(node):
    return connections(node) or [[True] * len(node.outputs) for _ in node.inputs]


def gradient_type(variable):
    """The type of gradients with respect to a tensor: real numbers for those of integers."""
    return variable.type.clone(dtype="float64") if variable.type.dtype in discrete_dtypes else variable.type


def gradients_of(node, position):
    """Return the result of `L_op` if only one output has a gradient; None without `L_op`."""
    given = [gradient_type(v)() if k == position else disconnected_type() for k, v in enumerate(node.outputs)]
    try:
        return node.op.L_op(node.inputs, node.outputs, given)
    except NotImplementedError:
        return None


def has_r_op(node):
    """Return whether an op, or the core op of a batched one, has `R_op`."""
    return type(getattr(node.op, "core_op", node.op)).R_op is not Op.R_op


def tangents_of(node, *moving):
    """Return the result of `R_op` with tangents of these inputs."""
    return node.op.R_op(node.inputs, [v.type() if k in moving else None for k, v in enumerate(node.inputs)])


def is_none(tangent):
    return tangent is None or isinstance(tangent.type, DisconnectedType)


def is_null(derivative):
    return derivative is not None and isinstance(derivative.type, NullType)


def refuse(complaints):
    if complaints:
        pytest.fail("\n".join(complaints[:12]), pytrace=False)


def test_ops_take_the_inputs_of_their_nodes():
    """An op makes the same node of a node's inputs: so a copy of the node with other types of inputs is made."""
    complaints = []
    for row, node in nodes():
        try:
            again = node.op.make_node(*node.inputs)
        except Exception as error:
            complaints.append(f"{row}: {node.op} refuses the inputs of its node: {error}")
            continue
        for old, new in zip([*node.inputs, *node.outputs], [*again.inputs, *again.outputs], strict=True):
            if old.type != new.type:
                complaints.append(f"{row}: {node.op} makes {new.type} of what was {old.type}")
    refuse(complaints)


def test_inputs_that_are_connected_have_gradients():
    """`L_op` gives no disconnected gradient for an input that `connection_pattern` connects."""
    complaints = []
    for row, node in nodes():
        pattern = pattern_of(node)
        for j in [k for k in tensors(node.outputs) if any(of_input[k] for of_input in pattern)]:
            for i, gradient in enumerate(gradients_of(node, j) or ()):
                if pattern[i][j] and isinstance(gradient.type, DisconnectedType):
                    complaints.append(f"{row}: {node.op} connects input {i} to output {j}, and has no gradient")
    refuse(complaints)


#: rows whose outputs move with what they are not connected to
LEFT_OUT = {
    "gradient operators": "they are there to disconnect",
    "empty": "the entries are what memory happens to hold",
    "empty_like": "the entries are what memory happens to hold",
}


def test_what_is_not_connected_does_not_move():
    complaints, tried = [], 0
    for row, inputs, values, outputs in graphs():
        pattern = io_connection_pattern(inputs, outputs)
        apart = {i: [j for j in continuous(outputs) if not pattern[i][j]] for i in continuous(inputs)}
        if row in LEFT_OUT or not any(apart.values()):
            continue
        function = aesara.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
        before = function(*[v.copy() for v in values])
        for i, places in apart.items():
            moved = [(v * 1.01 + 0.001).astype(v.dtype) if k == i else v.copy() for k, v in enumerate(values)]
            after = function(*moved) if places else before
            tried += len(places)
            complaints += [
                f"{row}: output {j} moves with input {i}, which it is not said to be connected to"
                for j in places
                if not np.array_equal(before[j], after[j], equal_nan=True)
            ]
    refuse(complaints)
    assert tried > 50


def test_nothing_moves_where_no_input_does():
    complaints = []
    for row, node in filter(lambda found: has_r_op(found[1]), nodes()):
        tangents = tangents_of(node)
        if not (isinstance(tangents, list) and len(tangents) == len(node.outputs) and all(map(is_none, tangents))):
            complaints.append(f"{row}: {node.op} without tangents of inputs gives {tangents}")
    refuse(complaints)


def test_outputs_move_with_each_input():
    """`R_op` gives a tangent for each connected input, or states that there is no derivative."""
    complaints, tried = [], 0
    for row, node in filter(lambda found: has_r_op(found[1]), nodes()):
        pattern, outputs = pattern_of(node), continuous(node.outputs)
        gradients = {j: gradients_of(node, j) for j in outputs}
        for i in continuous(node.inputs):
            tangents = tangents_of(node, i)
            tried += 1
            for j in outputs:
                if not pattern[i][j]:
                    continue
                place, tangent, output = f"{row}: {node.op}, output {j} along input {i}", tangents[j], node.outputs[j]
                if is_none(tangent):
                    complaints.append(f"{place}: no tangent")
                elif is_null(tangent) or is_null(gradients[j] and gradients[j][i]):
                    if not (is_null(tangent) and is_null(gradients[j][i])):
                        complaints.append(f"{place}: only one of R_op and L_op says that there is no derivative")
                elif tangent.type.ndim != output.type.ndim:
                    complaints.append(f"{place}: {tangent.type} for {output.type}")
    refuse(complaints)
    assert tried > 500


@pytest.mark.parametrize("build", [lambda v: at.jv(v, 2.0), undefined_grad], ids=["jv", "undefined_grad"])
@pytest.mark.parametrize("around", [lambda y, v: y, lambda y, v: y + v, lambda y, v: at.exp(y).sum()])
def test_derivatives_that_do_not_exist_are_not_left_out(build, around):
    v, d = at.dvectors("v", "d")
    cost = around(build(v), v)
    with pytest.raises(NullTypeGradError):
        aesara.grad(cost.sum(), v)
    with pytest.raises(NullTypeGradError):
        aesara.Rop(cost, v, d, disconnected_outputs="ignore")
