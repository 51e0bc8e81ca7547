"""Sparse matrices with random elements.

They are drawn by NumPy's global generator (`numpy.random.seed`), each time that a node is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.pullback import grad_undefined
from aesara.sparse.arithmetic import with_data
from aesara.sparse.construction import dense_operand, sparse_operand
from aesara.sparse.type import COMPRESSED, MATRIX_CLASSES, SparseTensorType
from aesara.tensor.core.dtypes import discrete_dtypes, float_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable

if TYPE_CHECKING:
    from aesara.graph.fg import FunctionGraph

__all__ = [
    "Binomial",
    "Multinomial",
    "Poisson",
    "csc_dbinomial",
    "csc_fbinomial",
    "csr_dbinomial",
    "csr_fbinomial",
    "multinomial",
    "poisson",
]

_COMMENT = "No gradient exists for a draw of random numbers"


class _Draw(Op):
    """A draw, whose gradient is not defined for any input."""

    __props__: tuple[str, ...] = ()

    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply) -> bool:
        return False

    def grad(self, inputs: Sequence[Variable], output_gradients: Sequence[Variable]) -> list[Variable]:
        return [grad_undefined(self, k, one, _COMMENT) for k, one in enumerate(inputs)]


class Poisson(_Draw):
    """A sparse matrix of integers from Poisson distributions, whose means are the stored values of a matrix."""

    def make_node(self, x: TensorLike) -> Apply:
        x = sparse_operand(self, x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        (x,) = inputs
        drawn = with_data(x, np.asarray(np.random.poisson(x.data[: x.indices.size]), dtype=x.dtype))
        drawn.eliminate_zeros()
        output_storage[0][0] = drawn

    def infer_shape(self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[tuple[TensorVariable, ...]]) -> Any:
        return shapes


poisson = Poisson()


class Binomial(_Draw):
    """Return a sparse matrix of binomial draws: successes in `n` trials of probability `p`.

    Parameters
    ----------
    format
        ``"csr"`` or ``"csc"``.
    dtype
        The dtype of the matrix.
    """

    __props__ = ("format", "dtype")

    def __init__(self, format: str, dtype: str):
        if format not in COMPRESSED:
            raise ValueError(f"format must be one of: {', '.join(COMPRESSED)}; got {format!r}.")
        self.format, self.dtype = format, dtype

    def make_node(self, n: TensorLike, p: TensorLike, shape: TensorLike) -> Apply:
        n, p, shape = dense_operand(self, n, 0), dense_operand(self, p, 0), dense_operand(self, shape, 1)
        if n.type.dtype not in discrete_dtypes or shape.type.dtype not in discrete_dtypes:
            raise TypeError(f"{self} takes an integer n and a vector of integers; got {n.type} and {shape.type}.")
        if p.type.dtype not in float_dtypes:
            raise TypeError(f"{self} takes a probability, a number with a fraction; got {p.type}.")
        return Apply(self, [n, p, shape], [SparseTensorType(self.format, self.dtype)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        n, p, shape = inputs
        drawn = np.random.binomial(n, p, size=tuple(shape))
        output_storage[0][0] = MATRIX_CLASSES[self.format](drawn, dtype=self.dtype)

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[tuple[TensorVariable, ...]]
    ) -> list[tuple[TensorVariable, ...]]:
        shape: Any = node.inputs[2]
        return [(shape[0].astype("int64"), shape[1].astype("int64"))]


csr_fbinomial, csc_fbinomial = Binomial("csr", "float32"), Binomial("csc", "float32")
csr_dbinomial, csc_dbinomial = Binomial("csr", "float64"), Binomial("csc", "float64")


class Multinomial(_Draw):
    """Return a sparse matrix with a multinomial draw in each row: counts of the outcomes of `n` trials.

    The probabilities of the outcomes are the stored values of the rows of a csr matrix, which add up to one; `n` is one
    number, or one for each row.
    """

    def make_node(self, n: TensorLike, p: Any) -> Apply:
        n, p = dense_operand(self, n), sparse_operand(self, p)
        if p.type.format != "csr":
            raise NotImplementedError(f"{self} takes a csr matrix; got {p.type}.")
        if n.type.ndim > 1 or n.type.dtype not in discrete_dtypes:
            raise TypeError(f"{self} takes an integer or a vector of integers; got {n.type}.")
        return Apply(self, [n, p], [p.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        n, p = inputs
        if n.ndim and n.size != p.shape[0]:
            raise ValueError(f"{self}: there are {n.size} numbers of trials for {p.shape[0]} rows.")
        counts = np.zeros(p.indices.size, dtype=p.dtype)
        for trials, begin, end in zip(np.broadcast_to(n, p.shape[0]), p.indptr[:-1], p.indptr[1:]):
            if end > begin:
                counts[begin:end] = np.random.multinomial(trials, p.data[begin:end].astype("float64"))
        drawn = with_data(p, counts)
        drawn.eliminate_zeros()
        output_storage[0][0] = drawn

    def infer_shape(
        self, fgraph: FunctionGraph, node: Apply, shapes: Sequence[tuple[TensorVariable, ...]]
    ) -> list[tuple[TensorVariable, ...]]:
        return [shapes[1]]


multinomial = Multinomial()
