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

#: The length of a dimension without repetitions.
ONE = constant(1, dtype="int64")


def broadcast_like(value: Variable, template: Variable, fgraph: FunctionGraph, dtype: str | None = None) -> Variable:
    """Return `value` allocated in the shape of `template`.

    Parameters
    ----------
    value
        The tensor to broadcast.
    template
        A variable of `fgraph`, or an expression of its variables.
    fgraph
        The graph, whose `ShapeFeature` is used if it has one.
    dtype
        The dtype of the result; that of `template` by default.
    """
    value = cast(value, dtype or template.type.dtype)
    if template.type.ndim == 0:
        return value
    return alloc(value, *lengths_of(template, fgraph))


def lengths_of(var: Variable, fgraph: FunctionGraph) -> list[Variable]:
    """Return the lengths of a tensor's dimensions, in the simplest known form."""
    feature = getattr(fgraph, "shape_feature", None)
    lengths: list[Variable] = []
    for i, n in enumerate(var.type.shape):
        if n is not None:
            lengths.append(constant(n, dtype="int64"))
        else:
            lengths.append(Shape_i(i)(var) if feature is None else feature.get_shape(fgraph, var, i))
    return lengths


def lengths_of_fill(template: Variable, value: Variable, fgraph: FunctionGraph) -> list[Variable]:
    """Return the lengths of `second(template, value)`: those of the value, except where it has length one."""
    pairs = zip(lengths_of(value, fgraph), lengths_of(template, fgraph))
    return [own if known != 1 else filled for known, (own, filled) in zip(value.type.shape, pairs)]


def merge_broadcastables(broadcastables: Sequence[Sequence[bool]]) -> list[bool]:
    """Return, for each dimension, whether all patterns are broadcastable."""
    return [all(pattern) for pattern in zip(*broadcastables)]


