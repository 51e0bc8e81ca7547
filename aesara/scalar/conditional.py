"""Ops that select one of their inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aesara.graph.disconnected_type import DisconnectedType
from aesara.graph.nodes import Apply, Constant, Variable
from aesara.graph.pullback import in_terms_of
from aesara.scalar.comparison import eq, gt, lt
from aesara.scalar.constants import literal
from aesara.scalar.native import Primitive
from aesara.scalar.op import BinaryScalarOp, ScalarOp, zero_gradient
from aesara.scalar.promotion import transfer_type, upcast_out, upcast_out_no_complex
from aesara.scalar.types import ScalarType
from aesara.scalar.var import ScalarVariable

__all__ = [
    "Clip",
    "ScalarMaximum",
    "ScalarMinimum",
    "Second",
    "Switch",
    "clip",
    "scalar_maximum",
    "scalar_minimum",
    "second",
    "switch",
]


def _where(condition: np.ndarray, if_true: np.ndarray, if_false: np.ndarray) -> np.ndarray:
    return np.where(np.asarray(condition).astype(bool), if_true, if_false)


def _branches_out(condition: ScalarType, if_true: ScalarType, if_false: ScalarType) -> tuple:
    return upcast_out(if_true, if_false)


class Switch(ScalarOp):
    """`if_true` if `condition` is not zero, else `if_false`."""

    nin = 3
    dtype = _branches_out
    numpy = _where
    nfunc_spec = ("where", 3, 1)
    native = Primitive("select")
    selectors = (0,)
    holomorphic = False

    def operand_dtypes(self, input_types: Sequence[ScalarType], output_types: Sequence[ScalarType]) -> list[str]:
        return [input_types[0].dtype, output_types[0].dtype, output_types[0].dtype]

    def pullback(
        self,
        condition: ScalarVariable,
        if_true: ScalarVariable,
        if_false: ScalarVariable,
        z: ScalarVariable,
        g: ScalarVariable,
    ) -> tuple:
        zero = literal(0, g)
        return (
            zero_gradient(condition),
            switch(condition, g, zero),
            switch(condition, zero, g),
        )


def _second(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.broadcast_arrays(x, y)[1]


@in_terms_of.register(ScalarType)
def _scalar_gradient(variable_type: ScalarType, variable: Variable, gradient: Variable) -> Variable:
    """Return a constant gradient as a function of the variable, so that the variable is not an unused input."""
    return second(variable, gradient) if isinstance(gradient, Constant) else gradient


class Second(BinaryScalarOp):
    """y; as an elementwise op, y broadcast to the shape of x."""

    dtype = transfer_type(1)
    numpy = _second
    operands = "as_is"
    holomorphic = False

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], [True]]

    def decompose(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return y

    def L_op(
        self, inputs: Sequence[ScalarVariable], outputs: Sequence[ScalarVariable], output_gradients: Sequence[Variable]
    ) -> list:
        return [DisconnectedType()(), super().L_op(inputs, outputs, output_gradients)[1]]

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return (literal(0, x), g)


def _clip(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.where(x < low, low, np.where(x > high, high, x))


class Clip(ScalarOp):
    """x, limited to the range from `low` to `high`.

    The lower bound takes precedence if `low` is greater than `high`. NaN stays NaN; a bound that is NaN does not limit.
    """

    nin = 3
    dtype = upcast_out_no_complex
    numpy = _clip

    def decompose(self, x: ScalarVariable, low: ScalarVariable, high: ScalarVariable) -> ScalarVariable:
        return switch(lt(x, low), low, switch(gt(x, high), high, x))

    def pullback(
        self, x: ScalarVariable, low: ScalarVariable, high: ScalarVariable, z: ScalarVariable, g: ScalarVariable
    ) -> tuple:
        zero = literal(0, g)
        below = lt(x, low)
        above = gt(x, high)
        return (
            switch(below | above, zero, g),
            switch(below, g, zero),
            switch(below, zero, switch(above, g, zero)),
        )


class ScalarMaximum(BinaryScalarOp):
    """The maximum of x and y; NaN if either is NaN. For equal inputs the gradient flows to x."""

    dtype = upcast_out
    numpy = np.maximum
    nfunc_variadic = "maximum"
    native = Primitive("maximum")
    native_of_booleans = Primitive("or")
    commutative = True
    associative = True
    identity: float | None = -np.inf

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return _gradient_of_selection(x, z, g)


class ScalarMinimum(BinaryScalarOp):
    """The minimum of x and y; NaN if either is NaN. For equal inputs the gradient flows to x."""

    dtype = upcast_out
    numpy = np.minimum
    nfunc_variadic = "minimum"
    native = Primitive("minimum")
    native_of_booleans = Primitive("and")
    commutative = True
    associative = True
    identity: float | None = np.inf

    def pullback(self, x: ScalarVariable, y: ScalarVariable, z: ScalarVariable, g: ScalarVariable) -> tuple:
        return _gradient_of_selection(x, z, g)


def _gradient_of_selection(x: ScalarVariable, selected: ScalarVariable, g: ScalarVariable) -> tuple:
    zero = literal(0, g)
    x_is_selected = eq(x, selected)
    return switch(x_is_selected, g, zero), switch(x_is_selected, zero, g)


switch = Switch()
second = Second(name="second")
clip = Clip(name="clip")
scalar_maximum = ScalarMaximum(name="maximum")
scalar_minimum = ScalarMinimum(name="minimum")
