"""A mode that checks everything: rewrites, the promises of operations, values, and native code.

What it can find is in `debug_errors`, how single nodes are run in `debug_checks`, and how native code is compared in
`debug_native`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.compile.debug_checks import LAYOUTS, CheckedNode, Failed, may_replace, order_of
from aesara.compile.debug_errors import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DataDestroyed,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
    check_eq,
    data_destroyed,
    str_diagnostic,
    validity_hint,
)
from aesara.compile.debug_native import NativeCheck
from aesara.compile.function.aliasing import Supervisor
from aesara.compile.function.maker import FunctionMaker
from aesara.compile.mode import Mode, optimizer_name
from aesara.compile.shrink import smallest_case
from aesara.configdefaults import config
from aesara.graph.features import Feature
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.rewriting.db import RewriteDatabase
from aesara.graph.rewriting.rewriter import GraphRewriter
from aesara.link.basic import Linker, containers_of
from aesara.link.originals import copy_value
from aesara.link.utils import map_storage

if TYPE_CHECKING:
    from aesara.compile.profile_stats import ProfileStats


_logger = logging.getLogger("aesara.compile.debugmode")


class ChangeRecorder(Feature):
    """Remembers which variables of a graph have been replaced by which others, and by which rewrites."""

    def __init__(self) -> None:
        self.replaced: dict[tuple[Variable, Variable], object] = {}
        self.events: list[str] = []
        self.outputs: list[Variable] = []

    def clone(self) -> ChangeRecorder:
        return type(self)()

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.outputs = list(fgraph.outputs)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply, i: int, var: Variable, new_var: Variable, reason: object = None
    ) -> None:
        self.replaced.setdefault((var, new_var), reason)
        change = f"{_producer_text(var)} -> {_producer_text(new_var)}"
        self.events.append(f"{reason}: {getattr(node, 'op', node)}, input {i}: {change}")


def _producer_text(variable: Variable) -> str:
    return str(variable.owner.op if variable.owner is not None else variable)


class RecordedRewriter(GraphRewriter):
    """Applies a rewriter with a `ChangeRecorder` attached, to the graph and to copies of it.

    Parameters
    ----------
    rewriter
        The rewriter.
    times
        On how many graphs; all of them must change in the same way.
    """

    def __init__(self, rewriter: GraphRewriter, times: int) -> None:
        self.rewriter = rewriter
        self.times = times

    def apply(self, fgraph: FunctionGraph) -> Any:
        copies = [_copy_of(fgraph) for _ in range(self.times - 1)]
        recorder = ChangeRecorder()
        fgraph.attach_feature(recorder)
        result = self.rewriter.rewrite(fgraph)
        for other in copies:
            again = ChangeRecorder()
            other.attach_feature(again)
            self.rewriter.rewrite(other)
            _compare_events(recorder.events, again.events)
        return result


def _copy_of(fgraph: FunctionGraph) -> FunctionGraph:
    """Copy a graph with its features; protected variables are mapped to their copies."""
    new, equiv = fgraph.clone_get_equiv(check_integrity=False, attach_feature=False)
    for feature in fgraph._features:
        if isinstance(feature, Supervisor):
            new.attach_feature(Supervisor([equiv[one] for one in feature.protected]))
        else:
            new.attach_feature(feature.clone())
    return new


def _compare_events(first: Sequence[str], second: Sequence[str]) -> None:
    for number, (one, other) in enumerate(zip([*first, None], [*second, None])):
        if one != other:
            raise StochasticOrder(
                f"Rewriting the same graph twice is not the same; change number {number} was\n  {one}\nand then\n  "
                f"{other}\nA rewrite depends on something else than the graph, such as the order of a set."
            )
        if one is None:
            return


class DebugLinker(Linker):
    """Runs a graph, and all graphs that it was before rewriting, node by node, with checks; see `DebugMode`."""

    def __init__(self, mode: DebugMode) -> None:
        super().__init__()
        self.mode = mode
        self.fgraph: FunctionGraph | None = None

    def accept(
        self, fgraph: FunctionGraph, no_recycling: object = None, profile: ProfileStats | None = None
    ) -> DebugLinker:
        """Take the graph to link."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            return self.clone().accept(fgraph, no_recycling, profile)
        self.fgraph = fgraph
        return self

    def make_thunk(self, input_storage=None, output_storage=None, storage_map=None, **kwargs):
        fgraph = self.fgraph
        if fgraph is None:
            raise ValueError("The linker has no graph; call accept(fgraph) first.")
        order = self.schedule(fgraph)
        inputs, outputs, _ = map_storage(fgraph, order, input_storage, output_storage, storage_map)
        run = CheckedGraph(fgraph, order, self.mode, inputs, outputs)
        return run, containers_of(fgraph.inputs, inputs), containers_of(fgraph.outputs, outputs)


