"""Rules about reductions along axes."""

from __future__ import annotations

import typing
from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import ops
from aesara.tensor.core.casting import cast
from aesara.tensor.elementwise.ops import mul, neg, true_divide
from aesara.tensor.reductions.all_any import All, Any
from aesara.tensor.reductions.sum_prod_max import Max, Min, Prod, Sum
from aesara.tensor.rewriting.helpers import as_float, combined_in, in_place_of, is_float, is_read_once, same_dtype
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()

REDUCTIONS = (Sum, Prod, Max, Min, All, Any)


def axes_of(op: typing.Any, ndim: int) -> tuple[int, ...]:
    """Return the axes along which a reduction goes in a tensor of some number of dimensions."""
    return tuple(range(ndim)) if op.axis is None else tuple(op.axis)


def reduced_axes(node) -> tuple[int, ...]:
    """Return the axes that a reduction goes along."""
    return axes_of(node.op, node.inputs[0].type.ndim)


def with_axes(op, axes: Sequence[int] | None):
    """Return the same reduction along other axes."""
    if axes is not None:
        return op.clone(axis=tuple(axes))
    if isinstance(op, (Sum, Prod)):
        return type(op)(axis=None, dtype=op.dtype, acc_dtype=op.acc_dtype)
    return type(op)(axis=None)


def is_number(var: Variable) -> bool:
    """Return whether a tensor has one element, whatever its number of dimensions."""
    return all(var.type.broadcastable)


def as_number(var: typing.Any, like: Variable) -> Variable:
    """Return a tensor of one element with as many dimensions as another tensor."""
    if var.type.ndim:
        var = var.dimshuffle()
    return var.dimshuffle(*["x"] * like.type.ndim) if like.type.ndim else var


def _keeps_numbers(node: Apply, out: Variable) -> bool:
    """Return whether a node gives the dtype of a result, and not Booleans, which less is known from than numbers."""
    return node.outputs[0].type.dtype == out.type.dtype != "bool"


def _is_scalable(product: Apply, out: Variable) -> bool:
    """Return whether a sum may be scaled rather than its terms.

    Integers that the sum widens could wrap around at another place, and a sum in float16 of terms that are not scaled
    down yet would often be infinite.
    """
    return _keeps_numbers(product, out) and out.type.dtype != "float16"


local_sum_prod_mul_by_scalar = rules.group(
    "local_sum_prod_mul_by_scalar",
    row("local_sum_of_opposite", (ops(Sum, name="f"), (neg, "x")), (neg, ("f", "x")), same_dtype, each=None),
    row(
        "local_sum_of_multiple",
        (ops(Sum, name="f"), (ops(mul, node="product"), "**x")),
        lambda f, x, out: mul(
            *(as_number(v, out) for v in x if is_number(v)),
            f(combined_in(out.type.dtype, mul, [v for v in x if not is_number(v)])),
        ),
        lambda product, x, out: _is_scalable(product, out) and 0 < sum(map(is_number, x)) < len(x),
        each=None,
        why="sum(c * x) -> c * sum(x), for numbers c",
    ),
    row(
        "local_sum_of_fraction",
        (ops(Sum, name="f"), (ops(true_divide, node="quotient"), "x", "c")),
        lambda f, x, c, out: true_divide(f(as_float(x, out)), as_number(c, out)),
        lambda quotient, x, c, out: is_float(out) and _is_scalable(quotient, out) and is_number(c) and not is_number(x),
        each=None,
        why="sum(x / c) -> sum(x) / c, for a number c",
    ),
    to=(rules.canonicalize, rules.specialize),
)
local_sum_prod_all_to_none = rules.canonicalize(
    row(
        "local_sum_prod_all_to_none",
        (ops(*REDUCTIONS, name="f", axis=lambda axis: axis), "x"),
        lambda f, x: with_axes(f, None)(x),
        lambda f, x: len(f.axis) == x.type.ndim,
        each=None,
        why="sum(x, axis=(0, 1)) -> sum(x, axis=None) for a matrix, and so for all axes, and other reductions",
    )
)


def _reduced_once(f: typing.Any, g: typing.Any, x: Variable) -> Variable:
    """Return ``f(g(x))``, for two reductions of one kind, as a reduction along the axes of both."""
    first = axes_of(g, x.type.ndim)
    kept = [i for i in range(x.type.ndim) if i not in first]
    axes = sorted([*first, *(kept[i] for i in axes_of(f, len(kept)))])
    return (g if len(axes) == len(first) else with_axes(g, axes))(x)


local_op_of_op = rules.canonicalize(
    row(
        "local_op_of_op",
        (ops(*REDUCTIONS, name="f"), (ops(*REDUCTIONS, name="g", node="inner"), "x")),
        _reduced_once,
        lambda f, g, inner, out: (
            type(f) is type(g)
            and (not isinstance(f, (Sum, Prod)) or (f.acc_dtype == g.acc_dtype and _keeps_numbers(inner, out)))
        ),
        each=None,
        single_client=True,
        why="sum(sum(x, axis=0), axis=0) -> sum(x, axis=(0, 1)), and so for other reductions",
    )
)


@rules.useless("local_useless_reduce", "local_cut_useless_reduce")
@rules.canonicalize("local_useless_reduce", "local_cut_useless_reduce")
@rules.specialize("local_useless_reduce", "local_cut_useless_reduce")
@node_rewriter(REDUCTIONS)
def local_reduce_broadcastable(fgraph, node):
    """Rewrite a reduction along axes of length one to one that drops these; with no others, it is a cast.

    A function, since the axes that are left decide what takes its place.
    """
    out = node.outputs[0]
    (x,) = node.inputs
    axes = reduced_axes(node)
    single = [axis for axis in axes if x.type.shape[axis] == 1]
    if axes and not single:
        return False
    if isinstance(node.op, (All, Any)) and x.type.dtype != "bool":
        return False
    kept = [i for i in range(x.type.ndim) if i not in single]
    smaller = x.dimshuffle(*kept) if single else x
    left = [kept.index(axis) for axis in axes if axis not in single]
    return in_place_of(out, with_axes(node.op, left)(smaller) if left else cast(smaller, out.type.dtype))


def _opposite(name: str, of: type[Max | Min], other: type[Max | Min]):
    """Return the row that makes the other extremum of the opposite of an extremum of opposites."""
    return row(
        name,
        (neg, (ops(of, axis="axis", node="extremum"), (neg, "x"))),
        lambda x, axis: other(axis)(x),
        lambda extremum, fgraph: is_read_once(extremum, fgraph),
        why=f"-{of.__name__.lower()}(-x) -> {other.__name__.lower()}(x)",
    )


local_max_to_min = rules.uncanonicalize(_opposite("local_max_to_min", Max, Min))
local_min_to_max = rules.uncanonicalize(_opposite("local_min_to_max", Min, Max))
