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
    Array,
    ElementTracer,
    Index,
    Interleaved,
    Item,
    NameOf,
    Planner,
    ProgramBuilder,
    Reader,
    ScheduledStep,
    Task,
    UseCounts,
    loads_of,
)
from aesara.lower.arrays.guard import Definition, Guard
from aesara.lower.arrays.loop_row import LoopRow
from aesara.lower.arrays.pointwise import (
    Alias,
    ComplexView,
    Pointwise,
    Source,
    literal,
    row_major_strides,
    strided_view,
)
from aesara.lower.arrays.producer import Producer, ProducerResult
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
    "ElementTracer",
    "External",
    "Guard",
    "Index",
    "Interleaved",
    "Item",
    "LoopRow",
    "MatrixProduct",
    "NameOf",
    "Planner",
    "Pointwise",
    "Producer",
    "ProducerResult",
    "ProgramBuilder",
    "PythonNode",
    "Reader",
    "Reduction",
    "RoutineCall",
    "RoutineResult",
    "ScheduledStep",
    "Sequential",
    "Source",
    "Task",
    "UseCounts",
    "Write",
    "Writer",
    "is_trailing_run",
    "literal",
    "loads_of",
    "loops_over",
    "row_major_strides",
    "strided_view",
]
