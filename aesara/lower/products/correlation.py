"""Lowering of convolutions: im2col and matrix products for each image, or plain loops.

For each image a matrix of columns (im2col) is built in the workspace: row (c, k), column p holds the element of channel
c that filter tap k multiplies at output position p. Forward, the output is filters @ columns. Backward, output @
columns.T is accumulated in the gradient of the filters, and filters.T @ output are columns, which are scattered to the
gradient of the image (col2im). Integers and unshared filters, for which there is no BLAS, use plain loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, const
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import (
    ONE,
    ZERO,
    Alias,
    Array,
    Assembled,
    Index,
    LoopRow,
    MatrixProduct,
    Pointwise,
    Reader,
    Source,
    Write,
    literal,
)
from aesara.lower.context import Context
from aesara.lower.control.loop import LoopBody, LoopNode, LoopResult, add_loop
from aesara.lower.dispatch import lower_op
from aesara.lower.joining.joining import integers_of_vector
from aesara.lower.padding import pad
from aesara.lower.products.dot import BLAS_DTYPES, bilinear, convert_factor
from aesara.lower.reductions.careduce import convert
from aesara.lower.shape_arithmetic import count_of
from aesara.records import dataclass
from aesara.tensor.products.correlation import Correlation, Windows


@lower_op.register
def _correlation(op: Correlation, node: Apply, context: Context) -> Sequence[Array]:
    dtype = node.outputs[0].type.dtype
    working = "float32" if dtype == "float16" else dtype
    x, y = (context.ensure_added(convert_factor(context.array(v), working)) for v in node.inputs[:2])
    sizes = _SizeInference(op, node, context).sizes(x, y)

    def correlate(a: Array, b: Array) -> Array:
        if a.dtype in BLAS_DTYPES and not op.windows.unshared:
            return _PRODUCTS[op.direction](_ImageLoop(op.windows, sizes, context), a, b)
        return _ELEMENTS[op.direction](_PlainLoops(op.windows, sizes, context), a, b)

    return [convert(bilinear(correlate, x, y, context), dtype)]


# -- sizes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sizes:
    """All sizes of a convolution: `channels` and `outputs` are those of one group."""

    batch: Expr
    channels: Expr
    outputs: Expr
    image: tuple[Expr, ...]
    kernel: tuple[Expr, ...]
    output: tuple[Expr, ...]
    before: tuple[Expr, ...]
    padded: tuple[Expr, ...]
    checks: tuple[object, ...]

    @property
    def is_padded(self) -> bool:
        return self.image != self.padded


class _SizeInference:
    """Infers all sizes, and adds the checks that they agree."""

    def __init__(self, op: Correlation, node: Apply, context: Context) -> None:
        self.op, self.node, self.context, self.windows = op, node, context, op.windows
        self.checks: list[object] = []

    def sizes(self, x: Array, y: Array) -> _Sizes:
        n = self.windows.ndim
        known_sizes = self._given_sizes()
        if self.op.direction == "forward":
            batch, image, kernel, outputs = x.shape[0], x.shape[2:], y.shape[-n:], y.shape[0]
            channels = self._split(x.shape[1], "The {0} channels of the images")
            self._agree(channels, y.shape[-n - 1], "The images have {0} channels in a group; the filters are for {1}.")
            output = None
        elif self.op.direction == "weights":
            batch, image, output, outputs = x.shape[0], x.shape[2:], y.shape[2:], y.shape[1]
            self._agree(batch, y.shape[0], "There are {0} images, and outputs of {1}.")
            channels = self._split(x.shape[1], "The {0} channels of the images")
            kernel = self._kernel(image, output) if known_sizes is None else known_sizes
        else:
            batch, kernel, output, outputs = y.shape[0], x.shape[-n:], y.shape[2:], x.shape[0]
            self._agree(outputs, y.shape[1], "There are {0} filters, but {1} channels of the output.")
            channels = x.shape[-n - 1]
            image = self._image(kernel, output) if known_sizes is None else known_sizes
        group_outputs = self._split(outputs, "The {0} filters")
        spans = self._spans(kernel)
        pads = self._pads(spans)
        padded = tuple(m + before + after for m, (before, after) in zip(image, pads, strict=True))
        positions = self._positions(image, kernel, padded, spans, output)
        if self.windows.unshared:
            filters = (y if self.op.direction == "forward" else x).shape[1 : 1 + n]
            if self.op.direction != "weights":
                for d in range(n):
                    self._agree(positions[d], filters[d], f"Dimension {d} has {{0}} positions, and filters for {{1}}.")
        return _Sizes(
            batch, channels, group_outputs, tuple(image), tuple(kernel), positions, tuple(b for b, _ in pads), padded,
            tuple(self.checks),
        )  # fmt: skip

    def _given_sizes(self) -> tuple[Expr, ...] | None:
        lengths = self.node.inputs[2:]
        if not lengths:
            return None
        if lengths[0].type.ndim == 1:
            sizes = integers_of_vector(lengths[0], self.windows.ndim, self.node, self.context)
        else:
            sizes = [self.context.size_from(self.context.array(v)) for v in lengths]
        known = self.node.outputs[0].type.shape[-self.windows.ndim :]
        return tuple(n if m is None else const(m) for n, m in zip(sizes, known, strict=True))

    def _split(self, total: Expr, channels: str) -> Expr:
        groups = const(self.windows.groups)
        if groups is ONE:
            return total
        remainder = total % groups
        message = f"{channels} cannot be split into {self.windows.groups} groups."
        self._require(primitive("eq", remainder, ZERO), message, total)
        return total // groups

    def _require(self, condition: Expr, message: str, *values: Expr) -> None:
        self.checks += self.context.guard(condition, ValueError, message, self.node, values)

    def _agree(self, a: Expr, b: Expr, message: str) -> None:
        self.checks += self.context.require_equal(a, b, ValueError, message, self.node)

    def _spans(self, kernel: Sequence[Expr]) -> list[Expr]:
        return [(k - 1) * d + 1 for k, d in zip(kernel, self.windows.dilations, strict=True)]

    def _pads(self, spans: Sequence[Expr]) -> list[tuple[Expr, Expr]]:
        padding = self.windows.border
        if not isinstance(padding, str):
            return [(const(int(before)), const(int(after))) for before, after in padding]
        zeros: dict[str, Callable[[Expr], Expr]] = {
            "valid": lambda span: ZERO,
            "full": lambda span: span - 1,
            "half": lambda span: span // 2,
        }
        return [(zeros[padding](n), zeros[padding](n)) for n in spans]

    def _positions(
        self, image: Sequence[Expr], kernel: Sequence[Expr], padded: Sequence[Expr], spans: Sequence[Expr],
        output: Sequence[Expr] | None,
    ) -> tuple[Expr, ...]:  # fmt: skip
        counts = []
        for d, stride in enumerate(self.windows.strides):
            empty = f"Filters must not be empty; their size in dimension {d} is {{0}}."
            self._require(kernel[d] >= ONE, empty, kernel[d])
            message = f"The filters, of size {{1}}, do not fit into the images, of size {{0}}, in dimension {d}."
            fits = padded[d] >= spans[d]
            self._require(fits & (image[d] >= ZERO), message, image[d], kernel[d])
            slack = padded[d] - spans[d]
            count = (slack if stride == 1 else slack // stride) + 1
            if output is not None:
                message = f"In dimension {d} there are windows at {{0}} positions; the output has {{1}}."
                self._agree(count, output[d], message)
                count = output[d]
            counts.append(count)
        return tuple(counts)

    def _kernel(self, image: Sequence[Expr], output: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the sizes of filters whose windows cover the image; see `tensor.products.correlation.kernel_sizes`."""
        sizes = []
        for d, dilation in enumerate(self.windows.dilations):
            if self.windows.border == "full":
                span = output[d] - image[d] + 1
            else:
                ((before, after),) = self._pads([ZERO] * (d + 1))[d : d + 1]
                span = (image[d] + before + after) - output[d] + 1
            sizes.append(span if dilation == 1 else (span - 1) // dilation + 1)
        return tuple(sizes)

    def _image(self, kernel: Sequence[Expr], output: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the sizes of the smallest images."""
        spans = self._spans(kernel)
        parts = zip(output, spans, self._pads(spans), self.windows.strides, strict=True)
        return tuple(((m - 1) * stride + span) - before - after for m, span, (before, after), stride in parts)


class _Convolution:
    """Index arithmetic and padding of a convolution."""

    def __init__(self, windows: Windows, sizes: _Sizes, context: Context) -> None:
        self.windows, self.sizes, self.context = windows, sizes, context

    def image_index(self, position: Sequence[Expr], tap: Sequence[Expr]) -> list[Expr]:
        """Return the index into the padded image for an output position and a filter tap."""
        index = []
        for d, (p, k) in enumerate(zip(position, tap, strict=True)):
            if self.windows.flip:
                k = (self.sizes.kernel[d] - 1) - k
            index.append(p * self.windows.strides[d] + k * self.windows.dilations[d])
        return index

    def pad(self, image: Array, context: Context) -> Array:
        """Pad an image with zeros."""
        if not self.sizes.is_padded:
            return image
        shape = (*image.shape[: image.ndim - self.windows.ndim], *self.sizes.padded)
        return context.add(pad(image, self.sizes.before, shape))

    def crop(self, padded: Array, context: Context) -> Array:
        """Remove the padding of an image."""
        if not self.sizes.is_padded:
            return padded
        lead = padded.ndim - self.windows.ndim
        before = (*(ZERO for _ in range(lead)), *self.sizes.before)

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            return readers[0](tuple(i + b for i, b in zip(index, before, strict=True)))

        return context.add(Pointwise(padded.dtype, (*padded.shape[:lead], *self.sizes.image), (padded,), body, 0))


# -- products of matrices ------------------------------------------------------------------------------------------


class _ImageLoop(_Convolution):
    """A loop over the images of a batch, with a matrix product for each group."""

    def __init__(self, windows: Windows, sizes: _Sizes, context: Context) -> None:
        super().__init__(windows, sizes, context)
        self.inner = context.inside_loop()
        self.groups = () if windows.groups == 1 else (const(windows.groups),)
        self.all_channels = sizes.channels * windows.groups
        self.all_outputs = sizes.outputs * windows.groups
        self.entries = count_of([sizes.channels, *sizes.kernel])
        self.positions = count_of(sizes.output)
        self.rows: list[LoopRow] = []
        self.operands: list[Array] = []

    def image_of(self, array: Array) -> Array:
        """Return the row of an array for the image of this step."""
        return self._read(array, 0, array.shape[1:])

    def whole(self, array: Array) -> Array:
        """Return an outer array as a whole."""
        if array.buffer is not None:
            return self.inner.add(Source(array.buffer, array.dtype, array.shape))
        return self._read(array, None, array.shape)

    def _read(self, array: Array, first: int | None, shape: Sequence[Expr]) -> Array:
        self.operands.append(array)
        self.rows.append(LoopRow(self.context.fresh("w"), array, first, tuple(shape)))
        return self.inner.add(Source(self.rows[-1].name, array.dtype, shape))

    def matrix(self, array: Array, rows: Expr, columns: Expr) -> Array:
        """View an array as a matrix for each group."""
        return self.inner.add(Alias(array, (*self.groups, rows, columns)))

    def transpose(self, matrix: Array) -> Array:
        *lead, rows, columns = matrix.shape
        return self.inner.add(
            Pointwise(
                matrix.dtype, (*lead, columns, rows), (matrix,),
                lambda index, readers: readers[0]((*index[:-2], index[-1], index[-2])), 0,
                strided=lambda offset, strides: (offset, (*strides[:-2], strides[-1], strides[-2])),
            )
        )  # fmt: skip

    def product(self, left: Array, right: Array) -> Array:
        return self.inner.add(MatrixProduct(left, right))

    def columns(self, image: Array) -> Array:
        """Return the matrix of columns of an image (im2col)."""
        sizes, n = self.sizes, self.windows.ndim
        if not sizes.is_padded and all(k is ONE for k in sizes.kernel) and all(s == 1 for s in self.windows.strides):
            return self.matrix(image, self.entries, self.positions)

        def body(index: Index, readers: Sequence[Reader]) -> Expr:
            return readers[0]((index[0], *self.image_index(index[n + 1 :], index[1 : n + 1])))

        padded = self.pad(image, self.inner)
        shape = (self.all_channels, *sizes.kernel, *sizes.output)
        spread = self.inner.add(Pointwise(image.dtype, shape, (padded,), body, 1, [True]))
        return self.matrix(spread, self.entries, self.positions)

    def image_of_columns(self, columns: Array) -> Array:
        """Return the image that sums the columns (col2im)."""
        sizes, n = self.sizes, self.windows.ndim
        domain = (self.all_channels, *sizes.kernel, *sizes.output)
        spread = self.inner.add(Alias(columns, domain))

        def position(index: Index, readers: Sequence[Reader]) -> Index:
            return (index[0], *self.image_index(index[n + 1 :], index[1 : n + 1]))

        write = Write(domain, (spread,), position, lambda index, readers: readers[0](index), accumulate=True)
        shape = (self.all_channels, *sizes.padded)
        padded = self.inner.add(Assembled(columns.dtype, shape, literal(0, columns.dtype, shape), [write]))
        return self.crop(padded, self.inner)

    def stack_results(self, array: Array, shape: Sequence[Expr]) -> Array:
        """Return the stacked arrays that the loop computes for each image."""
        return self._loop(array, (self.sizes.batch, *shape), None)

    def sum_results(self, term: Array, shape: Sequence[Expr]) -> Array:
        """Return the sum of the arrays that the loop computes for each image."""
        return self._loop(term, shape, self.context.add(literal(0, term.dtype, shape)))

    def _loop(self, array: Array, shape: Sequence[Expr], start: Array | None) -> Array:
        node = LoopNode([*self.operands, *([] if start is None else [start])], self.sizes.checks)
        result = LoopResult(node, array.dtype, shape)
        first: int | None = 0
        if start is not None:
            first = None
            self.rows.append(LoopRow(self.context.fresh("w"), result, None, array.shape))
            total = self.inner.add(Source(self.rows[-1].name, array.dtype, array.shape))
            array = self.inner.add(Pointwise(array.dtype, array.shape, (total, array), _sum))
        starts = () if start is None else ((result, start, None),)
        body = LoopBody(
            self.inner, self.context.fresh("i"), self.sizes.batch, self.context.fresh_size(), tuple(self.rows), starts,
            ((array, result, first),), None,
        )  # fmt: skip
        add_loop(self.context, node, body, [result])
        return result


def _sum(index: Index, readers: Sequence[Reader]) -> Expr:
    return readers[0](index) + readers[1](index)


def _forward(loop: _ImageLoop, x: Array, w: Array) -> Array:
    sizes = loop.sizes
    filters = loop.matrix(loop.whole(w), sizes.outputs, loop.entries)
    product = loop.product(filters, loop.columns(loop.image_of(x)))
    return loop.stack_results(product, (loop.all_outputs, *sizes.output))


def _weights(loop: _ImageLoop, x: Array, y: Array) -> Array:
    sizes = loop.sizes
    outputs = loop.matrix(loop.image_of(y), sizes.outputs, loop.positions)
    product = loop.product(outputs, loop.transpose(loop.columns(loop.image_of(x))))
    return loop.sum_results(product, (loop.all_outputs, sizes.channels, *sizes.kernel))


def _inputs(loop: _ImageLoop, w: Array, y: Array) -> Array:
    sizes = loop.sizes
    filters = loop.transpose(loop.matrix(loop.whole(w), sizes.outputs, loop.entries))
    outputs = loop.matrix(loop.image_of(y), sizes.outputs, loop.positions)
    image = loop.image_of_columns(loop.product(filters, outputs))
    return loop.stack_results(image, (loop.all_channels, *sizes.image))


_PRODUCTS: dict[str, Callable[[_ImageLoop, Array, Array], Array]] = {
    "forward": _forward,
    "weights": _weights,
    "inputs": _inputs,
}


# -- element by element --------------------------------------------------------------------------------------------


class _PlainLoops(_Convolution):
    """A loop nest over all products: each iteration adds one product to an element of the result."""

    def domain(self, positions_first: bool) -> tuple[Expr, ...]:
        sizes = self.sizes
        inner = (const(self.windows.groups), sizes.outputs, sizes.channels, *sizes.kernel)
        return (sizes.batch, *sizes.output, *inner) if positions_first else (sizes.batch, *inner, *sizes.output)

    def unpack(self, index: Index, positions_first: bool) -> tuple[Expr, Index, Expr, Expr, Expr, Index]:
        """Return image, position, output, channel, channel in its group, and filter tap."""
        n = self.windows.ndim
        image, *rest = index
        if positions_first:
            position, (group, output, channel, *entry) = rest[:n], rest[n:]
        else:
            (group, output, channel, *entry), position = rest[:-n], rest[-n:]
        first_output, first_channel = group * self.sizes.outputs, group * self.sizes.channels
        return image, tuple(position), first_output + output, first_channel + channel, channel, tuple(entry)

    def at_image(self, index: Index, positions_first: bool = False) -> Index:
        image, position, _, channel, _, entry = self.unpack(index, positions_first)
        return (image, channel, *self.image_index(position, entry))

    def at_filter(self, index: Index, positions_first: bool = False) -> Index:
        _, position, output, _, channel, entry = self.unpack(index, positions_first)
        return (output, *(position if self.windows.unshared else ()), channel, *entry)

    def at_output(self, index: Index, positions_first: bool = False) -> Index:
        image, position, output, *_ = self.unpack(index, positions_first)
        return (image, output, *position)

    def sums(
        self, shape: Sequence[Expr], position: Callable[..., Index], x: Array, at_x: Callable[..., Index], y: Array,
        at_y: Callable[..., Index], positions_first: bool = False,
    ) -> Array:  # fmt: skip
        """Return the array with ``result[position] += x[at_x] * y[at_y]``."""

        def value(index: Index, readers: Sequence[Reader]) -> Expr:
            return readers[0](at_x(index, positions_first)) * readers[1](at_y(index, positions_first))

        write = Write(
            self.domain(positions_first), (x, y), lambda index, readers: position(index, positions_first), value, True
        )
        zeros = literal(0, x.dtype, shape)
        return self.context.add(Assembled(x.dtype, shape, zeros, [write], self.sizes.checks))

    def filters_shape(self) -> tuple[Expr, ...]:
        sizes = self.sizes
        positions = sizes.output if self.windows.unshared else ()
        return (sizes.outputs * self.windows.groups, *positions, sizes.channels, *sizes.kernel)


def _forward_elements(loops: _PlainLoops, x: Array, w: Array) -> Array:
    shape = (loops.sizes.batch, loops.sizes.outputs * loops.windows.groups, *loops.sizes.output)
    return loops.sums(shape, loops.at_output, loops.pad(x, loops.context), loops.at_image, w, loops.at_filter)


def _weights_elements(loops: _PlainLoops, x: Array, y: Array) -> Array:
    padded = loops.pad(x, loops.context)
    # With filter taps innermost, successive iterations add to distinct elements.
    return loops.sums(loops.filters_shape(), loops.at_filter, padded, loops.at_image, y, loops.at_output, True)


def _inputs_elements(loops: _PlainLoops, w: Array, y: Array) -> Array:
    shape = (loops.sizes.batch, loops.sizes.channels * loops.windows.groups, *loops.sizes.padded)
    return loops.crop(loops.sums(shape, loops.at_image, w, loops.at_filter, y, loops.at_output), loops.context)


_ELEMENTS: dict[str, Callable[[_PlainLoops, Array, Array], Array]] = {
    "forward": _forward_elements,
    "weights": _weights_elements,
    "inputs": _inputs_elements,
}
