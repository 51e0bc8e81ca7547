"""Where things are in memory: CPython and NumPy object headers, and the table that compiled code reaches through.

Compiled code contains no absolute address, so that it can be cached on disk.  Everything outside is reached through
the function's *table*, an array of 64-bit words whose ndarray is the `self` of the builtin.  What all functions do in
the same way is done by routines (`shared/`), which are reached through the table as well.  All places are in bytes.
"""

from __future__ import annotations

from aesara.ir.generators import HEADER

#: size of the object header (8 bytes of reference count and 8 of type on ordinary builds)
HEAD = object.__basicsize__

ARRAY_DATA = HEAD
ARRAY_NDIM = HEAD + 8
ARRAY_DIMS = HEAD + 16
ARRAY_DESCR = HEAD + 40
ARRAY_FLAGS = HEAD + 48
NUMBER_VALUE = HEAD
LIST_LENGTH = HEAD
LIST_ITEMS = HEAD + 8
OBJECT_TYPE = HEAD - 8

C_CONTIGUOUS, OWNDATA, ALIGNED, WRITEABLE = 0x1, 0x4, 0x100, 0x400
#: flags of arrays that compiled code reads; of those that it may write to
PLAIN = C_CONTIGUOUS | ALIGNED
OWN = OWNDATA | WRITEABLE

#: bytes in front of a block of workspace: the next block that is free, this one's size, and what is to be freed
BLOCK_HEAD = 64
BLOCK_NEXT, BLOCK_SIZE, BLOCK_MEMORY = 0, 8, 16

#: words of `guards.state`, and of a guard
STATE_MAIN, STATE_NATIVE, STATE_PYTHON, STATE_PRODUCT = 0, 8, 16, 24
GUARD_OWNER, GUARD_WANTED, GUARD_DEPTH, GUARD_BELL = 0, 8, 16, 24

#: values that an error message can carry
ERROR_VALUES = 8
#: numbers of errors that are no checks: the arguments do not fit, there is no memory for intermediate results, or none
#: for result 0 (1 is one less, and so on); an exception has been raised already; Python code has given other memory to
#: an array that is in use
NO_WORKSPACE, WRONG_ARGUMENTS, FIRST_LARGE_RESULT = -1, -2, -3
RAISED = -(2**31)
MOVED = RAISED + 1
#: somebody else has drawn from a generator that the call has drawn from
DRAWN = RAISED + 2

#: The *frame* of a call, on its stack (or elsewhere, if values are spilled to it), is what it shares with the routines
#: of `shared/`.  First comes what is there while the GIL is released: what kernels ask for the end of the next chunk of
#: a loop, the table, and when signals were looked for; then the number of the error, and its values.
FRAME_CHUNK, FRAME_TABLE, FRAME_TIME, FRAME_ERROR = 0, 8, 16, 24
#: All from here on is zero at first: the list of results, or the answer if the call ends early; the block of workspace;
#: whether the call has guards; how many references to shared values it holds;
FRAME_ANSWER = FRAME_ERROR + 8 * (1 + ERROR_VALUES)
FRAME_BLOCK, FRAME_GUARDED, FRAME_HOLDING = FRAME_ANSWER + 8, FRAME_ANSWER + 16, FRAME_ANSWER + 24
#: the state of the thread while the GIL is released; the frame itself in the main thread meanwhile;
FRAME_THREAD, FRAME_WATCHER = FRAME_HOLDING + 8, FRAME_HOLDING + 16
#: the results, late blocks and answers of Python nodes.  Then comes room for references to shared values, and for pins.
FRAME_PLACES = FRAME_WATCHER + 8

