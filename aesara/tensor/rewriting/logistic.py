"""The logistic function, recognised in quotients and products.

With ``e = exp(x)``: ``1 / (1 + e)`` is ``sigmoid(-x)``, ``e * sigmoid(-x)`` is ``sigmoid(x)`` and
``1 - sigmoid(x)`` is ``sigmoid(-x)``. None of the right sides can overflow.
"""

from __future__ import annotations

from collections.abc import Callable

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.elementwise.ops import (
    add,
    and_,
    exp,
    le,
    log,
    log1p,
    logit,
    mul,
    neg,
    reciprocal,
    sigmoid,
    softplus,
    sub,
    true_divide,
)
from aesara.tensor.rewriting.helpers import (
    common_value,
    computed_in,
    has_value,
    in_place_of,
    is_float,
    real_of_same_dtype,
    where_or_nan,
)
from aesara.tensor.rewriting.multrees import (
    is_exp,
    is_neg,
    parse_mul_tree,
    replace_leaf,
)
from aesara.tensor.rewriting.registration import Rules

rules = Rules()


def negated(x: Variable) -> Variable:
    """``-x``, as simple as possible."""
    node = x.owner
    if node is not None and node.op == neg:
        return node.inputs[0]
    return neg(x)


def is_negation(x: Variable, y: Variable) -> bool:
    """Whether ``x == -y`` is plain to see."""
    one, two = x.owner, y.owner
    if one is not None and one.op == neg and one.inputs[0] is y:
        return True
    if two is not None and two.op == neg and two.inputs[0] is x:
        return True
    if one is None or two is None or not one.op == two.op == sub:
        return False
    return one.inputs[0] is two.inputs[1] and one.inputs[1] is two.inputs[0]


def argument_of_one_plus_exp(var: Variable) -> Variable | None:
    """``x`` for ``1 + exp(x)``, else None."""
    node = var.owner
    if node is None or node.op != add or len(node.inputs) != 2 or not is_float(var):
        return None
    for one, other in (node.inputs, node.inputs[::-1]):
        inner = other.owner
        if inner is None or inner.op != exp or inner.inputs[0].type.dtype != var.type.dtype:
            continue
        # The shape must be that of the exponential.
        if has_value(one, 1) and other.type.broadcastable == var.type.broadcastable:
            return inner.inputs[0]
    return None


