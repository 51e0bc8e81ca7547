"""The arrays that a call returns."""

from __future__ import annotations

from aesara.ir.buffers import Buffer
from aesara.ir.program import Program
from aesara.ir.steps import Allocate
from aesara.link.llvm import layout
from aesara.link.llvm.frame import first_kept
from aesara.link.llvm.host_code import HostCode
from aesara.link.llvm.shared.large_blocks import LARGE

__all__ = ["initial_values", "kind_and_shape", "make_array"]


def make_array(code: HostCode, program: Program, step: Allocate, output: int, old: str | None, lonely: str) -> str:
    """Make the array of a result; returns a pointer to it, or null.

    Parameters
    ----------
    old, lonely
        The object whose memory may be taken (`Allocate.reuse`), and how many references it has if nobody else sees it.
    """
    if old is None and output not in program.lent:
        return _new_array(code, step.buffer)
    arguments = ["ptr %table", *kind_and_shape(code, step.buffer)]
    if old is not None:
        # Nobody else can see the memory if the cell (and this call, if it holds values) have the only references and
        # the array owns its data.
        arguments += [f"ptr {old}", f"i32 {lonely}", f"ptr {initial_values(code, program, step)}"]
        return code.call("reuse", "ptr", *arguments, f"i64 {code.value(step.buffer.bytes)}")
    items = code.field(code.word(code.frame.words.kept), layout.LIST_ITEMS)
    places = code.at(items, first_kept(program, output), "ptr")
    return code.call("lend", "ptr", *arguments, f"ptr {places}")


def _new_array(code: HostCode, buffer: Buffer) -> str:
    """Emit the work of the routine ``array``, which large arrays are left to: small ones need a call less."""
    descriptor, rank, shape = kind_and_shape(code, buffer)
    if buffer.bytes.is_const:
        large = "true" if buffer.bytes.attr >= LARGE else "false"
    else:
        large = code.compare("sge", "i64", code.value(buffer.bytes), str(LARGE))
    if large == "false":
        return _small_array(code, buffer, rank, shape)
    many, few, made = code.label("large"), code.label("small"), code.label("made")
    code.branch(large, many, few, likely=few)
    found = []
    code.block(many)
    found.append((code.call("array", "ptr", "ptr %table", descriptor, rank, shape, "ptr null"), code.writer.block))
    code.writer.jump(made)
    code.block(few)
    found.append((_small_array(code, buffer, rank, shape), code.writer.block))
    code.writer.jump(made)
    code.block(made)
    return code.writer.phi("ptr", *found).name


def _small_array(code: HostCode, buffer: Buffer, rank: str, shape: str) -> str:
    descr, kind = code.word(layout.descr_word(buffer.outer_dtype)), code.word("PyArray_Type")
    code.call("Py_IncRef", "void", f"ptr {descr}")
    given = (f"ptr {kind}", f"ptr {descr}", rank, shape, "ptr null", "ptr null", "i32 0", "ptr null")
    return code.call("PyArray_NewFromDescr", "ptr", *given)


def initial_values(code: HostCode, program: Program, step: Allocate) -> str:
    """Where the values are that a result starts with."""
    if step.initial is None:
        return "null"
    return code.emitter.buffer(program.inputs[step.initial].buffer.name)


def kind_and_shape(code: HostCode, buffer: Buffer) -> tuple[str, str, str]:
    """What routines want to know of the ndarray for a buffer: the descriptor, the rank and the shape."""
    for d, n in enumerate(buffer.outer_shape):
        code.set_field("%dims", 8 * d, code.value(n), "i64")
    return f"i64 {8 * layout.descr_word(buffer.outer_dtype)}", f"i32 {len(buffer.outer_shape)}", "ptr %dims"
