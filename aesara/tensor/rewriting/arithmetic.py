"""Rules of elementary arithmetic: signs, absolute values, quotients and comparisons.

The canonical form has the sign in front of a product, or in its constant factor. Later phases use the form with the
fewest operations. Rules about signs are exact, except for the sign of the zero that is the difference of equal numbers.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import LogicVariable, one_of
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise import ops
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.algebra import opposite_of
from aesara.tensor.rewriting.canonizer import local_add_canonizer, local_greedy_distributor, local_mul_canonizer
from aesara.tensor.rewriting.helpers import (
    NUMBERS,
    apply_or_none,
    as_dtype,
    as_float,
    combined_in,
    common_value,
    computed_in,
    constant_in_place_of,
    constant_like,
    dtype_of,
    has_value,
    in_place_of,
    is_complex,
    is_float,
    is_integer,
    is_read_once,
    same_dtype,
)
from aesara.tensor.rewriting.known_infinities import has_infinities, is_zero_or_nan
from aesara.tensor.rewriting.logistic import LOGISTIC_RULES, simplify_logistic
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import number, row
from aesara.tensor.rewriting.wide_products import is_wide
from aesara.tensor.rewriting.written_order import keeps_order
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape_i

rules = Rules()

#: The absolute values of products of more factors stay: those of nested products would take quadratic time.
MOST_FACTORS = 8


def _opposite(c: Variable, out: Variable) -> Variable:
    """Return ``-c`` for a number `c`, in the dtype of the result and with the dimensions of `c`."""
    with np.errstate(all="ignore"):
        opposite = np.negative(np.asarray(common_value(c)).astype(out.type.dtype))
    return constant(opposite.reshape((1,) * c.type.ndim))


def _with_negated_operand(node: Apply, c: Variable, out: Variable) -> Variable:
    """Return a product or quotient with its operand `c` replaced by ``-c``."""
    inputs = list(node.inputs)
    inputs[next(k for k, var in enumerate(inputs) if var is c)] = _opposite(c, out)
    return node.op(*inputs)


def _takes_sign(var: Variable) -> bool:
    """Return whether a variable is a number other than 1 and -1: ``-(1 / x)`` is the canonical form of ``(-1) / x``."""
    value = common_value(var)
    return value is not None and all(var.type.broadcastable) and abs(value) != 1


_FACTOR = LogicVariable("c", _takes_sign, NUMBERS)

# Without a constant factor the sign stays: ``neg`` is the canonical form of a factor -1.
local_neg_to_mul = rules.group(
    "local_neg_to_mul",
    row(
        "local_neg_of_multiple",
        (ops.neg, (one_of(ops.mul, ops.true_divide, node="inner"), _FACTOR, ...)),
        lambda inner, c, out: _with_negated_operand(inner, c, out),
        each=None,
        single_client=True,
        why="-(c * x) -> (-c) * x, and -(c / x) -> (-c) / x",
    ),
    row(
        "local_neg_of_multiple_over",
        (ops.neg, (ops.true_divide, (one_of(ops.mul, node="product"), _FACTOR, ...), "y")),
        lambda product, c, y, out: ops.true_divide(_with_negated_operand(product, c, out), y),
        lambda product, out: same_dtype(product.outputs[0], out),
        each=None,
        single_client=True,
        why="-(c * x / y) -> (-c) * x / y",
    ),
    to=(rules.canonicalize,),
)

#: For users who apply canonical forms only: no rule of this package matches this form.
negation_as_product = row(
    "negation_as_product", (ops.neg, "x"), lambda x, out: ops.mul(constant_like(-1, out), x), each=None
)
databases.canonicalize.spellings.append(negation_as_product)

# At the end of rewriting: one operation instead of two, and differences.
negative_product_as_product = row(
    "negative_product_as_product",
    (ops.neg, (one_of(ops.mul, ops.square, name="f"), "**x")),
    lambda f, x, out: ops.mul(constant_like(-1, out), *(x if f == ops.mul else [*x, *x])),
    lambda out: is_float(out),
    each=None,
    single_client=True,
    why="-(x * y) -> -1 * x * y, and -sqr(x) -> -1 * x * x",
)
negative_term_as_difference = row(
    "negative_term_as_difference",
    (ops.add, LogicVariable("c", lambda var: isinstance(var, Constant), [Constant]), "x"),
    lambda x, c: apply_or_none(ops.sub, x, constant(-c.data)),
    lambda c, out: is_float(out) and same_dtype(c, out) and bool(np.all(c.data < 0)),
    each=None,
    why="-5 + x -> x - 5",
)
for _spelling in (negative_product_as_product, negative_term_as_difference):
    rules.into(databases.spellings, _spelling, "fast_run")


local_sub_neg_to_add = row(
    "local_sub_neg_to_add", (ops.sub, "y", (ops.neg, "x")), (ops.add, "y", "x"), same_dtype, each=None
)
rules.add(local_sub_neg_to_add, to=(rules.canonicalize, rules.specialize))
local_add_neg_to_sub = rules.specialize(
    row("local_add_neg_to_sub", (ops.add, "y", (ops.neg, "x")), (ops.sub, "y", "x"), same_dtype, each=None)
)
local_neg_div_neg = rules.group(
    "local_neg_div_neg",
    row(
        "local_neg_div_of_neg",
        (ops.neg, (one_of(ops.true_divide, node="quotient"), (ops.neg, "x"), "y")),
        (ops.true_divide, "x", "y"),
        lambda x, quotient, out, fgraph: same_dtype(x, out) and is_read_once(quotient, fgraph),
        each=None,
    ),
    row(
        "local_neg_div_by_neg",
        (ops.neg, (one_of(ops.true_divide, node="quotient"), "y", (ops.neg, "x"))),
        (ops.true_divide, "y", "x"),
        lambda x, quotient, out, fgraph: same_dtype(x, out) and is_read_once(quotient, fgraph),
        each=None,
    ),
    to=(rules.specialize,),
)
local_abs_lift = rules.canonicalize(
    row(
        "local_abs_lift",
        (ops.abs, (one_of(ops.mul, ops.true_divide, name="f"), "**x")),
        lambda f, x, out: computed_in(
            out.type.dtype, f, [v if _is_absolute(v) else ops.abs(as_float(v, out)) for v in x]
        ),
        # Integers wrap around differently on the two sides.
        lambda x, out: is_float(out) and not any(map(is_complex, x)) and len(x) <= MOST_FACTORS,
        each=None,
        why="|x * y| -> |x| * |y|, and |x / y| -> |x| / |y|: thus they cancel with other factors",
    )
)


def _is_absolute(var: Variable) -> bool:
    node = var.owner
    return node is not None and node.op == ops.abs and is_float(var)


@rules.specialize
@node_rewriter([ops.mul, ops.true_divide], operands=[ops.abs])
def local_abs_merge(fgraph, node):
    """|x| * |y| -> |x * y|, and |x| / |y| -> |x / y|: undoes `local_abs_lift`.

    Positive constant factors are moved inside too. A function, since it examines all factors together.
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
    return in_place_of(out, ops.abs(computed_in(out.type.dtype, node.op, inside))) if merged > 1 else False


