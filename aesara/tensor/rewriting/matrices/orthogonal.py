"""Products with the orthogonal factor of a QR decomposition, without computing it.

The first rows of the triangular factor of ``[A, b]`` are ``[R, Q.T @ b]``: the reflections that reduce A to R are
applied to b too.
"""

from __future__ import annotations

from typing import Any

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.joining.join_split import concatenate
from aesara.tensor.linear_algebra.qr import QRFull
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.helpers import in_place_of, is_float
from aesara.tensor.rewriting.matrices.expressions import matrix_transpose
from aesara.tensor.rewriting.matrices.facts import transposed_of
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


@rules.stabilize  # when other rules have removed other uses of Q
@node_rewriter([QRFull])
def local_product_without_q(fgraph, node):
    """``Q.T @ b`` -> rows of the triangular factor of ``[A, b]``, for few columns, if Q is used for nothing else

    A function, since it checks all nodes that read Q.
    """
    if len(node.outputs) != 2 or node.op.mode not in ("reduced", "full", "economic", "f", "e"):
        return False
    q, r = node.outputs
    if not is_float(q) or not fgraph.clients[q]:
        return False
    products: dict[Variable, Variable] = {}
    for client_of_q, _ in fgraph.clients[q]:
        uses = [(client_of_q, q)]
        if isinstance(client_of_q, Apply) and transposed_of(client_of_q.outputs[0]) is q:
            transposed = client_of_q.outputs[0]
            uses = [(client, transposed) for client, _ in fgraph.clients[transposed]]
        for client, operand in uses:
            b = _other_factor(client, operand, operand is not q)
            if b is None or b.type.dtype != q.type.dtype or not _are_few(b, q):
                return False
            products[client.outputs[0]] = b
    (x,) = node.inputs
    rows = [b.dimshuffle("x", 0) if b.type.ndim == 1 else matrix_transpose(b) for b in products.values()]
    # joined as rows, which is how LAPACK takes columns
    triangle = QRFull("r")(matrix_transpose(concatenate([matrix_transpose(x), *rows], axis=0)))
    columns = x.shape[1]
    replacements: dict[Variable, Any] = {}
    if fgraph.clients[r]:
        replacements[r] = triangle[:columns, :columns]
    start = columns
    for (out, b), block in zip(products.items(), rows, strict=True):
        end = start + block.shape[0]
        replacements[out] = triangle[:columns, start] if b.type.ndim == 1 else triangle[:columns, start:end]
        start = end
    fitting = {out: in_place_of(out, value) for out, value in replacements.items()}
    return False if None in fitting.values() else {out: new for out, (new,) in fitting.items()}


def _other_factor(client: Apply, operand: Variable, is_transposed: bool) -> Variable | None:
    """Return b if `client` computes ``Q.T @ b``, or ``b @ Q`` of a vector, else None."""
    if not isinstance(client, Apply) or not isinstance(client.op, Dot):
        return None
    left, right = client.inputs
    if is_transposed:
        return right if left is operand and right is not operand and right.type.ndim <= 2 else None
    return left if right is operand and left is not operand and left.type.ndim == 1 else None


def _are_few(b: Variable, q: Variable) -> bool:
    """Return whether `b` has one column, or at most half as many columns as Q."""
    if b.type.ndim == 1 or b.type.shape[1] == 1:
        return True
    columns, order = b.type.shape[1], q.type.shape[1]
    return columns is not None and order is not None and 2 * columns <= order
