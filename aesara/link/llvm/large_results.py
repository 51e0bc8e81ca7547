"""Memory of large results: the free list of dead results, and the NumPy allocator that uses it.

The code is in `runtime.large_blocks`. On other systems than Linux, NumPy's own allocator is used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from aesara.configdefaults import config
from aesara.link.llvm.addresses import c_function, numpy_api
from aesara.link.llvm.runtime.large_blocks import USED

__all__ = [
    "ALLOCATOR", "FUNCTIONS", "USED", "address", "install", "kept_bytes", "release", "use_limit",
]  # fmt: skip

#: name of the allocator, as returned by NumPy's ``get_handler_name``
ALLOCATOR = "aesara"
#: the functions of the allocator
FUNCTIONS = ("malloc", "calloc", "realloc", "free")

#: positions in NumPy's C API table
_API = {"PyArray_NewFromDescr": 94, "PyDataMem_SetHandler": 304, "PyDataMem_GetHandler": 305}
_DEFAULT_HANDLER = 306


class _Handler(ctypes.Structure):
    """NumPy's ``PyDataMem_Handler``, version 1."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in FUNCTIONS),
    ]


#: the limit in bytes, the number of bytes kept, and the first block
_state = (ctypes.c_int64 * 3)(0, 0, 0)
_handler = _Handler(name=ALLOCATOR.encode(), version=1)
_NAME = ctypes.c_char_p(b"mem_handler")
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule = _new_capsule(ctypes.addressof(_handler), _NAME, None)
for kept_object in (_state, _handler, _NAME, _capsule):
    # Arrays may be freed after the module.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept_object))

_trim: list[Callable[[], None]] = []


def address(symbol: str) -> int | None:
    """Return the address of a symbol that the text refers to."""
    source, _, name = symbol.rpartition(".")
    if symbol == "blocks.state":
        return ctypes.addressof(_state)
    if symbol == "blocks.handler":
        return id(_capsule)
    if symbol == "numpy.handler":
        return ctypes.c_void_p.from_address(numpy_api()[_DEFAULT_HANDLER] or 0).value
    if source == "numpy":
        function: int | None = numpy_api()[_API[name]]
        return function
    if source == "python":
        return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    return c_function(name)


def install(functions: dict[str, int]) -> None:
    """Set the functions of the allocator, by their names in `runtime.large_blocks`."""
    for name in FUNCTIONS:
        setattr(_handler, name, functions[f"blocks.{name}"])
    _trim[:] = [ctypes.PYFUNCTYPE(None)(functions["blocks.trim"])]


def use_limit() -> None:
    """Set the limit of kept memory to the option's value."""
    _keep(max(0, config.native_kept_bytes))


def release() -> None:
    """Free all memory that dead results have left."""
    limit = _state[0]
    _keep(0)
    _state[0] = limit


def kept_bytes() -> int:
    """Return the number of bytes that dead results have left for new ones."""
    return int(_state[1])


def _keep(limit: int) -> None:
    _state[0] = limit
    if _state[1] > limit:
        _trim[0]()
