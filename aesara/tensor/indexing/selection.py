"""Choosing between tensors: by a condition, by position, by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.pullback import grad_not_implemented
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.elementwise.ops import eq, identity, second, switch

__all__ = ["default", "fill", "tensor_copy", "where"]


fill = second
"""``fill(a, b)``: the entries of `b`, broadcast with `a`; also called ``second``."""

where = switch
"""``where(condition, a, b)``: `a` where `condition` holds, else `b`; also ``switch``."""

tensor_copy = identity
"""A copy of a tensor."""


class Default(Op):
    """The first input, or the second input if the first is None.

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

    def grad(self, inputs, output_gradients):
        comment = "Which of the two inputs it returns is known only when it is computed."
        return [grad_not_implemented(self, position, x, comment) for position, x in enumerate(inputs)]


default = Default()


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
            raise ValueError(
                f"Shapes {[tuple(shape) for shape in shapes]} cannot be broadcast together: sizes must be equal, or 1."
            )
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
                # A size of 1 is broadcast to any other, also to 0.
                common = switch(eq(common, 1), size, common)
        result.append(common)
    return tuple(result)