class CheckedGraph:
    """Executable graph of `DebugLinker`: computes the outputs and raises a `DebugModeError` when a check fails."""

    def __init__(
        self,
        fgraph: FunctionGraph,
        order: Sequence[Apply],
        mode: DebugMode,
        inputs: Sequence[list[Any]],
        outputs: Sequence[list[Any]],
    ) -> None:
        self.fgraph = fgraph
        self.mode = mode
        self.inputs = list(inputs)
        self.cells = list(outputs)
        self.active = set(order)
        recorders = [one for one in fgraph._features if isinstance(one, ChangeRecorder)]
        self.replaced = dict(recorders[0].replaced) if recorders else {}
        self.written = list(recorders[0].outputs) if recorders else []
        former = [one for pair in self.replaced for one in pair] + (recorders[0].outputs if recorders else [])
        layouts = mode.check_preallocated_output
        nodes = order_of([*former, *fgraph.outputs], set(fgraph.inputs))
        self.nodes = [self._make_checked_node(node, layouts if node in self.active else ()) for node in nodes]
        self.native: NativeCheck | None = None
        if mode.check_c_code:
            self.native = NativeCheck(fgraph.inputs, fgraph.outputs, order, mode.require_matching_strides)

    def _make_checked_node(self, node: Apply, layouts: Sequence[str]) -> CheckedNode:
        # The reference of a loop is not native code; what is inside is checked as well.
        flags = {
            "mode": "DebugMode",
            "DebugMode__patience": 1,
            "DebugMode__check_c": self.mode.check_c_code,
            "DebugMode__check_py": self.mode.check_py_code,
            "DebugMode__check_finite": self.mode.check_isfinite and node in self.active,
        }
        states = self.fgraph.update_mapping
        if node not in self.active:
            return CheckedNode(node, layouts, self.mode.check_py_code, flags)
        # A result is overwritten by a node that takes it, or by a later call if it becomes a state.
        users = [self.fgraph.clients[out] for out in node.outputs]
        may_share = {
            k for k, clients in enumerate(users) if all(user == "output" and i not in states for user, i in clients)
        }
        unused = {k for k, clients in enumerate(users) if not clients}
        return CheckedNode(node, layouts, self.mode.check_py_code, flags, may_share, unused)

    def __call__(self) -> None:
        values: dict[Variable, Any] = {}
        for variable, cell in zip(self.fgraph.inputs, self.inputs):
            self._check_input(variable, cell[0])
            values[variable] = copy_value(cell[0])
        for checked in self.nodes:
            for variable in checked.node.inputs:
                if variable not in values:
                    values[variable] = _value_of_leaf(variable, checked.node)
            outputs = checked(values)
            if checked.node in self.active:
                self._check_finite(checked.node, outputs)
            values.update(zip(checked.node.outputs, outputs))
        for variable in self.fgraph.outputs:
            if isinstance(variable, Constant):
                values[variable] = copy_value(variable.data)
        self._check_replaced(values)
        for variable in self.fgraph.outputs:
            if isinstance(values[variable], Failed):
                values[variable].raise_again(self._cause_of_failure(values))
        for variable in self.written:
            # A mistake that the rewritten graph does not show, such as shapes that do not fit where one is asked for.
            failed = values.get(variable)
            if isinstance(failed, Failed) and isinstance(failed.error, ValueError):
                failed.raise_again()
        if self.native is not None:
            self.native(values, _logger.warning)
        for variable, cell in zip(self.fgraph.outputs, self.cells):
            if variable.owner is not None or isinstance(variable, Constant):
                cell[0] = values[variable]

    def _cause_of_failure(self, values: dict[Variable, object]) -> str | None:
        """Name the rewrites that replaced a variable that evaluates by one that fails; None if there are none."""
        reasons = [
            f"The rewrite {reason} has put {new.owner or new} in the place of {old.owner or old}, which does not fail."
            for (old, new), reason in self.replaced.items()
            if old in values and not isinstance(values[old], Failed) and isinstance(values.get(new), Failed)
        ]
        return "\n".join(dict.fromkeys(reasons)) or None

    def _check_input(self, variable: Variable, value: Any) -> None:
        if not variable.type.is_valid_value(value) or not self._is_fine(variable, value):
            hint = f"Graph Input '{variable}' has invalid value {value}"
            raise InvalidValueError(variable, value, None, hint, validity_hint(variable.type, value))

    def _check_finite(self, node: Apply, outputs: Sequence[Any]) -> None:
        for variable, value in zip(node.outputs, outputs):
            if not self._is_fine(variable, value):
                raise InvalidValueError(variable, value, None, "perform output", "Non-finite elements not allowed")

    def _is_fine(self, variable: Variable, value: object) -> bool:
        if not self.mode.check_isfinite or not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
            return True
        return bool(np.isfinite(value).all())

    def _check_replaced(self, values: dict[Variable, object]) -> None:
        """Compare each variable that a rewrite replaced with its replacement."""
        for (old, new), reason in self.replaced.items():
            for variable in (old, new):
                if isinstance(variable, Constant):
                    values.setdefault(variable, variable.data)
            if old not in values or new not in values:
                continue
            before, after = values[old], values[new]
            if isinstance(before, Failed) or isinstance(after, Failed):
                continue
            if not may_replace(old, before, after):
                inputs = {one: values[one] for one in self.fgraph.inputs}
                case = smallest_case(old, inputs, reason)
                error = BadOptimization(old, new, before, after, reason)
                error.program = None if case is None else case.program()
                raise error


