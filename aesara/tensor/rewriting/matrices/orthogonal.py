"""Products with the orthogonal factor of a QR decomposition, for which that need not be computed.

The triangular factor of ``[A, b]`` is ``[R, Q.T @ b]`` in its first rows: the reflections that make R of A are done to
b on the way.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.matrices.facts import transposed_of
from aesara.tensor.rewriting.matrices.rows import is_real, matrix_transpose
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


@rules.stabilize  # when nothing else asks for Q any more
@node_rewriter([QRFull])
def local_product_without_q(fgraph, node):
    """``Q.T @ b`` -> rows of the triangular factor of ``[A, b]``, for few columns, if Q is used for nothing else

    A function, since it checks all nodes that read Q.
    """
    if len(node.outputs) != 2 or node.op.mode not in ("reduced", "full", "economic", "f", "e"):
        return False
    q, r = node.outputs
    if not is_real(q) or not fgraph.clients[q]:
        return False
    products: dict[Variable, Variable] = {}
    for user, _ in fgraph.clients[q]:
        uses = [(user, q)]
        if isinstance(user, Apply) and transposed_of(user.outputs[0]) is q:
            turned = user.outputs[0]
            uses = [(client, turned) for client, _ in fgraph.clients[turned]]
        for client, operand in uses:
            b = _other_factor(client, operand, operand is not q)
            if b is None or b.type.dtype != q.type.dtype or not _are_few(b, q):
                return False
            products[client.outputs[0]] = b
    (x,) = node.inputs
    beside = [b.dimshuffle("x", 0) if b.type.ndim == 1 else matrix_transpose(b) for b in products.values()]
    # joined as rows, which is how LAPACK takes columns
    whole = QRFull("r")(matrix_transpose(concatenate([matrix_transpose(x), *beside], axis=0)))
    columns = x.shape[1]
    found: dict[Variable, Any] = {}
    if fgraph.clients[r]:
        found[r] = whole[:columns, :columns]
    at = columns
    for (out, b), row in zip(products.items(), beside, strict=True):
        end = at + row.shape[0]
        found[out] = whole[:columns, at] if b.type.ndim == 1 else whole[:columns, at:end]
        at = end
    fitting = {out: in_place_of(out, value) for out, value in found.items()}
    return False if None in fitting.values() else {out: one for out, (one,) in fitting.items()}


def _other_factor(client: Apply, operand: Variable, is_turned: bool) -> Variable | None:
    """Return the other factor of a product with Q.T in a node that reads Q, or its transpose."""
    if not isinstance(client, Apply) or not isinstance(client.op, Dot):
        return None
    left, right = client.inputs
    if is_turned:
        return right if left is operand and right is not operand and right.type.ndim <= 2 else None
    return left if right is operand and left is not operand and left.type.ndim == 1 else None


def _are_few(b: Variable, q: Variable) -> bool:
    """Return whether right-hand sides are at most half as many as Q has columns, or one."""
    if b.type.ndim == 1 or b.type.shape[1] == 1:
        return True
    columns, order = b.type.shape[1], q.type.shape[1]
    return columns is not None and order is not None and 2 * columns <= order
