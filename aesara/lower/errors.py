"""Errors of lowering, and errors that run-time checks raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from aesara.graph.nodes import Apply
from aesara.ir.expr import PART_OF, NoComplexForm
from aesara.records import dataclass

__all__ = ["ErrorInfo", "Exemption", "Message", "Unsupported", "check_dtype", "escape_braces"]

#: a format string, or a function of the values
Message = str | Callable[..., str]


class Unsupported(Exception):
    """An Op, dtype or variant has no native lowering; the node runs in Python, with this text as the reason."""


class Exemption(Enum):
    """Conditions on which indices that fail a check may still be valid, since they select nothing."""

    #: the second value, the length of a mask, is 0
    EMPTY_MASK = 1
    #: the entries of an index array may be broadcast to no elements
    NO_ELEMENTS = 2


@dataclass(frozen=True)
class ErrorInfo:
    """The error of a check: exception class, message with `{0}`, `{1}`... for the values, and the node.

    The message may also be a function of the values.  If a check with an exemption fails, the reference computes the
    call (`link.llvm.by_reference`).
    """

    kind: type[Exception]
    message: Message
    node: Apply | None
    exemption: Exemption | None = None

    def text(self, values: Sequence[int]) -> str:
        """Return the message for the run-time values."""
        return self.message.format(*values) if isinstance(self.message, str) else self.message(*values)


def escape_braces(text: object) -> str:
    """Convert an object to a text that is part of a `Message`."""
    return str(text).replace("{", "{{").replace("}", "}}")


def check_dtype(dtype: str) -> None:
    """Raise `NoComplexForm` for complex dtypes."""
    if dtype in PART_OF:
        raise NoComplexForm(dtype)
