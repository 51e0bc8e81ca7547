"""NaN instead of errors: results of failed members of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.nodes import Apply
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import isnan, switch
from aesara.tensor.linear_algebra.core import MatrixOp, check_choice, is_connected, nan_like
from aesara.tensor.reductions.all_any import any as any_true

__all__ = ["NanOnError"]


class NanOnError(MatrixOp):
    """Applies an op to matrices, with NaN as results where the op would raise an error.

    This concerns matrices that are singular, not positive definite or not finite, right-hand sides that are not finite,
    and results that overflow. Other members of a batch are not affected. Gradients of failed members are NaN.

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
        op.read_of(np.zeros((0, 0)))
        self.op: MatrixOp = op
        if "check_finite" in op.__props__:
            props = {name: getattr(op, name) for name in op.__props__}
            self.op = type(op)(**props | {"check_finite": False})

    def signature_for(self, inputs: Sequence[TensorVariable]) -> str:
        return self.op.signature_for(inputs)

    def make_node(self, *inputs: Any) -> Apply:
        node = self.op.make_node(*inputs)
        return Apply(self, node.inputs, [out.type() for out in node.outputs])

    def perform(self, node, inputs, output_storage, params=None):
        a, *others = inputs
        storage: list[list[Any]] = [[None] for _ in output_storage]
        finite = all(np.isfinite(x).all() for x in (self.op.read_of(a), *others))
        try:
            if finite:
                self.op.perform(node, inputs, storage)
        except np.linalg.LinAlgError:
            finite = False
        if not finite:
            self.op.perform(node, [np.eye(*a.shape, dtype=a.dtype), *map(np.zeros_like, others)], storage)
        fine = finite and all(np.isfinite(value).all() for (value,) in storage)
        for cell, (value,) in zip(output_storage, storage, strict=True):
            cell[0] = value if fine else nan_like(value)

    def infer_shape(self, fgraph, node, shapes):
        return self.op.infer_shape(fgraph, node, shapes)

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the gradient of the op, evaluated for the identity matrix where the op has failed, where it is set to
        NaN.
        """
        failed = any_true(isnan(outputs[0]))
        a = switch(failed, self.op.harmless(inputs[0]), inputs[0])
        others = [switch(failed, x.zeros_like(), x) for x in inputs[1:]]
        results = [switch(failed, out.zeros_like(), out) for out in outputs]
        seeds = [switch(failed, g.zeros_like(), g) if is_connected(g) else g for g in output_grads]
        gradients = self.op.L_op([a, *others], results, seeds)
        return [switch(failed, np.asarray(np.nan, g.type.dtype), g) for g in gradients]


def with_on_error(op: MatrixOp, on_error: str) -> MatrixOp:
    """Return an op that raises exceptions ("raise") or returns NaN ("nan") on failure."""
    return NanOnError(op) if check_choice("on_error", on_error, ("raise", "nan")) == "nan" else op
