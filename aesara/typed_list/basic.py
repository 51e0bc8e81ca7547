"""Symbolic lists and their operations.

Operations return new lists of copies of the elements. `GetItem` returns views, which may be overwritten if the list is
not read afterwards. In compiled functions, lists that are not read afterwards are modified in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_type import TensorType, tensor_type
from aesara.tensor.type_other import SliceType, make_slice
from aesara.typed_list.type import TypedListType

__all__ = [
    "Append",
    "Count",
    "Extend",
    "GetItem",
    "Index",
    "Insert",
    "Length",
    "MakeList",
    "Remove",
    "Reverse",
    "TypedListConstant",
    "TypedListVariable",
    "append",
    "config",
    "count",
    "extend",
    "getitem",
    "index_",
    "insert",
    "length",
    "make_list",
    "remove",
    "reverse",
]


class _typed_list_py_operators:
    """Methods of symbolic lists."""

    type: TypedListType
    #: without it, Python would iterate by `__getitem__`, without end
    __iter__ = None

    def __getitem__(self, index: object) -> Variable:
        """Return an element, or a list of the elements of a slice."""
        return getitem(self, index)

    def __len__(self) -> Any:
        # Python's `len` needs a number and complains about this.
        return length(self)

    def __bool__(self) -> bool:
        raise TypeError("The length of a symbolic list is not known, so it is neither true nor false; use length.")

    def append(self, toAppend: Any) -> Variable:
        """Return the list with an additional element at the end."""
        return append(self, toAppend)

    def extend(self, toAppend: object) -> Variable:
        """Return the list followed by the elements of another one."""
        return extend(self, toAppend)

    def insert(self, index: object, toInsert: object) -> Variable:
        """Return the list with an additional element at a position."""
        return insert(self, index, toInsert)

    def remove(self, toRemove: object) -> Variable:
        """Return the list without the first element that equals a value."""
        return remove(self, toRemove)

    def reverse(self) -> Variable:
        """Return the list in reverse order."""
        return reverse(self)

    def count(self, elem: Any) -> Variable:
        """Return the number of elements that equal a value."""
        return count(self, elem)

    def ind(self, elem: object) -> Variable:
        """Return the position of the first element that equals a value."""
        return index_(self, elem)

    @property
    def ttype(self) -> Any:
        """The type of the elements."""
        return self.type.ttype

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.type.ttype.dtype  # type: ignore[attr-defined]

    @property
    def ndim(self) -> int:
        """The number of dimensions of the elements, plus one."""
        return self.type.ndim


class TypedListVariable(_typed_list_py_operators, Variable):
    """A symbolic list; the result of ``TypedListType(...)()`` and of operations."""


class _Signature(tuple):
    """Signature of a constant list: equal for lists of one type with equal elements."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not _Signature or self[0] != other[0] or len(self[1]) != len(other[1]):
            return False
        kind = self[0].ttype
        pairs = zip(self[1], other[1])
        return all(kind.make_constant(a).signature() == kind.make_constant(b).signature() for a, b in pairs)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self[0], len(self[1])))


class TypedListConstant(_typed_list_py_operators, Constant):
    """A constant list."""

    def signature(self) -> _Signature:
        """Return the signature of the value; equal constants have equal signatures."""
        return _Signature((self.type, self.data))


TypedListType.variable_type = TypedListVariable
TypedListType.constant_type = TypedListConstant


def _as_list(x: object, op_name: str) -> Any:
    if not isinstance(x, Variable) or not isinstance(x.type, TypedListType):
        raise TypeError(f"{op_name} expects a variable that is a list; got {describe(x)} of type {_type_of(x)}.")
    return x


def _type_of(x: object) -> Any:
    return x.type if isinstance(x, Variable) else type(x).__name__


def _as_type(kind: Any, x: Any, op_name: str) -> Variable:
    """Convert `x` to a variable of type `kind`."""
    try:
        return kind.filter_variable(x if isinstance(x, Variable) else kind.filter(x))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{op_name}: {describe(x)} of type {_type_of(x)} is not of type {kind}.") from error


