"""From what the user gives `function` to a closed graph: shared variables, updates, substitutions."""

from __future__ import annotations

import weakref
from collections.abc import ItemsView, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from aesara.compile.function.function import Function
from aesara.compile.function.inputs import (
    MissingAndUnusedInputError,
    UnusedInputError,
    complain_about_unused_input,
    convert_function_input,
)
from aesara.compile.function.maker import orig_function
from aesara.compile.io import In, Out, SymbolicInput, SymbolicOutput
from aesara.compile.mode import get_mode
from aesara.compile.ops import UpdatePlaceholder
from aesara.configdefaults import config
from aesara.graph.cloning import clone_node_and_cache
from aesara.graph.fg import FunctionGraph
from aesara.graph.forward_mode import inputs_of_tangents
from aesara.graph.messages import describe, described_list, namesake_note
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.null_type import NullType
from aesara.graph.shared import SharedVariable, expression_of_shared, shared
from aesara.graph.traversal import ancestors
from aesara.graph.traversal import graph_inputs as graph_inputs_of
from aesara.graph.utils import MissingInputError
from aesara.link.utils import describe_source
from aesara.subgraph import OpFromGraph
from aesara.tensor.core.dtypes import discrete_dtypes, float_dtypes
from aesara.tensor.shapes.shape import variables_of_shapes

if TYPE_CHECKING:
    from aesara.compile.mode import Mode
    from aesara.compile.profile_stats import ProfileStats


def iter_over_pairs(pairs: Any) -> Iterable[tuple[Any, Any]]:
    """Iterate over the items of a mapping, or over a list of pairs."""
    return pairs.items() if isinstance(pairs, Mapping) else pairs


def _are_pairs(pairs: object) -> bool:
    if isinstance(pairs, (Mapping, ItemsView)):
        return True
    return isinstance(pairs, (list, tuple)) and all(isinstance(p, (list, tuple)) and len(p) == 2 for p in pairs)