def _is_not_negative(var: Variable) -> bool:
    """Return whether a variable is known to be a number without the sign bit."""
    value = common_value(var)
    return value is not None and value.dtype.kind in "biuf" and not np.signbit(value)


local_mul_zero = row(
    "local_mul_zero",
    (ops.mul, number("zero", 0), "**x"),
    0,
    lambda x: not any(map(has_infinities, x)),
    each=None,
    why="0 * x -> 0, also if x is infinite or NaN in a call, unless it is known to be",
)
rules.add(local_mul_zero, to=(rules.canonicalize, rules.stabilize, rules.specialize), tags=("shape_unsafe",))
local_zero_div = row(
    "local_zero_div",
    (one_of(ops.floor_divide, ops.true_divide), number("zero", 0), "x"),
    0,
    lambda x: common_value(x) is None and not is_zero_or_nan(x),
    each=None,
    why="0 / x -> 0, also if x is zero or NaN in a call, unless it is known to be",
)
rules.canonicalize(local_zero_div, "shape_unsafe")
local_intdiv_by_one = row(
    "local_intdiv_by_one", (ops.floor_divide, "x", number("one", 1)), "x", lambda x: is_integer(x), each=None
)
rules.add(local_intdiv_by_one, to=(rules.canonicalize, rules.specialize))

