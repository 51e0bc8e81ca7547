"""Rules about tensors in one row: a pattern, its replacement, a condition and a reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.matching import LogicVariable
from aesara.graph.rewriting.pattern import Rule
from aesara.tensor.rewriting.helpers import (
    NUMBERS,
    common_value,
    has_value,
    in_place_of,
    is_elemwise,
    is_real,
    real_of_same_dtype,
)


def row(
    name: str,
    pattern: Any,
    replacement: Any,
    when: Callable[..., bool] | None = None,
    *,
    each: Callable[[Variable, Variable], bool] | None = real_of_same_dtype,
    single_client: bool = False,
    why: str | None = None,
) -> Rule:
    """Return a rule about tensors: `aesara.graph.rewriting.basic.rule` with the defaults that most of them share.

    The replacement is cast to the dtype of the result. That of an elementwise node is broadcast to its shape, by the
    inputs of the node.

    Parameters
    ----------
    name, pattern, replacement, single_client, why
        As in `rule`.
    when
        The condition.
    each
        A function of a variable of the pattern and of the result, that must hold of each variable. By default they are
        real floating-point tensors of the dtype of the result; None for rules about any tensors.

    Examples
    --------
    >>> from aesara.graph.rewriting.utils import rewrite_graph
    >>> from aesara.graph.rewriting.basic import in2out
    >>> x = at.dvector("x")
    >>> cosine = row("cosine_of_opposite", (at.cos, (at.neg, "x")), (at.cos, "x"))
    >>> aesara.pprint(rewrite_graph(at.cos(-x), include=(), custom_rewrite=in2out(cosine)))
    'cos(x)'
    """
    return Rule(name, pattern, replacement, when, single_client, why, each, _in_place)


def _in_place(out: Variable, new: Variable, inputs: Sequence[Variable]) -> list[Variable] | None:
    return in_place_of(out, new, inputs if is_elemwise(out.owner) else ())


def real(x: Variable, out: Variable) -> bool:
    """Return whether a variable of a pattern is of real numbers, of any dtype: what `each` may be."""
    return is_real(x)


def number(name: str, value: Any = None) -> LogicVariable:
    """Return a variable of a pattern that is one number everywhere: a constant, or an allocation or a fill of one.

    Parameters
    ----------
    name
        The name.
    value
        The number; None for any.

    Examples
    --------
    >>> zero = row("product_with_zero", (at.mul, number("zero", 0), "x"), lambda x: at.zeros_like(x))
    """
    if value is None:
        return LogicVariable(name, _is_number, NUMBERS)
    return LogicVariable(name, lambda var: has_value(var, value), NUMBERS)


def _is_number(var: Variable) -> bool:
    return common_value(var) is not None
