"""Lowering of pooling: reductions over windows, and loops over windows that hand out what each one gets.

Windows whose size is known and small are written out entry by entry, so that the loops over positions become vectors;
others are dimensions of their own, which are reduced. Where windows reach beyond the images, reductions read a copy of
them with something neutral around. What hands out numbers writes each element once if the windows do not overlap and
lie inside, and adds to it else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Declare, For, Statement
from aesara.ir.lanes import identity_of
from aesara.lower.arrays import (
    ONE,
    ZERO,
    Array,
    Assembled,
    Index,
    Pointwise,
    Reader,
    Sequential,
    Write,
    Writer,
    literal,
)
from aesara.lower.context import Context, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.reductions.careduce import converted, reduce_array
from aesara.records import dataclass
from aesara.tensor.signal.pooling import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    PoolingOp,
)

#: windows with at most so many entries are written out
_WRITTEN_OUT = 32

#: windows and strides are at most so long, so that no product with a size wraps
_LONGEST = const(2**31)


@lower_op.register
def _pool(op: Pool, node: Apply, context: Context) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    dtype = node.outputs[0].type.dtype
    working = _working(dtype)
    if op.mode.startswith("average") and not working.startswith("float"):
        working = "float64"
    form = _Form(op, node, x, context)
    total = form.reduced(context.added(converted(x, working)), "maximum" if op.mode == "max" else "add")
    if op.mode.startswith("average"):
        total = form.divided(total)
    return [converted(total, dtype)]


@lower_op.register
def _at_maxima(op: DownsampleFactorMaxGradGrad, node: Apply, context: Context) -> Sequence[Array]:
    x, largest, values = (context.array(v) for v in node.inputs[:3])
    form = _Form(op, node, x, context)
    form.require_images(values, "gz")
    form.require_windows(largest, "maxout")
    return [_sums_at_maxima(form, x, largest, values, node)]


@lower_op.register
def _along(op: MaxPoolRop, node: Apply, context: Context) -> Sequence[Array]:
    x, values = (context.array(v) for v in node.inputs[:2])
    form = _Form(op, node, x, context)
    form.require_images(values, "eval_point")
    return [_sums_at_maxima(form, x, form.reduced(x, "maximum"), values, node)]


def _sums_at_maxima(form: _Form, x: Array, largest: Array, values: Array, node: Apply) -> Array:
    dtype = node.outputs[0].type.dtype
    values = form.context.added(converted(values, _working(dtype)))
    return converted(form.reduced_at(x, largest, values), dtype)


@lower_op.register
def _max_gradient(op: MaxPoolGrad, node: Apply, context: Context) -> Sequence[Array]:
    x, largest, g = (context.array(v) for v in node.inputs[:3])
    form = _Form(op, node, x, context)
    form.require_windows(largest, "maxout")
    form.require_windows(g, "gz")
    dtype = node.outputs[0].type.dtype
    g = context.added(converted(g, _working(dtype)))
    return [converted(form.handed_out(g, x, largest), dtype)]


@lower_op.register
def _average_gradient(op: AveragePoolGrad, node: Apply, context: Context) -> Sequence[Array]:
    x, g = (context.array(v) for v in node.inputs[:2])
    form = _Form(op, node, x, context)
    form.require_windows(g, "gz")
    dtype = node.outputs[0].type.dtype
    g = context.added(converted(g, _working(dtype)))
    if op.mode != "sum":
        g = context.added(form.divided(g))
    return [converted(form.handed_out(g), dtype)]


def _working(dtype: str) -> str:
    check_dtype(dtype)
    return "float32" if dtype == "float16" else dtype


@dataclass(frozen=True)
class _Along:
    """The windows along one dimension."""

    size: Expr
    width: Expr
    stride: Expr
    pad: Expr
    count: Expr
    is_inside: bool

    @property
    def reach(self) -> Expr:
        """How long the image with all of its surroundings is."""
        whole = self.size + self.pad
        return primitive("maximum", whole, (self.count - 1) * self.stride + self.width)

    def place(self, position: Expr, entry: Expr) -> Expr:
        """Where in the image with its surroundings an entry of a window is."""
        return position * self.stride + entry

    def bounds(self, position: Expr) -> tuple[Expr, Expr]:
        """From where to where in the image a window lies."""
        start = (position * self.stride) - self.pad
        if self.is_inside:
            return start, start + self.width
        return primitive("maximum", start, ZERO), primitive("minimum", start + self.width, self.size)

    def elements(self, position: Expr, include_pad: bool) -> Expr:
        """How many elements a window has."""
        if self.is_inside:
            return self.width
        if not include_pad:
            first, last = self.bounds(position)
            return last - first
        start = position * self.stride
        whole = self.size + self.pad * 2
        return primitive("minimum", start + self.width, whole) - start


class _Form:
    """The windows of a node on images of the shape of `x`."""

    def __init__(self, op: PoolingOp, node: Apply, x: Array, context: Context) -> None:
        self.op, self.node, self.context, self.shape = op, node, context, x.shape
        self.checks: list[object] = []
        vectors = (integers_of_vector(v, op.ndim, node, context) for v in node.inputs[op.operands :])
        self.rank = x.ndim
        self.lead = x.ndim - op.ndim
        self.dims = tuple(self._along(*parts) for parts in zip(x.shape[self.lead :], *vectors, strict=True))
        self.pooled = (*x.shape[: self.lead], *(d.count for d in self.dims))
        self.is_inside = all(d.is_inside for d in self.dims)

    def _along(self, size: Expr, width: Expr, stride: Expr, pad: Expr) -> _Along:
        name = type(self.op).__name__
        self._require("ge", width, ONE, ValueError, f"{name}: windows must not be empty; got a size of {{0}}.")
        self._require("ge", stride, ONE, ValueError, f"{name}: strides must be positive; got {{0}}.")
        for length in (width, stride):
            self._require("le", length, _LONGEST, ValueError, f"{name}: windows and strides of {{0}} are too long.")
        if self.op.ignore_border:
            self._require("ge", pad, ZERO, ValueError, f"{name}: padding must not be negative; got {{0}}.")
            message = "padding must be smaller than the windows; got {0} and windows of {1}."
            if not self.op.may_lie_in_padding:
                self._require("lt", pad, width, NotImplementedError, message)
            self._require("le", pad, _LONGEST, ValueError, f"{name}: padding of {{0}} is too much.")
            room = (size + pad * 2) - width
            count = primitive("maximum", room // stride + ONE, ZERO)
            return _Along(size, width, stride, pad, count, pad is ZERO)
        self._require("eq", pad, ZERO, NotImplementedError, "padding works only with ignore_border=True")
        more = stride - 1
        after = (size - width + more) // stride
        count = primitive(
            "minimum",
            (size + more) // stride,
            primitive("maximum", after, ZERO) + ONE,
        )
        last = (count - 1) * stride + width
        fits = last <= size
        return _Along(size, width, stride, ZERO, count, fits.is_const and bool(fits.attr))

    def _require(self, kind: str, a: Expr, b: Expr, error: type[Exception], message: str) -> None:
        self.checks += self.context.guard(primitive(kind, a, b), error, message, self.node, [a, b])

    def require_images(self, array: Array, name: str) -> None:
        """Check that an array has the shape of the images."""
        self._require_shape(array, self.shape, f"`{name}` has the length {{0}}, the images have {{1}}")

    def require_windows(self, array: Array, name: str) -> None:
        """Check that an array has an element for each window."""
        self._require_shape(array, self.pooled, f"`{name}` has the length {{0}}; there are {{1}} windows")

    def _require_shape(self, array: Array, shape: Sequence[Expr], what: str) -> None:
        for d, (n, m) in enumerate(zip(array.shape, shape, strict=True)):
            message = f"{type(self.op).__name__}: {what} along dimension {d}."
            self.checks += self.context.require_equal(n, m, ValueError, message, self.node)

    @property
    def entries(self) -> list[tuple[Expr, ...]] | None:
        """The entries of a window one by one; None if they are many, or not known how many."""
        widths = [d.width for d in self.dims]
        if not all(w.is_const for w in widths):
            return None
        total = 1
        for w in widths:
            total *= w.attr
        if total > _WRITTEN_OUT:
            return None
        return [tuple(map(const, entry)) for entry in itertools.product(*(range(w.attr) for w in widths))]

    # -- reductions ------------------------------------------------------------------------------------------

    def surrounded(self, x: Array, fill: Expr) -> Array:
        """The images in the middle of so much of `fill` that all windows are inside."""
        if self.is_inside:
            return x
        shape = (*x.shape[: self.lead], *(d.size if d.is_inside else d.reach for d in self.dims))
        before = (*(ZERO for _ in range(self.lead)), *(d.pad for d in self.dims))

        def place(index: Index, readers: Sequence[Reader]) -> Index:
            return tuple(i + b for i, b in zip(index, before, strict=True))

        write = Write(x.shape, (x,), place, lambda index, readers: readers[0](index))
        return self.context.add(Assembled(x.dtype, shape, literal(fill.attr, x.dtype, shape), [write], self.checks))

    def reduced(self, x: Array, kind: str) -> Array:
        """The windows reduced with a primitive."""
        if x.dtype == "bool":
            kind = "or"
        neutral = identity_of(kind, x.dtype)
        return self._over_windows((self.surrounded(x, neutral),), (), lambda v: v[0], kind, x.dtype)

    def reduced_at(self, x: Array, largest: Array, values: Array) -> Array:
        """The sums of `values` where `x` is what `largest` has for the window."""
        zero = const(0, values.dtype)
        around = self.surrounded(x, identity_of("maximum", x.dtype)), self.surrounded(values, zero)

        def chosen(v: list[Expr]) -> Expr:
            return primitive("select", primitive("eq", v[0], v[2]), v[1], zero)

        kind = "or" if values.dtype == "bool" else "add"
        return self._over_windows(around, (largest,), chosen, kind, values.dtype)

    def _over_windows(
        self,
        images: Sequence[Array],
        pooled: Sequence[Array],
        value: Callable[[list[Expr]], Expr],
        kind: str,
        dtype: str,
    ) -> Array:
        """Reduce a value of elements of images, and of what there is for each window."""
        count, lead = len(images), self.lead
        operands = (*images, *pooled)
        overlap = any(not (d.width.is_const and d.stride.is_const and d.width.attr <= d.stride.attr) for d in self.dims)
        entries = self.entries

        def element(position: Index, entry: Sequence[Expr], readers: Sequence[Reader]) -> Expr:
            place = (*position[:lead], *(d.place(i, k) for d, i, k in zip(self.dims, position[lead:], entry)))
            return value([*(read(place) for read in readers[:count]), *(read(position) for read in readers[count:])])

        def all_entries(index: Index, readers: Sequence[Reader]) -> Expr:
            assert entries is not None
            total = element(index, entries[0], readers)
            for entry in entries[1:]:
                total = primitive(kind, total, element(index, entry, readers))
            return total

        if entries is not None:
            expands = [overlap] * count + [False] * len(pooled)
            cost = 2 * len(entries)
            made = Pointwise(dtype, self.pooled, operands, all_entries, cost, expands, self.checks)
            return self.context.add(made)

        def one_entry(index: Index, readers: Sequence[Reader]) -> Expr:
            return element(index[: self.rank], index[self.rank :], readers)

        shape = (*self.pooled, *(d.width for d in self.dims))
        expands = [overlap] * count + [True] * len(pooled)
        spread = self.context.add(Pointwise(dtype, shape, operands, one_entry, 2, expands, self.checks))
        return reduce_array(self.context, spread, tuple(range(self.rank, len(shape))), kind)

    def divided(self, total: Array) -> Array:
        """What there is for each window divided by the number of its elements."""
        include = self.op.mode == "average_inc_pad"

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            number: Expr = ONE
            for d, i in zip(self.dims, index[self.lead :], strict=True):
                number = number * d.elements(i, include)
            return readers[0](index) / cast(number, total.dtype)

        return Pointwise(total.dtype, total.shape, (total,), body, 5, requires=self.checks)

    # -- handing out -----------------------------------------------------------------------------------------

    def handed_out(self, g: Array, x: Array | None = None, largest: Array | None = None) -> Array:
        """What each window has, to all of its elements, or to those where `x` is `largest`."""
        operands = (g,) if x is None or largest is None else (g, x, largest)
        body = _HandingOut(self, g.dtype).statements
        return self.context.add(Sequential(g.dtype, self.shape, operands, body, requires=self.checks))

    @property
    def is_disjoint(self) -> bool:
        """Whether no two windows have an element in common, and all lie inside."""
        return self.is_inside and all(
            d.width.is_const and d.stride.is_const and d.width.attr <= d.stride.attr for d in self.dims
        )


class _HandingOut:
    """The kernel that hands out what windows have."""

    def __init__(self, form: _Form, dtype: str) -> None:
        self.form, self.dtype = form, dtype
        self.zero = const(False if dtype == "bool" else 0, dtype)
        self.loops = tuple(var(f"v{d}") for d in range(form.rank))

    def statements(self, readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        form = self.form
        entries = form.entries
        if entries is not None and form.is_disjoint:
            return (*self._between(write), *self._once(entries, readers, write))
        return (*self._zeros((ZERO,) * form.rank, form.shape, write), *self._added_up(readers, read, write))

    def _once(
        self, entries: Sequence[Sequence[Expr]], readers: Sequence[Reader], write: Writer
    ) -> tuple[Statement, ...]:
        """Loops over windows that write all of their elements."""
        form = self.form
        lead, rest = self.loops[: form.lead], self.loops[form.lead :]
        stores = []
        for entry in entries:
            place = (*lead, *(d.place(i, k) for d, i, k in zip(form.dims, rest, entry, strict=True)))
            stores.append(
                write(place, self._share(place, [read(self.loops) for read in (readers[0], *readers[2:])], readers))
            )
        return self._nested(form.pooled, tuple(stores), True)

    def _share(self, place: Index, of_window: Sequence[Expr], readers: Sequence[Reader]) -> Expr:
        """What an element gets of its window."""
        if len(of_window) == 1:
            return of_window[0]
        g, largest = of_window
        return primitive("select", primitive("eq", readers[1](place), largest), g, self.zero)

    def _added_up(self, readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        """Loops over windows, and in each over its elements, which are added to."""
        form = self.form
        lead, rest = self.loops[: form.lead], self.loops[form.lead :]
        of_window = [read_one(self.loops) for read_one in (readers[0], *readers[2:])]
        kept = [var(f"r{k}", value.dtype) for k, value in enumerate(of_window)]
        declared = [Declare(f"r{k}", value) for k, value in enumerate(of_window)]
        bounds = [d.bounds(i) for d, i in zip(form.dims, rest, strict=True)]
        within = [var(f"v{form.rank + d}") for d in range(form.op.ndim)]
        place = (*lead, *(first + k for (first, _), k in zip(bounds, within, strict=True)))
        plus = "or" if self.dtype == "bool" else "add"
        body: tuple[Statement, ...] = (write(place, primitive(plus, read(place), self._share(place, kept, readers))),)
        for d in reversed(range(form.op.ndim)):
            first, last = bounds[d]
            if form.op.may_lie_in_padding:
                last = primitive("maximum", first, last)
            loop = For(f"v{form.rank + d}", last - first, body)
            body = (mark_parallel(loop) if d == form.op.ndim - 1 else loop,)
        return self._nested(form.pooled, (*declared, *body), False)

    def _between(self, write: Writer) -> tuple[Statement, ...]:
        """Zeros where no window is."""
        form = self.form
        if any(d.width is not d.stride for d in form.dims):
            return self._zeros((ZERO,) * form.rank, form.shape, write)
        found: tuple[Statement, ...] = ()
        shape = list(form.shape)
        for k in range(form.op.ndim):
            d = form.dims[k]
            covered = d.count * d.stride
            axis = form.lead + k
            starts = tuple(covered if a == axis else ZERO for a in range(form.rank))
            ends = tuple(form.shape[a] if a == axis else n for a, n in enumerate(shape))
            if covered is not form.shape[axis]:
                found += self._zeros(starts, ends, write)
            shape[axis] = covered
        return found

    def _zeros(self, starts: Sequence[Expr], ends: Sequence[Expr], write: Writer) -> tuple[Statement, ...]:
        place = tuple(i + start for i, start in zip(self.loops, starts, strict=True))
        extents = [end - start for start, end in zip(starts, ends, strict=True)]
        return self._nested(extents, (write(place, self.zero),), True)

    def _nested(self, extents: Sequence[Expr], body: tuple[Statement, ...], parallel: bool) -> tuple[Statement, ...]:
        for d in reversed(range(len(extents))):
            loop = For(f"v{d}", extents[d], body)
            body = (mark_parallel(loop) if parallel and d == len(extents) - 1 else loop,)
        return body
