"""Selection of rows with a sparse gradient, which stores only the selected rows."""

from __future__ import annotations

from typing import Any

from aesara.graph import hooks
from aesara.graph.messages import describe
from aesara.sparse.stacking import construct_sparse_from_list
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.indexing.subtensor_advanced import AdvancedSubtensor, AdvancedSubtensor1

__all__ = ["sparse_grad"]


@hooks.sparse_row_gradient.set
def sparse_row_gradient(x: TensorVariable, gradient: TensorVariable, rows: TensorVariable) -> TensorVariable:
    """Return the gradient of ``x[rows]`` with respect to the matrix `x`, as a csc matrix."""
    if x.type.ndim != 2:
        raise TypeError(f"AdvancedSubtensor1: you can't take the sparse gradient of a {x.type}: it is no matrix.")
    return construct_sparse_from_list(x, gradient, rows)


def sparse_grad(var: Any) -> TensorVariable:
    """Return ``x[rows]`` with a sparse gradient with respect to `x`.

    Parameters
    ----------
    var
        ``x[rows]``, for a matrix `x` and a vector of integers.

    Examples
    --------
    >>> import aesara
    >>> import aesara.sparse
    >>> W = aesara.tensor.dmatrix("W")
    >>> rows = aesara.sparse.sparse_grad(W[[0, 2]])
    >>> aesara.grad(rows.sum(), W).type
    Sparse(float64, (None, None), csc)
    """
    node = var.owner
    selects_rows = node is not None and isinstance(node.op, (AdvancedSubtensor, AdvancedSubtensor1))
    if (
        not selects_rows
        or len(node.inputs) != 2
        or node.inputs[1].type.ndim != 1
        or node.inputs[1].type.dtype == "bool"
    ):
        raise TypeError(f"sparse_grad takes x[rows] with a vector of row numbers; got {describe(var)}.")
    return AdvancedSubtensor1(sparse_grad=True)(*node.inputs)
