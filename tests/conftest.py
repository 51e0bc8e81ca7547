"""What every test can ask for, and the choice that ``--quick`` makes."""

import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent

#: Folders and files of which every test takes seconds, or that run thousands of rows for what a few already show.
SLOW = """
accuracy fuzz errors test_docs.py test_examples.py test_d3viz.py test_import.py test_reference.py
link/test_concurrent_calls.py link/test_interrupts.py link/test_memory_of_functions.py link/test_nested_calls.py
link/llvm/test_what_perform_may_do.py
optable/test_table_batches.py optable/test_table_complete.py rules/test_rules_settle.py rules/test_excluded_rules.py
graph/rewriting/test_growth.py tensor/shapes/test_static_shape.py tensor/rewriting/test_mixed_dtypes.py
tensor/rewriting/test_inverse_pairs.py scan/test_random_loops.py scan/test_random_rewrites.py
test_other_modules.py test_mutate.py
""".split()


@cache
def is_slow(path):
    """Whether a file, or a folder around it, is among the slow ones."""
    places = {place.relative_to(ROOT).as_posix() for place in (path, *path.parents) if place.is_relative_to(ROOT)}
    return not places.isdisjoint(SLOW)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="run one item of each test that is not slow")


def pytest_ignore_collect(collection_path, config):
    """Slow files are not even imported for ``--quick``."""
    return True if config.getoption("--quick") and is_slow(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector):
    """For ``--quick``, what a test's parameters make of it is cut down before it goes through the collection."""
    made = yield
    if collector.config.getoption("--quick") and isinstance(made, list):
        made = [item for item in made if not item.get_closest_marker("slow")][:1]
    return made


def pytest_collection_modifyitems(items):
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def rng(request):
    """Random numbers of this test alone: the same in each run, whatever ran before and in whichever worker."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
