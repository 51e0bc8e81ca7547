"""Reading Einstein's notation: from subscripts to a label for each dimension of each operand."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.variable import TensorVariable

#: A letter, or a position, counted from the end, among the dimensions that an ellipsis stands for.
Label = Hashable

_ELLIPSIS = "..."


def parse_einsum(
    subscripts: Any, operands: Sequence[Any]
) -> tuple[list[TensorVariable], list[tuple[Label, ...]], tuple[Label, ...]]:
    """Return the operands as tensors, the labels of their dimensions, and the labels of the result.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> parse_einsum("ij,jk", [at.matrix(), at.matrix()])[1:]
    ([('i', 'j'), ('j', 'k')], ('i', 'k'))
    """
    if isinstance(subscripts, str):
        values = list(operands)
        inputs, output = _from_text(subscripts)
    else:
        values, inputs, output = _from_lists([subscripts, *operands])
    if len(inputs) != len(values):
        raise ValueError(f"einsum: subscripts for {len(inputs)} operand(s) were given, with {len(values)} operand(s).")
    tensors = [as_tensor_variable(value) for value in values]
    labels = [_expand_ellipsis(entries, t) for entries, t in zip(inputs, tensors)]
    return tensors, labels, _output_labels(labels, output)


def _from_text(subscripts: str) -> tuple[list[list[Any]], list[Any] | None]:
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    if "-" in left + right or ">" in left + right:
        raise ValueError(f"einsum: there is more than one arrow, or part of one, in {subscripts!r}.")
    inputs = [_tokens(part, subscripts) for part in left.split(",")]
    if "," in right:
        raise ValueError(f"einsum: there is one result; got a comma after the arrow in {subscripts!r}.")
    return inputs, _tokens(right, subscripts) if arrow else None


def _tokens(part: str, subscripts: str) -> list[Any]:
    """Letters, and at most one ellipsis."""
    if part.count(_ELLIPSIS) > 1 or "." in part.replace(_ELLIPSIS, ""):
        raise ValueError(f"einsum: an operand has one ellipsis of three dots at most; got {subscripts!r}.")
    tokens: list[Any] = []
    for position, piece in enumerate(part.split(_ELLIPSIS)):
        if position:
            tokens.append(Ellipsis)
        tokens.extend(piece)
    for token in tokens:
        if token is not Ellipsis and not (token.isascii() and token.isalpha()):
            raise ValueError(f"einsum: subscripts are letters; got {token!r} in {subscripts!r}.")
    return tokens


def _from_lists(arguments: Sequence[Any]) -> tuple[list[Any], list[list[Any]], list[Any] | None]:
    """Operands, each followed by the list of its labels; at the end perhaps the list of the result."""
    values, lists = list(arguments[0::2]), list(arguments[1::2])
    output = values.pop() if len(values) > len(lists) else None
    if not values:
        raise ValueError("einsum: there are no operands.")
    return values, [_checked_list(entries) for entries in lists], None if output is None else _checked_list(output)


def _checked_list(entries: Any) -> list[Any]:
    if not isinstance(entries, (list, tuple)):
        raise TypeError(f"einsum: a list of integers must follow each operand; got {entries!r}.")
    for entry in entries:
        if entry is not Ellipsis and (isinstance(entry, bool) or not isinstance(entry, (int, np.integer)) or entry < 0):
            raise ValueError(f"einsum: labels are integers that are not negative, or Ellipsis; got {entry!r}.")
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise ValueError(f"einsum: an operand has at most one Ellipsis; got {entries!r}.")
    return [entry if entry is Ellipsis else int(entry) for entry in entries]


def _expand_ellipsis(entries: list[Any], tensor: TensorVariable) -> tuple[Label, ...]:
    """Return the labels of an operand, with an ellipsis replaced by dimensions."""
    ndim = tensor.type.ndim
    if Ellipsis not in entries:
        if len(entries) != ndim:
            raise ValueError(
                f"einsum: {len(entries)} subscript(s) were given for {describe(tensor)} of type {tensor.type}, "
                f"which has {ndim} dimension(s)."
            )
        return tuple(entries)
    extra = ndim - (len(entries) - 1)
    if extra < 0:
        raise ValueError(
            f"einsum: at least {len(entries) - 1} dimensions are needed for {describe(tensor)} of type {tensor.type}, "
            f"which has {ndim}."
        )
    position = entries.index(Ellipsis)
    return (*entries[:position], *_ellipsis_labels(extra), *entries[position + 1 :])


def _ellipsis_labels(count: int) -> list[Label]:
    return [(_ELLIPSIS, position) for position in range(-count, 0)]


def _output_labels(labels: Sequence[tuple[Label, ...]], output: list[Any] | None) -> tuple[Label, ...]:
    occurring = [name for names in labels for name in names]
    longest = max([sum(isinstance(name, tuple) for name in names) for names in labels], default=0)
    of_ellipsis = _ellipsis_labels(longest)
    if output is None:
        plain: set[Any] = {name for name in occurring if not isinstance(name, tuple)}
        return (*of_ellipsis, *sorted(name for name in plain if occurring.count(name) == 1))
    if Ellipsis in output:
        position = output.index(Ellipsis)
        result = (*output[:position], *of_ellipsis, *output[position + 1 :])
    elif longest:
        raise ValueError("einsum: the dimensions that an ellipsis stands for must be kept; the result has no ellipsis.")
    else:
        result = tuple(output)
    for name in result:
        if name not in occurring:
            raise ValueError(f"einsum: the result has the label {name!r}, which no operand has.")
        if result.count(name) > 1:
            raise ValueError(f"einsum: the result has the label {name!r} twice.")
    return result
