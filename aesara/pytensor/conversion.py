"""Conversion of graphs of PyTensor: dispatch by Op, and traversal of graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial, singledispatch
from typing import Any

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable as PyTensorSharedVariable
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.graph.basic import Constant as PyTensorConstant
from pytensor.graph.basic import Variable as PyTensorVariable
from pytensor.graph.op import Op as PyTensorOp
from pytensor.graph.traversal import toposort
from pytensor.scalar.basic import ScalarType
from pytensor.sparse.type import SparseTensorType as PyTensorSparseType
from pytensor.tensor.random.type import RandomGeneratorType as PyTensorGeneratorType
from pytensor.tensor.type import TensorType as PyTensorTensorType
from pytensor.tensor.type_other import NoneTypeT, SliceType

import aesara.tensor as at
from aesara.graph.container import Container
from aesara.graph.generic import generic
from aesara.graph.nodes import Variable
from aesara.graph.shared import SharedVariable
from aesara.graph.source import inherit_source
from aesara.pytensor.lines import Lines
from aesara.pytensor.perform import PerformOp
from aesara.pytensor.versions import is_labelled
from aesara.sparse.type import SparseTensorType
from aesara.tensor.random.type import RandomGeneratorType, random_generator_type
from aesara.tensor.random.var import RandomGeneratorSharedVariable
from aesara.tensor.sharedvar import TensorSharedVariable

__all__ = [
    "as_list",
    "convert_graph",
    "convert_op",
    "convert_op_named",
    "convert_type",
    "is_shared_tensor",
    "perform_in_python",
    "shared_with_cell",
]


@singledispatch
def convert_op(op: PyTensorOp, node: PyTensorApply, *inputs: Variable) -> Variable | Sequence[Variable]:
    """Convert a node of PyTensor.

    Functions for classes of Ops are registered with ``convert_op.register``. Nodes of other Ops run in Python, by their
    own ``perform``.

    Parameters
    ----------
    op : pytensor.graph.op.Op
        The Op of the node; its class determines the function.
    node : pytensor.graph.basic.Apply
        The node in PyTensor's graph.
    inputs : Variable
        The converted inputs.  PyTensor's scalars are converted to 0-d tensors.

    Returns
    -------
    Variable or sequence of Variable
        The converted outputs, with the same dtypes and numbers of dimensions.

    Examples
    --------
    >>> @convert_op.register(Twice)  # doctest: +SKIP
    ... def _(op, node, x):
    ...     return 2 * x
    """
    named = _NAMED.get(f"{type(op).__module__}.{type(op).__qualname__}")
    return perform_in_python(node, inputs) if named is None else named(op, node, *inputs)


#: functions for Ops of libraries that are not imported for this purpose, by names of classes
_NAMED: dict[str, Callable[..., Any]] = {}


def convert_op_named(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as `convert_op` does, for a class given by its module and name."""
    return partial(_NAMED.setdefault, name)


def perform_in_python(node: PyTensorApply, inputs: Sequence[Variable]) -> Sequence[Variable]:
    """Run a node in Python, by the ``perform`` of its Op."""
    symbolic = [i for i, x in enumerate(inputs) if isinstance(x, Variable)]
    types = [convert_type(output.type) for output in node.outputs]
    return PerformOp(node, symbolic, types)(*[inputs[i] for i in symbolic], return_list=True)


def as_list(result: Any) -> list[Any]:
    """Return the result of `convert_op` as a list."""
    return list(result) if isinstance(result, list | tuple) else [result]


def _lengths(type: Any) -> tuple[int | None, ...]:
    """Return the static shape of a type; negative lengths, with which every call fails, count as unknown."""
    return tuple(None if length is None or length < 0 else length for length in type.shape)


def convert_type(type: Any) -> Any:
    """Convert a type of PyTensor."""
    if isinstance(type, PyTensorSparseType):
        return SparseTensorType(type.format, type.dtype)
    if isinstance(type, PyTensorTensorType) or is_labelled(type):
        return at.TensorType(type.dtype, _lengths(type))
    if isinstance(type, ScalarType):
        return at.TensorType(type.dtype, ())
    if isinstance(type, PyTensorGeneratorType):
        return random_generator_type
    return generic


def _convert_constant(variable: PyTensorConstant) -> Any:
    """Convert a constant; for slices and None return the value."""
    if variable.data is None or isinstance(variable.type, NoneTypeT | SliceType):
        return variable.data
    type = convert_type(variable.type)
    if isinstance(variable.type, ScalarType):
        return type.make_constant(np.asarray(variable.data, type.dtype))
    result = type.make_constant(variable.data)
    result.name = variable.name
    return result


_SHARED: dict[type, type[SharedVariable]] = {
    at.TensorType: TensorSharedVariable,
    RandomGeneratorType: RandomGeneratorSharedVariable,
}


