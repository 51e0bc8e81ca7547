"""Base of the exceptions that the package raises about a user's graph or values."""

from __future__ import annotations


class AesaraError(Exception):
    """An error that says what was expected, what came, and how to fix it.

    Every part is optional; the parts that are given become the lines of the message.

    Parameters
    ----------
    message
        What went wrong, in one sentence.
    expected
        What would have been accepted.
    came
        What was given instead.
    hint
        What the user can do about it.

    Examples
    --------
    >>> print(AesaraError("Wrong rank.", expected="a matrix", came="a vector"))
    Wrong rank.
      expected: a matrix
      came: a vector
    """

    def __init__(self, message: object = "", *args: object, expected=None, came=None, hint=None):
        self.expected = expected
        self.came = came
        self.hint = hint
        super().__init__(
            describe(message, expected, came, hint)
            if (expected is not None or came is not None or hint is not None)
            else message,
            *args,
        )


class NanFound(AesaraError, FloatingPointError):
    """A function has computed a NaN, or an infinity; the message says which operation was the first."""

    _names_node = _located = False


class NativeFallbackWarning(UserWarning):
    """A function will run in Python, wholly or in part."""


class NativeFallbackError(AesaraError):
    """A function would run in Python, wholly or in part, which ``config.native_fallback = "raise"`` forbids."""


class NativeTargetError(AesaraError):
    """Code for what ``config.native_target`` names cannot run here."""


def describe(message: object, expected=None, came=None, hint=None) -> str:
    """Lay out a message of at most four lines.

    Examples
    --------
    >>> describe("Bad axis.", came=3, hint="Use an axis below 2.").splitlines()[2]
    '  hint: Use an axis below 2.'
    """
    lines = [str(message)]
    for label, part in (("expected", expected), ("came", came), ("hint", hint)):
        if part is not None:
            lines.append(f"  {label}: {part}")
    return "\n".join(lines)


class InnerFunctionError(Exception):
    """An error in the step of a loop; for programs that catch it, steps raise what has gone wrong itself."""
