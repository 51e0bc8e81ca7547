"""Bitwise ops on integers, which are logical ops for Booleans."""

from __future__ import annotations

import numpy as np

from aesara.scalar.native import Primitive
from aesara.scalar.op import BinaryScalarOp, UnaryScalarOp
from aesara.scalar.promotion import integer_upcast_out

__all__ = ["AND", "OR", "XOR", "BinaryBitOp", "Invert", "UnaryBitOp", "and_", "invert", "or_", "xor"]


class UnaryBitOp(UnaryScalarOp):
    """A bitwise op on an integer or Boolean."""

    dtype = integer_upcast_out


class BinaryBitOp(BinaryScalarOp):
    """A bitwise op on two integers or two Booleans."""

    dtype = integer_upcast_out
    commutative = True
    associative = True
    identity: float | None = None


class OR(BinaryBitOp):
    """x | y."""

    numpy = np.bitwise_or
    native = Primitive("or")
    identity = 0


class XOR(BinaryBitOp):
    """x ^ y."""

    numpy = np.bitwise_xor
    native = Primitive("xor")
    identity = 0


class AND(BinaryBitOp):
    """x & y."""

    numpy = np.bitwise_and
    native = Primitive("and")
    identity = -1


class Invert(UnaryBitOp):
    """~x: all bits inverted; ``not x`` for a Boolean."""

    numpy = np.invert
    native = Primitive("invert")


or_ = OR()
xor = XOR()
and_ = AND()
invert = Invert()