# The logistic function is recognised before the canonical form of products takes it apart, so
# that the gradients through it are products of it too.
rules.add(*LOGISTIC_RULES, to=(rules.canonicalize, rules.stabilize, rules.specialize))
rules.simplifier(local_mul_canonizer, simplify_logistic, "logistic", operands=[ops.add, ops.exp])
rules.canonicalize(local_mul_canonizer, name="local_mul_canonizer")
rules.canonicalize(local_add_canonizer, name="local_add_canonizer")
rules.canonicalize(local_greedy_distributor)


def _apply_in_branch(f, choice, x, y, out):
    """Apply the operation to the branch that is not zero."""
    new = computed_in(out.type.dtype, f, [as_dtype(x, choice.outputs[0].type.dtype), *y])
    condition, *branches = choice.inputs
    return ops.switch(condition, *(new if branch is x else constant_like(0, out) for branch in branches))


def _sink(name, op, when):
    """Collect the rules ``f(switch(c, 0, x), y) -> switch(c, 0, f(x, y))``, and those for the other branch."""
    zero = number("zero", 0)
    branches = {"first": ("c", zero, "x"), "second": ("c", "x", zero)}
    sinks = [
        row(
            f"{name}_{branch}",
            (op, (one_of(ops.switch, node="choice"), *parts), "**y"),
            _apply_in_branch,
            when,
            each=None,
        )
        for branch, parts in branches.items()
    ]
    return rules.group(name, *sinks, to=(rules.canonicalize,))


def _is_exact(x):
    """Return whether a variable is of integers or Booleans, which are neither infinite nor NaN."""
    return is_integer(x) or x.type.dtype == "bool"


def _is_finite(var):
    """Return whether a variable is known to be neither infinite nor NaN."""
    value = common_value(var)
    return _is_exact(var) or (value is not None and bool(np.isfinite(value)))


# Gradients of choices are built as choices, and need no such rules.
local_mul_switch_sink = _sink(
    "local_mul_switch_sink", one_of(ops.mul, name="f"), lambda y, out: is_float(out) and all(map(_is_finite, y))
)
local_div_switch_sink = _sink(
    "local_div_switch_sink",
    one_of(ops.true_divide, ops.floor_divide, name="f"),
    lambda y, out: is_float(out) and common_value(y[0]) is not None and not is_zero_or_nan(y[0]),
)

#: The depth at which lengths are searched in the expression of a number.
MOST_STEPS = 6
#: The largest number of operands of a sum of lengths.
MOST_TERMS = 8


def _share_of_memory(var, steps):
    """Return a bound of an expression of lengths relative to the largest integer; above 1 it could wrap around.

    An array has at most as many bytes as the largest integer, so two lengths of float64 arrays can be added. For other
    expressions return infinity.
    """
    node = var.owner
    if node is None or dtype_of(var) != "int64" or steps == 0:
        return math.inf
    if isinstance(node.op, Shape_i):
        kind = node.inputs[0].type
        return 1 / kind.numpy_dtype.itemsize if isinstance(kind, TensorType) and kind.is_dense else 1
    is_extremum = isinstance(node.op, (MakeVector, DimShuffle)) or node.op in (ops.maximum, ops.minimum)
    if not is_extremum and node.op != ops.add:
        return math.inf
    shares = [_share_of_memory(operand, steps - 1) for operand in node.inputs[:MOST_TERMS]]
    if len(node.inputs) > len(shares):
        return math.inf
    return max(shares, default=0) if is_extremum else sum(shares)


#: The length of a dimension, or an expression of lengths that is not negative.
_LENGTH = LogicVariable("n", lambda var: _share_of_memory(var, MOST_STEPS) <= 1)
_NEGATIVE = number("c", lambda c: c < 0)
_NOT_POSITIVE = number("c", lambda c: c <= 0)

