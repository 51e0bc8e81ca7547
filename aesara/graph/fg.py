"""Graphs that are owned by one place and can be changed: what rewriting and compilation work on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import is_
from typing import Any, Literal

from aesara import clock
from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.clients import LONG, ClientList, ClientType
from aesara.graph.cloning import clone_get_equiv
from aesara.graph.features import AlreadyThere, Feature, ReplaceValidate
from aesara.graph.formatting import as_string
from aesara.graph.integrity import check_integrity, check_test_values, missing_input_message, place_of
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, AtomicVariable, Variable
from aesara.graph.null_type import NullType
from aesara.graph.pickling import Block, block_of
from aesara.graph.pickling import epoch as mutation_epoch
from aesara.graph.traversal import graph_inputs, io_toposort
from aesara.graph.utils import MetaObject, MissingInputError

ApplyOrOutput = Apply | Literal["output"]


class FunctionGraph(MetaObject):
    """A graph between inputs and outputs that knows where each variable is used, and can be changed.

    Parameters
    ----------
    inputs
        Inputs of the graph; by default everything that `outputs` depend on and that is no constant.
    outputs
        Results of the graph.
    features
        Features to attach.
    clone
        Whether the graph is a copy. Otherwise the given nodes are changed themselves.
    update_mapping
        ``{output index: input index}`` of results that become new values of inputs.
    **clone_kwds
        Passed to `clone_get_equiv`; without a meaning where nothing is cloned.

    Attributes
    ----------
    inputs, outputs : list of Variable
    apply_nodes : set of Apply
    variables : set of Variable
        Those that are used or computed: inputs that nothing uses are left out.
    clients : dict
        ``clients[variable]`` lists where a variable is used: pairs of a node, or "output", and an index. All
        inputs are among its keys.

    Examples
    --------
    ::

        fgraph = FunctionGraph([x], [exp(log(x))])
        fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
    """

    def __init__(
        self,
        inputs: Sequence[Variable] | None = None,
        outputs: Sequence[Variable] | None = None,
        features: Sequence[Feature] | None = None,
        clone: bool = True,
        update_mapping: dict[int, int] | None = None,
        **clone_kwds: Any,
    ) -> None:
        if outputs is None:
            raise ValueError("No outputs specified: a FunctionGraph needs a list of outputs.")
        if inputs is None:
            inputs = [variable for variable in graph_inputs(outputs) if not isinstance(variable, AtomicVariable)]
        if clone:
            memo = clone_get_equiv(inputs, outputs, **clone_kwds)
            outputs = [memo[variable] for variable in outputs]
            inputs = [memo[variable] for variable in inputs]
        elif not clone_kwds.keys() <= {"copy_inputs", "copy_orphans", "memo", "clone_inner_graphs"}:
            raise TypeError(f"FunctionGraph has no parameters {sorted(clone_kwds)}; see clone_get_equiv.")

        self._features: list[Feature] = []
        self._callbacks: dict[str, list[tuple[Feature, Callable[..., Any]]]] = {}
        self._sorted: list[Apply] | None = None
        #: those that are results of nodes, or constants
        self._unusual_inputs: set[Variable] = set()
        self.execute_callbacks_time: float = 0.0
        self.execute_callbacks_times: dict[Feature, float] = {}
        self.inputs: list[Variable] = []
        self.outputs: list[Variable] = []
        self.apply_nodes: set[Apply] = set()
        self.variables: set[Variable] = set()
        self.clients: dict[Variable, list[ClientType]] = {}
        self.profile = None
        self.name: str | None = None

        for variable in inputs:
            self.add_input(variable, check=False)
        # Before the nodes, so that features see them come in.
        for feature in features or ():
            self.attach_feature(feature)
        for variable in outputs:
            self.add_output(variable, reason="init")
        self.update_mapping = update_mapping or {}

    @property
    def inv_update_mapping(self) -> dict[int, int]:
        """``{input index: output index}`` of inputs whose new value is an output."""
        return {place: output for output, place in self.update_mapping.items()}

    # Inputs and outputs

    def add_input(self, var: Variable, check: bool = True) -> None:
        """Add an input; where a node of the graph computes it, what only that node needs is removed.

        Parameters
        ----------
        var
            The variable.
        check
            Whether to do nothing where `var` is an input already.
        """
        if check and var in self.inputs:
            return
        self.inputs.append(var)
        if var.owner is not None or isinstance(var, AtomicVariable):
            self._unusual_inputs.add(var)
        self.setup_var(var)
        node = var.owner
        if node in self.apply_nodes and not self._is_used(node):
            self._take_out(node, None)

    def add_output(self, var: Variable, reason: str | None = None, import_missing: bool = False) -> None:
        """Add an output.

        Parameters
        ----------
        var
            The variable.
        reason
            What asks for it.
        import_missing
            Whether unknown inputs of `var` become inputs of the graph.
        """
        self.import_var(var, reason=reason, import_missing=import_missing)
        self.outputs.append(var)
        self._sorted = None
        self.add_client(var, ("output", len(self.outputs) - 1))

    def remove_output(self, output_idx: int, reason: str | None = None) -> None:
        """Remove an output and the nodes that only it uses."""
        variable = self.outputs[output_idx]
        self._renumber("outputs", output_idx)
        del self.outputs[output_idx]
        self._sorted = None
        self.remove_client(variable, ("output", output_idx), reason=reason, remove_if_empty=True)
        for index, output in enumerate(self.outputs[output_idx:], output_idx):
            self._replace_client(output, ("output", index + 1), ("output", index))

    def remove_input(self, input_idx: int, reason: str | None = None) -> None:
        """Remove an input, with all nodes that use it; outputs that depend on it are removed too."""
        variable = self.inputs[input_idx]
        for client, _ in list(self.clients[variable]):
            if client != "output":
                self.remove_node(client, reason=reason)
        for index in sorted((index for _, index in self.clients[variable]), reverse=True):
            self.remove_output(index, reason=reason)
        self._renumber("inputs", input_idx)
        del self.inputs[input_idx]
        if variable not in self.inputs:
            self._unusual_inputs.discard(variable)
            if variable.owner in self.apply_nodes:  # a result like others from now on
                self.variables.add(variable)
            else:
                self.variables.discard(variable)
                del self.clients[variable]

    def _renumber(self, which: str, removed: int) -> None:
        """Adapt the update mapping to the removal of an input or output."""
        position = 0 if which == "outputs" else 1
        adapted = {}
        for pair in self.update_mapping.items():
            if pair[position] == removed:
                continue
            moved = [number - (number > removed) if place == position else number for place, number in enumerate(pair)]
            adapted[moved[0]] = moved[1]
        self.update_mapping = adapted

    def set_update_mapping(self, update_mapping: dict[int, int] | None) -> None:
        """Set which outputs become new values of which inputs."""
        self.update_mapping = update_mapping or {}

    # Clients

    def setup_var(self, var: Variable) -> None:
        """Prepare the list of clients of a variable."""
        if var not in self.clients:
            self.clients[var] = []

    def get_clients(self, var: Variable) -> list[ClientType]:
        """Return where `var` is used: pairs of a node, or "output", and an index."""
        return self.clients[var]

    def add_client(self, var: Variable, new_client: ClientType) -> None:
        """Note that `var` is used by `new_client`: a pair of a node, or "output", and an index."""
        if not isinstance(new_client[0], Apply) and new_client[0] != "output":
            raise TypeError(f'The first entry of a client is an Apply node or "output"; got {new_client!r}.')
        self.variables.add(var)
        clients = self.clients.get(var)
        if clients is None:
            self.clients[var] = [new_client]
        elif len(clients) == LONG and type(clients) is list:
            self.clients[var] = ClientList([*clients, new_client])
        else:
            clients.append(new_client)

    def _replace_client(self, var: Variable, old: ClientType, new: ClientType) -> None:
        clients = self.clients[var]
        clients[clients.index(old)] = new

    def remove_client(
        self,
        var: Variable,
        client_to_remove: ClientType,
        reason: str | None = None,
        remove_if_empty: bool = False,
    ) -> None:
        """Note that `var` is no longer used by a client, and remove the nodes that nothing uses any more.

        Parameters
        ----------
        var
            The variable.
        client_to_remove
            A pair of a node, or "output", and an index.
        reason
            What asks for the removal.
        remove_if_empty
            Whether variables without clients are removed from the graph.
        """
        removals: list[tuple[Variable, ClientType]] = [(var, client_to_remove)]
        while removals:
            variable, client = removals.pop()
            clients = self.clients.get(variable)
            if clients is None:
                continue
            try:
                clients.remove(client)
            except ValueError:
                continue
            if clients:
                continue
            node = variable.owner
            if node is not None and node in self.apply_nodes:
                if not self._is_used(node):
                    self._drop_node(node, reason)
                    removals.extend((input_, (node, i)) for i, input_ in reversed(list(enumerate(node.inputs))))
            elif not isinstance(variable, AtomicVariable):  # an input
                self.variables.discard(variable)
            elif remove_if_empty:
                self.variables.discard(variable)
                if variable not in self._unusual_inputs:
                    del self.clients[variable]

    def _is_used(self, node: Apply) -> bool:
        """Return whether a result of a node has clients, other than results that are inputs of the graph."""
        return any(self.clients.get(output) for output in node.outputs if output not in self._unusual_inputs)

    def _drop_node(self, node: Apply, reason: object) -> None:
        self.apply_nodes.remove(node)
        self._sorted = None
        for output in node.outputs:
            if output not in self._unusual_inputs:
                self.variables.discard(output)
                self.clients.pop(output, None)
            elif not self.clients[output]:
                self.variables.discard(output)
        self.execute_callbacks("on_prune", node, reason)

    def _take_out(self, node: Apply, reason: str | None) -> None:
        """Remove an unused node and the nodes that only it uses."""
        self._drop_node(node, reason)
        for i, variable in enumerate(node.inputs):
            self.remove_client(variable, (node, i), reason=reason, remove_if_empty=True)

    def remove_node(self, node: Apply, reason: str | None = None) -> None:
        """Remove a node, all nodes and outputs that depend on it, and the nodes that only these use."""
        pending = [node]
        while pending:
            current = pending[-1]
            if current not in self.apply_nodes:
                pending.pop()
                continue
            # An input of the graph does not depend on the node that computes it elsewhere.
            results = [output for output in current.outputs if output not in self._unusual_inputs]
            users = [client for output in results for client in self.clients[output]]
            nodes = [client for client, _ in users if client != "output"]
            if nodes:
                pending.extend(nodes)
                continue
            outputs = sorted((index for client, index in users if client == "output"), reverse=True)
            if outputs:
                # Removing its last output removes the node too.
                for index in outputs:
                    self.remove_output(index, reason=reason)
                continue
            pending.pop()
            self._take_out(current, reason)

    # Import

    def import_var(self, var: Variable, reason: str | None = None, import_missing: bool = False) -> None:
        """Make a variable part of the graph, with all nodes that compute it.

        Parameters
        ----------
        var
            The variable.
        reason
            What asks for it.
        import_missing
            Whether unknown inputs become inputs of the graph; otherwise they raise `MissingInputError`.
        """
        if var in self.clients:
            return
        if var.owner is not None:
            self.import_node(var.owner, reason=reason, import_missing=import_missing)
        else:
            self._import_leaf(var, None, import_missing)

    def _import_leaf(self, variable: Variable, user: Apply | None, import_missing: bool) -> None:
        if isinstance(variable.type, NullType):
            raise TypeError(f"Computation graph contains a NaN. {variable.type.why_null}")
        if not isinstance(variable, AtomicVariable):
            if not import_missing:
                raise MissingInputError(missing_input_message(variable, user), variable=variable)
            self.add_input(variable)

    def import_node(
        self, apply_node: Apply, check: bool = True, reason: str | None = None, import_missing: bool = False
    ) -> None:
        """Make a node part of the graph, with all nodes before it.

        Parameters
        ----------
        apply_node
            The node.
        check
            Whether unknown inputs are looked for.
        reason
            What asks for it.
        import_missing
            Whether unknown inputs become inputs of the graph; otherwise they raise `MissingInputError`.
        """
        new_nodes = self._nodes_to_import(apply_node)
        if check:
            # Before anything changes, so that a failure leaves the graph as it was.
            for node in new_nodes:
                for variable in node.inputs:
                    if variable.owner is None and variable not in self.clients:
                        self._import_leaf(variable, node, import_missing)
        self._sorted = None
        variables, clients = self.variables, self.clients
        for node in new_nodes:
            self.apply_nodes.add(node)
            for output in node.outputs:
                variables.add(output)
                if output not in clients:
                    clients[output] = []
            for i, variable in enumerate(node.inputs):
                self.add_client(variable, (node, i))
            self.execute_callbacks("on_import", node, reason)

    def _nodes_to_import(self, last: Apply) -> list[Apply]:
        """Return `last` and the nodes before it that are not part of the graph, inputs first."""
        known_nodes, known_variables = self.apply_nodes, self.clients
        order: list[Apply] = []
        entered: set[Apply] = set()
        done: set[Apply] = set()
        stack = [last]
        while stack:
            node = stack[-1]
            if node in done or node in known_nodes:
                stack.pop()
            elif node in entered:
                stack.pop()
                done.add(node)
                order.append(node)
            else:
                entered.add(node)
                for variable in reversed(node.inputs):
                    parent = variable.owner
                    if parent is None or variable in known_variables or parent in known_nodes:
                        continue
                    if parent in entered:
                        if parent not in done:
                            raise ValueError(f"The graph contains a cycle through the node {parent.op}.")
                        continue
                    stack.append(parent)
        return order

    # Changes

    def change_node_input(
        self,
        node: ApplyOrOutput,
        i: int,
        new_var: Variable,
        reason: str | None = None,
        import_missing: bool = False,
        check: bool = True,
    ) -> None:
        """Change input `i` of a node, or output `i` of the graph, to `new_var`.

        Parameters
        ----------
        node
            A node of the graph, or "output".
        i
            Index of the input or output.
        new_var
            The new variable.
        reason
            What asks for the change.
        import_missing
            Whether unknown inputs of `new_var` become inputs of the graph.
        check
            Whether the type of `new_var` must fit.
        """
        if node == "output":
            old = self.outputs[i]
        else:
            old = node.inputs[i]
        if old is new_var:
            return
        if check and not old.type.is_super(new_var.type):
            raise TypeError(
                "The type of the replacement must be compatible with the type of the original Variable: "
                f"{describe(new_var)} has type {new_var.type}, which is no case of {old.type}, the type of "
                f"{describe(old)}"
                f"{place_of(node, i)}."
            )
        self.import_var(new_var, reason=reason, import_missing=import_missing)
        if node == "output":
            self.outputs[i] = new_var
        else:
            node.inputs[i] = new_var
            mutation_epoch[0] += 1
        self._sorted = None
        self.add_client(new_var, (node, i))
        self.remove_client(old, (node, i), reason=reason, remove_if_empty=True)
        self.execute_callbacks("on_change_input", node, i, old, new_var, reason=reason)

    def replace(
        self,
        var: Variable,
        new_var: Variable,
        reason: str | None = None,
        verbose: bool | None = None,
        import_missing: bool = False,
    ) -> None:
        """Replace a variable wherever the graph uses it.

        Parameters
        ----------
        var
            A variable of the graph; nothing happens where the graph does not have it.
        new_var
            What replaces it.
        reason
            What asks for the replacement.
        verbose
            Whether to print the replacement; by default the option ``optimizer_verbose``.
        import_missing
            Whether unknown inputs of `new_var` become inputs of the graph.
        """
        if verbose is None:
            verbose = config.optimizer_verbose
        if verbose:
            print(f"rewriting: rewrite {reason} replaces {var} of {var.owner} with {new_var} of {new_var.owner}")
        if new_var.type is not var.type:
            new_var = var.type.filter_variable(new_var, allow_convert=True)
        if var not in self.variables:
            # An earlier replacement of the same batch may have removed it.
            return
        if config.compute_test_value != "off":
            check_test_values(var, new_var, reason)
        if self._differ_in_op_only(var, new_var):
            self._exchange(var, new_var, reason)
            return
        for node, i in list(self.clients[var]):
            self.change_node_input(node, i, new_var, reason=reason, import_missing=import_missing)

    def _differ_in_op_only(self, var: Variable, new_var: Variable) -> bool:
        """Return whether the nodes of `var`, in the graph, and `new_var`, outside, differ only in their op."""
        node, new = var.owner, new_var.owner
        return (
            node is not None
            and new is not None
            and len(node.inputs) == len(new.inputs)
            and all(map(is_, node.inputs, new.inputs))
            and len(node.outputs) == len(new.outputs) == 1
            and node in self.apply_nodes
            and new not in self.apply_nodes
            and not self._unusual_inputs
        )

    def _exchange(self, var: Variable, new_var: Variable, reason: str | None) -> None:
        """Replace a variable by one for which `_differ_in_op_only` holds: nothing else comes or goes."""
        node, new = var.owner, new_var.owner
        assert node is not None and new is not None
        self.apply_nodes.add(new)
        self.variables.add(new_var)
        for i, variable in enumerate(node.inputs):
            self.add_client(variable, (new, i))
            self.clients[variable].remove((node, i))
        users = self.clients[var]
        self.clients[new_var], self.clients[var] = users, []
        self.execute_callbacks("on_import", new, reason)
        for client, i in users:
            if client == "output":
                self.outputs[i] = new_var
            else:
                client.inputs[i] = new_var
        mutation_epoch[0] += 1
        self._drop_node(node, reason)
        for client, i in list(users):
            self.execute_callbacks("on_change_input", client, i, var, new_var, reason=reason)

    def replace_all(self, pairs: Iterable[tuple[Variable, Variable]], **kwargs: Any) -> None:
        """Replace several variables, one after the other.

        Parameters
        ----------
        pairs
            Pairs of a variable and its replacement.
        **kwargs
            Passed to `replace`.
        """
        for var, new_var in pairs:
            self.replace(var, new_var, **kwargs)

    # Features

    def attach_feature(self, feature: Feature) -> None:
        """Attach a feature; nothing happens where an equal one is attached already."""
        if feature in self._features:
            return
        attach = getattr(feature, "on_attach", None)
        if attach is not None:
            try:
                attach(self)
            except AlreadyThere:
                return
        self.execute_callbacks_times.setdefault(feature, 0.0)
        self._features.append(feature)
        self._features_changed(feature)

    def remove_feature(self, feature: Feature) -> None:
        """Remove a feature; nothing happens where it is not attached."""
        if feature not in self._features:
            return
        self._features.remove(feature)
        self._features_changed(feature)
        detach = getattr(feature, "on_detach", None)
        if detach is not None:
            detach(self)

    def _features_changed(self, feature: Feature) -> None:
        """Note that `feature` was attached or removed."""
        self._callbacks = {}
        if _handler(feature, "orderings") is not None:
            self._sorted = None

    def _listeners(self, name: str) -> list[tuple[Feature, Callable[..., Any]]]:
        """Return the features that handle `name`, with their methods."""
        listeners = self._callbacks.get(name)
        if listeners is None:
            found = [(feature, _handler(feature, name)) for feature in self._features]
            listeners = self._callbacks[name] = [(feature, method) for feature, method in found if method is not None]
        return listeners

    def execute_callbacks(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Call a method of every feature that has it.

        Parameters
        ----------
        name
            Name of the method.
        *args, **kwargs
            Passed to it after the graph.
        """
        listeners = self._callbacks.get(name)
        if listeners is None:
            listeners = self._listeners(name)
        if not listeners:
            return
        if not config.profile_optimizer:
            for _, method in listeners:
                method(self, *args, **kwargs)
            return
        start = clock.now()
        for feature, method in listeners:
            feature_start = clock.now()
            method(self, *args, **kwargs)
            self.execute_callbacks_times[feature] += clock.now() - feature_start
        self.execute_callbacks_time += clock.now() - start

    def collect_callbacks(self, name: str, *args: Any) -> dict[Feature, Any]:
        """Call a method of every feature that has it, with `args` alone, and return the results by feature."""
        return {feature: method(*args) for feature, method in self._listeners(name)}

    def __getattr__(self, name: str) -> Any:
        # Methods that attached features offer, such as `get_nodes`.
        if not name.startswith("__") and "_features" in self.__dict__:
            feature = self._exporter(name)
            if feature is None and name in ReplaceValidate.exports:
                # Every graph has these; what they need is attached when they are first asked for.
                self.attach_feature(ReplaceValidate())
                feature = self._exporter(name)
            if feature is not None:
                function_of = getattr(feature, "function_of", None)
                method = getattr(feature, name) if function_of is None else function_of(name)
                return partial(method, self)
            for feature in self._features:
                if name in getattr(feature, "shows", ()):
                    return feature.attribute_of(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _exporter(self, name: str) -> Feature | None:
        """The attached feature that offers a method."""
        return next((feature for feature in self._features if name in getattr(feature, "exports", ())), None)

    def has_method(self, name: str) -> bool:
        """Tell whether `name` is a method, possibly one that an attached feature offers."""
        return name in self.__dict__ or hasattr(type(self), name) or self._exporter(name) is not None

    # Order

    def toposort(self) -> list[Apply]:
        """Return the nodes, each after those it depends on and those that features put before it."""
        order = self._sorted
        if order is not None:
            return list(order)
        listeners = self._listeners("orderings")
        order = io_toposort(self.inputs, self.outputs, self.orderings() if listeners else None)
        if all(getattr(feature, "orderings_follow_graph", False) for feature, _ in listeners):
            self._sorted = order
            return list(order)
        return order

    def orderings(self) -> dict[Apply, list[Apply]]:
        """Return for nodes the nodes that features put before them."""
        merged: dict[Apply, dict[Apply, None]] = {}
        for feature, method in self._listeners("orderings"):
            orderings = method(self)
            if not isinstance(orderings, dict):
                raise TypeError(
                    f"{type(feature).__name__}.orderings must return a dictionary of lists, not {orderings!r}."
                )
            for node, before in orderings.items():
                merged.setdefault(node, {}).update(dict.fromkeys(before))
        return {node: list(before) for node, before in merged.items()}

    # Checks and copies

    def check_integrity(self) -> None:
        """Raise an exception where nodes, variables and clients contradict each other."""
        check_integrity(self)

    def clone(self, check_integrity: bool = True) -> FunctionGraph:
        """Return a copy with copies of the features."""
        return self.clone_get_equiv(check_integrity)[0]

    def clone_get_equiv(
        self, check_integrity: bool = True, attach_feature: bool = True, **kwargs: Any
    ) -> tuple[FunctionGraph, dict[Any, Any]]:
        """Return a copy, and the map from variables and nodes to their copies.

        Parameters
        ----------
        check_integrity
            Whether both graphs are checked.
        attach_feature
            Whether copies of the features are attached to the copy.
        **kwargs
            Passed to `clone_get_equiv`.
        """
        if check_integrity:
            self.check_integrity()
        equiv = clone_get_equiv(self.inputs, self.outputs, **kwargs)
        copy = type(self)(
            [equiv[variable] for variable in self.inputs],
            [equiv[variable] for variable in self.outputs],
            clone=False,
            update_mapping=dict(self.update_mapping),
        )
        if check_integrity:
            copy.check_integrity()
        if attach_feature:
            for feature in self._features:
                copy.attach_feature(feature.clone())
        return copy, equiv

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        # First, and in one piece, so that everything after it finds its nodes there.
        owners = dict.fromkeys(v.owner for v in [*self.outputs, *self.inputs] if v.owner is not None)
        block: Block | None = block_of(list(owners))
        # These follow from the graph and its features.
        for derived in ("apply_nodes", "variables", "clients", "_callbacks", "_sorted"):
            del state[derived]
        return {"_graph_block": block, **state}

    def __setstate__(self, state: Any) -> None:
        state = dict(state)
        state.pop("_graph_block", None)
        self.__dict__.update(state)
        self._callbacks, self._sorted = {}, None
        self.apply_nodes = set()
        self.variables = set()
        self.clients = {variable: [] for variable in self.inputs}
        for node in io_toposort(self.inputs, self.outputs):
            self.apply_nodes.add(node)
            for output in node.outputs:
                self.variables.add(output)
                self.setup_var(output)
            for i, variable in enumerate(node.inputs):
                self.add_client(variable, (node, i))
        for i, variable in enumerate(self.outputs):
            self.add_client(variable, ("output", i))
        for _, method in self._listeners("on_unpickle"):
            method(self)
        # Features may only now know their orderings.
        self._sorted = None

    def __contains__(self, item: Variable | Apply) -> bool:
        if isinstance(item, Variable):
            return item in self.variables
        if isinstance(item, Apply):
            return item in self.apply_nodes
        raise TypeError(f"A FunctionGraph contains variables and Apply nodes, not {describe(item)}.")

    def __str__(self) -> str:
        return f"FunctionGraph({', '.join(as_string(self.inputs, self.outputs))})"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return hooks.html(self)


def _handler(feature: Feature, name: str) -> Callable[..., Any] | None:
    """The method of a feature for an event; None where it has none, or inherits an empty one."""
    method = getattr(feature, name, None)
    empty = getattr(Feature, name, None)
    return None if empty is not None and getattr(method, "__func__", method) is empty else method


__all__ = ["ApplyOrOutput", "ClientType", "FunctionGraph", "MissingInputError", "config"]
