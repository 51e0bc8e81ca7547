"""Addresses of the outside world: CPython's and NumPy's C API, BLAS, special functions.

SciPy's Cython modules export plain C functions as capsules.  They are loaded by file, without importing the packages
around them, which would cost a tenth of a second.  BLAS and LAPACK of SciPy's wheels are found without SciPy.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import numpy as np

from aesara.link import guards
from aesara.link.llvm.layout import DTYPES, WORDS

__all__ = [
    "c_function", "fixed_words", "fortran_function", "fortran_library", "libm_address", "numpy_api", "numpy_sort",
    "numpy_transform", "special_function",
]  # fmt: skip

#: positions in NumPy's C API table, the same in all of its releases
_NUMPY_API = {"PyArray_NewFromDescr": 94}
_PYTHON_API = (
    "Py_IncRef", "Py_DecRef", "PyList_New", "PyObject_Vectorcall", "PyMem_RawMalloc",
    "PyMem_RawCalloc", "PyMem_RawFree", "PyLong_AsLongLong", "PyLong_FromVoidPtr", "PyErr_Occurred", "PyErr_Clear",
    "PyErr_NoMemory", "PyErr_Fetch", "PyErr_Restore", "PyEval_SaveThread", "PyEval_RestoreThread",
    "PyErr_CheckSignals", "PyThread_get_thread_ident",
    "PyThread_release_lock", "PyWeakref_NewRef",
)  # fmt: skip
_BLAS = ("dgemm", "sgemm", "dgemv", "sgemv", "dsyrk", "ssyrk")

_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def numpy_api() -> ctypes._Pointer[ctypes.c_void_p]:
    """Return NumPy's C API table."""
    try:
        umath = importlib.import_module("numpy._core._multiarray_umath")
    except ImportError:  # NumPy 1
        umath = importlib.import_module("numpy.core._multiarray_umath")
    table = _capsule_pointer(umath._ARRAY_API, None)
    return ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))


def _extension_file(package: str, name: str) -> Path | None:
    """Return the file of a compiled module of SciPy, which is not imported; None if it is not a plain file."""
    scipy = importlib.util.find_spec("scipy")
    if scipy is not None and scipy.origin is not None:
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = Path(scipy.origin).parent / package / f"{name}{suffix}"
            if path.exists():
                return path
    return None


def _load_extension(package: str, name: str) -> ModuleType:
    """Import a compiled module of SciPy without its package's `__init__`, if it is a plain file."""
    full = f"scipy.{package}.{name}"
    if full in sys.modules:
        return sys.modules[full]
    path = _extension_file(package, name)
    spec = None if path is None else importlib.util.spec_from_file_location(name, path)
    if spec is not None and spec.loader is not None:
        with contextlib.suppress(ImportError):
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    return importlib.import_module(full)


@functools.cache
def _capsule_functions(package: str, name: str) -> dict[str, int]:
    """Return name -> address of the C functions that a Cython module of SciPy exports."""
    module = _load_extension(package, name)
    return {k: _capsule_pointer(c, _capsule_name(c)) for k, c in module.__pyx_capi__.items()}


@functools.cache
def fortran_library(name: str) -> ctypes.CDLL | None:
    """Return a handle by which functions of the libraries behind SciPy are found: `name` is ``blas`` or ``lapack``."""
    path = _extension_file("linalg", f"cython_{name}")
    if path is not None:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(str(path))  # also finds functions of linked libraries
    return None


@functools.cache
def fortran_function(library: str, name: str) -> int | None:
    """Return the address of a subroutine of ``blas`` or ``lapack``; None if this installation does not have it.

    The OpenBLAS in SciPy's wheels has names of its own, by which functions are found without the import of SciPy.  From
    other libraries SciPy may choose by name, so it is asked.
    """
    function = getattr(fortran_library(library), f"scipy_{name}_", None)
    if function is None:
        return _capsule_functions("linalg", f"cython_{library}").get(name)
    return ctypes.cast(function, ctypes.c_void_p).value


