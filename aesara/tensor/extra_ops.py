"""Further functions on tensors: the documented names."""

from __future__ import annotations

from aesara.graph.disconnected_type import disconnected_type
from aesara.scalar import int64 as int_t
from aesara.tensor.creation.diagonals import (
    FillDiagonal,
    FillDiagonalOffset,
    fill_diagonal,
    fill_diagonal_,
    fill_diagonal_offset,
    fill_diagonal_offset_,
)
from aesara.tensor.creation.equal_steps import geomspace, linspace, logspace
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import ge, lt, maximum, minimum
from aesara.tensor.indexing.index_conversion import (
    RavelMultiIndex,
    UnravelIndex,
    ravel_multi_index,
    unravel_index,
)
from aesara.tensor.indexing.subtensor_advanced import advanced_inc_subtensor1
from aesara.tensor.ordering.searching import SearchsortedOp, Unique, bincount, searchsorted, unique
from aesara.tensor.sequences.cumulative import CumOp, CumprodOp, CumsumOp, cumprod, cumsum, diff
from aesara.tensor.sequences.windows import (
    Bartlett,
    bartlett,
    bartlett_,
)
from aesara.tensor.shapes.broadcasting import (
    BroadcastTo,
    broadcast_arrays,
    broadcast_shape,
    broadcast_shape_iter,
    broadcast_to,
    broadcast_to_,
)
from aesara.tensor.shapes.cpu_contiguous import (
    CpuContiguous,
    cpu_contiguous,
)
from aesara.tensor.shapes.repeating import Repeat, compress, repeat, squeeze, to_one_hot
from aesara.tensor.type import dvector

__all__ = [
    "Bartlett",
    "BroadcastTo",
    "CpuContiguous",
    "CumOp",
    "CumprodOp",
    "CumsumOp",
    "FillDiagonal",
    "FillDiagonalOffset",
    "RavelMultiIndex",
    "Repeat",
    "SearchsortedOp",
    "Unique",
    "UnravelIndex",
    "advanced_inc_subtensor1",
    "at_abs",
    "bartlett",
    "bartlett_",
    "bincount",
    "broadcast_arrays",
    "broadcast_shape",
    "broadcast_shape_iter",
    "broadcast_to",
    "broadcast_to_",
    "compress",
    "cpu_contiguous",
    "cumprod",
    "cumsum",
    "diff",
    "disconnected_type",
    "dvector",
    "fill_diagonal",
    "fill_diagonal_",
    "fill_diagonal_offset",
    "fill_diagonal_offset_",
    "ge",
    "geomspace",
    "int_t",
    "linspace",
    "logspace",
    "lt",
    "maximum",
    "minimum",
    "ravel_multi_index",
    "repeat",
    "searchsorted",
    "squeeze",
    "to_one_hot",
    "unique",
    "unravel_index",
]
