"""Code that was made of sources is found again as long as they are the same, and never afterwards."""

import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from aesara import sources
from aesara.ir.draws.numbers import DRAWS, draw_loop
from aesara.ir.typed import translate
from aesara.ir.typed.function import TypedFunction
from aesara.ir.typed.types import Struct
from aesara.link.llvm import module, typed_functions
from aesara.link.llvm.jit import LIBRARY_SOURCES
from aesara.link.llvm.runtime import code, one_thread
from aesara.link.llvm.runtime.arguments import read_arguments
from aesara.link.llvm.runtime.kept_results import lend
from aesara.link.llvm.runtime.large_blocks import BLOCK_FUNCTIONS
from aesara.link.llvm.runtime.large_products import large_product
from aesara.link.llvm.runtime.products import SMALL, _product
from aesara.link.llvm.runtime.sharing import end_of_worker_chunk, share_loop, work_for_others

PACKAGE = Path(sources.PACKAGE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package of two files that are older than this process."""
    (tmp_path / "within").mkdir()
    for name in ("one.py", "within/two.py"):
        (tmp_path / name).write_text("n = 1")
    monkeypatch.setattr(sources, "PACKAGE", str(tmp_path))
    monkeypatch.setattr(sources, "_BEGUN", time.time() + 100)
    return tmp_path


def state():
    sources.state_of.cache_clear()
    found = sources.state_of("", "one.py")
    sources.state_of.cache_clear()
    return found


def rename(folder):
    (folder / "within" / "two.py").rename(folder / "within" / "three.py")


def replace_unnoticed(folder):
    """Replace a file by one of the same size, and restore its time, as installers do that clamp times."""
    file = folder / "one.py"
    before = file.stat()
    file.write_text("n = 2")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES = {
    "content": lambda folder: (folder / "within" / "two.py").write_text("n = 22"),
    "time": lambda folder: os.utime(folder / "one.py", (1e9, 1e9)),
    "name": rename,
    "new": lambda folder: (folder / "within" / "three.py").write_text(""),
    "gone": lambda folder: (folder / "within" / "two.py").unlink(),
}
if os.name != "nt":  # where the time of the entry is that of its creation
    CHANGES["content of the same size and time"] = replace_unnoticed


@pytest.mark.parametrize("change", CHANGES)
def test_state_changes_with_the_sources(folder, change):
    before = state()
    assert before is not None and state() == before
    (folder / "within" / "notes.txt").write_text("no source")
    assert state() == before
    CHANGES[change](folder)
    assert state() not in (before, None)


def test_no_state_of_files_that_are_younger_than_the_process(folder, monkeypatch):
    assert state() is not None
    monkeypatch.setattr(sources, "_BEGUN", time.time() - 100)
    assert state() is None
    # A file that was put in place of another one may have an old time, but its entry in the folder is new.
    for name in ("one.py", "within/two.py"):
        os.utime(folder / name, (1e9, 1e9))
    assert state() is None


def test_no_state_of_files_that_are_not_there(folder):
    sources.state_of.cache_clear()
    assert sources.state_of("one.py", "three.py") is None and sources.state_of("three") is None
    sources.state_of.cache_clear()


def test_time_is_noted_before_other_sources_are_read():
    program = "import sys, aesara; print(*[name for name in sys.modules if name.startswith('aesara')][:2])"
    read = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert read == ["aesara.digests", "aesara.sources"]  # in the order of their ends


# -- libraries of typed functions --------------------------------------------------------------------------------------

FUNCTIONS = [
    *code._CALLS, *BLOCK_FUNCTIONS, *code._VALUES, *code._GENERATORS, read_arguments, lend,
    *one_thread.ONE_THREAD, *one_thread.NOTHING, *(draw_loop(name, True) for name in DRAWS),
    end_of_worker_chunk, share_loop, work_for_others,
    *map(large_product, ("float64", "float32")), *(_product(dtype, SMALL) for dtype in ("float64", "float32")),
]  # fmt: skip
#: modules whose names are no part of the code of libraries
HELPERS = {
    "aesara.records", "aesara.link.llvm.addresses", "aesara.ir.function", "aesara.ir.vecmath",
    "aesara.link.llvm.metadata", "aesara.link.llvm.types",
}  # fmt: skip


def modules_of_libraries():
    """Return the files of all modules that functions of libraries are made of."""
    waiting, seen, files = list(FUNCTIONS), set(), {translate.__file__, typed_functions.__file__, module.__file__}
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        function = value.function if isinstance(value, TypedFunction) else value
        if isinstance(function, FunctionType):
            names, used = function.__globals__, function.__code__.co_names
            waiting += [names[name] for name in used if name in names]
            waiting += [cell.cell_contents for cell in function.__closure__ or ()]
            files.add(function.__code__.co_filename)
        elif isinstance(value, ModuleType):
            files.add(value.__file__)
        elif isinstance(value, type) and issubclass(value, Struct):
            files.add(sys.modules[value.__module__].__file__)
    return {Path(file) for file in files if file and Path(file).is_relative_to(PACKAGE)}


def test_libraries_are_made_of_the_sources_that_their_keys_depend_on():
    files = modules_of_libraries()
    assert {"calls.py", "products.py", "numbers.py", "structures.py", "layout.py"} <= {file.name for file in files}
    known = [PACKAGE / path for path in LIBRARY_SOURCES]
    for file in files:
        assert any(file.is_relative_to(path) for path in known), file
        for statement in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.ImportFrom) and statement.module.startswith("aesara"):
                for module in (statement.module, *(f"{statement.module}.{name.name}" for name in statement.names)):
                    path = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
                    if path.exists() and module not in HELPERS:
                        assert any(path.is_relative_to(one) for one in known), (file, module)


def test_facts_of_the_machine_are_in_the_keys_of_libraries():
    """Other modules of Python than these cannot make a constant differ between machines."""
    known = {
        ("threads.py", "ctypes"),  # the size of C's long, which the target tells
        ("large_blocks.py", "mmap"),  # the size of pages, which is in the key
        ("large_blocks.py", "sys"), ("layout.py", "sys"),  # the system, which the target tells
        ("ziggurats.py", "ctypes"), ("generators.py", "ctypes"), ("generators.py", "importlib"),  # NumPy's numbers
        ("clock.py", "sys"), ("clock.py", "ctypes"), ("clock.py", "time"),  # the clock, which is in the key
        ("instructions.py", "struct"),  # formats of numbers
        ("translate.py", "linecache"),  # the sources
    }  # fmt: skip
    harmless = {
        "__future__", "ast", "collections.abc", "dataclasses", "functools", "inspect", "itertools", "math", "operator",
        "re", "types", "typing", "numpy", "numpy.typing",
    }  # fmt: skip
    found = set()
    for file in modules_of_libraries():
        for statement in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.Import):
                found |= {(file.name, name.name) for name in statement.names}
            elif isinstance(statement, ast.ImportFrom) and not statement.module.startswith("aesara"):
                found.add((file.name, statement.module))
    assert {one for one in found if one[1] not in harmless} <= known


PROGRAM = """
import sys
import aesara, aesara.tensor as at
if len(sys.argv) > 1:
    path, old, new = sys.argv[1:]
    text = open(path).read()
    open(path, "w").write(text.replace(old, new))
x = at.dscalar()
print(float(aesara.function([x], x * 1.0)(3)))
"""


def test_changed_sources_never_meet_old_code(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "aesara")
    edited = tmp_path / "aesara" / "link" / "llvm" / "runtime" / "calls.py"
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "AESARA_FLAGS": f"native_cache_dir={tmp_path / 'cache'}"}

    def answer(*arguments):
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return float(ended.stdout)

    def entries():
        return {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()}

    def change(old, new):
        text = edited.read_text()
        assert old in text
        edited.write_text(text.replace(old, new))
        time.sleep(0.1)

    time.sleep(0.1)
    assert answer() == 3.0
    first = entries()
    assert answer() == 3.0 and first and entries() == first
    # Integers that are passed for floats are larger by one.
    change("= f64(value)\n", "= f64(value+1)\n")
    assert answer() == 4.0
    # A process that has read the sources before they change keeps nothing that others would take for theirs.
    answer(str(edited), "f64(value+1)", "f64(value+2)")
    assert answer() == 5.0
    change("f64(value+2)", "f64(value+1)")
    assert answer() == 4.0
