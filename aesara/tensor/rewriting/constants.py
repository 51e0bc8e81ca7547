"""Constants, and tensors that repeat a value: fills and allocations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import in2out, node_rewriter
from aesara.graph.rewriting.matching import one_of
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.graph.rewriting.pattern import rule
from aesara.scalar import eq, int64, or_
from aesara.scalar.composite import composite_of
from aesara.scalar.exponential import Exp, Expm1, Sigmoid, Softplus
from aesara.scalar.native import Primitive
from aesara.scalar.normal import Ndtr
from aesara.scalar.op import ScalarOp
from aesara.scalar.special import Erf, Erfc
from aesara.scalar.trigonometric import Cosh, Sinh, Tanh
from aesara.tensor.core.casting import cast
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import constant
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import Alloc, AllocEmpty, alloc, zeros
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import second
from aesara.tensor.reductions.softmax import Softmax
from aesara.tensor.rewriting.helpers import common_value, in_place_of, output_of, same_elements
from aesara.tensor.rewriting.length_facts import dimension_measured_by
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import replacing, row
from aesara.tensor.shapes.broadcasting import broadcast_to_
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import Shape_i

rules = Rules()

#: the length of a dimension along which nothing is repeated
one = constant(1, dtype="int64")


def broadcast_like(value: Variable, template: Variable, fgraph: FunctionGraph, dtype: str | None = None) -> Variable:
    """`value` in the shape of `template`, allocated.

    Parameters
    ----------
    value
        What is broadcast.
    template
        A variable of `fgraph` (or made of its variables).
    fgraph
        The graph; if it keeps track of shapes, what it knows is used.
    dtype
        The dtype of the result; that of `template` by default.
    """
    value = cast(value, dtype or template.type.dtype)
    if template.type.ndim == 0:
        return value
    return alloc(value, *lengths_of(template, fgraph))


def lengths_of(var: Variable, fgraph: FunctionGraph) -> list[Variable]:
    """Return the lengths of a tensor's dimensions, in the best form that is known."""
    feature = getattr(fgraph, "shape_feature", None)
    lengths: list[Variable] = []
    for i, n in enumerate(var.type.shape):
        if n is not None:
            lengths.append(constant(n, dtype="int64"))
        else:
            lengths.append(Shape_i(i)(var) if feature is None else feature.get_shape(fgraph, var, i))
    return lengths


def lengths_of_fill(template: Variable, value: Variable, fgraph: FunctionGraph) -> list[Variable]:
    """Return the lengths of `second(template, value)`: of a dimension that the value has, its own."""
    pairs = zip(lengths_of(value, fgraph), lengths_of(template, fgraph))
    return [of_value if known != 1 else of_template for known, (of_value, of_template) in zip(value.type.shape, pairs)]


def merge_broadcastables(broadcastables: Sequence[Sequence[bool]]) -> list[bool]:
    """For each dimension, whether it is broadcastable in all of the patterns."""
    return [all(pattern) for pattern in zip(*broadcastables)]


def encompasses_broadcastable(b1: Sequence[bool], b2: Sequence[bool]) -> bool:
    """Return whether a tensor of pattern `b2` fits where one of pattern `b1` stands.

    Examples
    --------
    >>> encompasses_broadcastable((False,), (True,)), encompasses_broadcastable((True,), (False,))
    (True, False)
    """
    if len(b1) < len(b2):
        return False
    b1 = b1[-len(b2) :] if b2 else ()
    return not any(v1 and not v2 for v1, v2 in zip(b1, b2))


# Fills


def _needs_no_fill(y: Variable, out: Variable) -> bool:
    """Return whether a value is not known to be repeated."""
    return y.type.broadcastable == out.type.broadcastable


local_useless_fill = row(
    "local_useless_fill", (second, "x", "y"), "y", _needs_no_fill, each=None, why="second(x, y) -> y, if y is as long"
)
rules.add(local_useless_fill, to=(rules.canonicalize, rules.useless), tags=("shape_unsafe",))


