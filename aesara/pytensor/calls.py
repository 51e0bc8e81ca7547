"""Compiled functions of PyTensor whose calls run machine code only."""

from __future__ import annotations

import copyreg
from contextvars import ContextVar
from functools import partial
from typing import Any

from pytensor.compile import Function as PyTensorFunction
from pytensor.compile import FunctionMaker

from aesara.link.llvm.callable import NativeCallable
from aesara.pytensor.linker import AesaraLinker, scalar_positions
from aesara.pytensor.versions import is_plain

__all__ = ["AesaraFunction", "AesaraFunctionMaker"]


#: option `unpack_single` of a function that is being copied; PyTensor does not pass it on before the copy is compiled
_unpack_single_of_copied: ContextVar[bool | None] = ContextVar("unpack_single_of_copied", default=None)


class AesaraFunction(PyTensorFunction):
    """A compiled function. Most functions have a class of their own, whose ``__call__`` is the native entry point.

    Calls with keywords, or with values that need conversion, are handled by PyTensor.
    """

    __slots__ = ()  # so that the class of a function of PyTensor can be changed

    def copy(self, *args: Any, **kwargs: Any) -> Any:
        token = _unpack_single_of_copied.set(self.unpack_single)
        try:
            return super().copy(*args, **kwargs)
        finally:
            _unpack_single_of_copied.reset(token)

    def __reduce__(self) -> Any:
        return copyreg.dispatch_table[PyTensorFunction](self)


class AesaraFunctionMaker(FunctionMaker):
    """Maker of `AesaraFunction` objects."""

    def create(self, *args: Any, **kwargs: Any) -> Any:
        copied = _unpack_single_of_copied.get()
        self.linker.unpack_single = self.unpack_single if copied is None else copied
        function = super().create(*args, **kwargs)
        if type(function) is PyTensorFunction:
            function.__class__ = AesaraFunction
        linker = function.maker.linker
        if isinstance(linker, AesaraLinker) and _is_ordinary(function, linker):
            native = getattr(linker.compiled, "_native", None)
            if isinstance(native, NativeCallable):
                native = native.with_fallback(partial(PyTensorFunction.__call__, function))
                native.refuse_numbers()  # PyTensor decides about conversions
                function.__class__ = type("Function", (AesaraFunction,), {"__slots__": (), "__call__": native.entry})
        return function


def _is_ordinary(function: Any, linker: AesaraLinker) -> bool:
    """Return whether calls only compute results and update shared variables, as native code can do without PyTensor."""
    maker, graph = function.maker, function.maker.fgraph
    explicit = [variable for variable, spec in zip(graph.inputs, maker.inputs) if not spec.implicit]
    return (
        type(function) is AesaraFunction
        and not function.profile
        and linker.explicit == explicit
        and all(graph.inputs[i] not in explicit for i in graph.update_mapping.values())
        and is_plain(function)
        and not scalar_positions(graph.outputs)
        and (len(graph.outputs) > len(graph.update_mapping) or function.return_none)
    )
