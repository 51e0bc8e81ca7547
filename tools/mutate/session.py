"""A session of pytest that imports all tests once, finds out which come to which fault, and forks for each fault.

It runs in a copy of the tree as a plugin (``-p tools.mutate.session``), told by a file what to do.
"""

from __future__ import annotations

import functools
import itertools
import json
import multiprocessing
import os
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tools.mutate.faults import Fault
from tools.mutate.planting import SWITCH, plant
from tools.mutate.processes import end_with_parent

#: How many items of a parametrised test are run in the first round; later rounds run as many of the others.
ITEMS = 3
MANY_ITEMS = {
    "tests/rules/test_rules_by_construction.py::test_rule": 1000,
    "tests/optable/test_table_gradients.py::test_gradients": 400,
    "tests/optable/test_table_shapes.py::test_inferred_shapes": 100,
}
#: After an item that takes more seconds of the processor than this, no other of its function is tried.
SLOW = 2.0
#: Tests that take long and hold in general: a few of each are tried last.
GENERAL = tuple(
    f"tests/{name}"
    for name in """accuracy/ fuzz/ test_examples.py test_docs.py link/test_memory test_d3viz.py test_import.py
    link/test_interrupts.py link/test_concurrent tensor/shapes/test_static_shape.py rules/test_rules_settle
    tensor/rewriting/test_mixed_dtypes test_layers test_conventions test_mutate""".split()
)
#: Tests of what changes no result: they are tried whether or not they were seen to come to a fault.
OF_WORK = tuple(
    f"tests/{name}"
    for name in """graph/rewriting/test_amount_of_work link/llvm/test_emitted_code lower/test_golden
    optable/test_table_work""".split()
)
#: How many tests of a fault are tried, for how many seconds, and how many of one function before those of others.
TRIED, TRIED_FOR, ALIKE = 1000, 40.0, 3
#: For how many seconds tests are tried of which it is not known whether they come to a fault, if no other notices it;
#: and how long those of what changes no result may take.
FURTHER_FOR, OF_WORK_FOR = 40.0, 150.0
#: How many of the tests that start programs of their own are tried then.
STARTING = 12
#: The words of a path that say nothing about what a file is of.
COMMON = {"aesara", "tests", "test", "basic", "init", "op", "ops", "rules", "utils"}
#: A test may take so many times what it took without a fault, in seconds of the processor, plus some.
PATIENCE, LEAST = 20.0, 20.0
#: So many bytes of memory a process with a fault may have. What it reserves does not count: threads reserve much.
MEMORY = 6 << 30
#: The exit status of a process in which no test has come to the fault.
NOWHERE = 77
#: What has used no time of the processor for so many seconds waits for what will not come.
STILL = 60.0
#: What many functions are called.
GENERIC = frozenset(
    "apply clone transform perform make_node grad pullback pushforward add check name names text run call init basic "
    "decompose impl shape dtype infer_shape index get set main value values type types".split()
)


