"""Messages about dimensions that have length 1 in a call but not by their type, and so are not broadcast."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aesara.graph.messages import formula_of
from aesara.graph.nodes import Variable
from aesara.records import dataclass
from aesara.tensor.shapes.dimshuffle import DimShuffle


def declare_length_one(operands: Iterable[tuple[Variable, int, int]]) -> str:
    """Return instructions for declaring length 1 in the types of operands.

    Parameters
    ----------
    operands
        Variables, a dimension of each, and the length that it has.

    Returns
    -------
    A sentence with a blank in front of it; nothing if no length is 1.

    Examples
    --------
    >>> declare_length_one([(at.dmatrix("x"), 1, 3), (at.dmatrix("m"), 1, 1)])
    ' Declare `m` with `shape=(None, 1)`, or use `at.specify_broadcastable(m, 1)`.'
    """
    for variable, axis, length in operands:
        if length == 1:
            return f" {_hint(variable, axis)}"
    return ""


def _hint(variable: Variable, axis: int) -> str:
    owner = variable.owner
    while owner is not None and isinstance(owner.op, DimShuffle):
        source = owner.op.new_order[axis]
        if isinstance(source, str):
            break
        axis, variable = source, owner.inputs[0]
        owner = variable.owner
    text = variable.name or formula_of(variable) or "value"
    use = f"use `at.specify_broadcastable({text}, {axis})`"
    if owner is not None or variable.name is None:
        return f"To broadcast it, {use}."
    lengths = tuple([1 if d == axis else known for d, known in enumerate(variable.type.shape)])
    return f"Declare `{text}` with `shape={lengths}`, or {use}."


@dataclass(frozen=True)
class MessageAboutLengths:
    """An error message that contains lengths of dimensions at run time.

    Attributes
    ----------
    text
        The message, with ``{0}``, ``{1}``... for the lengths.
    operands
        For each length, in this order, a variable and its dimension; or the sentence that says how to declare that it
        is 1. A message that was pickled has these.

    Examples
    --------
    >>> message = MessageAboutLengths("The lengths are {0} and {1}.", ((at.dvector("x"), 0), (at.dvector("y"), 0)))
    >>> message(3, 2)
    'The lengths are 3 and 2.'
    """

    text: str
    operands: tuple[tuple[Variable, int] | str, ...]

    def __call__(self, *lengths: int) -> str:
        ones = [operand for operand, length in zip(self.operands, lengths) if length == 1]
        return self.text.format(*lengths) + (f" {_sentence(ones[0])}" if ones else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.text, tuple(map(_sentence, self.operands)))


def _sentence(operand: tuple[Variable, int] | str) -> str:
    return operand if isinstance(operand, str) else _hint(*operand)
