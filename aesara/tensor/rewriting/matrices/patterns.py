"""Patterns, conditions and `matrix_row` for rules about matrices.

They match one matrix, and each of a batch (`Blockwise`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.matching import LogicVariable, Ops, one_of
from aesara.graph.rewriting.pattern import Rule
from aesara.tensor.rewriting.helpers import is_float, outputs_in_place_of
from aesara.tensor.rewriting.matrices.facts import core_of, facts_of, swaps_last
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.vectorization.blockwise import Blockwise


def with_vectors(node: Apply) -> bool:
    """Return whether the right-hand sides of a system of equations are vectors."""
    if isinstance(node.op, Blockwise):
        return len(node.op.inputs_signature[-1]) == 1
    return node.inputs[-1].type.ndim == 1


def fits_as_columns(x: Variable, b: Variable) -> bool:
    """Return whether right-hand sides have the dtype of a matrix, one or two dimensions, and several rows."""
    return b.type.ndim <= 2 and not b.type.broadcastable[0] and b.type.dtype == x.type.dtype


def two_terms(x: Variable, *ops: Op) -> Iterator[tuple[Any, Any]]:
    """Yield the terms of a sum of two real matrices, which one of `ops` computes, in both orders."""
    node = x.owner
    if node is None or node.op not in ops or len(node.inputs) != 2 or x.type.ndim != 2 or not is_float(x):
        return
    if all(v.type.dtype == x.type.dtype for v in node.inputs):
        first, second = node.inputs
        yield first, second
        yield second, first


class MatrixOps(Ops):
    """A pattern for an op of a matrix or of each in a batch, with the name and attributes of the core op."""

    several_outputs = True

    @property
    def alternatives(self) -> list[Any]:
        return [*super().alternatives, Blockwise]

    def __call__(self, op: Op) -> bool:
        return super().__call__(core_of(op))

    def op_of(self, node: Apply) -> Op:
        return core_of(node.op)


def of_matrices(*kinds: type[Op], name: str | None = None, **attributes: Any) -> MatrixOps:
    """Return a pattern like `one_of`, which matches the ops also where they apply to each matrix of a batch."""
    return MatrixOps(kinds, name, None, attributes)


#: The transpose of a matrix, or of each in a batch.
transpose = one_of(DimShuffle, new_order=lambda order: swaps_last(order), drop=[])


def matrix_with_fact(name: str, *facts: str, but: str | None = None) -> LogicVariable:
    """Return a variable of a pattern: a matrix with at least one of `facts`, and without the fact `but`."""

    def holds(x: Variable) -> bool:
        known_facts = facts_of(x)
        return not known_facts.isdisjoint(facts) and but not in known_facts

    return LogicVariable(name, holds)


def matrix_row(name: str, pattern: Any, replacement: Any, when: Callable[..., bool] | None = None, *, why: str) -> Rule:
    """Return a rule about matrices of any dtype; the replacement has one variable for each output of the op."""
    return Rule(name, pattern, replacement, when, why=why, fit=_in_place)


def _in_place(out: Variable, new: Any, inputs: Sequence[Variable]) -> list[Variable] | None:
    assert out.owner is not None
    return outputs_in_place_of(out.owner, new if isinstance(new, (list, tuple)) else (new,))
