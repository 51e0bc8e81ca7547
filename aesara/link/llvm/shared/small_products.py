"""Products of small matrices, for which the preparations of BLAS take longer than they do.

``matmul.small.float64`` takes what ``matmul.float64`` takes (see `products`), in sizes of any kind.  Rows or columns of
each matrix run along memory; which do decides how it goes:

==========  ==========================================================================================================
``rows``    rows of B: four rows of C at a time are sums of rows of B, in vectors
``row``     the same for a single row of C, which is added up in four parts
``dots``    columns of B, for a single row of C: four elements at a time are sums over products of vectors
``turned``  columns of B, in general: they are put into rows, on the stack
==========  ==========================================================================================================

A single column is the single row of the transposed product.  At the edges of C the same code runs on repeated rows and
with fewer lanes, so that equal rows and columns have equal results wherever they are.  No order of additions depends
on the width of the processor's vectors, and every multiply-add is fused.

The text is in the notation of `products`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from aesara.link.llvm.shared.writer import InstructionWriter

__all__ = ["small_products_text"]

#: how many rows, parts of a row, or elements are computed together
_TOGETHER = 4
#: bytes of the partial sums of a dot product, whose number must not depend on the processor
_DOT_BYTES = 64
#: how many rows of B are put into place at once, where its columns run along memory
_DEPTH = 64
#: an element type: its name in LLVM IR, in names of intrinsics, and its bytes
_KINDS = {"float64": ("double", "f64", 8), "float32": ("float", "f32", 4)}


def small_products_text(dtype: str, vector_bytes: int) -> str:
    """The routine for a dtype, on a processor with vectors of so many bytes."""
    kind, suffix, size = _KINDS[dtype]
    code = _Code(kind, suffix, size, max(vector_bytes // size, _TOGETHER))
    return "\n".join((_CHOICE, code.rows(), code.row(), code.dots(), code.turned(), code.declarations()))


_CHOICE = """
define hidden i1 @ae.matmul.small.DTYPE(ARGUMENTS) noinline nounwind {
entry:
  %column = icmp eq i64 %n, 1
  %single = icmp eq i64 %m, 1
  %several = xor i1 %single, true
  %flip = and i1 %column, %several
  br i1 %flip, label %flipped, label %straight
flipped:
  %r.flipped = musttail call i1 @ae.matmul.small.DTYPE(
    ptr %table, ptr %watcher, i64 1, i64 %k, i64 %m, ptr %b, i64 %bcs, i64 %brs,
    ptr %a, i64 %acs, i64 %ars, ptr %c, i64 %m, TYPE %alpha, TYPE %beta)
  ret i1 %r.flipped
straight:
  %along = icmp eq i64 %bcs, 1
  br i1 %single, label %one, label %many
many:
  br i1 %along, label %rows, label %turned
one:
  %a.along = icmp eq i64 %acs, 1
  %down = icmp eq i64 %brs, 1
  %both = and i1 %a.along, %down
  %better = xor i1 %along, true
  %other = or i1 %column, %better
  %dots.now = and i1 %both, %other
  br i1 %dots.now, label %dots, label %no.dots
no.dots:
  br i1 %along, label %row, label %turned
rows:
  JUMP rows
row:
  JUMP row
dots:
  JUMP dots
turned:
  JUMP turned
}
"""


class _Code:
    """Writes the parts that work with vectors."""

    def __init__(self, kind: str, suffix: str, size: int, lanes: int) -> None:
        self.kind, self.suffix, self.size, self.lanes = kind, suffix, size, lanes
        self.parts = _DOT_BYTES // size

    def declarations(self) -> str:
        """The intrinsic functions that the parts use."""
        nothing = ", ".join([f"{self.kind} -0.0"] * (2 * self.lanes))
        lines = [
            f"@nothing = internal constant [{2 * self.lanes} x {self.kind}] [{nothing}], align 64",
            "declare i64 @llvm.smin.i64(i64, i64)",
        ]
        for lanes in sorted({self.lanes, self.parts, _TOGETHER}):
            vector, mask, name = self._vector(lanes), f"<{lanes} x i1>", f"v{lanes}{self.suffix}"
            lines += [
                f"declare {vector} @llvm.fma.{name}({vector}, {vector}, {vector})",
                f"declare {vector} @llvm.masked.load.{name}.p0(ptr, i32, {mask}, {vector})",
                f"declare void @llvm.masked.store.{name}.p0({vector}, ptr, i32, {mask})",
            ]
        return "\n".join(lines)

    # -- rows of B -------------------------------------------------------------------------------------------

    def rows(self) -> str:
        """Blocks of rows; rows after the last are the last again."""
        return self._by_panels("rows", self._block_of_rows)

    def row(self) -> str:
        """One row, in parts."""
        return self._by_panels("row", self._parts_of_row)

    def _by_panels(self, name: str, panel: Callable[[InstructionWriter, str, str, str, int], None]) -> str:
        """Columns of C in pairs of full vectors, then in single ones, the last of which is not full."""
        w = InstructionWriter()

        def across(vectors: int, first: str) -> str:
            def more(j: str) -> str:
                least = vectors * self.lanes if vectors > 1 else 1
                return w.let(f"icmp sge i64 {w.let(f'sub i64 %n, {j}')}, {least}")

            def body(j: str) -> list[str]:
                mask = "" if vectors > 1 else self._mask(w, w.let(f"sub i64 %n, {j}"), self.lanes)
                panel(w, self._at(w, "%b", j), self._at(w, "%c", j), mask, vectors)
                return [w.let(f"add i64 {j}, {vectors * self.lanes}")]

            return w.loop([("i64", first)], more, body)[0]

        across(1, across(2, "0"))
        return self._function(name, w)

    def _block_of_rows(self, w: InstructionWriter, b: str, c: str, mask: str, vectors: int) -> None:
        rows = range(_TOGETHER)

        def block(i: str) -> list[str]:
            numbers = [self._at_most(w, w.let(f"add i64 {i}, {q}"), "%m") for q in rows]
            a = [self._at(w, "%a", w.let(f"mul i64 {number}, %ars")) for number in numbers]

            def add(p: str, bp: str, ao: str, *sums: str) -> list[str]:
                following = []
                loaded = self._loaded(w, bp, mask, vectors)
                for q in rows:
                    factor = self._number(w, a[q], ao)
                    following += [self._plus(w, factor, loaded[v], sums[q * vectors + v]) for v in range(vectors)]
                return [w.let(f"add i64 {p}, 1"), self._at(w, bp, "%brs"), w.let(f"add i64 {ao}, %acs"), *following]

            start = [("i64", "0"), ("ptr", b), ("i64", "0")]
            sums = w.loop([*start, *self._zeros(_TOGETHER * vectors)], lambda p, *_: self._less(w, p, "%k"), add)[3:]
            self._stored(w, [self._at(w, c, w.let(f"mul i64 {number}, %crs")) for number in numbers], sums, mask)
            return [w.let(f"add i64 {i}, {_TOGETHER}")]

        w.loop([("i64", "0")], lambda i: self._less(w, i, "%m"), block)

    def _parts_of_row(self, w: InstructionWriter, b: str, c: str, mask: str, vectors: int) -> None:
        def add(parts: int, p: str, bp: str, ap: str, *sums: str) -> list[str]:
            following = list(sums)
            for q in range(parts):
                factor = self._number(w, ap, "0")
                loaded = self._loaded(w, bp, mask, vectors)
                for v in range(vectors):
                    at = q * vectors + v
                    following[at] = self._plus(w, factor, loaded[v], sums[at])
                bp = self._at(w, bp, "%brs")
                ap = self._at(w, ap, "%acs")
            return [w.let(f"add i64 {p}, {parts}"), bp, ap, *following]

        values = ["0", b, "%a", *["zeroinitializer"] * (_TOGETHER * vectors)]
        kinds = ["i64", "ptr", "ptr", *[self._vector()] * (_TOGETHER * vectors)]
        for parts in (_TOGETHER, 1):
            last = w.let(f"sub i64 %k, {parts}")
            values = w.loop(
                list(zip(kinds, values, strict=True)),
                lambda p, *_, last=last: w.let(f"icmp sle i64 {p}, {last}"),
                functools.partial(add, parts),
            )
        sums = values[3:]
        while len(sums) > vectors:
            half = len(sums) // 2
            sums = [self._sum(w, x, y, self.lanes) for x, y in zip(sums[:half], sums[half:], strict=True)]
        self._stored(w, [c], sums, mask)

    # -- columns of B ----------------------------------------------------------------------------------------

    def dots(self) -> str:
        """Elements of one row, some at a time; columns after the last are the last again, and not stored."""
        w, columns = InstructionWriter(), range(_TOGETHER)

        def block(j: str) -> list[str]:
            b = [self._column(w, w.let(f"add i64 {j}, {q}")) for q in columns]

            def add(mask: str, p: str, *sums: str) -> list[str]:
                places = (self._at(w, base, p) for base in ("%a", *b))
                factor, *terms = (self._loaded(w, place, mask, 1, self.parts)[0] for place in places)
                added = [self._plus(w, factor, x, y, self.parts) for x, y in zip(terms, sums, strict=True)]
                return [w.let(f"add i64 {p}, {self.parts}"), *added]

            zeros = [(self._vector(self.parts), "zeroinitializer")] * _TOGETHER
            sums = self._along(w, "%k", self.parts, zeros, add)
            mask = self._mask(w, w.let(f"sub i64 %n, {j}"), _TOGETHER)
            self._stored(w, [self._at(w, "%c", j)], [self._totals(w, sums)], mask, _TOGETHER)
            return [w.let(f"add i64 {j}, {_TOGETHER}")]

        w.loop([("i64", "0")], lambda j: self._less(w, j, "%n"), block)
        return self._function("dots", w)

    def turned(self) -> str:
        """Columns of B are put into rows, in blocks that fit into a place on the stack."""
        w, width = InstructionWriter(), 2 * self.lanes
        place = w.let(f"alloca [{_DEPTH * width} x {self.kind}], align 64")

        def panel(j: str) -> list[str]:
            columns = w.let(f"call i64 @llvm.smin.i64(i64 {w.let(f'sub i64 %n, {j}')}, i64 {width})")
            c = self._at(w, "%c", j)

            def block(p: str, beta: str) -> list[str]:
                depth = w.let(f"call i64 @llvm.smin.i64(i64 {w.let(f'sub i64 %k, {p}')}, i64 {_DEPTH})")
                self._turn(w, j, columns, p, depth, place)
                a = self._at(w, "%a", w.let(f"mul i64 {p}, %acs"))
                call = (
                    f"ptr %table, ptr %watcher, i64 %m, i64 {depth}, i64 {columns}, ptr {a}, i64 %ars, i64 %acs, "
                    f"ptr {place}, i64 {width}, i64 1, ptr {c}, i64 %crs, {self.kind} %alpha, {self.kind} {beta}"
                )
                w.let(f"call i1 @ae.matmul.rows.DTYPE({call})")
                return [w.let(f"add i64 {p}, {_DEPTH}"), "1.0"]

            def more(p: str, beta: str) -> str:
                # once at least: sums of nothing are 0
                return w.let(f"or i1 {w.let(f'icmp eq i64 {p}, 0')}, {self._less(w, p, '%k')}")

            w.loop([("i64", "0"), (self.kind, "%beta")], more, block)
            return [w.let(f"add i64 {j}, {width}")]

        w.loop([("i64", "0")], lambda j: self._less(w, j, "%n"), panel)
        return self._function("turned", w)

    def _turn(self, w: InstructionWriter, first: str, columns: str, p: str, depth: str, place: str) -> None:
        """Put columns of B, so many from the first, in rows from p, as many as depth says, into place."""

        def together(q: str) -> list[str]:
            j = w.let(f"add i64 {first}, {q}")
            b = [self._at(w, self._column(w, w.let(f"add i64 {j}, {x}")), p) for x in range(_TOGETHER)]
            to = self._at(w, place, q)

            def turn(mask: str, r: str) -> list[str]:
                read = [self._loaded(w, self._at(w, base, r), mask, 1, _TOGETHER)[0] for base in b]
                for n, row in enumerate(self._transposed(w, read)):
                    at = self._at(w, to, w.let(f"mul i64 {w.let(f'add i64 {r}, {n}')}, {2 * self.lanes}"))
                    w.do(f"store {self._vector(_TOGETHER)} {row}, ptr {at}, align {self.size}")
                return [w.let(f"add i64 {r}, {_TOGETHER}")]

            self._along(w, depth, _TOGETHER, [], turn)
            return [w.let(f"add i64 {q}, {_TOGETHER}")]

        w.loop([("i64", "0")], lambda q: self._less(w, q, columns), together)

    def _column(self, w: InstructionWriter, number: str) -> str:
        """Where a column of B is, or the last one."""
        return self._at(w, "%b", w.let(f"mul i64 {self._at_most(w, number, '%n')}, %bcs"))

    def _along(
        self,
        w: InstructionWriter,
        length: str,
        step: int,
        carried: Sequence[tuple[str, str]],
        body: Callable[..., list[str]],
    ) -> list[str]:
        """A loop along memory, whose body gets a mask (none in full steps) and a position."""
        end = w.let(f"sub i64 {length}, {step}")
        values = w.loop(
            [("i64", "0"), *carried],
            lambda p, *_: w.let(f"icmp sle i64 {p}, {end}"),
            lambda *values: body("", *values),
        )
        kinds = ["i64", *(kind for kind, _ in carried)]

        def rest(p: str, *others: str) -> list[str]:
            return body(self._mask(w, w.let(f"sub i64 {length}, {p}"), step), p, *others)

        return w.loop(list(zip(kinds, values, strict=True)), lambda p, *_: self._less(w, p, length), rest)[1:]

    def _transposed(self, w: InstructionWriter, columns: Sequence[str]) -> list[str]:
        """Four vectors of four elements, the other way round."""
        a, b, c, d = columns
        low = [self._shuffled(w, x, y, (0, 4, 1, 5), _TOGETHER) for x, y in ((a, b), (c, d))]
        high = [self._shuffled(w, x, y, (2, 6, 3, 7), _TOGETHER) for x, y in ((a, b), (c, d))]
        orders = ((0, 1, 4, 5), (2, 3, 6, 7))
        return [self._shuffled(w, x, y, order, _TOGETHER) for x, y in (low, high) for order in orders]

    def _totals(self, w: InstructionWriter, sums: Sequence[str]) -> str:
        """A vector of the sums over the lanes of four vectors."""
        n = self.parts

        def paired(x: str, y: str, run: int) -> str:
            """Neighbours, in runs of so many lanes, added up: those of x and those of y in turn."""
            starts = [base + start for start in range(0, n, 2 * run) for base in (0, n)]
            even = [k for start in starts for k in range(start, start + run)]
            low, high = (self._shuffled(w, x, y, [k + shift for k in even], self.parts) for shift in (0, run))
            return self._sum(w, low, high, self.parts)

        total = paired(paired(sums[0], sums[1], 1), paired(sums[2], sums[3], 1), 2)
        while n > _TOGETHER:
            n //= 2
            low, high = (self._shuffled(w, total, "poison", range(start, start + n), 2 * n) for start in (0, n))
            total = self._sum(w, low, high, n)
        return total

    # -- pieces ----------------------------------------------------------------------------------------------

    def _function(self, name: str, w: InstructionWriter) -> str:
        head = f"define internal i1 @ae.matmul.{name}.DTYPE(ARGUMENTS) noinline nounwind {{"
        return "\n".join([head, w.text(), "ret i1 false", "}"])

    def _vector(self, lanes: int | None = None) -> str:
        return f"<{lanes or self.lanes} x {self.kind}>"

    def _zeros(self, count: int) -> list[tuple[str, str]]:
        return [(self._vector(), "zeroinitializer")] * count

    def _at(self, w: InstructionWriter, base: str, offset: str) -> str:
        return w.let(f"getelementptr {self.kind}, ptr {base}, i64 {offset}")

    def _less(self, w: InstructionWriter, a: str, b: str) -> str:
        return w.let(f"icmp slt i64 {a}, {b}")

    def _at_most(self, w: InstructionWriter, number: str, size: str) -> str:
        """A number, or the last one below a size."""
        last = w.let(f"sub i64 {size}, 1")
        return w.let(f"call i64 @llvm.smin.i64(i64 {number}, i64 {last})")

    def _splat(self, w: InstructionWriter, kind: str, value: str, lanes: int) -> str:
        vector = f"<{lanes} x {kind}>"
        first = w.let(f"insertelement {vector} poison, {kind} {value}, i64 0")
        return w.let(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")

    def _mask(self, w: InstructionWriter, count: str, lanes: int) -> str:
        """The first lanes, so many."""
        numbers = ", ".join(f"i64 {k}" for k in range(lanes))
        return w.let(f"icmp slt <{lanes} x i64> <{numbers}>, {self._splat(w, 'i64', count, lanes)}")

    def _number(self, w: InstructionWriter, base: str, offset: str) -> str:
        """An element in all lanes."""
        place = self._at(w, base, offset)
        return self._splat(w, self.kind, w.let(f"load {self.kind}, ptr {place}"), self.lanes)

    def _plus(self, w: InstructionWriter, a: str, b: str, total: str, lanes: int | None = None) -> str:
        lanes = lanes or self.lanes
        vector = self._vector(lanes)
        arguments = f"{vector} {a}, {vector} {b}, {vector} {total}"
        return w.let(f"call {vector} @llvm.fma.v{lanes}{self.suffix}({arguments})")

    def _sum(self, w: InstructionWriter, a: str, b: str, lanes: int) -> str:
        return w.let(f"fadd {self._vector(lanes)} {a}, {b}")

    def _shuffled(self, w: InstructionWriter, a: str, b: str, order: Sequence[int], lanes: int | None = None) -> str:
        vector, numbers = self._vector(lanes), ", ".join(f"i32 {k}" for k in order)
        return w.let(f"shufflevector {vector} {a}, {vector} {b}, <{len(order)} x i32> <{numbers}>")

    def _loaded(self, w: InstructionWriter, base: str, mask: str, vectors: int, lanes: int | None = None) -> list[str]:
        """Vectors side by side; with a mask, those lanes, and 0 in the others."""
        lanes = lanes or self.lanes
        vector = self._vector(lanes)
        places = [w.let(f"getelementptr {self.kind}, ptr {base}, i64 {v * lanes}") for v in range(vectors)]
        if not mask:
            return [w.let(f"load {vector}, ptr {place}, align {self.size}") for place in places]
        load = f"call {vector} @llvm.masked.load.v{lanes}{self.suffix}.p0"
        rest = f"i32 {self.size}, <{lanes} x i1> {mask}, {vector} zeroinitializer"
        return [w.let(f"{load}(ptr {place}, {rest})") for place in places]

    def _stored(
        self, w: InstructionWriter, rows: Sequence[str], sums: Sequence[str], mask: str, lanes: int | None = None
    ) -> None:
        """Sums, times alpha, in vectors side by side, added to what is there or to nothing.

        A row may be there twice: so all are read before the first is written.
        """
        lanes = lanes or self.lanes
        vector, across = self._vector(lanes), len(sums) // len(rows)
        keep = w.let(f"fcmp one {self.kind} %beta, 0.0")
        alphas = self._splat(w, self.kind, "%alpha", lanes)
        values = []
        for q, row in enumerate(rows):
            before = w.let(f"select i1 {keep}, ptr {row}, ptr @nothing")
            for v, old in enumerate(self._loaded(w, before, mask, across, lanes)):
                values.append(self._sum(w, old, w.let(f"fmul {vector} {sums[q * across + v]}, {alphas}"), lanes))
        for n, value in enumerate(values):
            place = w.let(f"getelementptr {self.kind}, ptr {rows[n // across]}, i64 {n % across * lanes}")
            if mask:
                rest = f"i32 {self.size}, <{lanes} x i1> {mask}"
                w.do(f"call void @llvm.masked.store.v{lanes}{self.suffix}.p0({vector} {value}, ptr {place}, {rest})")
            else:
                w.do(f"store {vector} {value}, ptr {place}, align {self.size}")
