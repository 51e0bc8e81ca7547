"""Elementwise comparisons of sparse matrices. The results are uint8."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from aesara.graph.container import StorageCell
from aesara.graph.fg import FunctionGraph
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply
from aesara.graph.op import Op
from aesara.sparse.arithmetic import require_same_shape, zero_for
from aesara.sparse.construction import as_operands, as_sparse_variable, dense_operand
from aesara.sparse.type import MATRIX_CLASSES, SparseTensorType, has_sparse_type
from aesara.tensor.core.tensor_type import tensor_type
from aesara.tensor.core.variable import TensorVariable

__all__ = [
    "EqualSD",
    "EqualSS",
    "GreaterEqualSD",
    "GreaterEqualSS",
    "GreaterThanSD",
    "GreaterThanSS",
    "LessEqualSD",
    "LessEqualSS",
    "LessThanSD",
    "LessThanSS",
    "NotEqualSD",
    "NotEqualSS",
    "eq",
    "equal_s_d",
    "equal_s_s",
    "ge",
    "greater_equal_s_d",
    "greater_equal_s_s",
    "greater_than_s_d",
    "greater_than_s_s",
    "gt",
    "le",
    "less_equal_s_d",
    "less_equal_s_s",
    "less_than_s_d",
    "less_than_s_s",
    "lt",
    "neq",
    "not_equal_s_d",
    "not_equal_s_s",
]


class _Comparison(Op):
    """A comparison; subclasses define `compare`."""

    __props__ = ()
    compare: Callable[..., object]

    def comparison(self, x: TensorVariable, y: TensorVariable) -> Any:
        """Compare two values."""
        with warnings.catch_warnings():
            # SciPy warns about comparisons that hold for zeros, whose result is not sparse.
            warnings.simplefilter("ignore", scipy.sparse.SparseEfficiencyWarning)
            return type(self).compare(x, y)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [True]]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Any) -> list[tuple[TensorVariable, ...]]:
        return [shapes[0]]


class _ComparisonSS(_Comparison):
    """A comparison of two sparse matrices; the result has the format of the first one."""

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_sparse_variable(x), as_sparse_variable(y)
        return Apply(self, [x, y], [SparseTensorType(x.type.format, "uint8")()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y = inputs
        require_same_shape(self, x, y)
        output_storage[0][0] = MATRIX_CLASSES[x.format](self.comparison(x, y), dtype="uint8")

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        return list(map(zero_for, inputs))


class _ComparisonSD(_Comparison):
    """A comparison of a sparse and a dense matrix; the result is dense."""

    def make_node(self, x: Any, y: Any) -> Apply:
        x, y = as_sparse_variable(x), dense_operand(self, y)
        if y.type.ndim != 2:
            raise TypeError(
                f"{self}: a sparse matrix is compared with a matrix; {describe(y)} is a {y.type}. Use toarray() to "
                "compare all elements with a number or a vector."
            )
        return Apply(self, [x, y], [tensor_type("uint8", (None, None))()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[StorageCell]) -> None:
        x, y = inputs
        require_same_shape(self, x, y)
        output_storage[0][0] = np.asarray(self.comparison(x.toarray(), y)).astype("uint8")

    def grad(
        self, inputs: Sequence[TensorVariable], output_gradients: Sequence[TensorVariable]
    ) -> list[TensorVariable]:
        return list(map(zero_for, inputs))


class EqualSS(_ComparisonSS):
    """Test whether elements of two sparse matrices are equal."""

    compare = operator.eq


class EqualSD(_ComparisonSD):
    """Test whether elements of a sparse and a dense matrix are equal."""

    compare = operator.eq


class NotEqualSS(_ComparisonSS):
    """Test whether elements of two sparse matrices differ."""

    compare = operator.ne


class NotEqualSD(_ComparisonSD):
    """Test whether elements of a sparse and a dense matrix differ."""

    compare = operator.ne


class LessThanSS(_ComparisonSS):
    """Test whether elements of a sparse matrix are less than those of another one."""

    compare = operator.lt


class LessThanSD(_ComparisonSD):
    """Test whether elements of a sparse matrix are less than those of a dense one."""

    compare = operator.lt


class GreaterThanSS(_ComparisonSS):
    """Test whether elements of a sparse matrix are greater than those of another one."""

    compare = operator.gt


class GreaterThanSD(_ComparisonSD):
    """Test whether elements of a sparse matrix are greater than those of a dense one."""

    compare = operator.gt


class LessEqualSS(_ComparisonSS):
    """Test whether elements of a sparse matrix are at most those of another one."""

    compare = operator.le


class LessEqualSD(_ComparisonSD):
    """Test whether elements of a sparse matrix are at most those of a dense one."""

    compare = operator.le


class GreaterEqualSS(_ComparisonSS):
    """Test whether elements of a sparse matrix are at least those of another one."""

    compare = operator.ge


class GreaterEqualSD(_ComparisonSD):
    """Test whether elements of a sparse matrix are at least those of a dense one."""

    compare = operator.ge


equal_s_s, equal_s_d = EqualSS(), EqualSD()
not_equal_s_s, not_equal_s_d = NotEqualSS(), NotEqualSD()
less_than_s_s, less_than_s_d = LessThanSS(), LessThanSD()
greater_than_s_s, greater_than_s_d = GreaterThanSS(), GreaterThanSD()
less_equal_s_s, less_equal_s_d = LessEqualSS(), LessEqualSD()
greater_equal_s_s, greater_equal_s_d = GreaterEqualSS(), GreaterEqualSD()


def _comparison(
    name: str, both_sparse: Op, with_dense: Op, dense_with_sparse: Op, relation: str
) -> Callable[[Any, Any], TensorVariable]:
    def compare(x: TensorVariable, y: TensorVariable) -> TensorVariable:
        x, y = as_operands(x, y)
        if not (has_sparse_type(x) or has_sparse_type(y)):
            raise TypeError(f"aesara.sparse.{name} takes at least one sparse matrix; got {x.type} and {y.type}.")
        if has_sparse_type(x):
            return (both_sparse if has_sparse_type(y) else with_dense)(x, y)
        return dense_with_sparse(y, x)

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = (
        f"Return whether elements of `x` are {relation} those of `y`.\n\n    At least one matrix must be sparse. The "
        "result is uint8; it is sparse if both are, and dense otherwise.\n    "
    )
    return compare


eq = _comparison("eq", equal_s_s, equal_s_d, equal_s_d, "equal to")
neq = _comparison("neq", not_equal_s_s, not_equal_s_d, not_equal_s_d, "different from")
lt = _comparison("lt", less_than_s_s, less_than_s_d, greater_than_s_d, "less than")
gt = _comparison("gt", greater_than_s_s, greater_than_s_d, less_than_s_d, "greater than")
le = _comparison("le", less_equal_s_s, less_equal_s_d, greater_equal_s_d, "at most")
ge = _comparison("ge", greater_equal_s_s, greater_equal_s_d, less_equal_s_d, "at least")
