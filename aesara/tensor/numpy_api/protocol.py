"""Dispatch of NumPy's functions that are called with variables to functions of this package.

NumPy asks its arguments before it computes: ``__array_ufunc__`` for elementwise functions and for the operators of
arrays, ``__array_function__`` for the others, ``__array__`` where it needs an array. Which function stands for which,
and how arguments are passed on, is said in `numpy_functions`. Everything else is refused, with what to use instead:
an array of objects with a variable in it would be wrong in ways that nobody sees, unless it was asked for by its dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aesara.graph.messages import describe
from aesara.tensor.core.conversion import as_tensor_variable
from aesara.tensor.numpy_api.functions import ACCUMULATIONS, ADVICE, FUNCTIONS, REDUCTIONS, UFUNCS, Passing
from aesara.tensor.shapes.rearranging import normalize_axes

#: The functions of ``aesara.tensor`` by name; see `offer`.
_namespace: dict[str, Any] = {}


def offer(namespace: dict[str, Any]) -> None:
    """Register the namespace in which functions of this package are looked up."""
    global _namespace
    _namespace = namespace


def _look_up(name: str) -> Callable[..., Any] | None:
    """Return the function of this package with a name, which may contain dots, or None."""
    first, *rest = name.split(".")
    result = _namespace.get(first)
    if result is None and rest:  # a module that is loaded lazily
        result = _namespace["__getattr__"](first)
    for part in rest:
        result = getattr(result, part, None)
    return result


def _refusal(name: str, why: str, instead: str) -> TypeError:
    return TypeError(f"{name} was called with a variable, which has no value yet. {why} {instead}".strip())


# -- arrays -------------------------------------------------------------------


def as_object(variable: Any) -> np.ndarray:
    """Return an array of objects whose only element is a variable, for code that counts dimensions."""
    array = np.empty((), dtype=object)
    array[()] = variable
    return array


def refuse_array(variable: Any) -> TypeError:
    """Return the error for a variable where an array is required."""
    return TypeError(
        f"NumPy needs an array, but {describe(variable)} of type {variable.type} is a variable, which has no value "
        "yet. "
        "Use the function of aesara.tensor, as_tensor or stack for a list of variables instead of numpy.array, and "
        ".eval() or a compiled function for values."
    )


# -- functions ----------------------------------------------------------------


def _full_name(function: Any) -> str:
    """Return the public path of a function of NumPy."""
    module = (getattr(function, "__module__", None) or "numpy").split("._", 1)[0]
    return f"{module}.{function.__name__}"


def call_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Apply the counterpart of a function of NumPy."""
    path = _full_name(function)
    name = path.removeprefix("numpy.")
    passing = FUNCTIONS.get(name)
    if isinstance(passing, Passing):
        target = _look_up(passing.target or name)
        if target is not None:
            positional, keywords = passing.bind(path, args, kwargs)
            return target(*positional, **keywords)
    elif passing is not None:
        return passing(*args, **kwargs)
    raise _no_counterpart(path, name)


def _no_counterpart(path: str, name: str) -> TypeError:
    instead = ADVICE.get(name)
    if instead is None and _look_up(name) is not None:
        instead = f"Use aesara.tensor.{name}."
    why = "It has no counterpart here." if instead is None else "It does not build expressions."
    return _refusal(
        path,
        why,
        instead
        or "Write it with functions of aesara.tensor, apply it to values (.eval(), or results of a compiled function), "
        "or make an operation of it with aesara.compile.ops.as_op.",
    )


