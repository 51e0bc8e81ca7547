"""Fourier transforms of real tensors with complex numbers as pairs of real ones: Aesara's layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import disconnected_type
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.core.tensor_like import IntegerLike, ShapeLike, TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.discrete_fourier.transforms import irfftn, rfftn
from aesara.tensor.elementwise.ops import complex as complex_of
from aesara.tensor.elementwise.ops import imag, real, sqrt
from aesara.tensor.joining.join_split import stack
from aesara.tensor.reductions.sum_prod_max import prod

__all__ = ["IRFFTOp", "RFFTOp", "irfft", "irfft_op", "rfft", "rfft_op"]

_TO_FLOAT = {"float32": "float32", "float16": "float32"}


class _PairsOp(ExpressionOp):
    """A transform over all dimensions but the first, with the lengths of the signal as second input."""

    __props__: tuple[str, ...] = ()

    def output_type(self, inp: TensorVariable) -> Any:
        """The type of the result."""
        raise NotImplementedError(f"{type(self).__name__}.output_type")

    def _check_operand(self, value: TensorLike, ndim: int) -> TensorVariable:
        x = as_tensor_variable(value)
        if x.type.ndim < ndim:
            raise TypeError(
                f"{self}: input must have dimension > {ndim - 1}, with first dimension batches"
                f"{' and last dimension real and imaginary part' if ndim > 2 else ''}; got {describe(x)} of type "
                f"{x.type}."
            )
        if x.type.dtype.startswith("complex"):
            raise TypeError(f"{self}: input must be real; got {describe(x)} of type {x.type}.")
        dtype = _TO_FLOAT.get(x.type.dtype, "float64")
        return x if x.type.dtype == dtype else x.astype(dtype)

    def _lengths(self, s: ShapeLike, default: Any) -> TensorVariable:
        lengths = as_tensor_variable(default if s is None else s)
        if lengths.type.dtype[0] not in "iu":
            raise TypeError(f"{self}: length of the transformed axis must be of type integer; got {lengths.type}.")
        return lengths

    def connection_pattern(self, node):
        return [[True], [False]]

    def infer_shape(self, fgraph, node, shapes):
        n = node.outputs[0].type.ndim
        lengths = node.inputs[1]
        inner = [lengths[k] for k in range(self._dimensions(n))]
        return [(shapes[0][0], *self._result_shape(inner))]

    def _dimensions(self, ndim: int) -> int:
        raise NotImplementedError(f"{type(self).__name__}._dimensions")

    def _result_shape(self, lengths: list[IntegerLike | None]) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__}._result_shape")

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        gradient, _ = super().L_op(inputs, outputs, output_grads)
        return [gradient, disconnected_type()]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        # Both transforms are linear: R_op(f)(x) v = f(v).
        return [None if eval_points[0] is None else self(eval_points[0], inputs[1])]


class RFFTOp(_PairsOp):
    """The Fourier transform of real tensors over all dimensions but the first.

    Inputs are a tensor of shape (m, ..., n) and the lengths of the transform, those of the tensor by default. The
    result has shape (m, ..., n // 2 + 1, 2), with real and imaginary part last, and no factor.
    """

    __props__ = ()

    def output_type(self, inp: TensorVariable) -> Any:
        return tensor_type(inp.type.dtype, (None,) * inp.type.ndim + (2,))

    def make_node(self, a: Any, s: Any = None) -> Apply:
        a = self._check_operand(a, 2)
        return Apply(self, [a, self._lengths(s, a.shape[1:])], [self.output_type(a)()])

    def perform(self, node, inputs, output_storage, params=None):
        a, s = inputs
        transform = np.fft.rfftn(a, s=tuple(s), axes=tuple(range(1, a.ndim)))
        output_storage[0][0] = np.stack([transform.real, transform.imag], axis=-1).astype(a.dtype)

    def _dimensions(self, ndim: int) -> int:
        return ndim - 2

    def _result_shape(self, lengths: list[Any]) -> list[Any]:
        return [*lengths[:-1], lengths[-1] // 2 + 1, 2]

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        a, s = inputs
        transform = rfftn(a, [s[k] for k in range(a.type.ndim - 1)], range(1, a.type.ndim))
        return stack([real(transform), imag(transform)], axis=-1)


class IRFFTOp(_PairsOp):
    """The inverse of `RFFTOp`, but for a factor: the product of the lengths of the result.

    Inputs are a tensor of shape (m, ..., n // 2 + 1, 2) and the lengths of the result; by default the last is even.
    """

    __props__ = ()

    def output_type(self, inp: TensorVariable) -> Any:
        return tensor_type(inp.type.dtype, (None,) * (inp.type.ndim - 1))

    def make_node(self, a: Any, s: Any = None) -> Apply:
        a = self._check_operand(a, 3)
        if s is None:
            lengths = [a.shape[k] for k in range(1, a.type.ndim - 1)]
            s = stack([*lengths[:-1], 2 * (lengths[-1] - 1)])
        return Apply(self, [a, self._lengths(s, None)], [self.output_type(a)()])

    def perform(self, node, inputs, output_storage, params=None):
        a, s = inputs
        numbers = np.empty(a.shape[:-1], np.result_type(a.dtype, np.complex64))
        numbers.real, numbers.imag = a[..., 0], a[..., 1]
        signal = np.fft.irfftn(numbers, s=tuple(s), axes=tuple(range(1, numbers.ndim)), norm="forward")
        output_storage[0][0] = signal.astype(a.dtype)

    def _dimensions(self, ndim: int) -> int:
        return ndim - 1

    def _result_shape(self, lengths: list[IntegerLike | None]) -> list[Any]:
        return lengths

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        a, s = inputs
        numbers = complex_of(a[..., 0], a[..., 1])
        return irfftn(numbers, [s[k] for k in range(a.type.ndim - 2)], range(1, a.type.ndim - 1), norm="forward")


rfft_op = RFFTOp()
irfft_op = IRFFTOp()


def _unitary(norm: str | None) -> str | None:
    if norm not in (None, "ortho", "no_norm"):
        raise ValueError(f"Invalid value {norm} for norm, must be None, 'ortho' or 'no_norm'")
    return norm


def rfft(inp: TensorLike, norm: str | None = None) -> TensorVariable:
    """The Fourier transform of real tensors over all dimensions but the first, with pairs of real numbers.

    Parameters
    ----------
    inp
        A tensor of shape (m, ..., n): m signals.
    norm
        None or ``"no_norm"``: no factor. ``"ortho"``: one over the root of the number of elements of a signal.

    Returns
    -------
    Variable
        A tensor of shape (m, ..., n // 2 + 1, 2), with real and imaginary part last. For complex numbers see
        `rfft_complex`.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.rfft([[1.0, 0.0, 1.0, 0.0]]).eval()
    array([[[2., 0.],
            [0., 0.],
            [2., 0.]]])
    """
    inp = as_tensor_variable(inp)
    cond_norm = _unitary(norm)
    lengths = inp.shape[1:]
    result = rfft_op(inp, lengths)
    return result / sqrt(prod(lengths).astype(result.type.dtype)) if cond_norm == "ortho" else result


def irfft(inp: TensorLike, norm: str | None = None, is_odd: bool = False) -> TensorVariable:
    """The inverse of `rfft`.

    Parameters
    ----------
    inp
        A tensor of shape (m, ..., n // 2 + 1, 2).
    norm
        None: the inverse of `rfft` without a norm. ``"ortho"``: that of `rfft` with this norm. ``"no_norm"``: no
        factor.
    is_odd
        Whether the last dimension of the result is odd.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> at.fft.irfft(at.fft.rfft([[1.0, 0.0, 1.0, 0.0]])).eval()
    array([[1., 0., 1., 0.]])
    """
    if is_odd not in (True, False):
        raise ValueError(f"Invalid value {is_odd} for id_odd, must be True or False")
    inp = as_tensor_variable(inp)
    cond_norm = _unitary(norm)
    if inp.type.ndim < 3:
        return irfft_op(inp)
    lengths = [inp.shape[k] for k in range(1, inp.type.ndim - 1)]
    s = stack([*lengths[:-1], 2 * (lengths[-1] - 1) + (1 if is_odd else 0)])
    result = irfft_op(inp, s)
    count = prod(s).astype(result.type.dtype)
    if cond_norm is None:
        return result / count
    return result / sqrt(count) if cond_norm == "ortho" else result
