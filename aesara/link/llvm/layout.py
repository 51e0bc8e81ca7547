"""Memory layout: CPython and NumPy object headers, and the table that compiled code accesses.

Compiled code contains no absolute address, so that it can be cached on disk. Everything outside of it is accessed
through the function's *table*, an array of 64-bit words whose ndarray is the `self` of the builtin. Code that is the
same for all functions is in the runtime (`runtime/`), which is called through the table as well. All offsets are in
bytes.
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
#: flags of arrays that compiled code reads, and of those that it may overwrite
PLAIN = C_CONTIGUOUS | ALIGNED
OWN = OWNDATA | WRITEABLE

#: header of a block of workspace: the next free block, this one's size, and the pointer to free
BLOCK_HEAD = 64
BLOCK_NEXT, BLOCK_SIZE, BLOCK_MEMORY = 0, 8, 16

#: words of `guards.state`, and of a guard
STATE_MAIN, STATE_NATIVE, STATE_PYTHON, STATE_PRODUCT, STATE_WORKERS = 0, 8, 16, 24, 32
GUARD_OWNER, GUARD_WANTED, GUARD_DEPTH, GUARD_BELL = 0, 8, 16, 24

#: maximum number of values in an error message
ERROR_VALUES = 8
#: numbers of errors other than checks: no memory for intermediate results; wrong arguments; no memory for result 0 (for
#: result 1 it is one less, and so on); an exception is set already; Python code has changed the memory of an array
NO_WORKSPACE, WRONG_ARGUMENTS, FIRST_LARGE_RESULT = -1, -2, -3
RAISED = -(2**31)
MOVED = RAISED + 1
#: other code has drawn from a generator that the call draws from
DRAWN = RAISED + 2

#: The *frame* of a call, on its stack (or on the heap, if values are spilled to it), is shared with the routines of
#: `runtime/`.  It begins with what is used without the GIL: the function that returns the end of the next chunk of a
#: loop, the table, and the time of the last check for signals; then come the number of the error, and its values.
FRAME_CHUNK, FRAME_TABLE, FRAME_TIME, FRAME_ERROR = 0, 8, 16, 24
#: All from here on is initialized to zero: the list of results, or the result if the call ends early; the block of
#: workspace; whether the call has guards; the number of references to shared values that it holds;
FRAME_ANSWER = FRAME_ERROR + 8 * (1 + ERROR_VALUES)
FRAME_BLOCK, FRAME_GUARDED, FRAME_HOLDING = FRAME_ANSWER + 8, FRAME_ANSWER + 16, FRAME_ANSWER + 24
#: the thread state while the GIL is released; the frame itself in the main thread meanwhile;
FRAME_THREAD, FRAME_WATCHER = FRAME_HOLDING + 8, FRAME_HOLDING + 16
#: the results, late blocks and result lists of Python nodes.  Then come references to shared values, and pins.
FRAME_PLACES = FRAME_WATCHER + 8

#: The *plan* of a function has the numbers of: explicit inputs; results (in total, returned), and their form; late
#: blocks; Python nodes
PLAN_EXPLICIT, PLAN_RESULTS, PLAN_RETURNED, PLAN_FORM, PLAN_LATE, PLAN_MADE = range(0, 48, 8)
#: guards: the first in the table, and their number; cells whose values are held: likewise, and their frame offset
PLAN_FIRST_GUARD, PLAN_GUARDS, PLAN_FIRST_CELL, PLAN_CELLS, PLAN_HELD = range(48, 88, 8)
#: offset in the frame of the pins of arguments and of values that are held
PLAN_PINS = 88
#: generators: their number, the offsets in the frame of their links and of the locks that the call holds; the number of
#: those with new words, and the offset in the plan of pairs of the numbers of the result and of the generator
PLAN_LINKS, PLAN_LINKED, PLAN_LOCKED, PLAN_DRAWN, PLAN_DRAWN_AT = range(96, 136, 8)
#: number of updates; then, for each, the number of its result and the offset of its cell in the table
PLAN_UPDATES, PLAN_FIRST_UPDATE = 136, 144

#: The *link* of a generator is a list of these words, and of the objects that they refer to: the generator; the offset
#: in it of its bit generator, and the bit generator; the size of its words; the functions that acquire and release its
#: lock; the header of its words; and the number of memory regions of the rest: for each its offset among the words, its
#: size, and its address
LINK_GENERATOR, LINK_PLACE, LINK_BITS, LINK_BYTES, LINK_TAKE, LINK_RELEASE, LINK_HEADER = range(0, 56, 8)
LINK_PIECES = LINK_HEADER + HEADER
LINK_FIRST = LINK_PIECES + 8
PIECE_PLACE, PIECE_SIZE, PIECE_AT, PIECE = range(0, 32, 8)

#: forms of the returned results
ONE, LIST, NONE = 0, 1, 2

#: Description of an input that is read by a routine: the offset of its object (among the arguments, or of its cell in
#: the table), the offset of its descriptor in the table, its rank, the accepted Python numbers; the size of the copy
#: to make (0: none); the offset in the frame to store these facts; and its static lengths (others are negative)
INPUT_FROM, INPUT_DESCR, INPUT_RANK, INPUT_NUMBER, INPUT_COPY, INPUT_PLACE, INPUT_LENGTHS = range(0, 56, 8)
#: accepted numbers; 0: none
FLOAT, INTEGER = 1, 2
#: what is stored: the object, its data pointer, and its lengths, or, for rank 0, 16 bytes of memory
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
    "release", "take", "poll", "chunk", "rounds", "slices", "accumulate",
    "matmul.float64", "matmul.float32",
    "large.float64", "large.float32", "mirror.float64", "mirror.float32",
)  # fmt: skip

WORD = {name: k for k, name in enumerate(WORDS)}

#: order of the descriptors after the fixed words
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip

DESCR_START = len(WORDS)
#: then come the cells of implicit and updated inputs, the data of constants, the callables of nodes that run in Python,
#: the guards of updated inputs, the list of kept arrays if results are lent, and a list of one link for each generator
VARIABLE_START = DESCR_START + len(DTYPES)


def descr_word(dtype: str) -> int:
    return DESCR_START + DTYPES.index(dtype)