#: The *plan* of a function says what it has: explicit inputs; results (in all, returned), and how they are returned;
#: late blocks; answers of Python nodes
PLAN_EXPLICIT, PLAN_RESULTS, PLAN_RETURNED, PLAN_FORM, PLAN_LATE, PLAN_MADE = range(0, 48, 8)
#: guards: the first in the table, and how many; cells whose values are held: likewise, and where in the frame
PLAN_FIRST_GUARD, PLAN_GUARDS, PLAN_FIRST_CELL, PLAN_CELLS, PLAN_HELD = range(48, 88, 8)
#: where in the frame there is room for a pin of each argument and of each value that is held
PLAN_PINS = 88
#: generators: how many, where in the frame their links are and the locks that the call has; for how many of them the
#: call has new words, and where in the plan it says, for each, the number of the result and that of the generator
PLAN_LINKS, PLAN_LINKED, PLAN_LOCKED, PLAN_DRAWN, PLAN_DRAWN_AT = range(96, 136, 8)
#: how many updates; then come, for each, the number of its result and the place of its cell in the table
PLAN_UPDATES, PLAN_FIRST_UPDATE = 136, 144

#: The *link* of a generator is what a call has to know of it: a list of these words, and of the objects that they mean.
#: The generator; where in it its bit generator is, and which it is; of how many bytes its words are; what takes and
#: releases its lock; the first of its words, which are the same for all of its kind; and how many pieces of memory the
#: rest is in: for each its place among the words, its size, and where it is
LINK_GENERATOR, LINK_PLACE, LINK_BITS, LINK_BYTES, LINK_TAKE, LINK_RELEASE, LINK_HEADER = range(0, 56, 8)
LINK_PIECES = LINK_HEADER + HEADER
LINK_FIRST = LINK_PIECES + 8
PIECE_PLACE, PIECE_SIZE, PIECE_AT, PIECE = range(0, 32, 8)

#: how results are returned
ONE, LIST, NONE = 0, 1, 2

#: What is said of each input of functions that let a routine read them: where its object is (the place of an argument,
#: or that of a cell in the table), the place of its descriptor in the table, its rank, which numbers are taken for it;
#: of how many bytes a copy is made (0: of none); where in the frame is to be written what has been read; and its
#: lengths, as far as they are known (others are negative)
INPUT_FROM, INPUT_DESCR, INPUT_RANK, INPUT_NUMBER, INPUT_COPY, INPUT_PLACE, INPUT_LENGTHS = range(0, 56, 8)
#: which numbers: none is 0
FLOAT, INTEGER = 1, 2
#: what has been read: the object, where its values are, and its lengths, or, of rank 0, room for 16 bytes
READ_OBJECT, READ_DATA, READ_LENGTHS = 0, 8, 16

#: words of the table that every function has, in order
WORDS = (
    "pool",
    "PyArray_Type", "PyFloat_Type", "Float64_Type", "PyLong_Type", "Int64_Type", "Py_None",
    "PyArray_NewFromDescr", "Py_IncRef", "Py_DecRef", "PyList_New", "PyObject_Vectorcall",
    "PyMem_RawMalloc", "PyMem_RawCalloc", "PyMem_RawFree", "PyLong_AsLongLong", "PyLong_FromVoidPtr",
    "PyErr_Occurred", "PyErr_Clear", "PyErr_NoMemory", "PyErr_Fetch", "PyErr_Restore",
    "PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals", "PyThread_get_thread_ident",
    "PyThread_release_lock", "PyWeakref_NewRef",
    "dgemm", "sgemm", "dgemv", "sgemv", "dsyrk", "ssyrk",
    "fallback", "fail", "wait", "state", "clock",
    "strict", "refuse", "number", "arguments", "secure", "finish", "abort", "array", "reuse", "lend", "workspace",
    "late", "attach", "open", "hold", "fetch", "settle", "keep", "unlock.all",
    "release", "take", "poll", "chunk", "rounds",
    "matmul.float64", "matmul.float32",
    "large.float64", "large.float32", "mirror.float64", "mirror.float32",
)  # fmt: skip

WORD = {name: k for k, name in enumerate(WORDS)}

#: order of the descriptors behind the fixed words
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip

DESCR_START = len(WORDS)
#: then come the cells of implicit and updated inputs, the data of constants, the callables of nodes that run in Python,
#: the guards of what is updated, the list of kept arrays if results are lent, and a list of one link for each generator
VARIABLE_START = DESCR_START + len(DTYPES)


def descr_word(dtype: str) -> int:
    return DESCR_START + DTYPES.index(dtype)
