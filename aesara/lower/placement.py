"""Placement of nodes: the loop nest, product or Python call that computes each node of a graph.

Nothing of this is kept when a function is compiled: a query lowers and schedules the graph again, and follows the
arrays of each node.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, sharing
from aesara.lower.arrays import Array, Definition, ScheduledStep, Task
from aesara.lower.assemble import plan_results
from aesara.lower.context import Context
from aesara.lower.control.loop import LoopBody, LoopNode
from aesara.lower.dispatch import lower_nodes
from aesara.lower.groups import Group
from aesara.lower.iteration_space import own_element
from aesara.lower.schedule import Schedule
from aesara.records import dataclass

__all__ = ["PlacedStep", "Placement", "nodes_of_buffers", "place_nodes"]


@dataclass(frozen=True)
class PlacedStep:
    """One step of the program, and the nodes that are computed in it.

    Attributes
    ----------
    kind
        ``"nest"`` (loops over elements), ``"product"`` (of matrices), ``"routine"`` (of a library), ``"loop"`` (over
        time steps) or ``"python"`` (a call).
    name
        The name of the kernel of a nest, or the title of a routine.
    nodes
        The nodes, in order; a node that is recomputed is in several steps.
    space
        Trip counts of a nest or loop, or rows and columns of a product, in sizes of the program.
    steps
        The steps in the body of a loop; their nodes are those of the inner graph.
    kernel
        The name of the kernel in the program, if there is one; a library routine may be inlined as a kernel.
    """

    kind: str
    name: str
    nodes: tuple[Apply, ...]
    space: tuple[Expr, ...]
    steps: tuple[PlacedStep, ...] = ()
    kernel: str = ""


@dataclass(frozen=True)
class Placement:
    """The placement of the nodes of a graph.

    Attributes
    ----------
    steps
        The steps in which nodes are computed, in order.
    without_code
        Nodes that are in no step: sizes, slices, unused results.
    reasons
        The nodes that run in Python, with the reason; for a subgraph, its inner nodes.
    copied
        Numbers of the inputs that are copied as a whole.
    bases
        Numbers of the inputs that a result starts as a copy of; it is no copy if it is overwritten in place.
    """

    steps: tuple[PlacedStep, ...]
    without_code: tuple[Apply, ...]
    reasons: dict[Apply, str]
    copied: frozenset[int]
    bases: frozenset[int]


def place_nodes(
    inputs: Sequence[tuple[Variable, bool]], outputs: Sequence[Variable], updates: dict[int, int]
) -> Placement:
    """Lower and schedule a graph, as `lower_graph` does, and find the steps that compute its nodes.

    Raises
    ------
    Unsupported
        If the graph has no native form.
    """
    with sharing():
        context = lower_nodes(inputs, outputs)
        _, plan = plan_results(context, outputs, updates)
        nodes = dict.fromkeys([*context.item_numbers, *context.deferred])
        steps, placed = _placed_steps(context, plan)
        without_code = tuple(node for node in nodes if node not in placed)
        copied, bases = _find_copies(context, plan)
        return Placement(steps, without_code, dict(context.reasons), copied, bases)


def _placed_steps(context: Context, plan: Schedule) -> tuple[tuple[PlacedStep, ...], set[Apply]]:
    """Return the steps of a schedule with their nodes, and the set of these nodes."""
    steps_of = _steps_of_items(context, plan)
    inside: dict[int, list[Apply]] = {at: [] for at in range(len(plan.steps))}
    placed: set[Apply] = set()
    for node, numbers in context.item_numbers.items():
        items: list[object] = [context.items[k] for k in numbers]
        items += [part for v in node.outputs for part in _parts(v, context)]
        for at in set[int]().union(*(steps_of.get(item, ()) for item in items)):
            # Nodes that read results of a call, or compute its operands, are not in the call.
            is_own = plan.steps[at] in items
            if is_own if plan.steps[at].kind == "python" else node not in context.reasons:
                inside[at].append(node)
                placed.add(node)
    steps = []
    for at, step in enumerate(plan.steps):
        if step.kind is not None:
            kernel = f"k{at}"
            name = kernel if step.kind == "nest" else step.title
            body = _body_of(step)
            inner = () if body is None else _placed_steps(body.context, body.plan()[1])[0]
            steps.append(PlacedStep(step.kind, name, tuple(inside[at]), step.space(context.sizes), inner, kernel))
    return tuple(steps), placed


def _body_of(step: ScheduledStep) -> LoopBody | None:
    """Return the body of a loop, or None."""
    return step.body if isinstance(step, LoopNode) else None


def _parts(variable: Variable, context: Context) -> Sequence[Array]:
    """Return the arrays that a variable consists of."""
    return context.arrays[variable].parts if variable in context.arrays else ()


def _steps_of_items(context: Context, plan: Schedule) -> dict[object, set[int]]:
    """Return for each item the steps that compute it: its own, or those of arrays that it is inlined into."""
    steps_of: dict[object, set[int]] = {}
    for at, step in enumerate(plan.steps):
        for array in step.computes():
            steps_of.setdefault(array, set()).add(at)
        steps_of.setdefault(step, set()).add(at)
    computed = set(steps_of)
    for item in reversed(context.items):
        steps = steps_of.get(item)
        if not steps or isinstance(item, Definition):
            continue
        if isinstance(item, Array) and item.is_copied_first:
            steps = {min(steps)}
        for operand, _ in item.reads():
            if operand not in computed:
                steps_of.setdefault(operand, set()).update(steps)
    return steps_of


def _find_copies(context: Context, plan: Schedule) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of inputs that a loop copies, and of those that a result starts as a copy of."""
    number_of = {item.buffer.name: number for number, item in enumerate(context.inputs)}
    tasks = [task for step in plan.steps if isinstance(step, Group) for task in step.tasks]
    starts = [task.prologue for task in tasks if task.prologue is not None]
    copied, bases = (
        frozenset(
            number_of[copying.value.attr]
            for copying in candidates
            if _is_copy(copying) and copying.value.attr in number_of
        )
        for candidates in (tasks, starts)
    )
    return copied, bases


