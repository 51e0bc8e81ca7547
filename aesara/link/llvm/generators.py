"""Links of generators: facts that compiled code needs to copy the words of a generator and store new ones."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from aesara.ir.generators import header_of, layout_of, state_address
from aesara.link.llvm import layout

__all__ = ["Links", "link_of", "why_not_native"]


class Links:
    """The links of the generators of a function, each in a list of one element, which compiled code reads.

    Parameters
    ----------
    cells
        The cells of the generators.
    drawn_from
        Numbers of the generators whose state calls advance.
    """

    def __init__(self, cells: Sequence[list[Any]], drawn_from: Collection[int]) -> None:
        self._cells, self._drawn_from = list(cells), drawn_from
        self.boxes: list[list[Any]] = [[link_of(cell[0])] for cell in cells]

    def renew(self) -> None:
        """Update the links to the generators that are in the cells now."""
        reason = why_not_native([cell[0] for cell in self._cells], self._drawn_from)
        if reason is not None:
            raise TypeError(f"The function cannot draw natively from {reason}. Compile it again with such generators.")
        for cell, box in zip(self._cells, self.boxes):
            box[0] = link_of(cell[0])


def why_not_native(generators: Sequence[Any], drawn_from: Collection[int] = ()) -> str | None:
    """Return the reason why compiled code cannot draw from generators; None if it can.

    Parameters
    ----------
    generators
        The generators of one function.
    drawn_from
        Numbers of the generators whose state it advances.
    """
    sources = []
    for generator in generators:
        if type(generator) is not np.random.Generator or layout_of(generator.bit_generator) is None:
            source = getattr(generator, "bit_generator", None)
            return f"a {type(generator).__name__} with a bit generator of type {type(source).__name__}"
        sources.append(id(generator.bit_generator))
    if any(sources.count(sources[k]) > 1 for k in drawn_from):
        return "two generators with one bit generator"
    return None


def link_of(generator: np.random.Generator) -> list[Any]:
    """Return the link of a generator, as documented in `layout`."""
    bits: Any = generator.bit_generator
    kind = layout_of(bits)
    assert kind is not None
    acquire, release = bits.lock.acquire, bits.lock.release
    regions = kind.regions_of(state_address(bits))
    facts = np.zeros(layout.LINK_FIRST // 8 + len(regions) * layout.PIECE // 8, np.uint64)
    for offset, value in (
        (layout.LINK_GENERATOR, id(generator)),
        (layout.LINK_PLACE, _offset_of_bits()),
        (layout.LINK_BITS, id(bits)),
        (layout.LINK_BYTES, 8 * kind.words),
        (layout.LINK_TAKE, id(acquire)),
        (layout.LINK_RELEASE, id(release)),
        (layout.LINK_PIECES, len(regions)),
    ):
        facts[offset // 8] = value
    facts[layout.LINK_HEADER // 8 : layout.LINK_PIECES // 8] = header_of(bits)
    facts[layout.LINK_FIRST // 8 :] = np.ravel(regions)
    return [facts, generator, bits, acquire, release]


@functools.cache
def _offset_of_bits() -> int:
    """Return the byte offset in a generator of the pointer to its bit generator."""
    generator = np.random.Generator(np.random.PCG64(0))
    words = (ctypes.c_uint64 * (np.random.Generator.__basicsize__ // 8)).from_address(id(generator))
    return 8 * list(words).index(id(generator.bit_generator))
