"""Random generators as vectors of 64-bit words, which programs pass on, copy and draw from.

A generator of NumPy draws from a *bit generator*: a state in memory, and C functions that advance it. NumPy's C
functions for distributions take both as a ``bitgen_t``. The state may point to further memory, its *parts*. The words
of a generator hold all of this contiguously:

======  ==============================================================================================
0       pointer to the state: to word 8, set by whoever draws from these words (`link.llvm.runtime.generators`)
1 to 4  pointers to the C functions, in this process
5       number of the kind of bit generator
6, 7    byte offsets of the first and the second part; 0 if there is none
8 on    the state, then its parts; the first words of the state point to the parts
======  ==============================================================================================

States and parts are aligned to 16 bytes, also in a batch of such vectors.  Words are copied like numbers; only code
that draws sets the pointers, to the words that it draws from.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["HEADER", "KIND", "PARTS", "Layout", "draw_address", "generator_of", "layout_of", "words_of"]

#: size of the words before the state, in bytes
HEADER = 64
#: byte offset of the words with the offsets of the parts
PARTS = 48
#: byte offset of the number of the kind of bit generator; PCG64 is 0
KIND = 40
_WORD = 8
_FUNCTIONS = 4


@dataclass(frozen=True)
class Layout:
    """Memory layout of the state of a kind of bit generator.

    Attributes
    ----------
    name
        Name of the class in `numpy.random`.
    state
        Size of the state in bytes; it begins with a pointer to each part.
    parts
        Size of each part in bytes.
    """

    name: str
    state: int
    parts: tuple[int, ...] = ()

    @property
    def part_offsets(self) -> tuple[int, ...]:
        """Byte offset of each part from the first word."""
        offsets, offset = [], HEADER + _align_up(self.state)
        for size in self.parts:
            offsets.append(offset)
            offset += _align_up(size)
        return tuple(offsets)

    @property
    def words(self) -> int:
        """Number of words."""
        return (HEADER + _align_up(self.state) + sum(map(_align_up, self.parts))) // _WORD

    def regions_of(self, state: int) -> list[tuple[int, int, int]]:
        """Return the memory regions of a state without its pointers: offset among the words, bytes, and address."""
        pointers = _WORD * len(self.parts)
        regions = [(HEADER + pointers, self.state - pointers, state + pointers)]
        for k, (start, size) in enumerate(zip(self.part_offsets, self.parts)):
            regions.append((start, size, ctypes.c_uint64.from_address(state + _WORD * k).value))
        return regions


#: layouts by the number of their kind
_LAYOUTS = (
    Layout("PCG64", 16, (32,)),
    Layout("PCG64DXSM", 16, (32,)),
    Layout("MT19937", 2500),
    Layout("Philox", 64, (32, 16)),
    Layout("SFC64", 40),
)


def _align_up(size: int) -> int:
    return -(-size // 16) * 16


def layout_of(bits: np.random.BitGenerator) -> Layout | None:
    """Return the layout of a bit generator's state; None if it is not one of NumPy's kinds.

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
    """Return the words before the state."""
    layout = _layouts_by_class()[type(bits)]
    header = np.zeros(HEADER // _WORD, np.uint64)
    interface = _bitgen(bits)
    header[1 : 1 + _FUNCTIONS] = interface[1 : 1 + _FUNCTIONS]
    header[KIND // _WORD] = _LAYOUTS.index(layout)
    for k, start in enumerate(layout.part_offsets):
        header[PARTS // _WORD + k] = start
    return header


def state_address(bits: np.random.BitGenerator) -> int:
    """Return the address of a bit generator's state."""
    return _bitgen(bits)[0]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _bitgen(bits: np.random.BitGenerator) -> list[int]:
    """Return the words of its ``bitgen_t``."""
    address = _capsule_pointer(bits.capsule, b"BitGenerator")
    return list((ctypes.c_uint64 * (1 + _FUNCTIONS)).from_address(address))


def words_of(generator: np.random.Generator) -> np.ndarray:
    """Return the words of a generator in its present state.

    Examples
    --------
    >>> generator_of(words_of(np.random.default_rng(3))).normal() == np.random.default_rng(3).normal()
    True
    """
    bits = generator.bit_generator
    layout = layout_of(bits)
    if layout is None:
        raise TypeError(
            f"Compiled functions draw from {', '.join(_names())}; got a {type(bits).__name__}. Give one of these, or "
            'compile in a mode that runs nodes in Python, such as mode="FAST_COMPILE".'
        )
    words = np.zeros(layout.words, np.uint64)
    words[: HEADER // _WORD] = header_of(bits)
    with bits.lock:
        for offset, size, address in layout.regions_of(state_address(bits)):
            ctypes.memmove(words.ctypes.data + offset, address, size)
    return words


def generator_of(words: np.ndarray, seeds: Any = None) -> np.random.Generator:
    """Return a new generator in the state that `words` hold.

    `seeds` is the seed sequence to spawn from; without it, the generator cannot spawn others.
    """
    layout = _LAYOUTS[int(words[KIND // _WORD])]
    bits = getattr(np.random, layout.name)(_no_seed() if seeds is None else seeds)
    words = np.ascontiguousarray(words)
    for offset, size, address in layout.regions_of(state_address(bits)):
        ctypes.memmove(address, words.ctypes.data + offset, size)
    return np.random.Generator(bits)


@functools.cache
def draw_address(name: str) -> int | None:
    """Return the address of one of NumPy's C functions that draw; None if this installation does not export it.

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
        """Dummy seed sequence, for a state that is overwritten afterwards."""

        def generate_state(self, n_words: int, dtype: DTypeLike = np.uint32) -> np.ndarray:
            return np.zeros(n_words, dtype)

    return NoSeed()


def _names() -> list[str]:
    return [layout.name for layout in _LAYOUTS]