class Session:
    """Pytest plugin that runs tests with one fault after another."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.faults = [Fault(**{**f, "columns": tuple(f["columns"])}) for f in task["faults"]]
        self.folder, self.workers, self.budget = Path(task["folder"]), task["workers"], task["budget"]
        self.failed = ""
        self.functions: dict[str, list[Any]] = {}
        self.recorded: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        imported = sorted(SWITCH.visited)
        self.functions = _functions(items.values())
        chosen = _chosen(self.functions, self.faults)
        parts = [chosen[k :: self.workers] for k in range(self.workers)]
        self._in_forks([lambda part=part, k=k: self._record(part, k) for k, part in enumerate(parts)])
        tests = self._recorded()
        waiting = multiprocessing.get_context("fork").Value("i", 0)
        self._in_forks([lambda: self._try_some(waiting, items, tests, imported)] * self.workers)
        return True

    def _further(self, fault: Fault, names: Sequence[str]) -> Iterator[Any]:
        """Items of which it is not known whether they come to a fault: those for its module, as examples in it are,
        those of what changes no result, those called what the fault is in, those that start programs, of functions that
        come to it, near."""
        called, items = _names(fault), list(itertools.chain.from_iterable(self.functions.values()))
        near = {name: nearness(fault.path, name) for name in self.functions}
        yield from (item for item in items if item.nodeid.endswith(f"[{_module_of(fault.path)}]"))
        of_work = [item for item in items if item.nodeid.startswith(OF_WORK) and item.nodeid not in names]
        yield from sorted(of_work, key=lambda item: item.nodeid.startswith(OF_WORK[-1]))
        done = self.recorded.union(item.nodeid for item in of_work)
        yield from (i for i in items if i.nodeid not in done and any(name in i.nodeid.lower() for name in called))
        starting = sorted((n for n in near if near[n] > 0.5 and _starts_programs(n)), key=lambda n: -near[n])
        yield from itertools.islice((item for name in starting for item in self.functions[name]), STARTING)
        functions = dict.fromkeys(name.partition("[")[0] for name in names)
        functions |= dict.fromkeys(sorted((n for n in near if near[n] > 0.5), key=lambda n: -near[n]))
        rounds = [[item for item in self.functions[f] if item.nodeid not in done] for f in functions]
        for some in itertools.zip_longest(*rounds):
            yield from (item for item in some if item is not None)

    @staticmethod
    def _in_forks(tasks: Sequence[Any]) -> None:
        children = []
        for task in tasks:
            children.append(os.fork())
            if children[-1] == 0:
                end_with_parent()
                task()
                os._exit(0)
        for child in children:
            os.waitpid(child, 0)

    # What comes where

    def _record(self, items: Sequence[Any], part: int) -> None:
        """Run tests without a fault; write down what each took and the faults to whose places it came."""
        end, slow = time.monotonic() + self.budget, set()
        with open(self.folder / f"visits{part}.jsonl", "w", encoding="utf-8") as file:
            for item in items:
                function = item.nodeid.partition("[")[0]
                if time.monotonic() > end:
                    break
                if function in slow:
                    continue
                SWITCH.visited.clear()
                start = time.process_time()
                self._protocol(item)
                seconds = time.process_time() - start
                if seconds > SLOW:
                    slow.add(function)
                if not self.failed:
                    file.write(json.dumps([item.nodeid, seconds, sorted(SWITCH.visited)]) + "\n")
                    file.flush()

    def _recorded(self) -> dict[int, list[tuple[float, str]]]:
        """The tests of each fault with what they take; the fastest, nearest and most particular first."""
        tests = defaultdict(list)
        for file in sorted(self.folder.glob("visits*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                name, seconds, visited = json.loads(line)
                self.recorded.add(name)
                for number in visited:
                    cost = (seconds + 0.01) * len(visited) * 0.1 ** nearness(self.faults[number].path, name)
                    tests[number].append((cost, seconds, name))
        return {number: [(seconds, name) for _, seconds, name in sorted(found)] for number, found in tests.items()}

    # Faults

    def _try_some(self, waiting: Any, items: dict[str, Any], tests: Any, imported: Sequence[int]) -> None:
        """Try out faults as long as there are any; `waiting` is the number of the next one, which all workers share."""
        while True:
            with waiting.get_lock():
                number, waiting.value = waiting.value, waiting.value + 1
            if number >= len(self.faults):
                return
            given = list(_affordable(_in_order(tests.get(number, []))))
            allowed = PATIENCE * sum(seconds for seconds, _ in given) + LEAST + FURTHER_FOR + OF_WORK_FOR
            start = time.monotonic()
            caught = self._run([items[name] for _, name in given], number, allowed)
            outcome = {
                "number": number,
                "tests": len(given),
                "caught_by": caught,
                "at_import": number in imported,
                "tried": caught is not None or number not in imported,
                "seconds": round(time.monotonic() - start, 1),
            }
            with open(self.folder / "outcomes.jsonl", "a", encoding="utf-8") as file:
                file.write(json.dumps(outcome) + "\n")

    def _protocol(self, item: Any) -> None:
        """Run a test; `failed` says whether it has failed."""
        self.failed = ""
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)

    def _activate(self, number: int, active: bool) -> None:
        """Switch a fault on or off, here and in programs that tests start."""
        SWITCH.active = number if active else -1
        os.environ["AESARA_FAULT"] = json.dumps([str(self.folder), number, active])

    def _passes_else(self, item: Any, number: int) -> bool:
        """Return whether a failed test reaches a fault, and passes without it."""
        if item.nodeid in self.recorded and item.nodeid.startswith(OF_WORK):
            return True  # the test before it may have come to the fault, and left what it made
        if number not in SWITCH.visited and not (self.folder / f"came{number}").exists():
            return False
        self._activate(number, False)
        self._protocol(item)
        self._activate(number, True)
        return not self.failed

    def _run(self, items: Sequence[Any], number: int, seconds: float) -> str | None:
        """The first test that fails with a fault, ``"a crash"``, ``"time"`` or ``"memory"``; empty if all pass, None if
        none comes there."""
        note = self.folder / f"failure{number}.txt"
        child = os.fork()
        if child == 0:
            end_with_parent()
            os.setpgid(0, 0)
            SWITCH.active = number
            _forget(self.faults[number].path)
            for item in items:
                self._protocol(item)
                if self.failed:
                    note.write_text(self.failed, encoding="utf-8")
                    os._exit(1)
            spent, came = 0.0, bool(items)
            self._activate(number, True)
            for item in self._further(self.faults[number], [item.nodeid for item in items]):
                if spent > FURTHER_FOR:
                    break
                start = time.process_time()
                SWITCH.visited.clear()
                self._protocol(item)
                came = came or number in SWITCH.visited or (self.folder / f"came{number}").exists()
                if (failed := self.failed) and self._passes_else(item, number):
                    note.write_text(failed, encoding="utf-8")
                    os._exit(1)
                spent += 0.0 if item.nodeid.startswith(OF_WORK) else time.process_time() - start
            os._exit(0 if came else NOWHERE)
        used, moved_at = 0.0, time.monotonic()
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                if os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, NOWHERE):
                    return None if os.WEXITSTATUS(status) else ""
                return note.read_text(encoding="utf-8") if note.exists() else "a crash"
            now, before = time.monotonic(), used
            used, memory = _used(child)
            moved_at = now if used > before else moved_at
            if used > seconds or now - moved_at > STILL or memory > MEMORY:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return "memory" if memory > MEMORY else "time"
            time.sleep(0.02)


def _module_of(path: str) -> str:
    return ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__init__")


def _forget(path: str) -> None:
    """Let functions of a module forget what they have computed while modules were imported."""
    module = sys.modules.get(_module_of(path))
    for value in [] if module is None else vars(module).values():
        if isinstance(value, functools._lru_cache_wrapper):
            value.cache_clear()


def _used(process: int) -> tuple[float, int]:
    """Seconds of the processor that a process has used, and the bytes of memory that it has."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks, pages = int(fields[11]) + int(fields[12]), int(fields[21])
    return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE")