# NaN is neither equal to itself nor at most itself.
local_useless_elemwise_comparison = rules.group(
    "local_useless_elemwise_comparison",
    row("local_extremum_of_equals", (one_of(ops.minimum, ops.maximum), "x", "x"), "x", each=None),
    row("local_less_than_itself", (one_of(ops.lt, ops.gt), "x", "x"), False, each=None),
    row("local_different_from_itself", (ops.neq, "x", "x"), False, _is_exact, each=None),
    row("local_equal_to_itself", (one_of(ops.le, ops.ge, ops.eq), "x", "x"), True, _is_exact, each=None),
    row("local_length_below_zero", (ops.lt, _LENGTH, _NOT_POSITIVE), False, each=None),
    row("local_length_is_negative", (one_of(ops.le, ops.eq), _LENGTH, _NEGATIVE), False, each=None),
    row("local_length_from_zero", (ops.ge, _LENGTH, _NOT_POSITIVE), True, each=None),
    row("local_length_not_negative", (one_of(ops.gt, ops.neq), _LENGTH, _NEGATIVE), True, each=None),
    row("local_zero_above_length", (ops.gt, _NOT_POSITIVE, _LENGTH), False, each=None),
    row("local_negative_above_length", (ops.ge, _NEGATIVE, _LENGTH), False, each=None),
    row("local_zero_up_to_length", (ops.le, _NOT_POSITIVE, _LENGTH), True, each=None),
    row("local_negative_below_length", (ops.lt, _NEGATIVE, _LENGTH), True, each=None),
    row("local_length_or_zero", (ops.maximum, _LENGTH, _NOT_POSITIVE), "n", each=None),
    row("local_zero_or_length", (ops.minimum, _LENGTH, _NOT_POSITIVE), "c", each=None),
    to=(rules.useless, rules.specialize),
)


_check_inner_lengths = CheckAndRaise(ValueError, "shapes are not aligned: the operands of a product do not fit.")


def _zeros_of_product(x, y, out):
    """Return zeros in the shape of a product, with a run-time check of the inner lengths."""
    lengths = [x.shape[i] for i in range(x.type.ndim - 1)] + [y.shape[i] for i in range(1, y.type.ndim)]
    (last, first), fit = (x.type.shape[-1], y.type.shape[0]), []
    if last is None or last != first:
        fit.append(ops.eq(x.shape[x.type.ndim - 1] if last is None else last, y.shape[0] if first is None else first))
    if not lengths:
        return _check_inner_lengths(constant_like(0, out), *fit) if fit else constant_like(0, out)
    if fit:
        # The check is in a length, so that the zeros are known to be zero.
        lengths[0] = _check_inner_lengths(lengths[0], *fit)
    return alloc(np.asarray(0, dtype=out.type.dtype), *lengths)


# Zero times a known infinity or NaN is NaN.
local_0_dot_x = rules.group(
    "local_0_dot_x",
    row("local_zeros_dot", (Dot, number("x", 0), "y"), _zeros_of_product, lambda y: not has_infinities(y), each=None),
    row("local_dot_zeros", (Dot, "x", number("y", 0)), _zeros_of_product, lambda x: not has_infinities(x), each=None),
    to=(rules.canonicalize,),
)
local_elemwise_sub_zeros = rules.specialize(
    row(
        "local_elemwise_sub_zeros",
        (ops.sub, "x", "x"),
        lambda x, out: ops.second(x, constant_like(0, out)),
        each=None,
        why="x - x -> 0, also if x is infinite or NaN in a call",
    )
)


@rules.specialize
@node_rewriter([ops.add], operands=NUMBERS)
def local_add_specialize(fgraph, node):
    """x + 0 + c + d -> (c + d) + x. A function, since one walk finds the zeros and constants of many terms."""
    out = node.outputs[0]
    terms = _combine_constants(ops.add, [var for var in node.inputs if not has_value(var, 0)], out.type.dtype)
    if len(terms) == len(node.inputs) or out.type.dtype == "bool":
        return False
    if not terms:
        return constant_in_place_of(out, 0, node.inputs)
    return in_place_of(out, combined_in(out.type.dtype, ops.add, terms), node.inputs)


