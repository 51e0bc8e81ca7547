"""Rules of elementary arithmetic and comparison that are not about sums and products as such."""

from __future__ import annotations

import functools
import math

import numpy as np

from aesara.graph.nodes import Apply, Constant
from aesara.graph.rewriting.basic import node_rewriter
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.ops import (
    add,
    eq,
    exp,
    floor_divide,
    ge,
    gt,
    le,
    lt,
    maximum,
    minimum,
    mul,
    neg,
    neq,
    second,
    sub,
    switch,
    true_divide,
)
from aesara.tensor.products.dot import Dot
from aesara.tensor.rewriting.canonizer import local_add_canonizer, local_mul_canonizer
from aesara.tensor.rewriting.distribution import local_greedy_distributor
from aesara.tensor.rewriting.helpers import (
    NUMBERS,
    as_dtype,
    common_value,
    computed_in,
    constant_in_place_of,
    constant_like,
    dtype_of,
    has_value,
    in_place_of,
    is_float,
    is_integer,
)
from aesara.tensor.rewriting.known_infinities import has_infinities, is_zero_or_nan
from aesara.tensor.rewriting.logistic import LOGISTIC_RULES, simplify_logistic
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.signs import negated_of
from aesara.tensor.rewriting.wide_products import is_wide
from aesara.tensor.rewriting.written_sums import keeps_order
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape_i

rules = Rules()


@rules.canonicalize("shape_unsafe")
@rules.stabilize("shape_unsafe")
@rules.specialize("shape_unsafe")
@node_rewriter([mul], operands=NUMBERS)
def local_mul_zero(fgraph, node):
    """A product with a factor zero is zero: that with infinity or NaN too, which as written would be NaN.

    It stays a product where a factor is known to be infinite or NaN.
    """
    out = node.outputs[0]
    if any(has_value(factor, 0) for factor in node.inputs) and not any(map(has_infinities, node.inputs)):
        return constant_in_place_of(out, 0, node.inputs)
    return False


@rules.canonicalize("shape_unsafe")
@node_rewriter([floor_divide, true_divide], operands=NUMBERS)
def local_zero_div(fgraph, node):
    """Zero divided by anything is zero: by zero and by NaN too, where it would be NaN as written.

    It stays a quotient where the divisor is known to be zero or NaN.
    """
    out = node.outputs[0]
    top, bottom = node.inputs
    if has_value(top, 0) and common_value(bottom) is None and not is_zero_or_nan(bottom):
        return constant_in_place_of(out, 0, node.inputs)
    return False


@rules.canonicalize
@rules.specialize
@node_rewriter([floor_divide], operands=NUMBERS)
def local_intdiv_by_one(fgraph, node):
    """An integer divided by one is itself."""
    if is_integer(node.inputs[0]) and has_value(node.inputs[1], 1):
        return in_place_of(node.outputs[0], node.inputs[0], node.inputs)
    return False


# The logistic function is recognised before the canonical form of products takes it apart, so
# that the gradients through it are products of it too.
rules.add(*LOGISTIC_RULES, to=(rules.canonicalize, rules.stabilize, rules.specialize))
rules.simplifier(local_mul_canonizer, simplify_logistic, "logistic", operands=[add, exp])
rules.canonicalize(local_mul_canonizer, name="local_mul_canonizer")
rules.canonicalize(local_add_canonizer, name="local_add_canonizer")
rules.canonicalize(local_greedy_distributor)


@rules.canonicalize
@node_rewriter([mul], operands=[switch])
def local_mul_switch_sink(fgraph, node):
    """``switch(c, 0, x) * y`` as ``switch(c, 0, x * y)``, if `y` is known to be finite: otherwise there may be NaN.

    Gradients of choices need no such rule: they are built as choices.
    """
    out = node.outputs[0]
    if not is_float(out):
        return False
    for i, factor in enumerate(node.inputs):
        inner = factor.owner
        if inner is None or inner.op != switch:
            continue
        others = [v for k, v in enumerate(node.inputs) if k != i]
        if all(map(_is_finite, others)):
            new = _inside_choice(node, factor, others)
            if new is not None:
                return in_place_of(out, new, node.inputs)
    return False


@rules.canonicalize
@node_rewriter([true_divide, floor_divide], operands=[switch])
def local_div_switch_sink(fgraph, node):
    """``switch(c, 0, x) / y`` as ``switch(c, 0, x / y)``, if `y` is known to be neither zero nor NaN."""
    out = node.outputs[0]
    top, bottom = node.inputs
    inner = top.owner
    if inner is None or inner.op != switch or not is_float(out) or not _is_a_divisor_of_zero(bottom):
        return False
    return in_place_of(out, _inside_choice(node, top, [bottom]), node.inputs)


