"""Selection of LLVM's passes for modules, and functions outside of modules."""

from __future__ import annotations

import re

import numpy as np
import pytest

import aesara
import aesara.tensor as at
from aesara.link.llvm import jit
from aesara.link.llvm.metadata import NO_VECTORS
from aesara.link.llvm.target import current_target

pytestmark = pytest.mark.skipif(not current_target().runs, reason="code for another machine is not run")
v, s = at.dvector("v"), at.dscalar("s")
TRIGONOMETRIC = {"sin": (at.sin, np.sin), "cos": (at.cos, np.cos), "tan": (at.tan, np.tan)}


def compiled(inputs, outputs):
    f = aesara.function(inputs, outputs, mode=aesara.Mode("llvm", "fast_run"))
    return f, f._native.report


def recurrence(step, first=s, given=v):
    return aesara.scan(step, given, outputs_info=first)[0][-1]


@pytest.mark.parametrize("name", TRIGONOMETRIC)
def test_a_loop_over_elements_calls_the_version_for_vectors(name):
    ours, numpys = TRIGONOMETRIC[name]
    f, report = compiled([v], ours(v))
    assert re.search(r"call <\d x double> @ae\.replace_large_lanes\.float64\.x\d\(", report.optimized_llvm())
    # of 11 numbers some are in vectors and some are left over; large ones in each
    x = np.array([1e3, 2.0**24 + 1, -3e22, 0.5, 1e300, -0.0, 7.0, 1.0, 2.0, 5e15, np.nan])
    np.testing.assert_allclose(f(x), numpys(x), rtol=1e-14)


def test_functions_for_large_arguments_are_compiled_once(monkeypatch):
    texts = []
    parse = jit._parse
    monkeypatch.setattr(jit, "_parse", lambda text, *how: (texts.append(text), parse(text, *how))[1])
    monkeypatch.setattr("aesara.link.llvm.linker.object_cache", lambda: None)
    monkeypatch.setattr(jit, "object_cache", lambda: None)
    jit.load_vecmath.cache_clear()
    compiled([v], at.sin(v) * 2)
    compiled([v], at.cos(v) * 3)
    assert sum("define double @ae.replace_large.float64(" in text for text in texts) == 1
    assert not any("define hidden" in text and "aesara_entry" in text for text in texts)


def test_vector_corrections_are_compiled_for_vectors_only(monkeypatch):
    asked = []
    vecmath = jit.load_vecmath
    monkeypatch.setattr(jit, "load_vecmath", lambda *which: (asked.append(which[:2]), vecmath(*which))[1])
    monkeypatch.setattr("aesara.link.llvm.linker.object_cache", lambda: None)
    f, _ = compiled([s, v], recurrence(lambda x, t: at.sin(t + x)))
    assert asked == [("replace_large", "float64")]
    assert f(1.0, np.array([1e17])) == np.sin(1e17)
    g, _ = compiled([v], at.sin(v) + 1)
    assert ("replace_large_lanes", "float64") in asked[1:]
    np.testing.assert_array_equal(g(np.full(9, 1e17)), np.full(9, np.sin(1e17) + 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_object_code_for_other_programs_lacks_nothing_of_ours(dtype):
    x = at.vector("x", dtype=dtype)
    _, report = compiled([x], at.tan(x))
    assert f"declare {'double' if dtype == 'float64' else 'float'} @ae.replace_large.{dtype}(" in report.llvm()
    code = report.object_code()
    # it is linked with nothing but the C library
    addresses, library = jit._link((code,), (), ("aesara_entry",), current_target())
    assert addresses["aesara_entry"] and library is not None


def test_modules_without_loops_for_vectors_take_hardly_any_passes(monkeypatch):
    taken = []
    builder = jit.llvm.create_pass_builder
    monkeypatch.setattr(jit.llvm, "create_pass_builder", lambda *given: (taken.append("passes"), builder(*given))[1])
    inliner = jit.create_new_module_pass_manager
    monkeypatch.setattr(jit, "create_new_module_pass_manager", lambda: (taken.append("inliner"), inliner())[1])
    monkeypatch.setattr("aesara.link.llvm.linker.object_cache", lambda: None)

    f, report = compiled([s, v], recurrence(lambda x, t: at.exp(0.5 * t) + x))
    assert NO_VECTORS in report.llvm() and not taken
    assert f(0.0, np.array([1.0])) == 2.0
    # functions that are called often are for LLVM to inline
    terms = [at.exp(c * s) for c in (1, 2, 3, 4, 5, 6)]
    f, report = compiled([s], sum(terms))
    assert NO_VECTORS in report.llvm() and taken == ["passes", "inliner"]
    np.testing.assert_allclose(f(1.0), sum(np.exp(c) for c in (1, 2, 3, 4, 5, 6)), rtol=1e-15)
    taken.clear()

    elements, sums = compiled([v], v * 2)[1], compiled([v], v.sum())[1]
    assert not any(NO_VECTORS in report.llvm() for report in (elements, sums)) and taken == ["passes", "passes"]
    assert re.search(r"fmul <\d x double>", elements.optimized_llvm()) and re.search(
        r"fadd <\d x double>", sums.optimized_llvm()
    )
    # a recurrence beside a loop for vectors
    both = compiled([s, v], [recurrence(lambda x, t: 0.5 * t + x), v * 2])[1]
    assert NO_VECTORS not in both.llvm() and re.search(r"fmul <\d x double>", both.optimized_llvm())


def test_passes_inline_functions():
    text = f"""{NO_VECTORS}
define internal double @twice(double %x) alwaysinline nounwind {{
  %y = fadd double %x, %x
  ret double %y
}}
define double @first(double %x) nounwind {{
  %a = call double @twice(double %x)
  ret double %a
}}
"""
    made = jit.optimized_text(text)
    assert " fadd " in made and " call " not in made
