"""Metadata of LLVM modules: what loops and branches are known to be."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["NO_VECTORS", "Metadata"]

#: the note of a module without loops that LLVM may make vectors of
NO_VECTORS = "!ae.no_vectors = !{}"

_NO_VECTORS = '!{!"llvm.loop.vectorize.enable", i1 false}'


class Metadata:
    """Numbered metadata of a module: access groups and loop notes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        #: whether there are loops that LLVM may make vectors of
        self.vectors = False
        self._unpredictable: str | None = None

    def _add(self, text: str) -> str:
        self.lines.append(text)
        return f"!{len(self.lines) - 1}"

    def access_group(self) -> str:
        return self._add("distinct !{}")

    def unpredictable(self) -> str:
        """The note of a selection of which LLVM is to make no branch."""
        if self._unpredictable is None:
            self._unpredictable = self._add("!{}")
        return self._unpredictable

    def loop(self, group: str | None, interleave: int) -> str:
        """The note of a loop: its accesses are independent; how many vectors to work on at once."""
        notes = self._parallel(group)
        self.vectors |= interleave != 0
        if interleave == 0:
            notes += [_NO_VECTORS, '!{!"llvm.loop.unroll.disable"}']
        if interleave > 1:
            notes.append(f'!{{!"llvm.loop.interleave.count", i32 {interleave}}}')
        return self._note(notes)

    def lanes(self, group: str | None, unrolled: bool) -> str:
        """The note of a loop over lanes, of which nothing is to be left when it has been made of vectors."""
        notes = self._parallel(group)
        self.vectors = True
        if unrolled:
            notes.append('!{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}')
        return self._note(notes)

    def rest(self) -> str:
        """The note of a loop over what is left, which is to stay as it is."""
        return self._note([_NO_VECTORS])

    def _parallel(self, group: str | None) -> list[str]:
        return [] if group is None else [f'!{{!"llvm.loop.parallel_accesses", {group}}}']

    def _note(self, notes: Sequence[str]) -> str:
        if not notes:
            return ""
        names = [self._add(note) for note in notes]
        name = f"!{len(self.lines)}"
        self.lines.append(f"distinct !{{{', '.join([name, *names])}}}")
        return f", !llvm.loop {name}"

    def text(self) -> str:
        numbered = [f"!{i} = {line}" for i, line in enumerate(self.lines)]
        return "\n".join(numbered if self.vectors else [*numbered, NO_VECTORS])