def _words(path: PurePosixPath) -> set[str]:
    return set(re.findall("[a-z0-9]+", path.as_posix())) - COMMON


@functools.cache
def _imported(file: str) -> frozenset[str]:
    """The modules that a file of tests imports from."""
    text = Path(file).read_text(encoding="utf-8") if Path(file).exists() else ""
    modules = re.findall(r"^(?:from|import) (aesara[\w.]*)", text, re.MULTILINE)
    return frozenset(modules) | {f"{a}.{b}" for a, b in re.findall(r"^from (aesara[\w.]*) import (\w+)", text, re.M)}


@functools.cache
def _starts_programs(test: str) -> bool:
    return "sys.executable" in Path(test.partition("::")[0]).read_text(encoding="utf-8")


def nearness(module: str, test: str) -> float:
    """Rate how near a test is to a module: 1 for words of its name, 1 for those of its folder, 1 for importing it."""
    return _nearness(module, test.partition("::")[0])


@functools.cache
def _nearness(module: str, test: str) -> float:
    source, file = PurePosixPath(module), PurePosixPath(test).with_suffix("")
    found, known = float(".".join(source.with_suffix("").parts) in _imported(test)), _words(file)
    for part in (PurePosixPath(source.stem), source.parent):
        words = _words(part)
        found += len(words & known) / len(words) if words else 0.0
    return found


def _functions(items: Iterable[Any]) -> dict[str, list[Any]]:
    """The items of each function."""
    groups: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        groups[item.nodeid.partition("[")[0]].append(item)
    return dict(groups)


def _names(fault: Fault) -> frozenset[str]:
    """Return the names of a fault's function and class that may appear in names of tests."""
    names = {part.strip("_").lower() for part in fault.function.split(".")}
    return frozenset(name for name in names - GENERIC if len(name) > 2)


def _chosen(groups: Mapping[str, Sequence[Any]], faults: Sequence[Fault]) -> list[Any]:
    """The items in rounds, a few of each test in each: those of what changes no result first, then those called what
    faults are in, those near their modules, general ones last and only two."""
    modules, found, near = {fault.path for fault in faults}, [], {}
    called = re.compile("|".join(map(re.escape, sorted({n for f in faults for n in _names(f)}))) or "$^")
    for name, group in groups.items():
        file = name.partition("::")[0]
        if file not in near:
            near[file] = max((nearness(module, file) for module in modules), default=0.0)
        first = MANY_ITEMS.get(name, ITEMS)
        general = name.startswith(GENERAL) and near[file] < 1
        step = max(1, len(group) // first)
        spread = [item for start in range(step) for item in group[start::step]]
        for k, item in enumerate(spread[:2] if general else spread):
            of_work = name.startswith(OF_WORK)
            named = not general and called.search(item.nodeid.partition("::")[2].lower()) is not None
            found.append(((not of_work, general, not named, k // first, -near[file], k / first), item))
    return [item for _, item in sorted(found, key=lambda ranked: ranked[0])]


def _affordable(tests: Iterable[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """The first tests, as many as are tried: one at least, and as long as they take no more than they may in all."""
    total = 0.0
    for count, (seconds, name) in enumerate(tests):
        total += seconds
        if count and (count >= TRIED or total > TRIED_FOR):
            return
        yield seconds, name


def _in_order(tests: Sequence[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """A few tests of each function first."""
    counts: dict[str, int] = defaultdict(int)
    late = []
    for seconds, name in tests:
        function = name.partition("[")[0]
        counts[function] += 1
        if counts[function] <= ALIKE:
            yield seconds, name
        else:
            late.append((seconds, name))
    yield from late


assert "aesara" not in sys.modules, "the package was imported before faults were planted"
_TASK = json.loads(Path(os.environ["AESARA_MUTATE"]).read_text(encoding="utf-8"))
_SESSION = Session(_TASK)
plant(Path(_TASK["tree"]), dict(enumerate(_SESSION.faults)))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_SESSION, "faults")
