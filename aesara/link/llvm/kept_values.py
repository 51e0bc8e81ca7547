"""Values that several steps of a long entry compute, which are kept in the frame of the call.

An entry that spills values (`spills`) forgets the values of its top level after each step, so that none is live for
long. What costs many instructions and is needed again is stored in the frame.
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.ir.expr import Expr
from aesara.link.llvm.types import LLVM_TYPES
from aesara.link.llvm.values import Values

__all__ = ["KeptValues"]

#: number of instructions from which a value is kept
_COST_TO_KEEP = 8
#: maximum number of values in one block: LLVM's time for a block is more than linear in it
_MAX_VALUES = 100


class KeptValues:
    """Decides which values of the top level are kept in the frame, and where blocks of the top level end.

    Parameters
    ----------
    values
        The known values.
    store
        Stores a value of a type in the frame and returns its spilled form.
    """

    def __init__(self, values: Values, store: Callable[[str, str], str]) -> None:
        self._values, self._store = values, store
        #: number of values in the current block
        self._in_block = 0
        #: expressions that earlier steps have computed
        self._earlier: set[Expr] = set()
        #: numbers of instructions, up to `_COST_TO_KEEP`, of the expressions that this step has computed
        self._costs: dict[Expr, int] = {}

    def begin(self, e: Expr, is_invariant: bool) -> None:
        """Prepare for the computation of an expression at the top level."""
        self._limit_block()
        if is_invariant:
            self._record_cost(e)

    def keep_if_repeated(self, e: Expr) -> None:
        """Keep a value in the frame if it takes many instructions and an earlier step has computed it, too."""
        values = self._values
        if self._costs.get(e) == _COST_TO_KEEP and e in self._earlier and e not in values.kept:
            values.kept[e] = self._store(values.scopes[0].values[e], LLVM_TYPES[e.dtype])

    def end_step(self) -> None:
        """Forget the values of the top level, except for those that are kept."""
        self._earlier.update(self._costs)
        self._costs.clear()
        self._values.scopes[0].values.clear()

    def _record_cost(self, e: Expr) -> None:
        """Record that `e` is computed; if it is new, its operands may be common subexpressions."""
        self._costs[e] = min(1 + sum(self._costs.get(a, 0) for a in e.args), _COST_TO_KEEP)
        if e not in self._earlier:
            for a in e.args:
                self.keep_if_repeated(a)

    def _limit_block(self) -> None:
        """Begin another block if the current one has become long."""
        self._in_block += 1
        if self._in_block > _MAX_VALUES:
            self._in_block = 0
            top = self._values.scopes[0]
            following = top.names.label("next")
            top.jump(following)
            top.begin(following)