def _convert_node(node: PyTensorApply, inputs: Sequence[Any]) -> list[Any]:
    """Convert a node, or run it in Python if the conversion is not supported.

    A node that is known to fail, because of values or shapes, runs in Python too, so that PyTensor raises its own
    error.
    """
    try:
        return as_list(convert_op(node.op, node, *inputs))
    except (NotImplementedError, ValueError, IndexError):
        return as_list(perform_in_python(node, inputs))


def _check_outputs(node: PyTensorApply, outputs: list[Any]) -> list[Any]:
    """Check dtypes and dimensions of converted outputs, and apply static shapes that PyTensor knows."""
    if len(outputs) != len(node.outputs):
        raise TypeError(f"{node.op}: converted to {len(outputs)} variables, but it has {len(node.outputs)} outputs.")
    for i, (new, old) in enumerate(zip(outputs, node.outputs)):
        if isinstance(old.type, PyTensorTensorType) and not isinstance(old.type, PyTensorSparseType):
            if new.type.dtype != old.type.dtype or new.type.ndim != old.type.ndim:
                raise TypeError(f"{node.op}: converted to {new.type}, but output {i} is {old.type}.")
            lengths = _lengths(old.type)
            if any(a is None and b is not None for a, b in zip(new.type.shape, lengths)):
                outputs[i] = at.specify_shape(new, list(lengths))
    return outputs


def convert_graph(
    inputs: Sequence[PyTensorVariable],
    outputs: Sequence[PyTensorVariable],
    replacements: Mapping[PyTensorVariable, Variable] | None = None,
    lines: Lines | None = None,
) -> tuple[list[Any], list[Any]]:
    """Convert a graph of PyTensor.

    Parameters
    ----------
    inputs, outputs : sequence of pytensor.graph.basic.Variable
        The graph. Shared variables that are not inputs are converted to shared variables that share their values.
    replacements : mapping, optional
        Converted variables for some of the inputs.
    lines : Lines, optional
        Finds the source lines of nodes; by default the lines that PyTensor has recorded.

    Returns
    -------
    inputs, outputs : list of Variable
        The converted graph.

    Raises
    ------
    ValueError
        If an output depends on a variable that is neither an input nor shared nor a constant.

    Examples
    --------
    >>> import pytensor.tensor as pt  # doctest: +SKIP
    >>> x = pt.vector("x")  # doctest: +SKIP
    >>> (ours,), (total,) = convert_graph([x], [(2 * x).sum()])  # doctest: +SKIP
    """
    known: dict[PyTensorVariable, Any] = dict(replacements or {})
    lines = Lines() if lines is None else lines
    for variable in inputs:
        if variable not in known:
            known[variable] = convert_type(variable.type)(name=variable.name)
    ours = [known[variable] for variable in inputs]
    # Inputs whose type only has the value None are constants.
    known.update({variable: None for variable in inputs if isinstance(variable.type, NoneTypeT)})
    for node in toposort(outputs, blockers=inputs):
        for variable in node.inputs:
            if variable not in known:
                known[variable] = _leaf(variable)
        source = lines.source_of(node)
        with nullcontext() if source is None else inherit_source(source):
            new_outputs = _check_outputs(node, _convert_node(node, [known[variable] for variable in node.inputs]))
        for old, new in zip(node.outputs, new_outputs):
            if old.name and isinstance(new, Variable) and new.name is None and new.owner is not None:
                new.name = old.name
            known.setdefault(old, new)
    for variable in outputs:
        if variable not in known:
            known[variable] = _leaf(variable)
    return ours, [known[variable] for variable in outputs]


def _leaf(variable: PyTensorVariable) -> Any:
    if isinstance(variable, PyTensorConstant):
        return _convert_constant(variable)
    if isinstance(variable, PyTensorSharedVariable):
        return shared_with_cell(variable, variable.container.storage)
    raise ValueError(f"The graph depends on {variable}, which is neither one of its inputs nor a constant.")


def is_shared_tensor(variable: PyTensorVariable) -> bool:
    """Return whether a variable is shared and can share its storage with a tensor of this package."""
    return isinstance(variable, PyTensorSharedVariable) and type(convert_type(variable.type)) is at.TensorType


def shared_with_cell(variable: PyTensorVariable, cell: list[Any]) -> SharedVariable:
    """Return a shared variable for one of PyTensor, with the same storage cell."""
    type = convert_type(variable.type)
    cls = _SHARED.get(type.__class__)
    if cls is None:
        raise ValueError(f"The graph depends on the shared variable {variable} of type {variable.type}.")
    container = Container(type, cell, name=variable.name)
    return cls(type=type, value=None, strict=None, container=container, name=variable.name)
