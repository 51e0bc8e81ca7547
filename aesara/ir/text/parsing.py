"""Parser of kernels, scalar functions and the parts of steps."""

from __future__ import annotations

from collections.abc import Iterator

from aesara.ir import expr as ir
from aesara.ir.buffers import Buffer, Operand
from aesara.ir.expr import INDEX, Expr
from aesara.ir.function import ScalarFunction
from aesara.ir.kernel import (
    Assign,
    BufferParam,
    Declare,
    For,
    If,
    Kernel,
    ScalarParam,
    Statement,
    Store,
    While,
)
from aesara.ir.symbols import DefinedSize
from aesara.ir.text.reading import Line, Reader, label_of, lines_of
from aesara.ir.text.syntax import IRSyntaxError

__all__ = ["StepReader", "parse_function", "parse_kernel"]

# -- text to kernels -------------------------------------------------------------------------------------------


def parse_kernel(text: str) -> Kernel:
    """Parse a kernel; the inverse of `print_kernel`.

    Raises
    ------
    IRSyntaxError
        If the text is not a kernel.
    """
    lines = lines_of(text)
    if not lines:
        raise IRSyntaxError("line 1: expected 'kernel', got nothing")
    with ir.sharing():
        kernels, functions = _find_sections(lines, 1)
        _, kernel, end = _read_kernel(lines, 0, _read_functions(lines, functions))
    for at in (end, *kernels):
        if at not in (len(lines), *functions):
            lines[at].fail("the end of the kernel, or a function")
    return kernel


def parse_function(text: str) -> ScalarFunction:
    """Parse a scalar function and those that it calls; the inverse of `print_function`.

    Raises
    ------
    IRSyntaxError
        If the text is not a function.

    Examples
    --------
    >>> parse_function('''
    ... function twice(x: float64) -> float64:
    ...     return x * 2.0
    ... ''').name
    'twice'
    """
    lines = lines_of(text)
    if not lines:
        raise IRSyntaxError("line 1: expected 'function', got nothing")
    with ir.sharing():
        others, functions = _find_sections(lines, 0)
        if others or not functions:
            lines[others[0]].fail("'function'")
        *_, first = _read_functions(lines, functions).values()
    return first


def _find_sections(lines: list[Line], start: int) -> tuple[list[int], list[int]]:
    """Return the indices of the lines, from `start` on, at which kernels and functions begin (the least indented)."""
    heads = [at for at in range(start, len(lines)) if lines[at].indent <= lines[0].indent]
    functions = [at for at in heads if lines[at].peek() == ("word", "function")]
    return [at for at in heads if at not in functions], functions


def _read_functions(lines: list[Line], heads: list[int]) -> dict[str, ScalarFunction]:
    """Parse the scalar functions at these lines, by label; last one first, since callers precede callees."""
    functions: dict[str, ScalarFunction] = {}
    for at in reversed(heads):
        label, function = _read_function(lines, at, functions)
        if label in functions:
            raise IRSyntaxError(f"line {lines[at].number}: expected another name, got function {label!r} again")
        functions[label] = function
    return functions


def _read_function(lines: list[Line], at: int, functions: dict[str, ScalarFunction]) -> tuple[str, ScalarFunction]:
    line = lines[at]
    line.expect("function")
    name, label = label_of(line, "the name of a function")
    reader = Reader(functions)
    params: list[ScalarParam] = []
    line.expect("(")
    while not line.has(")"):
        if params:
            line.expect(",")
        params.append(_read_scalar_param(line, reader))
    line.expect("->")
    dtype = line.dtype()
    line.expect(":")
    line.finish()
    body, end = _read_body(lines, at + 1, line.indent, reader, is_function=True)
    if end == len(lines) or lines[end].indent <= line.indent:
        raise IRSyntaxError(f"line {line.number}: expected a 'return' as the last line of function {name!r}")
    last = lines[end]
    last.expect("return")
    result = reader.expression(last)
    last.finish()
    if result.dtype != dtype:
        raise IRSyntaxError(f"line {last.number}: expected a value of {dtype}, got one of {result.dtype}")
    if end + 1 < len(lines) and lines[end + 1].indent > line.indent:
        lines[end + 1].fail("the end of the function after 'return'")
    return label, ScalarFunction(name, tuple(params), body, result)


def _read_scalar_param(line: Line, reader: Reader) -> ScalarParam:
    name = line.name("a parameter")
    line.expect(":")
    param = ScalarParam(name, line.dtype())
    reader.scalars[name] = param.dtype
    return param


def _read_kernel(lines: list[Line], at: int, functions: dict[str, ScalarFunction]) -> tuple[str, Kernel, int]:
    """Parse a kernel; return its label, the kernel, and the index of the next line."""
    line = lines[at]
    line.expect("kernel")
    name, label = label_of(line)
    reader = Reader(functions)
    params: list[BufferParam | ScalarParam] = []
    line.expect("(")
    while not line.has(")"):
        if params:
            line.expect(",")
        param = line.name("a parameter")
        line.expect(":")
        dtype = line.dtype()
        if line.has("["):
            line.expect("]")
            params.append(BufferParam(param, dtype, line.has("written"), line.has("aliased")))
            reader.buffers[param] = dtype
        else:
            params.append(ScalarParam(param, dtype))
            reader.scalars[param] = dtype
    line.expect(":")
    line.finish()
    body, end = _read_body(lines, at + 1, line.indent, reader)
    return label, Kernel(name, tuple(params), body), end


