"""Lowering of products of complex vectors and matrices: real products of the parts."""

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
from aesara.lower.products.dot import inner_sizes_agree
from aesara.lower.reductions.careduce import converted, reduce_array
from aesara.tensor.products.correlation import Correlation
from aesara.tensor.products.dot import BatchedDot, Dot
from aesara.tensor.products.matmul import MatMul
from aesara.tensor.sequences.convolve import Convolve

#: ops that are linear in each of their first two inputs
BILINEAR = (MatMul, BatchedDot, Convolve, Correlation)


def _bilinear(op: Op, node: Apply, context: Context) -> list[ComplexArray]:
    """Four real products, or two where one of the operands is real."""
    parts = [context.pair(v).parts if is_complex(v) else (context.array(v),) for v in node.inputs[:2]]
    products = [[lower_with({0: x, 1: y}, node, context)[0] for y in parts[1]] for x in parts[0]]
    if len(parts[0]) == 1:
        return [ComplexArray(*products[0])]
    if len(parts[1]) == 1:
        return [ComplexArray(products[0][0], products[1][0])]
    (rr, ri), (ir, ii) = products
    return [ComplexArray(_combined("sub", rr, ii, context), _combined("add", ri, ir, context))]


for _op in BILINEAR:
    lower_complex_op.register(_op)(_bilinear)


def _combined(kind: str, a: Array, b: Array, context: Context) -> Array:
    def body(index: Index, readers: Sequence[Reader]) -> Expr:
        return primitive(kind, readers[0](index), readers[1](index))

    return context.add(Pointwise(a.dtype, a.shape, (a, b), body))


@lower_complex_op.register
def _dot(op: Dot, node: Apply, context: Context) -> list[ComplexArray]:
    """Where one operand is a vector, a loop that reads the matrix once, as it lies in memory."""
    x, y = node.inputs
    if x.type.ndim == y.type.ndim == 2 or not (is_complex(x) and is_complex(y)):
        return _bilinear(op, node, context)
    dtype = part_dtype(node.outputs[0].type.dtype)
    left, right = (_converted(context.pair(v), dtype, context) for v in node.inputs)
    guards = inner_sizes_agree(left.real, right.real, node, context)
    shape = left.real.shape if y.type.ndim == 1 else right.real.shape
    summed = left.real.ndim - 1
    results = []
    for kind, parts in (("sub", (*left.parts, *right.parts)), ("add", (*left.parts, right.imag, right.real))):

        def body(index: Index, readers: Sequence[Reader], kind: str = kind) -> Expr:
            of_left = index if x.type.ndim == 2 else index[:1]
            of_right = index if y.type.ndim == 2 else index[-1:]
            a, b, c, d = (read(of_left if k < 2 else of_right) for k, read in enumerate(readers))
            return primitive(kind, a * c, b * d)

        terms = context.add(Pointwise(dtype, shape, parts, body, 3, _expanding(left, right), guards))
        results.append(reduce_array(context, terms, (summed,), "add"))
    return [ComplexArray(*results)]


def _expanding(left: ComplexArray, right: ComplexArray) -> list[bool]:
    """The elements of a vector are read again for each row of the matrix."""
    return [right.real.ndim > 1] * 2 + [left.real.ndim > 1] * 2


def _converted(z: ComplexArray, dtype: str, context: Context) -> ComplexArray:
    parts = [converted(part, dtype) for part in z.parts]
    return ComplexArray(*map(context.added, parts))
