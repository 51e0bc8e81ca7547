"""Cross-correlations of images in two dimensions as products of matrices.

This is the form that convolutions take in compiled functions: for each image the filters, as a matrix, times a matrix
whose columns are the windows of the image. Filters are not mirrored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aesara.graph.nodes import Apply
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.nnet.conv_ops import ChosenWindows, as_operand
from aesara.tensor.nnet.conv_shapes import BorderMode
from aesara.tensor.products.correlation import Direction


class MatrixCorrelation(ChosenWindows):
    """A cross-correlation, or one of its gradients, by matrix products.

    The gradients take the sizes of their results, as a vector or a sequence of integers; by default, the sizes are
    those of the smallest images, or of filters that cover the images completely.
    """

    def _set(
        self, border_mode: BorderMode, subsample: Any, filter_dilation: Any, num_groups: int, unshared: bool
    ) -> None:
        if num_groups < 1:
            raise ValueError("Number of groups should be greater than 0")
        super()._set(border_mode, subsample, filter_dilation, num_groups, unshared)

    @property
    def pad(self) -> Any:
        """Numbers of zeros before and after the image, as a pair per dimension; or "full" or "half"."""
        border = self.windows.border
        return ((0, 0),) * self.convdim if border == "valid" else border

    def with_sizes(self, x: TensorVariable, y: TensorVariable, sizes: Sequence[TensorVariable]) -> TensorVariable:
        return self(x, y, sizes)

    def make_node(self, *operands: Any) -> Apply:
        """Apply the op to two operands and, for gradients, to the sizes of the result, as one or several arguments."""
        if self.direction == "forward":
            x = as_operand(operands[0], 2 + self.convdim, "img")
            y = as_operand(operands[1], self.windows.kernel_ndim, "kern")
            sizes: list[TensorVariable] = []
        else:
            first = (2 + self.convdim, "img") if self.direction == "weights" else (self.windows.kernel_ndim, "kern")
            x = as_operand(operands[0], *first)
            y = as_operand(operands[1], 2 + self.convdim, "topgrad")
            sizes = self._sizes(operands[2] if len(operands) == 3 else operands[2:] or None)
        known = [known_integer(n) for n in sizes] or [None] * self.convdim
        x, y, result = self.result_of(x, y, known)
        return Apply(self, [x, y, *sizes], [result])

    def _sizes(self, shape: Any) -> list[TensorVariable]:
        if shape is None:
            if self.border_mode == "half" and self.direction == "weights":
                raise ValueError('shape must be given for border_mode "half"')
            if any(s != 1 for s in self.subsample):
                raise ValueError(f"shape must be given if subsample is not {(1,) * self.convdim}")
            return []
        if not isinstance(shape, (tuple, list)):
            shape = as_tensor_variable(shape)
            shape = [shape[k] for k in range(self.convdim)]
        sizes = [as_tensor_variable(n) for n in shape]
        if len(sizes) != self.convdim or any(n.type.ndim or n.type.dtype not in integer_dtypes for n in sizes):
            raise TypeError(f"shape must be {self.convdim} integers; got {shape}")
        return [n.astype("int64") for n in sizes]


class Forward(MatrixCorrelation):
    """``op(images, filters)``"""

    direction: Direction = "forward"

    def make_node(self, img: Any, kern: Any) -> Apply:
        return super().make_node(img, kern)


class ForWeights(MatrixCorrelation):
    """``op(images, gradient of the output, shape=sizes)``"""

    direction: Direction = "weights"

    def make_node(self, img: Any, topgrad: Any, shape: Any = None, *more: Any) -> Apply:
        return super().make_node(img, topgrad, shape, *more)


class ForInputs(MatrixCorrelation):
    """``op(filters, gradient of the output, shape=sizes)``"""

    direction: Direction = "inputs"

    def make_node(self, kern: Any, topgrad: Any, shape: Any = None, *more: Any) -> Apply:
        return super().make_node(kern, topgrad, shape, *more)


class BaseCorrMM(MatrixCorrelation):
    """A cross-correlation of images ``(batch, channels, rows, columns)``, or one of its gradients.

    Parameters
    ----------
    border_mode
        "valid", "full", "half", an integer, or a tuple with an integer or a pair of integers for each dimension: how
        many zeros stand around the images.
    subsample
        How far apart windows are, by rows and by columns.
    filter_dilation
        How far apart the elements are that meet neighbouring entries of a filter.
    num_groups
        Into how many groups channels and outputs are split.
    unshared
        Whether each position of the output has filters of its own.
    openmp
        Has no effect: BLAS decides how many threads it takes.
    """

    __props__ = ("border_mode", "subsample", "filter_dilation", "num_groups", "unshared")
    convdim = 2

    def __init__(
        self,
        border_mode: BorderMode = "valid",
        subsample: Sequence[int] = (1, 1),
        filter_dilation: Sequence[int] = (1, 1),
        num_groups: int = 1,
        unshared: bool = False,
        openmp: bool | None = None,
    ):
        self._set(border_mode, subsample, filter_dilation, num_groups, unshared)

    def __str__(self) -> str:
        settings = (self.border_mode, self.subsample, self.filter_dilation, self.num_groups)
        return f"{type(self).__name__}{{{', '.join(map(str, settings))} {self.unshared}}}"

    def in_direction(self, direction: Direction) -> BaseCorrMM:
        return _CLASSES[direction](
            self.border_mode, self.subsample, self.filter_dilation, self.num_groups, self.unshared
        )


class CorrMM(Forward, BaseCorrMM):
    """The cross-correlation of images with filters: ``op(images, filters)``; see `BaseCorrMM`.

    Examples
    --------
    >>> import numpy as np
    >>> CorrMM()(np.arange(9.0).reshape(1, 1, 3, 3), [[[[1.0, 0.0], [0.0, 0.0]]]]).eval()
    array([[[[0., 1.],
             [3., 4.]]]])
    """


class CorrMM_gradWeights(ForWeights, BaseCorrMM):
    """The gradient for the filters: ``op(images, gradient of the output, shape=sizes)``; see `BaseCorrMM`."""


class CorrMM_gradInputs(ForInputs, BaseCorrMM):
    """The gradient for the images: ``op(filters, gradient of the output, shape=sizes)``; see `BaseCorrMM`."""


_CLASSES: dict[Direction, type[BaseCorrMM]] = {
    "forward": CorrMM,
    "weights": CorrMM_gradWeights,
    "inputs": CorrMM_gradInputs,
}
