"""Guards of shared variables that a call updates, and references to their values."""

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import call_pointer, view
from aesara.ir.typed.types import Pointer, function_type, i1, i64, null, ptr
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.structures import (
    RUNTIME,
    CallFrame,
    CallPlan,
    FunctionTable,
    PyList,
    PyObject,
    VariableGuard,
)
from aesara.link.llvm.runtime.threads import thread_number

__all__ = ["release_guards", "secure"]

#: the entry point of a function
_ENTRY = function_type(PyObject, PyObject, ptr, i64, ptr)


@typed_function("ae.secure", attributes=RUNTIME)
def secure(
    frame: CallFrame, plan: CallPlan, careful: i1, entry_point: ptr, self: PyObject, args: ptr, nargs: i64, names: ptr
) -> i1:
    """Take guards, if the function updates and needs them, and hold references to shared values if `careful`.

    Returns whether to go on; otherwise the frame has the result of a repeated call of the entry after waiting.
    """
    table: FunctionTable = view(self, layout.ARRAY_DATA, Pointer[FunctionTable])[0]
    if plan.guards != 0:
        state = table.state
        # While no guards are held, a call that keeps the GIL needs none.
        if (careful or state.native_calls != 0 or state.python_calls != 0) and not _take_guards(frame, table, plan):
            answer: PyObject = null
            state.native_calls += 1
            waited = table.PyObject_Vectorcall(table.wait, null, 0, null)
            if waited == null:
                state.native_calls -= 1
            else:
                # Values read before are outdated.
                table.Py_DecRef(waited)
                frame.guarded = 1
                answer = call_pointer(_ENTRY, entry_point, self, args, nargs, names)
            table.Py_DecRef(frame.answer)
            release_guards(frame, table, plan)
            frame.answer = answer
            return False
    if careful:
        cells = view(table, plan.first_cell_at, Pointer[PyList])
        held = view(frame, plan.held_at, Pointer[PyObject])
        for k in range(plan.cells):
            # The user may have emptied the cell of an argument that is updated.
            value: PyObject = null
            cell = cells[k]
            if cell.length > 0:
                value = cell.items[0]
                table.Py_IncRef(value)
            held[k] = value
        frame.holding = plan.cells
    return True


@typed_function("ae.guards.take", attributes=RUNTIME)
def _take_guards(frame: CallFrame, table: FunctionTable, plan: CallPlan) -> i1:
    """Take all guards if none is held or wanted by others; return whether they were taken."""
    guards = view(table, plan.first_guard_at, Pointer[VariableGuard])
    thread = thread_number(table)
    for k in range(plan.guards):
        guard = guards[k]
        if guard.owner != thread and (guard.owner != 0 or guard.wanted != 0):
            return False
    for k in range(plan.guards):
        guard = guards[k]
        guard.owner = thread
        guard.depth += 1
    table.state.native_calls += 1
    frame.guarded = 1
    return True


@typed_function("ae.guards.give", attributes=RUNTIME)
def release_guards(frame: CallFrame, table: FunctionTable, plan: CallPlan) -> None:
    """Release the guards of the call."""
    if frame.guarded == 0:
        return
    frame.guarded = 0
    table.state.native_calls -= 1
    guards = view(table, plan.first_guard_at, Pointer[VariableGuard])
    for k in range(plan.guards):
        guard = guards[k]
        guard.depth -= 1
        if guard.depth == 0:
            guard.owner = 0
            if guard.bell != null:
                table.PyThread_release_lock(guard.bell)
