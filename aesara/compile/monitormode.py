"""A mode that calls functions of the user around every node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.compile.mode import Mode, optimizer_name
from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.rewriting.db import RewriteDatabase
from aesara.link.basic import Linker, LocalLinker, PerformLinker, WrapLinker
from aesara.tensor.creation.allocation import AllocEmpty

Monitor = Callable[[FunctionGraph, int, Apply, Any], Any]


class MonitorMode(Mode):
    """Runs a graph node by node and calls functions before and after each node.

    Parameters
    ----------
    pre_func, post_func
        Called as ``f(fgraph, i, node, thunk)`` before and after the node with number `i` runs.  The cells
        ``thunk.inputs`` hold the values of the node's inputs, ``thunk.outputs`` those of its outputs.
    optimizer, linker, db
        See `Mode`.  Linkers of whole graphs cannot stop between nodes: the reference interpreter takes the place
        of a linker that is given by name.

    Notes
    -----
    Values live in memory that later nodes may use again: copy what shall be kept.

    Examples
    --------
    >>> def show(fgraph, i, node, thunk):
    ...     print(i, node.op, thunk.outputs[0][0])
    >>> x = at.dvector("x")
    >>> mode = aesara.compile.MonitorMode(post_func=show)
    >>> f = aesara.function([x], at.exp(x), mode=mode)
    >>> f([0.0])
    0 Elemwise{exp,no_inplace} [1.]
    array([1.])
    """

    def __init__(
        self,
        pre_func: Monitor | None = None,
        post_func: Monitor | None = None,
        optimizer: Any = "default",
        linker: str | Linker | None = None,
        db: RewriteDatabase | None = None,
    ) -> None:
        for role, function in (("pre_func", pre_func), ("post_func", post_func)):
            if function is not None and not callable(function):
                raise TypeError(f"`{role}` must be a function of (fgraph, i, node, thunk), got {function!r}.")
        self.pre_func = pre_func
        self.post_func = post_func
        super().__init__(_wrap(linker, self.eval), optimizer, db)

    def eval(self, fgraph: FunctionGraph, i: int, node: Apply, fn: Any) -> None:
        """Run one node between the two functions."""
        if self.pre_func is not None:
            self.pre_func(fgraph, i, node, fn)
        fn()
        if self.post_func is not None:
            self.post_func(fgraph, i, node, fn)

    def clone(self, link_kwargs: dict[str, Any] | None = None, optimizer: Any = "", **kwargs: Any) -> MonitorMode:
        """Return a mode like this one; see `Mode.clone`.

        Parameters
        ----------
        **kwargs
            Other values of ``pre_func`` and ``post_func``.
        """
        unknown = set(kwargs) - {"pre_func", "post_func"}
        if unknown:
            raise TypeError(f"MonitorMode.clone takes pre_func and post_func, got {', '.join(sorted(unknown))}.")
        functions = {"pre_func": self.pre_func, "post_func": self.post_func, **kwargs}
        assert isinstance(self.linker, WrapLinker)
        linker = self.linker.linkers[0].clone(**(link_kwargs or {}))
        return type(self)(**functions, optimizer=self._choose_optimizer(optimizer), linker=linker, db=self.optdb)

    def __getstate__(self) -> tuple[object, ...]:
        return self.pre_func, self.post_func, optimizer_name(self.provided_optimizer)

    def __setstate__(self, state: Any) -> None:
        pre_func, post_func, optimizer = state
        type(self).__init__(self, pre_func, post_func, optimizer)


def _wrap(linker: str | Linker | None, wrapper: Callable[..., object]) -> WrapLinker:
    if linker is None or isinstance(linker, str):
        Mode.get_linker_optimizer(config.linker if linker is None else linker, None)  # an unknown name is an error
        linker = PerformLinker()
    if not isinstance(linker, LocalLinker):
        raise TypeError(f"MonitorMode needs a linker that runs single nodes, such as PerformLinker(), got {linker!r}.")
    return WrapLinker([linker], wrapper)


def detect_nan(fgraph: FunctionGraph, i: int, node: Apply, fn: Any) -> None:
    """Print a node whose result has a NaN, with its inputs; to be the ``post_func`` of a `MonitorMode`.

    Parameters
    ----------
    fgraph, i, node, fn
        What `MonitorMode` passes: the graph, the node's number, the node, and what has run it.
    """
    if isinstance(node.op, AllocEmpty):  # whatever was in memory
        return
    for cell in fn.outputs:
        value = cell[0]
        if isinstance(value, (np.ndarray, np.number)) and value.dtype.kind in "fc" and np.isnan(value).any():
            print("*** NaN detected ***")
            hooks.debugprint(node)
            print(f"Inputs : {[one[0] for one in fn.inputs]}")
            print(f"Outputs: {[one[0] for one in fn.outputs]}")
            return


MONITOR_MODE = MonitorMode()

__all__ = ["MonitorMode", "config", "detect_nan"]
