"""Estimates of the time that steps of a program take, in nanoseconds, as polynomials in the sizes.

They are right within a small factor, which is enough to decide whether to release the GIL and how often a long loop
looks for Ctrl-C.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import field

from aesara.ir.expr import Expr, cast, const, cost, substitute, walk
from aesara.ir.kernel import For, If, Kernel, Statement, While, expressions_of
from aesara.records import dataclass

__all__ = ["UNKNOWN", "Work", "has_heavy_loops", "is_heavy", "iteration_work", "kernel_work", "sum_of"]

#: assumed value of unknown sizes
UNKNOWN = 64
#: nanoseconds for a unit of `cost` in vectorized loops and elsewhere
_VECTOR, _SCALAR = 0.1, 0.4
#: least time of an iteration between which signals may be looked for, in nanoseconds
_HEAVY = 20.0
#: time of an iteration that need not be interrupted
_SHORT = 1e5
#: assumed trip count of a `while`
_WHILE_ITERATIONS = 16


@dataclass(frozen=True)
class Work:
    """A polynomial in the sizes: products of sizes -> factor."""

    terms: dict[tuple[Expr, ...], float] = field(default_factory=dict)

    def __add__(self, other: Work) -> Work:
        return sum_of([self, other])

    def times(self, size: Expr) -> Work:
        """Return the work of `size` repetitions."""
        if size.is_const:
            return Work({sizes: factor * max(size.attr, 0) for sizes, factor in self.terms.items()})
        return Work({tuple(sorted((size, *sizes), key=_sort_key)): factor for sizes, factor in self.terms.items()})

    @property
    def constant(self) -> float | None:
        """The value, if it does not depend on any size."""
        return None if any(self.terms) else self.terms.get((), 0.0)

    def assuming(self, size: int) -> float:
        """Return the value if all sizes that are not constants equal `size`."""
        return sum((factor * float(size) ** len(sizes) for sizes, factor in self.terms.items()), 0.0)

    def replace(self, change: Callable[[Expr], Expr]) -> Work:
        """Return the polynomial with `change` applied to its sizes."""
        parts = []
        for sizes, factor in self.terms.items():
            term = Work({(): factor})
            for size in reversed(sizes):
                term = term.times(change(size))
            parts.append(term)
        return sum_of(parts)

    def expression(self) -> Expr:
        """Return the value as a float64 expression."""
        parts = [const(factor, "float64") for sizes, factor in self.terms.items() if not sizes]
        for sizes, factor in self.terms.items():
            if sizes:
                product = functools.reduce(lambda a, b: a * b, [cast(size, "float64") for size in sizes])
                parts.append(product * const(factor, "float64"))
        # Summed in the order in which terms are computed: few registers are live.
        return functools.reduce(lambda a, b: b + a, parts) if parts else const(0.0, "float64")


def sum_of(works: Iterable[Work]) -> Work:
    """Return the sum of estimates."""
    terms: dict[tuple[Expr, ...], float] = {}
    for work in works:
        for sizes, factor in work.terms.items():
            terms[sizes] = terms.get(sizes, 0.0) + factor
    return Work(terms)


def _sort_key(size: Expr) -> tuple[str, str]:
    """Return the sort key of a size in a product, so that equal products are the same expression."""
    return size.op, str(size.attr)


def kernel_work(kernel: Kernel) -> Work:
    """Return the work of a kernel, in sizes that are its parameters."""
    return _body_work(kernel.body)


@functools.lru_cache(maxsize=256)
def _body_work(body: tuple[Statement, ...]) -> Work:
    return _work(body, frozenset(), _SCALAR)


def iteration_work(loop: For) -> Work:
    """Return the work of one iteration of a loop, in sizes that are known outside of it."""
    rate = _VECTOR if _is_vectorized(loop) else _SCALAR
    return _work(loop.body, frozenset({loop.var}), rate) + Work({(): rate})


def is_heavy(body: Iterable[Statement]) -> bool:
    """Return whether iterations of its loops take long enough that checks for signals between them cost nothing."""
    return any(factor >= _HEAVY for factor in _work(body, frozenset(), _SCALAR).terms.values())


def has_heavy_loops(loop: For) -> bool:
    """Return whether the nested loops should be split instead, since one iteration of this one may take long."""
    whole = iteration_work(loop).constant
    if whole is not None and whole < _SHORT:
        return False
    return any(is_heavy(s.body) for s in loop.body if isinstance(s, For))


def _work(body: Iterable[Statement], bound: frozenset[str], rate: float) -> Work:
    total = Work()
    here = 0.0
    seen: set[Expr] = set()
    for statement in body:
        if isinstance(statement, For):
            inner = _work(statement.body, bound | {statement.var}, _VECTOR if _is_vectorized(statement) else _SCALAR)
            total += (inner + Work({(): rate})).times(_extent(statement.extent, bound))
        elif isinstance(statement, (If, While)):
            iterations = _WHILE_ITERATIONS if isinstance(statement, While) else 1
            total += _work(statement.body, bound, _SCALAR).times(const(iterations))
        else:
            for e in walk(expressions_of(statement)):
                if e not in seen:
                    seen.add(e)
                    here += e.attr.time if e.op == "call" else rate * cost(e)
            here += 2 * rate
    return total + Work({(): here})


def _is_vectorized(loop: For) -> bool:
    """Return whether LLVM probably vectorizes the loop."""
    return loop.parallel or not any(isinstance(s, (For, If, While)) for s in loop.body)


def _extent(extent: Expr, bound: frozenset[str]) -> Expr:
    """Return the trip count with the variables of outer loops set to 0."""
    return substitute([extent], lambda e: const(0) if e.op == "var" and e.attr in bound else None, {})[0]
