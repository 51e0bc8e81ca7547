"""Patterns as terms of the packages ``unification`` and ``etuples``, for those who have them.

They stand in `aesara.graph.rewriting.unify` as well. Nothing imports this module unless it is asked for: the packages
are no requirement of Aesara. From here on graphs, ops and types unify with expression tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from numbers import Number
from typing import Any

import numpy as np
import unification
from etuples import etuple

from aesara.graph.conversion import as_symbolic
from aesara.graph.rewriting.kanren_packages import imported_packages

__all__ = ["ConstrainedVar", "convert_strs_to_vars", "eval_if_etuple"]

imported_packages()
_numbers = count()


class ConstrainedVar(unification.Var):  # type: ignore[misc]  # the package has no types
    """A logic variable for terms that satisfy ``constraint(term)``."""

    __slots__ = ("constraint",)

    def __new__(cls, constraint: Callable[[Any], bool], token: Any = None, prefix: str = "") -> Any:
        # Variables of one token are the same object, whatever their class.
        token = f"{prefix}_{next(_numbers)}" if token is None else token
        made = super().__new__(cls, (constraint, token))
        made.constraint = constraint
        made.token = token
        return made

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return self.token == other.token and self.constraint == other.constraint

    def __hash__(self) -> int:
        return hash((type(self), self.token, self.constraint))

    def __str__(self) -> str:
        return f"~{self.token} [{self.constraint}]"

    def __repr__(self) -> str:
        return f"ConstrainedVar({self.constraint!r}, {self.token})"


def _unify_constrained(u: Any, v: Any, s: Mapping[Any, Any]) -> Iterator[Any]:
    if u is v:
        yield s
    elif issubclass(type(v), ConstrainedVar):  # for `isinstance`, every logic variable is one of every kind
        yield {**s, u: v} if u.constraint is v.constraint else False
    elif isinstance(v, unification.Var):
        yield {**s, v: u}
    else:
        yield {**s, u: v} if u.constraint(v) else False


def _unify_with_constrained(u: Any, v: Any, s: Mapping[Any, Any]) -> Iterator[Any]:
    return _unify_constrained(v, u, s)


for _other in (object, unification.Var):
    unification.core._unify.add((ConstrainedVar, _other, Mapping), _unify_constrained)
    unification.core._unify.add((_other, ConstrainedVar, Mapping), _unify_with_constrained)
unification.core._unify.add((ConstrainedVar, ConstrainedVar, Mapping), _unify_constrained)


def convert_strs_to_vars(x: Any, var_map: dict[str, Any] | None = None) -> Any:
    """A pattern of strings, numbers, dicts and tuples as a term.

    Strings become logic variables, ``{"pattern": "x", "constraint": f}`` a `ConstrainedVar`, tuples expression tuples,
    numbers and arrays constants.
    `var_map` is filled with the variables that strings stand for.
    """
    var_map = {} if var_map is None else var_map

    def convert(part: Any) -> Any:
        if isinstance(part, str):
            return var_map.setdefault(part, unification.var(part))
        if isinstance(part, dict):
            if not isinstance(part["pattern"], str):
                raise TypeError("A constraint can be put on a logic variable only.")
            name = part["pattern"]
            return var_map.setdefault(name, ConstrainedVar(part["constraint"], name))
        if isinstance(part, (tuple, list)):
            return etuple(*(convert(one) for one in part))
        if isinstance(part, (Number, np.ndarray)):
            return as_symbolic(part)
        return part

    return convert(x)


def eval_if_etuple(x: Any) -> Any:
    """The graph that an expression tuple stands for; anything else as it is."""
    return getattr(x, "evaled_obj", x)
