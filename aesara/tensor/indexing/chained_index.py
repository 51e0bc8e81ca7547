"""Composition of successive indices of the same dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.scalar import int64 as scalar_int64
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import IndexEntry, TensorLike
from aesara.tensor.indexing.index_forms import (
    as_nontensor_scalar,
    get_slice_elements,
    index_vars_to_types,
    indices_from_subtensor,
)
from aesara.tensor.indexing.subtensor_basic import template_text


class ChainedIndex(Op):
    """The composition of index entries: for ``x[a:][:b][i]``, the `k` with ``x[k]``.

    Inputs are the tensor, of which only a length is used, and the scalars of the entries that are not None, in order.
    The output is a nonnegative position, or the start, stop and step of a slice.

    Parameters
    ----------
    entries
        The template of each entry: slices, of which the last may also be an integer.
    dimension
        The dimension of the tensor.
    axis
        The dimension of the part that the last entry indexes; errors name it.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara.scalar import int64
    >>> part = ChainedIndex([slice(int64, None), slice(None, int64)])(at.zeros(10), 2, -3)
    >>> [int(scalar) for scalar in aesara.function([], part, mode="FAST_COMPILE")()]
    [2, 7, 1]
    """

    def __init__(self, entries: Sequence[IndexEntry], dimension: int = 0, axis: int = 0):
        self.entries = tuple(index_vars_to_types(entry) for entry in entries)
        self.dimension = dimension
        self.axis = axis
        self.is_slice = isinstance(self.entries[-1], slice)
        # Slices cannot be hashed in all versions of Python.
        parts = [(e.start, e.stop, e.step) if isinstance(e, slice) else e for e in self.entries]
        self._key = (tuple(parts), dimension, axis)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key == other._key

    def __hash__(self) -> int:
        return hash((type(self), self._key))

    def digest_facts(self) -> tuple[object, ...]:
        return self._key

    def __str__(self) -> str:
        return f"ChainedIndex{{{template_text(self.entries)}; {self.dimension}}}"

    def make_node(self, x: Any, *scalars: Any) -> Apply:
        types = get_slice_elements(self.entries, lambda part: part is not None)
        inputs = [as_tensor_variable(x), *map(as_nontensor_scalar, scalars)]
        scalar_types = [scalar.type for scalar in inputs[1:]]
        if scalar_types != types:
            raise TypeError(
                f"The entries {template_text(self.entries)} take scalars of types {types}; got {scalar_types}."
            )
        return Apply(self, inputs, [scalar_int64() for _ in range(3 if self.is_slice else 1)])

    def index_of(self, scalars: Sequence[TensorLike]) -> tuple[Any, ...]:
        """Return the entries, with scalars in place of their types."""
        return indices_from_subtensor(scalars, self.entries)

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]], params: object = None
    ) -> None:
        length, scalars = inputs[0].shape[self.dimension], [int(scalar) for scalar in inputs[1:]]
        chosen: Any = range(length)
        for entry in self.index_of(scalars):
            if not isinstance(entry, slice) and not -len(chosen) <= entry < len(chosen):
                raise IndexError(f"index {entry} is out of bounds for axis {self.axis} with size {len(chosen)}")
            chosen = chosen[entry]
        results = [chosen]
        if self.is_slice:
            # The step of a range with at most one element is arbitrary.
            step = chosen.step if len(chosen) > 1 else 1
            start = chosen.start if len(chosen) else 0
            stop = start + len(chosen) * step
            # A stop before the first element is -length - 1, because -1 is the last element.
            results = [start, stop if stop >= 0 else -length - 1, step]
        for storage, result in zip(output_storage, results):
            storage[0] = node.outputs[0].type.filter(result)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False] * len(node.outputs) for _ in node.inputs]
