"""Names that say what they name, for those who have to tell early values of a program from late ones.

A symbol is a string.  Variables and loads of a symbol are other expressions than those of a plain string, or of a
symbol of another kind, that reads the same.
"""

from __future__ import annotations

__all__ = ["ArgumentName", "ConstantName", "DefinedSize", "InputSize"]


class InputSize(str):
    """A length that an input of the program has: of input `number`, in dimension `axis`, and `most` at most."""

    number: int
    axis: int
    most: int

    def __new__(cls, number: int, axis: int, most: int, name: str | None = None) -> InputSize:
        """The length, under a name of its own or the usual one."""
        made = super().__new__(cls, f"s{number}_{axis}" if name is None else name)
        made.number, made.axis, made.most = number, axis, most
        return made

    def __getnewargs__(self) -> tuple[int, int, int, str]:  # type: ignore[override]
        return self.number, self.axis, self.most, str(self)


class DefinedSize(str):
    """A size that the program computes."""


class ArgumentName(str):
    """The buffer of an input."""


class ConstantName(str):
    """The buffer of a constant."""
