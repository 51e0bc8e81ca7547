"""Features: objects that follow, check, or extend a `FunctionGraph`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.traversal import view_roots
from aesara.graph.utils import InconsistencyError
from aesara.user_code import warn_user


class AlreadyThere(Exception):
    """Raised by ``on_attach`` when an equal feature is attached already; the attachment is then skipped."""


class ReplacementDidNotRemoveError(Exception):
    """A replacement that should have removed variables left some of them in the graph."""


class BadOptimization(Exception):
    """A rewrite changed a result.

    Parameters
    ----------
    old_r, new_r
        The variable and its replacement.
    old_r_val, new_r_val
        Their values.
    reason
        The rewrite.
    old_graph, new_graph
        Texts of the graphs.
    """

    def __init__(
        self,
        old_r: Any,
        new_r: Any = None,
        old_r_val: Any = None,
        new_r_val: Any = None,
        reason: object = None,
        old_graph: Any = None,
        new_graph: Any = None,
    ) -> None:
        self.old_r = old_r
        self.new_r = new_r
        self.old_r_val = old_r_val
        self.new_r_val = new_r_val
        self.reason = reason
        self.old_graph = self._graph_text(old_r) if old_graph is None else old_graph
        self.new_graph = self._graph_text(new_r) if new_graph is None else new_graph
        self.full_err: str | None = None

    @staticmethod
    def _graph_text(variable: Any) -> str:
        if variable is None:
            return str(variable)
        buffer = StringIO()
        hooks.debugprint(variable, file=buffer)
        return buffer.getvalue()

    def __str__(self) -> str:
        return self.str_diagnostic()

    def str_diagnostic(self) -> str:
        """Return a description of the difference."""
        if self.full_err is not None:
            return self.full_err
        lines = [
            "BadOptimization Error",
            f"  Variable: id {id(self.new_r)} {self.new_r}",
            f"  Op {getattr(self.new_r, 'owner', None)}",
            f"  Value Type: {type(self.new_r_val)}",
        ]
        for label, value in (("Old", self.old_r_val), ("New", self.new_r_val)):
            shape = getattr(value, "shape", None)
            dtype = getattr(value, "dtype", None)
            lines.append(f"  {label} Value shape, dtype: {shape}, {dtype}")
            lines.append(f"  {label} Value: {_excerpt(value)}")
        try:
            with np.errstate(invalid="ignore"):
                difference = np.abs(np.asarray(self.new_r_val, dtype=float) - np.asarray(self.old_r_val, dtype=float))
            if not np.isnan(difference).all():
                lines.append(f"  Max Abs Diff: {np.nanmax(difference)}")
        except (TypeError, ValueError):
            pass
        lines.append(f"  Reason: {self.reason}")
        lines += ["  Old Graph:", str(self.old_graph), "  New Graph:", str(self.new_graph)]
        lines.append("")
        lines.append(
            "Hint: relax the tolerance of comparisons by the option tensor__cmp_sloppy, or report the rewrite."
        )
        self.full_err = "\n".join(lines)
        return self.full_err


def _excerpt(value: Any, length: int = 300) -> str:
    text = str(value)
    return text if len(text) <= length else f"{text[: length // 2]} ... {text[-length // 2 :]}"


class Feature:
    """Base class of objects that are attached to a `FunctionGraph` and notified of its changes.

    The methods are called when something happens to the graph. Those that a subclass does not override cost
    nothing.

    Attributes
    ----------
    exports
        Names of methods that are offered as methods of the graph while the feature is attached:
        ``fgraph.name(...)`` calls ``feature.name(fgraph, ...)``.
    shows
        Names of attributes of the graph while the feature is attached: ``fgraph.name`` is
        ``feature.attribute_of(fgraph, name)``.
    orderings_follow_graph
        Says that `orderings` only changes when the graph does, so that sorted nodes may be remembered.

    Examples
    --------
    >>> class CountImports(Feature):
    ...     count = 0
    ...     def on_import(self, fgraph, node, reason):
    ...         self.count += 1
    """

    exports: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    orderings_follow_graph = False

    def on_attach(self, fgraph: Any) -> None:
        """Called when the feature is attached; may raise `AlreadyThere`."""

    def on_detach(self, fgraph: Any) -> None:
        """Called when the feature is removed."""

    def on_import(self, fgraph: Any, node: Any, reason: object) -> None:
        """Called after a node has become part of the graph."""

    def on_prune(self, fgraph: Any, node: Any, reason: object) -> None:
        """Called after a node was removed because nothing uses its outputs."""

    def on_change_input(self, fgraph: Any, node: Any, i: Any, var: Any, new_var: Any, reason: object = None) -> None:
        """Called after input `i` of `node` (or output `i`, where `node` is "output") became `new_var`."""

    def orderings(self, fgraph: Any) -> dict[Any, list[Any]]:
        """Return for nodes the nodes that must be computed before them."""
        return {}

    def on_unpickle(self, fgraph: Any) -> None:
        """Called after the graph was unpickled together with the feature."""

    def on_transaction(self, fgraph: Any) -> None:
        """Called before changes that are undone where the graph becomes inconsistent."""

    def on_rollback(self, fgraph: Any) -> None:
        """Called after such changes were undone."""

    def clone(self) -> Any:
        """Return the feature to attach to a copy of the graph."""
        return self

    def attribute_of(self, fgraph: Any, name: str) -> Any:
        """Return the value of an attribute that the feature adds to the graph."""
        raise NotImplementedError(f"{type(self).__name__} does not define attribute_of.")


def attach_once(fgraph: Any, kind: type[Feature] | Callable[[Any], Any]) -> None:
    """Attach a feature of this class unless the graph has one; call what is no class with the graph."""
    if not isinstance(kind, type):
        kind(fgraph)
        return
    for feature in fgraph._features:
        if type(feature) is kind:
            return
    fgraph.attach_feature(kind())


class Bookkeeper(Feature):
    """A feature that is told about the nodes present when it is attached or removed."""

    def on_attach(self, fgraph: Any) -> None:
        """Call `on_import` for each node."""
        for node in fgraph.toposort():
            self.on_import(fgraph, node, "Bookkeeper.on_attach")

    def on_detach(self, fgraph: Any) -> None:
        """Call `on_prune` for each node."""
        for node in fgraph.toposort():
            self.on_prune(fgraph, node, "Bookkeeper.detach")


class GetCheckpoint:
    """Takes a checkpoint of a `History` when called."""

    __slots__ = ("fgraph", "history")

    def __init__(self, history: Any, fgraph: Any) -> None:
        self.history = history
        self.fgraph = fgraph

    def __call__(self) -> int:
        return self.history.checkpoint(self.fgraph)


class LambdaExtract:
    """Undoes one change of an input when called."""

    __slots__ = ("fgraph", "i", "node", "r", "reason")

    def __init__(self, fgraph: Any, node: Any, i: Any, r: Any, reason: object = None) -> None:
        self.fgraph = fgraph
        self.node = node
        self.i = i
        self.r = r
        self.reason = reason

    def __call__(self) -> Any:
        return self.fgraph.change_node_input(self.node, self.i, self.r, reason=("Revert", self.reason), check=False)


class History(Feature):
    """Remembers changes, so that a graph can be taken back to a checkpoint.

    Adds ``fgraph.checkpoint()`` and ``fgraph.revert(checkpoint)``.
    """

    exports: tuple[str, ...] = ("checkpoint", "revert")
    shows = ("_history_history", "_history_is_reverting")

    def __init__(self) -> None:
        # Per graph: [changes, whether a user holds a checkpoint, whether a revert is going on].
        self.history: dict[Any, list[Any]] = {}

    def _begin(self, fgraph: Any) -> None:
        self.history[fgraph] = [[], False, False]

    def on_attach(self, fgraph: Any) -> None:
        """Start to remember."""
        if fgraph.has_method("checkpoint") or fgraph.has_method("revert"):
            raise AlreadyThere("History feature is already present or in conflict with another plugin.")
        self._begin(fgraph)

    def on_detach(self, fgraph: Any) -> None:
        """Forget everything."""
        self.history.pop(fgraph, None)

    def clone(self) -> Any:
        """Return a new feature of the same kind."""
        return type(self)()

    def attribute_of(self, fgraph: Any, name: str) -> Any:
        """Return the changes that are remembered, or whether they are being undone."""
        changes, _, is_reverting = self.history[fgraph]
        return changes if name == "_history_history" else is_reverting

    def on_change_input(self, fgraph: Any, node: Any, i: Any, r: Any, new_r: Any, reason: object = None) -> None:
        """Remember the change."""
        record = self.history[fgraph]
        if not record[2]:
            record[0].append(LambdaExtract(fgraph, node, i, r, reason))

    def checkpoint(self, fgraph: Any) -> int:
        """Return a number that stands for the present state."""
        record = self.history[fgraph]
        record[1] = True
        return len(record[0])

    def revert(self, fgraph: Any, checkpoint: int) -> None:
        """Take the graph back to the state of `checkpoint`."""
        record = self.history[fgraph]
        changes = record[0]
        record[2] = True
        try:
            while len(changes) > checkpoint:
                changes.pop()()
        finally:
            record[2] = False

    def on_unpickle(self, fgraph: Any) -> None:
        """Start to remember again."""
        self._begin(fgraph)

    def __getstate__(self) -> Any:
        return {**self.__dict__, "history": {}}


class Validator(Feature):
    """Lets other features check the graph.

    Adds ``fgraph.validate()`` and ``fgraph.consistent()``: features with a method ``validate(fgraph)`` raise
    `InconsistencyError` where they find the graph inconsistent.
    """

    exports: tuple[str, ...] = ("validate", "consistent")

    def on_attach(self, fgraph: Any) -> None:
        """Refuse to be attached twice."""
        if fgraph.has_method("validate"):
            raise AlreadyThere("Validator feature is already present or in conflict with another plugin.")

    def validate_(self, fgraph: Any) -> None:
        """Ask every feature; raise `InconsistencyError` where one objects."""
        try:
            fgraph.execute_callbacks("validate")
        except InconsistencyError as error:
            if config.optimizer_verbose:
                print(f"validate failed in {sys._getframe(1).f_code.co_name}: {error}")
            raise

    def consistent_(self, fgraph: Any) -> bool:
        """Tell whether no feature objects."""
        try:
            fgraph.validate()
            return True
        except InconsistencyError:
            return False

    def function_of(self, name: str) -> Any:
        """Return the function behind an exported name; the names differ, as features define ``validate``
        themselves."""
        return getattr(self, f"{name}_")


class ReplaceValidate(History, Validator):
    """Replacements that are undone where the graph becomes inconsistent.

    Adds ``fgraph.replace_validate``, ``fgraph.replace_all_validate`` and
    ``fgraph.replace_all_validate_remove`` to what `History` and `Validator` add.
    """

    exports = (
        *History.exports,
        *Validator.exports,
        "replace_validate",
        "replace_all_validate",
        "replace_all_validate_remove",
    )

    def on_attach(self, fgraph: Any) -> None:
        """Start to remember."""
        for name in ("replace_validate", "replace_all_validate", "replace_all_validate_remove"):
            if fgraph.has_method(name):
                raise AlreadyThere("ReplaceValidate feature is already present or in conflict with another plugin.")
        # A `History` or `Validator` that is there already goes on with what it does; this one keeps its own record.
        self._begin(fgraph)

    def function_of(self, name: str) -> Any:
        """Return the function behind an exported name."""
        return getattr(self, f"{name}_" if name in Validator.exports else name)

    def replace_validate(self, fgraph: Any, r: Any, new_r: Any, reason: object = None, **kwargs: Any) -> None:
        """Replace `r` by `new_r`; undo it and raise where the graph becomes inconsistent."""
        self.replace_all_validate(fgraph, [(r, new_r)], reason=reason, **kwargs)

    def replace_all_validate(
        self, fgraph: Any, replacements: Any, reason: object = None, verbose: bool | None = None, **kwargs: Any
    ) -> Any:
        """Replace several variables; undo everything and raise where the graph becomes inconsistent.

        Parameters
        ----------
        fgraph
            The graph.
        replacements
            Pairs of a variable and its replacement.
        reason
            What asks for the replacement.
        verbose
            Whether to print the replacements; by default the option ``optimizer_verbose``.
        **kwargs
            Passed to `FunctionGraph.replace`.

        Returns
        -------
        int
            A checkpoint from before.
        """
        record = self.history[fgraph]
        start = len(record[0])
        if verbose is None:
            verbose = config.optimizer_verbose
        fgraph.execute_callbacks("on_transaction")
        for r, new_r in replacements:
            try:
                fgraph.replace(r, new_r, reason=reason, verbose=False, **kwargs)
            except Exception as error:
                self._roll_back(fgraph, start)
                if isinstance(error, (TypeError, AssertionError)):
                    error.add_note(
                        f"While replacing {r} (type {r.type}) by {new_r} "
                        f"(type {getattr(new_r, 'type', type(new_r))}), for the reason: {reason}."
                    )
                raise
        try:
            fgraph.validate()
        except Exception as error:
            self._roll_back(fgraph, start)
            if verbose:
                print(f"rewriting: validate failed on node {replacements[0][0]}.\n Reason: {reason}, {error}")
            raise
        if verbose:
            for r, new_r in replacements:
                print(f"rewriting: rewrite {reason} replaces {r} of {r.owner} with {new_r} of {new_r.owner}")
        if not record[1]:
            # Nobody can go back behind this point.
            del record[0][start:]
        return start

    def _roll_back(self, fgraph: Any, start: int) -> None:
        self.revert(fgraph, start)
        fgraph.execute_callbacks("on_rollback")

    def replace_all_validate_remove(
        self,
        fgraph: Any,
        replacements: Any,
        remove: Sequence[Any],
        reason: object = None,
        warn: bool = True,
        **kwargs: Any,
    ) -> None:
        """Replace, and undo everything where a variable of `remove` is still part of the graph afterwards.

        Raises `ReplacementDidNotRemoveError` in that case.
        """
        record = self.history[fgraph]
        held = record[1]
        record[1] = True
        try:
            start = self.replace_all_validate(fgraph, replacements, reason=reason, **kwargs)
            for variable in remove:
                if variable in fgraph.variables or variable in fgraph.apply_nodes:
                    self.revert(fgraph, start)
                    if warn:
                        warn_user(
                            f"The replacement '{reason}' was undone: {variable}, which it should remove, is still in "
                            "use.",
                        )
                    raise ReplacementDidNotRemoveError(f"{variable} is still part of the graph.")
            if not held:
                del record[0][start:]
        finally:
            record[1] = held


class NodeFinder(Bookkeeper):
    """Finds nodes by their Op: adds ``fgraph.get_nodes(op)``."""

    exports = ("get_nodes",)

    def __init__(self) -> None:
        self.fgraph = None
        self.d: dict[Any, dict[Any, Any]] = {}

    def on_attach(self, fgraph: Any) -> None:
        """Collect the nodes."""
        if fgraph.has_method("get_nodes"):
            raise AlreadyThere("NodeFinder is already present or in conflict with another plugin.")
        self.fgraph = fgraph
        super().on_attach(fgraph)

    def clone(self) -> Any:
        """Return a new feature of the same kind."""
        return type(self)()

    def on_detach(self, fgraph: Any) -> None:
        """Forget the nodes."""
        if self.fgraph is not fgraph:
            raise Exception("This NodeFinder instance was not attached to the provided fgraph.")
        self.fgraph = None
        self.d = {}

    def on_import(self, fgraph: Any, node: Any, reason: object) -> None:
        """Add the node."""
        try:
            self.d.setdefault(node.op, {})[node] = None
        except TypeError:  # unhashable Op
            return

    def on_prune(self, fgraph: Any, node: Any, reason: object) -> None:
        """Remove the node."""
        try:
            nodes = self.d[node.op]
        except TypeError:
            return
        del nodes[node]
        if not nodes:
            del self.d[node.op]

    def get_nodes(self, fgraph: Any, op: Any) -> list[Any]:
        """Return the nodes that apply `op`, in the order they came."""
        return list(self.d.get(op, ()))

    def on_unpickle(self, fgraph: Any) -> None:
        """Collect the nodes of a graph that was just unpickled."""
        self.fgraph = fgraph
        Bookkeeper.on_attach(self, fgraph)

    def __getstate__(self) -> Any:
        return {**self.__dict__, "fgraph": None, "d": {}}


class PrintListener(Feature):
    """Prints the changes of the graph.

    Parameters
    ----------
    active
        Whether to print.
    """

    def __init__(self, active: bool = True):
        self.active = active

    def _print(self, *what: Any) -> None:
        if self.active:
            print(*what, file=sys.stdout)

    def on_attach(self, fgraph: Any) -> None:
        """Print that the feature was attached."""
        self._print("-- attaching to: ", fgraph)

    def on_detach(self, fgraph: Any) -> None:
        """Print that the feature was removed."""
        self._print("-- detaching from: ", fgraph)

    def on_import(self, fgraph: Any, node: Any, reason: object) -> None:
        """Print the new node."""
        self._print(f"-- importing: {node}, reason: {reason}")

    def on_prune(self, fgraph: Any, node: Any, reason: object) -> None:
        """Print the removed node."""
        self._print(f"-- pruning: {node}, reason: {reason}")

    def on_change_input(self, fgraph: Any, node: Any, i: Any, r: Any, new_r: Any, reason: object = None) -> None:
        """Print the change."""
        self._print(f"-- changing ({node}.inputs[{i}]) from {r} to {new_r}")


class PreserveVariableAttributes(Feature):
    """Hands the name and the tag of a replaced variable on to its replacement."""

    def on_change_input(self, fgraph: Any, node: Any, i: Any, r: Any, new_r: Any, reason: object = None) -> None:
        """Copy the name and the entries of the tag that the replacement lacks."""
        if new_r.name is None:
            new_r.name = r.name
        if r._tag is not None:
            for name, value in r._tag.__dict__.items():
                if not hasattr(new_r.tag, name):
                    setattr(new_r.tag, name, value)


class NoOutputFromInplace(Feature):
    """Refuses graphs whose outputs are written over other memory.

    Parameters
    ----------
    protected_out_ids
        Indices of the outputs to protect.
    """

    def __init__(self, protected_out_ids: Any) -> None:
        self.protected_out_ids = tuple(protected_out_ids)

    def on_attach(self, fgraph: Any) -> None:
        """Refuse to be attached twice."""
        if any(isinstance(feature, NoOutputFromInplace) for feature in fgraph._features):
            raise AlreadyThere("A NoOutputFromInplace feature is already attached.")

    def clone(self) -> Any:
        """Return a feature that protects the same outputs."""
        return type(self)(self.protected_out_ids)

    def validate(self, fgraph: Any) -> bool:
        """Raise `InconsistencyError` where a protected output is the result of an in-place operation."""
        for index in self.protected_out_ids:
            for root in view_roots(fgraph.outputs[index]):
                node = root.owner
                if node is not None and root.index in node.op.destroy_map:
                    raise InconsistencyError(
                        f"Output {index} would be written over an input of {node.op}. Its index is protected by "
                        "NoOutputFromInplace."
                    )
        return True
