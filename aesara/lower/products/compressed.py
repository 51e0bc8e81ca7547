"""Lowering of products with sparse matrices: loops over compressed rows (or columns) and their stored values.

Indices and pointers are checked before the loops, by their smallest and largest entries. Pointers that are in range but
not ascending make empty lines, since trip counts are not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from aesara.graph.nodes import Apply
from aesara.ir.expr import Expr, cast, const, var
from aesara.ir.expr import op as primitive
from aesara.ir.independence import mark_parallel
from aesara.ir.kernel import Assign, Declare, For, Statement
from aesara.lower.arrays import ONE, ZERO, Alias, Array, Pointwise, Reader, Sequential, Writer
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_op
from aesara.lower.errors import Unsupported, check_dtype
from aesara.lower.ranges import require_range
from aesara.lower.reductions.careduce import convert
from aesara.lower.shape_arithmetic import count_of
from aesara.sparse.on_parts import CompressedDot, CompressedInner
from aesara.sparse.parts import CSMGrad
from aesara.sparse.products import StructuredDotGradCSC, StructuredDotGradCSR

__all__: list[str] = []

_INDICES = "The indices of a sparse matrix are 0 to {2} - 1; there is {3}."
_POINTERS = "The pointers of a sparse matrix are 0 to {2} - 1, the number of its stored values; there is {3}."


Body = Callable[[Sequence[Reader], Reader, Writer], tuple[Statement, ...]]


class _CompressedLines:
    """The rows of a CSR matrix, or the columns of a CSC matrix.

    Attributes
    ----------
    count
        Number of lines.
    requires
        Checks that loops over them need.
    """

    def __init__(
        self, indices: Array, indptr: Array, others: Expr, values: Array, node: Apply, context: Context
    ) -> None:
        self.indices, self.indptr = indices, indptr
        self.count = primitive("maximum", indptr.shape[0] - ONE, ZERO)
        stored = indices.shape[0]
        message = "A sparse matrix has {0} indices, but {1} values."
        self.requires = [
            *context.require_equal(stored, values.shape[0], ValueError, message, node),
            *require_range(indices, ZERO, others, ValueError, _INDICES, node, context),
            *require_range(indptr, ZERO, stored + ONE, ValueError, _POINTERS, node, context),
        ]

    def loop(self, readers: Sequence[Reader], line: Expr, inner: str, statements: Sequence[Statement]) -> Statement:
        """Return the loop over the stored values of a line; see `entry`."""
        begin = cast(readers[1]((line,)), "int64")
        end = cast(readers[1]((line + ONE,)), "int64")
        extent = primitive("maximum", end - begin, ZERO)
        return For(inner, extent, tuple(statements))

    @staticmethod
    def entry(readers: Sequence[Reader], line: Expr, inner: str) -> tuple[Expr, Expr]:
        """Return the number and the index of a stored value."""
        number = cast(readers[1]((line,)), "int64") + var(inner)
        return number, cast(readers[0]((number,)), "int64")


@lower_op.register
def _compressed_dot(op: CompressedDot, node: Apply, context: Context) -> Sequence[Array]:
    data, indices, indptr, shape, b = (context.array(v) for v in node.inputs)
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    rows, columns = (context.size_from(_element(shape, k, context)) for k in range(2))
    lines = _CompressedLines(indices, indptr, columns if op.format == "csr" else rows, data, node, context)
    message = "The matrix has {0} lines, but pointers for {1}."
    expected = rows if op.format == "csr" else columns
    requires = [*lines.requires, *context.require_equal(expected, lines.count, ValueError, message, node)]
    message = "shape mismatch: the matrix has {0} columns, what it is multiplied by {1} rows."
    requires += context.require_equal(columns, b.shape[0], ValueError, message, node)
    message = "A matrix has no negative length; got {0}."
    requires += context.guard(rows >= ZERO, ValueError, message, node, [rows])
    factor = convert(b, dtype)
    if op.format == "csr" and b.ndim == 2:
        factor = context.add(Alias(context.add(factor), (count_of(b.shape),)))
    operands = [indices, indptr, convert(data, dtype), factor]
    shape_of_product = (lines.count if op.format == "csr" else rows, *b.shape[1:])
    if op.format == "csc":
        body = _scatter(lines, shape_of_product, dtype)
    else:
        body = _gather(lines, dtype) if b.ndim == 1 else _gather_rows(lines, b.shape[1], dtype)
    return [Sequential(dtype, shape_of_product, operands, body, requires)]


def _element(vector: Array, k: int, context: Context) -> Array:
    """Return an element of a vector as a 0-d array."""
    return context.add(Pointwise(vector.dtype, (), (vector,), lambda index, readers: readers[0]((const(k),)), 0))


def _gather(lines: _CompressedLines, dtype: str) -> Body:
    """Multiply by a vector: gather for each row."""
    line, total = var("v0"), var("r0", dtype)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        number, index = lines.entry(readers, line, "v1")
        term = readers[2]((number,)) * readers[3]((index,))
        row = lines.loop(readers, line, "v1", [Assign("r0", total + term)])
        return (For("v0", lines.count, (Declare("r0", const(0, dtype)), row, write((line,), total))),)

    return body


#: numbers of columns that are accumulated in registers at once; remainders use the smaller ones
_COLUMNS = (8, 4, 2, 1)


def _gather_rows(lines: _CompressedLines, columns: Expr, dtype: str) -> Body:
    """Multiply by a matrix: gather for each row, with blocks of columns in registers."""
    line = var("v0")

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        number, index = lines.entry(readers, line, "v1")
        blocks: list[Statement] = []
        for size in _COLUMNS:
            larger = size if size == _COLUMNS[0] else 2 * size
            first = columns // larger * larger
            count = columns // size
            if size == _COLUMNS[0]:
                first = ZERO
            else:
                count = count % 2
            begin = first + var("v2") * size
            positions = [begin + k for k in range(size)]
            totals = [var(f"r{k}", dtype) for k in range(size)]
            factor = var("r", dtype)
            # Offsets of the elements of a block differ only by constants.
            start = index * columns + begin
            elements = [readers[3]((start + k,)) for k in range(size)]
            terms = [factor * element for element in elements]
            accumulate = [Assign(t.attr, t + term) for t, term in zip(totals, terms, strict=True)]
            initial = [Declare(t.attr, const(0, dtype)) for t in totals]
            row = lines.loop(readers, line, "v1", [Declare("r", readers[2]((number,))), *accumulate])
            stores = [write((line, position), t) for position, t in zip(positions, totals, strict=True)]
            blocks.append(For("v2", count, (*initial, row, *stores)))
        return (For("v0", lines.count, tuple(blocks)),)

    return body


def _scatter(lines: _CompressedLines, shape: Sequence[Expr], dtype: str) -> Body:
    """Multiply by scattering each stored value times an element, or a row, of the dense factor."""
    line, across = var("v0"), (var("v2"),) * (len(shape) - 1)

    def over_row(statement: Statement) -> tuple[Statement, ...]:
        return (mark_parallel(For("v2", shape[1], (statement,))),) if across else (statement,)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        number, index = lines.entry(readers, line, "v1")
        term = readers[2]((number,)) * readers[3]((line, *across))
        target = (index, *across)
        terms = lines.loop(readers, line, "v1", over_row(write(target, read(target) + term)))
        zero = over_row(write((line, *across), const(0, dtype)))
        zeros = For("v0", shape[0], zero)
        return (zeros if across else mark_parallel(zeros), For("v0", lines.count, (terms,)))

    return body


@lower_op.register
def _compressed_inner(op: CompressedInner, node: Apply, context: Context) -> Sequence[Array]:
    indices, indptr, x, y = (context.array(v) for v in node.inputs)
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    of_lines, others = (x, y) if op.format == "csr" else (y, x)
    lines = _CompressedLines(indices, indptr, others.shape[0], indices, node, context)
    message = "There are {0} lines, but {1} rows for them."
    requires = [*lines.requires, *context.require_equal(lines.count, of_lines.shape[0], ValueError, message, node)]
    message = "Rows of length {0} and {1} have no inner product."
    requires += context.require_equal(x.shape[1], y.shape[1], ValueError, message, node)
    line, across, total = var("v0"), var("v2"), var("r0", dtype)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        number, index = lines.entry(readers, line, "v1")
        term = readers[2]((line, across)) * readers[3]((index, across))
        accumulate = For("v2", x.shape[1], (Assign("r0", total + term, reassociate=True),), lanes=_lanes(dtype))
        inner = (Declare("r0", const(0, dtype)), accumulate, write((number,), total))
        # Stored values that belong to no line are zero.
        zeros = mark_parallel(For("v0", indices.shape[0], (write((line,), const(0, dtype)),)))
        return (zeros, For("v0", lines.count, (lines.loop(readers, line, "v1", inner),)))

    operands = [indices, indptr, convert(of_lines, dtype), convert(others, dtype)]
    return [Sequential(dtype, indices.shape, operands, body, requires)]


@lower_op.register
def _csm_grad(op: CSMGrad, node: Apply, context: Context) -> Sequence[Array]:
    _, indices, indptr, _, data, g_indices, g_indptr, _ = (context.array(v) for v in node.inputs)
    if indices is not g_indices or indptr is not g_indptr:
        raise Unsupported("two matrices that may have different patterns")
    return [data]


def _lanes(dtype: str) -> tuple[int, ...]:
    """Return the number of lanes of an inner product."""
    return (64 // max(4, np.dtype(dtype).itemsize),)


@lower_op.register(StructuredDotGradCSC)
@lower_op.register(StructuredDotGradCSR)
def _structured_dot_grad(op: StructuredDotGradCSC, node: Apply, context: Context) -> Sequence[Array]:
    indices, indptr, b, g = node.inputs
    inner = CompressedInner(op.format)
    return _compressed_inner(inner, inner.make_node(indices, indptr, g, b), context)
