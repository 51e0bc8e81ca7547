"""Types of the arguments of functions of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, TypeAlias

import numpy as np

from aesara.graph.nodes import Variable
from aesara.graph.type import Type

#: what `as_tensor_variable` converts: variables, arrays, numbers, and sequences of these
TensorLike: TypeAlias = Variable | np.ndarray | np.generic | complex | Sequence[Any]
#: an integer, or a variable of one
IntegerLike: TypeAlias = Variable | int | np.integer
#: the lengths of an array; one number is the length of a vector
ShapeLike: TypeAlias = IntegerLike | np.ndarray | Sequence[IntegerLike]
#: the lengths of an array as far as they are known, else None
PartialShape: TypeAlias = Sequence[IntegerLike | None]
#: one axis, several axes, or None for all
AxisLike: TypeAlias = int | Sequence[int] | None
#: lists of one element, in which `Op.perform` stores its results; None at first
OutputCells: TypeAlias = list[list[np.ndarray | None]]
#: an entry of ``x[...]``: a slice, positions, a mask, a new dimension or an ellipsis
IndexEntry: TypeAlias = slice | TensorLike | EllipsisType | None
#: an entry of the index of an op, in which types stand for variables
TemplateEntry: TypeAlias = IndexEntry | Type
#: the algorithms of NumPy's ``sort``
SortKind: TypeAlias = Literal["quicksort", "mergesort", "heapsort", "stable"]
