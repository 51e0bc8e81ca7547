"""Searching sorted tensors, unique entries, counting."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any, Literal, overload

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.dtypes import discrete_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.elementwise.ops import ge, maximum
from aesara.tensor.indexing.inc_subtensor import inc_subtensor
from aesara.tensor.indexing.subtensor_advanced import advanced_inc_subtensor1
from aesara.tensor.joining.join_split import join
from aesara.tensor.reductions.all_any import all as all_true
from aesara.tensor.reductions.sum_prod_max import max as largest
from aesara.tensor.shapes.rearranging import flatten, normalize_axes
from aesara.tensor.shapes.reshape import reshape
from aesara.tensor.shapes.shape import Shape_i, shape

__all__ = ["bincount", "searchsorted", "unique"]


class SearchsortedOp(Op):
    """Positions at which values are inserted into a sorted vector to keep it sorted.

    Inputs are the vector, the values and, optionally, a permutation that sorts the vector.

    Parameters
    ----------
    side
        ``"left"``, or ``"right"``: after entries that are equal.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> SearchsortedOp()(at.vector("x"), at.matrix("v")).dtype
    'int64'
    """

    __props__ = ("side",)

    def __init__(self, side: str = "left"):
        if side not in ("left", "right"):
            raise ValueError(f"'{side}' is an invalid value for keyword 'side': use 'left' or 'right'.")
        self.side = side

    def make_node(self, x: Any, v: Any, sorter: TensorLike | None = None) -> Apply:
        x = as_tensor_variable(x)
        if x.type.ndim != 1:
            raise ValueError(f"The tensor that is searched must be a vector; got {x.type}.")
        v = as_tensor_variable(v)
        inputs = [x, v]
        if sorter is not None:
            sorter = as_tensor_variable(sorter)
            if sorter.type.ndim != 1:
                raise ValueError(f"`sorter` must be a vector; got {sorter.type}.")
            if sorter.type.dtype not in integer_dtypes:
                raise TypeError(f"`sorter` must contain integers; got {sorter.type}.")
            (length,), (n_positions,) = x.type.shape, sorter.type.shape
            if length is not None and n_positions is not None and length != n_positions:
                raise ValueError(f"`sorter` must have an entry for each of x: expected {length}, got {n_positions}.")
            inputs.append(sorter)
        return Apply(self, inputs, [tensor_type("int64", v.type.shape)()])

    def perform(self, node, inputs, output_storage):
        x, v, *rest = inputs
        sorter = rest[0].astype(np.intp) if rest else None
        positions = np.searchsorted(x, v, side=self.side, sorter=sorter)
        output_storage[0][0] = np.asarray(positions, dtype="int64")

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[1]]

    def grad(self, inputs, output_gradients):
        # The derivative of a step function is zero.
        gradients = [value.zeros_like(dtype=_float_of(value)) for value in inputs[:2]]
        return gradients + [DisconnectedType()() for _ in inputs[2:]]

    def connection_pattern(self, node):
        return [[True], [True], [False]][: len(node.inputs)]


def _float_of(value: TensorVariable) -> str:
    return "floatX" if value.type.dtype in discrete_dtypes else value.type.dtype


def searchsorted(x: TensorLike, v: TensorLike, side: str = "left", sorter: TensorLike | None = None) -> TensorVariable:
    """Return where values would have to be inserted to keep a vector sorted.

    Parameters
    ----------
    x
        A vector, sorted unless `sorter` is given.
    v
        The values.
    side
        ``"left"``, or ``"right"``: after entries that are equal.
    sorter
        Integers that sort `x`, as `argsort` returns them.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> searchsorted(at.vector("x"), [0.5, 1.5]).type.shape
    (2,)
    """
    return SearchsortedOp(side=side)(x, v, sorter)


class Unique(Op):
    """The different entries of a tensor, sorted; see `unique`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Unique()(at.matrix("x")).ndim
    1
    """

    __props__ = ("return_index", "return_inverse", "return_counts", "axis")

    def __init__(
        self,
        return_index: bool = False,
        return_inverse: bool = False,
        return_counts: bool = False,
        axis: int | None = None,
    ):
        self.return_index = bool(return_index)
        self.return_inverse = bool(return_inverse)
        self.return_counts = bool(return_counts)
        self.axis = axis

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        if self.axis is None:
            static_shape = (None,)
        else:
            (axis,) = normalize_axes(self.axis, x.type.ndim)
            static_shape = (*x.type.shape[:axis], None, *x.type.shape[axis + 1 :])
        outputs = [tensor_type(x.type.dtype, static_shape)()]
        n_vectors = self.return_index + self.return_inverse + self.return_counts
        outputs += [tensor_type("int64", (None,))() for _ in range(n_vectors)]
        return Apply(self, [x], outputs)

    def perform(self, node, inputs, output_storage):
        results = np.unique(
            inputs[0],
            return_index=self.return_index,
            return_inverse=self.return_inverse,
            return_counts=self.return_counts,
            axis=self.axis,
        )
        if len(node.outputs) == 1:
            results = (results,)
        output_storage[0][0] = results[0]
        for storage, vector in zip(output_storage[1:], results[1:]):
            # Versions of NumPy differ in the shape of the inverse.
            storage[0] = np.asarray(vector, dtype="int64").reshape(-1)

    def infer_shape(self, fgraph, node, input_shapes):
        """Return the shapes; only the number of unique entries depends on values."""
        (lengths,), values = input_shapes, node.outputs[0]
        if self.axis is None:
            axis, shape_of_values, n_entries = 0, [None], reduce(mul, lengths, constant(1, dtype="int64"))
        else:
            axis = self.axis % len(lengths)
            shape_of_values, n_entries = list(lengths), lengths[axis]
        n_different = Shape_i(axis)(values)
        shape_of_values[axis] = n_different
        vectors = [(n_different,)] * self.return_index + [(n_entries,)] * self.return_inverse
        return [tuple(shape_of_values), *vectors, *[(n_different,)] * self.return_counts]

    def connection_pattern(self, node):
        return [[True] + [False] * (len(node.outputs) - 1)]

    def L_op(self, inputs, outputs, output_gradients):
        """Return the gradient; that of each unique entry flows to its first occurrence."""
        (x,) = inputs
        if x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype="floatX")]
        first = Unique(return_index=True, axis=self.axis)(x)[1]
        if self.axis is None:
            filled = inc_subtensor(flatten(x.zeros_like())[first], output_gradients[0])
            return [reshape(filled, shape(x), ndim=x.type.ndim)]
        before = (slice(None),) * (self.axis % x.type.ndim)
        return [inc_subtensor(x.zeros_like()[(*before, first)], output_gradients[0])]


@overload
def unique(ar: TensorLike, *, axis: int | None = None) -> TensorVariable: ...


@overload
def unique(
    ar: TensorLike,
    return_index: bool = ...,
    *,
    return_inverse: Literal[True],
    return_counts: bool = ...,
    axis: int | None = ...,
) -> list[TensorVariable]: ...


@overload
def unique(
    ar: TensorLike,
    return_index: bool = ...,
    return_inverse: bool = ...,
    *,
    return_counts: Literal[True],
    axis: int | None = ...,
) -> list[TensorVariable]: ...


@overload
def unique(
    ar: TensorLike,
    return_index: bool = ...,
    return_inverse: bool = ...,
    return_counts: bool = ...,
    axis: int | None = ...,
) -> TensorVariable | list[TensorVariable]: ...


def unique(
    ar: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> TensorVariable | list[TensorVariable]:
    """Return the different entries of a tensor, sorted.

    Parameters
    ----------
    ar
        The tensor.
    return_index
        Whether the position where each is found first is returned too.
    return_inverse
        Whether the positions that make `ar` again are returned too, as a vector.
    return_counts
        Whether how often each occurs is returned too.
    axis
        Along which dimension different slices are looked for; by default the entries
        of the flattened tensor are.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> values, counts = unique(at.vector("x"), return_counts=True)
    >>> counts.dtype
    'int64'
    """
    return Unique(return_index, return_inverse, return_counts, axis)(ar)


def bincount(
    x: TensorLike, weights: TensorLike | None = None, minlength: TensorLike | None = None, assert_nonneg: bool = False
) -> TensorVariable:
    """Count the occurrences of each integer; see `numpy.bincount`.

    Parameters
    ----------
    x
        A vector of integers that are not negative.
    weights
        The weight of each entry; by default 1.
    minlength
        The smallest length of the result.
    assert_nonneg
        Whether it is checked that no entry is negative.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> bincount(at.lvector("x")).dtype
    'int64'
    """
    x = as_tensor_variable(x)
    if x.type.ndim != 1:
        raise ValueError(f"Only vectors of integers can be counted; got {x.type}.")
    if x.type.dtype not in integer_dtypes:
        raise TypeError(f"Only integers can be counted; got {x.type}.")
    if assert_nonneg:
        x = Assert("Input to bincount has negative values!")(x, all_true(ge(x, 0)))
    # Append -1, so that the maximum of an empty vector exists.
    length = largest(join(0, cast(x, "int64"), constant(np.array([-1])))) + 1
    if minlength is not None:
        length = maximum(length, minlength)
    if weights is None:
        return advanced_inc_subtensor1(zeros([length], dtype="int64"), 1, x)
    weights = as_tensor_variable(weights)
    return advanced_inc_subtensor1(zeros([length], dtype=weights.type.dtype), weights, x)
