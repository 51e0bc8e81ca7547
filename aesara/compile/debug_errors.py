"""Exceptions that DebugMode raises, one for each kind of fault."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.features import BadOptimization as _BadOptimization
from aesara.graph.messages import describe, formula_of
from aesara.graph.nodes import Apply, Variable
from aesara.link.utils import describe_source
from aesara.tensor.core.value_comparison import tolerances

_LONGEST_VALUE = 300  # characters
_MORE = "Hint: set config.exception_verbosity to 'high' to see more."


class DataDestroyed:
    """Stands for a value that an operation has overwritten."""

    def __repr__(self) -> str:
        return "data_destroyed"


data_destroyed = DataDestroyed()


class DebugModeError(Exception):
    """DebugMode has found that something about a graph, an operation or a rewrite is not as it says."""

    #: the text names the node already
    _names_node = True


class BadThunkOutput(DebugModeError):
    """Two ways to compute one variable give different values.

    Parameters
    ----------
    r
        The variable.
    thunk1, val1
        One way, in words, and its value.
    thunk2, val2
        The other way, and its value.
    inputs_val
        Values of the inputs of the variable's node.
    """

    def __init__(
        self, r: Variable, thunk1: str, val1: Any, thunk2: str, val2: Any, inputs_val: Sequence[Any] = ()
    ) -> None:
        self.r = r
        self.thunk1 = thunk1
        self.val1 = val1
        self.thunk2 = thunk2
        self.val2 = val2
        self.inputs_val = inputs_val

    def offending_op(self) -> Any:
        """Return the operation that computes the variable."""
        return type(self.r.owner.op) if self.r.owner is not None else None

    def __str__(self) -> str:
        if config.exception_verbosity == "high":
            return self.str_diagnostic()
        node = self.r.owner
        lines = ["BadThunkOutput", f"  Apply   : {_excerpt(node)}", f"  Outputs Type: {self.r.type}"]
        formula = formula_of(self.r)
        lines += [] if formula is None else [f"  computes: {formula}"]
        if self.inputs_val:
            shapes, strides = ([getattr(v, name, None) for v in self.inputs_val] for name in ("shape", "strides"))
            lines += [
                f"  Inputs Shape: {_excerpt(shapes)}  Strides: {_excerpt(strides)}",
                f"  Inputs Values: {_excerpt(list(self.inputs_val))}",
            ]
        for number, way, value in ((1, self.thunk1, self.val1), (2, self.thunk2, self.val2)):
            lines += [f"  thunk{number}  : {way}", f"  value{number}  : {_short_facts(value)} {_excerpt(value)}"]
        difference = _difference(self.val1, self.val2)
        lines += [f"  {difference}"] if difference else []
        return "\n".join([*lines, _MORE, *_creation_lines(node)])

    def str_diagnostic(self) -> str:
        """Return a description of both values."""
        node = self.r.owner
        lines = [
            "BadThunkOutput",
            f"  Apply   : {node}",
            f"  op      : {self.offending_op()}",
            f"  Outputs Type: {self.r.type}",
        ]
        if node is not None:
            lines.append(f"  Inputs Type : {[variable.type for variable in node.inputs]}")
        for label, name in (("Shape", "shape"), ("Strides", "strides")):
            lines.append(f"  Inputs {label}: {[getattr(value, name, None) for value in self.inputs_val]}")
        lines.append(f"  Inputs Values: {_excerpt(list(self.inputs_val))}")
        lines += [f"  thunk1  : {self.thunk1}", f"  thunk2  : {self.thunk2}"]
        lines.append(str_diagnostic(self.val1, self.val2, None, None))
        return "\n".join(lines + _creation_lines(node))


class BadOptimization(DebugModeError, _BadOptimization):
    """A rewrite has replaced a variable by one of another value; the parameters are those of the base.

    Attributes
    ----------
    program
        The smallest expression that the rewrite gets wrong, as a program; None if it is not known.
    """

    program: str | None = None

    def __init__(
        self,
        old_r: Variable,
        new_r: Variable | None = None,
        old_r_val: Any = None,
        new_r_val: Any = None,
        reason: object = None,
        old_graph: str | None = None,
        new_graph: str | None = None,
    ) -> None:
        _BadOptimization.__init__(self, old_r, new_r, old_r_val, new_r_val, reason, old_graph, new_graph)

    def __str__(self) -> str:
        text = self.str_diagnostic()
        if config.exception_verbosity == "high":
            return text
        more = "Hint: set config.exception_verbosity to 'high' to see both graphs and a program that shows it."
        return "\n".join([text.partition("\n  Old Graph:")[0], more, *_creation_lines(self.old_r.owner)])

    def str_diagnostic(self) -> str:
        """Return a description of the difference, and the line that has made what was replaced."""
        if self.full_err is None:
            shown = [] if self.program is None else ["The smallest expression that shows it:", "", self.program, ""]
            self.full_err = "\n".join([super().str_diagnostic(), *shown, *_creation_lines(self.old_r.owner)])
        return self.full_err


class BadDestroyMap(DebugModeError):
    """An operation has overwritten an input that its ``destroy_map`` does not have.

    Parameters
    ----------
    node, idx
        The node, and the position of the input.
    old_val, new_val
        The input's value before and after.
    perform
        What has run, in words.
    """

    def __init__(self, node: Apply, idx: int, old_val: Any, new_val: Any, perform: str) -> None:
        self.node = node
        self.idx = idx
        self.old_val = old_val
        self.new_val = new_val
        self.perform = perform

    def __str__(self) -> str:
        lines = [
            "BadDestroyMap",
            f"  node: {self.node}",
            f"  node.inputs: {[(str(one), one.type) for one in self.node.inputs]}",
            f"  destroy_map: {getattr(self.node.op, 'destroy_map', {})}",
            f"  changed input idx: {self.idx}",
            f"  changed input type: {self.node.inputs[self.idx].type}",
            f"  repr (old val): {_excerpt(self.old_val)}",
            f"  repr (new val): {_excerpt(self.new_val)}",
            f"  perform: {self.perform}",
            "  Hint: either the operation must not change this input, or its destroy_map must have it.",
        ]
        return "\n".join(lines + _creation_lines(self.node))


class BadViewMap(DebugModeError):
    """An operation returns a view that its ``view_map`` does not have.

    Parameters
    ----------
    node, output_idx
        The node, and the position of the output.
    out_storage
        The output's cell.
    in_alias_idx, out_alias_idx
        Positions of inputs, or other outputs, that the output shares memory with.
    """

    def __init__(
        self,
        node: Apply,
        output_idx: int,
        out_storage: Any,
        in_alias_idx: Sequence[int] | None = None,
        out_alias_idx: Sequence[int] | None = None,
    ) -> None:
        self.node = node
        self.output_idx = output_idx
        self.out_storage = out_storage
        self.in_alias_idx = in_alias_idx
        self.out_alias_idx = out_alias_idx

    def __str__(self) -> str:
        lines = [
            "BadViewMap",
            f"  node: {self.node}",
            f"  node.inputs: {[(str(one), one.type) for one in self.node.inputs]}",
            f"  node.outputs: {[(str(one), one.type) for one in self.node.outputs]}",
            f"  view_map: {getattr(self.node.op, 'view_map', {})}",
            f"  destroy_map: {getattr(self.node.op, 'destroy_map', {})}",
            f"  aliased output: {self.output_idx}",
            f"  aliased output storage: {_excerpt(self.out_storage)}",
        ]
        if self.in_alias_idx:
            lines.append(f"  aliased to inputs: {list(self.in_alias_idx)}")
        if self.out_alias_idx:
            lines.append(f"  aliased to outputs: {list(self.out_alias_idx)}")
        lines.append("  Hint: either return a copy, or say in view_map which inputs the output may be a view of.")
        return "\n".join(lines + _creation_lines(self.node))


class StochasticOrder(DebugModeError):
    """The same rewriters, applied to the same graph, did not do the same twice."""


class InvalidValueError(DebugModeError):
    """A value does not fit the type of its variable, or is not finite.

    Parameters
    ----------
    r, v
        The variable and its value.
    client_node
        The node that reads it.
    hint, specific_hint
        Where the value comes from, and what is wrong with it.
    """

    def __init__(
        self,
        r: Variable,
        v: Variable | None = None,
        client_node: Apply | None = None,
        hint: str = "none",
        specific_hint: str = "none",
    ) -> None:
        self.r = r
        self.v = v
        self.client_node = client_node
        self.hint = hint
        self.specific_hint = specific_hint

    def __str__(self) -> str:
        return self.str_diagnostic() if config.exception_verbosity == "high" else self._summary()

    def _summary(self) -> str:
        value = self.v
        lines = [
            "InvalidValueError",
            f"  type(variable) = {self.r.type}",
            f"  variable       = {describe(self.r)}",
            f"  type(value)    = {type(value)}",
        ]
        if isinstance(value, (np.ndarray, np.generic)):
            lines.append(f"  dtype(value)   = {value.dtype}, shape(value) = {value.shape}")
        lines.append(f"  value          = {_excerpt(value)}")
        if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
            lines.append(f"  isfinite       = {bool(np.isfinite(value).all())}")
        lines += [] if self.client_node is None else [f"  client_node    = {_excerpt(self.client_node)}"]
        lines += [f"  hint           = {self.hint}", f"  specific_hint  = {self.specific_hint}", _MORE]
        return "\n".join(lines + _creation_lines(self.r.owner))

    def str_diagnostic(self) -> str:
        """Return all that is known of the value."""
        value = self.v
        lines = [
            "InvalidValueError",
            f"  type(variable) = {self.r.type}",
            f"  variable       = {describe(self.r)}",
            f"  type(value)    = {type(value)}",
            f"  dtype(value)   = {getattr(value, 'dtype', None)}",
            f"  shape(value)   = {getattr(value, 'shape', None)}",
            f"  value          = {_excerpt(value)}",
        ]
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind in "biufc":
            real = value.dtype.kind != "c"
            lines += [f"  min(value)     = {value.min()}", f"  max(value)     = {value.max()}"] if real else []
            lines.append(f"  isfinite       = {bool(np.isfinite(value).all())}")
        lines += [
            f"  client_node    = {self.client_node}",
            f"  hint           = {self.hint}",
            f"  specific_hint  = {self.specific_hint}",
            f"  context        = ...\n{_graph(self.r)}",
        ]
        return "\n".join(lines + _creation_lines(self.r.owner))


def _creation_lines(node: Apply | None) -> list[str]:
    source = describe_source(getattr(node, "source", None))
    return ["The node was created by:", source] if source else []


def _graph(variable: Variable) -> str:
    return hooks.debugprint(variable, depth=6, file="str").rstrip()


def _excerpt(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE // 2]} ... {text[-_LONGEST_VALUE // 2 :]}"


def str_diagnostic(expected: Any, value: Any, rtol: float | None, atol: float | None) -> str:
    """Return a description of how a value differs from what was expected.

    Parameters
    ----------
    expected, value
        Arrays.
    rtol, atol
        Tolerances to name.  Default: those of `values_eq_approx` for the arrays' dtypes.

    Examples
    --------
    >>> import numpy as np
    >>> print(str_diagnostic(np.array([1.0, 2.0]), np.array([1.0, 2.5]), 1e-5, 1e-8).splitlines()[5])
      Max Abs Diff:  0.5
    """
    text = StringIO()
    print("           : shape, dtype, strides, min, max, n_inf, n_nan:", file=text)
    for label, one in (("Expected", expected), ("Value   ", value)):
        print(f"  {label} : {_facts(one)}", file=text)
    print(f"  expected    : {_excerpt(expected)}", file=text)
    print(f"  value       : {_excerpt(value)}", file=text)
    try:
        with np.errstate(all="ignore"):
            difference = np.abs(np.asarray(value) - np.asarray(expected)).astype(float)
            relative = difference / np.abs(np.asarray(expected))
            if difference.size:
                for name, numbers in (("Abs", difference), ("Rel", relative)):
                    for kind, function in (("Max", np.max), ("Mean", np.mean), ("Median", np.median), ("Std", np.std)):
                        print(f"  {kind} {name} Diff:  {function(numbers)}", file=text)
    except (TypeError, ValueError):
        pass  # shapes that do not fit each other, or no numbers
    if rtol is None or atol is None:
        usual = tolerances(expected, value)
        rtol, atol = (usual[0] if rtol is None else rtol), (usual[1] if atol is None else atol)
    print(f"  rtol, atol: {rtol} {atol}", end="", file=text)
    return text.getvalue()


def _facts(value: object) -> str:
    if not isinstance(value, np.ndarray):
        return f"no array, {type(value)}"
    facts: list[object] = [value.shape, value.dtype, value.strides]
    if value.size and value.dtype.kind in "biuf":
        facts += [value.min(), value.max()]
    if value.dtype.kind in "fc":
        facts += [np.isinf(value).sum(), np.isnan(value).sum()]
    return " ".join(map(str, facts))


def _short_facts(value: object) -> str:
    return f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else str(type(value))


def _difference(expected: Any, value: Any) -> str | None:
    """The largest differences of two arrays; None where there are none."""
    try:
        with np.errstate(all="ignore"):
            difference = np.abs(np.asarray(value) - np.asarray(expected)).astype(float)
            relative = difference / np.abs(np.asarray(expected))
        rtol, atol = tolerances(expected, value)
        return f"Max Abs Diff: {difference.max()}  Max Rel Diff: {relative.max()}  (rtol, atol: {rtol} {atol})"
    except (TypeError, ValueError):
        return None  # shapes that do not fit each other, no numbers, or nothing at all


def validity_hint(type: Any, x: Any) -> str:
    """Return what is wrong with a value of a type, in words, or ``"none"``.

    Examples
    --------
    >>> import numpy as np
    >>> validity_hint(at.dvector, np.ones(2)), "dimensions" in validity_hint(at.dvector, np.ones((2, 2)))
    ('none', True)
    """
    try:
        type.filter(x, strict=True)
    except Exception as error:
        return str(error)
    return "none"


def check_eq(var: Variable, val1: object, val2: object) -> bool:
    """Return whether two values of a variable are equal up to rounding.

    The function ``var.tag.values_eq_approx`` decides where the variable has one, its type otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> x = at.dvector("x")
    >>> check_eq(x, np.ones(2), np.ones(2) + 1e-12), check_eq(x, np.ones(2), np.zeros(2))
    (True, False)
    """
    compare = getattr(var.tag, "values_eq_approx", None)
    return bool((var.type.values_eq_approx if compare is None else compare)(val1, val2))
