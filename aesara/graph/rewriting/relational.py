"""Relational programming over expressions: a small miniKanren.

A *term* is a logic variable, a variable of a graph, a tuple ``(op, term, ...)``, or any other Python value. A graph and
the tuple that describes it unify: the variable ``a + b`` with ``(at.add, x, y)``, where ``x`` and ``y`` are logic
variables. A number unifies with constants of its value.

A *goal* is a function from a substitution (a dict from logic variables to terms) to an iterator of substitutions: the
ways in which it can hold. `eq` makes goals, `lall` and `lany` combine them, and `run` looks for answers. Goals of the
``kanren`` package are functions of the same kind.

==================  ==================================================================
``eq(u, v)``        both terms are the same
``eq_comm(u, v)``   the same but for the order of inputs of commutative operations
``conso(h, t, u)``  ``u`` is an operation ``h`` on the inputs ``t``
``membero(u, us)``  ``u`` is one of ``us``
``lall``, ``lany``  all goals hold; one of them does
``conde``           one of several rows of goals holds
``goaleval``        a goal that is only made when it is asked for (for relations that use themselves)
==================  ==================================================================

Examples
--------
>>> a, b = at.dvectors("a", "b")
>>> x, y = var("x"), var("y")
>>> run(0, (x, y), eq((at.add, x, y), a + b))
((a, b),)
>>> run(1, x, lany(eq((at.exp, x), at.log(a)), eq((at.log, x), at.log(a))))
(a,)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice, permutations
from typing import Any

from aesara.graph.nodes import Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.matching import is_commutative, is_value

__all__ = [
    "Var",
    "conde",
    "conso",
    "eq",
    "eq_comm",
    "fail",
    "goaleval",
    "isvar",
    "lall",
    "lany",
    "membero",
    "reify",
    "run",
    "succeed",
    "term_of",
    "unify",
    "var",
    "vars",
    "walk",
]

Substitution = dict[Any, Any]
Goal = Callable[[Substitution], Iterable[Substitution]]

_numbers = count()


class Var:
    """A logic variable; each one is different from all others, unless both have the same name."""

    __slots__ = ("name",)

    def __init__(self, name: str | None = None):
        self.name = f"_{next(_numbers)}" if name is None else name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Var) and self.name == other.name

    def __hash__(self) -> int:
        return hash((Var, self.name))

    def __repr__(self) -> str:
        return f"~{self.name}"


def var(name: str | None = None) -> Var:
    """A logic variable."""
    return Var(name)


def vars(n: int) -> tuple[Var, ...]:
    """`n` new logic variables."""
    return tuple(Var() for _ in range(n))


def isvar(term: Any) -> bool:
    """Return whether a term is a logic variable, of this module or of the ``unification`` package."""
    if isinstance(term, Var):
        return True
    package = sys.modules.get("unification")
    return package is not None and isinstance(term, package.Var)


def walk(term: Any, substitution: Substitution) -> Any:
    """Resolve a term: follow bindings of logic variables until an unbound variable or another term."""
    while isvar(term) and term in substitution:
        term = substitution[term]
    return term


def term_of(graph: Variable) -> Any:
    """The tuple ``(op, input, ...)`` that has made a variable; the variable if nothing has."""
    node = graph.owner
    return graph if node is None or len(node.outputs) != 1 else (node.op, *node.inputs)


def unify(
    u: Any, v: Variable, substitution: Substitution | None = None, commutative: bool = False
) -> Iterator[Substitution]:
    """The ways in which two terms can be made the same, as substitutions.

    Examples
    --------
    >>> a = at.dvector("a")
    >>> x = var("x")
    >>> list(unify((at.mul, 2, x), 2 * a))
    [{~x: a}]
    """
    pending: tuple[Any, ...] = ((u, v), None)
    yield from _unify(pending, {} if substitution is None else substitution, commutative)


def _unify(pending: Any, s: Substitution, commutative: bool) -> Iterator[Substitution]:
    """Unify the pairs of a linked list; where commutative operations give a choice, try all."""
    while pending is not None:
        (u, v), pending = pending
        u, v = walk(u, s), walk(v, s)
        if u is v:
            continue
        if isvar(u) or isvar(v):
            name, term = (u, v) if isvar(u) else (v, u)
            if _occurs(name, term, s):
                return
            s = {**s, name: term}
            continue
        left, right = _parts(u), _parts(v)
        if left is None or right is None:
            if _equal_atoms(u, v):
                continue
            return
        if len(left) != len(right):
            return
        if commutative and len(left) > 2:
            op = walk(left[0], s) if isinstance(walk(left[0], s), Op) else walk(right[0], s)
            if is_commutative(op):
                for inputs in permutations(right[1:]):
                    yield from _unify(_put((left[0], *left[1:]), (right[0], *inputs), pending), s, commutative)
                return
        pending = _put(left, right, pending)
    yield s


def _put(left: Sequence[Any], right: Sequence[Any], pending: Any) -> Any:
    for pair in reversed(list(zip(left, right))):
        pending = (pair, pending)
    return pending


def _parts(term: Any) -> Sequence[Any] | None:
    if isinstance(term, Variable):
        term = term_of(term)
    if isinstance(term, (tuple, list)):
        return term
    return tuple(term) if hasattr(term, "evaled_obj") else None  # of the package `etuples`


def _equal_atoms(u: Any, v: Variable) -> bool:
    if isinstance(u, Constant) and isinstance(v, Constant):
        return bool(u.equals(v))
    for one, other in ((u, v), (v, u)):
        if isinstance(one, Variable) and isinstance(other, (int, float, complex)):
            return is_value(one, other)
    return type(u) is type(v) and bool(u == v)


def _occurs(name: Any, term: Any, s: Substitution) -> bool:
    """Occurs check: return whether `term` contains the logic variable `name`; graphs hold no logic variables."""
    stack = [term]
    while stack:
        part = walk(stack.pop(), s)
        if part is name:
            return True
        if isinstance(part, (tuple, list)):
            stack.extend(part)
    return False


def reify(term: Any, substitution: Substitution) -> Any:
    """Replace the bound logic variables of a term by their values."""
    term = walk(term, substitution)
    if isinstance(term, (tuple, list)):
        return type(term)(reify(part, substitution) for part in term)
    if isinstance(term, Inputs):
        return (reify(term.head, substitution), *reify(term.tail, substitution))
    return term


class Inputs:
    """A tuple of which only the first part and, as a whole, the rest are known."""

    __slots__ = ("head", "tail")

    def __init__(self, head: Any, tail: Any):
        self.head = head
        self.tail = tail


def succeed(substitution: Substitution) -> Iterator[Substitution]:
    """The goal that always holds."""
    yield substitution


def fail(substitution: Substitution) -> Iterator[Substitution]:
    """The goal that never holds."""
    return iter(())


def eq(u: Any, v: Variable) -> Goal:
    """Both terms are the same."""
    return lambda s: unify(u, v, s)


def eq_comm(u: Any, v: Variable) -> Goal:
    """Both terms are the same, but for the order of inputs of commutative operations.

    Examples
    --------
    >>> a = at.dvector("a")
    >>> x = var("x")
    >>> run(0, x, eq_comm((at.add, (at.exp, x), 1), 1 + at.exp(a)))
    (a,)
    """
    return lambda s: unify(u, v, s, commutative=True)


def conso(head: Any, tail: Any, term: Any) -> Goal:
    """A term is an operation `head` on inputs `tail` (a tuple, or a logic variable for one)."""

    def goal(s: Substitution) -> Iterator[Substitution]:
        parts = _parts(walk(term, s))
        if parts:
            return _unify(((head, parts[0]), ((tail, tuple(parts[1:])), None)), s, False)
        if isvar(walk(term, s)):
            return iter([{**s, walk(term, s): Inputs(head, tail)}])
        return iter(())

    return goal


def membero(term: Any, terms: Iterable[Any]) -> Goal:
    """A term is one of several."""
    return lany(*(eq(term, one) for one in terms))


def lall(*goals: Goal) -> Goal:
    """All goals hold."""

    def goal(s: Substitution, rest: tuple[Goal, ...] = goals) -> Iterator[Substitution]:
        if not rest:
            yield s
            return
        for found in rest[0](s):
            yield from goal(found, rest[1:])

    return lambda s: goal(s)


def lany(*goals: Goal) -> Goal:
    """One of the goals holds; their answers come in turn, so that an endless one starves no other."""

    def goal(s: Substitution) -> Iterator[Substitution]:
        streams = [iter(one(s)) for one in goals]
        while streams:
            for stream in list(streams):
                try:
                    yield next(stream)
                except StopIteration:
                    streams.remove(stream)

    return goal


def conde(*rows: Sequence[Goal]) -> Goal:
    """One of the rows holds, with all of its goals."""
    return lany(*(lall(*row) for row in rows))


def goaleval(relation: Callable[..., Goal], *terms: Any) -> Goal:
    """The goal ``relation(*terms)``, made when it is asked for: a relation may use itself in this way."""
    return lambda s: iter(relation(*(walk(term, s) for term in terms))(s))


def run(n: int | None, term: Any, *goals: Goal) -> Any:
    """Answers: what a term stands for where all goals hold.

    Parameters
    ----------
    n
        At most how many; 0 for all of them, None for an iterator.
    term
        The term.
    goals
        The goals.

    Examples
    --------
    >>> x = var("x")
    >>> run(0, x, membero(x, (1, 2, 3)), membero(x, (2, 3, 4)))
    (2, 3)
    """
    answers = (reify(term, s) for s in lall(*goals)({}))
    if n is None:
        return answers
    return tuple(islice(answers, n or None))