class _Rebuild:
    """Clones graphs, and finds on the way which shared variables and default updates they need."""

    def __init__(
        self, copy_inputs_over: bool, rebuild_strict: bool, no_default_updates: Any, clone_inner: bool
    ) -> None:
        self.clones: dict[Any, Any] = {}
        self.copy_inputs_over = copy_inputs_over
        self.strict = rebuild_strict
        if not isinstance(no_default_updates, (bool, list, tuple, set, frozenset)):
            raise TypeError(f"`no_default_updates` must be True, False or a list, got {no_default_updates!r}.")
        self.no_default_updates = no_default_updates
        self.clone_inner = clone_inner
        self.shared_inputs: list[SharedVariable] = []
        self.shared_clones: dict[SharedVariable, Variable] = {}
        self.update_d: dict[SharedVariable, Variable] = {}
        self.update_expr: list[tuple[SharedVariable, Variable]] = []
        self.updated_by_default: set[SharedVariable] = set()
        self.free: dict[Variable, Apply | None] = {}  # inputs that nobody has declared -> a node that reads them

    def clone_leaf(self, variable: Variable, reader: Apply | None) -> None:
        """Clone a variable that no node computes."""
        self.clones[variable] = variable if self.copy_inputs_over else variable.clone()
        if isinstance(variable, Constant):
            return
        if isinstance(variable, SharedVariable):
            self._add_shared(variable, self.clones[variable])
            self._add_default_update(variable, reader)
        else:
            self.free.setdefault(variable, reader)

    def _add_shared(self, variable: SharedVariable, clone: Variable) -> None:
        self.shared_inputs.append(variable)
        self.shared_clones[variable] = clone

    def _add_default_update(self, variable: SharedVariable, reader: Apply | None) -> None:
        default = getattr(variable, "default_update", None)
        if default is None or variable in self.update_d:
            return
        skip = self.no_default_updates
        if skip is True or (skip is not False and any(variable is one for one in skip)):
            return
        if reader is not None and isinstance(reader.op, OpFromGraph):
            default = reader.op.update_in_terms_of(reader, variable) or default
        update = variable.type.filter_variable(default)
        self.update_d[variable] = update
        self.update_expr.append((variable, update))
        self.updated_by_default.add(variable)

    def clone(self, root: Variable) -> Variable:
        """Clone the graph above a variable and return the variable's clone."""
        clones = self.clones
        if root in clones:
            return clones[root]
        if root.owner is None:
            self.clone_leaf(root, None)
            return clones[root]
        pending = [root.owner]
        while pending:
            node = pending[-1]
            if node in clones:
                pending.pop()
                continue
            ready = True
            for variable in node.inputs:
                if variable not in clones:
                    if variable.owner is None:
                        self.clone_leaf(variable, node)
                    else:
                        pending.append(variable.owner)
                        ready = False
            if ready:
                pending.pop()
                if clone_node_and_cache(node, clones, clone_inner_graphs=self.clone_inner, strict=self.strict) is None:
                    clones[node] = node  # all its outputs are replaced
        return clones[root]

    def replace(self, pairs: object) -> None:
        """Arrange that variables are replaced when they are met."""
        for old, new in iter_over_pairs(pairs):
            if not isinstance(old, Variable):
                raise TypeError(f"Only variables can be replaced through `givens`, got {describe(old)} ({type(old)}).")
            if not isinstance(new, Variable):
                new = shared(new)
            if old in self.clones:
                raise AssertionError(
                    "When using 'givens' or 'replace' with several (old_v, new_v) replacement pairs, you "
                    "can not have "
                    "a new_v variable depend on an old_v one. For instance, givens = {a:b, b:(a+1)} is "
                    "not allowed. "
                    f"Here, the old_v {describe(old)} is used to compute other new_v's, but it is scheduled to be "
                    f"replaced by {describe(new)}."
                )
            if self.strict:
                new = old.type.filter_variable(new)
            self.clones[old] = self.clone(new)

    def add_updates(self, updates: object) -> None:
        """Take over the updates of shared variables that the user gives."""
        if not _are_pairs(updates):
            raise TypeError(f"The `updates` parameter must be an ordered mapping or a list of pairs, got {updates!r}.")
        of_container: dict[int, SharedVariable] = {}
        for target, value in iter_over_pairs(updates):
            if not isinstance(target, SharedVariable):
                hint = "Only the values of shared variables are kept between calls: make one with aesara.shared."
                found = expression_of_shared(target)
                if found is not None:
                    hint = f"It {found}"
                raise TypeError(
                    f"update target must be a SharedVariable, got {describe(target)} of type {type(target).__name__}. "
                    f"{hint}"
                )
            if target in self.update_d:
                raise ValueError(
                    f"this shared variable already has an update expression: {describe(target)} would become "
                    f"{describe(self.update_d[target])} and {describe(value)}. Give one update for each."
                )
            other = of_container.setdefault(id(target.container), target)
            if other is not target:
                raise ValueError(
                    f"{describe(target)} and {describe(other)} have the same value, since one is a copy of the "
                    "other; updates give both a "
                    f"new one, {describe(value)} and {describe(self.update_d[other])}. Give one update for both."
                )
            self.update_d[target] = update = _as_update(target, value)
            self.update_expr.append((target, update))

    def clone_updates(self) -> list[tuple[SharedVariable, Variable]]:
        """Clone the expressions of all updates; default updates may turn up on the way."""
        cloned: list[tuple[SharedVariable, Variable]] = []
        while len(cloned) < len(self.update_expr):
            target, update = self.update_expr[len(cloned)]
            if target not in self.clones:
                self.clone_leaf(target, None)
            elif target not in self.shared_clones:
                # A shared variable may be replaced in the graph, and yet be updated.
                self._add_shared(target, target if self.copy_inputs_over else target.clone())
            new = self.clone(update)
            if self.strict:
                new = target.type.filter_variable(new)
            cloned.append((target, new))
        return cloned


