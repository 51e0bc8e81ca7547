"""Walks over graphs. None of them recurses, so graphs may be as deep as memory allows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from typing import Any, TypeVar

from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply, AtomicVariable, Variable

T = TypeVar("T")


def walk(
    nodes: Iterable[T],
    expand: Callable[[T], Iterable[T] | None],
    bfs: bool = True,
    return_children: bool = False,
    hash_fn: Callable[[T], Any] = id,
) -> Generator[Any, None, None]:
    """Visit everything that can be reached from `nodes`, each item once.

    Parameters
    ----------
    nodes
        Where to start.
    expand
        Returns the items to go to from an item, or None.
    bfs
        Breadth first; otherwise depth first, the last of the items that `expand` returns first.
    return_children
        Yield pairs of an item and what `expand` returned for it.
    hash_fn
        Items with equal hashes are the same item.

    Examples
    --------
    >>> list(walk([6], lambda n: [n // 2] if n > 1 else None, hash_fn=int))
    [6, 3, 1]
    """
    pending = deque(nodes)
    take = pending.popleft if bfs else pending.pop
    seen = set()
    while pending:
        node = take()
        key = hash_fn(node)
        if key in seen:
            continue
        seen.add(key)
        children = expand(node)
        if return_children:
            if children is not None and not isinstance(children, Sequence):
                children = list(children)
            yield node, children
        else:
            yield node
        if children:
            pending.extend(children)


def ancestors(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Generator[Variable, None, None]:
    """Yield the variables that `graphs` are computed from, and `graphs` themselves, depth first.

    Parameters
    ----------
    graphs
        Where to start.
    blockers
        Variables that are yielded but not followed.
    """
    stop = set(blockers) if blockers else ()
    seen: set[Variable] = set()
    stack = list(graphs)
    while stack:
        variable = stack.pop()
        if variable in seen:
            continue
        seen.add(variable)
        yield variable
        node = variable.owner
        if node is not None and variable not in stop:
            stack.extend(reversed(node.inputs))


def graph_inputs(
    graphs: Iterable[Variable], blockers: Collection[Variable] | None = None
) -> Generator[Variable, None, None]:
    """Yield the variables without owner that `graphs` are computed from, constants included.

    Parameters
    ----------
    graphs
        Where to start.
    blockers
        Variables that are not followed.
    """
    for variable in ancestors(graphs, blockers):
        if variable.owner is None:
            yield variable


def explicit_graph_inputs(graph: Variable | Iterable[Variable]) -> Generator[Variable, None, None]:
    """Yield the inputs that need a value: neither computed, nor constant, nor shared."""
    graphs = [graph] if isinstance(graph, Variable) else graph
    for variable in graph_inputs(graphs):
        # Shared variables are recognised by what they offer, because their class lives above this layer.
        if not isinstance(variable, AtomicVariable) and not hasattr(variable, "get_value"):
            yield variable


def vars_between(ins: Collection[Variable], outs: Iterable[Variable]) -> Generator[Variable, None, None]:
    """Yield the variables from `outs` back to `ins`, both included, and the other outputs of the nodes
    between.

    Those that fewer nodes are between come first, and of a node the last input.
    """
    stop = set(ins)

    def before(variable: Variable) -> Iterable[Variable]:
        node = variable.owner
        return reversed(node.inputs + node.outputs) if node is not None and variable not in stop else ()

    yield from walk(outs, before)


def orphans_between(ins: Collection[Variable], outs: Iterable[Variable]) -> Generator[Variable, None, None]:
    """Yield the variables without owner that `outs` need besides `ins`.

    Examples
    --------
    ::

        orphans_between([x], [x + y])  # yields y
    """
    stop = set(ins)
    for variable in vars_between(stop, outs):
        if variable.owner is None and variable not in stop:
            yield variable


def applys_between(ins: Collection[Variable], outs: Iterable[Variable]) -> Generator[Apply, None, None]:
    """Yield the nodes that compute `outs` from `ins`, each once."""
    stop = set(ins)
    seen: set[Apply] = set()
    for variable in vars_between(stop, outs):
        node = variable.owner
        if node is not None and variable not in stop and node not in seen:
            seen.add(node)
            yield node


def list_of_nodes(inputs: Collection[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """Return the nodes that compute `outputs` from `inputs`, outputs first."""
    stop = set(inputs)
    seen: set[Apply] = set()
    found: list[Apply] = []
    pending = deque(output.owner for output in outputs if output.owner is not None)
    while pending:
        node = pending.popleft()
        if node in seen:
            continue
        seen.add(node)
        found.append(node)
        pending.extend(v.owner for v in node.inputs if v.owner is not None and v not in stop)
    return found


def variable_depends_on(variable: Variable, depends_on: Variable | Collection[Variable]) -> bool:
    """Tell whether `variable` is, or is computed from, one of `depends_on`."""
    wanted = {depends_on} if isinstance(depends_on, Variable) else set(depends_on)
    return any(found in wanted for found in ancestors([variable]))


def apply_depends_on(apply: Apply, depends_on: Apply | Collection[Apply]) -> bool:
    """Tell whether `apply` is, or uses results of, one of `depends_on`."""
    wanted = {depends_on} if isinstance(depends_on, Apply) else set(depends_on)
    if apply in wanted:
        return True
    return any(found.owner in wanted for found in ancestors(apply.inputs))


def is_in_ancestors(l_apply: Apply, f_node: Apply) -> bool:
    """Tell whether `f_node` is `l_apply` or comes before it."""
    return apply_depends_on(l_apply, f_node)


def truncated_graph_inputs(
    outputs: Sequence[Variable], ancestors_to_include: Collection[Variable] | None = None
) -> list[Variable]:
    """Return the variables at which a graph has to be cut to keep only the part that uses given ancestors.

    Parameters
    ----------
    outputs
        Results of the graph.
    ancestors_to_include
        Variables that become inputs of the truncated graph. Everything that does not depend on them is an
        input too.
    """
    if not ancestors_to_include:
        return list(graph_inputs(outputs))
    wanted = set(ancestors_to_include)
    dependent: set[Variable] = set(wanted)
    for node in io_toposort([], outputs):
        if any(variable in dependent for variable in node.inputs):
            dependent.update(node.outputs)
    found: dict[Variable, None] = {}
    stack = list(reversed(outputs))
    seen: set[Variable] = set()
    while stack:
        variable = stack.pop()
        if variable in seen:
            continue
        seen.add(variable)
        if variable in wanted or variable not in dependent:
            found[variable] = None
        else:
            assert variable.owner is not None
            stack.extend(reversed(variable.owner.inputs))
    return list(found)


def general_toposort(
    outputs: Iterable[T],
    deps: Callable[[T], Iterable[T] | None],
    compute_deps_cache: Callable[[T], Iterable[T] | None] | None = None,
    deps_cache: dict[T, list[T]] | None = None,
    clients: dict[T, list[T]] | None = None,
) -> list[T]:
    """Sort everything that `outputs` depend on, dependencies first.

    Parameters
    ----------
    outputs
        Where to start; hashable.
    deps
        Returns what an item depends on. It must give the same answer each time.
    compute_deps_cache
        Used instead of `deps`, together with `deps_cache`.
    deps_cache
        Filled with the dependencies of every item.
    clients
        If given, filled with the items that depend on each item.

    Raises
    ------
    ValueError
        If there is a cycle.

    Examples
    --------
    >>> general_toposort(["c"], {"c": ["a", "b"], "b": ["a"], "a": []}.get)
    ['a', 'b', 'c']
    """
    if compute_deps_cache is not None and deps_cache is None:
        raise ValueError("general_toposort: `compute_deps_cache` needs `deps_cache`, a dictionary that it fills.")
    get_deps = deps if compute_deps_cache is None else compute_deps_cache
    known: dict[T, list[T]] = {} if deps_cache is None else deps_cache
    users: dict[T, list[T]] = {} if clients is None else clients
    waiting: dict[T, int] = {}  # how many dependencies are still to come
    stack = list(outputs)
    while stack:
        item = stack.pop()
        if item in waiting:
            continue
        if item not in known:
            known[item] = list(get_deps(item) or ())
        waiting[item] = len(known[item])
        for dependency in known[item]:
            users.setdefault(dependency, []).append(item)
        stack.extend(known[item])
    order = [item for item, missing in waiting.items() if not missing]
    for item in order:
        for user in users.get(item, ()):
            waiting[user] -= 1
            if not waiting[user]:
                order.append(user)
    if len(order) != len(waiting):
        raise ValueError(f"The graph contains a cycle through {next(item for item in waiting if waiting[item])}.")
    return order


def io_toposort(
    inputs: Iterable[Variable],
    outputs: Iterable[Variable],
    orderings: dict[Apply, list[Apply]] | None = None,
    clients: dict[Any, list[Any]] | None = None,
) -> list[Apply]:
    """Return the nodes that compute `outputs` from `inputs`, each after the nodes it depends on.

    Parameters
    ----------
    inputs
        Variables that are not followed.
    outputs
        Results of the graph.
    orderings
        Nodes that must come before a node besides those that compute its inputs.
    clients
        If given, filled with what depends on each variable and node.

    Raises
    ------
    ValueError
        If there is a cycle.
    """
    # Most inputs are computed by nothing: they end the walk by themselves.
    stop = {v for v in inputs if v.owner is not None}
    order: list[Apply] = []
    entered: set[Apply] = set()
    done: set[Apply] = set()
    stack = [v.owner for v in outputs if v.owner is not None and v not in stop]
    stack.reverse()
    while stack:
        node = stack[-1]
        if node in entered:
            stack.pop()
            if node not in done:
                done.add(node)
                order.append(node)
            continue
        entered.add(node)
        before = [
            parent for v in node.inputs if (parent := v.owner) is not None and parent not in done and v not in stop
        ]
        if orderings and node in orderings:
            before += [parent for parent in orderings[node] if parent not in done]
        if not before:
            stack.pop()
            done.add(node)
            order.append(node)
            continue
        if not entered.isdisjoint(before):
            parent = next(parent for parent in before if parent in entered)
            raise ValueError(f"The graph contains a cycle through the node {parent.op}.")
        before.reverse()
        stack += before
    if clients is not None:
        _fill_clients(order, orderings or {}, clients)
    return order


def _fill_clients(order: list[Apply], orderings: dict[Any, Any], clients: dict[Any, list[Any]]) -> None:
    for node in order:
        for variable in node.inputs:
            clients.setdefault(variable, []).append(node)
        for before in orderings.get(node, ()):
            clients.setdefault(before, []).append(node)
        for variable in node.outputs:
            clients.setdefault(node, []).append(variable)


def io_connection_pattern(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[list[bool]]:
    """Tell for each input which outputs depend on it in a way that gradients follow.

    Returns
    -------
    list of list of bool
        Entry ``[i][j]`` says whether output ``j`` is connected to input ``i``.
    """
    connected: dict[Variable, int] = {}  # one bit for each input
    for position, variable in enumerate(inputs):
        connected[variable] = connected.get(variable, 0) | (1 << position)
    for node in io_toposort(inputs, outputs):
        masks = [connected.get(variable, 0) for variable in node.inputs]
        pattern = _node_connection_pattern(node)
        for index, output in enumerate(node.outputs):
            if output in connected:
                continue
            mask = 0
            for input_index, input_mask in enumerate(masks):
                if input_mask and (pattern is None or pattern[input_index][index]):
                    mask |= input_mask
            connected[output] = mask
    return [[bool(connected.get(output, 0) >> i & 1) for output in outputs] for i in range(len(inputs))]


def _node_connection_pattern(node: Apply) -> list[list[bool]] | None:
    """Return the pattern that the Op declares, or None where everything is connected."""
    declared = getattr(node.op, "connection_pattern", None)
    if declared is None:
        return None
    pattern = declared(node)
    if len(pattern) != len(node.inputs) or any(len(row) != len(node.outputs) for row in pattern):
        raise ValueError(
            f"{node.op}.connection_pattern must return {len(node.inputs)} rows (one for each input) of "
            f"{len(node.outputs)} bools (one for each output), not {pattern!r}."
        )
    return pattern


def view_roots(node: Variable) -> list[Variable]:
    """Return the variables whose memory `node` may show, through the views that Ops declare.

    Examples
    --------
    A transposed matrix shows the matrix::

        assert view_roots(x.T) == [x]
    """
    roots: dict[Variable, None] = {}
    seen: set[Variable] = set()
    stack = [node]
    while stack:
        variable = stack.pop()
        if variable in seen:
            continue
        seen.add(variable)
        owner = variable.owner
        if owner is not None and (views := owner.op.view_map.get(variable.index)):
            stack.extend(owner.inputs[i] for i in reversed(views))
        else:
            roots[variable] = None
    return list(roots)


def get_var_by_name(graphs: Iterable[Variable], target_var_id: str, ids: str = "CHAR") -> tuple[Variable, ...]:
    """Return the variables whose name, or automatic name, is `target_var_id`; inner graphs are searched too.

    Parameters
    ----------
    graphs
        Where to search.
    target_var_id
        The name.
    ids
        Accepted for compatibility; has no effect.
    """

    def expand(variable: Variable) -> list[Variable]:
        owner = variable.owner
        if owner is None:
            return []
        inner = list(owner.op.inner_outputs) if isinstance(owner.op, HasInnerGraph) else []
        return [*reversed(owner.inputs), *inner]

    return tuple(
        found
        for found in walk(graphs, expand, False)
        if found.name == target_var_id or found._auto_name == target_var_id
    )
