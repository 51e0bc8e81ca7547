"""Tracebacks of errors that the package raises on purpose, without the frames of the package.

A frame whose locals hold a true ``__tracebackhide__`` is left out by IPython and by pytest. The marks are set when a
traceback is about to be shown, so that calls that raise nothing pay nothing.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Iterator
from opcode import opmap
from types import TracebackType

__all__ = ["hide_own_frames", "is_on_purpose", "mark_on_purpose", "without_own_frames"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_WRAPPERS = {functools.__file__, contextlib.__file__}
_RAISE = opmap["RAISE_VARARGS"]


def is_on_purpose(error: BaseException, trace: TracebackType | None) -> bool:
    """Return whether an error is about the user's program, rather than a defect of the package.

    It is if it names a node of the graph, or was given to `mark_on_purpose`, if the last frame is not the package's, or
    if it comes from a ``raise`` statement; a failed ``assert`` is a defect.
    """
    if getattr(error, "_names_node", False) or getattr(error, "_on_purpose", False):
        return True
    links = list(_links(trace))
    if not links or not _is_own(links[-1]):
        return True
    last = links[-1]
    return last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE and not isinstance(error, AssertionError)


def mark_on_purpose(error: BaseException) -> None:
    """Say of an error of NumPy or Python that it is about the user's program."""
    error.__dict__["_on_purpose"] = True


def without_own_frames(error: BaseException) -> BaseException:
    """Return an error whose traceback is empty if it was raised on purpose, by frames of the package only."""
    trace = error.__traceback__
    if is_on_purpose(error, trace) and all(map(_is_own, _links(trace))):
        return error.with_traceback(None)
    return error


def hide_own_frames(error: BaseException, trace: TracebackType | None) -> TracebackType | None:
    """Mark the frames of the package, and return the traceback up to the last frame that is not the package's.

    Nothing is marked or left out if `is_on_purpose` is false.

    Parameters
    ----------
    error
        The error. The tracebacks of its causes are marked too.
    trace
        Its traceback.
    """
    _mark_causes(error)
    if not is_on_purpose(error, trace):
        return trace
    links = list(_links(trace))
    hidden = _mark(trace)
    while hidden and hidden[-1]:
        hidden.pop()
    if not hidden:
        return trace
    shown = None
    for link in reversed(links[: len(hidden)]):
        shown = TracebackType(shown, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return shown


def _links(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_own(link: TracebackType) -> bool:
    return link.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _mark(trace: TracebackType | None) -> list[bool]:
    """Mark frames of the package and those of wrappers that it goes through; for each frame whether it is one."""
    hidden: list[bool] = []
    for link in _links(trace):
        code = link.tb_frame.f_code
        # A wrapper of the standard library runs between two frames of the package.
        own = _is_own(link) or bool(hidden and hidden[-1] and code.co_filename in _WRAPPERS)
        if own and code.co_flags & inspect.CO_OPTIMIZED:  # the locals of a module are its globals
            link.tb_frame.f_locals["__tracebackhide__"] = True
        hidden.append(own)
    return hidden


def _mark_causes(error: BaseException) -> None:
    seen = {id(error)}
    while True:
        cause = error.__cause__
        if cause is None and not error.__suppress_context__:
            cause = error.__context__
        if cause is None or id(cause) in seen:
            return
        seen.add(id(cause))
        if is_on_purpose(cause, cause.__traceback__):
            _mark(cause.__traceback__)
        error = cause
