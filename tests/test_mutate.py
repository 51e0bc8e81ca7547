"""Faults that `tools.mutate` plants: which there are, and that one at most is active."""

import builtins
import json
import os
import select
import subprocess
import sys
from dataclasses import asdict

import pytest

from tools.mutate.__main__ import ROOT, outcomes
from tools.mutate.areas import lines_of_difference
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


def told(expression):
    """The faults of a function with this expression: their kinds, and what they change."""
    source = f"def f(a, b, c):\n    x = {expression}\n"
    return {(fault.kind, fault.before) for fault in faults("module.py", source)}


#: expressions, and a fault that would change nothing there
WITHOUT_FAULT = {
    "abs(a - b)": ("swapped operands", "a - b"),
    "np.abs(a - b)": ("swapped operands", "a - b"),
    "(a - b) ** 2": ("swapped operands", "a - b"),
    "a - a": ("swapped operands", "a - a"),
    "zip(a, b, strict=True)": ("constant", "True"),
    "sorted([a])": ("dropped call", "sorted([a])"),
    "reversed([])": ("dropped call", "reversed([])"),
}
#: the same where it does
WITH_FAULT = {
    "a - b": ("swapped operands", "a - b"),
    "abs(a - b + c)": ("swapped operands", "a - b"),
    "abs(a / b)": ("swapped operands", "a / b"),
    "(a - b) ** 3": ("swapped operands", "a - b"),
    "a - b - b": ("swapped operands", "a - b - b"),
    "check(a, b, strict=True)": ("constant", "True"),
    "sorted([a, b])": ("dropped call", "sorted([a, b])"),
    "reversed([*a])": ("dropped call", "reversed([*a])"),
}


@pytest.mark.parametrize("expression", WITHOUT_FAULT)
def test_no_faults_that_change_nothing(expression):
    assert WITHOUT_FAULT[expression] not in told(expression)


@pytest.mark.parametrize("expression", WITH_FAULT)
def test_faults_beside_those_that_change_nothing(expression):
    assert WITH_FAULT[expression] in told(expression)


LOOP = """
def f(values, found):
    for x in values:
        if x < 0:
            continue
        try:
            found.append(1 / x)
        except ZeroDivisionError:
            continue
        else:
            if x > 5:
                continue
"""


def test_continue_at_the_end_of_a_loop_may_go():
    """Dropping a `continue` is a fault only if statements of the loop follow it."""
    exits = [fault for fault in faults("module.py", LOOP) if fault.kind == "dropped early exit"]
    assert [fault.first for fault in exits] == [4, 5]


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


def test_all_faults_at_once_of_which_one_is_active(switch):
    """Those in the same place, and those in what another one replaces."""
    found = faults("module.py", SOURCE)
    places = [fault.place for fault in found]
    assert len(set(places)) < len(places)
    module, alone = planted(SOURCE, dict(enumerate(found))), []
    for number, fault in enumerate(found):
        switch.active = number
        switch.visited.clear()
        alone.append(results(module))
        written: dict = {}
        exec(fault.planted(SOURCE), written)
        assert alone[-1] == results(written) and number in switch.visited, fault


def test_faults_leave_lines_where_they_are():
    for fault in faults("module.py", SOURCE):
        assert fault.planted(SOURCE).count("\n") == SOURCE.count("\n")


def test_faults_named_equivalent_exist():
    for path in {path for path, *_ in EQUIVALENT}:
        known = {fault.key for fault in faults(path, (ROOT / path).read_text(encoding="utf-8"))}
        assert {key for key in EQUIVALENT if key[0] == path} <= known


DIFFERENCE = """\
--- a/aesara/one.py
+++ b/aesara/one.py
@@ -3 +3,2 @@ def f():
-    return 1
+    x = 1
+    return x
@@ -10,2 +11,0 @@ def g():
-    a
-    b
--- /dev/null
+++ b/aesara/two.py
@@ -0,0 +1 @@
+x = 1
"""


def test_lines_that_have_changed():
    assert lines_of_difference(DIFFERENCE) == {"aesara/one.py": {3, 4}, "aesara/two.py": {1}}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="tests run in forks")
def test_tests_are_run_with_each_fault(tmp_path):
    path = "aesara/graph/rewriting/ordered_set.py"
    planted_ones = faults(path, (ROOT / path).read_text(encoding="utf-8"))
    found = list(outcomes(planted_ones, tmp_path / "run", 1, 30.0, ["tests/compat/test_other_modules.py"]))
    assert sorted(outcome["number"] for outcome in found) == list(range(len(planted_ones)))
    noticed = [outcome["caught_by"] for outcome in found if outcome["caught_by"]]
    assert noticed and all(name.startswith("tests/compat/test_other_modules.py::") for name in noticed)


FORKING = """
import os, time
from tools.mutate.processes import end_with_parent
if os.fork() == 0:
    end_with_parent()
    print("there", flush=True)
time.sleep(120)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such signal")
def test_processes_end_with_those_that_have_forked_them():
    with subprocess.Popen([sys.executable, "-c", FORKING], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "there\n"
        process.kill()
        readable, _, _ = select.select([process.stdout], [], [], 60)  # when nobody can write any more
        assert readable and process.stdout.read() == ""


@pytest.mark.parametrize("active", [None, False, True])
def test_programs_that_tests_start_have_the_fault(active, tmp_path):
    path = "aesara/graph/utils.py"
    (fault,) = [f for f in faults(path, (ROOT / path).read_text(encoding="utf-8")) if f.before == "not predicate(item)"]
    (tmp_path / "task.json").write_text(json.dumps({"tree": str(ROOT), "faults": [asdict(fault)]}), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tools" / "mutate" / "started")])}
    environment.pop("AESARA_FAULT", None)
    if active is not None:
        environment["AESARA_FAULT"] = json.dumps([str(tmp_path), 0, active])
    program = "from aesara.graph.utils import remove; print(remove(lambda n: n % 2 == 0, range(5)))"
    shown = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout == ("[0, 2, 4]\n" if active else "[1, 3]\n") and not shown.stderr
    assert (tmp_path / "came0").exists() == (active is not None)