def simplify_logistic(
    numerators: list[Variable], denominators: list[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """Put the logistic function in place of what makes it up, in the factors of a product."""
    rest = []
    found = []
    for denominator in denominators:
        x = argument_of_one_plus_exp(denominator)
        if x is None:
            rest.append(denominator)
        else:
            found.append(sigmoid(negated(x)))
    numerators = [*numerators, *found] if found else numerators
    return _with_exponentials_absorbed(numerators), rest


def _with_exponentials_absorbed(factors: list[Variable]) -> list[Variable]:
    """``exp(x) * sigmoid(-x)`` as ``sigmoid(x)``."""
    applied = [(v, v.owner) for v in factors if v.owner is not None]
    exponentials = [(v, node.inputs[0]) for v, node in applied if node.op == exp and is_float(node.inputs[0])]
    logistics = [(v, node.inputs[0]) for v, node in applied if node.op == sigmoid]
    if not exponentials or not logistics:
        return factors
    factors = list(factors)
    for exponential, x in exponentials:
        times, x = _whole_multiple(x)
        with_opposite = [k for k, (_, argument) in enumerate(logistics) if is_negation(x, argument)]
        if times > 1 and len(with_opposite) >= times:
            _drop(factors, exponential)
            for k in with_opposite[:times]:
                _drop(factors, logistics[k][0])
            logistics = [pair for k, pair in enumerate(logistics) if k not in with_opposite[:times]]
            factors.extend([sigmoid(x)] * times)
            continue
        for k, (logistic, argument) in enumerate(logistics):
            if times == 1 and is_negation(x, argument):
                _drop(factors, exponential)
                _drop(factors, logistic)
                del logistics[k]
                factors.append(sigmoid(x))
                break
    return factors


def _whole_multiple(x: Variable) -> tuple[int, Variable]:
    """``2, x`` for ``2 * x``, and 1 beside what is no multiple by a small whole number."""
    node = x.owner
    if node is not None and node.op == mul and len(node.inputs) == 2:
        for number, other in (node.inputs, node.inputs[::-1]):
            value = common_value(number)
            if value is not None and value in (2, 3, 4) and other.type == x.type:
                return int(value), other
    return 1, x


def _drop(variables: list[Variable], var: Variable) -> None:
    del variables[next(i for i, v in enumerate(variables) if v is var)]


def where_probability(x: Variable, out: Variable) -> Variable:
    """`x` from 0 to 1, where it has a logit, and NaN elsewhere."""
    return where_or_nan(and_(le(0, x), le(x, 1)), x, out)


ONE_PLUS_EXP = (add, 1, (exp, "x"))

LOGISTIC_RULES = (
    rule(
        "local_reciprocal_1_plus_exp",
        (reciprocal, ONE_PLUS_EXP),
        lambda x: sigmoid(negated(x)),
        real_of_same_dtype,
    ),
    rule(
        "local_exp_over_1_plus_exp",
        (true_divide, (exp, "x"), ONE_PLUS_EXP),
        lambda x: sigmoid(x),
        real_of_same_dtype,
    ),
    rule(
        "local_one_over_1_plus_exp",
        (true_divide, 1, ONE_PLUS_EXP),
        lambda x: sigmoid(negated(x)),
        real_of_same_dtype,
    ),
    rule(
        "local_x_over_1_plus_exp",
        (true_divide, "y", ONE_PLUS_EXP),
        lambda x, y: mul(y, sigmoid(negated(x))),
        real_of_same_dtype,
    ),
    rule("local_1msigmoid", (sub, 1, (sigmoid, "x")), lambda x: sigmoid(negated(x)), real_of_same_dtype),
    rule(
        "logsigm_to_softplus",
        (log, (sigmoid, "x")),
        lambda x: neg(softplus(negated(x))),
        real_of_same_dtype,
    ),
    rule(
        "log1msigm_to_softplus",
        (log, (sub, 1, (sigmoid, "x"))),
        lambda x: neg(softplus(x)),
        real_of_same_dtype,
    ),
    rule("log1p_neg_sigmoid", (log1p, (neg, (sigmoid, "x"))), lambda x: neg(softplus(x)), real_of_same_dtype),
    rule("logit_of_sigmoid", (logit, (sigmoid, "x")), lambda x: x, real_of_same_dtype),
    rule("sigmoid_of_logit", (sigmoid, (logit, "x")), where_probability, real_of_same_dtype),
    rule("logit_of_complement", (logit, (sub, 1, "x")), lambda x: neg(logit(x)), real_of_same_dtype),
    rule(
        "local_logit_sigmoid",
        (log, (true_divide, (sigmoid, "x"), (sigmoid, (neg, "x")))),
        lambda x: x,
        real_of_same_dtype,
    ),
    rule(
        "local_sigmoid_logit",
        (sigmoid, (log, (true_divide, "x", (sub, 1, "x")))),
        where_probability,
        real_of_same_dtype,
    ),
)


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
    """Replace ``exp(x) * sigmoid(-x)`` by ``sigmoid(x)``, and ``exp(-x) * sigmoid(x)`` by ``sigmoid(-x)``.

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
            of_exponential[0] ^= leaf[0] ^ is_exp(of_exponential[1])[0]  # type: ignore[index]
            of_exponential[1] = new(x)
            leaf[:] = [False, None]
            results.append((x, of_exponential))
            changed = True
    return changed


def _sigmoid_of_opposite(x: Variable) -> Variable:
    return sigmoid(neg(x))


@rules.stabilize
@node_rewriter([mul], operands=[exp, sigmoid, mul, neg])
def local_sigm_times_exp(fgraph, node):
    """``exp(x) * sigmoid(-x)`` as ``sigmoid(x)`` and ``exp(-x) * sigmoid(x)`` as ``sigmoid(-x)``, in a product.

    The canonical form of products has it done already, except for what other rules put there.
    """
    out = node.outputs[0]
    dtype = out.type.dtype
    clients = fgraph.clients
    users = clients[out]
    if len(users) == 1 and isinstance(users[0][0], Apply) and users[0][0].op in (mul, neg):
        if users[0][0].outputs[0].type.dtype == dtype:
            return False  # done there, for the whole product
    tree = parse_mul_tree(out, lambda var: len(clients[var]) == 1 and var.type.dtype == dtype)
    if not perform_sigm_times_exp(tree):
        return False
    negative, factors = _flattened(tree)
    product = factors[0] if len(factors) == 1 else computed_in(dtype, mul, factors)
    return in_place_of(out, neg(product) if negative else product, node.inputs)


def _flattened(tree: list) -> tuple[bool, list[Variable]]:
    """Whether a product is to be negated, and all of its factors."""
    negative, factors = False, []
    stack = [tree]
    while stack:
        of_part, part = stack.pop()
        negative ^= of_part
        if isinstance(part, list):
            stack.extend(reversed(part))
        elif part is not None:
            factors.append(part)
    return negative, factors
