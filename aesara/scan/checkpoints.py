"""Loops that keep only every n-th state; gradients recompute the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.scan.basic import scan
from aesara.scan.parts import last_value
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.creation.ranges import arange
from aesara.tensor.elementwise.ops import ceil, eq, minimum
from aesara.tensor.joining.join_split import join

__all__ = ["ceil", "eq", "scan_checkpoints"]


def scan_checkpoints(
    fn: Callable, sequences: object = None, outputs_info: object = None, non_sequences: object = None,
    name: str = "checkpointscan_fn", n_steps: object = None, save_every_N: int = 10, padding: bool = True,
) -> tuple[Any, Any]:  # fmt: skip
    """Apply `scan`, but return, and keep for the gradient, only the state after every `save_every_N` steps.

    The loop consists of two nested loops. For n steps, it keeps about ``n / save_every_N + save_every_N`` states; its
    gradient evaluates each step twice.

    Parameters
    ----------
    fn, sequences, outputs_info, non_sequences, name, n_steps
        As in `scan`, with first values for every output and without taps.
    save_every_N
        The number of steps from one kept state to the next.
    padding
        Whether to pad sequences by zeros to a multiple of `save_every_N`. Without sequences the last kept state is
        that after the last step.

    Returns
    -------
    tuple
        Outputs and updates, as in `scan`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> from aesara.scan.checkpoints import scan_checkpoints
    >>> x = at.dvector("x")
    >>> start = at.constant(0, dtype="float64")
    >>> sums, _ = scan_checkpoints(lambda x_t, s: s + x_t, x, [start], save_every_N=2)
    >>> aesara.function([x], sums)([1.0, 2.0, 3.0, 4.0])
    array([ 3., 10.])
    """
    rows = [as_tensor_variable(v) for v in _as_list(sequences)]
    states, constants = _as_list(outputs_info), _as_list(non_sequences)
    if any(state is None or isinstance(state, dict) for state in states):
        raise RuntimeError("scan_checkpoints needs a first value for every output, and takes no taps.")
    if not rows and n_steps is None:
        raise ValueError("scan_checkpoints: give n_steps, or a sequence whose length says how many steps there are.")
    if save_every_N < 1:
        raise ValueError(f"scan_checkpoints: save_every_N must be at least 1, got {save_every_N}.")
    length = rows[0].shape[0] if n_steps is None else as_tensor_variable(n_steps)
    whole = padding or not rows
    blocks = ceil(length / save_every_N).astype("int64") if whole else length // save_every_N
    if padding:
        missing = blocks * save_every_N - length
        rows = [join(0, v[:length], zeros((missing, *[v.shape[d] for d in range(1, v.type.ndim)]), v.type.dtype))
                for v in rows]  # fmt: skip
    blocked_rows = [
        v[: blocks * save_every_N].reshape(
            (blocks, save_every_N, *[v.shape[d] for d in range(1, v.type.ndim)]), ndim=v.type.ndim + 1
        )
        for v in rows
    ]

    # Without sequences, the last block may be shorter.
    counts = [] if rows else [minimum(length - arange(blocks) * save_every_N, save_every_N)]

    def block(*arguments: Any) -> Any:
        own, rest = list(arguments[: len(blocked_rows)]), list(arguments[len(blocked_rows) :])
        steps = save_every_N if rows else rest.pop(0)
        inner, updates = scan(
            fn, own, rest[: len(states)], rest[len(states) :], n_steps=steps, name=name, return_list=True
        )
        return [last_value(value) for value in inner], updates

    return scan(block, [*blocked_rows, *counts], states, constants, n_steps=blocks, name=name)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