def _read_body(
    lines: list[Line], at: int, outer: int, reader: Reader, is_function: bool = False
) -> tuple[tuple[Statement, ...], int]:
    """Parse statements; return them and the index of the next line.

    A function's body ends at its `return`, where its scalars stay visible.
    """
    body: list[Statement] = []
    scalars = dict(reader.scalars)
    indent = lines[at].indent if at < len(lines) else 0
    while at < len(lines) and lines[at].indent > outer:
        line = lines[at]
        if line.indent != indent:
            raise IRSyntaxError(f"line {line.number}: expected {indent} spaces of indentation, got {line.indent}")
        if reader.binding(line):
            at += 1
            continue
        if is_function and line.peek() == ("word", "return"):
            return tuple(body), at
        if line.peek()[1] in ("for", "parallel", "independent", "if", "while") and line.peek()[0] == "word":
            statement, at = _read_block(lines, at, reader)
            body.append(statement)
            continue
        body.append(_read_simple(line, reader))
        line.finish()
        at += 1
    reader.scalars = scalars
    return tuple(body), at


def _read_block(lines: list[Line], at: int, reader: Reader) -> tuple[Statement, int]:
    line = lines[at]
    for word, kind in (("if", If), ("while", While)):
        if line.has(word):
            condition = reader.expression(line)
            line.expect(":")
            line.finish()
            body, end = _read_body(lines, at + 1, line.indent, reader)
            return kind(condition, body), end
    parallel, independent = line.has("parallel"), line.has("independent")
    line.expect("for")
    name = line.name("a loop variable")
    line.expect("<")
    extent = reader.expression(line)
    interleave = line.integer() if line.has("interleave") else 1
    lanes: list[int] = []
    if line.has("lanes"):
        lanes.append(line.integer())
        while line.has(","):
            lanes.append(line.integer())
    until = line.name("a scalar") if line.has("until") else ""
    line.expect(":")
    line.finish()
    scalars = reader.scalars
    reader.scalars = scalars | {name: INDEX}
    body, end = _read_body(lines, at + 1, line.indent, reader)
    reader.scalars = scalars
    return For(name, extent, body, parallel, interleave, tuple(lanes), until, independent), end


def _read_simple(line: Line, reader: Reader) -> Statement:
    if line.has("let"):
        name = line.name("a scalar")
        line.expect("=")
        value = reader.expression(line)
        reader.scalars[name] = value.dtype
        return Declare(name, value)
    distinct = line.has("distinct")
    name = line.name("a statement")
    if distinct or line.peek()[1] == "[":
        line.expect("[")
        offset = reader.expression(line)
        line.expect("]")
        line.expect("=")
        return Store(name, offset, reader.expression(line), distinct)
    line.expect("=")
    value = reader.expression(line)
    reassociate = line.has(",")
    if reassociate:
        line.expect("reassociate")
    return Assign(name, value, reassociate)


# -- text to steps ---------------------------------------------------------------------------------------------


class StepReader:
    """Parser of the parts of steps, for their `read` methods.

    Parameters
    ----------
    lines
        Those of a program.
    """

    def __init__(self, lines: list[Line]) -> None:
        kernels, functions = _find_sections(lines, 1)
        self._functions = _read_functions(lines, functions)
        self._lines, self._kernel_lines, self._reader = lines, kernels, Reader(self._functions, DefinedSize)
        self._at = 1
        self._kernels: dict[str, Kernel] = {}

    def read_kernels(self) -> None:
        """Parse the kernels of the program, which stand after its steps."""
        for at in self._kernel_lines:
            label, kernel, _ = _read_kernel(self._lines, at, self._functions)
            if label in self._kernels:
                raise IRSyntaxError(f"line {self._lines[at].number}: expected another name, got kernel {label!r} again")
            self._kernels[label] = kernel

    def lines_inside(self, head: Line) -> Iterator[Line]:
        """Iterate over the lines indented more than `head`, without bindings of `%k`."""
        while self._at < len(self._lines) and self._lines[self._at].indent > head.indent:
            line = self._lines[self._at]
            self._at += 1
            if not self._reader.binding(line):
                yield line

    def expression(self, line: Line) -> Expr:
        """Parse an expression."""
        return self._reader.expression(line)

    def parse_list(self, line: Line) -> list[Expr]:
        """Parse expressions up to a closing bracket; the opening one has been read."""
        return self._reader.parse_list(line, ")")

    def buffer(self, line: Line) -> Buffer:
        """Parse a buffer with its dtype and shape."""
        return self._reader.buffer(line)

    def buffers(self, line: Line) -> tuple[Buffer, ...]:
        """Parse buffers in brackets."""
        line.expect("(")
        found: list[Buffer] = []
        while not line.has(")"):
            if found:
                line.expect(",")
            found.append(self.buffer(line))
        return tuple(found)

    def operand(self, line: Line) -> Operand:
        """Parse an operand."""
        buffer = line.name("the name of a buffer")
        line.expect("(")
        place = self.parse_list(line)
        if not place:
            line.fail("an offset before this")
        return Operand(buffer, place[0], tuple(place[1:]))

    def kernel(self, line: Line) -> Kernel:
        """Return the kernel with the label that follows."""
        _, label = label_of(line)
        if label not in self._kernels:
            line.at -= 1
            line.fail(f"the name of a kernel defined below ({', '.join(self._kernels) or 'there are none'})")
        return self._kernels[label]

    def declare_loop_variable(self, variable: str) -> None:
        """Declare a loop variable, which is not a size."""
        self._reader.sizes[variable] = variable

    def define_buffers(self, *buffers: Buffer) -> None:
        """Record that buffers are defined."""
        self._reader.buffers.update({b.name: b.dtype for b in buffers})
