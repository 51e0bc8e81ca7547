"""The function that reads the arguments of functions with many inputs."""

from aesara.ir.typed.function import typed_function
from aesara.ir.typed.operations import move_bytes, view
from aesara.ir.typed.types import Pointer, i1, i64, null, ptr
from aesara.link.llvm import layout
from aesara.link.llvm.runtime.structures import (
    CallFrame,
    FunctionTable,
    InputDescription,
    NdArray,
    PyList,
    PyObject,
    ReadArgument,
)

__all__ = ["read_arguments"]


@typed_function("ae.arguments")
def read_arguments(frame: CallFrame, table: FunctionTable, args: ptr, inputs: InputDescription, count: i64) -> i1:
    """Return whether the arguments fit the descriptions of the inputs; if `args` is null, the values in the cells.

    The objects, their data pointers and lengths are stored in the frame.
    """
    description = inputs
    for _ in range(count):
        if args != null:
            value = view(args, description.source_at, Pointer[PyObject])[0]
        else:
            cell = view(table, description.source_at, Pointer[PyList])[0]
            if cell.length <= 0:
                return False
            value = cell.items[0]
        read = view(frame, description.read_at, ReadArgument)
        read.object = value
        rank = description.rank
        lengths = read.lengths
        if value.type == table.PyArray_Type:
            array = view(value, 0, NdArray)
            descr = view(table, description.descr_at, Pointer[ptr])[0]
            if array.descr != descr or i64(array.ndim) != rank or array.flags & layout.PLAIN != layout.PLAIN:
                return False
            dims = array.dims
            static = description.lengths
            for d in range(rank):
                length = dims[d]
                if static[d] >= 0 and static[d] != length:
                    return False
                lengths[d] = length
            data = array.data
        else:
            kind = description.number
            if kind == 0:
                return False
            data = table.number(table, value, kind == layout.INTEGER, lengths)
            if data == null:
                return False
        if description.copied_bytes != 0:
            move_bytes(lengths, data, description.copied_bytes)
            data = lengths
        read.data = data
        description = view(description, 8 * rank + layout.INPUT_LENGTHS, InputDescription)
    return True
