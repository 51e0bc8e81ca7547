"""Lowering of Fourier transforms: routines transform rows, after a transpose for other dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.ir.expr import PART_OF, Expr
from aesara.ir.expr import op as primitive
from aesara.ir.routine import Routine
from aesara.ir.routines import fourier
from aesara.lower.arrays import Array
from aesara.lower.calling import call_routine
from aesara.lower.context import Context
from aesara.lower.dimensions import with_dimensions
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import Unsupported, escape_braces
from aesara.tensor.discrete_fourier.transforms import (
    FourierTransform,
    InverseRealFourierTransform,
    RealFourierTransform,
)

__all__: list[str] = []


class _Rows:
    """Calls of a routine for the rows of arrays."""

    def __init__(self, node: Apply, context: Context, length: Expr) -> None:
        if not fourier.is_available():
            raise Unsupported("Fourier transforms natively need NumPy 2")
        self.node, self.context = node, context
        self.guards: list[object] = []
        message = f"{escape_braces(node.op)}: Invalid number of FFT data points ({{0}}) specified."
        self.require(0 < length, message, [length])

    def require(self, condition: Expr, message: str, values: Sequence[Expr]) -> None:
        """Raise a ValueError unless a condition holds."""
        self.guards += self.context.guard(condition, ValueError, message, self.node, values)

    def call(self, routine: Routine, array: Array, length: Expr, shape: Sequence[Expr]) -> Array:
        """Transform the rows of an array of shape `shape`, not counting the row itself."""
        (operand, *_), (*_, result) = routine.parameters, routine.parameters
        sizes = {"m": shape[-1], "n": length}
        results = call_routine(
            self.context, self.node, routine, sizes, {operand.name: array}, shape[:-1], self.guards
        )  # fmt: skip
        return results[result.name]


def _as_matrix(array: Array) -> Array:
    """Convert a vector to a matrix of one row."""
    return with_dimensions(array, [None, 0]) if array.ndim == 1 else array


def _with_rank(array: Array, ndim: int) -> Array:
    return with_dimensions(array, [1]) if ndim == 1 else array


@lower_op.register
def _fourier(op: FourierTransform, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    rank = array.ndim
    routine = fourier.transform("inverse" if op.inverse else "forward", PART_OF[array.dtype])
    for axis in range(rank - op.ndim, rank):
        length = array.shape[axis]
        rows = _Rows(node, context, length)
        # Swapping a dimension with the last one is its own inverse.
        order = [*range(axis), rank - 1, *range(axis + 1, rank - 1), axis] if axis < rank - 1 else list(range(rank))
        matrix = _as_matrix(with_dimensions(array, order))
        transformed = rows.call(routine, matrix, length, matrix.shape[:-1])
        array = with_dimensions(_with_rank(transformed, rank), order)
    return [array]


@lower_op.register
def _of_real(op: RealFourierTransform, node: Apply, context: Context) -> Sequence[Array]:
    array = context.array(node.inputs[0])
    rows, matrix = _Rows(node, context, array.shape[-1]), _as_matrix(array)
    transformed = rows.call(fourier.transform_of_real(array.dtype), matrix, array.shape[-1], matrix.shape[:-1])
    return [_with_rank(transformed, array.ndim)]


@lower_op.register
def _to_real(op: InverseRealFourierTransform, node: Apply, context: Context) -> Sequence[Array]:
    array, length = context.array(node.inputs[0]), context.size_from(context.array(node.inputs[1]))
    rows = _Rows(node, context, length)
    size = array.shape[-1]
    half = length // 2 + 1
    message = f"{escape_braces(node.op)}: {{0}} numbers are not the first half of a transform of length {{1}}."
    rows.require(primitive("eq", size, half), message, [size, length])
    matrix = _as_matrix(array)
    routine = fourier.transform_to_real(PART_OF[array.dtype])
    return [_with_rank(rows.call(routine, matrix, length, matrix.shape[:-1]), array.ndim)]
