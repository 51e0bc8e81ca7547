"""Conversion of first values of states: dtypes of numbers and arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara.configdefaults import config
from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import walk
from aesara.tensor.core.conversion import as_tensor_variable, constant
from aesara.tensor.core.tensor_type import DenseTensorType, TensorType

__all__ = ["FirstValue", "settle"]

#: dtypes of the real and imaginary parts of complex numbers
_PARTS = {"complex64": "float32", "complex128": "float64"}


class FirstValue:
    """The value of a state before the first step.

    A variable keeps its dtype; an array may be converted to a wider one; `settle` finds the dtype of a Python number.

    Parameters
    ----------
    given
        A variable, array or number.

    Examples
    --------
    >>> FirstValue(0).variable.type, FirstValue(np.float32(0.5)).variable.type
    (TensorType(int64, ()), TensorType(float32, ()))
    """

    def __init__(self, value: Any) -> None:
        self.is_number = isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
        self.is_data = not isinstance(value, Variable)
        if self.is_number:
            value = constant(value, dtype=_dtype_of_number(value))
        self.variable: Any = value if isinstance(value, Variable) else as_tensor_variable(value)
        self.is_data = self.is_data and isinstance(self.variable, Constant)
        #: variables of the step for this and later values, in the last call of the step
        self.inner: list[Any] = []

    @property
    def has_rows(self) -> bool:
        """Return whether it is a dense tensor, for which a loop can keep one row per step."""
        return isinstance(self.variable.type, DenseTensorType)

    @property
    def dtype(self) -> str:
        return self.variable.type.dtype

    def convert_to(self, dtype: str) -> bool:
        """Convert the value, which is a constant, to a dtype if this is exact; return whether it has changed."""
        kind, data = np.dtype(dtype).kind, self.variable.data
        if self.is_number:
            with np.errstate(all="ignore"):
                converted = data.astype(dtype if data.dtype.kind != "c" or kind == "c" else data.dtype)
            fits = converted == data if kind in "biu" else np.isfinite(converted) == np.isfinite(data)
        else:
            converted, fits = data.astype(dtype, copy=False), np.can_cast(self.dtype, dtype, "safe")
        if not fits or converted.dtype == data.dtype:
            return False
        self.variable = constant(converted, dtype=dtype)
        return True


def settle(firsts: Sequence[FirstValue | None], call: Callable[[], object]) -> Any:
    """Call the step repeatedly until the dtypes of first values agree with its outputs; return the values of the last
    call.

    `firsts` are the first values of the outputs of the step; None for outputs without one. Integers start as int64 and
    floating-point numbers as `config.floatX`. First values are first converted to dtypes that the step returns, if
    these are wider. Then Python numbers get the precision of the data that the step computes with, so that they do not
    determine the precision of the result. At last they get the dtype that the step returns, whatever it is.
    """
    returned = _call_widening(firsts, call)
    numbers = [(k, first) for k, first in enumerate(firsts) if first is not None and first.is_number]
    if _convert_all([(first, _dtype_of_data(k, firsts, returned)) for k, first in numbers]):
        returned = _call_widening(firsts, call)
    return call() if _convert_all([(first, new.type.dtype) for first, new in _pairs(firsts, returned)]) else returned


def _convert_all(dtypes: Sequence[tuple[FirstValue, str]]) -> bool:
    """Convert each value to its dtype; return whether one has changed."""
    changed = [first.convert_to(dtype) for first, dtype in dtypes]
    return any(changed)


def _pairs(firsts: Sequence[FirstValue | None], returned: Any) -> list[tuple[FirstValue, Any]]:
    """Return the first values that are data, with the outputs of the step for them."""
    pairs = zip(firsts, returned.outputs)
    return [(f, new) for f, new in pairs if f is not None and f.is_data and isinstance(new.type, TensorType)]


def _call_widening(firsts: Sequence[FirstValue | None], call: Callable[[], object]) -> Any:
    while True:
        returned = call()
        pairs = _pairs(firsts, returned)
        if not _convert_all([(f, np.result_type(f.dtype, new.type.dtype).name) for f, new in pairs]):
            return returned


def _dtype_of_data(k: int, firsts: Sequence[FirstValue | None], returned: Any) -> str:
    """Return the dtype of state `k` with the precision of the data that it depends on, directly or through other
    states.
    """
    first = firsts[k]
    assert first is not None
    own = first.dtype
    if np.dtype(own).kind not in "fc":
        return own
    number_of = {v: j for j, first in enumerate(firsts) if first is not None and first.is_number for v in first.inner}

    def operands(variable: Variable) -> Sequence[Variable]:
        if variable in number_of:
            return returned.outputs[number_of[variable] :][:1]
        return variable.owner.inputs if variable.owner is not None else ()

    dtypes = set()
    for leaf in walk(returned.outputs[k : k + 1], operands):
        is_data = leaf.owner is None and leaf not in number_of and isinstance(leaf.type, TensorType)
        if is_data and (leaf.type.ndim or not isinstance(leaf, Constant)):
            dtypes.add(_PARTS.get(leaf.type.dtype, leaf.type.dtype))
    dtypes = {dtype for dtype in dtypes if dtype.startswith("float")} or {config.floatX}
    widest = max(dtypes, key=lambda dtype: np.dtype(dtype).itemsize)
    return _complex(widest) if own in _PARTS else widest


def _dtype_of_number(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64" if value < 2**63 else "uint64"
    return config.floatX if isinstance(value, float) else _complex(config.floatX)


def _complex(dtype: str) -> str:
    return np.result_type(dtype, "complex64").name
