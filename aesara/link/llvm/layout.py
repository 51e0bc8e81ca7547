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

#: values that an error message can carry
ERROR_VALUES = 8

#: words of the table that every function has, in order
WORDS = (
    "careful", "workspace", "capacity", "busy", "error",
    *(f"value{k}" for k in range(ERROR_VALUES)),
    "PyArray_Type", "PyFloat_Type", "Float64_Type", "PyLong_Type", "Py_None",
    "PyArray_NewFromDescr", "Py_IncRef", "Py_DecRef", "PyList_New", "PyList_SetItem", "PyObject_Vectorcall",
    "PyMem_RawMalloc", "PyMem_RawFree", "PyLong_AsLongLong", "PyErr_Occurred", "PyErr_Clear",
    "dgemm", "sgemm", "dgemv", "sgemv",
    "fallback", "fail", "grow",
)  # fmt: skip

WORD = {name: k for k, name in enumerate(WORDS)}

#: order of the descriptors behind the fixed words
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip

DESCR_START = len(WORDS)
#: then come the cells of implicit inputs, the data of constants, and the callables of nodes that run in Python
VARIABLE_START = DESCR_START + len(DTYPES)


def descr_word(dtype: str) -> int:
    return DESCR_START + DTYPES.index(dtype)
