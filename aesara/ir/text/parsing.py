"""Text to kernels, scalar functions and programs."""

from __future__ import annotations

from aesara.ir import expr as ir
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
from aesara.ir.program import (
    BATCH,
    Allocate,
    Buffer,
    Check,
    Define,
    Input,
    Launch,
    Loop,
    MatMul,
    Operand,
    Program,
    PythonCall,
    Slot,
    Step,
    View,
)
from aesara.ir.text.reading import Line, Reader, label_of, lines_of
from aesara.ir.text.syntax import KEYWORDS, IRSyntaxError
from aesara.records import dataclass

__all__ = ["parse_function", "parse_kernel", "parse_program"]

# -- text to kernels -------------------------------------------------------------------------------------------


def parse_kernel(text: str) -> Kernel:
    """The kernel that a text describes; the inverse of `print_kernel`.

    Raises
    ------
    IRSyntaxError
        If the text is no kernel.
    """
    lines = lines_of(text)
    if not lines:
        raise IRSyntaxError("line 1: expected 'kernel', got nothing")
    with ir.sharing():
        kernels, functions = _sections(lines, 1)
        _, kernel, end = _read_kernel(lines, 0, _read_functions(lines, functions))
    for at in (end, *kernels):
        if at not in (len(lines), *functions):
            lines[at].fail("the end of the kernel, or a function")
    return kernel


def parse_function(text: str) -> ScalarFunction:
    """The scalar function that a text describes, with those that it calls below; the inverse of `print_function`.

    Raises
    ------
    IRSyntaxError
        If the text is no function.

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
        others, functions = _sections(lines, 0)
        if others or not functions:
            lines[others[0]].fail("'function'")
        *_, first = _read_functions(lines, functions).values()
    return first


def _sections(lines: list[Line], start: int) -> tuple[list[int], list[int]]:
    """Numbers of the lines, from `start` on, at which kernels and functions begin: the least indented ones."""
    heads = [at for at in range(start, len(lines)) if lines[at].indent <= lines[0].indent]
    functions = [at for at in heads if lines[at].peek() == ("word", "function")]
    return [at for at in heads if at not in functions], functions


def _read_functions(lines: list[Line], heads: list[int]) -> dict[str, ScalarFunction]:
    """The scalar functions that begin at these lines, by label; read from below, since callers stand above."""
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
    """Label, kernel, and number of the line behind it."""
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
    """Statements, and the number of the line behind them; a function's body ends at its `return`, with scalars kept."""
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
        if line.peek()[1] in ("for", "parallel", "if", "while") and line.peek()[0] == "word":
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
    parallel = line.has("parallel")
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
    line.expect(":")
    line.finish()
    scalars = reader.scalars
    reader.scalars = scalars | {name: INDEX}
    body, end = _read_body(lines, at + 1, line.indent, reader)
    reader.scalars = scalars
    return For(name, extent, body, parallel, interleave, tuple(lanes)), end


def _read_simple(line: Line, reader: Reader) -> Statement:
    if line.has("let"):
        name = line.name("a scalar")
        line.expect("=")
        value = reader.expression(line)
        reader.scalars[name] = value.dtype
        return Declare(name, value)
    name = line.name("a statement")
    if line.has("["):
        offset = reader.expression(line)
        line.expect("]")
        line.expect("=")
        return Store(name, offset, reader.expression(line))
    line.expect("=")
    value = reader.expression(line)
    reassociate = line.has(",")
    if reassociate:
        line.expect("reassociate")
    return Assign(name, value, reassociate)


# -- text to programs ------------------------------------------------------------------------------------------


def parse_program(text: str) -> Program:
    """The program that a text describes; the inverse of `print_program`.

    Raises
    ------
    IRSyntaxError
        If the text is no program.
    """
    lines = lines_of(text)
    if not lines:
        raise IRSyntaxError("line 1: expected 'program', got nothing")
    with ir.sharing():
        return _ProgramReader(lines).program()


@dataclass
class _OpenLoop:
    """A loop whose body is being read, and the steps in front of it."""

    indent: int
    var: str
    extent: Expr
    count: str
    before: list[Step]
    until: Expr | None = None


