"""Evaluation of a graph, node by node, by the `perform` of each op: what the tests of ops rest on."""

import numpy as np

from aesara.graph.nodes import Constant
from aesara.graph.traversal import io_toposort
from aesara.tensor.type import TensorType


def evaluate(outputs, values=None):
    """The value of one variable, or of several, for values of the inputs they depend on."""
    several = isinstance(outputs, (list, tuple))
    wanted = list(outputs) if several else [outputs]
    known = {variable: variable.type.filter(value, allow_downcast=True) for variable, value in (values or {}).items()}

    def value_of(variable):
        if variable in known:
            return known[variable]
        if isinstance(variable, Constant):
            return variable.data
        raise ValueError(f"no value was given for {variable}")

    for node in io_toposort(list(known), wanted):
        storage = [[None] for _ in node.outputs]
        node.op.perform(node, [value_of(x) for x in node.inputs], storage)
        for variable, (value,) in zip(node.outputs, storage):
            assert value is not None, f"{node} left an output without a value"
            if isinstance(variable.type, TensorType):
                assert isinstance(value, np.ndarray), (node, value)
                variable.type.filter(value, strict=True)
            known[variable] = value
    results = [value_of(variable) for variable in wanted]
    return results if several else results[0]
