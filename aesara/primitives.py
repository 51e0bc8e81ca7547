"""The primitives: operations on scalars that expressions of the loop IR consist of, with what is known of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.records import dataclass

__all__ = ["PRIMITIVES", "PrimitiveFacts"]


@dataclass(frozen=True)
class PrimitiveFacts:
    """Properties of a primitive.

    A function of LLVM's or the C library's, or an elementary function of our own (`ir/vecmath`), needs nothing else.
    Others have code in `link/llvm/primitives.py`, and what they are on integers is in `ir/interpret/scalars.py`.

    Attributes
    ----------
    operands
        How many it takes.
    cost
        Of evaluating it once, relative to an addition.
    reference
        Its value for floating-point numbers of NumPy; None if it has none.
    intrinsic
        The intrinsic function of LLVM that computes it for floating-point numbers; None if there is none.
    """

    operands: int
    cost: int
    reference: Callable[..., object] | None = None
    intrinsic: str | None = None


def _lesser(a: Any, b: Any) -> Any:
    if a == b:
        return a if np.signbit(a) else b
    return np.minimum(a, b)


def _greater(a: Any, b: Any) -> Any:
    if a == b:
        return b if np.signbit(a) else a
    return np.maximum(a, b)


PRIMITIVES: dict[str, PrimitiveFacts] = {
    "add": PrimitiveFacts(2, 1, np.add),
    "sub": PrimitiveFacts(2, 1, np.subtract),
    "mul": PrimitiveFacts(2, 1, np.multiply),
    "div": PrimitiveFacts(2, 5, np.divide),
    "intdiv": PrimitiveFacts(2, 5, np.floor_divide),
    "mod": PrimitiveFacts(2, 5, np.remainder),
    "neg": PrimitiveFacts(1, 1, np.negative),
    "abs": PrimitiveFacts(1, 1, np.abs, "fabs"),
    "copysign": PrimitiveFacts(2, 1, np.copysign, "copysign"),
    # NaN if one operand is, and -0 is less than 0; `larger` may take either zero
    "minimum": PrimitiveFacts(2, 1, _lesser, "minimum"),
    "maximum": PrimitiveFacts(2, 1, _greater, "maximum"),
    "larger": PrimitiveFacts(2, 1, _greater),
    "lt": PrimitiveFacts(2, 1, np.less),
    "le": PrimitiveFacts(2, 1, np.less_equal),
    "gt": PrimitiveFacts(2, 1, np.greater),
    "ge": PrimitiveFacts(2, 1, np.greater_equal),
    "eq": PrimitiveFacts(2, 1, np.equal),
    "ne": PrimitiveFacts(2, 1, np.not_equal),
    "isnan": PrimitiveFacts(1, 1, np.isnan),
    "isinf": PrimitiveFacts(1, 1, np.isinf),
    "and": PrimitiveFacts(2, 1),
    "or": PrimitiveFacts(2, 1),
    "xor": PrimitiveFacts(2, 1),
    "invert": PrimitiveFacts(1, 1),
    "shl": PrimitiveFacts(2, 1),
    "shr": PrimitiveFacts(2, 1),
    "select": PrimitiveFacts(3, 1),
    "floor": PrimitiveFacts(1, 1, np.floor, "floor"),
    "ceil": PrimitiveFacts(1, 1, np.ceil, "ceil"),
    "trunc": PrimitiveFacts(1, 1, np.trunc, "trunc"),
    "rint": PrimitiveFacts(1, 1, np.rint, "rint"),
    "sqrt": PrimitiveFacts(1, 5, np.sqrt, "sqrt"),
    "cbrt": PrimitiveFacts(1, 20, np.cbrt),
    "exp": PrimitiveFacts(1, 20, np.exp),
    "exp2": PrimitiveFacts(1, 20, np.exp2),
    "expm1": PrimitiveFacts(1, 20, np.expm1),
    "log": PrimitiveFacts(1, 20, np.log),
    "log2": PrimitiveFacts(1, 20, np.log2),
    "log10": PrimitiveFacts(1, 20, np.log10),
    "log1p": PrimitiveFacts(1, 20, np.log1p),
    "sin": PrimitiveFacts(1, 20, np.sin),
    "cos": PrimitiveFacts(1, 20, np.cos),
    "tan": PrimitiveFacts(1, 20, np.tan),
    "asin": PrimitiveFacts(1, 20, np.arcsin),
    "acos": PrimitiveFacts(1, 20, np.arccos),
    "atan": PrimitiveFacts(1, 20, np.arctan),
    "sinh": PrimitiveFacts(1, 20, np.sinh),
    "cosh": PrimitiveFacts(1, 20, np.cosh),
    "tanh": PrimitiveFacts(1, 20, np.tanh),
    "asinh": PrimitiveFacts(1, 20, np.arcsinh),
    "acosh": PrimitiveFacts(1, 20, np.arccosh),
    "atanh": PrimitiveFacts(1, 20, np.arctanh),
    "erf": PrimitiveFacts(1, 20, lambda x: type(x)(math.erf(x))),
    "erfc": PrimitiveFacts(1, 20, lambda x: type(x)(math.erfc(x))),
    "pow": PrimitiveFacts(2, 40, np.power),
    "atan2": PrimitiveFacts(2, 40, np.arctan2),
    "hypot": PrimitiveFacts(2, 40, np.hypot),
}
