"""Typed functions that draw, by symbol, and a comparison of fast draws with NumPy's."""

from __future__ import annotations

import ctypes
import functools

import numpy as np

from aesara.ir.draws import vectors
from aesara.ir.draws.numbers import DRAWS, NumberDraw, draw_loop
from aesara.ir.generators import HEADER, PARTS, draw_address, words_of
from aesara.ir.routines.draws import draw_named
from aesara.ir.typed.function import TypedFunction
from aesara.link.llvm.jit import load_functions

__all__ = ["drawing_function", "fast_draws_are_numpys"]


def drawing_function(symbol: str) -> TypedFunction | None:
    """Return the typed function that draws, by its symbol; None for other symbols.

    Examples
    --------
    >>> drawing_function("draw.dirichlet"), drawing_function("draw.nothing")
    (<typed function draw.dirichlet>, None)
    """
    name = symbol.removeprefix("draw.")
    if symbol in vectors.DRAWS or name not in DRAWS:
        return vectors.DRAWS.get(symbol)
    return draw_loop(name, fast_draws_are_numpys())


#: parameters to compare
_LOOKS: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("standard_uniform", ()),
    ("standard_normal", ()),
    ("standard_exponential", ()),
    ("uniform", (-1.0, 3.3)),
    ("normal", (0.3, 1.7)),
    ("exponential", (0.7,)),
    ("standard_gamma", (2.3,)),
    ("standard_gamma", (0.4,)),
    ("gamma", (2.3, 0.7)),
    ("poisson", (3.3,)),
    ("poisson", (33.3,)),
)
#: number of draws to compare, one of a hundred of which is not a fast draw
_MANY = 400


@functools.cache
def fast_draws_are_numpys() -> bool:
    """Return whether fast draws are bitwise those of this NumPy; otherwise only NumPy's functions are used.

    This is tested by drawing. NumPy may change its streams, and its compiler may have fused a product and a sum.
    """
    if draw_address("random_loggam") is None:
        return False
    loops = {name: draw_loop(name, True) for name in DRAWS}
    addresses = load_functions(list(loops.values()), name="draws")
    for name, parameters in _LOOKS:
        rng = np.random.Generator(np.random.PCG64(1))
        drawn, after = _draw(addresses[loops[name]], DRAWS[name], words_of(rng), parameters)
        method = draw_named(name).method
        wanted = method(rng, *parameters, _MANY) if method else getattr(rng, name)(*parameters, size=_MANY)
        if not (np.array_equal(drawn, wanted) and np.array_equal(after, words_of(rng)[_STATE:])):
            return False
    return True


#: first word of the numbers in a state of PCG64, after a pointer to them
_STATE = HEADER // 8 + 1


def _draw(
    address: int, draw: NumberDraw, words: np.ndarray, parameters: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers, and the words of the state after them."""
    words[0] = words.ctypes.data + HEADER
    words[HEADER // 8] = words.ctypes.data + int(words[PARTS // 8])
    a, b = (np.array([x]) for x in (*parameters, 0.0, 0.0)[:2])
    drawn = np.empty(_MANY, draw.dtype)
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    function = ctypes.CFUNCTYPE(None, pointer, integer, pointer, pointer, integer, pointer, integer)(address)
    function(words.ctypes.data, _MANY, drawn.ctypes.data, a.ctypes.data, 0, b.ctypes.data, 0)
    return drawn, words[_STATE:]