class _ProgramReader:
    def __init__(self, lines: list[Line]) -> None:
        kernels, functions = _sections(lines, 1)
        self.functions = _read_functions(lines, functions)
        self.lines, self.kernel_lines, self.reader = lines, kernels, Reader(self.functions)
        self.kernels: dict[str, Kernel] = {}
        self.inputs: list[Input] = []
        self.constants: list[Buffer] = []
        self.slots: list[Slot] = []
        self.steps: list[Step] = []
        self.outputs: list[str] = []
        self.lent: list[int] = []
        self.updates: list[tuple[int, int]] = []
        self.returned = 0
        self.unpack_single = False
        self.open_loops: list[_OpenLoop] = []

    def program(self) -> Program:
        head = self.lines[0]
        head.expect("program")
        head.finish()
        end = next((k for k, line in enumerate(self.lines) if k and line.indent <= head.indent), len(self.lines))
        for at in self.kernel_lines:
            label, kernel, _ = _read_kernel(self.lines, at, self.functions)
            if label in self.kernels:
                raise IRSyntaxError(f"line {self.lines[at].number}: expected another name, got kernel {label!r} again")
            self.kernels[label] = kernel
        for line in self.lines[1:end]:
            self._end_loops(line.indent)
            if not self.reader.binding(line):
                self._entry(line)
                line.finish()
        self._end_loops(0)
        return Program(
            tuple(self.inputs), tuple(self.constants), tuple(self.slots), tuple(self.steps), tuple(self.outputs),
            tuple(self.updates), self.returned, self.unpack_single, tuple(self.lent),
        )  # fmt: skip

    def _entry(self, line: Line) -> None:
        kind, word = line.peek()
        read = getattr(self, f"_read_{word}", None) if kind == "word" and word in KEYWORDS else None
        if read is None:
            line.fail("input, shared, constant, slot, a step, output, update or return")
        line.take()
        read(line)

    def _read_input(self, line: Line, implicit: bool = False) -> None:
        buffer = self.reader.buffer(line)
        static: tuple[int | None, ...] = tuple(n.attr if n.is_const else None for n in buffer.outer_shape)
        if line.has("static"):
            line.expect("[")
            sizes: list[int | None] = []
            while not line.has("]"):
                if sizes:
                    line.expect(",")
                sizes.append(None if line.has("?") else line.integer("a length or '?'"))
            static = tuple(sizes)
        self.inputs.append(Input(buffer, static, implicit))
        self.reader.buffers[buffer.name] = buffer.dtype

    def _read_shared(self, line: Line) -> None:
        self._read_input(line, True)

    def _read_constant(self, line: Line) -> None:
        buffer = self.reader.buffer(line)
        self.constants.append(buffer)
        self.reader.buffers[buffer.name] = buffer.dtype

    def _read_slot(self, line: Line) -> None:
        if line.integer() != len(self.slots):
            line.at -= 1
            line.fail(f"slot {len(self.slots)}")
        line.expect(":")
        size = self.reader.expression(line)
        self.slots.append(Slot(size, line.has("late")))

    def _read_define(self, line: Line) -> None:
        name = line.name("a size")
        line.expect("=")
        self.steps.append(Define(name, self.reader.expression(line)))

    def _read_check(self, line: Line) -> None:
        condition = self.reader.expression(line)
        line.expect("else")
        line.expect("error")
        error = line.integer()
        values = self.reader.listed(line, ")") if line.has("(") else []
        self.steps.append(Check(condition, error, tuple(values)))

    def _read_allocate(self, line: Line) -> None:
        buffer = self.reader.buffer(line)
        slot = output = reuse = initial = None
        if line.has("in"):
            line.expect("slot")
            slot = line.integer()
        if line.has("as"):
            line.expect("output")
            output = line.integer()
        if line.has("or"):
            line.expect("input")
            reuse = line.integer()
        if line.has("holding"):
            line.expect("input")
            initial = line.integer()
        self.steps.append(Allocate(buffer, output=output, reuse=reuse, initial=initial, slot=slot))
        self.reader.buffers[buffer.name] = buffer.dtype

    def _read_view(self, line: Line) -> None:
        buffer = self.reader.buffer(line)
        line.expect("in")
        base = line.name("the name of a buffer")
        line.expect("at")
        self.steps.append(View(buffer, base, self.reader.expression(line)))
        self.reader.buffers[buffer.name] = buffer.dtype

    def _read_loop(self, line: Line) -> None:
        var = line.name("a variable")
        line.expect("<")
        extent = self.reader.expression(line)
        line.expect("count")
        count = line.name("a size")
        line.expect(":")
        self.open_loops.append(_OpenLoop(line.indent, var, extent, count, self.steps))
        self.steps = []

    def _read_until(self, line: Line) -> None:
        if not self.open_loops:
            line.fail("a loop around this")
        self.open_loops[-1].until = self.reader.expression(line)

    def _end_loops(self, indent: int) -> None:
        """Close the loops whose bodies a line of this indentation is not in."""
        while self.open_loops and indent <= self.open_loops[-1].indent:
            loop = self.open_loops.pop()
            made = Loop(loop.var, loop.extent, tuple(self.steps), loop.count, loop.until)
            self.steps = [*loop.before, made]

    def _read_launch(self, line: Line) -> None:
        _, label = label_of(line)
        if label not in self.kernels:
            line.at -= 1
            line.fail(f"the name of a kernel that stands below ({', '.join(self.kernels) or 'there are none'})")
        line.expect("(")
        kernel = self.kernels[label]
        arguments: list[str | Expr] = []
        while not line.has(")"):
            if arguments:
                line.expect(",")
            at = len(arguments)
            wants_buffer = at < len(kernel.params) and isinstance(kernel.params[at], BufferParam)
            if line.has("["):
                arguments.append(line.name("the name of a buffer"))
                line.expect("]")
            elif wants_buffer and line.peek() != ("sign", "("):
                arguments.append(line.name("the name of a buffer"))
            else:
                arguments.append(self.reader.expression(line))
        self.steps.append(Launch(kernel, tuple(arguments)))

    def _operand(self, line: Line) -> Operand:
        buffer = line.name("a matrix")
        line.expect("(")
        place = self.reader.listed(line, ")")
        if len(place) != 3:
            line.fail("offset, row stride and column stride before this")
        return Operand(buffer, *place)

    def _read_matmul(self, line: Line) -> None:
        out = self._operand(line)
        line.expect("=")
        left = self._operand(line)
        line.expect("@")
        right = self._operand(line)
        sizes = []
        for word in ("rows", "inner", "columns"):
            line.expect(word)
            sizes.append(self.reader.expression(line))
        line.expect("of")
        dtype = line.dtype()
        alpha: float | Expr = 1.0
        if line.has("alpha"):
            alpha = self.reader.expression(line) if line.peek() == ("sign", "(") else line.number_value()
        beta = line.number_value() if line.has("beta") else 0.0
        batch = None
        if line.has("for"):
            if line.name("a variable") != BATCH.attr:
                line.at -= 1
                line.fail(f"{BATCH.attr!r}")
            line.expect("<")
            batch = self.reader.expression(line)
        self.steps.append(MatMul(dtype, sizes[0], sizes[1], sizes[2], left, right, out, alpha, beta, batch))

    def _buffers(self, line: Line) -> tuple[Buffer, ...]:
        line.expect("(")
        found: list[Buffer] = []
        while not line.has(")"):
            if found:
                line.expect(",")
            found.append(self.reader.buffer(line))
        return tuple(found)

    def _read_python(self, line: Line) -> None:
        index = line.integer()
        operands = self._buffers(line)
        line.expect("->")
        results = self._buffers(line)
        self.steps.append(PythonCall(index, operands, results))
        self.reader.buffers.update({b.name: b.dtype for b in results})

    def _read_output(self, line: Line) -> None:
        self.outputs.append(line.name("the name of a buffer"))
        if line.has("lent"):
            self.lent.append(len(self.outputs) - 1)

    def _read_update(self, line: Line) -> None:
        line.expect("input")
        number = line.integer()
        line.expect("=")
        line.expect("output")
        self.updates.append((line.integer(), number))

    def _read_return(self, line: Line) -> None:
        self.returned = line.integer()
        self.unpack_single = line.has("unpacked")
