"""Tokenizer, and parser of expressions."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from aesara.ir import expr as ir
from aesara.ir.buffers import Buffer
from aesara.ir.expr import INDEX, Expr
from aesara.ir.function import ScalarFunction
from aesara.ir.routines.special import special_named
from aesara.ir.text.syntax import DTYPES, INFIX, KEYWORDS, RESERVED, IRSyntaxError
from aesara.primitives import PRIMITIVES

__all__ = ["Line", "Reader", "label_of", "lines_of"]

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


class Line:
    """The tokens of a line, read from left to right; brackets may span several lines."""

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
        """Consume the next token if it is this sign or keyword; return whether it was."""
        if self.peek()[0] in ("word", "sign") and self.peek()[1] == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.has(text):
            self.fail(repr(text))

    def name(self, expected: str = "a name") -> str:
        kind, text = self.peek()
        if kind == "quoted":
            self.at += 1
            return str(json.loads(f'"{text[1:-1]}"'))
        if kind != "word" or text in RESERVED:
            self.fail(expected)
        self.at += 1
        return text

    def dtype(self) -> str:
        kind, text = self.peek()
        if kind != "word" or text not in DTYPES:
            self.fail("a dtype")
        self.at += 1
        return text

    def integer(self, expected: str = "an integer") -> int:
        kind, text = self.peek()
        if kind != "number" or not text.lstrip("-").isdigit():
            self.fail(expected)
        self.at += 1
        return int(text)

    def finish(self) -> None:
        if self.peek() is not _END:
            self.fail("the end of the line")


def lines_of(text: str) -> list[Line]:
    lines: list[Line] = []
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
            lines.append(Line(number, len(row) - len(row.lstrip(" ")), tokens))
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
    """An open bracket: its head, and operands and operators that are not applied yet."""

    def __init__(self, kind: str, head: tuple[Any, ...] = ()) -> None:
        self.kind, self.head = kind, head
        self.args: list[Expr] = []
        self.operands: list[Expr] = []
        self.signs: list[str] = []


class Reader:
    """Parser of expressions; knows the dtypes of names, the expressions named `%k`, and scalar functions by label.

    `sizes` and `memories` map names of scalars and buffers to their symbols; `unknown` makes symbols of other scalars.
    """

    def __init__(self, functions: dict[str, ScalarFunction], unknown: type[str] = str) -> None:
        self.functions, self.unknown = functions, unknown
        self.sizes: dict[str, str] = {}
        self.memories: dict[str, str] = {}
        self.scalars: dict[str, str] = {}
        self.buffers: dict[str, str] = {}
        self.bound: dict[str, Expr] = {}

    def binding(self, line: Line) -> bool:
        """Parse the line if it is a `%k = ...`; return whether it was."""
        kind, name = line.peek()
        if kind != "bound":
            return False
        line.take()
        line.expect("=")
        self.bound[name] = self.expression(line)
        line.finish()
        return True

    def expression(self, line: Line) -> Expr:
        """Parse an expression, up to the first token that is not part of it (shunting-yard, without recursion)."""
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
                frames[-1].operands.append(self._close(frame, value, line))

    def _operand(self, line: Line, frames: list[_Frame]) -> bool:
        """Parse an operand, or open a bracket; return whether an operand is complete."""
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
            symbol, label = label_of(line, "the symbol of a function")
            if line.has(":"):
                external = special_named(symbol)
                if external is None:
                    line.fail("the symbol of a function that a library has")
                dtype = line.dtype()
                line.expect("(")
                return self._open(frames, ("call", external, dtype), line)
            if label not in self.functions:
                line.at -= 1
                line.fail("a function defined below, or ':' and a dtype after the symbol of an external one")
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
            dtype_of_elements = written or self.buffers.get(name)
            if dtype_of_elements is None:
                line.fail(f"{name!r} to be a buffer")
            frames.append(_Frame("load", (self.memories.get(name, name), dtype_of_elements)))
            return False
        dtype = written or self.scalars.get(name, INDEX)
        operands.append(ir.var(self.sizes[name] if name in self.sizes else self.unknown(name), dtype))
        return True

    def _open(self, frames: list[_Frame], head: tuple[Any, ...], line: Line) -> bool:
        frames.append(_Frame("call", head))
        if not line.has(")"):
            return False
        if head[0] != "call":
            line.fail("an operand")
        frames.pop()
        frames[-1].operands.append(ir.call(head[1], head[2], ()))
        return True

    @staticmethod
    def _number(line: Line, text: str) -> Expr:
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
    def _reduce(frame: _Frame, level: int, line: Line) -> None:
        """Apply pending operators of at least this precedence."""
        while frame.signs and INFIX[frame.signs[-1]][1] >= level:
            right, left = frame.operands.pop(), frame.operands.pop()
            frame.operands.append(ir.op(INFIX[frame.signs.pop()][0], left, right))

    @staticmethod
    def _close(frame: _Frame, value: Expr, line: Line) -> Expr:
        if frame.kind == "group":
            return value
        if frame.kind == "load":
            return ir.load(frame.head[0], frame.head[1], value)
        args = [*frame.args, value]
        kind, *rest = frame.head
        if kind == "call":
            return ir.call(rest[0], rest[1], args)
        if kind == "cast":
            if len(args) != 1:
                line.fail(f"one operand of the cast to {rest[0]}, not {len(args)}")
            return ir.cast(args[0], rest[0])
        if len(args) != PRIMITIVES[rest[0]].operands:
            line.fail(f"{PRIMITIVES[rest[0]].operands} operands of {rest[0]}, not {len(args)}")
        return ir.op(rest[0], *args)

    def parse_list(self, line: Line, close: str) -> list[Expr]:
        """Parse expressions up to a closing bracket; the opening one has been read."""
        found: list[Expr] = []
        while not line.has(close):
            if found:
                line.expect(",")
            found.append(self.expression(line))
        return found

    def buffer(self, line: Line) -> Buffer:
        name = line.name("the name of a buffer")
        line.expect(":")
        dtype = line.dtype()
        line.expect("[")
        shape = tuple(self.parse_list(line, "]"))
        return Buffer(name, dtype, shape, is_complex=line.has("complex"))


def label_of(line: Line, expected: str = "the name of a kernel") -> tuple[str, str]:
    """Parse a name, and return it and the label that makes it unique."""
    name = line.name(expected)
    return name, f"{name}~{line.integer() if line.has('~') else 0}"
