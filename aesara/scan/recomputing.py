"""The gradient of a loop that keeps few of its states, and computes the others again.

The steps are cut into blocks, about as many as a block has steps.  A loop over the blocks keeps the states between
them; its gradient runs each block once more, with all of its states, before it goes back through it.
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

__all__ = ["pulled_back_in_blocks", "wants_blocks"]


def wants_blocks(op: Any) -> bool:
    """Return whether the gradient of a loop is to keep few states: by its option, and if the loop can be cut."""
    info = op.info
    can_be_cut = not (info.as_while or info.n_shared_outs or info.n_mit_mot) and op.truncate_gradient == -1
    return bytes_kept(op) > 0 and can_be_cut and bool(info.n_mit_sot + info.n_sit_sot)


def bytes_kept(op: Any) -> int:
    """Return the number of bytes of states that the gradient of a loop may keep; 0 for no limit."""
    own: int | None = op.checkpoint_memory
    return config.scan__checkpoint_memory if own is None else own


def pulled_back_in_blocks(op: Any, inputs: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
    """The gradients of a loop's inputs, given those of its outputs."""
    most = bytes_kept(op)
    with config.change_flags(scan__checkpoint_memory=0):  # the loops in a block keep all that they need
        return _Blocks(op.keeping_all_states(), inputs, gradients, most).gradients()


class _Blocks:
    """`most` is how many bytes of states may be kept."""

    def __init__(self, op: Any, inputs: Sequence[Any], gradients: Sequence[Any], most: int) -> None:
        self.op, self.inputs, self.given = op, inputs, gradients
        info = op.info
        self.depths = [-min(taps) for taps in info.tap_array]
        self.n_states = len(self.depths)
        # Variables of their own, so that what inputs have to do with each other is left to others.
        self.seqs = [v.type() for v in op.outer_seqs(inputs)]
        self.buffers = op.outer_mitsot(inputs) + op.outer_sitsot(inputs)
        self.firsts = [TensorType(v.type.dtype, (None, *v.type.shape[1:]))() for v in self.buffers]
        self.constants = [v.type() for v in op.outer_non_seqs(inputs)]
        self._set_block_sizes(most)

    def _set_block_sizes(self, most: int) -> None:
        """Set the number of steps of a block, the number of blocks, and that of steps that are left, at least one."""
        steps = as_tensor_variable(self.inputs[0]).astype("int64")
        in_a_row: Any = 0
        for buffer in self.buffers:
            size: Any = np.dtype(buffer.type.dtype).itemsize
            for length in sizes_of(buffer)[1:]:
                size = size * length
            in_a_row = in_a_row + size
        root = maximum(ceil(sqrt(steps.astype("float64"))).astype("int64"), 1)
        is_large = gt(steps * in_a_row, constant(most, dtype="int64"))
        self.steps = steps
        self.length = switch(is_large, root, steps + 1)
        self.count = maximum((steps - 1) // self.length, 0)
        self.rest = steps - self.count * self.length

    def _run(self, steps: Any, seqs: Sequence[Any], firsts: Sequence[Any], constants: Sequence[Any]) -> list[Any]:
        """The loop over some of its steps."""
        rows = [specify_shape(first, (d, *[None] * (first.type.ndim - 1))) for first, d in zip(firsts, self.depths)]
        buffers = [expand_empty(first, steps) for first in rows]
        results = [steps] * self.op.info.n_nit_sot
        made: list[Any] = self.op(steps, *seqs, *buffers, *results, *constants, return_list=True)
        return made

    def gradients(self) -> list[Any]:
        read = [k for k, g in enumerate(self.given) if not is_disconnected(g)]
        last = {k: last_entry(self.given[k]) for k in read}
        by_row = [k for k in read if last[k] is None]
        states, rows = self._all_blocks(by_row)
        done = self.count * self.length
        rest = self._run(self.rest, [v[done : self.steps] for v in self.seqs], states, self.constants)
        seeds: dict[Variable, Any] = {}
        for k in read:
            depth = self.depths[k] if k < self.n_states else 0
            if last[k] is not None:
                seeds[rest[k][-1]] = last[k]
                continue
            given = self.given[k][depth:]
            sizes = sizes_of(rows[k])[2:]
            seeds[rows[k]] = given[:done].reshape((self.count, self.length, *sizes), ndim=rows[k].type.ndim)
            seeds[rest[k][depth:]] = given[done:]
        seeds = {v: g for v, g in seeds.items() if is_continuous(v)}
        wrt = [v for v in [*self.seqs, *self.firsts, *self.constants] if is_continuous(v)]
        found = {v: g for v, g in zip(wrt, pull_back(seeds, wrt)) if not is_disconnected(g)}
        return self._of_inputs(found, by_row)

    def _all_blocks(self, by_row: Sequence[int]) -> tuple[list[Any], dict[int, Any]]:
        """The states behind all blocks, and outputs of all blocks."""
        parts = LoopParts(self.count)
        entries = []
        for rows in self.seqs:
            cut = rows[: self.count * self.length]
            shape = (self.count, self.length, *sizes_of(rows)[1:])
            cut = cut.reshape(shape, ndim=rows.type.ndim + 1)
            entries.append(TensorType(rows.type.dtype, (None, *rows.type.shape[1:]))())
            parts.sequences.append((cut, entries[-1]))
        former = [first.type() for first in self.firsts]
        constants = [v.type() for v in self.constants]
        # The length comes in as that of a vector: sizes that follow from shapes are known before a loop runs.
        ruler: Any = TensorType("int8", (None,))()
        parts.constants += [(zeros(self.length, dtype="int8"), ruler), *zip(self.constants, constants)]
        length = ruler.shape[0]
        made = self._run(length, entries, former, constants)
        for k, (first, old) in enumerate(zip(self.firsts, former)):
            buffer = expand_empty(first[None], self.count)
            parts.states.append(State(buffer, (-1,), (old,), made[k][-self.depths[k] :]))
        for k in by_row:
            parts.results.append(made[k][self.depths[k] :] if k < self.n_states else made[k])
        op = self.op
        outputs = op.of_parts(parts, name=f"blocks_of_{op.name or 'scan_fn'}", mode=op.mode)
        buffers, results, _ = parts.split(outputs)
        return [getitem(buffers[state], -1) for state in parts.states], dict(zip(by_row, results))

    def _of_inputs(self, found: dict[Variable, Any], by_row: Sequence[int]) -> list[Any]:
        op, inputs = self.op, self.inputs
        real = {
            **dict(zip(self.seqs, op.outer_seqs(inputs))),
            **{first: buffer[:d] for first, buffer, d in zip(self.firsts, self.buffers, self.depths)},
            **dict(zip(self.constants, op.outer_non_seqs(inputs))),
        }
        found = dict(zip(found, clone_replace(list(found.values()), real)))
        of_buffers = []
        for k, (first, buffer) in enumerate(zip(self.firsts, self.buffers)):
            depth, total = self.depths[k], found.get(first)
            if k in by_row and is_continuous(buffer):
                direct = self.given[k][:depth]
                total = direct if total is None else total + direct
            of_buffers.append(None if total is None else set_subtensor(zeros_like(buffer)[:depth], total))
        of_seqs, of_constants = [found.get(v) for v in self.seqs], [found.get(v) for v in self.constants]
        return gradients_in_order(op, inputs, of_seqs, of_buffers, of_constants)
