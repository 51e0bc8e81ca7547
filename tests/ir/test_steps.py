"""Every class of steps describes itself, and its answers match its effects.

`examples` has steps of each class; what is said of one is compared with what it holds, with what it does on the
reference machine, and with its text.  A class without an example fails.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aesara
from aesara.ir.buffers import Buffer, Operand, Slot, longest
from aesara.ir.expr import Expr, cast, const, load, op, sharing, var
from aesara.ir.interpret import CheckFailed, IllegalAccess
from aesara.ir.interpret.memory import Memory, garbage_array
from aesara.ir.interpret.programs import ProgramMachine
from aesara.ir.kernel import BufferParam, For, Kernel, ScalarParam, Store
from aesara.ir.program import Input, Program
from aesara.ir.routines import routine_named
from aesara.ir.steps import (
    BATCH,
    STEPS,
    Allocate,
    Call,
    Check,
    Define,
    HandOver,
    Iterate,
    Launch,
    PythonCall,
    Step,
    View,
    walk_steps,
)
from aesara.ir.symbols import ArgumentName, DefinedSize, InputSize
from aesara.ir.text import IRSyntaxError, parse_program, print_program
from aesara.ir.text.syntax import KEYWORDS
from aesara.ir.verify import IRError
from aesara.ir.verify_program import verify_program

S, I, N = var(InputSize(0, 0, longest("float64", 1), "s0")), var("i"), var("n")
H1 = var(DefinedSize("h1"))
NO, TRUE = const(False, "bool"), const(True, "bool")
#: inputs of every program here: three numbers, two, a single integer, and a shared variable of two
A = Buffer("a", "float64", (S,))
B = Buffer("b", "float64", (const(2),))
K = Buffer("k", "int64", ())
W = Buffer("w", "float64", (const(2),))
VALUES = [np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0]), np.array(2), np.array([-1.0, -2.0])]
SLOTS = (Slot(const(16), False), Slot(S, True))
#: what steps of a program may write
T = Buffer("t", "float64", (const(2),))
MADE = Allocate(T, slot=0)
ORDER = Allocate(Buffer("o", "int64", (const(2),)), slot=0)
ARGSORT, SORT = routine_named("argsort.quicksort.float64"), routine_named("sort.heapsort.float64")


def matrix(buffer: str, offset: Expr = const(0), strides: int = 2) -> Operand:
    return Operand(buffer, offset, (const(1),) * strides)


MATMUL, ADDED = routine_named("matmul.float64"), routine_named("matmul_added.float64")
OUT = matrix("t", strides=1)


def matmul(
    sizes: tuple[Expr, ...], left: Operand, right: Operand, out: Operand,
    alpha: Expr = const(1.0, "float64"), batch: Expr | None = None,
) -> Call:  # fmt: skip
    return Call(MATMUL, sizes, (left, right, out), (alpha,), batch)


@dataclass
class Example:
    """A step with its expected answers and effects.

    Attributes
    ----------
    step
        The step.
    before
        Steps that must run before.
    answers
        What it answers, by the name of the method or attribute, where that is not the answer of `Step`.
    gives
        Values of buffers and sizes after it.
    ill
        Steps of the class that are not well-formed, with the message.
    fails
        Steps that fail when they run, with what is raised and the message.
    slow
        Whether its work is more than none.
    """

    step: Step
    before: tuple[Step, ...] = ()
    answers: dict[str, Any] = field(default_factory=dict)
    gives: dict[str, Any] = field(default_factory=dict)
    ill: list[tuple[Step, str]] = field(default_factory=list)
    fails: list[tuple[Step, type[Exception], str]] = field(default_factory=list)
    slow: bool = False


UNBOUND = var(DefinedSize("q"))
P = Buffer("p", "float64", (var(DefinedSize("h0")),))


def examples() -> dict[type[Step], list[Example]]:
    """Return the examples by class, created anew since expressions are interned only for a time."""
    copying = Kernel(
        "copy",
        (BufferParam("x", "float64"), BufferParam("y", "float64", True), ScalarParam("n")),
        (For("i", N, (Store("y", I, load("x", "float64", I)),)),),
    )
    counting = Kernel(
        "count",
        (BufferParam("y", "int64", True), ScalarParam("n")),
        (For("i", N, (Store("y", I, op("sub", op("sub", N, const(1)), I)),)),),
    )
    counted = Launch(counting, ("o", const(2)))
    from_k = load(ArgumentName("k"), "int64", const(0))
    last_of_b = op("sub", cast(load(ArgumentName("b"), "float64", const(1)), "int64"), const(6))  # 1
    from_b = load(ArgumentName("b"), "float64", const(0))
    return {
        Define: [
            Example(
                Define("h1", op("add", from_k, S)),
                answers={"expressions": [op("add", from_k, S)], "defines": ["h1"]},
                gives={"h1": 5},
                ill=[
                    (Define("h1", H1), "h1 is read, but nothing of that name"),
                    (Define("s0", const(1)), "s0 is defined again"),
                ],
            )
        ],
        Check: [
            Example(
                Check(op("lt", S, const(9)), 3, (from_k, S)),
                answers={"can_fail": True, "expressions": [op("lt", S, const(9)), from_k, S]},
                ill=[
                    (Check(S, 0), "a check of int64"),
                    (Check(op("lt", UNBOUND, S), 0), "q is read, but nothing"),
                    (Check(TRUE, 0, (UNBOUND,)), "q is read, but nothing"),
                ],
                fails=[(Check(op("lt", S, from_k), 3, (from_k, S)), CheckFailed, r"error 3 failed .* \(2, 3\)")],
            )
        ],
        Allocate: [
            Example(
                Allocate(Buffer("t", "float64", (from_k,)), slot=0),
                answers={"expressions": [from_k], "makes": ["t"], "arrays": []},
                ill=[
                    (Allocate(T), "t must be either an output or in the workspace"),
                    (Allocate(T, output=0, slot=0), "t must be either an output or in the workspace"),
                    (Allocate(T, slot=2), "t is in slot 2, but there are 2"),
                    (Allocate(Buffer("t", "float64", (UNBOUND,)), slot=0), "q is read, but nothing"),
                ],
                fails=[
                    (Allocate(A, slot=0), IllegalAccess, "a of 24 bytes in slot 0 of 16"),
                    (Allocate(Buffer("t", "int8", (const(-1),)), slot=0), IllegalAccess, r"with shape \(-1,\)"),
                ],
            ),
            Example(
                Allocate(Buffer("t", "int8", (const(1),)), slot=1),
                answers={"can_fail": True, "expressions": [const(1)], "makes": ["t"], "arrays": []},
            ),
            Example(
                Allocate(T, output=0, reuse=3, initial=3),
                answers={
                    "can_fail": True, "needs_gil": True, "allowed_in_loop": False, "expressions": [const(2)],
                    "makes": ["t"], "arrays": ["t"], "taken_inputs": [3, 3], "overwrites": ["t"],
                },
                gives={"t": [-1, -2]},
                ill=[(Allocate(T, output=0, reuse=3, initial=1), "t may be the memory of input 3, but starts")],
                fails=[
                    (Allocate(T, output=0, initial=0), IllegalAccess, r"t of shape \(2,\) cannot start with"),
                    (Allocate(T, output=0, reuse=0), IllegalAccess, r"t of shape \(2,\) cannot take the memory of a"),
                ],
            ),
        ],
        HandOver: [
            Example(
                HandOver("a", 0),
                answers={"needs_gil": True, "allowed_in_loop": False, "reads": ["a"]},
                ill=[(HandOver("z", 0), "z is handed over, but no buffer")],
            )
        ],
        View: [
            Example(
                View(Buffer("t", "float64", (op("sub", S, const(1)),)), "a", last_of_b),
                answers={"expressions": [last_of_b, op("sub", S, const(1))], "makes": ["t"], "bases": {"t": "a"}},
                gives={"t": [2, 3]},
                ill=[
                    (View(T, "z", const(0)), "a view of float64 on z, which is None"),
                    (View(Buffer("t", "int64", (S,)), "a", const(0)), "a view of int64 on a, which is float64"),
                    (View(T, "a", UNBOUND), "q is read, but nothing"),
                    (View(Buffer("t", "float64", (UNBOUND,)), "a", const(0)), "q is read, but nothing"),
                ],
                fails=[
                    (View(T, "a", const(2)), IllegalAccess, "t is 2 to 4 of a, which has 3"),
                    (View(T, "a", const(-1)), IllegalAccess, "t is -1 to 1 of a, which has 3"),
                ],
            )
        ],
        Launch: [
            Example(
                Launch(copying, ("b", "t", op("sub", S, const(1))), begins_loop=True),
                before=(MADE,),
                answers={
                    "kind": "nest", "label": "copy", "kernels": [copying], "begins_loop": True,
                    "expressions": [op("sub", S, const(1))], "reads": ["b", "t"], "writes": ["t"],
                },
                gives={"t": [5, 7]},
                ill=[
                    (Launch(copying, ("b", "t")), "kernel copy takes 3 arguments"),
                    (Launch(copying, ("b", "k", S)), "argument k for buffer y of float64"),
                    (Launch(copying, ("b", S, S)), "for buffer y of float64"),
                    (Launch(copying, ("b", "t", "t")), "argument t for n of int64"),
                    (Launch(copying, ("b", "t", const(1.0, "float64"))), "for n of int64"),
                    (Launch(copying, ("b", "t", UNBOUND)), "q is read, but nothing"),
                    (Launch(dataclasses.replace(copying, params=()), ()), "n is read, but nothing of that name"),
                ],
                fails=[(Launch(copying, ("b", "t", S)), IllegalAccess, "element 2 of b, which has 2")],
                slow=True,
            )
        ],
        Call: [
            Example(
                matmul((const(1), S, const(1)), matrix("a"), matrix("a"), matrix("t", last_of_b, 1), from_b),
                before=(MADE,),
                answers={
                    "kind": "product", "products": ["float64"], "reads": ["a", "a"],
                    "writes": ["t"],
                    "expressions": [
                        const(1), S, const(1), from_b, *[const(0), const(1), const(1)] * 2, last_of_b, const(1),
                    ],
                },
                gives={"t": [*garbage_array(1, "float64"), 70]},
                ill=[
                    (matmul((S, S, S), matrix("a"), matrix("z"), OUT), "matmul.float64 of .* on z"),
                    (matmul((S, S, S), matrix("a"), matrix("a"), matrix("k", strides=1)), "matmul.float64 of .* on k"),
                    (matmul((UNBOUND, S, S), matrix("a"), matrix("a"), OUT), "q is read, but nothing"),
                    (matmul((S, S, S), matrix("a", UNBOUND), matrix("a"), OUT), "q is read, but nothing"),
                    (matmul((S, S, S), matrix("a", BATCH), matrix("a"), OUT), "batch is read, but nothing"),
                    (matmul((S, S, S), matrix("a"), matrix("a"), OUT, from_k), "alpha of matmul.float64 is float64"),
                    (matmul((S, S, S), matrix("a"), matrix("a"), OUT, batch=UNBOUND), "q is read, but nothing"),
                    (matmul((S, S, S), matrix("a"), matrix("a"), matrix("t")), "out of matmul.float64 has 1 strides"),
                    (Call(MATMUL, (S, S, S), (matrix("a"), matrix("a"), OUT)), "takes 1 scalars, got 0"),
                ],
                fails=[
                    (matmul((S, S, S), matrix("a"), matrix("a"), OUT), IllegalAccess, "load of element 3 of a"),
                    (
                        matmul((const(1), S, const(1)), matrix("a"), matrix("a"), matrix("a", strides=1)),
                        IllegalAccess, "matmul.float64 writes to a while it reads that memory",
                    ),
                    (matmul((const(-1), S, S), matrix("a"), matrix("a"), OUT), IllegalAccess, "called for shape"),
                ],
                slow=True,
            ),
            Example(
                Call(
                    ADDED, (const(1),) * 3, (matrix("a", BATCH), matrix("b", BATCH), matrix("t", BATCH, 1)),
                    (const(2.0, "float64"),), from_k,
                ),
                before=(MADE, Launch(copying, ("b", "t", const(2)))),
                answers={
                    "kind": "product", "products": ["float64"],
                    "reads": ["a", "b", "t"], "writes": ["t"], "is_loop": True, "needs_optimization": True,
                    "expressions": [
                        *[const(1)] * 3, const(2.0, "float64"), *[BATCH, const(1), const(1)] * 2, BATCH,
                        const(1), from_k,
                    ],
                },
                gives={"t": [2 * 1 * 5 + 5, 2 * 2 * 7 + 7]},
                slow=True,
            ),
            Example(
                Call(ARGSORT, (op("sub", S, const(1)),), (Operand("a", last_of_b), Operand("o", const(0)))),
                before=(ORDER, counted),
                answers={
                    "kind": "routine", "reads": ["a", "o"], "writes": ["o"],
                    "expressions": [op("sub", S, const(1)), last_of_b, const(0)],
                },
                gives={"o": [0, 1]},
                ill=[
                    (Call(ARGSORT, (), (Operand("a", S), Operand("k", S))), "takes 1 sizes, got 0"),
                    (Call(ARGSORT, (S,), (Operand("a", S),)), "takes 2 operands, got 1"),
                    (Call(ARGSORT, (S,), (Operand("k", S), Operand("k", S))), "of float64 on k"),
                    (Call(ARGSORT, (S,), (Operand("a", S), Operand("z", S))), "of int64 on z"),
                    (Call(ARGSORT, (UNBOUND,), (Operand("a", S), Operand("k", S))), "q is read, but nothing"),
                    (Call(ARGSORT, (S,), (Operand("a", UNBOUND), Operand("k", S))), "q is read, but nothing"),
                    (Call(ARGSORT, (S,), (Operand("a", BATCH), Operand("k", S))), "batch is read, but nothing"),
                    (
                        Call(ARGSORT, (S,), (Operand("a", S), Operand("k", S)), batch=UNBOUND),
                        "q is read, but nothing",
                    ),
                ],
                fails=[(Call(ARGSORT, (S,), (Operand("b", const(0)), Operand("k", const(0)))), IllegalAccess, "b")],
                slow=True,
            ),
            Example(
                Call(SORT, (const(1),), (Operand("t", BATCH),), batch=from_k),
                before=(MADE, Launch(copying, ("b", "t", const(2)))),
                answers={
                    "kind": "routine", "reads": ["t"], "writes": ["t"],
                    "is_loop": True, "needs_optimization": True, "expressions": [const(1), BATCH, from_k],
                },
                gives={"t": [5, 7]},
                slow=True,
            ),
        ],
        PythonCall: [
            Example(
                PythonCall(1, (A, Buffer("b", "float64", (from_k,))), (P, Buffer("r", "float64", (const(2),)))),
                answers={
                    "kind": "python", "needs_gil": True, "allowed_in_loop": False, "can_fail": True,
                    "calls_python": True,
                    "expressions": [S, from_k], "reads": ["a", "b"], "writes": ["p", "r"], "makes": ["p", "r"],
                    "arrays": ["a", "b"], "defines": ["h0"],
                },
                gives={"h0": 3, "p": [2, 4, 6], "r": [6, 8]},
                ill=[
                    (PythonCall(0, (Buffer("a", "int64", (S,)),), ()), "a is float64, used as int64"),
                    (PythonCall(0, (Buffer("a", "float64", (UNBOUND,)),), ()), "q is read, but nothing"),
                    (PythonCall(0, (Buffer("z", "float64", ()),), ()), "z is None, used as float64"),
                    (PythonCall(0, (), (A,)), "s0 is defined again"),
                ],
                fails=[
                    (PythonCall(1, (Buffer("a", "float64", (const(4),)), B), ()), IllegalAccess, "a window of shape"),
                    (
                        PythonCall(1, (A, B), (P, Buffer("r", "float64", (const(3),)))),
                        IRError, r"result r of node 1 has shape \(2,\)",
                    ),
                ],
            )
        ],
        Iterate: [
            Example(
                Iterate(
                    "l", S,
                    (
                        Define("h1", op("add", var("l"), const(1))),
                        Allocate(T, slot=0),
                        Launch(copying, ("b", "t", const(2))),
                    ),
                    "h2", op("eq", H1, from_k),
                ),
                answers={
                    "kind": "loop", "is_loop": True, "needs_optimization": True, "defines": ["h2"],
                    "expressions": [S, op("eq", H1, from_k)],
                    "nested_steps": lambda loop: list(loop.body),
                },
                gives={"h2": 2, "t": [5, 7]},
                ill=[
                    (Iterate("l", UNBOUND, (), "h2"), "q is read, but nothing"),
                    (Iterate("l", S, (Allocate(T, output=0),), "h2"), "a step that is not allowed in a loop: Allocate"),
                    (Iterate("l", S, (PythonCall(0, (), ()),), "h2"), "is not allowed in a loop: PythonCall"),
                    (Iterate("l", S, (Define("h1", UNBOUND),), "h2"), "q is read, but nothing"),
                    (Iterate("l", S, (), "h2", S), "a loop until int64"),
                    (Iterate("l", S, (), "s0"), "s0 is defined again"),
                ],
                fails=[(Iterate("l", S, (Check(NO, 4),), "h2"), CheckFailed, "error 4")],
                slow=True,
            ),
            Example(
                Iterate("l", S, (Check(TRUE, 4), View(T, "a", const(0))), "h2"),
                answers={
                    "kind": "loop", "is_loop": True, "needs_optimization": True, "defines": ["h2"], "can_fail": True,
                    "expressions": [S],
                    "nested_steps": lambda loop: list(loop.body),
                },
                gives={"h2": 3},
                slow=True,
            ),
        ],
    }  # fmt: skip


#: the answers that every step gives, and how to ask for them
ANSWERS = {
    name: (lambda step, name=name: list(getattr(step, name)()))
    for name in "expressions reads writes taken_inputs defines kernels products nested_steps".split()
}
ANSWERS |= {
    name: (lambda step, name=name: [buffer.name for buffer in getattr(step, name)()])
    for name in ("makes", "arrays", "overwrites")
}
ANSWERS |= {
    name: (lambda step, name=name: getattr(step, name))
    for name in "kind needs_gil allowed_in_loop is_loop needs_optimization calls_python begins_loop label".split()
}
ANSWERS |= {"bases": lambda step: step.bases(), "can_fail": lambda step: step.can_fail(SLOTS)}

CLASSES = Step.__subclasses__()
CASES = [
    pytest.param((kind, k), id=f"{kind.__name__}-{k}") for kind, some in examples().items() for k in range(len(some))
]


@pytest.fixture
def example(request):
    kind, k = request.param
    with sharing():
        yield examples()[kind][k]


def program(*steps: Step, outputs: tuple[str, ...] = ()) -> Program:
    inputs = (
        Input(A, (None,), False),
        Input(B, (2,), False),
        Input(K, (), False),
        Input(W, (2,), True),
    )
    return Program(inputs, (), SLOTS, steps, outputs)


def machine_after(*steps: Step) -> ProgramMachine:
    machine = ProgramMachine(program(*steps), [], [None, lambda a, b: (a * 2, b + 1)], True)
    machine.results(VALUES)
    return machine


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_has_examples_and_gives_its_own_answers(kind):
    assert kind in examples(), f"{kind.__name__} needs an example here"
    assert any(example.ill for example in examples()[kind]), f"{kind.__name__} needs an example that is not well-formed"
    for name in ("verify", "run", "write", "read"):
        assert getattr(kind, name) is not getattr(Step, name) and name in vars(kind), f"{kind.__name__} must {name}"
    assert dataclasses.is_dataclass(kind) and kind.__doc__
    assert kind.__hash__ is not None and kind.__hash__ is not object.__hash__


@pytest.mark.parametrize("kind", CLASSES)
def test_keywords(kind):
    assert STEPS[kind.keyword] is kind
    assert {kind.keyword, *kind.words} <= KEYWORDS
    assert len({other.keyword for other in CLASSES}) == len(CLASSES)


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_answers(example):
    default = Step()
    for name, ask in ANSWERS.items():
        expected = example.answers.get(name, ask(default))
        assert ask(example.step) == (expected(example.step) if callable(expected) else expected), name
    assert set(example.answers) <= set(ANSWERS)


def held(value: Any) -> Iterator[Expr | Buffer | str]:
    """Return the expressions and buffers, and the names of buffers in operands, in a field of a step."""
    if isinstance(value, (Expr, Buffer)):
        yield value
    elif isinstance(value, Operand):
        yield value.buffer
        yield from value.expressions()
    elif isinstance(value, tuple):
        for item in value:
            yield from held(item)


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_answers_cover_all_fields(example):
    """Every expression, operand and buffer in a field is in the answers about reads and definitions."""
    step = example.step
    expressions, made = set(step.expressions()), {buffer.name: buffer for buffer in step.makes()}
    named = {*step.reads(), *step.writes(), *made, *step.bases().values()}
    found = [thing for one in dataclasses.fields(step) for thing in held(getattr(step, one.name))]
    assert found or (type(step) is HandOver and step.name in named)
    for thing in found:
        if isinstance(thing, Buffer):
            assert thing.name in named
            new = made.get(thing.name)
            defined = set(step.defines())
            assert all(n in expressions or (new and (n.is_const or n.attr in defined)) for n in thing.shape)
        elif isinstance(thing, str):
            assert thing in named
        else:
            assert thing in expressions


@pytest.fixture
def record_accesses(monkeypatch):
    """Return the names of memories that were loaded from and stored to."""
    loaded, stored = set(), set()
    plain_load, plain_store = Memory.load, Memory.store

    def load(self, offset):
        loaded.add(self.name)
        return plain_load(self, offset)

    def store(self, offset, value):
        stored.add(self.name)
        plain_store(self, offset, value)

    monkeypatch.setattr(Memory, "load", load)
    monkeypatch.setattr(Memory, "store", store)
    return loaded, stored


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_answers_match_effects(example, record_accesses):
    """Loads, stores, new buffers and sizes on the reference machine match the answers."""
    loaded, stored = record_accesses
    machine = machine_after(*example.before)
    sizes, buffers = set(machine.scalars), set(machine.buffers)
    loaded.clear()
    stored.clear()
    example.step.run(machine)
    inside = list(example.step.walk())
    assert loaded <= {name for step in inside for name in step.accesses()}
    assert stored <= {name for step in inside for name in step.writes()}
    assert {name for step in inside for name in step.writes() if name in buffers} <= stored
    new = {buffer.name for step in inside for buffer in step.makes()}
    assert set(machine.buffers) - buffers <= new <= set(machine.buffers)
    counters = {"l", BATCH.attr}
    assert set(machine.scalars) - sizes - counters == {name for step in inside for name in step.defines()}


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_interpretation(example):
    machine = machine_after(*example.before, example.step)
    for name, expected in example.gives.items():
        found = machine.buffers[name].data if name in machine.buffers else machine.scalars[name]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_failures(example):
    for step, error, message in example.fails:
        with pytest.raises(error, match=message):
            machine_after(MADE, step)


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_verification(example):
    whole = program(*example.before, example.step, outputs=tuple(buffer.name for buffer in example.step.makes()))
    verify_program(whole)
    for name in example.step.defines():
        verify_program(program(*example.before, example.step, Define("after", var(name))))
    for step, message in example.ill:
        with pytest.raises(IRError, match=message):
            verify_program(program(MADE, step))


def test_bindings_of_a_loop_are_local():
    loop = Iterate("l", S, (Define("h1", var("l")), View(T, "a", const(0))), "h2")
    verify_program(program(loop))
    for step in (Define("x", var("l")), Define("x", H1), View(Buffer("x", "float64", ()), "t", const(0))):
        with pytest.raises(IRError, match="l is read|h1 is read|a view of float64 on t, which is None"):
            verify_program(program(loop, step))


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_round_trip(example):
    whole = program(*example.before, example.step)
    text = print_program(whole)
    assert parse_program(text) == whole
    assert any(line.split()[0] == example.step.keyword for line in text.splitlines() if line.strip())
    changed = list(others(example.step))
    assert changed
    for step in changed:
        other = program(*example.before, step)
        assert print_program(other) != text and parse_program(print_program(other)) == other


def others(value: Any) -> Iterator[Any]:
    """Return values that differ from that of a field in one place."""
    if isinstance(value, Expr) and value.dtype == "int64":
        yield op("add", value, const(17))
    elif isinstance(value, Expr) and value.dtype == "bool":
        yield NO
    elif isinstance(value, (bool, int, float)):
        yield type(value)(1 - value)
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            for other in others(item):
                yield (*value[:k], other, *value[k + 1 :])
    elif isinstance(value, (Buffer, Operand, Step)):
        for one in dataclasses.fields(value):
            for other in others(getattr(value, one.name)):
                yield dataclasses.replace(value, **{one.name: other})


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_bound_expressions_are_invalidated(example):
    """A `%k` of the text is invalid after a step that changes what its expression reads."""
    step = example.step
    inside = list(step.walk())
    read = [load(name, "float64", S) for one in inside for name in (*one.writes(), *(b.name for b in one.makes()))]
    read += [cast(var(name), "float64") for one in inside for name in one.defines()]
    for e in read:
        check = Check(op("lt", op("add", op("sqrt", e), op("sin", op("sqrt", e))), const(0.0, "float64")), 0)
        again = print_program(program(check, check)).count(" = sqrt(")
        assert print_program(program(check, step, check)).count(" = sqrt(") == again + 1 == 2
    assert read or type(step) in (Check, HandOver)


@pytest.mark.parametrize("example", CASES, indirect=True)
def test_work(example):
    terms = example.step.work().terms
    assert any(factor > 0 for factor in terms.values()) == example.slow
    assert example.slow or not terms


def test_work_of_iterations():
    with sharing():
        (launch,), (loop, _) = ([e.step for e in examples()[kind]] for kind in (Launch, Iterate))
        times = load(ArgumentName("k"), "int64", const(0))
        outer = Iterate("l", times, (launch, loop), "h2")
        assert outer.work().terms == outer.work_per_iteration().times(times).terms
        inside = launch.work() + loop.work()
        assert {sizes: factor for sizes, factor in outer.work_per_iteration().terms.items() if sizes} == {
            sizes: factor for sizes, factor in inside.terms.items() if sizes
        }
        batched = [e.step for e in examples()[Call] if e.step.batch is not None]
        assert len(batched) == 2
        for step in batched:
            assert step.work().terms == step.work_per_call().times(times).terms


def test_walking():
    inner = Iterate("m", S, (Check(TRUE, 0),), "h3")
    outer = Iterate("l", S, (inner, MADE), "h2")
    order = [outer, inner, inner.body[0], MADE]
    assert list(outer.walk()) == order and list(MADE.walk()) == [MADE]
    assert list(walk_steps([MADE, outer])) == [MADE, *order] == list(program(MADE, outer).all_steps())


def test_bases_lead_to_memory_of_its_own():
    part = View(Buffer("v", "float64", (const(1),)), "a", const(0))
    deeper = View(Buffer("u", "float64", (const(1),)), "v", const(0))
    assert program(part, Iterate("l", S, (deeper,), "h2")).bases() == {"v": "a", "u": "a"}


def test_allocations():
    result = Allocate(Buffer("r", "float64", ()), output=0)
    found = program(result, Iterate("l", S, (MADE,), "h2")).allocations()
    assert list(found.items()) == [("r", result), ("t", MADE)]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("loop l < 3 count h:\n        until true\n        output x", "line 4: expected a step, got 'output'"),
        ("loop l < 3 count h:\n        check 1 lt", "line 3: expected 'else', got 'lt'"),
        ("until true", "line 2: expected input, shared, constant"),
        ("loop l < 3", "line 2: expected 'count', got 'end of line'"),
        ("view t: int8[] at 0", "line 2: expected 'in', got 'at'"),
        ("python 0 () ()", r"line 2: expected '->', got '\('"),
    ],
)
def test_errors_in_text(lines, message):
    with pytest.raises(IRSyntaxError, match=message):
        parse_program(f"program\n    {lines}\n")


def test_bodies_of_loops_end_with_their_indentation():
    text = (
        "program\n"
        "    loop l < 3 count h1:\n"
        "        loop m < 2 count h2:\n"
        "            define x = l * m\n"
        "        until h2 < 1\n"
        "    define y = h1\n"
        "    return 0\n"
    )
    inner = Iterate("m", const(2), (Define("x", op("mul", var("l"), var("m"))),), "h2")
    outer = Iterate("l", const(3), (inner,), "h1", op("lt", var(DefinedSize("h2")), const(1)))
    assert parse_program(text).steps == (outer, Define("y", H1))
    assert print_program(parse_program(text)) == text


# -- nobody asks by class ----------------------------------------------------------------------------------------

ROOT = Path(aesara.__file__).parent
NAMES = {kind.__name__ for kind in (Step, *CLASSES)}
#: where a step is asked for its class, outside of its own module
EXCEPTIONS = {
    "ir/program.py": 1,  # `Program.allocations`, whose answers are the steps themselves
    "link/llvm/emit_steps.py": 1,  # the table of what emits each class
}


def find_class_tests(tree: ast.Module) -> Iterator[ast.AST]:
    """Find `isinstance`, ``type(step)`` and patterns of `match` that distinguish classes of steps."""
    imported = {
        a.asname or a.name: a.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("aesara.ir.steps", "aesara.ir.program"))
        for a in node.names
    }
    steps = {name for name, original in imported.items() if original in NAMES}
    for node in ast.walk(tree):
        if isinstance(node, ast.MatchClass) and ast.unparse(node.cls).split(".")[-1] in steps:
            yield node
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            if {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)} & steps:
                yield node
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "type" and steps:
            if any(isinstance(n, ast.Name) and n.id in ("s", "step", "inner") for n in node.args):
                yield node


@pytest.mark.slow
def test_steps_are_not_told_apart_by_class():
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        count = sum(1 for _ in find_class_tests(ast.parse(path.read_text(encoding="utf-8"))))
        if count and not name.startswith("ir/steps/"):
            found[name] = count
    assert found == EXCEPTIONS and sum(found.values()) <= 5


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(x, Launch)", "isinstance(x, (int, Other))", "issubclass(t, Launch | int)", "type(step) is Launch",
        "match x:\n    case Launch(): pass",
    ],
)  # fmt: skip
def test_the_finder_of_such_tests_finds_them(text):
    head = "from aesara.ir.steps import Launch, Iterate as Other\n"
    assert len(list(find_class_tests(ast.parse(head + text)))) == 1
    assert not list(find_class_tests(ast.parse("from elsewhere import Launch\nisinstance(x, Launch)")))
