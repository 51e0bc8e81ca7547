"""Choosing each entry of a tensor among several."""

from __future__ import annotations

from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros_like
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import clip, eq, ge, lt, mod, switch
from aesara.tensor.indexing.selection import broadcast_sizes, static_broadcast
from aesara.tensor.shapes.broadcasting import broadcast_to_, summed_to
from aesara.tensor.shapes.shape import shape_tuple
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = ["choose"]

_OUT_OF_RANGE = "Choose: an index is out of range"


class Choose(Op):
    """Take each entry from the choice that an index tensor names.

    Parameters
    ----------
    mode
        What happens to an index out of range: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Choose("raise")(at.lvector("a"), at.matrix("choices")).ndim
    1
    """

    __props__ = ("mode",)

    def __init__(self, mode: str):
        if mode not in ("raise", "wrap", "clip"):
            raise ValueError(f"mode must be 'raise', 'wrap' or 'clip'; got {mode!r}.")
        self.mode = mode

    def make_node(self, a: Any, choices: Any) -> Apply:
        a = as_tensor_variable(a)
        if a.type.dtype not in discrete_dtypes:
            raise TypeError(f"The first argument of `choose` must be integers; got {a.type}.")
        choices = as_tensor_variable(choices)
        if choices.type.ndim == 0:
            raise TypeError("The choices must have at least one dimension.")
        shape = static_broadcast(a.type.shape, choices.type.shape[1:])
        return Apply(self, [a, choices], [tensor_type(choices.type.dtype, shape)()])

    def perform(self, node, inputs, output_storage):
        a, choices = inputs
        # NumPy limits the number of choices of `choose`; indexing does not.
        indices = self._checked_indices(a, len(choices))
        shape = np.broadcast_shapes(a.shape, choices.shape[1:])
        stacked = np.broadcast_to(
            choices.reshape((len(choices),) + (1,) * (len(shape) - choices.ndim + 1) + choices.shape[1:]),
            (len(choices), *shape),
        )
        indices = np.broadcast_to(indices, shape)
        output_storage[0][0] = np.take_along_axis(stacked, indices[None], axis=0)[0]

    def _checked_indices(self, a: np.ndarray, n_choices: int) -> np.ndarray:
        a = a.astype("int64")
        if self.mode == "wrap":
            return a % max(n_choices, 1)
        if self.mode == "clip":
            return np.clip(a, 0, n_choices - 1)
        if a.size and (a.min() < 0 or a.max() >= n_choices):
            raise ValueError(f"{_OUT_OF_RANGE}; there are {n_choices} choices.")
        return a

    def L_op(self, inputs, outputs, output_gradients):
        a, choices = inputs
        if choices.type.dtype in discrete_dtypes:
            return [DisconnectedType()(), choices.zeros_like(dtype="floatX")]
        (g,) = output_gradients
        count = choices.shape[0]
        if self.mode == "wrap":
            a = mod(a, count)
        elif self.mode == "clip":
            a = clip(a, 0, count - 1)
        else:
            # Check here, because the gradient may be computed without the forward op.
            a = CheckAndRaise(ValueError, _OUT_OF_RANGE)(a, ge(a, 0), lt(a, count))
        if None in a.type.shape:
            a = broadcast_to_(a, *shape_tuple(outputs[0]))  # a length may turn out to be 1
        # Add a first dimension; the gradient is at the chosen positions, and other entries are zero.
        positions = arange(count).dimshuffle(0, *["x"] * g.type.ndim)
        g_choices = switch(eq(positions, a), g, zeros_like(g))
        new = range(1, 1 + g_choices.type.ndim - choices.type.ndim)
        if new:
            g_choices = g_choices.sum(axis=list(new))
        return [DisconnectedType()(), specify_shape(summed_to(g_choices, choices), choices.type.shape)]

    def connection_pattern(self, node):
        return [[False], [True]]

    def infer_shape(self, fgraph, node, input_shapes):
        a_shape, choices_shape = input_shapes
        a, choices = node.inputs
        return [broadcast_sizes((a_shape, a.type.shape), (choices_shape[1:], choices.type.shape[1:]))]


def choose(a: TensorLike, choices: Any, mode: str = "raise") -> TensorVariable:
    """Take each entry from the choice that `a` names; see `numpy.choose`.

    Parameters
    ----------
    a
        Integers.
    choices
        The choices, along the first dimension; a list of tensors is stacked.
    mode
        What happens to an index out of range: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> choose(at.lvector("a"), at.matrix("choices")).dtype
    'float64'
    """
    return Choose(mode)(a, choices)
