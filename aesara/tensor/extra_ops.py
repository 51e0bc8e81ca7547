"""Further functions on tensors: the documented names."""

from aesara.graph.disconnected_type import disconnected_type
from aesara.scalar import int64 as int_t
from aesara.tensor.creation.diagonals import *
from aesara.tensor.creation.diagonals import FillDiagonal, FillDiagonalOffset, fill_diagonal_, fill_diagonal_offset_
from aesara.tensor.creation.equal_steps import *
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import ge, lt, maximum, minimum
from aesara.tensor.indexing.index_conversion import *
from aesara.tensor.indexing.index_conversion import RavelMultiIndex, UnravelIndex
from aesara.tensor.indexing.subtensor_advanced import advanced_inc_subtensor1
from aesara.tensor.ordering.searching import *
from aesara.tensor.ordering.searching import SearchsortedOp, Unique
from aesara.tensor.sequences.cumulative import *
from aesara.tensor.sequences.cumulative import CumOp, CumprodOp, CumsumOp
from aesara.tensor.sequences.windows import *
from aesara.tensor.sequences.windows import Bartlett, bartlett_
from aesara.tensor.shapes.broadcasting import *
from aesara.tensor.shapes.broadcasting import BroadcastTo, broadcast_to_
from aesara.tensor.shapes.cpu_contiguous import (
    CpuContiguous,
    cpu_contiguous,
)
from aesara.tensor.shapes.repeating import *
from aesara.tensor.shapes.repeating import Repeat, to_one_hot
from aesara.tensor.type import dvector
