"""Linear recurrences along a dimension, which derivatives of cumulative products consist of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara import scalar as aes
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import IntegerLike, OutputCells
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import conj, second
from aesara.tensor.indexing.inc_subtensor import set_subtensor

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph


class LinearRecurrence(Op):
    """The sequence ``h[i] = a[i] * h[i - 1] + b[i]`` along a dimension, from ``h[0] = b[0]``.

    Inputs are the factors a and the terms b, of one shape. The first factor is not used.

    Parameters
    ----------
    axis
        The dimension, counted from the front.
    backwards
        Compute the transpose: ``h[i] = a[i + 1] * h[i + 1] + b[i]``, from the last term.

    Examples
    --------
    >>> LinearRecurrence(0)([9.0, 2.0, 0.5], [1.0, 1.0, 1.0]).eval()
    array([1. , 3. , 2.5])
    >>> LinearRecurrence(0, backwards=True)([9.0, 2.0, 0.5], [1.0, 1.0, 1.0]).eval()
    array([4. , 1.5, 1. ])
    """

    __props__ = ("axis", "backwards")

    def __init__(self, axis: int, backwards: bool = False):
        self.axis = int(axis)
        self.backwards = bool(backwards)

    def make_node(self, a: Any, b: Any) -> Apply:
        a, b = as_tensor_variable(a), as_tensor_variable(b)
        if a.type.ndim != b.type.ndim or not 0 <= self.axis < a.type.ndim:
            raise ValueError(
                f"{self} needs factors and terms with the same number of dimensions, more than {self.axis}; got types "
                f"{a.type} and {b.type}."
            )
        shape = []
        for axis, (of_a, of_b) in enumerate(zip(a.type.shape, b.type.shape)):
            if of_a is not None and of_b is not None and of_a != of_b:
                raise ValueError(f"{self}: the factors have size {of_a} in dimension {axis}, the terms {of_b}.")
            shape.append(of_b if of_a is None else of_a)
        dtype = aes.upcast(a.type.dtype, b.type.dtype)
        return Apply(self, [a.astype(dtype), b.astype(dtype)], [tensor_type(dtype, tuple(shape))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        a, b = inputs
        if a.shape != b.shape:
            raise ValueError(f"{self}: the factors have shape {a.shape}, the terms {b.shape}.")
        result = np.array(b)
        factors, values = np.moveaxis(a, self.axis, 0), np.moveaxis(result, self.axis, 0)
        n = len(values)
        with np.errstate(all="ignore"):
            for i in range(n - 1):
                if self.backwards:
                    values[n - 2 - i] += factors[n - 1 - i] * values[n - 1 - i]
                else:
                    values[i + 1] += factors[i + 1] * values[i]
        output_storage[0][0] = result

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[Sequence[IntegerLike] | None]:
        return [shapes[1]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        a, _ = inputs
        of_terms = LinearRecurrence(self.axis, not self.backwards)(conj(a), output_grads[0])
        values = conj(outputs[0])
        forwards, back = (of_terms, values) if self.backwards else (values, of_terms)
        return [shift(forwards, self.axis, 0.0) * back, of_terms]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        (a, b), (da, db) = inputs, eval_points
        terms = [] if db is None else [db]
        if da is not None:
            result = self(a, b)
            terms.append(_shift_back(da * result, self.axis) if self.backwards else da * shift(result, self.axis, 0.0))
        if not terms:
            return [None]
        return [self(a, terms[0] if len(terms) == 1 else terms[0] + terms[1])]


def shift(x: TensorVariable, axis: int, first: float) -> TensorVariable:
    """Shift a tensor by one position along a dimension, with a number as first entry."""
    before = (slice(None),) * axis
    filling = second(x, np.asarray(first, dtype=x.type.dtype))
    return set_subtensor(filling[(*before, slice(1, None))], x[(*before, slice(None, -1))])


def _shift_back(x: TensorVariable, axis: int) -> TensorVariable:
    """Shift a tensor by one position in the opposite direction, with zero as last entry."""
    before = (slice(None),) * axis
    zeros = x.zeros_like()
    return set_subtensor(zeros[(*before, slice(None, -1))], x[(*before, slice(1, None))])