def _inside_choice(node, var, others):
    """The operation of a node on the branch of a choice that is not zero, and zero; None if no branch is zero."""
    condition, *branches = var.owner.inputs
    zero = constant_like(0, node.outputs[0])
    for position, branch in enumerate(branches):
        if has_value(branch, 0):
            other = as_dtype(branches[1 - position], var.type.dtype)
            new = computed_in(node.outputs[0].type.dtype, node.op, [other, *others])
            return switch(condition, *((zero, new) if position == 0 else (new, zero)))
    return None


def _is_finite(var):
    """Return whether a factor is known to be neither infinite nor NaN."""
    value = common_value(var)
    return is_integer(var) or var.type.dtype == "bool" or (value is not None and bool(np.isfinite(value)))


def _is_a_divisor_of_zero(var):
    """Return whether a divisor is known to be neither zero nor NaN."""
    value = common_value(var)
    return value is not None and value != 0 and value == value


@rules.useless
@rules.specialize
@node_rewriter([lt, gt, le, ge, eq, neq, minimum, maximum])
def local_useless_elemwise_comparison(fgraph, node):
    """Comparisons whose outcome is known: of a variable with itself, of a size with zero."""
    out = node.outputs[0]
    a, b = node.inputs
    op = node.op
    if a is b:
        if op in (minimum, maximum):
            return in_place_of(out, a)
        if op in (lt, gt):
            return constant_in_place_of(out, False, node.inputs)
        # NaN is neither equal to itself nor at most itself.
        if not is_integer(a) and a.type.dtype != "bool":
            return False
        return constant_in_place_of(out, op != neq, node.inputs)
    if _is_size(a):
        return _compare_size(op, a, b, out)
    if _is_size(b):
        mirrored = {lt: gt, gt: lt, le: ge, ge: le}.get(op, op)
        return _compare_size(mirrored, b, a, out)
    return False


#: How many operations deep lengths are looked for in what a number is computed from.
MOST_STEPS = 6
#: How many operands of a sum of lengths are looked at.
MOST_TERMS = 8


def _is_size(var):
    """Whether a variable is the length of a dimension, or made of lengths so that it is not negative either."""
    return _share_of_memory(var, MOST_STEPS) <= 1


def _share_of_memory(var, steps):
    """How much of the largest integer a number made of lengths can be, or infinity; beyond 1 it could wrap.

    An array has no more bytes than the largest integer, so that two lengths of arrays of float64 have a sum.
    """
    node = var.owner
    if node is None or dtype_of(var) != "int64" or steps == 0:
        return math.inf
    if isinstance(node.op, Shape_i):
        kind = node.inputs[0].type
        return 1 / kind.numpy_dtype.itemsize if isinstance(kind, TensorType) and kind.is_dense else 1
    is_largest = isinstance(node.op, (MakeVector, DimShuffle)) or node.op in (maximum, minimum)
    if not is_largest and node.op != add:
        return math.inf
    shares = [_share_of_memory(one, steps - 1) for one in node.inputs[:MOST_TERMS]]
    if len(node.inputs) > len(shares):
        return math.inf
    return max(shares, default=0) if is_largest else sum(shares)


def _compare_size(op, size, other, out):
    """The outcome of comparing a size with a number, or with a sum of sizes in `maximum`."""
    value = common_value(other)
    if value is None:
        return False
    if (op == lt and value <= 0) or (op in (eq, le) and value < 0):
        return constant_in_place_of(out, False, (size, other))
    if (op == ge and value <= 0) or (op in (neq, gt) and value < 0):
        return constant_in_place_of(out, True, (size, other))
    if op in (maximum, minimum) and value <= 0:
        return in_place_of(out, size if op == maximum else other, (size, other))
    return False


_check_inner_lengths = CheckAndRaise(ValueError, "shapes are not aligned: the operands of a product do not fit.")


@rules.canonicalize
@node_rewriter([Dot], operands=NUMBERS)
def local_0_dot_x(fgraph, node):
    """A product with a matrix of zeros is zero, whatever the other matrix holds; that they fit is checked.

    It stays a product where the other matrix is known to be infinite or NaN.
    """
    x, y = node.inputs
    if not (has_value(x, 0) or has_value(y, 0)) or has_infinities(x) or has_infinities(y):
        return False
    out = node.outputs[0]
    lengths = [x.shape[i] for i in range(x.type.ndim - 1)] + [y.shape[i] for i in range(1, y.type.ndim)]
    (last, first), fit = (x.type.shape[-1], y.type.shape[0]), []
    if last is None or last != first:
        fit.append(eq(x.shape[x.type.ndim - 1] if last is None else last, y.shape[0] if first is None else first))
    if not lengths:
        zero = constant_like(0, out)
        return in_place_of(out, _check_inner_lengths(zero, *fit) if fit else zero)
    if fit:
        # A length is checked, so that the zeros can be seen to be zero.
        lengths[0] = _check_inner_lengths(lengths[0], *fit)
    return in_place_of(out, alloc(np.asarray(0, dtype=out.type.dtype), *lengths))


