"""What has other parameters in Theano than here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import aesara.tensor as at
from aesara.configdefaults import config
from aesara.graph.cloning import clone_replace
from aesara.graph.op import Op

__all__ = ["TheanoOp", "change_flags", "clone", "patternbroadcast"]


class TheanoOp(Op):
    """The base class of Theano's Ops, whose ``infer_shape`` takes the node and the shapes only."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls).get("infer_shape")
        if own is None or len(inspect.signature(own).parameters) != 3:
            return

        @functools.wraps(own)
        def infer_shape(self: Any, fgraph: Any, node: Any, shapes: Any) -> Any:
            return own(self, node, shapes)

        setattr(cls, "infer_shape", infer_shape)  # noqa: B010


def change_flags(**flags: Any) -> AbstractContextManager[Any]:
    """Change options within a block, or in a function that it decorates."""
    return config.change_flags(**flags)


def clone(
    output: Any, replace: Any = None, strict: bool = True, share_inputs: bool = True, copy_inputs: Any = None
) -> Any:
    """Copy a graph with some variables replaced; `copy_inputs` is an old name of `share_inputs`."""
    shared = share_inputs if copy_inputs is None else copy_inputs
    return clone_replace(output, replace, rebuild_strict=strict, copy_inputs_over=shared)


def patternbroadcast(x: Any, broadcastable: Sequence[bool]) -> Any:
    """Say of each dimension whether it has length one and is broadcast."""
    x = at.as_tensor_variable(x)
    ones = [d for d, one in enumerate(broadcastable) if one and x.type.shape[d] != 1]
    others = [d for d, one in enumerate(broadcastable) if not one and x.type.shape[d] == 1]
    if ones:
        x = at.specify_broadcastable(x, *ones)
    return at.unbroadcast(x, *others) if others else x
