"""Memory of a call: new arrays and blocks of workspace. Functions return null if there is no memory."""

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import address_of, pointer_to, view
from aesara.ir.typed.types import Pointer, i32, i64, null, ptr
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.large_blocks import create_array
from aesara.link.llvm.runtime.structures import RUNTIME, CallFrame, FunctionTable, NdArray, WorkspaceBlock

__all__ = ["ALIGN", "allocate_block", "allocate_late_block", "get_workspace", "new_array"]

#: alignment of workspace in bytes
ALIGN = 64


@typed_function("ae.block", attributes=RUNTIME)
def allocate_block(table: FunctionTable, size: i64) -> WorkspaceBlock:
    """Allocate a block of workspace."""
    memory = table.PyMem_RawMalloc(size + ALIGN + layout.BLOCK_HEAD)
    if memory == null:
        return null
    block = pointer_to(address_of(memory) + ALIGN - 1 & -ALIGN, WorkspaceBlock)
    block.size = size
    block.memory = memory
    return block


@typed_function("ae.array", attributes=RUNTIME)
def new_array(table: FunctionTable, descr_at: i64, rank: i32, shape: Pointer[i64], data: ptr) -> NdArray:
    """Return a new ndarray that owns its memory, or a read-only view of `data`."""
    descr = view(table, descr_at, Pointer[ptr])[0]
    table.Py_IncRef(descr)
    flags = i32(0) if data == null else i32(layout.PLAIN)
    return create_array(table.PyArray_Type, descr, rank, shape, null, data, flags, null)


@typed_function("ae.workspace", attributes=RUNTIME)
def get_workspace(frame: CallFrame, table: FunctionTable, size: i64) -> ptr:
    """Return the memory of a block from the function's pool, or of a new one."""
    block: WorkspaceBlock = table.pool
    if block != null:
        table.pool = block.next
        if block.size < size:
            table.PyMem_RawFree(block.memory)
            block = null
    if block == null:
        # Larger sizes may follow.
        block = allocate_block(table, size + (size >> 2))
        if block == null:
            return null
    frame.block = block
    return block.content


@typed_function("ae.late", attributes=RUNTIME)
def allocate_late_block(frame: CallFrame, table: FunctionTable, place: i64, size: i64) -> ptr:
    """Return memory for an intermediate result, stored in the frame in place of that of a previous iteration."""
    slot = view(frame, place, Pointer[ptr])
    table.PyMem_RawFree(slot[0])
    slot[0] = table.PyMem_RawMalloc(size)
    return slot[0]
