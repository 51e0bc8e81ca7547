"""Numbers and arrays as first values of a loop's states: which dtype they take."""

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

#: For each dtype of complex numbers the one of their parts.
_PARTS = {"complex64": "float32", "complex128": "float64"}


class FirstValue:
    """The value of a state before the first step.

    A variable has its dtype; that of an array may become a wider one.  A Python number takes what `settle` finds.

    Parameters
    ----------
    given
        A variable, array or number.

    Examples
    --------
    >>> FirstValue(0).variable.type, FirstValue(np.float32(0.5)).variable.type
    (TensorType(int64, ()), TensorType(float32, ()))
    """

    def __init__(self, given: Any) -> None:
        self.is_number = isinstance(given, (bool, int, float, complex)) and not isinstance(given, np.generic)
        self.is_data = not isinstance(given, Variable)
        if self.is_number:
            given = constant(given, dtype=_dtype_of_number(given))
        self.variable: Any = given if isinstance(given, Variable) else as_tensor_variable(given)
        self.is_data = self.is_data and isinstance(self.variable, Constant)
        #: The step's variables for this and later values, in the last call of the step.
        self.inner: list[Any] = []

    @property
    def has_rows(self) -> bool:
        """Return whether it is a dense tensor, of which a loop keeps a row for each step."""
        return isinstance(self.variable.type, DenseTensorType)

    @property
    def dtype(self) -> str:
        return self.variable.type.dtype

    def takes(self, dtype: str) -> bool:
        """Take a dtype, if the value, which is data, may; returns whether it is another than before."""
        kind, data = np.dtype(dtype).kind, self.variable.data
        if self.is_number:
            with np.errstate(all="ignore"):
                made = data.astype(dtype if data.dtype.kind != "c" or kind == "c" else data.dtype)
            fits = made == data if kind in "biu" else np.isfinite(made) == np.isfinite(data)
        else:
            made, fits = data.astype(dtype, copy=False), np.can_cast(self.dtype, dtype, "safe")
        if not fits or made.dtype == data.dtype:
            return False
        self.variable = constant(made, dtype=dtype)
        return True


def settle(firsts: Sequence[FirstValue | None], call: Callable[[], Any]) -> Any:
    """Call the step, and call it again while first values take other dtypes; returns what it has returned last.

    `firsts` are those of the step's outputs, None where there is none.  Integers start as int64 and floating-point
    numbers as `config.floatX`.  First they become as wide as what the step returns.  Then numbers get the precision of
    the data that the step computes with, so that they do not add precision of their own; and at last the dtype that
    the step returns all the same.
    """
    returned = _call_widening(firsts, call)
    numbers = [(k, first) for k, first in enumerate(firsts) if first is not None and first.is_number]
    if _take([(first, _of_data(k, firsts, returned)) for k, first in numbers]):
        returned = _call_widening(firsts, call)
    return call() if _take([(first, new.type.dtype) for first, new in _pairs(firsts, returned)]) else returned


def _take(dtypes: Sequence[tuple[FirstValue, str]]) -> bool:
    """Give each value its dtype; returns whether one has changed."""
    changed = [first.takes(dtype) for first, dtype in dtypes]
    return any(changed)


def _pairs(firsts: Sequence[FirstValue | None], returned: Any) -> list[tuple[FirstValue, Any]]:
    """First values that are data, and what the step returns for them."""
    pairs = zip(firsts, returned.outputs)
    return [(f, new) for f, new in pairs if f is not None and f.is_data and isinstance(new.type, TensorType)]


def _call_widening(firsts: Sequence[FirstValue | None], call: Callable[[], Any]) -> Any:
    while True:
        returned = call()
        pairs = _pairs(firsts, returned)
        if not _take([(f, np.result_type(f.dtype, new.type.dtype).name) for f, new in pairs]):
            return returned


def _of_data(k: int, firsts: Sequence[FirstValue | None], returned: Any) -> str:
    """The dtype of state `k` with the precision of the data that it depends on, through any number of steps."""
    own = firsts[k].dtype  # type: ignore[union-attr]  # it is a number
    if np.dtype(own).kind not in "fc":
        return own
    number_of = {v: j for j, first in enumerate(firsts) if first is not None and first.is_number for v in first.inner}

    def before(variable: Any) -> Sequence[Any]:
        if variable in number_of:
            return returned.outputs[number_of[variable] :][:1]
        return variable.owner.inputs if variable.owner is not None else ()

    found = set()
    for leaf in walk(returned.outputs[k : k + 1], before):
        is_data = leaf.owner is None and leaf not in number_of and isinstance(leaf.type, TensorType)
        if is_data and (leaf.type.ndim or not isinstance(leaf, Constant)):
            found.add(_PARTS.get(leaf.type.dtype, leaf.type.dtype))
    found = {dtype for dtype in found if dtype.startswith("float")} or {config.floatX}
    widest = max(found, key=lambda dtype: np.dtype(dtype).itemsize)
    return _complex(widest) if own in _PARTS else widest


def _dtype_of_number(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64" if value < 2**63 else "uint64"
    return config.floatX if isinstance(value, float) else _complex(config.floatX)


def _complex(dtype: str) -> str:
    return np.result_type(dtype, "complex64").name
