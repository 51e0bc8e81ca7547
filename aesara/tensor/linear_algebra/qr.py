"""QR decompositions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import le, minimum
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.core import (
    MatrixOp,
    adjoint,
    as_matrix,
    cast_together,
    check_choice,
    hermitian_of_triangle,
    is_connected,
    matrix_type,
    scipy_linalg,
    vector_type,
)
from aesara.tensor.linear_algebra.solve import SolveTriangular
from aesara.tensor.products.dot import dot

__all__ = ["QRFull", "QRIncomplete", "QRPivoted", "qr"]

#: NumPy's names that no longer stand in its documents
_OLD_MODES = {"f": "reduced", "full": "reduced", "e": "economic", "economic": "economic"}
_MODES = ("reduced", "complete", "r", "raw")
_SIGNATURES = {"reduced": "(m,n)->(m,k),(k,n)", "complete": "(m,n)->(m,m),(m,n)", "r": "(m,n)->(k,n)"}


class QRFull(MatrixOp):
    """The decomposition ``A = Q R`` into a matrix with orthonormal columns and an upper triangular one.

    Parameters
    ----------
    mode
        ``"reduced"``: Q has as many columns as the smaller dimension of the matrix. ``"complete"``: Q is square.
        ``"r"``: R alone. ``"raw"``: what LAPACK returns, as `numpy.linalg.qr` describes it.
    """

    __props__ = ("mode",)

    def __init__(self, mode: str):
        self.mode = check_choice("mode", mode, (*_MODES, "full"))

    @property
    def _form(self) -> str:
        return _OLD_MODES.get(self.mode, self.mode)

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        return _SIGNATURES.get(self._form, "(m,n)->(n,m),(k)")

    def make_node(self, x: Any) -> Apply:
        (x,) = cast_together(self, as_matrix(self, x, "x"))
        rows, columns = x.type.shape
        dtype = x.type.dtype
        k = None if rows is None or columns is None else min(rows, columns)
        if self._form == "raw":
            return Apply(self, [x], [matrix_type(dtype, columns, rows)(), vector_type(dtype, k)()])
        if self._form == "complete":
            return Apply(self, [x], [matrix_type(dtype, rows, rows)(), matrix_type(dtype, rows, columns)()])
        r = matrix_type(dtype, k, columns)()
        return Apply(self, [x], [r] if self._form == "r" else [matrix_type(dtype, rows, k)(), r])

    def perform(self, node, inputs, output_storage, params=None):
        factors = np.linalg.qr(inputs[0], mode=self._form)
        for cell, value in zip(output_storage, (factors,) if self._form == "r" else tuple(factors)):
            cell[0] = value

    def infer_shape(self, fgraph, node, shapes):
        rows, columns = shapes[0]
        k = minimum(rows, columns)
        return {
            "reduced": [(rows, k), (k, columns)],
            "complete": [(rows, rows), (rows, columns)],
            "r": [(k, columns)],
            "raw": [(columns, rows), (k,)],
        }[self._form]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (x,) = inputs
        if self._form == "raw":
            raise NotImplementedError(f"{self}: the gradient of this mode is not implemented; use mode 'reduced'.")
        if self._form == "r":
            q, r = QRFull("reduced")(x)
            return [_gradient(q, r, None, output_grads[0])]
        (q, r), gradients = outputs, [g if is_connected(g) else None for g in output_grads]
        if self._form == "complete":
            wide = Assert(
                "The gradient of a complete QR decomposition is that of a matrix with at least as many columns as "
                "rows: the vectors that fill up Q are not determined. Use mode='reduced'."
            )
            q = wide(q, le(x.shape[0], x.shape[1]))
        return [_gradient(q, r, *gradients)]


def _gradient(
    q: TensorVariable, r: TensorVariable, of_q: TensorVariable | None, of_r: TensorVariable | None
) -> TensorVariable:
    """Walter, Lehmann and Lamour (2012), "On evaluating higher-order derivatives of the QR decomposition ...".

    The first columns, as many as Q has, make Q; the others are Q times the rest of R.
    """
    k = q.shape[1]
    first = r[:, :k]
    total_of_q = of_q
    inner = None
    of_others = None
    if of_r is not None:
        of_others = dot(q, of_r[:, k:])
        through_q = dot(dot(q, r[:, k:]), adjoint(of_r[:, k:]))
        total_of_q = through_q if of_q is None else of_q + through_q
        inner = dot(of_r[:, :k], adjoint(first))
    change = -dot(adjoint(q), total_of_q)
    inner = change if inner is None else inner + change
    right = total_of_q + dot(q, hermitian_of_triangle(inner, lower=False))
    of_first = adjoint(SolveTriangular(lower=False, check_finite=False)(first, adjoint(right)))
    if of_others is None:
        of_others = dot(q, r[:, k:]).zeros_like()
    return concatenate([of_first, of_others], axis=1)


class QRIncomplete(QRFull):
    """The upper triangular factor R of ``A = Q R`` alone; see `QRFull`."""

    __props__ = ("mode",)

    def __init__(self, mode: str = "r"):
        super().__init__(check_choice("mode", mode, ("r",)))


class QRPivoted(MatrixOp):
    """The decomposition ``A[:, p] = Q R`` with columns in such an order that the diagonal of R decreases.

    Parameters
    ----------
    mode
        ``"reduced"``, ``"complete"`` or ``"r"``, as for `QRFull`. The order is the last output.
    """

    __props__ = ("mode",)

    def __init__(self, mode: str):
        self.mode = check_choice("mode", mode, ("reduced", "complete", "r"))

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        return f"{_SIGNATURES[self.mode]},(n)"

    def make_node(self, x: Any) -> Apply:
        node = QRFull(self.mode).make_node(x)
        order = vector_type("int64", node.inputs[0].type.shape[1])()
        return Apply(self, node.inputs, [o.type() for o in node.outputs] + [order])

    def perform(self, node, inputs, output_storage, params=None):
        (x,) = inputs
        if x.size == 0:
            factors: Any = np.linalg.qr(x, mode=self.mode)
            factors = (*([factors] if self.mode == "r" else factors), np.arange(x.shape[1]))
        else:
            mode = {"reduced": "economic", "complete": "full", "r": "economic"}[self.mode]
            factors = scipy_linalg().qr(x, mode=mode, pivoting=True)
            factors = factors[1:] if self.mode == "r" else factors
        for cell, value, variable in zip(output_storage, factors, node.outputs):
            cell[0] = np.asarray(value, dtype=variable.type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [*QRFull(self.mode).infer_shape(fgraph, node, shapes), (shapes[0][1],)]

    def connection_pattern(self, node):
        return [[True] * (len(node.outputs) - 1) + [False]]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        (x,) = inputs
        *_, order = outputs
        ordered = x[:, order]
        (gradient,) = QRFull(self.mode).L_op([ordered], outputs[:-1], output_grads[:-1])
        return [set_subtensor(x.zeros_like()[:, order], gradient)]


def qr(a: TensorLike, mode: str = "reduced", pivoting: bool = False) -> Any:
    """The decomposition ``a = Q R`` into a matrix with orthonormal columns and an upper triangular one.

    Parameters
    ----------
    a
        A matrix, or a batch of them.
    mode
        ``"reduced"``: Q has as many columns as the smaller dimension of `a`. ``"complete"``: Q is square. ``"r"``: R
        alone. ``"raw"``: what LAPACK returns, as `numpy.linalg.qr` describes it.
    pivoting
        Whether the columns are put in such an order that the diagonal of R decreases; the order is returned last.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> abs(at.linalg.qr([[3.0], [4.0]], mode="r")).eval()
    array([[5.]])
    """
    return QRPivoted(mode)(a) if pivoting else QRFull(mode)(a)
