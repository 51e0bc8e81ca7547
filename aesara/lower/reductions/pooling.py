"""Lowering of pooling: reductions over windows, and gradients that scatter to windows.

Windows of small static size are unrolled, so that loops over windows vectorize; other windows are reduced as further
dimensions. If windows extend beyond the images, reductions read images padded with the identity. A scatter writes each
element once if windows are disjoint and inside of the images, and accumulates otherwise.
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
    Index,
    Pointwise,
    Reader,
    Sequential,
    Writer,
)
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import check_dtype
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.padding import pad
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.records import dataclass
from aesara.tensor.signal.pooling import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    PoolingOp,
)

#: largest number of entries of a window that is unrolled
_LARGEST_UNROLLED = 32

#: largest length of windows and strides, so that products with sizes do not overflow
_LONGEST = const(2**31)


@lower_op.register
def _pool(op: Pool, node: Apply, context: Context) -> Sequence[Array]:
    x = context.array(node.inputs[0])
    dtype = node.outputs[0].type.dtype
    working = _working(dtype)
    if op.mode.startswith("average") and not working.startswith("float"):
        working = "float64"
    windows = _PoolingWindows(op, node, x, context)
    total = windows.reduce(context.ensure_added(convert(x, working)), "maximum" if op.mode == "max" else "add")
    if op.mode.startswith("average"):
        total = windows.divide_by_count(total)
    return [convert(total, dtype)]


@lower_op.register
def _at_maxima(op: DownsampleFactorMaxGradGrad, node: Apply, context: Context) -> Sequence[Array]:
    x, largest, values = (context.array(v) for v in node.inputs[:3])
    windows = _PoolingWindows(op, node, x, context)
    windows.require_images(values, "gz")
    windows.require_windows(largest, "maxout")
    return [_sums_at_maxima(windows, x, largest, values, node)]


@lower_op.register
def _max_pool_rop(op: MaxPoolRop, node: Apply, context: Context) -> Sequence[Array]:
    x, values = (context.array(v) for v in node.inputs[:2])
    windows = _PoolingWindows(op, node, x, context)
    windows.require_images(values, "eval_point")
    return [_sums_at_maxima(windows, x, windows.reduce(x, "maximum"), values, node)]


def _sums_at_maxima(windows: _PoolingWindows, x: Array, largest: Array, values: Array, node: Apply) -> Array:
    dtype = node.outputs[0].type.dtype
    values = windows.context.ensure_added(convert(values, _working(dtype)))
    return convert(windows.reduce_at_maxima(x, largest, values), dtype)


@lower_op.register
def _max_gradient(op: MaxPoolGrad, node: Apply, context: Context) -> Sequence[Array]:
    x, largest, g = (context.array(v) for v in node.inputs[:3])
    windows = _PoolingWindows(op, node, x, context)
    windows.require_windows(largest, "maxout")
    windows.require_windows(g, "gz")
    dtype = node.outputs[0].type.dtype
    g = context.ensure_added(convert(g, _working(dtype)))
    return [convert(windows.scatter(g, x, largest), dtype)]


@lower_op.register
def _average_gradient(op: AveragePoolGrad, node: Apply, context: Context) -> Sequence[Array]:
    x, g = (context.array(v) for v in node.inputs[:2])
    windows = _PoolingWindows(op, node, x, context)
    windows.require_windows(g, "gz")
    dtype = node.outputs[0].type.dtype
    g = context.ensure_added(convert(g, _working(dtype)))
    if op.mode != "sum":
        g = context.ensure_added(windows.divide_by_count(g))
    return [convert(windows.scatter(g), dtype)]


def _working(dtype: str) -> str:
    check_dtype(dtype)
    return "float32" if dtype == "float16" else dtype


@dataclass(frozen=True)
class _WindowAxis:
    """The windows along one dimension."""

    size: Expr
    width: Expr
    stride: Expr
    pad: Expr
    count: Expr
    is_inside: bool

    @property
    def padded_size(self) -> Expr:
        """The size of the padded image."""
        padded = self.size + self.pad
        return primitive("maximum", padded, (self.count - 1) * self.stride + self.width)

    def padded_index(self, position: Expr, entry: Expr) -> Expr:
        """Return the index into the padded image of an entry of a window."""
        return position * self.stride + entry

    def bounds(self, position: Expr) -> tuple[Expr, Expr]:
        """Return the range of a window in the image."""
        start = (position * self.stride) - self.pad
        if self.is_inside:
            return start, start + self.width
        return primitive("maximum", start, ZERO), primitive("minimum", start + self.width, self.size)

    def elements(self, position: Expr, include_pad: bool) -> Expr:
        """Return the number of elements of a window."""
        if self.is_inside:
            return self.width
        if not include_pad:
            first, last = self.bounds(position)
            return last - first
        start = position * self.stride
        padded = self.size + self.pad * 2
        return primitive("minimum", start + self.width, padded) - start


class _PoolingWindows:
    """The windows of a pooling op on images of the shape of `x`."""

    def __init__(self, op: PoolingOp, node: Apply, x: Array, context: Context) -> None:
        self.op, self.node, self.context, self.shape = op, node, context, x.shape
        self.checks: list[object] = []
        vectors = (integers_of_vector(v, op.ndim, node, context) for v in node.inputs[op.operands :])
        self.rank = x.ndim
        self.lead = x.ndim - op.ndim
        self.dims = tuple(self._axis(*parts) for parts in zip(x.shape[self.lead :], *vectors, strict=True))
        self.pooled = (*x.shape[: self.lead], *(d.count for d in self.dims))
        self.is_inside = all(d.is_inside for d in self.dims)

    def _axis(self, size: Expr, width: Expr, stride: Expr, pad: Expr) -> _WindowAxis:
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
            slack = (size + pad * 2) - width
            count = primitive("maximum", slack // stride + ONE, ZERO)
            return _WindowAxis(size, width, stride, pad, count, pad is ZERO)
        self._require("eq", pad, ZERO, NotImplementedError, "padding works only with ignore_border=True")
        round_up = stride - 1
        after = (size - width + round_up) // stride
        count = primitive(
            "minimum",
            (size + round_up) // stride,
            primitive("maximum", after, ZERO) + ONE,
        )
        last = (count - 1) * stride + width
        fits = last <= size
        return _WindowAxis(size, width, stride, ZERO, count, fits.is_const and bool(fits.attr))

    def _require(self, kind: str, a: Expr, b: Expr, error: type[Exception], message: str) -> None:
        self.checks += self.context.guard(primitive(kind, a, b), error, message, self.node, [a, b])

    def require_images(self, array: Array, name: str) -> None:
        """Check that an array has the shape of the images."""
        self._require_shape(array, self.shape, f"`{name}` has the length {{0}}, the images have {{1}}")

    def require_windows(self, array: Array, name: str) -> None:
        """Check that an array has one element for each window."""
        self._require_shape(array, self.pooled, f"`{name}` has the length {{0}}; there are {{1}} windows")

    def _require_shape(self, array: Array, shape: Sequence[Expr], mismatch: str) -> None:
        for d, (n, m) in enumerate(zip(array.shape, shape, strict=True)):
            message = f"{type(self.op).__name__}: {mismatch} along dimension {d}."
            self.checks += self.context.require_equal(n, m, ValueError, message, self.node)

    @property
    def entries(self) -> list[tuple[Expr, ...]] | None:
        """The entries of a window if it is to be unrolled, else None."""
        widths = [d.width for d in self.dims]
        if not all(w.is_const for w in widths):
            return None
        total = 1
        for w in widths:
            total *= w.attr
        if total > _LARGEST_UNROLLED:
            return None
        return [tuple(map(const, entry)) for entry in itertools.product(*(range(w.attr) for w in widths))]

    # -- reductions ------------------------------------------------------------------------------------------

    def pad(self, x: Array, fill: Expr) -> Array:
        """Pad images with `fill` so that all windows are inside."""
        if self.is_inside:
            return x
        shape = (*x.shape[: self.lead], *(d.size if d.is_inside else d.padded_size for d in self.dims))
        return self.context.add(pad(x, [d.pad for d in self.dims], shape, fill.attr, self.checks))

    def reduce(self, x: Array, kind: str) -> Array:
        """Reduce each window by a primitive."""
        if x.dtype == "bool":
            kind = "or"
        identity = identity_of(kind, x.dtype)
        return self._reduce_windows((self.pad(x, identity),), (), lambda v: v[0], kind, x.dtype)

    def reduce_at_maxima(self, x: Array, largest: Array, values: Array) -> Array:
        """Sum `values` over the elements of each window where `x` equals `largest`."""
        zero = const(0, values.dtype)
        padded = self.pad(x, identity_of("maximum", x.dtype)), self.pad(values, zero)

        def value_at_maximum(v: list[Expr]) -> Expr:
            return primitive("select", primitive("eq", v[0], v[2]), v[1], zero)

        kind = "or" if values.dtype == "bool" else "add"
        return self._reduce_windows(padded, (largest,), value_at_maximum, kind, values.dtype)

    def _reduce_windows(
        self,
        images: Sequence[Array],
        pooled: Sequence[Array],
        value: Callable[[list[Expr]], Expr],
        kind: str,
        dtype: str,
    ) -> Array:
        """Reduce a function of elements of images, and of arrays with an element for each window."""
        count, lead = len(images), self.lead
        operands = (*images, *pooled)
        overlap = any(not (d.width.is_const and d.stride.is_const and d.width.attr <= d.stride.attr) for d in self.dims)
        entries = self.entries

        def element(position: Index, entry: Sequence[Expr], readers: Sequence[Reader]) -> Expr:
            index = (*position[:lead], *(d.padded_index(i, k) for d, i, k in zip(self.dims, position[lead:], entry)))
            return value([*(read(index) for read in readers[:count]), *(read(position) for read in readers[count:])])

        def all_entries(index: Index, readers: Sequence[Reader]) -> Expr:
            assert entries is not None
            total = element(index, entries[0], readers)
            for entry in entries[1:]:
                total = primitive(kind, total, element(index, entry, readers))
            return total

        if entries is not None:
            expands = [overlap] * count + [False] * len(pooled)
            cost = 2 * len(entries)
            return self.context.add(Pointwise(dtype, self.pooled, operands, all_entries, cost, expands, self.checks))

        def one_entry(index: Index, readers: Sequence[Reader]) -> Expr:
            return element(index[: self.rank], index[self.rank :], readers)

        shape = (*self.pooled, *(d.width for d in self.dims))
        expands = [overlap] * count + [True] * len(pooled)
        spread = self.context.add(Pointwise(dtype, shape, operands, one_entry, 2, expands, self.checks))
        return reduce_array(self.context, spread, tuple(range(self.rank, len(shape))), kind)

    def divide_by_count(self, total: Array) -> Array:
        """Divide by the number of elements of each window."""
        include = self.op.mode == "average_inc_pad"

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            number: Expr = ONE
            for d, i in zip(self.dims, index[self.lead :], strict=True):
                number = number * d.elements(i, include)
            return readers[0](index) / cast(number, total.dtype)

        return Pointwise(total.dtype, total.shape, (total,), body, 5, requires=self.checks)

    # -- scatters --------------------------------------------------------------------------------------------

    def scatter(self, g: Array, x: Array | None = None, largest: Array | None = None) -> Array:
        """Add `g` of each window to its elements, or only to those where `x` equals `largest`."""
        operands = (g,) if x is None or largest is None else (g, x, largest)
        body = _ScatterKernel(self, g.dtype).statements
        return self.context.add(Sequential(g.dtype, self.shape, operands, body, requires=self.checks))

    @property
    def is_disjoint(self) -> bool:
        """True if windows are disjoint and inside of the images."""
        return self.is_inside and all(
            d.width.is_const and d.stride.is_const and d.width.attr <= d.stride.attr for d in self.dims
        )


class _ScatterKernel:
    """The kernel that scatters a value of each window to its elements."""

    def __init__(self, windows: _PoolingWindows, dtype: str) -> None:
        self.windows, self.dtype = windows, dtype
        self.zero = const(False if dtype == "bool" else 0, dtype)
        self.loops = tuple(var(f"v{d}") for d in range(windows.rank))

    def statements(self, readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        windows = self.windows
        entries = windows.entries
        if entries is not None and windows.is_disjoint:
            return (*self._zeros_outside(write), *self._write_once(entries, readers, write))
        return (*self._zeros((ZERO,) * windows.rank, windows.shape, write), *self._accumulate(readers, read, write))

    def _write_once(
        self, entries: Sequence[Sequence[Expr]], readers: Sequence[Reader], write: Writer
    ) -> tuple[Statement, ...]:
        """Write the elements of disjoint windows."""
        windows = self.windows
        lead, positions = self.loops[: windows.lead], self.loops[windows.lead :]
        stores = []
        for entry in entries:
            index = (*lead, *(d.padded_index(i, k) for d, i, k in zip(windows.dims, positions, entry, strict=True)))
            of_window = [read(self.loops) for read in (readers[0], *readers[2:])]
            stores.append(write(index, self._share(index, of_window, readers)))
        return self._loop_nest(windows.pooled, tuple(stores), True)

    def _share(self, index: Index, of_window: Sequence[Expr], readers: Sequence[Reader]) -> Expr:
        """Return the value that an element gets from its window."""
        if len(of_window) == 1:
            return of_window[0]
        g, largest = of_window
        return primitive("select", primitive("eq", readers[1](index), largest), g, self.zero)

    def _accumulate(self, readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        """Accumulate in the elements of each window."""
        windows = self.windows
        lead, positions = self.loops[: windows.lead], self.loops[windows.lead :]
        of_window = [read_one(self.loops) for read_one in (readers[0], *readers[2:])]
        registers = [var(f"r{k}", value.dtype) for k, value in enumerate(of_window)]
        declared = [Declare(f"r{k}", value) for k, value in enumerate(of_window)]
        bounds = [d.bounds(i) for d, i in zip(windows.dims, positions, strict=True)]
        within = [var(f"v{windows.rank + d}") for d in range(windows.op.ndim)]
        index = (*lead, *(first + k for (first, _), k in zip(bounds, within, strict=True)))
        add = "or" if self.dtype == "bool" else "add"
        total = primitive(add, read(index), self._share(index, registers, readers))
        body: tuple[Statement, ...] = (write(index, total),)
        for d in reversed(range(windows.op.ndim)):
            first, last = bounds[d]
            if windows.op.may_lie_in_padding:
                last = primitive("maximum", first, last)
            loop = For(f"v{windows.rank + d}", last - first, body)
            body = (mark_parallel(loop) if d == windows.op.ndim - 1 else loop,)
        return self._loop_nest(windows.pooled, (*declared, *body), False)

    def _zeros_outside(self, write: Writer) -> tuple[Statement, ...]:
        """Write zeros to the elements outside of all windows."""
        windows = self.windows
        if any(d.width is not d.stride for d in windows.dims):
            return self._zeros((ZERO,) * windows.rank, windows.shape, write)
        statements: tuple[Statement, ...] = ()
        shape = list(windows.shape)
        for k in range(windows.op.ndim):
            d = windows.dims[k]
            covered = d.count * d.stride
            axis = windows.lead + k
            starts = tuple(covered if a == axis else ZERO for a in range(windows.rank))
            ends = tuple(windows.shape[a] if a == axis else n for a, n in enumerate(shape))
            if covered is not windows.shape[axis]:
                statements += self._zeros(starts, ends, write)
            shape[axis] = covered
        return statements

    def _zeros(self, starts: Sequence[Expr], ends: Sequence[Expr], write: Writer) -> tuple[Statement, ...]:
        index = tuple(i + start for i, start in zip(self.loops, starts, strict=True))
        extents = [end - start for start, end in zip(starts, ends, strict=True)]
        return self._loop_nest(extents, (write(index, self.zero),), True)

    def _loop_nest(self, extents: Sequence[Expr], body: tuple[Statement, ...], parallel: bool) -> tuple[Statement, ...]:
        for d in reversed(range(len(extents))):
            loop = For(f"v{d}", extents[d], body)
            body = (mark_parallel(loop) if parallel and d == len(extents) - 1 else loop,)
        return body
