"""Tensor expressions: what each variable of a graph is, as a shape and a rule from an index to a scalar.

An `Array` is either memory that exists (`Source`), a rule that can be evaluated wherever it is read (`Pointwise`),
the same memory under another shape (`Alias`), or something that must be computed as a whole (`Reduction`,
`Sequential`, `Assembled`, `Interleaved`, `MatrixProduct`, `RoutineResult`, `LoopResult`, `External`).  Shapes are index
expressions over sizes known at run time.

Each class says what the schedule has to know of it, and each module has, beside an array, the step that computes it.
"""

from aesara.lower.arrays.assembled import Assembled, Write
from aesara.lower.arrays.base import (
    ONE,
    ZERO,
    Alias,
    Array,
    Index,
    Item,
    Pointwise,
    Reader,
    Source,
    literal,
    row_major_strides,
    strided_view,
)
from aesara.lower.arrays.guard import Definition, Guard
from aesara.lower.arrays.interleaved import Interleaved
from aesara.lower.arrays.loop import LoopBody, LoopNode, LoopResult, LoopRow
from aesara.lower.arrays.product import MatrixProduct
from aesara.lower.arrays.python_call import External, PythonNode
from aesara.lower.arrays.reduction import Reduction, is_trailing_run
from aesara.lower.arrays.routine_call import RoutineCall, RoutineResult
from aesara.lower.arrays.sequential import Sequential, Writer, loops_over

__all__ = [
    "ONE",
    "ZERO",
    "Alias",
    "Array",
    "Assembled",
    "Definition",
    "External",
    "Guard",
    "Index",
    "Interleaved",
    "Item",
    "LoopBody",
    "LoopNode",
    "LoopResult",
    "Pointwise",
    "MatrixProduct",
    "PythonNode",
    "Reader",
    "Reduction",
    "RoutineCall",
    "RoutineResult",
    "LoopRow",
    "Sequential",
    "Source",
    "Write",
    "Writer",
    "is_trailing_run",
    "literal",
    "loops_over",
    "row_major_strides",
    "strided_view",
]
