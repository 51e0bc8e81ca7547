"""Recognition of the logistic function in quotients and products.

With ``e = exp(x)``: ``1 / (1 + e)`` is ``sigmoid(-x)``, ``e * sigmoid(-x)`` is ``sigmoid(x)`` and
``1 - sigmoid(x)`` is ``sigmoid(-x)``. None of these functions overflows.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.graph.rewriting.basic import node_rewriter, rule
from aesara.tensor.elementwise import ops, special
from aesara.tensor.rewriting.algebra import Product, Reading, are_opposite, multiple, opposite
from aesara.tensor.rewriting.helpers import (
    has_value,
    in_place_of,
    is_float,
    output_of,
    real_of_same_dtype,
    where_or_nan,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()


def argument_of_one_plus_exp(var: Variable) -> Variable | None:
    """Return ``x`` of ``1 + exp(x)``, else None."""
    node = var.owner
    if node is None or node.op != ops.add or len(node.inputs) != 2 or not is_float(var):
        return None
    for number, exponential in (node.inputs, node.inputs[::-1]):
        inner = exponential.owner
        if inner is None or inner.op != ops.exp or inner.inputs[0].type.dtype != var.type.dtype:
            continue
        # The exponential must have the shape of the sum.
        if has_value(number, 1) and exponential.type.broadcastable == var.type.broadcastable:
            return inner.inputs[0]
    return None


def simplify_logistic(product: Product) -> Product:
    """``1 / (1 + exp(x)) -> sigmoid(-x)`` in a product"""
    arguments = [argument_of_one_plus_exp(v) for v in product.divisors]
    logistics = [ops.sigmoid(opposite(x)) for x in arguments if x is not None]
    divisors = [v for v, x in zip(product.divisors, arguments) if x is None]
    return Product(with_exponentials_absorbed([*product.factors, *logistics]), divisors)


def with_exponentials_absorbed(factors: Sequence[Variable]) -> list[Variable]:
    """``exp(x) * sigmoid(-x) -> sigmoid(x)`` and ``exp(n*x) * sigmoid(-x)**n -> sigmoid(x)**n``, among factors."""
    remaining = list(factors)
    logistics = [(v, node.inputs[0]) for v in factors if (node := output_of(v, ops.sigmoid)) is not None]
    for var in factors if logistics else ():
        exponential = output_of(var, ops.exp)
        if exponential is None or not is_float(exponential.inputs[0]):
            continue
        (exponent,) = exponential.inputs
        number, base = multiple(exponent)
        multiples = [(exponent, 1), (base, int(number))] if number in WHOLE else [(exponent, 1)]
        for x, times in multiples:
            absorbing = [pair for pair in logistics if are_opposite(x, pair[1])][:times]
            if x.type == exponent.type and len(absorbing) == times:
                remaining.remove(var)
                for pair in absorbing:
                    remaining.remove(pair[0])
                    logistics.remove(pair)
                remaining.extend([ops.sigmoid(x)] * times)
                break
    return remaining


def where_probability(x: Variable, out: Variable) -> Variable:
    """Return `x` from 0 to 1, where its logit is defined, and NaN elsewhere."""
    return where_or_nan(ops.and_(ops.le(0, x), ops.le(x, 1)), x, out)


#: Multiples of an exponent for which as many logistic functions absorb the exponential.
WHOLE = (2, 3, 4)
#: All factors of a product with its sign, however many there are.
WHOLE_PRODUCT = Reading(signs=True, most=1 << 30)

ONE_PLUS_EXP = (ops.add, 1, (ops.exp, "x"))

LOGISTIC_RULES = (
    row("local_reciprocal_1_plus_exp", (ops.reciprocal, ONE_PLUS_EXP), lambda x: ops.sigmoid(opposite(x))),
    row("local_exp_over_1_plus_exp", (ops.true_divide, (ops.exp, "x"), ONE_PLUS_EXP), (ops.sigmoid, "x")),
    row("local_one_over_1_plus_exp", (ops.true_divide, 1, ONE_PLUS_EXP), lambda x: ops.sigmoid(opposite(x))),
    rule(
        "local_x_over_1_plus_exp",
        (ops.true_divide, "y", ONE_PLUS_EXP),
        lambda x, y: ops.mul(y, ops.sigmoid(opposite(x))),
        real_of_same_dtype,
    ),
    row("local_1msigmoid", (ops.sub, 1, (ops.sigmoid, "x")), lambda x: ops.sigmoid(opposite(x))),
    row("logsigm_to_softplus", (ops.log, (ops.sigmoid, "x")), lambda x: ops.neg(ops.softplus(opposite(x)))),
    row("log1msigm_to_softplus", (ops.log, (ops.sub, 1, (ops.sigmoid, "x"))), lambda x: ops.neg(ops.softplus(x))),
    row("log1p_neg_sigmoid", (ops.log1p, (ops.neg, (ops.sigmoid, "x"))), lambda x: ops.neg(ops.softplus(x))),
    row("logit_of_sigmoid", (special.logit_, (ops.sigmoid, "x")), lambda x: x),
    row("sigmoid_of_logit", (ops.sigmoid, (special.logit_, "x")), where_probability),
    row("logit_of_complement", (special.logit_, (ops.sub, 1, "x")), lambda x: ops.neg(special.logit_(x))),
    row(
        "local_logit_sigmoid",
        (ops.log, (ops.true_divide, (ops.sigmoid, "x"), (ops.sigmoid, (ops.neg, "x")))),
        lambda x: x,
    ),
    row("local_sigmoid_logit", (ops.sigmoid, (ops.log, (ops.true_divide, "x", (ops.sub, 1, "x")))), where_probability),
)


@rules.stabilize
@node_rewriter([ops.mul], operands=[ops.exp, ops.sigmoid, ops.mul, ops.neg])
def local_sigm_times_exp(fgraph, node):
    """``exp(x) * sigmoid(-x) -> sigmoid(x)`` in a product that other rules have built after its canonical form"""
    out = node.outputs[0]
    clients = fgraph.clients
    users = clients[out]
    if len(users) == 1 and isinstance(users[0][0], Apply) and users[0][0].op in (ops.mul, ops.neg):
        if users[0][0].outputs[0].type.dtype == out.type.dtype:
            return False  # the client handles the whole product
    product = Product.read(out, WHOLE_PRODUCT, lambda var: var is out or len(clients[var]) == 1)
    factors = with_exponentials_absorbed(product.factors)
    if factors == product.factors:
        return False
    product.factors = factors
    return in_place_of(out, product.build(out), node.inputs)
