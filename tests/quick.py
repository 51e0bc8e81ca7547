"""Selection of tests for ``--quick``: a few of each file, spread over it, and one item of each."""

import inspect
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent

#: Folders and files of which every test takes seconds, or that run thousands of rows for what a few already show.
SLOW = """
accuracy errors fuzz libraries compat/test_other_modules.py
test_d3viz.py test_docs.py test_examples.py test_import.py test_layers.py test_mutate.py
test_quick.py test_reference.py
graph/rewriting/test_growth.py
link/llvm/test_what_perform_may_do.py
link/test_concurrent_calls.py link/test_interrupts.py link/test_memory_of_functions.py link/test_nested_calls.py
optable/test_table_batches.py optable/test_table_complete.py
rules/test_excluded_rules.py rules/test_rules_settle.py
scan/test_random_loops.py scan/test_random_rewrites.py
tensor/rewriting/test_inverse_pairs.py tensor/rewriting/test_mixed_dtypes.py
tensor/shapes/test_static_shape.py
""".split()

#: How many tests of a file run.
TESTS = 5
#: Tests that hold for a whole table, and how many of its rows they go through.
ROWS = {
    "optable/test_table_values.py::test_results": 40,
    "optable/test_table_values.py::test_special_values": 20,
    "optable/test_table_shapes.py::test_inferred_shapes": 20,
    "optable/test_table_gradients.py::test_gradients": 10,
    "rules/test_rules_by_construction.py::test_rule": 40,
}


def spread(items: Sequence, count: int) -> list:
    """So many items of a sequence, or all, from the whole of it."""
    count = min(count, len(items))
    return [items[k * len(items) // count] for k in range(count)]


@cache
def is_slow(path: Path) -> bool:
    """Return whether a file, or a folder around it, is listed as slow."""
    places = {place.relative_to(ROOT).as_posix() for place in (path, *path.parents) if place.is_relative_to(ROOT)}
    return not places.isdisjoint(SLOW)


def is_marked_slow(thing: object) -> bool:
    marks = getattr(thing, "pytestmark", [])
    return any(mark.name == "slow" for mark in (marks if isinstance(marks, list) else [marks]))


def tests_of(thing: object) -> list:
    """The functions of a module, or of a class, that are tests and not slow; those of its classes among them."""
    found = []
    for name, value in ({} if is_marked_slow(thing) else vars(thing)).items():
        if name.startswith("test") and inspect.isfunction(value) and not is_marked_slow(value):
            found.append(value)
        elif name.startswith("Test") and inspect.isclass(value):
            found += tests_of(value)
    return found


def name_of(module: object, test: str) -> str:
    return f"{file_of(module)}::{test}"


@cache
def file_of(module: object) -> str:
    return Path(module.__file__).resolve().relative_to(ROOT).as_posix()


@cache
def chosen(module: object) -> frozenset:
    """The tests of a module that run, and the classes that have one."""
    tests = tests_of(module)
    always = [test for test in tests if name_of(module, test.__name__) in ROWS]
    functions = [*always, *spread([test for test in tests if test not in always], TESTS)]
    classes = {value for value in vars(module).values() if inspect.isclass(value)}
    return frozenset(functions) | {cls for cls in classes if not set(functions).isdisjoint(tests_of(cls))}


def left_out(module: object, name: str, thing: object) -> bool:
    """Return whether a member of a module is a test, or a class of tests, that was not chosen."""
    if (name.startswith("test") and inspect.isfunction(thing)) or (name.startswith("Test") and inspect.isclass(thing)):
        return thing not in chosen(module)
    return False


def some(module: object, test: str, items: list) -> list:
    """Choose the items of a parametrized test that run."""
    return spread([item for item in items if not has_slow(item)], ROWS.get(name_of(module, test), 1))


def has_slow(call: object) -> bool:
    return any(mark.name == "slow" for mark in call.marks)
