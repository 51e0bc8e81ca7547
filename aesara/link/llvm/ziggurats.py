"""The tables of NumPy's ziggurats, found by asking its functions.

A ziggurat covers the area below a density by 256 layers of the same area.  A draw takes one random integer: eight bits
of it choose a layer, others are a number below a power of two, and this number times the *width* of the layer is what
is drawn, if the number is below the *bound* of the layer.  In one draw of a hundred it is not, and more is to be done.

G. Marsaglia, W. W. Tsang: The ziggurat method for generating random variables, Journal of Statistical Software 5, 2000.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Callable

from aesara.ir.generators import draw_address
from aesara.records import dataclass

__all__ = ["EXPONENTIAL", "LAYERS", "NORMAL", "Ziggurat", "tables"]

LAYERS = 256


@dataclass(frozen=True)
class Ziggurat:
    """Where NumPy takes the layer and the number from a random integer.

    Attributes
    ----------
    function
        The name of NumPy's function.
    layer, number
        The lowest bit of each.
    bits
        How many bits the number has.
    """

    function: str
    layer: int
    number: int
    bits: int


NORMAL = Ziggurat("random_standard_normal", layer=0, number=9, bits=52)
EXPONENTIAL = Ziggurat("random_standard_exponential", layer=3, number=11, bits=53)


class _Bits(ctypes.Structure):
    """NumPy's ``bitgen_t``."""

    _fields_ = (
        ("state", ctypes.c_void_p),
        ("next_uint64", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)),
        ("next_uint32", ctypes.c_void_p),
        ("next_double", ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)),
        ("next_raw", ctypes.c_void_p),
    )


@functools.cache
def tables(ziggurat: Ziggurat) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The widths and bounds of the layers.

    Examples
    --------
    >>> widths, bounds = tables(NORMAL)
    >>> len(widths), max(bounds) < 2**52
    (256, True)
    """
    ask = _asks(ziggurat)
    widths = [ask(layer, 1)[0] for layer in range(LAYERS)]
    bounds = []
    for layer in range(LAYERS):
        # A layer reaches as far as the one above it is wide; the lowest goes on to a tail.
        guess = int(widths[layer - 1] / widths[layer] * 2**ziggurat.bits)
        bounds.append(_bound(ask, layer, guess, 2**ziggurat.bits))
    return tuple(widths), tuple(bounds)


def _asks(ziggurat: Ziggurat) -> Callable[[int, int], tuple[float, bool]]:
    """A function of a layer and a number: what is drawn, and whether no second random number was needed."""
    address = draw_address(ziggurat.function)
    assert address is not None
    draw = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(address)
    taken: list[int] = []
    first, fractions = 0, itertools.cycle((0.0, 0.5))

    def integer(state: int | None) -> int:
        taken.append(0)
        # What follows a refused number ends the draw.
        return first if len(taken) == 1 else 1 << ziggurat.number | 2 << ziggurat.layer

    def fraction(state: int | None) -> float:
        taken.append(0)
        return next(fractions)

    bits = _Bits(None, _Bits._fields_[1][1](integer), None, _Bits._fields_[3][1](fraction), None)

    def ask(layer: int, number: int) -> tuple[float, bool]:
        nonlocal first, fractions
        taken.clear()
        first, fractions = number << ziggurat.number | layer << ziggurat.layer, itertools.cycle((0.0, 0.5))
        drawn = draw(ctypes.addressof(bits))
        return drawn, len(taken) == 1

    return ask


def _bound(ask: Callable[[int, int], tuple[float, bool]], layer: int, guess: int, end: int) -> int:
    """The first number of a layer that is not below the bound, near a guess."""
    width = 1
    low, high = max(guess - width, 0), min(guess + width, end)
    while low > 0 and not ask(layer, low - 1)[1]:
        width *= 64
        low = max(guess - width, 0)
    while high < end and ask(layer, high)[1]:
        width *= 64
        high = min(guess + width, end)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if ask(layer, middle)[1] else (low, middle)
    return low
