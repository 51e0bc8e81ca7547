"""Inlining of small functions agrees with LLVM's calls of them."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.ir.definitions import definitions_in
from aesara.ir.instructions import CallInstruction
from aesara.link.llvm.inlining import inline_small_functions
from aesara.link.llvm.jit import load_routines
from aesara.link.llvm.metadata import NO_VECTORS
from aesara.link.llvm.module import Module
from aesara.link.llvm.target import current_target, target_named

pytestmark = pytest.mark.skipif(not current_target().runs, reason="code for another machine is not run")

TWICE = """define internal double @twice(double %x) alwaysinline nounwind {
%t.1 = fadd double %x, %x
ret double %t.1
}
"""
#: another function of ours is called inside
OFTEN = """define internal double @often(double %x, double %y) alwaysinline nounwind willreturn memory(none) {
entry:
%t.1 = call double @twice(double %y)
%t.2 = call double @twice(double %t.1)
%t.3 = fmul double %t.2, %x
ret double %t.3
}
"""
STORE = """define internal void @put(ptr readonly %from, ptr noalias %to) alwaysinline nounwind {
%t.1 = load double, ptr %from
store double %t.1, ptr %to
ret void
}
"""
CALLER = """define double @ae.caller(double %x) nounwind {
entry:
%place = alloca double
%other = alloca double
store double %x, ptr %place
call void @put(ptr %place, ptr %other)
%t.1 = load double, ptr %other
%t.2 = call double @often(double %t.1, double 0x3FE0000000000000)
%large = fcmp ogt double %t.2, 0x4024000000000000
br i1 %large, label %yes, label %no
yes:
call void @put(ptr %other, ptr %place)
%t.3 = call double @often(double %t.2, double %t.1)
br label %no
no:
%t.4 = phi double [%t.2, %entry], [%t.3, %yes]
%t.5 = load double, ptr %place
%t.6 = fadd double %t.4, %t.5
ret double %t.6
}
"""


CALL = re.compile(r"(?:(?P<result>%[\w.]+) = )?call (?P<kind>[^\n@%]+) (?P<function>@[\w.]+)\((?P<arguments>[^\n]*)\)")


def instruction(line):
    """Return a call as the emitter writes it; other lines are returned as they are."""
    match = CALL.fullmatch(line)
    if match is None:
        return line
    return CallInstruction(match["result"] or "", match["kind"], match["function"], match["arguments"].split(", "))


def module_of(text):
    module = Module()
    for function in definitions_in(text):
        module.add(replace(function, lines=[instruction(line) for line in function.lines]))
    return module


def inlined(text):
    """Return the text of a module after inlining."""
    module = module_of(text)
    inline_small_functions(module)
    return module.text()


def address(text):
    return load_routines(text, ("caller",), None, 1, target_named("native"))["caller"]


def called(text, x):
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address(text))(x)


def names_of_functions(text):
    return re.findall(r"(?m)^define .*?@([\w.]+)\(", text)


@pytest.mark.parametrize("order", ["callees first", "callers first"])
def test_nothing_but_the_caller_is_left(order):
    parts = [TWICE, OFTEN, STORE, CALLER]
    made = inlined("".join(parts if order == "callees first" else parts[::-1]))
    assert names_of_functions(made) == ["ae.caller"] and "call " not in made
    for x in (0.5, 3.0, -0.0, 1e300, np.inf):
        small = 4 * 0.5 * x
        expected = (4 * x * small if small > 10 else small) + x
        assert called(made, x) == expected


def test_each_name_is_defined_once():
    made = inlined(TWICE + OFTEN + STORE + CALLER)
    defined = re.findall(r"(?m)^(%[\w.]+) = ", made)
    assert len(defined) == len(set(defined)) > 10


KEPT = {
    "called often": (TWICE, "".join(f"%t.{k} = call double @twice(double %x)\n" for k in range(1, 150))),
    "has memory of its own": (
        TWICE.replace("%t.1 =", "%p = alloca double\n%t.1 ="),
        "%t.1 = call double @twice(double %x)\n",
    ),
    "gives an argument back": (
        TWICE.replace("ret double %t.1", "ret double %x"),
        "%t.1 = call double @twice(double %x)\n",
    ),
    "has blocks": (
        TWICE.replace("%t.1 =", "br label %next\nnext:\n%t.1 ="),
        "%t.1 = call double @twice(double %x)\n",
    ),
    "is written in another way": (TWICE.replace("%t.1 =", "  %t.1 ="), "%t.1 = call double @twice(double %x)\n"),
    "is called in a special way": (TWICE, "%t.1 = tail call double @twice(double %x)\n"),
    "is not to be inlined": (TWICE.replace("alwaysinline", "noinline"), "%t.1 = call double @twice(double %x)\n"),
    "others see it": (TWICE.replace("internal ", ""), "%t.1 = call double @twice(double %x)\n"),
}


@pytest.mark.parametrize("why", KEPT)
def test_functions_that_stay(why):
    function, calls = KEPT[why]
    text = f"{function}define double @ae.caller(double %x) nounwind {{\n{calls}ret double %t.1\n}}\n"
    assert inlined(text) == module_of(text).text()


def test_a_function_stays_for_the_calls_that_are_special():
    calls = "%t.1 = tail call double @twice(double %x)\n%t.2 = call double @twice(double %t.1)\n"
    made = inlined(f"{TWICE}define double @ae.caller(double %x) nounwind {{\n{calls}ret double %t.2\n}}\n")
    assert names_of_functions(made) == ["twice", "ae.caller"]
    assert called(made, 1.5) == 6.0


@pytest.mark.parametrize("often", [1, 2, 3, 40])
def test_functions_of_one_number_give_what_they_give_for_many(often):
    """However often a function is called: here, by LLVM, or in a loop over vectors."""
    x, v = at.dscalar("x"), at.dvector("v")
    calls = (at.sin, at.exp, at.tanh, at.log1p, lambda z: z // 3, lambda z: z % 0.7)
    values = np.array([0.3, 1e17, 2.5, 1e-300, 12.0, 0.0])

    def terms(z):
        return [call(z * (k + 1)) for call in calls for k in range(often)]

    one = aesara.function([x], terms(x))
    many = aesara.function([v], terms(v))
    assert NO_VECTORS in one._native.report.llvm()
    found = np.array([[float(y) for y in one(value)] for value in values])
    np.testing.assert_array_equal(found, np.array(many(values)).T)
