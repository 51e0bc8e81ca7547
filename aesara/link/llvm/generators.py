"""Links of generators: what compiled code has to know of one to copy its words, and to put new ones into its place."""

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
    """The links of the generators of a function, each in a list of its own, the box, which compiled code reads.

    Parameters
    ----------
    cells
        The cells of the generators.
    drawn_from
        The numbers of those whose state calls advance.
    """

    def __init__(self, cells: Sequence[list[Any]], drawn_from: Collection[int]) -> None:
        self._cells, self._drawn_from = list(cells), drawn_from
        self.boxes: list[list[Any]] = [[link_of(cell[0])] for cell in cells]

    def renew(self) -> None:
        """Make the links those of the generators that are in the cells now."""
        reason = why_not_native([cell[0] for cell in self._cells], self._drawn_from)
        if reason is not None:
            raise TypeError(f"The function cannot draw natively from {reason}. Compile it again with such generators.")
        for cell, box in zip(self._cells, self.boxes):
            box[0] = link_of(cell[0])


def why_not_native(generators: Sequence[Any], drawn_from: Collection[int] = ()) -> str | None:
    """What of generators compiled code cannot draw from; None if it can.

    Parameters
    ----------
    generators
        The generators of one function.
    drawn_from
        The numbers of those whose state it advances.
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
    """The link of a generator; `layout` says what is where."""
    bits: Any = generator.bit_generator
    kind = layout_of(bits)
    assert kind is not None
    take, release = bits.lock.acquire, bits.lock.release
    pieces = kind.regions_of(state_address(bits))
    facts = np.zeros(layout.LINK_FIRST // 8 + len(pieces) * layout.PIECE // 8, np.uint64)
    for place, value in (
        (layout.LINK_GENERATOR, id(generator)),
        (layout.LINK_PLACE, _place_of_bits()),
        (layout.LINK_BITS, id(bits)),
        (layout.LINK_BYTES, 8 * kind.words),
        (layout.LINK_TAKE, id(take)),
        (layout.LINK_RELEASE, id(release)),
        (layout.LINK_PIECES, len(pieces)),
    ):
        facts[place // 8] = value
    facts[layout.LINK_HEADER // 8 : layout.LINK_PIECES // 8] = header_of(bits)
    facts[layout.LINK_FIRST // 8 :] = np.ravel(pieces)
    return [facts, generator, bits, take, release]


@functools.cache
def _place_of_bits() -> int:
    """Where in the memory of a generator the pointer to its bit generator is."""
    generator = np.random.Generator(np.random.PCG64(0))
    words = (ctypes.c_uint64 * (np.random.Generator.__basicsize__ // 8)).from_address(id(generator))
    return 8 * list(words).index(id(generator.bit_generator))
