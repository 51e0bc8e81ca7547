"""Rules about the order of dimensions, and about elementwise operations as such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

from aesara.configdefaults import config
from aesara.graph.fg import FunctionGraph
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.graph.rewriting.basic import node_rewriter
from aesara.graph.rewriting.matching import ops
from aesara.scalar.op import ScalarOp
from aesara.tensor.creation.allocation import alloc
from aesara.tensor.creation.make_vector import MakeVector
from aesara.tensor.elementwise.elemwise import Elemwise
from aesara.tensor.rewriting.basic import local_useless_elemwise  # noqa: F401 - registered before
from aesara.tensor.rewriting.fusion import (
    FusionOptimizer,
    elemwise_max_input_fct,
    fuse_seqopt,
    local_elemwise_fusion,
    local_elemwise_fusion_op,
    local_upcast_elemwise_constant_inputs,
    local_useless_composite,
)
from aesara.tensor.rewriting.helpers import in_place_of
from aesara.tensor.rewriting.inplace import FreeMemory, InplaceRewriter
from aesara.tensor.rewriting.reduction_fusion import local_careduce_fusion
from aesara.tensor.rewriting.registration import Rules
from aesara.tensor.rewriting.rows import row
from aesara.tensor.shapes.dimshuffle import DimShuffle

rules = Rules()

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


def is_dimshuffle_useless(new_order, input):
    """Whether a new order of dimensions changes nothing. Those of length 1 are alike, old or new.

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
    """`var` with the rearrangement of its dimensions moved towards the inputs."""
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
    """Rearrangements of dimensions: one instead of two, none that changes nothing, and before
    elementwise operations rather than after."""
    (x,), (out,), new_order = node.inputs, node.outputs, tuple(node.op.new_order)
    if not is_dimshuffle_useless(new_order, x) and not _parts_to_lift(fgraph, x, new_order):
        return False
    return in_place_of(out, _lifted(fgraph, x, new_order))


def _lifted(fgraph, x, new_order):
    """A variable of a graph with its dimensions rearranged, and this done as near to the inputs as it can be."""
    done = {}
    waiting = [(x, new_order)]
    while waiting:
        key = var, order = waiting[-1]
        needed = [] if key in done else _parts_to_lift(fgraph, var, order)
        missing = [part for part in needed if part not in done]
        waiting.extend(missing)
        if missing:
            continue
        waiting.pop()
        if key in done:
            continue
        if is_dimshuffle_useless(order, var):
            done[key] = var
        elif not needed:
            done[key] = var.dimshuffle(*order)
        elif isinstance(var.owner.op, DimShuffle):
            done[key] = done[needed[0]]
        else:
            done[key] = var.owner.op(*[done[part] for part in needed])
            plain = var.dimshuffle(*order)
            if done[key].type != plain.type and key != (x, new_order):
                done[key] = plain
    return done[x, new_order]


def _parts_to_lift(fgraph, var, order):
    """Which variables have to be rearranged, and how, for one to be; none where this has to be done to itself."""
    inner = var.owner
    if inner is None or is_dimshuffle_useless(order, var):
        return []
    if isinstance(inner.op, DimShuffle):
        return [(inner.inputs[0], tuple(entry if entry == "x" else inner.op.new_order[entry] for entry in order))]
    if not isinstance(inner.op, Elemwise) or len(inner.outputs) != 1 or len(fgraph.clients[var]) != 1:
        return []
    # A dimension that the result has with length one may be unknown to be so in an operand.
    dropped = [i for i in range(var.type.ndim) if i not in order]
    if inner.op.inplace_pattern or any(operand.type.shape[i] != 1 for operand in inner.inputs for i in dropped):
        return []
    return [(operand, order) for operand in inner.inputs]


local_useless_dimshuffle_makevector = row(
    "local_useless_dimshuffle_makevector",
    (ops(DimShuffle, new_order=()), (MakeVector, "x")),
    "x",
    each=None,
    why="[x].dimshuffle() -> x",
)
rules.add(local_useless_dimshuffle_makevector, to=(rules.specialize, rules.canonicalize))


class InplaceElemwiseOptimizer(InplaceRewriter):
    """Lets elementwise operations write over inputs that nobody reads any more.

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
                # The new value of a shared variable best goes where the old one is.
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
            what = kind.__name__ if kind.__str__ is ScalarOp.__str__ else str(op.scalar_op)
            form = self.op(op.scalar_op, dict(pattern), f"Elemwise{{{what}}}{list(pattern)}", op.nfunc_spec)
            self._forms[op.scalar_op, pattern] = form
        return form

    def print_summary(self, stream: IO[str] | None = None, level: int = 0, depth: int = -1) -> None:
        print(f"{' ' * level}{type(self).__name__} ({self.op.__name__})", file=stream)


def _has_room_for(variable: Any, out: Any) -> bool:
    """Whether an output has the dtype and the shape of an input."""
    mine, others = variable.type, out.type
    if mine is others:
        return True
    return mine.dtype == others.dtype and all(a == b or 1 not in (a, b) for a, b in zip(mine.shape, others.shape))


inplace_elemwise_optimizer = InplaceElemwiseOptimizer(Elemwise)
