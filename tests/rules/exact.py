"""Values of graphs in many more digits than floats have, by mpmath: which of two results is nearer to the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
from mpmath.libmp import NoConvergence

from aesara.graph.nodes import Constant, Variable
from aesara.graph.traversal import io_toposort
from tests.optable.truth import TRUTH

#: Enough for a difference of 1 and the smallest float.
BITS = 2400
#: Arguments with larger exponents are not given to most functions.
LARGEST = 4000


class NotKnown(Exception):
    """A graph has something that is not computed in more digits."""


class Lost(ArithmeticError):
    """A number is too small beside another, even here."""


def _sum(*terms: Any) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _product(*factors: Any) -> Any:
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


def _log(x: Any) -> Any:
    return -mp.inf if x == 0 else mp.log(x)


def _exp(x: Any) -> Any:
    if mp.isinf(x) or mp.isnan(x):
        return mp.mpf(0) if x < 0 else x
    halvings = mp.floor(x / mp.ln2)  # taken apart here: mpmath multiplies e with itself for whole numbers
    return mp.ldexp(mp.exp(x - halvings * mp.ln2), int(halvings))


def _is_tiny(x: Any) -> bool:
    return mp.isfinite(x) and (x == 0 or mp.mag(x) < -BITS)


def _log1p(x: Any) -> Any:
    return x if _is_tiny(x) else _log(1 + x)


def _expm1(x: Any) -> Any:
    if x < -BITS / 2 and mp.isfinite(x):
        raise Lost
    return x if _is_tiny(x) else _exp(x) - 1


def _sigmoid(x: Any) -> Any:
    if x > BITS / 2 and mp.isfinite(x):
        raise Lost
    return 1 / (1 + _exp(-x))


def _near_one(function: Callable[..., Any], largest: float) -> Callable[..., Any]:
    """A function that goes to 1 or -1: where it is nearer than can be said, it is not known."""

    def guarded(x: Any) -> Any:
        if mp.isfinite(x) and abs(x) > largest:
            raise Lost
        return function(x)

    return guarded


def _logaddexp(x: Any, y: Any) -> Any:
    return x + mp.log(2) if x == y else max(x, y) + _log1p(_exp(-abs(x - y)))


EXACT: dict[str, Callable[..., Any]] = {
    **TRUTH,
    "Add": _sum,
    "Mul": _product,
    "Sub": lambda x, y: x - y,
    "TrueDivide": lambda x, y: x / y,
    "Neg": lambda x: -x,
    "Abs": abs,
    "Sqr": lambda x: x * x,
    "Identity": lambda x: x,
    "Second": lambda x, y: y,
    "Switch": lambda c, x, y: x if c else y,
    "ScalarMaximum": lambda x, y: x if mp.isnan(x) or x > y else y,
    "ScalarMinimum": lambda x, y: x if mp.isnan(x) or x < y else y,
    "reciprocal": lambda x: 1 / x,
    "exp": _exp,
    "expm1": _expm1,
    "log": _log,
    "log1p": _log1p,
    "log1mexp": lambda x: _log(-_expm1(x)),
    "softplus": lambda x: _log1p(_exp(x)),
    "sigmoid": _sigmoid,
    "erf": _near_one(mp.erf, (BITS / 4) ** 0.5),
    "tanh": _near_one(mp.tanh, BITS / 4),
    "logit": lambda x: _log(x) - _log(1 - x),
    "logaddexp": _logaddexp,
}
#: Functions that take numbers with enormous exponents.
OF_ALL = frozenset(
    """Add Mul Sub TrueDivide Neg Abs Sqr Identity Second Switch ScalarMaximum ScalarMinimum Log Log1p Sqrt
    Reciprocal LT LE GT GE EQ NEQ""".split()
)
COMPARISONS = {"LT": "__lt__", "LE": "__le__", "GT": "__gt__", "GE": "__ge__", "EQ": "__eq__", "NEQ": "__ne__"}


def errors_in_units(
    variable: Variable, values: dict[Variable, Any], results: list[Any], where: Any
) -> list[np.ndarray] | None:
    """Return errors of results in units in the last place, at the elements of `where`; None if not known.

    Elements of which the exact value is not known have the error NaN.
    """
    if variable.type.dtype not in ("float16", "float32", "float64"):
        return None
    if where.ndim == 1 and where.sum() < len(where) and _is_elementwise(variable, values, where.shape):
        chosen = {v: np.asarray(value)[where] if value.shape == where.shape else value for v, value in values.items()}
        inside = errors_in_units(variable, chosen, [result[where] for result in results], where[where])
        if inside is None:
            return None
        found = [np.full(where.shape, np.nan) for _ in results]
        for errors, part in zip(found, inside):
            errors[where] = part
        return found
    try:
        with mp.workprec(BITS):
            exact = np.asarray(exact_value(variable, values), dtype=object)
            exact = np.broadcast_to(exact, where.shape)
            found = [np.full(where.shape, np.nan) for _ in results]
            for place in zip(*np.nonzero(where)) if where.ndim else [()]:
                for k, result in enumerate(results):
                    found[k][place] = _error(exact[place], np.asarray(result)[place])
            return found
    except (NotKnown, OverflowError, MemoryError, ValueError, ZeroDivisionError, TypeError, NoConvergence):
        return None


def _is_elementwise(variable: Variable, values: dict[Variable, Any], shape: tuple[int, ...]) -> bool:
    """Return whether each element of a vector depends only on elements at the same position."""
    if any(np.shape(value) not in (shape, (), (1,)) for value in values.values()):
        return False
    nodes = io_toposort(list(values), [variable])
    constants = [v for node in nodes for v in node.inputs if isinstance(v, Constant)]
    return all(type(node.op).__name__ in ("Elemwise", "DimShuffle") for node in nodes) and all(
        np.size(v.data) == 1 for v in constants
    )


def _error(exact: Any, result: Any) -> float:
    if exact is None:
        return np.nan
    info = np.finfo(result.dtype)
    if exact == 0 and result == 0:
        return np.inf  # which sign it has is not known here
    if mp.isnan(exact):
        return 0.0 if np.isnan(result) else np.inf
    if np.isnan(result):
        return np.inf
    if abs(exact) >= mp.mpf(float(info.max)) * (1 + mp.mpf(float(info.eps)) / 4):
        return 0.0 if np.isinf(result) and (result > 0) == (exact > 0) else np.inf
    if np.isinf(result) or (result == 0 and np.signbit(result) != (exact < 0)):
        return np.inf
    spacing = mp.mpf(float(np.spacing(result.dtype.type(abs(exact)))))
    return float(min(abs(mp.mpf(float(result)) - exact) / spacing, mp.mpf(10) ** 300))


def exact_value(variable: Variable, values: dict[Variable, Any]) -> Any:
    """The value of a variable: floats as mpmath numbers (None where not known), others as NumPy has them."""
    known = {v: _lifted(value) for v, value in values.items()}

    def value_of(v: Variable) -> Any:
        return _lifted(v.data) if isinstance(v, Constant) else known[v]

    for node in io_toposort(list(known), [variable]):
        inputs = [value_of(v) for v in node.inputs]
        for out, value in zip(node.outputs, _computed(node, inputs), strict=True):
            known[out] = value
    return value_of(variable)


def _lifted(value: Any) -> Any:
    value = np.asarray(value)
    if value.dtype.kind == "c":
        raise NotKnown("complex numbers")
    return _as_exact(value) if value.dtype.kind == "f" else value


def _as_exact(value: Any) -> Any:
    result = np.empty(value.shape, dtype=object)
    for place in np.ndindex(value.shape):
        number = value[place]
        result[place] = mp.mpf(float(number)) if value.dtype.kind == "f" else mp.mpf(int(number))
    return result


def _computed(node: Any, inputs: list[Any]) -> list[Any]:
    out = node.outputs[0]
    objects = any(value.dtype == object for value in inputs)
    floating = str(getattr(out.type, "dtype", "")).startswith("float")
    if not objects and not floating:
        storage = [[None] for _ in node.outputs]
        node.op.perform(node, inputs, storage)
        return [value for (value,) in storage]
    scalar_op = getattr(node.op, "scalar_op", None)
    name = type(node.op).__name__
    if name == "Elemwise":
        return [_elementwise(scalar_op, inputs, floating)]
    inputs = [_as_exact(v) if floating and v.dtype.kind in "biu" and name in ("Sum", "Mean") else v for v in inputs]
    axis = getattr(node.op, "axis", None)
    if name in ("Softmax", "LogSoftmax"):
        exponentials = np.frompyfunc(_guarded("Exp", _exp), 1, 1)(inputs[0])
        result = exponentials / np.sum(exponentials, axis=axis, keepdims=True)
        return [np.frompyfunc(_log, 1, 1)(result) if name == "LogSoftmax" else result]
    if name == "Sum":
        return [np.asarray(np.sum(inputs[0], axis=axis), dtype=object)]
    if name in ("DimShuffle", "Reshape", "Subtensor", "Alloc"):
        return [_moved(node, name, inputs)]
    raise NotKnown(name)


def _moved(node: Any, name: str, inputs: list[Any]) -> Any:
    if name == "Alloc":
        return np.broadcast_to(inputs[0], tuple(int(n) for n in inputs[1:]))
    if name == "Reshape":
        return inputs[0].reshape(tuple(int(n) for n in inputs[1]))
    storage = [[None]]
    node.op.perform(node, inputs, storage)
    return np.asarray(storage[0][0], dtype=object)


def _elementwise(scalar_op: Any, inputs: list[Any], floating: bool) -> Any:
    kind = type(scalar_op).__name__
    if kind == "Cast":
        if not floating:
            raise NotKnown("a cast to integers")
        return inputs[0] if inputs[0].dtype == object else _as_exact(inputs[0])
    if kind in COMPARISONS:
        method = COMPARISONS[kind]
        function: Any = lambda x, y: bool(getattr(mp.mpf(x), method)(mp.mpf(y)))
        operands = [v if v.dtype == object else _as_exact(v) for v in inputs]
        return np.frompyfunc(_guarded(kind, function), 2, 1)(*operands).astype(bool)
    if kind in ("IsInf", "IsNan"):
        return np.frompyfunc(mp.isinf if kind == "IsInf" else mp.isnan, 1, 1)(inputs[0]).astype(bool)
    function = EXACT.get(kind) or EXACT.get(getattr(scalar_op, "name", None) or "") or EXACT.get(kind.lower())
    if function is None or not floating:
        raise NotKnown(kind)
    as_is = 1 if kind == "Switch" else 0
    operands = [v if v.dtype == object or i < as_is else _as_exact(v) for i, v in enumerate(inputs)]
    return np.asarray(np.frompyfunc(_guarded(kind, function), len(operands), 1)(*operands), dtype=object)


def _is_enormous(x: Any) -> bool:
    return isinstance(x, mp.mpf) and mp.isfinite(x) and x != 0 and mp.mag(x) > LARGEST


def _guarded(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(*arguments: Any) -> Any:
        if any(a is None for a in arguments):
            return None
        try:
            if kind not in OF_ALL and any(_is_enormous(a) for a in arguments):
                return None
            result = function(*arguments)
        except (ArithmeticError, ValueError, MemoryError, NoConvergence):
            return None
        if isinstance(result, mp.mpc):
            return mp.nan
        return result

    return guarded