def _as_update(target: SharedVariable, value: object) -> Variable:
    if not isinstance(value, Variable):
        # A number or an array: let it take the type of the variable if it can.
        try:
            return target.type.filter_variable(target.type.filter(value), allow_convert=False)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"What `updates` gives for {describe(target)} of type {target.type} is no value of it: {error}"
            ) from None
    if target.type.is_super(value.type):
        return value
    try:
        return target.type.filter_variable(value, allow_convert=False)
    except TypeError:
        raise TypeError(
            "An update must have the same type as the original shared variable "
            f"(shared_var={describe(target)}, shared_var.type={target.type}, update_val={describe(value)}, "
            f"update_val.type={value.type}). {_advise_on_integers(target, value)}"
            "Cast the update, or change its shape, to what the variable holds. "
            "If the difference is related to the broadcast pattern, you can call the "
            "tensor.shape.unbroadcast(var, axis_to_unbroadcast[, ...]) function to mask broadcastable "
            "dimensions."
        ) from None


def _advise_on_integers(target: SharedVariable, value: Variable) -> str:
    """Return the advice for a shared variable of integers that is updated by floats; nothing for others."""
    own, new = getattr(target.type, "dtype", ""), getattr(value.type, "dtype", "")
    if own not in discrete_dtypes or new not in float_dtypes:
        return ""
    if target.type.ndim == 0:
        made = f"aesara.shared({float(target.get_value(borrow=True))})"
    else:
        made = f'aesara.shared(value.astype("{new}"))'
    return f"{describe(target)} holds {own}, since it was made of integers, and gets {new}: make it by `{made}`. "


def _output_variables(outputs: object) -> list[Any]:
    if outputs is None:
        return []
    if isinstance(outputs, Mapping):
        return list(outputs.values())
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def _clone_outputs(rebuild: _Rebuild, outputs: object) -> Any:
    """Clone what the user gave as outputs: nothing, one, or a list of variables and `Out` objects."""

    def clone_one(output: object) -> Any:
        if isinstance(output, SymbolicOutput):
            return type(output)(rebuild.clone(output.variable), borrow=output.borrow)
        if isinstance(output, Variable):
            return rebuild.clone(output)
        raise TypeError(f"Outputs must be aesara Variable or Out instances. Received {output} of type {type(output)}")

    if outputs is None:
        return []
    if isinstance(outputs, (list, tuple)):
        return [clone_one(output) for output in outputs]
    return clone_one(outputs)


def rebuild_collect_shared(
    outputs: object,
    inputs: Sequence[object] | None = None,
    replace: object = None,
    updates: object = None,
    rebuild_strict: bool = True,
    copy_inputs_over: bool = True,
    no_default_updates: object = False,
    clone_inner_graphs: bool = False,
) -> tuple[list[Variable], Any, list[Any]]:
    """Clone a graph with substitutions, and collect the shared variables it needs.

    Parameters
    ----------
    outputs
        A variable, an `Out`, or a list of them.
    inputs
        Variables or `In` objects.
    replace
        Pairs, or a mapping, of variables and what takes their place. What takes the place of an input is the new
        input.
    updates
        Pairs, or a mapping, of shared variables and the expressions of their next values.
    rebuild_strict
        True: a replacement must have the type of what it replaces.  False: nodes are made again with
        the types that result.
    copy_inputs_over
        True: the new graph has the same inputs and constants.  False: they are cloned too.
    no_default_updates
        True, or a list of shared variables: whose default updates are left out.
    clone_inner_graphs
        Also clone the graphs inside operations.

    Returns
    -------
    The new inputs, the new outputs, and a list of: the map from old to new variables, the map from
    shared variables to the (old) expressions of their updates, the pairs of shared variables and
    (new) expressions, and the shared variables.
    """
    rebuild = _Rebuild(copy_inputs_over, rebuild_strict, no_default_updates, clone_inner_graphs)
    new_inputs, new_outputs, new_updates = _rebuild_graph(rebuild, outputs, inputs or (), replace, updates, True)
    return new_inputs, new_outputs, [rebuild.clones, rebuild.update_d, new_updates, rebuild.shared_inputs]


