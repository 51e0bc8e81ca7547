"""The constants of a program: small ones are inlined, others are buffers."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Constant
from aesara.ir.buffers import Buffer
from aesara.ir.expr import const
from aesara.ir.symbols import ConstantName
from aesara.lower.arrays import Array, Pointwise, Source, literal
from aesara.lower.complex import ComplexArray, part_dtype, split
from aesara.lower.errors import Unsupported

__all__ = ["ConstantTable"]

#: constants of at most this size are inlined, others are read from memory
_LARGEST_INLINED = 1


class ConstantTable:
    """The buffers of constants, with their values."""

    def __init__(self) -> None:
        self.buffers: list[tuple[Buffer, np.ndarray]] = []

    def lower(self, variable: Constant) -> Array | ComplexArray:
        """Return the array of a constant."""
        data = variable.data
        if not isinstance(data, (np.ndarray, np.generic, int, float, bool)):
            raise Unsupported(f"a constant of type {variable.type}")
        data = np.asarray(data)
        dtype = str(data.dtype)
        if dtype.startswith("complex"):
            return self._lower_complex(data)
        if data.size and data.size <= _LARGEST_INLINED:
            return literal(data.reshape(-1)[0].item(), dtype, [const(n) for n in data.shape])
        shape = tuple(const(n) for n in data.shape)
        buffer = Buffer(ConstantName(f"c{len(self.buffers)}"), dtype, shape)
        self.buffers.append((buffer, np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("="))))
        return Source(buffer.name, dtype, shape)

    def _lower_complex(self, data: np.ndarray) -> ComplexArray:
        dtype, shape = part_dtype(str(data.dtype)), [const(n) for n in data.shape]
        if data.size and data.size <= _LARGEST_INLINED:
            number = data.reshape(-1)[0].item()
            return ComplexArray(literal(number.real, dtype, shape), literal(number.imag, dtype, shape))
        plain = np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("=")).reshape(*data.shape, 1).view(dtype)
        buffer = Buffer(ConstantName(f"c{len(self.buffers)}"), dtype, (*shape, const(2)), is_complex=True)
        self.buffers.append((buffer, plain))
        return split(Source(buffer.name, dtype, buffer.shape))

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
