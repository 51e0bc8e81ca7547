"""Rules about matrices in one row. They apply to one matrix, and to each of a batch (`Blockwise`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.matching import LogicVariable, Ops, ops
from aesara.graph.rewriting.pattern import Rule
from aesara.tensor.rewriting.matrices.facts import core_of, facts_of, swaps_last
from aesara.tensor.rewriting.matrices.parts import in_places_of
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.vectorization.blockwise import Blockwise

__all__ = ["known", "matrix_row", "of_matrices", "transpose"]


class MatrixOps(Ops):
    """Ops of a matrix, or of each in a batch; the name and the attributes are those of the op of one."""

    several_outputs = True

    @property
    def alternatives(self) -> list[Any]:
        return [*super().alternatives, Blockwise]

    def __call__(self, op: Op) -> bool:
        return super().__call__(core_of(op))

    def op_of(self, node: Apply) -> Op:
        return core_of(node.op)


def of_matrices(*kinds: type[Op], name: str | None = None, **attributes: Any) -> MatrixOps:
    """Return the op of a pattern that is one of several classes, for one matrix or for a batch; otherwise as `ops`."""
    return MatrixOps(kinds, name, None, attributes)


#: The transpose of a matrix, or of each in a batch.
transpose = ops(DimShuffle, new_order=lambda order: swaps_last(order), drop=[])


def known(name: str, *facts: str, but: str | None = None) -> LogicVariable:
    """Return a variable of a pattern that is a matrix with one of some facts at least, and without another one."""

    def holds(x: Variable) -> bool:
        found = facts_of(x)
        return not found.isdisjoint(facts) and but not in found

    return LogicVariable(name, holds)


def matrix_row(name: str, pattern: Any, replacement: Any, when: Callable[..., bool] | None = None, *, why: str) -> Rule:
    """Return a rule about matrices of any dtype; the replacement has one variable for each output of the op."""
    return Rule(name, pattern, replacement, when, why=why, fit=_in_place)


def _in_place(out: Variable, new: Any, inputs: Sequence[Variable]) -> list[Variable] | None:
    assert out.owner is not None
    return in_places_of(out.owner, *(new if isinstance(new, (list, tuple)) else (new,))) or None  # type: ignore[return-value]
