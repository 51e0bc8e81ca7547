"""Least squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.nodes import Apply, Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import maximum, minimum
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_matrix,
    as_right_hand_side,
    cast_together,
    column,
    common_size,
    is_connected,
    real_dtype,
    refuse_infinities,
    vector_type,
)
from aesara.tensor.linear_algebra.inverse import pinv_gradient
from aesara.tensor.linear_algebra.svd import SVD
from aesara.tensor.products.dot import dot
from aesara.tensor.shapes.shape import shape_i_op

__all__ = ["Lstsq", "PinvWithCutoff", "lstsq"]


class PinvWithCutoff(MatrixOp):
    """The pseudoinverse of a matrix, with singular values up to `rcond` times the largest treated as zero."""

    __props__ = ()
    gufunc_signature = "(m,n),()->(n,m)"

    def make_node(self, x: Any, rcond: Any) -> Apply:
        (x,) = cast_together(self, as_matrix(self, x, "x"))
        return Apply(self, [x, as_tensor_variable(rcond)], [tensor_type(x.type.dtype, x.type.shape[::-1])()])

    def perform(self, node, inputs, output_storage, params=None):
        x, rcond = inputs
        refuse_infinities(self, x)
        cutoff = max(float(_cutoff(rcond, x)), 0.0)
        output_storage[0][0] = np.asarray(np.linalg.pinv(x, rcond=cutoff), dtype=x.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0][::-1]]

    def connection_pattern(self, node):
        return [[True], [False]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        return [pinv_gradient(inputs[0], outputs[0], output_grads[0]), disconnected_type()]


def _cutoff(rcond: Any, x: np.ndarray) -> float:
    """Return the relative cutoff for singular values: `rcond`, or machine epsilon if it is negative."""
    return float(np.finfo(x.dtype).eps) if rcond < 0 else float(rcond)


class Lstsq(MatrixOp):
    """The least-squares solution x of ``A x = b`` of minimum norm.

    The inputs are A, b and the ratio to the largest singular value up to which singular values are treated as zero: a
    negative number stands for the machine epsilon, None for the machine epsilon times the larger dimension. The outputs
    are x, the sums of squared residuals (empty unless A has more rows than columns and full rank), the rank, and the
    singular values.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> solution, errors, rank, values = at.linalg.lstsq([[1.0], [1.0]], [1.0, 3.0])
    >>> solution.eval(), rank.eval()
    (array([2.]), array(1))
    """

    __props__ = ()

    def __call__(self, x: TensorLike, y: TensorLike, rcond: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]  # these go to make_node
        if rcond is None:
            x, y = cast_together(self, as_tensor_variable(x), as_tensor_variable(y))
            rcond = maximum(x.shape[-2], x.shape[-1]) * np.finfo(x.type.dtype).eps
        return super().__call__(x, y, rcond, **kwargs)

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        if inputs[1].type.ndim == 1:
            return "(m,n),(m),()->(n),(r),(),(k)"
        return "(m,n),(m,c),()->(n,c),(r),(),(k)"

    def make_node(self, x: Any, y: Any, rcond: TensorLike) -> Apply:
        x, y = cast_together(self, as_matrix(self, x, "x"), as_right_hand_side(self, y, "y"))
        rcond = as_tensor_variable(rcond)
        if rcond.type.ndim != 0:
            raise ValueError(f"{self}: `rcond` must be a scalar; got {rcond.type}.")
        common_size(self, x.type.shape[0], y.type.shape[0], quantity="numbers of rows")
        rows, columns = x.type.shape
        k = None if rows is None or columns is None else min(rows, columns)
        real = real_dtype(x.type.dtype)
        return Apply(
            self,
            [x, y, rcond],
            [
                tensor_type(x.type.dtype, (columns, *y.type.shape[1:]))(),
                vector_type(real, None)(),
                tensor_type("int64", ())(),
                vector_type(real, k)(),
            ],
        )

    def perform(self, node, inputs, output_storage, params=None):
        x, y, rcond = inputs
        if x.shape[0] != y.shape[0]:
            raise ValueError(f"{self}: a matrix of shape {x.shape} and a right-hand side of {y.shape} do not fit.")
        results = np.linalg.lstsq(x, y, rcond=_cutoff(rcond, x))
        for cell, value, variable in zip(output_storage, results, node.outputs):
            cell[0] = np.asarray(value, dtype=variable.type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        (rows, columns), of_y, _ = shapes
        return [(columns, *of_y[1:]), (shape_i_op(0)(node.outputs[1]),), (), (minimum(rows, columns),)]

    def connection_pattern(self, node):
        return [[True, True, False, True], [True, True, False, False], [False] * 4]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        """Golub and Pereyra (1973), for constant rank."""
        x, y, rcond = inputs
        solution, of_solution = outputs[0], output_grads[0]
        of_x, of_y = x.zeros_like(), y.zeros_like()
        if is_connected(of_solution):
            p = PinvWithCutoff()(x, rcond)
            back = adjoint(p)
            of_y = dot(back, of_solution)
            g, s = column(of_solution), column(solution)
            errors = column(y) - dot(x, s)
            of_x = -dot(dot(back, g), adjoint(s)) + dot(errors, adjoint(dot(p, dot(back, g))))
            missing = g - dot(p, dot(x, g))
            of_x = of_x + dot(dot(back, s), adjoint(missing))
        if is_connected(output_grads[1]):
            errors, weights = column(y) - dot(x, column(solution)), output_grads[1]
            # There may be no sums, which have no gradient then.
            index = (slice(None, weights.shape[0]),)
            filled = set_subtensor(errors.sum(axis=0).zeros_like()[index], weights.astype(x.type.dtype))
            slopes = 2 * errors * filled
            of_y = of_y + (slopes[:, 0] if y.type.ndim == 1 else slopes)
            of_x = of_x - dot(slopes, adjoint(column(solution)))
        if is_connected(output_grads[3]):
            u, _, vh = SVD(False, True)(x)
            of_x = of_x + dot(u * output_grads[3].dimshuffle("x", 0).astype(x.type.dtype), vh)
        return [of_x, of_y, disconnected_type()]


lstsq = Lstsq()
