"""Source line in the user's program that created a node.

A node stores only the code object and the instruction offset of the first frame outside the package; the line
number is worked out when somebody asks.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any, NamedTuple

from aesara.notebooks import cell_of, place_text
from aesara.user_code import SKIPPED_FILES, is_skipped


class SourceLine(NamedTuple):
    """A place in a program.

    Examples
    --------
    >>> print(SourceLine("model.py", 12, "build"))
    model.py:12 in build
    """

    filename: str
    lineno: int
    function: str

    @property
    def place(self) -> str:
        """The place without the function: ``model.py:12``, or ``Cell In[3], line 12`` in a notebook."""
        return place_text(self.filename, self.lineno)

    def traceback_text(self) -> str:
        """The place as a traceback writes it.

        Examples
        --------
        >>> SourceLine("model.py", 12, "build").traceback_text()
        'File "model.py", line 12, in build'
        """
        if cell_of(self.filename) is None:
            return f'File "{self.filename}", line {self.lineno}, in {self.function}'
        return self.place if self.function == "<module>" else f"{self.place}, in {self.function}"

    def __str__(self) -> str:
        if self.function == "<module>" and cell_of(self.filename) is not None:
            return self.place
        return f"{self.place} in {self.function}"


class GradientLine(SourceLine):
    """The place in a program that made the node whose gradient a node is part of."""

    __slots__ = ()


#: A code object with an instruction offset; a third entry stands for `GradientLine`.
Mark = tuple[CodeType, int] | tuple[CodeType, int, bool]

_inherited: ContextVar[Any] = ContextVar("inherited_source", default=None)


def user_mark(depth: int = 1) -> Mark | SourceLine | None:
    """Return the place that new nodes belong to, unresolved.

    That is the place set by `inherit_source`, or else the first frame outside the package, starting `depth`
    frames up.
    """
    inherited = _inherited.get()
    if type(inherited) is Sources:
        inherited = inherited.mark
    if inherited is not None:
        return inherited
    frame: FrameType | None = sys._getframe(depth)
    known = SKIPPED_FILES
    while frame is not None:
        code = frame.f_code
        filename = code.co_filename
        skipped = known.get(filename)
        if skipped is None:
            skipped = is_skipped(filename)
        # Where an Op of the user makes its node says less than where it was called.
        if not skipped and code.co_name != "make_node":
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def resolve(mark: Mark | SourceLine | None) -> SourceLine | None:
    """Work out the line of a mark."""
    if mark is None or isinstance(mark, SourceLine):
        return mark
    code, offset = mark[:2]
    lineno = code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            lineno = line
            break
    kind = SourceLine if len(mark) == 2 else GradientLine
    return kind(code.co_filename, lineno, code.co_name)


def gradient_mark(node: Any) -> Mark | SourceLine | None:
    """The mark of nodes that are made for the gradient of `node`, for `inherit_source`."""
    mark = node._source
    if mark is None:
        return None
    return GradientLine(*mark) if isinstance(mark, SourceLine) else (*mark[:2], True)


def user_source() -> SourceLine | None:
    """Return the line of the user's program that is running, or None where there is none."""
    return resolve(user_mark(2))


class Sources:
    """The places that one node after the other is made for; see `inherit_sources`."""

    __slots__ = ("_outer", "_token", "mark")
    mark: Any

    def __enter__(self) -> Sources:
        outer = _inherited.get()
        self._outer = self.mark = outer.mark if type(outer) is Sources else outer
        self._token = _inherited.set(self)
        return self

    def follow(self, node: Any) -> None:
        """From here on new nodes take the source of `node`."""
        self.mark = node._source or self._outer

    def __exit__(self, *exc_info: object) -> None:
        _inherited.reset(self._token)


class inherit_source:
    """While active, new nodes take the given source.

    Parameters
    ----------
    source
        A `SourceLine`, or an Apply node whose source is taken (which is cheaper); None changes nothing.

    Examples
    --------
    >>> with inherit_source(SourceLine("model.py", 3, "build")):
    ...     print(user_source())
    model.py:3 in build
    """

    __slots__ = ("_mark", "_token")

    def __init__(self, source: Any):
        self._mark = getattr(source, "_source", source)
        self._token: Any = None

    def __enter__(self) -> None:
        if self._mark is not None:
            self._token = _inherited.set(self._mark)

    def __exit__(self, *exc_info: object) -> None:
        if self._token is not None:
            _inherited.reset(self._token)
            self._token = None
