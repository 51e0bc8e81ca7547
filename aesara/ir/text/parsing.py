"""Text to kernels and programs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from aesara.ir import expr as ir
from aesara.ir.expr import INDEX, PRIMITIVES, Expr
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
from aesara.ir.text.syntax import DTYPES, INFIX, KEYWORDS, RESERVED, IRSyntaxError

__all__ = ["parse_function", "parse_kernel", "parse_program"]

# -- tokens ----------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t]+|\#.*)
    | (?P<number>-?(?:inf\b|nan\b|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?))
    | (?P<bound>%\d+)
    | (?P<word>[A-Za-z_][A-Za-z0-9_.]*)
    | (?P<quoted>'(?:[^'\\]|\\.)*')
    | (?P<sign>->|<=|>=|==|!=|//|[-+*/<>&|^()\[\]{},:=@~?])
    """,
    re.VERBOSE,
)

_Token = tuple[str, str]  # kind, text
_END: _Token = ("end", "end of line")


class _Line:
    """One line's tokens, read from left to right; brackets may run over several lines."""

    def __init__(self, number: int, indent: int, tokens: list[_Token]) -> None:
        self.number, self.indent, self.tokens, self.at = number, indent, tokens, 0

    def fail(self, expected: str) -> NoReturn:
        raise IRSyntaxError(f"line {self.number}: expected {expected}, got {self.peek()[1]!r}")

    def peek(self, ahead: int = 0) -> _Token:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else _END

    def take(self) -> _Token:
        token = self.peek()
        self.at += 1
        return token

    def has(self, text: str) -> bool:
        """Take the next token if it is this sign or keyword."""
        if self.peek()[0] in ("word", "sign") and self.peek()[1] == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.has(text):
            self.fail(repr(text))

    def name(self, what: str = "a name") -> str:
        kind, text = self.peek()
        if kind == "quoted":
            self.at += 1
            return str(json.loads(f'"{text[1:-1]}"'))
        if kind != "word" or text in RESERVED:
            self.fail(what)
        self.at += 1
        return text

    def dtype(self) -> str:
        kind, text = self.peek()
        if kind != "word" or text not in DTYPES:
            self.fail("a dtype")
        self.at += 1
        return text

    def integer(self, what: str = "an integer") -> int:
        kind, text = self.peek()
        if kind != "number" or not text.lstrip("-").isdigit():
            self.fail(what)
        self.at += 1
        return int(text)

    def number_value(self) -> float:
        kind, text = self.peek()
        if kind != "number":
            self.fail("a number")
        self.at += 1
        return float(text)

    def finish(self) -> None:
        if self.peek() is not _END:
            self.fail("the end of the line")


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    depth = 0
    for number, row in enumerate(text.split("\n"), 1):
        tokens: list[_Token] = []
        at = 0
        while at < len(row):
            match = _TOKEN.match(row, at)
            if match is None:
                raise IRSyntaxError(f"line {number}: expected a name, number or sign, got {row[at]!r}")
            at = match.end()
            kind, piece = str(match.lastgroup), match.group()
            if kind == "number" and piece[0] == "-" and tokens and _ends_operand(tokens[-1]):
                tokens.append(("sign", "-"))
                piece = piece[1:]
            if kind == "number" and piece in ("inf", "nan") and row[at : at + 1] in ("_", "."):
                raise IRSyntaxError(f"line {number}: expected a name in quotes, got one that begins with {piece!r}")
            if kind != "space":
                tokens.append((kind, piece))
        if not tokens:
            continue
        if depth:
            lines[-1].tokens += tokens
        else:
            lines.append(_Line(number, len(row) - len(row.lstrip(" ")), tokens))
        depth += sum((t in "([{") - (t in ")]}") for kind, t in tokens if kind == "sign" and t in "([{)]}")
    return lines


def _ends_operand(token: _Token) -> bool:
    kind, text = token
    return (
        kind in ("number", "bound", "quoted")
        or text in (")", "]")
        or (kind == "word" and text not in KEYWORDS | frozenset(PRIMITIVES))
    )


# -- text to expressions ---------------------------------------------------------------------------------------


class _Frame:
    """An open bracket: what stands before it, and operands and signs that wait for what follows."""

    def __init__(self, kind: str, head: tuple[Any, ...] = ()) -> None:
        self.kind, self.head = kind, head
        self.args: list[Expr] = []
        self.operands: list[Expr] = []
        self.signs: list[str] = []


