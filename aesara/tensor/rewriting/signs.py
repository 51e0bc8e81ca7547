"""Signs and absolute values in sums, products and quotients.

The canonical form has the sign in front of a product, or in its constant. What later phases bring about is put into the
form that is computed with the fewest operations. Signs are exact: none of these rules changes a result, except that the
zero that a difference of equal numbers is has no sign.
"""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import LogicVariable, ops
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.ops import abs as at_abs
from aesara.tensor.elementwise.ops import add, mul, neg, square, sub, true_divide
from aesara.tensor.rewriting.helpers import (
    NUMBERS,
    applied,
    as_float,
    common_value,
    computed_in,
    constant_like,
    in_place_of,
    is_complex,
    is_float,
    is_read_once,
    same_dtype,
)
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row

rules = Rules()

#: The absolute value of a product of more factors is not taken apart: nested ones would take quadratic time.
MOST_FACTORS = 8


def _opposite(c: Variable, out: Variable) -> Variable:
    """Return ``-c`` for a number `c`, in the dtype of the result and of as many dimensions as `c`."""
    with np.errstate(all="ignore"):
        opposite = np.negative(np.asarray(common_value(c)).astype(out.type.dtype))
    return constant(opposite.reshape((1,) * c.type.ndim))


def _with_opposite(node: Apply, c: Variable, out: Variable) -> Variable:
    """Return a product or a quotient with ``-c`` in the place of its first operand `c`: the order is left as it is."""
    inputs = list(node.inputs)
    inputs[next(k for k, var in enumerate(inputs) if var is c)] = _opposite(c, out)
    return node.op(*inputs)


def _takes_sign(var: Variable) -> bool:
    """Return whether a variable is a number but 1 and -1: ``-(1 / x)`` is the canonical form of ``(-1) / x``."""
    value = common_value(var)
    return value is not None and all(var.type.broadcastable) and abs(value) != 1


_FACTOR = LogicVariable("c", _takes_sign, NUMBERS)

# A sign with no constant to take it stays as it is: ``neg`` is the canonical form of a factor -1.
local_neg_to_mul = rules.group(
    "local_neg_to_mul",
    row(
        "local_neg_of_multiple",
        (neg, (ops(mul, true_divide, node="inner"), _FACTOR, ...)),
        lambda inner, c, out: _with_opposite(inner, c, out),
        each=None,
        single_client=True,
        why="-(c * x) -> (-c) * x, and -(c / x) -> (-c) / x",
    ),
    row(
        "local_neg_of_multiple_over",
        (neg, (true_divide, (ops(mul, node="product"), _FACTOR, ...), "y")),
        lambda product, c, y, out: true_divide(_with_opposite(product, c, out), y),
        lambda product, out: same_dtype(product.outputs[0], out),
        each=None,
        single_client=True,
        why="-(c * x / y) -> (-c) * x / y",
    ),
    to=(rules.canonicalize,),
)

#: For those who ask for canonical forms alone: no rule here is written for this form.
negation_as_product = row("negation_as_product", (neg, "x"), lambda x, out: mul(constant_like(-1, out), x), each=None)
databases.canonicalize.spellings.append(negation_as_product)

# In graphs that are done: one operation instead of two, and differences.
negative_product_as_product = row(
    "negative_product_as_product",
    (neg, (ops(mul, square, name="f"), "**x")),
    lambda f, x, out: mul(constant_like(-1, out), *(x if f == mul else [*x, *x])),
    lambda out: is_float(out),
    each=None,
    single_client=True,
    why="-(x * y) -> -1 * x * y, and -sqr(x) -> -1 * x * x",
)
negative_term_as_difference = row(
    "negative_term_as_difference",
    (add, LogicVariable("c", lambda var: isinstance(var, Constant), [Constant]), "x"),
    lambda x, c: applied(sub, x, constant(-c.data)),
    lambda c, out: is_float(out) and same_dtype(c, out) and bool(np.all(c.data < 0)),
    each=None,
    why="-5 + x -> x - 5",
)
for _spelling in (negative_product_as_product, negative_term_as_difference):
    rules.into(databases.spellings, _spelling, "fast_run")


local_sub_neg_to_add = row("local_sub_neg_to_add", (sub, "y", (neg, "x")), (add, "y", "x"), same_dtype, each=None)
rules.add(local_sub_neg_to_add, to=(rules.canonicalize, rules.specialize))
local_add_neg_to_sub = rules.specialize(
    row("local_add_neg_to_sub", (add, "y", (neg, "x")), (sub, "y", "x"), same_dtype, each=None)
)
local_neg_div_neg = rules.group(
    "local_neg_div_neg",
    row(
        "local_neg_div_of_neg",
        (neg, (ops(true_divide, node="quotient"), (neg, "x"), "y")),
        (true_divide, "x", "y"),
        lambda x, quotient, out, fgraph: same_dtype(x, out) and is_read_once(quotient, fgraph),
        each=None,
    ),
    row(
        "local_neg_div_by_neg",
        (neg, (ops(true_divide, node="quotient"), "y", (neg, "x"))),
        (true_divide, "y", "x"),
        lambda x, quotient, out, fgraph: same_dtype(x, out) and is_read_once(quotient, fgraph),
        each=None,
    ),
    to=(rules.specialize,),
)
local_abs_lift = rules.canonicalize(
    row(
        "local_abs_lift",
        (at_abs, (ops(mul, true_divide, name="f"), "**x")),
        lambda f, x, out: computed_in(
            out.type.dtype, f, [v if _is_absolute(v) else at_abs(as_float(v, out)) for v in x]
        ),
        # Integers wrap around differently on the two sides.
        lambda x, out: is_float(out) and not any(map(is_complex, x)) and len(x) <= MOST_FACTORS,
        each=None,
        why="|x * y| -> |x| * |y|, and |x / y| -> |x| / |y|: thus they cancel with other factors",
    )
)


def _is_absolute(var: Variable) -> bool:
    node = var.owner
    return node is not None and node.op == at_abs and is_float(var)


@rules.specialize
@node_rewriter([mul, true_divide], operands=[at_abs])
def local_abs_merge(fgraph, node):
    """|x| * |y| -> |x * y|, and |x| / |y| -> |x / y|: undoes `local_abs_lift`.

    Positive constants among the factors go inside as well. A function, since it is about all factors together.
    """
    out = node.outputs[0]
    if not is_float(out):
        return False
    inside, merged = [], 0
    for var in node.inputs:
        if _is_absolute(var) and is_float(var.owner.inputs[0]):
            inside.append(var.owner.inputs[0])
            merged += 1
        elif _is_not_negative(var):
            inside.append(var)
        else:
            return False
    return in_place_of(out, at_abs(computed_in(out.type.dtype, node.op, inside))) if merged > 1 else False


def _is_not_negative(var: Variable) -> bool:
    """Return whether a variable is known to be a number without a sign."""
    value = common_value(var)
    return value is not None and value.dtype.kind in "biuf" and not np.signbit(value)
