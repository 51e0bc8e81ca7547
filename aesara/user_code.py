"""Frames of the program that uses the package, and warnings that name its lines."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from types import FrameType

__all__ = ["SKIPPED_FILES", "is_skipped", "user_frame", "warn_user"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: Whether frames of a file are passed over, as far as it is known. Those of wrappers of the standard library are
#: (singledispatch, context managers), which run between the user's frame and ours.
SKIPPED_FILES: dict[str, bool] = {functools.__file__: True, contextlib.__file__: True}


def is_skipped(filename: str) -> bool:
    """Return whether a file is not part of the user's program, and remember the answer."""
    skipped = os.path.abspath(filename).startswith(_PACKAGE) or filename.startswith("<frozen ")
    SKIPPED_FILES[filename] = skipped
    return skipped


def user_frame(depth: int = 1) -> FrameType | None:
    """The first frame of the user's program, starting `depth` frames up; None where there is none."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        filename = frame.f_code.co_filename
        skipped = SKIPPED_FILES.get(filename)
        if not (is_skipped(filename) if skipped is None else skipped):
            return frame
        frame = frame.f_back
    return None


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the line of the user's program that has led here, however many calls lie between.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("an old name", DeprecationWarning)
    >>> caught[0].filename, caught[0].lineno  # doctest: +ELLIPSIS
    ('<doctest aesara.user_code...>', 3)
    """
    frame = user_frame(2) or sys._getframe(1)
    names = frame.f_globals
    warnings.warn_explicit(
        message, category, frame.f_code.co_filename, frame.f_lineno, names.get("__name__"),
        names.setdefault("__warningregistry__", {}),
    )  # fmt: skip
