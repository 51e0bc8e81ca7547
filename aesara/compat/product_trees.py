"""Functions of Aesara 2.9.4 about products, which rules of this package do not use; see `tensor.rewriting.algebra`.

A tree of products is a pair ``[negative, tree]``, where `tree` is a variable or the list of the
trees of the factors. None in the place of a variable is a factor that is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aesara.graph.nodes import Variable
from aesara.tensor.core.constant_value import get_scalar_constant_value
from aesara.tensor.elementwise.ops import add, exp, mul, neg, sigmoid
from aesara.tensor.exceptions import NotScalarConstantError
from aesara.tensor.rewriting.algebra import Product, opposite_of
from aesara.tensor.rewriting.canonizer import distribute, multiplied_terms
from aesara.tensor.rewriting.helpers import as_dtype, common_value, computed_in, is_elemwise, is_float

#: The numerators and denominators of terms.
Pairs = list[tuple[list[Variable], list[Variable]]]


def is_inverse_pair(node_op: Any, prev_op: Any, inv_pair: tuple[type, type]) -> bool:
    """Return whether two ops are inverse functions.

    Examples
    --------
    >>> from aesara.scalar.basic import Rad2Deg, Deg2Rad
    >>> is_inverse_pair(at.deg2rad.scalar_op, at.rad2deg.scalar_op, (Deg2Rad, Rad2Deg))
    True
    """
    one, two = inv_pair
    return (isinstance(node_op, one) and isinstance(prev_op, two)) or (
        isinstance(node_op, two) and isinstance(prev_op, one)
    )


def is_mul(var: Variable) -> list[Variable] | None:
    """Return the factors of a product; None for other variables.

    Examples
    --------
    >>> x, y, z = at.dvectors("x", "y", "z")
    >>> is_mul(at.mul(x, y, z))
    [x, y, z]
    """
    node = var.owner
    return list(node.inputs) if node is not None and node.op == mul else None


def is_neg(var: Variable) -> Variable | None:
    """``x`` for an expression of the form ``-x`` (also ``-1 * x``); else None."""
    inner = opposite_of(var)
    if inner is not None:
        return inner
    node = var.owner
    if node is not None and node.op == mul and len(node.inputs) >= 2:
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
    if is_elemwise(node) and node.op == exp:
        return negative is not None, node.inputs[0]
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
    """Split variables into constants of one number and the others.

    Parameters
    ----------
    inputs
        The variables.
    elemwise
        Whether elementwise operations on constants are looked into, and what only fills a shape.
    only_process_constants
        Whether only constants themselves count.

    Returns
    -------
    numbers, variables, rest
        The numbers, the variables that are these numbers, and the others.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> scalarconsts_rest([x, at.constant(2.0), at.fill(x, 3.0)])[0]
    [array(2., dtype=float32), array(3., dtype=float32)]
    >>> scalarconsts_rest([x, at.constant(2.0)], only_process_constants=True)[2]
    [x]
    """
    numbers, rest, variables = [], [], []
    for var in inputs:
        try:
            value = get_scalar_constant_value(var, elemwise, only_process_constants)
        except NotScalarConstantError:
            rest.append(var)
        else:
            numbers.append(value)
            variables.append(var)
    return numbers, variables, rest


def is_1pexp(t: Variable, only_process_constants: bool = True) -> tuple[bool, Variable] | None:
    """Return ``(False, x)`` for ``1 + exp(x)``, else None.

    Parameters
    ----------
    t
        The variable that is looked at.
    only_process_constants
        Whether the 1 must be a constant (in any shape), rather than, say, filled with one.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> is_1pexp(1 + at.exp(x))
    (False, x)
    >>> is_1pexp(2 + at.exp(x))
    """
    node = t.owner
    if node is None or node.op != add or len(node.inputs) != 2:
        return None
    for one, other in (node.inputs, node.inputs[::-1]):
        inner = is_exp(other)
        if inner is None or inner[0]:
            continue
        while only_process_constants and one.owner is not None and hasattr(one.owner.op, "new_order"):
            one = one.owner.inputs[0]  # a number that got dimensions is a constant still
        numbers, _, _ = scalarconsts_rest([one], only_process_constants=only_process_constants)
        if numbers and numbers[0] == 1:
            return False, inner[1]
    return None


def parse_mul_tree(root: Variable, may_enter: Callable[[Variable], bool] | None = None) -> list:
    """Return the tree of the products in an expression.

    Parameters
    ----------
    root
        The expression.
    may_enter
        Says of a variable in the expression whether it may be taken apart; by default all may.

    Examples
    --------
    >>> x, y, z = at.dvectors("x", "y", "z")
    >>> parse_mul_tree(x * y)
    [False, [[False, x], [False, y]]]
    >>> parse_mul_tree(-(x * y))
    [True, [[False, x], [False, y]]]
    >>> parse_mul_tree(-x * y)
    [False, [[True, x], [False, y]]]
    >>> parse_mul_tree(-x)
    [True, x]
    >>> parse_mul_tree((x * y) * -z)
    [False, [[False, [[False, x], [False, y]]], [True, z]]]
    """
    result: list = [False, root]
    stack = [result]
    while stack:
        leaf = stack.pop()
        var = leaf[1]
        if may_enter is not None and var is not root and not may_enter(var):
            continue
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


def _bottom_up(tree: list) -> list[list]:
    """All parts of a tree, each after the parts that it consists of."""
    order = [tree]
    for part in order:
        if isinstance(part[1], list):
            order.extend(part[1])
    order.reverse()
    return order


def compute_mul(tree: list) -> Variable:
    """Return the variable that a tree of products represents; the inverse of `parse_mul_tree`.

    Examples
    --------
    >>> x, y = at.dvectors("x", "y")
    >>> aesara.pprint(compute_mul([True, [[False, x], [True, y]]]))
    '(-(x * (-y)))'
    """
    computed: dict[int, Variable] = {}
    for part in _bottom_up(tree):
        negative, inputs = part
        if inputs is None:
            raise AssertionError("A leaf without a variable is computed away: use simplify_mul before compute_mul.")
        if isinstance(inputs, list):
            factors = [computed[id(inner)] for inner in inputs]
            result = factors[0] if len(factors) == 1 else mul(*factors)
        else:
            result = inputs
        computed[id(part)] = neg(result) if negative else result
    return computed[id(tree)]


def simplify_mul(tree: list) -> list:
    """Return an equivalent tree without factors 1 and -1 (leaves of None) and products of one factor.

    Examples
    --------
    >>> x, y = at.dvectors("x", "y")
    >>> simplify_mul([False, [[True, x], [False, None], [False, y]]])
    [False, [[True, x], [False, y]]]
    >>> simplify_mul([False, [[True, None], [False, x]]])
    [True, x]
    """
    simplified: dict[int, list] = {}
    for part in _bottom_up(tree):
        negative, inputs = part
        result = part
        if isinstance(inputs, list):
            kept = []
            for inner in inputs:
                smaller = simplified[id(inner)]
                if smaller[1] is None:
                    negative ^= smaller[0]
                else:
                    kept.append(smaller)
            if not kept:
                result = [negative, None]
            elif len(kept) == 1:
                result = [negative ^ kept[0][0], kept[0][1]]
            else:
                result = [negative, kept]
        simplified[id(part)] = result
    return simplified[id(tree)]


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

    Returns
    -------
    bool
        Whether a leaf was replaced.
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


def perform_sigm_times_exp(
    tree: list,
    exp_x: list | None = None,
    exp_minus_x: list | None = None,
    sigm_x: list | None = None,
    sigm_minus_x: list | None = None,
    parent: list | None = None,
    child_idx: int | None = None,
    full_tree: list | None = None,
) -> bool:
    """``exp(x) * sigmoid(-x)`` -> ``sigmoid(x)``, and ``exp(-x) * sigmoid(x)`` -> ``sigmoid(-x)``.

    Parameters
    ----------
    tree
        A tree of products (see `parse_mul_tree`), which is changed: of the two leaves the first gets the new logistic
        function and both signs, the other None in the place of its variable (see `simplify_mul`).
    exp_x, exp_minus_x, sigm_x, sigm_minus_x
        Pairs of `x` and a leaf of the whole tree, for ``exp(x)``, ``exp(-x)``, ``sigmoid(x)`` and ``sigmoid(-x)``
        that are known already; more are added. None for empty lists.
    parent, child_idx, full_tree
        What `tree` is a part of. They change nothing.

    Returns
    -------
    bool
        Whether something was replaced.

    Examples
    --------
    >>> from aesara.tensor.rewriting.math import compute_mul, simplify_mul
    >>> x, y = at.dvectors("x", "y")
    >>> tree = parse_mul_tree(at.exp(x) * y * at.sigmoid(-x))
    >>> perform_sigm_times_exp(tree)
    True
    >>> aesara.pprint(compute_mul(simplify_mul(tree)))
    '(sigmoid(x) * y)'
    """
    exp_x, exp_minus_x, sigm_x, sigm_minus_x = (
        [] if leaves is None else leaves for leaves in (exp_x, exp_minus_x, sigm_x, sigm_minus_x)
    )
    changed = False
    stack = [tree]
    while stack:
        leaf = stack.pop()
        var = leaf[1]
        if isinstance(var, list):
            stack.extend(reversed(var))
            continue
        if var is None:
            continue
        exponential = is_exp(var)
        new: Callable[[Variable], Variable]
        if exponential is not None and is_float(exponential[1]):
            negative, argument = exponential
            opposite = is_neg(argument)
            if opposite is None:
                x, own, waiting, results, new = argument, exp_x, sigm_minus_x, sigm_x, sigmoid
            else:
                x, own, waiting, results, new = opposite, exp_minus_x, sigm_x, sigm_minus_x, _sigmoid_of_opposite
            if replace_leaf(x, waiting, results, new, negative ^ leaf[0]):
                leaf[:] = [False, None]
                changed = True
            else:
                own.append((x, leaf))
        elif var.owner is not None and var.owner.op == sigmoid:
            (argument,) = var.owner.inputs
            opposite = is_neg(argument)
            if opposite is None:
                x, own, waiting, new = argument, sigm_x, exp_minus_x, _sigmoid_of_opposite
                results = sigm_minus_x
            else:
                x, own, waiting, new = opposite, sigm_minus_x, exp_x, sigmoid
                results = sigm_x
            position = next((i for i, (known, _) in enumerate(waiting) if known is x), None)
            if position is None:
                own.append((x, leaf))
                continue
            _, of_exponential = waiting.pop(position)
            exponential = is_exp(of_exponential[1])
            assert exponential is not None
            of_exponential[0] ^= leaf[0] ^ exponential[0]
            of_exponential[1] = new(x)
            leaf[:] = [False, None]
            results.append((x, of_exponential))
            changed = True
    return changed


def _sigmoid_of_opposite(x: Variable) -> Variable:
    return sigmoid(neg(x))


def distribute_greedy(
    pos_pairs: Pairs, neg_pairs: Pairs, num: list[Variable], denum: list[Variable], out_type: Any, minscore: int = 0
) -> tuple[bool, Pairs, Pairs]:
    """Multiply factors into the terms of a sum if more factors cancel than are added to other terms.

    Parameters
    ----------
    pos_pairs, neg_pairs
        The numerators and denominators of the terms that are added, and subtracted.
    num, denum
        The factors, and those that are divided by.
    out_type
        The type of the result.
    minscore
        How many factors must be saved.

    Returns
    -------
    success, pos_pairs, neg_pairs
    """
    terms = [(sign, Product(*pair)) for sign, pairs in ((1, pos_pairs), (-1, neg_pairs)) for pair in pairs]
    new = multiplied_terms(terms, Product(num, denum), out_type, minscore)
    if new is None:
        return False, pos_pairs, neg_pairs
    pairs = [(term.factors, term.divisors) for _, term in new]
    return True, pairs[: len(pos_pairs)], pairs[len(pos_pairs) :]


def attempt_distribution(
    factor: Variable, num: list[Variable], denum: list[Variable], out_type: Any
) -> tuple[bool, Variable, list[Variable], list[Variable]]:
    """Multiply factors of a product into another factor that is a sum, if that saves factors.

    Parameters
    ----------
    factor
        The sum.
    num, denum
        The other factors, and those that are divided by.
    out_type
        The type of the result.

    Returns
    -------
    changed, new_factor, new_num, new_denum
        `new_num` and `new_denum` hold what stays outside.
    """
    found = distribute(factor, Product(num, denum), out_type())
    return (False, factor, num, denum) if found is None else (True, found[0], found[1].factors, found[1].divisors)


__all__ = [
    "attempt_distribution",
    "compute_mul",
    "distribute_greedy",
    "is_1pexp",
    "is_exp",
    "is_inverse_pair",
    "is_mul",
    "is_neg",
    "parse_mul_tree",
    "partition_num_or_denom",
    "perform_sigm_times_exp",
    "replace_leaf",
    "scalarconsts_rest",
    "simplify_mul",
]
