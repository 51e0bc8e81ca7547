"""Lowering of products with sparse matrices, as loops over the lines of compressed matrices and their stored values.

Indices and pointers are checked in front of the loops, by their smallest and largest entries. Pointers that are in
range but not in order make empty lines, as a loop cannot have less than no rounds.
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
from aesara.lower.context import Context, Unsupported, check_dtype
from aesara.lower.dispatch import lower_op
from aesara.lower.ranges import require_range
from aesara.lower.reductions.careduce import converted
from aesara.lower.shape_arithmetic import count_of
from aesara.sparse.on_parts import CompressedDot, CompressedInner
from aesara.sparse.parts import CSMGrad
from aesara.sparse.products import StructuredDotGradCSC, StructuredDotGradCSR

__all__: list[str] = []

_INDICES = "The indices of a sparse matrix are 0 to {2} - 1; there is {3}."
_POINTERS = "The pointers of a sparse matrix are 0 to {2} - 1, the number of its stored values; there is {3}."


Body = Callable[[Sequence[Reader], Reader, Writer], tuple[Statement, ...]]


class _Lines:
    """The lines of a compressed matrix.

    Attributes
    ----------
    count
        How many there are.
    requires
        The checks that loops over them need.
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
        """The statements for each stored value of a line; `place` says where it is."""
        begin = cast(readers[1]((line,)), "int64")
        end = cast(readers[1]((line + ONE,)), "int64")
        extent = primitive("maximum", end - begin, ZERO)
        return For(inner, extent, tuple(statements))

    @staticmethod
    def place(readers: Sequence[Reader], line: Expr, inner: str) -> tuple[Expr, Expr]:
        """The number of a stored value, and its index."""
        number = cast(readers[1]((line,)), "int64") + var(inner)
        return number, cast(readers[0]((number,)), "int64")


@lower_op.register
def _compressed_dot(op: CompressedDot, node: Apply, context: Context) -> Sequence[Array]:
    data, indices, indptr, shape, b = (context.array(v) for v in node.inputs)
    dtype = node.outputs[0].type.dtype
    check_dtype(dtype)
    rows, columns = (context.size_from(_element(shape, k, context)) for k in range(2))
    lines = _Lines(indices, indptr, columns if op.format == "csr" else rows, data, node, context)
    message = "The matrix has {0} lines, but pointers for {1}."
    counted = rows if op.format == "csr" else columns
    requires = [*lines.requires, *context.require_equal(counted, lines.count, ValueError, message, node)]
    message = "shape mismatch: the matrix has {0} columns, what it is multiplied by {1} rows."
    requires += context.require_equal(columns, b.shape[0], ValueError, message, node)
    message = "A matrix has no negative length; got {0}."
    requires += context.guard(rows >= ZERO, ValueError, message, node, [rows])
    factor = converted(b, dtype)
    if op.format == "csr" and b.ndim == 2:
        factor = context.add(Alias(context.add(factor), (count_of(b.shape),)))
    operands = [indices, indptr, converted(data, dtype), factor]
    shape_of_product = (lines.count if op.format == "csr" else rows, *b.shape[1:])
    if op.format == "csc":
        body = _added_up(lines, shape_of_product, dtype)
    else:
        body = _gathered(lines, dtype) if b.ndim == 1 else _gathered_rows(lines, b.shape[1], dtype)
    return [Sequential(dtype, shape_of_product, operands, body, requires)]


def _element(vector: Array, k: int, context: Context) -> Array:
    """An element of a vector as a 0-d array."""
    return context.add(Pointwise(vector.dtype, (), (vector,), lambda index, readers: readers[0]((const(k),)), 0))


def _gathered(lines: _Lines, dtype: str) -> Body:
    """Each element of the product as the sum over the stored values of a row."""
    line, total = var("v0"), var("r0", dtype)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        number, index = lines.place(readers, line, "v1")
        term = readers[2]((number,)) * readers[3]((index,))
        row = lines.loop(readers, line, "v1", [Assign("r0", total + term)])
        return (For("v0", lines.count, (Declare("r0", const(0, dtype)), row, write((line,), total))),)

    return body


#: how many columns of a product are added up at once in registers: as many of the first as there are, and so on
_COLUMNS = (8, 4, 2, 1)