@rules.canonicalize("shape_unsafe")
@node_rewriter([Elemwise], operands=[second])
def local_fill_sink(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """f(second(x, y), z, ...) -> second(x, f(y, z, ...)), for elementwise f of any number of operands."""
    if node.op == second or len(node.outputs) != 1:
        return False
    filled = [_template_and_value(var) for var in node.inputs]
    inputs = [var if pair is None else pair[1] for var, pair in zip(node.inputs, filled)]
    templates = [pair[0] for pair in filled if pair is not None]
    return in_place_of(node.outputs[0], node.op(*inputs), templates) if templates else False


def _template_and_value(var: Variable) -> Sequence[Variable] | None:
    """Return the operands of a fill; None for other variables, and fills that cast their value."""
    node = output_of(var, second)
    return node.inputs if node is not None and node.inputs[1].type.dtype == var.type.dtype else None


@rules.specialize("shape_unsafe")
@rules.stabilize("shape_unsafe")
@replacing((second, "x", "y"), each=None)
def local_fill_to_alloc(x: Variable, y: TensorVariable, out: Variable, fgraph: FunctionGraph) -> Variable:
    """second(x, y) -> alloc(y, *shape(x)), or y where that is enough."""
    if _needs_no_fill(y, out):
        return y
    lengths = lengths_of_fill(x, y, fgraph)
    if isinstance(y, Constant) and y.data.size == 1:
        y = constant(y.data.reshape(()))
    return alloc(cast(y, out.type.dtype), *lengths)


# Allocations


def _has_lengths(x: Variable, n: Sequence[Variable]) -> bool:
    """Return whether a tensor is known to have these lengths."""
    return x.type.ndim == len(n) and all(
        dimension_measured_by(length) == (x, axis) or (known is not None and known_integer(length) == known)
        for axis, (length, known) in enumerate(zip(n, x.type.shape))
    )


local_useless_alloc = rule(
    "local_useless_alloc", (Alloc, "x", "**n"), "x", _has_lengths, why="alloc(x, *shape(x)) -> x"
)
rules.add(local_useless_alloc, to=(rules.specialize, rules.stabilize, rules.canonicalize, rules.useless))


@rules.canonicalize
@rules.stabilize
@rules.specialize
@replacing((Alloc, "x", "**n"), each=None)
def local_alloc_sink_dimshuffle(x: TensorVariable, n: Sequence[Variable], out: Variable) -> Variable | None:
    """alloc(x, 1, n) -> alloc(x, n).dimshuffle("x", 0)"""
    n_new = len(n) - x.type.ndim
    n_ones = next((k for k in range(n_new) if out.type.shape[k] != 1), n_new)
    if not n_ones:
        return None
    rest: TensorVariable = alloc(x, *n[n_ones:]) if n_ones < len(n) else x
    return rest.dimshuffle(*["x"] * n_ones, *range(rest.type.ndim))


@rules.useless
@rules.canonicalize
@rules.stabilize
@rules.specialize
@rules.uncanonicalize
@replacing((Alloc, (one_of(Alloc, node="inner"), "x", "**n"), "**m"), each=None)
def local_merge_alloc(inner: Apply, x: Variable, n: Sequence[Variable], m: Sequence[Variable]) -> Variable | None:
    """alloc(alloc(x, n), m, n) -> alloc(x, m, n), with a check where the lengths are not known to agree."""
    lengths = list(m)
    # An inner length is not needed if it is one and no check: if there is one element, or a new dimension.
    of_x = (1,) * (len(n) - x.type.ndim) + x.type.shape
    of_inner = inner.outputs[0].type.shape
    for axis, (own, known, length) in enumerate(zip(of_x, of_inner, n), start=len(m) - len(n)):
        if own == known == 1 or same_elements(length, lengths[axis]):
            continue
        if own != 1:
            # The inner allocation may be what repeats the value, or not.
            return None
        lengths[axis] = _check_lengths(lengths[axis], _fits(length, lengths[axis]))
    return alloc(x, *lengths)


class _AssertLengths(Assert):
    """A length, if what is allocated can be allocated again with it."""

    def __init__(self) -> None:
        super().__init__("An allocation of an allocation has other lengths than this.")
        self.exc_type = ValueError


_check_lengths = _AssertLengths()
#: Whether a dimension of one length can have another, by being repeated if it has to be.
_fits = Elemwise(composite_of([int64, int64], lambda length, of_result: or_(eq(length, of_result), eq(length, 1))))


@rules.canonicalize("shape_unsafe", "local_alloc_elemwise")
@rules.specialize("shape_unsafe", "local_alloc_elemwise")
@node_rewriter([Elemwise], operands=[Alloc])
def local_elemwise_alloc(fgraph: FunctionGraph, node: Apply) -> Any:
    """x + alloc(y, *shape(x)) -> x + y: elementwise operations, of any number of operands, broadcast."""
    is_operation = len(node.inputs) > 1 and len(node.outputs) == 1 and node.op != second
    if not is_operation or not config.experimental__local_alloc_elemwise:
        return False
    inputs = list(node.inputs)
    for i, var in enumerate(node.inputs):
        if output_of(var, Alloc) is not None:
            inputs[i] = _allocated_if_needed(var, inputs[:i] + inputs[i + 1 :], getattr(fgraph, "shape_feature", None))
    return in_place_of(node.outputs[0], node.op(*inputs), node.inputs) if inputs != node.inputs else False


def _allocated_if_needed(var: Any, others: Sequence[Variable], feature: Any) -> Variable:
    """Return what an allocation repeats, if other operands repeat it as well, and the allocation if not."""
    value = var.owner.inputs[0]
    n_new = var.type.ndim - value.type.ndim
    small = value.dimshuffle(*["x"] * n_new, *range(value.type.ndim)) if n_new else value
    # Every dimension that the allocation lends must be there in another operand. It may also repeat what is not known
    # to be of length one: elementwise operations do not.
    for axis, (of_value, of_alloc) in enumerate(zip(small.type.shape, var.type.shape)):
        if of_value == 1:
            is_needed = of_alloc != 1 and all(v.type.shape[axis] == 1 for v in others)
        else:
            is_needed = of_value is None and (
                of_alloc == 1 or feature is None or not feature.same_shape(small, var, axis, axis, with_checks=True)
            )
        if is_needed:
            return var
    return small


@replacing(
    (Alloc, "x", "**n"),
    lambda fgraph, out: config.experimental__local_alloc_elemwise and _is_only_an_operand(fgraph, out),
    each=None,
)
def local_alloc_to_broadcast(x: Variable, n: Sequence[Variable], out: Variable) -> Variable | None:
    """alloc(x, n) -> broadcast_to(x, n), where only elementwise operations read it: it need not be in memory.

    This is for operands that `local_elemwise_alloc` cannot leave as they are, once no other rule is to come.
    """
    new = broadcast_to_(x, *n)
    return new if new.type == out.type else None  # less may be known of its shape


def _is_only_an_operand(fgraph: FunctionGraph, var: Variable) -> bool:
    """Return whether only elementwise operations of several operands read a variable, also through `DimShuffle`."""
    for client, _ in fgraph.clients[var]:
        if not isinstance(client, Apply):
            return False
        if isinstance(client.op, DimShuffle):
            if not _is_only_an_operand(fgraph, client.outputs[0]):
                return False
        elif not isinstance(client.op, Elemwise) or len(client.inputs) < 2 or client.op == second:
            return False
    return True


local_alloc_unary = rule(
    "local_alloc_unary",
    (one_of(Elemwise, name="f"), (Alloc, "x", "**n")),
    (alloc, ("f", "x"), "**n"),
    why="f(alloc(x, n)) -> alloc(f(x), n), for elementwise f",
)
rules.add(local_alloc_unary, to=(rules.specialize, rules.canonicalize))


@rules.specialize
@node_rewriter([Elemwise])
def local_alloc_elementwise(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``f(alloc(x, n))`` -> ``alloc(f(x), n)``, for functions that cost a call.

    Constants repeat a number too, and so do elementwise operations on what repeats one.
    """
    native = getattr(node.op.scalar_op, "native", None)
    if native is None or isinstance(native, Primitive) or len(node.outputs) != 1:
        return False
    out = node.outputs[0]
    if all(known == 1 for known in out.type.shape) or all(isinstance(var, Constant) for var in node.inputs):
        return False
    lengths: list[Variable] = [one] * out.type.ndim
    number = _repeated_number(out, lengths, DEEPEST)
    return None if number is None else in_place_of(out, alloc(number, *lengths))


#: how many elementwise operations, one in another, are searched for numbers that are repeated
DEEPEST = 4


def _repeated_number(var: Any, lengths: list[Variable], depth: int) -> Variable | None:
    """Return the scalar that a variable repeats, and put its shape into `lengths`; None if operands disagree."""
    if all(known == 1 for known in var.type.shape):
        return var.dimshuffle() if var.type.ndim else var
    node = var.owner
    found: Variable | None
    if isinstance(var, Constant):
        value = common_value(var)
        found = None if value is None else constant(np.asarray(value))
        repeated = [constant(known) for known in var.type.shape]
    elif node is None:
        return None
    elif isinstance(node.op, Alloc):
        value, *repeated = node.inputs
        found = _repeated_number(value, [], 0) if all(known == 1 for known in value.type.shape) else None
    elif isinstance(node.op, Elemwise) and depth and len(node.outputs) == 1 and node.op != second:
        numbers = [_repeated_number(operand, lengths, depth - 1) for operand in node.inputs]
        return None if any(number is None for number in numbers) else node.op(*numbers)
    else:
        return None
    for axis, (known, length) in enumerate(zip(var.type.shape, repeated)):
        if known != 1:
            if lengths[axis] is not one and not same_elements(lengths[axis], length):
                return None
            lengths[axis] = length
    return found


local_alloc_empty_to_zeros = rule(
    "local_alloc_empty_to_zeros",
    (one_of(AllocEmpty, dtype="dtype"), "**lengths"),
    lambda lengths, dtype: zeros(tuple(lengths), dtype),
    why="empty(shape) -> zeros(shape)",
)


#: Results of more bytes than this, and than twice the inputs, are left to be computed.
LARGEST_FOLDED = 2**20


@node_rewriter(None, operands=[Constant])
def constant_folding(fgraph, node):
    """Replace a node whose inputs are all constants with its values."""
    return _fold(fgraph, node) or False


@node_rewriter(None, operands=[Constant])
def lossless_constant_folding(fgraph, node):
    """Replace a node whose inputs are all constants with its values, unless a more stable form may need the inputs."""
    if not any(client != "output" for out in node.outputs for client, _ in fgraph.clients[out]):
        return _fold(fgraph, node) or False
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    if isinstance(op, IN_STABLE_FORMS):
        return False if np.any(_regular(node)) else _fold(fgraph, node) or False
    results = _fold(fgraph, node)
    if results is None or (isinstance(op, ScalarOp) and np.any(_out_of_range(results[0].data) & _regular(node))):
        return False
    return results


#: The same after stable forms have been looked for.
late_constant_folding = node_rewriter(None, operands=[Constant])(constant_folding.fn)
late_constant_folding.name = "late_constant_folding"
# By this name modes know the rule that folds constants from the beginning.
lossless_constant_folding.name = constant_folding.name


def _fold(fgraph: FunctionGraph, node: Any) -> list[Constant] | None:
    """Return the constants that take the place of a node; None if it is to stay."""
    for var in node.inputs:
        if not isinstance(var, Constant):
            return None
    if not node.op.do_constant_folding(fgraph, node):
        return None
    if is_huge(node):
        return None
    storage = [[None] for _ in node.outputs]
    try:
        with np.errstate(all="ignore"):
            node.op.perform(node, [var.data for var in node.inputs], list(storage))
    except Exception:
        # What fails now would fail when the function runs: there the error belongs.
        return None
    results = []
    for output, (value,) in zip(node.outputs, storage):
        if value is None and hasattr(output.type, "dtype"):
            return None  # `perform` has left it out: an error when the function runs
        results.append(output.type.make_constant(value))
    return results


#: Ops that have stable forms together with what reads them: of `log(1 + exp(-50))` nothing is left after the sum.
IN_STABLE_FORMS = (Exp, Expm1, Sigmoid, Softplus, Tanh, Sinh, Cosh, Erf, Erfc, Ndtr, Softmax)


def _regular(node: Apply) -> Any:
    """Return a mask of the elements for which all operands are known, finite and not 0."""
    regular: Any = True
    for var in node.inputs:
        if not isinstance(var, Constant):
            return False
        regular = regular & np.isfinite(var.data) & (var.data != 0)
    return regular


def _out_of_range(value: np.ndarray) -> Any:
    """Return a mask of the floating-point numbers that are infinite, NaN, 0, or subnormal."""
    if value.dtype.kind != "f":
        return False
    return np.isinf(value) | ~(np.abs(value) >= np.finfo(value.dtype).tiny)


def is_huge(node: Any) -> bool:
    """Return whether the outputs are known to be large, and much larger than the inputs."""
    if isinstance(node.op, Alloc):
        size = float(np.prod([float(n.data) for n in node.inputs[1:]]))
        return size * np.dtype(node.outputs[0].type.dtype).itemsize > LARGEST_FOLDED
    sizes = [getattr(var.data, "nbytes", 0) for var in node.inputs]
    total = 0.0
    for output in node.outputs:
        shape = getattr(output.type, "shape", ())
        if shape is not None and None not in shape and hasattr(output.type, "dtype"):
            total += float(np.prod([float(n) for n in shape])) * np.dtype(output.type.dtype).itemsize
    return total > max(LARGEST_FOLDED, 2 * sum(sizes))


topo_constant_folding = in2out(constant_folding, name="topo_constant_folding")
# `log(1 + exp(800))` is 800 if stable forms are found before the exponential is infinite.
rules.canonicalize(lossless_constant_folding, "topo_constant_folding")
rules.stabilize(lossless_constant_folding, "topo_constant_folding")
rules.specialize(late_constant_folding, "topo_constant_folding", "fast_compile")
