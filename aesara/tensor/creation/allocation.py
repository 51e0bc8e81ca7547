"""Creation of tensors of a given shape, filled with a value or uninitialized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.casting import cast, resolve_dtype
from aesara.tensor.core.constant_value import constant_of_output, follow_input, infer_static_shape
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_like import ShapeLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.indexing.selection import fill
from aesara.tensor.shapes.repeated import gradient_of_value
from aesara.tensor.shapes.shape import shape as shape_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


__all__ = ["alloc", "empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]


class Alloc(Op):
    """A tensor of a given shape filled with a value.

    Inputs are the value, which broadcasts, and one integer scalar for each dimension.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Alloc()(at.vector("x"), 3, at.lscalar("n")).type.shape
    (3, None)
    """

    __props__ = ()

    def make_node(self, value: Any, *shape: Any) -> Apply:
        value = as_tensor_variable(value)
        sizes, static_shape = infer_static_shape(shape)
        n_new = len(sizes) - value.type.ndim
        if n_new < 0:
            raise TypeError(
                f"The value to fill with has {value.type.ndim} dimensions, "
                f"more than the {len(sizes)} of the shape asked for."
            )
        lengths = list(static_shape)
        for axis, known in enumerate(value.type.shape):
            asked = lengths[n_new + axis]
            if known is None or known == 1:
                continue
            if asked is not None and asked != known:
                raise ValueError(
                    f"Cannot broadcast a value of shape {value.type.shape} to shape "
                    f"{tuple(lengths)}: expected size {known} in dimension {n_new + axis}, got {asked}."
                )
            lengths[n_new + axis] = known
        output = tensor_type(value.type.dtype, tuple(lengths))()
        return Apply(self, [value, *sizes], [output])

    def perform(self, node, inputs, output_storage):
        value, *sizes = inputs
        filled = np.empty([int(size) for size in sizes], dtype=np.asarray(value).dtype)
        filled[...] = value
        output_storage[0][0] = filled

    def infer_shape(self, fgraph, node, input_shapes):
        return [tuple(node.inputs[1:])]

    def connection_pattern(self, node):
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    def grad(self, inputs, output_gradients):
        value, *sizes = inputs
        (g_out,) = output_gradients
        return [gradient_of_value(value, g_out), *(DisconnectedType()() for _ in sizes)]

    def R_op(self, inputs, eval_points):
        if eval_points[0] is None:
            return [None]
        return self(eval_points[0], *inputs[1:], return_list=True)

    def do_constant_folding(self, fgraph, node):
        """Return False if the array would have to be copied before it is used."""
        clients = fgraph.clients.get(node.outputs[0], ())
        if not clients:
            return False
        for client, position in clients:
            if client == "output":
                # An output must be new memory at each call.
                return False
            if position == 0 and getattr(client.op, "inplace", None) is not None:
                # The client overwrites this tensor, which must not be a constant.
                return False
        return True


alloc = Alloc()
constant_of_output.register(Alloc)(follow_input(0))


class AllocEmpty(Op):
    """An uninitialized tensor of a given shape.

    Parameters
    ----------
    dtype
        The dtype of the tensor.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> AllocEmpty("float32")(2, at.lscalar("n")).type.shape
    (2, None)
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: str):
        if not isinstance(dtype, str):
            raise TypeError(f"AllocEmpty needs the name of a dtype; got {dtype!r}.")
        self.dtype = dtype.lower()

    @property
    def typecode(self) -> int:
        """NumPy's number of the dtype."""
        return np.dtype(self.dtype).num

    def make_node(self, *shape: Any) -> Apply:
        sizes, static_shape = infer_static_shape(shape)
        output = tensor_type(self.dtype, static_shape)()
        # The memory is not initialized, so that no two results have equal values.
        output.tag.values_eq_approx = _always_equal
        return Apply(self, sizes, [output])

    def perform(self, node, inputs, output_storage):
        sizes = [int(size) for size in inputs]
        output_storage[0][0] = np.empty(sizes, dtype=self.dtype)

    def debug_perform(self, node, inputs, output_storage):
        """Compute as `perform` does, but with entries that strike the eye."""
        self.perform(node, inputs, output_storage)
        output_storage[0][0].fill(-123456789 if self.dtype[0] in "fic" else 123)

    def infer_shape(self, fgraph, node, input_shapes):
        return [tuple(node.inputs)]

    def connection_pattern(self, node):
        return [[False]] * len(node.inputs)

    def grad(self, inputs, output_gradients):
        return [DisconnectedType()() for _ in inputs]

    def R_op(self, inputs, eval_points):
        return [None]

    def do_constant_folding(self, fgraph, node):
        return False


