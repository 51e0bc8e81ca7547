"""Reductions fused with the elementwise op of their operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aesara.graph.nodes import Apply
from aesara.scalar.casting import cast
from aesara.scalar.composite import Composite, composite_of
from aesara.scalar.types import get_scalar_type
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.core.tensor_like import OutputCells
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.reductions.careduce import CAReduce

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


class FusedReduction(ExpressionOp):
    """A reduction of the result of an elementwise operation, as one operation.

    Parameters
    ----------
    reduction
        A reduction along axes.
    elemwise
        The elementwise operation whose result is reduced.
    dtypes
        Those of its operands; None if they are not known, and then there is no `scalar_op`.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> FusedReduction(at.sum(x).owner.op, at.exp)(x).eval({x: [0.0, 0.0]})
    array(2.)
    """

    __props__ = ("reduction", "elemwise", "dtypes")

    def __init__(self, reduction: CAReduce, elemwise: Elemwise, dtypes: Sequence[str] | None = None):
        self.reduction = reduction
        self.elemwise = elemwise
        self.dtypes = None if dtypes is None else tuple(dtypes)

    @property
    def scalar_op(self) -> Composite:
        """Scalar function applied per element, of the partial result and an element of each operand."""
        if self.dtypes is None:
            raise AttributeError("A FusedReduction has a scalar op if the dtypes of its operands are given.")
        types = [get_scalar_type(dtype) for dtype in self.dtypes]
        of_element = self.elemwise.scalar_op
        dtype = self.reduction.acc_dtype or of_element.output_types(types)[0].dtype
        return composite_of(
            [get_scalar_type(dtype), *types],
            lambda so_far, *elements: self.reduction.scalar_op(so_far, cast(of_element(*elements), dtype)),
        )

    def __str__(self) -> str:
        return f"{self.reduction} of {self.elemwise.scalar_op}"

    def make_node(self, *inputs: Any) -> Apply:
        result = self.expression(*inputs)
        (reduction,) = result.get_parents()
        (elements,) = reduction.inputs[0].get_parents()
        return Apply(self, elements.inputs, [result.type()])

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        return self.reduction(self.elemwise(*inputs))

    def _nodes(self, node: Apply) -> tuple[Apply, Apply]:
        elements = self.elemwise.make_node(*node.inputs)
        return elements, self.reduction.make_node(elements.outputs[0])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        elements, reduced = self._nodes(node)
        storage: OutputCells = [[None]]
        elements.op.perform(elements, inputs, storage)
        reduced.op.perform(reduced, storage[0], output_storage)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        elements, reduced = self._nodes(node)
        return reduced.op.infer_shape(fgraph, reduced, elements.op.infer_shape(fgraph, elements, shapes))