def _rebuild_graph(
    rebuild: _Rebuild, outputs: Any, inputs: Sequence[Any], replace: Any, updates: Any, with_inputs: bool = False
) -> tuple[list[Variable], Any, list[tuple[SharedVariable, Variable]]]:
    """Clone a graph; see `rebuild_collect_shared`. `with_inputs`: inputs may be replaced too."""
    variables = [one.variable if isinstance(one, SymbolicInput) else one for one in inputs]
    if not _are_pairs(replace or ()):
        raise TypeError(f"The `givens` parameter must be a dictionary or a list of pairs, got {replace!r}.")
    replaced = {old for old, _ in iter_over_pairs(replace or ()) if isinstance(old, Variable)}
    if not with_inputs:
        for old in variables:
            if old in replaced:
                raise RuntimeError(
                    f"You are trying to replace variable '{old}' through the `givens` parameter, but this variable is "
                    "an input to your function. Replacing inputs is currently forbidden because it has no effect. One "
                    "way to modify an input `x` to a function evaluating f(x) is to define a new input `y` and use "
                    "`aesara.function([y], f(x), givens={x: g(y)})`. Another solution consists in using "
                    "`aesara.clone_replace`, e.g. like this: "
                    "`aesara.function([x], aesara.clone_replace(f(x), replace={x: g(x)}))`."
                )
    for variable in variables:
        if variable not in rebuild.clones and variable not in replaced:
            rebuild.clones[variable] = variable if rebuild.copy_inputs_over else variable.clone()
    if updates:
        rebuild.add_updates(updates)
    if replace:
        rebuild.replace(replace)
    new_inputs = [rebuild.clones[variable] for variable in variables]
    new_outputs = _clone_outputs(rebuild, outputs)
    for one in inputs:
        if isinstance(one, SymbolicInput) and one.update is not None:
            one.update = rebuild.clone(one.update)
    return new_inputs, new_outputs, rebuild.clone_updates()


def _as_input(param: object, rebuild_strict: bool, allow_downcast: bool | None) -> SymbolicInput:
    """The description of one entry of `inputs`."""
    if isinstance(param, SharedVariable):
        raise TypeError(
            f"Cannot use a shared variable ({describe(param)}) as explicit input. "
            "Consider substituting a non-shared variable via the `givens` parameter"
        )
    if isinstance(param, Constant):
        raise TypeError("Constants not allowed in param list", param)
    if isinstance(param, Variable):
        return In(param, strict=False, allow_downcast=allow_downcast)
    if isinstance(param, In):
        if isinstance(param.variable, SharedVariable):
            return _as_input(param.variable, rebuild_strict, allow_downcast)
        if isinstance(param.variable, Constant):
            return _as_input(param.variable, rebuild_strict, allow_downcast)
        return _copy_of(param)
    raise TypeError(
        f"Unknown parameter type: {type(param)}. Inputs of a function are variables, `In` objects or pairs "
        f"(variable, default value), got {describe(param)}."
    )


def _copy_of(param: In) -> In:
    """A copy, because the update's expression will be replaced."""
    new = In.__new__(type(param))
    new.__dict__.update(param.__dict__)
    return new


def _describe_inputs(
    params: Sequence[object], rebuild_strict: bool, allow_downcast: bool | None
) -> list[SymbolicInput]:
    if not isinstance(params, (list, tuple)):
        raise TypeError("The `params` argument must be a list or a tuple")
    inputs: list[SymbolicInput] = []
    for param in params:
        if isinstance(param, (list, tuple)):
            spec = convert_function_input(param)
            _as_input(spec.variable, rebuild_strict, allow_downcast)
            if len(param) == 2 and param[0] is spec.variable and isinstance(param[1], Variable):
                raise TypeError(
                    f"The default value of {describe(spec.variable)} must be a value, got the variable "
                    f"{describe(param[1])}."
                )
            spec.allow_downcast = allow_downcast
            inputs.append(spec)
        else:
            inputs.append(_as_input(param, rebuild_strict, allow_downcast))
    seen: dict[Variable, int] = {}
    for index, spec in enumerate(inputs):
        if spec.variable in seen:
            raise UnusedInputError(
                f"Variable {describe(spec.variable)} is used twice in inputs to aesara.function, at indices "
                f"{seen[spec.variable]} and {index}.  This would result in values provided for it being ignored. "
                "Please do not duplicate variables in the inputs list."
            )
        seen[spec.variable] = index
    return inputs


