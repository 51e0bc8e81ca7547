"""Lowering of complex matrix products to real products of parts."""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.ir.expr import Expr
from aesara.ir.expr import op as primitive
from aesara.lower.arrays import Array, Index, Pointwise, Reader
from aesara.lower.complex import ComplexArray, part_dtype
from aesara.lower.context import Context
from aesara.lower.dispatch import is_complex, lower_complex_op
from aesara.lower.elementwise.complex_parts import lower_with
from aesara.lower.products.dot import require_inner_sizes
from aesara.lower.reductions.careduce import convert, reduce_array
from aesara.tensor.products.correlation import Correlation
from aesara.tensor.products.dot import BatchedDot, Dot
from aesara.tensor.products.matmul import MatMul
from aesara.tensor.sequences.convolve import Convolve

#: ops that are linear in each of their first two inputs
BILINEAR = (MatMul, BatchedDot, Convolve, Correlation)


def _bilinear(op: Op, node: Apply, context: Context) -> list[ComplexArray]:
    """Lower a bilinear op to four real ones, or two if one of the operands is real."""
    parts = [context.pair(v).parts if is_complex(v) else (context.array(v),) for v in node.inputs[:2]]
    products = [[lower_with({0: x, 1: y}, node, context)[0] for y in parts[1]] for x in parts[0]]
    if len(parts[0]) == 1:
        return [ComplexArray(*products[0])]
    if len(parts[1]) == 1:
        return [ComplexArray(products[0][0], products[1][0])]
    (rr, ri), (ir, ii) = products
    return [ComplexArray(_combine("sub", rr, ii, context), _combine("add", ri, ir, context))]


for _op in BILINEAR:
    lower_complex_op.register(_op)(_bilinear)


def _combine(kind: str, a: Array, b: Array, context: Context) -> Array:
    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive(kind, readers[0](index), readers[1](index))

    return context.add(Pointwise(a.dtype, a.shape, (a, b), body))


@lower_complex_op.register
def _dot(op: Dot, node: Apply, context: Context) -> list[ComplexArray]:
    """Lower a product; with a vector, a single loop reads the interleaved matrix once."""
    x, y = node.inputs
    if x.type.ndim == y.type.ndim == 2 or not (is_complex(x) and is_complex(y)):
        return _bilinear(op, node, context)
    dtype = part_dtype(node.outputs[0].type.dtype)
    left, right = (_convert(context.pair(v), dtype, context) for v in node.inputs)
    guards = require_inner_sizes(left.real, right.real, node, context)
    shape = left.real.shape if y.type.ndim == 1 else right.real.shape
    axis = left.real.ndim - 1
    results = []
    for kind, parts in (("sub", (*left.parts, *right.parts)), ("add", (*left.parts, right.imag, right.real))):

        def body(index: Index, readers: Sequence[Reader], kind: str = kind) -> Expr:
            of_left = index if x.type.ndim == 2 else index[:1]
            of_right = index if y.type.ndim == 2 else index[-1:]
            a, b, c, d = (read(of_left if k < 2 else of_right) for k, read in enumerate(readers))
            return primitive(kind, a * c, b * d)

        terms = context.add(Pointwise(dtype, shape, parts, body, 3, _expands(left, right), guards))
        results.append(reduce_array(context, terms, (axis,), "add"))
    return [ComplexArray(*results)]


def _expands(left: ComplexArray, right: ComplexArray) -> list[bool]:
    """Return which of the four parts are read repeatedly: those of a vector, for each row of the matrix."""
    return [right.real.ndim > 1] * 2 + [left.real.ndim > 1] * 2


def _convert(z: ComplexArray, dtype: str, context: Context) -> ComplexArray:
    parts = [convert(part, dtype) for part in z.parts]
    return ComplexArray(*map(context.ensure_added, parts))
