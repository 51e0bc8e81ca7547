"""Text of routines in LLVM IR that has loops within loops: names, blocks and phi nodes are made up here."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

__all__ = ["InstructionWriter"]


class InstructionWriter:
    """Writes the body of a function.

    Examples
    --------
    >>> w = InstructionWriter()
    >>> w.let("add i64 %m, 1")
    '%t1'
    >>> w.text()
    'entry:\\n%t1 = add i64 %m, 1'
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._block = "entry"
        self._lines = ["entry:"]

    def text(self) -> str:
        """What has been written."""
        return "\n".join(self._lines)

    def do(self, line: str) -> None:
        """An instruction without a value."""
        self._lines.append(line)

    def let(self, value: str) -> str:
        """An instruction; returns the name of its value."""
        name = f"%t{next(self._numbers)}"
        self._lines.append(f"{name} = {value}")
        return name

    def loop(
        self,
        carried: Sequence[tuple[str, str]],
        more: Callable[..., str],
        body: Callable[..., Sequence[str]],
    ) -> list[str]:
        """A loop, and its last values.

        Parameters
        ----------
        carried
            The type and the first value of each value that changes.
        more
            Writes a condition: whether there is another round, given the values.
        body
            Writes a round; returns the next values.
        """
        head, inside, after = self._labels("head", "round", "after")
        before = self._block
        self.do(f"br label %{head}")
        self._label(head)
        place = len(self._lines)
        values = [f"%t{next(self._numbers)}" for _ in carried]
        self._branch(more(*values), inside, after)
        following = body(*values)
        self.do(f"br label %{head}")
        self._lines[place:place] = [
            f"{name} = phi {kind} [{first}, %{before}], [{later}, %{self._block}]"
            for name, (kind, first), later in zip(values, carried, following, strict=True)
        ]
        self._label(after)
        return values

    def _labels(self, *stems: str) -> list[str]:
        number = next(self._numbers)
        return [f"{stem}{number}" for stem in stems]

    def _branch(self, condition: str, yes: str, no: str) -> None:
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self._label(yes)

    def _label(self, label: str) -> None:
        self.do(f"{label}:")
        self._block = label
