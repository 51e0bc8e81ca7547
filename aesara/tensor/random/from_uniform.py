"""Draws of categories, given uniform numbers."""

from __future__ import annotations

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import float_zeros_like
from aesara.tensor.core.casting import cast
from aesara.tensor.core.constant_value import known_integer
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.expression_op import ExpressionOp
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import TensorType
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import eq
from aesara.tensor.sequences.cumulative import cumsum
from aesara.tensor.shapes.reshape import reshape

__all__ = ["ChoiceFromUniform", "MultinomialFromUniform"]


class _FromUniform(Op):
    """Draws from the categories of each row of a matrix of probabilities.

    Parameters
    ----------
    odtype
        The dtype of the draws.
    """

    __props__: tuple[str, ...] = ("odtype",)
    #: what is wrong where there are other numbers than draws
    wrong_count = "{0} draws for each of {1} rows need {2} uniform numbers, got {3}."
    default_dtype: str | None = None

    def __init__(self, odtype: str):
        self.odtype = odtype

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.odtype}}}"

    def make_node(self, pvals: TensorLike, unis: TensorLike, n: TensorLike = 1) -> Apply:
        pvals, unis, n = as_tensor_variable(pvals), as_tensor_variable(unis), as_tensor_variable(n)
        for name, x, ndim in (("pvals", pvals, 2), ("unis", unis, 1), ("n", n, 0)):
            if x.type.ndim != ndim:
                raise NotImplementedError(f"{name} ndim should be {ndim}, got {x.type.ndim}")
        if n.type.dtype not in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
            raise TypeError(f"The number of draws must be an integer, got {n} of dtype {n.type.dtype}.")
        dtype = (self.default_dtype or pvals.type.dtype) if self.odtype == "auto" else self.odtype
        return Apply(self, [pvals, unis, n], [TensorType(dtype, self.shape_of_draws(pvals, n))()])

    def shape_of_draws(self, pvals: Variable, n: Variable) -> tuple[int | None, ...]:
        return pvals.type.shape

    def L_op(self, inputs, outputs, output_grads):
        """Zero: small changes of the inputs change no draw."""
        return list(map(float_zeros_like, inputs))

    def perform(self, node, inputs, output_storage, params=None):
        pvals, unis, n = inputs
        if unis.shape[0] != pvals.shape[0] * n:
            count = pvals.shape[0] * int(n)
            raise ValueError(self.wrong_count.format(n, pvals.shape[0], count, unis.shape[0]))
        draws = self.draws(pvals, unis.reshape(int(n), pvals.shape[0]))
        output_storage[0][0] = draws.astype(node.outputs[0].type.dtype)

    def draws(self, pvals: np.ndarray, unis: np.ndarray) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} does not say how it draws.")


class MultinomialFromUniform(_FromUniform, ExpressionOp):
    """Counts of categories in `n` draws with replacement from each row of `pvals`.

    Draw number k of row r is decided by ``unis[k * rows + r]``.
    """

    def expression(self, *inputs: TensorVariable) -> TensorVariable:
        """Return the first category whose cumulative probability is greater than the uniform number."""
        pvals, unis, n = inputs
        rows, count = pvals.shape[0], cast(n, "int64")
        beyond = cumsum(pvals, axis=1) > reshape(unis, (count, rows, 1))
        is_first = beyond & eq(cumsum(cast(beyond, "int64"), axis=2), 1)
        return cast(is_first.sum(axis=0), self.make_node(*inputs).outputs[0].type.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return [shapes[0]]

    def draws(self, pvals: np.ndarray, unis: np.ndarray) -> np.ndarray:
        counts = np.zeros(pvals.shape, dtype=np.int64)
        reached = np.cumsum(pvals, axis=1, dtype=pvals.dtype)
        rows = np.arange(len(pvals))
        for row_of_unis in unis:
            beyond = reached > row_of_unis[:, None]
            drawn = beyond.any(axis=1)  # probabilities may add up to less than the number
            np.add.at(counts, (rows[drawn], beyond[drawn].argmax(axis=1)), 1)
        return counts


class ChoiceFromUniform(_FromUniform):
    """The categories of `n` draws without replacement from each row of `pvals`."""

    __props__ = ("odtype", "replace")
    default_dtype = "int64"

    def __init__(self, odtype: str, replace: bool = False):
        if replace:
            raise NotImplementedError("ChoiceFromUniform draws without replacement only.")
        super().__init__(odtype)
        self.replace = replace

    def __str__(self) -> str:
        return f"{type(self).__name__}{{odtype={self.odtype!r}, replace={self.replace}}}"

    def shape_of_draws(self, pvals: Variable, n: Variable) -> tuple[int | None, ...]:
        count = known_integer(n)
        return (pvals.type.shape[0], None if count is None or count < 0 else count)

    def infer_shape(self, fgraph, node, shapes):
        return [(shapes[0][0], node.inputs[2])]

    def draws(self, pvals: np.ndarray, unis: np.ndarray) -> np.ndarray:
        if len(unis) > pvals.shape[1]:
            raise ValueError(
                "Cannot sample without replacement n samples bigger than the size of the distribution: "
                f"n is {len(unis)}, and there are {pvals.shape[1]} categories."
            )
        rest = pvals.copy()
        result = np.zeros((len(pvals), len(unis)), dtype=np.int64)
        rows = np.arange(len(pvals))
        for k, row_of_unis in enumerate(unis):
            beyond = np.cumsum(rest, axis=1, dtype=rest.dtype) > row_of_unis[:, None]
            drawn = beyond.any(axis=1)
            result[:, k] = np.where(drawn, beyond.argmax(axis=1), 0)
            rest[rows[drawn], result[drawn, k]] = 0
            with np.errstate(all="ignore"):  # nothing is left after the last category
                rest[drawn] /= rest[drawn].sum(axis=1, keepdims=True)
        return result
