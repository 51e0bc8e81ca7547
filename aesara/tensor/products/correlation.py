"""Sums of products over windows: the basis of convolutions of images with filters.

An image has a batch of entries with channels, ``(batch, channels, *sizes)``; filters are ``(outputs, channels of a
group, *sizes)``, or ``(outputs, *positions, channels of a group, *sizes)`` if each position of the output has filters
of its own. `Windows` defines the window of an image at each position. With image x, filters w and output y, and
``x(p, k)`` for the element of the window at position p for element k of a filter, the three directions are ::

    forward   y[b, o, p] = sum of x[b, c](p, k) * w[o, c, k]  over c, k
    weights   w[o, c, k] = sum of x[b, c](p, k) * y[b, o, p]  over b, p
    inputs    x[b, c](p, k) += w[o, c, k] * y[b, o, p]        for all o, p, k

Each is linear in both operands, and its derivatives are the other two. This module implements them in NumPy, and
`aesara/lower/products/correlation.py` in native code.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.stride_tricks import as_strided

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.records import dataclass
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import OutputCells, PartialShape, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.core.vector_length import entries_of
from aesara.tensor.elementwise.ops import conj, gradient_as

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


Direction = Literal["forward", "weights", "inputs"]
Shape = tuple[Any, ...]


def dilated_size(kernel: Any, dilation: int) -> Any:
    """Return the number of image elements spanned by a filter whose entries are `dilation` apart."""
    return kernel if dilation == 1 else (kernel - 1) * dilation + 1


def output_size(image: TensorLike, span: Any, before: Any, after: Any, stride: int) -> Any:
    """Return the number of positions of a window with the given span on a padded image."""
    free = image - span
    if not (isinstance(before, int) and before == 0):
        free = free + before
    if not (isinstance(after, int) and after == 0):
        free = free + after
    return free + 1 if stride == 1 else free // stride + 1


@dataclass(frozen=True)
class Windows:
    """Window geometry of a convolution.

    Attributes
    ----------
    border
        How many zeros stand around images: "valid" (none), "full" (so many that each element meets each entry of a
        filter), "half" (half the span of the filter), or for each dimension their numbers in front and behind.
    strides
        How far apart neighbouring windows are, for each dimension.
    dilations
        How far apart the elements of an image are that meet neighbouring entries of a filter.
    groups
        Into how many groups the channels are split; each part of the outputs sees one group.
    flip
        Whether the filters are mirrored, as in the mathematical convolution.
    unshared
        Whether each position has filters of its own.
    """

    border: str | tuple[tuple[int, int], ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    groups: int = 1
    flip: bool = False
    unshared: bool = False

    @property
    def ndim(self) -> int:
        return len(self.strides)

    @property
    def kernel_ndim(self) -> int:
        return 2 + self.ndim * (2 if self.unshared else 1)

    def spans(self, kernel: Sequence[Any]) -> list[Any]:
        return [dilated_size(k, d) for k, d in zip(kernel, self.dilations, strict=True)]

    def pads(self, kernel: PartialShape) -> list[tuple[Any, Any]]:
        """Return the numbers of zeros before and after the image, for filters of the given sizes."""
        if self.border == "valid":
            return [(0, 0)] * self.ndim
        if self.border == "full":
            return [(n - 1, n - 1) for n in self.spans(kernel)]
        if self.border == "half":
            return [(n // 2, n // 2) for n in self.spans(kernel)]
        return list(self.border)  # type: ignore[arg-type]

    def output_sizes(self, image: Sequence[Any], kernel: Sequence[Any]) -> list[Any]:
        """Return the numbers of positions in each dimension."""
        parts = zip(image, self.spans(kernel), self.pads(kernel), self.strides, strict=True)
        return [output_size(n, span, *pads, stride) for n, span, pads, stride in parts]

    def known_output_sizes(self, image: Sequence[int | None], kernel: Sequence[int | None]) -> list[int | None]:
        """Return the numbers of positions in each dimension; sizes may be unknown (None)."""
        known = [(-1 if n is None else n, -1 if k is None else k) for n, k in zip(image, kernel, strict=True)]
        sizes = self.output_sizes([n for n, _ in known], [k for _, k in known])
        return [None if -1 in pair else size for pair, size in zip(known, sizes)]

    def image_sizes(self, kernel: Sequence[Any], output: Sequence[Any]) -> list[Any]:
        """Return the sizes of the smallest image with the given numbers of positions."""
        parts = zip(output, self.spans(kernel), self.pads(kernel), self.strides, strict=True)
        return [(n - 1) * stride + span - before - after for n, span, (before, after), stride in parts]

    # -- NumPy -----------------------------------------------------------------------------------------------

    def padded_shape(self, image: Shape, kernel: Sequence[int]) -> Shape:
        pads = self.pads(kernel)
        return (*image[:2], *(n + before + after for n, (before, after) in zip(image[2:], pads, strict=True)))

    def inner(self, image: Shape, kernel: Sequence[int]) -> tuple[Any, ...]:
        """Index of the image in an array of the padded size."""
        pads = self.pads(kernel)
        return (..., *(slice(before, before + n) for n, (before, _) in zip(image[2:], pads, strict=True)))

    def windows(self, padded: np.ndarray, kernel: Sequence[int], output: Sequence[int]) -> np.ndarray:
        """Return a view ``[batch, channel, *position, *entry of the filter]`` of a padded array."""
        steps = padded.strides[2:]
        strides = [n * s for n, s in zip(steps, self.strides, strict=True)]
        strides += [n * d for n, d in zip(steps, self.dilations, strict=True)]
        view = as_strided(padded, (*padded.shape[:2], *output, *kernel), (*padded.strides[:2], *strides))
        backwards: Any = (..., *(slice(None, None, -1),) * self.ndim)
        return view[backwards] if self.flip else view

    def parts(self, channels: int, outputs: int) -> Iterator[tuple[slice, slice]]:
        """Return the channels and the outputs of each group."""
        of_x, of_y = channels // self.groups, outputs // self.groups
        for g in range(self.groups):
            yield slice(g * of_x, (g + 1) * of_x), slice(g * of_y, (g + 1) * of_y)


class Correlation(Op):
    """A sum of products over windows, in one of three directions.

    The first two inputs are images and filters (forward), images and outputs (weights), or filters and outputs
    (inputs). In the last two directions they are followed by the sizes of the result: a vector, one scalar for each, or
    nothing if these are the sizes of the smallest image, or of filters whose windows cover the image exactly.
    """

    direction: Direction

    @property
    @abstractmethod
    def windows(self) -> Windows:
        """The windows."""

    @abstractmethod
    def in_direction(self, direction: Direction) -> Correlation:
        """Return the op of the same kind with the same windows in another direction."""

    @abstractmethod
    def with_sizes(self, x: TensorVariable, y: TensorVariable, sizes: Sequence[TensorVariable]) -> TensorVariable:
        """Apply the op, of one of the backward directions, to operands and the sizes of its result."""

    # -- types -----------------------------------------------------------------------------------------------

    def result_of(
        self, x: TensorVariable, y: TensorVariable, sizes: Sequence[int | None]
    ) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
        """Return both operands with a common dtype, and a variable for the result with static `sizes`.

        Raises
        ------
        ValueError
            If the shapes of the operands cannot agree.
        """
        dtype = aes.upcast(x.type.dtype, y.type.dtype)
        if dtype == "bool":
            raise TypeError(
                f"{type(self).__name__}: sums of booleans are not defined; convert the operands to numbers."
            )
        shape = self._static_shape(x.type.shape, y.type.shape, sizes)
        return x.astype(dtype), y.astype(dtype), tensor_type(dtype, shape)()

    def _static_shape(self, x: Shape, y: Shape, sizes: Sequence[int | None]) -> Shape:
        windows = self.windows
        n, groups = windows.ndim, windows.groups
        if self.direction == "forward":
            self._require_channels(x[1], y[-n - 1], y[0])
            return (x[0], y[0], *self._known_positions(x[2:], y[-n:], y[1 : 1 + n] if windows.unshared else None))
        if self.direction == "weights":
            self._require_channels(x[1], None, y[1])
            self._known_positions(x[2:], sizes, y[2:])
            channels = None if x[1] is None else x[1] // groups
            return (y[1], *(y[2:] if windows.unshared else ()), channels, *sizes)
        if x[0] is not None and y[1] is not None and x[0] != y[1]:
            raise ValueError(f"{type(self).__name__}: there are {x[0]} filters, but {y[1]} channels of the output.")
        self._require_channels(None, None, x[0])
        self._known_positions(sizes, x[-n:], y[2:])
        return (y[0], None if x[-n - 1] is None else x[-n - 1] * groups, *sizes)

    def _known_positions(self, image: Sequence, kernel: Sequence, output: Sequence | None) -> list[int | None]:
        """Return the static sizes of the output, from those of images and filters or from its type."""
        n_positions = self.windows.known_output_sizes(image, kernel)
        for n, k, p, m in zip(image, kernel, n_positions, output or n_positions):
            if p is not None and p < 1:
                raise ValueError(f"{type(self).__name__}: filters of size {k} do not fit into images of size {n}.")
            if p is not None and m is not None and p != m:
                raise ValueError(
                    f"{type(self).__name__}: images of size {n} and filters of size {k} give {p} positions, not {m}."
                )
        return [p if m is None else m for p, m in zip(n_positions, output or n_positions)]

    def _require_channels(self, channels: int | None, of_group: int | None, outputs: int | None) -> None:
        message = channels_message(channels, of_group, outputs, self.windows.groups)
        if message is not None:
            raise ValueError(f"{type(self).__name__}: {message}")

    # -- values ----------------------------------------------------------------------------------------------

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        x, y, *rest = inputs
        dtype = node.outputs[0].type.dtype
        if dtype == "float16":
            # as for products of matrices: single precision, rounded once
            x, y = x.astype("float32"), y.astype("float32")
        sizes = [int(n) for n in np.concatenate([np.ravel(r) for r in rest])] if rest else None
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.asarray(compute(self.direction, self.windows, x, y, sizes), dtype=dtype)

    # -- symbolic --------------------------------------------------------------------------------------------

    def declared_sizes(self, node: Apply) -> list[Any] | None:
        """Return the inputs that are sizes of the result, or None if these follow from the operands."""
        rest = node.inputs[2:]
        if not rest:
            return None
        if rest[0].type.ndim == 1:
            return entries_of(rest[0], self.windows.ndim)
        return list(rest)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        windows, n = self.windows, self.windows.ndim
        x, y = shapes[:2]
        if self.direction == "forward":
            return [(x[0], y[0], *windows.output_sizes(x[2:], y[-n:]))]
        sizes = self.declared_sizes(node)
        if self.direction == "weights":
            if sizes is None:
                sizes = kernel_sizes(windows, x[2:], y[2:])
            channels = x[1] if windows.groups == 1 else x[1] // windows.groups
            return [(y[1], *(y[2:] if windows.unshared else ()), channels, *sizes)]
        if sizes is None:
            sizes = windows.image_sizes(x[-n:], y[2:])
        channels = x[-n - 1] if windows.groups == 1 else x[-n - 1] * windows.groups
        return [(y[0], channels, *sizes)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [True], *[[False]] * (len(node.inputs) - 2)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        x, y, *rest = inputs
        (g,) = output_grads
        n = self.windows.ndim
        image, kernel = (lambda v: [v.shape[2 + d] for d in range(n)]), (lambda v: [v.shape[d - n] for d in range(n)])
        if self.direction == "forward":
            of_x = self.in_direction("inputs").with_sizes(conj(y), g, image(x))
            of_y = self.in_direction("weights").with_sizes(conj(x), g, kernel(y))
        elif self.direction == "weights":
            of_x = self.in_direction("inputs").with_sizes(g, conj(y), image(x))
            of_y = self.in_direction("forward")(conj(x), g)
        else:
            of_x = self.in_direction("weights").with_sizes(g, conj(y), kernel(x))
            of_y = self.in_direction("forward")(g, conj(x))
        gradients = [
            v.zeros_like(dtype=config.floatX) if v.type.dtype in discrete_dtypes else gradient_as(dv, v.type.dtype)
            for v, dv in ((x, of_x), (y, of_y))
        ]
        return [*gradients, *(disconnected_type() for _ in rest)]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        x, y, *rest = inputs
        dx, dy = eval_points[:2]
        terms = [self(dx, y, *rest)] if dx is not None else []
        if dy is not None:
            terms.append(self(x, dy, *rest))
        if not terms:
            return [None]
        return [terms[0] if len(terms) == 1 else terms[0] + terms[1]]


def channels_message(channels: int | None, of_group: int | None, outputs: int | None, groups: int) -> str | None:
    """Return the error message for numbers of channels that do not match (None: unknown), or None."""
    if channels is not None and channels % groups:
        return f"the {channels} channels of the images cannot be split into {groups} groups."
    if outputs is not None and outputs % groups:
        return f"the {outputs} filters cannot be split into {groups} groups."
    if channels is not None and of_group is not None and channels != of_group * groups:
        return f"the images have {channels} channels; the filters are for {of_group * groups}."
    return None


def kernel_sizes(windows: Windows, image: Sequence[Any], output: Sequence[Any]) -> list[Any]:
    """Return the sizes of filters whose windows, next to each other, cover the image exactly.

    Raises
    ------
    ValueError
        If sizes do not follow: windows apart from each other, or zeros by half the size of the filter.
    """
    if windows.border == "half" or any(s != 1 for s in windows.strides):
        raise ValueError("The sizes of the filters must be given for a border 'half' or strides other than 1.")
    sizes = []
    for d, (n, m) in enumerate(zip(image, output, strict=True)):
        if windows.border == "full":
            span = m - n + 1
        else:
            before, after = (0, 0) if isinstance(windows.border, str) else windows.border[d]
            span = n + before + after - m + 1
        sizes.append(span if windows.dilations[d] == 1 else (span - 1) // windows.dilations[d] + 1)
    return sizes


# -- the computation -----------------------------------------------------------------------------------------------


def compute(
    direction: Direction, windows: Windows, x: np.ndarray, y: np.ndarray, sizes: Sequence[int] | None = None
) -> np.ndarray:
    """Compute the sum of products for arrays; for the operands see `Correlation`."""
    return _COMPUTE[direction](windows, x, y, *shapes_of_operands(direction, windows, x.shape, y.shape, sizes))


def shapes_of_operands(
    direction: Direction, windows: Windows, x: Shape, y: Shape, sizes: Sequence[int] | None
) -> tuple[Shape, Shape, Shape]:
    """Return the shape of the images and the sizes of filters and output, given the shapes of both operands.

    Raises
    ------
    ValueError
        If they do not fit.
    """
    n = windows.ndim
    if direction == "forward":
        kernel = y[-n:]
        image, outputs, of_group = x, y[0], y[-n - 1]
        output = tuple(windows.output_sizes(image[2:], kernel))
        if windows.unshared and output != y[1 : -n - 1]:
            raise ValueError(f"There are filters for {y[1 : -n - 1]} positions; there are {output}.")
    elif direction == "weights":
        image, outputs, output = x, y[1], y[2:]
        kernel = tuple(kernel_sizes(windows, image[2:], output) if sizes is None else sizes)
        of_group = None
        if x[0] != y[0]:
            raise ValueError(f"There are {x[0]} images, and outputs of {y[0]}.")
    else:
        kernel, output, of_group, outputs = x[-n:], y[2:], x[-n - 1], x[0]
        if outputs != y[1]:
            raise ValueError(f"There are {outputs} filters, but {y[1]} channels of the output.")
        if windows.unshared and output != x[1 : -n - 1]:
            raise ValueError(f"There are filters for {x[1 : -n - 1]} positions; the output has {output}.")
        image_sizes = windows.image_sizes(kernel, output) if sizes is None else sizes
        image = (y[0], of_group * windows.groups, *image_sizes)
    _check(windows, image, kernel, output, of_group, outputs)
    return image, kernel, output


def _check(windows: Windows, image: Shape, kernel: Shape, output: Shape, of_group: int | None, outputs: int) -> None:
    message = channels_message(image[1], of_group, outputs, windows.groups)
    if message is not None:
        raise ValueError(message[0].upper() + message[1:])
    if min(kernel) < 1:
        raise ValueError(f"Filters must not be empty; their sizes are {kernel}.")
    wanted = tuple(windows.output_sizes(image[2:], kernel))
    if wanted != output or min(image[2:]) < 0:
        raise ValueError(f"Images of sizes {image[2:]} and filters of sizes {kernel} give {wanted}, not {output}.")
    if min(output) < 1:
        raise ValueError(f"The filters, of sizes {kernel}, do not fit into the images, of sizes {image[2:]}.")


def _pad(windows: Windows, x: np.ndarray, kernel: Shape) -> np.ndarray:
    if all(pads == (0, 0) for pads in windows.pads(kernel)):
        return x
    padded = np.zeros(windows.padded_shape(x.shape, kernel), dtype=x.dtype)
    padded[windows.inner(x.shape, kernel)] = x
    return padded


def _labels(n: int) -> tuple[str, str]:
    """Letters for positions and for entries of filters."""
    return "pqr"[:n], "klm"[:n]


def _forward(windows: Windows, x: np.ndarray, w: np.ndarray, image: Shape, kernel: Shape, output: Shape) -> np.ndarray:
    view = windows.windows(_pad(windows, x, kernel), kernel, output)
    result = np.zeros((image[0], w.shape[0], *output), dtype=x.dtype)
    n = windows.ndim
    inner = tuple(range(1, n + 1))
    at, of = _labels(n)
    for channels, outputs in windows.parts(image[1], w.shape[0]):
        for b in range(image[0]):
            part = view[b, channels]
            if windows.unshared:
                result[b, outputs] = np.einsum(f"c{at}{of},o{at}c{of}->o{at}", part, w[outputs])
            else:
                result[b, outputs] = np.tensordot(w[outputs], part, axes=((1, *(k + 1 for k in inner)), _entries(n)))
    return result


def _entries(n: int) -> tuple[int, ...]:
    """Return the axes of channels and of entries of filters in the windows of an image."""
    return (0, *range(n + 1, 2 * n + 1))


def _weights(windows: Windows, x: np.ndarray, y: np.ndarray, image: Shape, kernel: Shape, output: Shape) -> np.ndarray:
    view = windows.windows(_pad(windows, x, kernel), kernel, output)
    n, per_group = windows.ndim, image[1] // windows.groups
    positions = output if windows.unshared else ()
    result = np.zeros((y.shape[1], *positions, per_group, *kernel), dtype=x.dtype)
    at, of = _labels(n)
    over = tuple(range(1, n + 1))
    for channels, outputs in windows.parts(image[1], y.shape[1]):
        for b in range(image[0]):
            if windows.unshared:
                result[outputs] += np.einsum(f"c{at}{of},o{at}->o{at}c{of}", view[b, channels], y[b, outputs])
            else:
                result[outputs] += np.tensordot(y[b, outputs], view[b, channels], axes=(over, over))
    return result


def _inputs(windows: Windows, w: np.ndarray, y: np.ndarray, image: Shape, kernel: Shape, output: Shape) -> np.ndarray:
    padded = np.zeros(windows.padded_shape(image, kernel), dtype=w.dtype)
    view = windows.windows(padded, kernel, output)
    n = windows.ndim
    at, of = _labels(n)
    for channels, outputs in windows.parts(image[1], w.shape[0]):
        for b in range(image[0]):
            if windows.unshared:
                products = np.einsum(f"o{at}c{of},o{at}->c{of}{at}", w[outputs], y[b, outputs])
            else:
                products = np.tensordot(w[outputs], y[b, outputs], axes=(0, 0))
            # One entry of the filters at a time: its windows do not overlap.
            for entry in np.ndindex(*kernel):
                view[(b, channels, *(slice(None),) * n, *entry)] += products[(slice(None), *entry)]
    return padded[windows.inner(image, kernel)]


_COMPUTE = {"forward": _forward, "weights": _weights, "inputs": _inputs}