def encompasses_broadcastable(b1: Sequence[bool], b2: Sequence[bool]) -> bool:
    """Return whether a tensor of pattern `b2` broadcasts to one of pattern `b1`.

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
    """Return whether a fill is not known to repeat its value."""
    return y.type.broadcastable == out.type.broadcastable


local_useless_fill = row(
    "local_useless_fill",
    (second, "x", "y"),
    "y",
    _needs_no_fill,
    each=None,
    why="second(x, y) -> y, if y has the shape of x",
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
    """second(x, y) -> alloc(y, *shape(x)), or y if that has the shape."""
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
    """alloc(alloc(x, n), m, n) -> alloc(x, m, n), with a run-time check if the lengths are not known to agree."""
    lengths = list(m)
    # An inner length of one is dropped if it is no check: for one element, or a new dimension.
    value_lengths = (1,) * (len(n) - x.type.ndim) + x.type.shape
    inner_lengths = inner.outputs[0].type.shape
    for axis, (own, known, length) in enumerate(zip(value_lengths, inner_lengths, n), start=len(m) - len(n)):
        if own == known == 1 or same_elements(length, lengths[axis]):
            continue
        if own != 1:
            # The inner allocation may or may not repeat the value.
            return None
        lengths[axis] = _check_lengths(lengths[axis], _fits(length, lengths[axis]))
    return alloc(x, *lengths)


class _AssertLengths(Assert):
    """A length, with the check that an allocation can be allocated again with it."""

    def __init__(self) -> None:
        super().__init__("An allocation of an allocation has other lengths than this.")
        self.exc_type = ValueError


_check_lengths = _AssertLengths()
#: A condition that holds if a dimension of one length has another one, possibly by repetition.
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
    """Return the value of an allocation if broadcasting by other operands repeats it, else the allocation."""
    value = var.owner.inputs[0]
    n_new = var.type.ndim - value.type.ndim
    small = value.dimshuffle(*["x"] * n_new, *range(value.type.ndim)) if n_new else value
    # Each dimension that the allocation adds must come from another operand. An allocation also repeats dimensions that
    # are not known to have length one, which elementwise operations do not.
    for axis, (own, allocated) in enumerate(zip(small.type.shape, var.type.shape)):
        if own == 1:
            is_needed = allocated != 1 and all(v.type.shape[axis] == 1 for v in others)
        else:
            is_needed = own is None and (
                allocated == 1 or feature is None or not feature.same_shape(small, var, axis, axis, with_checks=True)
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
    """alloc(x, n) -> broadcast_to(x, n), if only elementwise operations read it, so that it need not be in memory.

    This is for operands that `local_elemwise_alloc` cannot replace, after all other rules.
    """
    new = broadcast_to_(x, *n)
    return new if new.type == out.type else None  # it may have a less specific shape


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
    """``f(alloc(x, n))`` -> ``alloc(f(x), n)``, for functions without a machine instruction

    The operand may also be a constant that repeats a number, or an elementwise expression of such operands.
    """
    native = getattr(node.op.scalar_op, "native", None)
    if native is None or isinstance(native, Primitive) or len(node.outputs) != 1:
        return False
    out = node.outputs[0]
    if all(known == 1 for known in out.type.shape) or all(isinstance(var, Constant) for var in node.inputs):
        return False
    lengths: list[Variable] = [ONE] * out.type.ndim
    number = _repeated_number(out, lengths, DEEPEST)
    return None if number is None else in_place_of(out, alloc(number, *lengths))


#: The depth of elementwise operations that are searched for repeated numbers.
DEEPEST = 4


def _repeated_number(var: Any, lengths: list[Variable], depth: int) -> Variable | None:
    """Return the scalar that a variable repeats, and set its shape in `lengths`; None if there is none."""
    if all(known == 1 for known in var.type.shape):
        return var.dimshuffle() if var.type.ndim else var
    node = var.owner
    number: Variable | None
    if isinstance(var, Constant):
        value = common_value(var)
        number = None if value is None else constant(np.asarray(value))
        repeated = [constant(known) for known in var.type.shape]
    elif node is None:
        return None
    elif isinstance(node.op, Alloc):
        value, *repeated = node.inputs
        number = _repeated_number(value, [], 0) if all(known == 1 for known in value.type.shape) else None
    elif isinstance(node.op, Elemwise) and depth and len(node.outputs) == 1 and node.op != second:
        scalars = [_repeated_number(operand, lengths, depth - 1) for operand in node.inputs]
        return None if any(scalar is None for scalar in scalars) else node.op(*scalars)
    else:
        return None
    for axis, (known, length) in enumerate(zip(var.type.shape, repeated)):
        if known != 1:
            if lengths[axis] is not ONE and not same_elements(lengths[axis], length):
                return None
            lengths[axis] = length
    return number


local_alloc_empty_to_zeros = rule(
    "local_alloc_empty_to_zeros",
    (one_of(AllocEmpty, dtype="dtype"), "**lengths"),
    lambda lengths, dtype: zeros(tuple(lengths), dtype),
    why="empty(shape) -> zeros(shape)",
)


#: Results of more bytes than this, and than twice the inputs, are not folded.
LARGEST_FOLDED = 2**20


@node_rewriter(None, operands=[Constant])
def constant_folding(fgraph, node):
    """Replace a node whose inputs are all constants by its values."""
    return _fold(fgraph, node) or False


@node_rewriter(None, operands=[Constant])
def lossless_constant_folding(fgraph, node):
    """Replace a node whose inputs are all constants by its values, unless a more stable form may need the inputs."""
    if not any(client != "output" for out in node.outputs for client, _ in fgraph.clients[out]):
        return _fold(fgraph, node) or False
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    if isinstance(op, IN_STABLE_FORMS):
        return False if np.any(_regular(node)) else _fold(fgraph, node) or False
    results = _fold(fgraph, node)
    if results is None or (isinstance(op, ScalarOp) and np.any(_out_of_range(results[0].data) & _regular(node))):
        return False
    return results


#: The same after the search of stable forms.
late_constant_folding = node_rewriter(None, operands=[Constant])(constant_folding.fn)
late_constant_folding.name = "late_constant_folding"
# Modes know the first rule that folds constants by this name.
lossless_constant_folding.name = constant_folding.name


def _fold(fgraph: FunctionGraph, node: Any) -> list[Constant] | None:
    """Return the values of the outputs of a node as constants; None if it is not folded."""
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
        # The call of the function raises the error.
        return None
    results = []
    for output, (value,) in zip(node.outputs, storage):
        if value is None and hasattr(output.type, "dtype"):
            return None  # `perform` did not set it, which is an error of the call
        results.append(output.type.make_constant(value))
    return results


#: Ops that have stable forms together with their clients: in `log(1 + exp(-50))`, folding loses all digits.
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