@rules.specialize
@node_rewriter([ops.mul], operands=[*NUMBERS, ops.neg])
def local_mul_specialize(fgraph, node):
    """-x * 1 * y * c * d -> -((c * d) * x * y). A function, since one walk finds the signs and constants."""
    out = node.outputs[0]
    dtype = out.type.dtype
    if dtype == "bool":
        return False
    negative = False
    factors = []
    for var in node.inputs:
        value = common_value(var)
        if value is not None and value in (1, -1):
            negative ^= bool(value == -1)
            continue
        inner = opposite_of(var, dtype)
        negative ^= inner is not None
        factors.append(var if inner is None else inner)
    factors = _combine_constants(ops.mul, factors, dtype)
    if len(factors) == len(node.inputs) and all(a is b for a, b in zip(factors, node.inputs)):
        return False
    if not factors:
        return constant_in_place_of(out, -1 if negative else 1, node.inputs)
    new = combined_in(dtype, ops.mul, factors)
    return in_place_of(out, ops.neg(new) if negative else new, node.inputs)


def fill_chain(new_out, orig_inputs):
    """Return the result of a rule that broadcasts a variable to the common shape of elementwise operands.

    Examples
    --------
    >>> x, y, z = at.dvectors("x", "y", "z")
    >>> aesara.pprint(fill_chain(x, [y, z])[0])
    'fill(z, fill(y, x))'
    """
    for template in orig_inputs:
        new_out = ops.second(template, new_out)
    return [new_out]


@rules.specialize("fusion", "elemwise_fusion")
@node_rewriter([ops.add, ops.mul], operands=[ops.add, ops.mul])
def local_add_mul_fusion(fgraph, node):
    """``(x + y) + z -> add(x, y, z)``, and the same of products."""
    out = node.outputs[0]
    op = node.op
    clients = fgraph.clients

    def is_alike(var):
        inner = var.owner
        return inner is not None and inner.op == op and var.type.dtype == out.type.dtype and len(clients[var]) == 1

    users = clients[out]
    if len(users) == 1 and isinstance(users[0][0], Apply) and users[0][0].op == op:
        if users[0][0].outputs[0].type.dtype == out.type.dtype:
            return False  # the client flattens the whole tree
    if not any(is_alike(var) for var in node.inputs):
        return False

    def flatten(in_order):
        flat: list = []
        stack = list(reversed(node.inputs))
        while stack:
            var = stack.pop()
            if is_alike(var) and not (in_order and flat):
                stack.extend(reversed(var.owner.inputs))
            else:
                flat.append(var)
        return flat

    # In float16, and of functions that leave the range, another grouping may have infinite intermediate results.
    in_order = out.type.dtype == "float16" or (op == ops.mul and is_float(out) and any(map(is_wide, node.inputs)))
    flat = flatten(in_order)
    if op == ops.add and not in_order and keeps_order(out, flat):
        flat = flatten(in_order=True)
    if len(flat) == len(node.inputs):
        return False
    flat = _combine_constants(op, flat, out.type.dtype)
    return in_place_of(out, flat[0] if len(flat) == 1 else computed_in(out.type.dtype, op, flat))


def _combine_constants(op, operands, dtype):
    """Return the operands of a sum or product with its constants combined in front, unless that overflows."""
    constants = [var for var in operands if isinstance(var, Constant)]
    if len(constants) < 2 or dtype == "float16":
        return operands
    values = [var.data.astype(dtype) for var in constants]
    try:
        with np.errstate(all="ignore"):
            value = functools.reduce(np.add if op == ops.add else np.multiply, values)
    except ValueError:  # their lengths differ: the call raises the error
        return operands
    safe = value.dtype.kind in "biu" or (np.isfinite(value).all() and (op == ops.add or (value != 0).all()))
    if not safe or value.size > max(v.size for v in values):
        return operands
    return [constant(value), *(var for var in operands if not isinstance(var, Constant))]
