"""Rules about tensors that consist of a pattern, a replacement, a condition and a reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aesara.graph.features import Feature
from aesara.graph.nodes import Variable
from aesara.graph.rewriting.describe import first_sentence
from aesara.graph.rewriting.matching import LogicVariable
from aesara.graph.rewriting.pattern import Rule
from aesara.tensor.elementwise.ops import second
from aesara.tensor.rewriting.helpers import (
    NUMBERS,
    common_value,
    constant_like,
    in_place_of,
    is_elemwise,
    is_real,
    real_of_same_dtype,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def row(
    name: str,
    pattern: Any,
    replacement: Any,
    when: Callable[..., bool] | None = None,
    *,
    each: Callable[[Variable, Variable], bool] | None = real_of_same_dtype,
    single_client: bool = False,
    why: str | None = None,
    requirements: Sequence[type[Feature]] = (),
) -> Rule:
    """Return a rule about tensors: `aesara.graph.rewriting.basic.rule` with the defaults that most of them share.

    The replacement, which may be a number, is cast to the dtype of the result; that of an elementwise result is
    broadcast to its shape, by the inputs of the node.

    Parameters
    ----------
    name, pattern, replacement, single_client, why
        As in `rule`.
    when
        The condition.
    each
        A predicate of a variable of the pattern and the result that must hold for each variable. By default, variables
        are real floating-point tensors of the dtype of the result; None for rules about any tensors.
    requirements
        Classes of features that the graph must have.

    Examples
    --------
    >>> from aesara.graph.rewriting.utils import rewrite_graph
    >>> from aesara.graph.rewriting.basic import in2out
    >>> x = at.dvector("x")
    >>> cosine = row("cosine_of_opposite", (at.cos, (at.neg, "x")), (at.cos, "x"))
    >>> aesara.pprint(rewrite_graph(at.cos(-x), include=(), custom_rewrite=in2out(cosine)))
    'cos(x)'
    """
    return Rule(name, pattern, replacement, when, single_client, why, each, _in_place_of, requirements)


def real(x: Variable, out: Variable) -> bool:
    """Return whether a variable of a pattern has real numbers of any dtype: a value of `each`."""
    return is_real(x)


def replacing(
    pattern: Any,
    when: Callable[..., bool] | None = None,
    *,
    each: Callable[[Variable, Variable], bool] | None = real_of_same_dtype,
    single_client: bool = False,
    requirements: Sequence[type[Feature]] = (),
) -> Callable[[Callable[..., Variable | None]], Rule]:
    """Return a decorator that makes a rule of the function that returns its replacement.

    The name of the rule is that of the function, its reason the first sentence of the docstring. The parameters are
    those of `row`.

    Examples
    --------
    >>> @replacing((at.cos, (at.neg, "x")))
    ... def cosine_of_opposite(x):
    ...     \"\"\"cos(-x) -> cos(x)\"\"\"
    ...     return at.cos(x)
    >>> cosine_of_opposite.name, cosine_of_opposite.description
    ('cosine_of_opposite', 'cos(-x) -> cos(x)')
    """

    def decorate(function: Callable[..., Variable | None]) -> Rule:
        why = first_sentence(function.__doc__)
        decorated = row(
            function.__name__, pattern, function, when,
            each=each, single_client=single_client, why=why, requirements=requirements,
        )  # fmt: skip
        decorated.__doc__ = function.__doc__
        return decorated

    return decorate


class NumberVariable(LogicVariable):
    """A variable of a pattern whose elements are all one number; see `number` for the attributes."""

    __slots__ = ("value",)

    def __init__(self, name: str, value: float | Callable[[float], bool] | None):
        super().__init__(name, self.accepts, NUMBERS)
        self.value = value

    def __str__(self) -> str:
        return self.name if self.value is None or callable(self.value) else str(self.value)

    def accepts(self, var: Variable) -> bool:
        """Return whether a variable is a number that matches."""
        value = common_value(var)
        if value is None:
            return False
        return bool(self.value(value) if callable(self.value) else self.value is None or value == self.value)


def number(name: str, value: float | Callable[[float], bool] | None = None) -> NumberVariable:
    """Return a variable of a pattern whose elements are all one number: a constant, or an allocation or fill of one.

    Parameters
    ----------
    name
        The name.
    value
        The number, or a predicate of numbers; None for any number.

    Examples
    --------
    >>> zero = row("product_with_zero", (at.mul, number("zero", 0), "x"), lambda x: at.zeros_like(x))
    >>> number("n", lambda n: n < 0).accepts(at.constant(-1))
    True
    """
    return NumberVariable(name, value)


def _in_place_of(out: Variable, new: Variable | ArrayLike, inputs: Sequence[Variable]) -> list[Variable] | None:
    """Return the result of a rule, which for elementwise results is broadcast by the inputs of the node.

    A fill is not broadcast again.
    """
    new = new if isinstance(new, Variable) else constant_like(new, out)
    return in_place_of(out, new, inputs if is_elemwise(out.owner) and out.owner.op != second else ())
