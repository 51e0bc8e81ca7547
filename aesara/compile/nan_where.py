"""A mode that runs natively and says where a NaN comes from."""

from __future__ import annotations

from typing import Any

from aesara.compile.mode import CheckingMode
from aesara.graph.rewriting.db import RewriteDatabase
from aesara.link.llvm.nan_where import NanWhereLinker

__all__ = ["NanWhere"]


class NanWhere(CheckingMode):
    """Native code that stops when a result is a NaN, and says which operation has made the first one.

    The message has the operation, the index of its first bad element, what it has read there, whether it belongs to
    the forward computation or to a gradient, and the line of the program.  A call that raises changes no shared
    variable.

    Parameters
    ----------
    nan, inf
        Whether NaNs and infinities are errors.
    everywhere
        Look at all intermediate results, too.  By default only outputs and new values of shared variables are looked
        at, so that a NaN that a `switch` or a maximum removes is no error.
    optimizer, db
        See `Mode`.

    Notes
    -----
    The check is part of the native code: one reduction for each output, in the loops that compute it where that is
    possible.  Only when it fails, the graph is computed a second time, node by node, on the same inputs; operations
    written in Python run again then.  Nodes that native code does not have are not looked inside of, and graphs that
    it declines run on the reference machine, where every node is looked at.  With `everywhere`, graphs with `ifelse`
    are checked at their outputs only.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> f = aesara.function([x], at.log(x) * 2, mode=NanWhere())
    >>> f([1.0, -1.0])
    Traceback (most recent call last):
        ...
    aesara.errors.NanFound: The first NaN at index 1 of Elemwise{log,no_inplace}, whose inputs have none.
    ...
    """

    def __init__(
        self,
        nan: bool = True,
        inf: bool = False,
        everywhere: bool = False,
        optimizer: Any = "fast_run",
        db: RewriteDatabase | None = None,
    ) -> None:
        if not (nan or inf):
            raise ValueError("NanWhere has nothing to look for: nan and inf are both False.")
        self._chosen = nan, inf, everywhere
        super().__init__(NanWhereLinker(nan, inf, everywhere), optimizer, db)


NAN_WHERE = NanWhere()
