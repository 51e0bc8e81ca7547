"""Tables of NumPy's ziggurats, recovered by calling its functions.

A ziggurat covers the area below a density by 256 layers of equal area. A draw takes one random integer: eight bits
select a layer, others are an integer k, and k times the *width* of the layer is the result if k is below the *bound* of
the layer. This fails in one draw of a hundred, which takes more steps.

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
    """Position of the layer and of the number in a random integer.

    Attributes
    ----------
    function
        Name of NumPy's function.
    layer, number
        Lowest bit of each.
    bits
        Number of bits of the number.
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
    """Return the widths and bounds of the layers.

    Examples
    --------
    >>> widths, bounds = tables(NORMAL)
    >>> len(widths), max(bounds) < 2**52
    (256, True)
    """
    draw = _make_draw(ziggurat)
    widths = [draw(layer, 1)[0] for layer in range(LAYERS)]
    bounds = []
    for layer in range(LAYERS):
        # The extent of a layer is the width of the next; the lowest continues in a tail.
        guess = int(widths[layer - 1] / widths[layer] * 2**ziggurat.bits)
        bounds.append(_bound(draw, layer, guess, 2**ziggurat.bits))
    return tuple(widths), tuple(bounds)


def _make_draw(ziggurat: Ziggurat) -> Callable[[int, int], tuple[float, bool]]:
    """Return a function of a layer and a number that returns the draw and whether one random integer sufficed."""
    address = draw_address(ziggurat.function)
    assert address is not None
    numpy_draw = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(address)
    taken: list[int] = []
    first, fractions = 0, itertools.cycle((0.0, 0.5))

    def integer(state: int | None) -> int:
        taken.append(0)
        # The value after a rejected number ends the draw.
        return first if len(taken) == 1 else 1 << ziggurat.number | 2 << ziggurat.layer

    def fraction(state: int | None) -> float:
        taken.append(0)
        return next(fractions)

    bits = _Bits(None, _Bits._fields_[1][1](integer), None, _Bits._fields_[3][1](fraction), None)

    def draw(layer: int, number: int) -> tuple[float, bool]:
        nonlocal first, fractions
        taken.clear()
        first, fractions = number << ziggurat.number | layer << ziggurat.layer, itertools.cycle((0.0, 0.5))
        drawn = numpy_draw(ctypes.addressof(bits))
        return drawn, len(taken) == 1

    return draw


def _bound(draw: Callable[[int, int], tuple[float, bool]], layer: int, guess: int, end: int) -> int:
    """Return the bound of a layer, near a guess."""
    width = 1
    low, high = max(guess - width, 0), min(guess + width, end)
    while low > 0 and not draw(layer, low - 1)[1]:
        width *= 64
        low = max(guess - width, 0)
    while high < end and draw(layer, high)[1]:
        width *= 64
        high = min(guess + width, end)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if draw(layer, middle)[1] else (low, middle)
    return low
