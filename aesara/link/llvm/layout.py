"""Where things are in memory: CPython and NumPy object headers, and the table that compiled code reaches through.

Compiled code contains no absolute address, so that it can be cached on disk.  Everything outside is reached through
the function's *table*, an array of 64-bit words whose ndarray is the `self` of the builtin.
"""

from __future__ import annotations

#: size of the object header (8 bytes of reference count and 8 of type on ordinary builds)
HEAD = object.__basicsize__

ARRAY_DATA = HEAD
ARRAY_NDIM = HEAD + 8
ARRAY_DIMS = HEAD + 16
ARRAY_DESCR = HEAD + 40
ARRAY_FLAGS = HEAD + 48
FLOAT_VALUE = HEAD
LIST_ITEMS = HEAD + 8
OBJECT_TYPE = HEAD - 8

C_CONTIGUOUS, OWNDATA, ALIGNED, WRITEABLE = 0x1, 0x4, 0x100, 0x400

#: bytes in front of a block of workspace: the next block that is free, this one's size, and what is to be freed
BLOCK_HEAD = 64
BLOCK_NEXT, BLOCK_SIZE, BLOCK_MEMORY = 0, 8, 16

#: words of `guards.state`, and of a guard
STATE_MAIN, STATE_NATIVE, STATE_PYTHON, STATE_PRODUCT = 0, 8, 16, 24
GUARD_OWNER, GUARD_WANTED, GUARD_DEPTH, GUARD_BELL = 0, 8, 16, 24

#: words of a call's watcher: the state of its thread while the GIL is released; and in the main thread meanwhile when
#: it has looked for signals, and its own address; the table
WATCHER_THREAD, WATCHER_TIME, WATCHER_SELF, WATCHER_TABLE, WATCHER_WORDS = 0, 8, 16, 24, 4

#: values that an error message can carry
ERROR_VALUES = 8
#: numbers of errors that are no checks: the arguments do not fit, there is no memory for intermediate results, or none
#: for result 0 (1 is one less, and so on)
NO_WORKSPACE, WRONG_ARGUMENTS, FIRST_LARGE_RESULT = -1, -2, -3

#: words of the table that every function has, in order
WORDS = (
    "pool",
    "PyArray_Type", "PyFloat_Type", "Float64_Type", "PyLong_Type", "Py_None",
    "PyArray_NewFromDescr", "Py_IncRef", "Py_DecRef", "PyList_New", "PyObject_Vectorcall",
    "PyMem_RawMalloc", "PyMem_RawFree", "PyLong_AsLongLong", "PyLong_FromVoidPtr", "PyErr_Occurred", "PyErr_Clear",
    "PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals", "PyThread_get_thread_ident",
    "PyThread_release_lock",
    "dgemm", "sgemm", "dgemv", "sgemv",
    "fallback", "fail", "wait", "state", "clock",
)  # fmt: skip

WORD = {name: k for k, name in enumerate(WORDS)}

#: order of the descriptors behind the fixed words
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip

DESCR_START = len(WORDS)
#: then come the cells of implicit and updated inputs, the data of constants, the callables of nodes that run in Python,
#: the guards of what is updated, and the list of kept arrays if results are lent
VARIABLE_START = DESCR_START + len(DTYPES)


def descr_word(dtype: str) -> int:
    return DESCR_START + DTYPES.index(dtype)
