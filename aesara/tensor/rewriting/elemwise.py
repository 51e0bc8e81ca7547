"""Rules about the order of dimensions and about elementwise operations, including fusion.

Native code is fused when it is lowered, across more than elementwise operations. Fusion in the graph is therefore
optional: ``mode.including("fusion")``, or the optimizer ``o2``. ``mode.including("local_careduce_fusion")`` also fuses
reductions with elementwise operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, Any

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.db import SequenceDB
from aesara.graph.rewriting.matching import one_of
from aesara.graph.rewriting.node_rewriters import RuleResult
from aesara.graph.rewriting.processing import replace_in_graph, replacements_of
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.scalar.composite import Composite
from aesara.scalar.op import ScalarOp
from aesara.scalar.types import get_scalar_type
from aesara.tensor.core.conversion import constant
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.elementwise.ops import add, mul, sub
from aesara.tensor.reductions.careduce import CAReduce
from aesara.tensor.reductions.fused_reduction import FusedReduction
from aesara.tensor.rewriting.arithmetic import local_add_mul_fusion
from aesara.tensor.rewriting.basic import local_useless_elemwise  # noqa: F401 - registered before
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.inplace import FreeMemory, InplaceRewriter
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

#: The largest number of inputs of a fused operation.
MAX_INPUTS = 31


def elemwise_max_input_fct(node: Apply) -> int:
    """Return the largest number of inputs of an operation fused with a node."""
    return MAX_INPUTS


def local_elemwise_fusion_op(
    op_class: type[Elemwise],
    max_input_fct: Callable[[Apply], int] = elemwise_max_input_fct,
    maker: Callable[[Apply, ScalarOp], Elemwise] | None = None,
) -> Callable[[FunctionGraph, Apply], RuleResult]:
    """Return a function that fuses a node with operands that have no other client.

    Parameters
    ----------
    op_class
        The class of the operations to fuse.
    max_input_fct
        A function of a node that returns the largest number of inputs of a fused operation.
    maker
        A function of the node and the scalar op that returns the operation; by default `op_class`.
    """

    def local_fuse(fgraph: FunctionGraph, node: Apply) -> list[Variable] | bool:
        """Replace a node and operands without other clients by one operation."""
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
    """Return the nodes that are fused with `node`, each before its operands."""
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
    """Return the inputs of a group of nodes, from left to right."""
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
        """Fuse the nodes of a graph, and return the number of replacements."""
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


#: The fusions in their order: sums and products of several operands, then all elementwise operations.
fuse_seqopt = SequenceDB()
fuse_seqopt.name = "elemwise_fusion"
fuse_seqopt.register("local_add_mul_fusion", FusionOptimizer(local_add_mul_fusion), "fast_run", "fusion", position=0)
fuse_seqopt.register(
    "composite_elemwise_fusion", FusionOptimizer(local_elemwise_fusion), "fast_run", "fusion", position=1
)


@rules.canonicalize
@node_rewriter([(Elemwise, Composite)])
def local_useless_composite(fgraph, node):
    """Remove unused outputs and inputs of composites."""
    op = node.op
    if op.inplace_pattern:
        return False
    used = [k for k, out in enumerate(node.outputs) if fgraph.clients[out]]
    inner = op.scalar_op
    results = [inner.outputs[k] for k in used]
    needed = _inputs_of(inner, results)
    if (len(used) == len(node.outputs) and len(needed) == len(node.inputs)) or not used or not needed:
        return False
    smaller = Elemwise(Composite([inner.inputs[k] for k in needed], results))(
        *[node.inputs[k] for k in needed], return_list=True
    )
    # The type differs if only a removed input had the shape of the result.
    if any(new.type != node.outputs[k].type for k, new in zip(used, smaller)):
        return False
    return {node.outputs[k]: new for k, new in zip(used, smaller)}


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
    """``x + int8(1) -> x + float64(1)``: constants are cast to the dtype of the result"""
    out = node.outputs[0]
    dtype = out.type.dtype
    # The product of an infinity with a real number differs from that with a complex number.
    if dtype.startswith("complex") or all(not isinstance(v, Constant) or v.type.dtype == dtype for v in node.inputs):
        return False
    inputs = [constant(v.data.astype(dtype), name=v.name) if isinstance(v, Constant) else v for v in node.inputs]
    new = node.op(*inputs)
    return [new] if new.type == out.type else False


def _fuse(f: Any, g: Any, x: list[Variable], out: Variable) -> Variable | None:
    """Return the reduction and the elementwise operation as one op; None if its type differs."""
    fused = FusedReduction(f, g, [v.type.dtype for v in x])(*x)
    return fused if fused.type == out.type else None


local_careduce_fusion = row(
    "local_careduce_fusion",
    (one_of(CAReduce, name="f"), (one_of(Elemwise, name="g", inplace_pattern=lambda pattern: not pattern), "**x")),
    _fuse,
    each=None,
    single_client=True,
    why="sum(exp(x)) -> one operation, and so for any reduction of an elementwise operation that nothing else reads",
)


def is_dimshuffle_useless(new_order, input):
    """Return whether a new order of dimensions leaves a tensor unchanged; dimensions of length 1 are interchangeable.

    Examples
    --------
    >>> is_dimshuffle_useless((0, 1), at.matrix())
    True
    >>> is_dimshuffle_useless((0, "x"), at.col())
    True
    """
    lengths = input.type.shape
    return len(new_order) == len(lengths) and all(
        entry == i or (length == 1 and (entry == "x" or lengths[entry] == 1))
        for i, (entry, length) in enumerate(zip(new_order, lengths))
    )


def apply_local_dimshuffle_lift(fgraph, var):
    """Return `var` with the rearrangement of its dimensions moved towards the inputs."""
    node = var.owner
    if node is None:
        return var
    new = local_dimshuffle_lift.transform(fgraph, node)
    return new[0] if new else var


@rules.useless
@rules.canonicalize
@rules.specialize
@node_rewriter([DimShuffle])
def local_dimshuffle_lift(fgraph, node):
    """``f(x).dimshuffle(1, 0) -> f(x.dimshuffle(1, 0))`` for elementwise `f`

    Successive rearrangements become one, and those without effect are removed.
    """
    (x,), (out,), new_order = node.inputs, node.outputs, tuple(node.op.new_order)
    if not is_dimshuffle_useless(new_order, x) and not _operands_to_lift(fgraph, x, new_order):
        return False
    return in_place_of(out, _lift(fgraph, x, new_order))


def _lift(fgraph, x, new_order):
    """Return a variable with its dimensions rearranged, by rearranging operands as close to the inputs as possible."""
    lifted = {}
    stack = [(x, new_order)]
    while stack:
        key = var, order = stack[-1]
        needed = [] if key in lifted else _operands_to_lift(fgraph, var, order)
        missing = [operand for operand in needed if operand not in lifted]
        stack.extend(missing)
        if missing:
            continue
        stack.pop()
        if key in lifted:
            continue
        if is_dimshuffle_useless(order, var):
            lifted[key] = var
        elif not needed:
            lifted[key] = var.dimshuffle(*order)
        elif isinstance(var.owner.op, DimShuffle):
            lifted[key] = lifted[needed[0]]
        else:
            lifted[key] = var.owner.op(*[lifted[operand] for operand in needed])
            plain = var.dimshuffle(*order)
            if lifted[key].type != plain.type and key != (x, new_order):
                lifted[key] = plain
    return lifted[x, new_order]


def _operands_to_lift(fgraph, var, order):
    """Return the operands, with their orders of dimensions, to rearrange instead of `var`; [] if there are none."""
    inner = var.owner
    if inner is None or is_dimshuffle_useless(order, var):
        return []
    if isinstance(inner.op, DimShuffle):
        return [(inner.inputs[0], tuple(entry if entry == "x" else inner.op.new_order[entry] for entry in order))]
    if not isinstance(inner.op, Elemwise) or len(inner.outputs) != 1 or len(fgraph.clients[var]) != 1:
        return []
    # A dropped dimension of the result has length one, which may not be known of an operand.
    dropped = [i for i in range(var.type.ndim) if i not in order]
    if inner.op.inplace_pattern or any(operand.type.shape[i] != 1 for operand in inner.inputs for i in dropped):
        return []
    return [(operand, order) for operand in inner.inputs]


local_useless_dimshuffle_makevector = row(
    "local_useless_dimshuffle_makevector",
    (one_of(DimShuffle, new_order=()), (MakeVector, "x")),
    "x",
    each=None,
    why="[x].dimshuffle() -> x",
)
rules.add(local_useless_dimshuffle_makevector, to=(rules.specialize, rules.canonicalize))


class InplaceElemwiseOptimizer(InplaceRewriter):
    """Lets elementwise operations write over inputs that are not read afterwards.

    Parameters
    ----------
    OP
        The class of the operations: `Elemwise` or one derived from it.

    Examples
    --------
    >>> x, y = at.dvectors("x", "y")
    >>> fgraph = FunctionGraph([x, y], [at.exp(x) * y])
    >>> _ = inplace_elemwise_optimizer.rewrite(fgraph)
    >>> fgraph.outputs[0].owner.op
    Elemwise{Mul}[(0, 0)]
    """

    name = "inplace_elemwise_optimizer"

    def __init__(self, OP: type[Elemwise]):
        self.op = OP
        self._forms: dict[tuple[ScalarOp, tuple[tuple[int, int], ...]], Elemwise] = {}

    def concerns(self, op: Op) -> bool:
        return isinstance(op, self.op) and not op.inplace_pattern

    def in_place(self, fgraph: FunctionGraph, node: Apply, memory: FreeMemory) -> Op | None:
        pattern: list[tuple[int, int]] = []
        updated = fgraph.update_mapping or {}
        for k, out in enumerate(node.outputs):
            positions: Sequence[int] = range(len(node.inputs))
            if updated:
                # The new value of a shared variable preferably overwrites the old one.
                states = [fgraph.inputs[updated[i]] for c, i in fgraph.clients[out] if c == "output" and i in updated]
                if states:
                    positions = sorted(positions, key=lambda position: node.inputs[position] not in states)
            for position in positions:
                if _has_room_for(node.inputs[position], out) and memory.may_be_taken(node, position):
                    memory.take(node, position)
                    pattern.append((k, position))
                    break
        return self._form(node.op, tuple(pattern)) if pattern else None

    def _form(self, op: Elemwise, pattern: tuple[tuple[int, int], ...]) -> Elemwise:
        form = self._forms.get((op.scalar_op, pattern))
        if form is None:
            if len(self._forms) > 1_000:
                self._forms.clear()
            kind = type(op.scalar_op)
            name = kind.__name__ if kind.__str__ is ScalarOp.__str__ else str(op.scalar_op)
            form = self.op(op.scalar_op, dict(pattern), f"Elemwise{{{name}}}{list(pattern)}", op.nfunc_spec)
            self._forms[op.scalar_op, pattern] = form
        return form

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{type(self).__name__} ({self.op.__name__})", file=stream)


def _has_room_for(variable: Variable, out: Variable) -> bool:
    """Return whether an output has the dtype and the shape of an input."""
    mine, others = variable.type, out.type
    if mine is others:
        return True
    return mine.dtype == others.dtype and all(a == b or 1 not in (a, b) for a, b in zip(mine.shape, others.shape))


inplace_elemwise_optimizer = InplaceElemwiseOptimizer(Elemwise)


__all__ = [
    "FusionOptimizer",
    "InplaceElemwiseOptimizer",
    "alloc",
    "apply_local_dimshuffle_lift",
    "config",
    "elemwise_max_input_fct",
    "fuse_seqopt",
    "inplace_elemwise_optimizer",
    "is_dimshuffle_useless",
    "local_careduce_fusion",
    "local_dimshuffle_lift",
    "local_elemwise_fusion",
    "local_elemwise_fusion_op",
    "local_upcast_elemwise_constant_inputs",
    "local_useless_composite",
    "local_useless_dimshuffle_makevector",
]
