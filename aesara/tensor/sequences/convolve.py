"""The convolution of two vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from aesara import scalar as aes
from aesara.configdefaults import config
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import discrete_dtypes
from aesara.tensor.core.tensor_like import OutputCells, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.creation.allocation import zeros
from aesara.tensor.elementwise.ops import conj, gradient_as, maximum, minimum
from aesara.tensor.joining.join_split import join

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph
    from aesara.graph.nodes import Variable


__all__ = ["convolve"]

_MODES = ("full", "same", "valid")


class Convolve(Op):
    """The convolution of two vectors; see `numpy.convolve`.

    Parameters
    ----------
    mode
        "full" for every overlap, "valid" for the complete ones, "same" for
        the middle part with the length of the longer vector.
    """

    __props__ = ("mode",)

    def __init__(self, mode: Literal["full", "same", "valid"] = "full"):
        if mode not in _MODES:
            raise ValueError(f'The mode of a convolution is "full", "same" or "valid"; got {mode!r}.')
        self.mode = mode

    def make_node(self, a: Any, v: Any) -> Apply:
        a, v = as_tensor_variable(a), as_tensor_variable(v)
        for name, t in (("a", a), ("v", v)):
            if t.type.ndim != 1:
                raise ValueError(
                    f"Inputs of convolve must be 1-dimensional; {name} ({describe(t)}) has {t.type.ndim} dimensions."
                )
        n, m = a.type.shape[0], v.type.shape[0]
        if n == 0 or m == 0:
            raise ValueError(f"convolve needs vectors that are not empty; got types {a.type} and {v.type}.")
        length = None
        if n is not None and m is not None:
            length = {"full": n + m - 1, "same": max(n, m), "valid": max(n, m) - min(n, m) + 1}[self.mode]
        return Apply(self, [a, v], [tensor_type(aes.upcast(a.type.dtype, v.type.dtype), (length,))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputCells, params: object = None) -> None:
        dtype = node.outputs[0].type.numpy_dtype
        a, v = [x.astype(dtype, copy=False) for x in inputs]
        output_storage[0][0] = np.asarray(np.convolve(a, v, self.mode), dtype=dtype)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[Sequence[TensorVariable]]
    ) -> list[tuple]:
        (n,), (m,) = shapes
        if self.mode == "full":
            return [(n + m - 1,)]
        longer = maximum(n, m)
        return [(longer,) if self.mode == "same" else (longer - minimum(n, m) + 1,)]

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Return the gradients: correlations of the output gradient and the other vector."""
        a, v = map(conj, inputs)
        g = as_tensor_variable(output_grads[0])
        n, m = a.shape[0], v.shape[0]
        full = _pad(g, self._offset(n, m), n + m - 1)
        a_grad = convolve(full, v[::-1], "full")[m - 1 : m - 1 + n]
        v_grad = convolve(full, a[::-1], "full")[n - 1 : n - 1 + m]
        return [
            x.zeros_like(dtype=config.floatX) if x.type.dtype in discrete_dtypes else gradient_as(g, x.type.dtype)
            for x, g in zip(inputs, (a_grad, v_grad))
        ]

    def _offset(self, n: TensorVariable, m: TensorVariable) -> TensorVariable:
        """Return the offset of the result in the full convolution."""
        shorter = minimum(n, m)
        if self.mode == "full":
            return shorter * 0
        return shorter - 1 if self.mode == "valid" else (shorter - 1) // 2


def _pad(g: TensorVariable, offset: TensorVariable, length: TensorVariable) -> TensorVariable:
    """Pad a vector with `offset` leading zeros, and with trailing zeros to a length."""
    zeros_of = [zeros((n,), dtype=g.type.dtype) for n in (offset, length - offset - g.shape[0])]
    return join(0, zeros_of[0], g, zeros_of[1])


def convolve(a: TensorLike, v: Variable, mode: Literal["full", "same", "valid"] = "full") -> TensorVariable:
    """The convolution of two vectors.

    Parameters
    ----------
    a, v
        The vectors.
    mode
        "full" for every overlap, "valid" for the complete ones, "same" for
        the middle part with the length of the longer vector.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]).eval()
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    return Convolve(mode)(a, v)