@rules.specialize
@node_rewriter([sub])
def local_elemwise_sub_zeros(fgraph, node):
    """``x - x`` is zero: that of infinity and of NaN too, which as written would be NaN."""
    x, y = node.inputs
    return in_place_of(node.outputs[0], second(x, constant_like(0, node.outputs[0]))) if x is y else False


@rules.specialize
@node_rewriter([add], operands=NUMBERS)
def local_add_specialize(fgraph, node):
    """Terms that are zero are left out of a sum, and constants stand together."""
    out = node.outputs[0]
    terms = _with_one_constant(add, [var for var in node.inputs if not has_value(var, 0)], out.type.dtype)
    if len(terms) == len(node.inputs) or out.type.dtype == "bool":
        return False
    if not terms:
        return constant_in_place_of(out, 0, node.inputs)
    new = terms[0] if len(terms) == 1 else computed_in(out.type.dtype, add, terms)
    return in_place_of(out, new, node.inputs)


@rules.specialize
@node_rewriter([mul], operands=[*NUMBERS, neg])
def local_mul_specialize(fgraph, node):
    """Factors 1 and -1 are left out of a product, constants stand together, and signs in front of it."""
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
        inner = negated_of(var, dtype)
        negative ^= inner is not None
        factors.append(var if inner is None else inner)
    factors = _with_one_constant(mul, factors, dtype)
    if len(factors) == len(node.inputs) and all(a is b for a, b in zip(factors, node.inputs)):
        return False
    if not factors:
        return constant_in_place_of(out, -1 if negative else 1, node.inputs)
    new = as_dtype(factors[0], dtype) if len(factors) == 1 else computed_in(dtype, mul, factors)
    return in_place_of(out, neg(new) if negative else new, node.inputs)


def fill_chain(new_out, orig_inputs):
    """The result of a transform that puts a variable in the shape that elementwise operands have together.

    Examples
    --------
    >>> x, y, z = at.dvectors("x", "y", "z")
    >>> aesara.pprint(fill_chain(x, [y, z])[0])
    'fill(z, fill(y, x))'
    """
    for template in orig_inputs:
        new_out = second(template, new_out)
    return [new_out]


@rules.specialize("fusion", "elemwise_fusion")
@node_rewriter([add, mul], operands=[add, mul])
def local_add_mul_fusion(fgraph, node):
    """Sums in a sum, or products in a product, as one node of more inputs."""
    out = node.outputs[0]
    op = node.op
    clients = fgraph.clients

    def is_alike(var):
        inner = var.owner
        return inner is not None and inner.op == op and var.type.dtype == out.type.dtype and len(clients[var]) == 1

    users = clients[out]
    if len(users) == 1 and isinstance(users[0][0], Apply) and users[0][0].op == op:
        if users[0][0].outputs[0].type.dtype == out.type.dtype:
            return False  # taken apart from there, once for the whole tree
    if not any(is_alike(var) for var in node.inputs):
        return False

    def flattened(in_order):
        flat: list = []
        stack = list(reversed(node.inputs))
        while stack:
            var = stack.pop()
            if is_alike(var) and not (in_order and flat):
                stack.extend(reversed(var.owner.inputs))
            else:
                flat.append(var)
        return flat

    # Of float16, and of functions that leave the range, an intermediate result of another grouping may be infinite.
    in_order = out.type.dtype == "float16" or (op == mul and is_float(out) and any(map(is_wide, node.inputs)))
    flat = flattened(in_order)
    if op == add and not in_order and keeps_order(out, flat):
        flat = flattened(in_order=True)
    if len(flat) == len(node.inputs):
        return False
    flat = _with_one_constant(op, flat, out.type.dtype)
    return in_place_of(out, flat[0] if len(flat) == 1 else computed_in(out.type.dtype, op, flat))


def _with_one_constant(op, operands, dtype):
    """The operands of a sum or a product with its constants put together in front, where nothing overflows."""
    constants = [var for var in operands if isinstance(var, Constant)]
    if len(constants) < 2 or dtype == "float16":
        return operands
    values = [var.data.astype(dtype) for var in constants]
    try:
        with np.errstate(all="ignore"):
            value = functools.reduce(np.add if op == add else np.multiply, values)
    except ValueError:  # their lengths differ, which the call is to say
        return operands
    safe = value.dtype.kind in "biu" or (np.isfinite(value).all() and (op == add or (value != 0).all()))
    if not safe or value.size > max(v.size for v in values):
        return operands
    return [constant(value), *(var for var in operands if not isinstance(var, Constant))]
