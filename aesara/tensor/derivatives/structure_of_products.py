"""Gradients of products and of batches that keep zeros of structure; see `aesara.graph.support`.

Where no entry of a row of a product is read, the row of the left factor meets zeros only.  It is replaced by zeros
before it is multiplied with them, since it may have infinite entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.pullback import cotangents_of_inputs
from aesara.graph.support import EMPTY, FULL, Support, Supported, select, union
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.derivatives.structure import move_support
from aesara.tensor.elementwise.elemwise import any_along
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.matmul import MatMul
from aesara.tensor.shapes.dimshuffle import dimshuffle
from aesara.tensor.vectorization.blockwise import Blockwise

general = cotangents_of_inputs.dispatch(object)


@cotangents_of_inputs.register(Dot)
@cotangents_of_inputs.register(MatMul)
def _(op, node, of_outputs):
    """Leave out rows of the left factor and columns of the right one that meet only zeros of structure."""
    (of_output,) = of_outputs
    support = of_output.support
    if not support.is_partial or support.is_of_row:
        return general(op, node, of_outputs)
    a, b = node.inputs
    (out,) = node.outputs
    ndim = out.type.ndim
    row, column = (ndim - 2 if b.type.ndim > 1 else ndim - 1), ndim - 1
    rows = any_along(support, (column,)) if b.type.ndim > 1 else support
    columns = any_along(support, (row,)) if a.type.ndim > 1 else support
    gradient = of_output.apply_support()
    known_a = _select(a, rows, row, 0) if a.type.ndim > 1 else a
    known_b = _select(b, columns, column, 1) if b.type.ndim > 1 else b
    of_a = op.L_op([a, known_b], node.outputs, [gradient])[0]
    of_b = op.L_op([known_a, b], node.outputs, [gradient])[1]
    return [
        Supported(of_a, _in_factor(a, rows, row, 0) if a.type.ndim > 1 else FULL),
        Supported(of_b, _in_factor(b, columns, column, 1) if b.type.ndim > 1 else FULL),
    ]


def _in_factor(factor: Any, support: Support, axis: int, place: int) -> Support:
    """Return the support of the rows (`place` 0) or columns (1) of a factor, given that of an axis of the product.

    The result is the full support if the support differs between members of a batch.
    """
    if not support.is_partial:
        return support
    mask = support.mask()
    if any(n != 1 for k, n in enumerate(mask.type.shape) if k != axis) or mask.type.shape[axis] == 1:
        return FULL
    order: list[Any] = ["x"] * factor.type.ndim
    order[factor.type.ndim - 2 + place] = axis
    return move_support(support, len(order), ("factor", tuple(order)), lambda mask: dimshuffle(mask, order))


def _select(factor: Any, support: Support, axis: int, place: int) -> Any:
    """Return a factor with zeros in rows or columns that are not in the support."""
    own = _in_factor(factor, support, axis, place)
    return factor if own is FULL else select(factor.type, factor, own)


@cotangents_of_inputs.register(Blockwise)
def _(op, node, of_outputs):
    """Keep members of a batch apart: the gradient of an output that is not read is zero."""
    terms = general(op, node, of_outputs)
    n_batch = node.outputs[0].type.ndim - len(op.outputs_signature[0])
    flowing = [k for k, g in enumerate(of_outputs) if not isinstance(g.value.type, DisconnectedType)]
    if not n_batch or not all(of_outputs[k].support.is_partial for k in flowing):
        return terms
    members = [
        move_support(
            any_along(of_outputs[k].support, tuple(range(n_batch, node.outputs[k].type.ndim))),
            n_batch,
            ("members",),
            _first(n_batch),
        )
        for k in flowing
    ]
    return [
        _of_members(x, term, union(*members), node.outputs[0].type.shape[:n_batch], len(dims))
        for x, term, dims in zip(node.inputs, terms, op.inputs_signature)
    ]


def _first(count: int) -> Callable[[Any], Any]:
    return lambda mask: dimshuffle(mask, range(count))


def _of_members(x: Any, term: Supported, members: Support, batch: Sequence[int | None], core_ndim: int) -> Supported:
    """Return the gradient of an input of a batched op, with the members that are read as its support.

    The gradient of an unbatched input is a sum over all members, in which unread ones may contribute NaN.
    """
    n_batch = len(batch)
    own = x.type.shape[:-core_ndim] if core_ndim else x.type.shape
    shared = len(own) < n_batch or any(n == 1 != m for n, m in zip(own, batch))
    if shared or not isinstance(term.value.type, TensorType) or term.support is EMPTY:
        return term
    order = [*range(n_batch), *["x"] * core_ndim]
    return Supported(
        term.value, move_support(members, len(order), tuple(order), lambda mask: dimshuffle(mask, order)), False
    )
