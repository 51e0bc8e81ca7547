"""Conditions that are checked when a graph is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.generic import Generic
from aesara.graph.nodes import Apply, Variable
from aesara.graph.op import Op
from aesara.scalar.types import ScalarType
from aesara.scalar.types import bool as bool_
from aesara.tensor.core.constant_value import constant_of_output, get_scalar_constant_value
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.core.tensor_like import TensorLike
from aesara.tensor.exceptions import NotScalarConstantError


class ExceptionType(Generic):
    """The type of exception classes."""

    def digest_facts(self) -> tuple[object, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


exception_type = ExceptionType()


class CheckAndRaise(Op):
    """A value that is passed on if conditions hold; an exception is raised otherwise.

    Inputs are the value, of any type, and the conditions; a condition that is a
    tensor holds if all its entries are true.

    Parameters
    ----------
    exc_type
        The class of the exception.
    msg
        Its message.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.vector("x")
    >>> CheckAndRaise(ValueError, "x is empty")(x, x.size > 0).ndim
    1
    """

    __props__ = ("msg", "exc_type")
    #: inputs after the conditions, whose values the message contains
    n_facts = 0
    view_map = {0: [0]}
    check_input = False

    def __init__(self, exc_type: type[BaseException], msg: str = ""):
        if not (isinstance(exc_type, type) and issubclass(exc_type, Exception)):
            raise ValueError(f"`exc_type` must be a class of exceptions; got {exc_type!r}.")
        self.exc_type = exc_type
        self.msg = msg

    def __str__(self) -> str:
        name = type(self).__name__
        if type(self) is CheckAndRaise:
            return f"{name}{{{self.exc_type}({self.msg})}}"
        return f"{name}{{msg={self.msg}}}"

    __repr__ = __str__

    def make_node(self, value: Any, *conds: Any) -> Apply:
        if not isinstance(value, Variable):
            value = as_tensor_variable(value)
        return Apply(self, [value, *(self._condition(cond, value) for cond in conds)], [value.type()])

    @staticmethod
    def _condition(condition: TensorLike, value: Variable) -> Variable:
        """Convert a condition to a variable; scalar conditions may be scalar variables."""
        if isinstance(condition, Variable) and condition.type == bool_ and isinstance(value.type, ScalarType):
            return condition
        return as_tensor_variable(np.asarray(condition) if isinstance(condition, bool) else condition)

    def conditions(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Select the conditions from a list of inputs, or of objects that belong to the inputs."""
        return inputs[1 : len(inputs) - self.n_facts]

    def message(self, inputs: Sequence[np.ndarray]) -> str:
        """Return the error message for values of the inputs for which a condition does not hold; conditions may be
        None.
        """
        return self.msg

    def message_of_known(self, inputs: Sequence[Any]) -> str:
        """Return the error message, given those values of inputs that are known; unknown ones are None."""
        told = [inputs[0], *inputs[len(inputs) - self.n_facts :]]
        return self.msg if any(value is None for value in told) else self.message(inputs)

    def perform(self, node, inputs, output_storage):
        if not all(np.all(condition) for condition in self.conditions(inputs)):
            raise self.exc_type(self.message(inputs))
        output_storage[0][0] = inputs[0]

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0]]

    def connection_pattern(self, node):
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    def grad(self, inputs, output_gradients):
        return [*output_gradients, *(DisconnectedType()() for _ in inputs[1:])]

    def R_op(self, inputs, eval_points):
        return [eval_points[0]]


class Assert(CheckAndRaise):
    """A value that is passed on if conditions hold; `AssertionError` otherwise.

    Parameters
    ----------
    msg
        The message of the error.

    Examples
    --------
    >>> import aesara.tensor as at
    >>> x = at.vector("x")
    >>> Assert("x must not be empty")(x, x.size > 0).ndim
    1
    """

    def __init__(self, msg: str = "Aesara Assert failed!"):
        super().__init__(AssertionError, msg)


assert_op = Assert()


@constant_of_output.register(CheckAndRaise)
def _constant_of_check(op, node, output, max_recur):
    for condition in op.conditions(node.inputs):
        try:
            if not np.all(get_scalar_constant_value(condition)):
                return None
        except NotScalarConstantError:
            return None
    return node.inputs[0]
