"""Convolutions of images in two and three dimensions, and their gradients, as abstract ops.

`AbstractConv2d` and related ops specify the computation, with declared shapes. During compilation, the rules in
`aesara.tensor.nnet.rewriting` replace them by implementations; remaining ones have an implementation of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_like import PartialShape, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.make_vector import vector_of
from aesara.tensor.nnet.conv_shapes import BorderMode, assert_shape, checked_border_mode, pads_of
from aesara.tensor.products.correlation import Correlation, Direction, Windows

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


def as_operand(x: TensorLike, ndim: int, name: str, quantity: str = "tensor") -> TensorVariable:
    """Convert to a tensor with `ndim` dimensions.

    Raises
    ------
    TypeError
        If it has others.
    """
    x = as_tensor_variable(x)
    if x.type.ndim != ndim:
        raise TypeError(f"{name} must be {ndim}D {quantity}; got {describe(x)} with {x.type.ndim} dimensions")
    return x


def positive_integers(name: str, values: Any, convdim: int) -> tuple[int, ...]:
    if values is None:
        return (1,) * convdim
    values = tuple(values)
    if len(values) != convdim:
        raise ValueError(f"{name} must have {convdim} elements")
    for value in values:
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must have positive integers; got {values}")
    return tuple(map(int, values))


def _declared_shape(name: str, shape: PartialShape | None, length: int) -> tuple:
    if shape is None:
        return (None,) * length
    error = ValueError(f"{name} should be None or a tuple of constant int values")
    if isinstance(shape, Variable):
        raise error
    shape = tuple(shape)
    for n in shape:
        if not (n is None or isinstance(n, (int, np.integer)) or isinstance(n, Constant)):
            raise error
    return tuple(None if n is None else known_integer(n) for n in shape)


class ChosenWindows(Correlation):
    """A sum over windows, given by border mode, strides, dilations and groups."""

    convdim: int
    border_mode: BorderMode
    subsample: tuple[int, ...]
    filter_flip = False
    filter_dilation: tuple[int, ...]
    num_groups: int
    unshared: bool

    def _set(
        self, border_mode: BorderMode, subsample: Any, filter_dilation: Any, num_groups: int, unshared: bool
    ) -> None:
        self.border_mode = checked_border_mode(border_mode, self.convdim)
        self.subsample = positive_integers("subsample", subsample, self.convdim)
        self.filter_dilation = positive_integers("filter_dilation", filter_dilation, self.convdim)
        self.num_groups = int(num_groups)
        self.unshared = bool(unshared)

    @cached_property
    def windows(self) -> Windows:
        return Windows(
            pads_of(self.border_mode),
            self.subsample,
            self.filter_dilation,
            self.num_groups,
            self.filter_flip,
            self.unshared,
        )


class BaseAbstractConv(ChosenWindows):
    """A convolution of images with filters, or one of its gradients.

    Parameters
    ----------
    convdim
        The number of dimensions of images: 2 or 3.
    imshp, kshp
        The declared shapes of images and of filters: tuples with integers, or None for what is not
        known. Declarations are checked with ``config.conv__assert_shape`` only.
    border_mode
        "valid", "full", "half", an integer, or a tuple with an integer or a pair of integers for each dimension: how
        many zeros stand around the images.
    subsample
        How far apart windows are, in each dimension.
    filter_flip
        Whether filters are mirrored (convolution) or not (cross-correlation).
    filter_dilation
        How far apart the elements are that meet neighbouring entries of a filter, in each dimension.
    num_groups
        Into how many groups channels and outputs are split, each of which is on its own.
    unshared
        Whether each position of the output has filters of its own.
    """

    __props__ = (
        "convdim",
        "border_mode",
        "subsample",
        "filter_flip",
        "imshp",
        "kshp",
        "filter_dilation",
        "num_groups",
        "unshared",
    )

    def __init__(
        self,
        convdim: int,
        imshp: Sequence[int | None] | None = None,
        kshp: Sequence[int | None] | None = None,
        border_mode: Any = "valid",
        subsample: Sequence[int] | None = None,
        filter_flip: bool = True,
        filter_dilation: Sequence[int] | None = None,
        num_groups: int = 1,
        unshared: bool = False,
    ):
        if convdim not in (2, 3):
            raise ValueError(f"convolution dimension {convdim} is not supported; it is 2 or 3")
        if num_groups < 1:
            raise ValueError("num_groups must have value greater than zero")
        if unshared and convdim == 3:
            raise NotImplementedError("Unshared convolution is for two dimensions")
        self.convdim = convdim
        self.filter_flip = bool(filter_flip)
        self._set(border_mode, subsample, filter_dilation, num_groups, unshared)
        self.imshp = _declared_shape("imshp", imshp, 2 + convdim)
        self.kshp = _declared_shape("kshp", kshp, self.windows.kernel_ndim)

    def in_direction(self, direction: Direction) -> BaseAbstractConv:
        cls = _CLASSES[self.convdim, direction]
        result = cls.__new__(cls)
        BaseAbstractConv.__init__(result, **{name: getattr(self, name) for name in BaseAbstractConv.__props__})
        return result

    def with_sizes(self, x: TensorVariable, y: TensorVariable, sizes: Sequence[TensorVariable]) -> TensorVariable:
        return self(x, y, vector_of([as_tensor_variable(n).astype("int64") for n in sizes]))

    def flops(self, inputs: Sequence[tuple], outputs: Sequence[tuple]) -> float:
        """Return the number of multiplications and additions.

        Parameters
        ----------
        inputs, outputs
            The shapes of the inputs and of the output.
        """
        images, filters, outputs_shape = {
            "forward": (inputs[0], inputs[1], outputs[0]),
            "weights": (inputs[0], outputs[0], inputs[1]),
            "inputs": (outputs[0], inputs[0], inputs[1]),
        }[self.direction]
        n = self.convdim
        return float(
            images[0] * outputs_shape[1] * np.prod(outputs_shape[2:]) * filters[-n - 1] * np.prod(filters[-n:]) * 2
        )

    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply) -> bool:
        """Convolutions are not computed while a function is compiled."""
        return False

    def _images(self, x: TensorLike, name: str = "img") -> TensorVariable:
        return assert_shape(
            as_operand(x, 2 + self.convdim, name), self.imshp, "The images have not the declared shape."
        )

    def _filters(self, x: TensorLike) -> TensorVariable:
        quantity = "tensor for unshared convolution" if self.unshared else "tensor"
        kern = as_operand(x, self.windows.kernel_ndim, "kern", quantity)
        return assert_shape(kern, self.kshp, "The filters have not the declared shape.")

    def _sizes(self, shape: Any) -> tuple[TensorVariable, list[int | None]]:
        """Return a vector of sizes, and the known ones of them."""
        shape = as_tensor_variable(shape)
        if shape.type.ndim != 1 or shape.type.dtype not in integer_dtypes:
            raise TypeError(f"shape must be a vector of integers; got {describe(shape)} of type {shape.type}")
        if shape.type.shape[0] not in (None, self.convdim):
            raise ValueError(f"shape must have {self.convdim} entries; got {shape.type.shape[0]}")
        return shape, [known_integer(shape[k]) for k in range(self.convdim)]


class AbstractConv(BaseAbstractConv):
    """The convolution of images with filters: ``op(images, filters)``."""

    direction: Direction = "forward"

    def make_node(self, img: Any, kern: Any) -> Apply:
        x, w, result = self.result_of(self._images(img), self._filters(kern), ())
        return Apply(self, [x, w], [result])


class AbstractConv_gradWeights(BaseAbstractConv):
    """The gradient of a convolution for its filters: ``op(images, gradient of the output, sizes of the filters)``."""

    direction: Direction = "weights"

    def make_node(self, img: Any, topgrad: Any, shape: PartialShape | None, add_assert_shape: bool = True) -> Apply:
        sizes, known = self._sizes(shape)
        images = self._images(img) if add_assert_shape else as_operand(img, 2 + self.convdim, "img")
        x, y, result = self.result_of(images, as_operand(topgrad, 2 + self.convdim, "topgrad"), known)
        return Apply(self, [x, y, sizes], [result])


class AbstractConv_gradInputs(BaseAbstractConv):
    """The gradient of a convolution for its images: ``op(filters, gradient of the output, sizes of the images)``."""

    direction: Direction = "inputs"

    def make_node(self, kern: Any, topgrad: Any, shape: PartialShape | None, add_assert_shape: bool = True) -> Apply:
        sizes, known = self._sizes(shape)
        filters = self._filters(kern) if add_assert_shape else as_operand(kern, self.windows.kernel_ndim, "kern")
        w, y, result = self.result_of(filters, as_operand(topgrad, 2 + self.convdim, "topgrad"), known)
        return Apply(self, [w, y, sizes], [result])


class _In2d(BaseAbstractConv):
    def __init__(
        self,
        imshp: Sequence[int | None] | None = None,
        kshp: Sequence[int | None] | None = None,
        border_mode: BorderMode = "valid",
        subsample: Sequence[int] = (1, 1),
        filter_flip: bool = True,
        filter_dilation: Sequence[int] = (1, 1),
        num_groups: int = 1,
        unshared: bool = False,
    ):
        super().__init__(2, imshp, kshp, border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared)


class _In3d(BaseAbstractConv):
    def __init__(
        self,
        imshp: Sequence[int | None] | None = None,
        kshp: Sequence[int | None] | None = None,
        border_mode: BorderMode = "valid",
        subsample: Sequence[int] = (1, 1, 1),
        filter_flip: bool = True,
        filter_dilation: Sequence[int] = (1, 1, 1),
        num_groups: int = 1,
    ):
        super().__init__(3, imshp, kshp, border_mode, subsample, filter_flip, filter_dilation, num_groups)


class AbstractConv2d(_In2d, AbstractConv):
    """The convolution of images ``(batch, channels, rows, columns)`` with filters; see `BaseAbstractConv`."""


class AbstractConv2d_gradWeights(_In2d, AbstractConv_gradWeights):
    """The gradient of a convolution in two dimensions for its filters; see `BaseAbstractConv`."""


class AbstractConv2d_gradInputs(_In2d, AbstractConv_gradInputs):
    """The gradient of a convolution in two dimensions for its images; see `BaseAbstractConv`."""


class AbstractConv3d(_In3d, AbstractConv):
    """The convolution of images ``(batch, channels, depth, rows, columns)`` with filters; see `BaseAbstractConv`."""


class AbstractConv3d_gradWeights(_In3d, AbstractConv_gradWeights):
    """The gradient of a convolution in three dimensions for its filters; see `BaseAbstractConv`."""


class AbstractConv3d_gradInputs(_In3d, AbstractConv_gradInputs):
    """The gradient of a convolution in three dimensions for its images; see `BaseAbstractConv`."""


_CLASSES: dict[tuple[int, Direction], type[BaseAbstractConv]] = {
    (2, "forward"): AbstractConv2d,
    (2, "weights"): AbstractConv2d_gradWeights,
    (2, "inputs"): AbstractConv2d_gradInputs,
    (3, "forward"): AbstractConv3d,
    (3, "weights"): AbstractConv3d_gradWeights,
    (3, "inputs"): AbstractConv3d_gradInputs,
}
