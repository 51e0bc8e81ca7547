"""Values of symbolic scalars that can be read off the graph.

A symbolic size, index or fill value is often a constant in disguise: a cast of a
constant, an entry of a static shape, a sum of two constants.  Each op that can
hand a constant through registers a rule in `constant_of_output`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.scalar import ScalarOp, add, mul, scalar_maximum, scalar_minimum, second
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.scalar_conversion import ScalarFromTensor, TensorFromScalar
from aesara.tensor.core.tensor_like import IntegerLike, TensorLike
from aesara.tensor.core.vector_length import entries_of, get_vector_length
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.shapes.dimshuffle import DimShuffle

__all__ = ["extract_constant", "get_scalar_constant_value"]


def get_scalar_constant_value(
    orig_v: TensorLike,
    elemwise: bool = True,
    only_process_constants: bool = False,
    max_recur: int = 10,
) -> Any:
    """Return the one value that all entries of `orig_v` are known to have.

    Parameters
    ----------
    orig_v
        A variable, an array or a number.
    elemwise
        Whether elementwise operations on constants are evaluated.
    only_process_constants
        Whether only constants are read, not expressions.
    max_recur
        How many nested elementwise operations are evaluated at most.

    Returns
    -------
    numpy.ndarray
        A zero-dimensional array; None for the constant None (`NoneConst`).

    Raises
    ------
    NotScalarConstantError
        If the value is not known, or the entries differ.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> get_scalar_constant_value(at.alloc(3, at.lscalar("n")))
    array(3, dtype=int8)
    """
    variable = orig_v
    while isinstance(variable, Variable):
        if isinstance(variable, Constant):
            return None if variable.data is None else _common_value(variable.data, variable)
        node = variable.owner
        if only_process_constants or node is None:
            raise NotScalarConstantError(f"{orig_v} has no known constant value.")
        if isinstance(node.op, Elemwise) and not elemwise:
            known = None
        else:
            known = constant_of_output(node.op, node, variable, max_recur)
        if known is None:
            raise NotScalarConstantError(f"{orig_v} has no known constant value.")
        variable = known
    if variable is None:
        raise NotScalarConstantError("None is not a scalar constant.")
    return _common_value(variable, orig_v)


def _common_value(data: Any, source: Any) -> np.ndarray:
    """Return the entry of `data` as a 0-d array if all of its entries are the same."""
    if isinstance(data, slice):
        raise NotScalarConstantError(f"{source} is not a number.")
    try:
        values = np.asarray(data)
    except ValueError as error:
        raise NotScalarConstantError(f"{source} is not a number.") from error
    if values.dtype.kind in "OUS" or values.size == 0:
        raise NotScalarConstantError(f"{source} is not a numeric scalar.")
    if values.ndim == 0:
        return values.copy()
    first = values.flat[0]
    # 0.0 == -0.0, but they are different constants.
    if np.all(values == first) and (first != 0 or values.tobytes() == first.tobytes() * values.size):
        return np.asarray(first, dtype=values.dtype)
    raise NotScalarConstantError(f"The entries of {source} differ.")


@singledispatch
def constant_of_output(op: Op, node: Apply, output: Variable, max_recur: int) -> Variable | np.ndarray | int | None:
    """Return a value that all entries of `output` equal.

    The result is a number, another variable with the same value (to which the deduction is applied again), or None if
    nothing is known.
    """
    return None


def follow_input(position: int) -> Callable:
    """Return a rule for ops whose output consists of entries of the input at `position`."""

    def rule(op: Op, node: Apply, output: Variable, max_recur: int) -> Variable:
        return node.inputs[position]

    return rule


for _op_class in (DimShuffle, ScalarFromTensor, TensorFromScalar):
    constant_of_output.register(_op_class)(follow_input(0))


@constant_of_output.register(Elemwise)
def _constant_of_elemwise(op, node, output, max_recur):
    return _constant_of_scalar_op(op.scalar_op, node, output, max_recur)


@constant_of_output.register(ScalarOp)
def _constant_of_scalar_op(op, node, output, max_recur):
    if op == second:
        # `second` takes only the shape of its first operand.
        return node.inputs[1]
    if max_recur <= 0 or len(node.outputs) != 1:
        return None
    operands = []
    for operand in node.inputs:
        try:
            operands.append(get_scalar_constant_value(operand, max_recur=max_recur - 1))
        except NotScalarConstantError:
            return None
    value = op.impl(*(operand[()] for operand in operands))
    return np.asarray(value, dtype=output.type.dtype)


def extract_constant(x: TensorLike, elemwise: bool = True, only_process_constants: bool = False) -> Any:
    """Return the constant value of `x` if it is known, and `x` itself otherwise.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> extract_constant(at.constant(2))
    array(2, dtype=int8)
    """
    try:
        return get_scalar_constant_value(x, elemwise, only_process_constants)
    except NotScalarConstantError:
        return x


def known_integer(x: TensorLike, max_recur: int = 10) -> int | None:
    """Return the integer that `x` is known to be, None when it is not known.

    At most `max_recur` nested expressions are evaluated.
    """
    if isinstance(x, (int, np.integer)):
        return int(x)
    if isinstance(x, Variable) and x.owner is None and not isinstance(x, Constant):
        return None
    try:
        value = get_scalar_constant_value(x, max_recur=max_recur)
    except NotScalarConstantError:
        return None
    return int(value) if value.dtype.kind in "iub" else None


def infer_static_shape(
    shape: Variable | Sequence[IntegerLike],
) -> tuple[list[Variable], tuple[int | None, ...]]:
    """Split a shape into symbolic sizes and a static shape.

    Parameters
    ----------
    shape
        A vector of known length, a scalar, or a sequence of integer scalars.

    Returns
    -------
    sizes
        One integer scalar variable for each dimension.
    static_shape
        For each dimension its size, or None when it is known at run time only.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> infer_static_shape((at.lscalar("n"), 3))[1]
    (None, 3)
    """
    sizes = [as_size(size) for size in _as_sequence_of_sizes(shape)]
    static_shape = tuple(known_integer(size) for size in sizes)
    for size in static_shape:
        if size is not None and size < 0:
            raise ValueError(f"Sizes cannot be negative, got {size} in {static_shape}.")
    return sizes, static_shape


def with_open_lengths(static_shape: Sequence[int | None], n: int) -> tuple[int | None, ...]:
    """Return a static shape with the lengths of the last n dimensions unknown.

    Examples
    --------
    >>> with_open_lengths((2, 3, 4), 1)
    (2, 3, None)
    """
    n_kept = max(len(static_shape) - n, 0)
    return (*static_shape[:n_kept], *(None for _ in static_shape[n_kept:]))


def _as_sequence_of_sizes(shape: Any) -> Sequence[Any]:
    if isinstance(shape, (int, np.integer)):
        return (shape,)
    if isinstance(shape, np.ndarray):
        return (shape[()],) if shape.ndim == 0 else list(shape)
    if isinstance(shape, Variable):
        if getattr(shape.type, "ndim", 0) == 0:
            return (shape,)
        return entries_of(shape, get_vector_length(shape))
    return shape


def as_size(size: TensorLike) -> Variable:
    """Return `size` as a symbolic integer scalar.

    Raises
    ------
    TypeError
        If `size` is not an integer or not a scalar.
    """
    variable = as_tensor_variable(size, ndim=0)
    if np.dtype(variable.type.dtype).kind not in "iu":
        raise TypeError(f"Shapes must be scalar integers; got {size!r}.")
    return variable


def known_entries(vector: Variable, depth: int = 10) -> list[int | None] | None:
    """Return the known entries of an integer vector, with None for unknown ones.

    Parameters
    ----------
    vector
        The vector.
    depth
        The largest depth of nested expressions.

    Returns
    -------
    list or None
        One integer or None for each entry; None when even the length is unknown.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> known_entries(at.tensor("float64", shape=(None, 3)).shape)
    [None, 3]
    """
    if isinstance(vector, Constant):
        return [int(entry) for entry in vector.data]
    if vector.owner is not None and depth > 0:
        entries = entries_of_output(vector.owner.op, vector.owner, depth)
        if entries is not None:
            return entries
    try:
        return [None] * get_vector_length(vector)
    except ValueError:
        return None


@singledispatch
def entries_of_output(op: Op, node: Apply, depth: int) -> list[int | None] | None:
    """Return the known entries of the integer vector that `node` computes.

    Rules that examine an input recursively pass a smaller `depth`.
    """
    return None


@entries_of_output.register(MakeVector)
def _entries_of_make_vector(op, node, depth):
    return [known_integer(entry, depth - 1) for entry in node.inputs]


@entries_of_output.register(Elemwise)
def _entries_of_elemwise(op, node, depth):
    (output, *others) = node.outputs
    if others or output.type.ndim != 1 or output.type.shape[0] is None:
        return None
    if any(np.dtype(operand.type.dtype).kind not in "iub" for operand in (*node.inputs, output)):
        return None
    length = output.type.shape[0]
    columns = []
    for operand in node.inputs:
        if operand.type.shape == (1,) != output.type.shape:
            columns.append([known_integer(operand, depth - 1)] * length)
        else:
            columns.append(known_entries(operand, depth - 1) or [None] * length)
    return [
        None if None in operands else int(np.asarray(op.scalar_op.impl(*operands), dtype=output.type.dtype))
        for operands in zip(*columns)
    ]


@entries_of_output.register(DimShuffle)
def _entries_of_dimshuffle(op, node, depth):
    (x,) = node.inputs
    if x.type.ndim == 0 and op.new_order == ("x",):
        return [known_integer(x, depth - 1)]
    return None


@constant_of_output.register(CAReduce)
def _constant_of_reduction(op, node, output, max_recur):
    (x,) = node.inputs
    if x.type.ndim != 1 or output.type.ndim != 0 or x.type.dtype not in discrete_dtypes or max_recur <= 0:
        return None
    entries = known_entries(x, max_recur - 1)
    if entries is None or None in entries:
        return None
    values = np.asarray(entries, dtype=op.accumulator_dtype(x.type.dtype))
    if op.scalar_op == add:
        return np.asarray(values.sum(dtype=values.dtype))
    if op.scalar_op == mul:
        return np.asarray(values.prod(dtype=values.dtype))
    if op.scalar_op in (scalar_maximum, scalar_minimum) and entries:
        return np.asarray(values.max() if op.scalar_op == scalar_maximum else values.min())
    return None
