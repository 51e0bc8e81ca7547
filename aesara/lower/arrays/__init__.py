"""Tensor expressions: for each variable of a graph a shape, and a function from an index to a scalar expression.

An `Array` is existing memory (`Source`), a function that any reader can inline (`Pointwise`), a view of other memory
in another shape (`Alias`), or it is computed as a whole (`Reduction`,
`Sequential`, `Assembled`, `Interleaved`, `MatrixProduct`, `RoutineResult`, `LoopResult`, `External`).  Shapes are index
expressions over sizes known at run time.

An array of complex numbers consists of two real arrays, its `parts`, which are what programs compute.  In memory
(`Array.memory`, `ComplexView`) pairs of real and imaginary parts follow each other.

Each class states the properties that the scheduler needs. Each module defines arrays and the step that computes them.
"""

from aesara.lower.arrays.assembled import Assembled, Write
from aesara.lower.arrays.base import (
    ONE,
    ZERO,
    Alias,
    Array,
    ComplexView,
    Index,
    Interleaved,
    Item,
    Pointwise,
    Reader,
    Source,
    literal,
    row_major_strides,
    strided_view,
)
from aesara.lower.arrays.guard import Definition, Guard
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
    "ComplexView",
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