@functools.cache
def special_function(name: str, arity: int) -> int | None:
    """Return the address of a `scipy.special` function of `arity` doubles (and an int that must be 0)."""
    module = _load_extension("special", "cython_special")
    signature = f"double ({', '.join(['double'] * arity)}, int __pyx_skip_dispatch)".encode()
    for full, capsule in module.__pyx_capi__.items():
        if re.sub(r"^__pyx_fuse_(\d+_?)+", "", full) == name and _capsule_name(capsule) == signature:
            return int(_capsule_pointer(capsule, signature))
    return None


#: index of the first sort, and of the first argsort, among NumPy's functions of a dtype
_SORTS = {"sort": 33, "argsort": 36}
_SORT_KINDS = ("quicksort", "heapsort", "stable")
#: byte offset in a dtype of the pointer to its functions, in NumPy 1
_FUNCTIONS_OF_DTYPE = object.__basicsize__ + 48
#: position in NumPy's C API table of the function that returns that pointer, in NumPy 2
_GET_FUNCTIONS = 365


@functools.cache
def numpy_sort(function: str, kind: str, dtype: str) -> int | None:
    """Return the address of NumPy's C function that sorts a row: ``sort``, or ``argsort`` for positions."""
    kind_of_number = np.dtype(dtype)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(numpy_api()[_GET_FUNCTIONS] or 0)
        functions = get(kind_of_number)
    else:
        functions = ctypes.c_void_p.from_address(id(kind_of_number) + _FUNCTIONS_OF_DTYPE).value
    table = ctypes.cast(functions, ctypes.POINTER(ctypes.c_void_p))
    address: int | None = table[_SORTS[function] + _SORT_KINDS.index(kind)]
    return address


#: byte offset in a ufunc of the pointer to its loops, which are in the order of its types
_LOOPS_OF_UFUNC = object.__basicsize__ + 16


@functools.cache
def numpy_transform(name: str, dtype: str) -> int | None:
    """Return the address of a loop of a ufunc behind `numpy.fft`, for a real dtype; None in NumPy 1."""
    try:
        module = importlib.import_module("numpy.fft._pocketfft_umath")
    except ImportError:
        return None
    function = getattr(module, name, None)
    if not isinstance(function, np.ufunc):
        return None
    letter = np.dtype(dtype).char
    # The second input is the real factor.
    (position,) = (k for k, types in enumerate(function.types) if types[1] == letter)
    loops = ctypes.c_void_p.from_address(id(function) + _LOOPS_OF_UFUNC)
    address: int | None = ctypes.cast(loops, ctypes.POINTER(ctypes.c_void_p))[position]
    return address


@functools.cache
def _constant_words() -> dict[str, int]:
    words = dict.fromkeys(WORDS, 0)
    for name in _PYTHON_API:
        function = getattr(ctypes.pythonapi, name)
        words[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    api = numpy_api()
    for name, position in _NUMPY_API.items():
        words[name] = api[position] or 0
    words |= {
        "PyArray_Type": id(np.ndarray),
        "PyFloat_Type": id(float),
        "Float64_Type": id(np.float64),
        "PyLong_Type": id(int),
        "Int64_Type": id(np.int64),
        "Py_None": id(None),
        "state": ctypes.addressof(guards.state),
    }
    return words


@functools.cache
def _descriptors() -> tuple[int, ...]:
    return tuple(id(np.dtype(name)) for name in DTYPES)


def fixed_words(blas: bool, routines: Mapping[str, int]) -> list[int]:
    """Return the words of the table that do not depend on the function: APIs, BLAS if needed, and routines."""
    words = _constant_words() | dict(routines)
    if blas:
        words |= {name: fortran_function("blas", name) or 0 for name in _BLAS}
    return [words[name] for name in WORDS] + list(_descriptors())


@functools.cache
def _c_library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(None) if sys.platform != "win32" else ctypes.CDLL("ucrtbase")
    except OSError:
        return None


def c_function(name: str) -> int | None:
    """Return the address of a function of the C library; None if the process does not have it."""
    function = getattr(_c_library(), name, None)
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value


@functools.cache
def libm_address(name: str) -> int | None:
    """Return the address of a math function of the C library; None if the process does not have it."""
    library = _c_library()
    for candidate in (library, _math_library()):
        function = getattr(candidate, name, None) if candidate is not None else None
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value
    return None


@functools.cache
def _math_library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL("libm.so.6")
    except OSError:
        return None
