"""C function pointers that are called without Python and without the GIL, from any number of threads.

Samplers in C, C++ or Rust evaluate a log-density several hundred thousand times. Through a pointer, all of their
threads can do so at the same time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import aesara.tensor as at
from aesara.compile.function.function import Function
from aesara.graph.cloning import clone_get_equiv
from aesara.graph.nodes import Variable
from aesara.link.llvm.emit_pointer import NO_MEMORY, WRONG_LENGTH, PointerTarget, Signature
from aesara.link.llvm.pointer import PointerCode, PointerData

__all__ = ["LogpPointer", "VectorPointer", "logp_pointer", "vector_pointer"]

#: status of a call whose result is not finite
GRADIENT_NOT_FINITE, LOGP_NOT_FINITE = 3, 4

_DOUBLES = ctypes.POINTER(ctypes.c_double)


class CPointer:
    """A C function pointer and its data; see `LogpPointer` and `VectorPointer`."""

    def __init__(
        self, function: Function, code: PointerCode, shared: Mapping[str, int], values: Mapping[int, Any], word: int
    ) -> None:
        self.function, self._code, self._shared, self._word = function, code, shared, word
        self._data = PointerData(code, values)
        self.address = code.address
        self.user_data = np.zeros(word + 1, np.uint64)
        self.user_data[word] = self._data.address
        self._call: Callable[..., int] = self._prototype()(code.address)

    def _prototype(self) -> Any:
        raise NotImplementedError

    @property
    def table(self) -> int:
        """The word of the user data for this function, which is valid as long as this object exists."""
        return self._data.address

    @property
    def values(self) -> dict[str, np.ndarray]:
        """The values of shared variables in calls, by name."""
        return {name: self._data.values[k] for name, k in self._shared.items() if k in self._data.values}

    def with_values(self, **values: object) -> Any:
        """Return a pointer to the same function with other values of shared variables, which may have other shapes.

        Raises
        ------
        KeyError
            If the function has no shared variable of this name.
        """
        unknown = [name for name in values if name not in self._shared]
        if unknown:
            known = ", ".join(self._shared) or "none"
            raise KeyError(f"The function has no shared variable {', '.join(unknown)}; it has {known}.")
        all_values = {**self._data.values, **{self._shared[name]: value for name, value in values.items()}}
        return type(self)(self.function, self._code, self._shared, all_values, self._word)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.function, self._word, self.values)

    def _raise(self, status: int, x: np.ndarray) -> None:
        """Raise the error for a status other than 0."""
        if status == WRONG_LENGTH:
            raise ValueError(f"The vector has {x.size} numbers; the function takes or gives another number of them.")
        if status == NO_MEMORY:
            raise MemoryError("There is no memory for the intermediate results.")
        self.function(x)  # it names the check that fails, if shared variables still have these values
        raise ValueError("A check of the graph has failed for these values of shared variables.")


class LogpPointer(CPointer):
    """A log-density and its gradient as a C function pointer; built by `logp_pointer`.

    The function is ``int64_t f(uint64_t n, const double *x, double *gradient, double *logp, void *user)``. It returns 0
    on success; 3 if the gradient is not finite and 4 if only the log-density is not finite (both are written); 1 if a
    check of the graph has failed, for instance of shapes; -1 if `n` is not the length of the vector; -2 if there is not
    enough memory.

    Attributes
    ----------
    address : int
        The address of the function.
    user_data : numpy.ndarray
        An array whose address (``user_data.ctypes.data``) is the argument `user`. The function may be called as long
        as this object exists.
    function : aesara.compile.function.function.Function
        The compiled function.
    """

    def _prototype(self) -> Any:
        return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, _DOUBLES, _DOUBLES, _DOUBLES, ctypes.c_void_p)

    def __call__(self, x: object) -> tuple[float, np.ndarray]:
        """Return the log-density and its gradient at `x`, by a call of the pointer."""
        x = np.ascontiguousarray(x, np.float64)
        gradient, logp = np.empty(x.size), ctypes.c_double()
        pointers = x.ctypes.data_as(_DOUBLES), gradient.ctypes.data_as(_DOUBLES), ctypes.byref(logp)
        status = self._call(x.size, *pointers, self.user_data.ctypes.data)
        if status not in (0, GRADIENT_NOT_FINITE, LOGP_NOT_FINITE):
            self._raise(status, x)
        return logp.value, gradient


class VectorPointer(CPointer):
    """A function from vectors to vectors as a C function pointer; built by `vector_pointer`.

    The function is ``int64_t f(uint64_t n, uint64_t m, const double *x, double *result, void *user)``, with `n` numbers
    as input and `m` as output. It returns the status of a `LogpPointer`, except that results need not be finite.

    Attributes
    ----------
    address, user_data, function
        See `LogpPointer`.
    """

    def _prototype(self) -> Any:
        return ctypes.CFUNCTYPE(
            ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, _DOUBLES, _DOUBLES, ctypes.c_void_p
        )  # fmt: skip

    def __call__(self, x: object, size: int) -> np.ndarray:
        """Return the result, of `size` numbers, at `x`, by a call of the pointer."""
        x, result = np.ascontiguousarray(x, np.float64), np.empty(size)
        pointers = x.ctypes.data_as(_DOUBLES), result.ctypes.data_as(_DOUBLES)
        status = self._call(x.size, size, *pointers, self.user_data.ctypes.data)
        if status:
            self._raise(status, x)
        return result


def logp_pointer(f: object, word: int = 0) -> LogpPointer:
    """Return a log-density and its gradient as a C function pointer that needs neither Python nor the GIL.

    Parameters
    ----------
    f : aesara.compile.function.function.Function
        A function from a vector of float64 to the log-density, a scalar, and its gradient, a vector of the same
        length; or an object with such an attribute ``function``, like results of `aesara.pytensor.compile_logp`.
    word : int, default 0
        The index of the word of the user data for this function; functions with different words can share user data.

    Returns
    -------
    LogpPointer
        The address of the function and its user data, which contains the present values of shared variables. Several
        threads may call it at the same time.

    Raises
    ------
    NotImplementedError
        If a node of the graph runs in Python; the message names it.
    TypeError
        If the function has other inputs or outputs, updates shared variables, or draws random numbers.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dvector("x")
    >>> logp = -at.sum(x**2) / 2
    >>> pointer = logp_pointer(aesara.function([x], [logp, aesara.grad(logp, x)]))
    >>> pointer([1.0, 2.0])
    (-2.5, array([-1., -2.]))
    """
    return _make_pointer(LogpPointer, f, word)


def vector_pointer(f: object, word: int = 0) -> VectorPointer:
    """Return a function from a vector to a vector as a C function pointer that needs neither Python nor the GIL.

    Parameters
    ----------
    f : aesara.compile.function.function.Function
        A function from a vector of float64 to a vector of float64.
    word : int, default 0
        See `logp_pointer`.

    Returns
    -------
    VectorPointer
        The address of the function and its user data.

    Raises
    ------
    NotImplementedError, TypeError
        See `logp_pointer`.

    Examples
    --------
    >>> import aesara, aesara.tensor as at
    >>> x = at.dvector("x")
    >>> vector_pointer(aesara.function([x], at.exp(x)))([0.0, 0.0], 2)
    array([1., 1.])
    """
    return _make_pointer(VectorPointer, f, word)


def _make_pointer(pointer_class: type[Any], f: Any, word: int) -> Any:
    function = getattr(f, "function", f)
    if not isinstance(function, Function):
        raise TypeError(f"A compiled function was expected, as aesara.function makes it; got {type(f).__name__}.")
    maker = function.maker
    if maker.update_mapping:
        raise TypeError(
            "A C function cannot update shared variables, since threads call it at once; compile one without updates."
        )
    implicit = [bool(spec.implicit) for spec in maker.inputs]
    copies = clone_get_equiv(maker.fgraph.inputs, maker.fgraph.outputs)
    inputs = [copies[variable] for variable in maker.fgraph.inputs]
    outputs = [copies[variable] for variable in maker.fgraph.outputs]
    explicit_inputs = [variable for variable, is_shared in zip(inputs, implicit) if not is_shared]
    if pointer_class is LogpPointer:
        expected, is_expected = "a scalar and a vector", [v.type.ndim for v in outputs] == [0, 1]
    else:
        expected, is_expected = "a vector", [v.type.ndim for v in outputs] == [1]
    is_expected = is_expected and [v.type.ndim for v in explicit_inputs] == [1]
    if not is_expected or any(v.type.dtype != "float64" for v in (*explicit_inputs, *outputs)):
        raise TypeError(
            f"A function from a vector to {expected}, all of float64, was expected; this one goes from "
            f"{_types(explicit_inputs)} to {_types(outputs)}."
        )
    (input_position,) = (k for k, is_shared in enumerate(implicit) if not is_shared)
    vector_target = PointerTarget(input_position, is_result=False, length=0)
    if pointer_class is LogpPointer:
        logp, gradient = outputs
        outputs.append(_status(logp, gradient))
        pointers = vector_target, PointerTarget(1, is_result=True, length=0), PointerTarget(0, is_result=True)
        signature = Signature(1, pointers, status=2, word=word)
    else:
        signature = Signature(2, (vector_target, PointerTarget(0, is_result=True, length=1)), word=word)
    code = PointerCode(list(zip(inputs, implicit)), outputs, signature)
    values = {k: cell.storage[0] for k, cell in enumerate(function.input_storage) if implicit[k]}
    shared = {inputs[k].name or f"input {k}": k for k in values}
    return pointer_class(function, code, shared, values, word)


def _restore(pointer_class: type[object], function: Function, word: int, values: dict[str, np.ndarray]) -> Any:
    return _make_pointer(pointer_class, function, word).with_values(**values)


def _types(variables: list[Variable]) -> str:
    return ", ".join(str(variable.type) for variable in variables) or "nothing"


def _status(logp: object, gradient: object) -> Any:
    finite = at.switch(at.isfinite(logp), 0, LOGP_NOT_FINITE)
    return at.cast(at.switch(at.all(at.isfinite(gradient)), finite, GRADIENT_NOT_FINITE), "int64")