def _value_of_leaf(variable: Variable, node: Apply) -> Any:
    if isinstance(variable, Constant):
        return variable.data
    return Failed(DebugModeError(f"The variable {describe(variable)} has no value."), node, ())


class DebugMode(Mode):
    """Runs what a graph was before rewriting and what it has become, node by node and natively, and compares.

    Parameters
    ----------
    optimizer
        The rewrites to check, as for `Mode`.
    stability_patience
        How often the graph is rewritten, always in the same way.  Default: ``config.DebugMode__patience``.
    check_c_code
        Whether native code is compared with the reference.  Default: ``config.DebugMode__check_c``.
    check_py_code
        Whether the maps of views and of overwritten inputs, and `check_preallocated_output`, are checked.
        Default: ``config.DebugMode__check_py``.
    check_isfinite
        Whether NaN and infinity in arguments and results are errors.  Default: ``config.DebugMode__check_finite``.
    check_preallocated_output
        Layouts of memory to offer for the outputs of each node in further runs: ``"initial"``, ``"previous"``,
        ``"c_contiguous"``, ``"f_contiguous"``, ``"strided"``, ``"wrong_size"``, or ``"ALL"``.
        Default: ``config.DebugMode__check_preallocated_output``, separated by colons.
    require_matching_strides
        What to do where strides differ between native code and the reference: nothing (0), warn (1), an error (2).
        Default: ``config.DebugMode__check_strides``.
    linker
        Must be None: the mode has its own.
    db
        See `Mode`.

    Raises
    ------
    BadOptimization
        When calling a function of this mode: a rewrite has changed a value.  Names the rewrite.
    BadDestroyMap, BadViewMap
        When calling: an operation overwrites an input, or returns a view, without saying so.
    BadThunkOutput
        When calling: native code, a second run, inputs that are not contiguous, or memory that is offered for outputs
        change a value.
    InvalidValueError
        When calling: a value does not fit its type, or is not finite.
    StochasticOrder
        When compiling: rewriting is not the same each time.

    Notes
    -----
    Results are those of the reference.  Values that were not finite before a rewrite may be finite after it.

    Examples
    --------
    >>> x = at.dvector("x")
    >>> f = aesara.function([x], at.log(at.exp(x) + 1), mode="DebugMode")
    >>> f([0.0])
    array([0.69314718])
    """

    def __init__(
        self,
        optimizer: Any = "fast_run",
        stability_patience: int | None = None,
        check_c_code: bool | None = None,
        check_py_code: bool | None = None,
        check_isfinite: bool | None = None,
        check_preallocated_output: Sequence[str] | str | None = None,
        require_matching_strides: int | None = None,
        linker: Any = None,
        db: RewriteDatabase | None = None,
    ) -> None:
        if not (linker is None or isinstance(linker, DebugLinker)):
            raise TypeError(f"DebugMode has its own linker, got {linker!r}.")
        self._chosen = {
            "stability_patience": stability_patience,
            "check_c_code": check_c_code,
            "check_py_code": check_py_code,
            "check_isfinite": check_isfinite,
            "check_preallocated_output": check_preallocated_output,
            "require_matching_strides": require_matching_strides,
        }
        if not (self.check_c_code or self.check_py_code):
            raise ValueError("DebugMode has to check at least one of c and py code")
        _known_layouts(check_preallocated_output or ())
        super().__init__(DebugLinker(self), optimizer, db)

    def clone(self, link_kwargs: dict[str, object] | None = None, optimizer: Any = "", **kwargs: Any) -> DebugMode:
        """Return a mode like this one; see `Mode.clone`.

        Parameters
        ----------
        **kwargs
            Other values of the parameters of this class.
        """
        optimizer = self._choose_optimizer(optimizer)
        return type(self)(**{"optimizer": optimizer, "db": self.optdb, **self._chosen, **kwargs})

    def __getstate__(self) -> tuple[object, ...]:
        return self._chosen, optimizer_name(self.provided_optimizer)

    def __setstate__(self, state: Any) -> None:
        chosen, optimizer = state
        type(self).__init__(self, optimizer, **chosen)

    def _read_setting(self, name: str, default: object) -> Any:
        value = self._chosen[name]
        return default if value is None else value

    @property
    def stability_patience(self) -> int:
        return int(self._read_setting("stability_patience", config.DebugMode__patience))

    @property
    def check_c_code(self) -> bool:
        return bool(self._read_setting("check_c_code", config.DebugMode__check_c))

    @property
    def check_py_code(self) -> bool:
        return bool(self._read_setting("check_py_code", config.DebugMode__check_py))

    @property
    def check_isfinite(self) -> bool:
        return bool(self._read_setting("check_isfinite", config.DebugMode__check_finite))

    @check_isfinite.setter
    def check_isfinite(self, value: bool | None) -> None:
        self._chosen["check_isfinite"] = value

    @property
    def check_preallocated_output(self) -> list[str]:
        return _known_layouts(
            self._read_setting("check_preallocated_output", config.DebugMode__check_preallocated_output.split(":"))
        )

    @property
    def require_matching_strides(self) -> int:
        return int(self._read_setting("require_matching_strides", config.DebugMode__check_strides))

    @property
    def optimizer(self) -> GraphRewriter:
        """The rewriter of this mode, with a record of what it does."""
        return RecordedRewriter(super().optimizer, max(self.stability_patience, 1))

    @property
    def function_maker(self) -> Callable[..., FunctionMaker]:
        """Factory of functions of this mode, called as ``(inputs, outputs, mode, ...)``."""
        return FunctionMaker


def _known_layouts(layouts: Sequence[str] | str) -> list[str]:
    named = [one for one in ([layouts] if isinstance(layouts, str) else layouts) if one]
    if "ALL" in named:
        return list(LAYOUTS)
    for one in named:
        if one not in LAYOUTS:
            raise ValueError(
                f"Unknown layout {one!r} in check_preallocated_output; known are {', '.join(LAYOUTS)}, ALL."
            )
    return named


DEBUG_MODE = DebugMode()

__all__ = [
    "BadDestroyMap",
    "BadOptimization",
    "BadThunkOutput",
    "BadViewMap",
    "DataDestroyed",
    "DebugMode",
    "DebugModeError",
    "InvalidValueError",
    "StochasticOrder",
    "check_eq",
    "config",
    "data_destroyed",
    "str_diagnostic",
    "validity_hint",
]