def _as_position(x: object, op_name: str) -> Variable:
    x = as_tensor_variable(x)
    if x.type.ndim or x.type.dtype not in integer_dtypes:
        raise TypeError(f"{op_name}: positions are single integers; got {describe(x)} of type {x.type}.")
    return x


class GetItem(Op):
    """An element of a list, or the list of the elements of a slice: ``op(list, index)``."""

    view_map = {0: [0]}
    __props__ = ()

    def make_node(self, x: Any, index: Any) -> Apply:
        x = _as_list(x, "GetItem")
        if isinstance(index, slice):
            index = make_slice(index)
        if isinstance(index, Variable) and isinstance(index.type, SliceType):
            return Apply(self, [x, index], [x.type()])
        return Apply(self, [x, _as_position(index, "GetItem")], [x.type.ttype()])

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: list[list[Any]], params: object = None) -> None:
        x, index = inputs
        if isinstance(index, slice):
            outputs[0][0] = x[_slice_of_ints(index)]
            return
        if not -len(x) <= index < len(x):
            raise IndexError(f"list index out of range: {int(index)} in a list of {len(x)} elements")
        outputs[0][0] = x[int(index)]

    def __str__(self) -> str:
        return type(self).__name__


def _slice_of_ints(index: slice) -> slice:
    return slice(*(None if part is None else int(part) for part in (index.start, index.stop, index.step)))


class _Modification(Op):
    """An op that returns a modified list.

    Parameters
    ----------
    inplace
        Whether to modify the list in place.
    """

    __props__: tuple[str, ...] = ("inplace",)

    def __init__(self, inplace: bool = False):
        self.inplace = bool(inplace)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: list[list[Any]], params: object = None) -> None:
        x, *rest = inputs
        changed = x if self.inplace else node.inputs[0].type.copy_value(x)
        self.change(changed, node, *rest)
        outputs[0][0] = changed

    def change(self, x: list, node: Apply, *rest: Any) -> None:
        """Modify a list."""
        raise NotImplementedError(f"{type(self).__name__}.change")

    def __str__(self) -> str:
        return type(self).__name__


class Append(_Modification):
    """A list with an additional element at the end: ``op(list, element)``.

    Parameters
    ----------
    inplace
        Whether to modify the list in place.
    """

    def make_node(self, x: Any, toAppend: Any) -> Apply:
        x = _as_list(x, "Append")
        return Apply(self, [x, _as_type(x.type.ttype, toAppend, "Append")], [x.type()])

    def change(self, x: list, node: Apply, *rest: Any) -> None:
        x.append(node.inputs[1].type.copy_value(rest[0]))


class Extend(_Modification):
    """The concatenation of two lists: ``op(list, list)``.

    Parameters
    ----------
    inplace
        Whether to modify the list in place.
    """

    def make_node(self, x: Any, toAppend: Any) -> Apply:
        x = _as_list(x, "Extend")
        return Apply(self, [x, _as_type(x.type, toAppend, "Extend")], [x.type()])

    def change(self, x: list, node: Apply, *rest: Any) -> None:
        x.extend(node.inputs[1].type.copy_value(rest[0]))


class Insert(_Modification):
    """A list with an additional element at a position: ``op(list, position, element)``.

    Parameters
    ----------
    inplace
        Whether to modify the list in place.
    """

    def make_node(self, x: Any, index: Any, toInsert: Any) -> Apply:
        x = _as_list(x, "Insert")
        element = _as_type(x.type.ttype, toInsert, "Insert")
        return Apply(self, [x, _as_position(index, "Insert"), element], [x.type()])

    def change(self, x: list, node: Apply, *rest: Any) -> None:
        position, element = rest
        x.insert(int(position), node.inputs[2].type.copy_value(element))