class _Reader:
    """Reads expressions; knows the dtypes of names, what each `%k` stands for, and the scalar functions by label."""

    def __init__(self, functions: dict[str, ScalarFunction]) -> None:
        self.functions = functions
        self.scalars: dict[str, str] = {}
        self.buffers: dict[str, str] = {}
        self.bound: dict[str, Expr] = {}

    def binding(self, line: _Line) -> bool:
        """Read the line if it is a `%k = ...`."""
        kind, name = line.peek()
        if kind != "bound":
            return False
        line.take()
        line.expect("=")
        self.bound[name] = self.expression(line)
        line.finish()
        return True

    def expression(self, line: _Line) -> Expr:
        """An expression, up to the first token that cannot belong to it (shunting-yard, so of any depth)."""
        frames = [_Frame("top")]
        while True:
            if not self._operand(line, frames):
                continue
            while True:
                frame = frames[-1]
                kind, text = line.peek()
                if kind == "sign" and text in INFIX:
                    self._reduce(frame, INFIX[text][1], line)
                    frame.signs.append(text)
                    line.take()
                    break
                self._reduce(frame, 0, line)
                (value,) = frame.operands
                if frame.kind == "top":
                    return value
                if frame.kind == "call" and line.has(","):
                    frame.args.append(value)
                    frame.operands = []
                    break
                line.expect("]" if frame.kind == "load" else ")")
                frames.pop()
                frames[-1].operands.append(self._closed(frame, value, line))

    def _operand(self, line: _Line, frames: list[_Frame]) -> bool:
        """Read an operand, or open a bracket; whether an operand is complete."""
        kind, text = line.peek()
        operands = frames[-1].operands
        if kind == "number":
            line.take()
            operands.append(self._number(line, text))
            return True
        if kind == "bound":
            if text not in self.bound:
                line.fail("a %k that has been set above")
            line.take()
            operands.append(self.bound[text])
            return True
        if line.has("("):
            frames.append(_Frame("group"))
            return False
        if line.has("@"):
            symbol, label = _label(line, "the symbol of a function")
            if line.has(":"):
                dtype = line.dtype()
                line.expect("(")
                return self._open(frames, ("call", symbol, dtype), line)
            if label not in self.functions:
                line.at -= 1
                line.fail("a function that stands below, or ':' and a dtype after the symbol of an external one")
            line.expect("(")
            function = self.functions[label]
            return self._open(frames, ("call", function, function.result.dtype), line)
        if kind == "word" and text in ("true", "false"):
            line.take()
            operands.append(ir.const(text == "true", "bool"))
            return True
        if kind == "word" and (text in PRIMITIVES or text in DTYPES) and line.peek(1) == ("sign", "("):
            line.take()
            line.take()
            return self._open(frames, ("cast", text) if text in DTYPES else ("primitive", text), line)
        name = line.name("an expression")
        written = None
        if line.peek() == ("sign", ":") and line.peek(1)[1] in DTYPES:
            line.take()
            written = line.dtype()
        if line.has("["):
            held = written or self.buffers.get(name)
            if held is None:
                line.fail(f"{name!r} to be a buffer")
            frames.append(_Frame("load", (name, held)))
            return False
        operands.append(ir.var(name, written or self.scalars.get(name, INDEX)))
        return True

    def _open(self, frames: list[_Frame], head: tuple[Any, ...], line: _Line) -> bool:
        frames.append(_Frame("call", head))
        if not line.has(")"):
            return False
        if head[0] != "call":
            line.fail("an operand")
        frames.pop()
        frames[-1].operands.append(ir.call(head[1], head[2], ()))
        return True

    @staticmethod
    def _number(line: _Line, text: str) -> Expr:
        whole = text.lstrip("-").isdigit()
        dtype = INDEX if whole else "float64"
        if line.peek() == ("sign", ":") and line.peek(1)[1] in DTYPES:
            line.take()
            dtype = line.dtype()
        if dtype.startswith("float"):
            return ir.const(float(text), dtype)
        if not whole:
            line.fail(f"a literal of {dtype} to be an integer")
        return ir.const(int(text), dtype)

    @staticmethod
    def _reduce(frame: _Frame, level: int, line: _Line) -> None:
        """Apply the waiting signs that bind at least as tightly."""
        while frame.signs and INFIX[frame.signs[-1]][1] >= level:
            right, left = frame.operands.pop(), frame.operands.pop()
            frame.operands.append(ir.op(INFIX[frame.signs.pop()][0], left, right))

    @staticmethod
    def _closed(frame: _Frame, value: Expr, line: _Line) -> Expr:
        if frame.kind == "group":
            return value
        if frame.kind == "load":
            return ir.load(frame.head[0], frame.head[1], value)
        args = [*frame.args, value]
        what, *rest = frame.head
        if what == "call":
            return ir.call(rest[0], rest[1], args)
        if what == "cast":
            if len(args) != 1:
                line.fail(f"one operand of the cast to {rest[0]}, not {len(args)}")
            return ir.cast(args[0], rest[0])
        if len(args) != PRIMITIVES[rest[0]][0]:
            line.fail(f"{PRIMITIVES[rest[0]][0]} operands of {rest[0]}, not {len(args)}")
        return ir.op(rest[0], *args)

    def listed(self, line: _Line, close: str) -> list[Expr]:
        """Expressions up to a closing bracket; the opening one has been read."""
        found: list[Expr] = []
        while not line.has(close):
            if found:
                line.expect(",")
            found.append(self.expression(line))
        return found

    def buffer(self, line: _Line) -> Buffer:
        name = line.name("the name of a buffer")
        line.expect(":")
        dtype = line.dtype()
        line.expect("[")
        shape = tuple(self.listed(line, "]"))
        return Buffer(name, dtype, shape, is_complex=line.has("complex"))


