"""Tensors that are read from files when a function runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.generic import generic
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from aesara.graph.fg import FunctionGraph

__all__ = ["load"]


class LoadFromDisk(Op):
    """Read an array from a file in NumPy's ``.npy`` format.

    Parameters
    ----------
    dtype
        The dtype that the array must have.
    shape
        Its static shape: a length for each dimension, None where it is not known.
    mmap_mode
        None to read the file into memory, or "c" to map it, so that only the
        parts that are used are read. The file is never written to.
    """

    __props__ = ("dtype", "shape", "mmap_mode")

    def __init__(self, dtype: DTypeLike, shape: Sequence[int | None], mmap_mode: Literal["c"] | None = None):
        if mmap_mode not in (None, "c"):
            raise ValueError(f'mmap_mode must be None or "c"; got {mmap_mode!r}.')
        self.dtype = np.dtype(dtype).name
        # Older code passes `broadcastable` instead of a shape.
        self.shape = tuple([(1 if n else None) if isinstance(n, bool) else n for n in shape])
        self.mmap_mode = mmap_mode

    def __str__(self) -> str:
        return f"Load{{dtype: {self.dtype}, shape: {self.shape}, mmap: {self.mmap_mode}}}"

    def make_node(self, path: Any) -> Apply:
        if not isinstance(path, Variable):
            path = Constant(generic, path)
        return Apply(self, [path], [tensor_type(self.dtype, self.shape)()])

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]], params: object = None
    ) -> None:
        (path,) = inputs
        # Object arrays may run arbitrary code: `np.load` refuses them.
        array = np.load(path, mmap_mode=self.mmap_mode, allow_pickle=False)
        if array.dtype.newbyteorder("=") != np.dtype(self.dtype):
            raise TypeError(f"{path} holds an array of dtype {array.dtype}; expected {self.dtype}.")
        if array.ndim != len(self.shape) or any(n not in (None, m) for n, m in zip(self.shape, array.shape)):
            raise ValueError(f"{path} holds an array of shape {array.shape}; expected {self.shape}.")
        output_storage[0][0] = np.asarray(array, dtype=self.dtype)

    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply) -> bool:
        # The file may change between compilation and call.
        return False

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def grad(self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable]) -> list[Variable]:
        return [disconnected_type()]

    def R_op(self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]) -> list[None]:
        return [None]


def load(
    path: Any, dtype: DTypeLike, shape: Sequence[int | None], mmap_mode: Literal["c"] | None = None
) -> TensorVariable:
    """A tensor that is read from a ``.npy`` file each time the function runs.

    Parameters
    ----------
    path
        The path of the file: a string, or a variable of the type `Generic`.
    dtype
        The dtype of the array.
    shape
        Its static shape: a length for each dimension, None where it is not known.
    mmap_mode
        None to read the file into memory, or "c" to map it, so that only the
        parts that are used are read. The file is never written to.

    Examples
    --------
    >>> from aesara.graph.generic import generic
    >>> path = generic("path")
    >>> load(path, "int64", (None,)).type
    TensorType(int64, (None,))
    """
    return LoadFromDisk(dtype, shape, mmap_mode)(path)
