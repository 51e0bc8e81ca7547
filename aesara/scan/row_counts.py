"""Deduction that a tensor has a row for each step of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aesara.graph.nodes import Constant
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.elementwise.ops import ge, minimum
from aesara.tensor.indexing.subtensor_basic import Subtensor
from aesara.tensor.shapes.shape import Shape, Shape_i

if TYPE_CHECKING:
    from aesara.graph.nodes import Variable
    from aesara.tensor.core.variable import TensorVariable


__all__ = ["first_rows", "is_length"]


def first_rows(rows: Any, n_steps: Any) -> TensorVariable:
    """Return the first `n_steps` entries of a sequence, with a check that they exist if this is not known."""
    if is_length(n_steps, rows):
        return rows
    if not _is_at_most_length(n_steps, rows):
        count = known_integer(n_steps)
        steps = "the steps" if count is None else f"the {count} steps"
        rows = CheckAndRaise(ValueError, f"scan: a sequence has fewer entries than {steps}.")(
            rows, ge(rows.shape[0], n_steps)
        )
    return rows[:n_steps]


def is_length(n: Any, rows: Variable) -> bool:
    """Return whether a number is known to be the length of a tensor."""
    if isinstance(n, Constant):
        return rows.type.shape[0] is not None and int(n.data) == rows.type.shape[0]
    node = n.owner
    if node is None:
        return False
    if isinstance(node.op, Shape_i):
        return node.op.i == 0 and node.inputs[0] is rows
    if isinstance(node.op, Subtensor) and node.inputs[0].owner is not None:
        shape = node.inputs[0].owner
        is_first = len(node.inputs) == 2 and not isinstance(node.op.idx_list[0], slice)
        return (
            is_first and known_integer(node.inputs[1]) == 0 and isinstance(shape.op, Shape) and shape.inputs[0] is rows
        )
    return False


def _is_at_most_length(n: Any, rows: Any) -> bool:
    """Return whether a number is known to be at most the length of a sequence: the minimum of several lengths."""
    if isinstance(n, Constant) and rows.type.shape[0] is not None:
        return int(n.data) <= rows.type.shape[0]
    if is_length(n, rows):
        return True
    return n.owner is not None and n.owner.op == minimum and any(_is_at_most_length(m, rows) for m in n.owner.inputs)
