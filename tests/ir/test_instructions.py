"""The writer of LLVM IR: LLVM parses the text, and values are those of arithmetic."""

import ctypes
import re

import llvmlite.binding as llvm
import pytest

from aesara.ir.instructions import InstructionWriter, Value, literal, suffix, vector_of
from aesara.link.llvm.jit import optimized_text


def _run(w: InstructionWriter, result: Value, *numbers: int) -> int:
    """Run a function of integers ``%a``, ``%b``, ... and return its result."""
    names = ", ".join(f"i64 %{chr(97 + k)}" for k in range(len(numbers)))
    text = f"define i64 @f({names}) {{\n{w.text()}\nret {result.operand}\n}}"
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(numbers))(engine.get_function_address("f"))
    return function(*numbers)


def test_loop_carried_values():
    w = InstructionWriter()
    n = w.value("i64", "%a")
    start = [w.constant("i64", 0), w.constant("i64", 1), w.constant("i64", 1)]
    _, last, _ = w.loop(start, lambda k, *_: k < n, lambda k, x, y: [k + 1, y, x + y])
    assert [_run(w, last, k) for k in range(8)] == [1, 1, 2, 3, 5, 8, 13, 21]


def test_phis_of_nested_loops_and_branches():
    w = InstructionWriter()
    n, zero = w.value("i64", "%a"), w.constant("i64", 0)

    def row(i, total):
        _, inner = w.loop([zero, total], lambda j, _: j < i, lambda j, t: [j + 1, t + j])
        odd, after = w.names.label("odd"), w.names.label("after")
        before = w.block
        w.branch((i & 1).equals(1), odd, after)
        w.begin(odd)
        more = inner * 2
        w.jump(after)
        w.begin(after)
        joined = w.phi("i64", (inner, before), (more, odd))
        return [i + 1, joined]

    _, total = w.loop([zero, zero], lambda i, _: i < n, row)

    def expected(n):
        total = 0
        for i in range(n):
            total += sum(range(i))
            total *= 2 if i % 2 else 1
        return total

    assert [_run(w, total, n) for n in range(7)] == [expected(n) for n in range(7)]


@pytest.mark.parametrize("a, b", [(7, 3), (-7, 3), (0, -5), (2**63 - 1, 1)])
def test_operators(a, b):
    w = InstructionWriter()
    x, y = w.value("i64", "%a"), w.value("i64", "%b")
    parts = [x + y, x - y, 3 * x, -x, ~x, x ^ y, (x < y).select(x, y), x.shift_arithmetic(2), x >> 60, 5 - x]
    expected = [a + b, a - b, 3 * a, -a, ~a, a ^ b, min(a, b), a >> 2, (a % 2**64) >> 60, 5 - a]
    for part, number in zip(parts, expected, strict=True):
        assert _run(w, part, a, b) == (number + 2**63) % 2**64 - 2**63


def test_vectors_are_shuffled_and_compared():
    w = InstructionWriter()
    x = w.value("i64", "%a").splat(4) + w.value(vector_of("i64", 4), "<i64 0, i64 1, i64 2, i64 3>")
    turned = x.shuffle("poison", (3, 2, 1, 0))
    first = w.emit("i64", f"extractelement {(x < turned).select(x, turned * 10).operand}, i64 3")
    assert _run(w, first, 5) == 50


def test_operands_of_different_types_are_refused():
    w = InstructionWriter()
    with pytest.raises(TypeError, match="i64 and double"):
        w.value("i64", "%a") + w.value("double", "%b")
    with pytest.raises(TypeError, match="no such operation on double"):
        w.value("double", "%b") & 1
    with pytest.raises(TypeError, match="no truth value"):
        bool(w.value("i1", "%c"))


@pytest.mark.parametrize("kind, number", [("half", 65504.0), ("float", 0.1), ("double", -0.0), ("i1", 1), ("i8", -3)])
def test_literals_are_read_as_written(kind, number):
    text = f"define {kind} @f() {{\nret {kind} {literal(kind, number)}\n}}\n"
    value = literal(vector_of(kind, 2), number)
    text += f"define {vector_of(kind, 2)} @g() {{\nret {vector_of(kind, 2)} {value}\n}}"
    scalar, vector = re.findall(r"^ +ret (.*)", optimized_text(text), re.MULTILINE)
    assert vector == f"{vector_of(kind, 2)} splat ({scalar})"


def test_names_of_intrinsics():
    assert suffix(vector_of("float", 16)) == "v16f32"
    assert literal("<4 x double>", 0) == "zeroinitializer"
    assert literal("<4 x double>", -0.0).startswith("splat")
