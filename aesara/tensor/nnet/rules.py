"""Rules for softmax and cross-entropy.

The cross-entropy of a softmax is computed by the log softmax, and its gradient without quotients. Remaining composed
ops are replaced by their expressions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.pullback import gradient_form
from aesara.graph.rewriting import databases
from aesara.graph.rewriting.basic import copy_stack_trace, graph_rewriter, node_rewriter
from aesara.graph.rewriting.databases import optdb
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.graph.source import gradient_mark, inherit_source
from aesara.tensor.core.check_and_raise import Assert
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import Alloc, zeros
from aesara.tensor.elementwise.ops import add, eq, exp, sigmoid, softplus, tanh
from aesara.tensor.nnet.activations import hard_sigmoid
from aesara.tensor.nnet.composed import ComposedOp
from aesara.tensor.nnet.crossentropy import (
    CrossentropyCategorical1Hot,
    CrossentropyCategorical1HotGrad,
    CrossentropySoftmax1HotWithBiasDx,
    CrossentropySoftmaxArgmax1HotWithBias,
    crossentropy_softmax_1hot_with_bias_dx,
    crossentropy_softmax_argmax_1hot_with_bias,
)
from aesara.tensor.nnet.softmax import SoftmaxWithBias, add_bias, softmax_with_bias
from aesara.tensor.reductions.argmax import Argmax, MaxAndArgmax, argmax
from aesara.tensor.reductions.softmax import LogSoftmax, Softmax, SoftmaxGrad
from aesara.tensor.rewriting.helpers import in_place_of, is_float, output_of
from aesara.tensor.rewriting.logarithms.analysis import Analysis
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.shapes.dimshuffle import DimShuffle
from aesara.tensor.shapes.shape import shape

if TYPE_CHECKING:
    from aesara.graph.op import Op


rules = Rules()


def _replace(node: Apply, outputs: Sequence[Variable]) -> list[Variable] | bool:
    """Convert outputs to the types of those of the node; return False if this is not possible."""
    fitting = [in_place_of(old, new) for old, new in zip(node.outputs, outputs)]
    result = [one[0] for one in fitting if one is not None]
    if len(result) < len(fitting):
        return False
    copy_stack_trace(node.outputs, result)
    return result


def _along_rows(op: Op, ndim: int) -> bool:
    """Return whether a softmax is along the last axis."""
    return isinstance(op, (Softmax, LogSoftmax, SoftmaxGrad)) and op.axis in (-1, ndim - 1)


def _softmax_of(x: Variable) -> tuple[Variable, Variable] | None:
    """Return the input and the bias of a softmax of rows, or None."""
    node = x.owner
    if node is not None and isinstance(node.op, SoftmaxWithBias):
        return node.inputs[0], node.inputs[1]
    if node is not None and isinstance(node.op, Softmax) and _along_rows(node.op, 2):
        logits: Any = node.inputs[0]
        return logits, zeros(logits.shape[1], dtype=logits.type.dtype)
    return None


@rules.canonicalize
@node_rewriter([SoftmaxWithBias])
def local_expand_softmax_with_bias(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``SoftmaxWithBias(x, b)`` -> ``softmax(x + b)``"""
    return _replace(node, node.op.expand(*node.inputs))


