"""A mode that stops at the first NaN, infinity or very large value."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.compile.mode import CheckingMode
from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.container import StorageMap
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.db import RewriteDatabase, RewriteDatabaseQuery
from aesara.link.basic import Linker
from aesara.link.utils import describe_source, error_report
from aesara.link.vm import VMLinker
from aesara.tensor.creation.allocation import AllocEmpty

if TYPE_CHECKING:
    from aesara.link.utils import Thunk


_logger = logging.getLogger("aesara.compile.nanguardmode")

#: of a message
_LINES = 15
#: absolute values above it are big
_BIG = 1e10


def flatten(l: Iterable[object] | object) -> list[Any]:  # the parameter's name is public
    """Return the items of nested lists and tuples as one list.

    Examples
    --------
    >>> flatten([1, [2, (3, [4])]])
    [1, 2, 3, 4]
    """
    found, pending = [], [iter([l])]
    while pending:
        for item in pending[-1]:
            if isinstance(item, (list, tuple, set, frozenset)):
                pending.append(iter(item))
                break
            found.append(item)
        else:
            pending.pop()
    return found


def _numbers(value: object, node: Apply | None, var: Variable | None) -> np.ndarray | None:
    """The value as an array of floating-point or complex numbers; None if it is something else, or arbitrary memory."""
    owner = node if node is not None else getattr(var, "owner", None)
    if owner is not None and isinstance(owner.op, AllocEmpty):
        return None
    if not isinstance(value, (np.ndarray, np.generic, float, complex)):
        # Matrices in compressed form keep their numbers in an array.
        value = getattr(value, "data", None)
        if not isinstance(value, np.ndarray):
            return None
    array = np.asarray(value)
    return array if array.dtype.kind in "fc" else None


def contains_nan(arr: object, node: Apply | None = None, var: Variable | None = None) -> bool:
    """Return whether a value is, or contains, a NaN.

    Parameters
    ----------
    arr
        An array; values of other kinds, such as integers, slices and random generators, have none.
    node, var
        The node that has computed it, or the variable it belongs to: memory that nobody has written is not looked at.

    Examples
    --------
    >>> import numpy as np
    >>> contains_nan(np.array([1.0, np.nan])), contains_nan(slice(None))
    (True, False)
    """
    numbers = _numbers(arr, node, var)
    return numbers is not None and bool(np.isnan(numbers).any())


def contains_inf(arr: object, node: Apply | None = None, var: Variable | None = None) -> bool:
    """Return whether a value is, or contains, an infinity; the parameters are those of `contains_nan`.

    Examples
    --------
    >>> import numpy as np
    >>> contains_inf(np.array([1.0, -np.inf])), contains_inf(np.array([1, 2]))
    (True, False)
    """
    numbers = _numbers(arr, node, var)
    return numbers is not None and bool(np.isinf(numbers).any())


def _contains_big(arr: object, node: Apply | None = None, var: Variable | None = None) -> bool:
    """Return whether a value contains a number of magnitude above 1e10; float16 values never do."""
    numbers = _numbers(arr, node, var)
    return numbers is not None and numbers.dtype != np.float16 and bool((np.abs(numbers) > _BIG).any())


class NanGuardMode(CheckingMode):
    """Runs a graph node by node and looks at all inputs, constants and results.

    Parameters
    ----------
    nan_is_error, inf_is_error, big_is_error
        Whether a NaN, an infinity, an absolute value above 1e10 is an error.
        Default: ``config.NanGuardMode__nan_is_error`` and so on, when the function is called.
    optimizer, db
        See `Mode`.
    linker
        Accepted for compatibility: nodes run on the reference interpreter.

    Notes
    -----
    ``config.NanGuardMode__action`` says what happens: ``'raise'`` an `AssertionError`, ``'warn'`` through the logger,
    or ``'pdb'``, the debugger.  A call that raises changes no shared variable.  A variable whose
    ``tag.nan_guard_mode_check`` is False is not looked at.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> f = aesara.function([x], at.log(x), mode=NanGuardMode(nan_is_error=True))
    >>> f([-1.0])
    Traceback (most recent call last):
        ...
    AssertionError: NaN detected
    ...
    """

    def __init__(
        self,
        nan_is_error: bool | None = None,
        inf_is_error: bool | None = None,
        big_is_error: bool | None = None,
        optimizer: Any = "default",
        linker: str | Linker | None = None,
        db: RewriteDatabase | None = None,
    ) -> None:
        if not (linker is None or isinstance(linker, (str, Linker))):
            raise TypeError(f"`linker` must be a linker or the name of one, got {linker!r}.")
        self._chosen = nan_is_error, inf_is_error, big_is_error
        super().__init__(VMLinker(callback=self._after_node, callback_input=self._at_input), optimizer, db)
        if isinstance(self._query, RewriteDatabaseQuery):
            self._query = self.provided_optimizer = self._query.including("alloc_empty_to_zeros")

    @property
    def nan_is_error(self) -> bool:
        return config.NanGuardMode__nan_is_error if self._chosen[0] is None else bool(self._chosen[0])

    @property
    def inf_is_error(self) -> bool:
        return config.NanGuardMode__inf_is_error if self._chosen[1] is None else bool(self._chosen[1])

    @property
    def big_is_error(self) -> bool:
        return config.NanGuardMode__big_is_error if self._chosen[2] is None else bool(self._chosen[2])

    def _at_input(self, variable: Variable, value: object) -> None:
        findings = list(self._findings(variable, value))
        if findings:
            kind = "constant" if isinstance(variable, Constant) else "input"
            lines = [*findings, f"NanGuardMode found an error in an input of the graph, the {kind} {variable}."]
            _act(lines, describe_source(getattr(variable.tag, "source", None)))

    def _after_node(self, node: Apply, thunk: Thunk | None, storage_map: StorageMap, compute_map: Any) -> None:
        for variable in node.outputs:
            # A lazy node has not computed anything while it waits for its inputs.
            if compute_map is not None and not compute_map[variable][0] and getattr(thunk, "lazy", False):
                continue
            findings = list(self._findings(variable, storage_map[variable][0]))
            if findings:
                lines = [*findings, "NanGuardMode found an error in the output of a node in this variable:"]
                details = error_report(None, node, thunk)
                graph = hooks.debugprint(variable, depth=10, file="str").rstrip().splitlines()
                room = _LINES - len(lines) - len(details.splitlines())
                if len(graph) > room and config.exception_verbosity != "high":
                    graph = [*graph[: room - 1], " ..."] if room > 1 else []
                _act([*lines, *graph], details)

    def _findings(self, variable: Variable, value: object) -> Iterator[str]:
        if not getattr(variable.tag, "nan_guard_mode_check", True):
            return
        # The node gets the array, not the type: what a draw or a slice returns is looked at by its value.
        if self.nan_is_error and contains_nan(value, var=variable):
            yield "NaN detected"
        if self.inf_is_error and contains_inf(value, var=variable):
            yield "Inf detected"
        if self.big_is_error and _contains_big(value, var=variable):
            yield "Big value detected"


def _act(lines: list[str], details: str) -> None:
    """Do what the configuration asks for where a bad value has been found."""
    text = "\n".join([*lines, details] if details else lines)
    action = config.NanGuardMode__action
    if action == "warn":
        _logger.error(text)
    elif action == "pdb":
        print(text)
        breakpoint()
    else:
        error = AssertionError(text)
        error.__dict__["_names_node"] = True  # the text has the node already
        raise error


NAN_GUARD_MODE = NanGuardMode()

__all__ = ["NanGuardMode", "config", "contains_inf", "contains_nan", "flatten"]
