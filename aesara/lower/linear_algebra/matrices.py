"""Batches of matrices: the operands of linear algebra, their checks, and views of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.ir.expr import PART_OF, Expr, complex_number, const, imag, real
from aesara.ir.expr import op as primitive
from aesara.ir.routine import Routine
from aesara.lower.arrays import ONE, ZERO, Array, Index, Pointwise, Reader
from aesara.lower.calling import call_routine, require_success
from aesara.lower.context import Context
from aesara.lower.dimensions import with_dimensions
from aesara.lower.dispatch import lower_inline, lower_op
from aesara.lower.errors import Unsupported, escape_braces
from aesara.lower.families import load_lowering
from aesara.lower.reductions.careduce import reduce_array
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.shapes.length_one import MessageAboutLengths
from aesara.tensor.vectorization.blockwise import Blockwise

__all__ = [
    "MatrixBatch",
    "adopt",
    "as_column",
    "as_row",
    "conjugate",
    "diagonal",
    "identities",
    "is_nan",
    "is_not_zero",
    "is_zero",
    "lower_matrices",
    "not_finite",
    "part_dtype",
    "squeeze",
    "side",
    "transpose",
    "leading_block",
    "triangle",
    "broadcast_batch",
]


Lowering = Callable[[Any, "MatrixBatch"], Sequence[Array]]


@functools.singledispatch
def lower_matrices(op: Op, batch: MatrixBatch) -> Sequence[Array]:
    """Lower a matrix op for one matrix or a batch."""
    raise Unsupported(f"no native lowering for {type(op).__name__}")


def adopt(kind: type[Op]) -> Callable[[Lowering], Lowering]:
    """Register a function that lowers the nodes of a matrix op, and of `Blockwise` of it."""

    def register(lower: Lowering) -> Lowering:
        lower_matrices.register(kind)(lower)
        lower_op.register(kind)(_lower_single)
        return lower

    return register


def _inputs(node: Apply, context: Context) -> list[Array]:
    return [context.array(v) for v in node.inputs]


def _lower_single(op: Op, node: Apply, context: Context) -> Sequence[Any]:
    return lower_matrices(op, MatrixBatch(op, node, context, (), _inputs(node, context)))


@lower_op.register
def _blockwise(op: Blockwise, node: Apply, context: Context) -> Sequence[Any]:
    core = op.core_op
    load_lowering(type(core))
    if lower_matrices.dispatch(type(core)) is lower_matrices.dispatch(object):
        raise Unsupported(f"{core} has no rule for batches (vectorize_node): it is called for each member")
    arrays = _inputs(node, context)
    ranks = [a.ndim - len(dims) for a, dims in zip(arrays, op.inputs_signature, strict=True)]
    lead: list[Expr] = [ONE] * max(ranks)
    source: list[tuple[Variable, int] | None] = [None] * max(ranks)
    guards: list[object] = []
    for array, rank, variable in zip(arrays, ranks, node.inputs, strict=True):
        for d in range(rank):
            at = len(lead) - rank + d
            if variable.type.shape[d] == 1:
                continue
            if lead[at] is not ONE:
                message = (
                    f"{escape_braces(op)}: the inputs have sizes {{0}} and {{1}} in dimension {at} of the batch. "
                    "A dimension is broadcast only where its static length is 1: use specify_broadcastable to say so."
                )
                first = source[at]
                error = MessageAboutLengths(message, (first, (variable, d))) if first is not None else message
                guards += context.require_equal(lead[at], array.shape[d], ValueError, error, node)
            else:
                lead[at], source[at] = array.shape[d], (variable, d)
    aligned = [
        with_dimensions(a, [*[None] * (len(lead) - rank), *range(a.ndim)])
        for a, rank in zip(arrays, ranks, strict=True)
    ]
    return lower_matrices(core, MatrixBatch(core, node, context, tuple(lead), aligned, guards))


class MatrixBatch:
    """A matrix op that is being lowered: its inputs, with the same number of batch dimensions.

    Attributes
    ----------
    lead
        Batch dimensions of the results; those of an input may be 1 instead.
    failures
        None if failures raise exceptions (the default), else arrays over the batch that are true or nonzero for members
        that failed.
    """

    linalg_error = np.linalg.LinAlgError

    def __init__(
        self, op: Op, node: Apply, context: Context, lead: tuple[Expr, ...], inputs: Sequence[Array],
        guards: Sequence[object] = (),
    ) -> None:  # fmt: skip
        self.op, self.node, self.context, self.lead = op, node, context, lead
        self.inputs: list[Any] = list(inputs)
        self.guards = list(guards)
        self.failures: list[Array] | None = None

    def require_equal(self, a: Expr, b: Expr, message: str, kind: type[Exception] = ValueError) -> None:
        """Check that two sizes are equal; they are ``{0}`` and ``{1}`` in the message."""
        self.guards += self.context.require_equal(a, b, kind, f"{escape_braces(self.op)}: {message}", self.node)

    def require_square(self, array: Array, kind: type[Exception] = ValueError) -> Expr:
        """Check that a matrix is square, and return its order; for a batch the error is a ValueError."""
        rows, columns = array.shape[-2:]
        kind = ValueError if self.lead else kind
        self.require_equal(rows, columns, "the matrix must be square; it has {0} rows and {1} columns.", kind)
        return rows

    def require_none(self, wrong: Array, kind: type[Exception], message: str) -> None:
        """Check that no element of a boolean array is true."""
        if self.failures is not None:
            self.failures.append(self.members_with(wrong))
            return
        any_wrong = reduce_array(self.context, self.context.ensure_added(wrong), tuple(range(wrong.ndim)), "or")
        number = self.context.size_from(any_wrong)
        holds = primitive("eq", number, const(0))
        self.guards += self.context.guard(holds, kind, f"{escape_braces(self.op)}: {message}", self.node)

    def require_finite(self, *arrays: Array) -> None:
        """Check that arrays have no infinities and NaNs."""
        for array in arrays:
            self.require_none(not_finite(array), ValueError, "array must not contain infs or NaNs")

    def require_success(self, status: Array, failure: str) -> None:
        """Check that the status of each call is zero; else a `LinAlgError` says that the matrix `failure`."""
        if self.failures is not None:
            self.failures.append(status)
            return
        of_one = f"{escape_braces(self.op)}: the matrix {failure} {{0}}."
        of_many = f"{escape_braces(self.op)}: a matrix of the batch {failure.partition(':')[0]}."
        text = of_many if status.ndim else of_one
        self.guards += require_success(self.context, self.node, status, self.linalg_error, text)

    def call(
        self,
        routine: Routine,
        sizes: Mapping[str, Expr],
        arguments: Mapping[str, Array],
        lead: Sequence[Expr] | None = None,
    ) -> dict[str, Any]:
        """Call a routine for each member of the batch, or of the batch dimensions `lead`.

        Arguments that are overwritten are broadcast to the batch.
        """
        lead = self.lead if lead is None else lead
        overwritten = {p.name for p in routine.parameters if p.is_written}
        arrays = {name: broadcast_batch(a, lead) if name in overwritten else a for name, a in arguments.items()}
        return call_routine(self.context, self.node, routine, sizes, arrays, lead, self.guards)

    def expression(self, build: Callable[..., Any], arrays: Sequence[Array] | None = None) -> list[Any]:
        """Build a graph from `arrays` (default: the inputs), and lower it inline.

        `build` takes a variable for each array, with batch dimensions, and returns a list of variables.
        """
        context = self.context
        arrays = self.inputs if arrays is None else arrays
        variables = [_variable_for(array) for array in arrays]
        for variable, array in zip(variables, arrays, strict=True):
            context.set(variable, array)
        return lower_inline(variables, build(*variables), context)

    def members_with(self, flags: Array) -> Array:
        """Return for each member whether any of its elements is true."""
        axes = tuple(range(len(self.lead), flags.ndim))
        return reduce_array(self.context, self.context.ensure_added(flags), axes, "or")

    def nan_where_failed(self, results: Sequence[Array]) -> list[Array]:
        """Set results to NaN for members that failed or have a result that is not finite."""
        for result in results:
            self.require_none(not_finite(result), ValueError, "")
        assert self.failures is not None
        return [self.with_nan(self.failures, result) for result in results]

    def with_nan(self, where: Sequence[Array], result: Array) -> Array:
        """Set a result to NaN, with imaginary part zero, for members where any of the arrays is true."""
        return _fill_members(where, len(self.lead), result, float("nan"))


def _variable_for(array: Array) -> Variable:
    """Return a variable with the dtype and static shape of an array."""
    shape = tuple(n.attr if n.is_const else None for n in array.shape)
    variable: Variable = tensor_type(array.dtype, shape)()
    return variable


def _fill_members(where: Sequence[Array], rank: int, result: Array, fill: float) -> Array:
    """Fill the members where any of the arrays is true; their dimensions of length 1 broadcast."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value = readers[0](index)
        for holds, read in zip(where, readers[1:], strict=True):
            flag = read(tuple(ZERO if n is ONE else i for n, i in zip(holds.shape, index[:rank], strict=True)))
            condition = primitive("ne", flag, const(0, holds.dtype)) if holds.dtype != "bool" else flag
            value = primitive("select", condition, const(fill, result.dtype), value)
        return value

    return Pointwise(result.dtype, result.shape, (result, *where), body, len(where), [False, *[True] * len(where)])