def _always_equal(a: TensorLike, b: TensorLike) -> bool:
    return True


def _sizes(shape: Any) -> Sequence[Any]:
    """Return a shape, given as a scalar, a sequence or a vector, as a list of sizes."""
    return infer_static_shape(shape)[0]


def zeros(shape: ShapeLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return a tensor of zeros.

    Parameters
    ----------
    shape
        The sizes: an integer, a sequence of integers and symbolic integers, or a
        symbolic vector of known length.
    dtype
        ``floatX`` by default.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> zeros((2, at.lscalar("n"))).type.shape
    (2, None)
    """
    dtype = config.floatX if dtype is None else resolve_dtype(dtype)
    return alloc(np.array(0, dtype=dtype), *_sizes(shape))


def ones(shape: ShapeLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return a tensor of ones; see `zeros`.

    Examples
    --------
    >>> ones(3).type.shape
    (3,)
    """
    dtype = config.floatX if dtype is None else resolve_dtype(dtype)
    return alloc(np.array(1, dtype=dtype), *_sizes(shape))


def full(shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return a tensor of a given shape filled with a value.

    Parameters
    ----------
    shape
        As for `zeros`.
    fill_value
        The value; it broadcasts to the shape.
    dtype
        By default that of `fill_value`.

    Examples
    --------
    >>> full((2, 2), 7.0, dtype="float32").dtype
    'float32'
    """
    value = as_tensor_variable(fill_value)
    if dtype is not None:
        value = _convert(value, resolve_dtype(dtype))
    return alloc(value, *_sizes(shape))


def _convert(value: TensorVariable, dtype: str) -> TensorVariable:
    data = getattr(value, "data", None)
    return cast(value, dtype) if data is None else constant(np.asarray(data).astype(dtype))


def empty(shape: ShapeLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return a tensor with entries that mean nothing; see `zeros`.

    Examples
    --------
    >>> empty((2, 3)).type.shape
    (2, 3)
    """
    dtype = config.floatX if dtype is None else resolve_dtype(dtype)
    return AllocEmpty(dtype)(*_sizes(shape))


def zeros_like(model: Any, dtype: DTypeLike | None = None, opt: bool = False) -> TensorVariable:
    """Return zeros in the shape of a tensor.

    Parameters
    ----------
    model
        The tensor.
    dtype
        By default that of `model`.
    opt
        Whether a constant may be returned where it has the type of `model`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> zeros_like(at.lmatrix("x")).dtype
    'int64'
    """
    return _constant_like(model, 0, dtype, opt)


def ones_like(model: Any, dtype: Any = None, opt: bool = False) -> TensorVariable:
    """Return ones in the shape of a tensor; see `zeros_like`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> ones_like(at.matrix("x"), dtype="int8").dtype
    'int8'
    """
    return _constant_like(model, 1, dtype, opt)


def _constant_like(model: TensorLike, value: int, dtype: Any, opt: bool) -> TensorVariable:
    model = as_tensor_variable(model)
    dtype = model.type.dtype if dtype is None else resolve_dtype(dtype)
    filling = constant(np.array(value, dtype=dtype))
    if opt and filling.type == model.type:
        return filling
    return fill(model, filling)


def full_like(a: TensorLike, fill_value: TensorLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return a tensor in the shape of another, filled with a value.

    Parameters
    ----------
    a
        The tensor with the shape.
    fill_value
        The value.
    dtype
        By default that of `fill_value`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> full_like(at.vector("x"), 2.0, dtype="float64").dtype
    'float64'
    """
    value = as_tensor_variable(fill_value)
    if dtype is not None:
        value = _convert(value, resolve_dtype(dtype))
    return fill(as_tensor_variable(a), value)


def empty_like(prototype: TensorLike, dtype: DTypeLike | None = None) -> TensorVariable:
    """Return a tensor like another one, with entries that mean nothing.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> empty_like(at.matrix("x")).ndim
    2
    """
    prototype = as_tensor_variable(prototype)
    dtype = prototype.type.dtype if dtype is None else resolve_dtype(dtype)
    symbolic = shape_of(prototype)
    return empty([symbolic[axis] for axis in range(prototype.type.ndim)], dtype)
