"""Random generators as vectors of 64-bit words, which programs hand on, copy and draw from.

A generator of NumPy draws from a *bit generator*: a state in memory, and C functions that advance it.  NumPy's C
functions for distributions take both as a ``bitgen_t``.  Its state may point to further memory, its *parts*.  The words
of a generator are all of this in one place:

======  ==============================================================================================
0       where the state is: right behind these words, for whoever has set it (`link.llvm.emit_draws`)
1 to 4  the C functions, of this process
5       the number of the kind of bit generator
6, 7    how many bytes behind word 0 the first and the second part begin; 0 if there is none
8 on    the state, and then its parts; the first words of the state point to the parts
======  ==============================================================================================

States and parts begin at multiples of 16 bytes, also in a row of such vectors.  Words are copied like numbers: only
who draws sets the pointers, to the words that it draws from.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import Any

import numpy as np

from aesara.records import dataclass

__all__ = ["HEADER", "PARTS", "Layout", "draw_address", "generator_of", "layout_of", "words_of"]

#: bytes of the words before the state
HEADER = 64
#: bytes from the beginning to the words that say where the parts are
PARTS = 48
_KIND = 40
_WORD = 8
_FUNCTIONS = 4


@dataclass(frozen=True)
class Layout:
    """How NumPy lays out the state of a kind of bit generator.

    Attributes
    ----------
    name
        The class in `numpy.random`.
    state
        The bytes of the state, which begins with a pointer to each part.
    parts
        The bytes of each part.
    """

    name: str
    state: int
    parts: tuple[int, ...] = ()

    @property
    def starts(self) -> tuple[int, ...]:
        """Where each part begins among the words, in bytes."""
        found, at = [], HEADER + _rounded(self.state)
        for size in self.parts:
            found.append(at)
            at += _rounded(size)
        return tuple(found)

    @property
    def words(self) -> int:
        """How many words there are."""
        return (HEADER + _rounded(self.state) + sum(map(_rounded, self.parts))) // _WORD

    def pieces(self, state: int) -> list[tuple[int, int, int]]:
        """What a state consists of, but for its pointers: places among the words, bytes, and where they are now."""
        pointers = _WORD * len(self.parts)
        found = [(HEADER + pointers, self.state - pointers, state + pointers)]
        for k, (start, size) in enumerate(zip(self.starts, self.parts)):
            found.append((start, size, ctypes.c_uint64.from_address(state + _WORD * k).value))
        return found


#: in the order of their numbers
_LAYOUTS = (
    Layout("PCG64", 16, (32,)),
    Layout("PCG64DXSM", 16, (32,)),
    Layout("MT19937", 2500),
    Layout("Philox", 64, (32, 16)),
    Layout("SFC64", 40),
)


def _rounded(size: int) -> int:
    return -(-size // 16) * 16


def layout_of(bits: np.random.BitGenerator) -> Layout | None:
    """How the state of a bit generator is laid out; None if it is not of one of NumPy's kinds.

    Examples
    --------
    >>> layout_of(np.random.PCG64(1)).words
    14
    """
    return _layouts_by_class().get(type(bits))


@functools.cache
def _layouts_by_class() -> dict[type, Layout]:
    return {getattr(np.random, layout.name): layout for layout in _LAYOUTS}


def header_of(bits: np.random.BitGenerator) -> np.ndarray:
    """The words before the state."""
    layout = _layouts_by_class()[type(bits)]
    header = np.zeros(HEADER // _WORD, np.uint64)
    interface = _bitgen(bits)
    header[1 : 1 + _FUNCTIONS] = interface[1 : 1 + _FUNCTIONS]
    header[_KIND // _WORD] = _LAYOUTS.index(layout)
    for k, start in enumerate(layout.starts):
        header[PARTS // _WORD + k] = start
    return header


def state_address(bits: np.random.BitGenerator) -> int:
    """Where the state of a bit generator is."""
    return _bitgen(bits)[0]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _bitgen(bits: np.random.BitGenerator) -> list[int]:
    """The words of its ``bitgen_t``."""
    address = _capsule_pointer(bits.capsule, b"BitGenerator")
    return list((ctypes.c_uint64 * (1 + _FUNCTIONS)).from_address(address))


def words_of(generator: np.random.Generator) -> np.ndarray:
    """The words of a generator in its present state.

    Examples
    --------
    >>> generator_of(words_of(np.random.default_rng(3))).normal() == np.random.default_rng(3).normal()
    True
    """
    bits: Any = generator._bit_generator  # type: ignore[attr-defined]
    layout = layout_of(bits)
    if layout is None:
        raise TypeError(
            f"Compiled functions draw from {', '.join(_names())}; got a {type(bits).__name__}. Give one of these, or "
            'compile in a mode that runs nodes in Python, such as mode="FAST_COMPILE".'
        )
    words = np.zeros(layout.words, np.uint64)
    words[: HEADER // _WORD] = header_of(bits)
    with bits.lock:
        for place, size, address in layout.pieces(state_address(bits)):
            ctypes.memmove(words.ctypes.data + place, address, size)
    return words


def generator_of(words: np.ndarray, seeds: Any = None) -> np.random.Generator:
    """A new generator in the state that the words say.

    Without the `seeds` that it was made of before, others cannot be spawned from it.
    """
    layout = _LAYOUTS[int(words[_KIND // _WORD])]
    bits = getattr(np.random, layout.name)(_no_seed() if seeds is None else seeds)
    words = np.ascontiguousarray(words)
    for place, size, address in layout.pieces(state_address(bits)):
        ctypes.memmove(address, words.ctypes.data + place, size)
    return np.random.Generator(bits)


@functools.cache
def draw_address(name: str) -> int | None:
    """Address of one of NumPy's C functions that draw; None if this installation does not export them.

    Examples
    --------
    >>> draw_address("random_standard_normal") is not None, draw_address("random_nothing") is None
    (True, True)
    """
    try:
        function = getattr(_functions(), name)
    except (AttributeError, OSError):
        return None
    return ctypes.cast(function, ctypes.c_void_p).value


@functools.cache
def _functions() -> ctypes.CDLL:
    return ctypes.CDLL(importlib.import_module("numpy.random._generator").__file__)


@functools.cache
def _no_seed() -> Any:
    interface: Any = importlib.import_module("numpy.random.bit_generator").ISeedSequence

    class NoSeed(interface):  # type: ignore[misc]
        """In place of a seed, for states that are written from elsewhere."""

        def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
            return np.zeros(n_words, dtype)

    return NoSeed()


def _names() -> list[str]:
    return [layout.name for layout in _LAYOUTS]
