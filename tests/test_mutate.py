"""Faults that `tools.mutate` plants: which there are, and that one at most is active."""

import builtins

import pytest

from tools.mutate.__main__ import ROOT
from tools.mutate.equivalent import EQUIVALENT
from tools.mutate.faults import faults
from tools.mutate.planting import QUESTION, Switch, with_faults

SOURCE = '''
def inside(x, low, high):
    """Whether a number is in a range."""
    if x is None:
        return False
    return low <= x and x < high


def spread(values, limit=10):
    smallest = min(
        values
    )
    total = 0
    for value in list(values):
        if value == limit:
            continue
        total += abs(value) - smallest
    return total
'''
CALLS = [
    ("inside", (None, 0, 1)),
    ("inside", (0, 0, 1)),
    ("inside", (1, 0, 1)),
    ("inside", (-1, 0, 1)),
    ("spread", ([3, 1, 10],)),
    ("spread", ([10, -5, 2],)),
]


def results(module):
    found = []
    for name, arguments in CALLS:
        try:
            found.append(module[name](*arguments))
        except (TypeError, UnboundLocalError) as error:
            found.append(type(error))
    return found


@pytest.fixture
def switch(monkeypatch):
    made = Switch()
    monkeypatch.setattr(builtins, QUESTION, made, raising=False)
    return made


def planted(source, numbered):
    module = {}
    exec(compile(with_faults(source, numbered), "module.py", "exec"), module)
    return module


def test_kinds_of_faults():
    assert {fault.kind for fault in faults("module.py", SOURCE)} == {
        "comparison", "dropped condition", "and for or", "constant", "off by one", "min for max, any for all",
        "dropped early exit", "removed statement", "dropped call", "emptied collection", "other operator",
        "swapped operands", "dropped result",
    }  # fmt: skip


@pytest.mark.parametrize("number", range(len(faults("module.py", SOURCE))))
def test_one_fault_is_active(number, switch):
    """The module is as it was until the fault is switched on; then it is as if it had been written with it."""
    fault = faults("module.py", SOURCE)[number]
    clean, written = {}, {}
    exec(SOURCE, clean)
    exec(fault.planted(SOURCE), written)
    module = planted(SOURCE, {number: fault})
    assert results(module) == results(clean) and number in switch.visited
    switch.active = number
    assert results(module) == results(written)
    assert results(written) != results(clean), fault


def test_faults_leave_lines_where_they_are():
    for fault in faults("module.py", SOURCE):
        assert fault.planted(SOURCE).count("\n") == SOURCE.count("\n")


def test_faults_named_equivalent_exist():
    for path in {path for path, *_ in EQUIVALENT}:
        known = {fault.key for fault in faults(path, (ROOT / path).read_text(encoding="utf-8"))}
        assert {key for key in EQUIVALENT if key[0] == path} <= known
