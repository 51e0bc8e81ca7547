"""Structures that the runtime's functions read and write; `layout` has the offsets and describes the fields."""

from aesara.ir.typed.types import Inline, Pointer, Struct, f64, field, function_field, i1, i32, i64, ptr
from aesara.link.llvm import layout

__all__ = [
    "CallFrame", "CallPlan", "FunctionTable", "GeneratorLink", "GuardState", "InputDescription", "NdArray",
    "PyList", "PyObject", "RUNTIME", "ReadArgument", "SlicedLoop", "StateRegion", "VariableGuard", "Worker",
    "WorkerPool", "WorkerWatcher", "WorkspaceBlock",
]  # fmt: skip

#: attributes of functions that LLVM does not optimize: its passes would find little and take twice the time
RUNTIME = "noinline optnone nounwind"


class PyObject(Struct):
    """A Python object."""

    references: i32 = field(0)
    type: ptr = field(layout.OBJECT_TYPE)
    #: value of a float, or of a scalar of NumPy
    value: i64 = field(layout.NUMBER_VALUE)


class PyList(PyObject):
    """A list, such as the cell of a shared variable."""

    length: i64 = field(layout.LIST_LENGTH)
    items: Pointer[PyObject] = field(layout.LIST_ITEMS)


class NdArray(PyObject):
    """An ndarray."""

    data: ptr = field(layout.ARRAY_DATA)
    ndim: i32 = field(layout.ARRAY_NDIM)
    dims: Pointer[i64] = field(layout.ARRAY_DIMS)
    descr: ptr = field(layout.ARRAY_DESCR)
    flags: i32 = field(layout.ARRAY_FLAGS)


class WorkspaceBlock(Struct):
    """A block of workspace."""

    next: ptr = field(layout.BLOCK_NEXT)
    size: i64 = field(layout.BLOCK_SIZE)
    #: pointer to free
    memory: ptr = field(layout.BLOCK_MEMORY)
    #: the memory for a call
    content: Inline[f64] = field(layout.BLOCK_HEAD)


class GuardState(Struct):
    """State of all guards of the process."""

    main_thread: i64 = field(layout.STATE_MAIN)
    native_calls: i64 = field(layout.STATE_NATIVE)
    python_calls: i64 = field(layout.STATE_PYTHON)
    #: number of multiply-adds that may run without a check for signals
    uninterrupted_multiply_adds: i64 = field(layout.STATE_PRODUCT)
    #: the pool of threads
    workers: ptr = field(layout.STATE_WORKERS)


class Worker(Struct):
    """A thread of the pool."""

    #: 0, or the address of the loop that it is offered, or runs; see `slices`
    loop: i64 = field(0)
    #: locks that other threads release: it is offered a loop; that it releases: it has ended
    bell: ptr = field(8)
    done: ptr = field(16)


class WorkerPool(Struct):
    """The threads that take part in loops of others."""

    #: number of threads that a loop may use, with the one that calls; 0 if the pool is not started
    threads: i64 = field(0)
    #: number of calls that run a loop in slices
    callers: i64 = field(8)
    #: Python function that starts the threads
    starter: PyObject = field(16)
    acquire = function_field(24, i32, ptr, i32)
    release = function_field(32, None, ptr)
    #: least estimated work for each thread, in nanoseconds
    least_work: f64 = field(40)
    #: functions of `sharing`: one that ends the chunks of workers within an iteration; `share_loop`
    chunk: ptr = field(48)
    share = function_field(56, i64, ptr, ptr, ptr, i64, Pointer[i64], i64, f64)
    workers: Inline[Worker] = field(64)


class SlicedLoop(Struct):
    """A loop that several threads run."""

    #: function that runs a part of the loop, its form (see `slices`), and its arguments after the watcher
    function: ptr = field(0)
    form: i64 = field(8)
    arguments: Pointer[i64] = field(16)
    #: number of slices, and of iterations in a chunk
    slices: i64 = field(24)
    grain: i64 = field(32)
    #: whether workers shall end, since a handler of signals has raised
    stopped: i64 = field(40)
    #: for each slice, the first iteration that nobody has taken, and the end
    bounds: Inline[i64] = field(48)


class WorkerWatcher(Struct):
    """The watcher of a worker; see `emit_signals`."""

    chunk: ptr = field(0)
    loop: SlicedLoop = field(8)


class VariableGuard(Struct):
    """Guard of a shared variable that calls update."""

    owner: i64 = field(layout.GUARD_OWNER)
    wanted: i64 = field(layout.GUARD_WANTED)
    depth: i64 = field(layout.GUARD_DEPTH)
    bell: ptr = field(layout.GUARD_BELL)


class CallFrame(Struct):
    """The state of a call."""

    chunk: ptr = field(layout.FRAME_CHUNK)
    table: ptr = field(layout.FRAME_TABLE)
    time: i64 = field(layout.FRAME_TIME)
    error: i64 = field(layout.FRAME_ERROR)
    answer: PyObject = field(layout.FRAME_ANSWER)
    block: WorkspaceBlock = field(layout.FRAME_BLOCK)
    guarded: i64 = field(layout.FRAME_GUARDED)
    holding: i64 = field(layout.FRAME_HOLDING)
    thread: ptr = field(layout.FRAME_THREAD)
    watcher: ptr = field(layout.FRAME_WATCHER)
    #: results, late blocks and lists of Python nodes
    places: Inline[PyObject] = field(layout.FRAME_PLACES)


