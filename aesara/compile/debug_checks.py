"""Running nodes one by one, with a look at everything that they promise."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from aesara.compile.debug_errors import (
    BadDestroyMap,
    BadThunkOutput,
    BadViewMap,
    DebugModeError,
    InvalidValueError,
    check_eq,
    validity_hint,
)
from aesara.configdefaults import config
from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.link.originals import copy_value
from aesara.link.utils import raise_with_op, with_details
from aesara.tensor.core.tensor_type import TensorType

_PACKAGE = __name__.partition(".")[0]

#: layouts of memory that outputs may be offered to write to
LAYOUTS = ("initial", "previous", "c_contiguous", "f_contiguous", "strided", "wrong_size")


class Failed:
    """Marker of a value whose computation raised an error."""

    def __init__(self, error: Exception, node: Apply, inputs: Sequence[Any]) -> None:
        self.error = error
        self.node = node
        self.inputs = inputs

    def raise_again(self, cause: str | None = None) -> None:
        """Raise the error again, with a description of the node, and `cause` if it is known."""
        thunk = SimpleNamespace(inputs=[[value] for value in self.inputs])
        try:
            raise_with_op(None, self.node, thunk, (type(self.error), self.error, self.error.__traceback__))
        except Exception as error:
            if cause is None:
                raise
            raise with_details(error, cause).with_traceback(error.__traceback__) from error.__cause__


class CheckedNode:
    """Runs the Python code of one node on copies of its inputs.

    Parameters
    ----------
    node
        The node.
    layouts
        Names out of `LAYOUTS` of memory to offer for the outputs, in further runs.
    check
        Whether the maps of views and of overwritten inputs are checked.
    inner_flags
        Options for compiling and running graphs inside of the operation.
    may_share
        Indices of outputs that nobody can overwrite for another: any two of these may share memory.
    unused
        Indices of outputs that nothing uses: they may share memory with any other.
    """

    def __init__(
        self,
        node: Apply,
        layouts: Sequence[str] = (),
        check: bool = True,
        inner_flags: Mapping[str, Any] | None = None,
        may_share: Collection[int] = (),
        unused: Collection[int] = (),
    ) -> None:
        self.may_share = may_share
        self.unused = unused
        self.node = node
        self.check = check
        self.op = _without_compiled_parts(node.op)
        self.flags = dict(inner_flags or {}) if self.op is not node.op else {}
        self.cells: dict[Variable, list[Any]] = {}
        for variable in (*node.inputs, *node.outputs):
            self.cells.setdefault(variable, [None])
        self.computed = {variable: [True] for variable in self.cells}
        self.previous: list[object] = [None] * len(node.outputs)
        self.former: list[object] = []  # results of the last call
        self.thunk = self._make_thunk()
        self.is_lazy = bool(getattr(self.thunk, "lazy", False))
        plain = not self.is_lazy and all(isinstance(out.type, TensorType) and out.type.is_dense for out in node.outputs)
        self.layouts = layouts if plain else ()
        #: operations of users are asked several times
        self.asks_again = check and not self.is_lazy and type(node.op).__module__.partition(".")[0] != _PACKAGE

    def _make_thunk(self) -> Callable[[], Any]:
        node = self.node
        fill = getattr(node.op, "debug_perform", None)
        if self.flags:
            thunk = self.op.make_thunk(node, self.cells, self.computed, [], "py")

            def run_with_flags() -> Any:
                with config.change_flags(**self.flags):
                    return thunk()

            return run_with_flags
        if fill is None or type(node.op).make_thunk is not Op.make_thunk:
            return node.op.make_thunk(node, self.cells, self.computed, [], "py")
        outputs = [self.cells[out] for out in node.outputs]
        return lambda: fill(node, [self.cells[one][0] for one in node.inputs], outputs)

    def __call__(self, values: dict[Variable, object]) -> list[Any]:
        """The values of the outputs; `values` has those of the inputs, and keeps them."""
        node = self.node
        if self.is_lazy:
            return self._run_lazily(values)
        originals = {variable: values[variable] for variable in node.inputs}
        for value in originals.values():
            if isinstance(value, Failed):
                return [value] * len(node.outputs)
        before = [copy_value(value) for value in self.former]  # their user may have changed them since
        copies, outputs = self._run(originals, [None] * len(node.outputs))
        if isinstance(outputs, Failed):
            return [outputs] * len(node.outputs)
        for out, value in zip(node.outputs, outputs):
            if not out.type.is_valid_value(value):
                raise InvalidValueError(out, value, None, "perform output", validity_hint(out.type, value))
        if self.check:
            self._check_former(before)
            self.former = outputs
            self._check_overwritten(originals, copies)
            self._check_views(copies, outputs)
            if self.asks_again:
                self._check_repeated(originals, copies, outputs)
            for layout in self.layouts:
                self._check_offered(layout, originals, outputs)
        if "previous" in self.layouts:
            self.previous = copy.deepcopy(outputs)
        return outputs

    def _run(
        self,
        originals: dict[Variable, object],
        offered: Sequence[object],
        copy_of: Callable[[object], object] | None = None,
    ) -> tuple[dict[Variable, Any], Any]:
        """Run on copies; returns the copies, and the outputs or the error."""
        node = self.node
        copies = {variable: (copy_of or copy_value)(value) for variable, value in originals.items()}
        for variable, value in copies.items():
            self.cells[variable][0] = value
        for out, memory in zip(node.outputs, offered):
            self.cells[out][0] = memory
        try:
            self.thunk()
            return copies, [self.cells[out][0] for out in node.outputs]
        except DebugModeError:  # something is wrong inside of the operation
            raise
        except Exception as error:
            return copies, Failed(error, node, [originals[variable] for variable in node.inputs])
        finally:
            for cell in self.cells.values():
                cell[0] = None

    def _run_lazily(self, values: dict[Variable, object]) -> list[Any]:
        """Give a node only the inputs that it asks for."""
        node = self.node
        for variable in self.cells:
            self.computed[variable][0] = False
        try:
            while True:
                wanted = self.thunk()
                if not wanted:
                    return [copy_value(self.cells[out][0]) for out in node.outputs]
                for position in wanted:
                    variable = node.inputs[position]
                    if isinstance(values[variable], Failed):
                        return [values[variable]] * len(node.outputs)
                    self.cells[variable][0] = copy_value(values[variable])
                    self.computed[variable][0] = True
        except Exception as error:
            return [Failed(error, node, [None] * len(node.inputs))] * len(node.outputs)
        finally:
            for cell in self.cells.values():
                cell[0] = None

    # What a node promises

    def _check_former(self, before: Sequence[object]) -> None:
        """The results of the last call must be as they were before this one."""
        for out, old, value in zip(self.node.outputs, before, self.former):
            if not same(out, old, value):
                raise BadThunkOutput(out, "perform", old, "the same result after the next call", value)

    def _check_overwritten(self, originals: dict[Variable, object], copies: dict[Variable, object]) -> None:
        node = self.node
        declared = {node.inputs[k] for positions in (node.op.destroy_map or {}).values() for k in positions}
        for position, variable in enumerate(node.inputs):
            if variable in declared or same(variable, originals[variable], copies[variable]):
                continue
            if same(variable, originals[variable], copy_value(originals[variable])):  # it can be compared at all
                raise BadDestroyMap(node, position, originals[variable], copies[variable], "perform")

    def _check_views(self, copies: dict[Variable, object], outputs: Sequence[object]) -> None:
        node = self.node
        maps = (node.op.view_map or {}, node.op.destroy_map or {})
        sources = [{node.inputs[k] for positions in maps for k in positions.get(j, ())} for j in range(len(outputs))]
        for j, value in enumerate(outputs):
            hidden = [
                k for k, one in enumerate(node.inputs) if one not in sources[j] and shares_memory(value, copies[one])
            ]
            if hidden:
                raise BadViewMap(node, j, [value], in_alias_idx=hidden)
            others = [
                k
                for k in range(j)
                if not sources[j] & sources[k] and not self._may_share(j, k) and shares_memory(value, outputs[k])
            ]
            if others:
                raise BadViewMap(node, j, [value], out_alias_idx=others)

    def _may_share(self, j: int, k: int) -> bool:
        return not {j, k}.isdisjoint(self.unused) or {j, k}.issubset(self.may_share)

    def _check_repeated(
        self, originals: dict[Variable, object], copies: dict[Variable, object], outputs: Sequence[object]
    ) -> None:
        """Run again in other ways: results must depend on nothing but the values of the inputs."""
        for value in copies.values():
            # Whoever has kept an input has no right to its values any more.
            if type(value) is np.ndarray and not any(shares_memory(value, out) for out in outputs):
                value[...] = np.array(123).astype(value.dtype)
        for way, copy_of in (
            ("perform, a second time", copy_value),
            ("perform on inputs that are not contiguous", strided_copy),
        ):
            _, again = self._run(originals, [None] * len(outputs), copy_of)
            self._compare(originals, outputs, again, way)

    def _compare(self, originals: dict[Variable, object], outputs: Sequence[Any], again: Any, way: str) -> None:
        if isinstance(again, Failed):
            again.raise_again()
        inputs = [originals[variable] for variable in self.node.inputs]
        for out, expected, value in zip(self.node.outputs, outputs, again):
            if not check_eq(out, expected, value):
                raise BadThunkOutput(out, "perform", expected, way, value, inputs)

    def _check_offered(self, layout: str, originals: dict[Variable, object], outputs: Sequence[Any]) -> None:
        """Run again with memory to write to, as former calls leave it."""
        offered = [self.previous[j] if layout == "previous" else memory(layout, v) for j, v in enumerate(outputs)]
        if all(one is None for one in offered):
            return
        _, again = self._run(originals, [copy_value(one) if layout == "previous" else one for one in offered])
        self._compare(originals, outputs, again, f"perform with output in memory: {layout}")


def _without_compiled_parts(op: Op) -> Op:
    """The operation; or, if it has a graph inside, a copy that will compile this graph again."""
    if not isinstance(op, HasInnerGraph):
        return op
    new = copy.copy(op)
    for name in list(new.__dict__):
        if isinstance(getattr(type(new), name, None), functools.cached_property):
            del new.__dict__[name]
    return new


def strided_copy(value: object) -> Any:
    """A copy of an array that lies in memory backwards and with gaps; a copy of anything else."""
    if type(value) is not np.ndarray or not value.ndim:
        return copy_value(value)
    array = np.zeros([2 * n for n in value.shape], value.dtype)[(slice(None, None, -2),) * value.ndim]
    array[...] = value
    return array


def same(variable: Variable, one: object, other: object) -> bool:
    """Return whether two values of a variable are exactly equal; values that its type cannot compare count as equal."""
    if isinstance(one, np.random.Generator) and isinstance(other, np.random.Generator):
        return str(one.bit_generator.state) == str(other.bit_generator.state)
    try:
        return bool(variable.type.values_eq(one, other))
    except Exception:  # a type that cannot tell
        return True


def shares_memory(one: object, other: object) -> bool:
    """Return whether two values share memory, so that writing to one changes the other."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        try:
            return np.shares_memory(one, other, max_work=100_000)  # type: ignore[arg-type]
        except np.exceptions.TooHardError:
            return True
    return one is other and isinstance(one, (list, dict, np.random.Generator, np.random.RandomState))


