"""The pool of workspace of a function that is called by pointer, from any threads at the same time.

An entry of the pool is a word of the table with a block, or 0.  A call takes a block by an atomic exchange with 0, and
puts it back where it finds 0.
"""

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import address_of, atomic_load, compare_exchange, exchange, pointer_to, view
from aesara.ir.typed.types import Pointer, i64, null, ptr, u64
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.memory import allocate_block
from aesara.link.llvm.runtime.structures import CallFrame, FunctionTable, WorkspaceBlock

__all__ = ["ENTRIES", "STRIDE", "give_block", "take_block"]

#: number of entries, and their distance in words, which puts them in different cache lines
ENTRIES, STRIDE = 32, 8
_INDEX_BITS = ENTRIES.bit_length() - 1
_FIRST = 8 * layout.VARIABLE_START
#: 2**64 divided by the golden ratio, an odd number
_MULTIPLIER = 11400714819323198485


@typed_function("pool.first")
def _first_entry(frame: CallFrame) -> i64:
    """Return the entry to begin with, a hash of the frame's address: stacks of threads are far apart."""
    return i64(u64(address_of(frame) >> 16) * _MULTIPLIER >> 64 - _INDEX_BITS)


@typed_function("pool.place")
def _entry(table: FunctionTable, number: i64) -> Pointer[i64]:
    return view(table, (number & ENTRIES - 1) * (8 * STRIDE) + _FIRST, Pointer[i64])


@typed_function("pool.take", attributes="noinline nounwind")
def take_block(frame: CallFrame, table: FunctionTable, size: i64) -> ptr:
    """Return the memory of a block from the pool, or of a new one; null if there is no memory."""
    first = _first_entry(frame)
    block: WorkspaceBlock = null
    for k in range(ENTRIES):
        entry = _entry(table, first + k)
        # Look before the exchange, which takes the cache line from other processors.
        if atomic_load(entry) != 0:
            block = pointer_to(exchange(entry, 0), WorkspaceBlock)
            if block != null:
                break
    if block != null:
        if block.size < size:
            table.PyMem_RawFree(block.memory)
            block = null
    if block == null:
        block = allocate_block(table, size)
        if block == null:
            return null
    frame.block = block
    return block.content


@typed_function("pool.give")
def give_block(frame: CallFrame, table: FunctionTable) -> None:
    """Put the block of a call, if it has one, back into the pool, or free it if the pool is full."""
    block = frame.block
    if block == null:
        return
    first = _first_entry(frame)
    for k in range(ENTRIES):
        if compare_exchange(_entry(table, first + k), 0, address_of(block)):
            return
    table.PyMem_RawFree(block.memory)
