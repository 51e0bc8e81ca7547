"""The small pieces that the text of an entry point is made of: branches, words of the table, calls through it."""

from __future__ import annotations

from aesara.ir.expr import Expr
from aesara.link.llvm.clock import system_clock
from aesara.link.llvm.emit_kernel import Emitter, Metadata
from aesara.link.llvm.layout import WORD
from aesara.link.llvm.primitives import Module

__all__ = ["HostCode"]


class HostCode:
    """Writes the text of a function whose table is ``%table``."""

    def __init__(self, written: frozenset[str]) -> None:
        self.module, self.metadata = Module(), Metadata()
        self.emitter = Emitter(self.module, self.metadata, written)
        self.code = self.emitter.scopes[0].code
        self.allocas: list[str] = []

    def add(self, *lines: str) -> None:
        self.emitter.scopes[-1].code.extend(lines)

    def fresh(self, stem: str = "t") -> str:
        return self.emitter.fresh(stem)

    def label(self, stem: str) -> str:
        return self.fresh(stem)[1:]

    def block(self, label: str) -> None:
        self.add(f"{label}:")
        self.emitter.scopes[-1].block = label

    def variable(self, name: str, kind: str = "ptr", initial: str = "null") -> None:
        """A place on the stack that holds `initial` at first."""
        self.allocas += [f"%{name} = alloca {kind}", f"store {kind} {initial}, ptr %{name}"]

    def read(self, name: str, kind: str = "ptr") -> str:
        """What is in a place on the stack."""
        out = self.fresh("s")
        self.add(f"{out} = load {kind}, ptr %{name}")
        return out

    def field(self, pointer: str, offset: int, kind: str = "ptr") -> str:
        address, out = self.fresh("f"), self.fresh("x")
        self.add(f"{address} = getelementptr i8, ptr {pointer}, i64 {offset}", f"{out} = load {kind}, ptr {address}")
        return out

    def set_field(self, pointer: str, offset: int, value: str, kind: str = "ptr") -> None:
        address = self.fresh("f")
        self.add(f"{address} = getelementptr i8, ptr {pointer}, i64 {offset}", f"store {kind} {value}, ptr {address}")

    def word(self, name: str | int, kind: str = "ptr") -> str:
        return self.field("%table", 8 * (WORD[name] if isinstance(name, str) else name), kind)

    def set_word(self, name: str, value: str, kind: str = "i64") -> None:
        self.set_field("%table", 8 * WORD[name], value, kind)

    def branch(self, condition: str, yes: str, no: str, likely: str | None = None) -> None:
        note = ""
        if likely is not None:
            note = ", !prof !0" if likely == yes else ", !prof !1"
        self.add(f"br i1 {condition}, label %{yes}, label %{no}{note}")

    def demand(self, condition: str, otherwise: str) -> None:
        """Go on if the condition holds."""
        on = self.label("ok")
        self.branch(condition, on, otherwise, likely=on)
        self.block(on)

    def value(self, e: Expr) -> str:
        return self.emitter.value(e)

    def call(self, function: str, result: str, *arguments: str) -> str:
        pointer = self.word(function)
        if result == "void":
            self.add(f"call void {pointer}({', '.join(arguments)})")
            return ""
        out = self.fresh("r")
        self.add(f"{out} = call {result} {pointer}({', '.join(arguments)})")
        return out

    def call_python(self, function: str | int, arguments: str = "null", count: str = "0", names: str = "null") -> str:
        """Call the Python object that is a word of the table."""
        callee = self.word(function)
        return self.call(
            "PyObject_Vectorcall", "ptr", f"ptr {callee}", f"ptr {arguments}", f"i64 {count}", f"ptr {names}"
        )

    def compare(self, predicate: str, kind: str, a: str, b: str) -> str:
        out = self.fresh("c")
        self.add(f"{out} = {'fcmp' if kind == 'double' else 'icmp'} {predicate} {kind} {a}, {b}")
        return out

    def clock(self) -> str:
        """The time in ticks (an i64); 0 where there is no clock."""
        clock = system_clock()
        if clock is None:
            return "0"
        now = self.fresh("now")
        self.allocas.append(f"{now} = alloca [2 x i64]")
        number = "" if clock.number is None else f"i32 {clock.number}, "
        self.add(f"{self.fresh('r')} = call i32 {self.word('clock')}({number}ptr {now})")
        if clock.number is None:
            return self.field(now, 0, "i64")
        seconds, nanoseconds = self.field(now, 0, "i64"), self.field(now, 8, "i64")
        scaled, total = self.fresh("t"), self.fresh("t")
        self.add(f"{scaled} = mul i64 {seconds}, 1000000000", f"{total} = add i64 {scaled}, {nanoseconds}")
        return total

    @staticmethod
    def ticks(seconds: float) -> int:
        """Seconds in ticks of the clock."""
        clock = system_clock()
        return 0 if clock is None else round(seconds / clock.tick)