def _shared_input(variable: SharedVariable, update: Variable | None) -> In:
    return In(
        variable=variable,
        value=variable.container,
        borrow=True,
        mutable=update is not None,
        update=update,
        shared=True,
    )


def construct_pfunc_ins_and_outs(
    params: Sequence[object],
    outputs: object = None,
    mode: Mode | str | None = None,
    updates: object = None,
    givens: object = None,
    no_default_updates: object = False,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    fgraph: FunctionGraph | None = None,
) -> tuple[list[SymbolicInput], Any]:
    """Return descriptions of the inputs, shared variables among them, and the outputs."""
    inputs = _describe_inputs(params, rebuild_strict, allow_input_downcast)
    if fgraph is not None:
        shared_inputs = [one for one in fgraph.inputs if isinstance(one, SharedVariable)]
        return inputs + [_shared_input(one, None) for one in shared_inputs], fgraph.outputs
    rebuild = _Rebuild(True, rebuild_strict, no_default_updates, False)
    _, new_outputs, new_updates = _rebuild_graph(rebuild, outputs, inputs, givens, updates)
    update_of = dict(new_updates)
    inputs += [_shared_input(one, update_of.get(one)) for one in rebuild.shared_inputs]
    return inputs, new_outputs


def pfunc(
    params: Sequence[object],
    outputs: object = None,
    mode: Mode | str | None = None,
    updates: object = None,
    givens: object = None,
    no_default_updates: object = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: ProfileStats | bool | str | None = None,
    on_unused_input: str | None = None,
    output_keys: Sequence[str] | None = None,
    fgraph: FunctionGraph | None = None,
) -> Function:
    """Compile a function; the parameters are those of `aesara.function`.

    Parameters
    ----------
    output_keys
        Names of the outputs of a function that returns a dict.
    fgraph
        A graph to use as it is, instead of a clone of the one above `outputs`.
    """
    mode = get_mode(mode)
    if fgraph is not None:
        inputs, outputs = construct_pfunc_ins_and_outs(params, outputs, mode, fgraph=fgraph)
        return orig_function(
            inputs, outputs, mode, accept_inplace, name, profile, on_unused_input, output_keys, fgraph=fgraph
        )
    inputs = _describe_inputs(params, rebuild_strict, allow_input_downcast)
    rebuild = _Rebuild(False, rebuild_strict, no_default_updates, False)
    new_inputs, new_outputs, new_updates = _rebuild_graph(rebuild, outputs, inputs, givens, updates)
    update_of = dict(new_updates)
    inputs += [_shared_input(one, update_of.get(one)) for one in rebuild.shared_inputs]
    graph_inputs = [*new_inputs, *(rebuild.shared_clones[one] for one in rebuild.shared_inputs)]
    output_specs = [one if isinstance(one, SymbolicOutput) else Out(one) for one in _output_variables(new_outputs)]
    new_values = {index: spec.update for index, spec in enumerate(inputs) if _is_new_value(spec.update)}
    graph_outputs = [one.variable for one in output_specs] + list(new_values.values())
    if rebuild.free:
        declared = [spec.variable for spec in inputs]
        unused_matter = (config.on_unused_input if on_unused_input is None else on_unused_input) == "raise"
        _check_missing(rebuild, graph_inputs, graph_outputs, declared, givens, len(new_inputs) if unused_matter else 0)
    graph = FunctionGraph(
        graph_inputs,
        graph_outputs,
        update_mapping={len(output_specs) + offset: index for offset, index in enumerate(new_values)},
        clone=False,
    )
    _check_unused(graph, inputs, len(new_inputs), on_unused_input, rebuild)
    if outputs is None:
        given: object = None
    elif isinstance(outputs, (list, tuple)):
        given = output_specs
    else:
        given = output_specs[0]
    function = orig_function(
        inputs, given, mode, accept_inplace, name, profile, on_unused_input, output_keys, fgraph=graph
    )
    for output, index in graph.update_mapping.items():
        if inputs[index].variable in rebuild.updated_by_default:
            # Whoever compiles a part of the graph again gets the same updates.
            graph.inputs[index].default_update = graph.outputs[output]  # type: ignore[attr-defined]
    written = [one.variable if isinstance(one, SymbolicOutput) else one for one in _output_variables(outputs)]
    function.written = [weakref.ref(variable) for variable in written]
    return function