def _is_copy(task: Task) -> bool:
    same = own_element(task.domain)
    value = task.value
    return task.kind == "map" and value.op == "load" and bool(task.domain) and value.args[0] is task.offset is same


def nodes_of_buffers(
    inputs: Sequence[tuple[Variable, bool]], outputs: Sequence[Variable], updates: dict[int, int]
) -> dict[str, tuple[Apply, ...]]:
    """Lower and schedule a graph, as `lower_graph` does, and find the nodes whose values each buffer holds."""
    nodes_of: dict[str, tuple[Apply, ...]] = {}
    with sharing():
        context = lower_nodes(inputs, outputs)
        _name_buffers(context, plan_results(context, outputs, updates)[1], nodes_of)
    return nodes_of


def _name_buffers(context: Context, plan: Schedule, nodes_of: dict[str, tuple[Apply, ...]]) -> None:
    node_of = {context.items[k]: node for node, numbers in context.item_numbers.items() for k in numbers}
    for node in context.item_numbers:
        for variable in node.outputs:
            for part in _parts(variable, context):
                node_of.setdefault(part, node)
    for array, name in plan.names.items():
        # An array of no node is a copy of one, or interleaves two.
        arrays = [array] if array in node_of else [operand for operand, _ in array.reads()]
        nodes = (node_of[one] for one in arrays if one in node_of)
        nodes_of[name] = tuple(dict.fromkeys((*nodes_of.get(name, ()), *nodes)))
    for step in plan.steps:
        body = _body_of(step)
        if body is not None:
            _name_buffers(body.context, body.plan()[1], nodes_of)
