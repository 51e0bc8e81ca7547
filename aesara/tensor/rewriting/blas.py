"""Sums and products of matrices in the forms of BLAS: ``z - lr * dot(x, y)`` as one operation.

The passes of `blas_optdb` run one after another:

1. products of two matrices of one floating-point dtype become `Dot22`;
2. sums with a product among their terms become `Gemm` or `Gemv` (`GemmOptimizer`);
3. products with a scalar factor become `Dot22Scalar`;
4. matrices of a single row or column become vectors.

Later, `blas_opt_inplace` lets them overwrite the tensor that they add to. These ops matter for graphs and for execution
in Python only: native code is made of the expressions that they represent (`lower/products/blas.py`), and
`lower/schedule` decides whether BLAS adds in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.db import SequenceDB
from aesara.graph.rewriting.matching import one_of
from aesara.graph.rewriting.node_rewriters import SequentialNodeRewriter
from aesara.graph.rewriting.rewriter import GraphRewriter, NodeRewriter, SequentialGraphRewriter
from aesara.graph.rewriting.tracker import OpToRewriterTracker
from aesara.graph.rewriting.walking import WalkingGraphRewriter
from aesara.graph.utils import InconsistencyError
from aesara.scalar.arithmetic import Mul, Neg
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import add, mul, neg, sub
from aesara.tensor.products.dot import Dot
from aesara.tensor.products.gemm import (
    BlasOp,
    Dot22,
    Dot22Scalar,
    gemm_inplace,
    gemm_no_inplace,
    is_zero,
    times_unless_zero,
)
from aesara.tensor.products.gemv import gemv_inplace, gemv_no_inplace, ger, ger_destructive
from aesara.tensor.rewriting.helpers import as_dtype, computed_in, in_place_of, is_elemwise
from aesara.tensor.rewriting.inplace import InplaceWriter
from aesara.tensor.rewriting.rows import row
from aesara.tensor.shapes.dimshuffle import DimShuffle

#: Dtypes that BLAS supports.
BLAS_DTYPES = ("float32", "float64", "complex64", "complex128")

_dot = Dot()
_dot22 = Dot22()
_dot22scalar = Dot22Scalar()


def res_is_a(fgraph: FunctionGraph, var: Variable, op: Op, maxclients: int | None = None) -> bool:
    """Return whether a variable is a result of an op, with at most `maxclients` clients."""
    if var.owner is None or var.owner.op != op:
        return False
    return maxclients is None or len(fgraph.clients[var]) <= maxclients


local_dot_to_dot22 = row(
    "local_dot_to_dot22",
    (Dot, "x", "y"),
    (_dot22, "x", "y"),
    lambda x, y: x.type.ndim == y.type.ndim == 2 and x.type.dtype == y.type.dtype and x.type.dtype in BLAS_DTYPES,
    each=None,
    why="dot(x, y) -> dot22(x, y) of matrices of one dtype that BLAS knows",
)


# Sums with products


def _as_number(var: Any, dtype: str) -> Variable | None:
    """Return a factor of one element as a scalar of a dtype; None for others."""
    if not all(var.type.broadcastable):
        return None
    if isinstance(var, Constant):
        return constant(np.asarray(var.data).astype(dtype).reshape(()))
    return as_dtype(var.dimshuffle() if var.type.ndim else var, dtype)


def _factors(fgraph: FunctionGraph, var: Variable) -> tuple[list[Variable], Variable] | None:
    """Return the scalar factors of a variable and the variable that they scale; None if there are several."""
    dtype = var.type.dtype
    numbers: list[Variable] = []
    while (node := var.owner) is not None and len(fgraph.clients[var]) == 1 and var.type.dtype == dtype:
        op = node.op
        if op == neg:
            numbers.append(constant(np.asarray(-1, dtype=dtype)))
            (var,) = node.inputs
        elif op == mul:
            split = [(v, _as_number(v, dtype)) for v in node.inputs]
            rest = [v for v, number in split if number is None]
            if len(rest) != 1:
                return None
            numbers += [number for _, number in split if number is not None]
            (var,) = rest
        else:
            break
    return numbers, var


def _product(numbers: Iterable[Variable], dtype: str, first: int = 1) -> Variable:
    """Return the product of an integer and scalars, of which the constants become one."""
    known = np.asarray(first, dtype=dtype)
    unknown = []
    with np.errstate(all="ignore"):
        for number in numbers:
            if isinstance(number, Constant):
                known = np.multiply(known, number.data, dtype=dtype)
            else:
                unknown.append(number)
    if not unknown:
        return constant(known)
    factor = unknown[0] if len(unknown) == 1 else mul(*unknown)
    return factor if known == 1 else neg(factor) if known == -1 else mul(constant(known), factor)


def _operands(fgraph: FunctionGraph, product: Variable) -> tuple[Variable, Variable] | None:
    """Return the operands of a product, or transpose of a product, with a single client, else None."""
    node = product.owner
    if node is None or len(fgraph.clients[product]) != 1:
        return None
    if isinstance(node.op, DimShuffle) and node.op.new_order == (1, 0):
        inner = node.inputs[0]
        x: Any
        y: Any
        if inner.owner is not None and isinstance(inner.owner.op, Dot22) and len(fgraph.clients[inner]) == 1:
            x, y = inner.owner.inputs
            return y.T, x.T
        return None
    if isinstance(node.op, Dot22):
        return node.inputs[0], node.inputs[1]
    if isinstance(node.op, Dot) and product.type.ndim == 1 and product.type.dtype in BLAS_DTYPES:
        x, y = node.inputs
        if x.type.dtype == y.type.dtype:
            return (x, y) if x.type.ndim == 2 else (y.T, x)
    return None


@node_rewriter([add, sub])
def _local_sum_to_gemm(fgraph, node):
    """``b * z + a * dot(x, y) -> gemm(z, a, x, y, b)``"""
    out = node.outputs[0]
    dtype = out.type.dtype
    if out.type.ndim not in (1, 2) or dtype not in BLAS_DTYPES:
        return False
    signs = [1] * len(node.inputs) if node.op == add else [1, -1]
    # The last product; terms before it may be products to add to.
    for k in reversed(range(len(signs))):
        term = node.inputs[k]
        scaled = _factors(fgraph, term)
        operands = scaled and _operands(fgraph, scaled[1])
        if not operands or scaled[1].type.dtype != dtype or term.type.broadcastable != out.type.broadcastable:
            continue
        rest = [(sign, v) for i, (sign, v) in enumerate(zip(signs, node.inputs)) if i != k]
        z, beta = _scaled_sum(fgraph, rest, dtype)
        if z is None or z.type.broadcastable != out.type.broadcastable:
            continue
        alpha = _product(scaled[0], dtype, signs[k])
        x, y = operands
        op = gemm_no_inplace if out.type.ndim == 2 else gemv_no_inplace
        return in_place_of(out, op(z, alpha, x, y, beta))
    return False


def _scaled_sum(fgraph: FunctionGraph, terms: list, dtype: str) -> tuple[Variable | None, Variable]:
    """Return the sum of other terms and its factor, which is no constant zero: BLAS would ignore the sum."""
    sign, z = terms[0]
    if any(v is not z for _, v in terms):
        return computed_in(dtype, add, [v for _, v in terms]), _product([], dtype)
    times = sign * len(terms)  # several terms have the same sign
    if z.type.dtype != dtype:
        return as_dtype(z, dtype), _product([], dtype, times)
    scaled = _factors(fgraph, z)
    if scaled is not None and scaled[1].type.dtype == dtype and scaled[1] is not z:
        beta = _product(scaled[0], dtype, times)
        if not is_zero(beta):
            return scaled[1], beta
    return z, _product([], dtype, times)


class _OverProducts(WalkingGraphRewriter):
    """A walk that only visits graphs with products."""

    def apply(self, fgraph: FunctionGraph, start_from: Iterable[Variable] | None = None) -> int:
        if not any(isinstance(node.op, (Dot, BlasOp)) for node in fgraph.apply_nodes):
            return 0
        return super().apply(fgraph, start_from)


class GemmOptimizer(GraphRewriter):
    """Replaces sums with products among their terms by `Gemm` and `Gemv`."""

    def __init__(self) -> None:
        self._walk = _OverProducts(_local_sum_to_gemm, order="out_to_in", failure_callback=WalkingGraphRewriter.warn)

    def apply(self, fgraph: FunctionGraph) -> int:
        return self._walk.apply(fgraph)


@node_rewriter([mul])
def local_dot22_to_dot22scalar(fgraph, node):
    """``c * dot22(x, y)`` -> ``dot22scalar(x, y, c)``, since BLAS can scale the product."""
    out = node.outputs[0]
    dtype = out.type.dtype
    if out.type.ndim != 2 or dtype not in BLAS_DTYPES:
        return False
    for k, var in enumerate(node.inputs):
        if var.owner is None or not isinstance(var.owner.op, Dot22):
            continue
        if var.type.dtype != dtype or (fgraph is not None and len(fgraph.clients[var]) != 1):
            continue
        others = [v for i, v in enumerate(node.inputs) if i != k]
        numbers = [_as_number(v, dtype) for v in others]
        scalars = [number for number in numbers if number is not None]
        if not scalars:
            continue
        remaining = [v for v, number in zip(others, numbers) if number is None]
        scaled = _dot22scalar(*var.owner.inputs, _product(scalars, dtype))
        return in_place_of(out, mul(scaled, *remaining) if remaining else scaled, node.inputs)
    return False


# Single rows and columns


def _product_with_vector(
    z: TensorVariable, alpha: TensorVariable, x: TensorVariable, y: TensorVariable, beta: TensorVariable
) -> Variable | None:
    """Return `gemm` of a single row or column as `gemv`, else None."""
    if x.type.shape[0] == 1 and z.type.shape[0] == 1:
        return gemv_no_inplace(z.dimshuffle(1), alpha, y.T, x.dimshuffle(1), beta).dimshuffle("x", 0)
    if y.type.shape[1] == 1 and z.type.shape[1] == 1:
        return gemv_no_inplace(z.dimshuffle(0), alpha, x, y.dimshuffle(0), beta).dimshuffle(0, "x")
    return None


def _product_of_vectors(x: TensorVariable, y: TensorVariable) -> Variable | None:
    """Return a product of a column and a row, or with a single row or column, by vectors, else None."""
    if x.type.shape[1] == 1 and y.type.shape[0] == 1:
        return mul(x, y)
    if x.type.shape[0] == 1:
        return _dot(x.dimshuffle(1), y).dimshuffle("x", 0)
    return _dot(x, y.dimshuffle(0)).dimshuffle(0, "x") if y.type.shape[1] == 1 else None


def _is_outer(x: Variable, y: Variable, beta: Variable) -> bool:
    """Return whether a column is multiplied by a row, and `beta` is 0 or 1."""
    return x.type.shape[1] == 1 and y.type.shape[0] == 1 and isinstance(beta, Constant) and beta.data in (0, 1)


local_gemm_to_gemv = row(
    "local_gemm_to_gemv",
    (one_of(gemm_no_inplace), "z", "alpha", "x", "y", "beta"),
    _product_with_vector,
    each=None,
    why="gemm(z, a, x, y, b) -> gemv(z[0], a, y.T, x[0], b) of a single row, and likewise of a column",
)
local_gemm_to_ger = row(
    "local_gemm_to_ger",
    (one_of(gemm_no_inplace), "z", "alpha", "x", "y", "beta"),
    lambda z, alpha, x, y, beta: ger(times_unless_zero(beta, z), alpha, x.dimshuffle(0), y.dimshuffle(1)),
    _is_outer,
    each=None,
    why="gemm(z, a, x, y, 1) -> ger(z, a, x, y) of a column and a row",
)
local_dot22_to_ger_or_gemv = row(
    "local_dot22_to_ger_or_gemv",
    (one_of(_dot22), "x", "y"),
    _product_of_vectors,
    each=None,
    why="dot22(x, y) -> x * y of a column and a row, and dot(x[0], y) of a single row",
)


# In place


def _in_place(name: str, op: Op, overwriting: Op) -> NodeRewriter:
    """Return the rule that replaces an op by one that overwrites its first input, except shared variables.

    A call that fails must leave shared variables unchanged. In Python, a node that fails may run after one that
    overwrites them. (Native code overwrites them where nothing after it can fail.)
    """

    def rewrite(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
        z = node.inputs[0]
        if z in fgraph.inputs and fgraph.inputs.index(z) in (fgraph.update_mapping or {}).values():
            return None
        try:
            return [overwriting(*node.inputs)]
        except InconsistencyError:
            return None

    rewrite.__name__ = name
    rewrite.__doc__ = f"{op} -> {overwriting}, which adds to a tensor in its memory."
    return node_rewriter([op], inplace=True)(rewrite)


local_inplace_gemm = _in_place("local_inplace_gemm", gemm_no_inplace, gemm_inplace)
local_inplace_gemv = _in_place("local_inplace_gemv", gemv_no_inplace, gemv_inplace)
local_inplace_ger = _in_place("local_inplace_ger", ger, ger_destructive)


@node_rewriter([sub, add])
def local_print_as_we_go_along(fgraph, node):
    """Print each sum and difference that is visited, for debugging; the graph stays as it is."""
    print(node)
    return False


def _walk(name: str, rewriter: NodeRewriter) -> WalkingGraphRewriter:
    walk = _OverProducts(rewriter, failure_callback=WalkingGraphRewriter.warn_inplace)
    walk.name = name
    return walk


_rules_by_op = OpToRewriterTracker()
for _rule in (
    local_dot_to_dot22,
    _local_sum_to_gemm,
    local_dot22_to_dot22scalar,
    local_gemm_to_gemv,
    local_gemm_to_ger,
    local_dot22_to_ger_or_gemv,
):
    _rules_by_op.add_tracker(_rule)


class BlasPasses(SequentialGraphRewriter):
    """The passes in their order."""

    def is_worth_repeating(self, fgraph: FunctionGraph, changed: Sequence[Apply]) -> bool:
        """Return whether a rule applies to these nodes, or to products and sums that read them."""
        kinds = {type(node.op) for node in fgraph.apply_nodes}
        if not any(issubclass(kind, (Dot, BlasOp)) for kind in kinds):
            return False
        pending = list(changed)
        seen = set(pending)
        while pending:
            node = pending.pop()
            if any(rule.transform_tracked(fgraph, node) for rule in _rules_by_op.get_trackers(node.op)):
                return True
            if isinstance(node.op, (Dot, BlasOp, DimShuffle)) or is_elemwise(node, (Neg, Mul)):
                clients = {client for client, _ in fgraph.clients[node.outputs[0]] if isinstance(client, Apply)} - seen
                seen |= clients
                pending += clients
        return False


class BlasDB(SequenceDB):
    """The passes by their names."""

    seq_rewriter_type = BlasPasses


blas_optdb = BlasDB()
blas_optdb.name = "BlasOpt"
blas_optdb.register(
    "local_dot_to_dot22", _walk("local_dot_to_dot22", local_dot_to_dot22), "fast_run", "fast_compile", position=0
)
blas_optdb.register("gemm_optimizer", GemmOptimizer(), "fast_run", position=10)
blas_optdb.register(
    "local_dot22_to_dot22scalar",
    _walk("local_dot22_to_dot22scalar", local_dot22_to_dot22scalar),
    "fast_run",
    position=11,
)
blas_optdb.register(
    "local_gemm_to_gemv",
    _walk(
        "local_gemm_to_gemv", SequentialNodeRewriter(local_gemm_to_gemv, local_gemm_to_ger, local_dot22_to_ger_or_gemv)
    ),
    "fast_run",
    position=15,
)
#: In-place forms of ops whose overwritten operand has no other client.
blas_opt_inplace = InplaceWriter(SequentialNodeRewriter(local_inplace_gemm, local_inplace_gemv, local_inplace_ger))
blas_opt_inplace.name = "blas_opt_inplace"
