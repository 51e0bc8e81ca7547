"""PyTensor's compiled functions, whose ordinary calls run machine code and none of PyTensor's Python."""

from __future__ import annotations

import copyreg
from contextvars import ContextVar
from functools import partial
from typing import Any

from pytensor.compile import Function as PyTensorFunction
from pytensor.compile import FunctionMaker

from aesara.link.llvm.callable import NativeCallable
from aesara.pytensor.linker import AesaraLinker, places_of_scalars
from aesara.pytensor.versions import is_plain

__all__ = ["AesaraFunction", "AesaraFunctionMaker"]


#: whether the function that is copied returns its single result by itself, which its copy is told when it is made only
_returns_alone: ContextVar[bool | None] = ContextVar("returns_alone", default=None)


class AesaraFunction(PyTensorFunction):  # type: ignore[misc]
    """A function of the mode. Most have a class of their own, whose ``__call__`` is a native entry point.

    Calls with keywords, or with values that are not exactly what the code takes, are PyTensor's.
    """

    __slots__ = ()  # so that functions of PyTensor's can become such

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        token = _returns_alone.set(self.unpack_single)
        try:
            return super().copy(*args, **kwargs)
        finally:
            _returns_alone.reset(token)

    def __reduce__(self) -> Any:
        return copyreg.dispatch_table[PyTensorFunction](self)


class AesaraFunctionMaker(FunctionMaker):  # type: ignore[misc]
    """Makes such functions."""

    def create(self, *args: Any, **kwargs: Any) -> Any:
        copied = _returns_alone.get()
        self.linker.unpack_single = self.unpack_single if copied is None else copied
        function = super().create(*args, **kwargs)
        if type(function) is PyTensorFunction:
            function.__class__ = AesaraFunction
        linker = function.maker.linker
        if isinstance(linker, AesaraLinker) and _is_ordinary(function, linker):
            native = getattr(linker.compiled, "_native", None)
            if isinstance(native, NativeCallable):
                native = native.with_fallback(partial(PyTensorFunction.__call__, function))
                native.refuse_numbers()  # what may stand for an array is for PyTensor to say
                function.__class__ = type("Function", (AesaraFunction,), {"__slots__": (), "__call__": native.entry})
        return function


def _is_ordinary(function: Any, linker: AesaraLinker) -> bool:
    """Return whether a call only computes results and updates shared variables, which native code does by itself."""
    maker, graph = function.maker, function.maker.fgraph
    taken = [variable for variable, spec in zip(graph.inputs, maker.inputs) if not spec.implicit]
    return (
        type(function) is AesaraFunction
        and not function.profile
        and linker.explicit == taken
        and all(graph.inputs[i] not in taken for i in graph.update_mapping.values())
        and is_plain(function)
        and not places_of_scalars(graph.outputs)
        and (len(graph.outputs) > len(graph.update_mapping) or function.return_none)
    )
