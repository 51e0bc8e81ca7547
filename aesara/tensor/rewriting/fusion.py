"""Elementwise operations that are computed together as one operation of the graph.

Native code is fused below the graph, across more than elementwise operations, so that this is left to those who ask
for it: ``mode.including("fusion")``, or the optimizer ``o2``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.db import SequenceDB
from aesara.graph.rewriting.processing import replace_in_graph, replacements_of
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.scalar.composite import Composite
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import get_scalar_type
from aesara.tensor.core.conversion import constant
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, mul, sub
from aesara.tensor.rewriting.arithmetic import local_add_mul_fusion
from aesara.tensor.rewriting.registration import Rules

rules = Rules()

#: Operations of more inputs than this are not made.
MAX_INPUTS = 31


def elemwise_max_input_fct(node: Apply) -> int:
    """Return the number of inputs that a fused operation may have."""
    return MAX_INPUTS


def local_elemwise_fusion_op(
    op_class: type[Elemwise],
    max_input_fct: Callable[[Apply], int] = elemwise_max_input_fct,
    maker: Callable[[Apply, ScalarOp], Elemwise] | None = None,
) -> Callable[[FunctionGraph, Apply], Any]:
    """Make a function that fuses a node with those that only it reads.

    Parameters
    ----------
    op_class
        The class of the operations that are fused.
    max_input_fct
        Gives for a node how many inputs a fused operation may have.
    maker
        Makes an operation, given the node and the scalar op. Default: `op_class` of the scalar op.
    """

    def local_fuse(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
        """One operation in the place of a node and of the nodes that only it reads."""
        if not _may_be_fused(node, op_class):
            return False
        group = _group_of(fgraph, node, op_class, max_input_fct(node))
        if len(group) == 1:
            return False
        leaves = _leaves_of(node, set(group))
        scalars = {v: get_scalar_type(dtype=v.type.dtype).make_variable() for v in leaves}
        values: dict[Variable, Any] = dict(scalars)
        for member in reversed(group):
            (values[member.outputs[0]],) = member.op.scalar_op.make_node(*[values[v] for v in member.inputs]).outputs
        result = values[node.outputs[0]]
        if result.type.dtype != node.outputs[0].type.dtype:
            return False
        scalar_op = Composite(list(scalars.values()), [result])
        op = op_class(scalar_op) if maker is None else maker(node, scalar_op)
        fused = op(*leaves)
        return [fused] if node.outputs[0].type.is_super(fused.type) else False

    return local_fuse


def _may_be_fused(node: Apply | None, op_class: type[Elemwise]) -> bool:
    return (
        node is not None
        and isinstance(node.op, op_class)
        and len(node.outputs) == 1
        and not node.op.inplace_pattern
        and node.op.scalar_op.make_node(
            *[get_scalar_type(dtype=v.type.dtype).make_variable() for v in node.inputs]
        ).outputs[0].type.dtype == node.outputs[0].type.dtype
    )  # fmt: skip


def _group_of(fgraph: FunctionGraph, node: Apply, op_class: type[Elemwise], max_inputs: int) -> list[Apply]:
    """The nodes that are fused with `node`, each before those whose results it reads."""
    group = [node]
    members = {node}
    pattern = node.outputs[0].type.broadcastable
    inputs = set(node.inputs)
    for member in group:
        for variable in member.inputs:
            owner = variable.owner
            if owner is None or owner in members or variable.type.broadcastable != pattern:
                continue
            if not _may_be_fused(owner, op_class):
                continue
            if any(client == "output" or client not in members for client, _ in fgraph.clients[variable]):
                continue
            grown = (inputs - {variable}) | set(owner.inputs)
            if len(grown) <= max_inputs:
                inputs = grown
                members.add(owner)
                group.append(owner)
    return group


def _leaves_of(node: Apply, group: set[Apply]) -> list[Variable]:
    """Return the variables that a group of nodes reads from outside, from left to right."""
    seen: dict[Variable, bool] = {}
    stack = list(reversed(node.inputs))
    while stack:
        variable = stack.pop()
        if variable not in seen:
            owner = variable.owner
            seen[variable] = inside = owner is not None and owner in group
            if owner is not None and inside:
                stack.extend(reversed(owner.inputs))
    return [variable for variable, inside in seen.items() if not inside]


local_elemwise_fusion = local_elemwise_fusion_op(Elemwise, elemwise_max_input_fct)


class FusionOptimizer(GraphRewriter):
    """Applies a function that fuses nodes to each node of a graph, outputs first.

    Parameters
    ----------
    node_rewriter
        A function or node rewriter, such as `local_elemwise_fusion`.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> fgraph = FunctionGraph([x], [at.exp(x) * at.sin(x)])
    >>> FusionOptimizer(local_elemwise_fusion).rewrite(fgraph)
    1
    >>> fgraph.outputs[0].owner.op
    Elemwise{Composite{(exp(i0) * sin(i0))}}
    """

    def __init__(self, node_rewriter: Any):
        self.node_rewriter = node_rewriter
        self.name = getattr(node_rewriter, "name", None) or getattr(node_rewriter, "__name__", None)

    def apply(self, fgraph: FunctionGraph) -> int:
        """Fuse; the number of replacements."""
        if not config.tensor__local_elemwise_fusion:
            return 0
        transform = getattr(self.node_rewriter, "transform", self.node_rewriter)
        replaced = 0
        for node in reversed(fgraph.toposort()):
            if node not in fgraph.apply_nodes:
                continue
            result = transform(fgraph, node)
            if result:
                pairs, remove = replacements_of(node, result, self.node_rewriter)
                replace_in_graph(fgraph, pairs, remove, self.node_rewriter)
                replaced += 1
        return replaced


#: The fusions, in order: sums and products of many operands, then everything elementwise.
fuse_seqopt = SequenceDB()
fuse_seqopt.name = "elemwise_fusion"
fuse_seqopt.register("local_add_mul_fusion", FusionOptimizer(local_add_mul_fusion), "fast_run", "fusion", position=0)
fuse_seqopt.register(
    "composite_elemwise_fusion", FusionOptimizer(local_elemwise_fusion), "fast_run", "fusion", position=1
)


@rules.canonicalize
@node_rewriter([(Elemwise, Composite)])
def local_useless_composite(fgraph, node):
    """Composites without the outputs that nobody asks for, and without the inputs that nothing needs."""
    op = node.op
    if op.inplace_pattern:
        return False
    asked = [k for k, out in enumerate(node.outputs) if fgraph.clients[out]]
    inner = op.scalar_op
    results = [inner.outputs[k] for k in asked]
    needed = _inputs_of(inner, results)
    if (len(asked) == len(node.outputs) and len(needed) == len(node.inputs)) or not asked or not needed:
        return False
    made = Elemwise(Composite([inner.inputs[k] for k in needed], results))(
        *[node.inputs[k] for k in needed], return_list=True
    )
    # What is left out may have been all that was as long as the result.
    if any(new.type != node.outputs[k].type for k, new in zip(asked, made)):
        return False
    return {node.outputs[k]: new for k, new in zip(asked, made)}


def _inputs_of(composite: Composite, results: list[Any]) -> list[int]:
    seen, pending = set(results), list(results)
    while pending:
        owner = pending.pop().owner
        for variable in owner.inputs if owner is not None else ():
            if variable not in seen:
                seen.add(variable)
                pending.append(variable)
    return [k for k, variable in enumerate(composite.inputs) if variable in seen]


@rules.canonicalize
@node_rewriter([add, sub, mul], operands=[Constant])
def local_upcast_elemwise_constant_inputs(fgraph, node):
    """Constants in the dtype that they are computed in: the ``int8(1)`` of ``x + 1`` becomes ``float64(1)``."""
    out = node.outputs[0]
    dtype = out.type.dtype
    # Products of complex numbers and real ones are not those with complex ones where there are infinities.
    if dtype.startswith("complex") or all(not isinstance(v, Constant) or v.type.dtype == dtype for v in node.inputs):
        return False
    inputs = [constant(v.data.astype(dtype), name=v.name) if isinstance(v, Constant) else v for v in node.inputs]
    new = node.op(*inputs)
    return [new] if new.type == out.type else False
