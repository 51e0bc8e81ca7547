"""`Scan`: a loop as one operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from aesara.graph import hooks
from aesara.graph.cloning import clone
from aesara.graph.equality import equal_computations
from aesara.graph.inner import HasInnerGraph
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.op import Op
from aesara.graph.traversal import io_connection_pattern
from aesara.scan.backward import pulled_back
from aesara.scan.forward import pushed_forward
from aesara.scan.info import ScanInfo
from aesara.scan.layout import Layout
from aesara.scan.parts import LoopParts
from aesara.tensor.conversion import as_tensor_variable
from aesara.tensor.dtypes import integer_dtypes
from aesara.tensor.shape_values import Shape_i
from aesara.tensor.tensor_type import TensorType

__all__ = ["Scan", "ScanInfo"]


class Scan(Op, HasInnerGraph, Layout):
    """A loop: a graph, the step, that is computed again and again on entries of sequences and on its own results.

    Made by `aesara.scan.scan`; see `ScanInfo` for the order of inputs and outputs.

    Parameters
    ----------
    inputs, outputs
        The step.
    info
        Their kinds.
    mode
        The mode in which the step is compiled.
    typeConstructor
        Accepted and not used.
    truncate_gradient
        Through how many of the last steps gradients flow; -1 for all.
    name
        A name for messages.
    as_while, profile, allow_gc, strict
        Accepted; `info` says whether the loop can end early.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], info: ScanInfo, mode: Any = None,
        typeConstructor: Callable | None = None, truncate_gradient: int = -1, name: str | None = None,
        as_while: bool = False, profile: Any = None, allow_gc: bool = True, strict: bool = True,
    ):  # fmt: skip
        if len(inputs) != info.n_inner_inputs or len(outputs) != info.n_inner_outputs:
            raise ValueError(
                f"Scan: the step has {len(inputs)} inputs and {len(outputs)} outputs; info says "
                f"{info.n_inner_inputs} and {info.n_inner_outputs}."
            )
        self._inputs, self._outputs = clone(list(inputs), list(outputs), copy_orphans=False)
        self.info = info
        self.mode = mode
        self.truncate_gradient = truncate_gradient
        self.name = name
        self.profile, self.allow_gc, self.strict = profile, allow_gc, strict
        self._check_step()

    def _check_step(self) -> None:
        """Every state must go on with the type that it started with."""
        outputs = self.inner_mitsot_outs(self.inner_outputs) + self.inner_sitsot_outs(self.inner_outputs)
        states = self.inner_mitsot(self.inner_inputs) + [[v] for v in self.inner_sitsot(self.inner_inputs)]
        for taps, new in zip(states, outputs):
            for old in taps:
                if old.type.dtype != new.type.dtype or old.type.ndim != new.type.ndim:
                    raise ValueError(
                        f"Scan: the state {old} has type {old.type}, but the step computes {new.type} as its new "
                        "value. They must have the same dtype and number of dimensions."
                    )

    # -- identity --------------------------------------------------------------------------------------------

    @property
    def inner_inputs(self) -> list[Variable]:
        return self._inputs

    @property
    def inner_outputs(self) -> list[Variable]:
        return self._outputs

    def clone(self) -> Scan:
        return self.with_step(self.inner_inputs, self.inner_outputs)

    def with_step(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Scan:
        """The same loop with another step of the same layout."""
        return Scan(
            inputs, outputs, self.info, self.mode, None, self.truncate_gradient, self.name,
            profile=self.profile, allow_gc=self.allow_gc, strict=self.strict,
        )  # fmt: skip

    @classmethod
    def of_parts(cls, parts: LoopParts, **options: Any) -> list[Variable]:
        """Apply the loop that has these parts; `options` are those of the constructor."""
        loop = cls(parts.inner_inputs(), parts.inner_outputs(), parts.info(), **options)
        return loop(*parts.outer_inputs(), return_list=True)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Scan) or (self.info, self.mode, self.truncate_gradient) != (
            other.info, other.mode, other.truncate_gradient,
        ):  # fmt: skip
            return False
        mine, theirs = self.inner_inputs, other.inner_inputs
        return all(a.type == b.type for a, b in zip(mine, theirs)) and equal_computations(
            self.inner_outputs, other.inner_outputs, mine, theirs
        )

    def __hash__(self) -> int:
        return hash((type(self), self.info, self.truncate_gradient, tuple(v.type for v in self.inner_outputs)))

    def __str__(self) -> str:
        kind = "while" if self.info.as_while else "for"
        return f"{kind}{{{self.name or 'scan_fn'}}}"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("fn", "shapes_fn")}

    # -- types -----------------------------------------------------------------------------------------------

    def make_node(self, *inputs: Any) -> Apply:
        if len(inputs) != self.info.n_outer_inputs:
            raise ValueError(f"{self} takes {self.info.n_outer_inputs} inputs, got {len(inputs)}.")
        n_steps = as_tensor_variable(inputs[0])
        if n_steps.type.ndim or n_steps.type.dtype not in integer_dtypes:
            raise TypeError(f"{self}: the number of steps must be an integer, got {n_steps.type}.")
        given = [n_steps, *inputs[1:]]
        self._check_rows(given)
        return Apply(self, given, [output_type() for output_type in self._output_types(given)])

    def _check_rows(self, inputs: Sequence[Any]) -> None:
        states = [*self.inner_mitmot(self.inner_inputs), *self.inner_mitsot(self.inner_inputs)]
        states += [[v] for v in self.inner_sitsot(self.inner_inputs)]
        buffers = self.outer_mitmot(inputs) + self.outer_mitsot(inputs) + self.outer_sitsot(inputs)
        rows = list(zip(self.outer_seqs(inputs), self.inner_seqs(self.inner_inputs)))
        rows += [(buffer, taps[0]) for buffer, taps in zip(buffers, states)]
        for outer, inner in rows:
            if outer.type.dtype != inner.type.dtype or outer.type.ndim != inner.type.ndim + 1:
                raise TypeError(
                    f"{self}: {outer} has type {outer.type}, but the step takes {inner.type}: expected one more "
                    "dimension and the same dtype."
                )

    def _output_types(self, inputs: Sequence[Any]) -> list[Any]:
        info = self.info
        buffers = self.outer_mitmot(inputs) + self.outer_mitsot(inputs) + self.outer_sitsot(inputs)
        types: list[Any] = []
        for buffer in buffers:
            length = None if info.as_while else buffer.type.shape[0]
            types.append(TensorType(buffer.type.dtype, (length, *buffer.type.shape[1:])))
        for length, new in zip(self.outer_nitsot(inputs), self.inner_nitsot_outs(self.inner_outputs)):
            known = int(length.data) if isinstance(length, Constant) and not info.as_while else None
            types.append(TensorType(new.type.dtype, (known, *new.type.shape)))
        return types + [new.type for new in self.inner_shared_outs(self.inner_outputs)]

    def infer_shape(self, fgraph: Any, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        """Buffers keep their shape; of the others what is static, and the rest from the outputs themselves."""
        info = self.info
        shapes: list[Any] = []
        buffers = info.n_mit_mot + info.n_mit_sot + info.n_sit_sot
        lengths = self.outer_nitsot(node.inputs)
        for k, out in enumerate(node.outputs):
            if not isinstance(out.type, TensorType):
                shapes.append(None)
                continue
            own = [Shape_i(d)(out) if n is None else as_tensor_variable(n) for d, n in enumerate(out.type.shape)]
            if k < buffers:
                shape = list(input_shapes[1 + info.n_seqs + k])
                own = [own[0] if info.as_while else shape[0], *shape[1:]]
            elif k < buffers + info.n_nit_sot and not info.as_while:
                own[0] = lengths[k - buffers]
            shapes.append(tuple(own))
        return shapes

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Outputs depend on inputs through any number of steps."""
        inner = io_connection_pattern(self.inner_inputs, self.inner_outputs)
        outer_of_input, outer_of_output = self.outer_positions()
        reached = [[False] * len(node.outputs) for _ in node.inputs]
        for i, row in enumerate(inner):
            for o, connected in enumerate(row[: len(outer_of_output)]):
                if connected:
                    reached[outer_of_input[i]][outer_of_output[o]] = True
        first = 1 + self.info.n_seqs
        states = self.info.n_mit_mot + self.info.n_mit_sot + self.info.n_sit_sot
        carried = [(first + k, k) for k in range(states)]
        last = len(node.outputs) - self.info.n_shared_outs
        carried += [(first + states + k, last + k) for k in range(self.info.n_shared_outs)]
        for position, out in carried:
            reached[position][out] = True
        for middle, through in carried:
            for row in reached:
                if row[through]:
                    for o in range(len(node.outputs)):
                        row[o] = row[o] or reached[middle][o]
        return reached

    # -- derivatives -----------------------------------------------------------------------------------------

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_gradients: Sequence[Any]) -> list[Any]:
        return pulled_back(self, inputs, outputs, output_gradients)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        return pushed_forward(self, inputs, eval_points)

    # -- values ----------------------------------------------------------------------------------------------

    @cached_property
    def fn(self) -> Callable[..., Any]:
        """The compiled step."""
        return hooks.compile_step(self.inner_inputs, self.inner_outputs, mode=self.mode, name=self.name)

    @cached_property
    def shapes_fn(self) -> Callable[..., Any]:
        """Computes the shapes of the results that no step reads, from the inputs of the step."""
        shapes = [out.shape for out in self.inner_nitsot_outs(self.inner_outputs)]
        return hooks.compile_step(self.inner_inputs, shapes, name=f"shapes of {self.name}")

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list], params: Any = None) -> None:
        for storage, value in zip(output_storage, Run(self, node, inputs).values()):
            storage[0] = value


class Run:
    """One run of a loop in Python, step by step: the reference."""

    def __init__(self, op: Scan, node: Apply, inputs: Sequence[Any]):
        self.op, self.node, self.info = op, node, op.info
        self.n_steps = int(inputs[0])
        if self.n_steps < 0:
            raise ValueError(f"{op}: the number of steps must not be negative, got {self.n_steps}.")
        self.sequences = op.outer_seqs(inputs)
        for k, sequence in enumerate(self.sequences):
            if len(sequence) < self.n_steps:
                raise ValueError(f"{op}: sequence {k} has {len(sequence)} entries, {self.n_steps} steps need as many.")
        buffers = op.outer_mitmot(inputs) + op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
        self.buffers = [np.array(buffer) for buffer in buffers]
        self.shared = list(op.outer_shared(inputs))
        self.lengths = [int(n) for n in op.outer_nitsot(inputs)]
        self.results: list[Any] = [None] * len(self.lengths)
        self.constants = op.outer_non_seqs(inputs)
        self.offsets = [max(0, -min(taps)) for taps in self._all_taps()]
        self.steps_done = 0

    def _all_taps(self) -> list[tuple[int, ...]]:
        info = self.info
        outs = [*info.mit_mot_out_slices, *[()] * (info.n_mit_sot + info.n_sit_sot)]
        return [(*taps, *out) for taps, out in zip(info.tap_array, outs)]

    def values(self) -> list[Any]:
        for k, (buffer, offset) in enumerate(zip(self.buffers, self.offsets)):
            if len(buffer) < max(offset, 1) and self.n_steps:
                raise ValueError(f"{self.op}: state {k} needs {offset} first values, got {len(buffer)}.")
        done = False
        while self.steps_done < self.n_steps and not done:
            done = self._step(self.steps_done)
            self.steps_done += 1
        return self._states() + self._results() + self.shared

    def _step(self, t: int) -> bool:
        info = self.info
        arguments = [sequence[t, ...] for sequence in self.sequences]
        for buffer, taps, offset in zip(self.buffers, info.tap_array, self.offsets):
            arguments += [buffer[(t + offset + tap) % len(buffer), ...] for tap in taps]
        made = list(self.op.fn(*arguments, *self.shared, *self.constants))
        stop = bool(made.pop()) if info.as_while else False
        position = 0
        for k, (buffer, offset) in enumerate(zip(self.buffers, self.offsets)):
            for tap in info.mit_mot_out_slices[k] if k < info.n_mit_mot else (0,):
                self._put(buffer, (t + offset + tap) % len(buffer), made[position], f"state {k}")
                position += 1
        for k, length in enumerate(self.lengths):
            value = np.asarray(made[position])
            if self.results[k] is None:
                self.results[k] = np.empty((length, *value.shape), value.dtype)
            self._put(self.results[k], t % length, value, f"output {k}")
            position += 1
        self.shared = made[position:]
        return stop

    def _put(self, rows: np.ndarray, at: int, value: Any, what: str) -> None:
        if np.shape(value) != rows.shape[1:]:
            raise ValueError(
                f"{self.op}: {what} has shape {rows.shape[1:]} in the first step and {np.shape(value)} in a later "
                "one. The shape must be the same in every step."
            )
        rows[at] = value

    def _states(self) -> list[np.ndarray]:
        """Buffers in order of time: a short one was written round and round."""
        found = []
        for k, (buffer, offset) in enumerate(zip(self.buffers, self.offsets)):
            written = offset + self.steps_done
            if k < self.info.n_mit_mot:
                found.append(buffer)
            elif written > len(buffer):
                found.append(np.roll(buffer, -(written % len(buffer)), axis=0))
            else:
                found.append(buffer[:written] if self.info.as_while else buffer)
        return found

    def _empty_results(self) -> list[np.ndarray]:
        """What no step has computed still has a shape."""
        rows = [np.zeros(s.shape[1:], s.dtype) for s in self.sequences]
        for buffer, taps in zip(self.buffers, self.info.tap_array):
            rows += [np.zeros(buffer.shape[1:], buffer.dtype)] * len(taps)
        shapes = self.op.shapes_fn(*rows, *self.shared, *self.constants)
        types = self.op.inner_nitsot_outs([v.type for v in self.op.inner_outputs])
        return [np.empty((0, *shape), kind.dtype) for shape, kind in zip(shapes, types)]

    def _results(self) -> list[np.ndarray]:
        if self.results and not self.steps_done:
            return self._empty_results()
        found = []
        for rows, length in zip(self.results, self.lengths):
            if self.steps_done > length:
                rows = np.roll(rows, -(self.steps_done % length), axis=0)
            found.append(rows[: self.steps_done] if self.info.as_while else rows)
        return found