@rules.specialize
@node_rewriter([ComposedOp])
def local_expand_composed_op(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Replace a composed op by its expression."""
    return _replace(node, node.op.expand(*node.inputs))


@gradient_form.register(CrossentropyCategorical1Hot)
def _(op: CrossentropyCategorical1Hot, node: Apply, kept: Collection[Variable]) -> TensorVariable | None:
    """The cross-entropy of probabilities that may underflow is differentiated as the logarithm that it stands for."""
    coding: Any
    classes: Any
    with inherit_source(gradient_mark(node)):
        coding, classes = node.inputs
        if Analysis(kept, differentiated=True).form_of(coding) is None:
            return None
        return op.expand(coding, classes)[0]


@rules.stabilize(
    "xent", "crossentropy_to_crossentropy_with_softmax", "crossentropy_to_crossentropy_with_softmax_with_bias"
)
@node_rewriter([CrossentropyCategorical1Hot])
def local_crossentropy_of_softmax(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``crossentropy(softmax(x), y)`` -> one op, which is finite where the softmax underflows"""
    coding, classes = node.inputs
    softmax_inputs = _softmax_of(coding)
    if softmax_inputs is None:
        return False
    return _replace(node, crossentropy_softmax_argmax_1hot_with_bias(*softmax_inputs, classes)[:1])


@rules.stabilize("local_crossentropy_to_crossentropy_with_softmax_grad")
@node_rewriter([SoftmaxGrad])
def local_softmax_grad_to_crossentropy_with_softmax_grad(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Merge gradients of cross-entropy and softmax; the division by the softmax cancels."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, CrossentropyCategorical1HotGrad) or not _along_rows(node.op, 2):
        return False
    of_cost, probabilities, classes = inner.inputs
    if probabilities is not node.inputs[1]:
        return False
    return _replace(node, [crossentropy_softmax_1hot_with_bias_dx(of_cost, probabilities, classes)])


_INCREASING = (exp, tanh, sigmoid, softplus)


@rules.specialize("fast_compile")
@node_rewriter([Argmax, MaxAndArgmax])
def local_argmax_pushdown(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``argmax(f(x))`` -> ``argmax(x)`` for an increasing function or softmax `f`"""
    if isinstance(node.op, MaxAndArgmax) and fgraph.clients[node.outputs[0]]:
        return False
    inner = node.inputs[0].owner
    axes = node.op.axis
    if inner is None:
        return False
    if inner.op in _INCREASING:
        pushed = inner.inputs[0]
    elif isinstance(inner.op, (Softmax, LogSoftmax)):
        ndim = node.inputs[0].type.ndim
        along = None if inner.op.axis is None else (inner.op.axis % ndim,)
        if along is not None and tuple(axes or range(ndim)) != along:
            return False
        pushed = inner.inputs[0]
    elif isinstance(inner.op, SoftmaxWithBias) and tuple(axes or ()) == (1,):
        x: Any
        b: Any
        x, b = inner.inputs
        pushed = add_bias(x, b)
    else:
        return False
    position = in_place_of(node.outputs[-1], argmax(pushed, axis=axes))
    if position is None:
        return False
    copy_stack_trace(node.outputs[-1], position[0])
    return {node.outputs[-1]: position[0]}


@node_rewriter([Softmax])
def local_softmax_with_bias(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Name the softmax of a matrix plus a vector; both forms compile to the same loops."""
    total = output_of(node.inputs[0], add)
    if total is None or node.inputs[0].type.ndim != 2 or not _along_rows(node.op, 2):
        return False
    vectors = [v for v in total.inputs if _as_row(v) is not None]
    others = [v for v in total.inputs if _as_row(v) is None]
    if len(vectors) != 1 or not others:
        return False
    matrix = others[0] if len(others) == 1 else add(*others)
    bias = _as_row(vectors[0])
    if matrix.type.dtype != node.outputs[0].type.dtype or matrix.type.broadcastable != (False, False):
        return False
    return _replace(node, [softmax_with_bias(matrix, bias)])


def _as_row(x: Variable) -> Variable | None:
    """Return the vector that was converted to a matrix with one row."""
    node = x.owner
    if node is None or not isinstance(node.op, DimShuffle) or tuple(node.op.new_order) != ("x", 0):
        return None
    return node.inputs[0]


@node_rewriter([SoftmaxWithBias])
def graph_merge_softmax_with_crossentropy_softmax(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``softmax(x), crossentropy_softmax(x, y)`` -> both outputs of one op"""
    x, b = node.inputs
    for client, _ in fgraph.clients[x]:
        if (
            isinstance(client, Apply)
            and isinstance(client.op, CrossentropySoftmaxArgmax1HotWithBias)
            and client.inputs[0] is x
            and client.inputs[1] is b
        ):
            return _replace(node, [client.outputs[1]])
    return False


@node_rewriter([CrossentropySoftmax1HotWithBiasDx])
def local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """Replace a gradient vector of equal entries by a scalar."""
    of_cost, probabilities, classes = node.inputs
    inner = of_cost.owner
    if inner is None or not isinstance(inner.op, Alloc):
        return False
    number: Any
    number, length = inner.inputs
    if number.type.ndim == 1 and number.type.broadcastable[0]:
        number = number.dimshuffle(())
    if number.type.ndim != 0:
        return False
    same = Assert("The gradient of a cross-entropy needs an element for each row.")
    number = same(number, eq(length, shape(probabilities)[0]))
    return _replace(node, [crossentropy_softmax_1hot_with_bias_dx(number, probabilities, classes)])


def _apply_to_graph(fgraph: FunctionGraph, only: type) -> None:
    for node in list(fgraph.toposort()):
        if isinstance(node.op, CrossentropyCategorical1Hot) and isinstance(
            node.inputs[0].owner.op if node.inputs[0].owner else None, only
        ):
            replacement = local_crossentropy_of_softmax.transform(fgraph, node)
            if replacement:
                fgraph.replace(node.outputs[0], replacement[0], reason="crossentropy_of_softmax")


@graph_rewriter
def crossentropy_to_crossentropy_with_softmax(fgraph: FunctionGraph) -> None:
    """Merge cross-entropy and softmax in a graph."""
    _apply_to_graph(fgraph, Softmax)


@graph_rewriter
def crossentropy_to_crossentropy_with_softmax_with_bias(fgraph: FunctionGraph) -> None:
    """Merge cross-entropy and softmax with a bias in a graph."""
    _apply_to_graph(fgraph, SoftmaxWithBias)


# For modes that do not stabilize.
rules.into(
    optdb,
    crossentropy_to_crossentropy_with_softmax,
    "fast_run",
    "fast_compile",
    "xent",
    position=2.01,
)


@node_rewriter([sigmoid])
def local_hard_sigmoid(fgraph: FunctionGraph, node: Apply) -> RuleResult:
    """``sigmoid(x)`` -> ``hard_sigmoid(x)``"""
    if not is_float(node.outputs[0]):
        return False
    return in_place_of(node.outputs[0], hard_sigmoid(node.inputs[0]))


rules.into(databases.uncanonicalize, local_hard_sigmoid)

# These names are for reading: native code is the same with them and without them. Modes may include them by name.
for _database, _rule in (
    (databases.stabilize, local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc),
    (databases.uncanonicalize, local_softmax_with_bias),
    (databases.uncanonicalize, graph_merge_softmax_with_crossentropy_softmax),
):
    rules.into(_database, _rule, use_db_name_as_tag=False)
