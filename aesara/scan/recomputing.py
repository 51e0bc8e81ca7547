"""The gradient of a loop with checkpoints: it keeps few states and recomputes the others.

The steps are divided into blocks; the number of blocks is about the number of steps of a block. A loop over the blocks
keeps the states between them; its gradient runs each block again, with all of its states, before it differentiates the
block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.cloning import clone_replace
from aesara.graph.nodes import Variable
from aesara.graph.pullback import is_disconnected, pull_back
from aesara.scan.continuity import gradients_in_order, is_continuous
from aesara.scan.last_cotangents import last_entry
from aesara.scan.parts import LoopParts, State, expand_empty
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.creation.allocation import zeros, zeros_like
from aesara.tensor.elementwise.ops import ceil, gt, maximum, sqrt, switch
from aesara.tensor.indexing.getitem import getitem
from aesara.tensor.indexing.inc_subtensor import set_subtensor
from aesara.tensor.shapes.rearranging import sizes_of
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = ["pull_back_in_blocks", "wants_blocks"]


def wants_blocks(op: Any) -> bool:
    """Return whether the gradient of a loop is computed block by block: if its option says so and the loop can be
    divided.
    """
    info = op.info
    can_be_divided = not (info.as_while or info.n_shared_outs or info.n_mit_mot) and op.truncate_gradient == -1
    return memory_limit(op) > 0 and can_be_divided and bool(info.n_mit_sot + info.n_sit_sot)


def memory_limit(op: Any) -> int:
    """Return the number of bytes of states that the gradient of a loop may keep; 0 for no limit."""
    option: int | None = op.checkpoint_memory
    return config.scan__checkpoint_memory if option is None else option


def pull_back_in_blocks(op: Any, inputs: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
    """Return the gradients of the inputs of a loop, given those of its outputs."""
    limit = memory_limit(op)
    with config.change_flags(scan__checkpoint_memory=0):  # the loop of a block keeps all of its states
        return _Blocks(op.keeping_all_states(), inputs, gradients, limit).gradients()


class _Blocks:
    """The gradient of a loop that may keep `limit` bytes of states."""

    def __init__(self, op: Any, inputs: Sequence[Any], gradients: Sequence[Any], limit: int) -> None:
        self.op, self.inputs, self.cotangents = op, inputs, gradients
        info = op.info
        self.depths = [-min(taps) for taps in info.tap_array]
        self.n_states = len(self.depths)
        # New variables, so that dependencies between the inputs are not differentiated here.
        self.seqs = [v.type() for v in op.outer_seqs(inputs)]
        self.buffers = op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
        self.firsts = [TensorType(v.type.dtype, (None, *v.type.shape[1:]))() for v in self.buffers]
        self.constants = [v.type() for v in op.outer_non_seqs(inputs)]
        self._set_block_sizes(limit)

    def _set_block_sizes(self, limit: int) -> None:
        """Set the number of steps of a block, the number of blocks, and the number of remaining steps, at least one."""
        steps = as_tensor_variable(self.inputs[0]).astype("int64")
        bytes_per_step: Any = 0
        for buffer in self.buffers:
            size: Any = np.dtype(buffer.type.dtype).itemsize
            for length in sizes_of(buffer)[1:]:
                size = size * length
            bytes_per_step = bytes_per_step + size
        root = maximum(ceil(sqrt(steps.astype("float64"))).astype("int64"), 1)
        is_large = gt(steps * bytes_per_step, constant(limit, dtype="int64"))
        self.steps = steps
        self.length = switch(is_large, root, steps + 1)
        self.count = maximum((steps - 1) // self.length, 0)
        self.rest = steps - self.count * self.length

    def _run(self, steps: Any, seqs: Sequence[Any], firsts: Sequence[Any], constants: Sequence[Any]) -> list[Any]:
        """Run the loop for some of its steps."""
        rows = [specify_shape(first, (d, *[None] * (first.type.ndim - 1))) for first, d in zip(firsts, self.depths)]
        buffers = [expand_empty(first, steps) for first in rows]
        results = [steps] * self.op.info.n_nit_sot
        outputs: list[Any] = self.op(steps, *seqs, *buffers, *results, *constants, return_list=True)
        return outputs

    def gradients(self) -> list[Any]:
        read = [k for k, g in enumerate(self.cotangents) if not is_disconnected(g)]
        last = {k: last_entry(self.cotangents[k]) for k in read}
        by_row = [k for k in read if last[k] is None]
        states, rows = self._all_blocks(by_row)
        blocked_steps = self.count * self.length
        last_outputs = self._run(self.rest, [v[blocked_steps : self.steps] for v in self.seqs], states, self.constants)
        seeds: dict[Variable, Any] = {}
        for k in read:
            depth = self.depths[k] if k < self.n_states else 0
            if last[k] is not None:
                seeds[last_outputs[k][-1]] = last[k]
                continue
            cotangent = self.cotangents[k][depth:]
            sizes = sizes_of(rows[k])[2:]
            seeds[rows[k]] = cotangent[:blocked_steps].reshape(
                (self.count, self.length, *sizes), ndim=rows[k].type.ndim
            )
            seeds[last_outputs[k][depth:]] = cotangent[blocked_steps:]
        seeds = {v: g for v, g in seeds.items() if is_continuous(v)}
        wrt = [v for v in [*self.seqs, *self.firsts, *self.constants] if is_continuous(v)]
        gradients = {v: g for v, g in zip(wrt, pull_back(seeds, wrt)) if not is_disconnected(g)}
        return self._gradients_of_inputs(gradients, by_row)

    def _all_blocks(self, by_row: Sequence[int]) -> tuple[list[Any], dict[int, Any]]:
        """Return the states after the last block, and outputs of all blocks."""
        parts = LoopParts(self.count)
        entries = []
        for rows in self.seqs:
            blocked_rows = rows[: self.count * self.length]
            shape = (self.count, self.length, *sizes_of(rows)[1:])
            blocked_rows = blocked_rows.reshape(shape, ndim=rows.type.ndim + 1)
            entries.append(TensorType(rows.type.dtype, (None, *rows.type.shape[1:]))())
            parts.sequences.append((blocked_rows, entries[-1]))
        former = [first.type() for first in self.firsts]
        constants = [v.type() for v in self.constants]
        # The length is passed as that of a vector, since sizes that follow from shapes are known before the loop.
        vector_of_length: Any = TensorType("int8", (None,))()
        parts.constants += [(zeros(self.length, dtype="int8"), vector_of_length), *zip(self.constants, constants)]
        length = vector_of_length.shape[0]
        block_outputs = self._run(length, entries, former, constants)
        for k, (first, old) in enumerate(zip(self.firsts, former)):
            buffer = expand_empty(first[None], self.count)
            parts.states.append(State(buffer, (-1,), (old,), block_outputs[k][-self.depths[k] :]))
        for k in by_row:
            parts.results.append(block_outputs[k][self.depths[k] :] if k < self.n_states else block_outputs[k])
        op = self.op
        outputs = op.of_parts(parts, name=f"blocks_of_{op.name or 'scan_fn'}", mode=op.mode)
        buffers, results, _ = parts.split(outputs)
        return [getitem(buffers[state], -1) for state in parts.states], dict(zip(by_row, results))

    def _gradients_of_inputs(self, gradients: dict[Variable, Any], by_row: Sequence[int]) -> list[Any]:
        op, inputs = self.op, self.inputs
        actual_inputs = {
            **dict(zip(self.seqs, op.outer_seqs(inputs))),
            **{first: buffer[:d] for first, buffer, d in zip(self.firsts, self.buffers, self.depths)},
            **dict(zip(self.constants, op.outer_non_seqs(inputs))),
        }
        gradients = dict(zip(gradients, clone_replace(list(gradients.values()), actual_inputs)))
        of_buffers = []
        for k, (first, buffer) in enumerate(zip(self.firsts, self.buffers)):
            depth, total = self.depths[k], gradients.get(first)
            if k in by_row and is_continuous(buffer):
                direct = self.cotangents[k][:depth]
                total = direct if total is None else total + direct
            of_buffers.append(None if total is None else set_subtensor(zeros_like(buffer)[:depth], total))
        of_seqs, of_constants = [gradients.get(v) for v in self.seqs], [gradients.get(v) for v in self.constants]
        return gradients_in_order(op, inputs, of_seqs, of_buffers, of_constants)
