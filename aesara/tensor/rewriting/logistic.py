"""The logistic function, recognised in quotients and products.

With ``e = exp(x)``: ``1 / (1 + e)`` is ``sigmoid(-x)``, ``e * sigmoid(-x)`` is ``sigmoid(x)`` and
``1 - sigmoid(x)`` is ``sigmoid(-x)``. None of the right sides can overflow.
"""

from __future__ import annotations

from aesara.graph.nodes import Variable
from aesara.graph.rewriting.basic import rule
from aesara.tensor.elementwise_ops import (
    add,
    exp,
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
from aesara.tensor.rewriting.helpers import has_value, is_float, real_of_same_dtype


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
    exponentials = [v for v in factors if v.owner is not None and v.owner.op == exp and is_float(v.owner.inputs[0])]
    logistics = [v for v in factors if v.owner is not None and v.owner.op == sigmoid]
    if not exponentials or not logistics:
        return factors
    factors = list(factors)
    for exponential in exponentials:
        x = exponential.owner.inputs[0]
        for logistic in logistics:
            if is_negation(x, logistic.owner.inputs[0]):
                _drop(factors, exponential)
                _drop(factors, logistic)
                _drop(logistics, logistic)
                factors.append(sigmoid(x))
                break
    return factors


def _drop(variables: list[Variable], var: Variable) -> None:
    del variables[next(i for i, v in enumerate(variables) if v is var)]


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
    rule("log1p_neg_sigmoid", (log1p, (neg, (sigmoid, "x"))), lambda x: neg(softplus(x)), real_of_same_dtype),
    rule("logit_of_sigmoid", (logit, (sigmoid, "x")), lambda x: x, real_of_same_dtype),
    rule("sigmoid_of_logit", (sigmoid, (logit, "x")), lambda x: x, real_of_same_dtype),
    rule(
        "local_logit_sigmoid",
        (log, (true_divide, (sigmoid, "x"), (sigmoid, (neg, "x")))),
        lambda x: x,
        real_of_same_dtype,
    ),
    rule(
        "local_sigmoid_logit",
        (sigmoid, (log, (true_divide, "x", (sub, 1, "x")))),
        lambda x: x,
        real_of_same_dtype,
    ),
)
