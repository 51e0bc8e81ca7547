"""Allocation of result arrays."""

from __future__ import annotations

from aesara.ir.buffers import Buffer
from aesara.ir.program import Program
from aesara.ir.steps import Allocate
from aesara.link.llvm import layout
from aesara.link.llvm.frame import first_kept
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.runtime.large_blocks import LARGE

__all__ = ["initial_values", "kind_and_shape", "make_array"]


def make_array(code: HostCode, program: Program, step: Allocate, output: int, old: str | None, lonely: str) -> str:
    """Allocate the array of a result; return a pointer to it, or null.

    Parameters
    ----------
    old, lonely
        The object whose memory may be taken over (`Allocate.reuse`), and its reference count if it is not shared.
    """
    if old is None and output not in program.lent:
        return _new_array(code, step.buffer)
    arguments = ["ptr %table", *kind_and_shape(code, step.buffer)]
    if old is not None:
        # The memory is not shared if only the cell (and this call, if it holds values) refer to the array and the array
        # owns its data.
        arguments += [f"ptr {old}", f"i32 {lonely}", f"ptr {initial_values(code, program, step)}"]
        return code.call("reuse", "ptr", *arguments, f"i64 {code.value(step.buffer.bytes)}")
    items = code.field(code.word(code.frame.words.kept), layout.LIST_ITEMS)
    kept_arrays = code.at(items, first_kept(program, output), "ptr")
    return code.call("lend", "ptr", *arguments, f"ptr {kept_arrays}")


def _new_array(code: HostCode, buffer: Buffer) -> str:
    """Allocate an array inline if it is small, otherwise by the routine ``array``."""
    descriptor, rank, shape = kind_and_shape(code, buffer)
    if buffer.bytes.is_const:
        large = "true" if buffer.bytes.attr >= LARGE else "false"
    else:
        large = code.compare("sge", "i64", code.value(buffer.bytes), str(LARGE))
    if large == "false":
        return _small_array(code, buffer, rank, shape)
    large_block, small_block, made = code.label("large"), code.label("small"), code.label("made")
    code.branch(large, large_block, small_block, likely=small_block)
    incoming = []
    code.block(large_block)
    incoming.append((code.call("array", "ptr", "ptr %table", descriptor, rank, shape, "ptr null"), code.writer.block))
    code.writer.jump(made)
    code.block(small_block)
    incoming.append((_small_array(code, buffer, rank, shape), code.writer.block))
    code.writer.jump(made)
    code.block(made)
    return code.writer.phi("ptr", *incoming).name


def _small_array(code: HostCode, buffer: Buffer, rank: str, shape: str) -> str:
    descr, kind = code.word(layout.descr_word(buffer.outer_dtype)), code.word("PyArray_Type")
    code.call("Py_IncRef", "void", f"ptr {descr}")
    arguments = (f"ptr {kind}", f"ptr {descr}", rank, shape, "ptr null", "ptr null", "i32 0", "ptr null")
    return code.call("PyArray_NewFromDescr", "ptr", *arguments)


def initial_values(code: HostCode, program: Program, step: Allocate) -> str:
    """Return the pointer to the initial values of a result."""
    if step.initial is None:
        return "null"
    return code.pointer_to(program.inputs[step.initial].buffer.name)


def kind_and_shape(code: HostCode, buffer: Buffer) -> tuple[str, str, str]:
    """Return arguments of routines that allocate an ndarray: descriptor, rank and shape."""
    for d, n in enumerate(buffer.outer_shape):
        code.set_field("%dims", 8 * d, code.value(n), "i64")
    return f"i64 {8 * layout.descr_word(buffer.outer_dtype)}", f"i32 {len(buffer.outer_shape)}", "ptr %dims"
