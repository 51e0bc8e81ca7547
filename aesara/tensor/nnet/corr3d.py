"""Cross-correlations of images in three dimensions as products of matrices; see `corr`."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.tensor.nnet.conv_shapes import BorderMode
from aesara.tensor.nnet.corr import ForInputs, Forward, ForWeights, MatrixCorrelation
from aesara.tensor.products.correlation import Direction


class BaseCorr3dMM(MatrixCorrelation):
    """A cross-correlation of images ``(batch, channels, depth, rows, columns)``, or one of its gradients.

    Parameters
    ----------
    border_mode
        "valid", "full", "half", an integer, or a tuple with an integer or a pair of integers for each dimension: how
        many zeros stand around the images.
    subsample
        How far apart windows are, in each dimension.
    filter_dilation
        How far apart the elements are that meet neighbouring entries of a filter.
    openmp
        Has no effect: BLAS decides how many threads it takes.
    num_groups
        Into how many groups channels and outputs are split.
    """

    __props__ = ("border_mode", "subsample", "filter_dilation", "num_groups")
    convdim = 3

    def __init__(
        self,
        border_mode: BorderMode = "valid",
        subsample: Sequence[int] = (1, 1, 1),
        filter_dilation: Sequence[int] = (1, 1, 1),
        openmp: bool | None = None,
        num_groups: int = 1,
    ):
        self._set(border_mode, subsample, filter_dilation, num_groups, False)

    def in_direction(self, direction: Direction) -> BaseCorr3dMM:
        return _CLASSES[direction](self.border_mode, self.subsample, self.filter_dilation, num_groups=self.num_groups)

    def __str__(self) -> str:
        settings = (self.border_mode, self.subsample, self.filter_dilation, self.num_groups)
        return f"{type(self).__name__}{{{', '.join(map(str, settings))}}}"


class Corr3dMM(Forward, BaseCorr3dMM):
    """The cross-correlation of images with filters: ``op(images, filters)``; see `BaseCorr3dMM`."""


class Corr3dMMGradWeights(ForWeights, BaseCorr3dMM):
    """The gradient for the filters: ``op(images, gradient of the output, shape=sizes)``; see `BaseCorr3dMM`."""


class Corr3dMMGradInputs(ForInputs, BaseCorr3dMM):
    """The gradient for the images: ``op(filters, gradient of the output, shape=sizes)``; see `BaseCorr3dMM`."""


_CLASSES: dict[Direction, type[BaseCorr3dMM]] = {
    "forward": Corr3dMM,
    "weights": Corr3dMMGradWeights,
    "inputs": Corr3dMMGradInputs,
}