# -- text to kernels -------------------------------------------------------------------------------------------


def parse_kernel(text: str) -> Kernel:
    """The kernel that a text describes; the inverse of `print_kernel`.

    Raises
    ------
    IRSyntaxError
        If the text is no kernel.
    """
    lines = _lines(text)
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
    lines = _lines(text)
    if not lines:
        raise IRSyntaxError("line 1: expected 'function', got nothing")
    with ir.sharing():
        others, functions = _sections(lines, 0)
        if others or not functions:
            lines[others[0]].fail("'function'")
        *_, first = _read_functions(lines, functions).values()
    return first


def _sections(lines: list[_Line], start: int) -> tuple[list[int], list[int]]:
    """Numbers of the lines, from `start` on, at which kernels and functions begin: the least indented ones."""
    heads = [at for at in range(start, len(lines)) if lines[at].indent <= lines[0].indent]
    functions = [at for at in heads if lines[at].peek() == ("word", "function")]
    return [at for at in heads if at not in functions], functions


def _read_functions(lines: list[_Line], heads: list[int]) -> dict[str, ScalarFunction]:
    """The scalar functions that begin at these lines, by label; read from below, since callers stand above."""
    functions: dict[str, ScalarFunction] = {}
    for at in reversed(heads):
        label, function = _read_function(lines, at, functions)
        if label in functions:
            raise IRSyntaxError(f"line {lines[at].number}: expected another name, got function {label!r} again")
        functions[label] = function
    return functions


def _read_function(lines: list[_Line], at: int, functions: dict[str, ScalarFunction]) -> tuple[str, ScalarFunction]:
    line = lines[at]
    line.expect("function")
    name, label = _label(line, "the name of a function")
    reader = _Reader(functions)
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


def _read_scalar_param(line: _Line, reader: _Reader) -> ScalarParam:
    name = line.name("a parameter")
    line.expect(":")
    param = ScalarParam(name, line.dtype())
    reader.scalars[name] = param.dtype
    return param


def _read_kernel(lines: list[_Line], at: int, functions: dict[str, ScalarFunction]) -> tuple[str, Kernel, int]:
    """Label, kernel, and number of the line behind it."""
    line = lines[at]
    line.expect("kernel")
    name, label = _label(line)
    reader = _Reader(functions)
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


def _label(line: _Line, what: str = "the name of a kernel") -> tuple[str, str]:
    """A name, and the label that tells its bearer from others of that name."""
    name = line.name(what)
    return name, f"{name}~{line.integer() if line.has('~') else 0}"


