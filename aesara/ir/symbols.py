"""Typed names, which distinguish sizes and buffers known at the call from those computed by the program.

A symbol is a string. Variables and loads of it differ from those of an equal plain string, or symbol of another type.
"""

from __future__ import annotations

__all__ = ["ArgumentName", "ConstantName", "DefinedSize", "InputSize"]


class InputSize(str):
    """The length of input `number` along dimension `axis`, which is at most `most`."""

    number: int
    axis: int
    most: int

    def __new__(cls, number: int, axis: int, most: int, name: str | None = None) -> InputSize:
        """Create the size, with a default name."""
        made = super().__new__(cls, f"s{number}_{axis}" if name is None else name)
        made.number, made.axis, made.most = number, axis, most
        return made

    def __reduce__(self) -> tuple[type[InputSize], tuple[int, int, int, str]]:
        return InputSize, (self.number, self.axis, self.most, str(self))


class DefinedSize(str):
    """A size that the program computes."""


class ArgumentName(str):
    """The buffer of an input."""


class ConstantName(str):
    """The buffer of a constant."""
