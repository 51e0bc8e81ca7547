"""Copies of graphs, with or without replacements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aesara.graph.messages import describe, described_list, namesake_note
from aesara.graph.nodes import Apply, Constant, NominalVariable, Variable
from aesara.graph.traversal import ancestors, io_toposort, vars_between


def clone_node_and_cache(
    node: Apply, clone_d: dict[Any, Any], clone_inner_graphs: bool = False, **kwargs: Any
) -> Apply | None:
    """Clone a node whose inputs are in `clone_d`, and store node and outputs there.

    Returns None if all outputs are there already.

    Parameters
    ----------
    node
        The node.
    clone_d
        Maps originals to copies.
    clone_inner_graphs
        Whether Ops with inner graphs are cloned; an Op that occurs twice is cloned once.
    **kwargs
        Passed to `Apply.clone_with_new_inputs`.
    """
    if all(output in clone_d for output in node.outputs):
        return None
    op = node.op
    cloned_op = clone_d.get(op) if clone_inner_graphs else None
    new_inputs = [clone_d[variable] for variable in node.inputs]
    new_node = node.clone_with_new_inputs(
        new_inputs, clone_inner_graph=clone_inner_graphs and cloned_op is None, **kwargs
    )
    if clone_inner_graphs:
        if cloned_op is not None:
            new_node.op = cloned_op
        elif new_node.op is not op:
            clone_d.setdefault(op, new_node.op)
    clone_d[node] = new_node
    for old, new in zip(node.outputs, new_node.outputs):
        clone_d.setdefault(old, new)
    return new_node


def clone_get_equiv(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool = True,
    memo: dict[Any, Any] | None = None,
    clone_inner_graphs: bool = False,
    **kwargs: Any,
) -> dict[Any, Any]:
    """Copy the graph between `inputs` and `outputs`.

    Parameters
    ----------
    inputs, outputs
        Borders of the graph.
    copy_inputs
        Whether inputs are copied; otherwise the copy shares them.
    copy_orphans
        Whether other variables without owner are copied. Constants never are: nothing changes them.
    memo
        Copies that exist already; filled and returned.
    clone_inner_graphs
        Whether Ops with inner graphs are cloned too.
    **kwargs
        Passed to `Apply.clone_with_new_inputs`.

    Returns
    -------
    dict
        Maps variables and nodes to their copies.
    """
    if memo is None:
        memo = {}
    for variable in inputs:
        if variable not in memo:
            memo[variable] = _clone_if(variable, copy_inputs)
    for node in io_toposort(inputs, outputs):
        for variable in node.inputs:
            if variable not in memo:
                memo[variable] = _clone_if(variable, copy_orphans)
        clone_node_and_cache(node, memo, clone_inner_graphs=clone_inner_graphs, **kwargs)
    for variable in outputs:
        if variable not in memo:
            memo[variable] = _clone_if(variable, copy_orphans)
    return memo


def _clone_if(variable: Variable, copies: bool) -> Variable:
    return variable.clone() if copies and not isinstance(variable, Constant) else variable


def clone(
    inputs: list[Variable],
    outputs: list[Variable],
    copy_inputs: bool = True,
    copy_orphans: bool | None = None,
    clone_inner_graphs: bool = False,
) -> tuple[list[Variable], list[Variable]]:
    """Copy the graph between `inputs` and `outputs`; return the new inputs and outputs.

    Parameters
    ----------
    inputs, outputs
        Borders of the graph.
    copy_inputs
        Whether inputs are copied; otherwise the copy shares them.
    copy_orphans
        Whether other variables without owner are copied; by default as `copy_inputs`.
    clone_inner_graphs
        Whether Ops with inner graphs are cloned too.
    """
    if copy_orphans is None:
        copy_orphans = copy_inputs
    equiv = clone_get_equiv(inputs, outputs, copy_inputs, copy_orphans, clone_inner_graphs=clone_inner_graphs)
    return [equiv[variable] for variable in inputs], [equiv[variable] for variable in outputs]


def _replacement_items(replace: Any) -> list[tuple[Variable, Any]]:
    if replace is None:
        return []
    if isinstance(replace, dict):
        return list(replace.items())
    if isinstance(replace, (list, tuple, set)) or isinstance(replace, Iterable):
        return [(old, new) for old, new in replace]
    raise ValueError(f"`replace` must be a dictionary or an iterable of pairs of variables, not {replace!r}.")


_REBUILD_OPTIONS = {"copy_inputs_over", "rebuild_strict", "clone_inner_graphs", "no_default_updates"}


def clone_replace(
    output: Any,
    replace: Iterable[tuple[Variable, Variable]] | Mapping[Any, Variable] | None = None,
    **rebuild_kwds: Any,
) -> Any:
    """Copy a graph with some of its variables replaced, all at once.

    A replacement may contain what it replaces, as in ``{x: x + 1}``. Variables without owner are shared with
    the copy.

    Parameters
    ----------
    output
        A variable or a collection of variables.
    replace
        Maps variables to what replaces them.
    rebuild_strict
        Whether a replacement must fit the type of what it replaces (True by default). Otherwise nodes are
        made anew where types differ.
    copy_inputs_over
        Whether variables without owner are shared with the copy (True by default).
    clone_inner_graphs
        Whether Ops with inner graphs are cloned too.

    Returns
    -------
    A variable, or a collection like `output`.

    Examples
    --------
    ::

        clone_replace(exp(x), {x: y + 1})  # exp(y + 1)
    """
    unknown = set(rebuild_kwds) - _REBUILD_OPTIONS
    if unknown:
        raise TypeError(f"clone_replace does not take {sorted(unknown)}; it takes {sorted(_REBUILD_OPTIONS)}.")
    strict = rebuild_kwds.get("rebuild_strict", True)
    outputs = _list_of_variables(output)
    memo: dict[Any, Any] = {}
    for old, new in _replacement_items(replace):
        if not isinstance(old, Variable):
            raise TypeError(f"Only variables can be replaced, not {describe(old)}.")
        if strict or not isinstance(new, Variable):
            new = old.type.filter_variable(new)
        memo[old] = new
    clone_get_equiv(
        list(memo),
        outputs,
        copy_inputs=False,
        copy_orphans=not rebuild_kwds.get("copy_inputs_over", True),
        memo=memo,
        clone_inner_graphs=rebuild_kwds.get("clone_inner_graphs", False),
        strict=strict,
    )
    return _like(output, memo)


def graph_replace(outputs: Any, replace: Any = None, *, strict: bool = True) -> Any:
    """Replace variables of a graph; nodes that do not depend on them are shared with the original.

    Parameters
    ----------
    outputs
        A variable or a collection of variables.
    replace
        Maps variables to what replaces them.
    strict
        Whether every variable to replace must be part of the graph.

    Returns
    -------
    A variable, or a collection like `outputs`.

    Examples
    --------
    ::

        graph_replace(exp(x) + log(z), {x: y})  # exp(y) + log(z), with the same log(z)
    """
    results = _list_of_variables(outputs)
    memo: dict[Any, Any] = {}
    for old, new in _replacement_items(replace):
        if not isinstance(old, Variable):
            raise TypeError(f"Only variables can be replaced, not {describe(old)}.")
        memo[old] = new if isinstance(new, Variable) else old.type.filter_variable(new)
    if strict:
        present = set(vars_between(list(memo), results))
        missing = [old for old in memo if old not in present]
        if missing:
            note = namesake_note(missing[0], ancestors(results), "is part of it")
            text = f"These variables to replace are not part of the graph: {described_list(missing)}."
            raise ValueError(f"{text} {note}" if note else text)
    for node in io_toposort(list(memo), results):
        new_inputs = [memo.get(variable, variable) for variable in node.inputs]
        if all(new is old for new, old in zip(new_inputs, node.inputs)):
            continue
        new_node = node.clone_with_new_inputs(new_inputs, strict=False)
        for old, new in zip(node.outputs, new_node.outputs):
            memo.setdefault(old, new)
    return _like(outputs, memo)


def _list_of_variables(outputs: Any) -> list[Variable]:
    if isinstance(outputs, Variable):
        return [outputs]
    values = list(outputs.values()) if isinstance(outputs, dict) else list(outputs)
    for variable in values:
        if not isinstance(variable, Variable):
            raise TypeError(f"Expected a variable or a collection of variables; it contains {describe(variable)}.")
    return values


def _like(outputs: Any, memo: dict[Any, Any]) -> Any:
    if isinstance(outputs, Variable):
        return memo.get(outputs, outputs)
    if isinstance(outputs, dict):
        return {key: memo.get(variable, variable) for key, variable in outputs.items()}
    replaced = [memo.get(variable, variable) for variable in outputs]
    return tuple(replaced) if isinstance(outputs, tuple) else replaced


def replace_nominals_with_dummies(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Any:
    """Copy a graph with ordinary variables in place of its nominal inputs.

    Returns
    -------
    inputs, outputs
        Of the copy.
    """
    memo: dict[Any, Any] = {}
    for variable in inputs:
        if isinstance(variable, NominalVariable):
            memo[variable] = variable.type.make_variable(variable.name)
    equiv = clone_get_equiv(inputs, outputs, copy_inputs=False, copy_orphans=False, memo=memo)
    return [equiv[variable] for variable in inputs], [equiv[variable] for variable in outputs]