def _read_body(
    lines: list[_Line], at: int, outer: int, reader: _Reader, is_function: bool = False
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


def _read_block(lines: list[_Line], at: int, reader: _Reader) -> tuple[Statement, int]:
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
    line.expect(":")
    line.finish()
    scalars = reader.scalars
    reader.scalars = scalars | {name: INDEX}
    body, end = _read_body(lines, at + 1, line.indent, reader)
    reader.scalars = scalars
    return For(name, extent, body, parallel, interleave), end


def _read_simple(line: _Line, reader: _Reader) -> Statement:
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
    lines = _lines(text)
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
    def __init__(self, lines: list[_Line]) -> None:
        kernels, functions = _sections(lines, 1)
        self.functions = _read_functions(lines, functions)
        self.lines, self.kernel_lines, self.reader = lines, kernels, _Reader(self.functions)
        self.kernels: dict[str, Kernel] = {}
        self.inputs: list[Input] = []
        self.constants: list[Buffer] = []
        self.slots: list[Slot] = []
        self.steps: list[Step] = []
        self.outputs: list[str] = []
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
            tuple(self.updates), self.returned, self.unpack_single,
        )  # fmt: skip

    def _entry(self, line: _Line) -> None:
        kind, word = line.peek()
        read = getattr(self, f"_read_{word}", None) if kind == "word" and word in KEYWORDS else None
        if read is None:
            line.fail("input, shared, constant, slot, a step, output, update or return")
        line.take()
        read(line)

    def _read_input(self, line: _Line, implicit: bool = False) -> None:
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

    def _read_shared(self, line: _Line) -> None:
        self._read_input(line, True)

    def _read_constant(self, line: _Line) -> None:
        buffer = self.reader.buffer(line)
        self.constants.append(buffer)
        self.reader.buffers[buffer.name] = buffer.dtype

    def _read_slot(self, line: _Line) -> None:
        if line.integer() != len(self.slots):
            line.at -= 1
            line.fail(f"slot {len(self.slots)}")
        line.expect(":")
        size = self.reader.expression(line)
        self.slots.append(Slot(size, line.has("late")))

    def _read_define(self, line: _Line) -> None:
        name = line.name("a size")
        line.expect("=")
        self.steps.append(Define(name, self.reader.expression(line)))

    def _read_check(self, line: _Line) -> None:
        condition = self.reader.expression(line)
        line.expect("else")
        line.expect("error")
        error = line.integer()
        values = self.reader.listed(line, ")") if line.has("(") else []
        self.steps.append(Check(condition, error, tuple(values)))

    def _read_allocate(self, line: _Line) -> None:
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

    def _read_view(self, line: _Line) -> None:
        buffer = self.reader.buffer(line)
        line.expect("in")
        base = line.name("the name of a buffer")
        line.expect("at")
        self.steps.append(View(buffer, base, self.reader.expression(line)))
        self.reader.buffers[buffer.name] = buffer.dtype

    def _read_loop(self, line: _Line) -> None:
        var = line.name("a variable")
        line.expect("<")
        extent = self.reader.expression(line)
        line.expect("count")
        count = line.name("a size")
        line.expect(":")
        self.open_loops.append(_OpenLoop(line.indent, var, extent, count, self.steps))
        self.steps = []

    def _read_until(self, line: _Line) -> None:
        if not self.open_loops:
            line.fail("a loop around this")
        self.open_loops[-1].until = self.reader.expression(line)

    def _end_loops(self, indent: int) -> None:
        """Close the loops whose bodies a line of this indentation is not in."""
        while self.open_loops and indent <= self.open_loops[-1].indent:
            loop = self.open_loops.pop()
            made = Loop(loop.var, loop.extent, tuple(self.steps), loop.count, loop.until)
            self.steps = [*loop.before, made]

    def _read_launch(self, line: _Line) -> None:
        _, label = _label(line)
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

    def _operand(self, line: _Line) -> Operand:
        buffer = line.name("a matrix")
        line.expect("(")
        place = self.reader.listed(line, ")")
        if len(place) != 3:
            line.fail("offset, row stride and column stride before this")
        return Operand(buffer, *place)

    def _read_matmul(self, line: _Line) -> None:
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
        alpha = line.number_value() if line.has("alpha") else 1.0
        beta = line.number_value() if line.has("beta") else 0.0
        batch = None
        if line.has("for"):
            if line.name("a variable") != BATCH.attr:
                line.at -= 1
                line.fail(f"{BATCH.attr!r}")
            line.expect("<")
            batch = self.reader.expression(line)
        self.steps.append(MatMul(dtype, *sizes, left, right, out, alpha, beta, batch))

    def _buffers(self, line: _Line) -> tuple[Buffer, ...]:
        line.expect("(")
        found: list[Buffer] = []
        while not line.has(")"):
            if found:
                line.expect(",")
            found.append(self.reader.buffer(line))
        return tuple(found)

    def _read_python(self, line: _Line) -> None:
        index = line.integer()
        operands = self._buffers(line)
        line.expect("->")
        results = self._buffers(line)
        self.steps.append(PythonCall(index, operands, results))
        self.reader.buffers.update({b.name: b.dtype for b in results})

    def _read_output(self, line: _Line) -> None:
        self.outputs.append(line.name("the name of a buffer"))

    def _read_update(self, line: _Line) -> None:
        line.expect("input")
        number = line.integer()
        line.expect("=")
        line.expect("output")
        self.updates.append((line.integer(), number))

    def _read_return(self, line: _Line) -> None:
        self.returned = line.integer()
        self.unpack_single = line.has("unpacked")
