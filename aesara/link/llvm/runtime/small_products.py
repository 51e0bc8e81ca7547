"""Products of small matrices, for which BLAS takes longer to prepare than to compute.

``matmul.small.float64`` has the parameters of ``matmul.float64`` (see `products`). The unit strides of the matrices
decide which part computes it:

==========  ==========================================================================================================
``rows``    B by rows: four rows of C at a time are sums of rows of B, in vectors
``row``     the same for a single row of C, with four partial sums
``dots``    B by columns, a single row of C: four elements at a time are dot products in vectors
``turned``  B by columns, in general: blocks of B are transposed on the stack
==========  ==========================================================================================================

A single column is the single row of the transposed product.  At the edges of C the same code runs on repeated rows and
with fewer lanes, so that equal rows and columns have equal results wherever they are.  No order of additions depends
on the width of the processor's vectors, and every multiply-add is fused.

The choice is in typed Python.  The parts, unrolled for a number of lanes, are written by functions of values.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from aesara.ir.instructions import InstructionWriter, Value, suffix, vector_of
from aesara.ir.typed.function import CFunction, TypedFunction, typed_function
from aesara.ir.typed.types import Pointer, i1, i64, ptr
from aesara.link.llvm.module import Module
from aesara.link.llvm.runtime.product_types import NUMBERS, product_type, table_type

__all__ = ["add_parts", "small_product"]

#: number of rows, partial sums of a row, or elements that are computed together
_TOGETHER = 4
#: size in bytes of the partial sums of a dot product, which must not depend on the processor
_DOT_BYTES = 64
#: number of rows of B that are transposed at once
_DEPTH = 64


@functools.cache
def small_product(dtype: str) -> TypedFunction:
    """Return the function ``matmul.small`` for a dtype."""
    number = NUMBERS[dtype]
    Table: Any = table_type(dtype)
    signature = product_type(dtype)
    rows, row, dots, turned = (
        CFunction(_symbol(name, dtype), signature.result, *signature.parameters)
        for name in ("rows", "row", "dots", "turned")
    )

    @typed_function(f"ae.matmul.small.{dtype}", "hidden", "noinline nounwind", c="noalias")
    def small_product(
        table: Table,
        watcher: ptr,
        m: i64,
        k: i64,
        n: i64,
        a: Pointer[number],
        ars: i64,
        acs: i64,
        b: Pointer[number],
        brs: i64,
        bcs: i64,
        c: Pointer[number],
        crs: i64,
        alpha: number,
        beta: number,
    ) -> i1:
        if n == 1 and m != 1:
            return small_product(table, watcher, 1, k, m, b, bcs, brs, a, acs, ars, c, m, alpha, beta)
        if m == 1 and acs == 1 and brs == 1 and (n == 1 or bcs != 1):
            return dots(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
        if bcs != 1:
            return turned(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
        if m == 1:
            return row(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)
        return rows(table, watcher, m, k, n, a, ars, acs, b, brs, bcs, c, crs, alpha, beta)

    return small_product


def _symbol(name: str, dtype: str) -> str:
    return f"ae.matmul.{name}.{dtype}"


def add_parts(module: Module, dtype: str, vector_bytes: int) -> None:
    """Add the parts for a dtype and a size of vectors in bytes to a module."""
    kind, size = NUMBERS[dtype].llvm, NUMBERS[dtype].bits // 8
    lanes = max(vector_bytes // size, _TOGETHER)
    for name in ("rows", "row", "dots", "turned"):
        module.helper(f"@{_symbol(name, dtype)}", _Part(dtype, lanes).text(name))
    # What is added where beta is 0: x + -0.0 is x, also for zeros.
    nothing = ", ".join([f"{kind} -0.0"] * (2 * lanes))
    module.helper("@nothing", f"@nothing = internal constant [{2 * lanes} x {kind}] [{nothing}], align 64")
    module.intrinsic("smin", "i64", 2)
    for count in (lanes, _DOT_BYTES // size, _TOGETHER):
        vector, mask = vector_of(kind, count), vector_of("i1", count)
        module.intrinsic("fma", vector, 3)
        for name, result, parameters in (
            ("load", vector, f"ptr, i32, {mask}, {vector}"),
            ("store", "void", f"{vector}, ptr, i32, {mask}"),
        ):
            symbol = f"@llvm.masked.{name}.{suffix(vector)}.p0"
            module.declare(symbol, f"declare {result} {symbol}({parameters})")


class _Part:
    """Writes a part: one function, for an element type and a number of lanes."""

    def __init__(self, dtype: str, lanes: int) -> None:
        self.dtype, self.lanes = dtype, lanes
        kind, size = self.kind, self.size = NUMBERS[dtype].llvm, NUMBERS[dtype].bits // 8
        self.parts = _DOT_BYTES // size
        w = self.w = InstructionWriter()
        self.zero = w.constant("i64", 0)
        self.m, self.k, self.n = (w.value("i64", name) for name in ("%m", "%k", "%n"))
        self.a, self.b, self.c = (w.value("ptr", name) for name in ("%a", "%b", "%c"))
        self.ars, self.acs = (w.value("i64", name) for name in ("%ars", "%acs"))
        self.brs, self.bcs, self.crs = (w.value("i64", name) for name in ("%brs", "%bcs", "%crs"))
        self.alpha, self.beta = (w.value(kind, name) for name in ("%alpha", "%beta"))

    def text(self, name: str) -> str:
        """Return the function of this name; called once."""
        {"rows": self._rows, "row": self._row, "dots": self._dots, "turned": self._with_transposed_blocks}[name]()
        parameters = small_product(self.dtype).llvm_parameters
        head = f"define internal i1 @{_symbol(name, self.dtype)}({parameters}) noinline nounwind {{"
        return "\n".join([head, self.w.text(), "ret i1 false", "}"])

    # -- rows of B -------------------------------------------------------------------------------------------

    def _rows(self) -> None:
        """Emit loops over blocks of rows; rows beyond the last repeat it."""
        self._by_panels(self._block_of_rows)

    def _row(self) -> None:
        """Emit a single row, with partial sums."""
        self._by_panels(self._parts_of_row)

    def _by_panels(self, panel: Callable[[Value, Value, Value | None, int], None]) -> None:
        """Emit loops over columns of C: pairs of full vectors, then single ones, the last of which may be partial."""

        def across(vectors: int, first: Value) -> Value:
            def more(j: Value) -> Value:
                return self.n - j >= (vectors * self.lanes if vectors > 1 else 1)

            def body(j: Value) -> list[Value]:
                mask = None if vectors > 1 else self._mask(self.n - j, self.lanes)
                panel(self._at(self.b, j), self._at(self.c, j), mask, vectors)
                return [j + vectors * self.lanes]

            return self.w.loop([first], more, body)[0]

        across(1, across(2, self.zero))

    def _block_of_rows(self, b: Value, c: Value, mask: Value | None, vectors: int) -> None:
        rows = range(_TOGETHER)

        def block(i: Value) -> list[Value]:
            numbers = [self._at_most(i + q, self.m) for q in rows]
            a = [self._at(self.a, number * self.ars) for number in numbers]

            def add(p: Value, bp: Value, ao: Value, *sums: Value) -> list[Value]:
                following = []
                loaded = self._load(bp, mask, vectors)
                for q in rows:
                    factor = self._number(a[q], ao)
                    following += [factor.intrinsic("fma", loaded[v], sums[q * vectors + v]) for v in range(vectors)]
                return [p + 1, self._at(bp, self.brs), ao + self.acs, *following]

            start = [self.zero, b, self.zero, *self._zeros(_TOGETHER * vectors, self.lanes)]
            sums = self.w.loop(start, lambda p, *_: p < self.k, add)[3:]
            self._store([self._at(c, number * self.crs) for number in numbers], sums, mask)
            return [i + _TOGETHER]

        self.w.loop([self.zero], lambda i: i < self.m, block)

    def _parts_of_row(self, b: Value, c: Value, mask: Value | None, vectors: int) -> None:
        def add(parts: int, p: Value, bp: Value, ap: Value, *sums: Value) -> list[Value]:
            following = list(sums)
            for q in range(parts):
                factor = self._number(ap, self.zero)
                loaded = self._load(bp, mask, vectors)
                for v in range(vectors):
                    at = q * vectors + v
                    following[at] = factor.intrinsic("fma", loaded[v], sums[at])
                bp = self._at(bp, self.brs)
                ap = self._at(ap, self.acs)
            return [p + parts, bp, ap, *following]

        values = [self.zero, b, self.a, *self._zeros(_TOGETHER * vectors, self.lanes)]
        for parts in (_TOGETHER, 1):
            last = self.k - parts
            values = self.w.loop(values, lambda p, *_, last=last: p <= last, functools.partial(add, parts))
        sums = values[3:]
        while len(sums) > vectors:
            half = len(sums) // 2
            sums = [x + y for x, y in zip(sums[:half], sums[half:], strict=True)]
        self._store([c], sums, mask)

    # -- columns of B ----------------------------------------------------------------------------------------

    def _dots(self) -> None:
        """Emit dot products for blocks of elements of a row; columns beyond the last repeat it and are not stored."""

        def block(j: Value) -> list[Value]:
            b = [self._column(j + q) for q in range(_TOGETHER)]

            def add(mask: Value | None, p: Value, *sums: Value) -> list[Value]:
                places = (self._at(base, p) for base in (self.a, *b))
                factor, *terms = (self._load(place, mask, 1, self.parts)[0] for place in places)
                added = [factor.intrinsic("fma", x, y) for x, y in zip(terms, sums, strict=True)]
                return [p + self.parts, *added]

            sums = self._along(self.k, self.parts, self._zeros(_TOGETHER, self.parts), add)
            mask = self._mask(self.n - j, _TOGETHER)
            self._store([self._at(self.c, j)], [self._totals(sums)], mask, _TOGETHER)
            return [j + _TOGETHER]

        self.w.loop([self.zero], lambda j: j < self.n, block)

    def _with_transposed_blocks(self) -> None:
        """Emit loops over blocks of B that are transposed on the stack."""
        w, width = self.w, 2 * self.lanes
        place = w.emit("ptr", f"alloca [{_DEPTH * width} x {self.kind}], align 64")

        def panel(j: Value) -> list[Value]:
            columns = (self.n - j).intrinsic("smin", width)
            c = self._at(self.c, j)

            def block(p: Value, beta: Value) -> list[Value]:
                depth = (self.k - p).intrinsic("smin", _DEPTH)
                self._transpose_block(j, columns, p, depth, place)
                a = self._at(self.a, p * self.acs)
                w.emit("i1", (
                    f"call i1 @{_symbol('rows', self.dtype)}(ptr %table, ptr %watcher, i64 %m, {depth.operand}, "
                    f"{columns.operand}, {a.operand}, i64 %ars, i64 %acs, {place.operand}, i64 {width}, i64 1, "
                    f"{c.operand}, i64 %crs, {self.alpha.operand}, {beta.operand})"
                ))  # fmt: skip
                return [p + _DEPTH, w.constant(self.kind, 1)]

            # once at least: sums of nothing are 0
            w.loop([self.zero, self.beta], lambda p, beta: p.equals(0) | (p < self.k), block)
            return [j + width]

        w.loop([self.zero], lambda j: j < self.n, panel)

    def _transpose_block(self, first: Value, columns: Value, p: Value, depth: Value, place: Value) -> None:
        """Transpose columns of B, from the first, in `depth` rows from p."""

        def together(q: Value) -> list[Value]:
            j = first + q
            b = [self._at(self._column(j + x), p) for x in range(_TOGETHER)]
            to = self._at(place, q)

            def turn(mask: Value | None, r: Value) -> list[Value]:
                read = [self._load(self._at(base, r), mask, 1, _TOGETHER)[0] for base in b]
                for n, row in enumerate(_transpose(read)):
                    at = self._at(to, (r + n) * (2 * self.lanes))
                    self.w.store(row, at, f", align {self.size}")
                return [r + _TOGETHER]

            self._along(depth, _TOGETHER, [], turn)
            return [q + _TOGETHER]

        self.w.loop([self.zero], lambda q: q < columns, together)

    def _column(self, number: Value) -> Value:
        """Return the address of a column of B, or of the last one."""
        return self._at(self.b, self._at_most(number, self.n) * self.bcs)

    def _along(
        self, length: Value, step: int, carried: Sequence[Value], body: Callable[..., list[Value]]
    ) -> list[Value]:
        """Emit a loop along memory, whose body gets a mask (None in full steps) and a position."""
        end = length - step
        start = [self.zero, *carried]
        values = self.w.loop(start, lambda p, *_: p <= end, lambda *values: body(None, *values))

        def rest(p: Value, *others: Value) -> list[Value]:
            return body(self._mask(length - p, step), p, *others)

        return self.w.loop(values, lambda p, *_: p < length, rest)[1:]

    def _totals(self, sums: Sequence[Value]) -> Value:
        """Return a vector of the horizontal sums of four vectors."""
        n = self.parts

        def add_pairs(x: Value, y: Value, run: int) -> Value:
            """Add neighbouring runs of lanes: those of x and those of y alternate."""
            starts = [base + start for start in range(0, n, 2 * run) for base in (0, n)]
            even = [k for start in starts for k in range(start, start + run)]
            low, high = (x.shuffle(y, [k + shift for k in even]) for shift in (0, run))
            return low + high

        total = add_pairs(add_pairs(sums[0], sums[1], 1), add_pairs(sums[2], sums[3], 1), 2)
        while n > _TOGETHER:
            n //= 2
            low, high = (total.shuffle("poison", range(start, start + n)) for start in (0, n))
            total = low + high
        return total

    # -- helpers ---------------------------------------------------------------------------------------------

    def _zeros(self, count: int, lanes: int) -> list[Value]:
        return [self.w.constant(vector_of(self.kind, lanes), 0)] * count

    def _at(self, base: Value, offset: Value | int) -> Value:
        return self.w.at(base, offset, self.kind)

    def _at_most(self, number: Value, size: Value) -> Value:
        """Return the minimum of a number and the last index below a size."""
        return number.intrinsic("smin", size - 1)

    def _mask(self, count: Value, lanes: int) -> Value:
        """Return the mask of the first lanes."""
        numbers = self.w.value(vector_of("i64", lanes), f"<{', '.join(f'i64 {k}' for k in range(lanes))}>")
        return numbers < count.splat(lanes)

    def _number(self, base: Value, offset: Value) -> Value:
        """Load an element into all lanes."""
        return self.w.load(self.kind, self._at(base, offset)).splat(self.lanes)

    def _load(self, base: Value, mask: Value | None, vectors: int, lanes: int | None = None) -> list[Value]:
        """Load adjacent vectors; with a mask, lanes outside of it are 0."""
        lanes = lanes or self.lanes
        vector = vector_of(self.kind, lanes)
        places = [self._at(base, v * lanes) for v in range(vectors)]
        if mask is None:
            return [self.w.load(vector, place, f", align {self.size}") for place in places]
        size, nothing = self.w.constant("i32", self.size), self.w.constant(vector, 0)
        load = f"@llvm.masked.load.{suffix(vector)}.p0"
        return [self.w.call(vector, load, place, size, mask, nothing) for place in places]

    def _store(
        self, rows: Sequence[Value], sums: Sequence[Value], mask: Value | None, lanes: int | None = None
    ) -> None:
        """Store sums times alpha to adjacent vectors, added to their content if beta is 1.

        A row may be repeated, so all are read before the first is written.
        """
        lanes = lanes or self.lanes
        vector, across = vector_of(self.kind, lanes), len(sums) // len(rows)
        keep, alphas = self.beta.compare("one", 0), self.alpha.splat(lanes)
        values = []
        for q, row in enumerate(rows):
            before = keep.select(row, self.w.value("ptr", "@nothing"))
            for v, old in enumerate(self._load(before, mask, across, lanes)):
                values.append(old + sums[q * across + v] * alphas)
        for n, value in enumerate(values):
            place = self._at(rows[n // across], n % across * lanes)
            if mask is None:
                self.w.store(value, place, f", align {self.size}")
            else:
                given = f"{value.operand}, {place.operand}, i32 {self.size}, {mask.operand}"
                self.w.add(f"call void @llvm.masked.store.{suffix(vector)}.p0({given})")


def _transpose(columns: Sequence[Value]) -> list[Value]:
    """Transpose four vectors of four elements."""
    a, b, c, d = columns
    low = [x.shuffle(y, (0, 4, 1, 5)) for x, y in ((a, b), (c, d))]
    high = [x.shuffle(y, (2, 6, 3, 7)) for x, y in ((a, b), (c, d))]
    orders = ((0, 1, 4, 5), (2, 3, 6, 7))
    return [x.shuffle(y, order) for x, y in (low, high) for order in orders]
