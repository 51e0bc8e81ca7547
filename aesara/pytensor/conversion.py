"""From graphs of PyTensor to ours: the functions for each Op, by its class, and what goes through a graph with them."""

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
    """Build what a node of PyTensor computes.

    Register a function for an Op's class to convert it; without one, nodes of the Op run in Python by the Op's own
    ``perform``.

    Parameters
    ----------
    op : pytensor.graph.op.Op
        The node's Op; the function is chosen by its class.
    node : pytensor.graph.basic.Apply
        The node in PyTensor's graph.
    inputs : Variable
        What stands for the node's inputs.  PyTensor's scalars are tensors without dimensions here.

    Returns
    -------
    Variable or sequence of Variable
        What stands for the node's outputs, with the same dtypes and numbers of dimensions.

    Examples
    --------
    >>> @convert_op.register(Twice)  # doctest: +SKIP
    ... def _(op, node, x):
    ...     return 2 * x
    """
    named = _NAMED.get(f"{type(op).__module__}.{type(op).__qualname__}")
    return perform_in_python(node, inputs) if named is None else named(op, node, *inputs)


#: functions for Ops of libraries that are not loaded because of them, by the names of their classes
_NAMED: dict[str, Callable[..., Any]] = {}


def convert_op_named(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for an Op's class as `convert_op` does, by the name of the class and its module."""
    return partial(_NAMED.setdefault, name)


def perform_in_python(node: PyTensorApply, inputs: Sequence[Variable]) -> Sequence[Variable]:
    """Run the node in Python, by its Op's own ``perform``."""
    symbolic = [i for i, x in enumerate(inputs) if isinstance(x, Variable)]
    types = [convert_type(output.type) for output in node.outputs]
    return PerformOp(node, symbolic, types)(*[inputs[i] for i in symbolic], return_list=True)


def as_list(made: Any) -> list[Any]:
    """Return the result of `convert_op` as a list."""
    return list(made) if isinstance(made, list | tuple) else [made]


def _lengths(type: Any) -> tuple[int | None, ...]:
    """The static shape of one of PyTensor's types; it may have lengths below 0, where a call can only fail."""
    return tuple(None if length is None or length < 0 else length for length in type.shape)


def convert_type(type: Any) -> Any:
    """The type here of PyTensor's variables of a type."""
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
    """A constant; slices and None are themselves."""
    if variable.data is None or isinstance(variable.type, NoneTypeT | SliceType):
        return variable.data
    type = convert_type(variable.type)
    if isinstance(variable.type, ScalarType):
        return type.make_constant(np.asarray(variable.data, type.dtype))
    made = type.make_constant(variable.data)
    made.name = variable.name
    return made


_SHARED: dict[type, type[SharedVariable]] = {
    at.TensorType: TensorSharedVariable,
    RandomGeneratorType: RandomGeneratorSharedVariable,
}


def _convert_node(node: PyTensorApply, inputs: Sequence[Any]) -> list[Any]:
    """Convert a node: return our variables for its outputs. Variants of an Op that we do not have run in Python.

    So does what is refused for values or shapes that are known: PyTensor raises its error when the node is computed.
    """
    try:
        return as_list(convert_op(node.op, node, *inputs))
    except (NotImplementedError, ValueError, IndexError):
        return as_list(perform_in_python(node, inputs))


def _check_outputs(node: PyTensorApply, outputs: list[Any]) -> list[Any]:
    """The outputs of a node, if they are what PyTensor says of them; known sizes are kept."""
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
    given: Mapping[PyTensorVariable, Variable] | None = None,
    lines: Lines | None = None,
) -> tuple[list[Any], list[Any]]:
    """Convert a graph of PyTensor.

    Parameters
    ----------
    inputs, outputs : sequence of pytensor.graph.basic.Variable
        The graph. Shared variables that are no inputs become shared variables with the same values: what one side
        sets, the other sees.
    given : mapping, optional
        What stands for some of the inputs; the others get variables of their own.
    lines : Lines, optional
        What says to which lines of the program nodes belong; by default what PyTensor has kept of these.

    Returns
    -------
    inputs, outputs : list of Variable
        The graph here.

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
    known: dict[PyTensorVariable, Any] = dict(given or {})
    lines = Lines() if lines is None else lines
    for variable in inputs:
        if variable not in known:
            known[variable] = convert_type(variable.type)(name=variable.name)
    ours = [known[variable] for variable in inputs]
    # What can only be None is None in the graph, also where it comes as an argument.
    known.update({variable: None for variable in inputs if isinstance(variable.type, NoneTypeT)})
    for node in toposort(outputs, blockers=inputs):
        for variable in node.inputs:
            if variable not in known:
                known[variable] = _leaf(variable)
        source = lines.source_of(node)
        with nullcontext() if source is None else inherit_source(source):
            made = _check_outputs(node, _convert_node(node, [known[variable] for variable in node.inputs]))
        for old, new in zip(node.outputs, made):
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
    """Return whether a variable is shared and can share its cell with a tensor of ours."""
    return isinstance(variable, PyTensorSharedVariable) and type(convert_type(variable.type)) is at.TensorType


def shared_with_cell(variable: PyTensorVariable, cell: list[Any]) -> SharedVariable:
    """A shared variable for one of PyTensor's whose value is in a cell, which both have."""
    type = convert_type(variable.type)
    kind = _SHARED.get(type.__class__)
    if kind is None:
        raise ValueError(f"The graph depends on the shared variable {variable} of type {variable.type}.")
    container = Container(type, cell, name=variable.name)
    return kind(type=type, value=None, strict=None, container=container, name=variable.name)
