"""The op table: what each op and function of `aesara.tensor` computes, for which inputs.

A row names a function, an oracle of NumPy, SciPy or mpmath, and cases: inputs, and parameters that are no tensors.
Everything that holds for every op is then tested by going through the rows. To add a function, add a row to the file
of its family; `tests/optable/rows` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

import aesara.tensor as at
from aesara.graph.nodes import Variable
from tests.optable.inputs import Arg

__all__ = ["ROWS", "Case", "Row", "as_list", "case", "row"]


def as_list(value: Any) -> list:
    return list(value) if isinstance(value, (list, tuple)) else [value]


@dataclass(frozen=True)
class Case:
    """Inputs, and parameters that function and oracle both receive."""

    args: tuple[Arg, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    #: no check of the gradient
    smooth: bool = True

    def __str__(self) -> str:
        shapes = ", ".join(f"{a.dtype}{list(a.shape)}" for a in self.args)
        return f"({shapes}{''.join(f', {k}={v!r}' for k, v in self.params.items())})"


def case(*args: Arg, smooth: bool = True, **params: Any) -> Case:
    """A case of a row."""
    return Case(args, params, smooth)


@dataclass
class Row:
    """All that tests know of a function.

    Parameters
    ----------
    name
        Of the row; the function of this name in `aesara.tensor` unless `function` is given.
    oracle
        The same function of arrays.
    cases
        Inputs and parameters.
    error
        How far results may be from the oracle's: ``"exact"``, a number of units in the last place, or ``"sum"``:
        rounding errors in proportion to the oracle for absolute values.
    dtypes
        The dtypes that the inputs which vary take in turn, in each of `dtype_cases`.
    dtype
        The dtype of each output for the dtypes of the inputs, where it is not the oracle's.
    python
        Why the native linker runs nodes of it in Python: patterns of op names with reasons.
    gradient
        Whether there is one; ``second`` whether that has one, too.
    covers
        Other public names that the row stands for.
    needs_values
        Why the shape of the results cannot be known without computing them.
    magnitude
        For ``error="sum"``: what errors are in proportion to, if it is not ``oracle(*abs(inputs))``.
    """

    name: str
    function: Callable[..., Any]
    oracle: Callable[..., Any]
    cases: Sequence[Case]
    error: str | float = "exact"
    dtypes: tuple[str, ...] = ()
    dtype_cases: Sequence[Case] | None = None
    dtype: Callable[..., Any] | None = None
    python: Mapping[str, str] = field(default_factory=dict)
    gradient: bool = True
    covers: tuple[str, ...] = ()
    needs_values: str = ""
    magnitude: Callable[..., Any] | None = None
    special_values: bool = False
    fuzzed: bool = True
    elementwise: bool = False
    truth: Callable[..., Any] | None = None
    signed_zeros: bool = True
    complex_cases: Sequence[Case] = ()
    second: str = "all"

    def __str__(self) -> str:
        return self.name

    def apply(self, case: Case, variables: Sequence[Variable]) -> list[Variable]:
        return as_list(self.function(*variables, **case.params))

    def expect(self, case: Case, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        with np.errstate(all="ignore"):
            results = as_list(self.oracle(*values, **case.params))
        return [np.asarray(r) for r in results]

    def dtypes_of(self, case: Case, expected: Sequence[np.ndarray]) -> list[str]:
        """The dtype of each output."""
        if self.dtype is None:
            return [str(e.dtype) for e in expected]
        dtypes = as_list(self.dtype(*[a.dtype for a in case.args], **case.params))
        return [str(np.dtype(d)) for d in (dtypes * len(expected) if len(dtypes) == 1 else dtypes)]

    def size_of_terms(self, case: Case, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the scale of rounding errors, for each result."""
        absolute = [np.abs(v) if v.dtype.kind in "fci" else v for v in values]
        function = self.magnitude or self.oracle
        with np.errstate(all="ignore"):
            return [np.asarray(r) for r in as_list(function(*absolute, **case.params))]

    @cached_property
    def cases_by_dtype(self) -> list[Case]:
        """The cases with other dtypes."""
        cases = self.cases[:1] if self.dtype_cases is None else self.dtype_cases
        return [
            replace(c, args=tuple(a.to(dtype) for a in c.args), smooth=False) for dtype in self.dtypes for c in cases
        ]


ROWS: dict[str, Row] = {}


def row(
    name: str,
    oracle: Callable[..., Any],
    cases: Sequence[Case],
    function: Callable[..., Any] | None = None,
    **facts: Any,
) -> Row:
    """Add a row to the table."""
    if name in ROWS:
        raise ValueError(f"the table already has a row {name!r}")
    made = ROWS[name] = Row(name, function or getattr(at, name), oracle, cases, **facts)
    return made