class Remove(_Modification):
    """A list without the first element that equals a value: ``op(list, value)``.

    Parameters
    ----------
    inplace
        Whether to modify the list in place.
    """

    def make_node(self, x: Any, toRemove: Any) -> Apply:
        x = _as_list(x, "Remove")
        return Apply(self, [x, _as_type(x.type.ttype, toRemove, "Remove")], [x.type()])

    def change(self, x: list, node: Apply, *rest: Any) -> None:
        del x[_position(x, node, rest[0], "Remove")]


class Reverse(_Modification):
    """A list in reverse order: ``op(list)``.

    Parameters
    ----------
    inplace
        Whether to modify the list in place.
    """

    def make_node(self, x: Any) -> Apply:
        x = _as_list(x, "Reverse")
        return Apply(self, [x], [x.type()])

    def change(self, x: list, node: Apply, *rest: Any) -> None:
        x.reverse()


def _matches(x: list, node: Apply, value: object) -> list[int]:
    equal: Callable[[object, object], bool] = node.inputs[0].type.ttype.values_eq
    return [k for k, element in enumerate(x) if equal(element, value)]


def _position(x: list, node: Apply, value: object, op_name: str) -> int:
    matches = _matches(x, node, value)
    if not matches:
        raise ValueError(f"{op_name}: no element of the list has the value {value!r}.")
    return matches[0]


class _Search(Op):
    """A number that is the result of comparing the elements of a list with a value."""

    __props__ = ()

    def make_node(self, x: Any, elem: Any) -> Apply:
        x = _as_list(x, type(self).__name__)
        element = _as_type(x.type.ttype, elem, type(self).__name__)
        return Apply(self, [x, element], [tensor_type(config.floatX, ())()])

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: list[list[Any]], params: object = None) -> None:
        outputs[0][0] = np.asarray(self.number(inputs[0], inputs[1], node), dtype=node.outputs[0].type.dtype)

    def number(self, x: list, value: Any, node: Apply) -> int:
        """Return the number."""
        raise NotImplementedError(f"{type(self).__name__}.number")

    def __str__(self) -> str:
        return type(self).__name__


class Index(_Search):
    """The position of the first element that equals a value: ``op(list, value)``, with dtype `floatX`."""

    def number(self, x: list, value: Any, node: Apply) -> int:
        return _position(x, node, value, "Index")


class Count(_Search):
    """The number of elements that equal a value: ``op(list, value)``, with dtype `floatX`."""

    def number(self, x: list, value: Any, node: Apply) -> int:
        return len(_matches(x, node, value))


class Length(Op):
    """The number of elements: ``op(list)``."""

    __props__ = ()

    def make_node(self, x: object) -> Apply:
        return Apply(self, [_as_list(x, "Length")], [TensorType("int64", ())()])

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: list[list[Any]], params: object = None) -> None:
        outputs[0][0] = np.asarray(len(inputs[0]), dtype="int64")

    def __str__(self) -> str:
        return type(self).__name__


class MakeList(Op):
    """A list of variables of one type: ``op(sequence)``."""

    __props__ = ()

    def make_node(self, a: object) -> Apply:
        if not isinstance(a, (tuple, list)):
            raise TypeError(f"MakeList expects a tuple or a list of variables; got {describe(a)}.")
        elements = [v if isinstance(v, Variable) else as_tensor_variable(v) for v in a]
        if not elements:
            raise ValueError(
                "MakeList needs an element to know the type; an empty list is `TypedListType(...).make_constant([])`."
            )
        kind = elements[0].type
        if not all(v.type == kind for v in elements):
            raise TypeError(
                f"MakeList need all input variable to be of the same type; got {[v.type for v in elements]}."
            )
        return Apply(self, elements, [TypedListType(kind)()])

    def perform(self, node: Apply, inputs: Sequence[Any], outputs: list[list[Any]], params: object = None) -> None:
        outputs[0][0] = [v.type.copy_value(x) for v, x in zip(node.inputs, inputs)]

    def __str__(self) -> str:
        return type(self).__name__


getitem = GetItem()
append = Append()
extend = Extend()
insert = Insert()
remove = Remove()
reverse = Reverse()
index_ = Index()
count = Count()
length = Length()
make_list = MakeList()
