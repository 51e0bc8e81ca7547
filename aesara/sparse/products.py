"""Products of sparse matrices with sparse and dense matrices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.container import StorageCell
from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.scalar import upcast
from aesara.sparse.arithmetic import apply_to_patterns, gradient_for, rows_and_columns, with_data
from aesara.sparse.arrangement import Transpose, transpose
from aesara.sparse.construction import as_operands, as_sparse_variable, dense_operand, sparse_operand
from aesara.sparse.conversion import conj_of, dense, sp_ones_like
from aesara.sparse.on_parts import CompressedDot, CompressedInner, inner_products
from aesara.sparse.parts import CSM, Parts, csm_properties
from aesara.sparse.type import MATRIX_CLASSES, SparseLike, SparseTensorType, has_sparse_type, is_sparse_value
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.joining.join_split import stack
from aesara.tensor.products.dot import dot as dense_dot
from aesara.tensor.products.dot import outer
from aesara.tensor.shapes.specify_shape import specify_shape

__all__ = [
    "Dot",
    "SamplingDot",
    "StructuredDot",
    "StructuredDotGradCSC",
    "StructuredDotGradCSR",
    "TrueDot",
    "Usmm",
    "dot",
    "sampling_dot",
    "sdg_csc",
    "sdg_csr",
    "structured_dot",
    "structured_dot_grad",
    "true_dot",
    "usmm",
]


TRANSPOSED = Transpose.format_map


def specify_same_shape(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """Return a tensor with a check that it has the shape of another one."""
    return specify_shape(x, tuple(y.shape[k] for k in range(y.type.ndim)))


def _require_sparse(name: str, x: TensorVariable, y: TensorVariable) -> None:
    if not (has_sparse_type(x) or has_sparse_type(y)):
        raise TypeError(
            f"aesara.sparse.{name} takes at least one sparse matrix; got {describe(x)} of type {x.type} and "
            f"{describe(y)} of type {y.type}."
        )


def _require_aligned(op: Op, x: Any, y: Any) -> None:
    if x.shape[-1] != y.shape[0]:
        raise ValueError(f"{op}: shape mismatch: {x.shape} and {y.shape} are not aligned.")


class TrueDot(Op):
    """The product of a sparse matrix and a sparse or dense matrix, as a sparse matrix.

    Parameters
    ----------
    grad_preserves_dense
        Whether the gradient for a dense factor is dense.
    """

    __props__ = ()

    def __init__(self, grad_preserves_dense: bool = True):
        self.grad_preserves_dense = grad_preserves_dense

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.grad_preserves_dense == other.grad_preserves_dense

    def __hash__(self) -> int:
        return hash((type(self), self.grad_preserves_dense))

    def make_node(self, x: Any, y: Any) -> Apply:
        x = as_sparse_variable(x)
        _, y = as_operands(x, y)
        if not has_sparse_type(y):
            y = dense_operand(self, y, 2)
        dtype = upcast(x.type.dtype, y.type.dtype)
        shape = (x.type.shape[0], y.type.shape[1])
        return Apply(self, [x, y], [SparseTensorType(x.type.format, dtype, shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        x, y = inputs
        _require_aligned(self, x, y)
        kind: Any = node.outputs[0].type
        product = apply_to_patterns(operator.matmul, x, y) if is_sparse_value(y) else _with_pattern_of_rows(x, x @ y)
        output_storage[0][0] = MATRIX_CLASSES[kind.format](product, dtype=kind.dtype)

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[Variable]:
        x, y = inputs
        (gz,) = gout
        product = true_dot if has_sparse_type(gz) else _dot_any
        gradient_of_x = product(gz, _adjoint(y))
        gradient_of_y = product(_adjoint(x), gz)
        if not has_sparse_type(y) and self.grad_preserves_dense:
            gradient_of_y = dense(gradient_of_y)
        return [gradient_for(x, gradient_of_x), gradient_for(y, gradient_of_y)]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [(shapes[0][0], shapes[1][1])]


def _with_pattern_of_rows(x: Any, product: np.ndarray) -> TensorVariable:
    """Return a dense product as a sparse matrix that stores all elements in rows where `x` has stored values."""
    rows, count = np.unique(rows_and_columns(x)[0]), product.shape[1]
    positions = (np.repeat(rows, count), np.tile(np.arange(count), rows.size))
    return MATRIX_CLASSES[x.format]((product[rows].ravel(), positions), shape=product.shape)


def true_dot(x: SparseLike, y: SparseLike, grad_preserves_dense: bool = True) -> TensorVariable:
    """Return the product of two matrices, at least one of which is sparse, as a sparse matrix.

    Parameters
    ----------
    x, y
        The factors.
    grad_preserves_dense
        Whether the gradient for a dense factor is dense.
    """
    x, y = as_operands(x, y)
    _require_sparse("true_dot", x, y)
    if has_sparse_type(x):
        return TrueDot(grad_preserves_dense)(x, y)
    return transpose(TrueDot(grad_preserves_dense)(transpose(y), x.T))


class StructuredDot(Op):
    """The product of a sparse matrix and a dense or sparse matrix, which is dense or sparse, respectively.

    The gradient for a sparse factor has its pattern.
    """

    __props__ = ()

    def make_node(self, a: Any, b: Any) -> Apply:
        a = as_sparse_variable(a)
        _, b = as_operands(a, b)
        dtype = upcast(a.type.dtype, b.type.dtype)
        if b.type.ndim != 2:
            raise NotImplementedError(
                f"non-matrix b: {self} takes two matrices; {describe(b)} is a {b.type}. Use aesara.sparse.dot."
            )
        shape = (a.type.shape[0], b.type.shape[1])
        if has_sparse_type(b):
            return Apply(self, [a, b], [SparseTensorType(a.type.format, dtype, shape)()])
        return Apply(self, [a, b], [tensor_type(dtype, shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        a, b = inputs
        _require_aligned(self, a, b)
        kind: Any = node.outputs[0].type
        if isinstance(kind, SparseTensorType):
            output_storage[0][0] = MATRIX_CLASSES[kind.format](
                apply_to_patterns(operator.matmul, a, b), dtype=kind.dtype
            )
        else:
            output_storage[0][0] = np.asarray(a @ b, dtype=kind.dtype)

    def in_parts(self, node: Apply, a: Parts, b: Parts | TensorVariable) -> list[Any] | None:
        return None if isinstance(b, tuple) else [CompressedDot(node.inputs[0].type.format)(*a, b)]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[Variable]:
        a, b = inputs
        (gz,) = gout
        if has_sparse_type(b):
            product = true_dot if has_sparse_type(gz) else structured_dot
            gradient_of_a, gradient_of_b = product(gz, _adjoint(b)), product(_adjoint(a), gz)
            return [gradient_for(v, sp_ones_like(v) * g) for v, g in ((a, gradient_of_a), (b, gradient_of_b))]
        gradient_of_a, gradient_of_b = structured_dot_grad(a, conj_of(b), gz), structured_dot(_adjoint(a), gz)
        return [gradient_for(a, gradient_of_a), gradient_for(b, gradient_of_b)]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [(shapes[0][0], shapes[1][1])]


_structured_dot = StructuredDot()


def structured_dot(x: SparseLike, y: SparseLike) -> TensorVariable:
    """Return the product of two matrices, at least one of which is sparse.

    The result is sparse if both are, and dense otherwise. The gradient for a sparse factor has its pattern: elements
    that are not stored are treated as constant.

    Examples
    --------
    >>> import scipy.sparse
    >>> import aesara.sparse
    >>> A = aesara.sparse.constant(scipy.sparse.csr_matrix([[1.0, 2.0], [3.0, 0.0]]))
    >>> aesara.sparse.structured_dot(A, [[1.0], [10.0]]).eval()
    array([[21.],
           [ 3.]])
    """
    x, y = as_operands(x, y)
    _require_sparse("structured_dot", x, y)
    if has_sparse_type(x):
        return _structured_dot(x, y)
    if x.type.ndim != 2:
        raise NotImplementedError(
            f"non-matrix x: structured_dot takes two matrices; {describe(x)} is a {x.type}. Use aesara.sparse.dot."
        )
    return _structured_dot(transpose(y), x.T).T


class _StructuredDotGrad(Op):
    """Inner products of row i of one matrix and row j of another one for each stored position (i, j) of a matrix.

    They are the stored values of the gradient of `StructuredDot` with respect to its sparse factor.
    """

    __props__ = ()
    format: str

    def make_node(self, a_indices: TensorLike, a_indptr: TensorLike, b: Any, g_ab: Any) -> Apply:
        indices, indptr = as_tensor_variable(a_indices), as_tensor_variable(a_indptr)
        b, g_ab = dense_operand(self, b, 2), dense_operand(self, g_ab, 2)
        dtype = upcast(b.type.dtype, g_ab.type.dtype)
        return Apply(self, [indices, indptr, b, g_ab], [tensor_type(dtype, (None,))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        indices, indptr, b, g = inputs
        CompressedInner(self.format).perform(node, [indices, indptr, g, b], output_storage)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], [False], [True], [True]]

    def grad(self, inputs: Sequence[Any], gout: Sequence[Any]) -> list[Variable]:
        indices, indptr, b, g = inputs
        a = CSM(self.format)(gout[0], indices, indptr, stack([g.shape[0], b.shape[0]]))
        gradient_of_b, gradient_of_g = structured_dot(transpose(a), conj_of(g)), structured_dot(a, conj_of(b))
        return [
            DisconnectedType()(),
            DisconnectedType()(),
            gradient_for(b, gradient_of_b),
            gradient_for(g, gradient_of_g),
        ]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


class StructuredDotGradCSC(_StructuredDotGrad):
    """The stored values of the gradient of `StructuredDot` for a csc matrix."""

    format = "csc"


class StructuredDotGradCSR(_StructuredDotGrad):
    """The stored values of the gradient of `StructuredDot` for a csr matrix."""

    format = "csr"


sdg_csc = StructuredDotGradCSC()
sdg_csr = StructuredDotGradCSR()


def structured_dot_grad(sparse_A: Any, dense_B: object, ga: Any) -> TensorVariable:
    """Return the gradient of ``structured_dot(sparse_A, dense_B)`` with respect to `sparse_A`, given that of the
    product.
    """
    sparse_A = sparse_operand("structured_dot_grad", sparse_A)
    format = sparse_A.type.format
    _, indices, indptr, shape = csm_properties(sparse_A)
    if has_sparse_type(ga):
        ga = dense(ga)
    return CSM(format)((sdg_csc if format == "csc" else sdg_csr)(indices, indptr, dense_B, ga), indices, indptr, shape)


class SamplingDot(Op):
    """The product ``p * dot(x, y.T)``, of which only elements stored in the sparse matrix `p` are computed."""

    __props__ = ()

    def make_node(self, x: Any, y: Any, p: Any) -> Apply:
        x, y = dense_operand(self, x, 2), dense_operand(self, y, 2)
        p = sparse_operand(self, p)
        dtype = upcast(x.type.dtype, y.type.dtype, p.type.dtype)
        return Apply(self, [x, y, p], [p.type.clone(dtype=dtype)()])

    def in_parts(self, node: Apply, x: Parts | TensorVariable, y: Parts | TensorVariable, p: Parts) -> list[Any]:
        data, indices, indptr, shape = p
        x, y = (specify_shape(factor, (shape[k], None)) for k, factor in enumerate((x, y)))
        products = data * CompressedInner(node.inputs[2].type.format)(indices, indptr, x, y)
        return [(products, indices, indptr, shape)]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y, p = inputs
        if p.shape != (x.shape[0], y.shape[0]):
            raise ValueError(f"{self}: the pattern has shape {p.shape}; with {x.shape} and {y.shape} it does not fit.")
        rows, columns = rows_and_columns(p)
        data = p.data[: p.indices.size] * inner_products(x, rows, y, columns)
        output_storage[0][0] = with_data(p, data.astype(node.outputs[0].type.dtype, copy=False))

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[Variable]:
        x, y, p = inputs
        weighted = conj_of(p) * gout[0]
        return [
            gradient_for(x, dot(weighted, conj_of(y))),
            gradient_for(y, dot(transpose(weighted), conj_of(x))),
            gradient_for(p, self(conj_of(x), conj_of(y), sp_ones_like(p) * gout[0])),
        ]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[2]]


sampling_dot = SamplingDot()


class Dot(Op):
    """The product of two tensors, at least one of which is sparse, as a dense tensor.

    The gradients are with respect to all elements.
    """

    __props__ = ()

    def __str__(self) -> str:
        return "SparseDot"

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_operands(x, y)
        _require_sparse("dot", x, y)
        for operand in (x, y):
            if not has_sparse_type(operand) and operand.type.ndim not in (1, 2):
                raise TypeError(f"{self} takes vectors and matrices; {describe(operand)} is a {operand.type}.")
        dtype = upcast(x.type.dtype, y.type.dtype)
        shape = (*x.type.shape[:-1], *y.type.shape[1:])
        return Apply(self, [x, y], [tensor_type(dtype, shape)()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y = inputs
        _require_aligned(self, x, y)
        product = x @ y
        if hasattr(product, "toarray"):
            product = product.toarray()
        output_storage[0][0] = np.asarray(product, dtype=node.outputs[0].type.dtype)

    def in_parts(self, node: Apply, x: Parts | TensorVariable, y: Parts | TensorVariable) -> list[Any] | None:
        formats: list[Any] = [getattr(v.type, "format", None) for v in node.inputs]
        if isinstance(x, tuple):
            return None if isinstance(y, tuple) else [CompressedDot(formats[0])(*x, y)]
        data, indices, indptr, shape = y
        # (x y).T = y.T x.T, and the parts of the transpose are the same.
        product = CompressedDot(TRANSPOSED[formats[1]])(data, indices, indptr, shape[::-1], x.T)
        return [product.T]

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[Variable]:
        x, y = inputs
        (gz,) = gout
        gradient_of_x = outer(gz, conj_of(y)) if y.type.ndim == 1 else _dot_any(gz, _adjoint(y))
        gradient_of_y = outer(conj_of(x), gz) if x.type.ndim == 1 else _dot_any(_adjoint(x), gz)
        return [gradient_for(x, gradient_of_x), gradient_for(y, gradient_of_y)]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [(*shapes[0][:-1], *shapes[1][1:])]


_dot = Dot()


def _adjoint(x: TensorVariable) -> TensorVariable:
    return transpose(conj_of(x)) if has_sparse_type(x) else conj_of(x).T


def _dot_any(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    return dot(x, y) if has_sparse_type(x) or has_sparse_type(y) else dense_dot(x, y)


def dot(x: SparseLike, y: SparseLike) -> TensorVariable:
    """Return the product of two tensors, at least one of which is a sparse matrix, as a dense tensor.

    The gradients are dense, with respect to all elements; for sparse gradients see `structured_dot`.

    Examples
    --------
    >>> import scipy.sparse
    >>> import aesara.sparse
    >>> A = aesara.sparse.constant(scipy.sparse.csr_matrix([[1.0, 2.0], [3.0, 0.0]]))
    >>> aesara.sparse.dot(A, [1.0, 10.0]).eval()
    array([21.,  3.])
    """
    return _dot(x, y)


class Usmm(Op):
    """``alpha * dot(x, y) + z``, where `x` or `y` is sparse; the result is dense."""

    __props__ = ()

    def __str__(self) -> str:
        return "Usmm{no_inplace}"

    def make_node(self, alpha: Any, x: Any, y: Any, z: Any) -> Apply:
        x, y = as_operands(x, y)
        _require_sparse("usmm", x, y)
        alpha, z = as_tensor_variable(alpha), dense_operand(self, z, 2)
        if alpha.type.ndim and not all(alpha.type.broadcastable):
            raise TypeError(f"{self}: the factor is one number; {describe(alpha)} is a {alpha.type}.")
        for operand in (x, y):
            if operand.type.ndim != 2:
                raise TypeError(f"{self} takes two matrices; {describe(operand)} is a {operand.type}.")
        dtype = upcast(*(operand.type.dtype for operand in (alpha, x, y, z)))
        return Apply(self, [alpha, x, y, z], [tensor_type(dtype, (None, None))()])

    def in_parts(
        self,
        node: Apply,
        alpha: TensorVariable,
        x: Parts | TensorVariable,
        y: Parts | TensorVariable,
        z: TensorVariable,
    ) -> list[Any] | None:
        product = _dot.in_parts(_dot.make_node(*node.inputs[1:3]), x, y)
        scalar = alpha.reshape(()) if alpha.type.ndim else alpha
        return None if product is None else [scalar * product[0] + specify_same_shape(z, product[0])]

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        alpha, x, y, z = inputs
        _require_aligned(self, x, y)
        product = x @ y
        if hasattr(product, "toarray"):
            product = product.toarray()
        if product.shape != z.shape:
            raise ValueError(f"{self}: the product has shape {product.shape}, what is added {z.shape}.")
        total = alpha.reshape(()) * product + z
        output_storage[0][0] = np.asarray(total, dtype=node.outputs[0].type.dtype)

    def grad(self, inputs: Sequence[TensorVariable], gout: Sequence[TensorVariable]) -> list[Variable]:
        alpha, x, y, z = inputs
        (gz,) = gout
        scalar = alpha.reshape(()) if alpha.type.ndim else alpha
        gradient_of_product = conj_of(scalar) * gz
        gradient_of_x, gradient_of_y = _dot.grad([x, y], [gradient_of_product])
        gradient_of_alpha = (conj_of(dot(x, y)) * gz).sum()
        if alpha.type.ndim:
            gradient_of_alpha = gradient_of_alpha.dimshuffle(["x"] * alpha.type.ndim)
        return [gradient_for(alpha, gradient_of_alpha), gradient_of_x, gradient_of_y, gradient_for(z, gz)]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[3]]


usmm = Usmm()