# -- elementwise functions ----------------------------------------------------


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Apply the counterpart of a ufunc of NumPy, of a method of a ufunc, or of an operator."""
    name = ufunc.__name__
    if getattr(np, name, None) is not ufunc:
        known = _look_up(name) is not None
        raise _refusal(
            f"The elementwise function {name}",
            "It is none of NumPy's.",
            f"Use aesara.tensor.{name}." if known else "Use functions of aesara.tensor, or aesara.compile.ops.as_op.",
        )
    path = f"numpy.{name}" if method == "__call__" else f"numpy.{name}.{method}"
    target = UFUNCS.get(name) or _look_up(name)
    if target is None:
        raise _no_counterpart(path, name)
    if method == "__call__":
        return _apply(ufunc, path, target, inputs, kwargs)
    if method == "outer":
        x, y = as_tensor_variable(inputs[0]), as_tensor_variable(inputs[1])
        x = x.dimshuffle(*range(x.type.ndim), *["x"] * y.type.ndim)
        return _apply(ufunc, path, target, (x, y), kwargs)
    table = {"reduce": REDUCTIONS, "accumulate": ACCUMULATIONS}.get(method, {})
    if name in table:
        path_of_target, passing = table[name]
        function = _look_up(path_of_target)
        assert function is not None
        positional, keywords = passing.bind(path, inputs, kwargs)
        keywords.setdefault("axis", 0)
        if isinstance(keywords["axis"], tuple) and method == "reduce":
            keywords["axis"] = normalize_axes(keywords["axis"], as_tensor_variable(positional[0]).type.ndim)
        return function(*positional, **keywords)
    if method == "at":
        instead = "Use x = aesara.tensor.inc_subtensor(x[indices], values) to add, set_subtensor to replace elements."
    else:
        instead = "Use reductions and scan of aesara.tensor."
    raise _refusal(path, "It has no counterpart here.", instead)


#: Keywords of elementwise functions that say how arrays are made, which does not matter for variables.
_WITHOUT_MEANING = ("order", "subok")


def _apply(
    ufunc: np.ufunc, path: str, target: Callable[..., Any], inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    kwargs = {key: value for key, value in kwargs.items() if key not in _WITHOUT_MEANING}
    out = kwargs.pop("out", (None,))
    # ``array += variable`` passes the array as `out` and assigns the returned value to the name.
    if any(o is not None for o in out) and not (
        len(out) == 1 and isinstance(out[0], np.ndarray) and out[0] is inputs[0]
    ):
        raise _refusal(path, "The result is an expression, which `out` cannot hold.", "Use the variable it returns.")
    if kwargs.pop("where", True) is not True:
        raise _refusal(
            path,
            "Elements for which `where` is false would have no value.",
            f"Use aesara.tensor.where(condition, {path}(...), otherwise).",
        )
    casting = kwargs.pop("casting", "same_kind")
    dtype = kwargs.pop("dtype", None)
    if dtype is not None:
        return _in_dtype(ufunc, path, target, inputs, np.dtype(dtype), casting)
    allowed = {"axis"} if ufunc.__name__ == "vecdot" else set()
    if set(kwargs) - allowed:
        raise _refusal(path, f"The argument `{min(set(kwargs) - allowed)}` has no counterpart here.", "")
    result = target(*inputs, **kwargs)
    return tuple(result) if isinstance(result, list) else result


def _in_dtype(
    ufunc: np.ufunc, path: str, target: Callable[..., Any], inputs: tuple[Any, ...], dtype: np.dtype, casting: str
) -> Any:
    """Compute with operands that were converted to a dtype, as NumPy does."""
    kind = dtype.char
    if f"{kind * ufunc.nin}->{kind * ufunc.nout}" not in ufunc.types:
        raise _refusal(path, f"It does not compute with numbers of dtype {dtype}.", "Use astype on what it returns.")
    converted = []
    for x in inputs:
        is_number = type(x) in (int, float, complex)
        x = as_tensor_variable(x)
        if not is_number and not np.can_cast(x.type.dtype, dtype, casting):  # type: ignore[arg-type]
            raise TypeError(
                f"{path}: {describe(x)} of type {x.type} does not convert to {dtype} by the rule {casting!r}."
            )
        converted.append(x.astype(dtype.name))
    result = target(*converted)
    return (
        tuple([r.astype(dtype.name) for r in result])
        if isinstance(result, (list, tuple))
        else result.astype(dtype.name)
    )