def part_dtype(array: Array) -> str:
    """Return the dtype of the parts of a complex array; that of a real array."""
    return PART_OF.get(array.dtype, array.dtype)


def conjugate(array: Array) -> Array:
    """Return the complex conjugate."""
    if not array.is_complex:
        return array

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value = readers[0](index)
        return complex_number(real(value), -imag(value))

    return Pointwise(array.dtype, array.shape, (array,), body)


def broadcast_batch(array: Array, lead: Sequence[Expr]) -> Array:
    """Broadcast batch dimensions to `lead`."""
    rank = len(lead)
    single = [a is ONE and b is not ONE for a, b in zip(array.shape, lead)]
    if not any(single):
        return array

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        member = tuple(ZERO if is_single else i for is_single, i in zip(single, index))
        return readers[0]((*member, *index[rank:]))

    return Pointwise(array.dtype, (*lead, *array.shape[rank:]), (array,), body, 0, [True])


def not_finite(array: Array) -> Array:
    """Test elements for infinity and NaN."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        value = readers[0](index)
        return primitive("ne", value - value, const(0, value.dtype))

    return Pointwise("bool", array.shape, (array,), body, 2)


def is_nan(array: Array) -> Array:
    """Test elements for NaN."""
    return Pointwise("bool", array.shape, (array,), lambda index, readers: primitive("isnan", readers[0](index)), 2)


def is_not_zero(array: Array) -> Array:
    """Test elements for nonzero values."""
    zero = const(0, array.dtype)
    return Pointwise("bool", array.shape, (array,), lambda index, readers: primitive("ne", readers[0](index), zero))


def is_zero(array: Array) -> Array:
    """Test elements for zero."""
    zero = const(0, array.dtype)
    return Pointwise("bool", array.shape, (array,), lambda index, readers: primitive("eq", readers[0](index), zero), 1)


def transpose(array: Array) -> Array:
    """Transpose matrices."""
    *lead, rows, columns = range(array.ndim)
    return with_dimensions(array, [*lead, columns, rows])


def triangle(array: Array, lower: bool) -> Array:
    """Set entries outside of the lower or upper triangle to zero."""

    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        row, column = index[-2:]
        inside = column <= row if lower else row <= column
        return primitive("select", inside, readers[0](index), const(0, array.dtype))

    return Pointwise(array.dtype, array.shape, (array,), body, 2)


def side(lower: bool) -> str:
    """Return the name of a triangle in names of routines."""
    return "lower" if lower else "upper"


def leading_block(array: Array, shape: Sequence[Expr]) -> Array:
    """Return the leading block of the given shape."""
    return Pointwise(array.dtype, shape, (array,), lambda index, readers: readers[0](index), 0)


def identities(batch: MatrixBatch, order: Expr, like: Array) -> Array:
    """Return an identity matrix for each member of the batch."""
    one, zero = const(1, like.dtype), const(0, like.dtype)
    return Pointwise(
        like.dtype, (*batch.lead, order, order), (),
        lambda index, readers: primitive("select", primitive("eq", index[-2], index[-1]), one, zero),
    )  # fmt: skip


def diagonal(array: Array, length: Expr) -> Array:
    """Return the diagonals of matrices."""
    return Pointwise(
        array.dtype, (*array.shape[:-2], length), (array,), lambda index, readers: readers[0]((*index, index[-1])), 1
    )  # fmt: skip


def as_column(array: Array) -> Array:
    """Convert vectors to matrices of one column."""
    return with_dimensions(array, [*range(array.ndim), None])


def as_row(array: Array) -> Array:
    """Convert vectors to matrices of one row."""
    return with_dimensions(array, [*range(array.ndim - 1), None, array.ndim - 1])


def squeeze(array: Array, axis: int) -> Array:
    """Remove a dimension of length 1, the last (-1) or the one before (-2)."""
    return with_dimensions(array, [d for d in range(array.ndim) if d != array.ndim + axis])
