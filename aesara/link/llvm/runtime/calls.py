"""Prologue and epilogue of a call: arguments that are not arrays, result or exception."""

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import allocate, view
from aesara.ir.typed.types import Pointer, f64, i1, i64, null, ptr, u64
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.guards import release_guards
from aesara.link.llvm.runtime.structures import RUNTIME, CallFrame, CallPlan, FunctionTable, PyList, PyObject
from aesara.link.llvm.runtime.threads import drop, take_gil

__all__ = ["abort", "finish", "is_second_attempt", "number", "refuse"]

#: integers up to this size are floats exactly
_EXACT = 2**53


@typed_function("ae.strict", attributes=RUNTIME)
def is_second_attempt(self: PyObject, args: Pointer[PyObject], nargs: i64, names: ptr, plan: CallPlan) -> i1:
    """Return whether the arguments are right in number and followed by the table: the fallback has run already."""
    return nargs == plan.explicit + 1 and names == null and args[plan.explicit] == self


@typed_function("ae.refuse", attributes=f"{RUNTIME} cold")
def refuse(
    frame: CallFrame, self: PyObject, args: Pointer[PyObject], nargs: i64, names: ptr, plan: CallPlan
) -> PyObject:
    """Return the result of the Python fallback; null, with an exception, if it has run already."""
    table: FunctionTable = view(self, layout.ARRAY_DATA, Pointer[FunctionTable])[0]
    table.Py_DecRef(frame.answer)
    if is_second_attempt(self, args, nargs, names, plan):
        frame.error = layout.WRONG_ARGUMENTS
        return _report(frame, table, plan, args)
    return table.PyObject_Vectorcall(table.fallback, args, nargs, names)


@typed_function("ae.number", attributes=RUNTIME)
def number(table: FunctionTable, object: PyObject, integer: i1, place: ptr) -> ptr:
    """Return a pointer to a Python number as int64 or float64, in the object or at `place`; null for other objects."""
    kind = object.type
    if not integer and (kind == table.PyFloat_Type or kind == table.Float64_Type):
        return view(object, layout.NUMBER_VALUE, ptr)
    value = 0
    if kind == table.PyLong_Type:
        value = table.PyLong_AsLongLong(object)
        if value == -1 and table.PyErr_Occurred() != null:
            table.PyErr_Clear()
            return null
    elif kind == table.Int64_Type:
        value = object.value
    else:
        return null
    if integer:
        view(place, 0, Pointer[i64])[0] = value
        return place
    if u64(value + _EXACT) > 2 * _EXACT:
        return null
    view(place, 0, Pointer[f64])[0] = f64(value)
    return place


@typed_function("ae.report", attributes=f"{RUNTIME} cold")
def _report(frame: CallFrame, table: FunctionTable, plan: CallPlan, args: Pointer[PyObject]) -> PyObject:
    """Call Python with the address of the error and the arguments, to raise or to return another result."""
    count = plan.explicit + 1
    arguments = allocate(PyObject, count)
    address = table.PyLong_FromVoidPtr(view(frame, layout.FRAME_ERROR, ptr))
    if address == null:
        return null
    arguments[0] = address
    for k in range(plan.explicit):
        arguments[k + 1] = args[k]
    answer = table.PyObject_Vectorcall(table.fail, arguments, count, null)
    table.Py_DecRef(address)
    return answer


@typed_function("ae.finish", attributes=RUNTIME)
def finish(frame: CallFrame, table: FunctionTable, plan: CallPlan) -> PyObject:
    """Store updates, release the call's resources and return the result."""
    results = frame.places
    answer = frame.answer
    if plan.form == layout.LIST:
        items = view(answer, 0, PyList).items
        for k in range(plan.returned):
            items[k] = results[k]
    elif plan.form == layout.NONE:
        answer = table.Py_None
        table.Py_IncRef(answer)
    else:
        answer = results[0]
    updates = plan.first_update
    for u in range(plan.updates):
        result = updates[2 * u]
        new = results[result]
        if result < plan.returned:
            table.Py_IncRef(new)
        cell = view(table, updates[2 * u + 1], Pointer[PyList])[0]
        # The user may have emptied the cell meanwhile.
        if cell.length > 0:
            items = cell.items
            results[result] = items[0]
            items[0] = new
    if plan.drawn != 0:
        table.keep(frame, table, plan)
    # Freeing an old value may run Python code, which must see all new values.
    release_guards(frame, table, plan)
    for u in range(plan.updates):
        table.Py_DecRef(results[updates[2 * u]])
    _leave(frame, table, plan)
    return answer


@typed_function("ae.leave", attributes=RUNTIME)
def _leave(frame: CallFrame, table: FunctionTable, plan: CallPlan) -> None:
    """Release the workspace, late blocks, results of Python nodes, references to shared values, and links."""
    block = frame.block
    if block != null:
        block.next = table.pool
        table.pool = block
    late = frame.places + plan.results
    for k in range(plan.late):
        table.PyMem_RawFree(late[k])
    drop(table, late + plan.late, plan.made)
    drop(table, view(frame, plan.held_at, Pointer[PyObject]), frame.holding)
    drop(table, view(frame, plan.linked_at, Pointer[PyObject]), plan.links)


@typed_function("ae.abort", attributes=f"{RUNTIME} cold")
def abort(frame: CallFrame, table: FunctionTable, plan: CallPlan, args: Pointer[PyObject]) -> PyObject:
    """Release the resources of a call that fails; raise the error in the frame and return null, or return the result of
    the reference."""
    take_gil(frame, table, plan)
    if plan.links != 0:
        # The report of a failure may read generators.
        table.unlock_all(frame, table, plan)
    result: PyObject = null
    if frame.error != layout.RAISED:
        # The report replaces an exception that the C API may have set.
        table.PyErr_Clear()
        result = _report(frame, table, plan, args)
    drop(table, frame.places, plan.results)
    table.Py_DecRef(frame.answer)
    release_guards(frame, table, plan)
    _leave(frame, table, plan)
    return result
