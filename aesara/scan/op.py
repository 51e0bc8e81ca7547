"""The `Scan` op: a loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

from aesara.configdefaults import config
from aesara.graph import hooks
from aesara.graph.cloning import clone, clone_get_equiv, clone_replace
from aesara.graph.digest import InnerGraph
from aesara.graph.equality import equal_computations
from aesara.graph.fg import FunctionGraph
from aesara.graph.inner import HasInnerGraph
from aesara.graph.integrity import refuse_repeated_inputs
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Constant, NominalVariable, Variable
from aesara.graph.op import Op
from aesara.graph.parts import PutTogether, flat, has_parts
from aesara.graph.pullback import cotangents_of_inputs, with_supports
from aesara.graph.support import FULL
from aesara.graph.traversal import graph_inputs, io_connection_pattern
from aesara.scan.backward import pull_back_loop
from aesara.scan.copying import copy_var_format
from aesara.scan.forward import push_forward_loop
from aesara.scan.info import ScanInfo
from aesara.scan.layout import ScanMethodsMixin
from aesara.scan.parts import LoopParts
from aesara.scan.profile_text import profile_printer
from aesara.scan.run import Run
from aesara.subgraph import infer_shape
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import integer_dtypes
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.elementwise.ops import minimum
from aesara.tensor.shapes.shape import Shape_i

__all__ = [
    "Scan",
    "ScanInfo",
    "ScanMethodsMixin",
    "check_broadcast",
    "config",
    "copy_var_format",
    "minimum",
    "profile_printer",
]


def check_broadcast(v1: Any, v2: Any) -> None:
    """Raise an error if a dimension has length one in only one of two types.

    Raises
    ------
    TypeError
        If the types differ so; one of the tensors needs `unbroadcast` or `specify_shape`.
    """
    sizes = [getattr(v.type, "shape", ()) for v in (v1, v2)]
    rank = min(map(len, sizes))
    for axis, (a, b) in enumerate(zip(*(list(s)[len(s) - rank :] for s in sizes))):
        if (a == 1) != (b == 1):
            raise TypeError(
                f"Scan: {describe(v1)} has type {v1.type} and {describe(v2)} has type {v2.type}: dimension {axis} is "
                "known to have length one in one of them only. Use unbroadcast or specify_shape."
            )


_TIME = re.compile(r"\[t[+-]?[0-9]*\]$")  # suffix of names of entries of sequences and states


class Scan(Op, HasInnerGraph, ScanMethodsMixin):
    """A loop: repeated evaluation of a graph, the step, on entries of sequences and on its own results.

    Built by `aesara.scan.scan`. `ScanInfo` documents the order of inputs and outputs.

    Parameters
    ----------
    inputs, outputs
        The graph of the step.
    info
        The kinds of inputs and outputs.
    mode
        The mode in which the step is compiled.
    typeConstructor
        Accepted for compatibility; has no effect.
    truncate_gradient
        The number of last steps that gradients flow through; -1 for all.
    name
        A name for messages.
    as_while, profile, allow_gc, strict
        Accepted for compatibility; have no effect. `info` says whether the loop can end early.
    checkpoint_memory
        The number of bytes of states that the gradient may keep; 0 for no limit, None for
        ``config.scan__checkpoint_memory``. It is ignored when loops are compared, since it changes no result.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], info: ScanInfo, mode: Any = None,
        typeConstructor: Callable | None = None, truncate_gradient: int = -1, name: str | None = None,
        as_while: bool = False, profile: Any = None, allow_gc: bool = True, strict: bool = True,
        checkpoint_memory: int | None = None,
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
        if checkpoint_memory is not None and (not isinstance(checkpoint_memory, int) or checkpoint_memory < 0):
            raise ValueError(f"Scan: checkpoint_memory must be a number of bytes or None, got {checkpoint_memory!r}.")
        self.checkpoint_memory = checkpoint_memory
        self.name = name
        self.profile, self.allow_gc, self.strict = profile, allow_gc, strict
        self.validate_inner_graph()

    def validate_inner_graph(self) -> None:
        """Raise an error if the type of a state changes from step to step."""
        outputs = self.inner_mitsot_outs(self.inner_outputs) + self.inner_sitsot_outs(self.inner_outputs)
        states = self.inner_mitsot(self.inner_inputs) + [[v] for v in self.inner_sitsot(self.inner_inputs)]
        for taps, new in zip(states, outputs):
            for old in taps:
                if old.type.dtype != new.type.dtype or old.type.ndim != new.type.ndim:
                    raise ValueError(
                        f"Scan: the state {describe(old)} has type {old.type}, but the step computes {new.type} as "
                        "its new "
                        "value. They must have the same dtype and number of dimensions."
                    )

    # -- identity --------------------------------------------------------------------------------------------

    @property
    def inner_inputs(self) -> list[Variable]:
        return self._inputs

    @property
    def inner_outputs(self) -> list[Variable]:
        return self._outputs

    @cached_property
    def fgraph(self) -> FunctionGraph:
        """A copy of the step on nominal variables, such that equal steps have equal nodes."""
        refuse_repeated_inputs(self.inner_inputs)
        nominal = [NominalVariable(k, v.type) for k, v in enumerate(self.inner_inputs)]
        copies = clone_get_equiv(
            self.inner_inputs, self.inner_outputs, copy_orphans=False, memo=dict(zip(self.inner_inputs, nominal))
        )
        return FunctionGraph(nominal, [copies[output] for output in self.inner_outputs], clone=False)

    def clone(self) -> Scan:
        return self.with_step(self.inner_inputs, self.inner_outputs)

    def with_step(self, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Scan:
        """Return this loop with another step of the same layout."""
        flags = {"profile": self.profile, "allow_gc": self.allow_gc, "strict": self.strict}
        return Scan(inputs, outputs, self.info, **self.options, **flags)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of the constructor that determine how the loop is called, compiled and differentiated."""
        return {
            "mode": self.mode, "name": self.name, "truncate_gradient": self.truncate_gradient,
            "checkpoint_memory": self.checkpoint_memory,
        }  # fmt: skip

    def keeping_all_states(self) -> Scan:
        """Return this loop with a gradient that keeps the states of all steps."""
        op = copy(self)
        op.checkpoint_memory = 0
        return op

    def overwriting(self, buffers: dict[int, list[int]]) -> Scan:
        """Return this loop with some outputs written into the memory of inputs; see `Op.destroy_map`."""
        op = copy(self)
        op.destroy_map = buffers
        return op

    @classmethod
    def of_parts(cls, parts: LoopParts, **options: Any) -> list[Variable]:
        """Apply a loop with the given parts; `options` are arguments of the constructor."""
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

    def digest_facts(self) -> tuple[Any, ...]:
        return self.info, self.mode, self.truncate_gradient, InnerGraph(self.inner_inputs, self.inner_outputs)

    def __str__(self) -> str:
        kind = "do_while" if self.info.as_while else "for"
        return f"{kind}{{cpu,{self.name or 'scan_fn'}}}"

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in self.__dict__.items() if key not in ("fgraph", "fn", "shapes_fn")}

    # -- types -----------------------------------------------------------------------------------------------

    def make_node(self, *inputs: Any) -> Apply:
        if len(inputs) != self.info.n_outer_inputs:
            raise ValueError(f"{self} takes {self.info.n_outer_inputs} inputs, got {len(inputs)}.")
        n_steps = as_tensor_variable(inputs[0])
        if n_steps.type.ndim or n_steps.type.dtype not in integer_dtypes:
            raise TypeError(f"{self}: the number of steps must be an integer, got {n_steps.type}.")
        new_inputs = [n_steps, *inputs[1:]]
        self._check_rows(new_inputs)
        return Apply(self, new_inputs, [output_type() for output_type in self._output_types(new_inputs)])

    def _check_rows(self, inputs: Sequence[Any]) -> None:
        states = [*self.inner_mitmot(self.inner_inputs), *self.inner_mitsot(self.inner_inputs)]
        states += [[v] for v in self.inner_sitsot(self.inner_inputs)]
        buffers = self.outer_mitmot(inputs) + self.outer_mitsot(inputs) + self.outer_sitsot(inputs)
        rows = list(zip(self.outer_seqs(inputs), self.inner_seqs(self.inner_inputs)))
        rows += [(buffer, taps[0]) for buffer, taps in zip(buffers, states)]
        for outer, inner in rows:
            if outer.type.dtype != inner.type.dtype or outer.type.ndim != inner.type.ndim + 1:
                raise TypeError(
                    f"{self}: {describe(outer)} has type {outer.type}, but the step takes {inner.type}: expected one "
                    "more "
                    "dimension and the same dtype."
                )

    def _output_types(self, inputs: Sequence[Any]) -> list[Any]:
        info = self.info
        buffers = self.outer_mitmot(inputs) + self.outer_mitsot(inputs) + self.outer_sitsot(inputs)
        types: list[object] = []
        for buffer, taps in zip(buffers, info.tap_array):
            # A loop that ends early returns only the rows that are written.
            is_full = not info.as_while or buffer.type.shape[0] == -min(taps)
            length = buffer.type.shape[0] if is_full else None
            types.append(TensorType(buffer.type.dtype, (length, *buffer.type.shape[1:])))
        for length, new in zip(self.outer_nitsot(inputs), self.inner_nitsot_outs(self.inner_outputs)):
            known = int(length.data) if isinstance(length, Constant) and not info.as_while else None
            types.append(TensorType(new.type.dtype, (known, *new.type.shape)))
        return types + [new.type for new in self.inner_shared_outs(self.inner_outputs)]

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, input_shapes: Sequence[Any]) -> list[Any]:
        """Return shapes of outputs: those of buffers, and shapes of rows of the step that are known before the loop."""
        info = self.info
        shapes: list[object] = []
        rows = self._shapes_of_rows(node, input_shapes)
        buffers = info.n_mit_mot + info.n_mit_sot + info.n_sit_sot
        lengths = self.outer_nitsot(node.inputs)
        for k, out in enumerate(node.outputs):
            if not isinstance(out.type, TensorType):
                shapes.append(None)
                continue
            output_shape = [
                Shape_i(d)(out) if n is None else as_tensor_variable(n) for d, n in enumerate(out.type.shape)
            ]
            if k < buffers:
                shape = list(input_shapes[1 + info.n_seqs + k])
                output_shape = [output_shape[0] if info.as_while else shape[0], *shape[1:]]
            elif k < buffers + info.n_nit_sot:
                if not info.as_while:
                    output_shape[0] = lengths[k - buffers]
                output_shape[1:] = [
                    n if known is None else known for n, known in zip(output_shape[1:], rows[k - buffers], strict=True)
                ]
            shapes.append(tuple(output_shape))
        return shapes

    def _shapes_of_rows(self, node: Apply, input_shapes: Sequence[Any]) -> list[list[Any]]:
        """Return the sizes of the rows of each output that is no state, with None for those that depend on steps."""
        new = self.inner_nitsot_outs(self.inner_outputs)
        if all(None not in out.type.shape for out in new):
            return [[None] * out.type.ndim for out in new]
        outer_of_input, _ = self.outer_positions()
        first_constant = len(node.inputs) - self.info.n_non_seqs
        shared = set(self.inner_shared(self.inner_inputs))
        shapes_of_inputs = []
        for inner, k in zip(self.inner_inputs, outer_of_input, strict=True):
            shape = None if inner in shared else input_shapes[k]
            shapes_of_inputs.append(shape if shape is None or k >= first_constant else shape[1:])
        shapes = infer_shape(new, self.inner_inputs, shapes_of_inputs)
        constants = dict(zip(self.inner_non_seqs(self.inner_inputs), node.inputs[first_constant:]))
        changing = set(self.inner_inputs) - set(constants)
        sizes: list[list[Any]] = []
        for shape in shapes:
            is_known = [not changing.intersection(graph_inputs([n])) for n in shape or ()]
            known = clone_replace([n for n, k in zip(shape or (), is_known) if k], constants)
            remaining = iter(known)
            sizes.append([next(remaining) if k else None for k in is_known])
        return sizes

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return which outputs depend on which inputs, through any number of steps."""
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

    def L_op(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], output_gradients: Sequence[Variable]
    ) -> list[Variable]:
        return pull_back_loop(self, inputs, outputs, output_gradients, [FULL] * len(outputs))[0]

    def R_op(self, inputs: Sequence[Variable], eval_points: Sequence[Variable]) -> list[Variable | None]:
        return push_forward_loop(self, inputs, eval_points)

    # -- values that consist of arrays -----------------------------------------------------------------------

    def in_parts(self, node: Apply, *inputs: object) -> list[Any] | None:
        """Return the loop on the parts of its non-sequences, or None if a state has parts."""
        first = len(inputs) - self.info.n_non_seqs
        inner = self.inner_non_seqs(self.inner_inputs)
        if any(isinstance(v, tuple) for v in inputs[:first]) or any(map(has_parts, self.inner_outputs)):
            return None
        parts = [tuple([v.type() for v in outer]) if isinstance(outer, tuple) else variable
                 for outer, variable in zip(inputs[first:], inner, strict=True)]  # fmt: skip
        whole = {
            variable: PutTogether(variable.type)(*part)
            for variable, part in zip(inner, parts)
            if isinstance(part, tuple)
        }
        inner_inputs = [*self.inner_inputs[: len(self.inner_inputs) - len(inner)], *flat(parts)]
        info = replace(self.info, n_non_seqs=len(flat(parts)))
        loop = Scan(inner_inputs, clone_replace(self.inner_outputs, whole), info, self.mode, None, name=self.name)
        return loop(*flat(inputs), return_list=True)

    # -- values ----------------------------------------------------------------------------------------------

    def shown_inputs(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the inputs for error messages; of buffers only the first values, since other rows are
        not initialized.
        """
        result = list(values)
        first = 1 + self.info.n_seqs + self.info.n_mit_mot
        for k, taps in enumerate(self.info.tap_array[self.info.n_mit_mot :], first):
            result[k] = None if values[k] is None else values[k][: -min(taps)]
        return result

    @property
    def title(self) -> str:
        """The loop in error messages: the function that builds it, and its name."""
        return "aesara.scan" if self.name is None else f"aesara.scan ({self.name})"

    def state_text(self, k: int) -> str:
        """Return the number of a state and the name of its first value, for messages."""
        states = [*self.inner_mitmot(self.inner_inputs), *self.inner_mitsot(self.inner_inputs)]
        states += [[v] for v in self.inner_sitsot(self.inner_inputs)]
        name = states[k][0].name
        return f"state {k}" if name is None else f"state {k} ({_TIME.sub('', name)})"

    def where_computed(self, position: int) -> str:
        """Return the line of the user's program that computes an output of the step, for messages."""
        owner = self.inner_outputs[position].owner
        line = None if owner is None else owner.source
        return "" if line is None else f" (computed by {line})"

    @cached_property
    def fn(self) -> Callable[..., Any]:
        """The compiled step."""
        # A run copies shared states once, so that steps may overwrite them.
        states = [v for v in self.inner_shared(self.inner_inputs) if v.type.restorable]
        return hooks.compile_step(
            self.inner_inputs, self.inner_outputs, mode=self.mode, name=self.name, overwritten=states
        )

    @cached_property
    def shapes_fn(self) -> Callable[..., Any]:
        """A function from inputs of the step to shapes of the results that no step reads."""
        shapes = [out.shape for out in self.inner_nitsot_outs(self.inner_outputs)]
        return hooks.compile_step(self.inner_inputs, shapes, name=f"shapes of {self.name}")

    def perform(
        self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list], params: object = None
    ) -> None:
        for storage, value in zip(output_storage, Run(self, inputs).values()):
            storage[0] = value


@cotangents_of_inputs.register(Scan)
def _(op, node, of_outputs):
    """Skip steps after the last row that is read."""
    values = [g.apply_support() for g in of_outputs]
    terms, known = pull_back_loop(op, node.inputs, node.outputs, values, [g.support for g in of_outputs])
    return with_supports(node, terms, values, of_outputs, known)
