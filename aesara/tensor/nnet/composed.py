"""Ops that are expressions of other ops: they have a name in graphs, and are compiled as expressions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.autodiff import grad
from aesara.graph.disconnected_type import DisconnectedType, disconnected_type
from aesara.graph.forward_mode import Rop
from aesara.graph.messages import describe
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.graph.vectorization import vectorize_graph, vectorize_node
from aesara.tensor.core.check_and_raise import CheckAndRaise
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.dtypes import continuous_dtypes, integer_dtypes
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise.ops import and_, eq, ge, lt
from aesara.tensor.reductions.all_any import all as all_true


class ComposedOp(Op):
    """An op that is an expression of other ops.

    Patterns with such ops are easy to match; the remaining ones are replaced by their expressions during compilation.
    Gradients are those of the expression unless a subclass defines its own.
    """

    __props__: tuple[str, ...] = ()

    @abstractmethod
    def expand(self, *inputs: Any, **kwargs: Any) -> list[TensorVariable]:
        """Return the outputs as expressions of the inputs."""

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable]:
        known: dict[Variable, Variable] = {
            expression: gradient
            for expression, gradient in zip(self.expand(*inputs), output_grads)
            if not isinstance(gradient.type, DisconnectedType)
        }
        pattern = self.connection_pattern(None)
        wrt = [x for x, connections in zip(inputs, pattern) if any(connections)]
        gradients = iter(
            grad(None, wrt, known_grads=known, disconnected_inputs="ignore", consider_constant=list(inputs))
        )
        return [next(gradients) if any(connections) else disconnected_type() for connections in pattern]

    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[TensorVariable | None]:
        moved = [(x, tangent) for x, tangent in zip(inputs, eval_points) if tangent is not None]
        if not moved:
            return [None] * self.nout
        wrt, tangents = zip(*moved)
        return list(Rop(self.expand(*inputs), list(wrt), list(tangents), disconnected_outputs="ignore"))

    nin: int
    nout: int = 1

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[True] * self.nout for _ in range(self.nin)]


@vectorize_node.register(ComposedOp)
def _vectorize_composed(op: ComposedOp, node: Apply, *inputs: TensorVariable) -> list[TensorVariable]:
    """Vectorize the expression of the op."""
    return vectorize_graph(op.expand(*node.inputs), list(zip(node.inputs, inputs)))


def as_floats(name: str, ndim: int, x: TensorLike, *, error: type[Exception] = ValueError) -> TensorVariable:
    """Convert to a floating-point tensor with `ndim` dimensions; integers become float64.

    Other numbers of dimensions raise an error that names the class.
    """
    x = as_tensor_variable(x)
    if x.type.ndim != ndim:
        raise error(f"{name} must have {ndim} dimension(s); got {describe(x)} of type {x.type}.")
    if x.type.dtype in continuous_dtypes and not x.type.dtype.startswith("complex"):
        return x
    if x.type.dtype in integer_dtypes:
        return x.astype("float64")
    raise TypeError(f"{name} must be a tensor of real numbers; got dtype {x.type.dtype}.")


def as_classes(name: str, y: TensorLike, *, error: type[Exception] = ValueError) -> TensorVariable:
    """Convert to a vector of integers, the class of each row; other values raise an error that names the op."""
    y = as_tensor_variable(y)
    if y.type.ndim != 1 or y.type.dtype not in integer_dtypes:
        raise error(f"{name} must be a vector of integers; got {describe(y)} of type {y.type}.")
    return y


_one_for_each_row = CheckAndRaise(ValueError, "There must be one class for each row.")


class ClassesExist(CheckAndRaise):
    """Class numbers, with a check that there is a column for each.

    Inputs are the class numbers, whether there is a column for each, and the number of columns.
    """

    n_facts = 1

    def __init__(self) -> None:
        super().__init__(
            ValueError,
            "y_i value out of bounds: the number of a class is not less than the number of columns, or negative.",
        )

    def __str__(self) -> str:
        return type(self).__name__

    def message(self, inputs: Sequence[Any]) -> str:
        return classes_out_of_bounds(inputs[0], int(np.min(inputs[2]))) or self.msg


_classes_exist = ClassesExist()


def classes_out_of_bounds(y: np.ndarray, columns: int) -> str | None:
    """Return the error message for the first class number without a column, or None."""
    wrong = np.argwhere((y < 0) | (y >= columns))
    if not len(wrong):
        return None
    *_, row = first = tuple(wrong[0])
    return (
        f"y_i value out of bounds: class {y[first]} of row {row}, but there are {columns} columns, so that classes go "
        f"from 0 to {columns - 1}."
    )


def checked_classes(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """Return class numbers, with a check that there is one for each row of `x`, and a column of `x` for each."""
    columns = x.shape[1]
    known = all_true(and_(ge(y, 0), lt(y, columns)))
    return _classes_exist(_one_for_each_row(y, eq(y.shape[0], x.shape[0])), known, columns)
