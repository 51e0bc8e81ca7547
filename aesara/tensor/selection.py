"""Choosing between tensors: by a condition, by position, by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.tensor.conversion import as_tensor_variable
from aesara.tensor.elementwise_ops import eq, identity, second, switch
from aesara.tensor.type import discrete_dtypes, tensor_type

__all__ = [
    "Choose",
    "Default",
    "choose",
    "default",
    "fill",
    "second",
    "switch",
    "tensor_copy",
    "where",
]


fill = second
"""``fill(a, b)``: the entries of `b`, broadcast with `a`; also called ``second``."""

where = switch
"""``where(condition, a, b)``: `a` where `condition` holds, else `b`; also ``switch``."""

tensor_copy = identity
"""A copy of a tensor."""


class Default(Op):
    """The first input, or the second where the first is None.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> Default()(at.vector("x"), at.vector("y")).ndim
    1
    """

    __props__ = ()
    view_map = {0: [0]}

    def make_node(self, x: Any, default: Any) -> Apply:
        x, default = as_tensor_variable(x), as_tensor_variable(default)
        if not x.type.in_same_class(default.type):
            raise TypeError(f"Both arguments of `default` must have the same type; got {x.type} and {default.type}.")
        return Apply(self, [x, default], [default.type()])

    def perform(self, node, inputs, output_storage):
        x, default_value = inputs
        output_storage[0][0] = default_value.copy() if x is None else x


default = Default()


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
            raise ValueError(f"Choose: an index is out of range; there are {n_choices} choices.")
        return a

    def infer_shape(self, fgraph, node, input_shapes):
        a_shape, choices_shape = input_shapes
        a, choices = node.inputs
        return [broadcast_sizes((a_shape, a.type.shape), (choices_shape[1:], choices.type.shape[1:]))]


def static_broadcast(*shapes: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return the static shape that tensors of static shapes broadcast to.

    Examples
    --------
    >>> static_broadcast((3, 1), (None, None))
    (3, None)
    """
    ndim = max((len(shape) for shape in shapes), default=0)
    result: list[int | None] = []
    for axis in range(-ndim, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis}
        known = sizes - {None, 1}
        if len(known) > 1:
            raise ValueError(f"Shapes {shapes} cannot be broadcast together.")
        if known:
            result.append(known.pop())
        else:
            result.append(None if None in sizes else 1)
    return tuple(result)


def broadcast_sizes(*shapes: tuple[Sequence[Any], Sequence[int | None]]) -> tuple[Any, ...]:
    """Return the symbolic sizes that tensors broadcast to.

    Each argument is a pair of the symbolic sizes of one tensor and its static shape.

    Examples
    --------
    >>> broadcast_sizes((("n", "m"), (None, 1)), (("k",), (3,)))
    ('n', 'k')
    """
    ndim = max(len(sizes) for sizes, _ in shapes)
    result = []
    for axis in range(-ndim, 0):
        candidates = [(s[axis], known[axis]) for s, known in shapes if len(s) >= -axis]
        known_sizes = [size for size, known in candidates if known not in (None, 1)]
        unknown = [size for size, known in candidates if known is None]
        if known_sizes or not unknown:
            result.append((known_sizes or [size for size, _ in candidates])[0])
            continue
        common = unknown[0]
        for size in unknown[1:]:
            if size is not common:
                # A size of one gives way to any other, zero included.
                common = switch(eq(common, 1), size, common)
        result.append(common)
    return tuple(result)


def choose(a: Any, choices: Any, mode: str = "raise") -> Variable:
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