def _is_new_value(update: Variable | None) -> TypeGuard[Variable]:
    """Return whether `update` is a real update of an input, rather than None or the placeholder of a suppressed one."""
    return update is not None and (update.owner is None or not isinstance(update.owner.op, UpdatePlaceholder))


def _check_missing(
    rebuild: _Rebuild,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    given: Sequence[Variable],
    givens: object,
    n_to_be_used: int,
) -> None:
    """Raise an error if the outputs need variables that have no value; `given` and `givens` is what the user has given.

    Where one of the first inputs is not needed either, programs may ask for either error.
    """
    needed = set(graph_inputs_of(outputs, inputs))
    missing = [(old, reader) for old, reader in rebuild.free.items() if rebuild.clones[old] in needed]
    if not missing:
        return
    variable, reader = missing[0]
    if isinstance(variable.type, NullType):
        raise TypeError(f"Computation graph contains a NaN. {variable.type.why_null}")
    label = f"`{variable.name}`" if variable.name else "without a name"
    replaced = [old for old, _ in iter_over_pairs(givens)] if givens else []
    notes = (
        namesake_note(variable, given, "is an input of the function"),
        namesake_note(variable, replaced, "is replaced through `givens`"),
    )
    text = f"Input {label} of type {variable.type} of the graph was not provided and not given a value."
    if reader is not None:
        position = [one is variable for one in reader.inputs].index(True)
        text += f"\nIt is input {position} (indices start from 0) of {reader}"
        if reader.source is not None:
            text += f",\nwhich was created by:\n{describe_source(reader.source)}"
    text += "".join(f"\n{note}" for note in notes if note)
    text += "\nAdd it to the inputs of the function, or replace it through `givens`."
    if len(missing) > 1:
        text += f"\nAlso missing: {described_list(old for old, _ in missing[1:])}"
    unused = [one for one, clone in zip(given[:n_to_be_used], inputs) if clone not in needed]
    if unused:
        text += f"\nNot needed: {described_list(unused)}"
        raise MissingAndUnusedInputError(text, variable=variable)
    raise MissingInputError(text, variable=variable)


def _check_unused(
    graph: FunctionGraph,
    inputs: Sequence[SymbolicInput],
    n_explicit: int,
    on_unused_input: str | None,
    rebuild: _Rebuild,
) -> None:
    action = config.on_unused_input if on_unused_input is None else on_unused_input
    if action not in ("raise", "warn", "ignore"):
        raise ValueError(f"on_unused_input must be 'raise', 'warn' or 'ignore', got {action!r}")
    if action == "ignore":
        return
    unused = [k for k in range(n_explicit) if inputs[k].update is None and not graph.clients.get(graph.inputs[k])]
    if unused:
        # What has a known shape is used by those who ask for the shape, what was differentiated by its tangents.
        sources = [variables_of_shapes[v] for v in rebuild.clones if v in variables_of_shapes]
        used = set(ancestors(sources))
        for tangent in rebuild.clones:
            used.update(inputs_of_tangents.get(tangent, ()))
        for index in unused:
            if inputs[index].variable not in used:
                complain_about_unused_input(index, inputs[index].variable, action, rebuild.clones)


__all__ = ["construct_pfunc_ins_and_outs", "iter_over_pairs", "pfunc", "rebuild_collect_shared"]
