"""Inlined kernels for batches of small matrices in place of calls of LAPACK.

For a matrix of order 4 a call of LAPACK takes longer than the arithmetic.  The kernels take several members of a batch
at once, one for each lane: they transpose the matrices to a workspace where the lane is the innermost dimension,
run each step for all lanes, and copy the results back.  Results are the same to the last bit for any vector width.

Each kernel implements the record of its routine for orders up to `LARGEST`.
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

__all__ = ["SmallMatrixKernel", "small_kernel"]

#: the largest order and number of right-hand sides
LARGEST = 8
#: bytes of one element in all lanes, and the least number of members for which a kernel pays
_WIDTH, _FEWEST = 64, 4
#: floating-point elements for each lane: two matrices and two scalars
_NUMBERS = 2 * LARGEST**2 + 2
#: integers for each lane: the pivots and two scalars
_INTEGERS = LARGEST + 2

_ONE, _ZERO = const(1), const(0)
_LANE, _BLOCK = var("lane"), var("block")
#: index of an element of a matrix
_Index = tuple[Expr, ...]


def _lanes(dtype: str) -> int:
    """Return the number of members that are processed at once."""
    return _WIDTH // ITEM_SIZES[dtype]


def _loop(variable: str, extent: Expr, *body: Statement) -> For:
    """Return a loop that LLVM does not interleave, since its body has the loops over lanes."""
    return For(variable, extent, body, interleave=0)


@dataclass(frozen=True)
class SmallMatrixKernel:
    """A kernel that implements a routine for batches of small matrices.

    Attributes
    ----------
    bounded
        Sizes that must be at most `LARGEST`.
    copied
        Parameters that are copied to the workspace, and those that are copied back.
    steps
        Function that builds the loops.
    """

    routine: Routine
    bounded: tuple[str, ...]
    copied: tuple[tuple[str, ...], tuple[str, ...]]
    steps: _Steps

    def fits(self, sizes: Mapping[str, Expr], count: Expr) -> Expr:
        """Return the condition on which the kernel is used for a batch of `count` members."""
        conditions = [const(_FEWEST) <= count, *(sizes[n] <= LARGEST for n in self.bounded)]
        if any(c.is_const and not c.attr for c in conditions):
            return const(False, "bool")
        unknown = [c for c in conditions if not c.is_const]
        return functools.reduce(functools.partial(op, "and"), unknown) if unknown else const(True, "bool")

    def workspaces(self) -> tuple[tuple[str, Expr], ...]:
        """Return dtype and length of the two workspaces: for floating-point numbers and for integers."""
        dtype = self.routine.parameters[0].dtype
        lanes = _lanes(dtype)
        return (dtype, const(_NUMBERS * lanes)), ("int64", const(_INTEGERS * lanes))

    def launch(
        self, name: str, sizes: Mapping[str, Expr], operands: Mapping[str, Operand], workspaces: tuple[str, str],
        count: Expr,
    ) -> Launch:  # fmt: skip
        """Return the launch for a batch of `count` members; `workspaces` names the buffers."""
        members = _Members(self.routine, sizes, operands, workspaces, count)
        body = (
            *(members.copy_in(parameter) for parameter in self.copied[0]),
            *self.steps(members),
            *(members.copy_out(parameter) for parameter in self.copied[1]),
        )
        blocks = (count + const(members.lanes - 1)) // members.lanes
        return launch_of(name, (_loop(_BLOCK.attr, blocks, *body),))


class _Members:
    """The members of a batch that are processed at once, and their elements in the workspaces."""

    def __init__(
        self, routine: Routine, sizes: Mapping[str, Expr], operands: Mapping[str, Operand],
        workspaces: tuple[str, str], count: Expr,
    ) -> None:  # fmt: skip
        self.routine, self.sizes, self.operands = routine, sizes, operands
        self.parameters = {p.name: p for p in routine.parameters}
        self.numbers, self.integers = workspaces
        self.dtype = routine.parameters[0].dtype
        self.lanes = _lanes(self.dtype)
        self.first, self.last = _BLOCK * self.lanes, count - _ONE
        self._offsets = {"a": 0, "b": LARGEST**2, "scale": 2 * LARGEST**2, "best": 2 * LARGEST**2 + 1}
        self._integer_offsets = {"pivots": 0, "status": LARGEST, "place": LARGEST + 1}

    # -- elements in the workspaces --------------------------------------------------------------------------

    def _shape(self, name: str) -> tuple[Expr, ...]:
        if name == "b" and "b" not in self.operands:  # solutions for the columns of the identity matrix
            name = "a"
        if name not in self.operands:
            return ()
        return self.routine.shape_of(self.parameters[name], self.sizes)

    def _locate(self, name: str, index: _Index) -> tuple[str, str, Expr]:
        """Return buffer, dtype and offset of an element of a workspace."""
        offset: Expr = _ZERO
        for n, i in zip(self._shape(name), index, strict=True):
            offset = offset * n + i
        buffer, dtype, start = self._lane_zero(name, offset)
        return buffer, dtype, start + _LANE

    def get(self, name: str, *index: Expr) -> Expr:
        """Return an element."""
        buffer, dtype, offset = self._locate(name, index)
        return load(buffer, dtype, offset)

    def put(self, name: str, index: _Index, value: Expr) -> Store:
        """Return the store of an element."""
        buffer, _, offset = self._locate(name, index)
        return Store(buffer, offset, value)

    def number(self, value: float) -> Expr:
        return const(value, self.dtype)

    def each(self, *statements: Statement) -> For:
        """Run statements for each lane."""
        return mark_parallel(For(_LANE.attr, const(self.lanes), statements))

    # -- the arrays of the batch -----------------------------------------------------------------------------

    def _pair(self, name: str) -> tuple[tuple[str, str, Expr], tuple[str, str, Expr]]:
        """Return buffer, dtype and offset of an element in the array of the batch, and in the workspace."""
        operand, dtype = self.operands[name], self.parameters[name].dtype
        element, (workspace, workspace_dtype, offset) = var("element"), self._lane_zero(name, var("element"))
        # Lanes behind the last member repeat it, with the same results.
        member = {BATCH: op("minimum", self.first + _LANE, self.last)}
        (start,) = substitute([operand.offset], member.get, {})
        return (operand.buffer, dtype, start + element), (workspace, workspace_dtype, offset + _LANE)

    def _lane_zero(self, name: str, element: Expr) -> tuple[str, str, Expr]:
        """Return buffer, dtype and offset in lane 0 of an element, by its number in the matrix."""
        is_integer = name in self._integer_offsets
        start = const((self._integer_offsets if is_integer else self._offsets)[name])
        offset = (start + element) * self.lanes
        return (self.integers, "int64", offset) if is_integer else (self.numbers, self.dtype, offset)

    def copy_in(self, name: str) -> Statement:
        source, (workspace, workspace_dtype, at) = self._pair(name)
        return self._lane_by_lane(name, Store(workspace, at, cast(load(*source), workspace_dtype)))

    def copy_out(self, name: str) -> Statement:
        (array, dtype, at), source = self._pair(name)
        return self._lane_by_lane(name, Store(array, at, cast(load(*source), dtype)))

    def _lane_by_lane(self, name: str, store: Store) -> Statement:
        """Copy with the loop over lanes outermost: gather and scatter instructions are slower."""
        return _loop(_LANE.attr, const(self.lanes), _loop("element", count_of(self._shape(name)), store))


#: builds the loops of a kernel
_Steps = Callable[[_Members], tuple[Statement, ...]]


# -- the loops ---------------------------------------------------------------------------------------------------


def _after(k: Expr, name: str) -> Expr:
    """Return the index `k + 1 + name` for the loop variable `name`."""
    return k + _ONE + var(name)


def _rest(n: Expr, k: Expr) -> Expr:
    """Return the number of indices greater than k."""
    return n - k - _ONE


def _update(x: _Members, target: _Index, left: Expr, right: Expr, name: str = "a") -> Statement:
    """Return `target -= left * right` for each lane."""
    return x.each(x.put(name, target, x.get(name, *target) - left * right))


def _swap(x: _Members, name: str, first_index: _Index, second_index: _Index, where: Expr) -> Statement:
    """Swap two elements in the lanes where a condition holds."""
    first, second = var("first", x.dtype), var("second", x.dtype)
    return x.each(
        Declare("first", x.get(name, *first_index)),
        Declare("second", x.get(name, *second_index)),
        Declare("where", where),
        x.put(name, first_index, op("select", var("where", "bool"), second, first)),
        x.put(name, second_index, op("select", var("where", "bool"), first, second)),
    )


def _first_failure(x: _Members, fails: Expr, k: Expr) -> Store:
    """Set the status to step k if `fails` and no step before has failed."""
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


def _solve_triangular(lower: bool, transposed: bool, unit: bool) -> _Steps:
    def steps(x: _Members) -> tuple[Statement, ...]:
        def factor(i: Expr, j: Expr) -> Expr:
            return x.get("a", j, i) if transposed else x.get("a", i, j)

        return (_substitute(x, x.sizes["m"], x.sizes["n"], factor, lambda i, c: (i, c), lower != transposed, unit),)

    return steps


def _substitute(
    x: _Members, order: Expr, count: Expr, factor: Callable[[Expr, Expr], Expr],
    at: Callable[[Expr, Expr], _Index], forwards: bool, unit: bool,
) -> Statement:  # fmt: skip
    """Solve triangular systems by substitution; `at(i, c)` is the index in b of row i of right-hand side c."""
    turn, c = var("k"), var("c")
    k = turn if forwards else order - _ONE - turn
    i, rest = (_after(k, "i"), _rest(order, k)) if forwards else (var("i"), k)
    divide = x.each(x.put("b", at(k, c), x.get("b", *at(k, c)) / factor(k, k)))
    update = _update(x, at(i, c), factor(i, k), x.get("b", *at(k, c)), "b")
    others = _loop("i", rest, _loop("c", count, update))
    return _loop("k", order, *(() if unit else (_loop("c", count, divide),)), others)


def _lu(x: _Members) -> tuple[Statement, ...]:
    """Factorize the transpose t with pivoting of rows."""

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
    record_pivot = x.each(
        x.put("pivots", (k,), place + _ONE),
        _first_failure(x, is_zero, k),
        # A zero pivot was the largest, so all entries below it are zero.
        x.put("scale", (), op("select", is_zero, x.number(1), pivot)),
    )
    divide = x.each(x.put("a", t(i, k), x.get("a", *t(i, k)) / x.get("scale")))
    return _no_failure(x), _loop(
        "k", n,
        x.each(x.put("best", (), op("abs", pivot)), x.put("place", (), k)),
        _loop("i", rest, search),
        _loop("i", rest, _loop("c", n, _swap(x, "a", t(k, c), t(i, c), op("eq", place, i)))),
        record_pivot,
        _loop("i", rest, divide),
        _loop("i", rest, _loop("j", rest, _update(x, t(i, j), x.get("a", *t(i, k)), x.get("a", *t(k, j))))),
    )  # fmt: skip


def _solve_lu(transposed: bool) -> _Steps:
    def steps(x: _Members) -> tuple[Statement, ...]:
        return (_no_failure(x), *_solve_with_lu(x, x.sizes["k"], transposed))

    return steps


def _solve_with_lu(x: _Members, count: Expr, transposed: bool) -> tuple[Statement, ...]:
    """Overwrite b, a right-hand side in each row, with solutions; the factors are those of the transpose."""
    n = x.sizes["n"]

    def row(i: Expr, c: Expr) -> _Index:
        return (c, i)

    def factor(i: Expr, j: Expr) -> Expr:
        return x.get("a", j, i) if transposed else x.get("a", i, j)

    first = _substitute(x, n, count, factor, row, True, transposed)
    second = _substitute(x, n, count, factor, row, False, not transposed)
    swaps = _apply_pivots(x, n, count, backwards=not transposed)
    return (swaps, first, second) if transposed else (first, second, swaps)


def _apply_pivots(x: _Members, n: Expr, count: Expr, backwards: bool) -> Statement:
    """Permute the elements of each row of b by the pivots."""
    turn, c = var("k"), var("c")
    k = n - _ONE - turn if backwards else turn
    i = _after(k, "i")
    is_pivot = op("eq", x.get("pivots", k), i + _ONE)
    return _loop("k", n, _loop("i", _rest(n, k), _loop("c", count, _swap(x, "b", (c, k), (c, i), is_pivot))))


def _inverse_of_lu(x: _Members) -> tuple[Statement, ...]:
    n = x.sizes["n"]
    i, c, k = var("i"), var("c"), var("k")
    unit = op("select", op("eq", i, c), x.number(1), x.number(0))
    return (
        _no_failure(x),
        _loop("k", n, x.each(_first_failure(x, op("eq", x.get("a", k, k), x.number(0)), k))),
        _loop("c", n, _loop("i", n, x.each(x.put("b", (c, i), unit)))),
        *_solve_with_lu(x, n, False),
        _loop("c", n, _loop("i", n, x.each(x.put("a", (i, c), x.get("b", c, i))))),
    )


def small_kernel(routine: Routine) -> SmallMatrixKernel | None:
    """Return the kernel that implements a routine for small matrices, or None."""
    return _small_kernels().get(routine)


@functools.cache
def _small_kernels() -> dict[Routine, SmallMatrixKernel]:
    """Return the kernels for real matrices by routine."""
    return {kernel.routine: kernel for dtype in ("float32", "float64") for kernel in _kernels_of(dtype)}


def _kernels_of(dtype: str) -> Iterator[SmallMatrixKernel]:
    for triangle in ("lower", "upper"):
        lower = triangle == "lower"
        yield SmallMatrixKernel(lapack.cholesky(triangle, dtype), ("n",), (("a",), ("a", "status")), _cholesky(lower))
        for direction, transposed in (("plain", False), ("transposed", True), ("adjoint", True)):
            for diagonal in ("general", "unit"):
                solve = lapack.solve_triangular(triangle, direction, diagonal, dtype)
                steps = _solve_triangular(lower, transposed, diagonal == "unit")
                yield SmallMatrixKernel(solve, ("m", "n"), (("a", "b"), ("b",)), steps)
    yield SmallMatrixKernel(lapack.lu(dtype), ("n",), (("a",), ("a", "pivots", "status")), _lu)
    for direction, transposed in (("plain", False), ("transposed", True)):
        copied = ("a", "pivots", "b"), ("b", "status")
        yield SmallMatrixKernel(lapack.solve_lu(direction, dtype), ("n", "k"), copied, _solve_lu(transposed))
    yield SmallMatrixKernel(lapack.inverse_of_lu(dtype), ("n",), (("a", "pivots"), ("a", "status")), _inverse_of_lu)
