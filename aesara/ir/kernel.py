"""Loop nests: the statements of the IR and the kernel, a function of buffers and sizes.

Grammar (expressions are those of `expr`)::

    kernel    = name, params, body
    param     = buffer(name, dtype, written) | size(name) | scalar(name, dtype)
    statement = for var < extent: body       var counts up from 0; `parallel`, `independent`: iterations are
                                             independent; `until`: the loop ends after an iteration that sets this
                                             mutable scalar
              | store buffer[offset] = value   `distinct`: the offset differs in each iteration of the innermost loop
              | declare name = value         a mutable scalar, kept in a register
              | assign name = value
              | if condition: body
              | while condition: body        the condition may read mutable scalars

A mutable scalar is read as a `var`.  Consecutive stores happen at once: all of their values are computed before the
first is written, unless `must_follow` keeps them apart.  Offsets are linear element offsets and within bounds: code
that builds a kernel proves it or inserts a check before the launch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator

from aesara.ir.expr import Expr, part_offset, var, walk
from aesara.records import dataclass

__all__ = [
    "Assign",
    "BufferParam",
    "Declare",
    "For",
    "If",
    "Kernel",
    "ScalarParam",
    "Statement",
    "Store",
    "While",
    "expressions_of",
    "map_expressions",
    "must_follow",
    "split_complex",
    "walk_statements",
]


@dataclass(frozen=True)
class BufferParam:
    """A flat array; with `aliased`, it may alias a buffer that is read at the very offset that is written."""

    name: str
    dtype: str
    written: bool = False
    aliased: bool = False


@dataclass(frozen=True)
class ScalarParam:
    name: str
    dtype: str = "int64"


@dataclass(frozen=True)
class For:
    """A counted loop.

    `interleave` is the number of vectors to process at once, which hides latency; 0 forbids transformations of the
    loop. `lanes` is the order of accumulation (see `aesara.ir.lanes`). `until` names a mutable scalar that ends the
    loop if it is true after an iteration, or is empty. `parallel` is set by `aesara.ir.independence`, which proves from
    the addresses that iterations are independent; `independent` by code that builds a loop around others and knows it
    from the indices. The interpreter checks both.
    """

    var: str
    extent: Expr
    body: tuple[Statement, ...]
    parallel: bool = False
    interleave: int = 1
    lanes: tuple[int, ...] = ()
    until: str = ""
    independent: bool = False

    @property
    def runs_in_any_order(self) -> bool:
        """True if iterations may run in any order, or at the same time, but for scalars that they assign."""
        return self.parallel or self.independent


@dataclass(frozen=True)
class Store:
    """A store; with `distinct`, its offset differs in each iteration of the innermost loop around it.

    The offset alone does not show this; see `aesara.ir.independence`.
    """

    buffer: str
    offset: Expr
    value: Expr
    distinct: bool = False


@dataclass(frozen=True)
class Declare:
    name: str
    value: Expr


@dataclass(frozen=True)
class Assign:
    """An assignment to a mutable scalar; `reassociate` allows its accumulation in the order of the loop's lanes."""

    name: str
    value: Expr
    reassociate: bool = False


@dataclass(frozen=True)
class If:
    condition: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    """A loop whose condition is evaluated before each iteration."""

    condition: Expr
    body: tuple[Statement, ...]


Statement = For | Store | Declare | Assign | If | While


@dataclass(frozen=True)
class Kernel:
    name: str
    params: tuple[BufferParam | ScalarParam, ...]
    body: tuple[Statement, ...]


def walk_statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Iterate over all statements in order, outer before inner."""
    for statement in body:
        yield statement
        if isinstance(statement, (For, If, While)):
            yield from walk_statements(statement.body)


def expressions_of(statement: Statement) -> tuple[Expr, ...]:
    """Return the expressions of a statement, without those of nested statements."""
    if isinstance(statement, For):
        return (statement.extent,)
    if isinstance(statement, Store):
        return (statement.offset, statement.value)
    if isinstance(statement, (If, While)):
        return (statement.condition,)
    return (statement.value,)


def split_complex(body: Iterable[Statement]) -> tuple[Statement, ...]:
    """Replace statements with complex values by statements with their parts."""
    found: list[Statement] = []
    for s in body:
        if isinstance(s, (For, If, While)):
            found.append(dataclasses.replace(s, body=split_complex(s.body)))
        elif s.value.op != "complex":
            found.append(s)
        elif isinstance(s, Store):
            parts = enumerate(s.value.args)
            found += [Store(s.buffer, part_offset(s.offset, k), part, s.distinct) for k, part in parts]
        elif isinstance(s, Declare):
            found += [Declare(name, part) for name, part in zip(_names_of_parts(s.name), s.value.args)]
        else:  # compute both parts before the first is assigned
            re, im = s.value.args
            name_re, name_im = _names_of_parts(s.name)
            found += [Declare(f"{name_re}_next", re), Assign(name_im, im)]
            found.append(Assign(name_re, var(f"{name_re}_next", re.dtype)))
    return tuple(found)


def _names_of_parts(name: str) -> tuple[str, str]:
    """Return the names of the parts of a complex mutable scalar."""
    re, im = var(name, "complex128").args
    return re.attr, im.attr


def must_follow(second: Store, first: Store) -> bool:
    """Return whether a store may overwrite an earlier store to its buffer, or reads that buffer."""
    if first.buffer != second.buffer:
        return False
    (base, shift), (other_base, other_shift) = _base_and_shift(first.offset), _base_and_shift(second.offset)
    if base is not other_base or shift == other_shift:
        return True
    return any(e.op == "load" and e.attr == first.buffer for e in walk([second.value, second.offset]))


def _base_and_shift(offset: Expr) -> tuple[Expr | None, int]:
    """Split an offset into an expression (None for a constant) and a constant."""
    if offset.is_const:
        return None, offset.attr
    if offset.op == "add" and offset.args[1].is_const:
        return offset.args[0], offset.args[1].attr
    return offset, 0


def map_expressions(
    statement: Statement,
    f: Callable[[Expr], Expr],
    rename: Callable[[str], str] = lambda name: name,
    of_offset: Callable[[Expr], Expr] | None = None,
    of_extent: Callable[[Expr], Expr] | None = None,
) -> Statement:
    """Apply `f` to the expressions of a statement, and rename the buffers and scalars that it writes.

    `of_offset` is applied to the offsets of stores and `of_extent` to trip counts instead, if given.
    """
    s = statement
    if isinstance(s, Store):
        return Store(rename(s.buffer), (of_offset or f)(s.offset), f(s.value), s.distinct)
    if isinstance(s, Declare):
        return Declare(s.name, f(s.value))
    if isinstance(s, Assign):
        return Assign(rename(s.name), f(s.value), s.reassociate)
    inner = tuple(map_expressions(x, f, rename, of_offset, of_extent) for x in s.body)
    if isinstance(s, (If, While)):
        return type(s)(f(s.condition), inner)
    until = rename(s.until) if s.until else ""
    return dataclasses.replace(s, extent=(of_extent or f)(s.extent), body=inner, until=until)
