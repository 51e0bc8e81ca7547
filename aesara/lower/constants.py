"""The constants of a program: small ones are inlined, others are buffers."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Constant
from aesara.ir.buffers import Buffer
from aesara.ir.expr import PART_OF, const
from aesara.ir.symbols import ConstantName
from aesara.lower.arrays import Array, ComplexView, Pointwise, Source, literal
from aesara.lower.errors import Unsupported

__all__ = ["ConstantTable"]

#: constants of at most this size are inlined, others are read from memory
_LARGEST_INLINED = 1


class ConstantTable:
    """The buffers of constants, with their values."""

    def __init__(self) -> None:
        self.buffers: list[tuple[Buffer, np.ndarray]] = []

    def lower(self, variable: Constant) -> Array:
        """Return the array of a constant."""
        data = variable.data
        if not isinstance(data, (np.ndarray, np.generic, int, float, bool)):
            raise Unsupported(f"a constant of type {variable.type}")
        data = np.asarray(data)
        dtype = str(data.dtype)
        if data.size and data.size <= _LARGEST_INLINED:
            return literal(data.reshape(-1)[0].item(), dtype, [const(n) for n in data.shape])
        shape = tuple(const(n) for n in data.shape)
        data = np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("="))
        is_complex = dtype in PART_OF
        if is_complex:
            data, dtype, shape = data.reshape(*data.shape, 1).view(PART_OF[dtype]), PART_OF[dtype], (*shape, const(2))
        buffer = Buffer(ConstantName(f"c{len(self.buffers)}"), dtype, shape, is_complex)
        self.buffers.append((buffer, data))
        source = Source(buffer.name, dtype, shape)
        return ComplexView(source) if is_complex else source

    def data_of(self, array: Array) -> np.ndarray | None:
        """Return the value of a constant array, or None."""
        for buffer, data in self.buffers:
            if buffer.name == array.buffer:
                return data
        if isinstance(array, Pointwise) and not array.operands and all(n is const(1) for n in array.shape):
            value = array.body((const(0),) * array.ndim, ())
            if value.is_const:
                return np.full((1,) * array.ndim, value.attr, array.dtype)
        return None
