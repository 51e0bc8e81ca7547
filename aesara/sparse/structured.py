"""Functions of the stored values of a sparse matrix.

Those that are called like the function of tensors (`sin`, `sqrt`, ...) are 0 at 0, so that what is not stored stays 0
and the result is that of all elements. The `structured_` ones leave what is not stored at 0 whatever the function of 0
would be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aesara.sparse.construction import sparse_operand
from aesara.sparse.parts import CSM, csm_properties
from aesara.tensor.elementwise import ops

if TYPE_CHECKING:
    from aesara.tensor.var import TensorVariable

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
    """A decorator: the function applies `tensor_op` to the stored values of its first argument.

    Parameters
    ----------
    tensor_op
        A function of tensors, element by element. Further arguments are numbers.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., TensorVariable]:
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


def _of_stored(name: str, tensor_op: Callable[..., TensorVariable], what: str) -> Callable[..., TensorVariable]:
    def function(x: Any) -> TensorVariable:
        raise NotImplementedError

    function.__name__ = name
    function.__doc__ = f"{what} of the stored values of a sparse matrix; the others stay 0."
    return structured_monoid(tensor_op)(function)


structured_sigmoid = _of_stored("structured_sigmoid", ops.sigmoid, "The logistic function")
structured_exp = _of_stored("structured_exp", ops.exp, "e to the power")
structured_log = _of_stored("structured_log", ops.log, "The natural logarithm")
structured_pow = _of_stored("structured_pow", ops.pow, "A power, the second argument,")
structured_minimum = _of_stored("structured_minimum", ops.minimum, "The minimum with a number")
structured_maximum = _of_stored("structured_maximum", ops.maximum, "The maximum with a number")
structured_add = _of_stored("structured_add", ops.add, "The sum with a number")

sin = _of_stored("sin", ops.sin, "The sine")
arcsin = _of_stored("arcsin", ops.arcsin, "The inverse sine")
tan = _of_stored("tan", ops.tan, "The tangent")
arctan = _of_stored("arctan", ops.arctan, "The inverse tangent")
sinh = _of_stored("sinh", ops.sinh, "The hyperbolic sine")
arcsinh = _of_stored("arcsinh", ops.arcsinh, "The inverse hyperbolic sine")
tanh = _of_stored("tanh", ops.tanh, "The hyperbolic tangent")
arctanh = _of_stored("arctanh", ops.arctanh, "The inverse hyperbolic tangent")
rint = _of_stored("rint", ops.round_half_to_even, "The nearest integers")
sgn = _of_stored("sgn", ops.sgn, "The signs")
ceil = _of_stored("ceil", ops.ceil, "The next larger integers")
floor = _of_stored("floor", ops.floor, "The next smaller integers")
log1p = _of_stored("log1p", ops.log1p, "``log(1 + x)``")
expm1 = _of_stored("expm1", ops.expm1, "``exp(x) - 1``")
deg2rad = _of_stored("deg2rad", ops.deg2rad, "Degrees as radians")
rad2deg = _of_stored("rad2deg", ops.rad2deg, "Radians as degrees")
trunc = _of_stored("trunc", ops.trunc, "The integer parts")
square = _of_stored("square", ops.square, "The squares")
sqrt = _of_stored("sqrt", ops.sqrt, "The square root")
_conjugate = _of_stored("conjugate", ops.conj, "The complex conjugates")


def conjugate(x: Any) -> TensorVariable:
    """The complex conjugate of a sparse matrix; the matrix itself if it is real."""
    x = sparse_operand("conjugate", x)
    return _conjugate(x) if x.type.dtype.startswith("complex") else x


conj = conjugate
