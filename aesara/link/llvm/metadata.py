"""Metadata of loops and branches in LLVM modules."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["NO_VECTORS", "Metadata"]

#: named metadata of a module without loops to vectorize
NO_VECTORS = "!ae.no_vectors = !{}"

_NO_VECTORS = '!{!"llvm.loop.vectorize.enable", i1 false}'


class Metadata:
    """Numbered metadata of a module: access groups and loop metadata."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        #: whether there are loops that LLVM may vectorize
        self.vectors = False
        self._unpredictable: str | None = None

    def _add(self, text: str) -> str:
        self.lines.append(text)
        return f"!{len(self.lines) - 1}"

    def access_group(self) -> str:
        return self._add("distinct !{}")

    def unpredictable(self) -> str:
        """Return the metadata of a selection that must not become a branch."""
        if self._unpredictable is None:
            self._unpredictable = self._add("!{}")
        return self._unpredictable

    def loop(self, group: str | None, interleave: int) -> str:
        """Return the metadata of a loop: independent accesses, and the interleave count."""
        entries = self._parallel(group)
        self.vectors |= interleave != 0
        if interleave == 0:
            entries += [_NO_VECTORS, '!{!"llvm.loop.unroll.disable"}']
        if interleave > 1:
            entries.append(f'!{{!"llvm.loop.interleave.count", i32 {interleave}}}')
        return self._loop_metadata(entries)

    def lanes(self, group: str | None, unrolled: bool) -> str:
        """Return the metadata of a loop over lanes, to be unrolled fully after vectorization."""
        entries = self._parallel(group)
        self.vectors = True
        if unrolled:
            entries.append('!{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}')
        return self._loop_metadata(entries)

    def rest(self) -> str:
        """Return the metadata of a remainder loop, which is not vectorized."""
        return self._loop_metadata([_NO_VECTORS])

    def _parallel(self, group: str | None) -> list[str]:
        return [] if group is None else [f'!{{!"llvm.loop.parallel_accesses", {group}}}']

    def _loop_metadata(self, entries: Sequence[str]) -> str:
        if not entries:
            return ""
        names = [self._add(entry) for entry in entries]
        name = f"!{len(self.lines)}"
        self.lines.append(f"distinct !{{{', '.join([name, *names])}}}")
        return f", !llvm.loop {name}"

    def text(self) -> str:
        numbered = [f"!{i} = {line}" for i, line in enumerate(self.lines)]
        return "\n".join(numbered if self.vectors else [*numbered, NO_VECTORS])
