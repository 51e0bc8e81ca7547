"""Batches of small matrices: routines of LAPACK as loops of our own, over several members at once.

For a matrix of order 4 a call of LAPACK takes longer than the arithmetic.  The loops here take several members of a
batch, copy them to a small memory in which the same element of all members stands side by side, do each
step for all of them, and copy the results back.  Vectors of any width do this equally well, with the same results to
the last bit.

Each form does what the record of its routine says, for orders up to `LARGEST`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from aesara.ir.buffers import ITEM_SIZES, Operand
from aesara.ir.expr import Expr, cast, const, load, op, substitute, var
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Declare, For, Statement, Store
from aesara.ir.routine import Routine
from aesara.ir.routines import lapack
from aesara.ir.steps import BATCH
from aesara.lower.kernels import launch_of
from aesara.lower.shape_arithmetic import count_of
from aesara.records import dataclass

if TYPE_CHECKING:
    from aesara.ir.steps import Launch

__all__ = ["SmallForm", "small_form"]

#: the largest order, and number of right-hand sides
LARGEST = 8
#: bytes of the same element of several members, and for how many members it pays
_WIDTH, _FEWEST = 64, 4
#: numbers for each member: two matrices and some vectors
_NUMBERS = 2 * LARGEST**2 + 2
#: whole numbers for each member
_WHOLE = LARGEST + 2

_ONE, _ZERO = const(1), const(0)
_LANE, _BLOCK = var("lane"), var("block")
#: index of an element in the matrices of a member
_Index = tuple[Expr, ...]


def _lanes(dtype: str) -> int:
    """How many members are taken at once."""
    return _WIDTH // ITEM_SIZES[dtype]


def _loop(variable: str, extent: Expr, *body: Statement) -> For:
    """A loop around loops over members, or over copies: LLVM would take its time to find nothing there."""
    return For(variable, extent, body, interleave=0)


@dataclass(frozen=True)
class SmallForm:
    """A routine as loops over small matrices.

    Attributes
    ----------
    routine
        The routine.
    bounded
        The sizes that must not be larger than `LARGEST`.
    copied
        The arrays that are copied in, and those that are copied back.
    steps
        The loops.
    """

    routine: Routine
    bounded: tuple[str, ...]
    copied: tuple[tuple[str, ...], tuple[str, ...]]
    steps: _Steps

    def fits(self, sizes: Mapping[str, Expr], count: Expr) -> Expr:
        """Whether a batch of so many members is to be done by these loops."""
        conditions = [const(_FEWEST) <= count, *(sizes[n] <= LARGEST for n in self.bounded)]
        if any(c.is_const and not c.attr for c in conditions):
            return const(False, "bool")
        unknown = [c for c in conditions if not c.is_const]
        return functools.reduce(functools.partial(op, "and"), unknown) if unknown else const(True, "bool")

    def rooms(self) -> tuple[tuple[str, Expr], ...]:
        """Dtypes and lengths of the memory that it needs: for numbers and for whole numbers."""
        dtype = self.routine.parameters[0].dtype
        lanes = _lanes(dtype)
        return (dtype, const(_NUMBERS * lanes)), ("int64", const(_WHOLE * lanes))

    def launch(
        self, name: str, sizes: Mapping[str, Expr], operands: Mapping[str, Operand], rooms: tuple[str, str], count: Expr
    ) -> Launch:
        """The kernel for a batch of so many members; `rooms` are buffers of numbers and of whole numbers."""
        members = _Members(self.routine, sizes, operands, rooms, count)
        body = (
            *(members.copy_in(one) for one in self.copied[0]),
            *self.steps(members),
            *(members.copy_out(one) for one in self.copied[1]),
        )
        blocks = (count + const(members.lanes - 1)) // members.lanes
        return launch_of(name, (_loop(_BLOCK.attr, blocks, *body),))


class _Members:
    """Some members of a batch, and the memory in which their elements stand side by side."""

    def __init__(
        self, routine: Routine, sizes: Mapping[str, Expr], operands: Mapping[str, Operand], rooms: tuple[str, str],
        count: Expr,
    ) -> None:  # fmt: skip
        self.routine, self.sizes, self.operands = routine, sizes, operands
        self.parameters = {p.name: p for p in routine.parameters}
        self.numbers, self.whole = rooms
        self.dtype = routine.parameters[0].dtype
        self.lanes = _lanes(self.dtype)
        self.first, self.last = _BLOCK * self.lanes, count - _ONE
        self._begins = {"a": 0, "b": LARGEST**2, "scale": 2 * LARGEST**2, "best": 2 * LARGEST**2 + 1}
        self._whole_begins = {"pivots": 0, "status": LARGEST, "place": LARGEST + 1}

    # -- what stands in the memory ---------------------------------------------------------------------------

    def _shape(self, name: str) -> tuple[Expr, ...]:
        if name == "b" and "b" not in self.operands:  # solutions for the columns of the identity matrix
            name = "a"
        if name not in self.operands:
            return ()
        return self.routine.shape_of(self.parameters[name], self.sizes)

    def _place(self, name: str, index: _Index) -> tuple[str, str, Expr]:
        is_whole = name in self._whole_begins
        offset: Expr = _ZERO
        for n, i in zip(self._shape(name), index, strict=True):
            offset = offset * n + i
        offset = offset + const((self._whole_begins if is_whole else self._begins)[name])
        offset = offset * self.lanes + _LANE
        return (self.whole, "int64", offset) if is_whole else (self.numbers, self.dtype, offset)

    def get(self, name: str, *index: Expr) -> Expr:
        """An element."""
        buffer, dtype, offset = self._place(name, index)
        return load(buffer, dtype, offset)

    def put(self, name: str, index: _Index, value: Expr) -> Store:
        """Set an element."""
        buffer, _, offset = self._place(name, index)
        return Store(buffer, offset, value)

    def number(self, value: float) -> Expr:
        return const(value, self.dtype)

    def each(self, *statements: Statement) -> For:
        """Statements for each member."""
        return mark_parallel(For(_LANE.attr, const(self.lanes), statements))

    # -- the arrays of the batch -----------------------------------------------------------------------------

    def _pair(self, name: str) -> tuple[tuple[str, str, Expr], tuple[str, str, Expr]]:
        """Where an element of a matrix stands, for each member: in its array, and in the memory here."""
        operand, dtype = self.operands[name], self.parameters[name].dtype
        element, (room, own, offset) = var("element"), self._element(name, var("element"))
        # Behind the last member comes the last one again, with the same results.
        member = {BATCH: op("minimum", self.first + _LANE, self.last)}
        (start,) = substitute([operand.offset], member.get, {})
        return (operand.buffer, dtype, start + element), (room, own, offset + _LANE)

    def _element(self, name: str, element: Expr) -> tuple[str, str, Expr]:
        """Where an element of a matrix, by its number, stands for the first member."""
        is_whole = name in self._whole_begins
        begin = const((self._whole_begins if is_whole else self._begins)[name])
        offset = (begin + element) * self.lanes
        return (self.whole, "int64", offset) if is_whole else (self.numbers, self.dtype, offset)

    def copy_in(self, name: str) -> Statement:
        there, (room, own, at) = self._pair(name)
        return self._member_by_member(name, Store(room, at, cast(load(*there), own)))

    def copy_out(self, name: str) -> Statement:
        (array, dtype, at), here = self._pair(name)
        return self._member_by_member(name, Store(array, at, cast(load(*here), dtype)))

    def _member_by_member(self, name: str, store: Store) -> Statement:
        """Instructions that gather or scatter elements of several members are slower."""
        return _loop(_LANE.attr, const(self.lanes), _loop("element", count_of(self._shape(name)), store))


#: what makes the loops of a form
_Steps = Callable[[_Members], tuple[Statement, ...]]


# -- the loops ---------------------------------------------------------------------------------------------------


def _after(k: Expr, name: str) -> Expr:
    """An index that a loop `name` counts from behind k."""
    return k + _ONE + var(name)


def _rest(n: Expr, k: Expr) -> Expr:
    """How many indices there are behind k."""
    return n - k - _ONE


def _update(x: _Members, target: _Index, left: Expr, right: Expr, name: str = "a") -> Statement:
    """target -= left * right, for each member."""
    return x.each(x.put(name, target, x.get(name, *target) - left * right))


def _exchange(x: _Members, name: str, one: _Index, other: _Index, where: Expr) -> Statement:
    """Exchange two elements of the members for which a condition holds."""
    first, second = var("first", x.dtype), var("second", x.dtype)
    return x.each(
        Declare("first", x.get(name, *one)),
        Declare("second", x.get(name, *other)),
        Declare("where", where),
        x.put(name, one, op("select", var("where", "bool"), second, first)),
        x.put(name, other, op("select", var("where", "bool"), first, second)),
    )


def _first_failure(x: _Members, fails: Expr, k: Expr) -> Store:
    """Note that step k has failed, if none before it has."""
    status = x.get("status")
    return x.put("status", (), op("select", fails & op("eq", status, _ZERO), k + _ONE, status))


def _no_failure(x: _Members) -> Statement:
    return x.each(x.put("status", (), _ZERO))


def _cholesky(lower: bool) -> _Steps:
    def steps(x: _Members) -> tuple[Statement, ...]:
        def at(i: Expr, j: Expr) -> _Index:
            return (i, j) if lower else (j, i)

        n, k = x.sizes["n"], var("k")
        i, j = _after(k, "i"), _after(k, "j")
        pivot, root = x.get("a", k, k), var("root", x.dtype)
        diagonal = x.each(
            Declare("root", op("sqrt", pivot)),
            _first_failure(x, ~(x.number(0) < pivot), k),
            x.put("scale", (), x.number(1) / root),
            x.put("a", (k, k), root),
        )
        scaled = x.each(x.put("a", at(i, k), x.get("a", *at(i, k)) * x.get("scale")))
        update = _update(x, at(i, j), x.get("a", *at(i, k)), x.get("a", *at(j, k)))
        return _no_failure(x), _loop(
            "k", n, diagonal, _loop("i", _rest(n, k), scaled),
            _loop("i", _rest(n, k), _loop("j", var("i") + _ONE, update)),
        )  # fmt: skip

    return steps


def _solve_triangular(lower: bool, turned: bool, unit: bool) -> _Steps:
    def steps(x: _Members) -> tuple[Statement, ...]:
        def factor(i: Expr, j: Expr) -> Expr:
            return x.get("a", j, i) if turned else x.get("a", i, j)

        return (_substitute(x, x.sizes["m"], x.sizes["n"], factor, lambda i, c: (i, c), lower != turned, unit),)

    return steps


def _substitute(
    x: _Members, order: Expr, count: Expr, factor: Callable[[Expr, Expr], Expr],
    at: Callable[[Expr, Expr], _Index], forwards: bool, unit: bool,
) -> Statement:  # fmt: skip
    """Substitution in triangular systems; `at` says where row i of right-hand side c stands in b."""
    turn, c = var("k"), var("c")
    k = turn if forwards else order - _ONE - turn
    i, rest = (_after(k, "i"), _rest(order, k)) if forwards else (var("i"), k)
    divided = x.each(x.put("b", at(k, c), x.get("b", *at(k, c)) / factor(k, k)))
    update = _update(x, at(i, c), factor(i, k), x.get("b", *at(k, c)), "b")
    others = _loop("i", rest, _loop("c", count, update))
    return _loop("k", order, *(() if unit else (_loop("c", count, divided),)), others)


def _lu(x: _Members) -> tuple[Statement, ...]:
    """The factors of the transpose t; its rows are exchanged."""

    def t(i: Expr, j: Expr) -> _Index:
        return (j, i)

    n, k, c = x.sizes["n"], var("k"), var("c")
    i, j, rest = _after(k, "i"), _after(k, "j"), _rest(n, k)
    pivot, place, best = x.get("a", *t(k, k)), x.get("place"), x.get("best")
    size, larger = var("size", x.dtype), var("larger", "bool")
    search = x.each(
        Declare("size", op("abs", x.get("a", *t(i, k)))),
        Declare("larger", best < size),
        x.put("place", (), op("select", larger, i, place)),
        x.put("best", (), op("select", larger, size, best)),
    )
    is_zero = op("eq", pivot, x.number(0))
    found = x.each(
        x.put("pivots", (k,), place + _ONE),
        _first_failure(x, is_zero, k),
        # Below a zero there are zeros: it was the largest.
        x.put("scale", (), op("select", is_zero, x.number(1), pivot)),
    )
    divided = x.each(x.put("a", t(i, k), x.get("a", *t(i, k)) / x.get("scale")))
    return _no_failure(x), _loop(
        "k", n,
        x.each(x.put("best", (), op("abs", pivot)), x.put("place", (), k)),
        _loop("i", rest, search),
        _loop("i", rest, _loop("c", n, _exchange(x, "a", t(k, c), t(i, c), op("eq", place, i)))),
        found,
        _loop("i", rest, divided),
        _loop("i", rest, _loop("j", rest, _update(x, t(i, j), x.get("a", *t(i, k)), x.get("a", *t(k, j))))),
    )  # fmt: skip


def _solve_lu(turned: bool) -> _Steps:
    def steps(x: _Members) -> tuple[Statement, ...]:
        return (_no_failure(x), *_solved_by_lu(x, x.sizes["k"], turned))

    return steps


def _solved_by_lu(x: _Members, count: Expr, turned: bool) -> tuple[Statement, ...]:
    """The solutions in the place of b, each a row; the factors are those of the transpose."""
    n = x.sizes["n"]

    def row(i: Expr, c: Expr) -> _Index:
        return (c, i)

    def factor(i: Expr, j: Expr) -> Expr:
        return x.get("a", j, i) if turned else x.get("a", i, j)

    first = _substitute(x, n, count, factor, row, True, turned)
    second = _substitute(x, n, count, factor, row, False, not turned)
    exchanges = _exchanges(x, n, count, backwards=not turned)
    return (exchanges, first, second) if turned else (first, second, exchanges)


def _exchanges(x: _Members, n: Expr, count: Expr, backwards: bool) -> Statement:
    """Exchange elements of each row of b by the pivots."""
    turn, c = var("k"), var("c")
    k = n - _ONE - turn if backwards else turn
    i = _after(k, "i")
    here = op("eq", x.get("pivots", k), i + _ONE)
    return _loop("k", n, _loop("i", _rest(n, k), _loop("c", count, _exchange(x, "b", (c, k), (c, i), here))))


def _inverse_of_lu(x: _Members) -> tuple[Statement, ...]:
    n = x.sizes["n"]
    i, c, k = var("i"), var("c"), var("k")
    unit = op("select", op("eq", i, c), x.number(1), x.number(0))
    return (
        _no_failure(x),
        _loop("k", n, x.each(_first_failure(x, op("eq", x.get("a", k, k), x.number(0)), k))),
        _loop("c", n, _loop("i", n, x.each(x.put("b", (c, i), unit)))),
        *_solved_by_lu(x, n, False),
        _loop("c", n, _loop("i", n, x.each(x.put("a", (i, c), x.get("b", c, i))))),
    )


def small_form(routine: Routine) -> SmallForm | None:
    """The loops for small matrices that do what a routine does; None if there are none."""
    return _small_forms().get(routine)


@functools.cache
def _small_forms() -> dict[Routine, SmallForm]:
    """The forms of routines for real matrices."""
    return {form.routine: form for dtype in ("float32", "float64") for form in _forms_of(dtype)}


def _forms_of(dtype: str) -> Iterator[SmallForm]:
    for triangle in ("lower", "upper"):
        lower = triangle == "lower"
        yield SmallForm(lapack.cholesky(triangle, dtype), ("n",), (("a",), ("a", "status")), _cholesky(lower))
        for direction, turned in (("plain", False), ("transposed", True), ("adjoint", True)):
            for diagonal in ("general", "unit"):
                solve = lapack.solve_triangular(triangle, direction, diagonal, dtype)
                steps = _solve_triangular(lower, turned, diagonal == "unit")
                yield SmallForm(solve, ("m", "n"), (("a", "b"), ("b",)), steps)
    yield SmallForm(lapack.lu(dtype), ("n",), (("a",), ("a", "pivots", "status")), _lu)
    for direction, turned in (("plain", False), ("transposed", True)):
        copied = ("a", "pivots", "b"), ("b", "status")
        yield SmallForm(lapack.solve_lu(direction, dtype), ("n", "k"), copied, _solve_lu(turned))
    yield SmallForm(lapack.inverse_of_lu(dtype), ("n",), (("a", "pivots"), ("a", "status")), _inverse_of_lu)
