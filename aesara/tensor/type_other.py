"""Types of objects in indices besides tensors: None and slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.conversion import _as_symbolic
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.generic import Generic
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.type import Type
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike

__all__ = ["NoneConst", "make_slice", "none_type_t", "slicetype"]


class NoneTypeT(Generic):
    """The type whose only value is None."""

    def filter(self, x: TensorLike, strict: bool = False, allow_downcast: bool | None = None) -> None:
        if x is not None:
            raise TypeError(f"Expected None! Got {x!r}.")

    @staticmethod
    def may_share_memory(a: TensorLike, b: TensorLike) -> bool:
        return False

    def digest_facts(self) -> tuple[object, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(NoneTypeT)

    def __str__(self) -> str:
        return "NoneTypeT"

    __repr__ = __str__


none_type_t = NoneTypeT()

#: The constant None.
NoneConst = Constant(none_type_t, None, name="NoneConst")


class SliceType(Type):
    """The type of `slice` objects."""

    def clone(self, **kwargs: Any) -> SliceType:
        return type(self)()

    def filter(self, x: TensorLike, strict: bool = False, allow_downcast: bool | None = None) -> slice:
        if isinstance(x, slice):
            return x
        raise TypeError(f"Expected a slice! Got {x!r} of type {type(x)}.")

    def digest_facts(self) -> tuple[object, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(SliceType)

    def __str__(self) -> str:
        return "slice"

    __repr__ = __str__

    @staticmethod
    def may_share_memory(a: TensorLike, b: TensorLike) -> bool:
        # A slice of numbers is immutable.
        return isinstance(a, slice) and a is b


slicetype = SliceType()


class SliceConstant(Constant):
    """A slice whose parts are known when the graph is built.

    Parameters
    ----------
    type
        The type: `slicetype`.
    data
        A slice of Python integers and None, or of integer arrays without
        dimensions.
    """

    def __init__(self, type: Type, data: slice, name: str | None = None):
        super().__init__(type, slice(*[_slice_part(part) for part in (data.start, data.stop, data.step)]), name)

    def signature(self) -> tuple[Any, ...]:
        return (SliceConstant, self.data.start, self.data.stop, self.data.step)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.data.start}, {self.data.stop}, {self.data.step}}}"

    __repr__ = __str__


SliceType.constant_type = SliceConstant


def _slice_part(part: Any) -> int | None:
    if isinstance(part, Constant):
        part = part.data
    if part is None:
        return None
    if isinstance(part, (int, np.integer)) or (isinstance(part, np.ndarray) and part.dtype.kind in "iu"):
        return int(part)
    raise TypeError(f"The parts of a constant slice are integers or None; got {describe(part)} of type {type(part)}.")


class MakeSlice(Op):
    """A slice with symbolic or constant bounds, or None.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> make_slice(at.lscalar("start"), None, 2).type == slicetype
    True
    """

    __props__ = ()

    def make_node(self, slc: Any, stop: Any = None, step: Any = None) -> Apply:
        parts = (slc.start, slc.stop, slc.step) if isinstance(slc, slice) else (slc, stop, step)
        return Apply(self, [as_int_none_variable(part) for part in parts], [slicetype()])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]], params: object = None
    ) -> None:
        output_storage[0][0] = slice(*[None if part is None else int(part) for part in inputs])

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Variable]:
        return [DisconnectedType()() for _ in inputs]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False] for _ in node.inputs]


make_slice = MakeSlice()


def as_int_none_variable(x: TensorLike) -> Variable:
    """Convert a part of a slice to a variable: None, or a 0-d integer tensor."""
    if x is None:
        return NoneConst
    if isinstance(x, Variable) and isinstance(x.type, NoneTypeT):
        return x
    x = as_tensor_variable(x, ndim=0)
    if x.type.dtype not in integer_dtypes:
        raise TypeError(f"index must be integers; got {describe(x)} of dtype {x.type.dtype}.")
    return x


@_as_symbolic.register(type(None))
def as_symbolic_None(x: None, **kwargs: Any) -> Constant:
    """None as a variable."""
    return NoneConst


@_as_symbolic.register(slice)
def as_symbolic_slice(x: slice, **kwargs: Any) -> Variable:
    """Convert a slice to a variable, which is constant if all parts are."""
    if any(isinstance(part, Variable) for part in (x.start, x.stop, x.step)):
        return make_slice(x)
    return SliceConstant(slicetype, x)
