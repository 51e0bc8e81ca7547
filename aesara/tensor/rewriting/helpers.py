"""Predicates of variables for conditions of rules, and the shapes and dtypes of replacements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.pattern import fits_in_place
from aesara.scalar.casting import Cast
from aesara.scalar.conditional import Second
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import upcast
from aesara.tensor.core.casting import cast
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.creation.allocation import Alloc
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import second, sub, switch
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.specify_shape import Unbroadcast

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


#: Constants with more elements than this are not searched for a common value.
LARGEST_SEARCHED = 10_000


def dtype_of(var: Variable) -> str:
    """Return the dtype of a variable, or "" if its type has none, as slices, generators and lists.

    Rules that examine the inputs of ops that they do not know use this function: these may be of any type.
    """
    return getattr(var.type, "dtype", "")


def is_float(x: Variable) -> bool:
    """Return whether a variable is a tensor of real floating point numbers."""
    return dtype_of(x)[:5] == "float"


def is_integer(var: Variable) -> bool:
    """Return whether a variable is a tensor of integers."""
    return dtype_of(var)[:3] == "int" or dtype_of(var)[:4] == "uint"


def is_unsigned(var: Variable) -> bool:
    """Return whether a variable is a tensor of unsigned integers, whose opposites wrap around."""
    return dtype_of(var)[:4] == "uint"


def is_complex(var: Variable) -> bool:
    """Return whether a variable is a tensor of complex numbers."""
    return dtype_of(var)[:7] == "complex"


def is_real(x: Variable) -> bool:
    """Return whether a variable is real."""
    return not is_complex(x)


def real_of_same_dtype(x: Variable, out: Variable) -> bool:
    """Return whether `x` is a real floating point tensor of the dtype of the result."""
    return is_float(x) and x.type.dtype == out.type.dtype


def same_floats(x: Variable, y: Variable, out: Variable) -> bool:
    """Return whether two variables are real floating-point tensors of the dtype of the result."""
    return real_of_same_dtype(x, out) and real_of_same_dtype(y, out)


def same_dtype(x: Variable, out: Variable) -> bool:
    """Return whether `x` has the dtype of the result."""
    return x.type.dtype == out.type.dtype


def exponent_value(var: Variable) -> Any:
    """Return the number that an exponent, or a difference of numbers, is known to be; None if unknown."""
    node = var.owner
    if node is None or node.op != sub:
        return common_value(_without_cast(var))
    values = [common_value(_without_cast(v)) for v in node.inputs]
    return None if None in values else np.subtract(*values, dtype=var.type.dtype)


def _without_cast(var: Variable) -> Variable:
    return var.owner.inputs[0] if is_elemwise(var.owner, Cast) else var


def common_value(var: Variable) -> Any:
    """Return the number that all elements of `var` are known to be, or None.

    Ops that only change the shape are looked through. The number keeps its dtype, and may be NaN.
    """
    while not isinstance(var, Constant):
        node = var.owner
        if node is None:
            return None
        op = node.op
        if type(op) is Elemwise:
            # The class is compared first: most ops are no fills, and comparing ops takes longer.
            if type(op.scalar_op) is not Second or op != second or node.inputs[1].type.dtype != var.type.dtype:
                return None
            var = node.inputs[1]
        elif isinstance(op, (DimShuffle, Alloc, Unbroadcast)):
            var = node.inputs[0]
        else:
            return None
    data = var.data
    if not isinstance(data, np.ndarray) or data.dtype.kind not in "biufc":
        return None
    if data.size == 1:
        return data.reshape(())[()]
    return _value_of_array(var, data)


def _value_of_array(var: Constant, data: np.ndarray) -> Any:
    known = getattr(var.tag, "common_value", _UNSEARCHED)
    if known is _UNSEARCHED:
        known = None
        if 0 < data.size <= LARGEST_SEARCHED:
            first = data.flat[0]
            same = np.array_equal(data, np.full(data.shape, first), equal_nan=data.dtype.kind in "fc")
            known = first if same else None
        var.tag.common_value = known
    return known


_UNSEARCHED: object = object()


#: Classes and ops in whose results `common_value` finds a number: the `operands` of rules that look for one.
NUMBERS = [Constant, DimShuffle, Alloc, Unbroadcast, second]


def has_value(var: Variable, number: ArrayLike) -> bool:
    """Return whether all elements of `var` are known to be `number`."""
    value = common_value(var)
    return value is not None and bool(value == number)


def output_of(var: Variable, op: Op | type[Op]) -> Apply | None:
    """Return the node that computes `var` if its op is `op`, or an instance of the class `op`."""
    node = var.owner
    if node is None:
        return None
    if isinstance(op, type):
        return node if isinstance(node.op, op) else None
    return node if node.op == op else None


def without_shuffles(var: Variable, *classes: type) -> Variable:
    """Return the variable before dimensions were moved, or before ops of further classes; `var` if there are none."""
    while var.owner is not None and isinstance(var.owner.op, (DimShuffle, *classes)):
        var = var.owner.inputs[0]
    return var


def op_class(node: Apply) -> type:
    """Return the class of an op, or of the scalar op of an elementwise one: faster to compare than ops are."""
    op = node.op
    return type(op.scalar_op) if type(op) is Elemwise else type(op)


def is_read_once(node: Apply, fgraph: FunctionGraph) -> bool:
    """Return whether the first output of a node has a single client."""
    return len(fgraph.clients[node.outputs[0]]) == 1


def is_elemwise(
    node: Apply | None, scalar_class: type[ScalarOp] | tuple[type[ScalarOp], ...] | None = None
) -> TypeGuard[Apply]:
    """Return whether a node is elementwise (with a scalar op of the given class or classes)."""
    if node is None or not isinstance(node.op, Elemwise):
        return False
    return scalar_class is None or isinstance(node.op.scalar_op, scalar_class)


def same_elements(first: Variable, second_: Variable) -> bool:
    """Return whether two variables are the same, or equal constants."""
    if first is second_:
        return True
    return isinstance(first, Constant) and isinstance(second_, Constant) and first.equals(second_)


def fits_within(small: Variable, other: Variable) -> bool:
    """Return whether a tensor is known to broadcast to the shape of another, without lengthening it."""
    n_new = other.type.ndim - small.type.ndim
    return n_new >= 0 and all(
        n == 1 or (n is not None and n == m) for n, m in zip(small.type.shape, other.type.shape[n_new:])
    )


def has_shape_of(var: Variable, out: Variable) -> bool:
    """Return whether, by the types, `var` is not broadcast along a dimension of `out`."""
    return var.type.ndim == out.type.ndim and all(n != 1 or m == 1 for n, m in zip(var.type.shape, out.type.shape))


def shaped_like_inputs(new: Any, out: Variable, inputs: Iterable[Variable]) -> Variable:
    """Broadcast `new` to the shape of `out`, an elementwise result of `inputs`.

    Dimensions in which `new` has length one are filled from inputs that are longer.
    """
    target = out.type.shape
    if new.type.ndim < len(target):
        new = new.dimshuffle(*(["x"] * (len(target) - new.type.ndim)), *range(new.type.ndim))
    for template in inputs:
        missing = [i for i, n in enumerate(new.type.shape) if n == 1 and target[i] != 1]
        if not missing:
            break
        shape = template.type.shape
        if len(shape) == len(target) and any(shape[i] != 1 for i in missing):
            new = second(template, new)
    return new


def in_place_of(out: Variable, new: Variable | None, inputs: Iterable[Variable] = ()) -> list[Variable] | None:
    """Return the result of a rule that replaces `out` with `new`, in the dtype and shape of `out`.

    Parameters
    ----------
    out
        The variable to replace.
    new
        The replacement, which is cast if its dtype differs; None for a rule that does not apply.
    inputs
        The inputs of the elementwise expression, to which `new` is broadcast if it has fewer elements than `out`.

    Returns
    -------
    list of one Variable, or None if the type of `new` does not fit.
    """
    if new is None:
        return None
    if new.type.dtype != out.type.dtype:
        new = cast(new, out.type.dtype)
    if new.type.shape != out.type.shape:
        new = shaped_like_inputs(new, out, inputs)
    fitting = fits_in_place(out, new)
    return None if fitting is None else [fitting]


def outputs_in_place_of(node: Apply, new: Sequence[Variable]) -> list[Variable] | None:
    """Return the result of a rule that replaces all outputs of a node; None if one of them cannot be replaced."""
    fitting = [in_place_of(*pair) for pair in zip(node.outputs, new)]
    return None if None in fitting else [replacement[0] for replacement in fitting if replacement]


def apply_or_none(op: Callable[..., Variable], *inputs: TensorLike) -> Variable | None:
    """Return the result of an op, or of a function that applies one, or None if the op refuses its inputs.

    Shapes are known better than when the graph was built, so a rule may find that a position is out of range, or that a
    value does not fit. It then does not apply, and the call of the function raises the error.
    """
    try:
        return op(*inputs)
    except (IndexError, ValueError):
        return None


def as_dtype(var: Variable, dtype: str) -> Variable:
    """Return a variable cast to a dtype, or itself if it has it."""
    return var if var.type.dtype == dtype else cast(var, dtype)


def computed_in(dtype: str, op: Callable[..., Variable], operands: Sequence[Variable]) -> Variable:
    """Apply an arithmetic operation in the dtype of the expression that its operands come from.

    An elementwise operation casts its operands to the dtype of its result. A rule that moves operands from one
    operation to another must keep that dtype: the operands alone may promote to a narrower one, in which integers wrap
    around, booleans have no difference, and digits are lost.

    Parameters
    ----------
    dtype
        The dtype of the computation and of the result.
    op
        An operation of numbers whose result has the dtype that the operands promote to.
    operands
        Its operands, of any dtypes that promote to `dtype` or to less.

    Examples
    --------
    >>> x = at.vector("x", dtype="uint8")
    >>> computed_in("int16", at.neg, [x]).owner.inputs[0].owner.op
    Elemwise{Cast{int16}}
    """
    dtypes = [var.type.dtype for var in operands]
    if any(operand_dtype != dtype for operand_dtype in dtypes) and upcast(*dtypes) != dtype:
        operands = [as_dtype(var, dtype) for var in operands]
    return op(*operands)


def combined_in(dtype: str, op: Callable[..., Variable], operands: Sequence[Variable]) -> Variable:
    """Return the sum or product of one or more operands, in the dtype of the expression that they come from."""
    return as_dtype(operands[0], dtype) if len(operands) == 1 else computed_in(dtype, op, operands)


def constant_in_place_of(out: Variable, value: ArrayLike, inputs: Iterable[Variable]) -> list[Variable] | None:
    """Return the result of a rule that replaces `out` with a number everywhere."""
    return in_place_of(out, constant_like(value, out), inputs)


def constant_like(value: ArrayLike, out: Variable) -> Variable:
    """Return a number as a constant of the dtype and number of dimensions of `out`."""
    with np.errstate(all="ignore"):
        array = np.asarray(value).astype(out.type.dtype)
    return constant(array.reshape((1,) * out.type.ndim))


def as_float(x: Variable, out: Variable) -> Variable:
    """Return `x` in the dtype of the result."""
    return as_dtype(x, out.type.dtype)


def where_or_nan(condition: Variable, x: Variable, out: Variable) -> Variable:
    """Return `x` where the condition holds and NaN elsewhere, in the dtype of `out`."""
    return switch(condition, as_float(x, out), np.asarray(np.nan, dtype=out.type.dtype))
