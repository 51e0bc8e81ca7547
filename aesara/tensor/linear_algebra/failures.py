"""NaN in place of errors: results for the members of a batch that have some, whatever the others are."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.elementwise.ops import isnan, switch
from aesara.tensor.linear_algebra.core import MatrixOp, identity_like, is_connected, nan_like
from aesara.tensor.linear_algebra.eigen import Eigh
from aesara.tensor.linear_algebra.inverse import MatrixInverse
from aesara.tensor.linear_algebra.solve import Solve, SolveTriangular
from aesara.tensor.linear_algebra.svd import SVD
from aesara.tensor.reductions.all_any import any as any_true

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable

__all__ = ["NanOnError"]


@functools.singledispatch
def _read(op: Op, a: np.ndarray) -> np.ndarray:
    """What an op reads of its matrix, with zeros elsewhere."""
    raise TypeError(
        f"NanOnError takes Solve, SolveTriangular, MatrixInverse, Eigh and SVD, not {op}. Cholesky has an option of "
        "its own, on_error."
    )


@_read.register(MatrixInverse)
@_read.register(SVD)
def _read_whole(op: MatrixInverse | SVD, a: np.ndarray) -> np.ndarray:
    return a


@_read.register
def _read_by_solve(op: Solve, a: np.ndarray) -> np.ndarray:
    return a if op.assume_a == "gen" else np.tril(a) if op.lower else np.triu(a)


@_read.register
def _read_by_solve_triangular(op: SolveTriangular, a: np.ndarray) -> np.ndarray:
    beside = 1 if op.unit_diagonal else 0
    return np.tril(a, -beside) if op.lower else np.triu(a, beside)


@_read.register
def _read_by_eigh(op: Eigh, a: np.ndarray) -> np.ndarray:
    return np.tril(a) if op.UPLO == "L" else np.triu(a)


class NanOnError(MatrixOp):
    """What an op computes, or NaN in all of its results where there are none.

    These are matrices that are singular, that are not positive definite or that have infinities or NaN where the op
    reads them, such right-hand sides, and results that leave the range of their dtype. Of a batch the other members
    have their results. Gradients are NaN for the same members.

    Parameters
    ----------
    op
        A `Solve`, `SolveTriangular`, `MatrixInverse`, `Eigh` or `SVD`; its option `check_finite` has no effect.

    Examples
    --------
    >>> import numpy as np
    >>> import aesara.tensor as at
    >>> NanOnError(at.linalg.inv)(np.array([[[2.0]], [[0.0]]])).eval()
    array([[[0.5]],
    <BLANKLINE>
           [[nan]]])
    """

    __props__ = ("op",)

    def __init__(self, op: MatrixOp):
        _read(op, np.zeros((0, 0)))
        self.op: MatrixOp = op
        if isinstance(op, (Solve, SolveTriangular)):
            given = {name: getattr(op, name) for name in op.__props__}
            self.op = type(op)(**given | {"check_finite": False})

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        return self.op.signature_for(inputs)

    def make_node(self, *inputs: Any) -> Apply:
        node = self.op.make_node(*inputs)
        return Apply(self, node.inputs, [out.type() for out in node.outputs])

    def perform(self, node, inputs, output_storage, params=None):
        a, *others = inputs
        found: list[list[Any]] = [[None] for _ in output_storage]
        finite = all(np.isfinite(x).all() for x in (_read(self.op, a), *others))
        try:
            if finite:
                self.op.perform(node, inputs, found)
        except np.linalg.LinAlgError:
            finite = False
        if not finite:
            self.op.perform(node, [np.eye(*a.shape, dtype=a.dtype), *map(np.zeros_like, others)], found)
        fine = finite and all(np.isfinite(value).all() for (value,) in found)
        for cell, (value,) in zip(output_storage, found, strict=True):
            cell[0] = value if fine else nan_like(value)

    def infer_shape(self, fgraph, node, shapes):
        return self.op.infer_shape(fgraph, node, shapes)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """That of the op for the identity matrix, where there are no results; then NaN is put there."""
        failed = any_true(isnan(outputs[0]))
        a = switch(failed, self._harmless(inputs[0]), inputs[0])
        others = [switch(failed, x.zeros_like(), x) for x in inputs[1:]]
        results = [switch(failed, out.zeros_like(), out) for out in outputs]
        seeds = [switch(failed, g.zeros_like(), g) if is_connected(g) else g for g in output_grads]
        gradients = self.op.L_op([a, *others], results, seeds)
        return [switch(failed, np.asarray(np.nan, g.type.dtype), g) for g in gradients]

    def _harmless(self, a: TensorVariable) -> TensorVariable:
        return a.zeros_like() if isinstance(self.op, SVD) else identity_like(a)