def memory(layout: str, like: np.ndarray) -> np.ndarray | None:
    """An array, with contents that strike the eye, in a layout that outputs may find; None if there is none."""
    shape, ndim = like.shape, like.ndim
    if layout == "previous" or (layout == "strided" and ndim > config.DebugMode__check_preallocated_output_ndim):
        return None
    if layout in ("initial", "c_contiguous"):
        array = np.empty(shape, like.dtype)
    elif layout == "f_contiguous":
        array = np.empty(shape, like.dtype, order="F")
    elif layout == "strided":
        array = np.empty([2 * n for n in shape], like.dtype)[(slice(None, None, -2),) * ndim or ...]
    else:
        array = np.empty([n + 1 for n in shape], like.dtype)
    array[...] = np.array(123).astype(like.dtype)
    return array


def order_of(targets: Sequence[Variable], known: set[Variable]) -> Iterator[Apply]:
    """All nodes that `targets` need, each after those it needs; nodes inputs of which come from nowhere as well."""
    done: set[Apply] = set()
    stack = [variable.owner for variable in reversed(targets) if variable.owner is not None]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        missing = [v.owner for v in node.inputs if v.owner is not None and v.owner not in done and v not in known]
        if missing:
            stack.extend(missing)
            continue
        done.add(node)
        stack.pop()
        yield node


def may_replace(old: Variable, before: object, after: object) -> bool:
    """Return whether `after` equals `before` up to rounding, ignoring elements that are not finite in `before`."""
    if check_eq(old, before, after):
        return True
    if not (isinstance(before, np.ndarray) and isinstance(after, np.ndarray) and before.dtype.kind in "fc"):
        return False
    if before.shape != after.shape or before.dtype != after.dtype:
        return False
    usable = np.isfinite(before)
    return not usable.all() and check_eq(old, np.where(usable, before, 0), np.where(usable, after, 0))
