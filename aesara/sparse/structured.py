"""Functions that are applied to the stored values of a sparse matrix.

Functions with the name of a function of tensors (`sin`, `sqrt`, ...) are 0 at 0, so the result is that of applying the
function to all elements. Functions whose name begins with `structured_` ignore elements that are not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aesara.sparse.construction import sparse_operand
from aesara.sparse.parts import CSM, csm_properties
from aesara.sparse.type import SparseLike
from aesara.tensor.core.variable import TensorVariable
from aesara.tensor.elementwise import ops

__all__ = [
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "ceil",
    "conj",
    "conjugate",
    "deg2rad",
    "expm1",
    "floor",
    "log1p",
    "rad2deg",
    "rint",
    "sgn",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "structured_add",
    "structured_exp",
    "structured_log",
    "structured_maximum",
    "structured_minimum",
    "structured_monoid",
    "structured_pow",
    "structured_sigmoid",
    "tan",
    "tanh",
    "trunc",
]


def structured_monoid(tensor_op: Callable[..., TensorVariable]) -> Callable[..., Any]:
    """Return a decorator that replaces a function by the application of `tensor_op` to stored values of the first
    argument.

    Parameters
    ----------
    tensor_op
        An elementwise function of tensors. Further arguments are scalars.
    """

    def decorate(function: Callable[..., object]) -> Callable[..., TensorVariable]:
        name = function.__name__

        def apply(*args: Any) -> TensorVariable:
            x: Any = sparse_operand(name, args[0])
            data, indices, indptr, shape = csm_properties(x)
            return CSM(x.type.format)(tensor_op(data, *args[1:]), indices, indptr, shape)

        apply.__name__ = apply.__qualname__ = name
        apply.__module__ = function.__module__
        apply.__doc__ = function.__doc__
        return apply

    return decorate


def _structured_function(
    name: str, tensor_op: Callable[..., TensorVariable], description: str
) -> Callable[..., TensorVariable]:
    def function(x: TensorVariable) -> TensorVariable:
        raise NotImplementedError

    function.__name__ = name
    function.__doc__ = f"{description} of the stored values of a sparse matrix; other elements stay 0."
    return structured_monoid(tensor_op)(function)


structured_sigmoid = _structured_function("structured_sigmoid", ops.sigmoid, "The logistic function")
structured_exp = _structured_function("structured_exp", ops.exp, "e to the power")
structured_log = _structured_function("structured_log", ops.log, "The natural logarithm")
structured_pow = _structured_function("structured_pow", ops.pow, "A power, the second argument,")
structured_minimum = _structured_function("structured_minimum", ops.minimum, "The minimum with a number")
structured_maximum = _structured_function("structured_maximum", ops.maximum, "The maximum with a number")
structured_add = _structured_function("structured_add", ops.add, "The sum with a number")

sin = _structured_function("sin", ops.sin, "The sine")
arcsin = _structured_function("arcsin", ops.arcsin, "The inverse sine")
tan = _structured_function("tan", ops.tan, "The tangent")
arctan = _structured_function("arctan", ops.arctan, "The inverse tangent")
sinh = _structured_function("sinh", ops.sinh, "The hyperbolic sine")
arcsinh = _structured_function("arcsinh", ops.arcsinh, "The inverse hyperbolic sine")
tanh = _structured_function("tanh", ops.tanh, "The hyperbolic tangent")
arctanh = _structured_function("arctanh", ops.arctanh, "The inverse hyperbolic tangent")
rint = _structured_function("rint", ops.round_half_to_even, "The nearest integers")
sgn = _structured_function("sgn", ops.sgn, "The signs")
ceil = _structured_function("ceil", ops.ceil, "The next larger integers")
floor = _structured_function("floor", ops.floor, "The next smaller integers")
log1p = _structured_function("log1p", ops.log1p, "``log(1 + x)``")
expm1 = _structured_function("expm1", ops.expm1, "``exp(x) - 1``")
deg2rad = _structured_function("deg2rad", ops.deg2rad, "Degrees as radians")
rad2deg = _structured_function("rad2deg", ops.rad2deg, "Radians as degrees")
trunc = _structured_function("trunc", ops.trunc, "The integer parts")
square = _structured_function("square", ops.square, "The squares")
sqrt = _structured_function("sqrt", ops.sqrt, "The square root")
_conjugate = _structured_function("conjugate", ops.conj, "The complex conjugates")


def conjugate(x: SparseLike) -> TensorVariable:
    """Return the complex conjugate of a sparse matrix; real matrices are returned unchanged."""
    x = sparse_operand("conjugate", x)
    return _conjugate(x) if x.type.dtype.startswith("complex") else x


conj = conjugate