class CallPlan(Struct):
    """Constants of a function; names that end in `_at` are byte offsets in the frame, the table or the plan."""

    explicit: i64 = field(layout.PLAN_EXPLICIT)
    results: i64 = field(layout.PLAN_RESULTS)
    returned: i64 = field(layout.PLAN_RETURNED)
    form: i64 = field(layout.PLAN_FORM)
    late: i64 = field(layout.PLAN_LATE)
    made: i64 = field(layout.PLAN_MADE)
    first_guard_at: i64 = field(layout.PLAN_FIRST_GUARD)
    guards: i64 = field(layout.PLAN_GUARDS)
    first_cell_at: i64 = field(layout.PLAN_FIRST_CELL)
    cells: i64 = field(layout.PLAN_CELLS)
    held_at: i64 = field(layout.PLAN_HELD)
    pins_at: i64 = field(layout.PLAN_PINS)
    links: i64 = field(layout.PLAN_LINKS)
    linked_at: i64 = field(layout.PLAN_LINKED)
    locked_at: i64 = field(layout.PLAN_LOCKED)
    drawn: i64 = field(layout.PLAN_DRAWN)
    drawn_at: i64 = field(layout.PLAN_DRAWN_AT)
    updates: i64 = field(layout.PLAN_UPDATES)
    #: for each update, the number of its result and the offset of its cell in the table
    first_update: Inline[i64] = field(layout.PLAN_FIRST_UPDATE)


class GeneratorLink(Struct):
    """The words that the link of a generator begins with."""

    bits: i64 = field(layout.LINK_BITS)
    acquire: PyObject = field(layout.LINK_TAKE)
    release: PyObject = field(layout.LINK_RELEASE)
    header: Inline[i64] = field(layout.LINK_HEADER)
    regions: i64 = field(layout.LINK_PIECES)
    first_region: Inline[i64] = field(layout.LINK_FIRST)


class StateRegion(Struct):
    """A memory region of the state of a generator: its offset among the words, size in bytes, and address."""

    offset: i64 = field(layout.PIECE_PLACE)
    size: i64 = field(layout.PIECE_SIZE)
    address: ptr = field(layout.PIECE_AT)


class InputDescription(Struct):
    """Description of an input."""

    source_at: i64 = field(layout.INPUT_FROM)
    descr_at: i64 = field(layout.INPUT_DESCR)
    rank: i64 = field(layout.INPUT_RANK)
    number: i64 = field(layout.INPUT_NUMBER)
    copied_bytes: i64 = field(layout.INPUT_COPY)
    read_at: i64 = field(layout.INPUT_PLACE)
    lengths: Inline[i64] = field(layout.INPUT_LENGTHS)


class ReadArgument(Struct):
    """Facts about an argument that was read."""

    object: PyObject = field(layout.READ_OBJECT)
    data: ptr = field(layout.READ_DATA)
    lengths: Inline[i64] = field(layout.READ_LENGTHS)


def _word(name: str) -> int:
    return 8 * layout.WORD[name]


class FunctionTable(Struct):
    """The table of a function: what it needs from outside, and its state."""

    #: the first free block of workspace
    pool: ptr = field(_word("pool"))
    PyArray_Type: ptr = field(_word("PyArray_Type"))
    PyFloat_Type: ptr = field(_word("PyFloat_Type"))
    Float64_Type: ptr = field(_word("Float64_Type"))
    PyLong_Type: ptr = field(_word("PyLong_Type"))
    Int64_Type: ptr = field(_word("Int64_Type"))
    Py_None: PyObject = field(_word("Py_None"))
    Py_IncRef = function_field(_word("Py_IncRef"), None, PyObject)
    Py_DecRef = function_field(_word("Py_DecRef"), None, PyObject)
    PyObject_Vectorcall = function_field(_word("PyObject_Vectorcall"), PyObject, PyObject, ptr, i64, ptr)
    PyMem_RawMalloc = function_field(_word("PyMem_RawMalloc"), ptr, i64)
    PyMem_RawFree = function_field(_word("PyMem_RawFree"), None, ptr)
    PyLong_AsLongLong = function_field(_word("PyLong_AsLongLong"), i64, PyObject)
    PyLong_FromVoidPtr = function_field(_word("PyLong_FromVoidPtr"), PyObject, ptr)
    PyErr_Occurred = function_field(_word("PyErr_Occurred"), ptr)
    PyErr_Clear = function_field(_word("PyErr_Clear"), None)
    PyErr_Fetch = function_field(_word("PyErr_Fetch"), None, ptr, ptr, ptr)
    PyErr_Restore = function_field(_word("PyErr_Restore"), None, ptr, ptr, ptr)
    PyEval_SaveThread = function_field(_word("PyEval_SaveThread"), ptr)
    PyEval_RestoreThread = function_field(_word("PyEval_RestoreThread"), None, ptr)
    PyErr_CheckSignals = function_field(_word("PyErr_CheckSignals"), i32)
    PyThread_get_thread_ident: ptr = field(_word("PyThread_get_thread_ident"))
    clock: ptr = field(_word("clock"))
    PyThread_release_lock = function_field(_word("PyThread_release_lock"), None, ptr)
    PyWeakref_NewRef = function_field(_word("PyWeakref_NewRef"), PyObject, PyObject, ptr)
    #: Python functions: the reference for arguments that compiled code cannot read, the report of an error, and the
    #: wait for guards
    fallback: PyObject = field(_word("fallback"))
    fail: PyObject = field(_word("fail"))
    wait: PyObject = field(_word("wait"))
    state: GuardState = field(_word("state"))
    #: functions of the runtime in other modules
    number = function_field(_word("number"), ptr, ptr, PyObject, i1, ptr)
    array = function_field(_word("array"), NdArray, ptr, i64, i32, Pointer[i64], ptr)
    keep = function_field(_word("keep"), None, CallFrame, ptr, CallPlan)
    unlock_all = function_field(_word("unlock.all"), None, CallFrame, ptr, CallPlan)
    chunk: ptr = field(_word("chunk"))
