"""Checks of function graphs, and what their errors say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from aesara.graph.clients import ClientType
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, AtomicVariable, Variable
from aesara.graph.traversal import io_toposort


def check_integrity(fgraph: Any) -> None:
    """Raise an exception where nodes, variables and clients contradict each other."""
    nodes = set(io_toposort(fgraph.inputs, fgraph.outputs))
    if fgraph.apply_nodes != nodes:
        raise Exception(
            f"The following nodes are inappropriately cached: {nodes - fgraph.apply_nodes} are missing, "
            f"{fgraph.apply_nodes - nodes} are in excess."
        )
    expected: dict[Variable, set[ClientType]] = {variable: set() for variable in fgraph.inputs}
    for node in nodes:
        for index, output in enumerate(node.outputs):
            if output.owner is not node or output.index != index:
                raise Exception(f"Output {index} of {node} has owner {output.owner} and index {output.index}.")
            expected.setdefault(output, set())
    for node in nodes:
        for i, variable in enumerate(node.inputs):
            expected.setdefault(variable, set()).add((node, i))
    for i, variable in enumerate(fgraph.outputs):
        expected.setdefault(variable, set()).add(("output", i))
    present = {variable for variable, clients in expected.items() if clients or variable.owner in nodes}
    if fgraph.variables != present:
        raise Exception(
            f"The following variables are inappropriately cached: {present - fgraph.variables} are missing, "
            f"{fgraph.variables - present} are in excess."
        )
    inputs = set(fgraph.inputs)
    for variable, clients in expected.items():
        if variable.owner is None and variable not in inputs and not isinstance(variable, AtomicVariable):
            raise Exception(f"Undeclared input: {variable}")
        known = fgraph.clients.get(variable)
        for client, position in known or ():
            if client != "output" and client not in fgraph.apply_nodes:
                raise Exception(f"Client not in FunctionGraph: {variable} is listed as input {position} of {client}.")
        if known is None or set(known) != clients or len(known) != len(clients):
            raise Exception(f"Inconsistent clients list of {variable}: {known} instead of {clients}.")


def refuse_repeated_inputs(inputs: Sequence[Variable]) -> None:
    """Raise a ValueError where a variable is an input twice: what is computed could take only one of its values."""
    if len(set(inputs)) == len(inputs):
        return
    repeated = next(variable for k, variable in enumerate(inputs) if variable in inputs[:k])
    raise ValueError(
        f"The variable {describe(repeated)} is given as input more than once. Give each input its own variable."
    )


def place_of(node: Apply | Literal["output"], i: int) -> str:
    """Name an input of a node, or an output of the graph, in a message."""
    return f" (output {i} of the graph)" if node == "output" else f" (input {i} of {node.op})"


def missing_input_message(variable: Variable, user: Apply | None) -> str:
    """Return the message about a missing input and the node that uses it."""
    if user is None:
        return (
            f"Undeclared input: the output {variable} is not computed from the inputs, is not one of them, and has no "
            "given value. Declare it as an input of the graph."
        )
    source = f", built at {user.source}," if user.source is not None else ""
    position = next(i for i, candidate in enumerate(user.inputs) if candidate is variable)
    return (
        f"Input {position} ({variable}) of the graph (indices start from 0), used to compute "
        f"{user.op}{source} was not "
        "provided and not given a value. Declare it as an input of the graph. Use the option "
        "exception_verbosity='high' for more information on this error."
    )


def check_test_values(var: Variable, new_var: Variable, reason: object) -> None:
    """Raise where the test values of a variable and of its replacement have different shapes."""
    old_tag, new_tag = var._tag, new_var._tag
    if old_tag is None or new_tag is None:
        return
    old_shape = getattr(getattr(old_tag, "test_value", None), "shape", None)
    new_shape = getattr(getattr(new_tag, "test_value", None), "shape", None)
    if old_shape is not None and new_shape is not None and old_shape != new_shape:
        raise AssertionError(
            f"The replacement variable has a test value of shape {new_shape}, but the original one has {old_shape}. "
            f"Reason of the replacement: {reason}."
        )
