"""Where the nodes of a graph end: the loop nest, product or Python call that computes each of them.

Lowering is cheap and repeatable, so nothing of this is kept when a function is compiled: whoever asks has the graph
lowered and scheduled again, and follows what became of each node's arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara.graph.nodes import Apply, Variable
from aesara.ir.expr import Expr, sharing
from aesara.lower.arrays import Array, Definition, LoopBody
from aesara.lower.assemble import planned, planned_body
from aesara.lower.context import Context
from aesara.lower.dispatch import lower_nodes
from aesara.lower.groups import Group
from aesara.lower.schedule import Schedule
from aesara.lower.tasks import Task, own_element
from aesara.records import dataclass

__all__ = ["PlacedStep", "Placement", "nodes_of_buffers", "place_nodes"]


@dataclass(frozen=True)
class PlacedStep:
    """One step of the program, and the nodes that are computed in it.

    Attributes
    ----------
    kind
        ``"nest"`` (loops over elements), ``"product"`` (of matrices), ``"routine"`` (of a library), ``"loop"`` (steps
        that are repeated) or ``"python"`` (a call).
    name
        The name of the kernel in the program, if the step is a nest; what is done, if a library does it.
    nodes
        The nodes, in order; one that is computed again in several places is in several steps.
    space
        What the loops run over, the rows and columns of a product, or how often a loop runs, in sizes of the program.
    steps
        What a loop repeats; its nodes are those of the graph inside the node.
    kernel
        The name that a kernel has in the program, if the step has one: a routine of a library may be loops too.
    """

    kind: str
    name: str
    nodes: tuple[Apply, ...]
    space: tuple[Expr, ...]
    steps: tuple[PlacedStep, ...] = ()
    kernel: str = ""


@dataclass(frozen=True)
class Placement:
    """Where the nodes of a graph end.

    Attributes
    ----------
    steps
        The steps in which nodes are computed, in order.
    without_code
        Nodes of which nothing is left in any step: sizes, slices, what nobody reads.
    reasons
        The nodes that run in Python, with the reason; of a node that is a graph, those in it.
    copied
        Numbers of the inputs whose whole value is copied.
    bases
        Numbers of the inputs whose whole value is what a result starts as; written over in place, it is no copy.
    """

    steps: tuple[PlacedStep, ...]
    without_code: tuple[Apply, ...]
    reasons: dict[Apply, str]
    copied: frozenset[int]
    bases: frozenset[int]


def place_nodes(
    inputs: Sequence[tuple[Variable, bool]], outputs: Sequence[Variable], updates: dict[int, int]
) -> Placement:
    """Lower and schedule a graph, as `lower_graph` does, to see where its nodes end.

    Raises
    ------
    Unsupported
        If the graph has no native form.
    """
    with sharing():
        context = lower_nodes(inputs, outputs)
        _, plan = planned(context, outputs, updates)
        nodes = dict.fromkeys([*context.made, *context.deferred])
        steps, placed = _placed_steps(context, plan)
        without_code = tuple(node for node in nodes if node not in placed)
        copied, bases = _copied(context, plan)
        return Placement(steps, without_code, dict(context.reasons), copied, bases)


def _placed_steps(context: Context, plan: Schedule) -> tuple[tuple[PlacedStep, ...], set[Apply]]:
    """The steps of a schedule with their nodes, and all nodes that are in one."""
    steps_of = _steps_of_items(context, plan)
    inside: dict[int, list[Apply]] = {at: [] for at in range(len(plan.steps))}
    placed: set[Apply] = set()
    for node, numbers in context.made.items():
        items: list[object] = [context.items[k] for k in numbers]
        items += [part for v in node.outputs for part in _parts(v, context)]
        for at in set[int]().union(*(steps_of.get(item, ()) for item in items)):
            # What reads the results of a call is not the call, and neither is what makes its operands.
            is_own = plan.steps[at] in items
            if is_own if plan.steps[at].kind == "python" else node not in context.reasons:
                inside[at].append(node)
                placed.add(node)
    steps = []
    for at, step in enumerate(plan.steps):
        if step.kind is not None:
            kernel = f"k{at}"
            name = kernel if step.kind == "nest" else step.title
            inner = () if step.loop_body is None else _steps_of_loop(step.loop_body)
            steps.append(PlacedStep(step.kind, name, tuple(inside[at]), step.space(context), inner, kernel))
    return tuple(steps), placed


def _steps_of_loop(body: LoopBody) -> tuple[PlacedStep, ...]:
    """What a loop does in each of its steps."""
    return _placed_steps(body.context, planned_body(body)[1])[0]


def _parts(variable: Variable, context: Context) -> Sequence[Array]:
    """The arrays that a variable is: one, or two if it is complex."""
    if variable in context.pairs:
        return context.pairs[variable].parts
    return [context.arrays[variable]] if variable in context.arrays else []


def _steps_of_items(context: Context, plan: Schedule) -> dict[object, set[int]]:
    """For each array, the steps that compute it: its own, or those of all that it is traced into."""
    found: dict[object, set[int]] = {}
    for at, step in enumerate(plan.steps):
        for array in step.computes():
            found.setdefault(array, set()).add(at)
        found.setdefault(step, set()).add(at)
    own = set(found)
    for item in reversed(context.items):
        steps = found.get(item)
        if not steps or isinstance(item, Definition):
            continue
        if isinstance(item, Array) and item.is_copied_first:
            steps = {min(steps)}
        for operand, _ in item.reads():
            if operand not in own:
                found.setdefault(operand, set()).update(steps)
    return found


def _copied(context: Context, plan: Schedule) -> tuple[frozenset[int], frozenset[int]]:
    """Numbers of the inputs that some loop does nothing but copy, and of those that it starts from."""
    number_of = {item.buffer.name: number for number, item in enumerate(context.inputs)}
    tasks = [task for step in plan.steps if isinstance(step, Group) for task in step.tasks]
    starts = [task.prologue for task in tasks if task.prologue is not None]
    copied, bases = (
        frozenset(number_of[one.value.attr] for one in some if _is_copy(one) and one.value.attr in number_of)
        for some in (tasks, starts)
    )
    return copied, bases


def _is_copy(task: Task) -> bool:
    same = own_element(task.domain)
    value = task.value
    return task.kind == "map" and value.op == "load" and bool(task.domain) and value.args[0] is task.offset is same


def nodes_of_buffers(
    inputs: Sequence[tuple[Variable, bool]], outputs: Sequence[Variable], updates: dict[int, int]
) -> dict[str, tuple[Apply, ...]]:
    """Lower and schedule a graph, as `lower_graph` does, to see whose values each buffer of the program holds."""
    found: dict[str, tuple[Apply, ...]] = {}
    with sharing():
        context = lower_nodes(inputs, outputs)
        _name_buffers(context, planned(context, outputs, updates)[1], found)
    return found


def _name_buffers(context: Context, plan: Schedule, found: dict[str, tuple[Apply, ...]]) -> None:
    node_of = {context.items[k]: node for node, numbers in context.made.items() for k in numbers}
    for node in context.made:
        for variable in node.outputs:
            for part in _parts(variable, context):
                node_of.setdefault(part, node)
    for array, name in plan.names.items():
        # What no node has made is a copy that makes a result of what is none by itself, or the two parts of one.
        arrays = [array] if array in node_of else [operand for operand, _ in array.reads()]
        nodes = (node_of[one] for one in arrays if one in node_of)
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *nodes)))
    for step in plan.steps:
        if step.loop_body is not None:
            _name_buffers(step.loop_body.context, planned_body(step.loop_body)[1], found)
