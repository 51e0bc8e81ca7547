"""Values that consist of arrays: operations that take them apart and put them together.

A type says what its values consist of by `part_types`. An op on such values may say what it computes in terms of their
parts, by a method ``in_parts(node, *inputs)``: each input that has parts is given as a tuple of variables, and so is
each output in the list that is returned. Where it returns None the op is computed by its `perform`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op, empty_output
from aesara.graph.type import Type

__all__ = ["OnParts", "PutTogether", "TakeApart", "flat", "group_by_type", "has_parts"]


def has_parts(variable: Variable) -> bool:
    """Return whether the values of a variable are structures of arrays."""
    return variable.type.part_types() is not None


def flat(items: Iterable[Any]) -> list[Any]:
    """Return the items of a sequence, with tuples replaced by their elements."""
    return [one for item in items for one in (item if isinstance(item, tuple) else (item,))]


def group_by_type(types: Iterable[Type], items: Iterable[Any]) -> Iterator[Any]:
    """Group `items` by type: a tuple of the parts of each type that has some, a single item for others."""
    pending = iter(items)
    for kind in types:
        parts = kind.part_types()
        yield next(pending) if parts is None else tuple([next(pending) for _ in parts])


class PutTogether(Op):
    """Assemble a value from its parts.

    Parameters
    ----------
    type
        The type of the value.
    """

    __props__ = ("type",)

    def __init__(self, type: Type) -> None:
        self.type = type

    def make_node(self, *parts: Variable) -> Apply:
        return Apply(self, list(parts), [self.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, params: object = None) -> None:
        output_storage[0][0] = self.type.put_together(inputs)

    def in_parts(self, node: Apply, *parts: Variable) -> list[Any]:
        """The parts themselves."""
        return [parts]


class TakeApart(Op):
    """The parts of a value."""

    __props__ = ()

    def make_node(self, value: Variable) -> Apply:
        types = value.type.part_types()
        assert types is not None
        return Apply(self, [value], [kind() for kind in types])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, params: object = None) -> None:
        for cell, part in zip(output_storage, node.inputs[0].type.take_apart(inputs[0])):
            cell[0] = part

    def in_parts(self, node: Apply, parts: Sequence[Variable]) -> list[Any]:
        """The parts themselves."""
        return list(parts)


class OnParts(Op):
    """An operation on values that consist of arrays, from and to their parts.

    Parameters
    ----------
    node
        A node of the operation.
    """

    __props__ = ()

    def __init__(self, node: Apply) -> None:
        inputs = [variable.clone() for variable in node.inputs]
        self.node = Apply(node.op, inputs, [variable.type() for variable in node.outputs])

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return str(self.node.op)

    def make_node(self, *inputs: Variable) -> Apply:
        kinds = [variable.type for variable in self.node.outputs]
        return Apply(self, list(inputs), [kind() for kind in flat(tuple(k.part_types() or (k,)) for k in kinds)])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any, params: object = None) -> None:
        types = [variable.type for variable in self.node.inputs]
        values = [
            kind.put_together(one) if isinstance(one, tuple) else one
            for kind, one in zip(types, group_by_type(types, inputs), strict=True)
        ]
        cells: list[list[Any]] = [[None] for _ in self.node.outputs]
        self.node.op.perform(self.node, values, cells)
        results: list[Any] = []
        for number, (variable, cell) in enumerate(zip(self.node.outputs, cells)):
            if not cell or cell[0] is None:
                raise empty_output(number)
            apart = variable.type.part_types() is not None
            results += variable.type.take_apart(cell[0]) if apart else [cell[0]]
        for storage, result in zip(output_storage, results, strict=True):
            storage[0] = result
