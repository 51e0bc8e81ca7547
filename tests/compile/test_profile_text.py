"""The whole text of profiles, and of what is printed when a program ends, against a clock of which every second is
known."""

import inspect
import io
import os
import re
from pathlib import Path

import numpy as np
import pytest
from fake_clock import FakeClock, Waits

import aesara
import aesara.tensor as at
from aesara.compile import profiling
from aesara.compile.mode import Mode
from aesara.compile.profiling import ProfileStats
from aesara.configdefaults import config


def quiet(**kwargs):
    return ProfileStats(atexit_print=False, line_width=2000, **kwargs)  # whatever this file is called


def program(clock, linker):
    x, y = at.dvector("x"), at.fvector("y")
    first = Waits(clock, 1.0, when_linked=0.5)(at.exp(x) * 2)
    outputs = [at.cumsum(first)[::-1], Waits(clock, 0.25)(at.tanh(y)) - 1]
    with config.change_flags(profile_memory=linker == "py", profiling__min_memory_size=4000):
        f = aesara.function([x, y], outputs, mode=Mode(linker, "fast_run"), profile=quiet(message="of a program"))
        for _ in range(2):
            f(np.ones(1000), np.ones(500, "float32"))
        text = io.StringIO()
        f.profile.summary(text)
    return text.getvalue()


def with_places_of(function, text):
    """A text with the lines of a function in place of those of its file."""
    start = inspect.getsourcelines(function)[1]
    return re.sub(re.escape(__file__) + r":(\d+)", lambda found: f"line {int(found[1]) - start}", text)


@pytest.mark.parametrize(("linker", "name"), [("py", "in_python"), ("llvm", "native")])
def test_a_profile_is_as_recorded(monkeypatch, linker, name):
    """After a change that is meant, run with ``AESARA_REGENERATE_GOLDEN=1`` and read the difference."""
    clock = FakeClock(ticks=(1, 2)).install(monkeypatch)
    monkeypatch.setattr("aesara.clock.IMPORTED_AT", clock.now() - 3.0)
    text = with_places_of(program, program(clock, linker))
    file = Path(__file__).parent / "profiles" / f"{name}.txt"
    if os.environ.get("AESARA_REGENERATE_GOLDEN") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    assert text == file.read_text(encoding="utf-8")


def test_tables_are_shortened(monkeypatch):
    """What is left out is counted and summed, and lines are no longer than they may be."""
    clock = FakeClock().install(monkeypatch)
    x = y = at.dvector("x")
    for seconds in (4.0, 2.0, 1.5, 0.5):
        y = Waits(clock, seconds)(y)
    profile = ProfileStats(atexit_print=False, line_width=70)
    aesara.function([x], y, mode=Mode("py", None), profile=profile)(np.ones(2))
    text = io.StringIO()
    profile.summary_ops(text, 2)
    assert text.getvalue().splitlines()[3:] == [
        "   50.0%    50.0%    4.000e+00s   4.00e+00s    Py        1     1   Wai",
        "   25.0%    75.0%    2.000e+00s   2.00e+00s    Py        1     1   Wai",
        "   ... (the other 2 take 25.00% (2.00s))",
        "",
    ]


@pytest.mark.parametrize("message", [None, "m"])
def test_what_has_not_been_called(message):
    text = io.StringIO()
    quiet(message=message).summary_function(text)
    compiling = [f"  Total compilation time: {0:e}s", f"    Rewriting: {0:e}s", f"    Linking: {0:e}s", ""]
    assert text.getvalue().splitlines()[2:] == [f"  Message: {m}" for m in [message] if m] + compiling


def test_native_code_without_nodes_of_python_or_of_float64(monkeypatch):
    FakeClock().install(monkeypatch)
    tip = "  - Numbers of dtype float32 take half the memory and about half the time of float64.\n\n"
    for variable, expected in ((at.fvector(), ""), (at.dvector(), f"Tips\n----\n{tip}")):
        f = aesara.function([variable], variable + variable, profile=quiet())
        f(np.ones(2, variable.dtype))
        text = io.StringIO()
        f.profile.print_tips(text)
        assert text.getvalue() == expected


@pytest.fixture
def printed(monkeypatch, tmp_path):
    """What is printed at the end of a program with these profiles."""

    def text(*profiles):
        monkeypatch.setattr("aesara.compile.profiling.PRINTED_AT_EXIT", list(profiles))
        file = tmp_path / "printed"
        with config.change_flags(profiling__destination=str(file)):
            profiling._print_at_exit()
        return file.read_text()

    return text


def called(message, **kwargs):
    return quiet(message=message, fct_callcount=2, fct_call_time=3.0, compile_time=5.0, **kwargs)


def test_the_sum_at_the_end_of_a_program(printed):
    one, other = called("one"), called("other")
    one.add_linking({"emit": 0.5, "build": 0.25})
    other.add_linking({"build": 1.0})
    text = printed(one, other)
    total = text[text.index("Sum of all (2) printed profiles at exit") :]
    assert "Time in 4 calls to Function.__call__: 6.000000e+00s (1.500000e+00s each)" in total
    for line in ("emit: 5.000000e-01s", "build: 1.250000e+00s", "Total compilation time: 1.000000e+01s"):
        assert line in total
    assert "Sum of all" not in printed(one) and "Sum of all" not in printed(one, called("third", show_sum=False))


def test_sums_know_what_was_measured_of_each(monkeypatch):
    """Sizes of results and languages of nodes, too."""
    clock = FakeClock().install(monkeypatch)
    x = at.dvector("x")
    total, sizes = quiet(), {}
    with config.change_flags(profile_memory=True):
        for k, linker in enumerate(("py", "llvm")):
            f = aesara.function([x], Waits(clock, 1.0)(at.exp(x)), mode=Mode(linker, None), profile=quiet())
            f(np.ones(3 + k))
            total.absorb(f.profile)
            sizes |= f.profile.output_size
    assert total.output_size == sizes and len(sizes) >= 2
    assert total.op_impl() == {Waits(clock, 1.0): "Py", at.exp: "C/Py"}
