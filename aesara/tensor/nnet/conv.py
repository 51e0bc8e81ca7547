"""Convolutions in two dimensions, in an older form; `aesara.tensor.nnet.conv2d` is for new programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from aesara.graph.nodes import Apply
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.constant_value import get_scalar_constant_value
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import PartialShape, TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq
from aesara.tensor.nnet.conv_ops import AbstractConv2d, as_operand
from aesara.tensor.nnet.conv_shapes import get_conv_output_shape
from aesara.tensor.products.correlation import Correlation, Direction, Windows
from aesara.user_code import warn_user

__all__ = ["ConvOp", "conv2d", "gen_conv_code_unroll_batch_kern"]


def _has_declared_shape(quantity: str) -> Callable[[TensorVariable, Sequence[int | None]], TensorVariable]:
    """Return a check that a tensor has the declared lengths, except those that are None."""
    check = CheckAndRaise(ValueError, f"ConvOp: the {quantity} have not the declared shape.")

    def check_shape(x: TensorVariable, shape: Sequence[int | None]) -> TensorVariable:
        conditions = [eq(x.shape[d], n) for d, n in enumerate(shape) if n not in (None, x.type.shape[d])]
        return check(x, *conditions) if conditions else x

    return check_shape


_declared_images, _declared_filters = _has_declared_shape("images"), _has_declared_shape("filters")


def _known_lengths(shape: PartialShape | None) -> tuple[int | None, ...]:
    """Return four declared lengths as integers or None; they may be constants."""
    if shape is None:
        return (None,) * 4
    return tuple([None if n is None else int(get_scalar_constant_value(n)) for n in shape])


class ConvOp(Correlation):
    """The convolution of images with filters: ``op(images, filters)``.

    Parameters
    ----------
    imshp
        The known shape of images: ``(channels, rows, columns)``.
    kshp
        The known shape of filters: ``(rows, columns)``.
    nkern, bsize
        The number of filters and of images, if known.
    dx, dy
        How far apart windows are, by rows and by columns.
    output_mode
        "valid" for complete overlaps, "full" for all.
    unroll_batch, unroll_kern, unroll_patch, verbose, openmp
        Have no effect.
    imshp_logical, kshp_logical, kshp_logical_top_aligned
        Sizes of images and filters with zeros between their elements; only those without such zeros are possible. See
        `conv2d_transpose` and the `filter_dilation` of `conv2d`.
    """

    __props__ = ("imshp", "kshp", "nkern", "bsize", "dx", "dy", "out_mode")
    direction: Direction = "forward"

    def __init__(
        self,
        imshp: Sequence[int | None] | None = None,
        kshp: Sequence[int | None] | None = None,
        nkern: int | None = None,
        bsize: int | None = None,
        dx: int = 1,
        dy: int = 1,
        output_mode: str = "valid",
        unroll_batch: int | None = None,
        unroll_kern: int | None = None,
        unroll_patch: bool | None = None,
        imshp_logical: Sequence[int | None] | None = None,
        kshp_logical: Sequence[int | None] | None = None,
        kshp_logical_top_aligned: bool = True,
        verbose: Any = False,
        openmp: bool | None = None,
    ):
        if output_mode not in ("valid", "full"):
            raise ValueError(f'output_mode is "valid" or "full"; got {output_mode!r}.')
        if any(not isinstance(step, int) or step < 1 for step in (dx, dy)):
            raise ValueError(f"dx and dy must be positive integers; got {dx} and {dy}.")
        self.imshp = None if imshp is None else tuple(imshp)
        self.kshp = None if kshp is None else tuple(kshp)
        for name, logical, plain in (
            ("imshp_logical", imshp_logical, self.imshp),
            ("kshp_logical", kshp_logical, self.kshp),
        ):
            if logical is not None and tuple(logical) != plain:
                raise ValueError(f"{name} must be that without zeros between elements, {plain}; got {logical}.")
        self.nkern, self.bsize = nkern, bsize
        self.dx, self.dy = dx, dy
        self.out_mode = output_mode

    @cached_property
    def windows(self) -> Windows:
        return Windows(self.out_mode, (self.dx, self.dy), (1, 1), flip=True)

    def in_direction(self, direction: Direction) -> Correlation:
        if direction == "forward":
            return self
        return AbstractConv2d(border_mode=self.out_mode, subsample=(self.dx, self.dy)).in_direction(direction)

    def with_sizes(self, x: TensorVariable, y: TensorVariable, sizes: Sequence[TensorVariable]) -> TensorVariable:
        raise TypeError("The sizes of the result of a ConvOp follow from its operands.")

    def make_node(self, inputs: Any, kerns: Any) -> Apply:
        channels, *image = (None,) * 3 if self.imshp is None else self.imshp
        filters = (None,) * 2 if self.kshp is None else self.kshp
        x = _declared_images(as_operand(inputs, 4, "inputs"), (self.bsize, channels, *image))
        w = _declared_filters(as_operand(kerns, 4, "kerns"), (self.nkern, channels, *filters))
        x, w, result = self.result_of(x, w, ())
        return Apply(self, [x, w], [result])

    @staticmethod
    def has_all_shape(imshp: Any, kshp: Any, nkern: Any = 1, bsize: Any = 1) -> bool:
        """Return whether all sizes are known."""
        return all(shape is not None and all(n is not None for n in shape) for shape in (imshp, kshp, (nkern, bsize)))

    @staticmethod
    def getOutputShape(
        inshp: Sequence[Any], kshp: Sequence[Any], stride: Sequence[int] = (1, 1), mode: str = "valid"
    ) -> tuple:
        """Return the rows and columns of the output, given those of images and filters.

        Examples
        --------
        >>> ConvOp.getOutputShape((28, 28), (5, 5))
        (24, 24)
        """
        return get_conv_output_shape((None, None, *inshp), (None, None, *kshp), mode, tuple(stride))[2:]


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    image_shape: Sequence[int | None] | None = None,
    filter_shape: Sequence[int | None] | None = None,
    border_mode: str = "valid",
    subsample: Sequence[int] = (1, 1),
    **kargs: Any,
) -> TensorVariable:
    """Convolve images with filters by a `ConvOp`. It is deprecated: use `aesara.tensor.nnet.conv2d`.

    Parameters
    ----------
    input
        The images: ``(batch, channels, rows, columns)``.
    filters
        ``(outputs, channels, rows, columns)``.
    image_shape, filter_shape
        The known lengths of both.
    border_mode
        "valid" or "full".
    subsample
        How far apart windows are, by rows and by columns.
    **kargs
        Further arguments of `ConvOp`.

    Examples
    --------
    >>> import numpy as np
    >>> conv2d(np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2)), border_mode="full").eval()[0, 0, 0]
    array([1., 2., 2., 1.])
    """
    warn_user("aesara.tensor.nnet.conv.conv2d is deprecated: use aesara.tensor.nnet.conv2d.", DeprecationWarning)
    return convolved_by_conv_op(
        input, filters, image_shape, filter_shape, border_mode=border_mode, subsample=subsample, **kargs
    )


def convolved_by_conv_op(
    input: TensorLike,
    filters: TensorLike,
    image_shape: Sequence[int | None] | None,
    filter_shape: Sequence[int | None] | None,
    border_mode: str = "valid",
    subsample: Sequence[int] = (1, 1),
    **kargs: Any,
) -> TensorVariable:
    """Apply a `ConvOp` for the given shapes; see `conv2d`."""
    images, kernels = _known_lengths(image_shape), _known_lengths(filter_shape)
    if len(images) != 4 or len(kernels) != 4:
        raise ValueError(f"Shapes have 4 entries; got {image_shape} for images and {filter_shape} for filters.")
    if images[1] is not None and kernels[1] is not None and images[1] != kernels[1]:
        raise ValueError(f"The images have {images[1]} channels; the filters are for {kernels[1]}.")
    op = ConvOp(
        images[1:], kernels[2:], kernels[0], images[0], subsample[0], subsample[1], output_mode=border_mode, **kargs
    )
    return op(as_tensor_variable(input), as_tensor_variable(filters))


def gen_conv_code_unroll_batch_kern(d: object, unroll_bsize: int = 1, unroll_ksize: int = 1) -> str:
    """Not available: it wrote C code.

    Parameters
    ----------
    d, unroll_bsize, unroll_ksize
        Have no meaning.

    Raises
    ------
    NotImplementedError
        Always.
    """
    raise NotImplementedError(
        "gen_conv_code_unroll_batch_kern wrote C code. Functions are compiled through LLVM, and no C code is "
        "written: see docs/convolutions.md."
    )
