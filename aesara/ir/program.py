"""The host program: what a compiled function does between its call and its return, in order.

Grammar::

    program  = inputs, constants, slots, steps, outputs, updates
    step     = define size = expression          sizes are int64 and never change
             | check condition else error        leaves the program with a Python exception
             | allocate buffer                   in the workspace, or as an array that is returned
             | launch kernel(arguments)
             | matmul c = x a @ b + y c          small ones inline, large ones through BLAS; one or a batch
             | python outputs = node(inputs)     an op without native lowering
             | view buffer in base at offset     a buffer that is a part of another
             | loop var < extent: steps          again and again, until a condition if there is one; defines a size,
                                                 how often

Buffers are row-major and contiguous.  Expressions of the host program may load from buffers that are complete at
that point.  Nothing after the last `check` and `python` step can fail, which is what lets updates of shared
variables be computed in place there.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from aesara.ir.expr import Expr, const, op, var, walk
from aesara.ir.kernel import Kernel
from aesara.records import dataclass

#: bytes of one element in memory
ITEM_SIZES = {
    "bool": 1,
    **{f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": 2,
    "float32": 4,
    "float64": 8,
}

#: complex dtype by the dtype of its parts
COMPLEX_OF = {"float32": "complex64", "float64": "complex128"}

#: number of the product within a batch
BATCH = var("batch")

__all__ = [
    "BATCH",
    "COMPLEX_OF",
    "ITEM_SIZES",
    "Allocate",
    "Buffer",
    "Check",
    "Define",
    "Input",
    "Launch",
    "Loop",
    "MatMul",
    "Operand",
    "Program",
    "PythonCall",
    "Slot",
    "Step",
    "View",
    "touched_buffers",
    "walk_steps",
]


@dataclass(frozen=True)
class Buffer:
    """A block of memory: `name`, `dtype`, and its shape in sizes of the program.

    `is_complex`: outside of the program it is an array of complex numbers; the last dimension, of length 2, holds
    their real and imaginary parts.
    """

    name: str
    dtype: str
    shape: tuple[Expr, ...]
    is_complex: bool = False

    @property
    def outer_dtype(self) -> str:
        """The dtype of the ndarray that holds this memory."""
        return COMPLEX_OF[self.dtype] if self.is_complex else self.dtype

    @property
    def outer_shape(self) -> tuple[Expr, ...]:
        """The shape of the ndarray that holds this memory."""
        return self.shape[:-1] if self.is_complex else self.shape

    @property
    def bytes(self) -> Expr:
        """The size of this memory."""
        return functools.reduce(lambda a, b: op("mul", a, b), self.shape, const(ITEM_SIZES[self.dtype]))


@dataclass(frozen=True)
class Input:
    """An argument (or, if `implicit`, a shared variable): its buffer, and the static shape to check."""

    buffer: Buffer
    static_shape: tuple[int | None, ...]
    implicit: bool


@dataclass(frozen=True)
class Define:
    name: str
    value: Expr


@dataclass(frozen=True)
class Check:
    """If `condition` is false, fail with error number `error`; `values` go into the message."""

    condition: Expr
    error: int
    values: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Allocate:
    """Make memory for a buffer.

    `output`: it becomes a new ndarray, the k-th result.  `reuse`: number of the input whose own memory may be taken
    at run time if nobody else holds it (an in-place update).  `initial`: number of the input whose value the buffer
    starts with.  `slot`: place in the workspace; buffers with disjoint lives share one.
    """

    buffer: Buffer
    output: int | None = None
    reuse: int | None = None
    initial: int | None = None
    slot: int | None = None


@dataclass(frozen=True)
class Launch:
    """Run a kernel; arguments in the order of its parameters: names of buffers, or size expressions."""

    kernel: Kernel
    arguments: tuple[str | Expr, ...]


@dataclass(frozen=True)
class Operand:
    """A strided matrix inside a buffer: element offset, and the strides of rows and columns in elements."""

    buffer: str
    offset: Expr
    row_stride: Expr
    column_stride: Expr


@dataclass(frozen=True)
class MatMul:
    """out[rows, columns] = alpha * left[rows, inner] @ right[inner, columns] + beta * out, for float32 and float64.

    If `beta` is zero, what was in `out` does not matter.
    With `batch`, that many products, one after another: offsets of the operands may count with the variable `BATCH`.
    """

    dtype: str
    rows: Expr
    inner: Expr
    columns: Expr
    left: Operand
    right: Operand
    out: Operand
    alpha: float | Expr = 1.0
    beta: float = 0.0
    batch: Expr | None = None


@dataclass(frozen=True)
class PythonCall:
    """Call back into Python: operands are buffers, results new arrays whose sizes are defined by the call.

    `results` are buffers whose shapes are sizes named by this step.
    """

    index: int
    operands: tuple[Buffer, ...]
    results: tuple[Buffer, ...]


@dataclass(frozen=True)
class View:
    """`buffer` is the memory of `base` from an element offset on."""

    buffer: Buffer
    base: str
    offset: Expr


@dataclass(frozen=True)
class Loop:
    """Run `body` for `var` from 0 on, `extent` times or until, after it, `until` holds; `count` is how often it ran.

    In the body nothing is allocated but places in the workspace, and no node runs in Python.
    """

    var: str
    extent: Expr
    body: tuple[Step, ...]
    count: str
    until: Expr | None = None


@dataclass(frozen=True)
class Slot:
    """A place in the workspace of `size` bytes.  `late`: the size is known only in the course of the program."""

    size: Expr
    late: bool


Step = Define | Check | Allocate | Launch | MatMul | PythonCall | View | Loop


def walk_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """All steps, those of loops after the loop."""
    for step in steps:
        yield step
        if isinstance(step, Loop):
            yield from walk_steps(step.body)


def touched_buffers(step: Step) -> Iterator[str]:
    """The names of the buffers that a step reads or writes, without those inside of a loop."""
    expressions: list[Expr] = []
    if isinstance(step, Launch):
        yield from (a for a in step.arguments if isinstance(a, str))
        expressions = [a for a in step.arguments if isinstance(a, Expr)]
    elif isinstance(step, MatMul):
        operands = (step.left, step.right, step.out)
        yield from (operand.buffer for operand in operands)
        expressions = [e for o in operands for e in (o.offset, o.row_stride, o.column_stride)]
        expressions += [step.alpha] if isinstance(step.alpha, Expr) else []
    elif isinstance(step, PythonCall):
        yield from (buffer.name for buffer in (*step.operands, *step.results))
    elif isinstance(step, Define):
        expressions = [step.value]
    elif isinstance(step, Check):
        expressions = [step.condition, *step.values]
    elif isinstance(step, Loop):
        expressions = [step.extent] + ([] if step.until is None else [step.until])
    elif isinstance(step, View):
        expressions = [step.offset]
    for e in walk(expressions):
        if e.op == "load":
            yield e.attr


@dataclass(frozen=True)
class Program:
    inputs: tuple[Input, ...]
    constants: tuple[Buffer, ...]
    slots: tuple[Slot, ...]
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    #: (number of the output, number of the input whose cell it becomes)
    updates: tuple[tuple[int, int], ...] = ()
    #: how many of the outputs go to the caller
    returned: int = 0
    unpack_single: bool = False
    #: numbers of the results whose arrays may be returned again as soon as nobody holds them
    lent: tuple[int, ...] = ()

    def cells(self) -> list[int]:
        """Numbers of the inputs whose cells the program uses: implicit ones to read, updated ones to write."""
        updated = {number for _, number in self.updates}
        return [k for k, item in enumerate(self.inputs) if item.implicit or k in updated]