def _gathered_rows(lines: _Lines, columns: Expr, dtype: str) -> Body:
    """The rows of the product, some columns at a time, whose elements are sums over the stored values of a row."""
    line = var("v0")

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        number, index = lines.place(readers, line, "v1")
        blocks: list[Statement] = []
        for size in _COLUMNS:
            here = size if size == _COLUMNS[0] else 2 * size
            first = columns // here * here
            count = columns // size
            if size == _COLUMNS[0]:
                first = ZERO
            else:
                count = count % 2
            begin = first + var("v2") * size
            places = [begin + k for k in range(size)]
            totals = [var(f"r{k}", dtype) for k in range(size)]
            factor = var("r", dtype)
            # Of the elements that are read at once, only constants are different in the places.
            start = index * columns + begin
            elements = [readers[3]((start + k,)) for k in range(size)]
            terms = [factor * element for element in elements]
            adding = [Assign(t.attr, t + term) for t, term in zip(totals, terms, strict=True)]
            opened = [Declare(t.attr, const(0, dtype)) for t in totals]
            summed = lines.loop(readers, line, "v1", [Declare("r", readers[2]((number,))), *adding])
            stored = [write((line, place), t) for place, t in zip(places, totals, strict=True)]
            blocks.append(For("v2", count, (*opened, summed, *stored)))
        return (For("v0", lines.count, tuple(blocks)),)

    return body


def _added_up(lines: _Lines, shape: Sequence[Expr], dtype: str) -> Body:
    """The product as a sum of terms, each a stored value times an element, or a row, of the dense factor."""
    line, across = var("v0"), (var("v2"),) * (len(shape) - 1)

    def over_row(statement: Statement) -> tuple[Statement, ...]:
        return (mark_parallel(For("v2", shape[1], (statement,))),) if across else (statement,)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        number, index = lines.place(readers, line, "v1")
        term = readers[2]((number,)) * readers[3]((line, *across))
        place = (index, *across)
        terms = lines.loop(readers, line, "v1", over_row(write(place, read(place) + term)))
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
    lines = _Lines(indices, indptr, others.shape[0], indices, node, context)
    message = "There are {0} lines, but {1} rows for them."
    requires = [*lines.requires, *context.require_equal(lines.count, of_lines.shape[0], ValueError, message, node)]
    message = "Rows of length {0} and {1} have no inner product."
    requires += context.require_equal(x.shape[1], y.shape[1], ValueError, message, node)
    line, across, total = var("v0"), var("v2"), var("r0", dtype)

    def body(readers: Sequence[Reader], read: Reader, write: Writer) -> tuple[Statement, ...]:
        number, index = lines.place(readers, line, "v1")
        term = readers[2]((line, across)) * readers[3]((index, across))
        add_up = For("v2", x.shape[1], (Assign("r0", total + term, reassociate=True),), lanes=_lanes(dtype))
        inner = (Declare("r0", const(0, dtype)), add_up, write((number,), total))
        # Values of which no line has any are zero.
        zeros = mark_parallel(For("v0", indices.shape[0], (write((line,), const(0, dtype)),)))
        return (zeros, For("v0", lines.count, (lines.loop(readers, line, "v1", inner),)))

    operands = [indices, indptr, converted(of_lines, dtype), converted(others, dtype)]
    return [Sequential(dtype, indices.shape, operands, body, requires)]


@lower_op.register
def _csm_grad(op: CSMGrad, node: Apply, context: Context) -> Sequence[Array]:
    _, indices, indptr, _, data, g_indices, g_indptr, _ = (context.array(v) for v in node.inputs)
    if indices is not g_indices or indptr is not g_indptr:
        raise Unsupported("two matrices that may have different patterns")
    return [data]


def _lanes(dtype: str) -> tuple[int, ...]:
    """How many partial results an inner product has: full vectors of any processor."""
    return (64 // max(4, np.dtype(dtype).itemsize),)


@lower_op.register(StructuredDotGradCSC)
@lower_op.register(StructuredDotGradCSR)
def _structured_dot_grad(op: StructuredDotGradCSC, node: Apply, context: Context) -> Sequence[Array]:
    indices, indptr, b, g = node.inputs
    inner = CompressedInner(op.format)
    return _compressed_inner(inner, inner.make_node(indices, indptr, g, b), context)
