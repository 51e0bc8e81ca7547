"""Products as trees, and questions about the form of an expression.

A tree of products is a pair ``[negative, tree]``, where `tree` is a variable or the list of the
trees of the factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aesara.graph.nodes import Variable
from aesara.tensor.elementwise_ops import add, exp, mul, neg, sub
from aesara.tensor.elemwise import Elemwise
from aesara.tensor.rewriting.helpers import as_dtype, common_value, computed_in, is_elemwise


def is_inverse_pair(node_op: Any, prev_op: Any, inv_pair: tuple[type, type]) -> bool:
    """Whether two ops, one applied after the other, are a pair of inverse functions."""
    one, two = inv_pair
    return (isinstance(node_op, one) and isinstance(prev_op, two)) or (
        isinstance(node_op, two) and isinstance(prev_op, one)
    )


def is_mul(var: Variable) -> list[Variable] | None:
    """The factors of a product; None for what is no product."""
    node = var.owner
    return list(node.inputs) if node is not None and node.op == mul else None


def is_neg(var: Variable) -> Variable | None:
    """``x`` for an expression of the form ``-x`` (also ``-1 * x``); else None."""
    node = var.owner
    if node is None:
        return None
    if node.op == neg:
        return node.inputs[0]
    if node.op == mul and len(node.inputs) >= 2:
        dtype = var.type.dtype
        for i, factor in enumerate(node.inputs):
            value = common_value(factor)
            if value is not None and value == -1:
                others = [v for k, v in enumerate(node.inputs) if k != i]
                return as_dtype(others[0], dtype) if len(others) == 1 else computed_in(dtype, mul, others)
    return None


def is_exp(var: Variable) -> tuple[bool, Variable] | None:
    """``(False, x)`` for ``exp(x)``, ``(True, x)`` for ``-exp(x)``, else None."""
    negative = is_neg(var)
    inner = var if negative is None else negative
    node = inner.owner
    if is_elemwise(node) and node.op == exp:  # type: ignore[union-attr]
        return negative is not None, node.inputs[0]  # type: ignore[union-attr]
    return None


def partition_num_or_denom(r: Sequence[Variable], f: Callable[[Variable], Any]) -> tuple[list, list, list]:
    """Three lists: what `f` says of the variables for which it says something, whether negated,
    and the other variables."""
    if isinstance(r, Variable) and r.owner is not None and r.owner.op == mul:
        r = list(r.owner.inputs)
    elif isinstance(r, Variable):
        r = [r]
    found, rest, negated = [], [], []
    for var in r:
        result = f(var)
        if result is None:
            rest.append(var)
        else:
            negated.append(result[0])
            found.append(result[1])
    return found, rest, negated


def scalarconsts_rest(
    inputs: Sequence[Variable], elemwise: bool = True, only_process_constants: bool = False
) -> tuple[list[Any], list[Variable], list[Variable]]:
    """The numbers among some variables, the variables that are numbers, and the others."""
    numbers, rest, variables = [], [], []
    for var in inputs:
        value = common_value(var)
        if value is None:
            rest.append(var)
        else:
            numbers.append(value)
            variables.append(var)
    return numbers, variables, rest


def is_1pexp(t: Variable, only_process_constants: bool = True) -> tuple[bool, Variable] | None:
    """``(False, x)`` for ``1 + exp(x)``, ``(True, x)`` for ``1 - exp(x)``, else None."""
    node = t.owner
    if node is None or not isinstance(node.op, Elemwise):
        return None
    if node.op == sub:
        value = common_value(node.inputs[0])
        inner = is_exp(node.inputs[1])
        if value is not None and value == 1 and inner is not None:
            return not inner[0], inner[1]
        return None
    if node.op != add or len(node.inputs) != 2:
        return None
    for one, other in (node.inputs, node.inputs[::-1]):
        value = common_value(one)
        inner = is_exp(other)
        if value is not None and value == 1 and inner is not None:
            return inner
    return None


def parse_mul_tree(root: Variable) -> list:
    """The tree of the products in an expression.

    Examples
    --------
    ``x * y`` gives ``[False, [[False, x], [False, y]]]`` and ``-x`` gives ``[True, x]``.
    """
    result: list = [False, root]
    stack = [result]
    while stack:
        leaf = stack.pop()
        var = leaf[1]
        factors = is_mul(var)
        if factors is not None:
            leaf[1] = [[False, factor] for factor in factors]
            stack.extend(leaf[1])
            continue
        inner = is_neg(var)
        if inner is not None:
            leaf[0] = not leaf[0]
            leaf[1] = inner
            stack.append(leaf)
    return result


def compute_mul(tree: list) -> Variable:
    """The variable that a tree of products stands for; the inverse of `parse_mul_tree`."""
    negative, inputs = tree
    if inputs is None:
        raise AssertionError("A leaf without a variable is computed away: use simplify_mul before compute_mul.")
    if isinstance(inputs, list):
        factors = [compute_mul(inner) for inner in inputs]
        result = factors[0] if len(factors) == 1 else mul(*factors)
    else:
        result = inputs
    return neg(result) if negative else result


def simplify_mul(tree: list) -> list:
    """A tree that computes the same, without factors 1 and -1 (the leaves of None)."""
    negative, inputs = tree
    if not isinstance(inputs, list):
        return tree
    kept = []
    for inner in inputs:
        inner_negative, leaf = simplify_mul(inner)
        if inner_negative:
            negative = not negative
        if leaf is not None:
            kept.append([False, leaf])
    if not kept:
        return [negative, None]
    if len(kept) == 1:
        return [negative, kept[0][1]]
    return [negative, kept]


def replace_leaf(arg: Variable, leaves: list, new_leaves: list, op: Callable, neg: bool) -> bool:
    """Replace the leaf with argument `arg`, if there is one, by ``op(arg)``.

    Parameters
    ----------
    arg
        The argument that is searched for.
    leaves
        Pairs of an argument and a leaf; the one found is removed.
    new_leaves
        Gets the pair of `arg` and the new leaf.
    op
        Makes the new leaf's variable of the argument.
    neg
        Whether the sign of the leaf is swapped.
    """
    for i, (x, leaf) in enumerate(leaves):
        if x is arg:
            leaf[1] = op(arg)
            if neg:
                leaf[0] = not leaf[0]
            new_leaves.append((arg, leaf))
            del leaves[i]
            return True
    return False


__all__ = [
    "compute_mul",
    "is_1pexp",
    "is_exp",
    "is_inverse_pair",
    "is_mul",
    "is_neg",
    "parse_mul_tree",
    "partition_num_or_denom",
    "replace_leaf",
    "scalarconsts_rest",
    "simplify_mul",
]
